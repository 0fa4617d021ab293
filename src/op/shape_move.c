/* Shape rules of operators that move elements. */
#include "op/rules.h"

#include <string.h>

/* The attribute `shape` as a Shape. */
static bool read_shape(const OpCall *c, Shape *out, Err *err)
{
	int n;
	op_ints(c, "shape", &n);
	if (n > DAG_MAX_RANK)
		return op_refuse(c, err, "shape has %d dimensions, at most %d are supported", n, DAG_MAX_RANK);
	out->rank = n;
	return read_ints(c, "shape", n, 0, LARGEST_DIM, 0, out->dim, err);
}

bool infer_reshape(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	char s[160], t[160];
	set_like(out, x);
	out->shape = (Shape){ 0 };
	if (!read_shape(c, &out->shape, err))
		return false;
	if (shape_elements(out->shape) != shape_elements(x->shape))
		return op_refuse(
			c, err, "x of shape %s does not have the elements of %s", shape_str(x->shape, s), shape_str(out->shape, t));
	return true;
}

bool infer_expand(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	Value to = { .name = "shape" };
	set_like(out, op_in(d, c, 0));
	return read_shape(c, &to.shape, err) && need_broadcast(c, op_in(d, c, 0), &to, &out->shape, err);
}

bool infer_transpose(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int rank = x->shape.rank;
	int64_t perm[DAG_MAX_RANK];
	bool seen[DAG_MAX_RANK] = { 0 };
	if (!read_ints(c, "perm", rank, 0, rank - 1, 0, perm, err))
		return false;
	set_like(out, x);
	for (int i = 0; i < rank; i++) {
		if (seen[perm[i]])
			return op_refuse(c, err, "perm names dimension %lld twice", (long long)perm[i]);
		seen[perm[i]] = true;
		out->shape.dim[i] = x->shape.dim[perm[i]];
	}
	return true;
}

bool infer_concat(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int64_t axis = op_int(c, "axis"), sum = 0;
	char s[160], t[160];
	if (axis < 0 || axis >= x->shape.rank)
		return op_refuse(c, err, "axis %lld does not exist: x has %d dimensions", (long long)axis, x->shape.rank);
	for (int i = 0; i < c->nin; i++) {
		const Value *v = op_in(d, c, i);
		Shape same = v->shape;
		if (!need_same_type(c, x, v, err))
			return false;
		same.dim[axis] = x->shape.dim[axis];
		if (!shape_eq(same, x->shape))
			return op_refuse(c, err, "the shapes %s and %s differ in another axis than %lld", shape_str(x->shape, s),
				shape_str(v->shape, t), (long long)axis);
		sum += v->shape.dim[axis];
		if (sum > LARGEST_DIM)
			return op_refuse(c, err, "axis %lld gets too long", (long long)axis);
	}
	set_like(out, x);
	out->shape.dim[axis] = sum;
	return true;
}

bool infer_split(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int64_t axis = op_int(c, "axis"), sum = 0;
	int n;
	const int64_t *sizes = op_ints(c, "sizes", &n);
	if (axis < 0 || axis >= x->shape.rank)
		return op_refuse(c, err, "axis %lld does not exist: x has %d dimensions", (long long)axis, x->shape.rank);
	for (int i = 0; i < n; i++) {
		if (sizes[i] < 0 || sizes[i] > x->shape.dim[axis])
			return op_refuse(c, err, "a part has %lld elements, but the axis has %lld", (long long)sizes[i],
				(long long)x->shape.dim[axis]);
		if (sum <= x->shape.dim[axis])
			sum += sizes[i];
		set_like(&out[i], x);
		out[i].shape.dim[axis] = sizes[i];
	}
	if (n == 0 || sum != x->shape.dim[axis])
		return op_refuse(c, err, "sizes add up to %lld, but axis %lld has %lld elements", (long long)sum,
			(long long)axis, (long long)x->shape.dim[axis]);
	return true;
}

bool infer_slice(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int rank = x->shape.rank;
	int64_t start[DAG_MAX_RANK], step[DAG_MAX_RANK], size[DAG_MAX_RANK];
	if (!read_ints(c, "starts", rank, 0, LARGEST_DIM, 0, start, err) ||
		!read_ints(c, "steps", rank, -LARGEST_DIM, LARGEST_DIM, 1, step, err) ||
		!read_ints(c, "sizes", rank, 0, LARGEST_DIM, 0, size, err))
		return false;
	set_like(out, x);
	for (int i = 0; i < rank; i++) {
		/* In floating point: the product of two large numbers must not overflow. */
		double last = (double)start[i] + (double)(size[i] - 1) * (double)step[i];
		double end = (double)x->shape.dim[i];
		if (step[i] == 0 || (size[i] > 0 && ((double)start[i] >= end || last < 0 || last >= end)))
			return op_refuse(c, err, "%lld elements from %lld in steps of %lld do not fit dimension %d, which has %lld",
				(long long)size[i], (long long)start[i], (long long)step[i], i, (long long)x->shape.dim[i]);
		out->shape.dim[i] = size[i];
	}
	return true;
}

bool infer_pad(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	static const char *const modes[] = { "constant", "reflect", "edge", "wrap" };
	const Value *x = op_in(d, c, 0);
	int rank = x->shape.rank;
	int64_t pads[2 * DAG_MAX_RANK];
	const char *mode = op_text(c, "mode");
	bool known = false;
	for (int i = 0; i < 4; i++)
		known |= strcmp(mode, modes[i]) == 0;
	if (!known)
		return op_refuse(c, err, "the mode \"%s\" is not constant, reflect, edge or wrap", mode);
	if (!read_ints(c, "pads", 2 * rank, -LARGEST_DIM, LARGEST_DIM, 0, pads, err))
		return false;
	set_like(out, x);
	for (int i = 0; i < rank; i++) {
		int64_t n = x->shape.dim[i] + pads[i] + pads[rank + i];
		if (n < 0)
			return op_refuse(
				c, err, "dimension %d has %lld elements, but the pads cut off more", i, (long long)x->shape.dim[i]);
		if (n > 0 && x->shape.dim[i] == 0 && strcmp(mode, "constant") != 0)
			return op_refuse(c, err, "mode %s has nothing to repeat in dimension %d", mode, i);
		out->shape.dim[i] = n;
	}
	return true;
}
