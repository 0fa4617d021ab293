/*
 * Rows of layers that forks of Caffe have: SegNet's Upsample, ShuffleNet's ShuffleChannel, the Reorg of YOLO, the
 * regions of Faster R-CNN and R-FCN. BatchReindex is Caffe's own.
 */
#include "frontend/caffe/caffe.h"

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"
#include "frontend/node/proposals.h"
#include "frontend/node/roi_pool.h"

#include <stdlib.h>
#include <string.h>

/* These layers mean nothing without their parameters, which only a text has: each fork numbers them otherwise. */
static bool need_message(Visit *v, const void *message, const char *name)
{
	if (node_ok(v) && message == NULL)
		node_fail(v, ERR_INPUT, "it has no %s: a .caffemodel alone does not say it, so give its .prototxt", name);
	return node_ok(v);
}

/* Rows of the first input by their numbers, which are floats. */
static void import_batch_reindex(Visit *v)
{
	const Item *x = node_need(v, 0), *at = node_need(v, 1);
	if (node_ok(v) && (x->shape.rank < 1 || at->shape.rank != 1))
		node_fail(v, ERR_TYPE, "its second input must be a list of numbers of rows");
	Attr attr = attr_int("axis", 0);
	int in[] = { node_value(v, 0), node_cast(v, node_value(v, 1), I64) };
	node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
}

static void import_shuffle(Visit *v)
{
	const CaffeLayer *l = v->node->source;
	const Item *it = node_need(v, 0);
	if (!need_message(v, l->shuffle_channel_param, "shuffle_channel_param"))
		return;
	int64_t groups = caffe_count(v, "group", 1, 1);
	Shape s = it->shape;
	if (node_ok(v) && (s.rank < 2 || s.dim[1] % groups != 0))
		node_fail(v, ERR_TYPE, "%lld channels cannot be cut into %lld groups", (long long)(s.rank < 2 ? 0 : s.dim[1]),
			(long long)groups);
	if (!node_ok(v))
		return;
	int64_t dim[] = { s.dim[0], groups, s.dim[1] / groups, shape_product(&s, 2, s.rank) };
	int x = node_transpose(v, node_view(v, node_value(v, 0), 4, dim), (int64_t[]){ 0, 2, 1, 3 });
	node_set(v, 0, node_reshape(v, x, s));
}

/* Each element as a block of equal ones. */
static int repeated(Visit *v, int x, const Shape *s, const int64_t *times)
{
	int64_t n = s->dim[0] * s->dim[1];
	Shape apart = shape_of(5, (int64_t[]){ n, s->dim[2], 1, s->dim[3], 1 }), wide = apart;
	wide.dim[2] = times[0];
	wide.dim[4] = times[1];
	x = node_expand(v, node_reshape(v, x, apart), wide);
	return node_view(v, x, 4, (int64_t[]){ s->dim[0], s->dim[1], s->dim[2] * times[0], s->dim[3] * times[1] });
}

/* With places of a pooling, elements go back to where they were, and all others are 0; else each becomes a block. */
static void import_upsample(Visit *v)
{
	static const char *const sides[][3] = { { "scale_h", "pad_out_h", "upsample_h" },
		{ "scale_w", "pad_out_w", "upsample_w" } };
	const CaffeLayer *l = v->node->source;
	const Item *it = node_need(v, 0), *mask = node_in(v, 1);
	int64_t scale = caffe_count(v, "scale", mask != NULL ? 2 : 1, 1), times[2], size[2];
	Shape s = it->shape;
	if (!need_message(v, l->upsample_param, "upsample_param"))
		return;
	if (s.rank != 4 || (mask != NULL && !shape_eq(mask->shape, s)))
		node_fail(v, ERR_TYPE, "its inputs must be images of one shape");
	for (int k = 0; k < 2 && node_ok(v); k++) {
		bool given = node_has(v, sides[k][2]);
		int64_t less = node_attr_flag(v, sides[k][1], false);
		times[k] = caffe_count(v, sides[k][0], scale, 1);
		size[k] = s.dim[2 + k]; /* times 2^31 - 1 it may be out of int64_t's range */
		if (given || size[k] <= INT32_MAX)
			size[k] = given ? caffe_count(v, sides[k][2], 1, 1) : size[k] * times[k] - less;
		if (node_ok(v) && mask == NULL && (given || less > 0))
			node_fail(v, ERR_UNSUPPORTED, "its %s needs a second input, the places of a pooling", sides[k][1 + given]);
		if (node_ok(v) && (size[k] < 1 || size[k] > INT32_MAX))
			node_fail(v, ERR_TYPE, "its result has %lld elements along one dimension", (long long)size[k]);
	}
	if (!node_ok(v))
		return;
	if (mask == NULL) {
		node_set(v, 0, repeated(v, node_value(v, 0), &s, times));
		return;
	}
	int64_t out[] = { s.dim[0], s.dim[1], size[0] * size[1] }, in[] = { s.dim[0], s.dim[1], s.dim[2] * s.dim[3] };
	int call[] = { node_expand(v, node_number(v, F32, 0), shape_of(3, out)),
		node_cast(v, node_view(v, node_value(v, 1), 3, in), I64), node_view(v, node_value(v, 0), 3, in) };
	Attr attr = attr_int("axis", 2);
	int y = node_call(v, OP_scatter_elements, call, 3, &attr, 1);
	node_set(v, 0, node_view(v, y, 4, (int64_t[]){ out[0], out[1], size[0], size[1] }));
}

static void import_reorg(Visit *v)
{
	const CaffeLayer *l = v->node->source;
	node_need(v, 0);
	if (need_message(v, l->reorg_param, "reorg_param"))
		node_set(v, 0, node_reorg(v, node_value(v, 0), caffe_count(v, "stride", 1, 1), true,
			node_attr_flag(v, "reverse", false)));
}

