/*
 * Tasks and a budget become records, on one page: choose a task, take its next candidate, hand it to
 * measure; take what is done, store it, tell the task.  The tuner waits only in measure, and a search that is long
 * about a candidate lets it go on meanwhile.  What is done when the time is over, or every task at its end, is in
 * race.c.
 */
#include "tuner/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double tuner_now(const Tuner *t)
{
	return t->means->clock.now_ms(t->means->clock.arg);
}

void tuner_say(Tuner *t, TunePhase phase, double rest_ms)
{
	t->progress->phase = phase;
	t->progress->rest_ms = rest_ms;
	t->progress->seconds = (tuner_now(t) - t->start_ms) / 1000;
	if (t->means->on_progress != NULL)
		t->means->on_progress(t->progress, t->means->arg);
	tell_best(t);
}

bool tuner_may(const Tuner *t, int64_t trials)
{
	return t->progress->limit < 0 || t->submitted + trials <= t->progress->limit;
}

/* ---- opening ---- */

static bool wanted(const TuneRequest *ask, const Task *task)
{
	char hex[HASH_HEX];
	hash_hex(task->id, hex);
	for (int i = 0; i < ask->ntasks; i++)
		if (strncmp(hex, ask->tasks[i], strlen(ask->tasks[i])) == 0)
			return true;
	return ask->ntasks == 0;
}

/* A prefix that names nothing is a mistake, also beside others that do. */
static bool all_name_tasks(const TuneRequest *ask, const Partition *p, Err *err)
{
	for (int i = 0; i < ask->ntasks; i++) {
		TuneRequest one = { .tasks = &ask->tasks[i], .ntasks = 1 };
		int k = 0, all = p->ntask + p->nmore;
		while (k < all && !wanted(&one, p->task[k]))
			k++;
		if (k == all)
			return fail(err, ERR_MISSING, "task", "no task of the model has an id that begins with \"%.32s\"",
				ask->tasks[i]);
	}
	return true;
}

static void meanwhile(void *arg);

static bool open_tasks(Tuner *t, const Partition *p, Err *err)
{
	TuneProgress *s = t->progress;
	int all = p->ntask + p->nmore;
	s->task = arena_array(t->arena, TaskProgress, all);
	t->run = arena_array(t->arena, TaskRun, all);
	regions_open(t, p);
	if (!all_name_tasks(t->ask, p, err))
		return false;
	for (int i = 0; i < all; i++) {
		if (!wanted(t->ask, p->task[i]))
			continue;
		TaskRun *r = t->of[i] = &t->run[s->ntask];
		s->task[s->ntask].left = -1;
		s->task[s->ntask].default_weight = i < p->ntask ? p->task[i]->weight : 0;
		if (!task_run_open(r, &s->task[s->ntask++], t->arena, p->task[i], t->ask, t->means, err) ||
			!task_run_seeds(r, err))
			return false;
		r->meanwhile = meanwhile;
		r->meanwhile_arg = t;
		s->reused += r->state->reused;
		tuner_say(t, TUNE_OPEN, 0);
	}
	s->limit = -1;
	if (t->ask->trials >= 0)
		s->limit = t->ask->trials > s->reused ? t->ask->trials - s->reused : 0;
	if (t->ask->more_trials >= 0)
		s->limit = t->ask->more_trials;
	return true;
}

bool tuner_session(Tuner *t, const char *search, Err *err)
{
	SessionInfo s = { .tool = "dlc " DLC_VERSION,
		.search = search,
		.model = t->ask->model,
		.seed = (int64_t)(t->ask->seed & INT64_MAX),
		.started_s = t->ask->started_s,
		.method = measure_method(t->means->measure),
		.mark = t->ask->mark,
		.cold_bytes = t->cold_bytes };
	for (int i = 0; i < t->progress->ntask; i++)
		if (!db_put_task(t->means->db, t->run[i].task, err))
			return false;
	bool ok = db_put_target(t->means->db, t->ask->target, &t->target, err) &&
		db_put_env(t->means->db, CODEGEN_EPOCH, codegen_compiler(t->ask->target), t->ask->target, t->means->device,
			&t->env, err) &&
		db_put_session(t->means->db, &s, &t->session, err);
	if (ok)
		tell_session(t);
	return ok;
}

/* ---- candidates ---- */

static double guessed(const TaskRun *r)
{
	return r->guess_ms * r->task->weight;
}

