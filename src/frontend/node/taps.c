/* Taps along one axis as the call that is cheapest; taps.h says what they are. */
#include "frontend/node/taps.h"

#include "op/element.h"

enum { MOST_TAPS = 1 << 22 }; /* indices and weights of one axis, which are stored */

bool node_taps(Visit *v, int axis, int64_t out, int64_t n, Taps *t)
{
	if (node_ok(v) && (n > MOST_TAPS || out > MOST_TAPS / n))
		node_fail(v, ERR_UNSUPPORTED, "its result has %lld elements of %lld taps along axis %d, which are too many",
			(long long)out, (long long)n, axis);
	if (!node_ok(v))
		return false;
	*t = (Taps){ .n = (int)n,
		.out = out,
		.index = arena_array(v->im->arena, int64_t, out * n + 1),
		.weight = arena_array(v->im->arena, double, out *n + 1) };
	return true;
}

/* True if each result is one element of the input: then index[i] is moved to the first tap. */
static bool is_selection(Taps *t)
{
	for (int64_t i = 0; i < t->out; i++) {
		int64_t only = -1;
		for (int64_t k = 0; k < t->n; k++) {
			double w = t->weight[i * t->n + k];
			if ((w != 0 && w != 1) || (w == 1 && only >= 0))
				return false;
			only = w == 1 ? t->index[i * t->n + k] : only;
		}
		if (only < 0)
			return false;
		t->index[i] = only;
	}
	return true;
}

/* How often each element follows itself, if the result is that and nothing else; 0: it is not. */
static int64_t repetition(const Taps *t, int64_t in)
{
	int64_t times = in > 0 ? t->out / in : 0;
	if (times == 0 || times * in != t->out)
		return 0;
	for (int64_t i = 0; i < t->out; i++)
		if (t->index[i] != i / times)
			return 0;
	return times;
}

/* Each element along the axis `times` times. */
static int repeat(Visit *v, int x, int axis, int64_t times)
{
	Shape s = node_val(v, x)->shape, parts = { .rank = 3 };
	parts.dim[0] = shape_product(&s, 0, axis + 1);
	parts.dim[1] = 1;
	parts.dim[2] = shape_product(&s, axis + 1, s.rank);
	x = node_reshape(v, x, parts);
	parts.dim[1] = times;
	Attr attr = attr_ints("shape", parts.dim, 3);
	x = node_call(v, OP_expand, &x, 1, &attr, 1);
	s.dim[axis] *= times;
	return node_reshape(v, x, s);
}

static int resample(Visit *v, int x, int axis, const Taps *t)
{
	DType type = node_val(v, x)->type, sum = dtype_eq(type, F64) ? F64 : F32;
	int64_t dim[] = { t->out, t->n };
	void *weight = arena_alloc(v->im->arena, (size_t)dtype_bytes(sum, t->out * t->n) + 1);
	for (int64_t i = 0; i < t->out * t->n; i++)
		element_set(sum, weight, i, t->weight[i]);
	int in[] = { node_cast(v, x, dtype_is_float(type) ? type : F32), node_const(v, I64, shape_of(2, dim), t->index),
		node_const(v, sum, shape_of(2, dim), weight) };
	Attr attr[] = { attr_int("axis", axis), attr_int("edge", 1) };
	return node_cast(v, node_call(v, OP_resample, in, 3, attr, 2), type);
}

int node_resize_axis(Visit *v, int x, int axis, Taps *t)
{
	if (!node_ok(v))
		return x;
	if (!is_selection(t))
		return resample(v, x, axis, t);
	int64_t times = repetition(t, node_val(v, x)->shape.dim[axis]);
	if (times > 0)
		return times == 1 ? x : repeat(v, x, axis, times);
	int in[] = { x, node_const(v, I64, shape_of(1, &t->out), t->index) };
	Attr attr = attr_int("axis", axis);
	return node_call(v, OP_gather, in, 2, &attr, 1);
}
