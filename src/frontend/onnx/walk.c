/*
 * Walks nodes: of the graph, of a function for one call of it, of a subgraph for one run of it. Nodes are
 * ordered topologically and given to their rows. A subgraph reads names of the graphs around it, so its node
 * waits for all that it reads.
 */
#include "frontend/onnx/walk.h"
#include "frontend/onnx/rows.h"

#include <string.h>

enum { MOST_NODES = 1 << 18, MOST_DEPTH = 16 };

Item *onnx_lookup(const Import *im, const Frame *f, const char *name)
{
	for (; f != NULL; f = f->around) {
		int k = names_find(f->names, name);
		if (k >= 0)
			return im->item.at[k];
	}
	return NULL;
}

/* ---- what nodes read */

static void list_reads(Arena *a, const OnnxNode *node, WireTexts *out);

/* The names that a subgraph reads and does not define. */
static void list_outer(Arena *a, const OnnxGraph *g, WireTexts *out)
{
	Names *own = names_new(a);
	WireTexts all = { 0 };
	for (size_t k = 0; k < g->input.n; k++)
		names_bind(own, onnx_text(g->input.at[k].name), 0);
	for (size_t k = 0; k < g->initializer.n; k++)
		names_bind(own, onnx_text(g->initializer.at[k].name), 0);
	for (size_t k = 0; k < g->node.n; k++) {
		for (size_t i = 0; i < g->node.at[k].output.n; i++)
			names_bind(own, onnx_text(g->node.at[k].output.at[i]), 0);
		list_reads(a, &g->node.at[k], &all);
	}
	for (size_t k = 0; k < g->output.n; k++)
		vec_push(a, &all, onnx_text(g->output.at[k].name));
	for (size_t k = 0; k < all.n; k++)
		if (!names_taken(own, all.at[k])) {
			vec_push(a, out, all.at[k]);
			names_bind(own, all.at[k], 0);
		}
}

static void list_reads(Arena *a, const OnnxNode *node, WireTexts *out)
{
	for (size_t i = 0; i < node->input.n; i++)
		if (onnx_text(node->input.at[i])[0] != 0)
			vec_push(a, out, node->input.at[i]);
	for (size_t k = 0; k < node->attribute.n; k++)
		if (node->attribute.at[k].g != NULL)
			list_outer(a, node->attribute.at[k].g, out);
}

/* ---- topological order: most files are in order already */

typedef struct Order {
	Import *im;
	const Frame *frame;
	const OnnxNode *node;
	WireTexts *reads;     /* of each node */
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
			if (names_find(o->frame->names, name) >= 0 || names_find(o->producer, name) >= 0)
				return onnx_refuse(o->im, ERR_INPUT, "two results have the name '%s'", name);
			names_bind(o->producer, name, (int)k);
		}
	return true;
}

/* An input of the function that this call leaves out. */
static bool is_left_out(const Frame *f, const char *name)
{
	for (size_t k = 0; f->function != NULL && k < f->function->input.n; k++)
		if (strcmp(onnx_text(f->function->input.at[k]), name) == 0)
			return true;
	return false;
}

