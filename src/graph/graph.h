/*
 * A model as a Dag with constants, made smaller: passes in one list (graph_passes) with what each
 * needs and breaks; then layouts of its values, and its partition into groups of calls, each of
 * which is one Task.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "op/op.h"
#include "op/task.h"

/*
 * Runs the calls of a small Dag: in[k] holds the data of d->input k, out[k] receives d->output k.
 * The caller passes an evaluator: the interpreter (graph_eval_interp), or one that compiles.
 */
typedef bool (*EvalRun)(const Dag *d, const void *const *in, void *const *out, void *arg, Err *err);
typedef struct EvalFn {
	EvalRun run;
	void *arg;
} EvalFn;

/* Evaluates through the naive Fn and the interpreter; arg is unused. */
extern const EvalFn graph_eval_interp;

typedef struct GraphPass {
	const char *name, *needs, *breaks;
	bool (*run)(Dag *d, EvalFn eval, Err *err); /* edits d in place */
} GraphPass;
extern const GraphPass graph_passes[]; /* ends with name == NULL */

/* All passes in order; the Dag checks before and after. */
bool graph_optimize(Dag *d, EvalFn eval, Err *err);

/*
 * The bytes of `value` if only constants lie behind it (evaluated through `eval`, the result kept
 * as a constant of the Dag), else NULL without an error. For frontends: shapes, axes, pads.
 */
const void *graph_const_value(Dag *d, int value, EvalFn eval, Err *err);

/*
 * Gives the results of calls layouts: images in blocks of `block` channels (a vector's length; 1:
 * all are row-major). Whatever they had is forgotten, so that it may be done again.
 */
void graph_layouts(Dag *d, int block);

/* Calls that are run as one: an anchor with what is fused to it. Topological order. */
typedef struct Group {
	int ncall;
	int *call;     /* numbers in the model's Dag */
	Task *task;    /* shared by equal groups, Task.weight counts them; NULL: see View */
	int number;    /* of it in the partition, -1: there is none */
	int nin, nout; /* Task's parameters in the order of task->dag's inputs, constants, outputs: */
	int *in, *out; /* value numbers of the model for (inputs then constants) and outputs */
} Group;

/*
 * Where a value lies: `at` bytes from the start of value `of`, which is itself where it has memory of
 * its own. A group of one reshape, identity, split, slice or concat may have no Task: its result lies
 * in its input's memory, or (concat) the inputs in its result's; those that do not are to be copied.
 */
typedef struct View {
	int of;
	int64_t at; /* a multiple of VIEW_ALIGN */
} View;
enum { VIEW_ALIGN = 64 };

/*
 * Some calls of a model that may be cut into groups in more ways than one. Regions share no group, so
 * each may be chosen for itself.
 */
typedef struct Alternative {
	int ngroup;
	Group *group;
} Alternative;
typedef struct Region {
	int n;
	Alternative *alternative; /* the first one is taken where nothing is known */
	int taken;
} Region;

typedef struct Partition {
	int ngroup, ntask;
	Group *group;
	Task **task; /* unique, in order of first use; behind these ntask the nmore of other alternatives */
	int nmore;   /* their weights count the regions that could run them */
	View *view;  /* of each value of the model */
	int nregion;
	Region *region;
} Partition;

/*
 * Anchor + elementwise + residual add; a value used outside its group is an output of it. Tasks have
 * the layouts of what goes in and out; how what lies between is kept is the schedule's business.
 * Every region takes its first alternative.
 */
Partition *graph_partition(Arena *a, const Dag *d, Err *err);

/*
 * The alternative of least cost: ms[k] is that of Task k, < 0: not known. Without the costs of its
 * first alternative a region takes that; of the others those whose costs are known compete, and must be
 * less by more than Tasks timed at different moments differ for no reason.
 */
#define GRAPH_FASTER 0.97 /* times the first alternative */
int graph_choose(const Region *r, const double *ms);
/* Milliseconds of an alternative; < 0: not known. */
double graph_cost(const Alternative *x, const double *ms);
/* How often the model runs each Task if each region takes choice[]: p->ntask + p->nmore numbers. */
void graph_weights(const Partition *p, const int *choice, int *weight);
/* p with other alternatives taken: a new partition, whose Tasks are copies with their new weights. */
Partition *graph_take(Arena *a, const Partition *p, const int *choice);

#endif
