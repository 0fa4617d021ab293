/*
 * Walks through an ONNX model. Inputs and initialisers become Items; nodes are ordered topologically and
 * given to their rows; calls of the model's own functions are walked in place; results get their names. All
 * unsupported operators are listed at once, before anything is built.
 */
#include "frontend/onnx/onnx.h"
#include "frontend/onnx/visit.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NODES = 1 << 18, MOST_DEPTH = 16 };

static const OnnxRow *const row_lists[] = {
	onnx_nn_rows,
	onnx_math_rows,
	onnx_activation_rows,
	onnx_logic_rows,
	onnx_move_rows,
	onnx_gather_rows,
	onnx_resize_rows,
	onnx_fill_rows,
	onnx_sample_rows,
	onnx_rearrange_rows,
	onnx_reduce_rows,
	onnx_norm_rows,
	onnx_loss_rows,
	onnx_einsum_rows,
	onnx_deform_rows,
	onnx_recurrent_rows,
	onnx_state_rows,
	onnx_attention_rows,
	onnx_quant_rows,
	onnx_signal_rows,
};

typedef VEC(OnnxNode) Nodes;

/* ---- operators and functions by name */

static bool is_default_domain(const char *s)
{
	return s == NULL || s[0] == 0 || strcmp(s, "ai.onnx") == 0;
}

static bool same(const char *a, const char *b)
{
	return strcmp(onnx_text(a), onnx_text(b)) == 0;
}

/* The row of "Conv", or of "ai.onnx.preview::FlexAttention" where the operator has a domain of its own. */
static const OnnxRow *find_row(const OnnxNode *node)
{
	const char *op = onnx_text(node->op_type), *domain = is_default_domain(node->domain) ? "" : node->domain;
	size_t n = strlen(domain), before = n > 0 ? n + 2 : 0;
	for (size_t l = 0; l < sizeof row_lists / sizeof *row_lists; l++)
		for (const OnnxRow *r = row_lists[l]; r->name != NULL; r++)
			if (strncmp(r->name, domain, n) == 0 && (n == 0 || strncmp(r->name + n, "::", 2) == 0) &&
				strcmp(r->name + before, op) == 0)
				return r;
	return NULL;
}

/* The key of a function: its domain (the default one is ""), name and overload. */
static const char *function_key(Arena *a, const char *domain, const char *name, const char *overload)
{
	return arena_printf(a, "%s\n%s\n%s", is_default_domain(domain) ? "" : domain, onnx_text(name), onnx_text(overload));
}

static const OnnxFunction *find_function(const Import *im, const OnnxModel *m, const OnnxNode *node)
{
	if (m->functions.n == 0)
		return NULL;
	int k = names_find(im->functions, function_key(im->arena, node->domain, node->op_type, node->overload));
	return k < 0 ? NULL : &m->functions.at[k];
}

/* The version of the default domain; `otherwise` if it is not named. */
static int64_t opset_of(const OnnxOpset *at, size_t n, int64_t otherwise)
{
	for (size_t k = 0; k < n; k++)
		if (is_default_domain(at[k].domain))
			return at[k].version;
	return otherwise;
}

/* ---- what is not supported, all of it */

typedef struct Unsupported {
	const char *op, *domain, *node, *inside;
	int64_t opset;
	int since, times;
} Unsupported;

typedef struct UnsupportedList {
	Import *im;
	const OnnxModel *model;
	Names *known; /* domain and operator -> list */
	VEC(Unsupported) list;
} UnsupportedList;

static void find_unsupported(UnsupportedList *l, const OnnxNode *node, size_t n, int64_t opset, const char *inside)
{
	for (size_t k = 0; k < n; k++) {
		if (find_function(l->im, l->model, &node[k]) != NULL)
			continue;
		const OnnxRow *row = find_row(&node[k]);
		if (row != NULL && row->since <= opset)
			continue;
		const char *op = onnx_text(node[k].op_type), *domain = onnx_text(node[k].domain);
		const char *key = function_key(l->im->arena, domain, op, "");
		int known = names_find(l->known, key);
		if (known >= 0) {
			l->list.at[known].times++;
			continue;
		}
		const char *out = node[k].output.n > 0 ? onnx_text(node[k].output.at[0]) : "";
		const char *name = onnx_text(node[k].name);
		Unsupported entry = { .op = op,
			.domain = domain,
			.node = name[0] != 0 ? name : out,
			.inside = inside,
			.opset = opset,
			.since = row != NULL ? row->since : 0,
			.times = 1 };
		names_bind(l->known, key, (int)l->list.n);
		vec_push(l->im->arena, &l->list, entry);
	}
}

