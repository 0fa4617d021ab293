/*
 * Rows of DarkNet's layers with weights, of poolings, and of those that join layers. Values are [N,C,H,W], or [N,C]
 * behind connected layers; a layer takes either. Biases come first in the file, then the statistics, then the weights.
 */
#include "frontend/darknet/darknet.h"

#include "frontend/node/activate.h"
#include "frontend/node/compose.h"
#include "frontend/node/windows.h"

#include <math.h>
#include <string.h>

static const DarknetNumbers *numbers(const Visit *v)
{
	return v->im->model->source;
}

int darknet_image(Visit *v, int k)
{
	const Item *it = node_need(v, k);
	Shape s = it->shape;
	if (!node_ok(v) || s.rank == 4)
		return node_value(v, k);
	return node_view(v, node_value(v, k), 4, (int64_t[]){ s.dim[0], shape_product(&s, 1, s.rank), 1, 1 });
}

int darknet_flat(Visit *v, int k)
{
	const Item *it = node_need(v, k);
	Shape s = it->shape;
	if (!node_ok(v))
		return DAG_NONE;
	return node_view(v, node_value(v, k), 2, (int64_t[]){ s.dim[0], shape_product(&s, 1, s.rank) });
}

/* ---- activations */

/* clip(a x + b, lo, hi) + c (x - clip(x, from, to)): lines with another slope outside */
static int bent(Visit *v, int x, double a, double b, double c, double from, double to)
{
	int line = node_with_number(v, OP_add, node_with_number(v, OP_mul, x, a), b);
	int inside = node_activate_with(v, line, "clip", 0, 1);
	int rest = node_call2(v, OP_sub, x, node_activate_with(v, x, "clip", from, to));
	return node_call2(v, OP_add, inside, node_with_number(v, OP_mul, rest, c));
}

int darknet_activate(Visit *v, int x, const char *name)
{
	static const struct {
		const char *name, *as;
		double a, b;
	} rows[] = { { "linear", "linear", 0, 0 }, { "logistic", "sigmoid", 0, 0 }, { "relu", "relu", 0, 0 },
		{ "relu6", "clip", 0, 6 }, { "leaky", "leaky_relu", 0.1, 0 }, { "relie", "leaky_relu", 0.01, 0 },
		{ "elu", "elu", 1, 0 }, { "selu", "selu", 1.0507, 1.6732 }, { "tanh", "tanh", 0, 0 },
		{ "hardtan", "clip", -1, 1 }, { "swish", "swish", 1, 0 }, { "mish", "mish", 0, 0 },
		{ "gelu", "gelu_tanh", 0, 0 } };
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(rows[k].name, name) == 0)
			return node_activate_with(v, x, rows[k].as, rows[k].a, rows[k].b);
	if (strcmp(name, "ramp") == 0)
		return node_call2(v, OP_add, node_call1(v, OP_relu, x), node_with_number(v, OP_mul, x, 0.1));
	if (strcmp(name, "loggy") == 0)
		return node_with_number(v, OP_sub, node_with_number(v, OP_mul, node_call1(v, OP_sigmoid, x), 2), 1);
	if (strcmp(name, "plse") == 0)
		return bent(v, x, 0.125, 0.5, 0.01, -4, 4);
	if (strcmp(name, "lhtan") == 0)
		return bent(v, x, 1, 0, 0.001, 0, 1);
	node_fail(v, ERR_UNSUPPORTED, "its activation '%.40s' is not supported", name);
	return x;
}

/* ---- weights */

/*
 * DarkNet divides by sqrt(variance) + 1e-6, its fork by sqrt(variance + 1e-5). The former is the square root of another
 * variance without epsilon.
 */
static void take_statistics(Visit *v, int64_t n, LayerWeights *w)
{
	Shape s = shape_of(1, &n);
	w->scale = darknet_constant(v, "scales", s, 1, 0.1);
	w->mean = darknet_constant(v, "mean", s, 0, 0.1);
	const float *from = darknet_take(v, "variance", s, 1, 0.1);
	if (from == NULL)
		return;
	float *to = arena_array(v->im->arena, float, n + 1);
	for (int64_t k = 0; k < n; k++) {
		double root = sqrt((double)from[k]) + 1e-6;
		to[k] = numbers(v)->fork ? from[k] : (float)(root * root);
	}
	w->variance = node_weight(v, "variance", F32, s, to);
}

