/*
 * Shape rules: types and shapes of a call's results from those of its inputs, a function per
 * family of operators. Formulas are ONNX's (newest opset). A refusal names the operator, what does
 * not fit, and the numbers.
 */
#include "op/shape.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST_STEP = 1 << 20 }; /* of strides, dilations, kernels: keeps products within int64 */
static const int64_t largest_dim = (int64_t)1 << 40;

bool op_refuse(const OpCall *c, Err *err, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	const char *op = op_row(c->op)->name;
	return fail(err, ERR_TYPE, c->name != NULL ? c->name : "", "%s: %s", op, text);
}

const Value *op_in(const Dag *d, const OpCall *c, int i)
{
	return i < c->nin && c->in[i] != DAG_NONE ? &d->value.at[c->in[i]] : NULL;
}

static bool need_float(const OpCall *c, const Value *v, Err *err)
{
	char t[DTYPE_TEXT];
	if (!dtype_is_float(v->type))
		return op_refuse(c, err, "%s is %s, but this operator is for floating types", v->name,
			dtype_print(v->type, t));
	return true;
}

static bool need_number(const OpCall *c, const Value *v, Err *err)
{
	if (v->type.kind == DT_BOOL)
		return op_refuse(c, err, "%s is bool, but this operator is for numbers", v->name);
	return true;
}

static bool need_same_type(const OpCall *c, const Value *a, const Value *b, Err *err)
{
	char s[DTYPE_TEXT], t[DTYPE_TEXT];
	if (!dtype_eq(a->type, b->type))
		return op_refuse(c, err, "%s is %s, but %s is %s", a->name, dtype_print(a->type, s), b->name,
			dtype_print(b->type, t));
	return true;
}

static bool need_rank(const OpCall *c, const Value *v, int lo, int hi, Err *err)
{
	char s[160];
	if (v->shape.rank < lo || v->shape.rank > hi)
		return op_refuse(c, err, "%s has the shape %s, but %d to %d dimensions are needed", v->name,
			shape_str(v->shape, s), lo, hi);
	return true;
}

/* Reads n numbers in [lo, hi]; where the attribute is absent, n times `absent`. */
static bool read_ints(const OpCall *c, const char *name, int n, int64_t lo, int64_t hi, int64_t absent,
	int64_t *out, Err *err)
{
	int have;
	const int64_t *at = op_ints(c, name, &have);
	if (have == 0 && at == NULL) {
		for (int i = 0; i < n; i++)
			out[i] = absent;
		return true;
	}
	if (have != n)
		return op_refuse(c, err, "%s has %d numbers, but %d are needed", name, have, n);
	for (int i = 0; i < n; i++) {
		if (at[i] < lo || at[i] > hi)
			return op_refuse(c, err, "%s holds %lld, which is not within %lld and %lld", name,
				(long long)at[i], (long long)lo, (long long)hi);
		out[i] = at[i];
	}
	return true;
}

/* PyTorch's and ONNX's ceil mode: the last window must start in the input or the padding before it. */
static bool window_out(const OpCall *c, Window *w, int k, bool ceil, Err *err)
{
	int64_t span = (w->kernel[k] - 1) * w->dilation[k] + 1;
	int64_t room = w->in[k] + w->lo[k] + w->hi[k] - span;
	if (room < 0)
		return op_refuse(c, err, "a window of %lld does not fit spatial dimension %d, %lld with padding",
			(long long)span, k, (long long)(room + span));
	int64_t steps = (room + (ceil ? w->stride[k] - 1 : 0)) / w->stride[k];
	if (ceil && steps > 0 && steps * w->stride[k] >= w->in[k] + w->lo[k])
		steps--;
	w->out[k] = steps + 1;
	return true;
}

