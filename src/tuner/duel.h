/*
 * Which schedules a network gets, by times of whole networks that are taken in turn. The default network is one of
 * them, and stays unless another one is faster beyond the noise of the rounds. Knows neither traces, compilers nor
 * clocks, so that a test can play thousands of tunings with planted times and noise.
 *
 * A schedule is a number within its Task; 0 is the default. A gain is the logarithm of default / schedule, positive
 * where the default is slower. Two times of one round make a pair: what disturbs the machine for longer than a round
 * disturbs both.
 */
#ifndef TUNER_DUEL_H
#define TUNER_DUEL_H

#include "base/arena.h"
#include "base/err.h"
#include "tuner/tuning.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	DUEL_SCHEDULES = 4, /* of a Task: the default, the best two alone, the recorded one */
	DUEL_NETWORKS = 8,  /* the four above, and those made of what their rounds say */
	DUEL_ROUNDS = TUNE_FIRST_ROUNDS + 3 * TUNE_MOST_ROUNDS,
};

typedef struct DuelTask {
	int n;     /* schedules */
	bool runs; /* the networks run it, those other than the default one */
	int base;  /* the schedule that stays unless another is faster: one recorded inside networks, or the default */
	/* What is known before the rounds: gains, and their standard errors; INFINITY: nothing is known. */
	double prior[DUEL_SCHEDULES], prior_se[DUEL_SCHEDULES];
	double ns[DUEL_SCHEDULES][DUEL_ROUNDS];          /* of a call; 0: not timed in that round */
	int64_t samples[DUEL_SCHEDULES];                 /* the caller's */
	double gain[DUEL_SCHEDULES], se[DUEL_SCHEDULES]; /* with what the rounds say */
} DuelTask;

typedef struct DuelNetwork {
	const int *pick;        /* of each Task */
	double ms[DUEL_ROUNDS]; /* 0: not timed in that round */
	void *made;             /* the caller's; NULL: not compiled yet */
} DuelNetwork;

/* 95 % of what a gain may be: mean - half to mean + half; half is INFINITY for fewer than two pairs. */
typedef struct DuelGain {
	double mean, half;
	int n;
} DuelGain;

typedef struct Duel {
	Arena *arena;
	DuelTask *task;
	int ntask;
	DuelNetwork net[DUEL_NETWORKS]; /* [0]: the default network */
	int nnet, round;
	bool all_zero_is_default; /* the picks 0 of all Tasks are the default network; else that has other Tasks */
	bool held;                /* databases chose the network of the bases: it stays unless it is slower */
	bool default_may_win;     /* the databases can say that the default network is chosen */
	int chosen;               /* of net; -1: no network was timed beside the default one */
	DuelGain gain;            /* of the chosen network, by the rounds since it was made */
	int since;                /* these rounds begin here */
	int settled;              /* rounds that were taken to settle a choice */
	bool no_time;             /* for rounds that would have settled a choice */
	/* Compiles net->pick. False: it cannot be; *err says why, or the caller stops. */
	bool (*make)(void *arg, DuelNetwork *net, Err *err);
	/* One turn of n networks: fills ms[round] and the ns[..][round] of their Tasks. */
	bool (*time)(void *arg, DuelNetwork *const *net, int n, int round, Err *err);
	/* How many rounds of so many networks there is time for, after so many were compiled; 0: not for one. */
	int (*rounds)(void *arg, int makes, int networks);
	/*
	 * How many more rounds of two networks may settle a choice, so that large networks do not take minutes; 0: none.
	 * The least rounds that a verdict needs are taken all the same, where `rounds` has time for them.
	 */
	int (*settles)(void *arg);
	void *arg;
} Duel;

/* A network of these picks, which are copied; the number of an equal one if there is one. -1: there is no place. */
int duel_add(Duel *d, const int *pick);
/* Times the networks that were added, and those made of what that says, until one is chosen. */
bool duel_run(Duel *d, Err *err);
/* The gain of net over the default network by the rounds from `since` on. */
DuelGain duel_gain(const Duel *d, int net, int since);
/* The median of a schedule's times; 0: it has none. */
double duel_ns(const DuelTask *t, int schedule);

#endif
