/*
 * Rows of reductions over axes, of places of extremes, cumulative sums and products, and of the largest k. Axes that
 * became an input in a later opset must be known. Reductions that the Dag lacks are a formula before or behind one
 * that it has.
 */
#include "frontend/onnx/rows.h"

#include <float.h>

/* The axes of a reduction, in order; *n < 0: it does nothing. */
static void reduced_axes(Visit *v, int input_since, int64_t *axes, int *n)
{
	int rank = node_need(v, 0)->shape.rank, count;
	bool noop = v->frame->version >= input_since && node_attr_flag(v, "noop_with_empty_axes", false);
	const int64_t *at = node_attr_or_input(v, "axes", input_since, 1, &count);
	bool on[DAG_MAX_RANK] = { false };
	if (count > rank)
		node_fail(v, ERR_TYPE, "it reduces %d axes, but its input has %d dimensions", count, rank);
	for (int k = 0; k < count && node_ok(v); k++)
		on[node_axis(v, at[k], rank)] = true;
	*n = count <= 0 && noop ? -1 : 0;
	for (int k = 0; k < rank && *n >= 0; k++)
		if (on[k] || count <= 0)
			axes[(*n)++] = k;
}

static void import_reduce(Visit *v, int op, int input_since, int (*before)(Visit *, int), int (*after)(Visit *, int))
{
	int64_t axes[DAG_MAX_RANK];
	int n;
	reduced_axes(v, input_since, axes, &n);
	int64_t keep = node_attr_flag(v, "keepdims", true);
	int x = node_value(v, 0);
	if (before != NULL)
		x = before(v, x);
	if (n < 0) {
		x = after != NULL || before != NULL ? x : node_call1(v, OP_identity, x);
	} else {
		Attr attr[] = { attr_ints("axes", axes, n), attr_int("keep", keep) };
		x = node_call(v, op, &x, 1, attr, 2);
	}
	node_set(v, 0, after != NULL ? after(v, x) : x);
}

static int square(Visit *v, int x)
{
	return node_call2(v, OP_mul, x, x);
}

static int absolute(Visit *v, int x)
{
	return node_call1(v, OP_abs, x);
}

/* Of integers it is computed in f64 and truncated. */
static int in_floats(Visit *v, int op, int x)
{
	DType type = node_val(v, x)->type;
	return node_cast(v, node_call1(v, op, dtype_is_float(type) ? x : node_cast(v, x, F64)), type);
}

static int root(Visit *v, int x)
{
	return in_floats(v, OP_sqrt, x);
}

static int logarithm(Visit *v, int x)
{
	return in_floats(v, OP_log, x);
}

/*
 * log(sum(exp(x))) = m + log(sum(exp(x - m))) with the maximum m, which does not overflow. An infinite maximum
 * counts as the largest number, since inf - inf is NaN.
 */
static void import_reduce_log_sum_exp(Visit *v)
{
	int64_t axes[DAG_MAX_RANK];
	int n, x = node_value(v, 0);
	reduced_axes(v, 18, axes, &n);
	int64_t keep = node_attr_flag(v, "keepdims", true);
	DType type = node_val(v, x)->type;
	bool wide = !dtype_is_float(type) || type.bits > 32;
	if (n < 0) {
		node_set(v, 0, node_call1(v, OP_identity, x));
		return;
	}
	Attr attr[] = { attr_ints("axes", axes, n), attr_int("keep", 1) };
	x = node_cast(v, x, wide ? F64 : F32);
	int top = node_call(v, OP_reduce_max, &x, 1, attr, 2);
	Attr finite[] = { attr_float("lo", wide ? -DBL_MAX : -FLT_MAX), attr_float("hi", wide ? DBL_MAX : FLT_MAX) };
	top = node_call(v, OP_clip, &top, 1, finite, 2);
	int e = node_call1(v, OP_exp, node_call2(v, OP_sub, x, top));
	attr[1] = attr_int("keep", keep);
	int sum = node_call1(v, OP_log, node_call(v, OP_reduce_sum, &e, 1, attr, 2));
	top = node_reshape(v, top, node_val(v, sum)->shape);
	node_set(v, 0, node_cast(v, node_call2(v, OP_add, sum, top), type));
}

#define REDUCE(name, op, since, before, after) \
	static void import_##name(Visit *v) \
	{ \
		import_reduce(v, op, since, before, after); \
	}
REDUCE(reduce_sum, OP_reduce_sum, 13, NULL, NULL)
REDUCE(reduce_mean, OP_reduce_mean, 18, NULL, NULL)
REDUCE(reduce_max, OP_reduce_max, 18, NULL, NULL)
REDUCE(reduce_min, OP_reduce_min, 18, NULL, NULL)
REDUCE(reduce_prod, OP_reduce_prod, 18, NULL, NULL)
REDUCE(reduce_sum_square, OP_reduce_sum, 18, square, NULL)
REDUCE(reduce_l1, OP_reduce_sum, 18, absolute, NULL)
REDUCE(reduce_l2, OP_reduce_sum, 18, square, root)
REDUCE(reduce_log_sum, OP_reduce_sum, 18, NULL, logarithm)

