/*
 * The Measure that measures here, as its own files see it: jobs, the builders, the runner, and what
 * the runner has loaded.
 */
#ifndef MEASURE_LOCAL_H
#define MEASURE_LOCAL_H

#include "measure/child.h"
#include "measure/measure.h"
#include "measure/points.h"

#include <signal.h>

/* An entrant is built and checked and stays loaded; then a race times what it is given. */
typedef enum { JOB_CANDIDATE, JOB_ENTRANT, JOB_RACE, JOB_REFERENCE, JOB_NETWORK } JobKind;
/* CHECK: run and compare.  JUDGE: an oracle's word on the one element where two disagree. */
typedef enum { PHASE_CHECK, PHASE_JUDGE, PHASE_TIME } Phase;

/*
 * Numbers in the runner.  Each lane has a module, two programs and some buffers of its own, so that
 * programs of several lanes are loaded at once; tasks' buffers lie below those of the lanes.
 */
enum { LANE_CANDIDATE, LANE_ENTRANT, LANE_ORACLE = LANE_ENTRANT + MEASURE_RACERS, LANES };
enum { LANE_BUFFERS = 4096, FIRST_OWN = MSG_TABLE - LANES * LANE_BUFFERS, PROGRAM_NETWORK = 1000 };

/* A buffer parameter of a kernel set, by name: what the runner allocates. */
typedef struct JobBuf {
	const char *name;
	BufRole role;
	bool prepared; /* a prepare Fn's out */
	DType type;
	int64_t elements, bytes;
	uint32_t id; /* in the runner */
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
typedef struct Local Local;
typedef struct LocalRef LocalRef;
struct Job {
	Job *next;
	Arena *arena;
	JobKind kind;
	int lane;
	LocalRef *ref;
	const char *text;
	VEC(JobBuf) buf;
	VEC(JobCall) call;
	const DlcEntry *entry;
	int nentry;
	const void *image;
	size_t nimage;
	int64_t slow_ns, good_ns;
	bool prune;
	Job *const *racer; /* JOB_RACE */
	int nracer;
	int generation; /* of the runner that has checked it */
	Phase phase;
	int answers; /* still to come in this phase */
	VEC(MsgCompared) compared;
	VEC(JobData) data;
	int disputed; /* output, and element of it, that PHASE_JUDGE is about */
	int64_t element;
	int64_t run_cpu_ns; /* of the check's last run */
	bool refused;
	MeasureResult result;
};

typedef struct Queue {
	Job *first, *last;
} Queue;

/*
 * What is expected of an output: the oracle's values at some elements (0, where these are padding),
 * and all of it, by the oracle or by the first candidate that has passed these elements.
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

/* Inputs by seed, outputs by value: in the measure's arena. */
struct LocalRef {
	const Task *task;
	uint64_t seed;
	int serial;   /* seeds differ between tasks */
	int numbered; /* generation of the runner in which its buffers have numbers */
	int loaded;   /* generation of the runner that has inputs and listed elements */
	int whole_loaded; /* the same of whole outputs */
	VEC(JobBuf) in;
	VEC(RefOut) out;
	Job *oracle; /* that computes single elements; NULL: all are known */
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
	int64_t cold_bytes; /* measure_cold */
	uint32_t given; /* numbers of the runner's buffers given to tasks */
	int64_t loaded_bytes;
	bool spare;         /* the last probe showed a core to spare for builders */
	uint64_t probed_ns; /* when; 0: never */
	uint32_t cores;     /* the runner's */
	double gflops[2];   /* of threads, of one more; while probing */
	bool paused;        /* builders */
	int nref, pending;
	uint64_t serial;
	Queue queued, built, done;
	VEC(Job *) oracles; /* of references: kept to be asked again */
	struct sigaction sigpipe; /* as it was; ignored while one is open */
};

/* job.c */
Job *job_new(JobKind kind, LocalRef *ref, void *user);
void job_free(Job *j);
/* Fills text, bufs and calls from a set. */
bool job_read_set(Job *j, const KernelSet *ks, Err *err);
int job_find_buf(const Job *j, const char *name); /* -1: there is none */

/* local.c */
/* Ends the job with a status: it goes to m->done. */
void job_done(Local *m, Job *j, RunStatus status, const char *detail);
void local_queue(Local *m, Job *j); /* to be built */
void local_ready(Local *m, Job *j); /* built: to be run */
/* Waits for this job alone; others that get done meanwhile are kept. False: interrupted, all is cancelled. */
bool local_wait_for(Local *m, const Job *j);
/* Starts whatever can be started. */
void local_step(Local *m);
/* Stops the builders that would run beside a sample without a core of their own; lets all go on. */
void local_pause(Local *m, bool pause);

/* reference.c */
MeasureRef *local_reference(Measure *base, const Task *task, uint64_t seed, Err *err);

/* race.c */
bool local_race(Measure *base, const MeasureJob *job, int n, MeasureResult *out, Err *err);

/* ask.c: what a job says to the runner; each adds to j->answers */
bool ask_task_fits(const Local *m, const LocalRef *r);
void ask_check(Local *m, Job *j, Msg *msg);
void ask_reference(Local *m, Job *j, Msg *msg);
/* The oracle's value and the candidate's of j's disputed element. */
void ask_judge(Local *m, Job *j, Msg *msg);
void ask_times(Local *m, Job *j, Msg *msg);
void ask_network(Local *m, Job *j, Msg *msg);
void ask_probe(Local *m, Job *j, Msg *msg);

/* runner.c */
/* Hands a built job to the runner. */
void runner_start(Local *m, Job *j);
void runner_close(Local *m);

/* verdict.c: what the answers of a check say */
typedef enum { VERDICT_GOOD, VERDICT_WRONG, VERDICT_DISPUTED, VERDICT_AGAIN } Verdict;
Verdict verdict_of_check(const Local *m, Job *j);
Verdict verdict_of_judge(Local *m, Job *j);
/* A candidate that has passed: its outputs are what others are compared with. */
void verdict_adopt(Local *m, Job *j);

#endif
