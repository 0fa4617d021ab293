/*
 * The cost of one store or reduction in the threads of a block. The threads of a warp issue each instruction together.
 * A load or store of a warp takes L1 a cycle for each line that it touches, and shared memory as many cycles as it asks
 * one bank for different words: both are counted from the addresses of the first warp's threads, so that any index
 * map is understood. Loops bound to block axes are the threads; the unrolled and vector loops inside of the innermost
 * serial loop are straight-line code; sums stay in registers as on a core (leaf.c). Left out: lanes that a condition
 * leaves idle, and what different statements read of one line.
 */
#include "cost_model/warp.h"

#include "cost_model/cost.h"
#include "cost_model/leaf.h"
#include "cost_model/reuse.h"
#include "ir/query.h"
#include "target/occupancy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 64 /* of the widest warps */ };

typedef enum { IN_REGISTERS, IN_LOCAL, IN_SHARED, IN_GLOBAL } Where;

/* An access as the threads do it. */
typedef struct Reach {
	const NestBuf *at;
	Where where;
	bool known; /* strides are */
	int64_t stride[NEST_LOOPS];
	double times;   /* instructions of a thread in one body */
	double cycles;  /* of L1 or shared memory for one such instruction of a warp */
	double sectors; /* of global memory that it touches */
	double wanted;  /* bytes of the elements */
	Flow flow;      /* where it is global and known */
} Reach;

typedef struct Leaf {
	Walk *w;
	int serial;                 /* the innermost serial loop; -1: none */
	int vector;                 /* the vector loop; -1: none */
	int axis[THREAD_AXES];      /* loops bound to block axes; -1: none */
	bool shared_out;            /* the two innermost loops are a tile of a fragment, divided among a warp's lanes */
	double copies, lanes;       /* of the statement in a body; of its vector */
	double bodies, warps;       /* how often a thread runs the body; how many warps do */
	double ops;
	int bits, nload, nodes;
	Reach load[ACCESSES], dst;
} Leaf;

/* Threads lie along x, then y, then z. */
double warp_count(const Walk *w)
{
	const Launch *x = w->launch;
	int64_t n[THREAD_AXES] = { 1, 1, 1 }, warp = w->target->blocks.warp, last = -1, count = 0;
	for (int l = 0; l < w->nest.nloop; l++)
		if (w->nest.loop[l].axis == AXIS_BLOCK)
			n[w->nest.loop[l].dim] = w->nest.loop[l].n;
	for (int k = 0; k < THREAD_AXES; k++)
		n[k] = n[k] < x->block[k] ? n[k] : x->block[k];
	for (int64_t z = 0; z < n[2]; z++)
		for (int64_t y = 0; y < n[1]; y++) {
			int64_t first = (z * x->block[1] + y) * x->block[0], end = (first + n[0] - 1) / warp;
			first /= warp;
			first = first > last ? first : last + 1;
			count += end >= first ? end - first + 1 : 0;
			last = end > last ? end : last;
		}
	return (double)count;
}

static void find_loops(Leaf *f)
{
	const CostNest *n = &f->w->nest;
	f->serial = n->nloop - 1;
	f->vector = -1;
	f->copies = f->w->live;
	f->bodies = f->w->share;
	f->lanes = 1;
	for (int k = 0; k < THREAD_AXES; k++)
		f->axis[k] = -1;
	while (f->serial >= 0 && (leaf_is_straight(n->loop[f->serial].kind) || n->loop[f->serial].kind == LOOP_BOUND))
		f->serial--;
	for (int l = 0; l < n->nloop; l++) {
		if (n->loop[l].axis == AXIS_BLOCK) {
			f->axis[n->loop[l].dim] = l;
		} else if (n->loop[l].kind == LOOP_VECTOR) {
			f->vector = l;
			f->lanes = (double)n->loop[l].n;
		} else if (n->loop[l].kind != LOOP_BOUND) {
			*(l > f->serial ? &f->copies : &f->bodies) *= (double)n->loop[l].n;
		}
	}
	f->warps = warp_count(f->w);
}

