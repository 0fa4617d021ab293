/*
 * The row of TensorFlow: frozen graphs, SavedModels, and graphs beside a checkpoint. None of them has magic bytes. A
 * GraphDef begins with a node, whose name and operator are the first fields; a SavedModel with the version 1; a
 * MetaGraphDef has a graph as its second field.
 */
#include "frontend/neighbour.h"
#include "frontend/tensorflow/checkpoint.h"
#include "frontend/tensorflow/import.h"

#include <stdio.h>
#include <string.h>

/* ---- recognised by the first fields */

/* An operator's name: "Conv2D", "_FusedConv2D". */
static bool is_operator(Bytes b)
{
	bool ok = b.n > 0 && ((b.at[0] >= 'A' && b.at[0] <= 'Z') || b.at[0] == '_');
	for (size_t k = 0; k < b.n && ok; k++)
		ok = b.at[k] == '_' || b.at[k] == '>' || (b.at[k] >= '0' && b.at[k] <= '9') ||
		     ((b.at[k] | 32) >= 'a' && (b.at[k] | 32) <= 'z');
	return ok;
}

static bool is_graph(Bytes b)
{
	WireItem node, name, op;
	return wire_next(&b, &node) && node.number == 1 && node.type == 2 && wire_next(&node.bytes, &name) &&
	       name.number == 1 && name.type == 2 && wire_next(&node.bytes, &op) && op.number == 2 && op.type == 2 &&
	       is_operator(op.bytes);
}

static bool is_meta_graph(Bytes b)
{
	WireItem it;
	bool graph = false;
	for (int k = 0; k < 4 && !graph && wire_next(&b, &it); k++)
		graph = it.number == 2 && it.type == 2 && is_graph(it.bytes);
	return graph;
}

/* A version, then graphs: ONNX has a text as its second field. */
static bool is_saved_model(Bytes b)
{
	WireItem version, graph, part;
	return wire_next(&b, &version) && version.number == 1 && version.type == 0 && version.value == 1 &&
	       wire_next(&b, &graph) && graph.number == 2 && graph.type == 2 && wire_next(&graph.bytes, &part) &&
	       part.type == 2 && (part.number == 1 || part.number == 2);
}

static FormatMatch recognise(Bytes file)
{
	if (tf_is_index(file))
		return FORMAT_SURE;
	return is_graph(file) || is_saved_model(file) || is_meta_graph(file) ? FORMAT_LIKELY : FORMAT_NO;
}

static bool recognise_folder(const char *path)
{
	char name[4096];
	FILE *f = snprintf(name, sizeof name, "%s/saved_model.pb", path) < (int)sizeof name ? fopen(name, "rb") : NULL;
	if (f != NULL)
		fclose(f);
	return f != NULL;
}

/* ---- loaded */

static Dag *refuse(Err *err, Err why, const char *path)
{
	err_at(&why, path);
	if (err != NULL && err->code == ERR_NONE)
		*err = why;
	return NULL;
}

static const char *without_ending(Arena *a, const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);
	return n > m && strcmp(path + n - m, ending) == 0 ? arena_printf(a, "%.*s", (int)(n - m), path) : NULL;
}

/* The signature that serving uses: "serving_default", or the only one. */
static const TfInterface *find_signature(Arena *a, const TfMetaGraph *m, Err *err)
{
	const TfInterface *only = NULL;
	Text names = { .arena = a };
	int n = 0;
	for (size_t k = 0; k < m->signature_def.n; k++) {
		const TfNamedInterface *s = &m->signature_def.at[k];
		const char *key = tf_text(s->key);
		if (s->value == NULL || strcmp(key, "__saved_model_init_op") == 0 || strcmp(key, "__saved_model_train_op") == 0)
			continue;
		if (strcmp(key, "serving_default") == 0)
			return s->value;
		text_add(&names, "%s%.60s", n > 0 ? ", " : "", key);
		only = s->value;
		n++;
	}
	if (n > 1)
		fail(err, ERR_INPUT, NULL, "it has no signature serving_default, but %d others: %s", n, text_str(&names));
	return n == 1 ? only : NULL;
}

