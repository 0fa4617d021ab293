/* Rows of MIL operators that resample images, the last two dimensions, and that choose boxes. */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/image.h"
#include "frontend/coreml/mil.h"

#include "frontend/node/compose.h"

#include <math.h>
#include <string.h>

static const char *const sampling_modes[] = { "STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "DEFAULT", "OFFSET_CORNERS",
	"UNALIGN_CORNERS", NULL };
static const Grid sampling_grids[] = { GRID_STRICT_CORNERS, GRID_CORNERS, GRID_UPSAMPLE, GRID_ROI, GRID_HALF };
enum { SAMPLING_DEFAULT = 2 };

/* The axis of the height; refused below 3 dimensions. */
static int first_axis(Visit *v, int x)
{
	int rank = node_val(v, x)->shape.rank;
	if (node_ok(v) && rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3 at least", rank);
	return rank - 2;
}

static void set_named(Visit *v, int y, int x)
{
	node_set(v, 0, y == x ? node_call1(v, OP_identity, x) : y);
}

/* The size that a factor gives. */
static int64_t grown(Visit *v, int64_t in, double by)
{
	double out = floor((double)in * by + 1e-4);
	if (node_ok(v) && !(out >= 1 && out < INT32_MAX))
		node_fail(v, ERR_INPUT, "its factor %g is out of range", by);
	return node_ok(v) ? (int64_t)out : 1;
}

static void import_upsample(Visit *v)
{
	static const char *const keys[] = { "scale_factor_height", "scale_factor_width" };
	bool nearest = strcmp(v->node->op, "upsample_nearest_neighbor") == 0, corners = true, half = true;
	int x = mil_need(v, "x"), axis = first_axis(v, x), y = x;
	if (!nearest) {
		corners = mil_flag(v, "align_corners", true);
		half = mil_flag(v, "half_pixel_centers", !corners);
	}
	for (int k = 0; k < 2 && node_ok(v); k++) {
		int64_t out = grown(v, node_val(v, y)->shape.dim[axis + k], mil_float(v, keys[k], 1));
		Grid grid = corners ? GRID_STRICT_CORNERS : half ? GRID_HALF : GRID_UPSAMPLE;
		y = nearest ? coreml_nearest(v, y, axis + k, out, false) : coreml_linear(v, y, axis + k, out, grid);
	}
	if (node_ok(v))
		set_named(v, y, x);
}

static void import_resize_to(Visit *v)
{
	static const char *const keys[] = { "target_size_height", "target_size_width" };
	bool nearest = strcmp(v->node->op, "resize_nearest_neighbor") == 0;
	int x = mil_need(v, "x"), axis = first_axis(v, x), y = x;
	Grid grid = sampling_grids[nearest ? 0 : mil_word(v, "sampling_mode", sampling_modes, SAMPLING_DEFAULT)];
	for (int k = 0; k < 2 && node_ok(v); k++) {
		int64_t out = coreml_size(v, keys[k], mil_int(v, keys[k], 1), 1);
		y = nearest ? coreml_nearest(v, y, axis + k, out, false) : coreml_linear(v, y, axis + k, out, grid);
	}
	if (node_ok(v))
		set_named(v, y, x);
}

/* The last resized_dims numbers of the shape; 0 keeps a dimension. */
static void import_resize(Visit *v)
{
	static const char *const modes[] = { "LINEAR", "NEAREST_NEIGHBOR", NULL };
	int x = mil_need(v, "x"), rank = node_val(v, x)->shape.rank, y = x, n;
	const int64_t *shape = mil_ints(v, "shape", &n);
	int64_t many = mil_int(v, "resized_dims", 0);
	bool nearest = mil_word(v, "interpolation_mode", modes, 0) == 1;
	int mode = mil_word(v, "sampling_mode", sampling_modes, SAMPLING_DEFAULT);
	if (node_ok(v) && (many < 0 || many > n || many > rank))
		node_fail(v, ERR_TYPE, "it resizes %lld dimensions of %d", (long long)many, rank);
	if (node_ok(v) && nearest && mode != SAMPLING_DEFAULT && mode != 4)
		node_fail(v, ERR_UNSUPPORTED, "its sampling_mode of nearest elements is '%s', which is not supported",
			sampling_modes[mode]);
	for (int64_t k = 0; k < many && node_ok(v); k++) {
		int axis = (int)(rank - many + k);
		int64_t to = shape[n - many + k],
				out = to == 0 ? node_val(v, y)->shape.dim[axis] : coreml_size(v, "shape", to, 1);
		y = nearest ? coreml_nearest(v, y, axis, out, mode == 4) : coreml_linear(v, y, axis, out, sampling_grids[mode]);
	}
	if (node_ok(v))
		set_named(v, y, x);
}

/* Boxes [N,4] with their images, or [N,1,4,1,1] and [N,1,5,1,1] before iOS 17. iOS 16 and later pad the image. */
static void import_crop_resize(Visit *v)
{
	static const char *const orders[] = { "CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST", "CENTER_SIZE_HEIGHT_FIRST",
		"CENTER_SIZE_WIDTH_FIRST", NULL };
	CoremlCropping c = { .normalised = mil_flag(v, "normalized_coordinates", false),
		.grid = sampling_grids[mil_word(v, "sampling_mode", sampling_modes, SAMPLING_DEFAULT)],
		.order = (BoxOrder)mil_word(v, "box_coordinate_mode", orders, 0),
		.scale = mil_float(v, "spatial_scale", 1),
		.padded = v->im->model->version >= 6,
		.size = { mil_int(v, "target_height", 1), mil_int(v, "target_width", 1) } };
	int x = mil_need(v, "x"), which = DAG_NONE, boxes;
	Shape s = node_val(v, x)->shape;
	bool old = mil_has(v, "roi");
	boxes = node_cast(v, mil_need(v, old ? "roi" : "boxes"), F32);
	Shape of = node_val(v, boxes)->shape;
	if (mil_float(v, "pad_value", 0) != 0)
		node_fail(v, ERR_UNSUPPORTED, "it pads images with other numbers than 0");
	if (node_ok(v) &&
		(s.rank != 4 || of.rank != (old ? 5 : 2) || (of.dim[old ? 2 : 1] != 4 && (!old || of.dim[2] != 5))))
		node_fail(v, ERR_TYPE, "its image must have 4 dimensions, and its boxes 4 numbers each");
	if (node_ok(v) && c.grid == GRID_HALF)
		node_fail(v, ERR_UNSUPPORTED, "its sampling_mode is UNALIGN_CORNERS, which is not supported");
	if (!node_ok(v))
		return;
	int64_t many = of.dim[0], numbers = of.dim[old ? 2 : 1];
	boxes = node_view(v, boxes, 2, (int64_t[]){ many, numbers });
	if (numbers == 5) {
		which = node_cast(v, node_view(v, node_slice(v, boxes, 1, 0, 1), 1, &many), I64);
		boxes = node_slice(v, boxes, 1, 1, 4);
	} else if (mil_has(v, "box_indices")) {
		which = node_cast(v, mil_value(v, "box_indices"), I64);
	} else if (old && s.dim[0] != 1) {
		node_fail(v, ERR_UNSUPPORTED, "its boxes are of %lld images each; number them", (long long)s.dim[0]);
	} else if (!old) {
		which = node_count(v, many, 0, 1);
	}
	DType t = node_val(v, x)->type;
	x = node_cast(v, x, F32);
	x = which != DAG_NONE ? coreml_gather(v, x, which, 0, 0)
	                      : node_expand(v, x, shape_of(4, (int64_t[]){ many, s.dim[1], s.dim[2], s.dim[3] }));
	int y = node_cast(v, coreml_crop(v, x, boxes, &c), t);
	node_set(v, 0, old ? node_view(v, y, 5, (int64_t[]){ many, 1, s.dim[1], c.size[0], c.size[1] }) : y);
}

/* From iOS 17 on boxes are the last dimension, have no least score, and are not counted. */
static void import_suppression(Visit *v)
{
	static const int64_t turn[] = { 0, 2, 1 };
	bool old = v->im->model->version < 7;
	CoremlSuppression s = { .limit = mil_float(v, "iou_threshold", 0),
		.score = old ? mil_float(v, "score_threshold", 0) : -INFINITY,
		.most = mil_int(v, "max_boxes", 0),
		.by_class = mil_flag(v, "per_class_suppression", false) };
	int boxes = mil_need(v, "boxes"), scores = mil_need(v, "scores"), out[4];
	if (node_ok(v) && !old && (node_val(v, boxes)->shape.rank != 3 || node_val(v, scores)->shape.rank != 3))
		node_fail(v, ERR_TYPE, "its boxes and its scores must have 3 dimensions");
	if (!node_ok(v))
		return;
	if (!old) {
		boxes = node_transpose(v, boxes, turn);
		scores = node_transpose(v, scores, turn);
	}
	coreml_suppress(v, boxes, scores, &s, out);
	for (int k = 0; k < (old ? 4 : 3); k++)
		if (node_used(v, k))
			node_set(v, k, !old && k < 2 ? node_transpose(v, out[k], turn) : out[k]);
}

const NodeRow mil_image_rows[] = {
	{ "upsample_nearest_neighbor", 0, "", import_upsample },
	{ "upsample_bilinear", 0, "", import_upsample },
	{ "resize_nearest_neighbor", 0, "", import_resize_to },
	{ "resize_bilinear", 0, "", import_resize_to },
	{ "resize", 7, "", import_resize },
	{ "crop_resize", 0, "", import_crop_resize },
	{ "non_maximum_suppression", 0, "", import_suppression },
	{ NULL, 0, NULL, NULL },
};
