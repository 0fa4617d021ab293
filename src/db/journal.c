/*
 * The journal of a file: a write-ahead log where the file system permits it (db/fs.c), else a rollback journal with
 * SQLite's locks.  To leave the log, a program must be the only one that has the file open: others would go on to use
 * the log.
 */
#include "db/bound.h"
#include "db/open.h"

#include <string.h>
#include <unistd.h>

/* Through SQLite's own file: to close another descriptor of the file would end this process's locks on it. */
bool journal_is_wal(sqlite3 *sql)
{
	sqlite3_file *f = NULL;
	unsigned char head[20];
	enum { VERSION = 18, WAL = 2 }; /* https://sqlite.org/fileformat2.html */
	return sqlite3_file_control(sql, "main", SQLITE_FCNTL_FILE_POINTER, &f) == SQLITE_OK &&
	       f->pMethods != NULL && f->pMethods->xRead(f, head, sizeof head, 0) == SQLITE_OK &&
	       head[VERSION] == WAL;
}

static bool is_busy(int rc)
{
	return (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED;
}

bool journal_may_write(Db *db, FsFact fs, Err *err)
{
	return fs.no_locks == NULL ||
	       fail(err, ERR_DEVICE, db->path,
		       "the locks of its file system, %s, hold on one host only (%s); keep the database on a local disk, "
		       "and pass records on with dlc db export and import",
		       fs.name, fs.no_locks);
}

/* In exclusive mode the index of the log lies in this process's own memory. */
bool journal_avoid_shm(Db *db, FsFact fs, Err *err)
{
	static const char alone[] = "PRAGMA locking_mode=EXCLUSIVE;SELECT count(*) FROM sqlite_master";
	if (fs.wal || !journal_is_wal(db->sql))
		return true;
	int rc = sqlite3_exec(db->sql, alone, NULL, NULL, NULL);
	return !is_busy(rc) ||
	       fail(err, ERR_DEVICE, db->path,
		       "the database has a write-ahead log, which %s does not permit, and another program, here or on "
		       "another host, uses it; end that program, then try again",
		       fs.name);
}

/* SQLite does not wait by itself where two change the journal's mode at once: either could wait for the other. */
static int set_mode(Db *db, const char *pragma)
{
	int rc = SQLITE_BUSY;
	for (int waited = 0; is_busy(rc) && waited < BOUND_WAIT_MS; waited += BOUND_RETRY_MS) {
		if (waited > 0)
			sqlite3_sleep(BOUND_RETRY_MS);
		rc = sqlite3_exec(db->sql, pragma, NULL, NULL, NULL);
	}
	return rc;
}

bool journal_set(Db *db, FsFact fs, Err *err)
{
	const char *cache = arena_printf(db->arena, "PRAGMA cache_size=-%d", BOUND_CACHE_KIB);
	if (fs.wal) {
		int rc = set_mode(db, "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL");
		return rc == SQLITE_OK ? open_exec(db, cache, err) : sql_fail(db, rc, err);
	}
	/* A rollback journal.  To leave the log, this must be the only connection for a moment. */
	int64_t objects;
	bool was_wal = journal_is_wal(db->sql);
	int rc = set_mode(db, "PRAGMA journal_mode=DELETE");
	if (is_busy(rc))
		return fail(err, ERR_DEVICE, db->path, "another program uses the database; end it, then try again");
	if (rc != SQLITE_OK)
		return sql_fail(db, rc, err);
	/* The lock of exclusive mode ends with the next access. */
	if (!open_exec(db, "PRAGMA locking_mode=NORMAL", err) ||
		!open_pragma(db, "SELECT count(*) FROM sqlite_master", &objects, err))
		return false;
	if (was_wal) /* its owner left it, on whatever host */
		unlink(arena_printf(db->arena, "%s-shm", sqlite3_db_filename(db->sql, "main"))); /* links followed */
	return open_exec(db, "PRAGMA synchronous=FULL", err) && open_exec(db, cache, err);
}
