/*
 * The parts of opening a file: what its file system permits, its journal, a copy in memory, and files of older
 * schemas.  Only open.c and these parts include it.
 */
#ifndef DB_OPEN_H
#define DB_OPEN_H

#include "db/sql.h"

/* What a file system permits. */
typedef struct FsFact {
	const char *name;
	bool wal; /* every process that can open a file sees one mapped memory of it */
	const char *no_locks; /* why its locks do not hold between hosts; NULL: they do */
} FsFact;

/* By f_type of statfs, and what /proc/self/mountinfo says; `kind` and `options` may be "". */
FsFact fs_judge(uint32_t type, const char *kind, const char *options);
/* What the links of a path lead to; the path itself where nothing is there. */
const char *fs_real_name(Arena *a, const char *path);
/* Of the file, or of its folder where it is not there; of both the one that permits less. */
FsFact fs_of(Arena *a, const char *path);

/* ---- connections (open.c) */

/* A connection with the defensive settings; returns SQLite's result. */
int open_connection(const char *name, int flags, sqlite3 **out);
bool open_exec(Db *db, const char *sql, Err *err);
bool open_pragma(Db *db, const char *sql, int64_t *out, Err *err);
/* The tables and what names them as ours, in the transaction of the caller. */
bool open_tables(Db *db, Err *err);
/* An empty database in memory in the place of db->sql, which the caller closes. */
bool open_memory(Db *db, Err *err);
/* Without a connection yet. */
Db *open_new(const char *path);
/* The file db->path; makes it where it is not. */
bool open_to_write(Db *db, Err *err);
void open_disconnect(Db *db);

/* ---- the journal (journal.c) */

/* What the file's header says; false also for an empty file. */
bool journal_is_wal(sqlite3 *sql);
/* Whether a writer's locks would hold there. */
bool journal_may_write(Db *db, FsFact fs, Err *err);
/* Before the first access: a connection to a file in WAL mode where the file system does not permit that. */
bool journal_avoid_shm(Db *db, FsFact fs, Err *err);
/* The journal that the file system permits, with what a writer needs beside it. */
bool journal_set(Db *db, FsFact fs, Err *err);

/* ---- a copy (copy.c) */

/*
 * All committed records of a file in WAL mode as they are at one moment, in memory, in the place of db->sql. Writes
 * nothing, and uses no -shm; costs what reading the file costs.
 */
bool copy_to_memory(Db *db, Err *err);

/* ---- older schemas (upgrade.c) */

/* It has the tables of an older version, and no others. */
bool upgrade_check(Db *db, Err *err);
/* Rebuilds in memory what db->sql holds, of an older version. */
bool upgrade_in_memory(Db *db, int64_t version, Err *err);
/* Makes the tables anew in the file that db->sql writes, with a copy of the old file beside it. */
bool upgrade_file(Db *db, int64_t version, Err *err);

#endif