static int normalize(Visit *v, int x, const LayerWeights *w)
{
	Attr attr = attr_float("epsilon", numbers(v)->fork ? 1e-5 : 0);
	int in[] = { x, w->scale, w->bias, w->mean, w->variance };
	return w->scale == DAG_NONE ? x : node_call(v, OP_batch_norm, in, 5, &attr, 1);
}

LayerWeights darknet_take_filters(Visit *v, int64_t channels, const Filters *f)
{
	LayerWeights w = { DAG_NONE, DAG_NONE, DAG_NONE, DAG_NONE, DAG_NONE };
	if (node_ok(v) && (f->groups < 1 || channels % f->groups != 0 || f->n % f->groups != 0))
		node_fail(v, ERR_TYPE, "%lld channels and %lld filters cannot be cut into %lld groups", (long long)channels,
			(long long)f->n, (long long)f->groups);
	if (!node_ok(v))
		return w;
	int64_t group = channels / f->groups;
	w.bias = darknet_constant(v, "biases", shape_of(1, &f->n), 0, 0.1);
	if (f->normalized)
		take_statistics(v, f->n, &w);
	w.weight = darknet_constant(v, "weights", shape_of(4, (int64_t[]){ f->n, group, f->size, f->size }), 0,
		sqrt(2 / fmax(1, (double)group * (double)f->size * (double)f->size)));
	return w;
}

int darknet_convolve(Visit *v, int x, const Filters *f, const LayerWeights *w)
{
	Shape in = node_val(v, x)->shape;
	Windows win = windows_over(v, &in);
	for (int k = 0; k < win.n; k++) {
		win.kernel[k] = f->size;
		win.stride[k] = f->stride[k];
		win.dilation[k] = f->dilation;
		win.pads[k] = win.pads[k + win.n] = f->pad * f->dilation;
		int64_t plain = in.dim[2 + k] + 2 * f->pad - f->size, reach = (f->size - 1) * f->dilation + 1;
		if (node_ok(v) && plain / f->stride[k] != (in.dim[2 + k] + 2 * f->pad * f->dilation - reach) / f->stride[k])
			node_fail(v, ERR_UNSUPPORTED, "its dilation changes the size of its result, which DarkNet does not expect");
	}
	int y = node_conv(v, x, w->weight, w->scale != DAG_NONE ? DAG_NONE : w->bias, &win, f->groups);
	return darknet_activate(v, normalize(v, y, w), f->activation);
}

LayerWeights darknet_take_connected(Visit *v, int64_t in, int64_t n, bool normalized)
{
	LayerWeights w = { DAG_NONE, DAG_NONE, DAG_NONE, DAG_NONE, DAG_NONE };
	bool transpose = numbers(v)->transpose;
	Shape shape = shape_of(2, transpose ? (int64_t[]){ in, n } : (int64_t[]){ n, in });
	w.bias = darknet_constant(v, "biases", shape_of(1, &n), 0, 0.1);
	w.weight = darknet_constant(v, "weights", shape, 0, sqrt(2 / fmax(1, (double)in)));
	if (transpose)
		w.weight = node_transpose(v, w.weight, (int64_t[]){ 1, 0 });
	if (normalized)
		take_statistics(v, n, &w);
	return w;
}

int darknet_connect(Visit *v, int x, const LayerWeights *w, const char *activation)
{
	int in[] = { x, w->weight, w->scale != DAG_NONE ? DAG_NONE : w->bias };
	return darknet_activate(v, normalize(v, node_call(v, OP_dense, in, 3, NULL, 0), w), activation);
}

/* An option that must be positive. */
static int64_t count_of(Visit *v, const char *name, int64_t otherwise)
{
	int64_t n = node_attr_int(v, name, otherwise);
	if (n < 1 || n > INT32_MAX)
		node_fail(v, ERR_INPUT, "its option %s is %lld, but must be at least 1", name, (long long)n);
	return node_ok(v) ? n : 1;
}

