/*
 * The layers of a neural network as nodes. Inputs pass a node that brings them to the form that layers read, and one
 * for each preprocessing; results pass one that brings them to the form that the file declares. A layer that writes a
 * blob again makes a new value: later layers read that one.
 */
#include "frontend/coreml/walk.h"

#include <string.h>

enum { COLOR_GRAY = 10, COLOR_RGB = 20, COLOR_BGR = 30, COLOR_GRAY_HALF = 40 };
enum { ARRAY_INT32 = 131104, ARRAY_INT8 = 131080 };

/* ---- blobs and the values that they are */

const char *coreml_value_of(const Walk *w, const char *blob)
{
	int k = names_find(w->blobs, blob);
	return k < 0 ? NULL : w->value.at[k];
}

const char *coreml_new_value(Walk *w, const char *blob, const char *by)
{
	const char *name = blob;
	int k = names_find(w->blobs, blob);
	if (names_taken(w->taken, name))
		name = arena_printf(w->arena, "%s/%s", blob, by);
	name = names_give(w->taken, name);
	vec_push(w->arena, &w->change, ((CoremlChange){ blob, k < 0 ? NULL : w->value.at[k] }));
	if (k >= 0) {
		w->value.at[k] = name;
	} else {
		vec_push(w->arena, &w->value, name);
		names_bind(w->blobs, blob, (int)w->value.n - 1);
	}
	return name;
}

static const char *const *one_text(Walk *w, const char *text)
{
	const char **list = arena_array(w->arena, const char *, 1);
	list[0] = text;
	return list;
}

/* A node of one input and one result. */
static void add_node(Walk *w, const char *op, const char *blob, const char *in, const char *out, const void *source)
{
	NodeDef n = { .name = arena_printf(w->arena, "%s of %s", op, blob), .op = op, .domain = "", .nin = 1, .nout = 1 };
	n.in = one_text(w, in);
	n.out = one_text(w, out);
	n.source = source;
	vec_push(w->arena, &w->node, n);
}

/* A node that replaces a blob. */
static void add_step(Walk *w, const char *op, const char *blob, const void *source)
{
	const char *in = coreml_value_of(w, blob);
	add_node(w, op, blob, in, coreml_new_value(w, blob, op), source);
}

/* ---- inputs */

static const ShapeArg *shape_arg(const Walk *w, const char *name)
{
	for (int k = 0; k < w->args->nshape; k++)
		if (strcmp(w->args->shape[k].name, name) == 0)
			return &w->args->shape[k];
	return NULL;
}

static bool refuse_input(Walk *w, const char *name, const char *why)
{
	return fail(w->err, ERR_UNSUPPORTED, NULL, "input '%.100s' %s", name, why);
}

int64_t coreml_channels(const CoremlImage *image)
{
	int64_t color = image->colorSpace;
	return color == COLOR_RGB || color == COLOR_BGR ? 3 : color == COLOR_GRAY || color == COLOR_GRAY_HALF ? 1 : 0;
}

static bool image_shape(Walk *w, const char *name, const CoremlImage *image, WireInts *out)
{
	int64_t channels = coreml_channels(image);
	if (channels == 0)
		return refuse_input(w, name, "is an image of a colour space that is not known");
	if (image->width < 1 || image->height < 1)
		return refuse_input(w, name, "is an image without a size");
	vec_push(w->arena, out, 1);
	vec_push(w->arena, out, channels);
	vec_push(w->arena, out, image->height);
	vec_push(w->arena, out, image->width);
	return true;
}

/*
 * The shape of an array in a network of rank 5 is [C] or [C,H,W]. Before it stand the batch, or the steps of the
 * sequence and the batch, where the arguments give them.
 */
