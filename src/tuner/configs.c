/* See configs.h: open addressing, at most half full. */
#include "tuner/configs.h"

#include <string.h>

enum { FIRST_CAP = 256 };

static uint64_t hash_config(const Config *c)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (int i = 0; i < KNOBS; i++)
		h = (h ^ c->pick[i]) * 0x100000001b3u;
	return h ^ h >> 29;
}

static uint32_t *find(ConfigSet *s, const Config *c)
{
	for (size_t i = (size_t)hash_config(c) & (s->cap - 1);; i = (i + 1) & (s->cap - 1))
		if (s->slot[i] == 0 || memcmp(&s->at.at[s->slot[i] - 1], c, sizeof *c) == 0)
			return &s->slot[i];
}

static void grow(ConfigSet *s)
{
	s->cap = s->cap == 0 ? FIRST_CAP : s->cap * 2;
	s->slot = arena_array(s->arena, uint32_t, s->cap);
	for (size_t i = 0; i < s->at.n; i++)
		*find(s, &s->at.at[i]) = (uint32_t)i + 1;
}

uint32_t config_set_add(ConfigSet *s, const Config *c, bool *fresh)
{
	if (s->at.n * 2 >= s->cap)
		grow(s);
	uint32_t *at = find(s, c);
	*fresh = *at == 0;
	if (*fresh) {
		vec_push(s->arena, &s->at, *c);
		*at = (uint32_t)s->at.n;
	}
	return *at - 1;
}