static bool check_supported(Import *im, const OnnxModel *m, int64_t opset)
{
	UnsupportedList l = { .im = im, .model = m, .known = names_new(im->arena) };
	find_unsupported(&l, m->graph->node.at, m->graph->node.n, opset, NULL);
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *f = &m->functions.at[k];
		find_unsupported(
			&l, f->node.at, f->node.n, opset_of(f->opset_import.at, f->opset_import.n, opset), onnx_text(f->name));
	}
	if (l.list.n == 0)
		return true;
	onnx_refuse(im, ERR_UNSUPPORTED, "%zu operator%s of this model %s not supported", l.list.n,
		l.list.n == 1 ? "" : "s", l.list.n == 1 ? "is" : "are");
	for (size_t k = 0; k < l.list.n; k++) {
		const Unsupported *x = &l.list.at[k];
		char times[40] = "", since[60] = "";
		if (x->times > 1)
			snprintf(times, sizeof times, ", %d times", x->times);
		if (x->since > 0)
			snprintf(since, sizeof since, ", which exists from opset %d on", x->since);
		err_add_item(&im->err, "%s%s%s (opset %lld, node '%.60s'%s%s%s%s)%s",
			is_default_domain(x->domain) ? "" : x->domain, is_default_domain(x->domain) ? "" : "::", x->op,
			(long long)x->opset, x->node, x->inside != NULL ? " of function " : "", x->inside != NULL ? x->inside : "",
			times, "", since);
	}
	return false;
}

/* ---- names */

static bool is_defined(const Frame *f, const char *name)
{
	return names_find(f->names, name) >= 0;
}

static Item *lookup(Import *im, const Frame *f, const char *name)
{
	int k = names_find(f->names, name);
	return k < 0 ? NULL : im->item.at[k];
}

/* ---- topological order: most files are in order already */

typedef struct Order {
	Import *im;
	const Frame *frame;
	const OnnxNode *node;
	Names *producer;      /* result -> node */
	unsigned char *state; /* 0 not seen, 1 on the way, 2 done */
	int *out, *stack;
	int n, nstack;
} Order;

static bool list_producers(Order *o, size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < o->node[k].output.n; i++) {
			const char *name = onnx_text(o->node[k].output.at[i]);
			if (name[0] == 0)
				continue;
			if (is_defined(o->frame, name) || names_find(o->producer, name) >= 0)
				return onnx_refuse(o->im, ERR_INPUT, "two results have the name '%s'", name);
			names_bind(o->producer, name, (int)k);
		}
	return true;
}

/* An input of the function that this call leaves out. */
static bool is_left_out(const Frame *f, const char *name)
{
	for (size_t k = 0; f->function != NULL && k < f->function->input.n; k++)
		if (same(f->function->input.at[k], name))
			return true;
	return false;
}

/* The next node that node k depends on and that is not done; DAG_NONE: there is none, -2: a failure. */
static int waits_for(Order *o, int k)
{
	const OnnxNode *node = &o->node[k];
	for (size_t i = 0; i < node->input.n; i++) {
		const char *name = onnx_text(node->input.at[i]);
		if (name[0] == 0 || is_defined(o->frame, name))
			continue;
		int p = names_find(o->producer, name);
		if (p < 0 && is_left_out(o->frame, name))
			continue;
		if (p < 0) {
			onnx_refuse(o->im, ERR_INPUT, "node '%s' (%s) reads '%s', which no node computes", onnx_text(node->name),
				onnx_text(node->op_type), name);
			return -2;
		}
		if (o->state[p] == 2)
			continue;
		if (o->state[p] == 1) {
			onnx_refuse(o->im, ERR_INPUT, "node '%s' (%s) reads '%s', which depends on the node itself",
				onnx_text(node->name), onnx_text(node->op_type), name);
			return -2;
		}
		return p;
	}
	return DAG_NONE;
}

