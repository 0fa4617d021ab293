/* Rows of MIL operators that compute each element by itself. */
#include "frontend/coreml/mil.h"

#include "frontend/node/activate.h"
#include "frontend/node/compose.h"

#include <string.h>

/* ---- one input */

static void import_unary(Visit *v)
{
	static const struct {
		const char *name;
		int op;
	} rows[] = { { "abs", OP_abs }, { "acos", OP_acos }, { "asin", OP_asin }, { "atan", OP_atan },
		{ "atanh", OP_atanh }, { "ceil", OP_ceil }, { "cos", OP_cos }, { "cosh", OP_cosh }, { "erf", OP_erf },
		{ "exp", OP_exp }, { "floor", OP_floor }, { "round", OP_round }, { "sign", OP_sign }, { "sin", OP_sin },
		{ "sinh", OP_sinh }, { "sqrt", OP_sqrt }, { "tan", OP_tan }, { "tanh", OP_tanh }, { "relu", OP_relu },
		{ "sigmoid", OP_sigmoid }, { "identity", OP_identity }, { "logical_not", OP_bit_not } };
	int x = mil_need(v, "x");
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(v->node->op, rows[k].name) == 0)
			node_set(v, 0, node_call1(v, rows[k].op, x));
}

/* Functions of x + epsilon. */
static void import_shifted(Visit *v)
{
	const char *name = v->node->op;
	double epsilon = mil_float(v, "epsilon", name[0] == 'i' ? 1e-4 : name[0] == 'r' ? 1e-12 : 1e-45);
	int x = mil_need(v, "x");
	DType t = node_val(v, x)->type;
	/* A half has no room for small numbers. */
	bool wide = dtype_is_float(t) && t.bits < 32;
	int y = node_with_number(v, OP_add, wide ? node_cast(v, x, F32) : x, epsilon);
	DType in = node_val(v, y)->type;
	if (name[0] == 'l')
		y = node_call1(v, OP_log, y);
	else
		y = node_call2(v, OP_div, node_number(v, in, 1), name[0] == 'r' ? node_call1(v, OP_sqrt, y) : y);
	node_set(v, 0, node_cast(v, y, t));
}

static void import_exp2(Visit *v)
{
	int x = mil_need(v, "x");
	DType t = node_val(v, x)->type;
	int y =
		node_with_number(v, OP_mul, dtype_is_float(t) && t.bits > 16 ? x : node_cast(v, x, F32), 0.69314718055994531);
	y = node_call1(v, OP_exp, y);
	node_set(v, 0, node_cast(v, dtype_is_int(t) ? node_call1(v, OP_round, y) : y, t));
}

static void import_square(Visit *v)
{
	int x = mil_need(v, "x");
	node_set(v, 0, node_call2(v, OP_mul, x, x));
}

static void import_clip(Visit *v)
{
	int x = mil_need(v, "x");
	x = node_with_number(v, OP_maximum, x, mil_float(v, "alpha", 0));
	node_set(v, 0, node_with_number(v, OP_minimum, x, mil_float(v, "beta", 0)));
}

static void import_threshold(Visit *v)
{
	node_set(v, 0, node_with_number(v, OP_maximum, mil_need(v, "x"), mil_float(v, "alpha", 0)));
}

static void import_cast(Visit *v)
{
	static const struct {
		const char *name;
		int kind, bits;
	} rows[] = { { "fp16", DT_FLOAT, 16 }, { "fp32", DT_FLOAT, 32 }, { "fp64", DT_FLOAT, 64 }, { "int8", DT_INT, 8 },
		{ "int16", DT_INT, 16 }, { "int32", DT_INT, 32 }, { "int64", DT_INT, 64 }, { "uint8", DT_UINT, 8 },
		{ "uint16", DT_UINT, 16 }, { "uint32", DT_UINT, 32 }, { "uint64", DT_UINT, 64 }, { "bool", DT_BOOL, 8 } };
	const char *name = node_attr_text(v, "dtype", "");
	int x = mil_need(v, "x");
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(name, rows[k].name) == 0) {
			DType to = { (uint8_t)rows[k].kind, (uint8_t)rows[k].bits, 1 };
			bool same = dtype_eq(node_val(v, x)->type, to);
			node_set(v, 0, same ? node_call1(v, OP_identity, x) : node_cast(v, x, to));
			return;
		}
	node_fail(v, ERR_UNSUPPORTED, "its parameter dtype is '%.60s', which is not supported", name);
}

