/* Rows of convolutions, transposed ones, and of windows as columns. */
#include "frontend/pytorch/window.h"

#include <string.h>

int torch_batched(Aten *n, int x, int spatial, bool *single)
{
	Shape s = node_val(n->v, x)->shape, t = { .rank = s.rank + 1, .dim = { 1 } };
	*single = node_ok(n->v) && s.rank == spatial + 1;
	if (node_ok(n->v) && s.rank != spatial + 1 && s.rank != spatial + 2)
		node_fail(n->v, ERR_TYPE, "its input has %d dimensions where %d are needed", s.rank, spatial + 2);
	if (!*single)
		return x;
	memcpy(&t.dim[1], s.dim, sizeof *s.dim * (size_t)s.rank);
	return node_reshape(n->v, x, t);
}

void torch_set_batched(Aten *n, int y, bool single)
{
	Shape s = node_val(n->v, y)->shape;
	if (single && node_ok(n->v)) {
		memmove(s.dim, &s.dim[1], sizeof *s.dim * (size_t)(s.rank - 1));
		s.dim[--s.rank] = 0;
		y = node_reshape(n->v, y, s);
	}
	aten_set(n, y);
}

void torch_window_numbers(Aten *n, const char *name, int count, int64_t least, int64_t *out)
{
	int64_t at[ATEN_INTS];
	aten_ints(n, name, count, at);
	for (int k = 0; k < count && node_ok(n->v); k++) {
		if (at[k] < least || at[k] > INT32_MAX)
			node_fail(n->v, ERR_INPUT, "its argument %s holds %lld", name, (long long)at[k]);
		out[k] = at[k];
	}
}

/* Padding as numbers, or by name: the odd element of "same" is at the end. */
static void read_padding(Aten *n, Windows *w)
{
	TorchValue p = aten_any(n, "padding");
	if (p.kind != TORCH_TEXT) {
		torch_window_numbers(n, "padding", w->n, 0, w->pads);
		memcpy(&w->pads[w->n], w->pads, sizeof *w->pads * (size_t)w->n);
		return;
	}
	for (int k = 0; k < w->n && strcmp(p.text, "same") == 0; k++) {
		int64_t all = (w->kernel[k] - 1) * w->dilation[k];
		w->pads[k] = all / 2;
		w->pads[w->n + k] = all - all / 2;
	}
	if (node_ok(n->v) && strcmp(p.text, "same") != 0 && strcmp(p.text, "valid") != 0)
		node_fail(n->v, ERR_INPUT, "its padding '%.20s' is not known", p.text);
}

static void convolve(Aten *n, bool transposed, int spatial)
{
	Visit *v = n->v;
	bool single;
	int weight = aten_value(n, "weight"), b = aten_value(n, "bias");
	Shape w = node_val(v, weight)->shape;
	spatial = spatial > 0 ? spatial : w.rank - 2;
	int x = torch_batched(n, aten_value(n, "input"), spatial, &single);
	Shape s = node_val(v, x)->shape;
	Windows win = windows_over(v, &s);
	int64_t groups = aten_int(n, "groups"), extend[MOST_SPATIAL] = { 0 };
	if (node_ok(v) && w.rank != s.rank)
		node_fail(v, ERR_TYPE, "its weight has %d dimensions and its input %d", w.rank, s.rank);
	if (!node_ok(v))
		return;
	for (int k = 0; k < win.n; k++) {
		win.kernel[k] = w.dim[2 + k];
		if (win.kernel[k] > INT32_MAX) /* products with dilations stay in 64 bits */
			node_fail(v, ERR_TYPE, "its weight has %lld elements in dimension %d, which are too many",
				(long long)win.kernel[k], 2 + k);
	}
	if (!node_ok(v))
		return;
	torch_window_numbers(n, "stride", win.n, 1, win.stride);
	torch_window_numbers(n, "dilation", win.n, 1, win.dilation);
	read_padding(n, &win);
	if (transposed) {
		torch_window_numbers(n, "output_padding", win.n, 0, extend);
		torch_set_batched(n, node_conv_transpose(v, x, weight, b, &win, extend, groups), single);
		return;
	}
	if (aten_given(n, "output_padding"))
		torch_window_numbers(n, "output_padding", win.n, 0, extend);
	torch_set_batched(n, node_conv(v, x, weight, b, &win, groups), single);
}

static void import_conv(Aten *n)
{
	convolve(n, false, n->row->op);
}

static void import_conv_transpose(Aten *n)
{
	convolve(n, true, n->row->op);
}

static void import_convolution(Aten *n)
{
	convolve(n, aten_flag(n, "transposed"), 0);
}

/* ---- columns: a window for each place, [N, C K.., places], and back by adding up */

