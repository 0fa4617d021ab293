/*
 * Nodes in topological order through their rows: of the graph, and of subgraphs, which nodes hold as attributes.
 */
#ifndef FRONTEND_NODE_TRAVERSE_H
#define FRONTEND_NODE_TRAVERSE_H

#include "frontend/node/visit.h"

bool node_walk(Import *im, Frame *f, const NodeDef *node, size_t n);
/* Reads a subgraph's weights into a frame, in which the subgraph is run once or more. */
bool node_open_graph(Visit *v, const NodeGraph *g, Frame *out);
/* Runs it: in[k] become its inputs, out[k] are its results. `part` names this run in names of values: "3/". */
bool node_run_graph(
	Visit *v, const NodeGraph *g, const Frame *open, const char *part, Item *const *in, int nin, Item **out, int nout);

#endif
