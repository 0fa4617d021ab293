/*
 * Records the space of a Task on this machine: all configs, or those that some options of each knob span.
 *
 *     bench_record TASK.dag OUT.space [--programs=DIR] [--target=NAME] [--threads=N] [--most=N] [--draw=SEED]
 *                  [--space=template|generated] [--network=NAME] [--seconds=N] [--again=PART]
 *                  [--steady=PART] [--cold=BYTES] [--machine=TEXT] [--run-with=WORDS]
 *
 * A knob keeps its default and other options, drawn with --draw; knobs with most options lose one first, and of
 * equal ones a drawn one. So of a space with twenty knobs some ten are left, with two options each, and all their
 * neighbours. --space=generated records the generated space also where a template applies.
 *
 * --target is any that dlc-tune takes: one with fewer features than this CPU has, more threads, or a device.
 *
 * OUT is continued where it is there and of the same Task, epoch and machine. A run measures for at most --seconds,
 * so that a machine can be used for something else between runs; with 0 it lists the configs. Exit code 0 says that
 * all is recorded, 3 that configs are left. Once all have a time, the default and those that were once within
 * --again of the best (default 0.2) are measured again, until they have three times: the median counts, and their
 * scatter is the file's noise.
 *
 * A machine is now faster and now slower: other guests of its host come and go. So the default is measured CONTROLS
 * times first, and again behind each BLOCK of configs. A block counts if the default took its median time, within
 * --steady (default 0.1), before and behind it; else the block is measured again. Where none has counted for
 * PATIENCE_MS and half of the space is not measured yet, all times are forgotten and the space begins anew; what an
 * earlier run has measured stays, and the rest waits for the next run. With 0 all blocks count.
 * --run-with puts words before the worker's command, as in --run-with="chrt -f 10", where other work shares the
 * machine. docs/search.md has the form of the file.
 */
#include "base/file.h"
#include "codegen/codegen.h"
#include "cost_model/cost_model.h"
#include "measure/measure.h"
#include "measure/recorded.h"
#include "runtime/timing.h"
#include "schedule/space.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1500, SECONDS = 3600, AGAIN = 3 /* times of the best ones */, WORDS = 16, LEFT = 3 /* exit code */,
	MOST_KNOBS = 1 << 10, CONTROLS = 15, BLOCK = 8, PATIENCE_MS = 4000 };

typedef struct Drop {
	uint16_t knob; /* its number in the space */
	uint8_t option;
} Drop;

typedef struct Recorder {
	Arena *arena;
	Space *space;
	RecordedSpace out;
	Map row;                             /* first run of each trace: its number */
	bool dropped[MOST_KNOBS][KNOB_OPTIONS]; /* options, by the knob's number in the space */
	VEC(Drop) drop;
	Rng rng;
	Measure *measure;
	MeasureRef *ref;
	uint64_t end_ns;
	double again, steady, best_ns; /* best_ns: 0: nothing has a time yet */
	int blocks, refused, begun;    /* measured; of them, again; how often all began anew */
	uint64_t counted_ns;           /* when a block counted last */
	bool resumed;                  /* an earlier run has measured configs */
} Recorder;

static int die(const Err *e)
{
	fprintf(stderr, "bench_record: %s: %s\n", e->place, e->text);
	exit(1);
}