/* The axis of the input that an attribute names. */
static int64_t attr_axis(Visit *v, int64_t otherwise)
{
	int rank = node_need(v, 0)->shape.rank;
	return node_axis(v, node_attr_int(v, "axis", otherwise), rank);
}

static void import_arg(Visit *v, int op)
{
	Attr attr[] = { attr_int("axis", attr_axis(v, 0)), attr_int("keep", node_attr_flag(v, "keepdims", true)),
		attr_int("last", node_attr_flag(v, "select_last_index", false)) };
	int x = node_value(v, 0);
	node_set(v, 0, node_call(v, op, &x, 1, attr, 3));
}

static void import_arg_max(Visit *v)
{
	import_arg(v, OP_arg_max);
}

static void import_arg_min(Visit *v)
{
	import_arg(v, OP_arg_min);
}

/* A number that an input gives: a scalar, or a list of one. */
static int64_t one_number(Visit *v, int k)
{
	int count;
	node_need(v, k);
	const int64_t *at = node_ints(v, k, &count);
	if (!node_ok(v))
		return 0;
	if (count == 1)
		return at[0];
	node_fail(v, ERR_TYPE, "its input %d has %d numbers, but one is needed", k + 1, count);
	return 0;
}

static void import_scan(Visit *v, const char *kind)
{
	int rank = node_need(v, 0)->shape.rank;
	Attr attr[] = { attr_int("axis", node_axis(v, one_number(v, 1), rank)),
		attr_int("exclusive", node_attr_flag(v, "exclusive", false)),
		attr_int("reverse", node_attr_flag(v, "reverse", false)), attr_text("kind", kind) };
	int x = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_scan, &x, 1, attr, 4));
}

static void import_cum_sum(Visit *v)
{
	import_scan(v, "sum");
}

static void import_cum_prod(Visit *v)
{
	import_scan(v, "prod");
}

/* k is an attribute below opset 10. An unsorted result may have any order, so it is sorted, too. */
static void import_top_k(Visit *v)
{
	if (v->frame->version < 10 && !node_has(v, "k"))
		node_fail(v, ERR_INPUT, "it has no attribute k");
	int64_t k = v->frame->version < 10 ? node_attr_int(v, "k", 0) : one_number(v, 1);
	Attr attr[] = { attr_int("axis", attr_axis(v, -1)), attr_int("k", k),
		attr_int("largest", node_attr_flag(v, "largest", true)) };
	node_attr_flag(v, "sorted", true); /* results are always sorted */
	int x = node_value(v, 0), values = node_call(v, OP_top_k, &x, 1, attr, 3);
	node_set(v, 0, values);
	if (node_ok(v))
		node_set(v, 1, v->im->dag->call.at[node_val(v, values)->call].out[1]);
}

/*
 * 1 at the first maximum along the axis. Below opset 13 all dimensions from the axis on count as one.
 */
static void import_hardmax(Visit *v)
{
	const Item *it = node_need(v, 0);
	bool flat = v->frame->version < 13;
	Shape s = it->shape;
	int axis = (int)attr_axis(v, flat ? 1 : -1), x = node_value(v, 0);
	if (flat) {
		s = shape_of(2, (int64_t[]){ shape_product(&s, 0, axis), shape_product(&s, axis, s.rank) });
		x = node_reshape(v, x, s);
		axis = 1;
	}
	if (!node_ok(v))
		return;
	Attr attr = attr_int("axis", axis);
	int64_t n = s.dim[axis], *place = arena_array(v->im->arena, int64_t, n + 1);
	for (int64_t i = 0; i < n; i++)
		place[i] = i;
	Shape along = { .rank = s.rank - axis, .dim = { n } };
	for (int k = 1; k < along.rank; k++)
		along.dim[k] = 1;
	int places = node_const(v, I64, along, place), best = node_call(v, OP_arg_max, &x, 1, &attr, 1);
	node_set(v, 0, node_reshape(v, node_cast(v, node_call2(v, OP_equal, places, best), it->type), it->shape));
}

const NodeRow onnx_reduce_rows[] = {
	{ "ReduceSum", 1, "", import_reduce_sum },
	{ "ReduceMean", 1, "", import_reduce_mean },
	{ "ReduceMax", 1, "", import_reduce_max },
	{ "ReduceMin", 1, "", import_reduce_min },
	{ "ReduceSumSquare", 1, "", import_reduce_sum_square },
	{ "ReduceL1", 1, "", import_reduce_l1 },
	{ "ReduceL2", 1, "", import_reduce_l2 },
	{ "ReduceLogSum", 1, "", import_reduce_log_sum },
	{ "ReduceProd", 1, "", import_reduce_prod },
	{ "ReduceLogSumExp", 1, "", import_reduce_log_sum_exp },
	{ "ArgMax", 1, "", import_arg_max },
	{ "ArgMin", 1, "", import_arg_min },
	{ "CumSum", 11, "", import_cum_sum },
	{ "CumProd", 26, "", import_cum_prod },
	{ "Hardmax", 1, "", import_hardmax },
	{ "TopK", 1, "", import_top_k },
	{ NULL, 0, NULL, NULL },
};
