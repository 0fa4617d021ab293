/* A symbol and its arrays as a NodeGraph: which variables are inputs, weights or labels, and how values are called. */
#ifndef FRONTEND_MXNET_GRAPH_H
#define FRONTEND_MXNET_GRAPH_H

#include "frontend/mxnet/symbol.h"

/* Of a node that stands for a weight without an array. */
typedef struct MxnetOpen {
	Shape shape; /* as far as the symbol says it */
	bool shaped; /* all of it */
} MxnetOpen;

/*
 * `params` NULL: there is no file of arrays, and weights become nodes "null", whose data are made when their shapes are
 * known. With a file, a weight without an array, an array without a weight is refused.
 */
bool mxnet_graph(Arena *a, const char *path, const MxnetSymbol *s, const MxnetParams *params, NodeGraph *out, Err *err);

#endif
