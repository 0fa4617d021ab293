/* Rows that join tensors, repeat them, turn them round, or put their elements into another order. */
#include "frontend/pytorch/aten.h"

#include <string.h>

/* Values of a list, all in one type. PyTorch ignores empty tensors of one dimension when it joins. */
static int joined(Aten *n, int **out, bool skip)
{
	int *x, count = aten_values(n, "tensors", &x), m = 0;
	DType t = aten_promote(n, aten_any(n, "tensors").list->at, count);
	*out = x;
	for (int k = 0; k < count && node_ok(n->v); k++) {
		if (x[k] == DAG_NONE)
			node_fail(n->v, ERR_TYPE, "element %d of its list is None; it must be a tensor", k);
		Shape s = node_val(n->v, x[k])->shape;
		if (!skip || s.rank != 1 || s.dim[0] != 0)
			x[m++] = node_cast(n->v, x[k], t);
	}
	if (node_ok(n->v) && m == 0 && count > 0)
		m = 1;
	if (node_ok(n->v) && m == 0)
		node_fail(n->v, ERR_INPUT, "its list of tensors is empty");
	return node_ok(n->v) ? m : 0;
}

static void import_cat(Aten *n)
{
	int *x, count = joined(n, &x, true);
	if (node_ok(n->v))
		aten_set(n, node_concat(n->v, x, count, aten_axis(n, "dim", node_val(n->v, x[0])->shape.rank)));
}

static void import_stack(Aten *n)
{
	int *x, count = joined(n, &x, false);
	Shape s = node_val(n->v, count > 0 ? x[0] : DAG_NONE)->shape;
	if (node_ok(n->v) && s.rank == DAG_MAX_RANK)
		node_fail(n->v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
	if (!node_ok(n->v))
		return;
	int axis = node_axis(n->v, aten_int(n, "dim"), s.rank + 1);
	for (int i = s.rank++; i > axis; i--)
		s.dim[i] = s.dim[i - 1];
	s.dim[axis] = 1;
	for (int k = 0; k < count && node_ok(n->v); k++)
		x[k] = node_reshape(n->v, x[k], s);
	aten_set(n, node_concat(n->v, x, count, axis));
}

/* Along the columns or the rows; vectors are rows. */
static void import_hstack(Aten *n)
{
	int *x, count = joined(n, &x, false), axis = n->row->op;
	for (int k = 0; k < count; k++) {
		Shape s = node_val(n->v, x[k])->shape;
		if (s.rank == 0)
			x[k] = node_view(n->v, x[k], 1, (int64_t[]){ 1 });
		s = node_val(n->v, x[k])->shape;
		if (axis == 0 && s.rank == 1)
			x[k] = node_view(n->v, x[k], 2, (int64_t[]){ 1, s.dim[0] });
		if (axis == 1 && s.rank == 1)
			axis = 0;
	}
	if (node_ok(n->v))
		aten_set(n, node_concat(n->v, x, count, n->row->op == 0 ? 0 : axis));
}

/* ---- repeating */

/* A dimension times a number, of which the dimensions of empty tensors give any product. */
static int64_t multiplied(Visit *v, int64_t dim, int64_t times)
{
	int64_t y = size_product(dim, times);
	if (node_ok(v) && y == (int64_t)1 << 62)
		node_fail(v, ERR_INPUT, "%lld times a dimension of %lld is too many", (long long)times, (long long)dim);
	return y;
}

static int tiled(Aten *n, int x, const int64_t *times, int count)
{
	Visit *v = n->v;
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (count < s.rank || count > DAG_MAX_RANK))
		node_fail(v, ERR_TYPE, "it repeats %d dimensions by %d numbers", s.rank, count);
	for (int k = 0; k < count && node_ok(v); k++)
		if (times[k] < 0 || times[k] > INT32_MAX)
			node_fail(v, ERR_INPUT, "it repeats its input %lld times", (long long)times[k]);
	if (!node_ok(v))
		return x;
	Shape wide = { .rank = count };
	for (int k = 0; k < count; k++)
		wide.dim[k] = k < count - s.rank ? 1 : s.dim[k - (count - s.rank)];
	x = node_reshape(v, x, wide);
	for (int k = 0; k < count && node_ok(v); k++) {
		if (times[k] == 1)
			continue;
		Shape parts = { .rank = 3, .dim = { shape_product(&wide, 0, k), 1, shape_product(&wide, k, count) } };
		x = node_reshape(v, x, parts);
		parts.dim[1] = times[k];
		x = node_expand(v, x, parts);
		wide.dim[k] = multiplied(v, wide.dim[k], times[k]);
		x = node_reshape(v, x, wide);
	}
	return x;
}

