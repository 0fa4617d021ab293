/*
 * The index: every record is stored as its line under its id; runs and retractions have index rows
 * beside it, which could be rebuilt from the lines.  Opened with SQLite's defensive settings; a
 * schema that is not exactly ours is refused, so that a file from somebody else brings no triggers
 * or views.  WAL with synchronous=NORMAL: a committed record survives the process.
 */
#include "base/file.h"
#include "db/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPLICATION_ID "1145848660" /* "DLCT" */
#define VERSION "4"
/* Lines are about 600 bytes; an import into pages of 4 KiB takes a quarter longer. */
#define PAGE_SIZE "16384"
/* Pages a writer keeps, at most: an index page that does not stay is written again for each row that falls into it. */
#define CACHE_KIB "65536"

enum { PATIENCE_MS = 10000, RETRY_MS = 5 }; /* with a lock that somebody else holds */

/*
 * What the index says of records it says of their numbers, n, which grow: most insertions go to the end of a
 * table, and the two indexes that they scatter over are a few bytes wide.  A subject is what a look-up asks
 * for; there are few, each with runs.  An index over all that a run says by hashes took twice as long to fill.
 */
static const char *const schema[] = {
	"CREATE TABLE record(n INTEGER PRIMARY KEY,id BLOB NOT NULL UNIQUE,kind INTEGER NOT NULL,line TEXT NOT NULL)",
	"CREATE TABLE subject(n INTEGER PRIMARY KEY,workload BLOB NOT NULL,target BLOB NOT NULL,epoch INTEGER NOT NULL,"
	"UNIQUE(workload,target,epoch))",
	"CREATE TABLE run(n INTEGER PRIMARY KEY,subject INTEGER NOT NULL,status INTEGER NOT NULL,"
	"verified INTEGER NOT NULL,median_ns INTEGER NOT NULL,samples INTEGER NOT NULL,trace INTEGER NOT NULL,"
	"id BLOB NOT NULL,session BLOB NOT NULL)",
	"CREATE TABLE retraction(n INTEGER PRIMARY KEY,run INTEGER NOT NULL)",
	"CREATE TABLE task(id BLOB PRIMARY KEY,family BLOB NOT NULL) WITHOUT ROWID",
	"CREATE INDEX run_best ON run(subject,status,verified,median_ns,trace)",
	"CREATE INDEX run_trace ON run(trace)",
	"CREATE INDEX retraction_run ON retraction(run)",
	"CREATE INDEX task_family ON task(family)",
};

#define NOT_RETRACTED " AND NOT EXISTS(SELECT 1 FROM retraction t WHERE t.run=run.n)"
/* The runs of a workload and a target, of any epoch. */
#define RUNS_OF "subject s CROSS JOIN run INDEXED BY run_best ON run.subject=s.n"
#define SUBJECT "(SELECT n FROM subject WHERE workload=?1 AND target=?2 AND epoch=?3)"

