/*
 * In place of llvm_open.c, for a program that LLVM is linked into: tools/gpu-bundle's, and all where LLVM is no single
 * shared library.
 */
#define LLVM_LINKED
#include "codegen/llvm/llvm_api.h"

LlvmApi llvm = {
#define LLVM(name) .name = name,
#include "codegen/llvm/llvm_api.def"
#undef LLVM
};

bool llvm_open(Err *err)
{
	(void)err;
	return true;
}
