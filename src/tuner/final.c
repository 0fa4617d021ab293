/*
 * The end of a run.  The best few schedules of each task are timed side by side, which decides between
 * those that noise has put in an order.  Then the network as compiled with the databases, the network
 * with default schedules and the tasks one by one are timed in turn, so that network_ms, tasks_ms and
 * default_network_ms are of one machine in one mood and may be compared.
 *
 * The time it takes is known beforehand, about, and kept free of the budget; what does not fit is left out.
 */
#include "tuner/run.h"

#include <math.h>
#include <string.h>

#define NEAR_BEST 1.1  /* times the best: slower ones do not race */
#define MOST_RESERVE 0.4 /* of the budget */
#define CARE 1.15        /* what is foreseen takes longer on a busy machine */
#define CONFIRMED 1.02   /* times the least: a second one says the same */
enum { RACES = 3, ROUNDS = 5, MOST_ROUNDS = 12, ROUNDS_OF_PASS = 2, NETWORK_RUNS = 17, START_MS = 30, TRIAL_MS = 30 /* until trials have shown */ };

static double deadline(const Tuner *t)
{
	return t->o->budget_ms > 0 ? t->start_ms + t->o->budget_ms : INFINITY;
}

static double trial_ms(const Tuner *t)
{
	double n = (double)t->state->trials;
	return n > 0 ? (t->last_done_ms - t->first_build_ms) / n : TRIAL_MS;
}

static double races_ms(const Tuner *t)
{
	int n = 0;
	for (int i = 0; i < t->state->ntask; i++)
		n += t->run[i].state->trials > 0 && regions_close(t, &t->run[i]);
	return t->o->finalists > 1 ? trial_ms(t) * n * (t->o->finalists + 1) : 0;
}

static double round_ms(const Tuner *t)
{
	return 2 * START_MS + NETWORK_RUNS * (t->state->tasks_ms + t->state->default_tasks_ms);
}

static double networks_ms(const Tuner *t)
{
	double compile = trial_ms(t) * t->state->ntask; /* no kernel's code takes longer than its trial did */
	double tasks = trial_ms(t) * 1.5 * ROUNDS / ROUNDS_OF_PASS * t->state->ntask;
	return t->plain != NULL ? compile + ROUNDS * round_ms(t) + tasks : 0;
}

double final_reserve_ms(const Tuner *t)
{
	return fmin((races_ms(t) + networks_ms(t)) * CARE, MOST_RESERVE * t->o->budget_ms);
}

static Compiled *compile(Tuner *t, Db *const *db, int ndb)
{
	CompileOptions o = { .target = t->o->target, .cache = t->o->cache, .db = db, .ndb = ndb };
	Err err = { 0 };
	Compiled *c = compile_model(t->arena, t->o->dag, &o, &err);
	if (c == NULL)
		err_format(&err, t->state->network_why, sizeof t->state->network_why);
	return c;
}

/*
 * What a run of the network passes through the caches: constants, prepared ones as they lie in the
 * bundle, and the workspace. Of a network whose defaults do not compile, the constants as they are.
 */
static int64_t network_bytes(const Tuner *t)
{
	const Dag *dag = t->o->dag;
	int64_t sum = t->plain != NULL ? (int64_t)t->plain->bundle_bytes + t->plain->workspace_bytes : 0;
	for (size_t v = 0; t->plain == NULL && v < dag->value.n; v++)
		if (dag->value.at[v].kind == VALUE_CONST)
			sum += value_bytes(&dag->value.at[v]);
	return sum;
}

void final_open(Tuner *t)
{
	if (t->o->dag == NULL || tuner_stopped(t))
		return;
	t->plain = compile(t, NULL, 0);
	measure_cold(t->o->measure, network_bytes(t));
}

/* ---- races ---- */

static bool is_default(const TaskRun *r, const Known *k)
{
	return strcmp(k->trace, r->default_trace) == 0;
}

