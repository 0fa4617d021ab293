/*
 * Exact arithmetic: every operation computed in double (or int64) and rounded (or wrapped) to its
 * type. That is the correctly rounded result for + - * / and sqrt of f32, f16 and bf16, since 53
 * bits are more than twice their digits; fma needs care, and the transcendental functions are those
 * of libm in double, rounded once.
 */
#include "interp/num.h"

#include <math.h>
#include <string.h>

static double round_fast(DType t, double v)
{
	if (t.kind == DT_FLOAT && t.bits == 32)
		return (double)(float)v;
	return t.bits == 64 ? v : dtype_round(t, v);
}

static const char *int_divide(Node op, DType t, int64_t a, int64_t b, int64_t *r)
{
	if (b == 0)
		return "this statement divides by zero";
	if (t.kind == DT_UINT) { /* only u64 can have its top bit set */
		*r = (int64_t)(op == IR_DIV || op == IR_TDIV ? (uint64_t)a / (uint64_t)b
							     : (uint64_t)a % (uint64_t)b);
		return NULL;
	}
	bool quotient = op == IR_DIV || op == IR_TDIV;
	if (b == -1) { /* the quotient of INT64_MIN wraps */
		*r = quotient ? (int64_t)(0 - (uint64_t)a) : 0;
		return NULL;
	}
	*r = quotient ? a / b : a % b;
	if ((op == IR_DIV || op == IR_MOD) && a % b != 0 && (a < 0) != (b < 0)) /* towards minus infinity */
		*r += quotient ? -1 : b;
	return NULL;
}

static const char *int_binary(Node op, DType t, int64_t a, int64_t b, int64_t *out)
{
	uint64_t flip = t.kind == DT_UINT ? (uint64_t)1 << 63 : 0; /* compares unsigned as signed */
	bool less = (int64_t)((uint64_t)a ^ flip) < (int64_t)((uint64_t)b ^ flip);
	const char *wrong = NULL;
	int64_t r = 0;
	switch (op) {
	case IR_EQ: *out = a == b; return NULL;
	case IR_NE: *out = a != b; return NULL;
	case IR_LT: *out = less; return NULL;
	case IR_LE: *out = less || a == b; return NULL;
	case IR_OR: r = a | b; break;
	case IR_XOR: r = a ^ b; break;
	case IR_AND: r = a & b; break;
	case IR_ADD: r = (int64_t)((uint64_t)a + (uint64_t)b); break;
	case IR_SUB: r = (int64_t)((uint64_t)a - (uint64_t)b); break;
	case IR_MUL: r = (int64_t)((uint64_t)a * (uint64_t)b); break;
	case IR_MIN: r = less ? a : b; break;
	case IR_MAX: r = less ? b : a; break;
	case IR_SHL:
	case IR_SHR:
		if (b < 0 || b >= t.bits)
			wrong = "shift by a count that its type has no bits for";
		else if (op == IR_SHL)
			r = (int64_t)((uint64_t)a << b);
		else
			r = t.kind == DT_UINT ? (int64_t)((uint64_t)a >> b) : a >> b;
		break;
	case IR_DIV:
	case IR_MOD:
	case IR_TDIV:
	case IR_TMOD: wrong = int_divide(op, t, a, b, &r); break;
	default: return "this operator is not defined on integers";
	}
	*out = dtype_wrap(t, r);
	return wrong;
}

/* NaN if one is NaN; +0 is greater than -0. */
static double float_max(double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (a == b)
		return signbit(a) ? b : a;
	return a > b ? a : b;
}

static const char *float_binary(Node op, DType t, double a, double b, Val *out)
{
	double r = 0;
	switch (op) {
	case IR_EQ: out->i = a == b; return NULL;
	case IR_NE: out->i = a != b; return NULL;
	case IR_LT: out->i = a < b; return NULL;
	case IR_LE: out->i = a <= b; return NULL;
	case IR_ADD: r = a + b; break;
	case IR_SUB: r = a - b; break;
	case IR_MUL: r = a * b; break;
	case IR_DIV: r = a / b; break;
	case IR_TMOD: r = fmod(a, b); break;
	case IR_MIN: r = -float_max(-a, -b); break;
	case IR_MAX: r = float_max(a, b); break;
	case IR_POW: r = pow(a, b); break;
	default: return "this operator is not defined on floats";
	}
	out->f = round_fast(t, r);
	return NULL;
}

const char *num_binary(Node op, DType t, Val a, Val b, Val *out)
{
	if (dtype_is_float(t))
		return float_binary(op, t, a.f, b.f, out);
	return int_binary(op, t, a.i, b.i, &out->i);
}

static const char *float_unary(Node op, DType t, double a, Val *out)
{
	double r = 0;
	switch (op) {
	case IR_ISNAN: out->i = isnan(a); return NULL;
	case IR_NEG: r = -a; break;
	case IR_ABS: r = fabs(a); break;
	case IR_EXP: r = exp(a); break;
	case IR_LOG: r = log(a); break;
	case IR_SQRT: r = sqrt(a); break;
	case IR_TANH: r = tanh(a); break;
	case IR_ERF: r = erf(a); break;
	case IR_SIGMOID: r = 1 / (1 + exp(-a)); break;
	case IR_SIN: r = sin(a); break;
	case IR_COS: r = cos(a); break;
	case IR_ATAN: r = atan(a); break;
	case IR_EXPM1: r = expm1(a); break;
	case IR_LOG1P: r = log1p(a); break;
	case IR_FLOOR: r = floor(a); break;
	case IR_CEIL: r = ceil(a); break;
	case IR_ROUND: r = rint(a); break;
	case IR_TRUNC: r = trunc(a); break;
	default: return "this operator is not defined on floats";
	}
	out->f = round_fast(t, r);
	return NULL;
}

