/*
 * The row of DarkNet: a .cfg of DarkNet or of AlexeyAB's fork, whose .weights lie beside it. Each section behind [net]
 * becomes a node, named by its type and number, as in "convolutional_12"; options are its attributes. Results are the
 * detectors and the last layer.
 */
#include "frontend/darknet/darknet.h"

#include "frontend/format.h"
#include "frontend/neighbour.h"
#include "frontend/node/operators.h"

#include <stdlib.h>
#include <string.h>

static const NodeRow *const lists[] = { darknet_layer_rows, darknet_detect_rows, darknet_recurrent_rows, NULL };

static const NodeFormat format = { .name = "DarkNet", .weight = "weights", .lists = lists, .loose = true };

/* ---- recognising */

static FormatMatch recognise(Bytes file)
{
	static const char *const first[] = { "[net]", "[network]" };
	size_t at = 0;
	while (at < file.n && (strchr(" \t\r\n", file.at[at]) != NULL || file.at[at] == '#' || file.at[at] == ';')) {
		const unsigned char *end = memchr(file.at + at, '\n', file.n - at);
		bool comment = file.at[at] == '#' || file.at[at] == ';';
		if (file.at[at] == 0)
			return FORMAT_NO;
		at = !comment ? at + 1 : end != NULL ? (size_t)(end - file.at) + 1 : file.n;
	}
	for (size_t k = 0; k < 2; k++)
		if (file.n - at > strlen(first[k]) && memcmp(file.at + at, first[k], strlen(first[k])) == 0)
			return FORMAT_SURE;
	return FORMAT_NO;
}

/* Options and layers that only AlexeyAB's fork has. */
static bool is_fork(const Cfg *cfg)
{
	static const char *const types[] = { "scale_channels", "sam", "Gaussian_yolo", "conv_lstm", "reorg3d", "lrelu" };
	static const char *const options[] = { "scale_x_y", "iou_loss", "nms_kind", "beta_nms", "new_coords", "max_delta",
		"objectness_smooth", "mosaic", "cutmix", "letter_box", "ema_alpha", "group_id", "share_index", "dilation",
		"stride_x", "stride_y", "resize", "try_fix_nan", "sgdr_cycle", "iou_thresh", "cls_normalizer", "antialiasing",
		"weights_type" };
	for (size_t k = 0; k < cfg->n; k++) {
		const CfgSection *s = &cfg->at[k];
		const char *activation = cfg_value(s, "activation");
		for (size_t i = 0; i < sizeof types / sizeof *types; i++)
			if (strcmp(s->type, types[i]) == 0)
				return true;
		for (size_t i = 0; i < sizeof options / sizeof *options; i++)
			if (cfg_value(s, options[i]) != NULL)
				return true;
		if (activation != NULL && (strcmp(activation, "mish") == 0 || strcmp(activation, "swish") == 0))
			return true;
		if (strcmp(s->type, "crnn") == 0 && cfg_value(s, "size") != NULL)
			return true;
	}
	return false;
}

/* ---- sections to nodes */

/* A section's type in full. */
static const char *type_of(const char *type)
{
	static const char *const words[][2] = { { "conv", "convolutional" }, { "deconv", "deconvolutional" },
		{ "conn", "connected" }, { "max", "maxpool" }, { "avg", "avgpool" }, { "soft", "softmax" },
		{ "lrn", "normalization" } };
	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (strcmp(type, words[k][0]) == 0)
			return words[k][1];
	return type;
}

static bool is_detector(const char *type)
{
	return strcmp(type, "yolo") == 0 || strcmp(type, "region") == 0 || strcmp(type, "detection") == 0;
}

static bool reads_layers(const char *type)
{
	return strcmp(type, "route") == 0;
}

static bool reads_two(const char *type)
{
	return strcmp(type, "shortcut") == 0 || strcmp(type, "scale_channels") == 0 || strcmp(type, "sam") == 0;
}

/* The layers that an option lists, absolute or counted back from layer `here`. */
static bool list_layers(Arena *a, const CfgSection *s, const char *option, long here, WireInts *out, Err *err)
{
	const char *text = cfg_value(s, option);
	if (text == NULL)
		return fail(err, ERR_INPUT, NULL, "line %d: section [%s] has no option %s", s->line, s->type, option);
	for (const char *at = text; *at != 0;) {
		char *end;
		long k = strtol(at, &end, 10);
		bool number = end != at && (*end == ',' || *end == 0);
		k = number && k < 0 ? here + k : k;
		if (!number || k < 0 || k >= here)
			return fail(err, ERR_INPUT, NULL, "line %d: '%.40s' of option %s does not name layers before it", s->line,
				text, option);
		vec_push(a, out, (int64_t)k);
		at = end + (*end == ',');
	}
	return out->n > 0 || fail(err, ERR_INPUT, NULL, "line %d: option %s lists no layer", s->line, option);
}

