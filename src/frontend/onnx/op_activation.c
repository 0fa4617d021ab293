/*
 * Rows of activation functions. Most are those of all formats (frontend/node/activate.h).
 */
#include "frontend/node/activate.h"
#include "frontend/node/compose.h"
#include "frontend/onnx/rows.h"

#include <string.h>

/* Input 0 through an activation of the table. */
static void activate(Visit *v, const char *name, double a, double b)
{
	node_need(v, 0);
	node_set(v, 0, node_activate_with(v, node_value(v, 0), name, a, b));
}

#define WITH_ALPHA(name, otherwise) \
	static void import_##name(Visit *v) \
	{ \
		activate(v, #name, node_attr_float(v, "alpha", otherwise), 0); \
	}
#define PLAIN(name) \
	static void import_##name(Visit *v) \
	{ \
		activate(v, #name, 0, 0); \
	}
WITH_ALPHA(leaky_relu, 0.01)
WITH_ALPHA(elu, 1)
WITH_ALPHA(celu, 1)
WITH_ALPHA(swish, 1)
WITH_ALPHA(thresholded_relu, 1)
PLAIN(hard_swish)
PLAIN(softsign)
PLAIN(softplus)
PLAIN(mish)

static void import_hard_sigmoid(Visit *v)
{
	activate(v, "hard_sigmoid", node_attr_float(v, "alpha", 0.2), node_attr_float(v, "beta", 0.5));
}

static void import_selu(Visit *v)
{
	activate(v, "selu", node_attr_float(v, "gamma", 1.050701), node_attr_float(v, "alpha", 1.6732632));
}

static void import_gelu(Visit *v)
{
	const char *how = node_attr_text(v, "approximate", "none");
	bool tanh = strcmp(how, "tanh") == 0;
	if (node_ok(v) && !tanh && strcmp(how, "none") != 0)
		node_fail(v, ERR_INPUT, "its attribute approximate is '%s', but must be none or tanh", how);
	activate(v, tanh ? "gelu_tanh" : "gelu", 0, 0);
}

/* ---- of ONNX Runtime */

/* Input 0, with the bias of input 1 if there is one, through an activation of the table. */
static void activate_biased(Visit *v, const char *name, double a)
{
	node_need(v, 0);
	int x = node_value(v, 0);
	if (node_in(v, 1) != NULL)
		x = node_call2(v, OP_add, x, node_value(v, 1));
	node_set(v, 0, node_activate_with(v, x, name, a, 0));
}

static void import_bias_gelu(Visit *v)
{
	node_need(v, 1);
	activate_biased(v, "gelu", 0);
}

static void import_fast_gelu(Visit *v)
{
	activate_biased(v, "gelu_tanh", 0);
}

static void import_quick_gelu(Visit *v)
{
	activate(v, "swish", node_attr_float(v, "alpha", 1.702), 0);
}

/* x < -lambd ? x + bias : x > lambd ? x - bias : 0; of integers in f64 */
static void import_shrink(Visit *v)
{
	DType type = node_need(v, 0)->type;
	int x = node_cast(v, node_value(v, 0), dtype_is_float(type) && type.bits < 32 ? F32 : type);
	double bias = node_attr_float(v, "bias", 0), lambd = node_attr_float(v, "lambd", 0.5);
	if (node_ok(v) && !dtype_is_float(node_val(v, x)->type))
		x = node_cast(v, x, F64);
	DType t = node_val(v, x)->type;
	int zero = node_number(v, t, 0);
	int above = node_call2(v, OP_less, node_number(v, t, lambd), x), below = node_with_number(v, OP_less, x, -lambd);
	int y = node_where(v, above, node_with_number(v, OP_sub, x, bias), zero);
	y = node_where(v, below, node_with_number(v, OP_add, x, bias), y);
	node_set(v, 0, node_cast(v, y, type));
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
	{ "com.microsoft::Gelu", 1, "", import_gelu },
	{ "com.microsoft::BiasGelu", 1, "", import_bias_gelu },
	{ "com.microsoft::FastGelu", 1, "", import_fast_gelu },
	{ "com.microsoft::QuickGelu", 1, "", import_quick_gelu },
	{ "Softplus", 1, "", import_softplus },
	{ "Softsign", 1, "", import_softsign },
	{ "Shrink", 9, "", import_shrink },
	{ "ThresholdedRelu", 10, "", import_thresholded_relu },
	{ NULL, 0, NULL, NULL },
};
