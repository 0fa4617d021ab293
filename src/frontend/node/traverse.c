/*
 * Walks nodes: of the graph, of a function for one call of it, of a subgraph for one run of it. Nodes are
 * ordered topologically and given to their rows. A subgraph reads names of the graphs around it, so its node
 * waits for all that it reads.
 */
#include "frontend/node/traverse.h"

#include <string.h>

/* Each run of a subgraph binds its inputs and results to names, which stay in memory. */
enum { MOST_NODES = 1 << 18, MOST_DEPTH = 16, MOST_BOUND = 1 << 20 };

static const char *result_of(const NodeValue *v)
{
	return v->reads != NULL ? v->reads : v->name;
}

Item *import_lookup(const Import *im, const Frame *f, const char *name)
{
	for (; f != NULL; f = f->around) {
		int k = names_find(f->names, name);
		if (k >= 0)
			return im->item.at[k];
	}
	return NULL;
}

/* ---- what nodes read */

static void list_reads(Arena *a, const NodeDef *node, WireTexts *out);

/* The names that a subgraph reads and does not define. */
static void list_outer(Arena *a, const NodeGraph *g, WireTexts *out)
{
	Names *own = names_new(a);
	WireTexts all = { 0 };
	for (size_t k = 0; k < g->nin; k++)
		names_bind(own, g->in[k].name, 0);
	for (size_t k = 0; k < g->nweight; k++)
		names_bind(own, g->weight[k].name, 0);
	for (size_t k = 0; k < g->nnode; k++) {
		for (size_t i = 0; i < g->node[k].nout; i++)
			names_bind(own, g->node[k].out[i], 0);
		list_reads(a, &g->node[k], &all);
	}
	for (size_t k = 0; k < g->nout; k++)
		vec_push(a, &all, result_of(&g->out[k]));
	for (size_t k = 0; k < all.n; k++)
		if (!names_taken(own, all.at[k])) {
			vec_push(a, out, all.at[k]);
			names_bind(own, all.at[k], 0);
		}
}

static void list_reads(Arena *a, const NodeDef *node, WireTexts *out)
{
	for (size_t i = 0; i < node->nin; i++)
		if (node->in[i][0] != 0)
			vec_push(a, out, node->in[i]);
	for (size_t k = 0; k < node->nattr; k++)
		if (node->attr[k].kind == NODE_GRAPH && node->attr[k].graph != NULL)
			list_outer(a, node->attr[k].graph, out);
}

/* ---- topological order: most files are in order already */

typedef struct Order {
	Import *im;
	const Frame *frame;
	const NodeDef *node;
	WireTexts *reads;     /* of each node */
	Names *producer;      /* result -> node */
	unsigned char *state; /* 0 not seen, 1 on the way, 2 done */
	int *out, *stack;
	int n, nstack;
} Order;

static bool list_producers(Order *o, size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < o->node[k].nout; i++) {
			const char *name = o->node[k].out[i];
			if (name[0] == 0)
				continue;
			if (names_find(o->frame->names, name) >= 0 || names_find(o->producer, name) >= 0)
				return import_refuse(o->im, ERR_INPUT, "two results have the name '%s'", name);
			names_bind(o->producer, name, (int)k);
		}
	return true;
}

/* An input of the function that this call leaves out. */
static bool is_left_out(const Frame *f, const char *name)
{
	for (size_t k = 0; f->function != NULL && k < f->function->nin; k++)
		if (strcmp(f->function->in[k], name) == 0)
			return true;
	return false;
}

