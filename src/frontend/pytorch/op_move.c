/* Rows of views: the same elements in another shape or order, and parts of them. */
#include "frontend/pytorch/aten.h"

#include <string.h>

/* A shape with at most one -1, for `all` elements. */
static bool fill_shape(Aten *n, const int64_t *dim, int count, int64_t all, Shape *out)
{
	int open = -1;
	int64_t known = 1;
	if (count > DAG_MAX_RANK)
		node_fail(n->v, ERR_UNSUPPORTED, "its shape has %d dimensions; dlc takes at most %d", count, DAG_MAX_RANK);
	*out = shape_of(0, NULL);
	for (int k = 0; k < count && node_ok(n->v); k++) {
		out->dim[k] = dim[k];
		if (dim[k] == -1 && open < 0)
			open = k;
		else if (dim[k] < 0 || (dim[k] > 0 && known > ((int64_t)1 << 62) / dim[k]))
			node_fail(n->v, ERR_INPUT, "its shape holds %lld", (long long)dim[k]);
		else
			known *= dim[k];
	}
	out->rank = node_ok(n->v) ? count : 0;
	if (node_ok(n->v) && open >= 0)
		out->dim[open] = known > 0 ? all / known : 0;
	if (node_ok(n->v) && shape_product(out, 0, out->rank) != all)
		node_fail(n->v, ERR_TYPE, "its shape does not have the %lld elements of its input", (long long)all);
	return node_ok(n->v);
}

static void give_shape(Aten *n, Shape s, bool view)
{
	TorchTensor *t = aten_tensor(n, "self");
	if (node_ok(n->v))
		aten_give(n, view ? torch_view_shape(n->v, t, s) : torch_reshape(n->v, t, s));
}

static void import_reshape(Aten *n)
{
	int64_t dim[ATEN_INTS];
	int count = aten_ints(n, n->row->op != 0 ? "size" : "shape", -1, dim);
	Shape s = aten_shape(n, "self"), to;
	if (fill_shape(n, dim, count, shape_product(&s, 0, s.rank), &to))
		give_shape(n, to, n->row->op != 0);
}

static void import_view_as(Aten *n)
{
	Shape s = aten_shape(n, "self"), like = aten_shape(n, "other"), to;
	if (fill_shape(n, like.dim, like.rank, shape_product(&s, 0, s.rank), &to))
		give_shape(n, to, n->row->op != 0);
}

/* view(dtype): the bits as another type of as many. */
static void import_view_type(Aten *n)
{
	char name[DTYPE_TEXT];
	int x = aten_value(n, "self");
	DType t = aten_type(n, "dtype", F32);
	Attr to = attr_text("to", dtype_print(t, name));
	if (dtype_eq(t, node_val(n->v, x)->type))
		aten_give(n, aten_any(n, "self"));
	else
		aten_give(n, torch_copy_of(n->v, aten_tensor(n, "self"), node_call(n->v, OP_bitcast, &x, 1, &to, 1)));
}

static void import_flatten(Aten *n)
{
	Shape s = aten_shape(n, "self"), to = { .rank = 0 };
	int from = aten_axis(n, "start_dim", s.rank), last = aten_axis(n, "end_dim", s.rank);
	if (node_ok(n->v) && s.rank > 0 && last < from)
		node_fail(n->v, ERR_INPUT, "it flattens from dimension %d to %d", from, last);
	for (int k = 0; k < s.rank; k++)
		if (k <= from || k > last)
			to.dim[to.rank++] = k == from ? shape_product(&s, from, last + 1) : s.dim[k];
	if (s.rank == 0)
		to = shape_of(1, (int64_t[]){ 1 });
	give_shape(n, to, false);
}

