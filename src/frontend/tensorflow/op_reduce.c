/* Rows of reductions, of places of extremes, of running sums, and of the largest k. */
#include "frontend/tensorflow/rows.h"

#include <float.h>
#include <math.h>

/* The axes of input 1; all of them where it lists none. */
static int read_axes(Visit *v, int64_t *axes)
{
	int rank = node_need(v, 0)->shape.rank, n, count = 0;
	const int64_t *at = tf_ints(v, 1, &n);
	bool on[DAG_MAX_RANK] = { false };
	for (int k = 0; k < n && node_ok(v); k++)
		on[node_axis(v, at[k], rank)] = true;
	for (int k = 0; k < rank; k++)
		if (on[k])
			axes[count++] = k;
	return count;
}

static int reduce(Visit *v, int op, int x)
{
	int64_t axes[DAG_MAX_RANK];
	int n = read_axes(v, axes);
	bool keep = node_attr_flag(v, "keep_dims", false);
	return n == 0 ? x : node_reduce(v, op, x, axes, n, keep); /* without axes every element stays itself */
}

#define REDUCE(name, op) \
	static void import_##name(Visit *v) \
	{ \
		node_set(v, 0, reduce(v, op, tf_value(v, 0))); \
	}
REDUCE(sum, OP_reduce_sum)
REDUCE(mean, OP_reduce_mean)
REDUCE(max, OP_reduce_max)
REDUCE(min, OP_reduce_min)
REDUCE(prod, OP_reduce_prod)

/* Of bools: the least or the greatest of 0 and 1. */
static void import_bools(Visit *v, int op)
{
	Attr to = attr_text("to", "u8"), back = attr_text("to", "bool");
	int x = tf_value(v, 0);
	x = reduce(v, op, node_each(v, OP_cast, &x, 1, &to, 1));
	node_set(v, 0, node_each(v, OP_cast, &x, 1, &back, 1));
}

static void import_all(Visit *v)
{
	import_bools(v, OP_reduce_min);
}

static void import_any(Visit *v)
{
	import_bools(v, OP_reduce_max);
}

static void import_euclidean_norm(Visit *v)
{
	int x = tf_value(v, 0);
	node_set(v, 0, node_each1(v, OP_sqrt, reduce(v, OP_reduce_sum, node_each2(v, OP_mul, x, x))));
}

static void import_place(Visit *v, int op)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	int axis = node_axis(v, tf_int(v, 1), rank);
	DType type = tf_attr_type(v, "output_type", I64);
	bool last = node_is_last(v, x) && axis == rank - 1; /* along the channels nothing is turned */
	Attr attr[] = { attr_int("axis", last ? 1 : axis), attr_int("keep", 0) };
	if (last)
		x = node_to_second(v, x);
	node_set(v, 0, node_cast(v, node_call(v, op, &x, 1, attr, 2), type));
}

static void import_arg_max(Visit *v)
{
	import_place(v, OP_arg_max);
}

static void import_arg_min(Visit *v)
{
	import_place(v, OP_arg_min);
}

static void import_running(Visit *v, const char *kind)
{
	int x = tf_value(v, 0), axis = node_axis(v, tf_int(v, 1), node_val(v, x)->shape.rank);
	Attr attr[] = { attr_int("axis", axis), attr_int("exclusive", node_attr_flag(v, "exclusive", false)),
		attr_int("reverse", node_attr_flag(v, "reverse", false)), attr_text("kind", kind) };
	node_set(v, 0, node_call(v, OP_scan, &x, 1, attr, 4));
}

static void import_cumsum(Visit *v)
{
	import_running(v, "sum");
}

static void import_cumprod(Visit *v)
{
	import_running(v, "prod");
}

/* TopK has k as an attribute, TopKV2 as an input. */
static void set_top(Visit *v, int64_t k)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	DType places = tf_attr_type(v, "index_type", I32);
	if (node_ok(v) && (rank == 0 || k < 0 || k > node_val(v, x)->shape.dim[rank - 1]))
		node_fail(v, ERR_INPUT, "it wants the %lld largest along its last axis, which are not there", (long long)k);
	Attr attr[] = { attr_int("axis", rank - 1), attr_int("k", k) };
	int y = node_call(v, OP_top_k, &x, 1, attr, 2);
	if (!node_ok(v))
		return;
	int at = v->im->dag->call.at[node_val(v, y)->call].out[1];
	node_set(v, 0, y);
	node_set(v, 1, node_cast(v, at, places));
}

