/*
 * Values that statements share. Lets of one name in different places: where a pass puts one place into the other, each
 * load still sees its own. A load of a condition for all lanes is no load of the lanes that the condition takes. What
 * a condition of a branch loads is known in its arms, until a store. Functions of two stores at once are those of each.
 */
#include "codegen/codegen.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "runner.h"
#include "code_suite.h"

#include <string.h>

/* Two stores of one form, whose first factor is equal, with a function inside of another one. */
#define PAIR \
	"fn k(x: in f32[64], b: in f32[8], y: out f32[64]) {\n	for o in 0..4 {\n" \
	"		for i in 0..8 vector {\n" \
	"			y[o * 16 + i] = exp(b[i]) * erf(x[o * 16 + i] * sigmoid(x[o * 16 + i]))\n" \
	"		}\n		for j in 0..8 vector {\n" \
	"			y[o * 16 + j + 8] = exp(b[j]) * erf(x[o * 16 + j + 8] * sigmoid(x[o * 16 + j + 8]))\n		}\n	}\n}\n"

static const char *const texts[] = {
	/* the only iteration of a loop becomes a list of its own around the second loop */
	"fn k(x: in f32[8], y: out f32[8]) {\n"
	"	for i in 0..2 {\n"
	"		for j in 0..1 {\n"
	"			block a(vi: spatial 0..2 = i, vj: spatial 0..1 = j) {\n"
	"				let p: f32 = x[vi * 4 + vj]\n				let q: f32 = p * 2.0\n"
	"				y[vi * 4 + vj] = q + p\n			}\n		}\n"
	"		for l in 1..4 {\n"
	"			block b(wi: spatial 0..2 = i, wl: spatial 1..4 = l) {\n"
	"				let p: f32 = x[wi * 4 + wl] + 1.0\n				let q: f32 = p * 2.0\n"
	"				y[wi * 4 + wl] = q + p\n			}\n		}\n	}\n}\n",
	/* two blocks' bodies in one list; no blocks at all */
	"fn k(x: in f32[8], y: out f32[8]) {\n"
	"	for i in 0..4 {\n"
	"		block a(vi: spatial 0..4 = i) {\n			let p: f32 = x[vi]\n			y[vi] = p * p\n		}\n"
	"		block b(wi: spatial 0..4 = i) {\n			let p: f32 = x[wi + 4]\n			y[wi + 4] = p * p\n		}\n"
	"	}\n}\n",
	"fn k(x: in f32[8], y: out f32[8]) {\n"
	"	for i in 0..1 {\n		let p: f32 = x[i]\n		y[i] = p * p + p\n	}\n"
	"	for j in 1..8 {\n		let p: f32 = x[j]\n		y[j] = p * p + p\n	}\n}\n",
	/* a condition that loads what an arm loads */
	"fn k(x: in f32[8], y: out f32[8]) {\n	for i in 0..8 vector {\n		block a(vi: spatial 0..8 = i) {\n"
	"			y[vi] = select(0.5 <= x[vi], x[vi], 0.0)\n		}\n	}\n}\n",
	/* an arm reads and stores what its condition loaded, and so does the other one; then all read it again */
	"fn k(x: in f32[8], y: out f32[8]) {\n	for i in 0..8 {\n		block a(vi: spatial 0..8 = i) {\n"
	"			y[vi] = x[vi]\n			if 0.0 <= y[vi] {\n				y[vi] = y[vi] + 1.0\n"
	"				y[vi] = y[vi] * 2.0\n			} else {\n				y[vi] = y[vi] - 3.0\n			}\n"
	"			y[vi] = y[vi] * y[vi]\n		}\n	}\n}\n",
	/* a loop in the arm stores what the condition loaded */
	"fn k(x: in f32[8], y: out f32[8]) {\n	for i in 0..8 {\n		block a(vi: scan 0..8 = i) {\n"
	"			y[vi] = x[vi]\n			if 0.0 <= y[vi] {\n				for j in 0..3 {\n"
	"					y[vi] = y[vi] + 1.0\n				}\n			}\n		}\n	}\n}\n",
	/* places inside, below and above: one comparison without a sign */
	"fn k(x: in i64[64], y: out i64[64]) {\n	for i in 0..64 {\n		block a(vi: spatial 0..64 = i) {\n"
	"			y[vi] = 7\n			if 0 <= x[vi] & x[vi] < 3 {\n				y[vi] = x[vi]\n			}\n"
	"			if 0 <= x[vi] + 1 & x[vi] + 1 < 1 {\n				y[vi] = 70\n			}\n		}\n	}\n}\n",
	/* functions of two stores at once: not where the second reads what the first one stores */
	"fn k(x: in f32[16], y: out f32[16]) {\n"
	"	for i in 0..8 vector {\n		y[i] = exp(x[i]) * x[i + 8]\n	}\n"
	"	for j in 0..8 vector {\n		y[j + 8] = exp(x[j + 8] + erf(x[j])) * sigmoid(x[j])\n	}\n}\n",
	"fn k(x: in f32[16], y: out f32[16]) {\n"
	"	for i in 0..8 vector {\n		y[i] = tanh(x[i])\n	}\n"
	"	for j in 0..8 vector {\n		y[j + 8] = tanh(y[j])\n	}\n}\n",
	"fn k(x: in f32[8], y: out f32[8], z: out f32[8]) {\n"
	"	for i in 0..8 vector {\n		y[i] = sigmoid(x[i])\n	}\n"
	"	for j in 0..8 vector {\n		z[j] = sigmoid(y[j])\n	}\n}\n",
	PAIR,
};

