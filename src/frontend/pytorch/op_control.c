/*
 * Rows of operators that run graphs, torch.ops.higher_order of exported programs: a choice of two, loops over a known
 * number of parts, and graphs that are run once. A choice by data runs both graphs.
 */
#include "frontend/node/compose.h"
#include "frontend/pytorch/choice.h"
#include "frontend/pytorch/pytorch.h"

#include "op/element.h"

/* Runs of graphs by loops of a model, and calls of its Dag after them. */
enum { MOST_STEPS = 1 << 14, MOST_CALLS = 1 << 17 };

static const TorchList *listed(Aten *n, const char *name)
{
	static const TorchList none;
	TorchValue x = aten_any(n, name);
	return x.kind == TORCH_LIST || x.kind == TORCH_TUPLE ? x.list : &none;
}

static TorchValue run_graph(Aten *n, const char *name, const TorchList *in)
{
	TorchValue g = aten_any(n, name), y = torch_list(n->v->im->arena, TORCH_TUPLE);
	Program *p = program_of(n->v);
	if (g.kind != TORCH_GRAPH || p->run_graph == NULL)
		node_fail(n->v, ERR_INPUT, "its argument %s is no graph", name);
	if (node_ok(n->v))
		p->run_graph(p, n->v, g.graph, in, y.list);
	return y;
}

static bool count_step(Aten *n)
{
	if (++program_of(n->v)->rounds > MOST_STEPS || n->v->im->dag->call.n > MOST_CALLS)
		node_fail(n->v, ERR_UNSUPPORTED, "loops are written out, but only for %d iterations and %d calls in all",
			MOST_STEPS, MOST_CALLS);
	return node_ok(n->v);
}

static void import_cond(Aten *n)
{
	TorchValue pred = aten_any(n, "pred"), a, b;
	const TorchList *in = listed(n, "operands");
	Item *it = pred.kind == TORCH_TENSOR ? torch_item(n->v, pred.tensor) : NULL;
	aten_any(n, "true_graph");
	aten_any(n, "false_graph");
	if (it != NULL && shape_elements(it->shape) != 1)
		node_fail(n->v, ERR_TYPE, "its condition has %lld elements", (long long)shape_elements(it->shape));
	if (!node_ok(n->v))
		return;
	if (it == NULL || node_item_known(n->v, it)) {
		bool yes = it == NULL ? torch_number(pred) != 0 : element_get(it->type, it->data, 0) != 0;
		aten_give(n, run_graph(n, yes ? "true_graph" : "false_graph", in));
		return;
	}
	int when = node_reshape(n->v, torch_value(n->v, pred.tensor), shape_of(0, NULL));
	Sides s = { .when = node_cast(n->v, when, BOOL) };
	sides_open(n->v, &s);
	a = run_graph(n, "true_graph", in);
	sides_turn(n->v, &s);
	b = run_graph(n, "false_graph", in);
	sides_close(n->v, &s);
	for (size_t k = 0; k < a.list->n && node_ok(n->v); k++) {
		TorchValue x = k < b.list->n ? sides_choose(n->v, &s, a.list->at[k], b.list->at[k]) : torch_none();
		if (x.kind == TORCH_LOST || k >= b.list->n)
			node_fail(n->v, ERR_UNSUPPORTED, "its condition depends on data, and its graphs give different results%s%s",
				x.kind == TORCH_LOST ? ": " : "", x.kind == TORCH_LOST ? x.text : "");
		a.list->at[k] = x;
	}
	aten_give(n, a);
}

/* Graphs that are run once, in another mode of PyTorch. */
static void import_wrap(Aten *n)
{
	for (int k = 0; k < n->narg; k++)
		n->arg[k].seen = true;
	aten_give(n, run_graph(n, "graph", listed(n, "operands")));
}

static TorchList *joined(Aten *n, const TorchList *a, const TorchList *b)
{
	TorchList *y = torch_list(n->v->im->arena, TORCH_LIST).list;
	for (size_t k = 0; k < a->n; k++)
		torch_push(n->v->im->arena, y, a->at[k]);
	for (size_t k = 0; k < b->n; k++)
		torch_push(n->v->im->arena, y, b->at[k]);
	return y;
}

static void import_while(Aten *n)
{
	TorchValue carried = torch_list(n->v->im->arena, TORCH_TUPLE);
	const TorchList none = { 0 }, *more = listed(n, "additional_inputs");
	carried.list = joined(n, listed(n, "carried_inputs"), &none);
	for (int64_t step = 0; count_step(n); step++) {
		const TorchList *in = joined(n, carried.list, more);
		TorchValue go = run_graph(n, "cond_graph", in), first = go.list->n > 0 ? go.list->at[0] : torch_none();
		int64_t yes = 0;
		if (node_ok(n->v) && first.kind == TORCH_TENSOR)
			node_know(n->v, torch_item(n->v, first.tensor),
				arena_printf(n->v->im->arena, "its condition after %lld iterations", (long long)step));
		if (!node_ok(n->v) || !torch_to_int(n->v, first, &yes) || yes == 0)
			break;
		carried = run_graph(n, "body_graph", in);
	}
	aten_any(n, "body_graph");
	aten_give(n, carried);
}

