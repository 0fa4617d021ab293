/*
 * Evolution on the cost model, with the settings that MetaSchedule published: a population of measured and of drawn
 * configs breeds some generations, by moves of a knob and by crossing two parents; parents are drawn by what the model
 * says of them. The best of all that lived becomes the next batch, and a part of it is drawn. It ends with the space.
 */
#include "tuner/pool.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdlib.h>

typedef struct Evolve {
	Pool pool;
	Rng rng;
	bool begun;
	Numbers batch;
	size_t head;
} Evolve;

/* The told points, the fastest first. */
static int by_time(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;
	return (a[0] > b[0]) - (a[0] < b[0]);
}

static void add_fastest(Evolve *s, size_t most, Numbers *out)
{
	Arena *scratch = arena_new();
	double(*key)[2] = arena_alloc(scratch, sizeof *key * (s->pool.told.n + 1));
	size_t n = 0;
	for (size_t k = 0; k < s->pool.told.n; k++) {
		uint32_t i = s->pool.told.at[k];
		if (s->pool.point.at[i].ns > 0 && s->pool.point.at[i].est > 0) {
			key[n][0] = s->pool.point.at[i].ns;
			key[n++][1] = i;
		}
	}
	qsort(key, n, sizeof *key, by_time);
	for (size_t k = 0; k < n && k < most; k++)
		vec_push(s->pool.arena, out, (uint32_t)key[k][1]);
	arena_free(scratch);
}

static void add_drawn(Evolve *s, size_t want, Numbers *out)
{
	Arena *scratch = arena_new();
	Config *c = arena_array(scratch, Config, want + 1);
	for (size_t k = 0; k < want; k++)
		c[k] = space_sample(s->pool.space, &s->rng);
	pool_add_all(&s->pool, c, want, out);
	arena_free(scratch);
}

/* Draws a parent: the chance is the inverse of the estimate. sum[k]: of the chances up to k. */
static uint32_t parent(Evolve *s, const Numbers *from, const double *sum)
{
	double at = rng_real(&s->rng) * sum[from->n - 1];
	size_t lo = 0, hi = from->n - 1;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (sum[mid] <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return from->at[lo];
}

static void breed(Evolve *s, const Numbers *parents, Numbers *children)
{
	Arena *scratch = arena_new();
	double *sum = arena_array(scratch, double, parents->n), all = 0;
	Config *c = arena_array(scratch, Config, TUNE_POPULATION);
	for (size_t k = 0; k < parents->n; k++)
		sum[k] = all += 1 / pool_estimate(&s->pool, parents->at[k]);
	for (int k = 0; k < TUNE_POPULATION; k++) {
		const Config *a = pool_config(&s->pool, parent(s, parents, sum));
		if (rng_real(&s->rng) < TUNE_MUTATION)
			c[k] = config_mutate(s->pool.space, a, &s->rng);
		else
			c[k] = config_cross(s->pool.space, a, pool_config(&s->pool, parent(s, parents, sum)), &s->rng);
	}
	pool_add_all(&s->pool, c, TUNE_POPULATION, children);
	arena_free(scratch);
}

/* The next batch, the best estimates first; false: nothing is left. */
static bool plan(Evolve *s)
{
	Numbers alive = { 0 }, lived = { 0 };
	uint32_t drawn;
	s->batch.n = s->head = 0;
	add_fastest(s, (size_t)(TUNE_POPULATION * TUNE_MEASURED), &alive);
	add_drawn(s, TUNE_POPULATION - alive.n, &alive);
	for (int g = 0; g <= TUNE_GENERATIONS; g++) {
		Numbers children = { 0 };
		pool_refresh(&s->pool, alive.at, alive.n);
		pool_sort(&s->pool, &alive);
		for (size_t k = 0; k < alive.n; k++)
			vec_push(s->pool.arena, &lived, alive.at[k]);
		if (g == TUNE_GENERATIONS || alive.n == 0 || pool_over(&s->pool))
			break;
		breed(s, &alive, &children);
		alive = children;
	}
	pool_sort(&s->pool, &lived);
	for (size_t k = 0; k < lived.n && s->batch.n < (size_t)(TUNE_PLAN * (1 - TUNE_EPSILON)); k++)
		if (pool_open(&s->pool, lived.at[k]))
			vec_push(s->pool.arena, &s->batch, lived.at[k]);
	for (int k = 0; k < TUNE_PLAN && s->batch.n < TUNE_PLAN && pool_draw(&s->pool, &s->rng, &drawn); k++)
		vec_push(s->pool.arena, &s->batch, drawn);
	return s->batch.n > 0;
}

static int ask_evolve(void *state, Config *out, int n)
{
	Evolve *s = state;
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

static void tell_evolve(void *state, Config c, double ns)
{
	pool_tell(&((Evolve *)state)->pool, &c, ns);
}

static void *open_evolve(Arena *a, Space *space, SearchCost cost, const Effort *effort, Rng rng)
{
	Evolve *s = arena_new_of(a, Evolve);
	(void)effort;
	*s = (Evolve){ .pool = pool_new(a, space, cost), .rng = rng };
	return s;
}

const Search search_evolve = { "evolve",
	"generations of moves and crossings on the cost model: MetaSchedule's settings", open_evolve, ask_evolve, NULL,
	tell_evolve, NULL, NULL };
