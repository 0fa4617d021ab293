/*
 * Evaluates the expressions of TorchScript code. What is known (numbers, lists, modules) is computed; operators on
 * tensors become calls.
 */
#include "frontend/pytorch/choice.h"
#include "frontend/pytorch/run.h"

#include "op/element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 1 << 22, MOST_ARGS = 512 };

bool run_refuse(Locals *c, int line, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return import_refuse(c->v->im, ERR_UNSUPPORTED, "code %.120s:%d: %s", c->f->module, line, text);
}

bool run_count(Locals *c, int line)
{
	return ++c->s->steps <= MOST_STEPS ||
	       run_refuse(c, line, "the program runs more than %d statements and expressions", MOST_STEPS);
}

/* ---- names and attributes */

void run_set(Locals *c, const char *name, TorchValue x)
{
	int k = names_find(c->names, name);
	if (k >= 0) {
		c->values.at[k] = x;
		return;
	}
	torch_push(c->s->program->arena, &c->values, x);
	vec_push(c->s->program->arena, &c->name, name);
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

/* An object of a file whose class says how it takes its state; what the file holds was there before all sides. */
static bool set_state(Locals *c, TorchObject *o)
{
	Program *p = c->s->program;
	const ScriptItem *f = script_method(class_of(c, o), "__setstate__");
	struct Sides *sides = p->sides;
	TorchValue at[2] = { { .kind = TORCH_OBJECT, .object = o }, { .kind = TORCH_TUPLE, .list = o->given } }, none;
	static const char *const names[2] = { NULL, NULL };
	if (f == NULL)
		return true;
	o->given = NULL;
	p->sides = NULL;
	sides_old(at[1]);
	bool ok = script_call(c->s, c->v, f, o->path, &(AtenIn){ at, names, 2 }, &none);
	p->sides = sides;
	return ok;
}

static bool attribute(Locals *c, int line, TorchValue of, const char *name, TorchValue *out)
{
	Arena *a = c->s->program->arena;
	if (of.kind != TORCH_OBJECT)
		return run_refuse(c, line, "a %s has no attribute '%.60s'", torch_kind_name(of.kind), name);
	if (of.object->given != NULL && !set_state(c, of.object))
		return false;
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
		sides_old(*x);
		return true;
	}
	const ScriptItem *class = class_of(c, of.object), *f = script_method(class, name);
	if (f != NULL) {
		*out = (TorchValue){ .kind = TORCH_METHOD, .object = of.object, .code = f };
		return true;
	}
	for (size_t k = 0; class != NULL && k < class->narg; k++)
		if (strcmp(class->arg[k].name, name) == 0 && class->arg[k].otherwise != NULL)
			return run_eval(c, class->arg[k].otherwise, "", out);
	return run_refuse(c, line, "an object of %.100s has no attribute '%.60s'", of.object->class, name);
}

static bool constant(Locals *c, const ScriptExpr *e, TorchValue *out)
{
	int64_t k;
	if (e->text[0] != 'c' || !text_to_int(e->text + 1, 0, (int64_t)c->s->constants.n - 1, &k))
		return run_refuse(c, e->line, "it has no constant '%.60s'", e->text);
	*out = c->s->constants.at[k];
	if (out->kind == TORCH_TENSOR && out->tensor->saved != NULL)
		out->tensor->number = out->tensor->saved->shape.rank == 0;
	sides_old(*out);
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
	return run_refuse(c, e->line, "'%.60s' has no value", e->text);
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
			return run_refuse(c, e->line, "it has no code of %.120s", name);
		*out = (TorchValue){ .kind = TORCH_CODE, .text = name, .code = f };
		return true;
	}
	TorchValue of;
	return run_eval(c, e->part[0], "", &of) && attribute(c, e->line, of, e->text, out);
}

/* ---- calls */

Visit *run_visit(Locals *c, int line, const char *as)
{
	Arena *a = c->s->program->arena;
	const char *where = arena_printf(a, "code %.120s:%d", c->f->module, line);
	const char *named = arena_printf(a, "%s%s%s", c->path, c->path[0] != 0 ? "." : "", as);
	return program_visit(c->s->program, c->v, where, named, "prim::If");
}

