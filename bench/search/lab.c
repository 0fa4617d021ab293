/*
 * The lab: searches on recorded spaces, without a machine.
 *
 *     bench_search [--search=NAME,...] [--seeds=5] [--preset=normal] [--most=300] [--model=none,analytic,cold,warm]
 *                  [--tasks] FILE.space...
 *
 * Each search runs with each seed on each file, as dlc-tune would run it: TUNE_IN_FLIGHT candidates are asked before
 * the first is told. Printed are the trials until a schedule within 5 % and 2 % of the best recorded one was told, in
 * the median over files and seeds and at the 90th percentile; how many runs got there; the modelled seconds of that
 * (estimates, builds and screenings, one after another); and how far from the best the runs ended (geometric mean). A
 * schedule that was told already is no trial. The last columns: which part of the time FORETOLD more trials were
 * expected to save after the first FORETOLD (tuner/expect.h), and which they saved, in the mean. --tasks prints the
 * medians of each file.
 *
 * Models: `none` says the same of all schedules. `analytic` is the estimate alone. `cold` begins with it, and grows
 * trees from what is told each LEARN trials. `warm` begins with trees that were trained on all other files, and goes on
 * like `cold`.
 */
#include "tree.h"

#include "base/file.h"
#include "cost_model/train.h"
#include "measure/replay.h"
#include "runtime/timing.h"
#include "tuner/expect.h"
#include "tuner/search.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 64, LEARN = 64 /* trials, as cost_model/learned.c has it */, MODELS = 4, FORETOLD = 24 };

static const char *const models[MODELS] = { "none", "analytic", "cold", "warm" };
enum { NONE, ANALYTIC, COLD, WARM };

/* A recorded Task with what never changes. */
typedef struct Lab {
	const char *path;
	RecordedSpace recorded;
	Space *space;
	float *row;       /* predictors of each run */
	double *estimate; /* analytic, of each run; <= 0: no schedule */
	uint64_t *same;   /* equal for runs of one trace */
	Forest others;    /* trained on the other files; no trees: there are none */
	double best_ns;
} Lab;

/* One run of a search on it. */
typedef struct Hunt {
	Lab *lab;
	Arena *arena;
	int model, revision;
	Forest forest;
	VEC(int) told;     /* numbers of runs with times, to learn from */
	int64_t estimates; /* schedules estimated for the first time */
	bool *estimated;   /* by run */
} Hunt;

typedef struct Result {
	int trials, within[2];  /* until 5 % and 2 %; 0: never */
	double seconds[2], end; /* modelled; the last best over the best recorded */
	double cpu;             /* seconds the search itself took */
	double promised, saved; /* parts of the time after FORETOLD trials, by as many more: expect_saved, and truly */
} Result;

static int die(const Err *e)
{
	fprintf(stderr, "bench_search: %s: %s\n", e->place, e->text);
	exit(1);
}

/* ---- files ---- */

static void read_predictors(Arena *a, Lab *l)
{
	const RecordedSpace *r = &l->recorded;
	Map same = MAP_OF(a); /* from a trace to the first run of it */
	l->row = arena_array(a, float, (size_t)r->n *PREDICTORS);
	l->estimate = arena_array(a, double, r->n);
	l->same = arena_array(a, uint64_t, r->n);
	for (int i = 0; i < r->n; i++) {
		const char *trace = r->run[i].trace;
		uint32_t before = same.index.n;
		MapEntry *e = map_add_text(&same, trace);
		if (same.index.n == before) {
			memcpy(l->row + (size_t)i * PREDICTORS, l->row + (size_t)e->num * PREDICTORS, PREDICTORS * sizeof *l->row);
			l->estimate[i] = l->estimate[e->num];
			l->same[i] = (uint64_t)e->num + 1;
			continue;
		}
		e->num = i;
		l->same[i] = (uint64_t)i + 1;
		Arena *own = arena_new();
		bool there = trace[0] != 0 && r->run[i].status != RUN_CANCELLED; /* the recorder has not come to it yet */
		Trace *t = there ? trace_parse(own, l->path, trace, strlen(trace), NULL) : NULL;
		const KernelSet *ks = t != NULL ? schedule_draft(ir_new(own), r->task, &r->target, t, NULL) : NULL;
		l->estimate[i] = ks != NULL ? predictor_row(ks, r->task, &r->target, l->row + (size_t)i * PREDICTORS) : -1;
		arena_free(own);
	}
	l->best_ns = INFINITY;
	for (int i = 0; i < r->n; i++)
		if (r->run[i].median_ns > 0 && l->estimate[i] > 0)
			l->best_ns = fmin(l->best_ns, (double)r->run[i].median_ns);
}

