/*
 * The order of Tasks: all recordings are one network, and each order of trials is judged by how soon the network is
 * near its best.
 *
 *     bench_network [--search=NAME,...] [--model=analytic] [--seeds=10] [--preset=normal] [--most=100]
 *                   [--first=default|drawn] FILE.space...
 *
 * With each seed a Task's share of the network's best time is drawn anew: one is up to SHARES times another, with
 * equal odds for each factor of two. The default of each Task comes first. Printed are the trials for each Task (all
 * trials over Tasks) and the modelled seconds until the network is within 5 % and 2 % of its best, in the median over
 * the seeds, and how far from it the network is after 5, 10, 20 and 40 trials for each Task, and after 3, 6, 12 and 24
 * seconds (the mean of time over best time).
 */
#include "hunt.h"

#include "cost_model/roof.h"
#include "tuner/expect.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 64, SHARES = 64, MARKS = 4 };
static const int marks[MARKS] = { 5, 10, 20, 40 };
static const double clocks[MARKS] = { 3, 6, 12, 24 }; /* modelled seconds of all */

typedef struct Part {
	Hunt *hunt;
	double weight, best_ns, roof_ns; /* of one call; 0 where nothing has run */
	const double *best;              /* after each of n trials */
	int n, since_gain;
	double seconds;
	bool over;
} Part;

/* How much a next trial is worth; the Task that has most is next. */
typedef struct Order {
	const char *name;
	double (*worth)(const Part *p);
} Order;

static double turns(const Part *p)
{
	return -p->n;
}

/* By its part of the network's time. */
static double share(const Part *p)
{
	return p->weight * p->best_ns / (1 + p->n);
}

/* By what its last trials saved. */
static double slope(const Part *p)
{
	return p->weight * p->best_ns * expect_saved(p->best, p->n, 1);
}

/* As the tuner has it. */
static double left(const Part *p)
{
	return expect_next(p->weight * expect_left(p->best_ns, p->roof_ns), p->since_gain);
}

static const Order orders[] = { { "turns", turns }, { "share", share }, { "slope", slope }, { "left", left } };

static void step(Part *p)
{
	if (!hunt_step(p->hunt)) {
		p->over = true;
		return;
	}
	p->n = hunt_trials(p->hunt, &p->best);
	p->seconds = hunt_seconds(p->hunt);
	double now = p->best[p->n - 1];
	p->since_gain = now < INFINITY && (p->best_ns == 0 || now < p->best_ns * TUNE_IMPROVED) ? 0 : p->since_gain + 1;
	p->best_ns = now < INFINITY ? now : 0;
}

typedef struct Result {
	double trials[2], seconds[2], at[MARKS], then[MARKS]; /* infinite: not reached */
} Result;

typedef struct Network {
	Lab lab[FILES];
	double roof_ns[FILES], share[FILES];
	int n, most;
	const Effort *effort;
	bool drawn;
} Network;

static Result run(Network *x, const Search *search, int model, const Order *o, uint64_t seed)
{
	Part part[FILES] = { { 0 } };
	Result r = { { INFINITY, INFINITY }, { INFINITY, INFINITY }, { 0 }, { 0 } };
	double all = 0, seconds = 0;
	int trials = 0;
	for (int k = 0; k < x->n; k++) {
		part[k].hunt = hunt_open(&x->lab[k], search, x->effort, model, seed, 1, x->drawn);
		part[k].weight = x->share[k] / x->lab[k].best_ns;
		part[k].roof_ns = x->roof_ns[k];
		all += x->share[k];
	}
	while (trials < x->most * x->n) {
		Part *next = NULL;
		for (int k = 0; k < x->n; k++) {
			Part *p = &part[k];
			if (!p->over && (next == NULL || p->n == 0 || (next->n > 0 && o->worth(p) > o->worth(next))))
				next = p;
		}
		if (next == NULL)
			break;
		double before = next->seconds;
		step(next);
		seconds += next->seconds - before;
		trials += !next->over;
		double time = 0;
		for (int k = 0; k < x->n; k++)
			time += part[k].best_ns > 0 ? part[k].weight * part[k].best_ns : INFINITY;
		for (int i = 0; i < 2; i++)
			if (r.trials[i] == INFINITY && time <= all * (i == 0 ? 1.05 : 1.02)) {
				r.trials[i] = (double)trials / x->n;
				r.seconds[i] = seconds;
			}
		for (int i = 0; i < MARKS; i++)
			if (trials <= marks[i] * x->n)
				r.at[i] = time / all;
		for (int i = 0; i < MARKS; i++)
			if (seconds <= clocks[i])
				r.then[i] = time / all;
	}
	for (int k = 0; k < x->n; k++)
		hunt_close(part[k].hunt);
	return r;
}

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *at, int n)
{
	qsort(at, (size_t)n, sizeof *at, by_number);
	return at[n / 2];
}

