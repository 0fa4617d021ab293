/* unroll: code generation writes a loop out, iteration by iteration. */
#include "schedule/sched.h"

#include "ir/walk.h"

enum { EXTENT = 64, COPIES = 4096 };

static bool is_call(Stmt *s, void *arg)
{
	if (s->kind == ST_CALL && !s->call.intrin)
		*(const char **)arg = s->call.fn;
	return true;
}

/* Needs: a serial loop of constant extent.  Breaks: nothing. */
bool prim_unroll(Sched *s, const Step *st)
{
	Place p;
	int64_t n, m;
	if (!sched_find_loop(s, st->arg[0].word, &p) || !sched_need_serial(s, "unroll", p.loop))
		return false;
	if (!nest_extent(p.loop, &n) || n > EXTENT)
		return sched_refuse(s, "unroll", p.loop->loop.var, "its extent must be a constant up to 64");
	const char *callee = NULL;
	ir_each_stmt(p.loop->loop.body, is_call, &callee);
	if (callee != NULL)
		return sched_refuse_for(s, "unroll", p.loop->loop.var, "it contains a call of %s", callee);
	int64_t copies = nest_copies(p.loop->loop.body) * (n > 1 ? n : 1);
	for (int k = 0; k < p.naround; k++)
		if (p.around[k]->loop.kind == LOOP_UNROLLED && nest_extent(p.around[k], &m) && m > 1)
			copies *= m;
	if (copies > COPIES)
		return fail(s->err, ERR_ILLEGAL, s->place, "unroll %s: the code would stand there %lld times, at most %d",
			p.loop->loop.var, (long long)copies, COPIES);
	if (!sched_may_write_out(s, "unroll", &p, LOOP_UNROLLED))
		return false;
	p.loop->loop.kind = LOOP_UNROLLED;
	return true;
}