static void open_lab(Arena *a, Lab *l, const char *path)
{
	Err err = { 0 };
	Bytes file;
	l->path = path;
	if (!file_read(a, path, 1 << 28, &file, &err) ||
		!recorded_parse(a, path, (const char *)file.at, file.n, &l->recorded, &err))
		die(&err);
	l->space = tree_space(a, path, &l->recorded, &err);
	if (l->space == NULL)
		die(&err);
	read_predictors(a, l);
	if (l->best_ns == INFINITY && !fail(&err, ERR_INPUT, path, "has no schedule with a time that this dlc can read"))
		die(&err);
}

/* ---- learning ---- */

typedef struct Rows {
	VEC(float) row;
	VEC(double) ns;
	VEC(double) estimate;
	VEC(int) task;
} Rows;

static void add_row(Arena *a, Rows *x, const Lab *l, int run, int task)
{
	for (int k = 0; k < PREDICTORS; k++)
		vec_push(a, &x->row, l->row[(size_t)run * PREDICTORS + (size_t)k]);
	vec_push(a, &x->ns, (double)l->recorded.run[run].median_ns);
	vec_push(a, &x->estimate, l->estimate[run]);
	vec_push(a, &x->task, task);
}

static Forest train(Arena *a, const Rows *x, const Forest *before)
{
	Err err = { 0 };
	Forest f = { 0 };
	TrainSet set = { (int)x->ns.n, x->row.at, x->ns.at, x->estimate.at, NULL, x->task.at };
	if (set.n > 0 && !train_forest(a, &set, before, &f, NULL, &err))
		die(&err);
	return f;
}

static void learn_from_others(Arena *a, Lab *lab, int n, int but)
{
	Arena *scratch = arena_new();
	Rows x = { 0 };
	for (int k = 0; k < n; k++)
		for (int i = 0; k != but && i < lab[k].recorded.n; i++)
			if (lab[k].recorded.run[i].median_ns > 0 && lab[k].estimate[i] > 0 && lab[k].same[i] == (uint64_t)i + 1)
				add_row(scratch, &x, &lab[k], i, k);
	Forest f = train(scratch, &x, NULL);
	lab[but].others = forest_join(a, &f, NULL);
	arena_free(scratch);
}

static void learn_from_told(Hunt *h)
{
	Rows x = { 0 };
	for (size_t i = 0; i < h->told.n; i++)
		add_row(h->arena, &x, h->lab, h->told.at[i], 0);
	Forest begun = h->model == WARM ? h->lab->others : (Forest){ 0 };
	h->forest = train(h->arena, &x, begun.ntree > 0 ? &begun : NULL);
	if (begun.ntree > 0)
		h->forest = forest_join(h->arena, &begun, &h->forest);
	h->revision++;
}

/* ---- a search ---- */

static int run_of(const Lab *l, const Config *c)
{
	return (int)(tree_run(l->space, c) - l->recorded.run);
}

