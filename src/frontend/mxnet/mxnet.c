/*
 * The row of MXNet: a symbol (NAME-symbol.json) and the arrays that are saved beside it (NAME-0000.params, the last
 * epoch). Either of the two names the network. Without arrays the weights are random numbers.
 */
#include "frontend/mxnet/graph.h"
#include "frontend/mxnet/mxnet.h"
#include "frontend/mxnet/rows.h"
#include "frontend/format.h"
#include "frontend/neighbour.h"

#include <string.h>

static const NodeRow *const lists[] = {
	mxnet_variable_rows,
	mxnet_nn_rows,
	mxnet_norm_rows,
	mxnet_math_rows,
	mxnet_reduce_rows,
	mxnet_move_rows,
	mxnet_slice_rows,
	mxnet_gather_rows,
	mxnet_fill_rows,
	mxnet_matmul_rows,
	mxnet_recurrent_rows,
	mxnet_detect_rows,
	mxnet_control_rows,
	mxnet_quant_rows,
	NULL,
};

static const NodeFormat format = {
	.name = "MXNet",
	.weight = "array",
	.lists = lists,
	.branch = "_cond",
	.loose = true,
};

static bool is_params(Bytes file)
{
	static const unsigned char magic[8] = { MXNET_PARAMS_MAGIC & 255, MXNET_PARAMS_MAGIC >> 8 };
	return file.n >= sizeof magic && memcmp(file.at, magic, sizeof magic) == 0;
}

static bool holds(Bytes file, const char *word)
{
	return memmem(file.at, file.n, word, strlen(word)) != NULL;
}

static FormatMatch recognise(Bytes file)
{
	if (is_params(file))
		return FORMAT_SURE;
	size_t k = 0;
	while (k < file.n && strchr(" \t\r\n", file.at[k]) != NULL)
		k++;
	bool object = k < file.n && file.at[k] == '{';
	return object && holds(file, "\"arg_nodes\"") && holds(file, "\"nodes\"") ? FORMAT_SURE : FORMAT_NO;
}

/* The path without `end`; NULL: it does not end so. */
static const char *without(Arena *a, const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);
	return n > m && strcmp(path + n - m, end) == 0 ? arena_printf(a, "%.*s", (int)(n - m), path) : NULL;
}

/* The symbol beside NAME-0012.params, NAME.params: NAME-symbol.json, NAME.json. */
static const char *symbol_beside(Arena *a, const char *params)
{
	const char *name = without(a, params, ".params");
	if (name == NULL)
		return NULL;
	size_t n = strlen(name);
	const char *epoch = n > 5 ? name + n - 5 : "";
	if (epoch[0] == '-' && strspn(epoch + 1, "0123456789") == 4)
		name = arena_printf(a, "%.*s", (int)(n - 5), name);
	const char *there = neighbour_ending(a, arena_printf(a, "%s.params", name), ".params", "-symbol.json");
	return there != NULL ? there : neighbour_ending(a, arena_printf(a, "%s.params", name), ".params", ".json");
}

/* The last NAME-0012.params beside NAME-symbol.json, else NAME.params. */
static const char *params_beside(Arena *a, const char *symbol)
{
	const char *name = without(a, symbol, "-symbol.json");
	if (name == NULL)
		name = without(a, symbol, ".json");
	if (name == NULL)
		return NULL;
	const char *slash = strrchr(name, '/'), *last = slash != NULL ? slash + 1 : name;
	const char *there = neighbour_last(a, symbol, arena_printf(a, "%s-", last), ".params");
	size_t before = strlen(name) + 1;
	bool epoch = there != NULL && strspn(there + before, "0123456789") == strlen(there) - before - strlen(".params");
	if (there != NULL && !epoch) /* another network's, whose name goes on */
		there = neighbour_named(a, symbol, arena_printf(a, "%s-0000.params", last));
	return there != NULL ? there : neighbour_named(a, symbol, arena_printf(a, "%s.params", last));
}

static const char *network_name(Arena *a, const char *symbol)
{
	const char *slash = strrchr(symbol, '/'), *file = slash != NULL ? slash + 1 : symbol;
	const char *name = without(a, file, "-symbol.json");
	if (name == NULL)
		name = without(a, file, ".json");
	return name != NULL ? name : file;
}

static bool read_params(Arena *a, const char *path, MxnetParams *out, Err *err)
{
	Bytes file;
	return neighbour_read(a, path, &file, err) && mxnet_params_read(a, path, file, out, err);
}

/* The files of a network; `file` is what the user named, a symbol or its arrays. */
static bool open_files(
	Arena *a, const char **path, Bytes *file, const ModelArgs *args, const MxnetParams **out, Err *err)
{
	MxnetParams *params = arena_new_of(a, MxnetParams);
	const char *beside = args->weights;
	*out = NULL;
	if (is_params(*file)) {
		const char *symbol = symbol_beside(a, *path);
		if (symbol == NULL)
			return fail(err, ERR_INPUT, *path,
				"is a parameter file of MXNet, and no symbol is beside it: name the network's file (NAME-symbol.json), "
				"which export() writes");
		if (beside == NULL)
			beside = *path;
		*path = symbol;
		if (!neighbour_read(a, symbol, file, err))
			return false;
	} else if (beside == NULL) {
		beside = params_beside(a, *path);
	}
	if (beside == NULL)
		return true;
	*out = params;
	return read_params(a, beside, params, err);
}

Dag *mxnet_import(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	const MxnetParams *params;
	MxnetSymbol symbol = { 0 };
	NodeGraph *graph = arena_new_of(a, NodeGraph);
	if (!open_files(a, &path, &file, args, &params, err) || !mxnet_symbol_read(a, path, file, &symbol, err) ||
		!mxnet_graph(a, path, &symbol, params, graph, err)) {
		err_at(err, path);
		return NULL;
	}
	graph->name = network_name(a, path);
	bool weights = false;
	for (size_t k = 0; k < graph->nnode; k++)
		weights |= strcmp(graph->node[k].op, "null") == 0;
	if (weights && args->note != NULL)
		args->note(
			"no file of arrays (.params) is beside the symbol: its weights are seeded random numbers", args->note_arg);
	NodeModel model = { .format = &format, .graph = graph, .version = (int)symbol.version };
	return import_model(a, path, &model, args, err);
}

const Format format_mxnet = {
	.name = "mxnet",
	.doc = "MXNet models",
	.recognise = recognise,
	.node = { &format },
	.weights = true,
	.load = mxnet_import,
};
