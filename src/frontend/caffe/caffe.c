/*
 * The row of Caffe: a .prototxt with its .caffemodel, or a .caffemodel alone, which has the network that was trained
 * with it. Layers keep their names; results are the blobs that no layer reads.
 */
#include "frontend/caffe/caffe.h"

#include "frontend/format.h"
#include "frontend/neighbour.h"
#include "frontend/node/operators.h"

#include <string.h>

static const NodeRow *const lists[] = { caffe_window_rows, caffe_weight_rows, caffe_math_rows, caffe_move_rows,
	caffe_detect_rows, caffe_recurrent_rows, caffe_fork_rows, NULL };

static const NodeFormat format = { .name = "Caffe", .weight = "weights", .lists = lists, .loose = true };

/* ---- recognising */

enum { LOOK = 1 << 16 };

static size_t skip_blanks(Bytes b, size_t at)
{
	while (at < b.n && b.at[at] != 0 && strchr(" \t\r\n", b.at[at]) != NULL)
		at++;
	return at;
}

/* The field that begins at `at` has that name; a block is `NAME {` or `NAME: {`, a value `NAME: `. */
static bool is_field(Bytes b, size_t at, const char *name, bool block)
{
	size_t n = strlen(name);
	if (b.n - at <= n || memcmp(b.at + at, name, n) != 0)
		return false;
	at = skip_blanks(b, at + n);
	bool colon = at < b.n && b.at[at] == ':';
	if (block && colon)
		at = skip_blanks(b, at + 1);
	return block ? at < b.n && b.at[at] == '{' : colon;
}

/* A text with one of the fields. */
static bool has_field(Bytes b, const char *const *names, bool block)
{
	b.n = b.n < LOOK ? b.n : LOOK;
	if (memchr(b.at, 0, b.n) != NULL)
		return false;
	for (size_t at = 0; at < b.n; at++)
		for (const char *const *name = names; *name != NULL; name++)
			if ((at == 0 || strchr(" \t\r\n{}", b.at[at - 1]) != NULL) && is_field(b, at, *name, block))
				return true;
	return false;
}

static bool is_net(Bytes b)
{
	static const char *const blocks[] = { "layer", "layers", "input_shape", NULL }, *const values[] = { "input_dim",
		NULL };
	return has_field(b, blocks, true) || has_field(b, values, false);
}

static bool is_solver(Bytes b)
{
	static const char *const fields[] = { "base_lr", "lr_policy", "train_net", NULL };
	return has_field(b, fields, false);
}

/* A layer of before 2014, the first field of the one around it: its type is a known word. */
static bool is_oldest_layer(Bytes b)
{
	WireItem it;
	for (int k = 0; k < 64 && wire_next(&b, &it); k++)
		if (it.number == 2 && it.type == 2)
			return caffe_is_oldest_type(it.bytes);
	return false;
}

/* A layer of today has its type as a text, one of before 2015 as a number in field 5. */
static bool is_layer(Bytes b, bool old)
{
	WireItem it;
	bool name = false, type = false;
	for (int k = 0; k < 64 && !(name && type) && wire_next(&b, &it); k++) {
		if (old && it.number == 1 && it.type == 2)
			return is_oldest_layer(it.bytes);
		name |= it.number == (old ? 4 : 1) && it.type == 2;
		type |= old ? it.number == 5 && it.type == 0 : it.number == 2 && it.type == 2;
	}
	return name && type;
}

static bool is_model(Bytes b)
{
	WireItem it;
	for (int k = 0; k < 64 && wire_next(&b, &it); k++) {
		if (it.number == 100 && it.type == 2)
			return is_layer(it.bytes, false);
		if (it.number == 2 && it.type == 2)
			return is_layer(it.bytes, true);
		if (it.number > 8)
			return false;
	}
	return false;
}

static FormatMatch recognise(Bytes file)
{
	return is_net(file) || is_solver(file) || is_model(file) ? FORMAT_SURE : FORMAT_NO;
}

/* ---- loading */

/*
 * The weights of a network: of the same name, or what lies beside a file that is called as Caffe's own models are:
 * deploy.prototxt, train_val.prototxt.
 */
