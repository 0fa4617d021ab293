/*
 * Rows of comparisons, logic, bitwise operators, choices and tests, and of the functions that round. Greater is
 * Less with its operands exchanged. And, Or, Xor and Not of bools and their bitwise siblings of integers are one
 * operator of the Dag each.
 */
#include "frontend/onnx/rows.h"

#include <string.h>

static void import_pair(Visit *v, int op, bool swap)
{
	int y = onnx_second(v), x = node_value(v, 0);
	node_set(v, 0, swap ? node_call2(v, op, y, x) : node_call2(v, op, x, y));
}

static void import_unary(Visit *v, int op)
{
	node_need(v, 0);
	node_set(v, 0, node_call1(v, op, node_value(v, 0)));
}

/* The inputs must be of bool, or must not be. */
static void import_logic(Visit *v, int op, bool of_bool)
{
	const Item *x = node_need(v, 0);
	if (node_ok(v) && (x->type.kind == DT_BOOL) != of_bool)
		node_fail(v, ERR_TYPE, "its input '%s' must have elements of %s", x->name, of_bool ? "bool" : "integers");
	if (op == OP_bit_not)
		import_unary(v, op);
	else
		import_pair(v, op, false);
}

#define ROW(name, function, ...) \
	static void import_##name(Visit *v) \
	{ \
		function(v, __VA_ARGS__); \
	}
ROW(equal, import_pair, OP_equal, false)
ROW(less_than, import_pair, OP_less, false)
ROW(less_or_equal, import_pair, OP_less_equal, false)
ROW(greater, import_pair, OP_less, true)
ROW(greater_or_equal, import_pair, OP_less_equal, true)
ROW(and, import_logic, OP_bit_and, true)
ROW(or, import_logic, OP_bit_or, true)
ROW(xor, import_logic, OP_bit_xor, true)
ROW(not, import_logic, OP_bit_not, true)
ROW(bitwise_and, import_logic, OP_bit_and, false)
ROW(bitwise_or, import_logic, OP_bit_or, false)
ROW(bitwise_xor, import_logic, OP_bit_xor, false)
ROW(bitwise_not, import_logic, OP_bit_not, false)
ROW(is_nan, import_unary, OP_is_nan)
ROW(sign, import_unary, OP_sign)
ROW(floor, import_unary, OP_floor)
ROW(ceil, import_unary, OP_ceil)
ROW(round, import_unary, OP_round)
ROW(sin, import_unary, OP_sin)
ROW(cos, import_unary, OP_cos)

static void import_where(Visit *v)
{
	int in[3];
	for (int k = 0; k < 3; k++) {
		node_need(v, k);
		in[k] = node_value(v, k);
	}
	node_set(v, 0, node_call(v, OP_where, in, 3, NULL, 0));
}

static void import_is_inf(Visit *v)
{
	node_need(v, 0);
	Attr attr[] = { attr_int("negative", node_attr_int(v, "detect_negative", 1)),
		attr_int("positive", node_attr_int(v, "detect_positive", 1)) };
	int x = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_is_inf, &x, 1, attr, 2));
}

static void import_mod(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	Attr attr = attr_int("fmod", node_attr_int(v, "fmod", 0));
	int in[] = { node_value(v, 0), node_value(v, 1) };
	node_set(v, 0, node_call(v, OP_mod, in, 2, &attr, 1));
}

static void import_bit_shift(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	const char *way = node_attr_text(v, "direction", "");
	bool left = strcmp(way, "LEFT") == 0;
	if (node_ok(v) && !left && strcmp(way, "RIGHT") != 0)
		node_fail(v, ERR_INPUT, "its attribute direction is '%s', but must be LEFT or RIGHT", way);
	node_set(v, 0, node_call2(v, left ? OP_shift_left : OP_shift_right, node_value(v, 0), node_value(v, 1)));
}

const NodeRow onnx_logic_rows[] = {
	{ "Equal", 1, "", import_equal },
	{ "Less", 1, "", import_less_than },
	{ "LessOrEqual", 12, "", import_less_or_equal },
	{ "Greater", 1, "", import_greater },
	{ "GreaterOrEqual", 12, "", import_greater_or_equal },
	{ "And", 1, "", import_and },
	{ "Or", 1, "", import_or },
	{ "Xor", 1, "", import_xor },
	{ "Not", 1, "", import_not },
	{ "BitwiseAnd", 18, "", import_bitwise_and },
	{ "BitwiseOr", 18, "", import_bitwise_or },
	{ "BitwiseXor", 18, "", import_bitwise_xor },
	{ "BitwiseNot", 18, "", import_bitwise_not },
	{ "BitShift", 11, "", import_bit_shift },
	{ "Where", 9, "", import_where },
	{ "IsNaN", 9, "", import_is_nan },
	{ "IsInf", 10, "", import_is_inf },
	{ "Mod", 10, "", import_mod },
	{ "Sign", 9, "", import_sign },
	{ "Floor", 1, "consumed_inputs", import_floor },
	{ "Ceil", 1, "consumed_inputs", import_ceil },
	{ "Round", 11, "", import_round },
	{ "Sin", 7, "", import_sin },
	{ "Cos", 7, "", import_cos },
	{ NULL, 0, NULL, NULL },
};
