/* Rows of Caffe2 that move elements: joined, cut, in other dimensions, resized. */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"
#include "frontend/node/taps.h"

#include <string.h>

static Shape shape_at(Visit *v, int x)
{
	return node_val(v, x)->shape;
}

/* The shape of the input before the row, which operators give as a second result. */
static void set_old_shape(Visit *v, Shape s)
{
	if (node_used(v, 1))
		node_set_known(v, 1, I64, shape_of(1, (int64_t[]){ s.rank }), arena_copy(v->im->arena, s.dim, sizeof s.dim));
}

/* 0 is the input's dimension there, -1 what is left. */
static void import_reshape(Visit *v)
{
	int x = caffe2_value(v, 0), n, open = -1;
	bool given = node_has(v, "shape");
	const int64_t *dim = given ? node_attr_ints(v, "shape", &n) : node_ints(v, 1, &n);
	Shape in = shape_at(v, x), s = { 0 };
	if (node_ok(v) && n < 0)
		node_fail(v, ERR_INPUT, "it has no shape");
	if (node_ok(v) && n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
	for (int k = 0; k < n && node_ok(v); k++) {
		if (dim[k] < -1 || (dim[k] == -1 && open >= 0) || (dim[k] == 0 && k >= in.rank)) {
			node_fail(v, ERR_INPUT, "its shape has %lld as dimension %d, which says no size", (long long)dim[k], k);
			return;
		}
		open = dim[k] == -1 ? k : open;
		s.dim[s.rank++] = dim[k] == -1 ? 1 : dim[k] == 0 ? in.dim[k] : dim[k];
	}
	int64_t have = shape_product(&in, 0, in.rank), known = shape_product(&s, 0, s.rank);
	if (node_ok(v) && open >= 0 && (known == 0 || have % known != 0))
		node_fail(v, ERR_TYPE, "its shape does not divide the %lld elements of its input", (long long)have);
	if (!node_ok(v))
		return;
	if (open >= 0)
		s.dim[open] = have / known;
	node_set(v, 0, node_reshape(v, x, s));
	set_old_shape(v, in);
}

static void import_resize_like(Visit *v)
{
	int x = caffe2_value(v, 0);
	node_set(v, 0, node_reshape(v, x, node_need(v, 1)->shape));
}

static void import_flatten(Visit *v)
{
	int x = caffe2_value(v, 0), rank = shape_at(v, x).rank;
	int64_t axis = node_attr_int(v, "axis", 1);
	axis = axis < 0 ? axis + rank : axis;
	if (node_ok(v) && (axis < 0 || axis > rank))
		node_fail(v, ERR_INPUT, "its axis %lld is not in an input of %d dimensions", (long long)axis, rank);
	node_set(v, 0, node_ok(v) ? caffe2_matrix(v, x, (int)axis) : x);
}

static void import_flatten_to_vec(Visit *v)
{
	int x = caffe2_value(v, 0);
	Shape s = shape_at(v, x);
	node_set(v, 0, node_view(v, x, 1, (int64_t[]){ shape_product(&s, 0, s.rank) }));
}

/* Dimensions of one element that are taken away, or put in, at these places of the longer shape. */
static void import_dims(Visit *v)
{
	bool in = strcmp(v->node->op, "ExpandDims") == 0, at[DAG_MAX_RANK] = { false };
	int x = caffe2_value(v, 0), n;
	const int64_t *dims = node_attr_ints(v, "dims", &n);
	Shape from = shape_at(v, x), to = { 0 };
	int rank = in ? from.rank + (n < 0 ? 0 : n) : from.rank;
	if (node_ok(v) && (n < 0 || n > DAG_MAX_RANK || rank > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its dims are missing or too many");
	for (int k = 0; k < n && node_ok(v); k++) {
		int axis = node_axis(v, dims[k], rank);
		if (node_ok(v) && (at[axis] || (!in && from.dim[axis] != 1)))
			node_fail(v, ERR_INPUT, "its dims name dimension %d, which is not one more of one element", axis);
		at[axis] = true;
	}
	for (int k = 0, i = 0; k < rank && node_ok(v); k++) {
		if (in)
			to.dim[to.rank++] = at[k] ? 1 : from.dim[i++];
		else if (!at[k])
			to.dim[to.rank++] = from.dim[k];
	}
	node_set(v, 0, node_ok(v) ? node_reshape(v, x, to) : x);
}

static void import_transpose(Visit *v)
{
	int x = caffe2_value(v, 0), n, rank = shape_at(v, x).rank;
	const int64_t *axes = node_attr_ints(v, "axes", &n);
	int64_t perm[DAG_MAX_RANK];
	bool seen[DAG_MAX_RANK] = { false };
	if (node_ok(v) && n >= 0 && n != rank)
		node_fail(v, ERR_TYPE, "its axes are %d, but its input has %d dimensions", n, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		perm[k] = n < 0 ? rank - 1 - k : node_axis(v, axes[k], rank);
		if (node_ok(v) && seen[perm[k]])
			node_fail(v, ERR_INPUT, "its axes name dimension %lld twice", (long long)perm[k]);
		seen[perm[k]] = true;
	}
	node_set(v, 0, node_ok(v) ? node_transpose(v, x, perm) : x);
}

static void import_order(Visit *v)
{
	int x = caffe2_value(v, 0);
	if (node_ok(v) && shape_at(v, x).rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 3", shape_at(v, x).rank);
	node_set(v, 0, strcmp(v->node->op, "NCHW2NHWC") == 0 ? node_to_last(v, x) : node_to_second(v, x));
}

/* The axis of channels, where no attribute says another one. */
static int join_axis(Visit *v, int rank)
{
	bool depth = strncmp(v->node->op, "Depth", 5) == 0;
	bool last = caffe2_last(v);
	return depth || !node_has(v, "axis") ? node_axis(v, last ? rank - 1 : rank > 1, rank)
	                                     : caffe2_axis(v, "axis", 1, rank);
}

/* With add_axis inputs are stacked. The second result has the sizes of the inputs along the axis. */
static void import_concat(Visit *v)
{
	int n = node_nin(v), *part = arena_array(v->im->arena, int, n + 1);
	bool stack = node_attr_flag(v, "add_axis", false);
	int32_t *size = arena_array(v->im->arena, int32_t, n + 1);
	int first = caffe2_value(v, 0), rank = shape_at(v, first).rank + stack;
	if (node_ok(v) && rank > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
	int axis = node_ok(v) ? join_axis(v, rank) : 0;
	for (int k = 0; k < n && node_ok(v); k++) {
		part[k] = caffe2_value(v, k);
		Shape s = shape_at(v, part[k]);
		if (node_ok(v) && s.rank + stack != rank)
			node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", rank - stack, s.rank);
		if (stack && node_ok(v)) {
			memmove(&s.dim[axis + 1], &s.dim[axis], sizeof *s.dim * (size_t)(s.rank - axis));
			s.dim[axis] = 1;
			s.rank++;
			part[k] = node_reshape(v, part[k], s);
		}
		size[k] = (int32_t)s.dim[axis];
	}
	if (!node_ok(v))
		return;
	node_set(v, 0, node_concat(v, part, n, axis));
	if (node_used(v, 1))
		node_set_known(v, 1, I32, shape_of(1, (int64_t[]){ n }), size);
}

/* At sizes of an attribute or an input, else into equal parts. */
static void import_split(Visit *v)
{
	int x = caffe2_value(v, 0), nsize, n = node_nout(v), rank = shape_at(v, x).rank;
	const int64_t *size = node_nin(v) > 1 ? node_ints(v, 1, &nsize) : node_attr_ints(v, "split", &nsize);
	int axis = join_axis(v, rank);
	if (!node_ok(v) || n < 1)
		return;
	int64_t all = shape_at(v, x).dim[axis], from = 0;
	if (nsize > 0 ? nsize != n : all % n != 0)
		node_fail(v, ERR_TYPE, "its %lld elements cannot be cut into %d results", (long long)all, n);
	for (int k = 0; k < n && node_ok(v); k++) {
		int64_t part = nsize > 0 ? size[k] : all / n;
		if (part < 0 || part > all - from || (k == n - 1 && part != all - from))
			node_fail(v, ERR_TYPE, "its sizes do not add up to %lld elements", (long long)all);
		else
			node_set(v, k, node_slice(v, x, axis, from, part));
		from += part;
	}
}

/* From starts up to ends; -1 is the end of a dimension, -2 the element before, and so on. */
static void import_slice(Visit *v)
{
	int x = caffe2_value(v, 0), nstart, nend;
	bool inputs = node_nin(v) > 1;
	const int64_t *start = inputs ? node_ints(v, 1, &nstart) : node_attr_ints(v, "starts", &nstart);
	const int64_t *end = inputs ? node_ints(v, 2, &nend) : node_attr_ints(v, "ends", &nend);
	Shape s = shape_at(v, x);
	if (node_ok(v) && (nstart < 0 || nstart != nend || nstart > s.rank))
		node_fail(v, ERR_INPUT, "its starts and ends are %d and %d numbers for %d dimensions", nstart, nend, s.rank);
	for (int k = 0; k < nstart && node_ok(v); k++) {
		int64_t lo = start[k] < 0 ? start[k] + s.dim[k] + 1 : start[k];
		int64_t hi = end[k] < 0 ? end[k] + s.dim[k] + 1 : end[k];
		lo = lo > s.dim[k] ? s.dim[k] : lo;
		hi = hi > s.dim[k] ? s.dim[k] : hi;
		if (lo < 0 || hi < lo)
			node_fail(v, ERR_INPUT, "it cuts from %lld to %lld out of %lld elements", (long long)start[k],
				(long long)end[k], (long long)s.dim[k]);
		else
			x = node_slice(v, x, k, lo, hi - lo);
	}
	node_set(v, 0, x);
}

static void import_tile(Visit *v)
{
	int x = caffe2_value(v, 0), ntimes = -1, naxis = -1;
	const int64_t *times = node_ints(v, 1, &ntimes), *place = node_ints(v, 2, &naxis);
	Shape s = shape_at(v, x);
	int axis = naxis == 1 ? node_axis(v, place[0], s.rank) : caffe2_axis(v, "axis", 0, s.rank);
	int64_t n = ntimes == 1 ? times[0] : caffe2_count(v, "tiles", 1, 0);
	if (node_ok(v) && (n < 0 || n > INT32_MAX))
		node_fail(v, ERR_INPUT, "its tiles are %lld", (long long)n);
	if (!node_ok(v))
		return;
	Shape apart = shape_of(3, (int64_t[]){ shape_product(&s, 0, axis), 1, shape_product(&s, axis, s.rank) });
	Shape wide = apart;
	wide.dim[1] = n;
	s.dim[axis] = n > 0 && s.dim[axis] > INT64_MAX / n ? -1 : s.dim[axis] * n;
	if (s.dim[axis] < 0 || shape_elements(s) < 0)
		node_fail(v, ERR_MEMORY, "its result has too many elements");
	else
		node_set(v, 0, node_reshape(v, node_expand(v, node_reshape(v, x, apart), wide), s));
}

/* Broadcast to a shape, both ways. */
static void import_expand(Visit *v)
{
	int x = caffe2_value(v, 0), n;
	const int64_t *dim = node_nin(v) > 1 ? node_ints(v, 1, &n) : node_attr_ints(v, "shape", &n);
	Shape s = shape_at(v, x), to = { 0 };
	if (node_ok(v) && (n < 0 || n > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its shape is missing or has more than %d dimensions", DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	to.rank = n > s.rank ? n : s.rank;
	for (int k = 0; k < to.rank; k++) {
		int64_t have = k < to.rank - s.rank ? 1 : s.dim[k - (to.rank - s.rank)];
		int64_t want = k < to.rank - n ? 1 : dim[k - (to.rank - n)];
		to.dim[k] = want == 1 || want == -1 ? have : want;
	}
	Attr attr = attr_ints("shape", to.dim, to.rank);
	node_set(v, 0, node_call(v, OP_expand, &x, 1, &attr, 1));
}

static void import_channel_shuffle(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last);
	int64_t group = caffe2_count(v, "group", 1, 1);
	Shape s = shape_at(v, x);
	if (node_ok(v) && (s.rank < 2 || s.dim[1] % group != 0))
		node_fail(v, ERR_TYPE, "its channels cannot be cut into %lld groups", (long long)group);
	if (!node_ok(v))
		return;
	x = node_view(v, x, 4, (int64_t[]){ s.dim[0], group, s.dim[1] / group, shape_product(&s, 2, s.rank) });
	x = node_transpose(v, x, (int64_t[]){ 0, 2, 1, 3 });
	node_set(v, 0, caffe2_in_order(v, node_reshape(v, x, s), last));
}

/* ---- blocks of an image in the batch */

/* Pads of an image for SpaceToBatch, or what BatchToSpace cuts off. */
static void block_pads(Visit *v, int64_t *pad)
{
	static const char *const names[] = { "pad_t", "pad_l", "pad_b", "pad_r" };
	int64_t all = caffe2_count(v, "pad", 0, 0);
	for (int k = 0; k < 4; k++)
		pad[k] = caffe2_count(v, names[k], all, 0);
}

static void import_space_to_batch(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last);
	int64_t block = caffe2_count(v, "block_size", 2, 1), pad[4], turn[] = { 3, 5, 0, 1, 2, 4 };
	block_pads(v, pad);
	int64_t pads[] = { 0, 0, pad[0], pad[1], 0, 0, pad[2], pad[3] };
	Attr attr = attr_ints("pads", pads, 8);
	if (node_ok(v) && shape_at(v, x).rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 4", shape_at(v, x).rank);
	x = node_call(v, OP_pad, &x, 1, &attr, 1);
	Shape s = shape_at(v, x);
	if (node_ok(v) && (s.dim[2] % block != 0 || s.dim[3] % block != 0))
		node_fail(v, ERR_TYPE, "its image cannot be cut into blocks of %lld", (long long)block);
	if (!node_ok(v))
		return;
	x = node_view(v, x, 6, (int64_t[]){ s.dim[0], s.dim[1], s.dim[2] / block, block, s.dim[3] / block, block });
	x = node_transpose(v, x, turn);
	x = node_view(v, x, 4,
		(int64_t[]){ shape_product(&node_val(v, x)->shape, 0, 3), s.dim[1], s.dim[2] / block, s.dim[3] / block });
	node_set(v, 0, caffe2_in_order(v, x, last));
}

static void import_batch_to_space(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last);
	int64_t block = caffe2_count(v, "block_size", 2, 1), cut[4], turn[] = { 2, 3, 4, 0, 5, 1 };
	Shape s = shape_at(v, x);
	block_pads(v, cut);
	if (node_ok(v) && (s.rank != 4 || block > 1 << 15 || s.dim[0] % (block * block) != 0))
		node_fail(v, ERR_TYPE, "its batch does not hold blocks of %lld", (long long)block);
	if (!node_ok(v))
		return;
	int64_t n = s.dim[0] / (block * block), h = s.dim[2] * block, w = s.dim[3] * block;
	if (cut[0] + cut[2] > h || cut[1] + cut[3] > w) {
		node_fail(v, ERR_TYPE, "its pads leave nothing of its image");
		return;
	}
	x = node_view(v, x, 6, (int64_t[]){ block, block, n, s.dim[1], s.dim[2], s.dim[3] });
	x = node_view(v, node_transpose(v, x, turn), 4, (int64_t[]){ n, s.dim[1], h, w });
	x = node_slice(v, x, 2, cut[0], h - cut[0] - cut[2]);
	x = node_slice(v, x, 3, cut[1], w - cut[1] - cut[3]);
	node_set(v, 0, caffe2_in_order(v, x, last));
}

/* ---- resizing */

/* The nearest element before a place, or a mixture of two where corners stay corners. */
static int resize(Visit *v, int x, int axis, double scale, bool linear)
{
	int64_t in = shape_at(v, x).dim[axis];
	Taps t;
	if (node_ok(v) && !(scale > 0 && (double)in * scale >= 1 && (double)in * scale < 1 << 24))
		node_fail(v, ERR_INPUT, "its scale %g gives no size of %lld elements", scale, (long long)in);
	int64_t out = node_ok(v) ? (int64_t)((float)in * (float)scale) : 0;
	if (!node_ok(v) || !node_taps(v, axis, out, linear ? 2 : 1, &t))
		return x;
	float step = out > 1 ? (float)(in - 1) / (float)(out - 1) : 0;
	for (int64_t i = 0; i < out; i++) {
		float at = linear ? step * (float)i : (float)i / (float)scale;
		int64_t low = (int64_t)at < in ? (int64_t)at : in - 1;
		t.index[i * t.n] = low;
		t.weight[i * t.n] = 1;
		if (linear) {
			t.index[2 * i + 1] = low + (low < in - 1);
			t.weight[2 * i + 1] = at - (float)low;
			t.weight[2 * i] = 1 - t.weight[2 * i + 1];
		}
	}
	return node_resize_axis(v, x, axis, &t);
}

static void import_resize(Visit *v)
{
	bool linear = strcmp(v->node->op, "UpsampleBilinear") == 0, last = caffe2_last(v);
	int x = caffe2_image(v, 0, last);
	double scale[] = { node_attr_float(v, "height_scale", 1), node_attr_float(v, "width_scale", 1) };
	if (node_ok(v) && shape_at(v, x).rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 4", shape_at(v, x).rank);
	if (node_ok(v) && node_nin(v) > 1) {
		const Item *given = node_known(v, 1);
		if (node_ok(v) && (!dtype_eq(given->type, F32) || shape_elements(given->shape) != 2))
			node_fail(v, ERR_TYPE, "its scales are not two numbers");
		for (int k = 0; k < 2 && node_ok(v); k++)
			scale[k] = ((const float *)given->data)[k];
	}
	for (int k = 0; k < 2 && node_ok(v); k++)
		x = resize(v, x, 2 + k, scale[k], linear);
	node_set(v, 0, caffe2_in_order(v, x, last));
}

static void import_shape(Visit *v)
{
	const Item *it = node_need(v, 0);
	int n, rank = it->shape.rank;
	const int64_t *axes = node_attr_ints(v, "axes", &n);
	int64_t *dim = arena_array(v->im->arena, int64_t, DAG_MAX_RANK + 1);
	if (node_ok(v) && n > DAG_MAX_RANK)
		node_fail(v, ERR_INPUT, "its axes are %d", n);
	for (int k = 0; k < (n < 0 ? rank : n) && node_ok(v); k++)
		dim[k] = it->shape.dim[n < 0 ? k : node_axis(v, axes[k], rank)];
	node_set_known(v, 0, I64, shape_of(1, (int64_t[]){ n < 0 ? rank : n }), dim);
}

static void import_size(Visit *v)
{
	int64_t *n = arena_new_of(v->im->arena, int64_t);
	*n = shape_elements(node_need(v, 0)->shape);
	node_set_known(v, 0, I64, shape_of(0, NULL), n);
}

const NodeRow caffe2_move_rows[] = {
	{ "Reshape", 0, "", import_reshape },
	{ "ResizeLike", 0, "", import_resize_like },
	{ "Flatten", 0, "", import_flatten },
	{ "FlattenToVec", 0, "", import_flatten_to_vec },
	{ "Squeeze", 0, "", import_dims },
	{ "ExpandDims", 0, "", import_dims },
	{ "Transpose", 0, "engine", import_transpose },
	{ "NCHW2NHWC", 0, "", import_order },
	{ "NHWC2NCHW", 0, "", import_order },
	{ "Concat", 0, "", import_concat },
	{ "DepthConcat", 0, "", import_concat },
	{ "Split", 0, "", import_split },
	{ "DepthSplit", 0, "", import_split },
	{ "Slice", 0, "", import_slice },
	{ "Tile", 0, "", import_tile },
	{ "Expand", 0, "", import_expand },
	{ "ChannelShuffle", 0, "", import_channel_shuffle },
	{ "SpaceToBatch", 0, "", import_space_to_batch },
	{ "BatchToSpace", 0, "", import_batch_to_space },
	{ "ResizeNearest", 0, "", import_resize },
	{ "UpsampleBilinear", 0, "", import_resize },
	{ "Shape", 0, "", import_shape },
	{ "Size", 0, "", import_size },
	{ NULL, 0, NULL, NULL },
};
