/*
 * A function of an ML program as a graph. Operators `const` become weights; a text that an operator reads becomes an
 * attribute of the parameter's name; other attributes than the name are parameters, as decompressions of iOS 16 write
 * them. Blocks are read where they are, up to a depth. A state is an input; where it is written it is a result, too.
 */
#include "frontend/coreml/mil.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16 };

static const NodeRow *const lists[] = { mil_math_rows, mil_window_rows, mil_norm_rows, mil_reduce_rows, mil_move_rows,
	mil_place_rows, mil_image_rows, mil_recurrent_rows, mil_constexpr_rows, mil_control_rows, NULL };
const NodeFormat mil_format = {
	.name = "ML Program", .version = "opset", .weight = "constant", .lists = lists, .branch = "cond", .read = mil_read
};

typedef struct Builder {
	Arena *arena;
	Names *constants; /* name -> its number in `constant` */
	VEC(const MilValue *) constant;
	Names *types; /* name of a value -> its number in `type` */
	VEC(const MilType *) type;
	int fresh; /* values that operators hold themselves, named so far */
	Names *states; /* name of a state -> its number in `state` */
	WireTexts state; /* the value that it is now: that of the input, then what was written last */
	Err *err;
} Builder;

/* What an operator reads, while it is made. */
typedef struct Inputs {
	VEC(const char *) name;
	VEC(const char *) key;
	VEC(NodeAttr) attr;
	VEC(NodeTensor) weight;
} Inputs;

static bool make_graph(Builder *b, const MilBlock *block, int depth, NodeGraph *out);

static const MilTensorType *tensor_type(const MilType *t)
{
	return t != NULL ? t->tensorType : NULL;
}

static void add_text(Builder *b, Inputs *in, const char *key, const MilValue *v)
{
	const char *text = mil_text_of(v);
	NodeAttr attr = { .name = key, .kind = NODE_TEXT, .text = { (const unsigned char *)text, strlen(text) } };
	vec_push(b->arena, &in->attr, attr);
}

/* A value that stands in the operator itself, or a constant that is no tensor. */
static bool add_value(Builder *b, Inputs *in, const char *key, const MilValue *v)
{
	if (v == NULL)
		return fail(b->err, ERR_INPUT, NULL, "parameter '%.60s' of an operator has no value", key);
	if (mil_is_text(v)) {
		add_text(b, in, key, v);
	} else if (tensor_type(v->type) == NULL) {
		vec_push(b->arena, &in->attr, ((NodeAttr){ .name = key, .kind = NODE_OTHER }));
	} else {
		NodeTensor w = { .name = arena_printf(b->arena, "%s/%d", key, b->fresh++), .source = v };
		vec_push(b->arena, &in->weight, w);
		vec_push(b->arena, &in->name, w.name);
		vec_push(b->arena, &in->key, key);
	}
	return true;
}

static bool add_binding(Builder *b, Inputs *in, const char *key, const MilBinding *x)
{
	if (x->name == NULL)
		return add_value(b, in, key, x->value);
	int k = names_find(b->constants, x->name);
	const MilValue *v = k < 0 ? NULL : b->constant.at[k];
	if (v != NULL && (mil_is_text(v) || tensor_type(v->type) == NULL))
		return add_value(b, in, key, v);
	vec_push(b->arena, &in->name, x->name);
	vec_push(b->arena, &in->key, key);
	return true;
}

static bool add_blocks(Builder *b, Inputs *in, const MilOperation *op, int depth)
{
	for (size_t k = 0; k < op->blocks.n; k++) {
		MilBlock *block = arena_new_of(b->arena, MilBlock);
		NodeGraph *g = arena_new_of(b->arena, NodeGraph);
		NodeAttr attr = { .name = arena_printf(b->arena, "block%zu", k), .kind = NODE_GRAPH, .graph = g };
		if (depth == MOST_DEPTH)
			return fail(b->err, ERR_INPUT, NULL, "its blocks are nested more than %d deep", MOST_DEPTH);
		if (!wire_read(b->arena, &MilBlock_message, op->blocks.at[k], block, b->err) ||
			!make_graph(b, block, depth + 1, g))
			return false;
		vec_push(b->arena, &in->attr, attr);
	}
	return true;
}

static void note_type(Builder *b, const char *name, const MilType *type)
{
	vec_push(b->arena, &b->type, type);
	names_bind(b->types, name, (int)b->type.n - 1);
}

