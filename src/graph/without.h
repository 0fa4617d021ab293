/* What the graph does for speed may be left out of a model, for measurements: rows of without.def. */
#ifndef GRAPH_WITHOUT_H
#define GRAPH_WITHOUT_H

#include "op/dag.h"

typedef enum {
#define FEATURE(name, doc) FEATURE_OF_GRAPH_##name,
#include "graph/without.def"
#undef FEATURE
	FEATURES_OF_GRAPH
} GraphFeature;

/* Names of rows between commas: copies of the model leave them out too. Refuses other names. */
bool graph_leave_out(Dag *d, const char *names, Err *err);
bool graph_does(const Dag *d, GraphFeature f);
/* The same by name; true for names that are no row. */
bool graph_does_named(const Dag *d, const char *name);

#endif
