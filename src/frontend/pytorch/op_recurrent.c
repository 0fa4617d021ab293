/*
 * Rows of recurrent networks: all layers and directions at once, or one cell for one step. Weights come as a list, for
 * each layer and direction those of input and state, their biases, and those of a projection.
 */
#include "frontend/node/recurrent_cell.h"
#include "frontend/pytorch/aten.h"

#include "op/recurrent.h"

enum { MOST_LAYERS = 64 };

typedef struct Layers {
	Aten *n;
	int op, layers, directions;
	const char *acts;
	bool biased, backward; /* the second: one direction, which begins at the last step */
	int *weight, nweight;
	int h, c; /* the first states, [layers*directions,batch,size] */
} Layers;

static int run_cell(const Layers *l, int x, int row, bool reverse)
{
	Visit *v = l->n->v;
	const int *w = &l->weight[row * (l->biased ? 4 : 2)];
	Attr acts = attr_text("acts", l->acts);
	RecurrentCell c = { .op = l->op,
		.size = node_val(v, w[1])->shape.dim[1],
		.x = x,
		.w = node_order_gates(v, l->op, w[0]),
		.r = node_order_gates(v, l->op, w[1]),
		.wb = l->biased ? node_order_gates(v, l->op, w[2]) : DAG_NONE,
		.rb = l->biased ? node_order_gates(v, l->op, w[3]) : DAG_NONE,
		.h = node_part(v, l->h, row),
		.c = l->op == OP_lstm ? node_part(v, l->c, row) : DAG_NONE,
		.peep = DAG_NONE,
		.length = DAG_NONE,
		.reverse = reverse,
		.linear = true,
		.attr = &acts,
		.nattr = 1 };
	return node_recurrent(v, &c);
}

static bool check_weights(const Layers *l, Shape x)
{
	Visit *v = l->n->v;
	int each = l->biased ? 4 : 2;
	int64_t width = x.dim[2], gates = recurrent_gates(l->op);
	if (node_ok(v) && l->nweight != l->layers * l->directions * each)
		node_fail(v, ERR_TYPE, "it has %d weights where %d layers in %d directions have %d", l->nweight, l->layers,
			l->directions, l->layers * l->directions * each);
	for (int k = 0; node_ok(v) && k < l->nweight; k += each) {
		const Shape *w = &node_val(v, l->weight[k])->shape, *r = &node_val(v, l->weight[k + 1])->shape;
		bool fits = w->rank == 2 && r->rank == 2 && r->dim[1] > 0 && r->dim[0] == gates * r->dim[1] &&
		            w->dim[0] == r->dim[0] && w->dim[1] == width;
		for (int b = 2; fits && b < each; b++) {
			const Shape *s = &node_val(v, l->weight[k + b])->shape;
			fits = s->rank == 1 && s->dim[0] == r->dim[0];
		}
		if (!fits)
			node_fail(v, ERR_TYPE, "its weights %d and %d do not fit its input and each other", k, k + 1);
		else if (k / each % l->directions == l->directions - 1)
			width = l->directions * r->dim[1];
	}
	return node_ok(v);
}

