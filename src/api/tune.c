/*
 * Tuning: a request becomes what the tuner takes, its progress what programs see. See dlc/dlc_tune.h. Candidates are
 * built and run in children, which live as long as the call.
 */
#include "api/session.h"

#include "api/headroom.h"
#include "api/learned_model.h"
#include "codegen/codegen.h"
#include "compile/compile.h"
#include "report/page.h"
#include "runtime/device.h"
#include "runtime/timing.h"
#include "target/machine_device.h"
#include "tuner/tuner.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert((int)DLC_DONE == (int)TUNE_DONE && (int)DLC_PHASES == (int)TUNE_PHASES, "phases");
_Static_assert((int)DLC_AT_ROOF == (int)TASK_AT_ROOF, "ends");
_Static_assert((int)RUN_STATUS_COUNT <= (int)DLC_STATUSES, "statuses");

const char *dlc_trial_status(int index)
{
	return index >= 0 && index < RUN_STATUS_COUNT ? run_status_text((RunStatus)index) : NULL;
}

const char *dlc_search_name(int index)
{
	for (int i = 0; i <= index; i++)
		if (searches[i] == NULL)
			return NULL;
	return index >= 0 ? searches[index]->name : NULL;
}

typedef struct Tuning {
	DlcSession *session;
	DlcNetwork *network;
	const DlcTuneRequest *r;
	Arena *arena; /* of the view */
	Target target;
	Cost cost;
	Partition *part;
	TuneRequest ask;
	DeviceFacts facts; /* of the target's device */
	EnvDevice device;
	TuneMeans with;
	Page page; /* the events so far, where a report is wanted */
	DlcTuneProgress progress; /* as it was told last */
	bool told;
	bool ran; /* a run was recorded, in the session whose record has this id: */
	Hash ran_in;
} Tuning;

/* ---- what programs see ---- */

static void show_progress(Tuning *x, const TuneProgress *p)
{
	DlcTaskProgress *task = (DlcTaskProgress *)(uintptr_t)x->progress.task;
	if (task == NULL)
		task = arena_array(x->arena, DlcTaskProgress, x->part->ntask + x->part->nmore + 1);
	for (int i = 0; i < p->ntask; i++) {
		const TaskProgress *t = &p->task[i];
		task[i] = (DlcTaskProgress){ .task = session_task(t->task, t->weight, t->weight == 0),
			.trials = t->trials,
			.reused = t->reused,
			.best_ms = t->likely_ms,
			.default_ms = t->default_likely_ms,
			.roof_ms = t->roof_ms,
			.space = t->space,
			.seeds = t->seeds,
			.end = (DlcEnd)t->end,
			.left = t->left,
			.now = p->now == t };
		snprintf(task[i].algorithm, sizeof task[i].algorithm, "%s", t->algorithm);
	}
	x->progress = (DlcTuneProgress){ .ntask = p->ntask,
		.task = task,
		.trials = p->trials,
		.reused = p->reused,
		.failed = p->failed,
		.pruned = p->pruned,
		.limit = p->limit,
		.seconds = p->seconds,
		.candidates_per_s = p->candidates_per_s,
		.screen_ms = p->screen_ms,
		.tasks_ms = p->unmeasured == 0 ? p->tasks_ms : 0,
		.default_tasks_ms = p->default_unmeasured == 0 ? p->default_tasks_ms : 0,
		.phase = (DlcPhase)p->phase,
		.rest_ms = p->rest_ms,
		.waited_ms = p->waited_ms };
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		x->progress.status[i] = p->status[i];
}

static void show_result(Tuning *x, const TuneResult *r, DlcTuneResult *out)
{
	show_progress(x, &r->end);
	*out = (DlcTuneResult){ .end = x->progress,
		.model = x->network->name,
		.network_ms = r->network_ms,
		.default_network_ms = r->default_network_ms,
		.gain_least = r->gain[0],
		.gain_most = r->gain[1],
		.left = r->left,
		.alone_ms = r->alone_ms,
		.probe_gflops_least = r->probe_gflops[0],
		.probe_gflops_most = r->probe_gflops[1],
		.implausible = r->implausible,
		.refused = r->refused,
		.interrupted = x->session->stop != 0 };
	target_text(&x->target, out->target);
	snprintf(out->network_why, sizeof out->network_why, "%.*s", (int)strcspn(r->network_why, "\n"), r->network_why);
}

/* ---- callbacks of the tuner ---- */

