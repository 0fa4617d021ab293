/* Databases: opening, rows, records, lines in and out. See dlc/dlc_database.h. */
#include "api/database.h"

#include "base/json.h"
#include "codegen/codegen.h"
#include "cost_model/roof.h"
#include "db/logs.h"
#include "db/look.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- opening ---- */

/* This user's key; `make`: something will be stored, so a key is made where there is none. */
static bool load_owner(DlcSession *s, Arena *a, bool make, DbOwner *out)
{
	Err err = { 0 };
	const char *path = s->folders.key;
	if (path != NULL ? (!make || folders_make(a, path, &err)) && db_owner_load(path, make, out, &err)
			 : fail(&err, ERR_DEVICE, "session", "names no file for a key"))
		return true;
	if (make)
		session_note(arena_printf(a, "later commands will treat the records of this one as another user's, since this "
			"user has no key: %s: %s", err.place, err.text), s);
	return false;
}

/* A folder of logs: its index lies in the user's cache, and what is written says by whom. */
static Db *open_folder(DlcSession *s, Arena *a, const char *path, bool write, Err *err)
{
	DbOwner owner;
	DbLogs how = { .program = "dlc " DLC_VERSION, .command = s->command, .now_s = (int64_t)time(NULL) };
	if (load_owner(s, a, false, &owner))
		how.owner = &owner;
	if (s->folders.cache != NULL) {
		how.cache = arena_printf(a, "%s/logs", s->folders.cache);
		folders_make(a, arena_printf(a, "%s/", how.cache), NULL); /* else the index is in memory */
	}
	if (write) {
		char text[TARGET_TEXT];
		Target t;
		target_host(&t, 1);
		target_text(&t, text);
		how.machine = arena_printf(a, "%.*s%s%s", (int)strcspn(text, " "), text, t.brand[0] != 0 ? ", " : "", t.brand);
	}
	return db_open_logs(path, write ? DB_WRITE : DB_READ, &how, err);
}

static bool open_in(DlcSession *s, Arena *a, const char *path, DlcMode mode, DlcDatabase **out, Err *err)
{
	bool user = path == NULL, write = mode == DLC_WRITE;
	if (user && s->folders.database == NULL)
		return fail(err, ERR_USAGE, "path", "is NULL, and the session has no database either: name one");
	path = arena_printf(a, "%s", user ? s->folders.database : path);
	if (user && write && !folders_make(a, path, err))
		return false;
	DlcDatabase *d = arena_new_of(a, DlcDatabase);
	bool folder = db_is_folder(path);
	*d = (DlcDatabase){ .session = s, .arena = a, .path = path };
	d->db = folder ? open_folder(s, a, path, write, err) : db_open(path, write ? DB_WRITE : DB_READ, err);
	if (d->db == NULL)
		return false;
	DbOwner owner;
	if (load_owner(s, a, write, &owner))
		db_own(d->db, &owner);
	if (db_note(d->db) != NULL)
		session_note(db_note(d->db), s);
	*out = d;
	return true;
}

static bool open_database(DlcSession *s, const char *path, DlcMode mode, DlcDatabase **out, Err *err)
{
	Arena *a = arena_new();
	bool ok = open_in(s, a, path, mode, out, err);
	if (!ok)
		arena_free(a);
	return ok;
}

DlcFault dlc_database_open(DlcSession *s, const char *path, DlcMode mode, DlcDatabase **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(s), { "mode", true, &mode, api_mode });
	API_CALL(s, why, open_database(s, path, mode, out, err));
}

void dlc_database_close(DlcDatabase *d)
{
	if (d == NULL)
		return;
	db_close(d->db);
	arena_free(d->view);
	arena_free(d->arena);
}

const char *dlc_database_path(const DlcDatabase *d)
{
	return d != NULL ? d->path : NULL;
}

const char *dlc_session_database(const DlcSession *s, int *named)
{
	if (named != NULL)
		*named = s != NULL && s->folders.database_said;
	return s != NULL ? s->folders.database : NULL;
}

