/*
 * Intervals, facts and proofs: tables, and random expressions whose values must lie in their
 * interval and congruence, and whose decided conditions must have the value they were decided to.
 */
#include "suite.h"
#include "gen_expr.h"

#include <time.h>

static Arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static const struct {
	const char *expr, *vars;
	int64_t lo, hi, mod, rem;
} intervals[] = {
	{ "i*4 + 3", "i 0..9", 3, 39, 4, 3 },
	{ "-i - 1", "i 0..9", -10, -1, 1, 0 },
	{ "i/4", "i -9..9", -3, 2, 1, 0 },
	{ "i%4", "i -9..9", 0, 3, 1, 0 },
	{ "i%4", "i 5..6", 1, 2, 1, 0 },
	{ "i*8/4", "i -9..9", -18, 18, 2, 0 },
	{ "(i*8 + 5)%4", "i -9..9", 1, 1, 0, 1 },
	{ "i/j", "i -9..9, j 0..3", -9, 9, 1, 0 },
	{ "i%j", "i -9..9, j 1..3", 0, 2, 1, 0 },
	{ "i%j", "i 0..9, j 20..30", 0, 9, 1, 0 },
	{ "i%-4", "i 0..9", -3, 0, 1, 0 },
	{ "tdiv(i, 4)", "i -9..9", -2, 2, 1, 0 },
	{ "tmod(i, 4)", "i -9..9", -3, 3, 1, 0 },
	{ "i*j", "i -2..3, j -5..7", -15, 21, 1, 0 },
	{ "min(i, 5)*2", "i 0..9", 0, 10, 2, 0 },
	{ "max(i, j)", "i 0..9, j 4..5", 4, 9, 1, 0 },
	{ "select(i < 5, i, 0)", "i 0..9", 0, 4, 1, 0 },
	{ "select(i < 5 & 2 < i, i, 3)", "i 0..9", 3, 4, 1, 0 },
	{ "select(i%4 == 1, i, 5)", "i 0..9", 1, 9, 4, 1 },
	{ "abs(i)", "i -9..3", 0, 9, 1, 0 },
	{ "i & 7", "i", 0, 7, 1, 0 },
	{ "i | 8", "i 0..5", 8, 15, 1, 0 },
	{ "i << 2", "i 0..5", 0, 20, 4, 0 },
	{ "i >> 1", "i -3..5", -2, 2, 1, 0 },
	/* What may wrap is of its type; a power of two survives. */
	{ "i + 1", "i", INT64_MIN, INT64_MAX, 1, 0 },
	{ "i*4", "i", INT64_MIN, INT64_MAX - 3, 4, 0 },
	{ "i*i32(3)", "i: i32", INT32_MIN, INT32_MAX, 1, 0 },
	{ "i + u8(1)", "i: u8", 0, 255, 1, 0 },
	{ "i64(i) + 1", "i: u8", 1, 256, 1, 0 },
	{ "u8(i)", "i 0..300", 0, 255, 1, 0 },
	{ "u8(i*4)", "i 0..300", 0, 252, 4, 0 },
	{ "i", "i: u64", 0, INT64_MAX, 1, 0 },
	{ "-i", "i: i8", -128, 127, 1, 0 },
	{ "n + i", "n 4..400 %4, i 0..3", 4, 403, 1, 0 },
	{ "n/4*4", "n 4..400 %4", 4, 400, 4, 0 },
	{ "lane(ramp(i, 4, 8), 0)", "i 0..9", 0, 37, 1, 0 },
	{ "select(c, 3, 3)", "c: bool", 3, 3, 0, 3 },
};

START_TEST(intervals_are)
{
	Vars v;
	vars_read(&v, ir_new(arena), intervals[_i].vars);
	Interval x = ir_interval(read_expr(&v, intervals[_i].expr), v.env);
	char got[128], want[128];
	snprintf(got, sizeof got, "%s: %lld..%lld %lld %lld", intervals[_i].expr, (long long)x.lo,
		(long long)x.hi, (long long)x.mod, (long long)x.rem);
	snprintf(want, sizeof want, "%s: %lld..%lld %lld %lld", intervals[_i].expr,
		(long long)intervals[_i].lo, (long long)intervals[_i].hi,
		(long long)intervals[_i].mod, (long long)intervals[_i].rem);
	ck_assert_str_eq(got, want);
}
END_TEST

