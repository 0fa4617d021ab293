/* Rows of comparisons, of logic and bits, and of choices by a condition. */
#include "frontend/node/compose.h"
#include "frontend/pytorch/aten.h"

#include <math.h>

static void operands(Aten *n, int *a, int *b)
{
	TorchValue in[] = { aten_any(n, "self"), aten_any(n, "other") };
	DType t = aten_promote(n, in, 2);
	*a = aten_as(n, in[0], t);
	*b = aten_as(n, in[1], t);
}

enum { EQ, NE, LT, LE, GT, GE };

static int compared(Aten *n, int how, int a, int b)
{
	switch (how) {
	case EQ: return node_call2(n->v, OP_equal, a, b);
	case NE: return node_call1(n->v, OP_bit_not, node_call2(n->v, OP_equal, a, b));
	case LT: return node_call2(n->v, OP_less, a, b);
	case LE: return node_call2(n->v, OP_less_equal, a, b);
	case GT: return node_call2(n->v, OP_less, b, a);
	default: return node_call2(n->v, OP_less_equal, b, a);
	}
}

static void compare(Aten *n)
{
	int a, b;
	operands(n, &a, &b);
	aten_set(n, compared(n, n->row->op, a, b));
}

static int truth(Aten *n, int x)
{
	DType t = node_val(n->v, x)->type;
	if (t.kind == DT_BOOL)
		return x;
	return compared(n, NE, x, node_number(n->v, t, 0));
}

static void logical(Aten *n)
{
	int a = truth(n, aten_value(n, "self")), b = truth(n, aten_value(n, "other"));
	aten_set(n, node_call2(n->v, n->row->op, a, b));
}

static void logical_not(Aten *n)
{
	aten_set(n, node_call1(n->v, OP_bit_not, truth(n, aten_value(n, "self"))));
}

static void bitwise(Aten *n)
{
	int a, b;
	operands(n, &a, &b);
	aten_set(n, node_call2(n->v, n->row->op, a, b));
}

static void bitwise_not(Aten *n)
{
	aten_set(n, node_call1(n->v, OP_bit_not, aten_value(n, "self")));
}

/* Through the unsigned type of as many bits. A negative number is not shifted right: that would keep its sign. */
static void shift(Aten *n)
{
	TorchValue in[] = { aten_any(n, "self"), aten_any(n, "other") };
	DType t = aten_promote(n, in, 2), u = { DT_UINT, t.bits, 1 };
	if (!dtype_is_int(t)) {
		node_fail(n->v, ERR_TYPE, "it shifts bits of a type that has none");
		return;
	}
	int a = aten_as(n, in[0], t), b = aten_as(n, in[1], t);
	if (n->row->op == OP_shift_right && t.kind == DT_INT) { /* floor(a / 2^b) */
		int two = node_cast(n->v, node_call2(n->v, OP_shift_left, node_number(n->v, u, 1), node_cast(n->v, b, u)), t);
		int rest = node_call2(n->v, OP_mod, a, two);
		aten_set(n, node_call2(n->v, OP_div, node_call2(n->v, OP_sub, a, rest), two));
		return;
	}
	char name[DTYPE_TEXT];
	Attr to = attr_text("to", dtype_print(u, name));
	int bits = node_call(n->v, OP_bitcast, &a, 1, &to, 1);
	bits = node_call2(n->v, n->row->op, bits, node_cast(n->v, b, u));
	to = attr_text("to", dtype_print(t, name));
	aten_set(n, node_call(n->v, OP_bitcast, &bits, 1, &to, 1));
}

enum { NAN_ONLY, INFINITE, POSITIVE, NEGATIVE };