/* A mistake of this program. */
_Noreturn static void die_bug(const Recorder *r, const char *what, const char *config)
{
	fprintf(stderr, "bench_record: %s: the config \"%s\" %s\n", r->out.task->label, config, what);
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

/* The order in which a knob keeps its options: the default first. */
static void draw_order(Recorder *r, const Knob *k, uint8_t *order)
{
	for (int o = 0; o < k->n; o++)
		order[o] = (uint8_t)o;
	order[0] = (uint8_t)k->first;
	order[k->first] = 0;
	for (int o = k->n - 1; o > 1; o--) {
		uint64_t with = 1 + rng_below(&r->rng, (uint64_t)o);
		uint8_t kept = order[o];
		order[o] = order[with];
		order[with] = kept;
	}
}

/* The options in the order in which they are taken away: from the knob that has most of them left. */
static void order_drops(Recorder *r)
{
	static uint8_t order[MOST_KNOBS][KNOB_OPTIONS];
	int m[MOST_KNOBS], n = (int)r->space->knob.n;
	for (int k = 0; k < n; k++) {
		draw_order(r, &r->space->knob.at[k], order[k]);
		m[k] = r->space->knob.at[k].n;
	}
	for (;;) {
		int largest = 0;
		uint64_t ties = 0;
		for (int k = 0; k < n; k++) {
			ties = m[k] > m[largest] ? 1 : ties + (m[k] == m[largest]);
			if (m[k] > m[largest] || (m[k] == m[largest] && rng_below(&r->rng, ties) == 0))
				largest = k;
		}
		if (m[largest] < 2)
			return;
		uint8_t option = order[largest][--m[largest]];
		vec_push(r->arena, &r->drop, ((Drop){ (uint16_t)largest, option }));
	}
}

static int count_without(Recorder *r, size_t drops, int most)
{
	memset(r->dropped, 0, sizeof r->dropped);
	for (size_t i = 0; i < drops; i++)
		r->dropped[r->drop.at[i].knob][r->drop.at[i].option] = true;
	return count_kept(r, most);
}

/* Takes as few options as leave at most `most` configs. */
static void choose_options(Recorder *r, int most)
{
	space_size(r->space); /* meets all knobs */
	order_drops(r);
	size_t few = 0, enough = r->drop.n;
	while (few < enough) {
		size_t middle = (few + enough) / 2;
		if (count_without(r, middle, most) <= most)
			enough = middle;
		else
			few = middle + 1;
	}
	count_without(r, enough, most);
}

static const char *trace_text(Recorder *r, const Config *c, int64_t *estimate_ns)
{
	Text text = { .arena = r->arena };
	Arena *a = arena_new();
	Cost cost = cost_or_first(NULL, a, &r->out.target);
	uint64_t from = timing_thread_ns();
	Trace *t = space_trace(r->space, c, a, NULL);
	const KernelSet *ks = t != NULL ? schedule_draft(ir_new(a), r->out.task, &r->out.target, t, NULL) : NULL;
	if (ks != NULL)
		cost_estimate_one(&cost, ks, r->out.task);
	*estimate_ns += (int64_t)(timing_thread_ns() - from);
	if (t != NULL)
		trace_print(&text, t);
	cost_close(&cost);
	arena_free(a);
	return ks != NULL ? text_str(&text) : "";
}

/* The number of a trace's run, if it is the first one of that trace. */
static void note_trace(Recorder *r, const char *trace, int run)
{
	uint32_t before = r->row.index.n;
	MapEntry *e = map_add_text(&r->row, trace);
	e->num = r->row.index.n > before ? run : e->num;
}

/* All configs with their traces; none is measured. A config without a schedule is known to have none. */
static void list_configs(Recorder *r)
{
	VEC(RecordedRun) run = { 0 };
	Config c = space_begin(r->space);
	Text first = { .arena = r->arena };
	int64_t spent = 0;
	space_print_config(&first, r->space, &r->space->first);
	r->out.first = -1;
	for (bool more = skip_to_kept(r, &c); more;) {
		Text config = { .arena = r->arena };
		space_print_config(&config, r->space, &c);
		RecordedRun x = { .config = text_str(&config), .status = RUN_CANCELLED };
		x.trace = trace_text(r, &c, &spent);
		x.status = x.trace[0] == 0 ? RUN_CONSTRAINT : RUN_CANCELLED;
		/* One knob may be two, by its default, which another knob's option decides: then numbers differ. */
		if (strcmp(x.config, text_str(&first)) == 0)
			r->out.first = (int)run.n;
		note_trace(r, x.trace, (int)run.n);
		vec_push(r->arena, &run, x);
		more = space_next(r->space, &c) && skip_to_kept(r, &c);
	}
	r->out.run = run.at;
	r->out.n = (int)run.n;
	r->out.estimate_ns = spent / r->out.n;
	if (r->out.first < 0)
		die_bug(r, "is the default and no config", text_str(&first));
}

static void list_space(Recorder *r, bool generated, int draw, int most)
{
	Err err = { 0 };
	r->rng = rng_seed((uint64_t)draw);
	r->space = (generated ? space_of_any : space_new)(r->arena, r->out.task, &r->out.target, &err);
	if (r->space == NULL)
		die(&err);
	r->out.size = space_size(r->space);
	choose_options(r, most);
	list_configs(r);
}

static bool same_target(const Target *a, const Target *b)
{
	Hash x = target_id(a), y = target_id(b);
	return memcmp(&x, &y, sizeof x) == 0;
}

/* Goes on with what an earlier run has listed and recorded; false: there is none. */
static bool take_over(Recorder *r, const char *path)
{
	Err err = { 0 };
	Bytes file;
	RecordedSpace old;
	if (access(path, F_OK) != 0)
		return false;
	if (!file_read(r->arena, path, 1 << 28, &file, &err) ||
		!recorded_parse(r->arena, path, (const char *)file.at, file.n, &old, &err))
		die(&err);
	if ((old.epoch != r->out.epoch || strcmp(old.machine, r->out.machine) != 0 ||
			strcmp(old.task->text, r->out.task->text) != 0 || !same_target(&old.target, &r->out.target)) &&
		!fail(&err, ERR_INPUT, path, "is of another Task, target, epoch or machine: remove it first"))
		die(&err);
	r->out = old;
	for (int i = 0; i < old.n; i++) {
		r->resumed |= old.run[i].times > 0 && i != old.first;
		if (old.run[i].times > 0 && (r->best_ns == 0 || (double)old.run[i].median_ns < r->best_ns))
			r->best_ns = (double)old.run[i].median_ns;
		note_trace(r, old.run[i].trace, i);
	}
	return true;
}

/* ---- measuring ---- */

static void submit(Recorder *r, RecordedRun *x)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Trace *t = trace_parse(a, "trace", x->trace, strlen(x->trace), NULL);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), r->out.task, &r->out.target, t, NULL) : NULL;
	MeasureJob job = { .ks = ks, .trace = x->trace, .ref = r->ref, .keep = true, .user = x };
	if (x->times == 0 && x->trace != r->out.run[r->out.first].trace) { /* as a tuner has it */
		job.slow_ns = (int64_t)(r->best_ns * TUNE_SLOW);
		job.good_ns = (int64_t)(r->best_ns * TUNE_GOOD);
	}
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
	if (m.status == RUN_OK) {
		recorded_add_time(x, m.median_ns);
		r->best_ns = r->best_ns > 0 ? fmin(r->best_ns, (double)x->median_ns) : (double)x->median_ns;
	}
	if (x->times == 0 || m.status == RUN_OK)
		x->status = m.status;
	if (x->times < 2) {
		x->build_ns = m.compile_ns;
		x->screen_ns = m.screen_ns;
	}
}

