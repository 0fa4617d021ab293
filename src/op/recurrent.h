/*
 * Recurrent operators (rnn, gru, lstm): what the shape rule, the naive Fn and the front ends share. The attribute
 * `acts` lists activations with dots between them, "sigmoid.tanh.tanh": f of the gates, g of the candidate, h of the
 * cell. Each has an alpha and a beta, the attributes f_alpha, f_beta, g_alpha and so on.
 */
#ifndef OP_RECURRENT_H
#define OP_RECURRENT_H

#include "op/op.h"

typedef enum {
#define ACTIVATION(name, ...) ACTIVATION_##name,
#include "op/activation.def"
#undef ACTIVATION
	ACTIVATION_COUNT
} Activation;

typedef struct ActivationRow {
	const char *name, *onnx;
	double alpha, beta;
} ActivationRow;

extern const ActivationRow activation_rows[ACTIVATION_COUNT];

/* Gates of a cell: 1, 3, 4; 0: the operator is not recurrent. Activations: 1, 2, 3. */
int recurrent_gates(int op);
int recurrent_acts(int op);
/* The k-th activation of the call's list; -1: it is none, or the list has another length than the operator needs. */
int recurrent_act(const OpCall *c, int k);
/*
 * How large elements of a value may be, so that no step makes a rounding error larger: the weights of a recurrence by
 * its state's length. INFINITY: no recurrence is weighted with it.
 */
double recurrent_bound(const Dag *d, int value);

#endif
