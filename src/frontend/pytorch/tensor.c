/* Cells, views and writes; tensor.h says what they are. */
#include "frontend/pytorch/tensor.h"
#include "frontend/node/compose.h"
#include "frontend/pytorch/aten.h"
#include "frontend/pytorch/choice.h"
#include "frontend/pytorch/pickle.h"

enum { MOST_VIEWS = 256 };

static int apply(Visit *v, const TorchView *w, int x)
{
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK];
	switch (w->kind) {
	case VIEW_SHAPE: return node_reshape(v, x, w->shape);
	case VIEW_ORDER: return node_transpose(v, x, w->order);
	case VIEW_WIDE: return node_expand(v, x, w->shape);
	default: break;
	}
	Shape s = node_val(v, x)->shape;
	if (w->step == 1)
		return node_slice(v, x, w->axis, w->start, w->size);
	for (int k = 0; k < s.rank; k++)
		step[k] = k == w->axis ? w->step : 1;
	start[w->axis] = w->start;
	s.dim[w->axis] = w->size;
	Attr attr[] = { attr_ints("starts", start, s.rank), attr_ints("steps", step, s.rank),
		attr_ints("sizes", s.dim, s.rank) };
	return node_call(v, OP_slice, &x, 1, attr, 3);
}

int torch_with_part(Visit *v, int x, int axis, int64_t start, int64_t step, int64_t size, int part)
{
	int64_t n = node_val(v, x)->shape.dim[axis];
	if (!node_ok(v) || size == 0)
		return x;
	if (step == 1) {
		int in[3], count = 0;
		if (start > 0)
			in[count++] = node_slice(v, x, axis, 0, start);
		in[count++] = part;
		if (start + size < n)
			in[count++] = node_slice(v, x, axis, start + size, n - start - size);
		return node_concat(v, in, count, axis);
	}
	if (!torch_spend(v, n))
		return x;
	int64_t *index = arena_array(v->im->arena, int64_t, n + 1);
	for (int64_t i = 0; i < n; i++)
		index[i] = i >= start && (i - start) % step == 0 && (i - start) / step < size ? n + (i - start) / step : i;
	int both[] = { x, part };
	int in[] = { node_concat(v, both, 2, axis), node_const(v, I64, shape_of(1, &n), index) };
	Attr attr = attr_int("axis", axis);
	return node_call(v, OP_gather, in, 2, &attr, 1);
}

/* The base after the view's elements became x. */
static int undo(Visit *v, const TorchView *w, int base, int x)
{
	int64_t back[DAG_MAX_RANK] = { 0 };
	Shape s = node_val(v, base)->shape;
	switch (w->kind) {
	case VIEW_SHAPE: return node_reshape(v, x, s);
	case VIEW_ORDER:
		for (int k = 0; k < s.rank; k++)
			back[w->order[k]] = k;
		return node_transpose(v, x, back);
	case VIEW_PART: return torch_with_part(v, base, w->axis, w->start, w->step, w->size, x);
	default: break;
	}
	if (!shape_eq(s, node_val(v, x)->shape))
		node_fail(v, ERR_UNSUPPORTED, "it writes to a tensor that was expanded, whose elements overlap");
	return x;
}

TorchTensor *torch_root(TorchTensor *t)
{
	while (t->base != NULL)
		t = t->base;
	return t;
}

static Item *nothing(Visit *v)
{
	Item *it = arena_new_of(v->im->arena, Item);
	*it = (Item){ .name = "", .type = F32, .data = "\0\0\0", .value = DAG_NONE };
	return it;
}

bool torch_is_current(TorchTensor *t)
{
	const TorchTensor *r = torch_root(t);
	if (r->writer != NULL)
		return false;
	for (const TorchTensor *of; r->shares != NULL; r = of) {
		of = torch_root(r->shares);
		if (of->writes != r->shared_at || (of->writer != NULL && of->writer != r))
			return false;
	}
	return true;
}

static Item *item_of(Visit *v, TorchTensor *t)
{
	if (!node_ok(v))
		return t->item != NULL ? t->item : nothing(v);
	if (t->saved != NULL && t->item == NULL) {
		Item *it = arena_new_of(v->im->arena, Item);
		Err err = { 0 };
		*it = (Item){ .name = t->name != NULL ? t->name : "constant", .value = DAG_NONE };
		bool copied;
		if (!torch_saved_read(v->im->arena, t->saved, it, &copied, &err)) {
			node_fail(v, err.code, "%s", err.text);
			return nothing(v);
		}
		if (copied && !torch_spend(v, shape_elements(it->shape) / 4))
			return nothing(v);
		t->item = it;
	}
	unsigned writes = torch_root(t)->writes;
	if (t->base != NULL && (t->item == NULL || t->seen != writes)) {
		int x = apply(v, &t->view, node_item_value(v, item_of(v, t->base)));
		if (!node_ok(v))
			return nothing(v);
		t->item = node_new_item(v, x);
		t->seen = writes;
	}
	return t->item;
}