static void import_repeat(Aten *n)
{
	int64_t times[ATEN_INTS];
	int x = aten_value(n, "self"), rank = node_val(n->v, x)->shape.rank;
	const char *name = n->row->op == 0 ? "repeats" : "dims";
	int count = aten_ints(n, name, -1, times);
	if (n->row->op != 0 && count < rank) { /* tile pads with ones in front */
		memmove(&times[rank - count], times, sizeof *times * (size_t)count);
		for (int k = 0; k < rank - count; k++)
			times[k] = 1;
		count = rank;
	}
	aten_set(n, tiled(n, x, times, count));
}

static void import_repeat_interleave(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self");
	Shape s = node_val(v, x)->shape;
	if (!aten_given(n, "dim")) {
		int64_t all = shape_product(&s, 0, s.rank);
		x = node_view(v, x, 1, &all);
		s = shape_of(1, &all);
	}
	int axis = aten_given(n, "dim") ? aten_axis(n, "dim", s.rank) : 0;
	int64_t times = aten_int(n, "repeats");
	aten_any(n, "output_size");
	if (node_ok(v) && (times < 0 || times > INT32_MAX || s.rank == 0))
		node_fail(v, ERR_INPUT, "it repeats its input %lld times", (long long)times);
	if (!node_ok(v))
		return;
	Shape parts = { .rank = 3, .dim = { shape_product(&s, 0, axis + 1), 1, shape_product(&s, axis + 1, s.rank) } };
	x = node_reshape(v, x, parts);
	parts.dim[1] = times;
	s.dim[axis] = multiplied(v, s.dim[axis], times);
	aten_set(n, node_reshape(v, node_expand(v, x, parts), s));
}

/* ---- turning round */

static int flipped(Aten *n, int x, int axis)
{
	Shape s = node_val(n->v, x)->shape;
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK];
	for (int k = 0; k < s.rank; k++)
		step[k] = 1;
	if (s.rank == 0 || s.dim[axis] == 0)
		return x;
	start[axis] = s.dim[axis] - 1;
	step[axis] = -1;
	Attr attr[] = { attr_ints("starts", start, s.rank), attr_ints("steps", step, s.rank),
		attr_ints("sizes", s.dim, s.rank) };
	return node_call(n->v, OP_slice, &x, 1, attr, 3);
}

static void import_flip(Aten *n)
{
	int64_t axes[ATEN_INTS] = { n->row->op - 1 };
	int x = aten_value(n, "self"), rank = node_val(n->v, x)->shape.rank;
	int count = n->row->op > 0 ? 1 : aten_ints(n, "dims", -1, axes);
	for (int k = 0; k < count && node_ok(n->v); k++)
		x = flipped(n, x, node_axis(n->v, axes[k], rank));
	aten_set(n, x);
}

static int rolled(Aten *n, int x, int axis, int64_t by)
{
	Shape s = node_val(n->v, x)->shape;
	int64_t all = s.dim[axis], from = all > 0 ? (all - by % all) % all : 0;
	if (from == 0)
		return x;
	int part[] = { node_slice(n->v, x, axis, from, all - from), node_slice(n->v, x, axis, 0, from) };
	return node_concat(n->v, part, 2, axis);
}

static void import_roll(Aten *n)
{
	int64_t by[ATEN_INTS], axes[ATEN_INTS];
	int x = aten_value(n, "self"), count = aten_ints(n, "shifts", -1, by), other = aten_ints(n, "dims", -1, axes);
	Shape s = node_val(n->v, x)->shape;
	if (other == 0 && count == 1) {
		int64_t all = shape_product(&s, 0, s.rank);
		aten_set(n, node_reshape(n->v, rolled(n, node_view(n->v, x, 1, &all), 0, by[0]), s));
		return;
	}
	if (node_ok(n->v) && count != other)
		node_fail(n->v, ERR_TYPE, "it has %d shifts for %d dimensions", count, other);
	for (int k = 0; k < count && node_ok(n->v); k++)
		x = rolled(n, x, node_axis(n->v, axes[k], s.rank), by[k]);
	aten_set(n, x);
}

