/*
 * Hulls: the ends of an index, free of the names that a statement binds inside. A let or an iterator is replaced by
 * its value. A loop variable, innermost first, is replaced by an end of its range: a sum term by term, a quotient or
 * a min through its monotone arguments, any other expression by its interval. Conditions around the access give
 * further ends. Where a step could wrap or nothing is known, there is no end.
 */
#include "ir/region/hull.h"

#include "ir/analysis/affine.h"
#include "ir/build.h"
#include "ir/simplify/simplify_rules.h"
#include "ir/query.h"

typedef enum { DOWN, UP } Side;

static Side flip(Side s)
{
	return s == UP ? DOWN : UP;
}

/* Values of lets and iterators are free of such names already, so that one pass does. */
static const Expr *resolve_node(Ir *ir, const Expr *e, void *arg)
{
	(void)ir;
	const Bound *b = e->op == IR_VAR ? arg : NULL;
	while (b != NULL && b->name != e->name)
		b = b->outer;
	return b != NULL && b->value != NULL ? b->value : e;
}

const Expr *hull_resolve(const Inside *in, const Expr *e)
{
	return in->bound == NULL ? e : ir_map_named(in->ir, e, in->bound->names, resolve_node, (void *)in->bound);
}

const Bound *hull_bound(Ir *ir, Bound b)
{
	b.names = ir_name_bit(b.name) | (b.outer != NULL ? b.outer->names : 0);
	return arena_copy(ir_arena(ir), &b, sizeof b);
}

static bool is_free(const Expr *e, const Bound *bound)
{
	if (bound == NULL || (e->names & bound->names) == 0)
		return true;
	for (; bound != NULL; bound = bound->outer)
		if (ir_uses_var(e, bound->name))
			return false;
	return true;
}

static const Expr *bound_of(Ir *ir, const Expr *e, const Bound *v, Side side, const Range *env);

/* The interval's end, where it is one. */
static const Expr *numeric_end(Ir *ir, const Expr *e, Side side, const Range *env)
{
	wide lo, hi;
	Interval v = ir_interval(e, env);
	ir_type_range(dtype_scalar(e->type), &lo, &hi);
	if (side == UP ? v.hi >= hi || v.hi == INT64_MAX : v.lo <= lo)
		return NULL;
	return ir_const_int(ir, e->type, side == UP ? v.hi : v.lo);
}

static const Expr *mod_bound(Ir *ir, const Expr *e, const Bound *v, Side side, const Range *env)
{
	const Expr *n = e->arg[1];
	const Expr *lo = bound_of(ir, e->arg[0], v, DOWN, env),
		   *hi = bound_of(ir, e->arg[0], v, UP, env);
	if (ir_uses_var(n, v->name) || ir_interval(n, env).lo < 1)
		return NULL;
	if (lo != NULL && hi != NULL) {
		const Expr *same = ir_eq(ir, ir_div(ir, lo, n), ir_div(ir, hi, n));
		if (ir_always(ir_simplify(ir, same, env), env))
			return ir_mod(ir, side == UP ? hi : lo, n);
	}
	return side == UP ? ir_sub(ir, n, ir_const_int(ir, n->type, 1))
	                  : ir_const_int(ir, n->type, 0);
}

