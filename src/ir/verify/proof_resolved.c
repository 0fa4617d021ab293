/*
  * Proofs of a second kind, for comparisons that ir/analysis/proof.c gives up. They cost more, so only the proof of
 * accesses uses them. That file knows the value of an iterator as one fact among many. It replaces a name in one
 * place at a time.

 * Here all names of lets and iterators are replaced, in the comparison and in every condition: v / 3 - i / 3 becomes
 * 0 where v is i. After that one condition is often enough, or each case of a min, max or select has one. A last try
 * writes remainders as quotients, since nested quotients have one form.
 */
#include "ir/verify/proof_resolved.h"

#include "ir/build.h"
#include "ir/simplify/simplify_rules.h"

enum { CHOICES = 4 /* cases within cases */ };

typedef struct Proof {
	Ir *ir;
	IntervalCache *cache;
} Proof;

/* ---- without iterators and lets ---- */

/* Names that stand for values free of such names. */
typedef struct Values {
	VEC(const char *) name;
	VEC(const Expr *) value;
} Values;

static const Expr *value_of(const Values *v, const char *name)
{
	for (size_t i = 0; i < v->name.n; i++)
		if (v->name.at[i] == name)
			return v->value.at[i];
	return NULL;
}

static const Expr *resolve_node(Ir *ir, const Expr *e, void *arg)
{
	(void)ir;
	const Expr *v = e->op == IR_VAR ? value_of(arg, e->name) : NULL;
	return v != NULL ? v : e;
}

static const Expr *resolve(const Proof *p, Values *v, const Expr *e, const Range *env)
{
	return e != NULL ? ir_simplify(p->ir, ir_map_expr(p->ir, e, resolve_node, v), env) : NULL;
}

/* One entry of the chain, behind those outside of it; narrower ends of a name that is gone are conditions. */
static const Range *resolve_fact(const Proof *p, Values *v, const Range *r, const Range *env)
{
	Ir *ir = p->ir;
	if (r->cond != NULL)
		return ir_range_if(ir, resolve(p, v, r->cond, env), r->holds, env);
	const Expr *value = value_of(v, r->name);
	if (value != NULL) {
		if (r->lo != INT64_MIN)
			env = ir_range_if(
				ir, ir_le(ir, ir_const_int(ir, value->type, r->lo), value), true, env);
		if (r->hi != INT64_MAX)
			env = ir_range_if(
				ir, ir_le(ir, value, ir_const_int(ir, value->type, r->hi)), true, env);
		return env;
	}
	if (r->sym_lo != NULL && r->sym_lo == r->sym_hi) {
		vec_push(ir_arena(ir), &v->name, r->name);
		vec_push(ir_arena(ir), &v->value, ir_map_expr(ir, r->sym_lo, resolve_node, v));
		return env;
	}
	Range *own = arena_copy(ir_arena(ir), r, sizeof *r);
	own->outer = env;
	own->sym_lo = resolve(p, v, r->sym_lo, env);
	own->sym_hi = resolve(p, v, r->sym_hi, env);
	return own;
}

/* ---- by one condition, case by case ---- */

/* The least of d by its interval, and by that of m * d - q * fact, where the fact is not negative. */
static wide least_by_fact(const Proof *p, const Affine *d, const Affine *fact, const Range *env)
{
	wide least = ir_affine_bounds(d, env, p->cache).lo;
	for (int i = 0; i < fact->n; i++)
		for (int j = 0; j < d->n; j++) {
			const Term *t = &d->t[j], *f = &fact->t[i];
			Affine rest = { .type = d->type };
			if (t->a != f->a || t->b != f->b || (t->coef > 0) != (f->coef > 0) || t->coef == INT64_MIN ||
				f->coef == INT64_MIN)
				continue;
			int64_t g = ir_gcd(t->coef, f->coef), m = f->coef / g, q = t->coef / g;
			m = m < 0 ? -m : m;
			q = q < 0 ? -q : q;
			if (!ir_affine_add(&rest, d, m) || !ir_affine_add(&rest, fact, -q))
				continue;
			wide lo = -ir_floor_wide(-ir_affine_bounds(&rest, env, p->cache).lo, m);
			least = lo > least ? lo : least;
		}
	return least;
}

/* The same for the best condition of the chain. */
static wide least(const Proof *p, const Affine *d, const Range *env)
{
	Affine fact[2];
	wide least = ir_affine_bounds(d, env, p->cache).lo;
	for (const Range *r = env; r != NULL; r = r->outer) {
		int n = r->cond != NULL ? ir_affine_facts(r->cond, r->holds, env, p->cache, fact) : 0;
		for (int i = 0; i < n; i++) {
			wide lo = least_by_fact(p, d, &fact[i], env);
			least = lo > least ? lo : least;
		}
	}
	return least;
}

