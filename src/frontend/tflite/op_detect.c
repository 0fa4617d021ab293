/*
 * Rows of detectors. Boxes are ordered by their scores, a matrix says which ones hide which, and the Dag's suppress
 * walks through it. Results have a place for each box that may be chosen; those that are not hold zeros.
 */
#include "frontend/tflite/rows.h"

#include "op/element.h"

enum { MOST_BOXES = 1 << 12 }; /* their pairs are a matrix */

/* A number of input k, which is known. */
static double number_of(Visit *v, int k)
{
	const Item *it = node_known(v, k);
	if (node_ok(v) && shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its input %d is not one number", k + 1);
	return node_ok(v) ? element_get(it->type, it->data, 0) : 0;
}

/* Corner k of boxes [n,4], the lesser or the greater of both of its axis, as a column or a row. */
static int corner(Visit *v, int boxes, int axis, bool greater, bool row)
{
	int64_t n = node_val(v, boxes)->shape.dim[0], dim[] = { row ? 1 : n, row ? n : 1 };
	int a = node_slice(v, boxes, 1, axis, 1), b = node_slice(v, boxes, 1, axis + 2, 1);
	return node_view(v, node_call2(v, greater ? OP_maximum : OP_minimum, a, b), 2, dim);
}

/* Whether two boxes overlap by at least a part of their union. */
static int hides(Visit *v, int boxes, double part)
{
	int cut = DAG_NONE, area[2] = { DAG_NONE, DAG_NONE };
	for (int axis = 0; axis < 2; axis++) {
		int low[2], high[2];
		for (int k = 0; k < 2; k++) {
			low[k] = corner(v, boxes, axis, false, k == 1);
			high[k] = corner(v, boxes, axis, true, k == 1);
			int side = node_call2(v, OP_sub, high[k], low[k]);
			area[k] = axis == 0 ? side : node_call2(v, OP_mul, area[k], side);
		}
		int common = node_call2(
			v, OP_sub, node_call2(v, OP_minimum, high[0], high[1]), node_call2(v, OP_maximum, low[0], low[1]));
		common = node_with_number(v, OP_maximum, common, 0);
		cut = axis == 0 ? common : node_call2(v, OP_mul, cut, common);
	}
	int all = node_call2(v, OP_sub, node_call2(v, OP_add, area[0], area[1]), cut);
	int enough = node_call2(v, OP_less_equal, node_with_number(v, OP_mul, all, part), cut);
	return node_call2(v, OP_bit_and, enough, node_call2(v, OP_less, node_number(v, F32, 0), all));
}

/* Inputs: boxes, scores, the most that are chosen, the overlap that hides, the least score, and of V5 a sigma. */
static void import_suppression(Visit *v)
{
	bool soft = node_nin(v) > 5;
	int boxes = tflite_value(v, 0), scores = tflite_value(v, 1);
	double most = number_of(v, 2), part = number_of(v, 3), least = number_of(v, 4);
	Shape s = node_val(v, boxes)->shape, t = node_val(v, scores)->shape;
	if (node_ok(v) && soft && number_of(v, 5) != 0)
		node_fail(v, ERR_UNSUPPORTED, "its sigma is not 0: scores that fade are not supported");
	if (node_ok(v) && (s.rank != 2 || s.dim[1] != 4 || t.rank != 1 || t.dim[0] != s.dim[0] || s.dim[0] < 1))
		node_fail(v, ERR_TYPE, "its boxes must be four numbers each, with one score");
	if (node_ok(v) && (s.dim[0] > MOST_BOXES || !(most >= 1 && most <= MOST_BOXES)))
		node_fail(v, ERR_UNSUPPORTED, "it chooses %g of %lld boxes, but %d are the most", most, (long long)s.dim[0],
			MOST_BOXES);
	if (!node_ok(v))
		return;
	int64_t n = s.dim[0], out = (int64_t)most, k = out < n ? out : n;
	Attr all[] = { attr_int("axis", 0), attr_int("k", n) }, some[] = { attr_int("axis", 0), attr_int("k", k) };
	Attr axis = attr_int("axis", 0);
	int sorted = node_call(v, OP_top_k, &scores, 1, all, 2), order = node_result(v, sorted, 1), in[] = { boxes, order };
	int stay = node_call1(v, OP_suppress, hides(v, node_call(v, OP_gather, in, 2, &axis, 1), part));
	stay = node_call2(v, OP_bit_and, stay, node_call2(v, OP_less, node_number(v, F32, least), sorted));
	/* those that stay, in order: the keys n, n - 1 .. 1 of them, and 0 of the others */
	int key = node_call2(v, OP_sub, node_number(v, I64, (double)n), node_count(v, n, 0, 1));
	key = node_cast(v, node_where(v, stay, key, node_number(v, I64, 0)), F32);
	int kept = node_call(v, OP_top_k, &key, 1, some, 2), at = node_result(v, kept, 1);
	int given = node_call2(v, OP_less, node_number(v, F32, 0), kept);
	int pick[] = { order, at }, score[] = { sorted, at };
	int index = node_cast(v, node_call(v, OP_gather, pick, 2, &axis, 1), I32);
	index = node_where(v, given, index, node_number(v, I32, 0));
	int chosen = node_where(v, given, node_call(v, OP_gather, score, 2, &axis, 1), node_number(v, F32, 0));
	int64_t zero = 0;
	int count = node_reduce(v, OP_reduce_sum, node_cast(v, given, I32), &zero, 1, false);
	int64_t pads[] = { 0, out - k };
	Attr pad = attr_ints("pads", pads, 2);
	node_set(v, 0, k < out ? node_call(v, OP_pad, &index, 1, &pad, 1) : index);
	if (soft)
		node_set(v, 1, k < out ? node_call(v, OP_pad, &chosen, 1, &pad, 1) : chosen);
	node_set(v, soft ? 2 : 1, count);
}

const NodeRow tflite_detect_rows[] = {
	{ "NON_MAX_SUPPRESSION_V4", 0, "", import_suppression },
	{ "NON_MAX_SUPPRESSION_V5", 0, "", import_suppression },
	{ NULL, 0, NULL, NULL },
};
