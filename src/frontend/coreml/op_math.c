/*
 * Rows of layers that compute each element by itself. Networks compute in floats, so a truth value is 1 or 0, and what
 * is not 0 is true.
 */
#include "frontend/coreml/coreml.h"

#include "frontend/node/activate.h"
#include "frontend/node/compose.h"

#include <string.h>

/* ---- activations */

static void import_activation(Visit *v)
{
	const CoremlActivation *p = coreml_params(v, CoremlActivation);
	const CoremlNumbers *two = p->scaledTanh != NULL ? p->scaledTanh : p->sigmoidHard;
	const CoremlNumber *one = p->leakyReLU != NULL         ? p->leakyReLU
	                          : p->thresholdedReLU != NULL ? p->thresholdedReLU
	                                                       : p->ELU;
	const char *name = p->ReLU != NULL              ? "relu"
	                   : p->leakyReLU != NULL       ? "leaky_relu"
	                   : p->thresholdedReLU != NULL ? "thresholded_relu"
	                   : p->tanh != NULL            ? "tanh"
	                   : p->scaledTanh != NULL      ? "scaled_tanh"
	                   : p->sigmoid != NULL         ? "sigmoid"
	                   : p->sigmoidHard != NULL     ? "hard_sigmoid"
	                   : p->ELU != NULL             ? "elu"
	                   : p->softsign != NULL        ? "softsign"
	                   : p->softplus != NULL        ? "softplus"
	                                                : NULL;
	node_need(v, 0);
	if (p->PReLU != NULL || p->parametricSoftplus != NULL) {
		Blob b = coreml_blob(v, 0);
		if (!node_ok(v))
			return;
		int64_t c = node_val(v, b.x)->shape.dim[1];
		const CoremlSoftplus *s = p->parametricSoftplus;
		int alpha = coreml_by_channel(v, "alpha", s != NULL ? s->alpha : p->PReLU->alpha, c);
		int y = s == NULL ? node_call2(v, OP_prelu, b.x, alpha)
		                  : node_call2(v, OP_mul, alpha,
								node_activate(v, node_call2(v, OP_mul, b.x, coreml_by_channel(v, "beta", s->beta, c)),
									"softplus"));
		coreml_set_blob(v, 0, y, &b);
		return;
	}
	int x = node_value(v, 0), y = DAG_NONE;
	if (p->linear != NULL)
		y = node_with_number(v, OP_add, node_with_number(v, OP_mul, x, import_number(F32, &p->linear->alpha)),
			import_number(F32, &p->linear->beta));
	else if (p->thresholdedReLU != NULL) /* x >= alpha ? x : 0 */
		y = node_where(v, node_call2(v, OP_less, x, node_number(v, F32, import_number(F32, &one->alpha))),
			node_number(v, F32, 0), x);
	else if (two != NULL)
		y = node_activate_with(v, x, name, import_number(F32, &two->alpha), import_number(F32, &two->beta));
	else if (one != NULL)
		y = node_activate_with(v, x, name, import_number(F32, &one->alpha), 0);
	else if (name != NULL)
		y = node_activate(v, x, name);
	else
		node_fail(v, ERR_UNSUPPORTED, "its activation is not known");
	node_set(v, 0, y);
}

static void import_clamped_relu(Visit *v)
{
	const CoremlNumbers *p = coreml_params(v, CoremlNumbers);
	node_need(v, 0);
	int y = node_activate_with(v, node_value(v, 0), "leaky_relu", import_number(F32, &p->alpha), 0);
	node_set(v, 0, node_with_number(v, OP_minimum, y, import_number(F32, &p->beta)));
}

static void import_clip(Visit *v)
{
	const CoremlClip *p = coreml_params(v, CoremlClip);
	node_need(v, 0);
	node_set(v, 0,
		node_activate_with(
			v, node_value(v, 0), "clip", import_number(F32, &p->minVal), import_number(F32, &p->maxVal)));
}

static void import_gelu(Visit *v)
{
	static const char *const modes[] = { "gelu", "gelu_tanh" };
	int64_t mode = coreml_params(v, CoremlMode)->mode;
	node_need(v, 0);
	int x = node_value(v, 0);
	if (mode < 0 || mode > 2)
		node_fail(v, ERR_UNSUPPORTED, "its mode %lld is not known", (long long)mode);
	node_set(v, 0, mode == 2 ? node_activate_with(v, x, "swish", 1.702, 0) : node_activate(v, x, modes[mode == 1]));
}

/* ---- a function of scale * x + shift */

enum { UNARY_SQRT, UNARY_RSQRT, UNARY_INVERSE, UNARY_POWER, UNARY_EXP, UNARY_LOG, UNARY_ABS, UNARY_THRESHOLD };

