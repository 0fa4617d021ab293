/*
 * TensorFlow Lite models for tests, as lines:
 *
 *	in x f32 1,4,4,2                       an input; behind the shape "scale=0.5 zero=3", "axis=3" with several scales
 *	const w f32 2,3 = 1 2 3 4 5 6          a constant; one number for all elements is enough
 *	value t i8 1,4 scale=0.5 zero=1        a computed tensor that is not f32; others need no line
 *	state s f32 1,4                        a variable
 *	value u f32 2,3 same=w                 a tensor with the data of another one
 *	CONV_2D x,w,- -> y padding=1           an operator with options as operators.def calls them; "-": no input
 *	out y
 *	graph 1                                the lines behind it belong to this subgraph, those before any to 0
 *	signature serve 1                      a signature, and the number of its subgraph
 *
 * Everything is written down as it stands: checking is the importer's work.
 */
#ifndef TESTS_FRONTEND_TFLITE_TEXT_H
#define TESTS_FRONTEND_TFLITE_TEXT_H

#include "op/element.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LITE_MOST = 64, LITE_GRAPHS = 16 };

/* ---- FlatBuffers, written forwards: a table's slots are pointed at what comes later */

typedef struct Lite {
	Arena *arena;
	VEC(unsigned char) out;
} Lite;

static inline void lite_put(Lite *l, const void *from, size_t n)
{
	for (size_t k = 0; k < n; k++)
		vec_push(l->arena, &l->out, ((const unsigned char *)from)[k]);
}

static inline void lite_set(Lite *l, size_t at, uint64_t v, size_t n)
{
	for (size_t k = 0; k < n; k++)
		l->out.at[at + k] = (unsigned char)(v >> (8 * k));
}

static inline void lite_align(Lite *l, size_t n)
{
	while (l->out.n % n != 0)
		vec_push(l->arena, &l->out, 0);
}

/* A table whose fields, 8 bytes each, are absent; `slot`, if not 0, points at it. */
static inline size_t lite_table(Lite *l, size_t slot, int fields)
{
	static const char none[8];
	lite_align(l, 8);
	size_t offsets = l->out.n;
	for (int k = 0; k < fields + 2; k++)
		lite_put(l, none, 2);
	lite_set(l, offsets, (uint64_t)(4 + 2 * fields), 2);
	lite_set(l, offsets + 2, (uint64_t)(8 + 8 * fields), 2);
	lite_align(l, 8);
	size_t at = l->out.n;
	for (int k = 0; k < fields + 1; k++)
		lite_put(l, none, 8);
	lite_set(l, at, at - offsets, 4);
	if (slot != 0)
		lite_set(l, slot, at - slot, 4);
	return at;
}

/* The place of a field, which is present from now on. */
static inline size_t lite_field(Lite *l, size_t table, int field)
{
	size_t offsets = table - (l->out.at[table] | (size_t)l->out.at[table + 1] << 8);
	lite_set(l, offsets + 4 + 2 * (size_t)field, (uint64_t)(8 + 8 * field), 2);
	return table + 8 + 8 * (size_t)field;
}

static inline void lite_number(Lite *l, size_t table, int field, int64_t v, size_t n)
{
	lite_set(l, lite_field(l, table, field), (uint64_t)v, n);
}

static inline void lite_real(Lite *l, size_t table, int field, float v)
{
	uint32_t bits;
	memcpy(&bits, &v, sizeof bits);
	lite_number(l, table, field, bits, 4);
}

/* A vector of n elements, zeroed; returns the place of the first. */
static inline size_t lite_vector(Lite *l, size_t slot, size_t n, size_t width)
{
	lite_align(l, 16);
	lite_put(l, "\0\0\0\0\0\0\0\0\0\0\0", 12); /* data are aligned to 16 bytes */
	size_t at = l->out.n;
	lite_put(l, "\0\0\0", 4);
	lite_set(l, at, n, 4);
	for (size_t k = 0; k < n * width; k++)
		vec_push(l->arena, &l->out, 0);
	lite_set(l, slot, at - slot, 4);
	return at + 4;
}

