/*
 * codegen_compile as its callers see it: the same bytes for the same input, whatever the process
 * did before; reports, texts, refusals; nothing called from outside; and golden hashes, so that a
 * change of generated code comes with a new CODEGEN_EPOCH (--bless writes them anew, and does not
 * take other code under the old number).
 */
#include "base/hash.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/llvm_api.h"
#include "codegen/lower.h"
#include "ir/text/ir_text.h"
#include "runner.h"
#include "code_suite.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* tile, depthwise and winograd are as templates leave them: packed weights, register tiles, prefetches. */
static const char *const golden[] = { "conv", "matmul", "softmax", "types", "math", "tile", "depthwise", "winograd",
	"interleaved", "streamed" };
static const char *const golden_levels[] = { "x86-64", "x86-64-v3", "x86-64-v4", "armv8-a" };

static char *read_text(Arena *a, const char *name)
{
	char *path = arena_printf(a, "%s/tests/codegen/golden/%s", SOURCE_ROOT, name);
	FILE *f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s is missing", path);
	char *s = arena_alloc(a, 1 << 16);
	size_t n = fread(s, 1, (1 << 16) - 1, f);
	s[n] = 0;
	fclose(f);
	return s;
}

static KernelSet *parse(Arena *a, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "text", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
	return ks;
}

static Target level(const char *name)
{
	Target t;
	Err err = { 0 };
	char file[64];
	snprintf(file, sizeof file, "{\"kind\":\"cpu\",\"model\":\"%s\"}", name);
	ck_assert_msg(target_parse(&t, name, file, strlen(file), 1, &err), "%s", err.text);
	return t;
}

static Module compile(Arena *a, const char *text, const Target *t, const CodegenOptions *o)
{
	Module m;
	Err err = { 0 };
	ck_assert_msg(codegen_compile(a, parse(a, text), t, o, &m, &err), "%s: %s", err.place, err.text);
	return m;
}

static char *all_hashes(Arena *a)
{
	unsigned major, minor, patch;
	Text out = { .arena = a };
	ck_assert(llvm_open(NULL));
	LLVMGetVersion(&major, &minor, &patch);
	text_add(&out, "LLVM %u.%u.%u\nepoch %d\n", major, minor, patch, CODEGEN_EPOCH);
	for (int k = 0; k < LEN(golden); k++)
		for (int j = 0; j < LEN(golden_levels); j++) {
			Target t = level(golden_levels[j]);
			char hex[HASH_HEX];
			Module m = compile(a, read_text(a, arena_printf(a, "%s.ir", golden[k])), &t, NULL);
			hash_hex(hash_of("codegen golden", m.image.bytes, m.image.size), hex);
			text_add(&out, "%s %s %s\n", golden[k], golden_levels[j], hex);
		}
	return out.at;
}

/* Whether all lines of `was` are in `now`: kernels may have come, but none has changed. */
static bool only_more(Arena *a, const char *was, const char *now)
{
	for (const char *p = was; *p != 0; p += strcspn(p, "\n") + 1)
		if (strstr(now, arena_printf(a, "\n%.*s\n", (int)strcspn(p, "\n"), p)) == NULL && p != was)
			return false;
	return true;
}

static bool blessing;

START_TEST(golden_hashes)
{
	Arena *a = arena_new();
	char *now = all_hashes(a), *was = read_text(a, "hashes"), *epoch = arena_printf(a, "\nepoch %d\n", CODEGEN_EPOCH);
	bool comparable = strncmp(now, was, strcspn(was, "\n") + 1) == 0; /* of one LLVM */
	if (blessing) {
		ck_assert_msg(!comparable || strstr(was, epoch) == NULL || only_more(a, was, now),
			"generated code changed: add 1 to CODEGEN_EPOCH before it is blessed");
		FILE *f = fopen(SOURCE_ROOT "/tests/codegen/golden/hashes", "w");
		ck_assert(f != NULL && fputs(now, f) >= 0 && fclose(f) == 0);
	} else if (!comparable) {
		suite_skip("golden hashes", arena_printf(a, "they are those of %.*s", (int)strcspn(was, "\n"), was));
	} else {
		ck_assert_msg(strstr(was, epoch) != NULL, "CODEGEN_EPOCH changed: run test_codegen_compile --bless");
		ck_assert_msg(strcmp(now, was) == 0,
			"generated code changed: add 1 to CODEGEN_EPOCH, then run "
			"test_codegen_compile --bless\n%s\nwas\n%s",
			now, was);
	}
	arena_free(a);
}
END_TEST

