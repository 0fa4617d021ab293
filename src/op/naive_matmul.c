/* Products and determinants: dense, matmul, det. Loops of batch dimensions b0, b1, ..., then m, n, k. */
#include "op/naive.h"

#include <string.h>

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

/*
 * Gaussian elimination with partial pivoting in a copy of the matrix. A matrix is one instance of the block; the loops
 * inside are serial. Elements of neighbouring matrices lie side by side in the copy, for lanes.
 */
typedef struct Elimination {
	Naive *nv;
	Nest nest;
	int batch;
	const Expr *at[DAG_MAX_RANK]; /* of the matrix */
	Buf *copy, *product, *most, *pivot;
} Elimination;

static const Expr *at_cell(Elimination *e, const Expr *row, const Expr *column)
{
	const Expr *at[DAG_MAX_RANK] = { row, column };
	memcpy(&at[2], e->at, sizeof *at * (size_t)e->batch);
	return ir_load(e->nv->ir, e->copy, at, e->batch + 2);
}

static Stmt *set_cell(Elimination *e, const Expr *row, const Expr *column, const Expr *value)
{
	const Expr *at[DAG_MAX_RANK] = { row, column };
	memcpy(&at[2], e->at, sizeof *at * (size_t)e->batch);
	return ir_store(e->nv->ir, e->copy, at, e->batch + 2, value);
}

static const Expr *of_matrix(const Elimination *e, const Buf *b)
{
	return ir_load(e->nv->ir, b, e->at, e->batch);
}

static Stmt *set_of_matrix(const Elimination *e, const Buf *b, const Expr *value)
{
	return ir_store(e->nv->ir, b, e->at, e->batch, value);
}

static const char *loop_name(Naive *nv, const char *stem)
{
	return ir_name(nv->ir, names_give(nv->names, stem));
}

/* The row from c on whose element of column c is the largest. */
static Stmt *find_pivot(Elimination *e, const Expr *c, const Expr *n)
{
	Ir *ir = e->nv->ir;
	const char *row = loop_name(e->nv, "r");
	const Expr *r = ir_idx(ir, row), *size = ir_unary(ir, IR_ABS, at_cell(e, r, c));
	const Expr *more = ir_lt(ir, of_matrix(e, e->most), size);
	Stmt *s = set_of_matrix(e, e->most, ir_unary(ir, IR_ABS, at_cell(e, c, c)));
	ir_seq(s, set_of_matrix(e, e->pivot, c));
	Stmt *take = set_of_matrix(e, e->pivot, ir_select(ir, more, r, of_matrix(e, e->pivot)));
	ir_seq(take, set_of_matrix(e, e->most, ir_select(ir, more, size, of_matrix(e, e->most))));
	ir_seq(s, ir_for(ir, row, c, n, LOOP_SERIAL, take));
	return s;
}

/* Exchanges row c and the pivot's. */
static Stmt *exchange_rows(Elimination *e, const Expr *c, const Expr *n)
{
	Ir *ir = e->nv->ir;
	const char *column = loop_name(e->nv, "j"), *upper = loop_name(e->nv, "upper"), *lower = loop_name(e->nv, "lower");
	const Expr *j = ir_idx(ir, column), *last = ir_sub(ir, n, ir_int(ir, 1));
	const Expr *r = ir_max(ir, ir_int(ir, 0), ir_min(ir, last, of_matrix(e, e->pivot))); /* for proofs */
	const Expr *a = ir_var(ir, upper, e->copy->type), *b = ir_var(ir, lower, e->copy->type);
	Stmt *s = ir_let(ir, upper, at_cell(e, c, j));
	ir_seq(s, ir_let(ir, lower, at_cell(e, r, j)));
	ir_seq(s, set_cell(e, c, j, b));
	ir_seq(s, set_cell(e, r, j, a));
	return ir_for(ir, column, c, n, LOOP_SERIAL, s);
}

