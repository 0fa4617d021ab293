/*
 * Imports a network (definition.h) into a Dag. An import that stops at an input which had to be known is repeated with
 * a constant for that input, where one is offered.
 */
#include "frontend/node/import.h"
#include "frontend/node/operators.h"
#include "frontend/node/traverse.h"

#include <string.h>

/* ---- results */

/* A value that is no result may have a result's name, where a format names values after what they become. */
static void take_name(Import *im, int value, const char *name)
{
	Dag *d = im->dag;
	int other = dag_find_value(d, name);
	bool given = other == DAG_NONE || other == value || d->value.at[other].kind != VALUE_CALL;
	for (size_t k = 0; k < d->output.n && !given; k++)
		given = d->output.at[k] == other;
	if (!given) {
		dag_swap_names(d, value, other);
		dag_rename(d, other, arena_printf(im->arena, "%s.part", name));
	}
}

/* A result keeps its name: by renaming the value, or behind a call of identity. */
static bool add_output(Import *im, Item *it, const char *name, const Names *results, const Names *seen)
{
	Dag *d = im->dag;
	if (it->value == DAG_NONE)
		it->value = dag_add_const(d,
			names_taken(im->own, it->name) && strcmp(it->name, name) != 0 ? it->name
																		  : arena_printf(im->arena, "%s.const", name),
			it->type, it->shape, it->data);
	int value = it->value;
	bool other = strcmp(d->value.at[value].name, name) != 0 && names_taken(results, d->value.at[value].name);
	if (d->value.at[value].kind != VALUE_CALL || names_taken(seen, d->value.at[value].name) || other) {
		int call = dag_add_call(d, OP_identity, name, &value, 1, NULL, 0, &im->err);
		if (call < 0)
			return false;
		value = d->call.at[call].out[0];
	}
	take_name(im, value, name);
	dag_rename(d, value, name);
	dag_add_output(d, value);
	return true;
}

static void compare_output(Import *im, const NodeValue *v, const char *name, const Item *it)
{
	if (!v->shaped || im->args->nshape > 0 || im->args->batch > 0)
		return;
	char text[160];
	bool same_shape = v->ndim == (size_t)it->shape.rank;
	for (int k = 0; same_shape && k < it->shape.rank; k++)
		same_shape = v->dim[k].open || v->dim[k].size == it->shape.dim[k];
	if (!same_shape)
		import_note(
			im, "result '%s' has the shape %s, which is not what the file declares", name, shape_str(it->shape, text));
}

/* " of node 's' (SplitToSequence)": the node that computes a result. */
static const char *maker_of(Import *im, const NodeGraph *g, const char *name)
{
	for (size_t k = 0; k < g->nnode; k++)
		for (size_t i = 0; i < g->node[k].nout; i++)
			if (strcmp(g->node[k].out[i], name) == 0)
				return arena_printf(im->arena, " of node '%.100s' (%.60s)",
					g->node[k].name[0] == 0 ? g->node[k].out[0] : g->node[k].name, g->node[k].op);
	return "";
}

/* A result of the Dag: one that the file declares, or an element of a sequence. */
typedef struct Result {
	const char *name;
	const NodeValue *declared;
	Item *item;
} Result;

typedef VEC(Result) Results;

/* A tensor, or the elements of a sequence as NAME.0, NAME.1, .. */
static bool list_result(Import *im, const NodeGraph *g, const NodeValue *v, Item *it, Names *names, Results *out)
{
	bool sequence = it->kind == ITEM_SEQUENCE;
	if (it->kind == ITEM_REFUSED)
		return import_refuse(im, it->refused->refusal, "the model's result '%s' is its input '%s', which %s", v->name,
			it->name, it->refused->refused);
	if (sequence && it->n == 0)
		import_note(im, "the result '%s' is an empty sequence, which gives no results", v->name);
	for (int k = 0; k < (sequence ? it->n : 1); k++) {
		Result r = { v->name, v, sequence ? it->list[k] : it };
		if (sequence)
			r.name = arena_printf(im->arena, "%s.%d", v->name, k);
		if (r.item == NULL)
			return import_refuse(im, ERR_UNSUPPORTED, "element %d of the model's result '%s'%s was never written", k,
				v->name, maker_of(im, g, v->name));
		if (r.item->kind != ITEM_TENSOR && r.item->kind != ITEM_FLOAT8)
			return import_refuse(im, ERR_UNSUPPORTED, "the model's result '%s'%s is %s; dlc gives tensors only", r.name,
				maker_of(im, g, v->name), item_kind_name(r.item->kind));
		if (sequence && (names_taken(im->own, r.name) || names_taken(names, r.name)))
			return import_refuse(im, ERR_UNSUPPORTED,
				"an element of the result '%s' is called '%s', but the model has another value of that name", v->name,
				r.name);
		names_bind(names, r.name, 0);
		vec_push(im->arena, out, r);
	}
	return true;
}

