/*
 * Turns the inputs of an ONNX graph into tensors of the Dag, into constants that are given, or into
 * initialisers. Symbolic dimensions get their numbers here, from given shapes and a given batch; a symbolic
 * batch becomes 1. Any other open dimension is refused, with the shape to give.
 */
#include "frontend/onnx/import.h"

#include <string.h>

static const int64_t most_bytes = (int64_t)1 << 40; /* of one tensor */

bool onnx_check_size(Import *im, const char *what, const char *name, DType type, Shape s)
{
	char text[160];
	for (int k = 0; k < s.rank; k++)
		if (s.dim[k] < 0)
			return onnx_refuse(im, ERR_INPUT, "%s '%s' has a dimension of %lld", what, name, (long long)s.dim[k]);
	int64_t n = shape_elements(s), bytes = n < 0 ? -1 : dtype_bytes(type, n);
	if (bytes < 0 || bytes > most_bytes)
		return onnx_refuse(
			im, ERR_MEMORY, "%s '%s' of shape %s needs more memory than there is", what, name, shape_str(s, text));
	return true;
}

static const ShapeArg *shape_arg(const Import *im, const char *name)
{
	for (int k = 0; k < im->args->nshape; k++)
		if (strcmp(im->args->shape[k].name, name) == 0)
			return &im->args->shape[k];
	return NULL;
}

static const BindArg *bind_arg(const Import *im, const char *name)
{
	for (int k = 0; k < im->args->nbind; k++)
		if (strcmp(im->args->bind[k].name, name) == 0)
			return &im->args->bind[k];
	return NULL;
}

/* Symbols with numbers: dim_param -> its index in `bound`. */
typedef struct Symbols {
	Names *names;
	VEC(int64_t) bound;
	const OnnxDim *seq; /* the dimension to which --seq gave its number */
} Symbols;

const OnnxShape *onnx_declared_shape(const OnnxValueInfo *v)
{
	return v->type != NULL && v->type->tensor_type != NULL ? v->type->tensor_type->shape : NULL;
}

bool onnx_is_symbolic(const OnnxDim *d)
{
	return d->dim_param != NULL || !(d->has >> OnnxDim_dim_value & 1);
}

static void bind_symbol(Import *im, Symbols *s, const OnnxDim *d, int64_t to)
{
	const char *name = onnx_text(d->dim_param);
	if (name[0] == 0 || names_find(s->names, name) >= 0)
		return;
	vec_push(im->arena, &s->bound, to);
	names_bind(s->names, name, (int)s->bound.n - 1);
}

/* "x=1,3,H,W": the shape to give for an input whose dimensions are symbols. */
static const char *shape_to_give(Import *im, const OnnxValueInfo *v, const OnnxShape *s)
{
	Text t = { .arena = im->arena };
	text_add(&t, "%s=", onnx_text(v->name));
	for (size_t k = 0; k < s->dim.n; k++) {
		const OnnxDim *d = &s->dim.at[k];
		text_put(&t, ",", k > 0);
		if (!onnx_is_symbolic(d))
			text_add(&t, "%lld", (long long)d->dim_value);
		else if (k == 0)
			text_add(&t, "1");
		else
			text_add(&t, "%.20s", onnx_text(d->dim_param)[0] != 0 ? d->dim_param : "N");
	}
	return text_str(&t);
}

static bool resolve_dim(Import *im, const OnnxValueInfo *v, size_t k, Symbols *sym, Dim *out)
{
	const OnnxShape *s = onnx_declared_shape(v);
	const OnnxDim *d = &s->dim.at[k];
	const char *symbol = onnx_text(d->dim_param);
	int bound = names_find(sym->names, symbol);
	*out = d->dim_value;
	if (k == 0 && im->args->batch > 0) {
		*out = im->args->batch;
	} else if (!onnx_is_symbolic(d)) {
		return true;
	} else if (bound >= 0 && (size_t)bound < sym->bound.n) {
		*out = sym->bound.at[bound];
		return true;
	} else if (k == 0) {
		*out = 1;
		onnx_note(im, "the symbolic batch%s of input '%s' is taken as 1",
			symbol[0] != 0 ? arena_printf(im->arena, " '%s'", symbol) : "", onnx_text(v->name));
	} else if (im->args->seq > 0 && sym->seq == NULL) {
		*out = im->args->seq;
		sym->seq = d;
	} else {
		return fail(&im->err, ERR_INPUT, "shape",
			"dimension %zu of input '%s' is not known: give numbers for the names in %s", k + 1, onnx_text(v->name),
			shape_to_give(im, v, s));
	}
	if (onnx_is_symbolic(d))
		bind_symbol(im, sym, d, *out);
	return true;
}

