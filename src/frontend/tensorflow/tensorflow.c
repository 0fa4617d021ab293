/*
 * The row of TensorFlow: frozen graphs, SavedModels, and graphs beside a checkpoint, in bytes or in text. None of
 * them has magic bytes. A GraphDef begins with a node, whose name and operator are the first fields; a SavedModel with
 * the version 1; a MetaGraphDef has a graph as its second field.
 */
#include "base/wire_text.h"
#include "frontend/neighbour.h"
#include "frontend/tensorflow/checkpoint.h"
#include "frontend/tensorflow/import.h"

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

/* The sums of a SavedModel's files, which lie beside it: numbers with the fields 1 to 5, then a version. */
static bool is_fingerprint(Bytes b)
{
	WireItem it;
	uint32_t k = 1;
	while (k <= 5 && wire_next(&b, &it) && it.number == k && it.type == 0)
		k++;
	return k > 5;
}

/* The text format: the first field, and a node behind it. */
typedef enum { TEXT_NONE, TEXT_GRAPH, TEXT_SAVED_MODEL, TEXT_META_GRAPH } TextKind;

static TextKind text_kind(Bytes b)
{
	enum { LOOK = 1 << 16 };
	static const struct {
		const char *word;
		TextKind kind;
	} first[] = { { "node", TEXT_GRAPH }, { "library", TEXT_GRAPH }, { "versions", TEXT_GRAPH },
		{ "saved_model_schema_version", TEXT_SAVED_MODEL }, { "meta_info_def", TEXT_META_GRAPH } };
	size_t k = 0, head = b.n < LOOK ? b.n : LOOK;
	while (k < head && (b.at[k] == '#' || strchr(" \t\r\n", b.at[k]) != NULL)) {
		bool comment = b.at[k] == '#';
		for (k++; comment && k < head && b.at[k - 1] != '\n'; k++)
			;
	}
	if (memchr(b.at, 0, head) != NULL || memmem(b.at, head, "op:", 3) == NULL)
		return TEXT_NONE;
	for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
		size_t n = strlen(first[i].word);
		if (head - k > n && memcmp(b.at + k, first[i].word, n) == 0 && strchr(" :{\n", b.at[k + n]) != NULL)
			return first[i].kind;
	}
	return TEXT_NONE;
}

static FormatMatch recognise(Bytes file)
{
	if (tf_is_index(file) || is_fingerprint(file) || text_kind(file) != TEXT_NONE)
		return FORMAT_SURE;
	return is_graph(file) || is_saved_model(file) || is_meta_graph(file) ? FORMAT_LIKELY : FORMAT_NO;
}

/* The file of a SavedModel in a folder; NULL: there is none. */
static const char *saved_model_in(Arena *a, const char *folder)
{
	const char *inside = arena_printf(a, "%s/x", folder), *path = neighbour_named(a, inside, "saved_model.pb");
	return path != NULL ? path : neighbour_named(a, inside, "saved_model.pbtxt");
}

static bool recognise_folder(const char *path)
{
	Arena *a = arena_new();
	bool found = saved_model_in(a, path) != NULL;
	arena_free(a);
	return found;
}

/* ---- loaded */

/* A message in either format. */
static bool read_message(Arena *a, const WireMessage *m, const char *path, Bytes file, void *out, Err *err)
{
	if (text_kind(file) != TEXT_NONE)
		return wire_read_text(a, m, path, file, out, NULL, err);
	return wire_read(a, m, file, out, err);
}

static const char *without_ending(Arena *a, const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);
	return n > m && strcmp(path + n - m, ending) == 0 ? arena_printf(a, "%.*s", (int)(n - m), path) : NULL;
}

/* The wanted signature; without one "serving_default", or the only one. NULL without a failure: there is none. */
static const TfInterface *find_signature(Arena *a, const TfMetaGraph *m, const char *wanted, Err *err)
{
	const TfInterface *only = NULL;
	Text names = { .arena = a };
	int n = 0;
	for (size_t k = 0; k < m->signature_def.n; k++) {
		const TfNamedInterface *s = &m->signature_def.at[k];
		const char *key = tf_text(s->key);
		if (s->value == NULL || strcmp(key, "__saved_model_init_op") == 0 || strcmp(key, "__saved_model_train_op") == 0)
			continue;
		if (strcmp(key, wanted != NULL ? wanted : "serving_default") == 0)
			return s->value;
		text_add(&names, "%s%.60s", n > 0 ? ", " : "", key);
		only = s->value;
		n++;
	}
	if (wanted != NULL && n == 0)
		fail(err, ERR_USAGE, "signature", "the model has no signatures");
	else if (wanted != NULL)
		fail(err, ERR_USAGE, "signature", "the model has no signature '%.100s'; it has: %s", wanted, text_str(&names));
	else if (n > 1)
		fail(err, ERR_USAGE, "signature", "the model has no signature serving_default, but %d others; name one of: %s",
			n, text_str(&names));
	return n == 1 && wanted == NULL ? only : NULL;
}