static bool rank5_shape(Walk *w, const CoremlFeature *f, WireInts *dim)
{
	const char *name = coreml_text(f->name);
	const ShapeArg *given = shape_arg(w, name);
	bool state = f->type->isOptional != 0;
	int lead = given != NULL ? given->shape.rank - (int)dim->n : w->args->seq > 0 ? 2 : w->args->batch > 0 ? 1 : 0;
	WireInts all = { 0 };
	if (dim->n != 1 && dim->n != 3)
		return refuse_input(w, name, "is an array of neither 1 nor 3 dimensions, but the network maps it to 5");
	if (lead < 0 || lead > 2)
		return fail(w->err, ERR_USAGE, "shape", "input '%.100s' is given %d dimensions where the model has %zu", name,
			given->shape.rank, dim->n);
	int64_t steps = given != NULL ? given->shape.dim[0] : w->args->seq, batch = w->args->batch > 0 ? w->args->batch : 1;
	if (lead == 2)
		vec_push(w->arena, &all, state && given == NULL ? 1 : steps);
	if (given != NULL && lead > 0)
		batch = given->shape.dim[lead - 1];
	if (lead > 0)
		vec_push(w->arena, &all, batch);
	for (size_t k = 0; k < dim->n; k++)
		vec_push(w->arena, &all, dim->at[k]);
	if (batch < 1 || (w->file->batch > 1 && batch != w->file->batch))
		return fail(w->err, ERR_USAGE, "shape", "input '%.100s' has a batch of %lld, another one of %lld", name,
			(long long)batch, (long long)w->file->batch);
	w->file->batch = batch;
	w->file->lead = lead > w->file->lead ? lead : w->file->lead;
	*dim = all;
	return true;
}

static bool add_input(Walk *w, const CoremlFeature *f)
{
	const char *name = coreml_text(f->name);
	const CoremlType *t = f->type;
	NodeValue v = { .name = name, .type = F32, .shaped = true };
	WireInts dim = { 0 };
	if (t == NULL || (t->imageType == NULL && t->multiArrayType == NULL))
		return refuse_input(w, name, "is neither an image nor an array of numbers");
	if (names_taken(w->taken, name))
		return fail(w->err, ERR_INPUT, NULL, "two inputs have the name '%.100s'", name);
	if (t->imageType != NULL) {
		if (!image_shape(w, name, t->imageType, &dim))
			return false;
		if (w->file->rank5 && w->args->batch > 0)
			dim.at[0] = w->file->batch = w->args->batch;
		w->file->lead = w->file->lead > 1 ? w->file->lead : 1;
	} else {
		const CoremlArray *array = t->multiArrayType;
		v.type = array->dataType == ARRAY_INT32 ? I32 : array->dataType == ARRAY_INT8 ? DT(INT, 8) : F32;
		for (size_t k = 0; k < array->shape.n; k++)
			vec_push(w->arena, &dim, array->shape.at[k]);
		v.shaped = dim.n > 0;
		if (w->file->rank5 && !rank5_shape(w, f, &dim))
			return false;
	}
	NodeDim *to = arena_array(w->arena, NodeDim, dim.n + 1);
	for (size_t k = 0; k < dim.n; k++)
		to[k] = (NodeDim){ .size = dim.at[k], .symbol = "" };
	v.dim = to;
	v.ndim = dim.n;
	vec_push(w->arena, &w->in, v);
	coreml_new_value(w, name, "");
	add_step(w, "input", name, t);
	return true;
}

static bool add_preprocessing(Walk *w, const CoremlPreprocessing *p, const CoremlDescription *d)
{
	const char *name = coreml_text(p->featureName);
	const CoremlFeature *input = NULL;
	if (name[0] == 0 && d->input.n == 1) /* of the only input */
		name = coreml_text(d->input.at[0].name);
	for (size_t k = 0; k < d->input.n && input == NULL; k++)
		if (strcmp(coreml_text(d->input.at[k].name), name) == 0)
			input = &d->input.at[k];
	if (input == NULL || input->type == NULL || input->type->imageType == NULL)
		return fail(w->err, ERR_INPUT, NULL, "it preprocesses '%.100s', which is no image of its inputs", name);
	if (p->scaler != NULL) {
		bool bgr = input->type->imageType->colorSpace == COLOR_BGR;
		CoremlScaler *s = arena_copy(w->arena, p->scaler, sizeof *s);
		if (!bgr) { /* in the order of the channels from here on */
			s->blueBias = p->scaler->redBias;
			s->redBias = p->scaler->blueBias;
		}
		add_step(w, "scaler", name, s);
	}
	if (p->meanImage != NULL)
		add_step(w, "meanImage", name, p->meanImage);
	return true;
}

/* ---- layers */

