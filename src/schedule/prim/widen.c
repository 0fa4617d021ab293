/*
 * widen: a block makes more than its buffer holds, up to whole tiles, so that tiles need no conditions. The buffer
 * grows, and nobody reads what was added. What would be read outside of a tensor is 0 there; along a reduction every
 * term that is added is 0.
 */
#include "schedule/producer.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

enum { WIDEN_EFFORT = 20000 /* expressions that are looked at */ };

typedef struct Widen {
	Ir *ir;
	const Fn *fn;
	const char *iter;
	const Range *added; /* reduce: facts of the added iterations alone; NULL: a spatial iterator */
	const char *why;    /* what is wrong; NULL: nothing */
	int effort;
} Widen;

/* Loads that depend on the iterator and may be outside of their buffers stand under select. */
static const Expr *guard(Widen *w, const Expr *e, const Range *env)
{
	Ir *ir = w->ir;
	const Expr *arg[IR_MAX_RANK > 3 ? IR_MAX_RANK : 3], *in = NULL;
	bool choice = e->op == IR_SELECT && e->arg[0]->type.lanes == 1;
	if (++w->effort > WIDEN_EFFORT || e->nargs > IR_MAX_RANK) {
		w->why = "its expressions are too large";
		return e;
	}
	if (!ir_uses_var(e, w->iter))
		return e;
	for (int k = 0; k < e->nargs; k++) {
		const Range *here = choice && k > 0 ? ir_range_if(ir, e->arg[0], k == 1, env) : env;
		arg[k] = guard(w, e->arg[k], here);
	}
	e = e->nargs > 0 ? ir_with_args(ir, e, arg) : e;
	bool divides = e->op == IR_DIV || e->op == IR_MOD || e->op == IR_TDIV || e->op == IR_TMOD;
	if (divides && dtype_is_int(e->type) && ir_has_load(e->arg[1]))
		w->why = "it divides integers by what may be 0 then";
	const Buf *b = e->op == IR_LOAD ? ir_find_buf(w->fn, e->name) : NULL;
	for (int k = 0; b != NULL && k < e->nargs; k++) {
		const Expr *side[2] = { ir_le(ir, ir_int(ir, 0), e->arg[k]), ir_lt(ir, e->arg[k], b->shape[k]) };
		for (int i = 0; i < 2; i++)
			if (!ir_always(side[i], env))
				in = in == NULL ? side[i] : ir_and(ir, in, side[i]);
	}
	if (b != NULL && w->added != NULL && (in == NULL || !ir_never(in, w->added)))
		w->why = "an added iteration would read what is there";
	return in == NULL ? e : ir_select(ir, in, e, ir_const(ir, e->type, 0));
}

typedef struct Body {
	Widen *w;
	const Range *env;
} Body;

static void guard_place(const Expr **e, void *arg)
{
	const Body *b = arg;
	*e = guard(b->w, *e, b->env);
}

static bool guard_stmt(Stmt *s, void *arg)
{
	ir_each_place(s, guard_place, arg);
	return true;
}

static const Expr *no_load(Ir *ir, const Expr *e, void *arg)
{
	(void)arg;
	return e->op == IR_LOAD ? ir_const(ir, e->type, 0) : e;
}

/* The reduction adds a product of loads, so that it adds 0 where they are 0. */
static bool adds_nothing(Ir *ir, const Stmt *block)
{
	const Stmt *r = block->block.body;
	if (r->kind != ST_REDUCE || r->next != NULL || r->reduce.n != 1 || strcmp(r->reduce.monoid, "sum") != 0)
		return false;
	const Expr *v = ir_simplify(ir, ir_map_expr(ir, r->reduce.value[0], no_load, NULL), NULL);
	return ir_is_const(v, 0) || (v->op == IR_FLOAT && v == ir_const(ir, v->type, 0));
}

