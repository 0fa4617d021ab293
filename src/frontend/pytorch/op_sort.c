/* Rows that sort, or choose by rank. */
#include "frontend/node/channels.h"
#include "frontend/pytorch/aten.h"

#include <math.h>
#include <string.h>

/* Values and places of the k first along an axis. */
static int top(Aten *n, int x, int axis, int64_t k, bool largest)
{
	Attr attr[] = { attr_int("axis", axis), attr_int("k", k), attr_int("largest", largest) };
	return node_call(n->v, OP_top_k, &x, 1, attr, 3);
}

static void give(Aten *n, int x, Shape s, int axis, int64_t k, bool largest)
{
	if (s.rank == 0) {
		int64_t zero = 0;
		aten_give_values(n, (int[]){ x, node_const(n->v, I64, s, arena_copy(n->v->im->arena, &zero, sizeof zero)) }, 2);
		return;
	}
	int y = top(n, x, axis, k, largest);
	aten_give_values(n, (int[]){ y, node_result(n->v, y, 1) }, 2);
}

static void import_topk(Aten *n)
{
	int x = aten_value(n, "self");
	Shape s = node_val(n->v, x)->shape;
	aten_flag(n, "sorted");
	give(n, x, s, aten_axis(n, "dim", s.rank), aten_int(n, "k"), aten_flag(n, "largest"));
}

static void import_sort(Aten *n)
{
	int x = aten_value(n, "self");
	Shape s = node_val(n->v, x)->shape;
	int axis = aten_axis(n, "dim", s.rank);
	aten_flag(n, "stable");
	give(n, x, s, axis, s.dim[axis], aten_flag(n, "descending"));
	if (n->row->op != 0 && node_ok(n->v))
		aten_give(n, n->result.list->at[1]);
}

/* The k-th smallest; the median is the lower one of the middle. */
static void import_kth(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self");
	Shape s = node_val(v, x)->shape;
	bool all = n->row->op == 2, keep = !all && aten_flag(n, "keepdim");
	int64_t whole = shape_product(&s, 0, s.rank);
	if (all) {
		x = node_view(v, x, 1, &whole);
		s = shape_of(1, &whole);
	}
	int axis = all ? 0 : aten_axis(n, "dim", s.rank);
	int64_t k = n->row->op == 0 ? aten_int(n, "k") : (s.dim[axis] + 1) / 2;
	if (node_ok(v) && (s.rank == 0 || k < 1 || k > s.dim[axis]))
		node_fail(v, ERR_INPUT, "it wants element %lld of %lld", (long long)k, (long long)s.dim[axis]);
	if (!node_ok(v))
		return;
	int y = top(n, x, axis, k, false), both[] = { y, node_result(v, y, 1) };
	for (int i = 0; i < 2 && node_ok(v); i++) {
		both[i] = node_slice(v, both[i], axis, k - 1, 1);
		Shape t = node_val(v, both[i])->shape, less = { .rank = 0 };
		for (int d = 0; d < t.rank; d++)
			if (d != axis)
				less.dim[less.rank++] = t.dim[d];
		both[i] = keep ? both[i] : node_reshape(v, both[i], less);
	}
	if (all)
		aten_set(n, both[0]);
	else
		aten_give_values(n, both, 2);
}