static const MilAttribute *attribute(const MilOperation *op, const char *key)
{
	for (size_t k = 0; k < op->attributes.n; k++)
		if (strcmp(coreml_text(op->attributes.at[k].key), key) == 0)
			return &op->attributes.at[k];
	return NULL;
}

/* The operator as a node; a value's name is the operator's. */
static bool add_operation(Builder *b, const MilOperation *op, int depth, NodeDef *node, Inputs *in)
{
	const char **out = arena_array(b->arena, const char *, op->outputs.n + 1);
	MilNode *source = arena_new_of(b->arena, MilNode);
	for (size_t k = 0; k < op->inputs.n; k++) {
		const MilInput *x = &op->inputs.at[k];
		for (size_t i = 0; x->value != NULL && i < x->value->arguments.n; i++)
			if (!add_binding(b, in, coreml_text(x->key), &x->value->arguments.at[i]))
				return false;
	}
	for (size_t k = 0; k < op->attributes.n; k++) {
		const char *key = coreml_text(op->attributes.at[k].key);
		if (strcmp(key, "name") != 0 && !add_value(b, in, key, op->attributes.at[k].value))
			return false;
	}
	if (!add_blocks(b, in, op, depth))
		return false;
	for (size_t k = 0; k < op->outputs.n; k++) {
		out[k] = coreml_text(op->outputs.at[k].name);
		note_type(b, out[k], op->outputs.at[k].type);
	}
	source->op = op;
	source->key = in->key.at;
	*node = (NodeDef){ .name = op->outputs.n > 0 ? out[0] : "",
		.op = coreml_text(op->type),
		.domain = "",
		.in = in->name.at,
		.nin = in->name.n,
		.out = out,
		.nout = op->outputs.n,
		.attr = in->attr.at,
		.nattr = in->attr.n,
		.source = source };
	return true;
}

/* An operator on a state reads what the state is there; one that writes it gives what the state is from then on. */
static bool use_state(Builder *b, int depth, NodeDef *n)
{
	const MilNode *source = n->source;
	const char **in = arena_array(b->arena, const char *, n->nin + 1), **out = arena_array(b->arena, const char *, 1);
	for (size_t k = 0; k < n->nin; k++) {
		in[k] = n->in[k];
		if (strcmp(source->key[k], "input") != 0)
			continue;
		int s = names_find(b->states, in[k]);
		if (s < 0)
			return fail(b->err, ERR_INPUT, NULL, "operator %s reads '%.100s', which is no state", n->op, in[k]);
		const char *name = in[k];
		in[k] = b->state.at[s];
		if (strcmp(n->op, "write_state") != 0)
			continue;
		if (depth > 0)
			return fail(b->err, ERR_UNSUPPORTED, NULL,
				"a block of an operator writes the state '%.100s': let it give the value, and write that behind it",
				name);
		out[0] = b->state.at[s] = arena_printf(b->arena, "%s/%d", name, b->fresh++);
		n->name = out[0];
		n->out = out;
		n->nout = 1;
	}
	n->in = in;
	return true;
}

static bool is_on_state(const char *op)
{
	return strcmp(op, "read_state") == 0 || strcmp(op, "write_state") == 0;
}

/* Constants first, so that operators know which ones are texts. */
static bool make_graph(Builder *b, const MilBlock *block, int depth, NodeGraph *out)
{
	Arena *a = b->arena;
	VEC(NodeTensor) weight = { 0 };
	VEC(NodeDef) node = { 0 };
	for (size_t k = 0; k < block->operations.n; k++) {
		const MilOperation *op = &block->operations.at[k];
		if (strcmp(coreml_text(op->type), "const") != 0)
			continue;
		const MilAttribute *val = attribute(op, "val");
		if (op->outputs.n != 1 || val == NULL || val->value == NULL)
			return fail(b->err, ERR_INPUT, NULL, "a constant has no value");
		vec_push(a, &b->constant, val->value);
		names_bind(b->constants, coreml_text(op->outputs.at[0].name), (int)b->constant.n - 1);
		if (!mil_is_text(val->value) && tensor_type(val->value->type) != NULL)
			vec_push(a, &weight, ((NodeTensor){ .name = coreml_text(op->outputs.at[0].name), .source = val->value }));
	}
	for (size_t k = 0; k < block->operations.n; k++) {
		const MilOperation *op = &block->operations.at[k];
		NodeDef n;
		Inputs in = { 0 };
		if (strcmp(coreml_text(op->type), "const") == 0)
			continue;
		if (!add_operation(b, op, depth, &n, &in) || (is_on_state(n.op) && !use_state(b, depth, &n)))
			return false;
		vec_push(a, &node, n);
		for (size_t i = 0; i < in.weight.n; i++)
			vec_push(a, &weight, in.weight.at[i]);
	}
	NodeValue *from = arena_array(a, NodeValue, block->inputs.n + 1),
			  *to = arena_array(a, NodeValue, block->outputs.n + 1);
	for (size_t k = 0; k < block->inputs.n; k++)
		from[k].name = coreml_text(block->inputs.at[k].name);
	for (size_t k = 0; k < block->outputs.n; k++)
		to[k].name = block->outputs.at[k];
	*out = (NodeGraph){ .name = "block",
		.node = node.at,
		.nnode = node.n,
		.in = from,
		.nin = block->inputs.n,
		.out = to,
		.nout = block->outputs.n,
		.weight = weight.at,
		.nweight = weight.n };
	return true;
}

