/* Rows that write elements at places into a copy of a tensor. */
#include "frontend/pytorch/aten.h"

#include <string.h>

static int scattered(Aten *n, int x, int at, int updates, int axis, const char *reduction)
{
	int in[] = { x, at, updates };
	Attr attr[] = { attr_int("axis", axis), attr_text("reduction", reduction) };
	return node_call(n->v, OP_scatter_elements, in, 3, attr, 2);
}

/* The values that an index of that shape writes: the begin of `src`, or one number. */
static int updates(Aten *n, const char *name, Shape index, DType t)
{
	TorchValue x = aten_any(n, name);
	int y = aten_as(n, x, t);
	if (x.kind != TORCH_TENSOR || node_val(n->v, y)->shape.rank == 0)
		return node_ok(n->v) ? node_expand(n->v, y, index) : y;
	Shape s = node_val(n->v, y)->shape;
	if (node_ok(n->v) && s.rank != index.rank)
		node_fail(n->v, ERR_TYPE, "its src and its index differ in their number of dimensions");
	for (int k = 0; k < index.rank && node_ok(n->v); k++)
		if (index.dim[k] < s.dim[k])
			y = node_slice(n->v, y, k, 0, index.dim[k]);
	return y;
}

static const char *reduction_of(Aten *n)
{
	static const char *const names[][2] = { { "", "none" }, { "add", "add" }, { "sum", "add" }, { "multiply", "mul" },
		{ "prod", "mul" }, { "amax", "max" }, { "amin", "min" } };
	const char *name = aten_text(n, "reduce");
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (strcmp(names[k][0], name) == 0)
			return names[k][1];
	node_fail(n->v, ERR_UNSUPPORTED, "its reduction '%.20s' is not supported", name);
	return "none";
}

static void import_scatter(Aten *n)
{
	int x = aten_value(n, "self"), at = node_cast(n->v, aten_value(n, "index"), I64);
	Shape s = node_val(n->v, x)->shape, t = node_val(n->v, at)->shape;
	int axis = aten_axis(n, "dim", s.rank);
	const char *reduction = n->row->op != 0 ? "add" : reduction_of(n);
	if (aten_given(n, "include_self") && !aten_flag(n, "include_self"))
		node_fail(n->v, ERR_UNSUPPORTED, "include_self=False is not supported");
	if (node_ok(n->v) && (s.rank != t.rank || s.rank == 0))
		node_fail(n->v, ERR_TYPE, "its index has %d dimensions and its input %d", t.rank, s.rank);
	int y = updates(n, aten_given(n, "src") ? "src" : "value", t, node_val(n->v, x)->type);
	aten_set(n, scattered(n, x, at, y, axis, reduction));
}

/* Whole slices at the places of a list. */
static void import_index_write(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self"), at = node_cast(v, aten_value(n, "index"), I64);
	Shape s = node_val(v, x)->shape, t = node_val(v, at)->shape, wide = { .rank = s.rank };
	DType type = node_val(v, x)->type;
	int axis = aten_axis(n, "dim", s.rank);
	if (node_ok(v) && (s.rank == 0 || t.rank > 1))
		node_fail(v, ERR_TYPE, "its index is no list");
	if (!node_ok(v))
		return;
	for (int k = 0; k < s.rank; k++)
		wide.dim[k] = k == axis ? (t.rank == 1 ? t.dim[0] : 1) : 1;
	at = node_reshape(v, at, wide);
	for (int k = 0; k < s.rank; k++)
		wide.dim[k] = k == axis ? wide.dim[k] : s.dim[k];
	int y = aten_as(n, aten_any(n, n->row->op == 2 ? "value" : "source"), type);
	TorchValue alpha = aten_any(n, "alpha");
	if (torch_is_number(alpha) && torch_number(alpha) != 1)
		y = node_with_number(v, OP_mul, y, torch_number(alpha));
	y = node_val(v, y)->shape.rank == wide.rank ? y : node_expand(v, y, wide);
	aten_set(n, scattered(n, x, node_expand(v, at, wide), y, axis, n->row->op == 1 ? "add" : "none"));
}

/* A place along an axis of `all` elements, counted from the end when negative. */
static int64_t place_in(Aten *n, int64_t at, int axis, int64_t all)
{
	if (node_ok(n->v) && (at < -all || at >= all))
		node_fail(n->v, ERR_INPUT, "element %lld is outside of dimension %d", (long long)at, axis);
	return !node_ok(n->v) ? 0 : at < 0 ? at + all : at;
}

/* The elements of `src` in a part of self. */
static void import_slice_scatter(Aten *n)
{
	int x = aten_value(n, "self");
	Shape s = node_val(n->v, x)->shape, t = s;
	int axis = aten_axis(n, "dim", s.rank);
	int64_t start = 0, end = INT64_MAX, step = 1, all = s.dim[axis];
	if (n->row->op != 0) {
		start = place_in(n, aten_int(n, "index"), axis, all);
		end = start + 1;
	} else {
		start = aten_given(n, "start") ? aten_int(n, "start") : 0;
		end = aten_given(n, "end") ? aten_int(n, "end") : all;
		step = aten_int(n, "step");
		start += start < 0 ? all : 0;
		end += end < 0 ? all : 0;
	}
	start = start < 0 ? 0 : start > all ? all : start;
	end = end > all ? all : end < start ? start : end;
	if (node_ok(n->v) && (s.rank == 0 || step < 1))
		node_fail(n->v, ERR_INPUT, "it writes into a scalar, or with a step of %lld", (long long)step);
	if (!node_ok(n->v))
		return;
	t.dim[axis] = end > start ? (end - start - 1) / step + 1 : 0;
	int y = node_cast(n->v, aten_value(n, "src"), node_val(n->v, x)->type);
	y = node_reshape(n->v, y, t);
	aten_set(n, torch_with_part(n->v, x, axis, start, step, t.dim[axis], y));
}

const AtenRow torch_scatter_rows[] = {
	{ "scatter!", "self:T dim:i index:T src:T reduce:s?", import_scatter, 0 },
	{ "scatter.value", "self:T dim:i index:T value:n reduce:s?", import_scatter, 0 },
	{ "scatter_add!", "self:T dim:i index:T src:T", import_scatter, 1 },
	{ "scatter_reduce!", "self:T dim:i index:T src:T reduce:s include_self:b=True", import_scatter, 0 },
	{ "index_copy!", "self:T dim:i index:T source:T", import_index_write, 0 },
	{ "index_add!", "self:T dim:i index:T source:T alpha:n=1", import_index_write, 1 },
	{ "index_fill!", "self:T dim:i index:T value:*", import_index_write, 2 },
	{ "slice_scatter", "self:T src:T dim:i=0 start:i? end:i? step:i=1", import_slice_scatter, 0 },
	{ "select_scatter", "self:T src:T dim:i index:i", import_slice_scatter, 1 },
	{ NULL, NULL, NULL, 0 },
};
