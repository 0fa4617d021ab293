/* Rows of arithmetic with a fused function, of activations, and of normalisations that TensorFlow has no row for. */
#include "frontend/node/activate.h"
#include "frontend/tflite/rows.h"

#include <math.h>
#include <string.h>

/* ---- arithmetic with a fused function */

static void import_binary(Visit *v)
{
	static const struct {
		const char *name;
		int op;
	} rows[] = { { "ADD", OP_add }, { "SUB", OP_sub }, { "MUL", OP_mul }, { "DIV", OP_div } };
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(rows[k].name, v->node->op) == 0) {
			int a = tflite_value(v, 0);
			node_set(v, 0, tflite_activate(v, node_each2(v, rows[k].op, a, tflite_value(v, 1))));
		}
}

/* ---- functions of one number */

static void set_clip(Visit *v, double lo, double hi)
{
	int x = tflite_value(v, 0);
	Attr attr[] = { attr_float("lo", lo), attr_float("hi", hi) };
	node_set(v, 0, node_each(v, OP_clip, &x, 1, attr, 2));
}

static void import_relu_n1_to_1(Visit *v)
{
	set_clip(v, -1, 1);
}

static void import_relu_0_to_1(Visit *v)
{
	set_clip(v, 0, 1);
}

static void import_hard_swish(Visit *v)
{
	node_set(v, 0, node_each1(v, OP_hard_swish, tflite_value(v, 0)));
}

static void import_leaky_relu(Visit *v)
{
	int x = tflite_value(v, 0);
	Attr attr = attr_float("alpha", node_attr_float(v, "alpha", 0));
	node_set(v, 0, node_each(v, OP_leaky_relu, &x, 1, &attr, 1));
}

/* A chain of calls on what the transposition behind a convolution reads. */
static void import_gelu(Visit *v)
{
	int x = tflite_value(v, 0);
	bool last = node_is_last(v, x);
	int y = last ? node_to_second(v, x) : x;
	y = node_activate(v, y, node_attr_flag(v, "approximate", false) ? "gelu_tanh" : "gelu");
	node_set(v, 0, last ? node_to_last(v, y) : y);
}

static void import_prelu(Visit *v)
{
	node_set(v, 0, node_each2(v, OP_prelu, tflite_value(v, 0), tflite_value(v, 1)));
}

/* softmax(beta x) over the last dimension */
static void import_softmax(Visit *v)
{
	int x = tflite_value(v, 0), rank = node_val(v, x)->shape.rank;
	double beta = node_attr_float(v, "beta", 0);
	if (node_ok(v) && rank == 0)
		node_fail(v, ERR_TYPE, "its input is one number");
	if (!node_ok(v))
		return;
	if (beta != 1)
		x = node_each2(v, OP_mul, x, node_number(v, node_val(v, x)->type, beta));
	node_set(v, 0, node_axis_call(v, OP_softmax, &x, 1, rank - 1, NULL, 0));
}

/* x / max(norm, 1e-6) over the last dimension */
static void import_l2_normalization(Visit *v)
{
	int x = tflite_value(v, 0), rank = node_val(v, x)->shape.rank;
	int64_t axis = rank - 1;
	if (node_ok(v) && rank == 0)
		node_fail(v, ERR_TYPE, "its input is one number");
	if (!node_ok(v))
		return;
	int norm = node_each1(v, OP_sqrt, node_reduce(v, OP_reduce_sum, node_each2(v, OP_mul, x, x), &axis, 1, true));
	norm = node_each2(v, OP_maximum, norm, node_number(v, F32, 1e-6));
	node_set(v, 0, tflite_activate(v, node_each2(v, OP_div, x, norm)));
}

const NodeRow tflite_math_rows[] = {
	{ "ADD", 0, "", import_binary },
	{ "SUB", 0, "", import_binary },
	{ "MUL", 0, "", import_binary },
	{ "DIV", 0, "", import_binary },
	{ "RELU_N1_TO_1", 0, "", import_relu_n1_to_1 },
	{ "RELU_0_TO_1", 0, "", import_relu_0_to_1 },
	{ "HARD_SWISH", 0, "", import_hard_swish },
	{ "LEAKY_RELU", 0, "", import_leaky_relu },
	{ "GELU", 0, "", import_gelu },
	{ "PRELU", 0, "", import_prelu },
	{ "SOFTMAX", 0, "", import_softmax },
	{ "L2_NORMALIZATION", 0, "", import_l2_normalization },
	{ NULL, 0, NULL, NULL },
};
