/*
 * Alternatives of a model's partition. A region is the group of an anchor whose tail has a cost of its own:
 * a residual sum, which reads one more image, or an activation of many operations. The tail may stay in the
 * group, be a Task of its own, or join the other anchor that it reads (the projection of a residual block,
 * if only the tail reads that). Measurements decide: alternatives are compared by the sum of the times of
 * their Tasks.
 *
 *         conv3x3 +add+relu, conv1x1  |  conv3x3, conv1x1 +add+relu  |  conv3x3, conv1x1, add +relu
 *
 * A group is in one region at most, so the least sum over the model is the sum of the least of each region.
 * Not offered: cuts at several calls of one tail, tails of pools and reductions, groups of several anchors.
 */
#include "graph/group.h"

#include <stdlib.h>

enum { MOST_ALTERNATIVES = 3 /* that make_region makes */ };

typedef struct Find {
	Cutter *cutter;
	const Dag *d;
	const Partition *p;
	int *owner;    /* of each call: its group */
	int *slots;    /* of each value: how often it is read, once more for an output */
	bool *claimed; /* of each group: a region has it */
	Err *err;
} Find;

static int64_t elements(const Find *f, int v)
{
	return shape_elements(f->d->value.at[v].shape);
}

/* The group whose result value v is, if that is another one than g; -1: there is none. */
static int other_group(const Find *f, int v, int g)
{
	const Value *x = v != DAG_NONE ? &f->d->value.at[v] : NULL;
	int q = x != NULL && x->kind == VALUE_CALL ? f->owner[x->call] : g;
	return q != g ? q : -1;
}

static bool reads_another_image(const Find *f, const OpCall *c, int g)
{
	for (int k = 0; k < c->nin; k++)
		if (c->in[k] != DAG_NONE && elements(f, c->in[k]) == elements(f, c->out[0]) &&
			(f->d->value.at[c->in[k]].kind == VALUE_INPUT || other_group(f, c->in[k], g) >= 0))
			return true;
	return false;
}

/* True if the calls from `j` on read, of the group's earlier results, only that of call j - 1. */
static bool parts_before(const Find *f, int g, int j)
{
	const Group *of = &f->p->group[g];
	for (int i = j; i < of->ncall; i++) {
		const OpCall *c = &f->d->call.at[of->call[i]];
		for (int k = 0; k < c->nin; k++) {
			const Value *x = c->in[k] != DAG_NONE ? &f->d->value.at[c->in[k]] : NULL;
			if (x != NULL && x->kind == VALUE_CALL && f->owner[x->call] == g && x->call < of->call[j] &&
				x->call != of->call[j - 1])
				return false;
		}
	}
	return true;
}

/* The first call of the tail that may be cut off; 0: there is none. */
static int find_tail(const Find *f, int g)
{
	const Group *of = &f->p->group[g];
	if (of->task == NULL || op_row(f->d->call.at[of->call[0]].op)->class != OP_ANCHOR)
		return 0;
	for (int j = 1; j < of->ncall; j++) {
		const OpCall *c = &f->d->call.at[of->call[j]];
		if (((op_row(c->op)->traits & OP_SLOW) || reads_another_image(f, c, g)) && parts_before(f, g, j))
			return j;
	}
	return 0;
}

static int count_reads(const Find *f, const int *call, int n, int v)
{
	int count = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < f->d->call.at[call[i]].nin; k++)
			count += f->d->call.at[call[i]].in[k] == v;
	return count;
}

/* The group of another anchor that the tail of g from `j` on may join; -1: there is none. */
static int find_other(const Find *f, int g, int j)
{
	const Group *of = &f->p->group[g];
	const OpCall *c = &f->d->call.at[of->call[j]];
	for (int k = 0; k < c->nin; k++) {
		int v = c->in[k], q = other_group(f, v, g);
		const Group *to = q >= 0 ? &f->p->group[q] : NULL;
		if (to != NULL && to->task != NULL && !f->claimed[q] && to->ncall + of->ncall - j <= LONGEST_GROUP &&
			op_row(f->d->call.at[to->call[0]].op)->class == OP_ANCHOR && elements(f, v) == elements(f, c->out[0]) &&
			count_reads(f, of->call + j, of->ncall - j, v) == f->slots[v])
			return q;
	}
	return -1;
}

