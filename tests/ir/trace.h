/*
 * Runs statements in order and notes every access and every value stored: the slow, obvious truth
 * that regions and the simplifier of Fns are compared with. Integer values only; a load gives a
 * number that depends on its place.
 */
#ifndef TESTS_IR_TRACE_H
#define TESTS_IR_TRACE_H

#include "values.h"

typedef struct Touch {
	const char *buf;
	int n;
	int64_t at[4], value;
	bool write;
} Touch;

typedef struct Trace {
	Vars v; /* the names in scope, with their values */
	VEC(Touch) touch;
	const Stmt *watched;
	/* Called with what one execution of `watched` touched. */
	void (*check)(struct Trace *t, size_t first, void *arg);
	void *arg;
} Trace;

static inline void bind_name(Trace *t, const char *name, int64_t value)
{
	ck_assert_int_lt(t->v.n, VARS);
	t->v.param[t->v.n] = (Param){ NULL, name, I64 };
	t->v.value[t->v.n++].i[0] = value;
}

static inline int64_t trace_eval(Trace *t, const Expr *e);

static inline Touch touched(Trace *t, const char *buf, const Expr *const *idx, int n, bool write)
{
	Touch a = { .buf = buf, .n = n, .write = write };
	for (int k = 0; k < n; k++)
		a.at[k] = trace_eval(t, idx[k]);
	return a;
}

/* As eval(), for scalar integers, with loads; select is lazy. */
static inline int64_t trace_eval(Trace *t, const Expr *e)
{
	Value v;
	if (e->op == IR_SELECT)
		return trace_eval(t, e->arg[trace_eval(t, e->arg[0]) ? 1 : 2]);
	if (e->op == IR_LOAD) {
		Touch a = touched(t, e->name, e->arg, e->nargs, false);
		vec_push(ir_arena(t->v.ir), &t->touch, a);
		int64_t x = 17;
		for (int k = 0; k < a.n; k++)
			x = x * 31 + a.at[k];
		return x % 1000;
	}
	if (e->nargs == 0) {
		ck_assert_msg(eval(&t->v, e, &v), "%s", ir_expr_str(ir_arena(t->v.ir), e));
		return v.i[0];
	}
	int64_t a = trace_eval(t, e->arg[0]), b = e->nargs > 1 ? trace_eval(t, e->arg[1]) : 0, r;
	ck_assert(eval_ints(e->op, dtype_scalar(e->arg[0]->type), a, b, &r));
	return r;
}

static inline void trace_list(Trace *t, const Stmt *s);

static inline void trace_block(Trace *t, const Stmt *s)
{
	int64_t value[4];
	bool first = true;
	for (int i = 0; i < s->block.n; i++) {
		const Iter *it = &s->block.iter[i];
		value[i] = trace_eval(t, it->value);
		first = first && (it->kind == ITER_SPATIAL || value[i] == trace_eval(t, it->lo));
	}
	for (int i = 0; i < s->block.n; i++)
		bind_name(t, s->block.iter[i].name, value[i]);
	if (s->block.where == NULL || trace_eval(t, s->block.where)) {
		if (first)
			trace_list(t, s->block.init);
		trace_list(t, s->block.body);
	}
}

static inline void trace_one(Trace *t, const Stmt *s)
{
	switch (s->kind) {
	case ST_FOR: {
		int64_t lo = trace_eval(t, s->loop.lo), hi = trace_eval(t, s->loop.hi);
		for (int64_t i = lo; i < hi; i++) {
			int n = t->v.n;
			bind_name(t, s->loop.var, i);
			trace_list(t, s->loop.body);
			t->v.n = n;
		}
		break;
	}
	case ST_BLOCK: {
		int n = t->v.n;
		trace_block(t, s);
		t->v.n = n;
		break;
	}
	case ST_IF:
		trace_list(t, trace_eval(t, s->branch.cond) ? s->branch.then : s->branch.other);
		break;
	case ST_STORE:
		if (s->store.mask == NULL || trace_eval(t, s->store.mask)) {
			int64_t x = trace_eval(t, s->store.value);
			Touch a = touched(
				t, s->store.dst.buf, s->store.dst.idx, s->store.dst.n, true);
			a.value = x;
			vec_push(ir_arena(t->v.ir), &t->touch, a);
		}
		break;
	case ST_LET: bind_name(t, s->let.var, trace_eval(t, s->let.value)); break;
	default: ck_abort_msg("statement %d", (int)s->kind);
	}
}

