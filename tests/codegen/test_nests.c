/*
 * Which run Fns are cut into nests, and where; what the sets of nests have in common; the image that they make.
 * test_team.c runs them.
 */
#include "suite.h"

#include "codegen/nests.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"

#include <stdlib.h>
#include <string.h>

#define FILL(buf) "\tfor i" buf " in 0..8 {\n\t\t" buf "[i" buf "] = 1.0\n\t}\n"
#define SHARED(buf) "\tfor i" buf " in 0..8 parallel {\n\t\t" buf "[i" buf "] = 1.0\n\t}\n"
#define HEAD "fn k(x: in f32[8], w: work f32[8], v: work f32[8], y: out f32[8]) {\n"
#define PADDED "fn k(w: work f32[8], y: out f32[6] map (i) -> [i / 4 : 2, i % 4 : 4]) {\n"
#define SUB(name) "sub fn " name "(b: out f32[8], n: i64) {\n\tfor j in 0..n {\n\t\tb[j] = 2.0\n\t}\n}\n"

/* How many nests for one thread and for a team; 0: the Fn stays whole. */
static const struct {
	const char *text;
	size_t alone, team;
} cuts[] = {
	{ HEAD FILL("w") "}\n", 0, 0 },
	{ HEAD FILL("w") FILL("y") "}\n", 2, 0 }, /* thread 0 runs both without a barrier */
	{ HEAD SHARED("w") SHARED("y") "}\n", 2, 2 },
	{ HEAD FILL("w") FILL("v") SHARED("y") "}\n", 3, 2 },
	{ HEAD "\tw[0] = 1.0\n\tw[1] = 2.0\n" SHARED("y") "\tv[0] = 1.0\n}\n", 2, 3 }, /* a store is no kernel */
	{ HEAD FILL("w") "\tbarrier grid\n" FILL("y") "}\n", 2, 0 },
	{ HEAD FILL("w") "\tlet c: f32 = w[0]\n" FILL("y") "}\n", 0, 0 },
	{ HEAD "\talloc t: f32[8]\n" FILL("t") FILL("y") "}\n", 0, 0 },
	{ HEAD FILL("w") FILL("y") "}\nfn l(y: inout f32[8]) {\n" FILL("y") "\ty[0] = 2.0\n}\n", 0, 0 },
	/* Lowering zeroes what no index reaches once, before all nests. */
	{ PADDED FILL("w") "\tfor i in 0..6 {\n\t\ty[i] = 1.0\n\t}\n}\n", 2, 0 },
	{ PADDED "\ty[0] = 1.0\n\tfor i in 1..6 {\n\t\ty[i] = 1.0\n\t}\n}\n", 0, 0 },
	/* Whether a sub Fn is inlined depends on all its calls. */
	{ SUB("s") HEAD FILL("w") "\tcall s(y[0:8], 8)\n}\n", 2, 0 },
	{ SUB("s") HEAD "\tcall s(w[0:8], 8)\n\tcall s(y[0:8], 8)\n}\n", 0, 0 },
};

static KernelSet *parse(Arena *a, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "set", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s%s: %s", text, err.place, err.text);
	return ks;
}

static const KernelSet **nests(Arena *a, const char *text, int threads, size_t *n)
{
	Target host;
	target_host(&host, threads);
	*n = 0;
	return codegen_nests(a, parse(a, text), &host, n);
}

START_TEST(where_a_fn_is_cut)
{
	Arena *a = arena_new();
	for (int threads = 1; threads <= 2; threads++) {
		size_t n, want = threads == 1 ? cuts[_i].alone : cuts[_i].team;
		const KernelSet **set = nests(a, cuts[_i].text, threads, &n);
		bool right = (set != NULL) == (want > 0) && n == want;
		ck_assert_msg(right, "%s%zu nests for %d threads", cuts[_i].text, n, threads);
	}
	arena_free(a);
}
END_TEST

START_TEST(only_cpus_run_nests)
{
	Arena *a = arena_new();
	Target device;
	size_t n;
	target_host(&device, 1);
	device.kind = TARGET_OPENCL;
	device.arch = ARCH_OPENCL;
	device.blocks = (Blocks){ .warp = 1 };
	ck_assert_ptr_null(codegen_nests(a, parse(a, HEAD FILL("w") FILL("y") "}\n"), &device, &n));
	arena_free(a);
}
END_TEST

/* Whatever stands around it, and whatever else the Fn has in the other places. */
START_TEST(equal_nests_have_one_text)
{
	Arena *a = arena_new();
	size_t n[3];
	const KernelSet **x = nests(a, HEAD FILL("w") FILL("y") "}\n", 1, &n[0]),
		**y = nests(a, HEAD FILL("v") FILL("w") FILL("y") "}\n", 1, &n[1]),
		**z = nests(a, "fn k(x: in f16[4, 4], w: work f32[8], v: in u8[3], y: out f32[9]) {\n" FILL("w")
			"\tfor iy in 0..9 {\n\t\ty[iy] = 1.0\n\t}\n}\n", 1, &n[2]);
	ck_assert(n[0] == 2 && n[1] == 3 && n[2] == 2);
	ck_assert_str_eq(ir_set_str(a, x[0]), ir_set_str(a, y[1]));
	ck_assert_str_eq(ir_set_str(a, x[1]), ir_set_str(a, y[2]));
	ck_assert_str_eq(ir_set_str(a, x[0]), ir_set_str(a, z[0]));
	ck_assert_str_ne(ir_set_str(a, x[1]), ir_set_str(a, z[1]));
	arena_free(a);
}
END_TEST

