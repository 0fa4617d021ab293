/* bind: the iterations of a loop are the blocks of a launch along an axis, or the threads of a block. */
#include "schedule/launch.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/threads/form.h"
#include "ir/walk.h"

#include <string.h>

static bool is_inner(const Expr *e, void *arg)
{
	const Fn *fn = arg;
	bool symbol = false;
	for (int k = 0; e->op == IR_VAR && k < fn->nsym; k++)
		symbol |= strcmp(fn->sym[k].name, e->name) == 0;
	return e->op == IR_LOAD || (e->op == IR_VAR && !symbol);
}

/* Needs: a serial loop of independent iterations. Breaks: nothing; launch_settle looks at what is around and below. */
bool prim_bind(Sched *s, const Step *st)
{
	Place p;
	int axis;
	const char *name = st->arg[0].word;
	if (!launch_need_device(s, "bind", name) || !sched_find_loop(s, name, &p) || !sched_need_serial(s, "bind", p.loop))
		return false;
	Stmt bound = *p.loop;
	bound.loop.kind = LOOP_BOUND;
	bound.loop.axis = ir_name(s->ir, st->arg[1].word);
	AxisKind kind = ir_axis_of(&bound, &axis);
	if (kind != AXIS_GRID && kind != AXIS_BLOCK)
		return sched_refuse(s, "bind", name, "an axis is grid.x, grid.y, grid.z, block.x, block.y or block.z");
	if (p.fn->kind != FN_RUN)
		return sched_refuse_for(s, "bind", name, "it stands in %s, which no launch runs", p.fn->name);
	if (ir_find_node(p.loop->loop.lo, is_inner, p.fn) != NULL || ir_find_node(p.loop->loop.hi, is_inner, p.fn) != NULL)
		return sched_refuse(s, "bind", name, "its ends must be of constants and symbols");
	const Expr *extent = ir_sub(s->ir, p.loop->loop.hi, p.loop->loop.lo);
	Interval range = ir_interval(extent, ir_range_fn(s->ir, p.fn));
	int64_t n = kind == AXIS_GRID ? range.lo : range.hi, most = ir_axis_most(kind, axis);
	if (n > most && n < INT32_MAX) /* a device checks a grid of symbols at the launch */
		return fail(s->err, ERR_ILLEGAL, s->place, "bind %s: a %s has at most %lld %s along %s, not %lld", name,
			kind == AXIS_GRID ? "grid" : "block", (long long)most, kind == AXIS_GRID ? "blocks" : "threads",
			bound.loop.axis, (long long)n);
	p.loop->loop.kind = LOOP_BOUND;
	p.loop->loop.axis = bound.loop.axis;
	return true;
}
