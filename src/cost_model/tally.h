/*
 * Inside the room: what the walk of the estimate sees, summed up. Predictors (predictor.def) are made of these sums.
 * Weighted means are sums of value times cycles: what takes long counts most.
 */
#ifndef COST_MODEL_TALLY_H
#define COST_MODEL_TALLY_H

#include "cost_model/leaf.h"
#include "cost_model/traffic.h"

enum { TALLY_PAGE = 4096 /* bytes: what a TLB entry covers, and where the sets of most L1 caches repeat */ };

/* How far apart two uses of the same memory lie, by the bytes that are touched between them. */
typedef enum { REUSE_L1_QUARTER, REUSE_L1, REUSE_L2_QUARTER, REUSE_L2, REUSE_BEYOND, REUSE_NEVER, REUSE_BANDS } Reuse;

typedef struct Tally {
	/* Cycles of all stores and reductions on a core, and what of them each limit would take alone. */
	double cycles, work, load, store, decode, wait, spill;
	double instructions, bodies, leaves;
	double elements, slots; /* computed; lanes of the registers that were worked on */
	double masked;          /* cycles under a condition on lanes */
	double gathers, vector_accesses, scalars, far, aliased; /* accesses, as in LeafFacts */
	double registers, most_registers; /* wanted over those there are: weighted; the most */
	double sums, copies, trips, instructions_each, depth, streams, bits; /* weighted */
	double places, pages, step; /* weighted: runs of memory that a body touches; pages apart; bytes to the next body */
	double prefetches, prefetch_burst, prefetch_ahead; /* how many; weighted by them: of a body; bytes ahead */
	double reuse[REUSE_BANDS]; /* bytes asked for, by the distance to their last use */
	double written;            /* bytes asked for by stores and reductions */
	double entered, regions;   /* loops entered; parallel loops among them */
	double parallel, idle;     /* cycles inside of parallel loops; those in which a thread has nothing to do */
	double fns, code, constants, scratch; /* run Fns; instructions; bytes of constants and of buffers of their own */
	double beyond[TARGET_CACHES];         /* bytes from beyond each cache */
	/* Kernels on devices of blocks: sums over launches, weighted by their time where a ratio is asked. */
	double launches, launch_ns, blocks, threads, occupancy, filled, waves, shared, regs;
	double issue, multiply, near, latency; /* of the blocks in a unit, over the largest */
	double asked, wanted;                  /* bytes of the sectors that loads and stores touch; of their elements */
	double units;                          /* that have a block */
} Tally;

struct Launch;

/* m: the streams of the leaf. */
void tally_leaf(Walk *w, const LeafFacts *f, const Stream *m, int count);
void tally_prefetch(Walk *w, const Access *a);
/* A loop that is no straight-line code is entered so many times. */
void tally_loop(Walk *w, const Stmt *s, double times);
/* A launch that takes ns, and moves so many bytes from beyond each cache. */
void tally_launch(Tally *y, const struct Launch *x, const Target *t, const double *bytes, double ns);
/* The end of a walk over a run Fn on a core. */
void tally_fn(Walk *w, const Fn *fn, double constants);

#endif
