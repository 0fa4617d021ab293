/*
 * Loops bound to the blocks of a launch and the threads of a block: random traces with bind and scope equal the naive
 * Fn in any order of blocks and threads, and the interpreter finds what a trace must not make: a barrier too few, an
 * axis bound twice, a buffer in the wrong scope.
 */
#include "equal.h"
#include "steps.h"
#include "suite.h"

#include "ir/text/ir_text.h"
#include "ir/threads/form.h"
#include "ir/verify/verify.h"
#include "ir/walk.h"
#include "schedule/space.h"

#include <string.h>
#include <sys/mman.h>

static Target gpu(void)
{
	return (Target){ .kind = TARGET_CUDA, .model = "any", .threads = 1, .vector_bits = 128, .vector_regs = 64 };
}

/* ---- random traces ---- */

enum { FIRST = 10, THEN = 36, TRACES = 40 };

/* What all traces have made, in memory that the tests' processes share. */
static struct {
	int threads, barriers, shared, spread; /* loops bound to block axes; local buffers that threads share out */
} *made;

static bool count(Stmt *s, void *arg)
{
	(void)arg;
	made->threads += ir_axis_of(s, NULL) == AXIS_BLOCK;
	made->barriers += s->kind == ST_BARRIER;
	made->shared += s->kind == ST_ALLOC && strcmp(s->alloc->scope, "shared") == 0;
	made->spread += s->kind == ST_ALLOC && strcmp(s->alloc->scope, "local") == 0 && s->alloc->map.n > 0;
	return true;
}

static bool take(Arena *a, KernelSet *ks, const Target *target, const char *step, const char *before)
{
	Err err = { 0 }, sound = { 0 };
	const char *was = ir_set_str(a, ks);
	Trace *t = trace_parse(a, "step", step, strlen(step), &err);
	ck_assert_msg(t != NULL, "%s: %s", step, err.text);
	bool taken = trace_apply(ks, t, NULL, target, &err);
	ck_assert_msg(ir_verify_set(ks, &sound), "%s%s: %s: %s\n%s", before, step, sound.place, sound.text, was);
	if (!taken) {
		ck_assert_int_eq(err.code, ERR_ILLEGAL);
		ck_assert_str_eq(was, ir_set_str(a, ks));
	}
	return taken;
}

/* Some steps of any kind, then most that bind; the text of those taken. */
static KernelSet *bound_steps(Arena *a, const Task *task, const Target *target, uint64_t seed, Text *steps)
{
	Rng rng = rng_seed(seed);
	KernelSet *ks = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	for (int i = 0; i < FIRST + THEN; i++) {
		static const Prim some[] = { PRIM_split, PRIM_compute_at, PRIM_cache_read, PRIM_fuse, PRIM_reorder };
		Prim prim = some[rng_below(&rng, LEN(some))];
		bool any = rng_below(&rng, 6) == 0;
		const char *step = any ? random_step(a, ks, &rng)
			: i < FIRST || rng_below(&rng, 5) == 0 ? random_step_of(a, ks, prim, &rng) : random_bound_step(a, ks, &rng);
		if (take(a, ks, target, step, text_str(steps)))
			text_add(steps, "%s", step);
	}
	return ks;
}

static void bound_trace(const Task *task, uint64_t seed, const Want *want)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = gpu();
	Text steps = { .arena = a };
	text_add(&steps, "# seed %llu, %s\n", (unsigned long long)seed, task->label);
	KernelSet *ks = bound_steps(a, task, &target, seed, &steps);
	ir_each_stmt(ks->fn[0]->body, count, NULL);
	must_give(want, ks, seed, arena_printf(a, "%s%s", text_str(&steps), ir_set_str(a, ks)));
	Trace *all = trace_parse(a, "all", text_str(&steps), steps.n, &err);
	KernelSet *again = all != NULL ? schedule_replay(ir_new(a), task, &target, all, &err) : NULL;
	ck_assert_msg(again != NULL, "%s: %s\n%s", err.place, err.text, text_str(&steps));
	ck_assert_str_eq(ir_set_str(a, ks), ir_set_str(a, again));
	arena_free(a);
}

START_TEST(random_bound_traces_equal_the_naive_fn)
{
	int traces = getenv("DLC_TEST_ALL") != NULL ? 2000 / step_nworkload + 1 : TRACES;
	Arena *a = arena_new();
	Task *task = task_of(a, step_workloads[_i]);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	Want want[] = { want_of(a, naive, INTERP_EXACT, 1), want_of(a, naive, INTERP_MODP, 2) };
	for (int k = 0; k < traces; k++)
		bound_trace(task, (uint64_t)_i * 100000 + (uint64_t)k, &want[k % 4 != 0]);
	arena_free(a);
}
END_TEST

/* After them: the traces are worth something. */
START_TEST(random_traces_have_threads_and_barriers)
{
	ck_assert_int_gt(made->threads, step_nworkload * TRACES / 2);
	ck_assert_int_gt(made->barriers, step_nworkload);
	ck_assert_int_gt(made->shared, step_nworkload);
	ck_assert_int_gt(made->spread, 0);
}
END_TEST

int main(void)
{
	made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return 1;
	TCase *tc = tcase_create("threads");
	tcase_add_loop_test(tc, random_bound_traces_equal_the_naive_fn, 0, step_nworkload);
	tcase_add_test(tc, random_traces_have_threads_and_barriers);
	return run_suite("threads", tc);
}
