/*
 * The estimate of a device of blocks. Each top-level statement of a run Fn with bound loops is a launch, and so are the
 * statements without one between two of these. A launch costs what an empty kernel costs, and its waves: as many blocks
 * run at once as fit into all units. A wave takes the longest of
 *	what its blocks take of a unit's multiply-adds, instructions, L1 and shared memory (warp.c), and L2;
 *	what the wave takes of the device's memory (reuse.c);
 *	the latency of one block, which hides no more than what else its unit has to do.
 * The last wave may be a part of one. A device without warps is a CPU: each thread costs what it costs on a core
 * (leaf.c), and the grid is spread over the cores. Left out: kernels that overlap, and clocks that fall under load.
 */
#include "cost_model/grid.h"

#include "cost_model/cost.h"
#include "cost_model/leaf.h"
#include "cost_model/tally.h"
#include "cost_model/warp.h"
#include "ir/query.h"
#include "target/occupancy.h"

#include <math.h>
#include <string.h>

/* ---- the shape of a launch ---- */

typedef struct Shape {
	CostNest *nest;
	double grid[THREAD_AXES];
	int64_t block[THREAD_AXES];
	int64_t shared;
} Shape;

static bool measure(Stmt *s, void *arg)
{
	Shape *x = arg;
	int axis;
	int64_t lo = 0, hi = COST_UNKNOWN;
	AxisKind kind = ir_axis_of(s, &axis);
	if (kind == AXIS_GRID || kind == AXIS_BLOCK) {
		int64_t n = nest_ends(x->nest, s, &lo, &hi) ? hi - lo : COST_UNKNOWN;
		if (kind == AXIS_GRID)
			x->grid[axis] = fmax(x->grid[axis], (double)n);
		else
			x->block[axis] = n > x->block[axis] ? n : x->block[axis];
	} else if (s->kind == ST_ALLOC && s->alloc->scope != NULL && strcmp(s->alloc->scope, "shared") == 0) {
		x->shared += dtype_bytes(s->alloc->type, nest_elements(x->nest, s->alloc));
	}
	return true;
}

static Launch launch_of(CostNest *nest, Stmt *s, const Target *t)
{
	enum { MOST_THREADS = 1 << 20 };
	Shape x = { nest, { 1, 1, 1 }, { 1, 1, 1 }, 0 };
	ir_each_stmt(s, measure, &x);
	Launch l = { .blocks = x.grid[0] * x.grid[1] * x.grid[2], .shared = x.shared };
	memcpy(l.block, x.block, sizeof l.block);
	double threads = (double)x.block[0] * (double)x.block[1] * (double)x.block[2];
	l.threads = (int)fmin(threads, MOST_THREADS);
	l.resident = target_resident_blocks(t, l.threads, l.shared, 0);
	l.resident = l.resident > 1 ? l.resident : 1; /* none: no launch has it, and its trace is refused */
	return l;
}

/* ---- waves ---- */

/* Costs that overlap: the largest, and some of the others, by the share that was fitted on CPUs. */
static double overlap(const double *cycles, int n)
{
	double most = 0, sum = 0;
	for (int k = 0; k < n; k++) {
		most = fmax(most, cycles[k]);
		sum += cycles[k];
	}
	return most + COST_HIDDEN * (sum - most);
}

/* Cycles of `blocks` blocks in each of `units` units at once. */
static double wave(const Launch *x, const Target *t, double blocks, double units)
{
	double unit = 0, memory = 0;
	for (int k = 0; k == 0 || (k < TARGET_CACHES && t->cache[k].bytes > 0); k++) {
		double of_block = x->bytes[k] / x->blocks / target_rate_beyond(t, k + 1);
		if (target_cache(t, k + 2) == 0)
			memory = of_block / t->cores; /* its rate is a unit's part of that of the device */
		else
			unit = fmax(unit, of_block);
	}
	double issue = x->issued * t->blocks.warp / t->core.decode; /* each thread's instruction counts */
	double cycles[] = { x->multiply * blocks, issue * blocks, x->near * blocks, unit * blocks, memory * blocks * units,
		x->latency };
	return overlap(cycles, 6);
}

