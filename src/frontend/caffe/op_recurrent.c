/*
 * Rows of Caffe's recurrent layers, as RecurrentLayer unrolls them: steps are written out one behind the other, since a
 * second input, `cont`, cuts sequences at any step. It is 0 where a sequence begins, else 1, for each step and each
 * sequence of the batch.
 */
#include "frontend/caffe/caffe.h"

#include "frontend/node/compose.h"

#include <math.h>

enum { MOST_STEPS = 1 << 12 };

typedef struct Recurrent {
	int64_t steps, batch, size, gates; /* gates: rows of weights over size */
	int fixed;                         /* the product of the static input, or DAG_NONE */
	int x, cont;                       /* [steps, batch, gates * size], [steps, batch, 1] */
	int w;                             /* of the state */
	int blob;                          /* the next one */
} Recurrent;

/* x[rows, K..] times weights [gates * size, K]. */
static int product(Visit *v, const Recurrent *r, int k, const char *what, const Item *it, int64_t rows, int bias)
{
	int64_t all = shape_elements(it->shape), in = rows > 0 ? all / rows : 0, n = r->gates * r->size;
	if (!node_ok(v))
		return DAG_NONE;
	int w = caffe_constant(v, k, what, shape_of(2, (int64_t[]){ n, in }), 0, sqrt(1 / fmax(1, (double)in)));
	int call[] = { node_view(v, node_item_value(v, (Item *)(uintptr_t)it), 2, (int64_t[]){ rows, in }), w, bias };
	return node_call(v, OP_dense, call, 3, NULL, 0);
}

