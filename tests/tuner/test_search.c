/*
 * Searches over made-up spaces: no config twice, the default first, an end; and the ranked search finds
 * the best of a separable space in a fraction of the trials that drawing takes, also where estimates say
 * nothing or mislead, times are noisy and answers come late. The portfolio finds nearly the best where no estimate
 * helps.
 */
#include "suite.h"

#include "schedule/sketch.h"
#include "tuner/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A landscape: time is 1000 times the product of what each knob's option costs. */
typedef struct Land {
	Space space;
	int knobs, options;
	double factor[KNOBS][KNOB_OPTIONS];
	int best[KNOBS];
	enum { EST_RIGHT, EST_CONSTANT, EST_WRONG, EST_OF_ONE_KNOB } est;
	bool barren;   /* no config has a schedule */
	bool twins;    /* the last knob means nothing: configs that differ in it are one schedule */
	int refused;   /* knob whose odd options have no schedule; -1: none */
	double noise;  /* of a time */
	Rng rng;
	int64_t estimates;
	int told, learns_at; /* answers; after how many of them the cost model changes, 0: never */
} Land;

enum { SEARCHES = 6 }; /* rows of searches[] */

/* Those that estimate what they ask. */
static const Search *const estimating[] = { &search_rank, &search_portfolio, &search_anneal, &search_evolve };

static const Land *land; /* what the template asks for */

static bool run(Sketch *s, Err *err)
{
	int64_t option[KNOB_OPTIONS];
	(void)err;
	for (int o = 0; o < land->options; o++)
		option[o] = o;
	for (int k = 0; k < land->knobs; k++)
		sketch_number(s, arena_printf(s->arena, "k%d", k), option, land->options, 0);
	return true;
}

static const Template land_template = { .name = "land", .run = run };

static Land *land_new(Arena *a, int knobs, int options, uint64_t seed)
{
	Land *l = arena_new_of(a, Land);
	l->rng = rng_seed(seed);
	l->refused = -1;
	l->knobs = knobs;
	l->options = options;
	l->space = (Space){ .arena = a, .tmpl = &land_template };
	land = l;
	l->space.first = space_begin(&l->space);
	for (int k = 0; k < knobs; k++) {
		l->best[k] = (int)rng_below(&l->rng, (uint64_t)options);
		for (int o = 0; o < options; o++)
			l->factor[k][o] = 1 + 0.08 * abs(o - l->best[k]); /* one valley a knob */
	}
	return l;
}

static double true_ns(const Land *l, const Config *c)
{
	double ns = 1000;
	for (int k = 0; k < l->knobs - l->twins; k++)
		ns *= l->factor[k][c->pick[k]];
	return ns;
}

/* Whether the cost model says something else by now. */
static int learned(void *arg)
{
	Land *l = arg;
	return l->learns_at > 0 && l->told >= l->learns_at;
}

static double estimate_one(Land *l, const Config *c, uint64_t *same)
{
	uint64_t h = 7;
	for (int k = 0; k < l->knobs - l->twins; k++)
		h = (h + c->pick[k] + 1) * 0x9e3779b97f4a7c15u;
	*same = h;
	l->estimates++;
	if (l->barren || (l->refused >= 0 && c->pick[l->refused] % 2 != 0))
		return -1;
	double ns = l->est == EST_RIGHT ? true_ns(l, c) : l->est == EST_CONSTANT ? 1000 : 1e6 / true_ns(l, c);
	if (l->est == EST_OF_ONE_KNOB)
		ns = 1000 + 10 * c->pick[0];
	return learned(l) ? ns * 100 : ns;
}

static void estimate(void *arg, const Config *c, int n, double *ns, uint64_t *same)
{
	for (int i = 0; i < n; i++)
		ns[i] = estimate_one(arg, &c[i], &same[i]);
}

static SearchCost cost_of(Land *l)
{
	return (SearchCost){ estimate, l, learned, NULL };
}

static double measured(Land *l, const Config *c)
{
	return true_ns(l, c) * (1 + l->noise * rng_real(&l->rng));
}

static double optimum(const Land *l)
{
	Config c = { 0 };
	for (int k = 0; k < l->knobs; k++) {
		c.pick[k] = (uint8_t)l->best[k];
		if (k == l->refused && l->best[k] % 2 != 0)
			c.pick[k]--; /* both neighbours are as good */
	}
	return true_ns(l, &c);
}

