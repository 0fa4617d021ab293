/*
 * Lowering for devices: kernel sets written by hand and random ones verify and mean the same after every pass of the
 * OpenCL row; the launches that come out; what is refused.
 */
#include "codegen/backend.h"
#include "device.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "code_suite.h"
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

/* A launch as text: grid and block, each dimension as (mul a b + add) / div. */
static const char *launch_text(Arena *a, const DlcLaunch *l)
{
	Text t = { .arena = a };
	for (int k = 0; k < DLC_SHARED; k++) {
		const DlcDim *d = &l->dim[k];
		text_add(&t, "%s", k == 0 ? "" : k == DLC_BLOCK ? " | " : " ");
		if (d->mul != 0)
			text_add(&t, "%lld*%d,%d+", (long long)d->mul, d->sym[0], d->sym[1]);
		text_add(&t, "%lld", (long long)d->add);
		if (d->div != 1)
			text_add(&t, "/%lld", (long long)d->div);
	}
	return text_str(&t);
}

static const struct {
	const char *name;
	int nentry;
	const char *launch; /* of the entry with the most threads */
	int64_t threads, shared_bytes;
} launches[] = {
	{ "elementwise", 1, "1*0,-1+63/64 1 1 | 64 1 1", 64, 0 },
	{ "matmul", 1, "2 2 1 | 8 8 1", 64, 2048 },
	{ "joins", 1, "2 1 1 | 12 4 1", 48, 192 },
	{ "reduce", 3, "4 1 1 | 64 1 1", 64, 256 },
	{ "conv", 2, "4 9 1 | 1 1 1", 1, 0 },
	{ "blocked", 2, "1*0,-1+0 1 1 | 8 1 1", 8, 128 },
	{ "rows", 3, "1 1 6 | 1 1 1", 1, 0 },
};

START_TEST(launch_of_a_set)
{
	Arena *a = arena_new();
	Target target;
	Module m;
	Err err = { 0 };
	device_target(&target);
	ck_assert(codegen_compile(a, device_set(a, launches[_i].name), &target, NULL, &m, &err));
	ck_assert_int_eq((int)m.image.nentry, launches[_i].nentry);
	bool found = false;
	uint32_t rest = 0; /* entries of a Fn count down */
	for (uint32_t k = 0; k < m.image.nentry; k++) {
		const DlcEntry *e = &m.image.entry[k];
		ck_assert(rest == 0 || e->rest == rest - 1);
		rest = e->rest;
		found = found || (strcmp(launch_text(a, &e->launch), launches[_i].launch) == 0 &&
							 m.report[k].threads == launches[_i].threads &&
							 m.report[k].shared_bytes == launches[_i].shared_bytes);
	}
	ck_assert_msg(found && rest == 0, "%s", (const char *)m.image.bytes);
	ck_assert(m.image.device == DLC_DEVICE_OPENCL && m.image.bytes[m.image.size - 1] == 0);
	arena_free(a);
}
END_TEST

/* Too long for the axis with some symbols, not with all: the launch is the symbol, and who starts it sees it. */
START_TEST(grid_of_a_large_symbol)
{
	static const char text[] = "fn f[n in 1..100000](y: out f32[n]) { for g in 0..n bound(grid.z) { y[g] = 0.0 } }";
	Arena *a = arena_new();
	Target target;
	Module m;
	Err err = { 0 };
	device_target(&target);
	KernelSet *ks = ir_parse_set(ir_new(a), "f", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && codegen_compile(a, ks, &target, NULL, &m, &err), "%s", err.text);
	ck_assert_str_eq(launch_text(a, &m.image.entry[0].launch), "1 1 1*0,-1+0 | 1 1 1");
	arena_free(a);
}
END_TEST

/* A guarded sum is in a register while it is the thread's own, and in memory where other threads may store it. */
START_TEST(guarded_sums)
{
	Arena *a = arena_new();
	Target target;
	Module m;
	Err err = { 0 };
	device_target(&target);
	ck_assert(codegen_compile(a, device_set(a, "guarded"), &target, NULL, &m, &err));
	const char *text = (const char *)m.image.bytes;
	ck_assert_msg(strstr(text, "vpart_d1 = (vpart_d1 +") != NULL && strstr(text, "vone[0] = (vone[0] +") != NULL, "%s",
		text);
	arena_free(a);
}
END_TEST