/* ---- functions */

static const CoremlArray *feature_named(const CoremlFeature *list, size_t n, const char *name)
{
	for (size_t k = 0; k < n; k++)
		if (strcmp(coreml_text(list[k].name), name) == 0 && list[k].type != NULL)
			return list[k].type->multiArrayType;
	return NULL;
}

/* The shape that the description declares for an input of a function: that of a flexible one is its usual shape. */
static const CoremlArray *declared(const CoremlFile *f, const char *function, const char *name)
{
	const CoremlDescription *d = f->model->description;
	for (size_t k = 0; d != NULL && k < d->functions.n; k++)
		if (strcmp(coreml_text(d->functions.at[k].name), function) == 0)
			return feature_named(d->functions.at[k].input.at, d->functions.at[k].input.n, name);
	return d != NULL ? feature_named(d->input.at, d->input.n, name) : NULL;
}

static bool is_state(const MilNamed *x)
{
	return x->type != NULL && (x->type->has >> MilType_stateType & 1) != 0;
}

static bool make_input(Builder *b, const CoremlFile *f, const char *function, const MilNamed *x, NodeValue *out)
{
	const MilTensorType *t = tensor_type(x->type);
	int bits;
	*out = (NodeValue){ .name = coreml_text(x->name), .type = F32, .refusal = ERR_UNSUPPORTED };
	if (is_state(x)) {
		MilState *s = arena_new_of(b->arena, MilState);
		if (!wire_read(b->arena, &MilState_message, x->type->stateType, s, b->err))
			return false;
		t = tensor_type(s->wrappedType);
	}
	if (t == NULL) {
		out->refused = is_state(x) ? "is a state of what is not a tensor" : "is not a tensor";
		return true;
	}
	if (!mil_type_from(t->dataType, &out->type, &bits) || bits < 8)
		out->refused = "has a type that is not supported";
	const CoremlArray *usual = declared(f, function, out->name);
	NodeDim *dim = arena_array(b->arena, NodeDim, t->dimensions.n + 1);
	for (size_t k = 0; k < t->dimensions.n; k++) {
		const MilSize *size = t->dimensions.at[k].constant;
		bool known = usual != NULL && usual->shape.n == t->dimensions.n;
		dim[k] = (NodeDim){ .open = size == NULL && !known, .symbol = "" };
		dim[k].size = size != NULL ? size->size : known ? usual->shape.at[k] : 0;
	}
	out->shaped = t->dimensions.n > 0 || t->rank == 0;
	out->dim = dim;
	out->ndim = t->dimensions.n;
	return true;
}

/* The function that is wanted; without one the default one, `main`, or the only one. */
static const MilFunctionEntry *find_function(
	Arena *a, const CoremlFile *f, const MilProgram *p, const char *wanted, Err *err)
{
	const CoremlDescription *d = f->model->description;
	const char *usual = d != NULL ? coreml_text(d->defaultFunctionName) : "";
	const char *name = wanted != NULL ? wanted : usual[0] != 0 ? usual : "main";
	Text names = { .arena = a };
	for (size_t k = 0; k < p->functions.n; k++) {
		const char *key = coreml_text(p->functions.at[k].key);
		if (p->functions.at[k].value != NULL && strcmp(key, name) == 0)
			return &p->functions.at[k];
		text_add(&names, "%s%.60s", k > 0 ? ", " : "", key);
	}
	if (p->functions.n == 1 && wanted == NULL && p->functions.at[0].value != NULL)
		return &p->functions.at[0];
	fail(err, p->functions.n > 0 ? ERR_USAGE : ERR_INPUT, p->functions.n > 0 ? "signature" : NULL,
		p->functions.n == 0 ? "it has no functions" : "the model has no function '%.100s'; it has: %s", name,
		text_str(&names));
	return NULL;
}

