/*
 * The lab: searches on recorded spaces, without a machine.
 *
 *     bench_search [--search=NAME,...] [--seeds=5] [--preset=normal] [--most=300]
 *                  [--model=none,analytic,cold,warm,file] [--file=MODEL] [--first=default|drawn] [--tasks] [--runs]
 *                  FILE.space...
 *
 * Each search runs with each seed on each file, as dlc-tune would run it: TUNE_IN_FLIGHT candidates are asked before
 * the first is told. Printed are the trials until a schedule within 5 % and 2 % of the best recorded one was told, in
 * the median over files and seeds and at the 90th percentile; how many runs got there; the modelled seconds of that
 * (estimates, builds and screenings, one after another); and how far from the best the runs ended (geometric mean). A
 * schedule that was told already is no trial. The last columns: which part of the time FORETOLD more trials were
 * expected to save after the first FORETOLD (tuner/expect.h), and which they saved, in the mean; and which part the
 * search believed to be left at most (Search.left), after FORETOLD trials and at the end, in the median, each with the
 * share of runs in which it was right: the best recorded schedule is no further away. --tasks prints the medians of
 * each file; --runs prints each run: the file, the search, the model, the seed, the trials until 5 % and 2 % (0:
 * never), all trials and the end. --first=drawn begins with a drawn config instead of the template's default.
 *
 * hunt.h says what the models are. --file is what the model `file` begins with.
 */
#include "hunt.h"

#include "cost_model/learned_file.h"
#include "runtime/timing.h"
#include "tuner/expect.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 64, FORETOLD = 24 };

typedef struct Result {
	int trials, within[2];  /* until 5 % and 2 %; 0: never */
	double seconds[2], end; /* modelled; the last best over the best recorded */
	double cpu;             /* seconds the search itself took */
	double promised, saved; /* parts of the time after FORETOLD trials, by as many more: expect_saved, and truly */
	double left[2];         /* parts of the time, believed after FORETOLD trials and at the end; < 0: nothing is */
	bool right[2];          /* that no more is left */
} Result;

/* Returns the nanoseconds that this took, which are none of the search. */
static uint64_t note_left(Result *r, const Hunt *h, int when, double now, double best)
{
	uint64_t from = timing_thread_ns();
	r->left[when] = hunt_left(h);
	r->right[when] = 1 - best / now <= r->left[when];
	return timing_thread_ns() - from;
}

static Result hunt(Lab *lab, const Search *search, const Effort *effort, int model, uint64_t seed, int most,
	bool drawn)
{
	Result r = { .left = { -1, -1 } };
	const double *best;
	uint64_t begun = timing_thread_ns();
	Hunt *h = hunt_open(lab, search, effort, model, seed, TUNE_IN_FLIGHT, drawn);
	while (r.trials < most && hunt_step(h)) {
		r.trials = hunt_trials(h, &best);
		double now = best[r.trials - 1];
		if (r.trials == FORETOLD && now < INFINITY)
			r.promised = expect_saved(best, FORETOLD, FORETOLD);
		if (r.trials == FORETOLD)
			begun += note_left(&r, h, 0, now, lab->best_ns);
		if (r.trials > FORETOLD && r.trials <= 2 * FORETOLD && best[FORETOLD - 1] < INFINITY)
			r.saved = 1 - now / best[FORETOLD - 1];
		for (int k = 0; k < 2; k++)
			if (r.within[k] == 0 && now <= lab->best_ns * (k == 0 ? 1.05 : 1.02)) {
				r.within[k] = r.trials;
				r.seconds[k] = hunt_seconds(h);
			}
		r.end = now / lab->best_ns;
	}
	r.cpu = (double)(timing_thread_ns() - begun) / 1e9;
	if (r.trials > 0)
		note_left(&r, h, 1, r.end * lab->best_ns, lab->best_ns);
	hunt_close(h);
	return r;
}

/* ---- the table ---- */

typedef VEC(double) Figures;

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Runs that never got there count as infinite. */
static const char *quantile(Arena *a, Figures *f, double q)
{
	qsort(f->at, f->n, sizeof *f->at, by_number);
	double v = f->at[(size_t)(q * (double)(f->n - 1) + 0.5)];
	return v == INFINITY ? "never" : arena_printf(a, v < 10 && v != floor(v) ? "%.1f" : "%.0f", v);
}

typedef struct Bench {
	Arena *arena;
	Lab lab[FILES];
	int nlab, seeds, most;
	const Effort *effort;
	bool each, runs, drawn;
} Bench;

