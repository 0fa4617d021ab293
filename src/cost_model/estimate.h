/* Inside the room: the analytic estimate, with and without a tally of what its walk sees. */
#ifndef COST_MODEL_ESTIMATE_H
#define COST_MODEL_ESTIMATE_H

#include "ir/ir.h"
#include "target/target.h"

struct Tally;

/* Nanoseconds of one call of the set's run Fns. tally: receives the sums of predictors; NULL: not wanted. */
double estimate_set_ns(const KernelSet *ks, const Target *target, struct Tally *tally);

#endif
