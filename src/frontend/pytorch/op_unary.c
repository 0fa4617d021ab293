/* Rows of functions of one number. Integers become f32 where the function's values are no integers. */
#include "frontend/pytorch/aten.h"

#include "frontend/node/activate.h"

#include <math.h>
#include <string.h>

static int with(Aten *n, int op, int x, double number)
{
	return node_with_number(n->v, op, x, number);
}

static int number(Aten *n, int like, double x)
{
	return node_number(n->v, node_val(n->v, like)->type, x);
}

/* A call that takes and gives floats. */
static void unary(Aten *n)
{
	aten_set(n, node_call1(n->v, n->row->op, aten_floating(n, aten_value(n, "self"))));
}

/* A call that keeps integers. */
static void unary_number(Aten *n)
{
	aten_set(n, node_call1(n->v, n->row->op, aten_value(n, "self")));
}

/* Rounding, which changes no integer. */
static void rounding(Aten *n)
{
	int x = aten_value(n, "self");
	aten_set(n, dtype_is_float(node_val(n->v, x)->type) ? node_call1(n->v, n->row->op, x) : x);
}

static void import_round(Aten *n)
{
	int x = aten_value(n, "self");
	double scale = pow(10, (double)aten_int(n, "decimals"));
	if (!dtype_is_float(node_val(n->v, x)->type)) {
		aten_set(n, x);
		return;
	}
	x = scale != 1 ? with(n, OP_mul, x, scale) : x;
	x = node_call1(n->v, OP_round, x);
	aten_set(n, scale != 1 ? with(n, OP_div, x, scale) : x);
}

static void import_trunc(Aten *n)
{
	int x = aten_value(n, "self");
	aten_set(n, dtype_is_float(node_val(n->v, x)->type) ? node_truncate(n->v, x) : x);
}

static void import_frac(Aten *n)
{
	int x = aten_value(n, "self");
	aten_set(n, node_call2(n->v, OP_sub, x, node_truncate(n->v, x)));
}

static void identity(Aten *n)
{
	aten_give(n, aten_any(n, "self"));
}

static void import_rsqrt(Aten *n)
{
	int x = node_call1(n->v, OP_sqrt, aten_floating(n, aten_value(n, "self")));
	aten_set(n, node_call2(n->v, OP_div, number(n, x, 1), x));
}

static void import_reciprocal(Aten *n)
{
	int x = aten_floating(n, aten_value(n, "self"));
	aten_set(n, node_call2(n->v, OP_div, number(n, x, 1), x));
}

static void import_square(Aten *n)
{
	int x = aten_value(n, "self");
	aten_set(n, node_call2(n->v, OP_mul, x, x));
}

static void import_exp2(Aten *n)
{
	int x = aten_floating(n, aten_value(n, "self"));
	aten_set(n, node_call1(n->v, OP_exp, with(n, OP_mul, x, 0.69314718055994531)));
}

/* log(x) / log(base), with base 2 or 10 in the row. */
static void import_log_of(Aten *n)
{
	int x = node_call1(n->v, OP_log, aten_floating(n, aten_value(n, "self")));
	aten_set(n, with(n, OP_mul, x, 1 / log(n->row->op)));
}

static void import_erfc(Aten *n)
{
	int x = node_call1(n->v, OP_erf, aten_floating(n, aten_value(n, "self")));
	aten_set(n, node_call2(n->v, OP_sub, number(n, x, 1), x));
}

/* A factor: degrees to radians and back. */
static void import_degrees(Aten *n)
{
	const double pi = 3.14159265358979323846;
	aten_set(n, with(n, OP_mul, aten_floating(n, aten_value(n, "self")), n->row->op != 0 ? 180 / pi : pi / 180));
}

static void import_sinc(Aten *n)
{
	int x = with(n, OP_mul, aten_floating(n, aten_value(n, "self")), 3.14159265358979323846);
	int y = node_call2(n->v, OP_div, node_call1(n->v, OP_sin, x), x);
	aten_set(n, node_where(n->v, with(n, OP_equal, x, 0), number(n, x, 1), y));
}

