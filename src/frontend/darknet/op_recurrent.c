/*
 * Rows of DarkNet's recurrent layers over [steps,N]: one sequence, whose first state is zero. lstm and gru are the
 * Dag's operators; rnn and crnn normalise inside of the recurrence and are written out, a step behind the other.
 */
#include "frontend/darknet/darknet.h"

#include "frontend/node/compose.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 1 << 12 };

static const DarknetNumbers *numbers(const Visit *v)
{
	return v->im->model->source;
}

/* A connected layer without activation as weights[N,I] and bias[N], its statistics multiplied in. */
typedef struct Linear {
	int weight, bias;
} Linear;

static Linear take_linear(Visit *v, int64_t in, int64_t n, bool normalized)
{
	int64_t turn[] = { 1, 0 }, column[] = { n, 1 };
	bool transpose = numbers(v)->transpose, fork = numbers(v)->fork;
	Shape s = shape_of(1, &n), shape = shape_of(2, transpose ? (int64_t[]){ in, n } : (int64_t[]){ n, in });
	Linear l = { .bias = darknet_constant(v, "biases", s, 0, 0.1) };
	l.weight = darknet_constant(v, "weights", shape, 0, sqrt(1 / (double)(in > 0 ? in : 1)));
	if (transpose)
		l.weight = node_transpose(v, l.weight, turn);
	if (!normalized)
		return l;
	const float *scale = darknet_take(v, "scales", s, 1, 0.1), *mean = darknet_take(v, "mean", s, 0, 0.1);
	const float *variance = darknet_take(v, "variance", s, 1, 0.1);
	if (!node_ok(v))
		return l;
	float *factor = arena_array(v->im->arena, float, n + 1), *shift = arena_array(v->im->arena, float, n + 1);
	for (int64_t k = 0; k < n; k++) {
		double f = scale[k] / (fork ? sqrt((double)variance[k] + 1e-5) : sqrt((double)variance[k]) + 1e-6);
		factor[k] = (float)f;
		shift[k] = (float)(-f * mean[k]);
	}
	l.bias = node_call2(v, OP_add, l.bias, node_weight(v, "shift", F32, s, shift));
	l.weight = node_call2(v, OP_mul, l.weight, node_weight(v, "factor", F32, shape_of(2, column), factor));
	return l;
}

/* The input as [steps,I]. */
static int sequence(Visit *v, int64_t *size)
{
	int x = darknet_flat(v, 0);
	*size = node_val(v, x)->shape.dim[1];
	if (node_ok(v) && node_val(v, x)->shape.dim[0] != numbers(v)->steps)
		node_fail(v, ERR_TYPE, "its input has %lld rows, but the sequence has %lld steps: ask for as many",
			(long long)node_val(v, x)->shape.dim[0], (long long)numbers(v)->steps);
	return x;
}

/*
 * The Dag's operator over x[T,I]. input[g] and state[g] are the layers of gate g in the order of the operator.
 */
static void recur(
	Visit *v, int op, int x, int64_t n, const Linear *input, const Linear *state, int gates, const char *acts)
{
	int w[4], r[4], b[4];
	int64_t steps = numbers(v)->steps;
	for (int g = 0; g < gates; g++) {
		w[g] = input[g].weight;
		r[g] = node_view(v, state[g].weight, 3, (int64_t[]){ 1, n, n });
		b[g] = node_call2(v, OP_add, input[g].bias, state[g].bias);
	}
	int dense[] = { x, node_concat(v, w, gates, 0), node_concat(v, b, gates, 0) };
	int y = node_view(v, node_call(v, OP_dense, dense, 3, NULL, 0), 3, (int64_t[]){ steps, 1, gates * n });
	int in[] = { y, node_transpose(v, node_concat(v, r, gates, 0), (int64_t[]){ 2, 0, 1 }) };
	Attr attr = attr_text("acts", acts);
	y = node_call(v, op, in, 2, &attr, 1);
	node_set(v, 0, node_view(v, y, 2, (int64_t[]){ steps, n }));
}

static int64_t outputs(Visit *v, const char *name, int64_t otherwise)
{
	int64_t n = node_attr_int(v, name, otherwise);
	if (n < 1 || n > 1 << 20)
		node_fail(v, ERR_INPUT, "its option %s is %lld, which is out of range", name, (long long)n);
	return node_ok(v) ? n : 1;
}

/* The Dag's gates are i, o, f and a candidate. Files have f, i, g, o, first of the state; DarkNet's own i, f, o, g. */
static void import_lstm(Visit *v)
{
	static const int own[] = { 0, 2, 1, 3 }, fork[] = { 2, 0, 3, 1 };
	bool normalized = node_attr_flag(v, "batch_normalize", false);
	int64_t n = outputs(v, "output", 1), size;
	int x = sequence(v, &size);
	Linear input[4], state[4];
	if (!node_ok(v))
		return;
	darknet_begin(v, -1);
	for (int k = 0; k < 8; k++) {
		int gate = numbers(v)->fork ? fork[k % 4] : own[k % 4];
		Linear l = take_linear(v, k < 4 ? n : size, n, normalized);
		*(k < 4 ? &state[gate] : &input[gate]) = l;
	}
	recur(v, OP_lstm, x, n, input, state, 4, "sigmoid.tanh.tanh");
}

