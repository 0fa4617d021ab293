/*
 * Rows of control flow. A condition that is known chooses its block; else both blocks are computed, and each result is
 * chosen. A loop is written out, so its condition must be known in each iteration. The label of a classifier is left
 * out: its result is the probabilities.
 */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/mil.h"

static bool run_block(Visit *v, const char *name, const char *part, Item *const *in, int nin, Item **out, int nout)
{
	const NodeGraph *g = node_attr_graph(v, name);
	return node_ok(v) && coreml_run_graph(v, g, part, in, nin, out, nout);
}

static void import_cond(Visit *v)
{
	int n = (int)v->node->nout, at = mil_at(v, "pred", NULL);
	Item **out[2], *pred = at < 0 ? NULL : node_item(v, at);
	bool known = at >= 0 && node_is_known(v, at);
	if (at < 0)
		node_fail(v, ERR_INPUT, "its parameter pred is missing");
	bool taken = known && coreml_is_true(v, pred);
	for (int k = 0; k < 2 && node_ok(v); k++) {
		const char *name = k == 0 ? "block0" : "block1";
		out[k] = arena_array(v->im->arena, Item *, n + 1);
		node_attr_graph(v, name);
		if ((!known || taken == (k == 0)) && !run_block(v, name,
												 known    ? ""
												 : k == 0 ? "then/"
														  : "else/",
												 NULL, 0, out[k], n))
			return;
	}
	for (int k = 0; k < n && node_ok(v); k++) {
		if (known)
			node_set_alias(v, k, out[!taken][k]);
		else
			coreml_choose(v, k, at, out[0][k], out[1][k]);
	}
}

static void import_while(Visit *v)
{
	int n, first = mil_at(v, "loop_vars", &n), nout = (int)v->node->nout;
	Item **vars = arena_array(v->im->arena, Item *, n + 1), **next = arena_array(v->im->arena, Item *, n + 1), *more;
	if (first < 0 || n != nout)
		node_fail(v, ERR_INPUT, "it has %d loop variables, but %d results", n, nout);
	for (int k = 0; k < n && node_ok(v); k++) {
		vars[k] = node_item(v, first + k);
		if (vars[k] == NULL)
			node_need(v, first + k);
	}
	for (int64_t i = 0; node_ok(v); i++) {
		const char *part = arena_printf(v->im->arena, "%lld/", (long long)i);
		if (!run_block(v, "block0", arena_printf(v->im->arena, "%lldc/", (long long)i), vars, n, &more, 1) ||
			!node_know(v, more, "its condition"))
			return;
		if (!coreml_is_true(v, more))
			break;
		if (!coreml_count_step(v) || !run_block(v, "block1", part, vars, n, next, n))
			return;
		for (int k = 0; k < n; k++)
			vars[k] = next[k];
	}
	for (int k = 0; k < n && node_ok(v); k++) {
		node_attr(v, "block1");
		node_set_alias(v, k, vars[k]);
	}
}

static void import_classify(Visit *v)
{
	int x = mil_need(v, "probabilities");
	mil_skip(v, "classes");
	node_set(v, 1, node_call1(v, OP_identity, x));
}

static void import_read_state(Visit *v)
{
	node_set(v, 0, node_call1(v, OP_identity, mil_need(v, "input")));
}

/* Its result is what the state is from then on (mil.c). */
static void import_write_state(Visit *v)
{
	int before = mil_need(v, "input"), x = mil_need(v, "data");
	const Value *a = node_val(v, before), *b = node_val(v, x);
	if (node_ok(v) && (!shape_eq(a->shape, b->shape) || !dtype_eq(a->type, b->type))) {
		char have[160], want[160], given[DTYPE_TEXT], type[DTYPE_TEXT];
		node_fail(v, ERR_TYPE, "it writes %s[%s] to a state of %s[%s]", dtype_print(b->type, given),
			shape_str(b->shape, have), dtype_print(a->type, type), shape_str(a->shape, want));
	}
	node_set(v, 0, node_call1(v, OP_identity, x));
}

const NodeRow mil_control_rows[] = {
	{ "cond", 0, "", import_cond },
	{ "while_loop", 0, "", import_while },
	{ "classify", 0, "", import_classify },
	{ "read_state", 8, "", import_read_state },
	{ "write_state", 8, "", import_write_state },
	{ NULL, 0, NULL, NULL },
};
