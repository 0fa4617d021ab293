/*
 * Tasks and a budget become records, on one page: choose a task, ask its search for a config, make
 * the candidate, hand it to measure; take what is done, store it, tell the search.  The tuner waits
 * only in measure_wait.
 *
 * A task is chosen by how much of the network's time it holds per trial it has had: first every
 * task's default, then weight * best time / (trials + 1); while nothing of a task has run, the cost
 * model's estimate stands for its time.
 */
#include "tuner/tuner.h"

#include "cost_model/cost_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { IN_FLIGHT = 3, ASK_TRIES = 1000, WAIT_MS = 200, SLOW = 2 /* times the best: sampled once */ };

typedef struct TaskRun {
	TaskState *state;
	const Task *task;
	Space *space;
	const Search *search;
	void *search_state;
	MeasureRef *ref;
	Interner *known; /* traces measured before, here or in the database */
	const char *default_trace;
	double guess_ms; /* estimate of the default */
	int in_flight;
} TaskRun;

typedef struct Candidate {
	Arena *arena;
	TaskRun *run;
	Config config;
	const char *trace;
} Candidate;

typedef struct Tuner {
	Arena *arena;
	const TuneOptions *o;
	TuneState *state;
	TaskRun *run;
	Hash target, env, session;
	int64_t limit; /* trials of this run; -1: none */
	int64_t submitted, seq;
	Candidate *flying[IN_FLIGHT]; /* handed to measure, not yet back */
	double start_ms, first_build_ms, last_done_ms; /* first_build_ms < 0: nothing was built yet */
} Tuner;

static double now(const Tuner *t)
{
	return t->o->clock.now_ms(t->o->clock.arg);
}

/* ---- what is known already ---- */

static void note_time(TaskRun *r, const char *trace, double ms)
{
	if (r->state->best_ms == 0 || ms < r->state->best_ms)
		r->state->best_ms = ms;
	if (strcmp(trace, r->default_trace) == 0)
		r->state->default_ms = ms;
}

typedef struct Reuse {
	Tuner *t;
	TaskRun *r;
} Reuse;

static bool reuse_run(const RunRecord *run, void *arg)
{
	Reuse *u = arg;
	if (run->status == RUN_CANCELLED || run->status == RUN_DEVICE_LOST)
		return true; /* says nothing of the candidate */
	if (run->status == RUN_OK && run->max_err_e9 >= 0)
		note_time(u->r, run->trace, (double)run->median_ns / 1e6);
	if (intern_find(u->r->known, run->trace) != NULL)
		return true;
	intern(u->r->known, run->trace);
	u->r->state->reused++;
	u->t->state->reused++;
	return true;
}

static bool read_known(Tuner *t, TaskRun *r, Err *err)
{
	Reuse u = { t, r };
	if (!db_each_run(t->o->db, r->task->id, t->target, CODEGEN_EPOCH, reuse_run, &u, err))
		return false;
	for (int i = 0; i < t->o->nmore; i++)
		if (!db_each_run(t->o->more[i], r->task->id, t->target, CODEGEN_EPOCH, reuse_run, &u, err))
			return false;
	return true;
}

/* ---- opening ---- */

static bool wanted(const Tuner *t, const Task *task)
{
	char hex[HASH_HEX];
	hash_hex(task->id, hex);
	for (int i = 0; i < t->o->ntasks; i++)
		if (strncmp(hex, t->o->tasks[i], strlen(t->o->tasks[i])) == 0)
			return true;
	return t->o->ntasks == 0;
}

/* The default's trace and its estimate; a default that does not replay has none. */
static bool open_default(Tuner *t, TaskRun *r, Err *err)
{
	Trace *first = space_trace(r->space, r->space->first, t->arena, err);
	if (first == NULL)
		return false;
	Text text = { .arena = t->arena };
	trace_print(&text, first);
	r->default_trace = text_str(&text);
	Arena *scratch = arena_new();
	KernelSet *ks = schedule_replay(ir_new(scratch), r->task, t->o->target, first, NULL);
	if (ks != NULL)
		r->guess_ms = cost_analytic.estimate(ks, r->task, t->o->target) / 1e6;
	arena_free(scratch);
	return true;
}

static bool open_task(Tuner *t, TaskRun *r, const Task *task, const Search *search, Err *err)
{
	char hex[HASH_HEX], name[HASH_HEX + 24];
	r->task = task;
	r->state->task = task;
	r->search = search;
	r->known = interner_new(t->arena);
	r->space = space_new(t->arena, task, t->o->target, err);
	if (r->space == NULL || !open_default(t, r, err) || !db_put_task(t->o->db, task, err) || !read_known(t, r, err))
		return false;
	/* A run that goes on draws otherwise than the one before it, which would only find what is known. */
	Rng seed = rng_seed(t->o->seed);
	hash_hex(task->id, hex);
	snprintf(name, sizeof name, "%s/%lld", hex, (long long)r->state->reused);
	r->search_state = search->open(t->arena, r->space, rng_fork(&seed, name));
	return true;
}

