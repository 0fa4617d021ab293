/*
 * What the told times of one search say of the configs around them: a Gaussian process over knobs, on top of the cost
 * model's estimate. Configs that share options share their error.
 */
#ifndef TUNER_SURROGATE_H
#define TUNER_SURROGATE_H

#include "tuner/pool.h"

typedef struct Surrogate Surrogate;

/* Of the told points, in the arena; NULL: fewer than TUNE_LEARN have a time. Cost: the cube of TUNE_LEARNED. */
Surrogate *surrogate_new(Arena *a, const Pool *p);
/* The natural logarithm of the time of point i that is expected, and its standard deviation (NULL: not asked). */
double surrogate_value(const Surrogate *s, const Pool *p, uint32_t i, double *deviation);
/* The part of the best time that point i is expected to save: what it may gain, weighted by how likely that is. */
double surrogate_gain(const Surrogate *s, const Pool *p, uint32_t i, double best_ns);
/*
 * The part of the best time, from 0 to 1, that the open points save at most: each may be TUNE_CERTAIN deviations
 * faster than expected. So it is certain of each of them, not of all together; but their errors are much the same.
 */
double surrogate_left(const Surrogate *s, const Pool *p, const uint32_t *point, size_t n, double best_ns);

#endif
