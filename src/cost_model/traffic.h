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
	bool once; /* what is written was not read before, as lines of a cache are */
} Stream;

/* Accesses `stride` elements apart; stride > 0. */
typedef struct Run {
	int64_t stride, n;
} Run;

/* Bytes of the lines that accesses touch which move along all runs; of a buffer of so many elements. Sorts the runs. */
double traffic_footprint(Run *run, int count, int64_t elements, int bytes_each, int line);
/* Bytes of the lines that one stream, or all of them together, touch in loops [from, nloop). */
double traffic_stream(const CostNest *n, const Stream *m, int from, int line);
double traffic_streams(const CostNest *n, const Stream *m, int count, int from, int line);
/* Runs of memory that one stream touches there: begun `apart` bytes or more from another, and not where it ends. */
double traffic_runs(const CostNest *n, const Stream *m, int from, int line, int apart);
/* Bytes that come from beyond each cache level; out[TARGET_CACHES]. */
void traffic_of(const CostNest *n, const Stream *m, int count, const Target *t, double out[TARGET_CACHES]);

#endif