/* An end of one term that uses the variable, free of it. */
static const Expr *term_bound(Ir *ir, const Expr *e, const Bound *v, Side side, const Range *env)
{
	const Expr *a, *b;
	switch (e->op) {
	case IR_VAR: return side == UP ? v->hi : v->lo;
	case IR_DIV:
		if (ir_uses_var(e->arg[1], v->name) || ir_interval(e->arg[1], env).lo < 1)
			return NULL;
		a = bound_of(ir, e->arg[0], v, side, env);
		return a == NULL ? NULL : ir_div(ir, a, e->arg[1]);
	case IR_MOD: return mod_bound(ir, e, v, side, env);
	case IR_MIN:
	case IR_MAX:
		a = bound_of(ir, e->arg[0], v, side, env);
		b = bound_of(ir, e->arg[1], v, side, env);
		if (a != NULL && b != NULL)
			return ir_binary(ir, e->op, a, b);
		return (e->op == IR_MIN) == (side == UP) ? (a != NULL ? a : b) : NULL;
	case IR_SELECT:
		a = bound_of(ir, e->arg[1], v, side, ir_range_if(ir, e->arg[0], true, env));
		b = bound_of(ir, e->arg[2], v, side, ir_range_if(ir, e->arg[0], false, env));
		if (a == NULL || b == NULL)
			return NULL;
		if (!ir_uses_var(e->arg[0], v->name))
			return ir_select(ir, e->arg[0], a, b);
		return ir_binary(ir, side == UP ? IR_MAX : IR_MIN, a, b);
	case IR_MUL: /* where one factor is free of the variable and of known sign */
		for (int i = 0; i < 2; i++) {
			Interval sign = ir_interval(e->arg[1 - i], env);
			if (ir_uses_var(e->arg[1 - i], v->name) || (sign.lo < 0 && sign.hi > 0))
				continue;
			a = bound_of(ir, e->arg[i], v, sign.lo >= 0 ? side : flip(side), env);
			return a == NULL ? NULL : ir_mul(ir, a, e->arg[1 - i]);
		}
		return NULL;
	case IR_CAST: {
		wide lo, hi;
		Interval x = ir_interval(e->arg[0], env);
		ir_type_range(e->type, &lo, &hi);
		if (!dtype_is_int(e->type) || !dtype_is_int(e->arg[0]->type) || x.lo < lo ||
			x.hi > hi)
			return NULL;
		a = bound_of(ir, e->arg[0], v, side, env);
		return a == NULL ? NULL : ir_cast(ir, e->type, a);
	}
	default: return NULL;
	}
}

/* An expression free of the variable that is never above (DOWN) or below (UP) e; NULL: not known. */
static const Expr *bound_of(Ir *ir, const Expr *e, const Bound *v, Side side, const Range *env)
{
	Affine f;
	if (!ir_uses_var(e, v->name))
		return e;
	if (!ir_affine_of(e, &f) || !ir_affine_exact(&f, env, NULL))
		return NULL;
	Affine sum = { .type = f.type, .k = f.k };
	for (int i = 0; i < f.n; i++) {
		const Expr *x = f.t[i].a, *end = x;
		Side at = f.t[i].coef > 0 ? side : flip(side);
		if (ir_uses_var(x, v->name)) {
			end = term_bound(ir, x, v, at, env);
			if (end == NULL)
				end = numeric_end(ir, x, at, env);
		}
		if (end == NULL || !ir_affine_add_term(&sum, f.t[i].coef, end, NULL))
			return NULL;
	}
	const Expr *r = ir_simplify(ir, simplify_build(ir, &sum, e->type), env);
	return ir_affine_of(r, &f) && ir_affine_exact(&f, env, NULL) ? r : NULL;
}

/*
 * Free of everything bound inside, innermost first, and of loads, which the statement may change.
 * The sum must be exact outside, too, where less is known.
 */
static const Expr *eliminate(const Inside *in, const Expr *e, Side side)
{
	for (const Bound *b = in->bound; b != NULL && e != NULL; b = b->outer)
		if (b->value == NULL)
			e = bound_of(in->ir, e, b, side, in->env);
	Affine f;
	if (e == NULL || ir_has_load(e) || !ir_affine_of(e, &f) || !ir_affine_exact(&f, in->outer, NULL))
		return NULL;
	return e;
}

/* A form with products as an expression. */
static const Expr *built(Ir *ir, const Affine *f)
{
	Affine flat = { .type = f->type, .k = f->k };
	for (int i = 0; i < f->n; i++) {
		const Term *t = &f->t[i];
		const Expr *x = t->b == NULL ? t->a : ir_mul(ir, t->a, t->b);
		if (!ir_affine_add_term(&flat, t->coef, x, NULL))
			return NULL;
	}
	return simplify_build(ir, &flat, f->type);
}

static bool is_inner(const Term *t, const Bound *bound)
{
	return !is_free(t->a, bound) || (t->b != NULL && !is_free(t->b, bound));
}

