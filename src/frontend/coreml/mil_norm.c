/* Rows of MIL operators with matrices, and of normalisations, whose statistics of halves are taken in f32. */
#include "frontend/coreml/mil.h"

#include "frontend/node/compose.h"

#include <math.h>

/* ---- matrices */

static void import_linear(Visit *v)
{
	int x = mil_need(v, "x"), w = mil_need(v, "weight"), bias = mil_value(v, "bias");
	Shape s = node_val(v, x)->shape, ws = node_val(v, w)->shape;
	if (node_ok(v) && (s.rank < 1 || ws.rank != 2 || s.dim[s.rank - 1] != ws.dim[1]))
		node_fail(v, ERR_TYPE, "its weights do not fit the last dimension of its input");
	if (!node_ok(v))
		return;
	int in[] = { node_view(v, x, 2, (int64_t[]){ shape_product(&s, 0, s.rank - 1), ws.dim[1] }), w, bias };
	s.dim[s.rank - 1] = ws.dim[0];
	node_set(v, 0, node_reshape(v, node_call(v, OP_dense, in, 3, NULL, 0), s));
}

static void import_matmul(Visit *v)
{
	Attr attr[] = { attr_int("ta", mil_flag(v, "transpose_x", false)),
		attr_int("tb", mil_flag(v, "transpose_y", false)) };
	int in[] = { mil_need(v, "x"), mil_need(v, "y") };
	node_set(v, 0, node_call(v, OP_matmul, in, 2, attr, 2));
}

static void import_einsum(Visit *v)
{
	int n;
	const int *in = mil_each(v, "values", &n);
	const char *equation = node_attr_text(v, "equation", "");
	if (in != NULL)
		node_set(v, 0, node_einsum_of(v, equation, in, n));
}

/* [.., rows, columns] -> [all before, 1, rows, columns] */
static int heads(Visit *v, int x)
{
	Shape s = node_val(v, x)->shape;
	return node_view(v, x, 4, (int64_t[]){ shape_product(&s, 0, s.rank - 2), 1, s.dim[s.rank - 2], s.dim[s.rank - 1] });
}

/* softmax(q k^T / sqrt(size) + mask) v; all dimensions before the last two are batch. */
static void import_attention(Visit *v)
{
	int in[] = { mil_need(v, "query"), mil_need(v, "key"), mil_need(v, "value"), mil_value(v, "attn_mask") };
	Shape s = node_val(v, in[0])->shape, to = s;
	bool masked = in[3] != DAG_NONE;
	for (int k = 0; k < 3 && node_ok(v); k++)
		if (node_val(v, in[k])->shape.rank != s.rank || s.rank < 2)
			node_fail(v, ERR_TYPE, "its inputs have different numbers of dimensions, or fewer than 2");
	if (!node_ok(v))
		return;
	to.dim[s.rank - 1] = node_val(v, in[2])->shape.dim[s.rank - 1];
	Shape scores = s;
	scores.dim[s.rank - 1] = node_val(v, in[1])->shape.dim[s.rank - 2];
	if (s.rank != 4 && masked && node_val(v, in[3])->shape.rank > 2)
		in[3] = heads(v, node_expand(v, in[3], scores));
	for (int k = 0; k < 3 && s.rank != 4; k++)
		in[k] = heads(v, in[k]);
	Attr attr = attr_float("scale", 1 / sqrt((double)s.dim[s.rank - 1]));
	node_set(v, 0, node_reshape(v, node_call(v, OP_attention, in, masked ? 4 : 3, &attr, 1), to));
}

/* ---- normalisations */

static int mean_over(Visit *v, int op, int x, const int64_t *axes, int n)
{
	Attr attr = attr_ints("axes", axes, n);
	return node_call(v, op, &x, 1, &attr, 1);
}

/* (x - mean) / sqrt(variance + epsilon) in f32. */
static int normalised(Visit *v, int x, const int64_t *axes, int n, double epsilon)
{
	x = node_cast(v, x, F32);
	int centred = node_call2(v, OP_sub, x, mean_over(v, OP_reduce_mean, x, axes, n));
	int variance = mean_over(v, OP_reduce_mean, node_call2(v, OP_mul, centred, centred), axes, n);
	return node_call2(v, OP_div, centred, node_call1(v, OP_sqrt, node_with_number(v, OP_add, variance, epsilon)));
}

static int scaled(Visit *v, int y, int gamma, int beta)
{
	if (gamma != DAG_NONE)
		y = node_call2(v, OP_mul, y, gamma);
	return beta != DAG_NONE ? node_call2(v, OP_add, y, beta) : y;
}

