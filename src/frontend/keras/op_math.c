/*
 * Rows of functions of keras.ops that a model calls on tensors: in version 3 they are members of the model beside its
 * layers, with the numbers of a call among its arguments.
 */
#include "frontend/keras/function.h"

#include <string.h>

typedef enum { SAME, FLOATS, SWAPPED, NEGATED, BOOLS } Kind;

/* Functions of one value or of two, elementwise, that are one operator: with operands in floats, exchanged, or bool. */
static const struct {
	const char *name;
	int operands, op;
	Kind kind;
} functions[] = {
	{ "Add", 2, OP_add, SAME },
	{ "Subtract", 2, OP_sub, SAME },
	{ "Multiply", 2, OP_mul, SAME },
	{ "Divide", 2, OP_div, FLOATS },
	{ "TrueDivide", 2, OP_div, FLOATS },
	{ "Mod", 2, OP_mod, SAME },
	{ "Power", 2, OP_pow, SAME },
	{ "Maximum", 2, OP_maximum, SAME },
	{ "Minimum", 2, OP_minimum, SAME },
	{ "Less", 2, OP_less, SAME },
	{ "LessEqual", 2, OP_less_equal, SAME },
	{ "Greater", 2, OP_less, SWAPPED },
	{ "GreaterEqual", 2, OP_less_equal, SWAPPED },
	{ "Equal", 2, OP_equal, SAME },
	{ "NotEqual", 2, OP_equal, NEGATED },
	{ "LogicalAnd", 2, OP_bit_and, BOOLS },
	{ "LogicalOr", 2, OP_bit_or, BOOLS },
	{ "LogicalXor", 2, OP_bit_xor, BOOLS },
	{ "LogicalNot", 1, OP_bit_not, BOOLS },
	{ "Negative", 1, OP_neg, SAME },
	{ "Absolute", 1, OP_abs, SAME },
	{ "Abs", 1, OP_abs, SAME },
	{ "Fabs", 1, OP_abs, FLOATS },
	{ "BitwiseAnd", 2, OP_bit_and, SAME },
	{ "BitwiseOr", 2, OP_bit_or, SAME },
	{ "BitwiseXor", 2, OP_bit_xor, SAME },
	{ "BitwiseNot", 1, OP_bit_not, SAME },
	{ "BitwiseInvert", 1, OP_bit_not, SAME },
	{ "Sign", 1, OP_sign, SAME },
	{ "Exp", 1, OP_exp, FLOATS },
	{ "Expm1", 1, OP_expm1, FLOATS },
	{ "Log", 1, OP_log, FLOATS },
	{ "Log1p", 1, OP_log1p, FLOATS },
	{ "Sqrt", 1, OP_sqrt, FLOATS },
	{ "Sin", 1, OP_sin, FLOATS },
	{ "Cos", 1, OP_cos, FLOATS },
	{ "Tan", 1, OP_tan, FLOATS },
	{ "Arcsin", 1, OP_asin, FLOATS },
	{ "Arccos", 1, OP_acos, FLOATS },
	{ "Arctan", 1, OP_atan, FLOATS },
	{ "Sinh", 1, OP_sinh, FLOATS },
	{ "Cosh", 1, OP_cosh, FLOATS },
	{ "Arcsinh", 1, OP_asinh, FLOATS },
	{ "Arccosh", 1, OP_acosh, FLOATS },
	{ "Arctanh", 1, OP_atanh, FLOATS },
	{ "Erf", 1, OP_erf, FLOATS },
	{ "Floor", 1, OP_floor, FLOATS },
	{ "Ceil", 1, OP_ceil, FLOATS },
	{ "Isnan", 1, OP_is_nan, FLOATS },
	{ "Isinf", 1, OP_is_inf, FLOATS },
};