static void measure_run(Recorder *r, RecordedRun *x)
{
	while (measure_pending(r->measure) >= measure_flight(r->measure))
		take(r);
	submit(r, x);
}

static void land_all(Recorder *r)
{
	while (measure_pending(r->measure) > 0)
		take(r);
}

static RecordedRun *first_of_trace(const Recorder *r, int run)
{
	return &r->out.run[map_find_text(&r->row, r->out.run[run].trace)->num];
}

/* Whether the default takes now what it took at first. */
static bool is_steady(Recorder *r)
{
	const RecordedRun *first = first_of_trace(r, r->out.first);
	RecordedRun now = { .config = first->config, .trace = r->out.run[r->out.first].trace };
	if (r->steady <= 0 || first->times == 0)
		return true;
	submit(r, &now);
	land_all(r);
	return now.times == 0 || fabs(log((double)now.median_ns / (double)first->median_ns)) < log(1 + r->steady);
}

typedef bool (*Wants)(const Recorder *r, const RecordedRun *x, int64_t best);

/* The next BLOCK of runs from *at on that are wanted. */
static int next_block(const Recorder *r, Wants wants, int64_t best, int *at, RecordedRun *block[BLOCK])
{
	int n = 0;
	for (; *at < r->out.n && n < BLOCK; ++*at) {
		RecordedRun *x = &r->out.run[*at];
		if (first_of_trace(r, *at) == x && wants(r, x, best))
			block[n++] = x;
	}
	return n;
}

