/* See deform_conv.h. */
#include "frontend/node/deform_conv.h"

#include "frontend/node/compose.h"
#include "op/element.h"

enum { MOST_TAPS = 1 << 24 }; /* whose coordinates are constants */

/* The coordinates of a call's taps. `tap` and `place` count taps of the kernel and elements of the result. */
typedef struct Taps {
	int64_t batch, groups, taps, places;
	int64_t out[2]; /* places = out[0] * out[1] */
	DType type;     /* computed in: f64, or f32 */
	bool clamped;
	int64_t size[2]; /* of the input */
	int offset;      /* type[batch, groups, taps, 2, places] */
	int mask;        /* type[batch, groups, places, taps, 1, 1]; DAG_NONE: there is none */
} Taps;

/* Coordinates along spatial dimension d: those of a convolution and the offsets, [batch, groups, places, taps]. */
static int tap_positions(Visit *v, const Windows *w, const Taps *t, int d)
{
	void *base = arena_alloc(v->im->arena, (size_t)dtype_bytes(t->type, t->taps * t->places + 1));
	for (int64_t p = 0; p < t->places; p++)
		for (int64_t k = 0; k < t->taps; k++) {
			int64_t tap = d == 0 ? k / w->kernel[1] : k % w->kernel[1], place = d == 0 ? p / t->out[1] : p % t->out[1];
			element_set(
				t->type, base, p * t->taps + k, (double)(place * w->stride[d] - w->pads[d] + tap * w->dilation[d]));
		}
	int64_t start[] = { 0, 0, 0, d, 0 }, step[] = { 1, 1, 1, 1, 1 }, turn[] = { 0, 1, 3, 2 };
	int64_t size[] = { t->batch, t->groups, t->taps, 1, t->places };
	Attr attr[] = { attr_ints("starts", start, 5), attr_ints("steps", step, 5), attr_ints("sizes", size, 5) };
	Shape by_tap = { 4, { t->batch, t->groups, t->taps, t->places } };
	int moved = node_transpose(v, node_reshape(v, node_call(v, OP_slice, &t->offset, 1, attr, 3), by_tap), turn);
	int at = node_call2(v, OP_add, moved, node_const(v, t->type, (Shape){ 2, { t->places, t->taps } }, base));
	if (!t->clamped)
		return at;
	int last = node_with_number(v, OP_minimum, at, (double)t->size[d] - 1);
	int end = node_number(v, t->type, (double)t->size[d]), before = node_number(v, t->type, -1);
	return node_where(v, node_call2(v, OP_less, at, node_number(v, t->type, 0)), before,
		node_where(v, node_call2(v, OP_less, at, end), last, end));
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

static void need_shape(Visit *v, int x, Shape want)
{
	char have[160], need[160];
	if (node_ok(v) && x != DAG_NONE && !shape_eq(node_val(v, x)->shape, want))
		node_fail(v, ERR_TYPE, "its input '%s' has the shape %s, but must have %s", node_val(v, x)->name,
			shape_str(node_val(v, x)->shape, have), shape_str(want, need));
}

/* Checks shapes; false after a refusal. */
static bool read_taps(Visit *v, const DeformConv *c, Taps *t)
{
	const Value *x = node_val(v, c->x);
	const Windows *w = &c->windows;
	Shape weights = node_val(v, c->w)->shape;
	if (node_ok(v) && (x->shape.rank != 4 || weights.rank != 4))
		node_fail(v, ERR_UNSUPPORTED, "its input and its weights must have 4 dimensions, but have %d and %d",
			x->shape.rank, weights.rank);
	if (node_ok(v) && !dtype_is_float(x->type))
		node_fail(v, ERR_TYPE, "its input must have a floating type");
	if (!node_ok(v))
		return false;
	int64_t channels = x->shape.dim[1], filters = weights.dim[0];
	if (c->groups < 1 || c->moved < 1 || channels % c->groups != 0 || filters % c->groups != 0 ||
		channels % c->moved != 0)
		node_fail(v, ERR_TYPE, "%lld input and %lld output channels cannot be cut into %lld groups, %lld of offsets",
			(long long)channels, (long long)filters, (long long)c->groups, (long long)c->moved);
	else if (weights.dim[1] != channels / c->groups)
		node_fail(v, ERR_TYPE, "its weights have %lld channels, but need %lld", (long long)weights.dim[1],
			(long long)(channels / c->groups));
	for (int d = 0; d < 2 && node_ok(v); d++) { /* products with dilations stay in 64 bits */
		if (w->kernel[d] > INT32_MAX)
			node_fail(v, ERR_TYPE, "its kernel has %lld elements in spatial dimension %d, which are too many",
				(long long)w->kernel[d], d);
		if (!node_ok(v))
			return false;
		int64_t room = x->shape.dim[2 + d] + w->pads[d] + w->pads[2 + d] - (w->kernel[d] - 1) * w->dilation[d] - 1;
		if (room < 0)
			node_fail(v, ERR_TYPE, "its kernel does not fit spatial dimension %d", d);
		t->out[d] = room / w->stride[d] + 1;
	}
	if (!node_ok(v))
		return false;
	t->batch = x->shape.dim[0];
	t->groups = c->moved;
	t->taps = shape_product(&weights, 2, 4);
	t->places = size_product(t->out[0], t->out[1]);
	t->type = x->type.bits == 64 ? F64 : F32;
	t->clamped = c->clamped;
	t->size[0] = x->shape.dim[2];
	t->size[1] = x->shape.dim[3];
	int64_t masks = size_product(t->groups, t->taps);
	int64_t offsets = size_product(masks, 2);
	need_shape(v, c->offset, (Shape){ 4, { t->batch, offsets, t->out[0], t->out[1] } });
	need_shape(v, c->b, (Shape){ 1, { filters } });
	need_shape(v, c->mask, (Shape){ 4, { t->batch, masks, t->out[0], t->out[1] } });
	int64_t all = size_product(t->taps, t->places);
	if (node_ok(v) && all > MOST_TAPS)
		node_fail(v, ERR_UNSUPPORTED, "its result has %lld places of %lld taps; dlc takes at most %d of both",
			(long long)t->places, (long long)t->taps, MOST_TAPS);
	return node_ok(v);
}

static int as_type(Visit *v, int x, DType type, Shape shape)
{
	return node_reshape(v, node_cast(v, x, type), shape);
}

/* The mask as the taps lie. */
static int mask_of(Visit *v, const Taps *t, int mask)
{
	int64_t turn[] = { 0, 1, 3, 2 };
	Shape by_tap = { 4, { t->batch, t->groups, t->taps, t->places } };
	Shape wide = { 6, { t->batch, t->groups, t->places, t->taps, 1, 1 } };
	return node_reshape(v, node_transpose(v, as_type(v, mask, t->type, by_tap), turn), wide);
}

int node_deform_conv(Visit *v, const DeformConv *c)
{
	Taps t = { .offset = DAG_NONE, .mask = DAG_NONE };
	if (!read_taps(v, c, &t))
		return DAG_NONE;
	Shape s = node_val(v, c->x)->shape;
	DType type = node_val(v, c->x)->type;
	int64_t channels = s.dim[1], filters = node_val(v, c->w)->shape.dim[0], groups = c->groups;
	int64_t part = channels / t.groups, own = channels / groups, made = filters / groups;
	t.offset = as_type(v, c->offset, t.type, (Shape){ 5, { t.batch, t.groups, t.taps, 2, t.places } });
	t.mask = c->mask != DAG_NONE ? mask_of(v, &t, c->mask) : DAG_NONE;
	int position[2] = { tap_positions(v, &c->windows, &t, 0), tap_positions(v, &c->windows, &t, 1) };

	int64_t ring[] = { 0, 0, 1, 1, 0, 0, 1, 1 }, last[] = { 0, 1, 3, 2 };
	int64_t joined[] = { 0, 2, 3, 1, 4 }, cut[] = { 0, 3, 1, 2, 4 }, turned[] = { 0, 3, 2, 1 };
	Attr pads = attr_ints("pads", ring, 8);
	int in = node_cast(v, c->x, t.type), columns = node_call(v, OP_pad, &in, 1, &pads, 1);
	int64_t area = size_product(s.dim[2] + 2, s.dim[3] + 2);
	columns = node_reshape(v, columns, (Shape){ 4, { t.batch, t.groups, part, area } });
	columns = interpolate(v, node_transpose(v, columns, last), &t, &s.dim[2], position);
	columns = node_reshape(v, columns, (Shape){ 5, { t.batch, t.groups, t.places, t.taps, part } });
	columns = node_reshape(v, node_transpose(v, columns, joined), /* groups of offsets, then those of weights */
		(Shape){ 5, { t.batch, t.places, t.taps, groups, own } });
	columns =
		node_reshape(v, node_transpose(v, columns, cut), (Shape){ 4, { t.batch, groups, t.places, t.taps * own } });
	int matrix = as_type(v, c->w, t.type, (Shape){ 4, { groups, made, own, t.taps } });
	matrix = node_reshape(v, node_transpose(v, matrix, turned),
		groups == 1 ? (Shape){ 2, { t.taps * own, made } } : (Shape){ 3, { groups, t.taps * own, made } });
	int y = node_call2(v, OP_matmul, columns, matrix);
	if (c->b != DAG_NONE)
		y = node_call2(v, OP_add, y, as_type(v, c->b, t.type, (Shape){ 3, { groups, 1, made } }));
	y = node_reshape(v, node_transpose(v, y, last), (Shape){ 4, { t.batch, filters, t.out[0], t.out[1] } });
	return node_cast(v, y, type);
}