/* Gates z, r and a candidate, in files as in the Dag: DarkNet has those of the state first, its fork the input's. */
static void import_gru(Visit *v)
{
	bool normalized = node_attr_flag(v, "batch_normalize", false);
	bool tanh = node_attr_flag(v, "tanh", false);
	int64_t n = outputs(v, "output", 1), size;
	int x = sequence(v, &size);
	Linear input[3], state[3];
	if (!node_ok(v))
		return;
	darknet_begin(v, -1);
	for (int k = 0; k < 6; k++) {
		bool first = k < 3, of_input = numbers(v)->fork ? first : !first;
		Linear l = take_linear(v, of_input ? size : n, n, normalized);
		*(of_input ? &input[k % 3] : &state[k % 3]) = l;
	}
	recur(v, OP_gru, x, n, input, state, 3, tanh ? "sigmoid.tanh" : "sigmoid.sigmoid");
}

/* ---- rnn and crnn: state = input(x) + self(state), result = output(state) */

typedef struct Layer {
	bool filters; /* a convolution, not a connected layer */
	Filters f;    /* f.n, f.normalized and f.activation count for both */
	LayerWeights w;
} Layer;

static Layer take(Visit *v, const Layer *like, int64_t in, int64_t n)
{
	Layer l = *like;
	l.f.n = n;
	l.w = l.filters ? darknet_take_filters(v, in, &l.f) : darknet_take_connected(v, in, n, l.f.normalized);
	return l;
}

static int run(Visit *v, int x, const Layer *l)
{
	return l->filters ? darknet_convolve(v, x, &l->f, &l->w) : darknet_connect(v, x, &l->w, l->f.activation);
}

static void unroll(Visit *v, int x, const Layer *like, int64_t hidden, int64_t result)
{
	int64_t steps = numbers(v)->steps;
	bool add = node_attr_flag(v, "shortcut", false);
	int *all = arena_array(v->im->arena, int, steps + 1);
	if (node_ok(v) && steps > MOST_STEPS)
		node_fail(
			v, ERR_UNSUPPORTED, "its %lld steps are written out, but at most %d are", (long long)steps, MOST_STEPS);
	if (!node_ok(v))
		return;
	darknet_begin(v, -1);
	Layer input = take(v, like, node_val(v, x)->shape.dim[1], hidden), self = take(v, like, hidden, hidden);
	Layer output = take(v, like, hidden, result);
	int in = run(v, x, &input); /* of all steps at once */
	Shape one = node_val(v, in)->shape;
	one.dim[0] = 1;
	int last = node_expand(v, node_number(v, F32, 0), one);
	for (int64_t t = 0; t < steps && node_ok(v); t++) {
		int next = node_call2(v, OP_add, node_slice(v, in, 0, t, 1), run(v, last, &self));
		last = all[t] = add ? node_call2(v, OP_add, next, last) : next;
	}
	if (node_ok(v))
		node_set(v, 0, run(v, node_concat(v, all, (int)steps, 0), &output));
}

static void import_rnn(Visit *v)
{
	int64_t n = outputs(v, "output", 1), size, hidden = outputs(v, "hidden", n);
	Layer l = { .f.normalized = node_attr_flag(v, "batch_normalize", false),
		.f.activation = node_attr_text(v, "activation", "logistic") };
	if (node_ok(v) && !numbers(v)->fork)
		hidden = n;
	unroll(v, sequence(v, &size), &l, hidden, n);
}

static void import_crnn(Visit *v)
{
	bool fork = numbers(v)->fork;
	int64_t size = node_attr_int(v, "size", 3), pad = node_attr_int(v, "padding", 0);
	if (node_attr_flag(v, "pad", !fork))
		pad = size / 2;
	int64_t n = outputs(v, "output", 1), hidden = outputs(v, "hidden", 1);
	Layer l = { .filters = true,
		.f = { .size = size,
			.stride = { node_attr_int(v, "stride", 1), node_attr_int(v, "stride", 1) },
			.pad = pad,
			.groups = node_attr_int(v, "groups", 1),
			.dilation = node_attr_int(v, "dilation", 1),
			.normalized = node_attr_flag(v, "batch_normalize", false),
			.activation = node_attr_text(v, "activation", "logistic") } };
	int x = darknet_image(v, 0);
	if (node_ok(v) && (size < 1 || size > 64 || 2 * pad + 1 != size || l.f.stride[0] != 1 || l.f.dilation != 1))
		node_fail(v, ERR_UNSUPPORTED, "its convolutions must keep the size of their input");
	if (node_ok(v) && node_val(v, x)->shape.dim[0] != numbers(v)->steps)
		node_fail(v, ERR_TYPE, "its input has %lld images, but the sequence has %lld steps: ask for as many",
			(long long)node_val(v, x)->shape.dim[0], (long long)numbers(v)->steps);
	unroll(v, x, &l, hidden, n);
}

const NodeRow darknet_recurrent_rows[] = {
	{ "lstm", 0, "logistic", import_lstm },
	{ "gru", 0, "logistic", import_gru },
	{ "rnn", 0, "logistic hidden", import_rnn },
	{ "crnn", 0, "xnor", import_crnn },
	{ NULL, 0, NULL, NULL },
};
