/*
 * Cuts a Dag into groups of calls, each of which runs as one Task.
 * Each call that is neither elementwise nor a reduction of rows starts a group. An elementwise call joins the
 * group whose last result is one of its operands, if no other call reads that result and the number of elements stays.
 * Of two such groups it joins the one with more work, then the later one. So the add of a residual block joins its
 * second convolution and not the projection, and all blocks of a size are one Task. If several calls read the last
 * result of a group, they join together with the calls up to the value in which they meet again (x * sigmoid(x)).
 * What is left becomes cones (graph/cones.c): a call joins the group that has all its readers.
 * Only the last result of a group is read outside, so groups in the order of their last calls are in topological
 * order. A call that needs only a view of memory is a group without a Task (views.c).
 */
#include "graph/cones.h"
#include "graph/edit.h"
#include "graph/without.h"
#include "graph/group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_MEETING = 12 };

typedef struct Part {
	int first, n; /* calls are linked through next[] */
	int last;
	bool open;
	double work; /* operations of its first call */
} Part;

typedef struct Build {
	Arena *a;
	const Dag *d;
	int *uses;             /* reads of each value by calls; an output counts as two */
	Readers r;
	int *part;             /* of each call; -1: it is in none yet */
	int *next;             /* the next call of the same part, -1 at its end */
	bool *nothing;         /* of each call: nothing is run for it */
	int *joins;            /* of each call: the part that it will join, -1: not known yet */
	VEC(Part) parts;
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
		b->r.outputs[b->d->output.at[i]] = true;
}

static void list_readers(Build *b)
{
	const Dag *d = b->d;
	int n = 0;
	b->r.readers = arena_array(b->a, int, d->value.n + 2);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] != DAG_NONE) {
				b->r.readers[d->call.at[i].in[k] + 2]++;
				n++;
			}
	for (size_t v = 2; v < d->value.n + 2; v++)
		b->r.readers[v] += b->r.readers[v - 1];
	b->r.reader = arena_array(b->a, int, n + 1);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] != DAG_NONE)
				b->r.reader[b->r.readers[d->call.at[i].in[k] + 1]++] = (int)i;
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
 * Finds the calls between `value` and the value in which all of them meet, the only one that others read. 0:
 * there are none, or too many. `from` is the first call that is not in a part yet.
 */
static int find_meeting(const Build *b, int value, int from, int call[LONGEST_MEETING + 1])
{
	const Dag *d = b->d;
	int64_t elements = shape_elements(d->value.at[value].shape);
	int n = 0, at = 0, open = value; /* calls [0, at) are visited, the results of the others are not */
	while (b->uses[open] <= LONGEST_MEETING) {
		for (int k = b->r.readers[open]; k < b->r.readers[open + 1]; k++) {
			int c = b->r.reader[k];
			bool keeps_count = op_row(d->call.at[c].op)->class == OP_ELEMENTWISE && !b->nothing[c] &&
				shape_elements(d->value.at[d->call.at[c].out[0]].shape) == elements;
			if (c < from || b->joins[c] >= 0 || !keeps_count)
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
		if (b->r.readers[open] == b->r.readers[open + 1] || b->r.outputs[open])
			return 0;
	}
	return 0;
}

/* If all readers of a part's last result meet again in one value, they join the part. */
static void join_readers(Build *b, int value, int from)
{
	int call[LONGEST_MEETING + 1];
	const Value *v = &b->d->value.at[value];
	if (v->kind != VALUE_CALL || b->uses[value] < 2 || b->r.outputs[value])
		return;
	int p = b->part[v->call];
	if (p < 0)
		return;
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
		if (v->kind != VALUE_CALL || b->uses[c->in[k]] != 1 || shape_elements(v->shape) != n)
			continue;
		int p = b->part[v->call];
		if (p < 0)
			continue;
		assert((size_t)p < b->parts.n && b->parts.at != NULL);
		const Part *part = &b->parts.at[p];
		if (!part->open || part->n >= LONGEST_GROUP)
			continue;
		const Part *than = best >= 0 ? &b->parts.at[best] : NULL;
		if (than == NULL || part->work > than->work || (part->work == than->work && part->last > than->last))
			best = p;
	}
	return best;
}

/* A group gives the results of its last call, so a call may have another one behind it only for one used result. */
static int used_results(const Build *b, const OpCall *c)
{
	int n = 0;
	for (int k = 0; k < c->nout; k++)
		n += b->uses[c->out[k]] > 0 || b->r.outputs[c->out[k]];
	return n;
}

