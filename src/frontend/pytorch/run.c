/*
 * Runs TorchScript code. What is known (numbers, lists, modules) is computed; a branch is taken as its condition says,
 * and a loop runs as often as it does, so nothing of them is left in the Dag. Operators on tensors become calls.
 */
#include "frontend/pytorch/script.h"

#include "op/element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 1 << 22, MOST_DEPTH = 1000, MOST_ARGS = 512 };

/* One call of a function. */
typedef struct Locals {
	Script *s;
	Visit *v;
	const ScriptItem *f;
	const char *path; /* of the module, in names of values */
	Names *names;
	TorchList values;
	bool returned;
	TorchValue result;
} Locals;

static bool refuse(Locals *c, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);

static bool refuse(Locals *c, int line, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return import_refuse(c->v->im, ERR_UNSUPPORTED, "code %.120s:%d: %s", c->f->module, line, text);
}

/* Each statement, call and expression counts: a long list in a loop must not ask for all memory there is. */
static bool count_step(Locals *c, int line)
{
	return ++c->s->steps <= MOST_STEPS ||
	       refuse(c, line, "the program runs more than %d statements and expressions", MOST_STEPS);
}

static bool eval(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out);

/* ---- names and attributes */

static void assign(Locals *c, const char *name, TorchValue x)
{
	int k = names_find(c->names, name);
	if (k >= 0) {
		c->values.at[k] = x;
		return;
	}
	torch_push(c->s->program->arena, &c->values, x);
	names_bind(c->names, name, (int)c->values.n - 1);
}

/* "a.b.c" of a chain of attributes that begins with that name; NULL: it is none. */
static const char *dotted(Locals *c, const ScriptExpr *e, const char *first)
{
	if (e->kind == SCRIPT_NAME)
		return strcmp(e->text, first) == 0 && names_find(c->names, first) < 0 ? first : NULL;
	if (e->kind != SCRIPT_ATTR)
		return NULL;
	const char *before = dotted(c, e->part[0], first);
	return before != NULL ? arena_printf(c->s->program->arena, "%s.%s", before, e->text) : NULL;
}

static const ScriptItem *class_of(Locals *c, const TorchObject *o)
{
	return script_find(c->s, o->class, &c->v->im->err);
}

static bool attribute(Locals *c, int line, TorchValue of, const char *name, TorchValue *out)
{
	Arena *a = c->s->program->arena;
	if (of.kind != TORCH_OBJECT)
		return refuse(c, line, "a %s has no attribute '%.60s'", torch_kind_name(of.kind), name);
	TorchValue *x = torch_find(of.object->state, name);
	if (x != NULL) {
		bool object = x->kind == TORCH_OBJECT && x->object->path[0] == 0;
		bool weight = x->kind == TORCH_TENSOR && x->tensor->saved != NULL && x->tensor->name == NULL;
		if (object || weight) {
			const char *before = of.object->path;
			const char *path = arena_printf(a, "%s%s%.1000s", before, before[0] != 0 ? "." : "", name);
			*(object ? &x->object->path : &x->tensor->name) = path;
		}
		*out = *x;
		return true;
	}
	const ScriptItem *class = class_of(c, of.object), *f = script_method(class, name);
	if (f != NULL) {
		*out = (TorchValue){ .kind = TORCH_METHOD, .object = of.object, .code = f };
		return true;
	}
	for (size_t k = 0; class != NULL && k < class->narg; k++)
		if (strcmp(class->arg[k].name, name) == 0 && class->arg[k].otherwise != NULL)
			return eval(c, class->arg[k].otherwise, "", out);
	return refuse(c, line, "an object of %.100s has no attribute '%.60s'", of.object->class, name);
}

static bool constant(Locals *c, const ScriptExpr *e, TorchValue *out)
{
	int64_t k;
	if (e->text[0] != 'c' || !text_to_int(e->text + 1, 0, (int64_t)c->s->constants.n - 1, &k))
		return refuse(c, e->line, "it has no constant '%.60s'", e->text);
	*out = c->s->constants.at[k];
	if (out->kind == TORCH_TENSOR && out->tensor->saved != NULL)
		out->tensor->number = out->tensor->saved->shape.rank == 0;
	return true;
}

