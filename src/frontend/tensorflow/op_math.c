/*
 * Rows of arithmetic, element by element, with the functions that all rows share. What the Dag lacks is a formula.
 * Calls go through node_each, which keeps them before the transpositions of channels-last networks.
 */
#include "frontend/tensorflow/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

/* ---- shared by all rows */

int tf_value(Visit *v, int k)
{
	node_need(v, k);
	return node_value(v, k);
}

DType tf_attr_type(Visit *v, const char *name, DType otherwise)
{
	if (!node_has(v, name))
		return otherwise;
	int64_t code = node_attr_int(v, name, 0);
	if (!tf_type_from(code, &otherwise))
		node_fail(
			v, ERR_UNSUPPORTED, "its attribute %s is %s, a type that dlc does not have", name, tf_type_name(code));
	return otherwise;
}

const int64_t *tf_ints(Visit *v, int k, int *count)
{
	static const int64_t none;
	node_need(v, k);
	const int64_t *at = node_ints(v, k, count);
	if (node_ok(v))
		return at;
	*count = 0;
	return &none;
}

int64_t tf_int(Visit *v, int k)
{
	int n;
	const int64_t *at = tf_ints(v, k, &n);
	if (node_ok(v) && n != 1)
		node_fail(v, ERR_TYPE, "its input %d has %d numbers, but must have one", k + 1, n);
	return node_ok(v) ? at[0] : 0;
}