/* Whether nodes of the graph or of its functions are variables, which have their values in a checkpoint. */
static bool has_variables(const TfGraph *g)
{
	static const char *const kinds[] = { "VarHandleOp", "VariableV2", "Variable" };
	bool has = false;
	const size_t functions = g->library != NULL ? g->library->function.n : 0;
	for (size_t f = 0; f <= functions && !has; f++) {
		const size_t n = f < functions ? g->library->function.at[f].node_def.n : g->node.n;
		const TfNode *node = f < functions ? g->library->function.at[f].node_def.at : g->node.at;
		for (size_t k = 0; k < n; k++)
			for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
				has |= strcmp(tf_text(node[k].op), kinds[i]) == 0;
	}
	return has;
}

/* The variables are in the checkpoint `prefix`; with a folder that is below it. */
static Dag *load_meta(Arena *a, const char *path, const TfMetaGraph *m, const char *folder, const char *prefix,
	const ModelArgs *args, Err *err)
{
	if (m->graph_def == NULL)
		fail(err, ERR_INPUT, NULL, "it has no graph");
	const TfInterface *s = err->code == ERR_NONE ? find_signature(a, m, args->signature, err) : NULL;
	if (err->code != ERR_NONE)
		return NULL;
	TfGraphs *all = tf_graphs(a, m->graph_def);
	if (args->weights != NULL) {
		folder = NULL;
		prefix = without_ending(a, args->weights, ".index");
	}
	if (prefix == NULL) {
		fail(err, ERR_USAGE, "weights", "a checkpoint is named by its .index file");
		return NULL;
	}
	if (args->weights != NULL && !has_variables(m->graph_def)) {
		fail(err, ERR_USAGE, "weights", "the graph is frozen: it has no variables whose values could be in a file");
		return NULL;
	}
	const char *beside = folder != NULL ? arena_printf(a, "%s/%s", folder, prefix) : prefix;
	const char *slash = strrchr(beside, '/'), *last = slash != NULL ? slash + 1 : beside;
	if (args->weights != NULL || neighbour_named(a, beside, arena_printf(a, "%s.index", last)) != NULL) {
		all->checkpoint = tf_checkpoint_open(a, folder, prefix, err);
		if (all->checkpoint == NULL)
			return NULL;
		tf_find_variables(all);
	}
	return tf_import(all, path, s, args, err);
}

/* ---- graphs by their tags: "serve,tpu" */

static bool has_tag(const TfMetaInfo *info, const char *tag, size_t n)
{
	for (size_t k = 0; info != NULL && k < info->tags.n; k++)
		if (strlen(info->tags.at[k]) == n && memcmp(info->tags.at[k], tag, n) == 0)
			return true;
	return false;
}

/* A tag is one of a list such as "serve,tpu". */
static bool is_listed(const char *tags, const char *tag)
{
	size_t n = strlen(tag);
	for (const char *s = tags; *s != 0;) {
		size_t len = strcspn(s, ",");
		if (len == n && memcmp(s, tag, n) == 0)
			return true;
		s += len + (s[len] == ',');
	}
	return false;
}

/* It has these tags and no others. */
static bool has_tags(const TfMetaInfo *info, const char *tags)
{
	for (const char *s = tags; *s != 0;) {
		size_t len = strcspn(s, ",");
		if (!has_tag(info, s, len))
			return false;
		s += len + (s[len] == ',');
	}
	for (size_t k = 0; info != NULL && k < info->tags.n; k++)
		if (!is_listed(tags, info->tags.at[k]))
			return false;
	return true;
}

static const TfMetaGraph *graph_of_tags(const TfSavedModel *m, const char *tags)
{
	for (size_t k = 0; k < m->meta_graphs.n; k++)
		if (has_tags(m->meta_graphs.at[k].meta_info_def, tags))
			return &m->meta_graphs.at[k];
	return NULL;
}

/* "serve; serve,tpu": the tags of all graphs. */
static const char *all_tags(Arena *a, const TfSavedModel *m)
{
	Text t = { .arena = a };
	for (size_t k = 0; k < m->meta_graphs.n; k++) {
		const TfMetaInfo *info = m->meta_graphs.at[k].meta_info_def;
		text_add(&t, "%s", k > 0 ? "; " : "");
		for (size_t i = 0; info != NULL && i < info->tags.n; i++)
			text_add(&t, "%s%.60s", i > 0 ? "," : "", info->tags.at[i]);
		if (info == NULL || info->tags.n == 0)
			text_add(&t, "none");
	}
	return text_str(&t);
}

