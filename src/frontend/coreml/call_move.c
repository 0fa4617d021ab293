/* Moves of elements; calls.h says what each function is. */
#include "frontend/coreml/calls.h"

#include "frontend/node/compose.h"
#include "frontend/node/taps.h"

#include <string.h>

/* Begin and end of one axis, brought into the axis. */
static void bound(const CoremlSlicing *s, int k, int64_t n, int64_t *from, int64_t *count)
{
	int64_t step = s->stride == NULL ? 1 : s->stride[k], low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
	int64_t begin = s->begin[k] < 0 ? s->begin[k] + n : s->begin[k], end = s->end[k] < 0 ? s->end[k] + n : s->end[k];
	if (s->from_edge != NULL && s->from_edge[k] != 0)
		begin = step < 0 ? high : low;
	if (s->to_edge != NULL && s->to_edge[k] != 0)
		end = step < 0 ? low : high;
	begin = begin < low ? low : begin > high ? high : begin;
	end = end < low ? low : end > high ? high : end;
	*from = begin;
	*count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
	*count = *count < 0 ? 0 : *count;
}

int coreml_slice(Visit *v, int x, const CoremlSlicing *s)
{
	Shape in = node_val(v, x)->shape, out = { .rank = 0 };
	int64_t from[DAG_MAX_RANK], step[DAG_MAX_RANK], size[DAG_MAX_RANK];
	bool whole = true;
	for (int k = 0; k < in.rank && node_ok(v); k++) {
		bool one = s->squeeze != NULL && s->squeeze[k] != 0;
		step[k] = s->stride == NULL || one ? 1 : s->stride[k];
		if (step[k] == 0 || step[k] < -INT32_MAX || step[k] > INT32_MAX) {
			node_fail(v, ERR_INPUT, "its stride %lld of axis %d is out of range", (long long)step[k], k);
			break;
		}
		if (one) {
			from[k] = node_axis(v, s->begin[k], (int)(in.dim[k] > INT32_MAX ? INT32_MAX : in.dim[k]));
			size[k] = 1;
		} else {
			bound(s, k, in.dim[k], &from[k], &size[k]);
			out.dim[out.rank++] = size[k];
		}
		whole &= size[k] == in.dim[k] && step[k] == 1;
		if (size[k] == 0) /* its begin may be behind the axis */
			from[k] = 0;
	}
	Attr attr[] = { attr_ints("starts", from, in.rank), attr_ints("steps", step, in.rank),
		attr_ints("sizes", size, in.rank) };
	if (node_ok(v) && !whole)
		x = node_call(v, OP_slice, &x, 1, attr, 3);
	return node_ok(v) ? node_reshape(v, x, out) : DAG_NONE;
}

