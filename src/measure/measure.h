/*
 * A Measure takes candidates (kernel sets) and gives back a result for each. measure_open's builds them in builder
 * children and runs them in a runner child (dlc-worker, or a dlc-device-worker for each device). Children may crash,
 * hang, run out of memory or answer nonsense. That becomes a status, since every wait has a deadline. docs/measure.md
 * has the method. One thread owns a Measure; libuv below.
 */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include "ir/ir.h"
#include "measure/options.h"
#include "measure/result.h"
#include "op/task.h"

typedef struct Measure Measure;
typedef struct MeasureRef MeasureRef; /* what a Measure knows of a Task: inputs and reference values */

/* One candidate: a scheduled set (printed at once, not kept) of the task that `ref` is of. */
typedef struct MeasureJob {
	const KernelSet *ks;
	const char *trace; /* that made it; a fault names it, and a recording knows a candidate by it */
	MeasureRef *ref;
	int64_t slow_ns; /* a slower candidate is set aside once its samples fill a short time; 0: no limit */
	int64_t good_ns; /* a slower candidate is set aside after a few samples; 0: no limit */
	bool keep;       /* never prune it: a default, or written by hand; racers are never pruned */
	void *user;
} MeasureJob;

/* How it measures, for the record: another text means that the times are not comparable. */
const char *measure_method(const Measure *m);

/* The options' texts are borrowed until measure_close. SIGPIPE is ignored while any is open. */
Measure *measure_open(const MeasureOptions *o, Err *err);
/* Ends the children; at most a second. NULL is allowed. */
void measure_close(Measure *m);
/*
 * Where memory ran out in the middle of a call (base/guard.h): ends the children and forgets the Measure, whose memory
 * and descriptors stay behind.
 */
void measure_abandon(Measure *m);

/*
 * From now on candidates belong to a network whose run passes so many bytes of constants and workspace through the
 * caches. That decides how cold the caches are made before a sample. 0 until this is called.
 */
void measure_cold(Measure *m, int64_t bytes);

/*
 * Inputs (random from seed) and reference values of a Task: the naive set compiled with f64 accumulation, run in a
 * child. Waits for it; ERR_INTERRUPTED: o.stop was set, and pending candidates are cancelled. Owned by m.
 */
MeasureRef *measure_reference(Measure *m, const Task *task, uint64_t seed, Err *err);

/* Hands in a candidate; returns at once. */
bool measure_submit(Measure *m, const MeasureJob *job, Err *err);
/* Waits until a candidate is done or `ms` have passed; false: none is done. */
bool measure_wait(Measure *m, int ms, MeasureResult *out);
int measure_pending(const Measure *m);
/* The number of pending candidates that keeps all children busy. */
int measure_flight(const Measure *m);
/*
 * Lets pending work go on: for callers that compute for long, every few milliseconds. Such a caller needs a core.
 * During a sample it takes the core of a builder; where there is no spare core, this call waits for the sample's end.
 */
void measure_turn(Measure *m);
/* Forgets pending candidates and ends their children. User pointers are not given back. */
void measure_cancel(Measure *m);

/*
 * A race: the last few candidates of one Task are built and checked, then timed in turn in one child (A B C A B C
 * ...), so that other work of the machine disturbs all of them alike, on the first device that is not lost. 1 <= n
 * <= MEASURE_RACERS; out[i] is job[i]'s result; slow_ns and good_ns do not count. Waits for it; other candidates
 * may be pending, and stay so. False: nothing could be measured; ERR_INTERRUPTED as for a reference.
 */
bool measure_race(Measure *m, const MeasureJob *job, int n, MeasureResult *out, Err *err);

/* All current rates of the first device that is not lost. Waits for them; nothing else may be pending. */
bool measure_probe(Measure *m, DeviceProbe *out, Err *err);

/*
 * Times whole networks in turn, each for `turn_ms` at most back to back, as it is deployed; one call is one turn of
 * each. 1 <= n <= MEASURE_NETWORKS; nothing else may be pending. Bundles are compared by address, and stay loaded
 * between calls. ERR_DEVICE: no device is left.
 */
bool measure_networks(Measure *m, MeasureNetwork *net, int n, int turn_ms, Err *err);

#endif
