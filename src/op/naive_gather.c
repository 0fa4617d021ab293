/*
 * Operators that read or write elements at indices which are data. An index below 0 counts from the end. One that is
 * outside nevertheless gives 0 where elements are gathered, and writes nothing where they are scattered. Every access
 * is clamped: an index may hold any number, and no access leaves its tensor.
 *
 * A gather is one nest over the result. A scatter is two nests or three: x is copied, expanded to `shape`, then the
 * updates are written in their row-major order, which decides between those of one element. So loops that lead to an
 * index are scans.
 */
#include "op/naive.h"

#include <math.h>
#include <string.h>

/* Element `at` of input 1, an index into n elements, made safe. *inside: and whether it and those before lie inside. */
static const Expr *safe_index(Naive *nv, const Expr *const *at, int64_t n, const Expr **inside)
{
	Ir *ir = nv->ir;
	const Expr *i = naive_load(nv, 1, at, I64), *zero = ir_int(ir, 0);
	i = ir_select(ir, ir_lt(ir, i, zero), ir_add(ir, i, ir_int(ir, n)), i);
	*inside = naive_inside(nv, i, INT64_MIN, INT64_MAX, n, *inside);
	return ir_max(ir, zero, ir_min(ir, ir_int(ir, n - 1), i));
}

/* idx[0 .. length) from the tuple of input 1 that `at` names; at[rank - 1] is free for the place in the tuple. */
static const Expr *safe_tuple(Naive *nv, const Expr **at, const int64_t *dim, int length, const Expr **idx)
{
	const Expr *inside = NULL;
	int last = naive_in(nv, 1)->shape.rank - 1;
	for (int k = 0; k < length; k++) {
		at[last] = ir_int(nv->ir, k);
		idx[k] = safe_index(nv, at, dim[k], &inside);
	}
	return inside;
}

/*
 * The result is x[.. axis) index[batch .. places) x(axis ..]. From its indices `at`: those of the index in of[], and
 * those of x in idx[], but for the one along the axis.
 */
static void along_axis(Naive *nv, const Expr *const *at, int places, const Expr **of, const Expr **idx)
{
	int axis = (int)op_int(nv->c, "axis"), batch = (int)op_int(nv->c, "batch");
	for (int k = 0; k < places; k++)
		of[k] = at[k < batch ? k : axis + k - batch];
	for (int k = 0; k < naive_in(nv, 0)->shape.rank; k++)
		idx[k] = k == axis ? NULL : at[k < axis ? k : k + places - batch - 1];
}

/* The element of x that result `at` is. *inside: the condition that the index is; NULL: always. */
static void gathered(Naive *nv, const Expr *const *at, const Expr **idx, const Expr **inside)
{
	const Shape *x = &naive_in(nv, 0)->shape, *index = &naive_in(nv, 1)->shape;
	const OpCall *c = nv->c;
	const Expr *of[DAG_MAX_RANK];
	int axis, batch, length;
	*inside = NULL;
	switch (c->op) {
	case OP_gather:
		along_axis(nv, at, index->rank, of, idx);
		axis = (int)op_int(c, "axis");
		idx[axis] = safe_index(nv, of, x->dim[axis], inside);
		break;
	case OP_gather_nd:
		batch = (int)op_int(c, "batch");
		length = (int)index->dim[index->rank - 1];
		memcpy(of, at, sizeof *of * (size_t)(index->rank - 1));
		memcpy(idx, at, sizeof *idx * (size_t)batch);
		*inside = safe_tuple(nv, of, &x->dim[batch], length, &idx[batch]);
		for (int k = batch + length; k < x->rank; k++)
			idx[k] = at[index->rank - 1 + k - batch - length];
		break;
	default: /* gather_elements */
		axis = (int)op_int(c, "axis");
		for (int k = 0; k < x->rank; k++)
			idx[k] = k == axis ? safe_index(nv, at, x->dim[k], inside) : at[k];
	}
}

void naive_gather(Naive *nv)
{
	Nest nest = { .nv = nv };
	const Expr *at[DAG_MAX_RANK], *idx[DAG_MAX_RANK], *inside;
	DType t = naive_buf(nv, nv->c->in[0])->type;
	nest_shape(&nest, naive_out(nv, 0)->shape, at);
	const Expr *v = ir_const(nv->ir, t, 0);
	if (shape_elements(naive_in(nv, 0)->shape) != 0) {
		gathered(nv, at, idx, &inside);
		const Expr *read = naive_load(nv, 0, idx, t);
		v = inside != NULL ? ir_select(nv->ir, inside, read, v) : read;
	}
	nest_close(&nest, NULL, NULL, naive_store(nv, naive_buf(nv, nv->c->out[0]), at, v));
}

/* Block `what` copies a buffer of the result's shape; NULL for `from`: input 0. */
static void copy(Naive *nv, const char *what, const Buf *from, Buf *to)
{
	Nest nest = { .nv = nv };
	const Expr *at[DAG_MAX_RANK];
	nest_shape(&nest, naive_out(nv, 0)->shape, at);
	int rank = naive_out(nv, 0)->shape.rank;
	const Expr *v = from != NULL ? ir_load(nv->ir, from, at, rank) : naive_load_broadcast(nv, 0, at, rank, to->type);
	nest_close(&nest, what, NULL, naive_store(nv, to, at, v));
}