static bool enter(TaskRun *r, Known *k, Known *out[MEASURE_RACERS], MeasureJob *job, int *n, Arena *scratch)
{
	job[*n] = (MeasureJob){ .ks = task_run_replay(r, k->trace, scratch, NULL), .trace = k->trace };
	if (job[*n].ks == NULL)
		task_run_refused(r, k);
	else
		out[(*n)++] = k;
	return job[*n].ks != NULL;
}

/*
 * The fastest of a task, at most `most`, not far behind the best, and the default whatever it takes: an outlier shall
 * not put another one before it. One whose schedule is refused is left out. *fresh: some have not raced yet.
 */
static int finalists(TaskRun *r, Known *out[MEASURE_RACERS], MeasureJob *job, int most, bool *fresh, Arena *scratch)
{
	Known **ranked, *plain = known_find(&r->known, r->default_trace);
	int n = 0, all = known_ranked(&r->known, scratch, &ranked);
	double within = INFINITY; /* of the first that is one */
	*fresh = false;
	for (int i = 0; i < all && n < most && ranked[i]->ns <= within; i++) {
		bool other = !is_default(r, ranked[i]);
		if (other && !enter(r, ranked[i], out, job, &n, scratch))
			continue;
		*fresh |= other && !ranked[i]->raced;
		within = fmin(within, ranked[i]->ns * NEAR_BEST);
	}
	if (n > 0 && plain != NULL && plain->ns > 0)
		enter(r, plain, out, job, &n, scratch);
	return n;
}

static bool race(Tuner *t, TaskRun *r, MeasureJob *job, int n, MeasureResult *out, Err *err)
{
	if (!tuner_reference(t, r, err))
		return false;
	for (int i = 0; i < n; i++)
		job[i].ref = r->ref;
	return measure_race(t->o->measure, job, n, out, err);
}

/* What the race says replaces what was known of its candidates. */
static bool take_race(Tuner *t, TaskRun *r, Known *const *known, const MeasureResult *m, int n, Err *err)
{
	TaskState *s = r->state;
	double best = 0;
	for (int i = 0; i < n; i++) {
		bool ok = m[i].status == RUN_OK && !m[i].pruned;
		if (!m[i].pruned && m[i].status != RUN_CANCELLED) {
			t->submitted++;
			if (!tuner_store(t, r, known[i]->trace, &m[i], err))
				return false;
		}
		known[i]->raced = true;
		known[i]->ns = ok ? (double)m[i].median_ns : -1;
		if (ok && is_default(r, known[i]))
			s->default_ms = known[i]->ns / 1e6;
		if (ok && (best == 0 || known[i]->ns < best))
			best = known[i]->ns;
	}
	if (best > 0)
		s->best_ms = best / 1e6;
	s->raced = true;
	return true;
}

/* A candidate that was set aside may be ahead of those that have raced and are slower than they seemed. */
static bool race_task(Tuner *t, TaskRun *r, Err *err)
{
	int most = t->o->finalists < MEASURE_RACERS ? t->o->finalists : MEASURE_RACERS - 1;
	bool ok = true, more = true;
	for (int round = 0; ok && more && round < RACES; round++) {
		Arena *scratch = arena_new();
		Known *known[MEASURE_RACERS];
		MeasureJob job[MEASURE_RACERS];
		MeasureResult m[MEASURE_RACERS];
		int n = finalists(r, known, job, most, &more, scratch);
		more = more && n > 0 && tuner_may(t, n) && !tuner_stopped(t);
		ok = !more || (race(t, r, job, n, m, err) && take_race(t, r, known, m, n, err));
		arena_free(scratch);
	}
	return ok;
}

static double time_of(const TaskState *s)
{
	return s->best_ms * s->task->weight;
}

/* The tasks whose order matters most come first, should the time not suffice for all. */
static bool race_tasks(Tuner *t, Err *err)
{
	double end = deadline(t) - networks_ms(t);
	bool *done = arena_array(t->arena, bool, t->state->ntask);
	for (int k = 0; k < t->state->ntask && !tuner_stopped(t) && tuner_now(t) < end; k++) {
		int most = -1;
		for (int i = 0; i < t->state->ntask; i++) {
			const TaskState *s = t->run[i].state;
			if (!done[i] && s->trials > 0 && regions_close(t, &t->run[i]) &&
				(most < 0 || time_of(s) > time_of(t->run[most].state)))
				most = i;
		}
		if (most < 0)
			break;
		done[most] = true;
		if (!race_task(t, &t->run[most], err))
			return false;
	}
	return true;
}

