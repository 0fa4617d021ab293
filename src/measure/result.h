/*
 * What a Measure answers: the result of a candidate, and the times of a network.
 */
#ifndef MEASURE_RESULT_H
#define MEASURE_RESULT_H

#include "measure/device_probe.h"
#include "record/run_record.h"

/*
 * Times are in nanoseconds, by the wall clock of the slowest thread, of the samples during which all threads kept their
 * CPUs. Where too few did (METHOD_KEPT_PART), a single thread's times are the CPU times of all samples (clock "cpu"),
 * and several threads' are those of the fastest samples. `lost` counts the samples that lost a CPU in any case.
 *
 * refuted: the first candidate of a Task that passes gives the outputs that later ones are compared with. This
 * candidate has shown that these were wrong in an element without a reference value. `refuted` is the trace of that
 * first one, whose result was RUN_OK. unproven[0 .. nunproven) are the traces of all others that were RUN_OK since then
 * by comparison with it, each once. The texts belong to the Measure until it is closed; a candidate without a trace is
 * named "". Each refutation is said once, whatever the status of this candidate.
 *
 * pruned: codegen's report says that the candidate cannot be good (its accumulators spill). It was never run, so it is
 * no trial and no record; `status` is RUN_CONSTRAINT and `detail` says why.
 */
typedef struct MeasureResult {
	RunStatus status;
	bool pruned;
	int64_t median_ns, min_ns, mad_ns, compile_ns, samples, max_err_e9;
	int64_t probe_mflops; /* of the last FMA probe; 0: there was none */
	DeviceProbe device;   /* the last probe of a device with processors of its own, else zeros */
	int64_t lost;         /* samples in which a thread lost its CPU */
	const char *clock;    /* RUN_OK: "wall" or "cpu", else ""; as in RunRecord */
	const char *stage;    /* RUN_OK: "look", "full" or "race", else ""; as in RunRecord */
	int64_t screen_ns;    /* how long it had the runner: loaded, checked and timed */
	int64_t waited_ms;    /* for samples of others on this device; of a race, all of it is in its first result */
	const char *refuted;  /* NULL: none */
	const char *const *unproven;
	int nunproven;
	char detail[160];
	void *user;
} MeasureResult;

/* A network, and how long it takes: medians in nanoseconds, of `samples` runs; `lost` more lost a CPU. */
typedef struct MeasureNetwork {
	const void *bundle; /* its file; ends before its constants if these have a path */
	size_t bytes;
	const char *constants_path; /* a file of this machine, there as long as the Measure is; NULL: the bundle is whole */
	uint64_t constants_bytes;   /* the first so many bytes of that file are its constants */
	int nstep; /* of its plan */
	int64_t median_ns, samples, lost;
	int64_t *step_ns; /* nstep of them, the caller's */
} MeasureNetwork;

#endif
