/*
 * Buffers of one dimension. Every logical index becomes a physical offset: the buffer's index map, row-major over
 * its physical dimensions. The first Fn of the set that writes an out buffer zeroes its padding (padding.c).
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <stdio.h>

typedef struct Flat {
	Lower *l;
	const Map *bufs;
} Flat;

typedef struct Indices {
	const Buf *buf;
	const Expr *const *idx;
} Indices;

static const Expr *put_index(Ir *ir, const Expr *e, void *arg)
{
	const Indices *x = arg;
	(void)ir;
	for (int k = 0; e->op == IR_VAR && k < x->buf->map.nvar; k++)
		if (x->buf->map.var[k] == e->name)
			return x->idx[k];
	return e;
}

/* Physical index k. The map's variables stand for indices of any number of lanes. */
static const Expr *at(Flat *f, const Buf *b, int k, const Expr *const *idx, int lanes)
{
	Widen w = { .l = f->l, .lanes = lanes };
	Indices x = { b, idx };
	if (b->map.n == 0)
		return idx[k];
	if (lanes == 1)
		return ir_map_expr(f->l->ir, b->map.at[k], put_index, &x);
	for (int j = 0; j < b->map.nvar; j++)
		vec_push(f->l->arena, &w.var, ((struct WidenVar){ b->map.var[j], idx[j] }));
	return lower_widen(&w, b->map.at[k]);
}

/* The product of the extents behind dimension k, where all are constants; else NULL. */
static const Expr *constant_stride(Flat *f, const Expr *const *extent, int k, int dims)
{
	int64_t n, stride = 1;
	while (++k < dims) {
		if (!ir_is_int(ir_simplify(f->l->ir, extent[k], NULL), &n))
			return NULL;
		stride = (int64_t)((uint64_t)stride * (uint64_t)n);
	}
	return ir_int(f->l->ir, stride);
}

/* A sum of products, not a product of sums, where strides are known: less to multiply out. */
static const Expr *offset(Flat *f, const Buf *b, const Expr *const *idx, int n)
{
	Ir *ir = f->l->ir;
	int lanes = 1, dims = b->map.n > 0 ? b->map.n : b->rank;
	const Expr *const *extent = b->map.n > 0 ? b->map.extent : b->shape;
	bool constant = dims > 0 && constant_stride(f, extent, -1, dims) != NULL;
	for (int k = 0; k < n; k++)
		lanes = idx[k]->type.lanes > lanes ? idx[k]->type.lanes : lanes;
	const Expr **same = arena_array(f->l->arena, const Expr *, n + 1);
	for (int k = 0; k < n; k++)
		same[k] = idx[k]->type.lanes == lanes ? idx[k] : ir_splat(ir, idx[k], lanes);
	const Expr *o = NULL;
	for (int k = 0; k < dims; k++) {
		const Expr *p = at(f, b, k, same, lanes);
		p = p->type.lanes == lanes ? p : ir_splat(ir, p, lanes);
		if (constant)
			p = ir_mul(ir, p, ir_splat(ir, constant_stride(f, extent, k, dims), lanes));
		else if (o != NULL)
			o = ir_mul(ir, o, ir_splat(ir, extent[k], lanes));
		o = o == NULL ? p : ir_add(ir, o, p);
	}
	return o == NULL ? ir_int(ir, 0) : o;
}

static const Expr *flat_load(Ir *ir, const Expr *e, void *arg)
{
	Flat *f = arg;
	const Buf *b = e->op == IR_LOAD ? lower_buf(f->bufs, e->name) : NULL;
	if (b == NULL)
		return e;
	const Expr *o = offset(f, b, e->arg, e->nargs);
	return ir_load_named(ir, e->name, e->type, &o, 1);
}

static void flat_access(Flat *f, Access *a)
{
	const Buf *b = lower_buf(f->bufs, a->buf);
	const Expr **one = arena_array(f->l->arena, const Expr *, 1);
	one[0] = offset(f, b, a->idx, a->n);
	a->idx = one;
	a->n = 1;
}

