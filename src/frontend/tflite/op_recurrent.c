/*
 * Rows of recurrent layers. TensorFlow Lite has the weights of each gate apart, [units,inputs]; the Dag's gates i, o, f
 * and candidate lie side by side. States are variables, which begin as zeros. A cell with its gates coupled has no
 * weights of the input gate: i = 1 - f is the sigmoid of minus what f's takes.
 */
#include "frontend/tflite/rows.h"

#include <string.h>

/* Where the inputs of one direction are. */
typedef struct Places {
	int weights, recurrent, peephole, bias, projection, norm, state; /* norm: -1, there are none */
} Places;

static bool is_given(Visit *v, int k)
{
	return k >= 0 && node_in(v, k) != NULL;
}

/* Input 0 as [T,N,I]. */
static int sequence(Visit *v, bool time_major)
{
	int x = tflite_value(v, 0);
	if (node_ok(v) && node_val(v, x)->shape.rank != 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3", node_val(v, x)->shape.rank);
	return !node_ok(v) || time_major ? x : node_transpose(v, x, (int64_t[]){ 1, 0, 2 });
}

static int in_order(Visit *v, int y, bool time_major)
{
	return !node_ok(v) || time_major ? y : node_transpose(v, y, (int64_t[]){ 1, 0, 2 });
}

/* Four inputs of the gates i, f, candidate, o from `at` on, joined as i, o, f, candidate along axis 0. */
static int gates(Visit *v, int at, bool coupled)
{
	int part[4];
	for (int k = 0; k < 4; k++) {
		static const int order[] = { 0, 3, 1, 2 };
		int from = order[k];
		part[k] = coupled && from == 0 ? node_call1(v, OP_neg, tflite_value(v, at + 1)) : tflite_value(v, at + from);
	}
	return node_ok(v) ? node_concat(v, part, 4, 0) : DAG_NONE;
}

/* Weights of the cell: i, o, f. */
static int peephole(Visit *v, const Places *p, bool coupled)
{
	if (!is_given(v, p->peephole + 1))
		return DAG_NONE;
	int forget = tflite_value(v, p->peephole + 1);
	int part[] = { coupled ? node_call1(v, OP_neg, forget) : tflite_value(v, p->peephole),
		tflite_value(v, p->peephole + 2), forget };
	return node_ok(v) ? node_concat(v, part, 3, 0) : DAG_NONE;
}

/* A state, or DAG_NONE for one that begins as zeros. */
static int state(Visit *v, int k)
{
	const TfliteTensor *t = is_given(v, k) ? tflite_in(v, k) : NULL;
	return t == NULL || (t->variable && t->data == NULL) ? DAG_NONE : tflite_value(v, k);
}

/* [units, units] of each gate as [units, gates, units], the first being those that are read. */
static int recurrent_weights(Visit *v, int r, int64_t units, int n)
{
	Shape s = node_val(v, r)->shape;
	if (node_ok(v) && (s.rank != 2 || s.dim[0] != n * units || s.dim[1] != units))
		node_fail(v, ERR_TYPE, "its recurrent weights do not fit its %lld units", (long long)units);
	if (!node_ok(v))
		return r;
	return node_view(v, node_transpose(v, r, (int64_t[]){ 1, 0 }), 3, (int64_t[]){ units, n, units });
}

/* A clipped cell: without a first state it is below the number of steps, as each adds less than 1. */
static void check_clips(Visit *v, const Places *p, int64_t steps)
{
	double cell = node_attr_float(v, "cell_clip", 0);
	node_attr_float(v, "proj_clip", 0); /* of a projection, which is refused */
	int64_t act = node_attr_int(v, "activation", 4);
	if (node_ok(v) && act != 4)
		node_fail(v, ERR_UNSUPPORTED, "its activation is %lld, but only tanh (4) is supported", (long long)act);
	if (node_ok(v) && cell > 0 && ((double)steps > cell || state(v, p->state + 1) != DAG_NONE))
		import_note(v->im, "%s: its cell_clip of %g is left out, which matters only where a cell grows beyond it",
			v->name, cell);
}

/* All states of one direction over x[T,N,I]. */
static int run_lstm(Visit *v, int x, const Places *p, bool reverse)
{
	bool coupled = !is_given(v, p->weights);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (is_given(v, p->projection) || is_given(v, p->norm)))
		node_fail(v, ERR_UNSUPPORTED, "its %s is not supported",
			is_given(v, p->projection) ? "projection" : "normalisation of gates");
	check_clips(v, p, s.dim[0]);
	int dense[] = { x, gates(v, p->weights, coupled), gates(v, p->bias, coupled) };
	int64_t units = node_val(v, dense[1])->shape.dim[0] / 4;
	int in[] = { node_call(v, OP_dense, dense, 3, NULL, 0),
		recurrent_weights(v, gates(v, p->recurrent, coupled), units, 4), state(v, p->state), state(v, p->state + 1),
		peephole(v, p, coupled) };
	Attr attr = attr_int("reverse", reverse);
	return node_call(v, OP_lstm, in, 5, &attr, 1);
}

