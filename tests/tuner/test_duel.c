/*
 * Whole tunings' ends with planted times: what is chosen is never slower than the default, however the machine behaves,
 * and most of a true gain is kept.  No compiler, no clock: a turn of a network is a sum of made-up steps.
 */
#include "suite.h"

#include "base/rng.h"
#include "tuner/duel.h"

#include <math.h>
#include <string.h>

enum { MOST_TASKS = 120 };

/* A machine: relative noise of a step and of a turn, drift, and other work that lasts for some turns. */
typedef struct Machine {
	double step, turn, drift, burst; /* burst: chance that one begins in a turn */
} Machine;

static const Machine machine[] = {
	{ .step = 0.02, .turn = 0.01 }, /* quiet */
	{ .step = 0.03, .turn = 0.03 },
	{ .step = 0.05, .turn = 0.05, .drift = 0.01 },
	{ .step = 0.05, .turn = 0.05, .burst = 0.025 },
	{ .step = 0.10, .turn = 0.07, .drift = -0.005, .burst = 0.015 },
	{ .step = 0.10, .turn = 0.10, .burst = 0.05 },
};

/* What there is to gain: the share of Tasks whose best schedule is faster inside the network, and by how much. */
typedef struct Space {
	double share, least, most; /* of the default's time */
	double loss;               /* what others lose at most, though they seemed faster alone */
} Space;

static const Space space[] = {
	{ 0.0, 0, 0, 0.10 }, /* all that seemed faster is slower */
	{ 0.0, 0, 0, 0.03 },
	{ 0.3, 0.02, 0.15, 0.08 },
	{ 0.6, 0.05, 0.30, 0.05 },
	{ 1.0, 0.05, 0.25, 0 },
};

typedef struct World {
	Duel d;
	Rng rng;
	Machine m;
	int tasks, turns, most_turns, most_settle; /* most_settle: rounds that settle a choice; 0: not limited */
	double drift, factor;                  /* of the burst under way */
	int left;                              /* turns that it lasts */
	double ns[MOST_TASKS][DUEL_SCHEDULES]; /* true times */
	DuelTask task[MOST_TASKS];
} World;

static double true_ms(const World *w, const int *picks)
{
	double ns = 0;
	for (int i = 0; i < w->tasks; i++)
		ns += w->ns[i][picks[i]];
	return ns / 1e6;
}

static bool make(void *arg, DuelNetwork *net, Err *err)
{
	(void)err;
	net->made = arg;
	return true;
}

static int rounds(void *arg, int makes, int networks)
{
	const World *w = arg;
	int left = w->most_turns - w->turns - 3 * makes;
	return left > 0 ? left / networks : 0;
}

static int settles(void *arg)
{
	const World *w = arg;
	int left = w->most_settle > 0 ? w->most_settle - w->d.settled : DUEL_ROUNDS;
	return left > 0 ? left : 0;
}

static void pass_turn(World *w)
{
	w->turns++;
	w->drift += w->m.drift * rng_real(&w->rng);
	w->left--;
	if (w->left <= 0)
		w->factor = 1;
	if (w->left <= 0 && rng_real(&w->rng) < w->m.burst) {
		w->factor = 1.2 + rng_real(&w->rng);
		w->left = (int)rng_range(&w->rng, 2, 12);
	}
}

static bool time_networks(void *arg, DuelNetwork *const *net, int n, int round, Err *err)
{
	World *w = arg;
	(void)err;
	for (int v = 0; v < n; v++) {
		pass_turn(w);
		double turn = exp(w->drift + w->m.turn * rng_normal(&w->rng)) * w->factor, all = 0;
		for (int i = 0; i < w->tasks; i++) {
			int k = net[v]->pick[i];
			double ns = w->ns[i][k] * turn * exp(w->m.step * rng_normal(&w->rng));
			all += ns;
			w->task[i].ns[k][round] = w->task[i].ns[k][round] > 0 ? sqrt(w->task[i].ns[k][round] * ns) : ns;
		}
		net[v]->ms[round] = all / 1e6;
	}
	return true;
}

