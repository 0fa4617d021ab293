/* Rows that cut parts off: slices, splits, crops, parts of sequences. */
#include "frontend/mxnet/rows.h"

#include <string.h>

/* A place of a slice: counted from the end if negative, moved to [lo, hi]. */
static int64_t clamp(int64_t x, int64_t n, int64_t lo, int64_t hi)
{
	x += x < 0 ? n : 0;
	return x < lo ? lo : x > hi ? hi : x;
}

static void import_slice(Visit *v)
{
	const Item *it = node_need(v, 0);
	MxnetList begin = mxnet_attr_list(v, "begin"), end = mxnet_attr_list(v, "end"), step = mxnet_attr_list(v, "step");
	int64_t start[DAG_MAX_RANK], steps[DAG_MAX_RANK], size[DAG_MAX_RANK];
	int rank = it->shape.rank;
	if (node_ok(v) && (begin.n < 0 || end.n != begin.n || begin.n > rank || step.n > begin.n))
		node_fail(v, ERR_INPUT, "its begin, end and step do not fit an input of %d dimensions", rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		int64_t n = it->shape.dim[k];
		steps[k] = k < step.n && !step.none[k] ? step.at[k] : 1;
		if (steps[k] == 0 || steps[k] > INT32_MAX || steps[k] < -INT32_MAX) {
			node_fail(v, ERR_INPUT, "its step is %lld", (long long)steps[k]);
			return;
		}
		bool back = steps[k] < 0, from = k < begin.n && !begin.none[k], to = k < end.n && !end.none[k];
		start[k] = from ? clamp(begin.at[k], n, 0, back ? n - 1 : n) : back ? n - 1 : 0;
		int64_t stop = to ? clamp(end.at[k], n, back ? -1 : 0, n) : back ? -1 : n;
		int64_t span = back ? start[k] - stop : stop - start[k], each = back ? -steps[k] : steps[k];
		size[k] = span > 0 ? (span + each - 1) / each : 0;
	}
	int x = node_value(v, 0);
	Attr attr[] = { attr_ints("starts", start, rank), attr_ints("steps", steps, rank), attr_ints("sizes", size, rank) };
	node_set(v, 0, node_call(v, OP_slice, &x, 1, attr, 3));
}

static void import_slice_axis(Visit *v)
{
	const Item *it = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 0), it->shape.rank);
	if (!node_ok(v))
		return;
	int64_t n = it->shape.dim[axis], from = clamp(node_attr_int(v, "begin", 0), n, 0, n);
	int64_t to = clamp(node_attr_int(v, "end", n), n, 0, n);
	if (node_ok(v) && to <= from)
		node_fail(v, ERR_INPUT, "its part from %lld to %lld is empty", (long long)from, (long long)to);
	if (node_ok(v))
		node_set(v, 0, node_slice(v, node_value(v, 0), axis, from, to - from));
}

static void import_slice_like(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1);
	int count;
	const int64_t *axes = node_attr_ints(v, "axes", &count);
	bool all = count <= 0;
	int x = node_value(v, 0);
	if (node_ok(v) && all && a->shape.rank != b->shape.rank)
		node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", a->shape.rank, b->shape.rank);
	for (int k = 0; k < (all ? a->shape.rank : count) && node_ok(v); k++) {
		int axis = all ? k : node_axis(v, axes[k], a->shape.rank);
		if (node_ok(v) && (axis >= b->shape.rank || b->shape.dim[axis] > a->shape.dim[axis]))
			node_fail(v, ERR_TYPE, "its second input is longer along axis %d", axis);
		if (node_ok(v))
			x = node_slice(v, x, axis, 0, b->shape.dim[axis]);
	}
	node_set(v, 0, x);
}

/* ---- splits */

/* Parts [from[k], from[k + 1]) of n along an axis; `squeeze` drops the axis, which is 1 then. */
static void set_parts(Visit *v, int axis, const int64_t *from, int n, bool squeeze)
{
	for (int k = 0; k < n && node_ok(v); k++) {
		if (k >= (int)v->node->nout)
			break;
		int y = node_slice(v, node_value(v, 0), axis, from[k], from[k + 1] - from[k]);
		Shape s = node_val(v, y)->shape;
		if (squeeze && node_ok(v) && s.dim[axis] != 1)
			node_fail(v, ERR_TYPE, "its parts are not 1 along axis %d, which is to be dropped", axis);
		if (squeeze && node_ok(v)) {
			memmove(&s.dim[axis], &s.dim[axis + 1], sizeof s.dim[0] * (size_t)(s.rank - axis - 1));
			s.rank--;
			y = node_reshape(v, y, s);
		}
		node_set(v, k, y);
	}
}

