/*
 * A job for the children: the parts of a kernel set that the runner needs, and how far the job is.
 */
#ifndef MEASURE_JOB_H
#define MEASURE_JOB_H

#include "base/hash.h"
#include "measure/measure.h"
#include "worker/frame.h"

/*
 * An entrant is built and checked and stays loaded; then a race times the entrants. A probe is built and kept. A
 * state measures all kinds of the probe.
 */
typedef enum { JOB_CANDIDATE, JOB_ENTRANT, JOB_RACE, JOB_REFERENCE, JOB_NETWORK, JOB_PROBE, JOB_STATE } JobKind;
/* CHECK: run and compare.  JUDGE: the reference value of one element, in which two candidates disagree. */
typedef enum { PHASE_CHECK, PHASE_JUDGE, PHASE_TIME } Phase;

/*
 * Numbers in the runner.  Each lane has a module for each image, two programs and some buffers of its own, so that
 * programs of several lanes are loaded at once.  Buffers of Tasks have numbers below those of the lanes.
 */
enum { LANE_CANDIDATE, LANE_ENTRANT, LANE_ORACLE = LANE_ENTRANT + MEASURE_RACERS, LANE_PROBE, LANES };
enum {
	LANE_BUFFERS = 4096,
	LANE_NUMBERS = 2 * LANE_BUFFERS, /* each buffer may lie on the host and on the device */
	PREPARED_SETS = 32, /* of constants that candidates have prepared and that a runner keeps (prepared.c) */
	PREPARED_BUFFERS = 8, /* of such a set */
	PREPARED_NUMBERS = 2 * PREPARED_BUFFERS,
	FIRST_PREPARED = MSG_TABLE - PREPARED_SETS * PREPARED_NUMBERS,
	FIRST_OWN = FIRST_PREPARED - LANES * LANE_NUMBERS, /* number of the first lane's first buffer */
	PROGRAM_PROBE = 900, /* and one for each kind of it */
	PROGRAM_NETWORK = 1000,
	NETWORKS_LOADED = 2 * MEASURE_NETWORKS,
};

/* A buffer parameter of a kernel set, by name: what the runner allocates. */
typedef struct JobBuf {
	const char *name;
	BufRole role;
	bool prepared; /* a prepare Fn's out */
	bool in_prepare, in_run; /* a parameter of a prepare Fn; of a run Fn */
	DType type;
	int64_t elements, bytes;
	double most; /* a task's input: random numbers are no larger */
	uint32_t id, host_id; /* in the runner: for run Fns; for prepare Fns and oracles. Equal where all is on the host */
	int64_t npadding; /* a task's input: elements that are 0, and the number of the list of them */
	const uint64_t *padding;
	uint32_t padding_id;
} JobBuf;

/* A call of one Fn: its entry's name and its parameters as numbers of bufs; `times` rows of symbols. */
typedef struct JobCall {
	const char *fn;
	bool prepare;
	int n;
	int *buf;
	int nsym, times;
	const int64_t *sym;
} JobCall;

/* An answer of the runner that carries bytes. */
typedef struct JobData {
	const unsigned char *bytes;
	size_t n;
} JobData;

typedef struct Job Job;
typedef struct LocalRef LocalRef;
typedef struct Prepared Prepared;

struct Job {
	Job *next;
	Arena *arena;
	JobKind kind;
	int lane;
	LocalRef *ref;
	const char *trace; /* "": not known */
	const char *text;
	VEC(JobBuf) buf;
	VEC(JobCall) call;
	bool prepares; /* it has prepare Fns */
	Hash prepare;  /* of these, and of which of their results run Fns read: equal ones of a Task make equal constants */
	Prepared *constants; /* where the runner has these constants */
	bool kept;           /* they are there from an earlier job */
	DlcImage image[MSG_IMAGES]; /* in the arena */
	int nimage;
	int64_t slow_ns, good_ns;
	bool prune;
	Job *const *racer; /* JOB_RACE */
	int nracer;
	MeasureNetwork *net; /* JOB_NETWORK */
	int nnet, profiled, turn_ms; /* profiled: those whose answers have come */
	int generation; /* of the runner that has checked it */
	Phase phase;
	int answers; /* still to come in this phase */
	int outputs_version; /* ref->outputs_version at the check; if that has changed since, the job is checked again */
	VEC(MsgCompared) compared;
	VEC(JobData) data;
	int disputed; /* output, and element of it, that PHASE_JUDGE is about */
	int64_t element;
	int64_t run_ns; /* of the check's last run; CPU time where that lost its CPU, 0 of several threads */
	bool run_lost;
	bool refused;
	bool no_room; /* the refusal: the device lacks memory, and no kernel had run */
	uint32_t refusers; /* bits of the devices (Runner.first) that refused it before a kernel of it ran */
	MeasureResult result;
};

Job *job_new(JobKind kind, LocalRef *ref, void *user);
void job_free(Job *j);
/* Fills text, bufs and calls from a set. */
bool job_read_set(Job *j, const KernelSet *ks, Err *err);
int job_find_buf(const Job *j, const char *name); /* -1: there is none */

#endif
