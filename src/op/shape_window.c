/* Shape rules of operators with sliding windows, and the geometry of their windows. */
#include "op/rules.h"

/* PyTorch's and ONNX's ceil mode: the last window must start in the input or the padding before it. */
static bool window_out(const OpCall *c, Window *w, int k, bool ceil, Err *err)
{
	int64_t span = (w->kernel[k] - 1) * w->dilation[k] + 1;
	int64_t padded = w->in[k] + w->lo[k] + w->hi[k], room = padded - span;
	if (room < 0)
		return op_refuse(c, err,
			"a window of %lld does not fit spatial dimension %d, which has %lld elements with padding", (long long)span,
			k, (long long)padded);
	int64_t steps = (room + (ceil ? w->stride[k] - 1 : 0)) / w->stride[k];
	if (ceil && steps > 0 && steps * w->stride[k] >= w->in[k] + w->lo[k])
		steps--;
	w->out[k] = steps + 1;
	return true;
}

/* What the input's elements, a stride apart, reach with a kernel around each. */
static bool window_spread(const OpCall *c, Window *w, int k, int64_t output_padding, Err *err)
{
	int64_t reach = (w->in[k] - 1) * w->stride[k] + (w->kernel[k] - 1) * w->dilation[k] + 1;
	w->out[k] = reach + output_padding - w->lo[k] - w->hi[k];
	if (w->in[k] < 1)
		return op_refuse(c, err, "x has no elements in spatial dimension %d", k);
	if (w->out[k] < 1)
		return op_refuse(c, err, "pads leave %lld elements of spatial dimension %d, which has %lld without them",
			(long long)w->out[k], k, (long long)(reach + output_padding));
	return true;
}

bool op_window(const Dag *d, const OpCall *c, Window *w, Err *err)
{
	const Value *x = op_in(d, c, 0);
	bool spread = c->op == OP_conv_transpose, conv = spread || c->op == OP_conv;
	int64_t extend[WINDOW_MAX] = { 0 };
	*w = (Window){ 0 };
	if (!need_rank(c, x, 3, 2 + WINDOW_MAX, err))
		return false;
	w->n = x->shape.rank - 2;
	int64_t pads[2 * WINDOW_MAX];
	if (!read_ints(c, "strides", w->n, 1, LARGEST_STEP, 1, w->stride, err) ||
		!read_ints(c, "dilations", w->n, 1, LARGEST_STEP, 1, w->dilation, err) ||
		!read_ints(c, "pads", 2 * w->n, 0, LARGEST_DIM, 0, pads, err) ||
		(!conv && !read_ints(c, "kernel", w->n, 1, LARGEST_STEP, 0, w->kernel, err)) ||
		(spread && !read_ints(c, "output_padding", w->n, 0, LARGEST_STEP, 0, extend, err)))
		return false;
	for (int k = 0; k < w->n; k++) {
		w->in[k] = x->shape.dim[2 + k];
		w->lo[k] = pads[k];
		w->hi[k] = pads[w->n + k];
		if (conv)
			w->kernel[k] = op_in(d, c, 1)->shape.dim[2 + k];
		if (w->kernel[k] < 1 || w->kernel[k] > LARGEST_STEP)
			return op_refuse(
				c, err, "the kernel has the size %lld in spatial dimension %d", (long long)w->kernel[k], k);
		if (spread ? !window_spread(c, w, k, extend[k], err)
				   : !window_out(c, w, k, !conv && op_int(c, "ceil") != 0, err))
			return false;
	}
	return true;
}

bool op_fold_window(const Dag *d, const OpCall *c, Window *w, Err *err)
{
	const Shape *x = &op_in(d, c, 0)->shape;
	int64_t pads[2 * WINDOW_MAX];
	*w = (Window){ .n = x->rank / 2 - 1 };
	if (x->rank % 2 != 0 || w->n < 1 || w->n > WINDOW_MAX)
		return op_refuse(c, err, "x has %d dimensions, but must have 4, 6 or 8", x->rank);
	if (!read_ints(c, "size", w->n, 1, LARGEST_STEP, 0, w->out, err) ||
		!read_ints(c, "strides", w->n, 1, LARGEST_STEP, 1, w->stride, err) ||
		!read_ints(c, "dilations", w->n, 1, LARGEST_STEP, 1, w->dilation, err) ||
		!read_ints(c, "pads", 2 * w->n, 0, LARGEST_STEP, 0, pads, err))
		return false;
	for (int k = 0; k < w->n; k++) {
		w->kernel[k] = x->dim[2 + k];
		w->in[k] = x->dim[2 + w->n + k];
		w->lo[k] = pads[k];
		w->hi[k] = pads[w->n + k];
		if (w->out[k] < 1 || w->kernel[k] < 1 || w->kernel[k] > LARGEST_STEP)
			return op_refuse(c, err, "windows of %lld do not lie in a dimension of %lld", (long long)w->kernel[k],
				(long long)w->out[k]);
		int64_t room = w->out[k] + w->lo[k] + w->hi[k] - (w->kernel[k] - 1) * w->dilation[k] - 1;
		int64_t places = room < 0 ? 0 : room / w->stride[k] + 1;
		if (w->in[k] != places)
			return op_refuse(c, err, "x has %lld windows in spatial dimension %d, which has room for %lld",
				(long long)w->in[k], k, (long long)places);
	}
	return true;
}

