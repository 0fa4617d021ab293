/*
 * A file of an older schema -> one of this version, from its own lines.  The schema is only an index over the lines, so
 * an old file is a log, and every line is checked like one of a log.  For a reader the new tables are in memory.
 *
 * For a writer the tables are made anew in the file, in one transaction: SQLite's locks let one tuner do it while
 * others wait, and a kill leaves the old tables.  (A new file that is renamed over the old one would need a lock on
 * the name: who has opened the old file, and waits, takes the new file's journal for a hot one and plays it back
 * into the old.)  Before the commit a copy of the old file gets a name of its own beside it.
 */
#include "db/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the table of lines was; what else such a file holds is not read. */
static const char *const records[] = {
	"CREATE TABLE record(id BLOB PRIMARY KEY,kind INTEGER NOT NULL,line TEXT NOT NULL) WITHOUT ROWID",
	"CREATE TABLE record(id BLOB PRIMARY KEY NOT NULL,kind INTEGER NOT NULL,line TEXT NOT NULL)",
};

/* The name of the i-th object of this version's schema, if that is a table: a table of an older one has no other. */
static const char *table_name(Arena *a, size_t i)
{
	static const char begins[] = "CREATE TABLE ";
	const char *sql = sql_schema[i], *name = sql + sizeof begins - 1;
	if (strncmp(sql, begins, sizeof begins - 1) != 0)
		return NULL;
	return arena_printf(a, "%.*s", (int)strcspn(name, "("), name);
}

static bool is_ours(Arena *a, const char *name, const char *sql)
{
	bool is_record = strcmp(name, "record") == 0, ours = false;
	for (size_t i = 0; is_record && i < sizeof records / sizeof *records; i++)
		ours |= strcmp(sql, records[i]) == 0;
	for (size_t i = 0; sql_schema[i] != NULL; i++) {
		const char *table = table_name(a, i);
		ours |= table != NULL && strcmp(table, name) == 0 && (!is_record || strcmp(sql, sql_schema[i]) == 0);
	}
	return ours && strncmp(sql, "CREATE TABLE ", 13) == 0;
}

bool upgrade_check(Db *db, Err *err)
{
	sqlite3_stmt *st = NULL;
	int found = 0, alien = 0;
	int rc = sqlite3_prepare_v2(
		db->sql, "SELECT name,ifnull(sql,'') FROM sqlite_master WHERE type<>'index'", -1, &st, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		const char *name = (const char *)sqlite3_column_text(st, 0),
			   *sql = (const char *)sqlite3_column_text(st, 1);
		bool ours = name != NULL && sql != NULL && is_ours(db->arena, name, sql);
		alien += !ours;
		found += ours && strcmp(name, "record") == 0;
	}
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE)
		return sql_fail(db, rc, err);
	return (found == 1 && alien == 0) ||
	       fail(err, ERR_INPUT, db->path, "the database has tables that dlc did not make");
}

/* All lines, in the order in which they lie. */
static bool gather(Db *db, Text *out, Err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql, "SELECT line FROM record", -1, &st, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		const char *line = (const char *)sqlite3_column_text(st, 0);
		if (line != NULL)
			text_put(out, line, (size_t)sqlite3_column_bytes(st, 0));
		text_put(out, "\n", 1);
	}
	if (rc != SQLITE_DONE)
		sql_fail(db, rc, err);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE;
}

static const char *left_out(Db *db, const ImportCount *count)
{
	db->lost = count->refused;
	if (count->refused == 0)
		return "";
	return arena_printf(db->arena, "; damaged lines that are left out: %lld; the first: %s",
		(long long)count->refused, count->first);
}

bool upgrade_in_memory(Db *db, int64_t version, Err *err)
{
	Arena *a = arena_new();
	Text lines = { .arena = a };
	ImportCount count = { 0 };
	sqlite3 *old = db->sql;
	bool ok = upgrade_check(db, err) && gather(db, &lines, err) && open_memory(db, err);
	if (db->sql != old)
		sqlite3_close_v2(old);
	ok = ok && db_import(db, db->path, text_str(&lines), lines.n, &count, err);
	arena_free(a);
	if (ok)
		db->note = arena_printf(db->arena,
			"%s: has the schema of version %lld and is rebuilt in memory each time; dlc tune and dlc db "
			"import upgrade it%s",
			db->path, (long long)version, left_out(db, &count));
	return ok;
}

/* ---- in the file */

static bool fail_file(Err *err, const char *file, const char *why)
{
	return fail(err, ERR_DEVICE, file, "the backup of an old database cannot be written: %s", why);
}

