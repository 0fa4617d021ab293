/*
 * Conditions outwards. Where a loop's body is one `if`, the part of the condition that does not use the loop's
 * variable is asked once, around the loop. A part that bounds the variable of a serial loop becomes the loop's
 * bound. Neighbours with one condition become one `if`. So the taps of a convolution in the padding cost a loop
 * over fewer taps, and the innermost loop tests nothing.
 *
 * Laws: `if p & q { b }` = `if p { if q { b } }`, since neither loads or fails;
 * `for v { if p { b } }` = `if p { for v { b } }` where p does not use v;
 * `for v in lo..hi { if e <= v { b } }` = `for v in max(lo, e)..hi { b }`, and alike for the end;
 * `if p { a } if p { b }` = `if p { a b }`, since p loads nothing that a could store.
 * Hints before an `if` change nothing and go where it goes. A parallel loop keeps its conditions: otherwise it
 * would no longer be one phase of all threads.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/walk.h"

/* Beyond it sums might wrap, and `lo <= x + v` would not say the same as `lo - x <= v`. */
#define FAR ((int64_t)1 << 40)

enum { PARTS = 16 };

typedef struct Parts { /* of a conjunction */
	int n;
	const Expr *at[PARTS];
} Parts;

static bool add_parts(Parts *p, const Expr *e)
{
	if (e->op == IR_AND && e->type.kind == DT_BOOL)
		return add_parts(p, e->arg[0]) && add_parts(p, e->arg[1]);
	if (p->n == PARTS)
		return false;
	p->at[p->n++] = e;
	return true;
}

static const Expr *and_parts(Lower *l, const Parts *p)
{
	const Expr *e = ir_bool(l->ir, true);
	for (int k = 0; k < p->n; k++)
		e = ir_and(l->ir, e, p->at[k]);
	return e;
}

static void check_movable(const Expr *e, void *arg)
{
	int64_t v;
	bool divides = e->op == IR_DIV || e->op == IR_MOD || e->op == IR_TDIV || e->op == IR_TMOD;
	if (e->op == IR_LOAD || e->op == IR_SHL || e->op == IR_SHR ||
		(divides && dtype_is_int(e->type) && (!ir_is_int(e->arg[1], &v) || v == 0)))
		*(bool *)arg = false;
}

/* Neither loads nor fails, so it may be evaluated more or less often. */
static bool is_movable(const Expr *e)
{
	bool yes = true;
	ir_each_node(e, check_movable, &yes);
	return yes;
}

static bool is_near(const Expr *e, const Range *env)
{
	Interval i = ir_interval(e, env);
	return dtype_eq(e->type, I64) && i.lo > -FAR && i.hi < FAR;
}

/* e = *rest + *coef * var, for all values. */
static bool linear(Lower *l, const Expr *e, const char *var, const Range *env, int64_t *coef, const Expr **rest)
{
	Ir *ir = l->ir;
	const Expr *v = ir_idx(ir, var);
	*rest = ir_simplify(ir, ir_subst(ir, e, var, ir_int(ir, 0)), env);
	const Expr *step = ir_simplify(ir, ir_sub(ir, ir_subst(ir, e, var, ir_int(ir, 1)), *rest), env);
	if (!ir_is_int(step, coef))
		return false;
	const Expr *same = ir_add(ir, *rest, ir_mul(ir, ir_int(ir, *coef), v));
	return ir_is_const(ir_simplify(ir, ir_sub(ir, e, same), env), 0) && is_near(*rest, env);
}

