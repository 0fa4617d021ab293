/*
 * Rows that make numbers from none: zeros, ones, ranges, unit matrices, and the shape of a value. A dimension of 0 in a
 * shape is open: it is the batch. First states of recurrent layers get theirs from the layer (mxnet_state).
 */
#include "frontend/mxnet/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

/* Only recurrent layers read the node's result. */
static bool is_state(Visit *v)
{
	const NodeGraph *g = v->im->model->graph;
	const char *name = v->node->out[0];
	bool some = false;
	for (size_t k = 0; k < g->nnode; k++)
		for (size_t i = 0; i < g->node[k].nin; i++)
			if (strcmp(g->node[k].in[i], name) == 0) {
				if (strcmp(g->node[k].op, "RNN") != 0)
					return false;
				some = true;
			}
	return some;
}

static void fill(Visit *v, double number)
{
	MxnetList shape = mxnet_attr_list(v, "shape");
	DType type = mxnet_attr_type(v, "dtype", F32);
	bool open = false;
	if (!node_ok(v))
		return;
	Shape s = shape_of(shape.n < 0 ? 0 : shape.n, shape.at);
	for (int k = 0; k < s.rank; k++) {
		open |= s.dim[k] == 0;
		if (s.dim[k] < 0)
			node_fail(v, ERR_INPUT, "its shape has a dimension of %lld", (long long)s.dim[k]);
	}
	if (open && number == 0 && node_ok(v) && is_state(v)) {
		Item *it = arena_new_of(v->im->arena, Item);
		*it = (Item){ .name = v->node->out[0], .kind = ITEM_OPEN, .type = type, .value = DAG_NONE };
		node_set_alias(v, 0, it);
		return;
	}
	s = mxnet_batch_shape(v, s);
	node_set(v, 0, node_expand(v, node_number(v, type, number), s));
}

static void import_zeros(Visit *v)
{
	fill(v, 0);
}

static void import_ones(Visit *v)
{
	fill(v, 1);
}

static void import_full(Visit *v)
{
	fill(v, node_attr_float(v, strncmp(v->node->op, "_npi_", 5) == 0 ? "fill_value" : "value", 0));
}

static void fill_like(Visit *v, double number)
{
	const Item *it = node_need(v, 0);
	node_set(v, 0, node_expand(v, node_number(v, mxnet_attr_type(v, "dtype", it->type), number), it->shape));
}

static void import_zeros_like(Visit *v)
{
	fill_like(v, 0);
}

static void import_ones_like(Visit *v)
{
	fill_like(v, 1);
}

static void import_full_like(Visit *v)
{
	fill_like(v, node_attr_float(v, "fill_value", 0));
}

/* count numbers, each `repeat` times */
static void set_range(Visit *v, double start, double step, double count, int64_t repeat, DType type, Shape s)
{
	if (node_ok(v) && (repeat < 1 || !(count >= 0) || !(count * (double)repeat <= NODE_COUNTED)))
		node_fail(v, ERR_UNSUPPORTED, "its range of %g numbers is out of range", count * (double)repeat);
	if (!node_ok(v))
		return;
	int64_t n = (int64_t)count * repeat;
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, n) + 1);
	for (int64_t k = 0; k < n; k++)
		element_set(type, data, k, start + (double)(k / repeat) * step);
	node_set_known(v, 0, type, s.rank > 0 ? s : shape_of(1, &n), data);
}

static void import_arange(Visit *v)
{
	double start = node_attr_float(v, "start", 0), step = node_attr_float(v, "step", 1);
	bool one = !node_has(v, "stop"), np = strncmp(v->node->op, "_npi_", 5) == 0;
	double stop = one ? start : node_attr_float(v, "stop", 0);
	int64_t repeat = node_attr_int(v, "repeat", 1);
	DType type = mxnet_attr_type(v, "dtype", F32);
	if (node_attr_flag(v, "infer_range", false))
		node_fail(v, ERR_UNSUPPORTED, "the length of its range is to be inferred");
	if (node_ok(v) && step == 0)
		node_fail(v, ERR_INPUT, "its step is 0");
	start = one ? 0 : start;
	(void)np;
	set_range(v, start, step, fmax(0, ceil((stop - start) / step)), repeat, type, (Shape){ 0 });
}