static void estimate(void *arg, const Config *c, int n, double *ns, uint64_t *same)
{
	Hunt *h = arg;
	for (int i = 0; i < n; i++) {
		int k = run_of(h->lab, &c[i]), first = (int)h->lab->same[k] - 1;
		h->estimates += !h->estimated[first];
		h->estimated[first] = true;
		same[i] = h->lab->same[k];
		ns[i] = h->model == NONE && h->lab->estimate[k] > 0 ? 1 : h->lab->estimate[k];
		if (ns[i] > 0 && h->forest.ntree > 0)
			ns[i] *= exp(forest_value(&h->forest, h->lab->row + (size_t)k * PREDICTORS));
	}
}

static int revision(void *arg)
{
	return ((const Hunt *)arg)->revision;
}

typedef struct Flying {
	Config config;
	int run;
} Flying;

static Result hunt(Lab *lab, const Search *search, const Effort *effort, int model, uint64_t seed, int most)
{
	Err err = { 0 };
	Arena *a = arena_new();
	const RecordedSpace *spaces[] = { &lab->recorded };
	Measure *m = measure_replay(spaces, 1);
	MeasureRef *ref = measure_reference(m, lab->recorded.task, 1, &err);
	Hunt h = { .lab = lab, .arena = a, .model = model, .estimated = arena_array(a, bool, lab->recorded.n) };
	Result r = { 0 };
	bool *known = arena_array(a, bool, lab->recorded.n);
	Flying flying[TUNE_IN_FLIGHT];
	int n = 0, got = 1;
	double best = INFINITY, work_ns = 0, after[2 * FORETOLD];
	uint64_t begun = timing_thread_ns();
	h.forest = model == WARM ? lab->others : (Forest){ 0 };
	void *s = search->open(a, lab->space, (SearchCost){ estimate, &h, revision, NULL }, effort, rng_seed(seed));
	while (r.trials < most) {
		while (n < TUNE_IN_FLIGHT && (got = search->ask(s, &flying[n].config, 1)) > 0) {
			flying[n].run = run_of(lab, &flying[n].config);
			n++;
		}
		if (n == 0)
			break;
		Flying f = flying[0];
		memmove(flying, flying + 1, sizeof *flying * (size_t)--n);
		int first = (int)lab->same[f.run] - 1;
		MeasureResult out = { 0 };
		MeasureJob job = { .trace = lab->recorded.run[f.run].trace, .ref = ref };
		if (!measure_submit(m, &job, &err) || !measure_wait(m, 0, &out))
			die(&err);
		search->tell(s, f.config, (double)out.median_ns);
		if (known[first] || job.trace[0] == 0)
			continue;
		known[first] = true;
		r.trials++;
		work_ns += (double)(out.compile_ns + out.screen_ns);
		if (out.median_ns <= 0)
			continue;
		vec_push(a, &h.told, first);
		best = fmin(best, (double)out.median_ns);
		if (h.told.n <= 2 * FORETOLD)
			after[h.told.n - 1] = best;
		if (h.told.n == FORETOLD)
			r.promised = expect_saved(after, FORETOLD, FORETOLD);
		if (h.told.n > FORETOLD && h.told.n <= 2 * FORETOLD)
			r.saved = 1 - best / after[FORETOLD - 1];
		if (model >= COLD && h.told.n % LEARN == 0)
			learn_from_told(&h);
		for (int k = 0; k < 2; k++)
			if (r.within[k] == 0 && best <= lab->best_ns * (k == 0 ? 1.05 : 1.02)) {
				r.within[k] = r.trials;
				r.seconds[k] = (work_ns + (double)(h.estimates * lab->recorded.estimate_ns)) / 1e9;
			}
	}
	r.end = best / lab->best_ns;
	r.cpu = (double)(timing_thread_ns() - begun) / 1e9;
	measure_close(m);
	arena_free(a);
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
	bool each;
} Bench;

