/*
 * Rows of detectors: anchors, boxes from offsets, non-maximum suppression. Boxes are ordered by their scores, a matrix
 * says which ones hide which, and the Dag's suppress walks through it. Results have a place for each box; those that
 * are hidden or not valid are -1 there.
 */
#include "frontend/mxnet/rows.h"
#include "frontend/node/boxes.h"
#include "frontend/node/proposals.h"
#include "frontend/node/roi_align.h"
#include "frontend/node/roi_pool.h"

#include <math.h>
#include <string.h>

enum { MOST_BOXES = 1 << 14, MOST_ANCHORS = 1 << 22 };

/* ---- anchors */

static void import_prior(Visit *v)
{
	const Item *it = node_need(v, 0);
	int nsize, nratio, nstep, noffset;
	const float *size = node_attr_floats(v, "sizes", &nsize), *ratio = node_attr_floats(v, "ratios", &nratio);
	const float *step = node_attr_floats(v, "steps", &nstep), *offset = node_attr_floats(v, "offsets", &noffset);
	static const float one[] = { 1, 1 }, half[] = { 0.5f, 0.5f };
	bool clip = node_attr_flag(v, "clip", false);
	size = nsize > 0 ? size : one;
	ratio = nratio > 0 ? ratio : one;
	nsize = nsize > 0 ? nsize : 1;
	nratio = nratio > 0 ? nratio : 1;
	if (node_ok(v) && (it->shape.rank != 4 || (nstep > 0 && nstep != 2) || (noffset > 0 && noffset != 2)))
		node_fail(v, ERR_TYPE, "its input must have 4 dimensions, and its steps and offsets two numbers");
	if (!node_ok(v))
		return;
	int64_t h = it->shape.dim[2], w = it->shape.dim[3], each = nsize + nratio - 1;
	if (h < 1 || w < 1 || h > MOST_ANCHORS / each || w > MOST_ANCHORS / each / h) {
		node_fail(v, ERR_UNSUPPORTED, "its anchors, %d for each of %lldx%lld places, are out of range", (int)each,
			(long long)h, (long long)w);
		return;
	}
	int64_t all = h * w * each;
	offset = noffset == 2 ? offset : half;
	float dy = nstep == 2 && step[0] > 0 ? step[0] : 1 / (float)h,
		  dx = nstep == 2 && step[1] > 0 ? step[1] : 1 / (float)w;
	float *to = arena_array(v->im->arena, float, all * 4 + 1), *at = to;
	for (int64_t p = 0; p < h * w; p++)
		for (int64_t k = 0; k < each; k++, at += 4) {
			float y = ((float)(p / w) + offset[0]) * dy, x = ((float)(p % w) + offset[1]) * dx;
			float s = size[k < nsize ? k : 0], r = sqrtf(ratio[k < nsize ? 0 : k - nsize + 1]);
			float half_w = s * (float)h / (float)w * r / 2, half_h = s / r / 2;
			float box[] = { x - half_w, y - half_h, x + half_w, y + half_h };
			for (int i = 0; i < 4; i++)
				at[i] = clip ? fminf(fmaxf(box[i], 0), 1) : box[i];
		}
	node_set_known(v, 0, F32, shape_of(3, (int64_t[]){ 1, all, 4 }), to);
}

/* ---- boxes */

static int with(Visit *v, int op, int x, double number)
{
	return node_with_number(v, op, x, number);
}

/* Rows behind those of x [batch, k, width] up to n, all -1. */
static int fill_up(Visit *v, int x, int64_t n)
{
	const Shape s = node_val(v, x)->shape;
	int64_t pads[6] = { 0, 0, 0, 0, n - s.dim[1], 0 };
	Attr attr[] = { attr_ints("pads", pads, 6), attr_float("value", -1) };
	return n == s.dim[1] ? x : node_call(v, OP_pad, &x, 1, attr, 2);
}

static bool too_many(Visit *v, int64_t n)
{
	if (node_ok(v) && n > MOST_BOXES)
		node_fail(v, ERR_UNSUPPORTED,
			"%lld boxes are too many to be compared with each other: set its topk to %d or less", (long long)n,
			MOST_BOXES);
	return !node_ok(v);
}

