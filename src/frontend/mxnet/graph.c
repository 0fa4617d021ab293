/*
 * Gives each variable its role. One with an array is a weight. One that only training reads, a label, is dropped. One
 * that an operator reads as a parameter (slot.def), or that says how it is trained, is a weight without an array.
 * All others are inputs. Values are called as their nodes; results as MXNet lists them: "softmax_output".
 */
#include "frontend/mxnet/graph.h"

#include "op/names.h"

#include <stdlib.h>
#include <string.h>

enum { NAMED = 5 }; /* names that a refusal lists */

typedef struct Build {
	Arena *arena;
	const MxnetSymbol *symbol;
	const MxnetParams *params;
	const char **name;    /* of each node's first result */
	int *results;         /* of each node, as many as are read */
	bool *weight, *value; /* of each variable: it is read as a parameter; as anything but a label */
	Names *arrays;        /* name -> its number in params */
	bool inner;           /* a subgraph: its variables are inputs */
} Build;

/* Names of results where they are not "output", or "output0", "output1" of several. */
static const struct {
	const char *op, *names[3];
} result_names[] = {
	{ "BatchNorm", { "output", "mean", "var" } },
	{ "_contrib_BatchNormWithReLU", { "output", "mean", "var" } },
	{ "LayerNorm", { "output", "mean", "std" } },
	{ "RNN", { "output", "state_output", "statecell_output" } },
	{ "_contrib_Proposal", { "output", "score" } },
	{ "_contrib_MultiProposal", { "output", "score" } },
	{ "_contrib_quantized_conv", { "output", "min_output", "max_output" } },
	{ "_contrib_quantized_fully_connected", { "output", "min_output", "max_output" } },
	{ "_contrib_quantized_pooling", { "output", "min_output", "max_output" } },
	{ "_contrib_quantized_act", { "output", "min_output", "max_output" } },
	{ "_contrib_quantized_flatten", { "output", "min_output", "max_output" } },
	{ "_contrib_quantized_concat", { "output", "min_output", "max_output" } },
	{ "_contrib_quantized_elemwise_add", { "output", "min_output", "max_output" } },
};

static bool has_attr(const MxnetNode *n, const char *name, const char *text)
{
	for (size_t k = 0; k < n->attr.n; k++)
		if (strcmp(n->attr.at[k].name, name) == 0)
			return n->attr.at[k].text.n == strlen(text) && memcmp(n->attr.at[k].text.at, text, strlen(text)) == 0;
	return false;
}

/* The name of a result as MXNet lists it. */
static const char *result_name(Build *b, MxnetRef ref)
{
	const MxnetNode *n = &b->symbol->node.at[ref.node];
	if (strcmp(n->op, "null") == 0)
		return n->name;
	for (size_t k = 0; k < sizeof result_names / sizeof *result_names; k++)
		if (strcmp(result_names[k].op, n->op) == 0 && ref.out < 3 && result_names[k].names[ref.out] != NULL)
			return arena_printf(b->arena, "%s_%s", n->name, result_names[k].names[ref.out]);
	static const char *const hidden[] = { "_split_v2", "sort", "_linalg_det",
		"_contrib_box_nms" }; /* not all of their results are seen */
	bool several = b->results[ref.node] > 1 ||
	               (strcmp(n->op, "SliceChannel") == 0 && !has_attr(n, "num_outputs", "1")) ||
	               (n->sub.n > 0 && !has_attr(n, "num_outputs", "1")) ||
	               (strcmp(n->op, "topk") == 0 && (has_attr(n, "ret_typ", "both") || has_attr(n, "ret_typ", "value")));
	for (size_t k = 0; k < sizeof hidden / sizeof *hidden; k++)
		several |= strcmp(n->op, hidden[k]) == 0;
	return several ? arena_printf(b->arena, "%s_output%d", n->name, ref.out)
	               : arena_printf(b->arena, "%s_output", n->name);
}

static const char *value_name(Build *b, MxnetRef ref)
{
	return ref.out == 0 ? b->name[ref.node] : arena_printf(b->arena, "%s.%d", b->name[ref.node], ref.out);
}

