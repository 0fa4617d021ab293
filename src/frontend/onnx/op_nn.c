/*
 * Rows of the operators with windows, weights and channels: convolution, pooling, normalisation,
 * Gemm and MatMul. Padding by name (auto_pad) becomes numbers here, because shapes are known;
 * global pooling becomes a reduction; Gemm becomes dense where it is one.
 */
#include "frontend/node/compose.h"
#include "frontend/onnx/rows.h"
#include "frontend/onnx/windows.h"

#include "op/element.h"

#include <string.h>

Windows onnx_windows(Visit *v, const int64_t *kernel)
{
	const Item *x = node_need(v, 0);
	Windows w = windows_over(v, &x->shape);
	if (!node_ok(v))
		return w;
	if (kernel == NULL && !node_has(v, "kernel_shape"))
		node_fail(v, ERR_INPUT, "it has no attribute kernel_shape");
	node_attr_list(v, "kernel_shape", w.n, 1, 1, w.kernel);
	for (int k = 0; kernel != NULL && k < w.n; k++) {
		if (node_has(v, "kernel_shape") && w.kernel[k] != kernel[k])
			node_fail(v, ERR_TYPE, "its attribute kernel_shape differs from the shape of its weights");
		w.kernel[k] = kernel[k];
	}
	node_attr_list(v, "strides", w.n, 1, 1, w.stride);
	node_attr_list(v, "dilations", w.n, 1, 1, w.dilation);
	node_attr_list(v, "pads", 2 * w.n, 0, 0, w.pads);
	const char *how = node_attr_text(v, "auto_pad", "NOTSET");
	if (strcmp(how, "SAME_UPPER") == 0 || strcmp(how, "SAME_LOWER") == 0)
		windows_pad_same(&w, &x->shape, how[5] == 'U');
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
	Windows win = onnx_windows(v, node_ok(v) ? &w->shape.dim[2] : NULL);
	int64_t groups = node_attr_int(v, "group", 1);
	node_set(v, 0, node_conv(v, node_value(v, 0), node_value(v, 1), node_value(v, 2), &win, groups));
}

static void import_conv_transpose(Visit *v)
{
	const Item *x = node_need(v, 0), *w = node_need(v, 1);
	if (node_ok(v) && (w->shape.rank != x->shape.rank || x->shape.rank < 3))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but its weights have %d", x->shape.rank, w->shape.rank);
	Windows win = onnx_windows(v, node_ok(v) ? &w->shape.dim[2] : NULL);
	const char *how = node_attr_text(v, "auto_pad", "NOTSET");
	int64_t extend[MOST_SPATIAL];
	int count;
	node_attr_list(v, "output_padding", win.n, 0, 0, extend);
	const int64_t *size = node_attr_ints(v, "output_shape", &count);
	if (count == win.n + 2) { /* with the batch and the channels */
		int64_t filters = size_product(w->shape.dim[1], node_attr_int(v, "group", 1));
		if (node_ok(v) && (size[0] != x->shape.dim[0] || size[1] != filters))
			node_fail(v, ERR_TYPE,
				"its attribute output_shape begins with %lld and %lld, but batch and filters are %lld and %lld",
				(long long)size[0], (long long)size[1], (long long)x->shape.dim[0], (long long)filters);
		size += 2;
	} else if (count >= 0 && count != win.n)
		node_fail(v, ERR_TYPE, "its attribute output_shape has %d numbers where its input needs %d", count, win.n);
	for (int k = 0; size != NULL && k < win.n && node_ok(v); k++)
		if (size[k] < 1 || size[k] > INT32_MAX)
			node_fail(v, ERR_TYPE, "its attribute output_shape holds %lld, which is out of range", (long long)size[k]);
	for (int k = 0; k < win.n && node_ok(v); k++)
		if (x->shape.dim[k + 2] > INT32_MAX)
			node_fail(v, ERR_TYPE, "dimension %d of its input is %lld, which is out of range", k + 2,
				(long long)x->shape.dim[k + 2]);
	if (node_ok(v) && (size != NULL || strncmp(how, "SAME", 4) == 0))
		windows_pad_transposed(&win, &x->shape, size, strcmp(how, "SAME_UPPER") == 0, extend);
	int64_t groups = node_attr_int(v, "group", 1);
	int in[] = { node_value(v, 0), node_value(v, 1), node_value(v, 2) };
	node_set(v, 0, node_conv_transpose(v, in[0], in[1], in[2], &win, extend, groups));
}

