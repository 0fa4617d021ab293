/*
 * Rows of the operators with windows, weights and channels: convolution, pooling, normalisation,
 * Gemm and MatMul. Padding by name (auto_pad) becomes numbers here, because shapes are known;
 * global pooling becomes a reduction; Gemm becomes dense where it is one.
 */
#include "frontend/onnx/visit.h"

#include "op/element.h"

#include <string.h>

enum { MOST_SPATIAL = 3 };

/* The attributes that convolution and pooling share, in numbers. */
typedef struct Windows {
	int n;
	int64_t kernel[MOST_SPATIAL], stride[MOST_SPATIAL], dilation[MOST_SPATIAL];
	int64_t pads[2 * MOST_SPATIAL];
} Windows;

/* `n` numbers of an attribute that is given, else `otherwise` in each place. */
static void read_list(Visit *v, const char *name, int n, int64_t least, int64_t otherwise, int64_t *out)
{
	int count;
	const int64_t *at = node_attr_ints(v, name, &count);
	for (int k = 0; k < n; k++)
		out[k] = otherwise;
	if (count < 0 || !node_ok(v))
		return;
	if (count != n) {
		node_fail(v, ERR_TYPE, "its attribute %s has %d numbers where its input needs %d", name, count, n);
		return;
	}
	for (int k = 0; k < n; k++) {
		if (at[k] < least || at[k] > INT32_MAX)
			node_fail(v, ERR_TYPE, "its attribute %s holds %lld, which is out of range", name, (long long)at[k]);
		else
			out[k] = at[k];
	}
}

/* SAME: the result has ceil(in / stride) elements; an odd pad goes to the end (UPPER) or begin. */
static void pad_same(Windows *w, const Shape *x, bool upper)
{
	for (int k = 0; k < w->n; k++) {
		int64_t in = x->dim[k + 2], out = (in + w->stride[k] - 1) / w->stride[k];
		int64_t reach = (w->kernel[k] - 1) * w->dilation[k] + 1;
		int64_t all = (out - 1) * w->stride[k] + reach - in;
		if (all < 0)
			all = 0;
		w->pads[k] = upper ? all / 2 : all - all / 2;
		w->pads[k + w->n] = all - w->pads[k];
	}
}

/* `kernel`: the value without the attribute, NULL if the attribute is required. */
static Windows read_windows(Visit *v, const int64_t *kernel)
{
	Windows w = { 0 };
	const Item *x = node_need(v, 0);
	w.n = x->shape.rank - 2;
	if (node_ok(v) && (w.n < 1 || w.n > MOST_SPATIAL))
		node_fail(v, ERR_UNSUPPORTED, "its input has %d dimensions; 3, 4 and 5 are supported", x->shape.rank);
	if (!node_ok(v)) {
		w.n = 0;
		return w;
	}
	if (kernel == NULL && !node_has(v, "kernel_shape"))
		node_fail(v, ERR_INPUT, "it has no attribute kernel_shape");
	read_list(v, "kernel_shape", w.n, 1, 1, w.kernel);
	for (int k = 0; kernel != NULL && k < w.n; k++) {
		if (node_has(v, "kernel_shape") && w.kernel[k] != kernel[k])
			node_fail(v, ERR_TYPE, "its attribute kernel_shape differs from the shape of its weights");
		w.kernel[k] = kernel[k];
	}
	read_list(v, "strides", w.n, 1, 1, w.stride);
	read_list(v, "dilations", w.n, 1, 1, w.dilation);
	read_list(v, "pads", 2 * w.n, 0, 0, w.pads);
	const char *how = node_attr_text(v, "auto_pad", "NOTSET");
	if (strcmp(how, "SAME_UPPER") == 0 || strcmp(how, "SAME_LOWER") == 0)
		pad_same(&w, &x->shape, how[5] == 'U');
	else if (strcmp(how, "VALID") == 0)
		memset(w.pads, 0, sizeof w.pads);
	else if (strcmp(how, "NOTSET") != 0 && how[0] != 0)
		node_fail(v, ERR_INPUT, "its attribute auto_pad is '%s', which is not supported", how);
	return w;
}

