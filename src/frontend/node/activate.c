/*
 * The table of activations (activate.h). In a chain only the first call reads nothing but the input. Halves are
 * computed in f32 and rounded once, because what is between the calls could leave their range.
 */
#include "frontend/node/activate.h"
#include "frontend/node/compose.h"

#include <string.h>

/* A call of the Dag with its attributes alpha and beta. */
static int with_alpha(Visit *v, int op, int x, double a)
{
	Attr attr = attr_float("alpha", a);
	return node_call(v, op, &x, 1, &attr, 1);
}

static int make_linear(Visit *v, int x, double a, double b)
{
	(void)v, (void)a, (void)b;
	return x;
}

static int make_relu(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	return node_call1(v, OP_relu, x);
}

static int make_leaky_relu(Visit *v, int x, double a, double b)
{
	(void)b;
	return with_alpha(v, OP_leaky_relu, x, a);
}

static int make_elu(Visit *v, int x, double a, double b)
{
	(void)b;
	return with_alpha(v, OP_elu, x, a);
}

static int make_sigmoid(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	return node_call1(v, OP_sigmoid, x);
}

static int make_tanh(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	return node_call1(v, OP_tanh, x);
}

static int make_exp(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	return node_call1(v, OP_exp, x);
}

static int make_clip(Visit *v, int x, double a, double b)
{
	Attr attr[] = { attr_float("lo", a), attr_float("hi", b) };
	return node_call(v, OP_clip, &x, 1, attr, 2);
}

/* min(max(a x + b, 0), 1) */
static int make_hard_sigmoid(Visit *v, int x, double a, double b)
{
	Attr attr[] = { attr_float("alpha", a), attr_float("beta", b) };
	return node_call(v, OP_hard_sigmoid, &x, 1, attr, 2);
}

static int make_hard_swish(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	return node_call1(v, OP_hard_swish, x);
}

/* a tanh(b x) */
static int make_scaled_tanh(Visit *v, int x, double a, double b)
{
	return node_with_number(v, OP_mul, node_call1(v, OP_tanh, node_with_number(v, OP_mul, x, b)), a);
}

/* x / (1 + |x|) */
static int make_softsign(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	return node_call2(v, OP_div, x, node_with_number(v, OP_add, node_call1(v, OP_abs, x), 1));
}

/* log(1 + exp(x)) = (n < x ? x : 0) + log(1 + exp(n)), n = -|x|, which does not overflow */
static int make_softplus(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	int n = node_call1(v, OP_neg, node_call1(v, OP_abs, x));
	int above = node_where(v, node_call2(v, OP_less, n, x), x, node_number(v, node_val(v, x)->type, 0));
	return node_call2(v, OP_add, above, node_call1(v, OP_log1p, node_call1(v, OP_exp, n)));
}

/* a elu(x), with b inside of elu */
static int make_selu(Visit *v, int x, double a, double b)
{
	return node_with_number(v, OP_mul, with_alpha(v, OP_elu, x, b), a);
}

/* max(0, x) + min(0, y) = y < 0 ? y : x, y = a (exp(x / a) - 1), since x and y have the same sign */
static int make_celu(Visit *v, int x, double a, double b)
{
	(void)b;
	if (node_ok(v) && a == 0)
		node_fail(v, ERR_INPUT, "its attribute alpha must not be 0, since the input is divided by it");
	int y = node_with_number(v, OP_mul, node_call1(v, OP_expm1, node_with_number(v, OP_div, x, a)), a);
	return node_where(v, node_with_number(v, OP_less, y, 0), y, x);
}

/* x (1 + erf(x / sqrt 2)) / 2 */
static int make_gelu(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	int y = node_call1(v, OP_erf, node_with_number(v, OP_mul, x, 0.70710678118654752));
	y = node_call2(v, OP_mul, x, node_with_number(v, OP_add, y, 1));
	return node_with_number(v, OP_mul, y, 0.5);
}

