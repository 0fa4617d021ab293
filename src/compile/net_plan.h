/*
 * The plan of a network: its steps in order, and the place of each value. Views (a reshape, the parts of a
 * concat) lie in the memory of other values. memplan computes the offsets.
 */
#ifndef COMPILE_NET_PLAN_H
#define COMPILE_NET_PLAN_H

#include "compile/memplan.h"
#include "graph/graph.h"
#include "ir/ir.h"

typedef enum { PLACE_INPUT, PLACE_OUTPUT, PLACE_CONST, PLACE_WORK, PLACE_STATE } PlaceKind;

/* Where a value or a workspace lies. */
typedef struct Place {
	PlaceKind kind;
	int index;      /* INPUT, OUTPUT: which; WORK: of its PlanItem; CONST: of the plan's constants */
	int64_t offset; /* of a window in its buffer; of STATE in the state; 0 for constants */
	int64_t bytes;
	const char *name, *layout; /* NULL: row-major */
} Place;

typedef struct PlanConst {
	const void *data;
	int64_t bytes;
} PlanConst;

/* A kernel call (task >= 0), or a copy of place[0] <- place[1]. */
typedef struct PlanStep {
	int task;       /* number of the partition's task, -1: copy */
	const char *fn; /* of its kernel set */
	const char *label;
	int n;
	Place *place;
} PlanStep;

typedef struct NetPlan {
	Arena *arena;
	const Dag *dag;
	VEC(PlanStep) step;
	VEC(PlanItem) item;
	VEC(PlanConst) constant;
	Place *value; /* of values with memory of their own; .bytes < 0: not placed */
	int64_t work_bytes, live_bytes;
	int moves_in, moves_out; /* steps that do nothing but reorder an input, or give an output its order */
	int64_t state_bytes; /* zero before and after each run */
} NetPlan;

typedef struct Prepared {
	const char *name; /* of the parameter */
	void *data;
	int64_t bytes;
} Prepared;

/* The prepare Fns of a Task for one group: what they read, and what they make. */
typedef struct PrepareJob {
	int task; /* number of the partition's task */
	const Prepared *given;
	int n;
	Prepared *out;
	int nout;
} PrepareJob;

/*
 * Does all jobs of a plan: fills `data` of each out[], with bytes that live as long as the plan is used. bundle_build.c
 * passes this function, since it knows codegen.
 */
typedef struct PrepareFn {
	bool (*run)(const PrepareJob *job, int n, void *arg, Err *err);
	void *arg;
} PrepareFn;

/* sets[k] is the kernel set of partition->task[k]. */
NetPlan *plan_network(Arena *a, const Dag *d, const Partition *p, KernelSet *const *sets, PrepareFn prepare, Err *err);
void plan_print(Text *out, const NetPlan *p);

#endif
