/*
 * Rows of detectors: the non-maximum suppressions, whose overlap of the limit hides, and the custom operator that ends
 * detectors of one shot: boxes from offsets to anchors, then a suppression of all classes together or of each.
 */
#include "frontend/node/boxes.h"
#include "frontend/tensorflow/import.h"
#include "frontend/tflite/rows.h"

static void import_suppression(Visit *v)
{
	tf_set_suppression(v, true);
}

/* ---- TFLite_Detection_PostProcess */

/* Boxes [1, n, 4] of offsets: a centre in parts of the anchor's size, and the logarithm of a size. */
static int decode(Visit *v, int offsets, int anchors)
{
	static const char *const scales[] = { "y_scale", "x_scale", "h_scale", "w_scale" };
	int low[2], high[2], part[4];
	for (int k = 0; k < 4; k++) {
		double scale = node_attr_float(v, scales[k], 0);
		if (node_ok(v) && !(scale > 0))
			node_fail(v, ERR_INPUT, "its %s is %g", scales[k], scale);
		part[k] = node_call2(v, OP_div, node_column(v, offsets, k), node_number(v, F32, scale));
	}
	for (int k = 0; k < 2; k++) {
		int centre = node_column(v, anchors, k), size = node_column(v, anchors, 2 + k);
		centre = node_call2(v, OP_add, node_call2(v, OP_mul, part[k], size), centre);
		int half = node_with_number(v, OP_mul, node_call2(v, OP_mul, node_call1(v, OP_exp, part[2 + k]), size), 0.5);
		low[k] = node_call2(v, OP_sub, centre, half);
		high[k] = node_call2(v, OP_add, centre, half);
	}
	int all[] = { low[0], low[1], high[0], high[1] };
	return node_concat(v, all, 4, 2);
}

/* All classes together: a box has its best score, and gives `each` results, one for each of its best classes. */
static Detected pick_boxes(Visit *v, int boxes, int scores, const Pick *p, int64_t each)
{
	Detected out = { DAG_NONE, DAG_NONE, DAG_NONE, DAG_NONE };
	const Shape s = node_val(v, scores)->shape;
	Attr attr[] = { attr_int("axis", 2), attr_int("k", each) };
	int best = node_call(v, OP_top_k, &scores, 1, attr, 2), class = node_result(v, best, 1);
	int first = node_view(v, node_slice(v, best, 2, 0, 1), 2, (int64_t[]){ 1, s.dim[1] });
	Picked x = node_pick(v, boxes, first, p);
	if (!node_ok(v))
		return out;
	int64_t column[] = { 1, x.k, 1 }, line[] = { 1, x.k * each }, rows[] = { 1, x.k * each, 4 }, one = 1;
	int given = node_view(v, x.given, 3, column), zero = node_number(v, F32, 0);
	boxes = node_where(v, given, node_reorder(v, boxes, x.at), zero);
	boxes = node_expand(v, node_view(v, boxes, 4, (int64_t[]){ 1, x.k, 1, 4 }),
		shape_of(4, (int64_t[]){ 1, x.k, each, 4 }));
	out.boxes = node_pad_to(v, node_view(v, boxes, 3, rows), 1, p->most * each);
	scores = node_where(v, given, node_reorder(v, best, x.at), zero);
	out.scores = node_pad_to(v, node_view(v, scores, 2, line), 1, p->most * each);
	class = node_where(v, given, node_cast(v, node_reorder(v, class, x.at), F32), zero);
	out.classes = node_pad_to(v, node_view(v, class, 2, line), 1, p->most * each);
	out.count = node_reduce(v, OP_reduce_sum, node_cast(v, x.given, I32), &one, 1, false);
	return out;
}

/* Inputs: offsets [1, n, 4 or more], scores [1, n, classes] with or without a first class of background, anchors. */
static void import_detections(Visit *v)
{
	int offsets = tflite_value(v, 0), scores = tflite_value(v, 1), anchors = tflite_value(v, 2);
	int64_t most = node_attr_int(v, "max_detections", 0), each = node_attr_int(v, "max_classes_per_detection", 0);
	int64_t of_class = node_attr_int(v, "detections_per_class", 100), classes = node_attr_int(v, "num_classes", 0);
	bool regular = node_attr_flag(v, "use_regular_nms", false);
	Pick p = { .limit = node_attr_float(v, "nms_iou_threshold", 0),
		.score = node_attr_float(v, "nms_score_threshold", 0),
		.most = regular ? of_class : most };
	Shape s = node_val(v, offsets)->shape, t = node_val(v, scores)->shape, u = node_val(v, anchors)->shape;
	int64_t n = s.rank == 3 ? s.dim[1] : 0;
	if (node_ok(v) && (s.rank != 3 || t.rank != 3 || u.rank != 2 || n < 1 || s.dim[0] != 1 || t.dim[0] != 1 ||
						  s.dim[2] < 4 || t.dim[1] != n || u.dim[0] != n || u.dim[1] != 4))
		node_fail(v, ERR_TYPE, "its offsets, scores and anchors do not fit each other, or its batch is not 1");
	if (node_ok(v) && (classes < 1 || t.dim[2] < classes || t.dim[2] > classes + 1))
		node_fail(v, ERR_INPUT, "its num_classes is %lld, but it has %lld scores of each box", (long long)classes,
			(long long)t.dim[2]);
	if (node_ok(v) && (most < 1 || most > NODE_BOXES || of_class < 1 || each < 1 || each > classes))
		node_fail(v, ERR_UNSUPPORTED, "it gives %lld boxes with %lld classes each, %lld of a class", (long long)most,
			(long long)each, (long long)of_class);
	if (!node_ok(v))
		return;
	scores = node_slice(v, scores, 2, t.dim[2] - classes, classes);
	Detected out;
	int boxes = decode(v, offsets, node_view(v, anchors, 3, (int64_t[]){ 1, n, 4 }));
	if (regular) {
		boxes = node_expand(v, boxes, shape_of(3, (int64_t[]){ classes, n, 4 }));
		scores = node_transpose(v, scores, (int64_t[]){ 0, 2, 1 });
		scores = node_view(v, scores, 2, (int64_t[]){ classes, n });
		out = node_pick_classes(v, boxes, scores, &p, classes, most);
	} else {
		out = pick_boxes(v, boxes, scores, &p, each);
	}
	node_set(v, 0, out.boxes);
	node_set(v, 1, out.classes);
	node_set(v, 2, out.scores);
	node_set(v, 3, node_cast(v, out.count, F32));
}

const NodeRow tflite_detect_rows[] = {
	{ "NON_MAX_SUPPRESSION_V4", 0, "", import_suppression },
	{ "NON_MAX_SUPPRESSION_V5", 0, "", import_suppression },
	{ "TFLite_Detection_PostProcess", 0, "", import_detections },
	{ NULL, 0, NULL, NULL },
};
