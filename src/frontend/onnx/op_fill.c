/*
 * Rows whose result follows from places and not from elements: counted numbers, masks of triangles and of classes. Each
 * is a composition with small constants that count.
 */
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

/* ---- counted numbers */

/* ceil((limit - start) / delta) numbers of an integer type; -1: more than fit. */
static int64_t integers_in(int64_t start, int64_t limit, int64_t delta)
{
	if (delta > 0 ? start >= limit : start <= limit)
		return 0;
	uint64_t span = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
	uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta, n = (span - 1) / step + 1;
	return n > INT64_MAX ? -1 : (int64_t)n;
}

static void import_range(Visit *v)
{
	const Item *in[3];
	double number[3] = { 0 };
	int64_t whole[3] = { 0 };
	for (int k = 0; k < 3; k++) {
		in[k] = node_known(v, k);
		if (!node_ok(v))
			return;
		if (shape_elements(in[k]->shape) != 1 || !dtype_eq(in[k]->type, in[0]->type)) {
			node_fail(v, ERR_TYPE, "its start, limit and delta must be scalars of one type");
			return;
		}
		number[k] = element_get(in[k]->type, in[k]->data, 0);
		whole[k] = dtype_is_int(in[k]->type) ? element_get_int(in[k]->type, in[k]->data, 0) : 0;
	}
	DType type = in[0]->type, stash = F32;
	int64_t code = v->frame->version >= 27 ? node_attr_int(v, "stash_type", 1) : 1;
	bool halves = dtype_is_float(type) && type.bits == 16;
	if (!onnx_type_from(code, &stash) || !dtype_is_float(stash) || (halves && stash.bits < 32)) {
		node_fail(v, ERR_UNSUPPORTED, "its attribute stash_type is %s, but must be FLOAT or DOUBLE",
			onnx_type_name(code));
		return;
	}
	double most = ceil((number[1] - number[0]) / number[2]);
	if (number[2] == 0 || isnan(most) || type.kind == DT_BOOL) {
		node_fail(v, ERR_INPUT, "no range goes from %g to %g in steps of %g", number[0], number[1], number[2]);
		return;
	}
	int64_t n = dtype_is_int(type) ? integers_in(whole[0], whole[1], whole[2])
		: most > NODE_COUNTED ? -1 : most > 0 ? (int64_t)most : 0;
	if (n < 0 || n > NODE_COUNTED) {
		node_fail(v, ERR_UNSUPPORTED, "its result has more than %d numbers", NODE_COUNTED);
		return;
	}
	void *at = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, n) + 1);
	for (int64_t i = 0; i < n; i++)
		if (dtype_is_int(type))
			element_set_int(type, at, i, (int64_t)((uint64_t)whole[0] + (uint64_t)i * (uint64_t)whole[2]));
		else
			element_set(type, at, i, number[0] + (double)i * number[2]);
	node_set_known(v, 0, type, shape_of(1, &n), at);
}

/* Column less row of each element of a matrix, in the last two dimensions. */
static int diagonal_of(Visit *v, int64_t rows, int64_t columns)
{
	return node_call2(v, OP_sub, node_count(v, columns, 1, 2), node_count(v, rows, 0, 2));
}

static void import_eye_like(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t k = node_attr_int(v, "k", 0), code = node_attr_int(v, "dtype", onnx_type_to(x->type));
	DType type = x->type;
	if (node_ok(v) && x->shape.rank != 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must be a matrix", x->shape.rank);
	if (node_ok(v) && !onnx_type_from(code, &type))
		node_fail(v, ERR_UNSUPPORTED, "its result is %s, which dlc does not have", onnx_type_name(code));
	if (!node_ok(v))
		return;
	int64_t *at = arena_copy(v->im->arena, &k, sizeof k);
	int on = node_call2(v, OP_equal, diagonal_of(v, x->shape.dim[0], x->shape.dim[1]),
		node_const(v, I64, shape_of(0, NULL), at));
	node_set(v, 0, node_cast(v, on, type));
}

/* The diagonal and what is above it (or below): where column - row is at least (at most) k. */
static void import_trilu(Visit *v)
{
	const Item *x = node_need(v, 0);
	int rank = x->shape.rank;
	bool upper = node_attr_flag(v, "upper", true);
	if (node_ok(v) && rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 2 or more", rank);
	if (node_ok(v) && node_in(v, 1) != NULL &&
		(shape_elements(node_in(v, 1)->shape) != 1 || !dtype_eq(node_in(v, 1)->type, I64)))
		node_fail(v, ERR_TYPE, "its input k must be one number of i64");
	if (!node_ok(v))
		return;
	int k = node_in(v, 1) != NULL ? node_reshape(v, node_value(v, 1), shape_of(0, NULL)) : node_number(v, I64, 0);
	int at = diagonal_of(v, x->shape.dim[rank - 2], x->shape.dim[rank - 1]);
	int keep = node_call2(v, OP_less_equal, upper ? k : at, upper ? at : k);
	node_set(v, 0, node_where(v, keep, node_value(v, 0), node_number(v, x->type, 0)));
}

/* ---- classes */

/* Part k of values, off and on, as a scalar. */
static int one_hot_value(Visit *v, int64_t k)
{
	int64_t one = 1;
	int x = node_value(v, 2);
	Attr attr[] = { attr_ints("starts", &k, 1), attr_ints("sizes", &one, 1) };
	return node_reshape(v, node_call(v, OP_slice, &x, 1, attr, 2), shape_of(0, NULL));
}

static void import_one_hot(Visit *v)
{
	const Item *index = node_need(v, 0), *depth = node_known(v, 1), *values = node_need(v, 2);
	int rank = index->shape.rank, axis = node_axis(v, node_attr_int(v, "axis", -1), rank + 1);
	if (node_ok(v) && (values->shape.rank != 1 || values->shape.dim[0] != 2))
		node_fail(v, ERR_TYPE, "its input of values must have two numbers, off and on");
	if (node_ok(v) && (shape_elements(depth->shape) != 1 || rank == DAG_MAX_RANK))
		node_fail(v, ERR_TYPE, "its depth must be one number, and its indices have at most %d dimensions",
			DAG_MAX_RANK - 1);
	if (!node_ok(v))
		return;
	double n = element_get(depth->type, depth->data, 0);
	if (!(n >= 1) || !(n <= NODE_COUNTED)) {
		node_fail(v, ERR_INPUT, "its depth %g is not between 1 and %d", n, NODE_COUNTED);
		return;
	}
	Shape s = { .rank = rank + 1 };
	for (int k = 0; k <= rank; k++)
		s.dim[k] = k == axis ? 1 : index->shape.dim[k - (k > axis)];
	int at = node_reshape(v, node_cast(v, node_value(v, 0), I64), s), zero = node_number(v, I64, 0);
	int below = node_call2(v, OP_less, at, zero);
	at = node_where(v, below, node_call2(v, OP_add, at, node_number(v, I64, floor(n))), at);
	int hot = node_call2(v, OP_equal, at, node_count(v, (int64_t)n, axis, rank + 1));
	node_set(v, 0, node_where(v, hot, one_hot_value(v, 1), one_hot_value(v, 0)));
}

const NodeRow onnx_fill_rows[] = {
	{ "Range", 11, "", import_range },
	{ "EyeLike", 9, "", import_eye_like },
	{ "Trilu", 14, "", import_trilu },
	{ "OneHot", 9, "", import_one_hot },
	{ NULL, 0, NULL, NULL },
};
