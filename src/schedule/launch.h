/*
 * What bound loops ask of a set: independent iterations, blocks and threads that nest as in a launch, buffers of a
 * thread that no other thread uses; and barriers where threads of a block read each other's elements (barriers.h).
 */
#ifndef SCHEDULE_LAUNCH_H
#define SCHEDULE_LAUNCH_H

#include "schedule/sched.h"

/* Whether a loop of the set is bound to an axis. */
bool launch_any(const KernelSet *ks);
/* Adds the barriers of each block, or refuses the step: no launch can run the result. */
bool launch_settle(Sched *s, const char *what);
/* What the blocks of the set need is there: shared memory of the target. To be asked once all steps are taken. */
bool launch_fit(const KernelSet *ks, const Target *target, const char *place, Err *err);
/* The target runs blocks of threads, or a refusal. */
bool launch_need_device(Sched *s, const char *what, const char *name);

#endif
