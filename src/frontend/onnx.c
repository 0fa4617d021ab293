/*
 * The walk through an ONNX model: inputs and initialisers become Items, nodes are brought into
 * topological order and given to their rows, calls of the model's own functions are walked in place,
 * and the results get their names. What no row can do is listed at once, before anything is built.
 */
#include "frontend/onnx.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NODES = 1 << 20, MOST_DEPTH = 16 };
static const int64_t most_bytes = (int64_t)1 << 40; /* of one tensor */

static const OnnxRow *const row_lists[] = { onnx_nn_rows, onnx_math_rows, onnx_move_rows };

typedef VEC(OnnxNode) Nodes;

static void note(Import *im, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void note(Import *im, const char *fmt, ...)
{
	if (im->args->note == NULL)
		return;
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	im->args->note(text, im->args->note_arg);
}

static bool refuse(Import *im, ErrCode code, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool refuse(Import *im, ErrCode code, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fail(&im->err, code, NULL, "%s", text);
}

/* ---- operators and functions by name */

static bool is_default_domain(const char *s)
{
	return s == NULL || s[0] == 0 || strcmp(s, "ai.onnx") == 0;
}

static bool same(const char *a, const char *b)
{
	return strcmp(onnx_text(a), onnx_text(b)) == 0;
}

static const OnnxRow *find_row(const OnnxNode *node)
{
	if (!is_default_domain(node->domain))
		return NULL;
	for (size_t l = 0; l < sizeof row_lists / sizeof *row_lists; l++)
		for (const OnnxRow *r = row_lists[l]; r->name != NULL; r++)
			if (strcmp(r->name, onnx_text(node->op_type)) == 0)
				return r;
	return NULL;
}

static const OnnxFunction *find_function(const OnnxModel *m, const OnnxNode *node)
{
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *f = &m->functions.at[k];
		bool domain = same(f->domain, node->domain) ||
			(is_default_domain(f->domain) && is_default_domain(node->domain));
		if (domain && same(f->name, node->op_type) && same(f->overload, node->overload))
			return f;
	}
	return NULL;
}

/* The version of the default domain; `otherwise` if it is not named. */
static int64_t opset_of(const OnnxOpset *at, size_t n, int64_t otherwise)
{
	for (size_t k = 0; k < n; k++)
		if (is_default_domain(at[k].domain))
			return at[k].version;
	return otherwise;
}

/* ---- what is not supported, all of it */

typedef struct Lack {
	const char *op, *domain, *node, *inside;
	int64_t opset;
	int since, times;
} Lack;

typedef struct Lacks {
	Arena *arena;
	const OnnxModel *model;
	VEC(Lack) list;
} Lacks;

static void add_lack(Lacks *l, Lack lack)
{
	for (size_t k = 0; k < l->list.n; k++)
		if (same(l->list.at[k].op, lack.op) && same(l->list.at[k].domain, lack.domain)) {
			l->list.at[k].times++;
			return;
		}
	vec_push(l->arena, &l->list, lack);
}

static void find_lacks(Lacks *l, const OnnxNode *node, size_t n, int64_t opset, const char *inside)
{
	for (size_t k = 0; k < n; k++) {
		if (find_function(l->model, &node[k]) != NULL)
			continue;
		const OnnxRow *row = find_row(&node[k]);
		if (row != NULL && row->since <= opset)
			continue;
		const char *out = node[k].output.n > 0 ? onnx_text(node[k].output.at[0]) : "";
		const char *name = onnx_text(node[k].name);
		add_lack(l, (Lack){ .op = onnx_text(node[k].op_type), .domain = onnx_text(node[k].domain),
			.node = name[0] != 0 ? name : out, .inside = inside, .opset = opset,
			.since = row != NULL ? row->since : 0, .times = 1 });
	}
}

static bool check_supported(Import *im, const OnnxModel *m, int64_t opset)
{
	Lacks l = { .arena = im->arena, .model = m };
	find_lacks(&l, m->graph->node.at, m->graph->node.n, opset, NULL);
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *f = &m->functions.at[k];
		find_lacks(&l, f->node.at, f->node.n,
			opset_of(f->opset_import.at, f->opset_import.n, opset), onnx_text(f->name));
	}
	if (l.list.n == 0)
		return true;
	refuse(im, ERR_UNSUPPORTED, "%zu operator%s of this model %s not supported", l.list.n,
		l.list.n == 1 ? "" : "s", l.list.n == 1 ? "is" : "are");
	for (size_t k = 0; k < l.list.n; k++) {
		const Lack *x = &l.list.at[k];
		char times[40] = "", since[60] = "";
		if (x->times > 1)
			snprintf(times, sizeof times, ", %d times", x->times);
		if (x->since > 0)
			snprintf(since, sizeof since, ", which exists from opset %d on", x->since);
		err_add_item(&im->err, "%s%s%s (opset %lld, node '%.60s'%s%s%s%s)%s",
			is_default_domain(x->domain) ? "" : x->domain, is_default_domain(x->domain) ? "" : "::",
			x->op, (long long)x->opset, x->node, x->inside != NULL ? " of function " : "",
			x->inside != NULL ? x->inside : "", times, "", since);
	}
	return false;
}

