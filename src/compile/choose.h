/*
 * Inside the room: chooses the schedule of a task and makes its kernel set, ready for codegen. Other rooms
 * call compile_task.
 */
#ifndef COMPILE_CHOOSE_H
#define COMPILE_CHOOSE_H

#include "compile/compile.h"
#include "db/rank.h"

/* Rows of choose.def: CHOOSE_TRIED. */
#define COUNT(name, value, unit, reason) enum { CHOOSE_##name = value };
#include "compile/choose.def"
#undef COUNT

/*
 * Gives regions of images NHWC on a target with matrix units where the estimate of the network's defaults gets lower.
 * Costs an estimate for each Task and layout of its edges, about 10 ms; nothing where no convolution can use matrix
 * units.
 */
bool compile_channels_last(Dag *d, const Target *t, Err *err);

/*
 * Gives values layouts under which transposes are views, where the estimate of the network's defaults gets lower. Costs
 * a partition for each region and offer, and an estimate for each Task that offers make; nothing where no transpose
 * runs.
 */
bool compile_orders(Dag *d, const Target *t, Err *err);

/* The template's default, or its replacement if a limit refuses it. Asks neither records nor a learned model. */
KernelSet *compile_default(
	Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, const char *why, Err *err);
/*
 * The replacement of plan's default, which was refused with `refused`: the template of any loops, else the naive
 * loops.
 */
KernelSet *compile_without_default(
	Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, const char *refused, Err *err);

/*
 * The time of the task's best recorded schedule of this code epoch that replays; < 0: there is none. whose:
 * DB_DECIDED or DB_OWN.
 */
bool compile_recorded_ms(const Task *task, const CompileOptions *o, DbWhose whose, double *ms, Err *err);
/* Whether this user has timed a schedule of the task inside a network. */
bool compile_timed_inside(const Task *task, const CompileOptions *o, bool *is, Err *err);

#endif
