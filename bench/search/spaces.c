/*
 * What spaces hold: the template's space of a Task and the generated one are searched alike, for equal times in turns,
 * and the best schedules of both race against the template's default.
 *
 *     bench_spaces [--programs=DIR] [--target=host] [--threads=1] [--seconds=20] [--search=rank] [--seed=1]
 *                  [--traces] FILE.dag...
 *
 * A line for each Task: the sizes of both spaces, the time of the template's default, and the times over it of the
 * generated default, of the same with the other form (loops or tiles), of the best of the template's space and of the
 * best of the generated one (medians of a race). --traces prints the winning configs. --seconds=0 searches nothing.
 */
#include "base/file.h"
#include "codegen/codegen.h"
#include "cost_model/cost_model.h"
#include "measure/measure.h"
#include "runtime/timing.h"
#include "tuner/search.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 2, TURN_MS = 1000, RACERS = 3 };

/* One space and the search in it. */
typedef struct Side {
	Space *space;
	void *search;
	Cost cost;
	Arena *arena;
	double best_ns;
	int trials, failed;
	const char *first, *other, *best, *config; /* traces; the best one's config */
	bool over;
} Side;

typedef struct Bench {
	const char *programs, *target_name;
	Target target;
	int threads, seconds;
	const Search *search;
	uint64_t seed;
	bool traces;
} Bench;

static int die(const Err *e)
{
	fprintf(stderr, "bench_spaces: %s: %s\n", e->place, e->text);
	exit(1);
}

static const char *text_of(Arena *a, Space *s, const Config *c)
{
	Text text = { .arena = a };
	Trace *t = space_trace(s, c, a, NULL);
	if (t != NULL)
		trace_print(&text, t);
	return text_str(&text);
}

static void estimate(void *arg, const Config *c, int n, double *ns, uint64_t *same)
{
	Side *x = arg;
	for (int i = 0; i < n; i++) {
		Arena *a = arena_new();
		const char *text = text_of(a, x->space, &c[i]);
		Trace *t = trace_parse(a, "trace", text, strlen(text), NULL);
		const KernelSet *ks =
			t != NULL ? schedule_draft(ir_new(a), x->space->task, x->space->target, t, NULL) : NULL;
		ns[i] = ks != NULL ? cost_estimate_one(&x->cost, ks, x->space->task) : -1;
		same[i] = map_hash_bytes(text, strlen(text));
		arena_free(a);
	}
}

static KernelSet *replay(Arena *a, const Side *x, const char *trace)
{
	Trace *t = trace_parse(a, "trace", trace, strlen(trace), NULL);
	return t != NULL ? schedule_replay(ir_new(a), x->space->task, x->space->target, t, NULL) : NULL;
}

typedef struct Flying {
	Config config;
	const char *trace;
} Flying;

/* The search goes on for a turn; what is under way at its end is told. */
static void take_turn(const Bench *b, Side *x, Measure *m, MeasureRef *ref)
{
	Err err = { 0 };
	uint64_t end = timing_wall_ns() + TURN_MS * UINT64_C(1000000);
	while (!x->over || measure_pending(m) > 0) {
		Config c;
		bool more = !x->over && timing_wall_ns() < end && measure_pending(m) < TUNE_IN_FLIGHT;
		int got = more ? b->search->ask(x->search, &c, 1) : SEARCH_WAITS;
		if (got > 0) {
			Flying *f = arena_new_of(x->arena, Flying);
			Arena *own = arena_new();
			*f = (Flying){ c, text_of(x->arena, x->space, &c) };
			KernelSet *ks = replay(own, x, f->trace);
			MeasureJob job = { .ks = ks, .trace = f->trace, .ref = ref, .user = f };
			job.slow_ns = isfinite(x->best_ns) ? (int64_t)(x->best_ns * TUNE_SLOW) : 0;
			job.good_ns = isfinite(x->best_ns) ? (int64_t)(x->best_ns * TUNE_GOOD) : 0;
			if (ks == NULL)
				b->search->tell(x->search, c, -1);
			else if (!measure_submit(m, &job, &err))
				die(&err);
			arena_free(own);
			continue;
		}
		x->over |= got == SEARCH_DONE;
		if (measure_pending(m) == 0)
			return;
		MeasureResult r;
		if (!measure_wait(m, 1000, &r))
			continue;
		const Flying *f = r.user;
		double ns = r.status == RUN_OK ? (double)r.median_ns : -1;
		b->search->tell(x->search, f->config, ns);
		x->trials++;
		x->failed += ns < 0 && !r.pruned;
		if (ns > 0 && ns < x->best_ns) {
			Text config = { .arena = x->arena };
			space_print_config(&config, x->space, &f->config);
			x->best_ns = ns;
			x->best = f->trace;
			x->config = text_str(&config);
		}
	}
}

static Measure *open_measure(Arena *a, const Bench *b)
{
	Err err = { 0 };
	char *builder[] = { arena_printf(a, "%s/dlc", b->programs), "builder",
		arena_printf(a, "--target=%s", b->target_name), arena_printf(a, "--threads=%d", b->threads), NULL };
	char *runner[] = { arena_printf(a, "%s/dlc-worker", b->programs), "--stdio", NULL };
	const MeasureRunner child = { .argv = runner, .name = "cpu" };
	MeasureOptions o = { .builder = builder,
		.runner = &child,
		.runners = 1,
		.builders = 1,
		.threads = b->threads,
		.build_ms = METHOD_BUILD_MS,
		.run_ms = METHOD_RUN_MS,
		.tolerance = METHOD_TOLERANCE };
	Measure *m = measure_open(&o, &err);
	if (m == NULL)
		die(&err);
	measure_cold(m, 8 << 20);
	return m;
}

