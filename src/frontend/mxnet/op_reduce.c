/*
 * Rows that reduce, search or sort along axes. MXNet writes places (argmax, topk, argsort) as numbers of f32; the NumPy
 * family as integers.
 */
#include "frontend/mxnet/rows.h"

#include <math.h>
#include <string.h>

/* The axes to reduce: of an attribute that is absent, empty or a list; all others with `exclude`. */
static int read_axes(Visit *v, int rank, int64_t *axes)
{
	int count, n = 0;
	bool on[DAG_MAX_RANK] = { false }, exclude = node_attr_flag(v, "exclude", false);
	const int64_t *given = node_attr_ints(v, "axis", &count);
	for (int k = 0; k < count && node_ok(v); k++) {
		int axis = node_axis(v, given[k], rank);
		if (node_ok(v))
			on[axis] = true;
	}
	for (int k = 0; k < rank; k++)
		if (count <= 0 ? !exclude || count < 0 : on[k] != exclude)
			axes[n++] = k;
	return n;
}

/* A reduction that the Dag has. With all axes and no keepdims, MXNet gives one number of shape (1); NumPy a scalar. */
static int reduce(Visit *v, int op, int x)
{
	int64_t axes[DAG_MAX_RANK];
	int n = read_axes(v, node_val(v, x)->shape.rank, axes), rank = node_val(v, x)->shape.rank;
	bool keep = node_attr_flag(v, "keepdims", false), np = strncmp(v->node->op, "_np", 3) == 0;
	Attr attr[] = { attr_ints("axes", axes, n), attr_int("keep", keep) };
	if (n == 0)
		return rank == 0 ? x : node_call1(v, OP_identity, x);
	int y = node_call(v, op, &x, 1, attr, 2);
	return !keep && !np && n == rank ? node_view(v, y, 1, (int64_t[]){ 1 }) : y;
}

static void import_reduction(Visit *v)
{
	static const struct {
		const char *name;
		int op;
	} ops[] = { { "sum", OP_reduce_sum }, { "mean", OP_reduce_mean }, { "max", OP_reduce_max },
		{ "min", OP_reduce_min }, { "prod", OP_reduce_prod }, { "nansum", OP_reduce_sum },
		{ "nanprod", OP_reduce_prod } };
	const char *op = v->node->op;
	const Item *it = node_need(v, 0);
	const char *name = strncmp(op, "_np_", 4) == 0 ? op + 4 : strncmp(op, "_npi_", 5) == 0 ? op + 5 : op;
	DType type = mxnet_attr_type(v, "dtype", it->type);
	int x = node_cast(v, node_value(v, 0), type);
	for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
		if (strcmp(ops[k].name, name) != 0)
			continue;
		if (strncmp(name, "nan", 3) == 0)
			x = node_where(v, node_call1(v, OP_is_nan, x), node_number(v, type, ops[k].op == OP_reduce_prod), x);
		node_set(v, 0, reduce(v, ops[k].op, x));
	}
}

/* ord 1: sum |x|; 2: root of the sum of squares; without axes of all */
static void import_norm(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t order = node_attr_int(v, "ord", 2);
	DType wide = dtype_is_float(it->type) && it->type.bits >= 32 ? it->type : F32;
	int x = node_cast(v, node_value(v, 0), wide);
	if (node_ok(v) && order != 1 && order != 2)
		node_fail(v, ERR_UNSUPPORTED, "its ord %lld is not supported; 1 and 2 are", (long long)order);
	int y = reduce(v, OP_reduce_sum, order == 1 ? node_call1(v, OP_abs, x) : node_call2(v, OP_mul, x, x));
	y = order == 1 ? y : node_call1(v, OP_sqrt, y);
	node_set(v, 0, node_cast(v, y, mxnet_attr_type(v, "out_dtype", it->type)));
}

