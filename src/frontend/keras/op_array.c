/*
 * Rows of functions of keras.ops that join, cut, turn and mask tensors, beside those of op_function.c. Triangles and
 * diagonals compare numbers of rows and columns, which are constants.
 */
#include "frontend/keras/function.h"

#include <string.h>

/* ---- joining and cutting */

/* With at least `rank` dimensions: "Hstack" 1, "Dstack" [1,n,1] and [m,n,1]. */
static int at_least(Visit *v, int x, int rank)
{
	Shape s = node_val(v, x)->shape, to = { .rank = rank };
	if (!node_ok(v) || s.rank >= rank)
		return x;
	for (int k = 0; k < rank; k++)
		to.dim[k] = 1;
	for (int k = 0; k < s.rank; k++)
		to.dim[s.rank == 1 && rank > 1 ? 1 : k] = s.dim[k];
	return node_reshape(v, x, to);
}

/* Keras joins along the first axis also vectors, unlike NumPy's vstack: their result is one vector. */
static void import_vertical(Visit *v)
{
	static const char *const names[] = { "xs", NULL };
	int *x, n = keras_listed(v, names, &x);
	if (node_ok(v) && node_val(v, x[0])->shape.rank < 1)
		node_fail(v, ERR_TYPE, "its inputs have no dimension");
	if (node_ok(v))
		node_set(v, 0, node_concat(v, x, n, 0));
}

static void import_stacked(Visit *v)
{
	static const char *const names[] = { "xs", NULL };
	int *x, n = keras_listed(v, names, &x), rank = v->node->op[0] == 'H' ? 1 : 3;
	for (int k = 0; k < n; k++)
		x[k] = at_least(v, x[k], rank);
	if (!node_ok(v))
		return;
	int have = node_val(v, x[0])->shape.rank;
	for (int k = 1; k < n; k++)
		if (node_val(v, x[k])->shape.rank != have)
			node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", have, node_val(v, x[k])->shape.rank);
	int axis = rank == 3 ? 2 : have > 1 ? 1 : 0;
	if (node_ok(v))
		node_set(v, 0, node_concat(v, x, n, axis));
}

static void import_append(Visit *v)
{
	int x[2];
	if (!keras_two(v, x))
		return;
	keras_promote(v, x, 2);
	for (int k = 0; k < 2 && !node_has(v, "axis"); k++)
		x[k] = keras_flat(v, x[k]);
	int rank = node_val(v, x[0])->shape.rank, axis = keras_axis(v, rank, 0);
	if (node_ok(v) && node_val(v, x[1])->shape.rank != rank)
		node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", rank, node_val(v, x[1])->shape.rank);
	if (node_ok(v))
		node_set(v, 0, node_concat(v, x, 2, axis));
}

/* "Hsplit" along axis 1, "Vsplit" 0, "Dsplit" 2: equal parts, or up to indices; "ArraySplit": as equal as may be. */
static void import_parts(Visit *v)
{
	bool near = v->node->op[0] == 'A';
	int count, x = keras_value(v, 0);
	const int64_t *at = node_attr_ints(v, "indices_or_sections", &count);
	const Json *given = keras_json(v, "indices_or_sections");
	Shape s = node_val(v, x)->shape;
	int64_t own = v->node->op[0] == 'V' ? 0 : v->node->op[0] == 'D' ? 2 : s.rank > 1 ? 1 : 0;
	int axis = near ? keras_axis(v, s.rank, 0) : node_axis(v, own, s.rank);
	if (!node_ok(v))
		return;
	bool equal = given != NULL && given->kind == JV_INT;
	int64_t n = s.dim[axis], parts = equal && count == 1 ? at[0] : count + 1, from = 0;
	if (count < 0 || parts < 1 || (equal && (parts > n || (!near && n % parts != 0)))) {
		node_fail(v, ERR_INPUT, "its parts do not fit dimension %d of %lld elements", axis, (long long)n);
		return;
	}
	for (int64_t k = 0; k < parts && (!equal || k < node_nout(v)) && node_ok(v); k++) {
		int64_t end = equal ? from + n / parts + (k < n % parts) : k < count ? at[k] : n;
		if (end <= from || end > n)
			node_fail(v, ERR_INPUT, "its part %lld would end at %lld and begin at %lld, of %lld elements", (long long)k,
				(long long)end, (long long)from, (long long)n);
		else if (k < node_nout(v) && node_used(v, (int)k))
			node_set(v, (int)k, node_slice(v, x, axis, from, end - from));
		from = end;
	}
}

