/* See small.h. Each function computes what its namesake in bounds.c does, with sums that 64 bits hold. */
#include "ir/analysis/small.h"

#include "ir/analysis/affine.h"

/* What may be added up, and what may be multiplied before that: powers of two. */
enum { SUM = 59, PRODUCT = 28 };

static bool is_i64(DType t)
{
	return t.kind == DT_INT && t.bits == 64;
}

/* All four numbers lie within 2 to the power of `bits`. */
static bool is_within_bits(const Interval *v, int bits)
{
	uint64_t half = UINT64_C(1) << bits, most = 2 * half;
	return (uint64_t)v->lo + half < most && (uint64_t)v->hi + half < most && (uint64_t)v->mod + half < most &&
	       (uint64_t)v->rem + half < most;
}

static int64_t small_mod(int64_t a, int64_t b)
{
	if ((b & (b - 1)) == 0)
		return a & (b - 1);
	int64_t r = a % b;
	return r < 0 ? r + b : r;
}

static int64_t small_gcd(int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)(a < 0 ? -a : a), y = (uint64_t)(b < 0 ? -b : b);
	if (x == 1 || y == 1)
		return 1;
	while (y != 0) {
		uint64_t t = x % y;
		x = y;
		y = t;
	}
	return (int64_t)x;
}

/* As settle, of facts that lie within 61 bits. */
static Interval small_settle(int64_t lo, int64_t hi, int64_t mod, int64_t rem)
{
	if (mod > 1) {
		rem = small_mod(rem, mod);
		lo += small_mod(rem - lo, mod);
		hi -= small_mod(hi - rem, mod);
	} else if (mod == 1) {
		rem = 0;
	} else {
		lo = hi = rem;
	}
	return hi <= lo ? (Interval){ lo, lo, 0, lo } : (Interval){ lo, hi, mod, rem };
}

static Interval small_sum(const Interval *a, const Interval *b)
{
	return small_settle(a->lo + b->lo, a->hi + b->hi, small_gcd(a->mod, b->mod), a->rem + b->rem);
}

static Interval small_product(const Interval *a, const Interval *b)
{
	int64_t p = a->lo * b->lo, q = a->lo * b->hi, r = a->hi * b->lo, s = a->hi * b->hi;
	int64_t least = p < q ? p : q, most = p < q ? q : p;
	least = r < least ? r : least;
	most = r > most ? r : most;
	return small_settle(s < least ? s : least, s > most ? s : most,
		small_gcd(small_gcd(a->mod * b->mod, a->mod * b->rem), b->mod * a->rem), a->rem * b->rem);
}

bool ir_small_node(const Expr *e, const Interval *a, const Interval *b, Interval *v)
{
	Interval other;
	if (!is_i64(e->type))
		return false;
	switch (e->op) {
	case IR_ADD:
	case IR_SUB:
		if (!is_within_bits(a, SUM) || !is_within_bits(b, SUM))
			return false;
		other = e->op == IR_ADD ? *b : (Interval){ -b->hi, -b->lo, b->mod, -b->rem };
		*v = small_sum(a, &other);
		return true;
	case IR_MUL:
		if (!is_within_bits(a, PRODUCT) || !is_within_bits(b, PRODUCT))
			return false;
		*v = small_product(a, b);
		return true;
	case IR_RAMP:
		if (!is_within_bits(a, SUM) || !is_within_bits(b, PRODUCT))
			return false;
		other = small_product(b, &(Interval){ 0, e->type.lanes - 1, 1, 0 });
		*v = small_sum(a, &other);
		return true;
	default: return false;
	}
}

bool ir_small_var(const Expr *e, const Range *env, Interval *v)
{
	if (!is_i64(e->type))
		return false;
	const Range *r = ir_range_find(env, e->name);
	if (r == NULL)
		*v = (Interval){ INT64_MIN, INT64_MAX, 1, 0 };
	else if (r->mod <= 1)
		*v = r->hi <= r->lo ? (Interval){ r->lo, r->lo, 0, r->lo } : (Interval){ r->lo, r->hi, 1, 0 };
	else if (is_within_bits(&(Interval){ r->lo, r->hi, r->mod, r->rem }, SUM))
		*v = small_settle(r->lo, r->hi, r->mod, r->rem);
	else
		return false;
	return true;
}
