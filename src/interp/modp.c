/*
 * Arithmetic modulo a prime: a float is an exact rational, of which two residues are kept, modulo
 * p = 2q + 1 and modulo q, both prime. + - * / work on both. exp(x) = g^x, g of order q modulo p,
 * needs the residue modulo q and gives one modulo p only, so exp(a + b) = exp(a) * exp(b) holds
 * exactly, one layer deep. tanh and sigmoid are what their formula with exp gives. Order is that
 * of the residues as signed numbers (least magnitude). What no ring has (sqrt, log, erf, floor, ..)
 * is a hash of the residue: equal arguments give equal results, and no law. docs/ir-modp.md lists
 * all.
 */
#include "interp/interp.h"
#include "interp/num.h"

#include <math.h>

static const uint64_t P = INTERP_MODP_P, Q = INTERP_MODP_Q;
static const uint64_t G = 182605862; /* 48271 squared: a square other than 1 has order q */
static const uint64_t UNDEF = 0xffffffff; /* the residue modulo q of what exp gave */

static uint64_t pair(uint64_t p, uint64_t q)
{
	return p | q << 32;
}

static uint64_t lo(uint64_t m)
{
	return m & 0xffffffff;
}

static uint64_t hi(uint64_t m)
{
	return m >> 32;
}

static uint64_t power(uint64_t b, uint64_t e, uint64_t mod)
{
	uint64_t r = 1;
	for (b %= mod; e != 0; e >>= 1, b = b * b % mod)
		if (e & 1)
			r = r * b % mod;
	return r;
}

uint64_t modp_norm(uint64_t m)
{
	uint64_t p = lo(m), q = hi(m);
	return pair(p < P ? p : p % P, q < Q || q == UNDEF ? q : q % Q);
}

uint64_t modp_of_int(int64_t v, bool is_unsigned)
{
	if (is_unsigned)
		return pair((uint64_t)v % P, (uint64_t)v % Q);
	int64_t p = v % (int64_t)P, q = v % (int64_t)Q;
	return pair((uint64_t)(p < 0 ? p + (int64_t)P : p), (uint64_t)(q < 0 ? q + (int64_t)Q : q));
}

/* splitmix64's finaliser on the residue modulo p alone, which is what tests compare. */
static uint64_t hashed(Node op, uint64_t m, uint64_t n)
{
	uint64_t z = (lo(m) + 1) * 0x9e3779b97f4a7c15u ^ (lo(n) + 1) * 0xd1342543de82ef95u;
	z += (uint64_t)op * 0x2545f4914f6cdd1du;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return pair(lo(z) % P, hi(z) % Q);
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t p = lo(a) + lo(b), q = UNDEF;
	if (hi(a) != UNDEF && hi(b) != UNDEF) {
		q = hi(a) + hi(b);
		q -= q >= Q ? Q : 0;
	}
	return pair(p >= P ? p - P : p, q);
}

static uint64_t neg(uint64_t a)
{
	uint64_t p = lo(a), q = hi(a);
	return pair(p != 0 ? P - p : 0, q == UNDEF ? q : q != 0 ? Q - q : 0);
}

static uint64_t mul(uint64_t a, uint64_t b)
{
	uint64_t q = hi(a) != UNDEF && hi(b) != UNDEF ? hi(a) * hi(b) % Q : UNDEF;
	return pair(lo(a) * lo(b) % P, q);
}

/* 1 / 0 is 0: a law of its own, but a / b = a * (1 / b) always. */
static uint64_t inverse(uint64_t a)
{
	uint64_t q = hi(a) != UNDEF ? power(hi(a), Q - 2, Q) : UNDEF;
	return pair(power(lo(a), P - 2, P), q);
}

static uint64_t exponential(uint64_t a)
{
	if (hi(a) == UNDEF)
		return hashed(IR_EXP, a, 0);
	return pair(power(G, hi(a), P), UNDEF);
}

/* In -(p-1)/2 .. (p-1)/2. */
static int64_t centred(uint64_t m)
{
	int64_t v = (int64_t)lo(m);
	return v > (int64_t)(P / 2) ? v - (int64_t)P : v;
}

static bool less(uint64_t a, uint64_t b)
{
	return centred(a) < centred(b);
}

/* A total order, so that max and min have all their laws: ties go by the other residue. */
static bool before(uint64_t a, uint64_t b)
{
	return less(a, b) || (lo(a) == lo(b) && hi(a) < hi(b));
}