static void import_each(Visit *v)
{
	int x[2] = { DAG_NONE, DAG_NONE }, n = 0, op = 0;
	Kind kind = SAME;
	for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
		if (strcmp(functions[k].name, v->node->op) == 0) {
			n = functions[k].operands;
			op = functions[k].op;
			kind = functions[k].kind;
		}
	if (n == 1)
		x[0] = keras_value(v, 0);
	else if (!keras_two(v, x))
		return;
	keras_promote(v, x, n);
	for (int k = 0; k < n; k++)
		if (kind == BOOLS)
			x[k] = node_cast(v, x[k], BOOL);
		else if (kind == FLOATS && node_ok(v) && !dtype_is_float(node_val(v, x[k])->type))
			x[k] = node_cast(v, x[k], F32);
	int swapped[] = { x[1], x[0] };
	int y = node_each(v, op, kind == SWAPPED ? swapped : x, n, NULL, 0);
	node_set(v, 0, kind == NEGATED ? node_each1(v, OP_bit_not, y) : y);
}

static void import_floor_divide(Visit *v)
{
	int x[2];
	if (!keras_two(v, x))
		return;
	keras_promote(v, x, 2);
	if (node_ok(v) && !dtype_is_float(node_val(v, x[0])->type))
		node_fail(v, ERR_UNSUPPORTED, "its integers are not supported");
	node_set(v, 0, node_each1(v, OP_floor, node_each2(v, OP_div, x[0], x[1])));
}

/* tf.matmul turns its operands where it is told so. */
static void import_matmul(Visit *v)
{
	bool turn[] = { node_attr_flag(v, "transpose_a", false), node_attr_flag(v, "transpose_b", false) };
	int x[2];
	if (!keras_two(v, x))
		return;
	Attr attr[] = { attr_int("ta", turn[0]), attr_int("tb", turn[1]) };
	node_set(v, 0, node_call(v, OP_matmul, x, 2, attr, 2));
}

static void import_square(Visit *v)
{
	int x = keras_value(v, 0);
	node_set(v, 0, node_each2(v, OP_mul, x, x));
}

/* 1 / x, and 1 / sqrt(x) */
static void import_reciprocal(Visit *v)
{
	int x = keras_value(v, 0), one = node_number(v, node_val(v, x)->type, 1);
	bool root = strcmp(v->node->op, "Rsqrt") == 0;
	node_set(v, 0, node_each2(v, OP_div, one, root ? node_each1(v, OP_sqrt, x) : x));
}

/* Functions that are activations, by the function's name: "LeakyRelu" is "leaky_relu". */
static void import_function(Visit *v)
{
	Arena *a = v->im->arena;
	Json how = { .kind = JV_OBJECT };
	const Json *beta = strcmp(v->node->op, "Silu") == 0 ? keras_argument(v, 1, "beta") : NULL;
	if (beta != NULL && !(beta->kind == JV_REAL && beta->real == 1) && !(beta->kind == JV_INT && beta->i == 1))
		node_fail(v, ERR_UNSUPPORTED, "its beta is not 1");
	json_set(a, &how, "class_name", json_new_text(a, keras_snake(a, v->node->op)));
	Json *config = arena_new_of(a, Json);
	*config = *keras_settings(v);
	json_set(a, &how, "config", config);
	node_set(v, 0, keras_activate_as(v, keras_value(v, 0), &how));
}

static void import_softmax(Visit *v)
{
	bool logarithm = strcmp(v->node->op, "LogSoftmax") == 0;
	int x = keras_value(v, 0), axis = node_axis(v, node_attr_int(v, "axis", -1), node_val(v, x)->shape.rank);
	node_set(v, 0, node_axis_call(v, logarithm ? OP_log_softmax : OP_softmax, &x, 1, axis, NULL, 0));
}

static void import_where(Visit *v)
{
	int x1 = keras_operand(v, 1, "x1", F32), x2 = keras_operand(v, 2, "x2", F32);
	int in[] = { node_cast(v, keras_given(v, 0, "condition", BOOL), BOOL),
		x1 != DAG_NONE ? x1 : keras_given(v, -1, "x", F32), x2 != DAG_NONE ? x2 : keras_given(v, -1, "y", F32) };
	keras_promote(v, in + 1, 2);
	if (node_ok(v))
		node_set(v, 0, node_each(v, OP_where, in, 3, NULL, 0));
}