const char *num_unary(Node op, DType t, Val a, Val *out)
{
	if (dtype_is_float(t))
		return float_unary(op, t, a.f, out);
	int64_t v = a.i;
	bool negative = t.kind == DT_INT && v < 0;
	switch (op) {
	case IR_NEG: v = (int64_t)(0 - (uint64_t)v); break;
	case IR_ABS: v = negative ? (int64_t)(0 - (uint64_t)v) : v; break;
	case IR_NOT: v = t.kind == DT_BOOL ? !v : ~v; break;
	default: return "this operator is not defined on integers";
	}
	out->i = dtype_wrap(t, v);
	return NULL;
}

/*
 * a * b + c of f16 or bf16 values: the product is exact in double, the sum may not be. Rounding it
 * to odd (the last bit set if anything was lost) makes the second rounding the only one.
 */
static double fma_odd(double a, double b, double c)
{
	double p = a * b, s = p + c;
	if (!isfinite(s))
		return s;
	double back = s - p;
	double lost = (p - (s - back)) + (c - back);
	uint64_t bits;
	memcpy(&bits, &s, sizeof bits);
	if (lost != 0 && (bits & 1) == 0)
		s = nextafter(s, lost > 0 ? INFINITY : -INFINITY);
	return s;
}

Val num_fma(DType t, Val a, Val b, Val c)
{
	Val r;
	if (t.bits == 64)
		r.f = fma(a.f, b.f, c.f);
	else if (t.bits == 32)
		r.f = (double)fmaf((float)a.f, (float)b.f, (float)c.f);
	else
		r.f = dtype_round(t, fma_odd(a.f, b.f, c.f));
	return r;
}

Val num_cast(DType to, DType from, Val a)
{
	Val r;
	bool real = dtype_is_float(from);
	if (dtype_is_float(to))
		r.f = real ? dtype_round(to, a.f) : dtype_int_to_float(to, from, a.i);
	else
		r.i = real ? dtype_float_to_int(to, a.f) : dtype_wrap(to, a.i);
	return r;
}

static uint64_t float_bits(DType t, double v)
{
	if (t.bits == 64) {
		uint64_t b;
		memcpy(&b, &v, sizeof b);
		return b;
	}
	if (t.bits == 16)
		return dtype_half_bits(t, v);
	float f = (float)v;
	uint32_t b;
	memcpy(&b, &f, sizeof b);
	return b;
}

static double float_value(DType t, uint64_t bits)
{
	if (t.bits == 64) {
		double d;
		memcpy(&d, &bits, sizeof d);
		return d;
	}
	if (t.bits == 16)
		return dtype_half_value(t, (uint16_t)bits);
	uint32_t b = (uint32_t)bits;
	float f;
	memcpy(&f, &b, sizeof f);
	return (double)f;
}

/* Every NaN has the bits of the language's one, which is positive and quiet, with no payload. */
static uint64_t one_nan(DType t)
{
	uint64_t infinity = float_bits(t, INFINITY);
	int digits = t.kind == DT_BFLOAT ? 7 : t.bits == 16 ? 10 : t.bits == 32 ? 23 : 52;
	return infinity | (uint64_t)1 << (digits - 1);
}

Val num_bitcast(DType to, DType from, Val a)
{
	uint64_t bits = !dtype_is_float(from) ? (uint64_t)a.i
	                : isnan(a.f)          ? one_nan(from)
	                                      : float_bits(from, a.f);
	Val r;
	if (dtype_is_float(to))
		r.f = float_value(to, bits);
	else
		r.i = dtype_wrap(to, (int64_t)bits);
	return r;
}

Val num_load(DType t, const unsigned char *data, int64_t at)
{
	uint16_t h;
	uint32_t w;
	uint64_t bits;
	Val r;
	switch (t.bits) {
	case 8: bits = data[at]; break;
	case 16: memcpy(&h, data + 2 * at, 2); bits = h; break;
	case 32: memcpy(&w, data + 4 * at, 4); bits = w; break;
	case 64: memcpy(&bits, data + 8 * at, 8); break;
	default: bits = data[at * t.bits / 8] >> at * t.bits % 8 & ((1 << t.bits) - 1); break;
	}
	if (dtype_is_float(t))
		r.f = float_value(t, bits);
	else
		r.i = dtype_wrap(t, (int64_t)bits);
	return r;
}

void num_store(DType t, unsigned char *data, int64_t at, Val v)
{
	uint64_t bits = dtype_is_float(t) ? float_bits(t, v.f) : (uint64_t)v.i;
	uint16_t h = (uint16_t)bits;
	uint32_t w = (uint32_t)bits;
	switch (t.bits) {
	case 8: data[at] = (unsigned char)bits; return;
	case 16: memcpy(data + 2 * at, &h, 2); return;
	case 32: memcpy(data + 4 * at, &w, 4); return;
	case 64: memcpy(data + 8 * at, &bits, 8); return;
	default: {
		unsigned shift = (unsigned)(at * t.bits % 8), mask = ((1u << t.bits) - 1) << shift;
		unsigned char *p = data + at * t.bits / 8;
		*p = (unsigned char)((*p & ~mask) | ((unsigned)bits << shift & mask));
	}
	}
}
