/* See hold_out.h. */
#include "learn/hold_out.h"

#include "base/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 4 /* schedules of a Task that can be ranked */ };

#define COUNT(name, value, unit, reason) enum { LEARN_##name = value };
#define RATIO(name, value, unit, reason) static const double LEARN_##name = value;
#include "learn/untuned.def"
#undef COUNT
#undef RATIO

/* ---- ranks ---- */

/* Ranks of the values, equal ones sharing their mean. */
static void ranks(const double *v, int n, double *out)
{
	for (int i = 0; i < n; i++) {
		double less = 0, same = 0;
		for (int k = 0; k < n; k++) {
			less += v[k] < v[i];
			same += v[k] == v[i];
		}
		out[i] = less + (same - 1) / 2;
	}
}

double learn_rank(const double *x, const double *y, int n, Arena *a)
{
	double *rx = arena_array(a, double, n), *ry = arena_array(a, double, n), xy = 0, xx = 0, yy = 0;
	double mean = (n - 1) / 2.0;
	ranks(x, n, rx);
	ranks(y, n, ry);
	for (int i = 0; i < n; i++) {
		xy += (rx[i] - mean) * (ry[i] - mean);
		xx += (rx[i] - mean) * (rx[i] - mean);
		yy += (ry[i] - mean) * (ry[i] - mean);
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

double learn_pick(const double *said, const double *ns, int n)
{
	int first = 0;
	double best = ns[0];
	for (int i = 1; i < n; i++) {
		first = said[i] < said[first] ? i : first;
		best = fmin(best, ns[i]);
	}
	return ns[first] / best;
}

/* ---- held out ---- */

/* The part that a Task is in: the same for all targets, and for other databases. */
static int part_of(const LearnTask *t)
{
	return t->workload.byte[0] % LEARN_PARTS;
}

/* The rows of all parts but one. */
static TrainSet without(const LearnSet *s, int part, Arena *a)
{
	const TrainSet *all = &s->rows;
	float *row = arena_array(a, float, (size_t)all->n * PREDICTORS + 1);
	double *ns = arena_array(a, double, all->n + 1), *estimate = arena_array(a, double, all->n + 1);
	double *weight = arena_array(a, double, all->n + 1);
	int *task = arena_array(a, int, all->n + 1);
	TrainSet out = { 0, row, ns, estimate, weight, task };
	for (int t = 0; t < s->ntask; t++)
		for (int i = s->task[t].first; part_of(&s->task[t]) != part && i < s->task[t].first + s->task[t].n; i++) {
			memcpy(row + (size_t)out.n * PREDICTORS, all->row + (size_t)i * PREDICTORS, PREDICTORS * sizeof *row);
			ns[out.n] = all->ns[i];
			estimate[out.n] = all->estimate[i];
			weight[out.n] = all->weight[i];
			task[out.n++] = t;
		}
	return out;
}

/* The trees of all rows, and for each part those of the other rows. */
typedef struct Training {
	const LearnSet *set;
	double *said; /* of row i: the time by trees that have not seen its Task */
	LearnedModel *model;
	Arena *arena; /* of the model's trees */
	bool good[LEARN_PARTS + 1];
	Err err[LEARN_PARTS + 1];
} Training;

static void train_some(void *arg, size_t i)
{
	Training *x = arg;
	const LearnSet *s = x->set;
	int part = (int)i - 1;
	if (part < 0) { /* it takes longest, so it begins first */
		x->good[i] = train_forest(x->arena, &s->rows, NULL, &x->model->forest, x->model->gain, &x->err[i]);
		return;
	}
	Arena *a = arena_new();
	TrainSet rest = without(s, part, a);
	Forest f = { 0 };
	x->good[i] = rest.n == 0 || train_forest(a, &rest, NULL, &f, NULL, &x->err[i]);
	for (int t = 0; t < s->ntask && x->good[i]; t++)
		for (int k = s->task[t].first; part_of(&s->task[t]) == part && k < s->task[t].first + s->task[t].n; k++)
			x->said[k] = s->rows.estimate[k] * exp(forest_value(&f, s->rows.row + (size_t)k * PREDICTORS));
	arena_free(a);
}

static bool train_all(const LearnSet *s, double *said, LearnedModel *out, Arena *a, Err *err)
{
	Training x = { .set = s, .said = said, .model = out, .arena = a };
	spread(s->threads, LEARN_PARTS + 1, train_some, &x);
	for (int k = 0; k <= LEARN_PARTS; k++)
		if (!x.good[k]) {
			*err = x.err[k];
			return false;
		}
	return true;
}

static LearnedScore *score_of(LearnedModel *m, const char *class)
{
	for (int k = 0; k < m->nscore; k++)
		if (strcmp(m->score[k].class, class) == 0)
			return &m->score[k];
	m->score[m->nscore] = (LearnedScore){ .class = class };
	return &m->score[m->nscore++];
}

static void judge(const LearnSet *s, const double *said, LearnedModel *m, Arena *a)
{
	m->score = arena_array(a, LearnedScore, s->ntask + 1);
	score_of(m, "all");
	for (int t = 0; t < s->ntask; t++) {
		const LearnTask *x = &s->task[t];
		if (x->n < LEAST)
			continue;
		Arena *scratch = arena_new();
		const double *ns = s->rows.ns + x->first, *by[2] = { s->rows.estimate + x->first, said + x->first };
		LearnedScore *to[2] = { &m->score[0], score_of(m, x->class) };
		for (int k = 0; k < 2; k++) {
			to[k]->tasks++;
			to[k]->schedules += x->n;
			for (int which = 0; which < 2; which++) {
				to[k]->rank[which] += learn_rank(by[which], ns, x->n, scratch) * x->n;
				to[k]->pick[which] += log(learn_pick(by[which], ns, x->n));
			}
		}
		arena_free(scratch);
	}
	for (int k = 0; k < m->nscore; k++)
		for (int which = 0; which < 2; which++) {
			m->score[k].rank[which] /= fmax(m->score[k].schedules, 1);
			m->score[k].pick[which] = exp(m->score[k].pick[which] / fmax(m->score[k].tasks, 1));
		}
}

/* ---- instead of defaults ---- */

/*
 * Natural logarithms of factors that a gain is expected to be above. The least is far above the noise of a measurement:
 * of many schedules that were not measured, the one ranked first is often slow, its time estimated too low.
 */
static const double margins[] = { 0.18, 0.22, 0.27, 0.33, 0.4, 0.5, 0.6 };

static bool in_group(const LearnTask *t, const char *class, const LearnedGain *g)
{
	return (class == NULL || strcmp(t->class, class) == 0) && t->standard >= 0 && t->n >= LEAST &&
	       t->arch == g->arch && t->vector_bits == g->vector_bits && t->parallel == g->parallel;
}

void learn_gain_at(const LearnSet *s, const double *said, const char *class, LearnedGain *g, double *se)
{
	double sum = 0, squares = 0;
	g->tasks = g->taken = 0;
	g->best = 0;
	for (int t = 0; t < s->ntask; t++) {
		const LearnTask *x = &s->task[t];
		if (!in_group(x, class, g))
			continue;
		int first = x->first, best = x->first;
		for (int i = x->first; i < x->first + x->n; i++) {
			first = said[i] < said[first] ? i : first;
			best = s->rows.ns[i] < s->rows.ns[best] ? i : best;
		}
		bool takes = log(said[x->standard] / said[first]) > g->margin;
		double gain = takes ? log(s->rows.ns[x->standard] / s->rows.ns[first]) : 0;
		g->tasks++;
		g->taken += takes;
		g->best += log(s->rows.ns[x->standard] / s->rows.ns[best]);
		sum += gain;
		squares += gain * gain;
	}
	double n = fmax(g->tasks, 1);
	g->best /= n;
	g->gain = sum / n;
	*se = sqrt(fmax(squares / n - g->gain * g->gain, 0) / fmax(n - 1, 1));
}

/* The margin whose gain is largest even if the mean is a standard error too high; none that is within the noise. */
static LearnedGain best_margin(const LearnSet *s, const double *said, LearnedGain group)
{
	double most = 0, se;
	group.margin = LEARNED_NEVER;
	learn_gain_at(s, said, NULL, &group, &se);
	LearnedGain best = group;
	for (size_t k = 0; k < sizeof margins / sizeof *margins; k++) {
		group.margin = margins[k];
		learn_gain_at(s, said, NULL, &group, &se);
		if (group.taken >= LEARN_TAKEN && group.gain > LEARN_SURE * se && group.gain - se > most) {
			most = group.gain - se;
			best = group;
		}
	}
	return best;
}

void learn_gains(const LearnSet *s, const double *said, LearnedModel *m, Arena *a)
{
	m->untuned = arena_array(a, LearnedGain, LEARNED_GAINS);
	m->nuntuned = 0;
	for (int t = 0; t < s->ntask; t++) {
		const LearnTask *x = &s->task[t];
		bool known = x->standard < 0 || x->n < LEAST || m->nuntuned == LEARNED_GAINS;
		for (int k = 0; k < m->nuntuned; k++)
			known |= in_group(x, NULL, &m->untuned[k]);
		if (!known)
			m->untuned[m->nuntuned++] = best_margin(s, said,
				(LearnedGain){ .arch = x->arch, .vector_bits = x->vector_bits, .parallel = x->parallel });
	}
}

/* ---- together ---- */

bool learn_train(const LearnSet *s, TargetKind kind, int64_t now_s, LearnedModel *out, Arena *a, Err *err)
{
	*out = (LearnedModel){ .kind = kind,
		.predictors = predictor_id(),
		.data = s->data,
		.epoch = s->epoch,
		.trained_s = now_s,
		.runs = s->runs,
		.rows = s->rows.n,
		.tasks = s->ntask,
		.targets = s->ntarget };
	if (s->rows.n < LEARN_LEAST_ROWS || s->ntask < LEARN_LEAST_TASKS)
		return fail(err, ERR_MISSING, target_kind_name(kind),
			"there are %d schedules of %d Tasks to learn from, and a model needs %d of %d: tune first", s->rows.n,
			s->ntask, (int)LEARN_LEAST_ROWS, (int)LEARN_LEAST_TASKS);
	double *said = arena_array(a, double, s->rows.n);
	if (!train_all(s, said, out, a, err))
		return false;
	judge(s, said, out, a);
	learn_gains(s, said, out, a);
	return true;
}
