/*
 * Rows of activation functions. Those that the Dag lacks become a chain of calls, which is one Task: only the first
 * call reads nothing but the node's input. Halves are computed in f32 and rounded once, because what is between the
 * calls could leave their range.
 */
#include "frontend/onnx/rows.h"

#include <string.h>

static void import_hard_swish(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_call1(v, OP_hard_swish, node_value(v, 0)));
}

static void import_with_alpha(Visit *v, int op, double otherwise)
{
	node_need(v, 0);
	Attr attr = attr_float("alpha", node_attr_float(v, "alpha", otherwise));
	int x = node_value(v, 0);
	node_set(v, 0, node_call(v, op, &x, 1, &attr, 1));
}

static void import_leaky_relu(Visit *v)
{
	import_with_alpha(v, OP_leaky_relu, 0.01);
}

static void import_elu(Visit *v)
{
	import_with_alpha(v, OP_elu, 1);
}

static void import_hard_sigmoid(Visit *v)
{
	node_need(v, 0);
	Attr attr[] = { attr_float("alpha", node_attr_float(v, "alpha", 0.2)),
		attr_float("beta", node_attr_float(v, "beta", 0.5)) };
	int x = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_hard_sigmoid, &x, 1, attr, 2));
}

/* Input 0 in the type that its function is computed in. */
static int wide_input(Visit *v)
{
	DType t = node_need(v, 0)->type;
	return node_cast(v, node_value(v, 0), dtype_is_float(t) && t.bits < 32 ? F32 : t);
}

static void set_narrow(Visit *v, int y)
{
	node_set(v, 0, node_cast(v, y, node_need(v, 0)->type));
}

/* x op number, in x's type */
static int with(Visit *v, int op, int x, double number)
{
	return node_call2(v, op, x, node_number(v, node_val(v, x)->type, number));
}

static int choose(Visit *v, int cond, int a, int b)
{
	int in[] = { cond, a, b };
	return node_call(v, OP_where, in, 3, NULL, 0);
}

/* x / (1 + |x|) */
static void import_softsign(Visit *v)
{
	int x = wide_input(v);
	set_narrow(v, node_call2(v, OP_div, x, with(v, OP_add, node_call1(v, OP_abs, x), 1)));
}

/* log(1 + exp(x)) = (n < x ? x : 0) + log(1 + exp(n)), n = -|x|, which does not overflow */
static void import_softplus(Visit *v)
{
	int x = wide_input(v), n = node_call1(v, OP_neg, node_call1(v, OP_abs, x));
	int above = choose(v, node_call2(v, OP_less, n, x), x, node_number(v, node_val(v, x)->type, 0));
	set_narrow(v, node_call2(v, OP_add, above, node_call1(v, OP_log1p, node_call1(v, OP_exp, n))));
}

/* gamma * elu(x) */
static void import_selu(Visit *v)
{
	int x = wide_input(v);
	Attr attr = attr_float("alpha", node_attr_float(v, "alpha", 1.6732632));
	double gamma = node_attr_float(v, "gamma", 1.050701);
	set_narrow(v, with(v, OP_mul, node_call(v, OP_elu, &x, 1, &attr, 1), gamma));
}

/* max(0, x) + min(0, y) = y < 0 ? y : x, y = alpha * (exp(x / alpha) - 1), since x and y have the same sign */
static void import_celu(Visit *v)
{
	int x = wide_input(v);
	double alpha = node_attr_float(v, "alpha", 1);
	if (node_ok(v) && alpha == 0)
		node_fail(v, ERR_INPUT, "its attribute alpha must not be 0, since the input is divided by it");
	int y = with(v, OP_mul, node_call1(v, OP_expm1, with(v, OP_div, x, alpha)), alpha);
	set_narrow(v, choose(v, with(v, OP_less, y, 0), y, x));
}

