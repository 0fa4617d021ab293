/*
 * Regions: which part of each buffer a statement touches. A walk over its accesses keeps what is bound
 * and known there; each dimension of a region grows to the ends of each index (hull.c). Where an end is
 * not known, the whole dimension is the answer, which is right because no access lies outside of its
 * buffer.
 */
#include "ir/region/region.h"

#include "ir/analysis/affine.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/region/hull.h"
#include "ir/text/intrin.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

typedef struct Collect {
	Ir *ir;
	const Fn *fn;
	const KernelSet *ks;
	const Range *outer; /* the facts at the statement */
	const char *only; /* the buffer that is asked for; NULL: all */
	VEC(const Stmt *) on; /* the statements that may name it, and those around them */
	bool named; /* the one that is looked at may name it */
	IrMemo *seen;
	VEC(Region) region;
} Collect;

static Region *region_of(Collect *c, const char *buf, int n)
{
	for (size_t i = 0; i < c->region.n; i++)
		if (c->region.at[i].buf == buf && c->region.at[i].n == n)
			return &c->region.at[i];
	Region r = { .buf = buf, .n = n };
	r.lo = arena_array(ir_arena(c->ir), const Expr *, n);
	r.hi = arena_array(ir_arena(c->ir), const Expr *, n);
	vec_push(ir_arena(c->ir), &c->region, r);
	return &c->region.at[c->region.n - 1];
}

static const Expr *join(Collect *c, const Expr *old, const Expr *e, Node op)
{
	if (old != NULL)
		e = ir_binary(c->ir, op, old, e);
	return ir_simplify(c->ir, e, c->outer);
}

/* Dimension k of the region grows to what is read or written there; a NULL end is the buffer's. */
static void grow(Collect *c, Region *r, int k, Hull h)
{
	const Buf *b = ir_find_buf(c->fn, r->buf);
	const Expr *one = ir_int(c->ir, 1);
	const Expr *lo = h.lo != NULL ? h.lo : ir_int(c->ir, 0);
	const Expr *hi = h.hi != NULL               ? ir_add(c->ir, h.hi, one)
	                 : b != NULL && k < b->rank ? b->shape[k]
	                                            : ir_int(c->ir, INT64_MAX);
	r->lo[k] = join(c, r->lo[k], lo, IR_MIN);
	r->hi[k] = join(c, r->hi[k], hi, IR_MAX);
}

static void add_access(Collect *c, const char *buf, const Expr *const *idx, int n, bool write,
	bool read, const Inside *in)
{
	if (c->only != NULL && buf != c->only)
		return;
	Region *r = region_of(c, buf, n);
	r->read |= read;
	r->write |= write;
	for (int k = 0; k < n; k++)
		grow(c, r, k, hull_of(in, idx[k]));
}

/* A chain of the parts of the condition, each free of lets and iterators. */
static const Cond *conditions(
	Collect *c, const Expr *e, bool holds, const Inside *in, const Cond *outer)
{
	if (e->op == IR_NOT)
		return conditions(c, e->arg[0], !holds, in, outer);
	if (e->op == (holds ? IR_AND : IR_OR)) {
		outer = conditions(c, e->arg[0], holds, in, outer);
		return conditions(c, e->arg[1], holds, in, outer);
	}
	Cond *k = arena_new_of(ir_arena(c->ir), Cond);
	*k = (Cond){ outer, ir_simplify(c->ir, hull_resolve(in, e), in->env), holds };
	return k;
}

/* conditions() first: simplified under facts that include it, a condition would say nothing. */
static Inside where(Collect *c, const Inside *in, const Expr *cond, bool holds)
{
	Inside out = *in;
	if (cond != NULL && cond->type.lanes == 1) {
		out.env = ir_range_if(c->ir, cond, holds, in->env);
		out.cond = conditions(c, cond, holds, in, in->cond);
	}
	return out;
}

static void visit_expr(Collect *c, const Expr *e, const Inside *in)
{
	const Expr **seen = ir_memo_at(c->seen, e);
	if (*seen != NULL || e->nargs == 0)
		return;
	*seen = e;
	if (e->op == IR_LOAD)
		add_access(c, e->name, e->arg, e->nargs, false, true, in);
	int first = 0;
	if (e->op == IR_SELECT && e->arg[0]->type.lanes == 1) {
		visit_expr(c, e->arg[0], in);
		for (; first < 2; first++) {
			Inside arm = where(c, in, e->arg[0], first == 0);
			IrMemo *outer = c->seen;
			c->seen = ir_memo_begin(c->ir);
			visit_expr(c, e->arg[1 + first], &arm);
			ir_memo_end(c->ir, c->seen);
			c->seen = outer;
		}
		first = 3;
	}
	for (int i = first; i < e->nargs; i++)
		visit_expr(c, e->arg[i], in);
}

