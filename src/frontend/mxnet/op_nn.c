/*
 * Rows of layers with windows and weights: convolutions, fully connected layers, poolings, activations, upsampling.
 * What has its channels last is turned around these calls; passes of the graph remove turns that meet.
 */
#include "frontend/mxnet/rows.h"
#include "frontend/node/activate.h"
#include "frontend/node/deform_conv.h"
#include "frontend/node/windows.h"

#include <math.h>
#include <string.h>

/* ---- layouts */

/* The place of the channels is the last one: NWC, NHWC, NDHWC. */
static bool channels_last(Visit *v, int rank)
{
	static const char *const first[] = { "NCW", "NCHW", "NCDHW" }, *const last[] = { "NWC", "NHWC", "NDHWC" };
	const char *layout = node_attr_text(v, "layout", NULL);
	if (layout == NULL || !node_ok(v) || rank < 3 || rank > 5 || strcmp(layout, first[rank - 3]) == 0)
		return false;
	if (strcmp(layout, last[rank - 3]) == 0)
		return true;
	node_fail(v, ERR_UNSUPPORTED, "its layout %.20s is not supported for an input of %d dimensions", layout, rank);
	return false;
}

/* Channels from the last place to the first one behind the batch, and back. */
static int channels_first_of(Visit *v, int x, bool last)
{
	int64_t perm[DAG_MAX_RANK] = { 0 };
	int rank = node_val(v, x)->shape.rank;
	for (int k = 1; k < rank; k++)
		perm[k] = k == 1 ? rank - 1 : k - 1;
	return last && node_ok(v) ? node_transpose(v, x, perm) : x;
}

static int channels_back(Visit *v, int x, bool last)
{
	int64_t perm[DAG_MAX_RANK] = { 0 };
	int rank = node_val(v, x)->shape.rank;
	for (int k = 1; k < rank; k++)
		perm[k] = k == rank - 1 ? 1 : k + 1;
	return last && node_ok(v) ? node_transpose(v, x, perm) : x;
}

/* Windows from the attributes kernel, stride, dilate and pad, which is the same at both ends. */
static Windows read_windows(Visit *v, int x)
{
	Windows w = windows_over(v, &node_val(v, x)->shape);
	if (!node_ok(v))
		return w;
	node_attr_list(v, "kernel", w.n, 1, 1, w.kernel);
	node_attr_list(v, "stride", w.n, 1, 1, w.stride);
	node_attr_list(v, "dilate", w.n, 1, 1, w.dilation);
	node_attr_list(v, "pad", w.n, 0, 0, w.pads);
	memcpy(&w.pads[w.n], w.pads, sizeof *w.pads * (size_t)w.n);
	return w;
}

/* A number of filters or units. */
static int64_t read_count(Visit *v, const char *name)
{
	int64_t n = node_attr_int(v, name, 0);
	if (node_ok(v) && (n < 1 || n > INT32_MAX))
		node_fail(v, ERR_INPUT, "its attribute %s is %lld, but must be positive", name, (long long)n);
	return node_ok(v) ? n : 1;
}

static int64_t read_groups(Visit *v, int64_t channels)
{
	int64_t groups = node_attr_int(v, "num_group", 1);
	if (node_ok(v) && (groups < 1 || channels % groups != 0))
		node_fail(v, ERR_INPUT, "its %lld groups do not divide %lld channels", (long long)groups, (long long)channels);
	return node_ok(v) ? groups : 1;
}

/* Input k, a bias of n numbers, unless no_bias is set. */
static int read_bias(Visit *v, int k, int64_t n, bool none)
{
	return node_attr_flag(v, "no_bias", none) ? DAG_NONE : mxnet_weight(v, k, shape_of(1, &n));
}

/* Weights [filters, channels / groups, kernel..], or with their channels last, as the input. */
static Shape weight_shape(int64_t out, int64_t in, const Windows *w, bool last)
{
	Shape s = { .rank = w->n + 2, .dim = { out } };
	s.dim[last ? w->n + 1 : 1] = in;
	for (int k = 0; k < w->n; k++)
		s.dim[last ? k + 1 : k + 2] = w->kernel[k];
	return s;
}

