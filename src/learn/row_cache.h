/*
 * Predictor rows of schedules that were replayed before, of all databases, in a file of the user's cache for each kind
 * of targets. A replay takes a millisecond, a row from the file nothing. The file is only a memory: what is wrong with
 * it is told, and it is made anew. Of two programs that write it at once, the rows of one are kept.
 */
#ifndef LEARN_ROW_CACHE_H
#define LEARN_ROW_CACHE_H

#include "base/map.h"
#include "cost_model/predictor.h"

/* A schedule of a Task on a target. */
typedef struct CachedRow {
	Hash key;
	double estimate; /* ns; ROW_REFUSED: this version refuses the schedule */
	float row[PREDICTORS];
} CachedRow;
#define ROW_REFUSED (-1.0)

typedef struct RowCache {
	Arena *arena;
	const char *path; /* NULL: nothing is kept */
	int epoch;        /* of codegen: rows of another one are not read */
	const CachedRow *old; /* of the file */
	size_t nold;
	bool *used;           /* which of them were found */
	VEC(CachedRow) added;
	Map index;            /* of `old`, by a number that the key makes */
	int64_t found;
	const char *note; /* what was wrong with the file; NULL: nothing */
} RowCache;

/* A file that is not there is no failure. */
void row_cache_open(RowCache *c, Arena *a, const char *path, int epoch);
/* A Task on a target; `target_text`: all that describes the target (target_json, threads). */
Hash row_cache_task(Hash workload, const char *target_text);
/* A schedule of it, by the number that the database has for the trace. */
Hash row_cache_key(Hash task, int64_t trace);
const CachedRow *row_cache_find(RowCache *c, Hash key); /* NULL: not there */
/* Copies the row. */
void row_cache_add(RowCache *c, const CachedRow *row);
/* Whether a row that was found is to be made again and compared: every 256th, the first included. */
bool row_cache_doubts(const RowCache *c);
/* Forgets all: a row was not what this program computes. */
void row_cache_drop(RowCache *c);
/* Writes the file if rows were added. A file that cannot be written sets `note`. */
void row_cache_save(RowCache *c);

#endif
