/*
 * The form that schedules give (kernels.h): small ones mean the same after every pass and compiled for
 * every level, large ones agree with the naive form compiled, and lowering leaves what the roof
 * needs. Then the passes that see to that, each with texts before and after.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "ir/query.h"
#include "kernels.h"
#include "runner.h"
#include "code_suite.h"

#include <stdio.h>
#include <string.h>

static KernelSet *parse(Arena *a, const char *name, const char *text)
{
	Err err = { 0 };
	ck_assert_msg(text != NULL, "%s: no text", name);
	KernelSet *ks = ir_parse_set(ir_new(a), name, text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s: %s\n%s", name, err.place, err.text, text);
	return ks;
}

static KernelSet *form(Arena *a, const HandKernel *row, bool naive)
{
	const char *name = naive ? row->naive : row->form;
	return parse(a, row->name, hand_kernel_text(a, KERNELS, name, row->params));
}

/* Tensors of both sets with the same inputs; outs of `naive` are still garbage. */
static void both_tensors(Arena *a, const KernelSet *ks, const KernelSet *naive, Tensors *x, Tensors *y)
{
	Rng rng = rng_seed(7);
	tensors_make(x, a, ks, &rng);
	tensors_make(y, a, naive, &rng);
	for (int k = 0; k < y->n; k++)
		for (int j = 0; j < x->n; j++)
			if (strcmp(y->arg[k].name, x->arg[j].name) == 0)
				memcpy(x->arg[j].data, y->arg[k].data, (size_t)dtype_bytes(y->buf[k]->type, y->elements[k]));
}

/* Of what both have what is written; sums are of quarters, so nearly exact. */
static void agree(Arena *a, const char *name, const Tensors *x, const Tensors *y)
{
	Tensors p = { .n = 0 }, q = { .n = 0 };
	for (int k = 0; k < y->n; k++)
		for (int j = 0; j < x->n; j++)
			if (y->buf[k] != NULL && (y->buf[k]->role == BUF_OUT || y->buf[k]->role == BUF_INOUT) &&
				strcmp(y->arg[k].name, x->arg[j].name) == 0) {
				p.buf[p.n] = y->buf[k];
				p.elements[p.n] = y->elements[k];
				p.arg[p.n++] = y->arg[k];
				q.arg[q.n++] = x->arg[j];
			}
	ck_assert_int_gt(p.n, 0);
	char *wrong = tensors_differ(a, &p, &q, 1e-5);
	ck_assert_msg(wrong == NULL, "%s: %s", name, wrong);
}

typedef struct Check {
	Arena *arena;
	const Tensors *in, *want;
	const char *name;
} Check;

static bool after_pass(const char *pass, const KernelSet *ks, void *arg, Err *err)
{
	Check *c = arg;
	Err e = { 0 };
	Tensors t;
	InterpRun how = { .seed = 3 };
	const char *name = arena_printf(c->arena, "%s after %s", c->name, pass);
	ck_assert_msg(ir_verify_set(ks, &e), "%s: %s: %s\n%s", name, e.place, e.text, ir_set_str(c->arena, ks));
	tensors_copy(&t, c->arena, c->in);
	t.arg[t.n++] = (IrArg){ LOWER_THREADS, NULL, 2 };
	ck_assert_msg(
		interp_run_set(ks, t.arg, t.n, &how, &e), "%s: %s: %s\n%s", name, e.place, e.text, ir_set_str(c->arena, ks));
	t.n--;
	agree(c->arena, name, &t, c->want);
	(void)err;
	return true;
}

