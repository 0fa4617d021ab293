/*
 * One task while it is tuned: its space, its search, what is known of it, and what the network may gain by
 * more trials. Gives the next candidate and takes what became of it. Of budgets it knows until when a search may plan.
 */
#ifndef TUNER_TASK_RUN_H
#define TUNER_TASK_RUN_H

#include "db/rank.h"
#include "schedule/drafts.h"
#include "tuner/estimates.h"
#include "tuner/outcome.h"
#include "tuner/tuner.h"

typedef struct TaskRun {
	const TuneRequest *ask;
	const TuneMeans *means;
	Arena *arena;
	TaskProgress *state;
	const Task *task;
	Space *space;
	Drafts *drafts;
	void *search;
	MeasureRef *ref; /* NULL until the first candidate */
	Cost cost;
	OutcomeSet known; /* by trace */
	OutcomeSet records; /* ids of the runs that were reused: a run may be in several databases */
	Estimates estimates;
	const char *default_trace;
	double first_ns;    /* of the default, by the trial that this run began with; 0: there was none, or it failed */
	VEC(double) repeat; /* nanoseconds of the default by later trials */
	bool default_apart; /* no first config of the space, which is refused */
	double guess_ms; /* estimate of the default */
	VEC(const char *) seed; /* traces from elsewhere, to be measured after the default */
	size_t seed_head, hints; /* the first so many seeds are what others say of this very task */
	VEC(const char *) doubt; /* traces that were compared with wrong outputs: to be measured again */
	Config best; /* of those that the search gave, and its time */
	double best_ns; /* 0: none */
	double until_ms; /* by the clock: when a search must ask with what it has planned; 0: not limited */
	bool advised; /* other tasks have given their hints */
	bool waits;   /* nothing to ask until something is told */
	/* Called while a search estimates, every few milliseconds; NULL: measure_turn is. */
	void (*meanwhile)(void *arg);
	void *meanwhile_arg;
	bool confirmed; /* task_run_confirm said what best_ms is: no time is compared with it any more */
	/* Multiplications that the space's algorithms save, as space_saves has it; 1: it has none. */
	double least_saved, most_saved;
	int in_flight;
	int64_t since_gain; /* trials since the last one that was 1 % faster */
	double told_ms; /* the best time that was told last */
	VEC(double) best_after; /* milliseconds, of each trial; reused ones count as such without a gain */
} TaskRun;

typedef struct Candidate {
	Arena *arena;
	TaskRun *run;
	Config config;
	bool searched; /* config is set: the search waits for the answer */
	bool repeat;   /* a default that was measured before */
	const char *trace;
	const char *source; /* why it was chosen: Event.source */
	const KernelSet *ks;
} Candidate;

/* Whether the caller asks for the end of the run. */
bool tune_stopped(const TuneMeans *with);
/* The trace of a candidate, scheduled; NULL: it is refused. */
KernelSet *task_run_replay(const TaskRun *r, const char *trace, Arena *a, Err *err);
/* Space, default, and what the databases hold; writes nothing. */
bool task_run_open(TaskRun *r, TaskProgress *state, Arena *a, const Task *task, const TuneRequest *ask,
	const TuneMeans *with, Err *err);
/* All databases of a run, the one that is written first. */
DbSet task_run_databases(const TuneMeans *with, Arena *a);
/* What is asked of the task here; figures of it alone. */
DbKey task_run_key(const TaskRun *r);
/* Traces from elsewhere that are worth a trial. */
bool task_run_seeds(TaskRun *r, Err *err);
/*
 * A candidate not measured yet, marked as under way. NULL: there is none now (r->waits), or none at all
 * (r->state->end). flying: those under way.
 */
Candidate *task_run_next(TaskRun *r, Candidate *const *flying, int n);
/* A record's schedule is refused, whatever time it claims: it fails, and is counted. */
void task_run_refused(TaskRun *r, Outcome *k);
/* What a trial took; ns <= 0: it failed. err_e9: as in RunRecord. The cost model is not told. */
void task_run_take(TaskRun *r, const Candidate *x, double ns, int64_t err_e9);
/* Tells the cost model: while a search estimates with it, it must not change. */
void task_run_observe(TaskRun *r, const Candidate *x, double ns);
/* What was taken for right was not: it counts as failed, or as not seen yet (doubt), and the best is another one. */
void task_run_expose(TaskRun *r, const char *trace);
void task_run_doubt(TaskRun *r, const char *trace);
/* The schedule to tell, and its time, as they stay: that of the network, or the tried one. 0: it failed. */
void task_run_confirm(TaskRun *r, const char *trace, double ns);
/* Nanoseconds that the cost model believes of a candidate that is not measured yet. */
double task_run_belief(const TaskRun *r, const Candidate *x);
/* Milliseconds of the network from the best time to the roof of the algorithm that saves most; < 0: no roof. */
double task_run_could_save(const TaskRun *r);
/*
 * The part of the Task's best time, from 0 to 1, that is left to save at most: down to the roof, or what the search
 * believes (Search.left) if that is less; < 0: neither is known.
 */
double task_run_left(const TaskRun *r);
/* Those that so many more trials are expected to save (tuner/expect.h); 0 where the search is at its end. */
double task_run_expected(const TaskRun *r, int trials);
/* Milliseconds of the network that a trial may save, in the end; infinite: nothing of it was tried. */
double task_run_gain(const TaskRun *r);
/* The same where all trials together may save so many milliseconds of one call, for the next trial alone. */
double task_run_gain_rate(const TaskRun *r, double save);
/* What was fast for other tasks of the template is asked soon. */
void task_run_advise(TaskRun *r, const TaskRun *const *others, int n);

#endif
