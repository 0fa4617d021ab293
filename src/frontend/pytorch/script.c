/*
 * TorchScript files: data.pkl is the module with its weights, code/ has the classes and functions that it needs, each
 * in the file of its module. Files are parsed when something of them is called.
 */
#include "frontend/pytorch/choice.h"
#include "frontend/pytorch/pickle.h"
#include "frontend/pytorch/script.h"

#include <string.h>

/* ---- code */

static ScriptFile *file_of(Script *s, const char *module, Err *err)
{
	Program *p = s->program;
	int known = names_find(s->files, module);
	if (known >= 0)
		return s->file.at[known];
	char *path = arena_printf(p->arena, "code/%.400s.py", module);
	Bytes text;
	for (char *c = path + 5; c + 3 < path + strlen(path); c++)
		*c = *c == '.' ? '/' : *c;
	if (program_entry(p, path) == NULL || !program_read(p, path, &text, err))
		return NULL;
	ScriptFile *f = script_parse(p->arena, module, text, err);
	if (f == NULL)
		return NULL;
	vec_push(p->arena, &s->file, f);
	names_bind(s->files, module, (int)s->file.n - 1);
	return f;
}

const ScriptItem *script_find(Script *s, const char *qualified, Err *err)
{
	const char *dot = strrchr(qualified, '.');
	if (dot == NULL)
		return NULL;
	const ScriptFile *f = file_of(s, arena_printf(s->program->arena, "%.*s", (int)(dot - qualified), qualified), err);
	for (size_t k = 0; f != NULL && k < f->n; k++)
		if (strcmp(f->item[k]->name, dot + 1) == 0)
			return f->item[k];
	return NULL;
}

const ScriptItem *script_method(const ScriptItem *class, const char *name)
{
	for (size_t k = 0; class != NULL && k < class->nmember; k++)
		if (strcmp(class->member[k]->name, name) == 0)
			return class->member[k];
	return NULL;
}

/* The names of the methods, but for those that Python calls itself. */
static const char *methods_of(Arena *a, const ScriptItem *class)
{
	Text names = { .arena = a };
	for (size_t k = 0; k < class->nmember; k++)
		if (strncmp(class->member[k]->name, "__", 2) != 0)
			text_add(&names, "%s%.60s", names.n > 0 ? ", " : "", class->member[k]->name);
	return names.n > 0 ? text_str(&names) : "none";
}

/* ---- inputs: arguments of the method that is run, forward where none is wanted */

/* A tensor of a traced file's example: its shape and type count where none are given. */
static void describe(Program *p, ProgramInput *in, const TorchValue *example)
{
	in->value.type = F32;
	if (example == NULL || example->kind != TORCH_TENSOR || example->tensor->saved == NULL)
		return;
	const TorchSaved *t = example->tensor->saved;
	NodeDim *dim = arena_array(p->arena, NodeDim, t->shape.rank + 1);
	for (int k = 0; k < t->shape.rank; k++)
		dim[k] = (NodeDim){ .size = t->shape.dim[k], .symbol = "" };
	in->value.type = t->type;
	in->value.shaped = true;
	in->value.dim = dim;
	in->value.ndim = (size_t)t->shape.rank;
}

static bool is_type(const ScriptExpr *e, const char *name)
{
	return e != NULL && ((e->kind == SCRIPT_NAME && strcmp(e->text, name) == 0) ||
							(e->kind == SCRIPT_INDEX && is_type(e->part[0], name)));
}

/* The user gives an input of that name. */
static bool is_asked(const Program *p, const char *name)
{
	for (int k = 0; p->args != NULL && k < p->args->nshape; k++)
		if (strcmp(p->args->shape[k].name, name) == 0)
			return true;
	for (int k = 0; p->args != NULL && k < p->args->nbind; k++)
		if (strcmp(p->args->bind[k].name, name) == 0)
			return true;
	return false;
}

