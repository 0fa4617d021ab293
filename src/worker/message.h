/*
 * What a tuner and dlc-worker say to each other, over a pipe, ssh or a socket.  The worker sends
 * HELLO; from then on every request has exactly one answer, in order, which carries its serial.
 * The worker does not watch the clock: a parent that waits too long kills it and starts another.
 *
 * A message is the struct of its kind and then the arrays that its comment names, in that order,
 * each padded with zeros to a multiple of 8.  Little-endian, 8-byte aligned in memory, so that both
 * sides read it in place; frame.h writes and checks them.
 *
 * Numbers of modules, buffers and programs are the parent's choice, below MSG_TABLE; sending one
 * again replaces it.  Buffers are 64-byte aligned.  A worker that gets nonsense says so and exits.
 */
#ifndef WORKER_MESSAGE_H
#define WORKER_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/kernel.h"

enum { MSG_VERSION = 4, MSG_TABLE = 65536, MSG_PROGRAMS = 64 /* in one TIME */ };
#define MSG_MAX ((uint64_t)1 << 32) /* bytes of a frame */

typedef enum {
	MSG_NONE,
#define MSG(name, sender, type, meaning) MSG_##name,
#include "worker/message.def"
#undef MSG
	MSG_KINDS
} MsgKind;

typedef struct MsgHello { /* then: features text, program version text */
	uint32_t version, cores;
	uint64_t memory_bytes, page_bytes, cache_bytes[3]; /* 0: not known */
	uint64_t nfeatures, nprogram;
} MsgHello;

typedef struct MsgImage { /* then: DlcEntry[nentry], image bytes */
	uint32_t module, zero;
	uint64_t nentry, nimage;
} MsgImage;

typedef struct MsgBundle { /* then: the file's bytes; inputs are filled at random from seed */
	uint32_t program, threads;
	uint64_t seed, nfile;
} MsgBundle;

/* NONE: as it comes, zeros or what lay there; costs nothing. */
typedef enum { MSG_FILL_ZERO, MSG_FILL_POISON, MSG_FILL_RANDOM, MSG_FILL_DATA, MSG_FILL_NONE } MsgFill;
typedef struct MsgBuffer { /* then: data, ndata == bytes where fill is DATA, else 0 */
	uint32_t buffer, fill;
	uint8_t code, bits; /* RANDOM: element type (DLPack) of values in [lo, hi] */
	uint8_t constant, zero; /* constant: it lies where a bundle's constants do, in small pages */
	uint32_t holes; /* RANDOM: a buffer of uint64_t, the elements that are 0: padding; MSG_TABLE: none */
	uint64_t bytes, seed;
	double lo, hi;
	uint64_t ndata;
} MsgBuffer;

typedef struct MsgCall { /* rows of the program's arg and sym arrays */
	uint32_t module, entry, arg, narg, sym, nsym;
} MsgCall;

/*
 * What an argument is to a network, from offset on: RUN poisons outputs; before a sample constants
 * are made as cold as TIME says, and inputs warm, as whoever wrote them last has left them.
 */
typedef enum { MSG_USE_NONE, MSG_USE_OUTPUT, MSG_USE_CONST, MSG_USE_INPUT, MSG_USES } MsgUse;
typedef struct MsgArg {
	uint32_t buffer, use;
	uint64_t offset, bytes; /* bytes: what the kernel may touch; checked against the buffer */
} MsgArg;

typedef struct MsgProgram { /* then: MsgCall[ncall], MsgArg[narg], int64_t[nsym] */
	uint32_t program, threads;
	uint64_t ncall, narg, nsym;
} MsgProgram;

typedef struct MsgRun {
	uint64_t program;
} MsgRun;

/*
 * Element i of `want` against element i of `got`, or element at[i] where `at` is the number of a
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

/*
 * Samples of a list of programs, round robin.  Each gets `samples` at most.  Once its samples fill
 * look_ns, a program is set aside if it is slower than slow_ns, and, after `few` samples, if it is
 * slower than good_ns.  Slower means: its best sample is, even if a later one were as much better
 * than this as this is than their mean.  No new round begins after budget_ns.  Samples that lost the
 * CPU are taken anew, up to twice as many in all; to set a program aside they count with their CPU
 * time or, where there are several threads, not at all.  A limit of 0 is none.
 */
typedef struct MsgTime { /* then: uint32_t programs[nprogram] */
	uint64_t nprogram;
	uint32_t samples, warmup; /* warmup: runs of each before the samples */
	uint32_t repeat, few; /* repeat: runs inside one sample */
	uint64_t cold_bytes; /* constants and workspace of the network that they are parts of: see cold.c;
	                        0: back to back */
	uint64_t budget_ns, look_ns, slow_ns, good_ns;
} MsgTime;

typedef struct MsgProbe {
	uint64_t threads;
} MsgProbe;

typedef struct MsgReset {
	uint64_t zero;
} MsgReset;

typedef struct MsgDone {
	uint64_t ns; /* what the request took */
	uint32_t run, lost; /* 1 where the request was RUN, and where a thread lost its CPU in it */
	uint64_t run_ns; /* of the kernels alone; where they lost the CPU: CPU time, 0 of several threads */
} MsgDone;

typedef struct MsgRefused { /* then: text */
	uint32_t status, zero; /* DlcStatus */
	uint64_t ntext;
} MsgRefused;

typedef struct MsgCompared {
	double max_error, max_want; /* over finite elements; their ratio is a candidate's error */
	uint64_t worst; /* number (i) of the first bad element, else of max_error */
	uint64_t nbad; /* not finite where wanted finite, or the reverse */
	uint64_t nleft; /* elements of `got` that are poison still */
} MsgCompared;

typedef struct MsgData { /* then: data */
	uint64_t ndata;
} MsgData;

typedef struct MsgSample {
	uint32_t program;
	uint8_t lost;  /* 1: a thread lost its CPU (lost.c) */
	uint8_t aside; /* 1: after this sample the program was set aside */
	uint8_t zero[2];
	uint64_t ns; /* wall clock of one run, of the slowest thread: the sample's over repeat */
	uint64_t cpu_ns; /* the same in CPU time where there is one thread; 0: there are several */
} MsgSample;

typedef struct MsgTimes { /* then: MsgSample[nsample], in the order taken */
	uint64_t nsample, waited_ns; /* waited_ns: for others' samples on this device */
} MsgTimes;

typedef struct MsgProbed {
	double gflops;
} MsgProbed;

typedef struct MsgBuild { /* then: text of a kernel set */
	uint64_t ntext;
	uint64_t prune; /* 1: answer PRUNED where codegen's report says that it cannot be good */
} MsgBuild;

typedef struct MsgBuilt { /* then: DlcEntry[nentry], image bytes */
	uint64_t ns, nentry, nimage;
} MsgBuilt;

/* At most so many runs behind so many that are not timed; no new one begins after budget_ns; 0: no limit. */
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
