/*
 * The operators of init_net and predict_net as nodes. Operators run in order and may write a blob that was there
 * before: each writing makes a new value here, and the last one keeps the blob's name. Inputs are the external inputs
 * that init_net does not fill, or fills with one zero, as Caffe2's exporter for phones does to make them known.
 */
#include "frontend/caffe2/caffe2.h"

#include <string.h>

/* ---- arguments as attributes */

static NodeAttr attr_from(const Caffe2Argument *g)
{
	NodeAttr at = { .name = caffe2_text(g->name) };
	if (g->has >> Caffe2Argument_ints & 1) {
		at.kind = NODE_INTS;
		memcpy(&at.ints, &g->ints, sizeof at.ints);
	} else if (g->has >> Caffe2Argument_floats & 1) {
		at.kind = NODE_FLOATS;
		memcpy(&at.floats, &g->floats, sizeof at.floats);
	} else if (g->has >> Caffe2Argument_strings & 1) {
		at.kind = NODE_TEXTS;
		memcpy(&at.texts, &g->strings, sizeof at.texts);
	} else if (g->has >> Caffe2Argument_s & 1) {
		at.kind = NODE_TEXT;
		at.text = g->s;
	} else if (g->has >> Caffe2Argument_i & 1) {
		at.kind = NODE_INT;
		at.i = g->i;
	} else if (g->has >> Caffe2Argument_f & 1) {
		at.kind = NODE_FLOAT;
		at.f = import_number(F32, &g->f);
	}
	return at;
}

/* ---- blobs and the values that they are */

typedef struct Blob {
	const char *name;
	int writers, written; /* operators that write it, and those so far; an input counts as one */
	const char *value;    /* now; NULL: none */
	bool read;            /* the value is read */
	bool input;
	bool computed;              /* predict_net writes it */
	bool places;                /* predict_net reads it as places */
	const Caffe2Operator *fill; /* of init_net, the first one that writes it; NULL: none does */
} Blob;

