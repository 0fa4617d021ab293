/*
 * Several sources propose, and whoever proposed good schedules is asked more often. The default first; then a draw
 * decides which source gives the next candidate: each source has the odds of its proposals that came within
 * TUNE_CLOSE_CALL of the best (Thompson's draw from a Beta distribution, of which old proposals fade). All sources
 * propose from one pool of estimated schedules, which begins with a sample of the space and what is near the best
 * estimates of it, and grows by the neighbours of what was fast. So schedules that are the same are one.
 *
 * It is done when proposals of some rounds brought nothing and the surrogate expects nothing of the rest.
 */
#include "tuner/surrogate.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Portfolio Portfolio;

/* Proposes a point that may be asked; false: none now. */
typedef struct Source {
	const char *name;
	bool (*propose)(Portfolio *s, uint32_t *i);
} Source;

enum { SOURCES = 5 };

struct Portfolio {
	Pool pool;
	const Effort *effort;
	Rng rng;
	Numbers known;        /* points to propose from */
	Numbers hints;
	size_t hint_head;
	bool begun, ranked, over;
	int64_t grown;        /* the best point whose neighbours are known */
	Map from;             /* asked points, to the number of their source */
	double good[SOURCES], bad[SOURCES]; /* proposals, faded */
	int fruitless;        /* told since the best became better */
	double mark;          /* the best time by which that is judged */
};

/* ---- the pool grows ---- */

static void rank_space(Portfolio *s)
{
	double size = space_size(s->pool.space);
	bool all = size <= s->effort->sample * TUNE_WHOLE;
	size_t drawn = all ? (size_t)size : (size_t)s->effort->sample;
	Arena *scratch = arena_new();
	Config *config = arena_array(scratch, Config, drawn + 1), c = space_begin(s->pool.space);
	for (size_t i = 0; i < drawn; i++) {
		config[i] = all ? c : space_sample(s->pool.space, &s->rng);
		if (all)
			space_next(s->pool.space, &c);
	}
	config[drawn] = s->pool.space->first;
	pool_add_all(&s->pool, config, drawn + 1, &s->known);
	arena_free(scratch);
	pool_sort(&s->pool, &s->known);
	for (int round = 0; round < TUNE_BEAM_ROUNDS && !all; round++) {
		size_t n = s->known.n < TUNE_BEAM ? s->known.n : TUNE_BEAM;
		uint32_t top[TUNE_BEAM];
		memcpy(top, s->known.at, n * sizeof *top);
		for (size_t i = 0; i < n; i++)
			pool_add_neighbours(&s->pool, top[i], &s->known);
		pool_sort(&s->pool, &s->known);
	}
	s->ranked = true;
}

static void grow(Portfolio *s)
{
	if (!s->ranked)
		rank_space(s);
	if (s->pool.best != POOL_NONE && s->grown != s->pool.best) {
		s->grown = s->pool.best;
		pool_add_neighbours(&s->pool, (uint32_t)s->grown, &s->known);
	}
	pool_refresh(&s->pool, s->known.at, s->known.n);
	pool_sort(&s->pool, &s->known);
}

/* ---- sources ---- */

/* The best estimate that lies at least two knobs from what is under way. */
static bool by_estimate(Portfolio *s, uint32_t *i)
{
	for (int apart = 2; apart >= 1; apart--)
		for (size_t k = 0; k < s->known.n; k++) {
			uint32_t x = s->known.at[k];
			bool near = !pool_open(&s->pool, x);
			for (size_t m = s->pool.asked.n; m-- > 0 && !near && s->pool.asked.n - m <= TUNE_IN_FLIGHT;)
				near = pool_distance(&s->pool, x, s->pool.asked.at[m]) < apart;
			if (!near) {
				*i = x;
				return true;
			}
		}
	return false;
}

/* The neighbour of the best with the best estimate. */
static bool by_move(Portfolio *s, uint32_t *i)
{
	for (size_t k = 0; k < s->known.n && s->pool.best != POOL_NONE; k++)
		if (pool_open(&s->pool, s->known.at[k]) && pool_distance(&s->pool, s->known.at[k], (uint32_t)s->pool.best) == 1) {
			*i = s->known.at[k];
			return true;
		}
	return false;
}

/* The child with the best estimate of the best and others that were fast. */
static bool by_crossing(Portfolio *s, uint32_t *i)
{
	Numbers parents = { 0 }, children = { 0 };
	Config c[TUNE_CHILDREN];
	for (size_t k = 0; k < s->pool.told.n && s->pool.best != POOL_NONE; k++) {
		double ns = s->pool.point.at[s->pool.told.at[k]].ns;
		if (ns > 0 && ns < s->pool.point.at[s->pool.best].ns * TUNE_FAST)
			vec_push(s->pool.arena, &parents, s->pool.told.at[k]);
	}
	if (parents.n < 2)
		return false;
	for (int k = 0; k < TUNE_CHILDREN; k++) {
		uint32_t a = parents.at[rng_below(&s->rng, parents.n)], b = parents.at[rng_below(&s->rng, parents.n)];
		c[k] = config_cross(s->pool.space, pool_config(&s->pool, a), pool_config(&s->pool, b), &s->rng);
	}
	pool_add_all(&s->pool, c, TUNE_CHILDREN, &children);
	pool_refresh(&s->pool, children.at, children.n);
	pool_sort(&s->pool, &children);
	for (size_t k = 0; k < children.n; k++)
		if (pool_open(&s->pool, children.at[k])) {
			*i = children.at[k];
			vec_push(s->pool.arena, &s->known, *i);
			return true;
		}
	return false;
}