/* Boxes [batch, n, 4] from offsets [batch, 4 n] and anchors [1, n, 4]. */
static int decode(Visit *v, int offsets, int anchors, const double *variance, bool clip)
{
	const int64_t n = node_val(v, anchors)->shape.dim[1];
	int64_t batch = node_val(v, offsets)->shape.dim[0];
	int by = node_view(v, offsets, 3, (int64_t[]){ batch, n, 4 }), side[4];
	Corners a = node_corners(v, anchors, false);
	for (int k = 0; k < 2; k++) {
		int size = node_call2(v, OP_sub, a.at[2 + k], a.at[k]);
		int middle = with(v, OP_mul, node_call2(v, OP_add, a.at[k], a.at[2 + k]), 0.5);
		int shift = node_call2(v, OP_mul, with(v, OP_mul, node_column(v, by, k), variance[k]), size);
		int grow = node_call1(v, OP_exp, with(v, OP_mul, node_column(v, by, 2 + k), variance[2 + k]));
		int half = with(v, OP_mul, node_call2(v, OP_mul, grow, size), 0.5);
		middle = node_call2(v, OP_add, middle, shift);
		side[k] = node_call2(v, OP_sub, middle, half);
		side[2 + k] = node_call2(v, OP_add, middle, half);
	}
	int boxes = node_concat(v, side, 4, 2);
	Attr to[] = { attr_float("lo", 0), attr_float("hi", 1) };
	return clip ? node_call(v, OP_clip, &boxes, 1, to, 2) : boxes;
}

/*
 * Columns id, score, left, top, right, bottom, by score. The id of what is hidden is -1; what is not valid, or left out
 * by nms_topk, is -1 in all columns.
 */
static void import_detection(Visit *v)
{
	const Item *p = node_need(v, 0), *offsets = node_need(v, 1), *anchors = node_need(v, 2);
	int count;
	double variance[] = { 0.1, 0.1, 0.2, 0.2 };
	const float *given = node_attr_floats(v, "variances", &count);
	bool clip = node_attr_flag(v, "clip", true), all = node_attr_flag(v, "force_suppress", false);
	double least = node_attr_float(v, "threshold", 0.01), limit = node_attr_float(v, "nms_threshold", 0.5);
	int64_t most = node_attr_int(v, "nms_topk", -1), background = node_attr_int(v, "background_id", 0);
	for (int k = 0; k < 4 && count == 4; k++)
		variance[k] = import_number(F32, &given[k]);
	const int64_t *d = p->shape.dim, n = d[2];
	bool fits = p->shape.rank == 3 && d[1] > 1 && anchors->shape.rank == 3 && anchors->shape.dim[0] == 1 &&
	            anchors->shape.dim[1] == n && anchors->shape.dim[2] == 4 && offsets->shape.rank == 2 &&
	            offsets->shape.dim[0] == d[0] && offsets->shape.dim[1] == 4 * n;
	if (node_ok(v) && (!fits || n < 1))
		node_fail(v, ERR_TYPE,
			"its probabilities, offsets and anchors do not have the shapes [batch, classes, n], [batch, "
			"4 n] and [1, n, 4]");
	if (node_ok(v) && background != 0)
		node_fail(v, ERR_UNSUPPORTED, "its background_id is %lld, but only 0 is supported", (long long)background);
	bool suppresses = limit > 0 && limit <= 1;
	int64_t k = suppresses && most > 0 && most < n ? most : n;
	if (!node_ok(v) || (suppresses && too_many(v, k)))
		return;
	int classes = node_slice(v, node_value(v, 0), 1, 1, d[1] - 1);
	Attr attr[] = { attr_ints("axes", (int64_t[]){ 1 }, 1), attr_int("keep", 0) },
		 place[] = { attr_int("axis", 1), attr_int("keep", 0) };
	int score = node_call(v, OP_reduce_max, &classes, 1, attr, 2);
	int id = node_cast(v, node_call(v, OP_arg_max, &classes, 1, place, 2), F32);
	int valid = node_call2(v, OP_less_equal, node_number(v, F32, least), score);
	int keys = suppresses ? node_where(v, valid, score, node_number(v, F32, -INFINITY)) : node_cast(v, valid, F32);
	int64_t each[] = { d[0], n, 1 };
	int columns[] = { node_view(v, id, 3, each), node_view(v, score, 3, each),
		decode(v, node_value(v, 1), node_value(v, 2), variance, clip),
		node_cast(v, node_view(v, valid, 3, each), F32) };
	int rows = node_reorder(v, node_concat(v, columns, 4, 2), node_order_of(v, keys, k));
	int there = with(v, OP_less, node_call1(v, OP_neg, node_column(v, rows, 6)), -0.5), minus = node_number(v, F32, -1);
	int first = node_column(v, rows, 0), box = node_slice(v, rows, 2, 2, 4);
	if (suppresses) {
		Suppression s = { .limit = limit, .least = true, .all = all, .id = first, .valid = there };
		Corners c = node_corners(v, box, false);
		first = node_where(v, node_suppress(v, &s, &c), first, minus);
	}
	int out[] = { first, node_slice(v, rows, 2, 1, 5) };
	node_set(v, 0, fill_up(v, node_where(v, there, node_concat(v, out, 2, 2), minus), n));
}

