/* Rows of MIL operators that move elements, or make them from shapes. */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/mil.h"

#include "frontend/node/compose.h"
#include "op/element.h"

#include <math.h>
#include <string.h>

static void set_named(Visit *v, int y, int x)
{
	node_set(v, 0, y == x ? node_call1(v, OP_identity, x) : y);
}

static void import_transpose(Visit *v)
{
	int n, x = mil_need(v, "x"), rank = node_val(v, x)->shape.rank;
	const int64_t *given = mil_ints(v, "perm", &n);
	int64_t perm[DAG_MAX_RANK];
	bool seen[DAG_MAX_RANK] = { false };
	if (node_ok(v) && n != rank)
		node_fail(v, ERR_TYPE, "its parameter perm has %d numbers for %d dimensions", n, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		perm[k] = node_axis(v, given[k], rank);
		if (seen[perm[k]] && node_ok(v))
			node_fail(v, ERR_INPUT, "its parameter perm names axis %lld twice", (long long)perm[k]);
		seen[perm[k]] = true;
	}
	if (node_ok(v))
		set_named(v, node_transpose(v, x, perm), x);
}

static void import_reshape(Visit *v)
{
	int n, x = mil_need(v, "x");
	const int64_t *dim = mil_ints(v, "shape", &n);
	if (node_ok(v) && n < 0)
		node_fail(v, ERR_INPUT, "its parameter shape is missing");
	if (node_ok(v))
		set_named(v, coreml_reshape(v, x, dim, n, true), x);
}

/* Dimensions begins[k] .. ends[k] - 1 of each tensor, one after the other. */
static void import_reshape_like(Visit *v)
{
	int n, nb, ne, nm, x = mil_need(v, "x"), rank = 0;
	const int *like = mil_each(v, "ref_tensors", &n);
	const int64_t *begin = mil_ints(v, "begins", &nb), *end = mil_ints(v, "ends", &ne),
				  *mask = mil_ints(v, "end_masks", &nm);
	int64_t dim[DAG_MAX_RANK];
	if (node_ok(v) && (nb != n || ne != n || (nm >= 0 && nm != n)))
		node_fail(v, ERR_TYPE, "its parameters begins and ends have not %d numbers", n);
	for (int k = 0; k < n && node_ok(v); k++) {
		Shape s = node_val(v, like[k])->shape;
		int64_t from = begin[k] < 0 ? begin[k] + s.rank : begin[k], to = end[k] < 0 ? end[k] + s.rank : end[k];
		to = nm >= 0 && mask[k] ? s.rank : to;
		if (from < 0 || to > s.rank || from > to || rank + to - from > DAG_MAX_RANK)
			node_fail(v, ERR_INPUT, "its dimensions %lld to %lld are none of its tensor %d", (long long)from,
				(long long)to, k);
		for (int64_t i = from; i < to && node_ok(v); i++)
			dim[rank++] = s.dim[i];
	}
	if (node_ok(v))
		set_named(v, coreml_reshape(v, x, dim, rank, false), x);
}

static void import_expand_dims(Visit *v)
{
	int n, x = mil_need(v, "x");
	const int64_t *axes = mil_ints(v, "axes", &n);
	if (node_ok(v))
		set_named(v, coreml_expand_dims(v, x, axes, n < 0 ? 0 : n), x);
}

static void import_squeeze(Visit *v)
{
	int n, x = mil_need(v, "x");
	const int64_t *axes = mil_ints(v, "axes", &n);
	if (node_ok(v))
		set_named(v, coreml_squeeze(v, x, axes, n), x);
}

static void import_flatten(Visit *v)
{
	int x = mil_need(v, "x");
	Shape s = node_val(v, x)->shape;
	int64_t given = mil_int(v, "axis", 1);
	int at = node_ok(v) && given == s.rank ? s.rank : node_axis(v, given, s.rank);
	if (node_ok(v))
		set_named(v, node_view(v, x, 2, (int64_t[]){ shape_product(&s, 0, at), shape_product(&s, at, s.rank) }), x);
}

