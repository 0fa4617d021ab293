/* What a Measure is opened with: its children, their devices and deadlines, and its limits. */
#ifndef MEASURE_OPTIONS_H
#define MEASURE_OPTIONS_H

#include "measure/method.h"
#include "target/target.h"

#include <stdatomic.h>

/* A child that runs candidates: this machine's CPU, or one of several devices of one model. */
typedef struct MeasureRunner {
	char *const *argv; /* of a program that speaks the worker's messages: `dlc-worker --stdio` */
	const char *name;  /* in sentences: "cuda:1" */
	/*
	 * On the device of the runner before it, for a device whose driver builds code on the host's processors: one runner
	 * has its code built while the other takes samples. On a device with processors of its own it gets no work.
	 */
	bool second;
} MeasureRunner;

typedef struct MeasureOptions {
	char *const *builder; /* argv of a program that speaks BUILD: `dlc builder --target=...` */
	const MeasureRunner *runner; /* the first is no second one */
	int runners;          /* 1 .. MEASURE_RUNNERS */
	int builders;         /* children that compile; 1 .. MEASURE_BUILDERS */
	int threads;          /* of a kernel call; 1 on a device */
	bool device;          /* candidates run on the runner's own device, prepare Fns and oracles on its CPU */
	const Target *target; /* of a device: what its probe may use; NULL: it has no probe */
	int build_ms, run_ms; /* deadlines of one candidate's build, of its check and its timing */
	double tolerance;     /* of max |a-b| / max |ref|; outputs of 16 bits are allowed more (measure/method.def) */
	const atomic_int *stop; /* once set, references and networks end early; or NULL */
	void (*tick)(void *arg); /* called some times a second while a call waits for its answer; or NULL */
	void *tick_arg;
	void (*note)(const char *sentence, void *arg); /* gets notes for the user, such as a lost device; or NULL */
	void *note_arg;
} MeasureOptions;

enum {
	MEASURE_BUILDERS = METHOD_BUILDERS,
	MEASURE_RUNNERS = METHOD_RUNNERS,
	MEASURE_FLIGHT = METHOD_BUILDERS + 2 * METHOD_RUNNERS, /* measure_flight at most */
	MEASURE_RACERS = METHOD_RACERS,
	MEASURE_NETWORKS = METHOD_NETWORKS,
};

#endif
