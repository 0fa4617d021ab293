/*
 * dlc db verify: records are claims; this tries them. The best run of each task (or every run) is replayed
 * from its trace, compiled, run in children and compared with the oracle, as while tuning. Another
 * machine's runs cannot be tried here and are counted. With --retract what is wrong is retracted.
 */
#include "cli/cmd_db.h"
#include "cli/model.h"
#include "cli/folders.h"
#include "codegen/codegen.h"
#include "cost_model/roof.h"
#include "measure/measure.h"
#include "schedule/space.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* A run to be tried: what is needed of it, read before the children start. */
typedef struct Tried {
	Hash id, workload, target;
	int64_t cold_bytes; /* of the session */
	const char *trace;
	int64_t ns;
	int against; /* sessions in which it failed */
} Tried;

typedef struct Verify {
	const Args *args;
	Db *db;
	Arena *arena;
	const char *task; /* prefix */
	bool all;
	VEC(Tried) run;
	int64_t good, bad, elsewhere, retracted;
	Measure *measure; /* for `opened` */
	Hash opened;
	Target target;
	Hash ref_of; /* the workload that ref and task_now are of */
	MeasureRef *ref;
	Task *task_now;
	Err *err;
} Verify;

/* ---- which runs */

/* As cold as its session has found the caches. */
static int64_t cold_bytes(Verify *v, Hash session)
{
	int64_t bytes = 0;
	const Record *r = db_record(v->db, session, NULL, v->arena, NULL);
	return r != NULL && json_find(r->json, "cold_bytes") != NULL && json_int(r->json, "cold_bytes", 0, RECORD_COLD, &bytes, NULL) ? bytes : 0;
}

static void take(Verify *v, const RunRecord *run, int64_t ns, int against)
{
	if (record_verified(run)) {
		Tried t = { run->id, run->workload, run->target, cold_bytes(v, run->session), arena_printf(v->arena, "%s", run->trace), ns, against };
		vec_push(v->arena, &v->run, t);
	}
}

/* Times inside a network are not those of a schedule alone, which is how it is tried. */
static bool take_run(const RunRecord *run, void *arg)
{
	if (run_stage(run) != STAGE_NETWORK)
		take(arg, run, run->median_ns, 0);
	return true;
}

/* What ran in one session and failed in another cannot be true in both: it is tried whether it would be chosen or not. */
static bool take_disputed(Verify *v, const DbTask *t, const DbChoice *best, int n)
{
	enum { DISPUTED = 16 };
	DbKey key = { .workload = t->workload, .target = t->target, .epoch = CODEGEN_EPOCH, .whose = DB_DISPUTED };
	DbChoice c[DISPUTED];
	int found;
	if (!db_rank((DbSet){ &v->db, 1 }, &key, c, DISPUTED, &found, v->arena, v->err))
		return false;
	for (int i = 0; i < found; i++)
		if (c[i].against > 0 && (n == 0 || strcmp(c[i].run.trace, best->run.trace) != 0))
			take(v, &c[i].run, c[i].ns, c[i].against);
	return true;
}

static bool take_task(const DbTask *t, void *arg)
{
	Verify *v = arg;
	static const Hash none;
	char hex[HASH_HEX];
	DbChoice best;
	int epoch;
	hash_hex(t->workload, hex);
	if (strncmp(hex, v->task, strlen(v->task)) != 0 || memcmp(&t->target, &none, sizeof none) == 0)
		return true;
	if (v->all)
		return db_each_verified(v->db, t->workload, t->target, take_run, v, v->err);
	/* A claim of 1 ns is no hit for anybody, but the best there is: it is tried as well. */
	DbKey key = { .workload = t->workload, .target = t->target, .epoch = CODEGEN_EPOCH };
	int n = 0;
	if (!db_rank((DbSet){ &v->db, 1 }, &key, &best, 1, &n, v->arena, v->err))
		return false;
	if (!take_disputed(v, t, &best, n))
		return false;
	if (n == 0 && !db_best_any(v->db, t, &best, &epoch, v->arena, v->err))
		return v->err->code == ERR_NONE;
	DbChoice alone;
	bool there;
	key.epoch = n > 0 ? CODEGEN_EPOCH : epoch;
	key.alone = true;
	if (!db_of_trace((DbSet){ &v->db, 1 }, &key, best.run.trace, &alone, &there, v->arena, v->err))
		return false;
	best = there ? alone : best;
	take(v, &best.run, best.ns, best.against);
	return true;
}

/* ---- children */

/* --target with so many threads, if its code runs here. */
static bool open_target(Verify *v, int threads, Err *err)
{
	Target host;
	size_t n;
	const char *const *dirs = place_targets(v->arena, &n);
	target_host(&host, 1);
	return target_resolve(&v->target, args_text(v->args, "target", "host"), threads, dirs, n, err) &&
		target_runs_on(&v->target, &host, err);
}