static void import_cast(Visit *v)
{
	DType to = keras_type_or(v, F32);
	int x = keras_value(v, 0);
	if (node_ok(v) && dtype_is_float(node_val(v, x)->type) && dtype_is_int(to))
		x = node_truncate(v, x);
	node_set(v, 0, node_cast(v, x, to));
}

/* ---- reductions */

static void reduce_as(Visit *v, int op, bool typed)
{
	int x = keras_value(v, 0);
	if (typed)
		x = node_cast(v, x, keras_type_or(v, node_val(v, x)->type));
	int64_t axes[DAG_MAX_RANK];
	int count = keras_axes(v, node_val(v, x)->shape.rank, axes);
	bool keep = node_attr_flag(v, "keepdims", false);
	if (node_ok(v))
		node_set(v, 0, node_reduce(v, op, x, axes, count, keep));
}

static void reduce(Visit *v, int op)
{
	reduce_as(v, op, false);
}

static void import_mean(Visit *v)
{
	reduce(v, OP_reduce_mean);
}

/* A sum or product is made in the type that is asked for. */
static void import_sum(Visit *v)
{
	reduce_as(v, strcmp(v->node->op, "Prod") == 0 ? OP_reduce_prod : OP_reduce_sum, true);
}

static void import_amax(Visit *v)
{
	reduce(v, OP_reduce_max);
}

static void import_amin(Visit *v)
{
	reduce(v, OP_reduce_min);
}

/* Whether any, or all, are true. */
static void import_any(Visit *v)
{
	bool all = strcmp(v->node->op, "All") == 0, keep = node_attr_flag(v, "keepdims", false);
	int64_t axes[DAG_MAX_RANK];
	int x = node_cast(v, node_cast(v, keras_value(v, 0), BOOL), F32);
	int count = keras_axes(v, node_val(v, x)->shape.rank, axes);
	if (node_ok(v))
		node_set(v, 0, node_cast(v, node_reduce(v, all ? OP_reduce_min : OP_reduce_max, x, axes, count, keep), BOOL));
}

/* The mean of squared distances from the mean, and its root. */
static void import_var(Visit *v)
{
	bool root = strcmp(v->node->op, "Std") == 0, keep = node_attr_flag(v, "keepdims", false);
	int64_t axes[DAG_MAX_RANK];
	int x = keras_value(v, 0), count = keras_axes(v, node_val(v, x)->shape.rank, axes);
	if (!node_ok(v))
		return;
	x = node_each2(v, OP_sub, x, node_reduce(v, OP_reduce_mean, x, axes, count, true));
	x = node_reduce(v, OP_reduce_mean, node_each2(v, OP_mul, x, x), axes, count, keep);
	node_set(v, 0, root ? node_each1(v, OP_sqrt, x) : x);
}

/* log(sum(exp(x - max))) + max */
static void import_logsumexp(Visit *v)
{
	bool keep = node_attr_flag(v, "keepdims", false);
	int64_t axes[DAG_MAX_RANK];
	int x = keras_value(v, 0), count = keras_axes(v, node_val(v, x)->shape.rank, axes);
	if (!node_ok(v))
		return;
	int most = node_reduce(v, OP_reduce_max, x, axes, count, true);
	int sum = node_reduce(v, OP_reduce_sum, node_each1(v, OP_exp, node_each2(v, OP_sub, x, most)), axes, count, keep);
	most = keep ? most : node_reduce(v, OP_reduce_max, x, axes, count, false);
	node_set(v, 0, node_each2(v, OP_add, node_each1(v, OP_log, sum), most));
}

