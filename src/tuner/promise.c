/*
 * What is shown of a run while it goes on. The least of many single times and the first times of the defaults, which
 * are taken while everything starts, promise gains that no race confirms. So defaults are measured again now and then,
 * the one that counts most first: two times of one schedule show how much slower the first ones were, and the noise.
 * The best time is that which the least one is expected to be when it is taken again (expect_again). What was raced or
 * timed inside the network is shown as it is.
 *
 * Only what is shown is such an estimate: records, and what the search is told, are times as they were measured.
 */
#include "tuner/expect.h"
#include "tuner/run.h"

#include <math.h>
#include <stdlib.h>

/* Of two times of one default in this run, over all Tasks. */
typedef struct Repeats {
	double later; /* how many times the first one later times are */
	double noise; /* standard deviation of their logarithms */
} Repeats;

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

/* The median, of two the lower one: other work makes times longer, never shorter. */
static double usual(double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_value);
	return v[(n - 1) / 2];
}

/* Times of a default in this run, and of records where there is none; the first one corrected. Returns how many. */
static int times_of(const TaskRun *r, double later, Arena *a, double **out)
{
	int n = (int)r->plain.n;
	*out = arena_array(a, double, n + 1);
	for (int i = 0; i < n; i++)
		(*out)[i] = r->plain.at[i] * (i == 0 ? later : 1);
	return n;
}

static Repeats repeats(const Tuner *t, Arena *a)
{
	Repeats all = { .later = 1 };
	int ntask = t->progress->ntask, known = 0;
	double *off = arena_array(a, double, ntask + 1), squares = TUNE_DEGREES * TUNE_SCATTER * TUNE_SCATTER;
	double degrees = TUNE_DEGREES, *v;
	for (int i = 0; i < ntask; i++) {
		int n = times_of(&t->run[i], 1, a, &v);
		if (n > 1)
			off[known++] = log(usual(v + 1, n - 1) / v[0]);
	}
	if (known > 0)
		all.later = exp(usual(off, known) * known / (known + 1));
	for (int i = 0; i < ntask; i++) {
		int n = times_of(&t->run[i], all.later, a, &v);
		double mean = 0;
		for (int k = 0; k < n; k++)
			mean += log(v[k]) / n;
		for (int k = 0; k < n; k++)
			squares += (log(v[k]) - mean) * (log(v[k]) - mean);
		degrees += n > 1 ? n - 1 : 0;
	}
	all.noise = sqrt(squares / degrees);
	return all;
}

static void promise_task(const TaskRun *r, const Repeats *all, Arena *a)
{
	TaskProgress *s = r->state;
	Outcome **ranked;
	int n = outcome_ranked(&r->known, a, &ranked);
	s->likely_ms = s->best_ms;
	s->default_likely_ms = s->default_ms;
	if (r->confirmed || n == 0 || ranked[0]->scatter > 0)
		return;
	double *ns = arena_array(a, double, n), *plain;
	for (int i = 0; i < n; i++)
		ns[i] = ranked[i]->ns;
	s->likely_ms = expect_again(ns, n, all->noise) / 1e6;
	int times = times_of(r, all->later, a, &plain);
	if (times > 0)
		s->default_likely_ms = usual(plain, times) / 1e6;
	if (s->default_likely_ms > 0) /* what is not faster does not come in */
		s->likely_ms = fmin(s->likely_ms, s->default_likely_ms);
}

void promise_update(Tuner *t)
{
	Arena *scratch = arena_new();
	Repeats all = repeats(t, scratch);
	for (int i = 0; i < t->progress->ntask; i++)
		promise_task(&t->run[i], &all, scratch);
	arena_free(scratch);
}

/* ---- defaults again ---- */

static bool is_flying(const Tuner *t, const TaskRun *r)
{
	for (int i = 0; i < MEASURE_FLIGHT; i++)
		if (t->flying[i] != NULL && t->flying[i]->run == r && t->flying[i]->again)
			return true;
	return false;
}

Candidate *promise_again(Tuner *t)
{
	TaskRun *next = NULL;
	double most = 0;
	if ((t->again + 1) * TUNE_AGAIN > t->progress->trials)
		return NULL;
	for (int i = 0; i < t->progress->ntask; i++) {
		TaskRun *r = &t->run[i];
		double counts = r->state->default_ms * r->state->default_weight / (double)(r->plain.n + 1);
		/* Nothing is promised of a Task of which only the default was measured. */
		if (counts > most && r->state->trials > 1 && !is_flying(t, r)) {
			next = r;
			most = counts;
		}
	}
	const Outcome *k = next != NULL ? outcome_find(&next->known, next->default_trace) : NULL;
	if (k == NULL || k->ns <= 0)
		return NULL;
	Arena *a = arena_new();
	const KernelSet *ks = task_run_replay(next, k->trace, a, NULL);
	if (ks == NULL) {
		arena_free(a);
		return NULL;
	}
	t->again++;
	Candidate *x = arena_new_of(a, Candidate);
	*x = (Candidate){ .arena = a, .run = next, .trace = k->trace, .source = "repeat", .again = true, .ks = ks };
	return x;
}
