/*
 * Rows of layers that change sizes: each axis by itself, as sums of elements with weights that are known. The weights
 * are those of TensorFlow, Keras' first back end: elements lie at half numbers, a kernel is as wide as its radius
 * (wider by the scale with antialias), and what lies outside has no weight, the others being as much larger.
 */
#include "frontend/keras/window.h"
#include "frontend/node/taps.h"

#include <math.h>
#include <string.h>

typedef enum { NEAREST, TRIANGLE, KEYS_CUBIC, MITCHELL_CUBIC, LANCZOS, GAUSSIAN, AREA } Kernel;

typedef struct Method {
	const char *name;
	Kernel kernel;
	double radius;
} Method;

static const Method methods[] = {
	{ "nearest", NEAREST, 1 },
	{ "bilinear", TRIANGLE, 1 },
	{ "bicubic", KEYS_CUBIC, 2 },
	{ "mitchellcubic", MITCHELL_CUBIC, 2 },
	{ "lanczos3", LANCZOS, 3 },
	{ "lanczos5", LANCZOS, 5 },
	{ "gaussian", GAUSSIAN, 1.5 },
	{ "area", AREA, 1 },
};

static const Method *read_method(Visit *v, const char *otherwise)
{
	const char *how = node_attr_text(v, "interpolation", otherwise);
	for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
		if (strcmp(methods[k].name, how) == 0)
			return &methods[k];
	node_fail(v, ERR_UNSUPPORTED, "its interpolation '%.20s' is not supported", how);
	return methods;
}

/* Polynomials of Keys (a = -1/2) and of Mitchell and Netravali (B = C = 1/3); Lanczos' product of two sinc. */
static double kernel_at(const Method *m, double x)
{
	const double pi = 3.14159265358979323846;
	x = fabs(x);
	if (x >= m->radius)
		return 0;
	switch (m->kernel) {
	case KEYS_CUBIC: return x < 1 ? ((1.5 * x - 2.5) * x) * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2;
	case MITCHELL_CUBIC:
		return x < 1 ? ((7.0 / 6 * x - 2) * x) * x + 8.0 / 9 : ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9;
	case LANCZOS: return x <= 1e-3 ? 1 : m->radius * sin(pi * x) * sin(pi * x / m->radius) / (pi * pi * x * x);
	case GAUSSIAN: return exp(-x * x / (2 * (m->radius / 3) * (m->radius / 3)));
	default: return 1 - x;
	}
}

/* What of [at, at + 1) is in [from, to). */
static double overlap(double at, double from, double to)
{
	double part = fmin(at + 1, to) - fmax(at, from);
	return part > 0 ? part : 0;
}

/*
 * The weight of element k for the result whose middle is at `middle`. TensorFlow's bicubic reads its kernel from a
 * table of 1024 steps for each element, which is followed.
 */
static double weight_at(const Method *m, int64_t k, double middle, double scale, double wide)
{
	if (m->kernel == AREA)
		return overlap((double)k, middle - scale / 2, middle + scale / 2);
	double x = (double)k + 0.5 - middle;
	if (m->kernel == KEYS_CUBIC && wide == 0) {
		double low = floor(middle - 0.5), part = nearbyint((middle - 0.5 - low) * 1024) / 1024;
		x = (double)k - low - part;
	}
	return kernel_at(m, wide > 0 ? x / wide : x);
}

static int resize_axis(Visit *v, int x, int axis, int64_t out, const Method *m, bool antialias)
{
	Taps t;
	int64_t in = node_val(v, x)->shape.dim[axis];
	if (node_ok(v) && (in < 1 || out < 1 || in > 1 << 24 || out > 1 << 24))
		node_fail(v, ERR_INPUT, "it resizes %lld elements to %lld", (long long)in, (long long)out);
	float scale = (float)in / (float)out;
	double wide = antialias && scale > 1 ? (double)scale : antialias ? 1 : 0;
	double reach = m->kernel == AREA ? (double)scale / 2 + 1 : m->radius * (wide > 1 ? wide : 1);
	bool nearest = m->kernel == NEAREST;
	if (!node_ok(v) || !node_taps(v, axis, out, nearest ? 1 : (int64_t)(2 * reach) + 2, &t))
		return x;
	for (int64_t i = 0; i < out; i++) {
		float middle = ((float)i + 0.5f) * scale;
		int64_t from = nearest ? (int64_t)floorf(middle) : (int64_t)ceil((double)middle - reach - 0.5);
		double sum = 0;
		for (int64_t k = 0; k < t.n; k++) {
			int64_t at = from + k;
			bool inside = at >= 0 && at < in;
			double w = nearest ? 1 : inside ? weight_at(m, at, (double)middle, (double)scale, wide) : 0;
			t.index[i * t.n + k] = at < 0 ? 0 : at >= in ? in - 1 : at;
			t.weight[i * t.n + k] = w;
			sum += w;
		}
		for (int64_t k = 0; k < t.n && sum != 0; k++)
			t.weight[i * t.n + k] /= sum;
	}
	return node_resize_axis(v, x, axis, &t);
}

