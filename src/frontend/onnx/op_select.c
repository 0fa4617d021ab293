/*
 * Rows that choose by what elements hold: how many are chosen decides the result's shape, so what decides must be known
 * while importing. NonZero, Unique and NonMaxSuppression are computed here; Compress becomes a gather.
 */
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

/* ---- elements that are true, or not zero */

/* The places of true elements among the first n of a known list. */
static int64_t list_true(const Item *c, int64_t n, int64_t *at)
{
	int64_t count = 0;
	for (int64_t i = 0; i < n; i++)
		if (element_get(c->type, c->data, i) != 0)
			at[count++] = i;
	return count;
}

static void import_compress(Visit *v)
{
	const Item *x = node_need(v, 0), *c = node_known(v, 1);
	bool flat = !node_has(v, "axis");
	int axis = flat ? 0 : node_axis(v, node_attr_int(v, "axis", 0), x->shape.rank);
	if (!node_ok(v))
		return;
	int64_t all = shape_elements(x->shape), dim = flat ? all : x->shape.dim[axis], n = shape_elements(c->shape);
	if (c->shape.rank != 1 || c->type.kind != DT_BOOL || n > dim) {
		node_fail(v, ERR_TYPE, "its condition must be a list of at most %lld bools", (long long)dim);
		return;
	}
	int64_t *at = arena_array(v->im->arena, int64_t, n + 1), count = list_true(c, n, at);
	int in[] = { node_value(v, 0), node_const(v, I64, shape_of(1, &count), at) };
	if (flat)
		in[0] = node_reshape(v, in[0], shape_of(1, &all));
	Attr attr = attr_int("axis", axis);
	node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
}

/* A row of the result for each dimension, a column for each element that is not zero. */
static void import_non_zero(Visit *v)
{
	const Item *x = node_known(v, 0);
	if (!node_ok(v))
		return;
	int64_t all = shape_elements(x->shape);
	if (all > NODE_COUNTED) {
		node_fail(v, ERR_UNSUPPORTED, "%lld elements are too many to be counted", (long long)all);
		return;
	}
	int64_t *place = arena_array(v->im->arena, int64_t, all + 1), n = list_true(x, all, place);
	int64_t dim[] = { x->shape.rank, n }, *at = arena_array(v->im->arena, int64_t, x->shape.rank * n + 1);
	for (int64_t i = 0; i < n; i++)
		for (int k = x->shape.rank - 1; k >= 0; k--) {
			at[k * n + i] = place[i] % x->shape.dim[k];
			place[i] /= x->shape.dim[k];
		}
	node_set_known(v, 0, I64, shape_of(2, dim), at);
}

/* ---- sorting: equal ones keep their order */

/* Whether a goes before b. */
typedef bool Before(const void *of, int64_t a, int64_t b);

/* Sorts n numbers by merging runs of 1, 2, 4, ... of them. */
static void sort(Arena *a, int64_t *x, int64_t n, Before *before, const void *of)
{
	int64_t *other = arena_array(a, int64_t, n + 1);
	for (int64_t run = 1; run < n; run *= 2) {
		for (int64_t lo = 0; lo < n; lo += 2 * run) {
			int64_t mid = lo + run < n ? lo + run : n, hi = mid + run < n ? mid + run : n, i = lo, j = mid;
			for (int64_t k = lo; k < hi; k++)
				other[k] = j < hi && (i == mid || before(of, x[j], x[i])) ? x[j++] : x[i++];
		}
		memcpy(x, other, sizeof *x * (size_t)n);
	}
}

/* ---- Unique */

/* A tensor as n slices of `size` elements, `inner` of which lie together. */
typedef struct Slices {
	const Item *x;
	int64_t n, size, inner;
} Slices;

static int64_t element_of(const Slices *s, int64_t slice, int64_t k)
{
	return (k / s->inner * s->n + slice) * s->inner + k % s->inner;
}

/* -1, 0, 1 as element a is less than, equal to or greater than b; NaN is the greatest. */
static int compare(const Item *x, int64_t a, int64_t b)
{
	if (dtype_is_int(x->type) && x->type.kind == DT_INT) {
		int64_t p = element_get_int(x->type, x->data, a), q = element_get_int(x->type, x->data, b);
		return (p > q) - (p < q);
	}
	if (dtype_is_int(x->type)) {
		uint64_t p = (uint64_t)element_get_int(x->type, x->data, a), q = (uint64_t)element_get_int(x->type, x->data, b);
		return (p > q) - (p < q);
	}
	double p = element_get(x->type, x->data, a), q = element_get(x->type, x->data, b);
	return isnan(p) || isnan(q) ? isnan(p) - isnan(q) : (p > q) - (p < q);
}

