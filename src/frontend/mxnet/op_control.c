/*
 * Rows of control flow: _foreach, _while_loop and _cond. Loops are written out, an iteration behind the other. A
 * condition that is known while importing chooses; where it depends on data, both sides are computed, and a loop takes
 * all of its max_iterations, of which those behind the end change nothing.
 */
#include "frontend/mxnet/rows.h"
#include "frontend/node/traverse.h"

#include "op/element.h"

#include <string.h>

enum { MOST_STEPS = 1 << 12, MOST_CALLS = 1 << 16, MOST_INPUTS = 1 << 12 };

/* A subgraph of the node, and where its inputs come from. */
typedef struct Body {
	const NodeGraph *graph;
	Frame open;
	int nin;
	Item **in;
} Body;

static bool open_body(Visit *v, int k, Body *b)
{
	*b = (Body){ .graph = node_attr_graph(v, arena_printf(v->im->arena, "subgraph%d", k)) };
	if (!node_ok(v) || !node_open_graph(v, b->graph, &b->open))
		return false;
	b->nin = (int)b->graph->nin;
	b->in = arena_array(v->im->arena, Item *, b->nin + 1);
	return true;
}

/* An attribute that holds places below `limit`, `want` of them; < 0: any number. */
static const int64_t *places(Visit *v, const char *name, int64_t want, int64_t limit, int *n)
{
	const int64_t *list = node_attr_ints(v, name, n);
	*n = *n < 0 ? 0 : *n;
	if (node_ok(v) && (*n > MOST_INPUTS || (want >= 0 && *n != want)))
		node_fail(v, ERR_INPUT, "its attribute %s has %d numbers, but needs %lld", name, *n, (long long)want);
	for (int k = 0; k < *n && node_ok(v); k++)
		if (list[k] < 0 || list[k] >= limit)
			node_fail(v, ERR_INPUT, "its attribute %s holds %lld, but there are %lld", name, (long long)list[k],
				(long long)limit);
	return list;
}

static Item *input_item(Visit *v, int k)
{
	Item *it = node_item(v, k);
	if (it == NULL)
		node_need(v, k);
	return it;
}

/* Runs a body once; `step` names it. NULL after a refusal. */
static Item **run_body(Visit *v, const Body *b, const char *part, int nout)
{
	Item **out = arena_array(v->im->arena, Item *, nout + 1);
	if (++v->im->steps > MOST_STEPS || v->im->dag->call.n > MOST_CALLS)
		node_fail(v, ERR_UNSUPPORTED, "loops are written out, but only for %d iterations and %d calls in all",
			MOST_STEPS, MOST_CALLS);
	if (node_ok(v) && b->graph->nout != (size_t)nout)
		node_fail(v, ERR_INPUT, "its subgraph has %zu results, but needs %d", b->graph->nout, nout);
	return node_ok(v) && node_run_graph(v, b->graph, &b->open, part, b->in, b->nin, out, nout) ? out : NULL;
}

static bool in_range(Visit *v, const char *name, int64_t n, int64_t least, int64_t most)
{
	if (node_ok(v) && (n < least || n > most))
		node_fail(v, ERR_INPUT, "its attribute %s is %lld", name, (long long)n);
	return node_ok(v);
}

/* The number of results, and of those that each iteration gives a row of. */
static bool read_results(Visit *v, int64_t *nout, int64_t *collected)
{
	*nout = node_attr_int(v, "num_outputs", 0);
	*collected = node_attr_int(v, "num_out_data", 0);
	node_attr_int(v, "num_args", 0);
	return in_range(v, "num_outputs", *nout, 1, MOST_INPUTS) && in_range(v, "num_out_data", *collected, 0, *nout);
}

/* Part k of `each` parts of all steps that were run, behind each other, [steps, ..]; zeros in rows of other steps. */
static int stack(Visit *v, Item *const *part, int64_t k, int64_t each, int64_t run, int64_t steps)
{
	int *x = arena_array(v->im->arena, int, run + 1), n = 0;
	Shape s = { 0 };
	for (int64_t t = 0; t < run && node_ok(v); t++) {
		const Item *it = part[t * each + k];
		s = (Shape){ .rank = it->shape.rank + 1, .dim = { 1 } };
		if (s.rank > DAG_MAX_RANK) {
			node_fail(v, ERR_UNSUPPORTED, "its results have more than %d dimensions", DAG_MAX_RANK - 1);
			return DAG_NONE;
		}
		memcpy(s.dim + 1, it->shape.dim, sizeof *s.dim * (size_t)it->shape.rank);
		x[n++] = node_reshape(v, node_item_value(v, part[t * each + k]), s);
	}
	s.dim[0] = steps - run;
	if (node_ok(v) && run < steps)
		x[n++] = node_expand(v, node_number(v, part[k]->type, 0), s);
	return node_ok(v) ? node_concat(v, x, n, 0) : DAG_NONE;
}

