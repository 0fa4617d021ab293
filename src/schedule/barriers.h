/*
 * Barriers of a block where threads hand on what they wrote. No step writes them: they are taken away before each step
 * and derived again behind it. A block is walked in the order of its text.
 */
#ifndef SCHEDULE_BARRIERS_H
#define SCHEDULE_BARRIERS_H

#include "schedule/sched.h"

#include "ir/threads/meet.h"

/* Takes away the barriers between loops that are bound to block axes. */
void barriers_drop(KernelSet *ks);
/* Puts them into the block, a list of statements in so many loops, where two threads may meet; or a refusal. */
bool barriers_put(Sched *s, const char *what, const Fn *fn, Stmt **body, int depth, ThreadMemo *memo);

#endif
