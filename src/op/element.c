/*
 * Bytes to numbers and back, type by type.  Half and bfloat go through the float with the same
 * leading bits; sub-byte integers are packed with the first element in the low bits.
 */
#include "op/element.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static double half_to_double(uint16_t h)
{
	int exponent = h >> 10 & 31, fraction = h & 1023;
	double v = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
	           : exponent == 0 ? ldexp(fraction, -24)
	                           : ldexp(fraction + 1024, exponent - 25);
	return (h & 0x8000) != 0 ? -v : v;
}

/* Rounds straight from double: through float would round twice. */
static uint16_t half_from_double(double v)
{
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	v = fabs(v);
	if (isnan(v))
		return sign | 0x7e00;
	if (v >= 65520)
		return sign | 0x7c00;
	if (v < ldexp(1, -14))
		return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(v, 24)));
	int e;
	frexp(v, &e); /* v = m * 2^e, 0.5 <= m < 1 */
	/* A fraction that rounds up to 2048 carries into the exponent, as it should. */
	uint16_t fraction = (uint16_t)nearbyint(ldexp(v, 11 - e));
	return (uint16_t)(sign + (uint16_t)((e + 13) << 10) + fraction);
}

static double bfloat_to_double(uint16_t h)
{
	uint32_t bits = (uint32_t)h << 16;
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

static uint16_t bfloat_from_double(double v)
{
	if (isnan(v))
		return 0x7fc0;
	/* Round to odd first, so that the second rounding sees what the first one dropped. */
	float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, 4);
	if ((double)f != v && isfinite(f)) {
		if (fabs((double)f) > fabs(v))
			bits--;
		bits |= 1;
	}
	bits += 0x7fff + (bits >> 16 & 1);
	return (uint16_t)(bits >> 16);
}

static int64_t get_packed(DType t, const uint8_t *p, int64_t i)
{
	int64_t bit = i * t.bits;
	int v = p[bit / 8] >> bit % 8 & ((1 << t.bits) - 1);
	return t.kind == DT_INT && v >> (t.bits - 1) != 0 ? v - (1 << t.bits) : v;
}

static void set_packed(DType t, uint8_t *p, int64_t i, int64_t v)
{
	int64_t bit = i * t.bits;
	unsigned mask = (1u << t.bits) - 1;
	p[bit / 8] = (uint8_t)((p[bit / 8] & ~(mask << bit % 8)) | ((unsigned)v & mask) << bit % 8);
}

#define GET(T) \
	do { \
		T x; \
		memcpy(&x, (const T *)data + i, sizeof x); \
		return (int64_t)x; \
	} while (0)

int64_t element_get_int(DType t, const void *data, int64_t i)
{
	assert(t.lanes == 1);
	if (t.kind == DT_BOOL)
		return ((const uint8_t *)data)[i] != 0;
	assert(dtype_is_int(t));
	if (t.bits < 8)
		return get_packed(t, data, i);
	bool is_signed = t.kind == DT_INT;
	switch (t.bits) {
	case 8:
		if (is_signed)
			GET(int8_t);
		GET(uint8_t);
	case 16:
		if (is_signed)
			GET(int16_t);
		GET(uint16_t);
	case 32:
		if (is_signed)
			GET(int32_t);
		GET(uint32_t);
	default: GET(int64_t);
	}
}

void element_set_int(DType t, void *data, int64_t i, int64_t v)
{
	assert(t.lanes == 1);
	if (t.kind == DT_BOOL)
		((uint8_t *)data)[i] = v != 0;
	else if (t.bits < 8)
		set_packed(t, data, i, v);
	else /* little-endian hosts: the low bytes come first */
		memcpy((uint8_t *)data + i * (t.bits / 8), &v, t.bits / 8u);
}

double element_get(DType t, const void *data, int64_t i)
{
	if (t.kind == DT_BFLOAT || (t.kind == DT_FLOAT && t.bits == 16)) {
		uint16_t h;
		memcpy(&h, (const uint16_t *)data + i, 2);
		return t.kind == DT_BFLOAT ? bfloat_to_double(h) : half_to_double(h);
	}
	if (t.kind == DT_FLOAT && t.bits == 32) {
		float f;
		memcpy(&f, (const float *)data + i, 4);
		return f;
	}
	if (t.kind == DT_FLOAT) {
		double f;
		memcpy(&f, (const double *)data + i, 8);
		return f;
	}
	int64_t v = element_get_int(t, data, i);
	return t.kind == DT_UINT && t.bits == 64 ? (double)(uint64_t)v : (double)v;
}

static int64_t saturate(DType t, double v)
{
	if (isnan(v))
		return 0;
	v = trunc(v);
	bool is_signed = t.kind == DT_INT;
	double lo = is_signed ? -ldexp(1, t.bits - 1) : 0,
	       end = ldexp(1, is_signed ? t.bits - 1 : t.bits);
	if (v < lo)
		v = lo;
	if (v >= end)
		return is_signed ? INT64_MAX >> (64 - t.bits)
		                 : (int64_t)(UINT64_MAX >> (64 - t.bits));
	return is_signed || v < 0x1p63 ? (int64_t)v : (int64_t)(uint64_t)v;
}

void element_set(DType t, void *data, int64_t i, double v)
{
	if (t.kind == DT_BFLOAT || (t.kind == DT_FLOAT && t.bits == 16)) {
		uint16_t h = t.kind == DT_BFLOAT ? bfloat_from_double(v) : half_from_double(v);
		memcpy((uint16_t *)data + i, &h, 2);
	} else if (t.kind == DT_FLOAT && t.bits == 32) {
		float f = (float)v;
		memcpy((float *)data + i, &f, 4);
	} else if (t.kind == DT_FLOAT) {
		memcpy((double *)data + i, &v, 8);
	} else {
		element_set_int(t, data, i, t.kind == DT_BOOL ? v != 0 : saturate(t, v));
	}
}
