/*
 * dlc tune: searches schedules for the tasks of a model, measures them on this machine, and keeps
 * what it found in the first database. Ctrl-C keeps all; the same command goes on from there.
 */
#include "cli/model.h"
#include "cli/folders.h"
#include "cli/roof.h"
#include "cli/tune_screen.h"
#include "runtime/cpu.h"
#include "tuner/tuning.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUDGET_MS = 600000 /* without --trials and --budget */ };

static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
	(void)sig;
	if (stopped++ != 0)
		_exit(130); /* asked twice: what is stored is stored */
}

static Measure *open_measure(const Args *args, const Target *t, Screen *screen, Err *err)
{
	Arena *a = args_arena(args);
	const char *programs = place_programs(a);
	char **builder = arena_array(a, char *, 8), **runner = arena_array(a, char *, 3);
	builder[0] = arena_printf(a, "%s/dlc", programs);
	builder[1] = arena_printf(a, "builder");
	builder[2] = arena_printf(a, "--target=%s", args_text(args, "target", "host"));
	builder[3] = arena_printf(a, "--threads=%d", t->threads);
	runner[0] = arena_printf(a, "%s/dlc-worker", programs);
	runner[1] = arena_printf(a, "--stdio");
	MeasureOptions o = { .builder = builder,
		.runner = runner,
		.builders = (int)args_int(args, "jobs", cpu_count() > t->threads ? 2 : 1),
		.threads = t->threads,
		.build_ms = 20000,
		.run_ms = 10000,
		.tolerance = 1e-4,
		.stop = &stopped,
		.tick = screen_tick,
		.tick_arg = screen };
	return measure_open(&o, err);
}

typedef struct Tuning {
	const Args *args;
	const Target *target;
	const Cost *cost;
	Databases *d;
	Partition *part;
	TuneRequest ask;
	TuneMeans with;
	Screen screen;
	bool dry;
} Tuning;

/* ---- --try ---- */

/* The task that the option or the file names, the only one of its prefix. */
static const Task *named_task(const Tuning *x, const char *prefix, const char *path, Err *err)
{
	const Task *found = NULL;
	if (prefix == NULL) {
		fail(err, ERR_SYNTAX, path, "names no task: begin it with \"task ID\", or say --tasks=ID");
		return NULL;
	}
	for (int k = 0; k < x->part->ntask + x->part->nmore; k++) {
		char hex[HASH_HEX];
		hash_hex(x->part->task[k]->id, hex);
		if (strncmp(hex, prefix, strlen(prefix)) != 0)
			continue;
		if (found != NULL) {
			fail(err, ERR_USAGE, path, "the ids of several tasks begin with \"%s\"", prefix);
			return NULL;
		}
		found = x->part->task[k];
	}
	if (found == NULL)
		fail(err, ERR_MISSING, path, "no task of the model has an id that begins with \"%.32s\"", prefix);
	return found;
}

static bool try_trace(Tuning *x, const char *path, TuneResult *result, Err *err)
{
	Trace *trace = trace_load(args_arena(x->args), path, err);
	if (trace == NULL)
		return false;
	const Task *task = named_task(x, x->ask.ntasks > 0 ? x->ask.tasks[0] : trace->task, path, err);
	if (task == NULL)
		return false;
	trace->task = NULL;
	x->ask.ntasks = 0;
	bool ok = tune_try(args_arena(x->args), task, trace, &x->ask, &x->with, result, err);
	if (ok && x->screen.json)
		screen_end(&x->screen, result);
	else if (ok)
		printf("%s %.3f ms\n", task->label, result->end.task[0].best_ms);
	return ok;
}

/* ---- the search ---- */

static bool search(Tuning *x, TuneResult *result, Err *err)
{
	const char *path = args_text(x->args, "try", NULL);
	if (path != NULL)
		return try_trace(x, path, result, err);
	if (!tune_model(args_arena(x->args), x->part, &x->ask, &x->with, result, err))
		return false;
	screen_end(&x->screen, result);
	return true;
}

static bool finish(const Tuning *x, const TuneResult *result, Err *err)
{
	if (ferror(stdout))
		return fail(err, ERR_DEVICE, "standard output", "cannot be written; all %lld trials are kept",
			(long long)result->end.trials);
	if (stopped != 0)
		return fail(err, ERR_INTERRUPTED, x->d->path,
			"interrupted after %lld trials, all kept; the same command goes on", (long long)result->end.trials);
	return true;
}

/* 48 random bits; none where the system has none to give. */
static int64_t session_mark(void)
{
	unsigned char b[6];
	int64_t mark = 0;
	if (getentropy(b, sizeof b) == 0)
		for (size_t k = 0; k < sizeof b; k++)
			mark = mark << 8 | b[k];
	return mark;
}

