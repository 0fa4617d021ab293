/*
 * Rows of functions of keras.ops that multiply and sum, or count: products of tensors as sums of products by labels,
 * determinants, differences, places among boundaries, segments.
 */
#include "frontend/keras/function.h"

#include <math.h>
#include <string.h>

/* The sum over n pairs of axes, with the other axes of a and then those of b. */
static int contracted(Visit *v, int a, const int64_t *of_a, int b, const int64_t *of_b, int n)
{
	int x[] = { a, b }, rank[] = { node_val(v, a)->shape.rank, node_val(v, b)->shape.rank };
	char label[2][DAG_MAX_RANK + 1] = { "", "" }, out[2 * DAG_MAX_RANK + 1], *to = out;
	keras_promote(v, x, 2);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < rank[i]; k++)
			label[i][k] = (char)('a' + i * DAG_MAX_RANK + k);
	for (int k = 0; k < n && node_ok(v); k++)
		label[1][of_b[k]] = label[0][of_a[k]];
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < rank[i]; k++)
			if (strchr(label[1 - i], label[i][k]) == NULL)
				*to++ = label[i][k];
	*to = 0;
	return node_einsum_of(v, arena_printf(v->im->arena, "%s,%s->%s", label[0], label[1], out), x, 2);
}

/* Numbers of axes, 0 or more, of which several are counted from the end. */
static int read_list(Visit *v, const Json *j, int rank, int64_t *out)
{
	bool many = j != NULL && j->kind == JV_ARRAY;
	size_t n = many ? j->list.n : 1;
	for (size_t k = 0; k < n && node_ok(v); k++) {
		const Json *at = many ? j->list.at[k] : j;
		if (at == NULL || at->kind != JV_INT || k == DAG_MAX_RANK)
			node_fail(v, ERR_INPUT, "its axes are not numbers");
		else
			out[k] = node_axis(v, at->i, rank);
	}
	return node_ok(v) ? (int)n : 0;
}

static void import_tensordot(Visit *v)
{
	int x[2], n = 0, m = 0;
	if (!keras_two(v, x))
		return;
	int rank[] = { node_val(v, x[0])->shape.rank, node_val(v, x[1])->shape.rank };
	int64_t axes[2][DAG_MAX_RANK];
	const Json *given = keras_json(v, "axes");
	if (given != NULL && given->kind == JV_ARRAY && given->list.n == 2) {
		n = read_list(v, given->list.at[0], rank[0], axes[0]);
		m = read_list(v, given->list.at[1], rank[1], axes[1]);
	} else if (given == NULL || given->kind == JV_INT) {
		int64_t many = given != NULL ? given->i : 2;
		n = m = many >= 0 && many <= rank[0] && many <= rank[1] ? (int)many : -1;
		for (int k = 0; k < n; k++) {
			axes[0][k] = rank[0] - n + k;
			axes[1][k] = k;
		}
	} else {
		n = -1;
	}
	if (node_ok(v) && (n != m || n < 0))
		node_fail(v, ERR_INPUT, "its axes do not fit inputs of %d and %d dimensions", rank[0], rank[1]);
	if (node_ok(v))
		node_set(v, 0, contracted(v, x[0], axes[0], x[1], axes[1], n));
}

/* The last axis of a with the last but one of b, or with the last one ("Inner"). */
static void import_dot(Visit *v)
{
	int x[2];
	if (!keras_two(v, x))
		return;
	int64_t at[2];
	if (strcmp(v->node->op, "Vdot") == 0)
		for (int k = 0; k < 2; k++)
			x[k] = keras_flat(v, x[k]);
	int rank[] = { node_val(v, x[0])->shape.rank, node_val(v, x[1])->shape.rank };
	at[0] = rank[0] - 1;
	at[1] = rank[1] > 1 && strcmp(v->node->op, "Inner") != 0 ? rank[1] - 2 : rank[1] - 1;
	if (rank[0] == 0 || rank[1] == 0) {
		keras_promote(v, x, 2);
		node_set(v, 0, node_each2(v, OP_mul, x[0], x[1]));
	} else {
		node_set(v, 0, contracted(v, x[0], &at[0], x[1], &at[1], 1));
	}
}

