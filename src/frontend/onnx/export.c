/*
 * Writes a Dag as an ONNX model. Values keep their names, constants become initialisers, each call becomes
 * one node or a few (onnx/export_op.c). A constant without data becomes an input, as in a workload. Other
 * runtimes read the file, so it has opset 17 if possible, and at most 2 GiB.
 */
#include "frontend/onnx/export.h"
#include "frontend/onnx/onnx.h"

#include "op/element.h"

#include <stdio.h>
#include <string.h>

enum { OPSET = 17 };

OutNode out_begin(OnnxOut *o, const char *op_type)
{
	return (OutNode){ .o = o, .node = { .op_type = op_type } };
}

void out_input(OutNode *n, const char *name)
{
	vec_push(n->o->arena, &n->node.input, name != NULL ? name : "");
}

static void add_attr(OutNode *n, OnnxAttr a, int row)
{
	a.has = (uint64_t)1 << row;
	vec_push(n->o->arena, &n->node.attribute, a);
}

void out_int(OutNode *n, const char *name, int64_t v)
{
	add_attr(n, (OnnxAttr){ .name = name, .type = ONNX_INT, .i = v }, OnnxAttr_i);
}

void out_float(OutNode *n, const char *name, double v)
{
	add_attr(n, (OnnxAttr){ .name = name, .type = ONNX_FLOAT, .f = (float)v }, OnnxAttr_f);
}

void out_text(OutNode *n, const char *name, const char *v)
{
	Bytes s = { (const unsigned char *)v, strlen(v) };
	add_attr(n, (OnnxAttr){ .name = name, .type = ONNX_STRING, .s = s }, OnnxAttr_s);
}

void out_ints(OutNode *n, const char *name, const int64_t *v, int count)
{
	OnnxAttr a = { .name = name, .type = ONNX_INTS };
	for (int k = 0; k < count; k++)
		vec_push(n->o->arena, &a.ints, v[k]);
	add_attr(n, a, OnnxAttr_ints);
}

void out_floats(OutNode *n, const char *name, const float *v, int count)
{
	OnnxAttr a = { .name = name, .type = ONNX_FLOATS };
	for (int k = 0; k < count; k++)
		vec_push(n->o->arena, &a.floats, v[k]);
	add_attr(n, a, OnnxAttr_floats);
}

void out_texts(OutNode *n, const char *name, const char *const *v, int count)
{
	OnnxAttr a = { .name = name, .type = ONNX_STRINGS };
	for (int k = 0; k < count; k++) {
		Bytes s = { (const unsigned char *)v[k], strlen(v[k]) };
		vec_push(n->o->arena, &a.strings, s);
	}
	add_attr(n, a, OnnxAttr_strings);
}

void out_end(OutNode *n, const char *result)
{
	if (result != NULL)
		vec_push(n->o->arena, &n->node.output, result);
	while (n->node.input.n > 0 && n->node.input.at[n->node.input.n - 1][0] == 0)
		n->node.input.n--;
	vec_push(n->o->arena, &n->o->graph->node, n->node);
}

const char *out_name(OnnxOut *o, const char *wish)
{
	return names_give(o->names, wish);
}

static void add_initializer(OnnxOut *o, const char *name, DType type, Shape shape, const void *data)
{
	OnnxTensor t = { .name = name, .data_type = onnx_type_to(type) };
	for (int k = 0; k < shape.rank; k++)
		vec_push(o->arena, &t.dims, shape.dim[k]);
	t.raw_data = (Bytes){ data, (size_t)dtype_bytes(type, shape_elements(shape)) };
	vec_push(o->arena, &o->graph->initializer, t);
}

const char *out_const(OnnxOut *o, const char *wish, DType type, Shape shape, const void *data)
{
	const char *name = out_name(o, wish);
	add_initializer(o, name, type, shape, data);
	return name;
}

const char *out_const_ints(OnnxOut *o, const char *wish, const int64_t *v, int n)
{
	int64_t count = n;
	const char *name = out_name(o, wish);
	add_initializer(o, name, I64, shape_of(1, &count), arena_copy(o->arena, v, sizeof *v * (size_t)n));
	return name;
}

const char *out_const_number(OnnxOut *o, const char *wish, DType type, double v)
{
	void *data = arena_alloc(o->arena, 8);
	const char *name = out_name(o, wish);
	element_set(type, data, 0, v);
	add_initializer(o, name, type, shape_of(0, NULL), data);
	return name;
}

static OnnxValueInfo value_info(OnnxOut *o, const char *name, const Value *v)
{
	OnnxShape *s = arena_new_of(o->arena, OnnxShape);
	for (int k = 0; k < v->shape.rank; k++) {
		OnnxDim d = { .has = 1 << OnnxDim_dim_value, .dim_value = v->shape.dim[k] };
		vec_push(o->arena, &s->dim, d);
	}
	OnnxTensorType *t = arena_new_of(o->arena, OnnxTensorType);
	*t = (OnnxTensorType){ .elem_type = onnx_type_to(v->type), .shape = s };
	OnnxType *type = arena_new_of(o->arena, OnnxType);
	type->tensor_type = t;
	return (OnnxValueInfo){ .name = name, .type = type };
}

