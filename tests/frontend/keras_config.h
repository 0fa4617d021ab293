/* Configurations of Keras for tests, written as their JSON: a Sequential, or a graph in the words of version 2 or 3. */
#ifndef TESTS_KERAS_CONFIG_H
#define TESTS_KERAS_CONFIG_H

#include "frontend/frontend.h"

#include <check.h>
#include <string.h>

#define MODEL(layers) "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"s\",\"layers\":[" layers "]}}"
#define INPUT_TYPED(name, shape, type) \
	"{\"class_name\":\"InputLayer\",\"name\":\"" name "\",\"inbound_nodes\":[],\"config\":{\"name\":\"" name \
	"\",\"batch_shape\":" shape ",\"dtype\":\"" type "\"}}"
#define INPUT(shape) INPUT_TYPED("x", shape, "float32")
#define NAMED(class, name, settings) ",{\"class_name\":\"" class "\",\"config\":{\"name\":\"" name "\"" settings "}}"
#define LAYER(class, settings) NAMED(class, "y", settings)
#define GRAPH(layers, in, out) \
	"{\"class_name\":\"Functional\",\"config\":{\"name\":\"m\",\"layers\":[" layers "],\"input_layers\":" in \
	",\"output_layers\":" out "}}"
#define MEMBER(class, name, settings, nodes) \
	",{\"class_name\":\"" class "\",\"name\":\"" name "\",\"config\":{\"name\":\"" name \
								"\",\"trainable\":true" settings "},\"inbound_nodes\":" nodes "}"

static inline Dag *load_config(Arena *a, const char *text, Err *err)
{
	return frontend_load_bytes(
		a, "/nonexistent/m.json", (Bytes){ (const unsigned char *)text, strlen(text) }, NULL, err);
}

/* The configuration becomes a Dag whose text has the wanted ones, n at most. */
static inline void check_config(const char *config, const char *const *want, int n)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_config(a, config, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", config, err.place, err.text, err.items);
	const char *text = dag_str(a, d);
	for (int k = 0; k < n && want[k] != NULL; k++)
		ck_assert_msg(strstr(text, want[k]) != NULL, "%s\nlacks \"%s\":\n%s", config, want[k],
			text);
	arena_free(a);
}

/* The configuration is refused with a sentence that has the words. */
static inline void check_refused(const char *config, const char *why)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_config(a, config, &err);
	ck_assert_msg(d == NULL, "%s\nbecame\n%s", config, d != NULL ? dag_str(a, d) : "");
	ck_assert_msg(strstr(err.text, why) != NULL || strstr(err.items, why) != NULL, "%s\nrefused: %s: %s %s\nnot: %s",
		config, err.place, err.text, err.items, why);
	arena_free(a);
}

#endif