static void import_lstm(Visit *v)
{
	static const Places places = { 1, 5, 9, 12, 16, 20, 18 };
	bool time_major = node_attr_flag(v, "time_major", false);
	if (node_attr_flag(v, "diagonal_recurrent_tensors", false))
		node_fail(v, ERR_UNSUPPORTED, "its recurrent weights are diagonals, which is not supported");
	node_set(v, 0, in_order(v, run_lstm(v, sequence(v, time_major), &places, false), time_major));
}

/* Results of both directions, joined along the units if the option says so. */
static void set_both(Visit *v, int forwards, int backwards, bool time_major)
{
	int y[] = { in_order(v, forwards, time_major), in_order(v, backwards, time_major) };
	if (node_attr_flag(v, "merge_outputs", false)) {
		node_set(v, 0, node_ok(v) ? node_concat(v, y, 2, 2) : DAG_NONE);
		return;
	}
	node_set(v, 0, y[0]);
	node_set(v, 1, y[1]);
}

static void import_both_lstm(Visit *v)
{
	static const Places forwards = { 1, 5, 9, 12, 16, -1, 35 }, backwards = { 18, 22, 26, 29, 33, -1, 37 };
	bool time_major = node_attr_flag(v, "time_major", false);
	int x = sequence(v, time_major);
	if (node_ok(v) && is_given(v, 39))
		node_fail(v, ERR_UNSUPPORTED, "its second sequence is not supported");
	int a = run_lstm(v, x, &forwards, false);
	set_both(v, a, run_lstm(v, x, &backwards, true), time_major);
}

/* Inputs from `at` on: weights, recurrent weights, bias, the state. */
static int run_rnn(Visit *v, int x, int at, bool reverse)
{
	static const char *const acts[] = { "affine", "relu", NULL, NULL, "tanh" };
	int64_t act = node_attr_int(v, "activation", 0);
	bool known = act >= 0 && act <= 4 && acts[act] != NULL;
	if (node_ok(v) && !known)
		node_fail(v, ERR_UNSUPPORTED, "its activation is %lld, which is not supported in a recurrence", (long long)act);
	int dense[] = { x, tflite_value(v, at), tflite_value(v, at + 2) };
	int64_t units = node_val(v, dense[1])->shape.dim[0];
	int in[] = { node_call(v, OP_dense, dense, 3, NULL, 0), recurrent_weights(v, tflite_value(v, at + 1), units, 1),
		state(v, at + 3) };
	Attr attr[] = { attr_int("reverse", reverse), attr_text("acts", known ? acts[act] : "tanh"),
		attr_float("f_alpha", 1) };
	return node_call(v, OP_rnn, in, 3, attr, act == 0 ? 3 : 2);
}

static void import_rnn(Visit *v)
{
	bool time_major = node_attr_flag(v, "time_major", false);
	node_set(v, 0, in_order(v, run_rnn(v, sequence(v, time_major), 1, false), time_major));
}

static void import_both_rnn(Visit *v)
{
	bool time_major = node_attr_flag(v, "time_major", false);
	int x = sequence(v, time_major);
	if (node_ok(v) && is_given(v, 9))
		node_fail(v, ERR_UNSUPPORTED, "its second sequence is not supported");
	int a = run_rnn(v, x, 1, false);
	set_both(v, a, run_rnn(v, x, 5, true), time_major);
}

/* One step: act(W x + R h + b). */
static void import_rnn_step(Visit *v)
{
	int from[] = { tflite_value(v, 0), tflite_value(v, 1), tflite_value(v, 3) };
	int h[] = { tflite_value(v, 4), tflite_value(v, 2) };
	int y = node_call2(v, OP_add, node_call(v, OP_dense, from, 3, NULL, 0), node_call(v, OP_dense, h, 2, NULL, 0));
	node_set(v, 0, tflite_activate(v, y));
}

const NodeRow tflite_recurrent_rows[] = {
	{ "UNIDIRECTIONAL_SEQUENCE_LSTM", 0, "", import_lstm },
	{ "BIDIRECTIONAL_SEQUENCE_LSTM", 0, "", import_both_lstm },
	{ "UNIDIRECTIONAL_SEQUENCE_RNN", 0, "", import_rnn },
	{ "BIDIRECTIONAL_SEQUENCE_RNN", 0, "", import_both_rnn },
	{ "RNN", 0, "", import_rnn_step },
	{ NULL, 0, NULL, NULL },
};