typedef struct Choice {
	const Expr *found, *by; /* by: stands for the found one */
} Choice;

/* The last one, which is in no other. */
static void find_choice(const Expr *e, void *arg)
{
	Choice *c = arg;
	bool chooses = e->op == IR_MIN || e->op == IR_MAX || e->op == IR_SELECT;
	if (chooses && dtype_is_int(e->type) && e->type.lanes == 1)
		c->found = e;
}

static const Expr *replace_choice(Ir *ir, const Expr *e, void *arg)
{
	(void)ir;
	const Choice *c = arg;
	return e == c->found ? c->by : e;
}

/* The facts in one case of the choice; c->by is what it is there. */
static const Range *take_side(const Proof *p, Choice *c, int side, const Range *env)
{
	Ir *ir = p->ir;
	bool select = c->found->op == IR_SELECT;
	const Expr *const *arm = &c->found->arg[select ? 1 : 0];
	const Expr *first = select                   ? c->found->arg[0]
	                    : c->found->op == IR_MIN ? ir_le(ir, arm[0], arm[1])
	                                             : ir_le(ir, arm[1], arm[0]);
	c->by = arm[side];
	return ir_range_if(ir, first, side == 0, env);
}

static const Expr *by_choice(const Proof *p, Choice *c, const Expr *e, const Range *env)
{
	return ir_simplify(p->ir, ir_map_expr(p->ir, e, replace_choice, c), env);
}

/* a + gap <= b, or in each case of a select, min or max in them, under what makes it that case. */
static bool is_ordered_by_cases(
	const Proof *p, const Expr *a, const Expr *b, int gap, const Range *env, int choices)
{
	Affine d;
	if (ir_is_ordered(a, b, gap, env, p->cache))
		return true;
	if (a->type.lanes == 1 && ir_affine_difference(a, b, gap, env, p->cache, &d) && least(p, &d, env) >= 0)
		return true;
	Choice c = { NULL, NULL };
	ir_each_node(a, find_choice, &c);
	ir_each_node(b, find_choice, &c);
	if (c.found == NULL || choices == 0)
		return false;
	for (int side = 0; side < 2; side++) {
		const Range *in = take_side(p, &c, side, env);
		const Expr *x = by_choice(p, &c, a, in), *y = by_choice(p, &c, b, in);
		if (!is_ordered_by_cases(p, x, y, gap, in, choices - 1))
			return false;
	}
	return true;
}

/* The same in each case of a choice in one of the conditions. */
static bool is_ordered_by_condition(const Proof *p, const Expr *a, const Expr *b, int gap, const Range *env)
{
	int tries = CHOICES;
	for (const Range *r = env; r != NULL && tries > 0; r = r->outer) {
		Choice c = { NULL, NULL };
		if (r->cond != NULL)
			ir_each_node(r->cond, find_choice, &c);
		if (c.found == NULL)
			continue;
		bool ok = true;
		for (int side = 0; side < 2 && ok; side++) {
			const Range *in = take_side(p, &c, side, env);
			in = ir_range_if(p->ir, by_choice(p, &c, r->cond, in), r->holds, in);
			ok = is_ordered_by_cases(p, a, b, gap, in, CHOICES);
		}
		if (ok)
			return true;
		tries--;
	}
	return false;
}

/* ---- quotients ---- */

/* Quotients of quotients are one: (p + r / a) / c is (a * p + r) / (a * c). */
static void join_quotient(Affine *f, int64_t *c, const Range *env)
{
	for (int i = 0; i < f->n; i++) {
		const Expr *q = f->t[i].a;
		Affine sum = { .type = f->type }, rest = *f, r;
		int64_t a, all;
		if (f->t[i].coef != 1 || q->op != IR_DIV || !ir_is_int(q->arg[1], &a) || a < 1)
			continue;
		ir_affine_drop(&rest, i);
		if (!__builtin_mul_overflow(a, *c, &all) && ir_affine_of(q->arg[0], &r) &&
			ir_affine_exact(&r, env, NULL) && ir_affine_add(&sum, &rest, a) &&
			ir_affine_add(&sum, &r, 1) && ir_affine_exact(&sum, env, NULL)) {
			*f = sum;
			*c = all;
			return;
		}
	}
}

