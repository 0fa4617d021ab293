/* Rows of MIL operators that read or write at places that are data. */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/mil.h"

#include "frontend/node/compose.h"

static int indices(Visit *v)
{
	mil_skip(v, "validate_indices");
	return node_cast(v, mil_need(v, "indices"), I64);
}

static void import_gather(Visit *v)
{
	int x = mil_need(v, "x"), index = indices(v);
	int64_t axis = mil_int(v, "axis", 0), batch = mil_int(v, "batch_dims", 0);
	if (node_ok(v) && (batch < 0 || batch > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its parameter batch_dims is %lld", (long long)batch);
	node_set(v, 0, coreml_gather(v, x, index, axis, (int)batch));
}

static void import_gather_along(Visit *v)
{
	int x = mil_need(v, "x"), index = indices(v);
	node_set(v, 0, coreml_gather_along(v, x, index, mil_int(v, "axis", 0)));
}

static void import_gather_nd(Visit *v)
{
	int x = mil_need(v, "x"), index = indices(v);
	int64_t batch = mil_int(v, "batch_dims", 0);
	if (node_ok(v) && (batch < 0 || batch > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its parameter batch_dims is %lld", (long long)batch);
	node_set(v, 0, coreml_gather_nd(v, x, index, (int)batch));
}

static void import_scatter(Visit *v)
{
	int x = mil_need(v, "data"), index = indices(v), updates = mil_need(v, "updates");
	const char *mode = node_attr_text(v, "mode", "add");
	node_set(v, 0, coreml_scatter(v, x, index, updates, mil_int(v, "axis", 0), mode));
}

static void import_scatter_along(Visit *v)
{
	int x = mil_need(v, "data"), index = indices(v), updates = mil_need(v, "updates");
	const char *mode = node_attr_text(v, "mode", "add");
	node_set(v, 0, coreml_scatter_along(v, x, index, updates, mil_int(v, "axis", 0), mode));
}

static void import_scatter_nd(Visit *v)
{
	int x = mil_need(v, "data"), index = indices(v), updates = mil_need(v, "updates");
	node_set(v, 0, coreml_scatter_nd(v, x, index, updates, node_attr_text(v, "mode", "add")));
}

static void import_one_hot(Visit *v)
{
	int index = indices(v), on = mil_value(v, "on_value"), off = mil_value(v, "off_value");
	DType t = on != DAG_NONE ? node_val(v, on)->type : off != DAG_NONE ? node_val(v, off)->type : I32;
	on = on != DAG_NONE ? on : node_number(v, t, 1);
	off = off != DAG_NONE ? off : node_number(v, t, 0);
	int64_t axis = mil_int(v, "axis", -1);
	node_set(v, 0, coreml_one_hot(v, index, mil_int(v, "one_hot_vector_size", 0), axis, on, off));
}

const NodeRow mil_place_rows[] = {
	{ "gather", 0, "", import_gather },
	{ "gather_along_axis", 0, "", import_gather_along },
	{ "gather_nd", 0, "", import_gather_nd },
	{ "scatter", 0, "", import_scatter },
	{ "scatter_along_axis", 0, "", import_scatter_along },
	{ "scatter_nd", 0, "", import_scatter_nd },
	{ "one_hot", 0, "", import_one_hot },
	{ NULL, 0, NULL, NULL },
};
