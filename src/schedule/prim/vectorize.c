/* vectorize: the iterations of a loop become the lanes of vectors. */
#include "schedule/sched.h"

enum { LANES = 64 };

/* Needs: a serial loop of constant extent that only spatial iterators use.  Breaks: nothing. */
bool prim_vectorize(Sched *s, const Step *st)
{
	Place p;
	int64_t n;
	if (!sched_find_loop(s, st->arg[0].word, &p) || !sched_need_serial(s, "vectorize", p.loop))
		return false;
	if (!nest_extent(p.loop, &n) || n > LANES || n < 1)
		return sched_refuse(s, "vectorize", p.loop->loop.var, "its extent must be a constant from 1 to 64");
	Uses u = nest_uses(p.loop);
	if (!sched_need_spatial(s, "vectorize", p.loop, &u))
		return false;
	if (u.lanes || u.threads)
		return sched_refuse(s, "vectorize", p.loop->loop.var, "it contains a vector or parallel loop");
	for (int k = 0; k < p.naround; k++)
		if (p.around[k]->loop.kind == LOOP_VECTOR)
			return sched_refuse_for(
				s, "vectorize", p.loop->loop.var, "it stands in vector loop %s", p.around[k]->loop.var);
	if (!sched_may_write_out(s, "vectorize", &p, LOOP_VECTOR))
		return false;
	p.loop->loop.kind = LOOP_VECTOR;
	return true;
}
