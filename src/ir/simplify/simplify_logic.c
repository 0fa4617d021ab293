/*
 * Rules of choices (min, max, select), comparisons, logic and bits, on integers and bools.
 */
#include "ir/build.h"
#include "ir/simplify/simplify_rules.h"

/* ---- Choices. ---- */

bool simplify_chain(const Expr *e, Node op, const Expr *x[SIMPLIFY_CHAIN], int *n)
{
	if (e->op == op)
		return simplify_chain(e->arg[0], op, x, n) && simplify_chain(e->arg[1], op, x, n);
	for (int i = 0; i < *n; i++)
		if (x[i] == e)
			return true;
	if (*n == SIMPLIFY_CHAIN)
		return false;
	x[(*n)++] = e;
	return true;
}

void simplify_insert(const Expr **x, int n, const Expr *e)
{
	for (; n > 0 && simplify_order(e, x[n - 1]) < 0; n--)
		x[n] = x[n - 1];
	x[n] = e;
}

const Expr *simplify_chain_build(Ir *ir, Node op, const Expr **x, int n)
{
	for (int i = 1; i < n; i++)
		simplify_insert(x, i, x[i]);
	const Expr *e = x[0];
	for (int i = 1; i < n; i++)
		e = ir_binary(ir, op, e, x[i]);
	return e;
}

const Expr *rule_extreme(Simp *s, const Expr *e)
{
	const Expr *x[SIMPLIFY_CHAIN];
	int n = 0;
	if (!dtype_is_int(e->type) || !simplify_chain(e, e->op, x, &n))
		return NULL;
	bool min = e->op == IR_MIN;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i != j && ir_is_ordered(x[min ? i : j], x[min ? j : i], 0, s->env, s->cache)) {
				for (int k = j; k + 1 < n; k++)
					x[k] = x[k + 1];
				n--;
				i -= j < i;
				j--;
			}
	return simplify_chain_build(s->ir, e->op, x, n);
}

/* How much there is to add up. */
static int weight(const Affine *f)
{
	return f->n + (f->k != 0);
}

/* The sum without its first min or max of coefficient 1 or -1, which is *m. */
static bool take_extreme(const Expr *e, Affine *rest, Term *m)
{
	if (!dtype_is_int(e->type) || e->type.lanes != 1 || !ir_affine_of(e, rest))
		return false;
	for (int i = 0; i < rest->n; i++) {
		*m = rest->t[i];
		if ((m->a->op != IR_MIN && m->a->op != IR_MAX) || (m->coef != 1 && m->coef != -1))
			continue;
		rest->t[i] = rest->t[--rest->n];
		return true;
	}
	return false;
}

const Expr *rule_sum_extreme(Simp *s, const Expr *e)
{
	const Expr *x[SIMPLIFY_CHAIN];
	Affine rest, arg;
	Term m;
	int n = 0;
	if (!take_extreme(e, &rest, &m) || !simplify_is_exact(s, &rest) ||
		!simplify_chain(m.a, m.a->op, x, &n))
		return NULL;
	int before = weight(&rest), after = 0;
	for (int i = 0; i < n; i++) {
		if (!ir_affine_of(x[i], &arg) || !simplify_is_exact(s, &arg))
			return NULL;
		before += weight(&arg);
		Affine sum = rest;
		if (!ir_affine_add(&sum, &arg, m.coef) || !simplify_is_exact(s, &sum))
			return NULL;
		after += weight(&sum);
		x[i] = simplify_build(s->ir, &sum, e->type);
	}
	if (after > before || (after == before && rest.n > 0))
		return NULL;
	return simplify_chain_build(
		s->ir, (m.a->op == IR_MIN) == (m.coef == 1) ? IR_MIN : IR_MAX, x, n);
}

const Expr *rule_select_same(Simp *s, const Expr *e)
{
	if (e->arg[1] == e->arg[2])
		return e->arg[1];
	if (e->arg[0]->op == IR_NOT)
		return ir_select(s->ir, e->arg[0]->arg[0], e->arg[2], e->arg[1]);
	return NULL;
}