/* Refuses a field that the table lacks, in messages inside, too. */
static bool check_fields(const Walk *w, const char *layer, const WireMessage *m, Bytes b, int depth)
{
	WireItem it;
	while (wire_next(&b, &it)) {
		const WireField *f = NULL;
		for (int k = 0; k < m->nfield && f == NULL; k++)
			f = m->field[k].number == it.number ? &m->field[k] : NULL;
		if (f == NULL)
			return fail(w->err, ERR_UNSUPPORTED, NULL, "layer '%.100s' has field %u of %s, which is not known", layer,
				it.number, m->name);
		if (f->kind == WIRE_MSG && it.type == 2 && depth < WIRE_DEPTH &&
			!check_fields(w, layer, f->message, it.bytes, depth + 1))
			return false;
	}
	return true;
}

/* Reads the parameters of a layer; *kind is NULL where the field is not known, which gets a name for the refusal. */
static bool read_params(Walk *w, const char *layer, Bytes b, const CoremlKind **kind, const char **op, void **params)
{
	WireItem it;
	*kind = NULL;
	*op = NULL;
	while (wire_next(&b, &it)) {
		if (it.number < 100 || it.type != 2)
			continue;
		*kind = coreml_kind_of(it.number);
		*op = *kind != NULL ? (*kind)->name : arena_printf(w->arena, "layer of field %u", it.number);
		if (*kind == NULL || (*kind)->message == &CoremlNone_message)
			continue;
		*params = arena_alloc(w->arena, (*kind)->message->size);
		if (!check_fields(w, layer, (*kind)->message, it.bytes, 0) ||
			!wire_read(w->arena, (*kind)->message, it.bytes, *params, w->err))
			return false;
	}
	return *op != NULL || fail(w->err, ERR_INPUT, NULL, "layer '%.100s' has no kind", layer);
}

static bool add_layer(Walk *w, Bytes bytes)
{
	CoremlLayer *l = arena_new_of(w->arena, CoremlLayer);
	const CoremlKind *kind;
	void *params = NULL;
	if (!wire_read(w->arena, &CoremlLayer_message, bytes, l, w->err))
		return false;
	NodeDef n = { .name = coreml_text(l->name), .domain = "", .nin = l->input.n, .nout = l->output.n };
	if (!read_params(w, n.name, bytes, &kind, &n.op, &params))
		return false;
	const char **in = arena_array(w->arena, const char *, n.nin + 1),
			   **out = arena_array(w->arena, const char *, n.nout + 1);
	for (size_t k = 0; k < n.nin; k++) {
		in[k] = coreml_value_of(w, l->input.at[k]);
		if (in[k] == NULL)
			return fail(w->err, ERR_INPUT, NULL, "layer '%.100s' reads '%.100s', which no layer before it writes",
				n.name, l->input.at[k]);
	}
	if (strcmp(n.op, "branch") == 0)
		return coreml_add_branch(w, l, params);
	if (strcmp(n.op, "loop") == 0)
		return coreml_add_loop(w, l, params);
	for (size_t k = 0; k < n.nout; k++)
		out[k] = coreml_new_value(w, l->output.at[k], n.name);
	n.in = in;
	n.out = out;
	n.source = params;
	vec_push(w->arena, &w->node, n);
	return true;
}

bool coreml_add_layers(Walk *w, const CoremlNetwork *net)
{
	for (size_t k = 0; k < net->layers.n; k++)
		if (!add_layer(w, net->layers.at[k]))
			return false;
	return true;
}

/* What all layers read, and what is read as a result. */
static bool list_uses(Walk *w, const CoremlDescription *d)
{
	w->all = coreml_uses(w->arena);
	for (size_t k = 0; k < d->output.n; k++)
		coreml_count_read(w->arena, &w->all, coreml_text(d->output.at[k].name));
	coreml_count_read(w->arena, &w->all, coreml_text(w->net->labelProbabilityLayerName));
	return coreml_list_uses(w, w->net, 0, &w->all);
}

/* ---- results */

static void note(const Walk *w, const char *text)
{
	if (w->args->note != NULL)
		w->args->note(text, w->args->note_arg);
}