static NodeAttr *attrs_of(Arena *a, const CfgSection *s, const char *without, size_t *n)
{
	NodeAttr *out = arena_array(a, NodeAttr, s->option.n + 1);
	*n = 0;
	for (size_t k = 0; k < s->option.n; k++) {
		const char *value = s->option.at[k].value;
		if (without != NULL && strcmp(s->option.at[k].name, without) == 0)
			continue;
		out[(*n)++] = (NodeAttr){
			.name = s->option.at[k].name, .kind = NODE_TEXT, .text = { (const unsigned char *)value, strlen(value) }
		};
	}
	return out;
}

/* Section k as a node; `path` is the .cfg's, beside which a tree of classes lies. */
static bool make_node(
	Arena *a, const char *path, const Cfg *cfg, const char *const *name, long k, NodeDef *out, Err *err)
{
	const CfgSection *s = &cfg->at[k + 1];
	const char *type = type_of(s->type), *option = reads_layers(type) ? "layers" : reads_two(type) ? "from" : NULL;
	WireInts list = { 0 };
	if (option == NULL || reads_two(type))
		vec_push(a, &list, k - 1);
	if (option != NULL && !list_layers(a, s, option, k, &list, err))
		return false;
	const char **in = arena_array(a, const char *, list.n + 1), **result = arena_array(a, const char *, 1);
	for (size_t i = 0; i < list.n; i++)
		in[i] = list.at[i] < 0 ? "data" : name[list.at[i]];
	result[0] = name[k];
	*out = (NodeDef){ .name = name[k], .op = type, .domain = "", .in = in, .nin = list.n, .out = result, .nout = 1 };
	NodeAttr *attr = attrs_of(a, s, option, &out->nattr);
	for (size_t i = 0; i < out->nattr; i++)
		if (strcmp(attr[i].name, "tree") == 0 && !darknet_read_tree(a, path, &attr[i], err))
			return false;
	out->attr = attr;
	return true;
}

/* ---- the input */

enum { MOST_EXTENT = 1 << 24 };

/* A number of [net]; `otherwise` where it is not given. */
static bool read_size(const CfgSection *net, const char *option, int64_t otherwise, int64_t *out, Err *err)
{
	const char *text = cfg_value(net, option);
	*out = otherwise;
	if (text != NULL && !text_to_int(text, 0, MOST_EXTENT, out))
		return fail(err, ERR_INPUT, NULL, "line %d: option %s of [net] is '%.40s', not a number in 0..%d", net->line,
			option, text, MOST_EXTENT);
	return true;
}

static bool has_memory(const Cfg *cfg)
{
	for (size_t k = 1; k < cfg->n; k++)
		if (strcmp(cfg->at[k].type, "rnn") == 0 || strcmp(cfg->at[k].type, "gru") == 0 ||
			strcmp(cfg->at[k].type, "lstm") == 0 || strcmp(cfg->at[k].type, "crnn") == 0)
			return true;
	return false;
}

/* An image, or a line of numbers. For networks with memory its first dimension are the steps. */
static bool make_input(Arena *a, const Cfg *cfg, int64_t steps, NodeValue *out, Err *err)
{
	const CfgSection *net = &cfg->at[0];
	int64_t h, w, c, line;
	if (!read_size(net, "height", 0, &h, err) || !read_size(net, "width", 0, &w, err) ||
		!read_size(net, "channels", 0, &c, err) || !read_size(net, "inputs", 0, &line, err))
		return false;
	bool image = h > 0 && w > 0 && c > 0;
	if (!image && line == 0)
		return fail(
			err, ERR_INPUT, NULL, "line %d: [net] has neither height, width and channels nor inputs", net->line);
	NodeDim *dim = arena_array(a, NodeDim, 4);
	dim[0] = (NodeDim){ .size = steps, .symbol = "" };
	dim[1] = (NodeDim){ .size = image ? c : line, .symbol = "" };
	dim[2] = (NodeDim){ .size = h, .symbol = "" };
	dim[3] = (NodeDim){ .size = w, .symbol = "" };
	*out = (NodeValue){ .name = "data", .type = F32, .shaped = true, .dim = dim, .ndim = image ? 4 : 2 };
	return true;
}

/* ---- loading */

