/*
 * The analytic cost model: an estimate that needs no data. A walk over the scheduled Fn keeps the loops and conditions
 * around; each store and reduction adds its cycles (leaf.c) and its traffic between the caches (traffic.c), which
 * mostly overlaps with the cycles. Rates come from Target.core. The order of schedules matters more than the times.
 * Devices that run blocks of threads have an estimate of their own (grid.c). Left out: misses of the TLB, and what
 * several statements share.
 */
#include "cost_model/cost_model.h"

#include "cost_model/cost.h"
#include "cost_model/estimate.h"
#include "cost_model/grid.h"
#include "cost_model/leaf.h"
#include "cost_model/tally.h"

#include <math.h>

/* The largest of the cycles and of each level's traffic, plus some of the rest. */
static double together(const CostSum *s, const Target *t)
{
	double code = s->code > COST_CODE ? s->cycles * COST_UNCACHED : 0, most = s->cycles + code, sum = most;
	for (int k = 0; k < TARGET_CACHES; k++) {
		double cycles = s->bytes[k] / target_rate_beyond(t, k + 1);
		most = fmax(most, cycles);
		sum += cycles;
	}
	return most + COST_HIDDEN * (sum - most);
}

static double core_set_ns(const KernelSet *ks, const Target *target, Tally *tally)
{
	double cycles = 1;
	for (size_t i = 0; i < ks->n; i++) {
		const Fn *fn = ks->fn[i];
		if (fn->kind != FN_RUN)
			continue;
		Walk w = walk_begin(ks, fn, target, &leaf_costs);
		w.tally = tally;
		walk_list(&w, fn->body);
		/* Constants are cold in every run: the rest of the network has passed through the caches since the last one. */
		double constants = 0;
		for (int k = 0; k < w.nest.nbuf; k++)
			if (w.nest.buf[k].buf->role == BUF_CONST)
				constants += walk_cold_bytes(&w, k);
		for (int level = 0; level < TARGET_CACHES && target->cache[level].bytes != 0; level++)
			w.sum.bytes[level] = fmax(w.sum.bytes[level], constants);
		if (tally != NULL)
			tally_fn(&w, fn, constants);
		cycles += COST_CALL + together(&w.sum, target);
	}
	return cycles / target->core.ghz;
}

double estimate_set_ns(const KernelSet *ks, const Target *target, Tally *tally)
{
	return target_has_blocks(target) ? grid_set_ns(ks, target, tally) : core_set_ns(ks, target, tally);
}

/* ---- the row: its state is the Target ---- */

static void *open_analytic(Arena *a, const Target *target, const char *path, Err *err)
{
	if (path != NULL)
		return fail(err, ERR_USAGE, path, "the cost model analytic reads no file"), NULL;
	Target *t = arena_new_of(a, Target);
	*t = *target;
	return t;
}

static void estimate_analytic(const void *state, const CostCandidate *x, int n, double *ns)
{
	const Target *t = state;
	for (int i = 0; i < n; i++)
		ns[i] = estimate_set_ns(x[i].ks, t, NULL);
}

const CostModel cost_analytic = { .name = "analytic",
	.doc = "arithmetic, registers, accesses and traffic of a scheduled Fn",
	.open = open_analytic,
	.estimate = estimate_analytic };