static inline void trace_list(Trace *t, const Stmt *s)
{
	int n = t->v.n;
	for (; s != NULL; s = s->next) {
		size_t first = t->touch.n;
		trace_one(t, s);
		if (s == t->watched)
			t->check(t, first, t->arg);
	}
	t->v.n = n;
}

/* ---- Random loop nests over a symbol n, two buffers x and y. ---- */

typedef struct NestGen {
	Ir *ir;
	Rng *r;
	const Expr *name[VARS]; /* in scope */
	int n, made;
	VEC(Stmt *) all;
} NestGen;

static inline const Expr *pick_name(NestGen *g)
{
	return g->name[rng_below(g->r, (uint64_t)g->n)];
}

static inline int64_t small(NestGen *g, int64_t lo, int64_t hi)
{
	return rng_range(g->r, lo, hi);
}

/* A sum with constants, sometimes divided, bounded or chosen. */
static inline const Expr *nest_index(NestGen *g, int depth)
{
	Ir *ir = g->ir;
	if (depth == 0)
		return rng_below(g->r, 4) ? pick_name(g) : ir_int(ir, small(g, -3, 5));
	const Expr *a = nest_index(g, depth - 1), *b = nest_index(g, depth - 1);
	switch (rng_below(g->r, 10)) {
	case 0: return ir_div(ir, a, ir_int(ir, small(g, 2, 4)));
	case 1: return ir_mod(ir, a, ir_int(ir, small(g, 2, 5)));
	case 2: return ir_min(ir, a, b);
	case 3: return ir_max(ir, a, b);
	case 4: return ir_select(ir, ir_lt(ir, pick_name(g), b), a, b);
	case 5: return ir_sub(ir, a, b);
	case 6:
		return ir_mul(
			ir, a, rng_below(g->r, 3) ? ir_int(ir, small(g, -2, 4)) : pick_name(g));
	default: return ir_add(ir, ir_mul(ir, a, ir_int(ir, small(g, 1, 4))), b);
	}
}

static inline const Expr *nest_cond(NestGen *g)
{
	const Expr *a = nest_index(g, 1), *b = nest_index(g, (int)rng_below(g->r, 2));
	const Expr *c = rng_below(g->r, 4) ? ir_lt(g->ir, a, b) : ir_eq(g->ir, a, b);
	if (rng_below(g->r, 3) == 0)
		c = ir_and(g->ir, c, ir_le(g->ir, ir_int(g->ir, 0), nest_index(g, 1)));
	return rng_below(g->r, 5) ? c : ir_unary(g->ir, IR_NOT, c);
}

/* Within [0, 20000) whatever the index is, so that a whole dimension is a right answer. */
static inline const Expr *nest_place(NestGen *g, int depth)
{
	return ir_add(g->ir, nest_index(g, depth), ir_int(g->ir, 10000));
}

static inline Stmt *nest_store(NestGen *g)
{
	Ir *ir = g->ir;
	const Expr *at[2] = { nest_place(g, 2), nest_place(g, 1) }, *from = nest_place(g, 2);
	const Expr *load = ir_load_named(ir, "x", I64, &from, 1);
	if (rng_below(g->r, 2))
		load = ir_select(ir, nest_cond(g), load, ir_int(ir, 0));
	Stmt *s = ir_stmt(ir, ST_STORE);
	s->store.dst = (Access){ ir_name(ir, "y"), 2, arena_copy(ir_arena(ir), at, sizeof at) };
	s->store.value = ir_add(ir, load, nest_index(g, 1));
	s->store.mask = rng_below(g->r, 4) ? NULL : nest_cond(g);
	return s;
}

static inline const char *nest_name(NestGen *g, const char *stem)
{
	const char *name = ir_name(g->ir, arena_printf(ir_arena(g->ir), "%s%d", stem, g->made++));
	g->name[g->n++] = ir_idx(g->ir, name);
	return name;
}

static inline Stmt *nest_list(NestGen *g, int depth);

