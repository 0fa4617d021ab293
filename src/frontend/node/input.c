/*
 * Turns the inputs of a graph into tensors of the Dag, into constants that are given, or into
 * weights. Symbolic dimensions get their numbers here, from given shapes and a given batch; a symbolic
 * batch becomes 1. Any other open dimension is refused, with the shape to give.
 */
#include "frontend/node/operators.h"

#include <string.h>

static const int64_t most_bytes = (int64_t)1 << 40; /* of one tensor */

bool import_check_size(Import *im, const char *what, const char *name, DType type, Shape s)
{
	char text[160];
	for (int k = 0; k < s.rank; k++)
		if (s.dim[k] < 0 || s.dim[k] > most_bytes) /* of a tensor without elements, too */
			return import_refuse(im, ERR_INPUT, "%s '%s' has a dimension of %lld", what, name, (long long)s.dim[k]);
	int64_t n = shape_elements(s), bytes = n < 0 ? -1 : dtype_bytes(type, n);
	if (bytes < 0 || bytes > most_bytes || !shape_is_bounded(s))
		return import_refuse(
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
struct Symbols {
	Names *names;
	VEC(int64_t) bound;
	bool seq; /* the sequence's length has gone to a dimension */
};

static Symbols *symbols_of(Import *im)
{
	if (im->symbols == NULL) {
		im->symbols = arena_new_of(im->arena, Symbols);
		im->symbols->names = names_new(im->arena);
	}
	return im->symbols;
}

/* A dimension of this size says what its symbol is, where it is a multiple as it should be. */
static void bind_symbol(Import *im, const NodeDim *d, int64_t size)
{
	Symbols *s = symbols_of(im);
	const char *name = d->symbol;
	int64_t times = d->times > 0 ? d->times : 1, part;
	if (name[0] == 0 || names_find(s->names, name) >= 0 || __builtin_sub_overflow(size, d->plus, &part) ||
		part % times != 0)
		return;
	vec_push(im->arena, &s->bound, part / times);
	names_bind(s->names, name, (int)s->bound.n - 1);
}

static bool size_of_symbol(const NodeDim *d, int64_t symbol, int64_t *out)
{
	int64_t times = d->times > 0 ? d->times : 1;
	return !__builtin_mul_overflow(symbol, times, out) && !__builtin_add_overflow(*out, d->plus, out) && *out >= 0;
}

/* Sizes that are given or follow are what the model's expressions and limits allow. */
static bool check_dims(Import *im, const NodeValue *v, Shape shape)
{
	for (size_t k = 0; v->shaped && k < v->ndim && k < (size_t)shape.rank; k++) {
		const NodeDim *d = &v->dim[k];
		int64_t size = shape.dim[k], want = size;
		int bound = d->open && d->times > 0 ? names_find(symbols_of(im)->names, d->symbol) : -1;
		if (d->open && d->most > 0 && (size < d->least || size > d->most))
			return fail(&im->err, ERR_INPUT, "shape",
				"dimension %zu of input '%s' is %lld, and the model takes %lld to %lld", k + 1, v->name,
				(long long)size, (long long)d->least, (long long)d->most);
		if (bound >= 0 && (!size_of_symbol(d, im->symbols->bound.at[bound], &want) || want != size))
			return fail(&im->err, ERR_INPUT, "shape",
				"dimension %zu of input '%s' is %lld, and by the model's expression of '%s' it is %lld", k + 1,
				v->name, (long long)size, d->symbol, (long long)want);
	}
	return true;
}

/* "x=1,3,H,W": the shape to give for an input whose dimensions are symbols. */
static const char *shape_to_give(Import *im, const NodeValue *v)
{
	Text t = { .arena = im->arena };
	text_add(&t, "%s=", v->name);
	for (size_t k = 0; k < v->ndim; k++) {
		const NodeDim *d = &v->dim[k];
		text_put(&t, ",", k > 0);
		if (!d->open)
			text_add(&t, "%lld", (long long)d->size);
		else if (k == 0)
			text_add(&t, "1");
		else
			text_add(&t, "%.20s", d->symbol[0] != 0 ? d->symbol : "N");
	}
	return text_str(&t);
}

static bool resolve_dim(Import *im, const NodeValue *v, size_t k, Dim *out)
{
	Symbols *sym = symbols_of(im);
	const NodeDim *d = &v->dim[k];
	const char *symbol = d->symbol;
	int bound = names_find(sym->names, symbol);
	*out = d->size;
	if (k == 0 && im->args->batch > 0) {
		*out = im->args->batch;
	} else if (!d->open) {
		return true;
	} else if (bound >= 0 && (size_t)bound < sym->bound.n) {
		return size_of_symbol(d, sym->bound.at[bound], out) ||
		       fail(&im->err, ERR_INPUT, "shape", "dimension %zu of input '%s' has no size where '%s' is %lld", k + 1,
				   v->name, symbol, (long long)sym->bound.at[bound]);
	} else if (k == 0) {
		if (!size_of_symbol(d, 1, out))
			return fail(&im->err, ERR_INPUT, "shape", "dimension 1 of input '%s' has no size where '%s' is 1", v->name,
				symbol);
		import_note(im, "the symbolic batch%s of input '%s' is taken as 1",
			symbol[0] != 0 ? arena_printf(im->arena, " '%s'", symbol) : "", v->name);
	} else if (im->args->seq > 0 && !sym->seq) {
		*out = im->args->seq;
		sym->seq = true;
	} else {
		return fail(&im->err, ERR_INPUT, "shape",
			"dimension %zu of input '%s' is not known: give numbers for the names in %s", k + 1, v->name,
			shape_to_give(im, v));
	}
	if (d->open)
		bind_symbol(im, d, *out);
	return true;
}

/* The declared dimensions. Symbols get their bound number, a symbolic batch the one that is given, or 1. */
static bool resolve_shape(Import *im, const NodeValue *v, Shape *out)
{
	const char *name = v->name;
	const ShapeArg *given = shape_arg(im, name);
	if (given != NULL && (!v->shaped || v->ndim == (size_t)given->shape.rank)) {
		*out = given->shape;
		return true;
	}
	if (given != NULL)
		return fail(&im->err, ERR_USAGE, "shape", "input '%s' is given %d dimensions where the model has %zu", name,
			given->shape.rank, v->ndim);
	if (!v->shaped)
		return fail(&im->err, ERR_INPUT, "shape",
			"the model does not say the shape of input '%s': give it as in %s=1,3,224,224", name, name);
	if (v->ndim > DAG_MAX_RANK)
		return import_refuse(
			im, ERR_UNSUPPORTED, "input '%s' has %zu dimensions; dlc takes at most %d", name, v->ndim, DAG_MAX_RANK);
	*out = shape_of(0, NULL);
	out->rank = (int)v->ndim;
	for (size_t k = 0; k < v->ndim; k++)
		if (!resolve_dim(im, v, k, &out->dim[k]))
			return false;
	return true;
}

/* Items of 8-bit floats are of a kind of their own. */
static void note_float8(Item *it, int64_t code)
{
	if (code == 0)
		return;
	it->kind = ITEM_FLOAT8;
	it->code = code;
}

/* A given constant must be what the model declares, symbols aside. */
static bool bind_input(Import *im, const Frame *f, const NodeValue *v, const BindArg *b)
{
	char want[DTYPE_TEXT], have[DTYPE_TEXT], text[160];
	const char *name = v->name;
	if (!dtype_eq(v->type, b->type))
		return fail(&im->err, ERR_TYPE, "bind",
			"the constant for input '%s' has elements of %s where the model has %s", name, dtype_print(b->type, have),
			dtype_print(v->type, want));
	bool fits = !v->shaped || v->ndim == (size_t)b->shape.rank;
	for (int k = 0; fits && v->shaped && k < b->shape.rank; k++)
		fits = v->dim[k].open || v->dim[k].size == b->shape.dim[k];
	if (!fits)
		return fail(&im->err, ERR_TYPE, "bind",
			"the constant for input '%s' has shape %s, which the model does not allow", name,
			shape_str(b->shape, text));
	Item *it = arena_new_of(im->arena, Item);
	*it = (Item){ .name = name, .type = v->type, .shape = b->shape, .data = b->data, .value = DAG_NONE };
	note_float8(it, v->code);
	return import_define(im, f, name, it);
}

/* " of node 'y' (SequenceInsert)": the first node of the graph that reads a value. */
static const char *reader_of(Import *im, const char *name)
{
	const NodeGraph *g = im->model->graph;
	for (size_t k = 0; k < g->nnode; k++)
		for (size_t i = 0; i < g->node[k].nin; i++) {
			const NodeDef *n = &g->node[k];
			if (strcmp(n->in[i], name) == 0)
				return arena_printf(im->arena, " of node '%.100s' (%.60s)",
					n->name[0] == 0 && n->nout > 0 ? n->out[0] : n->name, n->op);
		}
	return "";
}

/* The place in a sequence of the input "NAME.place"; -1: the name is not of that form. */
static int64_t element_place(const NodeValue *v, const char *name)
{
	size_t n = strlen(v->name);
	int64_t k;
	bool is = v->sequence && strncmp(name, v->name, n) == 0 && name[n] == '.' &&
		text_to_int(name + n + 1, 0, INT32_MAX, &k);
	return is ? k : -1;
}

/* A sequence has as many elements as are given a shape or a constant: each is an input of its own. */
static bool import_sequence(Import *im, const Frame *f, const NodeValue *v)
{
	const ModelArgs *args = im->args;
	int64_t most = -1, place;
	for (int k = 0; k < args->nshape + args->nbind; k++) {
		place = element_place(v, k < args->nshape ? args->shape[k].name : args->bind[k - args->nshape].name);
		most = place > most ? place : most;
	}
	if (most < 0)
		return fail(&im->err, ERR_INPUT, "shape",
			"input '%s'%s is a sequence: give the shape of each element, as in %s.0=1,3 and %s.1=1,3", v->name,
			reader_of(im, v->name), v->name, v->name);
	Item *it = arena_new_of(im->arena, Item);
	*it = (Item){ .name = v->name, .kind = ITEM_SEQUENCE, .value = DAG_NONE };
	it->list = arena_array(im->arena, Item *, args->nshape + args->nbind);
	for (; it->n <= most; it->n++) {
		NodeValue e = *v;
		e.name = arena_printf(im->arena, "%s.%d", v->name, it->n);
		e.sequence = false;
		if (shape_arg(im, e.name) == NULL && bind_arg(im, e.name) == NULL)
			return fail(&im->err, ERR_INPUT, "shape",
				"input '%s' is a sequence with an element %lld, but no shape of its element '%s' is given", v->name,
				(long long)most, e.name);
		names_bind(im->own, e.name, 0);
		if (!import_input(im, f, &e))
			return false;
		it->list[it->n] = import_lookup(im, f, e.name);
	}
	return import_define(im, f, v->name, it);
}

bool import_input(Import *im, const Frame *f, const NodeValue *v)
{
	Item it = { .name = v->name, .type = v->type, .value = DAG_NONE, .input = true };
	if (v->refused != NULL) {
		it.kind = ITEM_REFUSED;
		it.refused = arena_copy(im->arena, v, sizeof *v);
		return import_define(im, f, it.name, arena_copy(im->arena, &it, sizeof it));
	}
	if (v->sequence)
		return import_sequence(im, f, v);
	const BindArg *b = bind_arg(im, it.name);
	if (b != NULL)
		return bind_input(im, f, v, b);
	if (!resolve_shape(im, v, &it.shape) || !check_dims(im, v, it.shape) ||
		!import_check_size(im, "input", it.name, it.type, it.shape))
		return false;
	note_float8(&it, v->code);
	it.value = dag_add_input(im->dag, it.name, it.type, it.shape);
	return import_define(im, f, it.name, arena_copy(im->arena, &it, sizeof it));
}

static bool is_input(const NodeGraph *g, const char *name)
{
	for (size_t k = 0; k < g->nin; k++)
		if (g->in[k].sequence ? element_place(&g->in[k], name) >= 0 : strcmp(g->in[k].name, name) == 0)
			return true;
	return false;
}

static const char *input_names(Import *im, const NodeGraph *g)
{
	Text t = { .arena = im->arena };
	for (size_t k = 0; k < g->nin && t.n < 200; k++)
		text_add(&t, "%s%s%s", k > 0 ? ", " : "", g->in[k].name, g->in[k].sequence ? ".0" : "");
	return text_str(&t);
}

/* True if the given batch applies to an input: it has dimensions, and no given shape sets its batch. */
static bool batch_counts(const Import *im, const NodeGraph *g)
{
	for (size_t k = 0; k < g->nin; k++) {
		const char *name = g->in[k].name;
		const NodeValue *v = &g->in[k];
		const ShapeArg *given = shape_arg(im, name);
		bool weight = bind_arg(im, name) != NULL;
		for (size_t i = 0; i < g->nweight && !weight; i++)
			weight = strcmp(g->weight[i].name, name) == 0;
		if (given != NULL ? given->shape.rank > 0 && given->shape.dim[0] == im->args->batch
						  : !weight && !v->sequence && v->shaped && v->ndim > 0)
			return true;
	}
	return false;
}

/* Checks that the inputs which are given shapes or constants exist. */
static bool check_names(Import *im, const NodeGraph *g)
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

static bool check_seq(Import *im)
{
	return im->args->seq == 0 || symbols_of(im)->seq ||
		fail(&im->err, ERR_USAGE, "seq",
			"no input has an open dimension behind its batch that could be the sequence");
}

bool import_check_args(Import *im, const NodeGraph *g)
{
	return check_names(im, g) && check_seq(im);
}

bool import_tensor(Import *im, const NodeTensor *t, const char *what, NodeTensor *out)
{
	if (t->source != NULL && im->model->format->read != NULL)
		return im->model->format->read(im, t, what, out);
	*out = *t;
	return true;
}

bool import_weights(Import *im, const Frame *f, const NodeGraph *g)
{
	if (g->refused != NULL)
		return import_refuse(im, ERR_UNSUPPORTED, "%s", g->refused);
	for (size_t k = 0; k < g->nweight; k++) {
		const NodeTensor *w = &g->weight[k];
		NodeTensor t;
		if (bind_arg(im, w->name) != NULL)
			continue; /* the input of the same name was bound to something else */
		const char *what = arena_printf(im->arena, "%s '%.100s'", im->model->format->weight, w->name);
		if (!import_tensor(im, w, what, &t))
			return false;
		Item *it = arena_new_of(im->arena, Item);
		*it = (Item){ .name = w->name, .type = t.type, .shape = t.shape, .data = t.data, .value = DAG_NONE };
		note_float8(it, t.code);
		if (!import_define(im, f, w->name, it))
			return false;
	}
	return true;
}

/* Inputs that have a weight of their name are constants, as in ONNX files of IR version 3. */
bool import_inputs(Import *im, const Frame *f, const NodeGraph *g)
{
	if (!check_names(im, g))
		return false;
	for (size_t k = 0; k < g->nin; k++) {
		const NodeValue *v = &g->in[k];
		const ShapeArg *given = shape_arg(im, v->name);
		for (size_t i = 0; given != NULL && v->shaped && i < v->ndim; i++)
			if (i < (size_t)given->shape.rank && v->dim[i].open)
				bind_symbol(im, &v->dim[i], given->shape.dim[i]);
	}
	Names *weight = names_new(im->arena);
	for (size_t k = 0; k < g->nweight; k++)
		names_bind(weight, g->weight[k].name, 0);
	for (size_t k = 0; k < g->nin; k++) {
		const char *name = g->in[k].name;
		bool constant = names_find(weight, name) >= 0 && bind_arg(im, name) == NULL;
		if (!constant && !import_input(im, f, &g->in[k]))
			return false;
	}
	return check_seq(im) && import_weights(im, f, g);
}
