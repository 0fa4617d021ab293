/*
 * Shape rules of operators that read or write elements at indices which are data. What an index holds is not looked
 * at here: the naive Fns keep every access inside (naive_gather.c).
 */
#include "op/rules.h"

#include <string.h>

static bool need_index(const OpCall *c, const Value *v, Err *err)
{
	char t[DTYPE_TEXT];
	if (!dtype_eq(v->type, I32) && !dtype_eq(v->type, I64))
		return op_refuse(c, err, "%s is %s, but indices must be i32 or i64", v->name, dtype_print(v->type, t));
	return true;
}

static bool need_axis(const OpCall *c, const Value *x, int *axis, Err *err)
{
	int64_t at = op_int(c, "axis");
	if (at < 0 || at >= x->shape.rank)
		return op_refuse(c, err, "axis %lld does not exist: x has %d dimensions", (long long)at, x->shape.rank);
	*axis = (int)at;
	return true;
}

/* The first `batch` dimensions, at most `most` of them, are the same in x and index. */
static bool need_batch(const OpCall *c, const Value *x, const Value *index, int most, int *batch, Err *err)
{
	int64_t n = op_int(c, "batch");
	char s[160], t[160];
	if (n < 0 || n > most)
		return op_refuse(c, err, "batch is %lld, but must be between 0 and %d", (long long)n, most);
	for (int k = 0; k < n; k++)
		if (x->shape.dim[k] != index->shape.dim[k])
			return op_refuse(c, err, "the shapes %s and %s differ in batch dimension %d", shape_str(x->shape, s),
				shape_str(index->shape, t), k);
	*batch = (int)n;
	return true;
}

/* Appends dimensions [from, to) of s. */
static bool append(const OpCall *c, Shape *out, const Shape *s, int from, int to, Err *err)
{
	if (out->rank + to - from > DAG_MAX_RANK)
		return op_refuse(
			c, err, "the result has %d dimensions, at most %d are supported", out->rank + to - from, DAG_MAX_RANK);
	for (int k = from; k < to; k++)
		out->dim[out->rank++] = s->dim[k];
	return true;
}

/* x with the axis replaced by the first `places` dimensions of index, but for those of the batch. */
static bool infer_along_axis(const Dag *d, const OpCall *c, int places, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *index = op_in(d, c, 1);
	int axis = 0, batch = 0;
	if (!need_index(c, index, err) || !need_axis(c, x, &axis, err) ||
		!need_batch(c, x, index, axis < places ? axis : places, &batch, err))
		return false;
	set_like(out, x);
	out->shape = (Shape){ 0 };
	return append(c, &out->shape, &x->shape, 0, axis, err) &&
		append(c, &out->shape, &index->shape, batch, places, err) &&
		append(c, &out->shape, &x->shape, axis + 1, x->shape.rank, err);
}

bool infer_gather(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	return infer_along_axis(d, c, op_in(d, c, 1)->shape.rank, out, err);
}

bool infer_resample(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *index = op_in(d, c, 1), *weight = op_in(d, c, 2);
	char s[160], t[160];
	int64_t edge = op_int(c, "edge"), max = op_int(c, "max");
	if (!need_float(c, x, err) || !need_rank(c, index, 1, DAG_MAX_RANK, err))
		return false;
	if (!dtype_eq(weight->type, F32) && !dtype_eq(weight->type, F64))
		return op_refuse(
			c, err, "%s is %s, but weights must be f32 or f64", weight->name, dtype_print(weight->type, t));
	if (!shape_eq(weight->shape, index->shape))
		return op_refuse(c, err, "index has the shape %s, but weight has %s", shape_str(index->shape, s),
			shape_str(weight->shape, t));
	if (edge != 0 && edge != 1)
		return op_refuse(c, err, "edge is %lld, but must be 0 or 1", (long long)edge);
	if (max != 0 && max != 1)
		return op_refuse(c, err, "max is %lld, but must be 0 or 1", (long long)max);
	if (max == 1 && index->shape.dim[index->shape.rank - 1] == 0)
		return op_refuse(c, err, "index of shape %s has no place whose element is the greatest",
			shape_str(index->shape, s));
	if (edge == 1 && shape_elements(x->shape) == 0 && shape_elements(index->shape) > 0)
		return op_refuse(c, err, "x of shape %s has no edge", shape_str(x->shape, s));
	return infer_along_axis(d, c, index->shape.rank - 1, out, err);
}

