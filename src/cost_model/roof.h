/*
 * Lower bounds of a Task's time. The roof is the least time of the Task's own algorithm on a measured machine. It is
 * the multiply-adds at the rate of the probe, or the bytes at the rate that the machine reads. Taps in the padding do
 * not count. Another algorithm (Winograd) may beat the roof. The floor is a time that nothing can beat.
 */
#ifndef COST_MODEL_ROOF_H
#define COST_MODEL_ROOF_H

#include "op/task.h"
#include "target/target.h"

/* What the machine was measured to give; 0: not measured. */
typedef struct Roof {
	double gflops; /* multiply-adds count 2 */
	int bits;      /* of the elements that it multiplied; 0: of any */
	double gbps;   /* reading what lies in the last cache */
	double f16, tf32; /* GFLOP/s of its matrix units for factors of 16 bits, and for f32 factors rounded to tf32 */
} Roof;

typedef struct RoofTime {
	double flops_ns, bytes_ns; /* the roof is the larger one; 0: not known */
} RoofTime;

RoofTime roof_of(const Task *task, const Roof *machine);
/* The larger of both, 0 where neither is known. */
double roof_ns(const Task *task, const Roof *machine);
enum { ROOF_LEAST_NS = 10 /* no call takes less, on any machine */ };
/* The floor: nanoseconds that no run of the Task beats on any machine of the target. A time below it is wrong. */
int64_t roof_floor_ns(const Task *task, const Target *target);
/* Floating operations that no schedule of the naive form can leave out. */
double roof_flops(const Task *task);

#endif