static void run_small(Arena *a, const HandKernel *row)
{
	KernelSet *ks = form(a, row, false), *naive = form(a, row, true), *lowered;
	Tensors in, want, got;
	Err err = { 0 };
	InterpRun how = { .seed = 1 };
	Target t;
	both_tensors(a, ks, naive, &in, &want);
	ck_assert_msg(interp_run_set(naive, want.arg, want.n, &how, &err), "%s", err.text);
	Check c = { a, &in, &want, row->name };
	target_host(&t, 2);
	ck_assert_msg(codegen_lower(a, ks, &t, NULL, after_pass, &c, &lowered, &err), "%s", err.text);
	for (int k = 0; runner_levels[k] != NULL; k++) {
		Module m;
		if (!runner_target(&t, runner_levels[k]))
			continue;
		tensors_copy(&got, a, &in);
		ck_assert_msg(codegen_compile(a, ks, &t, NULL, &m, &err), "%s", err.text);
		runner_run(a, &t, ks, &m, &got);
		agree(a, arena_printf(a, "%s for %s", row->name, runner_levels[k]), &got, &want);
	}
}

START_TEST(small_forms)
{
	Arena *a = arena_new();
	if (hand_kernels[_i].small)
		run_small(a, &hand_kernels[_i]);
	arena_free(a);
}
END_TEST

/* Any number of channels, tiles, taps: lanes that are off, tiles without an interior, taps outside. */
START_TEST(random_forms)
{
	static const char *const forms[] = { "conv", "stem", "pool", "dense" };
	Rng rng = rng_seed(0xf0f0 + (uint64_t)_i);
	Arena *a = arena_new();
	const char *form = forms[_i % LEN(forms)];
	int tiles = (int)rng_range(&rng, 1, 3), p = (int)rng_range(&rng, 1, 2), h = tiles * p;
	int k = 1 + 2 * (int)rng_below(&rng, 2), s = (int)rng_range(&rng, 1, 2);
	int q = (int)rng_below(&rng, (uint64_t)(k / 2 + 1)), i = (h - 1) * s + k - 2 * q;
	int u = (int)rng_range(&rng, 1, 3);
	HandKernel row = { .form = form, .naive = arena_printf(a, "%s_naive", form) };
	row.params = arena_printf(a, "C=%d O=%d I=%d H=%d K=%d S=%d Q=%d P=%d M=%d N=%d T=%d U=%d",
		(int)rng_range(&rng, 1, 9) * u, (int)rng_range(&rng, 1, 50), i < 1 ? 1 : i, h, k, s, q, p,
		tiles > 1 ? tiles - 1 : 1, tiles, (int)rng_range(&rng, 1, 3), u);
	row.name = arena_printf(a, "%s %s", form, row.params);
	run_small(a, &row);
	arena_free(a);
}
END_TEST

START_TEST(large_forms)
{
	const HandKernel *row = &hand_kernels[_i];
	if (row->small)
		return;
	Arena *a = arena_new();
	KernelSet *ks = form(a, row, false), *naive = form(a, row, true);
	Tensors got, want;
	Err err = { 0 };
	Target t;
	Module m, n;
	target_host(&t, 1);
	both_tensors(a, ks, naive, &got, &want);
	ck_assert_msg(
		codegen_compile(a, ks, &t, NULL, &m, &err) && codegen_compile(a, naive, &t, NULL, &n, &err), "%s", err.text);
	runner_run(a, &t, ks, &m, &got);
	runner_run(a, &t, naive, &n, &want);
	agree(a, row->name, &got, &want);
	arena_free(a);
}
END_TEST

static bool is_kind(const Stmt *s, void *kind)
{
	return s->kind == *(StmtKind *)kind;
}

/* No condition within loops over input channels, the innermost ones. */
static bool asked_inside(Stmt *s, void *arg)
{
	StmtKind loop = ST_FOR, branch = ST_IF;
	if (s->kind == ST_FOR && ir_find_below(s, is_kind, &loop) == NULL && ir_find_below(s, is_kind, &branch) != NULL)
		*(bool *)arg = true;
	return true;
}

static bool too_long(Stmt *s, void *arg)
{
	int64_t n;
	if (s->kind == ST_ALLOC && (!ir_is_int(s->alloc->shape[0], &n) || n > 16))
		*(bool *)arg = true;
	return true;
}

