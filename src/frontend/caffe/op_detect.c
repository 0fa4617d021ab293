/*
 * Rows of SSD's fork. Prior boxes depend on shapes only, so they are constants. DetectionOutput ranks the boxes of each
 * class, leaves out those that others hide, and keeps the best of all classes. ROIPooling is of Fast R-CNN's fork.
 */
#include "frontend/caffe/caffe.h"

#include "frontend/node/boxes.h"
#include "frontend/node/compose.h"
#include "frontend/node/roi_pool.h"

#include <float.h>
#include <math.h>

/* Compared boxes are a matrix; ranks of boxes are floats. */
enum { MOST_RATIOS = 64, MOST_BOXES = 1 << 22, MOST_COMPARED = 1 << 12, MOST_RANKED = 1 << 24 };

typedef struct Priors {
	const float *least, *most;
	int nleast, nmost, nratio;
	float ratio[2 * MOST_RATIOS + 1];
	float image[2], step[2], offset; /* height, width */
} Priors;

/* 1, then those that are given and, with `flip`, their inverses. */
static void read_ratios(Visit *v, Priors *p)
{
	int n;
	const float *given = node_attr_floats(v, "aspect_ratio", &n);
	bool flip = node_attr_flag(v, "flip", true);
	p->ratio[p->nratio++] = 1;
	if (node_ok(v) && n > MOST_RATIOS)
		node_fail(v, ERR_UNSUPPORTED, "it has more than %d aspect ratios", MOST_RATIOS);
	for (int k = 0; k < n && node_ok(v); k++) {
		bool there = false;
		for (int i = 0; i < p->nratio; i++)
			there |= fabsf(given[k] - p->ratio[i]) < 1e-6f;
		if (!(given[k] > 0))
			node_fail(v, ERR_INPUT, "its aspect_ratio is %g, but must be positive", (double)given[k]);
		if (there || !node_ok(v))
			continue;
		p->ratio[p->nratio++] = given[k];
		if (flip)
			p->ratio[p->nratio++] = 1 / given[k];
	}
}

/* A size for height and width: one number, two, or `otherwise`. */
static void read_pair(Visit *v, const char *both, const char *h, const char *w, const float *otherwise, float *out)
{
	bool two = node_has(v, h) || node_has(v, w);
	double one = node_attr_float(v, both, 0);
	out[0] = (float)(two ? node_attr_float(v, h, 0) : one);
	out[1] = (float)(two ? node_attr_float(v, w, 0) : one);
	if (out[0] == 0 || out[1] == 0) {
		out[0] = otherwise[0];
		out[1] = otherwise[1];
	}
	if (node_ok(v) && !(out[0] > 0 && out[1] > 0))
		node_fail(v, ERR_INPUT, "its %s must be positive", both);
}

static void read_priors(Visit *v, const Shape *x, const Shape *image, Priors *p)
{
	p->least = node_attr_floats(v, "min_size", &p->nleast);
	p->most = node_attr_floats(v, "max_size", &p->nmost);
	if (node_ok(v) && (p->nleast < 1 || (p->nmost > 0 && p->nmost != p->nleast)))
		node_fail(v, ERR_INPUT, "it needs a min_size, and as many numbers max_size as min_size, or none");
	for (int k = 0; k < p->nleast && node_ok(v); k++)
		if (!(p->least[k] > 0 && p->least[k] < 1e6f) || (p->nmost > 0 && !(p->most[k] > 0 && p->most[k] < 1e6f)))
			node_fail(v, ERR_INPUT, "its sizes are out of range");
	read_ratios(v, p);
	float whole[2], cell[2];
	for (int k = 0; k < 2; k++)
		whole[k] = (float)image->dim[2 + k];
	read_pair(v, "img_size", "img_h", "img_w", whole, p->image);
	for (int k = 0; k < 2; k++)
		cell[k] = p->image[k] / (float)x->dim[2 + k];
	read_pair(v, "step", "step_h", "step_w", cell, p->step);
	p->offset = (float)node_attr_float(v, "offset", 0.5);
}

static float *put_box(float *to, const Priors *p, float y, float x, float height, float width)
{
	*to++ = (x - width / 2) / p->image[1];
	*to++ = (y - height / 2) / p->image[0];
	*to++ = (x + width / 2) / p->image[1];
	*to++ = (y + height / 2) / p->image[0];
	return to;
}