static void import_rot90(Aten *n)
{
	int64_t axes[ATEN_INTS], perm[DAG_MAX_RANK], k = ((aten_int(n, "k") % 4) + 4) % 4;
	int x = aten_value(n, "self"), rank = node_val(n->v, x)->shape.rank;
	if (aten_ints(n, "dims", aten_given(n, "dims") ? 2 : -1, axes) == 0)
		axes[1] = 1;
	int a = node_axis(n->v, axes[0], rank), b = node_axis(n->v, axes[1], rank);
	if (node_ok(n->v) && a == b)
		node_fail(n->v, ERR_INPUT, "it turns dimension %d into itself", a);
	for (int i = 0; i < rank; i++)
		perm[i] = i == a ? b : i == b ? a : i;
	if (!node_ok(n->v))
		return;
	if (k >= 2)
		x = flipped(n, flipped(n, x, a), b);
	if (k % 2 != 0)
		x = node_transpose(n->v, flipped(n, x, b), perm);
	aten_set(n, x);
}

/* Differences of neighbours. */
static void import_diff(Aten *n)
{
	int x = aten_value(n, "self");
	Shape s = node_val(n->v, x)->shape;
	int axis = aten_axis(n, "dim", s.rank);
	if (node_ok(n->v) && (s.rank == 0 || s.dim[axis] < 1 || aten_int(n, "n") != 1))
		node_fail(n->v, ERR_UNSUPPORTED, "only the first differences of tensors with elements are supported");
	if (!node_ok(n->v))
		return;
	int64_t size = s.dim[axis] - 1;
	aten_set(n, node_call2(n->v, OP_sub, node_slice(n->v, x, axis, 1, size), node_slice(n->v, x, axis, 0, size)));
}

/* a x b of vectors of three elements: a[1] b[2] - a[2] b[1] and so on round. */
static void import_cross(Aten *n)
{
	Visit *v = n->v;
	int a = aten_value(n, "self"), b = aten_value(n, "other");
	Shape s = node_val(v, a)->shape;
	int axis = aten_given(n, "dim") ? aten_axis(n, "dim", s.rank) : 0;
	while (!aten_given(n, "dim") && axis < s.rank - 1 && s.dim[axis] != 3)
		axis++;
	if (node_ok(v) && (s.rank == 0 || s.dim[axis] != 3 || !shape_eq(s, node_val(v, b)->shape)))
		node_fail(v, ERR_TYPE, "its inputs are not vectors of 3 elements");
	if (!node_ok(v))
		return;
	int left = node_call2(v, OP_mul, rolled(n, a, axis, -1), rolled(n, b, axis, -2));
	aten_set(n, node_call2(v, OP_sub, left, node_call2(v, OP_mul, rolled(n, a, axis, -2), rolled(n, b, axis, -1))));
}

/* A diagonal of two dimensions, which becomes the last one: each (columns + 1)th element of them. It is a view. */
static void import_diagonal(Aten *n)
{
	Visit *v = n->v;
	int m = 0;
	Shape s = aten_shape(n, "self"), out = { .rank = 0 };
	int64_t offset = aten_int(n, "offset"), perm[DAG_MAX_RANK];
	int a = aten_axis(n, "dim1", s.rank), b = aten_axis(n, "dim2", s.rank);
	if (node_ok(v) && (s.rank < 2 || a == b || offset < -INT32_MAX || offset > INT32_MAX))
		node_fail(v, ERR_TYPE, "its dimensions have no diagonal");
	if (!node_ok(v))
		return;
	for (int k = 0; k < s.rank; k++)
		if (k != a && k != b) {
			out.dim[out.rank++] = s.dim[k];
			perm[m++] = k;
		}
	perm[m++] = a;
	perm[m] = b;
	int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
	int64_t size = s.dim[a] - row < s.dim[b] - column ? s.dim[a] - row : s.dim[b] - column;
	out.dim[out.rank++] = multiplied(v, s.dim[a], s.dim[b]);
	if (!node_ok(v))
		return;
	TorchValue y = torch_view_order(v, aten_tensor(n, "self"), perm);
	y = torch_view_shape(v, y.tensor, out);
	bool none = size <= 0;
	aten_give(n, torch_view_part(v, y.tensor, out.rank - 1, none ? 0 : row * s.dim[b] + column, none ? 1 : s.dim[b] + 1,
					 none ? 0 : size));
}

