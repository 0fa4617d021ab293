/*
 * The schedule that a Task gets in a network, and what it rests on.
 */
#ifndef COMPILE_TASK_PLAN_H
#define COMPILE_TASK_PLAN_H

#include "base/hash.h"
#include "op/task.h"

/*
 * The origin of a Task's schedule. exact: a record of it on this target and of this codegen epoch; near: one of another
 * target; stale: one of another epoch; model: a learned model's choice; default: neither.
 */
typedef enum { HIT_EXACT, HIT_NEAR, HIT_STALE, HIT_DEFAULT, HIT_MODEL, HIT_COUNT } HitClass;
const char *hit_name(HitClass h);
/* True if h is at least as good evidence as `least`. The order is exact, stale, near, model, default. */
bool hit_fulfils(HitClass h, HitClass least);

typedef struct TaskPlan {
	const Task *task;
	HitClass hit;
	const char *trace;
	double estimated_ms; /* recorded median, or the cost model's estimate */
	Hash record;         /* the run it came from; zeros for a default and for a model's */
	const char *config;  /* HIT_MODEL: of the Task's space (untuned.h); else NULL */
	const char *why;     /* "3 sessions, verified"; "no record"; why it is a default or not scheduled at all */
	bool naive;          /* the naive loops, since all schedules that were tried are refused */
	int64_t implausible; /* records of the task left out because no core could be so fast */
} TaskPlan;

#endif