const Expr *rule_select_bool(Simp *s, const Expr *e)
{
	int64_t a, b;
	if (e->type.kind != DT_BOOL || e->arg[0]->type.lanes != e->type.lanes ||
		!simplify_is_int(e->arg[1], &a) || !simplify_is_int(e->arg[2], &b) || a == b)
		return NULL;
	return a ? e->arg[0] : ir_unary(s->ir, IR_NOT, e->arg[0]);
}

const Expr *rule_select_nested(Simp *s, const Expr *e)
{
	const Expr *c = e->arg[0], *a = e->arg[1], *b = e->arg[2];
	if (a->op == IR_SELECT && a->arg[0] == c)
		return ir_select(s->ir, c, a->arg[1], b);
	if (b->op == IR_SELECT && b->arg[0] == c)
		return ir_select(s->ir, c, a, b->arg[2]);
	return NULL;
}

const Expr *rule_select_extreme(Simp *s, const Expr *e)
{
	const Expr *c = e->arg[0], *a = e->arg[1], *b = e->arg[2];
	if ((c->op != IR_LT && c->op != IR_LE) || !dtype_is_int(e->type))
		return NULL;
	if (c->arg[0] == a && c->arg[1] == b)
		return ir_min(s->ir, a, b);
	return c->arg[0] == b && c->arg[1] == a ? ir_max(s->ir, a, b) : NULL;
}

/* ---- Comparisons and logic. ---- */

const Expr *rule_decide(Simp *s, const Expr *e)
{
	if (ir_always_cached(e, s->env, s->cache))
		return ir_const_int(s->ir, e->type, 1);
	return ir_never_cached(e, s->env, s->cache) ? ir_const_int(s->ir, e->type, 0) : NULL;
}

/* d = positive - negative, both with positive coefficients and no constant. */
static void two_sides(const Affine *d, Affine *positive, Affine *negative)
{
	*positive = *negative = (Affine){ .type = d->type };
	for (int i = 0; i < d->n; i++) {
		Affine *to = d->t[i].coef > 0 ? positive : negative;
		to->t[to->n] = d->t[i];
		if (d->t[i].coef < 0)
			to->t[to->n].coef = -d->t[i].coef;
		to->n++;
	}
}

static int64_t divisor_of(const Affine *d)
{
	int64_t g = 0;
	for (int i = 0; i < d->n; i++)
		g = ir_gcd(g, d->t[i].coef);
	return g;
}

/* The constant k of left + k < right goes where it is positive, alone if one side has no terms. */
static void place_constant(Affine *left, Affine *right, int64_t k)
{
	if (right->n == 0 || (left->n > 0 && k < 0))
		right->k = -k;
	else
		left->k = k;
}

static const Expr *canonical_less(Simp *s, const Expr *e, Affine *d)
{
	Affine left, right;
	int64_t g = divisor_of(d), k;
	if (__builtin_sub_overflow(d->k, e->op == IR_LT, &k) || k == INT64_MAX || k <= -INT64_MAX)
		return NULL;
	for (int i = 0; i < d->n; i++) {
		d->t[i].coef /= g;
		if (d->t[i].coef == INT64_MIN)
			return NULL;
	}
	two_sides(d, &right, &left); /* right - left + k >= 0 is left - (k + 1) < right */
	place_constant(&left, &right, -(ir_floor_div(k, g) + 1));
	DType t = e->arg[0]->type;
	if (!simplify_is_exact(s, &left) || !simplify_is_exact(s, &right))
		return NULL;
	return ir_lt(s->ir, simplify_build(s->ir, &left, t), simplify_build(s->ir, &right, t));
}

