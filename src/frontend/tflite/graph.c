/*
 * A model's operators as nodes. Where an operator's row computes with real numbers (operators.def: FLOATS), tensors of
 * codes that it reads are dequantised before and its results quantised behind, by nodes of their own. Such a row reads
 * and writes floats only. Each result is rounded to the codes that the file gives it.
 */
#include "frontend/tflite/model.h"

#include <string.h>

/* How deep subgraphs run each other, as frontend/node/traverse.c has it; what all their looks bind together. */
enum { MOST_DEPTH = 16, MOST_PARTS = 1 << 18 };

typedef struct Walk {
	Arena *arena;
	const TfliteModel *model;
	const char **real, **exact; /* of each tensor, so far: its dequantised value; its result before it is quantised */
	VEC(NodeDef) node;
} Walk;

static bool is_codes(const TfliteTensor *t)
{
	return t->codes.n > 0 && t->type.bits <= 32;
}

static bool same_codes(const TfliteCodes *a, const TfliteCodes *b)
{
	return a->n == 1 && b->n == 1 && a->scale[0] == b->scale[0] && a->zero[0] == b->zero[0];
}

/* Codes may stay codes: all tensors of codes have the first one's type, scale and zero point. */
static bool is_uniform(const TfliteModel *m, const TfliteOperator *op)
{
	const TfliteTensor *first = NULL;
	for (int k = 0; k < op->nin + op->nout; k++) {
		int at = k < op->nin ? op->in[k] : op->out[k - op->nin];
		const TfliteTensor *t = at < 0 ? NULL : &m->tensor[at];
		if (t == NULL || !is_codes(t))
			continue;
		if (first != NULL && (!same_codes(&first->codes, &t->codes) || !dtype_eq(first->type, t->type)))
			return false;
		first = first == NULL ? t : first;
	}
	return true;
}

static const char **one_name(Arena *a, const char *name)
{
	const char **list = arena_array(a, const char *, 1);
	list[0] = name;
	return list;
}

/* A node that turns codes into numbers, or back. */
static void add_conversion(Walk *w, const char *op, const char *in, const char *out, int from, int to)
{
	TfliteNode *source = arena_new_of(w->arena, TfliteNode);
	*source = (TfliteNode){ .model = w->model, .in = from, .out = to };
	vec_push(w->arena, &w->node,
		((NodeDef){ .name = out,
			.op = op,
			.domain = "",
			.in = one_name(w->arena, in),
			.nin = 1,
			.out = one_name(w->arena, out),
			.nout = 1,
			.source = source }));
}

static const char *name_of(Walk *w, int at, bool real)
{
	const TfliteTensor *t = at < 0 ? NULL : &w->model->tensor[at];
	if (t == NULL || !real || !is_codes(t))
		return t != NULL ? t->name : "";
	if (w->real[at] == NULL) {
		w->real[at] = arena_printf(w->arena, "%s/real", t->name);
		add_conversion(w, "DEQUANTIZE", t->name, w->real[at], at, -1);
	}
	return w->real[at];
}

static void add_operator(Walk *w, const TfliteOperator *op)
{
	Arena *a = w->arena;
	const char **in = arena_array(a, const char *, op->nin + 1), **out = arena_array(a, const char *, op->nout + 1);
	bool real = op->quantised == TFLITE_FLOATS || (op->quantised == TFLITE_CODES && !is_uniform(w->model, op));
	TfliteNode *source = arena_new_of(a, TfliteNode);
	*source = (TfliteNode){ w->model, op, -1, -1 };
	for (int k = 0; k < op->nin; k++)
		in[k] = name_of(w, op->in[k], real);
	for (int k = 0; k < op->nout; k++) {
		const TfliteTensor *t = &w->model->tensor[op->out[k]];
		const char **exact = &w->exact[op->out[k]];
		if (real && is_codes(t) && *exact == NULL)
			*exact = arena_printf(a, "%s/exact", t->name);
		out[k] = real && is_codes(t) ? *exact : t->name;
	}
	vec_push(a, &w->node,
		((NodeDef){ .name = op->nout > 0 ? w->model->tensor[op->out[0]].name : "",
			.op = op->name,
			.domain = "",
			.in = in,
			.nin = (size_t)op->nin,
			.out = out,
			.nout = (size_t)op->nout,
			.attr = op->attr,
			.nattr = op->nattr,
			.source = source }));
	for (int k = 0; k < op->nout; k++) {
		const TfliteTensor *t = &w->model->tensor[op->out[k]];
		if (out[k] != t->name)
			add_conversion(w, "QUANTIZE", out[k], t->name, -1, op->out[k]);
	}
}

static const char *refusal(Arena *a, const TfliteTensor *t)
{
	if (!t->typed)
		return arena_printf(a, "has elements of %s, which dlc does not have", tflite_type_name(t->code));
	return NULL;
}

static NodeValue value_of(Arena *a, const TfliteTensor *t)
{
	return (NodeValue){ .name = t->name,
		.type = t->type,
		.shaped = true,
		.dim = t->dim,
		.ndim = (size_t)t->shape.rank,
		.refused = refusal(a, t),
		.refusal = ERR_UNSUPPORTED };
}

/*
 * Constants, also those of no elements, which have no data, and states, which begin as zeros. A file does not grow with
 * its states, so all together are limited. A loop carries the states of its body from one iteration to the next, which
 * a constant cannot: only the network's own subgraph, `outer`, may read states.
 */