typedef struct Found {
	VEC(Config) asked;
	int trials; /* until the goal was met; 0: it never was */
	double best, left; /* left: what the search believes */
	bool ended;
} Found;

/* Runs a search with `late` answers outstanding until the goal (times the optimum), its end, or `most` trials. */
static Found hunt(Arena *a, Land *l, const Search *search, const char *preset, int late, double goal, int most)
{
	Found f = { .best = INFINITY };
	void *s = search->open(a, &l->space, cost_of(l), effort_find(preset), rng_seed(11));
	Config flying[8];
	int n = 0, got = 1;
	while ((int)f.asked.n < most && f.trials == 0) {
		while (n < late && (got = search->ask(s, &flying[n], 1)) > 0) {
			bool twice = false; /* ck_assert costs a write */
			for (size_t k = 0; k < f.asked.n; k++)
				twice |= memcmp(&f.asked.at[k], &flying[n], sizeof flying[n]) == 0;
			ck_assert(!twice);
			vec_push(a, &f.asked, flying[n]);
			n++;
		}
		f.ended = got == SEARCH_DONE;
		if (n == 0)
			break;
		double ns = measured(l, &flying[0]), real = true_ns(l, &flying[0]);
		search->tell(s, flying[0], ns);
		l->told++;
		memmove(flying, flying + 1, sizeof *flying * (size_t)--n);
		f.best = fmin(f.best, real);
		if (real <= optimum(l) * goal)
			f.trials = (int)f.asked.n;
	}
	f.left = search->left != NULL ? search->left(s) : -1;
	return f;
}

START_TEST(a_search_asks_each_config_once)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 3, 5, 1);
	l->space.first.pick[1] = 2;
	Found f = hunt(a, l, searches[_i], "thorough", 3, 0, 1000);
	ck_assert(f.ended);
	ck_assert(memcmp(&f.asked.at[0], &l->space.first, sizeof(Config)) == 0);
	if (searches[_i] != &search_rank && searches[_i] != &search_portfolio) /* these say that they are done */
		ck_assert_int_eq((int)f.asked.n, 125);
	ck_assert(f.best == optimum(l));
	arena_free(a);
}
END_TEST

START_TEST(what_is_told_is_not_asked)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 3, 4, 2);
	void *s = searches[_i]->open(a, &l->space, cost_of(l), effort_find("normal"), rng_seed(3));
	Config c;
	int n = 0;
	searches[_i]->tell(s, l->space.first, 5);
	ck_assert(searches[SEARCHES] == NULL);
	while (searches[_i]->ask(s, &c, 1) > 0) {
		ck_assert(memcmp(&c, &l->space.first, sizeof c) != 0);
		searches[_i]->tell(s, c, measured(l, &c));
		n++;
	}
	ck_assert_int_gt(n, 5);
	arena_free(a);
}
END_TEST

/* Of 40 landscapes that estimates say nothing of, the best is no further than is believed in four of five. */
START_TEST(what_is_believed_to_be_left_is_mostly_right)
{
	enum { LANDS = 40, FEW = 32, MANY = 100 };
	Arena *a = arena_new();
	int right = 0;
	double after_few = 0, after_many = 0;
	for (uint64_t seed = 1; seed <= LANDS; seed++) {
		Land *l = land_new(a, 8, 5, seed);
		l->est = EST_CONSTANT;
		ck_assert(hunt(a, l, &search_portfolio, "normal", 1, 0, 3).left < 0); /* too few to believe anything */
		Found few = hunt(a, l, &search_portfolio, "normal", 1, 0, FEW);
		after_few += few.left / LANDS;
		after_many += hunt(a, l, &search_portfolio, "normal", 1, 0, MANY).left / LANDS;
		right += 1 - optimum(l) / few.best <= few.left;
	}
	ck_assert_int_ge(right, LANDS * 4 / 5);
	ck_assert(after_few > 0.005 && after_few < 0.1);
	ck_assert(after_many < after_few / 2);
	arena_free(a);
}
END_TEST