/* exact: the sides cannot wrap. If they can, terms may change sides, but nothing may be divided. */
static const Expr *canonical_equal(Simp *s, const Expr *e, Affine *d, bool exact)
{
	Affine left, right;
	int64_t g = exact ? divisor_of(d) : 1;
	if (d->k % g != 0)
		return ir_const_int(s->ir, e->type, e->op == IR_NE);
	/* The first term of the greatest coefficient stands on the left. */
	int first = 0;
	for (int i = 0; i < d->n; i++) {
		if (d->t[i].coef == INT64_MIN || d->k == INT64_MIN)
			return NULL;
		int64_t x = d->t[i].coef, y = d->t[first].coef;
		x = x < 0 ? -x : x;
		y = y < 0 ? -y : y;
		if (x > y || (x == y && simplify_order(d->t[i].a, d->t[first].a) < 0))
			first = i;
	}
	if (d->t[first].coef < 0)
		g = -g;
	for (int i = 0; i < d->n; i++)
		d->t[i].coef /= g;
	two_sides(d, &left, &right);
	place_constant(&left, &right, d->k / g);
	DType t = e->arg[0]->type;
	if (exact && (!simplify_is_exact(s, &left) || !simplify_is_exact(s, &right)))
		return NULL;
	return ir_binary(
		s->ir, e->op, simplify_build(s->ir, &left, t), simplify_build(s->ir, &right, t));
}

const Expr *rule_compare(Simp *s, const Expr *e)
{
	Affine a, b;
	if (e->type.lanes != 1 || !ir_affine_of(e->arg[0], &a) || !ir_affine_of(e->arg[1], &b))
		return NULL;
	bool exact = simplify_is_exact(s, &a) && simplify_is_exact(s, &b), order = e->op == IR_LT || e->op == IR_LE;
	if ((!exact && (order || a.type.bits < 64)) || !ir_affine_add(&b, &a, -1) || b.n == 0)
		return NULL;
	return order ? canonical_less(s, e, &b) : canonical_equal(s, e, &b, exact);
}

static bool is_quotient(const Expr *e, int64_t *c)
{
	return e->op == IR_DIV && ir_is_int(e->arg[1], c) && *c > 0;
}

const Expr *rule_compare_div(Simp *s, const Expr *e)
{
	const Expr *a = e->arg[0], *b = e->arg[1];
	int64_t c, k, v;
	if (is_quotient(a, &c) && ir_is_int(b, &k) && !__builtin_mul_overflow(k, c, &v) &&
		ir_fits(v, a->type))
		return ir_lt(s->ir, a->arg[0], ir_const_int(s->ir, a->type, v));
	if (is_quotient(b, &c) && ir_is_int(a, &k) && !__builtin_add_overflow(k, 1, &v) &&
		!__builtin_mul_overflow(v, c, &v) && !__builtin_sub_overflow(v, 1, &v) &&
		ir_fits(v, a->type))
		return ir_lt(s->ir, ir_const_int(s->ir, a->type, v), b->arg[0]);
	return NULL;
}

const Expr *rule_not_compare(Simp *s, const Expr *e)
{
	const Expr *x = e->arg[0];
	if (x->op == IR_NOT)
		return x->arg[0];
	if (x->op == IR_EQ || x->op == IR_NE)
		return ir_binary(s->ir, x->op == IR_EQ ? IR_NE : IR_EQ, x->arg[0], x->arg[1]);
	if ((x->op != IR_LT && x->op != IR_LE) || dtype_is_float(x->arg[0]->type))
		return NULL;
	return ir_binary(s->ir, x->op == IR_LT ? IR_LE : IR_LT, x->arg[1], x->arg[0]);
}

/* A bit for each name in e, maybe shared. */
static uint64_t names_in(const Expr *e)
{
	uint64_t set = 0;
	if (e->depth > 8)
		return UINT64_MAX;
	if (e->op == IR_VAR || e->op == IR_LOAD)
		set = (uint64_t)1 << ((uintptr_t)e->name >> 4) % 64;
	for (int i = 0; i < e->nargs; i++)
		set |= names_in(e->arg[i]);
	return set;
}

