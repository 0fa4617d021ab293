/*
 * Linear reasoning. A comparison becomes "d >= 0" for an exact form d; to prove it, d is made
 * smaller until its interval shows it: variables are replaced by their symbolic ends, innermost
 * first, known conditions are subtracted, min, max, select, quotients and remainders by what bounds
 * them. The search is cut off after PROOF_STEPS forms, so that a failure costs microseconds.
 * Left out: products of more than two factors, and facts that need dividing (x * y >= x).
 */
#include "ir/affine.h"
#include "ir/build.h"

#include <string.h>

enum { PROOF_STEPS = 24, PROOF_FACTS = 6, DEEPEST = 500 };

/* Bounds beyond this are "none"; sums of them stay within 128 bits. */
#define FAR ((wide)1 << 100)

/* The number of the lane, where a vector's lanes are meant one by one; a Range bounds it. */
static const char lane_name[] = "lane";
const Expr ir_affine_lane = { .op = IR_VAR, .type = { DT_INT, 64, 1 }, .depth = 1,
	.id = UINT32_MAX, .name = lane_name };

/* Coefficients of a ring are its residues of least magnitude. */
static int64_t to_ring(uint64_t v, DType t)
{
	int drop = 64 - t.bits;
	return (int64_t)(v << drop) >> drop;
}

static bool same_term(const Term *t, const Expr *a, const Expr *b)
{
	return t->a == a && t->b == b;
}

static void drop_term(Affine *f, int i)
{
	memmove(&f->t[i], &f->t[i + 1], sizeof *f->t * (size_t)(f->n - i - 1));
	f->n--;
}

/* The place of a * b among the terms, made with coefficient 0 if it is new; -1: no room. */
static int term_at(Affine *f, const Expr *a, const Expr *b)
{
	if (b != NULL && b->id < a->id) {
		const Expr *t = a;
		a = b;
		b = t;
	}
	for (int i = 0; i < f->n; i++)
		if (same_term(&f->t[i], a, b))
			return i;
	if (f->n == AFFINE_TERMS)
		return -1;
	f->t[f->n] = (Term){ 0, a, b };
	return f->n++;
}

static bool ring_add(Affine *f, uint64_t coef, const Expr *a, const Expr *b)
{
	int i = term_at(f, a, b);
	if (i < 0)
		return false;
	f->t[i].coef = to_ring((uint64_t)f->t[i].coef + coef, f->type);
	if (f->t[i].coef == 0)
		drop_term(f, i);
	return true;
}

bool ir_affine_add_term(Affine *f, int64_t coef, const Expr *a, const Expr *b)
{
	int i = term_at(f, a, b);
	if (i < 0 || __builtin_add_overflow(f->t[i].coef, coef, &f->t[i].coef))
		return false;
	if (f->t[i].coef == 0)
		drop_term(f, i);
	return true;
}

bool ir_affine_add(Affine *f, const Affine *g, int64_t times)
{
	int64_t v;
	if (__builtin_mul_overflow(g->k, times, &v) || __builtin_add_overflow(f->k, v, &f->k))
		return false;
	for (int i = 0; i < g->n; i++)
		if (__builtin_mul_overflow(g->t[i].coef, times, &v) ||
			!ir_affine_add_term(f, v, g->t[i].a, g->t[i].b))
			return false;
	return true;
}

typedef enum { OPAQUE_PRODUCTS, EXPAND_PRODUCTS } Products;

static bool collect(Affine *f, const Expr *e, uint64_t scale, Products how);

static bool collect_alone(Affine *f, const Expr *e, DType t, Products how)
{
	f->type = t;
	f->n = 0;
	f->k = 0;
	return collect(f, e, 1, how);
}

static bool is_linear(const Affine *f)
{
	for (int i = 0; i < f->n; i++)
		if (f->t[i].b != NULL)
			return false;
	return true;
}