static void import_ravel(Visit *v)
{
	int x = keras_value(v, 0);
	if (node_ok(v))
		node_set(v, 0, keras_flat(v, x));
}

/* Each input along a dimension of its own; "xy" exchanges the first two. */
static void import_meshgrid(Visit *v)
{
	int n = node_nin(v);
	bool xy = strcmp(node_attr_text(v, "indexing", "xy"), "xy") == 0 && n > 1;
	Shape all = { .rank = n };
	int x[DAG_MAX_RANK];
	if (n > DAG_MAX_RANK || keras_operand(v, n, "", F32) != DAG_NONE)
		node_fail(v, ERR_UNSUPPORTED, "it has %d inputs, or one that is an array", n);
	for (int k = 0; k < n && node_ok(v); k++) {
		x[k] = keras_flat(v, keras_value(v, k));
		all.dim[xy && k < 2 ? 1 - k : k] = node_val(v, x[k])->shape.dim[0];
	}
	for (int k = 0; k < n && node_ok(v); k++) {
		Shape one = { .rank = n };
		for (int i = 0; i < n; i++)
			one.dim[i] = i == (xy && k < 2 ? 1 - k : k) ? all.dim[i] : 1;
		if (k < node_nout(v) && node_used(v, k))
			node_set(v, k, node_expand(v, node_reshape(v, x[k], one), all));
	}
}

/* ---- other orders */

static int reversed(Visit *v, int x, int axis)
{
	Shape s = node_val(v, x)->shape;
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK];
	for (int k = 0; k < s.rank; k++)
		step[k] = k == axis ? -1 : 1;
	start[axis] = s.dim[axis] - 1;
	Attr attr[] = { attr_ints("starts", start, s.rank), attr_ints("steps", step, s.rank),
		attr_ints("sizes", s.dim, s.rank) };
	return node_ok(v) ? node_along(v, OP_slice, x, attr, 3) : x;
}

static void import_flipped(Visit *v)
{
	int x = keras_value(v, 0), axis = node_axis(v, strcmp(v->node->op, "Fliplr") == 0, node_val(v, x)->shape.rank);
	if (node_ok(v))
		node_set(v, 0, reversed(v, x, axis));
}

/* Quarter turns from the first axis to the second. */
static void import_rot90(Visit *v)
{
	int count, x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *at = node_attr_ints(v, "axes", &count), usual[] = { 0, 1 };
	int64_t turns = (node_attr_int(v, "k", 1) % 4 + 4) % 4, perm[DAG_MAX_RANK];
	if (node_ok(v) && count >= 0 && count != 2)
		node_fail(v, ERR_INPUT, "its axes are %d numbers; two are needed", count);
	at = count == 2 ? at : usual;
	int a = node_ok(v) ? node_axis(v, at[0], rank) : 0, b = node_ok(v) ? node_axis(v, at[1], rank) : 0;
	if (node_ok(v) && a == b)
		node_fail(v, ERR_INPUT, "its axes are the same one");
	for (int k = 0; k < rank; k++)
		perm[k] = k == a ? b : k == b ? a : k;
	if (!node_ok(v))
		return;
	if (turns == 1)
		x = node_transpose(v, reversed(v, x, b), perm);
	else if (turns == 2)
		x = reversed(v, reversed(v, x, a), b);
	else if (turns == 3)
		x = reversed(v, node_transpose(v, x, perm), b);
	node_set(v, 0, x);
}

/* ---- triangles and diagonals, in the last two dimensions */

/* 0, 1, .. of rows or columns, of that many, as [n,1] or [1,n]. */
static int numbers(Visit *v, int64_t n, bool columns)
{
	return node_count(v, n, columns, 2);
}

