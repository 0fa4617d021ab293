/*
 * Rows of recurrent MIL operators over [steps,batch,size]. Gates of lstm are i, f, o, z, those of gru r, o, z; states
 * of both directions lie side by side.
 */
#include "frontend/coreml/cell.h"
#include "frontend/coreml/mil.h"

#include "frontend/node/compose.h"

#include <string.h>

/* Gates along dimension 0 in the order that the Dag has. */
static int ordered(Visit *v, int x, const int *order, int n)
{
	int part[4];
	Shape s = node_val(v, x)->shape;
	if (x == DAG_NONE || !node_ok(v))
		return x;
	if (s.rank < 1 || s.dim[0] % n != 0) {
		node_fail(v, ERR_TYPE, "its weights are not of %d gates", n);
		return DAG_NONE;
	}
	for (int k = 0; k < n; k++)
		part[k] = node_slice(v, x, 0, order[k] * (s.dim[0] / n), s.dim[0] / n);
	return node_concat(v, part, n, 0);
}

static void add_act(Visit *v, CoremlCell *c, int k, const char *key, const char *otherwise)
{
	static const struct {
		const char *name, *is;
		double alpha, beta;
	} rows[] = { { "linear", "affine", 1, 0 }, { "sigmoid", "sigmoid", 0, 0 }, { "tanh", "tanh", 0, 0 },
		{ "relu", "relu", 0, 0 }, { "scaled_tanh", "scaled_tanh", 1.7159, 2.0 / 3 },
		{ "hard_sigmoid", "hard_sigmoid", 0.2, 0.5 } };
	const char *name = node_attr_text(v, key, otherwise);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		c->acts = arena_printf(v->im->arena, "%s%s%s", k > 0 ? c->acts : "", k > 0 ? "." : "", rows[i].is);
		c->alpha[k] = rows[i].alpha;
		c->beta[k] = rows[i].beta;
		return;
	}
	node_fail(v, ERR_UNSUPPORTED, "its parameter %s is '%.60s', which is not supported", key, name);
}

/* The part of a state that belongs to a direction. */
static int state_of(Visit *v, const char *key, int direction, int64_t units)
{
	int x = mil_need(v, key);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (s.rank != 2 || s.dim[1] < (direction + 1) * units))
		node_fail(v, ERR_TYPE, "its parameter %s does not fit its weights", key);
	return node_ok(v) ? node_slice(v, x, 1, direction * units, units) : DAG_NONE;
}

static CoremlCell cell_of(Visit *v, int op, const char *end, const int *order, int gates, int64_t *units)
{
	Arena *a = v->im->arena;
	CoremlCell c = { .op = op, .after = DAG_NONE, .peephole = DAG_NONE, .first = { DAG_NONE, DAG_NONE } };
	c.w = ordered(v, mil_need(v, arena_printf(a, "weight_ih%s", end)), order, gates);
	c.r = ordered(v, mil_need(v, arena_printf(a, "weight_hh%s", end)), order, gates);
	c.bias = ordered(v, mil_value(v, arena_printf(a, "bias%s", end)), order, gates);
	Shape s = node_val(v, c.r)->shape;
	if (node_ok(v) && (s.rank != 2 || node_val(v, c.w)->shape.rank != 2 || s.dim[1] * gates != s.dim[0]))
		node_fail(v, ERR_TYPE, "its parameter weight_hh%s does not fit %d gates", end, gates);
	*units = node_ok(v) ? s.dim[1] : 1;
	return c;
}

enum { FORWARD, REVERSE, BIDIRECTIONAL };

static int direction_of(Visit *v, bool both)
{
	static const char *const names[] = { "forward", "reverse", "bidirectional", NULL };
	int d = mil_word(v, "direction", names, FORWARD), rank = node_val(v, mil_need(v, "x"))->shape.rank;
	if (node_ok(v) && rank != 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3", rank);
	if (d == BIDIRECTIONAL && !both)
		node_fail(v, ERR_UNSUPPORTED, "its parameter direction is 'bidirectional'");
	return d;
}

/* All states, or the last one as a sequence of one step; then the last ones. */
static void set_results(Visit *v, const int *out, int n)
{
	bool all = mil_flag(v, "output_sequence", false);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, out[1])->shape;
	node_set(v, 0, all ? out[0] : node_view(v, out[1], 3, (int64_t[]){ 1, s.dim[0], s.dim[1] }));
	for (int k = 1; k < n; k++)
		node_set(v, k, out[k]);
}

