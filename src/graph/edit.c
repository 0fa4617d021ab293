/*
 * See edit.h. Writing a Dag anew costs as much as reading it, and no pass has to care for numbers that
 * change. The memory of the old Dag stays in its arena until the model is freed.
 */
#include "graph/edit.h"

#include "op/names.h"

#include <assert.h>
#include <string.h>

int edit_const(Edit *e, const char *name, DType t, Shape s, const void *data)
{
	return dag_add_const(e->to, name, t, s, data);
}

int edit_value(Edit *e, int old)
{
	if (old == DAG_NONE)
		return DAG_NONE;
	const Value *v = &e->from->value.at[old];
	if (e->map[old] == DAG_NONE && v->kind == VALUE_CONST) {
		e->map[old] = edit_const(e, v->name, v->type, v->shape, v->data);
		e->to->value.at[e->map[old]].layout = v->layout;
	}
	assert(e->map[old] != DAG_NONE);
	return e->map[old];
}

void edit_replace(Edit *e, int old, int by)
{
	e->map[old] = by;
}

const Value *edit_at(const Edit *e, int v)
{
	return &e->to->value.at[v];
}

const OpCall *edit_writer(const Edit *e, int v)
{
	const Value *val = edit_at(e, v);
	return val->kind == VALUE_CALL ? &e->to->call.at[val->call] : NULL;
}

int edit_call(Edit *e, int op, const char *name, const int *in, int nin, const Attr *attr, int nattr)
{
	int call = dag_add_call(e->to, op, name, in, nin, attr, nattr, e->err);
	return call < 0 ? DAG_NONE : e->to->call.at[call].out[0];
}

bool edit_call_as(Edit *e, const OpCall *c, int op, const int *in, int nin, const Attr *attr, int nattr)
{
	const char *out = e->from->value.at[c->out[0]].name;
	int call = dag_add_call_as(e->to, op, c->name, &out, 1, in, nin, attr, nattr, e->err);
	if (call < 0)
		return false;
	e->map[c->out[0]] = e->to->call.at[call].out[0];
	return true;
}

static bool copy_call(Edit *e, const OpCall *c)
{
	Arena *a = e->to->arena;
	int *in = arena_array(a, int, c->nin + 1);
	const char **name = arena_array(a, const char *, c->nout + 1);
	for (int k = 0; k < c->nin; k++)
		in[k] = edit_value(e, c->in[k]);
	for (int r = 0; r < c->nout; r++)
		name[r] = e->from->value.at[c->out[r]].name;
	int call = dag_add_call_as(e->to, c->op, c->name, name, c->nout, in, c->nin, c->attr, c->nattr, e->err);
	if (call < 0)
		return false;
	for (int r = 0; r < c->nout; r++) {
		const Value *old = &e->from->value.at[c->out[r]];
		Value *v = &e->to->value.at[e->to->call.at[call].out[r]];
		v->layout = old->layout;
		v->data = old->data; /* computed by graph_const_value */
		e->map[c->out[r]] = e->to->call.at[call].out[r];
	}
	return true;
}

/* Gives the outputs their names back, which values of the pass may have taken meanwhile. */
static void claim_name(Dag *d, int v, const char *name)
{
	int other = dag_find_value(d, name);
	if (other == v)
		return;
	if (other != DAG_NONE) {
		d->value.at[other].name = dag_unique_name(d, name); /* gets a number */
		names_bind(d->names, d->value.at[other].name, other);
	}
	names_bind(d->names, d->value.at[v].name, DAG_NONE);
	d->value.at[v].name = arena_copy(d->arena, name, strlen(name) + 1);
	names_bind(d->names, name, v);
}

static void finish_outputs(Edit *e)
{
	const Dag *from = e->from;
	bool *taken = arena_array(e->to->arena, bool, e->to->value.n + from->output.n + 1);
	for (size_t i = 0; i < from->output.n; i++) {
		int old = from->output.at[i], v = edit_value(e, old);
		const char *name = from->value.at[old].name;
		if (edit_at(e, v)->kind != VALUE_CALL || taken[v]) {
			v = edit_call(e, OP_identity, name, &v, 1, NULL, 0);
			if (v == DAG_NONE)
				return;
		}
		taken[v] = true;
		claim_name(e->to, v, name);
		dag_add_output(e->to, v);
	}
}

static bool has_failed(const Err *err)
{
	return err->code != ERR_NONE;
}

bool edit_dag(Dag *d, EvalFn eval, EditFn rewrite, void *arg, Err *err)
{
	Err own = { 0 };
	Edit e = { .from = d, .to = dag_new(d->arena, d->name), .eval = eval, .err = &own };
	e.to->without = d->without;
	e.map = arena_array(d->arena, int, d->value.n + 1);
	e.uses = arena_array(d->arena, int, d->value.n + 1);
	for (size_t i = 0; i < d->value.n; i++)
		e.map[i] = DAG_NONE;
	const bool *live = dag_live(d->arena, d);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (live[i] && d->call.at[i].in[k] != DAG_NONE)
				e.uses[d->call.at[i].in[k]]++;
	for (size_t i = 0; i < d->output.n; i++)
		e.uses[d->output.at[i]] += 2; /* an output is never read "once" */
	for (size_t i = 0; i < d->input.n; i++) {
		const Value *v = &d->value.at[d->input.at[i]];
		e.map[d->input.at[i]] = dag_add_input(e.to, v->name, v->type, v->shape);
		e.to->value.at[e.map[d->input.at[i]]].layout = v->layout;
	}
	for (size_t i = 0; i < d->call.n && !has_failed(&own); i++)
		if (!rewrite(&e, &d->call.at[i], arg) && !has_failed(&own))
			copy_call(&e, &d->call.at[i]);
	if (!has_failed(&own))
		finish_outputs(&e);
	if (has_failed(&own)) {
		if (err != NULL && err->code == ERR_NONE)
			*err = own;
		return false;
	}
	*d = *e.to;
	return true;
}
