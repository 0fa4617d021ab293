/*
 * Rows of operators that compute element by element. They come in families, each a table: functions of one element, of
 * two tensors, of a tensor and a number on either side. Comparisons give numbers of their input's type, in the NumPy
 * family bools.
 */
#include "frontend/mxnet/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

static DType real_type(DType t)
{
	return dtype_is_float(t) ? t : F32;
}

/* ---- one element */

/* Functions that the Dag has. */
#define UNARY_LIST(X) \
	X("relu", relu) \
	X("sigmoid", sigmoid) \
	X("tanh", tanh) \
	X("erf", erf) X("exp", exp) X("log", log) X("sqrt", sqrt) X("abs", abs) X("negative", neg) X("sign", sign) \
		X("floor", floor) X("ceil", ceil) X("rint", round) X("sin", sin) X("cos", cos) X("tan", tan) X("arcsin", asin) \
			X("arccos", acos) X("arctan", atan) X("sinh", sinh) X("cosh", cosh) X("arcsinh", asinh) \
				X("arccosh", acosh) X("arctanh", atanh) X("expm1", expm1) X("log1p", log1p)

#define X(name, op) { name, OP_##op },
static const struct {
	const char *name;
	int op;
} unary[] = { UNARY_LIST(X) };
#undef X

static void import_unary(Visit *v)
{
	const Item *it = node_need(v, 0);
	int x = node_value(v, 0);
	for (size_t k = 0; k < sizeof unary / sizeof *unary; k++)
		if (strcmp(unary[k].name, v->node->op) == 0) {
			bool whole =
				unary[k].op == OP_relu || unary[k].op == OP_abs || unary[k].op == OP_neg || unary[k].op == OP_sign;
			bool rounds = unary[k].op == OP_floor || unary[k].op == OP_ceil || unary[k].op == OP_round;
			if (rounds && !dtype_is_float(it->type))
				node_set_alias(v, 0, it);
			else
				node_set(v, 0, node_call1(v, unary[k].op, whole ? x : node_cast(v, x, real_type(it->type))));
		}
}

/* Compositions: of the input in a type of reals. */
static int with(Visit *v, int op, int x, double number)
{
	return node_with_number(v, op, x, number);
}

static int from_number(Visit *v, int op, double number, int x)
{
	return node_call2(v, op, node_number(v, node_val(v, x)->type, number), x);
}

static int real_input(Visit *v)
{
	const Item *it = node_need(v, 0);
	return node_cast(v, node_value(v, 0), real_type(it->type));
}

static void import_square(Visit *v)
{
	node_need(v, 0);
	int x = node_value(v, 0);
	node_set(v, 0, node_call2(v, OP_mul, x, x));
}

static void import_rsqrt(Visit *v)
{
	node_set(v, 0, from_number(v, OP_div, 1, node_call1(v, OP_sqrt, real_input(v))));
}

static void import_reciprocal(Visit *v)
{
	node_set(v, 0, from_number(v, OP_div, 1, real_input(v)));
}

/* sign(x) |x|^(1/3) */
static int cube_root(Visit *v, int x)
{
	int root = with(v, OP_pow, node_call1(v, OP_abs, x), 1.0 / 3);
	return node_call2(v, OP_mul, node_call1(v, OP_sign, x), root);
}

static void import_cbrt(Visit *v)
{
	node_set(v, 0, cube_root(v, real_input(v)));
}

static void import_rcbrt(Visit *v)
{
	node_set(v, 0, from_number(v, OP_div, 1, cube_root(v, real_input(v))));
}

static void import_log2(Visit *v)
{
	node_set(v, 0, with(v, OP_mul, node_call1(v, OP_log, real_input(v)), 1.4426950408889634));
}

static void import_log10(Visit *v)
{
	node_set(v, 0, with(v, OP_mul, node_call1(v, OP_log, real_input(v)), 0.43429448190325182));
}

static void import_degrees(Visit *v)
{
	node_set(v, 0, with(v, OP_mul, real_input(v), 57.295779513082323));
}