static bool operator(Locals *c, int line, const char *op, const AtenIn *in, const char *as, TorchValue *out)
{
	Arena *a = c->s->program->arena;
	const char *where = arena_printf(a, "code %.120s:%d", c->f->module, line);
	const char *named = arena_printf(a, "%s%s%s", c->path, c->path[0] != 0 ? "." : "", as[0] != 0 ? as : "value");
	if (!program_call(c->s->program, c->v, where, named, op, in, out))
		return false;
	sides_born(c->v, *out);
	return true;
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
		return run_eval(c, e->part[2], as, out);
	if (strcmp(name, "uninitialized") == 0) {
		*out = (TorchValue){ .kind = TORCH_LOST };
		return true;
	}
	if (e->n == 3 && strcmp(name, "getattr") == 0 && e->part[2]->kind == SCRIPT_CONST &&
		e->part[2]->value.kind == TORCH_TEXT) {
		TorchValue of;
		return run_eval(c, e->part[1], "", &of) && attribute(c, e->line, of, e->part[2]->value.text, out);
	}
	if (e->n == 3 && strcmp(name, "isinstance") == 0) {
		TorchValue x;
		if (!run_eval(c, e->part[1], "", &x))
			return false;
		*out = torch_bool(is_instance(x, e->part[2], &known));
		return known || run_refuse(c, e->line, "it asks for a type that dlc does not know");
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
	sides_born(c->v, *out);
	if (!of.code->tuple && in->n > 0)
		return run_refuse(c, line, "it calls the class %.100s", of.text);
	for (size_t k = 0; k < in->n && k < of.code->narg; k++) {
		torch_push(a, o->state, torch_text(of.code->arg[k].name));
		torch_push(a, o->state, in->at[k]);
	}
	return true;
}

/* The names of the functions of the language that are operators: int(x) is aten::Int. */
const char *run_operator(Locals *c, const ScriptExpr *fn)
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
		return run_refuse(c, e->line, "a call has more than %d arguments", MOST_ARGS);
	Arena *a = c->s->program->arena;
	TorchValue *at = arena_array(a, TorchValue, e->n + 1), fn;
	const char **name = arena_array(a, const char *, e->n + 1), *op = run_operator(c, e->part[0]);
	size_t first = 1; /* room for self */
	if (op == NULL && !run_eval(c, e->part[0], "", &fn))
		return false;
	for (size_t k = 1; k < e->n; k++) {
		if (!run_eval(c, e->part[k], as, &at[first]))
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
		return run_refuse(c, e->line, "it calls a %s", torch_kind_name(fn.kind));
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
		return run_refuse(c, e->line, "it has more than one index");
	if (!run_eval(c, e->part[0], "", &in[0]) || !run_eval(c, e->part[1], "", &in[1]))
		return false;
	if (in[0].kind == TORCH_OBJECT && in[1].kind == TORCH_INT) { /* of a named tuple */
		int64_t k = in[1].i;
		if (k < 0 || (size_t)k >= in[0].object->state->n / 2)
			return run_refuse(c, e->line, "element %lld is outside of a tuple", (long long)k);
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
		if (!run_eval(c, e->part[k], "", &x))
			return false;
		torch_push(c->s->program->arena, out->list, x);
	}
	sides_born(c->v, *out);
	return true;
}

bool run_truth(Locals *c, const ScriptExpr *e, bool *out, int *when)
{
	TorchValue x;
	if (!run_eval(c, e, "", &x))
		return false;
	if (torch_is_number(x)) {
		*out = torch_number(x) != 0;
		return true;
	}
	if (x.kind != TORCH_TENSOR)
		return run_refuse(c, e->line, "a condition is a %s", torch_kind_name(x.kind));
	Visit *v = run_visit(c, e->line, "condition");
	Item *it = torch_item(v, x.tensor);
	if (when != NULL && node_ok(v) && shape_elements(it->shape) == 1 && !node_item_known(v, it)) {
		int bit = node_reshape(v, torch_value(v, x.tensor), shape_of(0, NULL));
		if (it->type.kind != DT_BOOL)
			bit = node_call1(v, OP_bit_not, node_call2(v, OP_equal, bit, node_number(v, it->type, 0)));
		*when = bit;
		return node_ok(v);
	}
	if (!node_know(v, it, "its condition"))
		return false;
	*out = shape_elements(it->shape) > 0 && element_get(it->type, it->data, 0) != 0;
	return true;
}

/* `a if c else b` */
static bool choice(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out)
{
	bool yes = false;
	int when = DAG_NONE;
	if (!run_truth(c, e->part[1], &yes, &when))
		return false;
	if (when == DAG_NONE)
		return run_eval(c, e->part[yes ? 0 : 2], as, out);
	TorchValue a, b;
	Sides s = { .when = when, .line = e->line };
	Visit *v = run_visit(c, e->line, as[0] != 0 ? as : "value");
	sides_open(v, &s);
	if (!run_eval(c, e->part[0], as, &a))
		return false;
	sides_turn(v, &s);
	if (!run_eval(c, e->part[2], as, &b))
		return false;
	sides_close(v, &s);
	*out = sides_choose(v, &s, a, b);
	sides_born(v, *out);
	return node_ok(v);
}

/* Why a value cannot be read; NULL: it can. */
static const char *lost(TorchValue x)
{
	if (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE || x.kind == TORCH_DICT)
		return x.list->lost;
	return x.kind == TORCH_LOST ? x.text : x.kind == TORCH_OBJECT ? x.object->state->lost : NULL;
}

static bool eval_kind(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out)
{
	switch (e->kind) {
	case SCRIPT_CONST: *out = e->value; return true;
	case SCRIPT_NAME: return name_of(c, e, out);
	case SCRIPT_ATTR: return attr(c, e, out);
	case SCRIPT_CALL: return call(c, e, as, out);
	case SCRIPT_INDEX: return index_of(c, e, as, out);
	case SCRIPT_NEG:
		if (!run_eval(c, e->part[0], as, out))
			return false;
		if (out->kind == TORCH_FLOAT)
			out->f = -out->f;
		else if (out->kind == TORCH_INT && out->i != INT64_MIN)
			out->i = -out->i;
		else
			return run_refuse(c, e->line, "it negates a %s", torch_kind_name(out->kind));
		return true;
	case SCRIPT_CHOICE: return choice(c, e, as, out);
	default: return listed(c, e, out);
	}
}

bool run_eval(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out)
{
	*out = torch_none();
	if (!run_count(c, e->line))
		return false;
	if (++c->s->depth > RUN_MOST_DEPTH)
		return run_refuse(c, e->line, "calls and expressions are nested more than %d deep", RUN_MOST_DEPTH);
	bool ok = eval_kind(c, e, as, out);
	c->s->depth--;
	const char *name = e->kind == SCRIPT_NAME || e->kind == SCRIPT_ATTR ? e->text : as;
	if (ok && lost(*out) != NULL && name[0] == 0)
		return run_refuse(c, e->line, "%s", lost(*out));
	if (ok && lost(*out) != NULL)
		return run_refuse(c, e->line, "it reads '%.60s': %s", name, lost(*out));
	return ok && node_ok(c->v);
}
