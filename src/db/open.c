/*
 * A path -> an open database: finds out what the file is, checks its schema, sets its journal.  A schema that is not
 * exactly ours is refused, so that a stranger's file brings no triggers or views; SQLite's defensive settings are on.
 * The journal is WAL with synchronous=NORMAL where the file system permits it: a committed record survives the process.
 */
#include "db/bound.h"
#include "db/open.h"
#include "db/segment.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID "1145848660" /* "DLCT" */

bool open_exec(Db *db, const char *sql, Err *err)
{
	int rc = sqlite3_exec(db->sql, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK || sql_fail(db, rc, err);
}

bool open_pragma(Db *db, const char *sql, int64_t *out, Err *err)
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
	int rc = sqlite3_prepare_v2(
		db->sql, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL OR type<>'index'", -1, &st, NULL);
	size_t found = 0, alien = 0;
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		const char *sql = (const char *)sqlite3_column_text(st, 0);
		bool ours = false;
		for (size_t i = 0; sql != NULL && sql_schema[i] != NULL; i++)
			ours |= strcmp(sql, sql_schema[i]) == 0;
		ours |= sql != NULL && db->logs != NULL && strcmp(sql, sql_segments) == 0;
		found += ours;
		alien += !ours;
	}
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE)
		return sql_fail(db, rc, err);
	size_t objects = 0;
	while (sql_schema[objects] != NULL)
		objects++;
	if (alien != 0 || found != objects + (db->logs != NULL))
		return fail(err, ERR_INPUT, db->path, "the database has tables that dlc did not make");
	return true;
}

bool open_tables(Db *db, Err *err)
{
	for (size_t i = 0; sql_schema[i] != NULL; i++)
		if (!open_exec(db, sql_schema[i], err))
			return false;
	if (db->logs != NULL && !open_exec(db, sql_segments, err))
		return false;
	return open_exec(db, "PRAGMA application_id=" APPLICATION_ID ";PRAGMA user_version=" SQL_VERSION, err);
}

static bool create_schema(Db *db, Err *err)
{
	/* Two tuners may start on one new file: the second finds the first one's tables. */
	int64_t objects = 0;
	const char *page = arena_printf(db->arena, "PRAGMA page_size=%d", BOUND_PAGE);
	return open_exec(db, page, err) && open_exec(db, "BEGIN IMMEDIATE", err) &&
	       open_pragma(db, "SELECT count(*) FROM sqlite_master", &objects, err) &&
	       (objects != 0 || open_tables(db, err)) && open_exec(db, "COMMIT", err);
}

/* Read as of one moment: between two readings another tuner may have made the tables. */
static bool read_identity(Db *db, int64_t *app, int64_t *version, int64_t *objects, Err *err)
{
	return open_exec(db, "BEGIN", err) && open_pragma(db, "PRAGMA application_id", app, err) &&
	       open_pragma(db, "PRAGMA user_version", version, err) &&
	       open_pragma(db, "SELECT count(*) FROM sqlite_master", objects, err) && open_exec(db, "COMMIT", err);
}

