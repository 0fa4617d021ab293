/*
 * Measurement is somebody else's process. A Measure takes candidates (kernel sets), builds them in
 * builder children, runs them in runner children (dlc-worker), and gives back a result for each,
 * whatever the children do: crash, hang, run out of memory, answer nonsense. Every wait has a
 * deadline. One thread owns it; libuv below.
 */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include "db/db.h"
#include "ir/ir.h"

typedef struct Measure Measure;
typedef struct MeasureRef MeasureRef;

typedef struct MeasureOptions {
	char *const *builder; /* argv of a program that speaks BUILD: `dlc builder --target=...` */
	char *const *runner;  /* argv of one that speaks the worker's messages: `dlc-worker --stdio` */
	int builders;         /* children that compile; 1 .. MEASURE_BUILDERS */
	int threads;          /* of a kernel call */
	int build_ms, run_ms; /* deadlines of one candidate's build, of its check and its timing */
	int64_t flush_bytes;  /* touched between samples: weights as cold as in the model */
	double tolerance;     /* of max |a-b| / max |ref|: DESIGN 4.9's classes */
} MeasureOptions;

enum { MEASURE_BUILDERS = 8 };

/* One candidate: a scheduled set (printed at once, not kept) of the task that `ref` is of. */
typedef struct MeasureJob {
	const KernelSet *ks;
	MeasureRef *ref;
	int64_t slow_ns; /* a candidate whose first sample is slower is sampled once; 0: no limit */
	void *user;
} MeasureJob;

typedef struct MeasureResult {
	RunStatus status;
	int64_t median_ns, min_ns, mad_ns, compile_ns, samples, max_err_e9;
	char detail[160];
	void *user;
} MeasureResult;

/* The options' texts are borrowed until measure_close. SIGPIPE is ignored meanwhile. */
Measure *measure_open(const MeasureOptions *o, Err *err);
/* Ends the children; at most a second. */
void measure_close(Measure *m);

/*
 * Inputs (random from seed) and the oracle's outputs for a task: the naive set compiled with f64
 * accumulation, run in a child. Waits for it. Owned by m.
 */
MeasureRef *measure_reference(Measure *m, const Task *task, uint64_t seed, Err *err);

/* Hands in a candidate; returns at once. */
bool measure_submit(Measure *m, const MeasureJob *job, Err *err);
/* Waits until a candidate is done or `ms` have passed; false: none is done. */
bool measure_wait(Measure *m, int ms, MeasureResult *out);
int measure_pending(const Measure *m);
/* Forgets what is pending; its children are ended. User pointers are not given back. */
void measure_cancel(Measure *m);

/* Times a whole network, back to back, in a runner child; nothing else may be pending. */
bool measure_network(Measure *m, const void *bundle, size_t n, int64_t *median_ns, Err *err);


/*
 * The builder's side: answers BUILD messages on `in` with BUILT on `out` until `in` ends; returns
 * the exit code. Compiles for `target`.
 */
int measure_builder(int in, int out, const Target *target);

#endif