static const Expr *elements(Ir *ir, const Expr *const *extent, int n)
{
	const Expr *e = ir_int(ir, 1);
	for (int k = 0; k < n; k++)
		e = ir_mul(ir, e, extent[k]);
	return e;
}

/* All of a buffer, before and after. */
static void flat_whole(Flat *f, CallArg *a)
{
	const Buf *b = lower_buf(f->bufs, a->buf);
	*a = (CallArg){ .buf = a->buf, .n = 1 };
	a->idx = arena_array(f->l->arena, const Expr *, 1);
	a->len = arena_array(f->l->arena, const Expr *, 1);
	a->idx[0] = ir_int(f->l->ir, 0);
	a->len[0] = b->map.n > 0 ? elements(f->l->ir, b->map.extent, b->map.n) : elements(f->l->ir, b->shape, b->rank);
}

static bool flat_stmt(Stmt *s, void *arg)
{
	Flat *f = arg;
	if (s->kind == ST_STORE)
		flat_access(f, &s->store.dst);
	if (s->kind == ST_PREFETCH)
		flat_access(f, &s->prefetch);
	if (s->kind == ST_REDUCE)
		for (int k = 0; k < s->reduce.n; k++)
			flat_access(f, &s->reduce.dst[k]);
	if (s->kind == ST_CALL)
		for (int k = 0; k < s->call.n; k++)
			if (s->call.arg[k].buf != NULL)
				flat_whole(f, &s->call.arg[k]);
	return true;
}

/* True if every physical element has a logical index. */
static bool is_full(Lower *l, const Buf *b)
{
	if (b->map.n == 0)
		return true;
	const Range *env = ir_range_fn(l->ir, l->fn);
	const Expr *same = ir_eq(l->ir, elements(l->ir, b->shape, b->rank), elements(l->ir, b->map.extent, b->map.n));
	return ir_always(ir_simplify(l->ir, same, env), env);
}

static bool is_first_writer(const Lower *l, const char *buf)
{
	for (size_t k = 0; k < l->ks->n && l->ks->fn[k] != l->fn; k++)
		for (int j = 0; j < l->ks->fn[k]->nparam; j++) {
			const Buf *b = l->ks->fn[k]->param[j].buf;
			if (b != NULL && b->name == buf && b->role == BUF_OUT && l->ks->fn[k]->kind != FN_SUB)
				return false;
		}
	return true;
}

bool lower_pads(Lower *l, const Buf *b)
{
	return b->role == BUF_OUT && !is_full(l, b) && is_first_writer(l, b->name);
}

static void make_flat(Lower *l, Buf *b)
{
	const Expr **one = arena_array(l->arena, const Expr *, 1);
	one[0] = b->map.n > 0 ? elements(l->ir, b->map.extent, b->map.n) : elements(l->ir, b->shape, b->rank);
	one[0] = ir_simplify(l->ir, one[0], ir_range_fn(l->ir, l->fn));
	b->shape = one;
	b->rank = 1;
	b->map = (IndexMap){ 0 };
}

static bool flat_alloc(Stmt *s, void *arg)
{
	if (s->kind == ST_ALLOC)
		make_flat(arg, s->alloc);
	return true;
}

bool pass_flatten(Lower *l)
{
	Flat f = { l, lower_bufs(l) };
	Stmt *fill = NULL;
	bool sub = l->fn->kind == FN_SUB;
	for (int k = 0; k < l->fn->nparam; k++) {
		Buf *b = l->fn->param[k].buf;
		if (b != NULL && sub)
			b->map = lower_shared(l, l->fn->name)->map[k];
		if (b != NULL && !sub && lower_pads(l, b))
			fill = ir_seq(fill, lower_padding(l, b));
	}
	/* Indices first, innermost loads included, while the declarations still say how. */
	ir_map_stmt(l->ir, l->fn->body, flat_load, &f);
	ir_each_stmt(l->fn->body, flat_stmt, &f);
	for (int k = 0; k < l->fn->nparam; k++)
		if (l->fn->param[k].buf != NULL)
			make_flat(l, l->fn->param[k].buf);
	ir_each_stmt(l->fn->body, flat_alloc, l);
	l->fn->body = ir_seq(fill, l->fn->body);
	return true;
}