static void import_outer(Visit *v)
{
	int x[2];
	if (!keras_two(v, x))
		return;
	keras_promote(v, x, 2);
	int64_t n = shape_elements(node_val(v, x[0])->shape), m = shape_elements(node_val(v, x[1])->shape);
	node_set(v, 0,
		node_call2(v, OP_mul, node_view(v, x[0], 2, (int64_t[]){ n, 1 }), node_view(v, x[1], 2, (int64_t[]){ 1, m })));
}

/* Of vectors of three numbers, along one axis of both and of the result. */
static void import_cross(Visit *v)
{
	int x[2];
	if (!keras_two(v, x))
		return;
	keras_promote(v, x, 2);
	bool one = node_has(v, "axis");
	static const char *const names[] = { "axisa", "axisb", "axisc" };
	int rank = node_val(v, x[0])->shape.rank, axis[3];
	for (int k = 0; k < 3; k++)
		axis[k] =
			node_axis(v, node_attr_int(v, one ? "axis" : names[k], -1), k == 1 ? node_val(v, x[1])->shape.rank : rank);
	for (int k = 0; k < 3; k++)
		node_has(v, names[k]);
	if (node_ok(v) &&
		(axis[2] != axis[0] || node_val(v, x[0])->shape.dim[axis[0]] != 3 ||
			node_val(v, x[1])->shape.dim[axis[1]] != 3 || rank != node_val(v, x[1])->shape.rank || axis[1] != axis[0]))
		node_fail(v, ERR_UNSUPPORTED, "it needs vectors of three numbers along the same axis of both");
	int part[3] = { DAG_NONE };
	for (int k = 0; k < 3 && node_ok(v); k++) {
		int i = (k + 1) % 3, j = (k + 2) % 3;
		int plus = node_call2(v, OP_mul, node_slice(v, x[0], axis[0], i, 1), node_slice(v, x[1], axis[0], j, 1));
		int minus = node_call2(v, OP_mul, node_slice(v, x[0], axis[0], j, 1), node_slice(v, x[1], axis[0], i, 1));
		part[k] = node_call2(v, OP_sub, plus, minus);
	}
	if (node_ok(v))
		node_set(v, 0, node_concat(v, part, 3, axis[0]));
}

/* Distances of all rows of x to all of y. */
static void import_cdist(Visit *v)
{
	int x[2];
	if (!keras_two(v, x))
		return;
	for (int k = 0; k < 2; k++) {
		x[k] = keras_float(v, x[k]);
		Shape s = node_val(v, x[k])->shape;
		if (node_ok(v) && (s.rank < 2 || s.rank >= DAG_MAX_RANK))
			node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 2 to %d", s.rank, DAG_MAX_RANK - 1);
		if (!node_ok(v))
			return;
		int at = s.rank - 1 - k;
		memmove(&s.dim[at + 1], &s.dim[at], sizeof *s.dim * (size_t)(s.rank - at));
		s.dim[at] = 1;
		s.rank++;
		x[k] = node_reshape(v, x[k], s);
	}
	keras_promote(v, x, 2);
	int far = node_call2(v, OP_sub, x[0], x[1]);
	int64_t last = node_val(v, far)->shape.rank - 1;
	node_set(
		v, 0, node_call1(v, OP_sqrt, node_reduce(v, OP_reduce_sum, node_call2(v, OP_mul, far, far), &last, 1, false)));
}

static void import_det(Visit *v)
{
	int d = node_call1(v, OP_det, keras_float(v, keras_value(v, 0)));
	if (strcmp(v->node->op, "Det") == 0) {
		node_set(v, 0, d);
	} else if (strcmp(v->node->op, "Logdet") == 0) {
		node_set(v, 0, node_call1(v, OP_log, d));
	} else {
		node_set(v, 0, node_call1(v, OP_sign, d));
		if (node_nout(v) > 1 && node_used(v, 1))
			node_set(v, 1, node_call1(v, OP_log, node_call1(v, OP_abs, d)));
	}
}

/* ---- along an axis */

static void import_diff(Visit *v)
{
	int x = keras_value(v, 0), axis = keras_axis(v, node_val(v, x)->shape.rank, -1);
	int64_t n = node_attr_int(v, "n", 1);
	if (node_ok(v) && (n < 0 || n >= node_val(v, x)->shape.dim[axis] || n > 1024))
		node_fail(v, ERR_UNSUPPORTED, "it takes %lld differences of %lld elements", (long long)n,
			(long long)node_val(v, x)->shape.dim[axis]);
	for (int64_t k = 0; k < n && node_ok(v); k++) {
		int64_t many = node_val(v, x)->shape.dim[axis] - 1;
		x = node_call2(v, OP_sub, node_slice(v, x, axis, 1, many), node_slice(v, x, axis, 0, many));
	}
	node_set(v, 0, x);
}