/* The integer that both residues agree on, if it is small. */
static bool small_int(uint64_t m, int64_t *v)
{
	*v = centred(m);
	return hi(m) != UNDEF && *v > -(1 << 24) && *v < 1 << 24 && modp_of_int(*v, false) == m;
}

static uint64_t raise(uint64_t a, uint64_t b)
{
	int64_t n;
	if (!small_int(b, &n) || n < -64 || n > 64)
		return hashed(IR_POW, a, b);
	uint64_t r = pair(1, 1);
	for (int64_t k = n < 0 ? -n : n; k > 0; k--)
		r = mul(r, a);
	return n < 0 ? inverse(r) : r;
}

/* A double is m * 2^e exactly; the infinities are the ends of the order. */
uint64_t interp_modp_of(double v)
{
	if (isnan(v))
		return hashed(IR_ISNAN, 0, 0);
	if (isinf(v))
		return v > 0 ? pair(P / 2, Q - 1) : pair(P / 2 + 1, 0);
	int e;
	double m = frexp(v, &e);
	uint64_t r = modp_of_int((int64_t)ldexp(m, 53), false);
	e -= 53;
	uint64_t two = pair(
		power(2, (uint64_t)(e < 0 ? -e : e), P), power(2, (uint64_t)(e < 0 ? -e : e), Q));
	return mul(r, e < 0 ? inverse(two) : two);
}

bool interp_modp_same(uint64_t a, uint64_t b)
{
	return lo(modp_norm(a)) == lo(modp_norm(b));
}

const char *modp_binary(Node op, Val a, Val b, Val *out)
{
	uint64_t x = a.m, y = b.m;
	switch (op) {
	case IR_EQ: out->i = lo(x) == lo(y); break;
	case IR_NE: out->i = lo(x) != lo(y); break;
	case IR_LT: out->i = less(x, y); break;
	case IR_LE: out->i = !less(y, x); break;
	case IR_ADD: out->m = add(x, y); break;
	case IR_SUB: out->m = add(x, neg(y)); break;
	case IR_MUL: out->m = mul(x, y); break;
	case IR_DIV: out->m = mul(x, inverse(y)); break;
	case IR_MIN: out->m = before(x, y) ? x : y; break;
	case IR_MAX: out->m = before(x, y) ? y : x; break;
	case IR_POW: out->m = raise(x, y); break;
	case IR_TMOD: out->m = hashed(op, x, y); break;
	default: return "this operator is not defined on floats";
	}
	return NULL;
}

const char *modp_unary(Node op, Val a, Val *out)
{
	uint64_t x = a.m, one = pair(1, 1), e;
	int64_t v;
	switch (op) {
	case IR_ISNAN: out->i = 0; break;
	case IR_NEG: out->m = neg(x); break;
	case IR_ABS: out->m = centred(x) < 0 ? neg(x) : x; break;
	case IR_EXP: out->m = exponential(x); break;
	case IR_EXPM1: out->m = add(exponential(x), neg(one)); break;
	case IR_SIGMOID: out->m = inverse(add(one, exponential(neg(x)))); break;
	case IR_TANH:
		e = exponential(add(x, x));
		out->m = mul(add(e, neg(one)), inverse(add(e, one)));
		break;
	case IR_FLOOR:
	case IR_CEIL:
	case IR_ROUND:
	case IR_TRUNC: out->m = small_int(x, &v) ? x : hashed(op, x, 0); break;
	case IR_LOG:
	case IR_SQRT:
	case IR_ERF:
	case IR_SIN:
	case IR_COS:
	case IR_ATAN:
	case IR_LOG1P: out->m = hashed(op, x, 0); break;
	default: return "this operator is not defined on floats";
	}
	return NULL;
}

Val modp_fma(Val a, Val b, Val c)
{
	return (Val){ .m = add(mul(a.m, b.m), c.m) };
}

Val modp_cast(DType to, DType from, Val a)
{
	Val r;
	int64_t v;
	if (!dtype_is_float(from))
		r.m = modp_of_int(a.i, from.kind == DT_UINT);
	else if (dtype_is_float(to))
		r = a;
	else if (small_int(a.m, &v))
		r.i = dtype_float_to_int(to, (double)v);
	else
		r.i = dtype_wrap(to, (int64_t)hashed(IR_CAST, a.m, 0));
	return r;
}
