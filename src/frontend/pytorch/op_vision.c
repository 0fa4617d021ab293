/* Rows that read images at computed places: grids, and torchvision's regions. */
#include "frontend/node/boxes.h"
#include "frontend/node/channels.h"
#include "frontend/node/deform_conv.h"
#include "frontend/node/grid_sample.h"
#include "frontend/node/roi_align.h"
#include "frontend/node/roi_pool.h"
#include "frontend/pytorch/chosen.h"

#include "op/element.h"

#include <math.h>

enum { MOST_PLACES = 1 << 24 };

static void import_grid_sampler(Aten *n)
{
	static const int taps[] = { 2, 1, 4 };
	int64_t mode = aten_int(n, "interpolation_mode"), padding = aten_int(n, "padding_mode");
	if (node_ok(n->v) && (mode < 0 || mode > 2 || padding < 0 || padding > 2))
		node_fail(n->v, ERR_INPUT, "its modes %lld and %lld are not known", (long long)mode, (long long)padding);
	if (!node_ok(n->v))
		return;
	GridSampling s = { .padding = (GridPadding)padding, .corners = aten_flag(n, "align_corners"), .taps = taps[mode] };
	aten_set(n, node_grid_sample(n->v, aten_value(n, "input"), aten_value(n, "grid"), &s));
}

/* Places of an affine map: the last dimension is the first number. */
static void import_affine_grid(Aten *n)
{
	Visit *v = n->v;
	int64_t size[ATEN_INTS], points = 1, step = 1;
	int theta = aten_value(n, "theta"), rank = aten_ints(n, "size", -1, size) - 2;
	bool corners = aten_flag(n, "align_corners");
	Shape t = node_val(v, theta)->shape;
	DType type = node_val(v, theta)->type;
	if (node_ok(v) && (rank < 2 || rank > 3 || t.rank != 3 || t.dim[1] != rank || t.dim[2] != rank + 1))
		node_fail(v, ERR_TYPE, "its theta does not fit its size of %d numbers", rank + 2);
	for (int k = 0; k < rank && node_ok(v); k++)
		if (size[2 + k] < 1 || size[2 + k] > MOST_PLACES || (points *= size[2 + k]) > MOST_PLACES)
			node_fail(v, ERR_UNSUPPORTED, "its size has no places, or more than %d", MOST_PLACES);
	if (!node_ok(v) || !torch_spend(v, points * (rank + 1)))
		return;
	void *at = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, points * (rank + 1)) + 1);
	for (int k = rank - 1; k >= 0; step *= size[2 + k], k--)
		for (int64_t i = 0; i < points; i++) {
			double m = (double)size[2 + k], p = (double)(i / step % size[2 + k]);
			double place = corners ? (m == 1 ? 0 : 2 * p / (m - 1) - 1) : (2 * p + 1) / m - 1;
			element_set(type, at, i * (rank + 1) + rank - 1 - k, place);
			element_set(type, at, i * (rank + 1) + rank, 1);
		}
	int in[] = { node_const(v, type, shape_of(2, (int64_t[]){ points, rank + 1 }), at), theta };
	Attr turned = attr_int("tb", 1);
	Shape out = { .rank = rank + 2, .dim = { t.dim[0] } };
	for (int k = 0; k < rank; k++)
		out.dim[1 + k] = size[2 + k];
	out.dim[1 + rank] = rank;
	aten_set(n, node_reshape(v, node_call(v, OP_matmul, in, 2, &turned, 1), out));
}

/* Regions are rows of an image's number and four places. */
static void import_roi_align(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "input"), rois = aten_value(n, "rois");
	Shape s = node_val(v, rois)->shape;
	int64_t samples = aten_int(n, "sampling_ratio");
	Regions r = { .height = aten_int(n, "pooled_height"),
		.width = aten_int(n, "pooled_width"),
		.samples = samples > 0 ? samples : 0,
		.scale = aten_float(n, "spatial_scale"),
		.half_pixel = aten_flag(n, "aligned") };
	if (node_ok(v) && (s.rank != 2 || s.dim[1] != 5))
		node_fail(v, ERR_TYPE, "its regions are not rows of 5 numbers");
	if (!node_ok(v))
		return;
	int which = node_cast(v, node_view(v, node_slice(v, rois, 1, 0, 1), 1, s.dim), I64);
	int places = node_slice(v, rois, 1, 1, 4);
	if (node_ok(v))
		aten_set(n, node_roi_align(v, x, node_new_item(v, places), which, &r));
}

/* The second result, places of maxima, is for training. */
static void import_roi_pool(Aten *n)
{
	Visit *v = n->v;
	TorchValue both = torch_list(v->im->arena, TORCH_TUPLE);
	RegionPool p = { .height = aten_int(n, "pooled_height"),
		.width = aten_int(n, "pooled_width"),
		.scale = aten_float(n, "spatial_scale") };
	int x = aten_value(n, "input"), rois = aten_value(n, "rois");
	torch_push(v->im->arena, both.list, torch_of(v, node_roi_pool(v, x, rois, &p)));
	torch_push(v->im->arena, both.list, torch_none());
	aten_give(n, both);
}

