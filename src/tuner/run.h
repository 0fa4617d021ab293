/*
 * Inside the room: one run of the tuner, as its loop (tuner.c) and its end (final.c) share it.
 */
#ifndef TUNER_RUN_H
#define TUNER_RUN_H

#include "tuner/task_run.h"

enum { IN_FLIGHT = 4 };

typedef struct Tuner {
	Arena *arena;
	const TuneOptions *o;
	TuneState *state;
	TaskRun *run; /* state->ntask of them */
	Hash target, env, session;
	int64_t submitted, seq;
	Candidate *flying[IN_FLIGHT]; /* handed to measure, not yet back */
	double start_ms, first_build_ms, last_done_ms; /* first_build_ms < 0: nothing was built yet */
	Compiled *plain;  /* the network with default schedules; NULL: there is none */
	double compile_ms; /* what that took */
} Tuner;

/* The chosen tasks, and what is known of them; writes nothing. */
bool tuner_open(Tuner *t, Arena *a, const Partition *p, const TuneOptions *o, TuneState *out, Err *err);
/* Tasks, target, environment and session become records. */
bool tuner_session(Tuner *t, Err *err);
double tuner_now(const Tuner *t);
/* Inputs and oracle of the task, made when they are needed first. */
bool tuner_reference(Tuner *t, TaskRun *r, Err *err);
/* Stores what became of a trace, counts it and says so; fails where it cannot be stored. */
bool tuner_store(Tuner *t, TaskRun *r, const char *trace, const MeasureResult *m, Err *err);
void tuner_sum_up(Tuner *t);
bool tuner_stopped(const Tuner *t);
/* Whether a trial more may be stored. */
bool tuner_may(const Tuner *t, int64_t trials);

/* Compiles the network as it is without records. */
void final_open(Tuner *t);
/* What the end of the run will take, with what is known now. */
double final_reserve_ms(const Tuner *t);
/* Races the best few of each task, then times the network and the sum of its tasks in turn. */
bool final_run(Tuner *t, Err *err);

#endif
