/*
 * Strides and shares of iterations are computed for all points at once (columns.c). They must be what one finds that
 * puts the loops to each point and evaluates there.
 */
#include "suite.h"

#include "base/rng.h"
#include "cost_model/columns.h"
#include "cost_model/cost.h"
#include "ir/build.h"

#include <stdio.h>
#include <string.h>

enum { LOOPS = 4, LETS = 3 };

/* Loops i0 to i3 and names between them, as a walk binds them. */
typedef struct Nest {
	Ir *ir;
	Rng *rng;
	CostNest n;
	const char *name[LOOPS + LETS];
	int names;
} Nest;

static const Expr *draw_expr(Nest *x, int depth)
{
	static const Node two[] = { IR_ADD, IR_ADD, IR_MUL, IR_MUL, IR_SUB, IR_DIV, IR_MOD, IR_MIN, IR_MAX, IR_XOR };
	static const int64_t by[] = { 1, 2, 3, 4, 7, 8, 16, 56, 1000 };
	Rng *r = x->rng;
	uint64_t kind = rng_below(r, 24);
	if (depth == 0 || kind < 3) {
		if (rng_below(r, 3) == 0)
			return ir_int(x->ir, rng_range(r, -4, 40));
		return ir_idx(x->ir, x->name[rng_below(r, (uint64_t)x->names)]);
	}
	const Expr *a = draw_expr(x, depth - 1), *b = draw_expr(x, depth - 1);
	if (kind == 3) /* data */
		return rng_below(r, 4) == 0 ? ir_load_named(x->ir, "data", I64, &a, 1) : a;
	if (kind == 4)
		return ir_select(x->ir, ir_lt(x->ir, a, b), a, draw_expr(x, depth - 1));
	if (kind == 5)
		return rng_below(r, 8) == 0 ? ir_binary(x->ir, IR_SHL, a, ir_int(x->ir, 3)) : ir_unary(x->ir, IR_NEG, a);
	Node op = two[rng_below(r, LEN(two))];
	if ((op == IR_DIV || op == IR_MOD || op == IR_MUL) && rng_below(r, 12) > 0)
		b = ir_int(x->ir, by[rng_below(r, LEN(by))]);
	return ir_binary(x->ir, op, a, b);
}

static void draw_nest(Nest *x, Arena *a, Rng *rng)
{
	static const int64_t extent[] = { 1, 2, 3, 5, 7, 16, 100 };
	*x = (Nest){ .ir = ir_new(a), .rng = rng };
	for (int l = 0; l < LOOPS; l++) {
		const char *var = ir_name(x->ir, arena_printf(a, "i%d", l));
		NestLoop loop = { .var = var, .lo = rng_range(rng, 0, 2), .n = extent[rng_below(rng, LEN(extent))] };
		x->n.loop[x->n.nloop++] = loop;
		nest_bind(&x->n, var, NULL, loop.lo);
		x->name[x->names++] = var;
		if (l >= LETS)
			continue;
		const char *let = ir_name(x->ir, arena_printf(a, "v%d", l));
		nest_bind(&x->n, let, draw_expr(x, 2), 0);
		x->name[x->names++] = let;
	}
}

static void check_strides(Nest *x, const Access *at, const Buf *b)
{
	int64_t stride[NEST_LOOPS], base = 0, next = 0;
	bool known = nest_address(&x->n, at, b, &base), all = known;
	bool got = nest_strides(&x->n, at, b, stride);
	for (int l = 0; l < LOOPS; l++) {
		nest_set_loop(&x->n, l, x->n.loop[l].n > 1);
		bool ok = nest_address(&x->n, at, b, &next);
		nest_set_loop(&x->n, l, 0);
		all = all && ok;
		ck_assert(!got || !ok || stride[l] == next - base);
	}
	ck_assert_int_eq(got, all);
}

