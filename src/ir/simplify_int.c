/*
 * Rules of integers: sums, products, quotients and remainders, through the linear form of
 * affine.h. A sum has one written form, so that equal sums are equal pointers. Where a law needs a
 * sum that does not wrap it asks for an exact form.
 */
#include "ir/build.h"
#include "ir/simplify_rules.h"

#include <string.h>

/* Products, variables, the rest, constants. */
static int rank(const Expr *e)
{
	return e->op == IR_MUL ? 0 : e->op == IR_VAR ? 1 : e->op == IR_INT ? 3 : 2;
}

int simplify_order(const Expr *a, const Expr *b)
{
	while (a != b) {
		if (rank(a) != rank(b))
			return rank(a) - rank(b);
		if (a->op != b->op)
			return a->op < b->op ? -1 : 1;
		int d = memcmp(&a->type, &b->type, sizeof a->type);
		if (d == 0 && a->nargs != b->nargs)
			d = a->nargs < b->nargs ? -1 : 1;
		if (d == 0 && (a->op == IR_VAR || a->op == IR_LOAD))
			d = strcmp(a->name, b->name);
		else if (d == 0 && a->i != b->i)
			d = a->i < b->i ? -1 : 1;
		if (d != 0)
			return d;
		int i = 0;
		while (a->arg[i] == b->arg[i])
			i++;
		a = a->arg[i];
		b = b->arg[i];
	}
	return 0;
}

