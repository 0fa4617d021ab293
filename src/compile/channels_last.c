/*
 * Chooses NHWC, region by region, for targets with matrix units. Their convolutions copy the channels of a pixel
 * together there; other kernels may be faster with pixels side by side. So estimates of default schedules decide: all
 * regions row-major or all NHWC, whichever is faster; then each region alone takes the other layout where that is
 * faster. A Task may read one layout and write another, so the edge of a region costs no call.
 *
 * Records do not decide: they name Tasks of one layout each. Left out: blocks of channels (NCHWc) on such targets, and
 * two regions that would gain only together.
 */
#include "compile/net_estimate.h"
#include "graph/layouts.h"

#include <string.h>

typedef struct Layouts {
	Arena *arena; /* their own */
	Dag *dag;
	NetEstimate estimate;
	int *region;
} Layouts;

/* The network with these regions in NHWC. */
static bool time_of(Layouts *l, const bool *last, double *ms, Err *err)
{
	graph_channels_last(l->dag, l->region, last);
	return net_estimate_ms(&l->estimate, l->dag, ms, err);
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
	Layouts l = { .arena = a, .dag = d };
	l.region = arena_array(a, int, d->value.n + 1);
	int n = graph_matrix_regions(d, t, l.region);
	bool ok = true;
	if (n > 0) {
		l.estimate = net_estimate_open(a, t);
		ok = choose(&l, n, err);
	}
	arena_free(a);
	return ok;
}