/* ---- blocks of channels and space */

/* x[.., C r r, H, W] -> [.., C, H r, W r], or back */
static void import_pixel_shuffle(Aten *n)
{
	Visit *v = n->v;
	bool back = n->row->op != 0;
	int64_t r = aten_int(n, back ? "downscale_factor" : "upscale_factor");
	int x = aten_value(n, "self");
	Shape s = node_val(v, x)->shape;
	bool fits = s.rank >= 3 && r >= 1 && r <= 1 << 15;
	if (fits && back)
		fits = s.dim[s.rank - 1] % r == 0 && s.dim[s.rank - 2] % r == 0;
	else if (fits)
		fits = s.dim[s.rank - 3] % (r * r) == 0;
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its input cannot be cut into blocks of %lld", (long long)r);
	if (!node_ok(v))
		return;
	int64_t all = shape_product(&s, 0, s.rank - 3), c = s.dim[s.rank - 3], h = s.dim[s.rank - 2], w = s.dim[s.rank - 1];
	if (back) {
		x = node_view(v, x, 6, (int64_t[]){ all, c, h / r, r, w / r, r });
		x = node_transpose(v, x, (int64_t[]){ 0, 1, 3, 5, 2, 4 });
		c = multiplied(v, c, r * r), h /= r, w /= r;
	} else {
		c /= r * r;
		x = node_view(v, x, 6, (int64_t[]){ all, c, r, r, h, w });
		x = node_transpose(v, x, (int64_t[]){ 0, 1, 4, 2, 5, 3 });
		h = multiplied(v, h, r), w = multiplied(v, w, r);
	}
	s.dim[s.rank - 3] = c, s.dim[s.rank - 2] = h, s.dim[s.rank - 1] = w;
	aten_set(n, node_reshape(v, x, s));
}

static void import_channel_shuffle(Aten *n)
{
	Visit *v = n->v;
	int64_t groups = aten_int(n, "groups");
	int x = aten_value(n, "self");
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (s.rank < 3 || groups < 1 || s.dim[1] % groups != 0))
		node_fail(v, ERR_TYPE, "its channels cannot be cut into %lld groups", (long long)groups);
	if (!node_ok(v))
		return;
	x = node_view(v, x, 4, (int64_t[]){ s.dim[0], groups, s.dim[1] / groups, shape_product(&s, 2, s.rank) });
	aten_set(n, node_reshape(v, node_transpose(v, x, (int64_t[]){ 0, 2, 1, 3 }), s));
}

/* ---- lists of tensors, whose results are views */

static TorchTensor *tensor_at(Aten *n, int k)
{
	return aten_any(n, "tensors").list->at[k].tensor;
}

static TorchValue widened(Visit *v, TorchTensor *t, Shape shape)
{
	return torch_view(v, t, &(TorchView){ .kind = VIEW_WIDE, .shape = shape });
}

