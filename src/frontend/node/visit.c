/*
 * The functions with which rows of the operator table read their node and write its results: inputs as
 * values, as known elements or as integers; attributes (followed through function calls); calls of the Dag;
 * results. The first failure stays in the Import, so nothing here returns one.
 */
#include "frontend/node/visit.h"

#include "op/element.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits on elements and operations that an import evaluates: shapes and axes are small. */
enum { MOST_KNOWN = 1 << 20, MOST_WORK = 1 << 22 };

void import_note(Import *im, const char *fmt, ...)
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

bool import_refuse(Import *im, ErrCode code, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fail(&im->err, code, NULL, "%s", text);
}

bool import_define(Import *im, const Frame *f, const char *name, Item *it)
{
	if (name[0] == 0)
		return import_refuse(im, ERR_INPUT, "an input, an initializer or a result has no name");
	if (names_find(f->names, name) >= 0)
		return import_refuse(im, ERR_INPUT, "two values have the name '%s'", name);
	vec_push(im->arena, &im->item, it);
	names_bind(f->names, name, (int)im->item.n - 1);
	return true;
}

bool node_ok(const Visit *n)
{
	return n->im->err.code == ERR_NONE;
}

void node_fail(Visit *n, ErrCode code, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fail(&n->im->err, code, NULL, "%s: %s", n->name, text);
}

/* Adds a call's failure, with the node's name in place of op's. */
static void refused(Visit *n)
{
	Err inner = n->im->err;
	n->im->err = (Err){ 0 };
	node_fail(n, inner.code, "%s", inner.text);
}

int node_nin(const Visit *n)
{
	size_t k = n->node->nin;
	while (k > 0 && n->node->in[k - 1][0] == 0)
		k--;
	return (int)k;
}

int node_nout(const Visit *n)
{
	size_t k = n->node->nout;
	while (k > 0 && n->node->out[k - 1][0] == 0)
		k--;
	return (int)k;
}

bool node_used(const Visit *n, int k)
{
	if (k >= node_nout(n))
		return false;
	return names_find(n->frame->read, n->node->out[k]) >= 0;
}

Item *node_item(Visit *n, int k)
{
	const char *name = k < node_nin(n) ? n->node->in[k] : "";
	if (name[0] == 0)
		return NULL;
	n->input_seen[k] = 1;
	Item *it = import_lookup(n->im, n->frame, name);
	if (it == NULL || it->kind != ITEM_REFUSED)
		return it;
	import_refuse(n->im, it->refused->refusal, "input '%s' of %s %s", it->name, n->name, it->refused->refused);
	return NULL;
}

const char *item_kind_name(ItemKind kind)
{
	return kind == ITEM_FLOAT8 ? "of 8-bit floats, which only casts and quantisation read" :
		   kind == ITEM_SEQUENCE ? "a sequence" : kind == ITEM_NONE ? "an empty optional" :
		   kind == ITEM_OPEN ? "a weight whose data and shape no file gives" :
		   kind == ITEM_REFUSED ? "an input that is no tensor of numbers" : "a tensor";
}

/* To go on with after a refusal. */
static Item *scalar_item(Visit *n)
{
	Item *it = arena_new_of(n->im->arena, Item);
	*it = (Item){ .name = "", .type = F32, .data = "\0\0\0", .value = DAG_NONE };
	return it;
}

/* Its shape is bounded, so that rows may multiply dimensions. */
static Item *find_item(Visit *n, int k)
{
	Item *it = node_item(n, k);
	char text[160];
	if (it != NULL && it->kind == ITEM_TENSOR && !shape_is_bounded(it->shape)) {
		node_fail(
			n, ERR_MEMORY, "its input %d has the shape %s, which is too large", k + 1, shape_str(it->shape, text));
		return scalar_item(n);
	}
	if (it == NULL || it->kind == ITEM_TENSOR)
		return it;
	node_fail(n, ERR_TYPE, "its input %d is %s, but it must be a tensor of numbers", k + 1, item_kind_name(it->kind));
	return NULL;
}

const Item *node_in(Visit *n, int k)
{
	return find_item(n, k);
}

static Item *need(Visit *n, int k)
{
	Item *it = find_item(n, k);
	if (it != NULL)
		return it;
	node_fail(n, ERR_INPUT, "its input %d is missing", k + 1);
	return scalar_item(n);
}

const Item *node_need(Visit *n, int k)
{
	return need(n, k);
}

int node_value(Visit *n, int k)
{
	Item *it = find_item(n, k);
	return it != NULL ? node_item_value(n, it) : DAG_NONE;
}