static void import_conv(Visit *v)
{
	const Item *x = node_need(v, 0), *w = node_need(v, 1);
	if (node_ok(v) && (w->shape.rank != x->shape.rank || x->shape.rank < 3))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but its weights have %d", x->shape.rank, w->shape.rank);
	Windows win = read_windows(v, node_ok(v) ? &w->shape.dim[2] : NULL);
	Attr attr[] = {
		attr_ints("strides", win.stride, win.n),
		attr_ints("pads", win.pads, 2 * win.n),
		attr_ints("dilations", win.dilation, win.n),
		attr_int("groups", node_attr_int(v, "group", 1)),
	};
	int in[] = { node_value(v, 0), node_value(v, 1), node_value(v, 2) };
	node_set(v, 0, node_call(v, OP_conv, in, 3, attr, 4));
}

/* The pads that make rounding down equal to rounding up: they extend to the end of the last window. */
static void pad_for_ceil(Windows *w, const Shape *x)
{
	for (int k = 0; k < w->n; k++) {
		int64_t in = x->dim[k + 2] + w->pads[k], s = w->stride[k];
		int64_t reach = (w->kernel[k] - 1) * w->dilation[k] + 1, room = in + w->pads[k + w->n] - reach;
		if (room < 0)
			continue; /* the operator refuses it */
		int64_t last = (room + s - 1) / s * s;
		if (last >= in)
			last -= s; /* a window must start in the input or before it */
		w->pads[k + w->n] = last + reach > in ? last + reach - in : 0;
	}
}

static void import_pool(Visit *v, int op)
{
	if (node_used(v, 1))
		node_fail(v, ERR_UNSUPPORTED, "its second result (Indices) is not supported");
	Windows win = read_windows(v, NULL);
	bool ceil = node_attr_int(v, "ceil_mode", 0) != 0;
	bool count = op == OP_avg_pool && node_attr_int(v, "count_include_pad", 0) != 0;
	if (ceil && count && v->frame->opset < 22 && node_ok(v)) {
		pad_for_ceil(&win, &node_in(v, 0)->shape); /* until opset 22 such cells counted too */
		ceil = false;
	}
	Attr attr[6] = {
		attr_ints("kernel", win.kernel, win.n),
		attr_ints("strides", win.stride, win.n),
		attr_ints("pads", win.pads, 2 * win.n),
		attr_ints("dilations", win.dilation, win.n),
		attr_int("ceil", ceil),
	};
	int n = 5, x = node_value(v, 0);
	if (op == OP_avg_pool)
		attr[n++] = attr_int("count_pad", count);
	node_set(v, 0, node_call(v, op, &x, 1, attr, n));
}

static void import_max_pool(Visit *v)
{
	import_pool(v, OP_max_pool);
}

static void import_average_pool(Visit *v)
{
	import_pool(v, OP_avg_pool);
}

static void import_global(Visit *v, int op)
{
	const Item *x = node_need(v, 0);
	if (node_ok(v) && x->shape.rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 3", x->shape.rank);
	int64_t axes[DAG_MAX_RANK];
	for (int k = 2; k < x->shape.rank; k++)
		axes[k - 2] = k;
	Attr attr = attr_ints("axes", axes, x->shape.rank - 2);
	int in = node_value(v, 0);
	node_set(v, 0, node_call(v, op, &in, 1, &attr, 1));
}

static void import_global_average_pool(Visit *v)
{
	import_global(v, OP_reduce_mean);
}

static void import_global_max_pool(Visit *v)
{
	import_global(v, OP_reduce_max);
}

static void import_batch_normalization(Visit *v)
{
	int opset = v->frame->opset;
	bool trains =
		opset < 7 ? node_attr_int(v, "is_test", 0) == 0 : opset >= 14 && node_attr_int(v, "training_mode", 0) != 0;
	for (int k = 1; k < node_nout(v); k++)
		trains |= node_used(v, k);
	if (trains)
		node_fail(v, ERR_UNSUPPORTED, "training mode is not supported: export the model for inference");
	if (opset < 9 && node_attr_int(v, "spatial", 1) == 0)
		node_fail(v, ERR_UNSUPPORTED, "its attribute spatial = 0 is not supported");
	Attr attr = attr_float("epsilon", node_attr_float(v, "epsilon", 1e-5));
	int in[5];
	for (int k = 0; k < 5; k++) {
		node_need(v, k);
		in[k] = node_value(v, k);
	}
	node_set(v, 0, node_call(v, OP_batch_norm, in, 5, &attr, 1));
}

static void import_lrn(Visit *v)
{
	node_need(v, 0);
	if (!node_has(v, "size"))
		node_fail(v, ERR_INPUT, "it has no attribute size");
	Attr attr[] = {
		attr_int("size", node_attr_int(v, "size", 1)),
		attr_float("bias", node_attr_float(v, "bias", 1)),
		attr_float("alpha", node_attr_float(v, "alpha", 1e-4)),
		attr_float("beta", node_attr_float(v, "beta", 0.75)),
	};
	int x = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_lrn, &x, 1, attr, 4));
}

