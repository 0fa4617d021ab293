/*
 * Rows of layers with windows. They are computed with channels second, whatever data_format is; kernels, which Keras
 * writes [spatial..,in,out], are turned once: they are constants.
 */
#include "frontend/keras/mask.h"
#include "frontend/keras/window.h"

#include <string.h>

/* The weight [spatial..,channels,multiplier] as [channels*multiplier,1,spatial..]. Theano does not flip these. */
static int depthwise_kernel(Visit *v, const char *slot, const Windows *w, int64_t channels, int64_t times)
{
	Shape s = { .rank = w->n + 2 }, flat = { .rank = w->n + 2, .dim = { channels * times, 1 } };
	int64_t perm[DAG_MAX_RANK] = { w->n, w->n + 1 };
	for (int k = 0; k < w->n; k++) {
		s.dim[k] = flat.dim[k + 2] = w->kernel[k];
		perm[k + 2] = k;
	}
	s.dim[w->n] = channels;
	s.dim[w->n + 1] = times;
	return node_reshape(v, node_transpose(v, keras_weight(v, slot, s), perm), flat);
}

static void set_activated(Visit *v, int y, bool last)
{
	node_set(v, 0, keras_activate(v, keras_in_format(v, y, last), "activation"));
}

static void import_conv(Visit *v)
{
	bool last = keras_last(v);
	int x = keras_windowed(v, last);
	Shape s = node_val(v, x)->shape;
	Windows w = keras_windows(v, &s, "kernel_size", false);
	int64_t filters = keras_count(v, "filters", 0), groups = keras_count(v, "groups", 1);
	keras_pad_windows(v, &w, &s);
	if (node_ok(v) && (s.dim[1] % groups != 0 || filters % groups != 0))
		node_fail(v, ERR_TYPE, "%lld channels and %lld filters cannot be cut into %lld groups", (long long)s.dim[1],
			(long long)filters, (long long)groups);
	if (!node_ok(v))
		return;
	int f = keras_kernel(v, "kernel", &w, s.dim[1] / groups, filters);
	set_activated(v, node_conv(v, x, f, keras_bias(v, filters), &w, groups), last);
}

/* The filters of each channel; with all channels they are a number of 32 bits. */
static int64_t read_multiplier(Visit *v, int64_t channels)
{
	int64_t n = keras_count(v, "depth_multiplier", 1);
	if (node_ok(v) && channels > INT32_MAX / n)
		node_fail(v, ERR_UNSUPPORTED, "it has too many filters, %lld for each of %lld channels", (long long)n,
			(long long)channels);
	return node_ok(v) ? n : 1;
}

static void import_depthwise(Visit *v)
{
	bool last = keras_last(v);
	int x = keras_windowed(v, last);
	Shape s = node_val(v, x)->shape;
	Windows w = keras_windows(v, &s, "kernel_size", false);
	int64_t times = read_multiplier(v, s.dim[1]);
	keras_pad_windows(v, &w, &s);
	if (!node_ok(v))
		return;
	int f = depthwise_kernel(v, "kernel", &w, s.dim[1], times);
	set_activated(v, node_conv(v, x, f, keras_bias(v, s.dim[1] * times), &w, s.dim[1]), last);
}

static void import_separable(Visit *v)
{
	bool last = keras_last(v);
	int x = keras_windowed(v, last);
	Shape s = node_val(v, x)->shape;
	Windows w = keras_windows(v, &s, "kernel_size", false), one = windows_over(v, &s);
	int64_t times = read_multiplier(v, s.dim[1]), filters = keras_count(v, "filters", 0);
	keras_pad_windows(v, &w, &s);
	if (!node_ok(v))
		return;
	x = node_conv(v, x, depthwise_kernel(v, "depthwise", &w, s.dim[1], times), DAG_NONE, &w, s.dim[1]);
	int f = keras_kernel(v, "pointwise", &one, s.dim[1] * times, filters);
	set_activated(v, node_conv(v, x, f, keras_bias(v, filters), &one, 1), last);
}