/* Subtracts row c from those below, so that their column c becomes 0; a pivot of 0 leaves them. */
static Stmt *eliminate(Elimination *e, const Expr *c, const Expr *n)
{
	Ir *ir = e->nv->ir;
	const char *row = loop_name(e->nv, "r"), *column = loop_name(e->nv, "j"), *factor = loop_name(e->nv, "factor");
	const Expr *r = ir_idx(ir, row), *j = ir_idx(ir, column), *below = ir_add(ir, c, ir_int(ir, 1));
	const Expr *pivot = at_cell(e, c, c), *zero = ir_const(ir, e->copy->type, 0);
	Stmt *s = ir_let(ir, factor,
		ir_select(ir, ir_eq(ir, pivot, zero), zero, ir_div(ir, at_cell(e, r, c), pivot)));
	const Expr *less = ir_mul(ir, ir_var(ir, factor, e->copy->type), at_cell(e, c, j));
	ir_seq(s, ir_for(ir, column, below, n, LOOP_SERIAL, set_cell(e, r, j, ir_sub(ir, at_cell(e, r, j), less))));
	return ir_for(ir, row, below, n, LOOP_SERIAL, s);
}

void naive_det(Naive *nv)
{
	Ir *ir = nv->ir;
	Shape x = naive_in(nv, 0)->shape, y = naive_out(nv, 0)->shape;
	DType t = naive_type(nv, naive_in(nv, 0)->type);
	Elimination e = { .nv = nv, .nest = { .nv = nv }, .batch = y.rank };
	Shape copy = { .rank = x.rank, .dim = { x.dim[y.rank], x.dim[y.rank] } };
	memcpy(&copy.dim[2], y.dim, sizeof *y.dim * (size_t)y.rank);
	e.copy = naive_work(nv, "copy", t, copy);
	e.product = naive_work(nv, "product", t, y);
	e.most = naive_work(nv, "most", t, y);
	e.pivot = naive_work(nv, "pivot", I64, y);
	for (int k = 0; k < y.rank; k++)
		e.at[k] = nest_axis(&e.nest, batch_axes[k], ITER_SPATIAL, y.dim[k]);
	const Expr *n = ir_int(ir, x.dim[y.rank]), *zero = ir_int(ir, 0);
	const char *row = loop_name(nv, "r"), *column = loop_name(nv, "j"), *step = loop_name(nv, "c");
	const Expr *r = ir_idx(ir, row), *j = ir_idx(ir, column), *c = ir_idx(ir, step);

	const Expr *at_x[DAG_MAX_RANK];
	memcpy(at_x, e.at, sizeof e.at);
	at_x[e.batch] = r;
	at_x[e.batch + 1] = j;
	Stmt *body = set_cell(&e, r, j, naive_load(nv, 0, at_x, t));
	body = ir_for(ir, row, zero, n, LOOP_SERIAL, ir_for(ir, column, zero, n, LOOP_SERIAL, body));
	ir_seq(body, set_of_matrix(&e, e.product, ir_const(ir, t, 1)));
	Stmt *steps = find_pivot(&e, c, n);
	ir_seq(steps, exchange_rows(&e, c, n));
	const Expr *sign = ir_select(ir, ir_eq(ir, of_matrix(&e, e.pivot), c), ir_const(ir, t, 1), ir_const(ir, t, -1));
	const Expr *times = ir_mul(ir, sign, at_cell(&e, c, c));
	ir_seq(steps, set_of_matrix(&e, e.product, ir_mul(ir, of_matrix(&e, e.product), times)));
	ir_seq(steps, eliminate(&e, c, n));
	ir_seq(body, ir_for(ir, step, zero, n, LOOP_SERIAL, steps));
	ir_seq(body, naive_store(nv, naive_buf(nv, nv->c->out[0]), e.at, of_matrix(&e, e.product)));
	nest_close(&e.nest, NULL, NULL, body);
}