/* Tests of floats; integers are finite. */
static void test(Aten *n)
{
	int x = aten_floating(n, aten_value(n, "self"));
	const char *other = n->row->op == POSITIVE ? "negative" : "positive";
	Attr attr = attr_int(other, 0);
	if (n->row->op == NAN_ONLY)
		aten_set(n, node_call1(n->v, OP_is_nan, x));
	else
		aten_set(n, node_call(n->v, OP_is_inf, &x, 1, &attr, n->row->op == INFINITE ? 0 : 1));
}

static void import_isfinite(Aten *n)
{
	int x = aten_floating(n, aten_value(n, "self"));
	int odd = node_call2(n->v, OP_bit_or, node_call1(n->v, OP_is_nan, x), node_call1(n->v, OP_is_inf, x));
	aten_set(n, node_call1(n->v, OP_bit_not, odd));
}

/* a == b, or |a - b| <= atol + rtol |b| and a - b is finite */
static void import_isclose(Aten *n)
{
	int a, b;
	operands(n, &a, &b);
	a = aten_floating(n, a);
	b = aten_floating(n, b);
	int room = node_with_number(n->v, OP_mul, node_call1(n->v, OP_abs, b), aten_float(n, "rtol"));
	room = node_with_number(n->v, OP_add, room, aten_float(n, "atol"));
	int gap = node_call1(n->v, OP_abs, node_call2(n->v, OP_sub, a, b));
	int near = node_call2(n->v, OP_bit_and, node_call2(n->v, OP_less_equal, gap, room),
		node_with_number(n->v, OP_less, gap, (double)INFINITY));
	if (aten_flag(n, "equal_nan"))
		near = node_call2(n->v, OP_bit_or, near,
			node_call2(n->v, OP_bit_and, node_call1(n->v, OP_is_nan, a), node_call1(n->v, OP_is_nan, b)));
	aten_set(n, node_call2(n->v, OP_bit_or, near, node_call2(n->v, OP_equal, a, b)));
}

static void import_where(Aten *n)
{
	TorchValue in[] = { aten_any(n, "self"), aten_any(n, "other") };
	DType t = aten_promote(n, in, 2);
	int a = aten_as(n, in[0], t), b = aten_as(n, in[1], t);
	aten_set(n, node_where(n->v, truth(n, aten_value(n, "condition")), a, b));
}

static void import_masked_fill(Aten *n)
{
	const Item *self = aten_item(n, "self");
	int x = aten_value(n, "self"), fill = aten_as(n, aten_any(n, "value"), self->type);
	aten_set(n, node_where(n->v, truth(n, aten_value(n, "mask")), fill, x));
}

/* True if all elements are the same. */
static void import_equal(Aten *n)
{
	const Item *a = aten_item(n, "self"), *b = aten_item(n, "other");
	if (!shape_eq(a->shape, b->shape)) {
		aten_give(n, torch_bool(false));
		return;
	}
	int x, y;
	operands(n, &x, &y);
	int same = node_cast(n->v, compared(n, EQ, x, y), I32);
	Attr attr = attr_int("keep", 0);
	aten_set(n, node_cast(n->v, node_call(n->v, OP_reduce_min, &same, 1, &attr, 1), BOOL));
}

enum { IN_TENSOR, NUMBER_IN, IN_NUMBER };

