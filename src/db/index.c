/*
 * A record's line into the database, once, with the index rows that look-ups need.  Rows are numbered as
 * they come; what a run names is resolved to numbers here, and remembered, since runs that come together
 * are of few subjects.
 */
#include "db/rank.h"
#include "db/segment.h"
#include "op/steps.h"

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

int64_t db_trace_number(const char *trace)
{
	Hash h = steps_hash(trace);
	uint64_t x = 0;
	for (int i = 0; i < 8; i++)
		x = x << 8 | h.byte[i];
	return (int64_t)x;
}

/* ---- what a record names ---- */

/* The kind stored for an id, and its number; RECORD_KINDS: there is no such record. */
static bool stored_kind(Db *db, Hash id, int *kind, int64_t *n, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_KIND, err);
	bool row;
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, id);
	if (!sql_next(db, st, &row, err))
		return false;
	*kind = row ? sqlite3_column_int(st, 0) : RECORD_KINDS;
	*n = row ? sqlite3_column_int64(st, 1) : 0;
	sqlite3_reset(st);
	return true;
}

static bool name_known(Db *db, RecordKind of, RecordKind kind, Hash id, const char *place, Err *why, Err *err)
{
	int there;
	int64_t n;
	if (!stored_kind(db, id, &there, &n, err))
		return false;
	return there == (int)kind || fail(why, ERR_INPUT, place, "the %s names a record that is not there, as its %s",
					     record_kind_name(of), record_kind_name(kind));
}

bool db_names_known(Db *db, const Record *r, const char *place, Err *why, Err *err)
{
	RecordName named[RECORD_NAMES];
	int n = record_names(r, named);
	for (int i = 0; i < n; i++)
		if (!name_known(db, r->kind, named[i].kind, named[i].id, place, why, err))
			return false;
	return true;
}

static Subject *subject_of(Db *db, const RunRecord *run)
{
	return &db->subject[run->workload.byte[0] ^ run->target.byte[0] ^ run->env.byte[0]];
}

static bool is_subject(const Subject *s, const RunRecord *run)
{
	return s->known && memcmp(&s->workload, &run->workload, sizeof(Hash)) == 0 &&
		memcmp(&s->target, &run->target, sizeof(Hash)) == 0 && memcmp(&s->env, &run->env, sizeof(Hash)) == 0;
}

bool db_run_names_known(Db *db, const RunRecord *run, const char *place, Err *why, Err *err)
{
	Subject *s = subject_of(db, run);
	if (!is_subject(s, run)) {
		if (!name_known(db, RECORD_RUN, RECORD_ENVIRONMENT, run->env, place, why, err) ||
			!name_known(db, RECORD_RUN, RECORD_TARGET, run->target, place, why, err) ||
			!name_known(db, RECORD_RUN, RECORD_WORKLOAD, run->workload, place, why, err))
			return false;
		*s = (Subject){ .known = true, .workload = run->workload, .target = run->target, .env = run->env };
	}
	if (db->session_known && memcmp(&db->session, &run->session, sizeof(Hash)) == 0)
		return true;
	if (!name_known(db, RECORD_RUN, RECORD_SESSION, run->session, place, why, err))
		return false;
	db->session = run->session;
	db->session_known = true;
	return true;
}

/* ---- index rows ---- */

static sqlite3_stmt *about(Db *db, SqlId id, Hash workload, Hash target, int64_t epoch, Err *err)
{
	sqlite3_stmt *st = sql_get(db, id, err);
	if (st == NULL)
		return NULL;
	sql_bind_hash(st, 1, workload);
	sql_bind_hash(st, 2, target);
	sqlite3_bind_int64(st, 3, epoch);
	return st;
}

bool sql_subject(Db *db, Hash workload, Hash target, int64_t epoch, int64_t *n, Err *err)
{
	sqlite3_stmt *st = about(db, SQL_SUBJECT, workload, target, epoch, err);
	bool row;
	if (st == NULL || !sql_next(db, st, &row, err))
		return false;
	*n = row ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_reset(st);
	return true;
}

