/*
 * The time below which no schedule of a Task's own algorithm can come: its multiply-adds at the rate
 * the machine reaches, its bytes at the rate it reads. Taps in the padding need not be multiplied and do
 * not count. Another algorithm (Winograd) may beat it.
 */
#ifndef COST_MODEL_ROOF_H
#define COST_MODEL_ROOF_H

#include "op/task.h"
#include "target/target.h"

/* What the machine was measured to give; 0: not measured. */
typedef struct Roof {
	double gflops; /* multiply-adds count 2 */
	double gbps;   /* reading what lies in the last cache */
} Roof;

typedef struct RoofTime {
	double flops_ns, bytes_ns; /* the roof is the larger one; 0: not known */
} RoofTime;

RoofTime roof_of(const Task *task, const Roof *machine);
/* The larger of both, 0 where neither is known. */
double roof_ns(const Task *task, const Roof *machine);
enum { ROOF_LEAST_NS = 10 /* nothing that is called takes less, on any machine */ };
/*
 * The physical floor: nanoseconds below which no run of the Task can lie on any machine of the target, whatever the
 * algorithm. A time below it was measured wrong.
 */
int64_t roof_floor_ns(const Task *task, const Target *target);
/* Floating operations that no schedule of the naive form can leave out. */
double roof_flops(const Task *task);

#endif
