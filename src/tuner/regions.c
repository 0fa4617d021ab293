/*
 * Regions of the network that have alternatives (graph/alternatives.c), while their Tasks are tuned. The
 * partition's own Tasks come first; those of an alternative once enough is known of what they would
 * replace, and only for as long as it may still win: the time below which it cannot come (roofs, and what
 * its trials leave to gain) must be less than what the region takes now.
 */
#include "tuner/run.h"

#include <math.h>
#include <string.h>

void regions_open(Tuner *t, const Partition *p)
{
	int all = p->ntask + p->nmore;
	t->part = p;
	t->choice = arena_array(t->arena, int, p->nregion + 1);
	t->weight = arena_array(t->arena, int, all + 1);
	t->ms = arena_array(t->arena, double, all + 1);
	t->of = arena_array(t->arena, TaskRun *, all + 1);
}

void regions_choose(Tuner *t)
{
	const Partition *p = t->part;
	if (t->settled)
		return;
	for (int k = 0; k < p->ntask + p->nmore; k++)
		t->ms[k] = t->of[k] != NULL && t->of[k]->state->best_ms > 0 ? t->of[k]->state->best_ms : -1;
	for (int r = 0; r < p->nregion; r++)
		t->choice[r] = graph_choose(&p->region[r], t->ms);
	graph_weights(p, t->choice, t->weight);
	for (int k = 0; k < p->ntask + p->nmore; k++)
		if (t->of[k] != NULL)
			t->of[k]->state->weight = t->weight[k];
}

void regions_settle(Tuner *t, const Partition *compiled)
{
	t->settled = true;
	for (int i = 0; i < t->progress->ntask; i++) {
		t->progress->task[i].weight = 0;
		for (int k = 0; k < compiled->ntask; k++)
			if (memcmp(&compiled->task[k]->id, &t->progress->task[i].task->id, sizeof(Hash)) == 0)
				t->progress->task[i].weight = compiled->task[k]->weight;
	}
}

/* The Task will hardly come below it: n trials leave one part in n. */
static double least_ms(const TaskRun *r)
{
	if (r == NULL)
		return INFINITY; /* it is not tuned */
	const TaskProgress *s = r->state;
	double n = (double)(s->trials + s->reused), roof = s->roof_ms / r->most_saved;
	if (s->end != TASK_OPEN && s->best_ms > 0)
		return s->best_ms;
	return n > 0 && s->best_ms > 0 ? fmax(roof, s->best_ms * (1 - 1 / n)) : roof;
}

static bool has(const Alternative *x, const Tuner *t, const TaskRun *r)
{
	for (int i = 0; i < x->ngroup; i++)
		if (t->of[x->group[i].number] == r)
			return true;
	return false;
}

/* What is taken now, and whether that has been looked for long enough to be compared with. */
static bool known_well(const Tuner *t, const Alternative *x, double *ms)
{
	*ms = 0;
	for (int i = 0; i < x->ngroup; i++) {
		const TaskRun *r = t->of[x->group[i].number];
		const TaskProgress *s = r != NULL ? r->state : NULL;
		if (s == NULL || s->best_ms <= 0 ||
			(s->end == TASK_OPEN && s->trials + s->reused < TUNE_PICKS_BEFORE * t->ask->effort->picks))
			return false;
		*ms += s->best_ms;
	}
	return true;
}

double regions_gain(const Tuner *t, const TaskRun *r)
{
	const TaskProgress *s = r->state;
	double most = 0, now;
	for (int g = 0; g < t->part->nregion; g++) {
		const Region *x = &t->part->region[g];
		for (int k = 0; k < x->n; k++) {
			const Alternative *y = &x->alternative[k];
			if (k == t->choice[g] || !has(y, t, r) || !known_well(t, &x->alternative[t->choice[g]], &now))
				continue;
			now *= k != 0 && t->choice[g] == 0 ? GRAPH_FASTER : 1;
			for (int i = 0; i < y->ngroup; i++)
				now -= least_ms(t->of[y->group[i].number]);
			most = fmax(most, now);
		}
	}
	if (most <= 0)
		return -1;
	double own = task_run_gain_rate(r, s->best_ms > 0 ? fmin(most, s->best_ms - least_ms(r)) : most);
	return fmin(task_run_gain(r), own);
}

bool regions_close(const Tuner *t, const TaskRun *r)
{
	bool close = r->state->weight > 0 || t->ask->ntasks > 0;
	for (int g = 0; g < t->part->nregion; g++) {
		const Region *x = &t->part->region[g];
		double now = graph_cost(&x->alternative[t->choice[g]], t->ms);
		for (int k = 0; k < x->n && !close; k++) {
			double ms = graph_cost(&x->alternative[k], t->ms);
			close = has(&x->alternative[k], t, r) && ms >= 0 && ms <= now * TUNE_CLOSE;
		}
	}
	return close;
}
