/*
 * The search that starts from knowledge.  The default first; then a sample of the space is put in the
 * order of the cost model's estimates (and what is near the best of it, which costs no measurement) and
 * the best few that differ are measured; from the fastest of them a coordinate descent: one knob is
 * moved at a time, the first move that is faster is taken, until a whole sweep over all neighbours
 * brings nothing.  Then it starts again from other good estimates.  A round that brings nothing is
 * fruitless; after effort.restarts of them the search is done, and that is the task's certificate: all
 * neighbours of the best are measured, and so are the descents from elsewhere.
 *
 * A step must be faster by TUNE_MARGIN, so that noise is no progress.
 */
#include "tuner/pool.h"
#include "tuner/tuning.h"

#include <math.h>


typedef enum { STAGE_FIRST, STAGE_RANK, STAGE_PICKS, STAGE_SWEEP, STAGE_RESTART, STAGE_OVER } Stage;
enum { NONE = POOL_NONE };

typedef struct Rank {
	Pool pool;
	const Effort *effort;
	Rng rng;
	Numbers ranked; /* by estimate */
	Numbers hints, queue, batch; /* batch: what this round began with */
	size_t hint_head, queue_head;
	Stage stage;
	const char *queued, *source; /* why the queue was filled; why the last config was given */
	int64_t walker;       /* point: where the descent stands */
	int64_t came_from;    /* where the walker stood before */
	int64_t swept, paired; /* the points whose neighbours are all in the queue */
	int fruitless;
	double mark; /* the best time when this round began */
} Rank;

/* ---- neighbours ---- */

/* The config in which knob `at` has the next option in that direction; false: there is none. */
static bool step(const Rank *r, const Config *from, int at, int way, Config *to)
{
	int option = from->pick[at] + way;
	if (option < 0 || option >= space_knob(r->pool.space, from, at)->n)
		return false;
	*to = space_move(r->pool.space, from, at, option);
	return true;
}

/* Where the second config has the first one's knob `at`; -1: nowhere. */
static int same_knob(const Rank *r, const Config *of, int at, const Config *in)
{
	for (int k = 0; k < in->n; k++)
		if (space_knob(r->pool.space, in, k)->name == space_knob(r->pool.space, of, at)->name)
			return k;
	return -1;
}

/* ---- the order of the space ---- */

/*
 * All configs of a small space, else a sample; and the default. What lies around the best estimates is better yet,
 * mostly.
 */
static void rank_space(Rank *r)
{
	double size = space_size(r->pool.space);
	bool all = size <= r->effort->sample;
	size_t drawn = all ? (size_t)size : (size_t)r->effort->sample;
	Arena *scratch = arena_new();
	Config *config = arena_array(scratch, Config, drawn + 1), c = space_begin(r->pool.space);
	for (size_t i = 0; i < drawn; i++) {
		config[i] = all ? c : space_sample(r->pool.space, &r->rng);
		if (all)
			space_next(r->pool.space, &c);
	}
	config[drawn] = r->pool.space->first;
	pool_add_all(&r->pool, config, drawn + 1, &r->ranked);
	arena_free(scratch);
	pool_sort(&r->pool, &r->ranked);
	for (int round = 0; round < TUNE_BEAM_ROUNDS && !all; round++) {
		size_t n = r->ranked.n < TUNE_BEAM ? r->ranked.n : TUNE_BEAM;
		uint32_t top[TUNE_BEAM];
		for (size_t i = 0; i < n; i++)
			top[i] = r->ranked.at[i];
		for (size_t i = 0; i < n; i++)
			pool_add_neighbours(&r->pool, top[i], &r->ranked);
		pool_sort(&r->pool, &r->ranked);
	}
}

/* ---- what to ask ---- */

static void enqueue(Rank *r, uint32_t i)
{
	if (!r->pool.point.at[i].asked)
		vec_push(r->pool.arena, &r->queue, i);
}

/* Whether the model may be wrong enough for i to be as good as `best`. */
static bool promises(const Rank *r, uint32_t i, uint32_t best)
{
	double est = pool_estimate(&r->pool, i);
	return est < INFINITY && est <= TUNE_DOUBT * pool_estimate(&r->pool, best);
}

