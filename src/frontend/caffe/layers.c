/*
 * The layers of a network that run at inference, as nodes: those whose rules allow the phase TEST, without data and
 * losses. Data layers become inputs. The members of NAME_param messages become attributes. A layer that writes its own
 * input writes a new value here: the last one keeps the name of the blob, earlier ones get their layer's behind it.
 * What no layer reads is a result, as in Caffe.
 */
#include "frontend/caffe/caffe.h"

#include <string.h>

/* ---- which layers run */

static bool has_text(const WireTexts *list, const char *text)
{
	for (size_t k = 0; k < list->n; k++)
		if (strcmp(list->at[k], text) == 0)
			return true;
	return false;
}

static bool meets(const CaffeRule *r, const CaffeState *s)
{
	bool ok = !(r->has >> CaffeRule_phase & 1) || r->phase == CAFFE_TEST;
	ok &= !(r->has >> CaffeRule_min_level & 1) || s->level >= r->min_level;
	ok &= !(r->has >> CaffeRule_max_level & 1) || s->level <= r->max_level;
	for (size_t k = 0; k < r->stage.n; k++)
		ok &= has_text(&s->stage, r->stage.at[k]);
	for (size_t k = 0; k < r->not_stage.n; k++)
		ok &= !has_text(&s->stage, r->not_stage.at[k]);
	return ok;
}

static bool runs(const CaffeLayer *l, const CaffeState *s)
{
	bool included = l->include.n == 0;
	for (size_t k = 0; k < l->include.n; k++)
		included |= meets(&l->include.at[k], s);
	for (size_t k = 0; k < l->exclude.n; k++)
		included &= !meets(&l->exclude.at[k], s);
	return included;
}

static bool is_one_of(const char *type, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(*list, type) == 0)
			return true;
	return false;
}

bool caffe_is_data(const char *type)
{
	static const char *const types[] = { "Input", "Data", "ImageData", "HDF5Data", "MemoryData", "DummyData",
		"WindowData", "AnnotatedData", "VideoData", NULL };
	return is_one_of(type, types);
}

/* It only measures or stores what others compute. */
static bool is_training(const char *type)
{
	static const char *const types[] = { "SoftmaxWithLoss", "EuclideanLoss", "HingeLoss", "InfogainLoss",
		"ContrastiveLoss", "MultinomialLogisticLoss", "SigmoidCrossEntropyLoss", "SmoothL1Loss", "MultiBoxLoss",
		"Accuracy", "HDF5Output", "DetectionEvaluate", NULL };
	return is_one_of(type, types);
}

/*
 * What a layer computes. The layer of Python that py-faster-rcnn and R-FCN have is known by its names; no program of a
 * file is ever run.
 */
static const char *operator_of(const CaffeLayer *l)
{
	const CaffePython *p = l->python_param;
	bool known = p != NULL && strcmp(caffe_text(l->type), "Python") == 0 &&
	             strcmp(caffe_text(p->module), "rpn.proposal_layer") == 0 &&
	             strcmp(caffe_text(p->layer), "ProposalLayer") == 0;
	return known ? "Proposal" : caffe_text(l->type);
}

/* ---- attributes */

/* The value of a member as an attribute; false: a kind that is none. */
static bool as_attr(const WireField *f, const void *member, NodeAttr *out)
{
	*out = (NodeAttr){ .name = f->name };
	if (f->kind == WIRE_INT) {
		out->kind = f->many ? NODE_INTS : NODE_INT;
		memcpy(&out->i, member, f->many ? sizeof out->ints : sizeof out->i);
	} else if (f->kind == WIRE_FLOAT) {
		out->kind = f->many ? NODE_FLOATS : NODE_FLOAT;
		if (f->many)
			memcpy(&out->floats, member, sizeof out->floats);
		else
			out->f = import_number(F32, member);
	} else if (f->kind == WIRE_TEXT && !f->many) {
		const char *text;
		memcpy(&text, member, sizeof text);
		out->kind = NODE_TEXT;
		out->text = (Bytes){ (const unsigned char *)text, strlen(text) };
	} else if (f->message == &CaffeShape_message && !f->many) {
		const CaffeShape *s;
		memcpy(&s, member, sizeof s);
		out->kind = NODE_INTS;
		memcpy(&out->ints, &s->dim, sizeof out->ints);
	} else {
		return false;
	}
	return true;
}

static const NodeAttr *attrs_of(Arena *a, const CaffeLayer *l, size_t *n)
{
	VEC(NodeAttr) list = { 0 };
	for (int k = 0; k < CaffeLayer_rows; k++) {
		const WireField *f = &CaffeLayer_message.field[k];
		const void *message = NULL;
		uint64_t has;
		if (f->kind != WIRE_MSG || f->many)
			continue;
		memcpy(&message, (const char *)l + f->offset, sizeof message);
		if (message == NULL)
			continue;
		memcpy(&has, message, sizeof has);
		for (int i = 0; i < f->message->nfield; i++) {
			const WireField *m = &f->message->field[i];
			NodeAttr attr;
			if ((has >> i & 1) && as_attr(m, (const char *)message + m->offset, &attr))
				vec_push(a, &list, attr);
		}
	}
	*n = list.n;
	return list.at;
}

