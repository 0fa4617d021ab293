/*
 * Nodes in topological order through their rows: of the graph, and of subgraphs, which nodes hold as attributes.
 */
#ifndef FRONTEND_ONNX_WALK_H
#define FRONTEND_ONNX_WALK_H

#include "frontend/onnx/visit.h"

bool onnx_walk(Import *im, Frame *f, const OnnxNode *node, size_t n);
/* Reads a subgraph's initialisers into a frame, in which the subgraph is run once or more. */
bool onnx_open_graph(Visit *v, const OnnxGraph *g, Frame *out);
/* Runs it: in[k] become its inputs, out[k] are its results. `part` names this run in names of values: "3/". */
bool onnx_run_graph(
	Visit *v, const OnnxGraph *g, const Frame *open, const char *part, Item *const *in, int nin, Item **out, int nout);

#endif
