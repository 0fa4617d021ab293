/*
 * What is in a database, for people who look into it: dlc db. Rows come in the order of ids; nothing
 * here is on the way of a compile or a search.
 */
#ifndef DB_LOOK_H
#define DB_LOOK_H

#include "db/rank.h"

/* A workload and what ran of it on one target. */
typedef struct DbTask {
	Hash workload, target; /* target zeros: nothing ran */
	int64_t runs, ok, sessions;
	int epoch; /* the newest one of an ok run; -1: none */
} DbTask;
typedef bool (*DbTaskFn)(const DbTask *t, void *arg);
bool db_each_task(Db *db, DbTaskFn f, void *arg, Err *err);

/* Only the ids: each workload and each target that it ran on. */
typedef bool (*DbPairFn)(Hash workload, Hash target, void *arg);
bool db_each_pair(Db *db, DbPairFn f, void *arg, Err *err);

/* All verified runs of a workload on a target that are not retracted, of any epoch. */
bool db_each_verified(Db *db, Hash workload, Hash target, RunFn f, void *arg, Err *err);

/* What the index says of such a run, for who needs no trace. */
typedef struct DbVerified {
	Hash id, session;
	int64_t trace, median_ns; /* trace: db_trace_number */
	RunStage stage;
	int epoch; /* of the code generator */
	bool own;  /* the database's owner measured it */
} DbVerified;
typedef bool (*DbVerifiedFn)(const DbVerified *run, void *arg);
/* The same runs in the same order; no line is read, so this takes a few microseconds a run. */
bool db_each_indexed(Db *db, Hash workload, Hash target, DbVerifiedFn f, void *arg, Err *err);
/* The trace of a verified run, which must have the number. */
const char *db_trace_of(Db *db, Hash run, int64_t number, Arena *a, Err *err);

/* The lines that have to do with one workload, as db_export prints them. */
bool db_export_task(Db *db, Hash workload, DbLineFn f, void *arg, Err *err);

/*
 * Of each workload on each target, with the newest code that ran there, the `most` best schedules: the fastest run of
 * each, and what it names. What else the database has is left out, closings too, which list all runs of a session.
 */
bool db_export_best(Db *db, int most, int64_t floor_ns, DbLineFn f, void *arg, Err *err);

typedef struct DbSession {
	Hash id;
	int64_t runs, ok;
} DbSession;
/* All sessions that have runs. */
typedef bool (*DbSessionFn)(const DbSession *s, void *arg);
bool db_each_session(Db *db, DbSessionFn f, void *arg, Err *err);

typedef struct DbStats {
	int64_t records[RECORD_KINDS], status[RUN_STATUS_COUNT];
	int64_t line_bytes, file_bytes; /* of all lines; of the file's pages */
} DbStats;
bool db_stats(Db *db, DbStats *out, Err *err);

/* The record of an id, checked; NULL without an error: there is none. *line: as it is stored. */
const Record *db_record(Db *db, Hash id, const char **line, Arena *a, Err *err);

/* The figures of a CPU (core_owner) that an environment record of one of the databases has; *there: one has. */
bool db_core(DbSet set, const char *cpu, Core *out, bool *there, Err *err);

/*
 * Records whose id begins with the prefix (1 to 32 digits 0-9a-f; anything else is ERR_MISSING), of `kind`
 * or, where that is RECORD_KINDS, of any: at most `most` of them, *n.
 */
bool db_find(Db *db, const char *prefix, RecordKind kind, RecordName *out, int most, int *n, Err *err);

#endif
