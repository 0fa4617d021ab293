/*
 * Operators that move elements: one nest over each result (concat: over each input), and the index
 * of the source as an expression of the result's.
 */
#include "op/naive.h"

#include <stdio.h>
#include <string.h>

/* The digits of the index `at` in base dim[from .. to). */
static void take_apart(Ir *ir, Shape s, int from, int to, const Expr *at, const Expr **idx)
{
	int first = from;
	while (first < to && s.dim[first] == 1)
		idx[first++] = ir_int(ir, 0);
	for (int k = to - 1; k >= first; k--) {
		const Expr *dim = ir_int(ir, s.dim[k]);
		idx[k] = s.dim[k] == 1 ? ir_int(ir, 0) : k == first ? at : ir_mod(ir, at, dim);
		if (k > first && s.dim[k] != 1)
			at = ir_div(ir, at, dim);
	}
}

/*
 * Reshaping keeps the row-major order. So the dimensions fall into groups of equal products, and only within
 * a group the index is computed and split again: [1,512,1,1] to [1,512] needs no division.
 */
static void reshape_index(Ir *ir, Shape out, const Expr *const *at, Shape in, const Expr **idx)
{
	int i = 0, j = 0;
	if (shape_elements(in) == 0) {
		for (int k = 0; k < in.rank; k++)
			idx[k] = ir_int(ir, 0);
		return;
	}
	while (i < out.rank || j < in.rank) {
		int from_i = i, from_j = j;
		int64_t have_i = i < out.rank ? out.dim[i++] : 1, have_j = j < in.rank ? in.dim[j++] : 1;
		while (have_i != have_j)
			if (have_i < have_j)
				have_i *= out.dim[i++];
			else
				have_j *= in.dim[j++];
		const Expr *linear = ir_int(ir, 0);
		for (int k = from_i; k < i; k++)
			if (out.dim[k] != 1)
				linear = ir_add(ir, ir_mul(ir, linear, ir_int(ir, out.dim[k])), at[k]);
		take_apart(ir, in, from_j, j, linear, idx);
	}
}

static const Expr *clamped(Ir *ir, const Expr *at, int64_t n)
{
	return ir_max(ir, ir_int(ir, 0), ir_min(ir, ir_int(ir, n - 1), at));
}

/*
 * The index in [0, n) from which element `at` is taken, where `at` may lie outside by up to `most`. Where that is once
 * around at most, no division is needed, for which vectors have no instruction; the clamp is for proofs alone.
 */
static const Expr *repeat_index(Ir *ir, const char *mode, const Expr *at, int64_t n, int64_t most)
{
	const Expr *zero = ir_int(ir, 0), *all = ir_int(ir, n);
	if (strcmp(mode, "edge") == 0)
		return clamped(ir, at, n);
	if (strcmp(mode, "wrap") == 0 && most > n)
		return ir_mod(ir, at, all);
	if (strcmp(mode, "wrap") == 0) {
		const Expr *below = ir_select(ir, ir_lt(ir, at, zero), ir_add(ir, at, all), at);
		return clamped(ir, ir_select(ir, ir_le(ir, all, at), ir_sub(ir, at, all), below), n);
	}
	if (n == 1)
		return zero;
	const Expr *period = ir_int(ir, 2 * (n - 1));
	const Expr *r = most < n ? ir_max(ir, at, ir_sub(ir, zero, at)) : ir_mod(ir, at, period);
	const Expr *turned = ir_min(ir, r, ir_sub(ir, period, r));
	return most < n ? clamped(ir, turned, n) : turned;
}

