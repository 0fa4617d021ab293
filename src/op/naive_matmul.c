/* Products: dense and matmul. Loops of batch dimensions b0, b1, ..., then m, n, k. */
#include "op/naive.h"

static const char *const batch_axes[] = { "b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7" };

static void finish(Naive *nv, Nest *nest, const Expr *const *at, Buf *acc, const Expr *start, const Expr *product)
{
	Buf *out = naive_buf(nv, nv->c->out[0]);
	nest_close(nest, NULL, naive_store(nv, acc, at, start), ir_reduce(nv->ir, "sum", acc, at, acc->rank, product));
	if (acc == out)
		return;
	Nest last = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK];
	nest_shape(&last, naive_out(nv, 0)->shape, idx);
	nest_close(&last, "round", NULL, naive_store(nv, out, idx, ir_load(nv->ir, acc, idx, acc->rank)));
}

static Buf *accumulator(Naive *nv)
{
	Buf *out = naive_buf(nv, nv->c->out[0]);
	DType t = naive_acc(nv, naive_out(nv, 0)->type);
	return dtype_eq(out->type, t) ? out : naive_work(nv, "acc", t, naive_out(nv, 0)->shape);
}

void naive_dense(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0), *w = naive_in(nv, 1);
	Buf *acc = accumulator(nv);
	DType t = acc->type;
	int lead = x->shape.rank - 1;
	Nest nest = { .nv = nv };
	const Expr *at_y[DAG_MAX_RANK], *at_x[DAG_MAX_RANK], *at_w[2];
	for (int k = 0; k < lead; k++)
		at_x[k] = at_y[k] = nest_axis(&nest, k == lead - 1 ? "m" : batch_axes[k], ITER_SPATIAL, x->shape.dim[k]);
	at_w[0] = at_y[lead] = nest_axis(&nest, "n", ITER_SPATIAL, w->shape.dim[0]);
	at_w[1] = at_x[lead] = nest_axis(&nest, "k", ITER_REDUCE, w->shape.dim[1]);
	const Expr *product = ir_mul(ir, naive_load(nv, 0, at_x, t), naive_load(nv, 1, at_w, t));
	const Expr *bias = ir_const(ir, t, 0);
	if (naive_in(nv, 2) != NULL)
		bias = naive_load(nv, 2, &at_y[lead], t);
	finish(nv, &nest, at_y, acc, bias, product);
}

void naive_matmul(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *a = naive_in(nv, 0), *b = naive_in(nv, 1), *y = naive_out(nv, 0);
	bool ta = op_int(nv->c, "ta") != 0, tb = op_int(nv->c, "tb") != 0;
	int ra = a->shape.rank, rb = b->shape.rank;
	Buf *acc = accumulator(nv);
	DType t = acc->type;
	Nest nest = { .nv = nv };
	const Expr *at_y[DAG_MAX_RANK], *at_a[DAG_MAX_RANK], *at_b[DAG_MAX_RANK], *zero = ir_int(ir, 0);
	const Expr *m = NULL, *n = NULL;
	int batch = y->shape.rank - (ra > 1) - (rb > 1), at = batch;
	for (int k = 0; k < batch; k++)
		at_y[k] = nest_axis(&nest, batch_axes[k], ITER_SPATIAL, y->shape.dim[k]);
	if (ra > 1)
		at_y[at++] = m = nest_axis(&nest, "m", ITER_SPATIAL, y->shape.dim[batch]);
	if (rb > 1)
		at_y[at] = n = nest_axis(&nest, "n", ITER_SPATIAL, y->shape.dim[y->shape.rank - 1]);
	const Expr *k = nest_axis(&nest, "k", ITER_REDUCE, a->shape.dim[ra - 1 - (ta ? 1 : 0)]);
	for (int i = 0; i < ra - 2; i++)
		at_a[i] = a->shape.dim[i] == 1 ? zero : at_y[batch - (ra - 2) + i];
	for (int i = 0; i < rb - 2; i++)
		at_b[i] = b->shape.dim[i] == 1 ? zero : at_y[batch - (rb - 2) + i];
	if (ra > 1) {
		at_a[ra - 2] = ta ? k : m;
		at_a[ra - 1] = ta ? m : k;
	} else {
		at_a[0] = k;
	}
	if (rb > 1) {
		at_b[rb - 2] = tb ? n : k;
		at_b[rb - 1] = tb ? k : n;
	} else {
		at_b[0] = k;
	}
	finish(
		nv, &nest, at_y, acc, ir_const(ir, t, 0), ir_mul(ir, naive_load(nv, 0, at_a, t), naive_load(nv, 1, at_b, t)));
}