static bool open_layer(Visit *v, Recurrent *r, int64_t gates, int states)
{
	const Item *x = node_need(v, 0), *cont = node_need(v, 1);
	bool exposed = node_attr_flag(v, "expose_hidden", false);
	int more = exposed ? states : 0, nin = node_nin(v);
	bool fixed = nin > 2 + more;
	*r = (Recurrent){ .size = caffe_count(v, "num_output", 0, 1), .gates = gates, .fixed = DAG_NONE, .blob = 2 };
	if (node_ok(v) && x->shape.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs steps and sequences at least", x->shape.rank);
	if (node_ok(v) &&
		(cont->shape.rank != 2 || cont->shape.dim[0] != x->shape.dim[0] || cont->shape.dim[1] != x->shape.dim[1]))
		node_fail(v, ERR_TYPE, "its second input, cont, must have the steps and sequences of the first one");
	if (node_ok(v) && (x->shape.dim[0] < 1 || x->shape.dim[0] > MOST_STEPS || x->shape.dim[1] < 1))
		node_fail(v, ERR_UNSUPPORTED, "it has %lld steps; they are written out, 1 to %d of them",
			(long long)x->shape.dim[0], MOST_STEPS);
	if (node_ok(v) && (nin < 2 + more || nin > 3 + more))
		node_fail(
			v, ERR_INPUT, "it has %d inputs, but needs %d, or one more that is the same in all steps", nin, 2 + more);
	if (!node_ok(v))
		return false;
	r->steps = x->shape.dim[0];
	r->batch = x->shape.dim[1];
	int64_t rows = r->gates * r->size;
	int b = caffe_constant(v, 1, "bias", shape_of(1, &rows), 0, 0.1);
	int y = product(v, r, 0, "weights of its input", x, r->steps * r->batch, b);
	r->x = node_view(v, y, 3, (int64_t[]){ r->steps, r->batch, rows });
	r->cont = node_view(v, node_value(v, 1), 3, (int64_t[]){ r->steps, r->batch, 1 });
	if (fixed) {
		const Item *z = node_need(v, 2);
		if (z->shape.rank < 1 || z->shape.dim[0] != r->batch)
			node_fail(v, ERR_TYPE, "its static input must begin with the %lld sequences", (long long)r->batch);
		r->fixed = product(v, r, r->blob++, "weights of its static input", z, r->batch, DAG_NONE);
	}
	r->w = caffe_constant(v, r->blob++, "weights of its state", shape_of(2, (int64_t[]){ rows, r->size }), 0,
		sqrt(1 / fmax(1, (double)r->size)));
	return node_ok(v);
}

/* The first state k: an input where states are exposed, else zeros. */
static int first_state(Visit *v, const Recurrent *r, int k, int states)
{
	Shape s = shape_of(2, (int64_t[]){ r->batch, r->size });
	if (!node_ok(v) || !node_attr_flag(v, "expose_hidden", false))
		return node_ok(v) ? node_expand(v, node_number(v, F32, 0), s) : DAG_NONE;
	int at = node_nin(v) - states + k;
	const Item *it = node_need(v, at);
	if (node_ok(v) && shape_elements(it->shape) != shape_elements(s))
		node_fail(v, ERR_TYPE, "its first state, input %d, must have %lld sequences of %lld numbers", at + 1,
			(long long)r->batch, (long long)r->size);
	return node_ok(v) ? node_reshape(v, node_value(v, at), s) : DAG_NONE;
}

/* What the gates of step t get: the input's part, and that of the state before, which cont cuts. */
static int gates_of(Visit *v, const Recurrent *r, int t, int h, int cont)
{
	int in[] = { node_call2(v, OP_mul, h, cont), r->w, DAG_NONE };
	int y = node_call2(v, OP_add, node_part(v, r->x, t), node_call(v, OP_dense, in, 3, NULL, 0));
	return r->fixed != DAG_NONE ? node_call2(v, OP_add, y, r->fixed) : y;
}

/* Results of all steps, then the last states where the layer gives them. */
static void set_results(Visit *v, const Recurrent *r, const int *step, const int *last, int states)
{
	int *at = arena_array(v->im->arena, int, r->steps + 1);
	for (int64_t t = 0; t < r->steps && node_ok(v); t++)
		at[t] = node_view(v, step[t], 3, (int64_t[]){ 1, r->batch, r->size });
	if (node_ok(v))
		node_set(v, 0, node_concat(v, at, (int)r->steps, 0));
	for (int k = 0; k < states && k + 1 < node_nout(v) && node_ok(v); k++)
		node_set(v, 1 + k, node_view(v, last[k], 3, (int64_t[]){ 1, r->batch, r->size }));
}

/* Gates i, f, o and a candidate; at a sequence's begin the cell of before counts as 0. */
static void import_lstm(Visit *v)
{
	Recurrent r;
	if (!open_layer(v, &r, 4, 2))
		return;
	int state[] = { first_state(v, &r, 0, 2), first_state(v, &r, 1, 2) };
	int *out = arena_array(v->im->arena, int, r.steps + 1);
	for (int t = 0; t < r.steps && node_ok(v); t++) {
		int cont = node_part(v, r.cont, t), gates = gates_of(v, &r, t, state[0], cont), part[4];
		for (int k = 0; k < 4; k++)
			part[k] = node_call1(v, k < 3 ? OP_sigmoid : OP_tanh, node_slice(v, gates, 1, k * r.size, r.size));
		int forget = node_call2(v, OP_mul, cont, part[1]);
		state[1] =
			node_call2(v, OP_add, node_call2(v, OP_mul, forget, state[1]), node_call2(v, OP_mul, part[0], part[3]));
		out[t] = state[0] = node_call2(v, OP_mul, part[2], node_call1(v, OP_tanh, state[1]));
	}
	set_results(v, &r, out, state, 2);
}

/* A state of tanh, and a result of tanh on top of it. */
static void import_rnn(Visit *v)
{
	Recurrent r;
	if (!open_layer(v, &r, 1, 1))
		return;
	int h = first_state(v, &r, 0, 1), *out = arena_array(v->im->arena, int, r.steps + 1);
	int w = caffe_constant(v, r.blob, "weights of its result", shape_of(2, (int64_t[]){ r.size, r.size }), 0,
		sqrt(1 / fmax(1, (double)r.size)));
	int b = caffe_constant(v, r.blob + 1, "bias of its result", shape_of(1, &r.size), 0, 0.1);
	for (int t = 0; t < r.steps && node_ok(v); t++) {
		h = node_call1(v, OP_tanh, gates_of(v, &r, t, h, node_part(v, r.cont, t)));
		int in[] = { h, w, b };
		out[t] = node_call1(v, OP_tanh, node_call(v, OP_dense, in, 3, NULL, 0));
	}
	set_results(v, &r, out, &h, 1);
}

const NodeRow caffe_recurrent_rows[] = {
	{ "LSTM", 0, "", import_lstm },
	{ "RNN", 0, "", import_rnn },
	{ NULL, 0, NULL, NULL },
};
