/*
 * Resizing along one axis: each element of the result is a sum of elements of the input, its taps, with weights that
 * are known while importing. Front ends write the taps as their formats define them.
 */
#ifndef FRONTEND_NODE_TAPS_H
#define FRONTEND_NODE_TAPS_H

#include "frontend/node/visit.h"

/* Result i < out is the sum over k < n of weight[i * n + k] * x[index[i * n + k]]. */
typedef struct Taps {
	int n;
	int64_t out;
	int64_t *index;
	double *weight;
} Taps;

/* Room for `out` results of n taps each, all 0; false: there would be too many, which is refused. */
bool node_taps(Visit *v, int axis, int64_t out, int64_t n, Taps *t);
/* One call: a gather where each result is one element of the input, repetition where that is regular, or resample. */
int node_resize_axis(Visit *v, int x, int axis, Taps *t);

#endif
