/*
 * Rows of functions of keras.ops that a model calls on tensors: in version 3 they are members of the model beside its
 * layers, with the numbers of a call among its arguments.
 */
#include "frontend/keras/keras.h"

#include <string.h>

static int constant(Visit *v, const Json *j, DType type)
{
	if (j == NULL || (j->kind != JV_INT && j->kind != JV_REAL && j->kind != JV_BOOL)) {
		node_fail(v, ERR_UNSUPPORTED, "its arguments hold something else than tensors and numbers");
		return DAG_NONE;
	}
	return node_number(v, type, j->kind == JV_REAL ? j->real : j->kind == JV_INT ? (double)j->i : j->truth);
}

/* Arguments x1 and x2, of which one may be a number. */
static bool read_two(Visit *v, int *x)
{
	static const char *const names[][2] = { { "x1", "x" }, { "x2", "y" } };
	const Json *given[2];
	for (int k = 0; k < 2; k++) {
		int at = -1;
		const char *name = names[k][0];
		for (int i = 0; i < 2 && at < 0; i++) {
			at = keras_input(v, k, names[k][i]);
			name = at >= 0 || keras_argument(v, -1, names[k][i]) != NULL ? names[k][i] : name;
		}
		given[k] = at < 0 ? keras_argument(v, k, name) : NULL;
		x[k] = at < 0 ? DAG_NONE : keras_value(v, at);
	}
	for (int k = 0; k < 2 && node_ok(v); k++)
		if (x[k] == DAG_NONE && x[1 - k] == DAG_NONE)
			node_fail(v, ERR_UNSUPPORTED, "it has no tensor among its arguments");
		else if (x[k] == DAG_NONE)
			x[k] = constant(v, given[k], node_val(v, x[1 - k])->type);
	return node_ok(v);
}

static void both(Visit *v, int op)
{
	int x[2];
	if (read_two(v, x))
		node_set(v, 0, node_each2(v, op, x[0], x[1]));
}

static void import_add(Visit *v)
{
	both(v, OP_add);
}

static void import_sub(Visit *v)
{
	both(v, OP_sub);
}

static void import_mul(Visit *v)
{
	both(v, OP_mul);
}

static void import_div(Visit *v)
{
	both(v, OP_div);
}

static void import_pow(Visit *v)
{
	both(v, OP_pow);
}

static void import_max(Visit *v)
{
	both(v, OP_maximum);
}

static void import_min(Visit *v)
{
	both(v, OP_minimum);
}

static void import_matmul(Visit *v)
{
	int x[2];
	if (read_two(v, x))
		node_set(v, 0, node_call2(v, OP_matmul, x[0], x[1]));
}

static void each(Visit *v, int op)
{
	node_set(v, 0, node_each1(v, op, keras_value(v, 0)));
}

static void import_neg(Visit *v)
{
	each(v, OP_neg);
}

static void import_abs(Visit *v)
{
	each(v, OP_abs);
}

static void import_exp(Visit *v)
{
	each(v, OP_exp);
}

static void import_log(Visit *v)
{
	each(v, OP_log);
}

static void import_sqrt(Visit *v)
{
	each(v, OP_sqrt);
}

static void import_sin(Visit *v)
{
	each(v, OP_sin);
}

static void import_cos(Visit *v)
{
	each(v, OP_cos);
}

static void import_square(Visit *v)
{
	int x = keras_value(v, 0);
	node_set(v, 0, node_each2(v, OP_mul, x, x));
}

static void import_rsqrt(Visit *v)
{
	int x = keras_value(v, 0);
	node_set(v, 0, node_each2(v, OP_div, node_number(v, node_val(v, x)->type, 1), node_each1(v, OP_sqrt, x)));
}

/* Functions that are activations, by the layer's class: "Relu" is "relu". */
static void import_function(Visit *v)
{
	Json how = { .kind = JV_TEXT, .text = keras_snake(v->im->arena, keras_of(v)->op) };
	node_set(v, 0, keras_activate_as(v, keras_value(v, 0), &how));
}

static void reduce(Visit *v, int op)
{
	int count, x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *at = node_attr_ints(v, "axis", &count);
	int64_t axes[DAG_MAX_RANK];
	bool all = count < 0, keep = node_attr_flag(v, "keepdims", false);
	if (count > DAG_MAX_RANK)
		node_fail(v, ERR_INPUT, "it has %d axes", count);
	count = all ? rank : count;
	for (int k = 0; k < count && node_ok(v); k++)
		axes[k] = all ? k : node_axis(v, at[k], rank);
	if (node_ok(v))
		node_set(v, 0, node_reduce(v, op, x, axes, count, keep));
}

static void import_mean(Visit *v)
{
	reduce(v, OP_reduce_mean);
}

static void import_sum(Visit *v)
{
	reduce(v, OP_reduce_sum);
}

static void import_amax(Visit *v)
{
	reduce(v, OP_reduce_max);
}

static void import_amin(Visit *v)
{
	reduce(v, OP_reduce_min);
}

