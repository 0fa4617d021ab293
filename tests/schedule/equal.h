/*
 * The oracle of schedules: a kernel set computes what the naive one does, on random inputs, in
 * floats (1e-5 of the largest output's neighbourhood: sums are taken in another order) or modulo a
 * prime, where there is no tolerance.  Failures end the test and print the trace.
 */
#ifndef TESTS_SCHEDULE_EQUAL_H
#define TESTS_SCHEDULE_EQUAL_H

#include "ir/interp.h"
#include "op/task.h"

Task *task_of(Arena *a, const char *text);
void must_equal(const KernelSet *naive, const KernelSet *ks, IrDomain domain, uint64_t seed, const char *trace);

#endif