static Dag *load_meta(
	Arena *a, const char *path, const TfMetaGraph *m, const char *prefix, const ModelArgs *args, Err *err)
{
	Err why = { 0 };
	if (m->graph_def == NULL)
		fail(&why, ERR_INPUT, NULL, "it has no graph");
	const TfInterface *s = why.code == ERR_NONE ? find_signature(a, m, &why) : NULL;
	if (why.code != ERR_NONE)
		return refuse(err, why, path);
	TfGraphs *all = tf_graphs(a, m->graph_def);
	if (args->weights != NULL)
		prefix = without_ending(a, args->weights, ".index");
	if (prefix == NULL) {
		fail(&why, ERR_USAGE, "weights", "a checkpoint is named by its .index file");
		return refuse(err, why, path);
	}
	if (args->weights != NULL ||
		neighbour_named(a, prefix,
			arena_printf(a, "%s.index", strrchr(prefix, '/') != NULL ? strrchr(prefix, '/') + 1 : prefix)) != NULL) {
		all->checkpoint = tf_checkpoint_open(a, prefix, &why);
		if (all->checkpoint == NULL)
			return refuse(err, why, path);
		tf_find_variables(all);
	}
	return tf_import(all, path, s, args, err);
}

/* The graph that is for serving. */
static const TfMetaGraph *serving(const TfSavedModel *m)
{
	for (size_t k = 0; k < m->meta_graphs.n; k++) {
		const TfMetaInfo *info = m->meta_graphs.at[k].meta_info_def;
		for (size_t i = 0; info != NULL && i < info->tags.n; i++)
			if (strcmp(info->tags.at[i], "serve") == 0)
				return &m->meta_graphs.at[k];
	}
	return m->meta_graphs.n == 1 ? &m->meta_graphs.at[0] : NULL;
}

static Dag *load_saved(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	TfSavedModel *m = arena_new_of(a, TfSavedModel);
	const char *slash = strrchr(path, '/');
	const char *folder = slash == NULL ? "." : arena_printf(a, "%.*s", (int)(slash - path), path);
	Err why = { 0 };
	if (wire_read(a, &TfSavedModel_message, file, m, &why) && serving(m) == NULL)
		fail(&why, ERR_INPUT, NULL, "it has %zu graphs, and none has the tag serve", m->meta_graphs.n);
	if (why.code != ERR_NONE)
		return refuse(err, why, path);
	return load_meta(a, path, serving(m), arena_printf(a, "%s/variables/variables", folder), args, err);
}

static Dag *load_graph(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	TfMetaGraph *m = arena_new_of(a, TfMetaGraph);
	m->graph_def = arena_new_of(a, TfGraph);
	Err why = { 0 };
	if (!wire_read(a, &TfGraph_message, file, m->graph_def, &why))
		return refuse(err, why, path);
	return load_meta(a, path, m, path, args, err);
}

static Dag *load_exported(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	TfMetaGraph *m = arena_new_of(a, TfMetaGraph);
	const char *prefix = without_ending(a, path, ".meta");
	Err why = { 0 };
	if (!wire_read(a, &TfMetaGraph_message, file, m, &why))
		return refuse(err, why, path);
	return load_meta(a, path, m, prefix != NULL ? prefix : path, args, err);
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	Err why = { 0 };
	if (file.n == 0 && recognise_folder(path)) {
		path = arena_printf(a, "%s/saved_model.pb", path);
		if (!neighbour_read(a, path, &file, &why))
			return refuse(err, why, path);
		return load_saved(a, path, file, args, err);
	}
	if (tf_is_index(file)) {
		fail(&why, ERR_INPUT, NULL,
			"is the index of a checkpoint, which has variables and no graph: name the .meta file or the SavedModel");
		return refuse(err, why, path);
	}
	if (is_saved_model(file))
		return load_saved(a, path, file, args, err);
	return is_graph(file) ? load_graph(a, path, file, args, err) : load_exported(a, path, file, args, err);
}

const Format format_tensorflow = {
	.name = "tensorflow",
	.doc = "TensorFlow graphs and SavedModels",
	.recognise = recognise,
	.recognise_folder = recognise_folder,
	.weights = true,
	.load = load,
};
