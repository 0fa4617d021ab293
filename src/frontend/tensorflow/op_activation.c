/* Rows of activations, softmax and fake quantisation. */
#include "frontend/tensorflow/rows.h"

#include <math.h>

static int number_like(Visit *v, int x, double number)
{
	return node_number(v, node_val(v, x)->type, number);
}

static void import_relu(Visit *v)
{
	tf_each1(v, OP_relu);
}

static void import_sigmoid(Visit *v)
{
	tf_each1(v, OP_sigmoid);
}

static void import_tanh(Visit *v)
{
	tf_each1(v, OP_tanh);
}

static void import_elu(Visit *v)
{
	tf_each1(v, OP_elu);
}

static void import_relu6(Visit *v)
{
	int x = tf_value(v, 0);
	Attr attr[] = { attr_float("lo", 0), attr_float("hi", 6) };
	node_set(v, 0, node_each(v, OP_clip, &x, 1, attr, 2));
}

static void import_leaky_relu(Visit *v)
{
	int x = tf_value(v, 0);
	Attr attr = attr_float("alpha", node_attr_float(v, "alpha", 0.2));
	node_set(v, 0, node_each(v, OP_leaky_relu, &x, 1, &attr, 1));
}

static void import_selu(Visit *v)
{
	int x = tf_value(v, 0);
	Attr attr = attr_float("alpha", 1.6732632423543772);
	int y = node_each(v, OP_elu, &x, 1, &attr, 1);
	node_set(v, 0, node_each2(v, OP_mul, y, number_like(v, y, 1.0507009873554805)));
}

/* log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which does not overflow. */
static void import_softplus(Visit *v)
{
	int x = tf_value(v, 0), e = node_each1(v, OP_exp, node_each1(v, OP_neg, node_each1(v, OP_abs, x)));
	node_set(v, 0, node_each2(v, OP_add, node_each1(v, OP_relu, x), node_each1(v, OP_log1p, e)));
}

static void import_softsign(Visit *v)
{
	int x = tf_value(v, 0), one = number_like(v, x, 1);
	node_set(v, 0, node_each2(v, OP_div, x, node_each2(v, OP_add, node_each1(v, OP_abs, x), one)));
}

static void import_softmax_kind(Visit *v, int op)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	if (node_ok(v) && rank == 0)
		node_fail(v, ERR_TYPE, "its input is one number");
	node_set(v, 0, node_axis_call(v, op, &x, 1, rank - 1, NULL, 0));
}

static void import_softmax(Visit *v)
{
	import_softmax_kind(v, OP_softmax);
}

static void import_log_softmax(Visit *v)
{
	import_softmax_kind(v, OP_log_softmax);
}

/* ---- values rounded to a grid, as training for 8 bits does */

/* The range is moved so that 0 is on the grid. */
static void set_fake_quant(Visit *v, double lo, double hi)
{
	int x = tf_value(v, 0);
	int64_t bits = node_attr_int(v, "num_bits", 8);
	double first = node_attr_flag(v, "narrow_range", false) ? 1 : 0;
	if (node_ok(v) && (bits < 2 || bits > 16 || !(lo <= 0 && hi >= 0 && hi > lo)))
		node_fail(v, ERR_INPUT, "its range %g to %g of %lld bits is not supported", lo, hi, (long long)bits);
	if (!node_ok(v))
		return;
	double last = (double)(((int64_t)1 << bits) - 1);
	float scale = (float)((hi - lo) / (last - first)), zero = (float)(first - lo / scale);
	zero = zero < first ? (float)first : zero > last ? (float)last : roundf(zero);
	float least = ((float)first - zero) * scale, most = ((float)last - zero) * scale;
	Attr attr[] = { attr_float("lo", least), attr_float("hi", most) };
	int y = node_each(v, OP_clip, &x, 1, attr, 2);
	y = node_each2(v, OP_div, node_each2(v, OP_sub, y, number_like(v, y, least)), number_like(v, y, scale));
	y = node_each1(v, OP_floor, node_each2(v, OP_add, y, number_like(v, y, 0.5)));
	y = node_each2(v, OP_add, node_each2(v, OP_mul, y, number_like(v, y, scale)), number_like(v, y, least));
	node_set(v, 0, y);
}

static void import_fake_quant_args(Visit *v)
{
	double lo = node_attr_float(v, "min", -6), hi = node_attr_float(v, "max", 6);
	set_fake_quant(v, lo, hi);
}

static void import_fake_quant_vars(Visit *v)
{
	node_need(v, 1);
	node_need(v, 2);
	double lo = tf_number(v, 1), hi = tf_number(v, 2);
	set_fake_quant(v, lo, hi);
}

const NodeRow tf_activation_rows[] = {
	{ "Relu", 0, "", import_relu },
	{ "Relu6", 0, "", import_relu6 },
	{ "Sigmoid", 0, "", import_sigmoid },
	{ "Tanh", 0, "", import_tanh },
	{ "Elu", 0, "", import_elu },
	{ "Selu", 0, "", import_selu },
	{ "LeakyRelu", 0, "", import_leaky_relu },
	{ "Softplus", 0, "", import_softplus },
	{ "Softsign", 0, "", import_softsign },
	{ "Softmax", 0, "", import_softmax },
	{ "LogSoftmax", 0, "", import_log_softmax },
	{ "FakeQuantWithMinMaxArgs", 0, "", import_fake_quant_args },
	{ "FakeQuantWithMinMaxVars", 0, "", import_fake_quant_vars },
	{ NULL, 0, NULL, NULL },
};
