/*
 * Records the space of a Task on this machine: all configs, or those that some options of each knob span.
 *
 *     bench_record TASK.dag OUT.space [--programs=DIR] [--target=NAME] [--threads=N] [--most=N] [--seconds=N]
 *                  [--again=PART] [--cold=BYTES] [--machine=TEXT] [--run-with=WORDS]
 *
 * OUT is continued where it is there and of the same epoch, machine and configs. A run takes at most --seconds, so that
 * a machine can be used for something else between runs; exit code 0 says that all is recorded, 3 that configs are
 * left. Once all have a time, those within --again of the best (default 0.2) are measured again twice: the median of
 * the three counts, and their scatter is the file's noise. --run-with puts words before the worker's command, as in
 * --run-with="chrt -f 10", where other work shares the machine. docs/search.md has the form of the file.
 */
#include "base/file.h"
#include "codegen/codegen.h"
#include "cost_model/cost_model.h"
#include "measure/measure.h"
#include "measure/recorded.h"
#include "runtime/timing.h"
#include "schedule/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1500, SECONDS = 3600, AGAIN = 3 /* times of the best ones */, WORDS = 16, LEFT = 3 /* exit code */ };

typedef struct Recorder {
	Arena *arena;
	Space *space;
	RecordedSpace out;
	Map row;                             /* first run of each trace: its number */
	bool dropped[1 << 10][KNOB_OPTIONS]; /* options, by the knob's number in the space */
	Measure *measure;
	MeasureRef *ref;
	uint64_t end_ns;
	double again;
} Recorder;

static int die(const Err *e)
{
	fprintf(stderr, "bench_record: %s: %s\n", e->place, e->text);
	exit(1);
}

/* ---- the configs ---- */

/* From c on, the first config of kept options only. */
static bool skip_to_kept(const Recorder *r, Config *c)
{
	for (;;) {
		int at = 0;
		while (at < c->n && !r->dropped[c->knob[at]][c->pick[at]])
			at++;
		if (at == c->n)
			return true;
		for (int k = at + 1; k < c->n; k++)
			c->pick[k] = (uint8_t)(space_knob(r->space, c, k)->n - 1);
		if (!space_next(r->space, c))
			return false;
	}
}

/* How many configs there are of kept options; more than `most`: most + 1. */
static int count_kept(const Recorder *r, int most)
{
	Config c = space_begin(r->space);
	int n = 0;
	for (bool more = skip_to_kept(r, &c); more && n <= most; n++)
		more = space_next(r->space, &c) && skip_to_kept(r, &c);
	return n;
}

/* Keeps `m` options of a knob: the first, the last, the default, and others spread evenly. */
static void keep_options(Recorder *r, int knob, int m)
{
	const Knob *k = &r->space->knob.at[knob];
	for (int o = 0; o < k->n; o++)
		r->dropped[knob][o] = m < k->n;
	for (int i = 0; i < m && m < k->n; i++)
		r->dropped[knob][m > 1 ? i * (k->n - 1) / (m - 1) : k->first] = false;
	r->dropped[knob][k->first] = false;
}

/* Takes options from the knob that has most of them until the configs are few enough. */
static void choose_options(Recorder *r, int most)
{
	int m[1 << 10];
	space_size(r->space); /* meets all knobs */
	int n = (int)r->space->knob.n;
	for (int k = 0; k < n; k++)
		keep_options(r, k, m[k] = r->space->knob.at[k].n);
	while (count_kept(r, most) > most) {
		int largest = 0;
		for (int k = 0; k < n; k++)
			largest = m[k] > m[largest] ? k : largest;
		keep_options(r, largest, --m[largest]);
	}
}

static const char *trace_text(Recorder *r, const Config *c, int64_t *estimate_ns)
{
	Text text = { .arena = r->arena };
	Arena *a = arena_new();
	Cost cost = cost_or_first(NULL, a, r->space->target);
	uint64_t from = timing_thread_ns();
	Trace *t = space_trace(r->space, c, a, NULL);
	const KernelSet *ks = t != NULL ? schedule_draft(ir_new(a), r->space->task, r->space->target, t, NULL) : NULL;
	if (ks != NULL)
		cost_estimate_one(&cost, ks, r->space->task);
	*estimate_ns += (int64_t)(timing_thread_ns() - from);
	if (t != NULL)
		trace_print(&text, t);
	cost_close(&cost);
	arena_free(a);
	return ks != NULL ? text_str(&text) : "";
}

