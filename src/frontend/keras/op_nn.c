/*
 * Rows of functions of keras.ops.nn and keras.ops.image: layers without weights of their own, whose kernels and factors
 * are arguments. Poolings and sizes are rows beside those of the layers (op_window.c, op_resize.c).
 */
#include "frontend/keras/function.h"
#include "frontend/keras/window.h"
#include "frontend/node/attend.h"

#include <math.h>
#include <string.h>

/* ---- convolutions: the kernel is [spatial..,in,out] */

static void import_conv(Visit *v)
{
	bool last = keras_last(v), deep = strcmp(v->node->op, "DepthwiseConv") == 0;
	int x = keras_windowed(v, last), f = keras_given(v, 1, "kernel", F32);
	Shape s = node_val(v, x)->shape, k = node_val(v, f)->shape;
	Windows w = keras_windows(v, &s, "kernel_size", false);
	if (node_ok(v) && (k.rank != s.rank || s.rank != w.n + 2))
		node_fail(v, ERR_TYPE, "its kernel has %d dimensions, but its input %d", k.rank, s.rank);
	if (!node_ok(v))
		return;
	int64_t perm[DAG_MAX_RANK] = { w.n + 1, w.n }, groups = s.dim[1];
	Shape flat = { .rank = k.rank, .dim = { k.dim[w.n] * k.dim[w.n + 1], 1 } };
	for (int i = 0; i < w.n; i++) {
		w.kernel[i] = flat.dim[i + 2] = k.dim[i];
		perm[i + 2] = i;
		if (k.dim[i] > INT32_MAX)
			node_fail(v, ERR_TYPE, "its kernel has %lld elements along one dimension", (long long)k.dim[i]);
	}
	if (!node_ok(v))
		return;
	keras_pad_windows(v, &w, &s);
	f = node_cast(v, f, node_val(v, x)->type);
	if (deep) {
		perm[0] = w.n;
		perm[1] = w.n + 1;
		if (k.dim[w.n] != s.dim[1])
			node_fail(v, ERR_TYPE, "its kernel has %lld channels, but its input %lld", (long long)k.dim[w.n],
				(long long)s.dim[1]);
		f = node_reshape(v, node_transpose(v, f, perm), flat);
	} else {
		groups = k.dim[w.n] > 0 ? s.dim[1] / k.dim[w.n] : 0;
		if (groups < 1 || s.dim[1] % k.dim[w.n] != 0 || k.dim[w.n + 1] % groups != 0)
			node_fail(v, ERR_TYPE, "%lld channels do not fit a kernel of %lld by %lld", (long long)s.dim[1],
				(long long)k.dim[w.n], (long long)k.dim[w.n + 1]);
		f = node_transpose(v, f, perm);
	}
	if (node_ok(v))
		node_set(v, 0, keras_in_format(v, node_conv(v, x, f, DAG_NONE, &w, groups), last));
}

/* ---- normalisations */

/* A factor with the dimensions of the axes, so that it broadcasts; DAG_NONE: there is none. */
static int along(Visit *v, int w, const int64_t *axes, int n, const Shape *s)
{
	Shape to = { .rank = s->rank };
	int64_t many = 1;
	if (w == DAG_NONE || !node_ok(v) || (node_val(v, w)->shape.rank == s->rank && s->rank > 1))
		return w;
	for (int k = 0; k < s->rank; k++)
		to.dim[k] = 1;
	for (int k = 0; k < n; k++) {
		to.dim[axes[k]] = s->dim[axes[k]];
		many *= s->dim[axes[k]];
	}
	if (shape_elements(node_val(v, w)->shape) != many)
		node_fail(v, ERR_TYPE, "a factor has %lld numbers, but its axes %lld",
			(long long)shape_elements(node_val(v, w)->shape), (long long)many);
	return node_ok(v) ? node_reshape(v, w, to) : w;
}

