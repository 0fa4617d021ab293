/*
 * The row of CoreML: a .mlmodel or a .mlpackage, whose network or program is read, or the only one of a pipeline.
 */
#include "frontend/coreml/mil.h"

#include "frontend/format.h"

#include <string.h>

static const NodeRow *const network_lists[] = { coreml_edge_rows, coreml_window_rows, coreml_resize_rows,
	coreml_weight_rows, coreml_math_rows, coreml_reduce_rows, coreml_blob_rows, coreml_move_rows, coreml_gather_rows,
	coreml_recurrent_rows, coreml_control_rows, NULL };
const NodeFormat coreml_network_format = {
	.name = "CoreML", .weight = "weight", .lists = network_lists, .branch = "branch"
};

/* ---- recognised by the fields of Model: a version, a description, a kind of model */

enum { OLDEST_KIND = 200, LAST_KIND = 3000 };

static FormatMatch recognise(Bytes b)
{
	WireItem it;
	bool description = false, kind = false;
	if (!wire_next(&b, &it) || it.number != 1 || it.type != 0 || it.value < 1 || it.value > 99)
		return FORMAT_NO;
	for (int k = 0; k < 16 && wire_next(&b, &it) && !kind; k++) {
		description |= it.number == 2 && it.type == 2;
		kind = it.type == 2 && it.number >= OLDEST_KIND && it.number <= LAST_KIND;
	}
	return description && kind ? FORMAT_SURE : FORMAT_NO;
}

/* ---- loading */

/* Kinds of models by their fields, for the refusal. */
static const char *kind_of(Bytes b)
{
	static const struct {
		uint32_t field;
		const char *name;
	} rows[] = { { 300, "a linear regressor" }, { 301, "a support vector machine" }, { 302, "a tree ensemble" },
		{ 304, "a Bayesian regressor" }, { 400, "a linear classifier" }, { 401, "a support vector machine" },
		{ 402, "a tree ensemble" }, { 404, "a nearest-neighbours classifier" }, { 501, "a recommender" },
		{ 555, "a custom model" }, { 556, "a linked model" }, { 560, "a confidence threshold" },
		{ 600, "a one-hot encoder" }, { 601, "an imputer" }, { 602, "a feature vectorizer" },
		{ 603, "a dictionary vectorizer" }, { 604, "a scaler" }, { 606, "a categorical mapping" },
		{ 607, "a normalizer" }, { 609, "an array feature extractor" }, { 610, "a non-maximum suppression" },
		{ 900, "an identity" }, { 2000, "a text classifier" }, { 2001, "a word tagger" },
		{ 2002, "a vision feature print" }, { 2003, "a sound analysis" }, { 2004, "a gazetteer" },
		{ 2005, "a word embedding" }, { 2006, "an audio feature print" }, { 3000, "a serialized model" } };
	WireItem it;
	while (wire_next(&b, &it))
		for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
			if (rows[k].field == it.number)
				return rows[k].name;
	return "a model of a kind that is not known";
}

static const CoremlNetwork *network_of(const CoremlModel *m)
{
	return m->neuralNetwork != NULL             ? m->neuralNetwork
	       : m->neuralNetworkClassifier != NULL ? m->neuralNetworkClassifier
	                                            : m->neuralNetworkRegressor;
}

static bool open_model(Arena *a, CoremlFile *f, Bytes bytes, int depth, Err *err)
{
	CoremlModel *m = arena_new_of(a, CoremlModel);
	if (!wire_read(a, &CoremlModel_message, bytes, m, err))
		return false;
	f->model = m;
	const CoremlPipeline *p = m->pipeline;
	if (m->pipelineClassifier != NULL)
		p = m->pipelineClassifier->pipeline;
	if (m->pipelineRegressor != NULL)
		p = m->pipelineRegressor->pipeline;
	if (p != NULL && p->models.n == 1 && depth == 0)
		return open_model(a, f, p->models.at[0], depth + 1, err);
	if (p != NULL)
		return fail(err, ERR_UNSUPPORTED, NULL,
			"is a pipeline of %zu models: save the network of it as a model of its own", p->models.n);
	if (network_of(m) == NULL && m->mlProgram.n == 0)
		return fail(err, ERR_UNSUPPORTED, NULL, "is %s, but dlc reads neural networks and ML programs", kind_of(bytes));
	return true;
}

static const char *folder_of(Arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == NULL ? "." : arena_printf(a, "%.*s", (int)(slash + 1 - path), path);
}

/* `file` is empty for a package. */
static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *given, Err *err)
{
	CoremlFile *f = arena_new_of(a, CoremlFile);
	ModelArgs args = *given;
	NodeGraph g;
	*f = (CoremlFile){ .folder = folder_of(a, path), .below = "" };
	if (file.n == 0) {
		f->folder = path;
		if (!coreml_open_package(a, path, &f->below, &file, err))
			return NULL;
	}
	if (!open_model(a, f, file, 0, err))
		return NULL;
	const CoremlNetwork *net = network_of(f->model);
	if (net != NULL && args.signature != NULL) {
		fail(err, ERR_USAGE, "signature", "the model is one network without functions, so there is none to choose");
		return NULL;
	}
	NodeModel model = { .format = net != NULL ? &coreml_network_format : &mil_format, .graph = &g, .source = f };
	bool ok =
		net != NULL ? coreml_network(a, f, net, &args, &g, err) : mil_program(a, f, &args, &g, &model.version, err);
	return ok ? import_model(a, path, &model, &args, err) : NULL;
}

const Format format_coreml = {
	.name = "coreml",
	.doc = "CoreML models (.mlmodel, .mlpackage)",
	.recognise = recognise,
	.node = { &coreml_network_format, &mil_format },
	.recognise_folder = coreml_is_package,
	.signatures = true,
	.load = load,
};
