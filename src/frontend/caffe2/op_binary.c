/*
 * Rows of Caffe2's arithmetic of two and more tensors. With `broadcast` the second one is placed in the first from
 * `axis` on, or at the end; without it NumPy's rule holds.
 */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/compose.h"

#include <string.h>

/* The place of a dimension that is called by its letter in `order`; *given: there is one. */
static int64_t broadcast_axis(Visit *v, bool *given)
{
	const char *letter = node_attr_text(v, "axis_str", ""), *order = node_attr_text(v, "order", "NCHW");
	*given = node_has(v, "axis") || letter[0] != 0;
	int64_t axis = node_attr_int(v, "axis", -1);
	if (letter[0] == 0) {
		*given &= axis != -1;
		return axis;
	}
	const char *at = strlen(letter) == 1 ? strchr(order, letter[0]) : NULL;
	if (at == NULL && node_ok(v))
		node_fail(v, ERR_INPUT, "its axis_str is '%.20s', which is no dimension of '%.20s'", letter, order);
	return at == NULL ? 0 : at - order;
}

/* Input 1 as the Dag's broadcasting wants it. */
static int second(Visit *v)
{
	int a = caffe2_value(v, 0), b = caffe2_value(v, 1);
	bool legacy = node_attr_flag(v, "broadcast", false), given;
	Shape s = node_val(v, a)->shape, t = node_val(v, b)->shape, wide;
	int64_t axis = broadcast_axis(v, &given);
	if (!legacy || !given || shape_elements(t) == 1)
		return legacy && shape_elements(t) == 1 ? node_view(v, b, 0, NULL) : b;
	int at = node_axis(v, axis, s.rank);
	if (node_ok(v) && at + t.rank > s.rank)
		node_fail(v, ERR_TYPE, "its second input has too many dimensions for axis %d of the first one", at);
	if (!node_ok(v))
		return b;
	wide = (Shape){ .rank = s.rank - at };
	for (int k = 0; k < wide.rank; k++)
		wide.dim[k] = k < t.rank ? t.dim[k] : 1;
	return node_reshape(v, b, wide);
}

/* X(type, operator of the Dag, swap its inputs, invert its result) */
#define BINARY_LIST(X) \
	X("Add", add, false, false) \
	X("Sub", sub, false, false) \
	X("Mul", mul, false, false) \
	X("Div", div, false, false) \
	X("EQ", equal, false, false) \
	X("NE", equal, false, true) \
	X("LT", less, false, false) \
	X("GT", less, true, false) \
	X("LE", less_equal, false, false) \
	X("GE", less_equal, true, false) \
	X("And", bit_and, false, false) \
	X("Or", bit_or, false, false) \
	X("Xor", bit_xor, false, false) \
	X("BitwiseAnd", bit_and, false, false) \
	X("BitwiseOr", bit_or, false, false) \
	X("BitwiseXor", bit_xor, false, false)

#define X(type, op, swap, invert) { type, OP_##op, swap, invert },
static const struct {
	const char *type;
	int op;
	bool swap, invert;
} rows[] = { BINARY_LIST(X) };
#undef X

static void import_binary(Visit *v)
{
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		if (strcmp(rows[k].type, v->node->op) != 0)
			continue;
		int a = caffe2_value(v, 0), b = second(v);
		int y = rows[k].swap ? node_call2(v, rows[k].op, b, a) : node_call2(v, rows[k].op, a, b);
		node_set(v, 0, rows[k].invert ? node_call1(v, OP_bit_not, y) : y);
	}
}

/* To the power of an attribute, or of a second input. */
static void import_pow(Visit *v)
{
	int x = caffe2_value(v, 0);
	if (node_has(v, "exponent")) {
		double e = node_attr_float(v, "exponent", 1);
		node_set(v, 0, e == 2 ? node_call2(v, OP_mul, x, x) : node_with_number(v, OP_pow, x, e));
	} else {
		node_set(v, 0, node_call2(v, OP_pow, x, second(v)));
	}
}

/* All inputs joined by an operator. */
static int all(Visit *v, int op)
{
	int y = caffe2_value(v, 0);
	for (int k = 1; k < node_nin(v); k++)
		y = node_call2(v, op, y, caffe2_value(v, k));
	return y;
}

static void import_sum(Visit *v)
{
	node_set(v, 0, all(v, OP_add));
}

static void import_max(Visit *v)
{
	node_set(v, 0, all(v, OP_maximum));
}

static void import_min(Visit *v)
{
	node_set(v, 0, all(v, OP_minimum));
}

static void import_mean(Visit *v)
{
	int y = all(v, OP_add), n = node_nin(v);
	node_set(v, 0, node_with_number(v, OP_mul, y, 1 / (double)(n > 0 ? n : 1)));
}

/* Inputs x0, w0, x1, w1 ..: the sum of x w. */
static void import_weighted_sum(Visit *v)
{
	int y = DAG_NONE, n = node_nin(v);
	if (node_ok(v) && (n < 2 || n % 2 != 0))
		node_fail(v, ERR_INPUT, "its %d inputs are no pairs of a tensor and a weight", n);
	for (int k = 0; k + 1 < n && node_ok(v); k += 2) {
		int w = caffe2_value(v, k + 1);
		if (node_ok(v) && shape_elements(node_val(v, w)->shape) != 1)
			node_fail(v, ERR_TYPE, "its weight is not one number");
		w = node_ok(v) ? node_view(v, w, 0, NULL) : w;
		int part = node_call2(v, OP_mul, caffe2_value(v, k), w);
		y = k == 0 ? part : node_call2(v, OP_add, y, part);
	}
	node_set(v, 0, y);
}

/* cond ? a : b; a condition of one dimension chooses rows. */
static void import_where(Visit *v)
{
	int cond = caffe2_value(v, 0), a = caffe2_value(v, 1), b = caffe2_value(v, 2);
	bool rows_of = node_attr_flag(v, "broadcast_on_rows", strcmp(v->node->op, "Conditional") == 0);
	Shape s = node_val(v, cond)->shape, wide = { .rank = node_val(v, a)->shape.rank };
	if (node_ok(v) && rows_of && s.rank != 1)
		node_fail(v, ERR_TYPE, "its condition has %d dimensions, but must have one", s.rank);
	for (int k = 0; k < wide.rank; k++)
		wide.dim[k] = k == 0 ? s.dim[0] : 1;
	if (rows_of && node_ok(v))
		cond = node_reshape(v, cond, wide);
	node_set(v, 0, node_where(v, cond, a, b));
}

#define X(type, op, swap, invert) { type, 0, "", import_binary },
const NodeRow caffe2_binary_rows[] = {
	BINARY_LIST(X){ "Pow", 0, "", import_pow },
	{ "Sum", 0, "", import_sum },
	{ "Max", 0, "", import_max },
	{ "Min", 0, "", import_min },
	{ "Mean", 0, "", import_mean },
	{ "WeightedSum", 0, "", import_weighted_sum },
	{ "Where", 0, "", import_where },
	{ "Conditional", 0, "", import_where },
	{ NULL, 0, NULL, NULL },
};
