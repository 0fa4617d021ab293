/* What more trials are expected to save: nothing of a flat curve, and not more than draws of known times bring. */
#include "suite.h"

#include "base/rng.h"
#include "tuner/expect.h"

#include <math.h>

enum { TRIALS = 64 };

START_TEST(a_flat_curve_promises_little)
{
	double best[TRIALS];
	for (int i = 0; i < TRIALS; i++)
		best[i] = 3;
	ck_assert(expect_saved(best, TRIALS, 100) < 0.01);
	ck_assert(expect_saved(best, TRIALS, 100) > 0);
	ck_assert(expect_saved(best, TRIALS, 0) == 0);
	ck_assert(expect_saved(best, 1, 100) < 0.1);
}
END_TEST

START_TEST(a_falling_curve_promises_more)
{
	double best[TRIALS], flat[TRIALS];
	for (int i = 0; i < TRIALS; i++) {
		best[i] = pow(0.9, log2(i + 1));
		flat[i] = 1;
	}
	double more = expect_saved(best, TRIALS, TRIALS);
	ck_assert(more > 5 * expect_saved(flat, TRIALS, TRIALS));
	ck_assert(more < 0.1); /* another doubling would bring a tenth, and a part of it is luck */
	ck_assert(expect_saved(best, TRIALS, 4 * TRIALS) > more);
	ck_assert(expect_saved(best, TRIALS, 1 << 20) < 1);
}
END_TEST

/* Times are drawn: what is promised on average is between a quarter and one and a half of what comes. */
START_TEST(promises_are_kept)
{
	enum { HISTORIES = 400, FROM = 16 };
	double promised = 0, saved = 0;
	Rng rng = rng_seed(3);
	for (int h = 0; h < HISTORIES; h++) {
		double best[TRIALS];
		for (int i = 0; i < TRIALS; i++) {
			double ms = exp(0.3 * rng_normal(&rng));
			best[i] = i > 0 && best[i - 1] < ms ? best[i - 1] : ms;
		}
		promised += expect_saved(best, FROM, TRIALS - FROM);
		saved += 1 - best[TRIALS - 1] / best[FROM - 1];
	}
	ck_assert_msg(promised < 1.5 * saved && promised > saved / 4, "%f promised, %f saved", promised / HISTORIES,
		saved / HISTORIES);
}
END_TEST

/* Of three Tasks only the second gains by its trials: they go where most is left, and no Task is forgotten. */
START_TEST(trials_go_where_most_is_left)
{
	enum { TASKS = 3, ROUNDS = 300 };
	double time[TASKS] = { 17, 5, 2 };
	int64_t trials[TASKS] = { 0 }, in_vain[TASKS] = { 0 };
	for (int round = 0; round < ROUNDS; round++) {
		int next = 0;
		double most = -1;
		for (int i = 0; i < TASKS; i++) {
			double worth = expect_next(expect_left(time[i], 1), in_vain[i]);
			next = worth > most ? i : next;
			most = fmax(most, worth);
		}
		trials[next]++;
		in_vain[next] = next == 1 ? 0 : in_vain[next] + 1;
		time[next] = next == 1 ? 1 + 0.9 * (time[next] - 1) : time[next];
	}
	ck_assert(trials[0] > 5 * trials[2] && trials[2] > 3);
	ck_assert(trials[1] > trials[2] && time[1] < 1.1);
	ck_assert(expect_next(8, 0) > expect_next(8, 1));
	ck_assert(expect_left(3, 0) == 3 && expect_left(3, 2) > expect_left(3, 2.5));
	ck_assert(expect_left(3, 4) > 0); /* the roof may be wrong */
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("expect");
	tcase_add_test(tc, a_flat_curve_promises_little);
	tcase_add_test(tc, a_falling_curve_promises_more);
	tcase_add_test(tc, promises_are_kept);
	tcase_add_test(tc, trials_go_where_most_is_left);
	return run_suite("expect", tc);
}
