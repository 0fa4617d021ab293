/*
 * Lowering for devices: kernel sets written by hand and random ones verify and mean the same after every pass of the
 * OpenCL row; the launches that come out; what is refused.
 */
#include "codegen/backend.h"
#include "device.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "suite.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Check {
	Arena *arena;
	const Tensors *in, *want;
	const char *name, *last;
	uint64_t seed;
	double tolerance;
} Check;

/* Texts go to stdout: a message of Check has its limits. */
static void failed(const Check *c, const char *pass, const char *why, const char *now)
{
	printf("%s\n--- before:\n%s\n", now, c->last);
	ck_abort_msg("%s, seed %llx, after %s: %s", c->name, (unsigned long long)c->seed, pass, why);
}

static bool after_pass(const char *pass, const KernelSet *ks, void *arg, Err *err)
{
	Check *c = arg;
	Err e = { 0 };
	Tensors t;
	InterpRun how = { .seed = c->seed };
	const char *now = ir_set_str(c->arena, ks);
	tensors_copy(&t, c->arena, c->in);
	if (!ir_verify_set(ks, &e) || !interp_run_set(ks, t.arg, t.n, &how, &e))
		failed(c, pass, arena_printf(c->arena, "%s: %s", e.place, e.text), now);
	char *wrong = tensors_differ(c->arena, c->want, &t, c->tolerance);
	if (wrong != NULL)
		failed(c, pass, wrong, now);
	c->last = now;
	(void)err;
	return true;
}

typedef enum { REFUSED, LOWERED, PRINTED } Outcome;

static Outcome lower(Arena *a, const char *name, KernelSet *ks, uint64_t seed, double tolerance)
{
	Rng rng = rng_seed(seed);
	Err err = { 0 };
	Tensors in, want;
	Target target;
	KernelSet *lowered;
	Module m;
	InterpRun how = { .seed = seed };
	CodegenOptions o = { .exact = true };
	device_target(&target);
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	bool ok = interp_run_set(ks, want.arg, want.n, &how, &err);
	ck_assert_msg(ok, "%s, seed %llx: %s: %s", name, (unsigned long long)seed, err.place, err.text);
	Check c = { a, &in, &want, name, "", seed, tolerance };
	Outcome out = REFUSED;
	if (codegen_lower(a, ks, &target, &o, after_pass, &c, &lowered, &err))
		out = codegen_compile(a, ks, &target, &o, &m, &err) ? PRINTED : LOWERED;
	ok = out == PRINTED;
	ck_assert_msg(ok || err.code == ERR_UNSUPPORTED, "%s, seed %llx: %s: %s", name, (unsigned long long)seed, err.place,
		err.text);
	if (!ok && getenv("DLC_TEST_SAY") != NULL)
		printf("seed %llx: %s: %s\n", (unsigned long long)seed, err.place, err.text);
	return out;
}

START_TEST(every_pass_keeps_the_meaning)
{
	Arena *a = arena_new();
	KernelSet *ks = device_set(a, device_sets[_i]);
	for (uint64_t seed = 1; seed < 4; seed++)
		ck_assert_msg(lower(a, device_sets[_i], ks, seed, 1e-6) == PRINTED, "%s is refused", device_sets[_i]);
	arena_free(a);
}
END_TEST

enum { ROUNDS = 40 };

START_TEST(random_sets)
{
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 10 * ROUNDS : ROUNDS, lowered = 0, printed = 0;
	for (int k = 0; k < rounds; k++) {
		uint64_t seed = 0xdeb1ce00u + (uint64_t)(_i * rounds + k);
		unsigned without = RANDOM_LIBM | (k % 4 > 0 ? RANDOM_NARROW : 0u);
		Rng rng = rng_seed(seed);
		Arena *a = arena_new();
		KernelSet *ks = random_set(&rng, ir_new(a), RANDOM_ALL & ~without, 1 + k % 4);
		Outcome out = lower(a, "random", ks, seed, 0);
		lowered += out >= LOWERED;
		printed += out == PRINTED;
		arena_free(a);
	}
	/* Most that are not printed have a double. */
	ck_assert_msg(10 * lowered > 9 * rounds && 8 * printed > rounds, "%d, %d of %d", lowered, printed, rounds);
}
END_TEST

START_TEST(one_again)
{
	uint64_t seed = strtoull(getenv("DLC_TEST_SEED"), NULL, 16);
	for (int narrow = 0; narrow < 2; narrow++)
		for (int stages = 1; stages <= 4; stages++) {
			Rng rng = rng_seed(seed);
			Arena *a = arena_new();
			lower(a, "random", random_set(&rng, ir_new(a), RANDOM_ALL & ~(RANDOM_LIBM | (narrow ? 0u : RANDOM_NARROW)), stages), seed, 0);
			arena_free(a);
		}
}
END_TEST

int main(void)
{
	int sets = 0;
	while (device_sets[sets] != NULL)
		sets++;
	TCase *tc = tcase_create("lower");
	if (getenv("DLC_TEST_SEED") != NULL) {
		tcase_add_test(tc, one_again);
		return run_suite("codegen-device", tc);
	}
	tcase_add_loop_test(tc, every_pass_keeps_the_meaning, 0, sets);
	tcase_add_loop_test(tc, random_sets, 0, 4);
	return run_suite("codegen-device", tc);
}
