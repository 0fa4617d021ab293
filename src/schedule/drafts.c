/*
 * See drafts.h. The traces seen are a tree of steps. A node where several of them have parted gets the set that the
 * steps to it make. Work goes on in forks of its Ir, so that nothing that is kept changes, and no set is scheduled from
 * the naive form again. Nothing is forgotten: when the memory is used up, no more sets are kept.
 */
#include "schedule/drafts.h"

#include "ir/walk.h"
#include "op/naive.h"
#include "schedule/launch.h"

#include <string.h>

enum {
	KEPT_BYTES = 8 << 20, /* of sets for one Task: a network has some 50, which are tuned side by side */
	PARTED = 2            /* traces that went on from a node differently before its set is kept */
};

typedef struct DraftNode DraftNode;
struct DraftNode {
	DraftNode *child, *sibling;
	const char *step;
	int parted;          /* how many traces left here that others went on from */
	const KernelSet *ks; /* what the steps to it make; NULL: not kept */
	LimitCost cost;      /* of these steps */
};

struct Drafts {
	Arena *arena;
	const Task *task;
	const Target *target;
	size_t bytes; /* of what is kept */
	DraftNode root;
};

Drafts *drafts_new(Arena *a, const Task *task, const Target *target)
{
	Drafts *d = arena_new_of(a, Drafts);
	*d = (Drafts){ .arena = a, .task = task, .target = target, .root = { .parted = PARTED } };
	return d;
}

/* The text of one step. */
static const char *step_text(Arena *a, const Trace *t, size_t i)
{
	Text text = { .arena = a };
	Trace one = { .step = { .at = &t->step.at[i], .n = 1 } };
	trace_print(&text, &one);
	return text_str(&text);
}

static DraftNode *find_child(const DraftNode *at, const char *step)
{
	DraftNode *c = at->child;
	while (c != NULL && strcmp(c->step, step) != 0)
		c = c->sibling;
	return c;
}

static DraftNode *add_child(Drafts *d, DraftNode *at, const char *step)
{
	DraftNode *c = arena_new_of(d->arena, DraftNode);
	*c = (DraftNode){ .sibling = at->child, .step = arena_copy(d->arena, step, strlen(step) + 1) };
	at->child = c;
	return c;
}

/* Applies steps from .. to - 1 of the trace. */
static bool apply(const Drafts *d, KernelSet *ks, const Trace *t, size_t from, size_t to, LimitCost *cost, Err *err)
{
	Trace part = { .name = t->name, .step = { .at = t->step.at + from, .n = to - from } };
	return from == to || trace_apply_more(ks, &part, d->task->dag, d->target, cost, err);
}

/* The naive set, or what is kept, in a fork of its Ir. */
static KernelSet *begin(const Drafts *d, Arena *a, const DraftNode *kept, LimitCost *cost, Err *err)
{
	*cost = kept->cost;
	return kept->ks != NULL ? ir_fork_set(a, kept->ks) : op_naive(ir_new(a), d->task->dag, "k", NAIVE_AS_TYPED, err);
}

const KernelSet *drafts_make(Drafts *d, Arena *a, const Trace *t, Err *err)
{
	DraftNode *at = &d->root, *kept = at, *next = at;
	size_t n = t->step.n, depth = 0, have = 0, i = 0;
	LimitCost cost;
	for (; i < n && (next = find_child(at, step_text(a, t, i))) != NULL; at = next)
		if (++i, next->ks != NULL) {
			kept = next;
			have = i;
		}
	depth = i;
	at->parted += i < n;
	size_t before = arena_used(d->arena);
	for (DraftNode *c = at; i < n && d->bytes < KEPT_BYTES; i++)
		c = add_child(d, c, step_text(a, t, i));
	d->bytes += arena_used(d->arena) - before;
	if (at->ks == NULL && at->parted > PARTED && d->bytes < KEPT_BYTES) {
		size_t used = arena_used(d->arena);
		KernelSet *ks = begin(d, d->arena, kept, &cost, err);
		bool ok = ks != NULL && apply(d, ks, t, have, depth, &cost, err);
		d->bytes += arena_used(d->arena) - used;
		if (!ok)
			return NULL;
		at->ks = ks;
		at->cost = cost;
		kept = at;
		have = depth;
	}
	KernelSet *ks = begin(d, a, kept, &cost, err);
	bool ok = ks != NULL && apply(d, ks, t, have, n, &cost, err) && launch_fit(ks, d->target, t->name, err);
	return ok ? ks : NULL;
}
