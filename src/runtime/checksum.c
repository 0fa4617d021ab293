/*
 * XXH64 with seed 0, after Yann Collet's specification (xxhash.com, BSD licence): four independent
 * multiply-rotate lanes, so that checking a bundle's code costs less than reading it.
 */
#include "runtime/bundle.h"

#include <string.h>

#define P1 0x9e3779b185ebca87u
#define P2 0xc2b2ae3d27d4eb4fu
#define P3 0x165667b19e3779f9u
#define P4 0x85ebca77c2b2ae63u
#define P5 0x27d4eb2f165667c5u

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint64_t read64(const unsigned char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static uint64_t mix(uint64_t lane, uint64_t v)
{
	return rotl(lane + v * P2, 31) * P1;
}

static uint64_t fold(uint64_t h, uint64_t lane)
{
	return (h ^ mix(0, lane)) * P1 + P4;
}

uint64_t bundle_sum(const void *bytes, size_t n)
{
	const unsigned char *p = bytes, *end = p + n;
	uint64_t h = P5;
	if (n >= 32) {
		uint64_t a = P1 + P2, b = P2, c = 0, d = -P1;
		for (; end - p >= 32; p += 32) {
			a = mix(a, read64(p));
			b = mix(b, read64(p + 8));
			c = mix(c, read64(p + 16));
			d = mix(d, read64(p + 24));
		}
		h = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18);
		h = fold(fold(fold(fold(h, a), b), c), d);
	}
	h += n;
	for (; end - p >= 8; p += 8)
		h = rotl(h ^ mix(0, read64(p)), 27) * P1 + P4;
	if (end - p >= 4) {
		uint32_t v;
		memcpy(&v, p, sizeof v);
		h = rotl(h ^ v * P1, 23) * P2 + P3;
		p += 4;
	}
	for (; p < end; p++)
		h = rotl(h ^ *p * P5, 11) * P1;
	h = (h ^ (h >> 33)) * P2;
	h = (h ^ (h >> 29)) * P3;
	return h ^ (h >> 32);
}
