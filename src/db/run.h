/*
 * A run: what was observed of one candidate, as its record has it (docs/records.md). Who only measures or shows runs
 * needs this and no database.
 */
#ifndef DB_RUN_H
#define DB_RUN_H

#include "base/hash.h"

typedef enum {
#define RUN_STATUS(name, text, against, doc) RUN_##name,
#include "db/status.def"
#undef RUN_STATUS
	RUN_STATUS_COUNT
} RunStatus;
const char *run_status_text(RunStatus s);
bool run_status_parse(const char *text, RunStatus *out);
/* What the status says of the schedule: 0 nothing, 1 it failed, 2 it is wrong. */
int run_status_against(RunStatus s);

typedef enum {
#define RUN_STAGE(name, text, doc) STAGE_##name,
#include "db/stage.def"
#undef RUN_STAGE
	STAGE_COUNT
} RunStage;
const char *run_stage_text(RunStage s);

/* What was observed of one candidate. Times in ns; median_ns 0 where status is not ok. */
typedef struct RunRecord {
	Hash id;
	Hash workload, target, session, env;
	const char *trace; /* text */
	RunStatus status;
	int64_t median_ns, min_ns, mad_ns, compile_ns;
	int64_t samples;   /* how many */
	int64_t max_err_e9; /* max |a-b| / max |ref|, times 1e9; -1: not verified */
	const char *detail; /* why it failed; "" */
	int64_t seq;        /* order within the session */
	int64_t probe_mflops; /* what the FMA probe reached before it, on as many threads; 0: not known */
	const char *clock; /* of its times: "wall", "cpu"; "" or NULL: not said, as in older records */
	int64_t lost;      /* samples in which a thread lost its CPU: see docs/records.md */
	const char *stage; /* text of a row of stage.def; "" or NULL: not said */
	bool own;             /* not in the line: it was put by the owner who asks */
} RunRecord;
RunStage run_stage(const RunRecord *run); /* FULL where it is not said, or is none that this version knows */

#endif
