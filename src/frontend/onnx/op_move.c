/*
 * Rows of operators that move elements or read shapes. Shapes, axes, starts and pads must be known while
 * importing. Operators on known shapes (Shape, Gather, ConstantOfShape) are evaluated here, so the
 * arithmetic that exporters write around a Reshape disappears.
 */
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

static void import_identity(Visit *v)
{
	const Item *it = node_item(v, 0);
	bool list = it != NULL && (it->kind == ITEM_SEQUENCE || it->kind == ITEM_NONE);
	node_set_alias(v, 0, list ? it : node_need(v, 0));
}

/* ---- constants and shapes */

static void set_ints(Visit *v, const int64_t *at, size_t n)
{
	int64_t count = (int64_t)n;
	int64_t *copy = arena_array(v->im->arena, int64_t, n + 1);
	if (n > 0)
		memcpy(copy, at, n * sizeof *copy);
	node_set_known(v, 0, I64, shape_of(1, &count), copy);
}

static void import_constant(Visit *v)
{
	int count;
	NodeTensor t;
	if (node_attr_tensor(v, "value", &t)) {
		node_set_known(v, 0, t.type, t.shape, t.data);
	} else if (node_has(v, "value_float")) {
		float *one = arena_new_of(v->im->arena, float);
		*one = (float)node_attr_float(v, "value_float", 0);
		node_set_known(v, 0, F32, shape_of(0, NULL), one);
	} else if (node_has(v, "value_int")) {
		int64_t *one = arena_new_of(v->im->arena, int64_t);
		*one = node_attr_int(v, "value_int", 0);
		node_set_known(v, 0, I64, shape_of(0, NULL), one);
	} else if (node_has(v, "value_ints")) {
		const int64_t *at = node_attr_ints(v, "value_ints", &count);
		set_ints(v, at, count > 0 ? (size_t)count : 0);
	} else if (node_has(v, "value_floats")) {
		const float *at = node_attr_floats(v, "value_floats", &count);
		int64_t n = count > 0 ? count : 0;
		node_set_known(v, 0, F32, shape_of(1, &n), n > 0 ? (const void *)at : "\0\0\0");
	} else if (node_has(v, "value_string") || node_has(v, "value_strings")) {
		node_fail(v, ERR_UNSUPPORTED, "constants of text are not supported");
	} else if (node_has(v, "sparse_value")) {
		node_fail(v, ERR_UNSUPPORTED, "sparse constants are not supported");
	} else {
		node_fail(v, ERR_INPUT, "it has no value");
	}
}

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

static void import_shape(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t rank = x->shape.rank, start = node_attr_int(v, "start", 0), end = node_attr_int(v, "end", rank);
	start = clamp(start < 0 ? start + rank : start, 0, rank);
	end = clamp(end < 0 ? end + rank : end, start, rank);
	set_ints(v, x->shape.dim + start, (size_t)(end - start));
}

static void import_size(Visit *v)
{
	int64_t n = shape_elements(node_need(v, 0)->shape);
	node_set_known(v, 0, I64, shape_of(0, NULL), arena_copy(v->im->arena, &n, sizeof n));
}

