/*
 * Unrolled loops to their iterations, one after the other, declared names fresh in each. A loop
 * whose bounds are no constants, or that would grow the Fn beyond LIMIT statements, stays a loop.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

enum { LIMIT = 1 << 16 };

static bool count(Stmt *s, void *arg)
{
	(void)s;
	++*(int64_t *)arg;
	return true;
}

static bool unroll(Lower *l, Stmt *s, Stmt **out)
{
	int64_t lo, hi, size = 0;
	*out = s;
	if (s->kind != ST_FOR || s->loop.kind != LOOP_UNROLLED)
		return true;
	s->loop.kind = LOOP_SERIAL;
	const Expr *n = ir_simplify(l->ir, ir_sub(l->ir, s->loop.hi, s->loop.lo), NULL);
	if (!ir_is_int(n, &hi) || ir_has_load(s->loop.lo))
		return true;
	ir_each_stmt(s->loop.body, count, &size);
	if (hi > LIMIT || hi * (size + 1) > LIMIT)
		return true;
	Stmt *all = NULL, **end = &all;
	for (lo = 0; lo < hi; lo++) {
		Stmt *one = lo + 1 < hi ? ir_clone_stmt(l->ir, s->loop.body) : s->loop.body;
		if (hi > 1)
			lower_rename(l, one);
		ir_subst_stmt(l->ir, one, s->loop.var, ir_add(l->ir, s->loop.lo, ir_int(l->ir, lo)));
		*end = one;
		while (*end != NULL)
			end = &(*end)->next;
	}
	*out = all;
	return true;
}

bool pass_unroll(Lower *l)
{
	return lower_rewrite(l, &l->fn->body, unroll);
}
