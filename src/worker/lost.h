/*
 * Whether the threads of a sample had their CPUs: see lost.c.
 */
#ifndef WORKER_LOST_H
#define WORKER_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/team.h"

enum { LOST_THREADS = 2 * TEAM_MAX }; /* of a process, at most: those of a team and of a bundle's instance */

/* A thread as it was when the sample began. */
typedef struct LostThread {
	int fd;
	bool known;
	uint64_t waited_ns, times;
} LostThread;

typedef struct Lost {
	bool opened; /* it knows which threads there are */
	int n;
	uint64_t cpu_ns, switches;
	LostThread thread[LOST_THREADS];
} Lost;

/* Around a sample of so many threads, both on the thread that asks for it. 0: no CPU takes part in it. */
void lost_begin(Lost *l, int threads);
/* True: a thread lost its CPU for more than a small share of wall_ns. *cpu_ns: of a thread alone, else 0. */
bool lost_end(const Lost *l, int threads, uint64_t wall_ns, uint64_t *cpu_ns);
/* Threads have been started or ended since. */
void lost_forget(Lost *l);

#endif