static void import_unflatten(Aten *n)
{
	int64_t size[ATEN_INTS];
	int count = aten_ints(n, "sizes", -1, size);
	Shape s = aten_shape(n, "self"), part, to = { .rank = 0 };
	int axis = aten_axis(n, "dim", s.rank);
	if (!fill_shape(n, size, count, s.dim[axis], &part))
		return;
	if (s.rank - 1 + count > DAG_MAX_RANK) {
		node_fail(n->v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
		return;
	}
	for (int k = 0; k < s.rank; k++) {
		if (k != axis)
			to.dim[to.rank++] = s.dim[k];
		for (int i = 0; k == axis && i < count; i++)
			to.dim[to.rank++] = part.dim[i];
	}
	give_shape(n, to, true);
}

static void import_squeeze(Aten *n)
{
	int64_t at[ATEN_INTS];
	Shape s = aten_shape(n, "self"), to = { .rank = 0 };
	bool all = !aten_given(n, "dim"), out[DAG_MAX_RANK + 1] = { false };
	int count = aten_ints(n, "dim", -1, at);
	for (int k = 0; k < count && s.rank > 0; k++)
		out[node_axis(n->v, at[k], s.rank)] = true;
	for (int k = 0; k < s.rank; k++)
		if (s.dim[k] != 1 || (!all && !out[k]))
			to.dim[to.rank++] = s.dim[k];
	give_shape(n, to, true);
}

static void import_unsqueeze(Aten *n)
{
	Shape s = aten_shape(n, "self"), to = { .rank = 0 };
	if (s.rank == DAG_MAX_RANK)
		node_fail(n->v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
	int axis = node_axis(n->v, aten_int(n, "dim"), s.rank + 1);
	for (int k = 0; k <= s.rank && node_ok(n->v); k++)
		to.dim[to.rank++] = k == axis ? 1 : s.dim[k - (k > axis)];
	give_shape(n, to, true);
}

static void give_order(Aten *n, const int64_t *perm)
{
	TorchTensor *t = aten_tensor(n, "self");
	if (node_ok(n->v))
		aten_give(n, torch_view_order(n->v, t, perm));
}

static void import_permute(Aten *n)
{
	int64_t perm[ATEN_INTS];
	bool used[DAG_MAX_RANK + 1] = { false };
	Shape s = aten_shape(n, "self");
	int count = aten_ints(n, "dims", -1, perm);
	if (node_ok(n->v) && count != s.rank)
		node_fail(n->v, ERR_TYPE, "it orders %d dimensions of %d", count, s.rank);
	for (int k = 0; k < count && node_ok(n->v); k++) {
		perm[k] = node_axis(n->v, perm[k], s.rank);
		if (used[perm[k]])
			node_fail(n->v, ERR_INPUT, "its order has dimension %lld twice", (long long)perm[k]);
		used[perm[k]] = true;
	}
	give_order(n, perm);
}

static void import_transpose(Aten *n)
{
	int64_t perm[DAG_MAX_RANK];
	Shape s = aten_shape(n, "self");
	bool axes = n->row->op != 0; /* swapaxes calls them so */
	int a = aten_axis(n, axes ? "axis0" : "dim0", s.rank), b = aten_axis(n, axes ? "axis1" : "dim1", s.rank);
	for (int k = 0; k < s.rank; k++)
		perm[k] = k == a ? b : k == b ? a : k;
	give_order(n, perm);
}

/* All dimensions, or the last two, in reverse. */
static void import_turn(Aten *n)
{
	int64_t perm[DAG_MAX_RANK];
	Shape s = aten_shape(n, "self");
	for (int k = 0; k < s.rank; k++)
		perm[k] = n->row->op == 0 ? s.rank - 1 - k : k;
	if (n->row->op != 0 && s.rank >= 2) {
		perm[s.rank - 1] = s.rank - 2;
		perm[s.rank - 2] = s.rank - 1;
	}
	give_order(n, perm);
}

static void import_movedim(Aten *n)
{
	int64_t from[ATEN_INTS], to[ATEN_INTS], perm[DAG_MAX_RANK];
	bool used[DAG_MAX_RANK + 1] = { false };
	Shape s = aten_shape(n, "self");
	int count = aten_ints(n, "source", -1, from), other = aten_ints(n, "destination", -1, to), next = 0;
	if (node_ok(n->v) && count != other)
		node_fail(n->v, ERR_TYPE, "it moves %d dimensions to %d", count, other);
	for (int k = 0; k < s.rank; k++)
		perm[k] = -1;
	for (int k = 0; k < count && node_ok(n->v); k++) {
		int a = node_axis(n->v, from[k], s.rank), b = node_axis(n->v, to[k], s.rank);
		if (node_ok(n->v) && (used[a] || perm[b] >= 0))
			node_fail(n->v, ERR_INPUT, "it moves a dimension twice");
		used[a] = true;
		perm[b] = a;
	}
	for (int k = 0; k < s.rank; k++) {
		while (next < s.rank && used[next])
			next++;
		if (perm[k] < 0)
			perm[k] = next++;
	}
	give_order(n, perm);
}

/* ---- larger and smaller */

static void import_expand(Aten *n)
{
	int64_t dim[ATEN_INTS];
	TorchTensor *t = aten_tensor(n, "self");
	Shape s = aten_shape(n, "self"), to = { .rank = 0 };
	if (n->row->op == 0) {
		to.rank = aten_ints(n, "size", -1, dim);
	} else {
		Shape other = aten_shape(n, "other");
		to.rank = other.rank;
		memcpy(dim, other.dim, sizeof other.dim);
	}
	if (node_ok(n->v) && (to.rank > DAG_MAX_RANK || to.rank < s.rank))
		node_fail(n->v, ERR_TYPE, "it expands %d dimensions to %d", s.rank, to.rank);
	for (int k = 0; k < to.rank && node_ok(n->v); k++) {
		int at = k - (to.rank - s.rank);
		to.dim[k] = dim[k] == -1 && at >= 0 ? s.dim[at] : dim[k];
		if (to.dim[k] < 0 || (at >= 0 && s.dim[at] != 1 && s.dim[at] != to.dim[k]))
			node_fail(n->v, ERR_TYPE, "it expands dimension %d to %lld", k, (long long)dim[k]);
	}
	if (!node_ok(n->v))
		return;
	bool same = shape_eq(s, to);
	aten_give(
		n, same ? torch_view_shape(n->v, t, s) : torch_view(n->v, t, &(TorchView){ .kind = VIEW_WIDE, .shape = to }));
}

/* Element `at` along an axis, whose dimension goes. */
static TorchValue selected(Aten *n, TorchTensor *t, int axis, int64_t at)
{
	Shape s = torch_shape(n->v, t);
	TorchValue part = torch_view_part(n->v, t, axis, at, 1, 1);
	for (int k = axis; k + 1 < s.rank; k++)
		s.dim[k] = s.dim[k + 1];
	s.dim[s.rank - 1] = 0;
	s.rank--;
	return node_ok(n->v) ? torch_view_shape(n->v, part.tensor, s) : part;
}

static void import_select(Aten *n)
{
	TorchTensor *t = aten_tensor(n, "self");
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank);
	int64_t at = aten_int(n, "index");
	if (node_ok(n->v) && (s.rank == 0 || at < -s.dim[axis] || at >= s.dim[axis]))
		node_fail(n->v, ERR_INPUT, "element %lld is outside of dimension %d", (long long)at, axis);
	if (node_ok(n->v))
		aten_give(n, selected(n, t, axis, at < 0 ? at + s.dim[axis] : at));
}

static int64_t clamped(int64_t x, int64_t n)
{
	x = x < 0 ? x + n : x;
	return x < 0 ? 0 : x > n ? n : x;
}

static void import_slice(Aten *n)
{
	TorchTensor *t = aten_tensor(n, "self");
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank);
	int64_t start = aten_given(n, "start") ? aten_int(n, "start") : 0, step = aten_int(n, "step");
	int64_t end = aten_given(n, "end") ? aten_int(n, "end") : INT64_MAX;
	if (node_ok(n->v) && (s.rank == 0 || step < 1))
		node_fail(n->v, ERR_INPUT, "it slices a scalar, or with a step of %lld", (long long)step);
	if (!node_ok(n->v))
		return;
	start = clamped(start, s.dim[axis]);
	end = clamped(end, s.dim[axis]);
	int64_t size = end > start ? (end - start - 1) / step + 1 : 0;
	aten_give(n, torch_view_part(n->v, t, axis, start, size <= 1 ? 1 : step, size));
}