static int with(Visit *v, int op, int x, int w)
{
	return w == DAG_NONE || !node_ok(v) ? x : node_each2(v, op, x, node_cast(v, w, node_val(v, x)->type));
}

/* x or x - mean, over the root of the mean of squares; "RMSNorm" has no mean. */
static void import_layer_norm(Visit *v)
{
	bool rms = strcmp(v->node->op, "RMSNorm") == 0;
	int given = keras_value(v, 0), x = node_cast(v, given, F32), n = 1;
	int scale = keras_operand(v, 1, rms ? "scale" : "gamma", F32);
	int offset = rms ? DAG_NONE : keras_operand(v, 2, "beta", F32);
	Shape s = node_val(v, x)->shape;
	int64_t axes[DAG_MAX_RANK] = { s.rank - 1 };
	if (node_has(v, "axis"))
		n = keras_axes(v, s.rank, axes);
	double epsilon = node_attr_size(v, "epsilon", 1e-7);
	bool scaled = node_attr_flag(v, "rms_scaling", false);
	if (!node_ok(v))
		return;
	int centred = rms ? x : node_each2(v, OP_sub, x, node_reduce(v, OP_reduce_mean, x, axes, n, true));
	int square = node_reduce(v, OP_reduce_mean, node_each2(v, OP_mul, centred, centred), axes, n, true);
	int root = node_each1(v, OP_sqrt, node_each2(v, OP_add, square, node_number(v, F32, epsilon)));
	int y = node_each2(v, OP_div, scaled ? x : centred, root);
	y = with(v, OP_mul, y, along(v, scale, axes, n, &s));
	y = with(v, OP_add, y, along(v, scaled ? DAG_NONE : offset, axes, n, &s));
	node_set(v, 0, node_cast(v, y, node_val(v, given)->type));
}

static void import_batch_norm(Visit *v)
{
	int x = keras_float(v, keras_value(v, 0));
	Shape s = node_val(v, x)->shape;
	int64_t axis = keras_axis(v, s.rank, -1);
	static const char *const names[] = { "mean", "variance", "offset", "scale" };
	int part[4];
	for (int k = 0; k < 4; k++)
		part[k] = along(v, keras_operand(v, k + 1, names[k], F32), &axis, 1, &s);
	if (node_ok(v) && (part[0] == DAG_NONE || part[1] == DAG_NONE))
		node_fail(v, ERR_INPUT, "it has no mean, or no variance");
	if (!node_ok(v))
		return;
	int root = node_call1(v, OP_sqrt, node_with_number(v, OP_add, part[1], node_attr_size(v, "epsilon", 1e-3)));
	int y = with(v, OP_div, with(v, OP_sub, x, part[0]), root);
	node_set(v, 0, with(v, OP_add, with(v, OP_mul, y, part[3]), part[2]));
}

/* ---- attention of [batch,length,heads,size] */