static void import_moments(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t axes[DAG_MAX_RANK];
	int count, n = 0, x = node_value(v, 0);
	const int64_t *given = node_attr_ints(v, "axes", &count);
	bool keep = node_attr_flag(v, "keepdims", false);
	for (int k = 0; k < count && node_ok(v); k++)
		axes[n++] = node_axis(v, given[k], it->shape.rank);
	for (int k = 0; count <= 0 && k < it->shape.rank; k++)
		axes[n++] = k;
	Attr kept[] = { attr_ints("axes", axes, n) }, attr[] = { attr_ints("axes", axes, n), attr_int("keep", keep) };
	int mean = node_call(v, OP_reduce_mean, &x, 1, kept, 1), d = node_call2(v, OP_sub, x, mean);
	int square = node_call2(v, OP_mul, d, d);
	node_set(v, 0, node_call(v, OP_reduce_mean, &x, 1, attr, 2));
	if (node_used(v, 1))
		node_set(v, 1, node_call(v, OP_reduce_mean, &square, 1, attr, 2));
}

static int flat(Visit *v, int x)
{
	Shape s = node_val(v, x)->shape;
	return node_view(v, x, 1, (int64_t[]){ shape_product(&s, 0, s.rank) });
}

static void set_place(Visit *v, int op, DType otherwise)
{
	const Item *it = node_need(v, 0);
	bool all = !node_has(v, "axis"), keep = node_attr_flag(v, "keepdims", false);
	int axis = all ? 0 : node_axis(v, node_attr_int(v, "axis", 0), it->shape.rank), x = node_value(v, 0);
	if (all && node_ok(v))
		x = flat(v, x);
	Attr attr[] = { attr_int("axis", axis), attr_int("keep", keep) };
	int y = node_call(v, op, &x, 1, attr, 2);
	bool list = dtype_is_float(otherwise) && !keep && node_ok(v) && node_val(v, y)->shape.rank == 0;
	if (list)
		y = node_view(v, y, 1, (int64_t[]){ 1 });
	node_set(v, 0, node_cast(v, y, otherwise));
}

static void import_argmax(Visit *v)
{
	set_place(v, OP_arg_max, F32);
}

static void import_argmin(Visit *v)
{
	set_place(v, OP_arg_min, F32);
}

static void import_np_argmax(Visit *v)
{
	set_place(v, OP_arg_max, I64);
}

static void import_np_argmin(Visit *v)
{
	set_place(v, OP_arg_min, I64);
}

/* Along axis 1 */
static void import_argmax_channel(Visit *v)
{
	const Item *it = node_need(v, 0);
	Attr attr[] = { attr_int("axis", node_axis(v, 1, it->shape.rank)), attr_int("keep", 0) };
	int x = node_value(v, 0);
	node_set(v, 0, node_cast(v, node_call(v, OP_arg_max, &x, 1, attr, 2), F32));
}

/* ---- the k largest or smallest in order */

/* An attribute axis, -1 without it; one that is None means all elements in one list. */
static int sorted_axis(Visit *v, int *x)
{
	const char *text = NULL;
	for (size_t k = 0; k < v->node->nattr; k++)
		if (strcmp(v->node->attr[k].name, "axis") == 0 && v->node->attr[k].kind == NODE_TEXT)
			text = (const char *)v->node->attr[k].text.at;
	if (text != NULL && strncmp(text, "None", 4) == 0) {
		node_has(v, "axis");
		*x = flat(v, *x);
		return 0;
	}
	return node_axis(v, node_attr_int(v, "axis", -1), node_val(v, *x)->shape.rank);
}

/* Values and places (i64) of the k first along the axis; k < 1: all. */
static int top_k(Visit *v, int x, int axis, int64_t k, bool largest, int *place)
{
	int64_t all = node_val(v, x)->shape.dim[axis];
	Attr attr[] = { attr_int("axis", axis), attr_int("k", k < 1 ? all : k), attr_int("largest", largest) };
	if (node_ok(v) && k > all)
		node_fail(v, ERR_INPUT, "its k is %lld, but axis %d has %lld elements", (long long)k, axis, (long long)all);
	int y = node_call(v, OP_top_k, &x, 1, attr, 3);
	*place = node_result(v, y, 1);
	return y;
}

