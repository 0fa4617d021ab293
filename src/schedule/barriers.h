/*
 * Barriers of a block, where a thread reads elements that another thread wrote. No step writes barriers: they are
 * removed before each step and derived again after it. The walk follows the order of the block's text.
 */
#ifndef SCHEDULE_BARRIERS_H
#define SCHEDULE_BARRIERS_H

#include "schedule/sched.h"

#include "ir/threads/meet.h"

/* Removes the barriers between loops that are bound to block axes. */
void barriers_drop(KernelSet *ks);
/* Adds barriers to the block, a list of statements in `depth` loops, where two threads may meet; or refuses. */
bool barriers_put(Sched *s, const char *what, const Fn *fn, Stmt **body, int depth, ThreadMemo *memo);

#endif
