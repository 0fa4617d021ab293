/*
 * Occupancy: how many blocks of threads one unit of a device runs at once. Their threads, registers and shared memory
 * share what the unit has. What hides the latency of memory are the warps of all of them together.
 */
#ifndef TARGET_OCCUPANCY_H
#define TARGET_OCCUPANCY_H

#include "target/target.h"

/*
 * Blocks of so many threads, each thread with `regs` 32-bit registers (0: not known), that are resident in one unit.
 * Registers that a thread cannot have are spilled and do not count. 0: the target has no blocks, or no launch has such
 * a block. What the target does not know bounds nothing.
 */
int target_resident_blocks(const Target *t, int threads, int64_t shared_bytes, int regs);
/* Registers of a thread in a block of so many threads, at most; 0: not known. More are spilled. */
int target_thread_regs(const Target *t, int threads);
/*
 * About how many registers a thread needs without spills: for `sums` 32-bit values that stay live, `operands` loaded at
 * once, and the addresses of `tensors` tensors. tests/codegen/fibers/test_templates.c compares the estimate with the
 * counts of CUDA's assembler for tiles of templates.
 */
int target_kernel_regs(double sums, double operands, int tensors);
/* Bytes of shared memory of one block, at most; 0: not known. */
int64_t target_block_shared(const Target *t);

#endif