/* It can be asked while another Task's search estimates: it hardly estimates itself, and its order is not disturbed. */
static bool is_quick(const Tuner *t, const TaskRun *r)
{
	bool begins = r->state->trials + r->state->reused + r->in_flight == 0;
	return r != t->asked && (r->advised || begins || r->seed_head < r->seed.n);
}

/* All defaults before anything else, the largest first; then the largest gain. */
static TaskRun *choose_task(Tuner *t)
{
	TaskRun *best = NULL;
	double gain = -1;
	for (int i = 0; i < t->progress->ntask; i++) {
		TaskRun *r = &t->run[i];
		/* A request that names tasks wants just those, of alternatives or not. */
		double g = r->state->weight > 0 || t->ask->ntasks > 0 ? task_run_gain(r) : regions_gain(t, r);
		if (r->state->end != TASK_OPEN || r->waits || (t->meanwhile && !is_quick(t, r)))
			continue;
		if (g > gain || (g == INFINITY && gain == INFINITY && guessed(r) > guessed(best))) {
			best = r;
			gain = g;
		}
	}
	return best;
}

/* A task that goes on after its default hears of those that are further. */
static void advise(Tuner *t, TaskRun *r)
{
	if (r->advised || r->state->trials + r->state->reused == 0)
		return;
	const TaskRun **others = arena_array(t->arena, const TaskRun *, t->progress->ntask);
	int n = 0;
	for (int i = 0; i < t->progress->ntask; i++)
		if (t->run[i].state->trials > t->ask->effort->picks)
			others[n++] = &t->run[i];
	task_run_advise(r, others, n);
	r->advised = true;
}

bool tuner_reference(Tuner *t, TaskRun *r, Err *err)
{
	if (r->ref == NULL)
		r->ref = measure_reference(t->means->measure, r->task, t->ask->seed, err);
	return r->ref != NULL;
}

static bool submit(Tuner *t, Candidate *x, Err *err)
{
	TaskRun *r = x->run;
	double best_ns = r->state->best_ms * 1e6;
	if (!tuner_reference(t, r, err))
		return false;
	MeasureJob job = { .ks = x->ks,
		.trace = x->trace,
		.ref = r->ref,
		.slow_ns = (int64_t)(best_ns * TUNE_SLOW),
		.good_ns = (int64_t)(best_ns * TUNE_GOOD),
		.keep = strcmp(x->trace, r->default_trace) == 0,
		.user = x };
	if (t->first_build_ms < 0)
		t->first_build_ms = tuner_now(t);
	tell_proposed(t, x);
	if (!measure_submit(t->means->measure, &job, err))
		return false;
	int free_slot = 0;
	while (t->flying[free_slot] != NULL)
		free_slot++;
	t->flying[free_slot] = x;
	r->in_flight++;
	t->submitted++;
	t->progress->now = r->state;
	return true;
}

static bool over(const Tuner *t)
{
	if (tune_stopped(t->means))
		return true;
	return t->ask->budget_ms > 0 && tuner_now(t) - t->start_ms >= t->ask->budget_ms - final_reserve_ms(t);
}

_Static_assert((int)TUNE_IN_FLIGHT < (int)MEASURE_FLIGHT, "a place for each, and one for the Task that is asked");

static int most_under_way(const Tuner *t)
{
	int most = measure_flight(t->means->measure);
	most = most > TUNE_IN_FLIGHT ? most : TUNE_IN_FLIGHT;
	return most < MEASURE_FLIGHT ? most : MEASURE_FLIGHT - 1;
}

/* The next candidate of a task, if it has one, is built and measured. */
static bool propose(Tuner *t, TaskRun *r, Err *err)
{
	r->until_ms = t->ask->budget_ms > 0 ? tuner_deadline(t) - final_reserve_ms(t) : 0;
	Candidate *x = promise_repeat(t);
	if (x == NULL)
		x = task_run_next(r, t->flying, MEASURE_FLIGHT);
	if (x == NULL || submit(t, x, err))
		return true;
	arena_free(x->arena);
	return false;
}

/* ---- results ---- */

MeasureResult tuner_exposed(void)
{
	return (MeasureResult){ .status = RUN_WRONG_RESULT, .max_err_e9 = -1, .clock = "", .stage = "",
		.detail = "outputs differ from the oracle's where it had not looked" };
}