static void import_convolution(Visit *v)
{
	const Item *it = node_need(v, 0);
	bool last = channels_last(v, it->shape.rank);
	int x = channels_first_of(v, node_value(v, 0), last);
	Windows w = read_windows(v, x);
	int64_t channels = node_ok(v) ? node_val(v, x)->shape.dim[1] : 1, filters = read_count(v, "num_filter");
	int64_t groups = read_groups(v, channels);
	int weight = mxnet_weight(v, 1, weight_shape(filters, channels / groups, &w, last));
	int b = read_bias(v, 2, filters, false);
	node_set(v, 0, channels_back(v, node_conv(v, x, channels_first_of(v, weight, last), b, &w, groups), last));
}

int mxnet_convolve(Visit *v, int x, int w)
{
	if (node_ok(v) && channels_last(v, node_val(v, x)->shape.rank))
		node_fail(v, ERR_UNSUPPORTED, "its channels must be second");
	Windows win = read_windows(v, x);
	int64_t channels = node_ok(v) ? node_val(v, x)->shape.dim[1] : 1, filters = read_count(v, "num_filter");
	int64_t groups = read_groups(v, channels);
	if (node_ok(v) && !shape_eq(node_val(v, w)->shape, weight_shape(filters, channels / groups, &win, false)))
		node_fail(v, ERR_TYPE, "its weights do not have the shape that its attributes say");
	return node_ok(v) ? node_conv(v, x, w, DAG_NONE, &win, groups) : DAG_NONE;
}

/* Inputs: data, offsets, weights, bias; with a mask behind the offsets, a tap beyond the last element fades out. */
static void import_deformable(Visit *v, bool mask)
{
	const Item *it = node_need(v, 0);
	bool last = channels_last(v, it->shape.rank);
	if (node_ok(v) && (last || it->shape.rank != 4))
		node_fail(v, ERR_UNSUPPORTED, "its input must be an image with its channels second");
	DeformConv c = { .x = node_value(v, 0), .offset = node_value(v, 1), .mask = DAG_NONE, .clamped = !mask };
	c.windows = read_windows(v, c.x);
	int64_t channels = node_ok(v) ? it->shape.dim[1] : 1, filters = read_count(v, "num_filter");
	c.groups = read_groups(v, channels);
	c.moved = node_attr_int(v, "num_deformable_group", 1);
	if (mask)
		c.mask = node_value(v, 2);
	c.w = mxnet_weight(v, mask ? 3 : 2, weight_shape(filters, channels / c.groups, &c.windows, false));
	c.b = read_bias(v, mask ? 4 : 3, filters, false);
	node_set(v, 0, node_deform_conv(v, &c));
}

static void import_deformable_plain(Visit *v)
{
	import_deformable(v, false);
}

static void import_deformable_masked(Visit *v)
{
	import_deformable(v, true);
}

/* A target shape gives the pads: what the windows cover too much, rounded up, and the odd element is added again. */
static void pad_to_target(Visit *v, int x, Windows *w, int64_t *extend)
{
	int count;
	const int64_t *target = node_attr_ints(v, "target_shape", &count);
	bool given = count == w->n;
	for (int k = 0; k < w->n && given; k++)
		given = target[k] > 0;
	for (int k = 0; k < w->n && given; k++) {
		int64_t all = w->stride[k] * (node_val(v, x)->shape.dim[2 + k] - 1) + w->dilation[k] * (w->kernel[k] - 1) + 1;
		if (target[k] > all) {
			node_fail(v, ERR_INPUT, "its target_shape %lld is more than the %lld elements that its windows cover",
				(long long)target[k], (long long)all);
			return;
		}
		extend[k] = (all - target[k]) % 2;
		w->pads[k] = w->pads[w->n + k] = (all - target[k] + 1) / 2;
	}
}