/* ---- _foreach: an iteration for each row of its data */

static void import_foreach(Visit *v)
{
	Body b;
	int ndata, nstate, nrest, nin = node_nin(v);
	int64_t nout, collected, steps = 0;
	if (!read_results(v, &nout, &collected) || !open_body(v, 0, &b))
		return;
	const int64_t *data = places(v, "in_data_locs", -1, b.nin, &ndata);
	const int64_t *state = places(v, "in_state_locs", nout - collected, b.nin, &nstate);
	const int64_t *rest = places(v, "remain_locs", nin - ndata - nstate, b.nin, &nrest);
	if (node_ok(v) && (ndata < 1 || ndata + nstate + nrest != b.nin))
		node_fail(v, ERR_INPUT, "its %d values of data, %d states and %d others are not the %d inputs of its subgraph",
			ndata, nstate, nrest, b.nin);
	for (int k = 0; k < ndata && node_ok(v); k++) {
		const Item *x = node_need(v, k);
		if (node_ok(v) && (x->shape.rank < 1 || x->shape.dim[0] < 1 || (k > 0 && x->shape.dim[0] != steps)))
			node_fail(v, ERR_TYPE, "its data must have one number of rows, at least 1");
		steps = x->shape.dim[0];
	}
	for (int k = 0; k < nstate && node_ok(v); k++)
		b.in[state[k]] = input_item(v, ndata + k);
	for (int k = 0; k < nrest && node_ok(v); k++)
		b.in[rest[k]] = input_item(v, ndata + nstate + k);
	if (!node_ok(v) || steps > MOST_STEPS) {
		node_fail(v, ERR_UNSUPPORTED, "its %lld steps are written out, but at most %d are", (long long)steps,
			MOST_STEPS);
		return;
	}
	VEC(Item *) part = { 0 };
	for (int64_t t = 0; t < steps && node_ok(v); t++) {
		for (int k = 0; k < ndata; k++)
			b.in[data[k]] = node_new_item(v, node_part(v, node_value(v, k), t));
		Item **out = run_body(v, &b, arena_printf(v->im->arena, "%lld/", (long long)t), (int)nout);
		if (out == NULL)
			return;
		for (int64_t k = 0; k < collected; k++)
			vec_push(v->im->arena, &part, out[k]);
		for (int k = 0; k < nstate; k++)
			b.in[state[k]] = out[collected + k];
	}
	for (int64_t k = 0; k < collected && node_ok(v); k++)
		if (node_used(v, (int)k))
			node_set(v, (int)k, stack(v, part.at, k, collected, steps, steps));
	for (int k = 0; k < nstate && node_ok(v); k++)
		if (node_used(v, (int)collected + k))
			node_set_alias(v, (int)collected + k, b.in[state[k]]);
}

/* ---- conditions */

