/*
 * Reads a model's subgraphs: tensors, whose data stays in the file where it can, operators with their options as
 * attributes, inputs and results. Numbers of fields are those of schema.fbs. The subgraph of a signature is read, the
 * first one without it, then those that operators of control flow run.
 */
#include "frontend/tflite/model.h"

#include "frontend/tflite/flex.h"

#include "op/names.h"

#include <stdint.h>
#include <string.h>

/* ---- types */

/* TensorType: dlc's type, and TensorFlow's number of it, which rows of TensorFlow read. */
static const struct {
	const char *name;
	DType type;
	int tf;
} types[] = {
	{ "FLOAT32", { DT_FLOAT, 32, 1 }, 1 },
	{ "FLOAT16", { DT_FLOAT, 16, 1 }, 19 },
	{ "INT32", { DT_INT, 32, 1 }, 3 },
	{ "UINT8", { DT_UINT, 8, 1 }, 4 },
	{ "INT64", { DT_INT, 64, 1 }, 9 },
	{ "STRING", { 0 }, 7 },
	{ "BOOL", { DT_BOOL, 8, 1 }, 10 },
	{ "INT16", { DT_INT, 16, 1 }, 5 },
	{ "COMPLEX64", { 0 }, 8 },
	{ "INT8", { DT_INT, 8, 1 }, 6 },
	{ "FLOAT64", { DT_FLOAT, 64, 1 }, 2 },
	{ "COMPLEX128", { 0 }, 18 },
	{ "UINT64", { DT_UINT, 64, 1 }, 23 },
	{ "RESOURCE", { 0 }, 20 },
	{ "VARIANT", { 0 }, 21 },
	{ "UINT32", { DT_UINT, 32, 1 }, 22 },
	{ "UINT16", { DT_UINT, 16, 1 }, 17 },
	{ "INT4", { DT_INT, 8, 1 }, 29 },
	{ "BFLOAT16", { DT_BFLOAT, 16, 1 }, 14 },
};
enum { TYPES = sizeof types / sizeof *types, INT4 = 17 };

const char *tflite_type_name(int64_t code)
{
	return code >= 0 && code < TYPES ? types[code].name : "of an unknown type";
}

/* ---- operators */

typedef enum { AS_INT, AS_DILATION, AS_FLOAT, AS_RESULT, AS_INTS, AS_FLOATS, AS_MODE, AS_GRAPH } As;

typedef struct Option {
	const char *name;
	int field;
	FlatKind kind;
	As as;
} Option;

typedef struct Builtin {
	const char *name;
	int code;
	TfliteQuantised quantised;
	Option option[9]; /* ends with name NULL */
} Builtin;

#define BYTE(k, name) { name, k, FLAT_I8, AS_INT },
#define INT(k, name) { name, k, FLAT_I32, AS_INT },
#define FLAG(k, name) { name, k, FLAT_BOOL, AS_INT },
#define FLOAT(k, name) { name, k, FLAT_F32, AS_FLOAT },
#define DILATION(k, name) { name, k, FLAT_I32, AS_DILATION },
#define INTS(k, name) { name, k, FLAT_I32, AS_INTS },
#define FLOATS(k, name) { name, k, FLAT_F32, AS_FLOATS },
#define MODE(k, name) { name, k, FLAT_I8, AS_MODE },
#define GRAPH(k, name) { name, k, FLAT_I32, AS_GRAPH },
#define RESULT(name) { name, 0, FLAT_I8, AS_RESULT },
#define OPERATOR(name, code, how, options) { #name, code, TFLITE_##how, { options{ 0 } } },
static const Builtin builtins[] = {
#include "frontend/tflite/operators.def"
};

static const Builtin *builtin_of(int64_t code)
{
	for (size_t k = 0; k < sizeof builtins / sizeof *builtins; k++)
		if (builtins[k].code == code)
			return &builtins[k];
	return NULL;
}

typedef struct Reader {
	Arena *arena;
	Flat flat;
	TfliteFile *file;
	TfliteModel *model; /* the subgraph that is read */
	VEC(int) wanted;    /* subgraphs that operators run */
	FlatVector codes;
	Bytes *buffer;          /* which tensors may share */
	size_t nbuffer, copies; /* the second: bytes that copies may still take */
	Names *names;
	Err *err;
} Reader;