static int compare_slices(const Slices *s, int64_t a, int64_t b)
{
	int c = 0;
	for (int64_t k = 0; k < s->size && c == 0; k++)
		c = compare(s->x, element_of(s, a, k), element_of(s, b, k));
	return c;
}

static bool slice_before(const void *of, int64_t a, int64_t b)
{
	return compare_slices(of, a, b) < 0;
}

static bool number_before(const void *of, int64_t a, int64_t b)
{
	return ((const int64_t *)of)[a] < ((const int64_t *)of)[b];
}

static void set_list(Visit *v, int k, int64_t n, const int64_t *list)
{
	node_set_known(v, k, I64, shape_of(1, &n), list);
}

static void import_unique(Visit *v)
{
	const Item *x = node_known(v, 0);
	Arena *a = v->im->arena;
	bool flat = !node_has(v, "axis"), sorted = node_attr_flag(v, "sorted", true);
	int axis = flat ? 0 : node_axis(v, node_attr_int(v, "axis", 0), x->shape.rank);
	if (!node_ok(v))
		return;
	Shape shape = x->shape;
	if (flat)
		shape = (Shape){ .rank = 1, .dim = { shape_elements(x->shape) } };
	Slices s = { .x = x, .n = shape.dim[axis], .inner = shape_product(&shape, axis + 1, shape.rank) };
	s.size = shape_product(&shape, 0, axis) * s.inner;
	int64_t n = s.n, many = 0, *order = arena_array(a, int64_t, n + 1), *group = arena_array(a, int64_t, n + 1);
	int64_t *first = arena_array(a, int64_t, n + 1), *count = arena_array(a, int64_t, n + 1);
	for (int64_t i = 0; i < n; i++)
		order[i] = i;
	sort(a, order, n, slice_before, &s);
	for (int64_t i = 0; i < n; i++) { /* equal slices are beside each other, the first one of them first */
		if (i == 0 || compare_slices(&s, order[i - 1], order[i]) != 0)
			first[many++] = order[i];
		group[order[i]] = many - 1;
		count[many - 1]++;
	}
	int64_t *turn = arena_array(a, int64_t, many + 1), *place = arena_array(a, int64_t, many + 1);
	for (int64_t i = 0; i < many; i++)
		turn[i] = i;
	if (!sorted)
		sort(a, turn, many, number_before, first);
	for (int64_t i = 0; i < many; i++)
		place[turn[i]] = i;
	int64_t *inverse = arena_array(a, int64_t, n + 1), *at = arena_array(a, int64_t, many + 1);
	int64_t *counts = arena_array(a, int64_t, many + 1);
	for (int64_t i = 0; i < n; i++)
		inverse[i] = place[group[i]];
	Slices to = { .n = many, .size = s.size, .inner = s.inner };
	shape.dim[axis] = many;
	size_t bytes = (size_t)dtype_bytes(x->type, shape_elements(shape));
	void *data = arena_alloc(a, bytes + 1);
	for (int64_t i = 0; i < many; i++) {
		at[i] = first[turn[i]];
		counts[i] = count[turn[i]];
		for (int64_t k = 0; k < s.size; k++) {
			int64_t from = element_of(&s, at[i], k), put = element_of(&to, i, k);
			if (dtype_is_float(x->type))
				element_set(x->type, data, put, element_get(x->type, x->data, from));
			else
				element_set_int(x->type, data, put, element_get_int(x->type, x->data, from));
		}
	}
	node_set_known(v, 0, x->type, shape, data);
	set_list(v, 1, many, at);
	set_list(v, 2, n, inverse);
	set_list(v, 3, many, counts);
}

/* ---- NonMaxSuppression */

enum { MOST_COMPARED = 1 << 26 }; /* pairs of boxes */

typedef struct Box {
	double y0, x0, y1, x1;
} Box;