/* f += scale * x * y, multiplied out; false leaves f broken. */
static bool collect_product(Affine *f, const Affine *x, const Affine *y, uint64_t scale)
{
	for (int i = 0; i < x->n; i++)
		for (int j = 0; j < y->n; j++) {
			uint64_t c = scale * (uint64_t)x->t[i].coef * (uint64_t)y->t[j].coef;
			if (!ring_add(f, c, x->t[i].a, y->t[j].a))
				return false;
		}
	for (int i = 0; i < x->n; i++)
		if (!ring_add(f, scale * (uint64_t)x->t[i].coef * (uint64_t)y->k, x->t[i].a, NULL))
			return false;
	for (int i = 0; i < y->n; i++)
		if (!ring_add(f, scale * (uint64_t)y->t[i].coef * (uint64_t)x->k, y->t[i].a, NULL))
			return false;
	f->k = to_ring((uint64_t)f->k + scale * (uint64_t)x->k * (uint64_t)y->k, f->type);
	return true;
}

static bool is_number(const Expr *e, int64_t *v)
{
	return ir_is_int(e->op == IR_SPLAT ? e->arg[0] : e, v);
}

static bool collect_mul(Affine *f, const Expr *e, uint64_t scale, Products how)
{
	int64_t c;
	for (int i = 0; i < 2; i++)
		if (is_number(e->arg[i], &c))
			return collect(f, e->arg[1 - i], scale * (uint64_t)c, how);
	if (how == OPAQUE_PRODUCTS)
		return ring_add(f, scale, e, NULL);
	Affine x, y, saved = *f;
	if (collect_alone(&x, e->arg[0], f->type, how) && collect_alone(&y, e->arg[1], f->type, how) &&
		is_linear(&x) && is_linear(&y) && collect_product(f, &x, &y, scale))
		return true;
	*f = saved;
	return ring_add(f, scale, e, NULL);
}

static bool collect(Affine *f, const Expr *e, uint64_t scale, Products how)
{
	int64_t c;
	switch (e->op) {
	case IR_INT:
		f->k = to_ring((uint64_t)f->k + scale * (uint64_t)e->i, f->type);
		return true;
	case IR_ADD:
		return collect(f, e->arg[0], scale, how) && collect(f, e->arg[1], scale, how);
	case IR_SUB:
		return collect(f, e->arg[0], scale, how) && collect(f, e->arg[1], -scale, how);
	case IR_NEG:
		return collect(f, e->arg[0], -scale, how);
	case IR_MUL:
		return collect_mul(f, e, scale, how);
	case IR_SHL:
		if (is_number(e->arg[1], &c) && c >= 0 && c < f->type.bits)
			return collect(f, e->arg[0], scale << c, how);
		return ring_add(f, scale, e, NULL);
	case IR_SPLAT:
		return collect(f, e->arg[0], scale, how);
	case IR_RAMP:
		if (ir_is_int(e->arg[1], &c))
			return collect(f, e->arg[0], scale, how) &&
				ring_add(f, scale * (uint64_t)c, &ir_affine_lane, NULL);
		return collect(f, e->arg[0], scale, how) && ring_add(f, scale, e->arg[1], &ir_affine_lane);
	default:
		return ring_add(f, scale, e, NULL);
	}
}

bool ir_affine_of(const Expr *e, Affine *f)
{
	return dtype_is_int(e->type) && e->depth <= DEEPEST &&
		collect_alone(f, e, dtype_scalar(e->type), OPAQUE_PRODUCTS);
}

bool ir_affine_expand(const Expr *e, Affine *f)
{
	return dtype_is_int(e->type) && e->depth <= DEEPEST &&
		collect_alone(f, e, dtype_scalar(e->type), EXPAND_PRODUCTS);
}

static bool is_within(Wide w, wide limit)
{
	return w.lo > -limit && w.hi < limit;
}

/* All ends below 2^64, and the product of two below 2^127. */
static Wide times(Wide a, Wide b)
{
	wide p[4] = { a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi };
	Wide m = { p[0], p[0] };
	for (int i = 1; i < 4; i++) {
		m.lo = p[i] < m.lo ? p[i] : m.lo;
		m.hi = p[i] > m.hi ? p[i] : m.hi;
	}
	return m;
}

