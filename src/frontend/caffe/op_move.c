/* Rows of Caffe's layers that move elements: joined, cut, repeated, in other dimensions. */
#include "frontend/caffe/caffe.h"

#include "frontend/node/compose.h"
#include "frontend/node/taps.h"

static void import_concat(Visit *v)
{
	int n = node_nin(v), *part = arena_array(v->im->arena, int, n + 1), rank = node_need(v, 0)->shape.rank;
	int axis = node_has(v, "concat_dim") ? caffe_axis(v, "concat_dim", 1, rank) : caffe_axis(v, "axis", 1, rank);
	for (int k = 0; k < n && node_ok(v); k++) {
		node_need(v, k);
		part[k] = node_value(v, k);
	}
	if (node_ok(v))
		node_set(v, 0, node_concat(v, part, n, axis));
}

/* At the points that are given, else into equal parts. */
static void import_slice(Visit *v)
{
	const Item *it = node_need(v, 0);
	int npoint, rank = it->shape.rank, n = node_nout(v);
	int axis = node_has(v, "slice_dim") ? caffe_axis(v, "slice_dim", 1, rank) : caffe_axis(v, "axis", 1, rank);
	const int64_t *point = node_attr_ints(v, "slice_point", &npoint);
	if (!node_ok(v))
		return;
	int64_t all = it->shape.dim[axis], from = 0;
	if (npoint > 0 ? npoint != n - 1 : n < 1 || all % n != 0)
		node_fail(v, ERR_INPUT, "its %d points do not cut %lld elements into %d results", npoint < 0 ? 0 : npoint,
			(long long)all, n);
	for (int k = 0; k < n && node_ok(v); k++) {
		int64_t to = k == n - 1 ? all : npoint > 0 ? point[k] : all / n * (k + 1);
		if (to <= from || to > all)
			node_fail(v, ERR_INPUT, "its slice_point %lld is not between %lld and %lld", (long long)to, (long long)from,
				(long long)all);
		if (node_ok(v))
			node_set(v, k, node_slice(v, node_value(v, 0), axis, from, to - from));
		from = to;
	}
}

static void import_flatten(Visit *v)
{
	const Item *it = node_need(v, 0);
	Shape in = it->shape, s = { 0 };
	int first = caffe_axis(v, "axis", 1, in.rank), last = caffe_axis(v, "end_axis", -1, in.rank);
	if (node_ok(v) && last < first)
		node_fail(v, ERR_INPUT, "its end_axis %d is before its axis %d", last, first);
	if (!node_ok(v))
		return;
	for (int k = 0; k < first; k++)
		s.dim[s.rank++] = in.dim[k];
	s.dim[s.rank++] = shape_product(&in, first, last + 1);
	for (int k = last + 1; k < in.rank; k++)
		s.dim[s.rank++] = in.dim[k];
	node_set(v, 0, node_reshape(v, node_value(v, 0), s));
}

/* num_axes dimensions from `axis` on become `shape`: 0 is the input's dimension there, -1 what is left. */
static void import_reshape(Visit *v)
{
	const Item *it = node_need(v, 0);
	Shape in = it->shape, s = { 0 };
	int n, rank = in.rank, open = -1;
	const int64_t *dim = node_attr_ints(v, "shape", &n);
	int64_t axis = node_attr_int(v, "axis", 0), axes = node_attr_int(v, "num_axes", -1);
	int64_t from = axis < 0 ? rank + axis + 1 : axis, to = axes < 0 ? rank : from + axes;
	if (node_ok(v) && (from < 0 || from > rank || axes < -1 || to > rank))
		node_fail(v, ERR_INPUT, "its axis %lld and num_axes %lld are not in an input of %d dimensions", (long long)axis,
			(long long)axes, rank);
	if (node_ok(v) && (n < 0 ? 0 : n) + rank - (to - from) > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	for (int k = 0; k < from; k++)
		s.dim[s.rank++] = in.dim[k];
	for (int k = 0; k < n && node_ok(v); k++) {
		if (dim[k] < -1 || (dim[k] == -1 && open >= 0) || (dim[k] == 0 && from + k >= rank))
			node_fail(v, ERR_INPUT, "its shape has %lld as dimension %d, which says no size", (long long)dim[k], k);
		if (dim[k] == -1)
			open = s.rank;
		s.dim[s.rank++] = dim[k] == -1 ? 1 : dim[k] == 0 && node_ok(v) ? in.dim[from + k] : dim[k];
	}
	for (int64_t k = to; k < rank; k++)
		s.dim[s.rank++] = in.dim[k];
	int64_t have = shape_product(&in, 0, rank), known = shape_product(&s, 0, s.rank);
	if (node_ok(v) && open >= 0 && (known == 0 || have % known != 0))
		node_fail(v, ERR_TYPE, "its shape does not divide the %lld elements of its input", (long long)have);
	if (node_ok(v) && open >= 0)
		s.dim[open] = have / known;
	node_set(v, 0, node_ok(v) ? node_reshape(v, node_value(v, 0), s) : DAG_NONE);
}

/* The first input, cut from `axis` on to the size of the second one. */
static void import_crop(Visit *v)
{
	const Item *it = node_need(v, 0), *like = node_need(v, 1);
	int n, rank = it->shape.rank, axis = caffe_axis(v, "axis", 2, rank), x = node_value(v, 0);
	const int64_t *offset = node_attr_ints(v, "offset", &n);
	if (node_ok(v) && (like->shape.rank != rank || (n > 1 && n != rank - axis)))
		node_fail(
			v, ERR_TYPE, "its inputs have %d and %d dimensions, and its offset %d numbers", rank, like->shape.rank, n);
	for (int k = axis; k < rank && node_ok(v); k++) {
		int64_t from = n < 1 ? 0 : n == 1 ? offset[0] : offset[k - axis], size = like->shape.dim[k];
		if (from < 0 || from > it->shape.dim[k] || size > it->shape.dim[k] - from)
			node_fail(v, ERR_TYPE, "it cuts %lld elements from %lld on out of %lld", (long long)size, (long long)from,
				(long long)it->shape.dim[k]);
		else
			x = node_slice(v, x, k, from, size);
	}
	node_set(v, 0, x);
}

static void import_tile(Visit *v)
{
	const Item *it = node_need(v, 0);
	int axis = caffe_axis(v, "axis", 1, it->shape.rank), x = node_value(v, 0);
	int64_t n = caffe_count(v, "tiles", 0, 1);
	if (!node_ok(v))
		return;
	Shape s = it->shape,
		  apart = shape_of(3, (int64_t[]){ shape_product(&s, 0, axis), 1, shape_product(&s, axis, s.rank) });
	Shape wide = apart;
	wide.dim[1] = n;
	s.dim[axis] = s.dim[axis] > INT64_MAX / n ? -1 : s.dim[axis] * n;
	if (s.dim[axis] < 0 || shape_elements(s) < 0)
		node_fail(v, ERR_MEMORY, "its result has too many elements");
	else
		node_set(v, 0, node_reshape(v, node_expand(v, node_reshape(v, x, apart), wide), s));
}

/* Of SSD's fork: dimensions in another order; those that are not listed follow. */
static void import_permute(Visit *v)
{
	const Item *it = node_need(v, 0);
	int n, rank = it->shape.rank, used = 0;
	const int64_t *order = node_attr_ints(v, "order", &n);
	int64_t perm[DAG_MAX_RANK];
	bool seen[DAG_MAX_RANK] = { false };
	if (node_ok(v) && n > rank)
		node_fail(v, ERR_INPUT, "its order has %d numbers, but its input %d dimensions", n, rank);
	for (int k = 0; k < n && node_ok(v); k++) {
		if (order[k] < 0 || order[k] >= rank || seen[order[k]])
			node_fail(v, ERR_INPUT, "its order has %lld, which is no other dimension", (long long)order[k]);
		else
			seen[perm[used++] = order[k]] = true;
	}
	for (int k = 0; k < rank && node_ok(v); k++)
		if (!seen[k])
			perm[used++] = k;
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, node_value(v, 0), perm));
}