/* Box k: two corners in any order, or its centre and size. */
static Box read_box(const Item *boxes, int64_t k, bool centre)
{
	double b[4];
	for (int i = 0; i < 4; i++)
		b[i] = element_get(boxes->type, boxes->data, k * 4 + i);
	if (centre)
		return (Box){ b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2 };
	return (Box){ fmin(b[0], b[2]), fmin(b[1], b[3]), fmax(b[0], b[2]), fmax(b[1], b[3]) };
}

/* The common area over that of both; 0 for boxes without one. */
static double overlap(Box a, Box b)
{
	double h = fmin(a.y1, b.y1) - fmax(a.y0, b.y0), w = fmin(a.x1, b.x1) - fmax(a.x0, b.x0);
	double common = h > 0 && w > 0 ? h * w : 0;
	double all = (a.y1 - a.y0) * (a.x1 - a.x0) + (b.y1 - b.y0) * (b.x1 - b.x0) - common;
	return all > 0 ? common / all : 0;
}

typedef struct Scores {
	const Item *x;
	int64_t from; /* of the first box */
} Scores;

static bool score_before(const void *of, int64_t a, int64_t b)
{
	const Scores *s = of;
	return element_get(s->x->type, s->x->data, s->from + a) > element_get(s->x->type, s->x->data, s->from + b);
}

/* A known number of input k; `otherwise` without the input. */
static double limit(Visit *v, int k, double otherwise)
{
	if (node_in(v, k) == NULL)
		return otherwise;
	const Item *it = node_known(v, k);
	if (node_ok(v) && shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its input %d must be one number", k + 1);
	return node_ok(v) ? element_get(it->type, it->data, 0) : 0;
}

static void import_suppress(Visit *v)
{
	const Item *boxes = node_known(v, 0), *scores = node_known(v, 1);
	Arena *a = v->im->arena;
	bool centre = node_attr_flag(v, "center_point_box", false);
	double most = limit(v, 2, 0), most_overlap = limit(v, 3, 0), least = limit(v, 4, -INFINITY);
	const int64_t *b = boxes->shape.dim, *s = scores->shape.dim;
	bool fits = boxes->shape.rank == 3 && scores->shape.rank == 3 && b[0] == s[0] && b[1] == s[2] && b[2] == 4 &&
		dtype_is_float(boxes->type) && dtype_is_float(scores->type);
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its boxes and scores must have the shapes [batch, n, 4] and [batch, classes, n]");
	if (!node_ok(v))
		return;
	int64_t n = b[1], lists = s[0] * s[1], keep = most > 0 ? most < (double)n ? (int64_t)most : n : 0, count = 0;
	if ((double)lists * (double)(n + 1) * (double)(keep + 1) > MOST_COMPARED) {
		node_fail(v, ERR_UNSUPPORTED, "%lld lists of %lld boxes are too many to be compared while importing",
			(long long)lists, (long long)n);
		return;
	}
	int64_t *order = arena_array(a, int64_t, n + 1), *out = arena_array(a, int64_t, lists * keep * 3 + 1);
	Box *kept = arena_array(a, Box, keep + 1);
	for (int64_t l = 0; l < lists; l++) {
		int64_t list = 0, nkept = 0;
		Scores of = { scores, l * n };
		for (int64_t i = 0; i < n; i++)
			if (element_get(scores->type, scores->data, of.from + i) > least)
				order[list++] = i;
		sort(a, order, list, score_before, &of);
		for (int64_t i = 0; i < list && nkept < keep; i++) {
			Box x = read_box(boxes, l / s[1] * n + order[i], centre);
			bool hidden = false;
			for (int64_t k = 0; k < nkept && !hidden; k++)
				hidden = overlap(kept[k], x) > most_overlap;
			if (hidden)
				continue;
			kept[nkept++] = x;
			memcpy(&out[3 * count++], (int64_t[]){ l / s[1], l % s[1], order[i] }, 3 * sizeof *out);
		}
	}
	node_set_known(v, 0, I64, shape_of(2, (int64_t[]){ count, 3 }), out);
}

const NodeRow onnx_select_rows[] = {
	{ "Compress", 9, "", import_compress },
	{ "NonZero", 9, "", import_non_zero },
	{ "Unique", 11, "", import_unique },
	{ "NonMaxSuppression", 10, "", import_suppress },
	{ NULL, 0, NULL, NULL },
};
