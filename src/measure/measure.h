/*
 * Measurement is somebody else's process. A Measure takes candidates (Fn text), builds them in
 * builder children, runs them in runner children (dlc-worker), and gives back a result for each,
 * whatever the children do: crash, hang, run out of memory, answer nonsense. Every wait has a
 * deadline. One thread owns it; libuv below.
 */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include "db/db.h"
#include "ir/ir.h"
#include "target/target.h"

typedef struct Measure Measure;
typedef struct MeasureRef MeasureRef;

typedef struct MeasureOptions {
	const Target *target;
	const char *builder;  /* path of the dlc program, started as `dlc builder --stdio` */
	const char *runner;   /* path of dlc-worker, started as `dlc-worker --stdio` */
	int builders;         /* children that compile; >= 1 */
	int build_ms, run_ms; /* deadlines */
	int64_t flush_bytes;  /* touched between samples: weights as cold as in the model */
} MeasureOptions;

/*
 * One candidate. `text` is the kernel set in written form, borrowed until it is given back.
 * The expected outputs come from measure_reference for the same task.
 */
typedef struct MeasureJob {
	const char *text;
	const MeasureRef *ref;
	void *user;
} MeasureJob;

typedef struct MeasureResult {
	RunStatus status;
	int64_t median_ns, min_ns, mad_ns, compile_ns, samples, max_err_e9;
	char detail[160];
	void *user;
} MeasureResult;

Measure *measure_open(const MeasureOptions *o, Err *err);
/* Ends the children; at most a second. */
void measure_close(Measure *m);

/*
 * Inputs (random from seed) and the oracle's outputs for a task: the naive set compiled with f64
 * accumulation, run in a child. Owned by m.
 */
const MeasureRef *measure_reference(Measure *m, const Task *task, uint64_t seed, Err *err);

/* Hands in a candidate; returns at once. */
bool measure_submit(Measure *m, const MeasureJob *job, Err *err);
/* Waits until a candidate is done or `ms` have passed; false: none is done. */
bool measure_wait(Measure *m, int ms, MeasureResult *out);
int measure_pending(const Measure *m);
/* Forgets what is pending; its children are ended. User pointers are not given back. */
void measure_cancel(Measure *m);

/* Times a whole network, back to back, in a runner child; nothing else may be pending. */
bool measure_network(Measure *m, const void *bundle, size_t n, int64_t *median_ns, Err *err);

#endif
