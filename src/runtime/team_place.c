/*
 * team_spread. All threads note their CPUs; of those that have one together, each but the first moves to a CPU that no
 * thread of the team has, by a mask of that one, and then may run where it might before. A core of which the team has
 * no CPU comes first: on one core two threads take turns as well. Other programs are not looked at.
 */
#include "runtime/team.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/cpu.h"
#include "runtime/host.h"

#if defined(__linux__)
enum { TRIES = 4 }; /* a thread that slept may be woken on the CPU that another one moves to */

typedef struct Places {
	Team *team;
	int threads, cpu[TEAM_MAX];
	bool shared[TEAM_MAX]; /* with a thread of a lower number */
	atomic_bool moved;
} Places;

/* The first of the core's CPUs, by which cores are told apart. */
static int core_of(int cpu)
{
	char path[96], text[32];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	return host_read(text, sizeof text, path) ? atoi(text) : cpu;
}

static bool is_among(const int *list, int n, int x)
{
	for (int k = 0; k < n; k++)
		if (list[k] == x)
			return true;
	return false;
}

/* The n-th CPU of the mask that no thread has, those of free cores first; -1: there are not so many. */
static int free_cpu(const Places *p, const cpu_set_t *mask, int n)
{
	int core[TEAM_MAX];
	for (int k = 0; k < p->threads; k++)
		core[k] = core_of(p->cpu[k]);
	for (int used = 0; used < 2; used++)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, mask) && !is_among(p->cpu, p->threads, cpu) &&
				is_among(core, p->threads, core_of(cpu)) == used && n-- == 0)
				return cpu;
	return -1;
}

static void take_place(void *arg, int thread)
{
	Places *p = arg;
	cpu_set_t mask, one;
	int before = 0; /* threads of lower numbers that move too */
	p->cpu[thread] = sched_getcpu();
	team_barrier(p->team);
	p->shared[thread] = false;
	for (int k = 0; k < thread; k++)
		p->shared[thread] |= p->cpu[k] == p->cpu[thread];
	team_barrier(p->team);
	if (!p->shared[thread] || p->cpu[thread] < 0 || sched_getaffinity(0, sizeof mask, &mask) != 0)
		return;
	for (int k = 0; k < thread; k++)
		before += p->shared[k];
	int cpu = free_cpu(p, &mask, before);
	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) == 0 && sched_setaffinity(0, sizeof mask, &mask) == 0)
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