static const char *const text[SQL_COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_HOLD] = "BEGIN",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_PUT_RECORD] = "INSERT OR IGNORE INTO record(id,kind,line) VALUES(?1,?2,?3)",
	[SQL_KIND] = "SELECT kind,n FROM record WHERE id=?1",
	[SQL_GET_RECORD] = "SELECT line,id FROM record WHERE id=?1",
	[SQL_GET_NUMBER] = "SELECT line,id FROM record WHERE n=?1",
	[SQL_PUT_RUN] = "INSERT INTO run(n,subject,status,verified,median_ns,trace,id,session,samples)"
			" VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
	[SQL_SUBJECT] = "SELECT n FROM subject WHERE workload=?1 AND target=?2 AND epoch=?3",
	[SQL_PUT_SUBJECT] = "INSERT INTO subject(workload,target,epoch) VALUES(?1,?2,?3)",
	[SQL_PUT_RETRACTION] = "INSERT INTO retraction(n,run) VALUES(?1,?2)",
	[SQL_PUT_FAMILY] = "INSERT OR IGNORE INTO task(id,family) VALUES(?1,?2)",
	[SQL_RUNS] = "SELECT r.line,run.id FROM run INDEXED BY run_best JOIN record r USING(n) WHERE run.subject=" SUBJECT
		     NOT_RETRACTED " ORDER BY run.status,run.median_ns,run.id",
	[SQL_FASTEST] = "SELECT median_ns,trace FROM run INDEXED BY run_best WHERE subject=?1 AND status=0 AND verified=1"
			" AND median_ns>=?2 ORDER BY median_ns",
	[SQL_OF_TRACE] = "SELECT n,median_ns,id,session,samples FROM run INDEXED BY run_trace WHERE trace=?3 AND subject=?1 AND"
			 " status=0 AND verified=1 AND median_ns>=?2" NOT_RETRACTED,
	[SQL_EPOCH_BELOW] = "SELECT epoch FROM subject s WHERE workload=?1 AND target=?2 AND epoch<?3 AND EXISTS(SELECT 1"
			    " FROM run WHERE subject=s.n AND status=0 AND verified=1) ORDER BY epoch DESC LIMIT 1",
	[SQL_COUNT_BELOW] = "SELECT count(*) FROM " RUNS_OF " WHERE s.workload=?1 AND s.target=?2 AND run.status=0 AND"
			    " run.verified=1 AND run.median_ns<?3" NOT_RETRACTED,
	[SQL_COUNT_RUNS] = "SELECT count(*) FROM " RUNS_OF " WHERE s.workload=?1 AND s.target=?2" NOT_RETRACTED,
	[SQL_FAMILY] = "SELECT r.line,t.id FROM task t JOIN record r USING(id) WHERE t.family=?1 AND t.id<>?2 AND"
		       " EXISTS(SELECT 1 FROM " RUNS_OF " WHERE s.workload=t.id AND s.target=?3 AND run.status=0 AND"
		       " run.verified=1) ORDER BY t.id LIMIT 1000",
	[SQL_NEXT_TARGET] = "SELECT min(target) FROM subject WHERE workload=?1 AND target>?2",
	[SQL_ALL] = "SELECT id,kind,line,n FROM record ORDER BY kind,id",
	[SQL_INDEXED] = "SELECT s.workload,s.target,s.epoch,run.status,run.verified,run.median_ns,run.trace,run.id,run.session,"
			"run.samples"
			" FROM run JOIN subject s ON s.n=run.subject WHERE run.n=?1",
	[SQL_COUNT_INDEXED] = "SELECT (SELECT count(*) FROM run)+(SELECT count(*) FROM task)+"
			      "(SELECT count(*) FROM retraction)+(SELECT count(*) FROM subject s WHERE"
			      " NOT EXISTS(SELECT 1 FROM run WHERE subject=s.n))",
	[SQL_RETRACTION] = "SELECT 1 FROM retraction t JOIN record r ON r.n=t.run WHERE t.n=?1 AND r.id=?2",
	[SQL_IS_RETRACTED] = "SELECT 1 FROM retraction WHERE run=(SELECT n FROM record WHERE id=?1)",
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
		return fail(err, ERR_DEVICE, db->path, "the database cannot be written: it or its folder is read-only");
	case SQLITE_FULL:
		return fail(err, ERR_DEVICE, db->path, "the disk is full; what was stored before is kept");
	case SQLITE_CANTOPEN:
		return fail(err, ERR_DEVICE, db->path, "the database cannot be opened: %s", why != 0 ? strerror(why) : what);
	case SQLITE_IOERR:
		return fail(err, ERR_DEVICE, db->path, "the database cannot be used: %s", why != 0 ? strerror(why) : what);
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

/*
 * The schema is ours to the letter: as many objects, each with the text that we write. Only the indexes that SQLite
 * makes for UNIQUE and PRIMARY KEY have no text; names say nothing, a stranger's trigger may have one like theirs.
 */