static int count_inner(const Affine *f, const Bound *bound)
{
	int n = 0;
	for (int i = 0; i < f->n; i++)
		n += is_inner(&f->t[i], bound);
	return n;
}

/*
 * e - q*fact, q chosen so that an inner term vanishes: below e for q > 0, above it for q < 0. It
 * must have fewer inner terms than e. Returns the sign of q, 0 if the fact is of no use.
 */
static int less_inner(const Affine *e, const Affine *fact, const Bound *bound, Affine *out)
{
	for (int i = 0; i < fact->n; i++) {
		const Term *t = &fact->t[i];
		if (!is_inner(t, bound))
			continue;
		for (int j = 0; j < e->n; j++) {
			if (e->t[j].a != t->a || e->t[j].b != t->b || e->t[j].coef == INT64_MIN ||
				e->t[j].coef % t->coef != 0)
				continue; /* INT64_MIN % -1 traps */
			int64_t q = e->t[j].coef / t->coef;
			*out = *e;
			if (!ir_affine_add(out, fact, -q) ||
				count_inner(out, bound) >= count_inner(e, bound))
				return 0;
			return q > 0 ? 1 : -1;
		}
	}
	return 0;
}

static const Expr *tighter(const Inside *in, const Expr *old, const Expr *by, Side side)
{
	Affine f;
	by = ir_simplify(in->ir, by, in->outer);
	if (!ir_affine_of(by, &f) || !ir_affine_exact(&f, in->outer, NULL))
		return old;
	if (old == NULL)
		return by;
	return ir_simplify(
		in->ir, ir_binary(in->ir, side == UP ? IR_MIN : IR_MAX, old, by), in->outer);
}

/* The ends that the conditions around give. */
static void tighten(const Inside *in, const Expr *e, Hull *h)
{
	Affine form, fact[2], rest;
	if (is_free(e, in->bound) || !ir_affine_expand(e, &form) ||
		!ir_affine_exact(&form, in->env, NULL))
		return;
	for (const Cond *k = in->cond; k != NULL; k = k->outer) {
		int n = ir_affine_facts(k->cond, k->holds, in->env, NULL, fact);
		for (int i = 0; i < n; i++) {
			int sign = less_inner(&form, &fact[i], in->bound, &rest);
			if (sign == 0)
				continue;
			Side side = sign > 0 ? DOWN : UP;
			const Expr *end = built(in->ir, &rest);
			if (end != NULL)
				end = eliminate(in, ir_simplify(in->ir, end, in->env), side);
			if (end != NULL && side == UP)
				h->hi = tighter(in, h->hi, end, side);
			else if (end != NULL)
				h->lo = tighter(in, h->lo, end, side);
		}
	}
}

static Hull hull_of_scalar(const Inside *in, const Expr *e)
{
	e = ir_simplify(in->ir, hull_resolve(in, e), in->env);
	Hull h = { eliminate(in, e, DOWN), eliminate(in, e, UP) };
	tighten(in, e, &h);
	return h;
}

Hull hull_of(const Inside *in, const Expr *e)
{
	static const Hull unknown = { NULL, NULL };
	int64_t step;
	if (e->type.lanes == 1)
		return hull_of_scalar(in, e);
	e = ir_simplify(in->ir, hull_resolve(in, e), in->env);
	if (e->op == IR_SPLAT)
		return hull_of_scalar(in, e->arg[0]);
	if (e->op != IR_RAMP || !ir_is_int(e->arg[1], &step)) {
		Interval v = ir_interval(e, in->env);
		if (v.lo == INT64_MIN || v.hi == INT64_MAX)
			return unknown;
		return (Hull){ ir_int(in->ir, v.lo), ir_int(in->ir, v.hi) };
	}
	int64_t last;
	if (__builtin_mul_overflow(step, e->type.lanes - 1, &last))
		return unknown;
	const Expr *end = ir_add(in->ir, e->arg[0], ir_int(in->ir, last));
	Hull first = hull_of_scalar(in, e->arg[0]), other = hull_of_scalar(in, end);
	return step >= 0 ? (Hull){ first.lo, other.hi } : (Hull){ other.lo, first.hi };
}
