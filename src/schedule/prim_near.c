/*
 * The primitive that brings near what an iteration of a loop reads: a copy of that part of a tensor, made
 * before it is read (cache_read).
 */
#include "schedule/producer.h"

#include "ir/bounds.h"
#include "ir/build.h"
#include "ir/simplify.h"
#include "ir/walk.h"

#include <string.h>

enum { CACHE_ELEMENTS = 1 << 16 };

/* What the block reads of T in one iteration of the loop: n[k] elements from lo[k], fewer where hi[k] is before. */
typedef struct Part {
	const char *buf; /* T */
	Buf *copy;
	int rank;
	const Expr *lo[IR_MAX_RANK], *hi[IR_MAX_RANK];
	int64_t n[IR_MAX_RANK];
} Part;

static bool find_region(Sched *s, const Buf *t, const Fn *fn, const Stmt *c, Part *out)
{
	int n;
	int64_t elements = 1;
	const Region *r = ir_regions(s->ir, fn, s->ks, c, &n), *own = NULL;
	const Range *env = ir_range_at(s->ir, fn, c);
	for (int i = 0; i < n; i++)
		if (strcmp(r[i].buf, t->name) == 0 && r[i].n == t->rank)
			own = &r[i];
	for (int k = 0; own != NULL && k < t->rank; k++) {
		int64_t all;
		if (!ir_is_int(t->shape[k], &all))
			return sched_refuse(s, "cache_read", t->name, "its shape is not constant");
		out->n[k] = producer_most(s->ir, own->hi[k], own->lo[k], env);
		bool whole = out->n[k] < 1 || out->n[k] >= all;
		out->n[k] = whole ? all : out->n[k];
		out->lo[k] = whole ? ir_int(s->ir, 0) : own->lo[k];
		out->hi[k] = whole ? t->shape[k] : own->hi[k];
		if (out->n[k] > CACHE_ELEMENTS / elements)
			return sched_refuse(
				s, "cache_read", t->name, "what is read there has more than 65536 elements");
		elements *= out->n[k];
	}
	out->rank = t->rank;
	return own != NULL || sched_refuse_for(s, "cache_read", t->name, "nothing reads it in", "that loop");
}

/* for t.c.0, ..: block t.c: copy[i - lo] = t[i] where i lies in the part, and in t */
static Stmt *fill_nest(Sched *s, const Part *p, const Buf *t, const char *const *loop, const Range *env)
{
	Ir *ir = s->ir;
	Iter it[IR_MAX_RANK];
	const Expr *at[IR_MAX_RANK], *to[IR_MAX_RANK], *where = NULL;
	for (int k = 0; k < p->rank; k++) {
		const char *name = ir_name(ir, arena_printf(ir_arena(ir), "v%s", loop[k]));
		const Expr *value = ir_add(ir, p->lo[k], ir_idx(ir, loop[k]));
		it[k] = (Iter){ name, ITER_SPATIAL, ir_int(ir, 0), t->shape[k], value };
		at[k] = ir_idx(ir, name);
		to[k] = ir_sub(ir, at[k], p->lo[k]);
		const Range *in = ir_range_for(ir, loop[k], ir_int(ir, 0), ir_int(ir, p->n[k]), env);
		const Expr *inside[3] = { ir_le(ir, ir_int(ir, 0), value), ir_lt(ir, value, t->shape[k]),
			ir_lt(ir, value, p->hi[k]) };
		bool clipped = ir_always(ir_le(ir, p->hi[k], t->shape[k]), env);
		for (int i = 0; i < 3; i++)
			if (!(i == 1 && clipped) && !ir_always(inside[i], in))
				where = where == NULL ? inside[i] : ir_and(ir, where, inside[i]);
	}
	Stmt *store = ir_store(ir, p->copy, to, p->rank, ir_load(ir, t, at, p->rank));
	Stmt *nest = ir_block(ir, p->copy->name, it, p->rank, where, NULL, store);
	for (int k = p->rank - 1; k >= 0; k--)
		nest = ir_for(ir, loop[k], ir_int(ir, 0), ir_int(ir, p->n[k]), LOOP_SERIAL, nest);
	return nest;
}

