/*
 * The search that starts from knowledge.  The default first; then a sample of the space is put in the
 * order of the cost model's estimates (and what is near the best of it, which costs no measurement) and
 * the best few that differ are measured; from the fastest of them a coordinate descent: one knob is
 * moved at a time, the first move that is faster is taken, until a whole sweep over all neighbours
 * brings nothing.  Then it starts again from other good estimates.  A round that brings nothing is
 * fruitless; after effort.restarts of them the search is done, and that is the task's certificate: all
 * neighbours of the best are measured, and so are the descents from elsewhere.
 *
 * A step must be faster by TUNE_MARGIN, so that noise is no progress.  Configs of the same schedule are one
 * point.  Left out: annealing.
 */
#include "tuner/configs.h"
#include "tuner/search.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdlib.h>

typedef struct Point {
	uint64_t same;
	double est;    /* <= 0: no legal schedule */
	double ns;     /* 0: not told; < 0: it failed */
	uint32_t twin; /* the first point of the same schedule, which stands for all */
	bool asked;
	int revision;  /* of the cost model that est is of */
} Point;

typedef VEC(uint32_t) Numbers;

typedef enum { STAGE_FIRST, STAGE_RANK, STAGE_PICKS, STAGE_SWEEP, STAGE_RESTART, STAGE_OVER } Stage;
enum { NONE = -1 };

typedef struct Rank {
	Arena *arena;
	Space *space;
	SearchCost cost;
	const Effort *effort;
	Rng rng;
	ConfigSet set;
	VEC(Point) point; /* of each config of the set */
	Map same;         /* from point[].same to the first such point */
	Numbers ranked; /* by estimate */
	Numbers hints, queue, batch; /* batch: what this round began with */
	size_t hint_head, queue_head;
	Stage stage;
	const char *queued, *source; /* why the queue was filled; why the last config was given */
	int64_t best, walker; /* points: the fastest; where the descent stands */
	int64_t came_from;    /* where the walker stood before */
	int64_t swept, paired; /* the points whose neighbours are all in the queue */
	int waiting;          /* asked and not told */
	int fruitless;
	double mark; /* the best time when this round began */
} Rank;

/* ---- points ---- */

static int revision(const Rank *r)
{
	return r->cost.revision != NULL ? r->cost.revision(r->cost.arg) : 0;
}

/* Estimates the configs that the set has and that have no point yet: its last ones. */
static void estimate_fresh(Rank *r)
{
	Arena *scratch = arena_new();
	size_t first = r->point.n, n = r->set.at.n - first;
	double *ns = arena_array(scratch, double, n + 1);
	uint64_t *same = arena_array(scratch, uint64_t, n + 1);
	int now = revision(r);
	if (n > 0)
		r->cost.estimate(r->cost.arg, r->set.at.at + first, (int)n, ns, same);
	for (size_t k = 0; k < n; k++) {
		uint32_t i = (uint32_t)(first + k);
		Point p = { .same = same[k], .est = ns[k], .twin = i, .revision = now };
		uint32_t before = r->same.index.n;
		MapEntry *e = map_add(&r->same, p.same);
		if (r->same.index.n > before)
			e->num = i;
		p.twin = (uint32_t)e->num;
		vec_push(r->arena, &r->point, p);
	}
	arena_free(scratch);
}

/* The points of n configs, behind those in `out`; estimated together where they are seen first. */
static void add_points(Rank *r, const Config *c, size_t n, Numbers *out)
{
	bool fresh;
	size_t from = out->n;
	for (size_t i = 0; i < n; i++)
		vec_push(r->arena, out, config_set_add(&r->set, &c[i], &fresh));
	estimate_fresh(r);
	for (size_t i = from; i < out->n; i++)
		out->at[i] = r->point.at[out->at[i]].twin;
}

