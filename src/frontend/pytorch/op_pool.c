/* Rows of poolings, adaptive ones included, and of padding. */
#include "frontend/pytorch/window.h"

#include <string.h>

/* Kernel, stride (the kernel's where it is absent or empty), padding. */
static Windows read_windows(Aten *n, const Shape *x, int spatial)
{
	int64_t at[ATEN_INTS];
	Windows w = windows_over(n->v, x);
	torch_window_numbers(n, "kernel_size", spatial, 1, w.kernel);
	memcpy(w.stride, w.kernel, sizeof w.stride);
	if (aten_ints(n, "stride", -1, at) > 0)
		torch_window_numbers(n, "stride", spatial, 1, w.stride);
	torch_window_numbers(n, "padding", spatial, 0, w.pads);
	memcpy(&w.pads[spatial], w.pads, sizeof *w.pads * (size_t)spatial);
	return w;
}

/* Places of the plane, not of the whole tensor. */
static int places(Aten *n, int x, const Windows *w, bool ceil)
{
	Shape s = node_val(n->v, x)->shape;
	int at = node_max_pool_place(n->v, x, w, ceil);
	return node_with_number(n->v, OP_mod, at, (double)shape_product(&s, 2, s.rank));
}

static void import_max_pool(Aten *n)
{
	bool single;
	int spatial = n->row->op % 10, x = torch_batched(n, aten_value(n, "self"), spatial, &single);
	Shape s = node_val(n->v, x)->shape;
	Windows w = read_windows(n, &s, spatial);
	bool ceil = aten_flag(n, "ceil_mode");
	torch_window_numbers(n, "dilation", spatial, 1, w.dilation);
	if (!node_ok(n->v))
		return;
	torch_set_batched(n, node_max_pool(n->v, x, &w, ceil), single);
	if (n->row->op < 10 || !node_ok(n->v))
		return;
	TorchValue first = n->result, both = torch_list(n->v->im->arena, TORCH_TUPLE);
	torch_set_batched(n, places(n, x, &w, ceil), single);
	torch_push(n->v->im->arena, both.list, first);
	torch_push(n->v->im->arena, both.list, n->result);
	aten_give(n, both);
}

static void import_avg_pool(Aten *n)
{
	bool single;
	int spatial = n->row->op, x = torch_batched(n, aten_value(n, "self"), spatial, &single);
	Shape s = node_val(n->v, x)->shape;
	Windows w = read_windows(n, &s, spatial);
	bool ceil = aten_flag(n, "ceil_mode"), count_pad = aten_flag(n, "count_include_pad");
	int64_t divisor = aten_given(n, "divisor_override") ? aten_int(n, "divisor_override") : 0;
	if (!node_ok(n->v))
		return;
	if (aten_given(n, "divisor_override") && divisor != 0) { /* the sum, over another number */
		double all = 1;
		for (int k = 0; k < spatial; k++)
			all *= (double)w.kernel[k];
		if (ceil)
			node_fail(n->v, ERR_UNSUPPORTED, "its divisor_override does not go with ceil_mode");
		int y = node_avg_pool(n->v, x, &w, false, true);
		torch_set_batched(n, node_with_number(n->v, OP_mul, y, all / (double)divisor), single);
		return;
	}
	torch_set_batched(n, node_avg_pool(n->v, x, &w, ceil, count_pad), single);
}

/* (mean of |x|^p times the window)^(1/p) */
static void import_lp_pool(Aten *n)
{
	bool single;
	int spatial = n->row->op, x = torch_batched(n, aten_value(n, "self"), spatial, &single);
	Shape s = node_val(n->v, x)->shape;
	Windows w = read_windows(n, &s, spatial);
	double p = aten_float(n, "norm_type"), all = 1;
	bool ceil = aten_flag(n, "ceil_mode");
	for (int k = 0; k < spatial; k++)
		all *= (double)w.kernel[k];
	int y = node_avg_pool(n->v, node_with_number(n->v, OP_pow, x, p), &w, ceil, true);
	y = node_with_number(n->v, OP_mul, y, all);
	torch_set_batched(n, node_with_number(n->v, OP_pow, y, 1 / p), single);
}

/* ---- adaptive: window i is floor(i in / out) .. ceil((i + 1) in / out) */

static int64_t first_of(int64_t i, int64_t in, int64_t out)
{
	return i * in / out;
}

static int64_t end_of(int64_t i, int64_t in, int64_t out)
{
	return ((i + 1) * in + out - 1) / out;
}

