/*
 * Inside of the room: LLVM set up for the process, and its target machines. Making one with its first subtarget
 * costs 0.3 ms, so idle ones are kept for the next call.
 */
#ifndef CODEGEN_LLVM_MACHINE_H
#define CODEGEN_LLVM_MACHINE_H

#include "base/err.h"
#include "codegen/llvm/llvm_api.h"
#include "target/target.h"

enum { MACHINE_FEATURES = 512 };

/* What LLVM calls a target's CPU, and what the code depends on beside the width and number of its vectors. */
typedef struct MachineName {
	const char *triple, *cpu; /* static; NULL: this back end has no such architecture */
	char features[MACHINE_FEATURES];
} MachineName;
void machine_name(const Target *t, MachineName *out);

typedef struct Machine Machine;

/* The caller's alone until machine_give; any thread. NULL with an error where there is none for the target. */
Machine *machine_take(const Target *t, Err *err);
LLVMTargetMachineRef machine_of(const Machine *m);
const char *machine_triple(const Machine *m);
void machine_give(Machine *m); /* NULL is allowed */

#endif