static void import_triangle(Visit *v)
{
	bool lower = strcmp(v->node->op, "Tril") == 0;
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape;
	int64_t k = node_attr_int(v, "k", 0), far = INT32_MAX; /* no row has as many numbers */
	k = k < -far ? -far : k > far ? far : k;
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 2", s.rank);
	if (!node_ok(v))
		return;
	int row = node_with_number(v, OP_add, numbers(v, s.dim[s.rank - 2], false), (double)k);
	int column = numbers(v, s.dim[s.rank - 1], true);
	int on = node_call2(v, OP_less_equal, lower ? column : row, lower ? row : column);
	node_set(v, 0, node_where(v, on, x, keras_number_like(v, x, 0)));
}

/* Elements (i, i + offset) of two axes, as the last one. */
static int diagonal(Visit *v, int x, int64_t offset, int64_t axis1, int64_t axis2)
{
	Shape s = node_val(v, x)->shape;
	int a = node_axis(v, axis1, s.rank), b = node_axis(v, axis2, s.rank), n = 0;
	int64_t perm[DAG_MAX_RANK], rows = s.dim[a], columns = s.dim[b];
	if (node_ok(v) && (a == b || s.rank < 2))
		node_fail(v, ERR_INPUT, "its axes are not two of its input");
	for (int k = 0; k < s.rank; k++)
		if (k != a && k != b)
			perm[n++] = k;
	if (node_ok(v) && (rows < 1 || columns < 1 || offset <= -rows || offset >= columns))
		node_fail(v, ERR_TYPE, "its diagonal %lld has no elements", (long long)offset);
	if (!node_ok(v))
		return x;
	int64_t first = offset < 0 ? -offset : 0, many = rows - first, wide = columns - (offset > 0 ? offset : 0);
	many = many < wide ? many : wide;
	perm[n++] = a;
	perm[n++] = b;
	Shape flat = { .rank = n - 1 };
	for (int k = 0; k < n - 2; k++)
		flat.dim[k] = s.dim[perm[k]];
	flat.dim[n - 2] = rows * columns;
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK];
	x = node_reshape(v, node_transpose(v, x, perm), flat);
	for (int k = 0; k < flat.rank; k++)
		step[k] = k == flat.rank - 1 ? columns + 1 : 1;
	start[flat.rank - 1] = first * columns + (offset > 0 ? offset : 0);
	flat.dim[flat.rank - 1] = many;
	Attr attr[] = { attr_ints("starts", start, flat.rank), attr_ints("steps", step, flat.rank),
		attr_ints("sizes", flat.dim, flat.rank) };
	return node_call(v, OP_slice, &x, 1, attr, 3);
}

static void import_diagonal(Visit *v)
{
	int x = keras_value(v, 0);
	x = diagonal(v, x, node_attr_int(v, "offset", 0), node_attr_int(v, "axis1", 0), node_attr_int(v, "axis2", 1));
	int64_t last = node_val(v, x)->shape.rank - 1;
	if (node_ok(v))
		node_set(v, 0, strcmp(v->node->op, "Trace") == 0 ? node_reduce(v, OP_reduce_sum, x, &last, 1, false) : x);
}

/* A matrix from its diagonal k, or the diagonal k of a matrix. */
static void import_diag(Visit *v)
{
	int x = keras_value(v, 0);
	int64_t k = node_attr_int(v, "k", 0), far;
	bool near = k >= -INT32_MAX && k <= INT32_MAX;
	if (node_ok(v) && strcmp(v->node->op, "Diagflat") == 0)
		x = keras_flat(v, x);
	int rank = node_val(v, x)->shape.rank;
	if (node_ok(v) && (rank < 1 || rank > 2 || !near))
		node_fail(
			v, ERR_TYPE, "its input has %d dimensions, but needs 1 or 2, and its diagonal is %lld", rank, (long long)k);
	if (!node_ok(v))
		return;
	far = k < 0 ? -k : k;
	int64_t n = node_val(v, x)->shape.dim[0],
			pads[] = { k < 0 ? far : 0, k > 0 ? far : 0, k > 0 ? far : 0, k < 0 ? far : 0 };
	if (rank == 2) {
		node_set(v, 0, diagonal(v, x, k, 0, 1));
		return;
	}
	int on = node_call2(v, OP_equal, numbers(v, n, true), numbers(v, n, false));
	int y = node_where(v, on, x, keras_number_like(v, x, 0));
	Attr attr = attr_ints("pads", pads, 4);
	node_set(v, 0, far > 0 ? node_call(v, OP_pad, &y, 1, &attr, 1) : y);
}

