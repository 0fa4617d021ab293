/*
 * Grid search: the template's own default first, then the configs in the order of the space, to its end. It measures
 * a small space completely, and a part of a large one.
 */
#include "tuner/configs.h"
#include "tuner/search.h"

typedef struct Grid {
	Space *space;
	ConfigSet asked;
	Config next;
	bool begun, over; /* the first config was reached; the last one was */
} Grid;

static void *open_grid(Arena *a, Space *space, SearchCost cost, const Effort *effort, Rng rng)
{
	Grid *s = arena_new_of(a, Grid);
	(void)cost;
	(void)effort;
	(void)rng;
	*s = (Grid){ .space = space, .asked = CONFIGS_OF(a), .next = space->first };
	return s;
}

static void step(Grid *s)
{
	if (s->begun)
		s->over = !space_next(s->space, &s->next);
	else
		s->next = space_begin(s->space);
	s->begun = true;
}

static int ask_grid(void *state, Config *out, int n)
{
	Grid *s = state;
	int got = 0;
	for (; got < n && !s->over; step(s)) {
		bool fresh;
		config_set_add(&s->asked, &s->next, &fresh);
		if (fresh)
			out[got++] = s->next;
	}
	return got;
}

static void tell_grid(void *state, Config c, double ns)
{
	bool fresh;
	config_set_add(&((Grid *)state)->asked, &c, &fresh); /* what is known already is not asked again */
	(void)ns;
}

const Search search_grid = { "grid", "the default, then all configs in the order of the space", open_grid, ask_grid,
	NULL, tell_grid, NULL, NULL };