static bool ok(const Reader *r)
{
	return r->err->code == ERR_NONE;
}

/* A vector of integers; false: there is none. */
static bool read_ints(Reader *r, const FlatTable *options, int field, NodeAttr *at)
{
	FlatVector v = flat_vector(&r->flat, options, field, 4);
	at->kind = NODE_INTS;
	at->ints = (WireInts){ 0 };
	for (size_t k = 0; k < v.n; k++)
		vec_push(r->arena, &at->ints, flat_get_int(&v, k));
	return v.n > 0;
}

static void read_floats(Reader *r, const FlatTable *options, int field, NodeAttr *at)
{
	FlatVector v = flat_vector(&r->flat, options, field, 4);
	at->kind = NODE_FLOATS;
	at->floats = (WireFloats){ 0 };
	for (size_t k = 0; k < v.n; k++)
		vec_push(r->arena, &at->floats, flat_get_float(&v, k));
}

/* The graph of a subgraph, which is read later on. */
static void want_graph(Reader *r, int64_t which, NodeAttr *at)
{
	if (which < 0 || (size_t)which >= r->file->n) {
		fail(r->err, ERR_INPUT, NULL, "an operator runs subgraph %lld, but there are %zu", (long long)which,
			r->file->n);
		return;
	}
	at->kind = NODE_GRAPH;
	at->graph = &r->file->graph[which];
	if (!r->file->model[which].read)
		vec_push(r->arena, &r->wanted, (int)which);
	r->file->model[which].read = true;
}

static void read_options(Reader *r, const Builtin *b, const FlatTable *options, TfliteOperator *op)
{
	static const char *const modes[] = { "REFLECT", "SYMMETRIC" };
	const TfliteTensor *result = op->nout > 0 ? &r->model->tensor[op->out[0]] : NULL;
	NodeAttr *attr = arena_array(r->arena, NodeAttr, 9);
	for (const Option *o = b->option; o->name != NULL; o++) {
		NodeAttr *at = &attr[op->nattr];
		*at = (NodeAttr){ .name = o->name, .kind = NODE_INT };
		if (o->as == AS_FLOAT) {
			float number = (float)flat_float(&r->flat, options, o->field, 0);
			at->kind = NODE_FLOAT;
			at->f = import_number(F32, &number);
		} else if (o->as == AS_INTS) {
			if (!read_ints(r, options, o->field, at))
				continue;
		} else if (o->as == AS_FLOATS) {
			read_floats(r, options, o->field, at);
		} else if (o->as == AS_RESULT) {
			at->i = result != NULL && result->typed ? types[result->code].tf : -1;
		} else {
			at->i = flat_int(&r->flat, options, o->field, o->kind, o->as == AS_DILATION);
			if (o->as == AS_MODE) {
				const char *word = at->i == 0 || at->i == 1 ? modes[at->i] : "";
				at->kind = NODE_TEXT;
				at->text = (Bytes){ (const unsigned char *)word, strlen(word) };
			} else if (o->as == AS_GRAPH) {
				want_graph(r, at->i, at);
			}
		}
		op->nattr++;
	}
	op->attr = attr;
}

/* Numbers of tensors; -1 is an absent one. */
static const int *read_numbers(Reader *r, const FlatTable *t, int field, int least, int *n)
{
	FlatVector v = flat_vector(&r->flat, t, field, 4);
	int *out = arena_array(r->arena, int, v.n + 1);
	for (size_t k = 0; k < v.n && ok(r); k++) {
		int64_t at = flat_get_int(&v, k);
		if (at < least || at >= r->model->ntensor)
			fail(r->err, ERR_INPUT, NULL, "it names tensor %lld, but has %d", (long long)at, r->model->ntensor);
		out[k] = (int)at;
	}
	*n = (int)v.n;
	return out;
}

/* From this operator on options are in a second field of the table. */
enum { STABLEHLO = 162 };

