/*
 * A record <-> its canonical line: keys sorted, no spaces, integers and strings, with `kind` and `id`. The id is the
 * BLAKE2b-128 of "dlc/<kind>/v1\0" and the line without its id. So damage shows. docs/records.md says what the kinds
 * are for. The fields of a run and of a session are rows of record/run.def and record/session.def.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "base/json.h"
#include "record/run_record.h"

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
const char *record_kind_name(RecordKind k);

/* Bytes at most: of a line, of a name, of a sentence or path, of a trace in canonical form. */
enum { RECORD_LINE = 1 << 20, RECORD_WORD = 200, RECORD_TEXT = 1000, RECORD_TRACE = 64 << 10 };
enum { RECORD_RUN_DIGITS = 16 /* of a run's id, in a closing */, RECORD_RUNS = 32768 /* in one closing, at most */ };
#define RECORD_NS (INT64_C(1) << 50)      /* of a time, at most: about 13 days */
#define RECORD_SAMPLES (INT64_C(1) << 40) /* of a run, at most */
#define RECORD_SECONDS (INT64_C(1) << 40) /* since 1970, at most */
#define RECORD_COLD (INT64_C(1) << 44)    /* bytes of a network, at most */
#define RECORD_MARK ((INT64_C(1) << 48) - 1) /* of a session, at most */

/* One run of a tuner. Texts belong to the caller; what is KNOWN alone may be NULL or 0. */
typedef struct SessionInfo {
#define SESSION(type, member, key, least, most, when, doc) RECORD_C_##type member;
#include "record/session.def"
#undef SESSION
} SessionInfo;

typedef struct Record {
	RecordKind kind;
	Hash id;
	Json *json;
	const char *steps; /* of a run: its trace in canonical form (op/steps.h) */
} Record;

/* Takes an object without `id`; gives the line with it, without '\n'. */
bool record_seal(Arena *a, Json *object, Hash *id, const char **line, Err *err);
/* A line from anywhere: canonical, of a known kind, its id the hash of the rest, fields in range. */
bool record_read(Arena *a, const char *name, const char *line, size_t n, Record *out, Err *err);

/* The records that a record names: the kind that each must have. They must be there before it. */
enum { RECORD_NAMES = 4 };
typedef struct RecordName {
	RecordKind kind;
	Hash id;
} RecordName;
int record_names(const Record *r, RecordName out[RECORD_NAMES]);
bool record_hash(const Json *object, const char *key, Hash *out, Err *err);

/* Objects without `id`, for record_seal. */
Json *record_from_run(Arena *a, const RunRecord *run);
Json *record_from_session(Arena *a, const SessionInfo *s);
bool record_to_run(const Record *r, RunRecord *out, Err *err);
/* The quick way for a run's line; false: record_read must judge the line. */
bool record_read_run(Arena *a, const char *line, size_t n, RunRecord *out);

/* It ran, and its outputs are close enough to the reference values. Only such runs may be chosen. */
enum { RECORD_WORST_E9 = 1000000 /* the widest class of errors, `fast`: 1e-3 */ };
bool record_verified(const RunRecord *run);

/* ---- between record.c and line.c */

typedef enum { FIELD_INT, FIELD_TEXT, FIELD_HASH, FIELD_STATUS } FieldType;
typedef enum { FIELD_ALWAYS, FIELD_KNOWN, FIELD_CLOCK, FIELD_WRITTEN } FieldWhen;
typedef struct RecordField {
	const char *key;
	FieldType type;
	FieldWhen when;
	int64_t least, most;
	size_t offset; /* in the struct of its kind */
} RecordField;
/* The rows of run.def; a key of NULL ends them. */
extern const RecordField record_run_field[];
/* What rows cannot say: a run that is ok has a time and samples, and how long the canonical trace may be. */
bool record_run_fits(const RunRecord *run);

#endif
