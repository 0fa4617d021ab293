/*
 * Inside the room: the bytes that a statement moves between the levels of memory, from the strides of its accesses
 * along the loops around it.
 */
#ifndef COST_MODEL_TRAFFIC_H
#define COST_MODEL_TRAFFIC_H

#include "cost_model/address.h"
#include "target/target.h"

enum { ACCESSES = 16 };

/* What a statement reads or writes of one buffer. */
typedef struct Stream {
	int64_t stride[NEST_LOOPS]; /* elements, along each loop */
	int64_t elements;           /* of the buffer */
	int bytes;                  /* of one element */
	bool writes;
} Stream;

/* Bytes that come from beyond each cache level; out[TARGET_CACHES]. */
void traffic_of(const CostNest *n, const Stream *m, int count, const Target *t, double out[TARGET_CACHES]);

#endif
