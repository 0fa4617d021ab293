/*
 * Buffers of one dimension: every logical index becomes the physical offset that the buffer's index
 * map, row-major over its physical dimensions, gives. The first Fn of the set that writes an out
 * buffer sees to its padding (padding.c).
 */
#include "codegen/lower.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <stdio.h>

typedef struct Flat {
	Lower *l;
	const LowerBufs *bufs;
} Flat;

/* The map's variables stand for indices of any number of lanes. */
static const Expr *at(Flat *f, const Buf *b, int k, const Expr *const *idx, int lanes)
{
	Widen w = { .l = f->l, .lanes = lanes };
	if (b->map.n == 0)
		return idx[k];
	const Expr *e = b->map.at[k];
	if (lanes == 1) {
		/* Fresh names between: an index may use a name that is a variable of this map. */
		for (int j = 0; j < b->map.nvar; j++) {
			const char *name = ir_fresh_name(f->l->ir, b->map.var[j]);
			e = ir_subst(f->l->ir, e, b->map.var[j], ir_idx(f->l->ir, name));
			vec_push(f->l->arena, &w.var, ((struct WidenVar){ name, idx[j] }));
		}
		for (size_t j = 0; j < w.var.n; j++)
			e = ir_subst(f->l->ir, e, w.var.at[j].name, w.var.at[j].by);
		return e;
	}
	for (int j = 0; j < b->map.nvar; j++)
		vec_push(f->l->arena, &w.var, ((struct WidenVar){ b->map.var[j], idx[j] }));
	return lower_widen(&w, e);
}

static const Expr *offset(Flat *f, const Buf *b, const Expr *const *idx, int n)
{
	Ir *ir = f->l->ir;
	int lanes = 1, dims = b->map.n > 0 ? b->map.n : b->rank;
	const Expr *const *extent = b->map.n > 0 ? b->map.extent : b->shape;
	for (int k = 0; k < n; k++)
		lanes = idx[k]->type.lanes > lanes ? idx[k]->type.lanes : lanes;
	const Expr **same = arena_array(f->l->arena, const Expr *, n + 1);
	for (int k = 0; k < n; k++)
		same[k] = idx[k]->type.lanes == lanes ? idx[k] : ir_splat(ir, idx[k], lanes);
	const Expr *o = NULL;
	for (int k = 0; k < dims; k++) {
		const Expr *p = at(f, b, k, same, lanes);
		p = p->type.lanes == lanes ? p : ir_splat(ir, p, lanes);
		o = o == NULL ? p : ir_add(ir, ir_mul(ir, o, ir_splat(ir, extent[k], lanes)), p);
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

static bool flat_stmt(Stmt *s, void *arg)
{
	Flat *f = arg;
	if (s->kind == ST_STORE)
		flat_access(f, &s->store.dst);
	if (s->kind == ST_REDUCE)
		for (int k = 0; k < s->reduce.n; k++)
			flat_access(f, &s->reduce.dst[k]);
	return true;
}

static const Expr *elements(Ir *ir, const Expr *const *extent, int n)
{
	const Expr *e = ir_int(ir, 1);
	for (int k = 0; k < n; k++)
		e = ir_mul(ir, e, extent[k]);
	return e;
}

/* True if every physical element has a logical index. */
static bool is_full(Lower *l, const Buf *b)
{
	if (b->map.n == 0)
		return true;
	const Range *env = ir_range_fn(l->ir, l->fn);
	const Expr *same = ir_eq(l->ir, elements(l->ir, b->shape, b->rank),
		elements(l->ir, b->map.extent, b->map.n));
	return ir_always(ir_simplify(l->ir, same, env), env);
}

static bool is_first_writer(const Lower *l, const char *buf)
{
	for (size_t k = 0; k < l->ks->n && l->ks->fn[k] != l->fn; k++)
		for (int j = 0; j < l->ks->fn[k]->nparam; j++) {
			const Buf *b = l->ks->fn[k]->param[j].buf;
			if (b != NULL && b->name == buf && b->role == BUF_OUT)
				return false;
		}
	return true;
}

static void make_flat(Lower *l, Buf *b)
{
	const Expr **one = arena_array(l->arena, const Expr *, 1);
	one[0] = b->map.n > 0 ? elements(l->ir, b->map.extent, b->map.n)
	                      : elements(l->ir, b->shape, b->rank);
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
	for (int k = 0; k < l->fn->nparam; k++) {
		const Buf *b = l->fn->param[k].buf;
		if (b != NULL && b->role == BUF_OUT && !is_full(l, b) && is_first_writer(l, b->name))
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
