/*
 * Regions of an image as images of one size, each element the mean (or the largest) of samples in its bin: RoiAlign.
 * Reading is one resample over the pixels of all images, whose channels lie side by side, with an index and a weight
 * for each tap.
 */
#include "frontend/node/roi_align.h"

#include "frontend/node/compose.h"
#include "op/element.h"

#include <math.h>

enum { MOST_SAMPLED = 1 << 24 /* places that are constants */, MOST_SAMPLES = 1 << 10 /* of a bin */ };

typedef struct Bins {
	Regions is;
	int rois; /* [count, 4], of the type that places are computed in */
	int64_t count;
	const Item *known; /* each region has as many samples a bin as it has elements, `samples` is the most; else NULL */
} Bins;

/* The samples of a bin along an axis: the elements that it covers, rounded up. In the region's type, as in a run. */
static int64_t samples_of(const Bins *r, int64_t region, int axis, int64_t bins)
{
	double at[2], offset = r->is.half_pixel ? 0.5 : 0;
	for (int k = 0; k < 2; k++)
		at[k] = element_get(r->known->type, r->known->data, region * 4 + axis + 2 * k) * r->is.scale - offset;
	double length = at[1] - at[0];
	if (!dtype_eq(r->known->type, F64))
		length = (float)((float)at[1] - (float)at[0]);
	if (!r->is.half_pixel && length < 1)
		length = 1;
	double n = ceil(dtype_eq(r->known->type, F64) ? length / (double)bins : (float)length / (float)bins);
	return n > 0 ? n > MOST_SAMPLES ? MOST_SAMPLES + 1 : (int64_t)n : 0;
}

/*
 * Places of samples, in bins, and their shares of the mean: [1, bins * samples], or [count, bins * samples] where
 * regions differ. A region with fewer samples repeats its last one, which has no share of a mean.
 */
static int sample_places(Visit *v, const Bins *r, int axis, int64_t bins, int *share)
{
	DType type = node_val(v, r->rois)->type;
	int64_t many = bins * r->is.samples, rows = r->known != NULL ? r->count : 1, dim[] = { rows, many };
	size_t bytes = (size_t)dtype_bytes(type, rows * many);
	void *at = arena_alloc(v->im->arena, bytes + 1), *part = arena_alloc(v->im->arena, bytes + 1);
	for (int64_t i = 0; i < rows * many; i++) {
		int64_t n = r->known != NULL ? samples_of(r, i / many, axis, bins) : r->is.samples, k = i % r->is.samples;
		int64_t have = n > 0 ? n : 1, sample = k < have ? k : have - 1;
		element_set(type, at, i, (double)(i % many / r->is.samples) + ((double)sample + 0.5) / (double)have);
		element_set(type, part, i, n == 0 ? 0 : r->is.max ? 1 : k < n ? 1 / (double)n : 0);
	}
	*share = node_const(v, type, shape_of(2, dim), part);
	return node_const(v, type, shape_of(2, dim), at);
}

/*
 * Along one axis, the indices and weights of both elements around each sample of each of `bins`, as [count, bins,
 * samples, 2]. One further than an element outside has no weight.
 */
static void region_taps(Visit *v, const Bins *r, int axis, int64_t n, int64_t bins, int *index, int *weight)
{
	double offset = r->is.half_pixel ? 0.5 : 0, both[] = { 0, 1 };
	int64_t many = bins * r->is.samples, column_of[] = { r->count, many, 1 },
			parts[] = { r->count, bins, r->is.samples, 2 };
	DType type = node_val(v, r->rois)->type;
	int start = node_with_number(
		v, OP_add, node_with_number(v, OP_mul, node_slice(v, r->rois, 1, axis, 1), r->is.scale), -offset);
	int end = node_with_number(
		v, OP_add, node_with_number(v, OP_mul, node_slice(v, r->rois, 1, 2 + axis, 1), r->is.scale), -offset);
	int length = node_call2(v, OP_sub, end, start);
	if (!r->is.half_pixel)
		length = node_call2(v, OP_maximum, length, node_number(v, node_val(v, length)->type, 1));
	int bin = node_with_number(v, OP_mul, length, 1 / (double)bins), share,
		at = sample_places(v, r, axis, bins, &share);
	int place = node_call2(v, OP_add, start, node_call2(v, OP_mul, bin, at));
	int inside =
		node_call2(v, OP_bit_and, node_call2(v, OP_less_equal, node_number(v, node_val(v, place)->type, -1), place),
			node_call2(v, OP_less_equal, place, node_number(v, node_val(v, place)->type, (double)n)));
	Attr to[] = { attr_float("lo", 0), attr_float("hi", (double)n - 1) };
	place = node_reshape(v, node_call(v, OP_clip, &place, 1, to, 2), shape_of(3, column_of));
	int low = node_call1(v, OP_floor, place), past = node_call2(v, OP_sub, place, low);
	int distance = node_call1(v, OP_abs, node_call2(v, OP_sub, node_numbers(v, type, both, 2, 3), past));
	int w = node_with_number(v, OP_add, node_with_number(v, OP_mul, distance, -1), 1);
	w = node_where(v, node_reshape(v, inside, shape_of(3, column_of)), w, node_number(v, node_val(v, w)->type, 0));
	column_of[0] = node_val(v, share)->shape.dim[0];
	w = node_call2(v, OP_mul, w, node_reshape(v, share, shape_of(3, column_of)));
	int i = node_call2(v, OP_add, node_cast(v, low, I64), node_numbers(v, I64, both, 2, 3));
	i = node_call(v, OP_clip, &i, 1, to, 2);
	*index = node_reshape(v, i, shape_of(4, parts));
	*weight = node_reshape(v, w, shape_of(4, parts));
}

