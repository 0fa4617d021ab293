/*
 * Rows of convolutions, poolings, products and normalisations. Windows are computed with channels second, whatever the
 * file's data_format is. Filters, which TensorFlow writes [spatial..,in,out], are turned once: they are constants.
 */
#include "frontend/node/windows.h"
#include "frontend/tensorflow/rows.h"

#include <string.h>

/* Input k with channels second. */
static int windowed(Visit *v, int k, bool last)
{
	int x = tf_value(v, k);
	return last ? node_to_second(v, x) : x;
}

static int in_format(Visit *v, int y, bool last)
{
	return last ? node_to_last(v, y) : y;
}

/* The spatial numbers of a list with an entry for each dimension, as strides and ksize are; the others must be 1. */
static void spatial_list(Visit *v, const char *name, int n, bool last, int64_t *out)
{
	int count;
	const int64_t *at = node_attr_ints(v, name, &count);
	for (int k = 0; k < n; k++)
		out[k] = 1;
	if (count < 0 || !node_ok(v))
		return;
	if (count != n + 2) {
		node_fail(v, ERR_TYPE, "its attribute %s has %d numbers where its input needs %d", name, count, n + 2);
		return;
	}
	for (int k = 0; k < n + 2; k++) {
		int place = last ? k - 1 : k - 2;
		bool window = place >= 0 && place < n;
		if (at[k] < 1 || at[k] > INT32_MAX || (!window && at[k] != 1))
			node_fail(v, ERR_UNSUPPORTED, "its attribute %s holds %lld at place %d", name, (long long)at[k], k + 1);
		else if (window)
			out[place] = at[k];
	}
}

/* Pads by name, or as pairs for each dimension. */
static void set_padding(Visit *v, Windows *w, const Shape *x, bool last)
{
	const char *word = node_attr_text(v, "padding", "");
	int count;
	const int64_t *at = node_attr_ints(v, "explicit_paddings", &count);
	if (strcmp(word, "SAME") == 0) {
		windows_pad_same(w, x, true);
	} else if (strcmp(word, "EXPLICIT") == 0 && count == 2 * (w->n + 2)) {
		for (int k = 0; k < w->n; k++) {
			const int64_t *pair = &at[2 * (last ? k + 1 : k + 2)];
			w->pads[k] = pair[0];
			w->pads[k + w->n] = pair[1];
			if (pair[0] < 0 || pair[1] < 0 || pair[0] > INT32_MAX || pair[1] > INT32_MAX)
				node_fail(v, ERR_INPUT, "its attribute explicit_paddings holds %lld and %lld", (long long)pair[0],
					(long long)pair[1]);
		}
	} else if (node_ok(v) && strcmp(word, "VALID") != 0) {
		node_fail(v, ERR_INPUT, "its attribute padding is '%.20s', not SAME or VALID", word);
	}
}

/* Windows with strides and dilations; kernels come from a filter [spatial..,in,out]. */
static Windows filter_windows(Visit *v, const Shape *x, const Shape *filter, bool last)
{
	Windows w = windows_over(v, x);
	if (node_ok(v) && filter->rank != x->rank)
		node_fail(v, ERR_TYPE, "its filter has %d dimensions, but must have %d", filter->rank, x->rank);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		w.kernel[k] = filter->dim[k] <= INT32_MAX ? filter->dim[k] : 1;
		if (filter->dim[k] > INT32_MAX)
			node_fail(v, ERR_TYPE, "its filter has %lld elements along one dimension", (long long)filter->dim[k]);
	}
	spatial_list(v, "strides", w.n, last, w.stride);
	spatial_list(v, "dilations", w.n, last, w.dilation);
	return w;
}

/* A filter [spatial..,in,out] as [out,in,spatial..]. */
static int turn_filter(Visit *v, int f)
{
	int64_t perm[DAG_MAX_RANK];
	int rank = node_val(v, f)->shape.rank;
	perm[0] = rank - 1;
	perm[1] = rank - 2;
	for (int k = 2; k < rank; k++)
		perm[k] = k - 2;
	return node_ok(v) ? node_transpose(v, f, perm) : f;
}