START_TEST(what_is_left)
{
	const HandKernel *row = &hand_kernels[_i];
	Arena *a = arena_new();
	KernelSet *ks = form(a, row, false), *lowered;
	Err err = { 0 };
	Target t;
	bool asked = false, memory = false;
	target_host(&t, 1);
	ck_assert(codegen_lower(a, ks, &t, NULL, NULL, NULL, &lowered, &err));
	Fn *k = ir_find_fn(lowered, "k");
	ir_each_stmt(k->body, asked_inside, &asked);
	ir_each_stmt(k->body, too_long, &memory);
	ck_assert_msg(!asked, "%s: a condition in an innermost loop\n%s", row->name, ir_set_str(a, lowered));
	ck_assert_msg(!memory, "%s: an accumulator in memory\n%s", row->name, ir_set_str(a, lowered));
	arena_free(a);
}
END_TEST

/* 28 accumulators fit 32 registers and not 16, 56 neither; scalars may be spilled. */
static const struct {
	const char *kernel, *level;
	bool hurt;
} spilling[] = {
	{ "conv3x3_56", "x86-64-v4", false },
	{ "conv3x3_56", "x86-64-v3", true },
	{ "conv3x3_spills", "x86-64-v4", true },
	{ "conv3x3_7", "x86-64-v4", false },
	{ "conv1x1_56", "x86-64-v4", false },
	{ "depthwise_56", "x86-64-v4", false },
	{ "conv3x3_56", "armv8-a", true }, /* 112 of four lanes */
	{ "depthwise_small", "armv8-a", false },
};

START_TEST(spills)
{
	Arena *a = arena_new();
	const HandKernel *row = hand_kernels;
	Target t;
	Module m;
	Err err = { 0 };
	char file[64];
	while (strcmp(row->name, spilling[_i].kernel) != 0)
		row++;
	snprintf(file, sizeof file, "{\"kind\":\"cpu\",\"model\":\"%s\"}", spilling[_i].level);
	ck_assert(target_parse(&t, "level", file, strlen(file), 1, &err));
	ck_assert(codegen_compile(a, form(a, row, false), &t, NULL, &m, &err));
	const KernelReport *r = &m.report[m.image.nentry - 1];
	ck_assert_msg(codegen_spills_hurt(&m, r, &t) == spilling[_i].hurt, "%s for %s: %lld spills, %g inner, frame %lld",
		row->name, spilling[_i].level, (long long)r->spills, r->inner_spills, (long long)r->frame_bytes);
	arena_free(a);
}
END_TEST

