/* See timing.h: POSIX clocks, and quantiles of a sorted copy. */
#include "runtime/timing.h"

#include <stdlib.h>
#include <time.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t timing_wall_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t timing_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double rank(const double *sorted, int n, int percent)
{
	int i = (int)(((int64_t)n * percent + 99) / 100) - 1;
	return sorted[i < 0 ? 0 : i];
}

Timing timing_summary(double *sample, int n)
{
	qsort(sample, (size_t)n, sizeof *sample, by_value);
	Timing t = { .runs = n, .min = sample[0] };
	for (int i = 0; i < n; i++)
		t.mean += sample[i] / n;
	t.median = (sample[(n - 1) / 2] + sample[n / 2]) / 2;
	t.p95 = rank(sample, n, 95);
	t.p99 = rank(sample, n, 99);
	return t;
}
