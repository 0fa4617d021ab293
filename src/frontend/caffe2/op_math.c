/* Rows of Caffe2's functions of one number. */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/activate.h"
#include "frontend/node/channels.h"
#include "frontend/node/compose.h"

#include <math.h>
#include <string.h>

/* One call of the Dag. */
#define CALL_LIST(X) \
	X("Relu", relu) \
	X("Sigmoid", sigmoid) \
	X("Tanh", tanh) \
	X("Abs", abs) \
	X("Negative", neg) \
	X("Exp", exp) \
	X("Log", log) \
	X("Log1p", log1p) \
	X("Sqrt", sqrt) \
	X("Sign", sign) \
	X("Floor", floor) \
	X("Ceil", ceil) \
	X("Sin", sin) \
	X("Cos", cos) \
	X("Tan", tan) \
	X("Asin", asin) \
	X("Acos", acos) \
	X("Atan", atan) \
	X("Sinh", sinh) \
	X("Cosh", cosh) \
	X("Erf", erf) \
	X("Not", bit_not)

#define X(type, op) { type, OP_##op },
static const struct {
	const char *type;
	int op;
} calls[] = { CALL_LIST(X) };
#undef X

static void import_call(Visit *v)
{
	for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
		if (strcmp(calls[k].type, v->node->op) == 0)
			node_set(v, 0, node_call1(v, calls[k].op, caffe2_value(v, 0)));
}

/* An activation by name, with parameters that attributes give. */
static const struct {
	const char *type, *name;
	const char *a, *b; /* attributes; NULL: the number is fixed */
	double a_is, b_is; /* without the attribute */
} activations[] = {
	{ "LeakyRelu", "leaky_relu", "alpha", NULL, 0.01, 0 },
	{ "Elu", "elu", "alpha", NULL, 1, 0 },
	{ "Selu", "selu", "scale", "alpha", 1.0507009873554805, 1.6732632423543772 },
	{ "ThresholdedRelu", "thresholded_relu", "alpha", NULL, 1, 0 },
	{ "HardSigmoid", "hard_sigmoid", "alpha", "beta", 0.2, 0.5 },
	{ "Clip", "clip", "min", "max", -INFINITY, INFINITY },
	{ "ReluN", "clip", NULL, "n", 0, 6 },
	{ "Relu6", "clip", NULL, NULL, 0, 6 },
	{ "Softplus", "softplus", NULL, NULL, 0, 0 },
	{ "Softsign", "softsign", NULL, NULL, 0, 0 },
	{ "Swish", "swish", NULL, NULL, 1, 0 },
};

static void import_activation(Visit *v)
{
	for (size_t k = 0; k < sizeof activations / sizeof *activations; k++) {
		if (strcmp(activations[k].type, v->node->op) != 0)
			continue;
		double a = activations[k].a_is, b = activations[k].b_is;
		a = activations[k].a != NULL ? node_attr_float(v, activations[k].a, a) : a;
		b = activations[k].b != NULL ? node_attr_float(v, activations[k].b, b) : b;
		node_set(v, 0, node_activate_with(v, caffe2_value(v, 0), activations[k].name, a, b));
	}
}

static void import_gelu(Visit *v)
{
	bool fast = node_attr_flag(v, "fast_gelu", false);
	node_set(v, 0, node_activate(v, caffe2_value(v, 0), fast ? "gelu_tanh" : "gelu"));
}

/* One slope, or one for each channel. */
static void import_prelu(Visit *v)
{
	bool last = caffe2_last(v);
	int in[] = { caffe2_image(v, 0, last), caffe2_value(v, 1) };
	Shape s = node_val(v, in[0])->shape, slope = node_val(v, in[1])->shape, wide = { .rank = s.rank - 1 };
	if (node_ok(v) && shape_elements(slope) != 1 && (s.rank < 2 || shape_elements(slope) != s.dim[1]))
		node_fail(v, ERR_TYPE, "its slopes are %lld, but its input has another number of channels",
			(long long)shape_elements(slope));
	if (!node_ok(v))
		return;
	for (int k = 0; k < wide.rank; k++)
		wide.dim[k] = k == 0 ? shape_elements(slope) : 1;
	if (wide.rank < 1)
		wide = shape_of(0, NULL);
	in[1] = node_reshape(v, in[1], wide);
	node_set(v, 0, caffe2_in_order(v, node_call(v, OP_prelu, in, 2, NULL, 0), last));
}

static void import_sqr(Visit *v)
{
	int x = caffe2_value(v, 0);
	node_set(v, 0, node_call2(v, OP_mul, x, x));
}

static void import_cube(Visit *v)
{
	int x = caffe2_value(v, 0);
	node_set(v, 0, node_call2(v, OP_mul, node_call2(v, OP_mul, x, x), x));
}

static int inverse(Visit *v, int x)
{
	return node_call2(v, OP_div, node_number(v, node_val(v, x)->type, 1), x);
}

static void import_reciprocal(Visit *v)
{
	node_set(v, 0, inverse(v, caffe2_value(v, 0)));
}

static void import_rsqrt(Visit *v)
{
	node_set(v, 0, inverse(v, node_call1(v, OP_sqrt, caffe2_value(v, 0))));
}

/* The third root, of negative numbers too. */
static void import_cbrt(Visit *v)
{
	int x = caffe2_value(v, 0), root = node_with_number(v, OP_pow, node_call1(v, OP_abs, x), 1.0 / 3);
	node_set(v, 0, node_call2(v, OP_mul, node_call1(v, OP_sign, x), root));
}

