/* Rows of MIL operators with windows over [N,C,spatial..]. Pads are written begin and end of each dimension. */
#include "frontend/coreml/mil.h"

#include "frontend/node/compose.h"
#include "frontend/node/windows.h"

static const char *const pad_types[] = { "valid", "custom", "same", "same_lower", NULL };
enum { PAD_VALID, PAD_CUSTOM, PAD_SAME, PAD_SAME_LOWER };

static void read_pads(Visit *v, Windows *w, int type)
{
	int64_t pads[2 * MOST_SPATIAL];
	mil_list(v, "pad", 2 * w->n, 0, 0, pads);
	for (int k = 0; k < w->n && type == PAD_CUSTOM; k++) {
		w->pads[k] = pads[2 * k];
		w->pads[w->n + k] = pads[2 * k + 1];
	}
}

/* Windows of a convolution; the weights give the kernel. */
static bool read_windows(Visit *v, const Shape *x, const Shape *weight, int type, Windows *w)
{
	*w = windows_over(v, x);
	if (node_ok(v) && weight->rank != x->rank)
		node_fail(v, ERR_TYPE, "its weights have %d dimensions, but its input has %d", weight->rank, x->rank);
	for (int k = 0; k < w->n && node_ok(v); k++)
		w->kernel[k] = coreml_size(v, "kernel", weight->dim[2 + k], 1);
	mil_list(v, "strides", w->n, 1, 1, w->stride);
	mil_list(v, "dilations", w->n, 1, 1, w->dilation);
	read_pads(v, w, type);
	return node_ok(v);
}

static void import_conv(Visit *v)
{
	int type = mil_word(v, "pad_type", pad_types, PAD_VALID);
	int x = mil_need(v, "x"), weight = mil_need(v, "weight");
	Shape s = node_val(v, x)->shape;
	Windows w;
	if (!read_windows(v, &s, &node_val(v, weight)->shape, type, &w))
		return;
	if (type == PAD_SAME || type == PAD_SAME_LOWER)
		windows_pad_same(&w, &s, type == PAD_SAME);
	node_set(v, 0, node_conv(v, x, weight, mil_value(v, "bias"), &w, mil_int(v, "groups", 1)));
}

static void import_conv_transpose(Visit *v)
{
	int type = mil_word(v, "pad_type", pad_types, PAD_VALID), n;
	int x = mil_need(v, "x"), weight = mil_need(v, "weight");
	Shape s = node_val(v, x)->shape;
	int64_t extend[MOST_SPATIAL] = { 0 };
	const int64_t *size = mil_ints(v, "output_shape", &n);
	Windows w;
	if (!read_windows(v, &s, &node_val(v, weight)->shape, type, &w))
		return;
	if (n >= 0 && n != s.rank && n != w.n)
		node_fail(v, ERR_TYPE, "its parameter output_shape has %d numbers for %d dimensions", n, s.rank);
	if (!node_ok(v))
		return;
	size = n < 0 ? NULL : size + (n - w.n);
	for (int k = 0; k < w.n && size != NULL; k++)
		if (size[k] < 1 || size[k] > INT32_MAX)
			node_fail(v, ERR_TYPE, "its parameter output_shape holds %lld", (long long)size[k]);
	if (!node_ok(v))
		return;
	if (type == PAD_SAME || type == PAD_SAME_LOWER) {
		windows_pad_transposed(&w, &s, size, type == PAD_SAME, extend);
	} else if (size != NULL) {
		windows_pad_transposed_end(&w, &s, size, extend);
	}
	node_set(v, 0, node_conv_transpose(v, x, weight, mil_value(v, "bias"), &w, extend, mil_int(v, "groups", 1)));
}

/* Windows of a pooling; those that round up get their pads here. */
static int pool_windows(Visit *v, Windows *w, bool *ceil)
{
	int type = mil_word(v, "pad_type", pad_types, PAD_VALID), x = mil_need(v, "x");
	Shape s = node_val(v, x)->shape;
	*w = windows_over(v, &s);
	*ceil = mil_flag(v, "ceil_mode", false);
	mil_list(v, "kernel_sizes", w->n, 1, 1, w->kernel);
	mil_list(v, "strides", w->n, 1, 1, w->stride);
	read_pads(v, w, type);
	if (node_ok(v) && (type == PAD_SAME || type == PAD_SAME_LOWER))
		windows_pad_same(w, &s, type == PAD_SAME);
	return x;
}

static void import_max_pool(Visit *v)
{
	Windows w;
	bool ceil;
	int x = pool_windows(v, &w, &ceil);
	node_set(v, 0, node_max_pool(v, x, &w, ceil));
}

static void import_avg_pool(Visit *v)
{
	Windows w;
	bool ceil;
	int x = pool_windows(v, &w, &ceil);
	node_set(v, 0, node_avg_pool(v, x, &w, ceil, !mil_flag(v, "exclude_padding_from_average", false)));
}

static void import_l2_pool(Visit *v)
{
	Windows w;
	bool ceil;
	int x = pool_windows(v, &w, &ceil);
	node_set(v, 0, node_l2_pool(v, x, &w, ceil));
}

/* The last dimensions are padded that the list counts. */
static void import_pad(Visit *v)
{
	static const char *const modes[] = { "constant", "reflect", "replicate", NULL };
	static const char *const names[] = { "constant", "reflect", "edge" };
	int mode = mil_word(v, "mode", modes, 0), x = mil_need(v, "x"), n, rank = node_val(v, x)->shape.rank;
	const int64_t *at = mil_ints(v, "pad", &n);
	double value = mil_float(v, "constant_val", 0);
	int64_t pads[2 * DAG_MAX_RANK] = { 0 };
	if (node_ok(v) && (n < 0 || n % 2 != 0 || n / 2 > rank))
		node_fail(v, ERR_TYPE, "its parameter pad has %d numbers for %d dimensions", n, rank);
	for (int k = 0; k < n / 2 && node_ok(v); k++) {
		pads[rank - n / 2 + k] = coreml_size(v, "pad", at[2 * k], 0);
		pads[2 * rank - n / 2 + k] = coreml_size(v, "pad", at[2 * k + 1], 0);
	}
	Attr attr[] = { attr_ints("pads", pads, 2 * rank), attr_text("mode", names[mode]), attr_float("value", value) };
	node_set(v, 0, node_call(v, OP_pad, &x, 1, attr, 3));
}

const NodeRow mil_window_rows[] = {
	{ "conv", 0, "", import_conv },
	{ "conv_transpose", 0, "", import_conv_transpose },
	{ "max_pool", 0, "", import_max_pool },
	{ "avg_pool", 0, "", import_avg_pool },
	{ "l2_pool", 0, "", import_l2_pool },
	{ "pad", 0, "", import_pad },
	{ NULL, 0, NULL, NULL },
};
