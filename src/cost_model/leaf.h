/* Inside the room: what a store or reduction costs among the loops around it. */
#ifndef COST_MODEL_LEAF_H
#define COST_MODEL_LEAF_H

#include "cost_model/cost_walk.h"

/* Add to w->sum. */
extern const WalkCosts leaf_costs;
/* Whether the iterations are written out: copies one after the other, or lanes. */
bool leaf_is_straight(LoopKind k);
/* The sums of a reduction, in registers, and for how many bodies they stay there; 0 bodies: they are in memory. */
typedef struct LeafSums {
	double count, bodies;
} LeafSums;
/*
 * The body is inside of loop `serial`, and one copy of the statement takes `lanes` registers. at: the buffer of the
 * sums with its strides; NULL: not known.
 */
LeafSums leaf_sums(const Walk *w, int serial, double lanes, const NestBuf *at, const int64_t *stride);
/* Operations of one node; those on integers are weighed, since index arithmetic is cheap. */
double leaf_ops(const Expr *e);
/* Addresses in one body, which is what stands inside of loop `serial`: loops of one stride overlap. */
double leaf_distinct(const Walk *w, int serial, const int64_t *stride);

#endif