static void import_arange_like(Visit *v)
{
	const Item *it = node_need(v, 0);
	double start = node_attr_float(v, "start", 0), step = node_attr_float(v, "step", 1);
	int64_t repeat = node_attr_int(v, "repeat", 1);
	bool all = !node_has(v, "axis");
	int axis = all ? 0 : node_axis(v, node_attr_int(v, "axis", 0), it->shape.rank);
	if (!node_ok(v))
		return;
	int64_t n = all ? shape_product(&it->shape, 0, it->shape.rank) : it->shape.dim[axis];
	if (repeat < 1 || n % repeat != 0) {
		node_fail(v, ERR_UNSUPPORTED, "its %lld numbers do not repeat %lld times", (long long)n, (long long)repeat);
		return;
	}
	set_range(v, start, step, (double)(n / repeat), repeat, it->type, all ? it->shape : shape_of(1, &n));
}

static void import_linspace(Visit *v)
{
	double start = node_attr_float(v, "start", 0), stop = node_attr_float(v, "stop", 0);
	int64_t n = node_attr_int(v, "num", node_attr_int(v, "N", 50));
	bool end = node_attr_flag(v, "endpoint", true);
	DType type = mxnet_attr_type(v, "dtype", F32);
	double steps = (double)(end ? n - 1 : n);
	set_range(v, start, steps > 0 ? (stop - start) / steps : 0, (double)n, 1, type, (Shape){ 0 });
}

static void import_eye(Visit *v)
{
	int64_t rows = node_attr_int(v, "N", 0), columns = node_attr_int(v, "M", 0), k = node_attr_int(v, "k", 0);
	DType type = mxnet_attr_type(v, "dtype", F32);
	columns = columns <= 0 ? rows : columns;
	if (node_ok(v) && (rows < 1 || rows > 1 << 20 || columns > 1 << 20 || k > 1 << 20 || k < -(1 << 20)))
		node_fail(v, ERR_INPUT, "its size of %lld and %lld is out of range", (long long)rows, (long long)columns);
	if (!node_ok(v))
		return;
	int row = node_with_number(v, OP_add, node_count(v, rows, 0, 2), (double)k);
	int y = node_call2(v, OP_equal, row, node_count(v, columns, 1, 2));
	node_set(v, 0, node_cast(v, y, type));
}

static void import_shape_array(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t n = it->shape.rank, *dim = arena_array(v->im->arena, int64_t, n + 1);
	memcpy(dim, it->shape.dim, sizeof *dim * (size_t)n);
	if (node_ok(v))
		node_set_known(v, 0, I64, shape_of(1, &n), dim);
}

static void import_size_array(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t one = 1, *n = arena_array(v->im->arena, int64_t, 1);
	*n = shape_product(&it->shape, 0, it->shape.rank);
	if (node_ok(v))
		node_set_known(v, 0, I64, shape_of(1, &one), n);
}

const NodeRow mxnet_fill_rows[] = {
	{ "_zeros", 0, "ctx", import_zeros },
	{ "_ones", 0, "ctx", import_ones },
	{ "_full", 0, "ctx", import_full },
	{ "_npi_full", 0, "ctx", import_full },
	{ "zeros_like", 0, "", import_zeros_like },
	{ "ones_like", 0, "", import_ones_like },
	{ "_npi_full_like", 0, "ctx", import_full_like },
	{ "_arange", 0, "ctx", import_arange },
	{ "_contrib_arange_like", 0, "ctx", import_arange_like },
	{ "_linspace", 0, "ctx repeat infer_range", import_linspace },
	{ "_eye", 0, "ctx", import_eye },
	{ "shape_array", 0, "", import_shape_array },
	{ "size_array", 0, "", import_size_array },
	{ NULL, 0, NULL, NULL },
};
