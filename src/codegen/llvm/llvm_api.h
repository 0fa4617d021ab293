/*
 * Inside of the room: LLVM's C API. libLLVM has 350 000 relocations, which cost 15 ms of each start of a program that
 * is linked with it, and most programs never compile. So it is opened when the first code is made.
 *
 * Include this in place of LLVM's own headers. The code calls each function by LLVM's name: the build makes a
 * header of llvm_api.def, with a line "#define LLVMAddFunction llvm.LLVMAddFunction" for each row. A function
 * without a row does not link.
 */
#ifndef CODEGEN_LLVM_LLVM_API_H
#define CODEGEN_LLVM_LLVM_API_H

#include "base/err.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

typedef struct LlvmApi {
#define LLVM(name) __typeof__(name) *name;
#include "codegen/llvm/llvm_api.def"
#undef LLVM
} LlvmApi;

extern LlvmApi llvm; /* filled in by llvm_open */

/*
 * Any thread; after the first success it costs a lock. ERR_MISSING: the library is not installed or has another version
 * than the headers; ERR_MEMORY: it needs more address space than is left. A later call tries again.
 */
bool llvm_open(Err *err);

#ifndef LLVM_LINKED /* llvm_linked.c takes the functions themselves */
#include "codegen/llvm/llvm_names.h"
#endif

#endif
