/* Rows that read or write elements at indices. An index outside of a tensor gives 0, and writes nothing. */
#include "frontend/tensorflow/rows.h"

#include "op/element.h"

/* x at indices along an axis; `batch` dimensions of both are walked together. */
static void set_gather(Visit *v, int x, int at, int axis, int batch)
{
	int in[] = { x, at };
	Attr attr[] = { attr_int("axis", axis), attr_int("batch", batch) };
	node_set(v, 0, node_call(v, OP_gather, in, 2, attr, 2));
}

static void import_gather(Visit *v)
{
	int x = tf_value(v, 0);
	int64_t batch = node_attr_int(v, "batch_dims", 0);
	int at = tf_value(v, 1), rank = node_val(v, at)->shape.rank;
	batch = batch < 0 ? batch + rank : batch;
	int axis = node_nin(v) > 2 ? node_axis(v, tf_int(v, 2), node_val(v, x)->shape.rank) : (int)batch;
	if (node_ok(v) && (batch < 0 || batch > rank || batch > axis))
		node_fail(v, ERR_INPUT, "its attribute batch_dims is %lld", (long long)batch);
	set_gather(v, x, at, axis, (int)batch);
}

static void import_gather_nd(Visit *v)
{
	int in[] = { tf_value(v, 0), tf_value(v, 1) };
	Attr attr = attr_int("batch", node_attr_int(v, "batch_dims", 0));
	node_set(v, 0, node_call(v, OP_gather_nd, in, 2, &attr, 1));
}

/* ---- elements written at indices */

static void set_scatter(Visit *v, int x, int at, int updates, const char *reduction)
{
	int in[] = { x, at, updates };
	Attr attr = attr_text("reduction", reduction);
	node_set(v, 0, node_call(v, OP_scatter_nd, in, 3, &attr, 1));
}

static void import_scatter_nd(Visit *v)
{
	int n, at = tf_value(v, 0), updates = tf_value(v, 1);
	const int64_t *dim = tf_ints(v, 2, &n);
	if (node_ok(v) && n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	for (int k = 0; k < n && node_ok(v); k++)
		if (dim[k] < 0)
			node_fail(v, ERR_INPUT, "its result has a dimension of %lld", (long long)dim[k]);
	if (!node_ok(v))
		return;
	int x = node_expand(v, node_number(v, node_val(v, updates)->type, 0), shape_of(n, dim));
	set_scatter(v, x, at, updates, "add");
}

#define SCATTER(name, reduction) \
	static void import_##name(Visit *v) \
	{ \
		int x = tf_value(v, 0), at = tf_value(v, 1); \
		set_scatter(v, x, at, tf_value(v, 2), reduction); \
	}
SCATTER(scatter_update, "none")
SCATTER(scatter_add, "add")
SCATTER(scatter_min, "min")
SCATTER(scatter_max, "max")

static void import_scatter_sub(Visit *v)
{
	int x = tf_value(v, 0), at = tf_value(v, 1);
	set_scatter(v, x, at, node_call1(v, OP_neg, tf_value(v, 2)), "add");
}

/* Inputs: indices of elements, the shape, values, the value of all others. */
static void import_sparse_to_dense(Visit *v)
{
	int n, at = tf_value(v, 0), rank = node_val(v, at)->shape.rank;
	const int64_t *dim = tf_ints(v, 1, &n);
	int value = tf_value(v, 2), rest = tf_value(v, 3);
	node_attr_flag(v, "validate_indices", true);
	if (node_ok(v) && (n < 1 || n > DAG_MAX_RANK || rank > 2 || shape_elements(node_val(v, rest)->shape) != 1))
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions", n);
	for (int k = 0; k < n && node_ok(v); k++)
		if (dim[k] < 0)
			node_fail(v, ERR_INPUT, "its result has a dimension of %lld", (long long)dim[k]);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, at)->shape, pairs = { .rank = 2, .dim = { 1, n } };
	pairs.dim[0] = rank == 2 ? s.dim[0] : rank == 1 && n == 1 ? s.dim[0] : 1;
	if (shape_elements(pairs) != shape_elements(s)) {
		node_fail(v, ERR_TYPE, "its indices do not fit a result of %d dimensions", n);
		return;
	}
	at = node_reshape(v, at, pairs);
	value = node_expand(v, value, shape_of(1, pairs.dim));
	int x = node_expand(v, node_reshape(v, rest, shape_of(0, NULL)), shape_of(n, dim));
	set_scatter(v, x, at, value, "none");
}