/* The place of an extreme along one axis. */
static void import_arg(Visit *v)
{
	bool most = strcmp(v->node->op, "Argmax") == 0, keep = node_attr_flag(v, "keepdims", false);
	int count, x = keras_value(v, 0);
	const int64_t *at = node_attr_ints(v, "axis", &count);
	if (node_ok(v) && count != 1)
		node_fail(v, ERR_UNSUPPORTED, "it has %d axes; one is supported", count < 0 ? 0 : count);
	int axis = node_axis(v, count == 1 ? at[0] : 0, node_val(v, x)->shape.rank);
	Attr attr[] = { attr_int("axis", axis), attr_int("keep", keep) };
	node_set(v, 0, node_cast(v, node_call(v, most ? OP_arg_max : OP_arg_min, &x, 1, attr, 2), I32));
}

/* x / max(norm, epsilon), the root of the sum of squares along axes; tf.math.l2_normalize bounds the square. */
static void import_normalize(Visit *v)
{
	bool square = strcmp(v->node->op, "L2Normalize") == 0;
	double order = node_attr_float(v, "order", 2), least = node_attr_float(v, "epsilon", square ? 1e-12 : 1e-7);
	int64_t axes[DAG_MAX_RANK];
	int x = keras_value(v, 0), count = keras_axes(v, node_val(v, x)->shape.rank, axes);
	if (order != 2)
		node_fail(v, ERR_UNSUPPORTED, "its order is %g; 2 is supported", order);
	if (!node_ok(v))
		return;
	least = square ? least : least * least;
	int sum = node_reduce(v, OP_reduce_sum, node_each2(v, OP_mul, x, x), axes, count, true);
	sum = node_each2(v, OP_maximum, sum, node_number(v, node_val(v, x)->type, least));
	node_set(v, 0, node_each2(v, OP_div, x, node_each1(v, OP_sqrt, sum)));
}

static void import_clip(Visit *v)
{
	int x = keras_value(v, 0);
	x = node_each2(v, OP_maximum, x, node_number(v, node_val(v, x)->type, node_attr_float(v, "x_min", 0)));
	node_set(v, 0, node_each2(v, OP_minimum, x, node_number(v, node_val(v, x)->type, node_attr_float(v, "x_max", 0))));
}

