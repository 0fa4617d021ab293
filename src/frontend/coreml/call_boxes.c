/* A non-maximum suppression of boxes; image.h says what it is. */
#include "frontend/coreml/image.h"

#include "frontend/node/boxes.h"
#include "frontend/node/channels.h"
#include "frontend/node/compose.h"

/* The chosen rows of x [B,N,C], and zeros up to `most`. */
static int chosen(Visit *v, int x, const Picked *p, int64_t most)
{
	const int64_t *d = node_val(v, x)->shape.dim;
	int given = node_view(v, p->given, 3, (int64_t[]){ d[0], p->k, 1 });
	int y = node_where(v, given, node_reorder(v, x, p->at), node_number(v, node_val(v, x)->type, 0));
	return node_pad_to(v, y, 1, most);
}

void coreml_suppress(Visit *v, int boxes, int scores, const CoremlSuppression *s, int *out)
{
	static const int64_t one = 1, last = 2;
	Shape b = node_val(v, boxes)->shape, c = node_val(v, scores)->shape;
	for (int k = 0; k < 4; k++)
		out[k] = DAG_NONE;
	if (node_ok(v) && (b.rank != 3 || c.rank != 3 || b.dim[2] != 4 || b.dim[0] != c.dim[0] || b.dim[1] != c.dim[1] ||
						  b.dim[1] < 1 || c.dim[2] < 1))
		node_fail(v, ERR_TYPE, "its boxes and its scores do not fit each other");
	if (!node_ok(v))
		return;
	int wide = node_cast(v, scores, F32), best = node_reduce(v, OP_reduce_max, wide, &last, 1, false);
	Attr attr[] = { attr_int("axis", 2), attr_int("keep", 0) };
	Corners to = node_corners(v, node_cast(v, boxes, F32), true);
	Pick pick = { .limit = s->limit, .score = s->score, .most = s->most, .first = true, .apart = s->by_class };
	if (s->by_class)
		pick.id = node_call(v, OP_arg_max, &wide, 1, attr, 2);
	Picked p = node_pick(v, node_concat(v, to.at, 4, 2), best, &pick);
	if (!node_ok(v))
		return;
	out[0] = chosen(v, boxes, &p, s->most);
	out[1] = chosen(v, scores, &p, s->most);
	int given = node_cast(v, p.given, I32), after = node_with_number(v, OP_add, node_cast(v, p.at, I32), 1);
	after = node_pad_to(v, node_call2(v, OP_mul, after, given), 1, s->most); /* 0 is none */
	out[2] = node_with_number(v, OP_sub, after, 1);
	out[3] = node_reduce(v, OP_reduce_sum, given, &one, 1, false);
}