void import_number_results(Arena *a, NodeValue *result, size_t n)
{
	Names *names = names_new(a);
	bool *again = arena_array(a, bool, n + 1);
	for (size_t k = 0; k < n; k++) {
		again[k] = names_find(names, result[k].name) >= 0;
		names_bind(names, result[k].name, 0);
	}
	for (size_t k = 0; k < n; k++)
		if (again[k]) {
			result[k].reads = result[k].reads != NULL ? result[k].reads : result[k].name;
			result[k].name = names_give(names, result[k].name);
		}
}

static bool read_outputs(Import *im, const Frame *f, const NodeGraph *g)
{
	Names *declared = names_new(im->arena), *names = names_new(im->arena), *seen = names_new(im->arena);
	Results results = { 0 };
	for (size_t k = 0; k < g->nout; k++) {
		const char *name = g->out[k].name;
		Item *it = import_lookup(im, f, g->out[k].reads != NULL ? g->out[k].reads : name);
		if (it == NULL)
			return import_refuse(im, ERR_INPUT, "no node computes the model's result '%s'", name);
		if (names_find(declared, name) >= 0)
			return import_refuse(im, ERR_INPUT, "the result '%s' is listed twice", name);
		names_bind(declared, name, 0);
		if (!list_result(im, g, &g->out[k], it, names, &results))
			return false;
	}
	if (results.n == 0)
		return import_refuse(im, ERR_INPUT, "the model has no results");
	for (size_t k = 0; k < results.n; k++) {
		Result *r = &results.at[k];
		compare_output(im, r->declared, r->name, r->item);
		if (!add_output(im, r->item, r->name, names, seen))
			return false;
		names_bind(seen, r->name, 0);
	}
	return true;
}

static bool import_graph(Import *im)
{
	const NodeGraph *g = im->model->graph;
	im->dag = dag_new(im->arena, g->name);
	Frame f = {
		.prefix = "", .names = names_new(im->arena), .read = names_new(im->arena), .version = im->model->version
	};
	im->own = names_new(im->arena);
	for (size_t k = 0; k < g->nout; k++) {
		names_bind(f.read, g->out[k].reads != NULL ? g->out[k].reads : g->out[k].name, 0);
		if (g->out[k].reads != NULL)
			names_bind(im->own, g->out[k].name, 0);
	}
	for (size_t k = 0; k < g->nin; k++)
		names_bind(im->own, g->in[k].name, 0);
	for (size_t k = 0; k < g->nweight; k++)
		names_bind(im->own, g->weight[k].name, 0);
	for (size_t k = 0; k < g->nnode; k++)
		for (size_t i = 0; i < g->node[k].nout; i++)
			names_bind(im->own, g->node[k].out[i], 0);
	if (!import_inputs(im, &f, g) || !node_walk(im, &f, g->node, g->nnode) || !read_outputs(im, &f, g))
		return false;
	for (size_t k = 0; k < g->nin; k++)
		if (g->in[k].refused != NULL)
			import_note(
				im, "input '%s' is left out, because no node reads it: it %s", g->in[k].name, g->in[k].refused);
	for (size_t k = 0; k < im->dag->value.n; k++) {
		const Value *v = &im->dag->value.at[k];
		if (!import_check_size(im, "value", v->name, v->type, v->shape))
			return false;
	}
	return dag_check(im->dag, &im->err);
}

/* Imports once. If it fails because an input had to be known, *wanted is that input. */
static Dag *import_once(Arena *a, const NodeModel *m, const ModelArgs *args, const char **wanted, Err *err)
{
	Import *im = arena_new_of(a, Import);
	im->arena = a;
	im->model = m;
	im->args = args;
	im->eval = args->eval.run != NULL ? args->eval : graph_eval_interp;
	bool ok = node_check_supported(im) && import_graph(im);
	*wanted = im->wanted;
	*err = im->err;
	return ok ? im->dag : NULL;
}

Dag *import_model(Arena *a, const char *path, const NodeModel *m, const ModelArgs *args, Err *err)
{
	ModelArgs with = *args; /* with the inputs that were offered */
	Dag *d = NULL;
	Err why = { 0 };
	for (bool again = true; again;) {
		const char *wanted;
		d = import_once(a, m, &with, &wanted, &why);
		BindArg b;
		again = d == NULL && wanted != NULL && args->offer != NULL && args->offer(wanted, &b, args->offer_arg);
		if (again) {
			BindArg *list = arena_array(a, BindArg, with.nbind + 1);
			if (with.nbind > 0)
				memcpy(list, with.bind, sizeof *list * (size_t)with.nbind);
			b.name = wanted;
			list[with.nbind++] = b;
			with.bind = list;
			why = (Err){ 0 };
		}
	}
	err_at(&why, path);
	if (d == NULL && err != NULL && err->code == ERR_NONE)
		*err = why;
	return d;
}