const NodeRow keras_math_rows[] = {
	{ "ops::Add", 0, "", import_each },
	{ "ops::Subtract", 0, "", import_each },
	{ "ops::Multiply", 0, "", import_each },
	{ "ops::Divide", 0, "", import_each },
	{ "ops::TrueDivide", 0, "", import_each },
	{ "ops::Mod", 0, "", import_each },
	{ "ops::Power", 0, "", import_each },
	{ "ops::Maximum", 0, "", import_each },
	{ "ops::Minimum", 0, "", import_each },
	{ "ops::Less", 0, "", import_each },
	{ "ops::LessEqual", 0, "", import_each },
	{ "ops::Greater", 0, "", import_each },
	{ "ops::GreaterEqual", 0, "", import_each },
	{ "ops::Equal", 0, "", import_each },
	{ "ops::NotEqual", 0, "", import_each },
	{ "ops::LogicalAnd", 0, "", import_each },
	{ "ops::LogicalOr", 0, "", import_each },
	{ "ops::LogicalXor", 0, "", import_each },
	{ "ops::LogicalNot", 0, "", import_each },
	{ "ops::Negative", 0, "", import_each },
	{ "ops::Absolute", 0, "", import_each },
	{ "ops::Abs", 0, "", import_each },
	{ "ops::Fabs", 0, "", import_each },
	{ "ops::BitwiseAnd", 0, "", import_each },
	{ "ops::BitwiseOr", 0, "", import_each },
	{ "ops::BitwiseXor", 0, "", import_each },
	{ "ops::BitwiseNot", 0, "", import_each },
	{ "ops::BitwiseInvert", 0, "", import_each },
	{ "ops::Sign", 0, "", import_each },
	{ "ops::Exp", 0, "", import_each },
	{ "ops::Expm1", 0, "", import_each },
	{ "ops::Log", 0, "", import_each },
	{ "ops::Log1p", 0, "", import_each },
	{ "ops::Sqrt", 0, "", import_each },
	{ "ops::Sin", 0, "", import_each },
	{ "ops::Cos", 0, "", import_each },
	{ "ops::Tan", 0, "", import_each },
	{ "ops::Arcsin", 0, "", import_each },
	{ "ops::Arccos", 0, "", import_each },
	{ "ops::Arctan", 0, "", import_each },
	{ "ops::Sinh", 0, "", import_each },
	{ "ops::Cosh", 0, "", import_each },
	{ "ops::Arcsinh", 0, "", import_each },
	{ "ops::Arccosh", 0, "", import_each },
	{ "ops::Arctanh", 0, "", import_each },
	{ "ops::Erf", 0, "", import_each },
	{ "ops::Floor", 0, "", import_each },
	{ "ops::Ceil", 0, "", import_each },
	{ "ops::Isnan", 0, "", import_each },
	{ "ops::Isinf", 0, "", import_each },
	{ "ops::FloorDivide", 0, "", import_floor_divide },
	{ "ops::Matmul", 0, "", import_matmul },
	{ "ops::Square", 0, "", import_square },
	{ "ops::Rsqrt", 0, "", import_reciprocal },
	{ "ops::Reciprocal", 0, "", import_reciprocal },
	{ "ops::Relu", 0, "*", import_function },
	{ "ops::Relu6", 0, "*", import_function },
	{ "ops::Sigmoid", 0, "*", import_function },
	{ "ops::Tanh", 0, "*", import_function },
	{ "ops::Silu", 0, "*", import_function },
	{ "ops::HardSigmoid", 0, "*", import_function },
	{ "ops::HardSilu", 0, "*", import_function },
	{ "ops::Softplus", 0, "*", import_function },
	{ "ops::Gelu", 0, "*", import_function },
	{ "ops::LeakyRelu", 0, "*", import_function },
	{ "ops::Elu", 0, "*", import_function },
	{ "ops::Selu", 0, "*", import_function },
	{ "ops::Celu", 0, "*", import_function },
	{ "ops::Softsign", 0, "*", import_function },
	{ "ops::HardTanh", 0, "*", import_function },
	{ "ops::TanhShrink", 0, "*", import_function },
	{ "ops::Mish", 0, "*", import_function },
	{ "ops::LogSigmoid", 0, "*", import_function },
	{ "ops::Squareplus", 0, "*", import_function },
	{ "ops::SparsePlus", 0, "*", import_function },
	{ "ops::SparseSigmoid", 0, "*", import_function },
	{ "ops::SoftShrink", 0, "*", import_function },
	{ "ops::HardShrink", 0, "*", import_function },
	{ "ops::Threshold", 0, "*", import_function },
	{ "ops::Glu", 0, "*", import_function },
	{ "ops::Sparsemax", 0, "*", import_function },
	{ "ops::Softmax", 0, "", import_softmax },
	{ "ops::LogSoftmax", 0, "", import_softmax },
	{ "ops::Where", 0, "", import_where },
	{ "ops::Cast", 0, "", import_cast },
	{ "ops::Clip", 0, "", import_clip },
	{ "ops::Mean", 0, "", import_mean },
	{ "ops::Sum", 0, "dtype", import_sum },
	{ "ops::Max", 0, "", import_amax },
	{ "ops::Min", 0, "", import_amin },
	{ "ops::Amax", 0, "", import_amax },
	{ "ops::Amin", 0, "", import_amin },
	{ "ops::Prod", 0, "dtype", import_sum },
	{ "ops::Any", 0, "", import_any },
	{ "ops::All", 0, "", import_any },
	{ "ops::Var", 0, "", import_var },
	{ "ops::Std", 0, "", import_var },
	{ "ops::Logsumexp", 0, "", import_logsumexp },
	{ "ops::Argmax", 0, "", import_arg },
	{ "ops::Argmin", 0, "", import_arg },
	{ "ops::Normalize", 0, "", import_normalize },
	{ "ops::L2Normalize", 0, "", import_normalize },
	{ NULL, 0, NULL, NULL },
};
