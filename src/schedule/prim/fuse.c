/* fuse: two nested loops become one. The order of the iterations stays. */
#include "schedule/sched.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

#define FUSED_EXTENT ((int64_t)1 << 40)

static bool simplify_iters(Stmt *s, void *arg)
{
	Ir *ir = arg;
	for (int k = 0; s->kind == ST_BLOCK && k < s->block.n; k++)
		s->block.iter[k].value = ir_simplify(ir, s->block.iter[k].value, NULL);
	return true;
}

static bool may_fuse(Sched *s, const Place *p, const Stmt *inner, int64_t n, int64_t m, const char *name)
{
	const Stmt *outer = p->loop;
	const Stmt *loop[2] = { outer, inner };
	if (outer->loop.body != inner || inner->next != NULL)
		return sched_refuse_for(s, "fuse", outer->loop.var, "its body is not loop %s alone", inner->loop.var);
	for (int k = 0; k < 2; k++)
		if (loop[k]->loop.kind != LOOP_SERIAL)
			return sched_refuse(s, "fuse", loop[k]->loop.var, "it is no longer a serial loop");
	if (n < 1 || m < 1 || n > FUSED_EXTENT / m)
		return sched_refuse_for(
			s, "fuse", outer->loop.var, "its extent and that of loop %s must be positive constants", inner->loop.var);
	for (int k = 0; k < 2; k++)
		if ((k == 0 ? n : m) > 1 && nest_uses(loop[k]).unused)
			return sched_refuse(
				s, "fuse", loop[k]->loop.var, "a block below it does the same in every iteration");
	if (strlen(name) > TRACE_NAME || nest_has_name(p->fn, name))
		return sched_refuse_for(s, "fuse", outer->loop.var, "the new name %s is too long or already in use", name);
	if (nest_expr_depth(inner->loop.body) + 8 > IR_MAX_DEPTH)
		return sched_refuse(s, "fuse", outer->loop.var, "indices would be nested too deeply");
	return true;
}

/* Needs: two serial loops, perfectly nested.  Breaks: their names. */
bool prim_fuse(Sched *s, const Step *st)
{
	Place p, q;
	int64_t n = 0, m = 0;
	Ir *ir = s->ir;
	if (!sched_find_loop(s, st->arg[0].word, &p) || !sched_find_loop(s, st->arg[1].word, &q))
		return false;
	Stmt *i = p.loop, *j = q.loop;
	const char *name = sched_name(s, st, 0, "%s_%s", i->loop.var, j->loop.var);
	if (!nest_extent(i, &n) || !nest_extent(j, &m))
		n = 0;
	if (!may_fuse(s, &p, j, n, m, name))
		return false;
	const Expr *v = ir_idx(ir, name), *inner_n = ir_int(ir, m);
	Stmt *body = j->loop.body;
	ir_subst_stmt(ir, body, j->loop.var, ir_add(ir, j->loop.lo, ir_mod(ir, v, inner_n)));
	ir_subst_stmt(ir, body, i->loop.var, ir_add(ir, i->loop.lo, ir_div(ir, v, inner_n)));
	ir_each_stmt(body, simplify_iters, ir);
	Stmt *fused = ir_for(ir, name, ir_int(ir, 0), ir_int(ir, n * m), LOOP_SERIAL, body);
	fused->next = i->next;
	*p.link = fused;
	return true;
}
