/* Rows that run a subgraph once: a call, and a composite, which stands for the operators of its decomposition. */
#include "frontend/node/traverse.h"
#include "frontend/tflite/rows.h"

static void import_call(Visit *v)
{
	const NodeGraph *g = node_attr_graph(v, "subgraph");
	int nin = (int)v->node->nin;
	Item **in = arena_array(v->im->arena, Item *, nin + 1);
	Frame f;
	for (int k = 0; k < nin && node_ok(v); k++) {
		in[k] = node_item(v, k);
		if (in[k] == NULL)
			node_need(v, k);
	}
	if (node_ok(v) && g->nout < v->node->nout)
		node_fail(v, ERR_INPUT, "its subgraph has %zu results, but %zu are read", g->nout, v->node->nout);
	if (!node_ok(v))
		return;
	Item **out = arena_array(v->im->arena, Item *, g->nout + 1);
	if (!node_open_graph(v, g, &f) || !node_run_graph(v, g, &f, "", in, nin, out, (int)g->nout))
		return;
	for (int k = 0; k < node_nout(v); k++)
		node_set_alias(v, k, out[k]);
}

const NodeRow tflite_control_rows[] = {
	{ "CALL", 0, "", import_call },
	{ "STABLEHLO_COMPOSITE", 0, "", import_call },
	{ NULL, 0, NULL, NULL },
};
