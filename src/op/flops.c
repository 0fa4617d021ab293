/*
 * The least cost of a call: floating (or integer) operations, and bytes. A multiply-add counts 2, and taps in
 * the padding count too, as in the GFLOPS that papers give. A comparison, an addition, an exponential or a
 * square root count 1 each. Moving elements costs no operation.
 */
#include "op/shape.h"

#include <math.h>
#include <string.h>

static double elements(const Value *v)
{
	double n = 1;
	for (int k = 0; k < v->shape.rank; k++)
		n *= (double)v->shape.dim[k];
	return n;
}

/* The functions that op.def names: `each` operations for an element of what is counted. */

static double flops_each(const Dag *d, const OpCall *c, double each)
{
	return each * elements(&d->value.at[c->out[0]]);
}

static double flops_reduce(const Dag *d, const OpCall *c, double each)
{
	return each * elements(op_in(d, c, 0));
}

/* A kernel's taps for each element of the result. */
static double flops_conv(const Dag *d, const OpCall *c, double each)
{
	const Value *w = op_in(d, c, 1);
	for (int k = 1; k < w->shape.rank; k++)
		each *= (double)w->shape.dim[k];
	return flops_each(d, c, each);
}

/* Each element of x is multiplied by the taps of its channel. */
static double flops_conv_transpose(const Dag *d, const OpCall *c, double each)
{
	const Value *w = op_in(d, c, 1);
	for (int k = 1; k < w->shape.rank; k++)
		each *= (double)w->shape.dim[k];
	return flops_reduce(d, c, each);
}

/* Elimination takes two thirds of the cube of a side. */
static double flops_det(const Dag *d, const OpCall *c, double each)
{
	const Shape *x = &op_in(d, c, 0)->shape;
	return flops_reduce(d, c, each * 2 / 3 * (double)x->dim[x->rank - 1]);
}

/* Each is compared with those before it: half of a square. */
static double flops_suppress(const Dag *d, const OpCall *c, double each)
{
	return flops_reduce(d, c, each / 2);
}

static double flops_dense(const Dag *d, const OpCall *c, double each)
{
	return flops_each(d, c, each * (double)op_in(d, c, 1)->shape.dim[1]);
}

static double flops_matmul(const Dag *d, const OpCall *c, double each)
{
	const Shape *x = &op_in(d, c, 0)->shape;
	return flops_each(d, c, each * (double)x->dim[x->rank - 1 - (op_int(c, "ta") != 0)]);
}

/* The product of the state with the recurrent weights, once for each step. */
static double flops_recurrent(const Dag *d, const OpCall *c, double each)
{
	const Shape *r = &op_in(d, c, 1)->shape;
	return flops_each(d, c, each * (double)r->dim[1] * (double)r->dim[2]);
}

/* Both products, of the pairs of a query and a key that it sees. */
static double flops_attention(const Dag *d, const OpCall *c, double each)
{
	const int64_t *q = op_in(d, c, 0)->shape.dim, *v = op_in(d, c, 2)->shape.dim;
	double pairs = (double)q[2] * (double)v[2], past = (double)op_int(c, "past"), rows = (double)q[2];
	if (op_int(c, "causal") != 0 && past < (double)v[2] - 1) {
		double grow = fmin(rows, (double)v[2] - past); /* query i of these sees past + i + 1 keys */
		pairs = grow * (past + 1 + past + grow) / 2 + (rows - grow) * (double)v[2];
	}
	return each * (double)q[0] * (double)q[1] * pairs * (double)(q[3] + v[3]);
}

/* The key is written to the state and the query reads it. */
static double flops_linear_attention(const Dag *d, const OpCall *c, double each)
{
	return flops_each(d, c, each * (double)op_in(d, c, 0)->shape.dim[3]);
}

static double flops_window(const Dag *d, const OpCall *c, double each)
{
	int n;
	const int64_t *kernel = op_ints(c, "kernel", &n);
	for (int k = 0; k < n; k++)
		each *= (double)kernel[k];
	return flops_each(d, c, each);
}

/* Each element is compared with the last of the k best; each of these passes log k others of a heap, or k in order. */
static double flops_top_k(const Dag *d, const OpCall *c, double each)
{
	double k = (double)op_int(c, "k");
	return flops_reduce(d, c, each) + flops_each(d, c, each * log2(k + 1));
}

/* A square and a sum for each channel of the window beside the rest. */
static double flops_lrn(const Dag *d, const OpCall *c, double each)
{
	return flops_each(d, c, each + 2 * (double)op_int(c, "size"));
}

static double flops_resample(const Dag *d, const OpCall *c, double each)
{
	const Shape *index = &op_in(d, c, 1)->shape;
	return flops_each(d, c, each * (double)index->dim[index->rank - 1]);
}

#define OP(name, class, inputs, outputs, attrs, shape, naive, flops, ...) [OP_##name] = flops_##flops,
static double (*const count[OP_COUNT])(const Dag *d, const OpCall *c, double each) = {
#include "op/op.def"
};
#undef OP

double op_flops(const Dag *d, const OpCall *c)
{
	return count[c->op](d, c, op_row(c->op)->each);
}

double dag_flops(const Dag *d)
{
	double sum = 0;
	for (size_t i = 0; i < d->call.n; i++)
		sum += op_flops(d, &d->call.at[i]);
	return sum;
}

/* The most elements of operand k that so many elements of the results are made of. */
static double most_read(const Dag *d, const OpCall *c, int k, double results)
{
	OpClass class = op_row(c->op)->class;
	double all = elements(op_in(d, c, k));
	if (c->op == OP_resample && k == 0) {
		const Shape *index = &op_in(d, c, 1)->shape;
		return fmin(all, results * (double)index->dim[index->rank - 1]);
	}
	bool one = (class == OP_ELEMENTWISE && c->op != OP_bitcast) ||
	           (class == OP_MOVE && (k == 0 || c->op == OP_concat)); /* each is made of one */
	return one ? fmin(all, results) : all;
}

double dag_bytes(const Dag *d)
{
	Arena *a = arena_new();
	double sum = 0, *read = arena_array(a, double, d->value.n); /* elements of each value, at most */
	memset(read, 0, d->value.n * sizeof *read);
	for (size_t i = 0; i < d->output.n; i++) {
		const Value *v = &d->value.at[d->output.at[i]];
		sum += (double)value_bytes(v);
		read[d->output.at[i]] = elements(v);
	}
	for (size_t i = d->call.n; i-- > 0;) {
		const OpCall *c = &d->call.at[i];
		double results = 0;
		for (int k = 0; k < c->nout; k++)
			results += c->out[k] == DAG_NONE ? 0 : fmin(read[c->out[k]], elements(&d->value.at[c->out[k]]));
		for (int k = 0; k < c->nin; k++)
			if (c->in[k] != DAG_NONE)
				read[c->in[k]] += most_read(d, c, k, results);
	}
	for (size_t i = 0; i < d->value.n; i++) {
		const Value *v = &d->value.at[i];
		double all = elements(v);
		if (v->kind != VALUE_CALL)
			sum += (double)value_bytes(v) * (all > 0 ? fmin(read[i] / all, 1) : 0);
	}
	arena_free(a);
	return sum;
}
