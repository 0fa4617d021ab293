/*
 * Tasks and a budget become records. The only place where schedule, cost_model, measure and db meet
 * while searching. A candidate is hash(workload, target, trace); searches are rows behind ask/tell
 * that neither compile, measure, print nor read a clock.
 */
#ifndef TUNER_TUNER_H
#define TUNER_TUNER_H

#include "compile/compile.h"
#include "measure/measure.h"

#include <signal.h>

typedef struct Search {
	const char *name, *doc;
	void *(*open)(Arena *a, const Space *s, Rng rng);
	/* Fills up to n configs not asked before; 0: the space is exhausted. */
	int (*ask)(void *state, Config *out, int n);
	/* ns <= 0: it failed. */
	void (*tell)(void *state, Config c, double ns);
} Search;

extern const Search search_random;
extern const Search *const searches[]; /* ends with NULL */

/* Milliseconds since any fixed moment; given, so that budgets can be tested. */
typedef struct Clock {
	double (*now_ms)(void *arg);
	void *arg;
} Clock;

struct TuneState;

typedef struct TuneOptions {
	const Target *target;
	Db *db;              /* written */
	Db *const *more;     /* read */
	int nmore;
	Measure *measure; /* children, or a recording */
	Clock clock;
	const char *search;  /* row of `searches` */
	const char *model;   /* for the session record */
	int64_t started_s;   /* seconds since 1970 */
	const char *const *tasks; /* --tasks prefixes; NULL: all */
	int ntasks;
	int64_t trials;      /* over the whole model, reused ones included; -1: not limited */
	int64_t more_trials; /* +N: N more than the database holds; -1: not given */
	double budget_ms;    /* <= 0: not limited */
	uint64_t seed;
	const volatile sig_atomic_t *stop; /* set by Ctrl-C; may be NULL */
	/* After each commit; status text and ids for the screen and --json. */
	void (*on_trial)(const RunRecord *run, const Task *task, void *arg);
	void (*on_progress)(const struct TuneState *s, void *arg);
	void *arg;
} TuneOptions;

typedef struct TaskState {
	const Task *task;
	int64_t trials, reused, failed;
	double best_ms, default_ms; /* 0: not measured */
	bool done;                  /* space exhausted */
} TaskState;

typedef struct TuneState {
	int ntask;
	TaskState *task;
	int64_t trials, reused, failed, pruned;
	double seconds, candidates_per_s;
	double tasks_ms, default_tasks_ms; /* weighted sums over tasks of best and default, of ... */
	int unmeasured, default_unmeasured; /* ... all but so many, which have none */
	bool interrupted;
} TuneState;

/*
 * Fails where a record cannot be stored, an oracle not be computed, no task be chosen; what was
 * measured before that is in the database. `out` is filled in either way.
 */
bool tune_model(Arena *a, const Partition *p, const TuneOptions *o, TuneState *out, Err *err);

#endif
