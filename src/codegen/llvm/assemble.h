/*
 * Inside of the room: PTX to machine code of an NVIDIA GPU (a cubin) by CUDA's nvJitLink, where it is installed. It
 * takes 20 to 150 ms, and says what each kernel takes of a GPU. Without it the driver does the same at load.
 */
#ifndef CODEGEN_LLVM_ASSEMBLE_H
#define CODEGEN_LLVM_ASSEMBLE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/* NULL, or why there is no assembler. */
const char *assemble_lacks(void);
/* "nvJitLink 13.0". */
const char *assemble_tool(Arena *a);
/* The architecture that the assembler takes in place of sm_NN: the same, or the first newer one it knows; 0: none. */
int assemble_nearest(int sm);

typedef struct Assembled {
	unsigned char *cubin; /* one 0 follows the machine code, as images of devices end */
	size_t size;
	const char *log; /* of ptxas -v: assemble_kernel reads it */
} Assembled;
/* text: PTX that ends with a 0; sm: of assemble_nearest. ERR_BUG has what the assembler says of the text. */
bool assemble_ptx(Arena *a, const char *text, int sm, Assembled *out, Err *err);

/* What a kernel takes: of each thread registers and bytes of the stack; spilled bytes, as instructions have them. */
typedef struct AssembledKernel {
	int registers;
	int64_t stack_bytes, spill_bytes, shared_bytes;
} AssembledKernel;
/* False: the log has no such kernel. */
bool assemble_kernel(const Assembled *x, const char *symbol, AssembledKernel *out);

#endif
