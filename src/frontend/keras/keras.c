/*
 * The row of Keras: .h5 files of Keras 1, 2 and tf.keras, whose configuration is an attribute; .keras files, archives
 * of a configuration and its weights; a configuration alone (.json), whose weights lie beside it or are given.
 */
#include "frontend/keras/function.h"

#include "frontend/archive.h"
#include "frontend/format.h"
#include "frontend/neighbour.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LOOK = 1 << 16 };

const NodeRow *const keras_lists[] = { keras_core_rows, keras_merge_rows, keras_window_rows, keras_resize_rows,
	keras_local_rows, keras_norm_rows, keras_recurrent_rows, keras_attention_rows, keras_math_rows, keras_function_rows,
	keras_mask_rows, keras_preprocess_rows, keras_numpy_rows, keras_product_rows, keras_array_rows, keras_nn_rows,
	NULL };

static const NodeFormat format = { .name = "Keras", .weight = "weight", .lists = keras_lists, .loose = true };

/* ---- recognising */

static bool is_hdf5(Bytes b)
{
	return b.n >= 8 && memcmp(b.at, "\x89HDF\r\n\x1a\n", 8) == 0;
}

static bool is_archive(Bytes b)
{
	return b.n >= 4 && memcmp(b.at, "PK\3\4", 4) == 0;
}

static bool holds(Bytes b, const char *word)
{
	Bytes tail = b.n > LOOK ? (Bytes){ b.at + b.n - LOOK, LOOK } : b;
	return memmem(b.at, b.n < LOOK ? b.n : LOOK, word, strlen(word)) != NULL ||
	       memmem(tail.at, tail.n, word, strlen(word)) != NULL;
}

static bool is_config(Bytes b)
{
	size_t at = 0;
	while (at < b.n && (b.at[at] == ' ' || b.at[at] == '\n' || b.at[at] == '\r' || b.at[at] == '\t'))
		at++;
	return at < b.n && b.at[at] == '{' && holds(b, "\"class_name\"") && holds(b, "\"config\"");
}

static FormatMatch recognise(Bytes file)
{
	bool beside = holds(file, "model.weights.") || holds(file, "metadata.json");
	if (is_hdf5(file) || (is_archive(file) && beside && holds(file, "config.json")))
		return FORMAT_SURE;
	return is_config(file) ? FORMAT_SURE : FORMAT_NO;
}

/* ---- loading */

static int major(const char *version, int otherwise)
{
	return version != NULL && version[0] >= '1' && version[0] <= '9' ? atoi(version) : otherwise;
}

/*
 * Python writes numbers that are not finite as words, which JSON does not have. They become texts with a mark for the
 * parser, and numbers in its tree. A text of the file that begins with the mark gets another one before it.
 */
static const struct {
	const char *word;
	double number;
} words[] = { { "-Infinity", -INFINITY }, { "Infinity", INFINITY }, { "NaN", NAN } };

enum { WORDS = sizeof words / sizeof *words, MARK = 0x7f };

static int word_at(const char *text, size_t n)
{
	for (int k = 0; k < WORDS; k++)
		if (strlen(words[k].word) <= n && memcmp(text, words[k].word, strlen(words[k].word)) == 0)
			return k;
	return -1;
}

/* The mark as a byte, or as JSON may write it. */
static bool begins_with_mark(const char *text, size_t n)
{
	return (n > 0 && text[0] == MARK) || (n > 5 && strncasecmp(text, "\\u007f", 6) == 0);
}

