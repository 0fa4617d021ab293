/* Rows of Caffe2's reductions: over listed axes, over the first or last dimensions, over everything; places. */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"

#include <string.h>

typedef enum { SUM, MEAN, MAX, MIN, L1, L2 } Kind;

static int reduce(Visit *v, Kind kind, int x, const int64_t *axes, int n, bool keep)
{
	static const int ops[] = { OP_reduce_sum, OP_reduce_mean, OP_reduce_max, OP_reduce_min, OP_reduce_sum,
		OP_reduce_sum };
	if (kind == L1)
		x = node_call1(v, OP_abs, x);
	else if (kind == L2)
		x = node_call2(v, OP_mul, x, x);
	if (!node_ok(v))
		return x;
	x = node_reduce(v, ops[kind], x, axes, n, keep);
	return kind == L2 ? node_call1(v, OP_sqrt, x) : x;
}

/* The kind by the end of the operator's name: "ReduceFrontMean". */
static Kind kind_of(const Visit *v)
{
	static const char *const words[] = { "Sum", "Mean", "Max", "Min", "L1", "L2" };
	size_t n = strlen(v->node->op);
	for (int k = 0; k < 6; k++)
		if (n > strlen(words[k]) && strcmp(v->node->op + n - strlen(words[k]), words[k]) == 0)
			return (Kind)k;
	return SUM;
}

/* The attribute `axes`, or all dimensions; returns their number. */
static int read_axes(Visit *v, int rank, int64_t *axes)
{
	int n;
	const int64_t *at = node_attr_ints(v, "axes", &n);
	bool seen[DAG_MAX_RANK] = { false };
	if (node_ok(v) && n > rank)
		node_fail(v, ERR_INPUT, "its axes are %d, but its input has %d dimensions", n, rank);
	for (int k = 0; k < (n < 0 ? rank : n) && node_ok(v); k++) {
		axes[k] = n < 0 ? k : node_axis(v, at[k], rank);
		if (node_ok(v) && seen[axes[k]])
			node_fail(v, ERR_INPUT, "its axes name dimension %lld twice", (long long)axes[k]);
		seen[axes[k]] = true;
	}
	return n < 0 ? rank : n;
}

static void import_reduce(Visit *v)
{
	int x = caffe2_value(v, 0);
	int64_t axes[DAG_MAX_RANK];
	int n = read_axes(v, node_val(v, x)->shape.rank, axes);
	node_set(v, 0, reduce(v, kind_of(v), x, axes, n, node_attr_flag(v, "keepdims", true)));
}

/* Over num_reduce_dim dimensions at one end. */
static void import_reduce_end(Visit *v)
{
	int x = caffe2_value(v, 0), rank = node_val(v, x)->shape.rank;
	int64_t n = caffe2_count(v, "num_reduce_dim", 1, 0), axes[DAG_MAX_RANK];
	bool front = strncmp(v->node->op, "ReduceFront", 11) == 0;
	if (node_ok(v) && n > rank)
		node_fail(v, ERR_INPUT, "its num_reduce_dim is %lld, but its input has %d dimensions", (long long)n, rank);
	if (node_ok(v) && node_nin(v) > 1)
		node_fail(v, ERR_UNSUPPORTED, "its rows of different lengths are not supported");
	for (int k = 0; k < n && node_ok(v); k++)
		axes[k] = front ? k : rank - n + k;
	node_set(v, 0, reduce(v, kind_of(v), x, axes, (int)n, false));
}

/* Over everything; with `average` the mean. */
static void set_total(Visit *v, int x)
{
	int64_t axes[DAG_MAX_RANK];
	int rank = node_val(v, x)->shape.rank;
	bool mean = node_attr_flag(v, "average", false);
	for (int k = 0; k < rank; k++)
		axes[k] = k;
	node_set(v, 0, reduce(v, mean ? MEAN : SUM, x, axes, rank, false));
}

static void import_total(Visit *v)
{
	set_total(v, caffe2_value(v, 0));
}

static void import_total_squares(Visit *v)
{
	int x = caffe2_value(v, 0);
	set_total(v, node_call2(v, OP_mul, x, x));
}

static void import_lp_norm(Visit *v)
{
	int x = caffe2_value(v, 0);
	int64_t p = node_attr_int(v, "p", 2);
	if (node_ok(v) && p != 1 && p != 2)
		node_fail(v, ERR_INPUT, "its p is %lld, not 1 or 2", (long long)p);
	set_total(v, p == 1 ? node_call1(v, OP_abs, x) : node_call2(v, OP_mul, x, x));
}