/* ---- activations */

static void import_activation(Visit *v)
{
	static const struct {
		const char *name, *is;
		bool beta;
	} rows[] = { { "leaky_relu", "leaky_relu", false }, { "elu", "elu", false }, { "scaled_tanh", "scaled_tanh", true },
		{ "sigmoid_hard", "hard_sigmoid", true } };
	double alpha = mil_float(v, "alpha", 0);
	int x = mil_need(v, "x");
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(v->node->op, rows[k].name) == 0)
			node_set(v, 0, node_activate_with(v, x, rows[k].is, alpha, rows[k].beta ? mil_float(v, "beta", 0) : 0));
}

static void import_named(Visit *v)
{
	static const char *const rows[][2] = { { "relu6", "relu6" }, { "silu", "swish" }, { "softplus", "softplus" },
		{ "softsign", "softsign" } };
	int x = mil_need(v, "x");
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(v->node->op, rows[k][0]) == 0)
			node_set(v, 0, node_activate(v, x, rows[k][1]));
}

static void import_gelu(Visit *v)
{
	static const char *const modes[] = { "EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION", NULL };
	int mode = mil_word(v, "mode", modes, 0), x = mil_need(v, "x");
	node_set(v, 0,
		mode == 2 ? node_activate_with(v, x, "swish", 1.702, 0)
				  : node_activate(v, x, mode == 0 ? "gelu" : "gelu_tanh"));
}

static void import_prelu(Visit *v)
{
	int x = mil_need(v, "x");
	node_set(v, 0, node_call2(v, OP_prelu, x, mil_channels(v, "alpha", node_val(v, x)->shape.rank)));
}

/* alpha log(1 + exp(beta x)) by channels */
static void import_softplus(Visit *v)
{
	int x = mil_need(v, "x"), rank = node_val(v, x)->shape.rank;
	int y = node_activate(v, node_call2(v, OP_mul, x, mil_channels(v, "beta", rank)), "softplus");
	node_set(v, 0, node_call2(v, OP_mul, y, mil_channels(v, "alpha", rank)));
}

static void import_thresholded(Visit *v)
{
	int x = mil_need(v, "x");
	DType t = node_val(v, x)->type;
	int below = node_call2(v, OP_less, x, node_number(v, t, mil_float(v, "alpha", 0)));
	node_set(v, 0, node_where(v, below, node_number(v, t, 0), x));
}

static void import_linear(Visit *v)
{
	int x = node_with_number(v, OP_mul, mil_need(v, "x"), mil_float(v, "alpha", 1));
	node_set(v, 0, node_with_number(v, OP_add, x, mil_float(v, "beta", 0)));
}

static void import_clamped(Visit *v)
{
	int x = node_activate_with(v, mil_need(v, "x"), "leaky_relu", mil_float(v, "alpha", 0), 0);
	node_set(v, 0, node_with_number(v, OP_minimum, x, mil_float(v, "beta", 0)));
}

static void import_softmax(Visit *v)
{
	int x = mil_need(v, "x");
	Attr attr = attr_int("axis", node_axis(v, mil_int(v, "axis", -1), node_val(v, x)->shape.rank));
	node_set(v, 0, node_call(v, OP_softmax, &x, 1, &attr, 1));
}

/* ---- two inputs */

