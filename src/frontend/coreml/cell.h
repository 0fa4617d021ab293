/* A recurrence over x[T,N,I], with plain arguments: what layers of networks and operators of ML programs share. */
#ifndef FRONTEND_COREML_CELL_H
#define FRONTEND_COREML_CELL_H

#include "frontend/node/visit.h"

/* Gates in the order of the Dag: 1; z, r, o; i, o, f, z. Absent values are DAG_NONE. */
typedef struct CoremlCell {
	int op;
	int w, r;     /* [gates * H, I], [gates * H, H] */
	int bias;     /* [gates * H] */
	int after;    /* of gru: [H], added to the candidate's product before the reset gate; it makes that linear */
	int peephole; /* [3H], of i, o, f */
	int first[2]; /* [N,H] */
	bool reverse, linear, coupled;
	const char *acts; /* "sigmoid.tanh.tanh" */
	double alpha[3], beta[3];
	double clip; /* of what activations read; 0: none */
} CoremlCell;

/* x[T,N,I]; out: all states [T,N,H] in the order of the input, the last h, the last c. */
void coreml_run_cell(Visit *v, const CoremlCell *c, int x, int *out);

#endif
