/*
 * See pairs.h: two groups may be one Task, if only the second one reads the result of the first. That result is then
 * never stored. If the second one is in a region already, the pair is one more alternative of that region. A group is
 * in one pair at most.
 *
 * graph_pairs offers depthwise convolutions with pointwise ones, for devices whose threads run in warps: the last
 * alternative. graph_prologues offers elementwise calls with the convolution or pooling that reads them, for CPUs: the
 * first one. A convolution with overlapping windows has no prologue: it would compute an element for each window.
 */
#include "graph/pairs.h"

#include "graph/group.h"
#include "op/shape.h"

typedef struct Pairs {
	Cutter cutter;
	const Dag *d;
	Partition *p;
	int *owner;  /* of each call: its group */
	int *slots;  /* of each value: how often it is read; an output counts as one more */
	bool *taken; /* of each group: a pair has it */
	bool first;  /* a pair is the first alternative, else the last one */
} Pairs;

/* The group that group q may follow in one Task; -1: there is none. */
typedef int (*FindFirst)(const Pairs *x, int q);

static const OpCall *anchor(const Pairs *x, const Group *g)
{
	const OpCall *c = g->task != NULL ? &x->d->call.at[g->call[0]] : NULL;
	return c != NULL && c->op == OP_conv && x->d->value.at[c->out[0]].shape.rank == 4 ? c : NULL;
}

/* The group of a depthwise convolution that q alone reads. */
static int find_depthwise(const Pairs *x, int q)
{
	const Group *to = &x->p->group[q];
	const OpCall *c = anchor(x, to);
	if (c == NULL || !op_is_pointwise(x->d, c) || x->taken[q] || x->slots[c->in[0]] != 1)
		return -1;
	const Value *v = &x->d->value.at[c->in[0]];
	int g = v->kind == VALUE_CALL ? x->owner[v->call] : q;
	const Group *from = &x->p->group[g];
	const OpCall *first = g != q && !x->taken[g] ? anchor(x, from) : NULL;
	bool depthwise = first != NULL && op_int(first, "groups") > 1 && x->d->value.at[first->in[1]].shape.dim[1] == 1;
	return depthwise && from->call[from->ncall - 1] == v->call && from->ncall + to->ncall <= LONGEST_GROUP ? g : -1;
}

/* A convolution or pooling whose windows share no element of input 0. */
static bool reads_once(const Dag *d, const OpCall *c)
{
	Window w;
	if ((c->op != OP_conv && c->op != OP_max_pool && c->op != OP_avg_pool) || !op_window(d, c, &w, NULL))
		return false;
	for (int k = 0; k < w.n; k++)
		if ((w.kernel[k] - 1) * w.dilation[k] >= w.stride[k])
			return false;
	return true;
}

/* The group of nothing but elementwise calls that q alone reads, each element in one window. */
static int find_prologue(const Pairs *x, int q)
{
	const Group *to = &x->p->group[q];
	const OpCall *c = to->task != NULL ? &x->d->call.at[to->call[0]] : NULL;
	if (c == NULL || x->taken[q] || x->slots[c->in[0]] != 1 || !reads_once(x->d, c))
		return -1;
	const Value *v = &x->d->value.at[c->in[0]];
	int g = v->kind == VALUE_CALL ? x->owner[v->call] : q;
	const Group *from = &x->p->group[g];
	bool joins = g != q && from->task != NULL && !x->taken[g] && from->ncall + to->ncall <= LONGEST_GROUP;
	for (int k = 0; joins && k < from->ncall; k++)
		joins = op_row(x->d->call.at[from->call[k]].op)->class == OP_ELEMENTWISE;
	return joins ? g : -1;
}

static bool has(const Alternative *a, const Group *g)
{
	for (int k = 0; k < a->ngroup; k++)
		if (a->group[k].call[a->group[k].ncall - 1] == g->call[g->ncall - 1])
			return true;
	return false;
}

static void add(Arena *a, Alternative *x, const Group *g)
{
	Group *wide = arena_array(a, Group, x->ngroup + 1);
	for (int k = 0; k < x->ngroup; k++)
		wide[k] = x->group[k];
	wide[x->ngroup++] = *g;
	x->group = wide;
}