#define FN(body) "fn f(x: in f32[64], y: out f32[64]) {\n" body "}\n"
#define COPY "for t in 0..64 bound(block.x) { y[t] = x[t] }"
static const struct {
	const char *text, *says;
} refused[] = {
	{ FN("for k in 0..2 { for g in 0..32 bound(grid.x) { y[k * 32 + g] = x[g] } }"),
		"a loop of the grid stands in a loop or an `else`" },
	{ FN("for g in 0..8 bound(grid.y) { y[g] = 0.0 for h in 0..8 bound(grid.x) { y[g * 8 + h] = x[h] } }"),
		"a statement stands beside a loop of the grid" },
	{ FN("for t in 0..64 bound(block.x) { for w in 0..1 bound(warp.x) { y[t] = x[t] } }"),
		"no loops and barriers of a warp" },
	{ FN("for g in 0..1 bound(grid.x) { barrier grid " COPY " }"), "no loops and barriers of a grid" },
	{ "fn f[n in 65536..100000](y: out f32[n]) { for g in 0..n bound(grid.z) { y[g] = 0.0 } }",
		"loop g is bound to grid.z and has no known end below 65536" },
	{ "fn f[n in 1..8](y: out f32[8]) { for t in 0..min(n, 4) bound(block.x) { y[t] = 0.0 } }",
		"the threads along block.x are no product of symbols" },
	{ FN("for g in 0..1 bound(grid.x) { alloc s: f32[9000] @shared " COPY " s[0] = 1.0 }"),
		"36032 bytes of shared memory and the device has 32768" },
	{ FN("for t in 0..64 bound(block.x) { alloc s: f32[20000] @local for i in 0..20000 { s[i] = x[t] } "
		 "y[t] = s[i64(x[t])] }"),
		"an alloc of more than 64 KiB for each thread" },
	{ "fn f(y: out f64[8]) { y[0] = f64(0) }", "does not print f64, which the device is not known to have" },
	{ "fn f(y: out i4[8]) { y[0] = i4(0) }", "does not print elements of less than a byte" },
	{ "fn f(y: inout i16[8]) { atomic sum y[0] <- i16(1) }", "does not print atomics but of one element of 32 bits" },
	{ "fn a.b(y: out f32[8]) { y[0] = 0.0 } fn a_b(z: out f32[8]) { z[0] = 0.0 }",
		"have one name, dlc_a_b, on a device" },
};

START_TEST(refusals)
{
	Arena *a = arena_new();
	Target target;
	Module m;
	Err err = { 0 };
	device_target(&target);
	KernelSet *ks = ir_parse_set(ir_new(a), "f", refused[_i].text, strlen(refused[_i].text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", refused[_i].text, err.text);
	ck_assert_msg(!codegen_compile(a, ks, &target, NULL, &m, &err), "%s", refused[_i].text);
	ck_assert_msg(err.code == ERR_UNSUPPORTED && strstr(err.text, refused[_i].says) != NULL, "%s: %s", refused[_i].text,
		err.text);
	arena_free(a);
}
END_TEST

START_TEST(one_again)
{
	uint64_t seed = strtoull(getenv("DLC_TEST_SEED"), NULL, 16);
	for (int narrow = 0; narrow < 2; narrow++)
		for (int stages = 1; stages <= 4; stages++) {
			Rng rng = rng_seed(seed);
			Arena *a = arena_new();
			unsigned without = RANDOM_LIBM | (narrow ? 0u : RANDOM_NARROW);
			lower(a, "random", random_set(&rng, ir_new(a), RANDOM_ALL & ~without, stages), seed, 0);
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
		return run_code_suite("codegen-device", tc);
	}
	tcase_add_loop_test(tc, every_pass_keeps_the_meaning, 0, sets);
	tcase_add_loop_test(tc, random_sets, 0, 4);
	tcase_add_loop_test(tc, launch_of_a_set, 0, LEN(launches));
	tcase_add_test(tc, grid_of_a_large_symbol);
	tcase_add_test(tc, guarded_sums);
	tcase_add_loop_test(tc, refusals, 0, LEN(refused));
	return run_code_suite("codegen-device", tc);
}
