/*
 * Makes a model, a Dag with constants, smaller: graph_passes lists the passes, with what each needs and
 * breaks. Then chooses the layouts of its values and cuts it into groups of calls; each group is a Task.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "op/op.h"
#include "op/task.h"
#include "target/target.h"

/* Rows of graph.def: GRAPH_FEW_CHANNELS, GRAPH_FASTER. */
#define COUNT(name, value, unit, reason) static const int64_t GRAPH_##name = value;
#define RATIO(name, value, unit, reason) static const double GRAPH_##name = value;
#include "graph/graph.def"
#undef COUNT
#undef RATIO

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
 * The bytes of `value` if it is computed from constants only, else NULL without an error. It is evaluated
 * through `eval` and kept as a constant of the Dag. Front ends use it for shapes, axes and pads.
 */
const void *graph_const_value(Dag *d, int value, EvalFn eval, Err *err);

/* Attention becomes products and a softmax, where a device has templates for these alone. */
bool graph_unjoin_attention(Dag *d, Err *err);

/*
 * Gives the results of calls layouts: images get blocks of channels, as long as a vector of their type (NULL: all are
 * row-major). Earlier layouts are forgotten, so the call may be repeated.
 */
void graph_layouts(Dag *d, const Target *t);

/* A group: calls that run as one, an anchor with what is fused to it. In topological order. */
typedef struct Group {
	int ncall;
	int *call;     /* numbers in the model's Dag */
	Task *task;    /* shared by equal groups, Task.weight counts them; NULL: see View */
	int number;    /* the Task's number in the partition, -1: there is no Task */
	int nin, nout; /* Task's parameters in the order of task->dag's inputs, constants, outputs: */
	int *in, *out; /* value numbers of the model for (inputs then constants) and outputs */
} Group;

/*
 * Where a value lies: `at` bytes from the start of value `of`, which is the value itself if it has memory of
 * its own. A group of one reshape, identity, split, slice or concat may have no Task: its result lies in its
 * input's memory, or (concat) its inputs lie in its result's. Inputs of a concat that lie elsewhere are
 * copied.
 */
typedef struct View {
	int of;
	int64_t at; /* a multiple of VIEW_ALIGN */
} View;
enum { VIEW_ALIGN = 64 };

/*
 * A region: calls of a model that may be cut into groups in several ways. Regions share no group, so each is
 * chosen independently.
 */
typedef struct Alternative {
	int ngroup;
	Group *group;
} Alternative;
typedef struct Region {
	int n;
	Alternative *alternative; /* the first one is the default */
	int taken;
} Region;

typedef struct Partition {
	int ngroup, ntask;
	Group *group;
	Task **task; /* unique, in order of first use; the nmore Tasks of other alternatives follow these ntask */
	int nmore;   /* their weights count the regions that could run them */
	View *view;  /* of each value of the model */
	int nregion;
	Region *region;
} Partition;

/*
 * Cuts a model into groups: an anchor, elementwise calls and a residual add; elementwise calls and reductions of rows.
 * A value that is used outside its group is an output of it. A Task has the layouts of its inputs and outputs; the
 * schedule chooses those of inner values. Regions take their first alternatives.
 */
Partition *graph_partition(Arena *a, const Dag *d, Err *err);
/*
 * The alternative of least cost; ms[k] is the time of Task k, < 0: not known. If the first alternative's
 * cost is not known, it is taken. Others compete if their cost is known; they must be faster by more than
 * the noise between Tasks that are timed at different moments.
 */
int graph_choose(const Region *r, const double *ms);
/* Milliseconds of an alternative; < 0: not known. */
double graph_cost(const Alternative *x, const double *ms);
/* How often the model runs each Task if each region takes choice[]: p->ntask + p->nmore numbers. */
void graph_weights(const Partition *p, const int *choice, int *weight);
/* p with the chosen alternatives: a new partition, whose Tasks are copies with new weights. */
Partition *graph_take(Arena *a, const Partition *p, const int *choice);

#endif
