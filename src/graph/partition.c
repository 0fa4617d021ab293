/*
 * From a Dag to groups of calls, each of which is run as one Task.
 * An anchor or reduction starts a group; an elementwise call joins the group that ends in one of
 * its operands, if nobody else reads that and the element count stays; of two such groups the one of
 * more work, then the later one (the add of a residual block joins its second convolution and not the
 * projection, so that all blocks of a size end in one Task). Where several calls read the end of a
 * group, they join with what they make of it up to one value (x * sigmoid(x)). Since only the end of
 * a group is ever read outside, groups in order of their last calls are in topological order.
 * A call that needs nothing but a view of memory is a group of its own without a Task (views.c).
 */
#include "graph/edit.h"
#include "op/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_GROUP = 24, LONGEST_MEETING = 12 };

typedef struct Part {
	int first, n; /* calls are linked through next[] */
	int last;
	bool open;
	double work; /* operations of its first call */
} Part;

typedef struct Build {
	Arena *a;
	const Dag *d;
	Err *err;
	int *uses;  /* of each value, by calls; an output counts as two */
	bool *outputs; /* of each value: it is one of the network's */
	int *part;  /* of each call */
	int *next;  /* the next call of the same part, -1 at its end */
	bool *nothing; /* of each call: nothing is run for it */
	int *reader, *readers; /* the calls that read value v are reader[readers[v] .. readers[v + 1]) */
	int *joins;    /* of each call: the part it will be of, -1: that is not known yet */
	VEC(Part) parts;
	Names *known; /* texts of Tasks */
	VEC(Task *) tasks;
} Build;

static void count_uses(Build *b)
{
	for (size_t i = 0; i < b->d->call.n; i++) {
		const OpCall *c = &b->d->call.at[i];
		for (int k = 0; k < c->nin; k++) {
			bool again = false; /* mul(x, x) is one reader */
			for (int j = 0; j < k && j < 4; j++)
				again |= c->in[j] == c->in[k];
			if (c->in[k] != DAG_NONE && !again)
				b->uses[c->in[k]]++;
		}
	}
	for (size_t i = 0; i < b->d->output.n; i++)
		b->uses[b->d->output.at[i]] += 2;
	for (size_t i = 0; i < b->d->output.n; i++)
		b->outputs[b->d->output.at[i]] = true;
}

static void list_readers(Build *b)
{
	const Dag *d = b->d;
	int n = 0;
	b->readers = arena_array(b->a, int, d->value.n + 2);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] != DAG_NONE) {
				b->readers[d->call.at[i].in[k] + 2]++;
				n++;
			}
	for (size_t v = 2; v < d->value.n + 2; v++)
		b->readers[v] += b->readers[v - 1];
	b->reader = arena_array(b->a, int, n + 1);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] != DAG_NONE)
				b->reader[b->readers[d->call.at[i].in[k] + 1]++] = (int)i;
}

static bool keeps_count(const Build *b, int call, int64_t elements)
{
	const OpCall *c = &b->d->call.at[call];
	return op_row(c->op)->class == OP_ELEMENTWISE && !b->nothing[call] &&
		shape_elements(b->d->value.at[c->out[0]].shape) == elements;
}

static int add_once(int *set, int n, int member)
{
	for (int i = 0; i < n; i++)
		if (set[i] == member)
			return n;
	set[n] = member;
	return n + 1;
}

/*
 * The calls between `value` and the one value that all of them meet in and that alone is read by others;
 * 0: there are none, or too many. `from` is the first call not yet in a part.
 */
static int find_meeting(const Build *b, int value, int from, int call[LONGEST_MEETING + 1])
{
	const Dag *d = b->d;
	int64_t elements = shape_elements(d->value.at[value].shape);
	int n = 0, at = 0, open = value; /* calls [0, at) are followed, the others' results are open */
	while (b->uses[open] <= LONGEST_MEETING) {
		for (int k = b->readers[open]; k < b->readers[open + 1]; k++) {
			int c = b->reader[k];
			if (c < from || b->joins[c] >= 0 || !keeps_count(b, c, elements))
				return 0;
			n = add_once(call, n, c);
			if (n > LONGEST_MEETING)
				return 0;
		}
		if (n == at + 1)
			return n;
		int first = at;
		for (int k = at; k < n; k++)
			first = call[k] < call[first] ? k : first;
		int next = call[first];
		call[first] = call[at];
		call[at++] = next;
		open = d->call.at[next].out[0];
		if (b->readers[open] == b->readers[open + 1] || b->outputs[open])
			return 0;
	}
	return 0;
}