static void import_topk(Visit *v)
{
	node_need(v, 0);
	int x = node_value(v, 0), axis = sorted_axis(v, &x), place;
	bool ascending = node_attr_flag(v, "is_ascend", false);
	const char *what = node_attr_text(v, "ret_typ", "indices");
	DType type = mxnet_attr_type(v, "dtype", F32);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, x)->shape;
	int y = top_k(v, x, axis, node_attr_int(v, "k", 1), !ascending, &place);
	if (strcmp(what, "value") == 0) {
		node_set(v, 0, y);
	} else if (strcmp(what, "indices") == 0) {
		node_set(v, 0, node_cast(v, place, type));
	} else if (strcmp(what, "both") == 0) {
		node_set(v, 0, y);
		if (node_used(v, 1))
			node_set(v, 1, node_cast(v, place, type));
	} else if (strcmp(what, "mask") == 0) { /* ones at the places, along the axis */
		int zero = node_number(v, F32, 0), one = node_number(v, F32, 1);
		Attr attr = attr_int("axis", axis);
		Shape many = node_val(v, place)->shape;
		int in[] = { node_expand(v, zero, s), place, node_expand(v, one, many) };
		node_set(v, 0, node_cast(v, node_call(v, OP_scatter_elements, in, 3, &attr, 1), node_need(v, 0)->type));
	} else {
		node_fail(v, ERR_INPUT, "its attribute ret_typ is '%.20s', not value, indices, mask or both", what);
	}
}

static void import_sort(Visit *v)
{
	node_need(v, 0);
	int x = node_value(v, 0), axis = sorted_axis(v, &x), place;
	bool ascending = node_attr_flag(v, "is_ascend", true);
	node_set(v, 0, top_k(v, x, axis, 0, !ascending, &place));
}

static void import_argsort(Visit *v)
{
	node_need(v, 0);
	int x = node_value(v, 0), axis = sorted_axis(v, &x), place;
	bool ascending = node_attr_flag(v, "is_ascend", true), np = strncmp(v->node->op, "_npi_", 5) == 0;
	DType type = mxnet_attr_type(v, "dtype", np ? I64 : F32);
	top_k(v, x, axis, 0, !ascending, &place);
	node_set(v, 0, node_cast(v, place, type));
}

static void import_cumsum(Visit *v)
{
	const Item *it = node_need(v, 0);
	int x = node_cast(v, node_value(v, 0), mxnet_attr_type(v, "dtype", it->type));
	bool all = !node_has(v, "axis");
	if (all && node_ok(v))
		x = flat(v, x);
	Attr attr = attr_int("axis", all ? 0 : node_axis(v, node_attr_int(v, "axis", 0), it->shape.rank));
	node_set(v, 0, node_call(v, OP_scan, &x, 1, &attr, 1));
}

const NodeRow mxnet_reduce_rows[] = {
	{ "sum", 0, "", import_reduction },
	{ "mean", 0, "", import_reduction },
	{ "max", 0, "", import_reduction },
	{ "min", 0, "", import_reduction },
	{ "prod", 0, "", import_reduction },
	{ "nansum", 0, "", import_reduction },
	{ "nanprod", 0, "", import_reduction },
	{ "_np_sum", 0, "initial", import_reduction },
	{ "_npi_mean", 0, "initial", import_reduction },
	{ "_np_max", 0, "initial", import_reduction },
	{ "_np_min", 0, "initial", import_reduction },
	{ "_np_prod", 0, "initial", import_reduction },
	{ "norm", 0, "", import_norm },
	{ "moments", 0, "", import_moments },
	{ "argmax", 0, "", import_argmax },
	{ "argmin", 0, "", import_argmin },
	{ "_npi_argmax", 0, "", import_np_argmax },
	{ "_npi_argmin", 0, "", import_np_argmin },
	{ "argmax_channel", 0, "", import_argmax_channel },
	{ "topk", 0, "", import_topk },
	{ "sort", 0, "", import_sort },
	{ "argsort", 0, "", import_argsort },
	{ "_npi_argsort", 0, "", import_argsort },
	{ "cumsum", 0, "", import_cumsum },
	{ NULL, 0, NULL, NULL },
};