/* The next node that node k depends on and that is not done; DAG_NONE: there is none, -2: a failure. */
static int waits_for(Order *o, int k)
{
	const OnnxNode *node = &o->node[k];
	for (size_t i = 0; i < o->reads[k].n; i++) {
		const char *name = o->reads[k].at[i];
		int p = names_find(o->producer, name);
		if (p < 0 && (onnx_lookup(o->im, o->frame, name) != NULL || is_left_out(o->frame, name)))
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

/* A frame for what a node brings: its values are named behind the node's own name. */
static bool enter(Visit *v, const char *fallback, Frame *f)
{
	const char *name = onnx_text(v->proto->name);
	if (v->frame->depth == MOST_DEPTH)
		return onnx_refuse(v->im, ERR_INPUT, "%s: functions and subgraphs are nested more than %d deep", v->name,
			MOST_DEPTH);
	f->depth = v->frame->depth + 1;
	f->prefix = arena_printf(v->im->arena, "%s%.60s/", v->frame->prefix, name[0] != 0 ? name : fallback);
	f->names = names_new(v->im->arena);
	f->read = names_new(v->im->arena);
	return true;
}

/* Walks the body of a function with the call's inputs and attributes. */
static bool run_function(Visit *call, const OnnxFunction *fn)
{
	Import *im = call->im;
	const Frame *up = call->frame;
	Frame f = { .up = up,
		.call = call->proto,
		.function = fn,
		.opset = (int)onnx_opset_of(fn->opset_import.at, fn->opset_import.n, up->opset) };
	if (!enter(call, onnx_text(fn->name), &f))
		return false;
	if ((size_t)node_nin(call) > fn->input.n || (size_t)node_nout(call) > fn->output.n)
		return onnx_refuse(im, ERR_INPUT, "%s: it has more inputs or results than the function '%s' has", call->name,
			onnx_text(fn->name));
	for (int k = 0; k < node_nin(call); k++) {
		Item *it = node_item(call, k);
		if (it != NULL && !onnx_define(im, &f, onnx_text(fn->input.at[k]), it))
			return false;
	}
	for (size_t k = 0; k < fn->output.n; k++)
		names_bind(f.read, onnx_text(fn->output.at[k]), 0);
	if (!onnx_walk(im, &f, fn->node.at, fn->node.n))
		return false;
	for (int k = 0; k < node_nout(call); k++) {
		Item *it = onnx_lookup(im, &f, onnx_text(fn->output.at[k]));
		if (it == NULL)
			return onnx_refuse(im, ERR_INPUT, "%s: the function '%s' does not compute its result '%s'", call->name,
				onnx_text(fn->name), onnx_text(fn->output.at[k]));
		node_set_alias(call, k, it);
	}
	return node_ok(call);
}

static bool run_node(Import *im, const Frame *f, const OnnxNode *node)
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
	const OnnxFunction *fn = onnx_find_function(im, node);
	if (fn != NULL)
		return run_function(&v, fn);
	const OnnxRow *row = onnx_find_row(node, f->opset);
	if (row == NULL) {
		im->err = im->missing; /* in the branch of an If */
		return false;
	}
	if (node_nout(&v) == 0)
		return onnx_refuse(im, ERR_INPUT, "%s has no results", v.name);
	row->import(&v);
	if (!check_attrs(&v, row))
		return false;
	for (int k = 0; k < node_nout(&v); k++) {
		const char *out = onnx_text(node->output.at[k]);
		if (node_used(&v, k) && names_find(f->names, out) < 0)
			return onnx_refuse(im, ERR_UNSUPPORTED, "%s: its result %d, '%s', is not supported", v.name, k + 1, out);
	}
	return true;
}

bool onnx_walk(Import *im, Frame *f, const OnnxNode *node, size_t n)
{
	if (n > MOST_NODES)
		return onnx_refuse(im, ERR_INPUT, "the model has more than %d nodes", MOST_NODES);
	Order o = { .im = im,
		.frame = f,
		.node = node,
		.reads = arena_array(im->arena, WireTexts, n + 1),
		.producer = names_new(im->arena),
		.state = arena_alloc(im->arena, n + 1),
		.out = arena_array(im->arena, int, n + 1),
		.stack = arena_array(im->arena, int, n + 1) };
	for (size_t k = 0; k < n; k++) {
		list_reads(im->arena, &node[k], &o.reads[k]);
		for (size_t i = 0; i < o.reads[k].n; i++)
			names_bind(f->read, o.reads[k].at[i], 0);
	}
	if (!list_producers(&o, n) || !order_nodes(&o, n))
		return false;
	for (size_t k = 0; k < n; k++)
		if (!run_node(im, f, &node[o.out[k]]))
			return false;
	return true;
}

/* ---- subgraphs */

bool onnx_open_graph(Visit *v, const OnnxGraph *g, Frame *out)
{
	const Frame *f = v->frame;
	*out = (Frame){ .up = f->up, .call = f->call, .function = f->function, .opset = f->opset, .around = f };
	return node_ok(v) && enter(v, v->proto->output.n > 0 ? onnx_text(v->proto->output.at[0]) : "", out) &&
		onnx_read_initializers(v->im, out, g);
}

bool onnx_run_graph(
	Visit *v, const OnnxGraph *g, const Frame *open, const char *part, Item *const *in, int nin, Item **out, int nout)
{
	Import *im = v->im;
	Frame f = *open;
	if (!node_ok(v))
		return false;
	if (g->input.n != (size_t)nin || g->output.n != (size_t)nout)
		return onnx_refuse(im, ERR_INPUT, "%s: its graph '%.60s' has %zu inputs and %zu results, but needs %d and %d",
			v->name, onnx_text(g->name), g->input.n, g->output.n, nin, nout);
	f.around = open;
	f.names = names_new(im->arena);
	f.read = names_new(im->arena);
	f.prefix = arena_printf(im->arena, "%s%s", open->prefix, part);
	for (int k = 0; k < nin; k++)
		if (!onnx_define(im, &f, onnx_text(g->input.at[k].name), in[k]))
			return false;
	for (int k = 0; k < nout; k++)
		names_bind(f.read, onnx_text(g->output.at[k].name), 0);
	if (!onnx_walk(im, &f, g->node.at, g->node.n))
		return false;
	for (int k = 0; k < nout; k++) {
		const char *name = onnx_text(g->output.at[k].name);
		out[k] = onnx_lookup(im, &f, name);
		if (out[k] == NULL)
			return onnx_refuse(im, ERR_INPUT, "%s: its graph '%.60s' does not compute its result '%s'", v->name,
				onnx_text(g->name), name);
	}
	return true;
}
