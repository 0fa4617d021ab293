/* Recurrent layers: the input's product, biases included, is a dense layer over all steps, then one call of the Dag. */
#ifndef FRONTEND_NODE_RECURRENT_CELL_H
#define FRONTEND_NODE_RECURRENT_CELL_H

#include "frontend/node/visit.h"

/* One direction of one layer. Values that are absent are DAG_NONE. Gates are in the Dag's order. */
typedef struct RecurrentCell {
	int op;           /* OP_rnn, OP_gru, OP_lstm */
	int64_t size;     /* elements of a state */
	int x;            /* [steps,batch,inputs] */
	int w, r;         /* [gates*size,inputs], [gates*size,size] */
	int wb, rb;       /* biases of input and state, [gates*size]; both or none */
	int h, c;         /* the first states, [batch,size] */
	int peep;         /* weights of the cell, [3*size] */
	int length;       /* of each sequence */
	bool reverse;
	bool linear;      /* gru: the state's bias of the candidate is added before the reset gate */
	const Attr *attr; /* more attributes of the call: activations, a clip */
	int nattr;
} RecurrentCell;

/* The call's first result: all states. */
int node_recurrent(Visit *v, const RecurrentCell *c);
/* Rows of gates as cuDNN has them (i f c o; r z n), in the Dag's order (i o f c; z r n). */
int node_order_gates(Visit *v, int op, int x);

#endif