/* ---- at places */

static void import_take_along_axis(Visit *v)
{
	int in[] = { keras_given(v, 0, "x", F32), keras_given(v, 1, "indices", I32) };
	bool flat = !node_has(v, "axis");
	for (int k = 0; k < 2 && flat && node_ok(v); k++)
		in[k] = keras_flat(v, in[k]);
	Shape s = node_val(v, in[0])->shape, at = node_val(v, in[1])->shape;
	int axis = flat ? 0 : keras_axis(v, s.rank, 0);
	if (node_ok(v) && at.rank != s.rank)
		node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", s.rank, at.rank);
	for (int k = 0; k < s.rank && node_ok(v); k++) { /* the other dimensions broadcast */
		if (k == axis)
			continue;
		int64_t most = s.dim[k] > at.dim[k] ? s.dim[k] : at.dim[k];
		s.dim[k] = at.dim[k] = most;
	}
	if (!node_ok(v))
		return;
	in[0] = node_expand(v, in[0], s);
	in[1] = node_expand(v, in[1], at);
	Attr attr = attr_int("axis", axis);
	node_set(v, 0, node_call(v, OP_gather_elements, in, 2, &attr, 1));
}

/* Numbers of the argument start_indices, from 0 on. */
static const int64_t *read_starts(Visit *v, int rank)
{
	const Json *j = keras_argument(v, 1, "start_indices");
	int64_t *out = arena_array(v->im->arena, int64_t, DAG_MAX_RANK);
	bool ok = j != NULL && keras_input(v, 1, "start_indices") < 0;
	j = ok && json_find(j, "config") != NULL ? json_find(json_find(j, "config"), "value") : j;
	ok = ok && j != NULL && j->kind == JV_ARRAY && j->list.n == (size_t)rank;
	for (int k = 0; k < rank && ok; k++) {
		ok = j->list.at[k]->kind == JV_INT && j->list.at[k]->i >= 0;
		out[k] = ok ? j->list.at[k]->i : 0;
	}
	if (node_ok(v) && !ok)
		node_fail(v, ERR_UNSUPPORTED, "its start_indices are not a known number for each of %d dimensions", rank);
	return out;
}

/* A part that would end behind its tensor begins earlier. */
static int64_t start_of(int64_t at, int64_t size, int64_t n)
{
	return at > n - size ? n - size : at;
}

static void import_slice(Visit *v)
{
	int count, x = keras_value(v, 0);
	const int64_t *size = node_attr_ints(v, "shape", &count);
	Shape s = node_val(v, x)->shape;
	const int64_t *at = read_starts(v, s.rank);
	if (node_ok(v) && count != s.rank)
		node_fail(v, ERR_INPUT, "its shape has %d numbers, but its input %d dimensions", count, s.rank);
	for (int k = 0; k < s.rank && node_ok(v); k++)
		if (size[k] < 1 || size[k] > s.dim[k])
			node_fail(v, ERR_INPUT, "it takes %lld elements of %lld", (long long)size[k], (long long)s.dim[k]);
		else
			x = node_slice(v, x, k, start_of(at[k], size[k], s.dim[k]), size[k]);
	node_set(v, 0, x);
}

/* x with y at `at`, along the axes from `axis` on. */
static int inserted(Visit *v, int x, int y, const int64_t *at, int axis)
{
	Shape s = node_val(v, x)->shape;
	int64_t n = node_ok(v) && axis < s.rank ? s.dim[axis] : 0, size = n > 0 ? node_val(v, y)->shape.dim[axis] : 0;
	if (!node_ok(v) || axis == s.rank)
		return y;
	int64_t from = start_of(at[axis], size, n), end = from + size;
	int part[3], parts = 0, middle = inserted(v, node_slice(v, x, axis, from, size), y, at, axis + 1);
	if (from > 0)
		part[parts++] = node_slice(v, x, axis, 0, from);
	part[parts++] = middle;
	if (end < n)
		part[parts++] = node_slice(v, x, axis, end, n - end);
	return node_ok(v) ? node_concat(v, part, parts, axis) : x;
}

