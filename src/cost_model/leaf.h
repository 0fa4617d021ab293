/* Inside the room: what a store or reduction costs among the loops around it. */
#ifndef COST_MODEL_LEAF_H
#define COST_MODEL_LEAF_H

#include "cost_model/address.h"
#include "target/target.h"

typedef struct Sum {
	double cycles;
	double bytes[TARGET_CACHES];
	double code; /* instructions written out */
} CostSum;

/* Where the walk over a Fn is, and the cost so far. */
typedef struct Walk {
	CostNest nest;
	const KernelSet *ks;
	int calls; /* around */
	const Target *target;
	CostSum sum;
	double share; /* of the iterations around: those in which the statement runs */
	double live;  /* of the copies of straight-line code: those that constant conditions keep */
	bool masked;  /* a condition depends on the lane */
	double tests; /* conditions evaluated in each iteration of the innermost loops */
} Walk;

/* Adds to w->sum; `reduces`: the value is combined with what lies at dst. */
void leaf_cost(Walk *w, const Access *dst, const Expr *value, bool reduces);
/* Whether the iterations are written out: copies one after the other, or lanes. */
bool leaf_is_straight(LoopKind k);

#endif