static const char *quote_words(Arena *a, const char *text, size_t *n)
{
	VEC(char) out = { 0 };
	bool quoted = false;
	for (size_t i = 0; i < *n; i++) {
		int k = quoted ? -1 : word_at(text + i, *n - i);
		if (k >= 0) {
			const char *marked = arena_printf(a, "\"%c%d\"", MARK, k);
			for (size_t c = 0; marked[c] != 0; c++)
				vec_push(a, &out, marked[c]);
			i += strlen(words[k].word) - 1;
			continue;
		}
		quoted ^= text[i] == '"';
		vec_push(a, &out, text[i]);
		if (quoted && text[i] == '"' && begins_with_mark(text + i + 1, *n - i - 1))
			vec_push(a, &out, MARK);
		if (quoted && text[i] == '\\' && i + 1 < *n)
			vec_push(a, &out, text[++i]);
	}
	*n = out.n;
	return out.at;
}

static void unquote_words(Json *j)
{
	for (size_t k = 0; (j->kind == JV_ARRAY || j->kind == JV_OBJECT) && k < j->list.n; k++)
		unquote_words(j->list.at[k]);
	if (j->key != NULL && j->key[0] == MARK)
		j->key++;
	if (j->kind != JV_TEXT || j->text[0] != MARK)
		return;
	if (j->text[1] == MARK) {
		j->text++;
		return;
	}
	j->kind = JV_REAL;
	j->real = words[j->text[1] - '0'].number;
}

static bool parse_config(Arena *a, KerasFile *f, const char *what, const char *text, size_t n, Err *err)
{
	const char *finite = n > 0 ? quote_words(a, text, &n) : text;
	Json *json = json_parse(a, arena_printf(a, "%s%s", f->path, what), finite, n, err);
	if (json == NULL)
		return false;
	unquote_words(json);
	const Json *version = json_find(json, "keras_version"), *backend = json_find(json, "backend");
	if (version != NULL && version->kind == JV_TEXT)
		f->version = major(version->text, f->version);
	else if (f->version == 0) {
		f->version = json_find(json, "module") != NULL ? 3 : 2;
		f->guessed = true;
	}
	f->theano |= backend != NULL && backend->kind == JV_TEXT && strcmp(backend->text, "theano") == 0;
	f->model = keras_layer(a, f, json, 0, err);
	if (f->model != NULL && !keras_is_model(f->model))
		return fail(err, ERR_UNSUPPORTED, f->path,
			"is a model of class '%.60s', not Sequential or Functional: its code is not in the file", f->model->op);
	return f->model != NULL;
}

static void note_origin(KerasFile *f, Hdf5 *h)
{
	static const char *const roots[] = { "", "model_weights" };
	for (size_t k = 0; k < 2; k++) {
		const char *version = hdf5_text(h, roots[k], "keras_version"), *backend = hdf5_text(h, roots[k], "backend");
		f->version = f->version == 0 ? major(version, 0) : f->version;
		f->written = f->written == 0 ? major(version, 0) : f->written;
		f->theano |= backend != NULL && strcmp(backend, "theano") == 0;
	}
}

static bool open_hdf5(Arena *a, KerasFile *f, Bytes file, Err *err)
{
	Hdf5 *h = hdf5_open(a, f->path, file, err);
	if (h == NULL)
		return false;
	f->weights = h;
	const char *config = hdf5_text(h, "", "model_config");
	if (config == NULL &&
		(hdf5_has(h, "layers") || hdf5_has(h, "model_weights") || hdf5_text(h, "", "keras_version") != NULL ||
			hdf5_has(h, "_layer_checkpoint_dependencies")))
		return fail(err, ERR_INPUT, f->path,
			"has weights of Keras without their network: name its .json (model.to_json()), and these as weights");
	if (config == NULL)
		return fail(err, ERR_UNSUPPORTED, f->path, "is an HDF5 file without a model of Keras (model_config)");
	note_origin(f, h);
	f->version = f->version == 0 ? 1 : f->version;
	f->stored = f->path;
	return parse_config(a, f, ": model_config", config, strlen(config), err);
}

