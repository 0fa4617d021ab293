/* Part of dlc.h: the records of a database, as lines and one by one. docs/records.md says what a record is. */
#ifndef DLC_RECORDS_H
#define DLC_RECORDS_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

typedef int (*DlcLineEach)(const char *line, size_t n, void *arg); /* without its end */
/* All records as lines (task NULL), or those of one task. */
DLC_API DlcFault dlc_database_export(DlcDatabase *d, const char *task, DlcLineEach each, void *arg, DlcFailure *why);
/* The `most` best schedules of each task on each target with the newest code, a run each, and what these name. */
DLC_API DlcFault dlc_database_export_best(DlcDatabase *d, int most, DlcLineEach each, void *arg, DlcFailure *why);

typedef struct DlcImport {
	int64_t added, present, skipped;
	char first[200]; /* why the first was skipped */
} DlcImport;
/*
 * Takes lines, which gzip may have packed; bad ones are skipped and counted, on top of what `count` has. `name` stands
 * in messages.
 */
DLC_API DlcFault dlc_database_import(DlcDatabase *d, const char *name, const char *text, size_t n, DlcImport *count,
	DlcFailure *why);
/*
 * A page in HTML about the records of a session (docs/report.md), handed over once. `session` is the beginning of its
 * id; NULL: the newest session that has runs.
 */
DLC_API DlcFault dlc_database_report(
	DlcDatabase *d, const char *session, DlcLineEach take, void *arg, DlcFailure *why);
/* Whether any line is a record; what an import would say of them, without a database. */
DLC_API int dlc_database_is_log(const char *text, size_t n);
DLC_API DlcFault dlc_database_judge(DlcSession *s, const char *name, const char *text, size_t n, DlcImport *count,
	DlcFailure *why);
/* Structure and the hash of every record. */
DLC_API DlcFault dlc_database_check(DlcDatabase *d, int64_t *records, DlcFailure *why);
/* The run shall not count any more; `run` is the beginning of its id, `out` all of it, or NULL. */
DLC_API DlcFault dlc_database_retract(
	DlcDatabase *d, const char *run, const char *reason, char out[DLC_ID], DlcFailure *why);

/* A record of any kind, by the beginning of its id. */
typedef struct DlcRecord {
	char id[DLC_ID];
	const char *kind, *line; /* line: as it is stored, JSON; both the database's until the next call */
	const char *label;       /* of a workload; NULL */
	int64_t runs, ok;        /* of a session */
	int own, retracted;      /* of a run */
} DlcRecord;
DLC_API DlcFault dlc_database_record(DlcDatabase *d, const char *id, DlcRecord *out, DlcFailure *why);

/* What became of trying a recorded run on this machine. */
typedef struct DlcVerdict {
	char record[DLC_ID], task[DLC_ID];
	const char *label, *status, *detail;
	int good;
	int64_t recorded_ns, median_ns, max_err_e9;
	int against; /* sessions that saw it fail */
} DlcVerdict;
typedef struct DlcVerify {
	const char *target; /* NULL: host */
	const char *task;   /* the beginning of one id; NULL: all */
	int all;            /* every verified run, not only the best of each task */
	int retract;        /* what is wrong is retracted */
	int (*each)(const DlcVerdict *row, void *arg); /* not 0: ends it; may be NULL */
	void *arg;
	int64_t good, bad, retracted, elsewhere; /* filled: elsewhere counts those for other targets */
} DlcVerify;
DLC_API DlcFault dlc_database_verify(DlcDatabase *d, DlcVerify *v, DlcFailure *why);

#endif
