/*
 * Rows of control flow: If and While, of version 2 or made from version 1 (frames.c). What decides must be known while
 * importing: a condition chooses its graph, and a loop is written out, an iteration behind the other. A condition that
 * depends on data runs both graphs and chooses each result.
 */
#include "frontend/node/traverse.h"
#include "frontend/tensorflow/rows.h"

#include "op/element.h"

#include <string.h>

/* Iterations of all loops of a model, and calls of its Dag after them. */
enum { MOST_STEPS = 1 << 14, MOST_CALLS = 1 << 18 };

/* The inputs from `first` on. */
static Item **inputs(Visit *v, int first, int *n)
{
	*n = (int)v->node->nin - first;
	Item **in = arena_array(v->im->arena, Item *, *n + 1);
	for (int k = 0; k < *n && node_ok(v); k++) {
		in[k] = node_item(v, first + k);
		if (in[k] == NULL)
			node_need(v, first + k);
	}
	return in;
}

static bool is_scalar(const Item *it)
{
	return it->kind == ITEM_TENSOR && shape_elements(it->shape) == 1;
}

static void import_if(Visit *v)
{
	static const char *const branches[] = { "else_branch", "then_branch" };
	int n;
	const NodeGraph *g[2];
	Item *cond = node_item(v, 0), **in = inputs(v, 1, &n), **out[2];
	Frame f;
	for (int k = 0; k < 2; k++)
		g[k] = node_attr_graph(v, branches[k]);
	if (node_ok(v) && (cond == NULL || !is_scalar(cond)))
		node_fail(v, ERR_UNSUPPORTED, "its condition must be one number");
	if (!node_ok(v))
		return;
	int nout = (int)v->node->nout;
	bool known = node_is_known(v, 0);
	int taken = known ? element_get(cond->type, cond->data, 0) != 0 : -1;
	for (int k = 0; k < 2 && node_ok(v); k++) {
		out[k] = arena_array(v->im->arena, Item *, g[k]->nout + 1);
		if (g[k]->nout < (size_t)nout)
			node_fail(v, ERR_INPUT, "its graph %s has %zu results, but %d are read", branches[k], g[k]->nout, nout);
		if (taken >= 0 && k != taken)
			continue;
		if (!node_ok(v) || !node_open_graph(v, g[k], &f) ||
			!node_run_graph(v, g[k], &f,
				taken >= 0 ? ""
				: k        ? "then/"
						   : "else/",
				in, n, out[k], (int)g[k]->nout))
			return;
	}
	for (int k = 0; k < nout && node_ok(v); k++) {
		if (taken >= 0) {
			node_set_alias(v, k, out[taken][k]);
			continue;
		}
		Item *a = out[1][k], *b = out[0][k];
		if (a->kind != ITEM_TENSOR || b->kind != ITEM_TENSOR || !shape_eq(a->shape, b->shape)) {
			node_fail(v, ERR_UNSUPPORTED, "its condition depends on data, and its graphs give different shapes");
			return;
		}
		int c = node_reshape(v, node_cast(v, node_value(v, 0), BOOL), shape_of(0, NULL));
		node_set(v, k, node_where(v, c, node_item_value(v, a), node_item_value(v, b)));
	}
}

static void import_while(Visit *v)
{
	const NodeGraph *cond = node_attr_graph(v, "cond"), *body = node_attr_graph(v, "body");
	int n;
	Item **carried = inputs(v, 0, &n), *go;
	Frame test, open;
	if (!node_ok(v) || !node_open_graph(v, cond, &test) || !node_open_graph(v, body, &open))
		return;
	for (int64_t step = 0; node_ok(v); step++) {
		const char *part = arena_printf(v->im->arena, "%lld/", (long long)step);
		Frame t = test; /* names of conditions differ from those of bodies */
		t.prefix = arena_printf(v->im->arena, "%scond/", test.prefix);
		if (!node_run_graph(v, cond, &t, part, carried, n, &go, 1))
			return;
		if (!is_scalar(go))
			node_fail(v, ERR_UNSUPPORTED, "its condition must be one number");
		if (!node_ok(v) ||
			!node_know(v, go, arena_printf(v->im->arena, "its condition after %lld iterations", (long long)step)) ||
			element_get(go->type, go->data, 0) == 0)
			break;
		if (++v->im->steps > MOST_STEPS || v->im->dag->call.n > MOST_CALLS)
			node_fail(v, ERR_UNSUPPORTED, "loops are written out, but only for %d iterations and %d calls in all",
				MOST_STEPS, MOST_CALLS);
		Item **next = arena_array(v->im->arena, Item *, n + 1);
		if (!node_ok(v) || !node_run_graph(v, body, &open, part, carried, n, next, n))
			return;
		carried = next;
	}
	for (int k = 0; k < (int)v->node->nout && k < n && node_ok(v); k++)
		node_set_alias(v, k, carried[k]);
}

const NodeRow tf_control_rows[] = {
	{ "If", 0, "output_shapes", import_if },
	{ "StatelessIf", 0, "output_shapes", import_if },
	{ "While", 0, "output_shapes parallel_iterations swap_memory maximum_iterations", import_while },
	{ "StatelessWhile", 0, "output_shapes parallel_iterations", import_while },
	{ NULL, 0, NULL, NULL },
};