/* The iterator that is the loop, and both are whole; -1 and a refusal. */
static int find_iter(Sched *s, const char *name, const Stmt *block, const Stmt *loop, int64_t *n)
{
	for (int k = 0; k < block->block.n && nest_extent(loop, n) && ir_is_const(loop->loop.lo, 0); k++) {
		const Iter *it = &block->block.iter[k];
		int64_t hi;
		if (it->value->op == IR_VAR && strcmp(it->value->name, loop->loop.var) == 0 && ir_is_const(it->lo, 0) &&
			ir_is_int(it->hi, &hi) && hi == *n && it->kind != ITER_SCAN)
			return k;
	}
	sched_refuse_for(s, "widen", name, "loop %s is no iterator of it over its whole range", loop->loop.var);
	return -1;
}

/* The dimension of the buffer that the iterator indexes is longer. */
static bool grow(Sched *s, Producer *p, int iter, int64_t n)
{
	int64_t shape[IR_MAX_RANK];
	bool found = false;
	for (int k = 0; k < p->buf->rank; k++) {
		if (!ir_is_int(p->buf->shape[k], &shape[k]))
			return false;
		found |= p->iter_of[k] == iter;
		shape[k] = p->iter_of[k] == iter ? n : shape[k];
	}
	if (!found || p->buf->map.n > 0)
		return false;
	Buf *b = ir_buf(s->ir, p->buf->name, BUF_WORK, p->buf->type, p->buf->scope, shape, p->buf->rank);
	for (int k = 0; k < p->at.fn->nparam; k++)
		if (p->at.fn->param[k].buf == p->buf)
			p->at.fn->param[k].buf = b;
	if (p->alloc != NULL)
		(*p->alloc)->alloc = b;
	return true;
}

/* Needs: an iterator of a block that makes a work buffer, or sums products.  Breaks: nothing that names loops. */
bool prim_widen(Sched *s, const Step *st)
{
	Place l;
	Producer p;
	int64_t n, by = st->arg[2].num;
	const char *name = st->arg[0].word;
	Ir *ir = s->ir;
	if (!producer_find(s, "widen", name, &p) || !sched_find_loop(s, st->arg[1].word, &l) ||
		!sched_need_serial(s, "widen", l.loop))
		return false;
	Stmt *block = p.at.block;
	int k = find_iter(s, name, block, l.loop, &n);
	if (k < 0)
		return false;
	const Stmt *own = *p.top;
	while (own != block && own != l.loop)
		own = own->loop.body;
	if (own == block)
		return sched_refuse_for(s, "widen", name, "loop %s contains more than the block", l.loop->loop.var);
	for (int i = 0; i < block->block.n; i++)
		if (i != k && ir_uses_var(block->block.iter[i].value, l.loop->loop.var))
			return sched_refuse_for(s, "widen", name, "iterator %s uses the loop too", block->block.iter[i].name);
	if (n % by == 0)
		return sched_refuse(s, "widen", name, "the extent is a multiple already");
	if (by > n * 64)
		return sched_refuse(s, "widen", name, "it would do more than 64 times the work");
	int64_t all = (n + by - 1) / by * by;
	Iter *it = &block->block.iter[k];
	bool reduce = it->kind == ITER_REDUCE;
	if (reduce && !adds_nothing(ir, block))
		return sched_refuse(s, "widen", name, "it is no sum of products, so that an iteration more may show");
	const Range *env = ir_range_fn(ir, p.at.fn), *added = env;
	for (int i = 0; i < block->block.n; i++) {
		const Iter *x = &block->block.iter[i];
		env = ir_range_for(ir, x->name, x->lo, i == k ? ir_int(ir, all) : x->hi, env);
		added = ir_range_for(ir, x->name, i == k ? x->hi : x->lo, i == k ? ir_int(ir, all) : x->hi, added);
	}
	Widen w = { .ir = ir, .fn = p.at.fn, .iter = it->name, .added = reduce ? added : NULL };
	Body body = { &w, env };
	Stmt *was_init = ir_clone_stmt(ir, block->block.init), *was = ir_clone_stmt(ir, block->block.body);
	ir_each_below(block, guard_stmt, &body);
	if (w.why == NULL && !reduce && !grow(s, &p, k, all))
		w.why = "its buffer has a layout already";
	if (w.why != NULL) {
		block->block.init = was_init;
		block->block.body = was;
		return sched_refuse(s, "widen", name, w.why);
	}
	it->hi = l.loop->loop.hi = ir_int(ir, all);
	return true;
}
