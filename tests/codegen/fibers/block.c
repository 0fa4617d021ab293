/*
 * The threads of a block as fibers (ucontext). A thread runs until it waits: at the block's barrier or for its warp.
 * What all wait for then happens, in an order that the seed decides. See fibers.h and block.h.
 */
#include "block.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { THREADS = 1024, STACK = 512 << 10, COPIES = 256, POISON = 0xff };

typedef enum { READY, AT_BARRIER, IN_WARP, DONE } State;

/* A cp.async under way: `have` bytes of the source, zeros behind them. */
typedef struct Copy {
	void *to;
	const void *from;
	uint32_t bytes, have, group;
} Copy;

typedef struct Fiber {
	FiberThread t;
	ucontext_t at;
	State state;
	const void *where; /* the instruction at which it waits */
	uint32_t mask;
	FiberWarpOp *op;
	void *mine;
	Copy copy[COPIES];
	int ncopy;
	uint32_t group; /* how many it has committed */
} Fiber;

static struct {
	ucontext_t home;
	Fiber *fiber, *now;
	char *stacks;
	int n;
	void (*kernel)(void **args);
	void **args;
	uint64_t random;
} all;
static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;
static char said[256]; /* empty: all is well */

void fiber_seed(uint64_t seed)
{
	all.random = seed * 0x9e3779b97f4a7c15 + 1;
}

static uint32_t below(uint32_t n)
{
	all.random ^= all.random << 13;
	all.random ^= all.random >> 7;
	all.random ^= all.random << 17;
	return (uint32_t)((all.random >> 32) * n >> 32);
}

static void shuffle(uint32_t *v, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		v[k] = k;
	for (uint32_t k = n; k > 1; k--) {
		uint32_t j = below(k), keep = v[j];
		v[j] = v[k - 1];
		v[k - 1] = keep;
	}
}

const FiberThread *fiber_thread(void)
{
	return &all.now->t;
}

static void wait_here(State state, const void *where)
{
	all.now->state = state;
	all.now->where = where;
	swapcontext(&all.now->at, &all.home);
}

static void enter(void)
{
	all.kernel(all.args);
	all.now->state = DONE;
	swapcontext(&all.now->at, &all.home);
}

static const char *name_of(const Fiber *f, char out[64])
{
	snprintf(out, 64, "thread %u,%u,%u of block %u,%u,%u", f->t.id[0], f->t.id[1], f->t.id[2], f->t.block[0],
		f->t.block[1], f->t.block[2]);
	return out;
}

static void wrong(const char *what, const Fiber *f)
{
	char name[64];
	if (said[0] == 0)
		snprintf(said, sizeof said, "%s %s", name_of(f, name), what);
}

/* ---- a warp ---- */

void fiber_meet(uint32_t mask, FiberWarpOp *op, void *mine, const void *where)
{
	all.now->mask = mask;
	all.now->op = op;
	all.now->mine = mine;
	wait_here(IN_WARP, where);
}

/* Whether lanes of the warp that wait for each other are all there; then their operation is done. */
static bool meet(int warp)
{
	int first = warp * FIBER_WARP, end = first + FIBER_WARP < all.n ? first + FIBER_WARP : all.n;
	bool did = false;
	for (int k = first; k < end; k++) {
		Fiber *f = &all.fiber[k];
		void *lane[FIBER_WARP] = { NULL };
		bool here = f->state == IN_WARP && f->mask >> (k - first) & 1;
		for (int j = first; j < end && here; j++) {
			const Fiber *g = &all.fiber[j];
			if (f->mask >> (j - first) & 1)
				here = g->state == IN_WARP && g->where == f->where && g->mask == f->mask;
		}
		for (int j = first; j < end && here; j++)
			if (f->mask >> (j - first) & 1) {
				lane[j - first] = all.fiber[j].mine;
				all.fiber[j].state = READY;
			}
		if (here && f->op != NULL)
			f->op(lane);
		did = did || here;
	}
	return did;
}

/* ---- a block ---- */

static void run_warp(int warp)
{
	uint32_t order[FIBER_WARP], first = (uint32_t)warp * FIBER_WARP;
	shuffle(order, FIBER_WARP);
	for (int k = 0; k < FIBER_WARP; k++) {
		uint32_t i = first + order[k];
		if (i >= (uint32_t)all.n || all.fiber[i].state != READY)
			continue;
		all.now = &all.fiber[i];
		swapcontext(&all.home, &all.now->at);
	}
}

