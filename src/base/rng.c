/* See rng.h.  The integer stream is part of what users see: zoo weights come from it. */
#include "base/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

Rng rng_seed(uint64_t seed)
{
	Rng r;
	for (int i = 0; i < 4; i++)
		r.s[i] = splitmix(&seed);
	return r;
}

Rng rng_fork(const Rng *r, const char *tag)
{
	uint64_t h = r->s[0] ^ (r->s[1] << 1) ^ (r->s[2] << 2) ^ (r->s[3] << 3);
	for (; *tag != 0; tag++)
		h = (h ^ (unsigned char)*tag) * 0x100000001b3u;
	return rng_seed(h);
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(Rng *r)
{
	uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return out;
}

uint64_t rng_below(Rng *r, uint64_t n)
{
	uint64_t reject = -n % n, v; /* 2^64 mod n: the values that would favour small results */
	do
		v = rng_next(r);
	while (v < reject);
	return v % n;
}

int64_t rng_range(Rng *r, int64_t lo, int64_t hi)
{
	uint64_t span = (uint64_t)hi - (uint64_t)lo + 1;
	return (int64_t)((uint64_t)lo + (span != 0 ? rng_below(r, span) : rng_next(r)));
}

double rng_real(Rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

double rng_normal(Rng *r)
{
	double u = 1 - rng_real(r), v = rng_real(r);
	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
