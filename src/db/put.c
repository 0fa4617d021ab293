/*
 * Putting records: each stored once, as its line, with the index rows that look-ups need.  What is put
 * stands in a transaction of its own, so that it survives the process once the call has returned.
 */
#include "db/near.h"
#include "db/sql.h"

#include <string.h>

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

Hash sql_trace(const char *trace)
{
	return hash_of("dlc/trace/v1", trace, strlen(trace));
}

static bool index_run(Db *db, const RunRecord *run, Err *err)
{
	int64_t epoch;
	sqlite3_stmt *st = sql_get(db, SQL_PUT_RUN, err);
	if (st == NULL || !sql_epoch(db, run->env, &epoch, err))
		return false;
	sql_bind_hash(st, 1, run->id);
	sql_bind_hash(st, 2, run->workload);
	sql_bind_hash(st, 3, run->target);
	sqlite3_bind_int64(st, 4, epoch);
	sqlite3_bind_int(st, 5, (int)run->status);
	sqlite3_bind_int(st, 6, record_verified(run));
	sqlite3_bind_int64(st, 7, run->median_ns);
	sql_bind_hash(st, 8, run->session);
	sql_bind_hash(st, 9, sql_trace(run->trace));
	return sql_do(db, st, err);
}

static bool put_family(Db *db, const Record *r, Err *err)
{
	const char *dag;
	sqlite3_stmt *st = sql_get(db, SQL_PUT_FAMILY, err);
	if (st == NULL || !json_str(r->json, "dag", &dag, err))
		return false;
	sql_bind_hash(st, 1, r->id);
	sql_bind_hash(st, 2, db_family(dag));
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

static bool put_row(Db *db, Hash id, RecordKind kind, const char *line, size_t n, bool *fresh, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_PUT_RECORD, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, id);
	sqlite3_bind_int(st, 2, (int)kind);
	sqlite3_bind_text(st, 3, line, (int)n, SQLITE_STATIC);
	if (!sql_do(db, st, err))
		return false;
	*fresh = sqlite3_changes(db->sql) > 0;
	return true;
}

bool db_put_run_line(Db *db, const RunRecord *run, const char *line, size_t n, bool *fresh, Err *err)
{
	return put_row(db, run->id, RECORD_RUN, line, n, fresh, err) && (!*fresh || index_run(db, run, err));
}

bool db_put_line(Db *db, const Record *r, const char *line, size_t n, bool *fresh, Err *err)
{
	RunRecord run;
	if (r->kind == RECORD_RUN)
		return record_to_run(r, &run, err) && db_put_run_line(db, &run, line, n, fresh, err);
	if (!put_row(db, r->id, r->kind, line, n, fresh, err))
		return false;
	if (!*fresh || (r->kind != RECORD_WORKLOAD && r->kind != RECORD_RETRACTION))
		return true;
	return r->kind == RECORD_WORKLOAD ? put_family(db, r, err) : put_retraction(db, r, err);
}

void sql_forget(Db *db)
{
	sql_run(db, SQL_ROLLBACK, NULL);
	db->env_epoch = -1;
	db->nknown = 0;
}

/* Stores a line in a transaction of its own. */
static bool put_sealed(Db *db, const Record *r, const char *line, Err *err)
{
	bool fresh;
	if (!sql_run(db, SQL_BEGIN, err))
		return false;
	if (db_put_line(db, r, line, strlen(line), &fresh, err) && sql_run(db, SQL_COMMIT, err))
		return true;
	sql_forget(db);
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

bool db_put_retraction(Db *db, Hash run, const char *reason, Err *err)
{
	Arena *a = arena_new();
	char hex[HASH_HEX];
	Hash id;
	hash_hex(run, hex);
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "run", json_new_text(a, hex));
	json_set(a, o, "reason", json_new_text(a, reason));
	bool ok = put_object(db, a, RECORD_RETRACTION, o, &id, err);
	arena_free(a);
	return ok;
}
