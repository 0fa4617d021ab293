/*
 * A back end for tests: it prints lowered sets as C, which the system's compiler builds. Its image is the source
 * text of one module, without the dialect's prelude. Kernels have the ABI of runtime/kernel.h and are called
 * C_KERNEL(name): a macro, so that one file may hold several modules.
 */
#ifndef TESTS_CODEGEN_C_BACKEND_H
#define TESTS_CODEGEN_C_BACKEND_H

#include "codegen/c/c.h"

extern const Backend backend_c;

#endif
