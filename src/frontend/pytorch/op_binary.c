/* Rows of arithmetic of two and more operands, of tensors and of numbers, by PyTorch's rules of promotion. */
#include "frontend/pytorch/aten.h"

#include <math.h>
#include <string.h>

/* Both operands in the result's type; quotients and the like are floats. */
static DType operands(Aten *n, const char *first, const char *second, bool floats, int *a, int *b)
{
	TorchValue in[] = { aten_any(n, first), aten_any(n, second) };
	DType t = aten_promote(n, in, 2);
	if (floats && !dtype_is_float(t))
		t = F32;
	*a = aten_as(n, in[0], t);
	*b = aten_as(n, in[1], t);
	return t;
}

/* b * alpha, where alpha is another number than 1 */
static int scaled(Aten *n, int b, DType t)
{
	TorchValue alpha = aten_any(n, "alpha");
	if (alpha.kind == TORCH_NONE || (torch_is_number(alpha) && torch_number(alpha) == 1))
		return b;
	return node_call2(n->v, OP_mul, b, aten_as(n, alpha, t));
}

static void import_add(Aten *n)
{
	int a, b;
	DType t = operands(n, "self", "other", false, &a, &b);
	b = scaled(n, b, t);
	if (t.kind == DT_BOOL)
		aten_set(n, node_call2(n->v, OP_bit_or, a, b));
	else
		aten_set(n, node_call2(n->v, n->row->op, a, b));
}

static void import_rsub(Aten *n)
{
	int a, b;
	DType t = operands(n, "self", "other", false, &a, &b);
	aten_set(n, node_call2(n->v, OP_sub, b, scaled(n, a, t)));
}

static void import_mul(Aten *n)
{
	int a, b;
	DType t = operands(n, "self", "other", false, &a, &b);
	aten_set(n, node_call2(n->v, t.kind == DT_BOOL ? OP_bit_and : OP_mul, a, b));
}

/* A call on operands of one type. */
static void binary(Aten *n)
{
	int a, b;
	operands(n, "self", "other", false, &a, &b);
	aten_set(n, node_call2(n->v, n->row->op, a, b));
}

/* floor(a / b) of integers: (a - mod(a, b)) / b, since the Dag's quotient goes to zero and mod has b's sign. */
static int floored(Aten *n, int a, int b, DType t)
{
	if (dtype_is_float(t))
		return node_call1(n->v, OP_floor, node_call2(n->v, OP_div, a, b));
	if (t.kind == DT_UINT)
		return node_call2(n->v, OP_div, a, b);
	return node_call2(n->v, OP_div, node_call2(n->v, OP_sub, a, node_call2(n->v, OP_mod, a, b)), b);
}

static void import_div(Aten *n)
{
	const char *mode = aten_text(n, "rounding_mode");
	int a, b;
	DType t = operands(n, "self", "other", mode[0] == 0, &a, &b);
	if (strcmp(mode, "floor") == 0) {
		aten_set(n, floored(n, a, b, t));
		return;
	}
	int y = node_call2(n->v, OP_div, a, b);
	aten_set(n, strcmp(mode, "trunc") == 0 && dtype_is_float(t) ? node_truncate(n->v, y) : y);
}

static void import_floor_divide(Aten *n)
{
	int a, b;
	DType t = operands(n, "self", "other", false, &a, &b);
	aten_set(n, floored(n, a, b, t));
}

static void import_mod(Aten *n)
{
	int a, b;
	operands(n, "self", "other", false, &a, &b);
	int in[] = { a, b };
	Attr fmod = attr_int("fmod", n->row->op);
	aten_set(n, node_call(n->v, OP_mod, in, 2, &fmod, 1));
}

/* Powers of small whole numbers are products; a root is one call. */
static void import_pow(Aten *n)
{
	TorchValue e = aten_any(n, "exponent");
	int a, b;
	DType t = operands(n, "self", "exponent", false, &a, &b);
	if (n->row->op != 0) { /* float_power computes in doubles */
		t = F64;
		a = aten_as(n, aten_any(n, "self"), t);
		b = aten_as(n, e, t);
	}
	double p = torch_is_number(e) ? torch_number(e) : 0;
	if (p == 2)
		aten_set(n, node_call2(n->v, OP_mul, a, a));
	else if (p == 1)
		aten_set(n, a);
	else if (p == 3)
		aten_set(n, node_call2(n->v, OP_mul, node_call2(n->v, OP_mul, a, a), a));
	else if (p == 0.5 && dtype_is_float(t))
		aten_set(n, node_call1(n->v, OP_sqrt, a));
	else if (p == -0.5 && dtype_is_float(t))
		aten_set(n, node_call2(n->v, OP_div, node_number(n->v, t, 1), node_call1(n->v, OP_sqrt, a)));
	else
		aten_set(n, node_call2(n->v, OP_pow, a, b));
}

