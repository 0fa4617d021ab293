/*
 * Records are claims, and this file tries them. The best run of each task (or every run) is replayed from its trace,
 * compiled, run in children and compared with the oracle, as while tuning. Runs of other machines are only counted.
 */
#include "api/database.h"

#include "codegen/codegen.h"
#include "cost_model/roof.h"
#include "schedule/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A run to be tried: what is needed of it, read before the children start. */
typedef struct Claim {
	Hash id, workload, target;
	int64_t cold_bytes; /* of the session */
	const char *trace;
	int64_t ns;
	int against; /* sessions in which it failed */
} Claim;

typedef struct Verify {
	DlcSession *session;
	DlcVerify *v;
	Db *db;
	Arena *arena;
	char task[DLC_ID]; /* "": all */
	VEC(Claim) run;
	bool left;   /* the callback has said so */
	Hash opened; /* the target that the session's children are for */
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
	return r != NULL && json_find(r->json, "cold_bytes") != NULL &&
	               json_int(r->json, "cold_bytes", 0, RECORD_COLD, &bytes, NULL)
	           ? bytes
	           : 0;
}

static void take(Verify *v, const RunRecord *run, int64_t ns, int against)
{
	if (record_verified(run)) {
		Claim t = { run->id, run->workload, run->target, cold_bytes(v, run->session),
			arena_printf(v->arena, "%s", run->trace), ns, against };
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

/* A schedule that ran in one session and failed in another is tried, whether it would be chosen or not. */
static bool take_disputed(Verify *v, const DbTask *t, const DbChoice *best, int n)
{
	DbKey key = { .workload = t->workload, .target = t->target, .epoch = CODEGEN_EPOCH, .whose = DB_DISPUTED };
	DbChoice c[METHOD_VERIFY_DISPUTED];
	int found;
	if (!db_rank((DbSet){ &v->db, 1 }, &key, c, METHOD_VERIFY_DISPUTED, &found, v->arena, v->err))
		return false;
	for (int i = 0; i < found; i++)
		if (c[i].against > 0 && (n == 0 || strcmp(c[i].run.trace, best->run.trace) != 0))
			take(v, &c[i].run, c[i].ns, c[i].against);
	return true;
}

static bool take_task(const DbTask *t, void *arg)
{
	Verify *v = arg;
	char hex[HASH_HEX];
	DbChoice best;
	int epoch;
	hash_hex(t->workload, hex);
	if (strncmp(hex, v->task, strlen(v->task)) != 0 || !database_ran(t))
		return true;
	if (v->v->all)
		return db_each_verified(v->db, t->workload, t->target, take_run, v, v->err);
	/* A claim of 1 ns is no hit for anybody, but the best there is: it is tried as well. */
	DbKey key = { .workload = t->workload, .target = t->target, .epoch = CODEGEN_EPOCH };
	int n = 0;
	if (!db_rank((DbSet){ &v->db, 1 }, &key, &best, 1, &n, v->arena, v->err))
		return false;
	if (!take_disputed(v, t, &best, n))
		return false;
	if (n == 0 && !database_best(v->db, t, &best, &epoch, v->arena, v->err))
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

/* The named target with so many threads, if its code runs here. */
static bool open_target(Verify *v, int threads, Err *err)
{
	return session_measured_target(
		v->session, &(DlcTarget){ .name = v->v->target, .threads = threads }, &v->target, err);
}

/* The children for a run's target and the reference of its task; false: v->err, or *why. */
static bool prepare(Verify *v, const Claim *t, const char **why)
{
	*why = NULL;
	if (v->session->call->measure == NULL || memcmp(&v->opened, &t->target, sizeof t->target) != 0) {
		DlcTarget name = { .name = v->v->target, .threads = v->target.threads };
		ChildOptions o = { .name = &name, .target = &v->target, .jobs = 1, .run_ms = METHOD_VERIFY_MS };
		v->ref = NULL;
		if (!session_open_children(v->session, &o, v->err))
			return false;
		v->opened = t->target;
	}
	if (v->ref != NULL && memcmp(&v->ref_of, &t->workload, sizeof t->workload) == 0)
		return true;
	database_label(v->db, t->workload, v->arena, &v->task_now);
	v->ref = NULL;
	v->ref_of = t->workload;
	if (v->task_now == NULL)
		*why = "its workload cannot be read by this version";
	else
		v->ref = measure_reference(v->session->call->measure, v->task_now, 1, v->err);
	return v->ref != NULL;
}

/* ---- trying */

/* What became of a run: RUN_OK, or *detail says why not; cold_bytes: as of measure_cold. False: v->err. */
static bool try_run(Verify *v, const Claim *t, int64_t cold_bytes, Arena *a, MeasureResult *out)
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
	measure_cold(v->session->call->measure, cold_bytes);
	if (!measure_submit(v->session->call->measure, &job, v->err))
		return false;
	while (!measure_wait(v->session->call->measure, 200, out))
		if (v->session->stop != 0)
			return fail(v->err, ERR_INTERRUPTED, "dlc db verify", "interrupted after %lld of %lld runs",
				(long long)(v->v->good + v->v->bad), (long long)v->run.n);
	return true;
}

static bool give(Verify *v, const Claim *t, const MeasureResult *m, bool fits)
{
	DlcVerdict row = { .label = v->task_now != NULL ? v->task_now->label : "?",
		.status = run_status_text(m->status),
		.detail = m->detail,
		.good = fits,
		.recorded_ns = t->ns,
		.median_ns = m->median_ns,
		.max_err_e9 = m->max_err_e9,
		.against = t->against };
	hash_hex(t->id, row.record);
	hash_hex(t->workload, row.task);
	v->left = v->v->each != NULL && v->v->each(&row, v->v->arg) != 0;
	return !v->left;
}

/*
 * A time is a claim like the rest. One that is too long wins nothing that it should not: other work slowed the machine
 * while it was recorded.
 */
static bool time_fits(const Verify *v, const Claim *t, MeasureResult *m)
{
	if (m->median_ns <= t->ns * METHOD_VERIFY_APART ||
		(m->median_ns <= t->ns + METHOD_VERIFY_SLACK_NS && t->ns >= roof_floor_ns(v->task_now, &v->target)))
		return true;
	snprintf(m->detail, sizeof m->detail, "takes %.6f ms, recorded were %.6f",
		(double)m->median_ns / 1e6, (double)t->ns / 1e6);
	return false;
}

/* Again with all in the caches: how much of a last cache a machine has to itself was perhaps more when recorded. */
static bool try_until_it_fits(Verify *v, const Claim *t, MeasureResult *m, bool *fits)
{
	*fits = false;
	static const struct timespec pause = { METHOD_VERIFY_PAUSE_MS / 1000, METHOD_VERIFY_PAUSE_MS % 1000 * 1000000 };
	for (int i = 0; i < METHOD_VERIFY_TRIES && !*fits && (i == 0 || m->status == RUN_OK); i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		Arena *a = arena_new();
		bool ok = try_run(v, t, i == 0 ? t->cold_bytes : 0, a, m);
		arena_free(a);
		if (!ok)
			return false;
		*fits = m->status == RUN_OK && time_fits(v, t, m);
	}
	return true;
}

static bool verify_run(Verify *v, const Claim *t)
{
	MeasureResult m;
	bool fits, ok;
	if (!try_until_it_fits(v, t, &m, &fits))
		return false;
	if (m.status == RUN_DEVICE_LOST || m.status == RUN_CANCELLED)
		return fail(v->err, ERR_DEVICE, "dlc db verify", "the children cannot run: %s", m.detail);
	bool more = give(v, t, &m, fits);
	v->v->good += fits;
	v->v->bad += !fits;
	if (fits || !v->v->retract)
		return more;
	Arena *reason = arena_new();
	const char *text = arena_printf(reason, "verify: %s: %.200s", run_status_text(m.status), m.detail);
	ok = db_put_retraction(v->db, t->id, text, v->err);
	arena_free(reason);
	v->v->retracted += ok;
	return ok && more;
}

static bool verify_all(Verify *v)
{
	Hash last = { { 0 } };
	bool here = false;
	for (size_t i = 0; i < v->run.n; i++) {
		const Claim *t = &v->run.at[i];
		if (i == 0 || memcmp(&last, &t->target, sizeof last) != 0) {
			/* Whether it is the named target with the threads of the record. */
			int threads = database_threads(v->db, t->target, v->arena);
			here = threads >= 1 && open_target(v, threads, NULL);
			Hash mine = here ? target_id(&v->target) : last;
			here = here && memcmp(&mine, &t->target, sizeof mine) == 0;
		}
		last = t->target;
		if (!here)
			v->v->elsewhere++;
		else if (!verify_run(v, t))
			return false;
	}
	return true;
}

static bool verify(Arena *a, DlcDatabase *d, DlcVerify *o, Err *err)
{
	RecordName found;
	Verify *v = arena_new_of(a, Verify);
	*v = (Verify){ .session = d->session, .v = o, .db = d->db, .arena = a, .err = err };
	if (!open_target(v, 1, err))
		return false;
	if (o->task != NULL) {
		if (!session_find_record(d->db, o->task, RECORD_WORKLOAD, &found, err))
			return false;
		hash_hex(found.id, v->task);
	}
	bool ok = db_each_task(d->db, take_task, v, err) && err->code == ERR_NONE && verify_all(v);
	session_close_children(d->session);
	return ok || (v->left && err->code == ERR_NONE);
}

/* In an arena of its own: the callback may ask for records, which fill the database's view. */
static bool open_and_verify(DlcDatabase *d, DlcVerify *o, Err *err)
{
	Arena *a = arena_new();
	bool ok = verify(a, d, o, err);
	arena_free(a);
	return ok;
}

DlcFault dlc_database_verify(DlcDatabase *d, DlcVerify *v, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(v));
	v->good = v->bad = v->retracted = v->elsewhere = 0;
	API_CALL(d->session, why, open_and_verify(d, v, err));
}