static bool name_of(Locals *c, const ScriptExpr *e, TorchValue *out)
{
	int k = names_find(c->names, e->text);
	if (k >= 0) {
		*out = c->values.at[k];
		return true;
	}
	if (strcmp(e->text, "inf") == 0 || strcmp(e->text, "nan") == 0) {
		*out = torch_float(e->text[0] == 'i' ? (double)INFINITY : (double)NAN);
		return true;
	}
	return refuse(c, e->line, "'%.60s' has no value", e->text);
}

/* An attribute: of the code, of the constants, or of an object. */
static bool attr(Locals *c, const ScriptExpr *e, TorchValue *out)
{
	if (e->part[0]->kind == SCRIPT_NAME && strcmp(e->part[0]->text, "CONSTANTS") == 0)
		return constant(c, e, out);
	const char *name = dotted(c, e, "__torch__");
	if (name != NULL) {
		const ScriptItem *f = script_find(c->s, name, &c->v->im->err);
		if (f == NULL)
			return refuse(c, e->line, "it has no code of %.120s", name);
		*out = (TorchValue){ .kind = TORCH_CODE, .text = name, .code = f };
		return true;
	}
	TorchValue of;
	return eval(c, e->part[0], "", &of) && attribute(c, e->line, of, e->text, out);
}

/* ---- calls */

static bool operator(Locals *c, int line, const char *op, const AtenIn *in, const char *as, TorchValue *out)
{
	Arena *a = c->s->program->arena;
	const char *where = arena_printf(a, "code %.120s:%d", c->f->module, line);
	const char *named = arena_printf(a, "%s%s%s", c->path, c->path[0] != 0 ? "." : "", as[0] != 0 ? as : "value");
	return program_call(c->s->program, c->v, where, named, op, in, out);
}

/* Whether a value is of a type that the code names; *known: it is one that this function knows. */
static bool is_instance(TorchValue x, const ScriptExpr *type, bool *known)
{
	static const struct {
		const char *name;
		TorchKind kind;
	} kinds[] = { { "Tensor", TORCH_TENSOR }, { "int", TORCH_INT }, { "float", TORCH_FLOAT }, { "bool", TORCH_BOOL },
		{ "str", TORCH_TEXT }, { "List", TORCH_LIST }, { "Tuple", TORCH_TUPLE }, { "Dict", TORCH_DICT },
		{ "NoneType", TORCH_NONE } };
	if (type->kind == SCRIPT_TUPLE || type->kind == SCRIPT_LIST) {
		for (size_t k = 0; k < type->n; k++)
			if (is_instance(x, type->part[k], known))
				return true;
		return false;
	}
	const ScriptExpr *e = type->kind == SCRIPT_INDEX ? type->part[0] : type;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (strcmp(e->text, kinds[k].name) == 0) {
			if (x.kind != kinds[k].kind)
				return false;
			if (type->kind == SCRIPT_INDEX && x.kind == TORCH_LIST && x.list->n > 0 && type->n > 1)
				return is_instance(x.list->at[0], type->part[1], known);
			return true;
		}
	*known = false;
	return false;
}

/* Functions of the language itself; *done: it is one. */
static bool language(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out, bool *done)
{
	const char *name = e->part[0]->kind == SCRIPT_NAME ? e->part[0]->text : "";
	bool known = true;
	*done = true;
	if (e->n == 3 && (strcmp(name, "annotate") == 0 || strcmp(name, "unchecked_cast") == 0))
		return eval(c, e->part[2], as, out);
	if (strcmp(name, "uninitialized") == 0) {
		*out = torch_none();
		return true;
	}
	if (e->n == 3 && strcmp(name, "getattr") == 0 && e->part[2]->kind == SCRIPT_CONST &&
		e->part[2]->value.kind == TORCH_TEXT) {
		TorchValue of;
		return eval(c, e->part[1], "", &of) && attribute(c, e->line, of, e->part[2]->value.text, out);
	}
	if (e->n == 3 && strcmp(name, "isinstance") == 0) {
		TorchValue x;
		if (!eval(c, e->part[1], "", &x))
			return false;
		*out = torch_bool(is_instance(x, e->part[2], &known));
		return known || refuse(c, e->line, "it asks for a type that dlc does not know");
	}
	*done = false;
	return true;
}