static void run_row(Bench *b, const Search *search, int model)
{
	Arena *a = arena_new();
	Figures trials[2] = { { 0 } }, seconds[2] = { { 0 } }, left[2] = { { 0 } };
	double end = 0, asked = 0, cpu = 0, promised = 0, saved = 0;
	int there[2] = { 0 }, right[2] = { 0 }, runs = b->nlab * b->seeds;
	for (int k = 0; k < b->nlab; k++) {
		Figures own[2] = { { 0 } };
		for (int seed = 1; seed <= b->seeds; seed++) {
			Result r = hunt(&b->lab[k], search, b->effort, model, (uint64_t)seed, b->most, b->drawn);
			for (int i = 0; i < 2; i++) {
				double t = r.within[i] > 0 ? r.within[i] : INFINITY;
				there[i] += r.within[i] > 0;
				vec_push(a, &trials[i], t);
				vec_push(a, &own[i], t);
				vec_push(a, &seconds[i], r.within[i] > 0 ? r.seconds[i] : INFINITY);
				if (r.left[i] >= 0)
					vec_push(a, &left[i], 100 * r.left[i]);
				right[i] += r.left[i] >= 0 && r.right[i];
			}
			if (b->runs)
				printf("run %s %s %s %d: %d %d %d %.4f\n", b->lab[k].path, search->name, hunt_models[model], seed,
					r.within[0], r.within[1], r.trials, r.end);
			end += log(r.end) / runs;
			asked += (double)r.trials / runs;
			cpu += r.cpu / runs;
			promised += r.promised / runs;
			saved += r.saved / runs;
		}
		if (b->each)
			printf("    %s %s %s: 5 %% %s, 2 %% %s\n", b->lab[k].path, search->name, hunt_models[model],
				quantile(a, &own[0], 0.5), quantile(a, &own[1], 0.5));
	}
	printf("| %s | %s |", search->name, hunt_models[model]);
	for (int i = 0; i < 2; i++)
		printf(" %s | %s | %d %% | %s |", quantile(a, &trials[i], 0.5), quantile(a, &trials[i], 0.9),
			100 * there[i] / runs, quantile(a, &seconds[i], 0.5));
	printf(" %.3f | %.0f | %.2f | %.2f %% | %.2f %% |", exp(end), asked, cpu, 100 * promised, 100 * saved);
	for (int i = 0; i < 2; i++)
		if (left[i].n > 0)
			printf(" %s %% | %d %% |", quantile(a, &left[i], 0.5), 100 * right[i] / (int)left[i].n);
		else
			printf(" | |");
	printf("\n");
	fflush(stdout);
	arena_free(a);
}

static bool is_in(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = list; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && (at[n] == 0 || at[n] == ','))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static Bench b = { .seeds = 5, .most = 300 };
	const char *search = NULL, *model = NULL, *file = NULL;
	LearnedModel trained = { 0 };
	Err err = { 0 };
	b.arena = arena_new();
	b.effort = effort_find("normal");
	for (int i = 1; i < argc && b.effort != NULL; i++)
		if (strncmp(argv[i], "--search=", 9) == 0)
			search = argv[i] + 9;
		else if (strncmp(argv[i], "--model=", 8) == 0)
			model = argv[i] + 8;
		else if (strncmp(argv[i], "--file=", 7) == 0)
			file = argv[i] + 7;
		else if (strncmp(argv[i], "--seeds=", 8) == 0)
			b.seeds = atoi(argv[i] + 8);
		else if (strncmp(argv[i], "--most=", 7) == 0)
			b.most = atoi(argv[i] + 7);
		else if (strncmp(argv[i], "--preset=", 9) == 0)
			b.effort = effort_find(argv[i] + 9);
		else if (strcmp(argv[i], "--tasks") == 0)
			b.each = true;
		else if (strcmp(argv[i], "--runs") == 0)
			b.runs = true;
		else if (strcmp(argv[i], "--first=drawn") == 0)
			b.drawn = true;
		else if (strcmp(argv[i], "--first=default") == 0)
			b.drawn = false;
		else if (b.nlab < FILES)
			lab_open(b.arena, &b.lab[b.nlab++], argv[i]);
	if (model == NULL)
		model = file != NULL ? "none,analytic,cold,warm,file" : "none,analytic,cold,warm";
	if (b.effort == NULL || b.nlab == 0 || b.seeds < 1 || (file == NULL && is_in(model, hunt_models[OF_FILE])))
		fail(&err, ERR_USAGE, "usage",
			"bench_search [--search=NAME,...] [--model=NAME,...] [--file=MODEL] ... FILE.space..."),
			lab_die(&err);
	for (int k = 0; k < b.nlab && is_in(model, hunt_models[WARM]); k++)
		lab_learn(b.arena, b.lab, b.nlab, k);
	if (file != NULL && !learned_read(b.arena, file, &trained, &err))
		lab_die(&err);
	for (int k = 0; k < b.nlab; k++) {
		const char *unfit = file != NULL ? learned_unfit(b.arena, &trained, &b.lab[k].recorded.target) : NULL;
		if (unfit != NULL && !fail(&err, ERR_INPUT, file, "%s", unfit))
			lab_die(&err);
		b.lab[k].file = trained.forest;
	}
	for (int k = 0; k < b.nlab; k++)
		printf("%s: %s, %d configs of %.0f, best %.1f us; %s\n", b.lab[k].path, b.lab[k].recorded.task->label,
			b.lab[k].recorded.n, b.lab[k].recorded.size, b.lab[k].best_ns / 1e3, b.lab[k].recorded.noise);
	printf("\n| search | model | 5 %%: median | 90th | reached | s | 2 %%: median | 90th | reached | s | end / best | "
	       "trials | CPU s | promised | saved | left after %d | right | at the end | right |\n"
		   "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
		FORETOLD);
	for (const Search *const *s = searches; *s != NULL; s++)
		for (int m = 0; m < MODELS; m++)
			if ((search == NULL || is_in(search, (*s)->name)) && is_in(model, hunt_models[m]))
				run_row(&b, *s, m);
	arena_free(b.arena);
	return 0;
}
