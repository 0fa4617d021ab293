/*
 * Traffic of one statement. For each cache there is an outermost loop whose accesses all fit into the cache. Their
 * footprint comes from beyond the cache once in each iteration of the loops outside it; a buffer that does not move
 * along the next outer loop stays. What fits into a cache as a whole is there already: its producer ran just before.
 */
#include "cost_model/traffic.h"

#include "cost_model/cost.h"

#include <stdlib.h>

/* From small to large strides; equal ones stay in their order. */
static void sort_by_stride(Run *run, int count)
{
	for (int i = 1; i < count; i++) {
		Run x = run[i];
		int k = i;
		for (; k > 0 && run[k - 1].stride > x.stride; k--)
			run[k] = run[k - 1];
		run[k] = x;
	}
}

/*
 * Strides are taken from small to large: a stride within the contiguous run so far, or below `apart` bytes, lengthens
 * the run, a larger one makes copies of it.
 */
static double copies_of(Run *run, int count, int bytes_each, int line, int apart, double *length)
{
	double copies = 1;
	sort_by_stride(run, count);
	*length = 1;
	for (int i = 0; i < count; i++) {
		double step = (double)run[i].stride * bytes_each;
		if (copies == 1 && (step < apart || step <= *length * bytes_each + line))
			*length += (double)run[i].stride * (double)(run[i].n - 1);
		else
			copies *= (double)run[i].n;
	}
	return copies;
}

double traffic_footprint(Run *run, int count, int64_t elements, int bytes_each, int line)
{
	double length, copies = copies_of(run, count, bytes_each, line, 0, &length);
	double bytes = length * bytes_each, all = (double)elements * bytes_each;
	bytes = copies * (bytes < line ? line : bytes);
	return bytes < all + line ? bytes : all + line;
}

/* Of the loops [from, nloop); how many. */
static int runs_of(const CostNest *n, const Stream *m, int from, Run run[NEST_LOOPS])
{
	int count = 0;
	for (int l = from; l < n->nloop; l++)
		if (m->stride[l] != 0 && n->loop[l].n > 1)
			run[count++] = (Run){ llabs(m->stride[l]), n->loop[l].n };
	return count;
}

double traffic_stream(const CostNest *n, const Stream *m, int from, int line)
{
	Run run[NEST_LOOPS];
	int count = runs_of(n, m, from, run);
	return traffic_footprint(run, count, m->elements, m->bytes, line);
}

double traffic_runs(const CostNest *n, const Stream *m, int from, int line, int apart)
{
	Run run[NEST_LOOPS];
	double length;
	int count = runs_of(n, m, from, run);
	return copies_of(run, count, m->bytes, line, apart, &length);
}

double traffic_streams(const CostNest *n, const Stream *m, int count, int from, int line)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum += traffic_stream(n, &m[i], from, line);
	return sum;
}

void traffic_of(const CostNest *n, const Stream *m, int count, const Target *t, double out[TARGET_CACHES])
{
	double inside[NEST_LOOPS]; /* bytes of all streams in loops [k, nloop), of the loops from `known` on */
	int known = n->nloop;
	for (int level = 0; level < TARGET_CACHES; level++) {
		double room = (double)t->cache[level].bytes * COST_FITS;
		int from = n->nloop;
		out[level] = 0;
		if (t->cache[level].bytes == 0)
			continue;
		for (; from > 0; from--) {
			if (from == known) {
				known--;
				inside[known] = traffic_streams(n, m, count, known, t->line_bytes);
			}
			if (inside[from - 1] > room)
				break;
		}
		if (from == 0)
			continue; /* all of it fits, and is there already */
		for (int i = 0; i < count; i++) {
			double times = 1;
			bool stays = true; /* outwards, while the address does not move */
			for (int l = from - 1; l >= 0; l--) {
				stays = stays && m[i].stride[l] == 0;
				times *= stays ? 1 : (double)n->loop[l].n;
			}
			out[level] += traffic_stream(n, &m[i], from, t->line_bytes) * times * (m[i].writes && !m[i].once ? 2 : 1);
		}
	}
}