/* A new object; a named tuple takes its values, a class its __init__. */
static bool construct(Locals *c, int line, TorchValue of, const AtenIn *in, TorchValue *out)
{
	Arena *a = c->s->program->arena;
	TorchObject *o = arena_new_of(a, TorchObject);
	*o = (TorchObject){ .class = of.text, .path = c->path, .state = torch_list(a, TORCH_DICT).list };
	*out = (TorchValue){ .kind = TORCH_OBJECT, .object = o };
	if (!of.code->tuple && in->n > 0)
		return refuse(c, line, "it calls the class %.100s", of.text);
	for (size_t k = 0; k < in->n && k < of.code->narg; k++) {
		torch_push(a, o->state, torch_text(of.code->arg[k].name));
		torch_push(a, o->state, in->at[k]);
	}
	return true;
}

/* The names of the functions of the language that are operators: int(x) is aten::Int. */
static const char *operator_name(Locals *c, const ScriptExpr *fn)
{
	static const char *const own[][2] = { { "int", "Int" }, { "float", "Float" }, { "bool", "Bool" }, { "str", "str" },
		{ "range", "range" }, { "len", "len" }, { "list", "list" }, { "print", "prim::Print" } };
	for (size_t k = 0; fn->kind == SCRIPT_NAME && k < sizeof own / sizeof *own; k++)
		if (strcmp(fn->text, own[k][0]) == 0 && names_find(c->names, fn->text) < 0)
			return own[k][1];
	const char *name = dotted(c, fn, "torch");
	if (name != NULL)
		return name + 6;
	name = dotted(c, fn, "ops");
	const char *dot = name != NULL && strlen(name) > 4 ? strchr(name + 4, '.') : NULL;
	if (dot == NULL)
		return NULL;
	if (strncmp(name, "ops.aten.", 9) == 0)
		return name + 9;
	return arena_printf(c->s->program->arena, "%.*s::%s", (int)(dot - name - 4), name + 4, dot + 1);
}

static bool call(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out)
{
	bool done;
	if (!language(c, e, as, out, &done) || done)
		return done && node_ok(c->v);
	if (e->n > MOST_ARGS)
		return refuse(c, e->line, "a call has more than %d arguments", MOST_ARGS);
	Arena *a = c->s->program->arena;
	TorchValue *at = arena_array(a, TorchValue, e->n + 1), fn;
	const char **name = arena_array(a, const char *, e->n + 1), *op = operator_name(c, e->part[0]);
	size_t first = 1; /* room for self */
	if (op == NULL && !eval(c, e->part[0], "", &fn))
		return false;
	for (size_t k = 1; k < e->n; k++) {
		if (!eval(c, e->part[k], as, &at[first]))
			return false;
		name[first++] = e->key[k];
	}
	AtenIn in = { at + 1, name + 1, first - 1 };
	if (op != NULL)
		return operator(c, e->line, op, &in, as, out);
	if (fn.kind == TORCH_METHOD) {
		at[0] = (TorchValue){ .kind = TORCH_OBJECT, .object = fn.object };
		in = (AtenIn){ at, name, first };
		return script_call(c->s, c->v, fn.code, fn.object->path, &in, out);
	}
	if (fn.kind != TORCH_CODE)
		return refuse(c, e->line, "it calls a %s", torch_kind_name(fn.kind));
	if (fn.code->class)
		return construct(c, e->line, fn, &in, out);
	return script_call(c->s, c->v, fn.code, c->path, &in, out);
}

/* ---- other expressions */

static bool index_of(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out)
{
	TorchValue in[2];
	static const char *const names[2] = { NULL, NULL };
	if (e->n != 2)
		return refuse(c, e->line, "it has more than one index");
	if (!eval(c, e->part[0], "", &in[0]) || !eval(c, e->part[1], "", &in[1]))
		return false;
	if (in[0].kind == TORCH_OBJECT && in[1].kind == TORCH_INT) { /* of a named tuple */
		int64_t k = in[1].i;
		if (k < 0 || (size_t)k >= in[0].object->state->n / 2)
			return refuse(c, e->line, "element %lld is outside of a tuple", (long long)k);
		*out = in[0].object->state->at[2 * k + 1];
		return true;
	}
	return operator(c, e->line, "__getitem__", &(AtenIn){ in, names, 2 }, as, out);
}

