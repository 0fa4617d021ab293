/*
 * Inside the room: calls of a model, cut out as a group with its Task. Equal workloads are one Task,
 * numbered by its first group.
 */
#ifndef GRAPH_GROUP_H
#define GRAPH_GROUP_H

#include "graph/graph.h"
#include "op/names.h"

enum { LONGEST_GROUP = 24 /* calls */ };

typedef struct Cutter {
	Arena *a;
	const Dag *d;
	int *map;         /* of each value: the one that a Dag being cut out has for it, DAG_NONE between cuts */
	Names *known;     /* texts of Tasks */
	VEC(Task *) task; /* of no weight yet */
} Cutter;

void cutter_open(Cutter *c, Arena *a, const Dag *d);
/* The n calls in their order, which it keeps; of the last one's results alone others may know. */
bool cut_group(Cutter *c, const int *call, int n, Group *g, Err *err);

/*
 * The regions of a partition whose groups are made, and the Tasks of all alternatives (alternatives.c); fills
 * the rest of p, and the Tasks' weights.
 */
bool find_regions(Cutter *c, Partition *p, Err *err);

#endif
