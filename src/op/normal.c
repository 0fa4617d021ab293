/*
 * Brings a call's attributes to one normal form, so that equal calls have equal texts and are equal Tasks.
 * Axes are counted from the front and sorted, reshape's -1 is resolved, transpose's permutation written out,
 * ceil turned into padding. Left out: strides of ones, pads of zeros, and values equal to op.def's default.
 * An illegal call passes unchanged if the shape rule has the better refusal.
 */
#include "op/shape.h"

#include <stdlib.h>
#include <string.h>

Attr *op_attr(const OpCall *c, const char *name)
{
	for (int i = 0; i < c->nattr; i++)
		if (strcmp(c->attr[i].name, name) == 0)
			return &c->attr[i];
	return NULL;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const Attr *)x)->name, ((const Attr *)y)->name);
}

void op_sort_attrs(OpCall *c)
{
	qsort(c->attr, (size_t)c->nattr, sizeof *c->attr, by_name);
}

static void drop(OpCall *c, const Attr *a)
{
	size_t at = (size_t)(a - c->attr);
	memmove(&c->attr[at], &c->attr[at + 1], sizeof(Attr) * ((size_t)c->nattr - at - 1));
	c->nattr--;
}

/* Drops an attribute of n numbers if all of them are `usual`. */
static void drop_if_all(OpCall *c, const char *name, int n, int64_t usual)
{
	Attr *a = op_attr(c, name);
	if (a == NULL || (a->n != n && a->n != 0))
		return;
	for (int i = 0; i < a->n; i++)
		if (a->ints[i] != usual)
			return;
	drop(c, a);
}

static int rank_of(const Dag *d, const OpCall *c)
{
	return op_in(d, c, 0)->shape.rank;
}

static void count_axis_from_front(const Dag *d, OpCall *c)
{
	Attr *a = op_attr(c, "axis");
	if (a != NULL && a->i < 0 && a->i >= -rank_of(d, c))
		a->i += rank_of(d, c);
}

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

/* A list of all axes is dropped. A repeated axis stays for the shape rule to refuse. */
static void sort_axes(Arena *arena, const Dag *d, OpCall *c)
{
	Attr *a = op_attr(c, "axes");
	if (a == NULL)
		return;
	int rank = rank_of(d, c), covered = 0;
	int64_t *axes = arena_copy(arena, a->ints, sizeof *axes * (size_t)a->n);
	for (int i = 0; i < a->n; i++)
		if (axes[i] < 0 && axes[i] >= -rank)
			axes[i] += rank;
	qsort(axes, (size_t)a->n, sizeof *axes, by_value);
	a->ints = axes;
	for (int i = 0; i < a->n; i++)
		covered += axes[i] == i;
	if (a->n == 0 || (a->n == rank && covered == rank))
		drop(c, a);
}

static bool resolve_shape(Arena *arena, const Dag *d, OpCall *c, Err *err)
{
	Attr *a = op_attr(c, "shape");
	int at = -1;
	for (int i = 0; a != NULL && i < a->n; i++) {
		if (a->ints[i] == -1 && at >= 0)
			return op_refuse(c, err, "shape holds -1 twice");
		if (a->ints[i] == -1)
			at = i;
	}
	if (at < 0 || a->n > DAG_MAX_RANK)
		return true;
	int64_t *dim = arena_copy(arena, a->ints, sizeof *dim * (size_t)a->n);
	dim[at] = 1;
	int64_t rest = shape_elements(shape_of(a->n, dim)), all = shape_elements(op_in(d, c, 0)->shape);
	char s[160];
	if (rest <= 0 || all % rest != 0)
		return op_refuse(c, err, "shape cannot have as many elements as x, %s, with any number in place of -1",
			shape_str(op_in(d, c, 0)->shape, s));
	dim[at] = all / rest;
	a->ints = dim;
	return true;
}

/*
 * Turns ceil into padding at the end, where padding does not count: each dimension is padded up to the end
 * of its last window. A window that does not fit is left to the shape rule.
 */
static void ceil_as_pads(Arena *arena, const Dag *d, OpCall *c)
{
	Window w;
	Attr *ceil = op_attr(c, "ceil"), *pads = op_attr(c, "pads");
	if (ceil == NULL || ceil->i == 0 || !op_window(d, c, &w, NULL) ||
		(c->op == OP_avg_pool && op_int(c, "count_pad") != 0))
		return;
	int64_t *p = arena_array(arena, int64_t, 2 * w.n);
	for (int k = 0; k < w.n; k++) {
		int64_t end = (w.out[k] - 1) * w.stride[k] + (w.kernel[k] - 1) * w.dilation[k] + 1;
		p[k] = w.lo[k];
		p[w.n + k] = end > w.in[k] + w.lo[k] ? end - w.in[k] - w.lo[k] : 0;
	}
	if (pads != NULL)
		drop(c, ceil);
	*(pads != NULL ? op_attr(c, "pads") : ceil) = attr_ints("pads", p, 2 * w.n);
}

