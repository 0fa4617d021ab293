/*
 * Inside the room: groups of the calls that no anchor takes (cones.c).
 */
#ifndef GRAPH_CONES_H
#define GRAPH_CONES_H

#include "op/dag.h"

/* The calls that read value v are reader[readers[v] .. readers[v + 1]), a call once for each operand. */
typedef struct Readers {
	int *reader, *readers;
	bool *outputs; /* of each value: it is one of the network's */
} Readers;

/*
 * Of each call for which `loose` holds, the last call of its group; -1 for the others. Only that last call's results
 * are read outside the group. In time linear in calls and operands.
 */
void graph_find_cones(Arena *a, const Dag *d, const Readers *r, const bool *loose, int *root);

#endif
