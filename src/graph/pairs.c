/*
 * See pairs.h: two groups may be one Task, if only the second one reads the result of the first. That result is then
 * never stored. If one of them is in a region already, the pair is one more alternative of that region. A group is
 * in one pair at most.
 *
 * graph_pairs offers depthwise convolutions with pointwise ones, for devices whose threads run in warps: the last
 * alternative. graph_near_pairs is for CPUs, and offers the first alternative: convolutions of all channels with the
 * depthwise ones that read them, elementwise calls with the convolution or pooling that reads them. A convolution with
 * overlapping windows has no prologue: it would compute an element for each window.
 */
#include "graph/pairs.h"

#include "graph/group.h"
#include "graph/without.h"
#include "op/shape.h"

typedef struct Pairs {
	Cutter cutter;
	const Dag *d;
	const Target *target; /* NULL: any */
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

static bool is_depthwise(const Pairs *x, const OpCall *c)
{
	return op_int(c, "groups") > 1 && x->d->value.at[c->in[1]].shape.dim[1] == 1;
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
	bool depthwise = first != NULL && is_depthwise(x, first);
	return depthwise && from->call[from->ncall - 1] == v->call && from->ncall + to->ncall <= LONGEST_GROUP ? g : -1;
}

/* A convolution of all channels that Winograd's algorithm does not take: it makes more than a row at a time. */
static bool makes_rows(const Dag *d, const OpCall *c)
{
	Window w;
	return op_is_pointwise(d, c) || (op_int(c, "groups") == 1 && op_window(d, c, &w, NULL) && w.stride[0] > 1);
}

/*
 * The group of a convolution whose image the depthwise convolution of q alone reads, if a thread's part of
 * the image is too large to stay in its second cache until it is read. Threads share the channels.
 */
static int find_maker(const Pairs *x, int q)
{
	const Group *to = &x->p->group[q];
	const OpCall *c = anchor(x, to);
	const Target *t = x->target;
	if (c == NULL || !is_depthwise(x, c) || x->taken[q] || x->slots[c->in[0]] != 1)
		return -1;
	const Value *v = &x->d->value.at[c->in[0]], *y = &x->d->value.at[c->out[0]];
	int64_t near = target_cache(t, 2), channels = v->shape.dim[1];
	int g = v->kind == VALUE_CALL ? x->owner[v->call] : q;
	const Group *from = &x->p->group[g];
	const OpCall *first = g != q && !x->taken[g] ? anchor(x, from) : NULL;
	if (first == NULL || !makes_rows(x->d, first) || x->d->value.at[to->out[0]].layout == NULL ||
		from->call[from->ncall - 1] != v->call || from->ncall + to->ncall > LONGEST_GROUP)
		return -1;
	bool large = near > 0 && (double)value_bytes(v) > GRAPH_RING_IMAGE * (double)near * t->threads;
	return large && channels >= (int64_t)target_lanes(t, y->type) * t->threads && y->shape.dim[2] > 1 ? g : -1;
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

static Region *region_with(Partition *p, const Group *g)
{
	for (int r = 0; r < p->nregion; r++)
		if (has(&p->region[r].alternative[0], g))
			return &p->region[r];
	return NULL;
}

/* Region `with` becomes part of `to`: its groups as they are beside each alternative of `to`, and the other way. */
static void join_regions(Pairs *x, Region *to, const Region *with)
{
	Arena *a = x->cutter.a;
	const Alternative *own = &to->alternative[0], *other = &with->alternative[0];
	Alternative *all = arena_array(a, Alternative, to->n + with->n);
	for (int k = 0; k < to->n + with->n - 1; k++) {
		const Alternative *u = k < to->n ? &to->alternative[k] : own;
		const Alternative *v = k < to->n ? other : &with->alternative[k - to->n + 1];
		for (int i = 0; i < u->ngroup; i++)
			add(a, &all[k], &u->group[i]);
		for (int i = 0; i < v->ngroup; i++)
			add(a, &all[k], &v->group[i]);
	}
	to->alternative = all;
	to->n += with->n - 1;
}

/* The region that has both groups in its first alternatives: theirs become one, or it is new. */
static Region *region_of(Pairs *x, const Group *g, const Group *q)
{
	Arena *a = x->cutter.a;
	Partition *p = x->p;
	Region *found = region_with(p, q), *other = region_with(p, g);
	if (found == NULL) {
		found = &p->region[p->nregion++];
		*found = (Region){ .n = 1, .alternative = arena_array(a, Alternative, 1) };
		add(a, &found->alternative[0], q);
	}
	if (other == NULL) {
		for (int k = 0; k < found->n; k++)
			add(a, &found->alternative[k], g);
		return found;
	}
	if (other == found)
		return found;
	join_regions(x, found, other);
	Region *last = &p->region[--p->nregion];
	*other = *last; /* nothing, if it is the last one */
	return found != last ? found : other;
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

static void open_pairs(Pairs *x, Arena *a, const Dag *d, const Target *t, Partition *p, bool first)
{
	*x = (Pairs){ .d = d, .target = t, .p = p, .first = first };
	cutter_open(&x->cutter, a, d);
	for (int k = 0; k < p->ntask + p->nmore; k++) {
		names_bind(x->cutter.known, p->task[k]->text, k);
		vec_push(a, &x->cutter.task, p->task[k]);
	}
	x->owner = arena_array(a, int, d->call.n + 1);
	x->slots = arena_array(a, int, d->value.n + 1);
	x->taken = arena_array(a, bool, p->ngroup + 1);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] != DAG_NONE)
				x->slots[d->call.at[i].in[k]]++;
	for (size_t i = 0; i < d->output.n; i++)
		x->slots[d->output.at[i]]++;
	for (int g = 0; g < p->ngroup; g++)
		for (int i = 0; i < p->group[g].ncall; i++)
			x->owner[p->group[g].call[i]] = g;
}

/* Makes all pairs that `find` finds, in the order of their second groups. */
static bool make_pairs(Pairs *x, FindFirst find, Err *err)
{
	for (int q = 0; q < x->p->ngroup; q++) {
		int g = find(x, q);
		if (g < 0)
			continue;
		if (!add_pair(x, &x->p->group[g], &x->p->group[q], err))
			return false;
		x->taken[g] = x->taken[q] = true;
	}
	return true;
}

static void close_pairs(Pairs *x)
{
	Partition *p = x->p;
	p->task = x->cutter.task.at;
	p->nmore = (int)x->cutter.task.n - p->ntask;
	weigh_tasks(p);
}

bool graph_pairs(Arena *a, const Dag *d, Partition *p, Err *err)
{
	Pairs x;
	open_pairs(&x, a, d, NULL, p, false);
	bool made = make_pairs(&x, find_depthwise, err);
	close_pairs(&x);
	return made;
}

Partition *graph_near_pairs(Arena *a, const Dag *d, const Target *t, Partition *p, Err *err)
{
	Pairs x;
	open_pairs(&x, a, d, t, p, true);
	bool made = !graph_does(d, FEATURE_OF_GRAPH_rings) || t == NULL || target_has_blocks(t) ||
		make_pairs(&x, find_maker, err);
	made = made && (!graph_does(d, FEATURE_OF_GRAPH_prologues) || make_pairs(&x, find_prologue, err));
	close_pairs(&x);
	return made ? graph_take(a, p, arena_array(a, int, p->nregion + 1)) : NULL;
}
