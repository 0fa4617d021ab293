/* See source.h. */
#include "schedule/source.h"

#include "ir/build.h"
#include "ir/region/region.h"
#include "ir/walk.h"

#include <string.h>

/* What the statement at the link reads of the tensor. */
static bool find_region(Sched *s, const char *what, Source *out)
{
	const Buf *t = out->buf;
	const Fn *fn = out->block.fn;
	const Region *own = ir_region_of(s->ir, fn, s->ks, *out->link, t->name);
	const Range *env = ir_range_at(s->ir, fn, *out->link);
	for (int k = 0; own != NULL && k < t->rank; k++) {
		int64_t all;
		if (!ir_is_int(t->shape[k], &all))
			return sched_refuse(s, what, t->name, "its shape is not constant");
		out->n[k] = producer_most(s->ir, own->hi[k], own->lo[k], env);
		bool whole = out->n[k] < 1 || out->n[k] >= all;
		out->n[k] = whole ? all : out->n[k];
		out->lo[k] = whole ? ir_int(s->ir, 0) : own->lo[k];
		out->hi[k] = whole ? t->shape[k] : own->hi[k];
	}
	return own != NULL || sched_refuse(s, what, t->name, "nothing in that loop reads it");
}

/* The buffer that the block reads, which all of the loop leaves as it is. */
static const Buf *find_buf(Sched *s, const char *what, const char *name, const BlockPlace *b, const Place *l)
{
	const Buf *t = producer_is_param(b->fn, name) ? ir_find_buf(b->fn, name) : NULL;
	const char *why = t == NULL ? "it is not a parameter of the block's Fn"
	                  : t->role == BUF_OUT || t->role == BUF_WORK
	                          ? "it is no input or constant, so it may be incomplete"
	                  : t->rank == 0 ? "it has one element"
	                                 : NULL;
	if (why == NULL) {
		Touch in = producer_touches(l->loop->loop.body, name);
		if (in.writes > 0 || in.strange)
			why = "that loop writes it, or a call uses it";
		else if (producer_touches_one(b->block, name).loads == 0)
			why = "that block does not read it";
	}
	if (why != NULL)
		sched_refuse(s, what, name, why);
	return why == NULL ? t : NULL;
}

bool source_may_put(Sched *s, const char *what, const char *name, const BlockPlace *b, const Place *l)
{
	bool around = false;
	for (int k = 0; k < b->naround; k++)
		around |= b->around[k] == l->loop;
	if (!around)
		return sched_refuse_for(s, what, name, "the block does not stand in loop %s", l->loop->loop.var);
	for (int k = 0; k <= l->naround; k++) {
		const Stmt *loop = k < l->naround ? l->around[k] : l->loop;
		if (loop->loop.kind == LOOP_VECTOR || loop->loop.kind == LOOP_BOUND)
			return sched_refuse_for(
				s, what, name, "loop %s is a vector or bound loop, which takes no further statements", loop->loop.var);
	}
	if (nest_depth(b->fn->body) + IR_MAX_RANK > IR_MAX_DEPTH || nest_expr_depth(b->fn->body) + 16 > IR_MAX_DEPTH)
		return sched_refuse(s, what, name, "loops or indices would be nested too deeply");
	return true;
}

bool source_find(Sched *s, const Step *st, const char *what, Source *out)
{
	const char *name = st->arg[0].word;
	const BlockPlace *b = &out->block;
	if (!sched_find_block(s, st->arg[1].word, &out->block) || !sched_find_loop(s, st->arg[2].word, &out->loop) ||
		!source_may_put(s, what, name, b, &out->loop))
		return false;
	out->buf = find_buf(s, what, name, b, &out->loop);
	if (out->buf == NULL)
		return false;
	out->link = nest_link_to(&out->loop.loop->loop.body, b->block);
	if (out->link == NULL)
		return sched_refuse_for(
			s, what, name, "block %s stands in something else than loops and conditions", b->block->block.name);
	return find_region(s, what, out);
}
