/*
 * Rows of Caffe's layers with windows. A convolution rounds its size down, a pooling up, where a window that would
 * begin behind the image is left out. The mean of a pooling counts padding, but not what is behind it.
 */
#include "frontend/caffe/caffe.h"

#include "frontend/node/compose.h"
#include "frontend/node/windows.h"

#include <math.h>

int64_t caffe_count(Visit *v, const char *name, int64_t otherwise, int64_t least)
{
	int64_t n = node_attr_int(v, name, otherwise);
	if (n < least || n > INT32_MAX)
		node_fail(v, ERR_INPUT, "its %s is %lld, but must be at least %lld", name, (long long)n, (long long)least);
	return node_ok(v) ? n : least;
}

int caffe_axis(Visit *v, const char *name, int64_t otherwise, int rank)
{
	return node_axis(v, node_attr_int(v, name, otherwise), rank);
}

/* `both` for each dimension or for all, or two numbers by names of their own; *given: one of them is there. */
static bool read_places(
	Visit *v, const char *both, const char *h, const char *w, int n, int64_t least, int64_t otherwise, int64_t *out)
{
	if (!node_has(v, h) && !node_has(v, w)) {
		node_attr_list(v, both, n, least, otherwise, out);
		return node_has(v, both);
	}
	if (node_ok(v) && (n != 2 || node_has(v, both)))
		node_fail(v, ERR_INPUT, "its %s and %s need an image and no %s", h, w, both);
	int64_t at[] = { caffe_count(v, h, otherwise, least), caffe_count(v, w, otherwise, least) };
	for (int k = 0; k < n && n == 2; k++)
		out[k] = at[k];
	return true;
}

/* ---- convolutions */

typedef struct Filters {
	int x;
	Shape in;
	Windows win;
	int64_t n, groups;
	bool bias;
} Filters;

static bool read_filters(Visit *v, Filters *f, bool depthwise)
{
	const Item *it = node_need(v, 0);
	int64_t pad[MOST_SPATIAL] = { 0 };
	*f = (Filters){ .in = it->shape, .win = windows_over(v, &it->shape) };
	if (!node_ok(v))
		return false;
	node_attr_flag(v, "force_nd_im2col", false); /* chooses a program */
	if (node_axis(v, node_attr_int(v, "axis", 1), f->in.rank) != 1)
		node_fail(v, ERR_UNSUPPORTED, "its axis must be 1");
	if (!read_places(v, "kernel_size", "kernel_h", "kernel_w", f->win.n, 1, 1, f->win.kernel) && node_ok(v))
		node_fail(v, ERR_INPUT, "it has no kernel_size");
	read_places(v, "stride", "stride_h", "stride_w", f->win.n, 1, 1, f->win.stride);
	read_places(v, "pad", "pad_h", "pad_w", f->win.n, 0, 0, pad);
	node_attr_list(v, "dilation", f->win.n, 1, 1, f->win.dilation);
	for (int k = 0; k < f->win.n; k++)
		f->win.pads[k] = f->win.pads[k + f->win.n] = pad[k];
	f->n = caffe_count(v, "num_output", 0, 1);
	f->groups = caffe_count(v, "group", depthwise ? f->in.dim[1] : 1, 1);
	f->bias = node_attr_flag(v, "bias_term", true);
	if (node_ok(v) && (f->in.dim[1] % f->groups != 0 || f->n % f->groups != 0))
		node_fail(v, ERR_TYPE, "%lld channels and %lld filters cannot be cut into %lld groups", (long long)f->in.dim[1],
			(long long)f->n, (long long)f->groups);
	f->x = node_value(v, 0);
	return node_ok(v);
}

/* Weights [to, from, kernel..]. */
static int filter_weights(Visit *v, const Filters *f, int64_t to, int64_t from, double taps)
{
	Shape s = shape_of(2, (int64_t[]){ to, from });
	for (int k = 0; k < f->win.n; k++) {
		s.dim[s.rank++] = f->win.kernel[k];
		taps *= (double)f->win.kernel[k];
	}
	return caffe_constant(v, 0, "weights", s, 0, sqrt(2 / fmax(1, taps)));
}

