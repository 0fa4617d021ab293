/*
 * Logical threads: fork, join, barriers, and the choice of the thread that runs next, drawn from the run's Rng. An
 * instance exists only from its first to its last instruction; a thread runs until it ends, forks, meets a barrier,
 * or yields. A barrier's root is the nearest ancestor outside its scope. The barrier opens when all leaves of the tree
 * below the root have come to the same statement. It diverges if no thread can run while some wait.
 */
#include "interp/step.h"

#include <string.h>

enum { LIVE_WANTED = 512 }; /* beyond, what exists is preferred to what could begin */

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t c = a % b;
		a = b;
		b = c;
	}
	return a;
}

/* A random order of n things: first, first + step, ... modulo n; step has no factor of n. */
void interp_order(Run *r, uint64_t n, uint64_t *first, uint64_t *step)
{
	*first = rng_below(&r->rng, n);
	*step = 1;
	for (int tries = 0; tries < 8 && n > 2; tries++) {
		uint64_t s = 1 + rng_below(&r->rng, n - 1);
		if (gcd(s, n) == 1) {
			*step = s;
			return;
		}
	}
	if (n > 1 && (rng_next(&r->rng) & 1))
		*step = n - 1;
}

Thread *interp_thread(Run *r, Thread *parent)
{
	const Program *p = r->p;
	Thread *t = r->idle;
	size_t values = sizeof(Val) * p->nslot;
	if (t != NULL) {
		r->idle = t->next;
	} else {
		t = interp_get(r, sizeof *t, true);
		Val *slot = interp_get(r, values + sizeof(Val) * (p->nconst + 1), true);
		View **view = interp_get(r, sizeof *view * (p->nview + 1), true);
		if (t == NULL || slot == NULL || view == NULL)
			return NULL;
		t->slot = slot;
		t->view = view;
		if (p->nconst > 0)
			memcpy(slot + p->nslot, p->constant, sizeof(Val) * p->nconst);
	}
	t->parent = parent;
	t->owned = NULL;
	t->know = NULL;
	t->committed = 0;
	t->pending.n = 0;
	t->nleaf = 1;
	t->narrived = 0;
	t->arrived = t->next = t->waits_at = NULL;
	t->place = r->live.n;
	vec_push(r->arena, &r->live, t);
	if (parent != NULL) {
		memcpy(t->slot, parent->slot, values);
		memcpy(t->view, parent->view, sizeof *t->view * p->nview);
		if ((t->know = parent->know) != NULL)
			t->know->refs++;
	}
	return t;
}

static void thread_end(Run *r, Thread *t)
{
	interp_release(r, t);
	interp_know_drop(r, t->know);
	t->know = NULL;
	Thread *last = r->live.at[--r->live.n];
	r->live.at[t->place] = last;
	last->place = t->place;
	t->next = r->idle;
	r->idle = t;
}

bool interp_fork(Run *r, Thread *t, int64_t lo, int64_t n)
{
	Fork *f = r->idle_fork;
	if (f != NULL)
		r->idle_fork = f->next;
	else if ((f = interp_get(r, sizeof *f, true)) == NULL)
		return false;
	*f = (Fork){ .parent = t, .lo = lo, .n = n, .pc = t->pc };
	interp_order(r, (uint64_t)f->n, &f->now, &f->step);
	interp_race_fork(r, t->tid);
	for (Thread *a = t; a != NULL; a = a->parent)
		a->nleaf += f->n - 1;
	vec_push(r->arena, &r->open, f);
	return true;
}

/* Begins the next instance of the k-th open fork. */
static Thread *instance(Run *r, size_t k)
{
	Fork *f = r->open.at[k];
	const Ins *i = &r->p->ins[f->pc];
	Thread *t = interp_thread(r, f->parent);
	if (t == NULL || !interp_race_child(r, f->parent->tid, &t->tid))
		return NULL;
	t->fork = f;
	t->level = i->node;
	t->slot[i->d].i = f->lo + (int64_t)f->now;
	t->pc = f->pc + 1;
	f->now = (f->now + f->step) % (uint64_t)f->n;
	if (++f->started == f->n)
		r->open.at[k] = r->open.at[--r->open.n];
	return t;
}