static bool open_tasks(Tuner *t, const Partition *p, Err *err)
{
	const Search *search = NULL;
	for (int i = 0; searches[i] != NULL; i++)
		if (strcmp(searches[i]->name, t->o->search) == 0)
			search = searches[i];
	if (search == NULL)
		return fail(err, ERR_USAGE, "--search", "there is no search \"%s\"", t->o->search);
	t->state->task = arena_array(t->arena, TaskState, p->ntask);
	t->run = arena_array(t->arena, TaskRun, p->ntask);
	for (int i = 0; i < p->ntask; i++) {
		if (!wanted(t, p->task[i]))
			continue;
		TaskRun *r = &t->run[t->state->ntask];
		r->state = &t->state->task[t->state->ntask++];
		if (!open_task(t, r, p->task[i], search, err))
			return false;
	}
	if (t->state->ntask == 0)
		return fail(err, ERR_MISSING, "--tasks", "no task of the model has such an id");
	return true;
}

static bool open_session(Tuner *t, Err *err)
{
	SessionInfo s = { .tool = "dlc " DLC_VERSION,
		.search = t->o->search,
		.model = t->o->model,
		.seed = (int64_t)(t->o->seed & INT64_MAX),
		.started_s = t->o->started_s };
	return db_put_target(t->o->db, t->o->target, &t->target, err) &&
		db_put_env(t->o->db, CODEGEN_EPOCH, codegen_compiler(), &t->env, err) &&
		db_put_session(t->o->db, &s, &t->session, err);
}

/* ---- candidates ---- */

static double priority(const TaskRun *r)
{
	const TaskState *s = r->state;
	int64_t had = s->trials + s->reused + r->in_flight;
	return had == 0 ? INFINITY : r->task->weight * (s->best_ms > 0 ? s->best_ms : r->guess_ms) / (double)(had + 1);
}

static TaskRun *choose_task(Tuner *t)
{
	TaskRun *best = NULL;
	for (int i = 0; i < t->state->ntask; i++) {
		TaskRun *r = &t->run[i];
		if (!r->state->done && (best == NULL || priority(r) > priority(best)))
			best = r;
	}
	return best;
}

/* A candidate not measured yet; NULL and done set: the space has no more that are easily found. */
static Candidate *next_candidate(TaskRun *r)
{
	for (int i = 0; i < ASK_TRIES; i++) {
		Config c;
		if (r->search->ask(r->search_state, &c, 1) == 0)
			break;
		Arena *a = arena_new();
		Text text = { .arena = a };
		Trace *trace = space_trace(r->space, c, a, NULL);
		if (trace != NULL)
			trace_print(&text, trace);
		if (trace != NULL && intern_find(r->known, text_str(&text)) == NULL) {
			Candidate *x = arena_new_of(a, Candidate);
			*x = (Candidate){ a, r, c, intern(r->known, text_str(&text)) };
			return x;
		}
		arena_free(a);
	}
	r->state->done = true;
	return NULL;
}

/* NULL: the schedule is refused before anything runs. */
static KernelSet *replay(Tuner *t, Candidate *x)
{
	Trace *trace = trace_parse(x->arena, "trace", x->trace, strlen(x->trace), NULL);
	KernelSet *ks = trace != NULL ? schedule_replay(ir_new(x->arena), x->run->task, t->o->target, trace, NULL) : NULL;
	if (ks == NULL) {
		t->state->pruned++;
		x->run->search->tell(x->run->search_state, x->config, -1);
	}
	return ks;
}

static bool submit(Tuner *t, Candidate *x, const KernelSet *ks, Err *err)
{
	TaskRun *r = x->run;
	if (r->ref == NULL)
		r->ref = measure_reference(t->o->measure, r->task, t->o->seed, err);
	if (r->ref == NULL)
		return false;
	MeasureJob job = { .ks = ks, .trace = x->trace, .ref = r->ref, .user = x };
	if (r->state->best_ms > 0)
		job.slow_ns = (int64_t)(r->state->best_ms * 1e6 * SLOW);
	if (t->first_build_ms < 0)
		t->first_build_ms = now(t);
	if (!measure_submit(t->o->measure, &job, err))
		return false;
	int free_slot = 0;
	while (t->flying[free_slot] != NULL)
		free_slot++;
	t->flying[free_slot] = x;
	r->in_flight++;
	t->submitted++;
	return true;
}

