/*
 * The room's own view of an open database: the connection, its prepared statements, and one place
 * that turns SQLite's results into failures.
 */
#ifndef DB_SQL_H
#define DB_SQL_H

#include "db/record.h"

#include <sqlite3.h>

typedef enum {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_PUT_RECORD,
	SQL_KIND,
	SQL_GET_RECORD,
	SQL_PUT_RUN,
	SQL_PUT_RETRACTION,
	SQL_PUT_FAMILY,
	SQL_RUNS,
	SQL_FASTEST,
	SQL_OF_TRACE,
	SQL_EPOCH_BELOW,
	SQL_COUNT_BELOW,
	SQL_FAMILY,
	SQL_NEXT_TARGET,
	SQL_ALL,
	SQL_INDEXED,
	SQL_COUNT_INDEXED,
	SQL_IS_RETRACTED,
	SQL_FAMILY_OF,
	SQL_EACH_TASK,
	SQL_EACH_SESSION,
	SQL_COUNT_KINDS,
	SQL_COUNT_STATUS,
	SQL_SIZES,
	SQL_VERIFIED,
	SQL_OF_WORKLOAD,
	SQL_FIND,
	SQL_COUNT
} SqlId;

enum { SQL_CACHE_KIB = 65536 /* pages kept in memory, at most */ };

struct Db {
	sqlite3 *sql;
	sqlite3_stmt *stmt[SQL_COUNT];
	const char *path;
	Arena *arena; /* the connection's lifetime */
	Hash env; /* the environment asked for last, and its epoch; -1: none yet */
	int64_t env_epoch;
	Hash known[4]; /* what the last imported run names, known to be there; nknown 0: none yet */
	int nknown;
};

/* The statement, reset and ready to bind; NULL and err on failure. */
sqlite3_stmt *sql_get(Db *db, SqlId id, Err *err);
void sql_bind_hash(sqlite3_stmt *st, int at, Hash h);
/* Steps a statement that gives no rows, and resets it. */
bool sql_do(Db *db, sqlite3_stmt *st, Err *err);
bool sql_run(Db *db, SqlId id, Err *err);
/* fail() with what SQLite says: damage is ERR_INPUT; permission, disk, locks are ERR_DEVICE. */
bool sql_fail(const Db *db, int rc, Err *err);

/* The record in columns `line` and `id` of a row, checked as one from a stranger. */
bool sql_read_record(Db *db, Arena *a, sqlite3_stmt *st, int line, int id, Record *out, Err *err);
/* The same for a row that must hold a run. */
bool sql_read_run(Db *db, Arena *a, sqlite3_stmt *st, int line, int id, RunRecord *out, Err *err);
/* *row: st stands on a row; else it is reset. False: the database failed. */
bool sql_next(Db *db, sqlite3_stmt *st, bool *row, Err *err);
/* False: the column holds no hash. */
bool sql_hash(sqlite3_stmt *st, int column, Hash *out);
/* What the index calls a trace: equal texts are one schedule. */
Hash sql_trace(const char *trace);
/* The codegen epoch that an environment record says. */
bool sql_epoch(Db *db, Hash env, int64_t *epoch, Err *err);

/* Rolls back, and forgets what was known to be there. */
void sql_forget(Db *db);
/* Stores a sealed line of n bytes and its index rows unless it is known; *fresh says which. */
bool db_put_line(Db *db, const Record *r, const char *line, size_t n, bool *fresh, Err *err);
bool db_put_run_line(Db *db, const RunRecord *run, const char *line, size_t n, bool *fresh, Err *err);

#endif