Item *torch_item(Visit *v, TorchTensor *t)
{
	if (node_ok(v) && !torch_is_current(t))
		node_fail(v, ERR_UNSUPPORTED,
			"it reads a tensor after a write to another, of which this one is a copy in dlc, but may be a view in "
			"PyTorch: "
			"clone() one of them before the write");
	return item_of(v, t);
}

int torch_value(Visit *v, TorchTensor *t)
{
	return node_item_value(v, torch_item(v, t));
}

Shape torch_shape(Visit *v, TorchTensor *t)
{
	return item_of(v, t)->shape;
}

bool torch_is_plain(Visit *v, TorchTensor *t)
{
	for (; t->base != NULL && node_ok(v); t = t->base) {
		Shape s = torch_shape(v, t->base);
		int64_t before = -1;
		if (t->view.kind == VIEW_WIDE)
			return false;
		for (int k = 0; t->view.kind == VIEW_ORDER && k < s.rank; k++) {
			if (s.dim[t->view.order[k]] == 1)
				continue;
			if (t->view.order[k] < before)
				return false;
			before = t->view.order[k];
		}
		if (t->view.kind == VIEW_PART && (t->view.step != 1 || shape_product(&s, 0, t->view.axis) != 1) &&
			t->view.size != s.dim[t->view.axis])
			return false;
	}
	return true;
}

/* A read walks along all that a tensor looks at or is a copy of, so their number has a limit. */
static void set_depth(Visit *v, TorchTensor *t, const TorchTensor *of)
{
	t->depth = of->depth + 1;
	if (t->depth > MOST_VIEWS)
		node_fail(v, ERR_UNSUPPORTED, "it is a view or copy of more than %d views or copies", MOST_VIEWS);
}

TorchValue torch_view(Visit *v, TorchTensor *base, const TorchView *how)
{
	TorchTensor *t = arena_new_of(v->im->arena, TorchTensor);
	*t = (TorchTensor){ .base = base, .view = *how };
	set_depth(v, t, base);
	t->item = node_ok(v) ? NULL : nothing(v);
	torch_item(v, t);
	return (TorchValue){ .kind = TORCH_TENSOR, .tensor = t };
}

TorchValue torch_view_shape(Visit *v, TorchTensor *base, Shape shape)
{
	return torch_view(v, base, &(TorchView){ .kind = VIEW_SHAPE, .shape = shape });
}

TorchValue torch_view_order(Visit *v, TorchTensor *base, const int64_t *perm)
{
	TorchView w = { .kind = VIEW_ORDER };
	for (int k = 0; k < torch_shape(v, base).rank; k++)
		w.order[k] = perm[k];
	return torch_view(v, base, &w);
}

TorchValue torch_view_part(Visit *v, TorchTensor *base, int axis, int64_t start, int64_t step, int64_t size)
{
	return torch_view(
		v, base, &(TorchView){ .kind = VIEW_PART, .axis = axis, .start = start, .step = step, .size = size });
}

TorchValue torch_reshape(Visit *v, TorchTensor *t, Shape shape)
{
	if (torch_is_dense(v, t) || shape_eq_but_ones(torch_shape(v, t), shape))
		return torch_view_shape(v, t, shape);
	return torch_copy_of(v, t, node_reshape(v, torch_value(v, t), shape));
}

TorchValue torch_copy_of(Visit *v, TorchTensor *t, int value)
{
	TorchValue x = torch_of(v, value);
	x.tensor->shares = t;
	set_depth(v, x.tensor, t);
	x.tensor->shared_at = torch_root(t)->writes;
	return x;
}

bool torch_is_dense(Visit *v, TorchTensor *t)
{
	return torch_root(t)->dense && torch_is_plain(v, t);
}

bool torch_has_dense_strides(Visit *v, TorchTensor *t)
{
	if (!torch_is_dense(v, t))
		return false;
	for (; t->base != NULL; t = t->base)
		for (int k = 0; t->view.kind == VIEW_ORDER && k < torch_shape(v, t->base).rank; k++)
			if (t->view.order[k] != k)
				return false;
	return true;
}

void torch_write(Visit *v, TorchTensor *t, int value)
{
	const Item *it = torch_item(v, t);
	value = node_cast(v, value, it->type);
	value = node_ok(v) ? node_expand(v, value, it->shape) : value;
	if (node_ok(v) && !shape_eq(node_val(v, value)->shape, it->shape))
		node_fail(v, ERR_TYPE, "it writes a tensor of another shape");
	if (node_ok(v) && t->fixed)
		node_fail(v, ERR_UNSUPPORTED,
			"it writes to a tensor that is one of two, as a condition on data says: clone() it before the write");
	if (!node_ok(v))
		return;
	if (t->base == NULL) {
		sides_note_tensor(v, t);
		t->writes++;
		for (TorchTensor *copy = t, *of; copy->shares != NULL; copy = of) {
			of = torch_root(copy->shares);
			of->writer = copy;
		}
	} else {
		int whole = undo(v, &t->view, torch_value(v, t->base), value);
		torch_write(v, t->base, whole);
		t->seen = torch_root(t)->writes;
	}
	t->item = node_new_item(v, value);
}
