/*
 * Rows of operators that carry a state from call to call: convolutions that remember the end of their input, and
 * linear attention, whose state is a matrix for each head.
 */
#include "frontend/node/compose.h"
#include "frontend/onnx/rows.h"

#include <math.h>
#include <string.h>

/* A depthwise convolution of the last inputs of the call before and the new ones. */
static void import_causal_conv(Visit *v)
{
	const Item *x = node_need(v, 0), *w = node_need(v, 1), *past = node_in(v, 3);
	const char *activation = node_attr_text(v, "activation", "none");
	bool silu = strcmp(activation, "silu") == 0 || strcmp(activation, "swish") == 0;
	char s[160];
	if (node_ok(v) && !silu && strcmp(activation, "none") != 0)
		node_fail(v, ERR_INPUT, "its attribute activation is '%s', not none, silu or swish", activation);
	if (node_ok(v) && (x->shape.rank != 3 || w->shape.rank != 3))
		node_fail(v, ERR_UNSUPPORTED, "its input and weights have %d and %d dimensions; 3 are supported", x->shape.rank,
			w->shape.rank);
	if (node_ok(v) && w->shape.dim[2] < 1)
		node_fail(v, ERR_TYPE, "its weights have no taps");
	if (!node_ok(v))
		return;
	int64_t tail = w->shape.dim[2] - 1;
	Shape state = shape_of(3, (int64_t[]){ x->shape.dim[0], x->shape.dim[1], tail });
	if (past != NULL && !shape_eq(past->shape, state))
		node_fail(v, ERR_TYPE, "its past state of shape %s does not hold %lld inputs for each channel",
			shape_str(past->shape, s), (long long)tail);
	int before = past != NULL ? node_value(v, 3) : node_expand(v, node_number(v, x->type, 0), state);
	int both[] = { before, node_value(v, 0) }, padded = node_concat(v, both, 2, 2);
	int in[] = { padded, node_value(v, 1), node_value(v, 2) };
	Attr attr = attr_int("groups", x->shape.dim[1]);
	int y = node_call(v, OP_conv, in, 3, &attr, 1);
	if (silu)
		y = node_call2(v, OP_mul, y, node_call1(v, OP_sigmoid, y));
	node_set(v, 0, y);
	if (node_used(v, 1))
		node_set(v, 1, node_call1(v, OP_identity, node_slice(v, padded, 2, x->shape.dim[2], tail)));
}

/* In f32 if it has 16 bits: decays near 1 multiply over many steps. */
static int wide(Visit *v, int x)
{
	DType t = node_val(v, x)->type;
	return x != DAG_NONE && dtype_is_float(t) && t.bits < 32 ? node_cast(v, x, F32) : x;
}

/* Input k, [batch, steps, heads * size], with the heads apart; `size` 0: as many as there are. */
static int with_heads(Visit *v, int k, int64_t heads, int64_t size)
{
	const Item *x = node_need(v, k);
	char s[160];
	if (node_ok(v) && x->shape.rank != 3)
		node_fail(v, ERR_TYPE, "its input %d has %d dimensions, but 3 are needed", k + 1, x->shape.rank);
	if (node_ok(v) && (heads < 1 || x->shape.dim[2] % heads != 0))
		node_fail(v, ERR_TYPE, "its input %d of shape %s cannot be cut into %lld heads", k + 1, shape_str(x->shape, s),
			(long long)heads);
	if (!node_ok(v))
		return DAG_NONE;
	int64_t dim[] = { x->shape.dim[0], x->shape.dim[1], heads, x->shape.dim[2] / heads };
	int y = wide(v, node_view(v, node_value(v, k), 4, dim));
	dim[3] = size > 0 ? size : dim[3];
	return node_expand(v, y, shape_of(4, dim));
}

/* Decays are given as logarithms. Heads of queries may share the states of fewer heads. */
static void import_linear_attention(Visit *v)
{
	int64_t heads = node_attr_int(v, "q_num_heads", 0), shared = node_attr_int(v, "kv_num_heads", 0);
	const char *rule = node_attr_text(v, "update_rule", "gated_delta");
	bool delta = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
	bool gated = strcmp(rule, "gated") == 0 || strcmp(rule, "gated_delta") == 0;
	if (node_ok(v) && !delta && !gated && strcmp(rule, "linear") != 0)
		node_fail(v, ERR_INPUT, "its attribute update_rule is '%s', not linear, gated, delta or gated_delta", rule);
	if (node_ok(v) && gated != (node_in(v, 4) != NULL))
		node_fail(v, ERR_INPUT, "its update rule %s %s decay", rule, gated ? "needs a" : "takes no");
	if (node_ok(v) && delta != (node_in(v, 5) != NULL))
		node_fail(v, ERR_INPUT, "its update rule %s %s beta", rule, delta ? "needs a" : "takes no");
	int q = with_heads(v, 0, heads, 0), k = with_heads(v, 1, shared, 0), value = with_heads(v, 2, shared, 0);
	Shape keys = node_val(v, k)->shape;
	double scale = node_attr_float(v, "scale", 0);
	if (scale == 0 && node_ok(v) && keys.dim[3] > 0)
		scale = 1 / sqrt((double)keys.dim[3]);
	int decay = gated ? node_call1(v, OP_exp, with_heads(v, 4, shared, keys.dim[3])) : DAG_NONE, beta = DAG_NONE;
	if (delta) {
		const Item *b = node_need(v, 5);
		if (node_ok(v) && (b->shape.rank != 3 || (b->shape.dim[2] != 1 && b->shape.dim[2] != shared)))
			node_fail(v, ERR_TYPE, "its beta must have one number a step or one for each of %lld heads",
				(long long)shared);
		beta = node_expand(v, wide(v, node_value(v, 5)), shape_of(3, keys.dim));
	}
	int in[] = { node_with_number(v, OP_mul, q, scale), k, value, wide(v, node_value(v, 3)), decay, beta };
	int y = node_call(v, OP_linear_attention, in, 6, NULL, 0);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, y)->shape;
	DType t = node_need(v, 0)->type;
	node_set(v, 1, node_cast(v, v->im->dag->call.at[node_val(v, y)->call].out[1], t));
	node_set(v, 0, node_cast(v, node_view(v, y, 3, (int64_t[]){ s.dim[0], s.dim[1], s.dim[2] * s.dim[3] }), t));
}

const NodeRow onnx_state_rows[] = {
	{ "CausalConvWithState", 27, "", import_causal_conv },
	{ "LinearAttention", 27, "chunk_size", import_linear_attention },
	{ NULL, 0, NULL, NULL },
};
