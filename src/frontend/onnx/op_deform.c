/* DeformConv, which frontend/node/deform_conv.h composes. */
#include "frontend/node/deform_conv.h"
#include "frontend/onnx/rows.h"
#include "frontend/onnx/windows.h"

static int optional(Visit *v, int k)
{
	return node_in(v, k) != NULL ? node_value(v, k) : DAG_NONE;
}

static void import_deform_conv(Visit *v)
{
	const Item *x = node_need(v, 0), *weights = node_need(v, 1);
	node_need(v, 2);
	DeformConv c = { .groups = node_attr_int(v, "group", 1), .moved = node_attr_int(v, "offset_group", 1) };
	if (node_ok(v) && x->shape.rank == 4 && weights->shape.rank == 4)
		c.windows = onnx_windows(v, &weights->shape.dim[2]);
	c.x = node_value(v, 0);
	c.w = node_value(v, 1);
	c.offset = node_value(v, 2);
	c.b = optional(v, 3);
	c.mask = optional(v, 4);
	node_set(v, 0, node_deform_conv(v, &c));
}

const NodeRow onnx_deform_rows[] = {
	{ "DeformConv", 19, "", import_deform_conv },
	{ NULL, 0, NULL, NULL },
};