/* Options that change the result and that dlc does not have: they may be there if they are off. */
static void need_off(Visit *v, const char *const *name, int n)
{
	for (int k = 0; k < n; k++)
		if (node_attr_float(v, name[k], 0) != 0)
			node_fail(v, ERR_UNSUPPORTED, "its option %s is not supported", name[k]);
}

static int64_t pad_of(Visit *v, int64_t size)
{
	int64_t pad = node_attr_int(v, "padding", 0);
	if (node_attr_flag(v, "pad", false))
		pad = size / 2;
	if (pad < 0 || pad > INT32_MAX)
		node_fail(v, ERR_INPUT, "its option padding is %lld, which is out of range", (long long)pad);
	return node_ok(v) ? pad : 0;
}

/* The layer whose weights a convolution shares; -1: it has its own. */
static int64_t shared_layer(Visit *v)
{
	int64_t here = v->node - numbers(v)->node, at = node_attr_int(v, "share_index", INT64_MIN);
	if (at == INT64_MIN)
		return -1;
	at = at < 0 ? here + at : at;
	if (node_ok(v) && (at < 0 || at >= here || strcmp(numbers(v)->node[at].op, "convolutional") != 0))
		node_fail(v, ERR_INPUT, "its option share_index names no convolutional layer before it");
	return node_ok(v) ? at : -1;
}

static void import_convolutional(Visit *v)
{
	static const char *const off[] = { "antialiasing", "binary", "xnor", "flipped", "assisted_excitation", "deform",
		"sway", "rotate", "stretch", "stretch_sway", "coordconv" };
	int64_t size = count_of(v, "size", 1), stride = count_of(v, "stride", 1), share = shared_layer(v);
	Filters f = { .n = count_of(v, "filters", 1),
		.size = size,
		.stride = { count_of(v, "stride_y", stride), count_of(v, "stride_x", stride) },
		.pad = pad_of(v, size),
		.groups = count_of(v, "groups", 1),
		.dilation = count_of(v, "dilation", 1),
		.normalized = node_attr_flag(v, "batch_normalize", false),
		.activation = node_attr_text(v, "activation", "logistic") };
	if (size == 1)
		f.dilation = 1;
	need_off(v, off, (int)(sizeof off / sizeof *off));
	int x = darknet_image(v, 0);
	if (!node_ok(v))
		return;
	darknet_begin(v, share);
	LayerWeights w = darknet_take_filters(v, node_val(v, x)->shape.dim[1], &f);
	darknet_end(v, share);
	node_set(v, 0, darknet_convolve(v, x, &f, &w));
}

static void import_deconvolutional(Visit *v)
{
	int64_t n = count_of(v, "filters", 1), size = count_of(v, "size", 1), none[MOST_SPATIAL] = { 0 };
	int64_t stride = count_of(v, "stride", 1), pad = pad_of(v, size);
	bool normalized = node_attr_flag(v, "batch_normalize", false);
	const char *activation = node_attr_text(v, "activation", "logistic");
	int x = darknet_image(v, 0);
	Shape in = node_val(v, x)->shape;
	Windows win = windows_over(v, &in);
	if (!node_ok(v))
		return;
	for (int k = 0; k < win.n; k++) {
		win.kernel[k] = size;
		win.stride[k] = stride;
		win.pads[k] = win.pads[k + win.n] = pad;
	}
	darknet_begin(v, -1);
	LayerWeights w = { .bias = darknet_constant(v, "biases", shape_of(1, &n), 0, 0.1), .scale = DAG_NONE };
	if (normalized)
		take_statistics(v, n, &w);
	w.weight = darknet_constant(v, "weights", shape_of(4, (int64_t[]){ in.dim[1], n, size, size }), 0,
		sqrt(2 / fmax(1, (double)in.dim[1] * (double)size)));
	int y = node_conv_transpose(v, x, w.weight, normalized ? DAG_NONE : w.bias, &win, none, 1);
	node_set(v, 0, darknet_activate(v, normalize(v, y, &w), activation));
}