const char *dlc_session_shipped(const DlcSession *s)
{
	DbLogCount n = { 0 };
	if (s != NULL && s->folders.shipped != NULL)
		db_count_logs(s->folders.shipped, &n);
	return n.segments > 0 ? s->folders.shipped : NULL;
}

/* ---- what people call things ---- */

static void put_id(char out[DLC_ID], Hash h)
{
	hash_hex(h, out);
}

const char *database_label(Db *db, Hash workload, Arena *a, Task **task)
{
	const char *dag;
	const Record *r = db_record(db, workload, NULL, a, NULL);
	Task *t = r != NULL && json_str(r->json, "dag", &dag, NULL) ? task_parse(a, dag, strlen(dag), NULL) : NULL;
	if (task != NULL)
		*task = t;
	return t != NULL ? t->label : "?";
}

int database_threads(Db *db, Hash target, Arena *a)
{
	int64_t threads = 0;
	const Record *r = db_record(db, target, NULL, a, NULL);
	return r != NULL && json_int(r->json, "threads", 1, TEAM_MAX, &threads, NULL) ? (int)threads : 0;
}

const char *database_target_name(Db *db, Hash target, Arena *a)
{
	const char *type, *model;
	const Record *r = db_record(db, target, NULL, a, NULL);
	if (r == NULL || !json_str(r->json, "type", &type, NULL) || !json_str(r->json, "model", &model, NULL))
		return "-";
	return arena_printf(a, "%.16s:%.32s t%d", text_printable(a, type, ""), text_printable(a, model, ""),
		database_threads(db, target, a));
}

const char *database_target_form(Db *db, Hash target, Arena *a)
{
	static const char *const key[][2] = { { "kind", "type" }, { "model", "model" }, { "features", "features" } };
	const Record *r = db_record(db, target, NULL, a, NULL);
	Text out = { .arena = a };
	for (size_t k = 0; r != NULL && k < 3; k++) {
		const Json *v = json_find(r->json, key[k][1]);
		if (v == NULL)
			return NULL;
		text_add(&out, "%s\"%s\":", k == 0 ? "{" : ",", key[k][0]);
		json_write(&out, v);
	}
	text_add(&out, "}");
	return r != NULL ? text_str(&out) : NULL;
}

bool database_ran(const DbTask *t)
{
	static const Hash none;
	return memcmp(&t->target, &none, sizeof none) != 0;
}

bool database_best(Db *db, const DbTask *t, DbChoice *out, int *epoch, Arena *a, Err *err)
{
	enum { EPOCHS = 8 };
	int known[EPOCHS + 1] = { CODEGEN_EPOCH }, n, found = 0;
	/* What the target could do is not asked here. */
	DbKey key = { .workload = t->workload, .target = t->target, .floor_ns = ROOF_LEAST_NS };
	DbSet set = { &db, 1 };
	if (!db_epochs(set, t->workload, t->target, CODEGEN_EPOCH, known + 1, EPOCHS, &n, err))
		return false;
	for (int i = 0; i <= n && found == 0; i++) {
		key.epoch = *epoch = known[i];
		if (!db_rank(set, &key, out, 1, &found, a, err))
			return false;
	}
	return found != 0;
}

/* ---- tasks ---- */

typedef struct Walk {
	DlcDatabase *d;
	char prefix[DLC_ID];
	DlcTaskEach task;
	DlcRunEach run;
	DlcSessionEach session;
	DlcLineEach line;
	void *arg;
	Err *err;
} Walk;

static DlcBest best_of(const DbChoice *c, int epoch)
{
	DlcBest b = { .trace = c->run.trace,
		.ns = c->ns,
		.runs = c->runs,
		.sessions = c->sessions,
		.samples = c->run.samples,
		.status = run_status_text(c->run.status),
		.verified = record_verified(&c->run),
		.own = c->own,
		.epoch = epoch,
		.stale = epoch != CODEGEN_EPOCH };
	put_id(b.record, c->run.id);
	put_id(b.session, c->run.session);
	return b;
}