/* The same seed and the same answers are the same search; another seed is another one. */
START_TEST(a_seed_is_one_search)
{
	Arena *a = arena_new();
	Config at[3][40] = { 0 };
	for (int k = 0; k < 3; k++) {
		Land *l = land_new(a, 6, 8, 2);
		l->est = EST_CONSTANT;
		void *s = searches[_i]->open(a, &l->space, cost_of(l), effort_find("normal"), rng_seed(k < 2 ? 5 : 6));
		for (int i = 0; i < LEN(at[k]); i++) {
			ck_assert_int_eq(searches[_i]->ask(s, &at[k][i], 1), 1);
			searches[_i]->tell(s, at[k][i], measured(l, &at[k][i]));
		}
	}
	ck_assert(memcmp(at[0], at[1], sizeof at[0]) == 0);
	ck_assert((memcmp(at[0], at[2], sizeof at[0]) == 0) == (searches[_i] == &search_grid));
	arena_free(a);
}
END_TEST

/* The surrogate learns what the estimate does not say, or says wrong: few trials of 8^7 configs. */
START_TEST(a_portfolio_learns)
{
	static const struct {
		int est;
		double noise, goal;
		int most;
	} cases[] = {
		{ EST_RIGHT, 0, 1.001, 25 },
		{ EST_CONSTANT, 0, 1.1, 250 },
		{ EST_WRONG, 0, 1.1, 250 },
		{ EST_CONSTANT, 0.01, 1.1, 250 },
	};
	for (uint64_t seed = 1; seed <= 3; seed++) {
		Arena *a = arena_new();
		Land *l = land_new(a, 7, 8, seed);
		l->est = cases[_i].est;
		l->noise = cases[_i].noise;
		Found f = hunt(a, l, &search_portfolio, "normal", 3, cases[_i].goal, 500);
		ck_assert_msg(f.trials > 0 && f.trials <= cases[_i].most, "seed %d: %d trials, ended %d, %g of %g", (int)seed,
			f.trials, f.ended, f.best, optimum(l));
		arena_free(a);
	}
}
END_TEST

/* In 8^7 configs: what drawing does not find in thousands of trials. */
/* The cost model tells six groups apart: one of each is asked before any is asked twice. */
START_TEST(equal_estimates_are_one_choice)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 4, 6, 5);
	bool seen[6] = { false };
	int asked = 0, groups = 0;
	l->est = EST_OF_ONE_KNOB;
	void *s = search_portfolio.open(a, &l->space, cost_of(l), effort_find("normal"), rng_seed(1));
	for (Config c; asked < 24 && search_portfolio.ask(s, &c, 1) == 1; asked++) {
		const char *source = search_portfolio.source(s);
		bool estimated = source != NULL && strcmp(source, "estimate") == 0;
		ck_assert_msg(!estimated || !seen[c.pick[0]] || groups == 6, "k0=%d again after %d groups", c.pick[0], groups);
		groups += !seen[c.pick[0]];
		seen[c.pick[0]] = true;
		search_portfolio.tell(s, c, measured(l, &c));
	}
	ck_assert_int_eq(asked, 24); /* equal estimates are no end */
	ck_assert_int_eq(groups, 6);
	arena_free(a);
}
END_TEST

START_TEST(a_descent_beats_drawing)
{
	static const struct {
		int est;
		double noise;
		int most;
	} cases[] = {
		{ EST_RIGHT, 0, 20 },
		{ EST_CONSTANT, 0, 250 },
		{ EST_WRONG, 0, 250 },
		{ EST_CONSTANT, 0.01, 400 },
	};
	for (uint64_t seed = 1; seed <= 5; seed++) {
		Arena *a = arena_new();
		Land *l = land_new(a, 7, 8, seed);
		l->est = cases[_i].est;
		l->noise = cases[_i].noise;
		Found ranked = hunt(a, l, &search_rank, "normal", 3, 1.001, 2000);
		ck_assert_msg(ranked.trials > 0 && ranked.trials <= cases[_i].most, "seed %d: %d trials, ended %d, %g of %g",
			(int)seed, ranked.trials, ranked.ended, ranked.best, optimum(l));
		Found drawn = hunt(a, l, &search_random, "normal", 3, 1.001, 2000);
		ck_assert(drawn.trials == 0);
		arena_free(a);
	}
}
END_TEST

/* When it says that it is done, no neighbour of the best is unknown. */
START_TEST(the_end_is_a_certificate)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 5, 7, 4);
	l->est = EST_CONSTANT;
	Found f = hunt(a, l, &search_rank, "normal", 3, 0, 5000);
	ck_assert(f.ended);
	Config best = f.asked.at[0];
	for (size_t i = 0; i < f.asked.n; i++)
		if (i == 0 || true_ns(l, &f.asked.at[i]) < true_ns(l, &best))
			best = f.asked.at[i];
	for (int k = 0; k < l->knobs; k++)
		for (int way = -1; way <= 1; way += 2) {
			Config c = best;
			c.pick[k] = (uint8_t)(c.pick[k] + way);
			bool there = c.pick[k] >= l->options;
			for (size_t i = 0; i < f.asked.n; i++)
				there |= memcmp(&c, &f.asked.at[i], sizeof c) == 0;
			ck_assert(there);
		}
	arena_free(a);
}
END_TEST