/* The declared dimensions. Symbols get their bound number, a symbolic batch the one that is given, or 1. */
static bool resolve_shape(Import *im, const OnnxValueInfo *v, Symbols *sym, Shape *out)
{
	const char *name = onnx_text(v->name);
	const OnnxShape *s = onnx_declared_shape(v);
	const ShapeArg *given = shape_arg(im, name);
	if (given != NULL && (s == NULL || s->dim.n == (size_t)given->shape.rank)) {
		*out = given->shape;
		return true;
	}
	if (given != NULL)
		return fail(&im->err, ERR_USAGE, "shape", "input '%s' is given %d dimensions where the model has %zu", name,
			given->shape.rank, s->dim.n);
	if (s == NULL)
		return fail(&im->err, ERR_INPUT, "shape",
			"the model does not say the shape of input '%s': give it as in %s=1,3,224,224", name, name);
	if (s->dim.n > DAG_MAX_RANK)
		return onnx_refuse(
			im, ERR_UNSUPPORTED, "input '%s' has %zu dimensions; dlc takes at most %d", name, s->dim.n, DAG_MAX_RANK);
	*out = shape_of(0, NULL);
	out->rank = (int)s->dim.n;
	for (size_t k = 0; k < s->dim.n; k++)
		if (!resolve_dim(im, v, k, sym, &out->dim[k]))
			return false;
	return true;
}

static bool input_type(Import *im, const OnnxValueInfo *v, DType *out)
{
	const char *name = onnx_text(v->name);
	const OnnxType *t = v->type;
	if (t == NULL)
		return onnx_refuse(im, ERR_INPUT, "input '%s' has no type", name);
	const char *other = t->has >> OnnxType_sequence_type & 1        ? "a sequence"
	                    : t->has >> OnnxType_map_type & 1           ? "a map"
	                    : t->has >> OnnxType_optional_type & 1      ? "an optional"
	                    : t->has >> OnnxType_sparse_tensor_type & 1 ? "a sparse tensor"
	                                                                : NULL;
	if (other != NULL)
		return onnx_refuse(im, ERR_UNSUPPORTED, "input '%s' is %s; dlc takes tensors only", name, other);
	*out = DT(UINT, 8);
	if (t->tensor_type != NULL && onnx_type_is_float8(t->tensor_type->elem_type))
		return true;
	if (t->tensor_type == NULL || !onnx_type_from(t->tensor_type->elem_type, out))
		return onnx_refuse(im, ERR_UNSUPPORTED, "input '%s' has element type %s, which dlc does not have", name,
			onnx_type_name(t->tensor_type != NULL ? t->tensor_type->elem_type : 0));
	return true;
}

/* Items of 8-bit floats are of a kind of their own. */
static void note_float8(Item *it, int64_t code)
{
	if (!onnx_type_is_float8(code))
		return;
	it->kind = ITEM_FLOAT8;
	it->code = code;
}

/* A given constant must be what the model declares, symbols aside. */
static bool bind_input(Import *im, const Frame *f, const OnnxValueInfo *v, DType type, const BindArg *b)
{
	char want[DTYPE_TEXT], have[DTYPE_TEXT], text[160];
	const char *name = onnx_text(v->name);
	const OnnxShape *s = onnx_declared_shape(v);
	if (!dtype_eq(type, b->type))
		return fail(&im->err, ERR_TYPE, "bind",
			"the constant for input '%s' has elements of %s where the model has %s", name, dtype_print(b->type, have),
			dtype_print(type, want));
	bool fits = s == NULL || s->dim.n == (size_t)b->shape.rank;
	for (int k = 0; fits && s != NULL && k < b->shape.rank; k++)
		fits = onnx_is_symbolic(&s->dim.at[k]) || s->dim.at[k].dim_value == b->shape.dim[k];
	if (!fits)
		return fail(&im->err, ERR_TYPE, "bind",
			"the constant for input '%s' has shape %s, which the model does not allow", name,
			shape_str(b->shape, text));
	Item *it = arena_new_of(im->arena, Item);
	*it = (Item){ .name = name, .type = type, .shape = b->shape, .data = b->data, .value = DAG_NONE };
	note_float8(it, v->type->tensor_type->elem_type);
	return onnx_define(im, f, name, it);
}

static bool read_input(Import *im, const Frame *f, const OnnxValueInfo *v, Symbols *sym)
{
	Item it = { .name = onnx_text(v->name), .value = DAG_NONE, .input = true };
	if (!input_type(im, v, &it.type))
		return false;
	const BindArg *b = bind_arg(im, it.name);
	if (b != NULL)
		return bind_input(im, f, v, it.type, b);
	if (!resolve_shape(im, v, sym, &it.shape) || !onnx_check_size(im, "input", it.name, it.type, it.shape))
		return false;
	note_float8(&it, v->type->tensor_type->elem_type);
	it.value = dag_add_input(im->dag, it.name, it.type, it.shape);
	return onnx_define(im, f, it.name, arena_copy(im->arena, &it, sizeof it));
}

