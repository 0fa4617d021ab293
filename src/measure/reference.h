/*
 * Inside the room: a Task's inputs, and what its outputs must be.
 */
#ifndef MEASURE_REFERENCE_H
#define MEASURE_REFERENCE_H

#include "measure/job.h"
#include "measure/points.h"

/*
 * What an output must be: reference values of some elements (0 for padding), and the whole, which the reference or the
 * first candidate that has passed these elements computed.
 */
typedef struct RefOut {
	JobBuf buf; /* its id is that of the whole in the runner */
	Places place;
	int points;    /* 0: the oracle gave all */
	int64_t *index; /* of the points, rank numbers each */
	int64_t listed; /* points and then padding */
	const uint64_t *at;
	const unsigned char *value; /* of the listed */
	uint32_t at_id, value_id;
	const unsigned char *whole; /* NULL: not known yet */
} RefOut;

typedef VEC(const char *) Traces;

/* The part of a Task that one runner has. */
typedef struct RefAt {
	int numbered;   /* generation of the runner in which the Task's buffers have numbers */
	uint32_t first; /* the first of these numbers */
	int loaded;     /* generation of the runner that has inputs and listed elements */
	int whole_loaded; /* generation of the runner that has whole outputs */
} RefAt;

/* Inputs by seed, outputs by value: in the measure's arena. */
struct LocalRef {
	const Task *task;
	uint64_t seed;
	int serial;   /* seeds differ between tasks */
	RefAt at[MEASURE_RUNNERS];
	VEC(JobBuf) in; /* numbers of in and out: those of the runner that is asked */
	VEC(RefOut) out;
	int outputs_version; /* how often the outputs that candidates are compared with have changed */
	Job *oracle; /* that computes single elements; NULL: all are known */
	const char *first;    /* trace of the candidate that `whole` is of; NULL: none, or the oracle's */
	Traces passed; /* traces of those that passed by comparison with it */
};

MeasureRef *local_reference(Measure *base, const Task *task, uint64_t seed, Err *err);

#endif