static bool any_ready(int warp)
{
	for (int k = warp * FIBER_WARP; k < (warp + 1) * FIBER_WARP && k < all.n; k++)
		if (all.fiber[k].state == READY)
			return true;
	return false;
}

/* No thread is ready and no warp can meet: all are done, all stand at one barrier, or something is wrong. */
static bool pass_barrier(void)
{
	const Fiber *waits = NULL, *done = NULL;
	for (int k = 0; k < all.n; k++) {
		if (all.fiber[k].state == DONE)
			done = &all.fiber[k];
		else if (all.fiber[k].state == IN_WARP)
			wrong("waits for lanes of its warp that do not come", &all.fiber[k]);
		else
			waits = &all.fiber[k];
	}
	if (waits == NULL)
		return false;
	if (done != NULL)
		wrong("ends while others wait at a barrier", done);
	for (int k = 0; k < all.n && said[0] == 0; k++)
		if (all.fiber[k].where != waits->where)
			wrong("waits at another barrier than others", &all.fiber[k]);
	for (int k = 0; k < all.n; k++)
		all.fiber[k].state = READY;
	return said[0] == 0;
}

static void start_threads(const uint32_t at[3], const uint32_t grid[3], const uint32_t block[3])
{
	for (int k = 0; k < all.n; k++) {
		Fiber *f = &all.fiber[k];
		f->t = (FiberThread){ .lane = (uint32_t)k % FIBER_WARP };
		uint32_t rest = (uint32_t)k;
		for (int d = 0; d < 3; d++) {
			f->t.id[d] = rest % block[d];
			rest /= block[d];
			f->t.block[d] = at[d];
			f->t.size[d] = block[d];
			f->t.blocks[d] = grid[d];
		}
		f->state = READY;
		f->ncopy = 0;
		f->group = 0;
		getcontext(&f->at);
		f->at.uc_stack.ss_sp = all.stacks + (size_t)k * STACK;
		f->at.uc_stack.ss_size = STACK;
		f->at.uc_link = NULL;
		makecontext(&f->at, enter, 0);
	}
}

static void run_block(void)
{
	int warps = (all.n + FIBER_WARP - 1) / FIBER_WARP;
	uint32_t order[THREADS / FIBER_WARP];
	do {
		bool ran = true;
		while (ran) {
			ran = false;
			shuffle(order, (uint32_t)warps);
			for (int k = 0; k < warps; k++) {
				bool ready = any_ready((int)order[k]);
				if (ready)
					run_warp((int)order[k]);
				ran = meet((int)order[k]) || ready || ran;
			}
		}
	} while (pass_barrier());
}

static bool make_room(void)
{
	if (all.fiber != NULL)
		return true;
	/* Not of the heap: a library of kernels that is closed leaves them behind. */
	const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *stacks = mmap(NULL, (size_t)THREADS * STACK, PROT_READ | PROT_WRITE, how, -1, 0);
	void *fibers = mmap(NULL, THREADS * sizeof *all.fiber, PROT_READ | PROT_WRITE, how, -1, 0);
	if (stacks == MAP_FAILED || fibers == MAP_FAILED)
		return false;
	all.stacks = stacks;
	all.fiber = fibers;
	if (all.random == 0)
		fiber_seed(1);
	return true;
}

static const char *launch(const uint32_t grid[3], const uint32_t block[3], void *shared, uint64_t own, uint32_t dynamic)
{
	uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2], threads = (uint64_t)block[0] * block[1] * block[2];
	if (blocks == 0 || blocks > INT32_MAX || threads == 0 || threads > THREADS)
		return "a launch has 1 to 1024 threads in a block, and 1 to 2^31 - 1 blocks";
	if (dynamic > FIBER_SHARED || (own == 0 && shared != NULL && dynamic == 0))
		return "the launch gives the kernel no shared memory, or too much";
	if (!make_room())
		return "there is no memory for stacks";
	uint32_t *order = malloc(blocks * sizeof *order);
	if (order == NULL)
		return "there is no memory for the order of blocks";
	all.n = (int)threads;
	shuffle(order, (uint32_t)blocks);
	for (uint64_t k = 0; k < blocks && said[0] == 0; k++) {
		uint32_t b = order[k], at[3] = { b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1] };
		if (shared != NULL)
			memset(shared, POISON, own > 0 ? own : dynamic);
		start_threads(at, grid, block);
		run_block();
	}
	free(order);
	return said[0] != 0 ? said : NULL;
}