static void import_logit(Aten *n)
{
	int x = aten_floating(n, aten_value(n, "self"));
	if (aten_given(n, "eps")) {
		double eps = aten_float(n, "eps");
		Attr attr[] = { attr_float("lo", eps), attr_float("hi", 1 - eps) };
		x = node_call(n->v, OP_clip, &x, 1, attr, 2);
	}
	int rest = node_call2(n->v, OP_sub, number(n, x, 1), x);
	aten_set(n, node_call1(n->v, OP_log, node_call2(n->v, OP_div, x, rest)));
}

static void import_nan_to_num(Aten *n)
{
	int x = aten_value(n, "self");
	DType t = node_val(n->v, x)->type;
	double most = t.kind == DT_BFLOAT ? 3.3895313892515355e38 : t.bits == 16 ? 65504 : 3.4028234663852886e38;
	most = t.bits == 64 ? 1.7976931348623157e308 : most;
	if (!dtype_is_float(t)) {
		aten_any(n, "nan"), aten_any(n, "posinf"), aten_any(n, "neginf");
		aten_set(n, x);
		return;
	}
	double nan = aten_given(n, "nan") ? aten_float(n, "nan") : 0;
	double above = aten_given(n, "posinf") ? aten_float(n, "posinf") : most;
	double below = aten_given(n, "neginf") ? aten_float(n, "neginf") : -most;
	Attr up = attr_int("negative", 0), down = attr_int("positive", 0);
	int y = node_where(n->v, node_call1(n->v, OP_is_nan, x), number(n, x, nan), x);
	y = node_where(n->v, node_call(n->v, OP_is_inf, &x, 1, &up, 1), number(n, x, above), y);
	aten_set(n, node_where(n->v, node_call(n->v, OP_is_inf, &x, 1, &down, 1), number(n, x, below), y));
}

/* ---- activations */

static void activation(Aten *n)
{
	static const char *const named[] = { "relu6", "swish", "mish", "softsign", "hard_swish", "selu" };
	aten_set(n, node_activate(n->v, aten_value(n, "self"), named[n->row->op]));
}

static void import_hard_sigmoid(Aten *n)
{
	aten_set(n, node_activate_with(n->v, aten_value(n, "self"), "hard_sigmoid", 1.0 / 6, 0.5));
}

static void import_hard_tanh(Aten *n)
{
	int x = aten_value(n, "self");
	Attr attr[] = { attr_float("lo", aten_float(n, "min_val")), attr_float("hi", aten_float(n, "max_val")) };
	aten_set(n, node_call(n->v, OP_clip, &x, 1, attr, 2));
}

static void import_gelu(Aten *n)
{
	bool tanh = strcmp(aten_text(n, "approximate"), "tanh") == 0;
	aten_set(n, node_activate(n->v, aten_value(n, "self"), tanh ? "gelu_tanh" : "gelu"));
}

static void import_leaky_relu(Aten *n)
{
	aten_set(n, node_activate_with(n->v, aten_value(n, "self"), "leaky_relu", aten_float(n, "negative_slope"), 0));
}

/* The mean of the slopes, as inference takes them. */
static void import_rrelu(Aten *n)
{
	if (aten_flag(n, "training"))
		node_fail(n->v, ERR_UNSUPPORTED, "it is in training mode: call model.eval() before the export");
	double slope = (aten_float(n, "lower") + aten_float(n, "upper")) / 2;
	aten_set(n, node_activate_with(n->v, aten_value(n, "self"), "leaky_relu", slope, 0));
}

/* scale * (x > 0 ? x : alpha * (exp(input_scale * x) - 1)) */
static void import_elu(Aten *n)
{
	double scale = aten_float(n, "scale"), inner = aten_float(n, "input_scale"), alpha = aten_float(n, "alpha");
	int x = aten_value(n, "self");
	if (inner == 1) {
		int y = node_activate_with(n->v, x, "elu", alpha, 0);
		aten_set(n, scale == 1 ? y : with(n, OP_mul, y, scale));
		return;
	}
	int low = with(n, OP_mul, node_call1(n->v, OP_expm1, with(n, OP_mul, x, inner)), alpha);
	int y = node_where(n->v, with(n, OP_less, x, 0), low, x);
	aten_set(n, with(n, OP_mul, y, scale));
}

static void import_celu(Aten *n)
{
	aten_set(n, node_activate_with(n->v, aten_value(n, "self"), "celu", aten_float(n, "alpha"), 0));
}

