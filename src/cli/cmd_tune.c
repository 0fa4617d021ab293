/*
 * dlc tune: searches schedules for the tasks of a model, measures them on this machine, and keeps
 * what it found in the first database. Ctrl-C keeps all; the same command goes on from there.
 */
#include "base/json.h"
#include "cli/model.h"
#include "cli/places.h"
#include "runtime/cpu.h"
#include "runtime/probe.h"
#include "runtime/timing.h"
#include "tuner/tuner.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUDGET_MS = 600000 /* without --trials and --budget */, SCREEN_MS = 10000, TERMINAL_MS = 250 };

static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
	(void)sig;
	if (stopped++ != 0)
		_exit(130); /* asked twice: what is stored is stored */
}

typedef struct Screen {
	Arena *arena;
	bool json, terminal;
	double shown_ms;
	int64_t limit;
} Screen;

static double now_ms(void *arg)
{
	(void)arg;
	return (double)timing_wall_ns() / 1e6;
}

static void on_trial(const RunRecord *run, const Task *task, void *arg)
{
	Screen *s = arg;
	char hex[HASH_HEX];
	(void)task;
	if (!s->json)
		return;
	hash_hex(run->id, hex);
	printf("{\"trial\":\"%s\"}\n", hex);
	if (fflush(stdout) != 0)
		stopped = 1; /* nobody reads on */
}

static void print_line(const Screen *s, const TuneState *t)
{
	char trials[48];
	if (s->limit >= 0)
		snprintf(trials, sizeof trials, "%lld/%lld", (long long)(t->trials + t->reused), (long long)s->limit);
	else
		snprintf(trials, sizeof trials, "%lld", (long long)(t->trials + t->reused));
	fprintf(stderr, "network  %.2f -> %.2f ms (sum of tasks)   %s | %.0f/s | %d:%02d | failed %lld", t->default_tasks_ms,
		t->tasks_ms, trials, t->candidates_per_s, (int)t->seconds / 60, (int)t->seconds % 60,
		(long long)t->failed);
}

static void on_progress(const TuneState *t, void *arg)
{
	Screen *s = arg;
	double now = now_ms(NULL);
	if (now - s->shown_ms < (s->terminal ? TERMINAL_MS : SCREEN_MS))
		return;
	s->shown_ms = now;
	if (s->terminal)
		fputs("\r\033[K", stderr);
	print_line(s, t);
	if (!s->terminal)
		fputc('\n', stderr);
}

static void print_table(const Screen *s, const TuneState *t)
{
	fprintf(stderr, "%s%-9s%-38s%3s %7s %9s %9s\n", s->terminal ? "\r\033[K" : "", "task", "op", "x", "trials",
		"best ms", "default");
	for (int k = 0; k < t->ntask; k++) {
		const TaskState *x = &t->task[k];
		char hex[HASH_HEX];
		hash_hex(x->task->id, hex);
		fprintf(stderr, "%.7s  %-38.38s%3d %7lld %9.3f %9.3f%s\n", hex, x->task->label, x->task->weight,
			(long long)(x->trials + x->reused), x->best_ms, x->default_ms, x->end != TASK_OPEN ? " done" : "");
	}
	print_line(s, t);
	fprintf(stderr, "\n");
}

static Json *number(Arena *a, double v)
{
	return v > 0 ? json_new_real(a, v) : json_new(a, JV_NULL);
}

static void print_json(const Args *args, const TuneState *t, const Target *target)
{
	Arena *a = args_arena(args);
	char text[TARGET_TEXT];
	Text out = { .arena = a };
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "model", json_new_text(a, args_operand(args, 0)));
	json_set(a, v, "target", json_new_text(a, target_text(target, text)));
	json_set(a, v, "tasks", json_new_int(a, t->ntask));
	json_set(a, v, "trials", json_new_int(a, t->trials));
	json_set(a, v, "reused", json_new_int(a, t->reused));
	json_set(a, v, "failed", json_new_int(a, t->failed));
	json_set(a, v, "pruned", json_new_int(a, t->pruned));
	json_set(a, v, "seconds", json_new_real(a, t->seconds));
	json_set(a, v, "candidates_per_s", json_new_real(a, t->candidates_per_s));
	json_set(a, v, "network_ms", number(a, t->network_ms));
	json_set(a, v, "tasks_ms", number(a, t->unmeasured == 0 ? t->tasks_ms : -1));
	json_set(a, v, "default_network_ms", number(a, t->default_network_ms));
	json_write(&out, v);
	puts(text_str(&out));
}

static int64_t constant_bytes(const Dag *d)
{
	int64_t sum = 0;
	for (size_t v = 0; v < d->value.n; v++)
		if (d->value.at[v].kind == VALUE_CONST)
			sum += value_bytes(&d->value.at[v]);
	return sum;
}

