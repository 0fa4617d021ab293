/* cut: one loop becomes two, one behind the other, so that what holds at an edge is decided in each. */
#include "schedule/tail.h"

/* Needs: a loop of constant extent that is no vector. Breaks: nothing; the second part's names are new. */
bool prim_cut(Sched *s, const Step *st)
{
	Place p;
	int64_t n, at = st->arg[1].num;
	if (!sched_find_loop(s, st->arg[0].word, &p))
		return false;
	const Stmt *l = p.loop;
	if (l->loop.kind != LOOP_SERIAL && l->loop.kind != LOOP_PARALLEL && l->loop.kind != LOOP_UNROLLED)
		return sched_refuse(s, "cut", l->loop.var, "it is a vector, bound or pipelined loop");
	if (!nest_extent(l, &n))
		return sched_refuse(s, "cut", l->loop.var, "its extent is not constant");
	if (at >= n)
		return fail(s->err, ERR_ILLEGAL, s->place, "cut: %lld iterations of loop %s, which has %lld",
			(long long)at, l->loop.var, (long long)n);
	return tail_cut(s, "cut", &p, at, st->nas > 0 ? ir_name(s->ir, st->as[0]) : NULL);
}
