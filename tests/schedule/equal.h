/*
 * The oracle of schedules: a kernel set computes what the naive one does, on random inputs, in
 * floats (1e-5 of the largest output's neighbourhood: sums are taken in another order) or modulo a
 * prime, where there is no tolerance, nor is there of integers.  Failures end the test and print the trace.
 */
#ifndef TESTS_SCHEDULE_EQUAL_H
#define TESTS_SCHEDULE_EQUAL_H

#include "interp/interp.h"
#include "op/task.h"
#include "target/target.h"

Task *task_of(Arena *a, const char *text);
/* A machine of configs/targets: what a test expects of a choice must not depend on the one that it runs on. */
Target named_target(const char *name, int threads);
enum { EQUAL_TENSORS = 64 };
/* Random inputs, by the parameters of the naive set; how many. Aligned as kernels want it. */
int draw_args(Arena *a, const KernelSet *naive, InterpDomain domain, uint64_t seed, IrArg *arg);
void must_run(const KernelSet *ks, IrArg *arg, int n, InterpDomain domain, uint64_t seed, const char *trace);
void must_agree(const KernelSet *naive, const IrArg *x, const IrArg *y, int n, InterpDomain domain, const char *trace);
/* What the naive set computes of inputs drawn by a seed: run once for all schedules of a Task. Of the arena. */
typedef struct Want {
	const KernelSet *naive;
	InterpDomain domain;
	uint64_t seed;
	int n;
	IrArg arg[EQUAL_TENSORS];
} Want;

Want want_run(Arena *a, const KernelSet *naive, InterpDomain domain, uint64_t seed);
/*
 * The same for must_give alone. The release build compares: with sanitizers schedules are made, and neither of these
 * two runs anything. The interpreter would take most of the time, and tests/ir has it with sanitizers.
 */
Want want_of(Arena *a, const KernelSet *naive, InterpDomain domain, uint64_t seed);
/* The set computes that, its threads run in an order of that seed. */
void must_give(const Want *w, const KernelSet *ks, uint64_t order, const char *trace);
/* All of that, for one schedule. */
void must_equal(const KernelSet *naive, const KernelSet *ks, InterpDomain domain, uint64_t seed, const char *trace);

#endif
