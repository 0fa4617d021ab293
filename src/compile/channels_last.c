/*
 * Chooses NHWC, region by region, for targets with matrix units. Their convolutions copy the channels of a pixel
 * together there; other kernels may be faster with pixels side by side. So estimates of default schedules decide: all
 * regions row-major or all NHWC, whichever is faster; then each region alone takes the other layout where that is
 * faster. A Task may read one layout and write another, so the edge of a region costs no call.
 *
 * Records do not decide: they name Tasks of one layout each. Left out: blocks of channels (NCHWc) on such targets, and
 * two regions that would gain only together.
 */
#include "compile/choose.h"
#include "graph/layouts.h"

#include <string.h>

typedef struct Layouts {
	Arena *arena; /* their own */
	Dag *dag;
	const Target *target;
	Cost cost;
	int *region;
	Map ms; /* of Tasks, by their texts */
} Layouts;

/* A Task's default by the estimate. */
static bool estimate(Layouts *l, const Task *task, double *ms, Err *err)
{
	MapEntry *e = map_find_text(&l->ms, task->text);
	if (e == NULL) {
		Arena *a = arena_new();
		TaskPlan plan;
		CompileOptions o = { .target = l->target, .cost = &l->cost };
		bool ok = compile_default(ir_new(a), task, &o, &plan, "estimated", err) != NULL;
		arena_free(a);
		if (!ok)
			return false;
		double *at = arena_new_of(l->arena, double);
		*at = plan.estimated_ms;
		e = map_add_text(&l->ms, task->text);
		e->ptr = at;
	}
	*ms = *(double *)e->ptr;
	return true;
}

/* The network with these regions in NHWC. */
static bool time_of(Layouts *l, const bool *last, double *ms, Err *err)
{
	Arena *a = arena_new();
	graph_channels_last(l->dag, l->region, last);
	Partition *p = graph_partition(a, l->dag, err);
	bool ok = p != NULL;
	*ms = 0;
	for (int k = 0; ok && k < p->ntask; k++) {
		double one = 0;
		ok = estimate(l, p->task[k], &one, err);
		*ms += one * p->task[k]->weight;
	}
	arena_free(a);
	return ok;
}

static bool choose(Layouts *l, int n, Err *err)
{
	bool *last = arena_array(l->arena, bool, n);
	double best, all;
	if (!time_of(l, last, &best, err))
		return false;
	memset(last, true, sizeof *last * (size_t)n);
	if (!time_of(l, last, &all, err))
		return false;
	if (all < best)
		best = all;
	else
		memset(last, false, sizeof *last * (size_t)n);
	for (int r = 0; r < n; r++) {
		double other;
		last[r] = !last[r];
		if (!time_of(l, last, &other, err))
			return false;
		if (other < best)
			best = other;
		else
			last[r] = !last[r];
	}
	graph_channels_last(l->dag, l->region, last);
	return true;
}

bool compile_channels_last(Dag *d, const Target *t, Err *err)
{
	Arena *a = arena_new();
	Layouts l = { .arena = a, .dag = d, .target = t, .ms = MAP_OF(a) };
	l.region = arena_array(a, int, d->value.n + 1);
	int n = graph_matrix_regions(d, t, l.region);
	bool ok = true;
	if (n > 0) {
		l.cost = cost_or_first(NULL, a, t);
		ok = choose(&l, n, err);
	}
	arena_free(a);
	return ok;
}