/* ---- resizing: corners stay corners */

static int resize(Visit *v, int x, int axis, int64_t out)
{
	int64_t in = node_val(v, x)->shape.dim[axis];
	Taps t;
	if (!node_ok(v) || out == in || !node_taps(v, axis, out, 2, &t))
		return x;
	double step = out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
	for (int64_t i = 0; i < out; i++) {
		double at = step * (double)i;
		int64_t low = (int64_t)at;
		t.index[2 * i] = low;
		t.index[2 * i + 1] = low + (low < in - 1);
		t.weight[2 * i + 1] = at - (double)low;
		t.weight[2 * i] = 1 - t.weight[2 * i + 1];
	}
	return node_resize_axis(v, x, axis, &t);
}

/* Of DeepLab's fork: a size, or factors, or the size of a second input; a negative pad cuts. */
static void import_interp(Visit *v)
{
	const Item *it = node_need(v, 0), *like = node_in(v, 1);
	int64_t pad[] = { node_attr_int(v, "pad_beg", 0), node_attr_int(v, "pad_end", 0) };
	int64_t shrink = caffe_count(v, "shrink_factor", 1, 1), zoom = caffe_count(v, "zoom_factor", 1, 1);
	int64_t given[] = { caffe_count(v, "height", 0, 0), caffe_count(v, "width", 0, 0) };
	int x = node_value(v, 0);
	if (node_ok(v) && (it->shape.rank != 4 || (like != NULL && like->shape.rank != 4)))
		node_fail(v, ERR_TYPE, "its inputs must have 4 dimensions");
	if (node_ok(v) && (pad[0] > 0 || pad[1] > 0 || pad[0] < INT32_MIN || pad[1] < INT32_MIN))
		node_fail(
			v, ERR_UNSUPPORTED, "its pads %lld and %lld must not be positive", (long long)pad[0], (long long)pad[1]);
	for (int k = 0; k < 2 && node_ok(v); k++) {
		int64_t in = it->shape.dim[2 + k] + pad[0] + pad[1], out = (in - 1) / shrink + 1;
		if (in < 1 || in > INT32_MAX) {
			node_fail(v, ERR_TYPE, in < 1 ? "its pads leave nothing of %lld elements" : "it resizes %lld elements",
				(long long)it->shape.dim[2 + k]);
			break;
		}
		out = like != NULL ? like->shape.dim[2 + k] : given[k] > 0 ? given[k] : out + (out - 1) * (zoom - 1);
		if (node_ok(v) && (out < 1 || out > INT32_MAX))
			node_fail(v, ERR_TYPE, "its result has %lld elements along one dimension", (long long)out);
		if (node_ok(v))
			x = resize(v, node_slice(v, x, 2 + k, -pad[0], in), 2 + k, out);
	}
	node_set(v, 0, x);
}

const NodeRow caffe_move_rows[] = {
	{ "Concat", 0, "", import_concat },
	{ "Slice", 0, "", import_slice },
	{ "Flatten", 0, "", import_flatten },
	{ "Reshape", 0, "", import_reshape },
	{ "Crop", 0, "", import_crop },
	{ "Tile", 0, "", import_tile },
	{ "Permute", 0, "", import_permute },
	{ "Interp", 0, "", import_interp },
	{ NULL, 0, NULL, NULL },
};