static void import_unary(Visit *v)
{
	const CoremlUnary *p = coreml_params(v, CoremlUnary);
	node_need(v, 0);
	int x = node_value(v, 0), y = DAG_NONE;
	double alpha = import_number(F32, &p->alpha), epsilon = p->epsilon == 0 ? 1e-6 : import_number(F32, &p->epsilon);
	if (p->scale != 0 && p->scale != 1)
		x = node_with_number(v, OP_mul, x, import_number(F32, &p->scale));
	if (p->shift != 0)
		x = node_with_number(v, OP_add, x, import_number(F32, &p->shift));
	switch (p->type) {
	case UNARY_SQRT: y = node_call1(v, OP_sqrt, x); break;
	case UNARY_RSQRT:
		y = node_call1(v, OP_sqrt, node_with_number(v, OP_add, x, epsilon));
		y = node_call2(v, OP_div, node_number(v, F32, 1), y);
		break;
	case UNARY_INVERSE:
		y = node_call2(v, OP_div, node_number(v, F32, 1), node_with_number(v, OP_add, x, epsilon));
		break;
	case UNARY_POWER: y = node_with_number(v, OP_pow, x, alpha); break;
	case UNARY_EXP: y = node_call1(v, OP_exp, x); break;
	case UNARY_LOG: y = node_call1(v, OP_log, x); break;
	case UNARY_ABS: y = node_call1(v, OP_abs, x); break;
	case UNARY_THRESHOLD: y = node_with_number(v, OP_maximum, x, alpha); break;
	default: node_fail(v, ERR_UNSUPPORTED, "its function %lld is not known", (long long)p->type);
	}
	node_set(v, 0, y);
}

/* Layers that are one operator of the Dag. */
static void import_function(Visit *v)
{
	static const struct {
		const char *name;
		int op;
	} rows[] = { { "ceil", OP_ceil }, { "floor", OP_floor }, { "sign", OP_sign }, { "round", OP_round },
		{ "sin", OP_sin }, { "cos", OP_cos }, { "tan", OP_tan }, { "asin", OP_asin }, { "acos", OP_acos },
		{ "atan", OP_atan }, { "sinh", OP_sinh }, { "cosh", OP_cosh }, { "tanh", OP_tanh }, { "asinh", OP_asinh },
		{ "acosh", OP_acosh }, { "atanh", OP_atanh }, { "erf", OP_erf }, { "copy", OP_identity } };
	node_need(v, 0);
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(v->node->op, rows[k].name) == 0)
			node_set(v, 0, node_call1(v, rows[k].op, node_value(v, 0)));
}

static void import_exp2(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_call1(v, OP_exp, node_with_number(v, OP_mul, node_value(v, 0), 0.69314718055994531)));
}

/* ---- two inputs or more */

/* Several inputs, with the number alpha where there is only one. */
static void import_sum(Visit *v)
{
	static const struct {
		const char *name;
		int op;
	} rows[] = { { "add", OP_add }, { "multiply", OP_mul }, { "average", OP_add }, { "max", OP_maximum },
		{ "min", OP_minimum }, { "maxBroadcastable", OP_maximum }, { "minBroadcastable", OP_minimum },
		{ "addBroadcastable", OP_add }, { "powBroadcastable", OP_pow }, { "divideBroadcastable", OP_div },
		{ "multiplyBroadcastable", OP_mul }, { "subtractBroadcastable", OP_sub } };
	int n = node_nin(v), op = 0;
	const char *name = v->node->op;
	bool scalar = strcmp(name, "add") == 0 || strcmp(name, "multiply") == 0;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(name, rows[k].name) == 0)
			op = rows[k].op;
	node_need(v, 0);
	int y = node_value(v, 0);
	if (n == 1 && scalar)
		y = node_with_number(v, op, y, import_number(F32, &coreml_params(v, CoremlNumber)->alpha));
	else if (n == 1 && strcmp(name, "average") != 0 && strcmp(name, "max") != 0 && strcmp(name, "min") != 0)
		node_fail(v, ERR_INPUT, "it has one input, but needs two");
	for (int k = 1; k < n; k++)
		y = node_call2(v, op, y, node_value(v, k));
	if (strcmp(name, "average") == 0 && n > 1)
		y = node_with_number(v, OP_mul, y, 1.0 / n);
	node_set(v, 0, y);
}

/* The remainder has the sign of the second input. */
static void import_mod(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	int in[] = { node_value(v, 0), node_value(v, 1) }, y;
	if (strcmp(v->node->op, "floorDivBroadcastable") == 0) {
		y = node_call1(v, OP_floor, node_call2(v, OP_div, in[0], in[1]));
	} else { /* a - floor(a / b) b */
		y = node_call1(v, OP_floor, node_call2(v, OP_div, in[0], in[1]));
		y = node_call2(v, OP_sub, in[0], node_call2(v, OP_mul, y, in[1]));
	}
	node_set(v, 0, y);
}

