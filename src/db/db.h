/*
 * The tuning database: an index over immutable records (record/record.h). It can be rebuilt from its lines, and the
 * best schedule is a pure function of them. docs/records.md has the rules.
 *
 * SQLite, WAL where the file system allows it; opened with its defensive settings, foreign files read-only. One Db
 * per thread. A record that was put survives the process once the call has returned; a power cut may take the last
 * ones.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include "op/task.h"
#include "record/record.h"
#include "target/target.h"

typedef struct Db Db;
typedef enum { DB_READ, DB_WRITE } DbMode;

/*
 * A user's secret. A record that is put gets the owner's seal; an imported record has none. A record is own if its seal
 * is that of the owner who asks: an index that a colleague has filled, or forged, holds none of ours.
 */
typedef struct DbOwner {
	uint8_t key[HASH_KEY];
} DbOwner;
/* Reads the secret from a file; `make`: draws one and writes it (mode 0600) if there is no file. */
bool db_owner_load(const char *path, bool make, DbOwner *out, Err *err);

/*
 * DB_WRITE creates the file, and rebuilds one of an older version, of which a copy stays beside it; DB_READ rebuilds it
 * in memory.
 * A newer version, damage, no permission, a full disk are refused.
 */
Db *db_open(const char *path, DbMode mode, Err *err);
void db_close(Db *db);
/* An empty database in memory, gone once it is closed. */
Db *db_open_memory(Err *err);
/* A sentence for the user, if opening had to upgrade or rebuild the file; else NULL. */
const char *db_note(const Db *db);
/* How many damaged lines of an older version are left out. */
int64_t db_lost(const Db *db);
/* Sets the owner who asks and puts from now on. Before, a random secret is the owner, which is forgotten at the end. */
void db_own(Db *db, const DbOwner *owner);

/* Each stores the record if it is new, and gives its id; the records that a run names must be there. */
bool db_put_task(Db *db, const Task *task, Err *err);
bool db_put_target(Db *db, const Target *target, Hash *id, Err *err);
/* What ran the code and what its driver says of itself. */
typedef struct EnvDevice {
	const char *name, *driver;
} EnvDevice;
/* `on`: whose measured figures go with it, where it has some; may be NULL. device: NULL for a CPU. */
bool db_put_env(Db *db, int codegen_epoch, const char *compiler, const Target *on, const EnvDevice *device, Hash *id,
	Err *err);
bool db_put_session(Db *db, const SessionInfo *s, Hash *id, Err *err);
bool db_put_run(Db *db, RunRecord *run, Err *err); /* fills run->id */

/* The run must be there. */
bool db_put_retraction(Db *db, Hash run, const char *reason, Err *err);

/* Ends the session with these runs: to others, no other run under its name counts. */
bool db_put_closing(Db *db, Hash session, const Hash *run, size_t n, Err *err);

/* The fastest run of the best schedule (db/rank.h) of this epoch. NULL without an error: none. */
const RunRecord *db_best(Db *db, Hash workload, Hash target, int codegen_epoch, Arena *a, Err *err);
/*
 * Calls f for each run of workload x target of this codegen epoch that is not retracted, best first, failures last; f
 * returns false to stop.
 */
bool db_each_run(Db *db, Hash workload, Hash target, int codegen_epoch, RunFn f, void *arg, Err *err);
/* Hands over all records as lines until f returns false; the records that a line names come before it. */
typedef bool (*DbLineFn)(const char *line, size_t n, void *arg);
bool db_export(Db *db, DbLineFn f, void *arg, Err *err);

typedef struct ImportCount {
	int64_t taken, known, refused;
	int64_t waiting; /* of the refused ones: they name records that are not there */
	char first[200]; /* why the first refused line was */
} ImportCount;
/*
 * Takes lines, which gzip may have packed, in batches of a transaction each (docs/records.md): on failure the batches
 * stored before stay. A line is taken once the records that it names are there; other lines are counted as refused.
 * Damage of a packed file counts as one refused line.
 */
bool db_import(Db *db, const char *name, const char *text, size_t n, ImportCount *count, Err *err);

/* Whether any line of the text is a record. */
bool db_is_log(const char *text, size_t n);

/* Checks structure, the hash of every record, the records it names, and the index; *records: how many there are. */
bool db_check(Db *db, int64_t *records, Err *err);

/* What the index calls a trace, 64 bits of its hash: equal numbers are one schedule. */
int64_t db_trace_number(const char *trace);

#endif