static uint32_t point_of(Rank *r, const Config *c)
{
	bool fresh;
	uint32_t i = config_set_add(&r->set, c, &fresh);
	if (fresh)
		estimate_fresh(r);
	return r->point.at[i].twin;
}

static const Config *config_at(const Rank *r, uint32_t i)
{
	return &r->set.at.at[i];
}

static double estimate_at(const Rank *r, uint32_t i)
{
	return r->point.at[i].est > 0 ? r->point.at[i].est : INFINITY;
}

static int distance(const Rank *r, uint32_t i, uint32_t j)
{
	return space_distance(r->space, config_at(r, i), config_at(r, j));
}

/* Estimates anew what the cost model has estimated before it changed: only estimates of one revision are comparable. */
static void refresh(Rank *r, const uint32_t *list, size_t n)
{
	Arena *scratch = arena_new();
	VEC(Config) old = { 0 };
	Numbers at = { 0 };
	int now = revision(r);
	for (size_t i = 0; i < n; i++) {
		Point *p = &r->point.at[list[i]];
		if (p->revision == now || p->est <= 0)
			continue;
		p->revision = now;
		vec_push(scratch, &old, *config_at(r, list[i]));
		vec_push(scratch, &at, list[i]);
	}
	double *ns = arena_array(scratch, double, old.n + 1);
	uint64_t *same = arena_array(scratch, uint64_t, old.n + 1);
	if (old.n > 0)
		r->cost.estimate(r->cost.arg, old.at, (int)old.n, ns, same);
	for (size_t k = 0; k < old.n; k++)
		r->point.at[at.at[k]].est = ns[k];
	arena_free(scratch);
}

typedef struct Keyed {
	double est;
	uint32_t i;
} Keyed;

static int by_estimate(const void *pa, const void *pb)
{
	const Keyed *a = pa, *b = pb;
	return a->est != b->est ? (a->est > b->est) - (a->est < b->est) : (a->i > b->i) - (a->i < b->i);
}

/* ---- neighbours ---- */

/* All configs that one knob's move makes of i, estimated. */
static void add_neighbours(Rank *r, uint32_t i, Numbers *out)
{
	Arena *scratch = arena_new();
	VEC(Config) around = { 0 };
	Config from = *config_at(r, i);
	for (int k = 0; k < from.n; k++) {
		int options = space_knob(r->space, &from, k)->n, at = from.pick[k];
		for (int o = 0; o < options; o++)
			if (o != at && (options <= TUNE_FEW || abs(o - at) <= TUNE_FAR))
				vec_push(scratch, &around, space_move(r->space, &from, k, o));
	}
	add_points(r, around.at, around.n, out);
	arena_free(scratch);
}

/* The config in which knob `at` has the next option in that direction; false: there is none. */
static bool step(const Rank *r, const Config *from, int at, int way, Config *to)
{
	int option = from->pick[at] + way;
	if (option < 0 || option >= space_knob(r->space, from, at)->n)
		return false;
	*to = space_move(r->space, from, at, option);
	return true;
}

/* Where the second config has the first one's knob `at`; -1: nowhere. */
static int same_knob(const Rank *r, const Config *of, int at, const Config *in)
{
	for (int k = 0; k < in->n; k++)
		if (space_knob(r->space, in, k)->name == space_knob(r->space, of, at)->name)
			return k;
	return -1;
}

/* ---- the order of the space ---- */

/* Sorted, each once, without those that have no schedule. */
static void tidy(Rank *r, Numbers *list)
{
	size_t n = 0;
	Arena *scratch = arena_new();
	Keyed *key = arena_array(scratch, Keyed, list->n + 1);
	for (size_t i = 0; i < list->n; i++)
		key[i] = (Keyed){ estimate_at(r, list->at[i]), list->at[i] };
	qsort(key, list->n, sizeof *key, by_estimate);
	for (size_t i = 0; i < list->n; i++)
		list->at[i] = key[i].i;
	arena_free(scratch);
	for (size_t i = 0; i < list->n; i++)
		if (r->point.at[list->at[i]].est > 0 && (n == 0 || list->at[i] != list->at[n - 1]))
			list->at[n++] = list->at[i];
	list->n = n;
}

