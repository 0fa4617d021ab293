/*
 * DeformConv: a convolution whose taps are moved by offsets. Elements between the taps are interpolated from their
 * four neighbours, which are gathered; then the convolution is a product of matrices. A ring of zeros around the
 * input stands for all that lies outside, so that each neighbour has a place.
 */
#include "frontend/onnx/rows.h"
#include "frontend/onnx/windows.h"

#include "op/element.h"

/* The coordinates of a call's taps. `tap` and `place` count taps of the kernel and elements of the result. */
typedef struct Taps {
	int64_t batch, groups, taps, places;
	int64_t out[2]; /* places = out[0] * out[1] */
	DType type; /* computed in: f64, or f32 */
	int offset; /* type[batch, groups, taps, 2, places] */
} Taps;

/* Coordinates along spatial dimension d: those of a convolution and the offsets, [batch, groups, taps * places]. */
static int tap_positions(Visit *v, const Windows *w, const Taps *t, int d)
{
	void *base = arena_alloc(v->im->arena, (size_t)dtype_bytes(t->type, t->taps * t->places + 1));
	for (int64_t k = 0; k < t->taps; k++)
		for (int64_t p = 0; p < t->places; p++) {
			int64_t tap = d == 0 ? k / w->kernel[1] : k % w->kernel[1], place = d == 0 ? p / t->out[1] : p % t->out[1];
			element_set(t->type, base, k * t->places + p,
				(double)(place * w->stride[d] - w->pads[d] + tap * w->dilation[d]));
		}
	int64_t start[] = { 0, 0, 0, d, 0 }, step[] = { 1, 1, 1, 1, 1 };
	int64_t size[] = { t->batch, t->groups, t->taps, 1, t->places };
	Attr attr[] = { attr_ints("starts", start, 5), attr_ints("steps", step, 5), attr_ints("sizes", size, 5) };
	Shape line = { .rank = 1, .dim = { t->taps * t->places } };
	Shape flat = { .rank = 3, .dim = { t->batch, t->groups, t->taps * t->places } };
	int moved = node_reshape(v, node_call(v, OP_slice, &t->offset, 1, attr, 3), flat);
	return node_call2(v, OP_add, moved, node_const(v, t->type, line, base));
}

/* The index in a line with a zero at each end: outside of n elements it is one of these. */
static int place_in_ring(Visit *v, int at, int64_t n)
{
	Attr attr[] = { attr_float("lo", -1), attr_float("hi", (double)n) };
	int i = node_cast(v, node_call(v, OP_clip, &at, 1, attr, 2), I64);
	return node_call2(v, OP_add, i, node_number(v, I64, 1));
}

/* x interpolated at all positions: [batch, groups, channels of a group, taps * places]. */
static int interpolate(Visit *v, int x, const int64_t *size, const int *position)
{
	int low[2], part[2], sum = DAG_NONE, one = node_number(v, node_val(v, x)->type, 1);
	for (int d = 0; d < 2; d++) {
		low[d] = node_call1(v, OP_floor, position[d]);
		part[d] = node_call2(v, OP_sub, position[d], low[d]);
	}
	for (int corner = 0; corner < 4 && node_ok(v); corner++) {
		int weight = DAG_NONE, index = DAG_NONE;
		for (int d = 0; d < 2; d++) {
			bool high = (corner >> d & 1) != 0;
			int at = high ? node_call2(v, OP_add, low[d], one) : low[d];
			int w = high ? part[d] : node_call2(v, OP_sub, one, part[d]), i = place_in_ring(v, at, size[d]);
			weight = d == 0 ? w : node_call2(v, OP_mul, weight, w);
			index = d == 0 ? node_call2(v, OP_mul, i, node_number(v, I64, (double)(size[1] + 2)))
						   : node_call2(v, OP_add, index, i);
		}
		Shape wide = node_val(v, weight)->shape;
		wide = (Shape){ .rank = 4, .dim = { wide.dim[0], wide.dim[1], 1, wide.dim[2] } };
		Attr attr[] = { attr_int("axis", 3), attr_int("batch", 2) };
		int in[] = { x, index };
		int y = node_call2(v, OP_mul, node_call(v, OP_gather, in, 2, attr, 2), node_reshape(v, weight, wide));
		sum = corner == 0 ? y : node_call2(v, OP_add, sum, y);
	}
	return sum;
}

/* Refuses an input whose shape is not that. */
static void need_shape(Visit *v, int k, Shape want)
{
	const Item *it = node_in(v, k);
	char have[160], need[160];
	if (node_ok(v) && it != NULL && !shape_eq(it->shape, want))
		node_fail(v, ERR_TYPE, "its input '%s' has the shape %s, but must have %s", it->name,
			shape_str(it->shape, have), shape_str(want, need));
}