/* The region of q, or a new one, with g in all of its alternatives; NULL: another region has g. */
static Region *region_of(Pairs *x, const Group *g, const Group *q)
{
	Arena *a = x->cutter.a;
	Region *found = NULL;
	for (int r = 0; r < x->p->nregion; r++) {
		const Alternative *first = &x->p->region[r].alternative[0];
		if (has(first, g))
			return NULL;
		found = has(first, q) ? &x->p->region[r] : found;
	}
	if (found == NULL) {
		found = &x->p->region[x->p->nregion++];
		*found = (Region){ .n = 1, .alternative = arena_array(a, Alternative, 1) };
		add(a, &found->alternative[0], q);
	}
	for (int k = 0; k < found->n; k++)
		add(a, &found->alternative[k], g);
	return found;
}

/* Adds an alternative: the region's first one with both groups joined. */
static bool add_pair(Pairs *x, const Group *g, const Group *q, Err *err)
{
	Arena *a = x->cutter.a;
	Group both;
	int *call = arena_array(a, int, g->ncall + q->ncall), n = 0;
	for (int k = 0; k < g->ncall + q->ncall; k++)
		call[n++] = k < g->ncall ? g->call[k] : q->call[k - g->ncall];
	Region *r = region_of(x, g, q);
	if (r == NULL)
		return true;
	if (!cut_group(&x->cutter, call, n, &both, err))
		return false;
	Alternative own = { 0 }, *wide = arena_array(a, Alternative, r->n + 1);
	for (int k = 0; k < r->alternative[0].ngroup; k++) {
		const Group *other = &r->alternative[0].group[k];
		int last = other->call[other->ncall - 1];
		if (last != g->call[g->ncall - 1] && last != q->call[q->ncall - 1])
			add(a, &own, other);
	}
	add(a, &own, &both);
	for (int k = 0; k < r->n; k++)
		wide[x->first + k] = r->alternative[k];
	wide[x->first ? 0 : r->n] = own;
	r->alternative = wide;
	r->taken += x->first;
	r->n++;
	return true;
}

/* Makes all pairs that `find` finds, in the order of their second groups. */
static bool make_pairs(Arena *a, const Dag *d, Partition *p, FindFirst find, bool first, Err *err)
{
	Pairs x = { .d = d, .p = p, .first = first };
	cutter_open(&x.cutter, a, d);
	for (int k = 0; k < p->ntask + p->nmore; k++) {
		names_bind(x.cutter.known, p->task[k]->text, k);
		vec_push(a, &x.cutter.task, p->task[k]);
	}
	x.owner = arena_array(a, int, d->call.n + 1);
	x.slots = arena_array(a, int, d->value.n + 1);
	x.taken = arena_array(a, bool, p->ngroup + 1);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] != DAG_NONE)
				x.slots[d->call.at[i].in[k]]++;
	for (size_t i = 0; i < d->output.n; i++)
		x.slots[d->output.at[i]]++;
	for (int g = 0; g < p->ngroup; g++)
		for (int i = 0; i < p->group[g].ncall; i++)
			x.owner[p->group[g].call[i]] = g;
	for (int q = 0; q < p->ngroup; q++) {
		int g = find(&x, q);
		if (g < 0)
			continue;
		if (!add_pair(&x, &p->group[g], &p->group[q], err))
			return false;
		x.taken[g] = x.taken[q] = true;
	}
	p->task = x.cutter.task.at;
	p->nmore = (int)x.cutter.task.n - p->ntask;
	weigh_tasks(p);
	return true;
}

bool graph_pairs(Arena *a, const Dag *d, Partition *p, Err *err)
{
	return make_pairs(a, d, p, find_depthwise, false, err);
}

Partition *graph_prologues(Arena *a, const Dag *d, Partition *p, Err *err)
{
	bool found = make_pairs(a, d, p, find_prologue, true, err);
	return found ? graph_take(a, p, arena_array(a, int, p->nregion + 1)) : NULL;
}