/*
 * All configs of a small space, else a sample; and the default. What lies around the best estimates is better yet,
 * mostly.
 */
static void rank_space(Rank *r)
{
	double size = space_size(r->space);
	bool all = size <= r->effort->sample;
	size_t drawn = all ? (size_t)size : (size_t)r->effort->sample;
	Arena *scratch = arena_new();
	Config *config = arena_array(scratch, Config, drawn + 1), c = space_begin(r->space);
	for (size_t i = 0; i < drawn; i++) {
		config[i] = all ? c : space_sample(r->space, &r->rng);
		if (all)
			space_next(r->space, &c);
	}
	config[drawn] = r->space->first;
	add_points(r, config, drawn + 1, &r->ranked);
	arena_free(scratch);
	tidy(r, &r->ranked);
	for (int round = 0; round < TUNE_BEAM_ROUNDS && !all; round++) {
		size_t n = r->ranked.n < TUNE_BEAM ? r->ranked.n : TUNE_BEAM;
		uint32_t top[TUNE_BEAM];
		for (size_t i = 0; i < n; i++)
			top[i] = r->ranked.at[i];
		for (size_t i = 0; i < n; i++)
			add_neighbours(r, top[i], &r->ranked);
		tidy(r, &r->ranked);
	}
}

/* ---- what to ask ---- */

static void enqueue(Rank *r, uint32_t i)
{
	if (!r->point.at[i].asked)
		vec_push(r->arena, &r->queue, i);
}

/* Whether the model may be wrong enough for i to be as good as `best`. */
static bool promises(const Rank *r, uint32_t i, uint32_t best)
{
	double est = estimate_at(r, i);
	return est < INFINITY && est <= TUNE_DOUBT * estimate_at(r, best);
}

/* The best estimates of what lies around i, `most` of those not asked. */
static void enqueue_best(Rank *r, uint32_t i, Numbers *list, size_t most)
{
	size_t before = r->queue.n;
	refresh(r, &i, 1);
	refresh(r, list->at, list->n);
	tidy(r, list);
	for (size_t k = 0; k < list->n && r->queue.n - before < most; k++)
		if (promises(r, list->at[k], i))
			enqueue(r, list->at[k]);
}

/* Asks for i, unless something nearer than `apart` to it is in the batch. */
static void pick(Rank *r, uint32_t i, int apart)
{
	bool asked = r->point.at[i].asked;
	for (size_t k = 0; k < r->batch.n && !asked; k++)
		asked = distance(r, i, r->batch.at[k]) < apart;
	if (asked)
		return;
	vec_push(r->arena, &r->batch, i);
	enqueue(r, i);
}

/* The best estimates that differ from each other, some of them drawn: the model may be wrong. */
static bool enqueue_picks(Rank *r)
{
	size_t want = (size_t)r->effort->picks, drawn = want / TUNE_DRAWN;
	r->batch.n = 0;
	r->queued = "estimate";
	refresh(r, r->ranked.at, r->ranked.n);
	tidy(r, &r->ranked);
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
	Config at = *config_at(r, i), further;
	if (r->came_from != NONE && distance(r, i, (uint32_t)r->came_from) == 1) {
		Config before = *config_at(r, (uint32_t)r->came_from);
		for (int k = 0; k < at.n; k++) {
			int was = same_knob(r, &at, k, &before);
			if (was < 0 || before.knob[was] != at.knob[k] || before.pick[was] == at.pick[k] ||
				!step(r, &at, k, at.pick[k] - before.pick[was], &further))
				continue;
			uint32_t on = point_of(r, &further);
			if (r->point.at[on].est > 0)
				enqueue(r, on);
		}
	}
	add_neighbours(r, i, &around);
	enqueue_best(r, i, &around, around.n);
}

