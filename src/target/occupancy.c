/* See occupancy.h. The pieces in which a device hands out what it has are those of CUDA's occupancy calculator. */
#include "target/occupancy.h"

#include "target/capability.h"

#include <string.h>

enum { REGS_OF_WARP = 256, /* a warp gets registers in pieces of so many, since Kepler */
	WARPS_PIECE = 4,       /* a unit's schedulers: ptxas counts the warps of a block in pieces of so many */
	SHARED_PIECE = 128,    /* bytes */
	KERNEL_REGS = 28,      /* indices, counters and conditions of a thread, by ptxas's counts */
	TENSOR_REGS = 4,       /* two addresses of 64 bits: of a round's first element and of a result */
	SUMS_EACH = 4,         /* sums for one more register: the addresses of results, by ptxas's counts */
	MOST_REGS = 1000000,   /* larger numbers count as this */
	ANY_BLOCKS = 16        /* resident where the target does not say: all GPUs since 2012 have so many */ };

int64_t target_block_shared(const Target *t)
{
	for (int k = 0; k < t->nscope; k++)
		if (strcmp(t->scope[k].name, "shared") == 0)
			return t->scope[k].bytes;
	return 0;
}

static int64_t warps_of(const Target *t, int threads)
{
	return (threads + (int64_t)t->blocks.warp - 1) / t->blocks.warp;
}

static int64_t round_up(int64_t n, int64_t piece)
{
	return (n + piece - 1) / piece * piece;
}

int target_thread_regs(const Target *t, int threads)
{
	const Blocks *b = &t->blocks;
	if (b->warp <= 0 || threads < 1 || b->unit_regs <= 0)
		return b->thread_regs;
	int64_t warps = b->warp > 1 ? round_up(warps_of(t, threads), WARPS_PIECE) : threads;
	int64_t of_warp = b->unit_regs / warps / REGS_OF_WARP * REGS_OF_WARP, own = of_warp / b->warp;
	return (int)(b->thread_regs > 0 && own > b->thread_regs ? b->thread_regs : own);
}

int target_kernel_regs(double sums, double operands, int tensors)
{
	double regs = KERNEL_REGS + TENSOR_REGS * (double)tensors + sums + sums / SUMS_EACH + operands;
	return regs < MOST_REGS ? (int)regs : MOST_REGS;
}

/* `all` is shared out in parts of `part`; an unknown all, or a part of nothing, bounds nothing. */
static int64_t at_most(int64_t most, int64_t all, int64_t part)
{
	return all > 0 && part > 0 && all / part < most ? all / part : most;
}

int target_resident_blocks(const Target *t, int threads, int64_t shared_bytes, int regs)
{
	const Blocks *b = &t->blocks;
	int64_t limit = target_block_shared(t);
	if (b->warp <= 0 || threads < 1 || (b->block_threads > 0 && threads > b->block_threads) ||
		(limit > 0 && shared_bytes > limit))
		return 0;
	if (b->warp == 1)
		return 1; /* a core runs the threads of a block one after the other */
	int64_t most = b->unit_blocks > 0 ? b->unit_blocks : ANY_BLOCKS, warps = warps_of(t, threads);
	int64_t drivers = target_capability(t)->kept;
	int own = target_thread_regs(t, threads);
	regs = own > 0 && regs > own ? own : regs;
	most = at_most(most, b->unit_threads, warps * b->warp);
	most = at_most(most, b->unit_shared, shared_bytes > 0 ? round_up(shared_bytes, SHARED_PIECE) + drivers : 0);
	most = at_most(most, b->unit_regs, warps * round_up((int64_t)regs * b->warp, REGS_OF_WARP));
	return (int)most;
}
