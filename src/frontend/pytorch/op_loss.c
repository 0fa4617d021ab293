/* Rows of losses: models that were exported with theirs. */
#include "frontend/pytorch/aten.h"

#include "frontend/node/activate.h"

#include <math.h>

/* `reduction`: 0 as it is, 1 the mean, 2 the sum of all. */
static void give_reduced(Aten *n, int x)
{
	int64_t how = aten_int(n, "reduction");
	Attr attr = attr_int("keep", 0);
	aten_set(n, how == 0 ? x : node_call(n->v, how == 1 ? OP_reduce_mean : OP_reduce_sum, &x, 1, &attr, 1));
}

enum { SQUARE, ABSOLUTE, SMOOTH, HUBER };

static void import_distance(Aten *n)
{
	Visit *v = n->v;
	int gap = node_call2(v, OP_sub, aten_value(n, "self"), aten_value(n, "target")), size = node_call1(v, OP_abs, gap);
	double d = n->row->op == SMOOTH ? aten_float(n, "beta") : n->row->op == HUBER ? aten_float(n, "delta") : 1;
	int square = node_call2(v, OP_mul, gap, gap), y = n->row->op == SQUARE ? square : size;
	if (n->row->op >= SMOOTH && d > 0) {
		bool huber = n->row->op == HUBER;
		int near = node_with_number(v, OP_mul, square, huber ? 0.5 : 0.5 / d);
		int far = node_with_number(v, OP_sub, size, 0.5 * d);
		far = huber ? node_with_number(v, OP_mul, far, d) : far;
		y = node_where(v, node_with_number(v, OP_less, size, d), near, far);
	}
	give_reduced(n, y);
}

static int weighed(Aten *n, int x, const char *name)
{
	int w = aten_value(n, name);
	return w != DAG_NONE ? node_call2(n->v, OP_mul, x, w) : x;
}

static int clipped_log(Aten *n, int x)
{
	Attr lo = attr_float("lo", -100);
	int y = node_call1(n->v, OP_log, x);
	return node_call(n->v, OP_clip, &y, 1, &lo, 1);
}

static void import_bce(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self"), t = aten_value(n, "target"), one = node_number(v, node_val(v, x)->type, 1);
	int a = node_call2(v, OP_mul, t, clipped_log(n, x));
	int b = node_call2(v, OP_mul, node_call2(v, OP_sub, one, t), clipped_log(n, node_call2(v, OP_sub, one, x)));
	give_reduced(n, weighed(n, node_call1(v, OP_neg, node_call2(v, OP_add, a, b)), "weight"));
}

/* (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x)) */
static void import_bce_logits(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self"), t = aten_value(n, "target"), w = aten_value(n, "pos_weight");
	int one = node_number(v, node_val(v, x)->type, 1), soft = node_activate(v, node_call1(v, OP_neg, x), "softplus");
	if (w != DAG_NONE)
		soft = node_call2(
			v, OP_mul, soft, node_call2(v, OP_add, node_call2(v, OP_mul, node_call2(v, OP_sub, w, one), t), one));
	int y = node_call2(v, OP_add, node_call2(v, OP_mul, node_call2(v, OP_sub, one, t), x), soft);
	give_reduced(n, weighed(n, y, "weight"));
}

static void import_kl(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self"), t = aten_value(n, "target"), zero = node_number(v, node_val(v, x)->type, 0), y;
	if (aten_flag(n, "log_target")) {
		y = node_call2(v, OP_mul, node_call1(v, OP_exp, t), node_call2(v, OP_sub, t, x));
	} else {
		y = node_call2(v, OP_mul, t, node_call2(v, OP_sub, node_call1(v, OP_log, t), x));
		y = node_where(v, node_call2(v, OP_less, zero, t), y, zero);
	}
	give_reduced(n, y);
}