START_TEST(strides_are_differences)
{
	Rng r = rng_seed(11);
	for (int k = 0; k < 3000; k++) {
		Arena *a = arena_new();
		Nest x;
		draw_nest(&x, a, &r);
		const Expr *idx[2] = { draw_expr(&x, 3), draw_expr(&x, 3) };
		Access at = { ir_name(x.ir, "b"), 2, idx };
		Buf *b = ir_buf(x.ir, "b", BUF_IN, F32, "global", (int64_t[]){ 64, 64 }, 2);
		check_strides(&x, &at, b);
		/* In blocks of 16; the first name is once one that stands around. */
		const char *var[2] = { ir_name(x.ir, k % 8 == 0 ? "v1" : "p"), ir_name(x.ir, "q") };
		const Expr *p = ir_idx(x.ir, var[0]), *q = ir_idx(x.ir, var[1]), *block = ir_int(x.ir, 16);
		const Expr *to[3] = { ir_div(x.ir, q, block), p, ir_mod(x.ir, q, block) };
		const Expr *extent[3] = { ir_int(x.ir, 4), ir_int(x.ir, 64), block };
		b->map = (IndexMap){ .nvar = 2, .n = 3, .var = var, .at = to, .extent = extent };
		check_strides(&x, &at, b);
		arena_free(a);
	}
}
END_TEST

/* At all iterations of all loops: only those of which a condition is known and those around do not fail count. */
static double share_by_points(Nest *x, const Expr *cond, const Expr *around)
{
	double tried = 0, holds = 0;
	Buf *one = ir_buf(x->ir, "one", BUF_IN, I64, "global", (int64_t[]){ 1 }, 1);
	int64_t at[LOOPS] = { 0 }, v, w;
	for (bool more = true; more;) {
		for (int l = 0; l < LOOPS; l++)
			nest_set_loop(&x->n, l, at[l]);
		const Expr *i = ir_cast(x->ir, I64, cond), *j = ir_cast(x->ir, I64, around);
		bool out = nest_address(&x->n, &(Access){ "one", 1, &j }, one, &w) && w == 0;
		if (!out && nest_address(&x->n, &(Access){ "one", 1, &i }, one, &v)) {
			tried++;
			holds += v != 0;
		}
		int l = 0;
		while (l < LOOPS && ++at[l] == x->n.loop[l].n)
			at[l++] = 0;
		more = l < LOOPS;
	}
	for (int l = 0; l < LOOPS; l++)
		nest_set_loop(&x->n, l, 0);
	return tried == 0 ? 1 : holds / tried;
}

START_TEST(shares_are_counts)
{
	Rng r = rng_seed(12);
	int compared = 0, partly = 0;
	for (int k = 0; k < 6000; k++) {
		Arena *a = arena_new();
		Nest x;
		draw_nest(&x, a, &r);
		double points = 1;
		for (int l = 0; l < LOOPS; l++)
			points *= (double)x.n.loop[l].n;
		const Expr *cond = ir_lt(x.ir, draw_expr(&x, 2), draw_expr(&x, 2));
		const Expr *around = ir_le(x.ir, draw_expr(&x, 2), draw_expr(&x, 1));
		Condition c = { cond, nest_loops(&x.n, cond) }, outer = { around, nest_loops(&x.n, around) };
		if (points <= COST_POINTS && (c.loops & outer.loops) != 0) {
			x.n.condition[x.n.nconditions++] = outer;
			double share = nest_share(&x.n, &c), want = share_by_points(&x, cond, around);
			ck_assert_msg(share == want, "%.17g, not %.17g", share, want);
			compared++;
			partly += share > 0 && share < 1;
		}
		arena_free(a);
	}
	ck_assert_int_gt(compared, 300);
	ck_assert_int_gt(partly, 50);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("columns");
	tcase_add_test(tc, strides_are_differences);
	tcase_add_test(tc, shares_are_counts);
	return run_suite("cost_columns", tc);
}