/* All configs with their traces; none is measured. A config without a schedule is known to have none. */
static void list_configs(Recorder *r)
{
	VEC(RecordedRun) run = { 0 };
	Config c = space_begin(r->space);
	int64_t spent = 0;
	for (bool more = skip_to_kept(r, &c); more;) {
		Text config = { .arena = r->arena };
		space_print_config(&config, r->space, &c);
		RecordedRun x = { .config = text_str(&config), .status = RUN_CANCELLED };
		x.trace = trace_text(r, &c, &spent);
		x.status = x.trace[0] == 0 ? RUN_CONSTRAINT : RUN_CANCELLED;
		if (memcmp(&c, &r->space->first, sizeof c) == 0)
			r->out.first = (int)run.n;
		MapEntry *e = map_add_text(&r->row, x.trace);
		e->num = r->row.index.n == run.n + 1 ? (int64_t)run.n : e->num;
		vec_push(r->arena, &run, x);
		more = space_next(r->space, &c) && skip_to_kept(r, &c);
	}
	r->out.run = run.at;
	r->out.n = (int)run.n;
	r->out.estimate_ns = spent / r->out.n;
}

/* Takes over what an earlier run has recorded of the same configs. */
static void take_over(Recorder *r, const char *path)
{
	Err err = { 0 };
	Bytes file;
	RecordedSpace old;
	if (access(path, F_OK) != 0)
		return;
	if (!file_read(r->arena, path, 1 << 28, &file, &err) ||
		!recorded_parse(r->arena, path, (const char *)file.at, file.n, &old, &err))
		die(&err);
	bool same = old.n == r->out.n && old.epoch == r->out.epoch && strcmp(old.machine, r->out.machine) == 0;
	for (int i = 0; same && i < old.n; i++)
		same =
			strcmp(old.run[i].config, r->out.run[i].config) == 0 && strcmp(old.run[i].trace, r->out.run[i].trace) == 0;
	if (!same && !fail(&err, ERR_INPUT, path, "is of other configs, another epoch or another machine: remove it first"))
		die(&err);
	r->out.run = old.run;
	r->out.estimate_ns = old.estimate_ns;
}

/* ---- measuring ---- */

static void submit(Recorder *r, RecordedRun *x)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Trace *t = trace_parse(a, "trace", x->trace, strlen(x->trace), NULL);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), r->out.task, &r->out.target, t, NULL) : NULL;
	MeasureJob job = { .ks = ks, .trace = x->trace, .ref = r->ref, .keep = true, .user = x };
	if (ks == NULL)
		x->status = RUN_CONSTRAINT;
	else if (!measure_submit(r->measure, &job, &err))
		die(&err);
	arena_free(a);
}

static void take(Recorder *r)
{
	MeasureResult m;
	if (!measure_wait(r->measure, 1000, &m))
		return;
	RecordedRun *x = m.user;
	if (m.status == RUN_DEVICE_LOST || m.status == RUN_CANCELLED) { /* the next run tries again */
		fprintf(stderr, "bench_record: %s\n", m.detail);
		return;
	}
	if (m.status == RUN_OK)
		recorded_add_time(x, m.median_ns);
	if (x->times == 0 || m.status == RUN_OK)
		x->status = m.status;
	if (x->times < 2) {
		x->build_ns = m.compile_ns;
		x->screen_ns = m.screen_ns;
	}
}

/* Measures what `wants`; false: time ran out. */
static bool pass(Recorder *r, bool (*wants)(const Recorder *r, const RecordedRun *x, int64_t best), int64_t best)
{
	bool all = true;
	for (int i = 0; i < r->out.n; i++) {
		RecordedRun *x = &r->out.run[i];
		if (!wants(r, x, best) || map_find_text(&r->row, x->trace)->num != i)
			continue;
		all = timing_wall_ns() < r->end_ns;
		if (!all)
			break;
		while (measure_pending(r->measure) >= measure_flight(r->measure))
			take(r);
		submit(r, x);
	}
	while (measure_pending(r->measure) > 0)
		take(r);
	return all;
}

static bool unknown(const Recorder *r, const RecordedRun *x, int64_t best)
{
	(void)r;
	(void)best;
	return x->status == RUN_CANCELLED;
}

static bool among_best(const Recorder *r, const RecordedRun *x, int64_t best)
{
	return x->status == RUN_OK && x->times < AGAIN && (double)x->median_ns < (double)best * (1 + r->again);
}