/* The numbers of a parameter, which has the shape of the axes, with ones between them. */
static int spread(Visit *v, const char *key, const Shape *s, const int64_t *axes, int n)
{
	int x = mil_value(v, key);
	Shape to = { .rank = s->rank };
	for (int k = 0; k < s->rank; k++)
		to.dim[k] = 1;
	for (int k = 0; k < n; k++)
		to.dim[axes[k]] = s->dim[axes[k]];
	if (x != DAG_NONE && node_ok(v) && shape_elements(node_val(v, x)->shape) != shape_elements(to))
		node_fail(v, ERR_TYPE, "its parameter %s has not the shape of its axes", key);
	return x == DAG_NONE || !node_ok(v) ? x : node_reshape(v, x, to);
}

static void import_layer_norm(Visit *v)
{
	int x = mil_need(v, "x"), n;
	Shape s = node_val(v, x)->shape;
	DType t = node_val(v, x)->type;
	double epsilon = mil_float(v, "epsilon", 1e-5);
	const int64_t *given = mil_ints(v, "axes", &n);
	int64_t axes[DAG_MAX_RANK];
	int count = n < 0 ? s.rank : n;
	if (node_ok(v) && count > s.rank)
		node_fail(v, ERR_TYPE, "it has %d axes for %d dimensions", count, s.rank);
	for (int k = 0; k < count && node_ok(v); k++)
		axes[k] = n < 0 ? k : node_axis(v, given[k], s.rank);
	for (int k = 1; k < count && node_ok(v); k++)
		if (axes[k] <= axes[k - 1])
			node_fail(v, ERR_UNSUPPORTED, "its axes are not in order");
	if (!node_ok(v))
		return;
	int y = node_cast(v, normalised(v, x, axes, count, epsilon), t);
	int gamma = spread(v, "gamma", &s, axes, count);
	node_set(v, 0, scaled(v, y, gamma, spread(v, "beta", &s, axes, count)));
}

static void import_instance_norm(Visit *v)
{
	int x = mil_need(v, "x"), rank = node_val(v, x)->shape.rank;
	int64_t axes[DAG_MAX_RANK];
	double epsilon = mil_float(v, "epsilon", 1e-5);
	if (node_ok(v) && rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3 at least", rank);
	for (int k = 2; k < rank; k++)
		axes[k - 2] = k;
	if (!node_ok(v))
		return;
	int y = node_cast(v, normalised(v, x, axes, rank - 2, epsilon), node_val(v, x)->type);
	int gamma = mil_channels(v, "gamma", rank);
	node_set(v, 0, scaled(v, y, gamma, mil_channels(v, "beta", rank)));
}

static void import_batch_norm(Visit *v)
{
	int x = mil_need(v, "x"), mean = mil_need(v, "mean"), variance = mil_need(v, "variance");
	int gamma = mil_value(v, "gamma"), beta = mil_value(v, "beta");
	Attr attr = attr_float("epsilon", mil_float(v, "epsilon", 1e-5));
	DType t = node_val(v, mean)->type;
	Shape s = node_val(v, mean)->shape;
	if (gamma == DAG_NONE)
		gamma = node_expand(v, node_number(v, t, 1), s);
	if (beta == DAG_NONE)
		beta = node_expand(v, node_number(v, t, 0), s);
	int in[] = { x, gamma, beta, mean, variance };
	node_set(v, 0, node_call(v, OP_batch_norm, in, 5, &attr, 1));
}

/* Over the last three dimensions. */
static void import_l2_norm(Visit *v)
{
	int x = mil_need(v, "x"), rank = node_val(v, x)->shape.rank;
	DType t = node_val(v, x)->type;
	double epsilon = mil_float(v, "epsilon", 1e-6);
	if (node_ok(v) && rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3 at least", rank);
	x = node_cast(v, x, F32);
	int sum = mean_over(v, OP_reduce_sum, node_call2(v, OP_mul, x, x), (int64_t[]){ rank - 3, rank - 2, rank - 1 }, 3);
	int y = node_call2(v, OP_div, x, node_call1(v, OP_sqrt, node_with_number(v, OP_add, sum, epsilon)));
	node_set(v, 0, node_cast(v, y, t));
}

static void import_lrn(Visit *v)
{
	int x = mil_need(v, "x");
	Attr attr[] = { attr_int("size", mil_int(v, "size", 0)), attr_float("alpha", mil_float(v, "alpha", 1e-4)),
		attr_float("beta", mil_float(v, "beta", 0.75)), attr_float("bias", mil_float(v, "k", 1)) };
	node_set(v, 0, node_call(v, OP_lrn, &x, 1, attr, 4));
}

const NodeRow mil_norm_rows[] = {
	{ "linear", 0, "", import_linear },
	{ "matmul", 0, "", import_matmul },
	{ "einsum", 0, "", import_einsum },
	{ "scaled_dot_product_attention", 8, "", import_attention },
	{ "layer_norm", 0, "", import_layer_norm },
	{ "instance_norm", 0, "", import_instance_norm },
	{ "batch_norm", 0, "", import_batch_norm },
	{ "l2_norm", 0, "", import_l2_norm },
	{ "local_response_norm", 0, "", import_lrn },
	{ NULL, 0, NULL, NULL },
};