static void import_meshgrid(Aten *n)
{
	Visit *v = n->v;
	bool xy = strcmp(aten_text(n, "indexing"), "xy") == 0;
	int *x, count = aten_values(n, "tensors", &x);
	TorchValue all = torch_list(v->im->arena, TORCH_TUPLE);
	Shape s = { .rank = count };
	if (node_ok(v) && (count < 1 || count > DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "it makes a grid of %d dimensions", count);
	for (int k = 0; k < count && node_ok(v); k++) {
		Shape t = node_val(v, x[k])->shape;
		s.dim[xy && k < 2 && count >= 2 ? 1 - k : k] = shape_product(&t, 0, t.rank);
	}
	for (int k = 0; k < count && node_ok(v); k++) {
		Shape t = { .rank = count };
		int at = xy && k < 2 && count >= 2 ? 1 - k : k;
		for (int i = 0; i < count; i++)
			t.dim[i] = i == at ? s.dim[at] : 1;
		torch_push(v->im->arena, all.list, widened(v, torch_view_shape(v, tensor_at(n, k), t).tensor, s));
	}
	aten_give(n, all);
}

static void import_broadcast_tensors(Aten *n)
{
	Visit *v = n->v;
	int *x, count = aten_values(n, "tensors", &x);
	TorchValue all = torch_list(v->im->arena, TORCH_TUPLE);
	Shape s = { .rank = 0 };
	for (int k = 0; k < count && node_ok(v); k++) {
		Shape t = node_val(v, x[k])->shape;
		for (; s.rank < t.rank; s.rank++) {
			memmove(&s.dim[1], s.dim, sizeof *s.dim * (size_t)(DAG_MAX_RANK - 1));
			s.dim[0] = 1;
		}
		for (int i = 0; i < t.rank; i++)
			if (t.dim[i] != 1)
				s.dim[s.rank - t.rank + i] = t.dim[i];
	}
	for (int k = 0; k < count && node_ok(v); k++)
		torch_push(v->im->arena, all.list, widened(v, tensor_at(n, k), s));
	aten_give(n, all);
}

static void import_atleast(Aten *n)
{
	Shape s = aten_shape(n, "self"), t = s;
	while (t.rank < n->row->op) {
		bool front = n->row->op == 2 || (n->row->op == 3 && t.rank == 1);
		if (front) {
			memmove(&t.dim[1], t.dim, sizeof *t.dim * (size_t)t.rank);
			t.dim[0] = 1;
			t.rank++;
		} else {
			t.dim[t.rank++] = 1;
		}
	}
	aten_give(n, torch_view_shape(n->v, aten_tensor(n, "self"), t));
}

const AtenRow torch_join_rows[] = {
	{ "cat", "tensors:L dim:i=0", import_cat, 0 },
	{ "concat", "tensors:L dim:i=0", import_cat, 0 },
	{ "concatenate", "tensors:L dim:i=0", import_cat, 0 },
	{ "stack", "tensors:L dim:i=0", import_stack, 0 },
	{ "hstack", "tensors:L", import_hstack, 1 },
	{ "vstack", "tensors:L", import_hstack, 0 },
	{ "row_stack", "tensors:L", import_hstack, 0 },
	{ "repeat", "self:T repeats:I", import_repeat, 0 },
	{ "tile", "self:T dims:I", import_repeat, 1 },
	{ "repeat_interleave", "self:T repeats:i dim:i? output_size:i?", import_repeat_interleave, 0 },
	{ "flip", "self:T dims:I", import_flip, 0 },
	{ "flipud", "self:T", import_flip, 1 },
	{ "fliplr", "self:T", import_flip, 2 },
	{ "roll", "self:T shifts:I dims:I?", import_roll, 0 },
	{ "rot90", "self:T k:i=1 dims:I?", import_rot90, 0 },
	{ "diff", "self:T n:i=1 dim:i=-1", import_diff, 0 },
	{ "cross", "self:T other:T dim:i?", import_cross, 0 },
	{ "linalg_cross", "self:T other:T dim:i=-1", import_cross, 0 },
	{ "diagonal", "self:T offset:i=0 dim1:i=0 dim2:i=1", import_diagonal, 0 },
	{ "linalg_diagonal", "self:T offset:i=0 dim1:i=-2 dim2:i=-1", import_diagonal, 0 },
	{ "pixel_shuffle", "self:T upscale_factor:i", import_pixel_shuffle, 0 },
	{ "pixel_unshuffle", "self:T downscale_factor:i", import_pixel_shuffle, 1 },
	{ "channel_shuffle", "self:T groups:i", import_channel_shuffle, 0 },
	{ "native_channel_shuffle", "self:T groups:i", import_channel_shuffle, 0 },
	{ "meshgrid", "tensors:L indexing:s?", import_meshgrid, 0 },
	{ "broadcast_tensors", "tensors:L", import_broadcast_tensors, 0 },
	{ "atleast_1d", "self:T", import_atleast, 1 },
	{ "atleast_2d", "self:T", import_atleast, 2 },
	{ "atleast_3d", "self:T", import_atleast, 3 },
	{ NULL, NULL, NULL, 0 },
};