static int64_t *equal_parts(Visit *v, int64_t all, int64_t n)
{
	if (node_ok(v) && (n < 1 || n > all || all % n != 0))
		node_fail(v, ERR_TYPE, "it has %lld parts of %lld elements", (long long)n, (long long)all);
	if (!node_ok(v))
		return NULL;
	int64_t *from = arena_array(v->im->arena, int64_t, n + 2);
	for (int64_t k = 0; k <= n; k++)
		from[k] = all / n * k;
	return from;
}

static void import_slice_channel(Visit *v)
{
	const Item *it = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 1), it->shape.rank);
	int64_t n = node_attr_int(v, "num_outputs", 0);
	bool squeeze = node_attr_flag(v, "squeeze_axis", false);
	const int64_t *from = equal_parts(v, it->shape.dim[axis], n);
	if (node_ok(v))
		set_parts(v, axis, from, (int)n, squeeze);
}

/* Into equal sections, or before the given places, of which the first one is 0 in MXNet's own family. */
static void import_split(Visit *v)
{
	const Item *it = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", strncmp(v->node->op, "_npi_", 5) == 0 ? 0 : 1), it->shape.rank),
		count;
	int64_t sections = node_attr_int(v, "sections", 0), all = it->shape.dim[axis];
	const int64_t *places = node_attr_ints(v, "indices", &count);
	bool squeeze = node_attr_flag(v, "squeeze_axis", false);
	if (!node_ok(v))
		return;
	int64_t *from = sections > 0 ? equal_parts(v, all, sections) : arena_array(v->im->arena, int64_t, count + 3), n = 0;
	for (int k = 0; sections <= 0 && k < count && node_ok(v); k++) {
		if (k == 0 && places[0] != 0)
			from[n++] = 0;
		if (places[k] < (n > 0 ? from[n - 1] : 0) || places[k] > all)
			node_fail(v, ERR_INPUT, "its indices are not in order, or beyond %lld", (long long)all);
		from[n++] = places[k];
	}
	if (node_ok(v) && sections <= 0)
		from[n] = all;
	if (node_ok(v))
		set_parts(v, axis, from, (int)(sections > 0 ? sections : n), squeeze);
}

/* ---- crops of images */

static void import_crop(Visit *v)
{
	const Item *it = node_need(v, 0);
	int count, nsize;
	const int64_t *offset = node_attr_ints(v, "offset", &count), *size = node_attr_ints(v, "h_w", &nsize);
	bool like = node_nin(v) > 1, centre = node_attr_flag(v, "center_crop", false);
	node_attr_int(v, "num_args", 1);
	const Item *as = like ? node_need(v, 1) : it;
	if (node_ok(v) &&
		(it->shape.rank != 4 || as->shape.rank != 4 || (!like && nsize != 2) || (count > 0 && count != 2)))
		node_fail(v, ERR_TYPE, "its input must have 4 dimensions, and its offset and h_w two numbers");
	int x = node_value(v, 0);
	for (int k = 0; k < 2 && node_ok(v); k++) {
		int64_t n = it->shape.dim[2 + k], to = like ? as->shape.dim[2 + k] : size[k];
		int64_t from = centre ? (n - to) / 2 : count > 0 ? offset[k] : 0;
		if (to < 1 || from < 0 || to > n || from > n - to)
			node_fail(v, ERR_INPUT, "%lld elements from %lld on are not inside of %lld", (long long)to, (long long)from,
				(long long)n);
		else
			x = node_slice(v, x, 2 + k, from, to);
	}
	node_set(v, 0, x);
}

/* ---- sequences: axis 0 or 1 are steps, the other one the batch */

typedef struct Sequence {
	int axis; /* of the steps */
	int64_t steps;
	int length; /* of each element of the batch, i64[batch]; DAG_NONE: all are whole */
	const Item *x;
} Sequence;

static Sequence read_sequence(Visit *v)
{
	Sequence s = { .x = node_need(v, 0), .length = DAG_NONE };
	int64_t axis = node_attr_int(v, "axis", 0);
	bool uses = node_attr_flag(v, "use_sequence_length", false);
	if (node_ok(v) && (axis < 0 || axis > 1 || s.x->shape.rank < 2))
		node_fail(v, ERR_TYPE, "its axis is %lld, and its input has %d dimensions", (long long)axis, s.x->shape.rank);
	if (!node_ok(v))
		return s;
	s.axis = (int)axis;
	s.steps = s.x->shape.dim[axis];
	if (!uses)
		return s;
	const Item *length = node_need(v, 1);
	if (node_ok(v) && (length->shape.rank != 1 || length->shape.dim[0] != s.x->shape.dim[1 - axis]))
		node_fail(v, ERR_TYPE, "its lengths must be a list of one for each element of the batch");
	s.length = node_cast(v, node_value(v, 1), I64);
	return s;
}