static void import_narrow(Aten *n)
{
	TorchTensor *t = aten_tensor(n, "self");
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank);
	int64_t start = aten_int(n, "start"), size = aten_int(n, "length");
	start += start < 0 ? s.dim[axis] : 0;
	if (node_ok(n->v) && (s.rank == 0 || start < 0 || size < 0 || size > s.dim[axis] || start > s.dim[axis] - size))
		node_fail(n->v, ERR_INPUT, "elements %lld.. are outside of dimension %d", (long long)start, axis);
	if (node_ok(n->v))
		aten_give(n, torch_view_part(n->v, t, axis, start, 1, size));
}

/* Parts along an axis, one behind the other. */
static void give_parts(Aten *n, int axis, const int64_t *size, int64_t count)
{
	TorchTensor *t = aten_tensor(n, "self");
	TorchValue all = torch_list(n->v->im->arena, TORCH_LIST);
	Shape s = aten_shape(n, "self");
	int64_t at = 0;
	torch_spend(n->v, 8 * count);
	for (int64_t k = 0; k < count && node_ok(n->v); k++) {
		if (size[k] < 0 || size[k] > s.dim[axis] - at) {
			node_fail(n->v, ERR_TYPE, "its parts are not dimension %d", axis);
			return;
		}
		torch_push(n->v->im->arena, all.list, torch_view_part(n->v, t, axis, at, 1, size[k]));
		at += size[k];
	}
	aten_give(n, all);
}

