/*
 * Which images may be NHWC on a target with matrix units. compile/channels_last.c chooses among the regions; layouts of
 * other targets are graph_layouts'.
 */
#ifndef GRAPH_LAYOUTS_H
#define GRAPH_LAYOUTS_H

#include "graph/graph.h"

/*
 * Regions of images that convolutions in the target's matrix units read or write: region[v] is the number of value v's
 * region, DAG_NONE if it has none. Returns how many there are. One layout in a region converts nothing inside.
 */
int graph_matrix_regions(const Dag *d, const Target *t, int *region);
/* Makes the images of these regions NHWC where last[] says so; the other results of calls are row-major. */
void graph_channels_last(Dag *d, const int *region, const bool *last);

/* The blocks of value v where they are not chosen by graph_layouts; NULL: it can have none. */
const char *graph_blocks(const Dag *d, const Target *t, int v);

#endif
