/*
 * TensorFlow graphs for tests, written as lines:
 *
 *	in x f32 1,?,4                        a placeholder; ? an open dimension, () none, nothing an unknown shape
 *	const w f32 2,2 = 1 2 3 4             the last number fills the rest
 *	node Conv2D x,w -> y strides=[1,2,2,1] padding=SAME flag=true dtype=%i32 f=&name fs=[&one,&two]
 *	func f a:f32,b:f32 -> r=n:output:0    nodes up to `end`
 *
 * Everything is written down as it stands: checking is the importer's work.
 */
#ifndef TESTS_GRAPH_TEXT_H
#define TESTS_GRAPH_TEXT_H

#include "frontend/tensorflow/proto.h"
#include "op/element.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline char *gt_word(Arena *a, const char **s, const char *ends)
{
	while (**s == ' ')
		++*s;
	size_t n = strcspn(*s, ends);
	char *w = arena_alloc(a, n + 1);
	memcpy(w, *s, n);
	*s += n;
	return w;
}

static inline int64_t gt_type(const char *word)
{
	static const char *const names[] = { "f32", "f64", "i32", "u8", "i16", "i8", "text", "", "i64", "bool" };
	for (int k = 0; k < LEN(names); k++)
		if (strcmp(names[k], word) == 0)
			return k + 1;
	return strcmp(word, "f16") == 0 ? 19 : strcmp(word, "resource") == 0 ? TF_RESOURCE : 99;
}

static inline TfShape *gt_shape(Arena *a, const char *s)
{
	TfShape *out = arena_new_of(a, TfShape);
	while (s[0] != '(' && strcspn(s, " ,=\n") > 0) {
		char *w = gt_word(a, &s, " ,=\n");
		TfDim d = { .size = w[0] == '?' ? -1 : strtoll(w, NULL, 10) };
		vec_push(a, &out->dim, d);
		s += *s == ',';
	}
	return out;
}

static inline void gt_attr(Arena *a, TfNode *n, const char *key, TfValue value)
{
	TfAttr at = { .key = key, .value = arena_copy(a, &value, sizeof value) };
	vec_push(a, &n->attr, at);
}

static inline TfValue gt_value(Arena *a, const char *v)
{
	TfValue out = { 0 };
	char *end;
	if (v[0] == '[' && v[1] == '&') {
		out.list = arena_new_of(a, TfList);
		for (v++; *v == '&'; v += *v == ',') {
			TfFunctionName f = { .name = (v++, gt_word(a, &v, ",]")) };
			vec_push(a, &out.list->func, f);
		}
	} else if (v[0] == '[' && strchr(v, '.') != NULL) {
		out.list = arena_new_of(a, TfList);
		for (v++; *v != 0 && *v != ']'; v = *end == ',' ? end + 1 : end)
			vec_push(a, &out.list->f, strtof(v, &end));
	} else if (v[0] == '[') {
		out.list = arena_new_of(a, TfList);
		for (v++; *v != 0 && *v != ']'; v = *end == ',' ? end + 1 : end)
			vec_push(a, &out.list->i, (int64_t)strtoll(v, &end, 10));
	} else if (v[0] == '%') {
		out = (TfValue){ .has = 1 << TfValue_type, .type = gt_type(v + 1) };
	} else if (v[0] == '&') {
		out.func = arena_new_of(a, TfFunctionName);
		out.func->name = v + 1;
	} else if (strcmp(v, "true") == 0 || strcmp(v, "false") == 0) {
		out = (TfValue){ .has = 1 << TfValue_b, .b = v[0] == 't' };
	} else if (strspn(v, "-0123456789") == strlen(v)) {
		out = (TfValue){ .has = 1 << TfValue_i, .i = strtoll(v, NULL, 10) };
	} else if (strspn(v, "-+.e0123456789") == strlen(v)) {
		out = (TfValue){ .has = 1 << TfValue_f, .f = strtof(v, NULL) };
	} else {
		out = (TfValue){ .has = 1 << TfValue_s, .s = { (const unsigned char *)v, strlen(v) } };
	}
	return out;
}