static void import_average_pool(Visit *v)
{
	Windows win = onnx_windows(v, NULL);
	bool ceil = node_attr_flag(v, "ceil_mode", false), count = node_attr_flag(v, "count_include_pad", false);
	bool dilated = false;
	for (int k = 0; k < win.n; k++)
		dilated |= win.dilation[k] > 1;
	if (ceil && count && dilated && v->frame->version < 22 && node_ok(v)) { /* ONNX's test of opset 19 counts them */
		windows_pad_for_ceil(&win, &node_in(v, 0)->shape);
		ceil = false;
	}
	node_set(v, 0, node_avg_pool(v, node_value(v, 0), &win, ceil, count));
}

/* Places with the spatial dimensions column-major: the last one has the largest stride. */
static int column_major(Visit *v, int place, const Shape *x)
{
	int64_t stride = 1;
	int from = node_number(v, I64, 0), left = place;
	for (int k = x->rank - 1; k >= 2; k--) {
		int n = node_number(v, I64, (double)x->dim[k]);
		int64_t wide = shape_product(x, 2, k);
		int digit = node_call2(v, OP_mod, left, n);
		from = node_call2(v, OP_add, from, node_call2(v, OP_mul, digit, node_number(v, I64, (double)wide)));
		left = node_call2(v, OP_div, left, n);
		stride *= x->dim[k];
	}
	return node_call2(v, OP_add, from, node_call2(v, OP_mul, left, node_number(v, I64, (double)stride)));
}

static void import_max_pool(Visit *v)
{
	Windows win = onnx_windows(v, NULL);
	bool ceil = node_attr_flag(v, "ceil_mode", false), column = node_attr_flag(v, "storage_order", false);
	int x = node_value(v, 0);
	node_set(v, 0, node_max_pool(v, x, &win, ceil));
	if (!node_used(v, 1))
		return;
	int place = node_max_pool_place(v, x, &win, ceil);
	node_set(v, 1, column && node_ok(v) ? column_major(v, place, &node_in(v, 0)->shape) : place);
}

static void import_global_average_pool(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_global(v, OP_reduce_mean, node_value(v, 0)));
}

static void import_global_max_pool(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_global(v, OP_reduce_max, node_value(v, 0)));
}

static int times(Visit *v, int x, double factor)
{
	if (factor == 1 || x == DAG_NONE)
		return x;
	return node_call2(v, OP_mul, x, node_number(v, node_val(v, x)->type, factor));
}

/*
 * Elements are written to their places in zeros of the size that the windows cover. A given size extends or cuts the
 * end of each dimension.
 */
static void import_max_unpool(Visit *v)
{
	const Item *it = node_need(v, 0), *places = node_need(v, 1);
	Windows win = onnx_windows(v, NULL);
	int rank = it->shape.rank, count;
	Shape s = it->shape, line = { .rank = 1, .dim = { shape_product(&it->shape, 0, rank) } };
	char text[160];
	if (node_ok(v) && (!shape_eq(places->shape, it->shape) || !dtype_is_int(places->type)))
		node_fail(v, ERR_TYPE, "its input '%s' must be integers of the shape %s", places->name,
			shape_str(it->shape, text));
	for (int k = 0; k < win.n; k++) {
		s.dim[2 + k] = (it->shape.dim[2 + k] - 1) * win.stride[k] + win.kernel[k] - win.pads[k] - win.pads[win.n + k];
		if (node_ok(v) && s.dim[2 + k] < 1)
			node_fail(
				v, ERR_TYPE, "its windows cover %lld elements of spatial dimension %d", (long long)s.dim[2 + k], k);
	}
	const int64_t *size = node_ints(v, 2, &count);
	if (node_ok(v) && size != NULL && count != rank)
		node_fail(v, ERR_TYPE, "its output shape has %d numbers, but its input has %d dimensions", count, rank);
	if (!node_ok(v))
		return;
	node_check_range(v, 1, 0, shape_product(&s, 0, rank) - 1);
	int64_t all = shape_product(&s, 0, rank), pads[2 * DAG_MAX_RANK] = { 0 };
	Attr wide = attr_ints("shape", &all, 1), at = attr_int("axis", 0);
	int zero = node_number(v, it->type, 0), in[] = { node_call(v, OP_expand, &zero, 1, &wide, 1),
		node_reshape(v, node_value(v, 1), line), node_reshape(v, node_value(v, 0), line) };
	int y = node_reshape(v, node_call(v, OP_scatter_elements, in, 3, &at, 1), s);
	for (int k = 0; k < rank && size != NULL; k++)
		pads[rank + k] = size[k] < 0 || size[k] > INT32_MAX ? INT64_MIN : size[k] - s.dim[k];
	for (int k = 0; k < rank; k++)
		if (pads[rank + k] == INT64_MIN)
			node_fail(v, ERR_TYPE, "its output shape holds %lld, which is out of range", (long long)size[k]);
	Attr attr = attr_ints("pads", pads, 2 * rank);
	node_set(v, 0, size != NULL && node_ok(v) ? node_call(v, OP_pad, &y, 1, &attr, 1) : y);
}

