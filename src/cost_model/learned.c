/*
 * The learned cost model: the analytic estimate, corrected by trees over the predictors of a scheduled Fn. The trees
 * come from a file (learned_file.h). A file that cannot be used is named in a note, and the estimate stands alone. What
 * a run measures is learned from too: once enough is new, trees that mend the error of those before are grown in a
 * thread of their own, so that measuring does not wait, and replace the old ones at the next observation.
 */
#include "cost_model/cost_model.h"

#include "base/map.h"
#include "cost_model/cost.h"
#include "cost_model/learned_file.h"
#include "cost_model/train.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* A training; all of it is in its arena, which its thread alone uses. */
typedef struct Job {
	Arena *arena;
	pthread_t thread;
	TrainSet set;
	const Forest *before;
	Forest grown;
	bool good;
	atomic_bool done;
} Job;

typedef struct Learned {
	Arena *arena;
	Target target;
	const char *note;
	Forest forest; /* of the file; empty: none */
	Job *last;     /* whose trees are used; NULL: those of the file */
	Job *job;      /* under way */
	Map tasks;     /* ids of Tasks to numbers */
	VEC(float) row;
	VEC(double) ns;
	VEC(double) estimate;
	VEC(int) task;
	int revision;   /* how often the trees have changed */
	size_t learned; /* observations that are in the trees, or will be */
} Learned;

static const Forest *trees(const Learned *l)
{
	return l->last != NULL ? &l->last->grown : &l->forest;
}

/* ---- the file ---- */

const char *learned_unfit(Arena *a, const LearnedModel *m, const Target *t)
{
	if (m->kind != t->kind)
		return arena_printf(a, "is for targets of kind %s", target_kind_name(m->kind));
	if (m->nscore > 0 && !(m->score[0].rank[1] > m->score[0].rank[0]))
		return arena_printf(a, "ranks Tasks that it has not seen no better than the estimate does (%.2f, %.2f)",
			m->score[0].rank[1], m->score[0].rank[0]);
	return NULL;
}

static void *open_learned(Arena *a, const Target *target, const char *path, Err *err)
{
	Learned *l = arena_new_of(a, Learned);
	LearnedModel m;
	Err why = { 0 };
	(void)err;
	*l = (Learned){ .arena = a, .target = *target, .tasks = MAP_OF(a) };
	if (path == NULL)
		l->note = "no learned cost model is named: the estimate ranks until something is learned";
	else if (!learned_read(a, path, &m, &why))
		l->note = arena_printf(a, "%s: %s; the estimate ranks instead", why.place, why.text);
	else if (learned_unfit(a, &m, target) != NULL)
		l->note = arena_printf(a, "%s: %s; the estimate ranks instead", path, learned_unfit(a, &m, target));
	else
		l->forest = m.forest;
	return l;
}

static const char *note_learned(const void *state)
{
	return ((const Learned *)state)->note;
}

const LearnedGain *learned_gain(const LearnedModel *m, const Target *t)
{
	for (int k = 0; k < m->nuntuned; k++) {
		const LearnedGain *g = &m->untuned[k];
		if (g->arch == t->arch && g->vector_bits == t->vector_bits && g->parallel == (t->threads > 1))
			return g;
	}
	return NULL;
}

/* ---- asking ---- */

/* A row of predictors, and behind it the analytic estimate in nanoseconds, with all its bits. */
enum { KEPT = PREDICTORS + sizeof(double) / sizeof(float) };

static void keep_row(const KernelSet *ks, const Task *task, const Target *t, float kept[KEPT])
{
	double ns = predictor_row(ks, task, t, kept);
	memcpy(kept + PREDICTORS, &ns, sizeof ns);
}

static double corrected_ns(const Forest *f, const float kept[KEPT])
{
	double ns;
	memcpy(&ns, kept + PREDICTORS, sizeof ns);
	return ns * exp(fmin(fmax(forest_value(f, kept), -COST_CORRECTION), COST_CORRECTION));
}

double learned_ns(const LearnedModel *m, const KernelSet *ks, const Task *task, const Target *t)
{
	float kept[KEPT];
	keep_row(ks, task, t, kept);
	return corrected_ns(&m->forest, kept);
}

static void keep_learned(const void *state, const CostCandidate *x, int n, float *kept)
{
	const Learned *l = state;
	for (int i = 0; i < n; i++)
		keep_row(x[i].ks, x[i].task, &l->target, kept + (size_t)i * KEPT);
}

