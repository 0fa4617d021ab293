/*
 * Random kernel sets: what is compiled agrees with the interpreter, and the set verifies and means
 * the same after every pass. Exact: no fma that the set did not ask for, no libm.
 */
#include "codegen/lower.h"
#include "ir/random.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "runner.h"
#include "suite.h"

#include <string.h>

typedef struct Check {
	Arena *arena;
	const Tensors *in, *want;
	uint64_t seed;
	int threads;
	const char *last; /* the text before this pass */
} Check;

static char *set_text(Arena *a, const KernelSet *ks)
{
	Text t = { .arena = a };
	ir_print_set(&t, ks);
	return t.at;
}

/* Verifies and interprets after each pass. */
static bool after_pass(const char *pass, const KernelSet *ks, void *arg, Err *err)
{
	Check *c = arg;
	Err e = { 0 };
	Tensors t;
	char *now = set_text(c->arena, ks);
	ck_assert_msg(ir_verify_set(ks, &e), "seed %llx, after %s: %s: %s\n%s\nbefore:\n%s",
		(unsigned long long)c->seed, pass, e.place, e.text, now, c->last);
	tensors_copy(&t, c->arena, c->in);
	t.arg[t.n++] = (IrArg){ LOWER_THREADS, NULL, c->threads };
	IrRun how = { .seed = c->seed };
	ck_assert_msg(ir_run_set(ks, t.arg, t.n, &how, &e),
		"seed %llx, after %s: %s: %s\n%s\nbefore:\n%s", (unsigned long long)c->seed, pass,
		e.place, e.text, now, c->last);
	t.n--;
	char *wrong = tensors_differ(c->arena, c->want, &t, 0);
	ck_assert_msg(wrong == NULL, "seed %llx, after %s: %s\n%s\nbefore:\n%s",
		(unsigned long long)c->seed, pass, wrong, now, c->last);
	c->last = now;
	(void)err;
	return true;
}

static void run_case(uint64_t seed, const Target *target)
{
	Rng rng = rng_seed(seed);
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	Err err = { 0 };
	KernelSet *ks =
		random_set(&rng, ir, RANDOM_ALL & ~RANDOM_LIBM, 1 + (int)rng_below(&rng, 4));
	Tensors in, want, got;
	if (tensors_unsure(ks)) {
		arena_free(a);
		return;
	}
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	tensors_copy(&got, a, &in);
	const char *text = set_text(a, ks);
	IrRun how = { .seed = seed };
	ck_assert_msg(ir_run_set(ks, want.arg, want.n, &how, &err), "seed %llx: %s: %s\n%s",
		(unsigned long long)seed, err.place, err.text, text);
	CodegenOptions o = { .exact = true };
	Check c = { a, &in, &want, seed, 1 + (int)rng_below(&rng, 3), text };
	KernelSet *lowered;
	if (!codegen_lower(a, ks, target, &o, after_pass, &c, &lowered, &err)) {
		ck_assert_msg(err.code == ERR_UNSUPPORTED, "seed %llx: %s: %s\n%s",
			(unsigned long long)seed, err.place, err.text, text);
		arena_free(a);
		return;
	}
	Module m;
	ck_assert_msg(codegen_compile(a, ks, target, &o, &m, &err), "seed %llx: %s: %s\n%s",
		(unsigned long long)seed, err.place, err.text, c.last);
	runner_run(a, target, ks, &m, &got);
	char *wrong = tensors_differ(a, &want, &got, 0);
	ck_assert_msg(wrong == NULL, "seed %llx: %s\n%s\nlowered:\n%s", (unsigned long long)seed,
		wrong, text, c.last);
	arena_free(a);
}

START_TEST(random_sets)
{
	Target host;
	target_host(&host, 1);
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 250 : 25;
	for (int k = 0; k < rounds; k++)
		run_case(0xc0de0000u + (uint64_t)(_i * rounds + k), &host);
}
END_TEST

/* Other levels, AArch64 under an emulator among them. */
START_TEST(random_levels)
{
	Target t;
	if (!runner_target(&t, runner_levels[_i]))
		return;
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 200 : 20;
	for (int k = 0; k < rounds; k++)
		run_case(0x1e7e1000u + (uint64_t)(_i * rounds + k), &t);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("random");
	const char *seed = getenv("DLC_TEST_SEED"); /* one case again, in hexadecimal */
	if (seed != NULL) {
		Target host;
		target_host(&host, 1);
		run_case(strtoull(seed, NULL, 16), &host);
		return 0;
	}
	tcase_add_loop_test(tc, random_sets, 0, 8);
	for (int k = 0; runner_levels[k] != NULL; k++)
		tcase_add_loop_test(tc, random_levels, k, k + 1);
	return run_suite("codegen-random", tc);
}
