/*
 * Rules of integer sums and products, through the linear form of ir/analysis/affine.h. A sum has one written
 * form, so that equal sums are equal pointers; sums and products are right in the ring of the type,
 * whether they wrap or not.
 */
#include "ir/build.h"
#include "ir/simplify/simplify_rules.h"

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
	return coef == 1 ? x : ir_mul(ir, x, ir_const_int(ir, x->type, coef));
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
				sum = f->t[i].coef == -1 ? ir_unary(ir, IR_NEG, x)
				                         : scaled(ir, x, f->t[i].coef);
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

/* Is q the quotient x/m as the rules leave it? */
static bool is_quotient_of(Simp *s, const Expr *q, const Expr *x, const Expr *m)
{
	if (q->op != IR_DIV)
		return false;
	return (q->arg[0] == x && q->arg[1] == m) || simplify_expr(s, ir_div(s->ir, x, m)) == q;
}

/* Is term t c * (x/m) * m for this x and m? */
static bool is_whole_part(Simp *s, const Term *t, const Expr *x, const Expr *m, int64_t c)
{
	int64_t k, scale;
	if (t->b != NULL)
		return false;
	if (t->a->op == IR_DIV)
		return ir_is_int(m, &k) && !__builtin_mul_overflow(c, k, &scale) && scale == t->coef &&
		       is_quotient_of(s, t->a, x, m);
	if (t->a->op != IR_MUL || t->coef != c)
		return false;
	const Expr *const *arg = t->a->arg;
	return (arg[1] == m && is_quotient_of(s, arg[0], x, m)) || (arg[0] == m && is_quotient_of(s, arg[1], x, m));
}

static void remove_term(Affine *f, int i)
{
	f->t[i] = f->t[--f->n];
}

/* c*(x/m)*m + c*(x%m) = c*x, in any ring. */
static bool join_quotients(Simp *s, Affine *f)
{
	for (int i = 0; i < f->n; i++) {
		const Expr *r = f->t[i].a;
		if (r->op != IR_MOD || f->t[i].b != NULL)
			continue;
		for (int j = 0; j < f->n; j++) {
			int64_t c = f->t[i].coef;
			if (!is_whole_part(s, &f->t[j], r->arg[0], r->arg[1], c))
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

/* Sums with overflowing coefficients are not joined: the ring would allow it, but no caller needs it. */
const Expr *rule_linear(Simp *s, const Expr *e)
{
	Affine f;
	if (!ir_affine_of(e, &f))
		return NULL;
	while (join_quotients(s, &f) || join_aligned(s, &f))
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
	simplify_insert(x, (*n)++, e);
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
