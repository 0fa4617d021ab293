/*
 * dlc tune: searches schedules for the tasks of a model, measures them on this machine, and keeps
 * what it found in the first database. Ctrl-C keeps all; the same command goes on from there.
 */
#include "cli/operands.h"
#include "cli/tune_files.h"
#include "cli/tune_screen.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	BUDGET_MS = 600000 /* without --trials and --budget: ten minutes, as dlc(1) says */,
	MOST_DEVICE = 4095,
};

static DlcSession *running; /* cancelled by signals */
static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
	(void)sig;
	if (stopped++ != 0)
		_exit(130); /* asked twice: what is stored is stored */
	dlc_session_cancel(running, 1);
}

/* What the callbacks of a run have. */
typedef struct Run {
	Screen screen;
	TuneFiles files;
} Run;

static int on_progress(const DlcTuneProgress *p, void *arg)
{
	return screen_progress(p, &((Run *)arg)->screen);
}

static int on_trial(const char *record, void *arg)
{
	return screen_trial(record, &((Run *)arg)->screen);
}

static int on_event(const char *line, size_t n, void *arg)
{
	tune_files_event(&((Run *)arg)->files, line, n);
	return 0;
}

static int on_report(const char *page, size_t n, void *arg)
{
	tune_files_report(&((Run *)arg)->files, page, n);
	return 0;
}

/* "0,1,3", or all of the target's kind. */
static bool read_devices(const Args *args, DlcSession *s, DlcTuneRequest *r, Err *err)
{
	const char *text = args_text(args, "device", "0"), *name = r->target.name;
	int *device = arena_array(args_arena(args), int, DLC_DEVICES), n = 0;
	if (strcmp(text, "all") == 0) {
		const char *kind = arena_printf(args_arena(args), "%.*s", (int)strcspn(name, ":"), name);
		if (dlc_session_devices(s, kind, &n, failure_of(err)) != DLC_FAULT_NONE)
			return false;
		n = n < DLC_DEVICES ? n : DLC_DEVICES;
		for (int i = 0; i < n; i++)
			device[i] = i;
	} else {
		for (const char *p = text; p != NULL; p = strchr(p, ',') != NULL ? strchr(p, ',') + 1 : NULL) {
			const char *word = arena_printf(args_arena(args), "%.*s", (int)strcspn(p, ","), p);
			int64_t id;
			if (n == DLC_DEVICES || !text_to_int(word, 0, MOST_DEVICE, &id))
				return fail(err, ERR_USAGE, "--device",
					"\"%s\" is no list of devices: write all, or up to %d integers from 0 to %d, such as 0,1,3", text,
					DLC_DEVICES, MOST_DEVICE);
			device[n++] = (int)id;
		}
	}
	r->target.device = device[0];
	r->device = device;
	r->ndevice = n > 1 ? n : 0;
	return true;
}

/* The request of the options, without the schedule of --try and the devices. */
static void read_request(const Args *args, DlcTuneRequest *r)
{
	static const char *const preset[] = { "quick", "normal", "thorough" }; /* the words of the option */
	bool counted = args_given(args, "trials");
	size_t ntask;
	*r = (DlcTuneRequest){ .target = { .name = args_text(args, "target", "host"),
			.threads = (int)args_int(args, "threads", 1) },
		.cost_model = args_text(args, "cost-model", NULL),
		.task = args_all(args, "tasks", &ntask),
		.limit = !counted ? DLC_NO_LIMIT : args_plus(args, "trials") ? DLC_TRIALS_MORE : DLC_TRIALS_ALL,
		.trials = args_int(args, "trials", 0),
		.budget_s = (double)args_int(args, "budget", counted ? 0 : BUDGET_MS) / 1000,
		.seed = (uint64_t)args_int(args, "seed", 1),
		.search = args_text(args, "search", NULL),
		.preset = preset[args_int(args, "preset", 1)],
		.jobs = (int)args_int(args, "jobs", 0),
		.schedule_name = args_text(args, "try", NULL),
		.dry_run = args_given(args, "dry-run"),
		.on_progress = on_progress,
		.on_trial = on_trial,
		.command = args_command(args),
		.on_event = args_given(args, "events") ? on_event : NULL,
		.on_report = args_given(args, "report") ? on_report : NULL };
	r->ntask = (int)ntask;
}

static bool finish(const DlcTuneResult *r, const Databases *d, Err *err)
{
	if (ferror(stdout))
		return fail(err, ERR_DEVICE, "standard output", "cannot be written; all %lld trials are kept",
			(long long)r->end.trials);
	if (stopped != 0)
		return fail(err, ERR_INTERRUPTED, d->path, "interrupted after %lld trials, all kept; the same command goes on",
			(long long)r->end.trials);
	return true;
}