START_TEST(same_bytes)
{
	Arena *a = arena_new(), *b = arena_new();
	char *text = read_text(a, arena_printf(a, "%s.ir", golden[_i]));
	Target t = level("x86-64-v4");
	CodegenOptions all = { .texts = runner_text_bit("lowered") | runner_text_bit("llvm") | runner_text_bit("asm") };
	Module x = compile(a, text, &t, NULL);
	compile(b, read_text(a, "math.ir"), &t, NULL);
	/* Another Ir, in which other things were named before, and texts asked for. */
	KernelSet *ks = parse(b, text);
	for (int k = 0; k < 100; k++)
		ir_fresh_name(ks->ir, "i");
	Module y, z = compile(b, text, &t, &all);
	Err err = { 0 };
	ck_assert(codegen_compile(b, ks, &t, &all, &y, &err));
	ck_assert_uint_eq(x.image.size, y.image.size);
	ck_assert(memcmp(x.image.bytes, y.image.bytes, x.image.size) == 0);
	ck_assert_str_eq(runner_text(&y, "llvm"), runner_text(&z, "llvm"));
	ck_assert_str_eq(runner_text(&y, "asm"), runner_text(&z, "asm"));
	ck_assert_str_eq(runner_text(&y, "lowered"), runner_text(&z, "lowered"));
	ck_assert(strstr(runner_text(&z, "llvm"), "define i32 @kernel.f(") != NULL);
	ck_assert(strstr(runner_text(&z, "asm"), "kernel.f:") != NULL);
	ck_assert(strstr(runner_text(&z, "lowered"), "fn f[") != NULL);
	arena_free(a);
	arena_free(b);
}
END_TEST

static const struct {
	const char *level, *code;
} prefetching[] = { { "x86-64", "prefetcht0" }, { "x86-64-v4", "prefetcht0" }, { "armv8-a", "pldl1keep" } };

/* Far outside, too; of bytes that elements share nothing is asked for. */
START_TEST(prefetches_are_code)
{
	static const char text[] = "fn f(x: in f32[64], n: in i4[8], y: out f32[64]) {\n\tfor i in 0..64 {\n\t\tprefetch "
	                           "x[i * 9223372036854775807 + 16]\n"
							   "\t\tprefetch n[i]\n\t\ty[i] = x[i]\n\t}\n}\n";
	Arena *a = arena_new();
	Target t = level(prefetching[_i].level);
	CodegenOptions all = { .texts = runner_text_bit("asm") };
	Module m = compile(a, text, &t, &all);
	const char *first = strstr(runner_text(&m, "asm"), prefetching[_i].code);
	ck_assert_msg(first != NULL && strstr(first + 1, prefetching[_i].code) == NULL, "%s", runner_text(&m, "asm"));
	arena_free(a);
}
END_TEST

/* Whole rows at multiples of their size, and a fence at the end; what the Fn loads stays in the caches. */
static const struct {
	const char *level, *type;
	int lanes;
	const char *body, *code;
	int stores; /* of that code */
	bool fence;
} streaming[] = {
	{ "x86-64", "f32", 16, "y[i * 16 + j] = x[i * 16 + j]", "movntps\t", 4, true },
	{ "x86-64-v3", "f32", 16, "y[i * 16 + j] = x[i * 16 + j]", "vmovntps\t", 2, true },
	{ "x86-64-v4", "f32", 16, "y[i * 16 + j] = x[i * 16 + j]", "vmovntps\t", 1, true },
	{ "armv8-a", "f32", 16, "y[i * 16 + j] = x[i * 16 + j]", "stnp\t", 2, false },
	{ "x86-64-v3", "f32", 24, "y[i * 24 + j] = x[i * 24 + j]", "vmovntps\t", 3, true },
	{ "x86-64-v4", "f32", 24, "y[i * 24 + j] = x[i * 24 + j]", "vmovnt", 0, true },
	{ "x86-64-v3", "f16", 16, "y[i * 16 + j] = x[i * 16 + j]", "vmovnt", 1, true },
	{ "x86-64-v3", "bf16", 16, "y[i * 16 + j] = x[i * 16 + j]", "vmovnt", 1, true },
	{ "x86-64-v3", "u8", 32, "y[i * 32 + j] = x[i * 32 + j]", "vmovnt", 1, true },
	{ "x86-64-v3", "f64", 4, "y[i * 4 + j] = x[i * 4 + j]", "vmovnt", 1, true },
	{ "x86-64-v3", "f32", 16, "y[i * 16 + j + 1] = x[i * 16 + j]", "vmovnt", 0, true },
	{ "x86-64-v3", "f32", 16, "y[i * 17 + j] = x[i * 16 + j]", "vmovnt", 0, true },
	{ "x86-64-v3", "f32", 16, "y[i * 16 + j] = y[i * 16 + j] + x[i * 16 + j]", "vmovnt", 0, false },
};

