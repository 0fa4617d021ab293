/*
 * Reductions over axes, the places of extremes, and softmax, which is two of them with elementwise blocks between.
 * Spatial loops lie outside, reduced ones inside, each in the order of the tensor's dimensions.
 */
#include "op/naive.h"

#include <string.h>

/*
 * The axes of a reduction over x. at_x gets an iterator for each dimension; at_y those of the dimensions
 * that are kept. Reduced ones are 0 in at_y (keep) or missing. Returns the length of at_y.
 */
static int reduce_axes(Nest *nest, Shape s, const bool *over, bool keep, const Expr **at_x, const Expr **at_y)
{
	int n = 0;
	for (int k = 0; k < s.rank; k++)
		if (!over[k])
			at_x[k] = nest_axis(nest, axis_name(s.rank, k), ITER_SPATIAL, s.dim[k]);
	for (int k = 0; k < s.rank; k++)
		if (over[k])
			at_x[k] = nest_axis(nest, axis_name(s.rank, k), ITER_REDUCE, s.dim[k]);
	for (int k = 0; k < s.rank; k++)
		if (!over[k])
			at_y[n++] = at_x[k];
		else if (keep)
			at_y[n++] = ir_int(nest->nv->ir, 0);
	return n;
}

static void divide(Naive *nv, Buf *acc, Buf *out, int64_t count)
{
	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK];
	nest_shape(&nest, naive_out(nv, 0)->shape, idx);
	const Expr *v = ir_load(nv->ir, acc, idx, acc->rank);
	bool mean = nv->c->op == OP_reduce_mean;
	if (mean)
		v = naive_div(nv, v, ir_const(nv->ir, acc->type, (double)count));
	nest_close(&nest, mean ? "mean" : "round", NULL, naive_store(nv, out, idx, v));
}

void naive_reduce(Naive *nv)
{
	const Value *x = naive_in(nv, 0), *y = naive_out(nv, 0);
	int naxes;
	const int64_t *axes = op_ints(nv->c, "axes", &naxes);
	bool over[DAG_MAX_RANK], mean = nv->c->op == OP_reduce_mean;
	bool extreme = nv->c->op == OP_reduce_max || nv->c->op == OP_reduce_min;
	int64_t count = 1;
	memset(over, naxes == 0, sizeof over);
	for (int i = 0; i < naxes; i++)
		over[axes[i]] = true;
	for (int k = 0; k < x->shape.rank; k++)
		count *= over[k] ? x->shape.dim[k] : 1;
	Buf *out = naive_buf(nv, nv->c->out[0]);
	DType t = extreme ? out->type : naive_acc(nv, y->type);
	if (mean && t.kind == DT_INT)
		t = I64; /* a sum of i32 may overflow where the mean does not */
	Buf *acc = !mean && dtype_eq(t, out->type) ? out : naive_work(nv, "sum", t, y->shape);

	Nest nest = { .nv = nv };
	const Expr *at_x[DAG_MAX_RANK], *at_y[DAG_MAX_RANK];
	reduce_axes(&nest, x->shape, over, op_int(nv->c, "keep") != 0, at_x, at_y);
	const char *monoid = "sum";
	if (extreme && nv->c->op == OP_reduce_max)
		monoid = t.kind == DT_BOOL ? "or" : "max";
	else if (extreme)
		monoid = t.kind == DT_BOOL ? "and" : "min";
	const Expr *start = ir_const(nv->ir, t, 0);
	if (extreme)
		start = naive_extreme(nv, t, nv->c->op == OP_reduce_max);
	if (nv->c->op == OP_reduce_prod) {
		monoid = "prod";
		start = ir_const(nv->ir, t, 1);
	}
	if (nest.n > 0 && nest.iter[nest.n - 1].kind == ITER_REDUCE)
		nest_close(&nest, NULL, naive_store(nv, acc, at_y, start),
			ir_reduce(nv->ir, monoid, acc, at_y, acc->rank, naive_load(nv, 0, at_x, t)));
	else /* a scalar: nothing is reduced */
		nest_close(&nest, NULL, NULL, naive_store(nv, acc, at_y, naive_load(nv, 0, at_x, t)));
	if (acc != out)
		divide(nv, acc, out, count);
}

/*
 * The extreme of a line first, then the least place (with `last` the greatest) that holds it. A NaN is the extreme of
 * its line, and NaN is not equal to itself.
 */
