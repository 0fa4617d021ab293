/* Shape rules of operators that run along axes: softmax, reductions, places of extremes, scans, the largest k. */
#include "op/rules.h"

#include <string.h>

bool infer_softmax(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int64_t axis = op_int(c, "axis");
	if (!need_float(c, x, err) || !need_rank(c, x, 1, DAG_MAX_RANK, err))
		return false;
	if (axis < -1 || axis >= x->shape.rank)
		return op_refuse(c, err, "axis %lld does not exist: x has %d dimensions", (long long)axis, x->shape.rank);
	set_like(out, x);
	return true;
}

bool infer_reduce(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	bool extreme = c->op == OP_reduce_max || c->op == OP_reduce_min, keep = op_int(c, "keep") != 0;
	int n, rank = x->shape.rank;
	const int64_t *axes = op_ints(c, "axes", &n);
	bool drop[DAG_MAX_RANK] = { 0 };
	if (!extreme && !need_number(c, x, err))
		return false;
	for (int i = 0; i < n; i++) {
		if (axes[i] < 0 || axes[i] >= rank)
			return op_refuse(c, err, "axis %lld does not exist: x has %d dimensions", (long long)axes[i], rank);
		if (drop[axes[i]])
			return op_refuse(c, err, "axis %lld is named twice", (long long)axes[i]);
		drop[axes[i]] = true;
	}
	*out = (Value){ .type = x->type };
	for (int i = 0; i < rank; i++)
		if (n != 0 && !drop[i])
			out->shape.dim[out->shape.rank++] = x->shape.dim[i];
		else if (keep)
			out->shape.dim[out->shape.rank++] = 1;
	return true;
}

/* The axis of a call is one of x's dimensions. */
static bool need_axis(const OpCall *c, const Value *x, int64_t *axis, Err *err)
{
	*axis = op_int(c, "axis");
	if (*axis < 0 || *axis >= x->shape.rank)
		return op_refuse(c, err, "axis %lld does not exist: x has %d dimensions", (long long)*axis, x->shape.rank);
	return true;
}

bool infer_arg(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int64_t axis;
	if (!need_number(c, x, err) || !need_axis(c, x, &axis, err))
		return false;
	*out = (Value){ .type = I64 };
	for (int k = 0; k < x->shape.rank; k++)
		if (k != axis)
			out->shape.dim[out->shape.rank++] = x->shape.dim[k];
		else if (op_int(c, "keep") != 0)
			out->shape.dim[out->shape.rank++] = 1;
	if (x->shape.dim[axis] == 0 && shape_elements(out->shape) != 0)
		return op_refuse(c, err, "axis %lld of x has no elements", (long long)axis);
	return true;
}

bool infer_scan(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	const char *kind = op_text(c, "kind");
	int64_t axis;
	if (!need_number(c, x, err) || !need_axis(c, x, &axis, err))
		return false;
	if (strcmp(kind, "sum") != 0 && strcmp(kind, "prod") != 0)
		return op_refuse(c, err, "kind is \"%s\", but must be sum or prod", kind);
	set_like(out, x);
	return true;
}

bool infer_top_k(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int64_t axis, k = op_int(c, "k");
	if (!need_number(c, x, err) || !need_axis(c, x, &axis, err))
		return false;
	if (k < 0 || k > x->shape.dim[axis])
		return op_refuse(c, err, "k is %lld, but axis %lld of x has %lld elements", (long long)k, (long long)axis,
			(long long)x->shape.dim[axis]);
	set_like(&out[0], x);
	out[0].shape.dim[axis] = k;
	out[1] = out[0];
	out[1].type = I64;
	return true;
}
