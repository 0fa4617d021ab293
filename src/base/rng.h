/*
 * Random numbers: xoshiro256** (Blackman and Vigna, public domain), seeded through splitmix64.
 * Every function that draws takes an Rng as an argument; its maker logs the seed.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

typedef struct Rng {
	uint64_t s[4];
} Rng;

Rng rng_seed(uint64_t seed);
/* An independent stream named by `tag`; the parent does not advance. */
Rng rng_fork(const Rng *r, const char *tag);
uint64_t rng_next(Rng *r);
/* Uniform in [0, n), n > 0, without bias. */
uint64_t rng_below(Rng *r, uint64_t n);
/* Uniform in [lo, hi]. */
int64_t rng_range(Rng *r, int64_t lo, int64_t hi);
/* Uniform in [0, 1), 53 bits. */
double rng_real(Rng *r);
/* Standard normal (Box-Muller, one value per call). */
double rng_normal(Rng *r);

#endif