static void import_connected(Visit *v)
{
	int64_t n = count_of(v, "output", 1);
	bool normalized = node_attr_flag(v, "batch_normalize", false);
	const char *activation = node_attr_text(v, "activation", "logistic");
	int x = darknet_flat(v, 0);
	if (!node_ok(v))
		return;
	darknet_begin(v, -1);
	LayerWeights w = darknet_take_connected(v, node_val(v, x)->shape.dim[1], n, normalized);
	node_set(v, 0, darknet_connect(v, x, &w, activation));
}

/* DarkNet's own version of the file has no biases. */
static void import_batchnorm(Visit *v)
{
	int x = darknet_image(v, 0);
	int64_t n = node_val(v, x)->shape.dim[1];
	if (!node_ok(v))
		return;
	darknet_begin(v, -1);
	LayerWeights w = { .bias = numbers(v)->fork ? darknet_constant(v, "biases", shape_of(1, &n), 0, 0.1)
		                                        : node_expand(v, node_number(v, F32, 0), shape_of(1, &n)) };
	take_statistics(v, n, &w);
	node_set(v, 0, normalize(v, x, &w));
}

/* Each place has filters of its own: a product of matrices for each place. */
static void import_local(Visit *v)
{
	int64_t n = count_of(v, "filters", 1), size = count_of(v, "size", 1), stride = count_of(v, "stride", 1);
	int64_t pad = node_attr_flag(v, "pad", false), out[2];
	const char *activation = node_attr_text(v, "activation", "logistic");
	int x = darknet_image(v, 0), *tap;
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && size > 64)
		node_fail(v, ERR_UNSUPPORTED, "its windows of %lld elements are too large", (long long)size);
	for (int k = 0; k < 2 && node_ok(v); k++) {
		int64_t room = s.dim[2 + k] + 2 * pad - size;
		out[k] = room / stride + 1;
		if (room < 0 || out[k] != (s.dim[2 + k] - (pad != 0 ? 1 : size)) / stride + 1)
			node_fail(v, ERR_UNSUPPORTED, "its padding does not fit its windows of %lld elements", (long long)size);
	}
	if (!node_ok(v))
		return;
	int64_t places = out[0] * out[1], taps = s.dim[1] * size * size, pads[8] = { 0, 0, pad, pad, 0, 0, pad, pad };
	darknet_begin(v, -1);
	int bias = darknet_constant(v, "biases", shape_of(3, (int64_t[]){ n, out[0], out[1] }), 0, 0.1);
	int w = darknet_constant(v, "weights", shape_of(3, (int64_t[]){ places, n, taps }), 0, sqrt(2 / (double)taps));
	Attr attr = attr_ints("pads", pads, 8);
	x = pad != 0 ? node_call(v, OP_pad, &x, 1, &attr, 1) : x;
	tap = arena_array(v->im->arena, int, size *size);
	for (int64_t k = 0; k < size * size; k++) {
		int64_t starts[] = { 0, 0, k / size, k % size }, steps[] = { 1, 1, stride, stride };
		int64_t sizes[] = { s.dim[0], s.dim[1], out[0], out[1] };
		Attr cut[] = { attr_ints("starts", starts, 4), attr_ints("steps", steps, 4), attr_ints("sizes", sizes, 4) };
		tap[k] = node_view(v, node_call(v, OP_slice, &x, 1, cut, 3), 4, (int64_t[]){ s.dim[0], s.dim[1], 1, places });
	}
	int columns = node_view(v, node_concat(v, tap, (int)(size * size), 2), 3, (int64_t[]){ s.dim[0], taps, places });
	columns = node_transpose(v, columns, (int64_t[]){ 2, 1, 0 });
	int y = node_transpose(v, node_call2(v, OP_matmul, w, columns), (int64_t[]){ 2, 1, 0 });
	y = node_call2(v, OP_add, node_view(v, y, 4, (int64_t[]){ s.dim[0], n, out[0], out[1] }), bias);
	node_set(v, 0, darknet_activate(v, y, activation));
}

/* ---- pools */

