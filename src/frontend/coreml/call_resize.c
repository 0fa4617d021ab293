/*
 * Resampling of images along their axes (node/taps.h), and boxes of images, whose places are data. image.h says what
 * each function is.
 */
#include "frontend/coreml/image.h"

#include "frontend/node/compose.h"
#include "frontend/node/taps.h"

#include <math.h>

/* First place and distance of a grid over `span`, the last place. */
static double grid_at(Grid grid, double in, double out, double i)
{
	double span = in - 1;
	switch (grid) {
	case GRID_STRICT_CORNERS: return out > 1 ? i * span / (out - 1) : 0;
	case GRID_CORNERS: return out > 1 ? i * span / (out - 1) : span / 2;
	case GRID_UPSAMPLE: return i * (in / out);
	case GRID_ROI: return (i + 0.5) * fmax(1, span) / out;
	case GRID_HALF: break;
	}
	return (i + 0.5) / (out / in) - 0.5;
}

int coreml_linear(Visit *v, int x, int axis, int64_t out, Grid grid)
{
	Taps t;
	int64_t in = node_val(v, x)->shape.dim[axis];
	if (node_ok(v) && (out < 1 || in < 1))
		node_fail(v, ERR_INPUT, "it resizes %lld elements to %lld", (long long)in, (long long)out);
	if (!node_ok(v) || !node_taps(v, axis, out, 2, &t))
		return DAG_NONE;
	for (int64_t i = 0; i < out; i++) {
		double at = fmin(fmax(grid_at(grid, (double)in, (double)out, (double)i), 0), (double)(in - 1)), low = floor(at);
		t.index[2 * i] = (int64_t)low;
		t.index[2 * i + 1] = (int64_t)low + 1 < in ? (int64_t)low + 1 : in - 1;
		t.weight[2 * i] = 1 - (at - low);
		t.weight[2 * i + 1] = at - low;
	}
	return node_resize_axis(v, x, axis, &t);
}

int coreml_nearest(Visit *v, int x, int axis, int64_t out, bool half)
{
	Taps t;
	int64_t in = node_val(v, x)->shape.dim[axis];
	if (node_ok(v) && (out < 1 || in < 1))
		node_fail(v, ERR_INPUT, "it resizes %lld elements to %lld", (long long)in, (long long)out);
	if (!node_ok(v) || !node_taps(v, axis, out, 1, &t))
		return DAG_NONE;
	for (int64_t i = 0; i < out; i++) {
		double at = floor(((double)i + (half ? 0.5 : 0)) / ((double)out / (double)in));
		t.index[i] = at < 0 ? 0 : at > (double)(in - 1) ? in - 1 : (int64_t)at;
		t.weight[i] = 1;
	}
	return node_resize_axis(v, x, axis, &t);
}

/* Column k of boxes as [R,1]. */
static int column(Visit *v, int boxes, int k)
{
	return node_slice(v, boxes, 1, k, 1);
}

/* First and last place of the boxes along axis k (0: height), as the grid's span. */
static void ends_of(Visit *v, int boxes, const CoremlCropping *c, int k, int64_t in, int *from, int *to)
{
	bool centre = c->order == BOX_CENTRE_H || c->order == BOX_CENTRE_W;
	int first = (c->order == BOX_CORNERS_H || c->order == BOX_CENTRE_H) == (k == 0) ? 0 : 1;
	int a = column(v, boxes, first), b = column(v, boxes, first + 2);
	if (c->scale != 1) {
		a = node_with_number(v, OP_mul, a, c->scale);
		b = node_with_number(v, OP_mul, b, c->scale);
	}
	if (c->normalised) {
		a = node_with_number(v, OP_mul, a, (double)(in - 1));
		b = node_with_number(v, OP_mul, b, (double)(in - 1));
	}
	if (centre) {
		int half = node_with_number(v, OP_mul, b, 0.5);
		b = node_call2(v, OP_add, a, half);
		a = node_call2(v, OP_sub, a, half);
	}
	*from = a;
	*to = b;
}

