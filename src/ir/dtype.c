/*
 * Element types as text and as arithmetic: what a value becomes when an element of the type holds
 * it. Narrow floats are computed in double and rounded here, which is exact for one operation,
 * since 53 bits are more than twice the digits of f32, bf16 and f16.
 */
#include "ir/dtype.h"

#include "runtime/half.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Kind {
	const char *name; /* before the bits; bool has none of them */
	DTypeKind kind;
	uint8_t bits[7]; /* ended by 0 */
} Kind;

static const Kind kinds[] = {
	{ "i", DT_INT, { 2, 4, 8, 16, 32, 64 } },
	{ "u", DT_UINT, { 2, 4, 8, 16, 32, 64 } },
	{ "f", DT_FLOAT, { 16, 32, 64 } },
	{ "bf", DT_BFLOAT, { 16 } },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

bool dtype_known(DType t)
{
	if (t.lanes < 1 || t.lanes > DTYPE_LANES)
		return false;
	if (t.kind == DT_BOOL)
		return t.bits == 8;
	for (int i = 0; i < KINDS; i++)
		for (int k = 0; kinds[i].kind == (DTypeKind)t.kind && kinds[i].bits[k] != 0; k++)
			if (kinds[i].bits[k] == t.bits)
				return true;
	return false;
}

const char *dtype_print(DType t, char out[DTYPE_TEXT])
{
	char scalar[DTYPE_TEXT] = "bool";
	for (int i = 0; i < KINDS; i++)
		if (kinds[i].kind == (DTypeKind)t.kind)
			snprintf(scalar, sizeof scalar, "%s%d", kinds[i].name, t.bits);
	if (t.lanes == 1)
		snprintf(out, DTYPE_TEXT, "%.7s", scalar);
	else
		snprintf(out, DTYPE_TEXT, "%.7sx%d", scalar, t.lanes);
	return out;
}

/* A decimal number without leading zeros, at most four digits; -1 if there is none. */
static int read_number(const char **s, const char *end)
{
	int v = 0, digits = 0;
	if (*s == end || **s < '1' || **s > '9')
		return -1;
	for (; *s < end && **s >= '0' && **s <= '9'; (*s)++, digits++)
		if (digits < 4)
			v = v * 10 + (**s - '0');
	return digits <= 4 ? v : -1;
}

bool dtype_parse(const char *s, size_t n, DType *out)
{
	const char *end = s + n;
	DType t = { DT_BOOL, 8, 1 };
	if (n >= 4 && memcmp(s, "bool", 4) == 0) {
		s += 4;
	} else {
		const Kind *k = NULL;
		for (int i = 0; i < KINDS; i++) {
			size_t len = strlen(kinds[i].name);
			if (n > len && memcmp(s, kinds[i].name, len) == 0)
				k = &kinds[i];
		}
		if (k == NULL)
			return false;
		s += strlen(k->name);
		int bits = read_number(&s, end);
		if (bits < 0 || bits > 64)
			return false;
		t.kind = (uint8_t)k->kind;
		t.bits = (uint8_t)bits;
	}
	if (s < end) {
		if (*s++ != 'x')
			return false;
		int lanes = read_number(&s, end);
		if (lanes < 2 || lanes > DTYPE_LANES)
			return false;
		t.lanes = (uint16_t)lanes;
	}
	if (s != end || !dtype_known(t))
		return false;
	*out = t;
	return true;
}

static int fraction_of(DType t)
{
	return t.kind == DT_BFLOAT ? HALF_BF16 : HALF_F16;
}

uint16_t dtype_half_bits(DType t, double v)
{
	return half_from_double(fraction_of(t), v);
}

double dtype_half_value(DType t, uint16_t bits)
{
	return half_to_double(fraction_of(t), bits);
}

double dtype_round(DType t, double v)
{
	if (isnan(v))
		return NAN;
	if (t.bits == 64)
		return v;
	return t.bits == 16 ? dtype_half_value(t, dtype_half_bits(t, v)) : (double)(float)v;
}

int64_t dtype_wrap(DType t, int64_t v)
{
	if (t.kind == DT_BOOL)
		return v != 0;
	if (t.bits == 64)
		return v;
	uint64_t mask = ((uint64_t)1 << t.bits) - 1;
	uint64_t low = (uint64_t)v & mask;
	if (t.kind == DT_INT && (low >> (t.bits - 1)) != 0)
		low |= ~mask;
	return (int64_t)low;
}

int64_t dtype_float_to_int(DType t, double v)
{
	if (t.kind == DT_BOOL)
		return v != 0;
	if (isnan(v))
		return 0;
	bool sign = t.kind == DT_INT;
	double end = ldexp(1.0, sign ? t.bits - 1 : t.bits); /* the least value above the type's */
	uint64_t max = UINT64_MAX >> (64 - t.bits + sign);
	if (v >= end)
		return (int64_t)max;
	if (v <= (sign ? -end : 0.0))
		return sign ? -(int64_t)max - 1 : 0;
	return v < 0 ? (int64_t)v : (int64_t)(uint64_t)v;
}

double dtype_int_to_float(DType t, DType from, int64_t v)
{
	bool negative = from.kind == DT_INT && v < 0;
	uint64_t m = negative ? -(uint64_t)v : (uint64_t)v;
	/* Round to odd at 53 digits, so that the one rounding below is the only one. */
	if (t.bits < 64 && m >> 53 != 0)
		m = (m & ~(uint64_t)0x7ff) | ((m & 0x7ff) != 0 ? 0x800 : 0);
	double r = dtype_round(t, (double)m);
	return negative ? -r : r;
}

int64_t dtype_bytes(DType t, int64_t n)
{
	int64_t bits;
	if (n < 0 || __builtin_mul_overflow(n, (int64_t)t.bits * t.lanes, &bits))
		return -1;
	return bits / 8 + (bits % 8 != 0);
}