/* The length of the index tuples, which is the last dimension of index. */
static bool need_tuples(const OpCall *c, const Value *x, const Value *index, int batch, int *length, Err *err)
{
	int64_t n = index->shape.dim[index->shape.rank - 1];
	char s[160];
	if (n > x->shape.rank - batch)
		return op_refuse(c, err, "index has tuples of %lld numbers, but x has the shape %s", (long long)n,
			shape_str(x->shape, s));
	*length = (int)n;
	return true;
}

bool infer_gather_nd(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *index = op_in(d, c, 1);
	int batch = 0, length = 0, most = x->shape.rank;
	if (!need_index(c, index, err) || !need_rank(c, index, 1, DAG_MAX_RANK, err))
		return false;
	if (most > index->shape.rank - 1)
		most = index->shape.rank - 1;
	if (!need_batch(c, x, index, most, &batch, err) || !need_tuples(c, x, index, batch, &length, err))
		return false;
	set_like(out, x);
	out->shape = (Shape){ 0 };
	return append(c, &out->shape, &index->shape, 0, index->shape.rank - 1, err) &&
		append(c, &out->shape, &x->shape, batch + length, x->shape.rank, err);
}

/* Index has x's rank and is no longer than x in any dimension but the axis. */
static bool need_lines(const OpCall *c, const Value *x, const Value *index, int axis, Err *err)
{
	char s[160], t[160];
	bool ok = index->shape.rank == x->shape.rank;
	for (int k = 0; ok && k < x->shape.rank; k++)
		ok = k == axis || index->shape.dim[k] <= x->shape.dim[k];
	if (!ok)
		return op_refuse(c, err, "index of shape %s does not fit x of shape %s along axis %d",
			shape_str(index->shape, s), shape_str(x->shape, t), axis);
	return true;
}

bool infer_gather_elements(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *index = op_in(d, c, 1);
	int axis = 0;
	if (!need_index(c, index, err) || !need_axis(c, x, &axis, err) || !need_lines(c, x, index, axis, err))
		return false;
	set_like(out, x);
	out->shape = index->shape;
	return true;
}

static bool need_reduction(const OpCall *c, Err *err)
{
	static const char *const known[] = { "none", "add", "mul", "min", "max" };
	const char *name = op_text(c, "reduction");
	for (int i = 0; i < 5; i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return op_refuse(c, err, "the reduction \"%s\" is not none, add, mul, min or max", name);
}

static bool need_updates(const OpCall *c, const Value *x, const Value *updates, Shape want, Err *err)
{
	char s[160], t[160];
	if (!shape_eq(updates->shape, want))
		return op_refuse(c, err, "updates have the shape %s, but must have %s", shape_str(updates->shape, s),
			shape_str(want, t));
	return need_same_type(c, x, updates, err);
}

/* *out: x, expanded to the attribute `shape` where there is one. */
static bool expand_x(const OpCall *c, const Value *x, Value *out, Err *err)
{
	int n;
	char s[160], t[160];
	const int64_t *to = op_ints(c, "shape", &n);
	*out = *x;
	if (to == NULL)
		return true;
	if (n != x->shape.rank)
		return op_refuse(c, err, "shape has %d dimensions, but x has %d", n, x->shape.rank);
	if (!read_ints(c, "shape", n, 0, LARGEST_DIM, 0, out->shape.dim, err))
		return false;
	for (int k = 0; k < n; k++)
		if (x->shape.dim[k] != 1 && x->shape.dim[k] != to[k])
			return op_refuse(c, err, "x of shape %s cannot be expanded to %s", shape_str(x->shape, s),
				shape_str(out->shape, t));
	return true;
}

bool infer_scatter_elements(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *index = op_in(d, c, 1);
	Value wide, *x = &wide;
	int axis = 0;
	if (!expand_x(c, op_in(d, c, 0), x, err))
		return false;
	set_like(out, x);
	return need_index(c, index, err) && need_reduction(c, err) && need_axis(c, x, &axis, err) &&
		need_lines(c, x, index, axis, err) && need_updates(c, x, op_in(d, c, 2), index->shape, err);
}

bool infer_scatter_nd(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *index = op_in(d, c, 1);
	Value wide, *x = &wide;
	Shape want = { 0 };
	int length = 0;
	if (!expand_x(c, op_in(d, c, 0), x, err))
		return false;
	set_like(out, x);
	return need_index(c, index, err) && need_reduction(c, err) && need_rank(c, index, 1, DAG_MAX_RANK, err) &&
		need_tuples(c, x, index, 0, &length, err) &&
		append(c, &want, &index->shape, 0, index->shape.rank - 1, err) &&
		append(c, &want, &x->shape, length, x->shape.rank, err) && need_updates(c, x, op_in(d, c, 2), want, err);
}
