/*
 * Resize and Upsample. Sizes and scales are known while importing, so each axis that changes becomes one call: a
 * gather where each element of the result is one of the input (nearest; repetition where it is regular), else a
 * resample, whose taps and weights are constants. Formulas are those of ONNX's reference implementation.
 */
#include "frontend/node/taps.h"
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

static const char *const coordinate_modes[] = { "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
	"align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize" };
static const char *const filter_modes[] = { "nearest", "linear", "cubic" };
static const char *const nearest_modes[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" };
static const char *const policies[] = { "stretch", "not_larger", "not_smaller" };

typedef enum { HALF_PIXEL, SYMMETRIC, PYTORCH, ALIGN_CORNERS, ASYMMETRIC, TF_NEAREST, TF_CROP } CoordinateMode;
typedef enum { NEAREST, LINEAR, CUBIC } FilterMode;
typedef enum { PREFER_FLOOR, PREFER_CEIL, TO_FLOOR, TO_CEIL, OPSET_10 } NearestMode;
typedef enum { STRETCH, NOT_LARGER, NOT_SMALLER } Policy;

typedef struct Resize {
	CoordinateMode coordinate;
	FilterMode filter;
	NearestMode nearest;
	bool antialias, exclude_outside;
	double cubic_a, outside; /* the value outside of a cropped region */
} Resize;

/* One axis: the input's length, the result's, and the region of tf_crop_and_resize. */
typedef struct ResizeAxis {
	int64_t in, out;
	double scale, start, end;
} ResizeAxis;

/* The place of an attribute's word in a list. */
static int word_of(Visit *v, const char *name, const char *const *list, int n, const char *otherwise)
{
	const char *word = node_attr_text(v, name, otherwise);
	for (int k = 0; k < n; k++)
		if (strcmp(word, list[k]) == 0)
			return k;
	node_fail(v, ERR_UNSUPPORTED, "its attribute %s is '%.60s', which is not one that dlc knows", name, word);
	return 0;
}

/* Where in the input the centre of result i lies. */
static double source_of(const Resize *r, const ResizeAxis *a, int64_t i)
{
	double x = (double)i, in = (double)a->in, length = a->scale * in; /* of the result, not rounded */
	switch (r->coordinate) {
	case SYMMETRIC: return in / 2 * (1 - (double)a->out / length) + (x + 0.5) / a->scale - 0.5;
	case PYTORCH: return length == 1 ? -0.5 : (x + 0.5) / a->scale - 0.5;
	case ALIGN_CORNERS: return length == 1 ? 0 : x * (in - 1) / (length - 1);
	case ASYMMETRIC: return x / a->scale;
	case TF_NEAREST: return (x + 0.5) / a->scale;
	case TF_CROP:
		if (length == 1)
			return (a->end - a->start) * (in - 1) / 2 + a->start * (in - 1);
		return x * (a->end - a->start) * (in - 1) / (length - 1) + a->start * (in - 1);
	default: return (x + 0.5) / a->scale - 0.5;
	}
}

static double cubic(double x, double a)
{
	x = fabs(x);
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Half the taps of the filter. Antialiasing widens it where the result is shorter than the input. */
static int64_t reach_of(const Resize *r, const ResizeAxis *a)
{
	double narrow = r->antialias && a->scale < 1 ? a->scale : 1;
	return r->filter == NEAREST ? 1 : (int64_t)fmin(ceil((r->filter == LINEAR ? 1 : 2) / narrow), INT32_MAX);
}

/* The weight of a tap at a distance of the source. */
static double weight_of(const Resize *r, const ResizeAxis *a, double distance, double ratio, int64_t tap)
{
	double narrow = r->antialias && a->scale < 1 ? a->scale : 1;
	bool second;
	switch (r->filter) {
	case LINEAR: return fmax(0, 1 - fabs(distance * narrow));
	case CUBIC: return cubic(distance * narrow, r->cubic_a);
	default: break;
	}
	switch (r->nearest) {
	case PREFER_FLOOR: second = ratio > 0.5; break;
	case PREFER_CEIL: second = ratio >= 0.5; break;
	case TO_FLOOR: second = ratio == 1; break;
	case OPSET_10: second = ratio == 1 || a->scale < 1; break;
	default: second = true; break;
	}
	return tap == second;
}

/* A source that is an element has the ratio 1 from the element before: so ONNX counts. */
static void make_taps(const Resize *r, const ResizeAxis *a, Taps *t, unsigned char *inside)
{
	int64_t reach = t->n / 2;
	for (int64_t i = 0; i < a->out; i++) {
		double x = source_of(r, a, i), base = ceil(x) - 1, ratio = x - base, sum = 0;
		inside[i] = r->coordinate != TF_CROP || (x >= 0 && x <= (double)(a->in - 1));
		for (int64_t k = 0; k < t->n; k++) {
			int64_t tap = k - reach + 1;
			double at = fmin(fmax(base + (double)tap, -2), (double)a->in + 1); /* beyond it may not be an integer */
			double w = weight_of(r, a, (double)tap - ratio, ratio, tap);
			if (r->exclude_outside && (at < 0 || at > (double)(a->in - 1)))
				w = 0;
			t->weight[i * t->n + k] = w;
			t->index[i * t->n + k] = (int64_t)fmin(fmax(at, 0), (double)(a->in - 1));
			sum += w;
		}
		for (int64_t k = 0; k < t->n && (r->antialias || r->exclude_outside) && sum != 0; k++)
			t->weight[i * t->n + k] /= sum;
	}
}

/* One axis; *inside: the elements of the result whose source is inside of the region, NULL: all. */
static int resize_axis(Visit *v, int x, int axis, const Resize *r, const ResizeAxis *a, unsigned char **inside)
{
	int64_t reach = reach_of(r, a);
	*inside = NULL;
	if (!node_ok(v))
		return x;
	Taps t;
	bool room = node_taps(v, axis, a->out, 2 * reach, &t);
	unsigned char *in = room ? arena_alloc(v->im->arena, (size_t)a->out + 1) : NULL;
	if (in == NULL)
		return x;
	make_taps(r, a, &t, in);
	for (int64_t i = 0; i < a->out; i++)
		if (!in[i])
			*inside = in;
	return node_resize_axis(v, x, axis, &t);
}

/* Numbers of input k that is not empty, one for each listed axis (`per` of them for each); NULL: none. */
static double *numbers(Visit *v, int k, int n, const char *what)
{
	const Item *it = node_in(v, k);
	if (it == NULL || (it->shape.rank == 1 && it->shape.dim[0] == 0))
		return NULL;
	it = node_known(v, k);
	char text[160];
	if (node_ok(v) && (it->shape.rank != 1 || it->shape.dim[0] != n))
		node_fail(v, ERR_TYPE, "its %s has the shape %s, but %d numbers are needed", what, shape_str(it->shape, text),
			n);
	if (!node_ok(v))
		return NULL;
	double *at = arena_array(v->im->arena, double, n + 1);
	for (int i = 0; i < n; i++)
		at[i] = element_get(it->type, it->data, i);
	return at;
}

static void bad_length(Visit *v, const char *what, double number, int64_t in)
{
	node_fail(v, ERR_INPUT, "its %s %g is %s for a dimension of %lld elements", what, number,
		number > 0 ? "too large" : "not positive", (long long)in);
}

/* Lengths from scales. */
static void set_scales(Visit *v, ResizeAxis *const *a, int n, const double *scale)
{
	for (int k = 0; k < n && node_ok(v); k++) {
		double out = floor(scale[k] * (double)a[k]->in);
		a[k]->scale = scale[k];
		if (!(scale[k] > 0) || !(out < 0x1p40))
			bad_length(v, "scale", scale[k], a[k]->in);
		else
			a[k]->out = (int64_t)out;
	}
}

/* Lengths as given; a policy other than stretch takes one scale for all axes. */
static void set_sizes(Visit *v, ResizeAxis *const *a, int n, const double *size, Policy policy)
{
	double common = policy == NOT_LARGER ? INFINITY : 0;
	for (int k = 0; k < n && node_ok(v); k++) {
		if (!(size[k] >= 0) || !(size[k] < 0x1p40) || (a[k]->in == 0 && size[k] > 0))
			bad_length(v, "size", size[k], a[k]->in);
		a[k]->scale = a[k]->in == 0 ? 1 : size[k] / (double)a[k]->in;
		a[k]->out = node_ok(v) ? (int64_t)size[k] : 0;
		common = policy == NOT_LARGER ? fmin(common, a[k]->scale) : fmax(common, a[k]->scale);
	}
	for (int k = 0; k < n && policy != STRETCH && node_ok(v); k++) {
		double out = floor(common * (double)a[k]->in + 0.5);
		a[k]->scale = common;
		if (!(out < 0x1p40))
			bad_length(v, "scale", common, a[k]->in);
		else
			a[k]->out = (int64_t)out;
	}
}

/* Where an axis left the region, the result is the value outside. */
static int fill_outside(Visit *v, int y, int axis, const unsigned char *inside, double value)
{
	Shape s = { .rank = node_val(v, y)->shape.rank - axis };
	if (inside == NULL)
		return y;
	for (int k = 0; k < s.rank; k++)
		s.dim[k] = k == 0 ? node_val(v, y)->shape.dim[axis] : 1;
	int in[] = { node_const(v, BOOL, s, inside), y, node_number(v, node_val(v, y)->type, value) };
	return node_call(v, OP_where, in, 3, NULL, 0);
}

/* All axes, the last ones first: while the tensor is small where it shrinks, and contiguous. */
static void set_resized(Visit *v, const Resize *r, const ResizeAxis *a)
{
	Shape s = node_need(v, 0)->shape;
	unsigned char *inside[DAG_MAX_RANK] = { 0 };
	for (int k = 0; k < s.rank && node_ok(v); k++)
		s.dim[k] = a[k].out;
	if (node_ok(v) && shape_elements(s) < 0)
		node_fail(v, ERR_MEMORY, "its result has too many elements");
	if (node_ok(v) && shape_elements(s) == 0) { /* nothing is computed */
		Attr attr = attr_ints("shape", s.dim, s.rank);
		int zero = node_number(v, node_need(v, 0)->type, 0);
		node_set(v, 0, node_call(v, OP_expand, &zero, 1, &attr, 1));
		return;
	}
	int y = node_value(v, 0);
	for (int k = s.rank - 1; k >= 0; k--)
		y = resize_axis(v, y, k, r, &a[k], &inside[k]);
	for (int k = 0; k < s.rank && node_ok(v); k++)
		y = fill_outside(v, y, k, inside[k], r->outside);
	if (!node_ok(v))
		return;
	if (y == node_value(v, 0))
		node_set_alias(v, 0, node_need(v, 0));
	else
		node_set(v, 0, y);
}

/* The axes as they are before anything changes; `of` points to the listed ones. */
static int list_axes(Visit *v, ResizeAxis *a, ResizeAxis **of)
{
	const Item *x = node_need(v, 0);
	int n = -1, rank = x->shape.rank;
	const int64_t *axes = v->frame->version >= 18 ? node_attr_ints(v, "axes", &n) : NULL;
	bool on[DAG_MAX_RANK] = { false };
	for (int k = 0; k < rank; k++)
		a[k] = (ResizeAxis){ x->shape.dim[k], x->shape.dim[k], 1, 0, 1 };
	for (int k = 0; k < (n < 0 ? rank : n) && node_ok(v); k++) {
		int axis = n < 0 ? k : node_axis(v, axes[k], rank);
		if (node_ok(v) && on[axis])
			node_fail(v, ERR_TYPE, "axis %d is listed twice", axis);
		on[axis] = true;
		if (node_ok(v))
			of[k] = &a[axis];
	}
	return n < 0 ? rank : n;
}

static void import_resize(Visit *v)
{
	bool first = v->frame->version < 11; /* inputs x and scales, no attribute but the mode */
	ResizeAxis a[DAG_MAX_RANK], *of[DAG_MAX_RANK];
	Resize r = { .coordinate = ASYMMETRIC, .nearest = OPSET_10, .cubic_a = -0.75 };
	r.filter = (FilterMode)word_of(v, "mode", filter_modes, first ? 2 : 3, "nearest");
	int n = list_axes(v, a, of);
	Policy policy = STRETCH;
	if (!first) {
		r.coordinate = (CoordinateMode)word_of(v, "coordinate_transformation_mode", coordinate_modes, 7, "half_pixel");
		r.nearest = (NearestMode)word_of(v, "nearest_mode", nearest_modes, 4, "round_prefer_floor");
		r.cubic_a = node_attr_float(v, "cubic_coeff_a", -0.75);
		r.exclude_outside = node_attr_flag(v, "exclude_outside", false);
		r.outside = node_attr_float(v, "extrapolation_value", 0);
	}
	if (v->frame->version >= 18) {
		policy = (Policy)word_of(v, "keep_aspect_ratio_policy", policies, 3, "stretch");
		r.antialias = node_attr_flag(v, "antialias", false);
	}
	const double *scale = numbers(v, first ? 1 : 2, n, "input of scales");
	const double *size = first ? NULL : numbers(v, 3, n, "input of sizes");
	node_in(v, first ? 0 : 1); /* a region may be given and not used */
	const double *region = r.coordinate == TF_CROP ? numbers(v, 1, 2 * n, "region") : NULL;
	if (node_ok(v) && (scale == NULL) == (size == NULL))
		node_fail(v, ERR_INPUT, "it must have either scales or sizes");
	if (node_ok(v) && r.coordinate == TF_CROP && region == NULL)
		node_fail(v, ERR_INPUT, "tf_crop_and_resize needs a region as its input 2");
	if (!node_ok(v))
		return;
	for (int k = 0; k < n && region != NULL; k++) {
		of[k]->start = region[k];
		of[k]->end = region[n + k];
		if (!isfinite(region[k]) || !isfinite(region[n + k]))
			node_fail(v, ERR_INPUT, "its region %g to %g is not finite", region[k], region[n + k]);
	}
	if (scale != NULL)
		set_scales(v, of, n, scale);
	else
		set_sizes(v, of, n, size, policy);
	set_resized(v, &r, a);
}

/* Scales are an attribute below opset 9, then input 2; one each for height and width in opset 1. */
static void import_upsample(Visit *v)
{
	ResizeAxis a[DAG_MAX_RANK], *of[DAG_MAX_RANK];
	Resize r = { .coordinate = ASYMMETRIC, .nearest = TO_FLOOR, .cubic_a = -0.75 };
	const char *mode = node_attr_text(v, "mode", "nearest");
	int n = list_axes(v, a, of);
	r.filter = strcmp(mode, "bilinear") == 0 ? LINEAR : (FilterMode)word_of(v, "mode", filter_modes, 2, "nearest");
	double *scale = NULL;
	if (v->frame->version >= 9) {
		scale = numbers(v, 1, n, "input of scales");
	} else {
		int count = -1;
		const float *at = v->frame->version >= 7 ? node_attr_floats(v, "scales", &count) : NULL;
		scale = arena_array(v->im->arena, double, DAG_MAX_RANK + 1);
		for (int k = 0; k < n; k++)
			scale[k] = 1;
		if (v->frame->version < 7 && n == 4) {
			scale[2] = node_attr_float(v, "height_scale", 1);
			scale[3] = node_attr_float(v, "width_scale", 1);
		} else if (count != n) {
			node_fail(v, ERR_TYPE, "it has no scale for each of %d dimensions", n);
		} else {
			for (int k = 0; k < n; k++)
				scale[k] = import_number(F32, &at[k]);
		}
	}
	if (node_ok(v) && scale == NULL)
		node_fail(v, ERR_INPUT, "it has no scales");
	if (!node_ok(v))
		return;
	set_scales(v, of, n, scale);
	set_resized(v, &r, a);
}

const NodeRow onnx_resize_rows[] = {
	{ "Resize", 10, "", import_resize },
	{ "Upsample", 1, "", import_upsample },
	{ NULL, 0, NULL, NULL },
};
