/* Inside the room: what rows and verification share of a database. */
#ifndef API_DATABASE_H
#define API_DATABASE_H

#include "api/session.h"
#include "db/look.h"
#include "op/task.h"

/* "conv3x3 64>64 56 +relu"; "?" where this version cannot read the workload. *task may be NULL. */
const char *database_label(Db *db, Hash workload, Arena *a, Task **task);
/* The threads of a target's record, 0 if it says none. */
int database_threads(Db *db, Hash target, Arena *a);
/* "cpu:znver5 t1"; and the target's identity in the form of a target file, NULL: there is none. */
const char *database_target_name(Db *db, Hash target, Arena *a);
const char *database_target_form(Db *db, Hash target, Arena *a);
/* Whether the row is of runs on a target, and not of a workload of which nothing ran. */
bool database_ran(const DbTask *t);
/*
 * The best schedule of a workload on a target: of this version's code, else of the newest epoch that has one. False
 * without an error: there is none.
 */
bool database_best(Db *db, const DbTask *t, DbChoice *out, int *epoch, Arena *a, Err *err);

#endif
