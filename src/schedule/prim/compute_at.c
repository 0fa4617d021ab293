/* compute_at: each iteration of a loop makes the part of a buffer that it needs. See producer.h. */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

/* The part of the buffer that one iteration needs: extent[k] elements from lo[k]. */
typedef struct Part {
	const Expr *lo[IR_MAX_RANK];
	int64_t extent[IR_MAX_RANK];
} Part;

static bool stands_in(Stmt *s, const Stmt *inner)
{
	if (s == inner)
		return true;
	if (s->kind == ST_FOR)
		for (Stmt *c = s->loop.body; c != NULL; c = c->next)
			if (stands_in(c, inner))
				return true;
	return false;
}

static bool find_part(Sched *s, const Producer *p, const Place *l, Part *out)
{
	const Expr *lo[IR_MAX_RANK], *hi[IR_MAX_RANK];
	const Range *env = ir_range_at(s->ir, l->fn, l->loop->loop.body);
	if (!producer_hull(s, l->fn, l->loop->loop.body, p->buf->name, p->buf->rank, lo, hi))
		return sched_refuse_for(
			s, "compute_at", p->at.block->block.name, "no statement in the loop reads %s", p->buf->name);
	for (int k = 0; k < p->buf->rank; k++) {
		int64_t all;
		if (!ir_is_int(p->buf->shape[k], &all))
			return sched_refuse_for(
				s, "compute_at", p->at.block->block.name, "an extent of %s is not constant", p->buf->name);
		int64_t most = producer_most(s->ir, hi[k], lo[k], env);
		bool whole = p->iter_of[k] < 0 || most < 1 || most >= all;
		out->lo[k] = whole ? ir_int(s->ir, 0) : ir_simplify(s->ir, lo[k], env);
		out->extent[k] = whole ? all : most;
	}
	return true;
}

/* Names of the loops made anew, from the block's iterators; none for a scan's. A refusal where one is taken. */
static bool name_loops(Sched *s, const Step *st, const Producer *p, const char **var)
{
	const Stmt *b = p->at.block;
	int made = 0, loops = 0;
	for (int k = 0; k < b->block.n; k++)
		loops += b->block.iter[k].kind != ITER_SCAN;
	if (st->nas > 0 && st->nas != loops)
		return fail(s->err, ERR_ILLEGAL, s->place, "compute_at %s: it makes %d loops, and %d names follow \"as\"",
			b->block.name, loops, st->nas);
	for (int k = 0; k < b->block.n; k++) {
		const Iter *it = &b->block.iter[k];
		var[k] = NULL;
		if (it->kind == ITER_SCAN)
			continue;
		const char *stem = sched_name(s, st, made++, "%s", producer_stem(it));
		bool free = !nest_has_name(p->at.fn, stem);
		for (int j = 0; j < k; j++)
			free = free && var[j] != ir_name(s->ir, stem);
		for (Stmt *old = *p->top; !free && old != b; old = old->loop.body)
			free = strcmp(old->loop.var, stem) == 0; /* that loop goes */
		if (!free)
			return sched_refuse_for(s, "compute_at", b->block.name, "the name %s is already in use", stem);
		var[k] = ir_name(s->ir, stem);
		for (int j = 0; j < b->block.n; j++)
			if (ir_uses_var(it->lo, b->block.iter[j].name) || ir_uses_var(it->hi, b->block.iter[j].name))
				return sched_refuse_for(s, "compute_at", b->block.name,
					"the range of an iterator depends on iterator %s", b->block.iter[j].name);
	}
	return true;
}