/* |x| to the power p. */
static int magnitude(Visit *v, int x, double p)
{
	if (p == 2)
		return node_call2(v, OP_mul, x, x);
	x = node_call1(v, OP_abs, x);
	return p == 1 ? x : node_call2(v, OP_pow, x, node_number(v, node_val(v, x)->type, p));
}

static int root(Visit *v, int x, double p)
{
	if (p == 2)
		return node_call1(v, OP_sqrt, x);
	return p == 1 ? x : node_call2(v, OP_pow, x, node_number(v, node_val(v, x)->type, 1 / p));
}

/* p is a number below opset 2, an integer from then on. */
static double norm_order(Visit *v)
{
	double p = v->frame->version < 2 ? node_attr_float(v, "p", 2) : (double)node_attr_int(v, "p", 2);
	if (node_ok(v) && !(p > 0))
		node_fail(v, ERR_TYPE, "its attribute p is %g, but must be positive", p);
	return p;
}

/* (sum |x|^p)^(1/p) over windows: their mean, where padding counts as zeros, times the size of a window. */
static void import_lp_pool(Visit *v)
{
	const Item *it = node_need(v, 0);
	Windows win = onnx_windows(v, NULL);
	double p = norm_order(v), taps = 1;
	if (node_attr_flag(v, "ceil_mode", false) && node_ok(v))
		windows_pad_for_ceil(&win, &it->shape);
	for (int k = 0; k < win.n; k++)
		taps *= (double)win.kernel[k];
	DType type = dtype_is_float(it->type) && it->type.bits < 32 ? F32 : it->type;
	int x = magnitude(v, node_cast(v, node_value(v, 0), type), p);
	x = times(v, node_avg_pool(v, x, &win, false, true), taps);
	node_set(v, 0, node_cast(v, root(v, x, p), it->type));
}

static void import_global_lp_pool(Visit *v)
{
	const Item *it = node_need(v, 0);
	double p = norm_order(v);
	DType type = dtype_is_float(it->type) && it->type.bits < 32 ? F32 : it->type;
	int x = magnitude(v, node_cast(v, node_value(v, 0), type), p);
	x = node_global(v, OP_reduce_sum, x);
	node_set(v, 0, node_cast(v, root(v, x, p), it->type));
}

/* Statistics of the input itself, over all dimensions but the channels; results 1 and 2 are the running ones. */
static void normalize_batch(Visit *v, int *in)
{
	Shape s = node_val(v, in[0])->shape;
	double keep = node_attr_float(v, "momentum", 0.9F), epsilon = node_attr_size(v, "epsilon", 1e-5);
	int64_t axes[DAG_MAX_RANK];
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", s.rank);
	if (!node_ok(v))
		return;
	for (int k = 0; k < s.rank - 1; k++)
		axes[k] = k > 0 ? k + 1 : 0;
	DType type = node_val(v, in[3])->type;
	int x = node_cast(v, in[0], type), now[2];
	Attr over[] = { attr_ints("axes", axes, s.rank - 1), attr_int("keep", 1) }, flat = attr_int("keep", 0);
	int mean = node_call(v, OP_reduce_mean, &x, 1, over, 2), far = node_call2(v, OP_sub, x, mean);
	int square = node_call2(v, OP_mul, far, far);
	over[1] = flat;
	now[0] = node_call(v, OP_reduce_mean, &x, 1, over, 2);
	now[1] = node_call(v, OP_reduce_mean, &square, 1, over, 2);
	for (int k = 0; k < 2; k++)
		if (node_used(v, 1 + k))
			node_set(v, 1 + k, node_call2(v, OP_add, node_with_number(v, OP_mul, in[3 + k], keep),
								   node_with_number(v, OP_mul, now[k], 1 - keep)));
	Attr attr = attr_float("epsilon", epsilon);
	int all[] = { in[0], in[1], in[2], now[0], now[1] };
	node_set(v, 0, node_call(v, OP_batch_norm, all, 5, &attr, 1));
}