static void visit_exprs(Collect *c, const Expr *const *e, int n, const Inside *in)
{
	IrMemo *outer = c->seen;
	c->seen = ir_memo_begin(c->ir);
	for (int i = 0; i < n; i++)
		if (e[i] != NULL)
			visit_expr(c, e[i], in);
	ir_memo_end(c->ir, c->seen);
	c->seen = outer;
}

static void visit_list(Collect *c, const Stmt *s, Inside in);

/* Lets and iterators stand for their values, loops for their ranges. */
static Inside bind(Collect *c, Inside in, const char *name, const Expr *value)
{
	in.bound = hull_bound(c->ir, (Bound){ .outer = in.bound, .name = name, .value = hull_resolve(&in, value) });
	return in;
}

static Inside into_loop(Collect *c, const Stmt *s, const Inside *in)
{
	Inside out = *in;
	const Expr *lo = hull_resolve(in, s->loop.lo), *hi = hull_resolve(in, s->loop.hi);
	Bound b = { .outer = in->bound, .name = s->loop.var, .lo = ir_simplify(c->ir, lo, in->env) };
	out.env = ir_range_for(c->ir, s->loop.var, s->loop.lo, s->loop.hi, in->env);
	Affine f;
	hi = ir_simplify(c->ir, ir_sub(c->ir, hi, ir_int(c->ir, 1)), in->env);
	b.hi = ir_affine_of(hi, &f) && ir_affine_exact(&f, out.env, NULL) ? hi : NULL;
	out.bound = hull_bound(c->ir, b);
	return out;
}

static void visit_block(Collect *c, const Stmt *s, const Inside *in)
{
	Inside body = *in;
	for (int i = 0; i < s->block.n; i++) {
		const Expr *e[3] = { s->block.iter[i].lo, s->block.iter[i].hi,
			s->block.iter[i].value };
		visit_exprs(c, e, 3, in);
		Inside one = bind(c, *in, s->block.iter[i].name, s->block.iter[i].value);
		Bound b = *one.bound;
		b.outer = body.bound;
		body.bound = hull_bound(c->ir, b);
	}
	body.env = ir_range_iters(c->ir, s, in->env);
	visit_exprs(c, &s->block.where, 1, &body);
	if (s->block.where != NULL)
		body.cond = conditions(c, s->block.where, true, &body, body.cond);
	const Cond *k = body.cond;
	for (int i = 0; i < s->block.n; i++) { /* each iterator lies in its domain */
		const Iter *it = &s->block.iter[i];
		const Expr *name = ir_idx(c->ir, it->name);
		k = conditions(c, ir_le(c->ir, it->lo, name), true, &body, k);
		k = conditions(c, ir_lt(c->ir, name, it->hi), true, &body, k);
	}
	body.cond = k;
	body.env = ir_range_block(c->ir, s, in->env);
	Inside init = body;
	for (int i = 0; i < s->block.n; i++)
		if (s->block.iter[i].kind != ITER_SPATIAL) {
			init = bind(c, init, s->block.iter[i].name, s->block.iter[i].lo);
			init.env = ir_range_let(
				c->ir, s->block.iter[i].name, s->block.iter[i].lo, init.env);
		}
	visit_list(c, s->block.init, init);
	visit_list(c, s->block.body, body);
}

static void visit_call(Collect *c, const Stmt *s, const Inside *in)
{
	for (int i = 0; i < s->call.n; i++) {
		const CallArg *a = &s->call.arg[i];
		if (a->buf == NULL) {
			visit_exprs(c, &a->value, 1, in);
			continue;
		}
		visit_exprs(c, a->idx, a->n, in);
		if (c->only != NULL && a->buf != c->only) {
			if (a->len != NULL)
				visit_exprs(c, a->len, a->n, in);
			continue;
		}
		Region *r = region_of(c, a->buf, a->n);
		const Fn *fn = s->call.intrin ? ir_intrin(c->ir, s->call.fn) : ir_find_fn(c->ks, s->call.fn);
		const Buf *b = fn != NULL && i < fn->nparam ? fn->param[i].buf : NULL;
		r->read |= b == NULL || b->role != BUF_OUT;
		r->write |= b == NULL || (b->role != BUF_IN && b->role != BUF_CONST);
		for (int k = 0; k < a->n; k++) {
			Hull h = hull_of(in, a->idx[k]);
			if (a->len != NULL && a->len[k] != NULL) {
				visit_exprs(c, &a->len[k], 1, in);
				r = region_of(c, a->buf, a->n);
				const Expr *end = ir_add(c->ir, a->idx[k], a->len[k]);
				h.hi = hull_of(in, ir_sub(c->ir, end, ir_int(c->ir, 1))).hi;
			}
			grow(c, r, k, h);
		}
	}
}

