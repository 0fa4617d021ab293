/*
 * Rows that read an image at computed places: AffineGrid makes the places, GridSample reads there
 * (frontend/node/grid_sample.h), RoiAlign and MaxRoiPool read regions, Col2Im adds up what overlaps (fold).
 */
#include "frontend/node/compose.h"
#include "frontend/node/grid_sample.h"
#include "frontend/node/roi_align.h"
#include "frontend/node/roi_pool.h"
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

enum { SPATIAL = 3, MOST_SAMPLED = 1 << 24 /* indices that are constants */ };

/* ---- places of an affine map */

static void import_affine_grid(Visit *v)
{
	const Item *theta = node_need(v, 0);
	int n, rank;
	node_need(v, 1);
	const int64_t *size = node_ints(v, 1, &n);
	bool corners = node_attr_flag(v, "align_corners", false);
	DType type = theta->type;
	rank = n - 2;
	bool fits = (n == 4 || n == 5) && theta->shape.rank == 3 && theta->shape.dim[1] == rank &&
		theta->shape.dim[2] == rank + 1 && theta->shape.dim[0] == size[0];
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its theta does not fit its size of %d numbers", n);
	if (!node_ok(v))
		return;
	int64_t points = 1, step = 1, dim[] = { 0, rank + 1 };
	for (int k = 0; k < rank; k++) {
		if (size[2 + k] < 0 || size[2 + k] > MOST_SAMPLED || (points *= size[2 + k]) > MOST_SAMPLED) {
			node_fail(v, ERR_UNSUPPORTED, "its size has more than %d places", MOST_SAMPLED);
			return;
		}
	}
	dim[0] = points;
	void *at = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, points * (rank + 1)) + 1);
	for (int k = rank - 1; k >= 0; step *= size[2 + k], k--) /* the last dimension is x, the first number */
		for (int64_t i = 0; i < points; i++) {
			double m = (double)size[2 + k], p = (double)(i / step % size[2 + k]);
			double place = corners ? (m == 1 ? 0 : 2 * p / (m - 1) - 1) : (2 * p + 1) / m - 1;
			element_set(type, at, i * (rank + 1) + rank - 1 - k, place);
			element_set(type, at, i * (rank + 1) + rank, 1);
		}
	int in[] = { node_const(v, type, shape_of(2, dim), at), node_value(v, 0) };
	Attr attr = attr_int("tb", 1);
	int64_t out[DAG_MAX_RANK] = { size[0] };
	for (int k = 0; k < rank; k++)
		out[1 + k] = size[2 + k];
	out[1 + rank] = rank;
	node_set(v, 0, node_reshape(v, node_call(v, OP_matmul, in, 2, &attr, 1), shape_of(rank + 2, out)));
}

/* ---- reading at places of a grid */