static Wide atom_bounds(const Expr *e, const Range *env, IntervalCache *cache)
{
	return ir_widen(ir_interval_cached(e, env, cache), dtype_scalar(e->type));
}

/* {-FAR, FAR} where it is far out, so that sums cannot overflow. */
static Wide term_bounds(const Term *t, const Range *env, IntervalCache *cache)
{
	static const Wide none = { -FAR, FAR };
	Wide w = atom_bounds(t->a, env, cache);
	if (t->b != NULL) {
		Wide v = atom_bounds(t->b, env, cache);
		if (!is_within(w, (wide)1 << 62) || !is_within(v, (wide)1 << 62))
			return none;
		w = times(w, v);
	}
	if (!is_within(w, (wide)1 << 64))
		return none;
	w = times(w, (Wide){ t->coef, t->coef });
	return is_within(w, FAR) ? w : none;
}

Wide ir_affine_bounds(const Affine *f, const Range *env, IntervalCache *cache)
{
	Wide sum = { f->k, f->k };
	for (int i = 0; i < f->n; i++) {
		Wide w = term_bounds(&f->t[i], env, cache);
		sum.lo += w.lo;
		sum.hi += w.hi;
	}
	return sum;
}

bool ir_affine_exact(const Affine *f, const Range *env, IntervalCache *cache)
{
	if (f->n == 1 && f->k == 0 && f->t[0].coef == 1 && f->t[0].b == NULL)
		return true;
	wide lo, hi;
	ir_type_range(f->type, &lo, &hi);
	Wide w = ir_affine_bounds(f, env, cache);
	return w.lo >= lo && w.hi <= hi;
}

static bool exact_of(const Expr *e, const Range *env, IntervalCache *cache, Affine *f)
{
	return ir_affine_expand(e, f) && ir_affine_exact(f, env, cache);
}

/* f = b - a - gap, exact. */
static bool difference(const Expr *a, const Expr *b, int gap, const Range *env,
	IntervalCache *cache, Affine *f)
{
	Affine g;
	return exact_of(b, env, cache, f) && exact_of(a, env, cache, &g) && ir_affine_add(f, &g, -1) &&
		!__builtin_sub_overflow(f->k, gap, &f->k);
}

int ir_affine_facts(const Expr *cond, bool holds, const Range *env, IntervalCache *cache, Affine f[2])
{
	if (cond->nargs != 2 || !dtype_is_int(cond->arg[0]->type) || cond->type.lanes != 1)
		return 0;
	const Expr *a = cond->arg[0], *b = cond->arg[1];
	if (cond->op == IR_LT || cond->op == IR_LE) {
		int gap = (cond->op == IR_LT) == holds;
		return holds ? difference(a, b, gap, env, cache, f) : difference(b, a, gap, env, cache, f);
	}
	if (cond->op == (holds ? IR_EQ : IR_NE)) {
		bool ok = difference(a, b, 0, env, cache, &f[0]) && difference(b, a, 0, env, cache, &f[1]);
		return ok ? 2 : 0;
	}
	return 0;
}

/* ---- Conditions become facts. ---- */

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
	return t->b == NULL && t->a->op == IR_VAR && t->a->type.lanes == 1 && t->a != &ir_affine_lane;
}

static wide floor_wide(wide a, wide b)
{
	wide q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

static const Range *narrow(Facts *f, const Expr *var, wide lo, wide hi, const Range *env)
{
	Wide now = atom_bounds(var, env, NULL);
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
		drop_term(&rest, i);
		wide most = ir_affine_bounds(&rest, env, NULL).hi; /* c * var >= -most */
		if (most >= FAR)
			continue;
		if (c > 0)
			env = narrow(f, g->t[i].a, -floor_wide(most, c), FAR, env);
		else
			env = narrow(f, g->t[i].a, -FAR, floor_wide(most, -(wide)c), env);
	}
	return env;
}

