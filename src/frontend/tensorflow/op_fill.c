/* Rows that make elements from few numbers: fills, ranges, one-hot rows, bands of matrices. */
#include "frontend/tensorflow/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

static void import_fill(Visit *v)
{
	int n;
	const int64_t *at = tf_ints(v, 0, &n);
	const Item *x = node_need(v, 1);
	if (node_ok(v) && (n > DAG_MAX_RANK || shape_elements(x->shape) != 1))
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	for (int k = 0; k < n && node_ok(v); k++)
		if (at[k] < 0)
			node_fail(v, ERR_INPUT, "its result has a dimension of %lld", (long long)at[k]);
	if (node_ok(v))
		node_set(v, 0, node_expand(v, node_reshape(v, node_value(v, 1), shape_of(0, NULL)), shape_of(n, at)));
}

/* A known list: start, start + by, ... */
static void set_range(Visit *v, DType type, double start, double by, double count)
{
	if (node_ok(v) && !(count <= NODE_COUNTED))
		node_fail(v, ERR_UNSUPPORTED, "%g numbers are too many to be counted", count);
	if (!node_ok(v))
		return;
	int64_t n = count < 0 ? 0 : (int64_t)count;
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, n) + 1);
	for (int64_t i = 0; i < n; i++) {
		if (dtype_is_float(type))
			element_set(type, data, i, start + (double)i * by);
		else
			element_set_int(type, data, i, (int64_t)start + i * (int64_t)by);
	}
	node_set_known(v, 0, type, shape_of(1, &n), data);
}

static void import_range(Visit *v)
{
	DType type = node_need(v, 0)->type;
	double start = tf_number(v, 0), end = tf_number(v, 1), by = tf_number(v, 2);
	if (node_ok(v) && by == 0)
		node_fail(v, ERR_INPUT, "its step is 0");
	set_range(v, type, start, by, node_ok(v) ? ceil((end - start) / by) : 0);
}

static void import_lin_space(Visit *v)
{
	DType type = node_need(v, 0)->type;
	double start = tf_number(v, 0), end = tf_number(v, 1), n = tf_number(v, 2);
	set_range(v, type, start, n > 1 ? (end - start) / (n - 1) : 0, n);
}

/* depth numbers in place of each index: `on` at the index, else `off`. */
static void import_one_hot(Visit *v)
{
	const Item *x = node_need(v, 0), *on = node_need(v, 2);
	int64_t depth = tf_int(v, 1);
	int rank = x->shape.rank + 1, axis = rank - 1;
	int64_t given = node_attr_int(v, "axis", -1);
	if (given != -1)
		axis = node_axis(v, given, rank);
	if (node_ok(v) && (rank > DAG_MAX_RANK || depth < 0))
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions and a depth of %lld", rank, (long long)depth);
	if (!node_ok(v))
		return;
	Shape s = { .rank = rank };
	for (int k = 0; k < rank; k++)
		s.dim[k] = k == axis ? 1 : x->shape.dim[k - (k > axis)];
	int at = node_reshape(v, node_cast(v, node_value(v, 0), I64), s);
	int hit = node_call2(v, OP_equal, at, node_count(v, depth, axis, rank));
	int y = node_where(v, hit, node_value(v, 2), tf_value(v, 3));
	node_set(v, 0, node_cast(v, y, on->type));
}

/* Elements between the lowest and the highest diagonal stay, all others become 0. Negative counts keep all. */
static void import_band(Visit *v)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	int64_t lower = tf_int(v, 1), upper = tf_int(v, 2);
	if (node_ok(v) && rank < 2)
		node_fail(v, ERR_TYPE, "its input is no matrix");
	if (!node_ok(v))
		return;
	const Shape *s = &node_val(v, x)->shape;
	int row = node_count(v, s->dim[rank - 2], 0, 2), column = node_count(v, s->dim[rank - 1], 1, 2);
	int zero = node_number(v, node_val(v, x)->type, 0), apart = node_call2(v, OP_sub, row, column);
	if (lower >= 0)
		x = node_where(v, node_call2(v, OP_less_equal, apart, node_number(v, I64, (double)lower)), x, zero);
	if (upper >= 0)
		x = node_where(v, node_call2(v, OP_less_equal, node_number(v, I64, -(double)upper), apart), x, zero);
	node_set(v, 0, x);
}

/* A vector on the diagonal of a matrix. */
static void import_diag(Visit *v)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	if (node_ok(v) && (rank < 1 || rank >= DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "its input has %d dimensions", rank);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, x)->shape;
	int64_t n = s.dim[rank - 1];
	s.dim[s.rank++] = 1;
	int hit = node_call2(v, OP_equal, node_count(v, n, 0, 2), node_count(v, n, 1, 2));
	node_set(v, 0, node_where(v, hit, node_reshape(v, x, s), node_number(v, node_val(v, x)->type, 0)));
}

/* The diagonal of each matrix, as elements of all of it. */
static void import_diag_part(Visit *v)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	if (node_ok(v) && rank < 2)
		node_fail(v, ERR_TYPE, "its input is no matrix");
	if (!node_ok(v))
		return;
	Shape s = node_val(v, x)->shape;
	int64_t rows = s.dim[rank - 2], columns = s.dim[rank - 1], n = rows < columns ? rows : columns;
	int64_t *at = arena_array(v->im->arena, int64_t, n + 1);
	for (int64_t i = 0; i < n; i++)
		at[i] = i * (columns + 1);
	s.rank--;
	s.dim[rank - 2] = rows * columns;
	int in[] = { node_reshape(v, x, s), node_const(v, I64, shape_of(1, &n), at) };
	Attr attr = attr_int("axis", rank - 2);
	node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
}

static void import_invert_permutation(Visit *v)
{
	int n;
	const int64_t *at = tf_ints(v, 0, &n);
	int64_t count = n, *to = arena_array(v->im->arena, int64_t, n + 1);
	DType type = node_need(v, 0)->type;
	void *data = arena_alloc(v->im->arena, 8 * (size_t)(n + 1));
	for (int k = 0; k < n && node_ok(v); k++) {
		if (at[k] < 0 || at[k] >= n)
			node_fail(v, ERR_INPUT, "its input holds %lld, which is no place of %d", (long long)at[k], n);
		else
			to[at[k]] = k;
	}
	for (int k = 0; k < n && node_ok(v); k++)
		element_set_int(type, data, k, to[k]);
	node_set_known(v, 0, type, shape_of(1, &count), data);
}

const NodeRow tf_fill_rows[] = {
	{ "Fill", 0, "index_type", import_fill },
	{ "Range", 0, "", import_range },
	{ "LinSpace", 0, "", import_lin_space },
	{ "OneHot", 0, "", import_one_hot },
	{ "MatrixBandPart", 0, "", import_band },
	{ "BatchMatrixBandPart", 0, "", import_band },
	{ "MatrixDiag", 0, "", import_diag },
	{ "BatchMatrixDiag", 0, "", import_diag },
	{ "MatrixDiagPart", 0, "", import_diag_part },
	{ "BatchMatrixDiagPart", 0, "", import_diag_part },
	{ "InvertPermutation", 0, "", import_invert_permutation },
	{ NULL, 0, NULL, NULL },
};
