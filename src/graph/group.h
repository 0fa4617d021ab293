/*
 * Inside the room: cuts calls out of a model, as a group with its Task. Equal workloads are one Task,
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
/* Cuts the n calls out, in this order. Only the results of the last call may be read outside. */
bool cut_group(Cutter *c, const int *call, int n, Group *g, Err *err);

/*
 * Finds the regions of a partition whose groups exist, and the Tasks of all alternatives (alternatives.c).
 * Fills the rest of p, and the weights of the Tasks.
 */
bool find_regions(Cutter *c, Partition *p, Err *err);
/* Weights of Tasks: of those that run, how often; of those in other alternatives, how many regions have them. */
void weigh_tasks(Partition *p);

#endif
