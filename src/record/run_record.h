/*
 * A run: what was observed of one candidate. The fields are rows of record/run.def, and docs/records.md says what each
 * means. Rooms that only measure or show runs need this header and no database.
 */
#ifndef RECORD_RUN_RECORD_H
#define RECORD_RUN_RECORD_H

#include "base/hash.h"

typedef enum {
#define RUN_STATUS(name, text, against, doc, way) RUN_##name,
#include "record/status.def"
#undef RUN_STATUS
	RUN_STATUS_COUNT
} RunStatus;
const char *run_status_text(RunStatus s);
bool run_status_parse(const char *text, RunStatus *out);
/* What the status says about the schedule: 0 nothing, 1 it failed, 2 it is wrong. */
int run_status_against(RunStatus s);
/* The advice to a user if all candidates end with that status. */
const char *run_status_way(RunStatus s);

typedef enum {
#define RUN_STAGE(name, text, doc) STAGE_##name,
#include "record/stage.def"
#undef RUN_STAGE
	STAGE_COUNT
} RunStage;
const char *run_stage_text(RunStage s);

/* The C type of each type of a row. */
#define RECORD_C_INT int64_t
#define RECORD_C_TEXT const char *
#define RECORD_C_HASH Hash
#define RECORD_C_STATUS RunStatus

/* Texts belong to the caller; NULL is "". Times are in nanoseconds. */
typedef struct RunRecord {
	Hash id;
#define RUN(type, member, key, least, most, when, doc) RECORD_C_##type member;
#include "record/run.def"
#undef RUN
	bool own; /* not in the line: the owner who asks has put it */
} RunRecord;

/* The row that run->stage names; FULL where it is missing, or is unknown to this version. */
RunStage run_stage(const RunRecord *run);

/* Hands over runs one by one; the run is valid during the call. False: no more are wanted. */
typedef bool (*RunFn)(const RunRecord *run, void *arg);

#endif