static void again_learned(const void *state, const float *kept, int n, double *ns)
{
	const Learned *l = state;
	for (int i = 0; i < n; i++)
		ns[i] = corrected_ns(trees(l), kept + (size_t)i * KEPT);
}

static void estimate_learned(const void *state, const CostCandidate *x, int n, double *ns)
{
	float kept[KEPT];
	for (int i = 0; i < n; i++) {
		keep_learned(state, &x[i], 1, kept);
		again_learned(state, kept, 1, &ns[i]);
	}
}

/* ---- telling ---- */

static void *grow(void *arg)
{
	Job *j = arg;
	Err err = { 0 };
	j->good = train_forest(j->arena, &j->set, j->before, &j->grown, NULL, &err);
	atomic_store(&j->done, true);
	return NULL;
}

/* The observations of each Task one after the other. */
static TrainSet sorted(const Learned *l, Arena *a)
{
	int n = (int)l->ns.n, m = 0;
	float *row = arena_array(a, float, (size_t)n * PREDICTORS);
	double *ns = arena_array(a, double, n), *estimate = arena_array(a, double, n);
	int *task = arena_array(a, int, n);
	for (uint32_t t = 0; t < l->tasks.index.n; t++)
		for (int i = 0; i < n; i++)
			if (l->task.at[i] == (int)t) {
				memcpy(row + (size_t)m * PREDICTORS, l->row.at + (size_t)i * PREDICTORS, PREDICTORS * sizeof *row);
				ns[m] = l->ns.at[i];
				estimate[m] = l->estimate.at[i];
				task[m++] = (int)t;
			}
	return (TrainSet){ m, row, ns, estimate, NULL, task };
}

static void begin_job(Learned *l)
{
	Arena *a = arena_new();
	Job *j = arena_new_of(a, Job);
	*j = (Job){ .arena = a, .set = sorted(l, a) };
	Forest *before = arena_new_of(a, Forest);
	*before = forest_join(a, &l->forest, NULL);
	j->before = before;
	l->learned = l->ns.n;
	if (pthread_create(&j->thread, NULL, grow, j) != 0)
		arena_free(a);
	else
		l->job = j;
}

static void end_job(Learned *l)
{
	Job *j = l->job;
	pthread_join(j->thread, NULL);
	l->job = NULL;
	if (!j->good) {
		arena_free(j->arena);
		return;
	}
	if (l->last != NULL)
		arena_free(l->last->arena);
	l->last = j;
	l->revision++;
}

static void observe_learned(void *state, const CostCandidate *x, int n, const double *ns)
{
	Learned *l = state;
	float row[PREDICTORS];
	if (!train_there(NULL))
		return;
	for (int i = 0; i < n; i++) {
		uint32_t before = l->tasks.index.n;
		MapEntry *e = map_add_bytes(&l->tasks, &x[i].task->id, sizeof x[i].task->id);
		if (l->tasks.index.n > before)
			e->num = before;
		vec_push(l->arena, &l->estimate, predictor_row(x[i].ks, x[i].task, &l->target, row));
		for (int k = 0; k < PREDICTORS; k++)
			vec_push(l->arena, &l->row, row[k]);
		vec_push(l->arena, &l->ns, ns[i]);
		vec_push(l->arena, &l->task, (int)e->num);
	}
	if (l->job != NULL && atomic_load(&l->job->done))
		end_job(l);
	double fresh = (double)(l->ns.n - l->learned);
	if (l->job == NULL && fresh >= COST_FRESH && fresh >= COST_FRESH_SHARE * (double)l->learned)
		begin_job(l);
}

static int revision_learned(const void *state)
{
	return ((const Learned *)state)->revision;
}

static void close_learned(void *state)
{
	Learned *l = state;
	if (l->job != NULL)
		end_job(l);
	if (l->last != NULL)
		arena_free(l->last->arena);
	l->last = NULL;
}

const CostModel cost_xgboost = { .name = "xgboost",
	.doc = "the estimate, corrected by trees that were trained on records",
	.file = true,
	.open = open_learned,
	.note = note_learned,
	.estimate = estimate_learned,
	.kept = KEPT,
	.keep = keep_learned,
	.again = again_learned,
	.observe = observe_learned,
	.revision = revision_learned,
	.close = close_learned };
