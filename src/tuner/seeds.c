/*
 * Schedules from elsewhere that a task begins with: what others say is best for it, then what was best for it with
 * the code of another epoch, what was best on other targets, and what was best for tasks of its family, fitted to its
 * shape. They are only traces to be measured: no time is taken over.
 *
 * Hints are taken by what others say together, and a few by the fastest claim of any user: no user's failure, slow time
 * or retraction keeps a schedule from being tried here.
 */
#include "tuner/task_run.h"
#include "tuner/tuning.h"

#include "schedule/fit.h"
#include "db/rank.h"

#include <string.h>

static void add_seed(TaskRun *r, const char *trace)
{
	for (size_t i = 0; i < r->seed.n; i++)
		if (strcmp(r->seed.at[i], trace) == 0)
			return;
	if (outcome_find(&r->known, trace) == NULL)
		vec_push(r->arena, &r->seed, arena_printf(r->arena, "%s", trace));
}

static bool hints(TaskRun *r, DbSet set, DbWhose whose, int most, Arena *scratch, Err *err)
{
	DbKey key = task_run_key(r);
	DbChoice choice[TUNE_HINTS + TUNE_CLAIMS];
	int count;
	key.whose = whose;
	if (!db_rank(set, &key, choice, most, &count, scratch, err))
		return false;
	for (int k = 0; k < count; k++)
		add_seed(r, choice[k].run.trace);
	r->hints = r->seed.n;
	return true;
}

static bool old_ones(TaskRun *r, DbSet set, Hash target, Arena *scratch, Err *err)
{
	int epoch[TUNE_EPOCHS], n;
	if (!db_epochs(set, r->task->id, target, CODEGEN_EPOCH, epoch, TUNE_EPOCHS, &n, err))
		return false;
	for (int i = 0; i < n; i++) {
		DbKey key = { .workload = r->task->id, .target = target, .epoch = epoch[i] };
		DbChoice choice[TUNE_OLD];
		int count;
		if (!db_rank(set, &key, choice, TUNE_OLD, &count, scratch, err))
			return false;
		for (int k = 0; k < count; k++)
			add_seed(r, choice[k].run.trace);
	}
	return true;
}

static bool near_ones(TaskRun *r, DbSet set, Arena *scratch, Err *err)
{
	DbNear near[TUNE_NEIGHBOURS];
	int n;
	if (!db_nearest(set, r->task, r->ask->target, near, TUNE_NEIGHBOURS, &n, scratch, err))
		return false;
	for (int i = 0; i < n; i++) {
		DbKey key = { .workload = near[i].workload, .target = near[i].target, .epoch = CODEGEN_EPOCH };
		DbChoice choice[TUNE_NEIGHBOUR_BEST];
		int count;
		if (!db_rank(set, &key, choice, TUNE_NEIGHBOUR_BEST, &count, scratch, err))
			return false;
		const char *trace = count > 0 ? choice[0].run.trace : NULL;
		if (trace != NULL && memcmp(&near[i].workload, &r->task->id, sizeof(Hash)) != 0)
			trace = trace_fit(scratch, r->task, r->ask->target, trace);
		if (trace != NULL)
			add_seed(r, trace);
	}
	return true;
}

bool task_run_seeds(TaskRun *r, Err *err)
{
	Arena *scratch = arena_new();
	DbSet set = task_run_databases(r->means, scratch);
	bool ok = db_hold(set, err);
	if (ok) {
		ok = hints(r, set, DB_HINTS, TUNE_HINTS, scratch, err) &&
			hints(r, set, DB_CLAIMS, TUNE_HINTS + TUNE_CLAIMS, scratch, err) &&
			old_ones(r, set, target_id(r->ask->target), scratch, err) &&
			(r->state->reused > 0 || r->hints > 0 || near_ones(r, set, scratch, err));
		db_release(set);
	}
	r->state->seeds = (int)r->seed.n;
	arena_free(scratch);
	return ok;
}