/* What the surrogate expects most of. */
static bool by_surrogate(Portfolio *s, uint32_t *i)
{
	Arena *scratch = arena_new();
	Surrogate *g = surrogate_new(scratch, &s->pool);
	double most = -INFINITY;
	for (size_t k = 0; k < s->known.n && g != NULL; k++) {
		if (!pool_open(&s->pool, s->known.at[k]))
			continue;
		double gain = surrogate_gain(g, &s->pool, s->known.at[k], s->pool.point.at[s->pool.best].ns);
		if (gain > most) {
			most = gain;
			*i = s->known.at[k];
		}
	}
	arena_free(scratch);
	if (most > -INFINITY && most < TUNE_NO_GAIN && s->fruitless >= s->effort->picks * (1 + s->effort->restarts))
		s->over = true;
	return most > -INFINITY;
}

/* Any. */
static bool by_draw(Portfolio *s, uint32_t *i)
{
	if (!pool_draw(&s->pool, &s->rng, i))
		return false;
	vec_push(s->pool.arena, &s->known, *i);
	return true;
}

static const Source sources[SOURCES] = {
	{ "estimate", by_estimate },
	{ "move", by_move },
	{ "crossing", by_crossing },
	{ "surrogate", by_surrogate },
	{ "draw", by_draw },
};

/* ---- the choice among them ---- */

/* A draw from the Beta distribution of a and b, both at least 1: by the normal one of its mean and variance. */
static double draw_beta(Rng *rng, double a, double b)
{
	double mean = a / (a + b), variance = mean * (1 - mean) / (a + b + 1);
	return mean + sqrt(variance) * rng_normal(rng);
}

static bool choose(Portfolio *s, uint32_t *i, int *source)
{
	double odds[SOURCES];
	for (int k = 0; k < SOURCES; k++)
		odds[k] = draw_beta(&s->rng, 1 + s->good[k], 1 + s->bad[k]);
	for (int tried = 0; tried < SOURCES; tried++) {
		*source = 0;
		for (int k = 1; k < SOURCES; k++)
			*source = odds[k] > odds[*source] ? k : *source;
		if (sources[*source].propose(s, i))
			return true;
		odds[*source] = -INFINITY;
	}
	return false;
}

static int ask_portfolio(void *state, Config *out, int n)
{
	Portfolio *s = state;
	int got = 0;
	while (got < n && !s->over) {
		uint32_t i = 0;
		int source = SOURCES;
		if (!s->begun) {
			i = pool_add(&s->pool, &s->pool.space->first);
			s->begun = true;
		} else if (s->hint_head < s->hints.n) {
			i = s->hints.at[s->hint_head++];
		} else {
			grow(s);
			s->over = !choose(s, &i, &source) || s->over;
		}
		if (s->over || !pool_ask(&s->pool, i, &out[got]))
			continue;
		map_add(&s->from, i)->num = source;
		got++;
	}
	return got > 0 ? got : s->pool.waiting > 0 ? SEARCH_WAITS : SEARCH_DONE;
}

static void hint_portfolio(void *state, Config c)
{
	Portfolio *s = state;
	uint32_t i = pool_add(&s->pool, &c);
	if (pool_open(&s->pool, i))
		vec_push(s->pool.arena, &s->hints, i);
	s->over = false;
}

static void tell_portfolio(void *state, Config c, double ns)
{
	Portfolio *s = state;
	double best = s->pool.best != POOL_NONE ? s->pool.point.at[s->pool.best].ns : INFINITY;
	uint32_t i = pool_tell(&s->pool, &c, ns);
	const MapEntry *e = map_find(&s->from, i);
	if (e != NULL && e->num < SOURCES) {
		bool good = ns > 0 && ns < best * TUNE_CLOSE_CALL;
		for (int k = 0; k < SOURCES; k++) {
			s->good[k] *= TUNE_FADE;
			s->bad[k] *= TUNE_FADE;
		}
		s->good[e->num] += good;
		s->bad[e->num] += !good;
	}
	s->fruitless++;
	if (ns > 0 && ns < s->mark * (1 - TUNE_FRUITFUL)) {
		s->mark = ns;
		s->fruitless = 0;
		s->over = false;
	}
}

static void *open_portfolio(Arena *a, Space *space, SearchCost cost, const Effort *effort, Rng rng)
{
	Portfolio *s = arena_new_of(a, Portfolio);
	*s = (Portfolio){ .pool = pool_new(a, space, cost),
		.effort = effort,
		.rng = rng,
		.grown = POOL_NONE,
		.from = MAP_OF(a),
		.mark = INFINITY };
	return s;
}

const Search search_portfolio = { "portfolio", "estimates, moves, crossings and what trials say, by their success",
	open_portfolio, ask_portfolio, hint_portfolio, tell_portfolio };
