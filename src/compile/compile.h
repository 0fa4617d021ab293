/*
 * Compiles a model to a bundle. Each Task gets the best recorded trace, or the default, and machine code;
 * prepare Fns run; buffers are planned; the result is one file. The same inputs and databases give the same
 * bundle, byte for byte. Only this room brings graph, db, schedule and codegen together while building.
 */
#ifndef COMPILE_COMPILE_H
#define COMPILE_COMPILE_H

#include "codegen/code_cache.h"
#include "compile/code_form.h"
#include "compile/constants.h"
#include "compile/task_plan.h"
#include "cost_model/cost_model.h"
#include "db/rank.h"
#include "graph/graph.h"
#include "schedule/space.h"

#include <stdatomic.h>

typedef struct Lock Lock; /* compile/lock_file.h */
typedef struct CompileOptions {
	const Target *target;
	/* Further devices of target's kind: the bundle has code for them as well, by the same schedules. */
	const Target *also;
	int nalso;
	CodeForms code; /* the forms for each target */
	/*
	 * Constants of earlier compiles of this Dag; those of this one are added. If they are a file that a CPU's runner
	 * can map, the bundle ends before its constants, and all are there. NULL: the bundle is whole.
	 */
	Constants *constants;
	bool apart; /* text keeps an image for each Task, as the tuner measured it: a driver may have kept its code */
	Db *const *db; /* the best run in any of them is taken; their order does not matter */
	int ndb;
	const Cost *cost;       /* ranks schedules that were not measured; NULL: the first cost model */
	struct Untuned *untuned; /* a model to ask where there is no record; NULL: the default is taken */
	const CodeCache *cache; /* NULL: everything is compiled */
	const Lock *lock;       /* only its choices are taken; NULL: there is no lock */
	const char *lock_name;  /* in messages */
	bool required;          /* fails if a task's evidence is less than `require` */
	HitClass require;
	/*
	 * Schedules from the caller: the trace of a Task, NULL for its default. The databases still choose the
	 * alternatives of regions. NULL: the databases choose the schedules too.
	 */
	const char *(*trace_of)(const Task *task, void *arg);
	void *trace_arg;
	int64_t prepare_ms;                /* how long the prepare Fns of a schedule may run; 0: see compile/prepare.h */
	const atomic_int *stop; /* not 0: the compile ends with ERR_INTERRUPTED; may be NULL */
	bool unscheduled;                  /* the naive Fns as they are: the base line of tests and benchmarks */
	void (*progress)(int done, int all, const char *label, void *arg); /* may be NULL */
	void *progress_arg;
} CompileOptions;

typedef struct Compiled {
	const Dag *dag; /* as compile_partition left it */
	const Partition *partition;
	TaskPlan *task;        /* partition->ntask of them */
	int hits[HIT_COUNT];   /* tasks of each class */
	unsigned char *bundle; /* the file's bytes, in the arena; ends before its constants if shared_bytes > 0 */
	size_t bundle_bytes;
	int64_t whole_bytes;    /* of the bundle with its constants */
	uint64_t shared_bytes;  /* of CompileOptions.constants when the bundle was made; 0: it is whole */
	int64_t workspace_bytes, live_bytes; /* of the memory plan; its largest live set */
	double estimated_ms;
	int nstep;
	const int *step_task;  /* the partition's Task of each step of the bundle's plan, -1: a copy */
	VEC(CompiledCode) code;
	const char *plan_text; /* dlc-show --stage=plan */
	const char *lock_text; /* the file that leads to this bundle again */
} Compiled;

/*
 * Gives a host without a row in target/model.def the figures of its core: those that a database has, else, with
 * `measure`, measured ones (about half a second). Other targets stay as they are.
 */
bool compile_core(Target *t, DbSet set, bool measure, Err *err);
/*
 * Optimizes `dag` in place, gives its values the target's layouts, and cuts it into Tasks. Every verb that
 * knows the Tasks of a model calls this, so all of them see the same Tasks.
 */
Partition *compile_tasks(Arena *a, Dag *dag, const Target *t, Err *err);
/*
 * The same, with the alternative of each region that is compiled: the one that the lock names; else the fastest by the
 * databases' records of this code epoch; else the first, if the records do not cover its Tasks.
 */
Partition *compile_partition(Arena *a, Dag *dag, const CompileOptions *o, Err *err);
/* A line for each region: its alternatives, and which one is taken. */
void compile_print_regions(Text *out, const Partition *p);

/* `dag` is optimized in place, and may be compiled again. Everything lives in the arena. */
Compiled *compile_model(Arena *a, Dag *dag, const CompileOptions *o, Err *err);

/* Chooses the schedule of a task and makes its kernel set, ready for codegen. */
KernelSet *compile_task(Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, Err *err);
/* What compile_model takes without records. */
KernelSet *compile_lowered_default(Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, Err *err);

/*
 * What becomes code of a Task's set in a bundle: its run Fns, in the set's order. On a device their names end with the
 * first digits of the Task's id (k.07b2a1c4e5d6), since kernels of all Tasks are in one program.
 */
const KernelSet *compile_run_set(Arena *a, const KernelSet *ks, const Task *task, const Target *t);

/* EvalFn through codegen, on this machine: constant folding at full size. arg is unused. */
extern const EvalFn compile_eval;

#endif
