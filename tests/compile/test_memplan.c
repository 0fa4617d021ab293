/* The memory plan: nothing alive overlaps, and the arena is close to the live set. */
#include "suite.h"

#include "base/rng.h"
#include "compile/memplan.h"

#include <stdbool.h>
#include <time.h>

static void check_plan(PlanItem *item, int n, double slack)
{
	Arena *a = arena_new();
	int64_t size = memplan(item, n, a), live = memplan_live(item, n, a);
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(item[i].offset % PLAN_ALIGN, 0);
		ck_assert(item[i].offset >= 0 && item[i].offset + item[i].bytes <= size);
		for (int j = 0; j < i; j++) {
			const PlanItem *x = &item[i], *y = &item[j];
			bool alive = x->first <= y->last && y->first <= x->last;
			bool apart = x->offset + x->bytes <= y->offset || y->offset + y->bytes <= x->offset;
			ck_assert(!alive || apart);
		}
	}
	ck_assert_msg((double)size <= (double)live * slack, "arena %lld, live %lld", (long long)size, (long long)live);
	arena_free(a);
}

START_TEST(a_chain_needs_two_buffers)
{
	PlanItem item[50];
	for (int i = 0; i < 50; i++)
		item[i] = (PlanItem){ .bytes = 640, .first = i, .last = i + 1 };
	check_plan(item, 50, 1.0);
}
END_TEST

/* A network as exporters write them: chains with residual edges and branches that join again. */
START_TEST(plans_of_random_networks_are_within_a_tenth)
{
	Rng rng = rng_seed((uint64_t)_i);
	PlanItem item[200];
	int n = 20 + (int)rng_below(&rng, 180);
	for (int i = 0; i < n; i++) {
		int64_t life = rng_below(&rng, 4) == 0 ? rng_range(&rng, 2, 6) : 1;
		item[i] = (PlanItem){ .bytes = rng_range(&rng, 1, 1 << 20), .first = i, .last = i + (int)life };
	}
	check_plan(item, n, 1.10);
}
END_TEST

START_TEST(one_item_and_none)
{
	PlanItem one = { .bytes = 1, .first = 3, .last = 3 };
	Arena *a = arena_new();
	ck_assert_int_eq(memplan(&one, 1, a), PLAN_ALIGN);
	ck_assert_int_eq(memplan(NULL, 0, a), 0);
	arena_free(a);
}
END_TEST

/* Graphs of 100 000 steps are planned in a second, not in the square of their number. */
START_TEST(long_chains_are_planned_quickly)
{
	enum { N = 200000 };
	Arena *a = arena_new();
	PlanItem *item = arena_array(a, PlanItem, N);
	for (int i = 0; i < N; i++)
		item[i] = (PlanItem){ .bytes = 64 * (1 + i % 7), .first = i, .last = i + 1 + (i % 1000 == 0 ? 50 : 0) };
	clock_t from = clock();
	int64_t size = memplan(item, N, a);
	ck_assert((double)size <= 1.1 * (double)memplan_live(item, N, a));
	ck_assert_msg(clock() - from < 20 * CLOCKS_PER_SEC, "%g s", (double)(clock() - from) / CLOCKS_PER_SEC);
	for (int i = 0; i + 1 < N; i++)
		ck_assert(item[i].offset + item[i].bytes <= item[i + 1].offset ||
			item[i + 1].offset + item[i + 1].bytes <= item[i].offset);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("memplan");
	tcase_add_test(tc, a_chain_needs_two_buffers);
	tcase_add_loop_test(tc, plans_of_random_networks_are_within_a_tenth, 0, 40);
	tcase_add_test(tc, one_item_and_none);
	tcase_add_test(tc, long_chains_are_planned_quickly);
	return run_suite("memplan", tc);
}