/* atan(y / x), moved by pi where x is below 0. */
static void import_atan2(Aten *n)
{
	const double pi = 3.14159265358979323846;
	int y, x;
	DType t = operands(n, "self", "other", true, &y, &x);
	int zero = node_number(n->v, t, 0);
	int turn =
		node_where(n->v, node_call2(n->v, OP_less, y, zero), node_number(n->v, t, -pi), node_number(n->v, t, pi));
	int base = node_call1(n->v, OP_atan, node_call2(n->v, OP_div, y, x));
	int z = node_where(n->v, node_call2(n->v, OP_less, x, zero), node_call2(n->v, OP_add, base, turn), base);
	int both = node_call2(n->v, OP_bit_and, node_call2(n->v, OP_equal, x, zero), node_call2(n->v, OP_equal, y, zero));
	aten_set(n, node_where(n->v, both, zero, z));
}

static void import_hypot(Aten *n)
{
	int a, b;
	operands(n, "self", "other", true, &a, &b);
	int sum = node_call2(n->v, OP_add, node_call2(n->v, OP_mul, a, a), node_call2(n->v, OP_mul, b, b));
	aten_set(n, node_call1(n->v, OP_sqrt, sum));
}

static void import_copysign(Aten *n)
{
	int a, b;
	DType t = operands(n, "self", "other", true, &a, &b);
	int size = node_call1(n->v, OP_abs, a), low = node_call2(n->v, OP_less, b, node_number(n->v, t, 0));
	aten_set(n, node_where(n->v, low, node_call1(n->v, OP_neg, size), size));
}

/* max(a, b) + log(1 + exp(-|a - b|)), with base 2 in the row's second form */
static void import_logaddexp(Aten *n)
{
	int a, b;
	operands(n, "self", "other", true, &a, &b);
	double base = n->row->op == 2 ? 0.69314718055994531 : 1;
	int gap = node_call1(n->v, OP_neg, node_call1(n->v, OP_abs, node_call2(n->v, OP_sub, a, b)));
	gap = base == 1 ? gap : node_with_number(n->v, OP_mul, gap, base);
	int more = node_call1(n->v, OP_log1p, node_call1(n->v, OP_exp, gap));
	more = base == 1 ? more : node_with_number(n->v, OP_div, more, base);
	aten_set(n, node_call2(n->v, OP_add, node_call2(n->v, OP_maximum, a, b), more));
}

/* a log(b), 0 where a is */
static void import_xlogy(Aten *n)
{
	int a, b;
	DType t = operands(n, "self", "other", true, &a, &b);
	int zero = node_number(n->v, t, 0), log = n->row->op;
	int y = node_call2(n->v, OP_mul, a, node_call1(n->v, log, b));
	aten_set(n, node_where(n->v, node_call2(n->v, OP_equal, a, zero), zero, y));
}

static void import_heaviside(Aten *n)
{
	int x, at;
	DType t = operands(n, "self", "values", false, &x, &at);
	int zero = node_number(n->v, t, 0);
	int y = node_where(n->v, node_call2(n->v, OP_less, x, zero), zero, node_number(n->v, t, 1));
	aten_set(n, node_where(n->v, node_call2(n->v, OP_equal, x, zero), at, y));
}

static void import_lerp(Aten *n)
{
	TorchValue in[] = { aten_any(n, "self"), aten_any(n, "end"), aten_any(n, "weight") };
	DType t = aten_promote(n, in, 3);
	int a = aten_as(n, in[0], t), b = aten_as(n, in[1], t), w = aten_as(n, in[2], t);
	aten_set(n, node_call2(n->v, OP_add, a, node_call2(n->v, OP_mul, w, node_call2(n->v, OP_sub, b, a))));
}

/* self + value * (tensor1 op tensor2) */
static void import_addc(Aten *n)
{
	TorchValue in[] = { aten_any(n, "self"), aten_any(n, "tensor1"), aten_any(n, "tensor2") };
	DType t = aten_promote(n, in, 3);
	int a = aten_as(n, in[0], t), b = aten_as(n, in[1], t), c = aten_as(n, in[2], t);
	int y = node_call2(n->v, OP_mul, node_call2(n->v, n->row->op, b, c), aten_as(n, aten_any(n, "value"), t));
	aten_set(n, node_call2(n->v, OP_add, a, y));
}

