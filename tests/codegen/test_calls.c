/*
 * Sub Fns as functions of their own: which ones stay, that every pass leaves a legal set that means the same,
 * that machine code of each level calls them rightly, and what reports say.
 */
#include "codegen/lower.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "runner.h"
#include "code_suite.h"

#include <string.h>

#define BODY \
	"sub fn g(n: i64, x: in f32[8, 6], y: inout f32[8, 6]) {\n\tfor j in 0..6 {\n\t\ty[n, j] = x[n, j] * " \
	"2.0\n\t}\n}\n"

static const struct {
	const char *name;
	bool stays;
	const char *text;
} sets[] = {
	{ "two calls", true,
		"fn f(x: in f32[8, 6], y: out f32[8, 6]) {\n"
		"\tfor i in 0..3 {\n\t\tcall g(i, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n"
		"\tfor i2 in 3..8 {\n\t\tcall g(i2, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n}\n" BODY },
	{ "one call", false,
		"fn f(x: in f32[8, 6], y: out f32[8, 6]) {\n"
		"\tfor i in 0..8 {\n\t\tcall g(i, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n}\n" BODY },
	{ "a window", false,
		"fn f(x: in f32[8, 7], y: out f32[8, 6]) {\n"
		"\tfor i in 0..3 {\n\t\tcall g(i, x[0:8, 1:6], y[0:8, 0:6])\n\t}\n"
		"\tfor i2 in 3..8 {\n\t\tcall g(i2, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n}\n" BODY },
	{ "several buffers", false,
		"fn f(x: in f32[8, 6], u: in f32[8, 6], y: out f32[8, 6]) {\n"
		"\tfor i in 0..3 {\n\t\tcall g(i, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n"
		"\tfor i2 in 3..8 {\n\t\tcall g(i2, u[0:8, 0:6], y[0:8, 0:6])\n\t}\n}\n" BODY },
	{ "one buffer twice", false,
		"fn f(y: inout f32[8, 6]) {\n"
		"\tfor i in 0..3 {\n\t\tcall g(i, y[0:8, 0:6], y[0:8, 0:6])\n\t}\n"
		"\tfor i2 in 3..8 {\n\t\tcall g(i2, y[0:8, 0:6], y[0:8, 0:6])\n\t}\n}\n" BODY },
	{ "an alloc", false,
		"fn f(x: in f32[8, 6], y: out f32[8, 6]) {\n\talloc t: f32[8, 6]\n"
		"\tfor i in 0..3 {\n\t\tcall g(i, x[0:8, 0:6], t[0:8, 0:6])\n\t}\n"
		"\tfor i2 in 3..8 {\n\t\tcall g(i2, x[0:8, 0:6], t[0:8, 0:6])\n\t}\n"
		"\tfor a in 0..8 {\n\t\tfor b in 0..6 {\n\t\t\ty[a, b] = t[a, b]\n\t\t}\n\t}\n}\n" BODY },
	{ "a symbol", false,
		"fn f[N in 1..8](x: in f32[8, 6], y: inout f32[8, 6]) {\n"
		"\tfor i in 0..N {\n\t\tcall g(i, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n"
		"\tcall g(N - 1, x[0:8, 0:6], y[0:8, 0:6])\n}\n" BODY },
	{ "in a vector loop", false,
		"fn f(x: in f32[8, 6], y: out f32[8, 6]) {\n"
		"\tfor i in 0..3 vector {\n\t\tcall g(i, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n"
		"\tfor i2 in 3..8 {\n\t\tcall g(i2, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n}\n" BODY },
	/* Threads; calls by thread 0 and by all; a call behind what it reads. */
	{ "parallel loops", true,
		"fn f(x: in f32[8, 6], y: out f32[8, 6], z: out f32[8]) {\n"
		"\tfor i in 0..3 parallel {\n\t\tcall g(i, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n"
		"\tcall g(3, x[0:8, 0:6], y[0:8, 0:6])\n"
		"\tfor i2 in 4..8 parallel {\n\t\tcall g(i2, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n"
		"\tfor k in 0..8 parallel {\n\t\tz[k] = y[7 - k, 3]\n\t}\n}\n" BODY },
	{ "work shared below", false,
		"fn f(x: in f32[8], y: out f32[8]) {\n\tcall h(0, x[0:8], y[0:8])\n\tcall h(4, x[0:8], y[0:8])\n}\n"
		"sub fn h(n: i64, x: in f32[8], y: inout f32[8]) {\n\tfor j in 0..4 parallel {\n\t\ty[n + j] = x[n + "
	    "j]\n\t}\n}\n" },
	/* What a loop adds up stays in memory where a call sees it. */
	{ "sums around calls", true,
		"fn f(x: in f32[8], y: out f32[2], z: out f32[8]) {\n\ty[0] = 0.0\n\ty[1] = 0.0\n"
		"\tfor i in 0..8 {\n\t\tsum y[0] <- x[i]\n\t\tcall h(i, y[0:2], z[0:8])\n\t}\n"
		"\tcall h(0, y[0:2], z[0:8])\n}\n"
		"sub fn h(n: i64, y: inout f32[2], z: inout f32[8]) {\n\tz[n] = y[0]\n\ty[1] = y[1] + y[0]\n\ty[0] = y[0] * "
	    "0.5\n}\n" },
	/* Index maps; an alloc in the workspace; float and narrow scalars; unrolled and vector loops. */
	{ "layouts and scalars", true,
		"fn f(x: in f32[24, 4] map (c, w) -> [c / 16 : 2, w : 4, c % 16 : 16], k: in i64[2],\n"
		"\t\ty: out f32[24, 4] map (c, w) -> [c / 16 : 2, w : 4, c % 16 : 16]) {\n"
		"\tfor i in 0..2 {\n\t\tcall h(i, f32(i) + 0.5, i32(k[i]), i == 0, x[0:24, 0:4], y[0:24, 0:4])\n\t}\n"
		"\tfor i2 in 2..4 unrolled {\n\t\tcall h(i2, 2.0, i32(7), true, x[0:24, 0:4], y[0:24, 0:4])\n\t}\n}\n"
		"sub fn h(w: i64, s: f32, t: i32, u: bool, x: in f32[24, 4], y: inout f32[24, 4]) {\n"
		"\talloc m: f32[24]\n\tfor c in 0..24 {\n\t\tm[(c * 5 + 3) % 24] = x[c, w] * s\n\t}\n"
		"\tfor o in 0..3 {\n\t\tfor v in 0..8 vector {\n\t\t\ty[o * 8 + v, w] = select(u, m[o * 8 + v], f32(t & "
	    "i32(15)))\n\t\t}\n\t}\n}\n" },
	/* A register that is read in parts. */
	{ "halves and lanes", true,
		"fn f(x: in f32[32], y: out f32[16]) {\n\tcall h(0, x[0:32], y[0:16])\n\tcall h(8, x[0:32], y[0:16])\n}\n"
		"sub fn h(n: i64, x: in f32[32], y: inout f32[16]) {\n\talloc t: f32[16] @local\n"
		"\tt[ramp(0, 1, 16)] = x[ramp(n, 1, 16)]\n"
		"\tt[ramp(0, 1, 16)] = t[ramp(0, 1, 16)] + x[ramp(n + 4, 1, 16)]\n"
		"\ty[ramp(n, 1, 8)] = t[ramp(1, 1, 8)] - t[ramp(8, 1, 8)]\n\ty[n] = y[n] + t[11] * t[0]\n}\n" },
	/* Constants that a prepare Fn makes; names of a block and of a buffer are two things. */
	{ "prepare", true,
		"prepare fn p(c: const f32[6], d: out f32[6]) {\n\tcall q(0, c[0:6], d[0:6])\n\tcall q(3, c[0:6], d[0:6])\n}\n"
		"fn f(d: const f32[6], y: out f32[6]) {\n\tcall r(0, d[0:6], y[0:6])\n\tcall r(3, d[0:6], y[0:6])\n}\n"
		"sub fn q(n: i64, c: const f32[6], d: inout f32[6]) {\n\tfor i in 0..3 {\n"
		"\t\tblock d(v: spatial 0..6 = n + i) {\n\t\t\td[v] = c[v] + 1.0\n\t\t}\n\t}\n}\n"
		"sub fn r(n: i64, d: const f32[6], y: inout f32[6]) {\n\tfor i in 0..3 {\n\t\ty[n + i] = d[n + i]\n\t}\n}\n" },
	{ "a block called like a buffer", false,
		"fn f(x: in f32[6], y: out f32[6]) {\n\tcall q(0, x[0:3], y[0:3])\n\tcall q(0, x[3:3], y[3:3])\n}\n"
		"sub fn q(n: i64, x: in f32[3], y: inout f32[3]) {\n\tfor i in 0..3 {\n"
		"\t\tblock y(v: spatial 0..3 = n + i) {\n\t\t\ty[v] = x[v] + 1.0\n\t\t}\n\t}\n}\n" },
	/* Padding that nobody writes is zero all the same. */
	{ "padding", true,
		"fn f(x: in f32[12], y: out f32[12] map (c) -> [c / 8 : 2, c % 8 : 8]) {\n"
		"\tcall h(0, x[0:12], y[0:12])\n\tcall h(6, x[0:12], y[0:12])\n}\n"
		"sub fn h(n: i64, x: in f32[12], y: inout f32[12]) {\n\tfor i in 0..6 {\n\t\ty[n + i] = x[n + i]\n\t}\n}\n" },
	{ "a sub Fn that calls another", true,
		"fn f(x: in f32[8, 6], y: out f32[8, 6]) {\n"
		"\tcall h(0, x[0:8, 0:6], y[0:8, 0:6])\n\tcall g(3, x[0:8, 0:6], y[0:8, 0:6])\n"
		"\tfor i in 4..8 {\n\t\tcall k(i, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n\tcall k(3, x[0:8, 0:6], y[0:8, 0:6])\n}\n"
		"sub fn k(n: i64, x: in f32[8, 6], y: inout f32[8, 6]) {\n\tfor j in 0..6 {\n\t\ty[n, j] = x[n, j] * "
	    "2.0\n\t}\n}\n"
		"sub fn h(n: i64, x: in f32[8, 6], y: inout f32[8, 6]) {\n\tfor i in 0..3 {\n"
		"\t\tcall g(n + i, x[0:8, 0:6], y[0:8, 0:6])\n\t}\n}\n" BODY },
};

