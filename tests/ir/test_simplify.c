/*
 * Simplification: every row's own example, more cases, and random expressions, whose value must
 * stay the same for all values in range and which must not simplify any further the second time.
 */
#include "suite.h"
#include "ir/simplify/simplify.h"
#include "gen_expr.h"

static Arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static void check_same(Vars *v, const Expr *before, const Expr *after, Rng *r, int times)
{
	ck_assert_msg(dtype_eq(before->type, after->type), "%s: another type",
		ir_expr_str(arena, before));
	for (int k = 0; k < times; k++) {
		Value a, b;
		if (!vars_draw(v, r) || !eval(v, before, &a))
			continue;
		bool ok = eval(v, after, &b);
		ck_assert_msg(ok && same_value(before->type, &a, &b),
			"%s -> %s at%s: %lld, %lld (%g, %g)", ir_expr_str(arena, before),
			ir_expr_str(arena, after), vars_show(v), (long long)a.i[0],
			(long long)b.i[0], a.f[0], b.f[0]);
	}
}

static void check_case(const char *name, const char *vars, const char *before, const char *after)
{
	Ir *ir = ir_new(arena);
	Vars v;
	vars_read(&v, ir, vars);
	const Expr *e = read_expr(&v, before), *s = ir_simplify(ir, e, v.env);
	Err err = { 0 };
	const Expr *want = ir_parse_expr(ir, after, v.param, v.n, &err);
	ck_assert_msg(want != NULL, "%s: %s", after, err.text);
	ck_assert_msg(s == want, "%s: %s | %s | %s, not %s", name, before, vars,
		ir_expr_str(arena, s), after);
	ck_assert_ptr_eq(ir_simplify(ir, s, v.env), s);
	Rng r = rng_seed(1);
	check_same(&v, e, s, &r, 200);
}

START_TEST(every_rule_simplifies_its_example)
{
	for (const IrRewrite *w = ir_simplify_rules(); w->name != NULL; w++) {
		ck_assert_str_ne(w->before, w->after);
		check_case(w->name, w->vars, w->before, w->after);
	}
}
END_TEST

static const struct {
	const char *before, *vars, *after;
} cases[] = {
#include "simplify_cases.def"
};

START_TEST(cases_simplify_to)
{
	check_case("case", cases[_i].vars, cases[_i].before, cases[_i].after);
}
END_TEST

/* ---- Random expressions. ---- */

/* 3600 over all kinds, 36 000 with DLC_TEST_ALL. */
START_TEST(random_expressions_keep_their_value)
{
	Rng seed = rng_seed(2024), r = rng_fork(&seed, kinds[_i].vars);
	int count = getenv("DLC_TEST_ALL") != NULL ? 3000 : 300;
	for (int k = 0; k < count; k++) {
		if (k % 100 == 0) {
			teardown();
			setup();
		}
		Ir *ir = ir_new(arena);
		Vars v;
		vars_read(&v, ir, kinds[_i].vars);
		Gen g = { ir, &r, &v };
		const Expr *e = gen(&g, kinds[_i].type, 1 + (int)rng_below(&r, 4));
		const Expr *s = ir_simplify(ir, e, v.env);
		check_same(&v, e, s, &r, 30);
		const Expr *again = ir_simplify(ir, s, v.env);
		ck_assert_msg(again == s, "kind %d: %s -> %s -> %s", _i, ir_expr_str(arena, e),
			ir_expr_str(arena, s), ir_expr_str(arena, again));
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("simplify");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, every_rule_simplifies_its_example);
	tcase_add_loop_test(tc, cases_simplify_to, 0, LEN(cases));
	tcase_add_loop_test(tc, random_expressions_keep_their_value, 0, LEN(kinds));
	return run_suite("ir-simplify", tc);
}