bool tuner_expose(Tuner *t, TaskRun *r, const MeasureResult *m, Err *err)
{
	MeasureResult wrong = tuner_exposed();
	for (int i = 0; i < m->nunproven; i++)
		task_run_doubt(r, m->unproven[i]);
	if (m->refuted == NULL || m->refuted[0] == 0)
		return true;
	task_run_expose(r, m->refuted);
	t->submitted++;
	return tuner_store(t, r, m->refuted, &wrong, err);
}

bool tuner_store(Tuner *t, TaskRun *r, const char *trace, const MeasureResult *m, Err *err)
{
	RunRecord run = { .workload = r->task->id,
		.target = t->target,
		.session = t->session,
		.env = t->env,
		.trace = trace,
		.status = m->status,
		.median_ns = m->median_ns,
		.min_ns = m->min_ns,
		.mad_ns = m->mad_ns,
		.compile_ns = m->compile_ns,
		.samples = m->samples,
		.max_err_e9 = m->max_err_e9,
		.detail = m->detail,
		.seq = t->seq++,
		.probe_mflops = m->probe_mflops,
		.probe_mma_mflops = llround(m->device.rate[PROBE_F16] * 1000),
		.probe_mbps = llround(m->device.rate[PROBE_MEMORY] * 1000),
		.device_mhz = m->device.mhz,
		.celsius = m->device.celsius,
		.slowed = m->device.slowed,
		.clock = m->clock,
		.lost = m->lost,
		.stage = m->stage };
	bool ok = m->status == RUN_OK, stored = db_put_run(t->means->db, &run, err);
	if (stored)
		vec_push(t->arena, &t->runs, run.id);
	r->state->trials++;
	t->progress->trials++;
	r->state->failed += !ok;
	t->progress->failed += !ok;
	if (t->progress->status[m->status]++ == 0)
		snprintf(t->why[m->status], sizeof t->why[m->status], "%s", m->detail);
	if (t->progress->phase < TUNE_NETWORK)
		t->last_done_ms = tuner_now(t);
	double gflops = (double)m->probe_mflops / 1000, *probe = t->result->probe_gflops;
	if (gflops > 0) {
		probe[0] = probe[0] > 0 ? fmin(probe[0], gflops) : gflops;
		probe[1] = fmax(probe[1], gflops);
	}
	t->progress->waited_ms += m->waited_ms;
	if (t->progress->phase == TUNE_SEARCH && m->screen_ns > 0) {
		t->screened++;
		t->screened_ms += (double)m->screen_ns / 1e6;
		t->progress->screen_ms = t->screened_ms / (double)t->screened;
	}
	if (stored && t->means->on_trial != NULL)
		t->means->on_trial(&run, r->task, t->means->arg);
	if (stored)
		tell_measured(t, r, &run);
	return stored;
}

static bool none_could_run(const Tuner *t, Err *err)
{
	return fail(err, ERR_DEVICE, "measure", "%d candidate%s could not be run: %s", t->lost,
		t->lost > 1 ? "s in a row" : "", t->why[RUN_DEVICE_LOST]);
}

static void forget(Tuner *t, Candidate *x)
{
	for (int i = 0; i < MEASURE_FLIGHT; i++)
		if (t->flying[i] == x)
			t->flying[i] = NULL;
}

static bool take(Tuner *t, const MeasureResult *m, Err *err)
{
	Candidate *x = m->user;
	TaskRun *r = x->run;
	r->in_flight--;
	bool none = m->pruned || m->status == RUN_DEVICE_LOST; /* nothing was measured */
	t->submitted -= none;
	r->state->pruned += m->pruned;
	bool stored = none || tuner_store(t, r, x->trace, m, err);
	t->lost = m->status == RUN_DEVICE_LOST ? t->lost + 1 : 0;
	if (m->status == RUN_DEVICE_LOST)
		snprintf(t->why[m->status], sizeof t->why[m->status], "%s", m->detail);
	if (stored && t->lost == TUNE_LOST)
		stored = none_could_run(t, err);
	stored = stored && tuner_expose(t, r, m, err);
	double ns = m->status == RUN_OK ? (double)m->median_ns : -1;
	if (x->repeat && !none && ns < 0)
		task_run_expose(r, x->trace);
	task_run_take(r, x, ns, m->max_err_e9);
	forget(t, x);
	vec_push(t->arena, &t->observed, ((Observed){ x, ns }));
	return stored;
}