static bool is_variable(const Build *b, size_t k)
{
	return strcmp(b->symbol->node.at[k].op, "null") == 0;
}

/* Names of variables are the network's own; those of other nodes may be taken, and then get a number. */
static void name_values(Build *b)
{
	const MxnetSymbol *s = b->symbol;
	Names *given = names_new(b->arena);
	for (size_t k = 0; k < s->node.n; k++)
		if (is_variable(b, k)) {
			b->name[k] = s->node.at[k].name;
			names_bind(given, b->name[k], 0);
		}
	for (size_t k = 0; k < s->node.n; k++)
		if (!is_variable(b, k))
			b->name[k] = names_give(given, s->node.at[k].name);
}

static void note_read(Build *b, MxnetRef ref)
{
	if (ref.out + 1 > b->results[ref.node])
		b->results[ref.node] = ref.out + 1;
}

static bool is_label(Build *b, const MxnetNode *n, size_t k)
{
	const char *slot = mxnet_slot(n->op, k, b->arena);
	return slot != NULL && strcmp(slot, "label") == 0;
}

static void note_roles(Build *b)
{
	const MxnetSymbol *s = b->symbol;
	for (size_t k = 0; k < s->node.n; k++) {
		const MxnetNode *n = &s->node.at[k];
		for (size_t i = 0; i < n->in.n; i++) {
			if (is_label(b, n, i))
				continue;
			note_read(b, n->in.at[i]);
			b->value[n->in.at[i].node] = true;
			bool filter = i == 1 && strcmp(n->op, "UpSampling") == 0 && has_attr(n, "sample_type", "bilinear");
			b->weight[n->in.at[i].node] |= filter || mxnet_slot_is_weight(mxnet_slot(n->op, i, b->arena));
		}
	}
	for (size_t k = 0; k < s->head.n; k++) {
		note_read(b, s->head.at[k]);
		b->value[s->head.at[k].node] = true;
	}
	for (size_t k = 0; k < s->node.n; k++)
		b->weight[k] |= s->node.at[k].parameter;
}

/* "(16, 0, 3)": 0 and -1 are open. False: it is no list of at most DAG_MAX_RANK dimensions. */
static bool read_shape(Build *b, const char *text, NodeDim **dim, size_t *n)
{
	*dim = arena_array(b->arena, NodeDim, DAG_MAX_RANK);
	*n = 0;
	if (text == NULL)
		return false;
	for (const char *s = text + strspn(text, "([ "); *s != 0 && *s != ')' && *s != ']'; s += strspn(s, "L, ")) {
		char *end;
		long long x = strtoll(s, &end, 10);
		if (end == s || *n == DAG_MAX_RANK)
			return false;
		(*dim)[(*n)++] = (NodeDim){ .size = x, .open = x <= 0, .symbol = "" };
		s = end;
	}
	return *n > 0;
}

static NodeDef make_open(Build *b, const MxnetNode *n)
{
	MxnetOpen *open = arena_new_of(b->arena, MxnetOpen);
	NodeDim *dim;
	size_t ndim;
	open->shaped = read_shape(b, n->shape, &dim, &ndim);
	for (size_t k = 0; open->shaped && k < ndim; k++) {
		open->shape.dim[open->shape.rank++] = dim[k].size;
		open->shaped = !dim[k].open;
	}
	const char **out = arena_new_of(b->arena, const char *);
	out[0] = n->name;
	return (NodeDef){ .name = n->name, .op = "null", .domain = "", .out = out, .nout = 1, .source = open };
}

