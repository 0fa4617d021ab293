/*
 * Regions of images whose edges are whole elements, cut into bins of whole elements: the greatest of each bin. Regions
 * are data, so a bin may have any size. Tables hold the greatest element of each window of 2^a by 2^b elements; four
 * of these windows, which overlap, are a bin. So a bin reads four elements, however large it is.
 */
#include "frontend/node/roi_pool.h"

#include "frontend/node/compose.h"

enum { MOST_BINS = 1 << 10 /* along an axis */, LEVELS = 32 };

/* The windows that are bins along one axis. */
typedef struct Bins {
	int at[2]; /* i64[count, bins]: where the first window and the last one begin */
	int level; /* the same: a window has 2^level elements */
	int empty; /* bool[count, bins]: the bin has no elements */
	int levels;
} Bins;

/* To the nearest whole number, halves away from 0, as C rounds. */
static int round_away(Visit *v, int x)
{
	int size = node_call1(v, OP_abs, x), whole = node_call1(v, OP_floor, size);
	int half = node_number(v, node_val(v, x)->type, 0.5);
	int up = node_call2(v, OP_less_equal, half, node_call2(v, OP_sub, size, whole));
	int y = node_where(v, up, node_with_number(v, OP_add, whole, 1), whole);
	return node_where(v, node_with_number(v, OP_less, x, 0), node_call1(v, OP_neg, y), y);
}

/* Bin i of m over a region of `size` elements: floor(i * size / m) up to ceil((i + 1) * size / m), inside of n. */
static Bins bins_along(Visit *v, const RegionPool *p, int rois, int axis, int64_t n, int64_t m)
{
	Bins b = { .levels = 1 };
	DType type = node_val(v, rois)->type;
	double number[MOST_BINS + 1], power[LEVELS], half[LEVELS];
	for (int i = 0; i <= m; i++)
		number[i] = i;
	for (; n >> b.levels > 0 && b.levels < LEVELS; b.levels++) {
		power[b.levels - 1] = (double)((int64_t)1 << b.levels);
		half[b.levels - 1] = power[b.levels - 1] / 2;
	}
	int edge[2], bound[2];
	for (int k = 0; k < 2; k++)
		edge[k] =
			round_away(v, node_with_number(v, OP_mul, node_slice(v, rois, 1, 1 + axis + 2 * k, 1), p->scale));
	int size = node_with_number(v, OP_add, node_call2(v, OP_sub, edge[1], edge[0]), 1);
	size = node_with_number(v, OP_div, node_with_number(v, OP_maximum, size, 1), (double)m);
	Attr inside[] = { attr_float("lo", 0), attr_float("hi", (double)n) };
	for (int k = 0; k < 2; k++) {
		int place = node_call2(v, OP_mul, size, node_numbers(v, type, number + k, m, 2));
		place = node_call2(v, OP_add, node_call1(v, k == 0 ? OP_floor : OP_ceil, place), edge[0]);
		bound[k] = node_cast(v, node_call(v, OP_clip, &place, 1, inside, 2), I64);
	}
	int length = node_call2(v, OP_sub, bound[1], bound[0]), window = node_number(v, I64, 1);
	b.empty = node_with_number(v, OP_less_equal, length, 0);
	b.at[0] = bound[0];
	b.level = node_call2(v, OP_mul, length, node_number(v, I64, 0));
	if (b.levels > 1) {
		const int64_t *d = node_val(v, length)->shape.dim, each[] = { d[0], d[1], 1 };
		int powers = node_numbers(v, I64, power, b.levels - 1, 3), none = node_number(v, I64, 0);
		int fits = node_call2(v, OP_less_equal, powers, node_view(v, length, 3, each));
		Attr last[] = { attr_ints("axes", (int64_t[]){ 2 }, 1), attr_int("keep", 0) };
		int steps = node_where(v, fits, node_numbers(v, I64, half, b.levels - 1, 3), none);
		window = node_call2(v, OP_add, window, node_call(v, OP_reduce_sum, &steps, 1, last, 2));
		int ones = node_cast(v, fits, I64);
		b.level = node_call(v, OP_reduce_sum, &ones, 1, last, 2);
	}
	b.at[1] = node_call2(v, OP_sub, bound[1], window);
	return b;
}

/* From the greatest of `size` elements along an axis, the greatest of twice as many; the last ones are not read. */
static int doubled(Visit *v, int x, int axis, int64_t size)
{
	int64_t n = node_val(v, x)->shape.dim[axis];
	int part[] = { node_slice(v, x, axis, size, n - size), node_slice(v, x, axis, n - size, size) };
	return node_call2(v, OP_maximum, x, node_concat(v, part, 2, axis));
}

