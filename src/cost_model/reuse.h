/*
 * Inside the room: the bytes that the blocks of a launch move between the levels of memory. Along a loop, an address
 * moves in runs: that of a fused loop a few steps in one dimension, then one in the next.
 */
#ifndef COST_MODEL_REUSE_H
#define COST_MODEL_REUSE_H

#include "cost_model/warp.h"

enum { RUNS = 3 };

/* What the threads of a launch read or write of one buffer in global memory. */
typedef struct Flow {
	struct {
		int n;
		Run run[RUNS]; /* strides with their sign */
	} along[NEST_LOOPS];
	int64_t elements; /* of the buffer */
	int bytes;        /* of one element */
} Flow;

/* The runs along each loop of the nest; false: the address is not known. */
bool reuse_flow(CostNest *n, const Access *a, const Buf *b, Flow *out);
/* Bytes that come from beyond each cache level for all blocks of the launch; out[TARGET_CACHES]. */
void reuse_traffic(const Walk *w, const Flow *flow, int count, double out[TARGET_CACHES]);

#endif