bool interp_join(Run *r, Thread *t)
{
	Fork *f = t->fork;
	Thread *parent = f->parent;
	if (!interp_know_merge(r, &f->know, t->know))
		return false;
	for (size_t k = 0; k < t->pending.n; k++) { /* copies not waited for: the parent's, not committed */
		Pending p = t->pending.at[k];
		p.group = parent->committed;
		vec_push(r->arena, &parent->pending, p);
	}
	thread_end(r, t);
	if (++f->done < f->n)
		return true;
	if (!interp_know_merge(r, &parent->know, f->know))
		return false;
	interp_know_drop(r, f->know);
	for (Thread *a = parent; a != NULL; a = a->parent)
		a->nleaf -= f->n - 1;
	interp_race_joined(r, parent->tid);
	parent->pc = r->p->ins[f->pc].c;
	vec_push(r->arena, &r->ready, parent);
	f->next = r->idle_fork;
	r->idle_fork = f;
	return true;
}

static const char *scope_at(const Run *r, uint32_t pc)
{
	static const char *const scope[] = { "", "grid", "cluster", "block", "warp", "lane" };
	return scope[r->p->ins[pc].node];
}

/* All leaves below the root have come: what any of them did or knew, all know now. */
static bool open_barrier(Run *r, Thread *root)
{
	Know *all = NULL;
	for (Thread *m = root->arrived; m != NULL; m = m->next)
		if (!interp_know_merge(r, &all, m->know))
			return false;
	interp_race_fork(r, root->tid);
	for (Thread *m = root->arrived, *next; m != NULL; m = next) {
		next = m->next;
		m->waits_at = m->next = NULL;
		if (all != NULL) {
			interp_know_drop(r, m->know);
			m->know = all;
			all->refs++;
		}
		vec_push(r->arena, &r->ready, m);
	}
	interp_know_drop(r, all);
	root->arrived = NULL;
	root->narrived = 0;
	return true;
}

bool interp_barrier(Run *r, Thread *t, int level, bool *stop)
{
	Thread *root = t;
	while (root->level >= level)
		root = root->parent;
	*stop = root != t;
	if (root == t)
		return true;
	uint32_t pc = t->pc;
	if (root->narrived > 0 && root->barrier_pc != pc)
		return interp_fail(r, pc, ERR_RACE, "barrier %s is met by some instances while others wait at %s",
			scope_at(r, pc), interp_place(r->arena, r->p->origin[root->barrier_pc]));
	root->barrier_pc = pc;
	root->narrived++;
	t->pc++;
	t->waits_at = root;
	t->next = root->arrived;
	root->arrived = t;
	return root->narrived < root->nleaf || open_barrier(r, root);
}

static bool below(const Thread *t, const Thread *root)
{
	while (t != NULL && t != root)
		t = t->parent;
	return t == root;
}

/* Nobody can run, the first thread is not at its end: some wait for those that will not come. */
static bool stuck(Run *r)
{
	const Thread *w = NULL;
	for (size_t k = 0; k < r->live.n && w == NULL; k++)
		if (r->live.at[k]->waits_at != NULL)
			w = r->live.at[k];
	if (w == NULL)
		return fail(
			r->err, ERR_BUG, r->p->fn->name, "the interpreter has no thread to run");
	uint32_t pc = w->pc - 1;
	for (size_t k = 0; k < r->live.n; k++) {
		const Thread *o = r->live.at[k];
		if (below(o, w->waits_at) && o->waits_at != NULL && o->pc != w->pc)
			return interp_fail(r, pc, ERR_RACE, "barrier %s waits for instances that wait at %s", scope_at(r, pc),
				interp_place(r->arena, r->p->origin[o->pc - 1]));
		if (below(o, w->waits_at) && o->fork != NULL && o->fork->done > 0 &&
			o != w->waits_at)
			return interp_fail(r, pc, ERR_RACE, "barrier %s waits for instances of the loop at %s that have ended",
				scope_at(r, pc), interp_place(r->arena, r->p->origin[o->fork->pc]));
	}
	return interp_fail(r, pc, ERR_RACE, "barrier %s waits for instances that do not come", scope_at(r, pc));
}

bool interp_schedule(Run *r, Thread *first)
{
	bool over = false;
	vec_push(r->arena, &r->ready, first);
	while (!over) {
		size_t nready = r->ready.n, nopen = r->open.n;
		if (nready > 0 && r->live.n > LIVE_WANTED)
			nopen = 0;
		if (nready + nopen == 0)
			return stuck(r);
		size_t k = (size_t)rng_below(&r->rng, nready + nopen);
		Thread *t;
		if (k < nready) {
			t = r->ready.at[k];
			r->ready.at[k] = r->ready.at[--r->ready.n];
		} else if ((t = instance(r, k - nready)) == NULL) {
			return false;
		}
		if (!interp_exec(r, t, &over))
			return false;
	}
	return true;
}