/* ---- names */

static bool is_defined(const Frame *f, const char *name)
{
	return names_find(f->names, name) >= 0;
}

static bool define(Import *im, const Frame *f, const char *name, Item *it)
{
	if (name[0] == 0)
		return refuse(im, ERR_INPUT, "an input, an initializer or a result has no name");
	if (is_defined(f, name))
		return refuse(im, ERR_INPUT, "the name '%s' is given twice", name);
	vec_push(im->arena, &im->item, it);
	names_bind(f->names, name, (int)im->item.n - 1);
	return true;
}

static Item *lookup(Import *im, const Frame *f, const char *name)
{
	int k = names_find(f->names, name);
	return k < 0 ? NULL : im->item.at[k];
}

/* ---- topological order: most files are in order already */

typedef struct Order {
	Import *im;
	const Frame *frame;
	const OnnxNode *node;
	Names *producer; /* result -> node */
	unsigned char *state; /* 0 not seen, 1 on the way, 2 done */
	int *out, *stack;
	int n, nstack;
} Order;

static bool list_producers(Order *o, size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < o->node[k].output.n; i++) {
			const char *name = onnx_text(o->node[k].output.at[i]);
			if (name[0] == 0)
				continue;
			if (is_defined(o->frame, name) || names_find(o->producer, name) >= 0)
				return refuse(o->im, ERR_INPUT, "the name '%s' is given twice", name);
			names_bind(o->producer, name, (int)k);
		}
	return true;
}

/* The next node that node k waits for; DAG_NONE if there is none, -2 after a failure. */
static int waits_for(Order *o, int k)
{
	const OnnxNode *node = &o->node[k];
	for (size_t i = 0; i < node->input.n; i++) {
		const char *name = onnx_text(node->input.at[i]);
		if (name[0] == 0 || is_defined(o->frame, name))
			continue;
		int p = names_find(o->producer, name);
		if (p < 0) {
			refuse(o->im, ERR_INPUT, "node '%s' (%s) reads '%s', which nothing in the model gives",
				onnx_text(node->name), onnx_text(node->op_type), name);
			return -2;
		}
		if (o->state[p] == 2)
			continue;
		if (o->state[p] == 1) {
			refuse(o->im, ERR_INPUT, "node '%s' (%s) reads '%s', which depends on the node itself",
				onnx_text(node->name), onnx_text(node->op_type), name);
			return -2;
		}
		return p;
	}
	return DAG_NONE;
}

static bool order_nodes(Order *o, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		if (o->state[k] == 0) {
			o->stack[o->nstack++] = (int)k;
			o->state[k] = 1;
		}
		while (o->nstack > 0) {
			int top = o->stack[o->nstack - 1], next = waits_for(o, top);
			if (next == -2)
				return false;
			if (next >= 0) {
				o->state[next] = 1;
				o->stack[o->nstack++] = next;
				continue;
			}
			o->state[top] = 2;
			o->out[o->n++] = top;
			o->nstack--;
		}
	}
	return true;
}

/* ---- nodes */

static bool run_nodes(Import *im, const OnnxModel *m, Frame *f, const OnnxNode *node, size_t n);