static bool listed(Locals *c, const ScriptExpr *e, TorchValue *out)
{
	*out = torch_list(c->s->program->arena, e->kind == SCRIPT_LIST   ? TORCH_LIST
											: e->kind == SCRIPT_DICT ? TORCH_DICT
																	 : TORCH_TUPLE);
	for (size_t k = 0; k < e->n; k++) {
		TorchValue x;
		if (!eval(c, e->part[k], "", &x))
			return false;
		torch_push(c->s->program->arena, out->list, x);
	}
	return true;
}

/* What a condition is: known, or a tensor whose element is. */
static bool truth(Locals *c, const ScriptExpr *e, bool *out)
{
	TorchValue x;
	if (!eval(c, e, "", &x))
		return false;
	if (torch_is_number(x)) {
		*out = torch_number(x) != 0;
		return true;
	}
	if (x.kind != TORCH_TENSOR)
		return refuse(c, e->line, "a condition is a %s", torch_kind_name(x.kind));
	Visit *v = arena_new_of(c->s->program->arena, Visit);
	*v = *c->v;
	v->name = arena_printf(c->s->program->arena, "code %.120s:%d", c->f->module, e->line);
	Item *it = torch_item(v, x.tensor);
	if (!node_know(v, it, "its condition"))
		return false;
	*out = shape_elements(it->shape) > 0 && element_get(it->type, it->data, 0) != 0;
	return true;
}

static bool eval_kind(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out)
{
	bool yes;
	switch (e->kind) {
	case SCRIPT_CONST: *out = e->value; return true;
	case SCRIPT_NAME: return name_of(c, e, out);
	case SCRIPT_ATTR: return attr(c, e, out);
	case SCRIPT_CALL: return call(c, e, as, out);
	case SCRIPT_INDEX: return index_of(c, e, as, out);
	case SCRIPT_NEG:
		if (!eval(c, e->part[0], as, out))
			return false;
		if (out->kind == TORCH_FLOAT)
			out->f = -out->f;
		else if (out->kind == TORCH_INT && out->i != INT64_MIN)
			out->i = -out->i;
		else
			return refuse(c, e->line, "it negates a %s", torch_kind_name(out->kind));
		return true;
	case SCRIPT_CHOICE: return truth(c, e->part[1], &yes) && eval(c, e->part[yes ? 0 : 2], as, out);
	default: return listed(c, e, out);
	}
}

static bool eval(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out)
{
	*out = torch_none();
	if (!count_step(c, e->line))
		return false;
	if (++c->s->depth > MOST_DEPTH)
		return refuse(c, e->line, "calls and expressions are nested more than %d deep", MOST_DEPTH);
	bool ok = eval_kind(c, e, as, out);
	c->s->depth--;
	return ok && node_ok(c->v);
}

/* ---- statements */

static bool run_block(Locals *c, const ScriptBlock *b);

static bool set_attribute(Locals *c, const ScriptExpr *target, TorchValue x)
{
	TorchValue of;
	if (!eval(c, target->part[0], "", &of))
		return false;
	if (of.kind != TORCH_OBJECT)
		return refuse(c, target->line, "it sets an attribute of a %s", torch_kind_name(of.kind));
	TorchValue *old = torch_find(of.object->state, target->text);
	if (old != NULL) {
		*old = x;
		return true;
	}
	torch_push(c->s->program->arena, of.object->state, torch_text(target->text));
	torch_push(c->s->program->arena, of.object->state, x);
	return true;
}

static bool store(Locals *c, const ScriptExpr *target, TorchValue x)
{
	if (target->kind == SCRIPT_NAME) {
		assign(c, target->text, x);
		return true;
	}
	if (target->kind == SCRIPT_ATTR)
		return set_attribute(c, target, x);
	return refuse(c, target->line, "it assigns to something else than a name or an attribute");
}

