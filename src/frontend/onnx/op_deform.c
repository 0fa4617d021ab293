/*
 * DeformConv: a convolution whose taps are moved by offsets. Elements between the taps are interpolated from their
 * four neighbours, whose channels lie side by side; then the convolution is a product of matrices. A ring of zeros
 * around the input stands for all that lies outside, so that each neighbour has a place.
 */
#include "frontend/onnx/rows.h"
#include "frontend/node/compose.h"
#include "frontend/onnx/windows.h"

#include "op/element.h"

/* The coordinates of a call's taps. `tap` and `place` count taps of the kernel and elements of the result. */
typedef struct Taps {
	int64_t batch, groups, taps, places;
	int64_t out[2]; /* places = out[0] * out[1] */
	DType type; /* computed in: f64, or f32 */
	int offset; /* type[batch, groups, taps, 2, places] */
	int mask;   /* type[batch, groups, places, taps, 1, 1]; DAG_NONE: there is none */
} Taps;

/* Coordinates along spatial dimension d: those of a convolution and the offsets, [batch, groups, places, taps]. */
static int tap_positions(Visit *v, const Windows *w, const Taps *t, int d)
{
	void *base = arena_alloc(v->im->arena, (size_t)dtype_bytes(t->type, t->taps * t->places + 1));
	for (int64_t p = 0; p < t->places; p++)
		for (int64_t k = 0; k < t->taps; k++) {
			int64_t tap = d == 0 ? k / w->kernel[1] : k % w->kernel[1], place = d == 0 ? p / t->out[1] : p % t->out[1];
			element_set(t->type, base, p * t->taps + k,
				(double)(place * w->stride[d] - w->pads[d] + tap * w->dilation[d]));
		}
	int64_t start[] = { 0, 0, 0, d, 0 }, step[] = { 1, 1, 1, 1, 1 }, turn[] = { 0, 1, 3, 2 };
	int64_t size[] = { t->batch, t->groups, t->taps, 1, t->places };
	Attr attr[] = { attr_ints("starts", start, 5), attr_ints("steps", step, 5), attr_ints("sizes", size, 5) };
	Shape by_tap = { 4, { t->batch, t->groups, t->taps, t->places } };
	int moved = node_transpose(v, node_reshape(v, node_call(v, OP_slice, &t->offset, 1, attr, 3), by_tap), turn);
	return node_call2(v, OP_add, moved, node_const(v, t->type, (Shape){ 2, { t->places, t->taps } }, base));
}

/* The index in a line with a zero at each end: outside of n elements it is one of these. */
static int place_in_ring(Visit *v, int at, int64_t n)
{
	Attr attr[] = { attr_float("lo", -1), attr_float("hi", (double)n) };
	int i = node_cast(v, node_call(v, OP_clip, &at, 1, attr, 2), I64);
	return node_call2(v, OP_add, i, node_number(v, I64, 1));
}

/* The two neighbours of positions [.., places, taps] along a dimension, and how far they are: a last dimension of 2. */
static void neighbours(Visit *v, int position, int64_t n, int *index, int *weight)
{
	static const double ends[] = { 0, 1 };
	Shape wide = node_val(v, position)->shape;
	wide.dim[wide.rank++] = 1;
	position = node_reshape(v, position, wide);
	DType type = node_val(v, position)->type;
	int low = node_call1(v, OP_floor, position), one = node_number(v, type, 1);
	int both = node_numbers(v, type, ends, 2, wide.rank);
	int far = node_call1(v, OP_abs, node_call2(v, OP_sub, both, node_call2(v, OP_sub, position, low)));
	*weight = node_call2(v, OP_sub, one, far);
	*index = place_in_ring(v, node_call2(v, OP_add, low, both), n);
}

/* With a dimension of 1 before the last one, or behind it. */
static int beside(Visit *v, int x, bool before)
{
	Shape s = node_val(v, x)->shape;
	s.dim[s.rank] = before ? s.dim[s.rank - 1] : 1;
	s.dim[s.rank - 1] = before ? 1 : s.dim[s.rank - 1];
	s.rank++;
	return node_reshape(v, x, s);
}