static void import_deconvolution(Visit *v)
{
	const Item *it = node_need(v, 0);
	bool last = channels_last(v, it->shape.rank);
	int x = channels_first_of(v, node_value(v, 0), last);
	Windows w = read_windows(v, x);
	int64_t channels = node_ok(v) ? node_val(v, x)->shape.dim[1] : 1, filters = read_count(v, "num_filter");
	int64_t groups = read_groups(v, channels), extend[MOST_SPATIAL];
	if (filters % groups != 0)
		node_fail(v, ERR_INPUT, "its %lld groups do not divide %lld filters", (long long)groups, (long long)filters);
	node_attr_list(v, "adj", w.n, 0, 0, extend);
	pad_to_target(v, x, &w, extend);
	int weight = mxnet_weight(v, 1, weight_shape(channels, filters / groups, &w, last));
	int b = read_bias(v, 2, filters, true);
	weight = channels_first_of(v, weight, last);
	node_set(v, 0, channels_back(v, node_conv_transpose(v, x, weight, b, &w, extend, groups), last));
}

static void import_fully_connected(Visit *v)
{
	const Item *it = node_need(v, 0);
	bool flatten = node_attr_flag(v, "flatten", true);
	int64_t units = read_count(v, "num_hidden");
	Shape s = it->shape, out;
	if (node_ok(v) && s.rank < 1)
		node_fail(v, ERR_TYPE, "its input is a scalar");
	int from = flatten ? 1 : s.rank - 1;
	from = from > s.rank ? s.rank : from < 0 ? 0 : from;
	int64_t rows = shape_product(&s, 0, from), in = shape_product(&s, from, s.rank), w[] = { units, in };
	int weight = mxnet_weight(v, 1, shape_of(2, w)), b = read_bias(v, 2, units, false);
	int args[] = { node_view(v, node_value(v, 0), 2, (int64_t[]){ rows, in }), weight, b };
	out = flatten ? shape_of(1, s.dim) : s;
	out.rank = flatten ? 2 : s.rank;
	out.dim[out.rank > 0 ? out.rank - 1 : 0] = units;
	node_set(v, 0, node_reshape(v, node_call(v, OP_dense, args, 3, NULL, 0), out));
}

/* ---- poolings */

/* The pads that the conventions full and same add at the end: results are rounded up. */
static void round_up(Visit *v, int x, Windows *w, bool same)
{
	for (int k = 0; k < w->n && node_ok(v); k++) {
		int64_t in = node_val(v, x)->shape.dim[2 + k] + 2 * w->pads[k], s = w->stride[k], room = in - w->kernel[k];
		int64_t out = same ? (in + s - 1) / s : room < 0 ? 0 : (room + s - 1) / s + 1;
		int64_t more = (out - 1) * s + w->kernel[k] - in;
		if (!same && out > 0 && (out - 1) * s >= in - w->pads[k])
			node_fail(v, ERR_UNSUPPORTED, "its last window lies outside of its input");
		w->pads[w->n + k] += more > 0 ? more : 0;
	}
}

/* The sum is the mean, in which padding counts, times the elements of a window. */
static int pool_sum(Visit *v, int x, const Windows *w)
{
	double taps = 1;
	for (int k = 0; k < w->n; k++)
		taps *= (double)w->kernel[k];
	return node_with_number(v, OP_mul, node_avg_pool(v, x, w, false, true), taps);
}

/*
 * The mean over windows that rounding up made longer at the end: only the padding of the attribute counts, so it
 * becomes part of the input.
 */
static int pool_mean(Visit *v, int x, Windows *w, const Windows *given, bool count)
{
	int64_t pads[2 * DAG_MAX_RANK] = { 0 };
	int rank = node_val(v, x)->shape.rank;
	bool longer = memcmp(w->pads, given->pads, sizeof w->pads) != 0;
	if (!longer || !count)
		return node_avg_pool(v, x, w, false, count);
	for (int k = 0; k < w->n; k++) {
		pads[2 + k] = given->pads[k];
		pads[rank + 2 + k] = given->pads[w->n + k];
		w->pads[w->n + k] -= given->pads[w->n + k];
		w->pads[k] = 0;
	}
	Attr attr = attr_ints("pads", pads, 2 * rank);
	return node_avg_pool(v, node_call(v, OP_pad, &x, 1, &attr, 1), w, false, false);
}

