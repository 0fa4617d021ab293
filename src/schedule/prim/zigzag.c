/*
 * zigzag: a loop goes backwards in every other iteration of a loop around it. What it read last is read first in the
 * next one, while a cache still has that.
 */
#include "schedule/sched.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

/* Needs: a loop whose iterations are independent, in serial loop S.  Breaks: the loop's name, for a let's. */
bool prim_zigzag(Sched *s, const Step *st)
{
	Place p;
	Ir *ir = s->ir;
	int64_t n;
	if (!sched_find_loop(s, st->arg[0].word, &p) || !sched_need_serial(s, "zigzag", p.loop))
		return false;
	const char *var = p.loop->loop.var;
	const Stmt *around = NULL;
	for (int k = 0; k < p.naround; k++)
		if (strcmp(p.around[k]->loop.var, st->arg[1].word) == 0)
			around = p.around[k];
	if (around == NULL || around->loop.kind != LOOP_SERIAL)
		return sched_refuse_for(s, "zigzag", var, "%s is no serial loop around it", st->arg[1].word);
	if (!nest_extent(p.loop, &n))
		return sched_refuse(s, "zigzag", var, "its extent is not constant");
	Uses u = nest_uses(p.loop);
	if (!sched_need_spatial(s, "zigzag", p.loop, &u))
		return false;
	const char *made[] = { sched_name(s, st, 0, "%s.z", var) };
	if (!sched_may_name(s, p.fn, "zigzag", var, made, 1))
		return false;
	const Expr *i = ir_idx(ir, var), *two = ir_int(ir, 2), *zero = ir_int(ir, 0);
	const Expr *even = ir_eq(ir, ir_mod(ir, ir_idx(ir, around->loop.var), two), zero);
	const Expr *back = ir_sub(ir, ir_add(ir, p.loop->loop.lo, ir_sub(ir, p.loop->loop.hi, ir_int(ir, 1))), i);
	const char *name = ir_name(ir, made[0]);
	ir_subst_stmt(ir, p.loop->loop.body, var, ir_idx(ir, name));
	Stmt *let = ir_let(ir, name, ir_select(ir, even, i, back));
	p.loop->loop.body = ir_seq(let, p.loop->loop.body);
	return true;
}
