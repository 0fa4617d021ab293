/*
 * The records of a session become the page that its run could have written. Records name neither the times of a
 * network nor what the cost model believed, so the page leaves these out. The default schedule of each Task is that of
 * this version, if the session has measured it.
 */
#include "api/database.h"

#include "codegen/codegen.h"
#include "cost_model/roof.h"
#include "op/steps.h"
#include "report/page.h"
#include "schedule/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Report {
	DlcDatabase *d;
	Arena *arena;
	Page page;
	Hash session;
	char hex[HASH_HEX]; /* of the session */
	VEC(RunRecord) run;
	double gflops, gbps; /* the most that the probe has reached in these runs; 0: not known */
	Target target;
	bool resolved; /* `target` is that of the runs */
	Err *err;
} Report;

/* ---- which session ---- */

typedef struct Newest {
	Db *db;
	int64_t started_s;
	Hash id;
	bool any;
} Newest;

static bool take_newest(const DbSession *s, void *arg)
{
	Newest *x = arg;
	Arena *a = arena_new();
	int64_t started = 0;
	const Record *r = db_record(x->db, s->id, NULL, a, NULL);
	if (r != NULL && json_int(r->json, "started_s", 0, RECORD_SECONDS, &started, NULL) &&
		(!x->any || started > x->started_s || (started == x->started_s && memcmp(&s->id, &x->id, sizeof s->id) > 0))) {
		x->started_s = started;
		x->id = s->id;
		x->any = true;
	}
	arena_free(a);
	return true;
}

static bool find_session(Report *x, const char *prefix)
{
	RecordName found;
	Newest newest = { .db = x->d->db };
	if (prefix != NULL) {
		if (!session_find_record(x->d->db, prefix, RECORD_SESSION, &found, x->err))
			return false;
		x->session = found.id;
	} else {
		if (!db_each_session(x->d->db, take_newest, &newest, x->err))
			return false;
		if (!newest.any)
			return fail(x->err, ERR_MISSING, x->d->path, "no session of the database has runs: tune first");
		x->session = newest.id;
	}
	hash_hex(x->session, x->hex);
	return true;
}

/* ---- its runs ---- */

/* Lines are only searched for the session's id: most are of others. */
static bool take_line(const char *line, size_t n, void *arg)
{
	Report *x = arg;
	if (memmem(line, n, x->hex, HASH_HEX - 1) == NULL)
		return true;
	Arena *a = arena_new();
	RunRecord run;
	if (record_read_run(a, line, n, &run) && memcmp(&run.session, &x->session, sizeof run.session) == 0)
		vec_push(x->arena, &x->run, ((RunRecord){ .id = run.id }));
	arena_free(a);
	return true;
}

static int by_number(const void *pa, const void *pb)
{
	const RunRecord *a = pa, *b = pb;
	return a->seq != b->seq ? (a->seq > b->seq) - (a->seq < b->seq) : memcmp(&a->id, &b->id, sizeof a->id);
}

/* Those that are not retracted, in the order in which they were measured. */
static bool read_runs(Report *x)
{
	DbSet set = { &x->d->db, 1 };
	size_t n = 0;
	if (!db_export(x->d->db, take_line, x, x->err))
		return false;
	for (size_t i = 0; i < x->run.n; i++) {
		bool gone = false;
		const RunRecord *run = db_run(set, x->run.at[i].id, x->arena, x->err);
		if (run == NULL || !db_retracted(set, run->id, run->own, &gone, x->err))
			return false;
		x->gflops = fmax(x->gflops, (double)run->probe_mflops / 1000);
		x->gbps = fmax(x->gbps, (double)run->probe_mbps / 1000);
		if (!gone)
			x->run.at[n++] = *run;
	}
	x->run.n = n;
	if (n == 0)
		return fail(x->err, ERR_MISSING, x->hex, "the session has no runs that count");
	qsort(x->run.at, n, sizeof *x->run.at, by_number);
	return true;
}

/* ---- events ---- */

static const char *text_of(const Json *o, const char *key)
{
	const char *text;
	return o != NULL && json_str(o, key, &text, NULL) ? text : "";
}

static int64_t number_of(const Json *o, const char *key)
{
	int64_t v = 0;
	return o != NULL && json_int(o, key, INT64_MIN, INT64_MAX, &v, NULL) ? v : 0;
}

static void add(Report *x, Event e)
{
	e.at_s = NAN; /* records do not say when */
	page_add(&x->page, &e);
}