/* A copy of what the connections see, on the disk, for the same users. */
static bool copy_file(Db *db, const char *to, Err *err)
{
	sqlite3 *from = NULL, *copy = NULL;
	struct stat st;
	unlink(to); /* a killed upgrade left it; who holds the lock is the only one to write it */
	int fd = stat(db->path, &st) == 0 ? open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return fail_file(err, to, strerror(errno));
	int rc = open_connection(sqlite3_db_filename(db->sql, "main"), SQLITE_OPEN_READWRITE, &from);
	if (rc == SQLITE_OK)
		rc = open_connection(to, SQLITE_OPEN_READWRITE, &copy);
	sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(copy, "main", from, "main") : NULL;
	if (b != NULL)
		sqlite3_backup_step(b, -1);
	rc = b != NULL ? sqlite3_backup_finish(b) : rc != SQLITE_OK ? rc : sqlite3_errcode(copy);
	if (rc == SQLITE_OK) /* so that it can be read where nothing can be written beside it */
		rc = sqlite3_exec(copy, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	sqlite3_close_v2(copy);
	sqlite3_close_v2(from);
	bool owned = fchown(fd, st.st_uid, st.st_gid) == 0 || fchown(fd, (uid_t)-1, st.st_gid) == 0;
	bool ok = rc == SQLITE_OK && fchmod(fd, owned ? st.st_mode & 0777 : 0600) == 0 && fsync(fd) == 0;
	int why = errno;
	close(fd);
	return ok || fail_file(err, to, rc != SQLITE_OK ? sqlite3_errstr(rc) : strerror(why));
}

/* The first name that no file has: FILE.v3.bak, FILE.v3.bak2. */
static bool name_backup(Db *db, const char *temp, int64_t version, const char **name, Err *err)
{
	const char *file = sqlite3_db_filename(db->sql, "main"); /* what a link names */
	bool named = false;
	for (int i = 1; !named; i++) {
		*name = arena_printf(db->arena, "%s.v%lld.bak", file, (long long)version);
		if (i > 1)
			*name = arena_printf(db->arena, "%s%d", *name, i);
		struct stat st;
		if (lstat(*name, &st) == 0)
			continue;
		named = link(temp, *name) == 0;
		if (!named && errno != EEXIST) { /* a file system without second names */
			if (rename(temp, *name) != 0)
				return fail_file(err, *name, strerror(errno));
			named = true;
		}
	}
	unlink(temp);
	const char *slash = strrchr(file, '/');
	int fd = open(
		arena_printf(db->arena, "%.*s", (int)(slash - file) + (slash == file), file), O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	return true;
}

/* The old tables' lines into new ones. */
static bool rebuild(Db *db, ImportCount *count, Err *err)
{
	Arena *a = arena_new();
	Text lines = { .arena = a };
	bool ok = gather(db, &lines, err);
	for (size_t i = 0; ok && sql_schema[i] != NULL; i++)
		if (table_name(a, i) != NULL)
			ok = open_exec(db, arena_printf(a, "DROP TABLE IF EXISTS %s", table_name(a, i)), err);
	ok = ok && open_tables(db, err) && db_import(db, db->path, text_str(&lines), lines.n, count, err);
	arena_free(a);
	return ok;
}

static bool upgrade_locked(Db *db, int64_t version, Err *err)
{
	int64_t now;
	ImportCount count = { 0 };
	const char *backup, *temp = arena_printf(db->arena, "%s.dlc-upgrade", sqlite3_db_filename(db->sql, "main"));
	if (!sql_in_place(db, err) || !open_pragma(db, "PRAGMA user_version", &now, err))
		return false;
	if (now != version) /* somebody else did it while this one waited */
		return true;
	bool ok = upgrade_check(db, err) && copy_file(db, temp, err) && rebuild(db, &count, err) &&
	          name_backup(db, temp, version, &backup, err);
	unlink(temp);
	if (ok)
		db->note = arena_printf(db->arena,
			"%s: upgraded from the schema of version %lld to %s; the old file is %s%s", db->path,
			(long long)version, SQL_VERSION, backup, left_out(db, &count));
	return ok;
}

bool upgrade_file(Db *db, int64_t version, Err *err)
{
	if (!open_exec(db, "BEGIN IMMEDIATE", err))
		return false;
	if (upgrade_locked(db, version, err) && open_exec(db, "COMMIT", err))
		return true;
	sql_forget(db);
	return false;
}