static void import_im2col(Aten *n)
{
	Visit *v = n->v;
	bool single;
	int x = torch_batched(n, aten_value(n, "self"), 2, &single);
	Shape s = node_val(v, x)->shape;
	Windows w = windows_over(v, &s);
	torch_window_numbers(n, "kernel_size", 2, 1, w.kernel);
	torch_window_numbers(n, "dilation", 2, 1, w.dilation);
	torch_window_numbers(n, "padding", 2, 0, w.pads);
	torch_window_numbers(n, "stride", 2, 1, w.stride);
	if (!node_ok(v))
		return;
	int64_t pads[8] = { 0, 0, w.pads[0], w.pads[1], 0, 0, w.pads[0], w.pads[1] }, out[2];
	for (int k = 0; k < 2; k++) {
		int64_t room = s.dim[2 + k] + 2 * w.pads[k] - (w.kernel[k] - 1) * w.dilation[k] - 1;
		if (room < 0)
			node_fail(v, ERR_TYPE, "its window is larger than its input");
		out[k] = room / w.stride[k] + 1;
	}
	if (node_ok(v) && (w.kernel[0] > 1 << 10 || w.kernel[1] > 1 << 10 || w.kernel[0] * w.kernel[1] > 1 << 12))
		node_fail(v, ERR_UNSUPPORTED, "its window has more than %d elements", 1 << 12);
	if (!node_ok(v))
		return;
	Attr attr = attr_ints("pads", pads, 8);
	x = node_call(v, OP_pad, &x, 1, &attr, 1);
	int64_t count = w.kernel[0] * w.kernel[1], places = size_product(out[0], out[1]);
	int *part = arena_array(v->im->arena, int, count);
	for (int64_t k = 0; k < count && node_ok(v); k++) {
		int64_t start[] = { 0, 0, k / w.kernel[1] * w.dilation[0], k % w.kernel[1] * w.dilation[1] };
		int64_t step[] = { 1, 1, w.stride[0], w.stride[1] }, size[] = { s.dim[0], s.dim[1], out[0], out[1] };
		Attr cut[] = { attr_ints("starts", start, 4), attr_ints("steps", step, 4), attr_ints("sizes", size, 4) };
		part[k] = node_view(v, node_call(v, OP_slice, &x, 1, cut, 3), 4, (int64_t[]){ s.dim[0], s.dim[1], 1, places });
	}
	int y = node_ok(v) ? node_concat(v, part, (int)count, 2) : DAG_NONE;
	torch_set_batched(n, node_view(v, y, 3, (int64_t[]){ s.dim[0], s.dim[1] * count, places }), single);
}

static void import_col2im(Aten *n)
{
	Visit *v = n->v;
	bool single;
	int64_t size[2] = { 0 }, pads[4] = { 0 };
	Windows w = { .n = 2 };
	int x = torch_batched(n, aten_value(n, "self"), 1, &single);
	Shape s = node_val(v, x)->shape;
	torch_window_numbers(n, "output_size", 2, 1, size);
	torch_window_numbers(n, "kernel_size", 2, 1, w.kernel);
	torch_window_numbers(n, "dilation", 2, 1, w.dilation);
	torch_window_numbers(n, "padding", 2, 0, pads);
	torch_window_numbers(n, "stride", 2, 1, w.stride);
	if (!node_ok(v))
		return;
	pads[2] = pads[0], pads[3] = pads[1];
	int64_t count = w.kernel[0] * w.kernel[1], dim[] = { s.dim[0], s.dim[1] / count, w.kernel[0], w.kernel[1], 0, 0 };
	for (int k = 0; k < 2; k++) {
		int64_t room = size[k] + 2 * pads[k] - (w.kernel[k] - 1) * w.dilation[k] - 1;
		dim[4 + k] = room < 0 ? 0 : room / w.stride[k] + 1;
	}
	if (s.dim[1] % count != 0 || size_product(dim[4], dim[5]) != s.dim[2]) {
		node_fail(v, ERR_TYPE, "its windows do not fit its output_size");
		return;
	}
	x = node_view(v, x, 6, dim);
	Attr attr[] = { attr_ints("size", size, 2), attr_ints("strides", w.stride, 2), attr_ints("pads", pads, 4),
		attr_ints("dilations", w.dilation, 2) };
	torch_set_batched(n, node_call(v, OP_fold, &x, 1, attr, 4), single);
}

/* Windows along one dimension, their elements last. */
static void import_unfold(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self");
	Shape s = node_val(v, x)->shape;
	int axis = aten_axis(n, "dimension", s.rank);
	int64_t size = aten_int(n, "size"), step = aten_int(n, "step");
	if (node_ok(v) && (s.rank == 0 || s.rank == DAG_MAX_RANK || size < 1 || step < 1 || size > s.dim[axis]))
		node_fail(v, ERR_TYPE, "windows of %lld do not fit dimension %d", (long long)size, axis);
	int64_t count = node_ok(v) ? (s.dim[axis] - size) / step + 1 : 0, perm[DAG_MAX_RANK];
	if (node_ok(v) && (count > 1 << 24 || size > (1 << 24) / count))
		node_fail(v, ERR_UNSUPPORTED, "it makes %lld windows of %lld", (long long)count, (long long)size);
	if (!node_ok(v) || !torch_spend(v, count * size))
		return;
	int64_t *at = arena_array(v->im->arena, int64_t, count * size), dim[] = { count, size };
	for (int64_t i = 0; i < count; i++)
		for (int64_t k = 0; k < size; k++)
			at[i * size + k] = i * step + k;
	int in[] = { x, node_const(v, I64, shape_of(2, dim), at) };
	Attr attr = attr_int("axis", axis);
	int y = node_call(v, OP_gather, in, 2, &attr, 1);
	for (int k = 0; k <= s.rank; k++)
		perm[k] = k <= axis ? k : k < s.rank ? k + 1 : axis + 1;
	aten_give(n, torch_copy_of(v, aten_tensor(n, "self"), node_transpose(v, y, perm)));
}

