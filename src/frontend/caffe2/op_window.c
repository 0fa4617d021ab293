/*
 * Rows of Caffe2's convolutions and poolings. Windows are computed with channels second. An image of the order NHWC is
 * transposed before and behind them. A mean does not count padding unless count_include_pad says so. legacy_pad has the
 * padding rules of other frameworks.
 */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"
#include "frontend/node/windows.h"

#include <math.h>
#include <string.h>

int caffe2_value(Visit *v, int k)
{
	node_need(v, k);
	return node_value(v, k);
}

bool caffe2_last(Visit *v)
{
	const char *order = node_attr_text(v, "order", "NCHW");
	if (node_ok(v) && strcmp(order, "NCHW") != 0 && strcmp(order, "NHWC") != 0)
		node_fail(v, ERR_INPUT, "its order is '%.20s', not NCHW or NHWC", order);
	return strcmp(order, "NHWC") == 0;
}

int caffe2_image(Visit *v, int k, bool last)
{
	int x = caffe2_value(v, k);
	return last ? node_to_second(v, x) : x;
}

int caffe2_in_order(Visit *v, int y, bool last)
{
	return last ? node_to_last(v, y) : y;
}

int caffe2_axis(Visit *v, const char *name, int64_t otherwise, int rank)
{
	return node_axis(v, node_attr_int(v, name, otherwise), rank);
}

int64_t caffe2_count(Visit *v, const char *name, int64_t otherwise, int64_t least)
{
	int64_t n = node_attr_int(v, name, otherwise);
	if (node_ok(v) && (n < least || n > INT32_MAX))
		node_fail(v, ERR_INPUT, "its %s is %lld, but must be at least %lld", name, (long long)n, (long long)least);
	return node_ok(v) ? n : least;
}

/* ---- attributes of windows */

/* n numbers by the names of a list, of one for all, or one each for height and width. False: none is there. */
static bool read_places(
	Visit *v, const char *list, const char *one, const char *const *each, int n, int64_t least, int64_t *out)
{
	int64_t usual = least > 0 ? 1 : 0; /* a stride of 0 would divide by it, even behind a refusal */
	bool apart = false;
	for (int k = 0; k < n; k++)
		apart |= n == 2 && node_has(v, each[k]);
	if (apart && node_ok(v) && (node_has(v, list) || node_has(v, one)))
		node_fail(v, ERR_INPUT, "its %s is given with %s as well", each[0], node_has(v, one) ? one : list);
	for (int k = 0; k < n; k++)
		out[k] = apart ? caffe2_count(v, each[k], usual, least) : usual;
	if (apart)
		return true;
	if (node_has(v, list))
		node_attr_list(v, list, n, least, usual, out);
	else if (node_has(v, one))
		node_attr_list(v, one, n, least, usual, out);
	return node_has(v, list) || node_has(v, one);
}

static const char
	*const kernel_names[] = { "kernel_h", "kernel_w" },
		   *const stride_names[] = { "stride_h", "stride_w" }, *const dilation_names[] = { "dilation_h", "dilation_w" },
		   *const adj_names[] = { "adj_h", "adj_w" }, *const pad_names[] = { "pad_t", "pad_l", "pad_b", "pad_r" };

/* Pads as a list of all begins and all ends, one number, or one for each side of an image. */
static void read_pads(Visit *v, Windows *w)
{
	bool apart = false;
	for (int k = 0; k < 4; k++)
		apart |= w->n == 2 && node_has(v, pad_names[k]);
	for (int k = 0; k < 4 && apart; k++)
		w->pads[k] = caffe2_count(v, pad_names[k], node_attr_int(v, "pad", 0), 0);
	if (!apart && node_has(v, "pads"))
		node_attr_list(v, "pads", 2 * w->n, 0, 0, w->pads);
	else if (!apart && node_has(v, "pad"))
		node_attr_list(v, "pad", 2 * w->n, 0, 0, w->pads);
}

enum { LEGACY_NOTSET, LEGACY_VALID, LEGACY_SAME, LEGACY_CAFFE };