/* A list of dimensions that a shape may have. */
static bool read_dims(Visit *v, const int64_t *at, int n, Shape *out)
{
	if (n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	for (int k = 0; k < n && node_ok(v); k++)
		if (at[k] < 0)
			node_fail(v, ERR_INPUT, "its result has a dimension of %lld", (long long)at[k]);
	if (!node_ok(v))
		return false;
	*out = shape_of(n, at);
	return true;
}

/* The scalar is a constant, its repetition a call: nothing large is stored. */
static void import_constant_of_shape(Visit *v)
{
	int n;
	node_need(v, 0);
	const int64_t *at = node_ints(v, 0, &n);
	NodeTensor b = { .type = F32, .data = "\0\0\0", .shape = shape_of(0, NULL) };
	if (node_has(v, "value"))
		node_attr_tensor(v, "value", &b);
	Shape s;
	if (node_ok(v) && shape_elements(b.shape) != 1)
		node_fail(v, ERR_TYPE, "its attribute value must be one number");
	if (!node_ok(v) || !read_dims(v, at, n, &s))
		return;
	int one = node_const(v, b.type, shape_of(0, NULL), b.data);
	Attr attr = attr_ints("shape", s.dim, s.rank);
	node_set(v, 0, node_call(v, OP_expand, &one, 1, &attr, 1));
}

/* ---- the same elements in another shape */

static void set_reshaped(Visit *v, Shape s)
{
	const Item *x = node_need(v, 0);
	if (shape_eq(s, x->shape))
		node_set_alias(v, 0, x);
	else if (x->data != NULL)
		node_set_known(v, 0, x->type, s, x->data);
	else
		node_set(v, 0, node_reshape(v, node_value(v, 0), s));
}

/* 0 takes over the input's dimension unless allowzero is set; one -1 is what is left. */
static void import_reshape(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n;
	const int64_t *at = node_attr_or_input(v, "shape", 5, 1, &n);
	bool zero = v->frame->version >= 14 && node_attr_flag(v, "allowzero", false);
	if (n < 0)
		node_fail(v, ERR_INPUT, "it has no shape");
	else if (n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	Shape s = shape_of(n, at);
	int open = -1;
	for (int k = 0; k < n; k++) {
		if (s.dim[k] == 0 && !zero && k >= x->shape.rank)
			node_fail(v, ERR_TYPE, "dimension %d of its shape is 0, but its input has only %d", k, x->shape.rank);
		else if (s.dim[k] == 0 && !zero)
			s.dim[k] = x->shape.dim[k];
		else if (s.dim[k] < -1 || (s.dim[k] == -1 && open >= 0))
			node_fail(v, ERR_TYPE, "its shape holds %lld%s", (long long)s.dim[k], s.dim[k] == -1 ? " twice" : "");
		else if (s.dim[k] == -1)
			open = k;
	}
	if (!node_ok(v))
		return;
	if (open >= 0)
		s.dim[open] = 1;
	int64_t have = shape_elements(x->shape), given = shape_elements(s);
	char from[160], to[160];
	if (open >= 0 && given > 0 && have % given == 0)
		s.dim[open] = have / given;
	else if (given != have)
		node_fail(v, ERR_TYPE, "its input of shape %s does not fit the shape %s", shape_str(x->shape, from),
			shape_str(s, to));
	set_reshaped(v, s);
}

static void import_flatten(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t axis = node_attr_int(v, "axis", 1);
	int at = axis == x->shape.rank ? x->shape.rank : node_axis(v, axis, x->shape.rank);
	Shape s = { .rank = 2, .dim = { shape_product(&x->shape, 0, at), shape_product(&x->shape, at, x->shape.rank) } };
	set_reshaped(v, s);
}

/* Marks the axes of a list; refuses what is out of range or listed twice. */
static void mark_axes(Visit *v, const int64_t *at, int n, int rank, bool *on)
{
	for (int k = 0; k < n && node_ok(v); k++) {
		int axis = node_axis(v, at[k], rank);
		if (node_ok(v) && on[axis])
			node_fail(v, ERR_TYPE, "axis %d is listed twice", axis);
		on[axis] = true;
	}
}

static void import_squeeze(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n;
	const int64_t *at = node_attr_or_input(v, "axes", 13, 1, &n);
	bool on[DAG_MAX_RANK] = { false };
	mark_axes(v, at, n, x->shape.rank, on);
	Shape s = { 0 };
	for (int k = 0; k < x->shape.rank; k++) {
		if (n >= 0 && on[k] && x->shape.dim[k] != 1)
			node_fail(v, ERR_TYPE, "dimension %d is %lld, not 1", k, (long long)x->shape.dim[k]);
		if (n >= 0 ? !on[k] : x->shape.dim[k] != 1)
			s.dim[s.rank++] = x->shape.dim[k];
	}
	set_reshaped(v, s);
}

static void import_unsqueeze(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n;
	const int64_t *at = node_attr_or_input(v, "axes", 13, 1, &n);
	if (n < 0)
		node_fail(v, ERR_INPUT, "it has no axes");
	if (n > DAG_MAX_RANK - x->shape.rank)
		node_fail(
			v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", x->shape.rank + n, DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	bool on[DAG_MAX_RANK] = { false };
	Shape s = { .rank = x->shape.rank + n };
	mark_axes(v, at, n, s.rank, on);
	for (int k = 0, from = 0; k < s.rank; k++)
		s.dim[k] = on[k] ? 1 : x->shape.dim[from++];
	if (node_ok(v))
		set_reshaped(v, s);
}

static void import_transpose(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n;
	const int64_t *at = node_attr_ints(v, "perm", &n);
	int64_t perm[DAG_MAX_RANK];
	bool on[DAG_MAX_RANK] = { false };
	if (n >= 0 && n != x->shape.rank)
		node_fail(v, ERR_TYPE, "its attribute perm has %d numbers, but its input has %d dimensions", n, x->shape.rank);
	else
		mark_axes(v, at, n, x->shape.rank, on);
	if (!node_ok(v))
		return;
	for (int k = 0; k < x->shape.rank; k++)
		perm[k] = n < 0 ? x->shape.rank - 1 - k : at[k] < 0 ? at[k] + n : at[k];
	Attr attr = attr_ints("perm", perm, x->shape.rank);
	int in = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_transpose, &in, 1, &attr, 1));
}

static void import_expand(Visit *v)
{
	int n;
	node_need(v, 0);
	node_need(v, 1);
	const int64_t *at = node_ints(v, 1, &n);
	Shape s;
	if (!node_ok(v) || !read_dims(v, at, n, &s))
		return;
	Attr attr = attr_ints("shape", s.dim, s.rank);
	int in = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_expand, &in, 1, &attr, 1));
}

