/*
 * A record <-> its canonical line: keys sorted, no spaces, integers and strings, with `kind` and
 * `id`. id = BLAKE2b-128 of "dlc/<kind>/v1\0" and the line without its id, so that damage shows.
 */
#ifndef DB_RECORD_H
#define DB_RECORD_H

#include "base/json.h"
#include "db/db.h"

typedef enum {
	RECORD_WORKLOAD,
	RECORD_TARGET,
	RECORD_ENVIRONMENT,
	RECORD_SESSION,
	RECORD_RUN,
	RECORD_RETRACTION,
	RECORD_CLOSING,
	RECORD_KINDS
} RecordKind;

/* Bytes at most: of a line, of a name, of a sentence or path. */
enum { RECORD_LINE = 1 << 20, RECORD_WORD = 200, RECORD_TEXT = 1000 };
#define RECORD_SECONDS (INT64_C(1) << 40) /* since 1970, at most */
enum { RECORD_RUN_DIGITS = 16 /* of a run's id, in a closing */, RECORD_RUNS = 32768 /* in one closing, at most */ };
#define RECORD_COLD (INT64_C(1) << 44) /* bytes of a network, at most */
#define RECORD_MARK ((INT64_C(1) << 48) - 1) /* of a session, at most */

const char *record_kind_name(RecordKind k);

/* Takes an object without `id`; gives the line with it, without '\n'. */
bool record_seal(Arena *a, Json *object, Hash *id, const char **line, Err *err);

typedef struct Record {
	RecordKind kind;
	Hash id;
	Json *json;
	const char *steps; /* of a run: what its trace is as a schedule, its canonical text (op/steps.h) */
} Record;

/* A line from anywhere: canonical, of a known kind, its id the hash of the rest, fields in range. */
bool record_read(Arena *a, const char *name, const char *line, size_t n, Record *out, Err *err);

/* The records that a record names: what they must be, and that they must be there before it. */
enum { RECORD_NAMES = 4 };
typedef struct RecordName {
	RecordKind kind;
	Hash id;
} RecordName;
int record_names(const Record *r, RecordName out[RECORD_NAMES]);

bool record_hash(const Json *object, const char *key, Hash *out, Err *err);
Json *record_from_run(Arena *a, const RunRecord *run);
bool record_to_run(const Record *r, RunRecord *out, Err *err);
/* The quick way for the common line; false: record_read must judge it. */
bool record_read_run(Arena *a, const char *line, size_t n, RunRecord *out);
/* Times, samples and trace within what a run may have. */
bool record_run_fits(const RunRecord *run);
/* Ran, and its outputs were compared and near enough: only such runs may be chosen. */
enum { RECORD_WORST_E9 = 1000000 /* the widest class of errors, `fast`: 1e-3 */ };
bool record_verified(const RunRecord *run);

#endif