/* The gradient of a convolution by its input. Without output_padding the result is as large as possible. */
static void import_conv_transpose(Visit *v)
{
	bool last = keras_last(v), same = strcmp(node_attr_text(v, "padding", "valid"), "same") == 0;
	int x = keras_windowed(v, last);
	Shape s = node_val(v, x)->shape, out = s;
	Windows w = keras_windows(v, &s, "kernel_size", false);
	int64_t filters = keras_count(v, "filters", 0), extend[MOST_SPATIAL] = { 0 }, extra[MOST_SPATIAL] = { 0 };
	bool given = node_has(v, "output_padding");
	if (keras_count(v, "groups", 1) != 1)
		node_fail(v, ERR_UNSUPPORTED, "its groups are not supported");
	const Json *size = keras_json(v, "output_shape"); /* of version 1: with the batch, as data_format says */
	if (given)
		node_attr_list(v, "output_padding", w.n, 0, 0, extra);
	if (node_ok(v) && size != NULL && (size->kind != JV_ARRAY || size->list.n != (size_t)w.n + 2))
		node_fail(v, ERR_INPUT, "its output_shape does not have %d numbers", w.n + 2);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		int64_t reach = (w.kernel[k] - 1) * w.dilation[k] + 1, in = s.dim[k + 2];
		int64_t more = reach > w.stride[k] ? reach - w.stride[k] : 0;
		out.dim[k + 2] = given ? (in - 1) * w.stride[k] + reach - (same ? reach / 2 * 2 : 0) + extra[k]
		                       : in * w.stride[k] + (same ? 0 : more);
		const Json *own = size != NULL ? size->list.at[last ? k + 1 : k + 2] : NULL;
		if (own == NULL || own->kind != JV_INT)
			continue;
		int64_t many = own->i > 0 && own->i <= INT32_MAX ? own->i : 0;
		int64_t windows = same ? (many + w.stride[k] - 1) / w.stride[k] : (many - reach) / w.stride[k] + 1;
		if (many < 1 || windows != in)
			node_fail(v, ERR_INPUT, "its output_shape says %lld elements, which %lld do not give", (long long)own->i,
				(long long)in);
		out.dim[k + 2] = own->i;
	}
	keras_pad_windows(v, &w, &out); /* that of the convolution whose gradient it is */
	for (int k = 0; k < w.n && node_ok(v); k++) {
		int64_t reach = (w.kernel[k] - 1) * w.dilation[k] + 1;
		extend[k] = out.dim[k + 2] - ((s.dim[k + 2] - 1) * w.stride[k] + reach - w.pads[k] - w.pads[k + w.n]);
		if (extend[k] < 0) { /* a kernel that is smaller than its stride */
			w.pads[k + w.n] -= extend[k];
			extend[k] = 0;
		}
	}
	if (!node_ok(v))
		return;
	int f = keras_kernel(v, "kernel", &w, filters, s.dim[1]);
	set_activated(v, node_conv_transpose(v, x, f, keras_bias(v, filters), &w, extend, 1), last);
}

/* ---- poolings */

static void import_pool(Visit *v, bool max)
{
	bool last = keras_last(v);
	int x = keras_windowed(v, last);
	Shape s = node_val(v, x)->shape;
	Windows w = keras_windows(v, &s, "pool_size", true);
	keras_pad_windows(v, &w, &s);
	if (node_ok(v))
		node_set(v, 0,
			keras_in_format(v, max ? node_max_pool(v, x, &w, false) : node_avg_pool(v, x, &w, false, false), last));
}

static void import_max_pool(Visit *v)
{
	import_pool(v, true);
}

static void import_avg_pool(Visit *v)
{
	import_pool(v, false);
}

static void import_global(Visit *v, int op)
{
	bool last = keras_last(v), keep = node_attr_flag(v, "keepdims", false);
	int x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	int64_t axes[DAG_MAX_RANK];
	if (node_ok(v) && (rank < 3 || rank > 5))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3 to 5", rank);
	if (!node_ok(v))
		return;
	for (int k = 0; k < rank - 2; k++)
		axes[k] = k + (last ? 1 : 2);
	Shape s = node_val(v, x)->shape;
	int mask = rank == 3 ? keras_mask(v, s.dim[0], s.dim[last ? 1 : 2]) : DAG_NONE;
	if (mask != DAG_NONE) { /* the mean of the steps that count */
		int64_t n = s.dim[0], steps = s.dim[last ? 1 : 2];
		int on = node_cast(v, node_view(v, mask, 3, (int64_t[]){ n, last ? steps : 1, last ? 1 : steps }), F32);
		int sum = node_reduce(v, OP_reduce_sum, node_each2(v, OP_mul, x, on), axes, 1, keep);
		node_set(v, 0, node_call2(v, OP_div, sum, node_reduce(v, OP_reduce_sum, on, axes, 1, keep)));
		return;
	}
	node_set(v, 0, node_reduce(v, op, x, axes, rank - 2, keep));
}

static void import_global_avg(Visit *v)
{
	import_global(v, OP_reduce_mean);
}

static void import_global_max(Visit *v)
{
	import_global(v, OP_reduce_max);
}

/* ---- borders */