static void import_batch_normalization(Visit *v)
{
	int opset = v->frame->version;
	bool modern = opset >= 14 && node_attr_flag(v, "training_mode", false);
	bool trains = opset < 7 && !node_attr_flag(v, "is_test", false);
	for (int k = 1; k < node_nout(v) && !modern; k++)
		trains |= node_used(v, k);
	if (trains)
		node_fail(v, ERR_UNSUPPORTED, "training mode is not supported: export the model for inference");
	if (opset < 9 && !node_attr_flag(v, "spatial", true))
		node_fail(v, ERR_UNSUPPORTED, "its attribute spatial = 0 is not supported");
	Attr attr = attr_float("epsilon", node_attr_size(v, "epsilon", 1e-5));
	int in[5];
	for (int k = 0; k < 5; k++) {
		node_need(v, k);
		in[k] = node_value(v, k);
	}
	if (modern)
		normalize_batch(v, in);
	else
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

/* alpha * A' * B' + beta * C; it becomes dense if it is x * w' + b with a bias for each column. */
static void import_gemm(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1), *c = node_in(v, 2);
	if (node_ok(v) && (a->shape.rank != 2 || b->shape.rank != 2))
		node_fail(v, ERR_TYPE, "its inputs A and B must be matrices");
	if (v->frame->version < 7)
		node_attr_int(v, "broadcast", 0); /* NumPy's rule applies */
	bool ta = node_attr_flag(v, "transA", false), tb = node_attr_flag(v, "transB", false);
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

static void import_det(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_call1(v, OP_det, node_value(v, 0)));
}

static void import_matmul(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	node_set(v, 0, node_call2(v, OP_matmul, node_value(v, 0), node_value(v, 1)));
}

/* ONNX Runtime's: the last two dimensions may be exchanged before, and the product has a factor. */
static void import_fused_matmul(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	if (node_attr_flag(v, "transBatchA", false) || node_attr_flag(v, "transBatchB", false))
		node_fail(v, ERR_UNSUPPORTED, "transBatchA and transBatchB are not supported: transpose the inputs before it");
	Attr attr[] = { attr_int("ta", node_attr_flag(v, "transA", false)),
		attr_int("tb", node_attr_flag(v, "transB", false)) };
	int in[] = { node_value(v, 0), node_value(v, 1) };
	node_set(v, 0, times(v, node_call(v, OP_matmul, in, 2, attr, 2), node_attr_float(v, "alpha", 1)));
}

/* At inference it copies its input; the mask, if it is used, is all ones. */
static void import_dropout(Visit *v)
{
	int opset = v->frame->version;
	const Item *x = node_need(v, 0);
	node_in(v, 1); /* the ratio changes nothing */
	bool trains = opset < 7 && !node_attr_flag(v, "is_test", false);
	if (opset >= 12 && node_in(v, 2) != NULL) {
		const Item *mode = node_known(v, 2);
		trains = node_ok(v) && shape_elements(mode->shape) > 0 && element_get(mode->type, mode->data, 0) != 0;
	}
	if (trains && opset >= 12 && node_in(v, 1) != NULL) { /* a ratio of 0 drops nothing */
		const Item *ratio = node_known(v, 1);
		trains = !node_ok(v) || shape_elements(ratio->shape) != 1 || element_get(ratio->type, ratio->data, 0) != 0;
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

const NodeRow onnx_nn_rows[] = {
	{ "Conv", 1, "", import_conv },
	{ "ConvTranspose", 1, "", import_conv_transpose },
	{ "MaxPool", 1, "", import_max_pool },
	{ "MaxUnpool", 9, "", import_max_unpool },
	{ "LpPool", 1, "", import_lp_pool },
	{ "GlobalLpPool", 1, "", import_global_lp_pool },
	{ "AveragePool", 1, "", import_average_pool },
	{ "GlobalAveragePool", 1, "", import_global_average_pool },
	{ "GlobalMaxPool", 1, "", import_global_max_pool },
	{ "BatchNormalization", 1, "consumed_inputs momentum", import_batch_normalization },
	{ "LRN", 1, "", import_lrn },
	{ "Gemm", 1, "", import_gemm },
	{ "Det", 11, "", import_det },
	{ "MatMul", 1, "", import_matmul },
	{ "com.microsoft::FusedMatMul", 1, "", import_fused_matmul },
	{ "Dropout", 1, "consumed_inputs ratio seed", import_dropout },
	{ "Einsum", 12, "", node_einsum },
	{ NULL, 0, NULL, NULL },
};