enum { MOST_PARTS = 1 << 16 };

/* Parts of `each` elements, the last one smaller. */
static void give_equal(Aten *n, int axis, int64_t all, int64_t each)
{
	if (node_ok(n->v) && (each < 0 || (each == 0 && all > 0) || (each > 0 && all / each > MOST_PARTS)))
		node_fail(n->v, ERR_INPUT, "parts of %lld elements cannot be cut", (long long)each);
	if (!node_ok(n->v))
		return;
	int64_t count = each > 0 && all > 0 ? (all - 1) / each + 1 : 1;
	int64_t *size = arena_array(n->v->im->arena, int64_t, count);
	for (int64_t k = 0; k < count; k++)
		size[k] = k + 1 < count ? each : all - (count - 1) * each;
	give_parts(n, axis, size, count);
}

static void import_split(Aten *n)
{
	const char *name = n->row->op != 0 ? "split_sizes" : "split_size";
	TorchValue x = aten_any(n, name);
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank);
	if (x.kind != TORCH_LIST && x.kind != TORCH_TUPLE) {
		give_equal(n, axis, s.dim[axis], aten_int(n, name));
		return;
	}
	int64_t *size = arena_array(n->v->im->arena, int64_t, x.list->n + 1);
	for (size_t k = 0; k < x.list->n; k++)
		torch_to_int(n->v, x.list->at[k], &size[k]);
	give_parts(n, axis, size, (int64_t)x.list->n);
}

static void import_chunk(Aten *n)
{
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank);
	int64_t count = aten_int(n, "chunks"), all = s.dim[axis];
	if (node_ok(n->v) && (count < 1 || count > MOST_PARTS || s.rank == 0))
		node_fail(n->v, ERR_INPUT, "it cuts its input into %lld parts", (long long)count);
	if (node_ok(n->v))
		give_equal(n, axis, all, all > 0 ? (all - 1) / count + 1 : 1);
}

/* Parts that differ by one element at most, or that end where numbers say. */
static void import_tensor_split(Aten *n)
{
	const char *name = n->row->op != 0 ? "indices" : "sections";
	TorchValue x = aten_any(n, name);
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank), count = 0;
	int64_t all = s.dim[axis], at[ATEN_INTS], *size;
	if (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE) {
		int ends = aten_ints(n, name, -1, at);
		size = arena_array(n->v->im->arena, int64_t, ends + 1);
		for (int64_t before = 0; count <= ends; count++) {
			int64_t end = count < ends ? clamped(at[count], all) : all;
			size[count] = end - before;
			before = end;
		}
	} else {
		int64_t parts = aten_int(n, "sections");
		if (node_ok(n->v) && (parts < 1 || parts > MOST_PARTS))
			node_fail(n->v, ERR_INPUT, "it cuts its input into %lld parts", (long long)parts);
		if (!node_ok(n->v))
			return;
		size = arena_array(n->v->im->arena, int64_t, parts);
		for (; count < parts; count++)
			size[count] = all / parts + (count < all % parts);
	}
	give_parts(n, axis, size, count);
}

static void import_unbind(Aten *n)
{
	TorchTensor *t = aten_tensor(n, "self");
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank);
	TorchValue all = torch_list(n->v->im->arena, TORCH_LIST);
	if (node_ok(n->v) && (s.rank == 0 || s.dim[axis] > MOST_PARTS))
		node_fail(n->v, ERR_UNSUPPORTED, "it takes apart a scalar, or more than %d elements", MOST_PARTS);
	torch_spend(n->v, node_ok(n->v) ? 8 * s.dim[axis] : 0);
	for (int64_t k = 0; node_ok(n->v) && k < s.dim[axis]; k++)
		torch_push(n->v->im->arena, all.list, selected(n, t, axis, k));
	aten_give(n, all);
}

