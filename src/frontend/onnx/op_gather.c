/*
 * Rows of operators that read or write elements at indices. Indices may be data of a run. Those that are known while
 * importing are checked here, and one known index along an axis is a slice.
 */
#include "frontend/onnx/rows.h"

#include "op/element.h"

/* Refuses known indices that lie outside of dimensions dim[0 .. n), which follow each other n at a time. */
static void check_indices(Visit *v, int k, const int64_t *dim, int n)
{
	const Item *it = node_need(v, k);
	int64_t many = shape_elements(it->shape);
	if (!node_ok(v) || it->data == NULL || !dtype_is_int(it->type))
		return;
	for (int64_t i = 0; i < many; i++) {
		int64_t at = element_get_int(it->type, it->data, i), size = dim[i % n];
		if (at < -size || at >= size) {
			node_fail(v, ERR_INPUT, "its index %lld is outside of a dimension of %lld", (long long)at, (long long)size);
			return;
		}
	}
}

/* A known list of integers, such as a shape, is gathered here. */
static void gather_known(Visit *v, const Item *x, const Item *which)
{
	int64_t many = shape_elements(which->shape);
	int64_t *y = arena_array(v->im->arena, int64_t, many + 1);
	for (int64_t k = 0; k < many; k++) {
		int64_t at = element_get_int(which->type, which->data, k);
		y[k] = element_get_int(I64, x->data, at < 0 ? at + x->shape.dim[0] : at);
	}
	node_set_known(v, 0, I64, which->shape, y);
}

/* The slice of one element along the axis, in the shape of the gather. */
static void gather_one(Visit *v, const Item *x, const Item *which, int axis)
{
	int64_t start[DAG_MAX_RANK] = { 0 }, size[DAG_MAX_RANK], at = element_get_int(which->type, which->data, 0);
	int rank = x->shape.rank;
	Shape s = { 0 };
	for (int k = 0; k < rank; k++) {
		size[k] = k == axis ? 1 : x->shape.dim[k];
		for (int i = 0; k == axis && i < which->shape.rank; i++)
			s.dim[s.rank++] = 1;
		if (k != axis)
			s.dim[s.rank++] = size[k];
	}
	start[axis] = at < 0 ? at + x->shape.dim[axis] : at;
	Attr attr[] = { attr_ints("starts", start, rank), attr_ints("sizes", size, rank) };
	int in = node_value(v, 0);
	node_set(v, 0, node_reshape(v, node_call(v, OP_slice, &in, 1, attr, 2), s));
}

static void import_gather(Visit *v)
{
	const Item *x = node_need(v, 0), *which = node_need(v, 1);
	int axis = node_axis(v, node_attr_int(v, "axis", 0), x->shape.rank);
	bool known = node_is_known(v, 1) && dtype_is_int(which->type);
	if (node_ok(v))
		check_indices(v, 1, &x->shape.dim[axis], 1);
	if (!node_ok(v))
		return;
	if (known && x->data != NULL && dtype_eq(x->type, I64) && x->shape.rank == 1) {
		gather_known(v, x, which);
	} else if (known && shape_elements(which->shape) == 1 && x->shape.rank - 1 + which->shape.rank <= DAG_MAX_RANK) {
		gather_one(v, x, which, axis);
	} else {
		Attr attr = attr_int("axis", axis);
		int in[] = { node_value(v, 0), node_value(v, 1) };
		node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
	}
}

static void import_gather_elements(Visit *v)
{
	const Item *x = node_need(v, 0);
	node_need(v, 1);
	int axis = node_axis(v, node_attr_int(v, "axis", 0), x->shape.rank);
	if (node_ok(v))
		check_indices(v, 1, &x->shape.dim[axis], 1);
	Attr attr = attr_int("axis", axis);
	int in[] = { node_value(v, 0), node_value(v, 1) };
	node_set(v, 0, node_call(v, OP_gather_elements, in, 2, &attr, 1));
}

/* The last dimension of input 1 counts the numbers of a tuple, which index dimensions of x from `batch` on. */
static void check_tuples(Visit *v, const Item *x, int64_t batch)
{
	const Item *index = node_need(v, 1);
	int64_t n = index->shape.rank > 0 ? index->shape.dim[index->shape.rank - 1] : 0;
	if (node_ok(v) && batch >= 0 && n > 0 && n <= x->shape.rank - batch)
		check_indices(v, 1, &x->shape.dim[batch], (int)n);
}

static void import_gather_nd(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t batch = v->frame->version >= 12 ? node_attr_int(v, "batch_dims", 0) : 0;
	check_tuples(v, x, batch);
	Attr attr = attr_int("batch", batch);
	int in[] = { node_value(v, 0), node_value(v, 1) };
	node_set(v, 0, node_call(v, OP_gather_nd, in, 2, &attr, 1));
}

/* The inputs data, indices and updates, and the attribute reduction of opset 16 and later. */
static void set_scattered(Visit *v, int op, Attr *attr, int nattr)
{
	attr[nattr] = attr_text("reduction", v->frame->version >= 16 ? node_attr_text(v, "reduction", "none") : "none");
	int in[3];
	for (int k = 0; k < 3; k++) {
		node_need(v, k);
		in[k] = node_value(v, k);
	}
	node_set(v, 0, node_call(v, op, in, 3, attr, nattr + 1));
}

static void import_scatter_elements(Visit *v)
{
	const Item *x = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 0), x->shape.rank);
	if (node_ok(v))
		check_indices(v, 1, &x->shape.dim[axis], 1);
	Attr attr[2] = { attr_int("axis", axis) };
	set_scattered(v, OP_scatter_elements, attr, 1);
}

static void import_scatter_nd(Visit *v)
{
	Attr attr[1];
	check_tuples(v, node_need(v, 0), 0);
	set_scattered(v, OP_scatter_nd, attr, 0);
}

const NodeRow onnx_gather_rows[] = {
	{ "Gather", 1, "", import_gather },
	{ "GatherElements", 11, "", import_gather_elements },
	{ "GatherND", 11, "", import_gather_nd },
	{ "Scatter", 9, "", import_scatter_elements },
	{ "ScatterElements", 11, "", import_scatter_elements },
	{ "ScatterND", 11, "", import_scatter_nd },
	{ NULL, 0, NULL, NULL },
};