/* Where all readers of a part's end meet again, they join it. */
static void join_readers(Build *b, int value, int from)
{
	int call[LONGEST_MEETING + 1];
	const Value *v = &b->d->value.at[value];
	if (v->kind != VALUE_CALL || b->uses[value] < 2 || b->outputs[value])
		return;
	int p = b->part[v->call];
	const Part *part = &b->parts.at[p];
	int n = part->open && part->last == v->call ? find_meeting(b, value, from, call) : 0;
	for (int k = 0; k < n && part->n + n <= LONGEST_GROUP; k++)
		b->joins[call[k]] = p;
}

/* The part that call i may join, -1 if there is none. */
static int part_to_join(const Build *b, const OpCall *c)
{
	int best = -1;
	if (op_row(c->op)->class != OP_ELEMENTWISE)
		return -1;
	int64_t n = shape_elements(b->d->value.at[c->out[0]].shape);
	for (int k = 0; k < c->nin; k++) {
		if (c->in[k] == DAG_NONE)
			continue;
		const Value *v = &b->d->value.at[c->in[k]];
		if (v->kind != VALUE_CALL || b->uses[c->in[k]] != 1 ||
			shape_elements(v->shape) != n)
			continue;
		int p = b->part[v->call]; /* the writer's, which is above: there is one */
		assert(p >= 0 && (size_t)p < b->parts.n && b->parts.at != NULL);
		const Part *part = &b->parts.at[p];
		if (!part->open || part->n >= LONGEST_GROUP)
			continue;
		const Part *than = best >= 0 ? &b->parts.at[best] : NULL;
		if (than == NULL || part->work > than->work || (part->work == than->work && part->last > than->last))
			best = p;
	}
	return best;
}

static void assign_parts(Build *b)
{
	for (int i = 0; i < (int)b->d->call.n; i++) {
		const OpCall *c = &b->d->call.at[i];
		for (int k = 0; k < c->nin && b->joins[i] < 0 && op_row(c->op)->class == OP_ELEMENTWISE; k++)
			if (c->in[k] != DAG_NONE)
				join_readers(b, c->in[k], i);
		int p = b->nothing[i] ? -1 : b->joins[i] >= 0 ? b->joins[i] : part_to_join(b, c);
		b->next[i] = -1;
		if (p < 0) {
			p = (int)b->parts.n;
			Part fresh = { i, 1, i, !b->nothing[i] && op_row(c->op)->class != OP_MOVE, op_flops(b->d, c) };
			vec_push(b->a, &b->parts, fresh);
		} else {
			assert(b->parts.at != NULL);
			Part *part = &b->parts.at[p];
			b->next[part->last] = i;
			part->last = i;
			part->n++;
		}
		b->part[i] = p;
	}
}

/* A value as the sub-Dag has it, added as input or constant where it comes from outside. */
static int sub_value(Build *b, Dag *sub, int *map, int v)
{
	if (v == DAG_NONE || map[v] != DAG_NONE)
		return v == DAG_NONE ? DAG_NONE : map[v];
	const Value *from = &b->d->value.at[v];
	map[v] = from->kind == VALUE_CONST ? dag_add_const(sub, "c", from->type, from->shape, NULL)
	                                   : dag_add_input(sub, "x", from->type, from->shape);
	sub->value.at[map[v]].layout = from->layout;
	return map[v];
}

typedef struct Sub {
	Dag *dag;
	VEC(int) of; /* the model's value of each of its values */
} Sub;

static void note_value(Build *b, Sub *s, int sub, int model)
{
	while ((int)s->of.n <= sub)
		vec_push(b->a, &s->of, DAG_NONE);
	assert(s->of.at != NULL);
	s->of.at[sub] = model;
}