START_TEST(streamed_rows_are_code)
{
	Arena *a = arena_new();
	const char *type = streaming[_i].type;
	const char *text = arena_printf(a, "fn f(x: in %s[128], y: out %s[128] streamed) {\n\tfor i in 0..4 {\n\t\tfor "
		"j in 0..%d vector {\n\t\t\t%s\n\t\t}\n\t}\n}\n", type, type, streaming[_i].lanes, streaming[_i].body);
	Target t = level(streaming[_i].level);
	CodegenOptions all = { .texts = runner_text_bit("asm") };
	Module m = compile(a, text, &t, &all);
	const char *code = runner_text(&m, "asm");
	ck_assert_msg(runner_count(code, streaming[_i].code) == streaming[_i].stores, "%s", code);
	ck_assert_msg((strstr(code, "sfence") != NULL) == streaming[_i].fence, "%s", code);
	arena_free(a);
}
END_TEST

/* A later phase of another thread may store the same rows. */
START_TEST(streamed_rows_are_stored_before_a_barrier)
{
	static const char text[] = "fn f(x: in f32[64], y: out f32[64] streamed) {\n"
							   "\tfor i in 0..4 parallel {\n\t\tfor j in 0..16 vector {\n"
							   "\t\t\ty[i * 16 + j] = x[i * 16 + j]\n\t\t}\n\t}\n"
							   "\tfor k in 0..2 parallel {\n\t\tfor l in 0..16 vector {\n"
							   "\t\t\ty[k * 32 + l] = x[l]\n\t\t}\n\t}\n}\n";
	Arena *a = arena_new();
	Target t = level("x86-64-v3");
	CodegenOptions all = { .texts = runner_text_bit("llvm") };
	Module m = compile(a, text, &t, &all);
	const char *code = runner_text(&m, "llvm"), *meet = strstr(code, "\nmeet:");
	ck_assert_msg(meet != NULL, "%s", code);
	const char *fence = strstr(meet, "@llvm.x86.sse.sfence()"), *barrier = strstr(meet, "call void %");
	ck_assert_msg(fence != NULL && barrier != NULL && fence < barrier, "%s", code);
	arena_free(a);
}
END_TEST

static void *compile_often(void *arg)
{
	Module *m = arg;
	Target t = level("x86-64-v3");
	for (int k = 0; k < 5; k++) {
		Arena *a = arena_new();
		Module n = compile(a, read_text(a, "softmax.ir"), &t, NULL);
		ck_assert(n.image.size == m->image.size && memcmp(n.image.bytes, m->image.bytes, n.image.size) == 0);
		arena_free(a);
	}
	return NULL;
}

START_TEST(several_threads)
{
	Arena *a = arena_new();
	Target t = level("x86-64-v3");
	Module m = compile(a, read_text(a, "softmax.ir"), &t, NULL);
	pthread_t id[4];
	for (int k = 0; k < LEN(id); k++)
		ck_assert(pthread_create(&id[k], NULL, compile_often, &m) == 0);
	for (int k = 0; k < LEN(id); k++)
		pthread_join(id[k], NULL);
	arena_free(a);
}
END_TEST