/* Both in one type: a number of another type takes the other's. */
static void operands(Visit *v, int *in)
{
	in[0] = mil_need(v, "x");
	in[1] = mil_need(v, "y");
	DType a = node_val(v, in[0])->type, b = node_val(v, in[1])->type;
	if (!node_ok(v) || dtype_eq(a, b))
		return;
	int narrow = node_val(v, in[0])->shape.rank == 0 ? 0 : 1;
	in[narrow] = node_cast(v, in[narrow], narrow == 0 ? b : a);
}

static void import_binary(Visit *v)
{
	static const struct {
		const char *name;
		int op;
		bool swap, not ;
	} rows[] = { { "add", OP_add, false, false }, { "sub", OP_sub, false, false }, { "mul", OP_mul, false, false },
		{ "pow", OP_pow, false, false }, { "maximum", OP_maximum, false, false },
		{ "minimum", OP_minimum, false, false }, { "mod", OP_mod, false, false }, { "equal", OP_equal, false, false },
		{ "not_equal", OP_equal, false, true }, { "less", OP_less, false, false },
		{ "less_equal", OP_less_equal, false, false }, { "greater", OP_less, true, false },
		{ "greater_equal", OP_less_equal, true, false }, { "logical_and", OP_bit_and, false, false },
		{ "logical_or", OP_bit_or, false, false }, { "logical_xor", OP_bit_xor, false, false } };
	int in[2];
	operands(v, in);
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(v->node->op, rows[k].name) == 0) {
			int y = node_call2(v, rows[k].op, in[rows[k].swap], in[!rows[k].swap]);
			node_set(v, 0, rows[k].not ? node_call1(v, OP_bit_not, y) : y);
		}
}

/* A quotient of integers is rounded down, or towards 0. */
static void import_divide(Visit *v)
{
	int in[2];
	operands(v, in);
	DType t = node_val(v, in[0])->type;
	bool down = strcmp(v->node->op, "floor_div") == 0;
	if (!dtype_is_int(t)) {
		int y = node_call2(v, OP_div, in[0], in[1]);
		node_set(v, 0, down ? node_call1(v, OP_floor, y) : y);
	} else if (down) { /* what the remainder leaves is divided without one */
		int rest = node_call2(v, OP_sub, in[0], node_call2(v, OP_mod, in[0], in[1]));
		node_set(v, 0, node_call2(v, OP_div, rest, in[1]));
	} else {
		node_set(v, 0, node_call2(v, OP_div, in[0], in[1]));
	}
}

static void import_select(Visit *v)
{
	int condition = mil_need(v, "cond"), a = mil_need(v, "a"), b = mil_need(v, "b");
	DType t = node_val(v, a)->type;
	node_set(v, 0, node_where(v, node_cast(v, condition, BOOL), a, node_cast(v, b, t)));
}

/* ---- quantised values */

/* A number for each element along the axis, or one for all, as f32. */
static int along(Visit *v, const char *key, int rank)
{
	int x = mil_value(v, key);
	Shape s = node_val(v, x)->shape, to = { .rank = rank };
	if (x == DAG_NONE || !node_ok(v))
		return x;
	int axis = s.rank == 1 ? node_axis(v, mil_int(v, "axis", 0), rank) : 0;
	for (int k = 0; k < rank; k++)
		to.dim[k] = s.rank == 1 && k == axis ? s.dim[0] : 1;
	return node_cast(v, s.rank == 1 ? node_reshape(v, x, to) : x, F32);
}

static void import_quantize(Visit *v)
{
	static const char *const types[] = { "int8", "uint8", NULL };
	int type = mil_word(v, "output_dtype", types, 0), x = node_cast(v, mil_need(v, "input"), F32);
	int rank = node_val(v, x)->shape.rank, scale = along(v, "scale", rank), zero = along(v, "zero_point", rank);
	mil_skip(v, "axis");
	x = node_call1(v, OP_round, node_call2(v, OP_div, x, scale));
	x = zero == DAG_NONE ? x : node_call2(v, OP_add, x, zero);
	x = node_activate_with(v, x, "clip", type == 0 ? -128 : 0, type == 0 ? 127 : 255);
	node_set(v, 0, node_cast(v, x, type == 0 ? DT(INT, 8) : DT(UINT, 8)));
}