/* All configs that moves of two knobs to next options make of i. */
static void enqueue_pairs(Rank *r, uint32_t i)
{
	Numbers pairs = { 0 };
	Arena *scratch = arena_new();
	VEC(Config) around = { 0 };
	Config from = *config_at(r, i), one, both;
	for (int k = 0; k < from.n; k++)
		for (int l = k + 1; l < from.n; l++)
			for (int way = 0; way < 4; way++) {
				if (!step(r, &from, k, (way & 1) != 0 ? 1 : -1, &one))
					continue;
				int at = same_knob(r, &from, l, &one);
				if (at >= 0 && step(r, &one, at, (way & 2) != 0 ? 1 : -1, &both))
					vec_push(scratch, &around, both);
			}
	add_points(r, around.at, around.n, &pairs);
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
	} else if (r->waiting > 0) {
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
		enqueue(r, point_of(r, &r->space->first));
		r->stage = STAGE_RANK;
		return true;
	case STAGE_RANK:
		rank_space(r);
		r->stage = STAGE_PICKS;
		enqueue_picks(r);
		return true;
	case STAGE_PICKS: /* the walk starts from the fastest of the batch */
		if (r->waiting > 0)
			return false;
		r->walker = r->mark == INFINITY ? r->best : NONE;
		for (size_t i = 0; i < r->batch.n; i++) {
			double ns = r->point.at[r->batch.at[i]].ns;
			if (ns > 0 && (r->walker == NONE || ns < r->point.at[r->walker].ns))
				r->walker = r->batch.at[i];
		}
		r->came_from = r->swept = r->paired = NONE;
		r->stage = r->walker != NONE ? STAGE_SWEEP : STAGE_RESTART;
		return true;
	case STAGE_SWEEP: return go_on(r);
	case STAGE_RESTART: {
		double now = r->best != NONE ? r->point.at[r->best].ns : INFINITY;
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
	while (*head < from->n) {
		uint32_t i = from->at[(*head)++];
		if (r->point.at[i].asked)
			continue;
		r->point.at[i].asked = true;
		r->waiting++;
		*out = *config_at(r, i);
		return true;
	}
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
	return got > 0 ? got : r->stage == STAGE_OVER && r->waiting == 0 ? SEARCH_DONE : SEARCH_WAITS;
}

static void hint_rank(void *state, Config c)
{
	Rank *r = state;
	uint32_t i = point_of(r, &c);
	if (!r->point.at[i].asked && r->point.at[i].est > 0)
		vec_push(r->arena, &r->hints, i);
}

static void tell_rank(void *state, Config c, double ns)
{
	Rank *r = state;
	uint32_t i = point_of(r, &c);
	Point *p = &r->point.at[i];
	if (p->asked && p->ns == 0)
		r->waiting--;
	p->asked = true;
	p->ns = ns > 0 ? ns : -1;
	if (ns <= 0)
		return;
	if (r->best == NONE || ns < r->point.at[r->best].ns)
		r->best = i;
	if (r->walker != NONE && r->stage > STAGE_PICKS && ns < r->point.at[r->walker].ns * (1 - TUNE_MARGIN)) {
		r->came_from = r->walker;
		r->walker = i;
		r->queue.n = r->queue_head = 0;
		r->stage = STAGE_SWEEP; /* also where it was over, and a hint is better */
	}
}

static void *open_rank(Arena *a, Space *space, SearchCost cost, const Effort *effort, Rng rng)
{
	Rank *r = arena_new_of(a, Rank);
	*r = (Rank){ .arena = a,
		.space = space,
		.cost = cost,
		.effort = effort,
		.rng = rng,
		.set = CONFIGS_OF(a),
		.same = MAP_OF(a),
		.best = NONE,
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
	ask_rank, hint_rank, tell_rank, source_rank };