static void import_maxpool(Visit *v)
{
	static const char *const off[] = { "maxpool_depth", "antialiasing" };
	int64_t stride = count_of(v, "stride", 1);
	int64_t along[] = { count_of(v, "stride_y", stride), count_of(v, "stride_x", stride) };
	int64_t size = count_of(v, "size", stride), pad = node_attr_int(v, "padding", size - 1);
	need_off(v, off, 2);
	int x = darknet_image(v, 0);
	Windows win = windows_over(v, &node_val(v, x)->shape);
	if (node_ok(v) && (pad < 0 || pad > INT32_MAX))
		node_fail(v, ERR_INPUT, "its option padding is %lld, which is out of range", (long long)pad);
	for (int k = 0; k < win.n && node_ok(v); k++) {
		win.kernel[k] = size;
		win.stride[k] = along[k];
		win.pads[k] = pad / 2;
		win.pads[k + win.n] = pad - pad / 2;
	}
	node_set(v, 0, node_max_pool(v, x, &win, false));
}

static void import_avgpool(Visit *v)
{
	node_set(v, 0, node_global(v, OP_reduce_mean, darknet_image(v, 0)));
}

/* ---- layers that join others */

static void import_route(Visit *v)
{
	int n = node_nin(v), *part = arena_array(v->im->arena, int, n + 1);
	int64_t groups = count_of(v, "groups", 1), id = node_attr_int(v, "group_id", 0);
	if (node_ok(v) && (id < 0 || id >= groups))
		node_fail(v, ERR_INPUT, "its option group_id is %lld, but must be below groups = %lld", (long long)id,
			(long long)groups);
	if (n == 1 && groups == 1) {
		node_set_alias(v, 0, node_need(v, 0));
		return;
	}
	for (int k = 0; k < n && node_ok(v); k++) {
		part[k] = darknet_image(v, k);
		int64_t channels = node_val(v, part[k])->shape.dim[1];
		if (node_ok(v) && channels % groups != 0)
			node_fail(
				v, ERR_TYPE, "%lld channels cannot be cut into %lld groups", (long long)channels, (long long)groups);
		if (groups > 1)
			part[k] = node_slice(v, part[k], 1, channels / groups * id, channels / groups);
	}
	node_set(v, 0, node_concat(v, part, n, 1));
}

/*
 * y in the shape of `to`, as DarkNet adds layers of unequal shapes: the channels and places that both have; the larger
 * one is read, or written, in steps.
 */
static int fitted(Visit *v, int y, Shape to)
{
	Shape from = node_val(v, y)->shape;
	int64_t starts[4] = { 0 }, steps[4] = { 1, 1, 1, 1 }, pads[8] = { 0 };
	if (!node_ok(v) || shape_eq(from, to))
		return y;
	Shape cut = from;
	for (int k = 1; k < 4; k++) {
		int64_t step = k > 1 && to.dim[k] > 0 ? from.dim[k] / to.dim[k] : 1;
		steps[k] = step < 1 ? 1 : step;
		cut.dim[k] = from.dim[k] < to.dim[k] ? from.dim[k] : to.dim[k];
		pads[4 + k] = to.dim[k] - cut.dim[k];
		if (k > 1 && from.dim[k] < to.dim[k])
			node_fail(v, ERR_UNSUPPORTED, "it adds a layer of %lld places to one of %lld, which must not be larger",
				(long long)from.dim[k], (long long)to.dim[k]);
	}
	if (node_ok(v) && steps[2] != steps[3])
		node_fail(v, ERR_INPUT, "the layers that it adds differ in another ratio along height and width");
	Attr attr[] = { attr_ints("starts", starts, 4), attr_ints("steps", steps, 4), attr_ints("sizes", cut.dim, 4) };
	if (!shape_eq(cut, from))
		y = node_call(v, OP_slice, &y, 1, attr, 3);
	Attr wide = attr_ints("pads", pads, 8);
	return shape_eq(cut, to) ? y : node_call(v, OP_pad, &y, 1, &wide, 1);
}

