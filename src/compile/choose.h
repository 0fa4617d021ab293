/*
 * Which schedule a task gets, and the kernel set that makes of it, ready for codegen. Inside the room;
 * compile_task is everybody's.
 */
#ifndef COMPILE_CHOOSE_H
#define COMPILE_CHOOSE_H

#include "compile/compile.h"
#include "db/rank.h"

/* The default schedule; the naive loops if a limit refuses it. Records are not looked up. */
KernelSet *compile_default(
	Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, const char *why, Err *err);
/* The naive loops; `refused` says why the default schedule cannot be used. */
KernelSet *compile_naive(
	Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, const char *refused, Err *err);

/*
 * What the best schedule that is recorded of the task with this code epoch, and replays, takes; < 0: none is. whose:
 * DB_DECIDED or DB_OWN.
 */
bool compile_recorded_ms(const Task *task, const CompileOptions *o, DbWhose whose, double *ms, Err *err);

#endif