/* One axis of which windows differ in length: gathered with repetitions, which a maximum does not see. */
static int reduce_axis(Aten *n, int op, int x, int axis, int64_t out)
{
	Visit *v = n->v;
	int64_t in = node_val(v, x)->shape.dim[axis], most = 1;
	for (int64_t i = 0; i < out && out <= 1 << 20; i++)
		most = end_of(i, in, out) - first_of(i, in, out) > most ? end_of(i, in, out) - first_of(i, in, out) : most;
	if (out > 1 << 20 || most > (1 << 22) / out || !torch_spend(v, out * most)) {
		node_fail(v, ERR_UNSUPPORTED, "it has %lld windows, which are too many", (long long)out);
		return x;
	}
	int64_t *at = arena_array(v->im->arena, int64_t, out * most + 1), dim[] = { out, most }, over = axis + 1;
	double *weight = arena_array(v->im->arena, double, out *most + 1);
	for (int64_t i = 0; i < out; i++) {
		int64_t from = first_of(i, in, out), end = end_of(i, in, out);
		for (int64_t k = 0; k < most; k++) {
			at[i * most + k] = from + k < end ? from + k : end - 1;
			weight[i * most + k] = from + k < end ? 1 / (double)(end - from) : 0;
		}
	}
	if (op == OP_reduce_max) {
		int both[] = { x, node_const(v, I64, shape_of(2, dim), at) };
		Attr along = attr_int("axis", axis), attr[] = { attr_ints("axes", &over, 1), attr_int("keep", 0) };
		int y = node_call(v, OP_gather, both, 2, &along, 1);
		return node_call(v, OP_reduce_max, &y, 1, attr, 2);
	}
	float *w = arena_array(v->im->arena, float, out *most + 1);
	for (int64_t k = 0; k < out * most; k++)
		w[k] = (float)weight[k];
	int in3[] = { x, node_const(v, I64, shape_of(2, dim), at), node_const(v, F32, shape_of(2, dim), w) };
	Attr along = attr_int("axis", axis);
	return node_call(v, OP_resample, in3, 3, &along, 1);
}

static void import_adaptive(Aten *n)
{
	Visit *v = n->v;
	bool single, max = n->row->op >= 10;
	int spatial = n->row->op % 10, x = torch_batched(n, aten_value(n, "self"), spatial, &single);
	Shape s = node_val(v, x)->shape;
	Windows w = windows_over(v, &s);
	int64_t out[ATEN_INTS] = { 0 };
	TorchValue size = aten_any(n, "output_size");
	bool even = true, global = true;
	for (int k = 0; k < spatial && node_ok(v); k++) { /* None leaves a dimension as it is */
		TorchValue e = size;
		if (size.kind == TORCH_LIST || size.kind == TORCH_TUPLE)
			e = size.list->n > (size_t)k ? size.list->at[k] : size.list->n == 1 ? size.list->at[0] : torch_none();
		if (e.kind == TORCH_NONE)
			out[k] = s.dim[2 + k];
		else
			torch_to_int(v, e, &out[k]);
		if (node_ok(v) && (out[k] < 1 || out[k] > INT32_MAX || s.dim[2 + k] < 1))
			node_fail(v, ERR_INPUT, "its output_size holds %lld", (long long)out[k]);
		even &= node_ok(v) && s.dim[2 + k] % out[k] == 0;
		global &= out[k] == 1;
	}
	if (!node_ok(v))
		return;
	int y = x;
	if (global && !max) {
		y = node_global(v, OP_reduce_mean, x);
	} else if (even) {
		for (int k = 0; k < spatial; k++)
			w.kernel[k] = w.stride[k] = s.dim[2 + k] / out[k];
		y = max ? node_max_pool(v, x, &w, false) : node_avg_pool(v, x, &w, false, false);
	} else {
		for (int k = 0; k < spatial && node_ok(v); k++)
			y = reduce_axis(n, max ? OP_reduce_max : OP_reduce_mean, y, 2 + k, out[k]);
	}
	torch_set_batched(n, y, single);
	if (!max || !node_ok(v))
		return;
	TorchValue both = torch_list(v->im->arena, TORCH_TUPLE), first = n->result, places_of = torch_none();
	if (even) {
		torch_set_batched(n, places(n, x, &w, false), single);
		places_of = n->result;
	}
	torch_push(v->im->arena, both.list, first);
	torch_push(v->im->arena, both.list, places_of);
	aten_give(n, both);
}

/* ---- padding: pairs of begin and end, the last dimension first */

