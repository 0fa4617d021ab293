/*
 * Rows of resizing. Sizes are known while importing, so each axis is a list of taps with weights
 * (frontend/node/taps.h). Where a result lies in the input is computed in f32, as TensorFlow does, since that decides
 * which element is nearest.
 */
#include "frontend/node/taps.h"
#include "frontend/tensorflow/rows.h"

#include <math.h>

typedef enum { NEAREST, LINEAR, CUBIC, AREA } Filter;

typedef struct Resize {
	Filter filter;
	bool corners, half; /* the corners' centres meet; elements lie at half numbers */
} Resize;

static float scale_of(const Resize *r, int64_t in, int64_t out)
{
	return r->corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

static int64_t inside(int64_t i, int64_t n)
{
	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void nearest(const Resize *r, int64_t in, Taps *t)
{
	float scale = scale_of(r, in, t->out);
	for (int64_t i = 0; i < t->out; i++) {
		float x = ((float)i + (r->half ? 0.5f : 0)) * scale;
		t->index[i] = inside((int64_t)(r->corners ? roundf(x) : floorf(x)), in);
		t->weight[i] = 1;
	}
}

static void linear(const Resize *r, int64_t in, Taps *t)
{
	float scale = scale_of(r, in, t->out);
	for (int64_t i = 0; i < t->out; i++) {
		float x = r->half ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale, low = floorf(x);
		t->index[2 * i] = inside((int64_t)low, in);
		t->index[2 * i + 1] = inside((int64_t)ceilf(x), in);
		t->weight[2 * i] = 1 - (x - low);
		t->weight[2 * i + 1] = x - low;
	}
}

static double cubic_weight(double x, double a)
{
	x = fabs(x);
	return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* TensorFlow takes weights from a table of 1024 offsets; with half numbers, taps outside of the input do not count. */
static void cubic(const Resize *r, int64_t in, Taps *t)
{
	enum { TABLE = 1024 };
	float scale = scale_of(r, in, t->out);
	double a = r->half ? -0.5 : -0.75;
	for (int64_t i = 0; i < t->out; i++) {
		float x = r->half ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale, low = floorf(x);
		double at = (double)lrintf((x - low) * TABLE) / TABLE, sum = 0;
		for (int k = 0; k < 4; k++) {
			int64_t from = (int64_t)low + k - 1;
			double w = cubic_weight((double)(k - 1) - at, a);
			if (r->half && from != inside(from, in))
				w = 0;
			t->index[4 * i + k] = inside(from, in);
			t->weight[4 * i + k] = w;
			sum += w;
		}
		for (int k = 0; k < 4 && r->half && fabs(sum) >= 1000 * 1.17549435e-38; k++)
			t->weight[4 * i + k] /= sum;
	}
}

/* The mean of the part of the input that a result covers. */
static void area(const Resize *r, int64_t in, Taps *t)
{
	float scale = scale_of(r, in, t->out);
	for (int64_t i = 0; i < t->out; i++) {
		float from = (float)i * scale, to = (float)(i + 1) * scale;
		for (int k = 0; k < t->n; k++) {
			int64_t at = (int64_t)floorf(from) + k;
			double part = fmin(to, (double)at + 1) - fmax(from, (double)at);
			t->index[i * t->n + k] = inside(at, in);
			t->weight[i * t->n + k] = part > 0 ? part / scale : 0;
		}
	}
}

static int resize_axis(Visit *v, int x, int axis, const Resize *r, int64_t out)
{
	Taps t;
	int64_t in = node_val(v, x)->shape.dim[axis];
	if (node_ok(v) && (in < 1 || out < 1 || in > 1 << 24 || out > 1 << 24))
		node_fail(v, ERR_INPUT, "it resizes %lld elements to %lld", (long long)in, (long long)out);
	int64_t n = r->filter == NEAREST  ? 1
	            : r->filter == LINEAR ? 2
	            : r->filter == CUBIC  ? 4
	                                  : in / (out > 0 ? out : 1) + 3;
	if (!node_ok(v) || !node_taps(v, axis, out, n, &t))
		return x;
	switch (r->filter) {
	case NEAREST: nearest(r, in, &t); break;
	case LINEAR: linear(r, in, &t); break;
	case CUBIC: cubic(r, in, &t); break;
	case AREA: area(r, in, &t); break;
	}
	return node_resize_axis(v, x, axis, &t);
}

static void import_resize(Visit *v, Filter filter)
{
	Resize r = { filter, node_attr_flag(v, "align_corners", false), node_attr_flag(v, "half_pixel_centers", false) };
	int n, x = tf_value(v, 0);
	const int64_t *to = tf_ints(v, 1, &n);
	if (node_ok(v) && (n != 2 || node_val(v, x)->shape.rank != 4))
		node_fail(v, ERR_TYPE, "its input must have 4 dimensions, and its size two numbers");
	if (!node_ok(v))
		return;
	x = node_to_second(v, x);
	if (filter != NEAREST && !dtype_is_float(node_val(v, x)->type))
		x = node_cast(v, x, F32);
	x = resize_axis(v, x, 3, &r, to[1]);
	x = resize_axis(v, x, 2, &r, to[0]);
	node_set(v, 0, node_to_last(v, x));
}

static void import_nearest(Visit *v)
{
	import_resize(v, NEAREST);
}

static void import_linear(Visit *v)
{
	import_resize(v, LINEAR);
}

static void import_cubic(Visit *v)
{
	import_resize(v, CUBIC);
}

static void import_area(Visit *v)
{
	import_resize(v, AREA);
}

/*
 * Boxes of the images, each resized to one size: first the rows of the image that box_ind names, then along each axis
 * the taps at places that the boxes give, which may be data.
 */
static int crop_axis(Visit *v, int x, int boxes, int axis, int64_t out, bool is_nearest, int *outside)
{
	int64_t n = node_val(v, boxes)->shape.dim[0], one[] = { n, 1 }, in = node_val(v, x)->shape.dim[axis];
	int lo = node_view(v, node_slice(v, boxes, 1, axis - 2, 1), 2, one);
	int hi = node_view(v, node_slice(v, boxes, 1, axis, 1), 2, one);
	int at = node_cast(v, node_count(v, out, 1, 2), F32);
	lo = node_with_number(v, OP_mul, lo, (double)(in - 1));
	hi = node_with_number(v, OP_mul, hi, (double)(in - 1));
	int apart = node_call2(v, OP_sub, hi, lo);
	int place = out > 1 ? node_call2(v, OP_add, lo,
							  node_call2(v, OP_mul, at, node_with_number(v, OP_div, apart, (double)(out - 1))))
	                    : node_with_number(v, OP_mul, node_call2(v, OP_add, lo, hi), 0.5);
	place = node_expand(v, place, shape_of(2, (int64_t[]){ n, out }));
	*outside = node_call2(v, OP_bit_or, node_call2(v, OP_less, place, node_number(v, F32, 0)),
		node_call2(v, OP_less, node_number(v, F32, (double)(in - 1)), place));
	Attr clip[] = { attr_float("lo", 0), attr_float("hi", (double)(in - 1)) };
	place = node_call(v, OP_clip, &place, 1, clip, 2);
	int low = node_call1(v, OP_floor, is_nearest ? node_with_number(v, OP_add, place, 0.5) : place);
	int part = node_call2(v, OP_sub, place, low), pair[2], index[2];
	int64_t two[] = { n, out, 1 };
	index[0] = node_view(v, node_cast(v, low, I64), 3, two);
	index[1] = node_view(v, node_cast(v, node_call1(v, OP_ceil, place), I64), 3, two);
	pair[0] = node_view(v, node_call2(v, OP_sub, node_number(v, F32, 1), part), 3, two);
	pair[1] = node_view(v, part, 3, two);
	int ones = node_expand(v, node_number(v, F32, 1), shape_of(3, two));
	int call[] = { x, is_nearest ? index[0] : node_concat(v, index, 2, 2),
		is_nearest ? ones : node_concat(v, pair, 2, 2) };
	Attr attr[] = { attr_int("axis", axis), attr_int("batch", 1), attr_int("edge", 1) };
	return node_call(v, OP_resample, call, 3, attr, 3);
}

static void import_crop_and_resize(Visit *v)
{
	int n, x = node_cast(v, node_to_second(v, tf_value(v, 0)), F32), boxes = tf_value(v, 1), which = tf_value(v, 2);
	const int64_t *size = tf_ints(v, 3, &n);
	const char *method = node_attr_text(v, "method", "bilinear");
	double fill = node_attr_float(v, "extrapolation_value", 0);
	Shape s = node_val(v, boxes)->shape;
	bool near = method[0] == 'n';
	if (node_ok(v) && (n != 2 || size[0] < 1 || size[1] < 1 || size[0] > 1 << 20 || size[1] > 1 << 20 ||
						  node_val(v, x)->shape.rank != 4 || s.rank != 2 || s.dim[1] != 4))
		node_fail(v, ERR_TYPE, "its image must have 4 dimensions, its boxes 4 numbers each, and its size two");
	if (!node_ok(v))
		return;
	int in[] = { x, which }, out[2];
	Attr axis = attr_int("axis", 0);
	x = node_call(v, OP_gather, in, 2, &axis, 1);
	x = crop_axis(v, x, boxes, 2, size[0], near, &out[0]);
	x = crop_axis(v, x, boxes, 3, size[1], near, &out[1]);
	int64_t rows[] = { s.dim[0], 1, size[0], 1 }, columns[] = { s.dim[0], 1, 1, size[1] };
	int beyond = node_call2(v, OP_bit_or, node_view(v, out[0], 4, rows), node_view(v, out[1], 4, columns));
	node_set(v, 0, node_to_last(v, node_where(v, beyond, node_number(v, F32, fill), x)));
}

const NodeRow tf_resize_rows[] = {
	{ "ResizeNearestNeighbor", 0, "", import_nearest },
	{ "ResizeBilinear", 0, "", import_linear },
	{ "ResizeBicubic", 0, "", import_cubic },
	{ "ResizeArea", 0, "", import_area },
	{ "CropAndResize", 0, "", import_crop_and_resize },
	{ NULL, 0, NULL, NULL },
};
