/*
 * Intervals with congruences. One number each way: every node of node.def maps the facts of its
 * arguments to its own, computed exactly in 128 bits; what leaves the type's range may have wrapped,
 * and is then only known to be of the type (and modulo the power of two that survives wrapping).
 * u64 is the one type int64 cannot hold: an end of INT64_MAX stands for "that or more" there.
 * Left out: relations between variables; those are affine.c's.
 */
#include "ir/analysis/affine.h"
#include "ir/analysis/small.h"
#include "ir/build.h"

#include <string.h>

/* The largest magnitude of an i64; a product of two such, doubled, is still within 128 bits. */
#define WIDE_LIMIT ((wide)1 << 63)

static wide wmin(wide a, wide b)
{
	return a < b ? a : b;
}

static wide wmax(wide a, wide b)
{
	return a > b ? a : b;
}

static wide wgcd(wide a, wide b)
{
	a = a < 0 ? -a : a;
	b = b < 0 ? -b : b;
	if (a == 1 || b == 1)
		return 1;
	if (a <= INT64_MAX && b <= INT64_MAX) { /* division of 128 bits is slow */
		uint64_t x = (uint64_t)a, y = (uint64_t)b;
		while (y != 0) {
			uint64_t t = x % y;
			x = y;
			y = t;
		}
		return (wide)x;
	}
	while (b != 0) {
		wide t = a % b;
		a = b;
		b = t;
	}
	return a;
}