/* The area under the lines between elements that are dx apart. */
static void import_trapezoid(Visit *v)
{
	int y = keras_float(v, keras_value(v, 0));
	int64_t axis = keras_axis(v, node_val(v, y)->shape.rank, -1);
	double dx = node_attr_float(v, "dx", 1);
	if (node_has(v, "x"))
		node_fail(v, ERR_UNSUPPORTED, "its places x are not supported; dx is");
	if (!node_ok(v))
		return;
	int64_t many = node_val(v, y)->shape.dim[axis] - 1;
	if (many < 1) {
		node_fail(v, ERR_TYPE, "it needs two elements along its axis");
		return;
	}
	y = node_call2(v, OP_add, node_slice(v, y, (int)axis, 1, many), node_slice(v, y, (int)axis, 0, many));
	node_set(v, 0, node_with_number(v, OP_mul, node_reduce(v, OP_reduce_sum, y, &axis, 1, false), dx / 2));
}

/* ---- places among others */

/* x with one more dimension, and what it is compared with in that one. */
static bool spread(Visit *v, int *x, int *list)
{
	Shape s = node_val(v, *x)->shape;
	if (node_ok(v) && s.rank >= DAG_MAX_RANK)
		node_fail(v, ERR_TYPE, "its input has too many dimensions");
	if (!node_ok(v))
		return false;
	int both[] = { *x, keras_flat(v, *list) };
	keras_promote(v, both, 2);
	s.dim[s.rank++] = 1;
	*x = node_reshape(v, both[0], s);
	*list = both[1];
	return node_ok(v);
}

/* How many elements of a rising list are below x, or not above it. */
static int places(Visit *v, int x, int list, bool equal)
{
	if (!spread(v, &x, &list))
		return DAG_NONE;
	int64_t last = node_val(v, x)->shape.rank - 1;
	int below = node_call2(v, equal ? OP_less_equal : OP_less, list, x);
	return node_reduce(v, OP_reduce_sum, node_cast(v, below, I32), &last, 1, false);
}

static void import_digitize(Visit *v)
{
	int x = keras_given(v, 0, "x", F32), list = keras_given(v, 1, "bins", F32);
	if (node_ok(v))
		node_set(v, 0, places(v, x, list, true));
}

static void import_search_sorted(Visit *v)
{
	int list = keras_given(v, 0, "sorted_sequence", F32), x = keras_given(v, 1, "values", F32);
	bool right = strcmp(node_attr_text(v, "side", "left"), "right") == 0;
	if (node_ok(v) && node_val(v, list)->shape.rank != 1)
		node_fail(
			v, ERR_UNSUPPORTED, "its sorted_sequence has %d dimensions; 1 is supported", node_val(v, list)->shape.rank);
	if (node_ok(v))
		node_set(v, 0, places(v, x, list, right));
}

static void import_is_in(Visit *v)
{
	int x[2];
	bool invert = node_attr_flag(v, "invert", false);
	if (!keras_two(v, x) || !spread(v, &x[0], &x[1]))
		return;
	int64_t last = node_val(v, x[0])->shape.rank - 1;
	int any = node_reduce(v, OP_reduce_max, node_cast(v, node_call2(v, OP_equal, x[0], x[1]), F32), &last, 1, false);
	any = node_cast(v, any, BOOL);
	node_set(v, 0, invert ? node_call1(v, OP_bit_not, any) : any);
}

/* ---- segments and places */

/* Updates at places of a tensor of one number. */
static int scattered(Visit *v, int x, int index, int updates, const char *reduction)
{
	int in[] = { x, node_cast(v, index, I64), node_cast(v, updates, node_val(v, x)->type) };
	Attr attr[] = { attr_ints("shape", node_val(v, x)->shape.dim, node_val(v, x)->shape.rank),
		attr_text("reduction", reduction) };
	return node_ok(v) ? node_call(v, OP_scatter_nd, in, 3, attr, 2) : x;
}

