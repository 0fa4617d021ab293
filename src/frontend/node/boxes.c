/* Calls on boxes; boxes.h says what each is. A matrix says which boxes hide which, and suppress walks through it. */
#include "frontend/node/boxes.h"

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"

int node_column(Visit *v, int x, int64_t k)
{
	return node_slice(v, x, node_val(v, x)->shape.rank - 1, k, 1);
}

Corners node_corners(Visit *v, int boxes, bool centre)
{
	Corners c;
	for (int k = 0; k < 4; k++)
		c.at[k] = node_column(v, boxes, k);
	for (int k = 0; k < 2 && centre; k++) {
		int middle = c.at[k], half = node_with_number(v, OP_mul, c.at[2 + k], 0.5);
		c.at[k] = node_call2(v, OP_sub, middle, half);
		c.at[2 + k] = node_call2(v, OP_add, middle, half);
	}
	return c;
}

/* [batch, n, 1] -> [batch, 1, n] */
static int turned(Visit *v, int x)
{
	const int64_t *d = node_val(v, x)->shape.dim;
	return node_view(v, x, 3, (int64_t[]){ d[0], 1, d[1] });
}

static int length(Visit *v, int from, int to)
{
	return node_with_number(v, OP_maximum, node_call2(v, OP_sub, to, from), 0);
}

int node_overlap(Visit *v, const Corners *a, const Corners *b)
{
	int common = DAG_NONE, area_a = DAG_NONE, area_b = DAG_NONE;
	for (int k = 0; k < 2; k++) {
		int other_from = turned(v, b->at[k]), other_to = turned(v, b->at[2 + k]);
		int from = node_call2(v, OP_maximum, a->at[k], other_from);
		int to = node_call2(v, OP_minimum, a->at[2 + k], other_to), line = length(v, from, to);
		int side_a = length(v, a->at[k], a->at[2 + k]), side_b = length(v, other_from, other_to);
		common = k == 0 ? line : node_call2(v, OP_mul, common, line);
		area_a = k == 0 ? side_a : node_call2(v, OP_mul, area_a, side_a);
		area_b = k == 0 ? side_b : node_call2(v, OP_mul, area_b, side_b);
	}
	int all = node_call2(v, OP_sub, node_call2(v, OP_add, area_a, area_b), common);
	int none = node_with_number(v, OP_less_equal, all, 0);
	int y = node_call2(v, OP_div, common, node_where(v, none, node_number(v, F32, 1), all));
	return node_where(v, none, node_number(v, F32, 0), y);
}

int node_reorder(Visit *v, int x, int places)
{
	Attr attr[] = { attr_int("axis", 1), attr_int("batch", 1) };
	int in[] = { x, places };
	return node_call(v, OP_gather, in, 2, attr, 2);
}

int node_order_of(Visit *v, int keys, int64_t k)
{
	Attr attr[] = { attr_int("axis", 1), attr_int("k", k) };
	return node_result(v, node_call(v, OP_top_k, &keys, 1, attr, 2), 1);
}

int node_suppress(Visit *v, const Suppression *s, const Corners *boxes)
{
	int limit = node_number(v, F32, s->limit), share = node_overlap(v, boxes, boxes);
	int hides = node_call2(v, s->least ? OP_less_equal : OP_less, limit, share);
	if (!s->all && s->id != DAG_NONE)
		hides = node_call2(v, OP_bit_and, hides, node_call2(v, OP_equal, s->id, turned(v, s->id)));
	hides = node_call2(v, OP_bit_and, hides, s->valid);
	int stay = node_call1(v, OP_suppress, hides);
	const int64_t *d = node_val(v, stay)->shape.dim;
	stay = node_view(v, stay, 3, (int64_t[]){ d[0], d[1], 1 });
	return node_call2(v, OP_bit_and, stay, s->valid);
}

/* ---- boxes that are chosen */

int node_pad_to(Visit *v, int x, int axis, int64_t size)
{
	const Shape *s = &node_val(v, x)->shape;
	int64_t pads[2 * DAG_MAX_RANK] = { 0 };
	if (!node_ok(v) || s->dim[axis] >= size)
		return x;
	pads[s->rank + axis] = size - s->dim[axis];
	Attr attr = attr_ints("pads", pads, 2 * s->rank);
	return node_call(v, OP_pad, &x, 1, &attr, 1);
}

/* Both axes from the lesser to the greater. */
static Corners ordered_corners(Visit *v, int boxes)
{
	Corners c = node_corners(v, boxes, false), out;
	for (int k = 0; k < 2; k++) {
		out.at[k] = node_call2(v, OP_minimum, c.at[k], c.at[2 + k]);
		out.at[2 + k] = node_call2(v, OP_maximum, c.at[k], c.at[2 + k]);
	}
	return out;
}

