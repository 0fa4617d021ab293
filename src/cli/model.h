/*
 * What several verbs do with their operands: MODEL with --batch, --shape and --bind becomes a Dag,
 * FILE.trace a trace, --tuning-db becomes open databases.
 */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli/rows.h"
#include "codegen/code_cache.h"
#include "db/db.h"
#include "frontend/frontend.h"
#include "schedule/trace.h"

#define OPTIONS_MODEL OPTION_BATCH, OPTION_SHAPE, OPTION_BIND

/* Notes ("the symbolic batch N is taken as 1") go to stderr. */
Dag *model_load(const Args *args, const char *model, Err *err);

/* A trace as written by hand, a file or "-". */
Trace *trace_load(Arena *a, const char *path, Err *err);

/* An output that is one of the verb's inputs would destroy it: the model, or a database of --tuning-db. */
bool output_is_apart(const Args *args, const char *path, Err *err);

/* db_open as this user, by the key of place_key, which a writer makes; and on stderr what opening had to do. */
Db *database_open(Arena *a, const char *path, DbMode mode, Err *err);

typedef struct Databases {
	Db **db; /* in the order given; those that --tuning-db names */
	size_t n;
	const char *path; /* of the first; NULL where n == 0 */
} Databases;

/*
 * Opens what --tuning-db says: all for reading, the first for writing where `write` (its folder is
 * made if --tuning-db does not name it). When it is only read, the database that neither --tuning-db nor
 * DLC_TUNING_DB names may be missing, or have no place (no HOME).
 */
bool databases_open(const Args *args, bool write, Databases *out, Err *err);
/*
 * The same for work on a target, whose core takes the figures that were measured of it, where model.def has none; a
 * run that writes measures what no database has.
 */
bool databases_open_for(const Args *args, bool write, Target *t, Databases *out, Err *err);
void databases_close(Databases *d);

/* Where compiled code is kept between calls; NULL: nowhere, which is no error. */
const CodeCache *code_cache_open(Arena *a);

#endif