/* Which elements are among others: each is compared with all of these. */
static void import_isin(Aten *n)
{
	Visit *v = n->v;
	TorchValue in[] = { aten_any(n, n->row->op == NUMBER_IN ? "element" : "elements"),
		aten_any(n, n->row->op == IN_NUMBER ? "test_element" : "test_elements") };
	DType t = aten_promote(n, in, 2);
	int x = aten_as(n, in[0], t), among = aten_as(n, in[1], t);
	Shape s = node_val(v, x)->shape, m = node_val(v, among)->shape;
	int64_t many = shape_product(&s, 0, s.rank), others = shape_product(&m, 0, m.rank), last = 1;
	bool other = aten_flag(n, "invert");
	if (node_ok(v) && many > 0 && others > NODE_COUNTED / many)
		node_fail(v, ERR_UNSUPPORTED, "it compares %lld elements with %lld; it takes %d pairs at most", (long long)many,
			(long long)others, NODE_COUNTED);
	if (!node_ok(v))
		return;
	if (others == 0) {
		aten_set(n, node_expand(v, node_number(v, BOOL, other), s));
		return;
	}
	int same = node_call2(v, OP_equal, node_view(v, x, 2, (int64_t[]){ many, 1 }), node_view(v, among, 1, &others));
	Attr over[] = { attr_ints("axes", &last, 1), attr_int("keep", 0) };
	same = node_cast(v, same, I32);
	int y = node_reshape(v, node_cast(v, node_call(v, OP_reduce_max, &same, 1, over, 2), BOOL), s);
	aten_set(n, other ? node_call1(v, OP_bit_not, y) : y);
}

const AtenRow torch_logic_rows[] = {
	{ "eq!", "self:T other:*", compare, EQ },
	{ "ne!", "self:T other:*", compare, NE },
	{ "not_equal!", "self:T other:*", compare, NE },
	{ "lt!", "self:T other:*", compare, LT },
	{ "less!", "self:T other:*", compare, LT },
	{ "le!", "self:T other:*", compare, LE },
	{ "less_equal!", "self:T other:*", compare, LE },
	{ "gt!", "self:T other:*", compare, GT },
	{ "greater!", "self:T other:*", compare, GT },
	{ "ge!", "self:T other:*", compare, GE },
	{ "greater_equal!", "self:T other:*", compare, GE },
	{ "equal", "self:T other:T", import_equal, 0 },
	{ "isclose", "self:T other:T rtol:f=1e-05 atol:f=1e-08 equal_nan:b=False", import_isclose, 0 },
	{ "logical_and!", "self:T other:T", logical, OP_bit_and },
	{ "logical_or!", "self:T other:T", logical, OP_bit_or },
	{ "logical_xor!", "self:T other:T", logical, OP_bit_xor },
	{ "logical_not!", "self:T", logical_not, 0 },
	{ "bitwise_and!", "self:T other:*", bitwise, OP_bit_and },
	{ "bitwise_or!", "self:T other:*", bitwise, OP_bit_or },
	{ "bitwise_xor!", "self:T other:*", bitwise, OP_bit_xor },
	{ "__and__", "self:T other:*", bitwise, OP_bit_and },
	{ "__or__", "self:T other:*", bitwise, OP_bit_or },
	{ "__xor__", "self:T other:*", bitwise, OP_bit_xor },
	{ "bitwise_not!", "self:T", bitwise_not, 0 },
	{ "bitwise_left_shift!", "self:T other:*", shift, OP_shift_left },
	{ "bitwise_right_shift!", "self:T other:*", shift, OP_shift_right },
	{ "__lshift__", "self:T other:*", shift, OP_shift_left },
	{ "__rshift__", "self:T other:*", shift, OP_shift_right },
	{ "isnan", "self:T", test, NAN_ONLY },
	{ "isinf", "self:T", test, INFINITE },
	{ "isposinf", "self:T", test, POSITIVE },
	{ "isneginf", "self:T", test, NEGATIVE },
	{ "isfinite", "self:T", import_isfinite, 0 },
	{ "isin", "elements:T test_elements:T assume_unique:_=False invert:b=False", import_isin, IN_TENSOR },
	{ "isin.Scalar_Tensor", "element:n test_elements:T assume_unique:_=False invert:b=False", import_isin, NUMBER_IN },
	{ "isin.Tensor_Scalar", "elements:T test_element:n assume_unique:_=False invert:b=False", import_isin, IN_NUMBER },
	{ "where.self", "condition:T self:* other:*", import_where, 0 },
	{ "masked_fill!", "self:T mask:T value:*", import_masked_fill, 0 },
	{ NULL, NULL, NULL, 0 },
};
