/* Inside the room: the time of kernels on a device that runs blocks of threads. */
#ifndef COST_MODEL_GRID_H
#define COST_MODEL_GRID_H

#include "ir/ir.h"
#include "target/target.h"

struct Tally;

/* Nanoseconds of one call of the set's run Fns: of all their launches, one after the other. As estimate_set_ns. */
double grid_set_ns(const KernelSet *ks, const Target *target, struct Tally *tally);

#endif
