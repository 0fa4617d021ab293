/*
 * Random search: the template's own default first, then configs drawn without repetition.  The
 * base line every other strategy has to beat.
 */
#include "tuner/configs.h"
#include "tuner/search.h"

#include <string.h>

typedef struct Random {
	Space *space;
	ConfigSet asked;
	Rng rng;
} Random;

static void *open_random(Arena *a, Space *space, SearchCost cost, const Effort *effort, Rng rng)
{
	Random *s = arena_new_of(a, Random);
	(void)cost;
	(void)effort;
	*s = (Random){ .space = space, .asked = CONFIGS_OF(a), .rng = rng };
	return s;
}

static bool note(Random *s, const Config *c)
{
	bool fresh;
	config_set_add(&s->asked, c, &fresh);
	return fresh;
}

/* After many draws in a row that were all known, the next unknown config behind the last. */
static bool next_unknown(Random *s, Config *c)
{
	for (double tried = 0; tried < space_size(s->space); tried++) {
		space_next(s->space, c);
		if (note(s, c))
			return true;
	}
	return false;
}

static int ask_random(void *state, Config *out, int n)
{
	enum { DRAWS = 64 };
	Random *s = state;
	int got = 0;
	while (got < n && (double)s->asked.at.n < space_size(s->space)) {
		Config c = s->asked.at.n == 0 ? s->space->first : space_sample(s->space, &s->rng);
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
	note(state, &c); /* what is known already is not asked again */
	(void)ns;
}

const Search search_random = { "random", "the default, then configs drawn without repetition", open_random,
	ask_random, NULL, tell_random, NULL, NULL };
