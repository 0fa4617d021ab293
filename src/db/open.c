/*
 * Opening a database: what the file is, its schema, its journal.  SQLite's defensive settings; a schema
 * that is not exactly ours is refused, so that a file from somebody else brings no triggers or views.
 * WAL with synchronous=NORMAL: a committed record survives the process.
 */
#include "base/file.h"
#include "db/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPLICATION_ID "1145848660" /* "DLCT" */
/* Lines are about 600 bytes; an import into pages of 4 KiB takes a quarter longer. */
#define PAGE_SIZE "16384"
/* Pages a writer keeps, at most: an index page that does not stay is written again for each row that falls into it. */
#define CACHE_KIB "65536"

enum { PATIENCE_MS = 10000, RETRY_MS = 5 }; /* with a lock that somebody else holds */

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
		for (size_t i = 0; sql != NULL && sql_schema[i] != NULL; i++)
			ours |= strcmp(sql, sql_schema[i]) == 0;
		found += ours;
		alien += !ours;
	}
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE)
		return sql_fail(db, rc, err);
	size_t objects = 0;
	while (sql_schema[objects] != NULL)
		objects++;
	if (alien != 0 || found != objects)
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
	for (size_t i = 0; objects == 0 && sql_schema[i] != NULL; i++)
		if (!exec(db, sql_schema[i], err))
			return false;
	return (objects != 0 ||
		       exec(db, "PRAGMA application_id=" APPLICATION_ID ";PRAGMA user_version=" SQL_VERSION, err)) &&
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
	int64_t ours = strtoll(SQL_VERSION, NULL, 10);
	if (version != ours)
		return fail(err, ERR_INPUT, db->path, "the database has version %lld, this dlc reads version %s; %s",
			(long long)version, SQL_VERSION, version > ours ? "use a newer dlc"
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