typedef enum { NEVER, ALWAYS, OPEN } Truth;

static const struct {
	const char *cond, *vars, *given; /* given: a condition that holds, or "" */
	Truth truth;
} decisions[] = {
	{ "i < n", "n, i 0..n-1", "", ALWAYS },
	{ "n <= i", "n, i 0..n-1", "", NEVER },
	{ "i < n", "n, i 0..n", "", OPEN },
	{ "i*4 + j < n*4", "n 1..9999, i 0..n-1, j 0..3", "", ALWAYS },
	{ "i*4 + j < n*4", "n 1..9999, i 0..n-1, j 0..4", "", OPEN },
	{ "i*m + j < n*m", "n 1..9999, m 1..9999, i 0..n-1, j 0..m-1", "", ALWAYS },
	{ "(i*m + j)/m < n", "n 1..9999, m 1..9999, i 0..n-1, j 0..m-1", "", ALWAYS },
	{ "f/m < n", "n 1..9999, m 1..9999, f 0..n*m-1", "", ALWAYS },
	{ "f%m < m", "m 1..9999, f", "", ALWAYS },
	{ "f/4 < n", "n 1..9999, f 0..n*4-1", "", ALWAYS },
	{ "f/4*4 <= f", "f 0..9999", "", ALWAYS },
	{ "f < f/4*4 + 4", "f 0..9999", "", ALWAYS },
	{ "f < f/4*4 + 3", "f 0..9999", "", OPEN },
	{ "i*8 + j < n", "n 1..9999, i 0..(n + 7)/8 - 1, j 0..min(8, n - i*8) - 1", "", ALWAYS },
	{ "i*8 + j < n", "n 1..9999, i 0..(n + 7)/8 - 1, j 0..7", "", OPEN },
	{ "i*8 + j < n", "n 8..9999 %8, i 0..(n + 7)/8 - 1, j 0..7", "", ALWAYS },
	{ "j < n", "n 1..99, i 0..n-1, j i..n-1", "", ALWAYS },
	{ "i <= j", "n 1..99, i 0..n-1, j i..n-1", "", ALWAYS },
	{ "i < 6", "i 0..99", "i < 5", ALWAYS },
	{ "i + j < 11", "i 0..99, j 0..5", "i < 6", ALWAYS },
	{ "i < k", "i 0..99, j 0..99, k 0..99", "i < j & j < k", ALWAYS },
	{ "k <= i", "i 0..99, j 0..99, k 0..99", "i < j & j < k", NEVER },
	{ "i == j", "i 0..99, j 0..99", "!(i < j) & i <= j", ALWAYS },
	{ "i == 3", "i 0..99", "i%4 == 2", NEVER },
	{ "i != 0", "i 0..99", "i != 0", ALWAYS },
	{ "0 < i", "i 0..99", "i != 0", ALWAYS },
	{ "0 < i", "i 0..99", "i == 5", ALWAYS },
	{ "i*2 == j*4 + 1", "i 0..99, j 0..99", "", NEVER },
	{ "min(i, j) <= j", "i, j", "", ALWAYS },
	{ "i < max(j, i + 1)", "i 0..99, j 0..99", "", ALWAYS },
	{ "select(c, i, j) < 10", "c: bool, i 0..9, j 0..5", "", ALWAYS },
	{ "c", "c: bool", "c", ALWAYS },
	{ "c", "c: bool", "!c", NEVER },
	{ "c | i < 5", "c: bool, i 0..99", "i < 3", ALWAYS },
	{ "x < y", "x: f32, y: f32", "x < y", ALWAYS },
	{ "y <= x", "x: f32, y: f32", "x < y", OPEN },
	{ "x < x", "x: f32", "", NEVER },
	{ "x == x", "x: f32", "", OPEN },
	/* Sums that may wrap prove nothing. */
	{ "i < i + 1", "i", "", OPEN },
	{ "i < j", "i, j", "i + 1 < j + 1", OPEN },
	{ "i < j", "i 0..99, j 0..99", "i + 1 < j + 1", ALWAYS },
	{ "i*i32(2) < i32(100)", "i: i32", "i < i32(10)", OPEN },
	/* All lanes. */
	{ "ramp(i*8, 1, 8) < splat(n*8, 8)", "n 1..99, i 0..n-1", "", ALWAYS },
	{ "ramp(i*8 + 1, 1, 8) < splat(n*8, 8)", "n 1..99, i 0..n-1", "", OPEN },
	{ "splat(n*8, 8) <= ramp(i*8, 1, 8)", "n 1..99, i 0..n-1", "", NEVER },
};

