/*
 * Inside of the room: LLVM set up for the process, and its target machines. Making one with its first subtarget
 * costs 0.3 ms, so idle ones are kept for the next call.
 */
#ifndef CODEGEN_LLVM_MACHINE_H
#define CODEGEN_LLVM_MACHINE_H

#include "base/err.h"
#include "target/target.h"

#include <llvm-c/TargetMachine.h>

typedef struct Machine Machine;

/* The caller's alone until machine_give; any thread. NULL with ERR_BUG where LLVM knows no such target. */
Machine *machine_take(const Target *t, Err *err);
LLVMTargetMachineRef machine_of(Machine *m);
void machine_give(Machine *m); /* NULL is allowed */

#endif