static int filter_bias(Visit *v, const Filters *f)
{
	return f->bias ? caffe_constant(v, 1, "bias", shape_of(1, &f->n), 0, 0.1) : DAG_NONE;
}

static void convolve(Visit *v, bool depthwise)
{
	Filters f;
	if (!read_filters(v, &f, depthwise))
		return;
	int64_t from = f.in.dim[1] / f.groups;
	int w = filter_weights(v, &f, f.n, from, (double)from);
	node_set(v, 0, node_conv(v, f.x, w, filter_bias(v, &f), &f.win, f.groups));
}

static void import_convolution(Visit *v)
{
	convolve(v, false);
}

static void import_depthwise(Visit *v)
{
	convolve(v, true);
}

static void import_deconvolution(Visit *v)
{
	static const int64_t none[MOST_SPATIAL] = { 0 };
	Filters f;
	if (!read_filters(v, &f, false))
		return;
	int w = filter_weights(v, &f, f.in.dim[1], f.n / f.groups, (double)f.in.dim[1] / (double)f.groups);
	node_set(v, 0, node_conv_transpose(v, f.x, w, filter_bias(v, &f), &f.win, none, f.groups));
}

/* The elements of each window as channels. */
static void import_im2col(Visit *v)
{
	enum { MOST_TAPS = 1 << 12 };
	const Item *it = node_need(v, 0);
	Windows w = windows_over(v, &it->shape);
	int64_t pad[MOST_SPATIAL] = { 0 }, pads[2 * DAG_MAX_RANK] = { 0 };
	Shape in = it->shape, one = in;
	if (!read_places(v, "kernel_size", "kernel_h", "kernel_w", w.n, 1, 1, w.kernel) && node_ok(v))
		node_fail(v, ERR_INPUT, "it has no kernel_size");
	read_places(v, "stride", "stride_h", "stride_w", w.n, 1, 1, w.stride);
	read_places(v, "pad", "pad_h", "pad_w", w.n, 0, 0, pad);
	node_attr_list(v, "dilation", w.n, 1, 1, w.dilation);
	node_attr_flag(v, "force_nd_im2col", false); /* chooses a program */
	if (node_ok(v) && node_axis(v, node_attr_int(v, "axis", 1), in.rank) != 1)
		node_fail(v, ERR_UNSUPPORTED, "its axis must be 1");
	int64_t taps = 1;
	for (int k = 0; k < w.n && node_ok(v); k++) {
		pads[2 + k] = pads[in.rank + 2 + k] = pad[k];
		int64_t room = in.dim[2 + k] + 2 * pad[k] - (w.kernel[k] - 1) * w.dilation[k] - 1;
		if (room < 0)
			node_fail(v, ERR_TYPE, "its window is larger than its input");
		one.dim[2 + k] = room / w.stride[k] + 1;
		if (node_ok(v) && (taps *= w.kernel[k] <= MOST_TAPS ? w.kernel[k] : MOST_TAPS + 1) > MOST_TAPS)
			node_fail(v, ERR_UNSUPPORTED, "its window has more than %d elements", MOST_TAPS);
	}
	if (!node_ok(v))
		return;
	Attr border = attr_ints("pads", pads, 2 * in.rank);
	int x = node_value(v, 0), *part = arena_array(v->im->arena, int, taps);
	x = node_call(v, OP_pad, &x, 1, &border, 1);
	Shape apart = { .rank = 3, .dim = { in.dim[0], in.dim[1], shape_product(&one, 2, one.rank) } };
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK] = { 1, 1 };
	for (int64_t t = 0; t < taps && node_ok(v); t++) {
		int64_t rest = t;
		for (int k = w.n - 1; k >= 0; k--) {
			start[2 + k] = rest % w.kernel[k] * w.dilation[k];
			step[2 + k] = w.stride[k];
			rest /= w.kernel[k];
		}
		Attr cut[] = { attr_ints("starts", start, in.rank), attr_ints("steps", step, in.rank),
			attr_ints("sizes", one.dim, in.rank) };
		part[t] = node_reshape(v, node_call(v, OP_slice, &x, 1, cut, 3), apart);
	}
	one.dim[1] *= taps;
	node_set(v, 0, node_ok(v) ? node_reshape(v, node_concat(v, part, (int)taps, 2), one) : DAG_NONE);
}