START_TEST(conditions_are_decided)
{
	Vars v;
	Ir *ir = ir_new(arena);
	vars_read(&v, ir, decisions[_i].vars);
	if (decisions[_i].given[0] != 0)
		v.env = ir_range_if(ir, read_expr(&v, decisions[_i].given), true, v.env);
	const Expr *c = read_expr(&v, decisions[_i].cond);
	const char *what = arena_printf(
		arena, "%s | %s | %s", decisions[_i].cond, decisions[_i].vars, decisions[_i].given);
	ck_assert_msg(ir_always(c, v.env) == (decisions[_i].truth == ALWAYS), "always %s", what);
	ck_assert_msg(ir_never(c, v.env) == (decisions[_i].truth == NEVER), "never %s", what);
}
END_TEST

/* The interval of e holds its value, all lanes; u64 saturates. */
static void check_interval(Vars *v, const Expr *e, const Value *x)
{
	DType t = dtype_scalar(e->type);
	Interval r = ir_interval(e, v->env);
	for (int l = 0; l < e->type.lanes && !dtype_is_float(t); l++) {
		big n = number_of(t, x->i[l]);
		bool above = t.kind == DT_UINT && t.bits == 64 && r.hi == INT64_MAX;
		bool in = n >= r.lo && (n <= r.hi || above);
		bool fits = r.mod == 0 ? n == r.rem : (n - r.rem) % r.mod == 0;
		ck_assert_msg(in && fits, "%s at%s: %lld not in %lld..%lld = %lld mod %lld",
			ir_expr_str(arena, e), vars_show(v), (long long)n, (long long)r.lo,
			(long long)r.hi, (long long)r.rem, (long long)r.mod);
	}
}

static int check_decision(Vars *v, const Expr *c, const Range *env, const Value *x)
{
	bool always = ir_always(c, env), never = ir_never(c, env);
	for (int l = 0; l < c->type.lanes; l++)
		ck_assert_msg(x->i[l] ? !never : !always, "%s at%s: %s", ir_expr_str(arena, c),
			vars_show(v), always ? "always" : "never");
	return always || never;
}

static const char *const var_sets[] = {
	"n 1..64 %4, i 0..n-1, j 0..3, k 2..15, b: bool",
	"n 1..1000, m 1..50, i 0..n-1, j i..n-1, k 0..min(m, i + 3)",
	"i, j, k 0..7, b: bool, l: u8, o: u64",
	"i -9..9, j -100..3, k: i32, l: u8, c: bool",
	"n 1..9, m 1..9, f 0..n*m-1, g f/n..f/n+2, h 0..(n+3)/4-1",
};