/* x (1 + erf(x / sqrt 2)) / 2; approximate: x (1 + tanh u) / 2 = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3) */
static void import_gelu(Visit *v)
{
	int x = wide_input(v), y;
	const char *how = node_attr_text(v, "approximate", "none");
	bool tanh = strcmp(how, "tanh") == 0;
	if (node_ok(v) && !tanh && strcmp(how, "none") != 0)
		node_fail(v, ERR_INPUT, "its attribute approximate is '%s', but must be none or tanh", how);
	if (tanh) {
		y = with(v, OP_add, with(v, OP_mul, node_call2(v, OP_mul, x, x), 0.044715), 1);
		y = with(v, OP_mul, node_call2(v, OP_mul, x, y), 1.5957691216057308); /* 2 sqrt(2 / pi) */
		y = node_call2(v, OP_mul, x, node_call1(v, OP_sigmoid, y));
	} else {
		y = with(v, OP_add, node_call1(v, OP_erf, with(v, OP_mul, x, 0.70710678118654752)), 1);
		y = with(v, OP_mul, node_call2(v, OP_mul, x, y), 0.5);
	}
	set_narrow(v, y);
}

/*
 * x tanh(softplus(x)) = x n / (n + 2), n = e (e + 2), e = exp(x): tanh(log(1 + e)) without its logarithm. The
 * fraction is 1 long before the limit, and n is finite in f32.
 */
static void import_mish(Visit *v)
{
	int x = wide_input(v), e = node_call1(v, OP_exp, with(v, OP_minimum, x, 40));
	int n = node_call2(v, OP_mul, e, with(v, OP_add, e, 2));
	set_narrow(v, node_call2(v, OP_mul, x, node_call2(v, OP_div, n, with(v, OP_add, n, 2))));
}

/* x sigmoid(alpha x) */
static void import_swish(Visit *v)
{
	int x = wide_input(v);
	double alpha = node_attr_float(v, "alpha", 1);
	int inside = alpha == 1 ? x : with(v, OP_mul, x, alpha);
	set_narrow(v, node_call2(v, OP_mul, x, node_call1(v, OP_sigmoid, inside)));
}

/* x < -lambd ? x + bias : x > lambd ? x - bias : 0; of integers in f64 */
static void import_shrink(Visit *v)
{
	int x = wide_input(v);
	double bias = node_attr_float(v, "bias", 0), lambd = node_attr_float(v, "lambd", 0.5);
	if (node_ok(v) && !dtype_is_float(node_val(v, x)->type))
		x = node_cast(v, x, F64);
	DType t = node_val(v, x)->type;
	int zero = node_number(v, t, 0);
	int above = node_call2(v, OP_less, node_number(v, t, lambd), x), below = with(v, OP_less, x, -lambd);
	int y = choose(v, above, with(v, OP_sub, x, bias), zero);
	set_narrow(v, choose(v, below, with(v, OP_add, x, bias), y));
}

/* x > alpha ? x : 0 */
static void import_thresholded_relu(Visit *v)
{
	DType t = node_need(v, 0)->type;
	int x = node_value(v, 0), alpha = node_number(v, t, node_attr_float(v, "alpha", 1));
	node_set(v, 0, choose(v, node_call2(v, OP_less, alpha, x), x, node_number(v, t, 0)));
}

const NodeRow onnx_activation_rows[] = {
	{ "LeakyRelu", 1, "consumed_inputs", import_leaky_relu },
	{ "Elu", 1, "consumed_inputs", import_elu },
	{ "Selu", 1, "consumed_inputs", import_selu },
	{ "Celu", 12, "", import_celu },
	{ "HardSigmoid", 1, "consumed_inputs", import_hard_sigmoid },
	{ "HardSwish", 14, "", import_hard_swish },
	{ "Swish", 24, "", import_swish },
	{ "Mish", 18, "", import_mish },
	{ "Gelu", 20, "", import_gelu },
	{ "Softplus", 1, "", import_softplus },
	{ "Softsign", 1, "", import_softsign },
	{ "Shrink", 9, "", import_shrink },
	{ "ThresholdedRelu", 10, "", import_thresholded_relu },
	{ NULL, 0, NULL, NULL },
};
