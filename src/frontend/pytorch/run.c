/*
 * Runs TorchScript code. A branch is taken as its condition says, and a loop runs as often as it does, so nothing of
 * them is left in the Dag. Where a condition depends on data, both branches run (choice.h).
 */
#include "frontend/pytorch/choice.h"
#include "frontend/pytorch/run.h"

#include <string.h>

static bool run_block(Locals *c, const ScriptBlock *b);

static bool set_attribute(Locals *c, const ScriptExpr *target, TorchValue x)
{
	TorchValue of;
	if (!run_eval(c, target->part[0], "", &of))
		return false;
	if (of.kind != TORCH_OBJECT)
		return run_refuse(c, target->line, "it sets an attribute of a %s", torch_kind_name(of.kind));
	sides_note_state(c->v, of.object);
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
		run_set(c, target->text, x);
		return true;
	}
	if (target->kind == SCRIPT_ATTR)
		return set_attribute(c, target, x);
	return run_refuse(c, target->line, "it assigns to something else than a name or an attribute");
}

static bool run_assign(Locals *c, const ScriptStmt *s)
{
	const ScriptExpr *t = s->target;
	bool several = t->kind == SCRIPT_TUPLE;
	TorchValue x;
	if (!run_eval(c, s->expr, several ? (t->n > 0 ? t->part[0]->text : "") : t->text, &x))
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
		return run_refuse(c, s->line, "it takes apart a %s", torch_kind_name(x.kind));
	if (list.n != t->n)
		return run_refuse(c, s->line, "it takes apart %zu values into %zu", list.n, t->n);
	for (size_t k = 0; k < t->n; k++)
		if (!store(c, t->part[k], list.at[k]))
			return false;
	return true;
}

static bool run_for(Locals *c, const ScriptStmt *s)
{
	TorchValue x;
	if (!run_eval(c, s->expr, "", &x))
		return false;
	if (x.kind != TORCH_LIST && x.kind != TORCH_TUPLE && x.kind != TORCH_DICT)
		return run_refuse(c, s->line, "it loops over a %s", torch_kind_name(x.kind));
	for (size_t k = 0; k < x.list->n && !c->returned; k += x.kind == TORCH_DICT ? 2 : 1)
		if (!store(c, s->target, x.list->at[k]) || !run_block(c, &s->body))
			return false;
	return true;
}

/* One that goes on without a new value of the Dag is taken for endless. */
static bool run_while(Locals *c, const ScriptStmt *s)
{
	enum { MOST_IDLE = 1 << 14 };
	const Dag *d = c->v->im->dag;
	size_t values = d->value.n;
	bool yes = false;
	for (int idle = 1; !c->returned && run_truth(c, s->expr, &yes, NULL) && yes; idle++) {
		if (!run_block(c, &s->body))
			return false;
		idle = d->value.n > values ? 0 : idle;
		values = d->value.n;
		if (idle >= MOST_IDLE)
			return run_refuse(
				c, s->line, "its loop ran %d times without a new value, so it may have no end", MOST_IDLE);
	}
	return node_ok(c->v);
}

/* A block that raises is a check, which the compiled program does not make. */
static bool raises(Locals *c, const ScriptBlock *b)
{
	for (size_t k = 0; k < b->n; k++) {
		const ScriptExpr *e = b->at[k].kind == SCRIPT_DO_EXPR ? b->at[k].expr : NULL;
		const char *name = e != NULL && e->kind == SCRIPT_CALL ? run_operator(c, e->part[0]) : NULL;
		if (name != NULL && strcmp(name, "prim::RaiseException") == 0)
			return true;
	}
	return false;
}