static void import_attention(Visit *v)
{
	static const char *const names[] = { "query", "key", "value", "bias", "mask" };
	int64_t perm[] = { 0, 2, 1, 3 };
	int x[5];
	for (int k = 0; k < 5; k++)
		x[k] = k < 3 ? keras_given(v, k, names[k], F32) : keras_operand(v, k, names[k], F32);
	const Json *scale = keras_argument(v, 5, "scale");
	AttentionHow how = { .causal = node_attr_flag(v, "is_causal", false),
		.cap = node_attr_float(v, "attn_logits_soft_cap", 0) };
	for (int k = 0; k < 3 && node_ok(v); k++)
		if (node_val(v, x[k])->shape.rank != 4)
			node_fail(v, ERR_TYPE, "its %s has %d dimensions, but needs 4", names[k], node_val(v, x[k])->shape.rank);
	if (node_ok(v) && x[3] != DAG_NONE && x[4] != DAG_NONE)
		node_fail(v, ERR_UNSUPPORTED, "it has a bias and a mask; one of them is supported");
	if (node_ok(v) && x[4] != DAG_NONE && !dtype_eq(node_val(v, x[4])->type, BOOL))
		node_fail(v, ERR_UNSUPPORTED, "its mask is not of bools");
	if (!node_ok(v))
		return;
	keras_promote(v, x, 3);
	int64_t size = node_val(v, x[0])->shape.dim[3];
	how.scale = scale == NULL            ? 1 / sqrt((double)(size > 0 ? size : 1))
	            : scale->kind == JV_REAL ? scale->real
	            : scale->kind == JV_INT  ? (double)scale->i
	                                     : NAN;
	if (isnan(how.scale))
		node_fail(v, ERR_UNSUPPORTED, "its scale is no number");
	for (int k = 0; k < 3 && node_ok(v); k++)
		x[k] = node_transpose(v, x[k], perm);
	int mask = x[3] != DAG_NONE ? x[3] : x[4];
	Shape q = node_val(v, x[0])->shape, key = node_val(v, x[1])->shape;
	if (node_ok(v) && mask == x[4] && mask != DAG_NONE && how.causal) {
		int seen = node_call2(v, OP_less_equal, node_count(v, key.dim[2], 3, 4), node_count(v, q.dim[2], 2, 4));
		mask = node_call2(v, OP_bit_and, mask, seen);
		how.causal = false;
	}
	int y = node_ok(v) ? node_attention(v, x[0], x[1], x[2], mask, &how) : DAG_NONE;
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, y, perm));
}

/* ---- encodings and blocks */

static void import_multi_hot(Visit *v)
{
	int64_t n = node_attr_int(v, "num_classes", 0), axis = 1;
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (n < 1 || n > NODE_COUNTED || node_attr_int(v, "axis", -1) != -1 || s.rank < 1 ||
						  s.rank >= DAG_MAX_RANK || node_attr_flag(v, "sparse", false)))
		node_fail(
			v, ERR_UNSUPPORTED, "it has %lld classes, a sparse result, or another axis than the last", (long long)n);
	if (!node_ok(v))
		return;
	axis = s.rank > 1;
	s.dim[s.rank++] = 1;
	x = node_reshape(v, node_cast(v, x, I64), s);
	int hot = node_cast(v, node_call2(v, OP_equal, x, node_count(v, n, s.rank - 1, s.rank)), F32);
	node_set(v, 0, node_cast(v, node_reduce(v, OP_reduce_max, hot, &axis, 1, false), keras_type_or(v, F32)));
}

/* Blocks of b by b elements from channels, or to channels: the block's place is before the channel. */
static void import_blocks(Visit *v)
{
	bool last = keras_last(v), to_space = strcmp(v->node->op, "DepthToSpace") == 0;
	int x = keras_value(v, 0);
	int64_t b = keras_count(v, "block_size", 2);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 4", s.rank);
	if (!node_ok(v))
		return;
	int64_t first[] = { 0, 2, 3, 1 }, back[] = { 0, 3, 1, 2 };
	x = last ? x : node_transpose(v, x, first);
	s = node_val(v, x)->shape;
	for (int k = 0; k < 4; k++) /* products with blocks stay in 64 bits */
		if (node_ok(v) && (s.dim[k] > INT32_MAX || b > INT16_MAX))
			node_fail(v, ERR_UNSUPPORTED, "its blocks have %lld elements a side, and its input %lld along one",
				(long long)b, (long long)s.dim[k]);
	if (node_ok(v) && (to_space ? s.dim[3] % (b * b) != 0 : s.dim[1] % b != 0 || s.dim[2] % b != 0))
		node_fail(v, ERR_TYPE, "its input cannot be cut into blocks of %lld by %lld", (long long)b, (long long)b);
	if (!node_ok(v))
		return;
	int64_t n = s.dim[0], h = s.dim[1], w = s.dim[2], c = s.dim[3], perm[] = { 0, 1, 3, 2, 4, 5 };
	int64_t apart[] = { n, h, w, b, b, c / (b * b) }, cut[] = { n, h / b, b, w / b, b, c };
	int64_t wide[] = { n, h * b, w * b, c / (b * b) }, deep[] = { n, h / b, w / b, b * b * c };
	int y = node_transpose(v, node_view(v, x, 6, to_space ? apart : cut), perm);
	y = node_view(v, y, 4, to_space ? wide : deep);
	node_set(v, 0, last ? y : node_transpose(v, y, back));
}