static inline Stmt *nest_for(NestGen *g, int depth)
{
	Ir *ir = g->ir;
	const Expr *lo = rng_below(g->r, 2) ? ir_int(ir, small(g, -1, 2)) : nest_index(g, 1);
	const Expr *hi = ir_add(ir, lo, ir_int(ir, small(g, 0, 5)));
	if (rng_below(g->r, 3) == 0)
		hi = ir_min(ir, hi, nest_index(g, 1));
	Stmt *s = ir_stmt(ir, ST_FOR);
	s->loop.lo = lo;
	s->loop.hi = hi;
	s->loop.var = nest_name(g, "i");
	s->loop.body = nest_list(g, depth - 1);
	return s;
}

/* Domains are what `where` says, or all that the value can be. */
static inline Stmt *nest_block(NestGen *g, int depth)
{
	Ir *ir = g->ir;
	Stmt *s = ir_stmt(ir, ST_BLOCK);
	int n = 1 + (int)rng_below(g->r, 2);
	s->block.name = ir_name(ir, arena_printf(ir_arena(ir), "b%d", g->made++));
	s->block.n = n;
	s->block.iter = arena_array(ir_arena(ir), Iter, n);
	for (int k = 0; k < n; k++)
		s->block.iter[k].value = nest_index(g, 1);
	for (int k = 0; k < n; k++) {
		Iter *it = &s->block.iter[k];
		it->name = nest_name(g, "v");
		it->lo = ir_int(ir, -100000);
		it->hi = ir_int(ir, 100000);
		if (rng_below(g->r, 2)) {
			const Expr *v = ir_idx(ir, it->name), *c;
			it->lo = ir_int(ir, small(g, -1, 2));
			it->hi = ir_int(ir, small(g, 2, 9));
			c = ir_and(ir, ir_le(ir, it->lo, v), ir_lt(ir, v, it->hi));
			s->block.where = s->block.where == NULL ? c : ir_and(ir, s->block.where, c);
		}
	}
	s->block.body = nest_list(g, depth - 1);
	return s;
}

static inline Stmt *nest_one(NestGen *g, int depth)
{
	Stmt *s;
	int n = g->n;
	switch (depth == 0 || g->n > VARS - 4 ? 9 : rng_below(g->r, 9)) {
	case 0:
		s = ir_stmt(g->ir, ST_IF);
		s->branch.cond = nest_cond(g);
		s->branch.then = nest_list(g, depth - 1);
		s->branch.other = rng_below(g->r, 2) ? nest_list(g, depth - 1) : NULL;
		break;
	case 1:
	case 2:
	case 3: s = nest_block(g, depth); break;
	case 4:
		s = ir_stmt(g->ir, ST_LET);
		s->let.value = nest_index(g, 1);
		s->let.var = nest_name(g, "t");
		n++; /* stays in scope */
		break;
	case 5:
	case 6:
	case 7: s = nest_for(g, depth); break;
	default: s = nest_store(g);
	}
	g->n = n;
	vec_push(ir_arena(g->ir), &g->all, s);
	return s;
}

static inline Stmt *nest_list(NestGen *g, int depth)
{
	int n = g->n;
	Stmt *list = NULL;
	for (uint64_t k = 1 + rng_below(g->r, 2); k > 0; k--)
		list = ir_seq(list, nest_one(g, depth));
	g->n = n;
	return list;
}

/* A Fn over n in 1..9 whose body is a random nest; g->all lists its statements. */
static inline Fn *nest_fn(NestGen *g)
{
	int64_t shape[2] = { 20000, 20000 };
	Fn *fn = ir_fn(g->ir, "nest", FN_RUN);
	fn->nsym = 1;
	fn->sym = arena_new_of(ir_arena(g->ir), Sym);
	*fn->sym = (Sym){ ir_name(g->ir, "n"), 1, 9, 1 };
	g->name[g->n++] = ir_idx(g->ir, "n");
	ir_fn_add_buf(g->ir, fn, ir_buf(g->ir, "x", BUF_IN, I64, "global", shape, 1));
	ir_fn_add_buf(g->ir, fn, ir_buf(g->ir, "y", BUF_INOUT, I64, "global", shape, 2));
	fn->body = nest_list(g, 3);
	return fn;
}

#endif
