/*
 * Lines out and in: export, import, check.  Merging is a union of immutable records, so order and
 * duplication do not matter, except that a line comes after those it names.
 */
#include "db/sql.h"

#include <stdio.h>
#include <string.h>

bool db_export(Db *db, DbLineFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_ALL, err);
	if (st == NULL)
		return false;
	int rc;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		if (!f((const char *)sqlite3_column_text(st, 2), (size_t)sqlite3_column_bytes(st, 2), arg)) {
			sqlite3_reset(st);
			return fail(err, ERR_DEVICE, db->path, "the export could not be written");
		}
	sqlite3_reset(st);
	return rc == SQLITE_DONE || sql_fail(db, rc, err);
}

static bool has_record(Db *db, Hash id, bool *has, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_HAS_RECORD, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, id);
	int rc = sqlite3_step(st);
	sqlite3_reset(st);
	*has = rc == SQLITE_ROW;
	return rc == SQLITE_ROW || rc == SQLITE_DONE || sql_fail(db, rc, err);
}

/* False with `why` filled in: the line is refused. With err: the database failed. */
static bool take_line(Db *db, const char *place, const char *line, size_t n, bool *fresh, Err *why, Err *err)
{
	Arena *a = arena_new();
	Record r;
	Hash named[4];
	bool ok = record_read(a, place, line, n, &r, why);
	int count = ok ? record_names(&r, named) : 0;
	for (int i = 0; ok && i < count; i++) {
		bool has = false;
		ok = has_record(db, named[i], &has, err);
		if (ok && !has)
			ok = fail(why, ERR_INPUT, place, "the run names a record that is not there");
	}
	if (ok)
		ok = db_put_line(db, &r, arena_printf(a, "%.*s", (int)n, line), fresh, err);
	arena_free(a);
	return ok;
}

static bool import_lines(Db *db, const char *name, const char *text, size_t n, ImportCount *count, Err *err)
{
	int line = 1;
	for (size_t at = 0; at < n; line++) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end != NULL ? (size_t)(end - text) - at : n - at;
		char place[256];
		snprintf(place, sizeof place, "%s:%d", name, line);
		if (len != 0) {
			Err why = { 0 }, failed = { 0 };
			bool fresh = false;
			if (take_line(db, place, text + at, len, &fresh, &why, &failed)) {
				count->taken += fresh;
				count->known += !fresh;
			} else if (failed.code != ERR_NONE) {
				*err = failed;
				return false;
			} else if (count->refused++ == 0) {
				err_format(&why, count->first, sizeof count->first);
				count->first[strcspn(count->first, "\n")] = 0;
			}
		}
		at += len + 1;
	}
	return true;
}

bool db_import(Db *db, const char *name, const char *text, size_t n, ImportCount *count, Err *err)
{
	if (!sql_run(db, SQL_BEGIN, err))
		return false;
	if (import_lines(db, name, text, n, count, err) && sql_run(db, SQL_COMMIT, err))
		return true;
	sql_run(db, SQL_ROLLBACK, NULL);
	return false;
}

bool db_check(Db *db, int64_t *records, Err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql, "PRAGMA integrity_check(1)", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	bool sound = rc == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(st, 0), "ok") == 0;
	sqlite3_finalize(st);
	if (!sound)
		return fail(err, ERR_INPUT, db->path, "the database is damaged; export what is left and import it anew");
	*records = 0;
	st = sql_get(db, SQL_ALL, err);
	if (st == NULL)
		return false;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		Arena *a = arena_new();
		Record r;
		Hash named[4];
		bool ok = record_read(a, db->path, (const char *)sqlite3_column_text(st, 2),
			(size_t)sqlite3_column_bytes(st, 2), &r, err);
		if (ok && (sqlite3_column_bytes(st, 0) != (int)sizeof r.id.byte ||
				  memcmp(sqlite3_column_blob(st, 0), r.id.byte, sizeof r.id.byte) != 0))
			ok = fail(err, ERR_INPUT, db->path, "a record is stored under an id that is not its own");
		int count = ok ? record_names(&r, named) : 0;
		for (int i = 0; ok && i < count; i++) {
			bool has = false;
			ok = has_record(db, named[i], &has, err) &&
				(has || fail(err, ERR_INPUT, db->path, "a run names a record that is not there"));
		}
		arena_free(a);
		if (!ok) {
			sqlite3_reset(st);
			return false;
		}
		++*records;
	}
	sqlite3_reset(st);
	return rc == SQLITE_DONE || sql_fail(db, rc, err);
}