static inline TfTensor *gt_tensor(Arena *a, int64_t type, const char *shape, const char *numbers)
{
	TfTensor *t = arena_new_of(a, TfTensor);
	char *end;
	t->dtype = type;
	t->tensor_shape = gt_shape(a, shape);
	for (double x = strtod(numbers, &end); end != numbers; numbers = end, x = strtod(numbers, &end))
		if (type == 1)
			vec_push(a, &t->float_val, (float)x);
		else if (type == 2)
			vec_push(a, &t->double_val, x);
		else if (type == 9)
			vec_push(a, &t->int64_val, strtoll(numbers, NULL, 10));
		else if (type == 10)
			vec_push(a, &t->bool_val, (int64_t)x);
		else
			vec_push(a, &t->int_val, (int64_t)x);
	return t;
}

static inline TfNode gt_node(Arena *a, const char *verb, const char *s)
{
	TfNode n = { 0 };
	if (strcmp(verb, "node") == 0) {
		n.op = gt_word(a, &s, " \n");
		while (*s != 0 && strncmp(s, " -> ", 4) != 0) {
			vec_push(a, &n.input, (const char *)gt_word(a, &s, " ,\n"));
			s += *s == ',';
		}
		ck_assert_msg(strncmp(s, " -> ", 4) == 0, "no result: %s", s);
		s += 4;
		n.name = gt_word(a, &s, " \n");
		while (*s == ' ') {
			char *key = gt_word(a, &s, "=\n");
			s += *s == '=';
			gt_attr(a, &n, key, gt_value(a, gt_word(a, &s, " \n")));
		}
		return n;
	}
	n.name = gt_word(a, &s, " ");
	n.op = verb[0] == 'i' ? "Placeholder" : "Const";
	int64_t type = gt_type(gt_word(a, &s, " \n"));
	gt_attr(a, &n, "dtype", (TfValue){ .has = 1 << TfValue_type, .type = type });
	const char *shape = gt_word(a, &s, "=\n");
	if (verb[0] == 'i' && shape[0] != 0)
		gt_attr(a, &n, "shape", (TfValue){ .shape = gt_shape(a, shape) });
	if (verb[0] == 'c')
		gt_attr(a, &n, "value", (TfValue){ .tensor = gt_tensor(a, type, shape, *s == '=' ? s + 1 : s) });
	return n;
}

/* "a:f32,b:f32 -> r=n:output:0" */
static inline void gt_function(Arena *a, TfFunction *f, const char *s)
{
	f->signature = arena_new_of(a, TfSignature);
	f->signature->name = gt_word(a, &s, " ");
	for (s++; strncmp(s, "-> ", 3) != 0; s += *s == ',' || *s == ' ') {
		TfArg arg = { .name = gt_word(a, &s, ":") };
		s++;
		arg.type = gt_type(gt_word(a, &s, " ,"));
		vec_push(a, &f->signature->input_arg, arg);
	}
	for (s += 3; *s != 0 && *s != '\n'; s += *s == ',') {
		TfPair ret = { .key = gt_word(a, &s, "=") };
		s++;
		ret.value = gt_word(a, &s, ",\n");
		vec_push(a, &f->ret, ret);
		TfArg arg = { .name = ret.key, .type = 1 };
		vec_push(a, &f->signature->output_arg, arg);
	}
}

static inline TfGraph *graph_text(Arena *a, const char *s)
{
	TfGraph *g = arena_new_of(a, TfGraph);
	bool inside = false;
	g->library = arena_new_of(a, TfLibrary);
	g->versions = arena_new_of(a, TfVersions);
	g->versions->producer = 1000;
	while (*s != 0) {
		size_t n = strcspn(s, "\n");
		const char *line = arena_printf(a, "%.*s", (int)n, s), *verb = gt_word(a, &line, " ");
		s += n + (s[n] == '\n');
		line += *line == ' ';
		if (strcmp(verb, "func") == 0) {
			TfFunction f = { 0 };
			gt_function(a, &f, line);
			vec_push(a, &g->library->function, f);
			inside = true;
		} else if (strcmp(verb, "end") == 0) {
			inside = false;
		} else if (inside) {
			TfNode node = gt_node(a, verb, line);
			vec_push(a, &g->library->function.at[g->library->function.n - 1].node_def, node);
		} else {
			TfNode node = gt_node(a, verb, line);
			vec_push(a, &g->node, node);
		}
	}
	return g;
}

#endif