int node_item_value(Visit *n, Item *it)
{
	if (!node_ok(n))
		return DAG_NONE;
	if (it->value == DAG_NONE)
		it->value = dag_add_const(n->im->dag, it->name, it->type, it->shape, it->data);
	return it->value;
}

/* A walk backwards from a value: it meets each value behind it once. */
typedef struct Back {
	Import *im;
	VEC(int) stack;
} Back;

static void back_to(Back *b, int value)
{
	Import *im = b->im;
	while (im->seen.n < im->dag->value.n)
		vec_push(im->arena, &im->seen, 0);
	if (value == DAG_NONE || im->seen.at[value] == im->search)
		return;
	im->seen.at[value] = im->search;
	vec_push(im->arena, &b->stack, value);
}

static Back back_from(Import *im, int value)
{
	Back b = { .im = im };
	im->search++;
	back_to(&b, value);
	return b;
}

/* The next value, its call's inputs noted; NULL at the end. */
static const Value *back_next(Back *b)
{
	if (b->stack.n == 0)
		return NULL;
	const Dag *d = b->im->dag;
	const Value *v = &d->value.at[b->stack.at[--b->stack.n]];
	const OpCall *c = v->kind == VALUE_CALL && v->data == NULL ? &d->call.at[v->call] : NULL;
	for (int i = 0; c != NULL && i < c->nin; i++)
		back_to(b, c->in[i]);
	return v;
}

/* True if a value takes little enough work to be computed while importing. */
static bool is_cheap(Import *im, int value)
{
	const Dag *d = im->dag;
	double work = 0;
	const Value *v;
	for (Back b = back_from(im, value); (v = back_next(&b)) != NULL;) {
		int64_t many = shape_elements(v->shape);
		work += (double)many;
		if (v->kind == VALUE_CALL && v->data == NULL)
			work += op_flops(d, &d->call.at[v->call]);
		if (v->kind == VALUE_INPUT || many < 0 || work > MOST_WORK)
			return false;
	}
	return true;
}

/* The first input that a value depends on, if all are numbers or lists of integers, as shapes are; NULL: none. */
static const char *list_behind(Import *im, int value)
{
	const char *first = NULL;
	const Value *v;
	for (Back b = back_from(im, value); (v = back_next(&b)) != NULL;) {
		if (v->kind != VALUE_INPUT)
			continue;
		if (v->shape.rank > 1 || (v->shape.rank == 1 && !dtype_is_int(v->type)))
			return NULL;
		first = v->name;
	}
	return first;
}

bool node_item_known(Visit *n, Item *it)
{
	if (it->data != NULL || !node_ok(n))
		return it->data != NULL;
	int64_t many = shape_elements(it->shape);
	if (!it->input && many >= 0 && many <= MOST_KNOWN && is_cheap(n->im, it->value)) {
		it->data = graph_const_value(n->im->dag, it->value, n->im->eval, &n->im->err);
		if (!node_ok(n))
			refused(n);
	}
	return it->data != NULL;
}

/* The way out, where what decides is data of each run. */
#define ALWAYS " if it is the same in each run, else end the model before this node"

bool node_know(Visit *n, Item *it, const char *what)
{
	if (node_item_known(n, it) || !node_ok(n))
		return node_ok(n);
	const char *list = it->input || it->value == DAG_NONE ? NULL : list_behind(n->im, it->value);
	if (it->input) {
		n->im->wanted = it->name;
		node_fail(n, ERR_INPUT, "%s must be known when the model is compiled: bind '%s' to a constant" ALWAYS, what,
			it->name);
	} else if (list != NULL) {
		n->im->wanted = list;
		node_fail(n, ERR_INPUT,
			"%s must be known when the model is compiled, but depends on '%s': bind '%s' to a constant" ALWAYS, what,
			list, list);
	} else {
		node_fail(n, ERR_UNSUPPORTED,
			"%s must be known when the model is compiled, but depends on the model's inputs: end the model before "
			"this node",
			what);
	}
	return false;
}

bool node_is_known(Visit *n, int k)
{
	Item *it = find_item(n, k);
	return it != NULL && node_item_known(n, it);
}

const Item *node_known(Visit *n, int k)
{
	Item *it = need(n, k);
	if (node_ok(n))
		node_know(n, it, arena_printf(n->im->arena, "its input '%s'", it->name));
	return it;
}

