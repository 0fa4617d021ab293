/* Two groups of a partition as one Task: alternatives that one kind of target takes. */
#ifndef GRAPH_PAIRS_H
#define GRAPH_PAIRS_H

#include "graph/graph.h"

/* Adds alternatives for devices with warps: a depthwise convolution and its only, pointwise reader as one Task. */
bool graph_pairs(Arena *a, const Dag *d, Partition *p, Err *err);
/*
 * Pairs for CPUs, each the first alternative of a region, and taken. A pointwise or strided convolution becomes one
 * Task with the depthwise one that alone reads its result, if that result leaves the near caches of `t`; NULL: none
 * does. Elementwise calls become one Task with the convolution or pooling that alone reads them: its prologue. NULL:
 * err says why.
 */
Partition *graph_near_pairs(Arena *a, const Dag *d, const Target *t, Partition *p, Err *err);

#endif