/* All places of boxes that stay, best first: a place for each box, and how many there are. */
static void import_nms(Aten *n)
{
	Visit *v = n->v;
	TorchTensor *rows = aten_tensor(n, "dets");
	int boxes = node_cast(v, aten_value(n, "dets"), F32), scores = node_cast(v, aten_value(n, "scores"), F32);
	Shape s = node_val(v, boxes)->shape, t = node_val(v, scores)->shape;
	const TorchChosen *among = torch_chosen(rows);
	int64_t count = s.dim[0], zero = 0;
	Pick p = { .limit = aten_float(n, "iou_threshold"), .score = -(double)INFINITY, .above = true, .most = count };
	if (node_ok(v) && (s.rank != 2 || s.dim[1] != 4 || t.rank != 1 || t.dim[0] != count))
		node_fail(v, ERR_TYPE, "its boxes are not rows of 4 numbers, with a score each");
	if (node_ok(v) && count == 0)
		node_fail(v, ERR_UNSUPPORTED, "it has no boxes");
	if (!node_ok(v))
		return;
	if (among != NULL)
		scores = node_where(
			v, torch_chosen_rows(v, among, count, 1), scores, node_number(v, F32, -(double)INFINITY));
	boxes = node_view(v, boxes, 3, (int64_t[]){ 1, count, 4 });
	Picked out = node_pick(v, boxes, node_view(v, scores, 2, (int64_t[]){ 1, count }), &p);
	if (!node_ok(v))
		return;
	TorchChosen *c = arena_new_of(v->im->arena, TorchChosen);
	int given = node_view(v, node_cast(v, out.given, I64), 1, &count);
	c->count = node_reduce(v, OP_reduce_sum, given, &zero, 1, false);
	aten_set(n, node_view(v, node_cast(v, out.at, I64), 1, &count));
	n->result.tensor->chosen = c;
}

static void import_deform_conv(Aten *n)
{
	Visit *v = n->v;
	static const char *const names[] = { "stride_h", "stride_w", "pad_h", "pad_w", "dilation_h", "dilation_w" };
	int64_t at[6];
	DeformConv c = { .x = aten_value(n, "input"),
		.w = aten_value(n, "weight"),
		.offset = aten_value(n, "offset"),
		.b = aten_value(n, "bias"),
		.mask = aten_value(n, "mask"),
		.groups = aten_int(n, "groups"),
		.moved = aten_int(n, "offset_groups"),
		.windows = { .n = 2 } };
	Shape w = aten_shape(n, "weight");
	for (int k = 0; k < 6; k++) {
		at[k] = aten_int(n, names[k]);
		bool pad = k == 2 || k == 3;
		if (node_ok(v) && (at[k] < (pad ? 0 : 1) || at[k] > INT32_MAX))
			node_fail(v, ERR_INPUT, "its %s is %lld", names[k], (long long)at[k]);
	}
	for (int d = 0; d < 2; d++) {
		c.windows.kernel[d] = w.rank == 4 ? w.dim[2 + d] : 1;
		c.windows.stride[d] = at[d];
		c.windows.pads[d] = c.windows.pads[2 + d] = at[2 + d];
		c.windows.dilation[d] = at[4 + d];
	}
	if (!aten_flag(n, "use_mask"))
		c.mask = DAG_NONE;
	if (node_ok(v))
		aten_set(n, node_deform_conv(v, &c));
}

#define GRID "input:T grid:T interpolation_mode:i padding_mode:i align_corners:b"

const AtenRow torch_vision_rows[] = {
	{ "grid_sampler", GRID, import_grid_sampler, 0 },
	{ "grid_sampler_2d", GRID, import_grid_sampler, 0 },
	{ "grid_sampler_3d", GRID, import_grid_sampler, 0 },
	{ "affine_grid_generator", "theta:T size:I align_corners:b", import_affine_grid, 0 },
	{ "torchvision::roi_align",
		"input:T rois:T spatial_scale:f pooled_height:i pooled_width:i sampling_ratio:i aligned:b=False",
		import_roi_align, 0 },
	{ "torchvision::roi_pool", "input:T rois:T spatial_scale:f pooled_height:i pooled_width:i", import_roi_pool, 0 },
	{ "torchvision::nms", "dets:T scores:T iou_threshold:f", import_nms, 0 },
	{ "torchvision::deform_conv2d",
		"input:T weight:T offset:T mask:T bias:T stride_h:i stride_w:i pad_h:i pad_w:i dilation_h:i dilation_w:i "
		"groups:i "
		"offset_groups:i use_mask:b",
		import_deform_conv, 0 },
	{ NULL, NULL, NULL, 0 },
};