/* ---- joined and cut */

/* Short lists of integers (parts of a shape) are joined here. */
static bool join_known(Visit *v)
{
	int64_t at[4 * DAG_MAX_RANK];
	size_t n = 0;
	for (int k = 0; k < node_nin(v); k++) {
		const Item *x = node_need(v, k);
		if (x->data == NULL || !dtype_eq(x->type, I64) || x->shape.rank != 1)
			return false;
		for (int64_t i = 0; i < x->shape.dim[0]; i++) {
			if (n == sizeof at / sizeof *at)
				return false;
			at[n++] = element_get_int(I64, x->data, i);
		}
	}
	set_ints(v, at, n);
	return true;
}

static void import_concat(Visit *v)
{
	const Item *first = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 1), first->shape.rank);
	if (node_ok(v) && v->frame->version >= 4 && !node_has(v, "axis"))
		node_fail(v, ERR_INPUT, "it has no attribute axis");
	if (!node_ok(v) || join_known(v))
		return;
	int *in = arena_array(v->im->arena, int, node_nin(v));
	for (int k = 0; k < node_nin(v); k++) {
		node_need(v, k);
		in[k] = node_value(v, k);
	}
	Attr attr = attr_int("axis", axis);
	node_set(v, 0, node_call(v, OP_concat, in, node_nin(v), &attr, 1));
}

typedef struct Cut {
	int64_t start[DAG_MAX_RANK], step[DAG_MAX_RANK], size[DAG_MAX_RANK];
} Cut;

/* One axis: numbers from the end when negative; backwards, a start before the first element is the first one. */
static void cut_axis(Cut *c, int axis, int64_t dim, int64_t start, int64_t end, int64_t step)
{
	if (start < 0)
		start = start < -dim ? 0 : start + dim;
	if (end < 0)
		end = end < -dim ? -1 : end + dim;
	int64_t size;
	if (step > 0) {
		start = clamp(start, 0, dim);
		end = clamp(end, 0, dim);
		size = end > start ? (end - start - 1) / step + 1 : 0;
	} else {
		start = start < dim ? start : dim - 1;
		end = end < dim ? end : dim - 1;
		size = start > end ? (start - end - 1) / -step + 1 : 0;
	}
	c->start[axis] = size == 0 ? 0 : start;
	c->step[axis] = size < 2 ? 1 : step; /* a step that is never taken may be anything */
	c->size[axis] = size;
}