wide ir_floor_wide(wide a, wide b)
{
	if (a >= 0 && a <= INT64_MAX && b > 0 && b <= INT64_MAX)
		return (wide)((uint64_t)a / (uint64_t)b);
	wide q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

static wide floor_mod(wide a, wide b)
{
	return a - ir_floor_wide(a, b) * b;
}

int64_t ir_gcd(int64_t a, int64_t b)
{
	wide g = wgcd(a, b);
	return g > INT64_MAX ? 1 : (int64_t)g;
}

int64_t ir_floor_div(int64_t a, int64_t b)
{
	return (int64_t)ir_floor_wide(a, b);
}

int64_t ir_floor_mod(int64_t a, int64_t b)
{
	return (int64_t)floor_mod(a, b);
}

void ir_type_range(DType t, wide *lo, wide *hi)
{
	switch (t.kind) {
	case DT_INT:
		*lo = -((wide)1 << (t.bits - 1));
		*hi = ((wide)1 << (t.bits - 1)) - 1;
		break;
	case DT_UINT:
		*lo = 0;
		*hi = ((wide)1 << t.bits) - 1;
		break;
	case DT_BOOL:
		*lo = 0;
		*hi = 1;
		break;
	default: *lo = INT64_MIN; *hi = INT64_MAX;
	}
}

bool ir_fits(wide v, DType t)
{
	wide lo, hi;
	ir_type_range(t, &lo, &hi);
	return v >= lo && v <= hi;
}

static bool is_u64(DType t)
{
	return t.kind == DT_UINT && t.bits == 64;
}

/* Facts in 128 bits: the working form of an Interval; mod and rem mean the same. */
typedef struct Span {
	wide lo, hi, mod, rem;
} Span;

Wide ir_widen(Interval v, DType t)
{
	wide top = ((wide)1 << 64) - 1;
	return (Wide){ v.lo, is_u64(t) && v.hi == INT64_MAX ? top : v.hi };
}

static Span span_of(Interval v, DType t)
{
	Wide w = ir_widen(v, t);
	return (Span){ w.lo, w.hi, v.mod, v.rem };
}

static Span span(wide lo, wide hi)
{
	return (Span){ lo, hi, 1, 0 };
}

static Span span_const(wide v)
{
	return (Span){ v, v, 0, v };
}

static Span of_type(DType t)
{
	Span s = span(0, 0);
	ir_type_range(t, &s.lo, &s.hi);
	return s;
}

/* Moves the ends to values of the congruence; one value left is a constant. */
static void tighten(Span *s)
{
	if (s->mod > 1) {
		s->rem = floor_mod(s->rem, s->mod);
		s->lo += floor_mod(s->rem - s->lo, s->mod);
		s->hi -= floor_mod(s->hi - s->rem, s->mod);
	}
	if (s->mod == 0)
		s->lo = s->hi = s->rem;
	if (s->hi <= s->lo) /* hi < lo: the facts contradict each other, anything goes */
		*s = span_const(s->lo);
}

static int64_t saturate(wide v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

/* What a result computed exactly means in type t, where it may have wrapped. */
static Interval settle(Span s, DType t)
{
	Span all = of_type(t);
	if (s.mod < 0 || s.mod > INT64_MAX) {
		s.mod = 1;
		s.rem = 0;
	}
	tighten(&s);
	if (s.lo < all.lo || s.hi > all.hi) {
		wide mod = s.mod == 0 ? all.hi - all.lo + 1 : wgcd(s.mod, all.hi - all.lo + 1);
		wide rem = floor_mod(s.rem, mod);
		if (s.mod == 0) { /* a constant: wrap it */
			s = span_const(rem > all.hi ? rem - mod : rem);
		} else {
			s = (Span){ all.lo, all.hi, mod, rem };
			tighten(&s);
		}
	}
	if (s.mod == 0 && s.rem > INT64_MAX)
		s = span(s.rem, all.hi);
	return (Interval){ saturate(s.lo), saturate(s.hi), (int64_t)s.mod, (int64_t)s.rem };
}

static Span span_add(Span a, Span b, int sign)
{
	wide mod = wgcd(a.mod, b.mod), rem = a.rem + sign * b.rem;
	wide lo = sign > 0 ? a.lo + b.lo : a.lo - b.hi;
	wide hi = sign > 0 ? a.hi + b.hi : a.hi - b.lo;
	return (Span){ lo, hi, mod, mod > 0 ? floor_mod(rem, mod) : rem };
}

static bool is_small(Span a)
{
	return a.lo >= -WIDE_LIMIT && a.hi <= WIDE_LIMIT;
}

static Span span_mul(Span a, Span b, DType t)
{
	if (!is_small(a) || !is_small(b))
		return of_type(t);
	wide p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
	Span m = span(wmin(wmin(p, q), wmin(r, s)), wmax(wmax(p, q), wmax(r, s)));
	m.mod = wgcd(wgcd(a.mod * b.mod, a.mod * b.rem), b.mod * a.rem);
	m.rem = a.rem * b.rem;
	if (m.mod > INT64_MAX) { /* keep what is a power of two, it survives wrapping */
		m.mod = wmin(m.mod & -m.mod, WIDE_LIMIT / 2);
	}
	if (m.mod > 0)
		m.rem = floor_mod(m.rem, m.mod);
	return m;
}

/* The divisor without 0, which is an error: ends that are 0 move inwards. */
static Span not_zero(Span b)
{
	if (b.lo == 0)
		b.lo = 1;
	if (b.hi == 0)
		b.hi = -1;
	if (b.hi < b.lo)
		b = span_const(1); /* only 0: always an error */
	return b;
}

static wide quotient(wide a, wide b, bool floor)
{
	return floor ? ir_floor_wide(a, b) : a / b;
}

/* Monotone in the dividend, and in the divisor on each side of 0: the corners are the extremes. */
static Span span_div(Span a, Span b, bool floor)
{
	b = not_zero(b);
	bool around = b.lo < 0 && b.hi > 0;
	wide end[4] = { b.lo, b.hi, around ? -1 : b.lo, around ? 1 : b.hi };
	Span d = span(quotient(a.lo, end[0], floor), 0);
	d.hi = d.lo;
	for (int i = 0; i < 4; i++) {
		wide p = quotient(a.lo, end[i], floor), q = quotient(a.hi, end[i], floor);
		d.lo = wmin(d.lo, wmin(p, q));
		d.hi = wmax(d.hi, wmax(p, q));
	}
	if (b.lo == b.hi && b.lo > 0 && a.mod % b.lo == 0 && (floor || a.rem % b.lo == 0)) {
		d.mod = a.mod / b.lo;
		d.rem = ir_floor_wide(a.rem, b.lo);
	}
	return d;
}

static Span span_mod(Span a, Span b)
{
	b = not_zero(b);
	if (b.lo <= 0)
		return b.hi < 0 ? span(b.lo + 1, 0) : span(b.lo + 1, wmax(b.hi - 1, 0));
	if (b.lo != b.hi)
		return a.lo >= 0 && a.hi < b.lo
		               ? a
		               : span(0, a.lo >= 0 ? wmin(a.hi, b.hi - 1) : b.hi - 1);
	wide c = b.lo;
	Span m = span(0, c - 1);
	if (ir_floor_wide(a.lo, c) == ir_floor_wide(a.hi, c))
		m = span(floor_mod(a.lo, c), floor_mod(a.hi, c));
	m.mod = wgcd(a.mod, c);
	m.rem = floor_mod(a.rem, m.mod);
	if (a.mod % c == 0)
		m = span_const(floor_mod(a.rem, c));
	return m;
}

/* Both extended to cover either. */
static Span span_union(Span a, Span b)
{
	wide mod = wgcd(wgcd(a.mod, b.mod), a.rem - b.rem);
	return (Span){ wmin(a.lo, b.lo), wmax(a.hi, b.hi), mod,
		mod > 0 ? floor_mod(a.rem, mod) : a.rem };
}

static Span span_minmax(Span a, Span b, bool max)
{
	if (max ? a.lo >= b.hi : a.hi <= b.lo)
		return a;
	if (max ? b.lo >= a.hi : b.hi <= a.lo)
		return b;
	Span u = span_union(a, b);
	u.lo = max ? wmax(a.lo, b.lo) : wmin(a.lo, b.lo);
	u.hi = max ? wmax(a.hi, b.hi) : wmin(a.hi, b.hi);
	return u;
}

static Span span_and(Span a, Span b, DType t)
{
	Span s = of_type(t);
	if (a.lo >= 0)
		s = span(0, a.hi);
	if (b.lo >= 0)
		s = span(0, a.lo >= 0 ? wmin(a.hi, b.hi) : b.hi);
	wide c = b.mod == 0 ? b.rem : a.mod == 0 ? a.rem : 0;
	if (c > 0 && (c & (c + 1)) == 0) /* x & (2^k - 1) is x % 2^k */
		return span_mod(b.mod == 0 ? a : b, span_const(c + 1));
	return s;
}

static Span span_or(Span a, Span b, bool exclusive, DType t)
{
	wide ones = 0; /* a mask that covers both */
	if (a.lo < 0 || b.lo < 0)
		return of_type(t);
	while (ones < wmax(a.hi, b.hi))
		ones = 2 * ones + 1;
	return span(exclusive ? 0 : wmax(a.lo, b.lo), ones);
}

static Span span_shift(Span a, Span b, bool left, DType t)
{
	if (b.lo < 0 || b.hi >= t.bits)
		b = span(wmin(wmax(b.lo, 0), t.bits - 1), t.bits - 1); /* outside is an error */
	Span lo = span_const((wide)1 << b.lo), hi = span_const((wide)1 << b.hi);
	Span p = span((wide)1 << b.lo, (wide)1 << b.hi);
	if (b.lo == b.hi)
		return left ? span_mul(a, lo, t) : span_div(a, lo, true);
	if (left)
		return span_mul(a, p, t);
	Span u = span_union(span_div(a, lo, true), span_div(a, hi, true));
	return span(u.lo, u.hi);
}

/* 0 or 1 for a comparison that the facts decide, [0,1] otherwise. */
static Span span_compare(Node op, Span a, Span b)
{
	if (op == IR_EQ || op == IR_NE) {
		wide mod = wgcd(a.mod, b.mod);
		bool apart = a.hi < b.lo || b.hi < a.lo;
		if (mod > 1 && floor_mod(a.rem - b.rem, mod) != 0)
			apart = true;
		if (apart)
			return span_const(op == IR_NE);
		bool same = a.mod == 0 && b.mod == 0 && a.rem == b.rem;
		return same ? span_const(op == IR_EQ) : span(0, 1);
	}
	bool strict = op == IR_LT;
	if (strict ? a.hi < b.lo : a.hi <= b.lo)
		return span_const(1);
	if (strict ? a.lo >= b.hi : a.lo > b.hi)
		return span_const(0);
	return span(0, 1);
}

static Span span_var(const Expr *e, const Range *env)
{
	Span s = of_type(e->type);
	const Range *r = ir_range_find(env, e->name);
	if (r == NULL)
		return s;
	s.lo = wmax(s.lo, r->lo);
	if (!is_u64(e->type) || r->hi < INT64_MAX)
		s.hi = wmin(s.hi, r->hi);
	if (r->mod > 1) {
		s.mod = r->mod;
		s.rem = floor_mod(r->rem, r->mod);
	}
	return s;
}

static Interval eval(const Expr *e, const Range *env, IntervalCache *cache);

/* Conditions deeper than this do not refine the arms. */
enum { DEEP_CHOICE = 10 };

/* Each arm under what its choice says; those facts live on the stack, so no cache may see them. */
static Span span_select(const Expr *e, const Range *env, IntervalCache *cache)
{
	const Expr *c = e->arg[0];
	Interval known = eval(c, env, cache);
	if (known.mod == 0)
		return span_of(eval(e->arg[known.rem ? 1 : 2], env, cache), e->type);
	Interval arm[2];
	for (int i = 0; i < 2; i++) {
		Facts f;
		const Range *in = c->depth > DEEP_CHOICE ? env : ir_facts_if(&f, c, i == 0, env);
		arm[i] = in == env ? eval(e->arg[1 + i], env, cache)
		                   : ir_interval(e->arg[1 + i], in);
	}
	return span_union(span_of(arm[0], e->type), span_of(arm[1], e->type));
}

static Span span_binary(const Expr *e, Span a, Span b)
{
	wide most;
	switch (e->op) {
	case IR_ADD: return span_add(a, b, 1);
	case IR_SUB: return span_add(a, b, -1);
	case IR_MUL: return span_mul(a, b, e->type);
	case IR_DIV: return span_div(a, b, true);
	case IR_MOD: return span_mod(a, b);
	case IR_TDIV: return span_div(a, b, false);
	case IR_TMOD:
		b = not_zero(b);
		if (a.lo >= 0 && b.lo > 0)
			return span_mod(a, b);
		most = wmax(b.hi, -b.lo) - 1;
		return span(a.lo < 0 ? wmax(-most, a.lo) : 0, a.hi > 0 ? wmin(most, a.hi) : 0);
	case IR_MIN: return span_minmax(a, b, false);
	case IR_MAX: return span_minmax(a, b, true);
	case IR_AND: return span_and(a, b, e->type);
	case IR_OR: return span_or(a, b, false, e->type);
	case IR_XOR: return span_or(a, b, true, e->type);
	case IR_SHL: return span_shift(a, b, true, e->type);
	case IR_SHR: return span_shift(a, b, false, e->type);
	case IR_EQ:
	case IR_NE:
	case IR_LT:
	case IR_LE: return span_compare(e->op, a, b);
	default: return of_type(e->type);
	}
}

static Span span_unary(const Expr *e, Span a)
{
	DType t = e->type, from = e->arg[0]->type;
	switch (e->op) {
	case IR_NEG: return span_add(span_const(0), a, -1);
	case IR_NOT: {
		wide ones = t.kind == DT_INT ? -1 : t.kind == DT_BOOL ? 1 : ((wide)1 << t.bits) - 1;
		return span_add(span_const(ones), a, -1);
	}
	case IR_ABS:
		if (a.lo >= 0)
			return a;
		return a.hi <= 0 ? span_add(span_const(0), a, -1) : span(0, wmax(-a.lo, a.hi));
	case IR_CAST:
		if (dtype_is_float(from) || dtype_is_float(t))
			return of_type(t);
		if (t.kind == DT_BOOL && from.kind != DT_BOOL)
			return a.lo > 0 || a.hi < 0 ? span_const(1) : a.mod == 0 ? span_const(0) : span(0, 1);
		return a; /* settle wraps it */
	case IR_SPLAT:
	case IR_LANE: return a;
	default: return of_type(t);
	}
}

static bool is_float(const Expr *e)
{
	return dtype_is_float(e->type);
}

static Interval node(const Expr *e, const Range *env, IntervalCache *cache)
{
	DType t = dtype_scalar(e->type);
	if (e->op == IR_INT) {
		if (!is_u64(t))
			return (Interval){ e->i, e->i, 0, e->i };
		return settle(span_const((wide)(uint64_t)e->i), t);
	}
	if (e->op == IR_VAR) {
		Interval v;
		if (ir_small_var(e, env, &v))
			return v;
		return settle(is_float(e) ? of_type(t) : span_var(e, env), t);
	}
	if (e->op == IR_SELECT && !is_float(e) && e->depth <= IR_DEEPEST)
		return settle(span_select(e, env, cache), t);
	if (is_float(e) || e->depth > IR_DEEPEST || e->nargs == 0 || e->nargs > 2 ||
		e->op == IR_LOAD || is_float(e->arg[0]))
		return settle(of_type(t), t);
	Interval x = eval(e->arg[0], env, cache);
	if ((e->op == IR_SPLAT || e->op == IR_LANE) && !is_u64(t))
		return x;
	if (e->op == IR_LANE || e->nargs == 1)
		return settle(span_unary(e, span_of(x, e->arg[0]->type)), t);
	Interval y = eval(e->arg[1], env, cache), v;
	if (ir_small_node(e, &x, &y, &v))
		return v;
	Span a = span_of(x, e->arg[0]->type), b = span_of(y, e->arg[1]->type);
	if (e->op == IR_RAMP) {
		Interval step = settle(span_mul(b, span(0, e->type.lanes - 1), t), t);
		return settle(span_add(a, span_of(step, t), 1), t);
	}
	return settle(span_binary(e, a, b), t);
}

static Interval eval(const Expr *e, const Range *env, IntervalCache *cache)
{
	if (e->nargs == 0 || e->op == IR_LOAD || cache == NULL)
		return node(e, env, cache);
	size_t at = ((size_t)e->id * 7 + ((uintptr_t)env >> 4)) % INTERVAL_CACHE;
	if (cache->e[at] == e && cache->env[at] == env)
		return cache->value[at];
	Interval v = node(e, env, cache);
	cache->e[at] = e;
	cache->env[at] = env;
	cache->value[at] = v;
	return v;
}

Interval ir_interval_cached(const Expr *e, const Range *env, IntervalCache *cache)
{
	return eval(e, env, cache);
}

Interval ir_interval(const Expr *e, const Range *env)
{
	if (e->depth <= 4)
		return eval(e, env, NULL);
	IntervalCache cache;
	memset(cache.e, 0, sizeof cache.e);
	return eval(e, env, &cache);
}
