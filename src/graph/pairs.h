/* Two groups of a partition as one Task: alternatives that one kind of target takes. */
#ifndef GRAPH_PAIRS_H
#define GRAPH_PAIRS_H

#include "graph/graph.h"

/* Adds alternatives for devices with warps: a depthwise convolution and its only, pointwise reader as one Task. */
bool graph_pairs(Arena *a, const Dag *d, Partition *p, Err *err);
/*
 * Elementwise calls become one Task with the convolution or pooling that alone reads them: its prologue. That is the
 * first alternative of a region, and taken. NULL: err says why.
 */
Partition *graph_prologues(Arena *a, const Dag *d, Partition *p, Err *err);

#endif