static void import_up_sampling(Visit *v)
{
	bool last = keras_last(v);
	const Method *m = read_method(v, "nearest");
	int x = keras_windowed(v, last);
	Shape s = node_val(v, x)->shape;
	Windows w = windows_over(v, &s);
	int64_t times[MOST_SPATIAL];
	node_attr_list(v, "size", w.n, 1, 2, times);
	for (int k = w.n - 1; k >= 0 && node_ok(v); k--)
		x = resize_axis(v, x, k + 2, s.dim[k + 2] * times[k], m, false);
	node_set(v, 0, keras_in_format(v, x, last));
}

/* As much of `have` as gives the ratio of `want` to `other_want`, beside `other` elements. */
static int64_t in_ratio(int64_t other, int64_t want, int64_t other_want)
{
	double n = (double)other * (double)want / (double)other_want;
	return n < 0x1p40 ? (int64_t)n : (int64_t)1 << 40;
}

/* The middle of an image in the ratio of the result: [N,C,h,w]. */
static int cropped(Visit *v, int x, int64_t h, int64_t w)
{
	Shape s = node_val(v, x)->shape;
	int64_t size[] = { in_ratio(s.dim[3], h, w), in_ratio(s.dim[2], w, h) };
	for (int k = 0; k < 2 && node_ok(v); k++) {
		int64_t n = s.dim[k + 2], cut = size[k] > n ? n : size[k] < 1 ? 1 : size[k];
		x = node_slice(v, x, k + 2, (n - cut) / 2, cut);
	}
	return x;
}

/* The middle of an image in the ratio of the result, resized to that. */
static int smart_resized(Visit *v, int x, int64_t h, int64_t w)
{
	x = resize_axis(v, cropped(v, x, h, w), 3, w, &methods[TRIANGLE], false);
	return resize_axis(v, x, 2, h, &methods[TRIANGLE], false);
}

/* An image in the middle of a larger one in the ratio of the result. */
static int padded(Visit *v, int x, int64_t h, int64_t w, double fill)
{
	Shape s = node_val(v, x)->shape;
	int64_t size[] = { in_ratio(s.dim[3], h, w), in_ratio(s.dim[2], w, h) }, pads[8] = { 0 };
	for (int k = 0; k < 2; k++)
		pads[k + 2] = pads[k + 6] = size[k] > s.dim[k + 2] ? (size[k] - s.dim[k + 2]) / 2 : 0;
	Attr attr[] = { attr_ints("pads", pads, 8), attr_float("value", fill) };
	return pads[2] + pads[3] == 0 ? x : node_call(v, OP_pad, &x, 1, attr, 2);
}