static bool give_task(const DbTask *t, void *arg)
{
	Walk *w = arg;
	DlcTaskRow row = { .runs = t->runs, .ok = t->ok, .sessions = t->sessions };
	put_id(row.id, t->workload);
	if (strncmp(row.id, w->prefix, strlen(w->prefix)) != 0)
		return true;
	Arena *a = arena_new();
	DbChoice c = { 0 };
	DlcBest best;
	int epoch = 0;
	if (database_ran(t) && database_best(w->d->db, t, &c, &epoch, a, w->err)) {
		best = best_of(&c, epoch);
		row.best = &best;
	}
	row.label = database_label(w->d->db, t->workload, a, NULL);
	row.target = database_ran(t) ? database_target_name(w->d->db, t->target, a) : NULL;
	bool more = w->err->code == ERR_NONE && w->task(&row, w->arg) == 0;
	arena_free(a);
	return more;
}

/* The whole id of the one task whose id begins so; all tasks where none is named. */
static bool name_task(Walk *w, const char *task, Err *err)
{
	RecordName found;
	if (task == NULL)
		return true;
	if (!session_find_record(w->d->db, task, RECORD_WORKLOAD, &found, err))
		return false;
	put_id(w->prefix, found.id);
	return true;
}

static bool each_task(DlcDatabase *d, const char *task, DlcTaskEach each, void *arg, Err *err)
{
	Walk w = { .d = d, .task = each, .arg = arg, .err = err };
	return name_task(&w, task, err) && db_each_task(d->db, give_task, &w, err) && err->code == ERR_NONE;
}

DlcFault dlc_database_tasks(DlcDatabase *d, const char *task, DlcTaskEach each, void *arg, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(each));
	API_CALL(d->session, why, each_task(d, task, each, arg, err));
}

/* ---- runs, sessions ---- */

static bool give_run(const RunRecord *run, void *arg)
{
	Walk *w = arg;
	DlcRunRow row = { .trace = run->trace, .status = run_status_text(run->status), .detail = run->detail,
		.median_ns = run->status == RUN_OK ? run->median_ns : 0, .own = run->own };
	put_id(row.record, run->id);
	return w->run(&row, w->arg) == 0;
}

static bool each_run(DlcDatabase *d, const char *task, const DlcTarget *target, DlcRunEach each, void *arg, Err *err)
{
	Walk w = { .d = d, .run = each, .arg = arg, .err = err };
	Target t;
	RecordName found;
	return session_target(d->session, target, false, &t, err) &&
		session_find_record(d->db, task, RECORD_WORKLOAD, &found, err) &&
		db_each_run(d->db, found.id, target_id(&t), CODEGEN_EPOCH, give_run, &w, err);
}

DlcFault dlc_database_runs(
	DlcDatabase *d, const char *task, const DlcTarget *target, DlcRunEach each, void *arg, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(task), API_GIVEN(each), API_OPTIONS(target, api_target));
	API_CALL(d->session, why, each_run(d, task, target, each, arg, err));
}

static bool give_session(const DbSession *s, void *arg)
{
	Walk *w = arg;
	Arena *a = arena_new();
	DlcSessionRow row = { .runs = s->runs, .ok = s->ok };
	const Record *r = db_record(w->d->db, s->id, NULL, a, w->err);
	bool more = w->err->code == ERR_NONE;
	if (r != NULL) {
		put_id(row.id, s->id);
		json_str(r->json, "tool", &row.tool, NULL);
		json_str(r->json, "search", &row.search, NULL);
		json_str(r->json, "model", &row.model, NULL);
		json_int(r->json, "seed", INT64_MIN, INT64_MAX, &row.seed, NULL);
		json_int(r->json, "started_s", 0, RECORD_SECONDS, &row.started_s, NULL);
		more = w->session(&row, w->arg) == 0;
	}
	arena_free(a);
	return more;
}

static bool each_session(DlcDatabase *d, DlcSessionEach each, void *arg, Err *err)
{
	Walk w = { .d = d, .session = each, .arg = arg, .err = err };
	return db_each_session(d->db, give_session, &w, err) && err->code == ERR_NONE;
}