static bool is_input(const OnnxGraph *g, const char *name)
{
	for (size_t k = 0; k < g->input.n; k++)
		if (strcmp(onnx_text(g->input.at[k].name), name) == 0)
			return true;
	return false;
}

static const char *input_names(Import *im, const OnnxGraph *g)
{
	Text t = { .arena = im->arena };
	for (size_t k = 0; k < g->input.n && t.n < 200; k++)
		text_add(&t, "%s%s", k > 0 ? ", " : "", onnx_text(g->input.at[k].name));
	return text_str(&t);
}

/* True if the given batch applies to an input: it has dimensions, and no given shape sets its batch. */
static bool batch_counts(const Import *im, const OnnxGraph *g)
{
	for (size_t k = 0; k < g->input.n; k++) {
		const char *name = onnx_text(g->input.at[k].name);
		const OnnxShape *s = onnx_declared_shape(&g->input.at[k]);
		const ShapeArg *given = shape_arg(im, name);
		bool weight = bind_arg(im, name) != NULL;
		for (size_t i = 0; i < g->initializer.n && !weight; i++)
			weight = strcmp(onnx_text(g->initializer.at[i].name), name) == 0;
		if (given != NULL ? given->shape.rank > 0 && given->shape.dim[0] == im->args->batch
						  : !weight && s != NULL && s->dim.n > 0)
			return true;
	}
	return false;
}

/* Checks that the inputs which are given shapes or constants exist. */
static bool check_args(Import *im, const OnnxGraph *g)
{
	if (im->args->batch > 0 && !batch_counts(im, g))
		return fail(&im->err, ERR_USAGE, "batch",
			"no input can have a batch of %lld: each has a given shape, a given constant or no dimension",
			(long long)im->args->batch);
	for (int k = 0; k < im->args->nshape; k++)
		if (!is_input(g, im->args->shape[k].name))
			return fail(&im->err, ERR_USAGE, "shape", "the model has no input '%s'; it has: %s",
				im->args->shape[k].name, input_names(im, g));
	for (int k = 0; k < im->args->nbind; k++)
		if (!is_input(g, im->args->bind[k].name))
			return fail(&im->err, ERR_USAGE, "bind", "the model has no input '%s'; it has: %s",
				im->args->bind[k].name, input_names(im, g));
	return true;
}

bool onnx_read_initializers(Import *im, const Frame *f, const OnnxGraph *g)
{
	if (g->sparse_initializer.n > 0)
		return onnx_refuse(im, ERR_UNSUPPORTED, "sparse initializers are not supported");
	for (size_t k = 0; k < g->initializer.n; k++) {
		const OnnxTensor *t = &g->initializer.at[k];
		BindArg b;
		if (bind_arg(im, onnx_text(t->name)) != NULL)
			continue; /* the input of the same name was bound to something else */
		const char *what = arena_printf(im->arena, "initializer '%.100s'", onnx_text(t->name));
		OnnxTensor codes = *t;
		if (onnx_type_is_float8(t->data_type))
			codes.data_type = onnx_type_to(DT(UINT, 8));
		if (!onnx_tensor_read(im->arena, &codes, &im->files, what, &b, &im->err))
			return false;
		Item *it = arena_new_of(im->arena, Item);
		*it = (Item){ .name = b.name, .type = b.type, .shape = b.shape, .data = b.data, .value = DAG_NONE };
		note_float8(it, t->data_type);
		if (!onnx_define(im, f, b.name, it))
			return false;
	}
	return true;
}

/* Inputs that have an initializer of their name are constants, as in files of IR version 3. */
bool onnx_read_inputs(Import *im, const Frame *f, const OnnxGraph *g)
{
	Symbols sym = { .names = names_new(im->arena) };
	if (!check_args(im, g))
		return false;
	for (size_t k = 0; k < g->input.n; k++) {
		const OnnxShape *s = onnx_declared_shape(&g->input.at[k]);
		const ShapeArg *given = shape_arg(im, onnx_text(g->input.at[k].name));
		for (size_t i = 0; given != NULL && s != NULL && i < s->dim.n; i++)
			if (i < (size_t)given->shape.rank && onnx_is_symbolic(&s->dim.at[i]))
				bind_symbol(im, &sym, &s->dim.at[i], given->shape.dim[i]);
	}
	Names *weight = names_new(im->arena);
	for (size_t k = 0; k < g->initializer.n; k++)
		names_bind(weight, onnx_text(g->initializer.at[k].name), 0);
	for (size_t k = 0; k < g->input.n; k++) {
		const char *name = onnx_text(g->input.at[k].name);
		bool constant = names_find(weight, name) >= 0 && bind_arg(im, name) == NULL;
		if (!constant && !read_input(im, f, &g->input.at[k], &sym))
			return false;
	}
	if (im->args->seq > 0 && sym.seq == NULL)
		return fail(&im->err, ERR_USAGE, "seq",
			"no input has an open dimension behind its batch that could be the sequence");
	return onnx_read_initializers(im, f, g);
}