static void padded(Aten *n, const char *name, const char *mode, TorchValue value)
{
	int64_t at[ATEN_INTS], pads[2 * DAG_MAX_RANK] = { 0 };
	int x = aten_value(n, "self"), count = aten_ints(n, name, -1, at);
	DType t = node_val(n->v, x)->type;
	int rank = node_val(n->v, x)->shape.rank;
	if (node_ok(n->v) && (count % 2 != 0 || count / 2 > rank))
		node_fail(n->v, ERR_TYPE, "it pads %d dimensions by %d numbers", rank, count);
	for (int k = 0; k < count / 2 && node_ok(n->v); k++) {
		pads[rank - 1 - k] = at[2 * k];
		pads[2 * rank - 1 - k] = at[2 * k + 1];
		if (at[2 * k] < -INT32_MAX || at[2 * k] > INT32_MAX || at[2 * k + 1] < -INT32_MAX || at[2 * k + 1] > INT32_MAX)
			node_fail(n->v, ERR_INPUT, "its padding holds numbers out of range");
	}
	if (node_ok(n->v) && t.kind == DT_BOOL)
		x = node_cast(n->v, x, I32);
	Attr attr[] = { attr_ints("pads", pads, 2 * rank), attr_text("mode", mode),
		attr_float("value", torch_is_number(value) ? torch_number(value) : 0) };
	int y = node_call(n->v, OP_pad, &x, 1, attr, strcmp(mode, "constant") == 0 ? 3 : 2);
	aten_set(n, node_ok(n->v) ? node_cast(n->v, y, t) : y);
}

static void import_pad(Aten *n)
{
	static const char *const modes[][2] = { { "constant", "constant" }, { "", "constant" }, { "reflect", "reflect" },
		{ "replicate", "edge" }, { "circular", "wrap" } };
	const char *mode = aten_text(n, "mode");
	TorchValue value = aten_any(n, "value");
	for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
		if (strcmp(modes[k][0], mode) == 0) {
			padded(n, "pad", modes[k][1], value);
			return;
		}
	node_fail(n->v, ERR_UNSUPPORTED, "its mode '%.20s' is not known", mode);
}

static void import_constant_pad(Aten *n)
{
	padded(n, "pad", "constant", aten_any(n, "value"));
}

static void import_reflection_pad(Aten *n)
{
	padded(n, "padding", n->row->op != 0 ? "edge" : "reflect", torch_none());
}

#define MAX "self:T kernel_size:I stride:I? padding:I=0 dilation:I=1 ceil_mode:b=False"
#define AVG "self:T kernel_size:I stride:I? padding:I=0 ceil_mode:b=False count_include_pad:b=True"
#define LP "self:T norm_type:n kernel_size:I stride:I? ceil_mode:b=False"

const AtenRow torch_pool_rows[] = {
	{ "max_pool1d", MAX, import_max_pool, 1 },
	{ "max_pool2d", MAX, import_max_pool, 2 },
	{ "max_pool3d", MAX, import_max_pool, 3 },
	{ "max_pool1d_with_indices", MAX, import_max_pool, 11 },
	{ "max_pool2d_with_indices", MAX, import_max_pool, 12 },
	{ "max_pool3d_with_indices", MAX, import_max_pool, 13 },
	{ "avg_pool1d", AVG, import_avg_pool, 1 },
	{ "avg_pool2d", AVG " divisor_override:i?", import_avg_pool, 2 },
	{ "avg_pool3d", AVG " divisor_override:i?", import_avg_pool, 3 },
	{ "lp_pool1d", LP, import_lp_pool, 1 },
	{ "lp_pool2d", LP, import_lp_pool, 2 },
	{ "adaptive_avg_pool1d", "self:T output_size:*", import_adaptive, 1 },
	{ "adaptive_avg_pool2d", "self:T output_size:*", import_adaptive, 2 },
	{ "adaptive_avg_pool3d", "self:T output_size:*", import_adaptive, 3 },
	{ "_adaptive_avg_pool2d", "self:T output_size:*", import_adaptive, 2 },
	{ "_adaptive_avg_pool3d", "self:T output_size:*", import_adaptive, 3 },
	{ "adaptive_max_pool1d", "self:T output_size:*", import_adaptive, 11 },
	{ "adaptive_max_pool2d", "self:T output_size:*", import_adaptive, 12 },
	{ "adaptive_max_pool3d", "self:T output_size:*", import_adaptive, 13 },
	{ "pad", "self:T pad:I mode:s=constant value:n?", import_pad, 0 },
	{ "constant_pad_nd", "self:T pad:I value:n=0", import_constant_pad, 0 },
	{ "reflection_pad1d", "self:T padding:I", import_reflection_pad, 0 },
	{ "reflection_pad2d", "self:T padding:I", import_reflection_pad, 0 },
	{ "reflection_pad3d", "self:T padding:I", import_reflection_pad, 0 },
	{ "replication_pad1d", "self:T padding:I", import_reflection_pad, 1 },
	{ "replication_pad2d", "self:T padding:I", import_reflection_pad, 1 },
	{ "replication_pad3d", "self:T padding:I", import_reflection_pad, 1 },
	{ NULL, NULL, NULL, 0 },
};