static void import_top_k_v2(Visit *v)
{
	set_top(v, tf_int(v, 1));
}

static void import_top_k(Visit *v)
{
	set_top(v, node_attr_int(v, "k", 0));
}

/* Rows of the same segment, scattered and joined; segments without a row have `start`. */
static void import_segment(Visit *v, const char *reduction, double start)
{
	const Item *x = node_need(v, 0), *id = node_need(v, 1);
	int64_t many = 0;
	if (node_nin(v) > 2) {
		many = tf_int(v, 2);
	} else {
		int n;
		const int64_t *at = tf_ints(v, 1, &n);
		many = n == 0 ? 0 : at[n - 1] < INT32_MAX ? at[n - 1] + 1 : -1;
	}
	if (node_ok(v) && (id->shape.rank != 1 || x->shape.rank == 0 || many < 0 || many > INT32_MAX))
		node_fail(v, ERR_UNSUPPORTED, "its segments must be a list with a number for each row");
	if (!node_ok(v))
		return;
	Shape s = x->shape;
	s.dim[0] = many;
	int64_t column[] = { id->shape.dim[0], 1 };
	int in[] = { node_expand(v, node_number(v, x->type, start), s), node_view(v, node_value(v, 1), 2, column),
		node_value(v, 0) };
	Attr attr = attr_text("reduction", reduction);
	node_set(v, 0, node_call(v, OP_scatter_nd, in, 3, &attr, 1));
}

static void import_segment_sum(Visit *v)
{
	import_segment(v, "add", 0);
}

static void import_segment_prod(Visit *v)
{
	import_segment(v, "mul", 1);
}

/* The least (or greatest) number of a type, which starts a maximum (or minimum). */
static double extreme(Visit *v, DType t, bool least)
{
	double most = t.bits == 64 ? DBL_MAX : t.kind == DT_FLOAT && t.bits == 16 ? 65504 : FLT_MAX;
	if (dtype_is_int(t)) {
		if (node_ok(v) && t.bits > 32)
			node_fail(v, ERR_UNSUPPORTED, "its rows are integers of %d bits; 32 are the most", t.bits);
		most = t.kind == DT_UINT ? ldexp(1, t.bits) - 1 : ldexp(1, t.bits - 1) - 1;
		return !least ? most : t.kind == DT_UINT ? 0 : -most - 1;
	}
	return least ? -most : most;
}

static void import_unsorted_max(Visit *v)
{
	import_segment(v, "max", extreme(v, node_need(v, 0)->type, true));
}

static void import_unsorted_min(Visit *v)
{
	import_segment(v, "min", extreme(v, node_need(v, 0)->type, false));
}

/* ---- counts */

/* Numbers below `size` are counted, or their weights added; with `each` those of a matrix in each row. */
static void set_counts(Visit *v, int x, int64_t size, int weights, bool each, bool once, DType type)
{
	Shape s = node_val(v, x)->shape;
	bool matrix = each && s.rank == 2;
	int64_t rows = matrix ? s.dim[0] : 1, n = matrix ? s.dim[1] : shape_elements(s);
	if (node_ok(v) && ((each && s.rank > 2) || size < 0 || (size > 0 && rows > NODE_COUNTED / size)))
		node_fail(v, ERR_UNSUPPORTED, "it counts up to %lld in %d dimensions", (long long)size, s.rank);
	if (!node_ok(v))
		return;
	int64_t all = rows * size, column[] = { rows * n, 1 }, flat = rows * n, out[] = { rows, size };
	x = node_view(v, node_cast(v, x, I64), 2, (int64_t[]){ rows, n });
	int in = node_call2(v, OP_less, x, node_number(v, I64, (double)size));
	int before = node_call2(v, OP_mul, node_count(v, rows, 0, 2), node_number(v, I64, (double)size));
	int at = node_call2(v, OP_add, x, before);
	at = node_where(v, in, at, node_number(v, I64, (double)all));
	int one = weights != DAG_NONE ? node_view(v, weights, 1, &flat)
	                              : node_expand(v, node_number(v, type, 1), shape_of(1, &flat));
	int call[] = { node_expand(v, node_number(v, type, 0), shape_of(1, &all)), node_view(v, at, 2, column), one };
	Attr attr = attr_text("reduction", "add");
	int y = node_call(v, OP_scatter_nd, call, 3, &attr, 1);
	if (once)
		y = node_cast(v, node_call2(v, OP_less, node_number(v, type, 0), y), type);
	node_set(v, 0, node_view(v, y, matrix ? 2 : 1, matrix ? out : &all));
}

