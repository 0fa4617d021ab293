/* See element.h.  Tensors may lie unaligned in files and messages: elements go through memcpy. */
#include "runtime/element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/half.h"
#include "runtime/tensor.h"

bool element_known(DlcDataType t)
{
	bool whole = t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
	switch (t.code) {
	case TYPE_INT:
	case TYPE_UINT: return (whole || t.bits == 2 || t.bits == 4) && t.lanes == 1;
	case TYPE_FLOAT: return whole && t.bits >= 16 && t.lanes == 1;
	case TYPE_BFLOAT: return t.bits == 16 && t.lanes == 1;
	case TYPE_BOOL: return t.bits == 8 && t.lanes == 1;
	default: return false;
	}
}

/* Bytes before element i. */
static int64_t byte_of(DlcDataType t, int64_t i)
{
	return t.bits < 8 ? i / (8 / t.bits) : i * (t.bits / 8);
}

/* The bits of element i; those of a signed integer are extended by its sign. */
static uint64_t bits_of(DlcDataType t, const void *data, int64_t i)
{
	uint64_t v = 0; /* little-endian, as everything dlc writes */
	memcpy(&v, (const unsigned char *)data + byte_of(t, i), t.bits < 8 ? 1 : t.bits / 8);
	if (t.bits < 8)
		v = v >> i % (8 / t.bits) * t.bits & ((1u << t.bits) - 1);
	return t.code == TYPE_INT ? (uint64_t)((int64_t)(v << (64 - t.bits)) >> (64 - t.bits)) : v;
}

double element_value(DlcDataType t, const void *data, int64_t i)
{
	uint64_t v = bits_of(t, data, i);
	if (t.code == TYPE_INT)
		return (double)(int64_t)v;
	if (t.code == TYPE_UINT)
		return (double)v;
	if (t.code == TYPE_BOOL)
		return v != 0;
	if (t.code == TYPE_BFLOAT)
		return half_to_double(HALF_BF16, (uint16_t)v);
	if (t.bits == 16)
		return half_to_double(HALF_F16, (uint16_t)v);
	float f;
	double d;
	memcpy(&f, &v, sizeof f);
	memcpy(&d, &v, sizeof d);
	return t.bits == 32 ? (double)f : d;
}

double element_distance(DlcDataType t, const void *got, int64_t i, const void *want, int64_t k)
{
	if (t.code != TYPE_INT && t.code != TYPE_UINT)
		return fabs(element_value(t, got, i) - element_value(t, want, k));
	uint64_t a = bits_of(t, got, i), b = bits_of(t, want, k);
	bool less = t.code == TYPE_INT ? (int64_t)a < (int64_t)b : a < b;
	return (double)(less ? b - a : a - b);
}

const char *element_print(DlcDataType t, const void *data, int64_t i, char out[ELEMENT_TEXT])
{
	if (t.code == TYPE_INT)
		snprintf(out, ELEMENT_TEXT, "%lld", (long long)bits_of(t, data, i));
	else if (t.code == TYPE_UINT)
		snprintf(out, ELEMENT_TEXT, "%llu", (unsigned long long)bits_of(t, data, i));
	else
		snprintf(out, ELEMENT_TEXT, "%.9g", element_value(t, data, i));
	return out;
}

void element_store(DlcDataType t, void *data, int64_t i, double value)
{
	uint64_t v = 0;
	float f = (float)value;
	if (t.code == TYPE_INT)
		v = (uint64_t)(int64_t)value;
	else if (t.code == TYPE_UINT)
		v = (uint64_t)value;
	else if (t.code == TYPE_BOOL)
		v = value != 0;
	else if (t.code == TYPE_BFLOAT)
		v = half_from_double(HALF_BF16, value);
	else if (t.bits == 16)
		v = half_from_double(HALF_F16, value);
	else if (t.bits == 32)
		memcpy(&v, &f, sizeof f);
	else
		memcpy(&v, &value, sizeof value);
	unsigned char *to = (unsigned char *)data + byte_of(t, i);
	if (t.bits < 8) {
		int shift = (int)(i % (8 / t.bits)) * t.bits;
		unsigned mask = ((1u << t.bits) - 1) << shift;
		*to = (unsigned char)((*to & ~mask) | ((unsigned)v << shift & mask));
	} else {
		memcpy(to, &v, t.bits / 8);
	}
}

/* splitmix64's output function on the i-th state: a generator that can start anywhere. */
static uint64_t draw(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void element_fill(DlcDataType t, void *data, int64_t n, uint64_t seed, double lo, double hi)
{
	bool whole = !type_is_real(t);
	double span = whole ? floor(hi) - ceil(lo) + 1 : hi - lo;
	seed = draw(seed, 0); /* neighbouring seeds must not give shifted copies */
	for (int64_t i = 0; i < n && t.code == TYPE_FLOAT && t.bits == 32; i++) { /* nearly always: at once */
		float f = (float)(lo + (double)(draw(seed, (uint64_t)i) >> 11) * 0x1p-53 * span);
		memcpy((unsigned char *)data + i * 4, &f, sizeof f);
	}
	if (t.code == TYPE_FLOAT && t.bits == 32)
		return;
	for (int64_t i = 0; i < n; i++) {
		double u = (double)(draw(seed, (uint64_t)i) >> 11) * 0x1p-53;
		element_store(t, data, i, whole ? ceil(lo) + floor(u * span) : lo + u * span);
	}
}

Compared element_compare(
	DlcDataType t, const void *got, const void *want, int64_t n, double rtol, double atol)
{
	Compared c = { 0 };
	for (int64_t i = 0; i < n; i++) {
		double a = element_value(t, got, i), b = element_value(t, want, i);
		if (!isfinite(a) || !isfinite(b)) {
			bool same = (isnan(a) && isnan(b)) || a == b;
			c.nbad += !same;
			c.nout += !same;
			continue;
		}
		double error = element_distance(t, got, i, want, i);
		if (error > c.max_error) {
			c.max_error = error;
			c.worst = i;
		}
		if (fabs(b) > c.max_want)
			c.max_want = fabs(b);
		c.nout += error > atol + rtol * fabs(b);
	}
	return c;
}
