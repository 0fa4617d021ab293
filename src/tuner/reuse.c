/* See reuse.h: open addressing, at most half full. */
#include "tuner/reuse.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 64 };

uint64_t known_hash(const char *trace)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *trace != 0; trace++)
		h = (h ^ (unsigned char)*trace) * 0x100000001b3u;
	return h ^ h >> 32;
}

static uint32_t *slot_of(const KnownSet *s, const char *trace, uint64_t hash)
{
	for (size_t i = (size_t)hash & (s->cap - 1);; i = (i + 1) & (s->cap - 1)) {
		const Known *k = s->slot[i] != 0 ? &s->at.at[s->slot[i] - 1] : NULL;
		if (k == NULL || (k->hash == hash && strcmp(k->trace, trace) == 0))
			return &s->slot[i];
	}
}

Known *known_find(const KnownSet *s, const char *trace)
{
	uint32_t i = s->cap != 0 ? *slot_of(s, trace, known_hash(trace)) : 0;
	return i != 0 ? &s->at.at[i - 1] : NULL;
}

static void grow(KnownSet *s)
{
	s->cap = s->cap == 0 ? FIRST_CAP : s->cap * 2;
	s->slot = arena_array(s->arena, uint32_t, s->cap);
	for (size_t i = 0; i < s->at.n; i++)
		*slot_of(s, s->at.at[i].trace, s->at.at[i].hash) = (uint32_t)i + 1;
}

Known *known_add(KnownSet *s, const char *trace, double ns, bool reused)
{
	if (s->at.n * 2 >= s->cap)
		grow(s);
	Known k = { arena_copy(s->arena, trace, strlen(trace) + 1), known_hash(trace), ns, reused, -1, false };
	vec_push(s->arena, &s->at, k);
	*slot_of(s, trace, k.hash) = (uint32_t)s->at.n;
	return &s->at.at[s->at.n - 1];
}

static int by_time(const void *pa, const void *pb)
{
	const Known *a = *(const Known *const *)pa, *b = *(const Known *const *)pb;
	return a->ns != b->ns ? (a->ns > b->ns) - (a->ns < b->ns) : strcmp(a->trace, b->trace);
}

int known_ranked(const KnownSet *s, Arena *a, Known ***out)
{
	VEC(Known *) ran = { 0 };
	for (size_t i = 0; i < s->at.n; i++)
		if (s->at.at[i].ns > 0)
			vec_push(a, &ran, &s->at.at[i]);
	if (ran.n > 1)
		qsort(ran.at, ran.n, sizeof *ran.at, by_time);
	*out = ran.at;
	return (int)ran.n;
}
