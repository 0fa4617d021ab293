/*
 * Prepare Fns run in a child process: the trace that made them may be a stranger's. Inside the room.
 */
#ifndef COMPILE_PREPARE_H
#define COMPILE_PREPARE_H

#include "codegen/codegen.h"
#include "compile/plan.h"

/*
 * Calls the entries of m, the compiled prepare Fns of ks, with given[] and out[] by parameter name, and fills
 * the out[]. deadline_ms: of the whole call; 0: a minute, and more where there is much to make. A crash, a
 * call that does not end, and a want of much more memory than given[] and out[] have are failures; nothing
 * else of this process can come to harm. Costs a fork and a copy of out[]. The process has one thread.
 */
bool prepare_run(const KernelSet *ks, const Module *m, const Prepared *given, int n, const Prepared *out, int nout,
	int64_t deadline_ms, Err *err);

#endif