bool op_window(const Dag *d, const OpCall *c, Window *w, Err *err)
{
	const Value *x = op_in(d, c, 0);
	bool conv = c->op == OP_conv;
	*w = (Window){ 0 };
	if (!need_rank(c, x, 3, 2 + WINDOW_MAX, err))
		return false;
	w->n = x->shape.rank - 2;
	int64_t pads[2 * WINDOW_MAX];
	if (!read_ints(c, "strides", w->n, 1, LARGEST_STEP, 1, w->stride, err) ||
		!read_ints(c, "dilations", w->n, 1, LARGEST_STEP, 1, w->dilation, err) ||
		!read_ints(c, "pads", 2 * w->n, 0, largest_dim, 0, pads, err) ||
		(!conv && !read_ints(c, "kernel", w->n, 1, LARGEST_STEP, 0, w->kernel, err)))
		return false;
	for (int k = 0; k < w->n; k++) {
		w->in[k] = x->shape.dim[2 + k];
		w->lo[k] = pads[k];
		w->hi[k] = pads[w->n + k];
		if (conv)
			w->kernel[k] = op_in(d, c, 1)->shape.dim[2 + k];
		if (w->kernel[k] < 1 || w->kernel[k] > LARGEST_STEP)
			return op_refuse(c, err, "the kernel has the size %lld in spatial dimension %d",
				(long long)w->kernel[k], k);
		if (!window_out(c, w, k, !conv && op_int(c, "ceil") != 0, err))
			return false;
	}
	return true;
}

static void set_like(Value *out, const Value *x)
{
	*out = (Value){ .type = x->type, .shape = x->shape };
}

static void set_window(Value *out, const Value *x, int64_t channels, const Window *w)
{
	set_like(out, x);
	out->shape.dim[1] = channels;
	for (int k = 0; k < w->n; k++)
		out->shape.dim[2 + k] = w->out[k];
}

static bool infer_conv(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *w = op_in(d, c, 1), *b = op_in(d, c, 2);
	int64_t groups = op_int(c, "groups");
	char s[160];
	if (!need_number(c, x, err) || !need_same_type(c, x, w, err) || !need_rank(c, x, 3, 5, err))
		return false;
	if (w->shape.rank != x->shape.rank)
		return op_refuse(c, err, "x has %d dimensions, but w has the shape %s", x->shape.rank,
			shape_str(w->shape, s));
	int64_t channels = x->shape.dim[1], filters = w->shape.dim[0];
	if (groups < 1 || groups > largest_dim || channels % groups != 0 || filters % groups != 0)
		return op_refuse(c, err, "%lld input and %lld output channels cannot be cut into %lld groups",
			(long long)channels, (long long)filters, (long long)groups);
	if (w->shape.dim[1] != channels / groups)
		return op_refuse(c, err, "x has %lld channels in %lld groups, but w has the shape %s",
			(long long)channels, (long long)groups, shape_str(w->shape, s));
	if (b != NULL && (b->shape.rank != 1 || b->shape.dim[0] != filters))
		return op_refuse(c, err, "b has the shape %s, but there are %lld output channels",
			shape_str(b->shape, s), (long long)filters);
	if (b != NULL && !need_same_type(c, x, b, err))
		return false;
	Window win;
	if (!op_window(d, c, &win, err))
		return false;
	set_window(out, x, filters, &win);
	return true;
}

static bool infer_pool(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	Window win;
	if (!need_number(c, x, err) || !op_window(d, c, &win, err))
		return false;
	set_window(out, x, x->shape.dim[1], &win);
	return true;
}

static bool infer_dense(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *w = op_in(d, c, 1), *b = op_in(d, c, 2);
	char s[160], t[160];
	if (!need_number(c, x, err) || !need_same_type(c, x, w, err) ||
		!need_rank(c, x, 1, DAG_MAX_RANK, err) || !need_rank(c, w, 2, 2, err))
		return false;
	int last = x->shape.rank - 1;
	if (x->shape.dim[last] != w->shape.dim[1])
		return op_refuse(c, err, "x of shape %s and w of shape %s differ in their last dimension",
			shape_str(x->shape, s), shape_str(w->shape, t));
	if (b != NULL && (b->shape.rank != 1 || b->shape.dim[0] != w->shape.dim[0]))
		return op_refuse(c, err, "b has the shape %s, but w has %lld rows", shape_str(b->shape, s),
			(long long)w->shape.dim[0]);
	if (b != NULL && !need_same_type(c, x, b, err))
		return false;
	set_like(out, x);
	out->shape.dim[last] = w->shape.dim[0];
	return true;
}