/* x (1 + tanh u) / 2 = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3) */
static int make_gelu_tanh(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	int y = node_with_number(v, OP_mul, node_call2(v, OP_mul, x, x), 0.044715);
	y = node_call2(v, OP_mul, x, node_with_number(v, OP_add, y, 1));
	y = node_with_number(v, OP_mul, y, 1.5957691216057308); /* 2 sqrt(2 / pi) */
	return node_call2(v, OP_mul, x, node_call1(v, OP_sigmoid, y));
}

/*
 * x tanh(softplus(x)) = x n / (n + 2), n = e (e + 2), e = exp(x): tanh(log(1 + e)) without its logarithm. The
 * fraction is 1 long before the limit, and n is finite in f32.
 */
static int make_mish(Visit *v, int x, double a, double b)
{
	(void)a, (void)b;
	int e = node_call1(v, OP_exp, node_with_number(v, OP_minimum, x, 40));
	int n = node_call2(v, OP_mul, e, node_with_number(v, OP_add, e, 2));
	return node_call2(v, OP_mul, x, node_call2(v, OP_div, n, node_with_number(v, OP_add, n, 2)));
}

/* x sigmoid(a x) */
static int make_swish(Visit *v, int x, double a, double b)
{
	(void)b;
	int inside = a == 1 ? x : node_with_number(v, OP_mul, x, a);
	return node_call2(v, OP_mul, x, node_call1(v, OP_sigmoid, inside));
}

/* x > a ? x : 0 */
static int make_thresholded_relu(Visit *v, int x, double a, double b)
{
	(void)b;
	DType t = node_val(v, x)->type;
	int above = node_call2(v, OP_less, node_number(v, t, a), x);
	return node_where(v, above, x, node_number(v, t, 0));
}

static const struct {
	const char *name;
	int (*make)(Visit *v, int x, double a, double b);
	double a, b; /* where the format gives none */
	bool chain;  /* more calls than one: halves are widened */
} rows[] = {
	{ "linear", make_linear, 0, 0, false },
	{ "relu", make_relu, 0, 0, false },
	{ "relu6", make_clip, 0, 6, false },
	{ "clip", make_clip, -1, 1, false },
	{ "leaky_relu", make_leaky_relu, 0.01, 0, false },
	{ "elu", make_elu, 1, 0, false },
	{ "sigmoid", make_sigmoid, 0, 0, false },
	{ "tanh", make_tanh, 0, 0, false },
	{ "exp", make_exp, 0, 0, false },
	{ "hard_sigmoid", make_hard_sigmoid, 0.2, 0.5, false },
	{ "hard_swish", make_hard_swish, 0, 0, false },
	{ "scaled_tanh", make_scaled_tanh, 1, 1, true },
	{ "softsign", make_softsign, 0, 0, true },
	{ "softplus", make_softplus, 0, 0, true },
	{ "selu", make_selu, 1.050701, 1.6732632, true },
	{ "celu", make_celu, 1, 0, true },
	{ "gelu", make_gelu, 0, 0, true },
	{ "gelu_tanh", make_gelu_tanh, 0, 0, true },
	{ "mish", make_mish, 0, 0, true },
	{ "swish", make_swish, 1, 0, true },
	{ "thresholded_relu", make_thresholded_relu, 1, 0, false },
};
enum { NROWS = sizeof rows / sizeof *rows };

static int row_of(const char *name)
{
	for (int k = 0; k < NROWS; k++)
		if (strcmp(rows[k].name, name) == 0)
			return k;
	return -1;
}

bool node_has_activation(const char *name)
{
	return row_of(name) >= 0;
}

int node_activate_with(Visit *v, int x, const char *name, double a, double b)
{
	int k = row_of(name);
	if (k < 0)
		node_fail(v, ERR_UNSUPPORTED, "its activation '%.60s' is not supported", name);
	if (!node_ok(v))
		return DAG_NONE;
	DType t = node_val(v, x)->type;
	bool wide = rows[k].chain && dtype_is_float(t) && t.bits < 32;
	int y = rows[k].make(v, wide ? node_cast(v, x, F32) : x, a, b);
	return wide ? node_cast(v, y, t) : y;
}

int node_activate(Visit *v, int x, const char *name)
{
	int k = row_of(name);
	return node_activate_with(v, x, name, k < 0 ? 0 : rows[k].a, k < 0 ? 0 : rows[k].b);
}