static bool check_schema(Db *db, Err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql,
		"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL OR type<>'index'", -1, &st, NULL);
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
	if (!exec(db, "PRAGMA page_size=" PAGE_SIZE, err) || !exec(db, "BEGIN IMMEDIATE", err))
		return false;
	if (!pragma_int(db, "SELECT count(*) FROM sqlite_master", &objects, err))
		return false;
	for (size_t i = 0; objects == 0 && i < sizeof schema / sizeof *schema; i++)
		if (!exec(db, schema[i], err))
			return false;
	return (objects != 0 ||
		       exec(db, "PRAGMA application_id=" APPLICATION_ID ";PRAGMA user_version=" VERSION, err)) &&
		exec(db, "COMMIT", err);
}

/* Read as of one moment: between two readings another tuner may have made the tables. */
static bool read_identity(Db *db, int64_t *app, int64_t *version, int64_t *objects, Err *err)
{
	return exec(db, "BEGIN", err) && pragma_int(db, "PRAGMA application_id", app, err) &&
		pragma_int(db, "PRAGMA user_version", version, err) &&
		pragma_int(db, "SELECT count(*) FROM sqlite_master", objects, err) && exec(db, "COMMIT", err);
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
	sqlite3_busy_timeout(db->sql, PATIENCE_MS);
	return SQLITE_OK;
}

/* A file that a tuner has just made, or had no room to fill, holds no records; it is not ours to fill. */
static bool read_nothing(Db *db, Err *err)
{
	sqlite3_close_v2(db->sql);
	int rc = open_file(db, ":memory:", SQLITE_OPEN_READWRITE);
	return rc == SQLITE_OK ? create_schema(db, err) : sql_fail(db, rc, err);
}

static bool check_identity(Db *db, DbMode mode, Err *err)
{
	int64_t app = 0, version = 0, objects = 0;
	if (!read_identity(db, &app, &version, &objects, err))
		return false;
	bool empty = app == 0 && version == 0 && objects == 0;
	if (empty && mode == DB_READ)
		return read_nothing(db, err);
	if (empty && (!create_schema(db, err) || !read_identity(db, &app, &version, &objects, err)))
		return false;
	if (app != strtoll(APPLICATION_ID, NULL, 10))
		return fail(err, ERR_INPUT, db->path, "is no tuning database of dlc");
	int64_t ours = strtoll(VERSION, NULL, 10);
	if (version != ours)
		return fail(err, ERR_INPUT, db->path, "the database has version %lld, this dlc reads version %s; %s",
			(long long)version, VERSION, version > ours ? "use a newer dlc"
				: "export it with the dlc that made it, and import the lines into a new one");
	return check_schema(db, err);
}

/* To SQLite, ":memory:" and "file:x?mode=memory" are no files. */
static const char *file_name(Arena *a, const char *path)
{
	return arena_printf(a, "%s%s", path[0] == '/' ? "" : "./", path);
}

/*
 * Where there is no -wal file and this user may not make one (a read-only folder), or only one that the file's
 * owner could not write to later (a file that is read-only to this user), the file is read as it lies there.
 */
static bool lies_still(Arena *a, const char *path)
{
	return access(path, W_OK) != 0 && access(arena_printf(a, "%s-wal", path), F_OK) != 0;
}

static char *immutable_uri(Arena *a, const char *path)
{
	Text t = { .arena = a };
	text_add(&t, "file:%s", path[0] == '/' ? "//" : "./");
	for (const char *p = path; *p != 0; p++)
		if (strchr("?#%", *p) != NULL)
			text_add(&t, "%%%02x", (unsigned char)*p);
		else
			text_put(&t, p, 1);
	text_add(&t, "?immutable=1");
	return (char *)text_str(&t);
}

