/* Proposed regions; proposals.h says what they are. Anchors depend on shapes only, so they are constants. */
#include "frontend/node/proposals.h"

#include "frontend/node/boxes.h"
#include "frontend/node/channels.h"
#include "frontend/node/compose.h"

#include <math.h>

enum { MOST_PLACES = 1 << 22, MOST_ROWS = 1 << 14 };

typedef struct Field {
	int64_t batch, anchors, height, width, n; /* n: boxes of an image */
	int info[3];                              /* height, width, scale: [batch, 1, 1] */
} Field;

static int with(Visit *v, int op, int x, double number)
{
	return node_with_number(v, op, x, number);
}

static bool open_field(Visit *v, const Proposals *p, Field *f)
{
	const Item *score = node_need(v, 0), *by = node_need(v, 1), *info = node_need(v, 2);
	*f = (Field){ .anchors = (int64_t)p->nratio * p->nscale };
	bool fits = score->shape.rank == 4 && by->shape.rank == 4 && f->anchors > 0;
	const int64_t *s = score->shape.dim, *d = by->shape.dim;
	fits = fits && s[0] > 0 && s[2] > 0 && s[3] > 0 && s[1] == 2 * f->anchors && d[1] == 4 * f->anchors &&
	       s[0] == d[0] && s[2] == d[2] && s[3] == d[3] && shape_elements(info->shape) == 3 * s[0];
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE,
			"its scores, offsets and sizes of images do not have the shapes [N,2A,H,W], [N,4A,H,W] and [N,3] for the "
			"%lld anchors A of its ratios and scales",
			(long long)f->anchors);
	if (node_ok(v) && (s[2] > MOST_PLACES || s[3] > MOST_PLACES || f->anchors > MOST_PLACES / s[2] / s[3]))
		node_fail(v, ERR_UNSUPPORTED, "it has more than %d boxes", MOST_PLACES);
	if (!node_ok(v))
		return false;
	f->batch = s[0];
	f->height = s[2];
	f->width = s[3];
	f->n = f->anchors * s[2] * s[3];
	int all = node_view(v, node_value(v, 2), 3, (int64_t[]){ f->batch, 1, 3 });
	for (int k = 0; k < 3; k++)
		f->info[k] = node_column(v, all, k);
	return true;
}

/* Half the sides of an anchor, less half an element: the box reaches from centre - half to centre + half. */
static void anchor_size(const Proposals *p, int ratio, int scale, double half[2])
{
	double r = p->ratio[ratio], area = p->base * p->base / r;
	double wide = p->mxnet ? floor(sqrt(floor(area)) + 0.5) : rint(sqrt(area));
	double high = p->mxnet ? floor(wide * r + 0.5) : rint(wide * r);
	half[0] = 0.5 * (wide * p->scale[scale] - 1);
	half[1] = 0.5 * (high * p->scale[scale] - 1);
}

/* f32 [1, n, 4] by place and anchor. */
static int anchors_of(Visit *v, const Proposals *p, const Field *f)
{
	float *to = arena_array(v->im->arena, float, 4 * f->n), *at = to;
	for (int64_t place = 0; place < f->height * f->width; place++)
		for (int k = 0; k < f->anchors; k++) {
			double half[2], centre[] = { (double)(place % f->width), (double)(place / f->width) };
			anchor_size(p, k / p->nscale, k % p->nscale, half);
			for (int i = 0; i < 4; i++)
				*at++ = (float)(0.5 * (p->base - 1) + (i < 2 ? -half[i] : half[i - 2]) + centre[i % 2] * p->stride);
		}
	return node_const(v, F32, shape_of(3, (int64_t[]){ 1, f->n, 4 }), to);
}