/* [count, bins, samples, 2] with a dimension of 1 before (or behind) each of the last three, for the other axis. */
static int beside(Visit *v, int x, bool before)
{
	const Shape *s = &node_val(v, x)->shape;
	int64_t dim[7] = { s->dim[0] };
	for (int k = 1; k < 4; k++) {
		dim[2 * k - 1] = before ? 1 : s->dim[k];
		dim[2 * k] = before ? s->dim[k] : 1;
	}
	return node_reshape(v, x, shape_of(7, dim));
}

/* Known regions have as many samples as they need, and `samples` becomes the most of all. */
static void adapt(Visit *v, Bins *r, Item *rois)
{
	int64_t h = r->is.height, w = r->is.width, most = 1;
	if (!node_know(v, rois, arena_printf(v->im->arena, "its input '%s'", rois->name)))
		return;
	r->known = rois;
	for (int64_t k = 0; k < r->count; k++) {
		int64_t across = samples_of(r, k, 0, w), down = samples_of(r, k, 1, h);
		most = across > most ? across : most;
		most = down > most ? down : most;
	}
	r->is.samples = most;
	if (most <= MOST_SAMPLES && (double)r->count * (double)(most * (h > w ? h : w)) > MOST_SAMPLED)
		node_fail(v, ERR_UNSUPPORTED, "its %lld regions have too many samples", (long long)r->count);
}

int node_roi_align(Visit *v, int x, Item *rois, int which, const Regions *is)
{
	Shape s = node_val(v, x)->shape, images = node_val(v, which)->shape;
	DType type = node_val(v, x)->type;
	Bins r = { .is = *is, .count = rois != NULL && rois->shape.rank > 0 ? rois->shape.dim[0] : 0 };
	int64_t h = is->height, w = is->width;
	const int64_t *d = s.dim;
	bool some = d[1] > 0 && d[2] > 0 && d[3] > 0;
	if (node_ok(v) && (rois == NULL || s.rank != 4 || rois->shape.rank != 2 || rois->shape.dim[1] != 4 || !some ||
						  images.rank != 1 || images.dim[0] != r.count || !dtype_is_float(type)))
		node_fail(v, ERR_TYPE, "its regions do not fit its input, or are not four numbers and a place each");
	if (node_ok(v) && (h < 1 || w < 1 || h > 1 << 10 || w > 1 << 10))
		node_fail(v, ERR_INPUT, "its output of %lldx%lld is out of range", (long long)h, (long long)w);
	if (node_ok(v) && is->samples == 0)
		adapt(v, &r, rois);
	if (node_ok(v) && (r.is.samples < 1 || r.is.samples > MOST_SAMPLES))
		node_fail(v, ERR_INPUT, "its bins of %lld samples are out of range", (long long)r.is.samples);
	if (!node_ok(v))
		return DAG_NONE;
	int64_t samples = r.is.samples;
	r.rois = node_cast(v, node_item_value(v, rois), dtype_eq(type, F64) ? F64 : F32);
	int across, down, across_weight, down_weight;
	region_taps(v, &r, 0, d[3], w, &across, &across_weight);
	region_taps(v, &r, 1, d[2], h, &down, &down_weight);
	int64_t each[] = { r.count, 1, 1, 1, 1, 1, 1 }, taps[] = { r.count * h * w, samples * samples * 4 };
	int64_t elements[] = { d[0] * d[2] * d[3], d[1] }, turn[] = { 0, 2, 3, 1 }, back[] = { 0, 3, 1, 2 };
	int image = node_reshape(v, node_cast(v, which, I64), shape_of(7, each));
	int down_at = node_with_number(v, OP_mul, beside(v, down, false), (double)d[3]);
	int index = node_call2(v, OP_add, down_at, beside(v, across, true));
	index = node_call2(v, OP_add, node_with_number(v, OP_mul, image, (double)(d[2] * d[3])), index);
	int weight = node_call2(v, OP_mul, beside(v, down_weight, false), beside(v, across_weight, true));
	index = node_reshape(v, index, shape_of(2, taps));
	weight = node_reshape(v, weight, shape_of(2, taps));
	Attr attr[] = { attr_int("edge", 1), attr_int("max", is->max) };
	int in[] = { node_reshape(v, node_transpose(v, x, turn), shape_of(2, elements)), index, weight };
	int y = node_call(v, OP_resample, in, 3, attr, 2); /* lanes may be channels, which lie side by side */
	return node_transpose(v, node_view(v, y, 4, (int64_t[]){ r.count, h, w, d[1] }), back);
}
