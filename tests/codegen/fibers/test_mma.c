/*
 * Matrix products on tensor cores: for each instruction, two warps with tiles of a product in fragments. Executed by
 * fibers, where mma is written from the PTX ISA, against the interpreter, which takes the intrinsic's meaning.
 */
#include "codegen/backend.h"
#include "fibers.h"
#include "interp/interp.h"
#include "ir/text/ir_text.h"
#include "suite.h"
#include "tensors.h"

#include <stdio.h>
#include <string.h>

/* T: the type of the factors; K, N: of the instruction and of all; I: its name. Each K columns are a step. */
static const char product[] =
	"fn gemm(a: in T[32, N], b: in T[N, 32], bias: in f32[32], c: out f32[32, 32]) {\n"
	"	for g in 0..2 bound(grid.x) {\n"
	"		alloc as: T[32, K] @shared\n"
	"		alloc bs: T[K, 16] @shared\n"
	"		alloc acc: f32[16, 16] @fragment\n"
	"		for w in 0..2 bound(block.y) {\n"
	"			for jo in 0..2 { for i in 0..16 { for j in 0..8 { acc[i, jo * 8 + j] = 0.0 } } }\n"
	"		}\n"
	"		for ko in 0..4 {\n"
	"			for t in 0..32 bound(block.x) { for q in 0..K { as[t, q] = a[t, ko * K + q] } }\n"
	"			for u in 0..16 bound(block.x) { for r in 0..K { bs[r, u] = b[ko * K + r, g * 16 + u] } }\n"
	"			barrier block\n"
	"			for w2 in 0..2 bound(block.y) {\n"
	"				alloc af: T[16, K] @fragment\n"
	"				alloc bf: T[K, 8] @fragment\n"
	"				for i2 in 0..16 { for k2 in 0..K { af[i2, k2] = as[w2 * 16 + i2, k2] } }\n"
	"				for j2 in 0..2 unrolled {\n"
	"					for k3 in 0..K { for j3 in 0..8 { bf[k3, j3] = bs[k3, j2 * 8 + j3] } }\n"
	"					intrin I(acc[0:16, j2 * 8:8], af[0:16, 0:K], bf[0:K, 0:8])\n"
	"				}\n"
	"			}\n"
	"			barrier block\n"
	"		}\n"
	"		for w3 in 0..2 bound(block.y) {\n"
	"			for j4 in 0..2 {\n"
	"				for i5 in 0..16 {\n"
	"					for j5 in 0..8 {\n"
	"						c[w3 * 16 + i5, g * 16 + j4 * 8 + j5] = "
	"max(acc[i5, j4 * 8 + j5] + bias[g * 16 + j4 * 8 + j5], 0.0)\n"
	"					}\n"
	"				}\n"
	"			}\n"
	"		}\n"
	"	}\n"
	"}\n";

static const struct Row {
	const char *intrin, *type, *target;
	int depth;
	double tolerance; /* the products' order, and for tf32 the bits that the instruction leaves out */
} row[] = {
	{ "mma_m16n8k16_f16", "f16", "a100", 16, 1e-5 },
	{ "mma_m16n8k16_bf16", "bf16", "a100", 16, 1e-5 },
	{ "mma_m16n8k8_f16", "f16", "t4", 8, 1e-5 },
	{ "mma_m16n8k8_tf32", "f32", "h200", 8, 2e-3 },
};

static KernelSet *set_of(Arena *a, const struct Row *r)
{
	Text out = { .arena = a };
	Err err = { 0 };
	for (const char *p = product; *p != 0; p++) {
		bool alone = p == product || !((p[-1] >= 'a' && p[-1] <= 'z') || (p[-1] >= 'A' && p[-1] <= 'Z'));
		bool last = alone && !((p[1] >= 'a' && p[1] <= 'z') || (p[1] >= 'A' && p[1] <= 'Z'));
		if (last && *p == 'T')
			text_add(&out, "%s", r->type);
		else if (last && *p == 'K')
			text_add(&out, "%d", r->depth);
		else if (last && *p == 'N')
			text_add(&out, "%d", 4 * r->depth);
		else if (last && *p == 'I')
			text_add(&out, "%s", r->intrin);
		else
			text_put(&out, p, 1);
	}
	const char *text = text_str(&out);
	KernelSet *ks = ir_parse_set(ir_new(a), r->intrin, text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s: %s", r->intrin, err.place, err.text);
	return ks;
}

static void target(Target *t, const char *name)
{
	Err err = { 0 };
	const char *dirs[] = { SOURCE_ROOT "/configs/targets" };
	ck_assert_msg(target_resolve(t, name, 1, dirs, 1, &err), "%s", err.text);
}

static const char *ptx_of(Arena *a, const KernelSet *ks, const Target *t)
{
	Err err = { 0 };
	Module m;
	CodegenOptions o = { .no_image = false };
	ck_assert_msg(codegen_compile(a, ks, t, &o, &m, &err), "%s: %s", err.place, err.text);
	return (const char *)m.image.bytes;
}

START_TEST(products)
{
	const struct Row *r = &row[_i];
	Arena *a = arena_new();
	KernelSet *ks = set_of(a, r);
	Target t;
	target(&t, r->target);
	ck_assert_msg(strstr(ptx_of(a, ks, &t), "mma.sync") != NULL, "%s: no mma.sync in the PTX", r->intrin);
	for (uint64_t seed = 1; seed < 4; seed++) {
		Rng rng = rng_seed(seed);
		Tensors in, want, got;
		Err err = { 0 };
		InterpRun how = { .seed = seed };
		tensors_make(&in, a, ks, &rng);
		tensors_copy(&want, a, &in);
		tensors_copy(&got, a, &in);
		ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s: %s", r->intrin, err.place, err.text);
		bool ok = fibers_call(ks, &t, NULL, got.arg, got.n, seed, &err);
		ck_assert_msg(ok, "%s: %s: %s", r->intrin, err.place, err.text);
		const char *wrong = tensors_differ(a, &want, &got, r->tolerance);
		ck_assert_msg(wrong == NULL, "%s, seed %llu: %s", r->intrin, (unsigned long long)seed, wrong);
	}
	arena_free(a);
}
END_TEST

/* Without the instruction, one thread computes its meaning. */
START_TEST(meaning)
{
	Arena *a = arena_new();
	Target t;
	target(&t, "gtx1080ti");
	const char *ptx = ptx_of(a, set_of(a, &row[_i]), &t);
	ck_assert_msg(strstr(ptx, "mma.sync") == NULL && strstr(ptx, ".entry") != NULL, "%s", row[_i].intrin);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("mma");
	tcase_add_loop_test(tc, products, 0, LEN(row));
	tcase_add_loop_test(tc, meaning, 0, LEN(row));
	return run_suite("codegen-mma", tc);
}
