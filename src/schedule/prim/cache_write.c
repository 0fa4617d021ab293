/* cache_write: a block makes a buffer of its own, which is copied; compute_at may then move the block. */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

enum { OWN = 2 /* names behind "as" that come before those of loops */ };

/* Needs: a block that alone makes all of a buffer.  Breaks: nothing that names loops. */
bool prim_cache_write(Sched *s, const Step *st)
{
	Producer p;
	BlockPlace none;
	const char *name = st->arg[0].word, *loop[IR_MAX_RANK + 1];
	Arena *a = ir_arena(s->ir);
	if (!producer_find_maker(s, "cache_write", name, &p))
		return false;
	Stmt *b = p.at.block, *next = b->next;
	if (p.fixed)
		return sched_refuse_for(
			s, "cache_write", name, "its iterators must be the indices of %s, one each", p.buf->name);
	if (!producer_is_param(p.at.fn, p.buf->name) && strcmp(p.buf->scope, "global") != 0)
		return sched_refuse_for(s, "cache_write", name, "it already has a buffer of its own, %s", p.buf->name);
	for (int k = 0; k < p.at.naround && p.at.around[k] != *p.top; k++)
		for (int i = 0; i < b->block.n; i++)
			if (ir_uses_var(b->block.iter[i].value, p.at.around[k]->loop.var))
				return sched_refuse_for(
					s, "cache_write", name, "loop %s makes its buffer in pieces", p.at.around[k]->loop.var);
	if (st->nas > OWN && st->nas != OWN + p.buf->rank)
		return fail(s->err, ERR_ILLEGAL, s->place, "cache_write %s: it makes %d loops, and \"as\" names %d of them",
			name, p.buf->rank, st->nas - OWN);
	const char *own = sched_name(s, st, 0, "%s.c", p.buf->name), *write = sched_name(s, st, 1, "%s.write", name);
	if (nest_has_name(p.at.fn, own) || nest_find_block(s->ks, write, &none) != FOUND_NONE)
		return sched_refuse_for(s, "cache_write", name, "the name %s is already in use", own);
	Buf *c = arena_copy(a, p.buf, sizeof *p.buf);
	c->name = own;
	c->role = BUF_WORK;
	c->streamed = false;
	for (int k = 0; k < p.buf->rank; k++) {
		loop[k] = sched_name(s, st, OWN + k, "%s.w", producer_stem(&b->block.iter[p.iter_of[k]]));
		if (nest_has_name(p.at.fn, loop[k]) || nest_has_name(p.at.fn, arena_printf(a, "v%s", loop[k])))
			return sched_refuse_for(s, "cache_write", name, "the name %s is already in use", loop[k]);
	}
	/* for o.w, for h.w ..: block b.write { t[..] = t.c[..] } */
	Stmt *copy = producer_copy_nest(s->ir, write, c, p.buf, loop);
	b->next = NULL;
	producer_rename(s->ir, b, p.buf->name, own);
	b->next = next;
	copy->next = (*p.top)->next;
	(*p.top)->next = copy;
	ir_fn_add_buf(s->ir, p.at.fn, c);
	return true;
}
