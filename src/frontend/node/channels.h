/*
 * Values whose channels come last, [N,spatial..,C], computed with channels second, [N,C,spatial..], as the Dag's
 * windows want them. A call that reads a value of node_to_last reads what was turned: elementwise calls, paddings and
 * reductions happen before the transposition, so that a network has moves at its edges only.
 */
#ifndef FRONTEND_NODE_CHANNELS_H
#define FRONTEND_NODE_CHANNELS_H

#include "frontend/node/visit.h"

/* [N,spatial..,C] -> [N,C,spatial..]; what node_to_last made is taken back. Below 3 dimensions both are the same. */
int node_to_second(Visit *v, int x);
int node_to_last(Visit *v, int y);
/* node_to_last made it. */
bool node_is_last(Visit *v, int x);
/* Where axis k of [N,spatial..,C] is in [N,C,spatial..]. */
int channels_axis(int axis, int rank);
/* An elementwise call with broadcasting. */
int node_each(Visit *v, int op, const int *in, int nin, const Attr *attr, int nattr);
int node_each1(Visit *v, int op, int x);
int node_each2(Visit *v, int op, int a, int b);
/*
 * A call of one result that treats dimensions by their number: a list has an entry for each dimension, or two (all
 * begins, then all ends).
 */
int node_along(Visit *v, int op, int x, Attr *attr, int nattr);
/* A reduction over axes, in any order. */
int node_reduce(Visit *v, int op, int x, const int64_t *axes, int n, bool keep);
/* A call with an attribute `axis`, of an operator that keeps the number of dimensions. */
int node_axis_call(Visit *v, int op, const int *in, int nin, int axis, const Attr *more, int nmore);
/*
 * Pixels of [N,C,H,W] become channels, s * s of each. `mixed`: as DarkNet's reorg, which reads [C,H,W] as
 * [C/s^2,H*s,W*s] and takes from there; `back`: what undoes that.
 */
int node_reorg(Visit *v, int x, int64_t s, bool mixed, bool back);

#endif
