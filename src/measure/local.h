/*
 * Inside the room: the Measure that measures on this machine, with its builders, its runners and their jobs.
 */
#ifndef MEASURE_LOCAL_H
#define MEASURE_LOCAL_H

#include "measure/child.h"
#include "measure/kept_builds.h"
#include "measure/prepared.h"
#include "measure/reference.h"
#include "measure/way.h"

typedef struct Local Local;
typedef struct Queue {
	Job *first, *last;
} Queue;

typedef struct Builder {
	Local *m;
	Child child;
	Job *job;
	bool other_version; /* its program cannot be used */
	int lost;           /* how often it ended without a job */
} Builder;

/* A request of a probe, and bits of the kinds that need it. */
typedef struct ProbeRequest {
	uint64_t serial;
	unsigned kinds;
} ProbeRequest;
enum { PROBE_REQUESTS = 32 };

typedef struct Runner {
	Local *m;
	int index; /* of MeasureOptions.runner */
	int first; /* the index of its device's first runner */
	Child child;
	Job *running;
	int generation; /* of its child: 1 or more, different from those of all other children */
	int lost;       /* failures in a row for which no job is to blame: of the device, of a second runner itself */
	char refusal[200]; /* why it last refused a job */
	bool gone;      /* lost reached METHOD_LOST_STARTS */
	bool crashed;   /* its child ended while `running` ran: if the next child answers, the candidate is to blame */
	bool other_version; /* the program cannot be used */
	uint32_t numbered; /* buffers with numbers below this belong to Tasks */
	int64_t loaded_bytes;
	Constants constants;
	uint32_t cores;       /* of its host */
	int64_t device_bytes; /* memory of its device; 0: not known */
	bool own_processors;  /* of its device: builders disturb no sample */
	bool sampling, waiting; /* waiting: with its samples, for those of another runner */
	uint64_t started_ns, probed_ns; /* when `running` began; time of the last probe, 0: none */
	double gflops[2];     /* rate of the threads, and with one more team, at the last probe */
	int probes, probes_asked; /* answers of that probe so far; in all */
	int probe_loaded;     /* generation that has the device's probe */
	DeviceProbe device;   /* the last answers of the device's probe */
	unsigned probe_lost;  /* bits of the kinds that were given up after a refusal */
	int nprobe_request;
	ProbeRequest probe_request[PROBE_REQUESTS]; /* of the last probe */
} Runner;

struct Local {
	Measure base;
	MeasureOptions o;
	Arena *arena;
	uv_loop_t loop;
	uv_timer_t timer;
	Builder builder[MEASURE_BUILDERS];
	Runner runner[MEASURE_RUNNERS];
	int next;        /* the runner whose turn it is */
	int generations; /* of all runners */
	int64_t cold_bytes; /* measure_cold */
	int64_t carried;    /* bytes of the largest candidate that ran; 0: none since a device was full */
	bool spare;         /* the last probe showed a spare core: a builder may run beside a sample */
	bool paused;        /* a runner samples on the host's processors: builders and other runners there are stopped */
	Job *probe;         /* the device's probe, built; NULL: there is none */
	bool probe_asked, probe_failed;
	char probe_why[160];
	double probe_work[PROBE_KINDS]; /* of a block; 0: the target has no such units */
	int nref, pending;
	uint64_t serial;
	Queue queued, built, done;
	KeptBuilds kept;
	const void *network[NETWORKS_LOADED]; /* bundles that the runner of ... */
	int network_generation;               /* ... this generation has */
	VEC(Job *) oracles; /* of references: kept to be asked again */
};

/* Ends the job with a status: it goes to m->done. */
void job_done(Local *m, Job *j, RunStatus status, const char *detail);
void local_queue(Local *m, Job *j); /* to be built */
void local_ready(Local *m, Job *j); /* built: to be run */
/* Waits for this job alone; others that end meanwhile are kept. False: interrupted, all is cancelled. */
bool local_wait_for(Local *m, const Job *j);
void local_step(Local *m); /* starts the builds, runs and samples that can start now */
/* Puts the job at the front of the queue, for a runner that has not refused it. */
void local_again(Local *m, Job *j);
/* Called before and after a sample: what works on the host's processors without a spare core stops meanwhile. */
void local_pause(Runner *x, bool sampling);
/* Another runner takes samples on the host's processors, on which this one works, too. */
bool local_waits(const Runner *x);
/* The runner of races and networks: the first that is not gone; of several that all are, the last one. */
Runner *local_first(Local *m);
bool local_anywhere(const Job *j); /* whether any device may run it */
bool local_untried(const Runner *x, const Job *j); /* another device is not gone and has not refused the job */
int local_others(const Runner *x); /* how many other devices are not gone */
/* Tells the user that the device is lost and that the others go on. */
void local_tell_lost(const Runner *x, const char *why);
void local_turn(Local *m, int ms); /* runs the loop for a time, or until a job is done */

/* device_probe.c */
bool local_probe(Measure *base, DeviceProbe *out, Err *err);

/* race.c */
bool local_race(Measure *base, const MeasureJob *job, int n, MeasureResult *out, Err *err);

/* network_turns.c */
bool local_networks(Measure *base, MeasureNetwork *net, int n, int turn_ms, Err *err);

#endif
