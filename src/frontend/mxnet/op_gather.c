/*
 * Rows that read or write elements at places. MXNet writes places as numbers of any type, f32 by default; they are
 * cut to integers here. Places outside are moved to the ends (clip), or counted around (wrap).
 */
#include "frontend/mxnet/rows.h"

#include <string.h>

/* Input k as places i64 in [0, n) of a mode. */
static int places(Visit *v, int k, int64_t n, const char *mode)
{
	node_need(v, k);
	int at = node_cast(v, node_value(v, k), I64);
	if (strcmp(mode, "wrap") == 0)
		return node_with_number(v, OP_mod, at, (double)(n > 0 ? n : 1));
	if (strcmp(mode, "clip") != 0 && strcmp(mode, "raise") != 0 && node_ok(v))
		node_fail(v, ERR_INPUT, "its attribute mode is '%.20s', not clip, wrap or raise", mode);
	if (strcmp(mode, "raise") == 0)
		return at;
	Attr attr[] = { attr_float("lo", 0), attr_float("hi", (double)(n > 0 ? n - 1 : 0)) };
	return node_call(v, OP_clip, &at, 1, attr, 2);
}

static int gather(Visit *v, int x, int at, int axis)
{
	Attr attr = attr_int("axis", axis);
	return node_call(v, OP_gather, (int[]){ x, at }, 2, &attr, 1);
}

static void import_take(Visit *v)
{
	const Item *x = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 0), x->shape.rank);
	int at = places(v, 1, x->shape.dim[axis], node_attr_text(v, "mode", "clip"));
	node_set(v, 0, gather(v, node_value(v, 0), at, axis));
}

static void import_embedding(Visit *v)
{
	int64_t rows = node_attr_int(v, "input_dim", 0), size = node_attr_int(v, "output_dim", 0);
	if (node_ok(v) && (rows < 1 || size < 1 || rows > INT32_MAX || size > INT32_MAX))
		node_fail(v, ERR_INPUT, "its table of %lld and %lld numbers is out of range", (long long)rows, (long long)size);
	int table = mxnet_weight(v, 1, shape_of(2, (int64_t[]){ rows, size }));
	node_set(v, 0, gather(v, table, places(v, 0, rows, "clip"), 0));
}

/* Places [M, ...] name the first M dimensions; the Dag has them last. */
static int tuples(Visit *v, int k)
{
	const Item *it = node_need(v, k);
	int64_t perm[DAG_MAX_RANK];
	int rank = it->shape.rank;
	if (node_ok(v) && rank < 1)
		node_fail(v, ERR_TYPE, "its indices are a scalar");
	for (int i = 0; i < rank; i++)
		perm[i] = i == rank - 1 ? 0 : i + 1;
	int at = node_cast(v, node_value(v, k), I64);
	return node_ok(v) ? node_transpose(v, at, perm) : DAG_NONE;
}

static void import_gather_nd(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_call2(v, OP_gather_nd, node_value(v, 0), tuples(v, 1)));
}

static void import_scatter_nd(Visit *v)
{
	const Item *x = node_need(v, 0);
	MxnetList shape = mxnet_attr_list(v, "shape");
	int at = tuples(v, 1);
	if (node_ok(v) && shape.n < 1)
		node_fail(v, ERR_INPUT, "it has no shape");
	if (!node_ok(v))
		return;
	int in[] = { node_expand(v, node_number(v, x->type, 0), shape_of(shape.n, shape.at)), at, node_value(v, 0) };
	node_set(v, 0, node_call(v, OP_scatter_nd, in, 3, NULL, 0));
}

static void import_one_hot(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t depth = node_attr_int(v, "depth", 0);
	double on = node_attr_float(v, "on_value", 1), off = node_attr_float(v, "off_value", 0);
	DType type = mxnet_attr_type(v, "dtype", F32);
	if (node_ok(v) && (depth < 1 || it->shape.rank == DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its depth is %lld", (long long)depth);
	if (!node_ok(v))
		return;
	Shape s = it->shape;
	s.dim[s.rank++] = 1;
	int at = node_reshape(v, node_cast(v, node_value(v, 0), I64), s);
	int here = node_call2(v, OP_equal, at, node_count(v, depth, 0, 1));
	node_set(v, 0, node_where(v, here, node_number(v, type, on), node_number(v, type, off)));
}

/* One element along an axis for each of the others. */
static void pick(Visit *v, int axis, bool keep, const char *mode)
{
	const Item *x = node_need(v, 0), *it = node_need(v, 1);
	Shape s = x->shape;
	if (!node_ok(v))
		return;
	s.dim[axis] = 1;
	if (shape_elements(it->shape) != shape_elements(s)) {
		node_fail(v, ERR_TYPE, "its indices must have the shape of its input without axis %d", axis);
		return;
	}
	Attr attr = attr_int("axis", axis);
	int in[] = { node_value(v, 0), node_reshape(v, places(v, 1, x->shape.dim[axis], mode), s) };
	int y = node_call(v, OP_gather_elements, in, 2, &attr, 1);
	memmove(&s.dim[axis], &s.dim[axis + 1], sizeof s.dim[0] * (size_t)(s.rank - axis - 1));
	s.rank--;
	if (s.rank == 0)
		s.dim[s.rank++] = 1;
	node_set(v, 0, keep ? y : node_reshape(v, y, s));
}

static void import_pick(Visit *v)
{
	const Item *x = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", -1), x->shape.rank);
	bool keep = node_attr_flag(v, "keepdims", false);
	pick(v, axis, keep, node_attr_text(v, "mode", "clip"));
}

static void import_batch_take(Visit *v)
{
	const Item *x = node_need(v, 0);
	if (node_ok(v) && x->shape.rank != 2)
		node_fail(v, ERR_TYPE, "its input must be a matrix");
	pick(v, 1, false, "clip");
}

const NodeRow mxnet_gather_rows[] = {
	{ "take", 0, "", import_take },
	{ "Embedding", 0, "dtype sparse_grad deterministic", import_embedding },
	{ "gather_nd", 0, "", import_gather_nd },
	{ "scatter_nd", 0, "", import_scatter_nd },
	{ "one_hot", 0, "", import_one_hot },
	{ "pick", 0, "", import_pick },
	{ "batch_take", 0, "", import_batch_take },
	{ NULL, 0, NULL, NULL },
};