/* Those of x but x[i] that have a name in common with it, or with one that has; f holds the chain. */
static const Range *facts_of_others(
	Simp *s, Facts *f, const Expr *const *x, const uint64_t *names, int n, int i, bool hold)
{
	const Range *env = s->env;
	uint64_t common = names[i];
	bool used[SIMPLIFY_CHAIN] = { false }, more = true;
	used[i] = true;
	while (more) {
		more = false;
		for (int j = 0; j < n; j++) {
			if (used[j] || (names[j] & common) == 0)
				continue;
			used[j] = more = true;
			common |= names[j];
			env = ir_facts_if(&f[j], x[j], hold, env);
		}
	}
	return env;
}

const Expr *rule_conjunction(Simp *s, const Expr *e)
{
	const Expr *x[SIMPLIFY_CHAIN];
	Facts f[SIMPLIFY_CHAIN];
	int n = 0;
	bool hold = e->op == IR_AND;
	if (e->type.kind != DT_BOOL || e->type.lanes != 1 || !simplify_chain(e, e->op, x, &n))
		return NULL;
	uint64_t names[SIMPLIFY_CHAIN];
	for (int i = 0; i < n; i++)
		names[i] = names_in(x[i]);
	for (int i = 0; i < n; i++) {
		const Range *env = facts_of_others(s, f, x, names, n, i, hold);
		if (env == s->env)
			continue;
		bool is = ir_always(x[i], env);
		if (!is && !ir_never(x[i], env))
			continue;
		if (is != hold)
			return ir_bool(s->ir, is);
		for (int j = i--; j + 1 < n; j++) {
			x[j] = x[j + 1];
			names[j] = names[j + 1];
		}
		n--;
	}
	return simplify_chain_build(s->ir, e->op, x, n);
}

static bool is_ones(const Expr *e)
{
	int64_t v;
	return simplify_is_int(e, &v) && v == dtype_wrap(dtype_scalar(e->type), -1);
}

static bool is_zero(const Expr *e)
{
	int64_t v;
	return simplify_is_int(e, &v) && v == 0;
}

const Expr *rule_bitwise(Simp *s, const Expr *e)
{
	const Expr *a = e->arg[0], *b = e->arg[1];
	switch (e->op) {
	case IR_AND: {
		if (is_ones(a) || is_ones(b))
			return is_ones(a) ? b : a;
		Interval v = ir_interval_cached(a, s->env, s->cache);
		int64_t c;
		bool mask = simplify_is_int(b, &c) && c > 0 && (c & (c + (c < INT64_MAX))) == 0;
		return mask && v.lo >= 0 && v.hi <= c ? a : NULL;
	}
	case IR_OR: return is_ones(a) ? a : is_ones(b) ? b : NULL;
	case IR_XOR:
		if (is_zero(a) || is_zero(b))
			return is_zero(a) ? b : a;
		if (e->type.kind == DT_BOOL && (is_ones(a) || is_ones(b)))
			return ir_unary(s->ir, IR_NOT, is_ones(a) ? b : a);
		return a == b ? ir_const_int(s->ir, e->type, 0) : NULL;
	default: return is_zero(b) ? a : NULL;
	}
}

const Expr *rule_truncating(Simp *s, const Expr *e)
{
	if (!dtype_is_int(e->type) || ir_interval_cached(e->arg[0], s->env, s->cache).lo < 0 ||
		ir_interval_cached(e->arg[1], s->env, s->cache).lo < 1)
		return NULL;
	return ir_binary(s->ir, e->op == IR_TDIV ? IR_DIV : IR_MOD, e->arg[0], e->arg[1]);
}

const Expr *rule_absolute(Simp *s, const Expr *e)
{
	if (!dtype_is_int(e->type))
		return NULL;
	Interval v = ir_interval_cached(e->arg[0], s->env, s->cache);
	if (v.lo >= 0)
		return e->arg[0];
	return v.hi <= 0 ? ir_unary(s->ir, IR_NEG, e->arg[0]) : NULL;
}