static void import_scale(Visit *v)
{
	double scale = node_attr_float(v, "scale", 1);
	node_set(v, 0, node_with_number(v, OP_mul, caffe2_value(v, 0), scale));
}

/* log(x / (1 - x)), x in [eps, 1 - eps] */
static void import_logit(Visit *v)
{
	double eps = node_attr_float(v, "eps", 1e-6);
	int x = node_activate_with(v, caffe2_value(v, 0), "clip", eps, 1 - eps);
	int rest = node_call2(v, OP_sub, node_number(v, F32, 1), x);
	node_set(v, 0, node_call1(v, OP_log, node_call2(v, OP_div, x, rest)));
}

/* One number up to a threshold, another one above. */
static void import_stump(Visit *v)
{
	double at = node_attr_float(v, "threshold", 0), low = node_attr_float(v, "low_value", 0);
	double high = node_attr_float(v, "high_value", 0);
	int x = caffe2_value(v, 0), above = node_call2(v, OP_less, node_number(v, F32, at), x);
	node_set(v, 0, node_where(v, above, node_number(v, F32, high), node_number(v, F32, low)));
}

static void import_replace_nan(Visit *v)
{
	double with = node_attr_float(v, "value", 0);
	int x = caffe2_value(v, 0);
	node_set(v, 0, node_where(v, node_call1(v, OP_is_nan, x), node_number(v, node_val(v, x)->type, with), x));
}

/* The remainder by a number, with the sign of the input, or of the divisor. */
static void import_mod(Visit *v)
{
	int64_t by = node_attr_int(v, "divisor", 0);
	bool sign = node_attr_flag(v, "sign_follow_divisor", false);
	if (node_ok(v) && by == 0)
		node_fail(v, ERR_INPUT, "its divisor is 0");
	int x = caffe2_value(v, 0), in[] = { x, node_number(v, node_val(v, x)->type, (double)by) };
	Attr attr = attr_int("fmod", !sign);
	node_set(v, 0, node_call(v, OP_mod, in, 2, &attr, 1));
}

/* a sigmoid(b), a and b the halves of x. */
static void import_glu(Visit *v)
{
	int x = caffe2_value(v, 0), axis = caffe2_axis(v, "dim", -1, node_val(v, x)->shape.rank);
	int64_t half = node_val(v, x)->shape.dim[axis] / 2;
	if (node_ok(v) && half * 2 != node_val(v, x)->shape.dim[axis])
		node_fail(v, ERR_TYPE, "its input cannot be cut into halves");
	if (node_ok(v))
		node_set(v, 0,
			node_call2(v, OP_mul, node_slice(v, x, axis, 0, half),
				node_call1(v, OP_sigmoid, node_slice(v, x, axis, half, half))));
}

static void import_cast(Visit *v)
{
	int x = caffe2_value(v, 0);
	node_set(v, 0, node_cast(v, x, caffe2_attr_type(v, "to", F32)));
}

/* The input; masks and other results of training are not there. */
static void import_same(Visit *v)
{
	node_set_alias(v, 0, node_need(v, 0));
}

#define X(type, op) { type, 0, "consumed_inputs cudnn_exhaustive_search", import_call },
#define ACTIVATION(type) \
	{ \
		type, 0, "", import_activation \
	}

const NodeRow caffe2_math_rows[] = {
	CALL_LIST(X) ACTIVATION("LeakyRelu"),
	ACTIVATION("Elu"),
	ACTIVATION("Selu"),
	ACTIVATION("ThresholdedRelu"),
	ACTIVATION("HardSigmoid"),
	ACTIVATION("Clip"),
	ACTIVATION("ReluN"),
	ACTIVATION("Relu6"),
	ACTIVATION("Softplus"),
	ACTIVATION("Softsign"),
	ACTIVATION("Swish"),
	{ "Gelu", 0, "", import_gelu },
	{ "PRelu", 0, "", import_prelu },
	{ "Sqr", 0, "", import_sqr },
	{ "Cube", 0, "", import_cube },
	{ "Reciprocal", 0, "", import_reciprocal },
	{ "Rsqrt", 0, "", import_rsqrt },
	{ "Cbrt", 0, "", import_cbrt },
	{ "Scale", 0, "", import_scale },
	{ "Logit", 0, "", import_logit },
	{ "StumpFunc", 0, "", import_stump },
	{ "ReplaceNaN", 0, "", import_replace_nan },
	{ "Mod", 0, "", import_mod },
	{ "Glu", 0, "", import_glu },
	{ "Cast", 0, "from_type", import_cast },
	{ "Copy", 0, "", import_same },
	{ "Alias", 0, "", import_same },
	{ "AliasWithName", 0, "*", import_same },
	{ "EnsureCPUOutput", 0, "", import_same },
	{ "EnsureDense", 0, "", import_same },
	{ "CopyCPUToGPU", 0, "", import_same },
	{ "CopyGPUToCPU", 0, "", import_same },
	{ "CopyFromCPUInput", 0, "", import_same },
	{ "CopyOnDeviceLike", 0, "", import_same },
	{ "CopyCPUToMKL", 0, "", import_same },
	{ "CopyMKLToCPU", 0, "", import_same },
	{ "CopyCPUToIDEEP", 0, "", import_same },
	{ "CopyIDEEPToCPU", 0, "", import_same },
	{ "StopGradient", 0, "", import_same },
	{ "NanCheck", 0, "", import_same },
	{ "Dropout", 0, "*", import_same },
	{ NULL, 0, NULL, NULL },
};