/* ---- blobs and the values that they are */

typedef struct Blob {
	const char *name;
	int writers, written; /* layers that write it, and those so far; an input counts as one */
	const char *value;    /* now */
	bool read, input;     /* the value is read; it is an input */
} Blob;

typedef struct Walk {
	Arena *arena;
	Names *names; /* blob -> its number */
	Names *taken; /* names of values */
	VEC(Blob) blob;
	VEC(NodeValue) in;
	VEC(NodeValue) out;
	VEC(NodeDef) node;
	int left_out;
	Err *err;
} Walk;

static Blob *blob_of(Walk *w, const char *name)
{
	int k = names_find(w->names, name);
	if (k < 0) {
		k = (int)w->blob.n;
		vec_push(w->arena, &w->blob, ((Blob){ .name = name }));
		names_bind(w->names, name, k);
	}
	return &w->blob.at[k];
}

static bool is_in_place(const CaffeLayer *l, size_t k)
{
	return k < l->bottom.n && strcmp(l->bottom.at[k], l->top.at[k]) == 0;
}

/* The name of the value that a layer writes as its top k. */
static const char *write_blob(Walk *w, const CaffeLayer *l, size_t k)
{
	Blob *b = blob_of(w, l->top.at[k]);
	if (b->written > 0 && !is_in_place(l, k)) {
		fail(w->err, ERR_INPUT, NULL, "layer '%.100s' writes the blob '%.100s', which another one has written",
			caffe_text(l->name), b->name);
		return NULL;
	}
	b->written++;
	const char *value = b->name;
	if (b->input || b->written < b->writers)
		value = arena_printf(w->arena, "%s/%s", b->name, caffe_text(l->name));
	b->value = value = names_give(w->taken, value);
	b->read = b->input = false;
	return value;
}

static bool add_input(Walk *w, const char *name, const CaffeShape *s)
{
	Blob *b = blob_of(w, name);
	if (b->written > 0)
		return fail(w->err, ERR_INPUT, NULL, "two inputs have the name '%.100s'", name);
	NodeValue v = { .name = name, .type = F32, .shaped = s != NULL && s->dim.n > 0 };
	NodeDim *dim = arena_array(w->arena, NodeDim, (s != NULL ? s->dim.n : 0) + 1);
	for (size_t k = 0; v.shaped && k < s->dim.n; k++)
		dim[k] = (NodeDim){ .size = s->dim.at[k], .symbol = "" };
	v.dim = dim;
	v.ndim = v.shaped ? s->dim.n : 0;
	vec_push(w->arena, &w->in, v);
	names_bind(w->taken, name, 0);
	b->written++;
	b->value = name;
	b->input = true;
	return true;
}

static const CaffeShape *shape_from(Arena *a, const int64_t *dim, size_t n)
{
	CaffeShape *s = arena_new_of(a, CaffeShape);
	for (size_t k = 0; k < n; k++)
		vec_push(a, &s->dim, dim[k]);
	return s;
}

/* The shape of a data layer's top k, where the file says it; NULL: it does not. */
static const CaffeShape *data_shape(Arena *a, const CaffeLayer *l, size_t k)
{
	if (l->input_param != NULL && l->input_param->shape.n > 0)
		return l->input_param->shape.n == 1  ? &l->input_param->shape.at[0]
		       : k < l->input_param->shape.n ? &l->input_param->shape.at[k]
		                                     : NULL;
	const CaffeDummyData *d = l->dummy_data_param;
	if (d != NULL && d->shape.n > 0)
		return &d->shape.at[k < d->shape.n ? k : 0];
	if (d != NULL && d->num.n > 0 && d->channels.n == d->num.n && d->height.n == d->num.n && d->width.n == d->num.n) {
		size_t i = k < d->num.n ? k : 0;
		return shape_from(a, (int64_t[]){ d->num.at[i], d->channels.at[i], d->height.at[i], d->width.at[i] }, 4);
	}
	const CaffeMemoryData *m = l->memory_data_param;
	if (m != NULL && k == 0)
		return shape_from(a, (int64_t[]){ m->batch_size, m->channels, m->height, m->width }, 4);
	return NULL;
}