/* Part i along dimension 0 of each tensor of a list. */
static void push_parts(Aten *n, TorchList *to, const TorchList *xs, int64_t i)
{
	for (size_t k = 0; k < xs->n && node_ok(n->v); k++)
		if (xs->at[k].kind == TORCH_TENSOR)
			torch_push(n->v->im->arena, to, torch_of(n->v, node_part(n->v, torch_value(n->v, xs->at[k].tensor), i)));
		else
			node_fail(n->v, ERR_TYPE, "element %zu of its argument xs is no tensor", k);
}

static int64_t parts_of(Aten *n, const TorchList *xs)
{
	int64_t many = -1;
	for (size_t k = 0; k < xs->n && node_ok(n->v); k++) {
		Shape s = { 0 };
		if (xs->at[k].kind == TORCH_TENSOR)
			s = torch_item(n->v, xs->at[k].tensor)->shape;
		if (s.rank < 1 || (many >= 0 && s.dim[0] != many))
			node_fail(n->v, ERR_TYPE, "the tensors of its argument xs differ in their first dimension, or have none");
		many = s.dim[0];
	}
	if (node_ok(n->v) && (many < 1 || many > MOST_STEPS))
		node_fail(n->v, ERR_UNSUPPORTED, "its argument xs has %lld parts; loops are written out for 1 to %d",
			(long long)(many < 0 ? 0 : many), MOST_STEPS);
	return node_ok(n->v) ? many : 0;
}

/* Result k of all runs, one after the other in a new first dimension. */
static TorchValue stacked(Aten *n, const TorchValue *run, int64_t runs, size_t k)
{
	int *at = arena_array(n->v->im->arena, int, runs + 1);
	for (int64_t i = 0; i < runs && node_ok(n->v); i++) {
		if (k >= run[i].list->n || run[i].list->at[k].kind != TORCH_TENSOR) {
			node_fail(n->v, ERR_UNSUPPORTED, "its graph gives a result that is no tensor");
			return torch_none();
		}
		int x = torch_value(n->v, run[i].list->at[k].tensor);
		Shape s = node_val(n->v, x)->shape;
		if (s.rank == DAG_MAX_RANK) {
			node_fail(n->v, ERR_UNSUPPORTED, "its graph gives a result of %d dimensions", s.rank);
			return torch_none();
		}
		for (int d = s.rank++; d > 0; d--)
			s.dim[d] = s.dim[d - 1];
		s.dim[0] = 1;
		at[i] = node_reshape(n->v, x, s);
	}
	return node_ok(n->v) ? torch_of(n->v, node_concat(n->v, at, (int)runs, 0)) : torch_none();
}

enum { MAP, SCAN };

/* map: the graph for each part. scan: results are what is carried on, then what is stacked. */
static void import_parts(Aten *n)
{
	Arena *a = n->v->im->arena;
	bool carrying = n->row->op == SCAN;
	const TorchList none = { 0 }, *xs = listed(n, "xs"), *more = listed(n, "additional_inputs");
	const TorchList *carried = carrying ? listed(n, "init") : &none;
	int64_t many = parts_of(n, xs);
	size_t carries = carrying ? carried->n : 0;
	TorchValue *run = arena_array(a, TorchValue, many + 1), out = torch_list(a, TORCH_TUPLE);
	for (int64_t i = 0; i < many && count_step(n); i++) {
		TorchList *in = joined(n, carried, &none);
		push_parts(n, in, xs, i);
		run[i] = run_graph(n, "graph", joined(n, in, more));
		if (!node_ok(n->v) || run[i].list->n < carries)
			break;
		TorchList first = { .at = run[i].list->at, .n = carries };
		carried = joined(n, &first, &none);
	}
	aten_any(n, "graph");
	if (node_ok(n->v) && run[many - 1].list->n < carries)
		node_fail(n->v, ERR_INPUT, "its graph gives fewer results than it carries on");
	if (!node_ok(n->v))
		return;
	for (size_t k = 0; k < run[many - 1].list->n && node_ok(n->v); k++)
		torch_push(a, out.list, k < carries ? run[many - 1].list->at[k] : stacked(n, run, many, k));
	aten_give(n, out);
}

const AtenRow torch_control_rows[] = {
	{ "higher_order::cond", "pred:* true_graph:* false_graph:* operands:A?", import_cond, 0 },
	{ "higher_order::wrap_with_set_grad_enabled", "enabled:_ graph:* operands:A?", import_wrap, 0 },
	{ "higher_order::wrap_with_autocast", "device:_ dtype:_ enabled:_ cache_enabled:_ graph:* operands:A?", import_wrap,
		0 },
	{ "higher_order::tag_activation_checkpoint", "graph:* operands:A?", import_wrap, 0 },
	{ "higher_order::wrap_activation_checkpoint", "graph:* operands:A?", import_wrap, 0 },
	{ "higher_order::strict_mode", "graph:* operands:A?", import_wrap, 0 },
	{ "higher_order::while_loop", "cond_graph:* body_graph:* carried_inputs:A additional_inputs:A?", import_while, 0 },
	{ "higher_order::map_impl", "graph:* xs:A additional_inputs:A?", import_parts, MAP },
	{ "higher_order::scan", "graph:* init:A xs:A additional_inputs:A?", import_parts, SCAN },
	{ NULL, NULL, NULL, 0 },
};
