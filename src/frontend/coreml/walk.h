/*
 * A neural network on its way to nodes (graph.c), with the networks that its branches and loops hold (graph_control.c).
 * Those write blobs of the network around them, and list none of them. So what a layer gives to the layers behind it
 * follows from what all of them read.
 */
#ifndef FRONTEND_COREML_WALK_H
#define FRONTEND_COREML_WALK_H

#include "frontend/coreml/coreml.h"

/* What layers read and write, those inside of branches and loops, too. */
typedef struct CoremlUses {
	Names *read; /* blob -> its number in `times` */
	VEC(int) times;
	Names *known; /* blobs that are in `written` */
	WireTexts written;
} CoremlUses;

typedef VEC(NodeDef) CoremlNodes;

/* A new value of a blob, and the value before it; NULL: it had none. */
typedef struct CoremlChange {
	const char *blob, *before;
} CoremlChange;

typedef struct Walk {
	Arena *arena;
	CoremlFile *file;
	const CoremlNetwork *net;
	ModelArgs *args;
	Names *blobs; /* blob -> its number in `value` */
	WireTexts value; /* NULL: it has none here */
	VEC(CoremlChange) change; /* of `value`, so that a network inside can be left without a trace */
	Names *taken; /* names of values */
	VEC(NodeValue) in;
	VEC(NodeValue) out;
	CoremlNodes node; /* of the network that is walked */
	CoremlUses all;   /* of the whole model */
	int depth, loops; /* branches and loops around it, and how many of them are loops */
	Err *err;
} Walk;

/* The value that a blob is now; NULL: none. */
const char *coreml_value_of(const Walk *w, const char *blob);
/* A new value for a blob; `by` tells it from those before. */
const char *coreml_new_value(Walk *w, const char *blob, const char *by);
bool coreml_add_layers(Walk *w, const CoremlNetwork *net);

/* ---- layers with networks inside (graph_control.c) */

CoremlUses coreml_uses(Arena *a);
void coreml_count_read(Arena *a, CoremlUses *u, const char *blob);
/* Adds those of a network inside of `depth` others. */
bool coreml_list_uses(Walk *w, const CoremlNetwork *net, int depth, CoremlUses *u);
bool coreml_add_branch(Walk *w, const CoremlLayer *l, const CoremlBranch *p);
bool coreml_add_loop(Walk *w, const CoremlLayer *l, const CoremlLoop *p);

/*
 * NodeDef.source of both. A branch has the graphs `then` and `else`; place[k][i] is the result of graph k that is
 * result i, -1: that side does not write it. A loop has the graphs `condition`, whose first result is the condition,
 * and `body`; both take and give all n variables. first[i] is the input that variable i is before the loop, -1: it is
 * nothing there; writes[k][i]: graph k writes it.
 */
typedef struct CoremlControl {
	int n;
	int *place[2];
	int *first;
	bool *writes[2];
	bool condition, counted; /* a loop has a condition; input 0 is its count */
	int64_t most;            /* the count that the file gives; with a condition 0 is none */
} CoremlControl;

#endif
