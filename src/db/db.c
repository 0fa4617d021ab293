/*
 * The index: every record is stored as its line under its id; runs and retractions have index rows
 * beside it, which could be rebuilt from the lines.  Here stand the schema, the statements, and what
 * a row is read into; db/open.c opens the file.
 */
#include "db/sql.h"

#include <errno.h>
#include <string.h>

/*
 * What the index says of records it says of their numbers, n, which grow: most insertions go to the end of a
 * table, and the two indexes that they scatter over are a few bytes wide.  A subject is what a look-up asks
 * for; there are few, each with runs.  An index over all that a run says by hashes took twice as long to fill.
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

#define IS_RETRACTED "EXISTS(SELECT 1 FROM retraction t WHERE t.run=run.n)"
#define NOT_RETRACTED " AND NOT EXISTS(SELECT 1 FROM retraction t WHERE t.run=run.n)"
/* The runs of a workload and a target, of any epoch. */
#define RUNS_OF "subject s CROSS JOIN run INDEXED BY run_best ON run.subject=s.n"
/* Those of a subject in the order of the index; asked once for sealed ones and once for others, side by side. */
#define FASTEST "SELECT median_ns,trace,stage FROM run INDEXED BY run_best WHERE subject=?1 AND status=0 AND verified=1 AND" \
	" sealed=?3 AND stage<=?4 AND median_ns>=?2 ORDER BY stage DESC,median_ns"
#define SUBJECT "(SELECT n FROM subject WHERE workload=?1 AND target=?2 AND epoch=?3)"