/* Whether a record's target is --target with the threads of the record. */
static bool target_here(Verify *v, Hash id)
{
	int threads = db_target_threads(v->db, id, v->arena);
	if (threads < 1 || !open_target(v, threads, NULL))
		return false;
	Hash mine = target_id(&v->target);
	return memcmp(&mine, &id, sizeof id) == 0;
}

static bool open_children(Verify *v)
{
	Arena *a = v->arena;
	const char *programs = place_programs(a);
	char **builder = arena_array(a, char *, 5), **runner = arena_array(a, char *, 3);
	builder[0] = arena_printf(a, "%s/dlc", programs);
	builder[1] = arena_printf(a, "builder");
	builder[2] = arena_printf(a, "--target=%s", args_text(v->args, "target", "host"));
	builder[3] = arena_printf(a, "--threads=%d", v->target.threads);
	runner[0] = arena_printf(a, "%s/dlc-worker", programs);
	runner[1] = arena_printf(a, "--stdio");
	MeasureOptions o = { .builder = builder,
		.runner = runner,
		.builders = 1,
		.threads = v->target.threads,
		.build_ms = 20000,
		.run_ms = 20000,
		.tolerance = 1e-4,
		.stop = &stopped };
	measure_close(v->measure);
	v->ref = NULL;
	v->measure = measure_open(&o, v->err);
	return v->measure != NULL;
}

/* The children for a run's target and the reference of its task; false: v->err, or *why. */
static bool prepare(Verify *v, const Tried *t, const char **why)
{
	*why = NULL;
	if (v->measure == NULL || memcmp(&v->opened, &t->target, sizeof t->target) != 0) {
		if (!open_children(v))
			return false;
		v->opened = t->target;
	}
	if (v->ref != NULL && memcmp(&v->ref_of, &t->workload, sizeof t->workload) == 0)
		return true;
	db_label(v->db, t->workload, v->arena, &v->task_now);
	v->ref = NULL;
	v->ref_of = t->workload;
	if (v->task_now == NULL)
		*why = "its workload cannot be read by this version";
	else
		v->ref = measure_reference(v->measure, v->task_now, 1, v->err);
	return v->ref != NULL;
}

/* ---- trying */

/* What became of a run: RUN_OK, or *detail says why not. False: v->err. */
static bool try_run(Verify *v, const Tried *t, Arena *a, MeasureResult *out)
{
	Err why = { 0 };
	const char *refused;
	*out = (MeasureResult){ .status = RUN_CONSTRAINT, .max_err_e9 = -1 };
	if (!prepare(v, t, &refused)) {
		if (refused != NULL)
			snprintf(out->detail, sizeof out->detail, "%s", refused);
		return refused != NULL;
	}
	Trace *trace = trace_parse(a, "trace", t->trace, strlen(t->trace), &why);
	KernelSet *ks = trace != NULL ? schedule_replay(ir_new(a), v->task_now, &v->target, trace, &why) : NULL;
	if (ks == NULL) {
		snprintf(out->detail, sizeof out->detail, "%.40s: %.110s", why.place, why.text);
		return true;
	}
	MeasureJob job = { .ks = ks, .trace = t->trace, .ref = v->ref, .keep = true };
	measure_cold(v->measure, t->cold_bytes);
	if (!measure_submit(v->measure, &job, v->err))
		return false;
	while (!measure_wait(v->measure, 200, out))
		if (stopped != 0)
			return fail(v->err, ERR_INTERRUPTED, "dlc db verify", "interrupted after %lld of %lld runs",
				(long long)(v->good + v->bad), (long long)v->run.n);
	return true;
}

static void print_result(Verify *v, const Tried *t, const MeasureResult *m, bool fits)
{
	Arena *a = arena_new();
	char run[HASH_HEX], workload[HASH_HEX];
	const char *label = v->task_now != NULL ? v->task_now->label : "?";
	hash_hex(t->id, run);
	hash_hex(t->workload, workload);
	if (args_given(v->args, "json")) {
		Text out = { .arena = a };
		Json *o = json_new(a, JV_OBJECT);
		json_set(a, o, "record", json_new_text(a, run));
		json_set(a, o, "workload", json_new_text(a, workload));
		json_set(a, o, "op", json_new_text(a, label));
		json_set(a, o, "good", json_new_bool(a, fits));
		json_set(a, o, "status", json_new_text(a, run_status_text(m->status)));
		json_set(a, o, "max_err_e9", json_new_int(a, m->max_err_e9));
		json_set(a, o, "recorded_ns", json_new_int(a, t->ns));
		json_set(a, o, "median_ns", json_new_int(a, m->median_ns));
		json_set(a, o, "detail", json_new_text(a, m->detail));
		json_write(&out, o);
		puts(text_str(&out));
	} else if (fits) {
		printf("good   %.12s  %-38.38s %9.4f ms, recorded %9.4f", run, label, (double)m->median_ns / 1e6, (double)t->ns / 1e6);
		if (t->against > 0)
			printf("; %d session%s saw it fail", t->against, t->against == 1 ? "" : "s");
		putchar('\n');
	} else {
		printf("WRONG  %.12s  %-38.38s %s: %s\n", run, label, run_status_text(m->status), m->detail);
	}
	fflush(stdout);
	arena_free(a);
}