/* The boxes of one place. Sizes are cut to integers, as the fork does. */
static float *put_boxes(float *to, const Priors *p, float y, float x)
{
	for (int k = 0; k < p->nleast; k++) {
		float least = truncf(p->least[k]);
		to = put_box(to, p, y, x, least, least);
		if (p->nmost > 0) {
			float side = sqrtf(least * truncf(p->most[k]));
			to = put_box(to, p, y, x, side, side);
		}
		for (int i = 1; i < p->nratio; i++)
			to = put_box(to, p, y, x, least / sqrtf(p->ratio[i]), least * sqrtf(p->ratio[i]));
	}
	return to;
}

/* [1, 2, places * boxes * 4]: corners, then variances. */
static void import_prior_box(Visit *v)
{
	const Item *x = node_need(v, 0), *image = node_need(v, 1);
	Priors p = { 0 };
	int nvariance;
	if (node_ok(v) && (x->shape.rank != 4 || image->shape.rank != 4 || shape_product(&x->shape, 2, 4) < 1))
		node_fail(v, ERR_TYPE, "its inputs must be images");
	if (!node_ok(v))
		return;
	read_priors(v, &x->shape, &image->shape, &p);
	bool clip = node_attr_flag(v, "clip", false);
	const float *variance = node_attr_floats(v, "variance", &nvariance);
	int64_t boxes = (int64_t)p.nratio * p.nleast + (p.nmost > 0 ? p.nmost : 0);
	int64_t places = shape_product(&x->shape, 2, 4);
	if (node_ok(v) && nvariance > 1 && nvariance != 4)
		node_fail(v, ERR_INPUT, "it has %d variances, but needs 1 or 4", nvariance);
	if (node_ok(v) && places > MOST_BOXES / boxes)
		node_fail(v, ERR_UNSUPPORTED, "it makes more than %d boxes", MOST_BOXES);
	if (!node_ok(v))
		return;
	int64_t n = places * boxes * 4;
	float *all = arena_array(v->im->arena, float, 2 * n), *to = all;
	for (int64_t i = 0; i < x->shape.dim[2]; i++)
		for (int64_t k = 0; k < x->shape.dim[3]; k++)
			to = put_boxes(to, &p, ((float)i + p.offset) * p.step[0], ((float)k + p.offset) * p.step[1]);
	for (int64_t k = 0; k < n; k++) {
		all[k] = clip ? fminf(fmaxf(all[k], 0), 1) : all[k];
		all[n + k] = nvariance < 1 ? 0.1f : variance[nvariance == 1 ? 0 : k % 4];
	}
	node_set(v, 0, node_weight(v, "boxes", F32, shape_of(3, (int64_t[]){ 1, 2, n }), all));
}

/* ---- DetectionOutput */

typedef struct Detection {
	int64_t batch, priors, classes, background; /* background: the class that is left out; -1: none */
	int64_t code, each, most; /* each: boxes of a class that are compared; most: of an image's result */
	bool share, encoded;      /* encoded: offsets hold the variances */
	double limit, least;
} Detection;

static int64_t given(uint64_t has, int row, int64_t value, int64_t otherwise)
{
	return has >> row & 1 ? value : otherwise;
}