/* Boxes of the offsets, cut at the edges of the image. */
static Corners move_anchors(Visit *v, const Proposals *p, const Field *f)
{
	int by = node_view(v, node_value(v, 1), 5, (int64_t[]){ f->batch, f->anchors, 4, f->height, f->width });
	by = node_view(v, node_transpose(v, by, (int64_t[]){ 0, 3, 4, 1, 2 }), 3, (int64_t[]){ f->batch, f->n, 4 });
	Corners a = node_corners(v, anchors_of(v, p, f), false), out;
	for (int k = 0; k < 2; k++) {
		int size = with(v, OP_add, node_call2(v, OP_sub, a.at[2 + k], a.at[k]), 1);
		int shift = node_column(v, by, k), grow = node_column(v, by, 2 + k);
		int low = node_call2(v, OP_add, a.at[k], shift), high = node_call2(v, OP_add, a.at[2 + k], grow);
		if (!p->corners) {
			double less = p->mxnet ? 1 : 0;
			int centre = node_call2(v, OP_add, a.at[k], with(v, OP_mul, with(v, OP_sub, size, less), 0.5));
			int side = node_call2(v, OP_mul, node_call1(v, OP_exp, grow), size);
			int half = with(v, OP_mul, with(v, OP_sub, side, less), 0.5);
			centre = node_call2(v, OP_add, node_call2(v, OP_mul, shift, size), centre);
			low = node_call2(v, OP_sub, centre, half);
			high = node_call2(v, OP_add, centre, half);
		}
		int last = with(v, OP_sub, f->info[1 - k], 1);
		out.at[k] = with(v, OP_maximum, node_call2(v, OP_minimum, low, last), 0);
		out.at[2 + k] = with(v, OP_maximum, node_call2(v, OP_minimum, high, last), 0);
	}
	return out;
}

/* Places of the map that lie in the image, bool[batch, n, 1]. */
static int inside(Visit *v, const Proposals *p, const Field *f)
{
	int y = DAG_NONE;
	for (int k = 0; k < 2; k++) {
		float *to = arena_array(v->im->arena, float, f->n);
		for (int64_t i = 0; i < f->n; i++)
			to[i] = (float)(k == 0 ? i / f->anchors / f->width : i / f->anchors % f->width);
		int at = node_const(v, F32, shape_of(3, (int64_t[]){ 1, f->n, 1 }), to);
		int end = node_call1(v, OP_floor, with(v, OP_div, f->info[k], p->stride));
		int here = node_call2(v, OP_less, at, end);
		y = k == 0 ? here : node_call2(v, OP_bit_and, y, here);
	}
	return y;
}

/* Boxes whose sides are long enough. MXNet moves the corners of others apart, by the least side. */
static int long_enough(Visit *v, const Proposals *p, const Field *f, Corners *c)
{
	int least = with(v, OP_mul, f->info[2], p->least), y = DAG_NONE;
	for (int k = 0; k < 2; k++) {
		int side = with(v, OP_add, node_call2(v, OP_sub, c->at[2 + k], c->at[k]), 1);
		int here = node_call2(v, OP_less_equal, least, side);
		y = k == 0 ? here : node_call2(v, OP_bit_and, y, here);
	}
	int apart = node_where(v, y, node_number(v, F32, 0), with(v, OP_mul, least, 0.5));
	for (int k = 0; k < 4 && p->mxnet; k++)
		c->at[k] = node_call2(v, k < 2 ? OP_sub : OP_add, c->at[k], apart);
	return y;
}

/* The found rows of ordered ones, x [batch, k, width]. MXNet repeats them; else there are -1 behind them. */
static int take_rows(Visit *v, const Proposals *p, int x, int stay, int64_t k, int64_t most)
{
	const int64_t *d = node_val(v, x)->shape.dim;
	int64_t batch = d[0], one = 1, found = most < k ? most : k;
	int key = node_call2(v, OP_sub, node_number(v, F32, (double)k), node_cast(v, node_count(v, k, 1, 2), F32));
	key = node_where(v, stay, key, node_number(v, F32, 0));
	Attr attr[] = { attr_int("axis", 1), attr_int("k", found) };
	int kept = node_call(v, OP_top_k, &key, 1, attr, 2), at = node_result(v, kept, 1);
	int there = node_call2(v, OP_less, node_number(v, F32, 0), kept);
	if (p->mxnet) {
		int count = node_reduce(v, OP_reduce_sum, node_cast(v, there, I64), &one, 1, true);
		Attr nth[] = { attr_int("axis", 1), attr_int("batch", 1) };
		int in[] = { at, node_call2(v, OP_mod, node_count(v, most, 1, 2), with(v, OP_maximum, count, 1)) };
		return node_reorder(v, x, node_call(v, OP_gather, in, 2, nth, 2));
	}
	there = node_view(v, there, 3, (int64_t[]){ batch, found, 1 });
	return node_where(v, there, node_reorder(v, x, at), node_number(v, F32, -1));
}