static bool add_weights(Walk *w, bool outer, const bool *read, const bool *made, NodeGraph *g, Err *err)
{
	const TfliteModel *m = w->model;
	VEC(NodeTensor) list = { 0 };
	int64_t zeros = 0;
	for (int k = 0; k < m->ntensor; k++) {
		const TfliteTensor *t = &m->tensor[k];
		const void *data = t->data;
		bool empty = !made[k] && t->typed && shape_elements(t->shape) == 0;
		if (!read[k] || (data == NULL && !t->variable && !empty))
			continue;
		if (t->refused != NULL)
			return fail(err, ERR_UNSUPPORTED, NULL, "tensor '%.100s' %s", t->name, t->refused);
		if (t->variable && !outer)
			return fail(err, ERR_UNSUPPORTED, NULL,
				"tensor '%.100s' is a variable of a subgraph that IF or WHILE runs; dlc takes variables of the "
				"network's own subgraph only: make it an input and a result of the operator",
				t->name);
		if (data == NULL) {
			int64_t n = shape_elements(t->shape);
			if (n < 0 || n > NODE_COUNTED - zeros)
				return fail(err, ERR_UNSUPPORTED, NULL, "its states have more than %d numbers, which is too many",
					NODE_COUNTED);
			zeros += n;
			void *state = arena_alloc_aligned(w->arena, (size_t)dtype_bytes(t->type, n) + 1, 64);
			data = memset(state, 0, (size_t)dtype_bytes(t->type, n));
		}
		vec_push(w->arena, &list, ((NodeTensor){ .name = t->name, .type = t->type, .shape = t->shape, .data = data }));
	}
	g->weight = list.at;
	g->nweight = list.n;
	return true;
}

static bool make_graph(Arena *a, const TfliteModel *m, bool outer, NodeGraph *out, Err *err)
{
	Walk w = { .arena = a,
		.model = m,
		.real = arena_array(a, const char *, m->ntensor + 1),
		.exact = arena_array(a, const char *, m->ntensor + 1) };
	bool *read = arena_array(a, bool, m->ntensor + 1), *made = arena_array(a, bool, m->ntensor + 1);
	NodeValue *in = arena_array(a, NodeValue, m->nin + 1), *result = arena_array(a, NodeValue, m->nout + 1);
	for (size_t k = 0; k < m->nop; k++) {
		for (int i = 0; i < m->op[k].nin; i++)
			if (m->op[k].in[i] >= 0)
				read[m->op[k].in[i]] = true;
		for (int i = 0; i < m->op[k].nout; i++)
			made[m->op[k].out[i]] = true;
		add_operator(&w, &m->op[k]);
	}
	for (int k = 0; k < m->nin; k++) {
		in[k] = value_of(a, &m->tensor[m->in[k]]);
		made[m->in[k]] = true;
	}
	for (int k = 0; k < m->nout; k++) {
		result[k] = value_of(a, &m->tensor[m->out[k]]);
		read[m->out[k]] = true;
	}
	if (outer)
		import_number_results(a, result, (size_t)m->nout);
	*out = (NodeGraph){ .name = m->name[0] != 0 ? m->name : "tflite",
		.node = w.node.at,
		.nnode = w.node.n,
		.in = in,
		.nin = (size_t)m->nin,
		.out = result,
		.nout = (size_t)m->nout };
	return add_weights(&w, outer, read, made, out, err);
}

/* What a look through one subgraph binds: nodes with what they read and make, weights, inputs and results. */
static int64_t count_own(const NodeGraph *g)
{
	size_t n = g->nnode + g->nweight + g->nin + g->nout;
	for (size_t k = 0; k < g->nnode; k++)
		n += g->node[k].nin + g->node[k].nout;
	return (int64_t)n;
}

/* Counts the parts of a subgraph with those of all that it runs, as often as they are looked through. */
static bool count_parts(const TfliteFile *f, int64_t *count, size_t k, int depth, Err *err)
{
	int64_t n = count_own(&f->graph[k]);
	if (depth > MOST_DEPTH)
		return fail(err, ERR_UNSUPPORTED, NULL, "its subgraphs run each other more than %d deep", MOST_DEPTH);
	for (size_t i = 0; i < f->graph[k].nnode; i++)
		for (size_t j = 0; j < f->graph[k].node[i].nattr; j++) {
			const NodeAttr *at = &f->graph[k].node[i].attr[j];
			if (at->kind != NODE_GRAPH)
				continue;
			size_t inner = (size_t)(at->graph - f->graph);
			if (count[inner] == 0 && !count_parts(f, count, inner, depth + 1, err))
				return false;
			n += count[inner];
			if (n > MOST_PARTS)
				return fail(err, ERR_UNSUPPORTED, NULL,
					"its subgraphs have more than %d nodes, weights, inputs and results, counted for each operator "
					"that runs them",
					MOST_PARTS);
		}
	count[k] = n > 0 ? n : 1;
	return true;
}

bool tflite_graphs(Arena *a, TfliteFile *file, Err *err)
{
	for (size_t k = 0; k < file->n; k++)
		if (file->model[k].read && !make_graph(a, &file->model[k], k == file->network, &file->graph[k], err))
			return false;
	return count_parts(file, arena_array(a, int64_t, file->n), file->network, 0, err);
}
