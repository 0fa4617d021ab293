/*
 * The end of a loop as a loop of its own: what cut makes, and split where its tail is peeled off.
 */
#ifndef SCHEDULE_TAIL_H
#define SCHEDULE_TAIL_H

#include "schedule/sched.h"

/*
 * The loop, of constant extent, ends after its first `at` iterations. A copy goes on behind it; what it declares has
 * new names, the loop itself that one where it is not NULL.
 */
bool tail_cut(Sched *s, const char *what, const Place *p, int64_t at, const char *name);
/*
 * All that a copy of statements of fn declares gets a new name, NAME.2 or the like, as tail_cut gives it. The copy is
 * one loop that is not in fn yet.
 */
bool tail_rename(Sched *s, const char *what, const Fn *fn, Stmt *copy);

#endif
