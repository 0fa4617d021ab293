/*
 * Rows of control flow: If, Case and While, of version 2 or made from version 1 (frames.c). A known condition or index
 * chooses its graph; one that depends on data runs all graphs and chooses each result. A loop is written out, an
 * iteration behind the other, so its condition must be known while importing.
 */
#include "frontend/node/traverse.h"
#include "frontend/tensorflow/rows.h"

#include "op/element.h"

#include <string.h>

/* Iterations of all loops of a model, and calls of its Dag after them. */
enum { MOST_STEPS = 1 << 14, MOST_CALLS = 1 << 18, MOST_BRANCHES = 1 << 10 };

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

/* A value that conditions choose: that of the first condition that holds, else the last one. */
static void set_chosen(Visit *v, int k, const int *when, Item *const *from, int n, const char *what)
{
	for (int b = 0; b < n && node_ok(v); b++)
		if (from[b]->kind != ITEM_TENSOR || !shape_eq(from[b]->shape, from[0]->shape))
			node_fail(v, ERR_UNSUPPORTED, "its condition depends on data, and its %s give different shapes", what);
	if (!node_ok(v))
		return;
	int y = node_item_value(v, from[n - 1]);
	for (int b = n - 2; b >= 0; b--)
		y = node_where(v, when[b], node_item_value(v, from[b]), y);
	node_set(v, k, y);
}

/* Input 0, a number; as a scalar of the Dag. */
static int chooser(Visit *v)
{
	return node_reshape(v, node_value(v, 0), shape_of(0, NULL));
}

static const Item *need_chooser(Visit *v, const char *what)
{
	const Item *it = node_item(v, 0);
	if (node_ok(v) && (it == NULL || !is_scalar(it)))
		node_fail(v, ERR_UNSUPPORTED, "its %s must be one number", what);
	return it;
}

/* A graph of several, its attribute, and what stands before the names of its values. */
typedef struct Branch {
	const NodeGraph *graph;
	const char *attr, *part;
} Branch;

/* The results of the branch that is taken, without part; -1: of all branches, chosen by their conditions. */
static void run_branches(Visit *v, const Branch *branch, int n, int taken, const int *when)
{
	Arena *a = v->im->arena;
	int nin, nout = (int)v->node->nout;
	Item **in = inputs(v, 1, &nin), ***out = arena_array(a, Item **, n), **from = arena_array(a, Item *, n);
	for (int b = 0; b < n && node_ok(v); b++) {
		const NodeGraph *g = branch[b].graph;
		Frame f;
		if (g->nout < (size_t)nout)
			node_fail(v, ERR_INPUT, "its graph %s has %zu results, but %d are read", branch[b].attr, g->nout, nout);
		if (!node_ok(v) || (taken >= 0 && b != taken))
			continue;
		out[b] = arena_array(a, Item *, g->nout + 1);
		if (!node_open_graph(v, g, &f) ||
			!node_run_graph(v, g, &f, taken >= 0 ? "" : branch[b].part, in, nin, out[b], (int)g->nout))
			return;
	}
	for (int k = 0; k < nout && node_ok(v); k++) {
		for (int b = 0; b < n && taken < 0; b++)
			from[b] = out[b][k];
		if (taken >= 0)
			node_set_alias(v, k, out[taken][k]);
		else
			set_chosen(v, k, when, from, n, "graphs");
	}
}

static void import_if(Visit *v)
{
	Branch branch[] = { { NULL, "then_branch", "then/" }, { NULL, "else_branch", "else/" } };
	const Item *cond = need_chooser(v, "condition");
	for (int b = 0; b < 2; b++)
		branch[b].graph = node_attr_graph(v, branch[b].attr);
	if (!node_ok(v))
		return;
	int taken = node_is_known(v, 0) ? element_get(cond->type, cond->data, 0) == 0 : -1;
	int when = taken < 0 ? node_cast(v, chooser(v), BOOL) : DAG_NONE;
	run_branches(v, branch, 2, taken, &when);
}

/* The graph of its index; the last one where the index is none of theirs. */
static void import_case(Visit *v)
{
	Arena *a = v->im->arena;
	Branch *branch = arena_array(a, Branch, MOST_BRANCHES);
	int *when = arena_array(a, int, MOST_BRANCHES), n = 0;
	const Item *index = need_chooser(v, "index");
	for (size_t k = 0; k < v->node->nattr && node_ok(v); k++) {
		const char *name = v->node->attr[k].name;
		if (strncmp(name, "branches:", 9) != 0)
			continue;
		if (n == MOST_BRANCHES)
			node_fail(v, ERR_UNSUPPORTED, "it has more than %d branches, which is not supported", MOST_BRANCHES);
		else
			branch[n] = (Branch){ node_attr_graph(v, name), name, arena_printf(a, "%d/", n) };
		n += node_ok(v);
	}
	if (node_ok(v) && n == 0)
		node_fail(v, ERR_INPUT, "it has no branches");
	if (!node_ok(v))
		return;
	int taken = -1, at = DAG_NONE;
	if (node_is_known(v, 0)) {
		double i = element_get(index->type, index->data, 0);
		taken = i >= 0 && i < n ? (int)i : n - 1;
	} else {
		at = chooser(v);
	}
	for (int b = 0; b < n - 1 && taken < 0; b++)
		when[b] = node_call2(v, OP_equal, at, node_number(v, index->type, b));
	run_branches(v, branch, n, taken, when);
}

/* A choice of version 1: the predicate, the value of its true side and that of its false side. */
static void import_merge(Visit *v)
{
	Item *side[2];
	const Item *p = need_chooser(v, "condition");
	for (int k = 0; k < 2 && node_ok(v); k++) {
		side[k] = node_item(v, 1 + k);
		if (side[k] == NULL)
			node_need(v, 1 + k);
	}
	if (!node_ok(v))
		return;
	if (node_is_known(v, 0)) {
		node_set_alias(v, 0, side[element_get(p->type, p->data, 0) == 0]);
		return;
	}
	int when = node_cast(v, chooser(v), BOOL);
	set_chosen(v, 0, &when, side, 2, "sides");
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
	{ "If", 0, "Tin output_shapes", import_if },
	{ "StatelessIf", 0, "Tin output_shapes", import_if },
	{ "Case", 0, "Tin output_shapes", import_case },
	{ "StatelessCase", 0, "Tin output_shapes", import_case },
	{ "Merge", 0, "", import_merge },
	{ "While", 0, "output_shapes parallel_iterations swap_memory maximum_iterations", import_while },
	{ "StatelessWhile", 0, "output_shapes parallel_iterations", import_while },
	{ NULL, 0, NULL, NULL },
};