static void import_conv(Visit *v)
{
	bool last = tf_channels_last(v);
	int x = windowed(v, 0, last), f = tf_value(v, 1);
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape;
	Windows w = filter_windows(v, &s, &filter, last);
	set_padding(v, &w, &s, last);
	int64_t per = filter.dim[w.n];
	if (node_ok(v) && (per < 1 || s.dim[1] % per != 0))
		node_fail(
			v, ERR_TYPE, "its filter reads %lld channels, but its input has %lld", (long long)per, (long long)s.dim[1]);
	if (!node_ok(v))
		return;
	node_set(v, 0, in_format(v, node_conv(v, x, turn_filter(v, f), DAG_NONE, &w, s.dim[1] / per), last));
}

/* The filter is [spatial..,channels,multiplier]: a group for each channel. */
static void import_depthwise(Visit *v)
{
	bool last = tf_channels_last(v);
	int x = windowed(v, 0, last), f = tf_value(v, 1);
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape;
	Windows w = filter_windows(v, &s, &filter, last);
	set_padding(v, &w, &s, last);
	if (node_ok(v) && w.n != 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 4", s.rank);
	if (node_ok(v) && filter.dim[w.n] != s.dim[1])
		node_fail(v, ERR_TYPE, "its filter reads %lld channels, but its input has %lld", (long long)filter.dim[w.n],
			(long long)s.dim[1]);
	if (!node_ok(v))
		return;
	int64_t perm[] = { 2, 3, 0, 1 }, dim[] = { filter.dim[2] * filter.dim[3], 1, filter.dim[0], filter.dim[1] };
	f = node_view(v, node_transpose(v, f, perm), 4, dim);
	node_set(v, 0, in_format(v, node_conv(v, x, f, DAG_NONE, &w, s.dim[1]), last));
}

/* The gradient of a convolution by its input: input 0 is the size of the result, input 2 what is spread. */
static void import_conv_transpose(Visit *v)
{
	bool last = tf_channels_last(v);
	int n, f = tf_value(v, 1), x = windowed(v, 2, last);
	const int64_t *to = tf_ints(v, 0, &n);
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape, out = { .rank = s.rank };
	Windows w = filter_windows(v, &s, &filter, last);
	int64_t size[MOST_SPATIAL], extend[MOST_SPATIAL] = { 0 };
	bool full = n == s.rank;
	if (node_ok(v) && !full && n != s.rank - 2)
		node_fail(v, ERR_TYPE, "its sizes are %d numbers, but its input has %d dimensions", n, s.rank);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		size[k] = to[!full ? k : last ? k + 1 : k + 2];
		out.dim[k + 2] = size[k];
		if (size[k] < 1 || size[k] > INT32_MAX)
			node_fail(v, ERR_INPUT, "its result has the size %lld", (long long)size[k]);
	}
	if (node_ok(v) && s.dim[1] != filter.dim[w.n + 1])
		node_fail(v, ERR_TYPE, "its filter spreads %lld channels, but its input has %lld",
			(long long)filter.dim[w.n + 1], (long long)s.dim[1]);
	if (!node_ok(v))
		return;
	set_padding(v, &w, &out, last); /* that of the convolution whose gradient it is */
	for (int k = 0; k < w.n && node_ok(v); k++) {
		int64_t reach = (w.kernel[k] - 1) * w.dilation[k] + 1;
		extend[k] = size[k] - ((s.dim[k + 2] - 1) * w.stride[k] + reach - w.pads[k] - w.pads[k + w.n]);
		if (extend[k] < 0 || extend[k] >= w.stride[k])
			node_fail(v, ERR_INPUT, "its result of %lld elements does not belong to %lld of its input",
				(long long)size[k], (long long)s.dim[k + 2]);
	}
	int y = node_conv_transpose(v, x, turn_filter(v, f), DAG_NONE, &w, extend, 1);
	node_set(v, 0, in_format(v, y, last));
}

/* ---- poolings */

static Windows pool_windows(Visit *v, const Shape *s, bool last)
{
	Windows w = windows_over(v, s);
	spatial_list(v, "ksize", w.n, last, w.kernel);
	spatial_list(v, "strides", w.n, last, w.stride);
	set_padding(v, &w, s, last);
	return w;
}

static void import_pool(Visit *v, bool max)
{
	bool last = tf_channels_last(v);
	int x = windowed(v, 0, last);
	Shape s = node_val(v, x)->shape;
	Windows w = pool_windows(v, &s, last);
	if (!node_ok(v))
		return;
	node_set(v, 0, in_format(v, max ? node_max_pool(v, x, &w, false) : node_avg_pool(v, x, &w, false, false), last));
}

static void import_max_pool(Visit *v)
{
	import_pool(v, true);
}

