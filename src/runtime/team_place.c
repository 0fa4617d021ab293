/* team_spread. A thread moves by a mask of one CPU, and then may run everywhere as before. */
#include "runtime/team.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/cpu.h"

#if defined(__linux__)
enum { TRIES = 4 }; /* one that slept may be woken on the CPU that another one moves to */

typedef struct Places {
	Team *team;
	int threads, cpu[TEAM_MAX];
	bool shared[TEAM_MAX]; /* with a thread of a lower number */
	atomic_bool moved;
} Places;

static bool is_taken(const Places *p, int cpu)
{
	for (int k = 0; k < p->threads; k++)
		if (p->cpu[k] == cpu)
			return true;
	return false;
}

/* The n-th CPU of the mask that no thread has; -1: there are not so many. */
static int free_cpu(const Places *p, const cpu_set_t *mask, int n)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, mask) && !is_taken(p, cpu) && n-- == 0)
			return cpu;
	return -1;
}

static void take_place(void *arg, int thread)
{
	Places *p = arg;
	cpu_set_t mask, one;
	int before = 0;
	p->cpu[thread] = sched_getcpu();
	team_barrier(p->team);
	p->shared[thread] = false;
	for (int k = 0; k < thread; k++)
		p->shared[thread] |= p->cpu[k] == p->cpu[thread];
	team_barrier(p->team);
	if (!p->shared[thread] || sched_getaffinity(0, sizeof mask, &mask) != 0)
		return;
	for (int k = 0; k < thread; k++)
		before += p->shared[k];
	int cpu = free_cpu(p, &mask, before);
	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) == 0)
		sched_setaffinity(0, sizeof mask, &mask);
	atomic_store(&p->moved, true);
}

void team_spread(Team *team)
{
	Places p = { .team = team, .threads = team_threads(team), .moved = true };
	if (p.threads < 2 || p.threads > cpu_count())
		return;
	for (int k = 0; k < TRIES && atomic_load(&p.moved); k++) {
		atomic_store(&p.moved, false);
		team_run(team, take_place, &p);
	}
}
#else
void team_spread(Team *team)
{
	(void)team;
}
#endif