static bool check_attrs(Visit *v, const OnnxRow *row)
{
	for (size_t k = 0; k < v->proto->attribute.n; k++) {
		const char *name = onnx_text(v->proto->attribute.at[k].name);
		size_t len = strlen(name);
		bool known = v->attr_seen[k] != 0;
		for (const char *s = row->ignored; !known && *s != 0; s += strcspn(s, " "), s += *s == ' ')
			known = len > 0 && strcspn(s, " ") == len && memcmp(s, name, len) == 0;
		if (!known)
			node_fail(v, ERR_UNSUPPORTED, "its attribute '%s' is not known, or does not go with its "
				"inputs and opset %d", name, v->frame->opset);
	}
	return node_ok(v);
}

/* Walks the body of a function with the call's inputs and attributes. */
static bool run_function(Import *im, const OnnxModel *m, Visit *call, const OnnxFunction *fn)
{
	const Frame *up = call->frame;
	if (up->depth == MOST_DEPTH)
		return refuse(im, ERR_INPUT, "%s: functions are nested more than %d deep", call->name, MOST_DEPTH);
	const char *name = onnx_text(call->proto->name);
	if (name[0] == 0)
		name = onnx_text(fn->name);
	Frame f = { .up = up, .call = call->proto, .function = fn, .depth = up->depth + 1,
		.prefix = arena_printf(im->arena, "%s%.60s/", up->prefix, name),
		.names = names_new(im->arena), .read = names_new(im->arena),
		.opset = (int)opset_of(fn->opset_import.at, fn->opset_import.n, up->opset) };
	if ((size_t)node_nin(call) > fn->input.n || (size_t)node_nout(call) > fn->output.n)
		return refuse(im, ERR_INPUT, "%s: it gives more inputs or results than the function '%s' has",
			call->name, onnx_text(fn->name));
	for (int k = 0; k < node_nin(call); k++) {
		const Item *it = node_in(call, k);
		if (it != NULL && !define(im, &f, onnx_text(fn->input.at[k]), (Item *)(uintptr_t)it))
			return false;
	}
	for (size_t k = 0; k < fn->output.n; k++)
		names_bind(f.read, onnx_text(fn->output.at[k]), 0);
	if (!run_nodes(im, m, &f, fn->node.at, fn->node.n))
		return false;
	for (int k = 0; k < node_nout(call); k++) {
		Item *it = lookup(im, &f, onnx_text(fn->output.at[k]));
		if (it == NULL)
			return refuse(im, ERR_INPUT, "%s: the function '%s' never gives its result '%s'", call->name,
				onnx_text(fn->name), onnx_text(fn->output.at[k]));
		node_set_alias(call, k, it);
	}
	return node_ok(call);
}

static bool run_node(Import *im, const OnnxModel *m, const Frame *f, const OnnxNode *node)
{
	if (++im->nodes > MOST_NODES)
		return refuse(im, ERR_INPUT, "the model has more than %d nodes", MOST_NODES);
	const char *name = onnx_text(node->name);
	if (name[0] == 0 && node->output.n > 0)
		name = onnx_text(node->output.at[0]);
	Visit v = { .im = im, .frame = f, .proto = node,
		.name = arena_printf(im->arena, "node '%s%.100s' (%.60s)", f->prefix, name,
			onnx_text(node->op_type)),
		.attr_seen = arena_alloc(im->arena, node->attribute.n + 1) };
	const OnnxFunction *fn = find_function(m, node);
	if (fn != NULL)
		return run_function(im, m, &v, fn);
	const OnnxRow *row = find_row(node);
	if (row == NULL || node_nout(&v) == 0)
		return refuse(im, ERR_INPUT, "%s has no results", v.name);
	row->import(&v);
	if (!check_attrs(&v, row))
		return false;
	for (int k = 0; k < node_nout(&v); k++) {
		const char *out = onnx_text(node->output.at[k]);
		if (node_used(&v, k) && !is_defined(f, out))
			return refuse(im, ERR_UNSUPPORTED, "%s: its result %d, '%s', is not supported", v.name, k + 1,
				out);
	}
	return true;
}

