/*
 * Runs a module on tensors: in this process if its target is this machine's architecture, else by
 * the harness under qemu-user.
 */
#ifndef TESTS_CODEGEN_RUNNER_H
#define TESTS_CODEGEN_RUNNER_H

#include "codegen/backend.h"
#include "tensors.h"

/*
 * The targets tests compile for: a level of this machine or another architecture; NULL at the end.
 */
extern const char *const runner_levels[];
/* False, and says why, if modules of this level cannot be run here. */
bool runner_target(Target *t, const char *level);
/* Fails the test if it cannot. Buffers of the set that `t` lacks are not allowed. */
void runner_run(Arena *a, const Target *target, const KernelSet *ks, const Module *m, Tensors *t);
/* A text of LLVM's back end: the bit that asks for it, and what came. */
unsigned runner_text_bit(const char *name);
const char *runner_text(const Module *m, const char *name);
int runner_count(const char *text, const char *what); /* how often `what` stands in it */

#endif