/* The next node that node k depends on and that is not done; DAG_NONE: there is none, -2: a failure. */
static int waits_for(Order *o, int k)
{
	const NodeDef *node = &o->node[k];
	for (size_t i = 0; i < o->reads[k].n; i++) {
		const char *name = o->reads[k].at[i];
		int p = names_find(o->producer, name);
		if (p < 0 && (import_lookup(o->im, o->frame, name) != NULL || is_left_out(o->frame, name)))
			continue;
		if (p < 0) {
			import_refuse(o->im, ERR_INPUT, "node '%s' (%s) reads '%s', which no node computes", node->name,
				node->op, name);
			return -2;
		}
		if (o->state[p] == 2)
			continue;
		if (o->state[p] == 1) {
			import_refuse(o->im, ERR_INPUT, "node '%s' (%s) reads '%s', which depends on the node itself",
				node->name, node->op, name);
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

static bool check_attrs(Visit *v, const NodeRow *row)
{
	for (size_t k = 0; k < v->node->nattr; k++) {
		const char *name = v->node->attr[k].name;
		size_t len = strlen(name);
		bool known = v->attr_seen[k] != 0 || strcmp(row->ignored, "*") == 0;
		for (const char *s = row->ignored; !known && *s != 0; s += strcspn(s, " "), s += *s == ' ')
			known = len > 0 && strcspn(s, " ") == len && memcmp(s, name, len) == 0;
		if (known)
			continue;
		const char *word = v->im->model->format->version;
		node_fail(v, ERR_UNSUPPORTED, "its attribute '%s' is not known, or does not go with its inputs%s", name,
			word != NULL ? arena_printf(v->im->arena, " and %s %d", word, v->frame->version) : "");
	}
	return node_ok(v);
}

/* An input that the row has not read may change the result. */
static bool check_inputs(Visit *v, const NodeRow *row)
{
	const char *word = v->im->model->format->version;
	for (int k = 0; k < node_nin(v); k++)
		if (v->node->in[k][0] != 0 && !v->input_seen[k] && strcmp(row->ignored, "*") != 0)
			node_fail(v, ERR_UNSUPPORTED, "its input %d, '%s', is one too many, or does not go with its attributes%s",
				k + 1, v->node->in[k],
				word != NULL ? arena_printf(v->im->arena, " and %s %d", word, v->frame->version) : "");
	return node_ok(v);
}

/* A frame for what a node brings: its values are named behind the node's own name. */
static bool enter(Visit *v, const char *fallback, Frame *f)
{
	const char *name = v->node->name;
	if (v->frame->depth == MOST_DEPTH)
		return import_refuse(v->im, ERR_INPUT, "%s: functions and subgraphs are nested more than %d deep", v->name,
			MOST_DEPTH);
	f->depth = v->frame->depth + 1;
	f->prefix = arena_printf(v->im->arena, "%s%.60s/", v->frame->prefix, name[0] != 0 ? name : fallback);
	f->names = names_new(v->im->arena);
	f->read = names_new(v->im->arena);
	return true;
}

/* Walks the body of a function with the call's inputs and attributes. */
static bool run_function(Visit *call, const NodeFunction *fn)
{
	Import *im = call->im;
	const Frame *up = call->frame;
	Frame f = { .up = up,
		.call = call->node,
		.function = fn,
		.version = fn->version };
	if (!enter(call, fn->name, &f))
		return false;
	if ((size_t)node_nin(call) > fn->nin || (size_t)node_nout(call) > fn->nout)
		return import_refuse(im, ERR_INPUT, "%s: it has more inputs or results than the function '%s' has", call->name,
			fn->name);
	for (int k = 0; k < node_nin(call); k++) {
		const char *name = call->node->in[k];
		Item *it = name[0] != 0 ? import_lookup(im, up, name) : NULL; /* also one that only nodes must not read */
		call->input_seen[k] = 1;
		if (it != NULL && !import_define(im, &f, fn->in[k], it))
			return false;
	}
	for (size_t k = 0; k < fn->nout; k++)
		names_bind(f.read, fn->out[k], 0);
	if (!node_walk(im, &f, fn->node, fn->nnode))
		return false;
	for (int k = 0; k < node_nout(call); k++) {
		Item *it = import_lookup(im, &f, fn->out[k]);
		if (it == NULL)
			return import_refuse(im, ERR_INPUT, "%s: the function '%s' does not compute its result '%s'", call->name,
				fn->name, fn->out[k]);
		node_set_alias(call, k, it);
	}
	return node_ok(call);
}

static bool run_node(Import *im, const Frame *f, const NodeDef *node)
{
	if (++im->nodes > MOST_NODES)
		return import_refuse(im, ERR_INPUT, "the model has more than %d nodes", MOST_NODES);
	const char *name = node->name;
	if (name[0] == 0 && node->nout > 0)
		name = node->out[0];
	Visit v = { .im = im,
		.frame = f,
		.node = node,
		.name = arena_printf(im->arena, "node '%s%.100s' (%.60s)", f->prefix, name, node->op),
		.attr_seen = arena_alloc(im->arena, node->nattr + 1),
		.input_seen = arena_alloc(im->arena, node->nin + 1) };
	const NodeFunction *fn = im->model->format->function != NULL ? im->model->format->function(im, node) : NULL;
	if (fn != NULL)
		return run_function(&v, fn);
	const NodeRow *row = node_find_row(im->model->format, node, f->version);
	if (row == NULL) {
		im->err = im->missing; /* in the branch of an If */
		return false;
	}
	if (node_nout(&v) == 0)
		return import_refuse(im, ERR_INPUT, "%s has no results", v.name);
	row->import(&v);
	if (!check_attrs(&v, row) || !check_inputs(&v, row))
		return false;
	for (int k = 0; k < node_nout(&v); k++) {
		const char *out = node->out[k];
		if (node_used(&v, k) && names_find(f->names, out) < 0)
			return import_refuse(im, ERR_UNSUPPORTED, "%s: its result %d, '%s', is not supported", v.name, k + 1, out);
	}
	return true;
}

bool node_walk(Import *im, Frame *f, const NodeDef *node, size_t n)
{
	if (n > MOST_NODES)
		return import_refuse(im, ERR_INPUT, "the model has more than %d nodes", MOST_NODES);
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

bool node_open_graph(Visit *v, const NodeGraph *g, Frame *out)
{
	const Frame *f = v->frame;
	*out = (Frame){ .up = f->up, .call = f->call, .function = f->function, .version = f->version, .around = f };
	return node_ok(v) && enter(v, v->node->nout > 0 ? v->node->out[0] : "", out) &&
		import_weights(v->im, out, g);
}

bool node_run_graph(
	Visit *v, const NodeGraph *g, const Frame *open, const char *part, Item *const *in, int nin, Item **out, int nout)
{
	Import *im = v->im;
	Frame f = *open;
	if (!node_ok(v))
		return false;
	if (g->nin != (size_t)nin || g->nout != (size_t)nout)
		return import_refuse(im, ERR_INPUT, "%s: its graph '%.60s' has %zu inputs and %zu results, but needs %d and %d",
			v->name, g->name, g->nin, g->nout, nin, nout);
	if ((im->bound += nin + nout) > MOST_BOUND)
		return import_refuse(im, ERR_UNSUPPORTED,
			"%s: loops are written out, but only while they carry %d values in all iterations together", v->name,
			MOST_BOUND);
	f.around = open;
	f.names = names_new(im->arena);
	f.read = names_new(im->arena);
	f.prefix = arena_printf(im->arena, "%s%s", open->prefix, part);
	for (int k = 0; k < nin; k++)
		if (!import_define(im, &f, g->in[k].name, in[k]))
			return false;
	for (int k = 0; k < nout; k++)
		names_bind(f.read, result_of(&g->out[k]), 0);
	if (!node_walk(im, &f, g->node, g->nnode))
		return false;
	for (int k = 0; k < nout; k++) {
		const char *name = result_of(&g->out[k]);
		out[k] = import_lookup(im, &f, name);
		if (out[k] == NULL)
			return import_refuse(im, ERR_INPUT, "%s: its graph '%.60s' does not compute its result '%s'", v->name,
				g->name, name);
	}
	return true;
}