/* The weights of the fork's shortcut, [layers][each]; those of one column add up to one where they are normalised. */
static const float *shortcut_weights(Visit *v, int64_t layers, int64_t each, const char *normal)
{
	bool relu = strcmp(normal, "relu") == 0 || strcmp(normal, "avg_relu") == 0, soft = strcmp(normal, "softmax") == 0;
	if (node_ok(v) && !relu && !soft && strcmp(normal, "none") != 0)
		node_fail(v, ERR_INPUT, "its option weights_normalization is '%.40s', not none, relu or softmax", normal);
	darknet_begin(v, -1);
	const float *w = darknet_take(v, "weights", shape_of(2, (int64_t[]){ layers, each }), 1, 0.1);
	darknet_end(v, -1);
	if (w == NULL || (!relu && !soft))
		return w;
	float *out = arena_array(v->im->arena, float, layers *each);
	for (int64_t k = 0; k < each; k++) {
		float most = w[k], sum = 1e-4f;
		for (int64_t i = 1; i < layers; i++)
			most = w[i * each + k] > most ? w[i * each + k] : most;
		for (int64_t i = 0; i < layers; i++) {
			float x = w[i * each + k];
			out[i * each + k] = soft ? expf(x - most) : x > 0 ? x : 0;
			sum += out[i * each + k];
		}
		for (int64_t i = 0; i < layers; i++)
			out[i * each + k] /= sum;
	}
	return out;
}

static void import_shortcut(Visit *v)
{
	const char *type = node_attr_text(v, "weights_type", "none");
	const char *normal = node_attr_text(v, "weights_normalizion", node_attr_text(v, "weights_normalization", "none"));
	const char *activation = node_attr_text(v, "activation", "linear");
	bool channels = strcmp(type, "per_channel") == 0, weighted = strcmp(type, "none") != 0;
	const float *w = NULL;
	int x = darknet_image(v, 0), n = node_nin(v);
	Shape s = node_val(v, x)->shape;
	Shape row = shape_of(4, (int64_t[]){ 1, channels ? s.dim[1] : 1, 1, 1 });
	if (node_ok(v) && weighted && !channels && strcmp(type, "per_feature") != 0 && strcmp(type, "per_layer") != 0)
		node_fail(v, ERR_INPUT, "its option weights_type is '%.40s', not none, per_feature or per_channel", type);
	if (node_ok(v) && weighted) {
		w = shortcut_weights(v, n, row.dim[1], normal);
		x = node_call2(v, OP_mul, x, node_weight(v, "weights_0", F32, row, w));
	}
	for (int k = 1; k < n && node_ok(v); k++) {
		int y = darknet_image(v, k);
		if (w != NULL && !shape_eq(node_val(v, y)->shape, s))
			node_fail(v, ERR_UNSUPPORTED, "it has weights, but its layers have different shapes");
		if (w != NULL)
			y = node_call2(v, OP_mul, y,
				node_weight(v, arena_printf(v->im->arena, "weights_%d", k), F32, row, w + k * row.dim[1]));
		x = node_call2(v, OP_add, x, fitted(v, y, s));
	}
	node_set(v, 0, darknet_activate(v, x, activation));
}

/* Each channel of a layer times a number, or times a plane (scale_wh), which input 0 is; sam: element by element. */
static void import_scale_channels(Visit *v)
{
	bool plane = node_attr_flag(v, "scale_wh", false);
	const char *activation = node_attr_text(v, "activation", "linear");
	int x = darknet_image(v, 0), y = darknet_image(v, 1);
	Shape s = node_val(v, x)->shape, t = node_val(v, y)->shape;
	bool fits = plane ? s.dim[1] == 1 && s.dim[2] == t.dim[2] && s.dim[3] == t.dim[3]
	                  : s.dim[1] == t.dim[1] && s.dim[2] == 1 && s.dim[3] == 1;
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its two layers do not fit");
	node_set(v, 0, darknet_activate(v, node_call2(v, OP_mul, y, x), activation));
}

static void import_sam(Visit *v)
{
	const char *activation = node_attr_text(v, "activation", "linear");
	int x = darknet_image(v, 0), y = darknet_image(v, 1);
	if (node_ok(v) && !shape_eq(node_val(v, x)->shape, node_val(v, y)->shape))
		node_fail(v, ERR_TYPE, "its two layers have different shapes");
	node_set(v, 0, darknet_activate(v, node_call2(v, OP_mul, y, x), activation));
}

/* ---- the rest */

static void import_activation(Visit *v)
{
	const char *activation = node_attr_text(v, "activation", "linear");
	node_need(v, 0);
	node_set(v, 0, darknet_activate(v, node_value(v, 0), activation));
}

static void import_logistic(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_call1(v, OP_sigmoid, node_value(v, 0)));
}