static void import_rnn(Visit *v)
{
	static const int order[] = { 0 };
	int64_t units;
	int out[3], direction = direction_of(v, false);
	CoremlCell c = cell_of(v, OP_rnn, "", order, 1, &units);
	add_act(v, &c, 0, "activation", "tanh");
	c.reverse = direction == REVERSE;
	c.first[0] = state_of(v, "initial_h", 0, units);
	coreml_run_cell(v, &c, mil_value(v, "x"), out);
	set_results(v, out, 2);
}

/*
 * The reset gate multiplies the state's product, whose bias is outside of it, unless reset_after: then it is inside,
 * and input_bias is the bias of the input's product.
 */
static void import_gru(Visit *v)
{
	static const int order[] = { 2, 0, 1 };
	int64_t units;
	int out[3], direction = direction_of(v, false);
	CoremlCell c = cell_of(v, OP_gru, "", order, 3, &units);
	add_act(v, &c, 0, "recurrent_activation", "sigmoid");
	add_act(v, &c, 1, "activation", "tanh");
	c.reverse = direction == REVERSE;
	c.linear = true;
	c.first[0] = state_of(v, "initial_h", 0, units);
	bool after = mil_flag(v, "reset_after", false);
	int input = ordered(v, mil_value(v, "input_bias"), order, 3);
	if (after && c.bias != DAG_NONE && node_ok(v)) { /* the candidate's part stays with the state */
		int gates = node_slice(v, c.bias, 0, 0, 2 * units);
		float *none = arena_array(v->im->arena, float, units);
		c.after = node_slice(v, c.bias, 0, 2 * units, units);
		int zero = node_cast(v, node_const(v, F32, shape_of(1, &units), none), node_val(v, gates)->type);
		c.bias = node_concat(v, (int[]){ gates, zero }, 2, 0);
	}
	if (input != DAG_NONE)
		c.bias = c.bias == DAG_NONE ? input : node_call2(v, OP_add, c.bias, input);
	coreml_run_cell(v, &c, mil_value(v, "x"), out);
	set_results(v, out, 2);
}

static void import_lstm(Visit *v)
{
	static const int order[] = { 0, 2, 1, 3 }, peep[] = { 0, 2, 1 };
	int out[2][3] = { { DAG_NONE, DAG_NONE, DAG_NONE }, { DAG_NONE, DAG_NONE, DAG_NONE } }, all[3];
	int direction = direction_of(v, true), n = direction == BIDIRECTIONAL ? 2 : 1;
	double clip = mil_float(v, "clip", 0);
	if (clip != 0 && clip < 50)
		node_fail(v, ERR_UNSUPPORTED, "its parameter clip limits cells to %g, which is not supported", clip);
	for (int d = 0; d < n && node_ok(v); d++) {
		int64_t units;
		const char *end = d == 1 ? "_back" : "";
		CoremlCell c = cell_of(v, OP_lstm, end, order, 4, &units);
		add_act(v, &c, 0, "recurrent_activation", "sigmoid");
		add_act(v, &c, 1, "cell_activation", "tanh");
		add_act(v, &c, 2, "activation", "tanh");
		c.peephole = ordered(v, mil_value(v, arena_printf(v->im->arena, "peephole%s", end)), peep, 3);
		c.reverse = direction == REVERSE || d == 1;
		c.first[0] = state_of(v, "initial_h", d, units);
		c.first[1] = state_of(v, "initial_c", d, units);
		coreml_run_cell(v, &c, mil_value(v, "x"), out[d]);
	}
	if (!node_ok(v))
		return;
	for (int k = 0; k < 3; k++)
		all[k] = node_concat(v, (int[]){ out[0][k], out[1][k] }, n, k == 0 ? 2 : 1);
	set_results(v, all, 3);
}

const NodeRow mil_recurrent_rows[] = {
	{ "rnn", 0, "", import_rnn },
	{ "gru", 0, "", import_gru },
	{ "lstm", 0, "", import_lstm },
	{ NULL, 0, NULL, NULL },
};