static bool add_session(Report *x)
{
	const RunRecord *first = &x->run.at[0];
	const Record *s = db_record(x->d->db, x->session, NULL, x->arena, x->err);
	const Record *env = s != NULL ? db_record(x->d->db, first->env, NULL, x->arena, x->err) : NULL;
	if (env == NULL)
		return false;
	const char *device = text_of(env->json, "device"), *driver = text_of(env->json, "driver");
	add(x,
		(Event){ .kind = EVENT_SESSION,
			.session = x->session,
			.tool = text_of(s->json, "tool"),
			.model = text_of(s->json, "model"),
			.target = database_target_name(x->d->db, first->target, x->arena),
			.machine = arena_printf(x->arena, "%s%s%s", device, device[0] != 0 && driver[0] != 0 ? ", " : "", driver),
			.search = text_of(s->json, "search"),
			.seed = number_of(s->json, "seed"),
			.started_s = number_of(s->json, "started_s"),
			.peak_gflops = x->gflops,
			.read_gbps = x->gbps });
	return true;
}

/* The trace that this version takes by default; zeros: it is not known. */
static Hash default_of(const Report *x, const Task *task, Arena *a)
{
	Hash none = { { 0 } };
	Space *space = x->resolved ? space_new(a, task, &x->target, NULL) : NULL;
	Trace *first = space != NULL ? space_trace(space, &space->first, a, NULL) : NULL;
	Text text = { .arena = a };
	if (first != NULL)
		trace_print(&text, first);
	return first != NULL ? steps_hash(text_str(&text)) : none;
}

static void add_task(Report *x, Hash workload)
{
	Arena *a = arena_new();
	Task *task;
	const Roof machine = { .gflops = x->gflops, .gbps = x->gbps, .bits = F32.bits };
	const char *label = database_label(x->d->db, workload, a, &task);
	Event e = { .kind = EVENT_TASK, .task = workload, .op = label, .weight = 1 };
	if (task != NULL) {
		e.flops = task->flops;
		e.bytes = task->bytes;
		e.roof_ms = roof_ns(task, &machine) / 1e6;
	}
	add(x, e);
	if (task != NULL)
		add(x,
			(Event){ .kind = EVENT_PROPOSED, .task = workload, .trace = default_of(x, task, a), .source = "default" });
	arena_free(a);
}

static void add_tasks(Report *x)
{
	VEC(Hash) seen = { 0 };
	for (size_t i = 0; i < x->run.n; i++) {
		size_t k = 0;
		while (k < seen.n && memcmp(&seen.at[k], &x->run.at[i].workload, sizeof(Hash)) != 0)
			k++;
		if (k < seen.n)
			continue;
		vec_push(x->arena, &seen, x->run.at[i].workload);
		add_task(x, x->run.at[i].workload);
	}
}

static void add_run(Report *x, const RunRecord *run)
{
	add(x, (Event){ .kind = EVENT_MEASURED,
			   .task = run->workload,
			   .trace = steps_hash(run->trace),
			   .record = run->id,
			   .seq = run->seq,
			   .status = run_status_text(run->status),
			   .stage = run->status == RUN_OK ? run_stage_text(run_stage(run)) : "",
			   .median_ns = run->status == RUN_OK ? run->median_ns : 0,
			   .spread_ns = run->mad_ns,
			   .samples = run->samples,
			   .detail = run->detail });
}

/* ---- together ---- */

static bool write_page(DlcDatabase *d, const char *session, DlcLineEach take, void *arg, Err *err)
{
	Report x = { .d = d, .arena = session_view(d->session, &d->view, "d", err), .err = err };
	x.page.rows.arena = x.arena;
	Text page = { .arena = x.arena };
	if (x.arena == NULL || !find_session(&x, session) || !read_runs(&x))
		return false;
	DlcTarget name = { .name = database_target_form(d->db, x.run.at[0].target, x.arena),
		.threads = database_threads(d->db, x.run.at[0].target, x.arena) };
	x.resolved = name.name != NULL && session_target(d->session, &name, false, &x.target, NULL);
	if (!add_session(&x))
		return false;
	add_tasks(&x);
	for (size_t i = 0; i < x.run.n; i++)
		add_run(&x, &x.run.at[i]);
	page_write(&page, &x.page, PAGE_OF_RECORDS);
	take(text_str(&page), page.n, arg);
	return true;
}

DlcFault dlc_database_report(DlcDatabase *d, const char *session, DlcLineEach take, void *arg, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(take));
	API_CALL(d->session, why, write_page(d, session, take, arg, err));
}