/* ---- images */

static void import_grayscale(Visit *v)
{
	static const double weights[] = { 0.2989, 0.5870, 0.1140 };
	bool last = keras_last(v);
	int x = keras_float(v, keras_value(v, 0)), rank = node_val(v, x)->shape.rank;
	int64_t axis = last ? rank - 1 : rank - 3;
	if (node_ok(v) && (rank < 3 || rank > 4 || node_val(v, x)->shape.dim[axis] != 3))
		node_fail(v, ERR_TYPE, "its input has no three channels");
	if (!node_ok(v))
		return;
	Shape to = { .rank = rank };
	for (int k = 0; k < rank; k++)
		to.dim[k] = k == axis ? 3 : 1;
	int w = node_reshape(v, node_numbers(v, node_val(v, x)->type, weights, 3, 1), to);
	node_set(v, 0, node_reduce(v, OP_reduce_sum, node_each2(v, OP_mul, x, w), &axis, 1, true));
}

static bool within(int64_t n)
{
	return n >= 0 && n <= INT32_MAX;
}

/* Borders that are added or cut off; where only one of a pair and the size after it is given, the other follows. */
static void import_borders(Visit *v)
{
	static const char *const names[2][4] = { { "top_padding", "bottom_padding", "left_padding", "right_padding" },
		{ "top_cropping", "bottom_cropping", "left_cropping", "right_cropping" } };
	bool last = keras_last(v), cut = strcmp(v->node->op, "CropImages") == 0;
	int x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	int64_t pads[2 * DAG_MAX_RANK] = { 0 };
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (rank < 3 || rank > 4))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3 or 4", rank);
	for (int k = 0; k < 2 && node_ok(v); k++) {
		int axis = rank - (last ? 3 : 2) + k;
		const char *target = k == 0 ? "target_height" : "target_width", *const *name = &names[cut][2 * k];
		bool sized = node_has(v, target), has[] = { node_has(v, name[0]), node_has(v, name[1]) };
		int64_t n = s.dim[axis], size = node_attr_int(v, target, 0);
		int64_t side[] = { node_attr_int(v, name[0], 0), node_attr_int(v, name[1], 0) };
		bool fits = within(size) && within(side[0]) && within(side[1]);
		if (fits && sized && has[0] + has[1] == 1)
			side[has[0]] = (cut ? n - size : size - n) - side[!has[0]];
		if (!fits || !within(side[0]) || !within(side[1]) || (cut && side[0] + side[1] >= n))
			node_fail(v, ERR_INPUT, "its borders %lld and %lld do not fit %lld elements", (long long)side[0],
				(long long)side[1], (long long)n);
		pads[axis] = side[0];
		pads[rank + axis] = side[1];
	}
	for (int k = 0; k < rank && cut && node_ok(v); k++)
		x = node_slice(v, x, k, pads[k], s.dim[k] - pads[k] - pads[rank + k]);
	Attr attr = attr_ints("pads", pads, 2 * rank);
	if (node_ok(v))
		node_set(v, 0, cut ? x : node_along(v, OP_pad, x, &attr, 1));
}

/*
 * Windows of an image as channels, [N,rows,columns,h*w*C]. Those that lie side by side are a reshape; others are cut
 * out place by place.
 */
