/*
 * Rows of recurrent layers. The input's product is a dense layer over all steps, then one call of the Dag's operator
 * walks them; with activations that this lacks, each step is written out. Keras' gates are i, f, c, o and z, r, h; the
 * Dag's i, o, f, c and z, r, h. A layer that goes backwards gives its results in the order in which it computed them,
 * the Dag in that of the input.
 */
#include "frontend/keras/mask.h"
#include "frontend/keras/unroll.h"

#include "op/recurrent.h"

#include <string.h>

typedef struct Cell {
	int op, gates;
	const Json *config;
	const char *prefix; /* of its slots: "cell/", "0/cell/" */
	int64_t units;
	bool cudnn; /* its weights are cuDNN's */
	bool backwards;
} Cell;

/*
 * Steps that a mask leaves out keep the state. So the others are moved to the front, in order, and the layer runs over
 * as many; then each step takes the state of the last one that counts.
 */
typedef struct Masked {
	int mask;   /* bool [N,T]; DAG_NONE: all count */
	int order;  /* [N,T]: those that count, then the others */
	int rank;   /* i64 [N,T]: how many count up to a step */
	int length; /* i32 [N] */
} Masked;

typedef struct Run {
	int all;     /* [T,N,H] in the order of the input */
	int last[2]; /* the last states */
} Run;

static bool flag_in(const Json *config, const char *name, bool otherwise)
{
	const Json *at = json_find(config, name);
	return at == NULL || at->kind != JV_BOOL ? otherwise : at->truth;
}

static Cell cell_of(Visit *v, const char *op, const Json *config, const char *prefix)
{
	static const struct {
		const char *name;
		int op;
	} rows[] = { { "SimpleRNN", OP_rnn }, { "LSTM", OP_lstm }, { "GRU", OP_gru }, { "SimpleRNNCell", OP_rnn },
		{ "LSTMCell", OP_lstm }, { "GRUCell", OP_gru }, { "CuDNNLSTM", OP_lstm }, { "CuDNNGRU", OP_gru } };
	Cell c = { .config = config,
		.prefix = prefix,
		.cudnn = strncmp(op, "CuDNN", 5) == 0,
		.backwards = flag_in(config, "go_backwards", false) };
	double units = keras_number(config, "units", 0);
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(rows[k].name, op) == 0)
			c.op = rows[k].op;
	if (c.op == 0 && node_ok(v))
		node_fail(v, ERR_UNSUPPORTED, "its layer of class '%.60s' is not supported; SimpleRNN, LSTM and GRU are", op);
	if (node_ok(v) && !(units >= 1 && units <= INT32_MAX))
		node_fail(v, ERR_INPUT, "its units are %g", units);
	c.units = node_ok(v) ? (int64_t)units : 1;
	c.gates = node_ok(v) ? recurrent_gates(c.op) : 1;
	return c;
}

static int weight(Visit *v, const Cell *c, const char *name, Shape s)
{
	return keras_weight(v, arena_printf(v->im->arena, "%s%s", c->prefix, name), s);
}

/* An activation's setting; those of the gates changed their usual one. */
static const Json *act_of(Visit *v, const Cell *c, bool gate)
{
	const Json *at = json_find(c->config, gate ? "recurrent_activation" : "activation");
	const char *usual = !gate ? "tanh" : keras_file(v)->version < 2 ? "hard_sigmoid" : "sigmoid";
	return at != NULL ? at : json_new_text(v->im->arena, usual);
}

/* The activation with its parameters, as the Dag writes it; NULL: it lacks that. */
static const char *dag_act(Visit *v, const Json *at, double *a, double *b)
{
	static const struct {
		const char *keras, *dag;
		double a, b;
	} rows[] = { { "linear", "affine", 1, 0 }, { "tanh", "tanh", 0, 0 }, { "sigmoid", "sigmoid", 0, 0 },
		{ "relu", "relu", 0, 0 }, { "softsign", "softsign", 0, 0 }, { "softplus", "softplus", 0, 0 },
		{ "elu", "elu", 1, 0 }, { "leaky_relu", "leaky_relu", 0.2, 0 }, { "hard_sigmoid", "hard_sigmoid", 0.2, 0.5 } };
	const Json *inner = at->kind == JV_OBJECT ? json_find(at, "config") : NULL;
	if (inner != NULL && inner->kind == JV_TEXT)
		at = inner;
	const char *name = at->kind == JV_NULL ? "linear" : at->kind == JV_TEXT ? at->text : "";
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(rows[k].keras, name) == 0) {
			*a = rows[k].a;
			*b = rows[k].b;
			if (strcmp(name, "hard_sigmoid") == 0 && keras_file(v)->version >= 3)
				*a = 1.0 / 6;
			return rows[k].dag;
		}
	return NULL;
}

