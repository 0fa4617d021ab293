/*
 * Rows of operators that compute element by element or along an axis (softmax), and of casts. Old spellings
 * (broadcast and axis, min and max) become today's. Operators that the Dag lacks (Sum, Mean) become several calls.
 */
#include "frontend/onnx/float8.h"
#include "frontend/onnx/rows.h"

#include <math.h>
#include <string.h>

static void import_unary(Visit *v, int op)
{
	node_need(v, 0);
	node_set(v, 0, node_call1(v, op, node_value(v, 0)));
}

#define UNARY(name, op) \
	static void import_##name(Visit *v) \
	{ \
		import_unary(v, op); \
	}
UNARY(abs, OP_abs)
UNARY(neg, OP_neg)
UNARY(exp, OP_exp)
UNARY(log, OP_log)
UNARY(sqrt, OP_sqrt)
UNARY(erf, OP_erf)
UNARY(tanh, OP_tanh)
UNARY(sigmoid, OP_sigmoid)
UNARY(relu, OP_relu)
UNARY(tan, OP_tan)
UNARY(asin, OP_asin)
UNARY(acos, OP_acos)
UNARY(atan, OP_atan)
UNARY(sinh, OP_sinh)
UNARY(cosh, OP_cosh)
UNARY(asinh, OP_asinh)
UNARY(acosh, OP_acosh)
UNARY(atanh, OP_atanh)

static void import_binary(Visit *v, int op)
{
	int y = onnx_second(v);
	node_set(v, 0, node_call2(v, op, node_value(v, 0), y));
}

#define BINARY(name, op) \
	static void import_##name(Visit *v) \
	{ \
		import_binary(v, op); \
	}
BINARY(add, OP_add)
BINARY(sub, OP_sub)
BINARY(mul, OP_mul)
BINARY(div, OP_div)

/*
 * The result has the first input's type; an integer to a fractional power is taken in floating
 * point.
 */
static void import_pow(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1);
	int y = onnx_second(v), x = node_value(v, 0);
	if (!dtype_is_float(a->type) && dtype_is_float(b->type)) {
		x = node_cast(v, x, b->type);
		node_set(v, 0, node_cast(v, node_call2(v, OP_pow, x, y), a->type));
		return;
	}
	node_set(v, 0, node_call2(v, OP_pow, x, node_cast(v, y, a->type)));
}

/* All inputs, two at a time. */
static int fold_inputs(Visit *v, int op)
{
	node_need(v, 0);
	int y = node_value(v, 0);
	for (int k = 1; k < node_nin(v); k++) {
		node_need(v, k);
		y = node_call2(v, op, y, node_value(v, k));
	}
	return y;
}

static void import_variadic(Visit *v, int op)
{
	if (node_nin(v) == 1)
		node_set_alias(v, 0, node_need(v, 0));
	else
		node_set(v, 0, fold_inputs(v, op));
}

static void import_max(Visit *v)
{
	import_variadic(v, OP_maximum);
}

static void import_min(Visit *v)
{
	import_variadic(v, OP_minimum);
}

static void import_sum(Visit *v)
{
	import_variadic(v, OP_add);
}

static void import_mean(Visit *v)
{
	int y = fold_inputs(v, OP_add);
	if (node_nin(v) > 1)
		y = node_call2(v, OP_div, y, node_number(v, node_val(v, y)->type, node_nin(v)));
	else
		y = node_call1(v, OP_identity, y);
	node_set(v, 0, y);
}

/* A slope for each channel was written [C] before opset 7. */
static void import_prelu(Visit *v)
{
	const Item *x = node_need(v, 0), *slope = node_need(v, 1);
	int s = node_value(v, 1);
	if (v->frame->version < 7 && slope->shape.rank == 1 && x->shape.rank > 2 &&
		slope->shape.dim[0] == x->shape.dim[1]) {
		Shape wide = { .rank = x->shape.rank - 1, .dim = { slope->shape.dim[0] } };
		for (int k = 1; k < wide.rank; k++)
			wide.dim[k] = 1;
		s = node_reshape(v, s, wide);
	}
	node_set(v, 0, node_call2(v, OP_prelu, node_value(v, 0), s));
}