/* Inputs that the network itself lists; their dimensions are shapes, or four numbers each. */
static bool list_inputs(Walk *w, const CaffeNet *net)
{
	size_t n = net->input.n;
	if (net->input_shape.n > 0 && net->input_shape.n != n)
		return fail(w->err, ERR_INPUT, NULL, "it has %zu inputs, but %zu fields input_shape", n, net->input_shape.n);
	if (net->input_dim.n > 0 && net->input_dim.n != 4 * n)
		return fail(
			w->err, ERR_INPUT, NULL, "it has %zu inputs, but %zu fields input_dim, not four each", n, net->input_dim.n);
	for (size_t k = 0; k < n; k++) {
		const CaffeShape *s = net->input_shape.n > 0 ? &net->input_shape.at[k] : NULL;
		if (s == NULL && net->input_dim.n > 0)
			s = shape_from(w->arena, &net->input_dim.at[4 * k], 4);
		if (!add_input(w, net->input.at[k], s))
			return false;
	}
	return true;
}

/* Tops of a data layer that layers read are inputs: labels are not, where only losses read them. */
static bool add_data(Walk *w, const CaffeLayer *l, const Names *read)
{
	for (size_t k = 0; k < l->top.n; k++)
		if (names_taken(read, l->top.at[k]) && !add_input(w, l->top.at[k], data_shape(w->arena, l, k)))
			return false;
	return true;
}

static bool add_layer(Walk *w, const CaffeLayer *l)
{
	Arena *a = w->arena;
	const char **in = arena_array(a, const char *, l->bottom.n + 1), **out = arena_array(a, const char *, l->top.n + 1);
	for (size_t k = 0; k < l->bottom.n; k++) {
		Blob *b = blob_of(w, l->bottom.at[k]);
		in[k] = b->value;
		b->read = true;
		if (b->value == NULL)
			return fail(w->err, ERR_INPUT, NULL,
				"layer '%.100s' reads the blob '%.100s', which no layer before it writes", caffe_text(l->name),
				b->name);
	}
	if (strcmp(caffe_text(l->type), "Silence") == 0)
		return true;
	for (size_t k = 0; k < l->top.n; k++) {
		out[k] = write_blob(w, l, k);
		if (out[k] == NULL)
			return false;
	}
	NodeDef n = { .name = caffe_text(l->name),
		.op = operator_of(l),
		.domain = "",
		.in = in,
		.nin = l->bottom.n,
		.out = out,
		.nout = l->top.n,
		.source = l };
	n.attr = attrs_of(a, l, &n.nattr);
	vec_push(a, &w->node, n);
	return true;
}

static bool add_layers(Walk *w, const CaffeNet *net, const bool *kept, const Names *read)
{
	for (size_t k = 0; k < net->layer.n; k++) {
		const CaffeLayer *l = &net->layer.at[k];
		if (!kept[k])
			continue;
		if (!(caffe_is_data(caffe_text(l->type)) ? add_data(w, l, read) : add_layer(w, l)))
			return false;
	}
	for (size_t k = 0; k < w->blob.n; k++)
		if (w->blob.at[k].value != NULL && !w->blob.at[k].read && !w->blob.at[k].input)
			vec_push(w->arena, &w->out, ((NodeValue){ .name = w->blob.at[k].name, .reads = w->blob.at[k].value }));
	return true;
}

bool caffe_graph(Arena *a, const CaffeNet *net, const ModelArgs *args, NodeGraph *out, Err *err)
{
	static const CaffeState test = { 0 };
	const CaffeState *state = net->state != NULL ? net->state : &test;
	Walk w = { .arena = a, .names = names_new(a), .taken = names_new(a), .err = err };
	Names *read = names_new(a);
	bool *kept = arena_array(a, bool, net->layer.n + 1);
	for (size_t k = 0; k < net->layer.n; k++) {
		const CaffeLayer *l = &net->layer.at[k];
		bool run = runs(l, state), trains = is_training(caffe_text(l->type));
		kept[k] = run && !trains;
		w.left_out += run && trains;
		for (size_t i = 0; kept[k] && i < l->bottom.n; i++)
			names_bind(read, l->bottom.at[i], 0);
		for (size_t i = 0; kept[k] && i < l->top.n; i++)
			blob_of(&w, l->top.at[i])->writers++;
	}
	if (!list_inputs(&w, net) || !add_layers(&w, net, kept, read))
		return false;
	if (w.left_out > 0 && args->note != NULL)
		args->note(
			arena_printf(a, "%d layer%s that measure%s the training %s left out: results are what they read",
				w.left_out, w.left_out == 1 ? "" : "s", w.left_out == 1 ? "s" : "", w.left_out == 1 ? "is" : "are"),
			args->note_arg);
	*out = (NodeGraph){ .name = net->name != NULL && net->name[0] != 0 ? net->name : "caffe",
		.node = w.node.at,
		.nnode = w.node.n,
		.in = w.in.at,
		.nin = w.in.n,
		.out = w.out.at,
		.nout = w.out.n };
	return true;
}