static const Expr *read_copy(Ir *ir, const Expr *e, void *arg)
{
	const Part *p = arg;
	const Expr *idx[IR_MAX_RANK];
	if (e->op != IR_LOAD || strcmp(e->name, p->buf) != 0)
		return e;
	for (int k = 0; k < e->nargs; k++)
		idx[k] = ir_sub(ir, e->arg[k], p->lo[k]);
	return ir_load_named(ir, p->copy->name, dtype_scalar(e->type), idx, e->nargs);
}

/* The buffer that the block reads, which all of the loop leaves as it is. */
static const Buf *find_source(Sched *s, const char *name, const BlockPlace *b, const Place *l)
{
	const Buf *t = producer_is_param(b->fn, name) ? ir_find_buf(b->fn, name) : NULL;
	const char *why = t == NULL ? "it is not a parameter of the block's Fn"
	                  : t->role == BUF_OUT || t->role == BUF_WORK
	                          ? "it is not an input or a constant: not all of it may be there"
	                  : t->rank == 0 ? "it has one element"
	                                 : NULL;
	if (why == NULL) {
		Touch in = producer_touches(l->loop->loop.body, name);
		if (in.writes > 0 || in.strange)
			why = "in that loop it is written, or a call uses it";
		else if (producer_touches_one(b->block, name).loads == 0)
			why = "that block does not read it";
	}
	if (why != NULL)
		sched_refuse(s, "cache_read", name, why);
	return why == NULL ? t : NULL;
}

static bool may_cache(Sched *s, const char *name, const BlockPlace *b, const Place *l)
{
	bool around = false;
	for (int k = 0; k < b->naround; k++)
		around |= b->around[k] == l->loop;
	if (!around)
		return sched_refuse_for(s, "cache_read", name, "the block does not stand in loop", l->loop->loop.var);
	for (int k = 0; k <= l->naround; k++) {
		const Stmt *loop = k < l->naround ? l->around[k] : l->loop;
		if (loop->loop.kind == LOOP_VECTOR || loop->loop.kind == LOOP_BOUND)
			return sched_refuse_for(
				s, "cache_read", name, "no work is put into a vector or bound loop,", loop->loop.var);
	}
	if (nest_depth(b->fn->body) + IR_MAX_RANK > IR_MAX_DEPTH || nest_expr_depth(b->fn->body) + 16 > IR_MAX_DEPTH)
		return sched_refuse(s, "cache_read", name, "loops or indices would be nested too deeply");
	return true;
}

/* Needs: an input or a constant that the block reads in the loop.  Breaks: nothing that names loops. */
bool prim_cache_read(Sched *s, const Step *st)
{
	BlockPlace b;
	Place l;
	const char *name = st->arg[0].word, *made[IR_MAX_RANK + 1];
	Arena *a = ir_arena(s->ir);
	if (!sched_find_block(s, st->arg[1].word, &b) || !sched_find_loop(s, st->arg[2].word, &l) ||
		!may_cache(s, name, &b, &l))
		return false;
	const Buf *t = find_source(s, name, &b, &l);
	if (t == NULL)
		return false;
	Part p = { .buf = t->name };
	Stmt **link = nest_link_to(&l.loop->loop.body, b.block);
	if (link == NULL)
		return sched_refuse_for(
			s, "cache_read", name, "not only loops and conditions are around block", b.block->block.name);
	if (!find_region(s, t, b.fn, *link, &p))
		return false;
	for (int k = 0; k < t->rank; k++)
		made[k] = ir_name(s->ir, arena_printf(a, "%s.c.%d", name, k));
	made[t->rank] = ir_name(s->ir, arena_printf(a, "%s.c", name));
	if (!sched_may_name(s, b.fn, "cache_read", name, made, t->rank + 1))
		return false;
	p.copy = ir_buf(s->ir, made[t->rank], BUF_WORK, t->type, "local", p.n, t->rank);
	Stmt *alloc = ir_alloc(s->ir, p.copy), *next = b.block->next;
	b.block->next = NULL;
	ir_map_stmt(s->ir, b.block, read_copy, &p);
	b.block->next = next;
	alloc->next = fill_nest(s, &p, t, made, ir_range_at(s->ir, b.fn, *link));
	alloc->next->next = *link;
	*link = alloc;
	return true;
}