/* How many attributes say the activations; -1: the Dag lacks one of them. */
static int set_acts(Visit *v, const Cell *c, Attr *attr)
{
	double fa, fb, ga, gb;
	int n = 0;
	const char *g = dag_act(v, act_of(v, c, false), &ga, &gb), *f = g;
	if (c->op == OP_rnn && g != NULL) {
		attr[n++] = attr_text("acts", g);
		attr[n++] = attr_float("f_alpha", ga);
		attr[n++] = attr_float("f_beta", gb);
		return n;
	}
	if (c->op != OP_rnn)
		f = dag_act(v, act_of(v, c, true), &fa, &fb);
	if (f == NULL || g == NULL)
		return -1;
	attr[n++] = attr_text("acts",
		c->op == OP_gru ? arena_printf(v->im->arena, "%s.%s", f, g) : arena_printf(v->im->arena, "%s.%s.%s", f, g, g));
	attr[n++] = attr_float("f_alpha", fa);
	attr[n++] = attr_float("f_beta", fb);
	attr[n++] = attr_float("g_alpha", ga);
	attr[n++] = attr_float("g_beta", gb);
	if (c->op == OP_lstm) {
		attr[n++] = attr_float("h_alpha", ga);
		attr[n++] = attr_float("h_beta", gb);
	}
	return n;
}

/* Gates along an axis in the Dag's order. */
static int ordered(Visit *v, const Cell *c, int x, int axis)
{
	static const int lstm[] = { 0, 3, 1, 2 };
	int part[4];
	if (c->op != OP_lstm || x == DAG_NONE || !node_ok(v))
		return x;
	for (int k = 0; k < 4; k++)
		part[k] = node_slice(v, x, axis, lstm[k] * c->units, c->units);
	return node_concat(v, part, 4, axis);
}

/* The kernel [n,gates*size], in which each gate's part is the row-major data of its transpose. */
static int turned(Visit *v, const Cell *c, int w, int64_t n)
{
	static const int64_t turn[] = { 1, 0 };
	int part[4];
	for (int k = 0; k < c->gates && node_ok(v); k++) {
		int one = node_slice(v, w, 1, k * c->units, c->units);
		part[k] = node_transpose(v, node_view(v, one, 2, (int64_t[]){ c->units, n }), turn);
	}
	return node_ok(v) ? node_concat(v, part, c->gates, 1) : w;
}