static bool order_nodes(Order *o, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		if (o->state[k] == 0) {
			o->stack[o->nstack++] = (int)k;
			o->state[k] = 1;
		}
		while (o->nstack > 0) {
			int top = o->stack[o->nstack - 1], next = waits_for(o, top);
			if (next == -2)
				return false;
			if (next >= 0) {
				o->state[next] = 1;
				o->stack[o->nstack++] = next;
				continue;
			}
			o->state[top] = 2;
			o->out[o->n++] = top;
			o->nstack--;
		}
	}
	return true;
}

/* ---- nodes */

static bool run_nodes(Import *im, const OnnxModel *m, Frame *f, const OnnxNode *node, size_t n);

static bool check_attrs(Visit *v, const OnnxRow *row)
{
	for (size_t k = 0; k < v->proto->attribute.n; k++) {
		const char *name = onnx_text(v->proto->attribute.at[k].name);
		size_t len = strlen(name);
		bool known = v->attr_seen[k] != 0;
		for (const char *s = row->ignored; !known && *s != 0; s += strcspn(s, " "), s += *s == ' ')
			known = len > 0 && strcspn(s, " ") == len && memcmp(s, name, len) == 0;
		if (!known)
			node_fail(v, ERR_UNSUPPORTED,
				"its attribute '%s' is not known, or does not go with its "
				"inputs and opset %d",
				name, v->frame->opset);
	}
	return node_ok(v);
}

/* Walks the body of a function with the call's inputs and attributes. */
static bool run_function(Import *im, const OnnxModel *m, Visit *call, const OnnxFunction *fn)
{
	const Frame *up = call->frame;
	if (up->depth == MOST_DEPTH)
		return onnx_refuse(im, ERR_INPUT, "%s: functions are nested more than %d deep", call->name, MOST_DEPTH);
	const char *name = onnx_text(call->proto->name);
	if (name[0] == 0)
		name = onnx_text(fn->name);
	Frame f = { .up = up,
		.call = call->proto,
		.function = fn,
		.depth = up->depth + 1,
		.prefix = arena_printf(im->arena, "%s%.60s/", up->prefix, name),
		.names = names_new(im->arena),
		.read = names_new(im->arena),
		.opset = (int)opset_of(fn->opset_import.at, fn->opset_import.n, up->opset) };
	if ((size_t)node_nin(call) > fn->input.n || (size_t)node_nout(call) > fn->output.n)
		return onnx_refuse(im, ERR_INPUT, "%s: it has more inputs or results than the function '%s' has", call->name,
			onnx_text(fn->name));
	for (int k = 0; k < node_nin(call); k++) {
		const Item *it = node_in(call, k);
		if (it != NULL && !onnx_define(im, &f, onnx_text(fn->input.at[k]), (Item *)(uintptr_t)it))
			return false;
	}
	for (size_t k = 0; k < fn->output.n; k++)
		names_bind(f.read, onnx_text(fn->output.at[k]), 0);
	if (!run_nodes(im, m, &f, fn->node.at, fn->node.n))
		return false;
	for (int k = 0; k < node_nout(call); k++) {
		Item *it = lookup(im, &f, onnx_text(fn->output.at[k]));
		if (it == NULL)
			return onnx_refuse(im, ERR_INPUT, "%s: the function '%s' does not compute its result '%s'", call->name,
				onnx_text(fn->name), onnx_text(fn->output.at[k]));
		node_set_alias(call, k, it);
	}
	return node_ok(call);
}

static bool run_node(Import *im, const OnnxModel *m, const Frame *f, const OnnxNode *node)
{
	if (++im->nodes > MOST_NODES)
		return onnx_refuse(im, ERR_INPUT, "the model has more than %d nodes", MOST_NODES);
	const char *name = onnx_text(node->name);
	if (name[0] == 0 && node->output.n > 0)
		name = onnx_text(node->output.at[0]);
	Visit v = { .im = im,
		.frame = f,
		.proto = node,
		.name = arena_printf(im->arena, "node '%s%.100s' (%.60s)", f->prefix, name, onnx_text(node->op_type)),
		.attr_seen = arena_alloc(im->arena, node->attribute.n + 1) };
	const OnnxFunction *fn = find_function(im, m, node);
	if (fn != NULL)
		return run_function(im, m, &v, fn);
	const OnnxRow *row = find_row(node);
	if (row == NULL || node_nout(&v) == 0)
		return onnx_refuse(im, ERR_INPUT, "%s has no results", v.name);
	row->import(&v);
	if (!check_attrs(&v, row))
		return false;
	for (int k = 0; k < node_nout(&v); k++) {
		const char *out = onnx_text(node->output.at[k]);
		if (node_used(&v, k) && !is_defined(f, out))
			return onnx_refuse(im, ERR_UNSUPPORTED, "%s: its result %d, '%s', is not supported", v.name, k + 1, out);
	}
	return true;
}