static void import_dequantize(Visit *v)
{
	int x = node_cast(v, mil_need(v, "input"), F32), rank = node_val(v, x)->shape.rank;
	int scale = along(v, "scale", rank), zero = along(v, "zero_point", rank);
	DType t = node_val(v, mil_need(v, "scale"))->type;
	mil_skip(v, "axis");
	x = zero == DAG_NONE ? x : node_call2(v, OP_sub, x, zero);
	node_set(v, 0, node_cast(v, node_call2(v, OP_mul, x, scale), t));
}

const NodeRow mil_math_rows[] = {
	{ "abs", 0, "", import_unary },
	{ "acos", 0, "", import_unary },
	{ "asin", 0, "", import_unary },
	{ "atan", 0, "", import_unary },
	{ "atanh", 0, "", import_unary },
	{ "ceil", 0, "", import_unary },
	{ "cos", 0, "", import_unary },
	{ "cosh", 0, "", import_unary },
	{ "erf", 0, "", import_unary },
	{ "exp", 0, "", import_unary },
	{ "floor", 0, "", import_unary },
	{ "round", 0, "", import_unary },
	{ "sign", 0, "", import_unary },
	{ "sin", 0, "", import_unary },
	{ "sinh", 0, "", import_unary },
	{ "sqrt", 0, "", import_unary },
	{ "tan", 0, "", import_unary },
	{ "tanh", 0, "", import_unary },
	{ "relu", 0, "", import_unary },
	{ "sigmoid", 0, "", import_unary },
	{ "identity", 0, "", import_unary },
	{ "logical_not", 0, "", import_unary },
	{ "inverse", 0, "", import_shifted },
	{ "log", 0, "", import_shifted },
	{ "rsqrt", 0, "", import_shifted },
	{ "exp2", 0, "", import_exp2 },
	{ "square", 0, "", import_square },
	{ "clip", 0, "", import_clip },
	{ "threshold", 0, "", import_threshold },
	{ "cast", 0, "", import_cast },
	{ "leaky_relu", 0, "", import_activation },
	{ "elu", 0, "", import_activation },
	{ "scaled_tanh", 0, "", import_activation },
	{ "sigmoid_hard", 0, "", import_activation },
	{ "relu6", 0, "", import_named },
	{ "silu", 0, "", import_named },
	{ "softplus", 0, "", import_named },
	{ "softsign", 0, "", import_named },
	{ "gelu", 0, "", import_gelu },
	{ "prelu", 0, "", import_prelu },
	{ "softplus_parametric", 0, "", import_softplus },
	{ "thresholded_relu", 0, "", import_thresholded },
	{ "linear_activation", 0, "", import_linear },
	{ "clamped_relu", 0, "", import_clamped },
	{ "softmax", 0, "", import_softmax },
	{ "add", 0, "", import_binary },
	{ "sub", 0, "", import_binary },
	{ "mul", 0, "", import_binary },
	{ "pow", 0, "", import_binary },
	{ "maximum", 0, "", import_binary },
	{ "minimum", 0, "", import_binary },
	{ "mod", 0, "", import_binary },
	{ "equal", 0, "", import_binary },
	{ "not_equal", 0, "", import_binary },
	{ "less", 0, "", import_binary },
	{ "less_equal", 0, "", import_binary },
	{ "greater", 0, "", import_binary },
	{ "greater_equal", 0, "", import_binary },
	{ "logical_and", 0, "", import_binary },
	{ "logical_or", 0, "", import_binary },
	{ "logical_xor", 0, "", import_binary },
	{ "real_div", 0, "", import_divide },
	{ "floor_div", 0, "", import_divide },
	{ "select", 0, "", import_select },
	{ "quantize", 7, "", import_quantize },
	{ "dequantize", 7, "", import_dequantize },
	{ NULL, 0, NULL, NULL },
};