static bool run_nodes(Import *im, const OnnxModel *m, Frame *f, const OnnxNode *node, size_t n)
{
	if (n > MOST_NODES)
		return refuse(im, ERR_INPUT, "the model has more than %d nodes", MOST_NODES);
	Order o = { .im = im, .frame = f, .node = node, .producer = names_new(im->arena),
		.state = arena_alloc(im->arena, n + 1), .out = arena_array(im->arena, int, n + 1),
		.stack = arena_array(im->arena, int, n + 1) };
	if (!list_producers(&o, n) || !order_nodes(&o, n))
		return false;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < node[k].input.n; i++)
			names_bind(f->read, onnx_text(node[k].input.at[i]), 0);
	for (size_t k = 0; k < n; k++)
		if (!run_node(im, m, f, &node[o.out[k]]))
			return false;
	return true;
}

/* ---- inputs */

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

/* Symbols that --shape or --batch gave a number: dim_param -> its place in `bound`. */
typedef struct Symbols {
	Names *names;
	VEC(int64_t) bound;
} Symbols;

static const OnnxShape *declared_shape(const OnnxValueInfo *v)
{
	return v->type != NULL && v->type->tensor_type != NULL ? v->type->tensor_type->shape : NULL;
}

static bool is_symbolic(const OnnxDim *d)
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

/* "--shape x=1,3,H,W": what to type for an input whose dimensions are symbols. */
static const char *shape_to_type(Import *im, const OnnxValueInfo *v, const OnnxShape *s)
{
	Text t = { .arena = im->arena };
	text_add(&t, "--shape %s=", onnx_text(v->name));
	for (size_t k = 0; k < s->dim.n; k++) {
		const OnnxDim *d = &s->dim.at[k];
		text_put(&t, ",", k > 0);
		if (!is_symbolic(d))
			text_add(&t, "%lld", (long long)d->dim_value);
		else if (k == 0)
			text_add(&t, "1");
		else
			text_add(&t, "%.20s", onnx_text(d->dim_param)[0] != 0 ? d->dim_param : "N");
	}
	return text_str(&t);
}

/* The declared dimensions, symbols by what is bound, a symbolic batch as --batch or 1. */
static bool resolve_shape(Import *im, const OnnxValueInfo *v, Symbols *sym, Shape *out)
{
	const char *name = onnx_text(v->name);
	const OnnxShape *s = declared_shape(v);
	const ShapeArg *given = shape_arg(im, name);
	if (given != NULL && (s == NULL || s->dim.n == (size_t)given->shape.rank)) {
		*out = given->shape;
		return true;
	}
	if (given != NULL)
		return refuse(im, ERR_USAGE, "--shape %s has %d dimensions where the model has %zu", name,
			given->shape.rank, s->dim.n);
	if (s == NULL)
		return refuse(im, ERR_INPUT, "input '%s' has no shape: give it with --shape %s=...", name, name);
	if (s->dim.n > DAG_MAX_RANK)
		return refuse(im, ERR_UNSUPPORTED, "input '%s' has %zu dimensions, dlc takes at most %d", name,
			s->dim.n, DAG_MAX_RANK);
	*out = shape_of(0, NULL);
	out->rank = (int)s->dim.n;
	for (size_t k = 0; k < s->dim.n; k++) {
		const OnnxDim *d = &s->dim.at[k];
		int bound = names_find(sym->names, onnx_text(d->dim_param));
		out->dim[k] = d->dim_value;
		if (k == 0 && im->args->batch > 0) {
			out->dim[k] = im->args->batch;
		} else if (is_symbolic(d) && bound >= 0) {
			out->dim[k] = sym->bound.at[bound];
		} else if (is_symbolic(d) && k == 0) {
			out->dim[k] = 1;
			note(im, "the symbolic batch '%s' of input '%s' is taken as 1", onnx_text(d->dim_param), name);
		} else if (is_symbolic(d)) {
			return refuse(im, ERR_INPUT, "dimension %zu of input '%s' is not known: give it with %s", k + 1,
				name, shape_to_type(im, v, s));
		}
		if (k == 0 && is_symbolic(d))
			bind_symbol(im, sym, d, out->dim[k]);
	}
	return true;
}