static void import_psroi_pooling(Visit *v)
{
	const CaffeLayer *l = v->node->source;
	const Item *x = node_need(v, 0), *rois = node_need(v, 1);
	if (!need_message(v, l->psroi_pooling_param, "psroi_pooling_param"))
		return;
	int64_t n = caffe_count(v, "group_size", 0, 1), channels = caffe_count(v, "output_dim", 0, 1);
	RegionPool p = { .height = n, .width = n, .scale = node_attr_size(v, "spatial_scale", 1) };
	int64_t count = rois->shape.dim[0], width = shape_product(&rois->shape, 1, rois->shape.rank);
	if (node_ok(v) && (rois->shape.rank < 2 || width != 5))
		node_fail(v, ERR_TYPE, "its regions are not rows of 5 numbers");
	if (node_ok(v) && (x->shape.rank != 4 || n > 1 << 10 || x->shape.dim[1] / n / n != channels ||
						  x->shape.dim[1] % (n * n) != 0))
		node_fail(v, ERR_TYPE, "its input must be an image of %lld channels for each of %lldx%lld bins",
			(long long)channels, (long long)n, (long long)n);
	if (!node_ok(v))
		return;
	int rows = node_view(v, node_value(v, 1), 2, (int64_t[]){ count, 5 });
	node_set(v, 0, node_psroi_pool(v, node_value(v, 0), rows, &p));
}

/* ---- Proposal */

enum { MOST_SCALES = 32 };

/* A number of a text behind the key: {'feat_stride': 16, 'scales': [8, 16]}. *at: behind it. */
static bool read_number(const char **at, double *out)
{
	char *end;
	*at += strspn(*at, " \t\n,[(:");
	*out = strtod(*at, &end);
	bool ok = end != *at;
	*at = end;
	return ok;
}

/* The settings of the Python layer, as YAML or a dictionary; all others are those of its configuration. */
static void read_settings(Visit *v, const char *text, Proposals *p, float scale[MOST_SCALES])
{
	static const char *const keys[] = { "feat_stride", "scales" };
	double number;
	for (const char *at = text; node_ok(v);) {
		at += strspn(at, " \t\r\n{}'\",:[]()");
		if (*at == 0)
			break;
		size_t n = strcspn(at, "'\": \t"), k = 0;
		while (k < 2 && (strlen(keys[k]) != n || strncmp(at, keys[k], n) != 0))
			k++;
		if (k == 2) {
			node_fail(v, ERR_UNSUPPORTED, "its param_str has '%.*s', but only feat_stride and scales are supported",
				(int)(n < 40 ? n : 40), at);
			return;
		}
		at += n;
		at += strspn(at, "'\"");
		if (!read_number(&at, &number)) {
			node_fail(v, ERR_INPUT, "its param_str has no number behind %s", keys[k]);
			return;
		}
		if (k == 0) {
			p->stride = number;
			continue;
		}
		p->nscale = 0;
		p->scale = scale;
		do
			scale[p->nscale++] = (float)number;
		while (p->nscale < MOST_SCALES && read_number(&at, &number));
	}
}

/*
 * As py-faster-rcnn's layer of Python, with the settings that it has for tests, and as the layer Proposal of its forks.
 * The second result are the scores. Caffe gives as many rows as it finds; here post_nms_topn, those behind are -1.
 */
static void import_proposal(Visit *v)
{
	static const float ratios[] = { 0.5f, 1, 2 }, scales[] = { 8, 16, 32 };
	const CaffeLayer *l = v->node->source;
	float scale[MOST_SCALES];
	Proposals p = { .ratio = ratios, .nratio = 3, .scale = scales, .nscale = 3, .stride = 16 };
	bool python = strcmp(caffe_text(l->type), "Python") == 0;
	if (python) {
		node_attr_text(v, "module", "");
		node_attr_text(v, "layer", "");
		read_settings(v, node_attr_text(v, "param_str", ""), &p, scale);
	} else if (need_message(v, l->proposal_param, "proposal_param")) {
		int n;
		const float *given = node_attr_floats(v, "ratio", &n);
		p.ratio = n > 0 ? given : ratios;
		p.nratio = n > 0 ? n : 3;
		given = node_attr_floats(v, "scale", &n);
		p.scale = n > 0 ? given : scales;
		p.nscale = n > 0 ? n : 3;
	}
	p.stride = (double)caffe_count(v, "feat_stride", (int64_t)p.stride, 1);
	p.base = (double)caffe_count(v, "base_size", 16, 1);
	p.least = (double)caffe_count(v, "min_size", 16, 0);
	p.ranked = caffe_count(v, "pre_nms_topn", 6000, 0);
	p.most = caffe_count(v, "post_nms_topn", 300, 1);
	p.limit = node_attr_size(v, "nms_thresh", import_number(F32, &(float){ 0.7f }));
	if (node_ok(v) && (p.nratio > MOST_SCALES || p.nscale > MOST_SCALES))
		node_fail(v, ERR_UNSUPPORTED, "it has more than %d ratios or scales", MOST_SCALES);
	int score, rows = node_proposals(v, &p, &score);
	node_set(v, 0, rows);
	if (node_used(v, 1))
		node_set(v, 1, score);
}

const NodeRow caffe_fork_rows[] = {
	{ "BatchReindex", 0, "", import_batch_reindex },
	{ "ShuffleChannel", 0, "", import_shuffle },
	{ "Upsample", 0, "", import_upsample },
	{ "Reorg", 0, "", import_reorg },
	{ "PSROIPooling", 0, "", import_psroi_pooling },
	{ "Proposal", 0, "", import_proposal },
	{ NULL, 0, NULL, NULL },
};
