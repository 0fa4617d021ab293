/*
 * The index: every record is stored as its line under its id; runs and retractions have index rows beside it, which
 * can be rebuilt from the lines.  This file has the schema, the statements, the sentences for SQLite's failures, and
 * the functions that read a row; db/open.c opens the file.
 */
#include "db/sql.h"

#include <errno.h>
#include <string.h>

/*
 * Index rows name records by their numbers, n, which grow. So most insertions go to the end of a table, and the two
 * indexes that they scatter over are a few bytes wide. A subject is the workload, target and epoch that a look-up asks
 * for; there are few. An index of runs by these hashes took twice as long to fill.
 */
const char *const sql_schema[] = {
	"CREATE TABLE record(n INTEGER PRIMARY KEY,id BLOB NOT NULL UNIQUE,kind INTEGER NOT NULL,line TEXT NOT NULL)",
	"CREATE TABLE subject(n INTEGER PRIMARY KEY,workload BLOB NOT NULL,target BLOB NOT NULL,epoch INTEGER NOT NULL,"
	"UNIQUE(workload,target,epoch))",
	"CREATE TABLE run(n INTEGER PRIMARY KEY,subject INTEGER NOT NULL,status INTEGER NOT NULL,"
	"verified INTEGER NOT NULL,sealed INTEGER NOT NULL,stage INTEGER NOT NULL,median_ns INTEGER NOT NULL,"
	"samples INTEGER NOT NULL,trace INTEGER NOT NULL,id BLOB NOT NULL,session BLOB NOT NULL,seal INTEGER NOT NULL)",
	"CREATE TABLE retraction(n INTEGER PRIMARY KEY,run INTEGER NOT NULL,seal INTEGER NOT NULL)",
	"CREATE TABLE closing(n INTEGER PRIMARY KEY,session BLOB NOT NULL)",
	"CREATE TABLE task(id BLOB PRIMARY KEY,family BLOB NOT NULL) WITHOUT ROWID",
	"CREATE INDEX run_best ON run(subject,status,verified,sealed,stage DESC,median_ns,trace)",
	"CREATE INDEX run_trace ON run(trace)",
	"CREATE INDEX closing_session ON closing(session)",
	"CREATE INDEX retraction_run ON retraction(run)",
	"CREATE INDEX task_family ON task(family)",
	NULL,
};

const char sql_segments[] = "CREATE TABLE segment(name TEXT PRIMARY KEY,size INTEGER NOT NULL,stamp INTEGER NOT NULL,"
	"read INTEGER NOT NULL,hash BLOB NOT NULL,damaged INTEGER NOT NULL,waiting INTEGER NOT NULL,first TEXT NOT NULL)"
	" WITHOUT ROWID";

static const char *const text[SQL_COUNT] = {
#define SQL(name, text) [SQL_##name] = text,
#include "db/sql.def"
#undef SQL
};

const char sql_index_lies[] = "the database is damaged: its index differs from its runs";

bool sql_fail(const Db *db, int rc, Err *err)
{
	const char *what = db->sql != NULL ? sqlite3_errmsg(db->sql) : sqlite3_errstr(rc);
	int why = db->sql != NULL ? sqlite3_system_errno(db->sql) : 0;
	if ((rc & 0xff) == SQLITE_IOERR && (why == ENOSPC || why == EDQUOT))
		rc = SQLITE_FULL;
	switch (rc & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_SCHEMA:
	case SQLITE_ERROR:
	case SQLITE_TOOBIG:
	case SQLITE_MISMATCH:
		return fail(err, ERR_INPUT, db->path, "the file is damaged, or is no tuning database of dlc (%s)", what);
	case SQLITE_READONLY:
		if (rc == SQLITE_READONLY_DBMOVED)
			return fail(err, ERR_DEVICE, db->path, "the database was deleted or replaced while it was in use");
		if (rc == SQLITE_READONLY_ROLLBACK || rc == SQLITE_READONLY_RECOVERY || rc == SQLITE_READONLY_CANTINIT)
			return fail(err, ERR_DEVICE, db->path, "a program that wrote to the database was killed, and this user "
				"cannot clean up; open the database once as a user who can write to it");
		return fail(err, ERR_DEVICE, db->path, "the database cannot be written: it or its folder is read-only");
	case SQLITE_FULL:
		return fail(err, ERR_DEVICE, db->path, "the disk is full; what was stored before is kept");
	case SQLITE_CANTOPEN:
		return fail(err, ERR_DEVICE, db->path, "the database cannot be opened: %s", why != 0 ? strerror(why) : what);
	case SQLITE_IOERR:
		if (why == ENOLCK || why == ENOSYS || why == EOPNOTSUPP)
			return fail(err, ERR_DEVICE, db->path, "its file system has no locks (%s); keep the database on a local "
				"disk, and pass records on with dlc db export and import", strerror(why));
		return fail(err, ERR_DEVICE, db->path, "the database cannot be used: %s", why != 0 ? strerror(why) : what);
	case SQLITE_NOMEM: return fail(err, ERR_MEMORY, db->path, "out of memory");
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return fail(err, ERR_DEVICE, db->path, "another program keeps the database locked; try again");
	default: return fail(err, ERR_DEVICE, db->path, "the database cannot be used: %s", what);
	}
}

bool sql_in_place(const Db *db, Err *err)
{
	int moved = 0;
	sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return moved == 0 || fail(err, ERR_DEVICE, db->path, "the database was deleted or replaced while it was in use");
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

sqlite3_stmt *sql_get_walk(Db *db, SqlId id, Err *err)
{
	if (db->stmt[id] == NULL || !sqlite3_stmt_busy(db->stmt[id]))
		return sql_get(db, id, err);
	fail(err, ERR_USAGE, db->path,
		"is walked for the same rows already: the call whose callback runs must return first");
	return NULL;
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
		return fail(err, ERR_INPUT, db->path, "the database is damaged: a record has the id of another one");
	return true;
}

bool sql_read_run(Db *db, Arena *a, sqlite3_stmt *st, int line, int id, RunRecord *out, Err *err)
{
	Record r;
	Hash key;
	const char *bytes = (const char *)sqlite3_column_text(st, line);
	if (bytes != NULL && sql_hash(st, id, &key) &&
		record_read_run(a, bytes, (size_t)sqlite3_column_bytes(st, line), out) &&
		memcmp(&key, &out->id, sizeof key) == 0)
		return true;
	if (!sql_read_record(db, a, st, line, id, &r, err))
		return false;
	if (r.kind != RECORD_RUN)
		return fail(err, ERR_INPUT, db->path, "the database is damaged: its index of runs names something else");
	return record_to_run(&r, out, err);
}

bool sql_next(Db *db, sqlite3_stmt *st, bool *row, Err *err)
{
	int rc = sqlite3_step(st);
	*row = rc == SQLITE_ROW;
	if (rc == SQLITE_ROW)
		return true;
	sqlite3_reset(st);
	return rc == SQLITE_DONE || sql_fail(db, rc, err);
}

bool sql_hash(sqlite3_stmt *st, int column, Hash *out)
{
	const void *blob = sqlite3_column_blob(st, column);
	if (blob == NULL || sqlite3_column_bytes(st, column) != (int)sizeof *out)
		return false;
	memcpy(out, blob, sizeof *out);
	return true;
}