typedef enum { PASS_ALL, PASS_LATE, PASS_ANEW } Passed;

/* Measures what `wants`; LATE: time ran out; ANEW: the machine is not what it was when the default was measured. */
static Passed pass(Recorder *r, Wants wants, int64_t best)
{
	RecordedRun *block[BLOCK], before[BLOCK];
	bool steady = false;
	r->counted_ns = timing_wall_ns();
	for (int at = 0, n; (n = next_block(r, wants, best, &at, block)) > 0;) {
		for (bool counts = false; !counts; r->refused += !counts, r->blocks++) {
			uint64_t now = timing_wall_ns();
			if (now >= r->end_ns)
				return PASS_LATE;
			if (now - r->counted_ns > PATIENCE_MS * UINT64_C(1000000))
				return PASS_ANEW;
			if (!steady && !(steady = is_steady(r)))
				continue;
			for (int i = 0; i < n; i++) {
				before[i] = *block[i];
				measure_run(r, block[i]);
			}
			land_all(r);
			counts = steady = is_steady(r);
			for (int i = 0; i < n && !counts; i++)
				*block[i] = before[i];
		}
		r->counted_ns = timing_wall_ns();
	}
	return PASS_ALL;
}

static bool unknown(const Recorder *r, const RecordedRun *x, int64_t best)
{
	(void)r;
	(void)best;
	return x->status == RUN_CANCELLED;
}

/* By its fastest time: of two, the slower one may be an outlier. */
static bool among_best(const Recorder *r, const RecordedRun *x, int64_t best)
{
	int64_t fastest = INT64_MAX;
	for (int i = 0; i < x->times; i++)
		fastest = x->ns[i] < fastest ? x->ns[i] : fastest;
	return x->status == RUN_OK && x->times < AGAIN && (double)fastest < (double)best * (1 + r->again);
}

static int64_t best_of(const Recorder *r)
{
	int64_t best = INT64_MAX;
	for (int i = 0; i < r->out.n; i++)
		if (r->out.run[i].status == RUN_OK && r->out.run[i].median_ns < best)
			best = r->out.run[i].median_ns;
	return best;
}

static void measure_default(Recorder *r)
{
	RecordedRun *plain = first_of_trace(r, r->out.first);
	for (int k = 0; k < CONTROLS && plain->times < CONTROLS && timing_wall_ns() < r->end_ns; k++) {
		measure_run(r, plain);
		land_all(r);
	}
}

/* Forgets all times, if less than half of the configs have one. */
static bool begin_anew(Recorder *r)
{
	int left = 0;
	for (int i = 0; i < r->out.n; i++)
		left += r->out.run[i].status == RUN_CANCELLED;
	if (r->resumed || left * 2 < r->out.n)
		return false;
	for (int i = 0; i < r->out.n; i++) {
		RecordedRun *x = &r->out.run[i];
		if (x->trace[0] != 0)
			*x = (RecordedRun){ .config = x->config, .trace = x->trace, .status = RUN_CANCELLED };
	}
	r->best_ns = 0;
	r->begun++;
	return true;
}