/* ---- the addresses of a warp ---- */

/* Lane l has the elements of a tile's row l / 4 from column l % 4 * 2 on (codegen/lower/fragments.c). */
static void set_tile(CostNest *n, int lane)
{
	nest_set_loop(n, n->nloop - 2, lane / 4);
	nest_set_loop(n, n->nloop - 1, lane % 4 * 2);
}

/* Bytes where each thread of the first warp begins to access; how many threads do. */
static int lane_bytes(Leaf *f, const Access *a, const Buf *b, int64_t out[LANES])
{
	CostNest *n = &f->w->nest;
	const Launch *x = f->w->launch;
	int count = 0, warp = f->w->target->blocks.warp < LANES ? f->w->target->blocks.warp : LANES;
	for (int t = 0; t < warp; t++) {
		int64_t rest = t, at;
		bool runs = true;
		if (f->shared_out)
			set_tile(n, t);
		for (int k = 0; k < THREAD_AXES && !f->shared_out; k++) {
			int64_t own = rest % x->block[k], l = f->axis[k];
			rest /= x->block[k];
			runs = runs && own < (l >= 0 ? n->loop[l].n : 1);
			if (runs && l >= 0)
				nest_set_loop(n, (int)l, own);
		}
		if (runs && (rest == 0 || f->shared_out) && nest_address(n, a, b, &at))
			out[count++] = at * b->type.bits / 8;
	}
	if (f->shared_out)
		set_tile(n, 0);
	for (int k = 0; k < THREAD_AXES; k++)
		if (f->axis[k] >= 0)
			nest_set_loop(n, f->axis[k], 0);
	return count;
}

/* Pieces of memory, so many bytes large, that the threads touch. */
static double pieces(const int64_t *byte, int n, int bytes, int size)
{
	int64_t seen[LANES * 8];
	int count = 0;
	for (int i = 0; i < n; i++)
		for (int64_t p = byte[i] / size; p <= (byte[i] + bytes - 1) / size; p++) {
			int k = count - 1;
			while (k >= 0 && seen[k] != p)
				k--;
			if (k < 0 && count < LANES * 8)
				seen[count++] = p;
		}
	return count;
}

/* Wide accesses in turns of all banks' width. Threads that ask for one word are served together. */
double warp_bank_cycles(const int64_t *byte, int n, int bytes)
{
	int turn = COST_BANKS * COST_BANK_BYTES / (bytes > COST_BANK_BYTES ? bytes : COST_BANK_BYTES);
	double cycles = 0;
	for (int from = 0; from < n; from += turn) {
		int64_t word[COST_BANKS][LANES];
		int words[COST_BANKS] = { 0 }, most = 0;
		for (int i = from; i < n && i < from + turn; i++)
			for (int64_t at = byte[i] / COST_BANK_BYTES; at <= (byte[i] + bytes - 1) / COST_BANK_BYTES; at++) {
				int bank = (int)(at % COST_BANKS), k = words[bank] - 1;
				while (k >= 0 && word[bank][k] != at)
					k--;
				if (k < 0 && words[bank] < LANES)
					word[bank][words[bank]++] = at;
				most = words[bank] > most ? words[bank] : most;
			}
		cycles += most;
	}
	return cycles;
}

/* Instructions of a thread for the lanes of a vector, and bytes of each. */
static double parts_of(const Leaf *f, const Reach *r, int *bytes)
{
	int bits = r->at->buf->type.bits, most = f->w->target->vector_bits;
	*bytes = (bits + 7) / 8;
	if (f->vector < 0 || (r->known && r->stride[f->vector] == 0))
		return 1;
	if (!r->known || r->stride[f->vector] != 1)
		return f->lanes;
	double all = f->lanes * bits;
	*bytes = (int)fmin(ceil(all / 8), most / 8);
	return ceil(all / most);
}

