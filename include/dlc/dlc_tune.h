/* Part of dlc.h: tasks and a budget become records in a database. */
#ifndef DLC_TUNE_H
#define DLC_TUNE_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

/* ALL: over the whole network, those in the databases included; MORE: beyond those. */
typedef enum DlcLimit { DLC_NO_LIMIT, DLC_TRIALS_ALL, DLC_TRIALS_MORE } DlcLimit;
/* What a run is doing. */
typedef enum DlcPhase { DLC_OPENING, DLC_SEARCHING, DLC_RACING, DLC_CONFIRMING, DLC_DONE, DLC_PHASES } DlcPhase;
/* Why nothing more is looked for. */
typedef enum DlcEnd { DLC_OPEN, DLC_SEARCHED, DLC_AT_ROOF } DlcEnd;
enum { DLC_STATUSES = 24, DLC_JOBS = 64, DLC_DEVICES = 16 /* at most */ };
/* "ok", "timeout" ...: what becomes of a trial; NULL behind the last. */
DLC_API const char *dlc_trial_status(int index);

typedef struct DlcTaskProgress {
	DlcTask task; /* weight: in the network as it is best by now; 0: of an alternative */
	int64_t trials, reused;
	/* 0: not measured. As races are expected to confirm them, or did; in the end both inside the network. */
	double best_ms, default_ms;
	double roof_ms;             /* no schedule of the task's own algorithm is faster; 0: not known */
	double space;               /* configs */
	int seeds;                  /* schedules from elsewhere that are tried */
	DlcEnd end;
	/* As the run ends: the part of best_ms that is left to save at most (docs/report.md); < 0: not known. */
	double left;
	int now;                    /* 1: it was given the last trial */
	char algorithm[8];          /* of the best schedule: "wino"; "": the operator's own */
} DlcTaskProgress;

typedef struct DlcTuneProgress {
	int ntask;
	const DlcTaskProgress *task;
	int64_t trials, reused, failed, pruned;
	int64_t status[DLC_STATUSES]; /* of this run's trials, by dlc_trial_status */
	int64_t limit;                /* trials of this run; -1: not limited */
	double seconds, candidates_per_s;
	double screen_ms;             /* loading, checking and timing a candidate, on average; 0: none was */
	double tasks_ms, default_tasks_ms; /* weighted sums over the tasks; 0: not all are measured */
	DlcPhase phase;
	double rest_ms;    /* what is behind the search, or is left of it, about */
	int64_t waited_ms; /* for other tuners on this machine */
} DlcTuneProgress;

typedef struct DlcTuneRequest {
	DlcTarget target;
	DlcDatabase *const *database; /* the first is written, all are read */
	int ndatabase;
	/*
	 * NAME or NAME:FILE, ranks schedules that were not measured; NULL: xgboost where there is a model, else analytic,
	 * and base lines as dlc_compile's.
	 */
	const char *cost_model;
	const char *const *task; /* prefixes of ids; none: all tasks */
	int ntask;
	DlcLimit limit;
	int64_t trials;
	double budget_s;    /* 0: not limited. Without a limit of trials either: until nothing is left to find */
	uint64_t seed;
	const char *search; /* NULL: portfolio; rank, anneal, evolve, grid, random */
	const char *preset; /* NULL: normal; quick, thorough */
	int jobs;           /* compilers at once; 0: 2, or 1 where there is one core */
	const int *device;  /* GPUs that measure side by side, all of the target's model; none: target.device alone */
	int ndevice;        /* the first also times the finalists of each task, and the network */
	const char *schedule;      /* a trace's text: measures and stores it, searches nothing; NULL */
	const char *schedule_name; /* in messages; may be NULL */
	int dry_run;               /* 1: says what would be searched, measures and writes nothing */
	/* Called often; not 0: the run ends, with all that it has stored. May be NULL. */
	int (*on_progress)(const DlcTuneProgress *p, void *arg);
	/* After each trial, with the id of its record; not 0: as above. May be NULL. */
	int (*on_trial)(const char *record, void *arg);
	void *arg;
	const char *command; /* what the user typed, for events and reports; may be NULL */
	/* What happens, as a line of JSON without its end (docs/report.md); not 0: as above. May be NULL. */
	int (*on_event)(const char *line, size_t n, void *arg);
	/* The report of the run, a page in HTML, once: as it ends, whether it fails or not. May be NULL. */
	int (*on_report)(const char *page, size_t n, void *arg);
} DlcTuneRequest;

typedef struct DlcTuneResult {
	DlcTuneProgress end;     /* the network's until the next call that is given it */
	char target[64];         /* "cpu:znver5 t1" */
	const char *model;       /* the network's name */
	double network_ms, default_network_ms; /* inside the network; 0: not measured, and ... */
	char network_why[512];                 /* ... why not; or why not long enough to leave the default */
	double gain_least, gain_most;          /* default over best: 95 % of what it may be; 0: not known */
	double left;             /* the part of the tasks' sum that is left to save at most; < 0: not known of all */
	double alone_ms;         /* the tasks' sum when they are timed alone; 0: not confirmed */
	double probe_gflops_least, probe_gflops_most; /* of the FMA probe meanwhile; 0: none */
	int64_t implausible, refused; /* records left out: faster than any core; of schedules that are refused */
	int interrupted;         /* 1: cancelled, or a callback said so; all trials are kept */
} DlcTuneResult;

/*
 * Measures in children: dlc and dlc-worker of the session's folder of programs. A run that is cancelled while it works
 * is no fault: `out` says so, and has all until then. out may be NULL.
 */
DLC_API DlcFault dlc_tune(DlcNetwork *n, const DlcTuneRequest *request, DlcTuneResult *out, DlcFailure *why);

/* Whether the request's names and options are right, before a database is made for it. */
DLC_API DlcFault dlc_tune_check(DlcSession *s, const DlcTuneRequest *request, DlcFailure *why);

/* Names of the searches; NULL behind the last. */
DLC_API const char *dlc_search_name(int index);

#endif