/* The best are known when all that are near it have their times: its own median may rise with them. */
static bool measure_all(Recorder *r)
{
	Passed end;
	do {
		measure_default(r);
		end = pass(r, unknown, 0);
	} while (end == PASS_ANEW && begin_anew(r));
	for (int k = 0, blocks = -1; end == PASS_ALL && blocks != r->blocks && k < r->out.n; k++) {
		blocks = r->blocks;
		end = pass(r, among_best, best_of(r));
	}
	for (int i = 0; i < r->out.n; i++) { /* configs of one schedule */
		RecordedRun *x = &r->out.run[i], first = *first_of_trace(r, i);
		if (strcmp(first.trace, x->trace) != 0)
			die_bug(r, "has the schedule of another config", x->config);
		first.config = x->config;
		*x = first;
	}
	return end == PASS_ALL;
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

/* As dlc-tune opens them, with one builder; a device on the host's processors has a second runner. */
static void open_measure(Recorder *r, const char *programs, const char *target, const char *run_with)
{
	Err err = { 0 };
	Arena *a = r->arena;
	const bool device = target_has_blocks(&r->out.target);
	const bool on_host = device && !target_has_warps(&r->out.target);
	char *builder[] = { arena_printf(a, "%s/dlc", programs), "builder",
		arena_printf(a, "--target=%s", device ? target_json(a, &r->out.target) : target),
		arena_printf(a, "--threads=%d", r->out.target.threads), NULL };
	char *name = device ? arena_printf(a, "%s:0", target_kind_name(r->out.target.kind)) : "cpu";
	char *runner[WORDS + 4] = { NULL };
	int n = 0;
	for (char *w = strtok(arena_printf(a, "%s", run_with), " "); w != NULL && n < WORDS; w = strtok(NULL, " "))
		runner[n++] = w;
	runner[n++] = arena_printf(a, "%s/%s", programs, device ? "dlc-device-worker" : "dlc-worker");
	runner[n++] = "--stdio";
	if (device)
		runner[n++] = arena_printf(a, "--device=%s", name);
	const MeasureRunner child[] = { { .argv = runner, .name = name },
		{ .argv = runner, .name = name, .second = true } };
	MeasureOptions o = { .builder = builder,
		.runner = child,
		.runners = on_host ? 2 : 1,
		.builders = 1,
		.threads = r->out.target.threads,
		.device = device,
		.target = device && !on_host ? &r->out.target : NULL,
		.build_ms = METHOD_BUILD_MS,
		.run_ms = METHOD_RUN_MS + (device ? METHOD_DEVICE_BUILD_MS : 0),
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
	r.again = atof(option(argc, argv, "--again", "0.2"));
	r.steady = atof(option(argc, argv, "--steady", "0.1"));
	r.out.epoch = CODEGEN_EPOCH;
	r.out.machine = option(argc, argv, "--machine", "not said");
	r.out.network = option(argc, argv, "--network", "");
	r.out.cold_bytes = atoll(option(argc, argv, "--cold", "8388608"));
	if (!target_resolve(&r.out.target, target, atoi(option(argc, argv, "--threads", "1")), NULL, 0, &err) ||
		!file_read(r.arena, argv[1], 1 << 20, &file, &err))
		die(&err);
	Dag *dag = dag_parse(r.arena, argv[1], (const char *)file.at, file.n, &err);
	r.out.task = dag != NULL ? task_new(r.arena, dag, &err) : NULL;
	if (r.out.task == NULL)
		die(&err);
	if (!take_over(&r, argv[2]))
		list_space(&r, strcmp(option(argc, argv, "--space", "template"), "generated") == 0,
			atoi(option(argc, argv, "--draw", "1")), atoi(option(argc, argv, "--most", "1500")));
	open_measure(&r, option(argc, argv, "--programs", "build"), target, option(argc, argv, "--run-with", ""));
	r.end_ns = timing_wall_ns() + 1000000000u * (uint64_t)atoi(option(argc, argv, "--seconds", "3600"));
	bool all = measure_all(&r);
	measure_close(r.measure);
	say_noise(&r);
	recorded_print(&text, &r.out);
	if (!file_write(argv[2], text_str(&text), text.n, &err))
		die(&err);
	printf("%s: %s, %d of %.0f configs%s; %d of %d blocks did not count, begun anew %d "
		   "times; %s\n", argv[2], r.out.task->label, r.out.n,
		r.out.size, all ? "" : ", some without a time", r.refused, r.blocks, r.begun, r.out.noise);
	arena_free(r.arena);
	return all ? 0 : LEFT;
}
