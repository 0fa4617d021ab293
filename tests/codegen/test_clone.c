/*
 * A set cloned into an Ir of its own against the same set printed and parsed: the same text, expressions in
 * the same order, the same lowering and the same machine code, whatever the first Ir held before.
 */
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "ir/walk.h"
#include "kernels.h"
#include "runner.h"
#include "code_suite.h"

#include <stdlib.h>
#include <string.h>

/* Every expression of a set, as often as it stands there. */
typedef struct Exprs {
	Arena *arena;
	VEC(const Expr *) all;
} Exprs;

static void add_node(const Expr *e, void *arg)
{
	Exprs *x = arg;
	vec_push(x->arena, &x->all, e);
}

static void add_expr(const Expr *e, void *arg)
{
	ir_each_node(e, add_node, arg);
}

static bool add_stmt(Stmt *s, void *arg)
{
	ir_each_expr(s, add_expr, arg);
	return true;
}

static Exprs exprs_of(Arena *a, const KernelSet *ks)
{
	Exprs x = { .arena = a };
	for (size_t k = 0; k < ks->n; k++)
		ir_each_stmt(ks->fn[k]->body, add_stmt, &x);
	return x;
}

static int by_id(const void *a, const void *b)
{
	const Expr *x = **(const Expr *const *const *)a, *y = **(const Expr *const *const *)b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Two lists of one text: of two expressions, the one made first in one Ir was made first in the other. */
static void same_order(Arena *a, Exprs *x, Exprs *y)
{
	ck_assert_uint_eq(x->all.n, y->all.n);
	const Expr ***order = arena_array(a, const Expr **, x->all.n + 1);
	for (size_t k = 0; k < x->all.n; k++)
		order[k] = &x->all.at[k];
	qsort(order, x->all.n, sizeof *order, by_id);
	for (size_t k = 1; k < x->all.n; k++) {
		const Expr *p = y->all.at[order[k - 1] - x->all.at], *q = y->all.at[order[k] - x->all.at];
		ck_assert_msg((*order[k - 1] == *order[k]) == (p == q) && p->id <= q->id, "%s and %s", ir_expr_str(a, p),
			ir_expr_str(a, q));
	}
}

static void check(Arena *a, const KernelSet *ks, const Target *t)
{
	const char *text = ir_set_str(a, ks);
	Err err = { 0 }, also = { 0 };
	KernelSet *clone = ir_clone_set_into(ir_new(a), ks);
	KernelSet *parsed = ir_parse_set(ir_new(a), "set", text, strlen(text), &err);
	ck_assert_msg(parsed != NULL, "%s: %s\n%s", err.place, err.text, text);
	ck_assert_str_eq(ir_set_str(a, clone), text);
	Exprs x = exprs_of(a, clone), y = exprs_of(a, parsed);
	same_order(a, &x, &y);
	CodegenOptions o = { .texts = runner_text_bit("lowered") };
	Module m, n;
	bool ok = codegen_compile(a, ks, t, &o, &m, &err), too = codegen_compile(a, parsed, t, &o, &n, &also);
	ck_assert_msg(ok == too && strcmp(err.text, also.text) == 0, "%s, %s\n%s", err.text, also.text, text);
	if (!ok)
		return;
	ck_assert_str_eq(runner_text(&m, "lowered"), runner_text(&n, "lowered"));
	ck_assert_uint_eq(m.image.size, n.image.size);
	ck_assert_mem_eq(m.image.bytes, n.image.bytes, m.image.size);
}

START_TEST(random_sets)
{
	Target host;
	target_host(&host, 1);
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 200 : 20;
	for (int k = 0; k < rounds; k++) {
		Arena *a = arena_new();
		Ir *ir = ir_new(a);
		Rng rng = rng_seed(0xc109e000u + (uint64_t)(_i * rounds + k));
		random_set(&rng, ir, RANDOM_ALL, 3); /* names and expressions that the set below does not have */
		check(a, random_set(&rng, ir, RANDOM_ALL, 1 + (int)rng_below(&rng, 4)), &host);
		arena_free(a);
	}
}
END_TEST

START_TEST(hand_written)
{
	const HandKernel *row = &hand_kernels[_i];
	Arena *a = arena_new();
	Target host;
	Err err = { 0 };
	target_host(&host, 1);
	const char *text = hand_kernel_text(a, KERNELS, row->form, row->params);
	KernelSet *ks = ir_parse_set(ir_new(a), row->name, text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	check(a, ks, &host);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("clone");
	int n = 0;
	while (hand_kernels[n].name != NULL)
		n++;
	tcase_add_loop_test(tc, random_sets, 0, 4);
	tcase_add_loop_test(tc, hand_written, 0, n);
	return run_code_suite("codegen-clone", tc);
}
