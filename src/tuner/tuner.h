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
#include "tuner/progress.h"
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

/* What a run works with; all of it is the caller's. */
typedef struct TuneMeans {
	Db *db;          /* written */
	Db *const *more; /* read */
	int nmore;
	Measure *measure;        /* children, or a recording */
	const EnvDevice *device; /* what candidates run on, for their environment; NULL: a CPU */
	Clock clock;
	const Cost *cost;       /* ranks what was not measured, and is told what was; NULL: the first cost model */
	const Cost *compiling;  /* that of dlc_compile, for base lines; NULL: the first cost model */
	struct Untuned *untuned; /* chooses what is compiled without records: the base line; may be NULL */
	const CodeCache *cache; /* of the network's code; may be NULL */
	Roof roof;              /* what the machine gives; zeros: no roofs */
	const atomic_int *stop; /* not 0: the run ends, with all that is stored; may be NULL */
	/* After each commit, whenever there is something to show, and for all that happens; may be NULL. */
	void (*on_trial)(const RunRecord *run, const Task *task, void *arg);
	void (*on_progress)(const TuneProgress *p, void *arg);
	void (*on_event)(const Event *e, void *arg);
	void *arg;
} TuneMeans;

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
