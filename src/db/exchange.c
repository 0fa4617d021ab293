/*
 * Lines out and in: export, import; and check, which trusts nothing.  Merging is a union of immutable
 * records, so order and duplication do not matter, except that a line comes after those it names.
 */
#include "db/near.h"
#include "db/sql.h"

#include <stdio.h>
#include <string.h>

enum { SCRATCH = 1 << 20 /* bytes of parsed lines kept at once */ };

bool db_export(Db *db, DbLineFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_ALL, err);
	if (st == NULL)
		return false;
	int rc;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *line = (const char *)sqlite3_column_text(st, 2);
		bool ok = line != NULL ? f(line, (size_t)sqlite3_column_bytes(st, 2), arg) ||
				fail(err, ERR_DEVICE, db->path, "the export could not be written")
				       : fail(err, ERR_INPUT, db->path, "the database is damaged: a record is empty");
		if (!ok) {
			sqlite3_reset(st);
			return false;
		}
	}
	sqlite3_reset(st);
	return rc == SQLITE_DONE || sql_fail(db, rc, err);
}

/* The kind stored for an id; RECORD_KINDS: there is no such record. */
static bool kind_of(Db *db, Hash id, int *kind, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_KIND, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, id);
	int rc = sqlite3_step(st);
	*kind = rc == SQLITE_ROW ? sqlite3_column_int(st, 0) : RECORD_KINDS;
	sqlite3_reset(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE || sql_fail(db, rc, err);
}

/* What the record names is there and of the right kind; else *why says what is not. */
static bool names_known(Db *db, const Record *r, const char *place, Err *why, Err *err)
{
	RecordName named[RECORD_NAMES];
	int n = record_names(r, named), kind;
	for (int i = 0; i < n; i++) {
		if (!kind_of(db, named[i].id, &kind, err))
			return false;
		if (kind != (int)named[i].kind)
			return fail(why, ERR_INPUT, place, "the %s names a record that is not there, as its %s",
				record_kind_name(r->kind), record_kind_name(named[i].kind));
	}
	return true;
}

/* A run names these four; a record of that kind is there. */
static bool run_names_known(Db *db, const RunRecord *run, const char *place, Err *why, Err *err)
{
	const Hash id[] = { run->env, run->session, run->target, run->workload };
	static const RecordKind kinds[] = { RECORD_ENVIRONMENT, RECORD_SESSION, RECORD_TARGET, RECORD_WORKLOAD };
	for (int i = 0; i < 4; i++) {
		int kind;
		if (db->nknown > i && memcmp(&db->known[i], &id[i], sizeof id[i]) == 0)
			continue;
		if (!kind_of(db, id[i], &kind, err))
			return false;
		if (kind != (int)kinds[i])
			return fail(why, ERR_INPUT, place, "the run names a record that is not there, as its %s",
				record_kind_name(kinds[i]));
		db->known[i] = id[i];
		db->nknown = db->nknown > i ? db->nknown : i + 1;
	}
	return true;
}

/* False with `why` filled in: the line is refused. With err: the database failed. */
static bool take_line(Db *db, Arena *a, const char *place, const char *line, size_t n, bool *fresh, Err *why, Err *err)
{
	Record r;
	RunRecord run;
	if (record_read_run(a, line, n, &run))
		return run_names_known(db, &run, place, why, err) && db_put_run_line(db, &run, line, n, fresh, err);
	return record_read(a, place, line, n, &r, why) && names_known(db, &r, place, why, err) &&
		db_put_line(db, &r, line, n, fresh, err);
}

static bool import_lines(Db *db, const char *name, const char *text, size_t n, ImportCount *count, Err *err)
{
	int line = 1;
	bool ok = true;
	Arena *a = arena_new();
	for (size_t at = 0; at < n && ok; line++) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end != NULL ? (size_t)(end - text) - at : n - at;
		char place[256];
		snprintf(place, sizeof place, "%s:%d", name, line);
		if (len != 0) {
			Err why = { 0 }, failed = { 0 };
			bool fresh = false;
			if (take_line(db, a, place, text + at, len, &fresh, &why, &failed)) {
				count->taken += fresh;
				count->known += !fresh;
			} else if (failed.code != ERR_NONE) {
				if (err != NULL)
					*err = failed;
				ok = false;
			} else if (count->refused++ == 0) {
				err_format(&why, count->first, sizeof count->first);
				count->first[strcspn(count->first, "\n")] = 0;
			}
		}
		at += len + 1;
		if (arena_used(a) > SCRATCH) {
			arena_free(a);
			a = arena_new();
		}
	}
	arena_free(a);
	return ok;
}