static void tell(Tuning *x)
{
	if (x->r->on_progress != NULL && x->r->on_progress(&x->progress, x->r->arg) != 0)
		session_stop_call(x->session);
}

static void on_progress(const TuneProgress *p, void *arg)
{
	Tuning *x = arg;
	show_progress(x, p);
	x->told = true;
	tell(x);
}

static void on_trial(const RunRecord *run, const Task *task, void *arg)
{
	Tuning *x = arg;
	char hex[HASH_HEX];
	(void)task;
	x->ran = true;
	x->ran_in = run->session;
	hash_hex(run->id, hex);
	if (x->r->on_trial != NULL && x->r->on_trial(hex, x->r->arg) != 0)
		session_stop_call(x->session);
}

static void on_event(const Event *e, void *arg)
{
	Tuning *x = arg;
	if (x->r->on_report != NULL)
		page_add(&x->page, e);
	if (x->r->on_event == NULL)
		return;
	Arena *a = arena_new();
	Text line = { .arena = a };
	event_line(&line, e);
	if (x->r->on_event(text_str(&line), line.n, x->r->arg) != 0)
		session_stop_call(x->session);
	arena_free(a);
}

/* A run that failed before it measured has nothing to report. */
static void report(Tuning *x)
{
	Text page = { .arena = x->arena };
	if (x->r->on_report == NULL || x->page.rows.n == 0)
		return;
	page_write(&page, &x->page, PAGE_OF_RUN);
	x->r->on_report(text_str(&page), page.n, x->r->arg);
}

/* A long wait does not stop the screen. */
static void tick(void *arg)
{
	Tuning *x = arg;
	if (x->told)
		tell(x);
}

static double now_ms(void *arg)
{
	(void)arg;
	return (double)timing_wall_ns() / 1e6;
}

/* ---- the request ---- */

static bool find_rows(const DlcTuneRequest *r, TuneRequest *ask, Arena *a, Err *err)
{
	Text there = { .arena = a };
	for (const Search *const *s = searches; *s != NULL; s++)
		text_add(&there, "%s%s", s > searches ? ", " : "", (*s)->name);
	ask->search = r->search != NULL ? search_find(r->search) : searches[0];
	ask->effort = r->preset != NULL ? effort_find(r->preset) : &efforts[EFFORT_normal];
	if (ask->search == NULL)
		return fail(
			err, ERR_USAGE, "search", "there is no search \"%.40s\"; there are: %s", r->search, text_str(&there));
	if (ask->effort == NULL)
		return fail(err, ERR_USAGE, "preset", "there is no preset \"%.40s\"", r->preset);
	return r->schedule == NULL || !r->dry_run || fail(err, ERR_USAGE, "schedule", "a dry run measures none");
}

/* The requested target, on the first of several devices. */
static DlcTarget first_target(const DlcTuneRequest *r)
{
	DlcTarget t = r->target;
	if (r->ndevice > 0)
		t.device = r->device[0];
	return t;
}

/* "cuda:h200 (NVIDIA H200, 132 units)" */
static const char *name_device(Arena *a, const Target *t, int id)
{
	char text[TARGET_TEXT];
	DeviceFacts facts = { 0 };
	DlcError none = { 0 };
	const Device *row = device_find(codegen_device(t));
	target_text(t, text);
	bool known = row != NULL && row->describe != NULL && row->describe(id, &facts, &none) == DLC_OK;
	text[strcspn(text, " ")] = 0;
	return arena_printf(a, "%s (%s%s%d units)", text, known ? facts.name : "", known ? ", " : "", t->cores);
}

/*
 * Several devices must be of one model, so that a candidate takes about the same time on each. Devices on this
 * machine's processors would disturb each other.
 */
static bool check_devices(const DlcSession *s, const DlcTuneRequest *r, const Target *t, Arena *a, Err *err)
{
	Target one, first;
	if (r->ndevice < 2)
		return true;
	if (!target_has_blocks(t))
		return fail(err, ERR_USAGE, "device", "only a target such as cuda has several devices: name none");
	if (t->blocks.warp == 1)
		return fail(err, ERR_USAGE, "device",
			"devices of this kind use the processors of this machine and would disturb each other: name one");
	for (int i = 0; i < r->ndevice; i++) {
		for (int k = 0; k < i; k++)
			if (r->device[k] == r->device[i])
				return fail(err, ERR_USAGE, "device", "device %d is named twice", r->device[i]);
		if (!target_device(&one, t->kind, r->device[i], s->folders.targets, s->folders.ntargets, err))
			return false;
		if (i == 0)
			first = one;
		Hash id = target_id(&one), other = target_id(&first);
		if (memcmp(&id, &other, sizeof id) != 0 || one.cores != first.cores)
			return fail(err, ERR_USAGE, "device",
				"device %d is %s and device %d is %s: records are of one model, so name devices of one model with "
				"equal numbers of units",
				r->device[0], name_device(a, &first, r->device[0]), r->device[i], name_device(a, &one, r->device[i]));
	}
	return true;
}