static bool measure_all(Recorder *r)
{
	int64_t best = INT64_MAX;
	bool all = pass(r, unknown, 0);
	for (int i = 0; i < r->out.n; i++)
		if (r->out.run[i].status == RUN_OK && r->out.run[i].median_ns < best)
			best = r->out.run[i].median_ns;
	for (int k = 1; k < AGAIN && all; k++)
		all = pass(r, among_best, best);
	for (int i = 0; i < r->out.n; i++) { /* configs of one schedule */
		RecordedRun *x = &r->out.run[i], first = r->out.run[map_find_text(&r->row, x->trace)->num];
		first.config = x->config;
		*x = first;
	}
	return all;
}

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* How far two times of one schedule lie apart. */
static void say_noise(Recorder *r)
{
	VEC(double) apart = { 0 };
	for (int i = 0; i < r->out.n; i++)
		for (int k = 1; k < r->out.run[i].times; k++)
			vec_push(r->arena, &apart, fabs(log((double)r->out.run[i].ns[k] / (double)r->out.run[i].ns[k - 1])));
	if (apart.n == 0) {
		r->out.noise = "not known: no schedule was measured twice";
		return;
	}
	qsort(apart.at, apart.n, sizeof *apart.at, by_number);
	r->out.noise = arena_printf(r->arena,
		"two times of one schedule differ by %.1f %% in the median, %.1f %% at the 90th percentile",
		100 * apart.at[apart.n / 2], 100 * apart.at[apart.n * 9 / 10]);
}

/* ---- opening ---- */

static void open_measure(Recorder *r, const char *programs, const char *target, const char *run_with)
{
	Err err = { 0 };
	Arena *a = r->arena;
	char *builder[] = { arena_printf(a, "%s/dlc", programs), "builder", arena_printf(a, "--target=%s", target),
		arena_printf(a, "--threads=%d", r->out.target.threads), NULL };
	char *runner[WORDS + 3] = { NULL };
	int n = 0;
	for (char *w = strtok(arena_printf(a, "%s", run_with), " "); w != NULL && n < WORDS; w = strtok(NULL, " "))
		runner[n++] = w;
	runner[n++] = arena_printf(a, "%s/dlc-worker", programs);
	runner[n++] = "--stdio";
	const MeasureRunner child = { .argv = runner, .name = "cpu" };
	MeasureOptions o = { .builder = builder,
		.runner = &child,
		.runners = 1,
		.builders = 1,
		.threads = r->out.target.threads,
		.build_ms = METHOD_BUILD_MS,
		.run_ms = METHOD_RUN_MS,
		.tolerance = METHOD_TOLERANCE };
	r->measure = measure_open(&o, &err);
	if (r->measure == NULL)
		die(&err);
	measure_cold(r->measure, r->out.cold_bytes);
	r->ref = measure_reference(r->measure, r->out.task, 1, &err);
	if (r->ref == NULL)
		die(&err);
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
	size_t n = strlen(name);
	for (int i = 3; i < argc; i++)
		if (strncmp(argv[i], name, n) == 0 && argv[i][n] == '=')
			return argv[i] + n + 1;
	return otherwise;
}

int main(int argc, char **argv)
{
	Recorder r = { .arena = arena_new() };
	Err err = { 0 };
	Bytes file;
	Text text = { .arena = r.arena };
	r.row = MAP_OF(r.arena);
	if (argc < 3) {
		fprintf(stderr, "usage: bench_record TASK.dag OUT.space [--most=N] [--seconds=N] ...\n");
		return 2;
	}
	const char *target = option(argc, argv, "--target", "host");
	r.end_ns = timing_wall_ns() + 1000000000u * (uint64_t)atoi(option(argc, argv, "--seconds", "3600"));
	r.again = atof(option(argc, argv, "--again", "0.2"));
	r.out.epoch = CODEGEN_EPOCH;
	r.out.machine = option(argc, argv, "--machine", "not said");
	r.out.cold_bytes = atoll(option(argc, argv, "--cold", "8388608"));
	if (!target_resolve(&r.out.target, target, atoi(option(argc, argv, "--threads", "1")), NULL, 0, &err) ||
		!file_read(r.arena, argv[1], 1 << 20, &file, &err))
		die(&err);
	Dag *dag = dag_parse(r.arena, argv[1], (const char *)file.at, file.n, &err);
	r.out.task = dag != NULL ? task_new(r.arena, dag, &err) : NULL;
	r.space = r.out.task != NULL ? space_new(r.arena, r.out.task, &r.out.target, &err) : NULL;
	if (r.space == NULL)
		die(&err);
	r.out.size = space_size(r.space);
	choose_options(&r, atoi(option(argc, argv, "--most", "1500")));
	list_configs(&r);
	take_over(&r, argv[2]);
	open_measure(&r, option(argc, argv, "--programs", "build"), target, option(argc, argv, "--run-with", ""));
	bool all = measure_all(&r);
	measure_close(r.measure);
	say_noise(&r);
	recorded_print(&text, &r.out);
	if (!file_write(argv[2], text_str(&text), text.n, &err))
		die(&err);
	printf("%s: %s, %d of %.0f configs%s; %s\n", argv[2], r.out.task->label, r.out.n, r.out.size,
		all ? "" : ", some without a time", r.out.noise);
	arena_free(r.arena);
	return all ? 0 : LEFT;
}