/* Values of one type: empty ones are left out. */
static void import_concat(Visit *v)
{
	int n, count = 0;
	const int *in = mil_each(v, "values", &n);
	if (in == NULL)
		return;
	int axis = node_axis(v, mil_int(v, "axis", 0), node_val(v, in[0])->shape.rank);
	int *some = arena_array(v->im->arena, int, n + 1);
	for (int k = 0; k < n && node_ok(v); k++)
		if (axis >= node_val(v, in[k])->shape.rank || node_val(v, in[k])->shape.dim[axis] != 0)
			some[count++] = node_cast(v, in[k], node_val(v, in[0])->type);
	if (count == 0)
		some[count++] = in[0];
	bool turns = mil_flag(v, "interleave", false);
	if (node_ok(v))
		set_named(v, turns && n > 1 ? coreml_interleave(v, in, n, axis) : node_concat(v, some, count, axis), some[0]);
}

static void import_stack(Visit *v)
{
	int n;
	const int *in = mil_each(v, "values", &n);
	int64_t axis = mil_int(v, "axis", 0);
	if (node_ok(v))
		node_set(v, 0, coreml_stack(v, in, n, axis));
}

static void import_split(Visit *v)
{
	int n, x = mil_need(v, "x"), axis = node_axis(v, mil_int(v, "axis", 0), node_val(v, x)->shape.rank);
	const int64_t *sizes = mil_ints(v, "split_sizes", &n);
	int64_t many = mil_int(v, "num_splits", n);
	if (!node_ok(v))
		return;
	int64_t all = node_val(v, x)->shape.dim[axis];
	if (many < 1 || many > 1 << 16 || (n >= 0 && many != n) || (n < 0 && all % many != 0)) {
		node_fail(v, ERR_TYPE, "axis %d of its input cannot be cut into %lld parts", axis, (long long)many);
		return;
	}
	int64_t *equal = arena_array(v->im->arena, int64_t, many);
	for (int64_t k = 0; k < many; k++)
		equal[k] = all / many;
	coreml_split(v, x, axis, n < 0 ? equal : sizes, (int)many, node_set);
}

/* ---- slices */

/* A list with a number for each dimension; NULL: it is absent. */
static const int64_t *entries(Visit *v, const char *key, int rank)
{
	int n;
	const int64_t *at = mil_ints(v, key, &n);
	if (node_ok(v) && n >= 0 && n != rank)
		node_fail(v, ERR_TYPE, "its parameter %s has %d numbers for %d dimensions", key, n, rank);
	return n < 0 ? NULL : at;
}

static CoremlSlicing slicing_of(Visit *v, int rank)
{
	CoremlSlicing s = { entries(v, "begin", rank), entries(v, "end", rank), entries(v, "stride", rank),
		entries(v, "begin_mask", rank), entries(v, "end_mask", rank), entries(v, "squeeze_mask", rank) };
	if (node_ok(v) && (s.begin == NULL || s.end == NULL))
		node_fail(v, ERR_INPUT, "its parameters begin and end are missing");
	return s;
}

static void import_slice_by_index(Visit *v)
{
	int x = mil_need(v, "x");
	CoremlSlicing s = slicing_of(v, node_val(v, x)->shape.rank);
	if (node_ok(v))
		set_named(v, coreml_slice(v, x, &s), x);
}

/* The places of the slice, found by slicing their numbers, are written. */
static void import_slice_update(Visit *v)
{
	int x = mil_need(v, "x"), update = mil_need(v, "update");
	Shape s = node_val(v, x)->shape;
	CoremlSlicing slicing = slicing_of(v, s.rank);
	int64_t all = shape_product(&s, 0, s.rank);
	if (!node_ok(v))
		return;
	int places = coreml_slice(v, node_reshape(v, node_count(v, all, 0, 1), s), &slicing);
	int64_t many = node_ok(v) ? shape_elements(node_val(v, places)->shape) : 0;
	if (node_ok(v) && shape_elements(node_val(v, update)->shape) != many)
		node_fail(v, ERR_TYPE, "its update has not the %lld elements of its slice", (long long)many);
	if (!node_ok(v))
		return;
	int flat = coreml_scatter_along(
		v, node_view(v, x, 1, &all), node_view(v, places, 1, &many), node_view(v, update, 1, &many), 0, "update");
	node_set(v, 0, node_reshape(v, flat, s));
}