/* A dry run needs neither the machine nor its programs. */
static bool find_target(const DlcSession *s, const DlcTuneRequest *r, Target *t, Arena *a, Err *err)
{
	DlcTarget name = first_target(r);
	if (r->dry_run)
		return session_target(s, &name, false, t, err);
	return session_measured_target(s, &name, t, err) && check_devices(s, r, t, a, err) &&
		session_has_programs(s, t, err);
}

static bool check(const DlcSession *s, const DlcTuneRequest *r, Err *err)
{
	TuneRequest ask;
	Target t;
	Arena *a = arena_new();
	bool ok = find_rows(r, &ask, a, err) && cost_model_find(r->cost_model, err) != NULL &&
		find_target(s, r, &t, a, err);
	arena_free(a);
	return ok;
}

DlcFault dlc_tune_check(DlcSession *s, const DlcTuneRequest *request, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(s), API_REQUEST(request, api_tune_request));
	API_CALL(s, why, check(s, request, err));
}

static void fill(Tuning *x, Db *const *db)
{
	const DlcTuneRequest *r = x->r;
	bool dry = r->dry_run != 0;
	unsigned char b[6]; /* the run's mark: 48 random bits; none where the system has none to give */
	int64_t mark = 0;
	if (getentropy(b, sizeof b) == 0)
		for (size_t k = 0; k < sizeof b; k++)
			mark = mark << 8 | b[k];
	x->with = (TuneMeans){ .db = dry ? NULL : db[0],
		.more = db + !dry,
		.nmore = r->ndatabase - !dry,
		.clock = { now_ms, NULL },
		.cost = &x->cost,
		.compiling = r->cost_model != NULL ? &x->cost : NULL,
		.cache = dry ? NULL : session_cache(x->session, x->arena),
		.stop = &x->session->stop,
		.on_trial = on_trial,
		.on_progress = dry ? NULL : on_progress,
		.on_event = r->on_event != NULL || r->on_report != NULL ? on_event : NULL,
		.arg = x };
	x->ask.target = &x->target;
	x->ask.finalists = TUNE_FINALISTS;
	x->ask.command = r->command;
	x->ask.model = x->network->name;
	x->ask.started_s = (int64_t)time(NULL);
	x->ask.mark = mark;
	x->ask.tasks = r->task;
	x->ask.ntasks = r->ntask;
	x->ask.trials = r->limit == DLC_TRIALS_ALL ? r->trials : -1;
	x->ask.more_trials = r->limit == DLC_TRIALS_MORE ? r->trials : -1;
	x->ask.budget_ms = r->budget_s * 1000;
	x->ask.seed = r->seed;
}

/* ---- one schedule by hand ---- */

/* The task that the request or the schedule names, the only one of its prefix. */
static const Task *named_task(const Tuning *x, const char *prefix, const char *place, Err *err)
{
	const Task *found = NULL;
	if (prefix == NULL) {
		fail(err, ERR_SYNTAX, "task", "none is named: name one, or begin %s with \"task ID\"", place);
		return NULL;
	}
	for (int k = 0; k < x->part->ntask + x->part->nmore; k++) {
		char hex[HASH_HEX];
		hash_hex(x->part->task[k]->id, hex);
		if (strncmp(hex, prefix, strlen(prefix)) != 0)
			continue;
		if (found != NULL) {
			fail(err, ERR_USAGE, place, "the ids of several tasks begin with \"%s\"", prefix);
			return NULL;
		}
		found = x->part->task[k];
	}
	if (found == NULL)
		fail(err, ERR_MISSING, place, "no task of the model has an id that begins with \"%.32s\"", prefix);
	return found;
}

static bool try_schedule(Tuning *x, TuneResult *result, Err *err)
{
	const char *name = x->r->schedule_name != NULL ? x->r->schedule_name : "schedule";
	Trace *trace = trace_parse(x->arena, name, x->r->schedule, strlen(x->r->schedule), err);
	const Task *task =
		trace != NULL ? named_task(x, x->ask.ntasks > 0 ? x->ask.tasks[0] : trace->task, name, err) : NULL;
	if (task == NULL)
		return false;
	trace->task = NULL;
	x->ask.ntasks = 0;
	return tune_try(x->arena, task, trace, &x->ask, &x->with, result, err);
}