/* The run's subject, made if this is the first run of it. */
static bool take_subject(Db *db, const RunRecord *run, int64_t *n, Err *err)
{
	Subject *s = subject_of(db, run);
	int64_t epoch;
	if (is_subject(s, run) && s->n != 0) {
		*n = s->n;
		return true;
	}
	if (!sql_epoch(db, run->env, &epoch, err) || !sql_subject(db, run->workload, run->target, epoch, n, err))
		return false;
	if (*n == 0) {
		sqlite3_stmt *st = about(db, SQL_PUT_SUBJECT, run->workload, run->target, epoch, err);
		if (st == NULL || !sql_do(db, st, err))
			return false;
		*n = sqlite3_last_insert_rowid(db->sql);
	}
	if (is_subject(s, run))
		s->n = *n;
	return true;
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

static bool put_retraction(Db *db, const Record *r, int64_t n, Err *err)
{
	Hash id;
	int kind;
	int64_t run;
	sqlite3_stmt *st = sql_get(db, SQL_PUT_RETRACTION, err);
	if (st == NULL || !record_hash(r->json, "run", &id, err) || !stored_kind(db, id, &kind, &run, err))
		return false;
	sqlite3_bind_int64(st, 1, n);
	sqlite3_bind_int64(st, 2, run);
	return sql_do(db, st, err);
}

static bool put_closing(Db *db, const Record *r, int64_t n, Err *err)
{
	Hash session;
	sqlite3_stmt *st = sql_get(db, SQL_PUT_CLOSING, err);
	if (st == NULL || !record_hash(r->json, "session", &session, err))
		return false;
	sqlite3_bind_int64(st, 1, n);
	sql_bind_hash(st, 2, session);
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
	int64_t subject;
	if (!put_row(db, run->id, RECORD_RUN, line, n, fresh, err))
		return false;
	if (!*fresh)
		return true;
	int64_t number = sqlite3_last_insert_rowid(db->sql); /* before take_subject adds a row */
	sqlite3_stmt *st = sql_get(db, SQL_PUT_RUN, err);
	if (st == NULL || !take_subject(db, run, &subject, err))
		return false;
	sqlite3_bind_int64(st, 1, number);
	sqlite3_bind_int64(st, 2, subject);
	sqlite3_bind_int(st, 3, (int)run->status);
	sqlite3_bind_int(st, 4, record_verified(run));
	sqlite3_bind_int64(st, 5, run->median_ns);
	sqlite3_bind_int64(st, 6, db_trace_number(run->trace));
	sql_bind_hash(st, 7, run->id);
	sql_bind_hash(st, 8, run->session);
	sqlite3_bind_int64(st, 9, run->samples);
	sqlite3_bind_int(st, 10, (int)run_stage(run));
	return sql_do(db, st, err);
}

bool db_put_line(Db *db, const Record *r, const char *line, size_t n, bool *fresh, Err *err)
{
	RunRecord run;
	if (r->kind == RECORD_RUN)
		return record_to_run(r, &run, err) && db_put_run_line(db, &run, line, n, fresh, err);
	if (!put_row(db, r->id, r->kind, line, n, fresh, err))
		return false;
	int64_t number = sqlite3_last_insert_rowid(db->sql);
	if (!*fresh)
		return true;
	switch (r->kind) {
	case RECORD_WORKLOAD: return put_family(db, r, err);
	case RECORD_RETRACTION: return put_retraction(db, r, number, err);
	case RECORD_CLOSING: return put_closing(db, r, number, err);
	default: return true;
	}
}

RunRow sql_row_of(const RunRecord *run)
{
	return (RunRow){ .id = run->id,
		.session = run->session,
		.status = (int64_t)run->status,
		.verified = record_verified(run),
		.stage = (int64_t)run_stage(run),
		.ns = run->median_ns,
		.samples = run->samples,
		.trace = db_trace_number(run->trace) };
}

bool db_seal_of(const Db *db, const Record *r, int64_t *seal, Err *err)
{
	RunRecord run;
	Hash of;
	*seal = 0;
	if (r->kind == RECORD_RUN) {
		if (!record_to_run(r, &run, err))
			return false;
		RunRow row = sql_row_of(&run);
		*seal = owner_seal_run(db, &row);
	} else if (r->kind == RECORD_RETRACTION) {
		if (!record_hash(r->json, "run", &of, err))
			return false;
		*seal = owner_seal_retraction(db, r->id, of);
	}
	return true;
}

bool db_seal(Db *db, const Record *r, Err *err)
{
	int64_t seal;
	if (!db_seal_of(db, r, &seal, err))
		return false;
	if (seal == 0)
		return true;
	sqlite3_stmt *st = sql_get(db, r->kind == RECORD_RUN ? SQL_SEAL_RUN : SQL_SEAL_RETRACTION, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, r->id);
	sqlite3_bind_int64(st, 2, seal);
	return sql_do(db, st, err);
}

void sql_forget_names(Db *db)
{
	db->session_known = false;
	memset(db->subject, 0, sizeof db->subject);
}

void sql_forget(Db *db)
{
	sql_run(db, SQL_ROLLBACK, NULL);
	db->env_epoch = -1;
	sql_forget_names(db);
	if (db->logs != NULL)
		logs_forget(db);
}
