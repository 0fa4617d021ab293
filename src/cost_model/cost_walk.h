/*
 * Inside the room: the walk over a Fn, and where it is. What statements cost is the business of a pair of functions,
 * one pair for a core (analytic.c) and one for blocks of threads (grid.c).
 */
#ifndef COST_MODEL_COST_WALK_H
#define COST_MODEL_COST_WALK_H

#include "cost_model/address.h"
#include "target/target.h"

/* Of all that a core does. */
typedef struct CostSum {
	double cycles;
	double bytes[TARGET_CACHES];
	double code; /* instructions written out */
} CostSum;

struct WalkCosts;

/* Where the walk over a Fn is, and the cost so far. */
typedef struct Walk {
	CostNest nest;
	const KernelSet *ks;
	int calls, asyncs; /* around */
	const Target *target;
	const struct WalkCosts *costs;
	CostSum sum;           /* on a core */
	struct Launch *launch; /* on units that run blocks of threads: the kernel; else NULL */
	double share; /* of the iterations around: those in which the statement runs */
	double live;  /* of the copies of straight-line code: those that constant conditions keep */
	bool masked;  /* a condition depends on the lane */
	double tests; /* conditions evaluated in each iteration of the innermost loops */
	/* Of each buffer of the nest: bytes that reads at data-dependent places touch at most; INFINITY: others read it. */
	double picked[NEST_BUFS];
	struct Tally *tally; /* the sums that predictors are computed from (tally.h); NULL: not wanted */
} Walk;

typedef struct WalkCosts {
	/* A store, or a reduction: the value is combined with what lies at dst. */
	void (*leaf)(Walk *w, const Access *dst, const Expr *value, bool reduces);
	/* A loop that is entered, a call that is not walked, a barrier, a wait. */
	void (*other)(Walk *w, const Stmt *s);
} WalkCosts;

/* A walk that stands before the body of fn: its symbols have their largest values. */
Walk walk_begin(const KernelSet *ks, const Fn *fn, const Target *target, const WalkCosts *costs);
/* Notes reads of b that touch so many bytes at most, if the address depends on data (known: it does not). */
void walk_note_reads(Walk *w, const NestBuf *b, bool known, double bytes);
/* The bytes of buffer k of the nest that the walk so far brought from memory if they were cold. */
double walk_cold_bytes(Walk *w, int k);
/* A statement and its siblings. Names that they declare are gone behind them. */
void walk_list(Walk *w, const Stmt *s);
/* A statement without its siblings; a name that it declares stays. */
void walk_one(Walk *w, const Stmt *s);

#endif