static void import_softplus(Aten *n)
{
	double beta = aten_float(n, "beta"), top = aten_float(n, "threshold");
	int x = aten_value(n, "self"), scaled = beta == 1 ? x : with(n, OP_mul, x, beta);
	int y = node_activate(n->v, scaled, "softplus");
	y = beta == 1 ? y : with(n, OP_div, y, beta);
	/* above 15 both branches are the same to eight digits */
	aten_set(n, top < 15 ? node_where(n->v, with(n, OP_less_equal, scaled, top), y, x) : y);
}

static void import_log_sigmoid(Aten *n)
{
	int x = aten_value(n, "self");
	aten_set(n, node_call1(n->v, OP_neg, node_activate(n->v, node_call1(n->v, OP_neg, x), "softplus")));
}

static void import_shrink(Aten *n)
{
	double lambda = aten_float(n, "lambd");
	int x = aten_value(n, "self"), size = node_call1(n->v, OP_abs, x);
	int y = n->row->op == 0 ? x : node_call2(n->v, OP_mul, node_call1(n->v, OP_sign, x), with(n, OP_sub, size, lambda));
	aten_set(n, node_where(n->v, with(n, OP_less_equal, size, lambda), number(n, x, 0), y));
}

static void import_threshold(Aten *n)
{
	int x = aten_value(n, "self"), low = with(n, OP_less_equal, x, aten_float(n, "threshold"));
	aten_set(n, node_where(n->v, low, number(n, x, aten_float(n, "value")), x));
}

static void import_tanhshrink(Aten *n)
{
	int x = aten_value(n, "self");
	aten_set(n, node_call2(n->v, OP_sub, x, node_call1(n->v, OP_tanh, x)));
}

static void import_glu(Aten *n)
{
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank), x = aten_value(n, "self");
	int64_t half = s.rank > 0 ? s.dim[axis] / 2 : 0;
	if (node_ok(n->v) && (s.rank == 0 || s.dim[axis] % 2 != 0))
		node_fail(n->v, ERR_TYPE, "dimension %d of its input cannot be halved", axis);
	if (!node_ok(n->v))
		return;
	int a = node_slice(n->v, x, axis, 0, half), b = node_slice(n->v, x, axis, half, half);
	aten_set(n, node_call2(n->v, OP_mul, a, node_call1(n->v, OP_sigmoid, b)));
}

static void import_prelu(Aten *n)
{
	Shape s = aten_shape(n, "self"), w = aten_shape(n, "weight");
	int slope = aten_value(n, "weight"), x = aten_value(n, "self");
	int64_t many = shape_elements(w);
	if (many != 1 && s.rank > 2) {
		Shape wide = { .rank = s.rank - 1, .dim = { many } };
		for (int k = 1; k < wide.rank; k++)
			wide.dim[k] = 1;
		slope = node_reshape(n->v, slope, wide);
	} else if (many == 1) {
		slope = node_reshape(n->v, slope, shape_of(0, NULL));
	}
	aten_set(n, node_call2(n->v, OP_prelu, x, slope));
}

