/*
 * A layer's JSON as a KerasLayer: {"class_name": "Dense", "config": {"name": ..}}, with "module" and "registered_name"
 * from version 3 on. A class that is not Keras' own keeps its registered name, which no row has.
 */
#include "frontend/keras/legacy.h"

#include <ctype.h>
#include <string.h>

enum { MOST_DEPTH = 32 };

const char *keras_snake(Arena *a, const char *name)
{
	size_t n = strlen(name), m = 0;
	char *out = arena_alloc(a, 2 * n + 1);
	for (size_t k = 0; k < n; k++) {
		unsigned char c = (unsigned char)name[k], before = k > 0 ? (unsigned char)name[k - 1] : 0;
		if (!isalnum(c) && c != '_')
			continue;
		bool word = isupper(c) && k > 0 && (islower((unsigned char)name[k + 1]) || islower(before));
		if (word && m > 0 && isalnum(before))
			out[m++] = '_';
		out[m++] = (char)tolower(c);
	}
	return out;
}

bool keras_is_model(const KerasLayer *l)
{
	return strcmp(l->op, "Sequential") == 0 || strcmp(l->op, "Functional") == 0;
}

/* The list of layers in a model: version 1 and early 2 have a Sequential's as its settings. */
static const Json *layers_of(const Json *config)
{
	return config->kind == JV_ARRAY ? config : json_find(config, "layers");
}

static bool add_part(Arena *a, KerasFile *f, KerasLayer *l, const Json *json, int depth, Err *err)
{
	KerasLayer *part = keras_layer(a, f, json, depth + 1, err);
	if (part == NULL)
		return false;
	l->part[l->npart++] = part;
	return true;
}

static bool add_layers(Arena *a, KerasFile *f, KerasLayer *l, int depth, Err *err)
{
	const Json *list = layers_of(l->config);
	if (list == NULL || list->kind != JV_ARRAY)
		return json_fail(l->json, err, "the model has no list of layers");
	l->part = arena_array(a, KerasLayer *, list->list.n + 1);
	for (size_t k = 0; k < list->list.n; k++)
		if (!add_part(a, f, l, list->list.at[k], depth, err))
			return false;
	return true;
}

/* The layers that a wrapper or a recurrent layer has as settings. */
static bool add_wrapped(Arena *a, KerasFile *f, KerasLayer *l, int depth, Err *err)
{
	static const char *const keys[] = { "layer", "backward_layer", "cell", "cells" };
	l->part = arena_array(a, KerasLayer *, 256);
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		const Json *at = json_find(l->config, keys[k]);
		size_t n = at == NULL ? 0 : at->kind == JV_ARRAY ? at->list.n : at->kind == JV_OBJECT ? 1 : 0;
		if (n > 60)
			return json_fail(at, err, "it has more than 60 layers");
		for (size_t i = 0; i < n; i++)
			if (!add_part(a, f, l, at->kind == JV_ARRAY ? at->list.at[i] : at, depth, err))
				return false;
	}
	/* Without a layer for the other direction it is a copy, whose weights are its own. */
	return strcmp(l->op, "Bidirectional") != 0 || l->npart != 1 || add_part(a, f, l, l->part[0]->json, depth, err);
}

static bool is_own(const char *module)
{
	return module == NULL || strncmp(module, "keras", 5) == 0 || strncmp(module, "tensorflow.", 11) == 0 ||
	       strncmp(module, "tf_keras", 8) == 0;
}

/*
 * A function of keras.ops: it has none of the settings that layers have. Files of .h5 do not tell its module, and some
 * layers of Keras 3 write none of these settings either.
 */
static bool is_function(const Json *json, const Json *config, const char *module, const char *class)
{
	static const char *const bare[] = { "InputLayer", "Discretization", "HashedCrossing", "Pipeline",
		"SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D" };
	if (module != NULL)
		return strncmp(module, "keras.src.ops", 13) == 0 || strncmp(module, "keras.ops", 9) == 0;
	for (size_t k = 0; k < sizeof bare / sizeof *bare; k++)
		if (strcmp(class, bare[k]) == 0)
			return false;
	const Json *calls = json_find(json, "inbound_nodes");
	return calls != NULL && calls->kind == JV_ARRAY && calls->list.n > 0 && calls->list.at[0]->kind == JV_OBJECT &&
	       json_find(config, "trainable") == NULL;
}