START_TEST(equal_schedules_are_one_point)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 4, 6, 5);
	l->twins = true;
	Found f = hunt(a, l, estimating[_i], "thorough", 2, 0, 5000);
	ck_assert(f.ended);
	bool twice = false;
	for (size_t i = 0; i < f.asked.n; i++)
		for (size_t k = 0; k < i; k++)
			twice |= memcmp(f.asked.at[i].pick, f.asked.at[k].pick, 3) == 0;
	ck_assert(!twice);
	arena_free(a);
}
END_TEST

START_TEST(what_has_no_schedule_is_not_asked)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 4, 6, 6);
	l->refused = 2;
	Found f = hunt(a, l, estimating[_i], "normal", 3, 0, 400);
	ck_assert(f.best == optimum(l));
	for (size_t i = 0; i < f.asked.n; i++)
		ck_assert_int_eq(f.asked.at[i].pick[2] % 2, 0);
	arena_free(a);
}
END_TEST

/* A cost model that learns, and says a hundred times as much from then on, ends no descent. */
START_TEST(estimates_that_change_are_asked_again)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 4, 6, 7), *same = land_new(a, 4, 6, 7);
	l->est = same->est = EST_CONSTANT;
	l->learns_at = 15;
	Found changed = hunt(a, l, &search_rank, "normal", 1, 0, 400);
	Found steady = hunt(a, same, &search_rank, "normal", 1, 0, 400);
	ck_assert(l->told > l->learns_at && l->estimates > same->estimates);
	ck_assert_msg(changed.best == steady.best && changed.asked.n == steady.asked.n,
		"%g after %zu trials, and %g after %zu", changed.best, changed.asked.n, steady.best, steady.asked.n);
	arena_free(a);
}
END_TEST

/* Everything fails: it ends all the same, and soon. */
START_TEST(failures_end_a_search)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 6, 8, 7);
	void *s = estimating[_i]->open(a, &l->space, cost_of(l), effort_find("normal"), rng_seed(3));
	Config c;
	int n = 0;
	while (estimating[_i]->ask(s, &c, 1) > 0) {
		estimating[_i]->tell(s, c, -1);
		ck_assert_int_lt(++n, 200);
	}
	ck_assert_int_eq(estimating[_i]->ask(s, &c, 1), SEARCH_DONE);
	arena_free(a);
}
END_TEST

/* In 8^8 configs of which none has a schedule, the search ends after some thousands. */
START_TEST(a_barren_space_has_an_end)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 8, 8, 7);
	l->barren = true;
	void *s = estimating[_i]->open(a, &l->space, cost_of(l), effort_find("normal"), rng_seed(3));
	Config c;
	for (int asked = 0, got; asked < 100 && (got = estimating[_i]->ask(s, &c, 1)) != SEARCH_DONE; asked++) {
		ck_assert_int_eq(got, 1);
		estimating[_i]->tell(s, c, -1);
	}
	ck_assert_int_eq(estimating[_i]->ask(s, &c, 1), SEARCH_DONE);
	ck_assert_int_lt((int)l->estimates, 20000);
	arena_free(a);
}
END_TEST

START_TEST(a_hint_is_asked_next)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 6, 8, 8);
	const Search *search = estimating[_i];
	void *s = search->open(a, &l->space, cost_of(l), effort_find("normal"), rng_seed(3));
	Config c, hint = l->space.first;
	for (int k = 0; k < 6; k++)
		hint.pick[k] = (uint8_t)(k + 1);
	search->hint(s, hint);
	ck_assert_int_eq(search->ask(s, &c, 1), 1);
	ck_assert(memcmp(&c, &l->space.first, sizeof c) == 0);
	ck_assert_int_eq(search->ask(s, &c, 1), 1);
	ck_assert(memcmp(&c, &hint, sizeof c) == 0);
	arena_free(a);
}
END_TEST