/* log(1 + exp(-target x)) */
static void import_soft_margin(Aten *n)
{
	int y = node_call2(n->v, OP_mul, aten_value(n, "self"), aten_value(n, "target"));
	give_reduced(n, node_activate(n->v, node_call1(n->v, OP_neg, y), "softplus"));
}

/* -w[t] x[t] of each sample, over the sum of the w[t] where the mean is wanted. */
static int likelihood(Aten *n, int x, int *total)
{
	Visit *v = n->v;
	int t = node_cast(v, aten_value(n, "target"), I64), w = aten_value(n, "weight");
	int64_t ignored = aten_int(n, "ignore_index");
	Shape s = node_val(v, x)->shape, at = node_val(v, t)->shape, wide = { .rank = s.rank };
	int axis = s.rank > 1 ? 1 : 0;
	if (node_ok(v) && (s.rank < 1 || at.rank != s.rank - 1))
		node_fail(v, ERR_UNSUPPORTED, "its target needs a class for each place of its input");
	if (!node_ok(v))
		return DAG_NONE;
	for (int k = 0, i = 0; k < s.rank; k++)
		wide.dim[k] = k == axis ? 1 : at.dim[i++];
	DType type = node_val(v, x)->type;
	int skip = node_with_number(v, OP_equal, t, (double)ignored), safe = node_where(v, skip, node_number(v, I64, 0), t);
	int in[] = { x, node_reshape(v, safe, wide) }, each[] = { w, safe };
	Attr along = attr_int("axis", axis), first = attr_int("axis", 0);
	int y = node_call1(v, OP_neg, node_reshape(v, node_call(v, OP_gather_elements, in, 2, &along, 1), at));
	int scale = w != DAG_NONE ? node_call(v, OP_gather, each, 2, &first, 1) : node_number(v, type, 1);
	scale = node_where(v, skip, node_number(v, type, 0), scale);
	*total = scale;
	return node_call2(v, OP_mul, y, scale);
}

static void import_nll(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self"), total;
	if (n->row->op != 0) {
		Shape s = node_val(v, x)->shape;
		Attr axis = attr_int("axis", s.rank > 1 ? 1 : 0);
		if (aten_float(n, "label_smoothing") != 0)
			node_fail(v, ERR_UNSUPPORTED, "its label_smoothing is not supported");
		x = node_call(v, OP_log_softmax, &x, 1, &axis, 1);
	}
	int y = likelihood(n, x, &total);
	int64_t how = aten_int(n, "reduction");
	Attr all = attr_int("keep", 0);
	if (how != 0)
		y = node_call(v, OP_reduce_sum, &y, 1, &all, 1);
	if (how == 1)
		y = node_call2(v, OP_div, y, node_call(v, OP_reduce_sum, &total, 1, &all, 1));
	aten_set(n, y);
}

#define LOSS "self:T target:T reduction:i=1"
#define NLL "self:T target:T weight:T? reduction:i=1 ignore_index:i=-100"

const AtenRow torch_loss_rows[] = {
	{ "mse_loss", LOSS, import_distance, SQUARE },
	{ "l1_loss", LOSS, import_distance, ABSOLUTE },
	{ "smooth_l1_loss", LOSS " beta:f=1", import_distance, SMOOTH },
	{ "huber_loss", LOSS " delta:f=1", import_distance, HUBER },
	{ "binary_cross_entropy", "self:T target:T weight:T? reduction:i=1", import_bce, 0 },
	{ "binary_cross_entropy_with_logits", "self:T target:T weight:T? pos_weight:T? reduction:i=1", import_bce_logits,
		0 },
	{ "kl_div", LOSS " log_target:b=False", import_kl, 0 },
	{ "soft_margin_loss", LOSS, import_soft_margin, 0 },
	{ "nll_loss", NLL, import_nll, 0 },
	{ "nll_loss2d", NLL, import_nll, 0 },
	{ "nll_loss_nd", NLL, import_nll, 0 },
	{ "cross_entropy_loss", NLL " label_smoothing:f=0", import_nll, 1 },
	{ NULL, NULL, NULL, 0 },
};