/* 40 vectors that all live at once do not fit 16 registers; parts of a register need no memory. */
START_TEST(reports)
{
	Arena *a = arena_new();
	Text text = { .arena = a };
	text_add(&text, "fn few(x: in f32[320], y: out f32[320]) {\n\tfor i in 0..8 vector "
					"{\n\t\ty[i] = x[i] + 1.0\n\t}\n"
					"\tfor j in 8..320 {\n\t\ty[j] = 0.0\n\t}\n}\n\n"
					"fn many(x: in f32[320], y: out f32[320]) {\n\talloc big: "
					"f32[1000]\n\tbig[i64(x[0])] = 2.0\n");
	for (int k = 0; k < 40; k++)
		text_add(&text, "\tlet a%d: f32x8 = x[ramp(%d, 1, 8)]\n", k, 8 * k);
	for (int k = 0; k < 40; k++)
		text_add(&text, "\ty[ramp(%d, 1, 8)] = a%d * a%d + a%d\n", 8 * k, k, (k + 13) % 40, (k + 29) % 40);
	text_add(&text, "\ty[0] = big[i64(x[0])]\n}\n\n"
					"fn parts(x: in f32[8], y: out f32[4]) {\n\talloc t: f32[8] @local\n"
					"\tt[ramp(0, 1, 8)] = x[ramp(0, 1, 8)]\n"
					"\ty[ramp(0, 1, 4)] = t[ramp(0, 1, 4)] + t[ramp(4, 1, 4)]\n\ty[1] = t[5]\n}\n");
	Target t = level("x86-64-v3");
	Module m = compile(a, text.at, &t, NULL);
	ck_assert_int_eq(m.image.nentry, 3);
	ck_assert_str_eq(m.report[0].name, "few");
	ck_assert_int_eq(m.report[0].spills, 0);
	ck_assert_int_eq((int)m.image.entry[0].work_bytes, 0);
	ck_assert_str_eq(m.report[1].name, "many");
	ck_assert_int_gt(m.report[1].spills, 10);
	ck_assert_int_gt(m.report[1].frame_bytes, 320);
	ck_assert_int_gt(m.report[1].code_bytes, 500);
	ck_assert_int_eq((int)m.image.entry[1].work_bytes, 4032);
	ck_assert_int_eq((int)m.image.entry[2].work_bytes, 0);
	arena_free(a);
}
END_TEST

static const struct {
	const char *text, *says;
	ErrCode code;
} refused[] = {
	{ "fn f(y: out f32[4]) {\n\tfor i in 0..4 bound(block.x) {\n\t\ty[i] = 1.0\n\t\tbarrier "
	  "block\n\t}\n}\n",
		"a barrier stands inside loop i", ERR_UNSUPPORTED },
	{ "fn f[N in 1..9000000000](y: out f32[N]) {\n\talloc big: f32[N, 8]\n\tfor i in 0..N "
	  "{\n\t\tbig[i, 0] = 1.0\n\t\ty[i] = big[i, 0]\n\t}\n}\n",
		"alloc big takes more than 64 GiB of workspace", ERR_MEMORY },
	{ "fn a234567890123456789012345678901234567890123456789012345678901234567890(y: out "
	  "f32[1]) {\n\ty[0] = 1.0\n}\n",
		"at most 63 characters", ERR_UNSUPPORTED },
	{ "fn f(h: inout i4[8], y: out f32[1]) {\n\ty[0] = 1.0\n\tfor i in 0..8 parallel "
	  "{\n\t\tatomic sum h[i % 2] <- i4(1)\n\t}\n}\n",
		"changes h, whose elements are less than a byte", ERR_UNSUPPORTED },
	{ "fn f(y: out f32[1]) {\n\tfor dlc.thread in 0..1 {\n\t\ty[dlc.thread] = 1.0\n\t}\n}\n",
		"belong to the code generator", ERR_UNSUPPORTED },
};

START_TEST(refusals)
{
	Arena *a = arena_new();
	Target t = level("x86-64-v3");
	Module m;
	Err err = { 0 };
	ck_assert(!codegen_compile(a, parse(a, refused[_i].text), &t, NULL, &m, &err));
	ck_assert_int_eq(err.code, refused[_i].code);
	ck_assert_msg(strstr(err.text, refused[_i].says) != NULL, "%s: %s", err.place, err.text);
	arena_free(a);
}
END_TEST

/* `dlc builder` gets such sets from a candidate that is not one. */
static const char *const without_fns[] = { "", "# only a comment\n" };

START_TEST(sets_without_fns)
{
	Arena *a = arena_new();
	CodegenOptions all = { .texts = runner_text_bit("lowered") | runner_text_bit("asm") };
	Target t = level("x86-64-v3");
	Module m = compile(a, without_fns[_i], &t, &all);
	ck_assert_uint_eq(m.image.nentry, 0);
	ck_assert_str_eq(runner_text(&m, "lowered"), "");
	arena_free(a);
}
END_TEST

