/*
 * Checks a whole database and trusts nothing: the file's structure, the hash of every line, that the records are there
 * which a line names, and that the index rows say what the lines say and nothing else.
 */
#include "db/rank.h"
#include "db/sql.h"

#include <string.h>

static const char index_differs[] =
	"the index differs from the records; export the records and import them into a new database";

static bool same_hash(sqlite3_stmt *st, int column, Hash h)
{
	const void *blob = sqlite3_column_blob(st, column);
	return blob != NULL && sqlite3_column_bytes(st, column) == (int)sizeof h && memcmp(blob, &h, sizeof h) == 0;
}

/* The index row of a run says what the run says. */
static bool check_run(Db *db, const Record *r, int64_t n, Err *err)
{
	RunRecord run;
	int64_t epoch;
	if (!record_to_run(r, &run, err) || !sql_epoch(db, run.env, &epoch, err))
		return false;
	sqlite3_stmt *st = sql_get(db, SQL_INDEXED, err);
	if (st == NULL)
		return false;
	sqlite3_bind_int64(st, 1, n);
	int rc = sqlite3_step(st);
	bool same = rc == SQLITE_ROW && same_hash(st, 0, run.workload) && same_hash(st, 1, run.target) &&
		sqlite3_column_int64(st, 2) == epoch && sqlite3_column_int64(st, 3) == (int64_t)run.status &&
		sqlite3_column_int64(st, 4) == record_verified(&run) && sqlite3_column_int64(st, 5) == run.median_ns &&
		sqlite3_column_int64(st, 6) == db_trace_number(run.trace) && same_hash(st, 7, run.id) &&
		same_hash(st, 8, run.session) &&
		sqlite3_column_int64(st, 9) == run.samples &&
		sqlite3_column_int64(st, 10) == (sqlite3_column_int64(st, 11) != 0) &&
		sqlite3_column_int64(st, 12) == (int64_t)run_stage(&run);
	sqlite3_reset(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return sql_fail(db, rc, err);
	return same || fail(err, ERR_INPUT, db->path, "%s", index_differs);
}

static bool check_family(Db *db, const Record *r, Err *err)
{
	const char *dag;
	sqlite3_stmt *st = json_str(r->json, "dag", &dag, err) ? sql_get(db, SQL_FAMILY_OF, err) : NULL;
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, r->id);
	bool row, ok = sql_next(db, st, &row, err);
	bool same = ok && row && same_hash(st, 0, db_family(dag));
	sqlite3_reset(st);
	return ok && (same || fail(err, ERR_INPUT, db->path, "%s", index_differs));
}

static bool check_retraction(Db *db, const Record *r, int64_t n, Err *err)
{
	RecordName named[RECORD_NAMES];
	sqlite3_stmt *st = record_names(r, named) == 1 ? sql_get(db, SQL_RETRACTION, err) : NULL;
	bool row;
	if (st == NULL)
		return false;
	sqlite3_bind_int64(st, 1, n);
	sql_bind_hash(st, 2, named[0].id);
	if (!sql_next(db, st, &row, err))
		return false;
	sqlite3_reset(st);
	return row || fail(err, ERR_INPUT, db->path, "%s", index_differs);
}

static bool check_closing(Db *db, const Record *r, int64_t n, Err *err)
{
	RecordName named[RECORD_NAMES];
	bool row;
	sqlite3_stmt *st = record_names(r, named) == 1 ? sql_get(db, SQL_CLOSING, err) : NULL;
	if (st == NULL)
		return false;
	sqlite3_bind_int64(st, 1, n);
	if (!sql_next(db, st, &row, err))
		return false;
	bool same = row && same_hash(st, 0, named[0].id);
	sqlite3_reset(st);
	return same || fail(err, ERR_INPUT, db->path, "%s", index_differs);
}

static bool check_record(Db *db, const Record *r, int kind, int64_t n, Err *err)
{
	if (!db_names_known(db, r, db->path, err, err))
		return false;
	if (kind != (int)r->kind)
		return fail(err, ERR_INPUT, db->path, "%s", index_differs);
	switch (r->kind) {
	case RECORD_RUN: return check_run(db, r, n, err);
	case RECORD_WORKLOAD: return check_family(db, r, err);
	case RECORD_RETRACTION: return check_retraction(db, r, n, err);
	case RECORD_CLOSING: return check_closing(db, r, n, err);
	default: return true;
	}
}

static bool check_held(Db *db, int64_t *records, Err *err)
{
	int64_t indexed = 0;
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql, "PRAGMA integrity_check(1)", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	const char *answer = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
	bool ok = answer != NULL && strcmp(answer, "ok") == 0;
	sqlite3_finalize(st);
	if (!ok)
		return fail(err, ERR_INPUT, db->path,
			"the database is damaged; export what is left and import it into a new database");
	if ((st = sql_get_walk(db, SQL_ALL, err)) == NULL)
		return false;
	while (ok && (rc = sqlite3_step(st)) != SQLITE_DONE) {
		if (rc != SQLITE_ROW) {
			ok = sql_fail(db, rc, err);
			break;
		}
		Arena *a = arena_new();
		Record r;
		ok = sql_read_record(db, a, st, 2, 0, &r, err) &&
			check_record(db, &r, sqlite3_column_int(st, 1), sqlite3_column_int64(st, 3), err);
		*records += ok;
		indexed += ok && (r.kind == RECORD_RUN || r.kind == RECORD_WORKLOAD || r.kind == RECORD_RETRACTION ||
					 r.kind == RECORD_CLOSING);
		arena_free(a);
	}
	sqlite3_reset(st);
	if (!ok || (st = sql_get(db, SQL_COUNT_INDEXED, err)) == NULL)
		return false;
	/* As many index rows as there are records that have one, and no subject without runs. */
	rc = sqlite3_step(st);
	bool same = rc == SQLITE_ROW && sqlite3_column_int64(st, 0) == indexed;
	sqlite3_reset(st);
	if (rc != SQLITE_ROW)
		return sql_fail(db, rc, err);
	return same || fail(err, ERR_INPUT, db->path, "%s", index_differs);
}

/* At one moment: a tuner that puts meanwhile would leave more index rows than there were records. */
bool db_check(Db *db, int64_t *records, Err *err)
{
	DbSet set = { &db, 1 };
	*records = 0;
	if (db->lost != 0)
		return fail(err, ERR_INPUT, "", "%s", db->note);
	if (!db_hold(set, err))
		return false;
	bool ok = check_held(db, records, err);
	db_release(set);
	return ok;
}
