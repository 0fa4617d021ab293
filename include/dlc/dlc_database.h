/* Part of dlc.h: tuning databases, and rows of what they hold. A row is a view, valid during its callback. */
#ifndef DLC_DATABASE_H
#define DLC_DATABASE_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

typedef enum DlcMode { DLC_READ, DLC_WRITE } DlcMode;

/* path NULL: the session's; a folder, or a path that ends with a slash: a folder of logs. DLC_WRITE makes it. */
DLC_API DlcFault dlc_database_open(DlcSession *s, const char *path, DlcMode mode, DlcDatabase **out, DlcFailure *why);
DLC_API void dlc_database_close(DlcDatabase *d); /* NULL is allowed */
DLC_API const char *dlc_database_path(const DlcDatabase *d);
/* The lines of an older version or of a folder's logs that are damaged, and are left out. */
DLC_API int64_t dlc_database_lost(const DlcDatabase *d);
/* The session's database where none is named; NULL: none. *named: DLC_TUNING_DB says so, or "none"; may be NULL. */
DLC_API const char *dlc_session_database(const DlcSession *s, int *named);
/* The folder of logs that came with dlc, if there are any in it; NULL: none. Records in it are other users'. */
DLC_API const char *dlc_session_shipped(const DlcSession *s);

/* The best schedule of a task on a target, with the runs that say so. */
typedef struct DlcBest {
	const char *trace;
	int64_t ns;       /* of one call: the median over sessions */
	int runs, sessions;
	char record[DLC_ID], session[DLC_ID]; /* of its fastest run */
	int64_t samples;
	const char *status;
	int verified, own; /* its outputs were compared; it was measured by this user */
	int epoch, stale;  /* of the code generator; 1: another one than this library's */
} DlcBest;

typedef struct DlcTaskRow {
	char id[DLC_ID];
	const char *label;  /* "?": this version cannot read the workload */
	const char *target; /* "cpu:znver5 t1"; NULL: nothing ran */
	int64_t runs, ok, sessions;
	const DlcBest *best; /* NULL: no run of it is verified */
} DlcTaskRow;

typedef struct DlcRunRow {
	char record[DLC_ID];
	const char *trace, *status, *detail;
	int64_t median_ns; /* 0 where status is not "ok" */
	int own;
} DlcRunRow;

typedef struct DlcSessionRow {
	char id[DLC_ID];
	const char *tool, *search, *model; /* NULL: not said */
	int64_t seed, started_s, runs, ok;
} DlcSessionRow;

/* Callbacks return 0 to go on. */
typedef int (*DlcTaskEach)(const DlcTaskRow *row, void *arg);
typedef int (*DlcRunEach)(const DlcRunRow *row, void *arg);
typedef int (*DlcSessionEach)(const DlcSessionRow *row, void *arg);

/* task: the beginning of one id, which must be there; NULL: all. */
DLC_API DlcFault dlc_database_tasks(DlcDatabase *d, const char *task, DlcTaskEach each, void *arg, DlcFailure *why);
/* The runs of a task on a target with this library's code, best first, failures last. */
DLC_API DlcFault dlc_database_runs(
	DlcDatabase *d, const char *task, const DlcTarget *target, DlcRunEach each, void *arg, DlcFailure *why);
DLC_API DlcFault dlc_database_sessions(DlcDatabase *d, DlcSessionEach each, void *arg, DlcFailure *why);

typedef struct DlcCount {
	const char *name;
	int64_t n, ok; /* ok: of runs */
	const char *text; /* of a target: what its records say of it, in the form of a target file; else NULL */
} DlcCount;
enum { DLC_COUNTS = 24 };
typedef struct DlcStats {
	DlcCount kind[DLC_COUNTS], status[DLC_COUNTS]; /* records by kind, runs by status; name NULL behind the last */
	const DlcCount *target; /* runs by target; the database's until the next call */
	int ntarget;
	int64_t tasks, sessions; /* with runs */
	int64_t line_bytes, file_bytes;
} DlcStats;
DLC_API DlcFault dlc_database_stats(DlcDatabase *d, DlcStats *out, DlcFailure *why);

/* How well schedules of held-out Tasks are told apart, by the estimate and by the model. */
typedef struct DlcModelScore {
	const char *operation; /* "all" first */
	int tasks, schedules;
	double rank_estimate, rank_model; /* correlation of ranks inside a Task, the mean */
	double pick_estimate, pick_model; /* time of what is ranked first over the best */
} DlcModelScore;
typedef struct DlcModelPredictor {
	const char *name, *meaning;
	double gain; /* its share of what the model has made the error smaller by */
} DlcModelPredictor;
/* What a model gains on Tasks without records, by Tasks that were held out. One for each group of targets. */
typedef struct DlcModelGain {
	const char *arch;
	int vector_bits, parallel, tasks, taken; /* parallel: several threads; taken: Tasks whose default is replaced */
	double margin, gain, best; /* factors: above which it replaces, 0: never; what the model gains; the best */
} DlcModelGain;
/* A learned cost model, the file beside a database; the database's until the next call. */
typedef struct DlcModelInfo {
	const char *path, *kind;
	char data[DLC_ID]; /* hash of the ids of the runs that it was trained on */
	int64_t trained_s, runs, schedules;
	int tasks, targets, trees;
	const DlcModelScore *score;
	const DlcModelPredictor *predictor; /* the most important first */
	int nscore, npredictor;
	int64_t replayed; /* dlc_database_train: schedules that were not remembered from an earlier training */
	int current;       /* dlc_database_model: the database's runs are those; ... */
	int64_t runs_now;  /* ... how many there are now */
	int epoch, nuntuned; /* epoch: of the code generator when it was trained */
	const DlcModelGain *untuned;
} DlcModelInfo;
/* Learns from the records of all databases; the file lies beside d. kind: of targets, NULL: "cpu". out may be NULL. */
DLC_API DlcFault dlc_database_train(DlcDatabase *d, DlcDatabase *const *more, int nmore, const char *kind,
	const DlcModelInfo **out, DlcFailure *why);
/* DLC_FAULT_MISSING: there is none. */
DLC_API DlcFault dlc_database_model(DlcDatabase *d, const char *kind, const DlcModelInfo **out, DlcFailure *why);

#endif