const char *fiber_launch(void (*kernel)(void **args), void **args, const uint32_t grid[3], const uint32_t block[3],
	void *shared, uint64_t own, uint32_t dynamic)
{
	pthread_mutex_lock(&one_launch);
	said[0] = 0;
	all.kernel = kernel;
	all.args = args;
	const char *why = launch(grid, block, shared, own, dynamic);
	pthread_mutex_unlock(&one_launch);
	return why;
}

/* ---- instructions of one thread, and the barrier ---- */

#define REGISTER(name, value) \
	uint32_t nvvm_read_ptx_sreg_##name(void); \
	uint32_t nvvm_read_ptx_sreg_##name(void) \
	{ \
		return all.now->t.value; \
	}
REGISTER(tid_x, id[0])
REGISTER(tid_y, id[1])
REGISTER(tid_z, id[2])
REGISTER(ntid_x, size[0])
REGISTER(ntid_y, size[1])
REGISTER(ntid_z, size[2])
REGISTER(ctaid_x, block[0])
REGISTER(ctaid_y, block[1])
REGISTER(ctaid_z, block[2])
REGISTER(nctaid_x, blocks[0])
REGISTER(nctaid_y, blocks[1])
REGISTER(nctaid_z, blocks[2])
REGISTER(laneid, lane)

void nvvm_barrier0(void);
void nvvm_barrier0(void)
{
	wait_here(AT_BARRIER, __builtin_return_address(0));
}

/* Threads run one at a time, so that memory is in order. */
void nvvm_membar_gl(void);
void nvvm_membar_gl(void)
{
}

void nvvm_membar_cta(void);
void nvvm_membar_cta(void)
{
}

static void copy(void *to, const void *from, uint32_t bytes, uint32_t have)
{
	Fiber *f = all.now;
	memset(to, POISON, bytes);
	if (f->ncopy == COPIES)
		wrong("has too many copies under way", f);
	else
		f->copy[f->ncopy++] = (Copy){ to, from, bytes, have, f->group };
	if (((uintptr_t)to | (uintptr_t)from) % bytes != 0)
		wrong("copies from or to an address that is no multiple of the bytes copied", f);
	if (have > bytes)
		wrong("copies more bytes than the instruction has", f);
}

#define COPY(name, bytes) \
	void nvvm_cp_async_##name(void *to, const void *from); \
	void nvvm_cp_async_##name(void *to, const void *from) \
	{ \
		copy(to, from, bytes, bytes); \
	} \
	void nvvm_cp_async_##name##_s(void *to, const void *from, uint32_t have); \
	void nvvm_cp_async_##name##_s(void *to, const void *from, uint32_t have) \
	{ \
		copy(to, from, bytes, have); \
	}
COPY(ca_shared_global_4, 4)
COPY(ca_shared_global_8, 8)
COPY(ca_shared_global_16, 16)
COPY(cg_shared_global_16, 16)

/* Copies of groups before `end` arrive. */
static void arrive(uint32_t end)
{
	Fiber *f = all.now;
	int kept = 0;
	for (int k = 0; k < f->ncopy; k++) {
		const Copy *c = &f->copy[k];
		if (c->group >= end) {
			f->copy[kept++] = *c;
			continue;
		}
		memset(c->to, 0, c->bytes);
		memcpy(c->to, c->from, c->have);
	}
	f->ncopy = kept;
}

void nvvm_cp_async_commit_group(void);
void nvvm_cp_async_commit_group(void)
{
	all.now->group++;
}

void nvvm_cp_async_wait_group(uint32_t pending);
void nvvm_cp_async_wait_group(uint32_t pending)
{
	arrive(all.now->group > pending ? all.now->group - pending : 0);
}

void nvvm_cp_async_wait_all(void);
void nvvm_cp_async_wait_all(void)
{
	arrive(UINT32_MAX);
}