static void import_radians(Visit *v)
{
	node_set(v, 0, with(v, OP_mul, real_input(v), 0.017453292519943295));
}

static void import_trunc(Visit *v)
{
	const Item *it = node_need(v, 0);
	int y = node_truncate(v, real_input(v));
	if (dtype_is_float(it->type))
		node_set(v, 0, y);
	else
		node_set_alias(v, 0, it);
}

/* Halves away from zero. */
static void import_round(Visit *v)
{
	const Item *it = node_need(v, 0);
	int x = real_input(v), size = with(v, OP_add, node_call1(v, OP_abs, x), 0.5);
	if (dtype_is_float(it->type))
		node_set(v, 0, node_call2(v, OP_mul, node_call1(v, OP_sign, x), node_call1(v, OP_floor, size)));
	else
		node_set_alias(v, 0, it);
}

static void import_softsign(Visit *v)
{
	int x = real_input(v);
	node_set(v, 0, node_call2(v, OP_div, x, with(v, OP_add, node_call1(v, OP_abs, x), 1)));
}

static void import_hard_sigmoid(Visit *v)
{
	int x = real_input(v);
	Attr attr[] = { attr_float("alpha", node_attr_float(v, "alpha", 0.2)),
		attr_float("beta", node_attr_float(v, "beta", 0.5)) };
	node_set(v, 0, node_call(v, OP_hard_sigmoid, &x, 1, attr, 2));
}

/* |x| < 1 / s^2: (s x)^2 / 2; else |x| - 0.5 / s^2 */
static void import_smooth_l1(Visit *v)
{
	int x = real_input(v), size = node_call1(v, OP_abs, x);
	double s = node_attr_float(v, "scalar", 1);
	int near = with(v, OP_mul, node_call2(v, OP_mul, x, x), 0.5 * s * s);
	node_set(v, 0, node_where(v, with(v, OP_less, size, 1 / (s * s)), near, with(v, OP_sub, size, 0.5 / (s * s))));
}

static void import_clip(Visit *v)
{
	node_need(v, 0);
	int x = node_value(v, 0);
	Attr attr[] = { attr_float("lo", node_attr_float(v, "a_min", -INFINITY)),
		attr_float("hi", node_attr_float(v, "a_max", INFINITY)) };
	node_set(v, 0, node_call(v, OP_clip, &x, 1, attr, 2));
}

/* a x^2 + b x + c */
static void import_quadratic(Visit *v)
{
	int x = real_input(v);
	double a = node_attr_float(v, "a", 0), b = node_attr_float(v, "b", 0), c = node_attr_float(v, "c", 0);
	int y = with(v, OP_add, with(v, OP_mul, x, a), b);
	node_set(v, 0, with(v, OP_add, node_call2(v, OP_mul, y, x), c));
}

/* x / sqrt(its last dimension) */
static void import_div_sqrt_dim(Visit *v)
{
	const Item *it = node_need(v, 0);
	if (node_ok(v) && (it->shape.rank == 0 || it->shape.dim[it->shape.rank - 1] < 1))
		node_fail(v, ERR_TYPE, "its input has no last dimension");
	if (node_ok(v))
		node_set(v, 0, with(v, OP_div, node_value(v, 0), sqrt((double)it->shape.dim[it->shape.rank - 1])));
}

static void import_cast(Visit *v)
{
	const Item *it = node_need(v, 0);
	DType to = mxnet_attr_type(v, "dtype", F32);
	if (dtype_eq(to, it->type))
		node_set_alias(v, 0, it);
	else
		node_set(v, 0, node_cast(v, node_value(v, 0), to));
}

/* All inputs in the widest of their types. */
static void import_multicast(Visit *v)
{
	int n = node_nin(v);
	bool narrow = node_attr_flag(v, "cast_narrow", false);
	DType to = node_need(v, 0)->type;
	for (int k = 1; k < n && node_ok(v); k++) {
		DType t = node_need(v, k)->type;
		to = (t.bits > to.bits) != narrow && t.bits != to.bits ? t : to;
	}
	for (int k = 0; k < n && node_ok(v); k++)
		if (node_used(v, k))
			node_set(v, k,
				dtype_eq(to, node_need(v, k)->type) ? node_call1(v, OP_identity, node_value(v, k))
													: node_cast(v, node_value(v, k), to));
}