/* Elements at places that strides give. Where elements lie is known only for a whole tensor in row-major order. */
static void import_as_strided(Aten *n)
{
	Visit *v = n->v;
	int64_t size[ATEN_INTS], stride[ATEN_INTS],
		offset = aten_given(n, "storage_offset") ? aten_int(n, "storage_offset") : 0;
	TorchTensor *t = aten_tensor(n, "self"), *whole = t;
	Shape s = torch_shape(v, t), r;
	int rank = aten_ints(n, "size", -1, size);
	int64_t all = shape_product(&s, 0, s.rank), last = offset, at[DAG_MAX_RANK] = { 0 };
	aten_ints(n, "stride", rank, stride);
	while (whole->base != NULL)
		whole = whole->base;
	r = torch_shape(v, whole);
	if (node_ok(v) && (!torch_is_dense(v, t) || whole->saved != NULL || shape_product(&r, 0, r.rank) != all))
		node_fail(v, ERR_UNSUPPORTED, "its input is no whole tensor whose elements surely lie in row-major order");
	if (node_ok(v) && rank > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its size has %d dimensions; dlc takes at most %d", rank, DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	r = shape_of(rank, size);
	bool inside = offset >= 0 && offset < all;
	for (int k = 0; k < rank && inside; k++) {
		inside = size[k] >= 1 && stride[k] >= 0 && (size[k] == 1 || stride[k] <= (all - 1 - last) / (size[k] - 1));
		last += inside ? (size[k] - 1) * stride[k] : 0;
	}
	int64_t count = inside ? shape_elements(r) : -1, place = offset;
	if (!inside || count < 0) {
		node_fail(v, ERR_INPUT, "its size and strides reach beyond the %lld elements of its input", (long long)all);
		return;
	}
	if (!torch_spend(v, count))
		return;
	int64_t *index = arena_array(v->im->arena, int64_t, count + 1);
	for (int64_t i = 0; i < count; i++) {
		index[i] = place;
		for (int k = rank - 1; k >= 0; k--) {
			if (++at[k] < size[k]) {
				place += stride[k];
				break;
			}
			place -= stride[k] * (size[k] - 1); /* in a dimension of 1 any stride is allowed: it is not read */
			at[k] = 0;
		}
	}
	int in[] = { node_view(v, torch_value(v, t), 1, &all), node_const(v, I64, r, index) };
	Attr attr = attr_int("axis", 0);
	aten_give(n, torch_copy_of(v, t, node_call(v, OP_gather, in, 2, &attr, 1)));
}

#define CONV "input:T weight:T bias:T? stride:I=1 padding:*=0 dilation:I=1 groups:i=1"
#define TRANSPOSE "input:T weight:T bias:T? stride:I=1 padding:I=0 output_padding:I=0 groups:i=1 dilation:I=1"
#define WINDOW "kernel_size:I dilation:I padding:I stride:I"

const AtenRow torch_window_rows[] = {
	{ "conv1d", CONV, import_conv, 1 },
	{ "conv2d", CONV, import_conv, 2 },
	{ "conv3d", CONV, import_conv, 3 },
	{ "conv_transpose1d", TRANSPOSE, import_conv_transpose, 1 },
	{ "conv_transpose2d", TRANSPOSE, import_conv_transpose, 2 },
	{ "conv_transpose3d", TRANSPOSE, import_conv_transpose, 3 },
	{ "convolution", "input:T weight:T bias:T? stride:I padding:I dilation:I transposed:b output_padding:I groups:i",
		import_convolution, 0 },
	{ "_convolution",
		"input:T weight:T bias:T? stride:I padding:I dilation:I transposed:b output_padding:I groups:i benchmark:_? "
		"deterministic:_? cudnn_enabled:_? allow_tf32:_?",
		import_convolution, 0 },
	{ "_convolution_mode", CONV, import_conv, 0 },
	{ "im2col", "self:T " WINDOW, import_im2col, 0 },
	{ "col2im", "self:T output_size:I " WINDOW, import_col2im, 0 },
	{ "unfold", "self:T dimension:i size:i step:i", import_unfold, 0 },
	{ "as_strided", "self:T size:I stride:I storage_offset:i?", import_as_strided, 0 },
	{ NULL, NULL, NULL, 0 },
};
