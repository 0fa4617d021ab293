/*
 * The end of a run.  The best few schedules of each task and its default are timed side by side, which decides between
 * those that noise has put in an order.  Then the choice is confirmed inside the network (confirm.c).
 *
 * The time that takes is estimated beforehand and kept free of the budget; what does not fit is left out.
 */
#include "tuner/run.h"

#include <math.h>
#include <string.h>

double tuner_deadline(const Tuner *t)
{
	return t->ask->budget_ms > 0 ? t->start_ms + t->ask->budget_ms : INFINITY;
}

double tuner_trial_ms(const Tuner *t)
{
	double n = (double)t->progress->trials;
	return n > 0 ? (t->last_done_ms - t->first_build_ms) / n : TUNE_TRIAL_MS;
}

static double races_ms(const Tuner *t)
{
	int n = 0;
	for (int i = 0; i < t->progress->ntask; i++)
		n += t->run[i].state->trials > 0 && regions_close(t, &t->run[i]);
	return t->ask->finalists > 1 ? tuner_trial_ms(t) * n * (t->ask->finalists + 1) : 0;
}

double final_reserve_ms(const Tuner *t)
{
	double need = (races_ms(t) + confirm_ms(t)) * TUNE_CARE;
	return t->ask->budget_ms > 0 ? fmin(need, TUNE_MOST_RESERVE * t->ask->budget_ms) : need;
}

int64_t final_reserve_trials(const Tuner *t)
{
	int64_t need = 0, limit = t->progress->limit;
	for (int i = 0; i < t->progress->ntask; i++)
		if (t->run[i].state->trials > 0 || t->run[i].in_flight > 0)
			need += t->ask->finalists + 1 + TUNE_CONFIRMED_EACH;
	return t->ask->finalists < 2 || limit < 0 ? 0 : need < limit / TUNE_RESERVE_PART ? need : limit / TUNE_RESERVE_PART;
}

void final_open(Tuner *t)
{
	if (t->ask->dag == NULL || tune_stopped(t->means))
		return;
	double start = tuner_now(t);
	t->constants = constants_new(t->arena, true);
	t->plain = confirm_compile(t, NULL, NULL);
	t->compile_ms = tuner_now(t) - start;
	t->progress->phase = TUNE_SEARCH;
	/*
	 * What a run of the network passes through the caches: code and constants, prepared ones as a bundle has them, and
	 * the workspace. Of a network whose defaults do not compile, the constants as they are.
	 */
	const Dag *dag = t->ask->dag;
	t->cold_bytes = t->plain != NULL ? t->plain->whole_bytes + t->plain->workspace_bytes : 0;
	for (size_t v = 0; t->plain == NULL && v < dag->value.n; v++)
		if (dag->value.at[v].kind == VALUE_CONST)
			t->cold_bytes += value_bytes(&dag->value.at[v]);
	measure_cold(t->means->measure, t->cold_bytes);
}

/* ---- races ---- */

static bool is_default(const TaskRun *r, const Outcome *k)
{
	return strcmp(k->trace, r->default_trace) == 0;
}

static bool enter(TaskRun *r, Outcome *k, Outcome *out[MEASURE_RACERS], MeasureJob *job, int *n, Arena *scratch)
{
	const KernelSet *ks = task_run_replay(r, k->trace, scratch, NULL);
	if (ks == NULL) {
		task_run_refused(r, k);
		return false;
	}
	job[*n] = (MeasureJob){ .ks = ks, .trace = k->trace };
	out[(*n)++] = k;
	return true;
}

/*
 * The fastest of a task, at most `most`, not far behind the best; and the default however slow it is, so that an
 * outlier puts no other one before it. One whose schedule is refused is left out. *fresh: some have not raced yet.
 */
static int finalists(TaskRun *r, Outcome *out[MEASURE_RACERS], MeasureJob *job, int most, bool *fresh, Arena *scratch)
{
	Outcome **ranked, *plain = outcome_find(&r->known, r->default_trace);
	int n = 0, all = outcome_ranked(&r->known, scratch, &ranked);
	double within = INFINITY; /* of the first that is one */
	*fresh = false;
	for (int i = 0; i < all && n < most && ranked[i]->ns <= within; i++) {
		bool other = !is_default(r, ranked[i]);
		if (other && !enter(r, ranked[i], out, job, &n, scratch))
			continue;
		*fresh |= other && !ranked[i]->raced;
		within = fmin(within, ranked[i]->ns * TUNE_NEAR_BEST);
	}
	if (n > 0 && plain != NULL && plain->ns > 0)
		enter(r, plain, out, job, &n, scratch);
	return n;
}

