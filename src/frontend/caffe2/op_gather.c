/* Rows of Caffe2 that read elements at places, and regions of an image. */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"
#include "frontend/node/roi_align.h"

static void set_gather(Visit *v, int axis)
{
	int in[] = { caffe2_value(v, 0), caffe2_value(v, 1) };
	Attr attr = attr_int("axis", axis);
	node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
}

static void import_gather(Visit *v)
{
	int axis = caffe2_axis(v, "axis", 0, node_need(v, 0)->shape.rank);
	node_attr_flag(v, "wrap_indices", false); /* negative places count from the end in any case */
	set_gather(v, axis);
}

/* Along axis 1, the same places in each row. */
static void import_batch_gather(Visit *v)
{
	if (node_need(v, 0)->shape.rank < 2 && node_ok(v))
		node_fail(v, ERR_TYPE, "its input has no second dimension");
	set_gather(v, 1);
}

/* Places [n] of a number that is known -> [n, size], 1 at each place. */
static void import_one_hot(Visit *v)
{
	int x = caffe2_value(v, 0), n;
	const int64_t *size = node_ints(v, 1, &n);
	if (node_ok(v) && (n != 1 || size[0] < 0 || node_val(v, x)->shape.rank != 1))
		node_fail(v, ERR_TYPE, "its places must be a list, and its size one number");
	if (!node_ok(v))
		return;
	int at = node_view(v, x, 2, (int64_t[]){ node_val(v, x)->shape.dim[0], 1 });
	node_set(v, 0, node_call2(v, OP_equal, at, node_cast(v, node_count(v, size[0], 1, 2), node_val(v, x)->type)));
}

/* Regions [n,4], or [n,5] with the number of the image in front. */
static void import_roi_align(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last), rois = caffe2_value(v, 1), which;
	int64_t samples = node_attr_int(v, "sampling_ratio", -1);
	Shape s = node_val(v, rois)->shape;
	Regions r = { .height = caffe2_count(v, "pooled_h", 1, 1),
		.width = caffe2_count(v, "pooled_w", 1, 1),
		.samples = samples < 0 ? 0 : samples,
		.scale = node_attr_size(v, "spatial_scale", 1),
		.half_pixel = node_attr_flag(v, "aligned", false) };
	if (node_ok(v) && (s.rank != 2 || (s.dim[1] != 4 && s.dim[1] != 5)))
		node_fail(v, ERR_TYPE, "its regions must have 4 numbers, or 5");
	if (!node_ok(v))
		return;
	if (s.dim[1] == 5)
		which = node_cast(v, node_view(v, node_slice(v, rois, 1, 0, 1), 1, s.dim), I64);
	else
		which = node_expand(v, node_number(v, I64, 0), shape_of(1, s.dim));
	rois = node_slice(v, rois, 1, s.dim[1] - 4, 4);
	int y = node_roi_align(v, x, node_ok(v) ? node_new_item(v, rois) : NULL, which, &r);
	node_set(v, 0, caffe2_in_order(v, y, last));
}

const NodeRow caffe2_gather_rows[] = {
	{ "Gather", 0, "", import_gather },
	{ "BatchGather", 0, "", import_batch_gather },
	{ "OneHot", 0, "", import_one_hot },
	{ "RoIAlign", 0, "", import_roi_align },
	{ NULL, 0, NULL, NULL },
};
