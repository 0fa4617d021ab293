/*
 * Where files are looked for. folders_environment is the only function of the library that reads the environment. The
 * folders need not exist; all texts are the arena's.
 */
#ifndef API_FOLDERS_H
#define API_FOLDERS_H

#include "base/arena.h"
#include "base/err.h"

typedef struct Folders {
	const char *programs;       /* of dlc and dlc-worker */
	const char *const *targets; /* of target files, in the order they are looked into */
	size_t ntargets;
	const char *cache;    /* of this user; NULL: none */
	const char *code;     /* compiled code; NULL: none is kept */
	const char *key;      /* the user's key; NULL: no place for one */
	const char *database; /* where none is named; NULL: none */
	bool database_said;   /* by DLC_TUNING_DB: it must be there, or there must be none */
	const char *shipped;  /* the logs that came with dlc; NULL: none */
} Folders;

/* What lies around the file that this code is in, a program or libdlc.so: children, target files, shipped logs. */
void folders_around(Folders *f, Arena *a);
/*
 * Adds what the environment says: DLC_CONFIGS/targets; DLC_TUNING_LOGS ("none"); DLC_TUNING_DB, else
 * $XDG_DATA_HOME/dlc/tuning.sqlite, else ~/.local/share/dlc/tuning.sqlite; the key beside that; DLC_CODE_CACHE
 * ("none"), else code in $XDG_CACHE_HOME/dlc, else in ~/.cache/dlc.
 */
void folders_environment(Folders *f, Arena *a);
/* More folders of target files, before the others. */
void folders_add_targets(Folders *f, Arena *a, const char *const *dir, size_t n);
/* Makes the folders on the way to a file, for this user alone. */
bool folders_make(Arena *a, const char *path, Err *err);

#endif