/* x % m == r, x = var + k without wrapping: var is r - k modulo m. */
static const Range *narrow_modulo(Facts *f, const Expr *a, const Expr *b, const Range *env)
{
	int64_t m, r;
	Affine x;
	if (a->op != IR_MOD || !ir_is_int(a->arg[1], &m) || m <= 1 || !ir_is_int(b, &r) ||
		!exact_of(a->arg[0], env, NULL, &x) || x.n != 1 || x.t[0].coef != 1 ||
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
	if (!difference(a, b, 0, env, NULL, &g) || g.n != 1 || !is_scalar_var(&g.t[0]) ||
		(g.t[0].coef != 1 && g.t[0].coef != -1))
		return env;
	wide c = g.t[0].coef == 1 ? -(wide)g.k : g.k;
	Wide now = atom_bounds(g.t[0].a, env, NULL);
	return narrow(f, g.t[0].a, now.lo == c ? c + 1 : now.lo, now.hi == c ? c - 1 : now.hi, env);
}

/* A condition deeper than this is known only as a whole. */
enum { DEEP_CONDITION = 16 };

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
	return cond->type.lanes == 1 && cond->depth <= DEEPEST ? facts_of(f, cond, holds, env) : env;
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

/* ---- Proofs. ---- */

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
	drop_term(d, i);
	if (b == NULL)
		return ir_affine_add(d, f, t.coef);
	if (!is_linear(f))
		return false;
	int64_t v;
	for (int j = 0; j < f->n; j++)
		if (__builtin_mul_overflow(f->t[j].coef, t.coef, &v) ||
			!ir_affine_add_term(d, v, f->t[j].a, b))
			return false;
	return !__builtin_mul_overflow(f->k, t.coef, &v) && (v == 0 || ir_affine_add_term(d, v, b, NULL));
}

/* The sign of what a factor of the term is multiplied with; 0: not known. */
static int sign_beside(const Proof *p, const Term *t, const Expr *x)
{
	int sign = t->coef > 0 ? 1 : -1;
	const Expr *b = t->a == x ? t->b : t->a;
	if (b == NULL)
		return sign;
	Wide w = b == x ? (Wide){ -1, 1 } : atom_bounds(b, p->env, p->cache);
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
	bool have[2] = { lo != NULL && exact_of(lo, p->env, p->cache, &end[0]),
		hi != NULL && exact_of(hi, p->env, p->cache, &end[1]) };
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
		if (x == NULL || (newest != r && newest->sym_lo == r->sym_lo && newest->sym_hi == r->sym_hi))
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
			while (at < d->n && !same_term(&d->t[at], f->t[j].a, f->t[j].b))
				at++;
			if (at == d->n || (d->t[at].coef > 0) != (f->t[j].coef > 0) ||
				d->t[at].coef % f->t[j].coef != 0)
				continue;
			Affine less = *d;
			if (ir_affine_add(&less, f, -(d->t[at].coef / f->t[j].coef)) && prove(p, &less))
				return true;
			break;
		}
	}
	return false;
}

static bool with_instead(Proof *p, const Affine *d, int i, const Expr *by)
{
	Affine less = *d, f;
	return exact_of(by, p->env, p->cache, &f) && replace(&less, i, d->t[i].a, &f) && prove(p, &less);
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
	if (atom_bounds(n, p->env, p->cache).lo < 1 || !exact_of(t.a->arg[0], p->env, p->cache, &x))
		return false;
	drop_term(&rest, i);
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
	if ((t.coef != 1 && t.coef != -1) || !is_linear(&rest))
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
				return with_instead(p, d, i, e->arg[0]) || with_instead(p, d, i, e->arg[1]);
			return with_instead(p, d, i, e->arg[0]) && with_instead(p, d, i, e->arg[1]);
		case IR_SELECT:
			return with_instead(p, d, i, e->arg[1]) && with_instead(p, d, i, e->arg[2]);
		case IR_DIV:
			return by_quotient(p, d, i);
		case IR_MOD: {
			Affine less = *d, n;
			if (atom_bounds(e->arg[1], p->env, p->cache).lo < 1 ||
				!exact_of(e->arg[1], p->env, p->cache, &n))
				continue;
			drop_term(&less, i);
			if (!up && (!ir_affine_add(&less, &n, d->t[i].coef) ||
					__builtin_sub_overflow(less.k, d->t[i].coef, &less.k)))
				continue;
			if (prove(p, &less))
				return true;
			continue;
		}
		default:
			continue;
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
		Interval v = t->b == NULL ? ir_interval_cached(t->a, env, cache) :
			(Interval){ .mod = 1 };
		int64_t step;
		if (__builtin_mul_overflow(t->coef, v.mod, &step) || step == INT64_MIN)
			return false;
		g = ir_gcd(g, step);
		wide part = (wide)t->coef * v.rem;
		if (g == 1 || part > FAR || part < -FAR)
			return false;
		rem += part;
	}
	return g != 0 ? rem % g != 0 : rem != 0;
}

