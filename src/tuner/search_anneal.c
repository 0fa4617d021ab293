/*
 * Simulated annealing on the cost model, with the settings that AutoTVM published for its XGBoost tuner: chains walk
 * through the space by moves of one knob, each step uphill or, with a chance that the temperature gives, downhill; what
 * they saw of the best becomes the next batch, and a part of it is drawn. When the batch is told, the chains go on from
 * where they stand. What the cost model has learned by then directs them; a model that does not learn is the estimate
 * alone. It ends with the space.
 */
#include "tuner/pool.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdlib.h>

typedef struct Anneal {
	Pool pool;
	Rng rng;
	uint32_t chain[TUNE_CHAINS]; /* points */
	bool begun;                  /* the default was asked */
	bool walking;                /* the chains have places */
	Numbers batch;
	size_t head;
} Anneal;

/* What the chains optimise: 1 for the least estimate of all, 0 where there is no schedule. */
static double score(const Anneal *s, uint32_t i, double least)
{
	double est = pool_estimate(&s->pool, i);
	return est < INFINITY ? least / est : 0;
}

/* Puts i among the best of the batch; whether it is. */
static bool keep(Anneal *s, uint32_t i)
{
	size_t worst = 0;
	if (!pool_open(&s->pool, i))
		return false;
	for (size_t k = 0; k < s->batch.n; k++) {
		if (s->batch.at[k] == i)
			return false;
		worst = pool_estimate(&s->pool, s->batch.at[k]) > pool_estimate(&s->pool, s->batch.at[worst]) ? k : worst;
	}
	if (s->batch.n < TUNE_PLAN) {
		vec_push(s->pool.arena, &s->batch, i);
		return true;
	}
	if (pool_estimate(&s->pool, i) >= pool_estimate(&s->pool, s->batch.at[worst]))
		return false;
	s->batch.at[worst] = i;
	return true;
}

static void place_chains(Anneal *s)
{
	Config start[TUNE_CHAINS];
	Numbers at = { 0 };
	for (int k = 0; k < TUNE_CHAINS; k++)
		start[k] = space_sample(s->pool.space, &s->rng);
	pool_add_all(&s->pool, start, TUNE_CHAINS, &at);
	for (int k = 0; k < TUNE_CHAINS; k++)
		s->chain[k] = at.at[k];
	s->walking = true;
}

static void walk(Anneal *s)
{
	double least = INFINITY;
	size_t fresh = s->pool.point.n;
	pool_refresh(&s->pool, s->chain, TUNE_CHAINS);
	for (int k = 0; k < TUNE_CHAINS; k++) {
		least = fmin(least, pool_estimate(&s->pool, s->chain[k]));
		keep(s, s->chain[k]);
	}
	for (int step = 0, still = 0; step < TUNE_STEPS && still < TUNE_STILL; step++, still++) {
		Config to[TUNE_CHAINS];
		Numbers at = { 0 };
		double heat = 1 - (double)step / TUNE_STEPS;
		for (int k = 0; k < TUNE_CHAINS; k++)
			to[k] = config_mutate(s->pool.space, pool_config(&s->pool, s->chain[k]), &s->rng);
		pool_add_all(&s->pool, to, TUNE_CHAINS, &at);
		pool_refresh(&s->pool, at.at, at.n);
		for (int k = 0; k < TUNE_CHAINS; k++) {
			least = fmin(least, pool_estimate(&s->pool, at.at[k]));
			if (keep(s, at.at[k]))
				still = 0;
			double gain = score(s, at.at[k], least) - score(s, s->chain[k], least);
			if (rng_real(&s->rng) < exp(fmin(gain / (heat + 1e-5), 0)))
				s->chain[k] = at.at[k];
		}
		if (s->pool.point.n - fresh > TUNE_PLAN_FRESH || pool_over(&s->pool))
			break;
	}
}

/* The next batch, the best estimates first; false: nothing is left. */
static bool plan(Anneal *s)
{
	uint32_t drawn;
	s->batch.n = s->head = 0;
	if (!s->walking)
		place_chains(s);
	walk(s);
	pool_sort(&s->pool, &s->batch);
	size_t ranked = (size_t)(TUNE_PLAN * (1 - TUNE_EPSILON));
	s->batch.n = s->batch.n < ranked ? s->batch.n : ranked;
	for (int k = 0; k < TUNE_PLAN && s->batch.n < TUNE_PLAN && pool_draw(&s->pool, &s->rng, &drawn); k++)
		vec_push(s->pool.arena, &s->batch, drawn);
	return s->batch.n > 0;
}

static int ask_anneal(void *state, Config *out, int n)
{
	Anneal *s = state;
	int got = 0;
	while (got < n) {
		if (!s->begun) {
			s->begun = true;
			uint32_t first = pool_add(&s->pool, &s->pool.space->first);
			got += pool_ask(&s->pool, first, &out[got]);
		} else if (s->head < s->batch.n) {
			got += pool_ask(&s->pool, s->batch.at[s->head++], &out[got]);
		} else if (s->pool.waiting > 0) {
			return got > 0 ? got : SEARCH_WAITS;
		} else if (!plan(s)) {
			break;
		}
	}
	return got;
}

static void tell_anneal(void *state, Config c, double ns)
{
	pool_tell(&((Anneal *)state)->pool, &c, ns);
}

static void *open_anneal(Arena *a, Space *space, SearchCost cost, const Effort *effort, Rng rng)
{
	Anneal *s = arena_new_of(a, Anneal);
	(void)effort;
	*s = (Anneal){ .pool = pool_new(a, space, cost), .rng = rng };
	return s;
}

const Search search_anneal = { "anneal", "parallel chains on the cost model, cooled: AutoTVM's settings", open_anneal,
	ask_anneal, NULL, tell_anneal, NULL, NULL };