/* |x| to the power p */
static int power(Visit *v, int x, double p)
{
	return p == 2 ? node_call2(v, OP_mul, x, x) : p == 1 ? x : node_with_number(v, OP_pow, x, p);
}

int mxnet_pool(Visit *v, int x)
{
	bool last = channels_last(v, node_val(v, x)->shape.rank), all = node_attr_flag(v, "global_pool", false);
	const char *type = node_attr_text(v, "pool_type", "max"), *how = node_attr_text(v, "pooling_convention", "valid");
	bool count = node_attr_flag(v, "count_include_pad", true), same = strcmp(how, "same") == 0;
	bool max = strcmp(type, "max") == 0, avg = strcmp(type, "avg") == 0, lp = strcmp(type, "lp") == 0;
	double p = lp ? node_attr_float(v, "p_value", 0) : 1;
	if (node_ok(v) && !max && !avg && !lp && strcmp(type, "sum") != 0)
		node_fail(v, ERR_INPUT, "its attribute pool_type is '%.20s', not max, avg, sum or lp", type);
	if (node_ok(v) && !same && strcmp(how, "valid") != 0 && strcmp(how, "full") != 0)
		node_fail(v, ERR_INPUT, "its attribute pooling_convention is '%.20s', not valid, full or same", how);
	if (node_ok(v) && lp && !(p >= 1 && p <= 3))
		node_fail(v, ERR_INPUT, "its attribute p_value is %g, but must be 1, 2 or 3", p);
	x = channels_first_of(v, x, last);
	Windows w = read_windows(v, x), given;
	int y;
	if (!node_ok(v))
		return DAG_NONE;
	x = lp ? power(v, p == 2 ? x : node_call1(v, OP_abs, x), p) : x;
	given = w;
	if (all) {
		y = node_global(v, max ? OP_reduce_max : avg ? OP_reduce_mean : OP_reduce_sum, x);
	} else {
		if (strcmp(how, "valid") != 0)
			round_up(v, x, &w, same);
		y = max ? node_max_pool(v, x, &w, false) : avg ? pool_mean(v, x, &w, &given, count) : pool_sum(v, x, &w);
	}
	if (lp && p != 1)
		y = p == 2 ? node_call1(v, OP_sqrt, y) : node_with_number(v, OP_pow, y, 1 / p);
	return channels_back(v, y, last);
}

static void import_pooling(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, mxnet_pool(v, node_value(v, 0)));
}

/* Means over regions of about equal size: result i covers floor(i * in / out) .. ceil((i + 1) * in / out). */
static int adapt(Visit *v, int x, int axis, int64_t out)
{
	int64_t in = node_val(v, x)->shape.dim[axis], most = 0;
	if (in < 1 || out < 1 || out > 1 << 16 || in > 1 << 20) {
		node_fail(v, ERR_UNSUPPORTED, "its result of %lld elements is out of range", (long long)out);
		return x;
	}
	for (int64_t i = 0; i < out; i++) {
		int64_t n = ((i + 1) * in + out - 1) / out - i * in / out;
		most = n > most ? n : most;
	}
	if (out * most > 1 << 22) {
		node_fail(v, ERR_UNSUPPORTED, "its regions have too many elements");
		return x;
	}
	int64_t *index = arena_array(v->im->arena, int64_t, out * most + 1), dim[] = { out, most };
	float *weight = arena_array(v->im->arena, float, out *most + 1);
	for (int64_t i = 0; i < out; i++) {
		int64_t from = i * in / out, n = ((i + 1) * in + out - 1) / out - from;
		for (int64_t k = 0; k < most; k++) {
			index[i * most + k] = from + (k < n ? k : 0);
			weight[i * most + k] = k < n ? 1 / (float)n : 0;
		}
	}
	int args[] = { x, node_const(v, I64, shape_of(2, dim), index), node_const(v, F32, shape_of(2, dim), weight) };
	Attr attr = attr_int("axis", axis);
	return in == out ? x : node_call(v, OP_resample, args, 3, &attr, 1);
}

