/* Calls on boxes; boxes.h says what each is. A matrix says which boxes hide which, and suppress walks through it. */
#include "frontend/node/boxes.h"

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
