/* Inside of the library: what the code of kernels calls. Rows of intrinsics.def are functions of block.c and warp.c. */
#ifndef TESTS_CODEGEN_FIBERS_BLOCK_H
#define TESTS_CODEGEN_FIBERS_BLOCK_H

#include <stddef.h>
#include <stdint.h>

enum { FIBER_WARP = 32, FIBER_SHARED = 228 << 10 };

/* kernel(args) in each thread. `shared` has `own` bytes that the kernel declares, or room for those of the launch. */
const char *fiber_launch(void (*kernel)(void **args), void **args, const uint32_t grid[3], const uint32_t block[3],
	void *shared, uint64_t own, uint32_t dynamic);
void fiber_seed(uint64_t seed);

/* The thread at work. */
typedef struct FiberThread {
	uint32_t id[3], block[3], size[3], blocks[3], lane;
} FiberThread;
const FiberThread *fiber_thread(void);

/*
 * Waits at an instruction until the lanes of `mask` are there too, then `op` runs once: lane[k] is what lane k brought,
 * NULL of a lane that is not in it. mma and shuffles are such operations.
 */
typedef void FiberWarpOp(void *const lane[FIBER_WARP]);
void fiber_meet(uint32_t mask, FiberWarpOp *op, void *mine, const void *where);

/*
 * mma.sync of m16n8kK, which the lanes of a warp call together, each with the words of its elements of a, b and c. The
 * function that the code calls is made with the module (host.c), since it returns a struct of registers.
 */
typedef enum { FIBER_TF32, FIBER_F16, FIBER_BF16 } FiberFactor;
void fiber_mma(uint32_t factor, uint32_t depth, const uint32_t *words, float *sums);
/* ldmatrix of n matrices: each lane's row, and the words that it gets. */
void fiber_ldmatrix(uint32_t n, uint32_t transposed, const void *row, uint32_t *words);

#endif