static const char *find_weights(Arena *a, const char *path)
{
	static const char *const endings[] = { ".prototxt", ".deploy.prototxt", "_deploy.prototxt", "_train_val.prototxt",
		"_train_test.prototxt" };
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
		const char *found = neighbour_ending(a, path, endings[k], ".caffemodel");
		if (found != NULL)
			return found;
	}
	bool habit = strcmp(name, "deploy.prototxt") == 0 || strcmp(name, "train_val.prototxt") == 0 ||
	             strcmp(name, "test.prototxt") == 0;
	return habit ? neighbour_last(a, path, "", ".caffemodel") : NULL;
}

static bool open_weights(
	Arena *a, const char *path, const char *file, const ModelArgs *args, CaffeWeights *out, Err *err)
{
	Bytes bytes;
	CaffeNet *net = arena_new_of(a, CaffeNet);
	if (file == NULL) {
		if (args->note != NULL)
			args->note(arena_printf(a,
						   "no .caffemodel lies beside '%.200s', so weights are drawn: name one to have "
						   "its weights",
						   path),
				args->note_arg);
		return true;
	}
	if (!neighbour_read(a, file, &bytes, err))
		return false;
	if (!is_model(bytes))
		return fail(err, ERR_INPUT, file, "is not a .caffemodel: none of its fields is a layer of Caffe");
	if (!caffe_read(a, file, bytes, false, net, NULL, err)) {
		err_at(err, file);
		return false;
	}
	out->file = file;
	out->net = net;
	caffe_index_weights(a, out);
	return true;
}

/* Fields that a fork of Caffe has and that may change the result. */
static bool check_skipped(const WireTexts *skipped, Err *err)
{
	for (size_t k = 0; k < skipped->n; k++)
		if (!caffe_is_training_field(skipped->at[k]))
			return fail(err, ERR_UNSUPPORTED, NULL,
				"it has the field %.120s, which Caffe does not have: remove it if it changes nothing at inference",
				skipped->at[k]);
	return true;
}

/* A file that was written for its weights alone may leave out what its layers read and write. */
static bool check_joined(const char *path, const CaffeNet *net, Err *err)
{
	bool joined = net->layer.n == 0;
	for (size_t k = 0; k < net->layer.n && !joined; k++)
		joined = net->layer.at[k].top.n > 0;
	return joined ||
	       fail(err, ERR_INPUT, path, "has weights, but no layer says what it gives: name its .prototxt");
}

/* The .prototxt of a .caffemodel, where one of that name lies beside it. */
static bool read_net(
	Arena *a, const char **path, Bytes file, const char **weights, CaffeNet *net, WireTexts *skipped, Err *err)
{
	if (!is_model(file))
		return caffe_read(a, *path, file, true, net, skipped, err);
	if (*weights != NULL)
		return fail(err, ERR_USAGE, "weights", "%s has weights itself: name its .prototxt", *path);
	*weights = *path;
	const char *text = neighbour_ending(a, *path, ".caffemodel", ".prototxt");
	if (text == NULL)
		return caffe_read(a, *path, file, false, net, NULL, err) && check_joined(*path, net, err);
	*path = text;
	return neighbour_read(a, text, &file, err) && caffe_read(a, text, file, true, net, skipped, err);
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	CaffeNet *net = arena_new_of(a, CaffeNet);
	CaffeWeights *weights = arena_new_of(a, CaffeWeights);
	WireTexts skipped = { 0 };
	NodeGraph g = { 0 };
	const char *file_of_weights = args->weights;
	if (is_solver(file) && !is_model(file) && !is_net(file)) {
		fail(err, ERR_INPUT, path,
			"is a solver, which says how a network is trained: name the .prototxt of the network");
		return NULL;
	}
	if (!read_net(a, &path, file, &file_of_weights, net, &skipped, err) || !caffe_graph(a, net, args, &g, err))
		return NULL;
	if (file_of_weights == path) {
		*weights = (CaffeWeights){ .file = path, .net = net };
		caffe_index_weights(a, weights);
	} else if (!open_weights(
				   a, path, file_of_weights != NULL ? file_of_weights : find_weights(a, path), args, weights, err)) {
		return NULL;
	}
	NodeModel model = { .format = &format, .graph = &g, .source = weights };
	Dag *d = import_model(a, path, &model, args, err);
	return d != NULL && check_skipped(&skipped, err) ? d : NULL;
}

const Format format_caffe = {
	.name = "caffe",
	.doc = "Caffe networks (.prototxt)",
	.recognise = recognise,
	.node = { &format },
	.weights = true,
	.load = load,
};
