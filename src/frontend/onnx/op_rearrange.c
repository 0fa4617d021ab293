/*
 * Rows that put the same elements elsewhere: blocks to depth and back, repetition, a window around the centre, lines
 * turned round, rows of a cache replaced. Each is a composition of moves.
 */
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <string.h>

static int transpose(Visit *v, int x, const int64_t *perm, int rank)
{
	Attr attr = attr_ints("perm", perm, rank);
	return node_call(v, OP_transpose, &x, 1, &attr, 1);
}

/* The block size, whose square divides the depth, or which divides height and width; 0 after a refusal. */
static int64_t block_size(Visit *v, const Item *x, bool depth)
{
	int64_t b = node_attr_int(v, "blocksize", 0);
	if (node_ok(v) && x->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 4", x->shape.rank);
	const int64_t *d = x->shape.dim;
	bool fits = b > 0 && b < 1 << 20 && (depth ? d[1] % (b * b) == 0 : d[2] % b == 0 && d[3] % b == 0);
	if (node_ok(v) && !fits)
		node_fail(v, ERR_INPUT, "its blocksize %lld does not divide %lldx%lldx%lld", (long long)b, (long long)d[1],
			(long long)d[2], (long long)d[3]);
	return node_ok(v) ? b : 0;
}

static void import_depth_to_space(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t b = block_size(v, x, true);
	const char *mode = v->frame->version >= 11 ? node_attr_text(v, "mode", "DCR") : "DCR";
	bool rows_first = strcmp(mode, "CRD") == 0;
	if (node_ok(v) && !rows_first && strcmp(mode, "DCR") != 0)
		node_fail(v, ERR_INPUT, "its mode '%.60s' is not DCR or CRD", mode);
	if (!node_ok(v))
		return;
	const int64_t *d = x->shape.dim;
	int64_t c = d[1] / (b * b), dcr[] = { d[0], b, b, c, d[2], d[3] }, crd[] = { d[0], c, b, b, d[2], d[3] };
	int64_t from_dcr[] = { 0, 3, 4, 1, 5, 2 }, from_crd[] = { 0, 1, 4, 2, 5, 3 };
	int64_t out[] = { d[0], c, d[2] * b, d[3] * b };
	int y = node_reshape(v, node_value(v, 0), shape_of(6, rows_first ? crd : dcr));
	y = transpose(v, y, rows_first ? from_crd : from_dcr, 6);
	node_set(v, 0, node_reshape(v, y, shape_of(4, out)));
}

static void import_space_to_depth(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t b = block_size(v, x, false);
	if (!node_ok(v))
		return;
	const int64_t *d = x->shape.dim;
	int64_t parts[] = { d[0], d[1], d[2] / b, b, d[3] / b, b }, perm[] = { 0, 3, 5, 1, 2, 4 };
	int64_t out[] = { d[0], size_product(d[1], size_product(b, b)), d[2] / b, d[3] / b };
	int y = transpose(v, node_reshape(v, node_value(v, 0), shape_of(6, parts)), perm, 6);
	node_set(v, 0, node_reshape(v, y, shape_of(4, out)));
}

/* The whole of an axis `times` times, one after the other. */
static int repeat(Visit *v, int x, int axis, int64_t times)
{
	Shape s = node_val(v, x)->shape, parts = { .rank = 3 };
	if (!node_ok(v) || times == 1)
		return x;
	parts.dim[0] = shape_product(&s, 0, axis);
	parts.dim[1] = 1;
	parts.dim[2] = shape_product(&s, axis, s.rank);
	x = node_reshape(v, x, parts);
	parts.dim[1] = times;
	Attr attr = attr_ints("shape", parts.dim, 3);
	x = node_call(v, OP_expand, &x, 1, &attr, 1);
	s.dim[axis] = size_product(s.dim[axis], times);
	return node_reshape(v, x, s);
}

/* Opset 1 repeats one axis: its inputs are the number and the axis. */
static void import_tile(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n, one, rank = x->shape.rank;
	node_need(v, 1);
	const int64_t *times = node_ints(v, 1, &n), *axis = v->frame->version < 6 ? node_ints(v, 2, &one) : NULL;
	bool first = v->frame->version < 6;
	if (node_ok(v) && (first ? n != 1 || axis == NULL || one != 1 : n != rank))
		node_fail(v, ERR_TYPE, "it has %d repeats for %d dimensions", n, rank);
	int at = first && node_ok(v) ? node_axis(v, axis[0], rank) : 0, y = node_value(v, 0);
	for (int k = 0; k < n && node_ok(v); k++) {
		if (times[k] < 0 || times[k] >= (int64_t)1 << 40)
			node_fail(v, ERR_INPUT, "it repeats an axis %lld times", (long long)times[k]);
		y = repeat(v, y, first ? at : k, times[k]);
	}
	if (node_ok(v) && y == node_value(v, 0))
		node_set_alias(v, 0, x);
	else
		node_set(v, 0, y);
}

/* Crops or pads around the centre; an odd difference has the smaller half in front. */
static void import_center_crop_pad(Visit *v)
{
	const Item *x = node_need(v, 0);
	int rank = x->shape.rank, n, naxes;
	node_need(v, 1);
	const int64_t *to = node_ints(v, 1, &n), *axes = node_attr_ints(v, "axes", &naxes);
	int64_t start[DAG_MAX_RANK] = { 0 }, size[DAG_MAX_RANK], pads[2 * DAG_MAX_RANK] = { 0 };
	bool on[DAG_MAX_RANK] = { false };
	if (node_ok(v) && n != (naxes < 0 ? rank : naxes))
		node_fail(v, ERR_TYPE, "it has %d sizes for %d axes", n, naxes < 0 ? rank : naxes);
	for (int k = 0; k < rank; k++)
		size[k] = x->shape.dim[k];
	for (int k = 0; k < n && node_ok(v); k++) {
		int axis = naxes < 0 ? k : node_axis(v, axes[k], rank);
		if (!node_ok(v))
			return;
		if (on[axis]) {
			node_fail(v, ERR_INPUT, "axis %d is listed twice", axis);
			return;
		}
		if (to[k] < 0 || to[k] > (int64_t)1 << 40) {
			node_fail(v, ERR_INPUT, "its size %lld along axis %d is out of range", (long long)to[k], axis);
			return;
		}
		int64_t more = to[k] - x->shape.dim[axis];
		on[axis] = true;
		start[axis] = more < 0 ? -more / 2 : 0;
		size[axis] = more < 0 ? to[k] : size[axis];
		pads[axis] = more > 0 ? more / 2 : 0;
		pads[rank + axis] = more > 0 ? more - more / 2 : 0;
	}
	int y = node_value(v, 0);
	Attr cut[] = { attr_ints("starts", start, rank), attr_ints("sizes", size, rank) };
	Attr pad = attr_ints("pads", pads, 2 * rank);
	y = node_call(v, OP_slice, &y, 1, cut, 2);
	node_set(v, 0, node_call(v, OP_pad, &y, 1, &pad, 1));
}

/* The first elements of each line in reverse order: a gather of rows of both axes together, so nothing is turned. */
static void import_reverse_sequence(Visit *v)
{
	const Item *x = node_need(v, 0), *lengths = node_need(v, 1);
	int rank = x->shape.rank;
	int64_t time = node_attr_int(v, "time_axis", 0), batch = node_attr_int(v, "batch_axis", 1);
	bool fits = rank >= 2 && ((time == 0 && batch == 1) || (time == 1 && batch == 0));
	if (node_ok(v) && (!fits || lengths->shape.rank != 1 || lengths->shape.dim[0] != x->shape.dim[batch]))
		node_fail(v, ERR_TYPE, "its axes must be 0 and 1, with a length for each of the batch");
	if (node_ok(v))
		node_check_range(v, 1, 0, x->shape.dim[time]);
	if (!node_ok(v))
		return;
	int64_t n = x->shape.dim[batch], steps = x->shape.dim[time];
	Shape line = { .rank = 2, .dim = { 1, 1 } }, rows = { .rank = rank - 1, .dim = { n * steps } };
	line.dim[batch] = n;
	memcpy(&rows.dim[1], &x->shape.dim[2], sizeof *rows.dim * (size_t)(rank - 2));
	int t = node_count(v, steps, (int)time, 2), one = node_number(v, I64, 1);
	int length = node_reshape(v, node_cast(v, node_value(v, 1), I64), line);
	int back = node_call2(v, OP_sub, node_call2(v, OP_sub, length, one), t);
	int from = node_where(v, node_call2(v, OP_less, t, length), back, t);
	int row = node_call2(v, OP_mul, from, node_number(v, I64, time == 0 ? (double)n : 1));
	int each = node_number(v, I64, time == 0 ? 1 : (double)steps);
	int first = node_call2(v, OP_mul, node_count(v, n, (int)batch, 2), each);
	Attr axis = attr_int("axis", 0);
	int in[] = { node_reshape(v, node_value(v, 0), rows), node_call2(v, OP_add, row, first) };
	node_set(v, 0, node_call(v, OP_gather, in, 2, &axis, 1));
}

/*
 * Row r of the update becomes row w + r of the cache: the cache with elements scattered along the axis, at an index for
 * each batch.
 */
static void import_tensor_scatter(Visit *v)
{
	const Item *cache = node_need(v, 0), *update = node_need(v, 1);
	int rank = cache->shape.rank, axis = node_axis(v, node_attr_int(v, "axis", -2), rank);
	const char *mode = node_attr_text(v, "mode", "linear");
	bool circular = strcmp(mode, "circular") == 0, fits = rank >= 2 && axis > 0 && update->shape.rank == rank;
	if (node_ok(v) && !circular && strcmp(mode, "linear") != 0)
		node_fail(v, ERR_INPUT, "its mode '%.60s' is not linear or circular", mode);
	for (int k = 0; k < rank && fits; k++)
		fits = k == axis ? update->shape.dim[k] <= cache->shape.dim[k] : update->shape.dim[k] == cache->shape.dim[k];
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its update does not fit the cache along axis %d", axis);
	if (!node_ok(v))
		return;
	int64_t n = cache->shape.dim[0], rows = cache->shape.dim[axis], more = update->shape.dim[axis], column[] = { n, 1 };
	if (node_in(v, 2) != NULL && shape_elements(node_in(v, 2)->shape) != n)
		node_fail(v, ERR_TYPE, "it needs a place to write for each of %lld in the batch", (long long)n);
	if (!circular)
		node_check_range(v, 2, 0, rows - more);
	if (!node_ok(v))
		return;
	int at = node_count(v, more, 1, 2);
	int64_t each = 1;
	if (node_in(v, 2) != NULL) {
		int first = node_reshape(v, node_cast(v, node_value(v, 2), I64), shape_of(2, column));
		at = node_call2(v, OP_add, at, first);
		each = n;
	}
	int end = node_number(v, I64, (double)rows);
	if (circular)
		at = node_call2(v, OP_mod, at, end);
	else /* an index below 0 would count from the end */
		at = node_where(v, node_call2(v, OP_less, at, node_number(v, I64, 0)), end, at);
	Shape s = { .rank = rank };
	for (int k = 0; k < rank; k++)
		s.dim[k] = k == 0 ? each : k == axis ? more : 1;
	Attr whole = attr_ints("shape", update->shape.dim, rank), along = attr_int("axis", axis);
	at = node_reshape(v, at, s);
	int in[] = { node_value(v, 0), node_call(v, OP_expand, &at, 1, &whole, 1), node_value(v, 1) };
	node_set(v, 0, node_call(v, OP_scatter_elements, in, 3, &along, 1));
}

const NodeRow onnx_rearrange_rows[] = {
	{ "DepthToSpace", 1, "", import_depth_to_space },
	{ "SpaceToDepth", 1, "", import_space_to_depth },
	{ "Tile", 1, "", import_tile },
	{ "CenterCropPad", 18, "", import_center_crop_pad },
	{ "ReverseSequence", 10, "", import_reverse_sequence },
	{ "TensorScatter", 24, "", import_tensor_scatter },
	{ NULL, 0, NULL, NULL },
};