/* The block's own loops, made anew for the part; NULL and a refusal where a name is taken. */
static Stmt *make_nest(Sched *s, const Step *st, Producer *p, const Place *l, const Part *part)
{
	Ir *ir = s->ir;
	Stmt *b = p->at.block, *nest = b;
	const Expr *where = NULL;
	const char *var[IR_MAX_DEPTH];
	const Expr *lo[IR_MAX_DEPTH], *hi[IR_MAX_DEPTH];
	const Range *env = ir_range_at(ir, l->fn, l->loop->loop.body);
	if (b->block.n + nest_depth(p->at.fn->body) > IR_MAX_DEPTH) {
		sched_refuse(s, "compute_at", b->block.name, "loops would be nested too deeply");
		return NULL;
	}
	if (!name_loops(s, st, p, var))
		return NULL;
	for (int k = 0; k < b->block.n; k++) {
		lo[k] = b->block.iter[k].lo;
		hi[k] = b->block.iter[k].hi;
		if (var[k] != NULL)
			b->block.iter[k].value = ir_idx(ir, var[k]);
	}
	for (int d = 0; d < p->buf->rank; d++) {
		int k = p->iter_of[d];
		if (k < 0)
			continue;
		const Expr *n = ir_int(ir, part->extent[d]), *zero = ir_int(ir, 0);
		const Expr *at = ir_add(ir, part->lo[d], ir_idx(ir, var[k]));
		const Range *in = ir_range_for(ir, var[k], zero, n, env);
		lo[k] = zero;
		hi[k] = n;
		b->block.iter[k].value = at;
		const Expr *inside = ir_lt(ir, at, p->buf->shape[d]), *above = ir_le(ir, zero, at);
		if (!ir_always(above, in))
			where = where != NULL ? ir_and(ir, where, above) : above;
		if (!ir_always(inside, in))
			where = where != NULL ? ir_and(ir, where, inside) : inside;
	}
	b->block.where = where;
	b->next = NULL;
	for (int k = b->block.n - 1; k >= 0; k--)
		if (var[k] != NULL)
			nest = ir_for(ir, var[k], lo[k], hi[k], LOOP_SERIAL, nest);
	return nest;
}

static const Expr *from_part(Ir *ir, int k, const Expr *idx, void *arg)
{
	const Part *part = arg;
	return ir_is_const(part->lo[k], 0) ? idx : ir_sub(ir, idx, part->lo[k]);
}

static bool may_compute_at(Sched *s, const Producer *p, const Place *l)
{
	const char *name = p->at.block->block.name;
	Stmt *c = (*p->top)->next;
	while (c != NULL && (p->at.fn != l->fn || !stands_in(c, l->loop)))
		c = c->next;
	if (c == NULL)
		return sched_refuse_for(s, "compute_at", name, "it must precede loop %s in the same body",
			l->loop->loop.var);
	for (int k = 0; k <= l->naround; k++) {
		const Stmt *loop = k < l->naround ? l->around[k] : l->loop;
		if (loop->loop.kind == LOOP_VECTOR || loop->loop.kind == LOOP_BOUND)
			return sched_refuse_for(s, "compute_at", name,
				"loop %s is a vector or bound loop, which takes no further statements", loop->loop.var);
	}
	int own = producer_touches_one(*p->top, p->buf->name).loads;
	if (producer_touches(l->loop->loop.body, p->buf->name).loads + own !=
		producer_touches(p->at.fn->body, p->buf->name).loads)
		return sched_refuse_for(s, "compute_at", name, "%s is also read outside that loop", p->buf->name);
	return producer_inputs_stay(s, "compute_at", name, p);
}

/*
 * Needs: a block that makes all of a work buffer, maybe once for each step of a scan around, alone in its loops; all
 * readers of the buffer below the loop.  Breaks: the block's loops (made anew, named after its iterators) and the
 * buffer's place and size: it becomes an alloc of what one iteration needs.
 */
bool prim_compute_at(Sched *s, const Step *st)
{
	Producer p;
	Place l;
	Part part;
	if (!producer_find_step(s, "compute_at", st->arg[0].word, &p) || !sched_find_loop(s, st->arg[1].word, &l) ||
		!may_compute_at(s, &p, &l) || !find_part(s, &p, &l, &part))
		return false;
	Stmt *old = *p.top, *nest = make_nest(s, st, &p, &l, &part);
	if (nest == NULL)
		return false;
	*p.top = old->next;
	producer_drop_buffer(&p);
	Buf *own = ir_buf(s->ir, p.buf->name, BUF_WORK, p.buf->type, "local", part.extent, p.buf->rank);
	Stmt **body = &l.loop->loop.body;
	while ((*body)->kind == ST_LET) /* the part may begin where one says (zigzag) */
		body = &(*body)->next;
	Stmt *made = ir_seq(nest, *body);
	producer_reindex(s->ir, made, p.buf->name, from_part, &part);
	*body = ir_seq(ir_alloc(s->ir, own), made);
	return true;
}