/* A buffer of a thread lies in registers if no serial loop within its life moves along it. */
static Where where_is(const CostNest *n, const NestBuf *b, const int64_t *stride)
{
	const char *scope = b->buf->scope;
	if (b->depth < 0 || scope == NULL || strcmp(scope, "global") == 0)
		return IN_GLOBAL;
	if (strcmp(scope, "shared") == 0)
		return IN_SHARED;
	if (strcmp(scope, "fragment") == 0)
		return IN_REGISTERS;
	for (int l = b->depth; l < n->nloop; l++)
		if (!leaf_is_straight(n->loop[l].kind) && n->loop[l].kind != LOOP_BOUND && stride[l] != 0)
			return IN_LOCAL;
	return IN_REGISTERS;
}

static void reach(Leaf *f, const Access *a, Reach *r)
{
	CostNest *n = &f->w->nest;
	const Target *t = f->w->target;
	int64_t byte[LANES];
	double rate = t->core.level[0]; /* bytes per cycle */
	int bytes;
	memset(r, 0, offsetof(Reach, flow));
	r->at = nest_buf(n, a->buf);
	if (r->at == NULL)
		return; /* its walk did not fit: it costs nothing */
	r->known = nest_strides(n, a, r->at->buf, r->stride);
	r->where = where_is(n, r->at, r->stride);
	if (r->where == IN_REGISTERS)
		return;
	double parts = parts_of(f, r, &bytes);
	r->times = parts * (r->known ? leaf_distinct(f->w, f->serial, r->stride) : f->copies);
	int lanes = r->known ? lane_bytes(f, a, r->at->buf, byte) : 0;
	if (r->where == IN_SHARED) {
		double turns = lanes > 0 ? warp_bank_cycles(byte, lanes, bytes) : t->blocks.warp;
		r->cycles = turns * COST_BANKS * COST_BANK_BYTES / rate;
	} else if (r->where == IN_LOCAL) { /* it lies so that threads are neighbours */
		r->cycles = (double)t->blocks.warp * bytes / rate;
	} else {
		double lines = lanes > 0 ? pieces(byte, lanes, bytes, t->line_bytes) : t->blocks.warp;
		r->sectors = lanes > 0 ? pieces(byte, lanes, bytes, COST_SECTOR) : t->blocks.warp;
		r->wanted = fmin(r->sectors * COST_SECTOR, (double)bytes * (lanes > 0 ? lanes : t->blocks.warp));
		r->cycles = lines * t->line_bytes / rate;
		r->known = r->known && reuse_flow(n, a, r->at->buf, &r->flow);
	}
}