DlcFault dlc_database_sessions(DlcDatabase *d, DlcSessionEach each, void *arg, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(each));
	API_CALL(d->session, why, each_session(d, each, arg, err));
}

/* ---- lines ---- */

static bool give_line(const char *line, size_t n, void *arg)
{
	Walk *w = arg;
	return w->line(line, n, w->arg) == 0;
}

static bool export(DlcDatabase *d, const char *task, DlcLineEach each, void *arg, Err *err)
{
	Walk w = { .d = d, .line = each, .arg = arg, .err = err };
	RecordName found;
	return task == NULL ? db_export(d->db, give_line, &w, err)
		: session_find_record(d->db, task, RECORD_WORKLOAD, &found, err) &&
			db_export_task(d->db, found.id, give_line, &w, err);
}

DlcFault dlc_database_export(DlcDatabase *d, const char *task, DlcLineEach each, void *arg, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(each));
	API_CALL(d->session, why, export(d, task, each, arg, err));
}

static bool export_best(DlcDatabase *d, int most, DlcLineEach each, void *arg, Err *err)
{
	Walk w = { .d = d, .line = each, .arg = arg, .err = err };
	return (most >= 1 || fail(err, ERR_USAGE, "most", "must be at least 1")) &&
		db_export_best(d->db, most, ROOF_LEAST_NS, give_line, &w, err);
}

DlcFault dlc_database_export_best(DlcDatabase *d, int most, DlcLineEach each, void *arg, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(each));
	API_CALL(d->session, why, export_best(d, most, each, arg, err));
}

static bool import(Db *db, const char *name, const char *text, size_t n, DlcImport *count, Err *err)
{
	ImportCount c = { .taken = count->added, .known = count->present, .refused = count->skipped };
	snprintf(c.first, sizeof c.first, "%s", count->first);
	bool ok = db_import(db, name, text, n, &c, err);
	count->added = c.taken;
	count->present = c.known;
	count->skipped = c.refused;
	snprintf(count->first, sizeof count->first, "%s", c.first);
	return ok;
}

DlcFault dlc_database_import(
	DlcDatabase *d, const char *name, const char *text, size_t n, DlcImport *count, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(name), API_GIVEN(text), API_GIVEN(count));
	API_CALL(d->session, why, import(d->db, name, text, n, count, err));
}

int dlc_database_is_log(const char *text, size_t n)
{
	return text != NULL && db_is_log(text, n);
}

static bool import_nowhere(const char *name, const char *text, size_t n, DlcImport *count, Err *err)
{
	Db *db = db_open_memory(err);
	bool ok = db != NULL && import(db, name, text, n, count, err);
	db_close(db);
	return ok;
}

DlcFault dlc_database_judge(
	DlcSession *s, const char *name, const char *text, size_t n, DlcImport *count, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(s), API_GIVEN(name), API_GIVEN(text), API_GIVEN(count));
	API_CALL(s, why, import_nowhere(name, text, n, count, err));
}

int64_t dlc_database_lost(const DlcDatabase *d)
{
	return d != NULL ? db_lost(d->db) : 0;
}

/* ---- records ---- */

DlcFault dlc_database_check(DlcDatabase *d, int64_t *records, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(records));
	*records = 0;
	API_CALL(d->session, why, db_check(d->db, records, err));
}

static bool retract(DlcDatabase *d, const char *run, const char *reason, char *out, Err *err)
{
	RecordName found;
	if (!session_find_record(d->db, run, RECORD_RUN, &found, err) || !db_put_retraction(d->db, found.id, reason, err))
		return false;
	if (out != NULL)
		put_id(out, found.id);
	return true;
}

DlcFault dlc_database_retract(DlcDatabase *d, const char *run, const char *reason, char out[DLC_ID], DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(run), API_GIVEN(reason));
	API_CALL(d->session, why, retract(d, run, reason, out, err));
}

static bool find_session(const DbSession *x, void *arg)
{
	DlcRecord *out = arg;
	char hex[DLC_ID];
	put_id(hex, x->id);
	if (strcmp(hex, out->id) != 0)
		return true;
	out->runs = x->runs;
	out->ok = x->ok;
	return false;
}

