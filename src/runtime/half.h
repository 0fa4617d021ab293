/*
 * f16 and bf16 as bits, and back: the one conversion of everything that is not generated code.  A double is rounded
 * once, to the nearest, ties to even, subnormals included; what is too large becomes infinity.  Every NaN becomes
 * the one of the language: quiet, positive, without payload.  (By way of f32 a double would be rounded twice:
 * 1 + 2^-8 + 2^-40 would become the tie 1 + 2^-8, and then 1.)
 */
#ifndef RUNTIME_HALF_H
#define RUNTIME_HALF_H

#include <stdint.h>
#include <string.h>

/* Bits of the fraction; behind it are those of the exponent, and the sign. */
enum { HALF_F16 = 10, HALF_BF16 = 7 };

static inline uint16_t half_from_double(int fraction, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	uint16_t sign = (uint16_t)(bits >> 63 << 15), infinity = (uint16_t)(0x7fff >> fraction << fraction);
	int bias = (1 << (14 - fraction)) - 1, least = 1 - bias, e = (int)(bits >> 52 & 2047) - 1023;
	if (v != v)
		return (uint16_t)(infinity | 1 << (fraction - 1));
	if (e > bias)
		return sign | infinity;
	int drop = 52 - fraction + (e < least ? least - e : 0);
	if (drop > 53)
		return sign; /* less than half of the least number */
	uint64_t digits = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52, middle = (uint64_t)1 << (drop - 1);
	uint64_t kept = digits >> drop, rest = digits & (2 * middle - 1);
	kept += rest > middle || (rest == middle && (kept & 1) != 0);
	/* The leading 1 of `kept` counts as one of the exponent, as does a carry; subnormals have neither. */
	if (e >= least)
		kept += (uint64_t)(e + bias - 1) << fraction;
	return sign | (uint16_t)kept;
}

static inline double half_to_double(int fraction, uint16_t half)
{
	const double unit = fraction == HALF_F16 ? 0x1p-24 : 0x1p-133; /* of the subnormals */
	int bias = (1 << (14 - fraction)) - 1, e = (half & 0x7fff) >> fraction, last = 0x7fff >> fraction;
	uint64_t digits = half & ((1u << fraction) - 1), exponent = e == last ? 2047 : (uint64_t)(e - bias + 1023);
	if (e == 0)
		return (half >> 15 != 0 ? -unit : unit) * (double)digits;
	uint64_t bits = (uint64_t)(half >> 15) << 63 | exponent << 52 | digits << (52 - fraction);
	if (e == last && digits != 0)
		bits = (uint64_t)0x7ff8 << 48;
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

#endif