static Side open_side(Arena *a, const Bench *b, const Task *task, bool any)
{
	Err err = { 0 };
	Side x = { .arena = a, .best_ns = INFINITY };
	x.space = any ? space_of_any(a, task, &b->target, &err) : space_new(a, task, &b->target, &err);
	if (x.space == NULL)
		die(&err);
	x.cost = cost_or_first(NULL, a, &b->target);
	x.first = text_of(a, x.space, &x.space->first);
	x.best = x.other = x.first;
	const Knob *k = x.space->first.n > 0 ? space_knob(x.space, &x.space->first, 0) : NULL;
	size_t n = k != NULL ? strlen(k->name) : 0;
	if (n > 5 && strcmp(k->name + n - 5, ".form") == 0) {
		Config c = space_move(x.space, &x.space->first, 0, 1 - x.space->first.pick[0]);
		x.other = text_of(a, x.space, &c);
	}
	return x;
}

/* The time of each over that of the first; *base: the first's. */
static void race(
	const Side *const *side, const char *const *trace, MeasureRef *ref, Measure *m, double *base, double *over)
{
	Arena *a = arena_new();
	Err err = { 0 };
	MeasureJob job[RACERS];
	MeasureResult out[RACERS];
	for (int k = 0; k < RACERS; k++) {
		KernelSet *ks = replay(a, side[k], trace[k]);
		if (ks == NULL) {
			fprintf(stderr, "bench_spaces: %s: this has no schedule:\n%s", side[k]->space->task->label, trace[k]);
			exit(1);
		}
		job[k] = (MeasureJob){ .ks = ks, .trace = trace[k], .ref = ref, .keep = true };
	}
	if (!measure_race(m, job, RACERS, out, &err))
		die(&err);
	for (int k = 0; k < RACERS; k++)
		over[k] = out[k].status == RUN_OK ? (double)out[k].median_ns / (double)out[0].median_ns : NAN;
	*base = (double)out[0].median_ns;
	arena_free(a);
}

static void bench(const Bench *b, const char *path)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	double ns, begun[RACERS], tuned[RACERS];
	if (!file_read(a, path, 1 << 20, &file, &err))
		die(&err);
	Dag *dag = dag_parse(a, path, (const char *)file.at, file.n, &err);
	Task *task = dag != NULL ? task_new(a, dag, &err) : NULL;
	if (task == NULL)
		die(&err);
	Measure *m = open_measure(a, b);
	MeasureRef *ref = measure_reference(m, task, 1, &err);
	if (ref == NULL)
		die(&err);
	Side side[SIDES] = { open_side(a, b, task, false), open_side(a, b, task, true) };
	for (int k = 0; k < SIDES; k++) /* the Side stays where it is from now on */
		side[k].search = b->search->open(a, side[k].space, (SearchCost){ estimate, &side[k], NULL, NULL },
			&efforts[EFFORT_normal], rng_seed(b->seed));
	for (int t = 0; t < b->seconds * 1000 / TURN_MS; t++)
		take_turn(b, &side[t % SIDES], m, ref);
	const Side *of[RACERS] = { &side[0], &side[1], &side[1] };
	const char *first[RACERS] = { side[0].first, side[1].first, side[1].other };
	const Side *best_of[RACERS] = { &side[0], &side[0], &side[1] };
	const char *best[RACERS] = { side[0].first, side[0].best, side[1].best };
	race(of, first, ref, m, &ns, begun);
	race(best_of, best, ref, m, &ns, tuned);
	printf("%-28s %-9s %8.2g %8.2g configs, %3d %3d trials, %2d %2d failed: %9.1f us, generated %.3f %.3f, tuned %.3f "
		"%.3f\n",
		task->label, side[0].space->tmpl->name, space_size(side[0].space), space_size(side[1].space), side[0].trials,
		side[1].trials, side[0].failed, side[1].failed, ns / 1e3, begun[1], begun[2], tuned[1], tuned[2]);
	for (int k = 0; k < SIDES && b->traces; k++)
		printf("\t%s: %s\n", k == 0 ? "template" : "generated", side[k].config);
	fflush(stdout);
	measure_close(m);
	arena_free(a);
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
	size_t n = strlen(name);
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], name, n) == 0 && argv[i][n] == '=')
			return argv[i] + n + 1;
	return otherwise;
}

int main(int argc, char **argv)
{
	Err err = { 0 };
	Bench b = { .programs = option(argc, argv, "--programs", "build"),
		.target_name = option(argc, argv, "--target", "host"),
		.threads = atoi(option(argc, argv, "--threads", "1")),
		.seconds = atoi(option(argc, argv, "--seconds", "20")),
		.search = search_find(option(argc, argv, "--search", "rank")),
		.seed = (uint64_t)atoll(option(argc, argv, "--seed", "1")) };
	for (int i = 1; i < argc; i++)
		b.traces |= strcmp(argv[i], "--traces") == 0;
	if (b.search == NULL || argc < 2) {
		fprintf(stderr, "usage: bench_spaces [--programs=DIR] [--seconds=20] [--search=rank] FILE.dag...\n");
		return 2;
	}
	if (!target_resolve(&b.target, b.target_name, b.threads, NULL, 0, &err))
		die(&err);
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-')
			bench(&b, argv[i]);
	return 0;
}