static void import_slice_update(Visit *v)
{
	int x = keras_given(v, 0, "inputs", F32), y = keras_given(v, 2, "updates", F32);
	Shape s = node_val(v, x)->shape, u = node_val(v, y)->shape;
	const int64_t *at = read_starts(v, s.rank);
	if (node_ok(v) && u.rank != s.rank)
		node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", s.rank, u.rank);
	for (int k = 0; k < s.rank && node_ok(v); k++)
		if (u.dim[k] < 1 || u.dim[k] > s.dim[k])
			node_fail(v, ERR_TYPE, "it puts %lld elements into %lld", (long long)u.dim[k], (long long)s.dim[k]);
	if (node_ok(v))
		node_set(v, 0, inserted(v, x, node_cast(v, y, node_val(v, x)->type), at, 0));
}

/* Frames of the last dimension: [..,n] as [..,frames,length]. */
static void import_sequences(Visit *v)
{
	int x = keras_value(v, 0), axis = node_axis(v, -1, node_val(v, x)->shape.rank);
	int64_t length = node_attr_int(v, "sequence_length", 0), stride = node_attr_int(v, "sequence_stride", 0);
	int64_t n = node_ok(v) ? node_val(v, x)->shape.dim[axis] : 0;
	if (node_ok(v) && (length < 1 || stride < 1 || length > n || node_val(v, x)->shape.rank >= DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "it takes frames of %lld elements, %lld apart, of %lld", (long long)length,
			(long long)stride, (long long)n);
	int64_t frames = node_ok(v) ? (n - length) / stride + 1 : 0;
	if (node_ok(v) && frames > NODE_COUNTED / length)
		node_fail(v, ERR_UNSUPPORTED, "its frames have more than %d elements", NODE_COUNTED);
	if (!node_ok(v))
		return;
	int64_t *at = arena_array(v->im->arena, int64_t, frames * length);
	for (int64_t k = 0; k < frames * length; k++)
		at[k] = k / length * stride + k % length;
	int in[] = { x, node_const(v, I64, shape_of(2, (int64_t[]){ frames, length }), at) };
	Attr attr = attr_int("axis", axis);
	node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
}

const NodeRow keras_array_rows[] = {
	{ "ops::Hstack", 0, "", import_stacked },
	{ "ops::Vstack", 0, "", import_vertical },
	{ "ops::Dstack", 0, "", import_stacked },
	{ "ops::Append", 0, "", import_append },
	{ "ops::Hsplit", 0, "", import_parts },
	{ "ops::Vsplit", 0, "", import_parts },
	{ "ops::Dsplit", 0, "", import_parts },
	{ "ops::ArraySplit", 0, "", import_parts },
	{ "ops::Ravel", 0, "", import_ravel },
	{ "ops::Meshgrid", 0, "", import_meshgrid },
	{ "ops::Fliplr", 0, "", import_flipped },
	{ "ops::Flipud", 0, "", import_flipped },
	{ "ops::Rot90", 0, "", import_rot90 },
	{ "ops::Tril", 0, "", import_triangle },
	{ "ops::Triu", 0, "", import_triangle },
	{ "ops::Diagonal", 0, "", import_diagonal },
	{ "ops::Trace", 0, "", import_diagonal },
	{ "ops::Diag", 0, "", import_diag },
	{ "ops::Diagflat", 0, "", import_diag },
	{ "ops::TakeAlongAxis", 0, "", import_take_along_axis },
	{ "ops::Slice", 0, "", import_slice },
	{ "ops::SliceUpdate", 0, "", import_slice_update },
	{ "ops::ExtractSequences", 0, "", import_sequences },
	{ NULL, 0, NULL, NULL },
};
