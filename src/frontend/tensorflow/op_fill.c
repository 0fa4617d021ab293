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

/* Room for a known list of `count` numbers; NULL after a refusal. */
static void *list_room(Visit *v, DType type, double count, int64_t *n)
{
	if (node_ok(v) && !(count <= NODE_COUNTED))
		node_fail(v, ERR_UNSUPPORTED, "%g numbers are too many to be counted", count);
	*n = node_ok(v) && count > 0 ? (int64_t)count : 0;
	return node_ok(v) ? arena_alloc(v->im->arena, (size_t)dtype_bytes(type, *n) + 1) : NULL;
}

/* start, start + by, ... */
static void set_range(Visit *v, DType type, double start, double by, double count)
{
	int64_t n;
	void *data = list_room(v, type, count, &n);
	for (int64_t i = 0; i < n; i++)
		element_set(type, data, i, start + (double)i * by);
	if (node_ok(v))
		node_set_known(v, 0, type, shape_of(1, &n), data);
}

/* Of integers, modulo 2^64 as far as their last one. */
static void set_integers(Visit *v, DType type, int64_t start, int64_t end, int64_t by)
{
	bool up = by > 0;
	uint64_t from = (uint64_t)start, step = (uint64_t)by, apart = up ? (uint64_t)end - from : from - (uint64_t)end;
	uint64_t count = (up ? end > start : end < start) ? (apart - 1) / (up ? step : -step) + 1 : 0;
	int64_t n;
	void *data = list_room(v, type, (double)count, &n);
	for (int64_t i = 0; i < n; i++)
		element_set_int(type, data, i, (int64_t)(from + (uint64_t)i * step));
	if (node_ok(v))
		node_set_known(v, 0, type, shape_of(1, &n), data);
}

