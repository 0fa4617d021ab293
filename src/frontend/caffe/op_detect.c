/*
 * Rows of SSD's fork. Prior boxes depend on shapes only, so they are constants. The choice among boxes that overlap
 * (DetectionOutput) has no call in the Dag, which is said with the way out.
 */
#include "frontend/caffe/caffe.h"

#include "frontend/node/compose.h"

#include <math.h>

enum { MOST_RATIOS = 64, MOST_BOXES = 1 << 22 };

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

static void import_detection_output(Visit *v)
{
	node_fail(v, ERR_UNSUPPORTED,
		"boxes are not chosen in a compiled network: delete this layer, so that its inputs become results");
}

const NodeRow caffe_detect_rows[] = {
	{ "PriorBox", 0, "", import_prior_box },
	{ "DetectionOutput", 0, "*", import_detection_output },
	{ NULL, 0, NULL, NULL },
};