/* Both branches of a condition that depends on data; variables behind them are chosen. */
static bool run_both(Locals *c, const ScriptStmt *st, int when)
{
	Arena *a = c->s->program->arena;
	size_t before = c->values.n;
	Visit *v = run_visit(c, st->line, "choice");
	if (raises(c, &st->body) || raises(c, &st->other)) {
		import_note(v->im, "code %.120s:%d: its check is left out, which depends on data", c->f->module, st->line);
		return run_block(c, raises(c, &st->body) ? &st->other : &st->body);
	}
	TorchValue *old = arena_copy(a, c->values.at, sizeof *old * before), result;
	Sides s = { .when = when, .line = st->line };
	torch_spend(v, (int64_t)before);
	sides_open(v, &s);
	if (!node_ok(v) || !run_block(c, &st->body))
		return false;
	size_t made = c->values.n;
	TorchValue *first = arena_copy(a, c->values.at, sizeof *first * made);
	bool returned = c->returned;
	result = c->result;
	sides_turn(v, &s);
	for (size_t k = 0; k < made; k++)
		c->values.at[k] = k < before ? old[k] : (TorchValue){ .kind = TORCH_LOST };
	c->returned = false;
	if (!node_ok(v) || !run_block(c, &st->other))
		return false;
	sides_close(v, &s);
	if (returned != c->returned)
		return run_refuse(c, st->line, "it returns on one side of a condition that depends on data");
	if (returned)
		c->result = sides_choose(run_visit(c, st->line, "output"), &s, result, c->result);
	for (size_t k = 0; k < made && node_ok(v) && !returned; k++) {
		const char *name = c->name.at[k];
		c->values.at[k] = sides_choose(run_visit(c, st->line, name), &s, first[k], c->values.at[k]);
		sides_born(v, c->values.at[k]);
	}
	return node_ok(v);
}

static bool run_if(Locals *c, const ScriptStmt *s)
{
	bool yes = false;
	int when = DAG_NONE;
	if (!run_truth(c, s->expr, &yes, &when))
		return false;
	return when != DAG_NONE ? run_both(c, s, when) : run_block(c, yes ? &s->body : &s->other);
}

static bool run_statement(Locals *c, const ScriptStmt *s)
{
	TorchValue x;
	if (!run_count(c, s->line))
		return false;
	switch (s->kind) {
	case SCRIPT_DO_ASSIGN: return run_assign(c, s);
	case SCRIPT_DO_EXPR: return run_eval(c, s->expr, "", &x);
	case SCRIPT_DO_IF: return run_if(c, s);
	case SCRIPT_DO_FOR: return run_for(c, s);
	case SCRIPT_DO_WHILE: return run_while(c, s);
	case SCRIPT_DO_RETURN:
		if (s->expr != NULL && !run_eval(c, s->expr, "output", &c->result))
			return false;
		c->returned = true;
		return true;
	default: return true;
	}
}

static bool run_block(Locals *c, const ScriptBlock *b)
{
	if (++c->s->depth > RUN_MOST_DEPTH)
		return run_refuse(c, c->f->line, "calls and blocks are nested more than %d deep", RUN_MOST_DEPTH);
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
	if (!run_count(&c, f->line))
		return false;
	for (size_t k = 0; k < in->n; k++) {
		const char *name = in->name[k];
		if (name == NULL && place < f->narg)
			name = f->arg[place++].name;
		if (name == NULL || names_find(c.names, name) >= 0)
			return run_refuse(&c, f->line, "%.60s is called with too many arguments", f->name);
		run_set(&c, name, in->at[k]);
	}
	for (size_t k = 0; k < f->narg; k++) {
		TorchValue x;
		if (names_find(c.names, f->arg[k].name) >= 0)
			continue;
		if (f->arg[k].otherwise == NULL)
			return run_refuse(&c, f->line, "%.60s is called without its argument '%.60s'", f->name, f->arg[k].name);
		if (!run_eval(&c, f->arg[k].otherwise, "", &x))
			return false;
		run_set(&c, f->arg[k].name, x);
	}
	if (!run_block(&c, &f->body))
		return false;
	*out = c.result;
	return node_ok(v);
}