/* The best estimates of what lies around i, `most` of those not asked. */
static void enqueue_best(Rank *r, uint32_t i, Numbers *list, size_t most)
{
	size_t before = r->queue.n;
	pool_refresh(&r->pool, &i, 1);
	pool_refresh(&r->pool, list->at, list->n);
	pool_sort(&r->pool, list);
	for (size_t k = 0; k < list->n && r->queue.n - before < most; k++)
		if (promises(r, list->at[k], i))
			enqueue(r, list->at[k]);
}

/* Asks for i, unless something nearer than `apart` to it is in the batch. */
static void pick(Rank *r, uint32_t i, int apart)
{
	bool asked = r->pool.point.at[i].asked;
	for (size_t k = 0; k < r->batch.n && !asked; k++)
		asked = pool_distance(&r->pool, i, r->batch.at[k]) < apart;
	if (asked)
		return;
	vec_push(r->pool.arena, &r->batch, i);
	enqueue(r, i);
}

/* The best estimates that differ from each other, some of them drawn: the model may be wrong. */
static bool enqueue_picks(Rank *r)
{
	size_t want = (size_t)r->effort->picks, drawn = want / TUNE_DRAWN;
	r->batch.n = 0;
	r->queued = "estimate";
	pool_refresh(&r->pool, r->ranked.at, r->ranked.n);
	pool_sort(&r->pool, &r->ranked);
	for (int apart = 2; apart >= 1; apart--)
		for (size_t i = 0; i < r->ranked.n && r->batch.n < want - drawn; i++)
			if (promises(r, r->ranked.at[i], r->ranked.at[0]))
				pick(r, r->ranked.at[i], apart);
	for (size_t tries = 0; tries < want * TUNE_DRAWS && r->batch.n < want && r->ranked.n > 0; tries++)
		pick(r, r->ranked.at[rng_below(&r->rng, r->ranked.n)], 2);
	return r->batch.n > 0;
}

/* Further along the knob that the last step moved; then all other neighbours. */
static void enqueue_neighbours(Rank *r, uint32_t i)
{
	Numbers around = { 0 };
	Config at = *pool_config(&r->pool, i), further;
	if (r->came_from != NONE && pool_distance(&r->pool, i, (uint32_t)r->came_from) == 1) {
		Config before = *pool_config(&r->pool, (uint32_t)r->came_from);
		for (int k = 0; k < at.n; k++) {
			int was = same_knob(r, &at, k, &before);
			if (was < 0 || before.knob[was] != at.knob[k] || before.pick[was] == at.pick[k] ||
				!step(r, &at, k, at.pick[k] - before.pick[was], &further))
				continue;
			uint32_t on = pool_add(&r->pool, &further);
			if (r->pool.point.at[on].est > 0)
				enqueue(r, on);
		}
	}
	pool_add_neighbours(&r->pool, i, &around);
	enqueue_best(r, i, &around, around.n);
}

/* All configs that moves of two knobs to next options make of i. */
static void enqueue_pairs(Rank *r, uint32_t i)
{
	Numbers pairs = { 0 };
	Arena *scratch = arena_new();
	VEC(Config) around = { 0 };
	Config from = *pool_config(&r->pool, i), one, both;
	for (int k = 0; k < from.n; k++)
		for (int l = k + 1; l < from.n; l++)
			for (int way = 0; way < 4; way++) {
				if (!step(r, &from, k, (way & 1) != 0 ? 1 : -1, &one))
					continue;
				int at = same_knob(r, &from, l, &one);
				if (at >= 0 && step(r, &one, at, (way & 2) != 0 ? 1 : -1, &both))
					vec_push(scratch, &around, both);
			}
	pool_add_all(&r->pool, around.at, around.n, &pairs);
	arena_free(scratch);
	enqueue_best(r, i, &pairs, (size_t)r->effort->pairs);
}

/* ---- the walk through the stages ---- */

static bool go_on(Rank *r)
{
	if (r->swept != r->walker) {
		r->swept = r->walker;
		r->queued = "step";
		enqueue_neighbours(r, (uint32_t)r->walker);
	} else if (r->pool.waiting > 0) {
		return false;
	} else if (r->paired != r->walker && r->effort->pairs > 0) {
		r->paired = r->walker;
		r->queued = "two steps";
		enqueue_pairs(r, (uint32_t)r->walker);
	} else {
		r->stage = STAGE_RESTART;
	}
	return true;
}