static void set_options(Tuning *x, Dag *dag)
{
	const Args *args = x->args;
	bool counted = args_given(args, "trials"), plus = args_plus(args, "trials");
	int64_t trials = args_int(args, "trials", -1);
	size_t ntasks = 0;
	const char *const *tasks = args_all(args, "tasks", &ntasks);
	x->with = (TuneMeans){ .db = x->dry ? NULL : x->d->db[0],
		.more = x->d->db + !x->dry,
		.nmore = (int)x->d->n - !x->dry,
		.clock = { screen_now_ms, NULL },
		.cost = x->cost,
		.cache = x->dry ? NULL : code_cache_open(args_arena(args)),
		.stop = &stopped,
		.on_trial = screen_trial,
		.on_progress = x->dry ? NULL : screen_progress,
		.arg = &x->screen };
	x->ask = (TuneRequest){ .target = x->target,
		.dag = dag,
		.finalists = TUNE_FINALISTS,
		.search = search_find(args_text(args, "search", searches[0]->name)),
		.effort = &efforts[args_int(args, "preset", EFFORT_normal)],
		.model = args_operand(args, 0),
		.started_s = (int64_t)time(NULL),
		.mark = session_mark(),
		.tasks = tasks,
		.ntasks = (int)ntasks,
		.trials = counted && !plus ? trials : -1,
		.more_trials = plus ? trials : -1,
		.budget_ms = (double)args_int(args, "budget", counted ? 0 : BUDGET_MS),
		.seed = (uint64_t)args_int(args, "seed", 1) };
	x->screen = (Screen){ .arena = args_arena(args),
		.model = x->ask.model,
		.db = x->d->path,
		.target = x->target,
		.json = args_given(args, "json"),
		.budget_ms = x->ask.budget_ms,
		.stop = &stopped };
}

/* Before a database is made. */
static bool options_fit(const Args *args, Err *err)
{
	Text there = { .arena = args_arena(args) };
	const char *name = args_text(args, "search", searches[0]->name);
	for (const Search *const *s = searches; *s != NULL; s++)
		text_add(&there, "%s%s", s > searches ? ", " : "", (*s)->name);
	if (search_find(name) == NULL)
		return fail(err, ERR_USAGE, "--search", "there is no search \"%.40s\"; there are: %s", name, text_str(&there));
	if (cost_model_find(args_text(args, "cost-model", NULL), err) == NULL)
		return false;
	return !args_given(args, "try") || !args_given(args, "dry-run") || fail(err, ERR_USAGE, "--try", "excludes --dry-run");
}

static void stop_on_signals(void)
{
	struct sigaction stop = { .sa_handler = on_stop };
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
}

static bool tune(Tuning *x, Err *err)
{
	Arena *a = args_arena(x->args);
	TuneResult result = { 0 };
	if (!x->dry)
		stop_on_signals();
	Dag *dag = model_load(x->args, args_operand(x->args, 0), err);
	x->part = dag != NULL ? compile_tasks(a, dag, x->target, err) : NULL;
	if (x->part == NULL)
		return false;
	set_options(x, dag);
	screen_open(&x->screen);
	if (x->dry) {
		bool planned = tune_plan(a, x->part, &x->ask, &x->with, &result, err);
		if (planned)
			screen_plan(&x->screen, &result);
		return planned;
	}
	x->with.roof = roof_machine(x->target);
	Measure *m = open_measure(x->args, x->target, &x->screen, err);
	x->with.measure = m;
	bool ok = m != NULL && search(x, &result, err);
	measure_close(m);
	return ok && finish(x, &result, err);
}

static bool run_tune(const Args *args, Err *err)
{
	Target t, host;
	Databases d;
	Cost cost = { 0 };
	target_host(&host, 1);
	bool dry = args_given(args, "dry-run");
	if (!options_fit(args, err) || !place_target(args, &t, err) || (!dry && !target_runs_on(&t, &host, err)) ||
		!databases_open_for(args, !dry, &t, &d, err))
		return false;
	Tuning x = { .args = args, .target = &t, .cost = &cost, .d = &d, .dry = dry };
	bool ok = cost_open(&cost, args_arena(args), args_text(args, "cost-model", NULL), &t, err) && tune(&x, err);
	cost_close(&cost);
	databases_close(&d);
	return ok;
}

static const Option options[] = {
	OPTION_TARGET,
	OPTION_THREADS,
	OPTION_DB_WRITTEN,
	OPTION_COST_MODEL,
	{ .name = "trials", .kind = OPT_TRIALS, .arg = "N", .lo = 0, .hi = INT64_C(1) << 40,
		.help = "candidates over the whole model, those in the database included; +N: N more" },
	{ .name = "budget", .kind = OPT_TIME, .arg = "TIME", .lo = 1, .hi = INT64_C(1) << 40,
		.help = "60s, 10m, 2h (default 10m where --trials is not given)" },
	{ .name = "tasks", .kind = OPT_TEXT, .arg = "ID", .many = true, .help = "only tasks whose id begins so; repeats" },
	{ .name = "search", .kind = OPT_TEXT, .arg = "NAME", .help = "search strategy: rank (default), random" },
	{ .name = "preset", .kind = OPT_CHOICE, .arg = "quick|normal|thorough", .help = "how hard to look (default normal)" },
	{ .name = "try", .kind = OPT_TEXT, .arg = "FILE.trace", .help = "measure and store this schedule, search nothing" },
	{ .name = "dry-run", .kind = OPT_FLAG, .help = "say what would be searched, measure and write nothing" },
	{ .name = "jobs", .kind = OPT_INT, .arg = "N", .lo = 1, .hi = MEASURE_BUILDERS,
		.help = "compilers at once (default 2 where there are more cores than threads)" },
	OPTIONS_MODEL,
	OPTION_SEED,
	OPTION_JSON,
	OPTION_END,
};

const Verb cmd_tune = {
	.name = "tune",
	.summary = "Search schedules for a model on this machine and keep them in a tuning database",
	.operands = "MODEL",
	.least = 1,
	.most = 1,
	.options = options,
	.notes = "MODEL is a name of the zoo (see dlc info) or an ONNX file. Whichever of --trials and --budget is\n"
		 "reached first ends the search. Every measured candidate is stored before the next one; after Ctrl-C\n"
		 "the same command goes on where it was.",
	.run = run_tune,
};