double tf_number(Visit *v, int k)
{
	const Item *it = node_known(v, k);
	if (node_ok(v) && shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its input %d must be one number", k + 1);
	return node_ok(v) ? import_number(it->type, it->data) : 0;
}

bool tf_channels_last(Visit *v)
{
	const char *s = node_attr_text(v, "data_format", "NHWC");
	size_t n = strlen(s);
	if (n < 2 || s[0] != 'N' || (s[1] != 'C' && s[n - 1] != 'C') || strstr(s, "VECT") != NULL)
		node_fail(v, ERR_UNSUPPORTED, "its attribute data_format is '%.20s', not NHWC or NCHW", s);
	return n < 2 || s[1] != 'C';
}

void tf_each1(Visit *v, int op)
{
	node_set(v, 0, node_each1(v, op, tf_value(v, 0)));
}

void tf_each2(Visit *v, int op)
{
	int a = tf_value(v, 0);
	node_set(v, 0, node_each2(v, op, a, tf_value(v, 1)));
}

/* ---- one operand */

#define UNARY(name, op) \
	static void import_##name(Visit *v) \
	{ \
		tf_each1(v, op); \
	}
UNARY(abs, OP_abs)
UNARY(neg, OP_neg)
UNARY(exp, OP_exp)
UNARY(expm1, OP_expm1)
UNARY(log, OP_log)
UNARY(log1p, OP_log1p)
UNARY(sqrt, OP_sqrt)
UNARY(erf, OP_erf)
UNARY(sin, OP_sin)
UNARY(cos, OP_cos)
UNARY(tan, OP_tan)
UNARY(asin, OP_asin)
UNARY(acos, OP_acos)
UNARY(atan, OP_atan)
UNARY(sinh, OP_sinh)
UNARY(cosh, OP_cosh)
UNARY(asinh, OP_asinh)
UNARY(acosh, OP_acosh)
UNARY(atanh, OP_atanh)
UNARY(sign, OP_sign)

/* Integers are whole already. */
static void import_whole(Visit *v, int op)
{
	const Item *x = node_need(v, 0);
	if (dtype_is_float(x->type))
		tf_each1(v, op);
	else
		node_set_alias(v, 0, x);
}

static void import_floor(Visit *v)
{
	import_whole(v, OP_floor);
}

static void import_ceil(Visit *v)
{
	import_whole(v, OP_ceil);
}

static void import_round(Visit *v)
{
	import_whole(v, OP_round);
}

static int number_like(Visit *v, int x, double number)
{
	return node_number(v, node_val(v, x)->type, number);
}

static void import_square(Visit *v)
{
	int x = tf_value(v, 0);
	node_set(v, 0, node_each2(v, OP_mul, x, x));
}

static void import_rsqrt(Visit *v)
{
	int x = node_each1(v, OP_sqrt, tf_value(v, 0));
	node_set(v, 0, node_each2(v, OP_div, number_like(v, x, 1), x));
}

static void import_reciprocal(Visit *v)
{
	int x = tf_value(v, 0);
	node_set(v, 0, node_each2(v, OP_div, number_like(v, x, 1), x));
}

static void import_erfc(Visit *v)
{
	int x = node_each1(v, OP_erf, tf_value(v, 0));
	node_set(v, 0, node_each2(v, OP_sub, number_like(v, x, 1), x));
}

/* ---- two operands */

#define BINARY(name, op) \
	static void import_##name(Visit *v) \
	{ \
		tf_each2(v, op); \
	}
BINARY(add, OP_add)
BINARY(sub, OP_sub)
BINARY(mul, OP_mul)
BINARY(div, OP_div)
BINARY(maximum, OP_maximum)
BINARY(minimum, OP_minimum)
BINARY(pow, OP_pow)

static void import_remainder(Visit *v, int64_t fmod)
{
	int in[] = { tf_value(v, 0), tf_value(v, 1) };
	Attr attr = attr_int("fmod", fmod);
	node_set(v, 0, node_each(v, OP_mod, in, 2, &attr, 1));
}

static void import_floor_mod(Visit *v)
{
	import_remainder(v, 0);
}

static void import_truncate_mod(Visit *v)
{
	import_remainder(v, 1);
}

/* The largest whole number that is not above the quotient. */
static void import_floor_div(Visit *v)
{
	int in[] = { tf_value(v, 0), tf_value(v, 1) };
	if (dtype_is_float(node_val(v, in[0])->type)) {
		node_set(v, 0, node_each1(v, OP_floor, node_each2(v, OP_div, in[0], in[1])));
		return;
	}
	int rest = node_each(v, OP_mod, in, 2, NULL, 0);
	node_set(v, 0, node_each2(v, OP_div, node_each2(v, OP_sub, in[0], rest), in[1]));
}

/* A quotient that is 0 where the divisor is 0, or where the first operand is. */
static void import_guarded(Visit *v, int op, int guard)
{
	int in[] = { tf_value(v, 0), tf_value(v, 1) }, zero = number_like(v, in[0], 0);
	int y = node_each2(v, op, in[0], op == OP_mul ? node_each1(v, OP_log, in[1]) : in[1]);
	int pick[] = { node_each2(v, OP_equal, in[guard], zero), zero, y };
	node_set(v, 0, node_each(v, OP_where, pick, 3, NULL, 0));
}

static void import_div_no_nan(Visit *v)
{
	import_guarded(v, OP_div, 1);
}

static void import_mul_no_nan(Visit *v)
{
	int in[] = { tf_value(v, 0), tf_value(v, 1) }, zero = number_like(v, in[0], 0);
	int pick[] = { node_each2(v, OP_equal, in[1], zero), zero, node_each2(v, OP_mul, in[0], in[1]) };
	node_set(v, 0, node_each(v, OP_where, pick, 3, NULL, 0));
}

static void import_xdivy(Visit *v)
{
	import_guarded(v, OP_div, 0);
}

static void import_xlogy(Visit *v)
{
	import_guarded(v, OP_mul, 0);
}

static void import_squared_difference(Visit *v)
{
	int a = tf_value(v, 0), d = node_each2(v, OP_sub, a, tf_value(v, 1));
	node_set(v, 0, node_each2(v, OP_mul, d, d));
}

/* The angle of (x, y): that of y / x, with half a turn to its left. */
static void import_atan2(Visit *v)
{
	int y = tf_value(v, 0), x = tf_value(v, 1), zero = number_like(v, x, 0);
	int angle = node_each1(v, OP_atan, node_each2(v, OP_div, y, x)), left = node_each2(v, OP_less, x, zero);
	int half[] = { node_each2(v, OP_less, y, zero), number_like(v, x, -M_PI), number_like(v, x, M_PI) };
	int turn[] = { left, node_each(v, OP_where, half, 3, NULL, 0), zero };
	int both = node_each2(v, OP_bit_and, node_each2(v, OP_equal, x, zero), node_each2(v, OP_equal, y, zero));
	int pick[] = { both, zero, node_each2(v, OP_add, angle, node_each(v, OP_where, turn, 3, NULL, 0)) };
	node_set(v, 0, node_each(v, OP_where, pick, 3, NULL, 0));
}

static void import_add_n(Visit *v)
{
	int y = tf_value(v, 0);
	for (int k = 1; k < node_nin(v); k++)
		y = node_each2(v, OP_add, y, tf_value(v, k));
	node_set(v, 0, y);
}

/* ---- casts and bounds */

static void import_cast(Visit *v)
{
	char name[DTYPE_TEXT];
	int x = tf_value(v, 0);
	DType to = tf_attr_type(v, "DstT", F32);
	Attr attr = attr_text("to", dtype_print(to, name));
	if (dtype_eq(to, node_val(v, x)->type))
		node_set(v, 0, x);
	else
		node_set(v, 0, node_each(v, OP_cast, &x, 1, &attr, 1));
}

static void import_bitcast(Visit *v)
{
	char name[DTYPE_TEXT];
	int x = tf_value(v, 0);
	DType to = tf_attr_type(v, "type", F32);
	Attr attr = attr_text("to", dtype_print(to, name));
	if (node_ok(v) && to.bits != node_val(v, x)->type.bits)
		node_fail(v, ERR_UNSUPPORTED, "it changes the size of elements, which is not supported");
	node_set(v, 0, node_each(v, OP_bitcast, &x, 1, &attr, 1));
}

/* Known bounds of floats are attributes. */
static void import_clip(Visit *v)
{
	const Item *x = node_need(v, 0), *lo = node_need(v, 1), *hi = node_need(v, 2);
	int y = node_value(v, 0);
	if (node_ok(v) && dtype_is_float(x->type) && shape_elements(lo->shape) == 1 && shape_elements(hi->shape) == 1 &&
		node_is_known(v, 1) && node_is_known(v, 2)) {
		Attr attr[] = { attr_float("lo", tf_number(v, 1)), attr_float("hi", tf_number(v, 2)) };
		node_set(v, 0, node_each(v, OP_clip, &y, 1, attr, 2));
		return;
	}
	y = node_each2(v, OP_minimum, y, node_value(v, 2));
	node_set(v, 0, node_each2(v, OP_maximum, y, node_value(v, 1)));
}

static void import_zeros_like(Visit *v)
{
	const Item *x = node_need(v, 0);
	node_set(v, 0, node_expand(v, node_number(v, x->type, 0), x->shape));
}

static void import_ones_like(Visit *v)
{
	const Item *x = node_need(v, 0);
	node_set(v, 0, node_expand(v, node_number(v, x->type, 1), x->shape));
}

const NodeRow tf_math_rows[] = {
	{ "Abs", 0, "", import_abs },
	{ "Neg", 0, "", import_neg },
	{ "Exp", 0, "", import_exp },
	{ "Expm1", 0, "", import_expm1 },
	{ "Log", 0, "", import_log },
	{ "Log1p", 0, "", import_log1p },
	{ "Sqrt", 0, "", import_sqrt },
	{ "Rsqrt", 0, "", import_rsqrt },
	{ "Square", 0, "", import_square },
	{ "Reciprocal", 0, "", import_reciprocal },
	{ "Inv", 0, "", import_reciprocal },
	{ "Erf", 0, "", import_erf },
	{ "Erfc", 0, "", import_erfc },
	{ "Sin", 0, "", import_sin },
	{ "Cos", 0, "", import_cos },
	{ "Tan", 0, "", import_tan },
	{ "Asin", 0, "", import_asin },
	{ "Acos", 0, "", import_acos },
	{ "Atan", 0, "", import_atan },
	{ "Sinh", 0, "", import_sinh },
	{ "Cosh", 0, "", import_cosh },
	{ "Asinh", 0, "", import_asinh },
	{ "Acosh", 0, "", import_acosh },
	{ "Atanh", 0, "", import_atanh },
	{ "Sign", 0, "", import_sign },
	{ "Floor", 0, "", import_floor },
	{ "Ceil", 0, "", import_ceil },
	{ "Round", 0, "", import_round },
	{ "Rint", 0, "", import_round },
	{ "Add", 0, "", import_add },
	{ "AddV2", 0, "", import_add },
	{ "Sub", 0, "", import_sub },
	{ "Mul", 0, "", import_mul },
	{ "Div", 0, "", import_div },
	{ "RealDiv", 0, "", import_div },
	{ "TruncateDiv", 0, "", import_div },
	{ "FloorDiv", 0, "", import_floor_div },
	{ "FloorMod", 0, "", import_floor_mod },
	{ "Mod", 0, "", import_truncate_mod },
	{ "TruncateMod", 0, "", import_truncate_mod },
	{ "DivNoNan", 0, "", import_div_no_nan },
	{ "MulNoNan", 0, "", import_mul_no_nan },
	{ "Xdivy", 0, "", import_xdivy },
	{ "Xlogy", 0, "", import_xlogy },
	{ "Maximum", 0, "", import_maximum },
	{ "Minimum", 0, "", import_minimum },
	{ "Pow", 0, "", import_pow },
	{ "SquaredDifference", 0, "", import_squared_difference },
	{ "Atan2", 0, "", import_atan2 },
	{ "AddN", 0, "N", import_add_n },
	{ "AccumulateNV2", 0, "N shape", import_add_n },
	{ "Cast", 0, "Truncate", import_cast },
	{ "Bitcast", 0, "", import_bitcast },
	{ "ClipByValue", 0, "", import_clip },
	{ "ZerosLike", 0, "", import_zeros_like },
	{ "OnesLike", 0, "", import_ones_like },
	{ NULL, 0, NULL, NULL },
};
