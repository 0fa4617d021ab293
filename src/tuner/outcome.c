/* See outcome.h. */
#include "tuner/outcome.h"

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