static const Expr *padded(Naive *nv, const Expr *const *at)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0);
	int n, rank = x->shape.rank;
	const int64_t *pads = op_ints(nv->c, "pads", &n);
	const char *mode = op_text(nv->c, "mode");
	bool constant = strcmp(mode, "constant") == 0;
	const Expr *idx[DAG_MAX_RANK], *inside = NULL;
	DType t = naive_buf(nv, nv->c->in[0])->type;
	const Expr *fill = ir_const(ir, t, op_float(nv->c, "value"));
	for (int k = 0; k < rank; k++) {
		int64_t lo = pads != NULL ? pads[k] : 0, hi = pads != NULL ? pads[rank + k] : 0;
		int64_t size = x->shape.dim[k];
		idx[k] = ir_sub(ir, at[k], ir_int(ir, lo));
		if (constant)
			inside = naive_inside(nv, idx[k], -lo, size + hi - 1, size, inside);
		else if (lo > 0 || hi > 0)
			idx[k] = repeat_index(ir, mode, idx[k], size, lo > hi ? lo : hi);
	}
	if (constant && shape_elements(x->shape) == 0)
		return fill;
	const Expr *v = naive_load(nv, 0, idx, t);
	return inside != NULL ? ir_select(ir, inside, v, fill) : v;
}

/* The element of result `at` of an operator with one input and one result. */
static const Expr *moved(Naive *nv, const Expr *const *at)
{
	const Value *x = naive_in(nv, 0), *y = naive_out(nv, 0);
	DType t = naive_buf(nv, nv->c->in[0])->type;
	const Expr *idx[DAG_MAX_RANK];
	int n;
	const int64_t *perm, *start, *step;
	switch (nv->c->op) {
	case OP_reshape: reshape_index(nv->ir, y->shape, at, x->shape, idx); break;
	case OP_transpose:
		perm = op_ints(nv->c, "perm", &n);
		for (int k = 0; k < x->shape.rank; k++)
			idx[perm[k]] = at[k];
		break;
	case OP_slice:
		start = op_ints(nv->c, "starts", &n);
		step = op_ints(nv->c, "steps", &n);
		for (int k = 0; k < x->shape.rank; k++) {
			idx[k] = ir_mul(nv->ir, at[k], ir_int(nv->ir, step != NULL ? step[k] : 1));
			idx[k] = ir_add(nv->ir, idx[k], ir_int(nv->ir, start != NULL ? start[k] : 0));
		}
		break;
	case OP_pad: return padded(nv, at);
	default: return naive_load_broadcast(nv, 0, at, y->shape.rank, t); /* expand */
	}
	return naive_load(nv, 0, idx, t);
}

/* Elements [from, from + size) along the axis of the longer side are those of the shorter side. */
static void move_part(Naive *nv, int k, Shape part, int axis, int64_t from)
{
	bool concat = nv->c->op == OP_concat;
	char what[16];
	snprintf(what, sizeof what, "%d", k);
	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK], *whole[DAG_MAX_RANK];
	nest_shape(&nest, part, idx);
	memcpy(whole, idx, sizeof whole);
	whole[axis] = ir_add(nv->ir, idx[axis], ir_int(nv->ir, from));
	int in = concat ? k : 0;
	const Expr *v = naive_load(nv, in, concat ? idx : whole, naive_buf(nv, nv->c->in[in])->type);
	nest_close(&nest, k > 0 ? what : NULL, NULL,
		naive_store(nv, naive_buf(nv, nv->c->out[concat ? 0 : k]), concat ? whole : idx, v));
}

void naive_move(Naive *nv)
{
	const OpCall *c = nv->c;
	int64_t from = 0;
	if (c->op == OP_concat || c->op == OP_split) {
		int axis = (int)op_int(c, "axis");
		for (int k = 0; k < (c->op == OP_concat ? c->nin : c->nout); k++) {
			Shape part = (c->op == OP_concat ? naive_in(nv, k) : naive_out(nv, k))->shape;
			move_part(nv, k, part, axis, from);
			from += part.dim[axis];
		}
		return;
	}
	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK];
	nest_shape(&nest, naive_out(nv, 0)->shape, idx);
	nest_close(&nest, NULL, NULL, naive_store(nv, naive_buf(nv, c->out[0]), idx, moved(nv, idx)));
}