/* Of several that are timed alone the one that seems fastest; alone a schedule is some percent off. */
static void plant(World *w, const Space *s)
{
	double alone = w->m.step / 2;
	for (int i = 0; i < w->tasks; i++) {
		DuelTask *t = &w->task[i];
		*t = (DuelTask){ .n = 3, .runs = true };
		w->ns[i][0] = 1e4 * exp(1.5 * rng_normal(&w->rng));
		bool good = rng_real(&w->rng) < s->share;
		for (int k = 1; k < t->n; k++) {
			double u = rng_real(&w->rng), seen = -INFINITY;
			double gain = good ? s->least + (s->most - s->least) * u : -s->loss * u;
			for (int c = 0; c < 3; c++)
				seen = fmax(seen, gain + 0.03 * rng_normal(&w->rng) + alone * rng_normal(&w->rng));
			w->ns[i][k] = w->ns[i][0] * exp(-gain);
			t->prior[k] = seen;
			t->prior_se[k] = hypot(alone, 0.01);
		}
	}
}

/* Turns of networks that there is time for. */
typedef struct Turns {
	int least, most;
} Turns;

static const Turns usual = { 60, 240 }, few = { 28, 60 };

static void open_world(World *w, Arena *a, uint64_t seed, int tasks, Machine m, const Space *s, Turns turns)
{
	*w = (World){ .rng = rng_seed(seed), .m = m, .tasks = tasks, .factor = 1 };
	plant(w, s);
	w->most_turns = (int)rng_range(&w->rng, turns.least, turns.most);
	w->d = (Duel){ .arena = a,
		.task = w->task,
		.ntask = tasks,
		.all_zero_is_default = true,
		.default_may_win = true,
		.make = make,
		.time = time_networks,
		.rounds = rounds,
		.settles = settles,
		.arg = w };
	int picks[MOST_TASKS] = { 0 };
	ck_assert_int_eq(duel_add(&w->d, picks), 0);
	for (int k = 1; k < 3; k++) {
		for (int i = 0; i < tasks; i++)
			picks[i] = k;
		duel_add(&w->d, picks);
	}
}

/* What a perfect choice gains, as a part of the default's time. */
static double possible(const World *w)
{
	int picks[MOST_TASKS], none[MOST_TASKS] = { 0 };
	for (int i = 0; i < w->tasks; i++) {
		picks[i] = 0;
		for (int k = 1; k < w->task[i].n; k++)
			picks[i] = w->ns[i][k] < w->ns[i][picks[i]] ? k : picks[i];
	}
	return 1 - true_ms(w, picks) / true_ms(w, none);
}

static double gained(const World *w)
{
	int none[MOST_TASKS] = { 0 };
	return 1 - true_ms(w, w->d.net[w->d.chosen].pick) / true_ms(w, none);
}

/* The schedule with the least median of the first rounds, for each Task, and nothing else: the rule before. */
static double gained_by_least(const World *w)
{
	int picks[MOST_TASKS], none[MOST_TASKS] = { 0 };
	for (int i = 0; i < w->tasks; i++) {
		DuelTask t = w->task[i];
		picks[i] = 0;
		for (int k = 0; k < t.n; k++) {
			for (int r = TUNE_FIRST_ROUNDS; r < DUEL_ROUNDS; r++)
				t.ns[k][r] = 0;
			picks[i] = duel_ns(&t, k) < duel_ns(&t, picks[i]) ? k : picks[i];
		}
	}
	return 1 - true_ms(w, picks) / true_ms(w, none);
}

typedef struct Sum {
	int tunings, slower, slower_by_least; /* by more than TOLERANCE of the default */
	double worst, kept, possible;
} Sum;

static const double tolerance = 0.01;

static World *play(Arena *a, uint64_t seed, int tasks, Machine m, const Space *s, Turns turns, int most_settle)
{
	Err err = { 0 };
	World *w = arena_new_of(a, World);
	open_world(w, a, seed, tasks, m, s, turns);
	w->most_settle = most_settle;
	ck_assert_msg(duel_run(&w->d, &err), "%s", err.text);
	ck_assert(w->d.chosen >= 0 && w->turns <= w->most_turns + DUEL_NETWORKS);
	return w;
}

