/*
 * Vector loops to the widths that a language has types for: 2, 4, 8 and 16 lanes. A loop of 24 iterations becomes
 * one of 16 and one of 8; one of 48, three steps of 16. Longer loops stay: `vectorize` cuts them into steps of the
 * target's width.
 *
 * Law: the iterations of a vector loop have no order.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"

enum { WIDEST = 16, LONG = 64 };

/* Iterations [from, from + steps * width) of the loop, as steps of a vector loop. */
static Stmt *piece(Lower *l, const Stmt *s, int64_t from, int64_t steps, int width)
{
	Ir *ir = l->ir;
	Stmt *copy = ir_clone_stmt(ir, s); /* alone: its next is NULL */
	const Expr *lo = ir_add(ir, s->loop.lo, ir_int(ir, from));
	if (steps == 1) {
		copy->loop.lo = lo;
		copy->loop.hi = ir_add(ir, lo, ir_int(ir, width));
		return copy;
	}
	const char *var = ir_fresh_name(ir, s->loop.var);
	lo = ir_add(ir, lo, ir_mul(ir, ir_idx(ir, var), ir_int(ir, width)));
	ir_subst_stmt(ir, copy->loop.body, s->loop.var, ir_add(ir, lo, ir_idx(ir, s->loop.var)));
	copy->loop.lo = ir_int(ir, 0);
	copy->loop.hi = ir_int(ir, width);
	return ir_for(ir, var, ir_int(ir, 0), ir_int(ir, steps), LOOP_UNROLLED, copy);
}

static bool cut(Lower *l, Stmt *s, Stmt **out)
{
	int64_t n;
	*out = s;
	if (s->kind != ST_FOR || s->loop.kind != LOOP_VECTOR ||
		!ir_is_int(ir_simplify(l->ir, ir_sub(l->ir, s->loop.hi, s->loop.lo), NULL), &n) || n < 1 || n > LONG)
		return true;
	if ((n & (n - 1)) == 0 && n <= WIDEST)
		return true;
	Stmt *all = NULL;
	for (int64_t from = 0, width = WIDEST; from < n;) {
		while (width > n - from)
			width /= 2;
		int64_t steps = (n - from) / width;
		Stmt *now = piece(l, s, from, steps, (int)width);
		if (from > 0)
			lower_rename(l, now);
		all = ir_seq(all, now);
		from += steps * width;
	}
	*out = all;
	return true;
}

bool pass_widths(Lower *l)
{
	return lower_rewrite(l, &l->fn->body, cut);
}
