/*
 * What blocks of threads have on a device; all 0 on a CPU.  Rows of blocks.def.  A unit is a multiprocessor of CUDA, a
 * compute unit of OpenCL: it runs several blocks at once, each of them to its end.
 */
#ifndef TARGET_BLOCKS_H
#define TARGET_BLOCKS_H

#include <stdint.h>

typedef struct Blocks {
	int warp;                      /* threads that run each instruction together; 1: none do (a CPU through OpenCL) */
	int block_threads;             /* threads of a block, at most */
	int unit_threads, unit_blocks; /* resident in one unit, at most */
	int64_t unit_shared;           /* bytes of shared memory of one unit */
	int unit_regs, thread_regs;    /* 32-bit registers: of a unit, of one thread at most */
	double launch_ns;              /* what a kernel without work costs in a sequence of kernels */
} Blocks;

/* A limit of blocks.def; NULL past the last: its key in target files, its meaning, its value in b. */
const char *blocks_key(int limit);
const char *blocks_meaning(int limit);
double blocks_get(const Blocks *b, int limit);

#endif