void naive_resample(Naive *nv)
{
	Ir *ir = nv->ir;
	Nest nest = { .nv = nv };
	const Shape *x = &naive_in(nv, 0)->shape, *index = &naive_in(nv, 1)->shape;
	int axis = (int)op_int(nv->c, "axis"), last = index->rank - 1;
	Buf *out = naive_buf(nv, nv->c->out[0]);
	DType t = naive_acc(nv, naive_out(nv, 0)->type);
	Buf *acc = dtype_eq(t, out->type) ? out : naive_work(nv, "sum", t, naive_out(nv, 0)->shape);
	const Expr *at[DAG_MAX_RANK], *of[DAG_MAX_RANK], *idx[DAG_MAX_RANK], *inside = NULL, *zero = ir_const(ir, t, 0);
	bool greatest = op_int(nv->c, "max") != 0;
	const Expr *start = greatest ? ir_const_float(ir, t, -INFINITY) : zero;
	nest_shape(&nest, naive_out(nv, 0)->shape, at);
	along_axis(nv, at, last, of, idx);
	of[last] = nest_axis(&nest, "k", ITER_REDUCE, index->dim[last]);
	const Expr *v = zero;
	if (shape_elements(*x) != 0) {
		const Expr *top = ir_int(ir, x->dim[axis] - 1);
		if (op_int(nv->c, "edge") != 0)
			idx[axis] = ir_max(ir, ir_int(ir, 0), ir_min(ir, top, naive_load(nv, 1, of, I64)));
		else
			idx[axis] = safe_index(nv, of, x->dim[axis], &inside);
		v = ir_mul(ir, naive_load(nv, 2, of, t), naive_load(nv, 0, idx, t));
		v = inside != NULL ? ir_select(ir, inside, v, zero) : v;
	}
	nest_close(&nest, NULL, naive_store(nv, acc, at, start),
		ir_reduce(ir, greatest ? "max" : "sum", acc, at, acc->rank, v));
	if (acc != out)
		copy(nv, "round", acc, out);
}

static const char *monoid_of(const char *reduction, DType t)
{
	bool grows = strcmp(reduction, "add") == 0 || strcmp(reduction, "max") == 0; /* of bool */
	if (t.kind == DT_BOOL)
		return grows ? "or" : "and";
	return strcmp(reduction, "add") == 0 ? "sum" : strcmp(reduction, "mul") == 0 ? "prod" : reduction;
}

/* Writes the updates into `to`, which holds x. */
static void update(Naive *nv, Buf *to)
{
	const OpCall *c = nv->c;
	Nest nest = { .nv = nv };
	const Shape *x = &naive_out(nv, 0)->shape, *u = &naive_in(nv, 2)->shape;
	bool lines = c->op == OP_scatter_elements;
	int axis = lines ? (int)op_int(c, "axis") : 0, before = naive_in(nv, 1)->shape.rank - 1; /* dimensions of tuples */
	int length = lines ? 0 : (int)naive_in(nv, 1)->shape.dim[before];
	const Expr *at[DAG_MAX_RANK], *of[DAG_MAX_RANK], *idx[DAG_MAX_RANK], *inside = NULL;
	for (int k = 0; k < u->rank; k++)
		at[k] = nest_axis(&nest, axis_name(u->rank, k), (lines ? k == axis : k < before) ? ITER_SCAN : ITER_SPATIAL,
			u->dim[k]);
	memcpy(of, at, sizeof of);
	if (!lines)
		inside = safe_tuple(nv, of, x->dim, length, idx);
	for (int k = length; k < x->rank; k++)
		idx[k] = !lines ? at[before + k - length] : k == axis ? safe_index(nv, of, x->dim[k], &inside) : at[k];
	const Expr *v = naive_load(nv, 2, at, to->type);
	const char *reduction = op_text(c, "reduction");
	Stmt *s = strcmp(reduction, "none") == 0 ? naive_store(nv, to, idx, v)
		: ir_reduce(nv->ir, monoid_of(reduction, to->type), to, idx, to->rank, v);
	nest_close(&nest, NULL, NULL, inside != NULL ? ir_if(nv->ir, inside, s, NULL) : s);
}

void naive_scatter(Naive *nv)
{
	Buf *out = naive_buf(nv, nv->c->out[0]);
	bool plain = strcmp(op_text(nv->c, "reduction"), "none") == 0;
	DType t = plain ? out->type : naive_type(nv, out->type); /* f16 is reduced in f32 */
	Buf *to = dtype_eq(t, out->type) ? out : naive_work(nv, "sum", t, naive_out(nv, 0)->shape);
	copy(nv, "copy", NULL, to);
	if (shape_elements(naive_out(nv, 0)->shape) > 0)
		update(nv, to);
	if (to != out)
		copy(nv, "round", to, out);
}
