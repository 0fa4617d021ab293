/* See outcome.h. */
#include "tuner/outcome.h"

#include "tuner/tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Outcome *outcome_find(const OutcomeSet *s, const char *trace)
{
	uint32_t hash = (uint32_t)map_hash_bytes(trace, strlen(trace));
	for (uint32_t at = hash, k; (k = map_next(&s->index, hash, &at)) != MAP_NONE;)
		if (strcmp(s->at.at[k].trace, trace) == 0)
			return &s->at.at[k];
	return NULL;
}

Outcome *outcome_add(OutcomeSet *s, const char *trace, double ns, bool reused)
{
	size_t n = strlen(trace);
	Arena *a = s->index.arena;
	Outcome x = { .trace = arena_copy(a, trace, n + 1), .ns = ns, .reused = reused, .err_e9 = -1 };
	vec_push(a, &s->at, x);
	map_index_add(&s->index, (uint32_t)map_hash_bytes(trace, n));
	return &s->at.at[s->at.n - 1];
}

double outcome_scatter(int64_t median_ns, int64_t mad_ns, int64_t samples)
{
	static const double normal = 1.4826 * 1.2533; /* a standard deviation by such a distance; of a median by it */
	return samples > 0 && median_ns > 0
	           ? fmax(TUNE_RACE_SCATTER, normal * (double)mad_ns / ((double)median_ns * sqrt((double)samples)))
	           : TUNE_SCATTER;
}

static int by_time(const void *pa, const void *pb)
{
	const Outcome *a = *(const Outcome *const *)pa, *b = *(const Outcome *const *)pb;
	return a->ns != b->ns ? (a->ns > b->ns) - (a->ns < b->ns) : strcmp(a->trace, b->trace);
}

int outcome_ranked(const OutcomeSet *s, Arena *a, Outcome ***out)
{
	VEC(Outcome *) ran = { 0 };
	for (size_t i = 0; i < s->at.n; i++)
		if (s->at.at[i].ns > 0)
			vec_push(a, &ran, &s->at.at[i]);
	if (ran.n > 1)
		qsort(ran.at, ran.n, sizeof *ran.at, by_time);
	*out = ran.at;
	return (int)ran.n;
}