int coreml_reshape(Visit *v, int x, const int64_t *dim, int n, bool keep)
{
	Shape in = node_val(v, x)->shape, to = { .rank = n };
	int64_t all = shape_product(&in, 0, in.rank), known = 1;
	int open = -1;
	if (node_ok(v) && (n < 0 || n > DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "its shape has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	for (int k = 0; k < n && node_ok(v); k++) {
		to.dim[k] = dim[k] == 0 && keep && k < in.rank ? in.dim[k] : dim[k];
		if (to.dim[k] == -1 && open < 0)
			open = k;
		else if (to.dim[k] < 0)
			node_fail(v, ERR_INPUT, "its shape holds %lld", (long long)dim[k]);
		else
			known = to.dim[k] != 0 && known > ((int64_t)1 << 62) / to.dim[k] ? (int64_t)1 << 62 : known * to.dim[k];
	}
	if (node_ok(v) && (open < 0 ? known != all : known == 0 || all % known != 0))
		node_fail(v, ERR_TYPE, "its input has %lld elements, which its shape does not hold", (long long)all);
	if (!node_ok(v))
		return DAG_NONE;
	if (open >= 0)
		to.dim[open] = all / known;
	return node_reshape(v, x, to);
}

int coreml_expand_dims(Visit *v, int x, const int64_t *axes, int n)
{
	Shape in = node_val(v, x)->shape, to = { .rank = in.rank + n };
	bool on[DAG_MAX_RANK] = { false };
	if (node_ok(v) && to.rank > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", to.rank, DAG_MAX_RANK);
	for (int k = 0; k < n && node_ok(v); k++) {
		int at = node_axis(v, axes[k], to.rank);
		if (on[at] && node_ok(v))
			node_fail(v, ERR_INPUT, "its axis %d is given twice", at);
		on[at] = true;
	}
	for (int k = 0, i = 0; k < to.rank && node_ok(v); k++)
		to.dim[k] = on[k] ? 1 : in.dim[i++];
	return node_ok(v) ? node_reshape(v, x, to) : DAG_NONE;
}

int coreml_squeeze(Visit *v, int x, const int64_t *axes, int n)
{
	Shape in = node_val(v, x)->shape, to = { .rank = 0 };
	bool on[DAG_MAX_RANK] = { false };
	for (int k = 0; k < (n < 0 ? in.rank : n) && node_ok(v); k++) {
		int at = n < 0 ? k : node_axis(v, axes[k], in.rank);
		on[at] = in.dim[at] == 1;
		if (n >= 0 && !on[at] && node_ok(v))
			node_fail(v, ERR_TYPE, "its axis %d has %lld elements, not one", at, (long long)in.dim[at]);
	}
	for (int k = 0; k < in.rank; k++)
		if (!on[k])
			to.dim[to.rank++] = in.dim[k];
	return node_ok(v) ? node_reshape(v, x, to) : DAG_NONE;
}

int coreml_tile(Visit *v, int x, const int64_t *times, int n)
{
	Shape in = node_val(v, x)->shape;
	if (node_ok(v) && n != in.rank)
		node_fail(v, ERR_INPUT, "it has %d numbers of repetitions for %d dimensions", n, in.rank);
	for (int k = 0; k < n && node_ok(v); k++) {
		Shape s = node_val(v, x)->shape, apart = { .rank = 3 };
		if (times[k] < 1 || times[k] > INT32_MAX) {
			node_fail(v, ERR_INPUT, "it repeats an axis %lld times", (long long)times[k]);
			break;
		}
		if (times[k] == 1)
			continue;
		apart.dim[0] = shape_product(&s, 0, k);
		apart.dim[1] = 1;
		apart.dim[2] = shape_product(&s, k, s.rank);
		s.dim[k] = s.dim[k] > INT64_MAX / times[k] ? INT64_MAX : s.dim[k] * times[k];
		if (!import_check_size(v->im, "result of", v->node->name, node_val(v, x)->type, s))
			break;
		x = node_reshape(v, x, apart);
		apart.dim[1] = times[k];
		x = node_reshape(v, node_expand(v, x, apart), s);
	}
	return x;
}

int coreml_reverse(Visit *v, int x, const bool *on)
{
	Shape s = node_val(v, x)->shape;
	int64_t start[DAG_MAX_RANK], step[DAG_MAX_RANK];
	bool any = false;
	for (int k = 0; k < s.rank; k++) {
		start[k] = on[k] && s.dim[k] > 0 ? s.dim[k] - 1 : 0;
		step[k] = on[k] ? -1 : 1;
		any |= on[k];
	}
	Attr attr[] = { attr_ints("starts", start, s.rank), attr_ints("steps", step, s.rank),
		attr_ints("sizes", s.dim, s.rank) };
	return any ? node_call(v, OP_slice, &x, 1, attr, 3) : x;
}

int coreml_reverse_sequence(Visit *v, int x, int lengths, int batch_axis, int axis)
{
	Shape s = node_val(v, x)->shape, by_batch = { .rank = s.rank };
	if (node_ok(v) && batch_axis == axis)
		node_fail(v, ERR_INPUT, "its batch and its sequence are the same axis");
	if (!node_ok(v))
		return DAG_NONE;
	for (int k = 0; k < s.rank; k++)
		by_batch.dim[k] = k == batch_axis ? s.dim[k] : 1;
	int length = node_reshape(v, lengths, by_batch), at = node_count(v, s.dim[axis], axis, s.rank);
	int back = node_with_number(v, OP_sub, node_call2(v, OP_sub, length, at), 1);
	int index = node_where(v, node_call2(v, OP_less, at, length), back, at);
	int in[] = { x, node_expand(v, index, s) };
	Attr attr = attr_int("axis", axis);
	return node_call(v, OP_gather_elements, in, 2, &attr, 1);
}

int coreml_stack(Visit *v, const int *x, int n, int64_t axis)
{
	int *part = arena_array(v->im->arena, int, n + 1), at = node_axis(v, axis, node_val(v, x[0])->shape.rank + 1);
	int64_t where = at;
	for (int k = 0; k < n; k++)
		part[k] = coreml_expand_dims(v, x[k], &where, 1);
	return node_ok(v) ? node_concat(v, part, n, at) : DAG_NONE;
}

void coreml_split(Visit *v, int x, int axis, const int64_t *sizes, int n, void (*set)(Visit *, int, int))
{
	int64_t at = 0, all = node_val(v, x)->shape.dim[axis];
	for (int k = 0; k < n && node_ok(v); at += sizes[k], k++) {
		if (sizes[k] < 0 || sizes[k] > all - at) {
			node_fail(v, ERR_TYPE, "its parts need more than the %lld elements along axis %d", (long long)all, axis);
			return;
		}
		int y = node_slice(v, x, axis, at, sizes[k]);
		set(v, k, y == x ? node_call1(v, OP_identity, x) : y);
	}
	if (node_ok(v) && at != all)
		node_fail(
			v, ERR_TYPE, "its parts have %lld elements, but axis %d has %lld", (long long)at, axis, (long long)all);
}

int coreml_interleave(Visit *v, const int *x, int n, int axis)
{
	Shape s = node_val(v, x[0])->shape;
	for (int k = 1; k < n && node_ok(v); k++)
		if (!shape_eq(node_val(v, x[k])->shape, s))
			node_fail(v, ERR_TYPE, "its inputs have different shapes, but their channels alternate");
	int y = coreml_stack(v, x, n, axis + 1);
	s.dim[axis] *= n;
	return node_ok(v) ? node_reshape(v, y, s) : DAG_NONE;
}

int coreml_rearrange(Visit *v, int x, Rearrangement kind, int64_t block)
{
	Shape s = node_val(v, x)->shape;
	bool spread = kind == DEPTH_TO_SPACE || kind == PIXEL_SHUFFLE;
	if (node_ok(v) && (block < 1 || block > 1 << 15))
		node_fail(v, ERR_INPUT, "its block of %lld elements is out of range", (long long)block);
	if (node_ok(v) && (spread ? s.dim[1] % (block * block) != 0 : s.dim[2] % block != 0 || s.dim[3] % block != 0))
		node_fail(v, ERR_TYPE, "its input is not divided by blocks of %lld elements", (long long)block);
	if (!node_ok(v))
		return DAG_NONE;
	int64_t n = s.dim[0], c = s.dim[1], h = s.dim[2], w = s.dim[3], b = block, inner = c / (b * b);
	if (kind == DEPTH_TO_SPACE) { /* blocks are the outer channels */
		int y = node_view(v, x, 6, (int64_t[]){ n, b, b, inner, h, w });
		return node_view(
			v, node_transpose(v, y, (int64_t[]){ 0, 3, 4, 1, 5, 2 }), 4, (int64_t[]){ n, inner, h * b, w * b });
	}
	if (kind == PIXEL_SHUFFLE) {
		int y = node_view(v, x, 6, (int64_t[]){ n, inner, b, b, h, w });
		return node_view(
			v, node_transpose(v, y, (int64_t[]){ 0, 1, 4, 2, 5, 3 }), 4, (int64_t[]){ n, inner, h * b, w * b });
	}
	int y = node_view(v, x, 6, (int64_t[]){ n, c, h / b, b, w / b, b });
	y = kind == SPACE_TO_DEPTH ? node_transpose(v, y, (int64_t[]){ 0, 3, 5, 1, 2, 4 })
	                           : node_transpose(v, y, (int64_t[]){ 0, 1, 3, 5, 2, 4 });
	return node_view(v, y, 4, (int64_t[]){ n, size_product(c, size_product(b, b)), h / b, w / b });
}

int coreml_windows(Visit *v, int x, int64_t axis, int64_t size, int64_t step)
{
	Shape s = node_val(v, x)->shape;
	int at = node_axis(v, axis, s.rank);
	if (node_ok(v) && (size < 1 || step < 1 || size > s.dim[at] || s.rank + 1 > DAG_MAX_RANK))
		node_fail(v, ERR_TYPE, "its windows of %lld elements do not fit axis %d", (long long)size, at);
	if (!node_ok(v))
		return DAG_NONE;
	int64_t many = (s.dim[at] - size) / step + 1, dim[] = { many, size };
	if (many > NODE_COUNTED / size) {
		node_fail(v, ERR_UNSUPPORTED, "it has %lld windows of %lld elements, which are too many", (long long)many,
			(long long)size);
		return DAG_NONE;
	}
	int64_t *index = arena_array(v->im->arena, int64_t, many * size);
	for (int64_t i = 0; i < many; i++)
		for (int64_t k = 0; k < size; k++)
			index[i * size + k] = i * step + k;
	int in[] = { x, node_const(v, I64, shape_of(2, dim), index) };
	Attr attr = attr_int("axis", at);
	return node_call(v, OP_gather, in, 2, &attr, 1);
}

int coreml_band(Visit *v, int x, int64_t lower, int64_t upper)
{
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 2 at least", s.rank);
	if (!node_ok(v))
		return DAG_NONE;
	int row = node_count(v, s.dim[s.rank - 2], 0, 2), column = node_count(v, s.dim[s.rank - 1], 1, 2);
	int below = node_call2(v, OP_sub, row, column), keep = DAG_NONE;
	if (lower >= 0)
		keep = node_call2(v, OP_less_equal, below, node_number(v, I64, (double)lower));
	if (upper >= 0) {
		int under = node_call2(v, OP_less_equal, node_number(v, I64, -(double)upper), below);
		keep = keep == DAG_NONE ? under : node_call2(v, OP_bit_and, keep, under);
	}
	return keep == DAG_NONE ? x : node_where(v, keep, x, node_number(v, node_val(v, x)->type, 0));
}
