/*
 * Rules of quotients and remainders: by constants, by symbols that are positive, and of ramps. All
 * but a few ask for exact sums: (i*4 + j)/4 is i + j/4 only where i*4 + j cannot wrap.
 */
#include "ir/build.h"
#include "ir/simplify/simplify_rules.h"

/* e is x / c or x % c with a constant c > 1 of integers that are no vectors; n the form of x. */
static bool by_constant(const Expr *e, int64_t *c, Affine *n)
{
	return e->type.lanes == 1 && ir_is_int(e->arg[1], c) && *c > 1 &&
	       ir_affine_of(e->arg[0], n);
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
	if (!by_constant(e, &c, &n) || !simplify_is_exact(s, &n) || !split_by(&n, c, &q, &r) ||
		(q.n == 0 && q.k == 0) || !simplify_is_exact(s, &r))
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
	if (!by_constant(e, &c, &n) || !simplify_is_exact(s, &n))
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
	if (!by_constant(e, &c, &n) || !simplify_is_exact(s, &n) || n.k <= 0 || n.k >= c)
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

/* The term x/c of a sum, c constant and its coefficient 1; -1: there is none. */
static int quotient_term(const Affine *n, int64_t *c)
{
	for (int i = 0; i < n->n; i++)
		if (n->t[i].coef == 1 && n->t[i].b == NULL && n->t[i].a->op == IR_DIV &&
			ir_is_int(n->t[i].a->arg[1], c) && *c > 0)
			return i;
	return -1;
}

const Expr *rule_div_div(Simp *s, const Expr *e)
{
	int64_t c, d, cd;
	Affine n, x;
	if (!by_constant(e, &d, &n))
		return NULL;
	int at = quotient_term(&n, &c);
	if (at < 0 || __builtin_mul_overflow(c, d, &cd) || !ir_fits(cd, e->type) || !simplify_is_exact(s, &n) ||
		!ir_affine_of(n.t[at].a->arg[0], &x))
		return NULL;
	const Expr *inner = n.t[at].a->arg[0];
	n.t[at] = n.t[--n.n];
	if (n.n == 0 && n.k == 0)
		return ir_div(s->ir, inner, number_like(s, e, cd));
	if (!simplify_is_exact(s, &x) || !ir_affine_add(&x, &n, c) || !simplify_is_exact(s, &x))
		return NULL;
	return ir_div(s->ir, simplify_build(s->ir, &x, e->type), number_like(s, e, cd));
}

const Expr *rule_div_mod(Simp *s, const Expr *e)
{
	int64_t c, m;
	Affine n;
	if (!by_constant(e, &c, &n) || e->arg[0]->op != IR_MOD ||
		!ir_is_int(e->arg[0]->arg[1], &m) || m <= c || m % c != 0)
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

const Expr *rule_mod_reduce(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n, r;
	if (!by_constant(e, &c, &n) || !reduce(&n, c, &r))
		return NULL;
	bool same = n.n == r.n && n.k == r.k;
	for (int i = 0; same && i < n.n; i++)
		same = n.t[i].coef == r.t[i].coef && n.t[i].a == r.t[i].a;
	if (same)
		return NULL;
	if ((c & (c - 1)) != 0 && (!simplify_is_exact(s, &n) || !simplify_is_exact(s, &r)))
		return NULL;
	return ir_mod(s->ir, simplify_build(s->ir, &r, e->type), e->arg[1]);
}

const Expr *rule_mod_bounds(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n;
	if (!by_constant(e, &c, &n) || !simplify_is_exact(s, &n))
		return NULL;
	Wide w = ir_affine_bounds(&n, s->env, s->cache);
	wide q = ir_floor_wide(w.lo, c), k = (wide)n.k - q * c;
	if (q != ir_floor_wide(w.hi, c) || k < INT64_MIN || k > INT64_MAX)
		return NULL;
	n.k = (int64_t)k;
	return simplify_build(s->ir, &n, e->type);
}

const Expr *rule_mod_common(Simp *s, const Expr *e)
{
	int64_t c;
	Affine n, x, r;
	if (!by_constant(e, &c, &n) || !simplify_is_exact(s, &n))
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
	if (!dtype_is_int(e->type) || e->type.lanes != 1 || n->op == IR_INT ||
		!ir_affine_of(e->arg[0], &x) || ir_interval_cached(n, s->env, s->cache).lo < 1)
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
	return (q->n > 0 || q->k != 0) && simplify_is_exact(s, &x) && simplify_is_exact(s, r);
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
	if (!dtype_is_int(e->type) || x->op != IR_RAMP || !simplify_is_int(e->arg[1], c) ||
		*c < 1 || !ir_is_int(x->arg[1], step) || !ir_affine_of(x, &f))
		return false;
	Range lanes = {
		.outer = s->env, .name = ir_affine_lane.name, .hi = x->type.lanes - 1, .mod = 1
	};
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