/* Pairs for each spatial dimension, written as a number, a list of numbers, or a list of pairs. */
static bool read_pairs(Visit *v, const char *name, int n, int64_t *out)
{
	const Json *j = keras_json(v, name);
	bool ok = j != NULL;
	for (int k = 0; k < n && ok; k++) {
		const Json *at = j->kind != JV_ARRAY ? j : j->list.n == (size_t)n && n > 1 ? j->list.at[k] : n == 1 ? j : NULL;
		while (n == 1 && at != NULL && at->kind == JV_ARRAY && at->list.n == 1)
			at = at->list.at[0];
		ok = at != NULL;
		for (int i = 0; i < 2 && ok; i++) {
			const Json *x = at->kind == JV_ARRAY ? at->list.n == 2 ? at->list.at[i] : NULL : at;
			ok = x != NULL && x->kind == JV_INT && x->i >= 0 && x->i <= INT32_MAX;
			out[2 * k + i] = ok ? x->i : 0;
		}
	}
	if (!ok)
		node_fail(v, ERR_INPUT, "its setting %s is not a number or a pair for each of %d dimensions", name, n);
	return node_ok(v);
}

static void import_border(Visit *v, const char *name, bool cut)
{
	bool last = keras_last(v);
	int x = keras_windowed(v, last), rank = node_val(v, x)->shape.rank;
	int64_t pair[2 * MOST_SPATIAL], pads[2 * DAG_MAX_RANK] = { 0 };
	if (node_ok(v) && (rank < 3 || rank > 5))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3 to 5", rank);
	if (!node_ok(v) || !read_pairs(v, name, rank - 2, pair))
		return;
	for (int k = 0; k < rank - 2; k++) {
		pads[k + 2] = cut ? -pair[2 * k] : pair[2 * k];
		pads[rank + k + 2] = cut ? -pair[2 * k + 1] : pair[2 * k + 1];
		if (cut && pair[2 * k] + pair[2 * k + 1] >= node_val(v, x)->shape.dim[k + 2])
			node_fail(v, ERR_TYPE, "it cuts off all %lld elements", (long long)node_val(v, x)->shape.dim[k + 2]);
	}
	if (cut)
		for (int k = 2; k < rank && node_ok(v); k++)
			x = node_slice(v, x, k, -pads[k], node_val(v, x)->shape.dim[k] + pads[k] + pads[rank + k]);
	Attr attr = attr_ints("pads", pads, 2 * rank);
	node_set(v, 0, keras_in_format(v, cut ? x : node_call(v, OP_pad, &x, 1, &attr, 1), last));
}

static void import_padding(Visit *v)
{
	import_border(v, "padding", false);
}

static void import_cropping(Visit *v)
{
	import_border(v, "cropping", true);
}

const NodeRow keras_window_rows[] = {
	{ "Conv1D", 0, "rank", import_conv },
	{ "Conv2D", 0, "rank", import_conv },
	{ "Conv3D", 0, "rank", import_conv },
	{ "DepthwiseConv1D", 0, "rank filters groups", import_depthwise },
	{ "DepthwiseConv2D", 0, "rank filters groups", import_depthwise },
	{ "SeparableConv1D", 0, "rank groups", import_separable },
	{ "SeparableConv2D", 0, "rank groups", import_separable },
	{ "Conv1DTranspose", 0, "rank", import_conv_transpose },
	{ "Conv2DTranspose", 0, "rank", import_conv_transpose },
	{ "Conv3DTranspose", 0, "rank", import_conv_transpose },
	{ "MaxPooling1D", 0, "", import_max_pool },
	{ "MaxPooling2D", 0, "", import_max_pool },
	{ "MaxPooling3D", 0, "", import_max_pool },
	{ "AveragePooling1D", 0, "", import_avg_pool },
	{ "AveragePooling2D", 0, "", import_avg_pool },
	{ "AveragePooling3D", 0, "", import_avg_pool },
	{ "ops::MaxPool", 0, "", import_max_pool },
	{ "ops::AveragePool", 0, "", import_avg_pool },
	{ "GlobalAveragePooling1D", 0, "", import_global_avg },
	{ "GlobalAveragePooling2D", 0, "", import_global_avg },
	{ "GlobalAveragePooling3D", 0, "", import_global_avg },
	{ "GlobalMaxPooling1D", 0, "", import_global_max },
	{ "GlobalMaxPooling2D", 0, "", import_global_max },
	{ "GlobalMaxPooling3D", 0, "", import_global_max },
	{ "ZeroPadding1D", 0, "", import_padding },
	{ "ZeroPadding2D", 0, "", import_padding },
	{ "ZeroPadding3D", 0, "", import_padding },
	{ "Cropping1D", 0, "", import_cropping },
	{ "Cropping2D", 0, "", import_cropping },
	{ "Cropping3D", 0, "", import_cropping },
	{ NULL, 0, NULL, NULL },
};
