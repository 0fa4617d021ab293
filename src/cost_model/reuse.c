/*
 * See reuse.h. A unit's L1 keeps what its resident blocks read again: the threads of a block are at one iteration of
 * their serial loops together, so what they touch is counted from the threads outwards. L2 is that of all units: there
 * the blocks that run at once are together as well, neighbours along the grid's x first. What one of them has read,
 * another finds there. Left out: blocks that share a unit and read the same, and blocks that run ahead.
 */
#include "cost_model/reuse.h"

#include "cost_model/cost.h"
#include "cost_model/leaf.h"

#include <math.h>
#include <stdlib.h>

/* Where the steps from `step` to step on cease to be equal: iterations of the run; n: never. */
static int64_t run_length(CostNest *n, const Access *a, const Buf *b, int l, int64_t step, int64_t base)
{
	int64_t all = n->loop[l].n / step, at, first = 0, good = 1, bad = all;
	for (int64_t k = 1; k < all; k = k * 2 < all ? k * 2 : k < all - 1 ? all - 1 : all) {
		nest_set_loop(n, l, k * step);
		if (!nest_address(n, a, b, &at))
			return 0;
		first = k == 1 ? at - base : first;
		if (at - base != first * k) {
			bad = k;
			break;
		}
		good = k;
	}
	if (bad == all)
		return all;
	while (bad - good > 1) {
		int64_t k = good + (bad - good) / 2;
		nest_set_loop(n, l, k * step);
		bool even = nest_address(n, a, b, &at) && at - base == first * k;
		good = even ? k : good;
		bad = even ? bad : k;
	}
	return bad;
}

bool reuse_flow(CostNest *n, const Access *a, const Buf *b, Flow *out)
{
	int64_t base, at;
	if (a->n != b->rank || !nest_address(n, a, b, &base))
		return false;
	for (int l = 0; l < n->nloop; l++) {
		int64_t step = 1;
		out->along[l].n = 0;
		for (int k = 0; k < RUNS && step < n->loop[l].n; k++) {
			int64_t length = run_length(n, a, b, l, step, base);
			nest_set_loop(n, l, step);
			if (length == 0 || !nest_address(n, a, b, &at)) {
				nest_set_loop(n, l, 0);
				return false;
			}
			out->along[l].run[out->along[l].n++] = (Run){ at - base, length };
			step *= length;
		}
		nest_set_loop(n, l, 0);
	}
	out->elements = nest_elements(n, b);
	out->bytes = (b->type.bits + 7) / 8;
	return true;
}

/* A loop, or the part of one whose iterations lie `step` apart. */
typedef struct Level {
	int loop;
	int64_t step, n;
} Level;

typedef struct Levels {
	int n;
	Level at[NEST_LOOPS + THREAD_AXES]; /* from inside to outside */
} Levels;

static void add_level(Levels *v, int loop, int64_t step, int64_t n)
{
	if (n > 1)
		v->at[v->n++] = (Level){ loop, step, n };
}

/* The runs of a flow along one level; how many. */
static int runs_along(const CostNest *n, const Flow *f, const Level *v, Run *out)
{
	int count = 0;
	if (v->n == n->loop[v->loop].n) { /* all of it */
		for (int k = 0; k < f->along[v->loop].n; k++)
			if (f->along[v->loop].run[k].stride != 0)
				out[count++] = (Run){ llabs(f->along[v->loop].run[k].stride), f->along[v->loop].run[k].n };
	} else if (f->along[v->loop].n > 0 && f->along[v->loop].run[0].stride != 0) {
		out[count++] = (Run){ llabs(f->along[v->loop].run[0].stride) * v->step, v->n };
	}
	return count;
}

/* What the flow touches in all iterations of the innermost levels. */
static double footprint(const CostNest *n, const Flow *f, const Levels *v, int levels)
{
	Run run[(NEST_LOOPS + THREAD_AXES) * RUNS];
	int count = 0;
	for (int k = 0; k < levels; k++)
		count += runs_along(n, f, &v->at[k], run + count);
	return traffic_footprint(run, count, f->elements, f->bytes, COST_SECTOR);
}

/*
 * Bytes that pass into a cache with so much room. The levels [0, together) pass at once. Farther out, what an
 * iteration reads again is still there if it all fits.
 */
static double into(const CostNest *n, const Flow *flow, int count, const Levels *v, int together, double room)
{
	double bytes = 0;
	int from = together;
	for (double sum = 0; from < v->n; from++, sum = 0) {
		for (int i = 0; i < count; i++)
			sum += footprint(n, &flow[i], v, from + 1);
		if (sum > room)
			break;
	}
	for (int i = 0; i < count; i++) {
		Run run[RUNS];
		double times = 1;
		bool stays = true; /* outwards, while the address does not move */
		for (int k = from; k < v->n; k++) {
			stays = stays && runs_along(n, &flow[i], &v->at[k], run) == 0;
			times *= stays ? 1 : (double)v->at[k].n;
		}
		bytes += footprint(n, &flow[i], v, from) * times;
	}
	return bytes;
}

void reuse_traffic(const Walk *w, const Flow *flow, int count, double out[TARGET_CACHES])
{
	const CostNest *n = &w->nest;
	const Target *t = w->target;
	const Launch *x = w->launch;
	Levels v = { 0 }, own;
	double at_once = fmin(x->blocks, (double)t->cores * x->resident);
	for (int k = 0; k < TARGET_CACHES; k++)
		out[k] = 0;
	for (int l = 0; l < n->nloop; l++)
		if (n->loop[l].axis == AXIS_BLOCK || leaf_is_straight(n->loop[l].kind))
			add_level(&v, l, 1, n->loop[l].n);
	int threads = v.n;
	for (int l = n->nloop - 1; l >= 0; l--)
		if (n->loop[l].axis != AXIS_BLOCK && n->loop[l].axis != AXIS_GRID && !leaf_is_straight(n->loop[l].kind))
			add_level(&v, l, 1, n->loop[l].n);
	out[0] = into(n, flow, count, &v, threads, (double)t->cache[0].bytes * COST_FITS / x->resident) * x->blocks;
	/* Of all units: the blocks that run at once stand between the threads and their loops, the waves around all. */
	own = v;
	v.n = threads;
	int64_t inner[NEST_LOOPS] = { 0 };
	for (int axis = 0; axis < THREAD_AXES; axis++)
		for (int l = 0; l < n->nloop; l++)
			if (n->loop[l].axis == AXIS_GRID && n->loop[l].dim == axis) {
				inner[l] = (int64_t)fmax(fmin((double)n->loop[l].n, at_once), 1);
				at_once = ceil(at_once / (double)inner[l]);
				add_level(&v, l, 1, inner[l]);
			}
	int together = v.n;
	for (int k = threads; k < own.n; k++)
		v.at[v.n++] = own.at[k];
	for (int l = 0; l < n->nloop; l++)
		if (inner[l] > 0)
			add_level(&v, l, inner[l], (n->loop[l].n + inner[l] - 1) / inner[l]);
	for (int k = 1; k < TARGET_CACHES && t->cache[k].bytes > 0; k++) {
		double room = (double)t->cache[k].bytes * COST_FITS, all = 0;
		for (int i = 0; i < count; i++)
			all += footprint(n, &flow[i], &v, v.n);
		out[k] = all <= room ? 0 : into(n, flow, count, &v, together, room); /* else it is there already */
	}
}
