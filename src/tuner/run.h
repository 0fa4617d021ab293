/*
 * Inside the room: one run of the tuner, as its loop (tuner.c) and its end (race.c) share it.
 */
#ifndef TUNER_RUN_H
#define TUNER_RUN_H

#include "compile/constants.h"
#include "tuner/task_run.h"
#include "tuner/tuning.h"

/* A time that the cost model was not told yet; ns <= 0: none. */
typedef struct Observed {
	Candidate *x;
	double ns;
} Observed;

typedef struct Tuner {
	Arena *arena;
	const TuneRequest *ask;
	const TuneMeans *means;
	TuneResult *result;
	TuneProgress *progress; /* of the result */
	TaskRun *run; /* progress->ntask of them */
	Hash target, env, session;
	VEC(Hash) runs; /* that were stored, for the session's end */
	int64_t submitted, seq;
	int64_t repeats; /* trials of defaults that were measured before */
	int64_t cold_bytes; /* measure_cold */
	double compile_ms;  /* what compiling the network took */
	int lost; /* candidates in a row whose child could not be started */
	int64_t screened; /* candidates with a known screening time */
	double screened_ms; /* sum of these times */
	char why[RUN_STATUS_COUNT][160]; /* the message of the first failure with each status */
	Candidate *flying[MEASURE_FLIGHT]; /* handed to measure, not yet back */
	/* While a Task's search is asked for its next candidate; tuner.c has what happens meanwhile. */
	const TaskRun *asked; /* NULL: none is */
	bool meanwhile;       /* the tuner is called from inside that search */
	int64_t reserve;      /* trials that fill leaves */
	VEC(MeasureResult) held; /* the Task's results, which it takes afterwards */
	VEC(Observed) observed;  /* what the cost model hears afterwards */
	bool broken;             /* a failure meanwhile: why */
	Err why_broken;
	double start_ms, first_build_ms, last_done_ms; /* first_build_ms < 0: nothing was built yet */
	Compiled *plain;  /* the network with default schedules; NULL: there is none */
	Constants *constants; /* of all networks that are compiled */
	const Partition *part;
	int *choice;  /* of each region: the alternative that is fastest by now */
	TaskRun **of; /* of each of the partition's Tasks, those of alternatives too; NULL: not tuned */
	double *ms;   /* best times of those, < 0: none */
	int *weight;  /* in the choices */
	bool settled; /* the network was compiled: that partition counts */
	bool told;    /* events have begun */
} Tuner;

/* The chosen tasks, and what is known of them; writes nothing. */
bool tuner_open(Tuner *t, Arena *a, const Partition *p, const TuneRequest *ask, const TuneMeans *with, TuneResult *out,
	Err *err);
/* Regions with alternatives (regions.c); Tasks are put into t->of as they are opened. */
void regions_open(Tuner *t, const Partition *p);
/* Takes the alternatives that are fastest by what is known, and tells the tasks their weights. */
void regions_choose(Tuner *t);
/* From now on weights are those of the partition that was compiled. */
void regions_settle(Tuner *t, const Partition *compiled);
/* task_run_gain of a task that the network does not run now; < 0: no region can become faster by it. */
double regions_gain(const Tuner *t, const TaskRun *r);
/* Whether the network runs the task, or would if an alternative were a little faster. */
bool regions_close(const Tuner *t, const TaskRun *r);
/* Tasks, target, environment and session become records; who has proposed the candidates: `search`. */
bool tuner_session(Tuner *t, const char *search, Err *err);
double tuner_now(const Tuner *t);
/* Inputs and oracle of the task, made when they are needed first. */
bool tuner_reference(Tuner *t, TaskRun *r, Err *err);
/* Stores what became of a trace, counts it and says so; fails where it cannot be stored. */
bool tuner_store(Tuner *t, TaskRun *r, const char *trace, const MeasureResult *m, Err *err);
/* The result of a candidate that was taken for right and is wrong. */
MeasureResult tuner_exposed(void);
/* Whom a result has shown to be wrong: recorded; those who were compared with him are measured again. */
bool tuner_expose(Tuner *t, TaskRun *r, const MeasureResult *m, Err *err);
void tuner_sum_up(Tuner *t);
/* Whether a trial more may be stored. */
bool tuner_may(const Tuner *t, int64_t trials);

double tuner_deadline(const Tuner *t);   /* by tuner_now; infinite without a budget */
double tuner_trial_ms(const Tuner *t);   /* what a trial takes */
/* Tells the screen what is being done, and after how long all will be done, about. */
void tuner_say(Tuner *t, TunePhase phase, double rest_ms);

/* promise.c: what the best and the default schedules are expected to take, of each Task. */
void promise_update(Tuner *t);
/* As a run ends: what is left to save of each Task, and of their sum. */
void promise_left(Tuner *t);
/* A default that is due to be measured once more; NULL: none is. */
Candidate *promise_repeat(Tuner *t);

/* race.c: compiles the network as it is without records; measure is told how cold its tasks find the caches. */
void final_open(Tuner *t);
/* What the end of the run will take, with what is known now; how many trials it may store. */
double final_reserve_ms(const Tuner *t);
int64_t final_reserve_trials(const Tuner *t);
/* Races the best few of each task, then confirms the choice inside the network. */
bool final_run(Tuner *t, Err *err);

/* tell.c: events, where somebody listens. The session's come with all of its Tasks. */
void tell_session(Tuner *t);
void tell_proposed(const Tuner *t, const Candidate *x);
void tell_measured(const Tuner *t, const TaskRun *r, const RunRecord *run);
/* Best times that are new since the last call. */
void tell_best(Tuner *t);
void tell_race(const Tuner *t, const TaskRun *r, int racers);
void tell_network(const Tuner *t);
/* What each Task has come to, and the end of the run. */
void tell_end(const Tuner *t);

/* confirm.c */
/* The network with the schedules that `trace_of` gives; NULL: all defaults. NULL, and network_why says why not. */
Compiled *confirm_compile(Tuner *t, const char *(*trace_of)(const Task *task, void *arg), void *arg);
double confirm_ms(const Tuner *t);
bool confirm_run(Tuner *t, Err *err);

#endif