/* Row k of the result is the last one that an index list names so; lists are known. */
static void import_dynamic_stitch(Visit *v)
{
	int n = node_nin(v) / 2, y = DAG_NONE;
	int64_t rows = 0;
	Shape s = { 0 };
	for (int k = 0; k < n && node_ok(v); k++) {
		const Item *at = node_known(v, k), *x = node_need(v, n + k);
		for (int64_t i = 0; i < shape_elements(at->shape) && node_ok(v); i++) {
			int64_t row = element_get_int(at->type, at->data, i);
			if (row < 0 || row >= NODE_COUNTED)
				node_fail(v, ERR_INPUT, "its indices hold %lld", (long long)row);
			rows = row >= rows ? row + 1 : rows;
		}
		s = x->shape;
		if (node_ok(v) && s.rank < at->shape.rank)
			node_fail(v, ERR_TYPE, "its data have fewer dimensions than its indices");
		if (k + 1 < n || !node_ok(v))
			continue;
		s.rank -= at->shape.rank - 1;
		for (int i = 1; i < s.rank; i++)
			s.dim[i] = x->shape.dim[i + at->shape.rank - 1];
		s.dim[0] = rows;
		y = node_expand(v, node_number(v, x->type, 0), s);
	}
	for (int k = 0; k < n && node_ok(v); k++) {
		int64_t many[] = { shape_elements(node_need(v, k)->shape), 1 };
		Shape part = s;
		part.dim[0] = many[0];
		int in[] = { y, node_view(v, node_value(v, k), 2, many), node_reshape(v, node_value(v, n + k), part) };
		y = node_call(v, OP_scatter_nd, in, 3, NULL, 0);
	}
	node_set(v, 0, y);
}

/* Row, column, .. of a place in row-major order. */
static void import_unravel(Visit *v)
{
	int n, at = tf_value(v, 0), rank = node_val(v, at)->shape.rank;
	const int64_t *dim = tf_ints(v, 1, &n);
	if (node_ok(v) && (n < 1 || n > DAG_MAX_RANK || rank > 1))
		node_fail(v, ERR_UNSUPPORTED, "its shape has %d dimensions", n);
	if (!node_ok(v))
		return;
	int part[DAG_MAX_RANK];
	int64_t below = 1, row[] = { 1, rank == 1 ? node_val(v, at)->shape.dim[0] : 1 };
	for (int k = n - 1; k >= 0 && node_ok(v); k--) {
		int in[] = { node_with_number(v, OP_div, at, (double)below), DAG_NONE };
		in[1] = node_number(v, node_val(v, at)->type, (double)dim[k]);
		part[k] = node_view(v, node_call(v, OP_mod, in, 2, NULL, 0), rank == 1 ? 2 : 1, row);
		if (dim[k] > 0 && __builtin_mul_overflow(below, dim[k], &below))
			node_fail(v, ERR_INPUT, "its shape has more elements than can be counted");
	}
	if (node_ok(v))
		node_set(v, 0, node_concat(v, part, n, 0));
}

const NodeRow tf_gather_rows[] = {
	{ "Gather", 0, "validate_indices", import_gather },
	{ "GatherV2", 0, "", import_gather },
	{ "ResourceGather", 0, "validate_indices dtype", import_gather },
	{ "GatherNd", 0, "bad_indices_policy", import_gather_nd },
	{ "ResourceGatherNd", 0, "dtype", import_gather_nd },
	{ "ScatterNd", 0, "bad_indices_policy", import_scatter_nd },
	{ "TensorScatterUpdate", 0, "bad_indices_policy", import_scatter_update },
	{ "TensorScatterAdd", 0, "bad_indices_policy", import_scatter_add },
	{ "TensorScatterSub", 0, "bad_indices_policy", import_scatter_sub },
	{ "TensorScatterMin", 0, "bad_indices_policy", import_scatter_min },
	{ "TensorScatterMax", 0, "bad_indices_policy", import_scatter_max },
	{ "SparseToDense", 0, "", import_sparse_to_dense },
	{ "DynamicStitch", 0, "N", import_dynamic_stitch },
	{ "ParallelDynamicStitch", 0, "N", import_dynamic_stitch },
	{ "UnravelIndex", 0, "", import_unravel },
	{ NULL, 0, NULL, NULL },
};