static void import_counts(Visit *v, bool each)
{
	int64_t size = tf_int(v, 1);
	const Item *w = node_need(v, 2);
	bool given = node_ok(v) && shape_elements(w->shape) > 0, once = node_attr_flag(v, "binary_output", false);
	int x = tf_value(v, 0);
	if (node_ok(v) && given && shape_elements(w->shape) != shape_elements(node_val(v, x)->shape))
		node_fail(v, ERR_TYPE, "its weights are not as many as its numbers");
	int weights = given ? node_value(v, 2) : DAG_NONE;
	set_counts(v, x, size, once ? DAG_NONE : weights, each, once, w->type); /* what is there is 1, of any weight */
}

static void import_bincount(Visit *v)
{
	import_counts(v, false);
}

static void import_dense_bincount(Visit *v)
{
	import_counts(v, true);
}

/* How many boundaries are at most x. They are f32; the kernel compares them with f64 in f64, with integers in f32. */
static void import_bucketize(Visit *v)
{
	int n, x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	const float *at = node_attr_floats(v, "boundaries", &n);
	int64_t count = n > 0 ? n : 0, axis = rank;
	if (node_ok(v) && (rank >= DAG_MAX_RANK || count == 0))
		node_fail(v, ERR_UNSUPPORTED, "it has %lld boundaries for %d dimensions", (long long)count, rank);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, x)->shape;
	s.dim[s.rank++] = 1;
	DType type = dtype_eq(node_val(v, x)->type, F64) ? F64 : F32;
	int limits = node_const(v, F32, shape_of(1, &count), arena_copy(v->im->arena, at, sizeof *at * (size_t)count));
	limits = node_cast(v, limits, type);
	int above = node_call2(v, OP_less_equal, limits, node_reshape(v, node_cast(v, x, type), s));
	node_set(v, 0, node_reduce(v, OP_reduce_sum, node_cast(v, above, I32), &axis, 1, false));
}

const NodeRow tf_reduce_rows[] = {
	{ "Sum", 0, "", import_sum },
	{ "Mean", 0, "", import_mean },
	{ "Max", 0, "", import_max },
	{ "Min", 0, "", import_min },
	{ "Prod", 0, "", import_prod },
	{ "All", 0, "", import_all },
	{ "Any", 0, "", import_any },
	{ "EuclideanNorm", 0, "", import_euclidean_norm },
	{ "ArgMax", 0, "", import_arg_max },
	{ "ArgMin", 0, "", import_arg_min },
	{ "Cumsum", 0, "", import_cumsum },
	{ "Cumprod", 0, "", import_cumprod },
	{ "TopK", 0, "sorted", import_top_k },
	{ "TopKV2", 0, "sorted", import_top_k_v2 },
	{ "SegmentSum", 0, "", import_segment_sum },
	{ "UnsortedSegmentSum", 0, "", import_segment_sum },
	{ "SegmentProd", 0, "", import_segment_prod },
	{ "UnsortedSegmentProd", 0, "", import_segment_prod },
	{ "UnsortedSegmentMax", 0, "", import_unsorted_max },
	{ "UnsortedSegmentMin", 0, "", import_unsorted_min },
	{ "Bincount", 0, "", import_bincount },
	{ "DenseBincount", 0, "", import_dense_bincount },
	{ "Bucketize", 0, "", import_bucketize },
	{ NULL, 0, NULL, NULL },
};
