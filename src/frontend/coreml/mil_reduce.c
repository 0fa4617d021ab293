/* Rows of MIL operators that reduce or order along axes. */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/mil.h"

#include <string.h>

static void import_reduce(Visit *v)
{
	static const struct {
		const char *name;
		Reduction kind;
	} rows[] = { { "reduce_sum", REDUCE_SUM }, { "reduce_mean", REDUCE_MEAN }, { "reduce_prod", REDUCE_PROD },
		{ "reduce_max", REDUCE_MAX }, { "reduce_min", REDUCE_MIN }, { "reduce_l1_norm", REDUCE_L1 },
		{ "reduce_l2_norm", REDUCE_L2 }, { "reduce_sum_square", REDUCE_SUM_SQUARE },
		{ "reduce_log_sum", REDUCE_LOG_SUM }, { "reduce_log_sum_exp", REDUCE_LOG_SUM_EXP } };
	int n, x = mil_need(v, "x");
	const int64_t *axes = mil_ints(v, "axes", &n);
	bool keep = mil_flag(v, "keep_dims", false);
	for (size_t k = 0; k < sizeof rows / sizeof *rows && node_ok(v); k++)
		if (strcmp(v->node->op, rows[k].name) == 0)
			node_set(v, 0, coreml_reduce(v, rows[k].kind, x, axes, n, keep, 0));
}

/* Places are i32, or u16 from iOS 17 on. */
static DType place_type(Visit *v, const char *key)
{
	static const char *const types[] = { "int32", "uint16", NULL };
	return mil_word(v, key, types, 0) == 0 ? I32 : DT(UINT, 16);
}

static void import_arg(Visit *v)
{
	int op = strcmp(v->node->op, "reduce_argmax") == 0 ? OP_arg_max : OP_arg_min, x = mil_need(v, "x");
	bool keep = mil_flag(v, "keep_dims", false);
	Attr attr[] = { attr_int("axis", node_axis(v, mil_int(v, "axis", -1), node_val(v, x)->shape.rank)),
		attr_int("keep", keep) };
	node_set(v, 0, node_cast(v, node_call(v, op, &x, 1, attr, 2), place_type(v, "output_dtype")));
}

static void import_top_k(Visit *v)
{
	int x = mil_need(v, "x"), places;
	bool ascending = mil_flag(v, "ascending", false);
	int64_t k = mil_int(v, "k", 1), axis = mil_int(v, "axis", -1);
	int rank = node_val(v, x)->shape.rank;
	mil_skip(v, "sort"); /* sorted results are right in any case */
	mil_skip(v, "return_indices");
	if (k == -1 && node_ok(v))
		k = node_val(v, x)->shape.dim[node_axis(v, axis, rank)];
	int y = coreml_top_k(v, x, axis, k, !ascending, &places);
	node_set(v, 0, y);
	DType type = place_type(v, "output_indices_dtype");
	if (node_used(v, 1))
		node_set(v, 1, node_cast(v, places, type));
}

static void import_arg_sort(Visit *v)
{
	int x = mil_need(v, "x"), places, axis = node_axis(v, mil_int(v, "axis", -1), node_val(v, x)->shape.rank);
	bool ascending = mil_flag(v, "ascending", false);
	if (!node_ok(v))
		return;
	coreml_top_k(v, x, axis, node_val(v, x)->shape.dim[axis], !ascending, &places);
	node_set(v, 0, node_cast(v, places, I32));
}

static void import_cumsum(Visit *v)
{
	int x = mil_need(v, "x");
	bool exclusive = mil_flag(v, "exclusive", false), reverse = mil_flag(v, "reverse", false);
	node_set(v, 0, coreml_scan(v, x, mil_int(v, "axis", 0), exclusive, reverse));
}

const NodeRow mil_reduce_rows[] = {
	{ "reduce_sum", 0, "", import_reduce },
	{ "reduce_mean", 0, "", import_reduce },
	{ "reduce_prod", 0, "", import_reduce },
	{ "reduce_max", 0, "", import_reduce },
	{ "reduce_min", 0, "", import_reduce },
	{ "reduce_l1_norm", 0, "", import_reduce },
	{ "reduce_l2_norm", 0, "", import_reduce },
	{ "reduce_sum_square", 0, "", import_reduce },
	{ "reduce_log_sum", 0, "", import_reduce },
	{ "reduce_log_sum_exp", 0, "", import_reduce },
	{ "reduce_argmax", 0, "", import_arg },
	{ "reduce_argmin", 0, "", import_arg },
	{ "topk", 0, "", import_top_k },
	{ "argsort", 0, "", import_arg_sort },
	{ "cumsum", 0, "", import_cumsum },
	{ NULL, 0, NULL, NULL },
};