static void is_named(const char **buf, void *arg)
{
	Collect *c = arg;
	c->named |= *buf == c->only;
}

static void may_load(const Expr *e, void *arg)
{
	Collect *c = arg;
	uint32_t names = IR_LOADS | ir_name_bit(c->only);
	c->named |= (e->names & names) == names;
}

static bool note_uses_of(Collect *c, Stmt *s);

/* Notes the statements of the list in which the buffer may be named; false: there is none. */
static bool note_uses(Collect *c, Stmt *s)
{
	bool any = false;
	for (; s != NULL; s = s->next)
		any = note_uses_of(c, s) || any;
	return any;
}

static bool note_uses_of(Collect *c, Stmt *s)
{
	Stmt **list[IR_CHILDREN];
	c->named = false;
	ir_each_expr(s, may_load, c);
	ir_each_buf_name(s, is_named, c);
	bool uses = c->named;
	for (int k = 0, n = ir_children(s, list); k < n; k++)
		uses = note_uses(c, *list[k]) || uses;
	if (uses)
		vec_push(ir_arena(c->ir), &c->on, s);
	return uses;
}

/* Where the buffer that is asked for is not named, nothing is to be found. */
static bool is_idle(const Collect *c, const Stmt *s)
{
	size_t i = 0;
	while (i < c->on.n && c->on.at[i] != s)
		i++;
	return c->only != NULL && i == c->on.n;
}

static void visit(Collect *c, const Stmt *s, const Inside *in)
{
	if (is_idle(c, s))
		return;
	switch (s->kind) {
	case ST_FOR:
		visit_exprs(c, &s->loop.lo, 1, in);
		visit_exprs(c, &s->loop.hi, 1, in);
		visit_list(c, s->loop.body, into_loop(c, s, in));
		break;
	case ST_BLOCK: visit_block(c, s, in); break;
	case ST_STORE: {
		visit_exprs(c, &s->store.mask, 1, in);
		Inside at = where(c, in, s->store.mask, true);
		visit_exprs(c, &s->store.value, 1, &at);
		visit_exprs(c, s->store.dst.idx, s->store.dst.n, &at);
		add_access(c, s->store.dst.buf, s->store.dst.idx, s->store.dst.n, true, false, &at);
		break;
	}
	case ST_REDUCE: {
		visit_exprs(c, &s->reduce.mask, 1, in);
		Inside at = where(c, in, s->reduce.mask, true);
		visit_exprs(c, s->reduce.value, s->reduce.n, &at);
		for (int i = 0; i < s->reduce.n; i++) {
			const Access *d = &s->reduce.dst[i];
			visit_exprs(c, d->idx, d->n, &at);
			add_access(c, d->buf, d->idx, d->n, true, true, &at);
		}
		break;
	}
	case ST_LET: visit_exprs(c, &s->let.value, 1, in); break;
	case ST_IF:
		visit_exprs(c, &s->branch.cond, 1, in);
		visit_list(c, s->branch.then, where(c, in, s->branch.cond, true));
		visit_list(c, s->branch.other, where(c, in, s->branch.cond, false));
		break;
	case ST_CALL: visit_call(c, s, in); break;
	case ST_ASYNC: visit_list(c, s->async, *in); break;
	default: break;
	}
}

static void visit_list(Collect *c, const Stmt *s, Inside in)
{
	for (; s != NULL; s = s->next) {
		visit(c, s, &in);
		if (s->kind == ST_LET) {
			const Range *env = ir_range_let(c->ir, s->let.var, s->let.value, in.env);
			in = bind(c, in, s->let.var, s->let.value);
			in.env = env;
		} else if (s->kind == ST_REDUCE && s->reduce.old != NULL) {
			in.bound = hull_bound(c->ir, (Bound){ .outer = in.bound, .name = s->reduce.old });
		}
	}
}

static Region *regions(Collect *c, const Stmt *s, int *n)
{
	c->outer = ir_range_at(c->ir, c->fn, s);
	Inside in = { .ir = c->ir, .outer = c->outer, .env = c->outer };
	visit(c, s, &in);
	*n = (int)c->region.n;
	return c->region.at;
}

Region *ir_regions(Ir *ir, const Fn *fn, const KernelSet *ks, const Stmt *s, int *n)
{
	return regions(&(Collect){ .ir = ir, .fn = fn, .ks = ks }, s, n);
}

const Region *ir_region_of(Ir *ir, const Fn *fn, const KernelSet *ks, const Stmt *s, const char *buf)
{
	int n;
	Collect c = { .ir = ir, .fn = fn, .ks = ks, .only = ir_name(ir, buf) };
	if (!note_uses_of(&c, (Stmt *)(uintptr_t)s))
		return NULL;
	const Region *r = regions(&c, s, &n);
	return n > 0 ? r : NULL;
}