START_TEST(code_of_another_device_is_not_mapped)
{
	Arena *a = arena_new();
	Target t = level("x86-64-v3");
	Module m = compile(a, "fn f(y: out f32[1]) {\n\ty[0] = 1.0\n}\n", &t, NULL);
	Mapped *code;
	Err err = { 0 };
	m.image.device = DLC_DEVICE_CUDA;
	ck_assert(!codegen_map(&m, &code, &err) && code == NULL);
	ck_assert_msg(strstr(err.text, "for device type 2, not for a CPU") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* What LLVM might call on some targets is computed in place on all. */
START_TEST(no_calls)
{
	Arena *a = arena_new();
	Text text = { .arena = a };
	text_add(&text, "fn f(x: in f64[9], h: in f16[9], b: in bf16[9], n: in i64[9], u: in "
					"u64[9], y: out f64[9], z: out i64[9], q: out u64[9], g: out f16[9]) {\n"
					"\tfor i in 0..9 {\n"
					"\t\ty[i] = fma(x[i], f64(n[i]), tmod(f64(h[i]), round(x[i]))) + "
					"ceil(f64(u[i])) + trunc(x[i]) + floor(f64(b[i])) + sqrt(x[i])\n"
					"\t\tz[i] = n[i] / (n[i] * n[i] + 1) + i64(x[i]) %% (n[i] | 1)\n"
					"\t\tq[i] = u64(x[i]) / (u[i] | u64(1))\n"
					"\t\tg[i] = f16(x[i]) * h[i]\n"
					"\t}\n}\n");
	Target t = level(golden_levels[_i]);
	compile(a, text.at, &t, NULL);
	arena_free(a);
}
END_TEST

/* A damaged object is an error with a sentence, never a wild write. */
START_TEST(damaged_objects)
{
	static const unsigned char object[] = {
#include "object.inc"
	};
	Arena *a = arena_new();
	Linked out;
	Err err = { 0 };
	ck_assert_msg(link_object(a, ARCH_X86_64, object, sizeof object, &out, &err), "%s", err.text);
	ck_assert_int_ge((int)out.nsymbol, 1);
	Rng rng = rng_seed(0x0b1ec7);
	for (int round = 0; round < 20000; round++) {
		unsigned char copy[sizeof object];
		size_t n = rng_below(&rng, 4) == 0 ? rng_below(&rng, sizeof object) : sizeof object;
		memcpy(copy, object, sizeof object);
		for (int k = (int)rng_below(&rng, 4); k >= 0; k--)
			copy[rng_below(&rng, sizeof object)] = (unsigned char)rng_next(&rng);
		Err e = { 0 };
		unsigned char *exact = aligned_alloc(16, (sizeof object + 15) / 16 * 16);
		memcpy(exact, copy, n);
		bool ok = link_object(a, ARCH_X86_64, exact, n, &out, &e);
		ck_assert(ok || (e.code == ERR_BUG && e.text[0] != 0));
		free(exact);
		if (round % 100 == 0) {
			arena_free(a);
			a = arena_new();
		}
	}
	arena_free(a);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tc = tcase_create("compile");
	blessing = argc > 1 && strcmp(argv[1], "--bless") == 0;
	tcase_add_test(tc, golden_hashes);
	if (blessing)
		return run_code_suite("codegen-bless", tc);
	tcase_add_loop_test(tc, same_bytes, 0, LEN(golden));
	tcase_add_loop_test(tc, prefetches_are_code, 0, LEN(prefetching));
	tcase_add_loop_test(tc, streamed_rows_are_code, 0, LEN(streaming));
	tcase_add_test(tc, streamed_rows_are_stored_before_a_barrier);
	tcase_add_test(tc, several_threads);
	tcase_add_test(tc, reports);
	tcase_add_loop_test(tc, refusals, 0, LEN(refused));
	tcase_add_loop_test(tc, sets_without_fns, 0, LEN(without_fns));
	tcase_add_test(tc, code_of_another_device_is_not_mapped);
	tcase_add_loop_test(tc, no_calls, 0, LEN(golden_levels));
	tcase_add_test(tc, damaged_objects);
	return run_code_suite("codegen-compile", tc);
}