/* Tunings of all spaces on the machines from..to, with a few and with many Tasks. */
static Sum play_all(int from, int to, int first_space, int seeds, Turns turns)
{
	static const int tasks[] = { 1, 5, 25, 100 };
	Sum all = { 0 };
	for (int s = first_space; s < LEN(space); s++)
		for (int m = from; m < to; m++)
			for (int q = 0; q < LEN(tasks); q++)
				for (int seed = 0; seed < seeds; seed++) {
					Arena *a = arena_new();
					World *w = play(a, 1000003 * (uint64_t)(s * 10 + m) + 101 * (uint64_t)q + (uint64_t)seed, tasks[q],
						machine[m], &space[s], turns, 0);
					double g = gained(w);
					all.tunings++;
					all.slower += g < -tolerance;
					all.slower_by_least += gained_by_least(w) < -tolerance;
					all.worst = fmin(all.worst, g);
					all.kept += g;
					all.possible += possible(w);
					arena_free(a);
				}
	return all;
}

/* 1 200 tunings; where all that seems faster is slower, and where much is to gain. */
START_TEST(tuned_is_never_slower)
{
	Sum all = play_all(0, LEN(machine), 0, suite_count(10, 2, 100), usual);
	printf("%d tunings: %d slower, worst %.3f; by the least time of each Task %d\n", all.tunings, all.slower,
		-all.worst, all.slower_by_least);
	fflush(stdout);
	ck_assert_int_le(all.slower, all.tunings / 1000);
	ck_assert_int_gt(all.slower_by_least, all.tunings / 8); /* else these machines prove nothing */
}
END_TEST

/* The mean of gains of 5 to 20 %: on a quiet machine nearly all of it, in the worst noise half. */
START_TEST(gains_are_kept)
{
	static const double least[LEN(machine)] = { 0.97, 0.96, 0.93, 0.85, 0.75, 0.5 };
	Sum s = play_all(_i, _i + 1, 3, suite_count(50, 5, 200), usual);
	printf("machine %d: %.3f of a gain of %.3f\n", _i, s.kept / s.possible, s.possible / s.tunings);
	ck_assert_msg(s.kept > least[_i] * s.possible, "%.3f", s.kept / s.possible);
}
END_TEST

/* With so few turns the network of the winners alone is settled at once; most of a gain is kept all the same. */
START_TEST(short_budgets)
{
	Sum all = play_all(0, LEN(machine), 0, suite_count(10, 10, 100), few); /* a rate of 1 in 200 needs so many */
	Sum quiet = play_all(0, 2, 3, suite_count(50, 5, 200), few);
	printf("few turns: %d of %d slower, worst %.3f; %.3f of a gain of %.3f\n", all.slower, all.tunings, -all.worst,
		quiet.kept / quiet.possible, quiet.possible / quiet.tunings);
	ck_assert_int_le(all.slower, all.tunings / 200);
	ck_assert_msg(quiet.kept > 0.75 * quiet.possible, "%.3f", quiet.kept / quiet.possible);
}
END_TEST

/* Where rounds take long, time allows a few, or fewer than a verdict needs: clear gains come in all the same. */
START_TEST(slow_networks)
{
	static const int most_settle[] = { 3, TUNE_ROUNDS, 15 };
	double kept = 0, all = 0;
	for (int seed = 0; seed < suite_count(40, 10, 200); seed++) {
		Arena *a = arena_new();
		World *w = play(a, 9000 + (uint64_t)seed, 25, machine[1], &space[3], usual, most_settle[_i]);
		int least = most_settle[_i] > TUNE_ROUNDS ? most_settle[_i] : TUNE_ROUNDS;
		ck_assert_int_le(w->d.settled, least);
		kept += gained(w);
		all += possible(w);
		arena_free(a);
	}
	ck_assert_msg(kept > 0.75 * all, "%.3f", kept / all);
}
END_TEST

