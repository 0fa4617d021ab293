/*
 * The index: every record is stored as its line under its id; runs and retractions have index rows
 * beside it, which could be rebuilt from the lines.  Opened with SQLite's defensive settings; a
 * schema that is not exactly ours is refused, so that a file from somebody else brings no triggers
 * or views.  WAL with synchronous=NORMAL: a committed record survives the process.
 */
#include "db/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define APPLICATION_ID "1145848660" /* "DLCT" */

static const char *const schema[] = {
	"CREATE TABLE record(id BLOB PRIMARY KEY,kind INTEGER NOT NULL,line TEXT NOT NULL) WITHOUT ROWID",
	"CREATE TABLE run(id BLOB PRIMARY KEY,workload BLOB NOT NULL,target BLOB NOT NULL,"
	"epoch INTEGER NOT NULL,status INTEGER NOT NULL,verified INTEGER NOT NULL,"
	"median_ns INTEGER NOT NULL) WITHOUT ROWID",
	"CREATE TABLE retraction(run BLOB PRIMARY KEY) WITHOUT ROWID",
	"CREATE INDEX run_best ON run(workload,target,status,epoch,verified,median_ns,id)",
};

static const char *const text[SQL_COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_PUT_RECORD] = "INSERT OR IGNORE INTO record(id,kind,line) VALUES(?1,?2,?3)",
	[SQL_KIND] = "SELECT kind FROM record WHERE id=?1",
	[SQL_GET_RECORD] = "SELECT line,id FROM record WHERE id=?1",
	[SQL_PUT_RUN] = "INSERT OR IGNORE INTO run(id,workload,target,epoch,status,verified,median_ns)"
			" VALUES(?1,?2,?3,?4,?5,?6,?7)",
	[SQL_PUT_RETRACTION] = "INSERT OR IGNORE INTO retraction(run) VALUES(?1)",
	[SQL_BEST] = "SELECT r.line,run.id FROM run JOIN record r USING(id) WHERE run.workload=?1 AND"
		     " run.target=?2 AND run.status=0 AND run.epoch=?3 AND run.verified=1 AND"
		     " NOT EXISTS(SELECT 1 FROM retraction t WHERE t.run=run.id)"
		     " ORDER BY run.median_ns,run.id LIMIT 1",
	[SQL_RUNS] = "SELECT r.line,run.id FROM run JOIN record r USING(id) WHERE run.workload=?1 AND"
		     " run.target=?2 AND run.epoch=?3 AND NOT EXISTS(SELECT 1 FROM retraction t WHERE t.run=run.id)"
		     " ORDER BY run.status,run.median_ns,run.id",
	[SQL_ALL] = "SELECT id,kind,line FROM record ORDER BY kind,id",
	[SQL_INDEXED] = "SELECT workload,target,epoch,status,verified,median_ns FROM run WHERE id=?1",
	[SQL_COUNT_RUNS] = "SELECT count(*) FROM run",
	[SQL_IS_RETRACTED] = "SELECT 1 FROM retraction WHERE run=?1",
};

bool sql_fail(const Db *db, int rc, Err *err)
{
	const char *what = db->sql != NULL ? sqlite3_errmsg(db->sql) : sqlite3_errstr(rc);
	switch (rc & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_SCHEMA:
	case SQLITE_ERROR:
	case SQLITE_TOOBIG:
	case SQLITE_MISMATCH:
		return fail(err, ERR_INPUT, db->path, "the database is damaged or none of dlc's (%s)", what);
	case SQLITE_NOMEM: return fail(err, ERR_MEMORY, db->path, "out of memory");
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return fail(err, ERR_DEVICE, db->path, "another program keeps the database locked; try again");
	default: return fail(err, ERR_DEVICE, db->path, "the database cannot be used: %s", what);
	}
}

sqlite3_stmt *sql_get(Db *db, SqlId id, Err *err)
{
	if (db->stmt[id] == NULL) {
		int rc = sqlite3_prepare_v3(db->sql, text[id], -1, SQLITE_PREPARE_PERSISTENT, &db->stmt[id], NULL);
		if (rc != SQLITE_OK) {
			sql_fail(db, rc, err);
			return NULL;
		}
	}
	sqlite3_reset(db->stmt[id]);
	sqlite3_clear_bindings(db->stmt[id]);
	return db->stmt[id];
}

void sql_bind_hash(sqlite3_stmt *st, int at, Hash h)
{
	sqlite3_bind_blob(st, at, h.byte, sizeof h.byte, SQLITE_TRANSIENT);
}

bool sql_do(Db *db, sqlite3_stmt *st, Err *err)
{
	int rc = sqlite3_step(st);
	sqlite3_reset(st);
	return rc == SQLITE_DONE || rc == SQLITE_ROW || sql_fail(db, rc, err);
}

