/*
 * Random steps on naive Fns, far beyond what templates write: any primitive, any loop, any factor.
 * What is taken verifies and computes the same; what is refused is ERR_ILLEGAL and leaves the set as
 * it was. Each primitive is among those taken.
 */
#include "equal.h"
#include "steps.h"
#include "suite.h"

#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "schedule/space.h"

#include <string.h>
#include <sys/mman.h>

/* Applies a step; true if it was taken. */
static bool try_step(Arena *a, KernelSet *ks, const Target *target, const char *step)
{
	Err err = { 0 }, sound = { 0 };
	const char *before = ir_set_str(a, ks);
	Trace *t = trace_parse(a, "step", step, strlen(step), &err);
	ck_assert_msg(t != NULL, "%s: %s", step, err.text);
	bool taken = trace_apply(ks, t, NULL, target, &err);
	ck_assert_msg(ir_verify_set(ks, &sound), "%s%s: %s\n%s", step, sound.place, sound.text, before);
	if (!taken) {
		ck_assert_int_eq(err.code, ERR_ILLEGAL);
		ck_assert_str_eq(before, ir_set_str(a, ks));
	}
	return taken;
}

/* Whatever this machine has: it is the interpreter that runs instructions. */
static Target any_target(void)
{
	Target t;
	target_host(&t, 2);
	t.arch = ARCH_X86_64;
	t.features |= FEATURE_BIT(FEATURE_AVX512F) | FEATURE_BIT(FEATURE_AVX512VNNI);
	return t;
}

enum { TRIES = 24, SPLITS = 5, ROWS = 18, TRACES = SANITIZED ? 24 : 30 };

static uint64_t seed_of(int workload, int k)
{
	return (uint64_t)workload * 100000 + (uint64_t)k;
}

/* How traces begin: one with splits, one with what keeps rows, one in any way. */
static const char *first_step(Arena *a, const KernelSet *ks, uint64_t seed, int i, Rng *rng)
{
	static const Prim rows[] = { PRIM_compute_at, PRIM_compute_at, PRIM_compute_at, PRIM_store_at, PRIM_ring,
		PRIM_ring };
	if (seed % 3 == 1 && i < SPLITS)
		return random_step_of(a, ks, PRIM_split, rng);
	if (seed % 3 == 2 && i < ROWS)
		return random_step_of(a, ks, rows[(size_t)i % LEN(rows)], rng);
	return random_step(a, ks, rng);
}

/* The naive set after random steps; their text, and how many were refused. */
static KernelSet *random_steps(Arena *a, const Task *task, uint64_t seed, Text *steps, int *refused)
{
	Err err = { 0 };
	Rng rng = rng_seed(seed);
	Target target;
	target = any_target();
	KernelSet *ks = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	*steps = (Text){ .arena = a };
	for (int i = 0; i < TRIES; i++) {
		const char *step = first_step(a, ks, seed, i, &rng);
		if (try_step(a, ks, &target, step))
			text_add(steps, "%s", step);
		else
			++*refused;
	}
	return ks;
}

static const char *const tails[] = { "guard", "peel", "overlap" };

/* What all traces have taken, in memory that the tests' processes share. */
static struct {
	int prim[PRIM_COUNT], tail[LEN(tails)];
} *taken_of;

static void count_steps(const Trace *t)
{
	for (size_t i = 0; i < t->step.n; i++) {
		const Step *st = &t->step.at[i];
		taken_of->prim[st->prim]++;
		for (size_t j = 0; j < LEN(tails); j++)
			taken_of->tail[j] += st->prim == PRIM_split && st->n > 2 && strcmp(st->arg[2].word, tails[j]) == 0;
	}
}

static int random_trace(const Task *task, uint64_t seed, const Want *want, int *refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	Text steps, said = { .arena = a };
	target = any_target();
	KernelSet *ks = random_steps(a, task, seed, &steps, refused);
	text_add(&said, "# seed %llu, %s\n%s", (unsigned long long)seed, task->label, text_str(&steps));
	must_give(want, ks, seed, text_str(&said));
	Trace *all = trace_parse(a, "all", text_str(&steps), steps.n, &err);
	KernelSet *again = all != NULL ? schedule_replay(ir_new(a), task, &target, all, &err) : NULL;
	ck_assert_msg(again != NULL, "%s: %s\n%s", err.place, err.text, text_str(&said));
	ck_assert_str_eq(ir_set_str(a, ks), ir_set_str(a, again));
	int taken = (int)all->step.n;
	count_steps(all);
	arena_free(a);
	return taken;
}

START_TEST(random_steps_are_legal_or_refused)
{
	int count = suite_count(TRACES, TRACES, 800), taken = 0, refused = 0;
	Arena *a = arena_new();
	Task *task = task_of(a, step_workloads[_i]);
	Err err = { 0 };
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	Want want[] = { want_of(a, naive, INTERP_EXACT, 1), want_of(a, naive, INTERP_MODP, 2) };
	for (int k = 0; k < count; k++)
		taken += random_trace(task, seed_of(_i, k), &want[k % 4 != 0], &refused);
	ck_assert_int_gt(taken, count);
	ck_assert_int_gt(refused, count);
	arena_free(a);
}
END_TEST

/*
 * Of more traces than the interpreter has time for (schedule_replay has proved those above): each is proved to
 * stay inside its buffers.
 */
START_TEST(random_traces_are_proved)
{
	int count = suite_count(2 * TRACES, 2 * TRACES, 6000), refused = 0;
	Arena *a = arena_new();
	Task *task = task_of(a, step_workloads[_i]);
	for (int k = TRACES; k < count; k++) {
		Arena *own = arena_new();
		Err err = { 0 };
		Text steps;
		KernelSet *ks = random_steps(own, task, seed_of(_i, k), &steps, &refused);
		ck_assert_msg(ir_verify_accesses(ks, &err), "# seed %llu, %s\n%s%s: %s\n%s",
			(unsigned long long)seed_of(_i, k),
			task->label, text_str(&steps), err.place, err.text, ir_set_str(own, ks));
		arena_free(own);
	}
	arena_free(a);
}
END_TEST

/* After them. compute comes first, of larger convolutions: test_compute.c; tensorize wants loops of one extent:
   test_tensor.c counts it; a CPU takes no steps that make threads, and few that move elements: test_threads.c. */
START_TEST(each_primitive_and_each_tail_is_taken)
{
	for (int p = 0; p < PRIM_COUNT; p++) {
		bool elsewhere = p == PRIM_compute || p == PRIM_tensorize || p == PRIM_bind || p == PRIM_scope ||
			p == PRIM_pipeline || p == PRIM_gap || p == PRIM_swizzle || p == PRIM_last;
		ck_assert_msg(elsewhere || taken_of->prim[p] > 0, "no trace has taken %s", prim_row((Prim)p)->name);
	}
	for (size_t j = 0; j < LEN(tails); j++)
		ck_assert_msg(taken_of->tail[j] > 0, "no trace has taken split with %s", tails[j]);
}
END_TEST

int main(void)
{
	taken_of = mmap(NULL, sizeof *taken_of, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (taken_of == MAP_FAILED)
		return 1;
	TCase *tc = tcase_create("random_trace");
	tcase_add_loop_test(tc, random_steps_are_legal_or_refused, 0, step_nworkload);
	tcase_add_loop_test(tc, random_traces_are_proved, 0, step_nworkload);
	tcase_add_test(tc, each_primitive_and_each_tail_is_taken);
	return run_suite("random_trace", tc);
}