/* What stands behind the first run of a pass. */
static const struct {
	const char *pass, *before, *after;
} rewritten[] = {
	/* around the loop: what does not depend on it */
	{ "conditions",
		"fn f(x: in f32[8, 8], y: inout f32[8, 8]) {\n"
		"\tfor i in 0..8 {\n\t\tfor j in 0..8 {\n"
		"\t\t\tif i % 3 == 1 & j % 2 == 0 {\n\t\t\t\ty[i, j] = x[i, j]\n\t\t\t}\n\t\t}\n\t}\n}\n",
		"\tfor i in 0..8 {\n\t\tif i % 3 == 1 {\n\t\t\tfor j in 0..8 {\n"
		"\t\t\t\tif j % 2 == 0 {\n\t\t\t\t\ty[i, j] = x[i, j]\n\t\t\t\t}\n\t\t\t}\n\t\t}\n\t}\n" },
	/* into the bounds: taps in the padding */
	{ "conditions",
		"fn f(x: in f32[8], y: inout f32[8]) {\n"
		"\tfor i in 0..8 {\n\t\ty[i] = 0.0\n\t\tfor j in 0..3 {\n"
		"\t\t\tif 0 <= i + j - 1 & i + j - 1 < 8 {\n\t\t\t\tsum y[i] <- x[i + j - 1]\n\t\t\t}\n"
		"\t\t}\n\t}\n}\n",
		"\t\tfor j in max(1 - i, 0)..min(9 - i, 3) {\n\t\t\tsum y[i] <- x[i + j - 1]\n\t\t}\n" },
	/* a step of two is no bound of this form; a load is asked again each time */
	{ "conditions",
		"fn f(x: in i64[8], y: inout f32[8]) {\n"
		"\tfor i in 0..8 {\n\t\tfor j in 0..8 {\n"
		"\t\t\tif 2 * j < i & x[i] < 3 {\n\t\t\t\ty[j] = 1.0\n\t\t\t}\n\t\t}\n\t}\n}\n",
		"\t\tfor j in 0..8 {\n\t\t\tif j * 2 < i & x[i] < 3 {\n" },
	/* neighbours, names kept apart */
	{ "conditions",
		"fn f(x: in f32[8], y: inout f32[8]) {\n"
		"\tfor i in 0..4 {\n\t\tif i % 3 != 1 {\n\t\t\tlet a: f32 = x[i]\n\t\t\ty[i] = a\n\t\t}\n"
		"\t\tif i % 3 != 1 {\n\t\t\tlet a: f32 = x[i] + 1.0\n\t\t\ty[i + 4] = a\n\t\t}\n\t}\n}\n",
		"\t\tif i % 3 != 1 {\n\t\t\tlet a.1: f32 = x[i]\n\t\t\ty[i] = a.1\n"
		"\t\t\tlet a.3: f32 = x[i] + 1.0\n\t\t\ty[i + 4] = a.3\n\t\t}\n" },
	/* a parallel loop stays outermost */
	{ "conditions",
		"fn f[N in 1..8](y: inout f32[8]) {\n"
		"\tfor i in 0..8 parallel {\n\t\tif 3 < N {\n\t\t\ty[i] = 1.0\n\t\t}\n\t}\n}\n",
		"\tfor i in 0..8 parallel {\n\t\tif 3 < N {\n" },
	/* Lane by lane an index is a ramp again after two loops were fused; not with rows of three or through a cast. */
	{ "lanes",
		"fn f(x: in f32[4, 8], y: out f32[4, 8]) {\n\tfor i in 0..32 vector {\n"
		"\t\ty[i / 8, i % 8] = x[3 - i / 8, 7 - i % 8]\n\t}\n}\n",
		"\ty[ramp(0, 1, 32)] = x[ramp(31, -1, 32)]\n" },
	{ "lanes",
		"fn f(x: in f32[4, 8], y: out f32[12]) {\n\tfor i in 0..12 vector {\n"
		"\t\ty[i] = x[i / 3, i % 3]\n\t}\n}\n",
		"\ty[ramp(0, 1, 12)] = x[ramp(0, 1, 12) / splat(3, 12) * splat(8, 12) + ramp(0, 1, 12) % splat(3, 12)]\n" },
	{ "lanes",
		"fn f(x: in f32[16], y: out f32[8]) {\n\ty[ramp(0, 1, 8)] = x[i64x8(ramp(i32(1), i32(2), 8)) / splat(2, "
	    "8)]\n}\n",
		"\ty[ramp(0, 1, 8)] = x[i64x8(ramp(i32(1), i32(2), 8)) / splat(2, 8)]\n" },
	/* hints go with what they are for */
	{ "conditions",
		"fn f(x: in f32[8], y: inout f32[8]) {\n"
		"\tfor i in 0..8 {\n\t\ty[i] = 0.0\n\t\tfor j in 0..3 {\n\t\t\tfor k in 0..2 {\n\t\t\t\tprefetch x[i + j + "
	    "k]\n\t\t\t}\n"
		"\t\t\tif 0 <= i + j - 1 & i + j - 1 < 8 {\n\t\t\t\tsum y[i] <- x[i + j - 1]\n\t\t\t}\n"
		"\t\t}\n\t}\n}\n",
		"\t\tfor j in max(1 - i, 0)..min(9 - i, 3) {\n\t\t\tfor k in 0..2 {\n\t\t\t\tprefetch x[i + j + k]\n\t\t\t}\n"
		"\t\t\tsum y[i] <- x[i + j - 1]\n\t\t}\n" },
	/* one for all lanes; none of what is no parameter */
	{ "vectorize",
		"fn f(x: in f32[32], y: out f32[32]) {\n\tfor i in 0..4 {\n\t\tfor j in 0..8 vector {\n"
		"\t\t\tprefetch x[i * 8 + j + 8]\n\t\t\tprefetch y[i]\n\t\t\ty[i * 8 + j] = x[i * 8 + j]\n\t\t}\n\t}\n}\n",
		"\tfor i in 0..4 {\n\t\tprefetch x[lane(" },
	{ "async",
		"fn f(x: in f32[8], y: out f32[8]) {\n\talloc t: f32[8] @local\n\tfor i in 0..8 {\n\t\tprefetch t[i]\n\t\tt[i] "
	    "= x[i]\n"
		"\t\ty[i] = t[i]\n\t}\n}\n",
		"\tfor i in 0..8 {\n\t\tt[i] = x[i]\n" },
	/* sums stay in registers with a prefetch in the loop and before it */
	{ "accumulate",
		"fn f(x: in f32[8], y: out f32[1]) {\n\ty[0] = 0.5\n\tprefetch x[1]\n\tfor i in 0..8 {\n\t\tprefetch x[i + 4]\n"
		"\t\tsum y[0] <- x[i]\n\t}\n}\n",
		"\talloc y.1: f32[1] @local\n\ty.1[0] = 0.5\n\tfor i in 0..8 {\n\t\tprefetch x[i + 4]\n\t\ty.1[0] = y.1[0] + "
	    "x[i]\n" },
	/* pieces of any stride */
	{ "registers",
		"fn f(x: in f32[8], y: out f32[8]) {\n\talloc t: f32[8] @local\n"
		"\tt[ramp(0, 2, 4)] = x[ramp(0, 1, 4)]\n\tt[ramp(1, 2, 4)] = x[ramp(4, 1, 4)]\n"
		"\ty[ramp(0, 1, 4)] = t[ramp(1, 2, 4)]\n\ty[ramp(4, 1, 4)] = t[ramp(0, 2, 4)]\n"
		"\ty[3] = t[3]\n}\n",
		"\talloc t.1: f32[4] @local\n\talloc t.2: f32[4] @local\n"
		"\tt.1[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]\n\tt.2[ramp(0, 1, 4)] = x[ramp(4, 1, 4)]\n"
		"\ty[ramp(0, 1, 4)] = t.2[ramp(0, 1, 4)]\n\ty[ramp(4, 1, 4)] = t.1[ramp(0, 1, 4)]\n"
		"\ty[3] = lane(t.2[ramp(0, 1, 4)], 1)\n" },
	/* what stood in memory for the loop only */
	{ "accumulate",
		"fn f(x: in f32[8], y: out f32[2]) {\n\ty[0] = 0.5\n\ty[1] = x[0]\n"
		"\tfor i in 0..8 {\n\t\tsum y[0] <- x[i]\n\t}\n}\n",
		"{\n\ty[1] = x[0]\n\talloc y.1: f32[1] @local\n\ty.1[0] = 0.5\n\tfor i in 0..8 {\n" },
	{ "accumulate",
		"fn f(x: in f32[8], y: out f32[2]) {\n\ty[0] = x[1]\n\ty[1] = y[0]\n"
		"\tfor i in 0..8 {\n\t\tsum y[0] <- x[i]\n\t}\n}\n",
		"{\n\ty[0] = x[1]\n\ty[1] = y[0]\n\talloc y.1: f32[1] @local\n\ty.1[0] = y[0]\n" },
	{ "accumulate",
		"fn f(x: inout f32[8], y: out f32[1]) {\n\ty[0] = x[1]\n\tx[1] = 2.0\n"
		"\tfor i in 0..8 {\n\t\tsum y[0] <- x[i]\n\t}\n}\n",
		"{\n\ty[0] = x[1]\n\tx[1] = 2.0\n\talloc y.1: f32[1] @local\n\ty.1[0] = y[0]\n" },
	/* a sum that is all written out */
	{ "accumulate",
		"fn f(x: in f32[8], y: out f32[2]) {\n\tfor i in 0..2 {\n\t\ty[i] = 0.5\n\t\ty[i] = y[i] + x[i]\n"
		"\t\ty[i] = y[i] + x[i + 4]\n\t}\n}\n",
		"\t\talloc y.1: f32[1] @local\n\t\ty.1[0] = 0.5\n\t\ty.1[0] = y.1[0] + x[i]\n"
		"\t\ty.1[0] = y.1[0] + x[i + 4]\n\t\ty[i] = y.1[0]\n" },
	/* places that may be one */
	{ "accumulate",
		"fn f(x: in i64[2], y: inout f32[8]) {\n\ty[2] = y[2] + 1.0\n\ty[x[0] % 8] = 2.0\n\ty[2] = y[2] + 1.0\n}\n",
		"{\n\ty[2] = y[2] + 1.0\n\ty[x[0] % 8] = 2.0\n\ty[2] = y[2] + 1.0\n" },
	/* lanes that are off: no blend, but nothing is read outside */
	{ "masks",
		"fn f(x: in f32[24], y: out f32[24]) {\n\tfor b in 0..2 {\n\t\talloc t: f32[16] @local\n"
		"\t\tfor i in 0..16 vector {\n\t\t\tif b * 16 + i < 24 {\n"
		"\t\t\t\tt[i] = x[b * 16 + i] * x[b]\n\t\t\t\ty[b * 16 + i] = t[i] + 1.0\n\t\t\t}\n"
		"\t\t}\n\t}\n}\n",
		"\t\tt[ramp(0, 1, 16)] = select(ramp(b * 16, 1, 16) < splat(24, 16), "
		"x[ramp(b * 16, 1, 16)], splat(0.0, 16)) * splat(x[b], 16)\n" },
	/* an index that is divided cannot fail: its divisor is a number */
	{ "masks",
		"fn f(x: in f32[40], y: out f32[40]) {\n\tfor b in 0..3 {\n\t\talloc t: f32[16] @local\n"
		"\t\tfor i in 0..16 vector {\n\t\t\tif b * 16 + i < 40 {\n"
		"\t\t\t\tt[i] = x[b * 3 / 2] * 2.0\n\t\t\t\ty[b * 16 + i] = t[i] + 1.0\n\t\t\t}\n"
		"\t\t}\n\t}\n}\n",
		"\t\tt[ramp(0, 1, 16)] = splat(x[b + b / 2] * 2.0, 16)\n" },
	/* another mask each time: what the first left is read */
	{ "masks",
		"fn f(x: in f32[16], y: out f32[16]) {\n\talloc t: f32[16] @local\n\tfor b in 0..16 {\n"
		"\t\tfor i in 0..16 vector {\n\t\t\tif b <= i {\n\t\t\t\tt[i] = x[b] + x[i]\n\t\t\t}\n\t\t}\n"
		"\t}\n\tfor j in 0..16 vector {\n\t\ty[j] = t[j]\n\t}\n}\n",
		" where splat(b, 16) < ramp(1, 1, 16)\n" },
	/* the last block written whole; only its lanes zeroed; a halo: all zeroed */
	{ "flatten",
		"fn f(x: in f32[24], y: out f32[24] map (c) -> [c / 16 : 2, c % 16 : 16]) {\n"
		"\tfor b in 0..2 {\n\t\tfor i in 0..16 vector {\n\t\t\tif b * 16 + i < 24 {\n"
		"\t\t\t\ty[b * 16 + i] = x[b * 16 + i]\n\t\t\t}\n\t\t}\n\t}\n}\n",
		"{\n\tfor b in 0..2 {\n" },
	{ "flatten",
		"fn f(x: in f32[2, 24], y: out f32[2, 24] map (n, c) -> [c / 16 : 2, n : 2, c % 16 : 16]) {\n"
		"\tfor n in 0..2 {\n\t\tfor c in 0..24 {\n\t\t\ty[n, c] = x[n, c]\n\t\t}\n\t}\n}\n",
		"\tfor pad.1 in 0..2 parallel {\n\t\ty[ramp((2 + pad.1) * 16 + 8, 1, 8)] = splat(0.0, 8)\n\t}\n" },
	{ "flatten",
		"fn f(x: in f32[4], y: out f32[4] map (c) -> [c + 1 : 6]) {\n"
		"\tfor c in 0..4 {\n\t\ty[c] = x[c]\n\t}\n}\n",
		"\tfor pad.1 in 0..6 parallel {\n\t\ty[pad.1] = 0.0\n\t}\n" },
	/* a vector over two blocks */
	{ "flatten",
		"fn f(x: in f32[12], y: out f32[12] map (c) -> [c / 8 : 2, c % 8 : 8]) {\n"
		"\tfor i in 0..16 vector {\n\t\tif i < 12 {\n\t\t\ty[i] = x[i]\n\t\t}\n\t}\n}\n",
		"\ty[ramp(12, 1, 4)] = splat(0.0, 4)\n" },
	/* two that share elements in another order stay in memory */
	{ "registers",
		"fn f(x: in f32[8], y: out f32[8]) {\n\talloc t: f32[4] @local\n"
		"\tt[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]\n\ty[ramp(0, 1, 4)] = t[ramp(3, -1, 4)]\n"
		"\ty[ramp(4, 1, 4)] = t[ramp(0, 1, 4)]\n}\n",
		"\talloc t: f32[4] @local\n" },
};