/* The type of an input that does not say one: that of the weights beside which it is read first, else f32. */
static DType input_type(Build *b, size_t variable)
{
	const MxnetNode *v = &b->symbol->node.at[variable];
	DType type = v->dtype != NULL ? mxnet_type(strtoll(v->dtype, NULL, 10)) : (DType){ 0 };
	for (size_t k = 0; k < b->symbol->node.n && type.bits == 0; k++) {
		const MxnetNode *n = &b->symbol->node.at[k];
		if (n->in.n < 2 || (size_t)n->in.at[0].node != variable || strcmp(n->op, "Embedding") == 0)
			continue;
		const char *slot = mxnet_slot(n->op, 1, b->arena);
		int array = names_find(b->arrays, b->symbol->node.at[n->in.at[1].node].name);
		if (slot != NULL && strcmp(slot, "weight") == 0 && array >= 0)
			type = b->params->array.at[array].type;
	}
	return type.bits == 0 ? F32 : type;
}

static NodeValue make_input(Build *b, size_t k)
{
	const MxnetNode *n = &b->symbol->node.at[k];
	NodeValue v = { .name = n->name, .type = input_type(b, k) };
	NodeDim *dim;
	v.shaped = read_shape(b, n->shape, &dim, &v.ndim);
	v.dim = dim;
	return v;
}

static NodeGraph *make_inner(Arena *a, const char *path, const MxnetSymbol *s, Err *err);

static bool make_node(Build *b, const char *path, size_t k, NodeDef *out, Err *err)
{
	Arena *a = b->arena;
	const MxnetNode *n = &b->symbol->node.at[k];
	int nout = b->results[k] > 0 ? b->results[k] : 1;
	const char **in = arena_array(a, const char *, n->in.n + 1), **names = arena_array(a, const char *, nout);
	NodeAttr *attr = arena_array(a, NodeAttr, n->attr.n + n->sub.n + 1);
	for (size_t i = 0; i < n->in.n; i++)
		in[i] = is_label(b, n, i) ? "" : value_name(b, n->in.at[i]);
	for (int i = 0; i < nout; i++)
		names[i] = value_name(b, (MxnetRef){ (int)k, i });
	if (n->attr.n > 0)
		memcpy(attr, n->attr.at, sizeof *attr * n->attr.n);
	for (size_t i = 0; i < n->sub.n; i++) {
		NodeGraph *g = make_inner(a, path, n->sub.at[i], err);
		if (g == NULL)
			return false;
		attr[n->attr.n + i] = (NodeAttr){ .name = arena_printf(a, "subgraph%zu", i), .kind = NODE_GRAPH, .graph = g };
	}
	*out = (NodeDef){ .name = n->name,
		.op = n->op,
		.domain = "",
		.in = in,
		.nin = n->in.n,
		.out = names,
		.nout = (size_t)nout,
		.attr = attr,
		.nattr = n->attr.n + n->sub.n };
	return true;
}

/* "'a', 'b', .." */
static void list_name(Text *t, int k, const char *name)
{
	if (k < NAMED)
		text_add(t, "%s'%.60s'", k > 0 ? ", " : "", name);
	else if (k == NAMED)
		text_add(t, ", ..");
}

/* Weights and arrays must be the same ones. */
static bool compare_names(Build *b, const char *path, Err *err)
{
	const MxnetSymbol *s = b->symbol;
	const MxnetParams *p = b->params;
	Names *variables = names_new(b->arena);
	Text lacks = { .arena = b->arena }, extra = { .arena = b->arena };
	int nlacks = 0, nextra = 0, unnamed = 0;
	for (size_t k = 0; k < s->node.n; k++) {
		const char *name = s->node.at[k].name;
		if (!is_variable(b, k))
			continue;
		int array = names_find(b->arrays, name);
		names_bind(variables, name, 0);
		if (b->value[k] && b->weight[k] && (array < 0 || p->array.at[array].data == NULL))
			list_name(&lacks, nlacks++, name);
	}
	for (size_t k = 0; k < p->array.n; k++) {
		unnamed += p->array.at[k].name[0] == 0;
		if (!names_taken(variables, p->array.at[k].name))
			list_name(&extra, nextra++, p->array.at[k].name);
	}
	if (unnamed > 0)
		return fail(err, ERR_INPUT, p->path, "holds %zu arrays without names, which belong to no network", p->array.n);
	if (nlacks > 0)
		return fail(err, ERR_INPUT, p->path, "does not belong to %.100s: it lacks %d of its arrays (%s)%s", path,
			nlacks, text_str(&lacks),
			nextra > 0 ? arena_printf(b->arena,
							 " and has %d others (%s); block.export() writes both "
							 "files with the same names",
							 nextra, text_str(&extra))
					   : "");
	if (nextra > 0)
		return fail(err, ERR_INPUT, p->path, "does not belong to %.100s: it has %d arrays that the network lacks (%s)",
			path, nextra, text_str(&extra));
	return true;
}