static inline void lite_text(Lite *l, size_t slot, const char *s)
{
	size_t at = lite_vector(l, slot, strlen(s), 1);
	memcpy(l->out.at + at, s, strlen(s));
	vec_push(l->arena, &l->out, 0);
}

/* ---- the lines */

typedef struct LiteTensor {
	const char *name;
	int type;
	int64_t dim[8];
	int rank;
	const char *numbers; /* NULL: it is computed */
	const char *scale, *zero, *same;
	int axis;
	bool variable;
} LiteTensor;

typedef struct LiteNode {
	const char *type;
	int in[48], out[48], nin, nout;
	const char *option[16];
	int noption;
} LiteNode;

typedef struct LiteModel {
	LiteTensor tensor[LITE_MOST];
	LiteNode node[LITE_MOST];
	int in[LITE_MOST], out[LITE_MOST];
	int ntensor, nnode, nin, nout;
} LiteModel;

static inline int lite_type(const char *word)
{
	static const char *const words[] = { "f32", "f16", "i32", "u8", "i64", "text", "bool", "i16", "c64", "i8", "f64" };
	for (int k = 0; k < LEN(words); k++)
		if (strcmp(words[k], word) == 0)
			return k;
	ck_abort_msg("no type: %s", word);
	return 0;
}

static inline DType lite_dtype(int type)
{
	static const char *const words[] = { "f32", "f16", "i32", "u8", "i64", "u8", "bool", "i16", "f64", "i8", "f64" };
	DType t = F32;
	ck_assert(dtype_parse(words[type], strlen(words[type]), &t));
	return t;
}

static inline int lite_tensor(LiteModel *m, const char *name)
{
	if (strcmp(name, "-") == 0)
		return -1;
	for (int k = 0; k < m->ntensor; k++)
		if (strcmp(m->tensor[k].name, name) == 0)
			return k;
	m->tensor[m->ntensor] = (LiteTensor){ .name = name };
	return m->ntensor++;
}

static inline void lite_declare(LiteModel *m, const char *kind, char *rest)
{
	LiteTensor *t = &m->tensor[lite_tensor(m, strtok_r(NULL, " ", &rest))];
	t->type = lite_type(strtok_r(NULL, " ", &rest));
	t->variable = strcmp(kind, "state") == 0;
	if (strcmp(kind, "in") == 0)
		m->in[m->nin++] = (int)(t - m->tensor);
	for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
		if (strncmp(word, "scale=", 6) == 0)
			t->scale = word + 6;
		else if (strncmp(word, "zero=", 5) == 0)
			t->zero = word + 5;
		else if (strncmp(word, "same=", 5) == 0)
			t->same = word + 5;
		else if (strncmp(word, "axis=", 5) == 0)
			t->axis = atoi(word + 5);
		else if (strcmp(word, "=") == 0) {
			t->numbers = rest;
			return;
		} else
			for (char *s = word; *s != 0; s += *s == ',')
				t->dim[t->rank++] = strtoll(s, &s, 10);
	}
}

static inline int lite_list(LiteModel *m, char *list, int *out)
{
	int n = 0;
	char *rest;
	for (char *w = strtok_r(list, ",", &rest); w != NULL; w = strtok_r(NULL, ",", &rest))
		out[n++] = lite_tensor(m, w);
	return n;
}

static inline void lite_line(LiteModel *m, char *line)
{
	char *rest, *kind = strtok_r(line, " ", &rest);
	if (strcmp(kind, "in") == 0 || strcmp(kind, "const") == 0 || strcmp(kind, "value") == 0 ||
		strcmp(kind, "state") == 0) {
		lite_declare(m, kind, rest);
		return;
	}
	if (strcmp(kind, "out") == 0) {
		m->out[m->nout++] = lite_tensor(m, strtok_r(NULL, " ", &rest));
		return;
	}
	LiteNode *n = &m->node[m->nnode++];
	n->type = kind;
	char *word = strtok_r(NULL, " ", &rest);
	if (strcmp(word, "->") != 0) {
		n->nin = lite_list(m, word, n->in);
		strtok_r(NULL, " ", &rest);
	}
	n->nout = lite_list(m, strtok_r(NULL, " ", &rest), n->out);
	while ((word = strtok_r(NULL, " ", &rest)) != NULL)
		n->option[n->noption++] = word;
}

