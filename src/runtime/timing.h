/*
 * Clocks, and statistics of their readings.  Only this file of the runtime and the worker reads a clock.
 */
#ifndef RUNTIME_TIMING_H
#define RUNTIME_TIMING_H

#include <stdint.h>

/* Nanoseconds since some start: of the wall, and of CPU this thread had. */
uint64_t timing_wall_ns(void);
uint64_t timing_thread_ns(void);

typedef struct Timing {
	int runs;
	double median, min, mean, p95, p99; /* in the samples' unit; percentiles by nearest rank */
} Timing;

/* Sorts the n >= 1 samples in place. */
Timing timing_summary(double *sample, int n);

#endif