static int times(Visit *v, int x, double factor)
{
	if (factor == 1 || x == DAG_NONE)
		return x;
	return node_call2(v, OP_mul, x, node_number(v, node_val(v, x)->type, factor));
}

/* alpha * A' * B' + beta * C; it becomes dense if it is x * w' + b with a bias for each column. */
static void import_gemm(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1), *c = node_in(v, 2);
	if (node_ok(v) && (a->shape.rank != 2 || b->shape.rank != 2))
		node_fail(v, ERR_TYPE, "its inputs A and B must be matrices");
	if (v->frame->opset < 7)
		node_attr_int(v, "broadcast", 0); /* NumPy's rule applies */
	bool ta = node_attr_int(v, "transA", 0) != 0, tb = node_attr_int(v, "transB", 0) != 0;
	double alpha = node_attr_float(v, "alpha", 1), beta = node_attr_float(v, "beta", 1);
	int64_t columns = b->shape.dim[tb ? 0 : 1];
	bool by_column = c != NULL && c->shape.rank >= 1 && c->shape.rank <= 2 &&
	                 c->shape.dim[c->shape.rank - 1] == columns && (c->shape.rank == 1 || c->shape.dim[0] == 1);
	int in[] = { node_value(v, 0), node_value(v, 1), DAG_NONE };
	if (!ta && tb && alpha == 1 && (c == NULL || (by_column && beta == 1))) {
		if (c != NULL)
			in[2] = node_reshape(v, node_value(v, 2), shape_of(1, &columns));
		node_set(v, 0, node_call(v, OP_dense, in, 3, NULL, 0));
		return;
	}
	Attr attr[] = { attr_int("ta", ta), attr_int("tb", tb) };
	int y = times(v, node_call(v, OP_matmul, in, 2, attr, 2), alpha);
	if (c != NULL && beta != 0)
		y = node_call2(v, OP_add, y, times(v, node_value(v, 2), beta));
	if (node_ok(v) && node_val(v, y)->shape.rank != 2)
		node_fail(v, ERR_TYPE, "its input C does not broadcast to the product");
	node_set(v, 0, y);
}

static void import_matmul(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	node_set(v, 0, node_call2(v, OP_matmul, node_value(v, 0), node_value(v, 1)));
}

/* At inference it copies its input; the mask, if it is used, is all ones. */
static void import_dropout(Visit *v)
{
	int opset = v->frame->opset;
	const Item *x = node_need(v, 0);
	bool trains = opset < 7 && node_attr_int(v, "is_test", 0) == 0;
	if (opset >= 12 && node_in(v, 2) != NULL) {
		const Item *mode = node_known(v, 2);
		trains = node_ok(v) && shape_elements(mode->shape) > 0 && element_get(mode->type, mode->data, 0) != 0;
	}
	if (trains)
		node_fail(v, ERR_UNSUPPORTED, "training mode is not supported: export the model for inference");
	node_set_alias(v, 0, x);
	if (!node_used(v, 1) || !node_ok(v))
		return;
	int one = node_number(v, opset < 10 ? x->type : BOOL, 1);
	Attr attr = attr_ints("shape", x->shape.dim, x->shape.rank);
	node_set(v, 1, node_call(v, OP_expand, &one, 1, &attr, 1));
}

const OnnxRow onnx_nn_rows[] = {
	{ "Conv", 1, "", import_conv },
	{ "MaxPool", 1, "storage_order", import_max_pool },
	{ "AveragePool", 1, "", import_average_pool },
	{ "GlobalAveragePool", 1, "", import_global_average_pool },
	{ "GlobalMaxPool", 1, "", import_global_max_pool },
	{ "BatchNormalization", 1, "consumed_inputs momentum", import_batch_normalization },
	{ "LRN", 1, "", import_lrn },
	{ "Gemm", 1, "", import_gemm },
	{ "MatMul", 1, "", import_matmul },
	{ "Dropout", 1, "consumed_inputs ratio seed", import_dropout },
	{ NULL, 0, NULL, NULL },
};