bool sql_run(Db *db, SqlId id, Err *err)
{
	sqlite3_stmt *st = sql_get(db, id, err);
	return st != NULL && sql_do(db, st, err);
}

bool sql_read_record(Db *db, Arena *a, sqlite3_stmt *st, int line, int id, Record *out, Err *err)
{
	const void *bytes = sqlite3_column_text(st, line), *key = sqlite3_column_blob(st, id);
	size_t n = (size_t)sqlite3_column_bytes(st, line);
	if (bytes == NULL || key == NULL)
		return fail(err, ERR_INPUT, db->path, "the database is damaged: a record is empty");
	if (!record_read(a, db->path, arena_copy(a, bytes, n + 1), n, out, err))
		return false;
	if (sqlite3_column_bytes(st, id) != (int)sizeof out->id.byte || memcmp(key, out->id.byte, sizeof out->id.byte) != 0)
		return fail(err, ERR_INPUT, db->path, "the database is damaged: a record is stored under an id that is not its own");
	return true;
}

static bool exec(Db *db, const char *sql, Err *err)
{
	int rc = sqlite3_exec(db->sql, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK || sql_fail(db, rc, err);
}

static bool pragma_int(Db *db, const char *sql, int64_t *out, Err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || sql_fail(db, rc, err);
}

/* The schema is ours to the letter: as many objects, each with the text that we write. */
static bool check_schema(Db *db, Err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql,
		"SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'", -1, &st, NULL);
	size_t found = 0, alien = 0;
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		const char *sql = (const char *)sqlite3_column_text(st, 0);
		bool ours = false;
		for (size_t i = 0; sql != NULL && i < sizeof schema / sizeof *schema; i++)
			ours |= strcmp(sql, schema[i]) == 0;
		found += ours;
		alien += !ours;
	}
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE)
		return sql_fail(db, rc, err);
	if (alien != 0 || found != sizeof schema / sizeof *schema)
		return fail(err, ERR_INPUT, db->path, "the database has tables that dlc did not make");
	return true;
}

static bool create_schema(Db *db, Err *err)
{
	/* Two tuners may start on one new file: the second finds the first one's tables. */
	int64_t objects = 0;
	if (!exec(db, "BEGIN IMMEDIATE", err))
		return false;
	if (!pragma_int(db, "SELECT count(*) FROM sqlite_master", &objects, err))
		return false;
	for (size_t i = 0; objects == 0 && i < sizeof schema / sizeof *schema; i++)
		if (!exec(db, schema[i], err))
			return false;
	return (objects != 0 ||
		       exec(db, "PRAGMA application_id=" APPLICATION_ID ";PRAGMA user_version=1", err)) &&
		exec(db, "COMMIT", err);
}

static bool check_identity(Db *db, DbMode mode, Err *err)
{
	int64_t app = 0, version = 0, objects = 0;
	if (!pragma_int(db, "PRAGMA application_id", &app, err) ||
		!pragma_int(db, "PRAGMA user_version", &version, err) ||
		!pragma_int(db, "SELECT count(*) FROM sqlite_master", &objects, err))
		return false;
	if (app == 0 && version == 0 && objects == 0) {
		if (mode == DB_READ)
			return fail(err, ERR_INPUT, db->path, "is no tuning database: it is empty");
		return create_schema(db, err);
	}
	if (app != strtoll(APPLICATION_ID, NULL, 10))
		return fail(err, ERR_INPUT, db->path, "is no tuning database of dlc");
	if (version != 1)
		return fail(err, ERR_INPUT, db->path,
			"the database has version %lld, this dlc reads version 1; use a newer dlc",
			(long long)version);
	return check_schema(db, err);
}