/* The number of an operator was a byte before it became an integer; the larger of both counts. */
static bool read_operator(Reader *r, const FlatTable *t, TfliteOperator *op)
{
	Flat *f = &r->flat;
	int64_t which = flat_int(f, t, 0, FLAT_U32, 0);
	FlatTable code = flat_element(f, &r->codes, which < 0 ? SIZE_MAX : (size_t)which);
	if (ok(r) && code.at == 0)
		return fail(r->err, ERR_INPUT, NULL, "an operator has the code %lld, but there are %zu codes", (long long)which,
			r->codes.n);
	int64_t old = flat_int(f, &code, 0, FLAT_I8, 0), new = flat_int(f, &code, 3, FLAT_I32, 0);
	const Builtin *b = builtin_of(new > old ? new : old);
	FlatTable options = flat_table(f, t, (new > old ? new : old) < STABLEHLO ? 4 : 12);
	op->quantised = TFLITE_FLOATS;
	op->name = b != NULL ? b->name : arena_printf(r->arena, "operator %lld", (long long)(new > old ? new : old));
	if (b != NULL && strcmp(b->name, "CUSTOM") == 0) {
		FlatVector own = flat_vector(f, t, 5, 1);
		op->name = flat_text(r->arena, f, &code, 1);
		op->attr = flex_attrs(r->arena, (Bytes){ own.at, own.n }, &op->nattr);
	}
	op->in = read_numbers(r, t, 1, -1, &op->nin);
	op->out = read_numbers(r, t, 2, 0, &op->nout);
	if (b != NULL && ok(r)) {
		op->quantised = b->quantised;
		if (strcmp(b->name, "CUSTOM") != 0)
			read_options(r, b, &options, op);
	}
	return ok(r);
}

/* ---- tensors */

static bool read_shape(Reader *r, const FlatTable *t, TfliteTensor *out)
{
	FlatVector v = flat_vector(&r->flat, t, 0, 4), open = flat_vector(&r->flat, t, 7, 4);
	if (!ok(r))
		return false;
	if (v.n > DAG_MAX_RANK)
		return fail(r->err, ERR_UNSUPPORTED, NULL, "tensor '%.100s' has %zu dimensions; dlc takes at most %d",
			out->name, v.n, DAG_MAX_RANK);
	NodeDim *dim = arena_array(r->arena, NodeDim, v.n + 1);
	out->shape.rank = (int)v.n;
	for (size_t k = 0; k < v.n; k++) {
		int64_t size = flat_get_int(&v, k);
		bool any = open.n == v.n && flat_get_int(&open, k) < 0;
		if (size < 0)
			return fail(r->err, ERR_INPUT, NULL, "tensor '%.100s' has a dimension of %lld", out->name, (long long)size);
		out->shape.dim[k] = size;
		dim[k] = (NodeDim){ .size = size, .open = any, .symbol = "" };
	}
	out->dim = dim;
	return true;
}

static bool read_codes(Reader *r, const FlatTable *t, TfliteTensor *out)
{
	FlatTable q = flat_table(&r->flat, t, 4);
	FlatVector scale = flat_vector(&r->flat, &q, 2, 4), zero = flat_vector(&r->flat, &q, 3, 8);
	int64_t axis = flat_int(&r->flat, &q, 6, FLAT_I32, 0);
	if (!ok(r) || scale.n == 0)
		return ok(r);
	const Shape *s = &out->shape;
	if (!dtype_is_int(out->type) ||
		(scale.n > 1 && (axis < 0 || axis >= s->rank || s->dim[axis] != (int64_t)scale.n)) ||
		(zero.n != 0 && zero.n != 1 && zero.n != scale.n))
		return fail(r->err, ERR_INPUT, NULL, "the %zu scales and %zu zero points of tensor '%.100s' do not fit it",
			scale.n, zero.n, out->name);
	float *scales = arena_array(r->arena, float, scale.n);
	int64_t *zeros = arena_array(r->arena, int64_t, scale.n);
	for (size_t k = 0; k < scale.n; k++) {
		scales[k] = flat_get_float(&scale, k);
		zeros[k] = zero.n == 0 ? 0 : flat_get_int(&zero, zero.n == 1 ? 0 : k);
		if (!(scales[k] >= 0 && scales[k] < 3e38f) || zeros[k] < INT32_MIN || zeros[k] > INT32_MAX)
			return fail(r->err, ERR_INPUT, NULL, "tensor '%.100s' has the scale %g and the zero point %lld", out->name,
				(double)scales[k], (long long)zeros[k]);
	}
	out->codes = (TfliteCodes){ scale.n, scales, zeros, (int)axis };
	return true;
}