static void look_at(Leaf *f, const Expr *e)
{
	enum { MOST_NODES = 2000 };
	if (f->nodes++ > MOST_NODES)
		return;
	f->ops += leaf_ops(e);
	if (e->op == IR_LOAD) {
		Access a = { e->name, e->nargs, (const Expr **)(uintptr_t)e->arg };
		if (f->nload < ACCESSES)
			reach(f, &a, &f->load[f->nload++]);
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		look_at(f, e->arg[i]);
}

/* ---- registers ---- */

/* Of the thread: its own buffers, the operands of one turn of the sums, addresses. */
static int registers(const Leaf *f, const LeafSums *sums, bool reduces, double turns)
{
	CostNest *n = &f->w->nest;
	double loads = 0, own = 0;
	for (int k = 0; k < n->nbuf; k++) {
		const Buf *b = n->buf[k].buf;
		double bits = (double)nest_elements(n, b) * b->type.bits;
		if (n->buf[k].depth >= 0 && b->scope != NULL && strcmp(b->scope, "local") == 0)
			own += bits / 32;
		else if (n->buf[k].depth >= 0 && b->scope != NULL && strcmp(b->scope, "fragment") == 0)
			loads += bits / 32 / f->w->target->blocks.warp;
	}
	for (int i = 0; i < f->nload; i++)
		if (f->load[i].where != IN_REGISTERS && f->load[i].at != NULL)
			loads += f->load[i].times / turns * fmax(f->load[i].at->buf->type.bits / 32.0, 1);
	if (reduces && f->dst.where != IN_REGISTERS && sums->bodies > 0)
		own += sums->count * f->bits / 32;
	return target_kernel_regs(own, loads, f->w->launch->tensors);
}

/* ---- what it adds to the launch ---- */

/* An access so often in each body: its instructions and the cycles of the memory that is near. */
static double add_access(Leaf *f, const Reach *r, double times)
{
	if (r->at == NULL || r->where == IN_REGISTERS)
		return 0;
	f->w->launch->near += f->warps * f->bodies * times * r->cycles;
	return times;
}

/* Loads that do not move along the serial loop are kept in registers across it, a few of them. */
static double load_times(const Leaf *f, const Reach *r)
{
	const CostNest *n = &f->w->nest;
	bool still = r->known && f->serial >= 0 && r->stride[f->serial] == 0 && r->times <= COST_KEPT;
	return still ? r->times / (double)n->loop[f->serial].n : r->times;
}

/* Adds the bytes that pass between the levels; how many cycles a load then waits. */
static double add_traffic(Leaf *f)
{
	Walk *w = f->w;
	const Target *t = w->target;
	Flow flow[ACCESSES];
	double bytes[TARGET_CACHES], wait = 0, asked = 0;
	int count = 0;
	bool global = false;
	for (int i = 0; i <= f->nload; i++) {
		const Reach *r = i < f->nload ? &f->load[i] : &f->dst;
		if (r->at == NULL || r->where != IN_GLOBAL)
			continue;
		double all = r->times * r->sectors * COST_SECTOR * f->warps * f->bodies;
		if (i < f->nload)
			walk_note_reads(w, r->at, r->known, all * w->launch->blocks);
		w->launch->asked += all;
		w->launch->wanted += r->times * r->wanted * f->warps * f->bodies;
		bool twice = false; /* taps of one window: the same memory */
		for (int k = 0; k < i; k++)
			twice |= f->load[k].at == r->at && f->load[k].where == IN_GLOBAL;
		global = global || i < f->nload;
		asked += i < f->nload ? all : 0;
		if (r->known && !twice)
			flow[count++] = r->flow;
		else if (!r->known)
			for (int k = 0; k < TARGET_CACHES && (k == 0 || t->cache[k].bytes > 0); k++)
				w->launch->bytes[k] += all * w->launch->blocks; /* the address depends on data: it is anywhere */
	}
	reuse_traffic(w, flow, count, bytes);
	for (int k = 0; k < TARGET_CACHES; k++)
		w->launch->bytes[k] += bytes[k] * w->share;
	if (global && asked > 0) {
		double beyond = fmin(bytes[0] * w->share / (asked * w->launch->blocks), 1);
		double far = bytes[0] > 0 && t->cache[1].bytes > 0 ? fmin(bytes[1] / bytes[0], 1) : 1;
		wait = COST_L1_WAIT + beyond * (COST_L2_WAIT - COST_L1_WAIT + far * (COST_MEMORY_WAIT - COST_L2_WAIT));
	}
	for (int i = 0; i < f->nload; i++)
		if (f->load[i].at != NULL && f->load[i].where == IN_SHARED)
			wait = fmax(wait, COST_SHARED_WAIT);
		else if (f->load[i].at != NULL && f->load[i].where == IN_LOCAL)
			wait = fmax(wait, COST_L1_WAIT);
	return wait;
}

/* What a load waits is spread over the iterations that are under way. */
static double waits(const Walk *w, double wait)
{
	int stages = 1;
	for (int l = 0; w->asyncs > 0 && l < w->nest.nloop; l++)
		if (w->nest.loop[l].kind == LOOP_PIPELINED && w->nest.loop[l].stages > stages)
			stages = w->nest.loop[l].stages;
	return wait / stages;
}

static void add_leaf(Leaf *f, bool reduces)
{
	Launch *x = f->w->launch;
	const Target *t = f->w->target;
	double work = f->copies * f->lanes * f->ops, memory = 0, chain = f->ops, wait = add_traffic(f);
	LeafSums sums = { f->copies * f->lanes, 1 };
	if (reduces) {
		sums = leaf_sums(f->w, f->serial, f->lanes, f->dst.at, f->dst.known ? f->dst.stride : NULL);
		memory = sums.bodies == 0 ? f->dst.times : f->dst.times / sums.bodies;
		chain = f->copies * f->lanes / sums.count * f->ops;
		if (sums.bodies == 0 && f->dst.where != IN_REGISTERS)
			wait = fmax(wait, f->dst.where == IN_SHARED ? COST_SHARED_WAIT : COST_L1_WAIT);
	}
	double turns = reduces ? fmax(f->copies * f->lanes / sums.count, 1) : 1;
	int regs = registers(f, &sums, reduces, turns), own = target_thread_regs(t, x->threads);
	double spilled = own > 0 && regs > own ? regs - own : 0;
	x->regs = regs > x->regs ? regs : x->regs;
	double issued = work + f->w->tests * f->copies + (f->w->masked ? f->copies : 0) + (f->serial >= 0 ? COST_BODY : 0);
	for (int i = 0; i < f->nload; i++)
		issued += add_access(f, &f->load[i], load_times(f, &f->load[i]));
	issued += add_access(f, &f->dst, reduces ? 2 * memory : f->dst.times);
	issued += 2 * spilled; /* written and read in every body */
	x->near += f->warps * f->bodies * 2 * spilled * t->blocks.warp * 4 / t->core.level[0];
	x->multiply += f->warps * f->bodies * work * t->blocks.warp * f->bits / (t->vector_bits * t->core.fma_rate);
	x->issued += f->warps * f->bodies * issued;
	x->latency += f->bodies * (waits(f->w, wait) + chain * t->core.fma_latency + issued);
}

static bool is_fragment(const Walk *w, const char *buf)
{
	const NestBuf *b = nest_buf(&w->nest, buf);
	return b != NULL && b->buf->scope != NULL && strcmp(b->buf->scope, "fragment") == 0;
}

static bool reads_fragment(const Expr *e, void *arg)
{
	return e->op == IR_LOAD && is_fragment(arg, e->name);
}

void warp_cost(Walk *w, const Access *dst, const Expr *value, bool reduces)
{
	Leaf f = { .w = w };
	const NestBuf *b = nest_buf(&w->nest, dst->buf);
	f.bits = b != NULL ? b->buf->type.bits : 32;
	find_loops(&f);
	f.shared_out = w->nest.nloop >= 2 && (is_fragment(w, dst->buf) || ir_find_node(value, reads_fragment, w) != NULL);
	if (f.shared_out)
		*(f.copies >= w->target->blocks.warp ? &f.copies : &f.bodies) /= w->target->blocks.warp;
	look_at(&f, value);
	reach(&f, dst, &f.dst);
	if (reduces && value->op != IR_MUL)
		f.ops += 1; /* a product is fused with the sum */
	add_leaf(&f, reduces);
}

void warp_other_cost(Walk *w, const Stmt *s)
{
	double times = w->share;
	if (s->kind == ST_CALL && s->call.intrin) {
		warp_intrin_cost(w, s);
		return;
	}
	for (int l = 0; l < w->nest.nloop; l++)
		if (w->nest.loop[l].kind != LOOP_BOUND && w->nest.loop[l].kind != LOOP_VECTOR)
			times *= (double)w->nest.loop[l].n;
	if (s->kind == ST_FOR)
		return; /* COST_BODY has it */
	double warps = ceil((double)w->launch->threads / w->target->blocks.warp);
	w->launch->issued += warps * times;
	w->launch->latency += times * (s->kind == ST_CALL ? COST_CALL : s->kind == ST_BARRIER ? COST_MEET : 0);
}