/* Pads where Caffe's poolings round their size up: the last window reaches behind the image. */
static void pad_as_caffe(Windows *w, const Shape *x)
{
	for (int k = 0; k < w->n; k++) {
		int64_t in = x->dim[k + 2], pad = w->pads[k], room = in + 2 * pad - w->kernel[k];
		if (room < 0)
			continue; /* the operator refuses it */
		int64_t out = (room + w->stride[k] - 1) / w->stride[k] + 1, usual = room / w->stride[k] + 1;
		if (pad > 0 && (out - 1) * w->stride[k] >= in + pad)
			out--;
		w->pads[k + w->n] = pad + w->stride[k] * (out - usual);
	}
}

/* Strides, dilations and pads of windows whose kernels are known. */
static void read_windows(Visit *v, Windows *w, const Shape *x)
{
	int64_t legacy = node_attr_int(v, "legacy_pad", LEGACY_NOTSET);
	read_places(v, "strides", "stride", stride_names, w->n, 1, w->stride);
	read_places(v, "dilations", "dilation", dilation_names, w->n, 1, w->dilation);
	read_pads(v, w);
	if (node_ok(v) && (legacy < LEGACY_NOTSET || legacy > LEGACY_CAFFE))
		node_fail(v, ERR_INPUT, "its legacy_pad is %lld, which Caffe2 does not have", (long long)legacy);
	if (!node_ok(v))
		return;
	if (legacy == LEGACY_VALID)
		memset(w->pads, 0, sizeof w->pads);
	else if (legacy == LEGACY_SAME)
		windows_pad_same(w, x, true);
	else if (legacy == LEGACY_CAFFE)
		pad_as_caffe(w, x);
}

/* ---- convolutions */

/* The windows of filters; `first` is the place of the kernel's sizes in the filter's shape. */
static Windows filter_windows(Visit *v, const Shape *x, const Shape *filter, int first)
{
	Windows w = windows_over(v, x);
	int64_t said[MOST_SPATIAL];
	if (node_ok(v) && filter->rank != x->rank)
		node_fail(v, ERR_TYPE, "its filter has %d dimensions, but its input %d", filter->rank, x->rank);
	bool given = read_places(v, "kernels", "kernel", kernel_names, w.n, 1, said);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		w.kernel[k] = filter->dim[first + k];
		if (given && said[k] != w.kernel[k])
			node_fail(v, ERR_TYPE, "its kernel is %lld, but its filter has %lld elements there", (long long)said[k],
				(long long)w.kernel[k]);
		if (node_ok(v) && w.kernel[k] < 1)
			node_fail(v, ERR_TYPE, "its filter has no elements");
	}
	return w;
}

static void import_conv(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last), f = caffe2_image(v, 1, last), b = node_value(v, 2);
	int64_t group = caffe2_count(v, "group", 1, 1);
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape;
	Windows w = filter_windows(v, &s, &filter, 2);
	read_windows(v, &w, &s);
	node_set(v, 0, caffe2_in_order(v, node_conv(v, x, f, b, &w, group), last));
}

static void import_conv_transpose(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last), f = caffe2_image(v, 1, last);
	int b = node_attr_flag(v, "no_bias", false) ? DAG_NONE : node_value(v, 2);
	int64_t group = caffe2_count(v, "group", 1, 1), extend[MOST_SPATIAL] = { 0 };
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape;
	Windows w = filter_windows(v, &s, &filter, 2);
	read_windows(v, &w, &s);
	read_places(v, "adjs", "adj", adj_names, w.n, 0, extend);
	if (node_ok(v) && node_attr_int(v, "legacy_pad", LEGACY_NOTSET) > LEGACY_VALID)
		node_fail(v, ERR_UNSUPPORTED, "its legacy_pad is one of convolutions that are not transposed");
	node_set(v, 0, caffe2_in_order(v, node_conv_transpose(v, x, f, b, &w, extend, group), last));
}

/* ---- poolings */

static Windows pool_windows(Visit *v, const Shape *s, bool global)
{
	Windows w = windows_over(v, s);
	bool sized = read_places(v, "kernels", "kernel", kernel_names, w.n, 1, w.kernel);
	read_windows(v, &w, s);
	if (node_ok(v) && !sized && !global)
		node_fail(v, ERR_INPUT, "it has no kernel");
	return w;
}

typedef enum { POOL_MAX, POOL_MEAN, POOL_NORM } PoolKind;