static void import_slice_by_size(Visit *v)
{
	int x = mil_need(v, "x");
	Shape s = node_val(v, x)->shape;
	const int64_t *begin = entries(v, "begin", s.rank), *size = entries(v, "size", s.rank);
	int y = x;
	if (node_ok(v) && (begin == NULL || size == NULL))
		node_fail(v, ERR_INPUT, "its parameters begin and size are missing");
	for (int k = 0; k < s.rank && node_ok(v); k++) {
		int64_t n = size[k] == -1 ? s.dim[k] - begin[k] : size[k];
		if (begin[k] < 0 || n < 0 || n > s.dim[k] - begin[k])
			node_fail(v, ERR_TYPE, "its slice does not lie in axis %d", k);
		else
			y = node_slice(v, y, k, begin[k], n);
	}
	if (node_ok(v))
		set_named(v, y, x);
}

static void import_windows(Visit *v)
{
	int x = mil_need(v, "x");
	int64_t axis = mil_int(v, "axis", 0), size = mil_int(v, "size", 1);
	node_set(v, 0, coreml_windows(v, x, axis, size, mil_int(v, "stride", 1)));
}

/* Images, the last two dimensions, without crop_height[0] rows above, crop_height[1] below, and so on. */
static void import_crop(Visit *v)
{
	int x = mil_need(v, "x");
	Shape s = node_val(v, x)->shape;
	int64_t cut[4];
	mil_list(v, "crop_height", 2, 0, 0, cut);
	mil_list(v, "crop_width", 2, 0, 0, cut + 2);
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 2 at least", s.rank);
	int y = x;
	for (int k = 0; k < 2 && node_ok(v); k++) {
		int64_t size = s.dim[s.rank - 2 + k] - cut[2 * k] - cut[2 * k + 1];
		if (size < 1)
			node_fail(v, ERR_TYPE, "it crops all of an image");
		else
			y = node_slice(v, y, s.rank - 2 + k, cut[2 * k], size);
	}
	if (node_ok(v))
		set_named(v, y, x);
}

/* ---- repeated, reversed, by blocks */

static void import_tile(Visit *v)
{
	int n, x = mil_need(v, "x");
	const int64_t *times = mil_ints(v, "reps", &n);
	if (node_ok(v))
		set_named(v, coreml_tile(v, x, times, n), x);
}

static void import_reverse(Visit *v)
{
	int n, x = mil_need(v, "x"), rank = node_val(v, x)->shape.rank;
	const int64_t *axes = mil_ints(v, "axes", &n);
	bool on[DAG_MAX_RANK] = { false };
	for (int k = 0; k < (n < 0 ? rank : n) && node_ok(v); k++)
		on[n < 0 ? k : node_axis(v, axes[k], rank)] = true;
	if (node_ok(v))
		set_named(v, coreml_reverse(v, x, on), x);
}

static void import_reverse_sequence(Visit *v)
{
	int x = mil_need(v, "x"), lengths = node_cast(v, mil_need(v, "lengths"), I64), rank = node_val(v, x)->shape.rank;
	int axis = node_axis(v, mil_int(v, "seq_axis", 0), rank), batch = node_axis(v, mil_int(v, "batch_axis", 0), rank);
	node_set(v, 0, coreml_reverse_sequence(v, x, lengths, batch, axis));
}

