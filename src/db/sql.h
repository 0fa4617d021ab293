/*
 * Inside the room: an open database, that is a connection and its prepared statements, and functions that turn SQLite's
 * results into failures.
 */
#ifndef DB_SQL_H
#define DB_SQL_H

#include "db/db.h"

#include <sqlite3.h>

typedef enum {
#define SQL(name, text) SQL_##name,
#include "db/sql.def"
#undef SQL
	SQL_COUNT
} SqlId;

/* What a run is of, all three known to be there, and the number of the row that says so; 0: not looked up yet. */
typedef struct Subject {
	bool known;
	Hash workload, target, env;
	int64_t n;
} Subject;

typedef struct Logs Logs;

struct Db {
	sqlite3 *sql;
	sqlite3_stmt *stmt[SQL_COUNT];
	const char *path;
	Arena *arena; /* the connection's lifetime */
	const char *note; /* db_note */
	int64_t lost;     /* db_lost */
	int held;     /* how often db_hold was called */
	Hash env; /* the environment read last, and its epoch; -1: none yet */
	int64_t env_epoch;
	Hash session; /* the session named last, known to be there */
	bool session_known;
	Subject subject[256]; /* of the last runs */
	DbOwner owner;
	Logs *logs; /* the folder that this is an index of; NULL: none */
};

#define SQL_VERSION "5" /* of the schema */
/*
 * Its objects, in the order in which they are made; NULL ends them.  A change of one needs a new SQL_VERSION; upgrade.c
 * must know the old table `record` if that changes, and a table that is dropped.
 */
extern const char *const sql_schema[];
/* And one that an index of a folder of logs has besides. */
extern const char sql_segments[];

/* What the index says of a run, all of which its owner's seal covers. */
typedef struct RunRow {
	Hash id, session;
	int64_t status, verified, stage, ns, samples, trace;
} RunRow;
RunRow sql_row_of(const RunRecord *run);

/* owner.c: what the index keeps beside an own run or retraction; never 0. */
void owner_draw(DbOwner *out);
int64_t owner_seal_run(const Db *db, const RunRow *row);
int64_t owner_seal_retraction(const Db *db, Hash id, Hash run);

extern const char sql_index_lies[]; /* what is wrong where the index and a line differ */

/* The statement, reset and ready to bind; NULL and err on failure. */
sqlite3_stmt *sql_get(Db *db, SqlId id, Err *err);
/* The same for a walk that calls back. Refused while one is under way, whose place in its rows would be lost. */
sqlite3_stmt *sql_get_walk(Db *db, SqlId id, Err *err);
void sql_bind_hash(sqlite3_stmt *st, int at, Hash h);
/* Steps a statement that gives no rows, and resets it. */
bool sql_do(Db *db, sqlite3_stmt *st, Err *err);
bool sql_run(Db *db, SqlId id, Err *err);
/* fail() with what SQLite says: damage is ERR_INPUT; permission, disk, locks are ERR_DEVICE. */
bool sql_fail(const Db *db, int rc, Err *err);

/* With the lock held: the file still has its name. A record put into a deleted or replaced file would be lost. */
bool sql_in_place(const Db *db, Err *err);

/* The record in columns `line` and `id` of a row, checked like one from a stranger. */
bool sql_read_record(Db *db, Arena *a, sqlite3_stmt *st, int line, int id, Record *out, Err *err);
/* The same for a row that must hold a run. */
bool sql_read_run(Db *db, Arena *a, sqlite3_stmt *st, int line, int id, RunRecord *out, Err *err);
/* *row: st stands on a row; else it is reset. False: the database failed. */
bool sql_next(Db *db, sqlite3_stmt *st, bool *row, Err *err);
/* False: the column holds no hash. */
bool sql_hash(sqlite3_stmt *st, int column, Hash *out);
/* The codegen epoch that an environment record says. */
bool sql_epoch(Db *db, Hash env, int64_t *epoch, Err *err);

/* The number of what is looked up; 0: nothing has run of it. */
bool sql_subject(Db *db, Hash workload, Hash target, int64_t epoch, int64_t *n, Err *err);

/* Rolls back, and forgets what was known to be there. */
void sql_forget(Db *db);
/* Forgets the numbers of what runs name: another program may have made the index anew. */
void sql_forget_names(Db *db);
/* The records that it names are there and of the right kind; else `why` says which is not. err: the database failed. */
bool db_names_known(Db *db, const Record *r, const char *place, Err *why, Err *err);
bool db_run_names_known(Db *db, const RunRecord *run, const char *place, Err *why, Err *err);
/* Stores a line of n bytes, whose names are known, and its index rows unless it is there; *fresh says which. */
bool db_put_line(Db *db, const Record *r, const char *line, size_t n, bool *fresh, Err *err);
bool db_put_run_line(Db *db, const RunRecord *run, const char *line, size_t n, bool *fresh, Err *err);
/* A run or retraction that is stored is the owner's own; other records are nobody's. */
bool db_seal(Db *db, const Record *r, Err *err);
/* What db_seal stores; 0: nothing. */
bool db_seal_of(const Db *db, const Record *r, int64_t *seal, Err *err);

#endif