/* An output that another nest reads goes through the caches, as in the whole Fn. */
START_TEST(streamed_outputs)
{
	static const char head[] = "fn k(w: work f32[8], y: out f32[8] streamed) {\n";
	Arena *a = arena_new();
	size_t n;
	const KernelSet **x = nests(a, arena_printf(a, "%s%s%s}\n", head, FILL("w"), FILL("y")), 1, &n);
	ck_assert_ptr_nonnull(strstr(ir_set_str(a, x[1]), "streamed"));
	x = nests(a, arena_printf(a, "%s%s\tfor i in 0..8 {\n\t\tw[i] = y[i]\n\t}\n}\n", head, FILL("y")), 1, &n);
	ck_assert_ptr_null(strstr(ir_set_str(a, x[0]), "streamed"));
	/* Of the nest's own loads its code decides, as that of the whole Fn: sums are kept in registers. */
	x = nests(a, arena_printf(a, "%s%s\tfor i in 0..8 {\n\t\ty[i] = 0.0\n\t\tfor j in 0..8 {\n\t\t\tsum y[i] <- w[j]\n"
		"\t\t}\n\t}\n}\n", head, FILL("w")), 1, &n);
	ck_assert_ptr_nonnull(strstr(ir_set_str(a, x[1]), "streamed"));
	arena_free(a);
}
END_TEST

START_TEST(one_image_of_all)
{
	Arena *a = arena_new();
	Target host;
	Err err = { 0 };
	size_t n;
	target_host(&host, 1);
	const KernelSet **set = nests(a, HEAD FILL("w") FILL("v") FILL("y") "}\n", 1, &n);
	const Module *nest[3];
	Module one[3], all;
	ck_assert_uint_eq(n, 3);
	for (int k = 0; k < 3; k++) {
		ck_assert_msg(codegen_compile(a, set[k], &host, NULL, &one[k], &err), "%s", err.text);
		nest[k] = &one[k];
	}
	ck_assert_msg(codegen_join_nests(a, &host, nest, n, &all, &err), "%s", err.text);
	ck_assert_uint_eq(all.image.nentry, 3);
	int64_t bytes = 0;
	for (uint32_t k = 0; k < 3; k++) {
		const DlcEntry *e = &all.image.entry[k], *own = &one[k].image.entry[0];
		ck_assert_str_eq(e->name, ((const char *[]){ "k", "k.1", "k.2" })[k]);
		ck_assert_uint_eq(e->rest, 2 - k);
		ck_assert_uint_eq(e->nbuf, 4);
		ck_assert_uint_eq(e->offset % 64, own->offset % 64);
		size_t code = (size_t)one[k].report[0].code_bytes;
		ck_assert_mem_eq(all.image.bytes + e->offset, one[k].image.bytes + own->offset, code);
		bytes += (int64_t)code;
	}
	ck_assert_int_eq(all.report[0].code_bytes, bytes);
	arena_free(a);
}
END_TEST

/* Its figures are those of the whole Fn, and what weighs too much as a whole weighs too much in nests. */
START_TEST(joined_as_the_whole)
{
	static const char loops[] = "fn k(x: in f32[64,4], w: work f32[64], y: out f32[64]) {\n"
		"\tfor i in 0..64 {\n\t\tw[i] = x[i, 0] * 2.0\n\t}\n"
		"\tfor k in 0..64 {\n\t\ty[k] = 0.0\n\t\tfor j in 0..4 {\n\t\t\tsum y[k] <- x[k, j] * w[k]\n\t\t}\n\t}\n}\n";
	Arena *a = arena_new();
	Target host;
	Err err = { 0 };
	size_t n;
	target_host(&host, 1);
	CodegenOptions o = { .resources = true };
	const KernelSet **set = nests(a, loops, 1, &n);
	ck_assert_uint_eq(n, 2);
	Module whole, one[2], all;
	ck_assert(codegen_compile(a, parse(a, loops), &host, &o, &whole, &err));
	for (int k = 0; k < 2; k++)
		ck_assert(codegen_compile(a, set[k], &host, &o, &one[k], &err));
	const Module *nest[] = { &one[0], &one[1] };
	ck_assert(codegen_join_nests(a, &host, nest, n, &all, &err));
	const KernelReport *r = &all.report[0], *w = &whole.report[0];
	ck_assert_str_eq(r->name, w->name);
	ck_assert_int_eq(r->depth, w->depth);
	ck_assert_int_eq(one[0].report[0].depth + 1, w->depth);
	ck_assert_int_eq(all.weight, one[0].weight + one[1].weight);
	/* The whole also has pairs of one nest's registers and the other's blocks. */
	ck_assert_int_le(llabs(all.weight - whole.weight) * 4, whole.weight);
	/* A spill in the shallower nest counts by how often its loop turns beside the deeper one. */
	one[0].report[0].inner_spills = 32;
	one[1].report[0].inner_spills = 3;
	ck_assert(codegen_join_nests(a, &host, nest, n, &all, &err));
	ck_assert_double_eq_tol(all.report[0].inner_spills, 4, 1e-9);
	one[0].weight = one[1].weight = 200000;
	ck_assert(!codegen_join_nests(a, &host, nest, n, &all, &err));
	ck_assert(err.code == ERR_UNSUPPORTED && strcmp(err.place, "k") == 0);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("nests");
	tcase_add_loop_test(tc, where_a_fn_is_cut, 0, LEN(cuts));
	tcase_add_test(tc, only_cpus_run_nests);
	tcase_add_test(tc, equal_nests_have_one_text);
	tcase_add_test(tc, streamed_outputs);
	tcase_add_test(tc, one_image_of_all);
	tcase_add_test(tc, joined_as_the_whole);
	return run_suite("nests", tc);
}