/* ---- poolings */

/*
 * The Dag leaves out a last window that begins behind the image, as Caffe does where there is padding. Without any,
 * Caffe keeps the window, which is empty: no result is defined there.
 */
static void check_last(Visit *v, const Windows *w, const Shape *x)
{
	bool padded = false;
	for (int k = 0; k < w->n; k++)
		padded |= w->pads[k] > 0;
	for (int k = 0; k < w->n && node_ok(v) && !padded; k++) {
		int64_t room = x->dim[2 + k] - w->kernel[k], last = (room + w->stride[k] - 1) / w->stride[k];
		if (room >= 0 && last * w->stride[k] >= x->dim[2 + k])
			node_fail(v, ERR_UNSUPPORTED,
				"its last window begins behind its input, where Caffe's result is undefined: give it round_mode: "
			    "FLOOR");
	}
}

static int pool(Visit *v, int x, const Windows *w, int64_t kind, bool ceil)
{
	if (ceil)
		check_last(v, w, &node_val(v, x)->shape);
	if (kind != CAFFE_POOL_MAX && kind != CAFFE_POOL_AVE)
		node_fail(v, ERR_UNSUPPORTED, "its pool is STOCHASTIC, which is not supported");
	return kind == CAFFE_POOL_MAX ? node_max_pool(v, x, w, ceil) : node_avg_pool(v, x, w, ceil, true);
}