static KernelSet *parse(Arena *a, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "text", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s\n%s", err.place, err.text, text);
	return ks;
}

typedef struct Check {
	Arena *arena;
	const Tensors *in, *want;
	int threads;
} Check;

static bool after_pass(const char *pass, const KernelSet *ks, void *arg, Err *err)
{
	Check *c = arg;
	Err e = { 0 };
	Tensors t;
	InterpRun how = { .seed = 3 };
	(void)err;
	const char *text = ir_set_str(c->arena, ks);
	tensors_copy(&t, c->arena, c->in);
	t.arg[t.n++] = (IrArg){ LOWER_THREADS, NULL, c->threads };
	ck_assert_msg(ir_verify_set(ks, &e) && interp_run_set(ks, t.arg, t.n, &how, &e), "%s: %s: %s\n%s", pass, e.place,
		e.text, text);
	t.n--;
	char *wrong = tensors_differ(c->arena, c->want, &t, 0);
	ck_assert_msg(wrong == NULL, "%s: %s\n%s", pass, wrong, text);
	return true;
}

START_TEST(calls_mean_what_bodies_do)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Rng rng = rng_seed(11);
	KernelSet *ks = parse(a, sets[_i].text), *lowered;
	Tensors in, want, got;
	Target t;
	InterpRun how = { .seed = 1 };
	CodegenOptions o = { .exact = true };
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s: %s", sets[_i].name, err.place, err.text);
	target_host(&t, 1);
	for (int threads = 1; threads <= 3; threads++) {
		Check c = { a, &in, &want, threads };
		int subs = 0;
		ck_assert_msg(codegen_lower(a, ks, &t, &o, after_pass, &c, &lowered, &err), "%s: %s", sets[_i].name, err.text);
		for (size_t k = 0; k < lowered->n; k++)
			subs += lowered->fn[k]->kind == FN_SUB;
		ck_assert_msg((subs > 0) == sets[_i].stays, "%s: %d sub Fns are left", sets[_i].name, subs);
	}
	for (int k = 0; runner_levels[k] != NULL; k++) {
		Module m;
		if (!runner_target(&t, runner_levels[k]))
			continue;
		tensors_copy(&got, a, &in);
		ck_assert_msg(codegen_compile(a, ks, &t, &o, &m, &err), "%s: %s", sets[_i].name, err.text);
		runner_run(a, &t, ks, &m, &got);
		char *wrong = tensors_differ(a, &want, &got, 0);
		ck_assert_msg(wrong == NULL, "%s for %s: %s", sets[_i].name, runner_levels[k], wrong);
	}
	arena_free(a);
}
END_TEST

