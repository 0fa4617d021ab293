/*
 * Random kernel sets: what is compiled agrees with the interpreter, and the set verifies and means
 * the same after every pass. Exact: no fma that the set did not ask for, no libm.
 */
#include "codegen/lower.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "runner.h"
#include "code_suite.h"

#include <stdio.h>
#include <string.h>

typedef struct Check {
	Arena *arena;
	const Tensors *in, *want;
	uint64_t seed;
	int threads;
	const char *last; /* the text before this pass */
} Check;

/* Texts go to stdout: a message of Check has its limits. */
static void failed(uint64_t seed, const char *where, const char *why, const char *now, const char *before)
{
	printf("%s\n--- before:\n%s\n", now, before);
	ck_abort_msg("seed %llx, %s: %s", (unsigned long long)seed, where, why);
}

static const char *sentence(Arena *a, const Err *e)
{
	return arena_printf(a, "%s: %s", e->place, e->text);
}

/* Verifies and interprets after each pass. */
static bool after_pass(const char *pass, const KernelSet *ks, void *arg, Err *err)
{
	Check *c = arg;
	Err e = { 0 };
	Tensors t;
	const char *now = ir_set_str(c->arena, ks);
	if (!ir_verify_set(ks, &e))
		failed(c->seed, pass, sentence(c->arena, &e), now, c->last);
	tensors_copy(&t, c->arena, c->in);
	t.arg[t.n++] = (IrArg){ LOWER_THREADS, NULL, c->threads };
	InterpRun how = { .seed = c->seed };
	if (!interp_run_set(ks, t.arg, t.n, &how, &e))
		failed(c->seed, pass, sentence(c->arena, &e), now, c->last);
	t.n--;
	char *wrong = tensors_differ(c->arena, c->want, &t, 0);
	if (wrong != NULL)
		failed(c->seed, pass, wrong, now, c->last);
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
	KernelSet *ks = random_set(&rng, ir, RANDOM_ALL & ~RANDOM_LIBM, 1 + (int)rng_below(&rng, 4));
	Tensors in, want, got;
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	tensors_copy(&got, a, &in);
	const char *text = ir_set_str(a, ks);
	InterpRun how = { .seed = seed };
	if (!interp_run_set(ks, want.arg, want.n, &how, &err))
		failed(seed, "interpreted", sentence(a, &err), text, "");
	CodegenOptions o = { .exact = true };
	Check c = { a, &in, &want, seed, 1 + (int)rng_below(&rng, 3), text };
	KernelSet *lowered;
	Module m;
	bool ok = codegen_lower(a, ks, target, &o, after_pass, &c, &lowered, &err) &&
	          codegen_compile(a, ks, target, &o, &m, &err);
	if (!ok && err.code != ERR_UNSUPPORTED)
		failed(seed, "compiled", sentence(a, &err), c.last, text);
	if (ok) {
		runner_run(a, target, ks, &m, &got);
		char *wrong = tensors_differ(a, &want, &got, 0);
		if (wrong != NULL)
			failed(seed, "run", wrong, c.last, text);
	}
	arena_free(a);
}

/* What others found: a store's mask that loads, in the last step of a loop. */
static const uint64_t found[] = { 0xc0de01f1 };

START_TEST(found_before)
{
	Target host;
	target_host(&host, 1);
	run_case(found[_i], &host);
}
END_TEST

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

/* The case of a seed, in hexadecimal. */
START_TEST(one_again)
{
	Target host;
	target_host(&host, 1);
	run_case(strtoull(getenv("DLC_TEST_SEED"), NULL, 16), &host);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("random");
	if (getenv("DLC_TEST_SEED") != NULL) {
		tcase_add_test(tc, one_again);
		return run_code_suite("codegen-random", tc);
	}
	tcase_add_loop_test(tc, found_before, 0, LEN(found));
	tcase_add_loop_test(tc, random_sets, 0, 8);
	for (int k = 0; runner_levels[k] != NULL; k++)
		tcase_add_loop_test(tc, random_levels, k, k + 1);
	return run_code_suite("codegen-random", tc);
}