/* A one-dimensional side is a row (left) or a column (right) whose 1 the result drops. */
static bool infer_matmul(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *a = op_in(d, c, 0), *b = op_in(d, c, 1);
	bool ta = op_int(c, "ta") != 0, tb = op_int(c, "tb") != 0;
	char s[160], t[160];
	if (!need_number(c, a, err) || !need_same_type(c, a, b, err) ||
		!need_rank(c, a, ta ? 2 : 1, DAG_MAX_RANK, err) || !need_rank(c, b, tb ? 2 : 1, DAG_MAX_RANK, err))
		return false;
	int ra = a->shape.rank, rb = b->shape.rank;
	int64_t ka = a->shape.dim[ra - 1 - (ta ? 1 : 0)];
	int64_t kb = rb == 1 ? b->shape.dim[0] : b->shape.dim[rb - 2 + (tb ? 1 : 0)];
	Shape la = a->shape, lb = b->shape, batch;
	la.rank = ra > 2 ? ra - 2 : 0;
	lb.rank = rb > 2 ? rb - 2 : 0;
	if (ka != kb || !shape_broadcast(la, lb, &batch))
		return op_refuse(c, err, "the shapes %s and %s do not multiply", shape_str(a->shape, s),
			shape_str(b->shape, t));
	*out = (Value){ .type = a->type, .shape = batch };
	if (ra > 1)
		out->shape.dim[out->shape.rank++] = a->shape.dim[ra - 2 + (ta ? 1 : 0)];
	if (rb > 1)
		out->shape.dim[out->shape.rank++] = b->shape.dim[rb - 1 - (tb ? 1 : 0)];
	return true;
}

static bool infer_batch_norm(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	char s[160];
	if (!need_float(c, x, err) || !need_rank(c, x, 2, DAG_MAX_RANK, err))
		return false;
	for (int i = 1; i < 5; i++) {
		const Value *v = op_in(d, c, i);
		if (!need_float(c, v, err))
			return false;
		if (v->shape.rank != 1 || v->shape.dim[0] != x->shape.dim[1])
			return op_refuse(c, err, "%s has the shape %s, but x has %lld channels", v->name,
				shape_str(v->shape, s), (long long)x->shape.dim[1]);
	}
	set_like(out, x);
	return true;
}

static bool infer_lrn(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	if (!need_float(c, x, err) || !need_rank(c, x, 2, DAG_MAX_RANK, err))
		return false;
	if (op_int(c, "size") < 1 || op_int(c, "size") > LARGEST_STEP)
		return op_refuse(c, err, "a window of size %lld", (long long)op_int(c, "size"));
	set_like(out, x);
	return true;
}

bool shape_broadcast(Shape a, Shape b, Shape *out)
{
	Shape r = { a.rank > b.rank ? a.rank : b.rank, { 0 } };
	for (int i = 1; i <= r.rank; i++) {
		int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1, y = i <= b.rank ? b.dim[b.rank - i] : 1;
		if (x != y && x != 1 && y != 1)
			return false;
		r.dim[r.rank - i] = x == 1 ? y : x;
	}
	*out = r;
	return true;
}

static bool need_broadcast(const OpCall *c, const Value *a, const Value *b, Shape *out, Err *err)
{
	char s[160], t[160];
	if (!shape_broadcast(a->shape, b->shape, out))
		return op_refuse(c, err, "the shapes %s and %s do not broadcast", shape_str(a->shape, s),
			shape_str(b->shape, t));
	return true;
}

static bool infer_binary(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *a = op_in(d, c, 0), *b = op_in(d, c, 1);
	if (!need_number(c, a, err) || !need_number(c, b, err) ||
		(c->op != OP_pow && !need_same_type(c, a, b, err)))
		return false;
	set_like(out, a);
	return need_broadcast(c, a, b, &out->shape, err);
}

