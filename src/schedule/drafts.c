/*
 * See drafts.h. The traces seen are a tree of steps. A node where several of them have parted gets the set that the
 * steps to it make. Work goes on in forks of its Ir, so that nothing that is kept changes, and no set is scheduled from
 * the naive form again. Nothing is forgotten: when the memory is used up, no more sets are kept.
 */
#include "schedule/drafts.h"

#include "ir/walk.h"
#include "op/naive.h"
#include "schedule/launch.h"

#include <stdlib.h>
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

/* ---- many at a time ---- */

/* What the first steps of the job at hand make. */
typedef struct Level {
	Arena *arena;
	const KernelSet *ks; /* NULL: refused */
	LimitCost cost;
	size_t steps;
} Level;

typedef struct Sorted {
	const DraftJob *job;
	int number;
	size_t shared; /* steps that it has in common with the next one */
} Sorted;

typedef struct Levels {
	Drafts *drafts;
	Arena *arena;
	VEC(Level) at; /* from the naive form inwards */
} Levels;

static int by_text(const void *pa, const void *pb)
{
	const Sorted *a = pa, *b = pb;
	int order = strcmp(a->job->text, b->job->text);
	return order != 0 ? order : a->number - b->number;
}

/* Equal lines at the beginning; a step is a line. */
static size_t shared_steps(const char *a, const char *b)
{
	size_t lines = 0;
	for (; *a != 0 && *a == *b; a++, b++)
		lines += *a == '\n';
	return lines;
}

static const Level *innermost(const Levels *v)
{
	return v->at.n > 0 ? &v->at.at[v->at.n - 1] : NULL;
}

static void leave_levels(Levels *v, size_t steps)
{
	while (v->at.n > 0 && v->at.at[v->at.n - 1].steps > steps)
		arena_free(v->at.at[--v->at.n].arena);
}

/* The node behind so many steps, and the innermost one on the way whose set is kept. */
static DraftNode *find_node(Drafts *d, const Trace *t, size_t steps, Arena *a, const DraftNode **kept, size_t *have)
{
	DraftNode *at = &d->root;
	*kept = at;
	*have = 0;
	for (size_t i = 0; i < steps && at != NULL; i++) {
		at = find_child(at, step_text(a, t, i));
		if (at != NULL && at->ks != NULL) {
			*kept = at;
			*have = i + 1;
		}
	}
	return at;
}

/* The set of the first steps, from the innermost one that is there; NULL: refused. */
static KernelSet *go_on(const Levels *v, Arena *a, const Trace *t, size_t steps, LimitCost *cost)
{
	const Level *from = innermost(v);
	const DraftNode *kept;
	size_t have;
	Arena *scratch = arena_new();
	find_node(v->drafts, t, steps, scratch, &kept, &have);
	arena_free(scratch);
	KernelSet *ks = NULL;
	if (from != NULL && from->steps >= have) {
		*cost = from->cost;
		have = from->steps;
		ks = from->ks != NULL ? ir_fork_set(a, from->ks) : NULL;
	} else {
		ks = begin(v->drafts, a, kept, cost, NULL);
	}
	return ks != NULL && apply(v->drafts, ks, t, have, steps, cost, NULL) ? ks : NULL;
}

static void enter_level(Levels *v, const Trace *t, size_t steps)
{
	Level x = { .arena = arena_new(), .steps = steps };
	x.ks = go_on(v, x.arena, t, steps, &x.cost);
	vec_push(v->arena, &v->at, x);
}

/* Levels where the job parts from later ones, the outermost first: the farther one is, the less it has in common. */
static void enter_levels(Levels *v, const Sorted *s, int at, int n)
{
	const Level *top = innermost(v);
	size_t have = top != NULL ? top->steps : 0, least = s[at].shared;
	VEC(size_t) part = { 0 };
	for (int i = at; i < n && s[i].shared > have; i++) {
		if (s[i].shared < least || i == at)
			vec_push(v->arena, &part, s[i].shared);
		least = s[i].shared < least ? s[i].shared : least;
	}
	while (part.n > 0)
		enter_level(v, s[at].job->trace, part.at[--part.n]);
}

void drafts_each(
	Drafts *d, const DraftJob *job, int n, void (*take)(void *arg, int i, Arena *a, const KernelSet *ks), void *arg)
{
	Arena *scratch = arena_new();
	Levels v = { .drafts = d, .arena = scratch };
	Sorted *s = arena_array(scratch, Sorted, n + 1);
	for (int i = 0; i < n; i++)
		s[i] = (Sorted){ &job[i], i, 0 };
	qsort(s, (size_t)n, sizeof *s, by_text);
	for (int i = 0; i + 1 < n; i++)
		s[i].shared = shared_steps(s[i].job->text, s[i + 1].job->text);
	for (int i = 0; i < n; i++) {
		Arena *a = arena_new();
		const Trace *t = s[i].job->trace;
		LimitCost cost;
		enter_levels(&v, s, i, n);
		KernelSet *ks = go_on(&v, a, t, t->step.n, &cost);
		take(arg, s[i].number, a, ks != NULL && launch_fit(ks, d->target, t->name, NULL) ? ks : NULL);
		leave_levels(&v, s[i].shared);
	}
	leave_levels(&v, 0);
	arena_free(scratch);
}
