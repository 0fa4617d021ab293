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
/* What one store or reduction does. Cycles, accesses and instructions are those of one body. */
typedef struct LeafFacts {
	double bodies;          /* how often the body runs */
	double copies, vectors; /* of the statement in the body; registers for the lanes of one copy */
	double cycles, work, load, store, decode, wait, spill; /* all together; what each limit takes alone */
	double instructions;
	double sums, registers; /* that hold sums; wanted for these and their operands */
	double gathers, vector_accesses, scalars;
	double far, aliased; /* of these, the ones that move a page or more, or whole pages, along the serial loop */
	int serial, vector;  /* the innermost serial loop and the vector loop; -1: none */
	int bits;            /* of an element */
} LeafFacts;
/* Operations of one node; those on integers are weighed, since index arithmetic is cheap. */
double leaf_ops(const Expr *e);
/* Addresses in one body, which is what stands inside of loop `serial`: loops of one stride overlap. */
double leaf_distinct(const Walk *w, int serial, const int64_t *stride);

#endif
