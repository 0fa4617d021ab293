/* Rows of comparisons, of logic, of choices by a condition, and of bits. */
#include "frontend/tensorflow/rows.h"

static void import_equal(Visit *v)
{
	tf_each2(v, OP_equal);
}

static void import_not_equal(Visit *v)
{
	int a = tf_value(v, 0);
	node_set(v, 0, node_each1(v, OP_bit_not, node_each2(v, OP_equal, a, tf_value(v, 1))));
}

static void import_less(Visit *v)
{
	tf_each2(v, OP_less);
}

static void import_less_equal(Visit *v)
{
	tf_each2(v, OP_less_equal);
}

static void import_greater(Visit *v)
{
	int b = tf_value(v, 1);
	node_set(v, 0, node_each2(v, OP_less, b, tf_value(v, 0)));
}

static void import_greater_equal(Visit *v)
{
	int b = tf_value(v, 1);
	node_set(v, 0, node_each2(v, OP_less_equal, b, tf_value(v, 0)));
}

static void import_and(Visit *v)
{
	tf_each2(v, OP_bit_and);
}

static void import_or(Visit *v)
{
	tf_each2(v, OP_bit_or);
}

static void import_xor(Visit *v)
{
	tf_each2(v, OP_bit_xor);
}

static void import_not(Visit *v)
{
	tf_each1(v, OP_bit_not);
}

static void import_is_nan(Visit *v)
{
	tf_each1(v, OP_is_nan);
}

static void import_is_inf(Visit *v)
{
	tf_each1(v, OP_is_inf);
}

static void import_is_finite(Visit *v)
{
	int x = tf_value(v, 0);
	int y = node_each2(v, OP_bit_or, node_each1(v, OP_is_nan, x), node_each1(v, OP_is_inf, x));
	node_set(v, 0, node_each1(v, OP_bit_not, y));
}

/* Select: a condition of one dimension chooses rows. SelectV2 broadcasts. */
static void import_select(Visit *v)
{
	const Item *c = node_need(v, 0), *a = node_need(v, 1);
	int in[] = { node_value(v, 0), tf_value(v, 1), tf_value(v, 2) };
	if (node_ok(v) && c->shape.rank == 1 && a->shape.rank > 1) {
		Shape s = { .rank = a->shape.rank, .dim = { c->shape.dim[0] } };
		for (int k = 1; k < s.rank; k++)
			s.dim[k] = 1;
		in[0] = node_reshape(v, in[0], s);
	}
	node_set(v, 0, node_each(v, OP_where, in, 3, NULL, 0));
}

static void import_select_v2(Visit *v)
{
	int in[] = { tf_value(v, 0), tf_value(v, 1), tf_value(v, 2) };
	node_set(v, 0, node_each(v, OP_where, in, 3, NULL, 0));
}

/* ---- bits */

static int bits_of(Visit *v, int x, DTypeKind kind)
{
	char name[DTYPE_TEXT];
	DType t = node_val(v, x)->type;
	Attr attr = attr_text("to", dtype_print((DType){ (uint8_t)kind, t.bits, 1 }, name));
	return t.kind == kind ? x : node_each(v, OP_bitcast, &x, 1, &attr, 1);
}

/* Signed numbers are shifted as their bits; to the right, the bits of a negative one are turned before and after. */
static void import_shift(Visit *v, int op)
{
	int a = tf_value(v, 0), b = tf_value(v, 1);
	DTypeKind kind = node_val(v, a)->type.kind;
	int by = bits_of(v, b, DT_UINT);
	if (op == OP_shift_left || kind == DT_UINT) {
		node_set(v, 0, bits_of(v, node_each2(v, op, bits_of(v, a, DT_UINT), by), kind));
		return;
	}
	int negative = node_each2(v, OP_less, a, node_number(v, node_val(v, a)->type, 0));
	int pick[] = { negative, node_each1(v, OP_bit_not, a), a };
	int y = node_each2(v, op, bits_of(v, node_each(v, OP_where, pick, 3, NULL, 0), DT_UINT), by);
	int back = bits_of(v, y, kind), again[] = { negative, node_each1(v, OP_bit_not, back), back };
	node_set(v, 0, node_each(v, OP_where, again, 3, NULL, 0));
}

static void import_left_shift(Visit *v)
{
	import_shift(v, OP_shift_left);
}

static void import_right_shift(Visit *v)
{
	import_shift(v, OP_shift_right);
}

const NodeRow tf_logic_rows[] = {
	{ "Equal", 0, "incompatible_shape_error", import_equal },
	{ "NotEqual", 0, "incompatible_shape_error", import_not_equal },
	{ "Less", 0, "", import_less },
	{ "LessEqual", 0, "", import_less_equal },
	{ "Greater", 0, "", import_greater },
	{ "GreaterEqual", 0, "", import_greater_equal },
	{ "LogicalAnd", 0, "", import_and },
	{ "LogicalOr", 0, "", import_or },
	{ "LogicalNot", 0, "", import_not },
	{ "BitwiseAnd", 0, "", import_and },
	{ "BitwiseOr", 0, "", import_or },
	{ "BitwiseXor", 0, "", import_xor },
	{ "Invert", 0, "", import_not },
	{ "LeftShift", 0, "", import_left_shift },
	{ "RightShift", 0, "", import_right_shift },
	{ "IsNan", 0, "", import_is_nan },
	{ "IsInf", 0, "", import_is_inf },
	{ "IsFinite", 0, "", import_is_finite },
	{ "Select", 0, "", import_select },
	{ "SelectV2", 0, "", import_select_v2 },
	{ NULL, 0, NULL, NULL },
};