/* [B,M,N] -> the maximum of rows or columns. */
static void import_extreme(Visit *v)
{
	int x = caffe2_value(v, 0);
	int64_t axis = strcmp(v->node->op, "RowwiseMax") == 0 ? 2 : 1;
	if (node_ok(v) && node_val(v, x)->shape.rank != 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 3", node_val(v, x)->shape.rank);
	node_set(v, 0, reduce(v, MAX, x, &axis, 1, false));
}

static void import_arg(Visit *v)
{
	int x = caffe2_value(v, 0), op = strcmp(v->node->op, "ArgMax") == 0 ? OP_arg_max : OP_arg_min;
	Attr attr[] = { attr_int("axis", caffe2_axis(v, "axis", -1, node_val(v, x)->shape.rank)),
		attr_int("keep", node_attr_flag(v, "keepdims", true)) };
	node_set(v, 0, node_call(v, op, &x, 1, attr, 2));
}

static void import_top_k(Visit *v)
{
	int x = caffe2_value(v, 0), axis = caffe2_axis(v, "axis", -1, node_val(v, x)->shape.rank);
	int64_t k = caffe2_count(v, "k", 0, 1);
	Attr attr[] = { attr_int("axis", axis), attr_int("k", k) };
	int y = node_call(v, OP_top_k, &x, 1, attr, 2);
	if (!node_ok(v))
		return;
	node_set(v, 0, y);
	node_set(v, 1, node_result(v, y, 1));
	if (node_used(v, 2))
		node_fail(v, ERR_UNSUPPORTED, "its third result, places in all elements, is not supported");
}

static void import_moments(Visit *v)
{
	int x = caffe2_value(v, 0);
	bool keep = node_attr_flag(v, "keepdims", true);
	int64_t axes[DAG_MAX_RANK];
	int n = read_axes(v, node_val(v, x)->shape.rank, axes);
	int mean = reduce(v, MEAN, x, axes, n, true), apart = node_call2(v, OP_sub, x, mean);
	node_set(v, 0, keep ? mean : reduce(v, MEAN, x, axes, n, false));
	node_set(v, 1, reduce(v, MEAN, node_call2(v, OP_mul, apart, apart), axes, n, keep));
}

/* Half the squared distance of rows; the sum of distances. */
static void import_distance(Visit *v)
{
	bool squared = strcmp(v->node->op, "SquaredL2Distance") == 0;
	int apart = node_call2(v, OP_sub, caffe2_value(v, 0), caffe2_value(v, 1));
	int rank = node_val(v, apart)->shape.rank;
	int64_t axes[DAG_MAX_RANK];
	for (int k = 1; k < rank; k++)
		axes[k - 1] = k;
	if (node_ok(v) && rank < 1)
		node_fail(v, ERR_TYPE, "its inputs are scalars");
	int y = squared ? node_call2(v, OP_mul, apart, apart) : node_call1(v, OP_abs, apart);
	y = node_ok(v) ? reduce(v, SUM, y, axes, rank - 1, false) : y;
	node_set(v, 0, squared ? node_with_number(v, OP_mul, y, 0.5) : y);
}

#define REDUCE(type) \
	{ \
		type, 0, "", import_reduce \
	}
#define REDUCE_END(type) \
	{ \
		type, 0, "", import_reduce_end \
	}

const NodeRow caffe2_reduce_rows[] = {
	REDUCE("ReduceSum"),
	REDUCE("ReduceMean"),
	REDUCE("ReduceMax"),
	REDUCE("ReduceMin"),
	REDUCE("ReduceL1"),
	REDUCE("ReduceL2"),
	REDUCE_END("ReduceFrontSum"),
	REDUCE_END("ReduceFrontMean"),
	REDUCE_END("ReduceFrontMax"),
	REDUCE_END("ReduceBackSum"),
	REDUCE_END("ReduceBackMean"),
	REDUCE_END("ReduceBackMax"),
	{ "SumElements", 0, "", import_total },
	{ "SumElementsInt", 0, "", import_total },
	{ "SumSqrElements", 0, "", import_total_squares },
	{ "LpNorm", 0, "", import_lp_norm },
	{ "RowwiseMax", 0, "", import_extreme },
	{ "ColwiseMax", 0, "", import_extreme },
	{ "ArgMax", 0, "", import_arg },
	{ "ArgMin", 0, "", import_arg },
	{ "TopK", 0, "", import_top_k },
	{ "Moments", 0, "", import_moments },
	{ "SquaredL2Distance", 0, "", import_distance },
	{ "L1Distance", 0, "", import_distance },
	{ NULL, 0, NULL, NULL },
};
