/*
 * Inside the room: runs prepare Fns in a child process, since the trace that made them may come from a
 * stranger.
 */
#ifndef COMPILE_PREPARE_H
#define COMPILE_PREPARE_H

#include "codegen/codegen.h"
#include "compile/constants.h"
#include "compile/net_plan.h"

#include <stdatomic.h>

/* How long to wait for the child. */
typedef struct PrepareWait {
	int64_t deadline_ms;    /* of each call; 0: a minute, and more for large results */
	const atomic_int *stop; /* ends the wait when it is not 0; NULL: nothing ends it */
} PrepareWait;

/* The compiled prepare Fns of ks, with given[] and out[] by parameter name. */
typedef struct PrepareCall {
	const KernelSet *ks;
	const Module *m;
	const Prepared *given;
	int n;
	Prepared *out;
	int nout;
} PrepareCall;

/*
 * Does the calls one after the other, and points the data of each out[] to room in `to`. *failed: the number of the
 * call that failed; then the room is given back. ERR_INPUT: its Fns failed; they crashed, did not end, or need much
 * more memory than given[] and out[] have. Neither this process nor another room is affected. ERR_DEVICE, ERR_MEMORY:
 * this machine has no process or memory for them. ERR_INTERRUPTED: `stop` was set, or a signal ended the child.
 * The cost is one fork. The process must have one thread.
 */
bool prepare_run(const PrepareCall *call, int ncall, PrepareWait wait, Constants *to, int *failed, Err *err);

#endif
