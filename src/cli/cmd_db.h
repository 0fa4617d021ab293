/*
 * What the verbs of dlc db share: which database, which record, and what people call things.
 */
#ifndef CLI_CMD_DB_H
#define CLI_CMD_DB_H

#include "cli/rows.h"
#include "db/look.h"

/* The database that the first operand names, or the default one where there is none. */
Db *db_operand(const Args *args, DbMode mode, Err *err);

/*
 * The one record of the kind (RECORD_KINDS: of any) whose id begins so. None, or several, which are
 * named: ERR_MISSING.
 */
bool db_find_one(Db *db, const char *prefix, RecordKind kind, RecordName *out, Err *err);

/* A copy without control characters: what a record says must not reach a terminal as it is. */
const char *db_printable(Arena *a, const char *text);
/* "conv3x3 64>64 56 +relu"; "?" where this version cannot read the workload. *task may be NULL. */
const char *db_label(Db *db, Hash workload, Arena *a, Task **task);
/* "cpu:znver5 t1" */
const char *db_target_name(Db *db, Hash target, Arena *a);
/* The threads of a target's record, 0 if it says none. */
int db_target_threads(Db *db, Hash target, Arena *a);

/*
 * The best schedule of a workload on a target: of this version's code, else of the newest epoch that has
 * one. False without an error: there is none.
 */
bool db_best_any(Db *db, const DbTask *t, DbChoice *out, int *epoch, Arena *a, Err *err);

extern const Verb db_best_verb, db_list_verb, db_log_verb, db_retract_verb, db_show_verb, db_stats_verb, db_verify_verb;

#endif
