/*
 * What a tuning run says of itself: of each Task, of the whole while it goes on, and what came out.
 */
#ifndef TUNER_PROGRESS_H
#define TUNER_PROGRESS_H

#include "op/task.h"
#include "record/run_record.h"

/* What a run is doing, and why nothing more is looked for. */
typedef enum { TUNE_OPEN, TUNE_SEARCH, TUNE_RACE, TUNE_NETWORK, TUNE_DONE, TUNE_PHASES } TunePhase;
typedef enum { TASK_OPEN, TASK_SEARCHED, TASK_AT_ROOF } TaskEnd;

typedef struct TaskProgress {
	const Task *task;
	int weight;         /* how often the network runs it, as partitioned by what is known; 0: an alternative's */
	int default_weight; /* the same without records */
	int64_t trials, reused, failed, pruned;
	int64_t implausible, refused; /* records left out: faster than any core, of schedules that are not legal */
	/* The least times, 0: not measured; in the end both inside the network, of the same rounds. */
	double best_ms, default_ms;
	double likely_ms, default_likely_ms; /* the same times as races are expected to confirm them (promise.c) */
	double alone_ms;            /* of the best schedule, timed alone; 0: it was not confirmed */
	double roof_ms;             /* 0: not known */
	double space;               /* configs */
	TaskEnd end;
	double left;       /* set as the run ends: the part of best_ms that is left to save at most; < 0: not known */
	int seeds;         /* schedules from elsewhere that are tried */
	char algorithm[8]; /* of the best schedule: "wino", "stra"; "": the operator's own */
	bool raced; /* the best few were timed side by side */
} TaskProgress;

/* What a screen shows while a run goes on. */
typedef struct TuneProgress {
	int ntask;
	TaskProgress *task;
	const TaskProgress *now; /* the one that was given the last trial; NULL: none was */
	int64_t trials, reused, failed, pruned;
	int64_t status[RUN_STATUS_COUNT]; /* of this run's trials */
	int64_t limit; /* trials of this run; -1: not limited */
	double seconds, candidates_per_s, screen_ms; /* screen_ms: mean time of a candidate on its device or CPU */
	double tasks_ms, default_tasks_ms; /* weighted sums of the likely times over the tasks that run, of ... */
	int unmeasured, default_unmeasured; /* ... all but so many, which have none */
	TunePhase phase;
	double rest_ms;    /* what comes behind the search, or is left of it, about */
	int64_t waited_ms; /* for other tuners' samples on this device */
} TuneProgress;

/* What came out. */
typedef struct TuneResult {
	TuneProgress end; /* the last progress */
	int64_t implausible, refused; /* records left out, over all tasks */
	double network_ms, default_network_ms; /* 0: not measured, and ... */
	char network_why[512];                 /* ... why not, "" where that was not asked */
	double gain[2];         /* default over best network: 95 % of what it may be; 0: not known */
	double left;            /* the part of the Tasks' sum that is left to save at most; < 0: not known of all */
	double alone_ms;        /* weighted sum of what the confirmed tasks take alone; 0: none were */
	double probe_gflops[2]; /* the least and most that the FMA probe reached meanwhile; 0: none */
	bool interrupted;
} TuneResult;

#endif