/* One cell over x[T,N,I]; state: the first ones, DAG_NONE for zeros. */
static Run run_cell(Visit *v, const Cell *c, int x, const int *state, int length)
{
	Run r = { DAG_NONE, { DAG_NONE, DAG_NONE } };
	int64_t h = c->units, all = c->gates * h, turn[] = { 1, 0 }, in_size = node_val(v, x)->shape.dim[2];
	bool biased = flag_in(c->config, "use_bias", true),
		 after = c->op == OP_gru && (c->cudnn || flag_in(c->config, "reset_after", false));
	if (!node_ok(v))
		return r;
	int w = weight(v, c, "kernel", shape_of(2, (int64_t[]){ in_size, all }));
	int u = weight(v, c, "recurrent", shape_of(2, (int64_t[]){ h, all })), b = DAG_NONE, own = DAG_NONE;
	if (c->cudnn) {
		w = turned(v, c, w, in_size);
		u = turned(v, c, u, h);
	}
	if (c->cudnn && !after) { /* biases of input and state, one behind the other */
		int64_t two = 2 * all;
		int both = weight(v, c, "bias", shape_of(1, &two));
		b = node_call2(v, OP_add, node_slice(v, both, 0, 0, all), node_slice(v, both, 0, all, all));
	} else if (biased && !after) {
		b = weight(v, c, "bias", shape_of(1, &all));
	} else if (biased) { /* the state's bias is added before the reset gate: that of the candidate stays apart */
		int64_t flat = 2 * all, rows[] = { 2, all };
		int two = weight(v, c, "bias", c->cudnn ? shape_of(1, &flat) : shape_of(2, rows)), part[2];
		two = node_view(v, two, 2, rows);
		int of_state = node_part(v, two, 1);
		b = node_part(v, two, 0);
		part[0] = node_call2(v, OP_add, node_slice(v, b, 0, 0, 2 * h), node_slice(v, of_state, 0, 0, 2 * h));
		part[1] = node_slice(v, b, 0, 2 * h, h);
		own = node_slice(v, of_state, 0, 2 * h, h);
		b = node_concat(v, part, 2, 0);
	}
	Attr attr[10];
	int nin = 3, nattr = set_acts(v, c, attr);
	if (nattr < 0) {
		int dense[] = { x, node_transpose(v, w, turn), b };
		Unrolled steps = { c->op, h, act_of(v, c, false), c->op == OP_rnn ? NULL : act_of(v, c, true),
			node_call(v, OP_dense, dense, 3, NULL, 0), node_transpose(v, u, turn), NULL, false, own, after,
			{ state[0], state[1] }, length, DAG_NONE, c->backwards };
		r.all = keras_unroll(v, &steps, r.last);
		return r;
	}
	int dense[] = { x, node_transpose(v, ordered(v, c, w, 1), turn), ordered(v, c, b, 0) };
	int in[6] = { node_call(v, OP_dense, dense, 3, NULL, 0),
		node_view(v, ordered(v, c, u, 1), 3, (int64_t[]){ h, c->gates, h }), state[0] };
	if (c->op == OP_gru) {
		in[nin++] = own;
		attr[nattr++] = attr_int("linear_before_reset", after);
	}
	if (c->op == OP_lstm)
		in[nin++] = state[1];
	if (c->op == OP_lstm)
		in[nin++] = DAG_NONE;
	in[nin++] = length;
	attr[nattr++] = attr_int("reverse", c->backwards);
	r.all = node_call(v, c->op, in, nin, attr, nattr);
	if (!node_ok(v))
		return r;
	const OpCall *call = &v->im->dag->call.at[node_val(v, r.all)->call];
	r.last[0] = call->out[1];
	r.last[1] = c->op == OP_lstm ? call->out[2] : DAG_NONE;
	return r;
}

static int flip(Visit *v, int x, int axis)
{
	Shape s = node_val(v, x)->shape;
	int64_t starts[DAG_MAX_RANK] = { 0 }, steps[DAG_MAX_RANK];
	for (int k = 0; k < s.rank; k++) {
		starts[k] = k == axis ? s.dim[k] - 1 : 0;
		steps[k] = k == axis ? -1 : 1;
	}
	Attr attr[] = { attr_ints("starts", starts, s.rank), attr_ints("steps", steps, s.rank),
		attr_ints("sizes", s.dim, s.rank) };
	return node_call(v, OP_slice, &x, 1, attr, 3);
}

static int taken(Visit *v, int x, int index)
{
	int in[] = { x, index };
	Attr attr[] = { attr_int("axis", 1), attr_int("batch", 1) };
	return node_call(v, OP_gather, in, 2, attr, 2);
}

static Masked read_mask(Visit *v, int64_t n, int64_t steps)
{
	Masked m = { keras_mask(v, n, steps), DAG_NONE, DAG_NONE, DAG_NONE };
	if (m.mask == DAG_NONE || !node_ok(v))
		return m;
	int key = node_cast(v, m.mask, F32), count = node_cast(v, m.mask, I64);
	Attr top[] = { attr_int("axis", 1), attr_int("k", steps) }, along = attr_int("axis", 1);
	m.order = node_result(v, node_call(v, OP_top_k, &key, 1, top, 2), 1);
	m.rank = node_call(v, OP_scan, &count, 1, &along, 1);
	m.length = node_view(v, node_cast(v, node_slice(v, m.rank, 1, steps - 1, 1), I32), 1, &n);
	return m;
}

/* States [T,N,H] of the steps in front, in the places of all steps. */
static int spread(Visit *v, const Cell *c, const Masked *m, int x, bool zero)
{
	static const int64_t turn[] = { 1, 0, 2 };
	if (m->mask == DAG_NONE || !node_ok(v))
		return x;
	x = node_transpose(v, x, turn);
	Shape s = node_val(v, x)->shape;
	int64_t wide[] = { s.dim[0], s.dim[1], 1 };
	int at = node_with_number(v, OP_sub, m->rank, 1), on, none = node_number(v, F32, 0);
	if (c->backwards) { /* the next step that counts: its number is how many count before this one */
		at = node_call2(v, OP_sub, m->rank, node_cast(v, m->mask, I64));
		int count = node_view(v, node_cast(v, m->length, I64), 2, (int64_t[]){ s.dim[0], 1 });
		on = node_call2(v, OP_less, at, count);
		at = node_with_number(v, OP_minimum, at, (double)(s.dim[1] - 1));
	} else {
		on = node_call2(v, OP_less_equal, node_number(v, I64, 0), at);
		at = node_with_number(v, OP_maximum, at, 0);
	}
	x = taken(v, x, at);
	return node_transpose(v, node_where(v, node_view(v, zero ? m->mask : on, 3, wide), x, none), turn);
}