static void row(Network *x, const Search *search, int model, const Order *o, int seeds)
{
	enum { SEEDS = 100 };
	double trials[2][SEEDS], seconds[2][SEEDS], at[MARKS] = { 0 }, then[MARKS] = { 0 };
	seeds = seeds < SEEDS ? seeds : SEEDS;
	for (int s = 0; s < seeds; s++) {
		Rng rng = rng_seed((uint64_t)s + 1);
		for (int k = 0; k < x->n; k++)
			x->share[k] = exp2(rng_real(&rng) * log2(SHARES));
		Result r = run(x, search, model, o, (uint64_t)s + 1);
		for (int i = 0; i < 2; i++) {
			trials[i][s] = r.trials[i];
			seconds[i][s] = r.seconds[i];
		}
		for (int i = 0; i < MARKS; i++)
			at[i] += r.at[i] / seeds;
		for (int i = 0; i < MARKS; i++)
			then[i] += r.then[i] / seeds;
	}
	printf("| %s | %s | %s |", search->name, hunt_models[model], o->name);
	for (int i = 0; i < 2; i++)
		printf(" %.1f | %.0f |", median(trials[i], seeds), median(seconds[i], seeds));
	for (int i = 0; i < MARKS; i++)
		printf(" %.3f |", at[i]);
	for (int i = 0; i < MARKS; i++)
		printf(" %.3f |", then[i]);
	printf("\n");
	fflush(stdout);
}

static const char *option(const char *word, const char *name)
{
	size_t n = strlen(name);
	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

int main(int argc, char **argv)
{
	static Network x = { .most = 100 };
	const char *search = searches[0]->name, *model = "analytic", *v;
	Err err = { 0 };
	int seeds = 10, m = OF_FILE;
	Arena *a = arena_new();
	x.effort = effort_find("normal");
	for (int i = 1; i < argc && x.effort != NULL; i++)
		if ((v = option(argv[i], "--search")) != NULL)
			search = v;
		else if ((v = option(argv[i], "--model")) != NULL)
			model = v;
		else if ((v = option(argv[i], "--seeds")) != NULL)
			seeds = atoi(v);
		else if (strcmp(argv[i], "--first=drawn") == 0)
			x.drawn = true;
		else if (strcmp(argv[i], "--first=default") == 0)
			x.drawn = false;
		else if ((v = option(argv[i], "--most")) != NULL)
			x.most = atoi(v);
		else if ((v = option(argv[i], "--preset")) != NULL)
			x.effort = effort_find(v);
		else if (x.n < FILES)
			lab_open(a, &x.lab[x.n++], argv[i]);
	while (m > 0 && strcmp(hunt_models[m - 1], model) != 0)
		m--;
	if ((x.effort == NULL || x.n == 0 || m == 0 || seeds < 1) &&
		!fail(&err, ERR_USAGE, "usage", "bench_network [--search=NAME,...] [--model=NAME] ... FILE.space..."))
		lab_die(&err);
	for (int k = 0; k < x.n; k++) {
		const Lab *l = &x.lab[k];
		const Target *t = &l->recorded.target;
		double least = 1, most = 1;
		Roof roof = { .gflops = 2 * target_fma_rate(t, t->vector_bits) * t->core.ghz * t->vector_bits / 32,
			.gbps = target_rate_beyond(t, 2) * t->core.ghz };
		Space *space = space_new(a, l->recorded.task, t, &err);
		if (space == NULL)
			lab_die(&err);
		space_saves(space, &least, &most);
		x.roof_ns[k] = roof_ns(l->recorded.task, &roof) / least;
		if (m - 1 == WARM)
			lab_learn(a, x.lab, x.n, k);
	}
	printf("| search | model | order | 5 %%: trials | s | 2 %%: trials | s | after 5 | 10 | 20 | 40 | 3 s | 6 s | "
		   "12 s | 24 s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
	for (const Search *const *s = searches; *s != NULL; s++)
		for (size_t k = 0; strstr(search, (*s)->name) != NULL && k < sizeof orders / sizeof *orders; k++)
			row(&x, *s, m - 1, &orders[k], seeds);
	arena_free(a);
	return 0;
}
