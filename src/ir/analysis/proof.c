/*
 * Proofs. A comparison becomes "d >= 0" for an exact form d; to prove it, d is made smaller until
 * its interval shows it: variables are replaced by their symbolic ends, innermost first, known
 * conditions are subtracted, min, max, select, quotients and remainders by what bounds them. The
 * search is cut off after PROOF_STEPS forms, so that a failure costs microseconds.
 * Left out: products of more than two factors, and facts that need dividing (x * y >= x).
 */
#include "ir/analysis/affine.h"
#include "ir/build.h"

#include <string.h>

enum { PROOF_STEPS = 24, PROOF_FACTS = 10 /* a border of three dimensions, and two ends of whole tiles */ };

typedef struct Proof {
	const Range *env;
	IntervalCache *cache;
	int steps, n;
	Affine fact[PROOF_FACTS]; /* each >= 0 */
} Proof;

static bool prove(Proof *p, const Affine *d);

/* d with term i, which is coef * x * b, replaced by coef * (f or the constant k) * b. */
static bool replace(Affine *d, int i, const Expr *x, const Affine *f)
{
	Term t = d->t[i];
	const Expr *b = t.a == x ? t.b : t.a;
	ir_affine_drop(d, i);
	if (b == NULL)
		return ir_affine_add(d, f, t.coef);
	if (!ir_affine_is_linear(f))
		return false;
	int64_t v;
	for (int j = 0; j < f->n; j++)
		if (__builtin_mul_overflow(f->t[j].coef, t.coef, &v) ||
			!ir_affine_add_term(d, v, f->t[j].a, b))
			return false;
	return !__builtin_mul_overflow(f->k, t.coef, &v) &&
	       (v == 0 || ir_affine_add_term(d, v, b, NULL));
}

/* The sign of what a factor of the term is multiplied with; 0: not known. */
static int sign_beside(const Proof *p, const Term *t, const Expr *x)
{
	int sign = t->coef > 0 ? 1 : -1;
	const Expr *b = t->a == x ? t->b : t->a;
	if (b == NULL)
		return sign;
	Wide w = b == x ? (Wide){ -1, 1 } : ir_atom_bounds(b, p->env, p->cache);
	return w.lo >= 0 ? sign : w.hi <= 0 ? -sign : 0;
}

static const Expr *find_var(const Affine *d, const char *name)
{
	for (int i = 0; i < d->n; i++) {
		if (d->t[i].a->op == IR_VAR && d->t[i].a->name == name)
			return d->t[i].a;
		if (d->t[i].b != NULL && d->t[i].b->op == IR_VAR && d->t[i].b->name == name)
			return d->t[i].b;
	}
	return NULL;
}

/*
 * x by its ends as expressions, wherever it stands in d, so that d gets no greater. False also if
 * only numbers came in: the interval knows those.
 */
static bool replace_all(Proof *p, Affine *d, const Expr *x, const Expr *lo, const Expr *hi)
{
	Affine end[2];
	bool have[2] = { lo != NULL && ir_affine_exact_of(lo, p->env, p->cache, &end[0]),
		hi != NULL && ir_affine_exact_of(hi, p->env, p->cache, &end[1]) };
	bool symbolic = false;
	for (int i = 0; i < 2; i++)
		have[i] = have[i] && find_var(&end[i], x->name) == NULL;
	for (int i = 0; i < d->n;) {
		const Term *t = &d->t[i];
		if (t->a != x && t->b != x) {
			i++;
			continue;
		}
		int sign = sign_beside(p, t, x);
		if (sign == 0 || !have[sign < 0] || !replace(d, i, x, &end[sign < 0]))
			return false;
		symbolic = symbolic || end[sign < 0].n > 0;
		i = 0; /* terms have moved; x is in none of the new ones */
	}
	return symbolic;
}

static bool by_symbolic_ends(Proof *p, const Affine *d)
{
	for (const Range *r = p->env; r != NULL && p->steps > 0; r = r->outer) {
		if (r->name == NULL || (r->sym_lo == NULL && r->sym_hi == NULL))
			continue;
		const Range *newest = ir_range_find(p->env, r->name);
		const Expr *x = find_var(d, r->name);
		if (x == NULL ||
			(newest != r && newest->sym_lo == r->sym_lo && newest->sym_hi == r->sym_hi))
			continue;
		Affine less = *d;
		if (replace_all(p, &less, x, r->sym_lo, r->sym_hi) && prove(p, &less))
			return true;
	}
	return false;
}

