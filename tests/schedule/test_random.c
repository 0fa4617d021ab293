/*
 * Random steps on naive Fns, far beyond what templates write: any primitive, any loop, any factor.
 * What is taken verifies and computes the same; what is refused is ERR_ILLEGAL and leaves the set as
 * it was.
 */
#include "equal.h"
#include "steps.h"
#include "suite.h"

#include "ir/text.h"
#include "ir/verify.h"
#include "schedule/space.h"

#include <string.h>

static const char *print(Arena *a, const KernelSet *ks)
{
	Text t = { .arena = a };
	ir_print_set(&t, ks);
	return text_str(&t);
}

/* Applies a step; true if it was taken. */
static bool try_step(Arena *a, KernelSet *ks, const Target *target, const char *step)
{
	Err err = { 0 }, sound = { 0 };
	const char *before = print(a, ks);
	Trace *t = trace_parse(a, "step", step, strlen(step), &err);
	ck_assert_msg(t != NULL, "%s: %s", step, err.text);
	bool taken = trace_apply(ks, t, NULL, target, &err);
	ck_assert_msg(ir_verify_set(ks, &sound), "%s%s: %s\n%s", step, sound.place, sound.text, before);
	if (!taken) {
		ck_assert_int_eq(err.code, ERR_ILLEGAL);
		ck_assert_str_eq(before, print(a, ks));
	}
	return taken;
}

static int taken_steps, refused_steps;

static void random_trace(const Task *task, uint64_t seed)
{
	enum { TRIES = 14 };
	Arena *a = arena_new();
	Err err = { 0 };
	Rng rng = rng_seed(seed);
	Target target;
	Text steps = { .arena = a };
	target_host(&target, 2);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	KernelSet *ks = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	text_add(&steps, "# seed %llu, %s\n", (unsigned long long)seed, task->label);
	for (int i = 0; i < TRIES; i++) {
		const char *step = random_step(a, ks, &rng);
		bool taken = try_step(a, ks, &target, step);
		if (taken)
			text_add(&steps, "%s", step);
		*(taken ? &taken_steps : &refused_steps) += 1;
	}
	must_equal(naive, ks, seed % 3 == 0 ? IR_EXACT : IR_MODP, seed, text_str(&steps));
	Trace *all = trace_parse(a, "all", text_str(&steps), steps.n, &err);
	KernelSet *again = all != NULL ? schedule_replay(ir_new(a), task, &target, all, &err) : NULL;
	ck_assert_msg(again != NULL, "%s: %s\n%s", err.place, err.text, text_str(&steps));
	ck_assert_str_eq(print(a, ks), print(a, again));
	arena_free(a);
}

START_TEST(random_steps_are_legal_or_refused)
{
	int count = getenv("DLC_TEST_ALL") != NULL ? 800 : 30;
	Arena *a = arena_new();
	Task *task = task_of(a, step_workloads[_i]);
	for (int k = 0; k < count; k++)
		random_trace(task, (uint64_t)_i * 100000 + (uint64_t)k);
	ck_assert_int_gt(taken_steps, count);
	ck_assert_int_gt(refused_steps, count);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("random_trace");
	tcase_add_loop_test(tc, random_steps_are_legal_or_refused, 0, step_nworkload);
	return run_suite("random_trace", tc);
}