/* Input 0 as [T,N,I], of steps that count. */
static int sequence(Visit *v, const Json *config, Masked *m)
{
	*m = (Masked){ DAG_NONE, DAG_NONE, DAG_NONE, DAG_NONE };
	static const int64_t turn[] = { 1, 0, 2 };
	int x = keras_value(v, 0);
	if (node_ok(v) && node_val(v, x)->shape.rank != 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3", node_val(v, x)->shape.rank);
	if (!node_ok(v))
		return x;
	if (flag_in(config, "time_major", false) && keras_mask_input(v) >= 0)
		node_fail(v, ERR_UNSUPPORTED, "its mask of time_major is not supported");
	*m = read_mask(v, node_val(v, x)->shape.dim[0], node_val(v, x)->shape.dim[1]);
	if (m->mask != DAG_NONE)
		x = taken(v, x, m->order);
	return node_ok(v) && !flag_in(config, "time_major", false) ? node_transpose(v, x, turn) : x;
}

static int in_order(Visit *v, int x, const Json *config)
{
	static const int64_t turn[] = { 1, 0, 2 };
	return node_ok(v) && !flag_in(config, "time_major", false) ? node_transpose(v, x, turn) : x;
}

/* The inputs but for a mask, and which one is number k of them. */
static int inputs(Visit *v)
{
	return node_nin(v) - (keras_mask_input(v) >= 0);
}

static int input_at(Visit *v, int k)
{
	int mask = keras_mask_input(v);
	return k + (mask >= 0 && mask <= k);
}

/* States from input `at` on. */
static int read_states(Visit *v, const Cell *c, int at, int *state)
{
	int n = c->op == OP_lstm ? 2 : 1;
	state[0] = state[1] = DAG_NONE;
	for (int k = 0; k < n && at + k < inputs(v); k++) {
		state[k] = keras_value(v, input_at(v, at + k));
		if (node_ok(v) && node_val(v, state[k])->shape.rank != 2)
			node_fail(v, ERR_TYPE, "its first state has %d dimensions, but needs 2", node_val(v, state[k])->shape.rank);
	}
	return n;
}

/* Steps that a mask leaves out have the state of the one before, or 0. */
static int result_of(Visit *v, const Cell *c, const Run *r, const Json *config, const Masked *m, bool zero)
{
	if (!flag_in(config, "return_sequences", false))
		return r->last[0];
	int all = spread(v, c, m, r->all, zero || flag_in(config, "zero_output_for_mask", false));
	return in_order(v, c->backwards ? flip(v, all, 0) : all, config);
}

static void import_layer(Visit *v, const char *op, const Json *config, const char *prefix)
{
	int state[2];
	Cell c = cell_of(v, op, config, prefix);
	const Json *own = keras_of(v)->config;
	c.backwards = flag_in(own, "go_backwards", false);
	Masked m;
	int x = sequence(v, own, &m), n = read_states(v, &c, 1, state);
	if (node_ok(v) && inputs(v) > 1 + n)
		node_fail(v, ERR_INPUT, "it has %d inputs, but takes %d states", inputs(v), n);
	Run r = run_cell(v, &c, x, state, m.length);
	node_set(v, 0, result_of(v, &c, &r, own, &m, false));
	for (int k = 0; k < n; k++)
		if (node_used(v, k + 1))
			node_set(v, k + 1, r.last[k]);
}

static void import_named(Visit *v)
{
	import_layer(v, keras_of(v)->op, keras_of(v)->config, "cell/");
}

/* RNN of a cell, or of several, of which each reads what the one before gives. */
static void import_rnn(Visit *v)
{
	const KerasLayer *l = keras_of(v), *cell = l->npart == 1 ? l->part[0] : NULL;
	if (cell == NULL)
		node_fail(v, ERR_INPUT, "it has %zu cells", l->npart);
	if (!node_ok(v))
		return;
	if (strcmp(cell->op, "StackedRNNCells") != 0) {
		import_layer(v, cell->op, cell->config, "0/");
		return;
	}
	Masked m;
	int x = sequence(v, l->config, &m), none[] = { DAG_NONE, DAG_NONE }, at = 1;
	if (node_ok(v) && (inputs(v) > 1 || cell->npart < 1))
		node_fail(v, ERR_UNSUPPORTED, "its stacked cells have %d first states; none is supported", inputs(v) - 1);
	for (size_t k = 0; k < cell->npart && node_ok(v); k++) {
		const KerasLayer *p = cell->part[k];
		Cell c = cell_of(v, p->op, p->config, arena_printf(v->im->arena, "0/%zu/", k));
		c.backwards = flag_in(l->config, "go_backwards", false);
		Run r = run_cell(v, &c, x, none, m.length);
		x = r.all;
		if (k + 1 == cell->npart)
			node_set(v, 0, result_of(v, &c, &r, l->config, &m, false));
		for (int i = 0; i < (c.op == OP_lstm ? 2 : 1) && node_ok(v); i++, at++)
			if (node_used(v, at))
				node_set(v, at, r.last[i]);
	}
}

static int merged(Visit *v, const char *how, int a, int b)
{
	int both[] = { a, b };
	if (strcmp(how, "concat") == 0)
		return node_concat(v, both, 2, node_ok(v) ? node_val(v, a)->shape.rank - 1 : 0);
	if (strcmp(how, "mul") == 0)
		return node_call2(v, OP_mul, a, b);
	if (strcmp(how, "sum") != 0 && strcmp(how, "ave") != 0)
		node_fail(v, ERR_INPUT, "its merge_mode is '%.20s'", how);
	int sum = node_call2(v, OP_add, a, b);
	return strcmp(how, "ave") == 0 ? node_with_number(v, OP_mul, sum, 0.5) : sum;
}

static void import_bidirectional(Visit *v)
{
	const KerasLayer *l = keras_of(v);
	const char *how = node_attr_text(v, "merge_mode", "");
	int y[2], state[2], at = 1, n = 0, results = 1;
	Run r[2];
	if (node_ok(v) && l->npart != 2)
		node_fail(v, ERR_INPUT, "it has no layer");
	if (!node_ok(v))
		return;
	Masked m;
	int x = sequence(v, l->part[0]->config, &m);
	for (int k = 0; k < 2 && node_ok(v); k++) {
		const KerasLayer *p = l->part[k];
		bool cells = strcmp(p->op, "RNN") == 0 && p->npart == 1;
		const KerasLayer *of = cells ? p->part[0] : p;
		Cell c = cell_of(v, of->op, of->config, arena_printf(v->im->arena, cells ? "%d/0/" : "%d/cell/", k));
		c.backwards = flag_in(l->part[0]->config, "go_backwards", false) != (k == 1);
		n = read_states(v, &c, at, state);
		at += n;
		r[k] = run_cell(v, &c, x, state, m.length);
		y[k] = result_of(v, &c, &r[k], p->config, &m, keras_file(v)->version >= 2);
		if (k == 1 && flag_in(p->config, "return_sequences", false))
			y[k] = flip(v, y[k], flag_in(p->config, "time_major", false) ? 0 : 1);
	}
	if (!node_ok(v))
		return;
	if (how[0] == 0) {
		node_set(v, 0, y[0]);
		node_set(v, 1, y[1]);
		results = 2;
	} else {
		node_set(v, 0, merged(v, how, y[0], y[1]));
	}
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < n; i++, results++)
			if (node_used(v, results))
				node_set(v, results, r[k].last[i]);
}

#define SETTINGS \
	"units activation recurrent_activation use_bias dropout recurrent_dropout implementation reset_after " \
	"return_sequences return_state go_backwards stateful unroll time_major unit_forget_bias zero_output_for_mask"

const NodeRow keras_recurrent_rows[] = {
	{ "SimpleRNN", 0, SETTINGS, import_named },
	{ "LSTM", 0, SETTINGS, import_named },
	{ "GRU", 0, SETTINGS, import_named },
	{ "CuDNNLSTM", 0, SETTINGS, import_named },
	{ "CuDNNGRU", 0, SETTINGS, import_named },
	{ "RNN", 0, SETTINGS, import_rnn },
	{ "Bidirectional", 0, SETTINGS, import_bidirectional },
	{ NULL, 0, NULL, NULL },
};