static bool tune(const Args *args, DlcSession *s, DlcTuneRequest *r, const Databases *d, Screen *screen, Err *err)
{
	DlcTuneResult result;
	DlcNetwork *n = network_load(args, s, args_operand(args, 0), err);
	bool ok = n != NULL;
	screen_open(screen);
	ok = ok && dlc_tune(n, r, &result, failure_of(err)) == DLC_FAULT_NONE;
	if (ok && r->dry_run)
		screen_plan(screen, &result);
	else if (ok)
		screen_end(screen, &result);
	ok = ok && (r->dry_run || finish(&result, d, err));
	dlc_network_close(n);
	return ok;
}

static bool run_tune(const Args *args, Err *err)
{
	char text[DLC_TARGET_TEXT];
	DlcTuneRequest r;
	Databases d = { 0 };
	read_request(args, &r);
	DlcSession *s = session_open(err);
	bool ok = s != NULL && read_devices(args, s, &r, err);
	if (ok && r.schedule_name != NULL)
		ok = (r.schedule = text_load(args_arena(args), &r.schedule_name, err)) != NULL;
	ok = ok && dlc_tune_check(s, &r, failure_of(err)) == DLC_FAULT_NONE &&
		dlc_target_text(s, &r.target, 0, text, failure_of(err)) == DLC_FAULT_NONE &&
		databases_open(args, s, !r.dry_run, &d, err);
	Run run = { .screen = { .model = args_operand(args, 0), .db = d.path, .target = text,
		.json = args_given(args, "json"), .budget_s = r.budget_s, .tried = r.schedule_name != NULL } };
	ok = ok && tune_files_open(&run.files, args, s, err);
	run.screen.results = run.files.events == STDOUT_FILENO || run.files.to_stdout ? stderr : stdout;
	r.database = d.at;
	r.ndatabase = d.n;
	r.arg = &run;
	if (ok && !r.dry_run) {
		struct sigaction stop = { .sa_handler = on_stop };
		running = s;
		sigaction(SIGINT, &stop, NULL);
		sigaction(SIGTERM, &stop, NULL);
	}
	ok = ok && tune(args, s, &r, &d, &run.screen, err);
	ok = tune_files_close(&run.files, ok ? err : NULL) && ok;
	databases_close(&d);
	if (running == NULL) /* else a signal may still come */
		dlc_session_close(s);
	return ok;
}

static const Option options[] = {
	OPTION_TARGET,
	{ .name = "device",
		.kind = OPT_TEXT,
		.arg = "N,..",
		.help = "device of the target's kind, several, or all (default 0)" },
	OPTION_THREADS,
	OPTION_DB_WRITTEN,
	OPTION_COST_MODEL("xgboost (default where there is a model), analytic"),
	{ .name = "trials",
		.kind = OPT_TRIALS,
		.arg = "N",
		.lo = 0,
		.hi = INT64_C(1) << 40,
		.help = "candidates over the whole model, those in the database included; +N: N more" },
	{ .name = "budget",
		.kind = OPT_TIME,
		.arg = "TIME",
		.lo = 1,
		.hi = INT64_C(1) << 40,
		.help = "60s, 10m, 2h (default 10m where --trials is not given)" },
	{ .name = "tasks", .field = "task", .kind = OPT_TEXT, .arg = "ID", .many = true,
		.help = "only tasks whose id begins so; repeats" },
	{ .name = "search", .kind = OPT_TEXT, .arg = "NAME",
		.help = "search strategy: portfolio (default), rank, anneal, evolve, grid, random" },
	{ .name = "preset",
		.kind = OPT_CHOICE,
		.arg = "quick|normal|thorough",
		.help = "how hard to look (default normal)" },
	{ .name = "try", .field = "schedule", .kind = OPT_TEXT, .arg = "FILE.trace",
		.help = "measure and store this schedule, search nothing" },
	{ .name = "dry-run", .kind = OPT_FLAG, .help = "say what would be searched, measure and write nothing" },
	{ .name = "jobs",
		.kind = OPT_INT,
		.arg = "N",
		.lo = 1,
		.hi = DLC_JOBS,
		.help = "compilers at once (default 2, or all cores for a GPU, but no more than cores)" },
	OPTIONS_MODEL,
	OPTION_SEED,
	{ .name = "report", .kind = OPT_TEXT, .arg = "FILE.html", .help = "write a page about the run, for a browser" },
	{ .name = "events", .kind = OPT_TEXT, .arg = "FILE.jsonl",
		.help = "append what happens, a JSON object on each line; -: standard output" },
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
	.notes = NOTE_MODEL "\n\n"
		 "Whichever of --trials and --budget is reached first ends the search. Every measured candidate is\n"
		 "stored before the next one; after Ctrl-C the same command goes on where it was.",
	.run = run_tune,
};