static const char *const text[SQL_COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_HOLD] = "BEGIN",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_PUT_RECORD] = "INSERT OR IGNORE INTO record(id,kind,line) VALUES(?1,?2,?3)",
	[SQL_KIND] = "SELECT kind,n FROM record WHERE id=?1",
	[SQL_GET_RECORD] = "SELECT line,id FROM record WHERE id=?1",
	[SQL_GET_RUN] = "SELECT r.line,r.id,ifnull((SELECT seal FROM run WHERE n=r.n),0) FROM record r WHERE r.id=?1",
	[SQL_GET_NUMBER] = "SELECT line,id FROM record WHERE n=?1",
	[SQL_PUT_RUN] = "INSERT INTO run(n,subject,status,verified,sealed,stage,median_ns,trace,id,session,samples,seal)"
			" VALUES(?1,?2,?3,?4,0,?10,?5,?6,?7,?8,?9,0)",
	[SQL_SUBJECT] = "SELECT n FROM subject WHERE workload=?1 AND target=?2 AND epoch=?3",
	[SQL_PUT_SUBJECT] = "INSERT INTO subject(workload,target,epoch) VALUES(?1,?2,?3)",
	[SQL_PUT_RETRACTION] = "INSERT INTO retraction(n,run,seal) VALUES(?1,?2,0)",
	[SQL_PUT_CLOSING] = "INSERT INTO closing(n,session) VALUES(?1,?2)",
	[SQL_CLOSING] = "SELECT session FROM closing WHERE n=?1",
	[SQL_CLOSINGS_OF] = "SELECT r.line FROM closing c JOIN record r USING(n) WHERE c.session=?1",
	[SQL_PUT_FAMILY] = "INSERT OR IGNORE INTO task(id,family) VALUES(?1,?2)",
	[SQL_RUNS] = "SELECT r.line,run.id,run.seal," IS_RETRACTED " FROM run INDEXED BY run_best JOIN record r USING(n)"
		     " WHERE run.subject=" SUBJECT " ORDER BY run.status,run.median_ns,run.id",
	[SQL_FASTEST] = FASTEST,
	[SQL_FASTEST_SEALED] = FASTEST,
	[SQL_OF_TRACE] = "SELECT n,median_ns,id,session,samples,status,verified,stage,seal," IS_RETRACTED
			 " FROM run INDEXED BY run_trace WHERE trace=?2 AND subject=?1",
	[SQL_EPOCH_BELOW] = "SELECT epoch FROM subject s WHERE workload=?1 AND target=?2 AND epoch<?3 AND EXISTS(SELECT 1"
			    " FROM run WHERE subject=s.n AND status=0 AND verified=1) ORDER BY epoch DESC LIMIT 1",
	[SQL_COUNT_BELOW] = "SELECT count(*) FROM " RUNS_OF " WHERE s.workload=?1 AND s.target=?2 AND run.status=0 AND"
			    " run.verified=1 AND run.median_ns<?3" NOT_RETRACTED,
	[SQL_COUNT_RUNS] = "SELECT count(*) FROM " RUNS_OF " WHERE s.workload=?1 AND s.target=?2" NOT_RETRACTED,
	[SQL_FAMILY] = "SELECT r.line,t.id FROM task t JOIN record r USING(id) WHERE t.family=?1 AND t.id<>?2 AND"
		       " EXISTS(SELECT 1 FROM " RUNS_OF " WHERE s.workload=t.id AND s.target=?3 AND run.status=0 AND"
		       " run.verified=1) ORDER BY t.id LIMIT ?4",
	[SQL_NEXT_TARGET] = "SELECT min(target) FROM subject WHERE workload=?1 AND target>?2",
	[SQL_ALL] = "SELECT id,kind,line,n FROM record ORDER BY kind,id",
	[SQL_INDEXED] = "SELECT s.workload,s.target,s.epoch,run.status,run.verified,run.median_ns,run.trace,run.id,run.session,"
			"run.samples,run.sealed,run.seal,run.stage"
			" FROM run JOIN subject s ON s.n=run.subject WHERE run.n=?1",
	[SQL_COUNT_INDEXED] = "SELECT (SELECT count(*) FROM run)+(SELECT count(*) FROM task)+(SELECT count(*) FROM closing)+"
			      "(SELECT count(*) FROM retraction)+(SELECT count(*) FROM subject s WHERE"
			      " NOT EXISTS(SELECT 1 FROM run WHERE subject=s.n))",
	[SQL_RETRACTION] = "SELECT 1 FROM retraction t JOIN record r ON r.n=t.run WHERE t.n=?1 AND r.id=?2",
	[SQL_IS_RETRACTED] = "SELECT t.seal,r.id FROM retraction t JOIN record r USING(n) WHERE t.run=(SELECT n FROM record"
			     " WHERE id=?1)",
	[SQL_SEAL_RUN] = "UPDATE run SET sealed=1,seal=?2 WHERE n=(SELECT n FROM record WHERE id=?1)",
	[SQL_SEAL_RETRACTION] = "UPDATE retraction SET seal=?2 WHERE n=(SELECT n FROM record WHERE id=?1)",
	[SQL_EACH_TASK] = "SELECT t.id,s.target,count(r.n),total(r.status=0),count(DISTINCT r.session),"
			  "ifnull(max(CASE WHEN r.status=0 THEN s.epoch END),-1)"
			  " FROM task t LEFT JOIN subject s ON s.workload=t.id LEFT JOIN run r ON r.subject=s.n"
			  " GROUP BY t.id,s.target ORDER BY t.id,s.target",
	[SQL_EACH_SESSION] = "SELECT session,count(*),total(status=0) FROM run GROUP BY session ORDER BY session",
	[SQL_COUNT_KINDS] = "SELECT kind,count(*) FROM record GROUP BY kind",
	[SQL_COUNT_STATUS] = "SELECT status,count(*) FROM run GROUP BY status",
	[SQL_SIZES] = "SELECT ifnull((SELECT sum(length(line)) FROM record),0),"
		      "(SELECT page_count FROM pragma_page_count())*(SELECT page_size FROM pragma_page_size())",
	[SQL_VERIFIED] = "SELECT r.line,run.id FROM " RUNS_OF " JOIN record r ON r.n=run.n WHERE s.workload=?1 AND s.target=?2"
			 " AND run.status=0 AND run.verified=1" NOT_RETRACTED " ORDER BY run.median_ns,run.id",
	[SQL_OF_WORKLOAD] = "SELECT r.line,run.id FROM " RUNS_OF " JOIN record r ON r.n=run.n WHERE s.workload=?1",
	[SQL_FIND] = "SELECT id,kind FROM record WHERE id>=?1 AND id<=?2 AND (?3<0 OR kind=?3) ORDER BY id",
	[SQL_FAMILY_OF] = "SELECT family FROM task WHERE id=?1",
};

const char sql_index_lies[] = "the database is damaged: its index says other things than its runs";

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
		return fail(err, ERR_INPUT, db->path, "the database is damaged or none of dlc's (%s)", what);
	case SQLITE_READONLY:
		if (rc == SQLITE_READONLY_DBMOVED)
			return fail(err, ERR_DEVICE, db->path, "the database was deleted or replaced while it was in use");
		if (rc == SQLITE_READONLY_ROLLBACK || rc == SQLITE_READONLY_RECOVERY || rc == SQLITE_READONLY_CANTINIT)
			return fail(err, ERR_DEVICE, db->path, "a program that wrote to the database was killed, and this user may not "
				"clean up; open it once as a user who may write to it");
		return fail(err, ERR_DEVICE, db->path, "the database cannot be written: it or its folder is read-only");
	case SQLITE_FULL:
		return fail(err, ERR_DEVICE, db->path, "the disk is full; what was stored before is kept");
	case SQLITE_CANTOPEN:
		return fail(err, ERR_DEVICE, db->path, "the database cannot be opened: %s", why != 0 ? strerror(why) : what);
	case SQLITE_IOERR:
		if (why == ENOLCK || why == ENOSYS || why == EOPNOTSUPP)
			return fail(err, ERR_DEVICE, db->path, "its file system has no locks (%s); keep the database on a local disk, and "
				"pass records on with dlc db export and import", strerror(why));
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