static bool image(Visit *v)
{
	const Item *it = node_need(v, 0);
	if (node_ok(v) && it->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 4", it->shape.rank);
	return node_ok(v);
}

static void import_pooling(Visit *v)
{
	int64_t kind = node_attr_int(v, "pool", CAFFE_POOL_MAX), pad[MOST_SPATIAL] = { 0 };
	bool global = node_attr_flag(v, "global_pooling", false);
	bool ceil = node_attr_int(v, "round_mode", CAFFE_ROUND_CEIL) == CAFFE_ROUND_CEIL;
	ceil = node_attr_flag(v, "ceil_mode", ceil);
	if (!image(v))
		return;
	Shape in = node_in(v, 0)->shape;
	Windows w = windows_over(v, &in);
	int x = node_value(v, 0);
	bool sized = read_places(v, "kernel_size", "kernel_h", "kernel_w", w.n, 1, 1, w.kernel);
	read_places(v, "stride", "stride_h", "stride_w", w.n, 1, 1, w.stride);
	read_places(v, "pad", "pad_h", "pad_w", w.n, 0, 0, pad);
	if (!sized && !global && node_ok(v))
		node_fail(v, ERR_INPUT, "it has no kernel_size");
	for (int k = 0; k < w.n; k++) {
		w.pads[k] = w.pads[k + w.n] = pad[k];
		if (node_ok(v) && !global && pad[k] >= w.kernel[k])
			node_fail(v, ERR_INPUT, "its pad is %lld, but must be below its kernel_size", (long long)pad[k]);
		if (global)
			w.kernel[k] = in.dim[2 + k];
		if (global && node_ok(v) && (pad[k] != 0 || w.stride[k] != 1))
			node_fail(v, ERR_INPUT, "its global_pooling allows no pad and no stride");
	}
	if (global && kind <= CAFFE_POOL_AVE && !node_used(v, 1)) {
		node_set(v, 0, node_global(v, kind == CAFFE_POOL_MAX ? OP_reduce_max : OP_reduce_mean, x));
		return;
	}
	node_set(v, 0, pool(v, x, &w, kind, ceil));
	if (node_used(v, 1)) { /* the place of the maximum in its plane, as a float */
		int place = node_max_pool_place(v, x, &w, ceil);
		node_set(v, 1, node_cast(v, node_with_number(v, OP_mod, place, (double)(in.dim[2] * in.dim[3])), F32));
	}
}

/* Poolings into 1, 4, 16 .. windows, whose results are joined. */
static void import_spp(Visit *v)
{
	int64_t levels = caffe_count(v, "pyramid_height", 0, 1), kind = node_attr_int(v, "pool", CAFFE_POOL_MAX);
	int part[16];
	if (!image(v))
		return;
	if (levels > 16)
		node_fail(v, ERR_UNSUPPORTED, "its pyramid_height is %lld, but 16 is the most", (long long)levels);
	Shape in = node_in(v, 0)->shape;
	int x = node_value(v, 0);
	for (int k = 0; k < levels && node_ok(v); k++) {
		Windows w = windows_over(v, &in);
		int64_t bins = (int64_t)1 << k;
		for (int i = 0; i < w.n && node_ok(v); i++) {
			w.kernel[i] = w.stride[i] = (in.dim[2 + i] + bins - 1) / bins;
			w.pads[i] = w.pads[i + w.n] = (w.kernel[i] * bins - in.dim[2 + i] + 1) / 2;
			if (in.dim[2 + i] < 1 || w.pads[i] >= w.kernel[i])
				node_fail(v, ERR_TYPE, "its input of %lld elements is too small for %lld windows",
					(long long)in.dim[2 + i], (long long)bins);
		}
		part[k] = pool(v, x, &w, kind, true);
		Shape s = node_val(v, part[k])->shape;
		part[k] = node_view(v, part[k], 2, (int64_t[]){ s.dim[0], shape_product(&s, 1, s.rank) });
	}
	if (node_ok(v))
		node_set(v, 0, node_concat(v, part, (int)levels, 1));
}

/* Within a channel: x (1 + alpha mean x^2) ^ -beta over windows of the image. */
static int normalise_within(Visit *v, int x, int64_t size, double alpha, double beta)
{
	Windows w = windows_over(v, &node_val(v, x)->shape);
	for (int k = 0; k < w.n; k++) {
		w.kernel[k] = size;
		w.pads[k] = w.pads[k + w.n] = (size - 1) / 2;
	}
	int mean = node_avg_pool(v, node_call2(v, OP_mul, x, x), &w, false, true);
	int base = node_with_number(v, OP_add, node_with_number(v, OP_mul, mean, alpha), 1);
	return node_call2(v, OP_mul, x, node_with_number(v, OP_pow, base, -beta));
}

static void import_lrn(Visit *v)
{
	int64_t size = caffe_count(v, "local_size", 5, 1), region = node_attr_int(v, "norm_region", CAFFE_ACROSS_CHANNELS);
	double alpha = node_attr_float(v, "alpha", 1), beta = node_attr_float(v, "beta", 0.75);
	double k = node_attr_float(v, "k", 1);
	if (node_ok(v) && size % 2 == 0)
		node_fail(v, ERR_INPUT, "its local_size is %lld, but must be odd", (long long)size);
	if (!image(v))
		return;
	int x = node_value(v, 0);
	Attr attr[] = { attr_int("size", size), attr_float("alpha", alpha), attr_float("beta", beta),
		attr_float("bias", k) };
	if (region == CAFFE_WITHIN_CHANNEL)
		node_set(v, 0, normalise_within(v, x, size, alpha, beta));
	else
		node_set(v, 0, node_call(v, OP_lrn, &x, 1, attr, 4));
}

const NodeRow caffe_window_rows[] = {
	{ "Convolution", 0, "", import_convolution },
	{ "ConvolutionDepthwise", 0, "", import_depthwise },
	{ "DepthwiseConvolution", 0, "", import_depthwise },
	{ "Deconvolution", 0, "", import_deconvolution },
	{ "Im2col", 0, "num_output bias_term group", import_im2col },
	{ "Pooling", 0, "", import_pooling },
	{ "SPP", 0, "", import_spp },
	{ "LRN", 0, "", import_lrn },
	{ NULL, 0, NULL, NULL },
};