int open_connection(const char *name, int flags, sqlite3 **out)
{
	int rc = sqlite3_open_v2(name, out, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_db_config(*out, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(*out, SQLITE_LIMIT_LENGTH, 64 << 20);
	sqlite3_busy_timeout(*out, BOUND_WAIT_MS);
	return SQLITE_OK;
}

bool open_memory(Db *db, Err *err)
{
	sqlite3 *memory = NULL;
	int rc = open_connection(":memory:", SQLITE_OPEN_READWRITE, &memory);
	db->sql = memory;
	return rc == SQLITE_OK ? create_schema(db, err) : sql_fail(db, rc, err);
}

/* *version: of an older schema, which is not looked at; 0: the file is of this version. */
static bool check_identity(Db *db, DbMode mode, int64_t *version, Err *err)
{
	int64_t app = 0, objects = 0, ours = strtoll(SQL_VERSION, NULL, 10);
	*version = 0;
	if (!read_identity(db, &app, version, &objects, err))
		return false;
	bool empty = app == 0 && *version == 0 && objects == 0;
	if (empty && mode == DB_READ) { /* of a tuner that has just made it, or had no room to fill it */
		sqlite3_close_v2(db->sql);
		return open_memory(db, err);
	}
	if (empty && (!create_schema(db, err) || !read_identity(db, &app, version, &objects, err)))
		return false;
	if (app != strtoll(APPLICATION_ID, NULL, 10))
		return fail(err, ERR_INPUT, db->path, "is no tuning database of dlc");
	if (*version > ours)
		return fail(err, ERR_INPUT, db->path,
			"the database has version %lld, this dlc reads version %s; use a newer dlc",
			(long long)*version, SQL_VERSION);
	if (*version < 1)
		return fail(err, ERR_INPUT, db->path, "the database is damaged: no dlc has made a version %lld",
			(long long)*version);
	if (*version < ours)
		return true;
	*version = 0;
	return check_schema(db, err);
}

/* To SQLite, ":memory:" and "file:x?mode=memory" are no files. */
static const char *file_name(Arena *a, const char *path)
{
	return arena_printf(a, "%s%s", path[0] == '/' ? "" : "./", path);
}

static const char *folder_of(Arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == NULL ? "." : arena_printf(a, "%.*s", (int)(slash - path) + (slash == path), path);
}

/* ---- to read */

/* A name for SQLite that lets it use a -shm which is there, and never make one. */
static const char *uri_of(Arena *a, const char *path)
{
	Text t = { .arena = a };
	text_add(&t, "file:%s", path[0] == '/' ? "//" : "./");
	for (const char *p = path; *p != 0; p++)
		if (strchr("?#%", *p) != NULL)
			text_add(&t, "%%%02x", (unsigned char)*p);
		else
			text_put(&t, p, 1);
	text_add(&t, "?readonly_shm=1");
	return text_str(&t);
}

static bool read_identified(Db *db, Err *err)
{
	int64_t version;
	return check_identity(db, DB_READ, &version, err) && (version == 0 || upgrade_in_memory(db, version, err));
}

/*
 * SQLite reads the file where it can cooperate with writers: always in rollback mode, whose locks a reader may take; in
 * WAL mode where memory is shared, and where no file is made that the database's owner cannot write to.  Else it reads
 * a copy.
 */
static bool open_to_read(Db *db, Err *err)
{
	Arena *a = db->arena;
	Err first = { 0 };
	bool no_file = access(db->path, W_OK) != 0,
	     no_folder = access(folder_of(a, fs_real_name(a, db->path)), W_OK) != 0;
	const char *name = no_file || no_folder ? uri_of(a, db->path) : file_name(a, db->path);
	int flags = SQLITE_OPEN_READONLY | (no_file || no_folder ? SQLITE_OPEN_URI : 0);
	int rc = open_connection(name, flags, &db->sql);
	if (rc != SQLITE_OK && sqlite3_system_errno(db->sql) == ENOENT)
		return fail(err, ERR_INPUT, db->path, "there is no such file");
	if (rc != SQLITE_OK)
		return sql_fail(db, rc, err);
	bool shares = fs_of(a, db->path).wal && (!no_file || no_folder);
	if (shares || !journal_is_wal(db->sql)) {
		if (read_identified(db, &first))
			return true;
		rc = sqlite3_extended_errcode(db->sql);
		/* It cannot take part in a log without a right and room to make and to change the files beside. */
		bool kept_out = (rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY || rc == SQLITE_PROTOCOL ||
			rc == SQLITE_IOERR_SHMSIZE || rc == SQLITE_IOERR_SHMOPEN || rc == SQLITE_IOERR_SHMMAP;
		if (!kept_out || !journal_is_wal(db->sql)) {
			if (err != NULL)
				*err = first;
			return false;
		}
		sqlite3_close_v2(db->sql);
		rc = open_connection(name, flags, &db->sql);
	}
	return rc == SQLITE_OK ? copy_to_memory(db, err) && read_identified(db, err) : sql_fail(db, rc, err);
}

/* ---- to write */

/* Reasons that SQLite does not tell: when it fails, its last attempt was to read. */
static bool check_places(Db *db, Err *err)
{
	static const char *const beside[] = { "-wal", "-shm" };
	const char *path = db->path, *folder = folder_of(db->arena, path);
	if (access(path, F_OK) != 0 && access(folder, F_OK) == 0 && access(folder, W_OK) != 0)
		return fail(err, ERR_DEVICE, path, "the database cannot be made: %s cannot be written to", folder);
	if (access(path, F_OK) == 0 &&
		access(path, W_OK) != 0) /* SQLite would read it, and leave files beside it */
		return sql_fail(db, SQLITE_READONLY, err);
	for (int i = 0; i < 2; i++) {
		const char *file = arena_printf(db->arena, "%s%s", path, beside[i]);
		if (access(file, W_OK) != 0 && errno != ENOENT) /* asked once: its last writer may remove it now */
			return fail(err, ERR_DEVICE, file,
				"cannot be written, though its database can: a reader has left it; when no "
				"program uses the database, remove it (a -wal only if it is empty)");
	}
	return true;
}

/*
 * The file's identity is checked first: a database of another program, or of a newer version, is left as it is, with
 * its journal mode.
 */
bool open_to_write(Db *db, Err *err)
{
	FsFact fs = fs_of(db->arena, db->path);
	int64_t version, now;
	if (!check_places(db, err) || !journal_may_write(db, fs, err))
		return false;
	int rc = open_connection(
		file_name(db->arena, db->path), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &db->sql);
	if (rc != SQLITE_OK)
		return sql_fail(db, rc, err);
	return journal_avoid_shm(db, fs, err) && check_identity(db, DB_WRITE, &version, err) &&
	       (version == 0 || upgrade_check(db, err)) && journal_set(db, fs, err) &&
	       (version == 0 || (upgrade_file(db, version, err) && check_identity(db, DB_WRITE, &now, err)));
}

Db *open_new(const char *path)
{
	Arena *a = arena_new();
	Db *db = arena_new_of(a, Db);
	db->arena = a;
	db->path = arena_printf(a, "%s", path);
	db->env_epoch = -1;
	owner_draw(&db->owner);
	return db;
}

Db *db_open(const char *path, DbMode mode, Err *err)
{
	enum { HEADER = 100 }; /* bytes: SQLite takes a shorter file for an empty database, and would write over it */
	Db *db = open_new(path);
	struct stat st;
	bool whole = stat(path, &st) != 0 || st.st_size == 0 || st.st_size >= HEADER,
	     named = path[0] != 0 || fail(err, ERR_INPUT, "database", "the path is empty; name a file");
	if (named && file_is_plain(path, err) &&
		(whole || fail(err, ERR_INPUT, path, "is no tuning database of dlc; name another file")) &&
		(mode == DB_READ ? open_to_read(db, err) : open_to_write(db, err)))
		return db;
	db_close(db);
	return NULL;
}

Db *db_open_memory(Err *err)
{
	Db *db = open_new("memory");
	if (open_memory(db, err))
		return db;
	db_close(db);
	return NULL;
}

const char *db_note(const Db *db)
{
	return db->note;
}

int64_t db_lost(const Db *db)
{
	return db->lost;
}

void open_disconnect(Db *db)
{
	for (int i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(db->stmt[i]);
	memset(db->stmt, 0, sizeof db->stmt);
	sqlite3_close_v2(db->sql);
	db->sql = NULL;
}

void db_close(Db *db)
{
	if (db == NULL)
		return;
	if (db->logs != NULL)
		logs_close(db);
	open_disconnect(db);
	arena_free(db->arena);
}
