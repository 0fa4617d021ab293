/*
 * Recurrences that the Dag's operators do not have, because of an activation or of a convolution between the steps: a
 * few calls for each step, whose number is known.
 */
#ifndef FRONTEND_KERAS_UNROLL_H
#define FRONTEND_KERAS_UNROLL_H

#include "frontend/keras/keras.h"
#include "frontend/node/windows.h"

typedef struct Unrolled {
	int op;                 /* OP_rnn, OP_gru, OP_lstm */
	int64_t units;          /* H, channels of a state [N,H,spatial..] */
	const Json *act, *gate; /* the activation, and that of the gates; NULL or null: x */
	int x;                  /* [T,N,gates*H,spatial..], the input's part with its biases, gates in Keras' order */
	int u;                  /* [gates*H,H], or a kernel [gates*H,H,kernel..] */
	const Windows *win;     /* of the kernel; NULL: u is a matrix */
	bool last;              /* activations see channels last */
	int own;                /* gru with `after`: the candidate's bias of the state's part, or DAG_NONE */
	bool after;             /* gru: the reset gate multiplies the product */
	int state[2];           /* the first ones; DAG_NONE: zeros */
	int length;             /* i32[N]: steps behind these keep the state; DAG_NONE: all count */
	int mask;               /* bool [N,T]: the same for steps that are false; DAG_NONE: all count */
	bool backwards;
} Unrolled;

/* All states [T,N,H,spatial..], in the order of the input; `last`: of h, and of c. Many steps are refused. */
int keras_unroll(Visit *v, const Unrolled *r, int *last);

#endif
