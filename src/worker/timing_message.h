/*
 * What a tuner and the runner (dlc-worker) say to each other about time: samples of programs, runs of whole networks,
 * the machine's peak rate.
 */
#ifndef WORKER_TIMING_MESSAGE_H
#define WORKER_TIMING_MESSAGE_H

#include "worker/message.h"

enum { MSG_PROGRAMS = 64 /* in one TIME */ };

/*
 * Takes samples of a list of programs, round robin, at most `samples` of each. No new round begins after budget_ns.
 * A limit of 0 is none.
 *
 * A program is set aside, so that it gets no more samples, if it is slower than slow_ns. It is also set aside if, after
 * `few` samples, it is slower than good_ns. Both are asked only once its samples together last look_ns. "Slower" allows
 * for noise: the best sample is slower even after it is lowered by its distance from the mean.
 *
 * A sample that lost the CPU is taken again, up to twice as many in all. To set a program aside such a sample counts
 * with its CPU time; where there are several threads, it does not count.
 */
typedef struct MsgTime { /* then: uint32_t programs[nprogram] */
	uint64_t nprogram;
	uint32_t samples, warmup; /* warmup: runs of each before the samples */
	uint32_t repeat, few; /* repeat: runs inside one sample */
	uint64_t cold_bytes; /* constants and workspace of the network that they are parts of (cold.c); 0: back to back */
	uint64_t budget_ns, look_ns, slow_ns, good_ns;
} MsgTime;

/*
 * Of the CPU, by `threads` threads. Or of the device: `program`, whose calls have one symbol, a number of blocks, does
 * `flops` for each block, floating operations or bytes. The worker takes more blocks, up to `most`, until they last
 * long enough.
 */
typedef struct MsgProbe {
	uint64_t threads, program; /* program: MSG_TABLE, the CPU */
	int64_t most;
	double flops;
} MsgProbe;

typedef struct MsgSample {
	uint32_t program;
	uint8_t lost;  /* 1: a thread lost its CPU (lost.c) */
	uint8_t aside; /* 1: after this sample the program was set aside */
	uint8_t zero[2];
	uint64_t ns; /* wall clock of one run, of the slowest thread: the sample's over repeat */
	uint64_t cpu_ns; /* the same in CPU time where there is one thread; 0: there are several */
} MsgSample;

typedef struct MsgTimes { /* then: MsgSample[nsample], in the order taken */
	uint64_t nsample, waited_ns; /* waited_ns: while other processes took samples on this device */
} MsgTimes;

typedef struct MsgProbed {
	double gflops;
	uint32_t mhz; /* and the next: a device's state just after, as in runtime/device_state.h */
	int32_t celsius;
	uint64_t slowed;
} MsgProbed;

/* `warmup` runs that are not timed, then at most `runs`. No new one begins after budget_ns; 0: no limit. */
typedef struct MsgProfile {
	uint64_t program, budget_ns;
	uint32_t runs, warmup;
} MsgProfile;

/* Of a row: wall clock of the run; 1 where a thread lost its CPU; nanoseconds of each step. */
enum { PROFILE_NS, PROFILE_LOST, PROFILE_STEPS };
typedef struct MsgProfiled { /* then: uint64_t value[nvalue], rows of a run each */
	uint64_t nvalue, row, waited_ns; /* row: values of one */
} MsgProfiled;

#endif