START_TEST(random_values_lie_in_their_intervals)
{
	static const DType types[] = { { DT_INT, 64, 1 }, { DT_INT, 64, 1 }, { DT_INT, 32, 1 },
		{ DT_UINT, 8, 1 }, { DT_UINT, 64, 1 }, { DT_BOOL, 8, 1 }, { DT_BOOL, 8, 1 },
		{ DT_INT, 64, 4 }, { DT_BOOL, 8, 4 } };
	Rng seed = rng_seed(31), r = rng_fork(&seed, var_sets[_i]);
	int count = getenv("DLC_TEST_ALL") != NULL ? 20000 : 500, decided = 0;
	for (int k = 0; k < count; k++) {
		if (k % 100 == 0) {
			teardown();
			setup();
		}
		Ir *ir = ir_new(arena);
		Vars v;
		vars_read(&v, ir, var_sets[_i]);
		Gen g = { ir, &r, &v };
		const Expr *e =
			gen(&g, types[rng_below(&r, LEN(types))], 1 + (int)rng_below(&r, 3));
		const Expr *given = gen(&g, BOOL, 2);
		const Range *env = ir_range_if(ir, given, true, v.env);
		for (int j = 0; j < 20; j++) {
			Value x, y;
			if (!vars_draw(&v, &r) || !eval(&v, e, &x))
				continue;
			check_interval(&v, e, &x);
			if (e->type.kind == DT_BOOL)
				decided += check_decision(&v, e, v.env, &x);
			if (!eval(&v, given, &y) || !y.i[0])
				continue;
			const Range *plain = v.env;
			v.env = env; /* and under the condition that was drawn to hold */
			check_interval(&v, e, &x);
			if (e->type.kind == DT_BOOL)
				decided += check_decision(&v, e, env, &x);
			v.env = plain;
		}
	}
	ck_assert_int_gt(decided, count / 10);
}
END_TEST

/* A chain as a caller might write it, against the laws: total, whatever comes out. */
START_TEST(contradictory_facts_are_survived)
{
	Ir *ir = ir_new(arena);
	const Expr *i = ir_idx(ir, "i"), *j = ir_idx(ir, "j");
	const Range *env = ir_range_for(ir, i->name, ir_int(ir, 5), ir_int(ir, 2), NULL);
	env = ir_range_for(ir, j->name, ir_add(ir, j, i), ir_add(ir, j, ir_int(ir, 1)), env);
	env = ir_range_if(ir, ir_lt(ir, i, ir_int(ir, -3)), true, env);
	env = ir_range_if(ir, ir_lt(ir, ir_int(ir, 3), i), true, env);
	env = ir_range_for(ir, "f", ir_const_float(ir, F32, 1), i, env); /* not legal, not fatal */
	env = ir_range_if(ir, i, true, env);
	const Expr *e = ir_mod(ir, ir_div(ir, ir_add(ir, i, j), ir_int(ir, 0)), ir_sub(ir, i, i));
	ir_interval(e, env);
	ir_always(ir_lt(ir, e, j), env);
	ir_never(ir_lt(ir, j, ir_add(ir, j, i)), env);
}
END_TEST

/* Deep and wide sharing costs no exponential time, and depth no stack. */
START_TEST(large_expressions_are_survived)
{
	Ir *ir = ir_new(arena);
	const Expr *i = ir_idx(ir, "i"), *e = i, *s = i;
	for (int k = 0; k < 300; k++) {
		e = ir_min(ir, ir_mul(ir, e, e), ir_add(ir, e, ir_int(ir, k)));
		s = ir_select(ir, ir_lt(ir, s, ir_int(ir, k)), s, ir_add(ir, s, i));
	}
	const Range *env = ir_range_for(ir, i->name, ir_int(ir, 0), ir_int(ir, 9), NULL);
	ir_interval(e, env);
	ir_interval(s, env);
	ir_always(ir_lt(ir, e, s), env);
	const Expr *sum = i;
	for (int k = 0; k < 100000; k++)
		sum = ir_node(ir, IR_ADD, I64, (const Expr *const[]){ sum, i }, 2);
	Interval v = ir_interval(sum, env);
	ck_assert_int_eq(v.lo, INT64_MIN);
	ck_assert(!ir_always(ir_lt(ir, i, sum), env));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bounds");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, intervals_are, 0, LEN(intervals));
	tcase_add_loop_test(tc, conditions_are_decided, 0, LEN(decisions));
	tcase_add_loop_test(tc, random_values_lie_in_their_intervals, 0, LEN(var_sets));
	tcase_add_test(tc, contradictory_facts_are_survived);
	tcase_add_test(tc, large_expressions_are_survived);
	return run_suite("ir-bounds", tc);
}