static bool check_size(Import *im, const char *what, const char *name, DType type, Shape s)
{
	char text[160];
	for (int k = 0; k < s.rank; k++)
		if (s.dim[k] < 0)
			return refuse(im, ERR_INPUT, "%s '%s' has the dimension %lld", what, name,
				(long long)s.dim[k]);
	int64_t n = shape_elements(s), bytes = n < 0 ? -1 : dtype_bytes(type, n);
	if (bytes < 0 || bytes > most_bytes)
		return refuse(im, ERR_MEMORY, "%s '%s' of shape %s needs more memory than there is", what, name,
			shape_str(s, text));
	return true;
}

static bool input_type(Import *im, const OnnxValueInfo *v, DType *out)
{
	const char *name = onnx_text(v->name);
	const OnnxType *t = v->type;
	if (t == NULL)
		return refuse(im, ERR_INPUT, "input '%s' has no type", name);
	const char *other = t->has >> OnnxType_sequence_type & 1 ? "a sequence"
		: t->has >> OnnxType_map_type & 1 ? "a map"
		: t->has >> OnnxType_optional_type & 1 ? "an optional"
		: t->has >> OnnxType_sparse_tensor_type & 1 ? "a sparse tensor" : NULL;
	if (other != NULL)
		return refuse(im, ERR_UNSUPPORTED, "input '%s' is %s; dlc takes tensors only", name, other);
	if (t->tensor_type == NULL || !onnx_type_from(t->tensor_type->elem_type, out))
		return refuse(im, ERR_UNSUPPORTED, "input '%s' has element type %s, which dlc does not have", name,
			onnx_type_name(t->tensor_type != NULL ? t->tensor_type->elem_type : 0));
	return true;
}

/* A given constant must be what the model declares, symbols aside. */
static bool bind_input(Import *im, const Frame *f, const OnnxValueInfo *v, DType type, const BindArg *b)
{
	char want[DTYPE_TEXT], have[DTYPE_TEXT], text[160];
	const char *name = onnx_text(v->name);
	const OnnxShape *s = declared_shape(v);
	if (!dtype_eq(type, b->type))
		return refuse(im, ERR_TYPE, "--bind %s has elements of %s where the model has %s", name,
			dtype_print(b->type, have), dtype_print(type, want));
	bool fits = s == NULL || s->dim.n == (size_t)b->shape.rank;
	for (int k = 0; fits && s != NULL && k < b->shape.rank; k++)
		fits = is_symbolic(&s->dim.at[k]) || s->dim.at[k].dim_value == b->shape.dim[k];
	if (!fits)
		return refuse(im, ERR_TYPE, "--bind %s of shape %s is not what the model declares", name,
			shape_str(b->shape, text));
	Item *it = arena_new_of(im->arena, Item);
	*it = (Item){ .name = name, .type = type, .shape = b->shape, .data = b->data, .value = DAG_NONE };
	return define(im, f, name, it);
}

