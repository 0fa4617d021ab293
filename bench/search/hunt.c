/* See hunt.h. */
#include "hunt.h"

#include "tree.h"

#include "base/file.h"
#include "measure/replay.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const hunt_models[MODELS] = { "none", "analytic", "cold", "warm", "file" };

typedef struct Flying {
	Config config;
	int run;
} Flying;

struct Hunt {
	Lab *lab;
	Arena *arena;
	Measure *measure;
	MeasureRef *ref;
	const Search *search;
	void *state;
	int model, revision;
	Forest forest;
	VEC(int) told;     /* numbers of runs with times, to learn from */
	int64_t estimates; /* schedules estimated for the first time */
	bool *estimated, *known; /* by run: the first of its trace */
	Flying flying[TUNE_IN_FLIGHT];
	int n, flight;
	double work_ns;
	VEC(double) best; /* after each trial */
};

void lab_die(const Err *e)
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

void lab_open(Arena *a, Lab *l, const char *path)
{
	Err err = { 0 };
	Bytes file;
	l->path = path;
	if (!file_read(a, path, 1 << 28, &file, &err) ||
		!recorded_parse(a, path, (const char *)file.at, file.n, &l->recorded, &err))
		lab_die(&err);
	l->space = tree_space(a, path, &l->recorded, &err);
	if (l->space == NULL)
		lab_die(&err);
	l->first = l->space->first;
	read_predictors(a, l);
	if (l->best_ns == INFINITY && !fail(&err, ERR_INPUT, path, "has no schedule with a time that this dlc can read"))
		lab_die(&err);
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
		lab_die(&err);
	return f;
}

/* Of a network of which nothing was learned. */
static bool is_other(const Lab *a, const Lab *b)
{
	return a != b && (a->recorded.network[0] == 0 || strcmp(a->recorded.network, b->recorded.network) != 0);
}

void lab_learn(Arena *a, Lab *lab, int n, int but)
{
	Arena *scratch = arena_new();
	Rows x = { 0 };
	for (int k = 0; k < n; k++)
		for (int i = 0; is_other(&lab[k], &lab[but]) && i < lab[k].recorded.n; i++)
			if (lab[k].recorded.run[i].median_ns > 0 && lab[k].estimate[i] > 0 && lab[k].same[i] == (uint64_t)i + 1)
				add_row(scratch, &x, &lab[k], i, k);
	Forest f = train(scratch, &x, NULL);
	lab[but].others = forest_join(a, &f, NULL);
	arena_free(scratch);
}

/* The trees that a search begins with. */
static Forest first_trees(const Hunt *h)
{
	return h->model == WARM ? h->lab->others : h->model == OF_FILE ? h->lab->file : (Forest){ 0 };
}

static void learn_from_told(Hunt *h)
{
	Rows x = { 0 };
	for (size_t i = 0; i < h->told.n; i++)
		add_row(h->arena, &x, h->lab, h->told.at[i], 0);
	Forest begun = first_trees(h);
	h->forest = train(h->arena, &x, begun.ntree > 0 ? &begun : NULL); /* `begun` among them */
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

/* A config that ran. */
static Config draw_first(const Lab *lab, Rng *rng)
{
	for (;;) {
		Config c = space_sample(lab->space, rng);
		int k = run_of(lab, &c);
		if (lab->recorded.run[k].median_ns > 0 && lab->estimate[k] > 0)
			return c;
	}
}

Hunt *hunt_open(Lab *lab, const Search *search, const Effort *effort, int model, uint64_t seed, int flight, bool drawn)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Hunt *h = arena_new_of(a, Hunt);
	const RecordedSpace **space = arena_array(a, const RecordedSpace *, 1);
	space[0] = &lab->recorded;
	*h = (Hunt){ .lab = lab, .arena = a, .measure = measure_replay(space, 1), .search = search, .model = model };
	h->ref = measure_reference(h->measure, lab->recorded.task, 1, &err);
	h->estimated = arena_array(a, bool, lab->recorded.n);
	h->known = arena_array(a, bool, lab->recorded.n);
	h->forest = first_trees(h);
	h->flight = flight < TUNE_IN_FLIGHT ? flight : TUNE_IN_FLIGHT;
	Rng rng = rng_seed(seed ^ 1);
	lab->space->first = drawn ? draw_first(lab, &rng) : lab->first;
	h->state = search->open(a, lab->space, (SearchCost){ estimate, h, revision, NULL }, effort, rng_seed(seed));
	return h;
}

void hunt_close(Hunt *h)
{
	measure_close(h->measure);
	arena_free(h->arena);
}

/* The oldest candidate under way is told; whether it was a trial. */
static bool land(Hunt *h)
{
	Err err = { 0 };
	Flying f = h->flying[0];
	memmove(h->flying, h->flying + 1, sizeof *h->flying * (size_t)--h->n);
	int first = (int)h->lab->same[f.run] - 1;
	MeasureResult out = { 0 };
	MeasureJob job = { .trace = h->lab->recorded.run[f.run].trace, .ref = h->ref };
	if (!measure_submit(h->measure, &job, &err) || !measure_wait(h->measure, 0, &out))
		lab_die(&err);
	h->search->tell(h->state, f.config, (double)out.median_ns);
	if (h->known[first] || job.trace[0] == 0)
		return false;
	h->known[first] = true;
	h->work_ns += (double)(out.compile_ns + out.screen_ns);
	double best = h->best.n > 0 ? h->best.at[h->best.n - 1] : INFINITY;
	vec_push(h->arena, &h->best, out.median_ns > 0 ? fmin(best, (double)out.median_ns) : best);
	if (out.median_ns <= 0)
		return true;
	vec_push(h->arena, &h->told, first);
	if (h->model >= COLD && h->told.n % LEARN == 0)
		learn_from_told(h);
	return true;
}

bool hunt_step(Hunt *h)
{
	for (;;) {
		while (h->n < h->flight && h->search->ask(h->state, &h->flying[h->n].config, 1) > 0) {
			h->flying[h->n].run = run_of(h->lab, &h->flying[h->n].config);
			h->n++;
		}
		if (h->n == 0)
			return false;
		if (land(h))
			return true;
	}
}

int hunt_trials(const Hunt *h, const double **best)
{
	if (best != NULL)
		*best = h->best.at;
	return (int)h->best.n;
}

double hunt_seconds(const Hunt *h)
{
	return (h->work_ns + (double)(h->estimates * h->lab->recorded.estimate_ns)) / 1e9;
}

double hunt_left(const Hunt *h)
{
	return h->search->left != NULL ? h->search->left(h->state) : -1;
}