/* A cut of a known short list, such as the last two numbers of a shape. */
static bool cut_known(Visit *v, const Cut *c)
{
	const Item *x = node_need(v, 0);
	if (x->data == NULL || !dtype_eq(x->type, I64) || x->shape.rank != 1 || c->size[0] > DAG_MAX_RANK)
		return false;
	int64_t at[DAG_MAX_RANK];
	for (int64_t i = 0; i < c->size[0]; i++)
		at[i] = element_get_int(I64, x->data, c->start[0] + i * c->step[0]);
	set_ints(v, at, (size_t)c->size[0]);
	return true;
}

static void import_slice(Visit *v)
{
	const Item *x = node_need(v, 0);
	int rank = x->shape.rank, nstart, nend, naxes, nstep = -1;
	const int64_t *start = node_attr_or_input(v, "starts", 10, 1, &nstart);
	const int64_t *end = node_attr_or_input(v, "ends", 10, 2, &nend);
	const int64_t *axes = node_attr_or_input(v, "axes", 10, 3, &naxes);
	const int64_t *step = v->frame->version >= 10 ? node_ints(v, 4, &nstep) : NULL;
	if (node_ok(v) && (nstart < 0 || nend != nstart || (naxes >= 0 && naxes != nstart) ||
						  (nstep >= 0 && nstep != nstart) || nstart > rank))
		node_fail(v, ERR_TYPE,
			"its starts, ends, axes and steps have different lengths, or more than its input has dimensions");
	Cut c = { 0 };
	bool on[DAG_MAX_RANK] = { false };
	for (int k = 0; k < rank; k++)
		cut_axis(&c, k, x->shape.dim[k], 0, INT64_MAX, 1);
	if (node_ok(v) && naxes >= 0)
		mark_axes(v, axes, naxes, rank, on);
	for (int k = 0; k < nstart && node_ok(v); k++) {
		int axis = naxes < 0 ? k : node_axis(v, axes[k], rank);
		int64_t by = nstep < 0 ? 1 : step[k];
		if (by == 0 || by == INT64_MIN)
			node_fail(v, ERR_TYPE, "its step along axis %d is %lld, which is not allowed", axis, (long long)by);
		else
			cut_axis(&c, axis, x->shape.dim[axis], start[k], end[k], by);
	}
	if (!node_ok(v) || cut_known(v, &c))
		return;
	Attr attr[] = { attr_ints("starts", c.start, rank), attr_ints("steps", c.step, rank),
		attr_ints("sizes", c.size, rank) };
	int in = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_slice, &in, 1, attr, 3));
}

/* Without sizes: as many parts as results (or num_outputs); the last part may be shorter. */
static int64_t *equal_parts(Visit *v, int64_t dim, int n)
{
	int64_t *sizes = arena_array(v->im->arena, int64_t, n + 1);
	int64_t part = (dim + n - 1) / n;
	if (v->frame->version < 18 && dim % n != 0)
		node_fail(v, ERR_TYPE, "%lld elements cannot be cut into %d equal parts", (long long)dim, n);
	if (part * (n - 1) > dim)
		node_fail(v, ERR_TYPE, "%lld elements cannot be cut into %d parts", (long long)dim, n);
	for (int k = 0; k < n; k++)
		sizes[k] = k < n - 1 ? part : dim - part * (n - 1);
	return sizes;
}

static void import_split(Visit *v)
{
	const Item *x = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 0), x->shape.rank);
	int n, nout = (int)v->node->nout;
	bool by_input = v->frame->version >= 13 || (v->frame->version < 2 && node_in(v, 1) != NULL);
	const int64_t *sizes = by_input ? node_ints(v, 1, &n) : node_attr_ints(v, "split", &n);
	if (v->frame->version >= 18 && node_has(v, "num_outputs") && node_attr_int(v, "num_outputs", 0) != nout)
		node_fail(v, ERR_TYPE, "its attribute num_outputs differs from the number of its results, %d", nout);
	if (node_ok(v) && n < 0) {
		sizes = equal_parts(v, x->shape.dim[axis], nout);
		n = nout;
	}
	if (node_ok(v) && n != nout)
		node_fail(v, ERR_TYPE, "it has %d sizes, but %d results", n, nout);
	Attr attr[] = { attr_int("axis", axis), attr_ints("sizes", sizes, n) };
	int in = node_value(v, 0);
	int first = node_call(v, OP_split, &in, 1, attr, 2);
	for (int k = 0; k < nout && node_ok(v); k++)
		node_set(v, k, v->im->dag->call.at[node_val(v, first)->call].out[k]);
}