static void write_out_perm(Arena *arena, const Dag *d, OpCall *c)
{
	if (op_attr(c, "perm") != NULL)
		return;
	int n = rank_of(d, c);
	int64_t *perm = arena_array(arena, int64_t, n + 1);
	for (int i = 0; i < n; i++)
		perm[i] = n - 1 - i;
	c->attr[c->nattr++] = attr_ints("perm", perm, n);
}

static void drop_own_shape(const Dag *d, OpCall *c)
{
	Attr *a = op_attr(c, "shape");
	if (a != NULL && a->n <= DAG_MAX_RANK && shape_eq(shape_of(a->n, a->ints), op_in(d, c, 0)->shape))
		drop(c, a);
}

static void drop_defaults(OpCall *c)
{
	for (int i = c->nattr - 1; i >= 0; i--) {
		const Attr *a = &c->attr[i];
		AttrKind kind;
		const char *dflt;
		if (!op_find_attr(c->op, a->name, &kind, &dflt) || dflt == NULL)
			continue;
		if ((kind == ATTR_INT && a->i == strtoll(dflt, NULL, 10)) ||
			(kind == ATTR_FLOAT && a->f == strtod(dflt, NULL)) || (kind == ATTR_TEXT && strcmp(a->text, dflt) == 0))
			drop(c, a);
	}
}

bool op_normalise(Arena *a, const Dag *d, OpCall *c, Err *err)
{
	Attr *axis;
	c->nout = op_row(c->op)->outputs;
	switch (c->op) {
	case OP_conv_transpose:
		drop_if_all(c, "strides", rank_of(d, c) - 2, 1);
		drop_if_all(c, "dilations", rank_of(d, c) - 2, 1);
		drop_if_all(c, "output_padding", rank_of(d, c) - 2, 0);
		drop_if_all(c, "pads", 2 * (rank_of(d, c) - 2), 0);
		break;
	case OP_conv:
	case OP_max_pool:
	case OP_max_pool_place:
	case OP_avg_pool:
		drop_if_all(c, "strides", rank_of(d, c) - 2, 1);
		drop_if_all(c, "dilations", rank_of(d, c) - 2, 1);
		drop_if_all(c, "pads", 2 * (rank_of(d, c) - 2), 0);
		ceil_as_pads(a, d, c); /* an empty list would keep the rule from reading the window */
		drop_if_all(c, "pads", 2 * (rank_of(d, c) - 2), 0);
		break;
	case OP_fold:
		drop_if_all(c, "strides", rank_of(d, c) / 2 - 1, 1);
		drop_if_all(c, "dilations", rank_of(d, c) / 2 - 1, 1);
		drop_if_all(c, "pads", 2 * (rank_of(d, c) / 2 - 1), 0);
		break;
	case OP_softmax:
	case OP_log_softmax: /* the last axis is -1, whatever the rank */
		count_axis_from_front(d, c);
		axis = op_attr(c, "axis");
		if (axis != NULL && axis->i == rank_of(d, c) - 1)
			axis->i = -1;
		break;
	case OP_reduce_sum:
	case OP_reduce_mean:
	case OP_reduce_max:
	case OP_reduce_min:
	case OP_reduce_prod: sort_axes(a, d, c); break;
	case OP_arg_max:
	case OP_arg_min:
	case OP_scan:
	case OP_top_k: count_axis_from_front(d, c); break;
	case OP_reshape:
		if (!resolve_shape(a, d, c, err))
			return false;
		break;
	case OP_transpose: write_out_perm(a, d, c); break;
	case OP_scatter_nd:
	case OP_scatter_elements:
		count_axis_from_front(d, c);
		drop_own_shape(d, c);
		break;
	case OP_gather:
	case OP_resample:
	case OP_gather_elements:
	case OP_concat: count_axis_from_front(d, c); break;
	case OP_split:
		count_axis_from_front(d, c);
		op_ints(c, "sizes", &c->nout);
		break;
	case OP_slice: drop_if_all(c, "steps", rank_of(d, c), 1); break;
	default: break;
	}
	drop_defaults(c);
	op_sort_attrs(c);
	return true;
}