/* An index page that does not stay in the cache is written again for each row that falls into it. */
static void set_cache(Db *db, int kib)
{
	char pragma[48];
	snprintf(pragma, sizeof pragma, "PRAGMA cache_size=-%d", kib);
	sqlite3_exec(db->sql, pragma, NULL, NULL, NULL);
}

bool db_import(Db *db, const char *name, const char *text, size_t n, ImportCount *count, Err *err)
{
	if (!sql_run(db, SQL_BEGIN, err))
		return false;
	set_cache(db, n > (size_t)SQL_CACHE_KIB << 10 ? 4 * SQL_CACHE_KIB : SQL_CACHE_KIB);
	bool ok = import_lines(db, name, text, n, count, err) && sql_run(db, SQL_COMMIT, err);
	if (!ok)
		sql_forget(db);
	set_cache(db, SQL_CACHE_KIB);
	return ok;
}

/* ---- checking ---- */

static const char index_differs[] = "the index says other things than the records; export them and import them anew";

static bool check_file(Db *db, Err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql, "PRAGMA integrity_check(1)", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	const char *answer = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
	bool sound = answer != NULL && strcmp(answer, "ok") == 0;
	sqlite3_finalize(st);
	return sound ||
		fail(err, ERR_INPUT, db->path, "the database is damaged; export what is left and import it anew");
}

static bool same_hash(sqlite3_stmt *st, int column, Hash h)
{
	const void *blob = sqlite3_column_blob(st, column);
	return blob != NULL && sqlite3_column_bytes(st, column) == (int)sizeof h && memcmp(blob, &h, sizeof h) == 0;
}

/* The index row of a run says what the run says. */
static bool check_run(Db *db, const Record *r, Err *err)
{
	RunRecord run;
	int64_t epoch;
	if (!record_to_run(r, &run, err) || !sql_epoch(db, run.env, &epoch, err))
		return false;
	sqlite3_stmt *st = sql_get(db, SQL_INDEXED, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, r->id);
	int rc = sqlite3_step(st);
	bool same = rc == SQLITE_ROW && same_hash(st, 0, run.workload) && same_hash(st, 1, run.target) &&
		sqlite3_column_int64(st, 2) == epoch && sqlite3_column_int64(st, 3) == (int64_t)run.status &&
		sqlite3_column_int64(st, 4) == record_verified(&run) && sqlite3_column_int64(st, 5) == run.median_ns &&
		same_hash(st, 6, run.session) && same_hash(st, 7, sql_trace(run.trace));
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

static bool check_retracted(Db *db, const Record *r, Err *err)
{
	RecordName named[RECORD_NAMES];
	sqlite3_stmt *st = record_names(r, named) == 1 ? sql_get(db, SQL_IS_RETRACTED, err) : NULL;
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, named[0].id);
	int rc = sqlite3_step(st);
	sqlite3_reset(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return sql_fail(db, rc, err);
	return rc == SQLITE_ROW || fail(err, ERR_INPUT, db->path, "%s", index_differs);
}

/* As many index rows as there are runs and workloads. */
static bool check_count(Db *db, int64_t indexed, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_COUNT_INDEXED, err);
	if (st == NULL)
		return false;
	int rc = sqlite3_step(st);
	int64_t n = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : -1;
	sqlite3_reset(st);
	if (rc != SQLITE_ROW)
		return sql_fail(db, rc, err);
	return n == indexed || fail(err, ERR_INPUT, db->path, "%s", index_differs);
}

static bool check_record(Db *db, const Record *r, Err *err)
{
	int kind;
	if (!names_known(db, r, db->path, err, err) || !kind_of(db, r->id, &kind, err))
		return false;
	if (kind != (int)r->kind)
		return fail(err, ERR_INPUT, db->path, "%s", index_differs);
	switch (r->kind) {
	case RECORD_RUN: return check_run(db, r, err);
	case RECORD_WORKLOAD: return check_family(db, r, err);
	case RECORD_RETRACTION: return check_retracted(db, r, err);
	default: return true;
	}
}

bool db_check(Db *db, int64_t *records, Err *err)
{
	int64_t indexed = 0;
	*records = 0;
	sqlite3_stmt *st = check_file(db, err) ? sql_get(db, SQL_ALL, err) : NULL;
	if (st == NULL)
		return false;
	int rc;
	bool ok = true;
	while (ok && (rc = sqlite3_step(st)) != SQLITE_DONE) {
		if (rc != SQLITE_ROW) {
			ok = sql_fail(db, rc, err);
			break;
		}
		Arena *a = arena_new();
		Record r;
		ok = sql_read_record(db, a, st, 2, 0, &r, err) && check_record(db, &r, err);
		*records += ok;
		indexed += ok && (r.kind == RECORD_RUN || r.kind == RECORD_WORKLOAD);
		arena_free(a);
	}
	sqlite3_reset(st);
	return ok && check_count(db, indexed, err);
}
