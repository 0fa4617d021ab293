/* Inside of the library: LLVM IR for NVPTX as a module for this machine. */
#ifndef TESTS_CODEGEN_FIBERS_HOST_H
#define TESTS_CODEGEN_FIBERS_HOST_H

#include "fibers.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef VEC(const char *) HostNames;

typedef struct HostCode {
	Arena *arena;
	LLVMContextRef cx;
	LLVMModuleRef mod;
	LLVMTargetMachineRef tm;
	HostNames kernel;
} HostCode;

/* host_free in any case. */
bool host_code(HostCode *h, LLVMContextRef cx, const char *ir, Err *err);
void host_free(HostCode *h);

#endif