static bool is_corner(Visit *v, const char *name)
{
	const char *text = node_attr_text(v, name, "corner");
	if (node_ok(v) && strcmp(text, "corner") != 0 && strcmp(text, "center") != 0 && strcmp(text, "0") != 0 &&
		strcmp(text, "1") != 0)
		node_fail(v, ERR_INPUT, "its attribute %s is '%.20s', not corner or center", name, text);
	return strcmp(text, "corner") == 0 || strcmp(text, "0") == 0;
}

/* Boxes that stay come first, by score; all others are -1. */
static void import_box_nms(Visit *v)
{
	const Item *it = node_need(v, 0);
	double limit = node_attr_float(v, "overlap_thresh", 0.5), least = node_attr_float(v, "valid_thresh", 0);
	int64_t most = node_attr_int(v, "topk", -1), first = node_attr_int(v, "coord_start", 2);
	int64_t score = node_attr_int(v, "score_index", 1), id = node_attr_int(v, "id_index", -1);
	int64_t background = node_attr_int(v, "background_id", -1);
	bool all = node_attr_flag(v, "force_suppress", false), in = is_corner(v, "in_format"),
		 out = is_corner(v, "out_format");
	int rank = it->shape.rank;
	int64_t n = rank > 1 ? it->shape.dim[rank - 2] : 0, width = rank > 1 ? it->shape.dim[rank - 1] : 0;
	bool fits = rank >= 2 && first >= 0 && first <= width - 4 && score >= 0 && score < width && id < width && n > 0;
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its input does not hold boxes with a score");
	int64_t k = most > 0 && most < n ? most : n;
	if (!node_ok(v) || too_many(v, k))
		return;
	int64_t batch = shape_product(&it->shape, 0, rank - 2), flat[] = { batch, n };
	int x = node_view(v, node_value(v, 0), 3, (int64_t[]){ batch, n, width }), minus = node_number(v, F32, -1);
	int value = node_column(v, x, score), valid = node_call2(v, OP_less, node_number(v, F32, least), value);
	if (id >= 0 && background >= 0) {
		int here = with(v, OP_equal, node_column(v, x, id), (double)background);
		valid = node_call2(v, OP_bit_and, valid, node_call1(v, OP_bit_not, here));
	}
	int keys = node_view(v, node_where(v, valid, value, node_number(v, F32, -INFINITY)), 2, flat),
		places = node_order_of(v, keys, k);
	int rows = node_reorder(v, x, places), there = node_reorder(v, node_cast(v, valid, F32), places);
	Suppression s = { .limit = limit,
		.all = all,
		.id = id >= 0 ? node_column(v, rows, id) : DAG_NONE,
		.valid = with(v, OP_equal, there, 1) };
	Corners c = node_corners(v, node_slice(v, rows, 2, first, 4), !in);
	int stay = node_suppress(v, &s, &c);
	int again = node_order_of(v, node_view(v, node_cast(v, stay, F32), 2, (int64_t[]){ batch, k }), k);
	if (in != out) { /* the other form of boxes */
		int part[6], np = 0;
		if (first > 0)
			part[np++] = node_slice(v, rows, 2, 0, first);
		for (int i = 0; i < 4; i++) {
			int a = c.at[i % 2], b = c.at[2 + i % 2];
			int centre = i < 2 ? with(v, OP_mul, node_call2(v, OP_add, a, b), 0.5) : node_call2(v, OP_sub, b, a);
			part[np++] = out ? c.at[i] : centre;
		}
		if (first + 4 < width)
			part[np++] = node_slice(v, rows, 2, first + 4, width - first - 4);
		rows = node_concat(v, part, np, 2);
	}
	rows = node_reorder(v, node_where(v, stay, rows, minus), again);
	node_set(v, 0, node_reshape(v, fill_up(v, rows, n), it->shape));
}

/* Overlaps of each box of the first input with each of the second. */
static void import_box_iou(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1);
	bool corner = is_corner(v, "format");
	int ra = a->shape.rank, rb = b->shape.rank;
	if (node_ok(v) &&
		(ra < 1 || rb < 1 || a->shape.dim[ra - 1] != 4 || b->shape.dim[rb - 1] != 4 || ra + rb - 2 > DAG_MAX_RANK))
		node_fail(v, ERR_TYPE, "its inputs must hold four numbers for each box");
	if (!node_ok(v))
		return;
	int64_t m = shape_product(&a->shape, 0, ra - 1), n = shape_product(&b->shape, 0, rb - 1);
	Corners x = node_corners(v, node_view(v, node_value(v, 0), 3, (int64_t[]){ 1, m, 4 }), !corner);
	Corners y = node_corners(v, node_view(v, node_value(v, 1), 3, (int64_t[]){ 1, n, 4 }), !corner);
	Shape s = { 0 };
	for (int k = 0; k < ra - 1; k++)
		s.dim[s.rank++] = a->shape.dim[k];
	for (int k = 0; k < rb - 1; k++)
		s.dim[s.rank++] = b->shape.dim[k];
	node_set(v, 0, node_reshape(v, node_overlap(v, &x, &y), s));
}

