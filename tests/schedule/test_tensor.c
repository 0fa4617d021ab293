/*
 * Instructions in schedules: products of bytes, of extents that fit and that do not, with random steps
 * around those that lead to tensorize. Whatever was taken, the set computes what the naive one does, to the
 * bit, in the interpreter and as code of this machine, which may lack the instruction: then it is its meaning.
 */
#include "equal.h"
#include "steps.h"
#include "code_suite.h"

#include "codegen/codegen.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "op/op.h"

#include <string.h>

/* R, C, K: rows, columns, the inner extent. */
static const struct {
	const char *dag, *steps;
} cases[] = {
	{ "dag dense\nin x: u8[R,K]\nconst w: i8[C,K]\na: i32[R,K] = cast(x) to=i32\nb: i32[C,K] = cast(w) to=i32\n"
	  "y: i32[R,C] = dense(a, b)\nout y\n",
		"inline cast\ninline cast_1\npack c0 OI16o4i\nsplit n_2 16\nsplit k 4\nsplit m_2 3\n"
		"reorder n_2.o m_2.o k.o m_2.i n_2.i k.i\ndecompose_init dense k.o\ntensorize n_2.i dpbusd_bcast_i32x16\n"
		"unroll m_2.i\nvectorize n_2.i.init\n" },
	/* neither operand has a plain index: an explicit im2col, made for a row */
	{ "dag conv\nin x: u8[1,K,5,R]\nconst w: i8[C,K,3,1]\na: i32[1,K,5,R] = cast(x) to=i32\n"
		"b: i32[C,K,3,1] = cast(w) to=i32\n"
	  "y: i32[1,C,3,R] = conv(a, b)\nout y\n",
		"inline cast\ninline cast_1\nreindex v0 conv\npack c0 OIHW16o4i\nsplit o 16\nsplit c_2 4\n"
		"reorder n_2 h_2 w_2 o.o c_2.o kh kw o.i c_2.i\ncompute_at v0.r h_2\ndecompose_init conv c_2.o\n"
		"tensorize o.i dpbusd_bcast_i32x16\nunroll kh\n" },
};

static char *dag_text(Arena *a, const char *text, Rng *rng)
{
	static const int inner[] = { 4, 8, 12, 9 }, columns[] = { 16, 32, 20, 48 };
	Text t = { .arena = a };
	int k = inner[rng_below(rng, LEN(inner))], c = columns[rng_below(rng, LEN(columns))], r = (int)rng_range(rng, 1, 7);
	for (const char *p = text; *p != 0; p++)
		if (*p == 'R' || *p == 'K' || *p == 'C')
			text_add(&t, "%d", *p == 'R' ? r : *p == 'K' ? k : c);
		else
			text_put(&t, p, 1);
	return arena_printf(a, "%s", text_str(&t));
}

typedef struct Lab {
	Arena *arena;
	KernelSet *ks;
	Target target;
	Text taken;
} Lab;

static bool take(Lab *l, const char *step)
{
	Err err = { 0 };
	Trace *t = trace_parse(l->arena, "step", step, strlen(step), &err);
	ck_assert_msg(t != NULL, "%s: %s", step, err.text);
	bool ok = trace_apply(l->ks, t, NULL, &l->target, &err);
	ck_assert_msg(ir_verify_set(l->ks, &err), "%s%s: %s", text_str(&l->taken), step, err.text);
	if (ok)
		text_add(&l->taken, "%s", step);
	return ok;
}

/* The steps, splits with or without a peeled tail, random ones between; whether tensorize was among those taken. */
static bool follow(Lab *l, const char *plan, bool more, Rng *rng)
{
	bool tensorized = false;
	while (*plan != 0) {
		size_t n = strcspn(plan, "\n");
		const char *step = arena_printf(l->arena, "%.*s\n", (int)n, plan);
		const char *peeled = arena_printf(l->arena, "%.*s peel\n", (int)n, plan);
		bool split = strncmp(step, "split", 5) == 0 && rng_below(rng, 2) == 0;
		if (more && rng_below(rng, 3) == 0)
			take(l, random_step(l->arena, l->ks, rng));
		bool ok = (split && take(l, peeled)) || take(l, step);
		tensorized |= ok && strncmp(step, "tensorize", 9) == 0;
		plan += n + 1;
	}
	return tensorized;
}

static void compiled_agrees(const Lab *l, const KernelSet *naive, const IrArg *want, IrArg *got, int n)
{
	Err err = { 0 };
	Module m;
	Mapped *code;
	ck_assert_msg(codegen_compile(l->arena, l->ks, &l->target, NULL, &m, &err) && codegen_map(&m, &code, &err),
		"%s: %s\n%s", err.place, err.text, text_str(&l->taken));
	ck_assert_msg(codegen_call(l->ks, &m, code, got, n, &err), "%s\n%s", err.text, text_str(&l->taken));
	codegen_unmap(code);
	must_agree(naive, want, got, n, INTERP_EXACT, text_str(&l->taken));
}

/* Targets: this machine, and one that has what the interpreter alone may run. */
static bool try_one(const char *dag, const char *plan, uint64_t seed)
{
	Arena *a = arena_new();
	Rng rng = rng_seed(seed);
	Err err = { 0 };
	Target host;
	IrArg want[EQUAL_TENSORS], got[EQUAL_TENSORS];
	Task *task = task_of(a, dag_text(a, dag, &rng));
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	Lab l = { .arena = a, .ks = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err), .taken = { .arena = a } };
	target_host(&host, 1);
	l.target = host;
	l.target.arch = ARCH_X86_64;
	l.target.features |= FEATURE_BIT(FEATURE_AVX512VNNI);
	text_add(&l.taken, "# seed %llu, %s\n", (unsigned long long)seed, task->label);
	bool tensorized = follow(&l, plan, seed % 2 != 0, &rng);
	must_equal(naive, l.ks, INTERP_EXACT, seed, text_str(&l.taken));
	l.target = host;
	int n = draw_args(a, naive, INTERP_EXACT, seed, want);
	draw_args(a, naive, INTERP_EXACT, seed, got);
	must_run(naive, want, n, INTERP_EXACT, seed, text_str(&l.taken));
	compiled_agrees(&l, naive, want, got, n);
	arena_free(a);
	return tensorized;
}

START_TEST(products_of_bytes_equal_the_naive_ones)
{
	int count = suite_count(24, 24, 400), taken = 0;
	for (int k = 0; k < count; k++)
		taken += try_one(cases[_i].dag, cases[_i].steps, (uint64_t)(_i * 100000 + k));
	ck_assert_int_gt(taken, count / 4);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tensor");
	tcase_add_loop_test(tc, products_of_bytes_equal_the_naive_ones, 0, LEN(cases));
	return run_code_suite("tensor", tc);
}