static bool add_output(Walk *w, const CoremlFeature *f, const char *blob)
{
	const char *name = coreml_text(f->name);
	if (coreml_value_of(w, blob) == NULL)
		return fail(w->err, ERR_INPUT, NULL, "no layer writes the result '%.100s'", blob);
	/* Its name is free (coreml_network), unless an input has it. */
	bool shared = false;
	for (size_t k = 0; k < w->in.n; k++)
		shared |= strcmp(w->in.at[k].name, name) == 0;
	const char *value = shared ? arena_printf(w->arena, "%s/output", name) : name;
	add_node(w, "output", name, coreml_value_of(w, blob), value, f->type);
	vec_push(w->arena, &w->out, ((NodeValue){ .name = name, .reads = value }));
	return true;
}

/* Probabilities of a classifier are the blob that it names, else that of the last layer. */
static const char *probabilities(const Walk *w)
{
	const char *name = coreml_text(w->net->labelProbabilityLayerName);
	if (name[0] != 0 || w->net->layers.n == 0 || w->node.n == 0)
		return name;
	CoremlLayer *last = arena_new_of(w->arena, CoremlLayer);
	Err ignored = { 0 };
	bool ok = wire_read(w->arena, &CoremlLayer_message, w->net->layers.at[w->net->layers.n - 1], last, &ignored);
	return ok && last->output.n > 0 ? last->output.at[0] : "";
}

static bool add_outputs(Walk *w, const CoremlDescription *d)
{
	const char *label = coreml_text(d->predictedFeatureName);
	bool classes = w->file->model->neuralNetworkClassifier == w->net;
	for (size_t k = 0; k < d->output.n; k++) {
		const CoremlFeature *f = &d->output.at[k];
		const char *name = coreml_text(f->name);
		bool dictionary = f->type != NULL && (f->type->has >> CoremlType_dictionaryType & 1) != 0;
		if (f->type == NULL)
			return fail(w->err, ERR_INPUT, NULL, "result '%.100s' has no type", name);
		if (classes && strcmp(name, label) == 0)
			note(w,
				arena_printf(w->arena, "the class label '%.100s' is left out: its probabilities are a result", name));
		else if (!add_output(w, f, classes && dictionary ? probabilities(w) : name))
			return false;
	}
	if (w->out.n == 0 && !classes)
		return fail(w->err, ERR_INPUT, NULL, "it has no results");
	/* A classifier that declares its label only. */
	CoremlFeature *f = arena_new_of(w->arena, CoremlFeature);
	f->name = probabilities(w);
	f->type = arena_new_of(w->arena, CoremlType);
	return w->out.n > 0 || add_output(w, f, f->name);
}

bool coreml_network(Arena *a, CoremlFile *f, const CoremlNetwork *net, ModelArgs *args, NodeGraph *out, Err *err)
{
	static const CoremlDescription none;
	const CoremlDescription *d = f->model->description != NULL ? f->model->description : &none;
	Walk w = {
		.arena = a, .file = f, .net = net, .args = args, .blobs = names_new(a), .taken = names_new(a), .err = err
	};
	bool array = false;
	for (size_t k = 0; k < d->input.n; k++)
		array |= d->input.at[k].type != NULL && d->input.at[k].type->multiArrayType != NULL;
	f->rank5 = (array ? net->arrayInputShapeMapping : net->imageInputShapeMapping) == 0;
	f->batch = 1;
	for (size_t k = 0; k < d->input.n; k++)
		if (!add_input(&w, &d->input.at[k]))
			return false;
	for (size_t k = 0; k < net->preprocessing.n; k++)
		if (!add_preprocessing(&w, &net->preprocessing.at[k], d))
			return false;
	for (size_t k = 0; k < d->output.n; k++) /* no blob takes a result's name */
		names_bind(w.taken, coreml_text(d->output.at[k].name), 0);
	if (!list_uses(&w, d) || !coreml_add_layers(&w, net) || !add_outputs(&w, d))
		return false;
	if (f->rank5) /* they are in the shapes already */
		args->batch = args->seq = 0;
	*out = (NodeGraph){ .name = "coreml",
		.node = w.node.at,
		.nnode = w.node.n,
		.in = w.in.at,
		.nin = w.in.n,
		.out = w.out.at,
		.nout = w.out.n };
	return true;
}