static const char *text_in(const Json *object, const char *key)
{
	const Json *at = json_find(object, key);
	return at != NULL && at->kind == JV_TEXT ? at->text : NULL;
}

/* "Custom>CustomScaleLayer" of keras.applications; a stranger's class keeps its package, and has no row. */
static const char *without_package(const char *class)
{
	static const char *const own[] = { "CustomScaleLayer", "LayerScale", "StochasticDepth" };
	const char *end = strrchr(class, '>');
	for (size_t k = 0; end != NULL && k < sizeof own / sizeof *own; k++)
		if (strcmp(end + 1, own[k]) == 0)
			return end + 1;
	return class;
}

/* Weights of other kinds than the layer's own: false, and err says how to save those. */
static bool check_kind(const Json *config, const char *class, Err *err)
{
	const Json *rank = json_find(config, "lora_rank"), *type = json_find(config, "dtype");
	const char *policy = type != NULL ? text_in(type, "class_name") : NULL;
	if (rank != NULL && rank->kind != JV_NULL)
		return json_fail(config, err,
			"the layer of class '%.60s' has weights of LoRA (enable_lora): save a model that has them merged", class);
	if (policy != NULL && strncmp(policy, "Quantized", 9) == 0)
		return json_fail(
			config, err, "the layer of class '%.60s' is quantised (model.quantize): save the model before that", class);
	return true;
}

KerasLayer *keras_layer(Arena *a, KerasFile *f, const Json *json, int depth, Err *err)
{
	static const char *const models[] = { "Model", "Functional", "Container", "Network" };
	const char *class, *module = text_in(json, "module"), *registered = text_in(json, "registered_name");
	if (depth > MOST_DEPTH) {
		json_fail(json, err, "layers are nested deeper than %d", MOST_DEPTH);
		return NULL;
	}
	if (json->kind != JV_OBJECT) {
		json_fail(json, err, "a layer must be an object with class_name and config");
		return NULL;
	}
	bool old = false;
	if (f->version < 3 && (json = keras_upgrade(a, json, &old, err)) == NULL)
		return NULL;
	if (old && f->guessed)
		f->version = 1;
	if (!json_str(json, "class_name", &class, err))
		return NULL;
	const Json *config = json_find(json, "config");
	if (config == NULL || (config->kind != JV_OBJECT && config->kind != JV_ARRAY)) {
		json_fail(json, err, "the layer of class '%.60s' has no config", class);
		return NULL;
	}
	if (!check_kind(config, class, err))
		return NULL;
	class = without_package(class);
	if (strcmp(class, "GroupedQueryAttention") == 0) /* its name in code, which .h5 files have */
		class = "GroupQueryAttention";
	KerasLayer *l = arena_new_of(a, KerasLayer);
	const char *name = text_in(json, "name"), *inner = text_in(config, "name");
	const Json *trainable = json_find(config, "trainable");
	*l = (KerasLayer){ .json = json, .config = config, .op = class, .domain = "" };
	l->name = name != NULL ? name : inner != NULL ? inner : keras_snake(a, class);
	l->trainable = trainable == NULL || trainable->kind != JV_BOOL || trainable->truth;
	if (!is_own(module) && registered != NULL)
		l->op = registered;
	else if (is_function(json, config, module, class))
		l->domain = "ops";
	for (size_t k = 0; k < sizeof models / sizeof *models; k++)
		if (strcmp(l->op, models[k]) == 0)
			l->op = "Functional";
	/* A subclass that is saved as a graph of layers is one. */
	if (json_find(config, "input_layers") != NULL && json_find(config, "output_layers") != NULL)
		l->op = "Functional";
	if (config->kind != JV_OBJECT && !keras_is_model(l)) {
		json_fail(config, err, "the config of the layer of class '%.60s' is a list, not an object", class);
		return NULL;
	}
	if (keras_is_model(l) ? !add_layers(a, f, l, depth, err) : !add_wrapped(a, f, l, depth, err))
		return NULL;
	keras_add_slots(a, l);
	return l;
}