/* The node's mode by either name that ONNX gave it. */
static int taps_of(Visit *v)
{
	const char *mode = node_attr_text(v, "mode", "linear");
	if (strcmp(mode, "nearest") == 0)
		return 1;
	if (strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0)
		return 2;
	if (strcmp(mode, "cubic") != 0 && strcmp(mode, "bicubic") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its mode '%.60s' is not nearest, linear or cubic", mode);
	return 4;
}

static GridPadding padding_of(Visit *v)
{
	const char *name = node_attr_text(v, "padding_mode", "zeros");
	if (strcmp(name, "zeros") != 0 && strcmp(name, "border") != 0 && strcmp(name, "reflection") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its padding_mode '%.60s' is not zeros, border or reflection", name);
	return name[0] == 'z' ? GRID_ZEROS : name[0] == 'b' ? GRID_BORDER : GRID_REFLECTION;
}

static void import_grid_sample(Visit *v)
{
	GridSampling s = {
		.padding = padding_of(v), .corners = node_attr_flag(v, "align_corners", false), .taps = taps_of(v)
	};
	node_need(v, 0);
	node_need(v, 1);
	node_set(v, 0, node_grid_sample(v, node_value(v, 0), node_value(v, 1), &s));
}

/* ---- regions */

static void import_roi_align(Visit *v)
{
	const Item *x = node_need(v, 0), *which = node_need(v, 2);
	bool newer = v->frame->version >= 16;
	const char *place = newer ? node_attr_text(v, "coordinate_transformation_mode", "half_pixel") : "output_half_pixel";
	const char *mode = node_attr_text(v, "mode", "avg");
	Regions r = { .height = node_attr_int(v, "output_height", 1),
		.width = node_attr_int(v, "output_width", 1),
		.samples = node_attr_int(v, "sampling_ratio", 0),
		.scale = node_attr_size(v, "spatial_scale", 1),
		.max = strcmp(mode, "max") == 0,
		.half_pixel = strcmp(place, "half_pixel") == 0 };
	bool known = (r.max || strcmp(mode, "avg") == 0) && (r.half_pixel || strcmp(place, "output_half_pixel") == 0);
	node_need(v, 1);
	if (x->shape.rank > 0)
		node_check_range(v, 2, 0, x->shape.dim[0] - 1);
	if (node_ok(v) && !known)
		node_fail(v, ERR_UNSUPPORTED, "dlc does not know both its mode '%.60s' and its places '%.60s'", mode, place);
	if (node_ok(v) && !dtype_is_float(which->type) && which->shape.rank == 1)
		node_set(v, 0, node_roi_align(v, node_value(v, 0), node_item(v, 1), node_value(v, 2), &r));
	else if (node_ok(v))
		node_fail(v, ERR_TYPE, "its places of images are not a list of integers");
}

static void import_max_roi_pool(Visit *v)
{
	int n;
	const int64_t *size = node_attr_ints(v, "pooled_shape", &n);
	RegionPool p = { .scale = node_attr_size(v, "spatial_scale", 1) };
	node_need(v, 0);
	node_need(v, 1);
	if (node_ok(v) && n != 2)
		node_fail(v, ERR_INPUT, "its attribute pooled_shape does not hold two numbers");
	if (!node_ok(v))
		return;
	p.height = size[0];
	p.width = size[1];
	node_set(v, 0, node_roi_pool(v, node_value(v, 0), node_value(v, 1), &p));
}

/* ---- what overlaps is added */

typedef struct Fold {
	int rank;
	int64_t dilation[SPATIAL], stride[SPATIAL], pad[2 * SPATIAL], count[SPATIAL];
} Fold;

/* n numbers of an attribute, at least `least`; without it all are `otherwise`. */
static void read_each(Visit *v, const char *name, int n, int64_t otherwise, int64_t least, int64_t *out)
{
	int have;
	const int64_t *at = node_attr_ints(v, name, &have);
	if (node_ok(v) && have >= 0 && have != n)
		node_fail(v, ERR_TYPE, "its attribute %s has %d numbers, but %d are needed", name, have, n);
	for (int k = 0; k < n && node_ok(v); k++) {
		out[k] = have < 0 ? otherwise : at[k];
		if (out[k] < least || out[k] > 1 << 20)
			node_fail(v, ERR_INPUT, "its attribute %s holds %lld", name, (long long)out[k]);
	}
}

static void import_col2im(Visit *v)
{
	const Item *x = node_need(v, 0);
	Fold f = { 0 };
	int nblock;
	const int64_t *image = node_ints(v, 1, &f.rank), *block = node_ints(v, 2, &nblock);
	if (node_ok(v) && (f.rank < 1 || f.rank > SPATIAL || nblock != f.rank || x->shape.rank != 3))
		node_fail(v, ERR_TYPE, "its image_shape and block_shape must have 1 to 3 numbers, and its input 3 dimensions");
	if (!node_ok(v))
		return;
	read_each(v, "dilations", f.rank, 1, 1, f.dilation);
	read_each(v, "strides", f.rank, 1, 1, f.stride);
	read_each(v, "pads", 2 * f.rank, 0, 0, f.pad);
	int64_t taps = 1, blocks = 1;
	for (int k = 0; k < f.rank && node_ok(v); k++) {
		if (image[k] < 1 || image[k] > 1 << 20 || block[k] < 1 || block[k] > 1 << 20) {
			node_fail(v, ERR_INPUT, "no block of %lld fits an image of %lld", (long long)block[k], (long long)image[k]);
			return;
		}
		int64_t room = image[k] + f.pad[k] + f.pad[f.rank + k] - f.dilation[k] * (block[k] - 1) - 1;
		f.count[k] = room < 0 ? 0 : room / f.stride[k] + 1;
		taps *= block[k];
		blocks = blocks > (int64_t)1 << 40 ? blocks : blocks * f.count[k]; /* more than a dimension has */
	}
	if (node_ok(v) && (x->shape.dim[1] % taps != 0 || x->shape.dim[2] != blocks))
		node_fail(v, ERR_TYPE, "its input of %lld and %lld does not hold blocks of %lld, %lld times",
			(long long)x->shape.dim[1], (long long)x->shape.dim[2], (long long)taps, (long long)blocks);
	if (!node_ok(v))
		return;
	Shape windows = { .rank = 2 + 2 * f.rank, .dim = { x->shape.dim[0], x->shape.dim[1] / taps } };
	for (int k = 0; k < f.rank; k++) {
		windows.dim[2 + k] = block[k];
		windows.dim[2 + f.rank + k] = f.count[k];
	}
	bool apart = true; /* windows side by side cover the image: nothing is added */
	int64_t turn[2 + 2 * SPATIAL] = { 0, 1 };
	Shape out = { .rank = 2 + f.rank, .dim = { windows.dim[0], windows.dim[1] } };
	for (int k = 0; k < f.rank; k++) {
		apart &= f.stride[k] == block[k] && (f.dilation[k] == 1 || block[k] == 1) && f.pad[k] == 0 &&
			f.count[k] * block[k] == image[k];
		turn[2 + 2 * k] = 2 + f.rank + k;
		turn[3 + 2 * k] = 2 + k;
		out.dim[2 + k] = image[k];
	}
	if (apart) {
		Attr perm = attr_ints("perm", turn, windows.rank);
		int x_in = node_reshape(v, node_value(v, 0), windows);
		node_set(v, 0, node_reshape(v, node_call(v, OP_transpose, &x_in, 1, &perm, 1), out));
		return;
	}
	Attr attr[] = { attr_ints("size", image, f.rank), attr_ints("strides", f.stride, f.rank),
		attr_ints("pads", f.pad, 2 * f.rank), attr_ints("dilations", f.dilation, f.rank) };
	int in = node_reshape(v, node_value(v, 0), windows);
	node_set(v, 0, node_call(v, OP_fold, &in, 1, attr, 4));
}

const NodeRow onnx_sample_rows[] = {
	{ "AffineGrid", 20, "", import_affine_grid },
	{ "GridSample", 16, "", import_grid_sample },
	{ "RoiAlign", 10, "", import_roi_align },
	{ "MaxRoiPool", 1, "", import_max_roi_pool },
	{ "Col2Im", 18, "", import_col2im },
	{ NULL, 0, NULL, NULL },
};