static void import_rearrange(Visit *v)
{
	static const struct {
		const char *name, *key;
		Rearrangement kind;
	} rows[] = { { "space_to_depth", "block_size", SPACE_TO_DEPTH }, { "depth_to_space", "block_size", DEPTH_TO_SPACE },
		{ "pixel_shuffle", "upscale_factor", PIXEL_SHUFFLE },
		{ "pixel_unshuffle", "downscale_factor", PIXEL_UNSHUFFLE } };
	int x = mil_need(v, "x");
	if (node_ok(v) && node_val(v, x)->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 4", node_val(v, x)->shape.rank);
	for (size_t k = 0; k < sizeof rows / sizeof *rows && node_ok(v); k++)
		if (strcmp(v->node->op, rows[k].name) == 0)
			node_set(v, 0, coreml_rearrange(v, x, rows[k].kind, mil_int(v, rows[k].key, 1)));
}

/* [N,C,H,W] <-> [N * blocks, C, H / b, W / b], padded before, or cropped behind. */
static void import_batch_blocks(Visit *v)
{
	bool to_batch = strcmp(v->node->op, "space_to_batch") == 0;
	int x = mil_need(v, "x");
	Shape s = node_val(v, x)->shape;
	int64_t block[2], edge[4];
	mil_list(v, "block_shape", 2, 1, 1, block);
	mil_list(v, to_batch ? "paddings" : "crops", 4, 0, 0, edge);
	if (node_ok(v) && s.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 4", s.rank);
	if (node_ok(v) && (block[0] > 1 << 15 || block[1] > 1 << 15))
		node_fail(v, ERR_INPUT, "its blocks of %lldx%lld elements are out of range", (long long)block[0],
			(long long)block[1]);
	if (!node_ok(v))
		return;
	int64_t a = block[0], b = block[1], pads[] = { 0, 0, edge[0], edge[2], 0, 0, edge[1], edge[3] };
	if (to_batch) {
		Attr attr = attr_ints("pads", pads, 8);
		x = node_call(v, OP_pad, &x, 1, &attr, 1);
		s = node_val(v, x)->shape;
		if (node_ok(v) && (s.dim[2] % a != 0 || s.dim[3] % b != 0))
			node_fail(v, ERR_TYPE, "its input is not divided by its blocks");
		x = node_ok(v) ? node_view(v, x, 6, (int64_t[]){ s.dim[0], s.dim[1], s.dim[2] / a, a, s.dim[3] / b, b }) : x;
		x = node_transpose(v, x, (int64_t[]){ 3, 5, 0, 1, 2, 4 });
		int64_t all = size_product(s.dim[0], size_product(a, b));
		node_set(v, 0, node_view(v, x, 4, (int64_t[]){ all, s.dim[1], s.dim[2] / a, s.dim[3] / b }));
		return;
	}
	if (s.dim[0] % (a * b) != 0)
		node_fail(v, ERR_TYPE, "its batch is not divided by its blocks");
	int64_t n = s.dim[0] / (a * b), h = s.dim[2] * a - edge[0] - edge[1], w = s.dim[3] * b - edge[2] - edge[3];
	if (node_ok(v) && (h < 1 || w < 1))
		node_fail(v, ERR_TYPE, "it crops all of an image");
	if (!node_ok(v))
		return;
	x = node_view(v, x, 6, (int64_t[]){ a, b, n, s.dim[1], s.dim[2], s.dim[3] });
	x = node_transpose(v, x, (int64_t[]){ 2, 3, 4, 0, 5, 1 });
	x = node_view(v, x, 4, (int64_t[]){ n, s.dim[1], s.dim[2] * a, s.dim[3] * b });
	node_set(v, 0, node_slice(v, node_slice(v, x, 2, edge[0], h), 3, edge[2], w));
}

static void import_band(Visit *v)
{
	int x = mil_need(v, "x");
	int64_t lower = mil_int(v, "lower", -1), upper = mil_int(v, "upper", -1);
	if (node_ok(v))
		set_named(v, coreml_band(v, x, lower < 0 ? -1 : lower, upper < 0 ? -1 : upper), x);
}

/* ---- from shapes */

static void import_shape(Visit *v)
{
	Shape s = node_val(v, mil_need(v, "x"))->shape;
	int32_t *at = arena_array(v->im->arena, int32_t, DAG_MAX_RANK);
	int64_t rank = s.rank;
	for (int k = 0; k < s.rank; k++)
		at[k] = (int32_t)s.dim[k];
	node_set_known(v, 0, I32, shape_of(1, &rank), at);
}

/* The value's type is the result's. */
static void import_fill(Visit *v)
{
	bool like = strcmp(v->node->op, "fill_like") == 0;
	int n = 0, value = mil_value(v, "value");
	Shape s = { .rank = 0 };
	const int64_t *dim = like ? NULL : mil_ints(v, "shape", &n);
	if (like)
		s = node_val(v, mil_need(v, "ref_tensor"))->shape;
	if (node_ok(v) && !like && (n < 0 || n > DAG_MAX_RANK))
		node_fail(v, ERR_TYPE, "its parameter shape has %d numbers", n);
	for (int k = 0; k < n && node_ok(v) && !like; k++)
		s.dim[s.rank++] = coreml_size(v, "shape", dim[k], 0);
	if (value == DAG_NONE)
		value = node_number(v, F32, 0);
	if (node_ok(v) && import_check_size(v->im, "result of", v->node->name, node_val(v, value)->type, s))
		set_named(v, node_expand(v, value, s), value);
}

static void import_range(Visit *v)
{
	const Item *it = mil_known(v, "end");
	double end = mil_float(v, "end", 0), start = mil_float(v, "start", 0), step = mil_float(v, "step", 1);
	double count = ceil((end - start) / step);
	if (node_ok(v) && (it == NULL || !(step != 0 && count <= NODE_COUNTED && count > -INFINITY)))
		node_fail(v, ERR_INPUT, "it counts from %g to %g by %g", start, end, step);
	if (!node_ok(v))
		return;
	int64_t n = count < 0 ? 0 : (int64_t)count;
	void *to = arena_alloc(v->im->arena, (size_t)dtype_bytes(it->type, n) + 8);
	for (int64_t i = 0; i < n; i++)
		element_set(it->type, to, i, start + (double)i * step);
	node_set_known(v, 0, it->type, shape_of(1, &n), to);
}

const NodeRow mil_move_rows[] = {
	{ "transpose", 0, "", import_transpose },
	{ "reshape", 0, "", import_reshape },
	{ "reshape_like", 6, "", import_reshape_like },
	{ "expand_dims", 0, "", import_expand_dims },
	{ "squeeze", 0, "", import_squeeze },
	{ "flatten2d", 0, "", import_flatten },
	{ "concat", 0, "", import_concat },
	{ "stack", 0, "", import_stack },
	{ "split", 0, "", import_split },
	{ "slice_by_index", 0, "", import_slice_by_index },
	{ "slice_by_size", 0, "", import_slice_by_size },
	{ "slice_update", 8, "", import_slice_update },
	{ "sliding_windows", 0, "", import_windows },
	{ "crop", 0, "", import_crop },
	{ "tile", 0, "", import_tile },
	{ "reverse", 0, "", import_reverse },
	{ "reverse_sequence", 0, "", import_reverse_sequence },
	{ "space_to_depth", 0, "", import_rearrange },
	{ "depth_to_space", 0, "", import_rearrange },
	{ "pixel_shuffle", 0, "", import_rearrange },
	{ "pixel_unshuffle", 6, "", import_rearrange },
	{ "space_to_batch", 0, "", import_batch_blocks },
	{ "batch_to_space", 0, "", import_batch_blocks },
	{ "band_part", 0, "", import_band },
	{ "shape", 0, "", import_shape },
	{ "fill", 0, "", import_fill },
	{ "fill_like", 6, "", import_fill },
	{ "range_1d", 0, "", import_range },
	{ NULL, 0, NULL, NULL },
};