static bool is_list(const ScriptExpr *e)
{
	return is_type(e, "List") && e->kind == SCRIPT_INDEX && e->n > 1 && is_type(e->part[1], "Tensor");
}

static bool add_input(
	Program *p, const char *name, const ScriptExpr *type, const TorchValue *example, int depth, Err *err)
{
	bool tuple = is_type(type, "Tuple") && type->kind == SCRIPT_INDEX && depth < 4;
	if (tuple) {
		for (size_t k = 1; k < type->n; k++) {
			const TorchValue *e = example != NULL && example->kind == TORCH_TUPLE && k - 1 < example->list->n
			                          ? &example->list->at[k - 1]
			                          : NULL;
			if (!add_input(p, arena_printf(p->arena, "%s.%zu", name, k - 1), type->part[k], e, depth + 1, err))
				return false;
		}
		return true;
	}
	if (is_list(type) && depth < 4) { /* as many as have a shape */
		const char *part = arena_printf(p->arena, "%s.0", name);
		if (!is_asked(p, part))
			return fail(err, ERR_UNSUPPORTED, "shape",
				"the input '%.60s' is a list of tensors: give a shape for each of its elements, '%.60s.0' on", name,
				name);
		for (size_t k = 0; is_asked(p, part); part = arena_printf(p->arena, "%s.%zu", name, ++k))
			if (!add_input(p, part, type->part[1], NULL, depth + 1, err))
				return false;
		return true;
	}
	if (type != NULL && !is_type(type, "Tensor") &&
		!(is_type(type, "Optional") && (example != NULL || is_asked(p, name))))
		return fail(err, ERR_UNSUPPORTED, NULL,
			"its input '%.60s' is no tensor; dlc takes tensors, and tuples and lists of them, only", name);
	ProgramInput in = { .name = name };
	describe(p, &in, example);
	vec_push(p->arena, &p->input, in);
	return true;
}

/* The list of tensors that a traced file keeps. */
static bool examples(Program *p, const TorchList **out, Err *err)
{
	Bytes file;
	TorchValue x, *forward;
	*out = NULL;
	if (program_entry(p, "traced_inputs.pkl") == NULL)
		return true;
	if (!program_read(p, "traced_inputs.pkl", &file, err) ||
		!torch_unpickle(p->arena, "traced_inputs.pkl", file, p->archive,
			arena_printf(p->arena, "%straced_inputs/", p->root), &x, err))
		return false;
	forward =
		x.kind == TORCH_DICT ? torch_find(x.list, p->args->signature != NULL ? p->args->signature : "forward") : NULL;
	if (forward != NULL && forward->kind == TORCH_LIST)
		*out = forward->list;
	return true;
}

static bool list_inputs(Program *p, const Script *s, Err *err)
{
	const ScriptItem *f = s->forward;
	const TorchList *example;
	if (!examples(p, &example, err))
		return false;
	for (size_t k = 1; k < f->narg; k++) {
		const TorchValue *e = example != NULL && k - 1 < example->n ? &example->at[k - 1] : NULL;
		bool given = e != NULL && e->kind != TORCH_NONE;
		bool none = f->arg[k].otherwise != NULL || is_type(f->arg[k].type, "Optional");
		if (!given && none && !is_asked(p, f->arg[k].name) &&
			!is_asked(p, arena_printf(p->arena, "%s.0", f->arg[k].name)))
			continue; /* it keeps its default, or is None */
		if (!add_input(p, f->arg[k].name, f->arg[k].type, e, 0, err))
			return false;
	}
	return true;
}

