/*
 * What a tuner and the runner (dlc-worker) say to each other: load machine code, fill buffers, run and compare.
 * worker/timing_message.h has the samples.
 *
 * The parent chooses the numbers of modules, buffers and programs, below MSG_TABLE. A number that is sent again
 * replaces what it named. Buffers are 64-byte aligned.
 */
#ifndef WORKER_RUNNER_MESSAGE_H
#define WORKER_RUNNER_MESSAGE_H

#include "worker/message.h"

enum { MSG_TABLE = 65536 };

typedef struct MsgImage { /* then: DlcEntry[nentry], image bytes */
	uint32_t module, device; /* device: whose code it is, DlcImage.device: the host's or the worker's own */
	uint64_t nentry, nimage;
} MsgImage;

/*
 * Then: the file's bytes, path. With a path the bytes end before the constants, and these are the first `nconstant`
 * bytes of the file of that name on the worker's machine. Inputs are filled at random from seed.
 */
typedef struct MsgBundle {
	uint32_t program, threads;
	uint64_t seed, nfile, npath, nconstant;
} MsgBundle;

/* NONE: the buffer holds zeros or older data; this costs nothing. */
typedef enum { MSG_FILL_ZERO, MSG_FILL_POISON, MSG_FILL_RANDOM, MSG_FILL_DATA, MSG_FILL_NONE } MsgFill;
typedef struct MsgBuffer { /* then: data, ndata == bytes where fill is DATA, else 0 */
	uint32_t buffer, fill;
	uint8_t code, bits; /* RANDOM: element type (DLPack) of values in [lo, hi] */
	uint8_t constant; /* 1: it lies in small pages, as a bundle's constants do */
	uint8_t device;   /* 1: it lies on the worker's own device, 0: on the host; in dlc-worker these are one */
	uint32_t holes; /* RANDOM: a buffer of uint64_t that lists the elements to set to 0, the padding; MSG_TABLE: none */
	uint64_t bytes, seed;
	double lo, hi;
	uint64_t ndata;
} MsgBuffer;

typedef struct MsgCopy { /* of buffers of one size, each on the host or on the device */
	uint32_t to, from;
} MsgCopy;

typedef struct MsgCall { /* rows of the program's arg and sym arrays */
	uint32_t module, entry, arg, narg, sym, nsym;
} MsgCall;

/*
 * The role of an argument in the network, from offset on. RUN poisons outputs. Before a sample, constants are made as
 * cold as TIME says, and inputs warm, as the layer before leaves them.
 */
typedef enum { MSG_USE_NONE, MSG_USE_OUTPUT, MSG_USE_CONST, MSG_USE_INPUT, MSG_USES } MsgUse;
typedef struct MsgArg {
	uint32_t buffer, use;
	uint64_t offset, bytes; /* bytes: so many the kernel may touch; checked against the buffer */
} MsgArg;

typedef struct MsgProgram { /* then: MsgCall[ncall], MsgArg[narg], int64_t[nsym] */
	uint32_t program, threads;
	uint64_t ncall, narg, nsym;
} MsgProgram;

typedef struct MsgRun {
	uint64_t program;
} MsgRun;

/*
 * Compares element i of `want` with element i of `got`; with element at[i] of `got` where `at` is the number of a
 * buffer of uint64_t and not MSG_TABLE.
 */
typedef struct MsgCompare {
	uint32_t got, want, at;
	uint8_t code, bits, zero[2];
	uint64_t count; /* elements */
} MsgCompare;

typedef struct MsgRead {
	uint64_t buffer, offset, bytes;
} MsgRead;

typedef struct MsgReset {
	uint64_t zero;
} MsgReset;

typedef struct MsgDone {
	uint64_t ns; /* how long the request took */
	uint32_t run, lost; /* run: 1, the request was RUN; lost: 1, a thread lost its CPU in it */
	uint64_t run_ns; /* of the kernels alone; where they lost the CPU: CPU time, 0 of several threads */
} MsgDone;

typedef struct MsgCompared {
	double max_error, max_want; /* over finite elements; their ratio is a candidate's error */
	uint64_t worst; /* number (i) of the first bad element, else of max_error */
	uint64_t nbad; /* not finite where wanted finite, or the reverse */
	uint64_t nleft; /* elements of `got` that still are poison */
} MsgCompared;

typedef struct MsgData { /* then: data */
	uint64_t ndata;
} MsgData;

#endif