static void add_to_part(Build *b, int i, int p)
{
	assert(b->parts.at != NULL);
	Part *part = &b->parts.at[p];
	b->next[part->last] = i;
	part->last = i;
	part->n++;
	b->part[i] = p;
}

static void begin_part(Build *b, int i)
{
	const OpCall *c = &b->d->call.at[i];
	bool open = !b->nothing[i] && op_row(c->op)->class != OP_MOVE && used_results(b, c) <= 1;
	Part fresh = { i, 1, i, open, op_flops(b->d, c) };
	b->part[i] = (int)b->parts.n;
	vec_push(b->a, &b->parts, fresh);
}

/* Elementwise calls and reductions of rows follow an anchor, or they are left to cones. */
static bool is_loose(const OpCall *c)
{
	const OpRow *row = op_row(c->op);
	return row->class == OP_ELEMENTWISE || (row->traits & OP_ROWS) != 0;
}

static void assign_parts(Build *b)
{
	bool joins = graph_does(b->d, FEATURE_OF_GRAPH_epilogues);
	for (int i = 0; i < (int)b->d->call.n; i++) {
		const OpCall *c = &b->d->call.at[i];
		for (int k = 0; joins && k < c->nin && b->joins[i] < 0 && op_row(c->op)->class == OP_ELEMENTWISE; k++)
			if (c->in[k] != DAG_NONE)
				join_readers(b, c->in[k], i);
		int p = b->nothing[i] || !joins ? -1 : b->joins[i] >= 0 ? b->joins[i] : part_to_join(b, c);
		b->next[i] = b->part[i] = -1;
		if (p >= 0)
			add_to_part(b, i, p);
		else if (b->nothing[i] || !is_loose(c))
			begin_part(b, i);
	}
}

static void assign_cones(Build *b)
{
	int n = (int)b->d->call.n, *root = arena_array(b->a, int, n + 1);
	bool *loose = arena_array(b->a, bool, n + 1);
	for (int i = 0; i < n; i++)
		loose[i] = b->part[i] < 0;
	if (graph_does(b->d, FEATURE_OF_GRAPH_cones))
		graph_find_cones(b->a, b->d, &b->r, loose, root);
	else
		for (int i = 0; i < n; i++)
			root[i] = loose[i] ? i : -1;
	int *part = arena_array(b->a, int, n + 1); /* of the group that ends there */
	for (int i = 0; i < n; i++)
		part[i] = -1;
	for (int i = 0; i < n; i++)
		if (root[i] >= 0 && part[root[i]] >= 0) {
			add_to_part(b, i, part[root[i]]);
		} else if (root[i] >= 0) {
			begin_part(b, i);
			part[root[i]] = b->part[i];
		}
}

static int by_last(const void *x, const void *y)
{
	return ((const Part *)x)->last - ((const Part *)y)->last;
}

/* The parts as groups in order of their last calls. */
static bool make_groups(Build *b, Cutter *cutter, Partition *p, Err *err)
{
	p->group = arena_array(b->a, Group, b->parts.n + 1);
	if (b->parts.n > 0)
		qsort(b->parts.at, b->parts.n, sizeof(Part), by_last);
	for (size_t i = 0; i < b->parts.n; i++) {
		const Part *part = &b->parts.at[i];
		Group *g = &p->group[p->ngroup++];
		int *call = arena_array(b->a, int, part->n), n = 0;
		for (int c = part->first; c >= 0; c = b->next[c])
			call[n++] = c;
		if (b->nothing[part->first])
			*g = (Group){ .ncall = n, .call = call, .number = -1 };
		else if (!cut_group(cutter, call, n, g, err))
			return false;
	}
	p->ntask = (int)cutter->task.n;
	return true;
}

Partition *graph_partition(Arena *a, const Dag *d, Err *err)
{
	Build b = { .a = a, .d = d };
	Cutter cutter;
	cutter_open(&cutter, a, d);
	b.uses = arena_array(a, int, d->value.n + 1);
	b.part = arena_array(a, int, d->call.n + 1);
	b.next = arena_array(a, int, d->call.n + 1);
	b.r.outputs = arena_array(a, bool, d->value.n + 1);
	b.nothing = arena_array(a, bool, d->call.n + 1);
	b.joins = arena_array(a, int, d->call.n + 1);
	Partition *p = arena_new_of(a, Partition);
	p->view = find_views(a, d, b.nothing);
	for (size_t i = 0; i < d->call.n; i++)
		b.joins[i] = -1;
	count_uses(&b);
	list_readers(&b);
	assign_parts(&b);
	assign_cones(&b);
	if (!make_groups(&b, &cutter, p, err))
		return NULL;
	return find_regions(&cutter, p, err) ? p : NULL;
}
