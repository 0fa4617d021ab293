/*
 * Inside the room: what a store or reduction costs the warps of a block, and what reaches the memory of the device
 * from all blocks of a launch.
 */
#ifndef COST_MODEL_WARP_H
#define COST_MODEL_WARP_H

#include "cost_model/traffic.h"
#include "cost_model/cost_walk.h"

/* One launch of a kernel: its shape, and the cost so far of one of its blocks. */
typedef struct Launch {
	double blocks;
	int64_t block[THREAD_AXES]; /* threads along each axis */
	int threads, resident;      /* of a block; blocks of a unit at once, registers apart */
	int64_t shared;             /* bytes of a block */

	double multiply; /* cycles of the unit's multiply-adds */
	double issued;   /* instructions of warps */
	double near;     /* cycles of L1 and shared memory */
	double bytes[TARGET_CACHES]; /* from beyond each cache, of all blocks */
	double asked, wanted; /* bytes of the sectors that its loads and stores touch, and of their elements */
	double latency;  /* cycles from its start to its end if the unit has nothing else to do */
	int regs;        /* of a thread, at most */
	int tensors;     /* used, in global memory */
	bool used[NEST_BUFS]; /* which buffers of the nest these are */
} Launch;

/* Adds to w->launch; as WalkCosts.leaf. */
void warp_cost(Walk *w, const Access *dst, const Expr *value, bool reduces);
/* As WalkCosts.other. */
void warp_other_cost(Walk *w, const Stmt *s);

/* An instruction of the table of instructions (warp_intrin.c). */
void warp_intrin_cost(Walk *w, const Stmt *call);
/* Warps that have a thread where the walk is. */
double warp_count(const Walk *w);
/* Cycles in which the banks of shared memory serve n threads, of which each accesses so many bytes from byte[i] on. */
double warp_bank_cycles(const int64_t *byte, int n, int bytes);

#endif
