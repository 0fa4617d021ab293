/*
 * CUDA code without a GPU. The LLVM IR that goes to NVPTX (text "llvm" of a Module) becomes code of this machine: one
 * address space, and each llvm.nvvm intrinsic a function of block.c. The blocks of a launch run one after the other in
 * random order. The threads of a block are fibers, its warps and their threads run in random order between barriers.
 *
 * Found are barriers that not all threads of a block reach, or that threads reach at different places; lanes of a warp
 * that wait for lanes that never come. Shared memory and the workspace hold NaN before a block writes to it. What
 * cp.async copies arrives when a wait demands it, and not before. Launches of a process run one after the other.
 */
#ifndef TESTS_CODEGEN_FIBERS_H
#define TESTS_CODEGEN_FIBERS_H

#include "codegen/codegen.h"

typedef struct Fibers Fibers;

/* A Module that was compiled with the text "llvm". Heap memory until fibers_free; ERR_BUG says what is wrong. */
Fibers *fibers_load(const Module *m, Err *err);
void fibers_free(Fibers *f);
/* All entries of the Module, of prepare and run Fns, as codegen_call: buffers that no argument gives are made. */
bool fibers_run(
	const Fibers *f, const KernelSet *ks, const Module *m, const IrArg *arg, int n, uint64_t seed, Err *err);
/* Compiles, loads, runs once, frees: ERR_UNSUPPORTED is the back end's refusal. */
bool fibers_call(const KernelSet *ks, const Target *t, const CodegenOptions *o, const IrArg *arg, int n, uint64_t seed,
	Err *err);

/*
 * A launch as cuLaunchKernel has it: args[k] is the address of argument k, an address or an int64_t. NULL, or what was
 * wrong, until the next launch of this thread.
 */
typedef const char *FibersKernel(void **args, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes);
FibersKernel *fibers_kernel(const Fibers *f, const char *symbol); /* of kernel_symbol(); NULL: there is none */
/*
 * Writes a shared library for this machine, in which each kernel of the texts (llvm IR, n of them) is a FibersKernel
 * of the name that it has in PTX. `cc`: the compiler that links it. For drivers that are put in place of libcuda.
 */
bool fibers_write_library(const char *const *llvm, int n, const char *cc, const char *path, Err *err);

#endif
