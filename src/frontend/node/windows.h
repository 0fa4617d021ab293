/*
 * Windows of convolutions and poolings over [N,C,spatial..], as numbers: what the formats write as padding by name or
 * as rounding becomes pads here, because shapes are known.
 */
#ifndef FRONTEND_NODE_WINDOWS_H
#define FRONTEND_NODE_WINDOWS_H

#include "frontend/node/visit.h"

enum { MOST_SPATIAL = 3 };

typedef struct Windows {
	int n; /* spatial dimensions; 0 after a refusal */
	int64_t kernel[MOST_SPATIAL], stride[MOST_SPATIAL], dilation[MOST_SPATIAL];
	int64_t pads[2 * MOST_SPATIAL]; /* all begins, then all ends */
} Windows;

/*
 * `n` numbers of an attribute that is given, else `otherwise` in each place. One number counts for all places in loose
 * formats.
 */
void node_attr_list(Visit *v, const char *name, int n, int64_t least, int64_t otherwise, int64_t *out);
/* Windows of one element over an input of that shape, which is checked. */
Windows windows_over(Visit *v, const Shape *x);
/* The result has ceil(in / stride) elements; an odd pad goes to the end (`upper`) or to the begin. */
void windows_pad_same(Windows *w, const Shape *x, bool upper);
/* The pads that make rounding down equal to rounding up: they extend to the end of the last window. */
void windows_pad_for_ceil(Windows *w, const Shape *x);
/*
 * The pads that give the result of a transposed convolution its size. What is too much is cut off, the odd element at
 * the end (`upper`) or the begin; what is missing becomes output padding in `extend`. `size` NULL: the input's times
 * the stride.
 */
void windows_pad_transposed(Windows *w, const Shape *x, const int64_t *size, bool upper, int64_t *extend);
/* The same where the begins are given: the ends follow. */
void windows_pad_transposed_end(Windows *w, const Shape *x, const int64_t *size, int64_t *extend);

/* Calls with windows; b: DAG_NONE or the bias. Weights are [M,C/groups,kernel..], transposed [C,M/groups,kernel..]. */
int node_conv(Visit *v, int x, int w, int b, const Windows *win, int64_t groups);
int node_conv_transpose(Visit *v, int x, int w, int b, const Windows *win, const int64_t *extend, int64_t groups);
int node_max_pool(Visit *v, int x, const Windows *win, bool ceil);
/* The same windows, but the places of the largest elements. */
int node_max_pool_place(Visit *v, int x, const Windows *win, bool ceil);
int node_avg_pool(Visit *v, int x, const Windows *win, bool ceil, bool count_pad);
/* Root of the sum of squares, in f32 for halves. */
int node_l2_pool(Visit *v, int x, const Windows *win, bool ceil);
/* A reduction over all spatial dimensions, which stay as 1. */
int node_global(Visit *v, int op, int x);

#endif
