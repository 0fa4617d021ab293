/*
 * Rows of resizing. Sizes are known while importing, so each axis that changes becomes one call with constant taps.
 * Where PyTorch counts in f32, so do the coordinates here: a rounding decides which element is the nearest.
 */
#include "frontend/node/taps.h"
#include "frontend/pytorch/aten.h"

#include <math.h>

typedef enum { NEAREST, NEAREST_EXACT, LINEAR, CUBIC, LINEAR_AA, CUBIC_AA } Filter;

typedef struct ResizeAxis {
	int64_t in, out;
	double scale; /* elements of the input for one of the result */
} ResizeAxis;

static double cubic(double x, double a)
{
	x = fabs(x);
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double clamped(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* One element, two or four around the source. */
static void make_taps(const ResizeAxis *a, Filter f, bool corners, Taps *t)
{
	double last = (double)a->in - 1;
	for (int64_t i = 0; i < a->out; i++) {
		int64_t *index = &t->index[i * t->n];
		double *weight = &t->weight[i * t->n];
		if (f <= NEAREST_EXACT) {
			float at = ((float)i + (f == NEAREST_EXACT ? 0.5f : 0)) * (float)a->scale;
			index[0] = (int64_t)clamped(floorf(at), 0, last);
			weight[0] = 1;
			continue;
		}
		double x = corners ? (double)i * a->scale : ((double)i + 0.5) * a->scale - 0.5;
		if (f == LINEAR) {
			x = clamped(x, 0, last);
			double low = floor(x);
			index[0] = (int64_t)low;
			index[1] = (int64_t)clamped(low + 1, 0, last);
			weight[1] = index[1] != index[0] ? x - low : 0;
			weight[0] = 1 - weight[1];
			continue;
		}
		double low = floor(x);
		for (int k = 0; k < 4; k++) {
			index[k] = (int64_t)clamped(low - 1 + k, 0, last);
			weight[k] = cubic(x - (low - 1 + k), -0.75);
		}
	}
}

/* Filters as wide as the scale, normalised: antialiasing. */
static void make_wide_taps(const ResizeAxis *a, Filter f, double reach, Taps *t)
{
	double narrow = a->scale > 1 ? 1 / a->scale : 1;
	for (int64_t i = 0; i < a->out; i++) {
		double centre = a->scale * ((double)i + 0.5), sum = 0;
		int64_t from = (int64_t)clamped(floor(centre - reach + 0.5), 0, (double)a->in - 1);
		int64_t end = (int64_t)clamped(floor(centre + reach + 0.5), 1, (double)a->in);
		for (int64_t k = 0; k < t->n; k++) {
			double x = ((double)(from + k) - centre + 0.5) * narrow;
			double w = f == LINEAR_AA ? fmax(0, 1 - fabs(x)) : cubic(x, -0.5);
			t->index[i * t->n + k] = from + k < end ? from + k : end - 1;
			t->weight[i * t->n + k] = from + k < end ? w : 0;
			sum += from + k < end ? w : 0;
		}
		for (int64_t k = 0; k < t->n && sum != 0; k++)
			t->weight[i * t->n + k] /= sum;
	}
}

static int resize_axis(Aten *n, int x, int axis, const ResizeAxis *a, Filter f, bool corners)
{
	Taps t;
	double reach = (f == LINEAR_AA ? 1 : 2) * fmax(a->scale, 1);
	int64_t taps = f <= NEAREST_EXACT ? 1 : f == LINEAR ? 2 : f == CUBIC ? 4 : (int64_t)fmin(2 * reach + 2, INT32_MAX);
	if (!node_ok(n->v) || (a->in == a->out && a->scale == 1) || !node_taps(n->v, axis, a->out, taps, &t))
		return x;
	if (f >= LINEAR_AA)
		make_wide_taps(a, f, reach, &t);
	else
		make_taps(a, f, corners, &t);
	return node_resize_axis(n->v, x, axis, &t);
}

/* A number of a list, or of an argument for each dimension. */
static double factor_of(Aten *n, int k, int spatial)
{
	static const char *const one[] = { "scales" }, *const two[] = { "scales_h", "scales_w" },
							 *const three[] = { "scales_d", "scales_h", "scales_w" };
	TorchValue list = aten_any(n, "scale_factors");
	if ((list.kind == TORCH_LIST || list.kind == TORCH_TUPLE) && list.list->n == (size_t)spatial)
		return torch_is_number(list.list->at[k]) ? torch_number(list.list->at[k]) : 0;
	const char *name = spatial == 1 ? one[0] : spatial == 2 ? two[k] : three[k];
	return aten_given(n, name) ? aten_float(n, name) : 0;
}

static void import_upsample(Aten *n)
{
	Visit *v = n->v;
	Filter f = (Filter)(n->row->op / 10);
	int spatial = n->row->op % 10, x = aten_value(n, "input");
	Shape s = node_val(v, x)->shape;
	int64_t size[ATEN_INTS];
	bool sized = aten_ints(n, "output_size", -1, size) == spatial, corners = aten_flag(n, "align_corners");
	if (node_ok(v) && s.rank != spatial + 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions where %d are needed", s.rank, spatial + 2);
	for (int k = 0; k < spatial && node_ok(v); k++) {
		ResizeAxis a = { .in = s.dim[2 + k], .out = size[k] };
		double factor = factor_of(n, k, spatial);
		if (!sized)
			a.out = factor > 0 && factor * (double)a.in < INT32_MAX ? (int64_t)floor(factor * (double)a.in) : 0;
		if (a.out < 1 || a.out > INT32_MAX || a.in < 1) {
			node_fail(v, ERR_INPUT, "it resizes dimension %d to %lld elements", 2 + k, (long long)a.out);
			return;
		}
		if (corners && f >= LINEAR)
			a.scale = a.out > 1 ? (double)(a.in - 1) / (double)(a.out - 1) : 0;
		else
			a.scale = factor > 0 ? 1 / factor : (double)a.in / (double)a.out;
		if (!(a.scale >= 0 && a.scale <= INT32_MAX)) {
			node_fail(v, ERR_INPUT, "it resizes dimension %d by a factor of %g", 2 + k, factor);
			return;
		}
		x = resize_axis(n, x, 2 + k, &a, f, corners);
	}
	aten_set(n, x);
}

#define SIZED "input:T output_size:I? scale_factors:F?"
#define SIZED_CORNERS "input:T output_size:I? align_corners:b=False scale_factors:F?"
#define ONE " scales:f?"
#define TWO " scales_h:f? scales_w:f?"
#define THREE " scales_d:f? scales_h:f? scales_w:f?"
#define TO "input:T output_size:I"
#define TO_CORNERS "input:T output_size:I align_corners:b"

/* The form that scripts and programs call, with a size or factors, and the one below it. */
#define BOTH(name, vec, plain, op) \
	{ name ".vec", vec, import_upsample, op }, \
	{ \
		name, plain, import_upsample, op \
	}

const AtenRow torch_resize_rows[] = {
	BOTH("upsample_nearest1d", SIZED, TO ONE, 1),
	BOTH("upsample_nearest2d", SIZED, TO TWO, 2),
	BOTH("upsample_nearest3d", SIZED, TO THREE, 3),
	BOTH("_upsample_nearest_exact1d", SIZED, TO ONE, 11),
	BOTH("_upsample_nearest_exact2d", SIZED, TO TWO, 12),
	BOTH("_upsample_nearest_exact3d", SIZED, TO THREE, 13),
	BOTH("upsample_linear1d", SIZED_CORNERS, TO_CORNERS ONE, 21),
	BOTH("upsample_bilinear2d", SIZED_CORNERS, TO_CORNERS TWO, 22),
	BOTH("upsample_trilinear3d", SIZED_CORNERS, TO_CORNERS THREE, 23),
	BOTH("upsample_bicubic2d", SIZED_CORNERS, TO_CORNERS TWO, 32),
	BOTH("_upsample_bilinear2d_aa", SIZED_CORNERS, TO_CORNERS TWO, 42),
	BOTH("_upsample_bicubic2d_aa", SIZED_CORNERS, TO_CORNERS TWO, 52),
	{ NULL, NULL, NULL, 0 },
};
