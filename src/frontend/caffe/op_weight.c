/* Rows of Caffe's layers whose weights are matrices or one number for each channel, and of normalisations. */
#include "frontend/caffe/caffe.h"

#include "frontend/node/compose.h"

#include <math.h>

/* x[.., K..] times weights [N,K] (or [K,N]): dimensions from `axis` on are one. */
static void import_inner_product(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t n = caffe_count(v, "num_output", 0, 1);
	bool transpose = node_attr_flag(v, "transpose", false), bias = node_attr_flag(v, "bias_term", true);
	int axis = caffe_axis(v, "axis", 1, it->shape.rank);
	int64_t in = shape_product(&it->shape, axis, it->shape.rank), many = shape_product(&it->shape, 0, axis);
	if (!node_ok(v))
		return;
	int64_t dim[] = { transpose ? in : n, transpose ? n : in };
	int b = bias ? caffe_constant(v, 1, "bias", shape_of(1, &n), 0, 0.1) : DAG_NONE;
	int w = caffe_constant(v, 0, "weights", shape_of(2, dim), 0, sqrt(2 / fmax(1, (double)in)));
	if (transpose)
		w = node_transpose(v, w, (int64_t[]){ 1, 0 });
	int call[] = { node_view(v, node_value(v, 0), 2, (int64_t[]){ many, in }), w, b };
	int y = node_call(v, OP_dense, call, 3, NULL, 0);
	Shape s = it->shape;
	s.rank = axis + 1;
	s.dim[axis] = n;
	node_set(v, 0, node_reshape(v, y, s));
}

/* Rows of a table; indices are floats, and cut to integers. */
static void import_embed(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t n = caffe_count(v, "num_output", 0, 1), rows = caffe_count(v, "input_dim", 0, 1);
	bool bias = node_attr_flag(v, "bias_term", true);
	if (!node_ok(v))
		return;
	int w = caffe_constant(v, 0, "weights", shape_of(2, (int64_t[]){ rows, n }), 0, 1);
	int in[] = { w, node_cast(v, node_value(v, 0), I64) };
	Attr attr = attr_int("axis", 0);
	int y = node_call(v, OP_gather, in, 2, &attr, 1);
	if (bias && it->shape.rank < DAG_MAX_RANK)
		y = node_call2(v, OP_add, y, caffe_constant(v, 1, "bias", shape_of(1, &n), 0, 0.1));
	node_set(v, 0, y);
}