/* d - q * f <= d where f >= 0 and q > 0: takes q so that a term of d vanishes. */
static bool by_facts(Proof *p, const Affine *d)
{
	for (int i = 0; i < p->n && p->steps > 0; i++) {
		const Affine *f = &p->fact[i];
		for (int j = 0; j < f->n; j++) {
			int at = 0;
			while (at < d->n && (d->t[at].a != f->t[j].a || d->t[at].b != f->t[j].b))
				at++;
			if (at == d->n || (d->t[at].coef > 0) != (f->t[j].coef > 0) ||
				d->t[at].coef == INT64_MIN || d->t[at].coef % f->t[j].coef != 0)
				continue; /* INT64_MIN % -1 traps */
			Affine less = *d;
			if (ir_affine_add(&less, f, -(d->t[at].coef / f->t[j].coef)) &&
				prove(p, &less))
				return true;
			break;
		}
	}
	return false;
}

static bool with_instead(Proof *p, const Affine *d, int i, const Expr *by)
{
	Affine less = *d, f;
	return ir_affine_exact_of(by, p->env, p->cache, &f) && replace(&less, i, d->t[i].a, &f) &&
	       prove(p, &less);
}

/*
 * Term c * (x / n), n > 0. With c = -1: rest - x/n >= 0 is x/n < rest + 1, so (rest + 1) * n > x.
 * With c = 1: x/n >= -rest is x >= -rest * n. For a constant n and any c, all of d times n:
 * c*(x/n)*n is at least c*x, less c*(n - 1) for c > 0; n*d > -n is enough.
 */
static bool by_quotient(Proof *p, const Affine *d, int i)
{
	const Term t = d->t[i];
	const Expr *n = t.a->arg[1];
	int64_t k;
	Affine x, rest = *d, sum = { .type = d->type };
	if (ir_atom_bounds(n, p->env, p->cache).lo < 1 ||
		!ir_affine_exact_of(t.a->arg[0], p->env, p->cache, &x))
		return false;
	ir_affine_drop(&rest, i);
	if (ir_is_int(n, &k)) {
		if (k < 1) /* a u64 beyond int64 */
			return false;
		int64_t slack = t.coef > 0 ? -(k - 1) : 0;
		Interval v = ir_interval_cached(t.a->arg[0], p->env, p->cache);
		if (v.mod != 0 && v.mod % k == 0)
			slack = -(v.rem % k); /* the quotient is exact */
		return !__builtin_add_overflow(x.k, slack, &x.k) && ir_affine_add(&sum, &rest, k) &&
		       ir_affine_add(&sum, &x, t.coef) &&
		       !__builtin_add_overflow(sum.k, k - 1, &sum.k) && prove(p, &sum);
	}
	if ((t.coef != 1 && t.coef != -1) || !ir_affine_is_linear(&rest))
		return false;
	if (t.coef == -1 && __builtin_add_overflow(rest.k, 1, &rest.k))
		return false;
	for (int j = 0; j < rest.n; j++)
		if (!ir_affine_add_term(&sum, rest.t[j].coef, rest.t[j].a, n))
			return false;
	if ((rest.k != 0 && !ir_affine_add_term(&sum, rest.k, n, NULL)) ||
		!ir_affine_add(&sum, &x, t.coef))
		return false;
	return !__builtin_sub_overflow(sum.k, t.coef == -1, &sum.k) && prove(p, &sum);
}

/* The first term that is not a variable, by what is known of its node. */
static bool by_node(Proof *p, const Affine *d)
{
	for (int i = 0; i < d->n; i++) {
		const Expr *e = d->t[i].a;
		if (d->t[i].b != NULL || e->type.lanes != 1)
			continue;
		bool up = d->t[i].coef > 0;
		switch (e->op) {
		case IR_MIN:
		case IR_MAX:
			if ((e->op == IR_MAX) == up)
				return with_instead(p, d, i, e->arg[0]) ||
				       with_instead(p, d, i, e->arg[1]);
			return with_instead(p, d, i, e->arg[0]) && with_instead(p, d, i, e->arg[1]);
		case IR_SELECT:
			return with_instead(p, d, i, e->arg[1]) && with_instead(p, d, i, e->arg[2]);
		case IR_DIV: return by_quotient(p, d, i);
		case IR_MOD: {
			Affine less = *d, n;
			if (ir_atom_bounds(e->arg[1], p->env, p->cache).lo < 1 ||
				!ir_affine_exact_of(e->arg[1], p->env, p->cache, &n))
				continue;
			ir_affine_drop(&less, i);
			if (!up && (!ir_affine_add(&less, &n, d->t[i].coef) ||
					   __builtin_sub_overflow(less.k, d->t[i].coef, &less.k)))
				continue;
			if (prove(p, &less))
				return true;
			continue;
		}
		default: continue;
		}
	}
	return false;
}

/* d >= 0 for all values. */
static bool prove(Proof *p, const Affine *d)
{
	Wide w = ir_affine_bounds(d, p->env, p->cache);
	if (w.lo >= 0)
		return true;
	if (w.hi < 0 || p->steps-- <= 0)
		return false;
	return by_symbolic_ends(p, d) || by_facts(p, d) || by_node(p, d);
}