static bool add_group(Find *f, Alternative *x, const Group *before, const int *call, int n)
{
	int nbefore = before != NULL ? before->ncall : 0;
	int *all = arena_array(f->cutter->a, int, nbefore + n);
	for (int i = 0; i < nbefore + n; i++)
		all[i] = i < nbefore ? before->call[i] : call[i - nbefore];
	return cut_group(f->cutter, all, nbefore + n, &x->group[x->ngroup++], f->err);
}

static void keep_group(Alternative *x, const Group *g)
{
	x->group[x->ngroup++] = *g;
}

/*
 * The alternatives of g, whose tail begins at `j`, and of q, which may be NULL: both as they are; the tail
 * in q; the tail alone.
 */
static bool make_region(Find *f, Region *r, const Group *g, int j, const Group *q)
{
	enum { MOST_GROUPS = 3 };
	Arena *a = f->cutter->a;
	Alternative *x = r->alternative = arena_array(a, Alternative, MOST_ALTERNATIVES);
	for (int k = 0; k < MOST_ALTERNATIVES; k++)
		x[k].group = arena_array(a, Group, MOST_GROUPS);
	keep_group(x, g);
	if (q != NULL)
		keep_group(x, q);
	x++;
	if (q != NULL) {
		if (!add_group(f, x, NULL, g->call, j) || !add_group(f, x, q, g->call + j, g->ncall - j))
			return false;
		x++;
	}
	if (!add_group(f, x, NULL, g->call, j) || !add_group(f, x, NULL, g->call + j, g->ncall - j))
		return false;
	if (q != NULL)
		keep_group(x, q);
	r->n = (int)(x - r->alternative) + 1;
	return true;
}

static bool in_earlier(const Region *r, int alternative, int number)
{
	for (int k = 0; k < alternative; k++)
		for (int i = 0; i < r->alternative[k].ngroup; i++)
			if (r->alternative[k].group[i].number == number)
				return true;
	return false;
}

/*
 * The weights of the Tasks that run, and of those that other alternatives would run: the number of regions
 * that have the Task.
 */
void weigh_tasks(Partition *p)
{
	for (int k = 0; k < p->ntask + p->nmore; k++)
		p->task[k]->weight = 0;
	for (int g = 0; g < p->ngroup; g++)
		if (p->group[g].task != NULL)
			p->group[g].task->weight++;
	for (int r = 0; r < p->nregion; r++)
		for (int k = 0; k < p->region[r].n; k++)
			for (int i = 0; i < p->region[r].alternative[k].ngroup; i++) {
				const Group *g = &p->region[r].alternative[k].group[i];
				if (g->number >= p->ntask && !in_earlier(&p->region[r], k, g->number))
					g->task->weight++;
			}
}

bool find_regions(Cutter *c, Partition *p, Err *err)
{
	Arena *a = c->a;
	Find f = { .cutter = c, .d = c->d, .p = p, .err = err };
	f.owner = arena_array(a, int, c->d->call.n + 1);
	f.slots = arena_array(a, int, c->d->value.n + 1);
	f.claimed = arena_array(a, bool, p->ngroup + 1);
	p->region = arena_array(a, Region, p->ngroup + 1);
	for (size_t i = 0; i < f.d->call.n; i++)
		for (int k = 0; k < f.d->call.at[i].nin; k++)
			if (f.d->call.at[i].in[k] != DAG_NONE)
				f.slots[f.d->call.at[i].in[k]]++;
	for (size_t i = 0; i < f.d->output.n; i++)
		f.slots[f.d->output.at[i]]++;
	for (int g = 0; g < p->ngroup; g++)
		for (int i = 0; i < p->group[g].ncall; i++)
			f.owner[p->group[g].call[i]] = g;
	for (int g = 0; g < p->ngroup; g++) {
		int j = f.claimed[g] ? 0 : find_tail(&f, g);
		if (j == 0)
			continue;
		int q = find_other(&f, g, j);
		if (!make_region(&f, &p->region[p->nregion++], &p->group[g], j, q >= 0 ? &p->group[q] : NULL))
			return false;
		f.claimed[g] = true;
		if (q >= 0)
			f.claimed[q] = true;
	}
	p->task = c->task.at;
	p->nmore = (int)c->task.n - p->ntask;
	weigh_tasks(p);
	return true;
}

/* ---- choosing ---- */

double graph_cost(const Alternative *x, const double *ms)
{
	double sum = 0;
	for (int i = 0; i < x->ngroup; i++) {
		if (ms[x->group[i].number] < 0)
			return -1;
		sum += ms[x->group[i].number];
	}
	return sum;
}