/* What was taken since the last call: the cost model may change now. */
static void observe(Tuner *t)
{
	for (size_t i = 0; i < t->observed.n; i++) {
		Candidate *x = t->observed.at[i].x;
		task_run_observe(x->run, x, t->observed.at[i].ns);
		arena_free(x->arena);
	}
	t->observed.n = 0;
}

void tuner_sum_up(Tuner *t)
{
	TuneProgress *s = t->progress;
	s->seconds = (tuner_now(t) - t->start_ms) / 1000;
	double span = s->trials > 0 ? (t->last_done_ms - t->first_build_ms) / 1000 : 0;
	if (s->phase < TUNE_NETWORK) /* which times what was measured before */
		s->candidates_per_s = span > 0 ? (double)s->trials / span : 0;
	s->tasks_ms = s->default_tasks_ms = t->result->alone_ms = 0;
	s->unmeasured = s->default_unmeasured = 0;
	s->reused = s->pruned = t->result->implausible = t->result->refused = 0;
	regions_choose(t);
	promise_update(t);
	for (int i = 0; i < s->ntask; i++) {
		s->unmeasured += s->task[i].best_ms == 0 && s->task[i].weight > 0;
		s->default_unmeasured += s->task[i].default_ms == 0 && s->task[i].default_weight > 0;
		s->tasks_ms += s->task[i].likely_ms * s->task[i].weight;
		s->default_tasks_ms += s->task[i].default_likely_ms * s->task[i].default_weight;
		t->result->alone_ms += s->task[i].alone_ms * s->task[i].weight;
		s->reused += s->task[i].reused;
		s->pruned += s->task[i].pruned;
		t->result->implausible += s->task[i].implausible;
		t->result->refused += s->task[i].refused;
	}
}

/* ---- the loop ---- */

static bool take_and_say(Tuner *t, const MeasureResult *m, Err *err)
{
	bool ok = take(t, m, err);
	tuner_sum_up(t);
	tuner_say(t, TUNE_SEARCH, final_reserve_ms(t));
	return ok;
}

/*
 * A search that estimates takes up to a second; it calls this every few milliseconds. So that builders and runners go
 * on, what is done is taken, and Tasks that are quick to ask give the next candidates. Results of the Task that is
 * asked wait, for its search cannot be told; and so does the cost model, whose estimates must remain comparable.
 */
static void meanwhile(void *arg)
{
	Tuner *t = arg;
	MeasureResult m;
	TaskRun *r;
	measure_turn(t->means->measure);
	if (t->meanwhile || t->asked == NULL || t->broken)
		return;
	t->meanwhile = true;
	while (!t->broken && measure_pending(t->means->measure) > 0 && measure_wait(t->means->measure, 0, &m)) {
		if (((const Candidate *)m.user)->run == t->asked)
			vec_push(t->arena, &t->held, m);
		else
			t->broken = !take_and_say(t, &m, &t->why_broken);
	}
	/* One place and one trial are left for the Task that is asked. */
	while (!t->broken && measure_pending(t->means->measure) + (int)t->held.n < most_under_way(t) &&
		tuner_may(t, 2 + t->reserve) && !over(t) && (r = choose_task(t)) != NULL)
		t->broken = !propose(t, r, &t->why_broken);
	t->meanwhile = false;
}

/* The same, and what waited meanwhile. */
static bool ask_next(Tuner *t, TaskRun *r, Err *err)
{
	t->asked = r;
	bool ok = propose(t, r, err);
	t->asked = NULL;
	for (size_t i = 0; i < t->held.n; i++)
		ok = take(t, &t->held.at[i], ok ? err : NULL) && ok;
	t->held.n = 0;
	observe(t);
	if (ok && t->broken)
		*err = t->why_broken;
	return ok && !t->broken;
}

static bool fill(Tuner *t, int64_t reserve, Err *err)
{
	t->reserve = reserve;
	while (measure_pending(t->means->measure) < most_under_way(t) && tuner_may(t, 1 + reserve) && !over(t)) {
		TaskRun *r = choose_task(t);
		if (r == NULL)
			return true;
		advise(t, r);
		if (!ask_next(t, r, err))
			return false;
	}
	return true;
}