/* Reads attributes and checks shapes; false after a refusal. */
static bool read_taps(Visit *v, Windows *w, Taps *t)
{
	const Item *x = node_need(v, 0), *weights = node_need(v, 1);
	node_need(v, 2);
	if (node_ok(v) && (x->shape.rank != 4 || weights->shape.rank != 4))
		node_fail(v, ERR_UNSUPPORTED, "its input and its weights must have 4 dimensions, but have %d and %d",
			x->shape.rank, weights->shape.rank);
	if (node_ok(v) && !dtype_is_float(x->type))
		node_fail(v, ERR_TYPE, "its input must have a floating type");
	if (!node_ok(v))
		return false;
	*w = onnx_windows(v, &weights->shape.dim[2]);
	int64_t groups = node_attr_int(v, "group", 1), moved = node_attr_int(v, "offset_group", 1);
	int64_t channels = x->shape.dim[1], filters = weights->shape.dim[0];
	if (groups < 1 || moved < 1 || channels % groups != 0 || filters % groups != 0 || channels % moved != 0)
		node_fail(v, ERR_TYPE, "%lld input and %lld output channels cannot be cut into %lld groups, %lld of offsets",
			(long long)channels, (long long)filters, (long long)groups, (long long)moved);
	else if (weights->shape.dim[1] != channels / groups)
		node_fail(v, ERR_TYPE, "its weights have %lld channels, but need %lld", (long long)weights->shape.dim[1],
			(long long)(channels / groups));
	for (int d = 0; d < 2 && node_ok(v); d++) {
		int64_t room = x->shape.dim[2 + d] + w->pads[d] + w->pads[2 + d] - (w->kernel[d] - 1) * w->dilation[d] - 1;
		if (room < 0)
			node_fail(v, ERR_TYPE, "its kernel does not fit spatial dimension %d", d);
		t->out[d] = room / w->stride[d] + 1;
	}
	if (!node_ok(v))
		return false;
	t->batch = x->shape.dim[0];
	t->groups = moved;
	t->taps = shape_product(&weights->shape, 2, 4);
	t->places = shape_product(&(Shape){ 2, { t->out[0], t->out[1] } }, 0, 2);
	t->type = x->type.bits == 64 ? F64 : F32;
	int64_t masks = shape_product(&(Shape){ 2, { moved, t->taps } }, 0, 2);
	int64_t offsets = shape_product(&(Shape){ 2, { masks, 2 } }, 0, 2);
	need_shape(v, 2, (Shape){ 4, { t->batch, offsets, t->out[0], t->out[1] } });
	need_shape(v, 3, (Shape){ 1, { filters } });
	need_shape(v, 4, (Shape){ 4, { t->batch, masks, t->out[0], t->out[1] } });
	Shape s = { 2, { t->taps, t->places } };
	return import_check_size(v->im, "the taps of", v->name, t->type, s) && node_ok(v);
}

static int as_type(Visit *v, int k, DType type, Shape shape)
{
	return node_reshape(v, node_cast(v, node_value(v, k), type), shape);
}

static void import_deform_conv(Visit *v)
{
	Windows w;
	Taps t = { .offset = DAG_NONE };
	if (!read_taps(v, &w, &t))
		return;
	const Item *x = node_in(v, 0), *weights = node_in(v, 1);
	int64_t channels = x->shape.dim[1], filters = weights->shape.dim[0], groups = node_attr_int(v, "group", 1);
	int64_t all = t.taps * t.places, depth = shape_product(&weights->shape, 1, 4);
	t.offset = as_type(v, 2, t.type, (Shape){ 5, { t.batch, t.groups, t.taps, 2, t.places } });
	int position[2] = { tap_positions(v, &w, &t, 0), tap_positions(v, &w, &t, 1) };

	int64_t ring[] = { 0, 0, 1, 1, 0, 0, 1, 1 };
	Attr pads = attr_ints("pads", ring, 8);
	int in = node_cast(v, node_value(v, 0), t.type), columns = node_call(v, OP_pad, &in, 1, &pads, 1);
	int64_t area = shape_product(&(Shape){ 2, { x->shape.dim[2] + 2, x->shape.dim[3] + 2 } }, 0, 2);
	columns = node_reshape(v, columns, (Shape){ 4, { t.batch, t.groups, channels / t.groups, area } });
	columns = interpolate(v, columns, &x->shape.dim[2], position);
	if (node_in(v, 4) != NULL)
		columns =
			node_call2(v, OP_mul, columns, as_type(v, 4, t.type, (Shape){ 4, { t.batch, t.groups, 1, all } }));
	columns = node_reshape(v, columns, (Shape){ 4, { t.batch, groups, depth, t.places } });
	int matrix = as_type(v, 1, t.type, (Shape){ 3, { groups, filters / groups, depth } });
	int y = node_call2(v, OP_matmul, matrix, columns);
	y = node_reshape(v, y, (Shape){ 4, { t.batch, filters, t.out[0], t.out[1] } });
	if (node_in(v, 3) != NULL)
		y = node_call2(v, OP_add, y, as_type(v, 3, t.type, (Shape){ 3, { filters, 1, 1 } }));
	node_set(v, 0, node_cast(v, y, x->type));
}

const NodeRow onnx_deform_rows[] = {
	{ "DeformConv", 19, "", import_deform_conv },
	{ NULL, 0, NULL, NULL },
};