/* The number that fills; NaN and infinities are accepted, another type of input is not. */
static double pad_value(Visit *v)
{
	if (v->frame->version < 11)
		return node_attr_float(v, "value", 0);
	if (node_in(v, 2) == NULL)
		return 0;
	const Item *it = node_known(v, 2);
	if (node_ok(v) && shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its constant_value must be one number");
	return node_ok(v) ? import_number(it->type, it->data) : 0;
}

/* Negative pads cut first, so that what is repeated or mirrored is what stays. Those pads become 0. */
static int cut(Visit *v, int x, int64_t *pads)
{
	Shape s = node_val(v, x)->shape;
	int64_t start[DAG_MAX_RANK] = { 0 };
	bool any = false;
	for (int k = 0; k < s.rank; k++) {
		int64_t *before = &pads[k], *behind = &pads[s.rank + k];
		any |= *before < 0 || *behind < 0;
		if (*before < -s.dim[k] || *behind < -s.dim[k] ||
			(*before < 0 ? -*before : 0) + (*behind < 0 ? -*behind : 0) > s.dim[k]) {
			node_fail(v, ERR_INPUT, "its pads %lld and %lld cut more than the %lld elements of dimension %d",
				(long long)*before, (long long)*behind, (long long)s.dim[k], k);
			return x;
		}
		start[k] = *before < 0 ? -*before : 0;
		s.dim[k] -= start[k] + (*behind < 0 ? -*behind : 0);
		*before += start[k];
		*behind = *behind < 0 ? 0 : *behind;
	}
	Attr attr[] = { attr_ints("starts", start, s.rank), attr_ints("sizes", s.dim, s.rank) };
	return any ? node_call(v, OP_slice, &x, 1, attr, 2) : x;
}

static void import_pad(Visit *v)
{
	int opset = v->frame->version, rank = node_need(v, 0)->shape.rank, n, naxes = -1;
	const int64_t *at = node_attr_or_input(v, opset < 2 ? "paddings" : "pads", 11, 1, &n);
	const int64_t *axes = opset >= 18 ? node_ints(v, 3, &naxes) : NULL;
	const char *mode = node_attr_text(v, "mode", "constant");
	double value = pad_value(v);
	int64_t pads[2 * DAG_MAX_RANK] = { 0 };
	bool on[DAG_MAX_RANK] = { false };
	if (node_ok(v) && n != 2 * (naxes < 0 ? rank : naxes))
		node_fail(v, ERR_TYPE, "it has %d pads for %d dimensions", n, naxes < 0 ? rank : naxes);
	if (node_ok(v) && naxes >= 0)
		mark_axes(v, axes, naxes, rank, on);
	if (!node_ok(v))
		return;
	for (int k = 0; k < n / 2; k++) {
		int axis = naxes < 0 ? k : node_axis(v, axes[k], rank);
		pads[axis] = at[k];
		pads[rank + axis] = at[n / 2 + k];
	}
	int in = cut(v, node_value(v, 0), pads);
	Attr attr[] = { attr_ints("pads", pads, 2 * rank), attr_text("mode", mode), attr_float("value", value) };
	node_set(v, 0, node_call(v, OP_pad, &in, 1, attr, 3));
}

const NodeRow onnx_move_rows[] = {
	{ "Identity", 1, "", import_identity },
	{ "Constant", 1, "", import_constant },
	{ "ConstantOfShape", 9, "", import_constant_of_shape },
	{ "Shape", 1, "", import_shape },
	{ "Size", 1, "", import_size },
	{ "Reshape", 1, "consumed_inputs", import_reshape },
	{ "Flatten", 1, "", import_flatten },
	{ "Squeeze", 1, "", import_squeeze },
	{ "Unsqueeze", 1, "", import_unsqueeze },
	{ "Transpose", 1, "", import_transpose },
	{ "Expand", 8, "", import_expand },
	{ "Concat", 1, "", import_concat },
	{ "Slice", 1, "", import_slice },
	{ "Split", 1, "", import_split },
	{ "Pad", 1, "", import_pad },
	{ NULL, 0, NULL, NULL },
};
