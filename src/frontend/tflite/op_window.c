/*
 * Rows of convolutions, poolings and dense layers. Windows are computed with channels second. Filters, which are
 * [out,spatial..,in], are turned once: they are constants.
 */
#include "frontend/tflite/rows.h"

#include <math.h>
#include <string.h>

enum { SAME, VALID };                                     /* Padding */
enum { NONE, RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT }; /* ActivationFunctionType */

int tflite_value(Visit *v, int k)
{
	node_need(v, k);
	return node_value(v, k);
}

bool tflite_activation_limits(Visit *v, double *lo, double *hi)
{
	int64_t kind = node_attr_int(v, "activation", NONE);
	*lo = kind == RELU_N1_TO_1 ? -1 : kind == RELU || kind == RELU6 ? 0 : -INFINITY;
	*hi = kind == RELU_N1_TO_1 ? 1 : kind == RELU6 ? 6 : INFINITY;
	return *lo > -INFINITY;
}

int tflite_activate(Visit *v, int x)
{
	int64_t kind = node_attr_int(v, "activation", NONE);
	double lo, hi;
	if (kind == RELU)
		return node_each1(v, OP_relu, x);
	if (tflite_activation_limits(v, &lo, &hi)) {
		Attr attr[] = { attr_float("lo", lo), attr_float("hi", hi) };
		return node_each(v, OP_clip, &x, 1, attr, 2);
	}
	if (node_ok(v) && kind != NONE && kind != TANH)
		node_fail(v, ERR_UNSUPPORTED, "its activation is %lld, which is not supported", (long long)kind);
	return kind == TANH ? node_each1(v, OP_tanh, x) : x;
}

/* Input k with channels second. */
static int image(Visit *v, int x)
{
	return node_to_second(v, x);
}

static const char *const strides[MOST_SPATIAL] = { "stride_d", "stride_h", "stride_w" },
						 *const dilations[MOST_SPATIAL] = { "dilation_d", "dilation_h", "dilation_w" },
						 *const sizes[MOST_SPATIAL] = { "", "filter_h", "filter_w" };

/* A number for each dimension; an image has no depth. */
static void places(Visit *v, const char *const *names, int n, int64_t *out)
{
	for (int k = 0; k < n; k++) {
		const char *name = names[MOST_SPATIAL - n + k];
		out[k] = node_attr_int(v, name, 1);
		if (node_ok(v) && (out[k] < 1 || out[k] > INT32_MAX))
			node_fail(v, ERR_INPUT, "its %s is %lld", name, (long long)out[k]);
		out[k] = node_ok(v) ? out[k] : 1;
	}
}

/* Strides and dilations over x with channels second; kernels are there already. */
static void read_windows(Visit *v, Windows *w, const Shape *x)
{
	int64_t padding = node_attr_int(v, "padding", SAME);
	places(v, strides, w->n, w->stride);
	places(v, dilations, w->n, w->dilation);
	if (node_ok(v) && padding != SAME && padding != VALID)
		node_fail(v, ERR_INPUT, "its padding is %lld, not SAME (0) or VALID (1)", (long long)padding);
	if (padding == SAME && node_ok(v))
		windows_pad_same(w, x, true);
}

/* The windows of an operator that has n spatial dimensions over x. */
static Windows windows(Visit *v, const Shape *x, int n)
{
	Windows w = windows_over(v, x);
	if (node_ok(v) && w.n != n)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have %d", x->rank, n + 2);
	return w;
}

/* Kernels from a filter, whose n spatial dimensions begin at `first`. */
static Windows filter_windows(Visit *v, const Shape *x, const Shape *filter, int n, int first)
{
	Windows w = windows(v, x, n);
	if (node_ok(v) && filter->rank != x->rank)
		node_fail(v, ERR_TYPE, "its filter has %d dimensions, but must have %d", filter->rank, x->rank);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		int64_t size = filter->dim[first + k];
		if (size < 1 || size > INT32_MAX)
			node_fail(v, ERR_TYPE, "its filter has %lld elements along one dimension", (long long)size);
		w.kernel[k] = node_ok(v) ? size : 1;
	}
	return w;
}

/* ---- convolutions */