void node_check_range(Visit *n, int k, int64_t least, int64_t most)
{
	const Item *it = node_in(n, k);
	if (!node_ok(n) || it == NULL || it->data == NULL || !dtype_is_int(it->type))
		return;
	for (int64_t i = 0; i < shape_elements(it->shape); i++) {
		int64_t at = element_get_int(it->type, it->data, i);
		if (at < least || at > most) {
			node_fail(n, ERR_INPUT, "its input %d holds %lld, which is not between %lld and %lld", k + 1, (long long)at,
				(long long)least, (long long)most);
			return;
		}
	}
}

const int64_t *node_ints(Visit *n, int k, int *count)
{
	*count = -1;
	if (node_in(n, k) == NULL)
		return NULL;
	const Item *it = node_known(n, k);
	if (!node_ok(n))
		return NULL;
	int64_t many = shape_elements(it->shape);
	if (!dtype_is_int(it->type) || it->shape.rank > 1 || many > MOST_KNOWN) {
		node_fail(n, ERR_TYPE, "its input '%s' must be a list of integers", it->name);
		return NULL;
	}
	int64_t *v = arena_array(n->im->arena, int64_t, many + 1);
	for (int64_t i = 0; i < many; i++)
		v[i] = element_get_int(it->type, it->data, i);
	*count = (int)many;
	return v;
}

double import_number(DType type, const void *data)
{
	char s[32];
	double v = element_get(type, data, 0);
	if (!dtype_eq(type, F32))
		return v;
	text_float(s, sizeof s, (float)v);
	return strtod(s, NULL);
}

static const int64_t too_large = (int64_t)1 << 62;

int64_t size_product(int64_t a, int64_t b)
{
	int64_t n; /* a size that was refused may be negative */
	return __builtin_mul_overflow(a, b, &n) || n > too_large ? too_large : n;
}

int64_t shape_product(const Shape *s, int lo, int hi)
{
	int64_t n = 1;
	for (int k = lo; k < hi && n < too_large; k++)
		n = size_product(n, s->dim[k]);
	return n;
}

int node_axis(Visit *n, int64_t axis, int limit)
{
	if (axis < -(int64_t)limit || axis >= limit) {
		if (limit == 0)
			node_fail(n, ERR_TYPE, "axis %lld is none of a scalar", (long long)axis);
		else
			node_fail(n, ERR_TYPE, "axis %lld is outside of -%d..%d", (long long)axis, limit, limit - 1);
		return 0;
	}
	return (int)(axis < 0 ? axis + limit : axis);
}

/*
 * The name of a value inside a node: the node's result and the operator. It must not be a name of the graph.
 */
static const char *inner_name(Visit *n, const char *what)
{
	const char *out = n->node->nout > 0 ? n->node->out[0] : "";
	const char *name = arena_printf(n->im->arena, "%s%s.%s", n->frame->prefix, out, what);
	while (names_taken(n->im->own, name))
		name = arena_printf(n->im->arena, "%s_", name);
	return name;
}

int node_call(Visit *n, int op, const int *in, int nin, const Attr *attr, int nattr)
{
	if (!node_ok(n))
		return DAG_NONE;
	int call = dag_add_call(n->im->dag, op, inner_name(n, op_row(op)->name), in, nin, attr, nattr, &n->im->err);
	if (call < 0) {
		refused(n);
		return DAG_NONE;
	}
	return n->im->dag->call.at[call].out[0];
}

int node_call1(Visit *n, int op, int x)
{
	return node_call(n, op, &x, 1, NULL, 0);
}

int node_call2(Visit *n, int op, int a, int b)
{
	int in[] = { a, b };
	return node_call(n, op, in, 2, NULL, 0);
}

int node_where(Visit *n, int cond, int a, int b)
{
	int in[] = { cond, a, b };
	return node_call(n, OP_where, in, 3, NULL, 0);
}

int node_count(Visit *n, int64_t count, int axis, int rank)
{
	Shape s = { .rank = rank };
	if (count > NODE_COUNTED)
		node_fail(n, ERR_UNSUPPORTED, "%lld numbers are too many to be counted", (long long)count);
	if (!node_ok(n))
		return DAG_NONE;
	for (int k = 0; k < rank; k++)
		s.dim[k] = k == axis ? count : 1;
	int64_t *at = arena_array(n->im->arena, int64_t, count + 1);
	for (int64_t i = 0; i < count; i++)
		at[i] = i;
	return node_const(n, I64, s, at);
}

const Value *node_val(Visit *n, int value)
{
	static const Value none = { .name = "", .type = { DT_FLOAT, 32, 1 } };
	return value == DAG_NONE ? &none : &n->im->dag->value.at[value];
}