static bool infer_prelu(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *slope = op_in(d, c, 1);
	char s[160], t[160];
	Shape both;
	if (!need_number(c, x, err) || !need_same_type(c, x, slope, err) ||
		!need_broadcast(c, x, slope, &both, err))
		return false;
	if (!shape_eq(both, x->shape))
		return op_refuse(c, err, "slope of shape %s does not broadcast to x of shape %s",
			shape_str(slope->shape, s), shape_str(x->shape, t));
	set_like(out, x);
	return true;
}

static bool infer_unary_float(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	set_like(out, op_in(d, c, 0));
	return need_float(c, op_in(d, c, 0), err);
}

static bool infer_unary_number(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	set_like(out, op_in(d, c, 0));
	return need_number(c, op_in(d, c, 0), err);
}

static bool infer_identity(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	(void)err;
	set_like(out, op_in(d, c, 0));
	return true;
}

static bool infer_clip(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	char s[160];
	for (int i = 1; i < c->nin; i++) {
		const Value *v = op_in(d, c, i);
		if (v == NULL)
			continue;
		if (!need_same_type(c, x, v, err))
			return false;
		if (v->shape.rank > 1 || shape_elements(v->shape) != 1)
			return op_refuse(c, err, "%s must be a scalar, but has the shape %s", v->name,
				shape_str(v->shape, s));
	}
	return infer_unary_number(d, c, out, err);
}

static bool infer_cast(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const char *to = op_text(c, "to");
	set_like(out, op_in(d, c, 0));
	if (!dtype_parse(to, strlen(to), &out->type) || out->type.lanes != 1)
		return op_refuse(c, err, "\"%s\" is no element type; write f32, i64, u8, bool or the like", to);
	return true;
}

static bool infer_softmax(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int64_t axis = op_int(c, "axis");
	if (!need_float(c, x, err) || !need_rank(c, x, 1, DAG_MAX_RANK, err))
		return false;
	if (axis < -1 || axis >= x->shape.rank)
		return op_refuse(c, err, "axis %lld of %d dimensions", (long long)axis, x->shape.rank);
	set_like(out, x);
	return true;
}

static bool infer_reduce(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	bool extreme = c->op == OP_reduce_max || c->op == OP_reduce_min, keep = op_int(c, "keep") != 0;
	int n, rank = x->shape.rank;
	const int64_t *axes = op_ints(c, "axes", &n);
	bool drop[DAG_MAX_RANK] = { 0 };
	if (!extreme && !need_number(c, x, err))
		return false;
	for (int i = 0; i < n; i++) {
		if (axes[i] < 0 || axes[i] >= rank)
			return op_refuse(c, err, "axis %lld of %d dimensions", (long long)axes[i], rank);
		if (drop[axes[i]])
			return op_refuse(c, err, "axis %lld is named twice", (long long)axes[i]);
		drop[axes[i]] = true;
	}
	*out = (Value){ .type = x->type };
	for (int i = 0; i < rank; i++)
		if (n != 0 && !drop[i])
			out->shape.dim[out->shape.rank++] = x->shape.dim[i];
		else if (keep)
			out->shape.dim[out->shape.rank++] = 1;
	return true;
}

/* The attribute `shape` as a Shape. */
static bool read_shape(const OpCall *c, Shape *out, Err *err)
{
	int n;
	op_ints(c, "shape", &n);
	if (n > DAG_MAX_RANK)
		return op_refuse(c, err, "shape has %d dimensions, at most %d are supported", n, DAG_MAX_RANK);
	out->rank = n;
	return read_ints(c, "shape", n, 0, largest_dim, 0, out->dim, err);
}

static bool infer_reshape(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	char s[160], t[160];
	set_like(out, x);
	out->shape = (Shape){ 0 };
	if (!read_shape(c, &out->shape, err))
		return false;
	if (shape_elements(out->shape) != shape_elements(x->shape))
		return op_refuse(c, err, "x of shape %s does not have the elements of %s", shape_str(x->shape, s),
			shape_str(out->shape, t));
	return true;
}