static void import_same(Visit *v)
{
	node_set_alias(v, 0, node_need(v, 0));
}

/* x / (kappa + alpha * sum of squares over channels) ^ beta; the Dag divides alpha by the number of channels. */
static void import_normalization(Visit *v)
{
	int64_t size = count_of(v, "size", 5);
	if (node_ok(v) && size % 2 == 0)
		node_fail(v, ERR_UNSUPPORTED, "it sums an even number of channels, %lld", (long long)size);
	Attr attr[] = { attr_int("size", size), attr_float("alpha", node_attr_float(v, "alpha", 1e-4) * (double)size),
		attr_float("beta", node_attr_float(v, "beta", 0.75)), attr_float("bias", node_attr_float(v, "kappa", 1)) };
	int x = darknet_image(v, 0);
	node_set(v, 0, node_call(v, OP_lrn, &x, 1, attr, 4));
}

/* The middle, from 0..1 to -1..1. */
static void import_crop(Visit *v)
{
	int64_t h = count_of(v, "crop_height", 1), w = count_of(v, "crop_width", 1);
	bool keep = node_attr_flag(v, "noadjust", false);
	int x = darknet_image(v, 0);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (h > s.dim[2] || w > s.dim[3]))
		node_fail(v, ERR_TYPE, "it cuts %lldx%lld from an image of %lldx%lld", (long long)h, (long long)w,
			(long long)s.dim[2], (long long)s.dim[3]);
	if (!node_ok(v))
		return;
	x = node_slice(v, node_slice(v, x, 2, (s.dim[2] - h) / 2, h), 3, (s.dim[3] - w) / 2, w);
	if (!keep)
		x = node_with_number(v, OP_sub, node_with_number(v, OP_mul, x, 2), 1);
	node_set(v, 0, x);
}

static void import_upsample(Visit *v)
{
	int64_t times = count_of(v, "stride", 2);
	double scale = node_attr_float(v, "scale", 1);
	int x = darknet_image(v, 0);
	Shape s = node_val(v, x)->shape;
	if (!node_ok(v))
		return;
	int64_t apart[] = { s.dim[0], s.dim[1], s.dim[2], 1, s.dim[3], 1 };
	Shape wide = shape_of(6, (int64_t[]){ s.dim[0], s.dim[1], s.dim[2], times, s.dim[3], times });
	if (shape_elements(wide) < 0) {
		node_fail(v, ERR_MEMORY, "its result has too many elements");
		return;
	}
	x = node_expand(v, node_view(v, x, 6, apart), wide);
	x = node_view(v, x, 4, (int64_t[]){ s.dim[0], s.dim[1], s.dim[2] * times, s.dim[3] * times });
	node_set(v, 0, scale == 1 ? x : node_with_number(v, OP_mul, x, scale));
}

#define TRAINING \
	"stopbackward dontload dontloadscales onlyforward learning_rate dot burnin_update train_only_bn " \
	"dont_update clip grad_centr reverse"

const NodeRow darknet_layer_rows[] = {
	{ "convolutional", 0, TRAINING, import_convolutional },
	{ "deconvolutional", 0, TRAINING, import_deconvolutional },
	{ "connected", 0, TRAINING, import_connected },
	{ "batchnorm", 0, TRAINING, import_batchnorm },
	{ "local", 0, TRAINING, import_local },
	{ "maxpool", 0, TRAINING, import_maxpool },
	{ "avgpool", 0, TRAINING, import_avgpool },
	{ "route", 0, TRAINING, import_route },
	{ "shortcut", 0, TRAINING, import_shortcut },
	{ "scale_channels", 0, TRAINING, import_scale_channels },
	{ "sam", 0, TRAINING, import_sam },
	{ "activation", 0, TRAINING, import_activation },
	{ "logistic", 0, "*", import_logistic },
	{ "dropout", 0, "*", import_same },
	{ "cost", 0, "*", import_same },
	{ "normalization", 0, TRAINING, import_normalization },
	{ "crop", 0, "flip exposure saturation angle shift " TRAINING, import_crop },
	{ "upsample", 0, TRAINING, import_upsample },
	{ NULL, 0, NULL, NULL },
};
