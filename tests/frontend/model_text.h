/*
 * ONNX models for tests, written as lines:
 *
 *	opset 13                              (or: opset com.example 1; ir 3)
 *	in x f32 1,3,N,224                    a name is a symbol, ? a dimension without one
 *	init w f32 2,2 = 1 2 3 4              one number for all elements is enough
 *	node Conv x,w -> y name=c kernel_shape=[3,3] alpha=0.5 axis=1 auto_pad=SAME_UPPER
 *	func com.example f a,b -> c           nodes up to `end`; @name: an attribute
 *	graph body i,x                        a subgraph up to `end`, which an attribute names: body=%body
 *	out y                                 of a subgraph also: out y f32 2,3
 *	in s seq.f32 2,3                      a sequence; opt.f32: an optional; opt.seq.f32
 *
 * An input `-` is absent. Everything is written down as it stands: checking is the importer's work.
 */
#ifndef TESTS_MODEL_TEXT_H
#define TESTS_MODEL_TEXT_H

#include "frontend/onnx/proto.h"
#include "op/element.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ModelText {
	Arena *arena;
	OnnxModel model;
	OnnxFunction *function; /* whose body is being read */
	OnnxGraph *graph;       /* the model's, or the subgraph that is being read */
	VEC(OnnxGraph *) sub;
} ModelText;

static inline char *mt_word(ModelText *t, const char **s, const char *ends)
{
	while (**s == ' ')
		++*s;
	size_t n = strcspn(*s, ends);
	char *w = arena_copy(t->arena, *s, n + 1);
	w[n] = 0;
	*s += n;
	return w;
}

static inline void mt_list(ModelText *t, const char *word, WireTexts *out)
{
	while (*word != 0) {
		char *w = mt_word(t, &word, ",");
		if (strcmp(w, "-") == 0)
			w[0] = 0;
		vec_push(t->arena, out, (const char *)w);
		word += *word == ',';
	}
}

static inline DType mt_type(const char *word)
{
	DType type = F32;
	ck_assert_msg(dtype_parse(word, strlen(word), &type), "no type: %s", word);
	return type;
}

static inline OnnxValueInfo mt_typed(ModelText *t, const char **s)
{
	OnnxValueInfo v = { .name = mt_word(t, s, " \n") };
	if (**s != ' ')
		return v;
	OnnxType *type = arena_new_of(t->arena, OnnxType);
	v.type = type;
	for (++*s; strncmp(*s, "seq.", 4) == 0 || strncmp(*s, "opt.", 4) == 0; *s += 4) {
		OnnxTypeOf *of = arena_new_of(t->arena, OnnxTypeOf);
		*(**s == 's' ? &type->sequence_type : &type->optional_type) = of;
		type = of->elem_type = arena_new_of(t->arena, OnnxType);
	}
	type->tensor_type = arena_new_of(t->arena, OnnxTensorType);
	type->tensor_type->elem_type = onnx_type_to(mt_type(mt_word(t, s, " \n")));
	OnnxShape *shape = arena_new_of(t->arena, OnnxShape);
	const char *dims = mt_word(t, s, "\n");
	while (*dims != 0) {
		char *w = mt_word(t, &dims, ",");
		OnnxDim d = { 0 };
		if (strspn(w, "-0123456789") == strlen(w))
			d = (OnnxDim){ .has = 1 << OnnxDim_dim_value, .dim_value = strtoll(w, NULL, 10) };
		else if (strcmp(w, "?") != 0)
			d.dim_param = w;
		vec_push(t->arena, &shape->dim, d);
		dims += *dims == ',';
	}
	type->tensor_type->shape = shape;
	return v;
}

static inline OnnxTensor mt_tensor(ModelText *t, const char **s)
{
	OnnxTensor w = { .name = mt_word(t, s, " ") };
	DType type = mt_type(mt_word(t, s, " "));
	w.data_type = onnx_type_to(type);
	const char *dims = mt_word(t, s, "=");
	int64_t n = 1;
	while (strcspn(dims, " ,") > 0) {
		int64_t d = strtoll(dims, (char **)(uintptr_t)&dims, 10);
		vec_push(t->arena, &w.dims, d);
		n *= d;
		dims += *dims == ',';
	}
	unsigned char *data = arena_alloc(t->arena, (size_t)dtype_bytes(type, n) + 1);
	++*s;
	const char *numbers = mt_word(t, s, "\n");
	double v = 0;
	for (int64_t k = 0; k < n; k++) {
		char *end;
		double x = strtod(numbers, &end);
		v = end != numbers ? x : v;
		numbers = end;
		element_set(type, data, k, v);
	}
	w.raw_data = (Bytes){ data, (size_t)dtype_bytes(type, n) };
	return w;
}

