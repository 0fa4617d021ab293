/* parallel: threads share the iterations of a loop. */
#include "schedule/sched.h"

/* Needs: a serial loop that only spatial iterators use, in serial loops.  Breaks: nothing. */
bool prim_parallel(Sched *s, const Step *st)
{
	Place p;
	if (!sched_find_loop(s, st->arg[0].word, &p) || !sched_need_serial(s, "parallel", p.loop))
		return false;
	Uses u = nest_uses(p.loop);
	if (!sched_need_spatial(s, "parallel", p.loop, &u))
		return false;
	if (p.fn->kind == FN_SUB)
		return sched_refuse_for(s, "parallel", p.loop->loop.var, "it stands in sub Fn %s", p.fn->name);
	if (u.threads)
		return sched_refuse(s, "parallel", p.loop->loop.var, "it contains a parallel loop");
	for (int k = 0; k < p.naround; k++)
		if (p.around[k]->loop.kind != LOOP_SERIAL)
			return sched_refuse_for(s, "parallel", p.loop->loop.var, "it stands in loop %s, which is not serial",
				p.around[k]->loop.var);
	p.loop->loop.kind = LOOP_PARALLEL;
	return true;
}