/* Sums of means and variances, and the number that both are divided by. */
static void import_batch_norm(Visit *v)
{
	const Item *it = node_need(v, 0);
	Attr attr = attr_float("epsilon", node_attr_size(v, "eps", 1e-5));
	if (!node_attr_flag(v, "use_global_stats", true))
		node_fail(v, ERR_UNSUPPORTED, "it takes the statistics of the batch: remove its use_global_stats: false");
	if (node_ok(v) && it->shape.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 2 at least", it->shape.rank);
	if (!node_ok(v))
		return;
	Shape s = shape_of(1, &it->shape.dim[1]);
	const float *mean = caffe_take(v, 0, "mean", s, 0, 0.1), *variance = caffe_take(v, 1, "variance", s, 1, 0.1);
	const float *factor = caffe_take(v, 2, "factor", shape_of(1, (int64_t[]){ 1 }), 1, 0);
	if (!node_ok(v))
		return;
	float by = factor[0] == 0 ? 0 : 1 / factor[0];
	float *to = arena_array(v->im->arena, float, 2 * s.dim[0] + 1);
	for (int64_t k = 0; k < s.dim[0]; k++) {
		to[k] = mean[k] * by;
		to[s.dim[0] + k] = variance[k] * by;
	}
	int one = node_expand(v, node_number(v, F32, 1), s), zero = node_expand(v, node_number(v, F32, 0), s);
	int in[] = { node_value(v, 0), one, zero, node_weight(v, "mean", F32, s, to),
		node_weight(v, "variance", F32, s, to + s.dim[0]) };
	node_set(v, 0, node_call(v, OP_batch_norm, in, 5, &attr, 1));
}

/* The second operand of Scale and Bias, so that it broadcasts from `axis` on: an input, or blob 0. */
static int operand(Visit *v, const char *what, double mean, Shape *own)
{
	const Item *x = node_need(v, 0);
	int axis = caffe_axis(v, "axis", 1, x->shape.rank);
	int64_t n = node_attr_int(v, "num_axes", 1);
	*own = shape_of(0, NULL);
	if (!node_ok(v))
		return DAG_NONE;
	if (node_nin(v) > 1)
		*own = node_need(v, 1)->shape;
	else if (n < -1 || n > x->shape.rank - axis)
		node_fail(v, ERR_INPUT, "its num_axes is %lld, but its input has %d from axis %d on", (long long)n,
			x->shape.rank - axis, axis);
	else
		for (int k = axis; k < x->shape.rank && (n == -1 || k < axis + n); k++)
			own->dim[own->rank++] = x->shape.dim[k];
	for (int k = 0; k < own->rank && node_ok(v); k++)
		if (axis + k >= x->shape.rank || own->dim[k] != x->shape.dim[axis + k])
			node_fail(v, ERR_TYPE, "its second input does not fit the first one from axis %d on", axis);
	if (!node_ok(v))
		return DAG_NONE;
	return node_nin(v) > 1 ? node_value(v, 1) : caffe_constant(v, 0, what, *own, mean, 0.1);
}

/* With dimensions of 1 behind, up to those of the first input. */
static int aligned(Visit *v, int y, Shape own)
{
	if (!node_ok(v) || own.rank == 0)
		return y;
	int rank = node_in(v, 0)->shape.rank, axis = caffe_axis(v, "axis", 1, rank);
	while (own.rank < rank - axis)
		own.dim[own.rank++] = 1;
	return node_reshape(v, y, own);
}

static void import_scale(Visit *v)
{
	Shape own;
	bool bias = node_attr_flag(v, "bias_term", false);
	int by = operand(v, "scale", 1, &own);
	int y = node_call2(v, OP_mul, node_value(v, 0), aligned(v, by, own));
	if (bias && node_ok(v))
		y = node_call2(v, OP_add, y, aligned(v, caffe_constant(v, node_nin(v) > 1 ? 0 : 1, "bias", own, 0, 0.1), own));
	node_set(v, 0, y);
}

static void import_bias(Visit *v)
{
	Shape own;
	int by = operand(v, "bias", 0, &own);
	node_set(v, 0, node_call2(v, OP_add, node_value(v, 0), aligned(v, by, own)));
}

/* One number for each channel, or one for all. */
static int by_channel(Visit *v, const char *what, bool shared, double mean, double spread)
{
	const Item *it = node_need(v, 0);
	if (node_ok(v) && it->shape.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 2 at least", it->shape.rank);
	if (!node_ok(v))
		return DAG_NONE;
	Shape s = shape_of(1, &it->shape.dim[1]), wide = { .rank = it->shape.rank - 1 };
	if (shared)
		s.dim[0] = 1;
	for (int k = 0; k < wide.rank; k++)
		wide.dim[k] = k == 0 ? s.dim[0] : 1;
	return node_reshape(v, caffe_constant(v, 0, what, s, mean, spread), wide);
}

static void import_prelu(Visit *v)
{
	int slope = by_channel(v, "slope", node_attr_flag(v, "channel_shared", false), 0.25, 0);
	node_set(v, 0, node_call2(v, OP_prelu, node_value(v, 0), slope));
}

static int reduce(Visit *v, int op, int x, int from)
{
	int64_t axes[DAG_MAX_RANK];
	int rank = node_val(v, x)->shape.rank;
	for (int k = from; k < rank; k++)
		axes[k - from] = k;
	Attr attr = attr_ints("axes", axes, rank - from);
	return from >= rank ? x : node_call(v, op, &x, 1, &attr, 1);
}

/* Of SSD's fork: x / sqrt(sum x^2 + eps) over channels, or over all of an image, times a scale. */
static void import_normalize(Visit *v)
{
	bool all = node_attr_flag(v, "across_spatial", true), shared = node_attr_flag(v, "channel_shared", true);
	double eps = node_attr_size(v, "eps", 1e-10);
	int scale = by_channel(v, "scale", shared, 1, 0.1), x = node_value(v, 0);
	if (!node_ok(v))
		return;
	int square = node_call2(v, OP_mul, x, x);
	Attr one = attr_ints("axes", (int64_t[]){ 1 }, 1);
	int sum = all ? reduce(v, OP_reduce_sum, square, 1) : node_call(v, OP_reduce_sum, &square, 1, &one, 1);
	int norm = node_call1(v, OP_sqrt, node_with_number(v, OP_add, sum, eps));
	node_set(v, 0, node_call2(v, OP_mul, node_call2(v, OP_div, x, norm), scale));
}

/* (x - mean) / (sqrt(variance) + eps) over each plane, or over each image. */
static void import_mvn(Visit *v)
{
	const Item *it = node_need(v, 0);
	bool divide = node_attr_flag(v, "normalize_variance", true), across = node_attr_flag(v, "across_channels", false);
	double eps = node_attr_size(v, "eps", 1e-9);
	int from = across ? 1 : 2;
	if (node_ok(v) && it->shape.rank <= from)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs %d at least", it->shape.rank, from + 1);
	if (!node_ok(v))
		return;
	int x = node_value(v, 0), y = node_call2(v, OP_sub, x, reduce(v, OP_reduce_mean, x, from));
	if (divide) {
		int variance = reduce(v, OP_reduce_mean, node_call2(v, OP_mul, y, y), from);
		y = node_call2(v, OP_div, y, node_with_number(v, OP_add, node_call1(v, OP_sqrt, variance), eps));
	}
	node_set(v, 0, y);
}

/* A blob that is learned. */
static void import_parameter(Visit *v)
{
	int n;
	const int64_t *dim = node_attr_ints(v, "shape", &n);
	if (node_ok(v) && (n < 0 || n > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its shape has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	if (node_ok(v))
		node_set(v, 0, caffe_constant(v, 0, "values", shape_of(n, dim), 0, 1));
}

const NodeRow caffe_weight_rows[] = {
	{ "InnerProduct", 0, "", import_inner_product },
	{ "Embed", 0, "", import_embed },
	{ "BatchNorm", 0, "moving_average_fraction", import_batch_norm },
	{ "Scale", 0, "", import_scale },
	{ "Bias", 0, "", import_bias },
	{ "PReLU", 0, "", import_prelu },
	{ "Normalize", 0, "", import_normalize },
	{ "MVN", 0, "", import_mvn },
	{ "Parameter", 0, "", import_parameter },
	{ NULL, 0, NULL, NULL },
};
