/*
 * Measurement is somebody else's process. A Measure takes candidates (kernel sets) and gives back a
 * result for each. The one of measure_open builds them in builder children and runs them in a runner
 * child (dlc-worker), whatever the children do: crash, hang, run out of memory, answer nonsense;
 * every wait has a deadline. The one of measure_replay answers from records and starts nothing.
 * One thread owns a Measure; libuv below.
 */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include "ir/ir.h"
#include "measure/method.h"
#include "op/task.h"
#include "record/run.h"
#include "target/target.h"

#include <signal.h>

typedef struct Measure Measure;
typedef struct MeasureRef MeasureRef; /* what a Measure knows of a task; its own business */

typedef struct MeasureOptions {
	char *const *builder; /* argv of a program that speaks BUILD: `dlc builder --target=...` */
	char *const *runner;  /* argv of one that speaks the worker's messages: `dlc-worker --stdio` */
	int builders;         /* children that compile; 1 .. MEASURE_BUILDERS */
	int threads;          /* of a kernel call */
	int build_ms, run_ms; /* deadlines of one candidate's build, of its check and its timing */
	double tolerance;     /* of max |a-b| / max |ref|; 2^-9 at least of an output in f16, 2^-6 in bf16 */
	const volatile sig_atomic_t *stop; /* once set, references and networks end early; or NULL */
	void (*tick)(void *arg); /* called some times a second while a call waits for its answer; or NULL */
	void *tick_arg;
} MeasureOptions;

enum { MEASURE_BUILDERS = METHOD_BUILDERS, MEASURE_RACERS = METHOD_RACERS, MEASURE_NETWORKS = METHOD_NETWORKS };

/* One candidate: a scheduled set (printed at once, not kept) of the task that `ref` is of. */
typedef struct MeasureJob {
	const KernelSet *ks;
	const char *trace; /* that made it: all that a recording knows a candidate by */
	MeasureRef *ref;
	int64_t slow_ns; /* a candidate that is slower is set aside once its samples fill a short time; 0: no limit */
	int64_t good_ns; /* one that is slower is set aside after a few samples; 0: no limit */
	bool keep;       /* a default, or written by hand: never pruned; racers are not either */
	void *user;
} MeasureJob;

/*
 * Times are the wall's, of the slowest thread, and of the samples during which all threads kept their CPUs. Where
 * fewer than a third did, they are CPU times of all samples (clock "cpu") if there is one thread, and of the fastest
 * quarter if there are several. `lost` counts the samples that lost a CPU, whatever the times are of.
 *
 * exposed: the outputs of the first candidate of a task that passes are what later ones are compared with. This
 * result's candidate has shown that they were wrong where the oracle had not looked: `exposed` is the trace of
 * that first one, which was RUN_OK with an error that says verified, and doubtful[0 .. ndoubtful) the traces of all
 * that were RUN_OK since then by comparison with it, each once, without it. All belong to the Measure until it is
 * closed. A candidate whose job had no trace is named "". It is said once, and whatever becomes of this candidate.
 *
 * pruned: codegen's report says that it cannot be good (its accumulators spill), so it was never
 * run; it is no trial and no record, `status` is RUN_CONSTRAINT and `detail` says why.
 */
typedef struct MeasureResult {
	RunStatus status;
	bool pruned;
	int64_t median_ns, min_ns, mad_ns, compile_ns, samples, max_err_e9;
	int64_t probe_mflops; /* of the FMA probe, some seconds before at most; 0: there was none */
	int64_t lost;         /* samples in which a thread lost its CPU */
	const char *clock;    /* RUN_OK: "wall" or "cpu", else ""; as in RunRecord */
	const char *stage;    /* RUN_OK: "look", "full" or "race", else ""; as in RunRecord */
	int64_t waited_ms;    /* for samples of others on this device; of a race, all of it is in its first result */
	const char *exposed;  /* NULL: none */
	const char *const *doubtful;
	int ndoubtful;
	char detail[160];
	void *user;
} MeasureResult;

/* A network, and what a turn of it took: medians in nanoseconds, of `samples` runs; of so many more a CPU was lost. */
typedef struct MeasureNetwork {
	const void *bundle;
	size_t bytes;
	int nstep; /* of its plan */
	int64_t median_ns, samples, lost;
	int64_t *step_ns; /* nstep of them, the caller's */
} MeasureNetwork;

/* How it measures, for the record: changes when times of before and after cannot be compared. */
const char *measure_method(const Measure *m);

/* The options' texts are borrowed until measure_close. SIGPIPE is ignored meanwhile. */
Measure *measure_open(const MeasureOptions *o, Err *err);
/* Calls f for each recorded run of a workload, best first. */
typedef bool (*MeasureRunsFn)(void *from, Hash workload, RunFn f, void *arg, Err *err);
/*
 * Answers from records: the first run of a candidate's trace that `runs` hands over. A candidate without a record is
 * RUN_DEVICE_LOST; there are no networks. `from` is borrowed.
 */
Measure *measure_replay(MeasureRunsFn runs, void *from);
/* Ends the children; at most a second. NULL is allowed. */
void measure_close(Measure *m);

/*
 * The candidates from now on are of a network whose run passes so many bytes of constants and workspace
 * through the caches: that is how cold all but the inputs is when a sample begins. 0 until it is said.
 */
void measure_cold(Measure *m, int64_t bytes);

/*
 * Inputs (random from seed) and the oracle's outputs for a task: the naive set compiled with f64
 * accumulation, run in a child. Waits for it; ERR_INTERRUPTED: o.stop was set, and what is pending
 * has been cancelled. Owned by m.
 */
MeasureRef *measure_reference(Measure *m, const Task *task, uint64_t seed, Err *err);

/* Hands in a candidate; returns at once. */
bool measure_submit(Measure *m, const MeasureJob *job, Err *err);
/* Waits until a candidate is done or `ms` have passed; false: none is done. */
bool measure_wait(Measure *m, int ms, MeasureResult *out);
int measure_pending(const Measure *m);
/*
 * For callers that think long, every few milliseconds: what is pending goes on. Whoever thinks needs a core; while a
 * sample is timed it is that of a builder, and where no core is to spare this waits for the sample's end.
 */
void measure_turn(Measure *m);
/* Forgets what is pending; its children are ended. User pointers are not given back. */
void measure_cancel(Measure *m);

/*
 * The last few candidates of one task against each other: all are built and checked, then timed in
 * turn in one child (A B C A B C ...), so that what the machine does meanwhile meets all of them.
 * 1 <= n <= MEASURE_RACERS; out[i] is job[i]'s result, job[i].slow_ns and good_ns are not looked at.
 * Waits for it; other candidates may be pending, and stay so. False only where nothing could be
 * measured at all: ERR_INTERRUPTED as for a reference.
 */
bool measure_race(Measure *m, const MeasureJob *job, int n, MeasureResult *out, Err *err);

/*
 * Times whole networks in turn, each for `turn_ms` at most back to back, as it is deployed; one call is one turn of each.
 * 1 <= n <= MEASURE_NETWORKS; nothing else may be pending. Bundles are compared by address, and stay loaded between calls.
 */
bool measure_networks(Measure *m, MeasureNetwork *net, int n, int turn_ms, Err *err);

/*
 * The builder's side: answers BUILD messages on `in` with BUILT on `out` until `in` ends; returns
 * the exit code. Compiles for `target`.
 */
int measure_builder(int in, int out, const Target *target);

#endif
