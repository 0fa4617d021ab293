/*
 * The row of Caffe2: a predict_net.pb (or .pbtxt) with the init_net.pb beside it, which has the weights. The two files
 * have names that differ by these words: squeezenet_predict_net.pb, squeezenet_init_net.pb.
 */
#include "frontend/caffe2/caffe2.h"

#include "frontend/format.h"
#include "frontend/neighbour.h"
#include "frontend/node/operators.h"
#include "op/names.h"

#include <string.h>

static const NodeRow *const lists[] = { caffe2_window_rows, caffe2_norm_rows, caffe2_dense_rows, caffe2_math_rows,
	caffe2_binary_rows, caffe2_reduce_rows, caffe2_move_rows, caffe2_gather_rows, caffe2_fill_rows, NULL };

static const NodeFormat format = { .name = "Caffe2", .weight = "weight", .lists = lists, .loose = true };

static FormatMatch recognise(Bytes file)
{
	return caffe2_is_net(file) ? FORMAT_SURE : FORMAT_NO;
}

/* Behind the folders of a path. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

/* The last `word` in the name of a file becomes `other`; NULL: the name has none, or there is no such file. */
static const char *renamed(Arena *a, const char *path, const char *word, const char *other)
{
	const char *name = file_name(path), *at = NULL;
	for (const char *s = name; (s = strstr(s, word)) != NULL; s++)
		at = s;
	return at == NULL ? NULL
	                  : neighbour_named(
							a, path, arena_printf(a, "%.*s%s%s", (int)(at - name), name, other, at + strlen(word)));
}

/* init_net beside predict_net, or the other way round, in either form. */
static const char *find_other(Arena *a, const char *path, bool init)
{
	static const char *const words[][2] = { { "predict_net.pbtxt", "init_net.pb" }, { "predict_net", "init_net" },
		{ "exec_net", "init_net" }, { "predict", "init" } };
	for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
		const char *found = renamed(a, path, words[k][init], words[k][!init]);
		if (found != NULL && strcmp(found, path) != 0)
			return found;
	}
	return NULL;
}

static bool read_net(Arena *a, const char *path, const Caffe2Net **out, Err *err)
{
	Bytes bytes;
	Caffe2Net *net = arena_new_of(a, Caffe2Net);
	*out = net;
	if (!neighbour_read(a, path, &bytes, err))
		return false;
	if (!caffe2_is_net(bytes))
		return fail(err, ERR_INPUT, path, "is not a net of Caffe2: it has no operators");
	return caffe2_read(a, path, bytes, net, err);
}

/* Of nets that belong together one reads at least a blob that the other fills. */
static bool check_pair(const char *path, const char *init, const Caffe2Model *m, Err *err)
{
	Arena *a = arena_new();
	Names *filled = names_new(a);
	bool reads = false;
	for (size_t k = 0; k < m->init->op.n; k++)
		for (size_t i = 0; i < m->init->op.at[k].output.n; i++)
			names_bind(filled, m->init->op.at[k].output.at[i], 0);
	for (size_t i = 0; i < m->predict->external_input.n; i++)
		reads |= names_taken(filled, m->predict->external_input.at[i]);
	for (size_t k = 0; k < m->predict->op.n && !reads; k++)
		for (size_t i = 0; i < m->predict->op.at[k].input.n; i++)
			reads |= names_taken(filled, m->predict->op.at[k].input.at[i]);
	arena_free(a);
	return reads ||
	       fail(err, ERR_INPUT, init, "does not belong to %s, which reads none of the blobs that it fills", path);
}

/* The file may be either of the two. */
static bool read_pair(Arena *a, const char **path, Bytes file, const ModelArgs *args, Caffe2Model *m, Err *err)
{
	Caffe2Net *net = arena_new_of(a, Caffe2Net);
	m->predict = net;
	if (!caffe2_read(a, *path, file, net, err))
		return false;
	bool fills = caffe2_only_fills(net) && net->external_input.n == 0 && args->weights == NULL;
	const char *other = args->weights != NULL ? args->weights : find_other(a, *path, fills);
	if (fills && (other != NULL || strstr(file_name(*path), "init") != NULL)) {
		if (other == NULL)
			return fail(err, ERR_INPUT, *path, "only fills weights: name the predict_net that belongs to it");
		const char *init = *path;
		m->init = net;
		*path = other;
		return read_net(a, other, &m->predict, err) && check_pair(other, init, m, err);
	}
	if (other == NULL) {
		if (args->note != NULL && net->external_input.n > 1)
			args->note(
				arena_printf(a, "no init_net lies beside '%.200s', so its weights are inputs", *path), args->note_arg);
		return true;
	}
	if (!read_net(a, other, &m->init, err))
		return false;
	if (!caffe2_only_fills(m->init))
		return fail(err, ERR_INPUT, other, "is not an init_net: its operators read blobs that it does not make");
	return check_pair(*path, other, m, err);
}

static bool read_info(Arena *a, const char *path, Caffe2Model *m, Err *err)
{
	Bytes bytes;
	const char *info = neighbour_named(a, path, "value_info.json");
	if (info == NULL)
		return true;
	if (!neighbour_read(a, info, &bytes, err))
		return false;
	m->info = json_parse(a, info, (const char *)bytes.at, bytes.n, err);
	return m->info != NULL;
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	Caffe2Model *m = arena_new_of(a, Caffe2Model);
	NodeGraph g = { 0 };
	if (!read_pair(a, &path, file, args, m, err) || !read_info(a, path, m, err) || !caffe2_graph(a, m, args, &g, err)) {
		err_at(err, path);
		return NULL;
	}
	NodeModel model = { .format = &format, .graph = &g, .source = m };
	return import_model(a, path, &model, args, err);
}

const Format format_caffe2 = {
	.name = "caffe2",
	.doc = "Caffe2 networks (predict_net.pb)",
	.recognise = recognise,
	.node = { &format },
	.weights = true,
	.load = load,
};