/* The graph with the tags that are wanted; else that of serving, of the tag serve beside others, without tags. */
static const TfMetaGraph *find_graph(Arena *a, const TfSavedModel *m, const char *wanted, Err *err)
{
	const TfMetaGraph *g = graph_of_tags(m, wanted != NULL ? wanted : "serve");
	if (g == NULL && wanted != NULL) {
		fail(err, ERR_USAGE, "tags", "no graph of the model has the tags %.100s; there are: %s", wanted,
			all_tags(a, m));
		return NULL;
	}
	for (size_t k = 0; k < m->meta_graphs.n && g == NULL; k++)
		if (has_tag(m->meta_graphs.at[k].meta_info_def, "serve", 5))
			g = &m->meta_graphs.at[k];
	if (g == NULL)
		g = m->meta_graphs.n == 1 ? &m->meta_graphs.at[0] : graph_of_tags(m, "");
	if (g == NULL && m->meta_graphs.n == 0)
		fail(err, ERR_INPUT, NULL, "it has no graph");
	else if (g == NULL)
		fail(err, ERR_USAGE, "tags",
			"the model has %zu graphs, and none has the tag serve; name the tags of one of: %s", m->meta_graphs.n,
			all_tags(a, m));
	return g;
}

static Dag *load_saved(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	TfSavedModel *m = arena_new_of(a, TfSavedModel);
	const char *slash = strrchr(path, '/');
	const char *folder = slash == NULL ? "." : arena_printf(a, "%.*s", (int)(slash - path), path);
	const TfMetaGraph *g =
		read_message(a, &TfSavedModel_message, path, file, m, err) ? find_graph(a, m, args->tags, err) : NULL;
	if (g != NULL && find_signature(a, g, args->signature, err) == NULL && err->code == ERR_NONE)
		fail(err, ERR_INPUT, NULL,
			"it has no signature, which says what its inputs and results are: save it with signatures, as "
			"tf.saved_model.save(model, folder, signatures=function)");
	if (err->code != ERR_NONE)
		return NULL;
	return load_meta(a, path, g, folder, "variables/variables", args, err);
}

/* A file of one graph. */
static bool check_tags(const ModelArgs *args, Err *err)
{
	return args->tags == NULL || fail(err, ERR_USAGE, "tags", "the model is one graph without tags");
}

static Dag *load_graph(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	TfMetaGraph *m = arena_new_of(a, TfMetaGraph);
	m->graph_def = arena_new_of(a, TfGraph);
	if (!check_tags(args, err) || !read_message(a, &TfGraph_message, path, file, m->graph_def, err))
		return NULL;
	return load_meta(a, path, m, NULL, path, args, err);
}

static Dag *load_exported(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	TfMetaGraph *m = arena_new_of(a, TfMetaGraph);
	const char *prefix = without_ending(a, path, ".meta");
	if (!check_tags(args, err) || !read_message(a, &TfMetaGraph_message, path, file, m, err))
		return NULL;
	return load_meta(a, path, m, NULL, prefix != NULL ? prefix : path, args, err);
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	const char *inside = file.n == 0 ? saved_model_in(a, path) : NULL;
	if (inside != NULL) {
		path = inside;
		if (!neighbour_read(a, path, &file, err))
			return NULL;
	}
	TextKind text = text_kind(file);
	if (is_fingerprint(file)) {
		fail(err, ERR_INPUT, NULL, "has the sums of a SavedModel's files, and no graph: name the folder that it is in");
		return NULL;
	}
	if (tf_is_index(file)) {
		fail(err, ERR_INPUT, NULL,
			"is the index of a checkpoint, which has variables and no graph: name the .meta file or the SavedModel");
		return NULL;
	}
	if (inside != NULL || text == TEXT_SAVED_MODEL || (text == TEXT_NONE && is_saved_model(file)))
		return load_saved(a, path, file, args, err);
	if (text == TEXT_GRAPH || (text == TEXT_NONE && is_graph(file)))
		return load_graph(a, path, file, args, err);
	return load_exported(a, path, file, args, err);
}

const Format format_tensorflow = {
	.name = "tensorflow",
	.doc = "TensorFlow graphs and SavedModels",
	.recognise = recognise,
	.node = { &tf_node_format },
	.recognise_folder = recognise_folder,
	.weights = true,
	.signatures = true,
	.tags = true,
	.load = load,
};
