/* See group.h: a group's calls become a Dag of their own, whose canonical form is the Task. */
#include "graph/group.h"

#include <assert.h>

typedef struct Sub {
	Dag *dag;
	VEC(int) of; /* the model's value of each of its values */
} Sub;

static void note_value(Cutter *c, Sub *s, int sub, int model)
{
	while ((int)s->of.n <= sub)
		vec_push(c->a, &s->of, DAG_NONE);
	assert(s->of.at != NULL);
	s->of.at[sub] = model;
}

static bool add_call(Cutter *c, Sub *s, const OpCall *from, bool last, Err *err)
{
	int *in = arena_array(c->a, int, from->nin + 1);
	for (int k = 0; k < from->nin; k++) {
		int v = from->in[k];
		in[k] = DAG_NONE;
		if (v == DAG_NONE)
			continue;
		if (c->map[v] == DAG_NONE) { /* from outside the group: an input or a constant of the sub-Dag */
			const Value *x = &c->d->value.at[v];
			c->map[v] = x->kind == VALUE_CONST ? dag_add_const(s->dag, "c", x->type, x->shape, NULL)
							   : dag_add_input(s->dag, "x", x->type, x->shape);
			s->dag->value.at[c->map[v]].layout = x->layout;
		}
		in[k] = c->map[v];
		note_value(c, s, in[k], v);
	}
	int call = dag_add_call(s->dag, from->op, NULL, in, from->nin, from->attr, from->nattr, err);
	for (int r = 0; call >= 0 && r < from->nout; r++) {
		int v = s->dag->call.at[call].out[r];
		c->map[from->out[r]] = v;
		note_value(c, s, v, from->out[r]);
		if (!last)
			continue;
		s->dag->value.at[v].layout = c->d->value.at[from->out[r]].layout;
		dag_add_output(s->dag, v);
	}
	return call >= 0;
}

/* The group's parameters in the order of the Task's: inputs and constants, then outputs. */
static void bind_values(Cutter *c, Group *g, const Sub *s, const int *where)
{
	const Dag *t = g->task->dag;
	int *model = arena_array(c->a, int, t->value.n + 1);
	for (size_t v = 0; v < s->of.n; v++)
		if (where[v] != DAG_NONE)
			model[where[v]] = s->of.at[v];
	g->in = arena_array(c->a, int, t->value.n + 1);
	g->out = arena_array(c->a, int, t->output.n + 1);
	for (size_t i = 0; i < t->input.n; i++)
		g->in[g->nin++] = model[t->input.at[i]];
	for (size_t v = 0; v < t->value.n; v++)
		if (t->value.at[v].kind == VALUE_CONST)
			g->in[g->nin++] = model[v];
	for (size_t i = 0; i < t->output.n; i++)
		g->out[g->nout++] = model[t->output.at[i]];
}

void cutter_open(Cutter *c, Arena *a, const Dag *d)
{
	*c = (Cutter){ .a = a, .d = d, .map = arena_array(a, int, d->value.n + 1), .known = names_new(a) };
	for (size_t i = 0; i < d->value.n; i++)
		c->map[i] = DAG_NONE;
}

bool cut_group(Cutter *c, const int *call, int n, Group *g, Err *err)
{
	Sub s = { .dag = dag_new(c->a, NULL) };
	*g = (Group){ .ncall = n, .call = arena_copy(c->a, call, sizeof *call * (size_t)n), .number = -1 };
	bool ok = true;
	for (int i = 0; ok && i < n; i++)
		ok = add_call(c, &s, &c->d->call.at[call[i]], i == n - 1, err);
	for (size_t v = 0; v < s.of.n; v++)
		if (s.of.at[v] != DAG_NONE)
			c->map[s.of.at[v]] = DAG_NONE;
	if (!ok)
		return false;
	int *where = arena_array(c->a, int, s.dag->value.n + 1);
	Task *t = task_new_map(c->a, s.dag, where, err);
	if (t == NULL)
		return false;
	g->number = names_find(c->known, t->text);
	if (g->number < 0) {
		g->number = (int)c->task.n;
		names_bind(c->known, t->text, g->number);
		t->weight = 0;
		vec_push(c->a, &c->task, t);
	}
	g->task = c->task.at[g->number];
	bind_values(c, g, &s, where);
	return true;
}