/* 0 or 1 where it is known while importing, else -1, and *value is a bool of the shape []. */
static int truth(Visit *v, Item *it, int *value)
{
	if (node_ok(v) && shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its condition must be one number");
	if (!node_ok(v))
		return 0;
	if (node_item_known(v, it))
		return node_know(v, it, "its condition") ? element_get(it->type, it->data, 0) != 0 : 0;
	int x = node_view(v, node_item_value(v, it), 0, NULL);
	*value = node_call1(v, OP_bit_not, node_call2(v, OP_equal, x, node_number(v, node_val(v, x)->type, 0)));
	return -1;
}

static Item *either(Visit *v, int cond, Item *a, Item *b)
{
	if (node_ok(v) && (!dtype_eq(a->type, b->type) || !shape_eq(a->shape, b->shape)))
		node_fail(v, ERR_TYPE, "its condition depends on data, but the values that it chooses from differ in shape");
	return node_ok(v) ? node_new_item(v, node_where(v, cond, node_item_value(v, a), node_item_value(v, b))) : a;
}

/* The inputs of subgraph k: those of the node at the places of an attribute. */
static bool open_branch(Visit *v, int k, const char *name, Body *b)
{
	int n;
	if (!open_body(v, k, b))
		return false;
	const int64_t *at = places(v, name, b->nin, node_nin(v), &n);
	for (int i = 0; i < n && node_ok(v); i++)
		b->in[i] = input_item(v, (int)at[i]);
	return node_ok(v);
}

static void import_cond(Visit *v)
{
	static const char *const names[] = { "else_input_locs", "then_input_locs" };
	Body test, side[2];
	Item **out[2] = { NULL, NULL };
	int64_t nout = node_attr_int(v, "num_outputs", 0);
	int cond = DAG_NONE;
	node_attr_int(v, "num_args", 0);
	if (!in_range(v, "num_outputs", nout, 1, MOST_INPUTS) || !open_branch(v, 0, "cond_input_locs", &test))
		return;
	for (int k = 0; k < 2; k++)
		if (!open_branch(v, 2 - k, names[k], &side[k]))
			return;
	Item **given = run_body(v, &test, "test/", 1);
	int taken = given != NULL ? truth(v, given[0], &cond) : 0;
	for (int k = 0; k < 2 && node_ok(v); k++)
		if (taken < 0 || taken == k)
			out[k] = run_body(v, &side[k], k ? "then/" : "else/", (int)nout);
	for (int k = 0; k < (int)nout && node_ok(v); k++)
		if (node_used(v, k))
			node_set_alias(v, k, taken >= 0 ? out[taken][k] : either(v, cond, out[1][k], out[0][k]));
}

/* ---- _while_loop */

typedef struct While {
	Body test, body;
	int nvar, collected;
	int64_t most;
	const int64_t *var, *cond_at, *func_at; /* places of variables in the body; of inputs in the node */
	Item **now;                             /* the node's inputs, whose variables change */
} While;

static bool open_while(Visit *v, While *w)
{
	int n, nin = node_nin(v);
	int64_t nout, collected;
	*w = (While){ .most = node_attr_int(v, "max_iterations", 0) };
	if (!read_results(v, &nout, &collected) || !in_range(v, "max_iterations", w->most, 1, MOST_STEPS) ||
		!open_body(v, 0, &w->test) || !open_body(v, 1, &w->body))
		return false;
	w->collected = (int)collected;
	w->cond_at = places(v, "cond_input_locs", w->test.nin, nin, &n);
	w->func_at = places(v, "func_input_locs", w->body.nin, nin, &n);
	w->var = places(v, "func_var_locs", nout - collected, w->body.nin, &w->nvar);
	w->now = arena_array(v->im->arena, Item *, nin + 1);
	for (int k = 0; k < nin && node_ok(v); k++)
		w->now[k] = input_item(v, k);
	return node_ok(v);
}

/* What was collected of step t; zeros where the loop had ended. */
static Item *collected_of(Visit *v, Item *it, int active)
{
	if (active == DAG_NONE)
		return it;
	int x = node_item_value(v, it);
	return node_new_item(v, node_where(v, active, x, node_number(v, node_val(v, x)->type, 0)));
}

static void import_while(Visit *v)
{
	While w;
	int active = DAG_NONE; /* DAG_NONE: it runs for certain */
	int64_t t = 0;
	if (!open_while(v, &w))
		return;
	VEC(Item *) part = { 0 };
	for (; t < w.most && node_ok(v); t++) {
		const char *name = arena_printf(v->im->arena, "%lld/", (long long)t);
		int cond = DAG_NONE;
		for (int k = 0; k < w.test.nin; k++)
			w.test.in[k] = w.now[w.cond_at[k]];
		Item **given = run_body(v, &w.test, name, 1);
		int runs = given != NULL ? truth(v, given[0], &cond) : 0;
		if (runs == 0 || !node_ok(v))
			break;
		if (runs < 0)
			active = active == DAG_NONE ? cond : node_call2(v, OP_bit_and, active, cond);
		for (int k = 0; k < w.body.nin; k++)
			w.body.in[k] = w.now[w.func_at[k]];
		Item **out = run_body(v, &w.body, name, w.collected + w.nvar);
		for (int k = 0; k < w.collected && out != NULL && node_ok(v); k++)
			vec_push(v->im->arena, &part, collected_of(v, out[k], active));
		for (int k = 0; k < w.nvar && out != NULL && node_ok(v); k++) {
			Item **to = &w.now[w.func_at[w.var[k]]];
			*to = active == DAG_NONE ? out[w.collected + k] : either(v, active, out[w.collected + k], *to);
		}
	}
	if (node_ok(v) && t == 0 && w.collected > 0)
		node_fail(v, ERR_UNSUPPORTED, "it has no iteration, so the shape of what it collects is not known");
	for (int k = 0; k < w.collected && node_ok(v); k++)
		if (node_used(v, k))
			node_set(v, k, stack(v, part.at, k, w.collected, t, w.most));
	for (int k = 0; k < w.nvar && node_ok(v); k++)
		if (node_used(v, w.collected + k))
			node_set_alias(v, w.collected + k, w.now[w.func_at[w.var[k]]]);
}

const NodeRow mxnet_control_rows[] = {
	{ "_foreach", 0, "", import_foreach },
	{ "_while_loop", 0, "", import_while },
	{ "_cond", 0, "", import_cond },
	{ NULL, 0, NULL, NULL },
};
