/*
 * The Measure that measures here, as its own files see it: jobs, the builders, the runner, and what
 * the runner has loaded.
 */
#ifndef MEASURE_LOCAL_H
#define MEASURE_LOCAL_H

#include "measure/child.h"
#include "measure/measure.h"

#include <signal.h>

typedef enum { JOB_CANDIDATE, JOB_REFERENCE, JOB_NETWORK } JobKind;
typedef enum { PHASE_CHECK, PHASE_TIME } Phase;

/* A buffer parameter of a kernel set, by name: what the runner allocates. */
typedef struct JobBuf {
	const char *name;
	BufRole role;
	DType type;
	int64_t elements, bytes;
	uint32_t id; /* in the runner */
} JobBuf;

/* A call of one Fn: its entry's name and its parameters as numbers of bufs. */
typedef struct JobCall {
	const char *fn;
	bool prepare;
	int n;
	int *buf;
} JobCall;

typedef struct Job Job;
typedef struct Local Local;
typedef struct LocalRef LocalRef;
struct Job {
	Job *next;
	Arena *arena;
	JobKind kind;
	LocalRef *ref;
	const char *text;
	VEC(JobBuf) buf;
	VEC(JobCall) call;
	const DlcEntry *entry;
	int nentry;
	const void *image;
	size_t nimage;
	int64_t slow_ns;
	Phase phase;
	int answers;      /* still to come in this phase */
	int reads;        /* JOB_REFERENCE: outputs read back */
	double error, size; /* of COMPARE */
	bool wrong;
	int64_t run_ns; /* what the check's run took: the last request of its phase that is DONE */
	MeasureResult result;
};

typedef struct Queue {
	Job *first, *last;
} Queue;

/* Inputs by seed, outputs by value: in the measure's arena. */
struct LocalRef {
	uint64_t seed;
	int serial;   /* seeds differ between tasks */
	int numbered; /* generation of the runner in which its buffers have numbers */
	int loaded;   /* generation of the runner that has it */
	VEC(JobBuf) in;
	VEC(JobBuf) out;
	unsigned char **want; /* bytes of each out */
};

typedef struct Builder {
	Local *m;
	Child child;
	Job *job;
	int lost; /* how often it ended without a job */
} Builder;

struct Local {
	Measure base;
	MeasureOptions o;
	Arena *arena;
	uv_loop_t loop;
	uv_timer_t timer;
	Builder builder[MEASURE_BUILDERS];
	Child runner;
	Job *running;
	int generation; /* of the runner */
	uint32_t given; /* numbers of the runner's buffers given to tasks */
	int64_t loaded_bytes;
	int nref, pending;
	uint64_t serial;
	Queue queued, built, done;
	struct sigaction sigpipe; /* as it was; ignored while one is open */
};

void job_free(Job *j);
/* Ends the job with a status: it goes to m->done. */
void job_done(Local *m, Job *j, RunStatus status, const char *detail);
/* Fills text, bufs and calls from a set. */
bool job_read_set(Job *j, const KernelSet *ks, Err *err);
/* Takes the task's inputs and outputs from its naive set's parameters. */
bool ref_read_params(Local *m, LocalRef *r, const Job *j, Err *err);

/* Hands a built job to the runner. */
void runner_start(Local *m, Job *j);
void runner_close(Local *m);
/* Starts whatever can be started. */
void local_step(Local *m);

#endif