static void set_window(Value *out, const Value *x, int64_t channels, const Window *w)
{
	set_like(out, x);
	out->shape.dim[1] = channels;
	for (int k = 0; k < w->n; k++)
		out->shape.dim[2 + k] = w->out[k];
}

/* What x and w of a convolution and of a transposed one have in common. */
static bool check_operands(const Dag *d, const OpCall *c, Err *err)
{
	const Value *x = op_in(d, c, 0), *w = op_in(d, c, 1);
	char s[160];
	if (!need_factors(c, x, w, err) || !need_rank(c, x, 3, 5, err) || !need_tf32(c, x, err))
		return false;
	if (w->shape.rank != x->shape.rank)
		return op_refuse(c, err, "x has %d dimensions, but w has the shape %s", x->shape.rank, shape_str(w->shape, s));
	return true;
}

/* Its result of so many channels, to which the bias fits. */
static bool infer_result(const Dag *d, const OpCall *c, int64_t filters, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *b = op_in(d, c, 2);
	char s[160];
	if (b != NULL && (b->shape.rank != 1 || b->shape.dim[0] != filters))
		return op_refuse(c, err, "b has the shape %s, but there are %lld output channels", shape_str(b->shape, s),
			(long long)filters);
	if (b != NULL && !need_bias(c, x, b, err))
		return false;
	Window win;
	if (!op_window(d, c, &win, err))
		return false;
	set_window(out, x, filters, &win);
	out->type = product_type(x->type);
	return true;
}

bool infer_conv(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *w = op_in(d, c, 1);
	int64_t groups = op_int(c, "groups");
	char s[160];
	if (!check_operands(d, c, err))
		return false;
	int64_t channels = x->shape.dim[1], filters = w->shape.dim[0];
	if (groups < 1 || groups > LARGEST_DIM || channels % groups != 0 || filters % groups != 0)
		return op_refuse(c, err, "%lld input and %lld output channels cannot be cut into %lld groups",
			(long long)channels, (long long)filters, (long long)groups);
	int64_t border = op_int(c, "border"), least = x->type.kind == DT_INT ? -128 : 0;
	if (border != 0 && (dtype_is_float(x->type) || x->type.bits != 8 || border < least || border > least + 255))
		return op_refuse(c, err, "border is %lld, which is no other value than 0 of %s", (long long)border,
			dtype_print(x->type, s));
	if (w->shape.dim[1] != channels / groups)
		return op_refuse(c, err, "x has %lld channels in %lld groups, but w has the shape %s", (long long)channels,
			(long long)groups, shape_str(w->shape, s));
	return infer_result(d, c, filters, out, err);
}

bool infer_conv_transpose(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *w = op_in(d, c, 1);
	int64_t groups = op_int(c, "groups");
	char s[160];
	if (!check_operands(d, c, err))
		return false;
	int64_t channels = x->shape.dim[1], filters;
	if (w->shape.dim[0] != channels)
		return op_refuse(
			c, err, "x has %lld channels, but w has the shape %s", (long long)channels, shape_str(w->shape, s));
	if (groups < 1 || groups > LARGEST_DIM || channels % groups != 0)
		return op_refuse(
			c, err, "%lld input channels cannot be cut into %lld groups", (long long)channels, (long long)groups);
	if (__builtin_mul_overflow(w->shape.dim[1], groups, &filters) || filters > LARGEST_DIM)
		return op_refuse(c, err, "w of shape %s gives too many channels in %lld groups", shape_str(w->shape, s),
			(long long)groups);
	return infer_result(d, c, filters, out, err);
}

bool infer_max_pool_place(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	if (!infer_pool(d, c, out, err))
		return false;
	out->type = I64;
	return true;
}

bool infer_pool(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	Window win;
	if (!need_number(c, x, err) || !op_window(d, c, &win, err))
		return false;
	set_window(out, x, x->shape.dim[1], &win);
	return true;
}

bool infer_fold(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	Window win;
	if (!need_number(c, x, err) || !op_fold_window(d, c, &win, err))
		return false;
	set_window(out, x, x->shape.dim[1], &win);
	out->shape.rank = 2 + win.n;
	return true;
}

bool infer_lrn(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	if (!need_float(c, x, err) || !need_rank(c, x, 2, DAG_MAX_RANK, err))
		return false;
	if (op_int(c, "size") < 1 || op_int(c, "size") > LARGEST_STEP)
		return op_refuse(c, err, "size is %lld, but must be between 1 and 1048576", (long long)op_int(c, "size"));
	set_like(out, x);
	return true;
}