/* A list of the batch or of the steps as it meets the first two dimensions of x. */
static int beside(Visit *v, const Sequence *s, int list, bool steps, int rank)
{
	Shape to = { .rank = rank };
	for (int k = 0; k < rank; k++)
		to.dim[k] = 1;
	to.dim[steps ? s->axis : 1 - s->axis] = shape_elements(node_val(v, list)->shape);
	return node_reshape(v, list, to);
}

static void import_sequence_mask(Visit *v)
{
	Sequence s = read_sequence(v);
	double value = node_attr_float(v, "value", 0);
	if (!node_ok(v))
		return;
	int rank = s.x->shape.rank, x = node_value(v, 0);
	if (s.length == DAG_NONE) {
		node_set_alias(v, 0, s.x);
		return;
	}
	int inside = node_call2(v, OP_less, node_count(v, s.steps, s.axis, rank), beside(v, &s, s.length, false, rank));
	node_set(v, 0, node_where(v, inside, x, node_number(v, s.x->type, value)));
}

/* x[place[b], b] of a list of places for each step, or of one for all. */
static int at_places(Visit *v, const Sequence *s, int x, int place)
{
	Shape all = node_val(v, place)->shape, shape = s->x->shape;
	Attr attr = attr_int("axis", s->axis);
	all.rank = shape.rank;
	for (int k = 2; k < shape.rank; k++)
		all.dim[k] = 1;
	place = node_reshape(v, place, all);
	for (int k = 2; k < shape.rank; k++)
		all.dim[k] = shape.dim[k];
	int in[] = { x, node_expand(v, place, all) };
	return node_call(v, OP_gather_elements, in, 2, &attr, 1);
}

static void import_sequence_last(Visit *v)
{
	Sequence s = read_sequence(v);
	if (!node_ok(v))
		return;
	Shape out = s.x->shape;
	int y;
	if (s.length == DAG_NONE) {
		y = node_slice(v, node_value(v, 0), s.axis, s.steps - 1, 1);
	} else {
		int last = node_with_number(v, OP_sub, s.length, 1);
		y = at_places(v, &s, node_value(v, 0), beside(v, &s, last, false, 2));
	}
	memmove(&out.dim[s.axis], &out.dim[s.axis + 1], sizeof out.dim[0] * (size_t)(out.rank - s.axis - 1));
	out.rank--;
	node_set(v, 0, node_reshape(v, y, out));
}

static void import_sequence_reverse(Visit *v)
{
	Sequence s = read_sequence(v);
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK];
	if (!node_ok(v))
		return;
	int rank = s.x->shape.rank, x = node_value(v, 0);
	for (int k = 0; k < rank; k++)
		step[k] = k == s.axis ? -1 : 1;
	start[s.axis] = s.steps - 1;
	if (s.length == DAG_NONE) {
		Attr attr[] = { attr_ints("starts", start, rank), attr_ints("steps", step, rank),
			attr_ints("sizes", s.x->shape.dim, rank) };
		node_set(v, 0, node_call(v, OP_slice, &x, 1, attr, 3));
		return;
	}
	int t = node_count(v, s.steps, s.axis, 2), length = beside(v, &s, s.length, false, 2);
	int back = node_call2(v, OP_sub, node_with_number(v, OP_sub, length, 1), t);
	int place = node_where(v, node_call2(v, OP_less, t, length), back, t);
	node_set(v, 0, at_places(v, &s, x, place));
}

const NodeRow mxnet_slice_rows[] = {
	{ "slice", 0, "", import_slice },
	{ "slice_axis", 0, "", import_slice_axis },
	{ "slice_like", 0, "", import_slice_like },
	{ "SliceChannel", 0, "", import_slice_channel },
	{ "_split_v2", 0, "", import_split },
	{ "_npi_split", 0, "", import_split },
	{ "Crop", 0, "", import_crop },
	{ "SequenceMask", 0, "", import_sequence_mask },
	{ "SequenceLast", 0, "", import_sequence_last },
	{ "SequenceReverse", 0, "", import_sequence_reverse },
	{ NULL, 0, NULL, NULL },
};
