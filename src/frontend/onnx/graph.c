/*
 * Turns the messages of an ONNX model into the nodes of frontend/node: names, attributes by kind, declared types and
 * shapes. Data of tensors are read later, when something needs them.
 */
#include "frontend/onnx/graph.h"

#include "frontend/node/import.h"

#include <string.h>

static bool is_default_domain(const char *s)
{
	return s == NULL || s[0] == 0 || strcmp(s, "ai.onnx") == 0;
}

int64_t onnx_opset_of(const OnnxOpset *at, size_t n, int64_t otherwise)
{
	for (size_t k = 0; k < n; k++)
		if (is_default_domain(at[k].domain))
			return at[k].version;
	return otherwise;
}

/* ---- attributes */

/* Old files leave `type` out; then the member that is present tells it. */
static int type_of(const OnnxAttr *at)
{
	static const struct {
		int row, type;
	} members[] = { { OnnxAttr_f, ONNX_FLOAT }, { OnnxAttr_i, ONNX_INT }, { OnnxAttr_s, ONNX_STRING },
		{ OnnxAttr_t, ONNX_TENSOR }, { OnnxAttr_g, ONNX_GRAPH }, { OnnxAttr_floats, ONNX_FLOATS },
		{ OnnxAttr_ints, ONNX_INTS }, { OnnxAttr_strings, ONNX_STRINGS } };
	for (size_t k = 0; at->type == 0 && k < sizeof members / sizeof *members; k++)
		if (at->has >> members[k].row & 1)
			return members[k].type;
	return (int)at->type;
}

static NodeAttr attr_from(Arena *a, const OnnxAttr *at)
{
	NodeAttr out = { .name = onnx_text(at->name), .kind = NODE_OTHER };
	if (onnx_text(at->ref_attr_name)[0] != 0) {
		out.kind = NODE_REF;
		out.ref = at->ref_attr_name;
		return out;
	}
	switch (type_of(at)) {
	case 0: out.kind = at->has >> OnnxAttr_f == 0 ? NODE_EMPTY : NODE_OTHER; break;
	case ONNX_INT:
		out.kind = NODE_INT;
		out.i = at->i;
		break;
	case ONNX_FLOAT:
		out.kind = NODE_FLOAT;
		out.f = import_number(F32, &at->f);
		break;
	case ONNX_STRING:
		out.kind = NODE_TEXT;
		out.text = at->s;
		break;
	case ONNX_INTS:
		out.kind = NODE_INTS;
		out.ints = at->ints;
		break;
	case ONNX_FLOATS:
		out.kind = NODE_FLOATS;
		out.floats = at->floats;
		break;
	case ONNX_STRINGS:
		out.kind = NODE_TEXTS;
		out.texts = at->strings;
		break;
	case ONNX_GRAPH:
		out.kind = NODE_GRAPH;
		out.graph = at->g != NULL ? onnx_graph(a, at->g) : NULL;
		break;
	case ONNX_TENSOR: {
		NodeTensor *t = arena_new_of(a, NodeTensor);
		*t = (NodeTensor){ .name = out.name, .source = at->t };
		out.kind = NODE_TENSOR;
		out.tensor = at->t != NULL ? t : NULL;
		break;
	}
	default: break;
	}
	return out;
}

static const NodeAttr *attrs_from(Arena *a, const OnnxAttr *at, size_t n)
{
	NodeAttr *out = arena_array(a, NodeAttr, n + 1);
	for (size_t k = 0; k < n; k++)
		out[k] = attr_from(a, &at[k]);
	return out;
}

/* ---- nodes */

static const NodeDef *nodes_from(Arena *a, const OnnxNode *from, size_t n)
{
	NodeDef *out = arena_array(a, NodeDef, n + 1);
	for (size_t k = 0; k < n; k++)
		out[k] = (NodeDef){ .name = onnx_text(from[k].name),
			.op = onnx_text(from[k].op_type),
			.domain = is_default_domain(from[k].domain) ? "" : from[k].domain,
			.in = from[k].input.at,
			.out = from[k].output.at,
			.nin = from[k].input.n,
			.nout = from[k].output.n,
			.attr = attrs_from(a, from[k].attribute.at, from[k].attribute.n),
			.nattr = from[k].attribute.n,
			.source = &from[k] };
	return out;
}

/* ---- inputs and results */

/* What an optional holds, and what a sequence, of which there is one at most, has as elements. */
static const OnnxType *inner_type(const OnnxType *t, bool *sequence)
{
	for (*sequence = false; t != NULL;)
		if (t->optional_type != NULL) {
			t = t->optional_type->elem_type;
		} else if (t->sequence_type != NULL && !*sequence) {
			*sequence = true;
			t = t->sequence_type->elem_type;
		} else {
			break;
		}
	return t;
}

