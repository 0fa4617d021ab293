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
 * Sessions that are linked by schedules which both ran form a group, and so do their schedules: group[s] of each
 * schedule, from 0; how many there are is returned. ns[s]: the time of the schedule in the middle of its group's
 * sessions. Each schedule has a run. Uses the arena.
 */
int speeds_join(Arena *a, const TimedRun *run, int n, int schedules, int sessions, double *ns, int *group);

#endif