/* ---- the network and its tasks, in turn ---- */

static const char *chosen_trace(const Compiled *c, const Task *task)
{
	for (int k = 0; k < c->partition->ntask; k++)
		if (memcmp(&c->partition->task[k]->id, &task->id, sizeof task->id) == 0)
			return c->task[k].trace;
	return NULL;
}

/* The task as the network runs it; not stored. */
static bool time_task(Tuner *t, TaskRun *r, const Compiled *c, bool again, Err *err)
{
	Arena *scratch = arena_new();
	MeasureResult m = { 0 };
	const char *trace = chosen_trace(c, r->task);
	MeasureJob job = { .ks = trace != NULL ? task_run_replay(r, trace, scratch, err) : NULL, .trace = trace };
	bool ok = trace == NULL || (job.ks != NULL && race(t, r, &job, 1, &m, err));
	double ms = (double)m.median_ns / 1e6;
	if (ok && trace != NULL && m.status == RUN_OK && !m.pruned)
		r->state->best_ms = again ? fmin(ms, r->state->best_ms) : ms;
	arena_free(scratch);
	return ok;
}

/* Other work on the machine only adds: of several medians the least is nearest to the truth. */
static double least(const double *v, int n)
{
	double x = n > 0 ? v[0] : 0;
	for (int i = 1; i < n; i++)
		x = fmin(x, v[i]);
	return x;
}

static bool confirmed(const double *v, int n)
{
	int near = 0;
	for (int i = 0; i < n; i++)
		near += v[i] <= least(v, n) * CONFIRMED;
	return near > 1;
}

static bool time_network(Tuner *t, const Compiled *c, double *ms, Err *err)
{
	int64_t ns = 0;
	if (!measure_network(t->o->measure, c->bundle, c->bundle_bytes, &ns, err))
		return false;
	*ms = (double)ns / 1e6;
	return true;
}

/* Part of a pass over the tasks after each round of the networks, until both networks' least times are seen twice. */
static bool time_in_turn(Tuner *t, const Compiled *tuned, Err *err)
{
	double after[MOST_ROUNDS], before[MOST_ROUNDS];
	int n = 0, turn = 0, ntask = t->state->ntask;
	while (n < MOST_ROUNDS && !tuner_stopped(t) && (n == 0 || tuner_now(t) + round_ms(t) * CARE < deadline(t))) {
		if (!time_network(t, tuned, &after[n], err) || !time_network(t, t->plain, &before[n], err))
			return false;
		n++;
		if (n >= ROUNDS && confirmed(after, n) && confirmed(before, n))
			break;
		int until = n * ntask / ROUNDS_OF_PASS;
		for (; turn < until && !tuner_stopped(t) && tuner_now(t) < deadline(t); turn++)
			if (!time_task(t, &t->run[turn % ntask], tuned, turn >= ntask, err))
				return false;
	}
	t->state->network_ms = least(after, n);
	t->state->default_network_ms = least(before, n);
	return true;
}

bool final_run(Tuner *t, Err *err)
{
	Err why = { 0 };
	if (tuner_stopped(t) || (t->o->finalists > 1 && !race_tasks(t, err)))
		return tuner_stopped(t);
	if (t->plain == NULL || tuner_stopped(t))
		return true;
	DbSet set = task_run_databases(t->o, t->arena);
	Compiled *tuned = compile(t, set.db, set.n);
	if (tuned != NULL)
		regions_settle(t, tuned->partition);
	if (tuned != NULL && !time_in_turn(t, tuned, &why) && why.code != ERR_INTERRUPTED)
		err_format(&why, t->state->network_why, sizeof t->state->network_why);
	return true;
}