/* The values of forward's arguments: inputs in the order in which they were added. */
static TorchValue collect(Program *p, const char *name, const ScriptExpr *type, size_t *at, bool *found, int depth)
{
	if (is_type(type, "Tuple") && type->kind == SCRIPT_INDEX && depth < 4) {
		TorchValue all = torch_list(p->arena, TORCH_TUPLE);
		for (size_t k = 1; k < type->n; k++)
			torch_push(p->arena, all.list,
				collect(p, arena_printf(p->arena, "%s.%zu", name, k - 1), type->part[k], at, found, depth + 1));
		return all;
	}
	if (is_list(type) && depth < 4) {
		TorchValue all = torch_list(p->arena, TORCH_LIST);
		const char *part = arena_printf(p->arena, "%s.0", name);
		for (size_t k = 0; *at < p->input.n && strcmp(p->input.at[*at].name, part) == 0;
			 part = arena_printf(p->arena, "%s.%zu", name, ++k))
			torch_push(p->arena, all.list, collect(p, part, type->part[1], at, found, depth + 1));
		*found = *found && all.list->n > 0;
		sides_old(all);
		return all;
	}
	if (*at < p->input.n && strcmp(p->input.at[*at].name, name) == 0)
		return (TorchValue){ .kind = TORCH_TENSOR, .tensor = p->input.at[(*at)++].tensor };
	*found = false;
	return torch_none();
}

/* ---- running and opening */

static void run_script(Program *p, Visit *v)
{
	Script *s = (Script *)(uintptr_t)p->source;
	const ScriptItem *f = s->forward;
	TorchValue *at = arena_array(p->arena, TorchValue, f->narg + 1), out;
	const char **name = arena_array(p->arena, const char *, f->narg + 1);
	size_t n = 1, next = 0;
	at[0] = s->model;
	s->steps = 0;
	s->depth = 0;
	for (size_t k = 1; k < f->narg; k++) {
		bool found = true;
		TorchValue x = collect(p, f->arg[k].name, f->arg[k].type, &next, &found, 0);
		if (!found && (f->arg[k].otherwise != NULL || !is_type(f->arg[k].type, "Optional")))
			continue;
		name[n] = f->arg[k].name;
		at[n++] = x;
	}
	if (script_call(s, v, f, "", &(AtenIn){ at, name, n }, &out))
		program_result(p, v, "output", out);
}

bool script_open(Program *p, Err *err)
{
	Script *s = arena_new_of(p->arena, Script);
	Bytes data, more;
	TorchValue constants = torch_none();
	*s = (Script){ .program = p, .files = names_new(p->arena) };
	if (!program_read(p, "data.pkl", &data, err) || !torch_unpickle(p->arena, "data.pkl", data, p->archive,
														arena_printf(p->arena, "%sdata/", p->root), &s->model, err))
		return err->code != ERR_NONE ? false : fail(err, ERR_INPUT, NULL, "has no data.pkl");
	if (program_entry(p, "constants.pkl") != NULL) {
		const char *folder = arena_printf(p->arena, "%sconstants/", p->root);
		if (!program_read(p, "constants.pkl", &more, err) ||
			!torch_unpickle(p->arena, "constants.pkl", more, p->archive, folder, &constants, err))
			return false;
	}
	if (constants.kind == TORCH_TUPLE || constants.kind == TORCH_LIST)
		s->constants = *constants.list;
	for (size_t k = 0; k < s->constants.n; k++)
		if (s->constants.at[k].kind == TORCH_TENSOR)
			s->constants.at[k].tensor->name = arena_printf(p->arena, "constants.%zu", k);
	if (s->model.kind != TORCH_OBJECT)
		return fail(err, ERR_INPUT, NULL, "has no module in its data.pkl");
	const ScriptItem *class = script_find(s, s->model.object->class, err);
	const char *method = p->args->signature != NULL ? p->args->signature : "forward";
	s->forward = script_method(class, method);
	if (class == NULL || class->nmember == 0)
		return fail(err, ERR_INPUT, NULL, "has no methods in its class %.100s", s->model.object->class);
	if (s->forward == NULL)
		return fail(err, ERR_USAGE, "signature", "the model has no method '%.60s'; its methods are: %s", method,
			methods_of(p->arena, class));
	p->source = s;
	p->run = run_script;
	return s->forward->narg > 0 && list_inputs(p, s, err)
	           ? true
	           : fail(err, ERR_INPUT, NULL, "has a method %.60s without arguments", method);
}