/* How many boundaries, which are sorted, lie below each value. */
static void import_bucketize(Aten *n)
{
	Visit *v = n->v;
	bool search = n->row->op != 0, right = aten_flag(n, "right") || strcmp(aten_text(n, "side"), "right") == 0,
		 narrow = aten_flag(n, "out_int32");
	TorchValue value = aten_any(n, "self");
	int edges = aten_value(n, search ? "sorted_sequence" : "boundaries");
	DType t = node_val(v, edges)->type;
	int x = aten_as(n, value, t);
	Shape s = node_val(v, x)->shape, e = node_val(v, edges)->shape;
	if (node_ok(v) && (e.rank != 1 || s.rank == DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "its boundaries need 1 dimension");
	if (!node_ok(v))
		return;
	s.dim[s.rank++] = 1;
	x = node_reshape(v, x, s);
	int below = right ? node_call2(v, OP_less_equal, edges, x) : node_call2(v, OP_less, edges, x);
	int64_t last = s.rank - 1;
	Attr over[] = { attr_ints("axes", &last, 1), attr_int("keep", 0) };
	int y = node_cast(v, below, I64);
	aten_set(n, node_cast(v, node_call(v, OP_reduce_sum, &y, 1, over, 2), narrow ? I32 : I64));
}

/* The least or the largest of all elements. */
static int extreme(Aten *n, int op, int x)
{
	int64_t zero = 0;
	return node_reduce(n->v, op, x, &zero, 1, false);
}

/*
 * How many elements lie in each of `bins` equal parts of min .. max, the last of which holds max, too; others are not
 * counted. Without a range it is that of the elements, with one element it reaches 1 to both sides.
 */
static void import_histc(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self");
	int64_t bins = aten_int(n, "bins");
	double least = aten_float(n, "min"), most = aten_float(n, "max");
	DType t = node_val(v, x)->type;
	Shape s = node_val(v, x)->shape;
	int64_t flat = shape_product(&s, 0, s.rank), column[] = { flat, 1 }, first = 0;
	if (node_ok(v) && (t.kind != DT_FLOAT || bins < 1 || flat < 1 || bins > NODE_COUNTED / flat))
		node_fail(v, ERR_UNSUPPORTED,
			"it counts %lld elements in %lld bins; it takes floats, and %d pairs of both at most", (long long)flat,
			(long long)bins, NODE_COUNTED);
	if (node_ok(v) && !(least <= most && isfinite(least) && isfinite(most)))
		node_fail(v, ERR_INPUT, "its range is %g to %g", least, most);
	if (!node_ok(v))
		return;
	x = node_view(v, x, 1, &flat);
	int low, high;
	if (least < most) {
		low = node_number(v, t, least);
		high = node_number(v, t, most);
	} else {
		low = extreme(n, OP_reduce_min, x);
		high = extreme(n, OP_reduce_max, x);
		int one = node_where(v, node_call2(v, OP_equal, low, high), node_number(v, t, 1), node_number(v, t, 0));
		low = node_call2(v, OP_sub, low, one);
		high = node_call2(v, OP_add, high, one);
	}
	int in = node_call2(v, OP_bit_and, node_call2(v, OP_less_equal, low, x), node_call2(v, OP_less_equal, x, high));
	int from = node_with_number(v, OP_mul, node_call2(v, OP_sub, x, low), (double)bins);
	int at = node_call1(v, OP_floor, node_call2(v, OP_div, from, node_call2(v, OP_sub, high, low)));
	at = node_with_number(v, OP_minimum, at, (double)(bins - 1));
	at = node_where(v, in, at, node_number(v, t, -1));
	int here = node_call2(v, OP_equal, node_cast(v, node_view(v, at, 2, column), I64), node_count(v, bins, 1, 2));
	aten_set(n, node_cast(v, node_reduce(v, OP_reduce_sum, node_cast(v, here, I64), &first, 1, false), t));
}

const AtenRow torch_sort_rows[] = {
	{ "topk", "self:T k:i dim:i=-1 largest:b=True sorted:b=True", import_topk, 0 },
	{ "sort", "self:T dim:i=-1 descending:b=False", import_sort, 0 },
	{ "sort.stable", "self:T stable:b? dim:i=-1 descending:b=False", import_sort, 0 },
	{ "argsort", "self:T dim:i=-1 descending:b=False", import_sort, 1 },
	{ "argsort.stable", "self:T stable:b? dim:i=-1 descending:b=False", import_sort, 1 },
	{ "kthvalue", "self:T k:i dim:i=-1 keepdim:b=False", import_kth, 0 },
	{ "median.dim", "self:T dim:i keepdim:b=False", import_kth, 1 },
	{ "median", "self:T", import_kth, 2 },
	{ "bucketize", "self:* boundaries:T out_int32:b=False right:b=False", import_bucketize, 0 },
	{ "searchsorted", "sorted_sequence:T self:* out_int32:b=False right:b=False side:s? sorter:T?", import_bucketize,
		1 },
	{ "histc", "self:T bins:i=100 min:n=0 max:n=0", import_histc, 0 },
	{ NULL, NULL, NULL, 0 },
};