/* The bytes of buffer k, which may lie behind the tables in a large file. */
static bool read_buffer(Reader *r, const FlatVector *buffers, size_t k, Bytes *out)
{
	Flat *f = &r->flat;
	FlatTable b = flat_element(f, buffers, k);
	uint64_t offset = (uint64_t)flat_int(f, &b, 1, FLAT_I64, 0), size = (uint64_t)flat_int(f, &b, 2, FLAT_I64, 0);
	if (offset > 1) {
		if (offset > f->file.n || size > f->file.n - offset)
			return fail(r->err, ERR_INPUT, NULL, "the data of buffer %zu lie outside of the file", k);
		*out = (Bytes){ f->file.at + offset, size };
		return true;
	}
	FlatVector v = flat_vector(f, &b, 0, 1);
	*out = (Bytes){ v.at, v.n };
	return ok(r);
}

/* n bytes as they are in memory: INT4 has two numbers in each byte of the file, the first one in its low half. */
static bool copy_data(Reader *r, Bytes b, size_t n, TfliteTensor *out)
{
	if (n > r->copies)
		return fail(r->err, ERR_INPUT, NULL,
			"tensor '%.100s' shares data with others that need a copy each, which are more than the file: give each "
			"tensor its own",
			out->name);
	r->copies -= n;
	unsigned char *to = arena_alloc_aligned(r->arena, n, 64);
	for (size_t k = 0; k < n; k++) {
		int half = out->code == INT4 ? b.at[k / 2] >> (k % 2 * 4) & 15 : 0;
		to[k] = out->code == INT4           ? (unsigned char)(half >= 8 ? half - 16 : half)
		        : out->type.kind == DT_BOOL ? b.at[k] != 0
		                                    : b.at[k];
	}
	out->data = to;
	return true;
}

/* Without data the tensor is computed. */
static bool read_data(Reader *r, int64_t buffer, TfliteTensor *out)
{
	Bytes b = { 0 };
	int64_t n = shape_elements(out->shape), bytes = out->typed && n >= 0 ? dtype_bytes(out->type, n) : -1;
	if (buffer >= 0 && (size_t)buffer < r->nbuffer)
		b = r->buffer[buffer];
	if (b.n == 0)
		return true;
	if (!out->typed) {
		out->data = b.at;
		out->refused =
			arena_printf(r->arena, "has elements of %s, which dlc does not have", tflite_type_name(out->code));
		return true;
	}
	bytes = out->code == INT4 && n >= 0 ? n / 2 + n % 2 : bytes;
	if (out->refused != NULL) {
		out->data = b.at;
		return true;
	}
	if (bytes < 0 || (size_t)bytes != b.n)
		return fail(r->err, ERR_INPUT, NULL, "tensor '%.100s' has %zu bytes of data where its shape needs %lld",
			out->name, b.n, (long long)bytes);
	out->data = b.at;
	if (out->code == INT4 || out->type.kind == DT_BOOL || (uintptr_t)b.at % (out->type.bits / 8) != 0)
		return copy_data(r, b, out->code == INT4 ? (size_t)n : b.n, out);
	return true;
}

static bool read_tensor(Reader *r, const FlatTable *t, int k, TfliteTensor *out)
{
	Flat *f = &r->flat;
	const char *name = flat_text(r->arena, f, t, 3);
	out->name = names_give(r->names, name[0] != 0 ? name : arena_printf(r->arena, "tensor%d", k));
	out->code = flat_int(f, t, 1, FLAT_I8, 0);
	out->typed = out->code >= 0 && out->code < TYPES && types[out->code].type.bits > 0;
	out->type = out->typed ? types[out->code].type : F32;
	out->variable = flat_int(f, t, 5, FLAT_BOOL, 0) != 0;
	if (flat_has(f, t, 6))
		out->refused = "is sparse, which is not supported";
	return read_shape(r, t, out) && read_codes(r, t, out) && read_data(r, flat_int(f, t, 2, FLAT_U32, 0), out);
}

/* ---- all of it */