static void import_resizing(Visit *v)
{
	bool last = keras_last(v), antialias = node_attr_flag(v, "antialias", false);
	const Method *m = read_method(v, "bilinear");
	int x = keras_windowed(v, last);
	int64_t size[2] = { 0 };
	bool listed = node_has(v, "size"); /* of the function */
	if (listed)
		node_attr_list(v, "size", 2, 1, 1, size);
	int64_t h = listed ? size[0] : keras_count(v, "height", 0), w = listed ? size[1] : keras_count(v, "width", 0);
	bool crop = node_attr_flag(v, "crop_to_aspect_ratio", false), pad = node_attr_flag(v, "pad_to_aspect_ratio", false);
	const char *mode = node_attr_text(v, "fill_mode", "constant");
	double fill = node_attr_float(v, "fill_value", 0);
	if (node_ok(v) && node_val(v, x)->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 4", node_val(v, x)->shape.rank);
	if (pad && strcmp(mode, "constant") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its fill_mode '%.20s' is not supported; constant is", mode);
	if (node_ok(v) && !dtype_is_float(node_val(v, x)->type))
		x = node_cast(v, x, F32);
	x = crop ? cropped(v, x, h, w) : pad ? padded(v, x, h, w, fill) : x;
	x = resize_axis(v, x, 3, w, m, antialias);
	x = resize_axis(v, x, 2, h, m, antialias);
	node_set(v, 0, keras_in_format(v, x, last));
}

/* The middle of an image; one that is too small is resized first, so that its smaller side fits. */
static void import_center_crop(Visit *v)
{
	bool last = keras_last(v);
	int x = keras_windowed(v, last);
	int64_t h = keras_count(v, "height", 0), w = keras_count(v, "width", 0);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 4", s.rank);
	if (!node_ok(v))
		return;
	if (!dtype_is_float(node_val(v, x)->type))
		x = node_cast(v, x, F32);
	if (s.dim[2] < h || s.dim[3] < w) {
		x = smart_resized(v, x, h, w);
	} else {
		x = node_slice(v, x, 2, (s.dim[2] - h) / 2, h);
		x = node_slice(v, x, 3, (s.dim[3] - w) / 2, w);
	}
	node_set(v, 0, keras_in_format(v, x, last));
}

/* Version 3 passes images on in inference, version 2 resizes the middle. */
static void import_random_crop(Visit *v)
{
	bool last = keras_last(v);
	int64_t h = keras_count(v, "height", 0), w = keras_count(v, "width", 0);
	if (keras_file(v)->version >= 3) {
		node_set_alias(v, 0, node_need(v, 0));
		return;
	}
	int x = node_cast(v, keras_windowed(v, last), F32);
	if (node_ok(v) && node_val(v, x)->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 4", node_val(v, x)->shape.rank);
	if (node_ok(v))
		node_set(v, 0, keras_in_format(v, smart_resized(v, x, h, w), last));
}

/* ---- poolings to a size */

/* Result i of an axis is of the elements from floor(i in / out) to ceil((i + 1) in / out). */
static int adapted(Visit *v, int x, int axis, int64_t out, bool max)
{
	int64_t in = node_val(v, x)->shape.dim[axis], most = 1;
	if (node_ok(v) && (out < 1 || in < 1 || out > 1 << 20 || in > 1 << 20))
		node_fail(v, ERR_INPUT, "it pools %lld elements to %lld", (long long)in, (long long)out);
	if (!node_ok(v) || in == out)
		return x;
	for (int64_t i = 0; i < out; i++) {
		int64_t n = ((i + 1) * in + out - 1) / out - i * in / out;
		most = n > most ? n : most;
	}
	Taps t;
	if (!node_taps(v, axis, out, most, &t))
		return x;
	float *weight = arena_array(v->im->arena, float, out *most + 1);
	for (int64_t i = 0; i < out; i++) {
		int64_t from = i * in / out, n = ((i + 1) * in + out - 1) / out - from;
		for (int64_t k = 0; k < most; k++) {
			t.index[i * most + k] = from + (k < n ? k : n - 1);
			t.weight[i * most + k] = k < n ? 1 / (double)n : 0;
			weight[i * most + k] = 1;
		}
	}
	if (!max)
		return node_resize_axis(v, x, axis, &t);
	Shape s = shape_of(2, (int64_t[]){ out, most });
	int call[] = { x, node_const(v, I64, s, t.index), node_const(v, F32, s, weight) };
	Attr attr[] = { attr_int("axis", axis), attr_int("max", 1) };
	return node_call(v, OP_resample, call, 3, attr, 2);
}

static void import_adaptive(Visit *v, bool max)
{
	bool last = keras_last(v);
	int x = keras_windowed(v, last);
	Shape s = node_val(v, x)->shape;
	Windows w = windows_over(v, &s);
	int64_t out[MOST_SPATIAL];
	bool equal = node_ok(v);
	node_attr_list(v, "output_size", w.n, 1, 1, out);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		equal &= s.dim[k + 2] % out[k] == 0;
		w.kernel[k] = w.stride[k] = equal ? s.dim[k + 2] / out[k] : 1;
	}
	if (equal && node_ok(v))
		x = max ? node_max_pool(v, x, &w, false) : node_avg_pool(v, x, &w, false, false);
	for (int k = w.n - 1; k >= 0 && node_ok(v) && !equal; k--)
		x = adapted(v, x, k + 2, out[k], max);
	node_set(v, 0, keras_in_format(v, x, last));
}

static void import_adaptive_avg(Visit *v)
{
	import_adaptive(v, false);
}

static void import_adaptive_max(Visit *v)
{
	import_adaptive(v, true);
}

const NodeRow keras_resize_rows[] = {
	{ "UpSampling1D", 0, "", import_up_sampling },
	{ "UpSampling2D", 0, "", import_up_sampling },
	{ "UpSampling3D", 0, "", import_up_sampling },
	{ "Resizing", 0, "", import_resizing },
	{ "CenterCrop", 0, "", import_center_crop },
	{ "RandomCrop", 0, "seed rng_type", import_random_crop },
	{ "AdaptiveAveragePooling1D", 0, "", import_adaptive_avg },
	{ "AdaptiveAveragePooling2D", 0, "", import_adaptive_avg },
	{ "AdaptiveAveragePooling3D", 0, "", import_adaptive_avg },
	{ "ops::AdaptiveAveragePool", 0, "", import_adaptive_avg },
	{ "ops::AdaptiveMaxPool", 0, "", import_adaptive_max },
	{ "ops::Resize", 0, "", import_resizing },
	{ "AdaptiveMaxPooling1D", 0, "", import_adaptive_max },
	{ "AdaptiveMaxPooling2D", 0, "", import_adaptive_max },
	{ "AdaptiveMaxPooling3D", 0, "", import_adaptive_max },
	{ NULL, 0, NULL, NULL },
};