static const MilBlock *block_of(const MilFunction *fn)
{
	for (size_t k = 0; k < fn->block_specializations.n; k++)
		if (strcmp(coreml_text(fn->block_specializations.at[k].key), coreml_text(fn->opset)) == 0)
			return fn->block_specializations.at[k].value;
	return NULL;
}

/* Results that are texts, the label of a classifier, are left out. */
static void drop_texts(Builder *b, const ModelArgs *args, NodeGraph *g)
{
	NodeValue *kept = arena_array(b->arena, NodeValue, g->nout + 1);
	size_t n = 0;
	for (size_t k = 0; k < g->nout; k++) {
		int at = names_find(b->types, g->out[k].name);
		const MilType *t = at < 0 ? NULL : b->type.at[at];
		bool label = false;
		for (size_t i = 0; i < g->nnode; i++)
			label |= strcmp(g->node[i].op, "classify") == 0 && g->node[i].nout > 0 &&
			         strcmp(g->node[i].out[0], g->out[k].name) == 0;
		label |= tensor_type(t) != NULL && tensor_type(t)->dataType == 2;
		if (!label)
			kept[n++] = g->out[k];
		else if (args->note != NULL)
			args->note(arena_printf(b->arena, "the class label '%.100s' is left out: its probabilities are a result",
						   g->out[k].name),
				args->note_arg);
	}
	g->out = kept;
	g->nout = n;
}

static bool is_result(const NodeGraph *g, const char *name)
{
	for (size_t k = 0; k < g->nout; k++)
		if (strcmp(g->out[k].name, name) == 0)
			return true;
	return false;
}

/* States that are written are results behind the others. */
static void add_states(Builder *b, const ModelArgs *args, const MilFunction *fn, NodeGraph *g)
{
	NodeValue *out = arena_array(b->arena, NodeValue, g->nout + b->state.n + 1);
	size_t n = g->nout;
	for (size_t k = 0; k < n; k++)
		out[k] = g->out[k];
	for (size_t k = 0; k < fn->inputs.n; k++) {
		const char *name = coreml_text(fn->inputs.at[k].name), *after = arena_printf(b->arena, "%s.next", name);
		int s = is_state(&fn->inputs.at[k]) ? names_find(b->states, name) : -1;
		if (s < 0 || strcmp(b->state.at[s], name) == 0)
			continue;
		while (is_result(g, after))
			after = arena_printf(b->arena, "%s_", after);
		out[n++] = (NodeValue){ .name = after, .reads = b->state.at[s] };
		if (args->note != NULL)
			args->note(arena_printf(
						   b->arena, "the state '%s' is an input, and what it becomes is the result '%s'", name, after),
				args->note_arg);
	}
	g->out = out;
	g->nout = n;
}

bool mil_program(Arena *a, CoremlFile *f, const ModelArgs *args, NodeGraph *out, int *version, Err *err)
{
	MilProgram *p = arena_new_of(a, MilProgram);
	Builder b = {
		.arena = a, .constants = names_new(a), .types = names_new(a), .states = names_new(a), .err = err
	};
	if (!wire_read(a, &MilProgram_message, f->model->mlProgram, p, err))
		return false;
	const MilFunctionEntry *entry = find_function(a, f, p, args->signature, err);
	if (entry == NULL)
		return false;
	const MilFunction *fn = entry->value;
	const char *opset = coreml_text(fn->opset);
	const MilBlock *block = block_of(fn);
	if (strncmp(opset, "CoreML", 6) != 0 || block == NULL)
		return fail(err, ERR_UNSUPPORTED, NULL, "its opset '%.60s' is not known", opset);
	*version = atoi(opset + 6);
	for (size_t k = 0; k < fn->inputs.n; k++)
		if (is_state(&fn->inputs.at[k])) {
			names_bind(b.states, coreml_text(fn->inputs.at[k].name), (int)b.state.n);
			vec_push(a, &b.state, coreml_text(fn->inputs.at[k].name));
		}
	if (!make_graph(&b, block, 0, out))
		return false;
	NodeValue *in = arena_array(a, NodeValue, fn->inputs.n + 1);
	for (size_t k = 0; k < fn->inputs.n; k++)
		if (!make_input(&b, f, coreml_text(entry->key), &fn->inputs.at[k], &in[k]))
			return false;
	out->name = "coreml";
	out->in = in;
	out->nin = fn->inputs.n;
	drop_texts(&b, args, out);
	add_states(&b, args, fn, out);
	return true;
}