/* (sum of |x|^p) ^ 1/p */
static int norm_pool(Visit *v, int x, const Windows *w, bool global)
{
	double p = node_attr_float(v, "p", 2), taps = 1;
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && !(p > 0))
		node_fail(v, ERR_INPUT, "its p is %g, but must be positive", p);
	for (int k = 0; k < w->n; k++)
		taps *= (double)(global ? s.dim[2 + k] : w->kernel[k]);
	x = node_with_number(v, OP_pow, node_call1(v, OP_abs, x), p);
	x = global ? node_global(v, OP_reduce_mean, x) : node_avg_pool(v, x, w, false, true);
	return node_with_number(v, OP_pow, node_with_number(v, OP_mul, x, taps), 1 / p);
}

static void import_pool(Visit *v, PoolKind kind)
{
	bool last = caffe2_last(v), global = node_attr_flag(v, "global_pooling", false);
	int x = caffe2_image(v, 0, last), y;
	Shape s = node_val(v, x)->shape;
	Windows w = pool_windows(v, &s, global);
	bool counts = kind == POOL_MEAN && node_attr_flag(v, "count_include_pad", false);
	if (!node_ok(v))
		return;
	if (kind == POOL_NORM)
		y = norm_pool(v, x, &w, global);
	else if (global)
		y = node_global(v, kind == POOL_MAX ? OP_reduce_max : OP_reduce_mean, x);
	else
		y = kind == POOL_MAX ? node_max_pool(v, x, &w, false) : node_avg_pool(v, x, &w, false, counts);
	node_set(v, 0, caffe2_in_order(v, y, last));
}

static void import_max_pool(Visit *v)
{
	import_pool(v, POOL_MAX);
}

static void import_average_pool(Visit *v)
{
	import_pool(v, POOL_MEAN);
}

static void import_lp_pool(Visit *v)
{
	import_pool(v, POOL_NORM);
}

/* Pads of an image: constant, reflected, or the nearest element. */
static void import_pad_image(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last);
	Shape s = node_val(v, x)->shape;
	Windows w = windows_over(v, &s);
	const char *mode = node_attr_text(v, "mode", "constant");
	double value = node_attr_float(v, "value", 0);
	int64_t pads[2 * DAG_MAX_RANK] = { 0 };
	read_pads(v, &w);
	if (node_ok(v) && strcmp(mode, "constant") != 0 && strcmp(mode, "reflect") != 0 && strcmp(mode, "edge") != 0)
		node_fail(v, ERR_INPUT, "its mode is '%.20s', not constant, reflect or edge", mode);
	if (!node_ok(v))
		return;
	for (int k = 0; k < w.n; k++) {
		pads[2 + k] = w.pads[k];
		pads[s.rank + 2 + k] = w.pads[k + w.n];
	}
	Attr attr[] = { attr_ints("pads", pads, 2 * s.rank), attr_float("value", value), attr_text("mode", mode) };
	node_set(v, 0, caffe2_in_order(v, node_call(v, OP_pad, &x, 1, attr, 3), last));
}

/* What only chooses a program or stores what training needs. */
#define PROGRAM \
	"exhaustive_search cudnn_exhaustive_search ws_nbytes_limit use_cudnn shared_buffer init_params algo " \
	"allow_tensor_core " \
	"enable_tensor_core float16_compute convolution_transform_strategy engine is_test training_mode"

const NodeRow caffe2_window_rows[] = {
	{ "Conv", 0, PROGRAM, import_conv },
	{ "Conv1D", 0, PROGRAM, import_conv },
	{ "Conv2D", 0, PROGRAM, import_conv },
	{ "Conv3D", 0, PROGRAM, import_conv },
	{ "ConvTranspose", 0, PROGRAM, import_conv_transpose },
	{ "MaxPool", 0, PROGRAM, import_max_pool },
	{ "MaxPool1D", 0, PROGRAM, import_max_pool },
	{ "MaxPool2D", 0, PROGRAM, import_max_pool },
	{ "MaxPool3D", 0, PROGRAM, import_max_pool },
	{ "AveragePool", 0, PROGRAM, import_average_pool },
	{ "AveragePool1D", 0, PROGRAM, import_average_pool },
	{ "AveragePool2D", 0, PROGRAM, import_average_pool },
	{ "AveragePool3D", 0, PROGRAM, import_average_pool },
	{ "LpPool", 0, PROGRAM, import_lp_pool },
	{ "PadImage", 0, "", import_pad_image },
	{ NULL, 0, NULL, NULL },
};