/* Bounds are numbers or tensors; both may be absent. */
static void import_clamp(Aten *n)
{
	TorchValue in[] = { aten_any(n, "self"), aten_any(n, "min"), aten_any(n, "max") };
	DType t = aten_promote(n, in, 3);
	int x = aten_as(n, in[0], t);
	bool numbers = in[1].kind != TORCH_TENSOR && in[2].kind != TORCH_TENSOR && dtype_is_float(t);
	if (numbers) {
		Attr attr[] = { attr_float("lo", in[1].kind != TORCH_NONE ? torch_number(in[1]) : -INFINITY),
			attr_float("hi", in[2].kind != TORCH_NONE ? torch_number(in[2]) : INFINITY) };
		aten_set(n, node_call(n->v, OP_clip, &x, 1, attr, 2));
		return;
	}
	if (in[1].kind != TORCH_NONE)
		x = node_call2(n->v, OP_maximum, x, aten_as(n, in[1], t));
	if (in[2].kind != TORCH_NONE)
		x = node_call2(n->v, OP_minimum, x, aten_as(n, in[2], t));
	aten_set(n, x);
}

/* The other operand where one is no number. */
static void import_fmax(Aten *n)
{
	int a, b;
	DType t = operands(n, "self", "other", false, &a, &b);
	int y = node_call2(n->v, n->row->op, a, b);
	if (dtype_is_float(t)) {
		y = node_where(n->v, node_call1(n->v, OP_is_nan, a), b, y);
		y = node_where(n->v, node_call1(n->v, OP_is_nan, b), a, y);
	}
	aten_set(n, y);
}

const AtenRow torch_binary_rows[] = {
	{ "add!", "self:T other:* alpha:n=1", import_add, OP_add },
	{ "sub!", "self:T other:* alpha:n=1", import_add, OP_sub },
	{ "subtract!", "self:T other:* alpha:n=1", import_add, OP_sub },
	{ "rsub", "self:T other:* alpha:n=1", import_rsub, 0 },
	{ "mul!", "self:T other:*", import_mul, 0 },
	{ "multiply!", "self:T other:*", import_mul, 0 },
	{ "add.number", "self:n other:T alpha:n=1", import_add, OP_add },
	{ "sub.number", "self:n other:T alpha:n=1", import_add, OP_sub },
	{ "mul.number", "self:n other:T", import_mul, 0 },
	{ "div.number", "self:n other:T rounding_mode:s?", import_div, 0 },
	{ "div!", "self:T other:* rounding_mode:s?", import_div, 0 },
	{ "divide!", "self:T other:* rounding_mode:s?", import_div, 0 },
	{ "true_divide!", "self:T other:*", import_div, 0 },
	{ "floor_divide!", "self:T other:*", import_floor_divide, 0 },
	{ "__floordiv__", "self:T other:*", import_floor_divide, 0 },
	{ "remainder!", "self:T other:*", import_mod, 0 },
	{ "remainder.number", "self:n other:T", import_mod, 0 },
	{ "fmod!", "self:T other:*", import_mod, 1 },
	{ "pow!", "self:T exponent:*", import_pow, 0 },
	{ "pow.Scalar", "self:n exponent:T", import_pow, 0 },
	{ "float_power!", "self:* exponent:*", import_pow, 1 },
	{ "maximum", "self:T other:T", binary, OP_maximum },
	{ "minimum", "self:T other:T", binary, OP_minimum },
	{ "max.other", "self:T other:T", binary, OP_maximum },
	{ "min.other", "self:T other:T", binary, OP_minimum },
	{ "fmax", "self:T other:T", import_fmax, OP_maximum },
	{ "fmin", "self:T other:T", import_fmax, OP_minimum },
	{ "atan2!", "self:T other:T", import_atan2, 0 },
	{ "arctan2!", "self:T other:T", import_atan2, 0 },
	{ "hypot!", "self:T other:T", import_hypot, 0 },
	{ "copysign!", "self:T other:*", import_copysign, 0 },
	{ "logaddexp", "self:T other:T", import_logaddexp, 1 },
	{ "logaddexp2", "self:T other:T", import_logaddexp, 2 },
	{ "xlogy!", "self:* other:*", import_xlogy, OP_log },
	{ "special_xlogy", "self:* other:*", import_xlogy, OP_log },
	{ "special_xlog1py", "self:* other:*", import_xlogy, OP_log1p },
	{ "heaviside!", "self:T values:T", import_heaviside, 0 },
	{ "lerp!", "self:T end:T weight:*", import_lerp, 0 },
	{ "addcmul!", "self:T tensor1:T tensor2:T value:n=1", import_addc, OP_mul },
	{ "addcdiv!", "self:T tensor1:T tensor2:T value:n=1", import_addc, OP_div },
	{ "clamp!", "self:T min:*? max:*?", import_clamp, 0 },
	{ "clip!", "self:T min:*? max:*?", import_clamp, 0 },
	{ "clamp_min!", "self:T min:*", import_clamp, 0 },
	{ "clamp_max!", "self:T max:*", import_clamp, 0 },
	{ NULL, NULL, NULL, 0 },
};