/* A bound that is known and floating becomes an attribute, any other a scalar input. */
static void clip_bound(Visit *v, int k, double *number, int *value)
{
	const Item *it = node_in(v, k);
	if (it == NULL)
		return;
	if (shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its input '%s' must be a number", it->name);
	else if (it->data != NULL && dtype_is_float(it->type))
		*number = import_number(it->type, it->data);
	else
		*value = node_reshape(v, node_value(v, k), shape_of(0, NULL));
}

static void import_clip(Visit *v)
{
	node_need(v, 0);
	double lo = -INFINITY, hi = INFINITY;
	int in[] = { node_value(v, 0), DAG_NONE, DAG_NONE };
	if (v->frame->version < 11) {
		lo = node_attr_float(v, "min", lo);
		hi = node_attr_float(v, "max", hi);
	} else {
		clip_bound(v, 1, &lo, &in[1]);
		clip_bound(v, 2, &hi, &in[2]);
	}
	if (isnan(lo) || isnan(hi))
		node_fail(v, ERR_INPUT, "one of its bounds is not a number");
	Attr attr[] = { attr_float("lo", lo), attr_float("hi", hi) };
	node_set(v, 0, node_call(v, OP_clip, in, 3, attr, 2));
}

/*
 * ONNX leaves open what a number becomes that an integer does not hold. Its own tests cut the bits off for integers
 * below 8 bits, as if they were cast from a wider integer.
 */
static void set_cast(Visit *v, int64_t code)
{
	Item *it = node_item(v, 0);
	DType type = F32;
	bool saturate = node_attr_flag(v, "saturate", true);
	if (it == NULL || it->kind != ITEM_FLOAT8)
		node_need(v, 0);
	if (node_ok(v) && !onnx_type_is_float8(code) && !onnx_type_from(code, &type))
		node_fail(v, ERR_UNSUPPORTED, "it casts to %s, which dlc does not have", onnx_type_name(code));
	if (!node_ok(v))
		return;
	int x = it->kind == ITEM_FLOAT8 ? float8_decode(v, it) : node_value(v, 0);
	if (onnx_type_is_float8(code)) {
		float8_set(v, 0, x, code, saturate);
		return;
	}
	if (dtype_is_int(type) && type.bits < 8 && dtype_is_float(node_val(v, x)->type))
		x = node_cast(v, x, I32);
	node_set(v, 0, node_cast(v, x, type));
}

/* How casts to f8e8m0 round, which dlc does not have. */
static void check_round_mode(Visit *v)
{
	const char *word = v->frame->version < 24 ? "up" : node_attr_text(v, "round_mode", "up");
	if (strcmp(word, "up") != 0 && strcmp(word, "down") != 0 && strcmp(word, "nearest") != 0)
		node_fail(v, ERR_INPUT, "its attribute round_mode is '%.60s', but must be up, down or nearest", word);
}

static void import_cast(Visit *v)
{
	check_round_mode(v);
	set_cast(v, v->frame->version < 6 ? onnx_type_code(node_attr_text(v, "to", "")) : node_attr_int(v, "to", 0));
}

static void import_bit_cast(Visit *v)
{
	node_need(v, 0);
	char name[DTYPE_TEXT];
	int64_t to = node_attr_int(v, "to", 0);
	DType type = F32;
	if (node_ok(v) && !onnx_type_from(to, &type))
		node_fail(v, ERR_UNSUPPORTED, "it casts to %s, which dlc does not have", onnx_type_name(to));
	Attr attr = attr_text("to", dtype_print(type, name));
	int x = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_bitcast, &x, 1, &attr, 1));
}

static void import_cast_like(Visit *v)
{
	const Item *like = node_item(v, 1);
	check_round_mode(v);
	bool codes = like != NULL && like->kind == ITEM_FLOAT8;
	set_cast(v, codes ? like->code : onnx_type_to(node_need(v, 1)->type));
}

