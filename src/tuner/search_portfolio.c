/*
 * Three sources propose, and the one that proposed good schedules is asked more often: the cost model's estimates, a
 * surrogate that learns from the trials of this search, and steps, which move one knob of the best. The default first;
 * then the best estimates that differ; then a draw decides whose proposal is next: each source has the odds of its
 * proposals that came within TUNE_CLOSE_CALL of the best (Thompson's draw from a Beta distribution). All propose from
 * one pool of estimated schedules, which begins with a part of a sample of the space. The rest of it comes with the
 * trials, and so do the neighbours of the best. So schedules that are the same are one.
 *
 * It is done when some rounds of trials brought nothing, the surrogate expects nothing of the pool, and nothing of
 * further samples of the space. Left out, since bench/search shows that they gain nothing here, or less than they cost:
 * crossings of the fastest, draws, and neighbours of the best estimates (docs/search.md).
 */
#include "tuner/surrogate.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdlib.h>

typedef struct Portfolio Portfolio;

/* Proposes a point that may be asked; false: none now. */
typedef struct Source {
	const char *name;
	bool (*propose)(Portfolio *s, uint32_t *i);
} Source;

enum { SOURCES = 3 };

/* Of the surrogate, and to how many points. */
typedef struct Answer {
	size_t told, asked, known;
	bool any;
	uint32_t point;
	double gain;
} Answer;

struct Portfolio {
	Pool pool;
	const Effort *effort;
	Rng rng;
	Numbers known; /* points to propose from */
	Numbers hints;
	size_t hint_head;
	int rounds; /* of the sample: see widen */
	bool begun, over;
	const char *source;                 /* why the last config was given; NULL: it is the default, or was drawn */
	int64_t grown;                      /* the best point whose neighbours are known */
	Numbers around;                     /* these neighbours */
	Answer answer;                      /* the last one */
	Map from;                           /* asked points, to the number of their source */
	double good[SOURCES], bad[SOURCES]; /* proposals */
	int resampled;                      /* samples since the best became better */
	int fruitless;                      /* told since the best became better */
	double mark;                        /* the best time by which that is judged */
};

/* ---- the pool grows ---- */

/* All configs of a small space, else `most`. */
static void sample(Portfolio *s, int most)
{
	double size = space_size(s->pool.space);
	bool all = size <= s->effort->sample;
	size_t n = all ? (size_t)size : (size_t)most;
	Arena *scratch = arena_new();
	Config *config = arena_array(scratch, Config, n + 1), c = space_begin(s->pool.space);
	for (size_t i = 0; i < n; i++) {
		config[i] = all ? c : space_sample(s->pool.space, &s->rng);
		if (all)
			space_next(s->pool.space, &c);
	}
	pool_add_all(&s->pool, config, n, &s->known);
	arena_free(scratch);
}

/* Whether there are rounds to come. A space that is sampled whole has none. */
static bool may_widen(const Portfolio *s)
{
	return s->rounds < TUNE_PARTS && space_size(s->pool.space) > s->effort->sample;
}

/*
 * A round adds a part of the sample. Rounds come with the trials: a Task that gets few of them costs few estimates, and
 * a network has up to a hundred such Tasks.
 */
static void widen(Portfolio *s)
{
	sample(s, (s->effort->sample + TUNE_PARTS - 1) / TUNE_PARTS);
	s->rounds++;
}

static void grow(Portfolio *s)
{
	if (s->rounds == 0) {
		widen(s);
		vec_push(s->pool.arena, &s->known, pool_add(&s->pool, &s->pool.space->first));
	} else if (may_widen(s) && s->pool.asked.n > TUNE_ROUND * (size_t)(s->rounds - 1)) {
		widen(s);
	}
	if (s->pool.best != POOL_NONE && s->grown != s->pool.best) {
		s->grown = s->pool.best;
		s->around.n = 0;
		pool_add_neighbours(&s->pool, (uint32_t)s->grown, &s->around);
		for (size_t k = 0; k < s->around.n; k++)
			vec_push(s->pool.arena, &s->known, s->around.at[k]);
	}
	pool_refresh(&s->pool, s->known.at, s->known.n);
	pool_sort(&s->pool, &s->known);
}

/* ---- sources ---- */

/* Whether a schedule that was asked has the same estimate. */
static bool is_alike(const Portfolio *s, uint32_t i)
{
	double est = pool_estimate(&s->pool, i);
	bool alike = false;
	for (size_t m = 0; m < s->pool.asked.n && !alike; m++)
		alike = fabs(pool_estimate(&s->pool, s->pool.asked.at[m]) - est) < TUNE_ALIKE * est;
	return alike;
}

/*
 * The best estimate that is another one than those of all that was asked, and that lies at least two knobs from what
 * is under way; where there is none, any so far away, and then any. The estimate cannot order what it takes for equal.
 */
static bool by_estimate(Portfolio *s, uint32_t *i)
{
	for (int strict = 2; strict >= 0; strict--)
		for (size_t k = 0; k < s->known.n; k++) {
			uint32_t x = s->known.at[k];
			bool near = !pool_open(&s->pool, x) || (strict == 2 && is_alike(s, x));
			for (size_t m = s->pool.asked.n; m-- > 0 && !near && s->pool.asked.n - m <= TUNE_IN_FLIGHT;)
				near = pool_distance(&s->pool, x, s->pool.asked.at[m]) < (strict > 0 ? 2 : 1);
			if (!near) {
				*i = x;
				return true;
			}
		}
	return false;
}