bool simplify_is_int(const Expr *e, int64_t *v)
{
	return ir_is_int(e->op == IR_SPLAT ? e->arg[0] : e, v);
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static int term_order(const Term *a, const Term *b)
{
	uint64_t x = magnitude(a->coef), y = magnitude(b->coef);
	if (x != y)
		return x > y ? -1 : 1;
	return simplify_order(a->a, b->a);
}

static void sort_terms(Affine *f)
{
	for (int i = 1; i < f->n; i++) {
		Term t = f->t[i];
		int j = i;
		for (; j > 0 && term_order(&t, &f->t[j - 1]) < 0; j--)
			f->t[j] = f->t[j - 1];
		f->t[j] = t;
	}
}

/* -v has the opposite sign in the type: not so for the least value of it. */
static bool is_negative(int64_t v, DType t)
{
	return v < 0 && v != INT64_MIN >> (64 - t.bits);
}

static const Expr *scaled(Ir *ir, const Expr *x, int64_t coef)
{
	return ir_mul(ir, x, ir_const_int(ir, x->type, coef));
}

/* The sum of sorted terms of type t and of `rest`, which is NULL for 0. */
static const Expr *build_sum(Ir *ir, const Affine *f, DType t, const Expr *rest)
{
	const Expr *sum = NULL;
	for (int i = 0; i < f->n; i++)
		if (!is_negative(f->t[i].coef, t)) {
			const Expr *x = scaled(ir, f->t[i].a, f->t[i].coef);
			sum = sum == NULL ? x : ir_add(ir, sum, x);
		}
	if (sum == NULL) {
		sum = rest;
		rest = NULL;
	}
	for (int i = 0; i < f->n; i++)
		if (is_negative(f->t[i].coef, t)) {
			const Expr *x = f->t[i].a;
			if (sum == NULL)
				sum = f->t[i].coef == -1 ? ir_unary(ir, IR_NEG, x) : scaled(ir, x, f->t[i].coef);
			else
				sum = ir_sub(ir, sum, scaled(ir, x, -f->t[i].coef));
		}
	int64_t k;
	if (rest == NULL)
		return sum != NULL ? sum : ir_const_int(ir, t, 0);
	if (simplify_is_int(rest, &k)) {
		k = (int64_t)((uint64_t)k << (64 - t.bits)) >> (64 - t.bits);
		if (is_negative(k, t))
			return ir_sub(ir, sum, ir_const_int(ir, t, -k));
	}
	return ir_add(ir, sum, rest);
}

static const Expr *build_scalar(Ir *ir, Affine *f)
{
	sort_terms(f);
	const Expr *k = f->k == 0 ? NULL : ir_const_int(ir, f->type, f->k);
	return build_sum(ir, f, f->type, k);
}

/* Vector terms, and one ramp or splat of what the scalar ones and the lane's multiples add up to. */
static const Expr *build_vector(Ir *ir, const Affine *f, DType t)
{
	Affine base = { .type = f->type, .k = f->k }, stride = { .type = f->type };
	Affine whole = { .type = f->type };
	for (int i = 0; i < f->n; i++) {
		Term x = f->t[i];
		if (x.a == &ir_affine_lane)
			stride.k = x.coef;
		else if (x.b == &ir_affine_lane)
			stride.t[stride.n++] = (Term){ x.coef, x.a, NULL };
		else if (x.a->type.lanes == 1)
			base.t[base.n++] = x;
		else
			whole.t[whole.n++] = x;
	}
	const Expr *rest = NULL;
	if (stride.n > 0 || stride.k != 0)
		rest = ir_ramp(ir, build_scalar(ir, &base), build_scalar(ir, &stride), t.lanes);
	else if (base.n > 0 || base.k != 0)
		rest = ir_splat(ir, build_scalar(ir, &base), t.lanes);
	sort_terms(&whole);
	return build_sum(ir, &whole, t, rest);
}

const Expr *simplify_build(Ir *ir, const Affine *f, DType t)
{
	Affine own = *f;
	return t.lanes > 1 ? build_vector(ir, f, t) : build_scalar(ir, &own);
}

static bool is_exact(Simp *s, const Affine *f)
{
	return ir_affine_exact(f, s->env, s->cache);
}

static bool is_product_of(const Expr *e, const Expr *x, const Expr *y)
{
	return e->op == IR_MUL && ((e->arg[0] == x && e->arg[1] == y) || (e->arg[0] == y && e->arg[1] == x));
}

/* Is q the quotient x/m as the rules leave it? (y/k)/m is y/(k*m). */
static bool is_quotient_of(const Expr *q, const Expr *x, const Expr *m)
{
	int64_t k, l, n;
	if (q->op != IR_DIV)
		return false;
	if (q->arg[0] == x && q->arg[1] == m)
		return true;
	return x->op == IR_DIV && q->arg[0] == x->arg[0] && ir_is_int(x->arg[1], &k) &&
		ir_is_int(m, &l) && ir_is_int(q->arg[1], &n) && k > 0 && l > 0 && n / k == l && n % k == 0;
}

/* Is term t c * (x/m) * m for this x and m? */
static bool is_whole_part(const Term *t, const Expr *x, const Expr *m, int64_t c)
{
	int64_t k, scale;
	const Expr *q = t->a->op == IR_MUL ? t->a->arg[t->a->arg[1]->op == IR_DIV] : t->a;
	if (t->b != NULL || !is_quotient_of(q, x, m))
		return false;
	if (q == t->a)
		return ir_is_int(m, &k) && !__builtin_mul_overflow(c, k, &scale) && scale == t->coef;
	return is_product_of(t->a, q, m) && t->coef == c;
}

static void remove_term(Affine *f, int i)
{
	f->t[i] = f->t[--f->n];
}

/* c*(x/m)*m + c*(x%m) = c*x, in any ring. */
static bool join_quotients(Affine *f)
{
	for (int i = 0; i < f->n; i++) {
		const Expr *r = f->t[i].a;
		if (r->op != IR_MOD || f->t[i].b != NULL)
			continue;
		for (int j = 0; j < f->n; j++) {
			int64_t c = f->t[i].coef;
			if (!is_whole_part(&f->t[j], r->arg[0], r->arg[1], c))
				continue;
			Affine x, joined = *f;
			remove_term(&joined, i > j ? i : j);
			remove_term(&joined, i > j ? j : i);
			if (!ir_affine_of(r->arg[0], &x) || !ir_affine_add(&joined, &x, c))
				return false;
			*f = joined;
			return true;
		}
	}
	return false;
}

/* c*m*(x/m) = c*(x - r) where x = r modulo m. */
static bool join_aligned(Simp *s, Affine *f)
{
	int64_t m;
	for (int i = 0; i < f->n; i++) {
		const Expr *q = f->t[i].a;
		int64_t coef = f->t[i].coef;
		if (f->t[i].b != NULL || q->op != IR_DIV || q->type.lanes != 1 ||
			!ir_is_int(q->arg[1], &m) || m < 2 || coef % m != 0)
			continue;
		Interval v = ir_interval_cached(q->arg[0], s->env, s->cache);
		Affine x, joined = *f;
		if (v.mod == 0 || v.mod % m != 0 || !ir_affine_of(q->arg[0], &x) ||
			__builtin_sub_overflow(x.k, v.rem % m, &x.k))
			continue;
		remove_term(&joined, i);
		if (!ir_affine_add(&joined, &x, coef / m))
			continue;
		*f = joined;
		return true;
	}
	return false;
}

/* Sums with overflowing coefficients are not joined; the ring would allow it, nobody needs it. */
const Expr *rule_linear(Simp *s, const Expr *e)
{
	Affine f;
	if (!ir_affine_of(e, &f))
		return NULL;
	while (join_quotients(&f) || join_aligned(s, &f))
		;
	return simplify_build(s->ir, &f, e->type);
}

enum { FACTORS = 12 };

static bool factors_of(const Expr *e, const Expr *x[FACTORS], int *n, uint64_t *coef)
{
	int64_t c;
	if (simplify_is_int(e, &c)) {
		*coef *= (uint64_t)c;
		return true;
	}
	if (e->op == IR_NEG) {
		*coef = -*coef;
		return factors_of(e->arg[0], x, n, coef);
	}
	if (e->op == IR_MUL)
		return factors_of(e->arg[0], x, n, coef) && factors_of(e->arg[1], x, n, coef);
	if (*n == FACTORS)
		return false;
	int i = (*n)++;
	for (; i > 0 && simplify_order(e, x[i - 1]) < 0; i--)
		x[i] = x[i - 1];
	x[i] = e;
	return true;
}

const Expr *rule_product(Simp *s, const Expr *e)
{
	const Expr *x[FACTORS];
	int n = 0;
	uint64_t coef = 1;
	if (!dtype_is_int(e->type) || !factors_of(e, x, &n, &coef) || n < 2)
		return NULL;
	const Expr *p = x[0];
	for (int i = 1; i < n; i++)
		p = ir_mul(s->ir, p, x[i]);
	return scaled(s->ir, p, (int64_t)coef);
}

/* ---- Quotients and remainders by a constant. ---- */

/* e is x / c or x % c with a constant c > 1 of integers that are no vectors; n the form of x. */
static bool by_constant(const Expr *e, int64_t *c, Affine *n)
{
	return e->type.lanes == 1 && ir_is_int(e->arg[1], c) && *c > 1 && ir_affine_of(e->arg[0], n);
}

static const Expr *number_like(Simp *s, const Expr *e, int64_t c)
{
	return ir_const_int(s->ir, e->type, c);
}

/* q and r with f = c*q + r term by term; what is left of a coefficient keeps its sign. */
static bool split_by(const Affine *f, int64_t c, Affine *q, Affine *r)
{
	*q = *r = (Affine){ .type = f->type };
	for (int i = 0; i < f->n; i++) {
		int64_t whole = f->t[i].coef / c, left = f->t[i].coef % c;
		if ((whole != 0 && !ir_affine_add_term(q, whole, f->t[i].a, NULL)) ||
			(left != 0 && !ir_affine_add_term(r, left, f->t[i].a, NULL)))
			return false;
	}
	q->k = ir_floor_div(f->k, c);
	r->k = ir_floor_mod(f->k, c);
	return true;
}

const Expr *rule_div_split(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n, q, r;
	if (dtype_is_int(e->type) && ir_is_const(e->arg[1], 1))
		return e->arg[0];
	if (!by_constant(e, &c, &n) || !is_exact(s, &n) || !split_by(&n, c, &q, &r) ||
		(q.n == 0 && q.k == 0) || !is_exact(s, &r))
		return NULL;
	const Expr *rest = ir_div(s->ir, simplify_build(s->ir, &r, e->type), e->arg[1]);
	if (!ir_is_const(rest, 0) && !ir_affine_add_term(&q, 1, rest, NULL))
		return NULL;
	return simplify_build(s->ir, &q, e->type);
}

/*
 * f = g*x + r with 0 <= r < g, where g > 1 divides c: the greatest such g of those that a
 * coefficient suggests. 0 if there is none.
 */
static int64_t common_factor(Simp *s, const Affine *f, int64_t c, Affine *x, Affine *r)
{
	for (int64_t below = c + (c < INT64_MAX);;) {
		int64_t g = 1;
		for (int i = 0; i < f->n; i++) {
			int64_t h = ir_gcd(f->t[i].coef, c);
			g = h > g && h < below ? h : g;
		}
		if (g == 1)
			return 0;
		*x = *r = (Affine){ .type = f->type };
		for (int i = 0; i < f->n; i++) {
			bool divides = f->t[i].coef % g == 0;
			Affine *to = divides ? x : r;
			to->t[to->n] = f->t[i];
			to->t[to->n++].coef /= divides ? g : 1;
		}
		x->k = ir_floor_div(f->k, g);
		r->k = ir_floor_mod(f->k, g);
		Wide w = ir_affine_bounds(r, s->env, s->cache);
		if (w.lo >= 0 && w.hi < g)
			return g;
		below = g;
	}
}

const Expr *rule_div_common(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n, x, r;
	if (!by_constant(e, &c, &n) || !is_exact(s, &n))
		return NULL;
	int64_t g = common_factor(s, &n, c, &x, &r);
	if (g == 0)
		return NULL;
	return ir_div(s->ir, simplify_build(s->ir, &x, e->type), number_like(s, e, c / g));
}

const Expr *rule_div_aligned(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n;
	if (!by_constant(e, &c, &n) || !is_exact(s, &n) || n.k <= 0 || n.k >= c)
		return NULL;
	for (int i = 0; i < n.n; i++) {
		Interval v = ir_interval_cached(n.t[i].a, s->env, s->cache);
		wide mod = (wide)v.mod * n.t[i].coef, rem = (wide)v.rem * n.t[i].coef;
		if (mod % c != 0 || rem % c != 0)
			return NULL;
	}
	n.k = 0;
	return ir_div(s->ir, simplify_build(s->ir, &n, e->type), e->arg[1]);
}

/* The divisor's product must be a value of the type. */
static bool fits(int64_t v, DType t)
{
	wide lo, hi;
	ir_type_range(t, &lo, &hi);
	return v >= lo && v <= hi;
}

const Expr *rule_div_div(Simp *s, const Expr *e)
{
	int64_t c, d, cd;
	Affine n, x;
	if (!by_constant(e, &d, &n) || n.n != 1 || n.t[0].coef != 1 || n.t[0].a->op != IR_DIV)
		return NULL;
	const Expr *inner = n.t[0].a;
	if (!ir_is_int(inner->arg[1], &c) || c < 1 || __builtin_mul_overflow(c, d, &cd) ||
		!fits(cd, e->type) || !is_exact(s, &n) || !ir_affine_of(inner->arg[0], &x))
		return NULL;
	int64_t k;
	if (n.k != 0 && (!is_exact(s, &x) || __builtin_mul_overflow(n.k, c, &k) ||
				__builtin_add_overflow(x.k, k, &x.k) || !is_exact(s, &x)))
		return NULL;
	const Expr *top = n.k == 0 ? inner->arg[0] : simplify_build(s->ir, &x, e->type);
	return ir_div(s->ir, top, number_like(s, e, cd));
}

const Expr *rule_div_mod(Simp *s, const Expr *e)
{
	int64_t c, m;
	Affine n;
	if (!by_constant(e, &c, &n) || e->arg[0]->op != IR_MOD || !ir_is_int(e->arg[0]->arg[1], &m) ||
		m <= c || m % c != 0)
		return NULL;
	const Expr *q = ir_div(s->ir, e->arg[0]->arg[0], e->arg[1]);
	return ir_mod(s->ir, q, number_like(s, e, m / c));
}

/* Of each term what matters modulo c: its coefficient's rest; x for x % m where c divides k*m. */
static bool reduce(const Affine *f, int64_t c, Affine *r)
{
	*r = (Affine){ .type = f->type, .k = ir_floor_mod(f->k, c) };
	for (int i = 0; i < f->n; i++) {
		int64_t left = f->t[i].coef % c, m, km;
		const Expr *x = f->t[i].a;
		while (x->op == IR_MOD && ir_is_int(x->arg[1], &m) && m > 0 &&
			!__builtin_mul_overflow(left, m, &km) && km % c == 0)
			x = x->arg[0];
		if (left != 0 && !ir_affine_add_term(r, left, x, NULL))
			return false;
	}
	return true;
}

static bool is_same_form(const Affine *a, const Affine *b)
{
	bool same = a->n == b->n && a->k == b->k;
	for (int i = 0; same && i < a->n; i++)
		same = a->t[i].coef == b->t[i].coef && a->t[i].a == b->t[i].a;
	return same;
}

const Expr *rule_mod_reduce(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n, r;
	if (!by_constant(e, &c, &n) || !reduce(&n, c, &r) || is_same_form(&n, &r))
		return NULL;
	if ((c & (c - 1)) != 0 && (!is_exact(s, &n) || !is_exact(s, &r)))
		return NULL;
	return ir_mod(s->ir, simplify_build(s->ir, &r, e->type), e->arg[1]);
}

static wide wide_floor(wide a, wide b)
{
	wide q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

const Expr *rule_mod_bounds(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n;
	if (!by_constant(e, &c, &n) || !is_exact(s, &n))
		return NULL;
	Wide w = ir_affine_bounds(&n, s->env, s->cache);
	wide q = wide_floor(w.lo, c), k = (wide)n.k - q * c;
	if (q != wide_floor(w.hi, c) || k < INT64_MIN || k > INT64_MAX)
		return NULL;
	n.k = (int64_t)k;
	return simplify_build(s->ir, &n, e->type);
}

const Expr *rule_mod_common(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n, x, r;
	if (!by_constant(e, &c, &n) || !is_exact(s, &n))
		return NULL;
	int64_t g = common_factor(s, &n, c, &x, &r);
	if (g == 0)
		return NULL;
	const Expr *m = ir_mod(s->ir, simplify_build(s->ir, &x, e->type), number_like(s, e, c / g));
	if (!ir_is_const(m, 0) && !ir_affine_add_term(&r, g, m, NULL))
		return NULL;
	return simplify_build(s->ir, &r, e->type);
}

/* ---- Quotients and remainders by a symbol. ---- */

/* e = n * the result, e a product with factor n or n itself; NULL if n is no factor. */
static const Expr *without_factor(Simp *s, const Expr *e, const Expr *n)
{
	if (e == n)
		return number_like(s, e, 1);
	if (e->op != IR_MUL)
		return NULL;
	for (int i = 0; i < 2; i++) {
		const Expr *rest = without_factor(s, e->arg[i], n);
		if (rest != NULL)
			return ir_mul(s->ir, rest, e->arg[1 - i]);
	}
	return NULL;
}

/* x = n*q + r, x and r exact, n > 0, q not 0. */
static bool split_by_symbol(Simp *s, const Expr *e, Affine *q, Affine *r)
{
	const Expr *n = e->arg[1];
	Affine x;
	if (!dtype_is_int(e->type) || e->type.lanes != 1 || n->op == IR_INT || !ir_affine_of(e->arg[0], &x) ||
		ir_interval_cached(n, s->env, s->cache).lo < 1)
		return false;
	*q = *r = (Affine){ .type = x.type, .k = 0 };
	r->k = x.k;
	for (int i = 0; i < x.n; i++) {
		const Expr *f = without_factor(s, x.t[i].a, n);
		int64_t one;
		bool ok = true;
		if (f == NULL)
			ok = ir_affine_add_term(r, x.t[i].coef, x.t[i].a, NULL);
		else if (ir_is_int(f, &one))
			ok = !__builtin_add_overflow(q->k, x.t[i].coef, &q->k);
		else
			ok = ir_affine_add_term(q, x.t[i].coef, f, NULL);
		if (!ok)
			return false;
	}
	return (q->n > 0 || q->k != 0) && is_exact(s, &x) && is_exact(s, r);
}

/* 0 <= r < n for all values. */
static bool is_remainder(Simp *s, const Expr *r, const Expr *n)
{
	return ir_is_ordered(number_like(s, n, 0), r, 0, s->env, s->cache) &&
		ir_is_ordered(r, n, 1, s->env, s->cache);
}

const Expr *rule_div_symbol(Simp *s, const Expr *e)
{
	Affine q, r;
	if (!split_by_symbol(s, e, &q, &r)) {
		bool ours = dtype_is_int(e->type) && e->type.lanes == 1;
		return ours && is_remainder(s, e->arg[0], e->arg[1]) ? number_like(s, e, 0) : NULL;
	}
	const Expr *rest = simplify_build(s->ir, &r, e->type);
	if (!is_remainder(s, rest, e->arg[1]) &&
		!ir_affine_add_term(&q, 1, ir_div(s->ir, rest, e->arg[1]), NULL))
		return NULL;
	return simplify_build(s->ir, &q, e->type);
}

const Expr *rule_mod_symbol(Simp *s, const Expr *e)
{
	Affine q, r;
	if (!split_by_symbol(s, e, &q, &r)) {
		bool ours = dtype_is_int(e->type) && e->type.lanes == 1;
		return ours && is_remainder(s, e->arg[0], e->arg[1]) ? e->arg[0] : NULL;
	}
	const Expr *rest = simplify_build(s->ir, &r, e->type);
	return is_remainder(s, rest, e->arg[1]) ? rest : ir_mod(s->ir, rest, e->arg[1]);
}

/* ---- Lane by lane. ---- */

/* A ramp with a constant step, by a constant, without wrapping in any lane. */
static bool ramp_by_constant(Simp *s, const Expr *e, int64_t *c, int64_t *step)
{
	const Expr *x = e->arg[0];
	Affine f;
	if (!dtype_is_int(e->type) || x->op != IR_RAMP || !simplify_is_int(e->arg[1], c) || *c < 1 ||
		!ir_is_int(x->arg[1], step) || !ir_affine_of(x, &f))
		return false;
	Range lanes = { .outer = s->env, .name = ir_affine_lane.name, .hi = x->type.lanes - 1, .mod = 1 };
	return ir_affine_exact(&f, &lanes, NULL);
}

/* No lane leaves the block of c that the first lane's value is in. */
static bool stays_within(Simp *s, const Expr *first_rest, int64_t step, int lanes, int64_t c)
{
	Interval r = ir_interval_cached(first_rest, s->env, s->cache);
	wide last = (wide)step * (lanes - 1);
	return r.lo + (last < 0 ? last : 0) >= 0 && r.hi + (last > 0 ? last : 0) < c;
}

static const Expr *first_of(Simp *s, const Expr *e, Node op, int64_t c)
{
	const Expr *base = e->arg[0]->arg[0];
	return simplify_expr(s, ir_binary(s->ir, op, base, number_like(s, base, c)));
}

const Expr *rule_div_ramp(Simp *s, const Expr *e)
{
	int64_t c, step;
	if (!ramp_by_constant(s, e, &c, &step))
		return NULL;
	int lanes = e->type.lanes;
	const Expr *q = first_of(s, e, IR_DIV, c);
	if (stays_within(s, first_of(s, e, IR_MOD, c), step, lanes, c))
		return ir_splat(s->ir, q, lanes);
	return step % c == 0 ? ir_ramp(s->ir, q, number_like(s, q, step / c), lanes) : NULL;
}

const Expr *rule_mod_ramp(Simp *s, const Expr *e)
{
	int64_t c, step;
	if (!ramp_by_constant(s, e, &c, &step))
		return NULL;
	int lanes = e->type.lanes;
	const Expr *r = first_of(s, e, IR_MOD, c);
	if (stays_within(s, r, step, lanes, c))
		return ir_ramp(s->ir, r, e->arg[0]->arg[1], lanes);
	return step % c == 0 ? ir_splat(s->ir, r, lanes) : NULL;
}