/* ---- the same tensor, and copies of it */

static void import_alias(Aten *n)
{
	aten_give(n, aten_any(n, "self"));
}

static void import_contiguous(Aten *n)
{
	TorchTensor *t = aten_tensor(n, "self");
	if (torch_is_dense(n->v, t) && !aten_reorders(n))
		aten_give(n, aten_any(n, "self"));
	else
		aten_give(n, torch_copy_of(n->v, t, aten_value(n, "self")));
}

static void import_clone(Aten *n)
{
	aten_set(n, aten_value(n, "self"));
}

const AtenRow torch_move_rows[] = {
	{ "view", "self:T size:I", import_reshape, 1 },
	{ "view.dtype", "self:T dtype:i", import_view_type, 0 },
	{ "_unsafe_view", "self:T size:I", import_reshape, 1 },
	{ "reshape", "self:T shape:I", import_reshape, 0 },
	{ "view_as", "self:T other:T", import_view_as, 1 },
	{ "reshape_as", "self:T other:T", import_view_as, 0 },
	{ "flatten", "self:T start_dim:i=0 end_dim:i=-1", import_flatten, 0 },
	{ "ravel", "self:T start_dim:i=0 end_dim:i=-1", import_flatten, 0 },
	{ "unflatten", "self:T dim:i sizes:I", import_unflatten, 0 },
	{ "squeeze", "self:T dim:I?", import_squeeze, 0 },
	{ "unsqueeze", "self:T dim:i", import_unsqueeze, 0 },
	{ "permute", "self:T dims:I", import_permute, 0 },
	{ "transpose", "self:T dim0:i dim1:i", import_transpose, 0 },
	{ "swapaxes", "self:T axis0:i axis1:i", import_transpose, 1 },
	{ "swapdims", "self:T dim0:i dim1:i", import_transpose, 0 },
	{ "t", "self:T", import_turn, 0 },
	{ "numpy_T", "self:T", import_turn, 0 },
	{ "mT", "self:T", import_turn, 1 },
	{ "adjoint", "self:T", import_turn, 1 },
	{ "movedim", "self:T source:I destination:I", import_movedim, 0 },
	{ "moveaxis", "self:T source:I destination:I", import_movedim, 0 },
	{ "expand", "self:T size:I implicit:_?", import_expand, 0 },
	{ "broadcast_to", "self:T size:I", import_expand, 0 },
	{ "expand_as", "self:T other:T", import_expand, 1 },
	{ "select", "self:T dim:i index:i", import_select, 0 },
	{ "slice", "self:T dim:i=0 start:i? end:i? step:i=1", import_slice, 0 },
	{ "narrow", "self:T dim:i start:i length:i", import_narrow, 0 },
	{ "split", "self:T split_size:I dim:i=0", import_split, 0 },
	{ "split.sizes", "self:T split_sizes:I dim:i=0", import_split, 1 },
	{ "split_with_sizes", "self:T split_sizes:I dim:i=0", import_split, 1 },
	{ "unsafe_split", "self:T split_size:I dim:i=0", import_split, 0 },
	{ "unsafe_split_with_sizes", "self:T split_sizes:I dim:i=0", import_split, 1 },
	{ "chunk", "self:T chunks:i dim:i=0", import_chunk, 0 },
	{ "unsafe_chunk", "self:T chunks:i dim:i=0", import_chunk, 0 },
	{ "tensor_split", "self:T sections:I dim:i=0", import_tensor_split, 0 },
	{ "tensor_split.indices", "self:T indices:I dim:i=0", import_tensor_split, 1 },
	{ "unbind", "self:T dim:i=0", import_unbind, 0 },
	{ "detach!", "self:T", import_alias, 0 },
	{ "alias", "self:T", import_alias, 0 },
	{ "lift_fresh", "self:T", import_alias, 0 },
	{ "requires_grad_", "self:T requires_grad:_?", import_alias, 0 },
	{ "contiguous", "self:T memory_format:_?", import_contiguous, 0 },
	{ "clone", "self:T memory_format:_?", import_clone, 0 },
	{ "detach_copy", "self:T", import_clone, 0 },
	{ "lift_fresh_copy", "self:T", import_clone, 0 },
	{ "alias_copy", "self:T", import_clone, 0 },
	{ NULL, NULL, NULL, 0 },
};
