/*
 * Random search: the template's own default first, then configs drawn without repetition.  The
 * base line every other strategy has to beat.
 */
#include "tuner/tuner.h"

#include <string.h>

typedef struct Seen {
	const Space *space;
	Arena *arena;
	Rng rng;
	VEC(Config) asked;
	uint32_t *slot; /* hash table over asked: index + 1 */
	size_t cap;
} Seen;

static uint64_t hash_config(const Config *c)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (int i = 0; i < KNOBS; i++)
		h = (h ^ c->pick[i]) * 0x100000001b3u;
	return h;
}

static uint32_t *find(Seen *s, const Config *c)
{
	for (size_t i = (size_t)hash_config(c) & (s->cap - 1);; i = (i + 1) & (s->cap - 1))
		if (s->slot[i] == 0 || memcmp(&s->asked.at[s->slot[i] - 1], c, sizeof *c) == 0)
			return &s->slot[i];
}

/* False if c was asked before. */
static bool note(Seen *s, const Config *c)
{
	uint32_t *at = find(s, c);
	if (*at != 0)
		return false;
	vec_push(s->arena, &s->asked, *c);
	*at = (uint32_t)s->asked.n;
	if (s->asked.n * 2 > s->cap) {
		s->cap *= 2;
		s->slot = arena_array(s->arena, uint32_t, s->cap);
		for (size_t i = 0; i < s->asked.n; i++)
			*find(s, &s->asked.at[i]) = (uint32_t)i + 1;
	}
	return true;
}

static void *open_random(Arena *a, const Space *space, Rng rng)
{
	Seen *s = arena_new_of(a, Seen);
	*s = (Seen){ .space = space, .arena = a, .rng = rng, .cap = 256 };
	s->slot = arena_array(a, uint32_t, s->cap);
	return s;
}

/* After many draws in a row that were all known, the next unknown config in mixed-radix order. */
static bool next_unknown(Seen *s, Config *c)
{
	for (double tried = 0; tried < space_size(s->space); tried++) {
		int k = 0;
		while (k < s->space->n && ++c->pick[k] == s->space->knob[k].n)
			c->pick[k++] = 0;
		if (note(s, c))
			return true;
	}
	return false;
}

static int ask_random(void *state, Config *out, int n)
{
	enum { DRAWS = 64 };
	Seen *s = state;
	int got = 0;
	while (got < n && (double)s->asked.n < space_size(s->space)) {
		Config c = s->asked.n == 0 ? s->space->first : space_sample(s->space, &s->rng);
		bool fresh = note(s, &c);
		for (int i = 0; !fresh && i < DRAWS; i++) {
			c = space_sample(s->space, &s->rng);
			fresh = note(s, &c);
		}
		if (!fresh && !next_unknown(s, &c))
			break;
		out[got++] = c;
	}
	return got;
}

static void tell_random(void *state, Config c, double ns)
{
	note(state, &c); /* what the database knows already is not asked again */
	(void)ns;
}

const Search search_random = { "random", "the default, then configs drawn without repetition", open_random,
	ask_random, tell_random };

const Search *const searches[] = { &search_random, NULL };