static void import_avg_pool(Visit *v)
{
	import_pool(v, false);
}

/* ---- normalisations */

/* x times scale plus shift for each channel, from mean and variance. */
static void set_norm(Visit *v, const int *in, double epsilon, bool last)
{
	int with[] = { last ? node_to_second(v, in[0]) : in[0], in[1], in[2], in[3], in[4] };
	Attr attr = attr_float("epsilon", epsilon);
	node_set(v, 0, in_format(v, node_call(v, OP_batch_norm, with, 5, &attr, 1), last));
}

static void import_fused_norm(Visit *v)
{
	bool last = tf_channels_last(v);
	int in[5];
	for (int k = 0; k < 5; k++)
		in[k] = tf_value(v, k);
	if (node_attr_flag(v, "is_training", true))
		node_fail(v, ERR_UNSUPPORTED, "it normalises as in training; export the network for inference");
	set_norm(v, in, node_attr_float(v, "epsilon", 1e-4), last);
}

/* Inputs x, mean, variance, beta, gamma. */
static void import_old_norm(Visit *v)
{
	int x = tf_value(v, 0), mean = tf_value(v, 1), var = tf_value(v, 2), beta = tf_value(v, 3), gamma = tf_value(v, 4);
	double epsilon = node_attr_float(v, "variance_epsilon", 1e-3);
	if (!node_attr_flag(v, "scale_after_normalization", true) && node_ok(v))
		gamma = node_expand(v, node_number(v, node_val(v, gamma)->type, 1), node_val(v, gamma)->shape);
	set_norm(v, (int[]){ x, gamma, beta, mean, var }, epsilon, true);
}

static void import_lrn(Visit *v)
{
	int x = node_to_second(v, tf_value(v, 0));
	int64_t radius = node_attr_int(v, "depth_radius", 5), size = radius >= 0 && radius < 1 << 30 ? 2 * radius + 1 : 0;
	double bias = node_attr_float(v, "bias", 1), alpha = node_attr_float(v, "alpha", 1);
	if (node_ok(v) && size < 1)
		node_fail(v, ERR_INPUT, "its attribute depth_radius is out of range");
	Attr attr[] = { attr_int("size", size), attr_float("bias", bias), attr_float("alpha", alpha * (double)size),
		attr_float("beta", node_attr_float(v, "beta", 0.5)) };
	node_set(v, 0, node_to_last(v, node_call(v, OP_lrn, &x, 1, attr, 4)));
}

/* ---- products */

static void import_bias_add(Visit *v)
{
	bool last = tf_channels_last(v);
	int x = tf_value(v, 0), b = tf_value(v, 1);
	Shape s = node_val(v, x)->shape, wide = { .rank = s.rank > 1 ? s.rank - 1 : 1, .dim = { 0 } };
	if (!last && node_ok(v) && node_val(v, b)->shape.rank == 1) {
		for (int k = 0; k < wide.rank; k++)
			wide.dim[k] = k == 0 ? node_val(v, b)->shape.dim[0] : 1;
		b = node_reshape(v, b, wide);
	}
	node_set(v, 0, node_each2(v, OP_add, x, b));
}

static void import_product(Visit *v, const char *ta, const char *tb)
{
	int in[] = { tf_value(v, 0), tf_value(v, 1) };
	for (int k = 0; k < 2; k++) /* BatchMatMulV3 names the type of its result */
		in[k] = node_cast(v, in[k], tf_attr_type(v, "Tout", node_val(v, in[k])->type));
	Attr attr[] = { attr_int("ta", node_attr_flag(v, ta, false)), attr_int("tb", node_attr_flag(v, tb, false)) };
	node_set(v, 0, node_call(v, OP_matmul, in, 2, attr, 2));
}

static void import_matmul(Visit *v)
{
	import_product(v, "transpose_a", "transpose_b");
}

static void import_batch_matmul(Visit *v)
{
	import_product(v, "adj_x", "adj_y");
}

static void import_l2_loss(Visit *v)
{
	int x = tf_value(v, 0), y = node_call2(v, OP_mul, x, x), rank = node_val(v, x)->shape.rank;
	int64_t axes[DAG_MAX_RANK];
	for (int k = 0; k < rank; k++)
		axes[k] = k;
	node_set(v, 0, node_with_number(v, OP_mul, node_reduce(v, OP_reduce_sum, y, axes, rank, false), 0.5));
}