static bool open_as_it_lies(Db *db, Err *err)
{
	int rc = open_file(db, immutable_uri(db->arena, db->path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
	return rc == SQLITE_OK ? check_identity(db, DB_READ, err) : sql_fail(db, rc, err);
}

static bool open_to_read(Db *db, Err *err)
{
	Err first = { 0 };
	if (access(db->path, R_OK) == 0 && lies_still(db->arena, db->path))
		return open_as_it_lies(db, err);
	int rc = open_file(db, file_name(db->arena, db->path), SQLITE_OPEN_READONLY);
	if (rc != SQLITE_OK && sqlite3_system_errno(db->sql) == ENOENT)
		return fail(err, ERR_INPUT, db->path, "there is no such file");
	if (rc != SQLITE_OK)
		return sql_fail(db, rc, err);
	if (check_identity(db, DB_READ, &first))
		return true;
	rc = sqlite3_extended_errcode(db->sql);
	bool no_room = rc == SQLITE_IOERR_SHMSIZE || rc == SQLITE_IOERR_SHMOPEN || rc == SQLITE_IOERR_SHMMAP; /* for a -shm */
	if ((rc & 0xff) != SQLITE_CANTOPEN && (rc & 0xff) != SQLITE_READONLY && !no_room) {
		if (err != NULL)
			*err = first;
		return false;
	}
	sqlite3_close_v2(db->sql);
	db->sql = NULL;
	return open_as_it_lies(db, err);
}

/* SQLite does not wait by itself where two change the journal's mode at once: either could wait for the other. */
static bool use_wal(Db *db, Err *err)
{
	int rc = SQLITE_BUSY;
	for (int ms = 0; (rc & 0xff) == SQLITE_BUSY && ms < PATIENCE_MS; ms += RETRY_MS) {
		if (ms > 0)
			sqlite3_sleep(RETRY_MS);
		rc = sqlite3_exec(db->sql, "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
	}
	return rc == SQLITE_OK || sql_fail(db, rc, err);
}

/* What SQLite cannot say: in the end it has tried to read. */
static bool check_places(Db *db, Err *err)
{
	static const char *const beside[] = { "-wal", "-shm" };
	const char *path = db->path, *slash = strrchr(path, '/');
	const char *folder = slash == NULL ? "." : arena_printf(db->arena, "%.*s", (int)(slash - path) + (slash == path), path);
	if (access(path, F_OK) != 0 && access(folder, F_OK) == 0 && access(folder, W_OK) != 0)
		return fail(err, ERR_DEVICE, path, "the database cannot be made: %s cannot be written to", folder);
	if (access(path, F_OK) == 0 && access(path, W_OK) != 0) /* SQLite would read it, and leave files beside it */
		return sql_fail(db, SQLITE_READONLY, err);
	for (int i = 0; i < 2; i++) {
		const char *file = arena_printf(db->arena, "%s%s", path, beside[i]);
		if (access(file, F_OK) == 0 && access(file, W_OK) != 0)
			return fail(err, ERR_DEVICE, file, "cannot be written, though its database can: a reader has left it; when no "
				"program uses the database, remove it (a -wal only if it is empty)");
	}
	return true;
}

/* What a database is comes first: one of another program is left as it is, journal mode included. */
static bool open_to_write(Db *db, Err *err)
{
	if (!check_places(db, err))
		return false;
	int rc = open_file(db, file_name(db->arena, db->path), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	if (rc != SQLITE_OK)
		return sql_fail(db, rc, err);
	return check_identity(db, DB_WRITE, err) && use_wal(db, err) && exec(db, "PRAGMA cache_size=-" CACHE_KIB, err);
}

Db *db_open(const char *path, DbMode mode, Err *err)
{
	Arena *a = arena_new();
	Db *db = arena_new_of(a, Db);
	db->arena = a;
	db->path = arena_printf(a, "%s", path);
	db->env_epoch = -1;
	bool named = path[0] != 0 || fail(err, ERR_INPUT, "database", "its file has no name");
	if (named && file_is_plain(path, err) && (mode == DB_READ ? open_to_read(db, err) : open_to_write(db, err)))
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