static void import_logical_not(Visit *v)
{
	const Item *it = node_need(v, 0);
	node_set(v, 0, node_cast(v, with(v, OP_equal, node_value(v, 0), 0), it->type));
}

static void import_np_logical_not(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, with(v, OP_equal, node_value(v, 0), 0));
}

/* isnan, isinf, isfinite, isposinf, isneginf: as bool */
static void import_test(Visit *v)
{
	node_need(v, 0);
	const char *op = v->node->op;
	int x = real_input(v);
	bool nan = strcmp(op, "_npi_isnan") == 0, finite = strcmp(op, "_npi_isfinite") == 0;
	Attr attr[] = { attr_int("negative", strcmp(op, "_npi_isposinf") != 0),
		attr_int("positive", strcmp(op, "_npi_isneginf") != 0) };
	int y = nan ? node_call1(v, OP_is_nan, x) : node_call(v, OP_is_inf, &x, 1, attr, 2);
	if (finite)
		y = node_call1(v, OP_bit_not, node_call2(v, OP_bit_or, y, node_call1(v, OP_is_nan, x)));
	node_set(v, 0, y);
}

/* ---- two tensors, or a tensor and a number */

typedef enum { PLAIN, REAL, GREATER, NOT_EQUAL, LOGIC, HYPOT, MOD, ARCTAN2, COMPARE } Kind;

/* a op b; GREATER exchanges the operands of less, COMPARE and what follows it give truths. */
typedef struct Binary {
	const char *name;
	int op;
	Kind kind;
} Binary;

/* X(name, operator of the Dag, kind): the part of the names that the families share. */
#define BINARY_LIST(X) \
	X("add", add, PLAIN) \
	X("sub", sub, PLAIN) \
	X("mul", mul, PLAIN) \
	X("div", div, PLAIN) X("true_divide", div, REAL) X("mod", mod, MOD) X("power", pow, PLAIN) \
		X("maximum", maximum, PLAIN) X("minimum", minimum, PLAIN) X("hypot", sqrt, HYPOT) X("equal", equal, COMPARE) \
			X("not_equal", equal, NOT_EQUAL) X("lesser", less, COMPARE) X("lesser_equal", less_equal, COMPARE) \
				X("greater", less, GREATER) X("greater_equal", less_equal, GREATER) X("logical_and", bit_and, LOGIC) \
					X("logical_or", bit_or, LOGIC) X("logical_xor", bit_xor, LOGIC) X("arctan2", atan, ARCTAN2)

#define X(name, op, kind) { name, OP_##op, kind },
static const Binary binary[] = { BINARY_LIST(X) };
#undef X

static const Binary *find_binary(const char *name, size_t n)
{
	for (size_t k = 0; k < sizeof binary / sizeof *binary; k++)
		if (strlen(binary[k].name) == n && memcmp(binary[k].name, name, n) == 0)
			return &binary[k];
	return NULL;
}

/* The angle of the point (b, a): arctan(a / b) of the half plane b > 0, turned by pi for the other one. */
static int angle(Visit *v, int a, int b)
{
	const double pi = 3.14159265358979324;
	DType t = node_val(v, a)->type;
	int zero = node_number(v, t, 0), at = node_call1(v, OP_atan, node_call2(v, OP_div, a, b));
	int below = node_call2(v, OP_less, a, zero), left = node_call2(v, OP_less, b, zero);
	int turn = node_where(v, below, node_number(v, t, -pi), node_number(v, t, pi));
	int y = node_call2(v, OP_add, at, node_where(v, left, turn, zero));
	int both = node_call2(v, OP_bit_and, node_call2(v, OP_equal, a, zero), node_call2(v, OP_equal, b, zero));
	return node_where(v, both, zero, y);
}

static int truth_of(Visit *v, int x)
{
	return node_call1(v, OP_bit_not, with(v, OP_equal, x, 0));
}

