/*
 * Inside the room: runs prepare Fns in a child process, since the trace that made them may come from a
 * stranger.
 */
#ifndef COMPILE_PREPARE_H
#define COMPILE_PREPARE_H

#include "codegen/codegen.h"
#include "compile/net_plan.h"

#include <stdatomic.h>

/* How long to wait for the child. */
typedef struct PrepareWait {
	int64_t deadline_ms;               /* of the whole call; 0: a minute, and more for large results */
	const atomic_int *stop; /* ends the wait when it is not 0; NULL: nothing ends it */
} PrepareWait;

/*
 * Calls the entries of m, the compiled prepare Fns of ks, with given[] and out[] by parameter name, and
 * fills the out[].
 * ERR_INPUT: the Fns failed; they crashed, did not end, or need much more memory than given[] and out[]
 * have. This process is not affected. ERR_DEVICE, ERR_MEMORY: this machine has no process or memory for
 * them. ERR_INTERRUPTED: `stop` was set, or a signal ended the child.
 * The cost is a fork and a copy of out[]. The process must have one thread.
 */
bool prepare_run(const KernelSet *ks, const Module *m, const Prepared *given, int n, const Prepared *out, int nout,
	PrepareWait wait, Err *err);

#endif