/* ---- the file */

/* The number of an operator, and of an option's field with its size; < 0: there is none. */
static inline int lite_code(const char *type)
{
#define OPERATOR(name, code, how, options) \
	if (strcmp(#name, type) == 0) \
		return code;
#include "frontend/tflite/operators.def"
#undef OPERATOR
	return -1;
}

static inline int lite_option(const char *type, const char *option, char *kind)
{
#define ROW(k, name, what) \
	if (strcmp(name, option) == 0) { \
		*kind = what; \
		return k; \
	}
#define BYTE(k, name) ROW(k, name, 'b')
#define INT(k, name) ROW(k, name, 'i')
#define FLAG(k, name) ROW(k, name, 'b')
#define FLOAT(k, name) ROW(k, name, 'f')
#define DILATION(k, name) ROW(k, name, 'i')
#define INTS(k, name) ROW(k, name, 'v')
#define FLOATS(k, name) ROW(k, name, 'r')
#define MODE(k, name) ROW(k, name, 'b')
#define GRAPH(k, name) ROW(k, name, 'i')
#define RESULT(name)
#define OPERATOR(name, code, how, options) \
	if (strcmp(#name, type) == 0) { \
		options \
	}
#include "frontend/tflite/operators.def"
#undef OPERATOR
	ck_abort_msg("%s has no option %s", type, option);
	return -1;
}

/* Options of a custom operator: a map of FlexBuffers, all of whose values have 8 bytes; NAME=? is a text. */
static inline void lite_put_number(Lite *l, uint64_t v)
{
	for (int k = 0; k < 8; k++)
		lite_put(l, &(char){ (char)(v >> (8 * k)) }, 1);
}

static inline Bytes lite_flex(Arena *a, const char *const *option, int n)
{
	Lite l = { .arena = a };
	size_t name[16];
	for (int k = 0; k < n; k++) {
		name[k] = l.out.n;
		lite_put(&l, option[k], (size_t)(strchr(option[k], '=') - option[k]));
		lite_put(&l, "", 1);
	}
	lite_put_number(&l, (uint64_t)n);
	size_t keys = l.out.n;
	for (int k = 0; k < n; k++)
		lite_put_number(&l, l.out.n - name[k]);
	lite_put_number(&l, l.out.n - keys);
	lite_put_number(&l, 8);
	lite_put_number(&l, (uint64_t)n);
	size_t values = l.out.n;
	for (int k = 0; k < n; k++) {
		const char *is = strchr(option[k], '=') + 1;
		double real = strtod(is, NULL);
		uint64_t bits;
		memcpy(&bits, &real, sizeof bits);
		lite_put_number(&l, strchr(is, '.') != NULL ? bits : (uint64_t)strtoll(is, NULL, 10));
	}
	for (int k = 0; k < n; k++)
		lite_put(&l, strchr(option[k], '=')[1] == '?' ? "\x17" : strchr(option[k], '.') != NULL ? "\x0f" : "\x07", 1);
	lite_put(&l, &(char){ (char)(l.out.n - values) }, 1);
	lite_put(&l, "\x27\x01", 2);
	return (Bytes){ l.out.at, l.out.n };
}

static inline void lite_write_options(Lite *l, size_t op, const LiteNode *n)
{
	if (lite_code(n->type) < 0) {
		Bytes b = lite_flex(l->arena, n->option, n->noption);
		size_t to = n->noption > 0 ? lite_vector(l, lite_field(l, op, 5), b.n, 1) : 0;
		for (size_t k = 0; k < b.n && to > 0; k++)
			l->out.at[to + k] = b.at[k];
		return;
	}
	size_t t = lite_table(l, lite_field(l, op, lite_code(n->type) < 162 ? 4 : 12), 16);
	for (int k = 0; k < n->noption; k++) {
		char name[40], kind = 0;
		const char *is = strchr(n->option[k], '=') + 1;
		snprintf(name, sizeof name, "%.*s", (int)(is - 1 - n->option[k]), n->option[k]);
		int field = lite_option(n->type, name, &kind);
		if (kind == 'f')
			lite_real(l, t, field, strtof(is, NULL));
		else if (kind == 'v' || kind == 'r') {
			size_t count = 1, at;
			for (const char *s = is; *s != 0; s++)
				count += *s == ',';
			at = lite_vector(l, lite_field(l, t, field), count, 4);
			for (size_t i = 0; i < count; i++, is += *is == ',')
				if (kind == 'v') {
					lite_set(l, at + 4 * i, (uint64_t)strtoll(is, (char **)(uintptr_t)&is, 10), 4);
				} else {
					float x = strtof(is, (char **)(uintptr_t)&is);
					memcpy(l->out.at + at + 4 * i, &x, 4);
				}
		} else
			lite_number(l, t, field, strtoll(is, NULL, 10), kind == 'b' ? 1 : 4);
	}
}

static inline void lite_write_numbers(Lite *l, size_t slot, const int *at, int n)
{
	size_t v = lite_vector(l, slot, (size_t)n, 4);
	for (int k = 0; k < n; k++)
		lite_set(l, v + 4 * (size_t)k, (uint64_t)(int64_t)at[k], 4);
}

static inline void lite_write_codes(Lite *l, size_t tensor, const LiteTensor *t)
{
	size_t q = lite_table(l, lite_field(l, tensor, 4), 7), n = 1;
	for (const char *s = t->scale; *s != 0; s++)
		n += *s == ',';
	size_t v = lite_vector(l, lite_field(l, q, 2), n, 4);
	const char *s = t->scale;
	for (size_t k = 0; k < n; k++, s += *s == ',') {
		float x = strtof(s, (char **)(uintptr_t)&s);
		uint32_t bits;
		memcpy(&bits, &x, 4);
		lite_set(l, v + 4 * k, bits, 4);
	}
	s = t->zero != NULL ? t->zero : "0";
	v = lite_vector(l, lite_field(l, q, 3), n, 8);
	for (size_t k = 0; k < n; k++, s += *s == ',')
		lite_set(l, v + 8 * k, (uint64_t)strtoll(s, (char **)(uintptr_t)&s, 10), 8);
	lite_number(l, q, 6, t->axis, 4);
}

static inline void lite_write_data(Lite *l, size_t slot, const LiteTensor *t)
{
	DType type = lite_dtype(t->type);
	int64_t n = 1;
	for (int k = 0; k < t->rank; k++)
		n *= t->dim[k];
	size_t bytes = (size_t)dtype_bytes(type, n), at = lite_vector(l, slot, bytes, 1);
	const char *s = t->numbers;
	double v = 0;
	for (int64_t k = 0; k < n; k++) {
		char *end, one[8];
		double x = strtod(s, &end);
		v = end != s ? x : v;
		s = end;
		element_set(type, one, 0, v);
		memcpy(l->out.at + at + k * type.bits / 8, one, type.bits / 8);
	}
}

/* The codes of all operators, each with its own; returns how many it wrote. */
static inline int lite_write_kinds(Lite *l, size_t codes, int from, const LiteModel *m)
{
	for (int k = 0; k < m->nnode; k++) {
		int code = lite_code(m->node[k].type);
		size_t t = lite_table(l, codes + 4 * (size_t)(from + k), 4);
		lite_number(l, t, 0, code < 0 ? 32 : code < 127 ? code : 127, 1);
		lite_number(l, t, 3, code < 0 ? 32 : code, 4);
		if (code < 0)
			lite_text(l, lite_field(l, t, 1), m->node[k].type);
	}
	return m->nnode;
}

/* A subgraph in table g, whose operators have the codes from `code` on and its tensors the buffers from `buffer` on. */
static inline void lite_write_graph(Lite *l, size_t g, LiteModel *m, int code, size_t buffers, int buffer)
{
	size_t tensors = lite_vector(l, lite_field(l, g, 0), (size_t)m->ntensor, 4);
	for (int k = 0; k < m->ntensor; k++) {
		const LiteTensor *t = &m->tensor[k];
		size_t at = lite_table(l, tensors + 4 * (size_t)k, 8), b = lite_table(l, buffers + 4 * (size_t)(buffer + k), 1);
		size_t shape = lite_vector(l, lite_field(l, at, 0), (size_t)t->rank, 4);
		for (int i = 0; i < t->rank; i++)
			lite_set(l, shape + 4 * (size_t)i, (uint64_t)t->dim[i], 4);
		lite_number(l, at, 1, t->type, 1);
		lite_number(l, at, 2, buffer + (t->same != NULL ? lite_tensor(m, t->same) : k), 4);
		lite_text(l, lite_field(l, at, 3), t->name);
		if (t->scale != NULL)
			lite_write_codes(l, at, t);
		if (t->variable)
			lite_number(l, at, 5, 1, 1);
		if (t->numbers != NULL)
			lite_write_data(l, lite_field(l, b, 0), t);
	}
	lite_write_numbers(l, lite_field(l, g, 1), m->in, m->nin);
	lite_write_numbers(l, lite_field(l, g, 2), m->out, m->nout);
	size_t ops = lite_vector(l, lite_field(l, g, 3), (size_t)m->nnode, 4);
	for (int k = 0; k < m->nnode; k++) {
		size_t op = lite_table(l, ops + 4 * (size_t)k, 13);
		lite_number(l, op, 0, code + k, 4);
		lite_write_numbers(l, lite_field(l, op, 1), m->node[k].in, m->node[k].nin);
		lite_write_numbers(l, lite_field(l, op, 2), m->node[k].out, m->node[k].nout);
		lite_write_options(l, op, &m->node[k]);
	}
}

/* The bytes of a model. */
static inline Bytes lite_model(Arena *a, const char *lines)
{
	Lite *l = arena_new_of(a, Lite);
	LiteModel *graph = arena_array(a, LiteModel, LITE_GRAPHS);
	char *copy = arena_copy(a, lines, strlen(lines) + 1), *rest;
	struct {
		char name[32];
		int graph;
	} signature[LITE_GRAPHS];
	int ngraph = 1, now = 0, nnode = 0, ntensor = 0, nsignature = 0;
	l->arena = a;
	for (char *s = strtok_r(copy, "\n", &rest); s != NULL; s = strtok_r(NULL, "\n", &rest))
		if (strncmp(s, "graph ", 6) == 0) {
			now = atoi(s + 6);
			ck_assert_int_lt(now, LITE_GRAPHS);
			ngraph = now < ngraph ? ngraph : now + 1;
		} else if (sscanf(s, "signature %31s %d", signature[nsignature].name, &signature[nsignature].graph) == 2) {
			ck_assert_int_lt(++nsignature, LITE_GRAPHS);
		} else {
			lite_line(&graph[now], s);
		}
	for (int k = 0; k < ngraph; k++) {
		nnode += graph[k].nnode;
		ntensor += graph[k].ntensor;
	}
	lite_put(l, "\0\0\0\0TFL3", 8);
	size_t root = lite_table(l, 0, 8);
	lite_set(l, 0, root, 4);
	lite_number(l, root, 0, 3, 4);
	size_t codes = lite_vector(l, lite_field(l, root, 1), (size_t)nnode, 4);
	for (int k = 0, n = 0; k < ngraph; k++)
		n += lite_write_kinds(l, codes, n, &graph[k]);
	size_t graphs = lite_vector(l, lite_field(l, root, 2), (size_t)ngraph, 4);
	size_t buffers = lite_vector(l, lite_field(l, root, 4), (size_t)ntensor + 1, 4);
	lite_table(l, buffers, 1);
	for (int k = 0, code = 0, buffer = 1; k < ngraph; k++) {
		lite_write_graph(l, lite_table(l, graphs + 4 * (size_t)k, 5), &graph[k], code, buffers, buffer);
		code += graph[k].nnode;
		buffer += graph[k].ntensor;
	}
	size_t signatures = nsignature > 0 ? lite_vector(l, lite_field(l, root, 7), (size_t)nsignature, 4) : 0;
	for (int k = 0; k < nsignature; k++) {
		size_t at = lite_table(l, signatures + 4 * (size_t)k, 5);
		lite_text(l, lite_field(l, at, 2), signature[k].name);
		lite_number(l, at, 4, signature[k].graph, 4);
	}
	return (Bytes){ l->out.at, l->out.n };
}

#endif