static void convolve(Visit *v, bool depthwise)
{
	bool codes = tflite_is_integer(v);
	int x = codes ? tflite_centred(v, 0) : tflite_real_input(v, 0), bias = DAG_NONE;
	int f = codes ? tflite_centred(v, 1) : tflite_real_input(v, 1);
	if (node_in(v, 2) != NULL)
		bias = codes ? node_value(v, 2) : tflite_real_input(v, 2);
	x = image(v, x);
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape;
	Windows w = filter_windows(v, &s, &filter, 2, 1);
	read_windows(v, &w, &s);
	if (!node_ok(v))
		return;
	int64_t per = filter.dim[3], groups = s.dim[1], turn[] = { 3, 0, 1, 2 };
	if (depthwise ? filter.dim[0] != 1 || groups < 1 || per % groups != 0 : per < 1 || s.dim[1] % per != 0) {
		node_fail(v, ERR_TYPE, "its filter of %lld channels does not fit an input of %lld", (long long)per,
			(long long)s.dim[1]);
		return;
	}
	f = depthwise ? node_transpose(v, f, turn) : node_to_second(v, f);
	int y = node_conv(v, x, f, bias, &w, depthwise ? groups : s.dim[1] / per);
	y = codes ? tflite_rescale(v, y, 1) : tflite_activate(v, y);
	if (codes)
		node_set(v, 0, node_to_last(v, y));
	else
		tflite_set_real(v, 0, node_to_last(v, y));
}

static void import_conv(Visit *v)
{
	convolve(v, false);
}

static void import_depthwise(Visit *v)
{
	node_attr_int(v, "depth_multiplier", 0); /* follows from the filter */
	convolve(v, true);
}

/* The filter is [depth,height,width,in,out]. */
static void import_conv_3d(Visit *v)
{
	int x = image(v, tflite_value(v, 0)), f = tflite_value(v, 1);
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape;
	Windows w = filter_windows(v, &s, &filter, 3, 0);
	read_windows(v, &w, &s);
	if (node_ok(v) && (filter.dim[3] < 1 || s.dim[1] % filter.dim[3] != 0))
		node_fail(v, ERR_TYPE, "its filter does not fit its input of %lld channels", (long long)s.dim[1]);
	if (!node_ok(v))
		return;
	f = node_transpose(v, f, (int64_t[]){ 4, 3, 0, 1, 2 });
	int y = node_conv(v, x, f, node_value(v, 2), &w, s.dim[1] / filter.dim[3]);
	node_set(v, 0, node_to_last(v, tflite_activate(v, y)));
}

/* Input 0 is the size of the result, 1 the filter, 2 what is spread, 3 the bias. */
static void transposed(Visit *v, const int64_t *turn, int spatial, int first)
{
	int n, f = tflite_value(v, 1), x = image(v, tflite_value(v, 2));
	node_need(v, 0);
	const int64_t *to = node_ints(v, 0, &n);
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape, out = s;
	Windows w = filter_windows(v, &s, &filter, spatial, first);
	int64_t extend[MOST_SPATIAL] = { 0 };
	if (node_ok(v) && n != s.rank)
		node_fail(v, ERR_TYPE, "its result has %d sizes, but its input %d dimensions", n, s.rank);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		out.dim[2 + k] = to[1 + k];
		if (to[1 + k] < 1 || to[1 + k] > INT32_MAX)
			node_fail(v, ERR_INPUT, "its result has the size %lld", (long long)to[1 + k]);
	}
	if (!node_ok(v))
		return;
	read_windows(v, &w, &out); /* the pads of the convolution whose gradient it is */
	for (int k = 0; k < w.n && node_ok(v); k++) {
		int64_t reach = (w.kernel[k] - 1) * w.dilation[k] + 1;
		extend[k] = out.dim[2 + k] - ((s.dim[2 + k] - 1) * w.stride[k] + reach - w.pads[k] - w.pads[k + w.n]);
		if (extend[k] < 0 || extend[k] >= w.stride[k])
			node_fail(v, ERR_INPUT, "its result of %lld elements does not belong to %lld of its input",
				(long long)out.dim[2 + k], (long long)s.dim[2 + k]);
	}
	int y = node_conv_transpose(v, x, node_ok(v) ? node_transpose(v, f, turn) : f, node_value(v, 3), &w, extend, 1);
	node_set(v, 0, node_to_last(v, tflite_activate(v, y)));
}

static void import_transpose_conv(Visit *v)
{
	transposed(v, (int64_t[]){ 3, 0, 1, 2 }, 2, 1);
}

static void import_conv_3d_transpose(Visit *v)
{
	transposed(v, (int64_t[]){ 4, 3, 0, 1, 2 }, 3, 0);
}

/* ---- poolings */

typedef enum { POOL_MAX, POOL_MEAN, POOL_ROOT } Pool;

