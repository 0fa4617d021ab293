/*
 * The precision that a network is computed in: rows of precision.def. It is part of the workload, so records of one
 * precision never serve another. Inputs and outputs of the network keep their types.
 */
#ifndef GRAPH_PRECISION_H
#define GRAPH_PRECISION_H

#include "graph/graph.h"

typedef enum Precision {
#define PRECISION(name, ...) PRECISION_##name,
#include "graph/precision.def"
#undef PRECISION
	PRECISIONS
} Precision;

const char *precision_name(Precision p);

/*
 * Runs graph_optimize on d, then turns its f32 values into p's. Weights of wide exponents lose: a finite number that
 * the type cannot hold becomes its largest one. fp32: d stays as it is.
 */
bool graph_precision(Dag *d, Precision p, EvalFn eval, Err *err);

#endif