static void start(Build *b)
{
	size_t n = b->symbol->node.n + 1;
	b->name = arena_array(b->arena, const char *, n);
	b->results = arena_array(b->arena, int, n);
	b->weight = arena_array(b->arena, bool, n);
	b->value = arena_array(b->arena, bool, n);
	b->arrays = names_new(b->arena);
	for (size_t k = 0; b->params != NULL && k < b->params->array.n; k++)
		names_bind(b->arrays, b->params->array.at[k].name, (int)k);
	name_values(b);
	note_roles(b);
}

static bool make_nodes(Build *b, const char *path, NodeGraph *out, Err *err)
{
	const MxnetSymbol *s = b->symbol;
	NodeDef *node = arena_array(b->arena, NodeDef, s->node.n + 1);
	VEC(NodeValue) in = { 0 };
	VEC(NodeTensor) weight = { 0 };
	Names *seen = names_new(b->arena);
	for (size_t k = 0; k < s->node.n; k++) {
		const MxnetNode *n = &s->node.at[k];
		int array = names_find(b->arrays, n->name);
		if (!is_variable(b, k)) {
			if (!make_node(b, path, k, &node[out->nnode++], err))
				return false;
			continue;
		}
		if (names_taken(seen, n->name) || (!b->value[k] && !b->inner))
			continue;
		names_bind(seen, n->name, 0);
		if (array >= 0 && b->params->array.at[array].data != NULL)
			vec_push(b->arena, &weight, b->params->array.at[array]);
		else if (b->weight[k] && !b->inner)
			node[out->nnode++] = make_open(b, n);
		else if (!b->inner)
			vec_push(b->arena, &in, make_input(b, k));
	}
	for (size_t k = 0; b->inner && k < s->arg.n; k++)
		vec_push(b->arena, &in, make_input(b, (size_t)s->arg.at[k]));
	out->node = node;
	out->in = in.at;
	out->nin = in.n;
	out->weight = weight.at;
	out->nweight = weight.n;
	return true;
}

/* A result has another name than its value; a value that is listed twice gets two names. */
static void make_results(Build *b, NodeGraph *out)
{
	const MxnetSymbol *s = b->symbol;
	NodeValue *result = arena_array(b->arena, NodeValue, s->head.n + 1);
	Names *given = names_new(b->arena);
	for (size_t k = 0; k < s->head.n; k++) {
		const char *reads = value_name(b, s->head.at[k]), *name = names_give(given, result_name(b, s->head.at[k]));
		result[k] = (NodeValue){ .name = name, .reads = strcmp(reads, name) != 0 ? reads : NULL };
	}
	out->out = result;
	out->nout = s->head.n;
}

static NodeGraph *make_inner(Arena *a, const char *path, const MxnetSymbol *s, Err *err)
{
	Build b = { .arena = a, .symbol = s, .inner = true };
	NodeGraph *g = arena_new_of(a, NodeGraph);
	g->name = "subgraph";
	start(&b);
	if (!make_nodes(&b, path, g, err))
		return NULL;
	make_results(&b, g);
	return g;
}

bool mxnet_graph(Arena *a, const char *path, const MxnetSymbol *s, const MxnetParams *params, NodeGraph *out, Err *err)
{
	Build b = { .arena = a, .symbol = s, .params = params };
	*out = (NodeGraph){ .name = "mxnet" };
	start(&b);
	if ((params != NULL && !compare_names(&b, path, err)) || !make_nodes(&b, path, out, err))
		return false;
	make_results(&b, out);
	return true;
}