/* `end`: some trials are kept for the end of the run. */
static bool search_all(Tuner *t, bool end, Err *err)
{
	while (!over(t)) {
		if (!fill(t, end ? final_reserve_trials(t) : 0, err))
			return false;
		if (measure_pending(t->means->measure) == 0)
			return true;
		MeasureResult m;
		if (!measure_wait(t->means->measure, TUNE_WAIT_MS, &m)) {
			tuner_say(t, TUNE_SEARCH, final_reserve_ms(t));
			continue;
		}
		bool ok = take_and_say(t, &m, err);
		observe(t);
		if (!ok)
			return false;
	}
	return true;
}

/* What is under way lands, if that does not take long. */
static bool land(Tuner *t, Err *err)
{
	double end = tuner_now(t) + TUNE_LAND_MS;
	bool ok = true;
	MeasureResult m;
	while (ok && measure_pending(t->means->measure) > 0 && !tune_stopped(t->means) && tuner_now(t) < end)
		if (measure_wait(t->means->measure, TUNE_WAIT_MS, &m))
			ok = take(t, &m, err);
	observe(t);
	measure_cancel(t->means->measure);
	for (int i = 0; i < MEASURE_FLIGHT; i++) {
		if (t->flying[i] != NULL)
			arena_free(t->flying[i]->arena);
		t->flying[i] = NULL;
	}
	return ok;
}

/*
 * False: every candidate failed, or none could be run; err has the most common reason and the way out. Some failures
 * beside measured times are normal.
 */
static bool some_ran(const Tuner *t, Err *err)
{
	const TuneProgress *s = &t->result->end;
	int most = 0;
	bool known = false;
	for (int i = 0; i < s->ntask; i++)
		known |= s->task[i].best_ms > 0;
	if (s->trials == 0 && t->lost > 0)
		return none_could_run(t, err);
	if (s->trials == 0 || s->failed < s->trials || (known && s->trials < TUNE_NOTHING_RAN))
		return true;
	for (int k = 0; k < RUN_STATUS_COUNT; k++)
		most = s->status[k] > s->status[most] ? k : most;
	return fail(err, ERR_DEVICE, "tuning", "none of %lld candidates could be measured, and %lld failed as %s (%s): %s",
		(long long)s->trials, (long long)s->status[most], run_status_text((RunStatus)most), t->why[most],
		run_status_way((RunStatus)most));
}

bool tuner_open(Tuner *t, Arena *a, const Partition *p, const TuneRequest *ask, const TuneMeans *with, TuneResult *out,
	Err *err)
{
	*out = (TuneResult){ .left = -1 };
	*t = (Tuner){ .arena = a, .ask = ask, .means = with, .result = out, .progress = &out->end, .first_build_ms = -1 };
	t->start_ms = tuner_now(t);
	if (!open_tasks(t, p, err))
		return false;
	regions_choose(t);
	return true;
}

bool tune_plan(Arena *a, const Partition *p, const TuneRequest *ask, const TuneMeans *with, TuneResult *out, Err *err)
{
	Tuner t;
	bool ok = tuner_open(&t, a, p, ask, with, out, err);
	tuner_sum_up(&t);
	promise_left(&t);
	return ok;
}

bool tune_model(Arena *a, const Partition *p, const TuneRequest *ask, const TuneMeans *with, TuneResult *out, Err *err)
{
	Tuner t;
	if (!tuner_open(&t, a, p, ask, with, out, err))
		return false;
	final_open(&t);
	if (!tuner_session(&t, ask->search->name, err))
		return false;
	bool ok = search_all(&t, true, err);
	ok = land(&t, ok ? err : NULL) && ok;
	tuner_sum_up(&t);
	ok = ok && final_run(&t, err);
	tell_network(&t);
	if (ok && out->end.limit >= 0 && !tune_stopped(t.means)) { /* what the end has left of the trials */
		ok = search_all(&t, false, err);
		ok = land(&t, ok ? err : NULL) && ok;
	}
	out->interrupted = tune_stopped(t.means);
	if (!ok && out->interrupted && err->code == ERR_INTERRUPTED) { /* while waiting for a reference */
		*err = (Err){ 0 };
		ok = true;
	}
	tuner_sum_up(&t);
	out->end.phase = TUNE_DONE;
	out->end.rest_ms = 0;
	promise_left(&t);
	tell_end(&t);
	ok = ok && (out->interrupted || some_ran(&t, err));
	return db_put_closing(with->db, t.session, t.runs.at, t.runs.n, ok ? err : NULL) && ok;
}
