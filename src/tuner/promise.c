/*
 * What is shown of a run while it goes on. The least of many single times and the first times of the defaults, which
 * are taken while everything starts, promise gains that no race confirms. So defaults are repeated now and then, the
 * one that counts most first: two times of one schedule show how much slower the first ones were, and the noise. The
 * best time is that which the least one is expected to be when it is taken again (expect_again). What was raced or
 * timed inside the network is shown as it is.
 *
 * Records, and what the search is told, are times as they were measured. A repeat is a time of the default like its
 * first one: the cost model hears it, and the least one ranks the default for races. The sums that are shown also
 * forecast how long the confirmation takes (confirm.c), for networks take what is expected of their schedules.
 */
#include "tuner/expect.h"
#include "tuner/run.h"

#include <math.h>
#include <stdlib.h>

/* Of two times of one default in this run, over all Tasks. */
typedef struct Noise {
	double later;     /* how many times the first one later times are */
	double deviation; /* standard deviation of their logarithms */
} Noise;

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

/* Times of a default in this run, the first one corrected. Returns how many. */
static int times_of(const TaskRun *r, double later, Arena *a, double **out)
{
	int n = 0;
	*out = arena_array(a, double, r->repeat.n + 2);
	if (r->first_ns > 0)
		(*out)[n++] = r->first_ns * later;
	for (size_t i = 0; i < r->repeat.n; i++)
		(*out)[n++] = r->repeat.at[i];
	return n;
}

static Noise noise_of(const Tuner *t, Arena *a)
{
	Noise all = { .later = 1 };
	int ntask = t->progress->ntask, known = 0;
	double *off = arena_array(a, double, ntask + 1), squares = TUNE_DEGREES * TUNE_SCATTER * TUNE_SCATTER;
	double degrees = TUNE_DEGREES, *v;
	for (int i = 0; i < ntask; i++) {
		const TaskRun *r = &t->run[i];
		int n = times_of(r, 1, a, &v);
		if (r->first_ns > 0 && n > 1)
			off[known++] = log(usual(v + 1, n - 1) / r->first_ns);
	}
	/* As if one Task more had shown no difference: that of a single one may be noise. */
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
	all.deviation = sqrt(squares / degrees);
	return all;
}

/* The median of the default's times in this run, or what records say: a race's time, or where this run has none. */
static double likely_default(const TaskRun *r, const Noise *all, Arena *a)
{
	const Outcome *k = outcome_find(&r->known, r->default_trace);
	double *v;
	int n = times_of(r, all->later, a, &v);
	return k != NULL && k->ns > 0 && k->scatter == 0 && n > 0 ? usual(v, n) / 1e6 : r->state->default_ms;
}

/* After a race single times, of which the least is an outlier, say nothing. */
static double likely_best(const TaskRun *r, const Noise *all, Arena *a)
{
	bool raced = r->state->raced;
	const Outcome *least = NULL;
	double *ns = arena_array(a, double, r->known.at.n + 1);
	int n = 0;
	for (size_t i = 0; i < r->known.at.n; i++) {
		const Outcome *k = &r->known.at.at[i];
		if (k->ns <= 0 || (raced && k->scatter == 0))
			continue;
		least = least == NULL || k->ns < least->ns ? k : least;
		ns[n++] = k->ns;
	}
	if (n == 0)
		return r->state->best_ms;
	return (least->scatter > 0 ? least->ns : expect_again(ns, n, all->deviation)) / 1e6;
}

static void promise_task(const TaskRun *r, const Noise *all, Arena *a)
{
	TaskProgress *s = r->state;
	s->likely_ms = s->best_ms;
	s->default_likely_ms = s->default_ms;
	if (r->confirmed)
		return;
	s->default_likely_ms = likely_default(r, all, a);
	s->likely_ms = likely_best(r, all, a);
	if (s->default_likely_ms > 0) /* what is not faster does not come in */
		s->likely_ms = fmin(s->likely_ms, s->default_likely_ms);
}

void promise_update(Tuner *t)
{
	Arena *scratch = arena_new();
	Noise all = noise_of(t, scratch);
	for (int i = 0; i < t->progress->ntask; i++)
		promise_task(&t->run[i], &all, scratch);
	arena_free(scratch);
}

/* ---- repeats ---- */

static bool is_flying(const Tuner *t, const TaskRun *r)
{
	for (int i = 0; i < MEASURE_FLIGHT; i++)
		if (t->flying[i] != NULL && t->flying[i]->run == r && t->flying[i]->repeat)
			return true;
	return false;
}

Candidate *promise_repeat(Tuner *t)
{
	TaskRun *next = NULL;
	double most = 0;
	if ((t->repeats + 1) * TUNE_REPEAT > t->progress->trials)
		return NULL;
	for (int i = 0; i < t->progress->ntask; i++) {
		TaskRun *r = &t->run[i];
		int times = (r->first_ns > 0) + (int)r->repeat.n;
		double counts = r->state->default_ms * r->state->default_weight / (times + 1);
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
	t->repeats++;
	Candidate *x = arena_new_of(a, Candidate);
	*x = (Candidate){ .arena = a, .run = next, .trace = k->trace, .source = "repeat", .repeat = true, .ks = ks };
	return x;
}

void promise_left(Tuner *t)
{
	TuneProgress *p = t->progress;
	double left = 0, sum = 0;
	bool known = true;
	for (int i = 0; i < p->ntask; i++) {
		TaskProgress *s = &p->task[i];
		s->left = task_run_left(&t->run[i]);
		known = known && (s->weight == 0 || s->left >= 0);
		left += s->weight * s->likely_ms * s->left;
		sum += s->weight * s->likely_ms;
	}
	t->result->left = known && sum > 0 ? left / sum : -1;
}