static bool run_nodes(Import *im, const OnnxModel *m, Frame *f, const OnnxNode *node, size_t n)
{
	if (n > MOST_NODES)
		return onnx_refuse(im, ERR_INPUT, "the model has more than %d nodes", MOST_NODES);
	Order o = { .im = im,
		.frame = f,
		.node = node,
		.producer = names_new(im->arena),
		.state = arena_alloc(im->arena, n + 1),
		.out = arena_array(im->arena, int, n + 1),
		.stack = arena_array(im->arena, int, n + 1) };
	if (!list_producers(&o, n) || !order_nodes(&o, n))
		return false;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < node[k].input.n; i++)
			names_bind(f->read, onnx_text(node[k].input.at[i]), 0);
	for (size_t k = 0; k < n; k++)
		if (!run_node(im, m, f, &node[o.out[k]]))
			return false;
	return true;
}

/* ---- results */

/* A result keeps its name: by renaming the value, or behind a call of identity. */
static bool add_output(Import *im, Item *it, const char *name, const Names *results, const Names *seen)
{
	Dag *d = im->dag;
	if (it->value == DAG_NONE)
		it->value = dag_add_const(d,
			names_taken(im->own, it->name) && !same(it->name, name) ? it->name
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
		Item *it = lookup(im, f, name);
		if (it == NULL)
			return onnx_refuse(im, ERR_INPUT, "no node computes the model's result '%s'", name);
		if (names_find(seen, name) >= 0)
			return onnx_refuse(im, ERR_INPUT, "the result '%s' is listed twice", name);
		compare_output(im, &g->output.at[k], it);
		if (!add_output(im, it, name, results, seen))
			return false;
		names_bind(seen, name, 0);
	}
	return true;
}

static bool check_model(Import *im, const OnnxModel *m, int64_t *opset)
{
	if (m->graph == NULL)
		return onnx_refuse(im, ERR_INPUT, "it is not an ONNX model, or a damaged one: it has no graph");
	*opset = opset_of(m->opset_import.at, m->opset_import.n, m->opset_import.n == 0 ? 1 : ONNX_NEWEST);
	if (*opset < 1 || *opset > 1000)
		return onnx_refuse(im, ERR_INPUT, "it uses opset %lld, which does not exist", (long long)*opset);
	if (*opset > ONNX_NEWEST)
		onnx_note(
			im, "the model uses opset %lld, newer than %d, the newest known here", (long long)*opset, ONNX_NEWEST);
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *fn = &m->functions.at[k];
		int64_t version = opset_of(fn->opset_import.at, fn->opset_import.n, *opset);
		if (version < 1 || version > 1000)
			return onnx_refuse(im, ERR_INPUT, "function '%s' uses opset %lld, which does not exist",
				onnx_text(fn->name), (long long)version);
	}
	im->functions = names_new(im->arena);
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *fn = &m->functions.at[k];
		names_bind(im->functions, function_key(im->arena, fn->domain, fn->name, fn->overload), (int)k);
	}
	return check_supported(im, m, *opset);
}

static bool import_graph(Import *im, const OnnxModel *m, int64_t opset)
{
	const OnnxGraph *g = m->graph;
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
	if (!onnx_read_inputs(im, &f, g) || !run_nodes(im, m, &f, g->node.at, g->node.n) || !read_outputs(im, &f, g))
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
	im->args = args;
	im->eval = args->eval.run != NULL ? args->eval : graph_eval_interp;
	im->files.folder = slash == NULL ? "." : slash == path ? "/" : arena_printf(a, "%.*s", (int)(slash - path), path);
	int64_t opset = 1;
	bool ok = check_model(im, m, &opset) && import_graph(im, m, opset);
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
