/*
 * Prepare Fns run in a child process: the trace that made them may be a stranger's. Inside the room.
 */
#ifndef COMPILE_PREPARE_H
#define COMPILE_PREPARE_H

#include "codegen/codegen.h"
#include "compile/net_plan.h"

#include <signal.h>

/* How long to wait for the child. */
typedef struct PrepareWait {
	int64_t deadline_ms;               /* of the whole call; 0: a minute, and more where there is much to make */
	const volatile sig_atomic_t *stop; /* ends the wait where it is not 0; NULL: nothing does */
} PrepareWait;

/*
 * Calls the entries of m, the compiled prepare Fns of ks, with given[] and out[] by parameter name, and fills
 * the out[]. ERR_INPUT is the fault of the Fns: a crash, a call that does not end, a want of much more memory
 * than given[] and out[] have; nothing else of this process can come to harm. ERR_DEVICE and ERR_MEMORY: this
 * machine lacks a process or memory. ERR_INTERRUPTED: by `stop`, or by a signal to the child that asks for its
 * end. Costs a fork and a copy of out[]. The process has one thread.
 */
bool prepare_run(const KernelSet *ks, const Module *m, const Prepared *given, int n, const Prepared *out, int nout,
	PrepareWait wait, Err *err);

#endif
