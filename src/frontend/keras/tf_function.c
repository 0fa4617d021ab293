/*
 * Calls of TensorFlow's functions in networks of tf.keras 2, layers TFOpLambda and SlicingOpLambda, as functions of
 * keras.ops: "math.multiply" is Multiply. Their settings are arguments of the call.
 */
#include "frontend/keras/keras.h"

#include <string.h>

/* The function, without "compat.v1." before it, and that of keras.ops. */
static const char *const functions[][2] = {
	{ "__operators__.add", "Add" },
	{ "__operators__.eq", "Equal" },
	{ "__operators__.ne", "NotEqual" },
	{ "__operators__.getitem", "GetItem" },
	{ "math.add", "Add" },
	{ "math.subtract", "Subtract" },
	{ "math.multiply", "Multiply" },
	{ "math.divide", "Divide" },
	{ "math.truediv", "TrueDivide" },
	{ "math.floordiv", "FloorDivide" },
	{ "math.floormod", "Mod" },
	{ "math.pow", "Power" },
	{ "math.maximum", "Maximum" },
	{ "math.minimum", "Minimum" },
	{ "math.less", "Less" },
	{ "math.less_equal", "LessEqual" },
	{ "math.greater", "Greater" },
	{ "math.greater_equal", "GreaterEqual" },
	{ "math.equal", "Equal" },
	{ "math.not_equal", "NotEqual" },
	{ "math.logical_and", "LogicalAnd" },
	{ "math.logical_or", "LogicalOr" },
	{ "math.logical_not", "LogicalNot" },
	{ "math.negative", "Negative" },
	{ "math.abs", "Absolute" },
	{ "math.sign", "Sign" },
	{ "math.exp", "Exp" },
	{ "math.expm1", "Expm1" },
	{ "math.log", "Log" },
	{ "math.log1p", "Log1p" },
	{ "math.sqrt", "Sqrt" },
	{ "math.rsqrt", "Rsqrt" },
	{ "math.reciprocal", "Reciprocal" },
	{ "math.square", "Square" },
	{ "math.sin", "Sin" },
	{ "math.cos", "Cos" },
	{ "math.erf", "Erf" },
	{ "math.floor", "Floor" },
	{ "math.ceil", "Ceil" },
	{ "math.sigmoid", "Sigmoid" },
	{ "math.tanh", "Tanh" },
	{ "math.softplus", "Softplus" },
	{ "nn.relu", "Relu" },
	{ "nn.relu6", "Relu6" },
	{ "nn.leaky_relu", "LeakyRelu" },
	{ "nn.elu", "Elu" },
	{ "nn.selu", "Selu" },
	{ "nn.gelu", "Gelu" },
	{ "nn.silu", "Silu" },
	{ "nn.swish", "Silu" },
	{ "nn.softsign", "Softsign" },
	{ "nn.softmax", "Softmax" },
	{ "nn.log_softmax", "LogSoftmax" },
	{ "math.reduce_mean", "Mean" },
	{ "math.reduce_sum", "Sum" },
	{ "math.reduce_max", "Max" },
	{ "math.reduce_min", "Min" },
	{ "math.reduce_prod", "Prod" },
	{ "math.reduce_any", "Any" },
	{ "math.reduce_all", "All" },
	{ "math.reduce_variance", "Var" },
	{ "math.reduce_std", "Std" },
	{ "math.reduce_logsumexp", "Logsumexp" },
	{ "math.argmax", "Argmax" },
	{ "math.argmin", "Argmin" },
	{ "math.cumsum", "Cumsum" },
	{ "math.l2_normalize", "L2Normalize" },
	{ "linalg.matmul", "Matmul" },
	{ "clip_by_value", "Clip" },
	{ "where", "Where" },
	{ "cast", "Cast" },
	{ "reshape", "Reshape" },
	{ "transpose", "Transpose" },
	{ "expand_dims", "ExpandDims" },
	{ "squeeze", "Squeeze" },
	{ "concat", "Concatenate" },
	{ "stack", "Stack" },
	{ "unstack", "Unstack" },
	{ "split", "Split" },
	{ "pad", "Pad" },
	{ "tile", "Tile" },
	{ "repeat", "Repeat" },
	{ "reverse", "Flip" },
	{ "broadcast_to", "BroadcastTo" },
	{ "gather", "Take" },
	{ "one_hot", "OneHot" },
	{ "zeros_like", "ZerosLike" },
	{ "ones_like", "OnesLike" },
};

/* Arguments that keras.ops calls otherwise. */
static const struct {
	const char *op, *old, *now;
} words[] = { { "LeakyRelu", "alpha", "negative_slope" }, { "Clip", "clip_value_min", "x_min" },
	{ "Clip", "clip_value_max", "x_max" }, { "Reshape", "shape", "newshape" }, { "Transpose", "perm", "axes" },
	{ "Pad", "paddings", "pad_width" }, { "Tile", "multiples", "repeats" }, { "OneHot", "depth", "num_classes" } };

bool keras_tf_function(const KerasLayer *l, const char **function)
{
	const Json *at = json_find(l->config, "function");
	if (strcmp(l->op, "TFOpLambda") != 0 && strcmp(l->op, "SlicingOpLambda") != 0)
		return false;
	*function = at != NULL && at->kind == JV_TEXT ? at->text : "";
	return true;
}

const char *keras_from_tf(Arena *a, const char *function, const Json *kwargs, Json *settings)
{
	const char *name = strncmp(function, "compat.v1.", 10) == 0 ? function + 10 : function, *op = NULL;
	for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
		if (strcmp(functions[k][0], name) == 0)
			op = functions[k][1];
	for (size_t k = 0; op != NULL && kwargs != NULL && kwargs->kind == JV_OBJECT && k < kwargs->list.n; k++) {
		Json *at = arena_new_of(a, Json);
		*at = *kwargs->list.at[k];
		const char *key = at->key;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if (strcmp(words[i].op, op) == 0 && strcmp(words[i].old, key) == 0)
				key = words[i].now;
		/* Tensors are inputs, and numbers beside tensors are read as arguments. */
		if (strcmp(key, "name") != 0 && strcmp(key, "x") != 0 && strcmp(key, "y") != 0 && at->kind != JV_NULL &&
			keras_count_tensors(at, true) == 0)
			json_set(a, settings, key, at);
	}
	return op;
}
