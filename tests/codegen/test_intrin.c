/*
 * Intrinsics with an instruction of their own: on every level, with and without the feature, they compute
 * what their meaning does in the interpreter, bit for bit, wherever the operands lie; where the target has
 * the instruction, it is in the code.
 */
#include "codegen/codegen.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "runner.h"
#include "code_suite.h"

#include <string.h>

static KernelSet *parse(Arena *a, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "text", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s\n%s", err.place, err.text, text);
	return ks;
}

static Target with_vnni(void)
{
	static const char file[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v4\",\"features\":[\"x86-64-v4\",\"avx512vnni\"]}";
	Target t;
	Err err = { 0 };
	ck_assert_msg(target_parse(&t, "vnni", file, sizeof file - 1, 1, &err), "%s: %s", err.place, err.text);
	return t;
}

static const struct {
	const char *text;
	int instructions; /* vpdpbusd in the code */
	bool gathered;    /* not all operands lie side by side: bytes are loaded one by one */
} kernels[] = {
	/* operands side by side, sums in registers */
	{ "fn f(a: in u8[6, 40], b: in i8[10, 16, 4], y: out i32[6, 16]) {\n"
	  "\tfor m in 0..6 {\n\t\tfor i in 0..16 vector {\n\t\t\ty[m, i] = i32(7)\n\t\t}\n"
	  "\t\tfor k in 0..10 {\n\t\t\tintrin dpbusd_bcast_i32x16(y[m, 0:16], a[m, k * 4:4], b[k, 0:16, 0:4])\n"
	  "\t\t}\n\t}\n}\n",
		1, false },
	{ "fn f(a: in u8[3, 16, 4], b: in i8[3, 16, 4], y: inout i32[16]) {\n"
	  "\tfor k in 0..3 {\n\t\tintrin dpbusd_i32x16(y[0:16], a[k, 0:16, 0:4], b[k, 0:16, 0:4])\n\t}\n}\n",
		1, false },
	{ "fn f(a: in u8[6, 40], b: in i8[10, 8, 4], y: inout i32[6, 8]) {\n\tfor m in 0..6 {\n\t\tfor k in 0..10 {\n"
	  "\t\t\tintrin dpbusd_bcast_i32x8(y[m, 0:8], a[m, k * 4:4], b[k, 0:8, 0:4])\n\t\t}\n\t}\n}\n",
		1, false },
	/* a packed matrix, two vectors of columns, rows written out */
	{ "fn f(a: in u8[4, 8], b: in i8[32, 8] map (o, i) -> [o / 16 : 2, i / 4 : 2, o % 16 : 16, i % 4 : 4],\n"
	  "\t\ty: inout i32[4, 32]) {\n\tfor k in 0..2 {\n\t\tfor m in 0..4 unrolled {\n\t\t\tfor n in 0..2 unrolled {\n"
	  "\t\t\t\tintrin dpbusd_bcast_i32x16(y[m, n * 16:16], a[m, k * 4:4], b[n * 16:16, k * 4:4])\n"
	  "\t\t\t}\n\t\t}\n\t}\n}\n",
		8, false },
	/* not side by side: the weights as they are, sums and bytes of another order */
	{ "fn f(a: in u8[4, 8], b: in i8[16, 12], y: inout i32[16, 4] map (n, m) -> [m : 4, n : 16]) {\n"
	  "\tfor m in 0..4 {\n\t\tintrin dpbusd_bcast_i32x16(y[0:16, m], a[m, 2:4], b[0:16, 5:4])\n\t}\n}\n",
		1, true },
	{ "fn f(a: in u8[4, 8] map (m, k) -> [k : 8, m : 4], b: in i8[4, 16] map (k, n) -> [n : 16, k : 4],\n"
	  "\t\ty: inout i32[16, 4]) {\n\tfor m in 0..4 {\n\t\talloc t: i8[16, 4]\n"
	  "\t\tfor i in 0..16 {\n\t\t\tfor k in 0..4 {\n\t\t\t\tt[i, k] = b[k, i]\n\t\t\t}\n\t\t}\n"
	  "\t\tintrin dpbusd_bcast_i32x16(y[0:16, m], a[m, 3:4], t[0:16, 0:4])\n\t}\n}\n",
		1, true },
	/* in a condition, in a block, an index that is loaded */
	{ "fn f(a: in u8[4, 64], at: in i64[4], b: in i8[16, 4], y: inout i32[4, 16]) {\n"
	  "\tfor m in 0..4 {\n\t\tblock d(vm: spatial 0..4 = m) where m < 3 {\n"
	  "\t\t\tintrin dpbusd_bcast_i32x16(y[vm, 0:16], a[vm, at[vm] % 60:4], b[0:16, 0:4])\n\t\t}\n\t}\n}\n",
		1, false },
	/* written by hand: signs the other way, fewer lanes, one */
	{ "fn f(a: in u8[64], b: in i8[64], c: in i32[16], y: out i32[16], z: out i32[4], v: out i32[1]) {\n"
	  "\ty[ramp(0, 1, 16)] = dot4(c[ramp(0, 1, 16)], b[ramp(0, 1, 64)], a[ramp(0, 1, 64)])\n"
	  "\tz[ramp(0, 1, 4)] = dot4(c[ramp(3, 1, 4)], b[ramp(0, 1, 16)], b[ramp(16, 1, 16)])\n"
	  "\tv[0] = dot4(c[1], a[ramp(5, 1, 4)], a[ramp(9, 1, 4)])\n}\n",
		1, false },
};

static int count_of(const char *text, const char *what)
{
	int n = 0;
	for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
		n++;
	return n;
}

static char *asm_of(Arena *a, const Target *t, const char *text)
{
	CodegenOptions o = { .texts = runner_text_bit("asm"), .no_image = true };
	Module m;
	Err err = { 0 };
	ck_assert_msg(codegen_compile(a, parse(a, text), t, &o, &m, &err), "%s: %s", err.place, err.text);
	return arena_printf(a, "%s", runner_text(&m, "asm"));
}

START_TEST(the_instruction_is_in_the_code)
{
	Arena *a = arena_new();
	Target with = with_vnni(), without = with;
	without.features &= ~FEATURE_BIT(FEATURE_AVX512VNNI);
	const char *text = asm_of(a, &with, kernels[_i].text);
	ck_assert_msg(count_of(text, "\tvpdpbusd\t") == kernels[_i].instructions, "%s%s", kernels[_i].text, text);
	ck_assert_msg((count_of(text, "\tvpinsrb\t") > 0) == kernels[_i].gathered, "%s%s", kernels[_i].text, text);
	text = asm_of(a, &without, kernels[_i].text);
	ck_assert_int_eq(count_of(text, "\tvpdpbusd\t"), 0);
	arena_free(a);
}
END_TEST

static void agrees(const Target *t, const char *text, uint64_t seed)
{
	Arena *a = arena_new();
	Rng rng = rng_seed(seed);
	KernelSet *ks = parse(a, text);
	Tensors in, want, got;
	Module m;
	Err err = { 0 };
	InterpRun how = { .seed = seed };
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	tensors_copy(&got, a, &in);
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s\n%s", err.place, err.text, text);
	ck_assert_msg(codegen_compile(a, ks, t, NULL, &m, &err), "%s: %s\n%s", err.place, err.text, text);
	runner_run(a, t, ks, &m, &got);
	char *wrong = tensors_differ(a, &want, &got, 0);
	ck_assert_msg(wrong == NULL, "%s: %s\n%s", t->model, wrong, text);
	arena_free(a);
}

START_TEST(results_are_the_interpreters)
{
	Err err = { 0 };
	Target t = with_vnni(), host;
	target_host(&host, 1);
	for (uint64_t seed = 0; seed < 3; seed++) {
		for (int k = 0; runner_levels[k] != NULL; k++) {
			Target level;
			if (runner_target(&level, runner_levels[k]))
				agrees(&level, kernels[_i].text, seed);
		}
		if (target_runs_on(&t, &host, &err))
			agrees(&t, kernels[_i].text, seed);
		else if (seed == 0)
			suite_skip("avx512vnni", err.text);
		agrees(&host, kernels[_i].text, seed);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("intrin");
	tcase_add_loop_test(tc, the_instruction_is_in_the_code, 0, LEN(kernels));
	tcase_add_loop_test(tc, results_are_the_interpreters, 0, LEN(kernels));
	return run_code_suite("codegen-intrin", tc);
}