int graph_choose(const Region *r, const double *ms)
{
	int best = 0;
	double least = graph_cost(&r->alternative[0], ms) * GRAPH_FASTER;
	for (int k = 1; k < r->n && least >= 0; k++) {
		double cost = graph_cost(&r->alternative[k], ms);
		if (cost >= 0 && cost < least) {
			best = k;
			least = cost;
		}
	}
	return best;
}

static void add_weights(const Alternative *x, int by, int *weight)
{
	for (int i = 0; i < x->ngroup; i++)
		weight[x->group[i].number] += by;
}

void graph_weights(const Partition *p, const int *choice, int *weight)
{
	for (int k = 0; k < p->ntask + p->nmore; k++)
		weight[k] = k < p->ntask ? p->task[k]->weight : 0;
	for (int r = 0; r < p->nregion; r++) {
		add_weights(&p->region[r].alternative[p->region[r].taken], -1, weight);
		add_weights(&p->region[r].alternative[choice[r]], 1, weight);
	}
}

/* ---- taking others ---- */

static int last_call(const Group *g)
{
	return g->call[g->ncall - 1];
}

static int by_last(const void *a, const void *b)
{
	return last_call(a) - last_call(b);
}

/* The groups of the chosen alternatives, in the order of their last calls. A group is identified by its last call. */
static void take_groups(Arena *a, Partition *to, const Partition *p, const int *choice)
{
	int most = p->ngroup;
	bool *gone = arena_array(a, bool, p->ngroup > 0 ? last_call(&p->group[p->ngroup - 1]) + 1 : 1);
	for (int r = 0; r < p->nregion; r++) {
		const Alternative *x = &p->region[r].alternative[p->region[r].taken];
		for (int i = 0; i < x->ngroup; i++)
			gone[last_call(&x->group[i])] = true;
		most += p->region[r].alternative[choice[r]].ngroup;
	}
	to->group = arena_array(a, Group, most + 1);
	to->ngroup = 0;
	for (int g = 0; g < p->ngroup; g++)
		if (!gone[last_call(&p->group[g])])
			to->group[to->ngroup++] = p->group[g];
	for (int r = 0; r < p->nregion; r++)
		for (int i = 0; i < p->region[r].alternative[choice[r]].ngroup; i++)
			to->group[to->ngroup++] = p->region[r].alternative[choice[r]].group[i];
	if (to->ngroup > 0)
		qsort(to->group, (size_t)to->ngroup, sizeof(Group), by_last);
}

static void renumber(const Partition *p, const int *as, Group *g)
{
	if (g->number < 0)
		return;
	g->number = as[g->number];
	g->task = p->task[g->number];
}

/* Copies the Tasks of p, those first that `to` runs; as[k] is the new number of Task k. */
static void take_tasks(Arena *a, Partition *to, const Partition *p, int *as)
{
	int all = p->ntask + p->nmore;
	to->task = arena_array(a, Task *, all + 1);
	to->ntask = 0;
	for (int k = 0; k < all; k++)
		as[k] = -1;
	for (int g = 0; g < to->ngroup; g++)
		if (to->group[g].number >= 0 && as[to->group[g].number] < 0)
			as[to->group[g].number] = to->ntask++;
	int n = to->ntask;
	for (int k = 0; k < all; k++)
		as[k] = as[k] < 0 ? n++ : as[k];
	for (int k = 0; k < all; k++)
		to->task[as[k]] = arena_copy(a, p->task[k], sizeof(Task));
	to->nmore = all - to->ntask;
}

Partition *graph_take(Arena *a, const Partition *p, const int *choice)
{
	Partition *to = arena_copy(a, p, sizeof *p);
	int *as = arena_array(a, int, p->ntask + p->nmore + 1);
	take_groups(a, to, p, choice);
	take_tasks(a, to, p, as);
	for (int g = 0; g < to->ngroup; g++)
		renumber(to, as, &to->group[g]);
	to->region = arena_array(a, Region, p->nregion + 1);
	for (int r = 0; r < p->nregion; r++) {
		Region *x = &to->region[r];
		*x = (Region){ p->region[r].n, arena_array(a, Alternative, p->region[r].n), choice[r] };
		for (int k = 0; k < x->n; k++) {
			const Alternative *from = &p->region[r].alternative[k];
			x->alternative[k] = (Alternative){ from->ngroup, arena_array(a, Group, from->ngroup) };
			for (int i = 0; i < from->ngroup; i++) {
				x->alternative[k].group[i] = from->group[i];
				renumber(to, as, &x->alternative[k].group[i]);
			}
		}
	}
	weigh_tasks(to);
	return to;
}