/*
 * From opset 13 on along one axis. Before, over all dimensions from the axis on as if they were
 * one, which is the same where only one of them is longer than 1.
 */
static void import_softmax_kind(Visit *v, int op)
{
	const Item *x = node_need(v, 0);
	Shape s = x->shape;
	bool flat = v->frame->version < 13;
	int64_t given = node_attr_int(v, "axis", flat ? 1 : -1);
	int axis, in = node_value(v, 0);
	if (flat && given == s.rank && s.rank > 0) {
		Shape column = s; /* each element alone */
		column.rank = s.rank < DAG_MAX_RANK ? s.rank + 1 : s.rank;
		column.dim[column.rank - 1] = 1;
		in = node_reshape(v, in, column);
		axis = column.rank - 1;
		flat = false;
	} else {
		axis = s.rank == 0 ? 0 : node_axis(v, given, s.rank);
	}
	int longer = 0, last = axis;
	for (int k = axis; flat && k < s.rank; k++)
		if (s.dim[k] != 1) {
			longer++;
			last = k;
		}
	if (longer > 1) {
		Shape two = { .rank = 2, .dim = { shape_product(&s, 0, axis), shape_product(&s, axis, s.rank) } };
		in = node_reshape(v, in, two);
		last = 1;
	}
	Attr attr = attr_int("axis", last);
	node_set(v, 0, node_reshape(v, node_call(v, op, &in, 1, &attr, 1), s));
}

static void import_softmax(Visit *v)
{
	import_softmax_kind(v, OP_softmax);
}

static void import_log_softmax(Visit *v)
{
	import_softmax_kind(v, OP_log_softmax);
}

static void import_reciprocal(Visit *v)
{
	const Item *x = node_need(v, 0);
	node_set(v, 0, node_call2(v, OP_div, node_number(v, x->type, 1), node_value(v, 0)));
}

const NodeRow onnx_math_rows[] = {
	{ "Abs", 1, "consumed_inputs", import_abs },
	{ "Neg", 1, "consumed_inputs", import_neg },
	{ "Exp", 1, "consumed_inputs", import_exp },
	{ "Log", 1, "consumed_inputs", import_log },
	{ "Sqrt", 1, "consumed_inputs", import_sqrt },
	{ "Erf", 9, "", import_erf },
	{ "Tanh", 1, "consumed_inputs", import_tanh },
	{ "Sigmoid", 1, "consumed_inputs", import_sigmoid },
	{ "Tan", 7, "", import_tan },
	{ "Asin", 7, "", import_asin },
	{ "Acos", 7, "", import_acos },
	{ "Atan", 7, "", import_atan },
	{ "Sinh", 9, "", import_sinh },
	{ "Cosh", 9, "", import_cosh },
	{ "Asinh", 9, "", import_asinh },
	{ "Acosh", 9, "", import_acosh },
	{ "Atanh", 9, "", import_atanh },
	{ "Relu", 1, "consumed_inputs", import_relu },
	{ "PRelu", 1, "consumed_inputs", import_prelu },
	{ "Clip", 1, "consumed_inputs", import_clip },
	{ "Reciprocal", 1, "consumed_inputs", import_reciprocal },
	{ "Add", 1, "consumed_inputs", import_add },
	{ "Sub", 1, "consumed_inputs", import_sub },
	{ "Mul", 1, "consumed_inputs", import_mul },
	{ "Div", 1, "consumed_inputs", import_div },
	{ "Pow", 1, "", import_pow },
	{ "Max", 1, "consumed_inputs", import_max },
	{ "Min", 1, "consumed_inputs", import_min },
	{ "Sum", 1, "consumed_inputs", import_sum },
	{ "Mean", 1, "consumed_inputs", import_mean },
	{ "Cast", 1, "", import_cast },
	{ "BitCast", 26, "", import_bit_cast },
	{ "CastLike", 15, "", import_cast_like },
	{ "Softmax", 1, "", import_softmax },
	{ "LogSoftmax", 1, "", import_log_softmax },
	{ NULL, 0, NULL, NULL },
};
