/*
 * Rows of branches and loops. A condition that is known takes its side; else both sides are computed, and each result
 * is chosen. A loop is written out, so its count must be known. So must its condition in each iteration, unless the
 * loop says how many iterations there are at most: then iterations behind the end change nothing.
 */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/walk.h"
#include "frontend/node/compose.h"

#include <string.h>

static void import_branch(Visit *v)
{
	static const char *const sides[] = { "then", "else" };
	const CoremlControl *c = coreml_params(v, CoremlControl);
	int n = (int)v->node->nout;
	Item **out[2] = { NULL, NULL };
	const Item *pred = node_need(v, 0);
	bool known = node_ok(v) && node_is_known(v, 0), taken = known && coreml_is_true(v, pred);
	for (int k = 0; k < 2; k++) {
		const NodeGraph *g = node_attr_graph(v, sides[k]);
		if (!node_ok(v))
			return;
		out[k] = arena_array(v->im->arena, Item *, g->nout + 1);
		if ((!known || taken == (k == 0)) &&
			!coreml_run_graph(v, g, known ? "" : arena_printf(v->im->arena, "%s/", sides[k]), NULL, 0, out[k],
				(int)g->nout))
			return;
	}
	for (int i = 0; i < n && node_ok(v); i++) {
		const int at[] = { c->place[0][i], c->place[1][i] };
		bool lacking = known ? at[!taken] < 0 : at[0] < 0 || at[1] < 0;
		if (lacking && node_used(v, i))
			node_fail(v, ERR_UNSUPPORTED, "its result '%s' is written on one side only, %s", v->node->out[i],
				known ? "which is not taken" : "but its condition is not known");
		if (lacking)
			continue;
		if (known)
			node_set_alias(v, i, out[!taken][at[!taken]]);
		else
			coreml_choose(v, i, 0, out[0][at[0]], out[1][at[1]]);
	}
}

/* One run of the condition, which gives *more, or of the body, with the variables that have a value. */
static bool run(Visit *v, const CoremlControl *c, int part, int64_t i, Item **vars, Item **more)
{
	const NodeGraph *whole = node_attr_graph(v, part == 0 ? "condition" : "body");
	Arena *a = v->im->arena;
	int n = c->n, nin = 0, nout = 0;
	NodeValue *in = arena_array(a, NodeValue, n + 1), *out = arena_array(a, NodeValue, n + 1);
	Item **from = arena_array(a, Item *, n + 1), **to = arena_array(a, Item *, n + 1);
	int *place = arena_array(a, int, n + 1);
	if (!node_ok(v))
		return false;
	if (part == 0)
		out[nout++] = whole->out[0];
	for (int k = 0; k < n; k++) {
		place[k] = vars[k] != NULL || c->writes[part][k] ? nout : -1;
		if (place[k] >= 0)
			out[nout++] = whole->out[k + (part == 0)];
		if (vars[k] == NULL)
			continue;
		in[nin] = whole->in[k];
		from[nin++] = vars[k];
	}
	NodeGraph g = *whole;
	g.in = in;
	g.nin = (size_t)nin;
	g.out = out;
	g.nout = (size_t)nout;
	if (!coreml_run_graph(
			v, &g, arena_printf(a, "%lld%s/", (long long)i, part == 0 ? "c" : ""), from, nin, to, nout))
		return false;
	for (int k = 0; k < n; k++)
		vars[k] = place[k] >= 0 ? to[place[k]] : NULL;
	if (part == 0)
		*more = to[0];
	return true;
}

/* The count that input 0 gives, or the file. */
static int64_t count_of(Visit *v, const CoremlControl *c)
{
	int n;
	const int64_t *x = c->counted ? coreml_known(v, 0, &n) : NULL;
	if (c->counted && node_ok(v) && n != 1)
		node_fail(v, ERR_TYPE, "its count has %d numbers, not one", n);
	return !node_ok(v) ? 0 : c->counted ? x[0] : c->condition && c->most == 0 ? INT64_MAX : c->most;
}

/* Whether the loop still runs, bool[]: it did before, and this condition, which depends on data, is true. */
static int still_runs(Visit *v, int before, Item *more)
{
	if (node_ok(v) && shape_elements(more->shape) != 1)
		node_fail(v, ERR_TYPE, "its condition has %lld elements, not one", (long long)shape_elements(more->shape));
	int x = node_ok(v) ? node_view(v, node_item_value(v, more), 0, NULL) : DAG_NONE;
	if (node_val(v, x)->type.kind != DT_BOOL)
		x = node_call1(v, OP_bit_not, node_call2(v, OP_equal, x, node_number(v, node_val(v, x)->type, 0)));
	return before == DAG_NONE ? x : node_call2(v, OP_bit_and, before, x);
}

/* Variables keep what they were where the loop has ended; one without a value from before is not asked for then. */
static void keep_ended(Visit *v, int active, int n, Item *const *before, Item **vars)
{
	for (int k = 0; k < n && node_ok(v); k++) {
		if (vars[k] == before[k] || vars[k] == NULL || before[k] == NULL)
			continue;
		int x = node_item_value(v, vars[k]), y = node_item_value(v, before[k]);
		if (node_ok(v) && !shape_eq(vars[k]->shape, before[k]->shape))
			node_fail(v, ERR_UNSUPPORTED,
				"an iteration changes the shape of '%s', but whether it is the last is not known", v->node->out[k]);
		vars[k] = node_new_item(v, node_where(v, active, x, y));
	}
}

static void import_loop(Visit *v)
{
	const CoremlControl *c = coreml_params(v, CoremlControl);
	Item **vars = arena_array(v->im->arena, Item *, c->n + 1), *more = NULL;
	int64_t most = count_of(v, c);
	node_attr_graph(v, "body");
	for (int k = 0; k < c->n && node_ok(v); k++) {
		vars[k] = c->first[k] < 0 ? NULL : node_item(v, c->first[k]);
		if (c->first[k] >= 0 && vars[k] == NULL)
			node_need(v, c->first[k]);
	}
	Item **before = arena_array(v->im->arena, Item *, c->n + 1);
	int active = DAG_NONE; /* it runs for certain */
	for (int64_t i = 0; node_ok(v); i++) {
		memcpy(before, vars, sizeof *vars * (size_t)c->n);
		if (c->condition && !run(v, c, 0, i, vars, &more))
			return;
		if (active != DAG_NONE)
			keep_ended(v, active, c->n, before, vars);
		if (i >= most)
			break;
		if (c->condition && most < INT64_MAX && !node_item_known(v, more))
			active = still_runs(v, active, more);
		else if (c->condition && (!node_know(v, more, "its condition") || !coreml_is_true(v, more)))
			break;
		memcpy(before, vars, sizeof *vars * (size_t)c->n);
		if (!coreml_count_step(v) || !run(v, c, 1, i, vars, NULL))
			return;
		if (active != DAG_NONE)
			keep_ended(v, active, c->n, before, vars);
	}
	for (int k = 0; k < c->n && node_ok(v); k++) {
		if (vars[k] != NULL)
			node_set_alias(v, k, vars[k]);
		else if (node_used(v, k))
			node_fail(v, ERR_UNSUPPORTED, "its result '%s' is written inside, but it runs 0 times", v->node->out[k]);
	}
}

const NodeRow coreml_control_rows[] = {
	{ "branch", 0, "", import_branch },
	{ "loop", 0, "", import_loop },
	{ NULL, 0, NULL, NULL },
};
