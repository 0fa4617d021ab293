/*
 * Rows of losses: the negative logarithm of the probability of a target class, weighted by class, reduced by mean or
 * sum. A class outside of the range counts as probability and weight 0, as gathers do; so does one that is ignored.
 */
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <string.h>

/* The weight of each target: that of its class, 0 where the class is ignored. DAG_NONE: all are 1. */
static int weight_of(Visit *v, int target, DType type)
{
	const Item *given = node_in(v, 2);
	int w = DAG_NONE;
	if (given != NULL) {
		Attr attr = attr_int("axis", 0);
		int in[] = { node_value(v, 2), target };
		w = node_call(v, OP_gather, in, 2, &attr, 1);
	}
	if (!node_has(v, "ignore_index"))
		return w;
	DType index = node_val(v, target)->type;
	int64_t ignored = node_attr_int(v, "ignore_index", -100);
	if (!node_ok(v))
		return DAG_NONE;
	void *data = arena_alloc(v->im->arena, 8);
	element_set_int(index, data, 0, ignored);
	int skip = node_call2(v, OP_equal, target, node_const(v, index, shape_of(0, NULL), data));
	int in[] = { skip, node_number(v, type, 0), w != DAG_NONE ? w : node_number(v, type, 1) };
	return node_call(v, OP_where, in, 3, NULL, 0);
}

/* The losses of log probabilities x[N,C,...] at classes [N,...], reduced as the attribute says. */
static int negative_log_likelihood(Visit *v, int x, DType type)
{
	const Item *classes = node_need(v, 1), *given = node_in(v, 2);
	const char *how = node_attr_text(v, "reduction", "mean");
	Shape s = node_val(v, x)->shape, one = s, without = { .rank = s.rank - 1 };
	char text[160];
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", s.rank);
	if (!node_ok(v))
		return DAG_NONE;
	one.dim[1] = 1;
	for (int k = 0; k < without.rank; k++)
		without.dim[k] = s.dim[k + (k > 0)];
	if (!shape_eq(classes->shape, without) || !dtype_is_int(classes->type))
		node_fail(v, ERR_TYPE, "its input '%s' must be integers of the shape %s", classes->name,
			shape_str(without, text));
	else if (given != NULL && (given->shape.rank != 1 || given->shape.dim[0] != s.dim[1]))
		node_fail(v, ERR_TYPE, "its weight '%s' has the shape %s, but there are %lld classes", given->name,
			shape_str(given->shape, text), (long long)s.dim[1]);
	bool mean = strcmp(how, "mean") == 0, none = strcmp(how, "none") == 0;
	if (node_ok(v) && !mean && !none && strcmp(how, "sum") != 0)
		node_fail(v, ERR_TYPE, "its attribute reduction is '%s', but must be none, sum or mean", how);
	if (!node_ok(v))
		return DAG_NONE;
	int target = node_value(v, 1);
	if (node_val(v, target)->type.bits < 32)
		target = node_cast(v, target, DT(INT, 32));
	Attr axis = attr_int("axis", 1), whole = attr_int("keep", 0);
	int in[] = { x, node_reshape(v, target, one) };
	int loss = node_call1(v, OP_neg, node_reshape(v, node_call(v, OP_gather_elements, in, 2, &axis, 1), without));
	int weight = weight_of(v, target, type);
	if (weight != DAG_NONE) {
		/* An ignored element may be infinite: 0 times it is NaN. */
		int zero = node_number(v, type, 0);
		int pick[] = { node_call2(v, OP_equal, weight, zero), zero, node_call2(v, OP_mul, loss, weight) };
		loss = node_call(v, OP_where, pick, 3, NULL, 0);
	}
	if (none)
		return loss;
	if (!mean || weight != DAG_NONE) {
		int sum = node_call(v, OP_reduce_sum, &loss, 1, &whole, 1);
		return mean ? node_call2(v, OP_div, sum, node_call(v, OP_reduce_sum, &weight, 1, &whole, 1)) : sum;
	}
	return node_call(v, OP_reduce_mean, &loss, 1, &whole, 1);
}

static void import_nll_loss(Visit *v)
{
	const Item *x = node_need(v, 0);
	node_set(v, 0, negative_log_likelihood(v, node_value(v, 0), x->type));
}

static void import_softmax_cross_entropy(Visit *v)
{
	const Item *x = node_need(v, 0);
	Attr attr = attr_int("axis", 1);
	int in = node_value(v, 0);
	if (node_ok(v) && x->shape.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", x->shape.rank);
	int log = node_call(v, OP_log_softmax, &in, 1, &attr, 1);
	node_set(v, 0, negative_log_likelihood(v, log, x->type));
	if (node_used(v, 1))
		node_set(v, 1, log);
}

const NodeRow onnx_loss_rows[] = {
	{ "NegativeLogLikelihoodLoss", 12, "", import_nll_loss },
	{ "SoftmaxCrossEntropyLoss", 12, "", import_softmax_cross_entropy },
	{ NULL, 0, NULL, NULL },
};
