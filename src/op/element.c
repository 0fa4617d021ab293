/*
 * Bytes to numbers and back, type by type.  Sub-byte integers are packed with the first element in the low bits.
 */
#include "op/element.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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
	bool is_signed = t.kind == DT_INT;
	if (t.bits < 8) {
		int64_t bit = i * t.bits;
		int v = ((const uint8_t *)data)[bit / 8] >> bit % 8 & ((1 << t.bits) - 1);
		return is_signed && v >> (t.bits - 1) != 0 ? v - (1 << t.bits) : v;
	}
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
	uint8_t *p = data;
	if (t.kind == DT_BOOL) {
		p[i] = v != 0;
	} else if (t.bits < 8) {
		int64_t bit = i * t.bits;
		unsigned mask = (1u << t.bits) - 1;
		p[bit / 8] = (uint8_t)((p[bit / 8] & ~(mask << bit % 8)) | ((unsigned)v & mask) << bit % 8);
	} else { /* little-endian hosts: the low bytes come first */
		memcpy(p + i * (t.bits / 8), &v, t.bits / 8u);
	}
}

double element_get(DType t, const void *data, int64_t i)
{
	if (t.kind == DT_BFLOAT || (t.kind == DT_FLOAT && t.bits == 16)) {
		uint16_t h;
		memcpy(&h, (const uint16_t *)data + i, 2);
		return dtype_half_value(t, h);
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
	double lo = is_signed ? -ldexp(1, t.bits - 1) : 0, end = ldexp(1, is_signed ? t.bits - 1 : t.bits);
	if (v < lo)
		v = lo;
	if (v >= end)
		return is_signed ? INT64_MAX >> (64 - t.bits) : (int64_t)(UINT64_MAX >> (64 - t.bits));
	return is_signed || v < 0x1p63 ? (int64_t)v : (int64_t)(uint64_t)v;
}

void element_set(DType t, void *data, int64_t i, double v)
{
	if (t.kind == DT_BFLOAT || (t.kind == DT_FLOAT && t.bits == 16)) {
		uint16_t h = dtype_half_bits(t, v);
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