/* The element type of a declared value, or why it cannot be an input. */
static void read_type(Arena *a, const OnnxType *t, NodeValue *v)
{
	v->refusal = ERR_UNSUPPORTED;
	v->type = DT(UINT, 8);
	if (t == NULL) {
		v->refusal = ERR_INPUT;
		v->refused = "has no type";
		return;
	}
	const char *other = t->sequence_type != NULL                    ? "a sequence of sequences"
	                    : t->has >> OnnxType_map_type & 1           ? "a map"
	                    : t->has >> OnnxType_sparse_tensor_type & 1 ? "a sparse tensor"
	                                                                : NULL;
	int64_t code = t->tensor_type != NULL ? t->tensor_type->elem_type : 0;
	if (onnx_type_is_float8(code))
		v->code = code;
	if (other != NULL)
		v->refused = arena_printf(a, "is %s; dlc takes tensors only", other);
	else if (v->code == 0 && !onnx_type_from(code, &v->type))
		v->refused = arena_printf(a, "has element type %s, which dlc does not have", onnx_type_name(code));
}

static const NodeValue *values_from(Arena *a, const OnnxValueInfo *from, size_t n)
{
	NodeValue *out = arena_array(a, NodeValue, n + 1);
	for (size_t k = 0; k < n; k++) {
		const OnnxType *t = inner_type(from[k].type, &out[k].sequence);
		const OnnxShape *s = t != NULL && t->tensor_type != NULL ? t->tensor_type->shape : NULL;
		out[k].name = onnx_text(from[k].name);
		read_type(a, t, &out[k]);
		if (s == NULL)
			continue;
		NodeDim *dim = arena_array(a, NodeDim, s->dim.n + 1);
		for (size_t i = 0; i < s->dim.n; i++) {
			const OnnxDim *d = &s->dim.at[i];
			bool open = d->dim_param != NULL || !(d->has >> OnnxDim_dim_value & 1);
			dim[i] = (NodeDim){ .size = d->dim_value, .open = open, .symbol = onnx_text(d->dim_param) };
		}
		out[k].shaped = true;
		out[k].dim = dim;
		out[k].ndim = s->dim.n;
	}
	return out;
}

const NodeGraph *onnx_graph(Arena *a, const OnnxGraph *g)
{
	NodeGraph *out = arena_new_of(a, NodeGraph);
	NodeTensor *weight = arena_array(a, NodeTensor, g->initializer.n + 1);
	for (size_t k = 0; k < g->initializer.n; k++) {
		const OnnxTensor *t = &g->initializer.at[k];
		weight[k] = (NodeTensor){ .name = onnx_text(t->name),
			.code = onnx_type_is_float8(t->data_type) ? t->data_type : 0,
			.source = t };
	}
	*out = (NodeGraph){ .name = onnx_text(g->name),
		.node = nodes_from(a, g->node.at, g->node.n),
		.nnode = g->node.n,
		.in = values_from(a, g->input.at, g->input.n),
		.nin = g->input.n,
		.out = values_from(a, g->output.at, g->output.n),
		.nout = g->output.n,
		.weight = weight,
		.nweight = g->initializer.n,
		.refused = g->sparse_initializer.n > 0 ? "sparse initializers are not supported" : NULL };
	return out;
}

/* ---- functions */

/* The key of a function: its domain (the default one is ""), name and overload. */
static const char *function_key(Arena *a, const char *domain, const char *name, const char *overload)
{
	return arena_printf(a, "%s\n%s\n%s", is_default_domain(domain) ? "" : domain, onnx_text(name), onnx_text(overload));
}

void onnx_functions(Arena *a, OnnxSource *s, int version)
{
	size_t n = s->model->functions.n;
	s->functions = names_new(a);
	s->function = arena_array(a, NodeFunction, n + 1);
	for (size_t k = 0; k < n; k++) {
		const OnnxFunction *fn = &s->model->functions.at[k];
		names_bind(s->functions, function_key(a, fn->domain, fn->name, fn->overload), (int)k);
		s->function[k] = (NodeFunction){ .name = onnx_text(fn->name),
			.in = fn->input.at,
			.out = fn->output.at,
			.nin = fn->input.n,
			.nout = fn->output.n,
			.attr = attrs_from(a, fn->attribute_proto.at, fn->attribute_proto.n),
			.nattr = fn->attribute_proto.n,
			.node = nodes_from(a, fn->node.at, fn->node.n),
			.nnode = fn->node.n,
			.version = (int)onnx_opset_of(fn->opset_import.at, fn->opset_import.n, version) };
	}
}

const NodeFunction *onnx_find_function(const Import *im, const NodeDef *n)
{
	const OnnxSource *s = im->model->source;
	const OnnxNode *node = n->source;
	if (s->model->functions.n == 0)
		return NULL;
	int k = names_find(s->functions, function_key(im->arena, node->domain, node->op_type, node->overload));
	return k < 0 ? NULL : &s->function[k];
}