static Measure *open_measure(const Args *args, const Target *t, const Dag *dag, Err *err)
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
		.flush_bytes = constant_bytes(dag),
		.tolerance = 1e-4,
		.stop = &stopped };
	return measure_open(&o, err);
}

static bool tune(const Args *args, const Target *t, Databases *d, Err *err)
{
	Arena *a = args_arena(args);
	const char *model = args_operand(args, 0);
	Dag *dag = model_load(args, model, err);
	Partition *p = dag != NULL ? compile_tasks(a, dag, t, err) : NULL;
	const Search *search = search_find(args_text(args, "search", searches[0]->name));
	const Effort *effort = effort_find(args_text(args, "preset", "normal"));
	if (search == NULL || effort == NULL)
		return fail(err, ERR_USAGE, search == NULL ? "--search" : "--preset", "there is no such one; see dlc tune --help");
	Measure *m = p != NULL ? open_measure(args, t, dag, err) : NULL;
	if (m == NULL)
		return false;
	bool counted = args_given(args, "trials"), plus = args_plus(args, "trials");
	int64_t trials = args_int(args, "trials", -1);
	Screen s = { .arena = a,
		.json = args_given(args, "json"),
		.terminal = isatty(STDERR_FILENO),
		.shown_ms = now_ms(NULL),
		.limit = counted && !plus ? trials : -1 };
	size_t ntasks = 0;
	const char *const *tasks = args_all(args, "tasks", &ntasks);
	TuneOptions o = { .target = t,
		.db = d->db[0],
		.more = d->db + 1,
		.nmore = (int)d->n - 1,
		.measure = m,
		.clock = { now_ms, NULL },
		.dag = dag,
		.finalists = 3,
		.search = search,
		.effort = effort,
		.roof = { .gflops = probe_fma_gflops(t->threads) },
		.model = model,
		.started_s = (int64_t)time(NULL),
		.tasks = tasks,
		.ntasks = (int)ntasks,
		.trials = counted && !plus ? trials : -1,
		.more_trials = plus ? trials : -1,
		.budget_ms = (double)args_int(args, "budget", counted ? 0 : BUDGET_MS),
		.seed = (uint64_t)args_int(args, "seed", 1),
		.stop = &stopped,
		.on_trial = on_trial,
		.on_progress = on_progress,
		.arg = &s };
	struct sigaction stop = { .sa_handler = on_stop };
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	TuneState state;
	bool ok = tune_model(a, p, &o, &state, err);
	if (ok && !s.json)
		print_table(&s, &state);
	if (ok && state.network_why[0] != 0)
		fprintf(stderr, "dlc: the network was not measured: %s", state.network_why);
	if (ok && s.json)
		print_json(args, &state, t);
	else if (ok && state.network_ms > 0)
		printf("network %.3f ms with the best schedules, %.3f ms with the default ones\n", state.network_ms,
			state.default_network_ms);
	measure_close(m);
	if (ok && ferror(stdout))
		return fail(err, ERR_DEVICE, "standard output", "cannot be written; all %lld trials are kept",
			(long long)state.trials);
	if (ok && stopped != 0)
		return fail(err, ERR_INTERRUPTED, d->path, "interrupted after %lld trials, all kept; the same command goes on",
			(long long)state.trials);
	return ok;
}

static bool run_tune(const Args *args, Err *err)
{
	Target t, host;
	Databases d;
	target_host(&host, 1);
	if (!place_target(args, &t, err) || !target_runs_on(&t, &host, err) || !databases_open(args, true, &d, err))
		return false;
	bool ok = tune(args, &t, &d, err);
	databases_close(&d);
	return ok;
}

static const Option options[] = {
	OPTION_TARGET,
	OPTION_THREADS,
	OPTION_DB,
	{ .name = "trials", .kind = OPT_TRIALS, .arg = "N", .lo = 0, .hi = INT64_C(1) << 40,
		.help = "candidates over the whole model, those in the database included; +N: N more" },
	{ .name = "budget", .kind = OPT_TIME, .arg = "TIME", .lo = 1, .hi = INT64_C(1) << 40,
		.help = "60s, 10m, 2h (default 10m where --trials is not given)" },
	{ .name = "tasks", .kind = OPT_TEXT, .arg = "ID", .many = true, .help = "only tasks whose id begins so; repeats" },
	{ .name = "search", .kind = OPT_TEXT, .arg = "NAME", .help = "search strategy: rank (default), random" },
	{ .name = "preset", .kind = OPT_TEXT, .arg = "NAME", .help = "how hard to look: quick, normal (default), thorough" },
	{ .name = "jobs", .kind = OPT_INT, .arg = "N", .lo = 1, .hi = MEASURE_BUILDERS, .help = "compilers at once (default 2 where there are more cores than threads)" },
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