typedef struct Seen {
	Arena *arena;
	const char *pass;
	const char *text;
} Seen;

static bool keep_text(const char *pass, const KernelSet *ks, void *arg, Err *err)
{
	Seen *s = arg;
	(void)err;
	if (s->text == NULL && strcmp(pass, s->pass) == 0)
		s->text = ir_set_str(s->arena, ks);
	return true;
}

START_TEST(rewrites)
{
	Arena *a = arena_new();
	Seen seen = { a, rewritten[_i].pass, NULL };
	KernelSet *ks = parse(a, "text", rewritten[_i].before), *out;
	Err err = { 0 };
	Target t;
	target_host(&t, 1);
	ck_assert_msg(codegen_lower(a, ks, &t, NULL, keep_text, &seen, &out, &err), "%s", err.text);
	ck_assert_msg(strstr(seen.text, rewritten[_i].after) != NULL, "%s\nwhere there should be\n%s", seen.text,
		rewritten[_i].after);
	Tensors in, want;
	InterpRun how = { .seed = 1 };
	Rng rng = rng_seed(5);
	Check c = { a, &in, &want, "text" };
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s", err.text);
	ck_assert_msg(codegen_lower(a, ks, &t, NULL, after_pass, &c, &out, &err), "%s", err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("kernels");
	int rows = 0;
	while (hand_kernels[rows].name != NULL)
		rows++;
	tcase_add_loop_test(tc, small_forms, 0, rows);
	tcase_add_loop_test(tc, random_forms, 0, suite_count(16, 4, 400));
	tcase_add_loop_test(tc, large_forms, 0, rows);
	tcase_add_loop_test(tc, what_is_left, 0, rows);
	tcase_add_loop_test(tc, spills, 0, LEN(spilling));
	tcase_add_loop_test(tc, rewrites, 0, LEN(rewritten));
	return run_code_suite("codegen-kernels", tc);
}