/* Takes a condition into the bounds of a serial loop, if it is one on its variable. */
static bool clip(Lower *l, Stmt *s, const Expr *cond, const Range *env, const Range *inside)
{
	Ir *ir = l->ir;
	int64_t coef;
	const Expr *rest;
	if (s->loop.kind != LOOP_SERIAL || (cond->op != IR_LT && cond->op != IR_LE) || !is_near(cond->arg[0], inside) ||
		!is_near(cond->arg[1], inside))
		return false;
	/* a < b: 0 <= b - a - 1; a <= b: 0 <= b - a. */
	const Expr *slack = ir_sub(ir, ir_sub(ir, cond->arg[1], cond->arg[0]), ir_int(ir, cond->op == IR_LT));
	if (!linear(l, slack, s->loop.var, env, &coef, &rest) || (coef != 1 && coef != -1))
		return false;
	if (coef == 1) /* 0 <= rest + v */
		s->loop.lo = ir_simplify(ir, ir_max(ir, s->loop.lo, ir_sub(ir, ir_int(ir, 0), rest)), env);
	else
		s->loop.hi = ir_simplify(ir, ir_min(ir, s->loop.hi, ir_add(ir, rest, ir_int(ir, 1))), env);
	return true;
}

static bool is_hint(const Stmt *s)
{
	if (s->kind != ST_FOR)
		return s->kind == ST_PREFETCH;
	for (const Stmt *b = s->loop.body; b != NULL; b = b->next)
		if (!is_hint(b))
			return false;
	return true;
}

/* The loop, without what may be asked around it; in an `if` of that. */
static Stmt *lift(Lower *l, Stmt *s, const Range *env)
{
	Parts all = { 0 }, out = { 0 }, in = { 0 };
	Stmt **link = &s->loop.body; /* to the `if` that is all of the body but for hints before it */
	while (*link != NULL && is_hint(*link))
		link = &(*link)->next;
	Stmt *test = *link;
	bool only = test != NULL && test->next == NULL && test->kind == ST_IF && test->branch.other == NULL;
	if (s->loop.kind == LOOP_PARALLEL || s->loop.kind == LOOP_BOUND || !only || !is_movable(s->loop.lo) ||
		!is_movable(s->loop.hi))
		return s;
	if (!add_parts(&all, test->branch.cond))
		return s;
	const Range *inside = lower_range(l, s, false, env);
	for (int k = 0; k < all.n; k++) {
		const Expr *c = all.at[k];
		if (is_movable(c) && !ir_uses_var(c, s->loop.var))
			out.at[out.n++] = c;
		else if (!is_movable(c) || !clip(l, s, c, env, inside))
			in.at[in.n++] = c;
	}
	if (in.n == all.n)
		return s;
	test->branch.cond = and_parts(l, &in);
	if (in.n == 0)
		*link = test->branch.then;
	return out.n > 0 ? ir_if(l->ir, and_parts(l, &out), s, NULL) : s;
}

static bool declares(const Stmt *s)
{
	for (; s != NULL; s = s->next)
		if (s->kind == ST_LET || s->kind == ST_ALLOC)
			return true;
	return false;
}

/* Joins equal neighbours of the list. */
static void join(Lower *l, Stmt *s)
{
	while (s != NULL && s->next != NULL) {
		Stmt *t = s->next;
		if (s->kind != ST_IF || t->kind != ST_IF || s->branch.cond != t->branch.cond || s->branch.other != NULL ||
			t->branch.other != NULL || !is_movable(s->branch.cond)) {
			s = t;
			continue;
		}
		if (declares(s->branch.then) && declares(t->branch.then))
			lower_rename(l, t->branch.then);
		s->branch.then = ir_seq(s->branch.then, t->branch.then);
		s->next = t->next;
	}
}

static void walk(Lower *l, Stmt **list, const Range *env)
{
	for (Stmt **at = list; *at != NULL; at = &(*at)->next) {
		Stmt *s = *at, *next = s->next;
		if (s->kind == ST_FOR) {
			walk(l, &s->loop.body, lower_range(l, s, false, env));
			s->next = NULL;
			*at = lift(l, s, env);
			(*at)->next = next;
		} else if (s->kind == ST_IF) {
			walk(l, &s->branch.then, lower_range(l, s, false, env));
			walk(l, &s->branch.other, lower_range(l, s, true, env));
		} else if (s->kind == ST_ASYNC) {
			walk(l, &s->async, env);
		} else if (s->kind == ST_LET) {
			env = lower_range(l, s, false, env);
		}
	}
	join(l, *list);
}

bool pass_conditions(Lower *l)
{
	walk(l, &l->fn->body, ir_range_fn(l->ir, l->fn));
	return true;
}