static void run_layers(Layers *l, int x, bool batch_first)
{
	static const int64_t turn[] = { 1, 0, 2 };
	Visit *v = l->n->v;
	int made[MOST_LAYERS * 2], n = l->layers * l->directions, out[3];
	Shape s = node_val(v, x)->shape;
	bool single = node_ok(v) && s.rank == 2; /* without a batch */
	if (node_ok(v) && s.rank != 3 && s.rank != 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions where 3 are needed", s.rank);
	if (!node_ok(v))
		return;
	if (single)
		x = node_view(v, x, 3, (int64_t[]){ s.dim[0], 1, s.dim[1] });
	else if (batch_first)
		x = node_transpose(v, x, turn);
	s = node_val(v, x)->shape;
	int *const states[] = { &l->h, &l->c };
	for (int k = 0; k < (l->op == OP_lstm ? 2 : 1); k++) {
		Shape t = node_val(v, *states[k])->shape;
		if (t.rank == 2)
			*states[k] = node_view(v, *states[k], 3, (int64_t[]){ t.dim[0], 1, t.dim[1] });
		t = node_val(v, *states[k])->shape;
		if (t.rank != 3 || t.dim[0] != n || t.dim[1] != s.dim[1])
			node_fail(v, ERR_TYPE, "its first state does not fit its layers and its batch");
	}
	if (!check_weights(l, s))
		return;
	for (int layer = 0; layer < l->layers && node_ok(v); layer++) {
		int part[2];
		for (int d = 0; d < l->directions; d++)
			made[layer * l->directions + d] = part[d] =
				run_cell(l, x, layer * l->directions + d, l->backward || d == 1);
		x = node_ok(v) ? node_concat(v, part, l->directions, 2) : x;
	}
	if (!node_ok(v))
		return;
	out[0] = batch_first && !single ? node_transpose(v, x, turn) : x;
	for (int k = 1; k < (l->op == OP_lstm ? 3 : 2); k++) {
		int last[MOST_LAYERS * 2];
		for (int row = 0; row < n; row++) {
			last[row] = node_result(v, made[row], k);
			Shape t = node_val(v, last[row])->shape;
			last[row] = node_view(v, last[row], 3, (int64_t[]){ 1, t.dim[0], t.dim[1] });
		}
		out[k] = node_concat(v, last, n, 0);
	}
	for (int k = 0; single && k < (l->op == OP_lstm ? 3 : 2); k++) {
		Shape t = node_val(v, out[k])->shape;
		out[k] = node_view(v, out[k], 2, (int64_t[]){ t.dim[0], t.dim[2] });
	}
	aten_give_values(l->n, out, l->op == OP_lstm ? 3 : 2);
}

static void import_recurrent(Aten *n, int op, const char *acts)
{
	Layers l = { .n = n, .op = op, .acts = acts, .biased = aten_flag(n, "has_biases"), .h = DAG_NONE, .c = DAG_NONE };
	int64_t layers = aten_int(n, "num_layers");
	l.layers = (int)(layers < 1 || layers > MOST_LAYERS ? 1 : layers);
	l.directions = aten_flag(n, "bidirectional") ? 2 : 1;
	l.nweight = aten_values(n, "params", &l.weight);
	bool batch_first = aten_flag(n, "batch_first");
	if (aten_flag(n, "train") && aten_float(n, "dropout") != 0)
		node_fail(n->v, ERR_UNSUPPORTED, "it is in training mode: call model.eval() before the export");
	aten_float(n, "dropout");
	if (node_ok(n->v) && l.layers != layers)
		node_fail(n->v, ERR_UNSUPPORTED, "it has %lld layers, more than %d", (long long)layers, MOST_LAYERS);
	if (op == OP_lstm) {
		int *state, count = aten_values(n, "hx", &state);
		if (node_ok(n->v) && count != 2)
			node_fail(n->v, ERR_TYPE, "it has %d first states where 2 are needed", count);
		l.h = count > 0 ? state[0] : DAG_NONE;
		l.c = count > 1 ? state[1] : DAG_NONE;
		if (node_ok(n->v) && l.nweight > 0 && node_val(n->v, l.h)->shape.rank > 0 &&
			l.nweight == l.layers * l.directions * (l.biased ? 5 : 3))
			node_fail(n->v, ERR_UNSUPPORTED, "projections of its states (proj_size) are not supported");
	} else {
		l.h = aten_value(n, "hx");
	}
	run_layers(&l, aten_value(n, "input"), batch_first);
}

static void import_lstm(Aten *n)
{
	import_recurrent(n, OP_lstm, "sigmoid.tanh.tanh");
}

static void import_gru(Aten *n)
{
	import_recurrent(n, OP_gru, "sigmoid.tanh");
}

static void import_rnn(Aten *n)
{
	import_recurrent(n, OP_rnn, n->row->op != 0 ? "relu" : "tanh");
}

/* One layer in one direction, which exports for a CPU had for an LSTM before PyTorch 2.5. */
static void import_mkldnn_layer(Aten *n)
{
	static const char *const names[] = { "weight0", "weight1", "weight2", "weight3" };
	int weight[4];
	Layers l = { .n = n,
		.op = OP_lstm,
		.acts = "sigmoid.tanh.tanh",
		.layers = 1,
		.directions = 1,
		.biased = aten_flag(n, "has_biases"),
		.backward = aten_flag(n, "reverse"),
		.weight = weight,
		.h = aten_value(n, "hx_"),
		.c = aten_value(n, "cx_") };
	l.nweight = l.biased ? 4 : 2;
	for (int k = 0; k < 4; k++)
		weight[k] = aten_value(n, names[k]);
	if (aten_flag(n, "bidirectional") || aten_int(n, "num_layers") != 1 || aten_int(n, "mode") != 2)
		node_fail(n->v, ERR_UNSUPPORTED, "it is no LSTM of one layer and direction, which exports make of others");
	run_layers(&l, aten_value(n, "input"), aten_flag(n, "batch_first"));
}

/* One step: a sequence of one. */
static void import_cell(Aten *n)
{
	static const struct {
		int op;
		const char *acts;
	} kinds[] = { { OP_lstm, "sigmoid.tanh.tanh" }, { OP_gru, "sigmoid.tanh" }, { OP_rnn, "tanh" },
		{ OP_rnn, "relu" } };
	Visit *v = n->v;
	int weight[] = { aten_value(n, "w_ih"), aten_value(n, "w_hh"), aten_value(n, "b_ih"), aten_value(n, "b_hh") };
	Layers l = { .n = n,
		.op = kinds[n->row->op].op,
		.acts = kinds[n->row->op].acts,
		.layers = 1,
		.directions = 1,
		.biased = weight[2] != DAG_NONE && weight[3] != DAG_NONE,
		.weight = weight,
		.c = DAG_NONE };
	int *state, x = aten_value(n, "input");
	l.nweight = l.biased ? 4 : 2;
	if (l.op == OP_lstm) {
		int count = aten_values(n, "hx", &state);
		if (node_ok(v) && count != 2)
			node_fail(v, ERR_TYPE, "it has %d first states where 2 are needed", count);
		l.h = count > 0 ? state[0] : DAG_NONE;
		l.c = count > 1 ? state[1] : DAG_NONE;
	} else {
		l.h = aten_value(n, "hx");
	}
	Shape s = node_val(v, x)->shape, t = node_val(v, l.h)->shape;
	if (node_ok(v) && (s.rank != 2 || t.rank != 2))
		node_fail(v, ERR_UNSUPPORTED, "its input and its state need 2 dimensions");
	if (!node_ok(v))
		return;
	x = node_view(v, x, 3, (int64_t[]){ 1, s.dim[0], s.dim[1] });
	l.h = node_view(v, l.h, 3, (int64_t[]){ 1, t.dim[0], t.dim[1] });
	l.c = l.c != DAG_NONE ? node_view(v, l.c, 3, (int64_t[]){ 1, t.dim[0], t.dim[1] }) : DAG_NONE;
	run_layers(&l, x, false);
	if (!node_ok(v) || !n->done)
		return;
	int out[2];
	for (int k = 0; k < (l.op == OP_lstm ? 2 : 1); k++)
		out[k] = node_view(v, torch_value(v, n->result.list->at[k + 1].tensor), 2, t.dim);
	if (l.op == OP_lstm)
		aten_give_values(n, out, 2);
	else
		aten_set(n, out[0]);
}

#define REST "params:L has_biases:b num_layers:i dropout:f train:b bidirectional:b batch_first:b"
#define CELL "w_ih:T w_hh:T b_ih:T? b_hh:T?"

const AtenRow torch_recurrent_rows[] = {
	{ "lstm.input", "input:T hx:L " REST, import_lstm, 0 },
	{ "gru.input", "input:T hx:T " REST, import_gru, 0 },
	{ "rnn_tanh.input", "input:T hx:T " REST, import_rnn, 0 },
	{ "rnn_relu.input", "input:T hx:T " REST, import_rnn, 1 },
	{ "mkldnn_rnn_layer",
		"input:T weight0:T weight1:T weight2:T weight3:T hx_:T cx_:T reverse:b batch_sizes:_ mode:i hidden_size:_ "
		"num_layers:i has_biases:b bidirectional:b batch_first:b train:_",
		import_mkldnn_layer, 0 },
	{ "lstm_cell", "input:T hx:L " CELL, import_cell, 0 },
	{ "gru_cell", "input:T hx:T " CELL, import_cell, 1 },
	{ "rnn_tanh_cell", "input:T hx:T " CELL, import_cell, 2 },
	{ "rnn_relu_cell", "input:T hx:T " CELL, import_cell, 3 },
	{ NULL, NULL, NULL, 0 },
};
