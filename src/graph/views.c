/*
 * Finds the calls that need no kernel, because their results lie in memory that another value has:
 * - a reshape, transpose or identity whose result has the order of its input in memory names that memory: between
 *   row-major tensors, of one layout, or where layouts say so (compile/transposes.c chooses them);
 * - split and slice of one piece along an axis are windows of their input;
 * - concat is written by the calls that compute its parts, each into its window. A part that cannot be
 *   written there (an input, a window, a part that occurs twice) is copied.
 * A piece along an axis is one run of bytes if no dimension outside the axis has more than one index,
 * and if the cuts are at the ends of blocks. Kernels assume aligned buffers, so windows are aligned.
 */
#include "graph/edit.h"
#include "graph/order.h"

#include "op/layout.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* The value whose memory v lies in, and where. The walk shortens the chain of views. */
static View view_of(View *view, int v)
{
	while (view[v].of != v) {
		View *up = &view[view[v].of];
		if (up->of == view[v].of)
			return view[v];
		view[v] = (View){ up->of, view[v].at + up->at };
	}
	return (View){ v, 0 };
}

/*
 * The bytes of the whole before a part that begins at index `from` of the axis; -1: the part is not one run
 * of bytes.
 */
static int64_t window_at(const Value *whole, const Value *part, int axis, int64_t from)
{
	Layout l;
	int k = 0;
	int64_t end = from + part->shape.dim[axis], inner = 1, at;
	if (whole->type.bits % 8 != 0 || !same_text(whole->layout, part->layout) ||
		!layout_read(whole->layout, whole->shape, &l))
		return -1;
	for (; l.of[k] != axis; k++)
		if (l.extent[k] != 1)
			return -1;
	if (from % l.step[k] != 0 || (end % l.step[k] != 0 && end != whole->shape.dim[axis]))
		return -1;
	for (int j = k + 1; j < l.n; j++)
		if (l.extent[j] == 0 || __builtin_mul_overflow(inner, l.extent[j], &inner))
			return -1;
	if (__builtin_mul_overflow(from / l.step[k] * (whole->type.bits / 8), inner, &at) || at % VIEW_ALIGN != 0)
		return -1;
	return at;
}

/* The only axis along which a slice takes less than there is, from index *from on; -1: it is not one piece. */
static int slice_axis(const Dag *d, const OpCall *c, int64_t *from)
{
	const Value *x = &d->value.at[c->in[0]], *y = &d->value.at[c->out[0]];
	int n, axis = -1;
	const int64_t *start = op_ints(c, "starts", &n), *step = op_ints(c, "steps", &n);
	for (int k = 0; k < x->shape.rank; k++) {
		if (x->shape.dim[k] == y->shape.dim[k] && (step == NULL || step[k] == 1))
			continue;
		if (axis >= 0 || (step != NULL && step[k] != 1))
			return -1;
		axis = k;
		*from = start != NULL ? start[k] : 0;
	}
	return axis;
}

/* Results as windows of input 0. */
static bool cut(const Dag *d, const OpCall *c, View *view)
{
	const Value *x = &d->value.at[c->in[0]];
	int64_t from = 0;
	int axis = c->op == OP_split ? (int)op_int(c, "axis") : slice_axis(d, c, &from);
	if (axis < 0 || d->value.at[view_of(view, c->in[0]).of].kind == VALUE_CONST)
		return false;
	for (int pass = 0; pass < 2; pass++) {
		int64_t first = from;
		for (int r = 0; r < c->nout; r++) {
			const Value *y = &d->value.at[c->out[r]];
			int64_t at = window_at(x, y, axis, first);
			if (at < 0)
				return false;
			if (pass == 1)
				view[c->out[r]] = (View){ c->in[0], at };
			first += y->shape.dim[axis];
		}
	}
	return true;
}

/* True if the call that writes v may write elsewhere: v lies alone in memory of its own. */
static bool is_whole(const Dag *d, View *view, int v, int *root)
{
	View at = view_of(view, v);
	const Value *own = &d->value.at[at.of];
	*root = at.of;
	return own->kind == VALUE_CALL && at.at == 0 && value_bytes(own) == value_bytes(&d->value.at[v]);
}

/*
 * The number of parts, from the first one on, that already are all the parts of another concat. That concat
 * becomes a window of this one, so a dense block of growing concats is written without a copy. 0: there are
 * none.
 */
static int find_beginning(const Dag *d, const OpCall *c, View *view, int *root)
{
	View at = view_of(view, c->in[0]);
	const Value *own = &d->value.at[at.of];
	const OpCall *of = own->kind == VALUE_CALL ? &d->call.at[own->call] : NULL;
	if (of == NULL || at.at != 0 || of->op != OP_concat || of->nin > c->nin ||
		op_int(of, "axis") != op_int(c, "axis") || memcmp(of->in, c->in, sizeof(int) * (size_t)of->nin) != 0)
		return 0;
	*root = at.of;
	return of->nin;
}

static bool join(const Dag *d, const OpCall *c, View *view)
{
	int axis = (int)op_int(c, "axis"), y = c->out[0], root;
	int64_t from = 0;
	int together = find_beginning(d, c, view, &root);
	bool any = together > 0;
	for (int k = 0; k < c->nin; k++) {
		const Value *x = &d->value.at[c->in[k]];
		int own;
		if (window_at(&d->value.at[y], x, axis, from) < 0)
			return false;
		any |= is_whole(d, view, c->in[k], &own);
		from += x->shape.dim[axis];
	}
	if (together > 0)
		view[root] = (View){ y, 0 };
	from = 0;
	for (int k = 0; any && k < c->nin; k++) {
		const Value *x = &d->value.at[c->in[k]];
		if (k >= together && is_whole(d, view, c->in[k], &root) && root != y)
			view[root] = (View){ y, window_at(&d->value.at[y], x, axis, from) };
		from += x->shape.dim[axis];
	}
	return any;
}

/* Whether each element of the result lies where the same element of input 0 lies. */
static bool lies_as_input(const Dag *d, const OpCall *c)
{
	const Value *x = &d->value.at[c->in[0]], *y = &d->value.at[c->out[0]];
	Order from, to;
	if (c->op != OP_transpose && same_text(x->layout, y->layout) && (x->layout == NULL || shape_eq(x->shape, y->shape)))
		return true; /* padded blocks, or no elements */
	return order_of(x->layout, x->shape, &from) && order_forward(d, c, &from) &&
		order_of(y->layout, y->shape, &to) && order_eq(&from, &to);
}

static bool needs_nothing(const Dag *d, const OpCall *c, View *view)
{
	switch (c->op) {
	case OP_reshape:
	case OP_transpose:
	case OP_identity:
		if (!lies_as_input(d, c))
			return false;
		view[c->out[0]] = (View){ c->in[0], 0 };
		return true;
	case OP_split:
	case OP_slice: return cut(d, c, view);
	case OP_concat: return join(d, c, view);
	default: return false;
	}
}

View *find_views(Arena *a, const Dag *d, bool *nothing)
{
	View *view = arena_array(a, View, d->value.n + 1);
	for (size_t v = 0; v < d->value.n; v++)
		view[v] = (View){ (int)v, 0 };
	for (size_t i = 0; i < d->call.n; i++)
		nothing[i] = needs_nothing(d, &d->call.at[i], view);
	for (size_t v = 0; v < d->value.n; v++)
		view[v] = view_of(view, (int)v);
	return view;
}