int node_reshape(Visit *n, int x, Shape shape)
{
	if (!node_ok(n) || shape_eq(node_val(n, x)->shape, shape))
		return x;
	Attr attr = attr_ints("shape", shape.dim, shape.rank);
	return node_call(n, OP_reshape, &x, 1, &attr, 1);
}

int node_cast(Visit *n, int x, DType type)
{
	if (!node_ok(n) || dtype_eq(node_val(n, x)->type, type))
		return x;
	char name[DTYPE_TEXT];
	Attr attr = attr_text("to", dtype_print(type, name));
	return node_call(n, OP_cast, &x, 1, &attr, 1);
}

int node_const(Visit *n, DType type, Shape shape, const void *data)
{
	return node_ok(n) ? dag_add_const(n->im->dag, inner_name(n, "const"), type, shape, data) : DAG_NONE;
}

int node_weight(Visit *n, const char *what, DType type, Shape shape, const void *data)
{
	return node_ok(n) ? dag_add_const(n->im->dag, inner_name(n, what), type, shape, data) : DAG_NONE;
}

int node_number(Visit *n, DType type, double v)
{
	if (!node_ok(n))
		return DAG_NONE;
	void *data = arena_alloc(n->im->arena, 8);
	element_set(type, data, 0, v);
	return node_const(n, type, shape_of(0, NULL), data);
}

int node_second(Visit *n)
{
	const Item *a = node_need(n, 0), *b = node_need(n, 1);
	int y = node_value(n, 1);
	bool wide = node_attr_flag(n, "broadcast", false), placed = node_has(n, "axis");
	int64_t axis = node_attr_int(n, "axis", 0);
	if (!wide && node_ok(n) && !shape_eq(a->shape, b->shape))
		node_fail(n, ERR_TYPE, "its inputs have different shapes, and its attribute broadcast is not set");
	if (!wide || !placed || b->shape.rank == 0)
		return y;
	int at = node_axis(n, axis, a->shape.rank);
	if (at + b->shape.rank > a->shape.rank)
		node_fail(n, ERR_TYPE, "its second input has too many dimensions for axis %d of the first one", at);
	if (!node_ok(n))
		return y;
	Shape s = b->shape;
	s.rank = a->shape.rank - at;
	for (int k = b->shape.rank; k < s.rank; k++)
		s.dim[k] = 1;
	return node_reshape(n, y, s);
}

/* Binds output k of the node to an Item; the walk has made sure that the name is new. */
static void bind_output(Visit *n, int k, Item *it)
{
	if (!node_ok(n) || k >= node_nout(n))
		return;
	const char *name = n->node->out[k];
	if (name[0] == 0)
		return;
	vec_push(n->im->arena, &n->im->item, it);
	names_bind(n->frame->names, name, (int)n->im->item.n - 1);
}

/* In a function the result gets the call's name before it. */
static const char *output_name(Visit *n, int k)
{
	const char *name = k < node_nout(n) ? n->node->out[k] : "";
	if (n->frame->prefix[0] == 0)
		return name;
	name = arena_printf(n->im->arena, "%s%s", n->frame->prefix, name);
	while (names_taken(n->im->own, name))
		name = arena_printf(n->im->arena, "%s_", name);
	return name;
}

void node_set(Visit *n, int k, int value)
{
	if (!node_ok(n) || k >= node_nout(n))
		return;
	const Value *v = node_val(n, value);
	Item *it = arena_new_of(n->im->arena, Item);
	*it = (Item){ .name = output_name(n, k), .type = v->type, .shape = v->shape, .data = v->data, .value = value };
	/* A node without effect gives its input, which has its name already. */
	if (v->kind == VALUE_CALL && n->node->out[k][0] != 0 && !names_taken(n->im->own, v->name))
		dag_rename(n->im->dag, value, it->name);
	bind_output(n, k, it);
}

void node_set_alias(Visit *n, int k, const Item *as)
{
	if (node_ok(n))
		bind_output(n, k, (Item *)(uintptr_t)as);
}

void node_set_known(Visit *n, int k, DType type, Shape shape, const void *data)
{
	Item *it = arena_new_of(n->im->arena, Item);
	*it = (Item){ .name = output_name(n, k), .type = type, .shape = shape, .data = data, .value = DAG_NONE };
	bind_output(n, k, it);
}

Item *node_new_item(Visit *n, int value)
{
	const Value *v = node_val(n, value);
	Item *it = arena_new_of(n->im->arena, Item);
	*it = (Item){ .name = v->name, .type = v->type, .shape = v->shape, .data = v->data, .value = value };
	return it;
}