typedef struct Walk {
	Arena *arena;
	Names *names;  /* blob -> its number */
	Names *taken;  /* names of values */
	Names *wanted; /* blobs that operators read, or results */
	VEC(Blob) blob;
	VEC(NodeValue) in;
	VEC(NodeValue) out;
	VEC(NodeDef) node;
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

static const char *label(const Caffe2Operator *op)
{
	const char *name = caffe2_text(op->name);
	return name[0] == 0 && op->output.n > 0 ? op->output.at[0] : name;
}

static const char *write_blob(Walk *w, const char *name)
{
	Blob *b = blob_of(w, name);
	const char *value = name;
	b->written++;
	if (b->input || b->written < b->writers)
		value = arena_printf(w->arena, "%s/%d", name, b->written);
	b->value = value = names_give(w->taken, value);
	b->read = b->input = false;
	return value;
}

static bool add_operator(Walk *w, const Caffe2Operator *op)
{
	Arena *a = w->arena;
	const char **in = arena_array(a, const char *, op->input.n + 1);
	const char **out = arena_array(a, const char *, op->output.n + 1);
	NodeAttr *attr = arena_array(a, NodeAttr, op->arg.n + 1);
	if (op->type == NULL)
		return fail(w->err, ERR_INPUT, NULL, "operator '%.100s' has no type", label(op));
	for (size_t k = 0; k < op->input.n; k++) {
		Blob *b = blob_of(w, op->input.at[k]);
		in[k] = b->value;
		b->read = true;
		if (in[k] == NULL)
			return fail(w->err, ERR_INPUT, NULL,
				"operator '%.100s' (%.60s) reads the blob '%.100s', which is no external_input and which no operator "
				"before it writes",
				label(op), op->type, b->name);
	}
	for (size_t k = 0; k < op->output.n; k++) {
		if (op->output.at[k][0] == 0)
			return fail(
				w->err, ERR_INPUT, NULL, "operator '%.100s' (%.60s) has a result without a name", label(op), op->type);
		out[k] = write_blob(w, op->output.at[k]);
	}
	for (size_t k = 0; k < op->arg.n; k++)
		attr[k] = attr_from(&op->arg.at[k]);
	vec_push(a, &w->node,
		((NodeDef){ .name = caffe2_text(op->name),
			.op = op->type,
			.domain = "",
			.in = in,
			.nin = op->input.n,
			.out = out,
			.nout = op->output.n,
			.attr = attr,
			.nattr = op->arg.n }));
	return true;
}

/* ---- inputs */

/* One zero: what the exporter fills an input with. */
static bool is_placeholder(const Caffe2Operator *op)
{
	bool shape = false, zero = false;
	if (strcmp(caffe2_text(op->type), "GivenTensorFill") != 0)
		return false;
	for (size_t k = 0; k < op->arg.n; k++) {
		const Caffe2Argument *g = &op->arg.at[k];
		shape |=
			strcmp(caffe2_text(g->name), "shape") == 0 && g->ints.n == 2 && g->ints.at[0] == 1 && g->ints.at[1] == 1;
		zero |= strcmp(caffe2_text(g->name), "values") == 0 && g->floats.n == 1 && g->floats.at[0] == 0;
	}
	return shape && zero;
}

static bool is_given(const ModelArgs *args, const char *name)
{
	bool given = false;
	for (int k = 0; k < args->nshape; k++)
		given |= strcmp(args->shape[k].name, name) == 0;
	for (int k = 0; k < args->nbind; k++)
		given |= strcmp(args->bind[k].name, name) == 0;
	return given;
}

/* The type and shape that value_info.json has for an input. */
static bool read_info(Walk *w, const Json *info, NodeValue *v)
{
	const Json *row = info != NULL ? json_find(info, v->name) : NULL;
	if (row == NULL)
		return true;
	bool ok = row->kind == JV_ARRAY && row->list.n == 2 && row->list.at[0]->kind == JV_INT &&
	          row->list.at[1]->kind == JV_ARRAY;
	for (size_t k = 0; ok && k < row->list.at[1]->list.n; k++)
		ok = row->list.at[1]->list.at[k]->kind == JV_INT && row->list.at[1]->list.at[k]->i >= 0;
	if (!ok)
		return json_fail(row, w->err, "must be a type and a list of sizes, as in [1, [1, 3, 224, 224]]");
	if (!caffe2_type(row->list.at[0]->i, &v->type))
		return json_fail(row, w->err, "has the type %lld, which dlc does not have", (long long)row->list.at[0]->i);
	const Json *dims = row->list.at[1];
	NodeDim *dim = arena_array(w->arena, NodeDim, dims->list.n + 1);
	for (size_t k = 0; k < dims->list.n; k++)
		dim[k] = (NodeDim){ .size = dims->list.at[k]->i, .symbol = "" };
	v->shaped = true;
	v->dim = dim;
	v->ndim = dims->list.n;
	return true;
}

static bool add_inputs(Walk *w, const Caffe2Model *m, const ModelArgs *args)
{
	bool data = true; /* no weight came before */
	for (size_t k = 0; k < m->predict->external_input.n; k++) {
		const char *name = m->predict->external_input.at[k];
		Blob *b = blob_of(w, name);
		bool input = b->fill == NULL || is_given(args, name) || (data && is_placeholder(b->fill));
		data &= input;
		if (!input || !names_taken(w->wanted, name) || names_taken(w->taken, name))
			continue;
		NodeValue v = { .name = name, .type = b->places ? I64 : F32 };
		if (!read_info(w, m->info, &v))
			return false;
		vec_push(w->arena, &w->in, v);
		names_bind(w->taken, name, 0);
		b->writers++;
		b->written++;
		b->value = name;
		b->input = true;
	}
	return true;
}

/* ---- all of it */

bool caffe2_only_fills(const Caffe2Net *net)
{
	Arena *a = arena_new();
	Names *made = names_new(a);
	bool only = net->op.n > 0;
	for (size_t k = 0; k < net->op.n && only; k++) {
		for (size_t i = 0; i < net->op.at[k].input.n; i++)
			only &= names_taken(made, net->op.at[k].input.at[i]);
		for (size_t i = 0; i < net->op.at[k].output.n; i++)
			names_bind(made, net->op.at[k].output.at[i], 0);
	}
	arena_free(a);
	return only;
}

static void count_blobs(Walk *w, const Caffe2Net *net)
{
	for (size_t k = 0; k < net->op.n; k++) {
		const Caffe2Operator *op = &net->op.at[k];
		for (size_t i = 0; i < op->input.n; i++)
			names_bind(w->wanted, op->input.at[i], 0);
		for (size_t i = 0; i < op->output.n; i++)
			blob_of(w, op->output.at[i])->writers++;
	}
}

static void note_fills(Walk *w, const Caffe2Net *init)
{
	for (size_t k = 0; k < init->op.n; k++)
		for (size_t i = 0; i < init->op.at[k].output.n; i++) {
			Blob *b = blob_of(w, init->op.at[k].output.at[i]);
			b->fill = b->fill == NULL ? &init->op.at[k] : b->fill;
		}
}

/* What predict_net computes, and what it reads as places in another input. */
static void note_uses(Walk *w, const Caffe2Net *predict)
{
	static const struct {
		const char *type;
		size_t input;
	} rows[] = { { "Gather", 1 }, { "BatchGather", 1 }, { "OneHot", 0 } };
	for (size_t k = 0; k < predict->op.n; k++) {
		const Caffe2Operator *op = &predict->op.at[k];
		for (size_t i = 0; i < op->output.n; i++)
			blob_of(w, op->output.at[i])->computed = true;
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
			if (strcmp(caffe2_text(op->type), rows[i].type) == 0 && rows[i].input < op->input.n)
				blob_of(w, op->input.at[rows[i].input])->places = true;
	}
}

/* Weights that no operator reads are left out, and those that are inputs. */
static bool add_init(Walk *w, const Caffe2Net *init)
{
	for (size_t k = 0; k < init->op.n; k++) {
		const Caffe2Operator *op = &init->op.at[k];
		bool wanted = false;
		for (size_t i = 0; i < op->output.n; i++) {
			Blob *b = blob_of(w, op->output.at[i]);
			wanted |= names_taken(w->wanted, op->output.at[i]) && !b->input;
			b->writers -= b->input;
		}
		if (wanted && !add_operator(w, op))
			return false;
	}
	return true;
}

static bool add_outputs(Walk *w, const Caffe2Net *predict)
{
	for (size_t k = 0; k < predict->external_output.n; k++) {
		const char *name = predict->external_output.at[k];
		Blob *b = blob_of(w, name);
		if (b->value == NULL)
			return fail(w->err, ERR_INPUT, NULL, "no operator writes its external_output '%.100s'", name);
		vec_push(w->arena, &w->out, ((NodeValue){ .name = name, .reads = b->value }));
	}
	if (predict->external_output.n > 0)
		return true;
	for (size_t k = 0; k < w->blob.n; k++) {
		const Blob *b = &w->blob.at[k];
		if (b->value != NULL && !b->read && !b->input && b->computed)
			vec_push(w->arena, &w->out, ((NodeValue){ .name = b->name, .reads = b->value }));
	}
	return true;
}

bool caffe2_graph(Arena *a, const Caffe2Model *m, const ModelArgs *args, NodeGraph *out, Err *err)
{
	Walk w = { .arena = a, .names = names_new(a), .taken = names_new(a), .wanted = names_new(a), .err = err };
	const char *name = caffe2_text(m->predict->name);
	count_blobs(&w, m->predict);
	note_uses(&w, m->predict);
	if (m->init != NULL) {
		count_blobs(&w, m->init);
		note_fills(&w, m->init);
	}
	for (size_t k = 0; k < m->predict->external_output.n; k++)
		names_bind(w.wanted, m->predict->external_output.at[k], 0);
	if (!add_inputs(&w, m, args) || (m->init != NULL && !add_init(&w, m->init)))
		return false;
	for (size_t k = 0; k < m->predict->op.n; k++)
		if (!add_operator(&w, &m->predict->op.at[k]))
			return false;
	if (!add_outputs(&w, m->predict))
		return false;
	*out = (NodeGraph){ .name = name[0] != 0 ? name : "caffe2",
		.node = w.node.at,
		.nnode = w.node.n,
		.in = w.in.at,
		.nin = w.in.n,
		.out = w.out.at,
		.nout = w.out.n };
	return true;
}