static void import_adaptive_pooling(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t size[2] = { 1, 1 };
	int count;
	const int64_t *given = node_attr_ints(v, "output_size", &count);
	if (node_ok(v) && (it->shape.rank != 4 || count > 2))
		node_fail(v, ERR_TYPE, "its input must have 4 dimensions, and its output_size one or two numbers");
	for (int k = 0; k < 2 && count > 0; k++)
		size[k] = given[count == 1 ? 0 : k];
	int x = node_value(v, 0);
	if (node_ok(v) && size[0] == 1 && size[1] == 1) {
		node_set(v, 0, node_global(v, OP_reduce_mean, x));
		return;
	}
	for (int k = 1; k >= 0 && node_ok(v); k--)
		x = adapt(v, x, 2 + k, size[k]);
	node_set(v, 0, node_ok(v) && x == node_value(v, 0) ? node_call1(v, OP_identity, x) : x);
}

/* ---- activations */

static void import_activation(Visit *v)
{
	static const char *const known[][2] = { { "relu", "relu" }, { "sigmoid", "sigmoid" }, { "tanh", "tanh" },
		{ "softrelu", "softplus" }, { "softsign", "softsign" }, { "mish", "mish" }, { "log_sigmoid", "log_sigmoid" } };
	node_need(v, 0);
	const char *type = node_attr_text(v, "act_type", "");
	int x = node_value(v, 0);
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (strcmp(known[k][0], type) == 0) {
			bool log = strcmp(type, "log_sigmoid") == 0; /* -log(1 + exp(-x)) */
			if (log)
				x = node_call1(v, OP_neg, node_activate(v, node_call1(v, OP_neg, x), "softplus"));
			node_set(v, 0, log ? x : node_activate(v, x, known[k][1]));
			return;
		}
	node_fail(v, ERR_UNSUPPORTED, "its attribute act_type is '%.20s', which is not one that dlc knows", type);
}

/* A slope for each channel, or one for all. */
static int prelu(Visit *v)
{
	const Item *x = node_need(v, 0);
	Item *slope = node_item(v, 1);
	Shape want = { .rank = 1, .dim = { x->shape.rank > 1 ? x->shape.dim[1] : 1 } }, wide = { .rank = 1 };
	if (slope != NULL && slope->kind == ITEM_TENSOR && shape_elements(slope->shape) == 1)
		want = slope->shape;
	int s = mxnet_weight(v, 1, want);
	if (!node_ok(v))
		return DAG_NONE;
	wide.dim[0] = shape_elements(want);
	wide.rank = x->shape.rank > 1 ? x->shape.rank - 1 : 1;
	for (int k = 1; k < wide.rank; k++)
		wide.dim[k] = 1;
	return node_call2(v, OP_prelu, node_value(v, 0), node_reshape(v, s, wide));
}

static void import_leaky_relu(Visit *v)
{
	node_need(v, 0);
	const char *type = node_attr_text(v, "act_type", "leaky");
	double slope = node_attr_float(v, "slope", 0.25), lower = node_attr_float(v, "lower_bound", 0.125);
	double upper = node_attr_float(v, "upper_bound", 0.334);
	int x = node_value(v, 0);
	if (strcmp(type, "prelu") == 0)
		x = prelu(v);
	else if (strcmp(type, "leaky") == 0)
		x = node_activate_with(v, x, "leaky_relu", slope, 0);
	else if (strcmp(type, "rrelu") == 0) /* the mean of its slopes, as MXNet at inference */
		x = node_activate_with(v, x, "leaky_relu", (lower + upper) / 2, 0);
	else if (strcmp(type, "elu") == 0)
		x = node_activate_with(v, x, "elu", slope, 0);
	else if (strcmp(type, "selu") == 0 || strcmp(type, "gelu") == 0)
		x = node_activate(v, x, type);
	else
		node_fail(v, ERR_UNSUPPORTED, "its attribute act_type is '%.20s', which is not one that dlc knows", type);
	node_set(v, 0, x);
}

/* ---- upsampling */

