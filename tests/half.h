/*
 * What f16 and bf16 are rounded to, by exact arithmetic: for each number of the type itself, the middle
 * between it and the next, and what lies beside this middle on either side; with both signs, and then
 * infinities, NaNs and extremes.
 */
#ifndef TESTS_HALF_H
#define TESTS_HALF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const double half_extremes[] = { 5e-324, 0x1p-1022, 0x1p-150, 1e30, 0x1.fffffep127, 0x1p128,
	0x1.fffffffffffffp1023, HUGE_VAL };

enum { HALF_EACH = 8, HALF_EXTREMES = 2 * (int)(sizeof half_extremes / sizeof *half_extremes), HALF_NANS = 4 };

/* `fraction`: 10 bits of an f16, 7 of a bf16. */
static inline int half_infinity(int fraction)
{
	return 0x7fff >> fraction << fraction;
}

static inline bool half_is_quiet_nan(int fraction, uint16_t h)
{
	return (h & half_infinity(fraction)) == half_infinity(fraction) && (h >> (fraction - 1) & 1) != 0;
}

static inline double half_number(int fraction, int code)
{
	int e = code >> fraction, least = 2 - (1 << (14 - fraction)), digits = code & ((1 << fraction) - 1);
	return e == 0 ? ldexp(digits, least - fraction) : ldexp(digits + (1 << fraction), least + e - 1 - fraction);
}

static inline int half_cases(int fraction)
{
	return half_infinity(fraction) * HALF_EACH + HALF_EXTREMES + HALF_NANS;
}

/* Case k: *v, an f32 where `single`, and the bits it becomes; of a NaN, those of the one that dlc makes. */
static inline uint16_t half_case(int fraction, int k, bool single, double *v)
{
	static const uint64_t nan[HALF_NANS] = { 0x7ff8000000000000, 0xfff8000000000000, 0x7ffc123460000000,
		0xfff0000020000000 };
	int infinity = half_infinity(fraction), code = k / HALF_EACH, want = code, extreme = k - infinity * HALF_EACH;
	uint16_t sign = k % 2 != 0 ? 0x8000 : 0;
	if (extreme >= HALF_EXTREMES) {
		memcpy(v, &nan[extreme - HALF_EXTREMES], sizeof *v);
		return (uint16_t)(infinity | 1 << (fraction - 1));
	}
	if (extreme >= 0) {
		double x = half_extremes[extreme / 2];
		*v = single ? (double)(float)x : x;
		want = x < 1 ? 0 : x < 1e30 || fraction == 10 ? infinity : x == 1e30 ? 0x714a : infinity;
	} else {
		double low = half_number(fraction, code), middle = (low + half_number(fraction, code + 1)) / 2;
		switch (k % HALF_EACH / 2) {
		case 0: *v = low; break;
		case 1: *v = middle; want += code % 2; break;
		case 2: *v = single ? (double)nextafterf((float)middle, 0) : nextafter(middle, 0); break;
		default: *v = single ? (double)nextafterf((float)middle, HUGE_VALF) : nextafter(middle, HUGE_VAL); want++;
		}
	}
	*v = sign != 0 ? -*v : *v;
	return sign | (uint16_t)want;
}

#endif
