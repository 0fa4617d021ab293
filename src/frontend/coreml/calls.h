/*
 * Calls that layers of networks and operators of ML programs share, with plain arguments.
 */
#ifndef FRONTEND_COREML_CALLS_H
#define FRONTEND_COREML_CALLS_H

#include "frontend/node/visit.h"

/* ---- reductions (call_reduce.c) */

typedef enum {
	REDUCE_SUM,
	REDUCE_MEAN,
	REDUCE_PROD,
	REDUCE_MAX,
	REDUCE_MIN,
	REDUCE_L1,
	REDUCE_L2,
	REDUCE_SUM_SQUARE,
	REDUCE_LOG_SUM, /* the logarithm of the sum */
	REDUCE_SUM_LOG, /* the sum of logarithms of x + epsilon */
	REDUCE_LOG_SUM_EXP
} Reduction;

/* Over n axes, negative ones counted from the end; n = -1: all. */
int coreml_reduce(Visit *v, Reduction kind, int x, const int64_t *axes, int n, bool keep, double epsilon);
/* Places of the largest or the smallest element, i64; without `keep` a list of one number stays one. */
int coreml_arg(Visit *v, int op, int x, int64_t axis, bool keep);
/* The k first in order along an axis; result 0 or 1 of the call. */
int coreml_top_k(Visit *v, int x, int64_t axis, int64_t k, bool largest, int *places);
/* Sums (or products) up to each element. */
int coreml_scan(Visit *v, int x, int64_t axis, bool exclusive, bool reverse);

/* ---- moves (call_move.c) */

/* A slice as NumPy writes it, with masks for bounds that do not count and for axes that go; lists of `rank` numbers. */
typedef struct CoremlSlicing {
	const int64_t *begin, *end, *stride;
	const int64_t *from_edge, *to_edge, *squeeze; /* not 0: counts; NULL: none */
} CoremlSlicing;

int coreml_slice(Visit *v, int x, const CoremlSlicing *s);
/* -1 is what is left, 0 the input's own dimension where `keep`. */
int coreml_reshape(Visit *v, int x, const int64_t *dim, int n, bool keep);
int coreml_expand_dims(Visit *v, int x, const int64_t *axes, int n);
/* n = -1: all dimensions of 1. */
int coreml_squeeze(Visit *v, int x, const int64_t *axes, int n);
int coreml_tile(Visit *v, int x, const int64_t *times, int n);
int coreml_reverse(Visit *v, int x, const bool *on);
/* Steps of each batch reversed up to its length, a list i64. */
int coreml_reverse_sequence(Visit *v, int x, int lengths, int batch_axis, int axis);
int coreml_stack(Visit *v, const int *x, int n, int64_t axis);
/* Parts of these sizes along an axis become results 0, 1, ..; set is node_set or coreml_set. */
void coreml_split(Visit *v, int x, int axis, const int64_t *sizes, int n, void (*set)(Visit *, int, int));
/* Channels of [N,C,H,W] that alternate between inputs. */
int coreml_interleave(Visit *v, const int *x, int n, int axis);
typedef enum { SPACE_TO_DEPTH, DEPTH_TO_SPACE, PIXEL_SHUFFLE, PIXEL_UNSHUFFLE } Rearrangement;
/* [N,C,H,W] by blocks. */
int coreml_rearrange(Visit *v, int x, Rearrangement kind, int64_t block);
/* All windows of `size` elements, `step` apart: [.., n, ..] -> [.., windows, size, ..]. */
int coreml_windows(Visit *v, int x, int64_t axis, int64_t size, int64_t step);
/* Elements from `lower` diagonals below to `upper` above the main one stay, -1: all; others become 0. */
int coreml_band(Visit *v, int x, int64_t lower, int64_t upper);

/* ---- places (call_place.c) */

/* Negative places count from the end. */
int coreml_gather(Visit *v, int x, int index, int64_t axis, int batch);
int coreml_gather_along(Visit *v, int x, int index, int64_t axis);
int coreml_gather_nd(Visit *v, int x, int index, int batch);
/* mode: "update", "add", "sub", "mul", "div", "max", "min". */
int coreml_scatter(Visit *v, int x, int index, int updates, int64_t axis, const char *mode);
int coreml_scatter_along(Visit *v, int x, int index, int updates, int64_t axis, const char *mode);
int coreml_scatter_nd(Visit *v, int x, int index, int updates, const char *mode);
/* `on` where the index is the place along a new axis of `size`, else `off`, which give the type. */
int coreml_one_hot(Visit *v, int index, int64_t size, int64_t axis, int on, int off);

/* ---- conditions and iterations (call_control.c) */

/* node_open_graph and node_run_graph. */
bool coreml_run_graph(Visit *v, const NodeGraph *g, const char *part, Item *const *in, int nin, Item **out, int nout);
/* The truth of a known condition. */
bool coreml_is_true(Visit *v, const Item *it);
/* Result k is one of both, by input `cond`, a truth or a number that is not 0. */
void coreml_choose(Visit *v, int k, int cond, Item *a, Item *b);
/* Another iteration; false: there are too many, which is refused. */
bool coreml_count_step(Visit *v);

#endif