static void pool(Visit *v, Pool kind)
{
	int x = image(v, tflite_value(v, 0));
	Shape s = node_val(v, x)->shape;
	Windows w = windows(v, &s, 2);
	places(v, sizes, w.n, w.kernel);
	read_windows(v, &w, &s);
	if (!node_ok(v))
		return;
	x = kind == POOL_ROOT ? node_call2(v, OP_mul, x, x) : x;
	int y = kind == POOL_MAX ? node_max_pool(v, x, &w, false) : node_avg_pool(v, x, &w, false, false);
	y = kind == POOL_ROOT ? node_call1(v, OP_sqrt, y) : y;
	y = dtype_is_int(node_val(v, y)->type) ? tflite_activate_codes(v, y) : tflite_activate(v, y);
	node_set(v, 0, node_to_last(v, y));
}

static void import_max_pool(Visit *v)
{
	pool(v, POOL_MAX);
}

static void import_average_pool(Visit *v)
{
	pool(v, POOL_MEAN);
}

static void import_l2_pool(Visit *v)
{
	pool(v, POOL_ROOT);
}

static void import_lrn(Visit *v)
{
	int x = image(v, tflite_value(v, 0));
	int64_t size = 2 * node_attr_int(v, "radius", 0) + 1;
	double alpha = node_attr_float(v, "alpha", 0), beta = node_attr_float(v, "beta", 0);
	double bias = node_attr_float(v, "bias", 0);
	if (node_ok(v) && (size < 1 || size > 1 << 20))
		node_fail(v, ERR_INPUT, "its radius is out of range");
	Attr attr[] = { attr_int("size", size), attr_float("bias", bias), attr_float("alpha", alpha * (double)size),
		attr_float("beta", beta) };
	node_set(v, 0, node_to_last(v, node_call(v, OP_lrn, &x, 1, attr, 4)));
}

/* ---- dense layers */

/* x of rows of `in` numbers times the filter [out,in]; keep_num_dims keeps x's other dimensions. */
static void import_fully_connected(Visit *v)
{
	bool codes = tflite_is_integer(v), keep = node_attr_flag(v, "keep_num_dims", false);
	int x = codes ? tflite_centred(v, 0) : tflite_real_input(v, 0), bias = DAG_NONE;
	int f = codes ? tflite_centred(v, 1) : tflite_real_input(v, 1);
	Shape s = node_val(v, x)->shape, filter = node_val(v, f)->shape;
	int64_t all = shape_product(&s, 0, s.rank);
	if (node_in(v, 2) != NULL)
		bias = codes ? node_value(v, 2) : tflite_real_input(v, 2);
	if (node_ok(v) && node_attr_int(v, "weights_format", 0) != 0)
		node_fail(v, ERR_UNSUPPORTED, "its weights are in the format %lld of a device",
			(long long)node_attr_int(v, "weights_format", 0));
	if (node_ok(v) && (filter.rank != 2 || filter.dim[1] < 1 || all % filter.dim[1] != 0 ||
						  (keep && (s.rank < 1 || s.dim[s.rank - 1] != filter.dim[1]))))
		node_fail(v, ERR_TYPE, "its filter does not fit an input of %lld elements", (long long)all);
	if (!node_ok(v))
		return;
	int in[] = { node_view(v, x, 2, (int64_t[]){ all / filter.dim[1], filter.dim[1] }), f, bias };
	int y = node_call(v, OP_dense, in, 3, NULL, 0);
	y = codes ? tflite_rescale(v, y, 1) : tflite_activate(v, y);
	if (keep) {
		s.dim[s.rank - 1] = filter.dim[0];
		y = node_reshape(v, y, s);
	}
	if (codes)
		node_set(v, 0, y);
	else
		tflite_set_real(v, 0, y);
}

const NodeRow tflite_window_rows[] = {
	{ "CONV_2D", 0, "", import_conv },
	{ "DEPTHWISE_CONV_2D", 0, "", import_depthwise },
	{ "CONV_3D", 0, "", import_conv_3d },
	{ "TRANSPOSE_CONV", 0, "", import_transpose_conv },
	{ "CONV_3D_TRANSPOSE", 0, "", import_conv_3d_transpose },
	{ "MAX_POOL_2D", 0, "", import_max_pool },
	{ "AVERAGE_POOL_2D", 0, "", import_average_pool },
	{ "L2_POOL_2D", 0, "", import_l2_pool },
	{ "LOCAL_RESPONSE_NORMALIZATION", 0, "", import_lrn },
	{ "FULLY_CONNECTED", 0, "", import_fully_connected },
	{ NULL, 0, NULL, NULL },
};