/* x / c, terms that c divides taken out of the quotient: (72 * q + r) / 24 is 3 * q + r / 24. */
static const Expr *quotient(Ir *ir, const Expr *x, int64_t divisor, const Range *env)
{
	int64_t c = divisor;
	Affine f, whole = { .type = x->type }, rest = { .type = x->type };
	if (!ir_affine_of(x, &f) || !ir_affine_exact(&f, env, NULL))
		return ir_div(ir, x, ir_int(ir, c));
	join_quotient(&f, &c, env);
	whole.k = ir_floor_div(f.k, c);
	rest.k = ir_floor_mod(f.k, c);
	for (int i = 0; i < f.n; i++) {
		bool out = f.t[i].coef % c == 0;
		ir_affine_add_term(
			out ? &whole : &rest, out ? f.t[i].coef / c : f.t[i].coef, f.t[i].a, NULL);
	}
	if (!ir_affine_exact(&whole, env, NULL) || !ir_affine_exact(&rest, env, NULL))
		return ir_div(ir, x, ir_int(ir, divisor));
	return ir_add(ir, simplify_build(ir, &whole, x->type),
		ir_div(ir, simplify_build(ir, &rest, x->type), ir_int(ir, c)));
}

static const Expr *split_node(Ir *ir, const Expr *e, void *arg)
{
	int64_t c;
	if ((e->op != IR_MOD && e->op != IR_DIV) || !dtype_eq(e->type, I64) || !ir_is_int(e->arg[1], &c) ||
		c < 1)
		return e;
	const Expr *q = quotient(ir, e->arg[0], c, arg);
	return e->op == IR_DIV ? q : ir_sub(ir, e->arg[0], ir_mul(ir, q, ir_int(ir, c)));
}

/* Remainders written as quotients, in which x / 72 * 3 + x % 72 / 24 is x / 24. */
static const Expr *split_quotients(const Proof *p, const Expr *e, const Range *env)
{
	return ir_map_expr(p->ir, e, split_node, (void *)(uintptr_t)env);
}

typedef struct Bounds {
	const Proof *p;
	const Range *env;
} Bounds;

/* What conditions say of x gives ends of x / c. */
static void bound_quotient(const Expr *e, void *arg)
{
	Bounds *b = arg;
	Ir *ir = b->p->ir;
	int64_t c;
	Affine x, minus = { .type = e->type };
	if (e->op != IR_DIV || !dtype_eq(e->type, I64) || !ir_is_int(e->arg[1], &c) || c < 1 ||
		!ir_affine_exact_of(e->arg[0], b->env, b->p->cache, &x) || !ir_affine_add(&minus, &x, -1))
		return;
	wide lo = least(b->p, &x, b->env), hi = -least(b->p, &minus, b->env);
	Interval now = ir_interval_cached(e->arg[0], b->env, b->p->cache);
	const Expr *q = ir_simplify(ir, e, b->env);
	if (lo > now.lo && lo < INT64_MAX)
		b->env = ir_range_if(
			ir, ir_le(ir, ir_int(ir, ir_floor_div((int64_t)lo, c)), q), true, b->env);
	if (hi < now.hi && hi > INT64_MIN)
		b->env = ir_range_if(
			ir, ir_le(ir, q, ir_int(ir, ir_floor_div((int64_t)hi, c))), true, b->env);
}

bool ir_is_ordered_resolved(
	Ir *ir, const Expr *a, const Expr *b, int gap, const Range *env, IntervalCache *cache)
{
	const Proof proof = { ir, cache }, *p = &proof;
	Values v = { 0 };
	VEC(const Range *) chain = { 0 };
	const Range *own = NULL;
	for (const Range *r = env; r != NULL; r = r->outer)
		vec_push(ir_arena(p->ir), &chain, r);
	for (size_t i = chain.n; i > 0; i--)
		own = resolve_fact(p, &v, chain.at[i - 1], own);
	a = ir_map_expr(p->ir, a, resolve_node, &v);
	b = ir_map_expr(p->ir, b, resolve_node, &v);
	Bounds bounds = { p, own };
	ir_each_node(a, bound_quotient, &bounds);
	ir_each_node(b, bound_quotient, &bounds);
	own = bounds.env;
	a = ir_simplify(p->ir, a, own);
	b = ir_simplify(p->ir, b, own);
	if (is_ordered_by_cases(p, a, b, gap, own, CHOICES) || is_ordered_by_condition(p, a, b, gap, own))
		return true;
	const Range *split = own;
	for (const Range *r = own; r != NULL; r = r->outer)
		if (r->cond != NULL)
			split = ir_range_if(p->ir, split_quotients(p, r->cond, own), r->holds, split);
	return is_ordered_by_cases(
		p, split_quotients(p, a, own), split_quotients(p, b, own), gap, split, CHOICES);
}