static bool open_archive(Arena *a, KerasFile *f, Bytes file, Err *err)
{
	Archive *z = archive_open(a, f->path, file, err);
	if (z == NULL)
		return false;
	int64_t config = archive_find(z, "config.json"), meta = archive_find(z, "metadata.json");
	int64_t weights = archive_find(z, "model.weights.h5");
	Bytes text, about, numbers;
	f->version = 3;
	if (config < 0)
		return fail(err, ERR_INPUT, f->path, "is an archive without config.json");
	if (weights < 0)
		return fail(err, ERR_INPUT, f->path,
			"is an archive without model.weights.h5, where Keras keeps weights: save the model again, or name its "
			"config.json, taken out, and a file of weights");
	if (meta >= 0) {
		Err ignored = { 0 };
		if (!archive_read(z, (size_t)meta, &about, err))
			return false;
		const Json *json = json_parse(a, "metadata.json", (const char *)about.at, about.n, &ignored);
		const Json *version = json != NULL ? json_find(json, "keras_version") : NULL;
		f->version = major(version != NULL && version->kind == JV_TEXT ? version->text : NULL, 3);
	}
	if (!archive_read(z, (size_t)config, &text, err) || !archive_read(z, (size_t)weights, &numbers, err))
		return false;
	f->stored = arena_printf(a, "%s: model.weights.h5", f->path);
	f->weights = hdf5_open(a, f->stored, numbers, err);
	return f->weights != NULL && parse_config(a, f, ": config.json", (const char *)text.at, text.n, err);
}

static const char *weights_beside(Arena *a, const char *path)
{
	static const char *const endings[] = { ".weights.h5", ".h5", "_weights.h5", ".hdf5", "_weights.hdf5" };
	const char *found = NULL;
	for (size_t k = 0; k < sizeof endings / sizeof *endings && found == NULL; k++)
		found = neighbour_ending(a, path, ".json", endings[k]);
	return found;
}

/* Weights of another file than the configuration's. */
static bool open_weights(Arena *a, KerasFile *f, const ModelArgs *args, Err *err)
{
	const char *path = args->weights;
	Bytes file;
	if (path == NULL && f->weights == NULL)
		path = weights_beside(a, f->path);
	if (path == NULL && f->weights == NULL && args->note != NULL)
		args->note(arena_printf(a,
					   "no file of weights lies beside '%.200s', so weights are drawn: name one to have its "
					   "weights",
					   f->path),
			args->note_arg);
	if (path == NULL)
		return true;
	if (!neighbour_read(a, path, &file, err))
		return false;
	if (!is_hdf5(file))
		return fail(err, ERR_INPUT, path, "is no HDF5 file, as Keras writes weights");
	if (!hdf5_close(f->weights, err))
		return false;
	f->weights = hdf5_open(a, path, file, err);
	f->stored = path;
	if (f->weights != NULL)
		note_origin(f, f->weights);
	return f->weights != NULL;
}

static Dag *load_file(Arena *a, KerasFile *f, Bytes file, const ModelArgs *args, Err *err)
{
	NodeGraph g;
	bool ok = is_hdf5(file)      ? open_hdf5(a, f, file, err)
	          : is_archive(file) ? open_archive(a, f, file, err)
	                             : parse_config(a, f, "", (const char *)file.at, file.n, err);
	if (!ok || !open_weights(a, f, args, err) || !keras_graph(a, f, &g, err))
		return NULL;
	NodeModel model = { .format = &format, .graph = &g, .source = f };
	Dag *d = import_model(a, f->path, &model, args, err);
	return d != NULL && keras_find_weights(a, f, err) ? d : NULL;
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	KerasFile *f = arena_new_of(a, KerasFile);
	f->path = path;
	Dag *d = load_file(a, f, file, args, err);
	return hdf5_close(f->weights, err) ? d : NULL;
}

const Format format_keras = {
	.name = "keras",
	.doc = "Keras models (.keras, .h5)",
	.recognise = recognise,
	.node = { &format },
	.weights = true,
	.load = load,
};