/* Rows with one number of segment each: their sums, products or extremes. */
static void import_segments(Visit *v)
{
	static const struct {
		const char *name, *reduction;
		double first;
	} rows[] = { { "SegmentSum", "add", 0 }, { "SegmentProd", "mul", 1 }, { "SegmentMax", "max", -INFINITY },
		{ "SegmentMin", "min", INFINITY } };
	size_t row = 0;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		row = strcmp(rows[k].name, v->node->op) == 0 ? k : row;
	int x = keras_given(v, 0, "data", F32), index = keras_given(v, 1, "segment_ids", I32);
	Shape s = node_val(v, x)->shape, at = node_ok(v) ? node_val(v, index)->shape : (Shape){ 0 };
	int64_t n = node_attr_int(v, "num_segments", 0);
	if (node_ok(v) && (n < 1 || n > NODE_COUNTED))
		node_fail(v, ERR_UNSUPPORTED, "its num_segments is not given, so that its result has no known size");
	if (node_ok(v) && (at.rank != 1 || s.rank < 1 || at.dim[0] != s.dim[0]))
		node_fail(v, ERR_TYPE, "its segment_ids are not one for each row");
	if (!node_ok(v))
		return;
	bool extreme = row > 1;
	if (extreme && !dtype_is_float(node_val(v, x)->type))
		node_fail(v, ERR_UNSUPPORTED, "its integers are not supported");
	s.dim[0] = n;
	int to = node_expand(v, keras_number_like(v, x, rows[row].first), s);
	index = node_view(v, index, 2, (int64_t[]){ at.dim[0], 1 });
	node_set(v, 0, scattered(v, to, index, x, rows[row].reduction));
}

static void import_scatter(Visit *v)
{
	int index = keras_given(v, 0, "indices", I32), x = keras_given(v, 1, "values", F32), count;
	const int64_t *dim = node_attr_ints(v, "shape", &count);
	if (node_ok(v) && (count < 1 || count > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its shape has %d numbers", count);
	for (int k = 0; k < count && node_ok(v); k++)
		if (dim[k] < 1)
			node_fail(v, ERR_INPUT, "its shape has the size %lld", (long long)dim[k]);
	if (node_ok(v))
		node_set(v, 0, scattered(v, node_expand(v, keras_number_like(v, x, 0), shape_of(count, dim)), index, x, "add"));
}

static void import_scatter_update(Visit *v)
{
	int x = keras_given(v, 0, "inputs", F32), index = keras_given(v, 1, "indices", I32);
	int updates = keras_given(v, 2, "updates", F32);
	const char *how = node_attr_text(v, "reduction", "none");
	if (strcmp(how, "none") != 0 && strcmp(how, "add") != 0 && strcmp(how, "mul") != 0 && strcmp(how, "min") != 0 &&
		strcmp(how, "max") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its reduction '%.20s' is not supported", how);
	if (node_ok(v))
		node_set(v, 0, scattered(v, x, index, updates, how));
}

const NodeRow keras_product_rows[] = {
	{ "ops::Tensordot", 0, "", import_tensordot },
	{ "ops::Dot", 0, "", import_dot },
	{ "ops::Inner", 0, "", import_dot },
	{ "ops::Vdot", 0, "", import_dot },
	{ "ops::Outer", 0, "", import_outer },
	{ "ops::Cross", 0, "", import_cross },
	{ "ops::CDist", 0, "", import_cdist },
	{ "ops::Det", 0, "", import_det },
	{ "ops::Logdet", 0, "", import_det },
	{ "ops::Slogdet", 0, "", import_det },
	{ "ops::Diff", 0, "", import_diff },
	{ "ops::Trapezoid", 0, "", import_trapezoid },
	{ "ops::Digitize", 0, "", import_digitize },
	{ "ops::SearchSorted", 0, "", import_search_sorted },
	{ "ops::IsIn", 0, "assume_unique", import_is_in },
	{ "ops::SegmentSum", 0, "sorted", import_segments },
	{ "ops::SegmentProd", 0, "sorted", import_segments },
	{ "ops::SegmentMax", 0, "sorted", import_segments },
	{ "ops::SegmentMin", 0, "sorted", import_segments },
	{ "ops::Scatter", 0, "", import_scatter },
	{ "ops::ScatterUpdate", 0, "", import_scatter_update },
	{ NULL, 0, NULL, NULL },
};
