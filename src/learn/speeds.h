/*
 * Times on one target, taken by machines of different speeds. A target says what code may rely on, and not which
 * machine ran it: cpu:x86-64-v3 is a Zen 3 as well as a Sapphire Rapids. So sessions are compared by the schedules that
 * several of them ran, and not at all where there are none.
 */
#ifndef LEARN_SPEEDS_H
#define LEARN_SPEEDS_H

#include "base/arena.h"

typedef struct TimedRun {
	int schedule, session; /* from 0; a schedule is one of a Task */
	double ns;
} TimedRun;

/*
 * Sessions that are linked by some schedules which both ran form a group. group[s] of each schedule: that of its
 * sessions, or of several the one that was found first, from 0; -1: it has no run. How many groups there are is
 * returned. ns[s]: the time of the schedule at the mean speed of its group, the geometric one over runs; 0: it has no
 * run. Sorts the runs, uses the arena.
 */
int speeds_join(Arena *a, TimedRun *run, int n, int schedules, int sessions, double *ns, int *group);

#endif