static void import_range(Visit *v)
{
	DType type = node_need(v, 0)->type;
	double start = tf_number(v, 0), end = tf_number(v, 1), by = tf_number(v, 2);
	if (node_ok(v) && by == 0)
		node_fail(v, ERR_INPUT, "its step is 0");
	if (!node_ok(v))
		return;
	if (dtype_is_int(type))
		set_integers(v, type, tf_int(v, 0), tf_int(v, 1), tf_int(v, 2));
	else
		set_range(v, type, start, by, ceil((end - start) / by));
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

/* ---- one diagonal, the k-th above the middle one */

/* Input k of the node, the number of a diagonal or the same one twice; absent: the middle one. */
static int64_t diagonal_number(Visit *v, int k)
{
	int n = 0;
	if (node_in(v, k) == NULL)
		return 0;
	const int64_t *at = tf_ints(v, k, &n);
	if (node_ok(v) && (n < 1 || n > 2 || (n == 2 && at[0] != at[1]) || at[0] > INT32_MAX || at[0] < -INT32_MAX))
		node_fail(v, ERR_UNSUPPORTED, "it has several diagonals; one is supported");
	node_attr_text(v, "align", ""); /* of diagonals of unequal lengths */
	return node_ok(v) ? at[0] : 0;
}

/* x [.., n] on diagonal k of matrices [.., rows, columns], whose other elements are those of `rest`. */
static int on_diagonal(Visit *v, int x, int64_t k, int64_t rows, int64_t columns, int rest)
{
	Shape s = node_val(v, x)->shape;
	int64_t pads[2 * DAG_MAX_RANK] = { 0 }, above = k < 0 ? -k : 0, n = node_ok(v) ? s.dim[s.rank - 1] : 0;
	if (!node_ok(v))
		return DAG_NONE;
	pads[s.rank - 1] = above;
	pads[2 * s.rank - 1] = rows - above - n;
	Attr attr = attr_ints("pads", pads, 2 * s.rank);
	x = node_call(v, OP_pad, &x, 1, &attr, 1);
	s.dim[s.rank - 1] = rows;
	s.dim[s.rank++] = 1;
	int row = node_count(v, rows, 0, 2), column = node_count(v, columns, 1, 2);
	int hit = node_call2(v, OP_equal, node_call2(v, OP_sub, column, row), node_number(v, I64, (double)k));
	return node_where(v, hit, node_reshape(v, x, s), rest);
}

/* The numbers of rows and columns are inputs 2 and 3 of the later versions; -1: as few as the diagonal needs. */
static void import_diag(Visit *v)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	if (node_ok(v) && (rank < 1 || rank >= DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "its input has %d dimensions", rank);
	int64_t k = diagonal_number(v, 1), n = node_ok(v) ? node_val(v, x)->shape.dim[rank - 1] : 0;
	int64_t least[] = { n + (k < 0 ? -k : 0), n + (k > 0 ? k : 0) }, size[] = { -1, -1 };
	for (int i = 0; i < 2; i++)
		size[i] = node_in(v, 2 + i) != NULL ? tf_int(v, 2 + i) : -1;
	int64_t square = least[0] > least[1] ? least[0] : least[1];
	bool both = size[0] == -1 && size[1] == -1;
	for (int i = 0; i < 2; i++)
		size[i] = both ? square : size[i] == -1 ? least[i] : size[i];
	if (node_ok(v) && (size[0] < least[0] || size[1] < least[1] || (size[0] > least[0] && size[1] > least[1]) ||
						  size[0] > INT32_MAX || size[1] > INT32_MAX))
		node_fail(v, ERR_INPUT, "its matrix of %lld x %lld does not fit a diagonal of %lld", (long long)size[0],
			(long long)size[1], (long long)n);
	if (!node_ok(v))
		return;
	int rest = node_in(v, 4) != NULL ? node_reshape(v, tf_value(v, 4), shape_of(0, NULL))
	                                 : node_number(v, node_val(v, x)->type, 0);
	node_set(v, 0, on_diagonal(v, x, k, size[0], size[1], rest));
}

/* The length of diagonal k of a matrix, checked. */
static int64_t diagonal_length(Visit *v, const Shape *s, int64_t k)
{
	if (node_ok(v) && s->rank < 2)
		node_fail(v, ERR_TYPE, "its input is no matrix");
	if (!node_ok(v))
		return 0;
	int64_t rows = s->dim[s->rank - 2] + (k < 0 ? k : 0), columns = s->dim[s->rank - 1] - (k > 0 ? k : 0);
	int64_t n = rows < columns ? rows : columns;
	if (n < 1)
		node_fail(v, ERR_INPUT, "its matrix has no diagonal %lld", (long long)k);
	return n;
}

static void import_set_diag(Visit *v)
{
	int x = tf_value(v, 0), y = tf_value(v, 1);
	Shape s = node_val(v, x)->shape, t = node_val(v, y)->shape;
	int64_t k = diagonal_number(v, 2), n = diagonal_length(v, &s, k);
	bool fits = t.rank == s.rank - 1 && t.rank > 0 && t.dim[t.rank - 1] == n;
	for (int i = 0; i < t.rank - 1 && fits; i++)
		fits = t.dim[i] == s.dim[i];
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its diagonals do not fit its matrices");
	if (node_ok(v))
		node_set(v, 0, on_diagonal(v, y, k, s.dim[s.rank - 2], s.dim[s.rank - 1], x));
}

/* The diagonal of each matrix, as elements of all of it. */
static void import_diag_part(Visit *v)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	Shape s = node_val(v, x)->shape;
	int64_t k = diagonal_number(v, 1), n = diagonal_length(v, &s, k);
	if (node_in(v, 2) != NULL)
		node_value(v, 2); /* fills shorter diagonals, and there is one */
	if (!node_ok(v))
		return;
	int64_t rows = s.dim[rank - 2], columns = s.dim[rank - 1], *at = arena_array(v->im->arena, int64_t, n + 1);
	for (int64_t i = 0; i < n; i++)
		at[i] = (i + (k < 0 ? -k : 0)) * columns + i + (k > 0 ? k : 0);
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
	{ "MatrixDiagV2", 0, "", import_diag },
	{ "MatrixDiagV3", 0, "", import_diag },
	{ "MatrixDiagPartV2", 0, "", import_diag_part },
	{ "MatrixDiagPartV3", 0, "", import_diag_part },
	{ "MatrixSetDiag", 0, "", import_set_diag },
	{ "BatchMatrixSetDiag", 0, "", import_set_diag },
	{ "MatrixSetDiagV2", 0, "", import_set_diag },
	{ "MatrixSetDiagV3", 0, "", import_set_diag },
	{ "InvertPermutation", 0, "", import_invert_permutation },
	{ NULL, 0, NULL, NULL },
};