static bool infer_expand(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	Value to = { .name = "shape" };
	set_like(out, op_in(d, c, 0));
	return read_shape(c, &to.shape, err) && need_broadcast(c, op_in(d, c, 0), &to, &out->shape, err);
}

static bool infer_transpose(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int rank = x->shape.rank;
	int64_t perm[DAG_MAX_RANK];
	bool seen[DAG_MAX_RANK] = { 0 };
	if (!read_ints(c, "perm", rank, 0, rank - 1, 0, perm, err))
		return false;
	set_like(out, x);
	for (int i = 0; i < rank; i++) {
		if (seen[perm[i]])
			return op_refuse(c, err, "perm names dimension %lld twice", (long long)perm[i]);
		seen[perm[i]] = true;
		out->shape.dim[i] = x->shape.dim[perm[i]];
	}
	return true;
}

static bool infer_concat(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int64_t axis = op_int(c, "axis"), sum = 0;
	char s[160], t[160];
	if (axis < 0 || axis >= x->shape.rank)
		return op_refuse(c, err, "axis %lld of %d dimensions", (long long)axis, x->shape.rank);
	for (int i = 0; i < c->nin; i++) {
		const Value *v = op_in(d, c, i);
		Shape same = v->shape;
		if (!need_same_type(c, x, v, err))
			return false;
		same.dim[axis] = x->shape.dim[axis];
		if (!shape_eq(same, x->shape))
			return op_refuse(c, err, "the shapes %s and %s differ beside axis %lld",
				shape_str(x->shape, s), shape_str(v->shape, t), (long long)axis);
		sum += v->shape.dim[axis];
		if (sum > largest_dim)
			return op_refuse(c, err, "axis %lld gets too long", (long long)axis);
	}
	set_like(out, x);
	out->shape.dim[axis] = sum;
	return true;
}

static bool infer_split(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int64_t axis = op_int(c, "axis"), sum = 0;
	int n;
	const int64_t *sizes = op_ints(c, "sizes", &n);
	if (axis < 0 || axis >= x->shape.rank)
		return op_refuse(c, err, "axis %lld of %d dimensions", (long long)axis, x->shape.rank);
	for (int i = 0; i < n; i++) {
		if (sizes[i] < 0 || sizes[i] > x->shape.dim[axis])
			return op_refuse(c, err, "a part of %lld of %lld elements", (long long)sizes[i],
				(long long)x->shape.dim[axis]);
		if (sum <= x->shape.dim[axis])
			sum += sizes[i];
		set_like(&out[i], x);
		out[i].shape.dim[axis] = sizes[i];
	}
	if (n == 0 || sum != x->shape.dim[axis])
		return op_refuse(c, err, "sizes add up to %lld, but axis %lld has %lld elements", (long long)sum,
			(long long)axis, (long long)x->shape.dim[axis]);
	return true;
}

static bool infer_slice(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	int rank = x->shape.rank;
	int64_t start[DAG_MAX_RANK], step[DAG_MAX_RANK], size[DAG_MAX_RANK];
	if (!read_ints(c, "starts", rank, 0, largest_dim, 0, start, err) ||
		!read_ints(c, "steps", rank, -largest_dim, largest_dim, 1, step, err) ||
		!read_ints(c, "sizes", rank, 0, largest_dim, 0, size, err))
		return false;
	set_like(out, x);
	for (int i = 0; i < rank; i++) {
		/* In floating point: the product of two large numbers must not overflow. */
		double last = (double)start[i] + (double)(size[i] - 1) * (double)step[i];
		double end = (double)x->shape.dim[i];
		if (step[i] == 0 || (size[i] > 0 && ((double)start[i] >= end || last < 0 || last >= end)))
			return op_refuse(c, err, "%lld elements from %lld in steps of %lld leave dimension %d, %lld",
				(long long)size[i], (long long)start[i], (long long)step[i], i,
				(long long)x->shape.dim[i]);
		out->shape.dim[i] = size[i];
	}
	return true;
}