static void read_detection(Visit *v, Detection *d)
{
	static const CaffeDetectionOutput none = { 0 };
	static const CaffeSuppression plain = { 0 };
	const CaffeLayer *l = v->node->source;
	const CaffeDetectionOutput *p = l->detection_output_param != NULL ? l->detection_output_param : &none;
	const CaffeSuppression *nms = p->nms_param != NULL ? p->nms_param : &plain;
	const Item *offset = node_need(v, 0), *score = node_need(v, 1), *prior = node_need(v, 2);
	d->classes = p->num_classes;
	d->background = given(p->has, CaffeDetectionOutput_background_label_id, p->background_label_id, 0);
	d->code = given(p->has, CaffeDetectionOutput_code_type, p->code_type, CAFFE_BOX_CORNER);
	d->share = given(p->has, CaffeDetectionOutput_share_location, p->share_location, 1) != 0;
	d->encoded = p->variance_encoded_in_target != 0;
	d->limit = nms->has >> CaffeSuppression_nms_threshold & 1 ? import_number(F32, &nms->nms_threshold) : 0.3f;
	d->least = p->has >> CaffeDetectionOutput_confidence_threshold & 1 ? import_number(F32, &p->confidence_threshold)
	                                                                   : -FLT_MAX;
	if (node_ok(v) && (d->classes < 1 || d->classes > MOST_RANKED || d->background < -1))
		node_fail(v, ERR_INPUT, "its num_classes is %lld, its background_label_id %lld", (long long)d->classes,
			(long long)d->background);
	if (node_ok(v) && (!d->share || (nms->has >> CaffeSuppression_eta & 1 && nms->eta != 1)))
		node_fail(v, ERR_UNSUPPORTED,
			"places of each class (share_location) and a limit that sinks (eta) are not "
			"supported");
	bool fits = prior->shape.rank == 3 && prior->shape.dim[0] == 1 && prior->shape.dim[1] == 2 &&
	            prior->shape.dim[2] % 4 == 0 && prior->shape.dim[2] > 0 && offset->shape.rank >= 2 &&
	            score->shape.rank >= 2;
	d->priors = fits ? prior->shape.dim[2] / 4 : 1;
	d->batch = fits ? offset->shape.dim[0] : 1;
	fits = fits && score->shape.dim[0] == d->batch && d->batch > 0 && d->priors <= MOST_BOXES &&
	       shape_product(&offset->shape, 1, offset->shape.rank) == 4 * d->priors &&
	       shape_product(&score->shape, 1, score->shape.rank) == d->classes * d->priors;
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its places, scores and prior boxes do not belong to each other");
	int64_t used = d->classes - (d->background >= 0 && d->background < d->classes);
	d->each = nms->top_k > 0 && nms->top_k < d->priors ? nms->top_k : d->priors;
	if (node_ok(v) && (used < 1 || d->each > MOST_COMPARED || d->each > MOST_RANKED / used ||
						  d->batch > MOST_RANKED / (d->each * used)))
		node_fail(v, ERR_UNSUPPORTED,
			"it compares %lld boxes of %lld classes: set top_k of its nms_param to %d or less", (long long)d->each,
			(long long)used, MOST_COMPARED);
	d->most = node_ok(v) ? d->each * used : 1;
	if (p->has >> CaffeDetectionOutput_keep_top_k & 1 && p->keep_top_k > 0 && p->keep_top_k < d->most)
		d->most = p->keep_top_k;
}

/* Boxes [batch, priors, 4] from offsets and priors. */
static int decode_boxes(Visit *v, const Detection *d)
{
	int by = node_view(v, node_value(v, 0), 3, (int64_t[]){ d->batch, d->priors, 4 }), side[4];
	int all = node_view(v, node_value(v, 2), 3, (int64_t[]){ 2, d->priors, 4 });
	int prior = node_slice(v, all, 0, 0, 1), variance = node_slice(v, all, 0, 1, 1);
	Corners a = node_corners(v, prior, false);
	if (!d->encoded)
		by = node_call2(v, OP_mul, by, variance);
	if (d->code == CAFFE_BOX_CORNER)
		return node_call2(v, OP_add, prior, by);
	for (int k = 0; k < 2; k++) {
		int size = node_call2(v, OP_sub, a.at[2 + k], a.at[k]), low = node_column(v, by, k),
			high = node_column(v, by, 2 + k);
		low = node_call2(v, OP_mul, low, size);
		if (d->code == CAFFE_BOX_CORNER_SIZE) {
			side[k] = node_call2(v, OP_add, a.at[k], low);
			side[2 + k] = node_call2(v, OP_add, a.at[2 + k], node_call2(v, OP_mul, high, size));
			continue;
		}
		int middle = node_with_number(v, OP_mul, node_call2(v, OP_add, a.at[k], a.at[2 + k]), 0.5);
		int half = node_with_number(v, OP_mul, node_call2(v, OP_mul, node_call1(v, OP_exp, high), size), 0.5);
		middle = node_call2(v, OP_add, middle, low);
		side[k] = node_call2(v, OP_sub, middle, half);
		side[2 + k] = node_call2(v, OP_add, middle, half);
	}
	return node_concat(v, side, 4, 2);
}

/* Image and label of each ranked box: f32[batch, classes * each, 2]. */
static int labels_of(Visit *v, const Detection *d, int64_t used)
{
	int64_t n = used * d->each;
	float *to = arena_array(v->im->arena, float, d->batch *n * 2), *at = to;
	for (int64_t b = 0; b < d->batch; b++)
		for (int64_t k = 0; k < n; k++) {
			int64_t c = k / d->each;
			*at++ = (float)b;
			*at++ = (float)(c + (d->background >= 0 && c >= d->background));
		}
	return node_const(v, F32, shape_of(3, (int64_t[]){ d->batch, n, 2 }), to);
}

/*
 * Rows of image, label, score, left, top, right, bottom, for each image by label and score. The size of Caffe's result
 * depends on what is found; here each image has keep_top_k rows, and those behind the found ones are -1.
 */