static bool read_subgraph(Reader *r, const FlatTable *g, TfliteModel *out)
{
	Flat *f = &r->flat;
	FlatVector tensors = flat_vector(f, g, 0, 4), ops = flat_vector(f, g, 3, 4);
	r->model = out;
	out->name = flat_text(r->arena, f, g, 4);
	out->tensor = arena_array(r->arena, TfliteTensor, tensors.n + 1);
	for (size_t k = 0; k < tensors.n && ok(r); k++) {
		FlatTable t = flat_element(f, &tensors, k);
		read_tensor(r, &t, (int)k, &out->tensor[k]);
	}
	out->ntensor = (int)tensors.n;
	out->op = arena_array(r->arena, TfliteOperator, ops.n + 1);
	for (size_t k = 0; k < ops.n && ok(r); k++) {
		FlatTable t = flat_element(f, &ops, k);
		read_operator(r, &t, &out->op[k]);
	}
	out->nop = ops.n;
	out->in = read_numbers(r, g, 1, 0, &out->nin);
	out->out = read_numbers(r, g, 2, 0, &out->nout);
	return ok(r);
}

/* The subgraph of a signature. */
static bool find_signature(Reader *r, const FlatTable *root, const char *wanted)
{
	Flat *f = &r->flat;
	FlatVector all = flat_vector(f, root, 7, 4);
	Text names = { .arena = r->arena };
	for (size_t k = 0; k < all.n && ok(r); k++) {
		FlatTable s = flat_element(f, &all, k);
		const char *key = flat_text(r->arena, f, &s, 2);
		text_add(&names, "%s%.60s", k > 0 ? ", " : "", key);
		if (strcmp(key, wanted) != 0)
			continue;
		int64_t at = flat_int(f, &s, 4, FLAT_U32, 0);
		if (ok(r) && (at < 0 || (size_t)at >= r->file->n))
			fail(r->err, ERR_INPUT, NULL, "its signature '%.100s' is of subgraph %lld, but there are %zu", key,
				(long long)at, r->file->n);
		r->file->network = ok(r) ? (size_t)at : 0;
		return ok(r);
	}
	if (ok(r) && all.n == 0)
		fail(r->err, ERR_USAGE, "signature", "the model has no signatures");
	else if (ok(r))
		fail(r->err, ERR_USAGE, "signature", "the model has no signature '%.100s'; it has: %s", wanted,
			text_str(&names));
	return false;
}

bool tflite_read(Arena *a, Bytes file, const char *signature, TfliteFile *out, Err *err)
{
	Reader r = {
		.arena = a, .flat = { file, file.n, err }, .file = out, .names = names_new(a), .err = err, .copies = 2 * file.n
	};
	Flat *f = &r.flat;
	FlatTable root = flat_root(f);
	int64_t version = flat_int(f, &root, 0, FLAT_U32, 0);
	if (ok(&r) && version != 3)
		return fail(
			err, ERR_UNSUPPORTED, NULL, "its schema has version %lld, but dlc reads version 3", (long long)version);
	r.codes = flat_vector(f, &root, 1, 4);
	FlatVector buffers = flat_vector(f, &root, 4, 4);
	r.buffer = arena_array(a, Bytes, buffers.n + 1);
	for (size_t k = 0; k < buffers.n && ok(&r); k++)
		read_buffer(&r, &buffers, k, &r.buffer[k]);
	r.nbuffer = buffers.n;
	FlatVector graphs = flat_vector(f, &root, 2, 4);
	if (!ok(&r))
		return false;
	if (graphs.n == 0)
		return fail(err, ERR_INPUT, NULL, "it has no subgraph");
	out->n = graphs.n;
	out->model = arena_array(a, TfliteModel, graphs.n);
	out->graph = arena_array(a, NodeGraph, graphs.n);
	if (signature != NULL && !find_signature(&r, &root, signature))
		return false;
	out->model[out->network].read = true;
	vec_push(a, &r.wanted, (int)out->network);
	for (size_t k = 0; k < r.wanted.n && ok(&r); k++) {
		FlatTable g = flat_element(f, &graphs, (size_t)r.wanted.at[k]);
		read_subgraph(&r, &g, &out->model[r.wanted.at[k]]);
	}
	return ok(&r);
}
