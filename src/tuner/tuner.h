/*
 * Tasks and a budget become records. Only here do schedule, cost_model, measure and db meet while searching. A
 * candidate is hash(workload, target, trace). A search picks the next candidate (tuner/search.h). What the network
 * may gain picks the Task (tuner/task_run.h).
 */
#ifndef TUNER_TUNER_H
#define TUNER_TUNER_H

#include "compile/compile.h"
#include "cost_model/roof.h"
#include "measure/measure.h"
#include "report/event.h"
#include "tuner/search.h"

#include <stdatomic.h>

/* Milliseconds since any fixed moment; given, so that budgets can be tested. */
typedef struct Clock {
	double (*now_ms)(void *arg);
	void *arg;
} Clock;

/* What is asked for. */
typedef struct TuneRequest {
	const Target *target;
	Dag *dag;         /* the whole network: how cold its tasks are measured, and timed at the end; NULL: neither */
	const char *command, *model; /* for events, may be NULL; for the session record, with ... */
	int64_t started_s;   /* ... seconds since 1970 and ... */
	int64_t mark;        /* ... SessionInfo.mark */
	const char *const *tasks; /* prefixes of ids; NULL: all */
	int ntasks;
	int64_t trials;      /* over the whole model, reused ones included; -1: not limited */
	int64_t more_trials; /* +N: N more than the database holds; -1: not given */
	double budget_ms;    /* <= 0: not limited */
	int finalists;       /* candidates of a task that race at the end; below 2: none */
	const Search *search;
	const Effort *effort;
	uint64_t seed;
} TuneRequest;

struct TuneProgress;
/* What a run works with; all of it is the caller's. */
typedef struct TuneMeans {
	Db *db;          /* written */
	Db *const *more; /* read */
	int nmore;
	Measure *measure;        /* children, or a recording */
	const EnvDevice *device; /* what candidates run on, for their environment; NULL: a CPU */
	Clock clock;
	const Cost *cost;       /* ranks what was not measured, and is told what was; NULL: the first cost model */
	const CodeCache *cache; /* of the network's code; may be NULL */
	Roof roof;              /* what the machine gives; zeros: no roofs */
	const atomic_int *stop; /* not 0: the run ends, with all that is stored; may be NULL */
	/* After each commit, whenever there is something to show, and for all that happens; may be NULL. */
	void (*on_trial)(const RunRecord *run, const Task *task, void *arg);
	void (*on_progress)(const struct TuneProgress *p, void *arg);
	void (*on_event)(const Event *e, void *arg);
	void *arg;
} TuneMeans;

/* What a run is doing, and why nothing more is looked for. */
typedef enum { TUNE_OPEN, TUNE_SEARCH, TUNE_RACE, TUNE_NETWORK, TUNE_DONE, TUNE_PHASES } TunePhase;
typedef enum { TASK_OPEN, TASK_SEARCHED, TASK_AT_ROOF } TaskEnd;

typedef struct TaskProgress {
	const Task *task;
	int weight;         /* how often the network runs it, as partitioned by what is known; 0: an alternative's */
	int default_weight; /* the same without records */
	int64_t trials, reused, failed, pruned;
	int64_t implausible, refused; /* records left out: faster than any core, of schedules that are not legal */
	double best_ms, default_ms; /* 0: not measured; in the end both inside the network, of the same rounds */
	double alone_ms;            /* of the best schedule, timed alone; 0: it was not confirmed */
	double roof_ms;             /* 0: not known */
	double space;               /* configs */
	TaskEnd end;
	int seeds;         /* schedules from elsewhere that are tried */
	char algorithm[8]; /* of the best schedule: "wino"; "": the operator's own */
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
	double tasks_ms, default_tasks_ms; /* weighted sums of best and default over the tasks that run, of ... */
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
	double alone_ms;        /* weighted sum of what the confirmed tasks take alone; 0: none were */
	double probe_gflops[2]; /* the least and most that the FMA probe reached meanwhile; 0: none */
	bool interrupted;
} TuneResult;

/* What tune_model would begin with: tasks, spaces, what is known. Measures and writes nothing; with->db may be NULL. */
bool tune_plan(Arena *a, const Partition *p, const TuneRequest *ask, const TuneMeans *with, TuneResult *out, Err *err);
/* Measures one schedule of a task and stores the result. Fails where that is no time; `out` has one task. */
bool tune_try(Arena *a, const Task *task, const Trace *trace, const TuneRequest *ask, const TuneMeans *with,
	TuneResult *out, Err *err);
/*
 * Fails where a record cannot be stored, an oracle not be computed, no task be chosen; what was measured before that
 * is in the database. `out` is filled in either way.
 */
bool tune_model(Arena *a, const Partition *p, const TuneRequest *ask, const TuneMeans *with, TuneResult *out, Err *err);

#endif