static bool read_input(Import *im, const Frame *f, const OnnxValueInfo *v, Symbols *sym)
{
	Item it = { .name = onnx_text(v->name), .value = DAG_NONE, .input = true };
	if (!input_type(im, v, &it.type))
		return false;
	const BindArg *b = bind_arg(im, it.name);
	if (b != NULL)
		return bind_input(im, f, v, it.type, b);
	if (!resolve_shape(im, v, sym, &it.shape) || !check_size(im, "input", it.name, it.type, it.shape))
		return false;
	it.value = dag_add_input(im->dag, it.name, it.type, it.shape);
	return define(im, f, it.name, arena_copy(im->arena, &it, sizeof it));
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

/* What the command line names must be there. */
static bool check_args(Import *im, const OnnxGraph *g)
{
	for (int k = 0; k < im->args->nshape; k++)
		if (!is_input(g, im->args->shape[k].name))
			return refuse(im, ERR_USAGE, "--shape: the model has no input '%s'; it has: %s",
				im->args->shape[k].name, input_names(im, g));
	for (int k = 0; k < im->args->nbind; k++)
		if (!is_input(g, im->args->bind[k].name))
			return refuse(im, ERR_USAGE, "--bind: the model has no input '%s'; it has: %s",
				im->args->bind[k].name, input_names(im, g));
	return true;
}

static bool read_initializers(Import *im, const Frame *f, const OnnxGraph *g)
{
	if (g->sparse_initializer.n > 0)
		return refuse(im, ERR_UNSUPPORTED, "sparse initializers are not supported");
	for (size_t k = 0; k < g->initializer.n; k++) {
		const OnnxTensor *t = &g->initializer.at[k];
		BindArg b;
		if (bind_arg(im, onnx_text(t->name)) != NULL)
			continue; /* the input of the same name was bound to something else */
		const char *what = arena_printf(im->arena, "initializer '%.100s'", onnx_text(t->name));
		if (!onnx_tensor_read(im->arena, t, &im->files, what, &b, &im->err))
			return false;
		Item *it = arena_new_of(im->arena, Item);
		*it = (Item){ .name = b.name, .type = b.type, .shape = b.shape, .data = b.data,
			.value = DAG_NONE };
		if (!define(im, f, b.name, it))
			return false;
	}
	return true;
}

/* Inputs that have an initializer of their name are constants, as in files of IR version 3. */
static bool read_inputs(Import *im, const Frame *f, const OnnxGraph *g)
{
	Symbols sym = { .names = names_new(im->arena) };
	for (size_t k = 0; k < g->input.n; k++) {
		const OnnxShape *s = declared_shape(&g->input.at[k]);
		const ShapeArg *given = shape_arg(im, onnx_text(g->input.at[k].name));
		for (size_t i = 0; given != NULL && s != NULL && i < s->dim.n; i++)
			if (i < (size_t)given->shape.rank && is_symbolic(&s->dim.at[i]))
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
	return read_initializers(im, f, g);
}

/* ---- results */

static bool is_output(const Dag *d, int value)
{
	for (size_t k = 0; k < d->output.n; k++)
		if (d->output.at[k] == value)
			return true;
	return false;
}

/* A result keeps its name: by renaming the value, or behind a call of identity. */
static bool add_output(Import *im, Item *it, const char *name)
{
	Dag *d = im->dag;
	if (it->value == DAG_NONE)
		it->value = dag_add_const(d, names_taken(im->own, it->name) && !same(it->name, name)
			? it->name : arena_printf(im->arena, "%s.const", name), it->type, it->shape, it->data);
	int value = it->value;
	if (d->value.at[value].kind != VALUE_CALL || is_output(d, value)) {
		int call = dag_add_call(d, OP_identity, name, &value, 1, NULL, 0, &im->err);
		if (call < 0)
			return false;
		value = d->call.at[call].out[0];
	}
	dag_rename(d, value, name);
	dag_add_output(d, value);
	return true;
}

static void compare_output(Import *im, const OnnxValueInfo *v, const Item *it)
{
	const OnnxShape *s = declared_shape(v);
	if (s == NULL || im->args->nshape > 0 || im->args->batch > 0)
		return;
	char text[160];
	bool same_shape = s->dim.n == (size_t)it->shape.rank;
	for (int k = 0; same_shape && k < it->shape.rank; k++)
		same_shape = is_symbolic(&s->dim.at[k]) || s->dim.at[k].dim_value == it->shape.dim[k];
	if (!same_shape)
		note(im, "result '%s' has the shape %s, which is not what the file declares", onnx_text(v->name),
			shape_str(it->shape, text));
}

static bool read_outputs(Import *im, const Frame *f, const OnnxGraph *g)
{
	if (g->output.n == 0)
		return refuse(im, ERR_INPUT, "the model has no results");
	Names *seen = names_new(im->arena);
	for (size_t k = 0; k < g->output.n; k++) {
		const char *name = onnx_text(g->output.at[k].name);
		Item *it = lookup(im, f, name);
		if (it == NULL)
			return refuse(im, ERR_INPUT, "nothing in the model gives its result '%s'", name);
		if (names_find(seen, name) >= 0)
			return refuse(im, ERR_INPUT, "the result '%s' is listed twice", name);
		names_bind(seen, name, 0);
		compare_output(im, &g->output.at[k], it);
		if (!add_output(im, it, name))
			return false;
	}
	return true;
}

static bool check_sizes(Import *im)
{
	for (size_t k = 0; k < im->dag->value.n; k++) {
		const Value *v = &im->dag->value.at[k];
		if (!check_size(im, "value", v->name, v->type, v->shape))
			return false;
	}
	return true;
}

static bool check_model(Import *im, const OnnxModel *m, int64_t *opset)
{
	if (m->graph == NULL)
		return refuse(im, ERR_INPUT, "it is not an ONNX model, or a damaged one: it has no graph");
	*opset = opset_of(m->opset_import.at, m->opset_import.n, m->opset_import.n == 0 ? 1 : ONNX_NEWEST);
	if (*opset < 1 || *opset > 1000)
		return refuse(im, ERR_INPUT, "it wants the operators of opset %lld, which does not exist",
			(long long)*opset);
	if (*opset > ONNX_NEWEST)
		note(im, "the model uses opset %lld, newer than %d, the newest known here", (long long)*opset,
			ONNX_NEWEST);
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *fn = &m->functions.at[k];
		int64_t version = opset_of(fn->opset_import.at, fn->opset_import.n, *opset);
		if (version < 1 || version > 1000)
			return refuse(im, ERR_INPUT, "function '%s' wants opset %lld, which does not exist",
				onnx_text(fn->name), (long long)version);
	}
	return check_supported(im, m, *opset);
}

static void list_own_names(Import *im, const OnnxGraph *g)
{
	im->own = names_new(im->arena);
	for (size_t k = 0; k < g->input.n; k++)
		names_bind(im->own, onnx_text(g->input.at[k].name), 0);
	for (size_t k = 0; k < g->initializer.n; k++)
		names_bind(im->own, onnx_text(g->initializer.at[k].name), 0);
	for (size_t k = 0; k < g->node.n; k++)
		for (size_t i = 0; i < g->node.at[k].output.n; i++)
			names_bind(im->own, onnx_text(g->node.at[k].output.at[i]), 0);
}

static bool import_graph(Import *im, const OnnxModel *m, int64_t opset)
{
	const OnnxGraph *g = m->graph;
	im->dag = dag_new(im->arena, onnx_text(g->name));
	Frame f = { .prefix = "", .names = names_new(im->arena), .read = names_new(im->arena),
		.opset = (int)opset };
	for (size_t k = 0; k < g->output.n; k++)
		names_bind(f.read, onnx_text(g->output.at[k].name), 0);
	list_own_names(im, g);
	return check_args(im, g) && read_inputs(im, &f, g) &&
		run_nodes(im, m, &f, g->node.at, g->node.n) && read_outputs(im, &f, g) && check_sizes(im) &&
		dag_check(im->dag, &im->err);
}

/* One walk; *wanted is the input that had to be known, if that is why it failed. */
static Dag *import_once(Arena *a, const char *path, const OnnxModel *m, const ModelArgs *args,
	const char **wanted, Err *err)
{
	Import *im = arena_new_of(a, Import);
	const char *slash = strrchr(path, '/');
	im->arena = a;
	im->args = args;
	im->eval = args->eval.run != NULL ? args->eval : graph_eval_interp;
	im->files.folder = slash == NULL ? "." : slash == path ? "/"
		: arena_printf(a, "%.*s", (int)(slash - path), path);
	int64_t opset;
	bool ok = check_model(im, m, &opset) && import_graph(im, m, opset);
	*wanted = im->wanted;
	*err = im->err;
	return ok ? im->dag : NULL;
}

Dag *onnx_import(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	OnnxModel *m = arena_new_of(a, OnnxModel);
	ModelArgs with = *args; /* and what is offered */
	Dag *d = NULL;
	Err why = { 0 };
	bool again = wire_read(a, &OnnxModel_message, file, m, &why);
	while (again) {
		const char *wanted;
		d = import_once(a, path, m, &with, &wanted, &why);
		BindArg b;
		again = d == NULL && wanted != NULL && args->offer != NULL &&
			args->offer(wanted, &b, args->offer_arg);
		if (again) {
			BindArg *list = arena_array(a, BindArg, with.nbind + 1);
			if (with.nbind > 0)
				memcpy(list, with.bind, sizeof *list * (size_t)with.nbind);
			b.name = wanted;
			list[with.nbind++] = b;
			with.bind = list;
			why = (Err){ 0 };
		}
	}
	err_at(&why, path);
	if (d == NULL && err != NULL && err->code == ERR_NONE)
		*err = why;
	return d;
}
