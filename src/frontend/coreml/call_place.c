/* Reading and writing at places that are data; calls.h says what each function is. */
#include "frontend/coreml/calls.h"

#include "frontend/node/compose.h"

#include <string.h>

int coreml_gather(Visit *v, int x, int index, int64_t axis, int batch)
{
	Attr attr[] = { attr_int("axis", node_axis(v, axis, node_val(v, x)->shape.rank)), attr_int("batch", batch) };
	int in[] = { x, index };
	return node_call(v, OP_gather, in, 2, attr, 2);
}

int coreml_gather_along(Visit *v, int x, int index, int64_t axis)
{
	Attr attr = attr_int("axis", node_axis(v, axis, node_val(v, x)->shape.rank));
	int in[] = { x, index };
	return node_call(v, OP_gather_elements, in, 2, &attr, 1);
}

int coreml_gather_nd(Visit *v, int x, int index, int batch)
{
	Attr attr = attr_int("batch", batch);
	int in[] = { x, index };
	return node_call(v, OP_gather_nd, in, 2, &attr, 1);
}

/* Subtraction adds what is negated, division multiplies with what is inverted. */
static const char *reduction_of(Visit *v, const char *mode, int *updates)
{
	static const char *const rows[][2] = { { "update", "none" }, { "add", "add" }, { "sub", "add" }, { "mul", "mul" },
		{ "div", "mul" }, { "max", "max" }, { "min", "min" } };
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		if (strcmp(rows[k][0], mode) != 0)
			continue;
		if (strcmp(mode, "sub") == 0)
			*updates = node_call1(v, OP_neg, *updates);
		if (strcmp(mode, "div") == 0 && node_ok(v) && dtype_is_int(node_val(v, *updates)->type))
			node_fail(v, ERR_UNSUPPORTED, "it divides integers at places, which is not supported");
		else if (strcmp(mode, "div") == 0)
			*updates = node_call2(v, OP_div, node_number(v, node_val(v, *updates)->type, 1), *updates);
		return rows[k][1];
	}
	node_fail(v, ERR_UNSUPPORTED, "its mode '%.60s' is not known", mode);
	return "none";
}

int coreml_scatter(Visit *v, int x, int index, int updates, int64_t axis, const char *mode)
{
	const Value *i = node_val(v, index), *d = node_val(v, x);
	int at = node_axis(v, axis, d->shape.rank);
	Shape to = node_val(v, updates)->shape, one = { .rank = to.rank };
	if (node_ok(v) && (i->shape.rank != 1 || to.rank != d->shape.rank || to.dim[at] != i->shape.dim[0]))
		node_fail(v, ERR_TYPE, "its indices must be a list, with a slice of its updates for each");
	if (!node_ok(v))
		return DAG_NONE;
	for (int k = 0; k < to.rank; k++)
		one.dim[k] = k == at ? to.dim[k] : 1;
	return coreml_scatter_along(v, x, node_expand(v, node_reshape(v, index, one), to), updates, at, mode);
}

int coreml_scatter_along(Visit *v, int x, int index, int updates, int64_t axis, const char *mode)
{
	const char *reduction = reduction_of(v, mode, &updates);
	Attr attr[] = { attr_int("axis", node_axis(v, axis, node_val(v, x)->shape.rank)),
		attr_text("reduction", reduction) };
	int in[] = { x, index, updates };
	return node_call(v, OP_scatter_elements, in, 3, attr, 2);
}

int coreml_scatter_nd(Visit *v, int x, int index, int updates, const char *mode)
{
	Attr attr = attr_text("reduction", reduction_of(v, mode, &updates));
	int in[] = { x, index, updates };
	return node_call(v, OP_scatter_nd, in, 3, &attr, 1);
}

int coreml_one_hot(Visit *v, int index, int64_t size, int64_t axis, int on, int off)
{
	int rank = node_val(v, index)->shape.rank + 1, at = node_axis(v, axis, rank);
	int64_t where = at;
	if (node_ok(v) && (size < 1 || size > NODE_COUNTED))
		node_fail(v, ERR_INPUT, "its new axis has %lld elements", (long long)size);
	int is = node_call2(v, OP_equal, coreml_expand_dims(v, index, &where, 1), node_count(v, size, at, rank));
	return node_where(v, is, on, off);
}
