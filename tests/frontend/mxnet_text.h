/*
 * Symbols and arrays of MXNet for tests. A symbol is lines of text:
 *
 *	in x 2,3,8,8              an input with its shape; without one it is to be given
 *	var w [__shape__=(2,)]    a variable
 *	Pooling p x kernel=(2,2)  a node: operator, name, inputs "name" or "name:1", attributes; "-": no input
 *	head p                    a result
 */
#ifndef TESTS_FRONTEND_MXNET_TEXT_H
#define TESTS_FRONTEND_MXNET_TEXT_H

#include "base/text.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LINES = 64 };

/* The node of a name, as "[node, result, 0]". */
static inline void add_ref(Text *t, char names[][64], int n, const char *name)
{
	int out = 0, len = (int)strcspn(name, ":");
	if (name[len] == ':')
		out = atoi(name + len + 1);
	for (int k = 0; k < n; k++)
		if ((int)strlen(names[k]) == len && memcmp(names[k], name, (size_t)len) == 0) {
			text_add(t, "[%d, %d, 0]", k, out);
			return;
		}
	ck_abort_msg("no node %s", name);
}

static inline void add_words(Text *t, char **rest, const char *before)
{
	for (char *word; (word = strtok_r(NULL, " ", rest)) != NULL; before = ", ") {
		char *is = strchr(word, '=');
		ck_assert_ptr_nonnull(is);
		text_add(t, "%s\"%.*s\": \"%s\"", before, (int)(is - word), word, is + 1);
	}
}

/* JSON as MXNet 1.9 writes it. */
static inline const char *symbol_text(Arena *a, const char *lines)
{
	Text nodes = { .arena = a }, heads = { .arena = a }, args = { .arena = a };
	static char names[MOST_LINES][64];
	int n = 0;
	char *copy = arena_copy(a, lines, strlen(lines) + 1), *more;
	for (char *line = strtok_r(copy, "\n", &more); line != NULL; line = strtok_r(NULL, "\n", &more)) {
		char *rest, *op = strtok_r(line, " ", &rest), *name = strtok_r(NULL, " ", &rest);
		if (strcmp(op, "head") == 0) {
			text_put(&heads, ", ", heads.n > 0 ? 2 : 0);
			add_ref(&heads, names, n, name);
			continue;
		}
		bool in = strcmp(op, "in") == 0, variable = in || strcmp(op, "var") == 0;
		text_add(&nodes, "%s{\"op\": \"%s\", \"name\": \"%s\"", n > 0 ? ", " : "", variable ? "null" : op, name);
		if (variable)
			text_add(&args, "%s%d", args.n > 0 ? ", " : "", n);
		char *inputs = variable && !in ? NULL : strtok_r(NULL, " ", &rest), *each;
		text_add(&nodes, ", \"attrs\": {");
		if (in && inputs != NULL)
			text_add(&nodes, "\"__shape__\": \"(%s)\"", inputs);
		add_words(&nodes, &rest, in && inputs != NULL ? ", " : "");
		text_add(&nodes, "}, \"inputs\": [");
		bool none = variable || inputs == NULL || strcmp(inputs, "-") == 0;
		for (char *s = none ? NULL : strtok_r(inputs, ",", &each), *first = s; s != NULL;
			 s = strtok_r(NULL, ",", &each)) {
			text_put(&nodes, ", ", s == first ? 0 : 2);
			add_ref(&nodes, names, n, s);
		}
		text_add(&nodes, "]}");
		snprintf(names[n++], sizeof names[0], "%s", name);
	}
	return arena_printf(a,
		"{\"nodes\": [%s], \"arg_nodes\": [%s], \"heads\": [%s], \"attrs\": {\"mxnet_version\": "
		"[\"int\", 10901]}}",
		text_str(&nodes), text_str(&args), text_str(&heads));
}

static inline void put_number(Text *t, uint64_t x, int bytes)
{
	for (int k = 0; k < bytes; k++)
		text_put(t, &(char){ (char)(x >> (8 * k)) }, 1);
}

/* One array of f32 as a version of the format writes it: 0 to 3. */
static inline void put_array(Text *t, int version, int rank, const int64_t *dim, const float *data)
{
	int64_t n = 1;
	if (version > 0)
		put_number(t, 0xF993FAC7u + (unsigned)version, 4);
	if (version > 1)
		put_number(t, 0, 4);
	put_number(t, (uint64_t)rank, 4);
	for (int k = 0; k < rank; k++) {
		put_number(t, (uint64_t)dim[k], version == 0 ? 4 : 8);
		n *= dim[k];
	}
	put_number(t, 1, 4);
	put_number(t, 0, 4);
	put_number(t, 0, 4);
	text_put(t, (const char *)data, sizeof *data * (size_t)n);
}

static inline void put_name(Text *t, const char *name)
{
	put_number(t, strlen(name), 8);
	text_put(t, name, strlen(name));
}

static inline void put_head(Text *t, uint64_t arrays)
{
	put_number(t, 0x112, 8);
	put_number(t, 0, 8);
	put_number(t, arrays, 8);
}

#endif