static int open_file(Db *db, const char *path, int flags)
{
	int rc = sqlite3_open_v2(path, &db->sql, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(db->sql, SQLITE_LIMIT_LENGTH, 64 << 20);
	sqlite3_busy_timeout(db->sql, 10000);
	return SQLITE_OK;
}

/* A read-only folder holds no -shm file: then the file is read as it lies there. */
static char *immutable_uri(Arena *a, const char *path)
{
	Text t = { .arena = a };
	text_add(&t, "file:");
	for (const char *p = path; *p != 0; p++)
		if (strchr("?#%", *p) != NULL)
			text_add(&t, "%%%02x", (unsigned char)*p);
		else
			text_put(&t, p, 1);
	text_add(&t, "?immutable=1");
	return (char *)text_str(&t);
}

static bool open_to_read(Db *db, Err *err)
{
	Err first = { 0 };
	int rc = open_file(db, db->path, SQLITE_OPEN_READONLY);
	if (rc != SQLITE_OK && sqlite3_system_errno(db->sql) == ENOENT)
		return fail(err, ERR_INPUT, db->path, "there is no such file");
	if (rc != SQLITE_OK)
		return sql_fail(db, rc, err);
	if (check_identity(db, DB_READ, &first))
		return true;
	rc = sqlite3_errcode(db->sql) & 0xff; /* without what SQLite says in detail */
	if (rc != SQLITE_CANTOPEN && rc != SQLITE_READONLY) {
		if (err != NULL)
			*err = first;
		return false;
	}
	sqlite3_close_v2(db->sql);
	db->sql = NULL;
	rc = open_file(db, immutable_uri(db->arena, db->path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
	return rc == SQLITE_OK ? check_identity(db, DB_READ, err) : sql_fail(db, rc, err);
}

/* What a database is comes first: one of another program is left as it is, journal mode included. */
static bool open_to_write(Db *db, Err *err)
{
	int rc = open_file(db, db->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	if (rc != SQLITE_OK)
		return sql_fail(db, rc, err);
	return check_identity(db, DB_WRITE, err) &&
		exec(db, "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL", err);
}

Db *db_open(const char *path, DbMode mode, Err *err)
{
	Arena *a = arena_new();
	Db *db = arena_new_of(a, Db);
	db->arena = a;
	db->path = arena_printf(a, "%s", path);
	db->env_epoch = -1;
	bool named = path[0] != 0 || fail(err, ERR_INPUT, "database", "its file has no name");
	if (named && (mode == DB_READ ? open_to_read(db, err) : open_to_write(db, err)))
		return db;
	db_close(db);
	return NULL;
}

void db_close(Db *db)
{
	if (db == NULL)
		return;
	for (int i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(db->stmt[i]);
	sqlite3_close_v2(db->sql);
	arena_free(db->arena);
}

/* ---- putting ---- */

bool sql_epoch(Db *db, Hash env, int64_t *epoch, Err *err)
{
	if (db->env_epoch >= 0 && memcmp(&env, &db->env, sizeof env) == 0) {
		*epoch = db->env_epoch;
		return true;
	}
	sqlite3_stmt *st = sql_get(db, SQL_GET_RECORD, err);
	if (st == NULL)
		return false;
	Arena *a = arena_new();
	Record r;
	sql_bind_hash(st, 1, env);
	int rc = sqlite3_step(st);
	bool ok = rc == SQLITE_ROW ? sql_read_record(db, a, st, 0, 1, &r, err) &&
				json_int(r.json, "codegen_epoch", 0, 1 << 30, epoch, err)
		: rc == SQLITE_DONE ? fail(err, ERR_INPUT, db->path, "a run names an environment that is not there")
				    : sql_fail(db, rc, err);
	sqlite3_reset(st);
	arena_free(a);
	if (ok) {
		db->env = env;
		db->env_epoch = *epoch;
	}
	return ok;
}

static bool put_run(Db *db, const Record *r, Err *err)
{
	RunRecord run;
	int64_t epoch;
	sqlite3_stmt *st = sql_get(db, SQL_PUT_RUN, err);
	if (st == NULL || !record_to_run(r, &run, err) || !sql_epoch(db, run.env, &epoch, err))
		return false;
	sql_bind_hash(st, 1, r->id);
	sql_bind_hash(st, 2, run.workload);
	sql_bind_hash(st, 3, run.target);
	sqlite3_bind_int64(st, 4, epoch);
	sqlite3_bind_int(st, 5, (int)run.status);
	sqlite3_bind_int(st, 6, run.max_err_e9 >= 0);
	sqlite3_bind_int64(st, 7, run.median_ns);
	return sql_do(db, st, err);
}

static bool put_retraction(Db *db, const Record *r, Err *err)
{
	Hash run;
	sqlite3_stmt *st = sql_get(db, SQL_PUT_RETRACTION, err);
	if (st == NULL || !record_hash(r->json, "run", &run, err))
		return false;
	sql_bind_hash(st, 1, run);
	return sql_do(db, st, err);
}

bool db_put_line(Db *db, const Record *r, const char *line, bool *fresh, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_PUT_RECORD, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, r->id);
	sqlite3_bind_int(st, 2, (int)r->kind);
	sqlite3_bind_text(st, 3, line, -1, SQLITE_TRANSIENT);
	if (!sql_do(db, st, err))
		return false;
	*fresh = sqlite3_changes(db->sql) > 0;
	if (!*fresh)
		return true;
	if (r->kind == RECORD_RUN)
		return put_run(db, r, err);
	return r->kind != RECORD_RETRACTION || put_retraction(db, r, err);
}

/* Stores a line in a transaction of its own. */
static bool put_sealed(Db *db, const Record *r, const char *line, Err *err)
{
	bool fresh;
	if (!sql_run(db, SQL_BEGIN, err))
		return false;
	if (db_put_line(db, r, line, &fresh, err) && sql_run(db, SQL_COMMIT, err))
		return true;
	sql_run(db, SQL_ROLLBACK, NULL);
	return false;
}

static bool put_object(Db *db, Arena *a, RecordKind kind, Json *o, Hash *id, Err *err)
{
	const char *line;
	json_set(a, o, "kind", json_new_text(a, record_kind_name(kind)));
	if (!record_seal(a, o, id, &line, err))
		return false;
	Record r = { kind, *id, o };
	return put_sealed(db, &r, line, err);
}

static Json *object_of(Arena *a, const char *line, Err *err)
{
	return json_parse(a, "record", line, strlen(line), err);
}

bool db_put_task(Db *db, const Task *task, Err *err)
{
	Arena *a = arena_new();
	Record r;
	const char *line = task_record(a, task);
	bool ok = record_read(a, task->label, line, strlen(line), &r, err) && put_sealed(db, &r, line, err);
	arena_free(a);
	return ok;
}

bool db_put_target(Db *db, const Target *target, Hash *id, Err *err)
{
	Arena *a = arena_new();
	Json *o = object_of(a, target_record(a, target), err);
	bool ok = o != NULL && put_object(db, a, RECORD_TARGET, o, id, err);
	arena_free(a);
	return ok;
}

bool db_put_env(Db *db, int codegen_epoch, const char *compiler, Hash *id, Err *err)
{
	Arena *a = arena_new();
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "codegen_epoch", json_new_int(a, codegen_epoch));
	json_set(a, o, "compiler", json_new_text(a, compiler));
	bool ok = put_object(db, a, RECORD_ENVIRONMENT, o, id, err);
	arena_free(a);
	return ok;
}

bool db_put_session(Db *db, const SessionInfo *s, Hash *id, Err *err)
{
	Arena *a = arena_new();
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "tool", json_new_text(a, s->tool));
	json_set(a, o, "search", json_new_text(a, s->search));
	json_set(a, o, "model", json_new_text(a, s->model));
	json_set(a, o, "seed", json_new_int(a, s->seed));
	json_set(a, o, "started_s", json_new_int(a, s->started_s));
	bool ok = put_object(db, a, RECORD_SESSION, o, id, err);
	arena_free(a);
	return ok;
}

bool db_put_run(Db *db, RunRecord *run, Err *err)
{
	Arena *a = arena_new();
	bool ok = put_object(db, a, RECORD_RUN, record_from_run(a, run), &run->id, err);
	arena_free(a);
	return ok;
}

/* ---- asking ---- */

/* A row of SQL_BEST or SQL_RUNS: the record, which must be what the index says it is. */
static bool read_run(Db *db, Arena *a, sqlite3_stmt *st, Hash workload, Hash target, RunRecord *out, Err *err)
{
	Record r;
	if (!sql_read_record(db, a, st, 0, 1, &r, err))
		return false;
	if (r.kind != RECORD_RUN)
		return fail(err, ERR_INPUT, db->path, "the database is damaged: its index of runs names something else");
	if (!record_to_run(&r, out, err))
		return false;
	if (memcmp(&out->workload, &workload, sizeof workload) != 0 ||
		memcmp(&out->target, &target, sizeof target) != 0)
		return fail(err, ERR_INPUT, db->path, "the database is damaged: its index says other things than its runs");
	return true;
}

const RunRecord *db_best(Db *db, Hash workload, Hash target, int codegen_epoch, Arena *a, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_BEST, err);
	if (st == NULL)
		return NULL;
	sql_bind_hash(st, 1, workload);
	sql_bind_hash(st, 2, target);
	sqlite3_bind_int(st, 3, codegen_epoch);
	int rc = sqlite3_step(st);
	RunRecord *run = NULL;
	if (rc == SQLITE_ROW) {
		run = arena_new_of(a, RunRecord);
		if (!read_run(db, a, st, workload, target, run, err))
			run = NULL;
	} else if (rc != SQLITE_DONE) {
		sql_fail(db, rc, err);
	}
	sqlite3_reset(st);
	return run;
}

bool db_each_run(Db *db, Hash workload, Hash target, int codegen_epoch, DbRunFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_RUNS, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, workload);
	sql_bind_hash(st, 2, target);
	sqlite3_bind_int(st, 3, codegen_epoch);
	int rc;
	bool ok = true;
	while (ok && (rc = sqlite3_step(st)) != SQLITE_DONE) {
		if (rc != SQLITE_ROW) {
			ok = sql_fail(db, rc, err);
			break;
		}
		Arena *a = arena_new();
		RunRecord run;
		ok = read_run(db, a, st, workload, target, &run, err);
		bool more = ok && f(&run, arg);
		arena_free(a);
		if (!more)
			break;
	}
	sqlite3_reset(st);
	return ok;
}