/* x[batch, groups, elements, channels], a ring around size[0] x size[1], at all taps: [.., places * taps, channels]. */
static int interpolate(Visit *v, int x, const Taps *t, const int64_t *size, const int *position)
{
	int index[2], weight[2];
	for (int d = 0; d < 2; d++) {
		neighbours(v, position[d], size[d], &index[d], &weight[d]);
		index[d] = beside(v, index[d], d == 1);
		weight[d] = beside(v, weight[d], d == 1);
	}
	int down = node_call2(v, OP_mul, index[0], node_number(v, I64, (double)(size[1] + 2)));
	int at = node_call2(v, OP_add, down, index[1]), each = node_call2(v, OP_mul, weight[0], weight[1]);
	if (t->mask != DAG_NONE)
		each = node_call2(v, OP_mul, each, t->mask);
	Shape four = { 4, { t->batch, t->groups, t->places * t->taps, 4 } };
	Attr attr[] = { attr_int("axis", 2), attr_int("batch", 2), attr_int("edge", 1) };
	int in[] = { x, node_reshape(v, at, four), node_reshape(v, each, four) };
	return node_call(v, OP_resample, in, 3, attr, 3);
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

/* Input 4 as the taps lie. */
static int mask_of(Visit *v, const Taps *t)
{
	int64_t turn[] = { 0, 1, 3, 2 };
	Shape by_tap = { 4, { t->batch, t->groups, t->taps, t->places } };
	Shape wide = { 6, { t->batch, t->groups, t->places, t->taps, 1, 1 } };
	return node_reshape(v, node_transpose(v, as_type(v, 4, t->type, by_tap), turn), wide);
}

static void import_deform_conv(Visit *v)
{
	Windows w;
	Taps t = { .offset = DAG_NONE, .mask = DAG_NONE };
	if (!read_taps(v, &w, &t))
		return;
	const Item *x = node_in(v, 0), *weights = node_in(v, 1);
	int64_t channels = x->shape.dim[1], filters = weights->shape.dim[0], groups = node_attr_int(v, "group", 1);
	int64_t part = channels / t.groups, own = channels / groups, made = filters / groups;
	t.offset = as_type(v, 2, t.type, (Shape){ 5, { t.batch, t.groups, t.taps, 2, t.places } });
	t.mask = node_in(v, 4) != NULL ? mask_of(v, &t) : DAG_NONE;
	int position[2] = { tap_positions(v, &w, &t, 0), tap_positions(v, &w, &t, 1) };

	int64_t ring[] = { 0, 0, 1, 1, 0, 0, 1, 1 }, last[] = { 0, 1, 3, 2 };
	int64_t joined[] = { 0, 2, 3, 1, 4 }, cut[] = { 0, 3, 1, 2, 4 }, turned[] = { 0, 3, 2, 1 };
	Attr pads = attr_ints("pads", ring, 8);
	int in = node_cast(v, node_value(v, 0), t.type), columns = node_call(v, OP_pad, &in, 1, &pads, 1);
	int64_t area = shape_product(&(Shape){ 2, { x->shape.dim[2] + 2, x->shape.dim[3] + 2 } }, 0, 2);
	columns = node_reshape(v, columns, (Shape){ 4, { t.batch, t.groups, part, area } });
	columns = interpolate(v, node_transpose(v, columns, last), &t, &x->shape.dim[2], position);
	columns = node_reshape(v, columns, (Shape){ 5, { t.batch, t.groups, t.places, t.taps, part } });
	columns = node_reshape(v, node_transpose(v, columns, joined), /* groups of offsets, then those of weights */
		(Shape){ 5, { t.batch, t.places, t.taps, groups, own } });
	columns = node_reshape(v, node_transpose(v, columns, cut),
		(Shape){ 4, { t.batch, groups, t.places, t.taps * own } });
	int matrix = as_type(v, 1, t.type, (Shape){ 4, { groups, made, own, t.taps } });
	matrix = node_reshape(v, node_transpose(v, matrix, turned),
		groups == 1 ? (Shape){ 2, { t.taps * own, made } } : (Shape){ 3, { groups, t.taps * own, made } });
	int y = node_call2(v, OP_matmul, columns, matrix);
	if (node_in(v, 3) != NULL)
		y = node_call2(v, OP_add, y, as_type(v, 3, t.type, (Shape){ 3, { groups, 1, made } }));
	y = node_reshape(v, node_transpose(v, y, last), (Shape){ 4, { t.batch, filters, t.out[0], t.out[1] } });
	node_set(v, 0, node_cast(v, y, x->type));
}

const NodeRow onnx_deform_rows[] = {
	{ "DeformConv", 19, "", import_deform_conv },
	{ NULL, 0, NULL, NULL },
};