static double launch_cycles(const Launch *x, const Target *t)
{
	double units = t->cores > 0 ? t->cores : 1, resident = target_resident_blocks(t, x->threads, x->shared, x->regs);
	resident = fmax(resident, 1);
	double full = floor(x->blocks / (units * resident)), rest = x->blocks - full * units * resident;
	double cycles = full > 0 ? full * wave(x, t, resident, units) : 0;
	if (rest > 0)
		cycles += wave(x, t, ceil(rest / units), fmin(rest, units));
	return COST_START + cycles;
}

/* ---- a core for each block ---- */

static double core_cycles(const Walk *w, double blocks, const Target *t)
{
	double cores = fmin(t->cores > 0 ? t->cores : 1, blocks), rounds = ceil(blocks / cores);
	double cycles[TARGET_CACHES + 1] = { w->sum.cycles / blocks * rounds };
	for (int k = 0; k < TARGET_CACHES; k++)
		cycles[k + 1] = w->sum.bytes[k] / target_rate_beyond(t, k + 1) /
			(target_cache(t, k + 2) == 0 ? t->cores : cores); /* all cores share the memory */
	return COST_CALL * rounds + overlap(cycles, TARGET_CACHES + 1);
}

/* ---- a Fn ---- */

static bool is_bound(const Stmt *s, void *arg)
{
	(void)arg;
	return ir_axis_of(s, NULL) != AXIS_NONE;
}

static void note_tensor(const IrUse *use, void *arg)
{
	Walk *w = arg;
	const NestBuf *b = nest_buf(&w->nest, use->buf);
	if (b == NULL || w->launch->used[b - w->nest.buf])
		return;
	w->launch->used[b - w->nest.buf] = true;
	w->launch->tensors++;
}

/* Constants are cold in every run: the rest of the network has passed through the caches since the last one. */
static double constant_bytes(Walk *w)
{
	double bytes = 0;
	for (int k = 0; k < w->nest.nbuf; k++)
		if (w->launch->used[k] && w->nest.buf[k].buf->role == BUF_CONST)
			bytes += walk_cold_bytes(w, k);
	return bytes;
}

static double kernel_ns(Walk *w, const Stmt *s)
{
	const Target *t = w->target;
	Stmt one = *s;
	one.next = NULL;
	Launch x = launch_of(&w->nest, &one, t);
	w->launch = &x;
	w->sum = (CostSum){ 0 };
	ir_each_use(&one, note_tensor, w);
	memset(w->picked, 0, sizeof w->picked);
	walk_one(w, s);
	double constants = constant_bytes(w);
	double *bytes = target_has_warps(t) ? x.bytes : w->sum.bytes;
	for (int k = 0; k < TARGET_CACHES && t->cache[k].bytes != 0; k++)
		bytes[k] = fmax(bytes[k], constants);
	double ns = (target_has_warps(t) ? launch_cycles(&x, t) : core_cycles(w, x.blocks, t)) / t->core.ghz;
	if (w->tally != NULL) {
		w->tally->constants += constants;
		w->tally->code += w->sum.code;
		tally_launch(w->tally, &x, t, bytes, ns);
	}
	return ns;
}

double grid_set_ns(const KernelSet *ks, const Target *t, Tally *tally)
{
	static const WalkCosts warps = { warp_cost, warp_other_cost };
	double ns = 0;
	for (size_t i = 0; i < ks->n; i++) {
		const Fn *fn = ks->fn[i];
		if (fn->kind != FN_RUN)
			continue;
		Walk w = walk_begin(ks, fn, t, target_has_warps(t) ? &warps : &leaf_costs);
		w.tally = tally;
		if (tally != NULL)
			tally->fns++;
		bool alone = false; /* a launch of statements without bound loops is open */
		for (const Stmt *s = fn->body; s != NULL; s = s->next) {
			if (s->kind == ST_LET || s->kind == ST_ALLOC)
				walk_one(&w, s);
			if (s->kind == ST_LET || s->kind == ST_ALLOC || s->kind == ST_BARRIER)
				continue;
			bool bound = is_bound(s, NULL) || ir_find_below(s, is_bound, NULL) != NULL;
			ns += bound || !alone ? t->blocks.launch_ns : 0;
			ns += kernel_ns(&w, s);
			alone = !bound;
		}
	}
	return fmax(ns, 1);
}