/* The part as a Dag of its own. `map` (all DAG_NONE) is cleaned up again. */
static bool cut_out(Build *b, const Part *part, int *map, Sub *s)
{
	s->dag = dag_new(b->a, NULL);
	bool ok = true;
	for (int i = part->first; ok && i >= 0; i = b->next[i]) {
		const OpCall *c = &b->d->call.at[i];
		int *in = arena_array(b->a, int, c->nin + 1);
		for (int k = 0; k < c->nin; k++) {
			in[k] = sub_value(b, s->dag, map, c->in[k]);
			if (in[k] != DAG_NONE)
				note_value(b, s, in[k], c->in[k]);
		}
		int call = dag_add_call(s->dag, c->op, NULL, in, c->nin, c->attr, c->nattr, b->err);
		ok = call >= 0;
		for (int r = 0; ok && r < c->nout; r++) {
			int v = s->dag->call.at[call].out[r];
			map[c->out[r]] = v;
			note_value(b, s, v, c->out[r]);
			if (i != part->last)
				continue;
			s->dag->value.at[v].layout = b->d->value.at[c->out[r]].layout;
			dag_add_output(s->dag, v);
		}
	}
	for (size_t v = 0; v < s->of.n; v++)
		if (s->of.at[v] != DAG_NONE)
			map[s->of.at[v]] = DAG_NONE;
	return ok;
}

/* The group's parameters in the order of the Task's: inputs and constants, then outputs. */
static void bind_values(Build *b, Group *g, const Sub *s, const int *where)
{
	const Dag *t = g->task->dag;
	int *model = arena_array(b->a, int, t->value.n + 1);
	for (size_t v = 0; v < s->of.n; v++)
		if (where[v] != DAG_NONE)
			model[where[v]] = s->of.at[v];
	g->in = arena_array(b->a, int, t->value.n + 1);
	g->out = arena_array(b->a, int, t->output.n + 1);
	for (size_t i = 0; i < t->input.n; i++)
		g->in[g->nin++] = model[t->input.at[i]];
	for (size_t v = 0; v < t->value.n; v++)
		if (t->value.at[v].kind == VALUE_CONST)
			g->in[g->nin++] = model[v];
	for (size_t i = 0; i < t->output.n; i++)
		g->out[g->nout++] = model[t->output.at[i]];
}

static void add_task(Build *b, Group *g, Task *t)
{
	int known = names_find(b->known, t->text);
	if (known < 0) {
		names_bind(b->known, t->text, (int)b->tasks.n);
		vec_push(b->a, &b->tasks, t);
	} else {
		t = b->tasks.at[known];
		t->weight++;
	}
	g->task = t;
}

static bool make_group(Build *b, const Part *part, int *map, Group *g)
{
	Sub s = { 0 };
	g->call = arena_array(b->a, int, part->n);
	for (int i = part->first; i >= 0; i = b->next[i])
		g->call[g->ncall++] = i;
	if (b->nothing[part->first])
		return true;
	if (!cut_out(b, part, map, &s))
		return false;
	int *where = arena_array(b->a, int, s.dag->value.n + 1);
	Task *t = task_new_map(b->a, s.dag, where, b->err);
	if (t == NULL)
		return false;
	add_task(b, g, t);
	bind_values(b, g, &s, where);
	return true;
}

static int by_last(const void *x, const void *y)
{
	return ((const Part *)x)->last - ((const Part *)y)->last;
}

Partition *graph_partition(Arena *a, const Dag *d, Err *err)
{
	Build b = { .a = a, .d = d, .err = err, .known = names_new(a) };
	b.uses = arena_array(a, int, d->value.n + 1);
	b.part = arena_array(a, int, d->call.n + 1);
	b.next = arena_array(a, int, d->call.n + 1);
	int *map = arena_array(a, int, d->value.n + 1);
	for (size_t i = 0; i < d->value.n; i++)
		map[i] = DAG_NONE;
	b.outputs = arena_array(a, bool, d->value.n + 1);
	b.nothing = arena_array(a, bool, d->call.n + 1);
	b.joins = arena_array(a, int, d->call.n + 1);
	Partition *p = arena_new_of(a, Partition);
	p->view = find_views(a, d, b.nothing);
	for (size_t i = 0; i < d->call.n; i++)
		b.joins[i] = -1;
	count_uses(&b);
	list_readers(&b);
	assign_parts(&b);
	p->group = arena_array(a, Group, b.parts.n + 1);
	if (b.parts.n > 0)
		qsort(b.parts.at, b.parts.n, sizeof(Part), by_last);
	for (size_t i = 0; i < b.parts.n; i++)
		if (!make_group(&b, &b.parts.at[i], map, &p->group[p->ngroup++]))
			return NULL;
	p->task = b.tasks.at;
	p->ntask = (int)b.tasks.n;
	return p;
}