static int apply(Visit *v, const Binary *f, int a, int b)
{
	switch (f->kind) {
	case REAL:
		return node_call2(v, f->op, node_cast(v, a, real_type(node_val(v, a)->type)),
			node_cast(v, b, real_type(node_val(v, b)->type)));
	case GREATER: return node_call2(v, f->op, b, a);
	case NOT_EQUAL: return node_call1(v, OP_bit_not, node_call2(v, OP_equal, a, b));
	case LOGIC: return node_call2(v, f->op, truth_of(v, a), truth_of(v, b));
	case HYPOT:
		return node_call1(v, OP_sqrt, node_call2(v, OP_add, node_call2(v, OP_mul, a, a), node_call2(v, OP_mul, b, b)));
	case ARCTAN2: return angle(v, a, b);
	default: return node_call2(v, f->op, a, b);
	}
}

static bool gives_truth(const Binary *f)
{
	return f->kind == COMPARE || f->kind == GREATER || f->kind == NOT_EQUAL || f->kind == LOGIC;
}

/* In the NumPy family operands of different types meet in the wider one, reals before integers. */
static DType common_type(DType a, DType b)
{
	if (dtype_is_float(a) != dtype_is_float(b))
		return dtype_is_float(a) ? a : b;
	return a.kind == DT_BOOL ? b : b.kind == DT_BOOL ? a : a.bits >= b.bits ? a : b;
}

static void set_binary(Visit *v, const Binary *f, int a, int b, bool truth)
{
	DType type = node_val(v, a)->type;
	int y = apply(v, f, a, b);
	node_set(v, 0, gives_truth(f) && !truth ? node_cast(v, y, type) : y);
}

/* elemwise_add, broadcast_add, _equal, _npi_add: two tensors */
static void import_binary(Visit *v)
{
	const char *op = v->node->op;
	bool np = strncmp(op, "_npi_", 5) == 0, same = strncmp(op, "elemwise_", 9) == 0;
	size_t skip = np ? 5 : same ? 9 : strncmp(op, "broadcast_", 10) == 0 ? 10 : 1;
	const Binary *f = find_binary(op + skip, strlen(op) - skip);
	const Item *a = node_need(v, 0), *b = node_need(v, 1);
	if (node_ok(v) && skip != 10 && !np && !shape_eq(a->shape, b->shape))
		node_fail(v, ERR_TYPE, "its inputs have different shapes, but it does not broadcast");
	if (!node_ok(v) || f == NULL)
		return;
	int x = node_value(v, 0), y = node_value(v, 1);
	if (np) {
		DType common = common_type(a->type, b->type);
		x = node_cast(v, x, common);
		y = node_cast(v, y, common);
	}
	set_binary(v, f, x, y, np);
}

/* _add_scalar, _rsub_scalar (the number first), _npi_add_scalar: a tensor and a number of its type */
static void import_scalar(Visit *v)
{
	const char *op = v->node->op;
	bool np = strncmp(op, "_npi_", 5) == 0;
	size_t skip = np ? 5 : 1, n = strlen(op) - skip - strlen("_scalar");
	const Binary *f = find_binary(op + skip, n);
	bool reversed = f == NULL && op[skip] == 'r';
	if (reversed)
		f = find_binary(op + skip + 1, n - 1);
	const Item *it = node_need(v, 0);
	double number = node_attr_float(v, "scalar", np ? 1 : 0);
	bool whole = node_attr_flag(v, "is_int", number == floor(number));
	if (!node_ok(v) || f == NULL)
		return;
	DType type = it->type;
	if (np && !dtype_is_float(type) && (!whole || f->kind == REAL || type.kind == DT_BOOL))
		type = whole && f->kind != REAL ? I64 : F32;
	int x = node_cast(v, node_value(v, 0), type), y = node_number(v, type, number);
	set_binary(v, f, reversed ? y : x, reversed ? x : y, np);
}

/* The sum of all inputs. */
static void import_sum_all(Visit *v)
{
	node_need(v, 0);
	int y = node_value(v, 0), n = node_nin(v);
	node_attr_int(v, "num_args", n);
	for (int k = 1; k < n; k++) {
		node_need(v, k);
		y = node_call2(v, OP_add, y, node_value(v, k));
	}
	node_set(v, 0, n == 1 ? node_call1(v, OP_identity, y) : y);
}