int node_proposals(Visit *v, const Proposals *p, int *score)
{
	Field f;
	*score = DAG_NONE;
	for (int k = 0; k < p->nratio && node_ok(v); k++)
		if (!(p->ratio[k] > 0) || !isfinite(p->ratio[k]))
			node_fail(v, ERR_INPUT, "its ratio %g must be positive", (double)p->ratio[k]);
	if (node_ok(v) && (!(p->base >= 1) || !(p->stride > 0) || !isfinite(p->base) || !isfinite(p->stride)))
		node_fail(v, ERR_INPUT, "its anchors have the side %g and the stride %g", p->base, p->stride);
	if (!open_field(v, p, &f))
		return DAG_NONE;
	int64_t k = p->ranked > 0 && p->ranked < f.n ? p->ranked : f.n;
	if (k > MOST_PROPOSALS || p->most < 1 || p->most > MOST_ROWS || f.batch > MOST_PLACES / MOST_PROPOSALS)
		node_fail(v, ERR_UNSUPPORTED,
			"it compares %lld boxes and keeps %lld, for %lld images: %d boxes and %d rows are the most", (long long)k,
			(long long)p->most, (long long)f.batch, MOST_PROPOSALS, MOST_ROWS);
	if (!node_ok(v))
		return DAG_NONE;
	Corners c = move_anchors(v, p, &f);
	int64_t each[] = { f.batch, f.anchors, f.height, f.width }, flat[] = { f.batch, f.n }, row[] = { f.batch, f.n, 1 };
	int key = node_slice(v, node_value(v, 0), 1, each[1], each[1]);
	key = node_view(v, node_transpose(v, key, (int64_t[]){ 0, 2, 3, 1 }), 3, row);
	int valid = long_enough(v, p, &f, &c);
	if (p->mxnet)
		valid = node_call2(v, OP_bit_and, valid, inside(v, p, &f));
	key = node_view(v, node_where(v, valid, key, node_number(v, F32, p->mxnet ? -1 : -INFINITY)), 2, flat);
	Attr rank[] = { attr_int("axis", 1), attr_int("k", k) };
	int sorted = node_call(v, OP_top_k, &key, 1, rank, 2), order = node_result(v, sorted, 1);
	int boxes = node_reorder(v, node_concat(v, c.at, 4, 2), order), value = node_view(v, sorted, 3,
		(int64_t[]){ f.batch, k, 1 });
	c = node_corners(v, boxes, false);
	for (int i = 2; i < 4; i++) /* sides count their last element */
		c.at[i] = with(v, OP_add, c.at[i], 1);
	Suppression s = { .limit = p->limit, .id = DAG_NONE,
		.valid = node_call2(v, OP_less, node_number(v, F32, -INFINITY), value) };
	int stay = node_view(v, node_suppress(v, &s, &c), 2, (int64_t[]){ f.batch, k });
	float *image = arena_array(v->im->arena, float, f.batch * k);
	for (int64_t i = 0; i < f.batch * k; i++)
		image[i] = (float)(i / k);
	int columns[] = { node_const(v, F32, shape_of(3, (int64_t[]){ f.batch, k, 1 }), image), boxes, value };
	int rows = take_rows(v, p, node_concat(v, columns, 3, 2), stay, k, p->most);
	int64_t all = node_val(v, rows)->shape.dim[1] * f.batch;
	rows = node_view(v, rows, 2, (int64_t[]){ all, 6 });
	*score = node_slice(v, rows, 1, 5, 1);
	return node_slice(v, rows, 1, 0, 5);
}