/* [N,H,W,C] -> rows of C elements: N * H * W for each level of y, and in it for each level of x. */
static int tables(Visit *v, int x, const Bins *across, const Bins *down)
{
	int table[LEVELS * LEVELS], n = 0;
	for (int i = 0; i < down->levels && node_ok(v); i++) {
		x = i == 0 ? x : doubled(v, x, 1, (int64_t)1 << (i - 1));
		int y = x;
		for (int k = 0; k < across->levels; k++) {
			y = k == 0 ? y : doubled(v, y, 2, (int64_t)1 << (k - 1));
			table[n++] = y;
		}
	}
	Shape s = node_val(v, x)->shape;
	int all = n > 1 ? node_concat(v, table, n, 0) : x;
	Shape rows = { 4, { s.dim[0], s.dim[1], s.dim[2], n } };
	return node_view(v, all, 2, (int64_t[]){ shape_product(&rows, 0, 4), s.dim[3] });
}

/* [count, bins] as [count, height, 1] or [count, 1, width]. */
static int beside(Visit *v, int x, bool down)
{
	const int64_t *d = node_val(v, x)->shape.dim, dim[] = { d[0], down ? d[1] : 1, down ? 1 : d[1] };
	return node_view(v, x, 3, dim);
}

int node_roi_pool(Visit *v, int x, int rois, const RegionPool *p)
{
	Shape s = node_val(v, x)->shape, r = node_val(v, rois)->shape;
	DType type = node_val(v, x)->type;
	int64_t h = p->height, w = p->width, count = r.dim[0];
	if (node_ok(v) && (s.rank != 4 || r.rank != 2 || r.dim[1] != 5 || !dtype_is_float(type)))
		node_fail(v, ERR_TYPE, "its regions are not rows of 5 numbers, or its input is no image of floats");
	if (node_ok(v) && (h < 1 || w < 1 || h > MOST_BINS || w > MOST_BINS))
		node_fail(v, ERR_INPUT, "its output of %lldx%lld is out of range", (long long)h, (long long)w);
	bool some = s.dim[0] > 0 && s.dim[1] > 0 && s.dim[2] > 0 && s.dim[3] > 0;
	if (node_ok(v) && (!some || s.dim[2] > INT32_MAX || s.dim[3] > INT32_MAX))
		node_fail(v, ERR_UNSUPPORTED, "its input has no elements, or too many");
	if (!node_ok(v))
		return DAG_NONE;
	rois = node_cast(v, rois, dtype_eq(type, F64) ? F64 : F32);
	Bins across = bins_along(v, p, rois, 0, s.dim[3], w), down = bins_along(v, p, rois, 1, s.dim[2], h);
	int rows = tables(v, node_transpose(v, x, (int64_t[]){ 0, 2, 3, 1 }), &across, &down);
	double all = (double)(s.dim[0] * s.dim[2] * s.dim[3]), image = (double)(s.dim[2] * s.dim[3]);
	Attr known[] = { attr_float("lo", 0), attr_float("hi", (double)(s.dim[0] - 1)) };
	int which = node_slice(v, rois, 1, 0, 1);
	which = node_cast(v, node_call(v, OP_clip, &which, 1, known, 2), I64);
	which = node_view(v, node_with_number(v, OP_mul, which, image), 3, (int64_t[]){ count, 1, 1 });
	int table = node_with_number(v, OP_mul, beside(v, down.level, true), (double)across.levels);
	table = node_call2(v, OP_add, table, beside(v, across.level, false));
	int start = node_call2(v, OP_add, node_with_number(v, OP_mul, table, all), which), tap[4];
	for (int k = 0; k < 4; k++) {
		int at = node_with_number(v, OP_mul, beside(v, down.at[k / 2], true), (double)s.dim[3]);
		at = node_call2(v, OP_add, at, beside(v, across.at[k % 2], false));
		tap[k] = node_view(v, node_call2(v, OP_add, start, at), 2, (int64_t[]){ count * h * w, 1 });
	}
	int index = node_concat(v, tap, 4, 1);
	DType scale = dtype_eq(type, F64) ? F64 : F32;
	int in[] = { rows, index, node_expand(v, node_number(v, scale, 1), node_val(v, index)->shape) };
	Attr attr[] = { attr_int("edge", 1), attr_int("max", 1) };
	int y = node_view(v, node_call(v, OP_resample, in, 3, attr, 2), 4, (int64_t[]){ count, h, w, s.dim[1] });
	int empty = node_call2(v, OP_bit_or, beside(v, down.empty, true), beside(v, across.empty, false));
	empty = node_view(v, empty, 4, (int64_t[]){ count, h, w, 1 });
	y = node_where(v, empty, node_number(v, type, 0), y);
	return node_transpose(v, y, (int64_t[]){ 0, 3, 1, 2 });
}