/* The .cfg of a .weights file, or that file itself. */
static bool read_cfg(Arena *a, const char *path, Bytes file, const char **weights, Cfg *out, Err *err)
{
	if (recognise(file) != FORMAT_NO)
		return cfg_read(a, path, file, out, err);
	const char *cfg = neighbour_ending(a, path, ".weights", ".cfg");
	if (cfg == NULL)
		return fail(err, ERR_INPUT, path, "has weights without their network: name the .cfg, and these as weights");
	if (*weights != NULL)
		return fail(err, ERR_USAGE, "weights", "%s is a file of weights itself: name its .cfg", path);
	*weights = path;
	return neighbour_read(a, cfg, &file, err) && cfg_read(a, cfg, file, out, err);
}

static bool open_weights(
	Arena *a, const char *path, const char *weights, const ModelArgs *args, DarknetNumbers *numbers, Err *err)
{
	Bytes file;
	const char *beside = neighbour_ending(a, path, ".cfg", ".weights");
	if (weights == NULL)
		weights = beside != NULL ? beside : neighbour_ending(a, path, ".cfg", "_final.weights");
	if (weights != NULL)
		return neighbour_read(a, weights, &file, err) && darknet_open_numbers(a, weights, file, numbers, err);
	const char *note = arena_printf(
		a, "no file of weights lies beside '%.200s', so weights are drawn: name one to have its weights", path);
	if (args->note != NULL)
		args->note(note, args->note_arg);
	return true;
}

/* Steps as given; a file says how many it was trained with, but DarkNet itself then runs one at a time. */
static bool read_steps(Arena *a, const Cfg *cfg, const ModelArgs *args, int64_t *steps, Err *err)
{
	int64_t trained;
	*steps = args->seq > 0 ? args->seq : 1;
	if (!has_memory(cfg)) {
		if (args->seq > 0)
			return fail(err, ERR_USAGE, "seq", "the network has no recurrent layer, so it takes no sequence");
		return true;
	}
	if (args->batch > 1)
		return fail(err, ERR_USAGE, "batch", "a network with recurrent layers runs one sequence at a time");
	if (!read_size(&cfg->at[0], "time_steps", 1, &trained, err))
		return false;
	const char *note =
		arena_printf(a, "one step of the sequence is compiled (trained with %lld): a longer sequence can be asked for",
			(long long)trained);
	if (args->seq == 0 && args->note != NULL)
		args->note(note, args->note_arg);
	return true;
}

static Dag *import_cfg(Arena *a, const char *path, const Cfg *cfg, const char *weights, const ModelArgs *args, Err *err)
{
	long n = (long)cfg->n - 1, last = n - 1;
	DarknetNumbers *numbers = arena_new_of(a, DarknetNumbers);
	NodeDef *node = arena_array(a, NodeDef, n + 1);
	NodeValue input, *result = arena_array(a, NodeValue, n + 1);
	NodeGraph g = { .name = "darknet", .node = node, .nnode = (size_t)n, .in = &input, .nin = 1, .out = result };
	const char **name = arena_array(a, const char *, n + 1);
	*numbers = (DarknetNumbers){ .fork = is_fork(cfg), .node = node, .last = -1 };
	numbers->first = arena_array(a, int64_t, n + 1);
	for (long k = 0; k < n; k++)
		name[k] = arena_printf(a, "%.60s_%ld", type_of(cfg->at[k + 1].type), k);
	for (long k = 0; k < n; k++)
		if (!make_node(a, path, cfg, name, k, &node[k], err))
			return NULL;
	while (last > 0 && strcmp(node[last].op, "cost") == 0)
		last--;
	for (long k = 0; k < n; k++)
		if (k == last || is_detector(node[k].op))
			result[g.nout++] = (NodeValue){ .name = name[k] };
	if (!read_steps(a, cfg, args, &numbers->steps, err) || !make_input(a, cfg, numbers->steps, &input, err) ||
		!open_weights(a, path, weights, args, numbers, err))
		return NULL;
	ModelArgs rest = *args;
	rest.seq = 0; /* it is in the input's shape */
	NodeModel model = { .format = &format, .graph = &g, .source = numbers };
	Dag *d = import_model(a, path, &model, &rest, err);
	if (d == NULL || numbers->at == NULL || numbers->used == numbers->n)
		return d;
	fail(err, ERR_INPUT, path, "needs %lld numbers, but its weights have %lld: they are of another network",
		(long long)numbers->used, (long long)numbers->n);
	return NULL;
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	Cfg cfg = { 0 };
	const char *weights = args->weights;
	return read_cfg(a, path, file, &weights, &cfg, err) ? import_cfg(a, path, &cfg, weights, args, err) : NULL;
}

const Format format_darknet = {
	.name = "darknet",
	.doc = "DarkNet networks (.cfg)",
	.recognise = recognise,
	.node = { &format },
	.endings = ".weights",
	.weights = true,
	.load = load,
};
