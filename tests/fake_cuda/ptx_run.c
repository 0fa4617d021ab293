/*
 * See ptx.h: runs the blocks of a grid one after the other, the warps of a block and the threads of a warp in a random
 * order between barriers. What cp.async copies arrives when a wait demands it. Fails where an address leaves shared or
 * local memory, where threads of a block end while others wait at a barrier, and where a kernel does not end.
 */
#include "ptx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_value.h"

enum { THREADS = 1024 };
#define MOST_STEPS (UINT64_C(1) << 33)

typedef enum { GOES, AT_BARRIER, AT_WARP, ENDED } State;

typedef struct Copy {
	unsigned char *to;
	const unsigned char *from;
	size_t bytes, given; /* what is not given is zero */
	int group;
} Copy;

typedef struct Thread {
	int pc, lane;
	State state;
	uint64_t *reg;
	unsigned char *local;
	int ncopy, roomcopy, group; /* group: of the copies that come next */
	Copy *copy;
} Thread;

typedef struct Run {
	const PtxKernel *k;
	void **argument;
	unsigned char *shared;
	size_t shared_bytes;
	Thread *thread;
	int nthread;
	uint64_t steps, random;
	char error[256];
} Run;

static char last_error[256];

static uint64_t draw(Run *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static void wrong(Run *w, const PtxIns *i, const char *what)
{
	if (w->error[0] == 0)
		snprintf(w->error, sizeof w->error, "%s: %.150s", what, i->text);
}

static uint64_t get(const Thread *t, const PtxIns *i, int operand)
{
	return t->reg[i->slot[operand]];
}

static void put(const Thread *t, const PtxIns *i, int operand, uint64_t v)
{
	t->reg[i->slot[operand]] = v;
}

/* Where an operand's address lies; NULL, and the run has failed, if these bytes are not there. */
static unsigned char *place(Run *w, const Thread *t, const PtxIns *i, int operand, PtxSpace space, size_t bytes)
{
	uint64_t v = get(t, i, operand) + (uint64_t)i->offset[operand];
	switch (space) {
	case PTX_SHARED:
		v = (uint32_t)v;
		if (v % bytes == 0 && v + bytes <= w->shared_bytes)
			return w->shared + v;
		break;
	case PTX_LOCAL:
		if (v % bytes == 0 && v + bytes <= w->k->local_bytes)
			return t->local + v;
		break;
	case PTX_PARAM: return (unsigned char *)w->argument[v / 8] + v % 8;
	default:
		if (v % bytes == 0)
			return (unsigned char *)(uintptr_t)v;
	}
	wrong(w, i, space == PTX_GLOBAL ? "an address that is not aligned" : "an address outside of its memory");
	return NULL;
}

static void load(Run *w, Thread *t, const PtxIns *i)
{
	PtxType type = i->type[0];
	size_t each = (size_t)type.bits / 8;
	const unsigned char *from = place(w, t, i, i->wide, i->space, each * (size_t)i->wide);
	for (int k = 0; from != NULL && k < i->wide; k++) {
		uint64_t v = 0;
		memcpy(&v, from + (size_t)k * each, each);
		put(t, i, k, type.kind == PTX_S ? (uint64_t)ptx_signed(v, type.bits) : v);
	}
}

static void store(Run *w, Thread *t, const PtxIns *i)
{
	size_t each = (size_t)i->type[0].bits / 8;
	unsigned char *to = place(w, t, i, 0, i->space, each * (size_t)i->wide);
	for (int k = 0; to != NULL && k < i->wide; k++) {
		uint64_t v = get(t, i, 1 + k);
		memcpy(to + (size_t)k * each, &v, each);
	}
}

/* Also {a, b} as one value and one value as {a, b}. */
static void move(Thread *t, const PtxIns *i)
{
	int nto = i->group[0], nfrom = i->group[1], bits = i->type[0].bits;
	uint64_t v = nfrom == 1 ? get(t, i, nto) : 0;
	for (int k = 0; k < nfrom && nfrom > 1; k++)
		v |= ptx_unsigned(get(t, i, nto + k), bits / nfrom) << (k * (bits / nfrom));
	for (int k = 0; k < nto; k++)
		put(t, i, k, nto == 1 ? v : ptx_unsigned(v >> (k * (bits / nto)), bits / nto));
}

static void cvta(const Run *w, Thread *t, const PtxIns *i)
{
	uint64_t v = get(t, i, 1);
	uint64_t base = i->space == PTX_SHARED  ? (uint64_t)(uintptr_t)w->shared
	                : i->space == PTX_LOCAL ? (uint64_t)(uintptr_t)t->local
	                                        : 0;
	put(t, i, 0, ptx_word(i, "to") ? v - base : v + base);
}

static void deliver(Thread *t, int before)
{
	int n = 0;
	for (int k = 0; k < t->ncopy; k++) {
		const Copy *c = &t->copy[k];
		if (c->group >= before) {
			t->copy[n++] = *c;
			continue;
		}
		memset(c->to, 0, c->bytes);
		memcpy(c->to, c->from, c->given);
	}
	t->ncopy = n;
}

/* cp.async.ca.shared.global [to], [from], bytes{, bytes of from}; and its groups */
static void copy_async(Run *w, Thread *t, const PtxIns *i)
{
	if (ptx_word(i, "commit_group")) {
		t->group++;
	} else if (ptx_word(i, "wait_group")) {
		deliver(t, t->group - (int)get(t, i, 0));
	} else if (ptx_word(i, "wait_all")) {
		deliver(t, t->group + 1);
	} else {
		size_t bytes = (size_t)get(t, i, 2), given = i->n > 3 ? (size_t)(uint32_t)get(t, i, 3) : bytes;
		unsigned char *to = place(w, t, i, 0, PTX_SHARED, bytes), *from = place(w, t, i, 1, PTX_GLOBAL, bytes);
		if (t->ncopy == t->roomcopy) {
			t->roomcopy = 2 * t->roomcopy + 16;
			t->copy = realloc(t->copy, (size_t)t->roomcopy * sizeof *t->copy);
		}
		if (to != NULL && from != NULL)
			t->copy[t->ncopy++] = (Copy){ to, from, bytes, given < bytes ? given : bytes, t->group };
	}
}

static void atomic(Run *w, Thread *t, const PtxIns *i)
{
	int first = i->op == PTX_atom;
	PtxType type = i->type[0];
	size_t bytes = (size_t)type.bits / 8;
	unsigned char *at = place(w, t, i, first, i->space, bytes);
	uint64_t old = 0, now;
	if (at == NULL)
		return;
	memcpy(&old, at, bytes);
	if (!ptx_atomic(i->what, type, old, get(t, i, first + 1), i->n > first + 2 ? get(t, i, first + 2) : 0, &now))
		wrong(w, i, "this atomic is not known");
	memcpy(at, &now, bytes);
	if (first)
		put(t, i, 0, old);
}

/* ---- what a warp does together ---- */

static void shuffle(Thread *const lane[PTX_WARP], const PtxIns *i)
{
	uint64_t value[PTX_WARP] = { 0 };
	int from = i->group[0];
	for (int l = 0; l < PTX_WARP; l++)
		value[l] = lane[l] != NULL ? get(lane[l], i, from) : 0;
	for (int l = 0; l < PTX_WARP; l++) {
		if (lane[l] == NULL)
			continue;
		int b = (int)(get(lane[l], i, from + 1) & 31), c = (int)get(lane[l], i, from + 2);
		int segment = c >> 8 & 31, most = (l & segment) | (c & 31 & ~segment), least = l & segment;
		int j = ptx_word(i, "up")     ? l - b
		        : ptx_word(i, "down") ? l + b
		        : ptx_word(i, "bfly") ? l ^ b
		                              : least | (b & ~segment);
		bool good = ptx_word(i, "up") ? j >= most : j <= most;
		put(lane[l], i, 0, value[good ? j : l]);
		if (from == 2)
			put(lane[l], i, 1, good);
	}
}

/* Lanes 8m to 8m + 7 have the addresses of the rows of matrix m, 8 x 8 elements of 2 bytes. */
static void load_matrices(Run *w, Thread *const lane[PTX_WARP], const PtxIns *i)
{
	bool trans = ptx_word(i, "trans");
	for (int m = 0; m < i->group[0]; m++) {
		const unsigned char *row[8];
		for (int k = 0; k < 8; k++)
			if ((row[k] = place(w, lane[8 * m + k], i, i->group[0], PTX_SHARED, 16)) == NULL)
				return;
		for (int l = 0; l < PTX_WARP; l++) {
			uint16_t pair[2];
			for (int e = 0; e < 2; e++) {
				int r = trans ? 2 * (l % 4) + e : l / 4, c = trans ? l / 4 : 2 * (l % 4) + e;
				memcpy(&pair[e], row[r] + 2 * c, 2);
			}
			put(lane[l], i, m, (uint64_t)pair[0] | (uint64_t)pair[1] << 16);
		}
	}
}

/* Element k of row or column r of A or B; `per` elements of a register lie side by side. */
static double mma_element(Thread *const lane[PTX_WARP], const PtxIns *i, int first, bool tall, int r, int k, int per)
{
	int chunk = 4 * per; /* elements of k that one register of four lanes has */
	int l = r % 8 * 4 + k % chunk / per, reg = k / chunk * (tall ? 2 : 1) + (tall && r >= 8);
	PtxType type = i->type[1];
	return ptx_real((PtxType){ type.kind, per == 1 ? 32 : type.bits }, get(lane[l], i, first + reg) >> k % per * 16);
}

/* mma.sync.m16n8kK: C is 16 x 8, a lane has two neighbours of rows l / 4 and l / 4 + 8. */
static void multiply_matrices(Run *w, Thread *const lane[PTX_WARP], const PtxIns *i)
{
	int k = ptx_word(i, "m16n8k16") ? 16 : ptx_word(i, "m16n8k8") ? 8 : ptx_word(i, "m16n8k4") ? 4 : 0;
	int per = ptx_word(i, "tf32") ? 1 : 2, a = i->group[0], b = a + i->group[1], c = b + i->group[2];
	float sum[16][8];
	if (k == 0 || i->group[0] != 4 || i->type[0].bits != 32) {
		wrong(w, i, "this shape is not known");
		return;
	}
	for (int m = 0; m < 16; m++)
		for (int n = 0; n < 8; n++) {
			double s = ptx_real(i->type[0], get(lane[m % 8 * 4 + n / 2], i, c + n % 2 + (m >= 8 ? 2 : 0)));
			for (int e = 0; e < k; e++)
				s += mma_element(lane, i, a, true, m, e, per) * mma_element(lane, i, b, false, n, e, per);
			sum[m][n] = (float)s;
		}
	for (int m = 0; m < 16; m++)
		for (int n = 0; n < 8; n++)
			put(lane[m % 8 * 4 + n / 2], i, n % 2 + (m >= 8 ? 2 : 0), ptx_raw(i->type[0], (double)sum[m][n]));
}

static bool for_warp(const PtxIns *i)
{
	return i->op == PTX_shfl || i->op == PTX_ldmatrix || i->op == PTX_mma || (i->op == PTX_bar && ptx_word(i, "warp"));
}

/* All lanes that have not ended wait at one instruction: it is done. */
static void warp_step(Run *w, int first)
{
	Thread *lane[PTX_WARP] = { NULL };
	const PtxIns *i = NULL;
	int live = 0;
	for (int l = 0; l < PTX_WARP && first + l < w->nthread; l++) {
		Thread *t = &w->thread[first + l];
		if (t->state != AT_WARP)
			continue;
		const PtxIns *at = &w->k->ins[t->pc];
		if (i != NULL && i != at)
			wrong(w, at, "lanes of a warp wait at different instructions");
		i = at;
		lane[l] = t;
		live++;
	}
	if (i == NULL)
		return;
	if (live < PTX_WARP && (i->op == PTX_mma || i->op == PTX_ldmatrix))
		wrong(w, i, "not all lanes of a warp are there");
	else if (i->op == PTX_shfl)
		shuffle(lane, i);
	else if (i->op == PTX_ldmatrix)
		load_matrices(w, lane, i);
	else if (i->op == PTX_mma)
		multiply_matrices(w, lane, i);
	for (int l = 0; l < PTX_WARP; l++)
		if (lane[l] != NULL) {
			lane[l]->pc++;
			lane[l]->state = GOES;
		}
}

/* ---- threads ---- */

static void step(Run *w, Thread *t, const PtxIns *i)
{
	uint64_t v;
	switch (i->op) {
	case PTX_ld: load(w, t, i); break;
	case PTX_st: store(w, t, i); break;
	case PTX_mov: move(t, i); break;
	case PTX_cvta: cvta(w, t, i); break;
	case PTX_cp: copy_async(w, t, i); break;
	case PTX_atom:
	case PTX_red: atomic(w, t, i); break;
	case PTX_membar:
	case PTX_fence: break;
	default:
		if (ptx_compute(i, get(t, i, 1), i->n > 2 ? get(t, i, 2) : 0, i->n > 3 ? get(t, i, 3) : 0, &v))
			put(t, i, 0, v);
		else
			wrong(w, i, "this form is not known");
	}
}

/* Until it ends or waits. */
static void run_thread(Run *w, Thread *t)
{
	t->state = GOES;
	while (w->error[0] == 0) {
		if (t->pc >= w->k->nins) {
			t->state = ENDED;
			return;
		}
		const PtxIns *i = &w->k->ins[t->pc];
		if (++w->steps > MOST_STEPS)
			wrong(w, i, "the kernel does not end");
		if (i->guard >= 0 && (t->reg[i->guard] & 1) == (i->unless ? 1u : 0u)) {
			t->pc++;
			continue;
		}
		if (i->op == PTX_ret || i->op == PTX_exit) {
			t->state = ENDED;
			return;
		}
		if (i->op == PTX_bra) {
			t->pc = i->target;
			continue;
		}
		if (for_warp(i)) {
			t->state = AT_WARP;
			return;
		}
		t->pc++;
		if (i->op == PTX_bar) {
			t->state = AT_BARRIER;
			return;
		}
		step(w, t, i);
	}
}

/* Every thread as far as it comes without the others of its block. */
static void run_warp(Run *w, int first)
{
	for (bool more = true; more && w->error[0] == 0;) {
		int start = (int)(draw(w) % PTX_WARP);
		more = false;
		for (int l = 0; l < PTX_WARP; l++) {
			int k = first + (l + start) % PTX_WARP;
			if (k < w->nthread && w->thread[k].state == GOES)
				run_thread(w, &w->thread[k]);
		}
		for (int l = 0; l < PTX_WARP && first + l < w->nthread; l++)
			more |= w->thread[first + l].state == AT_WARP;
		warp_step(w, first);
	}
}

static void run_block(Run *w)
{
	int nwarp = (w->nthread + PTX_WARP - 1) / PTX_WARP, waiting = 1;
	memset(w->shared, 0xff, w->shared_bytes);
	for (int k = 0; k < w->nthread; k++) {
		w->thread[k].pc = w->thread[k].ncopy = w->thread[k].group = 0;
		w->thread[k].state = GOES;
	}
	while (waiting > 0 && w->error[0] == 0) {
		int start = (int)(draw(w) % (uint64_t)nwarp), ended = 0;
		for (int n = 0; n < nwarp; n++)
			run_warp(w, (n + start) % nwarp * PTX_WARP);
		waiting = 0;
		for (int k = 0; k < w->nthread; k++) {
			waiting += w->thread[k].state == AT_BARRIER;
			ended += w->thread[k].state == ENDED;
		}
		if (waiting > 0 && ended > 0 && w->error[0] == 0)
			snprintf(w->error, sizeof w->error, "%d threads wait at a barrier and %d have ended", waiting, ended);
		for (int k = 0; k < w->nthread && waiting > 0; k++)
			w->thread[k].state = GOES;
	}
}

static void fill_slots(Run *w, const uint32_t grid[3], const uint32_t block[3], uint64_t number)
{
	const uint32_t at[3] = { (uint32_t)(number % grid[0]), (uint32_t)(number / grid[0] % grid[1]),
		(uint32_t)(number / grid[0] / grid[1]) };
	for (int s = 0; s < w->k->nslot; s++) {
		const PtxSlot *slot = &w->k->slot[s];
		if (slot->special == 0 && (!slot->fixed || number > 0))
			continue;
		for (int t = 0; t < w->nthread; t++) {
			uint32_t n = (uint32_t)t, id[3] = { n % block[0], n / block[0] % block[1], n / block[0] / block[1] };
			int which = slot->special - 1, axis = which % 3;
			w->thread[t].reg[s] = which < 0    ? slot->value
			                      : which < 3  ? id[axis]
			                      : which < 6  ? block[axis]
			                      : which < 9  ? at[axis]
			                      : which < 12 ? grid[axis]
			                      : which < 13 ? n % PTX_WARP
			                                   : n / PTX_WARP;
		}
	}
}

const char *ptx_run(
	const PtxKernel *k, void **argument, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes)
{
	uint64_t nblock = (uint64_t)grid[0] * grid[1] * grid[2];
	Run w = {
		.k = k, .argument = argument, .random = 88172645463325252u, .nthread = (int)(block[0] * block[1] * block[2])
	};
	if (k->error[0] != 0)
		return k->error;
	if (w.nthread > THREADS)
		return "more threads than a block has";
	w.shared_bytes = k->shared_bytes + shared_bytes;
	w.shared = aligned_alloc(128, (w.shared_bytes + 255) / 128 * 128);
	w.thread = calloc((size_t)w.nthread, sizeof *w.thread);
	uint64_t *reg = calloc((size_t)w.nthread * (size_t)(k->nslot + 1), sizeof *reg);
	unsigned char *local = calloc((size_t)w.nthread, k->local_bytes + 16);
	for (int t = 0; t < w.nthread; t++) {
		w.thread[t].reg = reg + (size_t)t * (size_t)k->nslot;
		w.thread[t].local = local + (size_t)t * ((k->local_bytes + 15) / 16 * 16);
	}
	for (uint64_t n = 0; n < nblock && w.error[0] == 0; n++) {
		fill_slots(&w, grid, block, n);
		run_block(&w);
	}
	free(w.shared);
	for (int t = 0; t < w.nthread; t++)
		free(w.thread[t].copy);
	free(w.thread);
	free(reg);
	free(local);
	memcpy(last_error, w.error, sizeof last_error);
	return w.error[0] != 0 ? last_error : NULL;
}