static void import_where(Visit *v)
{
	const Item *c = node_need(v, 0), *a = node_need(v, 1);
	node_need(v, 2);
	int cond = c->type.kind == DT_BOOL ? node_value(v, 0) : truth_of(v, node_value(v, 0));
	if (node_ok(v) && c->shape.rank == 1 && a->shape.rank > 1) { /* chooses rows */
		Shape s = { .rank = a->shape.rank, .dim = { c->shape.dim[0] } };
		for (int k = 1; k < s.rank; k++)
			s.dim[k] = 1;
		cond = node_reshape(v, cond, s);
	}
	node_set(v, 0, node_where(v, cond, node_value(v, 1), node_value(v, 2)));
}

#define UNARY_ROW(name, op) { name, 0, "", import_unary },
#define PAIR_ROW(name, op, kind) { "broadcast_" name, 0, "", import_binary },
#define ELEMENT_ROW(name, op, kind) { "_" name, 0, "", import_binary },
#define NUMPY_ROW(name, op, kind) { "_npi_" name, 0, "", import_binary },
#define SCALAR_ROW(name, op, kind) { "_" name "_scalar", 0, "", import_scalar },
#define REVERSED_ROW(name, op, kind) { "_r" name "_scalar", 0, "", import_scalar },
#define NUMPY_SCALAR_ROW(name, op, kind) { "_npi_" name "_scalar", 0, "", import_scalar },
#define NUMPY_REVERSED_ROW(name, op, kind) { "_npi_r" name "_scalar", 0, "", import_scalar },

const NodeRow mxnet_math_rows[] = {
	UNARY_LIST(UNARY_ROW) BINARY_LIST(PAIR_ROW) BINARY_LIST(ELEMENT_ROW) BINARY_LIST(NUMPY_ROW) BINARY_LIST(SCALAR_ROW)
		BINARY_LIST(REVERSED_ROW) BINARY_LIST(NUMPY_SCALAR_ROW)
			BINARY_LIST(NUMPY_REVERSED_ROW){ "elemwise_add", 0, "", import_binary },
	{ "elemwise_sub", 0, "", import_binary },
	{ "elemwise_mul", 0, "", import_binary },
	{ "elemwise_div", 0, "", import_binary },
	{ "square", 0, "", import_square },
	{ "rsqrt", 0, "", import_rsqrt },
	{ "reciprocal", 0, "", import_reciprocal },
	{ "cbrt", 0, "", import_cbrt },
	{ "rcbrt", 0, "", import_rcbrt },
	{ "log2", 0, "", import_log2 },
	{ "log10", 0, "", import_log10 },
	{ "degrees", 0, "", import_degrees },
	{ "radians", 0, "", import_radians },
	{ "trunc", 0, "", import_trunc },
	{ "round", 0, "", import_round },
	{ "softsign", 0, "", import_softsign },
	{ "hard_sigmoid", 0, "", import_hard_sigmoid },
	{ "smooth_l1", 0, "is_int", import_smooth_l1 },
	{ "clip", 0, "", import_clip },
	{ "_contrib_quadratic", 0, "", import_quadratic },
	{ "_contrib_div_sqrt_dim", 0, "", import_div_sqrt_dim },
	{ "Cast", 0, "", import_cast },
	{ "amp_multicast", 0, "num_outputs", import_multicast },
	{ "logical_not", 0, "", import_logical_not },
	{ "_npi_logical_not", 0, "", import_np_logical_not },
	{ "_npi_isnan", 0, "", import_test },
	{ "_npi_isinf", 0, "", import_test },
	{ "_npi_isfinite", 0, "", import_test },
	{ "_npi_isposinf", 0, "", import_test },
	{ "_npi_isneginf", 0, "", import_test },
	{ "add_n", 0, "", import_sum_all },
	{ "where", 0, "", import_where },
	{ NULL, 0, NULL, NULL },
};