/* The largest of x at the taps of a window, each plus its filter's number: one slice and one sum for each tap. */
static void import_dilation(Visit *v)
{
	int x = node_to_second(v, tf_value(v, 0)), f = tf_value(v, 1), y = DAG_NONE;
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape;
	Windows w = windows_over(v, &s);
	spatial_list(v, "strides", w.n, true, w.stride);
	spatial_list(v, "rates", w.n, true, w.dilation);
	if (node_ok(v) && (w.n != 2 || filter.rank != 3 || filter.dim[0] * filter.dim[1] > 256 || filter.dim[0] < 1 ||
						  filter.dim[1] < 1 || filter.dim[2] != s.dim[1]))
		node_fail(v, ERR_UNSUPPORTED, "its filter must be [height,width,channels] with at most 256 taps");
	if (!node_ok(v))
		return;
	w.kernel[0] = filter.dim[0];
	w.kernel[1] = filter.dim[1];
	set_padding(v, &w, &s, true);
	int64_t pads[] = { 0, 0, w.pads[0], w.pads[1], 0, 0, w.pads[2], w.pads[3] }, out[2], turn[] = { 2, 0, 1 };
	Attr pad[] = { attr_ints("pads", pads, 8), attr_float("value", -3.4028234663852886e38) };
	x = node_call(v, OP_pad, &x, 1, pad, 2);
	f = node_transpose(v, f, turn);
	for (int k = 0; k < 2; k++) {
		out[k] = (s.dim[2 + k] + w.pads[k] + w.pads[2 + k] - (w.kernel[k] - 1) * w.dilation[k] - 1) / w.stride[k] + 1;
		if (node_ok(v) && out[k] < 1)
			node_fail(v, ERR_TYPE, "its window is larger than its input");
	}
	for (int64_t i = 0; i < w.kernel[0] * w.kernel[1] && node_ok(v); i++) {
		int64_t h = i / w.kernel[1], c = i % w.kernel[1], start[] = { 0, 0, h * w.dilation[0], c * w.dilation[1] };
		int64_t step[] = { 1, 1, w.stride[0], w.stride[1] }, size[] = { s.dim[0], s.dim[1], out[0], out[1] };
		Attr attr[] = { attr_ints("starts", start, 4), attr_ints("steps", step, 4), attr_ints("sizes", size, 4) };
		int tap = node_slice(v, node_slice(v, f, 1, h, 1), 2, c, 1);
		int sum = node_call2(v, OP_add, node_call(v, OP_slice, &x, 1, attr, 3), tap);
		y = y == DAG_NONE ? sum : node_call2(v, OP_maximum, y, sum);
	}
	node_set(v, 0, node_to_last(v, y));
}

const NodeRow tf_nn_rows[] = {
	{ "Conv2D", 0, "use_cudnn_on_gpu", import_conv },
	{ "Conv3D", 0, "", import_conv },
	{ "DepthwiseConv2dNative", 0, "", import_depthwise },
	{ "Conv2DBackpropInput", 0, "use_cudnn_on_gpu", import_conv_transpose },
	{ "Conv3DBackpropInputV2", 0, "", import_conv_transpose },
	{ "MaxPool", 0, "", import_max_pool },
	{ "MaxPool3D", 0, "", import_max_pool },
	{ "AvgPool", 0, "", import_avg_pool },
	{ "AvgPool3D", 0, "", import_avg_pool },
	{ "FusedBatchNorm", 0, "exponential_avg_factor", import_fused_norm },
	{ "FusedBatchNormV2", 0, "exponential_avg_factor", import_fused_norm },
	{ "FusedBatchNormV3", 0, "exponential_avg_factor", import_fused_norm },
	{ "BatchNormWithGlobalNormalization", 0, "", import_old_norm },
	{ "LRN", 0, "", import_lrn },
	{ "BiasAdd", 0, "", import_bias_add },
	{ "BiasAddV1", 0, "", import_bias_add },
	{ "MatMul", 0, "grad_a grad_b", import_matmul },
	{ "BatchMatMul", 0, "grad_x grad_y", import_batch_matmul },
	{ "BatchMatMulV2", 0, "grad_x grad_y", import_batch_matmul },
	{ "BatchMatMulV3", 0, "grad_x grad_y", import_batch_matmul },
	{ "Einsum", 0, "N", node_einsum },
	{ "L2Loss", 0, "", import_l2_loss },
	{ "Dilation2D", 0, "", import_dilation },
	{ NULL, 0, NULL, NULL },
};