static bool read_record(DlcDatabase *d, const char *id, DlcRecord *out, Err *err)
{
	RecordName name;
	Arena *a = session_view(d->session, &d->view, "d", err);
	if (a == NULL || !session_find_record(d->db, id, RECORD_KINDS, &name, err))
		return false;
	const Record *r = db_record(d->db, name.id, &out->line, a, err);
	if (r == NULL)
		return false;
	put_id(out->id, r->id);
	out->kind = record_kind_name(r->kind);
	if (r->kind == RECORD_WORKLOAD)
		out->label = database_label(d->db, r->id, a, NULL);
	if (r->kind == RECORD_SESSION)
		return db_each_session(d->db, find_session, out, err);
	if (r->kind != RECORD_RUN)
		return true;
	DbSet set = { &d->db, 1 };
	bool gone = false;
	const RunRecord *run = db_run(set, r->id, a, err);
	if (run == NULL || !db_retracted(set, r->id, run->own, &gone, err))
		return false;
	out->own = run->own;
	out->retracted = gone;
	return true;
}

DlcFault dlc_database_record(DlcDatabase *d, const char *id, DlcRecord *out, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(id), API_GIVEN(out));
	*out = (DlcRecord){ 0 };
	API_CALL(d->session, why, read_record(d, id, out, err));
}

/* ---- counts ---- */

/* Runs of each target, in the order met. */
typedef struct Targets {
	Arena *arena;
	VEC(DbTask) list;
	int64_t tasks; /* with runs */
} Targets;

static bool add_target(const DbTask *t, void *arg)
{
	Targets *x = arg;
	size_t i = 0;
	if (!database_ran(t))
		return true;
	x->tasks++;
	while (i < x->list.n && memcmp(&x->list.at[i].target, &t->target, sizeof(Hash)) != 0)
		i++;
	if (i == x->list.n) {
		DbTask first = { .target = t->target };
		vec_push(x->arena, &x->list, first);
	}
	x->list.at[i].runs += t->runs;
	x->list.at[i].ok += t->ok;
	return true;
}

static bool count_session(const DbSession *s, void *arg)
{
	(void)s;
	++*(int64_t *)arg;
	return true;
}

static bool count(DlcDatabase *d, DlcStats *out, Err *err)
{
	_Static_assert(
		(int)RECORD_KINDS < (int)DLC_COUNTS && (int)RUN_STATUS_COUNT < (int)DLC_COUNTS, "room for the counts");
	DbStats s;
	Targets t = { .arena = session_view(d->session, &d->view, "d", err) };
	if (t.arena == NULL || !db_stats(d->db, &s, err) || !db_each_task(d->db, add_target, &t, err) ||
		!db_each_session(d->db, count_session, &out->sessions, err))
		return false;
	for (int k = 0; k < RECORD_KINDS; k++)
		out->kind[k] = (DlcCount){ record_kind_name((RecordKind)k), s.records[k], 0, NULL };
	for (int k = 0; k < RUN_STATUS_COUNT; k++)
		out->status[k] = (DlcCount){ run_status_text((RunStatus)k), s.status[k], 0, NULL };
	DlcCount *target = arena_array(t.arena, DlcCount, t.list.n + 1);
	for (size_t i = 0; i < t.list.n; i++)
		target[i] = (DlcCount){ database_target_name(d->db, t.list.at[i].target, t.arena), t.list.at[i].runs,
			t.list.at[i].ok, database_target_form(d->db, t.list.at[i].target, t.arena) };
	out->target = target;
	out->ntarget = (int)t.list.n;
	out->tasks = t.tasks;
	out->line_bytes = s.line_bytes;
	out->file_bytes = s.file_bytes;
	return true;
}

DlcFault dlc_database_stats(DlcDatabase *d, DlcStats *out, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(d), API_GIVEN(out));
	*out = (DlcStats){ 0 };
	API_CALL(d->session, why, count(d, out, err));
}