static bool infer_pad(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	static const char *const modes[] = { "constant", "reflect", "edge", "wrap" };
	const Value *x = op_in(d, c, 0);
	int rank = x->shape.rank;
	int64_t pads[2 * DAG_MAX_RANK];
	const char *mode = op_text(c, "mode");
	bool known = false;
	for (int i = 0; i < 4; i++)
		known |= strcmp(mode, modes[i]) == 0;
	if (!known)
		return op_refuse(c, err, "the mode \"%s\" is not constant, reflect, edge or wrap", mode);
	if (!read_ints(c, "pads", 2 * rank, -largest_dim, largest_dim, 0, pads, err))
		return false;
	set_like(out, x);
	for (int i = 0; i < rank; i++) {
		int64_t n = x->shape.dim[i] + pads[i] + pads[rank + i];
		if (n < 0)
			return op_refuse(c, err, "dimension %d has %lld elements, more are cut off", i,
				(long long)x->shape.dim[i]);
		if (n > 0 && x->shape.dim[i] == 0 && strcmp(mode, "constant") != 0)
			return op_refuse(c, err, "mode %s has nothing to repeat in dimension %d", mode, i);
		out->shape.dim[i] = n;
	}
	return true;
}

typedef bool (*Rule)(const Dag *d, const OpCall *c, Value *out, Err *err);

static const Rule rules[OP_COUNT] = {
	[OP_conv] = infer_conv,
	[OP_dense] = infer_dense,
	[OP_matmul] = infer_matmul,
	[OP_max_pool] = infer_pool,
	[OP_avg_pool] = infer_pool,
	[OP_batch_norm] = infer_batch_norm,
	[OP_lrn] = infer_lrn,
	[OP_add] = infer_binary,
	[OP_sub] = infer_binary,
	[OP_mul] = infer_binary,
	[OP_div] = infer_binary,
	[OP_pow] = infer_binary,
	[OP_maximum] = infer_binary,
	[OP_minimum] = infer_binary,
	[OP_prelu] = infer_prelu,
	[OP_relu] = infer_unary_number,
	[OP_leaky_relu] = infer_unary_float,
	[OP_elu] = infer_unary_float,
	[OP_hard_sigmoid] = infer_unary_float,
	[OP_hard_swish] = infer_unary_float,
	[OP_sigmoid] = infer_unary_float,
	[OP_tanh] = infer_unary_float,
	[OP_erf] = infer_unary_float,
	[OP_exp] = infer_unary_float,
	[OP_log] = infer_unary_float,
	[OP_sqrt] = infer_unary_float,
	[OP_abs] = infer_unary_number,
	[OP_neg] = infer_unary_number,
	[OP_clip] = infer_clip,
	[OP_cast] = infer_cast,
	[OP_identity] = infer_identity,
	[OP_softmax] = infer_softmax,
	[OP_log_softmax] = infer_softmax,
	[OP_reduce_sum] = infer_reduce,
	[OP_reduce_mean] = infer_reduce,
	[OP_reduce_max] = infer_reduce,
	[OP_reduce_min] = infer_reduce,
	[OP_reshape] = infer_reshape,
	[OP_transpose] = infer_transpose,
	[OP_expand] = infer_expand,
	[OP_concat] = infer_concat,
	[OP_split] = infer_split,
	[OP_slice] = infer_slice,
	[OP_pad] = infer_pad,
};

bool op_infer(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	for (int i = 0; i < c->nin; i++) {
		const Value *v = op_in(d, c, i);
		for (int k = 0; v != NULL && k < v->shape.rank; k++) {
			if (v->shape.dim[k] < 0)
				return op_refuse(c, err, "dimension %d of %s is not known; give it with --shape", k,
					v->name);
			if (v->shape.dim[k] > largest_dim)
				return op_refuse(c, err, "dimension %d of %s, %lld, is too large", k, v->name,
					(long long)v->shape.dim[k]);
		}
	}
	assert(rules[c->op] != NULL);
	return rules[c->op](d, c, out, err);
}