static void record(World *w, int base)
{
	int picks[MOST_TASKS];
	for (int i = 0; i < w->tasks; i++)
		picks[i] = w->task[i].base = base;
	w->d.held = true;
	duel_add(&w->d, picks);
}

/* What earlier sessions chose stays while it is not clearly slower, however noisy this session is. */
START_TEST(what_was_chosen_before_stays)
{
	int stays = 0, leaves = 0;
	enum { SEEDS = 50 };
	for (int seed = 0; seed < SEEDS; seed++)
		for (int slow = 0; slow < 2; slow++) {
			Arena *a = arena_new();
			Err err = { 0 };
			World *w = arena_new_of(a, World);
			open_world(w, a, 5000 + (uint64_t)seed, 20, machine[slow ? 1 : 4], &space[0], usual);
			w->most_turns = 200;
			for (int i = 0; i < w->tasks; i++) {
				w->ns[i][1] = w->ns[i][0] * (slow ? 1.08 : 0.97);
				w->ns[i][2] = w->ns[i][0] * 1.05;
			}
			record(w, 1);
			ck_assert(duel_run(&w->d, &err));
			stays += !slow && (w->d.chosen < 0 || gained(w) > 0); /* -1: nothing is stored */
			leaves += slow && w->d.chosen >= 0 && gained(w) > -0.005;
			arena_free(a);
		}
	ck_assert_msg(stays > SEEDS * 9 / 10 && leaves > SEEDS * 9 / 10, "%d %d", stays, leaves);
}
END_TEST

/* Without time for rounds of its own nothing new is chosen: what databases hold stays, or the default is told. */
START_TEST(no_time_chooses_nothing)
{
	for (int base = 0; base < 2; base++) {
		Arena *a = arena_new();
		Err err = { 0 };
		World *w = arena_new_of(a, World);
		open_world(w, a, 3, 20, machine[0], &space[4], usual);
		record(w, base);
		w->most_turns = 10;
		ck_assert(duel_run(&w->d, &err));
		ck_assert_int_eq(w->d.chosen, base == 0 ? 0 : -1);
		arena_free(a);
	}
}
END_TEST

/* Where there is no time at all, one round beside the default is taken all the same: else times alone would choose. */
START_TEST(one_round_passes_the_budget)
{
	for (int turns = 0; turns < 12; turns++) {
		Arena *a = arena_new();
		Err err = { 0 };
		World *w = arena_new_of(a, World);
		open_world(w, a, 11, 20, machine[0], &space[0], usual);
		w->most_turns = turns;
		ck_assert(duel_run(&w->d, &err));
		ck_assert_int_ge(w->d.round, 1);
		ck_assert_int_eq(w->d.chosen, 0);
		arena_free(a);
	}
}
END_TEST

/* The default network has other Tasks than those that were tuned, and no database chose these. */
START_TEST(another_cut_needs_a_gain)
{
	for (int time = 0; time < 2; time++) {
		Arena *a = arena_new();
		Err err = { 0 };
		World *w = arena_new_of(a, World);
		open_world(w, a, 7, 20, machine[4], &space[0], usual);
		w->d.all_zero_is_default = false;
		w->most_turns = time ? 200 : 10;
		for (int i = 0; i < w->tasks; i++)
			w->ns[i][1] = w->ns[i][2] = w->ns[i][0] * 1.05;
		ck_assert(duel_run(&w->d, &err));
		ck_assert_int_eq(w->d.chosen, 0);
		ck_assert(w->d.no_time == !time);
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("duel");
	tcase_add_test(tc, tuned_is_never_slower);
	tcase_add_loop_test(tc, gains_are_kept, 0, LEN(machine));
	tcase_add_test(tc, short_budgets);
	tcase_add_loop_test(tc, slow_networks, 0, 3);
	tcase_add_test(tc, what_was_chosen_before_stays);
	tcase_add_test(tc, no_time_chooses_nothing);
	tcase_add_test(tc, one_round_passes_the_budget);
	tcase_add_test(tc, another_cut_needs_a_gain);
	return run_suite("duel", tc);
}
