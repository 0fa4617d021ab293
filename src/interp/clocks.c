/*
 * Races: two accesses to one element, at least one of them a write, that nothing orders. Forks, joins and barriers are
 * the tree of threads with a time each (interp/thread.h). An atomic acquires what earlier atomics on its element
 * released: (subtree, time) for every ancestor of the releasing thread, and what that thread had acquired itself. The
 * check is exact for the order of events that happened to run: it reports every race in it, and only races.
 */
#include "interp/step.h"

#include <stdlib.h>
#include <string.h>

bool interp_race_start(Run *r)
{
	r->races = r->p->forks && !r->how->skip_races;
	r->now = 1;
	r->ninfo = 1;
	r->info_cap = 64;
	r->info = interp_get(r, sizeof(Info) * r->info_cap, true);
	return r->info != NULL;
}

bool interp_race_child(Run *r, uint32_t parent, uint32_t *tid)
{
	*tid = 0;
	if (!r->races)
		return true;
	if (r->ninfo == r->info_cap) {
		if (r->info_cap > UINT32_MAX / 4)
			return fail(r->err, ERR_MEMORY, r->p->fn->name,
				"too many instances to check for races");
		Info *wide = interp_get(r, 2 * sizeof(Info) * r->info_cap, false);
		if (wide == NULL)
			return false;
		memcpy(wide, r->info, sizeof(Info) * r->info_cap);
		interp_put(r, r->info, sizeof(Info) * r->info_cap);
		r->info = wide;
		r->info_cap *= 2;
	}
	*tid = r->ninfo++;
	r->info[*tid] = (Info){ 0, parent, r->info[parent].depth + 1 };
	return true;
}

void interp_race_fork(Run *r, uint32_t tid)
{
	if (r->races)
		r->info[tid].sync = r->now++;
}

/* When only the first thread is left, everything is in the past, and identities start anew. */
void interp_race_joined(Run *r, uint32_t tid)
{
	if (r->races && tid == 0) {
		r->info[0].sync = r->now++;
		r->ninfo = 1;
	}
}

