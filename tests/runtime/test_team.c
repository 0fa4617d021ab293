/*
 * Threads of a team: all enter a function, and those that share a CPU are moved apart where one is free.
 */
#include "suite.h"

#include "runtime/cpu.h"
#include "runtime/team.h"

#include <sched.h>
#include <stdatomic.h>

static void count(void *arg, int thread)
{
	atomic_fetch_add((atomic_int *)arg, 1 << thread);
}

START_TEST(all_threads_enter)
{
	Team *t = team_open(3);
	ck_assert(t != NULL && team_threads(t) == 3);
	for (int k = 0; k < 100; k++) {
		atomic_int sum = 0;
		team_spread(t); /* where there are fewer CPUs, nobody moves */
		team_run(t, count, &sum);
		ck_assert_int_eq(atomic_load(&sum), 7);
	}
	team_close(t);
}
END_TEST

#if defined(__linux__)
static void note(void *arg, int thread)
{
	((int *)arg)[thread] = sched_getcpu();
}

static void note_mask(void *arg, int thread)
{
	sched_getaffinity(0, sizeof(cpu_set_t), (cpu_set_t *)arg + thread);
}

/* The CPU of thread 0, for both; then each may run everywhere again. */
typedef struct Together {
	Team *team;
	cpu_set_t mask, one;
} Together;

static void come_together(void *arg, int thread)
{
	Together *x = arg;
	(void)thread;
	sched_setaffinity(0, sizeof x->one, &x->one);
	team_barrier(x->team);
	sched_setaffinity(0, sizeof x->mask, &x->mask);
}

START_TEST(threads_of_one_cpu_part)
{
	enum { TRIES = 200 };
	int cpu[2], together = 0, apart = 0;
	if (cpu_count() < 2)
		return;
	Together x = { .team = team_open(2) };
	ck_assert_ptr_nonnull(x.team);
	ck_assert_int_eq(sched_getaffinity(0, sizeof x.mask, &x.mask), 0);
	for (int k = 0; k < TRIES; k++) {
		CPU_ZERO(&x.one);
		CPU_SET(sched_getcpu(), &x.one);
		team_run(x.team, come_together, &x);
		team_run(x.team, note, cpu);
		if (cpu[0] != cpu[1])
			continue; /* the scheduler was sooner */
		team_spread(x.team);
		team_run(x.team, note, cpu);
		together++;
		apart += cpu[0] != cpu[1];
	}
	/* On a busy machine the scheduler may bring them together again. */
	ck_assert_int_gt(together, 0);
	ck_assert_msg(apart * 2 >= together, "%d of %d times", apart, together);
	cpu_set_t mask[2];
	team_run(x.team, note_mask, mask);
	ck_assert(CPU_EQUAL(&mask[0], &x.mask) && CPU_EQUAL(&mask[1], &x.mask));
	team_close(x.team);
}
END_TEST
#endif

int main(void)
{
	TCase *tc = tcase_create("team");
	tcase_add_test(tc, all_threads_enter);
#if defined(__linux__)
	tcase_add_test(tc, threads_of_one_cpu_part);
#endif
	return run_suite("team", tc);
}