static void import_reshape(Visit *v)
{
	int count, open = -1, x = keras_value(v, 0);
	const int64_t *dim = node_attr_ints(v, "newshape", &count);
	Shape s = node_val(v, x)->shape, to = { .rank = count };
	int64_t known = 1;
	if (node_ok(v) && (count < 0 || count > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its newshape has %d numbers", count);
	if (!node_ok(v))
		return;
	for (int k = 0; k < count; k++) {
		to.dim[k] = dim[k] < 0 ? 1 : dim[k];
		open = dim[k] < 0 ? k : open;
	}
	known = shape_product(&to, 0, to.rank);
	if (open >= 0 && known > 0)
		to.dim[open] = shape_product(&s, 0, s.rank) / known;
	if (shape_product(&to, 0, to.rank) != shape_product(&s, 0, s.rank))
		node_fail(v, ERR_TYPE, "its newshape does not have the elements of its input");
	node_set(v, 0, node_reshape(v, x, to));
}

static void import_transpose(Visit *v)
{
	int count, x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *axes = node_attr_ints(v, "axes", &count);
	int64_t perm[DAG_MAX_RANK];
	bool used[DAG_MAX_RANK] = { false };
	if (count >= 0 && count != rank)
		node_fail(v, ERR_INPUT, "its axes are %d numbers, but its input has %d dimensions", count, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		perm[k] = count < 0 ? rank - 1 - k : node_axis(v, axes[k], rank);
		if (node_ok(v) && used[perm[k]])
			node_fail(v, ERR_INPUT, "its axes name one twice");
		used[perm[k]] = true;
	}
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, x, perm));
}

static void import_expand_dims(Visit *v)
{
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape, to = { .rank = s.rank + 1 };
	int count;
	const int64_t *at = node_attr_ints(v, "axis", &count);
	if (node_ok(v) && (count != 1 || s.rank >= DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "it adds %d dimensions to %d", count, s.rank);
	int axis = count == 1 ? node_axis(v, at[0], to.rank) : 0;
	if (!node_ok(v))
		return;
	for (int k = 0; k < to.rank; k++)
		to.dim[k] = k == axis ? 1 : s.dim[k - (k > axis)];
	node_set(v, 0, node_reshape(v, x, to));
}

static void import_squeeze(Visit *v)
{
	int count, x = keras_value(v, 0);
	const int64_t *at = node_attr_ints(v, "axis", &count);
	Shape s = node_val(v, x)->shape, to = { 0 };
	for (int k = 0; k < s.rank && node_ok(v); k++) {
		bool gone = count < 0 && s.dim[k] == 1;
		for (int i = 0; i < count && node_ok(v); i++)
			gone |= node_axis(v, at[i], s.rank) == k;
		if (gone && s.dim[k] != 1)
			node_fail(v, ERR_TYPE, "it removes a dimension of %lld elements", (long long)s.dim[k]);
		if (!gone)
			to.dim[to.rank++] = s.dim[k];
	}
	if (node_ok(v))
		node_set(v, 0, node_reshape(v, x, to));
}

static void import_concatenate(Visit *v)
{
	int n = node_nin(v), *x = arena_array(v->im->arena, int, n + 1);
	for (int k = 0; k < n; k++)
		x[k] = keras_value(v, k);
	int rank = n > 0 ? node_val(v, x[0])->shape.rank : 0, axis = node_axis(v, node_attr_int(v, "axis", -1), rank);
	for (int k = 1; k < n && node_ok(v); k++)
		if (node_val(v, x[k])->shape.rank != rank)
			node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", rank, node_val(v, x[k])->shape.rank);
	if (node_ok(v))
		node_set(v, 0, n == 1 ? x[0] : node_axis_call(v, OP_concat, x, n, axis, NULL, 0));
}

static void import_clip(Visit *v)
{
	int x = keras_value(v, 0);
	x = node_each2(v, OP_maximum, x, node_number(v, node_val(v, x)->type, node_attr_float(v, "x_min", 0)));
	node_set(v, 0, node_each2(v, OP_minimum, x, node_number(v, node_val(v, x)->type, node_attr_float(v, "x_max", 0))));
}

const NodeRow keras_math_rows[] = {
	{ "ops::Add", 0, "", import_add },
	{ "ops::Subtract", 0, "", import_sub },
	{ "ops::Multiply", 0, "", import_mul },
	{ "ops::Divide", 0, "", import_div },
	{ "ops::TrueDivide", 0, "", import_div },
	{ "ops::Power", 0, "", import_pow },
	{ "ops::Maximum", 0, "", import_max },
	{ "ops::Minimum", 0, "", import_min },
	{ "ops::Matmul", 0, "", import_matmul },
	{ "ops::Negative", 0, "", import_neg },
	{ "ops::Absolute", 0, "", import_abs },
	{ "ops::Abs", 0, "", import_abs },
	{ "ops::Exp", 0, "", import_exp },
	{ "ops::Log", 0, "", import_log },
	{ "ops::Sqrt", 0, "", import_sqrt },
	{ "ops::Rsqrt", 0, "", import_rsqrt },
	{ "ops::Square", 0, "", import_square },
	{ "ops::Sin", 0, "", import_sin },
	{ "ops::Cos", 0, "", import_cos },
	{ "ops::Relu", 0, "", import_function },
	{ "ops::Relu6", 0, "", import_function },
	{ "ops::Sigmoid", 0, "", import_function },
	{ "ops::Tanh", 0, "", import_function },
	{ "ops::Silu", 0, "", import_function },
	{ "ops::HardSigmoid", 0, "", import_function },
	{ "ops::HardSilu", 0, "", import_function },
	{ "ops::Softplus", 0, "", import_function },
	{ "ops::Mean", 0, "", import_mean },
	{ "ops::Sum", 0, "", import_sum },
	{ "ops::Max", 0, "", import_amax },
	{ "ops::Min", 0, "", import_amin },
	{ "ops::Reshape", 0, "", import_reshape },
	{ "ops::Transpose", 0, "", import_transpose },
	{ "ops::ExpandDims", 0, "", import_expand_dims },
	{ "ops::Squeeze", 0, "", import_squeeze },
	{ "ops::Concatenate", 0, "", import_concatenate },
	{ "ops::Clip", 0, "", import_clip },
	{ NULL, 0, NULL, NULL },
};
