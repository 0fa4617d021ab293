/*
 * Tells whether a sample's threads had their CPUs.  A thread of a team sleeps while it waits for the others, so CPU
 * time says nothing about it.  Linux counts for each thread how long it was ready to run and did not, and how
 * often it began to run (/proc/self/task/N/schedstat).  Where that file is missing, the process's involuntary
 * context switches say that a CPU was lost, but not for how long.  A thread alone never sleeps: its CPU time is
 * compared with the wall's, which also shows what a hypervisor gave to other machines.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/timing.h"
#include "worker/lost.h"
#include "worker/sampling.h"

/* So long was it ready to run, so often did it begin; false: it cannot be told. */
static bool read_thread(int fd, uint64_t *waited_ns, uint64_t *times)
{
	char text[96];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = 0;
	return sscanf(text, "%*u %" SCNu64 " %" SCNu64, waited_ns, times) == 2;
}

void lost_forget(Lost *l)
{
	while (l->n > 0)
		close(l->thread[--l->n].fd);
	l->opened = false;
}

static uint64_t switches(void)
{
	struct rusage u;
	return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_nivcsw : 0;
}

void lost_begin(Lost *l, int threads)
{
	l->cpu_ns = timing_thread_ns();
	if (threads <= 1)
		return;
	DIR *d = l->opened ? NULL : opendir("/proc/self/task");
	const struct dirent *e;
	l->opened = true;
	while (d != NULL && l->n < LOST_THREADS && (e = readdir(d)) != NULL) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", e->d_name);
		int fd = e->d_name[0] != '.' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		if (fd >= 0)
			l->thread[l->n++].fd = fd;
	}
	if (d != NULL)
		closedir(d);
	l->switches = switches();
	for (int i = 0; i < l->n; i++)
		l->thread[i].known = read_thread(l->thread[i].fd, &l->thread[i].waited_ns, &l->thread[i].times);
}

bool lost_end(const Lost *l, int threads, uint64_t wall_ns, uint64_t *cpu_ns)
{
	double wall = (double)wall_ns;
	*cpu_ns = threads == 1 ? timing_thread_ns() - l->cpu_ns : 0;
	if (threads == 0)
		return false;
	if (threads == 1)
		return (double)*cpu_ns < (1 - SAMPLING_LACK) * wall;
	uint64_t waited_ns, times;
	int known = 0;
	for (int i = 0; i < l->n; i++) {
		const LostThread *t = &l->thread[i];
		if (!t->known || !read_thread(t->fd, &waited_ns, &times))
			continue;
		known++;
		double woken = fmin((double)(times - t->times) * SAMPLING_WAKE_NS, SAMPLING_WAKE * wall);
		if ((double)(waited_ns - t->waited_ns) > SAMPLING_LACK * wall + woken)
			return true;
	}
	return known < threads && switches() != l->switches;
}
