/* Reductions, places of extremes and sums up to each element; calls.h says what each function is. */
#include "frontend/coreml/calls.h"

#include "frontend/node/compose.h"

static int over(Visit *v, int op, int x, const int64_t *axes, int n, bool keep)
{
	Attr attr[] = { attr_ints("axes", axes, n), attr_int("keep", keep) };
	return node_call(v, op, &x, 1, attr, 2);
}

int coreml_reduce(Visit *v, Reduction kind, int x, const int64_t *axes, int n, bool keep, double epsilon)
{
	int rank = node_val(v, x)->shape.rank, count = 0;
	bool on[DAG_MAX_RANK] = { false };
	int64_t at[DAG_MAX_RANK];
	for (int k = 0; k < (n < 0 ? rank : n) && node_ok(v); k++)
		on[n < 0 ? k : node_axis(v, axes[k], rank)] = true;
	for (int k = 0; k < rank; k++)
		if (on[k])
			at[count++] = k;
	if (!node_ok(v))
		return DAG_NONE;
	switch (kind) {
	case REDUCE_SUM: return over(v, OP_reduce_sum, x, at, count, keep);
	case REDUCE_MEAN: return over(v, OP_reduce_mean, x, at, count, keep);
	case REDUCE_PROD: return over(v, OP_reduce_prod, x, at, count, keep);
	case REDUCE_MAX: return over(v, OP_reduce_max, x, at, count, keep);
	case REDUCE_MIN: return over(v, OP_reduce_min, x, at, count, keep);
	case REDUCE_L1: return over(v, OP_reduce_sum, node_call1(v, OP_abs, x), at, count, keep);
	case REDUCE_SUM_SQUARE: return over(v, OP_reduce_sum, node_call2(v, OP_mul, x, x), at, count, keep);
	case REDUCE_L2: return node_call1(v, OP_sqrt, over(v, OP_reduce_sum, node_call2(v, OP_mul, x, x), at, count, keep));
	case REDUCE_LOG_SUM: return node_call1(v, OP_log, over(v, OP_reduce_sum, x, at, count, keep));
	case REDUCE_SUM_LOG:
		return over(v, OP_reduce_sum, node_call1(v, OP_log, node_with_number(v, OP_add, x, epsilon)), at, count, keep);
	case REDUCE_LOG_SUM_EXP: break;
	}
	/* The largest element is taken out, so that no power overflows. */
	int most = over(v, OP_reduce_max, x, at, count, true);
	int sum = over(v, OP_reduce_sum, node_call1(v, OP_exp, node_call2(v, OP_sub, x, most)), at, count, keep);
	return node_call2(v, OP_add, node_call1(v, OP_log, sum),
		keep || !node_ok(v) ? most : node_reshape(v, most, node_val(v, sum)->shape));
}

int coreml_arg(Visit *v, int op, int x, int64_t axis, bool keep)
{
	int rank = node_val(v, x)->shape.rank;
	Attr attr[] = { attr_int("axis", node_axis(v, axis, rank)), attr_int("keep", keep || rank == 1) };
	return node_call(v, op, &x, 1, attr, 2);
}

int coreml_top_k(Visit *v, int x, int64_t axis, int64_t k, bool largest, int *places)
{
	int at = node_axis(v, axis, node_val(v, x)->shape.rank);
	if (node_ok(v) && (k < 0 || k > node_val(v, x)->shape.dim[at]))
		node_fail(
			v, ERR_INPUT, "it takes %lld of %lld elements", (long long)k, (long long)node_val(v, x)->shape.dim[at]);
	Attr attr[] = { attr_int("axis", at), attr_int("k", k), attr_int("largest", largest) };
	int y = node_call(v, OP_top_k, &x, 1, attr, 3);
	*places = node_ok(v) ? v->im->dag->call.at[node_val(v, y)->call].out[1] : DAG_NONE;
	return y;
}

int coreml_scan(Visit *v, int x, int64_t axis, bool exclusive, bool reverse)
{
	Attr attr[] = { attr_int("axis", node_axis(v, axis, node_val(v, x)->shape.rank)), attr_int("exclusive", exclusive),
		attr_int("reverse", reverse) };
	return node_call(v, OP_scan, &x, 1, attr, 3);
}
