/* Rows of layers that reduce, normalise or order along axes. Places are floats in a network. */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"

#include <string.h>

enum { REDUCE_ARGMAX = 9 };

static void import_reduce(Visit *v)
{
	static const Reduction kinds[] = { REDUCE_SUM, REDUCE_MEAN, REDUCE_PROD, REDUCE_SUM_LOG, REDUCE_SUM_SQUARE,
		REDUCE_L1, REDUCE_L2, REDUCE_MAX, REDUCE_MIN };
	static const struct {
		int n;
		int64_t axis[3];
	} axes[] = { { 3, { -3, -2, -1 } }, { 2, { -2, -1 } }, { 1, { -3 } }, { 1, { -2 } }, { 1, { -1 } } };
	const CoremlReduce *p = coreml_params(v, CoremlReduce);
	node_need(v, 0);
	int x = node_value(v, 0);
	double epsilon = p->epsilon == 0 ? 1e-6 : import_number(F32, &p->epsilon);
	if (p->axis < 0 || p->axis > 4 || p->mode < 0 || p->mode > REDUCE_ARGMAX)
		node_fail(
			v, ERR_UNSUPPORTED, "its mode %lld or its axis %lld is not known", (long long)p->mode, (long long)p->axis);
	else if (p->mode == REDUCE_ARGMAX && axes[p->axis].n != 1)
		node_fail(v, ERR_INPUT, "it looks for a place along %d axes", axes[p->axis].n);
	else if (p->mode == REDUCE_ARGMAX)
		node_set(v, 0, node_cast(v, coreml_arg(v, OP_arg_max, x, axes[p->axis].axis[0], true), F32));
	else
		node_set(v, 0, coreml_reduce(v, kinds[p->mode], x, axes[p->axis].axis, axes[p->axis].n, true, epsilon));
}

/* A list of one number stays one. */
static void import_reduce_nd(Visit *v)
{
	static const struct {
		const char *name;
		Reduction kind;
	} rows[] = { { "reduceL1", REDUCE_L1 }, { "reduceL2", REDUCE_L2 }, { "reduceMax", REDUCE_MAX },
		{ "reduceMin", REDUCE_MIN }, { "reduceSum", REDUCE_SUM }, { "reduceProd", REDUCE_PROD },
		{ "reduceMean", REDUCE_MEAN }, { "reduceLogSum", REDUCE_LOG_SUM }, { "reduceSumSquare", REDUCE_SUM_SQUARE },
		{ "reduceLogSumExp", REDUCE_LOG_SUM_EXP } };
	const CoremlReduceND *p = coreml_params(v, CoremlReduceND);
	int x = coreml_value(v, 0), y = DAG_NONE;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(v->node->op, rows[k].name) == 0)
			y = coreml_reduce(v, rows[k].kind, x, p->axes.at, p->reduceAll ? -1 : (int)p->axes.n, p->keepDims != 0, 0);
	if (node_ok(v) && node_val(v, y)->shape.rank == 0)
		y = node_view(v, y, 1, (int64_t[]){ 1 });
	coreml_set(v, 0, y);
}

static void import_arg(Visit *v)
{
	const CoremlArg *p = coreml_params(v, CoremlArg);
	int op = strcmp(v->node->op, "argMax") == 0 ? OP_arg_max : OP_arg_min;
	coreml_set(v, 0, node_cast(v, coreml_arg(v, op, coreml_value(v, 0), p->axis, p->removeDim == 0), F32));
}

static void import_top_k(Visit *v)
{
	const CoremlTopK *p = coreml_params(v, CoremlTopK);
	int x = coreml_value(v, 0), n, places;
	const int64_t *given = coreml_known(v, 1, &n);
	if (node_ok(v) && n >= 0 && n != 1)
		node_fail(v, ERR_TYPE, "its second input has %d numbers, not one", n);
	if (!node_ok(v))
		return;
	int y = coreml_top_k(v, x, p->axis, n == 1 ? given[0] : p->K, p->useBottomK == 0, &places);
	coreml_set(v, 0, y);
	if (node_used(v, 1))
		coreml_set(v, 1, node_cast(v, places, F32));
}

static void import_arg_sort(Visit *v)
{
	const CoremlArgSort *p = coreml_params(v, CoremlArgSort);
	int x = coreml_value(v, 0), places;
	int axis = node_axis(v, p->axis, node_val(v, x)->shape.rank);
	if (!node_ok(v))
		return;
	coreml_top_k(v, x, axis, node_val(v, x)->shape.dim[axis], p->descending != 0, &places);
	coreml_set(v, 0, node_cast(v, places, F32));
}

static void import_cum_sum(Visit *v)
{
	const CoremlCumSum *p = coreml_params(v, CoremlCumSum);
	coreml_set(v, 0, coreml_scan(v, coreml_value(v, 0), p->axis, p->excludeFinalSum != 0, p->reverse != 0));
}

static int softmax(Visit *v, int x, int64_t axis)
{
	Attr attr = attr_int("axis", node_axis(v, axis, node_val(v, x)->shape.rank));
	return node_call(v, OP_softmax, &x, 1, &attr, 1);
}

static void import_softmax(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, softmax(v, node_value(v, 0), -3));
}

static void import_softmax_nd(Visit *v)
{
	coreml_set(v, 0, softmax(v, coreml_value(v, 0), coreml_params(v, CoremlAxis)->axis));
}

/* Of vectors along the channels. */
static void import_dot(Visit *v)
{
	const CoremlDotProduct *p = coreml_params(v, CoremlDotProduct);
	static const int64_t channels = -3;
	node_need(v, 0);
	node_need(v, 1);
	int a = node_value(v, 0), b = node_value(v, 1);
	int y = coreml_reduce(v, REDUCE_SUM, node_call2(v, OP_mul, a, b), &channels, 1, true, 0);
	if (p->cosineSimilarity) {
		int norm = coreml_reduce(v, REDUCE_L2, a, &channels, 1, true, 0);
		norm = node_call2(v, OP_mul, norm, coreml_reduce(v, REDUCE_L2, b, &channels, 1, true, 0));
		y = node_call2(v, OP_div, y, norm);
	}
	node_set(v, 0, y);
}

const NodeRow coreml_reduce_rows[] = {
	{ "reduce", 0, "", import_reduce },
	{ "reduceL1", 0, "", import_reduce_nd },
	{ "reduceL2", 0, "", import_reduce_nd },
	{ "reduceMax", 0, "", import_reduce_nd },
	{ "reduceMin", 0, "", import_reduce_nd },
	{ "reduceSum", 0, "", import_reduce_nd },
	{ "reduceProd", 0, "", import_reduce_nd },
	{ "reduceMean", 0, "", import_reduce_nd },
	{ "reduceLogSum", 0, "", import_reduce_nd },
	{ "reduceSumSquare", 0, "", import_reduce_nd },
	{ "reduceLogSumExp", 0, "", import_reduce_nd },
	{ "argMax", 0, "", import_arg },
	{ "argMin", 0, "", import_arg },
	{ "topK", 0, "", import_top_k },
	{ "argSort", 0, "", import_arg_sort },
	{ "cumSum", 0, "", import_cum_sum },
	{ "softmax", 0, "", import_softmax },
	{ "softmaxND", 0, "", import_softmax_nd },
	{ "dot", 0, "", import_dot },
	{ NULL, 0, NULL, NULL },
};