static bool check_value(const OnnxOut *o, const Value *v)
{
	char t[DTYPE_TEXT];
	if (v->layout != NULL)
		return fail(o->err, ERR_UNSUPPORTED, v->name, "the layout %s cannot be written as ONNX", v->layout);
	if (onnx_type_to(v->type) == 0)
		return fail(o->err, ERR_UNSUPPORTED, v->name, "ONNX has no element type %s", dtype_print(v->type, t));
	if (value_bytes(v) < 0)
		return fail(o->err, ERR_UNSUPPORTED, v->name, "a shape that is not known cannot be written");
	return true;
}

/* Writes the constants that calls or results read, and the inputs. */
static void write_sources(OnnxOut *o)
{
	const Dag *d = o->dag;
	bool *read = arena_array(o->arena, bool, d->value.n + 1);
	for (size_t k = 0; k < d->call.n; k++)
		for (int i = 0; i < d->call.at[k].nin; i++)
			if (d->call.at[k].in[i] != DAG_NONE)
				read[d->call.at[k].in[i]] = true;
	for (size_t k = 0; k < d->output.n; k++)
		read[d->output.at[k]] = true;
	for (size_t k = 0; k < d->input.n; k++) {
		const Value *v = &d->value.at[d->input.at[k]];
		vec_push(o->arena, &o->graph->input, value_info(o, v->name, v));
	}
	for (size_t k = 0; k < d->value.n; k++) {
		const Value *v = &d->value.at[k];
		if (v->kind != VALUE_CONST || !read[k])
			continue;
		if (v->data != NULL)
			add_initializer(o, v->name, v->type, v->shape, v->data);
		else
			vec_push(o->arena, &o->graph->input, value_info(o, v->name, v));
	}
}

static bool write_calls(OnnxOut *o)
{
	const Dag *d = o->dag;
	for (size_t k = 0; k < d->call.n; k++) {
		const OpCall *c = &d->call.at[k];
		if (onnx_write_joins(d, c))
			continue;
		const char **in = arena_array(o->arena, const char *, c->nin + 1);
		const char **out = arena_array(o->arena, const char *, c->nout + 1);
		for (int i = 0; i < c->nin; i++)
			in[i] = c->in[i] == DAG_NONE ? NULL : d->value.at[c->in[i]].name;
		for (int i = 0; i < c->nout; i++)
			out[i] = d->value.at[c->out[i]].name;
		if (!onnx_write_call(o, c, in, out))
			return false;
	}
	return true;
}

/* A result that is an input, a constant or an earlier result gets a node and a name of its own. */
static void write_outputs(OnnxOut *o)
{
	const Dag *d = o->dag;
	bool *listed = arena_array(o->arena, bool, d->value.n + 1);
	for (size_t k = 0; k < d->output.n; k++) {
		int value = d->output.at[k];
		const Value *v = &d->value.at[value];
		const char *name = v->name;
		if (v->kind != VALUE_CALL || listed[value]) {
			name = out_name(o, name);
			OutNode n = out_begin(o, "Identity");
			out_input(&n, v->name);
			out_end(&n, name);
		}
		listed[value] = true;
		vec_push(o->arena, &o->graph->output, value_info(o, name, v));
	}
}

bool onnx_export(Text *out, const Dag *d, Err *err)
{
	Arena *a = out->arena;
	OnnxGraph *g = arena_new_of(a, OnnxGraph);
	OnnxOut o = { .arena = a, .dag = d, .graph = g, .names = names_new(a), .opset = OPSET, .err = err };
	g->name = d->name[0] != 0 ? d->name : "dlc";
	for (size_t k = 0; k < d->value.n; k++) {
		if (!check_value(&o, &d->value.at[k]))
			return false;
		names_give(o.names, d->value.at[k].name);
	}
	for (size_t k = 0; k < d->call.n; k++) {
		int need = onnx_write_opset(d, &d->call.at[k]);
		o.opset = need > o.opset ? need : o.opset;
	}
	write_sources(&o);
	if (!write_calls(&o))
		return false;
	write_outputs(&o);
	OnnxOpset opset = { .domain = "", .version = o.opset };
	OnnxModel m = { .ir_version = o.opset >= 22   ? 10
		                          : o.opset >= 19 ? 9
		                                          : 8,
		.producer_name = "dlc",
		.producer_version = DLC_VERSION,
		.graph = g };
	vec_push(a, &m.opset_import, opset);
	size_t size = wire_size(&OnnxModel_message, &m);
	if (size > INT32_MAX)
		return fail(err, ERR_UNSUPPORTED, d->name, "an ONNX file may have 2 GiB; this network needs %zu bytes", size);
	if (out->at == NULL) { /* in one piece: it may be large */
		out->cap = out->n + size + 1;
		out->at = arena_alloc(a, out->cap);
	}
	wire_write(out, &OnnxModel_message, &m);
	return true;
}