bool ir_is_ordered(const Expr *a, const Expr *b, int gap, const Range *env, IntervalCache *cache)
{
	Affine d;
	Wide x = atom_bounds(a, env, cache), y = atom_bounds(b, env, cache);
	if (x.hi + gap <= y.lo)
		return true;
	if (x.lo + gap > y.hi)
		return false;
	if (a->type.lanes == 1)
		return difference(a, b, gap, env, cache, &d) && proof_of(&d, env, cache);
	Range lanes = { .outer = env, .name = lane_name, .hi = a->type.lanes - 1, .mod = 1 };
	return difference(a, b, gap, &lanes, NULL, &d) && proof_of(&d, &lanes, NULL);
}

static bool is_apart(const Expr *a, const Expr *b, const Range *env, IntervalCache *cache)
{
	Affine d;
	if (ir_is_ordered(a, b, 1, env, cache) || ir_is_ordered(b, a, 1, env, cache))
		return true;
	return a->type.lanes == 1 && difference(a, b, 0, env, cache, &d) &&
		is_never_zero(&d, env, cache);
}

static bool is_known(const Expr *cond, bool holds, const Range *env)
{
	for (; env != NULL; env = env->outer)
		if (env->cond == cond && env->holds == holds)
			return true;
	return false;
}

static bool decide(const Expr *c, bool value, const Range *env, IntervalCache *cache);

static bool decide_compare(const Expr *c, bool value, const Range *env, IntervalCache *cache)
{
	const Expr *a = c->arg[0], *b = c->arg[1];
	if (!dtype_is_int(a->type))
		return !value && c->op == IR_LT && a == b;
	if (c->op == IR_LT || c->op == IR_LE) {
		int gap = (c->op == IR_LT) == value;
		return value ? ir_is_ordered(a, b, gap, env, cache) : ir_is_ordered(b, a, gap, env, cache);
	}
	if (value == (c->op == IR_NE))
		return is_apart(a, b, env, cache);
	return a == b || (ir_is_ordered(a, b, 0, env, cache) && ir_is_ordered(b, a, 0, env, cache));
}

/* c has this value, for all values of its variables and in all lanes. */
static bool decide(const Expr *c, bool value, const Range *env, IntervalCache *cache)
{
	Interval v = ir_interval_cached(c, env, cache);
	if (v.mod == 0 || c->depth > DEEPEST)
		return v.mod == 0 && v.rem == value;
	if (c->type.lanes == 1 && is_known(c, value, env))
		return true;
	switch (c->op) {
	case IR_NOT:
		return decide(c->arg[0], !value, env, cache);
	case IR_AND:
	case IR_OR: {
		bool first = decide(c->arg[0], value, env, cache);
		if (first == (value == (c->op == IR_OR)))
			return first;
		return decide(c->arg[1], value, env, cache);
	}
	case IR_SELECT:
		return decide(c->arg[1], value, env, cache) && decide(c->arg[2], value, env, cache);
	case IR_SPLAT:
		return decide(c->arg[0], value, env, cache);
	case IR_EQ:
	case IR_NE:
	case IR_LT:
	case IR_LE:
		return decide_compare(c, value, env, cache);
	default:
		return false;
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
