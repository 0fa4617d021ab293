/*
 * Rows of detectors. Sizes are known while importing, so the forms of NonMaxSuppression that give as many indices as
 * there are boxes left are refused; those with a place for each box that may be chosen hold 0 where there is none.
 */
#include "frontend/node/boxes.h"
#include "frontend/tensorflow/import.h"
#include "frontend/tensorflow/rows.h"

/* Inputs: boxes, scores, the most that are chosen, the overlap that hides, the least score, and of V5 a sigma. */
void tf_set_suppression(Visit *v, bool least)
{
	bool soft = node_nin(v) > 5;
	int boxes = tf_value(v, 0), scores = tf_value(v, 1);
	Pick p = { .most = tf_int(v, 2), .limit = tf_number(v, 3), .score = tf_number(v, 4), .above = true };
	p.least = least;
	Shape s = node_val(v, boxes)->shape, t = node_val(v, scores)->shape;
	if (node_ok(v) && soft && tf_number(v, 5) != 0)
		node_fail(v, ERR_UNSUPPORTED, "its sigma is not 0: scores that fade are not supported");
	if (node_ok(v) && (s.rank != 2 || s.dim[1] != 4 || t.rank != 1 || t.dim[0] != s.dim[0] || s.dim[0] < 1))
		node_fail(v, ERR_TYPE, "its boxes must be four numbers each, with one score");
	if (!node_ok(v))
		return;
	int64_t n = s.dim[0], zero = 0;
	boxes = node_view(v, node_cast(v, boxes, F32), 3, (int64_t[]){ 1, n, 4 });
	Picked out = node_pick(v, boxes, node_view(v, node_cast(v, scores, F32), 2, (int64_t[]){ 1, n }), &p);
	if (!node_ok(v))
		return;
	int at = node_view(v, node_cast(v, out.at, I32), 1, &out.k), score = node_view(v, out.score, 1, &out.k);
	int given = node_view(v, node_cast(v, out.given, I32), 1, &out.k);
	node_set(v, 0, node_pad_to(v, at, 0, p.most));
	if (soft)
		node_set(v, 1, node_pad_to(v, node_cast(v, score, node_need(v, 1)->type), 0, p.most));
	node_set(v, soft ? 2 : 1, node_reduce(v, OP_reduce_sum, given, &zero, 1, false));
}

static void import_suppression(Visit *v)
{
	if (node_ok(v) && !node_attr_flag(v, "pad_to_max_output_size", false))
		node_fail(v, ERR_UNSUPPORTED,
			"the size of its result depends on data; with pad_to_max_output_size it is max_output_size");
	tf_set_suppression(v, false);
}

/* Inputs: boxes [batch, n, 1 or classes, 4], scores [batch, n, classes], the most of a class, in all, both limits. */
static void import_combined(Visit *v)
{
	int boxes = tf_value(v, 0), scores = tf_value(v, 1);
	Pick p = { .most = tf_int(v, 2), .limit = tf_number(v, 4), .score = tf_number(v, 5), .above = true };
	int64_t total = tf_int(v, 3);
	bool each = node_attr_flag(v, "pad_per_class", false), clip = node_attr_flag(v, "clip_boxes", true);
	Shape s = node_val(v, boxes)->shape, t = node_val(v, scores)->shape;
	if (node_ok(v) && (s.rank != 4 || t.rank != 3 || s.dim[3] != 4 || t.dim[0] != s.dim[0] || t.dim[1] != s.dim[1] ||
						  t.dim[1] < 1 || t.dim[2] < 1 || (s.dim[2] != 1 && s.dim[2] != t.dim[2])))
		node_fail(v, ERR_TYPE, "its boxes and scores do not fit each other");
	if (node_ok(v) && (total < 1 || total > NODE_COUNTED || p.most < 1))
		node_fail(v, ERR_INPUT, "it gives %lld boxes, %lld of a class", (long long)total, (long long)p.most);
	if (!node_ok(v))
		return;
	int64_t batch = t.dim[0], n = t.dim[1], classes = t.dim[2];
	total = each && p.most < total / classes + 1 && p.most * classes < total ? p.most * classes : total;
	boxes = node_transpose(v, node_cast(v, boxes, F32), (int64_t[]){ 0, 2, 1, 3 });
	boxes = node_expand(v, boxes, shape_of(4, (int64_t[]){ batch, classes, n, 4 }));
	boxes = node_view(v, boxes, 3, (int64_t[]){ batch * classes, n, 4 });
	scores = node_transpose(v, node_cast(v, scores, F32), (int64_t[]){ 0, 2, 1 });
	Detected out =
		node_pick_classes(v, boxes, node_view(v, scores, 2, (int64_t[]){ batch * classes, n }), &p, classes, total);
	Attr attr[] = { attr_float("lo", 0), attr_float("hi", 1) };
	node_set(v, 0, clip ? node_call(v, OP_clip, &out.boxes, 1, attr, 2) : out.boxes);
	node_set(v, 1, out.scores);
	node_set(v, 2, out.classes);
	node_set(v, 3, out.count);
}

const NodeRow tf_detect_rows[] = {
	{ "NonMaxSuppressionV4", 0, "", import_suppression },
	{ "NonMaxSuppressionV5", 0, "", import_suppression },
	{ "CombinedNonMaxSuppression", 0, "", import_combined },
	{ NULL, 0, NULL, NULL },
};