static inline OnnxAttr mt_attr(ModelText *t, const char *name, const char *v)
{
	OnnxAttr a = { .name = name };
	char *end;
	if (v[0] == '@') {
		a.ref_attr_name = v + 1;
	} else if (v[0] == '%') {
		a.type = ONNX_GRAPH;
		for (size_t k = 0; k < t->sub.n; k++)
			if (strcmp(t->sub.at[k]->name, v + 1) == 0)
				a.g = t->sub.at[k];
	} else if (v[0] == '[' && strchr(v, '.') != NULL) {
		a.type = ONNX_FLOATS;
		for (v++; *v != 0 && *v != ']'; v = *end == ',' ? end + 1 : end)
			vec_push(t->arena, &a.floats, strtof(v, &end));
	} else if (v[0] == '[') {
		a.type = ONNX_INTS;
		for (v++; *v != 0 && *v != ']'; v = *end == ',' ? end + 1 : end)
			vec_push(t->arena, &a.ints, (int64_t)strtoll(v, &end, 10));
	} else if (strspn(v, "-0123456789") == strlen(v)) {
		a = (OnnxAttr){ .has = 1 << OnnxAttr_i, .name = name, .type = ONNX_INT, .i = strtoll(v, NULL, 10) };
	} else if (strspn(v, "-+.e0123456789") == strlen(v)) {
		a = (OnnxAttr){ .has = 1 << OnnxAttr_f, .name = name, .type = ONNX_FLOAT, .f = strtof(v, NULL) };
	} else {
		a.type = ONNX_STRING;
		a.s = (Bytes){ (const unsigned char *)v, strlen(v) };
	}
	return a;
}

static inline void mt_node(ModelText *t, const char **s)
{
	OnnxNode n = { .op_type = mt_word(t, s, " ") };
	char *dot = strstr((char *)(uintptr_t)n.op_type, "::");
	if (dot != NULL) {
		*dot = 0;
		n.domain = n.op_type;
		n.op_type = dot + 2;
	}
	mt_list(t, mt_word(t, s, " \n"), &n.input);
	ck_assert_str_eq(mt_word(t, s, " "), "->");
	mt_list(t, mt_word(t, s, " \n"), &n.output);
	while (**s == ' ') {
		const char *name = mt_word(t, s, "=");
		++*s;
		const char *v = mt_word(t, s, " \n");
		if (strcmp(name, "name") == 0)
			n.name = v;
		else
			vec_push(t->arena, &n.attribute, mt_attr(t, name, v));
	}
	if (t->function != NULL)
		vec_push(t->arena, &t->function->node, n);
	else
		vec_push(t->arena, &t->graph->node, n);
}

static inline void mt_function(ModelText *t, const char **s)
{
	OnnxFunction f = { .domain = mt_word(t, s, " ") };
	f.name = mt_word(t, s, " ");
	mt_list(t, mt_word(t, s, " "), &f.input);
	ck_assert_str_eq(mt_word(t, s, " "), "->");
	mt_list(t, mt_word(t, s, "\n"), &f.output);
	vec_push(t->arena, &t->model.functions, f);
	t->function = &t->model.functions.at[t->model.functions.n - 1];
}

static inline void mt_graph(ModelText *t, const char **s)
{
	WireTexts inputs = { 0 };
	t->graph = arena_new_of(t->arena, OnnxGraph);
	t->graph->name = mt_word(t, s, " \n");
	mt_list(t, mt_word(t, s, "\n"), &inputs);
	for (size_t k = 0; k < inputs.n; k++) {
		OnnxValueInfo v = { .name = inputs.at[k] };
		vec_push(t->arena, &t->graph->input, v);
	}
	vec_push(t->arena, &t->sub, t->graph);
}

static inline void mt_line(ModelText *t, const char **s)
{
	const char *what = mt_word(t, s, " \n");
	OnnxGraph *g = t->graph;
	if (strcmp(what, "opset") == 0) {
		const char *rest = mt_word(t, s, "\n"), *space = strchr(rest, ' ');
		OnnxOpset o = { .domain = space == NULL ? "" : mt_word(t, &rest, " ") };
		o.version = strtoll(rest, NULL, 10);
		vec_push(t->arena, &t->model.opset_import, o);
	} else if (strcmp(what, "ir") == 0) {
		t->model.ir_version = atoi(mt_word(t, s, "\n"));
	} else if (strcmp(what, "in") == 0) {
		OnnxValueInfo v = mt_typed(t, s);
		vec_push(t->arena, &g->input, v);
	} else if (strcmp(what, "init") == 0) {
		vec_push(t->arena, &g->initializer, mt_tensor(t, s));
	} else if (strcmp(what, "node") == 0) {
		mt_node(t, s);
	} else if (strcmp(what, "func") == 0) {
		mt_function(t, s);
	} else if (strcmp(what, "end") == 0) {
		t->function = NULL;
		t->graph = t->model.graph;
	} else if (strcmp(what, "graph") == 0) {
		mt_graph(t, s);
	} else if (strcmp(what, "out") == 0) {
		OnnxValueInfo v = mt_typed(t, s);
		vec_push(t->arena, &g->output, v);
	} else {
		ck_abort_msg("what is a line that begins with \"%s\"?", what);
	}
}

static inline OnnxModel *model_text(Arena *a, const char *s)
{
	ModelText *t = arena_new_of(a, ModelText);
	t->arena = a;
	t->model.ir_version = 8;
	t->model.graph = arena_new_of(a, OnnxGraph);
	t->model.graph->name = "g";
	t->graph = t->model.graph;
	while (*s != 0) {
		mt_line(t, &s);
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return &t->model;
}

static inline void save_bytes(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static inline void save_model(Arena *a, const char *path, const OnnxModel *m)
{
	Text out = { .arena = a };
	wire_write(&out, &OnnxModel_message, m);
	save_bytes(path, text_str(&out), out.n);
}

#endif