static bool proof_of(const Affine *d, const Range *env, IntervalCache *cache)
{
	Wide w = ir_affine_bounds(d, env, cache);
	if (w.lo >= 0 || w.hi < 0)
		return w.lo >= 0;
	Proof p = { .env = env, .cache = cache, .steps = PROOF_STEPS };
	for (const Range *r = env; r != NULL && p.n + 2 <= PROOF_FACTS; r = r->outer)
		if (r->cond != NULL)
			p.n += ir_affine_facts(r->cond, r->holds, env, cache, &p.fact[p.n]);
	return prove(&p, d);
}

/* The congruence of the exact form excludes 0. */
static bool is_never_zero(const Affine *d, const Range *env, IntervalCache *cache)
{
	int64_t g = 0;
	wide rem = d->k;
	for (int i = 0; i < d->n; i++) {
		const Term *t = &d->t[i];
		Interval v = t->b == NULL ? ir_interval_cached(t->a, env, cache)
		                          : (Interval){ .mod = 1 };
		int64_t step;
		if (__builtin_mul_overflow(t->coef, v.mod, &step) || step == INT64_MIN)
			return false;
		g = ir_gcd(g, step);
		wide part = (wide)t->coef * v.rem;
		if (g == 1 || part > AFFINE_FAR || part < -AFFINE_FAR)
			return false;
		rem += part;
	}
	return g != 0 ? rem % g != 0 : rem != 0;
}

bool ir_is_ordered(const Expr *a, const Expr *b, int gap, const Range *env, IntervalCache *cache)
{
	Affine d;
	Wide x = ir_atom_bounds(a, env, cache), y = ir_atom_bounds(b, env, cache);
	if (x.hi + gap <= y.lo)
		return true;
	if (x.lo + gap > y.hi)
		return false;
	if (a->type.lanes == 1)
		return ir_affine_difference(a, b, gap, env, cache, &d) && proof_of(&d, env, cache);
	Range lanes = {
		.outer = env, .name = ir_affine_lane.name, .hi = a->type.lanes - 1, .mod = 1
	};
	return ir_affine_difference(a, b, gap, &lanes, NULL, &d) && proof_of(&d, &lanes, NULL);
}

static bool decide(const Expr *c, bool value, const Range *env, IntervalCache *cache);

static bool decide_compare(const Expr *c, bool value, const Range *env, IntervalCache *cache)
{
	const Expr *a = c->arg[0], *b = c->arg[1];
	if (!dtype_is_int(a->type))
		return !value && c->op == IR_LT && a == b;
	if (c->op == IR_LT || c->op == IR_LE) {
		int gap = (c->op == IR_LT) == value;
		return value ? ir_is_ordered(a, b, gap, env, cache)
		             : ir_is_ordered(b, a, gap, env, cache);
	}
	if (value == (c->op == IR_NE)) {
		Affine d;
		if (ir_is_ordered(a, b, 1, env, cache) || ir_is_ordered(b, a, 1, env, cache))
			return true;
		return a->type.lanes == 1 && ir_affine_difference(a, b, 0, env, cache, &d) &&
		       is_never_zero(&d, env, cache);
	}
	return a == b || (ir_is_ordered(a, b, 0, env, cache) && ir_is_ordered(b, a, 0, env, cache));
}

/* c has this value, for all values of its variables and in all lanes. */
static bool decide(const Expr *c, bool value, const Range *env, IntervalCache *cache)
{
	Interval v = ir_interval_cached(c, env, cache);
	if (v.mod == 0 || c->depth > IR_DEEPEST)
		return v.mod == 0 && v.rem == value;
	for (const Range *r = env; r != NULL && c->type.lanes == 1; r = r->outer)
		if (r->cond == c && r->holds == value)
			return true;
	switch (c->op) {
	case IR_NOT: return decide(c->arg[0], !value, env, cache);
	case IR_AND:
	case IR_OR: {
		bool first = decide(c->arg[0], value, env, cache);
		if (first == (value == (c->op == IR_OR)))
			return first;
		return decide(c->arg[1], value, env, cache);
	}
	case IR_SELECT:
		return decide(c->arg[1], value, env, cache) && decide(c->arg[2], value, env, cache);
	case IR_SPLAT: return decide(c->arg[0], value, env, cache);
	case IR_EQ:
	case IR_NE:
	case IR_LT:
	case IR_LE: return decide_compare(c, value, env, cache);
	default: return false;
	}
}

bool ir_always_cached(const Expr *cond, const Range *env, IntervalCache *cache)
{
	return decide(cond, true, env, cache);
}

bool ir_never_cached(const Expr *cond, const Range *env, IntervalCache *cache)
{
	return decide(cond, false, env, cache);
}

bool ir_always(const Expr *cond, const Range *env)
{
	IntervalCache cache;
	memset(cache.e, 0, sizeof cache.e);
	return decide(cond, true, env, &cache);
}

bool ir_never(const Expr *cond, const Range *env)
{
	IntervalCache cache;
	memset(cache.e, 0, sizeof cache.e);
	return decide(cond, false, env, &cache);
}