static bool known(const Know *k, uint32_t tid, uint64_t time)
{
	uint32_t lo = 0, hi = k->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (k->at[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < k->n && k->at[lo].tid == tid && k->at[lo].time >= time;
}

static bool ordered(const Run *r, const Thread *t, Epoch e)
{
	const Info *info = r->info;
	if (e.time <= info[0].sync || e.tid == t->tid)
		return true;
	uint32_t a = e.tid, b = t->tid;
	while (info[a].depth > info[b].depth)
		a = info[a].parent;
	while (info[b].depth > info[a].depth)
		b = info[b].parent;
	for (; a != b; b = info[b].parent)
		a = info[a].parent;
	if (a == e.tid || a == t->tid)
		return true;
	for (; a != 0; a = info[a].parent)
		if (e.time <= info[a].sync)
			return true;
	if (t->know != NULL)
		for (a = e.tid; a != 0; a = info[a].parent)
			if (known(t->know, a, e.time))
				return true;
	return false;
}

static bool conflict(
	Run *r, const Thread *t, uint32_t pc, Epoch e, const char *now, const char *before)
{
		const char *other = interp_place(r->arena, r->p->origin[e.pc]);

	return interp_fail(r, pc, ERR_RACE, "%s is %s here and %s at %s, and nothing orders the two",
		interp_element(r, t, pc), now, before, other);
}

static Shadow *shadow_of(const Store *s, int64_t at)
{
	return &s->shadow[s->type.bits < 8 && !s->residues ? at * s->type.bits / 8 : at];
}

static int by_thread(const void *a, const void *b)
{
	const Epoch *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/* Keeps the last read of each thread, and none that the present of t comes after. */
static uint32_t prune(const Run *r, const Thread *t, Epoch *list, uint32_t n)
{
	uint32_t kept = 0;
	qsort(list, n, sizeof *list, by_thread);
	for (uint32_t k = 0; k < n; k++)
		if ((k + 1 == n || list[k + 1].tid != list[k].tid) && !ordered(r, t, list[k]))
			list[kept++] = list[k];
	return kept;
}

static void drop_reads(Run *r, Shadow *s)
{
	if (s->nread > 1)
		interp_put(r, s->read.many.list, sizeof(Epoch) * s->read.many.cap);
	s->nread = 0;
}

static bool add_read(Run *r, Thread *t, Shadow *s, Epoch e)
{
	if (s->nread == 0 || (s->nread == 1 && ordered(r, t, s->read.one))) {
		s->read.one = e;
		s->nread = 1;
		return true;
	}
	if (s->nread == 1) {
		Epoch *list = interp_get(r, sizeof(Epoch) * 4, false);
		if (list == NULL)
			return false;
		list[0] = s->read.one;
		list[1] = e;
		s->read.many.list = list;
		s->read.many.cap = 4;
		s->nread = 2;
		return true;
	}
	Epoch *list = s->read.many.list;
	if (list[s->nread - 1].tid == e.tid) {
		list[s->nread - 1] = e;
		return true;
	}
	uint32_t cap = s->read.many.cap;
	if (s->nread == cap) {
		uint32_t n = prune(r, t, list, cap);
		if (n <= 1) { /* of the shape that one read has */
			Epoch left = list[0];
			drop_reads(r, s);
			s->nread = n;
			s->read.one = left;
			return add_read(r, t, s, e);
		}
		s->nread = n;
		if (n > cap / 2) {
			Epoch *wide = interp_get(r, 2 * sizeof(Epoch) * cap, false);
			if (wide == NULL)
				return false;
			memcpy(wide, list, sizeof(Epoch) * n);
			interp_put(r, list, sizeof(Epoch) * cap);
			s->read.many.list = list = wide;
			s->read.many.cap = 2 * cap;
		}
	}
	list[s->nread++] = e;
	return true;
}

bool interp_race_read(Run *r, Thread *t, Store *st, int64_t at, uint32_t pc)
{
	Shadow *s = shadow_of(st, at);
	if (!ordered(r, t, s->write))
		return conflict(r, t, pc, s->write, "read", "written");
	return add_read(r, t, s, (Epoch){ r->now, t->tid, pc });
}

bool interp_race_write(Run *r, Thread *t, Store *st, int64_t at, uint32_t pc, bool atomic)
{
	Shadow *s = shadow_of(st, at);
	if (atomic && s->known != NULL && !interp_know_merge(r, &t->know, s->known))
		return false;
	if (!(atomic && s->atomic) && !ordered(r, t, s->write))
		return conflict(r, t, pc, s->write, "written", "written");
	const Epoch *list = s->nread > 1 ? s->read.many.list : &s->read.one;
	for (uint32_t k = 0; k < s->nread; k++)
		if (!ordered(r, t, list[k]))
			return conflict(r, t, pc, list[k], "written", "read");
	drop_reads(r, s);
	s->write = (Epoch){ r->now, t->tid, pc };
	s->atomic = atomic;
	return true;
}

void interp_race_landed(Run *r, Thread *t, Store *st, int64_t at, uint32_t pc)
{
	Shadow *s = shadow_of(st, at);
	s->write = (Epoch){ r->now, t->tid, pc };
}

bool interp_race_release(Run *r, Thread *t, Store *st, int64_t at)
{
	Shadow *s = shadow_of(st, at);
	uint32_t depth = r->info[t->tid].depth;
	size_t bytes = sizeof(Know) + sizeof(struct Known) * (depth + 1);
	Know *own = interp_get(r, bytes, false);
	if (own == NULL)
		return false;
	own->n = depth + 1;
	own->refs = 1;
	/* An ancestor is older than its descendants, so its tid is less: written from the end. */
	uint32_t k = depth;
	own->at[k] = (struct Known){ r->now, t->tid };
	for (uint32_t a = t->tid; k-- > 0;) {
		a = r->info[a].parent;
		own->at[k] = (struct Known){ r->info[a].sync, a };
	}
	bool ok = interp_know_merge(r, &own, t->know) && interp_know_merge(r, &s->known, own);
	interp_know_drop(r, own);
	r->now++;
	return ok;
}

static size_t know_bytes(uint32_t n)
{
	return sizeof(Know) + sizeof(struct Known) * n;
}

void interp_know_drop(Run *r, Know *k)
{
	if (k != NULL && --k->refs == 0)
		interp_put(r, k, know_bytes(k->n));
}

/* *into becomes the union; lists are never changed once shared. */
bool interp_know_merge(Run *r, Know **into, const Know *from)
{
	Know *a = *into;
	if (from == NULL || a == from)
		return true;
	uint32_t na = a != NULL ? a->n : 0, n = 0, i = 0, j = 0;
	Know *u = interp_get(r, know_bytes(na + from->n), false);
	if (u == NULL)
		return false;
	while (i < na || j < from->n) {
		struct Known x;
		if (j == from->n || (i < na && a->at[i].tid < from->at[j].tid)) {
			x = a->at[i++];
		} else if (i == na || a->at[i].tid > from->at[j].tid) {
			x = from->at[j++];
		} else {
			x = a->at[i].time > from->at[j].time ? a->at[i] : from->at[j];
			i++;
			j++;
		}
		if (x.time > r->info[0].sync) /* older ones everybody knows */
			u->at[n++] = x;
	}
	/* The block's size must follow from n when it is given back. */
	Know *fit = interp_get(r, know_bytes(n), false);
	if (fit == NULL)
		return false;
	memcpy(fit->at, u->at, sizeof(struct Known) * n);
	fit->n = n;
	fit->refs = 1;
	interp_put(r, u, know_bytes(na + from->n));
	interp_know_drop(r, a);
	*into = fit;
	return true;
}