static int truth(Visit *v, int k)
{
	node_need(v, k);
	int x = node_value(v, k);
	return node_call1(v, OP_bit_not, node_call2(v, OP_equal, x, node_number(v, F32, 0)));
}

static void import_compare(Visit *v)
{
	static const struct {
		const char *name;
		int op;
		bool swap, not, first; /* the number's field is 1 */
	} rows[] = { { "equal", OP_equal, false, false, true }, { "notEqual", OP_equal, false, true, true },
		{ "lessThan", OP_less, false, false, false }, { "lessEqual", OP_less_equal, false, false, false },
		{ "greaterThan", OP_less, true, false, false }, { "greaterEqual", OP_less_equal, true, false, false } };
	node_need(v, 0);
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		if (strcmp(v->node->op, rows[k].name) != 0)
			continue;
		float number = rows[k].first ? coreml_params(v, CoremlNumber)->alpha : coreml_params(v, CoremlCompare)->alpha;
		int a = node_value(v, 0),
			b = node_nin(v) > 1 ? node_value(v, 1) : node_number(v, F32, import_number(F32, &number));
		int y = node_call2(v, rows[k].op, rows[k].swap ? b : a, rows[k].swap ? a : b);
		node_set(v, 0, node_cast(v, rows[k].not ? node_call1(v, OP_bit_not, y) : y, F32));
	}
}

static void import_logical(Visit *v)
{
	const char *name = v->node->op;
	int a = truth(v, 0), y;
	if (strcmp(name, "logicalNot") == 0)
		y = node_call1(v, OP_bit_not, a);
	else
		y = node_call2(v,
			strcmp(name, "logicalOr") == 0    ? OP_bit_or
			: strcmp(name, "logicalXor") == 0 ? OP_bit_xor
											  : OP_bit_and,
			a, truth(v, 1));
	node_set(v, 0, node_cast(v, y, F32));
}

static void import_where(Visit *v)
{
	int condition = truth(v, 0);
	node_need(v, 1);
	node_need(v, 2);
	node_set(v, 0, node_where(v, condition, node_value(v, 1), node_value(v, 2)));
}

const NodeRow coreml_math_rows[] = {
	{ "activation", 0, "", import_activation },
	{ "clampedReLU", 0, "", import_clamped_relu },
	{ "clip", 0, "", import_clip },
	{ "gelu", 0, "", import_gelu },
	{ "unary", 0, "", import_unary },
	{ "ceil", 0, "", import_function },
	{ "floor", 0, "", import_function },
	{ "sign", 0, "", import_function },
	{ "round", 0, "", import_function },
	{ "sin", 0, "", import_function },
	{ "cos", 0, "", import_function },
	{ "tan", 0, "", import_function },
	{ "asin", 0, "", import_function },
	{ "acos", 0, "", import_function },
	{ "atan", 0, "", import_function },
	{ "sinh", 0, "", import_function },
	{ "cosh", 0, "", import_function },
	{ "tanh", 0, "", import_function },
	{ "asinh", 0, "", import_function },
	{ "acosh", 0, "", import_function },
	{ "atanh", 0, "", import_function },
	{ "erf", 0, "", import_function },
	{ "copy", 0, "", import_function },
	{ "exp2", 0, "", import_exp2 },
	{ "add", 0, "", import_sum },
	{ "multiply", 0, "", import_sum },
	{ "average", 0, "", import_sum },
	{ "max", 0, "", import_sum },
	{ "min", 0, "", import_sum },
	{ "maxBroadcastable", 0, "", import_sum },
	{ "minBroadcastable", 0, "", import_sum },
	{ "addBroadcastable", 0, "", import_sum },
	{ "powBroadcastable", 0, "", import_sum },
	{ "divideBroadcastable", 0, "", import_sum },
	{ "multiplyBroadcastable", 0, "", import_sum },
	{ "subtractBroadcastable", 0, "", import_sum },
	{ "modBroadcastable", 0, "", import_mod },
	{ "floorDivBroadcastable", 0, "", import_mod },
	{ "equal", 0, "", import_compare },
	{ "notEqual", 0, "", import_compare },
	{ "lessThan", 0, "", import_compare },
	{ "lessEqual", 0, "", import_compare },
	{ "greaterThan", 0, "", import_compare },
	{ "greaterEqual", 0, "", import_compare },
	{ "logicalAnd", 0, "", import_logical },
	{ "logicalOr", 0, "", import_logical },
	{ "logicalXor", 0, "", import_logical },
	{ "logicalNot", 0, "", import_logical },
	{ "whereBroadcastable", 0, "", import_where },
	{ NULL, 0, NULL, NULL },
};