/* Figures of a kernel are with those of what it calls: 40 vectors do not fit 16 registers; 4000 bytes of work. */
START_TEST(reports_see_through_calls)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Module m;
	Target t;
	Text text = { .arena = a };
	CodegenOptions o = { .texts = runner_text_bit("llvm") };
	text_add(&text,
		"fn f(x: in f32[320], y: out f32[320]) {\n\talloc own: f32[10]\n\town[i64(x[0])] = 1.0\n"
		"\tcall g(0, x[0:320], y[0:320])\n\tcall g(1, x[0:320], y[0:320])\n\ty[1] = own[i64(x[0])]\n}\n"
		"sub fn g(n: i64, x: in f32[320], y: inout f32[320]) {\n\talloc big: f32[1000]\n\tbig[i64(x[n])] = 2.0\n");
	for (int k = 0; k < 40; k++)
		text_add(&text, "\tlet a%d: f32x8 = x[ramp(%d, 1, 8)]\n", k, 8 * k);
	for (int k = 0; k < 40; k++)
		text_add(&text, "\ty[ramp(%d, 1, 8)] = a%d * a%d + a%d\n", 8 * k, k, (k + 13) % 40, (k + 29) % 40);
	text_add(&text, "\ty[0] = big[i64(x[n])]\n}\n");
	static const char level[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v3\"}";
	ck_assert_msg(target_parse(&t, "t", level, sizeof level - 1, 1, &err), "%s", err.text);
	ck_assert_msg(codegen_compile(a, parse(a, text_str(&text)), &t, &o, &m, &err), "%s", err.text);
	ck_assert_int_eq(m.image.nentry, 1);
	ck_assert_str_eq(m.report[0].name, "f");
	ck_assert_int_gt(m.report[0].spills, 10);
	ck_assert_int_gt(m.report[0].frame_bytes, 320);
	ck_assert_int_gt(m.report[0].code_bytes, 500);
	ck_assert_int_eq((int)m.image.entry[0].work_bytes, 64 + 4032);
	ck_assert(strstr(runner_text(&m, "llvm"), "define internal void @kernel.g(") != NULL);
	ck_assert(strstr(runner_text(&m, "llvm"), "call void @kernel.g(") != NULL);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("calls");
	tcase_add_loop_test(tc, calls_mean_what_bodies_do, 0, LEN(sets));
	tcase_add_test(tc, reports_see_through_calls);
	return run_code_suite("codegen-calls", tc);
}
