/*
 * What a call costs at least: floating (or integer) operations and bytes.
 * A multiply-add counts 2, padding taps included, as everybody's GFLOPS do; a comparison, an
 * addition, an exponential or a square root count 1 each; moving elements costs none.
 */
#include "op/shape.h"

static double elements(const Value *v)
{
	double n = 1;
	for (int k = 0; k < v->shape.rank; k++)
		n *= (double)v->shape.dim[k];
	return n;
}

/* Operations of an elementwise operator per element of its result. */
static double per_element(int op)
{
	switch (op) {
	case OP_identity:
	case OP_cast: return 0;
	case OP_prelu:
	case OP_leaky_relu:
	case OP_clip: return 2;
	case OP_elu:
	case OP_sigmoid:
	case OP_hard_sigmoid: return 4;
	case OP_hard_swish:
	case OP_batch_norm: return 5;
	default: return 1;
	}
}

double op_flops(const Dag *d, const OpCall *c)
{
	const Value *x = op_in(d, c, 0), *y = &d->value.at[c->out[0]];
	double each = 1;
	switch (c->op) {
	case OP_conv:
		for (int k = 1; k < op_in(d, c, 1)->shape.rank; k++)
			each *= (double)op_in(d, c, 1)->shape.dim[k];
		return 2 * each * elements(y);
	case OP_dense: return 2 * elements(y) * (double)op_in(d, c, 1)->shape.dim[1];
	case OP_matmul:
		each = (double)x->shape.dim[x->shape.rank - 1 - (op_int(c, "ta") != 0)];
		return 2 * elements(y) * each;
	case OP_max_pool:
	case OP_avg_pool: {
		int n;
		const int64_t *kernel = op_ints(c, "kernel", &n);
		for (int k = 0; k < n; k++)
			each *= (double)kernel[k];
		return each * elements(y);
	}
	case OP_lrn: return elements(y) * (2 * (double)op_int(c, "size") + 4);
	case OP_softmax:
	case OP_log_softmax: return 5 * elements(y);
	case OP_reduce_sum:
	case OP_reduce_mean:
	case OP_reduce_max:
	case OP_reduce_min: return elements(x);
	default: break;
	}
	return op_row(c->op)->class == OP_MOVE ? 0 : per_element(c->op) * elements(y);
}

double dag_flops(const Dag *d)
{
	double sum = 0;
	for (size_t i = 0; i < d->call.n; i++)
		sum += op_flops(d, &d->call.at[i]);
	return sum;
}

double dag_bytes(const Dag *d)
{
	double sum = 0;
	for (size_t i = 0; i < d->value.n; i++)
		if (d->value.at[i].kind != VALUE_CALL)
			sum += (double)value_bytes(&d->value.at[i]);
	for (size_t i = 0; i < d->output.n; i++)
		sum += (double)value_bytes(&d->value.at[d->output.at[i]]);
	return sum;
}
