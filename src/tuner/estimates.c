/* See estimates.h. */
#include "tuner/estimates.h"

#include <string.h>

enum {
	BATCH = 64,  /* candidates estimated together, at most: each is a scheduled set, which takes memory */
	DRAFTS = 512, /* drafts that share beginnings, at most: their traces take some KiB each */
	NO_SCHEDULE = -1
};

const char *estimates_trace(Space *space, const Config *c, Arena *a, Trace **t)
{
	Text text = { .arena = a };
	*t = space_trace(space, c, a, NULL);
	if (*t == NULL)
		return NULL;
	trace_print(&text, *t);
	return text_str(&text);
}

/* Drafts that come one by one, and wait until the cost model takes them. */
typedef struct Batch {
	Estimates *e;
	const DraftJob *job;
	int n, most;
	Arena *arena[BATCH];
	const char *trace[BATCH];
	CostCandidate x[BATCH];
} Batch;

static void estimate_waiting(Batch *b)
{
	Estimates *e = b->e;
	int each = cost_kept(e->cost);
	double ns[BATCH];
	float *kept = arena_array(e->arena, float, b->n * each + 1);
	if (each > 0) {
		cost_keep(e->cost, b->x, b->n, kept);
		cost_again(e->cost, kept, b->n, ns);
	} else {
		cost_estimate(e->cost, b->x, b->n, ns);
	}
	for (int k = 0; k < b->n; k++) {
		Outcome *o = outcome_find(&e->of, b->trace[k]);
		o->ns = ns[k];
		e->kept.at[o - e->of.at.at] = each > 0 ? kept + (size_t)k * (size_t)each : NULL;
		arena_free(b->arena[k]);
	}
	b->n = 0;
}

static void take_draft(void *arg, int i, Arena *a, const KernelSet *ks)
{
	Batch *b = arg;
	b->e->turn(b->e->arg);
	if (ks == NULL) {
		arena_free(a);
		return;
	}
	b->arena[b->n] = a;
	b->trace[b->n] = b->job[i].text;
	b->x[b->n++] = (CostCandidate){ ks, b->e->task };
	if (b->n == b->most)
		estimate_waiting(b);
}

/*
 * The number of a config's schedule among the known ones; NO_SCHEDULE: the template refuses it. Its trace is made once:
 * that takes a tenth of an estimate, and a search asks for a config again whenever the cost model has learned. A
 * schedule that is new becomes a job.
 */
static int64_t schedule_of(Estimates *e, const Config *c, Arena *a, DraftJob *fresh, int *n)
{
	uint32_t before = e->configs.index.n;
	MapEntry *known = map_add_bytes(&e->configs, c->pick, c->n);
	if (e->configs.index.n == before)
		return known->num;
	Trace *t;
	const char *text = estimates_trace(e->space, c, a, &t);
	const Outcome *o = text != NULL ? outcome_find(&e->of, text) : NULL;
	if (text != NULL && o == NULL) {
		o = outcome_add(&e->of, text, -1, false);
		vec_push(e->arena, &e->kept, NULL);
		fresh[(*n)++] = (DraftJob){ t, text };
	}
	return known->num = o != NULL ? o - e->of.at.at : NO_SCHEDULE;
}

static void estimate_some(Estimates *e, const Config *c, int n, double *ns, uint64_t *same)
{
	Arena *a = arena_new();
	int64_t at[DRAFTS];
	DraftJob fresh[DRAFTS];
	int m = 0, want = e->cost->row->batch;
	for (int i = 0; i < n; i++) {
		at[i] = schedule_of(e, &c[i], a, fresh, &m);
		e->turn(e->arg);
	}
	Batch b = { .e = e, .job = fresh, .most = want < 1 ? 1 : want < BATCH ? want : BATCH };
	if (m == 1) {
		Arena *own = arena_new();
		take_draft(&b, 0, own, drafts_make(e->drafts, own, fresh[0].trace, NULL));
	} else {
		drafts_each(e->drafts, fresh, m, take_draft, &b);
	}
	estimate_waiting(&b);
	for (int i = 0; i < n; i++) {
		const Outcome *o = at[i] != NO_SCHEDULE ? &e->of.at.at[at[i]] : NULL;
		ns[i] = o != NULL ? o->ns : -1;
		same[i] = o != NULL ? map_hash_bytes(o->trace, strlen(o->trace)) : 0;
	}
	arena_free(a);
}

/* What the cost model has learned since: all times are of it, or forgotten. */
static void renew(Estimates *e)
{
	int now = cost_revision(e->cost);
	if (e->revision == now)
		return;
	e->revision = now;
	if (cost_kept(e->cost) == 0) {
		e->of = (OutcomeSet){ .index.arena = e->arena };
		e->configs = MAP_OF(e->arena);
		e->kept.n = 0;
	}
	for (size_t i = 0; i < e->of.at.n; i++)
		if (e->kept.at[i] != NULL)
			cost_again(e->cost, e->kept.at[i], 1, &e->of.at.at[i].ns);
}

static void estimate_configs(void *arg, const Config *c, int n, double *ns, uint64_t *same)
{
	Estimates *e = arg;
	renew(e);
	for (int i = 0; i < n; i += DRAFTS)
		estimate_some(e, c + i, n - i < DRAFTS ? n - i : DRAFTS, ns + i, same + i);
}

static int revision(void *arg)
{
	return cost_revision(((const Estimates *)arg)->cost);
}

static bool over(void *arg)
{
	const Estimates *e = arg;
	return e->over(e->arg);
}

SearchCost estimates_of(Estimates *e)
{
	e->of.index.arena = e->arena;
	e->configs = MAP_OF(e->arena);
	return (SearchCost){ estimate_configs, e, revision, over };
}

double estimates_known(const Estimates *e, const char *trace)
{
	const Outcome *k = e->revision == cost_revision(e->cost) ? outcome_find(&e->of, trace) : NULL;
	return k != NULL ? k->ns : 0;
}