static void run_row(Bench *b, const Search *search, int model)
{
	Arena *a = arena_new();
	Figures trials[2] = { { 0 } }, seconds[2] = { { 0 } };
	double end = 0, asked = 0, cpu = 0, promised = 0, saved = 0;
	int there[2] = { 0 }, runs = b->nlab * b->seeds;
	for (int k = 0; k < b->nlab; k++) {
		Figures own[2] = { { 0 } };
		for (int seed = 1; seed <= b->seeds; seed++) {
			Result r = hunt(&b->lab[k], search, b->effort, model, (uint64_t)seed, b->most);
			for (int i = 0; i < 2; i++) {
				double t = r.within[i] > 0 ? r.within[i] : INFINITY;
				there[i] += r.within[i] > 0;
				vec_push(a, &trials[i], t);
				vec_push(a, &own[i], t);
				vec_push(a, &seconds[i], r.within[i] > 0 ? r.seconds[i] : INFINITY);
			}
			end += log(r.end) / runs;
			asked += (double)r.trials / runs;
			cpu += r.cpu / runs;
			promised += r.promised / runs;
			saved += r.saved / runs;
		}
		if (b->each)
			printf("    %s %s %s: 5 %% %s, 2 %% %s\n", b->lab[k].path, search->name, models[model],
				quantile(a, &own[0], 0.5), quantile(a, &own[1], 0.5));
	}
	printf("| %s | %s |", search->name, models[model]);
	for (int i = 0; i < 2; i++)
		printf(" %s | %s | %d %% | %s |", quantile(a, &trials[i], 0.5), quantile(a, &trials[i], 0.9),
			100 * there[i] / runs, quantile(a, &seconds[i], 0.5));
	printf(" %.3f | %.0f | %.2f | %.2f %% | %.2f %% |\n", exp(end), asked, cpu, 100 * promised, 100 * saved);
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
	const char *search = NULL, *model = "none,analytic,cold,warm";
	Err err = { 0 };
	b.arena = arena_new();
	b.effort = effort_find("normal");
	for (int i = 1; i < argc && b.effort != NULL; i++)
		if (strncmp(argv[i], "--search=", 9) == 0)
			search = argv[i] + 9;
		else if (strncmp(argv[i], "--model=", 8) == 0)
			model = argv[i] + 8;
		else if (strncmp(argv[i], "--seeds=", 8) == 0)
			b.seeds = atoi(argv[i] + 8);
		else if (strncmp(argv[i], "--most=", 7) == 0)
			b.most = atoi(argv[i] + 7);
		else if (strncmp(argv[i], "--preset=", 9) == 0)
			b.effort = effort_find(argv[i] + 9);
		else if (strcmp(argv[i], "--tasks") == 0)
			b.each = true;
		else if (b.nlab < FILES)
			open_lab(b.arena, &b.lab[b.nlab++], argv[i]);
	if (b.effort == NULL || b.nlab == 0 || b.seeds < 1)
		fail(&err, ERR_USAGE, "usage", "bench_search [--search=NAME,...] [--model=NAME,...] ... FILE.space..."),
			die(&err);
	for (int k = 0; k < b.nlab && is_in(model, models[WARM]); k++)
		learn_from_others(b.arena, b.lab, b.nlab, k);
	for (int k = 0; k < b.nlab; k++)
		printf("%s: %s, %d configs of %.0f, best %.1f us; %s\n", b.lab[k].path, b.lab[k].recorded.task->label,
			b.lab[k].recorded.n, b.lab[k].recorded.size, b.lab[k].best_ns / 1e3, b.lab[k].recorded.noise);
	printf("\n| search | model | 5 %%: median | 90th | reached | s | 2 %%: median | 90th | reached | s | end / best | "
	       "trials | CPU s | promised | saved |\n"
		   "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
	for (const Search *const *s = searches; *s != NULL; s++)
		for (int m = 0; m < MODELS; m++)
			if ((search == NULL || is_in(search, (*s)->name)) && is_in(model, models[m]))
				run_row(&b, *s, m);
	arena_free(b.arena);
	return 0;
}