/* ---- together ---- */

static bool measure_all(Tuning *x, TuneResult *result, Err *err)
{
	DlcTarget name = first_target(x->r);
	ChildOptions o = { .name = &name,
		.target = &x->target,
		.device = x->r->device,
		.ndevice = x->r->ndevice,
		.jobs = x->r->jobs,
		.run_ms = METHOD_RUN_MS,
		.tick = tick,
		.tick_arg = x };
	if (!session_open_children(x->session, &o, err))
		return false;
	x->with.measure = x->session->call->measure;
	x->with.roof = machine_roof(&x->target);
	bool ok = x->r->schedule != NULL ? try_schedule(x, result, err)
					 : tune_model(x->arena, x->part, &x->ask, &x->with, result, err);
	session_close_children(x->session);
	return ok;
}

/* What the records' environment says of the device; nothing where the target is a CPU's. */
static bool describe_device(Tuning *x, Err *err)
{
	DlcError why = { 0 };
	const Device *row = device_find(codegen_device(&x->target));
	if (!target_has_blocks(&x->target) || row == NULL || row->describe == NULL)
		return true;
	if (row->describe(first_target(x->r).device, &x->facts, &why) != DLC_OK)
		return fail(err, ERR_DEVICE, target_kind_name(x->target.kind), "%s", why.text);
	x->device = (EnvDevice){ x->facts.name, x->facts.driver };
	x->with.device = &x->device;
	return true;
}

static bool tune(Tuning *x, DlcTuneResult *out, Err *err)
{
	TuneResult result = { 0 };
	Db *const *db = session_databases(x->r->database, x->r->ndatabase, x->arena);
	if (!compile_core(&x->target, (DbSet){ db, x->r->ndatabase }, !x->r->dry_run, err))
		return false;
	x->ask.dag = dag_copy(x->arena, x->network->dag);
	x->part = compile_tasks(x->arena, x->ask.dag, &x->target, err);
	if (x->part == NULL)
		return false;
	const char *ranks = x->r->cost_model;
	if (ranks == NULL && session_has_model(x->session, x->r->database, x->r->ndatabase, &x->target, x->arena))
		ranks = cost_xgboost.name;
	if (!session_cost(x->session, ranks, x->r->database, x->r->ndatabase, &x->target, &x->cost, x->arena, err))
		return false;
	fill(x, db);
	x->with.untuned = session_untuned(x->session, ranks, x->r->database, x->r->ndatabase, &x->target, x->arena);
	if (!x->r->dry_run && !describe_device(x, err)) {
		cost_close(&x->cost);
		return false;
	}
	bool ok = x->r->dry_run ? tune_plan(x->arena, x->part, &x->ask, &x->with, &result, err)
				: measure_all(x, &result, err);
	session_untuned_end(x->session, x->with.untuned);
	cost_close(&x->cost);
	report(x);
	if (x->ran && x->session->stop == 0)
		session_keep_rows(x->session, x->with.db, x->target.kind, x->ran_in);
	if (ok || result.end.ntask > 0)
		show_result(x, &result, out);
	return ok;
}

static bool open_and_tune(DlcNetwork *n, const DlcTuneRequest *r, DlcTuneResult *out, Err *err)
{
	Arena *a = session_view(n->session, &n->view, "n", err);
	if (a == NULL)
		return false;
	Tuning *x = arena_new_of(a, Tuning);
	*x = (Tuning){ .session = n->session, .network = n, .r = r, .arena = a, .page.rows.arena = a };
	if (!r->dry_run && r->ndatabase == 0)
		return fail(err, ERR_USAGE, "database", "tuning needs a database to write to");
	return find_rows(r, &x->ask, a, err) && find_target(n->session, r, &x->target, a, err) &&
		session_takes_precision(n, &x->target, err) && tune(x, out, err);
}

DlcFault dlc_tune(DlcNetwork *n, const DlcTuneRequest *request, DlcTuneResult *out, DlcFailure *why)
{
	DlcTuneResult unseen;
	out = out != NULL ? out : &unseen;
	*out = (DlcTuneResult){ 0 };
	API_CHECK(why, API_GIVEN(n), API_REQUEST(request, api_tune_request));
	API_CALL(n->session, why, open_and_tune(n, request, out, err));
}