static void import_patches(Visit *v)
{
	enum { MOST_PLACES = 4096 };
	bool last = keras_last(v);
	int x = keras_windowed(v, last);
	Shape s = node_val(v, x)->shape;
	Windows w = keras_windows(v, &s, "size", true);
	node_attr_list(v, "dilation_rate", w.n, 1, 1, w.dilation);
	keras_pad_windows(v, &w, &s);
	if (node_ok(v) && s.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 4", s.rank);
	if (!node_ok(v))
		return;
	int64_t n = s.dim[0], c = s.dim[1], pads[8] = { 0 }, out[2], places = w.kernel[0] * w.kernel[1];
	bool beside = true;
	for (int k = 0; k < 2; k++) {
		int64_t reach = (w.kernel[k] - 1) * w.dilation[k] + 1, all = s.dim[k + 2] + w.pads[k] + w.pads[k + 2];
		pads[k + 2] = w.pads[k];
		pads[k + 6] = w.pads[k + 2];
		out[k] = all < reach ? 0 : (all - reach) / w.stride[k] + 1;
		beside &= w.stride[k] == w.kernel[k] && w.dilation[k] == 1;
		if (out[k] < 1)
			node_fail(v, ERR_TYPE, "its windows do not fit %lld elements", (long long)s.dim[k + 2]);
	}
	if (!beside && places > MOST_PLACES)
		node_fail(v, ERR_UNSUPPORTED, "its windows of %lld places overlap; at most %d are supported", (long long)places,
			MOST_PLACES);
	Attr attr = attr_ints("pads", pads, 8);
	if (node_ok(v) && pads[2] + pads[3] + pads[6] + pads[7] > 0)
		x = node_call(v, OP_pad, &x, 1, &attr, 1);
	int64_t front[] = { 0, 2, 3, 1 }, order[] = { 0, 1, 3, 2, 4, 5 }, back[] = { 0, 3, 1, 2 };
	x = node_ok(v) ? node_transpose(v, x, front) : x; /* [N,H,W,C] */
	if (!node_ok(v))
		return;
	if (beside) {
		for (int k = 0; k < 2; k++)
			x = node_slice(v, x, k + 1, 0, out[k] * w.kernel[k]);
		x = node_view(v, x, 6, (int64_t[]){ n, out[0], w.kernel[0], out[1], w.kernel[1], c });
		x = node_view(v, node_transpose(v, x, order), 4, (int64_t[]){ n, out[0], out[1], places * c });
	} else {
		int *part = arena_array(v->im->arena, int, places);
		int64_t step[] = { 1, w.stride[0], w.stride[1], 1 }, size[] = { n, out[0], out[1], c };
		for (int64_t k = 0; k < places && node_ok(v); k++) {
			int64_t at[] = { 0, k / w.kernel[1] * w.dilation[0], k % w.kernel[1] * w.dilation[1], 0 };
			Attr cut[] = { attr_ints("starts", at, 4), attr_ints("steps", step, 4), attr_ints("sizes", size, 4) };
			part[k] = node_call(v, OP_slice, &x, 1, cut, 3);
		}
		x = node_ok(v) ? node_concat(v, part, (int)places, 3) : x;
	}
	node_set(v, 0, last ? x : node_transpose(v, x, back));
}

const NodeRow keras_nn_rows[] = {
	{ "ops::Conv", 0, "", import_conv },
	{ "ops::DepthwiseConv", 0, "", import_conv },
	{ "ops::LayerNorm", 0, "", import_layer_norm },
	{ "ops::RMSNorm", 0, "", import_layer_norm },
	{ "ops::BatchNorm", 0, "", import_batch_norm },
	{ "ops::DotProductAttention", 0, "flash_attention", import_attention },
	{ "ops::MultiHot", 0, "", import_multi_hot },
	{ "ops::DepthToSpace", 0, "", import_blocks },
	{ "ops::SpaceToDepth", 0, "", import_blocks },
	{ "ops::RGBToGrayscale", 0, "", import_grayscale },
	{ "ops::PadImages", 0, "", import_borders },
	{ "ops::CropImages", 0, "", import_borders },
	{ "ops::ExtractPatches", 0, "", import_patches },
	{ NULL, 0, NULL, NULL },
};