/*
 * A time is a claim like the rest: of two states of one machine neither is twice as fast. Below SLACK_NS cold caches and
 * the clock weigh more than the kernel.
 */
static bool time_fits(const Verify *v, const Tried *t, MeasureResult *m)
{
	enum { APART = 2, SLACK_NS = 2000 };
	bool near = m->median_ns <= t->ns * APART && t->ns <= m->median_ns * APART;
	if (near || (llabs((long long)(m->median_ns - t->ns)) <= SLACK_NS && t->ns >= roof_floor_ns(v->task_now, &v->target)))
		return true;
	snprintf(m->detail, sizeof m->detail, "takes %.6f ms, recorded were %.6f",
		(double)m->median_ns / 1e6, (double)t->ns / 1e6);
	return false;
}

/* What other work on the machine does to one measurement it does not do to each of three. */
static bool try_until_it_fits(Verify *v, const Tried *t, MeasureResult *m, bool *fits)
{
	enum { TRIES = 3 };
	*fits = false;
	for (int i = 0; i < TRIES && !*fits && (i == 0 || m->status == RUN_OK); i++) {
		Arena *a = arena_new();
		bool ok = try_run(v, t, a, m);
		arena_free(a);
		if (!ok)
			return false;
		*fits = m->status == RUN_OK && time_fits(v, t, m);
	}
	return true;
}

static bool verify_run(Verify *v, const Tried *t)
{
	MeasureResult m;
	bool fits, ok;
	if (!try_until_it_fits(v, t, &m, &fits))
		return false;
	if (m.status == RUN_DEVICE_LOST || m.status == RUN_CANCELLED)
		return fail(v->err, ERR_DEVICE, "dlc db verify", "the children cannot run: %s", m.detail);
	print_result(v, t, &m, fits);
	v->good += fits;
	v->bad += !fits;
	if (fits || !args_given(v->args, "retract"))
		return true;
	Arena *reason = arena_new();
	const char *text = arena_printf(reason, "verify: %s: %.200s", run_status_text(m.status), m.detail);
	ok = db_put_retraction(v->db, t->id, text, v->err);
	arena_free(reason);
	v->retracted += ok;
	return ok;
}

static bool verify_all(Verify *v)
{
	Hash last = { { 0 } };
	bool here = false;
	for (size_t i = 0; i < v->run.n; i++) {
		const Tried *t = &v->run.at[i];
		if (i == 0 || memcmp(&last, &t->target, sizeof last) != 0)
			here = target_here(v, t->target);
		last = t->target;
		if (!here)
			v->elsewhere++;
		else if (!verify_run(v, t))
			return false;
	}
	return true;
}

static bool run_verify(const Args *args, Err *err)
{
	Verify v = { .args = args, .arena = args_arena(args), .task = "", .all = args_given(args, "all"), .err = err };
	RecordName found;
	char hex[HASH_HEX];
	struct sigaction stop = { .sa_handler = on_stop };
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	if (!open_target(&v, 1, err))
		return false;
	v.db = db_operand(args, args_given(args, "retract") ? DB_WRITE : DB_READ, err);
	bool ok = v.db != NULL;
	if (ok && args_operand(args, 1) != NULL) {
		ok = db_find_one(v.db, args_operand(args, 1), RECORD_WORKLOAD, &found, err);
		if (ok)
			hash_hex(found.id, hex);
		v.task = hex;
	}
	ok = ok && db_each_task(v.db, take_task, &v, err) && err->code == ERR_NONE && verify_all(&v);
	measure_close(v.measure);
	db_close(v.db);
	if (!ok)
		return false;
	fprintf(args_given(args, "json") ? stderr : stdout, "%lld good, %lld wrong, %lld retracted, %lld for other targets\n",
		(long long)v.good, (long long)v.bad, (long long)v.retracted, (long long)v.elsewhere);
	return v.bad == v.retracted ||
		fail(err, ERR_INPUT, "", "%lld run%s not what the database says; --retract takes them out", (long long)v.bad,
			v.bad == 1 ? " is" : "s are");
}

static const Option options[] = {
	OPTION_TARGET,
	{ .name = "all", .kind = OPT_FLAG, .help = "every verified run, not only the best of each task" },
	{ .name = "retract", .kind = OPT_FLAG, .help = "retract the runs that are wrong" },
	OPTION_JSON,
	OPTION_END,
};

const Verb db_verify_verb = { .name = "verify",
	.summary = "Try records: replay, compile, run and compare with the oracle",
	.operands = "[DB [TASK]]", .least = 0, .most = 2, .options = options, .run = run_verify };