/* The k largest along axis 1. */
static int largest(Visit *v, int x, int64_t k)
{
	Attr attr[] = { attr_int("axis", 1), attr_int("k", k) };
	return node_call(v, OP_top_k, &x, 1, attr, 2);
}

static int zero_unless(Visit *v, int given, int x)
{
	return node_where(v, given, x, node_number(v, node_val(v, x)->type, 0));
}

/* Those that stay come first: their keys are n, n - 1 .. 1, those of the others 0. */
Picked node_pick(Visit *v, int boxes, int scores, const Pick *p)
{
	const Picked none = { DAG_NONE, DAG_NONE, DAG_NONE, 0 };
	if (!node_ok(v))
		return none;
	const Shape s = node_val(v, scores)->shape;
	int64_t batch = s.dim[0], n = s.dim[1], k = p->most < n ? p->most : n;
	if (n > NODE_BOXES || batch > NODE_PAIRS / n / n || p->most < 1 || p->most > NODE_BOXES)
		node_fail(v, ERR_UNSUPPORTED,
			"it chooses %lld of %lld boxes, for %lld classes of a batch; %d boxes and %d pairs of them are the most",
			(long long)p->most, (long long)n, (long long)batch, NODE_BOXES, NODE_PAIRS);
	if (!node_ok(v))
		return none;
	int sorted = largest(v, scores, n), order = node_result(v, sorted, 1);
	boxes = node_reorder(v, node_expand(v, boxes, shape_of(3, (int64_t[]){ batch, n, 4 })), order);
	Corners c = ordered_corners(v, boxes);
	int valid = node_call2(v, p->above ? OP_less : OP_less_equal, node_number(v, F32, p->score),
		node_view(v, sorted, 3, (int64_t[]){ batch, n, 1 }));
	if (p->first) {
		int place = node_count(v, n, 1, 3), zero = node_number(v, I64, 0);
		valid = node_call2(v, OP_bit_or, valid, node_call2(v, OP_equal, place, zero));
	}
	Suppression hidden = { .limit = p->limit, .least = p->least, .all = !p->apart, .id = DAG_NONE, .valid = valid };
	if (p->apart)
		hidden.id = node_view(v, node_reorder(v, p->id, order), 3, (int64_t[]){ batch, n, 1 });
	int stay = node_view(v, node_suppress(v, &hidden, &c), 2, (int64_t[]){ batch, n });
	int key = node_call2(v, OP_sub, node_number(v, I64, (double)n), node_count(v, n, 1, 2));
	int kept = largest(v, node_cast(v, zero_unless(v, stay, key), F32), k), at = node_result(v, kept, 1);
	Picked out = { .k = k, .given = node_call2(v, OP_less, node_number(v, F32, 0), kept) };
	out.at = zero_unless(v, out.given, node_reorder(v, order, at));
	out.score = zero_unless(v, out.given, node_reorder(v, sorted, at));
	return out;
}

Detected node_pick_classes(Visit *v, int boxes, int scores, const Pick *p, int64_t classes, int64_t total)
{
	Detected out = { DAG_NONE, DAG_NONE, DAG_NONE, DAG_NONE };
	Picked each = node_pick(v, boxes, scores, p);
	if (!node_ok(v))
		return out;
	int64_t batch = node_val(v, scores)->shape.dim[0] / classes, n = classes * each.k, k = total < n ? total : n;
	int64_t flat[] = { batch, n }, rows[] = { batch, n, 4 }, column[] = { batch, k, 1 }, one = 1;
	boxes = node_view(v, node_reorder(v, boxes, each.at), 3, rows);
	int given = node_view(v, each.given, 2, flat), lowest = node_number(v, F32, -3e38);
	int best = largest(v, node_where(v, given, node_view(v, each.score, 2, flat), lowest), k);
	int at = node_result(v, best, 1);
	given = node_call2(v, OP_less, lowest, best);
	int class = node_call2(v, OP_div, at, node_number(v, I64, (double)each.k));
	out.boxes = zero_unless(v, node_view(v, given, 3, column), node_reorder(v, boxes, at));
	out.boxes = node_pad_to(v, out.boxes, 1, total);
	out.scores = node_pad_to(v, zero_unless(v, given, best), 1, total);
	out.classes = node_pad_to(v, zero_unless(v, given, node_cast(v, class, F32)), 1, total);
	out.count = node_reduce(v, OP_reduce_sum, node_cast(v, given, I32), &one, 1, false);
	return out;
}
