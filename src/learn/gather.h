/*
 * Records become rows to learn from: each verified schedule of a Task on a target is replayed, and its predictors stand
 * beside the time that was measured and how much that time is worth.
 */
#ifndef LEARN_GATHER_H
#define LEARN_GATHER_H

#include "cost_model/train.h"
#include "db/rank.h"

/* A Task on a target, its schedules whose times may be compared (speeds.h): rows first .. first + n - 1. */
typedef struct LearnTask {
	Hash workload, target;
	const char *class; /* the first word of its label: "conv3x3" */
	int first, n;
	int standard; /* the row of the template's default; -1: it was not measured */
	Arch arch;    /* of its target, as the two below */
	int vector_bits;
	bool parallel; /* several threads */
} LearnTask;

typedef struct LearnSet {
	TrainSet rows; /* rows.task: the number in `task` */
	LearnTask *task;
	int ntask, ntarget;
	int64_t runs, refused; /* read; schedules that this version refuses, too fast ones, and what is not compared */
	Hash data;             /* of the ids of the runs: equal for equal records */
	int epoch;             /* LearnAsk's */
	int threads;           /* LearnAsk's: that may train */
	int64_t replayed;      /* schedules whose row the cache did not have */
	const char *note;      /* what is wrong with the cache; NULL: nothing */
} LearnSet;

/* Which records: of targets of the kind. */
typedef struct LearnAsk {
	DbSet set;
	TargetKind kind;
	const Target *here; /* this machine: what its targets are described by, with any number of threads; may be NULL */
	int epoch;          /* of codegen */
	int threads;        /* that replay schedules and train; below 2: only the caller's */
	const char *rows;   /* the file that keeps rows (row_cache.h); NULL: none */
} LearnAsk;

bool learn_gather(const LearnAsk *ask, LearnSet *out, Arena *a, Err *err);
/*
 * Makes the rows of all schedules that the session ran, and keeps them in ask->rows, so that training need not. *note:
 * what is wrong with the file; NULL: nothing.
 */
bool learn_keep_rows(const LearnAsk *ask, Hash session, const char **note, Arena *a, Err *err);
/* The hash alone, and how many runs there are, without replaying any. */
bool learn_hash(const LearnAsk *ask, Hash *data, int64_t *runs, Err *err);

#endif
