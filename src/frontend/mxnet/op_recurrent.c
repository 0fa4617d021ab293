/*
 * The row of RNN, which is all layers and directions of a recurrent network at once. Its parameters are one list: the
 * weights of each layer and direction, then their biases.
 */
#include "frontend/mxnet/rows.h"
#include "frontend/node/recurrent_cell.h"

#include "op/recurrent.h"

#include <string.h>

enum { MOST_LAYERS = 64 };

typedef struct Fused {
	Visit *v;
	int op, gates, layers, directions;
	const char *acts;
	int64_t steps, batch, size;
	int parameters, length; /* values; DAG_NONE: all sequences are whole */
	int64_t at;             /* of the next parameters that are read */
} Fused;

/* The next parameters as [gates * size, width], or of width 0 a list, with gates in the Dag's order. */
static int take(Fused *f, int64_t width)
{
	Visit *v = f->v;
	int64_t rows = f->gates * f->size, all = rows * (width > 0 ? width : 1);
	int x = node_slice(v, f->parameters, 0, f->at, all);
	f->at += all;
	x = width > 0 ? node_view(v, x, 2, (int64_t[]){ rows, width }) : x;
	return node_order_gates(v, f->op, x);
}

/* Row `k` of a state [layers * directions, batch, size]. */
static int first_state(const Fused *f, int input, int k)
{
	int x = mxnet_state(f->v, input, shape_of(3, (int64_t[]){ f->layers * f->directions, f->batch, f->size }));
	return node_ok(f->v) ? node_part(f->v, x, k) : DAG_NONE;
}

typedef struct Cell {
	int w, r, wb, rb; /* weights and biases of input and state */
} Cell;

static int run(const Fused *f, const Cell *cell, int x, int row, bool reverse)
{
	Attr acts = attr_text("acts", f->acts);
	RecurrentCell c = { .op = f->op,
		.size = f->size,
		.x = x,
		.w = cell->w,
		.r = cell->r,
		.wb = cell->wb,
		.rb = cell->rb,
		.h = first_state(f, 2, row),
		.c = f->op == OP_lstm ? first_state(f, 3, row) : DAG_NONE,
		.peep = DAG_NONE,
		.length = f->length,
		.reverse = reverse,
		.linear = true,
		.attr = &acts,
		.nattr = 1 };
	return node_recurrent(f->v, &c);
}

/* All layers; result k of each cell, stacked, is result k of the node. */
static void run_layers(Fused *f, int x, int64_t inputs)
{
	Visit *v = f->v;
	Cell cell[MOST_LAYERS * 2];
	int made[MOST_LAYERS * 2], n = f->layers * f->directions;
	for (int k = 0; k < n; k++) {
		int64_t width = k / f->directions == 0 ? inputs : f->size * f->directions;
		cell[k].w = take(f, width);
		cell[k].r = take(f, f->size);
	}
	for (int k = 0; k < n; k++) {
		cell[k].wb = take(f, 0);
		cell[k].rb = take(f, 0);
	}
	for (int layer = 0; layer < f->layers && node_ok(v); layer++) {
		int part[2];
		for (int d = 0; d < f->directions; d++) {
			int row = layer * f->directions + d;
			made[row] = part[d] = run(f, &cell[row], x, row, d == 1);
		}
		x = node_concat(v, part, f->directions, 2);
	}
	node_set(v, 0, x);
	for (int k = 1; k < (f->op == OP_lstm ? 3 : 2) && node_ok(v); k++) {
		if (!node_used(v, k))
			continue;
		int last[MOST_LAYERS * 2];
		for (int row = 0; row < n; row++)
			last[row] = node_view(v, node_result(v, made[row], k), 3, (int64_t[]){ 1, f->batch, f->size });
		node_set(v, k, node_concat(v, last, n, 0));
	}
}

static void read_mode(Fused *f)
{
	static const struct {
		const char *mode;
		int op;
		const char *acts;
	} modes[] = { { "lstm", OP_lstm, "sigmoid.tanh.tanh" }, { "gru", OP_gru, "sigmoid.tanh" },
		{ "rnn_tanh", OP_rnn, "tanh" }, { "rnn_relu", OP_rnn, "relu" } };
	const char *mode = node_attr_text(f->v, "mode", "");
	for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
		if (strcmp(modes[k].mode, mode) == 0) {
			f->op = modes[k].op;
			f->acts = modes[k].acts;
			f->gates = recurrent_gates(f->op);
			return;
		}
	node_fail(f->v, ERR_INPUT, "its attribute mode is '%.20s', not lstm, gru, rnn_tanh or rnn_relu", mode);
}

static void import_rnn(Visit *v)
{
	const Item *x = node_need(v, 0);
	Fused f = { .v = v, .op = OP_rnn, .gates = 1, .length = DAG_NONE, .directions = 1, .acts = "" };
	read_mode(&f);
	int64_t layers = node_attr_int(v, "num_layers", 1);
	f.size = node_attr_int(v, "state_size", 0);
	f.directions += node_attr_flag(v, "bidirectional", false);
	f.layers = (int)(layers < 1 || layers > MOST_LAYERS ? 1 : layers);
	node_attr_flag(v, "state_outputs", false);
	if (node_has(v, "projection_size") || node_has(v, "lstm_state_clip_min") || node_has(v, "lstm_state_clip_max"))
		node_fail(v, ERR_UNSUPPORTED, "projections and clipped states are not supported");
	bool fits = x->shape.rank == 3 && x->shape.dim[2] <= INT32_MAX;
	if (node_ok(v) && (!fits || f.size < 1 || f.size > 1 << 20 || f.layers != layers))
		node_fail(v, ERR_TYPE, "it needs an input of steps, batch and size, a state_size, and at most %d layers",
			MOST_LAYERS);
	if (!node_ok(v))
		return;
	f.steps = x->shape.dim[0];
	f.batch = x->shape.dim[1];
	int64_t inputs = x->shape.dim[2], rest = f.size * f.directions, gates = f.gates * f.size;
	if (inputs > INT32_MAX) {
		node_fail(v, ERR_TYPE, "its input has %lld elements a step", (long long)inputs);
		return;
	}
	int64_t all = f.directions * gates * (inputs + f.size + 2 + (f.layers - 1) * (rest + f.size + 2));
	f.parameters = mxnet_weight(v, 1, shape_of(1, &all));
	if (node_attr_flag(v, "use_sequence_length", false)) {
		int k = f.op == OP_lstm ? 4 : 3;
		const Item *length = node_need(v, k);
		if (node_ok(v) && (length->shape.rank != 1 || length->shape.dim[0] != f.batch))
			node_fail(v, ERR_TYPE, "its lengths must be a list of %lld", (long long)f.batch);
		f.length = node_cast(v, node_value(v, k), I32);
	}
	if (node_ok(v))
		run_layers(&f, node_value(v, 0), inputs);
}

const NodeRow mxnet_recurrent_rows[] = {
	{ "RNN", 0, "p lstm_state_clip_nan", import_rnn },
	{ NULL, 0, NULL, NULL },
};