/* Regions are rows of an image's number and four places; a region of no image (-1) is zeros. */
static void import_roi_align(Visit *v)
{
	const Item *x = node_need(v, 0), *rois = node_need(v, 1);
	MxnetList size = mxnet_attr_list(v, "pooled_size");
	int64_t samples = node_attr_int(v, "sample_ratio", -1);
	Regions r = { .samples = samples > 0 ? samples : 0,
		.scale = node_attr_float(v, "spatial_scale", 1),
		.half_pixel = node_attr_flag(v, "aligned", false) };
	if (node_attr_flag(v, "position_sensitive", false))
		node_fail(v, ERR_UNSUPPORTED, "its regions read a part of the channels each (position_sensitive)");
	if (node_ok(v) && (x->shape.rank != 4 || rois->shape.rank != 2 || rois->shape.dim[1] != 5))
		node_fail(v, ERR_TYPE, "its regions are not rows of 5 numbers, or its input is no image");
	if (node_ok(v) && (size.n != 2 || size.none[0] || size.none[1]))
		node_fail(v, ERR_INPUT, "its attribute pooled_size does not hold two numbers");
	if (!node_ok(v))
		return;
	r.height = size.at[0];
	r.width = size.at[1];
	int64_t count = rois->shape.dim[0];
	int all = node_value(v, 1), which = node_cast(v, node_view(v, node_slice(v, all, 1, 0, 1), 1, &count), I64);
	Item *places = node_new_item(v, node_slice(v, all, 1, 1, 4));
	int y = node_roi_align(v, node_value(v, 0), places, with(v, OP_maximum, which, 0), &r);
	int none = node_view(v, with(v, OP_less, which, 0), 4, (int64_t[]){ count, 1, 1, 1 });
	node_set(v, 0, node_where(v, none, node_number(v, node_val(v, y)->type, 0), y));
}

/* The greatest elements of bins; regions are the same rows. */
static void import_roi_pooling(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	MxnetList size = mxnet_attr_list(v, "pooled_size");
	RegionPool p = { .scale = node_attr_size(v, "spatial_scale", 1) };
	if (node_ok(v) && (size.n != 2 || size.none[0] || size.none[1]))
		node_fail(v, ERR_INPUT, "its attribute pooled_size does not hold two numbers");
	if (!node_ok(v))
		return;
	p.height = size.at[0];
	p.width = size.at[1];
	node_set(v, 0, node_roi_pool(v, node_value(v, 0), node_value(v, 1), &p));
}

/* Proposed regions of one image, and of several. */
static void import_proposal(Visit *v)
{
	static const float ratios[] = { 0.5f, 1, 2 }, scales[] = { 4, 8, 16, 32 };
	int nratio, nscale, score;
	const float *ratio = node_attr_floats(v, "ratios", &nratio), *scale = node_attr_floats(v, "scales", &nscale);
	int64_t most = node_attr_int(v, "rpn_post_nms_top_n", 300);
	Proposals p = { .ratio = nratio > 0 ? ratio : ratios,
		.nratio = nratio > 0 ? nratio : 3,
		.scale = nscale > 0 ? scale : scales,
		.nscale = nscale > 0 ? nscale : 4,
		.stride = (double)node_attr_int(v, "feature_stride", 16),
		.limit = node_attr_float(v, "threshold", import_number(F32, &(float){ 0.7f })),
		.least = (double)node_attr_int(v, "rpn_min_size", 16),
		.ranked = node_attr_int(v, "rpn_pre_nms_top_n", 6000),
		.most = most,
		.mxnet = true,
		.corners = node_attr_flag(v, "iou_loss", false) };
	p.base = p.stride;
	node_attr_flag(v, "output_score", false);
	int rows = node_proposals(v, &p, &score);
	node_set(v, 0, rows);
	if (node_used(v, 1))
		node_set(v, 1, score);
}

const NodeRow mxnet_detect_rows[] = {
	{ "_contrib_MultiBoxPrior", 0, "", import_prior },
	{ "_contrib_MultiBoxDetection", 0, "", import_detection },
	{ "_contrib_box_nms", 0, "", import_box_nms },
	{ "_contrib_box_iou", 0, "", import_box_iou },
	{ "_contrib_ROIAlign", 0, "", import_roi_align },
	{ "ROIPooling", 0, "", import_roi_pooling },
	{ "_contrib_Proposal", 0, "workspace", import_proposal },
	{ "_contrib_MultiProposal", 0, "workspace", import_proposal },
	{ NULL, 0, NULL, NULL },
};