/*
 * What the surrogate expects most of; *gain: how much, 0 where there is no surrogate yet. Whether to end and what to
 * propose are two questions with one answer, which is kept until something is asked, told or sampled.
 */
static bool expect_most(Portfolio *s, uint32_t *i, double *gain)
{
	Answer now = { s->pool.told.n, s->pool.asked.n, s->known.n, false, 0, 0 };
	if (s->answer.told == now.told && s->answer.asked == now.asked && s->answer.known == now.known) {
		*i = s->answer.point;
		*gain = s->answer.gain;
		return s->answer.any;
	}
	Arena *scratch = arena_new();
	const Surrogate *g = surrogate_new(scratch, &s->pool);
	double best = s->pool.best != POOL_NONE ? s->pool.point.at[s->pool.best].ns : 0;
	bool any = false;
	*gain = 0;
	for (size_t k = 0; k < s->known.n && g != NULL; k++) {
		if (!pool_open(&s->pool, s->known.at[k]))
			continue;
		double expected = surrogate_gain(g, &s->pool, s->known.at[k], best);
		if (any && expected <= *gain)
			continue;
		*gain = expected;
		*i = s->known.at[k];
		any = true;
	}
	arena_free(scratch);
	now.any = any;
	now.point = any ? *i : 0;
	now.gain = *gain;
	s->answer = now;
	return any;
}

static bool by_surrogate(Portfolio *s, uint32_t *i)
{
	double gain;
	return expect_most(s, i, &gain);
}

/* The best estimate among the neighbours of the best. */
static bool by_step(Portfolio *s, uint32_t *i)
{
	pool_sort(&s->pool, &s->around);
	for (size_t k = 0; k < s->around.n; k++)
		if (pool_open(&s->pool, s->around.at[k])) {
			*i = s->around.at[k];
			return true;
		}
	return false;
}

static const Source sources[SOURCES] = { { "estimate", by_estimate }, { "surrogate", by_surrogate },
	{ "step", by_step } };

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
	bool first = s->pool.asked.n <= TUNE_LEARN;
	for (int k = 0; k < SOURCES; k++)
		odds[k] = first ? -k : draw_beta(&s->rng, 1 + s->good[k], 1 + s->bad[k]);
	for (int tried = 0; tried < SOURCES; tried++) {
		*source = 0;
		for (int k = 1; k < SOURCES; k++)
			*source = odds[k] > odds[*source] ? k : *source;
		if (sources[*source].propose(s, i))
			return true;
		odds[*source] = -INFINITY;
	}
	*source = SOURCES;
	return false;
}

/* Whether nothing is to be expected any more; where the pool is at its end, further samples may say otherwise. */
static bool is_over(Portfolio *s)
{
	uint32_t i;
	double gain;
	if (s->fruitless < s->effort->picks * (1 + s->effort->restarts))
		return false;
	while (!expect_most(s, &i, &gain) || gain < TUNE_NO_GAIN) {
		if (may_widen(s)) {
			widen(s);
		} else if (s->resampled > s->effort->restarts) {
			return true;
		} else {
			s->resampled++;
			sample(s, s->effort->sample);
		}
		pool_sort(&s->pool, &s->known);
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
		bool advice = s->begun && s->hint_head < s->hints.n;
		if (!s->begun) {
			i = pool_add(&s->pool, &s->pool.space->first);
			s->begun = true;
		} else if (advice) {
			i = s->hints.at[s->hint_head++];
		} else {
			grow(s);
			bool drawn = !is_over(s) && !choose(s, &i, &source) && pool_draw(&s->pool, &s->rng, &i);
			s->over = source == SOURCES && !drawn;
		}
		if (s->over || !pool_ask(&s->pool, i, &out[got]))
			continue;
		map_add(&s->from, i)->num = source;
		s->source = advice ? "advice" : source < SOURCES ? sources[source].name : NULL;
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
		s->good[e->num] += good;
		s->bad[e->num] += !good;
	}
	s->fruitless++;
	if (ns > 0 && ns < s->mark * (1 - TUNE_FRUITFUL)) {
		s->mark = ns;
		s->fruitless = s->resampled = 0;
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

static const char *source_portfolio(const void *state)
{
	return ((const Portfolio *)state)->source;
}

/* Of all that it knows; samples that are to come are not among it. Before the end it takes some trials to say so. */
static double left_portfolio(void *state)
{
	Portfolio *s = state;
	if (!s->over && s->pool.told.n < TUNE_BELIEVED)
		return -1;
	Arena *scratch = arena_new();
	const Surrogate *g = surrogate_new(scratch, &s->pool);
	double left = g == NULL ? -1
	                        : surrogate_left(g, &s->pool, s->known.at, s->known.n, s->pool.point.at[s->pool.best].ns);
	arena_free(scratch);
	return left;
}

const Search search_portfolio = { "portfolio", "estimates, a model of the trials and steps, by their success",
	open_portfolio, ask_portfolio, hint_portfolio, tell_portfolio, source_portfolio, left_portfolio };