const AtenRow torch_unary_rows[] = {
	{ "abs!", "self:T", unary_number, OP_abs },
	{ "absolute!", "self:T", unary_number, OP_abs },
	{ "neg!", "self:T", unary_number, OP_neg },
	{ "negative!", "self:T", unary_number, OP_neg },
	{ "sign!", "self:T", unary_number, OP_sign },
	{ "sgn!", "self:T", unary_number, OP_sign },
	{ "relu!", "self:T", unary_number, OP_relu },
	{ "ceil!", "self:T", rounding, OP_ceil },
	{ "floor!", "self:T", rounding, OP_floor },
	{ "round!", "self:T decimals:i=0", import_round, 0 },
	{ "trunc!", "self:T", import_trunc, 0 },
	{ "fix!", "self:T", import_trunc, 0 },
	{ "frac!", "self:T", import_frac, 0 },
	{ "positive", "self:T", identity, 0 },
	{ "sqrt!", "self:T", unary, OP_sqrt },
	{ "rsqrt!", "self:T", import_rsqrt, 0 },
	{ "reciprocal!", "self:T", import_reciprocal, 0 },
	{ "square!", "self:T", import_square, 0 },
	{ "exp!", "self:T", unary, OP_exp },
	{ "exp2!", "self:T", import_exp2, 0 },
	{ "special_exp2", "self:T", import_exp2, 0 },
	{ "expm1!", "self:T", unary, OP_expm1 },
	{ "special_expm1", "self:T", unary, OP_expm1 },
	{ "log!", "self:T", unary, OP_log },
	{ "log1p!", "self:T", unary, OP_log1p },
	{ "log2!", "self:T", import_log_of, 2 },
	{ "log10!", "self:T", import_log_of, 10 },
	{ "erf!", "self:T", unary, OP_erf },
	{ "special_erf", "self:T", unary, OP_erf },
	{ "erfc!", "self:T", import_erfc, 0 },
	{ "sin!", "self:T", unary, OP_sin },
	{ "cos!", "self:T", unary, OP_cos },
	{ "tan!", "self:T", unary, OP_tan },
	{ "asin!", "self:T", unary, OP_asin },
	{ "arcsin!", "self:T", unary, OP_asin },
	{ "acos!", "self:T", unary, OP_acos },
	{ "arccos!", "self:T", unary, OP_acos },
	{ "atan!", "self:T", unary, OP_atan },
	{ "arctan!", "self:T", unary, OP_atan },
	{ "sinh!", "self:T", unary, OP_sinh },
	{ "cosh!", "self:T", unary, OP_cosh },
	{ "tanh!", "self:T", unary, OP_tanh },
	{ "asinh!", "self:T", unary, OP_asinh },
	{ "arcsinh!", "self:T", unary, OP_asinh },
	{ "acosh!", "self:T", unary, OP_acosh },
	{ "arccosh!", "self:T", unary, OP_acosh },
	{ "atanh!", "self:T", unary, OP_atanh },
	{ "arctanh!", "self:T", unary, OP_atanh },
	{ "deg2rad!", "self:T", import_degrees, 0 },
	{ "rad2deg!", "self:T", import_degrees, 1 },
	{ "sinc!", "self:T", import_sinc, 0 },
	{ "special_sinc", "self:T", import_sinc, 0 },
	{ "sigmoid!", "self:T", unary, OP_sigmoid },
	{ "special_expit", "self:T", unary, OP_sigmoid },
	{ "logit!", "self:T eps:f?", import_logit, 0 },
	{ "special_logit", "self:T eps:f?", import_logit, 0 },
	{ "nan_to_num!", "self:T nan:f? posinf:f? neginf:f?", import_nan_to_num, 0 },
	{ "relu6!", "self:T", activation, 0 },
	{ "silu!", "self:T", activation, 1 },
	{ "mish!", "self:T", activation, 2 },
	{ "softsign", "self:T", activation, 3 },
	{ "hardswish!", "self:T", activation, 4 },
	{ "selu!", "self:T", activation, 5 },
	{ "hardsigmoid!", "self:T", import_hard_sigmoid, 0 },
	{ "hardtanh!", "self:T min_val:n=-1 max_val:n=1", import_hard_tanh, 0 },
	{ "gelu!", "self:T approximate:s=none", import_gelu, 0 },
	{ "leaky_relu!", "self:T negative_slope:n=0.01", import_leaky_relu, 0 },
	{ "rrelu!", "self:T lower:n=0.125 upper:n=0.3333333333333333 training:b=False generator:_?", import_rrelu, 0 },
	{ "elu!", "self:T alpha:n=1 scale:n=1 input_scale:n=1", import_elu, 0 },
	{ "celu!", "self:T alpha:n=1", import_celu, 0 },
	{ "softplus", "self:T beta:n=1 threshold:n=20", import_softplus, 0 },
	{ "log_sigmoid", "self:T", import_log_sigmoid, 0 },
	{ "hardshrink", "self:T lambd:n=0.5", import_shrink, 0 },
	{ "softshrink", "self:T lambd:n=0.5", import_shrink, 1 },
	{ "threshold!", "self:T threshold:n value:n", import_threshold, 0 },
	{ "tanhshrink", "self:T", import_tanhshrink, 0 },
	{ "glu", "self:T dim:i=-1", import_glu, 0 },
	{ "prelu", "self:T weight:T", import_prelu, 0 },
	{ "_prelu_kernel", "self:T weight:T", import_prelu, 0 },
	{ NULL, NULL, NULL, 0 },
};