static void import_detection_output(Visit *v)
{
	Detection d = { 0 };
	read_detection(v, &d);
	if (!node_ok(v))
		return;
	bool hidden = d.background >= 0 && d.background < d.classes;
	int64_t used = d.classes - hidden, n = used * d.each, groups = d.batch * used;
	if (groups > MOST_RANKED / d.each) {
		node_fail(v, ERR_UNSUPPORTED, "it ranks too many boxes");
		return;
	}
	int score = node_view(v, node_value(v, 1), 3, (int64_t[]){ d.batch, d.priors, d.classes }), part[2], parts = 0;
	if (hidden && d.background > 0)
		part[parts++] = node_slice(v, score, 2, 0, d.background);
	if (!hidden || d.background + 1 < d.classes)
		part[parts++] =
			node_slice(v, score, 2, hidden ? d.background + 1 : 0, d.classes - (hidden ? d.background + 1 : 0));
	score = node_transpose(v, node_concat(v, part, parts, 2), (int64_t[]){ 0, 2, 1 });
	Attr rank[] = { attr_int("axis", 2), attr_int("k", d.each) };
	int value = node_call(v, OP_top_k, &score, 1, rank, 2), place = node_result(v, value, 1);
	int boxes = node_reorder(v, decode_boxes(v, &d), node_view(v, place, 2, (int64_t[]){ d.batch, n }));
	int64_t each[] = { groups, d.each, 1 }, flat[] = { d.batch, n };
	int column = node_view(v, value, 3, each);
	Suppression s = {
		.limit = d.limit, .id = DAG_NONE, .valid = node_call2(v, OP_less, node_number(v, F32, d.least), column)
	};
	Corners c = node_corners(v, node_view(v, boxes, 3, (int64_t[]){ groups, d.each, 4 }), false);
	int none = node_number(v, F32, -INFINITY), keys = node_where(v, node_suppress(v, &s, &c), column, none);
	Attr most[] = { attr_int("axis", 1), attr_int("k", d.most) };
	keys = node_view(v, keys, 2, flat);
	int kept = node_call(v, OP_top_k, &keys, 1, most, 2), found = node_call2(v, OP_less, none, kept);
	/* The kept ones in the order of their places, which is that of labels and scores; absent ones behind them. */
	int where = node_cast(v, node_result(v, kept, 1), F32);
	where = node_where(v, found, where, node_number(v, F32, (double)n));
	where = node_call1(v, OP_neg, where);
	where = node_call1(v, OP_neg, node_call(v, OP_top_k, &where, 1, most, 2));
	int there = node_call2(v, OP_less, where, node_number(v, F32, (double)n));
	int at = node_cast(v, node_with_number(v, OP_minimum, where, (double)(n - 1)), I64);
	int columns[] = { labels_of(v, &d, used), node_view(v, value, 3, (int64_t[]){ d.batch, n, 1 }), boxes };
	int rows = node_reorder(v, node_concat(v, columns, 3, 2), at);
	there = node_view(v, there, 3, (int64_t[]){ d.batch, d.most, 1 });
	rows = node_where(v, there, rows, node_number(v, F32, -1));
	node_set(v, 0, node_view(v, rows, 4, (int64_t[]){ 1, 1, d.batch * d.most, 7 }));
}

static void import_roi_pooling(Visit *v)
{
	RegionPool p = { .height = caffe_count(v, "pooled_h", 0, 1),
		.width = caffe_count(v, "pooled_w", 0, 1),
		.scale = node_attr_size(v, "spatial_scale", 1) };
	const Item *rois = node_need(v, 1);
	int64_t count = rois->shape.dim[0], width = shape_product(&rois->shape, 1, rois->shape.rank);
	node_need(v, 0);
	if (node_ok(v) && (rois->shape.rank < 2 || width != 5))
		node_fail(v, ERR_TYPE, "its regions are not rows of 5 numbers");
	if (!node_ok(v))
		return;
	int rows = node_view(v, node_value(v, 1), 2, (int64_t[]){ count, 5 });
	node_set(v, 0, node_roi_pool(v, node_value(v, 0), rows, &p));
}

const NodeRow caffe_detect_rows[] = {
	{ "PriorBox", 0, "", import_prior_box },
	{ "DetectionOutput", 0, "*", import_detection_output },
	{ "ROIPooling", 0, "", import_roi_pooling },
	{ NULL, 0, NULL, NULL },
};