static bool over(const Tuner *t)
{
	if (t->o->stop != NULL && *t->o->stop != 0)
		return true;
	return t->o->budget_ms > 0 && now(t) - t->start_ms >= t->o->budget_ms;
}

static bool fill(Tuner *t, Err *err)
{
	while (!over(t) && measure_pending(t->o->measure) < IN_FLIGHT && (t->limit < 0 || t->submitted < t->limit)) {
		TaskRun *r = choose_task(t);
		if (r == NULL)
			return true;
		Candidate *x = next_candidate(r);
		if (x == NULL)
			continue;
		KernelSet *ks = replay(t, x);
		bool ok = ks == NULL || submit(t, x, ks, err);
		if (ks == NULL || !ok)
			arena_free(x->arena);
		if (!ok)
			return false;
	}
	return true;
}

/* ---- results ---- */

static bool take(Tuner *t, const MeasureResult *m, Err *err)
{
	Candidate *x = m->user;
	TaskRun *r = x->run;
	RunRecord run = { .workload = r->task->id,
		.target = t->target,
		.session = t->session,
		.env = t->env,
		.trace = x->trace,
		.status = m->status,
		.median_ns = m->median_ns,
		.min_ns = m->min_ns,
		.mad_ns = m->mad_ns,
		.compile_ns = m->compile_ns,
		.samples = m->samples,
		.max_err_e9 = m->max_err_e9,
		.detail = m->detail,
		.seq = t->seq++ };
	bool ok = m->status == RUN_OK;
	bool stored = db_put_run(t->o->db, &run, err);
	r->in_flight--;
	r->state->trials++;
	t->state->trials++;
	r->state->failed += !ok;
	t->state->failed += !ok;
	t->last_done_ms = now(t);
	if (ok)
		note_time(r, x->trace, (double)m->median_ns / 1e6);
	r->search->tell(r->search_state, x->config, ok ? (double)m->median_ns : -1);
	if (stored && t->o->on_trial != NULL)
		t->o->on_trial(&run, r->task, t->o->arg);
	for (int i = 0; i < IN_FLIGHT; i++)
		if (t->flying[i] == x)
			t->flying[i] = NULL;
	arena_free(x->arena);
	return stored;
}

static void sum_up(Tuner *t)
{
	TuneState *s = t->state;
	s->seconds = (now(t) - t->start_ms) / 1000;
	double span = s->trials > 0 ? (t->last_done_ms - t->first_build_ms) / 1000 : 0;
	s->candidates_per_s = span > 0 ? (double)s->trials / span : 0;
	s->tasks_ms = s->default_tasks_ms = 0;
	s->unmeasured = s->default_unmeasured = 0;
	for (int i = 0; i < s->ntask; i++) {
		s->unmeasured += s->task[i].best_ms == 0;
		s->default_unmeasured += s->task[i].default_ms == 0;
		s->tasks_ms += s->task[i].best_ms * s->task[i].task->weight;
		s->default_tasks_ms += s->task[i].default_ms * s->task[i].task->weight;
	}
}

static bool search_all(Tuner *t, Err *err)
{
	while (!over(t)) {
		if (!fill(t, err))
			return false;
		if (measure_pending(t->o->measure) == 0)
			return true;
		MeasureResult m;
		if (measure_wait(t->o->measure, WAIT_MS, &m) && !take(t, &m, err))
			return false;
		sum_up(t);
		if (t->o->on_progress != NULL)
			t->o->on_progress(t->state, t->o->arg);
	}
	return true;
}

bool tune_model(Arena *a, const Partition *p, const TuneOptions *o, TuneState *out, Err *err)
{
	*out = (TuneState){ 0 };
	Tuner t = { .arena = a, .o = o, .state = out, .limit = -1 };
	t.start_ms = now(&t);
	t.first_build_ms = -1;
	if (!open_session(&t, err) || !open_tasks(&t, p, err))
		return false;
	if (o->trials >= 0)
		t.limit = o->trials > out->reused ? o->trials - out->reused : 0;
	if (o->more_trials >= 0)
		t.limit = o->more_trials;
	bool ok = search_all(&t, err);
	out->interrupted = o->stop != NULL && *o->stop != 0;
	if (!ok && out->interrupted && err->code == ERR_INTERRUPTED) { /* while waiting for a reference */
		*err = (Err){ 0 };
		ok = true;
	}
	measure_cancel(o->measure);
	for (int i = 0; i < IN_FLIGHT; i++)
		if (t.flying[i] != NULL)
			arena_free(t.flying[i]->arena);
	sum_up(&t);
	return ok;
}