void naive_arg(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0), *y = naive_out(nv, 0);
	int axis = (int)op_int(nv->c, "axis");
	bool over[DAG_MAX_RANK] = { 0 }, keep = op_int(nv->c, "keep") != 0, last = op_int(nv->c, "last") != 0;
	bool max = nv->c->op == OP_arg_max;
	DType t = naive_type(nv, x->type);
	Buf *out = naive_buf(nv, nv->c->out[0]), *extreme = naive_work(nv, "extreme", t, y->shape);
	const Expr *at_x[DAG_MAX_RANK], *at_y[DAG_MAX_RANK];
	over[axis] = true;

	Nest nest = { .nv = nv };
	reduce_axes(&nest, x->shape, over, keep, at_x, at_y);
	const Expr *v = naive_load(nv, 0, at_x, t);
	nest_close(&nest, "extreme", naive_store(nv, extreme, at_y, naive_extreme(nv, t, max)),
		ir_reduce(ir, max ? "max" : "min", extreme, at_y, extreme->rank, v));

	Nest places = { .nv = nv };
	reduce_axes(&places, x->shape, over, keep, at_x, at_y);
	v = naive_load(nv, 0, at_x, t);
	const Expr *here = ir_eq(ir, v, ir_load(ir, extreme, at_y, extreme->rank));
	if (dtype_is_float(t))
		here = ir_binary(ir, IR_OR, here, ir_unary(ir, IR_ISNAN, v));
	const Expr *none = ir_int(ir, last ? -1 : x->shape.dim[axis]);
	nest_close(&places, NULL, naive_store(nv, out, at_y, none),
		ir_reduce(ir, last ? "max" : "min", out, at_y, out->rank, ir_select(ir, here, at_x[axis], none)));
}

/* One of the two reductions of softmax: over input 0 (src NULL) or over a work buffer. */
static void reduce_line(
	Naive *nv, const char *what, const char *monoid, Buf *src, Buf *dst, const bool *over, const Expr *start)
{
	Nest nest = { .nv = nv };
	const Expr *at_x[DAG_MAX_RANK], *at_y[DAG_MAX_RANK];
	reduce_axes(&nest, naive_in(nv, 0)->shape, over, false, at_x, at_y);
	const Expr *v = src != NULL ? ir_load(nv->ir, src, at_x, src->rank) : naive_load(nv, 0, at_x, dst->type);
	nest_close(&nest, what, naive_store(nv, dst, at_y, start), ir_reduce(nv->ir, monoid, dst, at_y, dst->rank, v));
}

/* The element of a buffer that has one value for each line. */
static const Expr *of_line(Naive *nv, const Buf *b, const Expr *const *idx, int rank, int axis)
{
	const Expr *at[DAG_MAX_RANK];
	int n = 0;
	for (int k = 0; k < rank; k++)
		if (k != axis)
			at[n++] = idx[k];
	return ir_load(nv->ir, b, at, n);
}

void naive_softmax(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0);
	Shape s = x->shape, lines = { 0 };
	int axis = (int)op_int(nv->c, "axis");
	bool over[DAG_MAX_RANK] = { 0 }, is_log = nv->c->op == OP_log_softmax;
	DType t = naive_acc(nv, x->type);
	if (axis < 0)
		axis += s.rank;
	over[axis] = true;
	for (int k = 0; k < s.rank; k++)
		if (k != axis)
			lines.dim[lines.rank++] = s.dim[k];
	Buf *max = naive_work(nv, "max", t, lines), *e = naive_work(nv, "exp", t, s);
	Buf *sum = naive_work(nv, "sum", t, lines), *out = naive_buf(nv, nv->c->out[0]);
	Buf *of_sum = naive_work(nv, is_log ? "log" : "inverse", t, lines);

	reduce_line(nv, "max", "max", NULL, max, over, naive_extreme(nv, t, true));
	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK];
	nest_shape(&nest, s, idx);
	const Expr *above = ir_sub(ir, naive_load(nv, 0, idx, t), of_line(nv, max, idx, s.rank, axis));
	nest_close(&nest, "exp", NULL, naive_store(nv, e, idx, ir_unary(ir, IR_EXP, above)));
	reduce_line(nv, "sum", "sum", e, sum, over, ir_const(ir, t, 0));

	Nest line = { .nv = nv }; /* once for a line, not for each element */
	int n = 0;
	for (int k = 0; k < s.rank; k++)
		if (k != axis)
			idx[n++] = nest_axis(&line, axis_name(s.rank, k), ITER_SPATIAL, s.dim[k]);
	const Expr *total = ir_load(ir, sum, idx, n);
	nest_close(&line, is_log ? "log" : "inverse", NULL,
		naive_store(nv, of_sum, idx, is_log ? ir_unary(ir, IR_LOG, total) : ir_div(ir, ir_const(ir, t, 1), total)));

	Nest last = { .nv = nv };
	nest_shape(&last, s, idx);
	const Expr *of = of_line(nv, of_sum, idx, s.rank, axis), *v;
	if (is_log)
		v = ir_sub(ir, ir_sub(ir, naive_load(nv, 0, idx, t), of_line(nv, max, idx, s.rank, axis)), of);
	else
		v = ir_mul(ir, ir_load(ir, e, idx, s.rank), of);
	nest_close(&last, NULL, NULL, naive_store(nv, out, idx, v));
}
