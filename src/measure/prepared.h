/*
 * Constants that prepare Fns have made stay in the runner. Candidates of a Task share few prepare Fns, and the
 * candidates of several Tasks take turns: so each set of constants of a candidate has numbers of its own, and stays
 * until others need its place or its memory, the set that was used last longest ago first. An entrant's are those of
 * its lane, as it is timed beside others.
 */
#ifndef MEASURE_PREPARED_H
#define MEASURE_PREPARED_H

#include "measure/job.h"

typedef struct Runner Runner;

/* Constants in a runner, and what they were made by. */
struct Prepared {
	const LocalRef *ref; /* NULL: not known */
	int generation;      /* of the runner */
	Hash by;             /* Job.prepare */
	uint32_t first;      /* number of the first buffer; 0: those of the job's lane */
	int buffers;         /* that have numbers and memory */
	int64_t bytes;
	uint64_t used; /* when last */
};

typedef struct Constants {
	Prepared lane[LANES], kept[PREPARED_SETS]; /* those of a lane's own numbers; those of candidates */
	uint64_t clock; /* jobs */
} Constants;

/* Where the job's constants lie from now on, if it prepares any; *kept: they are there. */
Prepared *prepared_find(Runner *x, Job *j, Msg *msg, bool *kept);
/* The job has passed: its constants may be used again. */
void prepared_pass(Job *j);
/* A job has failed, and may have written to anything. */
void prepared_forget(Runner *x);

#endif
