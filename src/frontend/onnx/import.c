/*
 * Imports an ONNX model: checks its opsets and operators (onnx/rows.c), makes inputs and initialisers Items
 * (onnx/input.c), walks the nodes (onnx/walk.c), and gives results their names. An import that stops at an input which
 * had to be known is repeated with a constant for that input, where one is offered.
 */
#include "frontend/onnx/onnx.h"
#include "frontend/onnx/rows.h"
#include "frontend/onnx/walk.h"

#include <string.h>

/* ---- results */

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
	dag_rename(d, value, name);
	dag_add_output(d, value);
	return true;
}

static void compare_output(Import *im, const OnnxValueInfo *v, const Item *it)
{
	const OnnxShape *s = onnx_declared_shape(v);
	if (s == NULL || im->args->nshape > 0 || im->args->batch > 0)
		return;
	char text[160];
	bool same_shape = s->dim.n == (size_t)it->shape.rank;
	for (int k = 0; same_shape && k < it->shape.rank; k++)
		same_shape = onnx_is_symbolic(&s->dim.at[k]) || s->dim.at[k].dim_value == it->shape.dim[k];
	if (!same_shape)
		onnx_note(im, "result '%s' has the shape %s, which is not what the file declares", onnx_text(v->name),
			shape_str(it->shape, text));
}

static bool read_outputs(Import *im, const Frame *f, const OnnxGraph *g)
{
	if (g->output.n == 0)
		return onnx_refuse(im, ERR_INPUT, "the model has no results");
	Names *seen = names_new(im->arena), *results = names_new(im->arena);
	for (size_t k = 0; k < g->output.n; k++)
		names_bind(results, onnx_text(g->output.at[k].name), 0);
	for (size_t k = 0; k < g->output.n; k++) {
		const char *name = onnx_text(g->output.at[k].name);
		Item *it = onnx_lookup(im, f, name);
		if (it == NULL)
			return onnx_refuse(im, ERR_INPUT, "no node computes the model's result '%s'", name);
		if (names_find(seen, name) >= 0)
			return onnx_refuse(im, ERR_INPUT, "the result '%s' is listed twice", name);
		if (it->kind != ITEM_TENSOR && it->kind != ITEM_FLOAT8)
			return onnx_refuse(im, ERR_UNSUPPORTED, "the model's result '%s' is %s; dlc gives tensors only", name,
				onnx_kind_name(it->kind));
		compare_output(im, &g->output.at[k], it);
		if (!add_output(im, it, name, results, seen))
			return false;
		names_bind(seen, name, 0);
	}
	return true;
}

static bool check_model(Import *im, int64_t *opset)
{
	const OnnxModel *m = im->model;
	if (m->graph == NULL)
		return onnx_refuse(im, ERR_INPUT, "it is not an ONNX model, or a damaged one: it has no graph");
	*opset = onnx_opset_of(m->opset_import.at, m->opset_import.n, m->opset_import.n == 0 ? 1 : ONNX_NEWEST);
	if (*opset < 1 || *opset > 1000)
		return onnx_refuse(im, ERR_INPUT, "it uses opset %lld, which does not exist", (long long)*opset);
	if (*opset > ONNX_NEWEST)
		onnx_note(
			im, "the model uses opset %lld, newer than %d, the newest known here", (long long)*opset, ONNX_NEWEST);
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *fn = &m->functions.at[k];
		int64_t version = onnx_opset_of(fn->opset_import.at, fn->opset_import.n, *opset);
		if (version < 1 || version > 1000)
			return onnx_refuse(im, ERR_INPUT, "function '%s' uses opset %lld, which does not exist",
				onnx_text(fn->name), (long long)version);
	}
	onnx_read_functions(im);
	return onnx_check_supported(im, *opset);
}

static bool import_graph(Import *im, int64_t opset)
{
	const OnnxGraph *g = im->model->graph;
	im->dag = dag_new(im->arena, onnx_text(g->name));
	Frame f = { .prefix = "", .names = names_new(im->arena), .read = names_new(im->arena), .opset = (int)opset };
	for (size_t k = 0; k < g->output.n; k++)
		names_bind(f.read, onnx_text(g->output.at[k].name), 0);
	im->own = names_new(im->arena);
	for (size_t k = 0; k < g->input.n; k++)
		names_bind(im->own, onnx_text(g->input.at[k].name), 0);
	for (size_t k = 0; k < g->initializer.n; k++)
		names_bind(im->own, onnx_text(g->initializer.at[k].name), 0);
	for (size_t k = 0; k < g->node.n; k++)
		for (size_t i = 0; i < g->node.at[k].output.n; i++)
			names_bind(im->own, onnx_text(g->node.at[k].output.at[i]), 0);
	if (!onnx_read_inputs(im, &f, g) || !onnx_walk(im, &f, g->node.at, g->node.n) || !read_outputs(im, &f, g))
		return false;
	for (size_t k = 0; k < im->dag->value.n; k++) {
		const Value *v = &im->dag->value.at[k];
		if (!onnx_check_size(im, "value", v->name, v->type, v->shape))
			return false;
	}
	return dag_check(im->dag, &im->err);
}

/* Imports once. If it fails because an input had to be known, *wanted is that input. */
static Dag *import_once(
	Arena *a, const char *path, const OnnxModel *m, const ModelArgs *args, const char **wanted, Err *err)
{
	Import *im = arena_new_of(a, Import);
	const char *slash = strrchr(path, '/');
	im->arena = a;
	im->model = m;
	im->args = args;
	im->eval = args->eval.run != NULL ? args->eval : graph_eval_interp;
	im->files.folder = slash == NULL ? "." : slash == path ? "/" : arena_printf(a, "%.*s", (int)(slash - path), path);
	int64_t opset = 1;
	bool ok = check_model(im, &opset) && import_graph(im, opset);
	*wanted = im->wanted;
	*err = im->err;
	return ok ? im->dag : NULL;
}

Dag *onnx_import(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	OnnxModel *m = arena_new_of(a, OnnxModel);
	ModelArgs with = *args; /* with the inputs that were offered */
	Dag *d = NULL;
	Err why = { 0 };
	bool again = wire_read(a, &OnnxModel_message, file, m, &why);
	while (again) {
		const char *wanted;
		d = import_once(a, path, m, &with, &wanted, &why);
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
