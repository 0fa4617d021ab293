/*
 * The settings of a layer, or of a call of a function, as attributes of a node. Those that do nothing in inference, and
 * those that describe weights, are left out.
 */
#include "frontend/keras/keras.h"

#include <string.h>

/* Settings of training and of bookkeeping, and those that weights.c reads. */
static bool is_ignored(const char *key)
{
	static const char *const names[] = { "name", "trainable", "dtype", "batch_input_shape", "batch_shape", "seed",
		"build_config", "autocast", "input_spec", "layer", "backward_layer", "cell", "cells", "layers", "input_dtype",
		"input_shape", "center" };
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (strcmp(names[k], key) == 0)
			return true;
	return text_ends(key, "_initializer") || text_ends(key, "_regularizer") || text_ends(key, "_constraint");
}

static bool all_of(const Json *list, JsonKind kind, JsonKind or)
{
	for (size_t k = 0; k < list->list.n; k++)
		if (list->list.at[k]->kind != kind && list->list.at[k]->kind != or)
			return false;
	return true;
}

static NodeAttr attr_of(Arena *a, const Json *j)
{
	NodeAttr out = { .name = j->key, .kind = NODE_OTHER };
	if (j->kind == JV_BOOL || j->kind == JV_INT) {
		out.kind = NODE_INT;
		out.i = j->kind == JV_INT ? j->i : j->truth;
	} else if (j->kind == JV_REAL) {
		out.kind = NODE_FLOAT;
		out.f = j->real;
	} else if (j->kind == JV_TEXT) {
		out.kind = NODE_TEXT;
		out.text = (Bytes){ (const unsigned char *)j->text, strlen(j->text) };
	} else if (j->kind == JV_ARRAY && all_of(j, JV_INT, JV_INT)) {
		out.kind = j->list.n > 0 ? NODE_INTS : NODE_EMPTY;
		out.ints = (WireInts){ 0 };
		for (size_t k = 0; k < j->list.n; k++)
			vec_push(a, &out.ints, j->list.at[k]->i);
	} else if (j->kind == JV_ARRAY && all_of(j, JV_INT, JV_REAL)) {
		out.kind = NODE_FLOATS;
		out.floats = (WireFloats){ 0 };
		for (size_t k = 0; k < j->list.n; k++) {
			const Json *x = j->list.at[k];
			vec_push(a, &out.floats, (float)(x->kind == JV_INT ? (double)x->i : x->real));
		}
	}
	return out;
}

void keras_set_attrs(Arena *a, const Json *settings, bool function, NodeDef *n)
{
	size_t most = settings->kind == JV_OBJECT ? settings->list.n : 0;
	NodeAttr *attr = arena_array(a, NodeAttr, most + 1);
	for (size_t k = 0; k < most; k++) {
		const Json *j = settings->list.at[k];
		if (j->kind != JV_NULL && (function ? strcmp(j->key, "name") != 0 : !is_ignored(j->key)))
			attr[n->nattr++] = attr_of(a, j);
	}
	n->attr = attr;
}