/* ---- means of channels that belong to a bin */

/* 1 where element w is in bin i of m along one axis, else 0: f32[count, m, n]. */
static int membership(Visit *v, const RegionPool *p, int rois, int axis, int64_t n, int64_t m)
{
	double number[MOST_BINS + 1];
	int edge[2], bound[2];
	for (int i = 0; i <= m; i++)
		number[i] = i;
	for (int k = 0; k < 2; k++) {
		edge[k] = round_away(v, node_slice(v, rois, 1, 1 + axis + 2 * k, 1));
		edge[k] = node_with_number(v, OP_mul, node_with_number(v, OP_add, edge[k], k), p->scale);
	}
	int size = node_with_number(v, OP_maximum, node_call2(v, OP_sub, edge[1], edge[0]), 0.1);
	size = node_with_number(v, OP_div, size, (double)m);
	int place = node_cast(v, node_count(v, n, 2, 3), F32);
	for (int k = 0; k < 2; k++) {
		int at = node_call2(v, OP_mul, size, node_numbers(v, F32, number + k, m, 2));
		at = node_call1(v, k == 0 ? OP_floor : OP_ceil, node_call2(v, OP_add, at, edge[0]));
		bound[k] = node_view(v, at, 3, (int64_t[]){ node_val(v, rois)->shape.dim[0], m, 1 });
	}
	int in = node_call2(v, OP_bit_and, node_call2(v, OP_less_equal, bound[0], place),
		node_call2(v, OP_less, place, bound[1]));
	return node_cast(v, in, F32);
}

static int sum_last(Visit *v, int x)
{
	Attr last[] = { attr_ints("axes", (int64_t[]){ 2 }, 1), attr_int("keep", 0) };
	return node_call(v, OP_reduce_sum, &x, 1, last, 2);
}

/* Bins are products of rows and columns, so their sums are two products of matrices. */
int node_psroi_pool(Visit *v, int x, int rois, const RegionPool *p)
{
	Shape s = node_val(v, x)->shape, r = node_val(v, rois)->shape;
	int64_t n = p->height, count = r.dim[0];
	if (node_ok(v) && (n < 1 || n > MOST_BINS || n != p->width))
		node_fail(v, ERR_INPUT, "its bins are %lldx%lld, but must be a square", (long long)n, (long long)p->width);
	if (node_ok(v) && (s.rank != 4 || r.rank != 2 || r.dim[1] != 5 || !dtype_eq(node_val(v, x)->type, F32) ||
						  s.dim[0] < 1 || s.dim[1] % (n * n) != 0 || s.dim[2] < 1 || s.dim[3] < 1))
		node_fail(v, ERR_TYPE,
			"its regions are not rows of 5 numbers, or its input is no image of floats with channels for %lld bins",
			(long long)(n * n));
	if (!node_ok(v))
		return DAG_NONE;
	rois = node_cast(v, rois, F32);
	int across = membership(v, p, rois, 0, s.dim[3], n), down = membership(v, p, rois, 1, s.dim[2], n);
	int which = node_view(v, node_slice(v, rois, 1, 0, 1), 4, (int64_t[]){ count, 1, 1, 1 });
	int image = node_cast(v, node_count(v, s.dim[0], 2, 4), F32);
	int rows = node_view(v, down, 4, (int64_t[]){ count, n, 1, s.dim[2] });
	rows = node_call2(v, OP_mul, rows, node_cast(v, node_call2(v, OP_equal, which, image), F32));
	x = node_view(v, x, 6, (int64_t[]){ s.dim[0], s.dim[1] / n / n, n, n, s.dim[2], s.dim[3] });
	int part[] = { x, across }, sums = node_einsum_of(v, "ncpqhw,rqw->rncpqh", part, 2), all[] = { sums, rows };
	int y = node_einsum_of(v, "rncpqh,rpnh->rcpq", all, 2);
	int wide = node_view(v, sum_last(v, across), 4, (int64_t[]){ count, 1, 1, n });
	int high = node_view(v, sum_last(v, down), 4, (int64_t[]){ count, 1, n, 1 });
	int area = node_with_number(v, OP_maximum, node_call2(v, OP_mul, wide, high), 1);
	return node_call2(v, OP_div, y, area);
}