/* Two stores of bytes, which fit a register, of values that do not. */
#define BYTES \
	"fn k(x: in f32[64], y: out i8[64]) {\n" \
	"	for i in 0..32 vector {\n		y[i] = i8(sigmoid(x[i]) * 99.0)\n	}\n" \
	"	for j in 0..32 vector {\n		y[j + 32] = i8(sigmoid(x[j + 32]) * 99.0)\n	}\n}\n"

START_TEST(each_place_sees_its_own)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	Module m;
	Tensors in, want, got;
	Rng rng = rng_seed((uint64_t)_i);
	InterpRun how = { 0 };
	target_host(&target, 1);
	/* With AVX-512, too, the level where stores are interleaved. */
	if (_i % 2 == 1 && !runner_target(&target, "x86-64-v3"))
		return;
	KernelSet *ks = ir_parse_set(ir_new(a), "lets", texts[_i / 2], strlen(texts[_i / 2]), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	tensors_copy(&got, a, &in);
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s", err.text);
	ck_assert_msg(codegen_compile(a, ks, &target, NULL, &m, &err), "%s", err.text);
	runner_run(a, &target, ks, &m, &got);
	char *wrong = tensors_differ(a, &want, &got, 1e-6);
	ck_assert_msg(wrong == NULL, "%s", wrong);
	arena_free(a);
}
END_TEST

/* Functions of two stores at once have twice the lanes of a register. */
static const struct {
	const char *text, *code;
	int n;
} interleaved[] = {
	{ PAIR, "fdiv <16 x float>", 1 },
	{ PAIR, "@llvm.copysign.v16f32(", 2 }, /* erf's, and its declaration */
	{ BYTES, "fdiv <32 x float>", 2 },
	{ BYTES, "fdiv <64 x float>", 0 },
};

START_TEST(functions_are_interleaved)
{
	static const char level[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v3\"}";
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	Module m;
	CodegenOptions o = { .texts = runner_text_bit("llvm") };
	ck_assert_msg(target_parse(&target, "v3", level, sizeof level - 1, 1, &err), "%s", err.text);
	KernelSet *ks = ir_parse_set(ir_new(a), "lets", interleaved[_i].text, strlen(interleaved[_i].text), &err);
	ck_assert_msg(ks != NULL && codegen_compile(a, ks, &target, &o, &m, &err), "%s: %s", err.place, err.text);
	ck_assert_int_eq(runner_count(runner_text(&m, "llvm"), interleaved[_i].code), interleaved[_i].n);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("lets");
	tcase_add_loop_test(tc, each_place_sees_its_own, 0, 2 * LEN(texts));
	tcase_add_loop_test(tc, functions_are_interleaved, 0, LEN(interleaved));
	return run_code_suite("lets", tc);
}