static int repeat_along(Visit *v, int x, int axis, int64_t times)
{
	Shape s = node_val(v, x)->shape, parts = { .rank = 3 };
	if (!node_ok(v) || times == 1)
		return x;
	parts.dim[0] = shape_product(&s, 0, axis + 1);
	parts.dim[1] = 1;
	parts.dim[2] = shape_product(&s, axis + 1, s.rank);
	x = node_reshape(v, x, parts);
	parts.dim[1] = times;
	s.dim[axis] *= times;
	return node_reshape(v, node_expand(v, x, parts), s);
}

/* Several inputs get the size of the first one's result. */
static void import_upsampling(Visit *v)
{
	const Item *first = node_need(v, 0);
	int64_t scale = node_attr_int(v, "scale", 1);
	int n = (int)node_attr_int(v, "num_args", 1), part[64];
	const char *type = node_attr_text(v, "sample_type", "nearest");
	const char *mode = node_attr_text(v, "multi_input_mode", "concat");
	if (node_ok(v) && (scale < 1 || scale > 1000 || first->shape.rank != 4))
		node_fail(v, ERR_TYPE, "its scale must be 1 to 1000, and its input must have 4 dimensions");
	if (strcmp(type, "bilinear") == 0 && node_ok(v)) {
		int64_t channels = first->shape.dim[1], k = 2 * scale - scale % 2, extend[2] = { 0, 0 };
		Windows w = { .n = 2, .kernel = { k, k }, .stride = { scale, scale }, .dilation = { 1, 1 } };
		for (int i = 0; i < 4; i++)
			w.pads[i] = scale / 2;
		Shape s = { 4, { channels, 1, k, k } };
		node_attr_int(v, "num_filter", 0);
		node_set(v, 0, node_conv_transpose(v, node_value(v, 0), mxnet_weight(v, 1, s), DAG_NONE, &w, extend, channels));
		return;
	}
	if (node_ok(v) && (strcmp(type, "nearest") != 0 || n < 1 || n > 64 || n != node_nin(v)))
		node_fail(v, ERR_UNSUPPORTED, "its sample_type '%.20s' of %d inputs is not supported", type, node_nin(v));
	for (int k = 0; k < n && node_ok(v); k++) {
		const Item *it = node_need(v, k);
		int64_t h = first->shape.dim[2] * scale, w = first->shape.dim[3] * scale;
		bool fits = it->shape.rank == 4 && it->shape.dim[2] > 0 && it->shape.dim[3] > 0 && h % it->shape.dim[2] == 0 &&
		            w % it->shape.dim[3] == 0;
		if (!fits)
			node_fail(v, ERR_TYPE, "the size of its input %d does not divide that of its result", k + 1);
		if (!node_ok(v))
			return;
		part[k] = repeat_along(v, repeat_along(v, node_value(v, k), 3, w / it->shape.dim[3]), 2, h / it->shape.dim[2]);
	}
	if (!node_ok(v))
		return;
	int y = part[0];
	if (strcmp(mode, "sum") == 0)
		for (int k = 1; k < n; k++)
			y = node_call2(v, OP_add, y, part[k]);
	else
		y = node_concat(v, part, n, 1);
	node_set(v, 0, y == node_value(v, 0) ? node_call1(v, OP_identity, y) : y);
}

const NodeRow mxnet_nn_rows[] = {
	{ "Convolution", 0, "workspace cudnn_tune cudnn_off", import_convolution },
	{ "_contrib_DeformableConvolution", 0, "workspace", import_deformable_plain },
	{ "_contrib_ModulatedDeformableConvolution", 0, "workspace im2col_step", import_deformable_masked },
	{ "Deconvolution", 0, "workspace cudnn_tune cudnn_off", import_deconvolution },
	{ "FullyConnected", 0, "", import_fully_connected },
	{ "Pooling", 0, "cudnn_off", import_pooling },
	{ "_contrib_AdaptiveAvgPooling2D", 0, "", import_adaptive_pooling },
	{ "Activation", 0, "", import_activation },
	{ "LeakyReLU", 0, "", import_leaky_relu },
	{ "UpSampling", 0, "workspace num_filter", import_upsampling },
	{ NULL, 0, NULL, NULL },
};
