/*
 * Where files are looked for, and what --target and --tuning-db mean. Only the cli reads the
 * environment; the rooms below are handed paths. Folders need not exist.
 */
#ifndef CLI_FOLDERS_H
#define CLI_FOLDERS_H

#include "cli/rows.h"
#include "target/target.h"

/* The folder of the running program, links resolved. */
const char *place_programs(Arena *a);
/* The folders of target files: $DLC_CONFIGS/targets, then beside the program: those of the checkout
   it was built in and of the prefix it was installed to. */
const char *const *place_targets(Arena *a, size_t *n);
/* $DLC_TUNING_DB, else $XDG_DATA_HOME/dlc/tuning.sqlite, else ~/.local/share/dlc/tuning.sqlite;
   NULL and err if the environment names none of them, or says "none". */
const char *place_tuning_db(Arena *a, Err *err);
/* Whether $DLC_TUNING_DB names one: it must be there, then. */
bool place_db_is_named(void);
/* $XDG_DATA_HOME/dlc/key, else ~/.local/share/dlc/key; NULL for a user without a home. */
const char *place_key(Arena *a);
/* $XDG_CACHE_HOME/dlc, else ~/.cache/dlc; NULL if there is neither. */
const char *place_cache(Arena *a);
/* $DLC_CODE_CACHE, else "code" in the cache; NULL for "none", or if there is no cache. */
const char *place_code_cache(Arena *a);

/* What --target and --threads of a verb that has both rows say. */
bool place_target(const Args *args, Target *t, Err *err);
/* The values of --tuning-db, or the default one; *n == 0 for "none", whoever says it. */
const char *const *place_databases(const Args *args, size_t *n, Err *err);

#endif
