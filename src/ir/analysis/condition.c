/*
 * What a condition says: exact forms that are not negative, and for each variable alone a narrower
 * range or a congruence. A fact that would need a sum which may wrap is left out.
 */
#include "ir/analysis/affine.h"
#include "ir/build.h"

/* A condition deeper than this is known only as a whole. */
enum { DEEP_CONDITION = 16 };

int ir_affine_facts(
	const Expr *cond, bool holds, const Range *env, IntervalCache *cache, Affine f[2])
{
	if (cond->nargs != 2 || !dtype_is_int(cond->arg[0]->type) || cond->type.lanes != 1)
		return 0;
	const Expr *a = cond->arg[0], *b = cond->arg[1];
	if (cond->op == IR_LT || cond->op == IR_LE) {
		int gap = (cond->op == IR_LT) == holds;
		return holds ? ir_affine_difference(a, b, gap, env, cache, f)
		             : ir_affine_difference(b, a, gap, env, cache, f);
	}
	if (cond->op == (holds ? IR_EQ : IR_NE)) {
		bool ok = ir_affine_difference(a, b, 0, env, cache, &f[0]) &&
		          ir_affine_difference(b, a, 0, env, cache, &f[1]);
		return ok ? 2 : 0;
	}
	return 0;
}

static Range *push_fact(Facts *f, const Range *env)
{
	if (f->n == FACTS)
		return NULL;
	Range *r = &f->at[f->n++];
	*r = (Range){ .outer = env, .lo = INT64_MIN, .hi = INT64_MAX, .mod = 1 };
	return r;
}

static bool is_scalar_var(const Term *t)
{
	return t->b == NULL && t->a->op == IR_VAR && t->a->type.lanes == 1 &&
	       t->a != &ir_affine_lane;
}

static const Range *narrow(Facts *f, const Expr *var, wide lo, wide hi, const Range *env)
{
	Wide now = ir_atom_bounds(var, env, NULL);
	if (lo <= now.lo && hi >= now.hi)
		return env;
	lo = lo > now.lo ? lo : now.lo;
	hi = hi < now.hi ? hi : now.hi;
	if (lo > hi || lo > INT64_MAX || hi < INT64_MIN)
		return env; /* dead code, or a u64 we cannot write down */
	Range *r = push_fact(f, env);
	if (r == NULL)
		return env;
	const Range *old = ir_range_find(env, var->name);
	if (old != NULL)
		*r = *old;
	r->outer = env;
	r->name = var->name;
	r->lo = (int64_t)lo;
	r->hi = hi > INT64_MAX ? INT64_MAX : (int64_t)hi;
	return r;
}

/* What g >= 0 says of each variable alone. */
static const Range *narrow_by(Facts *f, const Affine *g, const Range *env)
{
	for (int i = 0; i < g->n; i++) {
		if (!is_scalar_var(&g->t[i]))
			continue;
		Affine rest = *g;
		int64_t c = rest.t[i].coef;
		ir_affine_drop(&rest, i);
		wide most = ir_affine_bounds(&rest, env, NULL).hi; /* c * var >= -most */
		if (most >= AFFINE_FAR)
			continue;
		if (c > 0)
			env = narrow(f, g->t[i].a, -ir_floor_wide(most, c), AFFINE_FAR, env);
		else
			env = narrow(f, g->t[i].a, -AFFINE_FAR, ir_floor_wide(most, -(wide)c), env);
	}
	return env;
}

/* x % m == r, x = var + k without wrapping: var is r - k modulo m. */
static const Range *narrow_modulo(Facts *f, const Expr *a, const Expr *b, const Range *env)
{
	int64_t m, r;
	Affine x;
	if (a->op != IR_MOD || !ir_is_int(a->arg[1], &m) || m <= 1 || !ir_is_int(b, &r) ||
		!ir_affine_exact_of(a->arg[0], env, NULL, &x) || x.n != 1 || x.t[0].coef != 1 ||
		!is_scalar_var(&x.t[0]))
		return env;
	const Expr *var = x.t[0].a;
	const Range *old = ir_range_find(env, var->name);
	Range *n = old != NULL && old->mod > 1 && m % old->mod != 0 ? NULL : push_fact(f, env);
	if (n == NULL)
		return env;
	if (old != NULL)
		*n = *old;
	n->outer = env;
	n->name = var->name;
	n->mod = m;
	n->rem = ir_floor_mod(ir_floor_mod(r, m) - ir_floor_mod(x.k, m), m);
	return n;
}

/* var != c, where c is an end of its range. */
static const Range *narrow_apart(Facts *f, const Expr *a, const Expr *b, const Range *env)
{
	Affine g;
	if (!ir_affine_difference(a, b, 0, env, NULL, &g) || g.n != 1 || !is_scalar_var(&g.t[0]) ||
		(g.t[0].coef != 1 && g.t[0].coef != -1))
		return env;
	wide c = g.t[0].coef == 1 ? -(wide)g.k : g.k;
	Wide now = ir_atom_bounds(g.t[0].a, env, NULL);
	return narrow(f, g.t[0].a, now.lo == c ? c + 1 : now.lo, now.hi == c ? c - 1 : now.hi, env);
}

static const Range *facts_of(Facts *f, const Expr *c, bool holds, const Range *env)
{
	if (c->op == IR_NOT)
		return facts_of(f, c->arg[0], !holds, env);
	if (c->op == (holds ? IR_AND : IR_OR)) {
		env = facts_of(f, c->arg[0], holds, env);
		return facts_of(f, c->arg[1], holds, env);
	}
	if (c->op == IR_INT)
		return env;
	if (c->op == IR_VAR)
		return narrow(f, c, holds, holds, env);
	Affine g[2];
	bool deep = c->depth > DEEP_CONDITION;
	int n = deep ? 0 : ir_affine_facts(c, holds, env, NULL, g);
	Range *r = push_fact(f, env);
	if (r == NULL)
		return env;
	r->cond = c;
	r->holds = holds;
	env = r;
	for (int i = 0; i < n; i++)
		env = narrow_by(f, &g[i], env);
	bool ints = !deep && c->nargs == 2 && dtype_is_int(c->arg[0]->type);
	if (ints && c->op == (holds ? IR_EQ : IR_NE))
		return narrow_modulo(f, c->arg[0], c->arg[1], env);
	if (ints && c->op == (holds ? IR_NE : IR_EQ))
		return narrow_apart(f, c->arg[0], c->arg[1], env);
	return env;
}

const Range *ir_facts_if(Facts *f, const Expr *cond, bool holds, const Range *env)
{
	f->n = 0;
	if (!dtype_eq(cond->type, BOOL) || cond->depth > IR_DEEPEST)
		return env;
	return facts_of(f, cond, holds, env);
}

const Range *ir_range_if(Ir *ir, const Expr *cond, bool holds, const Range *env)
{
	Facts f;
	if (ir_facts_if(&f, cond, holds, env) == env)
		return env;
	Range *own = arena_copy(ir_arena(ir), f.at, sizeof *f.at * (size_t)f.n);
	for (int i = 1; i < f.n; i++)
		own[i].outer = &own[i - 1];
	return &own[f.n - 1];
}
