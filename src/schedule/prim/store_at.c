/*
 * store_at: a buffer that compute_at has put into a loop is declared outside of it again, under its old
 * indices, while it is still made in the loop. Of use to ring, which keeps what iterations have in common.
 */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

#define STORE_ELEMENTS ((int64_t)1 << 31)

/* The block that writes the buffer, and where: index k of t is one of its iterators less lo[k]. */
typedef struct Maker {
	Ir *ir;
	const Place *l;
	const char *buf;
	int blocks;
	const Stmt *block;
	const Access *at;                  /* the first place; the others are the same */
	const Expr *lo[IR_MAX_RANK];       /* NULL: does not move with the loop */
	const Expr *shape[IR_MAX_RANK];    /* of all of it */
} Maker;

static bool find_maker(Stmt *s, void *arg)
{
	Maker *m = arg;
	if (s->kind != ST_BLOCK)
		return true;
	if (producer_touches_one(s, m->buf).writes > 0) {
		m->blocks++;
		m->block = s;
	}
	return false;
}

static bool same_place(const Access *at, void *arg)
{
	Maker *m = arg;
	if (m->at == NULL)
		m->at = at;
	for (int k = 0; k < at->n; k++)
		if (at->idx[k] != m->at->idx[k])
			return false;
	return true;
}

static void find_begin(Maker *m, const Buf *b, int d)
{
	const Expr *idx = m->at->idx[d];
	m->lo[d] = NULL;
	m->shape[d] = b->shape[d];
	for (int k = 0; k < m->block->block.n; k++) {
		const Iter *it = &m->block->block.iter[k];
		int64_t all;
		if (!ir_uses_var(idx, it->name))
			continue;
		const Expr *lo = ir_simplify(m->ir, ir_sub(m->ir, ir_idx(m->ir, it->name), idx), NULL);
		if (producer_is_outer(m->l, lo) && ir_uses_var(lo, m->l->loop->loop.var) && ir_is_const(it->lo, 0) &&
			ir_is_int(it->hi, &all)) {
			m->lo[d] = lo;
			m->shape[d] = it->hi;
		}
		return;
	}
}

static const Expr *of_all(Ir *ir, int k, const Expr *idx, void *arg)
{
	const Maker *m = arg;
	return m->lo[k] == NULL ? idx : ir_simplify(ir, ir_add(ir, idx, m->lo[k]), NULL);
}

static bool find_parts(Sched *s, const Buf *b, Maker *m)
{
	int64_t elements = 1, n;
	bool moves = false;
	for (int k = 0; k < b->rank; k++) {
		find_begin(m, b, k);
		moves |= m->lo[k] != NULL;
		if (!ir_is_int(m->shape[k], &n))
			return sched_refuse(s, "store_at", b->name, "its shape is not constant");
		if (n > 0 && elements > STORE_ELEMENTS / n)
			return sched_refuse(s, "store_at", b->name, "it has more than 2^31 elements in all");
		elements *= n > 0 ? n : 1;
	}
	return moves || sched_refuse_for(s, "store_at", b->name, "no part of it moves with loop %s", m->l->loop->loop.var);
}

/* Needs: a buffer declared in the loop, made by one block.  Breaks: its indices, which are those of all of it. */
bool prim_store_at(Sched *s, const Step *st)
{
	Place l;
	const char *name = st->arg[0].word;
	if (!sched_find_loop(s, st->arg[1].word, &l))
		return false;
	Stmt *loop = l.loop, **link = &loop->loop.body; /* to the buffer's alloc, which stands directly in the loop */
	while (*link != NULL && ((*link)->kind != ST_ALLOC || strcmp((*link)->alloc->name, name) != 0))
		link = &(*link)->next;
	if (*link == NULL)
		return sched_refuse_for(s, "store_at", name, "it is not declared in loop %s", loop->loop.var);
	if (loop->loop.kind != LOOP_SERIAL && loop->loop.kind != LOOP_UNROLLED)
		return sched_refuse_for(
			s, "store_at", name, "loop %s keeps nothing from one iteration to the next", loop->loop.var);
	Stmt *alloc = *link;
	const Buf *old = alloc->alloc;
	Maker m = { .ir = s->ir, .l = &l, .buf = name };
	Touch all = producer_touches(loop->loop.body, name);
	ir_each_stmt(loop->loop.body, find_maker, &m);
	if (old->map.n > 0)
		return sched_refuse(s, "store_at", name, "it has a layout already: apply layout later");
	if (m.blocks != 1 || all.strange || all.hints > 0 ||
		all.writes != producer_touches_one((Stmt *)(uintptr_t)m.block, name).writes ||
		!producer_each_write(m.block, name, same_place, &m))
		return sched_refuse(s, "store_at", name, "exactly one block must write it, at one place");
	if (nest_expr_depth(loop->loop.body) + 16 > IR_MAX_DEPTH)
		return sched_refuse(s, "store_at", name, "indices would be nested too deeply");
	if (!find_parts(s, old, &m))
		return false;
	producer_reindex(s->ir, loop->loop.body, name, of_all, &m);
	Buf *b = arena_copy(ir_arena(s->ir), old, sizeof *old);
	b->shape = arena_copy(ir_arena(s->ir), m.shape, sizeof m.shape);
	*link = alloc->next;
	alloc->alloc = b;
	alloc->next = loop;
	*l.link = alloc;
	return true;
}
