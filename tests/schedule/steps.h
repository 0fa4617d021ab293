/*
 * Random steps: any primitive with arguments that often fit, on workloads small enough for the
 * interpreter, with extents that no factor divides.
 */
#ifndef TESTS_SCHEDULE_STEPS_H
#define TESTS_SCHEDULE_STEPS_H

#include "base/rng.h"
#include "op/task.h"
#include "schedule/trace.h"

extern const char *const step_workloads[];
extern const int step_nworkload;

/* One step: its words as the row in prim.def says, whether they make sense or not. */
const char *random_step(Arena *a, const KernelSet *ks, Rng *rng);
const char *random_step_of(Arena *a, const KernelSet *ks, Prim prim, Rng *rng);
/* One that binds a loop, or gives a buffer another scope: a loop and an axis that often fit. */
const char *random_bound_step(Arena *a, const KernelSet *ks, Rng *rng);
/* The naive set after some steps of any kind and then most that bind. Adds the text of the steps that were taken. */
KernelSet *random_bound_trace(Arena *a, const Task *task, const Target *target, uint64_t seed, Text *steps);

#endif