/* Puts something into the queue or moves to another stage; false: there is nothing to ask now. */
static bool refill(Rank *r)
{
	switch (r->stage) {
	case STAGE_FIRST:
		enqueue(r, pool_add(&r->pool, &r->pool.space->first));
		r->stage = STAGE_RANK;
		return true;
	case STAGE_RANK:
		rank_space(r);
		r->stage = STAGE_PICKS;
		enqueue_picks(r);
		return true;
	case STAGE_PICKS: /* the walk starts from the fastest of the batch */
		if (r->pool.waiting > 0)
			return false;
		r->walker = r->mark == INFINITY ? r->pool.best : NONE;
		for (size_t i = 0; i < r->batch.n; i++) {
			double ns = r->pool.point.at[r->batch.at[i]].ns;
			if (ns > 0 && (r->walker == NONE || ns < r->pool.point.at[r->walker].ns))
				r->walker = r->batch.at[i];
		}
		r->came_from = r->swept = r->paired = NONE;
		r->stage = r->walker != NONE ? STAGE_SWEEP : STAGE_RESTART;
		return true;
	case STAGE_SWEEP: return go_on(r);
	case STAGE_RESTART: {
		double now = r->pool.best != NONE ? r->pool.point.at[r->pool.best].ns : INFINITY;
		r->fruitless = now < r->mark * (1 - TUNE_FRUITFUL) ? 0 : r->fruitless + 1;
		r->mark = now;
		bool on = r->fruitless < r->effort->restarts && enqueue_picks(r);
		r->stage = on ? STAGE_PICKS : STAGE_OVER;
		return on;
	}
	default: return false;
	}
}

static bool give(Rank *r, Numbers *from, size_t *head, Config *out)
{
	while (*head < from->n)
		if (pool_ask(&r->pool, from->at[(*head)++], out))
			return true;
	from->n = *head = 0;
	return false;
}

static int ask_rank(void *state, Config *out, int n)
{
	Rank *r = state;
	int got = 0;
	while (got < n) {
		bool begun = r->stage > STAGE_RANK || (r->stage == STAGE_RANK && r->queue_head == r->queue.n);
		bool advice = begun /* the default is the first of all */ && give(r, &r->hints, &r->hint_head, &out[got]);
		if (advice || give(r, &r->queue, &r->queue_head, &out[got])) {
			got++;
			r->source = advice ? "advice" : r->queued;
		} else if (!refill(r)) {
			break;
		}
	}
	return got > 0 ? got : r->stage == STAGE_OVER && r->pool.waiting == 0 ? SEARCH_DONE : SEARCH_WAITS;
}

static void hint_rank(void *state, Config c)
{
	Rank *r = state;
	uint32_t i = pool_add(&r->pool, &c);
	if (!r->pool.point.at[i].asked && r->pool.point.at[i].est > 0)
		vec_push(r->pool.arena, &r->hints, i);
}

static void tell_rank(void *state, Config c, double ns)
{
	Rank *r = state;
	uint32_t i = pool_tell(&r->pool, &c, ns);
	if (ns <= 0)
		return;
	if (r->walker != NONE && r->stage > STAGE_PICKS && ns < r->pool.point.at[r->walker].ns * (1 - TUNE_MARGIN)) {
		r->came_from = r->walker;
		r->walker = i;
		r->queue.n = r->queue_head = 0;
		r->stage = STAGE_SWEEP; /* also where it was over, and a hint is better */
	}
}

static void *open_rank(Arena *a, Space *space, SearchCost cost, const Effort *effort, Rng rng)
{
	Rank *r = arena_new_of(a, Rank);
	*r = (Rank){ .pool = pool_new(a, space, cost),
		.effort = effort,
		.rng = rng,
		.walker = NONE,
		.came_from = NONE,
		.swept = NONE,
		.paired = NONE,
		.mark = INFINITY };
	return r;
}

static const char *source_rank(const void *state)
{
	return ((const Rank *)state)->source;
}

const Search search_rank = { "rank", "the best estimates, then one knob at a time from the fastest", open_rank,
	ask_rank, hint_rank, tell_rank, source_rank, NULL };