static bool run_assign(Locals *c, const ScriptStmt *s)
{
	const ScriptExpr *t = s->target;
	bool several = t->kind == SCRIPT_TUPLE;
	TorchValue x;
	if (!eval(c, s->expr, several ? (t->n > 0 ? t->part[0]->text : "") : t->text, &x))
		return false;
	if (!several)
		return store(c, t, x);
	TorchList list = { 0 };
	if (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE)
		list = *x.list;
	else if (x.kind == TORCH_OBJECT)
		for (size_t k = 1; k < x.object->state->n; k += 2)
			torch_push(c->s->program->arena, &list, x.object->state->at[k]);
	else
		return refuse(c, s->line, "it takes apart a %s", torch_kind_name(x.kind));
	if (list.n != t->n)
		return refuse(c, s->line, "it takes apart %zu values into %zu", list.n, t->n);
	for (size_t k = 0; k < t->n; k++)
		if (!store(c, t->part[k], list.at[k]))
			return false;
	return true;
}

static bool run_for(Locals *c, const ScriptStmt *s)
{
	TorchValue x;
	if (!eval(c, s->expr, "", &x))
		return false;
	if (x.kind != TORCH_LIST && x.kind != TORCH_TUPLE && x.kind != TORCH_DICT)
		return refuse(c, s->line, "it loops over a %s", torch_kind_name(x.kind));
	for (size_t k = 0; k < x.list->n && !c->returned; k += x.kind == TORCH_DICT ? 2 : 1)
		if (!store(c, s->target, x.list->at[k]) || !run_block(c, &s->body))
			return false;
	return true;
}

static bool run_statement(Locals *c, const ScriptStmt *s)
{
	TorchValue x;
	bool yes = false;
	if (!count_step(c, s->line))
		return false;
	switch (s->kind) {
	case SCRIPT_DO_ASSIGN: return run_assign(c, s);
	case SCRIPT_DO_EXPR: return eval(c, s->expr, "", &x);
	case SCRIPT_DO_IF: return truth(c, s->expr, &yes) && run_block(c, yes ? &s->body : &s->other);
	case SCRIPT_DO_FOR: return run_for(c, s);
	case SCRIPT_DO_WHILE:
		while (!c->returned && truth(c, s->expr, &yes) && yes)
			if (!run_block(c, &s->body))
				return false;
		return node_ok(c->v);
	case SCRIPT_DO_RETURN:
		if (s->expr != NULL && !eval(c, s->expr, "output", &c->result))
			return false;
		c->returned = true;
		return true;
	default: return true;
	}
}

static bool run_block(Locals *c, const ScriptBlock *b)
{
	if (++c->s->depth > MOST_DEPTH)
		return refuse(c, c->f->line, "calls and blocks are nested more than %d deep", MOST_DEPTH);
	for (size_t k = 0; k < b->n && !c->returned; k++)
		if (!run_statement(c, &b->at[k]))
			return false;
	c->s->depth--;
	return true;
}

bool script_call(Script *s, Visit *v, const ScriptItem *f, const char *path, const AtenIn *in, TorchValue *out)
{
	Locals c = { .s = s, .v = v, .f = f, .path = path, .names = names_new(s->program->arena), .result = torch_none() };
	size_t place = 0;
	*out = torch_none();
	if (!count_step(&c, f->line))
		return false;
	for (size_t k = 0; k < in->n; k++) {
		const char *name = in->name[k];
		if (name == NULL && place < f->narg)
			name = f->arg[place++].name;
		if (name == NULL || names_find(c.names, name) >= 0)
			return refuse(&c, f->line, "%.60s is called with too many arguments", f->name);
		assign(&c, name, in->at[k]);
	}
	for (size_t k = 0; k < f->narg; k++) {
		TorchValue x;
		if (names_find(c.names, f->arg[k].name) >= 0)
			continue;
		if (f->arg[k].otherwise == NULL)
			return refuse(&c, f->line, "%.60s is called without its argument '%.60s'", f->name, f->arg[k].name);
		if (!eval(&c, f->arg[k].otherwise, "", &x))
			return false;
		assign(&c, f->arg[k].name, x);
	}
	if (!run_block(&c, &f->body))
		return false;
	*out = c.result;
	return node_ok(v);
}