/* What the race says replaces what was known of its candidates. */
static bool take_race(Tuner *t, TaskRun *r, Outcome *const *known, const MeasureResult *m, int n, Err *err)
{
	TaskProgress *s = r->state;
	double best = 0;
	bool wrong[MEASURE_RACERS] = { false };
	for (int i = 0; i < n * n; i++)
		wrong[i / n] |= m[i % n].refuted != NULL && strcmp(m[i % n].refuted, known[i / n]->trace) == 0;
	for (int i = 0; i < n; i++) {
		bool ok = m[i].status == RUN_OK && !m[i].pruned && !wrong[i];
		if (m[i].status == RUN_DEVICE_LOST) {
			known[i]->raced = true; /* its earlier time stays */
			continue;
		}
		if (!m[i].pruned && m[i].status != RUN_CANCELLED) {
			t->submitted++;
			if (!tuner_store(t, r, known[i]->trace, &m[i], err) || !tuner_expose(t, r, &m[i], err))
				return false;
		}
		known[i]->raced = true;
		known[i]->ns = ok ? (double)m[i].median_ns : -1;
		known[i]->err_e9 = m[i].max_err_e9;
		known[i]->scatter = outcome_scatter(m[i].median_ns, m[i].mad_ns, m[i].samples);
		if (ok && is_default(r, known[i]))
			s->default_ms = known[i]->ns / 1e6;
		if (ok && (best == 0 || known[i]->ns < best))
			best = known[i]->ns;
	}
	if (best > 0)
		s->best_ms = best / 1e6;
	s->raced = true;
	tell_race(t, r, n);
	return true;
}

/* A candidate that was set aside may be ahead of those that have raced and are slower than they seemed. */
static bool race_task(Tuner *t, TaskRun *r, Err *err)
{
	int most = t->ask->finalists < MEASURE_RACERS ? t->ask->finalists : MEASURE_RACERS - 1;
	bool ok = true, more = true;
	for (int round = 0; ok && more && round < TUNE_RACES; round++) {
		Arena *scratch = arena_new();
		Outcome *known[MEASURE_RACERS];
		MeasureJob job[MEASURE_RACERS];
		MeasureResult m[MEASURE_RACERS];
		int n = finalists(r, known, job, most, &more, scratch);
		more = more && n > 0 && tuner_may(t, n) && !tune_stopped(t->means);
		ok = !more || tuner_reference(t, r, err);
		for (int i = 0; ok && more && i < n; i++)
			job[i].ref = r->ref;
		if (ok && more)
			ok = measure_race(t->means->measure, job, n, m, err) && take_race(t, r, known, m, n, err);
		arena_free(scratch);
	}
	return ok;
}

static double time_of(const TaskProgress *s)
{
	return s->best_ms * s->task->weight;
}

/* The tasks whose order matters most come first, should the time not suffice for all. */
static bool race_tasks(Tuner *t, Err *err)
{
	double end = tuner_deadline(t) - confirm_ms(t);
	bool *done = arena_array(t->arena, bool, t->progress->ntask);
	for (int k = 0; k < t->progress->ntask && !tune_stopped(t->means) && tuner_now(t) < end; k++) {
		int most = -1;
		for (int i = 0; i < t->progress->ntask; i++) {
			const TaskProgress *s = t->run[i].state;
			if (!done[i] && s->trials > 0 && regions_close(t, &t->run[i]) &&
				(most < 0 || time_of(s) > time_of(t->run[most].state)))
				most = i;
		}
		if (most < 0)
			break;
		done[most] = true;
		tuner_say(t, TUNE_RACE, races_ms(t) * (t->progress->ntask - k) / t->progress->ntask + confirm_ms(t));
		if (!race_task(t, &t->run[most], err))
			return false;
	}
	return true;
}

bool final_run(Tuner *t, Err *err)
{
	if (tune_stopped(t->means) || (t->ask->finalists > 1 && !race_tasks(t, err)))
		return tune_stopped(t->means);
	return t->plain == NULL || tune_stopped(t->means) || confirm_run(t, err);
}