/* A search looks at no more than its preset says, and neighbours. */
START_TEST(estimates_are_counted)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 10, 16, 9);
	hunt(a, l, &search_rank, "quick", 3, 0, 12);
	ck_assert_int_gt(l->estimates, effort_find("quick")->sample);
	ck_assert_int_lt(l->estimates, 4000);
	arena_free(a);
}
END_TEST

/* A Task that gets few trials costs few estimates: the portfolio looks further with every few trials. */
START_TEST(a_portfolio_looks_further_later)
{
	static const int trials[] = { 3, 8, 12 };
	int64_t estimates[LEN(trials)];
	for (size_t i = 0; i < LEN(trials); i++) {
		Arena *a = arena_new();
		Land *l = land_new(a, 10, 16, 9);
		hunt(a, l, &search_portfolio, "thorough", 1, 0, trials[i]);
		estimates[i] = l->estimates;
		arena_free(a);
	}
	int sample = effort_find("thorough")->sample, part = sample / 4;
	ck_assert_int_gt(estimates[0], 2 * part);
	ck_assert_int_lt(estimates[0], 3 * part);
	ck_assert_int_ge(estimates[1], estimates[0] + part);
	ck_assert_int_ge(estimates[2], sample);
}
END_TEST

/* It does not end before it has looked that far, however little the first rounds bring. */
START_TEST(a_portfolio_looks_everywhere_before_its_end)
{
	Arena *a = arena_new();
	Land *l = land_new(a, 10, 16, 9);
	l->est = EST_CONSTANT;
	for (int k = 0; k < 10; k++)
		for (int o = 0; o < 16; o++)
			l->factor[k][o] = 1; /* nothing to find */
	Found f = hunt(a, l, &search_portfolio, "quick", 1, 0, 1000);
	int sample = effort_find("quick")->sample;
	ck_assert(f.ended);
	ck_assert_msg(l->estimates > 2 * sample, "%lld estimates", (long long)l->estimates);
	arena_free(a);
}
END_TEST

enum { TIME = 700 /* estimates */, ROUND = 512 /* that are made together at most */ };

static bool is_spent(void *arg)
{
	return ((Land *)arg)->estimates >= TIME;
}

/* Searches that plan on the cost model ask with what they have when the time is over. */
START_TEST(a_plan_ends_with_the_time)
{
	Arena *a = arena_new();
	const Search *search = _i == 0 ? &search_anneal : &search_evolve;
	Land *l = land_new(a, 8, 8, 1);
	SearchCost cost = cost_of(l);
	Config c;
	cost.over = is_spent;
	void *s = search->open(a, &l->space, cost, effort_find("normal"), rng_seed(1));
	ck_assert_int_eq(search->ask(s, &c, 1), 1);
	search->tell(s, c, 1000);
	ck_assert_int_eq(search->ask(s, &c, 1), 1);
	ck_assert_msg(l->estimates >= TIME && l->estimates <= TIME + 2 * ROUND, "%lld", (long long)l->estimates);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("search");
	tcase_add_loop_test(tc, a_search_asks_each_config_once, 0, SEARCHES);
	tcase_add_loop_test(tc, a_seed_is_one_search, 0, SEARCHES);
	tcase_add_loop_test(tc, a_portfolio_learns, 0, 4);
	tcase_add_test(tc, equal_estimates_are_one_choice);
	tcase_add_loop_test(tc, what_is_told_is_not_asked, 0, SEARCHES);
	tcase_add_test(tc, what_is_believed_to_be_left_is_mostly_right);
	tcase_add_loop_test(tc, a_descent_beats_drawing, 0, 4);
	tcase_add_test(tc, the_end_is_a_certificate);
	tcase_add_loop_test(tc, equal_schedules_are_one_point, 0, LEN(estimating));
	tcase_add_loop_test(tc, what_has_no_schedule_is_not_asked, 0, LEN(estimating));
	tcase_add_test(tc, estimates_that_change_are_asked_again);
	tcase_add_loop_test(tc, failures_end_a_search, 0, 2);
	tcase_add_loop_test(tc, a_barren_space_has_an_end, 0, LEN(estimating));
	tcase_add_loop_test(tc, a_hint_is_asked_next, 0, 2);
	tcase_add_test(tc, estimates_are_counted);
	tcase_add_test(tc, a_portfolio_looks_further_later);
	tcase_add_test(tc, a_portfolio_looks_everywhere_before_its_end);
	tcase_add_loop_test(tc, a_plan_ends_with_the_time, 0, 2);
	return run_suite("search", tc);
}
