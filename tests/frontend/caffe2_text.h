/*
 * Nets of Caffe2 for tests, as lines:
 *
 *	in x 2,3,8,8                       an external_input; its shape goes to the ModelArgs
 *	ints i 2 = 0 1                     filled by init_net with these 64-bit integers; `floats` the same
 *	Conv x,w,b -> y kernel=3 name=c    an operator: inputs, results, arguments
 *	init XavierFill -> w shape=[2,2]   the same in init_net
 *	out y                              an external_output
 *
 * An argument is a list [1,2] or [1.5], an integer, a number with a point, or a text.
 */
#ifndef TESTS_FRONTEND_CAFFE2_TEXT_H
#define TESTS_FRONTEND_CAFFE2_TEXT_H

#include "frontend/caffe2/proto.h"
#include "frontend/frontend.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHAPES = 8 };

typedef struct NetText {
	Arena *arena;
	Caffe2Net predict, init;
	ShapeArg shape[MOST_SHAPES];
	int nshape;
} NetText;

static inline void nt_names(Arena *a, char *list, WireTexts *out)
{
	char *rest;
	for (char *w = strtok_r(list, ",", &rest); w != NULL; w = strtok_r(NULL, ",", &rest))
		vec_push(a, out, (const char *)arena_printf(a, "%s", w));
}

static inline Caffe2Argument nt_argument(Arena *a, const char *name, const char *v)
{
	Caffe2Argument g = { .has = 1u << Caffe2Argument_name, .name = name };
	char *end;
	if (v[0] == '[' && strchr(v, '.') != NULL) {
		g.has |= 1u << Caffe2Argument_floats;
		for (v++; *v != 0 && *v != ']'; v = *end == ',' ? end + 1 : end)
			vec_push(a, &g.floats, strtof(v, &end));
	} else if (v[0] == '[') {
		g.has |= 1u << Caffe2Argument_ints;
		for (v++; *v != 0 && *v != ']'; v = *end == ',' ? end + 1 : end)
			vec_push(a, &g.ints, (int64_t)strtoll(v, &end, 10));
	} else if (strspn(v, "-0123456789") == strlen(v)) {
		g.has |= 1u << Caffe2Argument_i;
		g.i = strtoll(v, NULL, 10);
	} else if (strspn(v, "-+.e0123456789") == strlen(v)) {
		g.has |= 1u << Caffe2Argument_f;
		g.f = strtof(v, NULL);
	} else {
		g.has |= 1u << Caffe2Argument_s;
		g.s = (Bytes){ (const unsigned char *)v, strlen(v) };
	}
	return g;
}

static inline void nt_operator(NetText *t, Caffe2Net *net, const char *type, char *rest)
{
	Arena *a = t->arena;
	Caffe2Operator op = { .type = type };
	char *word = strtok_r(NULL, " ", &rest);
	if (strcmp(word, "->") != 0) {
		nt_names(a, word, &op.input);
		word = strtok_r(NULL, " ", &rest);
	}
	ck_assert_str_eq(word, "->");
	nt_names(a, strtok_r(NULL, " ", &rest), &op.output);
	while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
		char *is = strchr(word, '=');
		ck_assert_ptr_nonnull(is);
		*is = 0;
		if (strcmp(word, "name") == 0)
			op.name = is + 1;
		else
			vec_push(a, &op.arg, nt_argument(a, word, is + 1));
	}
	vec_push(a, &net->op, op);
}

/* "ints i 2 = 0 1" as an operator of init_net. */
static inline void nt_fill(NetText *t, const char *kind, char *rest)
{
	Arena *a = t->arena;
	const char *name = strtok_r(NULL, " ", &rest), *dims = strtok_r(NULL, " ", &rest);
	Text values = { .arena = a };
	strtok_r(NULL, " ", &rest);
	for (char *w; (w = strtok_r(NULL, " ", &rest)) != NULL;)
		text_add(&values, "%s%s", values.n > 0 ? "," : "", w);
	bool ints = strcmp(kind, "ints") == 0;
	nt_operator(t, &t->init, ints ? "GivenTensorInt64Fill" : "GivenTensorFill",
		arena_printf(a, "-> %s shape=[%s] values=[%s%s]", name, dims, text_str(&values), ints ? "" : ".0"));
	vec_push(a, &t->predict.external_input, name);
}

static inline NetText *net_text(Arena *a, const char *lines)
{
	NetText *t = arena_new_of(a, NetText);
	t->arena = a;
	char *copy = arena_copy(a, lines, strlen(lines) + 1), *more;
	for (char *line = strtok_r(copy, "\n", &more); line != NULL; line = strtok_r(NULL, "\n", &more)) {
		char *rest, *type = strtok_r(line, " ", &rest);
		if (strcmp(type, "in") == 0) {
			ShapeArg *s = &t->shape[t->nshape++];
			*s = (ShapeArg){ .name = strtok_r(NULL, " ", &rest) };
			char *dims = strtok_r(NULL, " ", &rest), *last;
			for (char *w = dims ? strtok_r(dims, ",", &last) : NULL; w != NULL; w = strtok_r(NULL, ",", &last))
				s->shape.dim[s->shape.rank++] = strtoll(w, NULL, 10);
			vec_push(a, &t->predict.external_input, s->name);
		} else if (strcmp(type, "out") == 0) {
			vec_push(a, &t->predict.external_output, (const char *)strtok_r(NULL, " ", &rest));
		} else if (strcmp(type, "ints") == 0 || strcmp(type, "floats") == 0) {
			nt_fill(t, type, rest);
		} else if (strcmp(type, "init") == 0) {
			type = strtok_r(NULL, " ", &rest);
			nt_operator(t, &t->init, type, rest);
		} else {
			nt_operator(t, &t->predict, type, rest);
		}
	}
	return t;
}

static inline Bytes net_bytes(Arena *a, const Caffe2Net *net)
{
	Text t = { .arena = a };
	wire_write(&t, &Caffe2Net_message, net);
	return (Bytes){ (const unsigned char *)text_str(&t), t.n };
}

#endif
