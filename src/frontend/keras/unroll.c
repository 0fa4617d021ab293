/* The steps of a recurrence as calls of their own; unroll.h says when. Formulas are those of Keras' cells. */
#include "frontend/keras/unroll.h"

#include <string.h>

/* Of an LSTM these are 54 000 calls: 2.5 s and 1.4 GB to compile. Loops are written out to 65 536 calls. */
enum { MOST_STEPS = 2048 };

typedef struct State {
	int h, c;
	int u, last; /* the state's weights: of all gates that it is multiplied for at once; of the gate that is left */
} State;

static int activated(Visit *v, const Unrolled *r, int x, const Json *how)
{
	return r->last ? node_to_second(v, keras_activate_as(v, node_to_last(v, x), how)) : keras_activate_as(v, x, how);
}

/* Gates first .. first + n - 1 of a value [N,gates*H,..]. */
static int gates_of(Visit *v, const Unrolled *r, int x, int first, int n)
{
	return node_ok(v) ? node_slice(v, x, 1, first * r->units, n * r->units) : x;
}

/* The gates of which `u` are the weights, of the state's part. */
static int product(Visit *v, const Unrolled *r, int h, int u)
{
	int in[] = { h, u };
	return r->win != NULL ? node_conv(v, h, u, DAG_NONE, r->win, 1) : node_call(v, OP_dense, in, 2, NULL, 0);
}

static void step_rnn(Visit *v, const Unrolled *r, int x, State *s)
{
	s->h = activated(v, r, node_call2(v, OP_add, x, product(v, r, s->h, s->u)), r->act);
}

/* c' = f c + i g, h' = o act(c') */
static void step_lstm(Visit *v, const Unrolled *r, int x, State *s)
{
	int z = node_call2(v, OP_add, x, product(v, r, s->h, s->u)), gate[4];
	for (int k = 0; k < 4; k++)
		gate[k] = activated(v, r, gates_of(v, r, z, k, 1), k == 2 ? r->act : r->gate);
	s->c = node_call2(v, OP_add, node_call2(v, OP_mul, gate[1], s->c), node_call2(v, OP_mul, gate[0], gate[2]));
	s->h = node_call2(v, OP_mul, gate[3], activated(v, r, s->c, r->act));
}

/* h' = z h + (1 - z) g */
static void step_gru(Visit *v, const Unrolled *r, int x, State *s)
{
	int all = product(v, r, s->h, s->u), gate[2], g;
	for (int k = 0; k < 2; k++)
		gate[k] = activated(v, r, node_call2(v, OP_add, gates_of(v, r, x, k, 1), gates_of(v, r, all, k, 1)), r->gate);
	if (r->after) {
		g = gates_of(v, r, all, 2, 1);
		g = node_call2(v, OP_mul, gate[1], r->own != DAG_NONE ? node_call2(v, OP_add, g, r->own) : g);
	} else {
		g = product(v, r, node_call2(v, OP_mul, gate[1], s->h), s->last);
	}
	g = activated(v, r, node_call2(v, OP_add, gates_of(v, r, x, 2, 1), g), r->act);
	int rest = node_call2(v, OP_sub, node_number(v, F32, 1), gate[0]);
	s->h = node_call2(v, OP_add, node_call2(v, OP_mul, gate[0], s->h), node_call2(v, OP_mul, rest, g));
}

/* bool [N,1,..]: which sequences have step t; DAG_NONE: all. */
static int counts(Visit *v, const Unrolled *r, int t)
{
	Shape s = node_val(v, r->x)->shape, to = { .rank = s.rank - 1, .dim = { s.dim[1] } };
	int on = DAG_NONE;
	for (int k = 1; k < to.rank; k++)
		to.dim[k] = 1;
	if (r->mask != DAG_NONE && node_ok(v))
		on = node_slice(v, r->mask, 1, t, 1);
	else if (r->length != DAG_NONE)
		on = node_call2(v, OP_less, node_number(v, I32, t), r->length);
	return on != DAG_NONE && node_ok(v) ? node_reshape(v, on, to) : DAG_NONE;
}

static int first_state(Visit *v, int given, Shape s)
{
	char have[160], need[160];
	if (given == DAG_NONE)
		return node_expand(v, node_number(v, F32, 0), s);
	if (node_ok(v) && !shape_eq(node_val(v, given)->shape, s))
		node_fail(v, ERR_TYPE, "its first state has the shape %s, but %s is needed",
			shape_str(node_val(v, given)->shape, have), shape_str(s, need));
	return given;
}

int keras_unroll(Visit *v, const Unrolled *r, int *last)
{
	Shape s = node_val(v, r->x)->shape, one = { .rank = s.rank - 1 };
	int64_t steps = node_ok(v) ? s.dim[0] : 0;
	if (steps > MOST_STEPS)
		node_fail(v, ERR_UNSUPPORTED,
			"its recurrence is written out step by step, and has %lld steps: dlc does that for at most %d; the "
			"activations tanh, sigmoid, relu, linear and others of docs/keras.md need no such limit",
			(long long)steps, MOST_STEPS);
	if (!node_ok(v))
		return DAG_NONE;
	memcpy(one.dim, &s.dim[1], sizeof *s.dim * (size_t)one.rank);
	one.dim[1] = r->units;
	State at = { first_state(v, r->state[0], one), DAG_NONE, r->u, DAG_NONE };
	if (r->op == OP_lstm)
		at.c = first_state(v, r->state[1], one);
	if (r->op == OP_gru && !r->after && node_ok(v)) {
		at.u = node_slice(v, r->u, 0, 0, 2 * r->units);
		at.last = node_slice(v, r->u, 0, 2 * r->units, r->units);
	}
	int *all = arena_array(v->im->arena, int, steps + 1);
	s.dim[0] = 1;
	s.dim[2] = r->units;
	for (int64_t k = 0; k < steps && node_ok(v); k++) {
		int64_t t = r->backwards ? steps - 1 - k : k;
		State before = at;
		int x = node_part(v, r->x, t), on = counts(v, r, (int)t);
		if (r->op == OP_rnn)
			step_rnn(v, r, x, &at);
		else if (r->op == OP_lstm)
			step_lstm(v, r, x, &at);
		else
			step_gru(v, r, x, &at);
		if (node_ok(v) && !shape_eq(node_val(v, at.h)->shape, one))
			node_fail(v, ERR_TYPE, "its activation changes the shape of its states");
		if (on != DAG_NONE) {
			at.h = node_where(v, on, at.h, before.h);
			at.c = at.c != DAG_NONE ? node_where(v, on, at.c, before.c) : DAG_NONE;
		}
		all[t] = node_ok(v) ? node_reshape(v, at.h, s) : DAG_NONE;
	}
	last[0] = at.h;
	last[1] = at.c;
	return node_ok(v) ? node_concat(v, all, (int)steps, 0) : DAG_NONE;
}