/* Places [R,out] of the grid's points. A box of `in` elements spans in - 1. */
static int places(Visit *v, const CoremlCropping *c, int from, int to, int64_t out)
{
	int at = node_cast(v, node_count(v, out, 1, 2), F32), span = node_call2(v, OP_sub, to, from);
	double last = (double)out - 1, n = (double)out;
	if (c->grid == GRID_CORNERS && out == 1)
		return node_with_number(v, OP_mul, node_call2(v, OP_add, from, to), 0.5);
	if (c->grid == GRID_STRICT_CORNERS || c->grid == GRID_CORNERS)
		return node_call2(
			v, OP_add, from, node_call2(v, OP_mul, at, node_with_number(v, OP_mul, span, out > 1 ? 1 / last : 0)));
	if (c->grid == GRID_UPSAMPLE) { /* X = span + 1 elements, X - X/n apart */
		int step = node_with_number(v, OP_mul, node_with_number(v, OP_add, span, 1), 1 / n);
		return node_call2(v, OP_add, from, node_call2(v, OP_mul, at, step));
	}
	int step = node_with_number(v, OP_mul, node_with_number(v, OP_maximum, span, 1), 1 / n);
	return node_call2(v, OP_add, from, node_call2(v, OP_mul, node_with_number(v, OP_add, at, 0.5), step));
}

/* 1 where a place lies in the image, else 0. */
static int inside(Visit *v, int place, int64_t in)
{
	int low = node_call2(v, OP_less_equal, node_number(v, F32, 0), place);
	int high = node_call2(v, OP_less_equal, place, node_number(v, F32, (double)(in - 1)));
	return node_cast(v, node_call2(v, OP_bit_and, low, high), F32);
}

static int crop_axis(Visit *v, int x, int boxes, const CoremlCropping *c, int k)
{
	int64_t in = node_val(v, x)->shape.dim[2 + k], out = c->size[k], many = node_val(v, boxes)->shape.dim[0];
	int from, to;
	ends_of(v, boxes, c, k, in, &from, &to);
	int place = node_expand(v, places(v, c, from, to, out), shape_of(2, (int64_t[]){ many, out }));
	/* The padding next to the image is as far as any padding. */
	Attr clip[] = { attr_float("lo", c->padded ? -1 : 0), attr_float("hi", (double)(c->padded ? in : in - 1)) };
	place = node_call(v, OP_clip, &place, 1, clip, 2);
	int64_t taps[] = { many, out, 1 };
	int tap[] = { node_call1(v, OP_floor, place), node_call1(v, OP_ceil, place) };
	int part = node_call2(v, OP_sub, place, tap[0]), index[2];
	int weight[] = { node_call2(v, OP_sub, node_number(v, F32, 1), part), part };
	for (int i = 0; i < 2; i++) {
		if (c->padded)
			weight[i] = node_call2(v, OP_mul, weight[i], inside(v, tap[i], in));
		index[i] = node_view(v, node_cast(v, tap[i], I64), 3, taps);
		weight[i] = node_view(v, weight[i], 3, taps);
	}
	int call[] = { x, node_concat(v, index, 2, 2), node_concat(v, weight, 2, 2) };
	Attr attr[] = { attr_int("axis", 2 + k), attr_int("batch", 1), attr_int("edge", 1) };
	return node_call(v, OP_resample, call, 3, attr, 3);
}

int coreml_crop(Visit *v, int x, int boxes, const CoremlCropping *c)
{
	for (int k = 0; k < 2 && node_ok(v); k++) {
		if (c->size[k] < 1 || c->size[k] > 1 << 20)
			node_fail(v, ERR_INPUT, "its target size %lld is out of range", (long long)c->size[k]);
		else
			x = crop_axis(v, x, boxes, c, k);
	}
	return x;
}
