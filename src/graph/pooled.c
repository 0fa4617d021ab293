/*
 * Moves average pooling before a pointwise convolution. Both are linear, so their order is free: where the pooling has
 * a stride, the convolution then computes as many pixels as are left. The transitions of DenseNet do a quarter of their
 * products. Left out: means over whole images, which the heads of networks put behind an activation anyway.
 */
#include "graph/edit.h"

/* No element of a window lies in the padding, so its weights have the sum 1, which a bias needs. */
static bool is_unpadded(const OpCall *pool)
{
	int n;
	const int64_t *pads = op_ints(pool, "pads", &n);
	for (int k = 0; k < n; k++)
		if (pads[k] != 0)
			return false;
	return op_int(pool, "ceil") == 0;
}

/* Fewer pixels save more than pooling the convolution's input costs, which may have more channels than its result. */
static bool saves(const Dag *d, const OpCall *conv, const OpCall *pool)
{
	const Value *x = &d->value.at[conv->in[0]], *y = &d->value.at[conv->out[0]], *z = &d->value.at[pool->out[0]];
	double kept = (double)shape_elements(z->shape) / (double)shape_elements(y->shape);
	double wider = (double)x->shape.dim[1] / (double)y->shape.dim[1];
	return op_flops(d, conv) * (1 - kept) > op_flops(d, pool) * (wider - 1);
}

static bool pool_first(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	const Dag *d = e->from;
	const Value *x = c->op == OP_avg_pool ? &d->value.at[c->in[0]] : NULL;
	const OpCall *conv = x != NULL && x->kind == VALUE_CALL ? &d->call.at[x->call] : NULL;
	if (conv == NULL || conv->op != OP_conv || e->uses[c->in[0]] != 1 || !op_is_pointwise(d, conv) ||
		!dtype_is_float(x->type) || shape_elements(x->shape) == 0 || !saves(d, conv, c))
		return false;
	bool bias = conv->nin > 2 && conv->in[2] != DAG_NONE;
	if (bias && !is_unpadded(c))
		return false;
	int in[3] = { edit_value(e, conv->in[0]), edit_value(e, conv->in[1]), DAG_NONE };
	in[0] = edit_call(e, OP_avg_pool, x->name, in, 1, c->attr, c->nattr);
	if (in[0] == DAG_NONE)
		return false;
	if (bias)
		in[2] = edit_value(e, conv->in[2]);
	return edit_call_as(e, c, OP_conv, in, bias ? 3 : 2, conv->attr, conv->nattr);
}

bool pass_pooled(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, pool_first, NULL, err);
}
