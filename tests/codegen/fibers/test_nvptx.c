/*
 * Code for CUDA, executed by fibers, against the interpreter: kernel sets written by hand with bound loops, every
 * operator in naive form, the forms that schedules give, and random sets.
 */
#include "codegen/backend.h"
#include "device/device.h"
#include "fibers.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "kernels.h"
#include "op/op.h"
#include "suite.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dags[] = {
#include "op/calls.inc"
};

static void gpu(Target *t, const char *sm)
{
	Err err = { 0 };
	const char *dirs[] = { SOURCE_ROOT "/configs/targets" };
	ck_assert_msg(target_resolve(t, sm, 1, dirs, 1, &err), "%s", err.text);
}

static const char *text_of(const Module *m, const char *name)
{
	const char *s = m->text[backend_text(&backend_nvptx, name)];
	return s != NULL ? s : "";
}

/* False: the back end refuses it. */
static bool agree(Arena *a, const Target *t, const char *name, KernelSet *ks, uint64_t seed, double tolerance)
{
	Rng rng = rng_seed(seed);
	Tensors in, want, got;
	Module m;
	Err err = { 0 };
	InterpRun how = { .seed = seed, .skip_races = true };
	CodegenOptions o = { .exact = true, .no_image = true };
	o.texts = 1u << backend_text(&backend_nvptx, "llvm") | 1u << BACKEND_LOWERED;
	if (!codegen_compile(a, ks, t, &o, &m, &err)) {
		ck_assert_msg(err.code == ERR_UNSUPPORTED, "%s: %s: %s", name, err.place, err.text);
		if (getenv("DLC_TEST_SAY") != NULL)
			printf("%s: %s: %s\n", name, err.place, err.text);
		return false;
	}
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	tensors_copy(&got, a, &in);
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s: %s", name, err.place, err.text);
	Fibers *f = fibers_load(&m, &err);
	bool ok = f != NULL && fibers_run(f, ks, &m, got.arg, got.n, seed, &err);
	const char *wrong = ok ? tensors_differ(a, &want, &got, tolerance) : err.text;
	if (wrong != NULL) {
		printf("%s\n%s\n%s\n", ir_set_str(a, ks), text_of(&m, "lowered"), text_of(&m, "llvm"));
		ck_abort_msg("%s, seed %llx: %s", name, (unsigned long long)seed, wrong);
	}
	fibers_free(f);
	return true;
}

START_TEST(sets_by_hand)
{
	Arena *a = arena_new();
	Target t;
	gpu(&t, "h200");
	KernelSet *ks = device_set(a, device_sets[_i]);
	for (uint64_t seed = 1; seed < 4; seed++)
		ck_assert_msg(agree(a, &t, device_sets[_i], ks, seed, 1e-5), "%s is refused", device_sets[_i]);
	arena_free(a);
}
END_TEST

enum { PARTS = 4 };

START_TEST(every_operator)
{
	Target t;
	int ran = 0, all = 0;
	gpu(&t, "k80");
	for (int k = _i; k < LEN(dags); k += PARTS, all++) {
		Err err = { 0 };
		Arena *a = arena_new();
		Dag *d = dag_parse(a, "case", dags[k], strlen(dags[k]), &err);
		KernelSet *ks = d != NULL ? op_naive(ir_new(a), d, "k", NAIVE_AS_TYPED, &err) : NULL;
		ck_assert_msg(ks != NULL, "%s: %s", dags[k], err.text);
		ran += agree(a, &t, dags[k], ks, (uint64_t)k, 1e-5);
		arena_free(a);
	}
	ck_assert_int_eq(ran, all);
}
END_TEST

/* The form that schedules give CPUs: vectors with tails, masks, padding in blocks, packed weights. */
START_TEST(forms_of_schedules)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	gpu(&t, "h200");
	for (const HandKernel *k = hand_kernels; k->name != NULL; k++) {
		if (!k->small)
			continue;
		const char *text = hand_kernel_text(a, KERNELS, k->form, k->params);
		KernelSet *ks = ir_parse_set(ir_new(a), k->name, text, strlen(text), &err);
		ck_assert_msg(ks != NULL, "%s: %s", k->name, err.text);
		ck_assert_msg(agree(a, &t, k->name, ks, 7, 1e-5), "%s is refused", k->name);
	}
	arena_free(a);
}
END_TEST

START_TEST(random_sets)
{
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 400 : 40, ran = 0;
	Target t;
	gpu(&t, _i % 2 == 0 ? "k80" : "h200");
	for (int k = 0; k < rounds; k++) {
		uint64_t seed = 0xc0da000u + (uint64_t)(_i * rounds + k);
		Rng rng = rng_seed(seed);
		Arena *a = arena_new();
		unsigned without = RANDOM_LIBM | (k % 4 > 0 ? RANDOM_NARROW : 0u);
		KernelSet *ks = random_set(&rng, ir_new(a), RANDOM_ALL & ~without, 1 + k % 4);
		ran += agree(a, &t, "random", ks, seed, 0);
		arena_free(a);
	}
	ck_assert_msg(10 * ran > 9 * rounds, "%d of %d", ran, rounds);
}
END_TEST

int main(void)
{
	int sets = 0;
	while (device_sets[sets] != NULL)
		sets++;
	TCase *tc = tcase_create("nvptx");
	tcase_add_loop_test(tc, sets_by_hand, 0, sets);
	tcase_add_loop_test(tc, every_operator, 0, PARTS);
	tcase_add_test(tc, forms_of_schedules);
	tcase_add_loop_test(tc, random_sets, 0, 4);
	return run_suite("codegen-nvptx", tc);
}
