/*
 * Linear forms: an expression becomes a form; a form has bounds; a condition gives forms that are not negative. Sums
 * are taken in the ring of the type, so a form equals its expression even if a sum wraps. Whether the whole form is
 * exact is a question of its own (ir_affine_exact).
 */
#include "ir/analysis/affine.h"
#include "ir/build.h"

#include <string.h>

/* The number of the lane, where a vector's lanes are meant one by one; a Range bounds it. */
static const char lane_name[] = "lane";
const Expr ir_affine_lane = {
	.op = IR_VAR, .type = { DT_INT, 64, 1 }, .depth = 1, .size = 1, .id = UINT32_MAX, .name = lane_name
};

/* Coefficients of a ring are its residues of least magnitude. */
static int64_t to_ring(uint64_t v, DType t)
{
	int drop = 64 - t.bits;
	return (int64_t)(v << drop) >> drop;
}

void ir_affine_drop(Affine *f, int i)
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
		if (f->t[i].a == a && f->t[i].b == b)
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
		ir_affine_drop(f, i);
	return true;
}

bool ir_affine_add_term(Affine *f, int64_t coef, const Expr *a, const Expr *b)
{
	int i = term_at(f, a, b);
	if (i < 0 || __builtin_add_overflow(f->t[i].coef, coef, &f->t[i].coef))
		return false;
	if (f->t[i].coef == 0)
		ir_affine_drop(f, i);
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

bool ir_affine_is_linear(const Affine *f)
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
	if (collect_alone(&x, e->arg[0], f->type, how) &&
		collect_alone(&y, e->arg[1], f->type, how) && ir_affine_is_linear(&x) &&
		ir_affine_is_linear(&y) && collect_product(f, &x, &y, scale))
		return true;
	*f = saved;
	return ring_add(f, scale, e, NULL);
}

static bool collect(Affine *f, const Expr *e, uint64_t scale, Products how)
{
	int64_t c;
	switch (e->op) {
	case IR_INT: f->k = to_ring((uint64_t)f->k + scale * (uint64_t)e->i, f->type); return true;
	case IR_ADD: return collect(f, e->arg[0], scale, how) && collect(f, e->arg[1], scale, how);
	case IR_SUB: return collect(f, e->arg[0], scale, how) && collect(f, e->arg[1], -scale, how);
	case IR_NEG: return collect(f, e->arg[0], -scale, how);
	case IR_MUL: return collect_mul(f, e, scale, how);
	case IR_SHL:
		if (is_number(e->arg[1], &c) && c >= 0 && c < f->type.bits)
			return collect(f, e->arg[0], scale << c, how);
		return ring_add(f, scale, e, NULL);
	case IR_SPLAT: return collect(f, e->arg[0], scale, how);
	case IR_RAMP:
		if (ir_is_int(e->arg[1], &c))
			return collect(f, e->arg[0], scale, how) &&
			       ring_add(f, scale * (uint64_t)c, &ir_affine_lane, NULL);
		return collect(f, e->arg[0], scale, how) &&
		       ring_add(f, scale, e->arg[1], &ir_affine_lane);
	default: return ring_add(f, scale, e, NULL);
	}
}

bool ir_affine_of(const Expr *e, Affine *f)
{
	return dtype_is_int(e->type) && e->depth <= IR_DEEPEST &&
	       collect_alone(f, e, dtype_scalar(e->type), OPAQUE_PRODUCTS);
}

bool ir_affine_expand(const Expr *e, Affine *f)
{
	return dtype_is_int(e->type) && e->depth <= IR_DEEPEST &&
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

Wide ir_atom_bounds(const Expr *e, const Range *env, IntervalCache *cache)
{
	return ir_widen(ir_interval_cached(e, env, cache), dtype_scalar(e->type));
}

/* {-AFFINE_FAR, AFFINE_FAR} where it is far out, so that sums cannot overflow. */
static Wide term_bounds(const Term *t, const Range *env, IntervalCache *cache)
{
	static const Wide none = { -AFFINE_FAR, AFFINE_FAR };
	Wide w = ir_atom_bounds(t->a, env, cache);
	if (t->b != NULL) {
		Wide v = ir_atom_bounds(t->b, env, cache);
		if (!is_within(w, (wide)1 << 62) || !is_within(v, (wide)1 << 62))
			return none;
		w = times(w, v);
	}
	if (!is_within(w, (wide)1 << 64))
		return none;
	w = times(w, (Wide){ t->coef, t->coef });
	return is_within(w, AFFINE_FAR) ? w : none;
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
	if (f->n == 1 && f->k == 0 && f->t[0].coef == 1 && f->t[0].b == NULL &&
		f->t[0].a != &ir_affine_lane) /* whose type is wider than a narrow ramp's */
		return true;
	wide lo, hi;
	ir_type_range(f->type, &lo, &hi);
	Wide w = ir_affine_bounds(f, env, cache);
	return w.lo >= lo && w.hi <= hi;
}

bool ir_affine_exact_of(const Expr *e, const Range *env, IntervalCache *cache, Affine *f)
{
	return ir_affine_expand(e, f) && ir_affine_exact(f, env, cache);
}

/* f = b - a - gap, exact. */
bool ir_affine_difference(
	const Expr *a, const Expr *b, int gap, const Range *env, IntervalCache *cache, Affine *f)
{
	Affine g;
	return ir_affine_exact_of(b, env, cache, f) && ir_affine_exact_of(a, env, cache, &g) &&
	       ir_affine_add(f, &g, -1) && !__builtin_sub_overflow(f->k, gap, &f->k);
}
