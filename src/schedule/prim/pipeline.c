/*
 * pipeline: while threads use what one iteration has loaded into shared memory, copies for the next ones are under way.
 * Each buffer that such copies fill has a slot for each stage: iteration k uses slot k % n. Its index map says so, as
 * a ring's does, and the interpreter sees when a slot is filled again before it was read.
 */
#include "schedule/accesses.h"
#include "schedule/launch.h"
#include "schedule/tail.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/threads/form.h"
#include "ir/walk.h"

#include <string.h>

enum { STAGES = 8, BUFFERS = 16 };

/* The body of the loop: copies into shared buffers that it declares, and what uses them. */
typedef struct Pipe {
	Sched *s;
	Place l;
	int64_t stages;
	int nbuf;
	const Buf *buf[BUFFERS];
	Stmt *alloc, *fill, *rest;             /* lists */
	Stmt **alloc_end, **fill_end, **rest_end;
} Pipe;

static bool refuse(const Pipe *p, const char *why)
{
	return sched_refuse(p->s, "pipeline", p->l.loop->loop.var, why);
}

static bool is_filled(const Pipe *p, const char *buf)
{
	for (int k = 0; k < p->nbuf; k++)
		if (strcmp(p->buf[k]->name, buf) == 0)
			return true;
	return false;
}

/* A load of what may change while copies are under way. */
static bool changes(const Expr *e, void *arg)
{
	const Pipe *p = arg;
	const Buf *b = e->op == IR_LOAD ? ir_find_buf(p->l.fn, e->name) : NULL;
	return e->op == IR_LOAD && (b == NULL || (b->role != BUF_IN && b->role != BUF_CONST));
}

/* More than stores of inputs and constants to shared buffers that the loop declares. */
static bool is_no_copy(const Stmt *s, void *arg)
{
	const Pipe *p = arg;
	if (ir_find_node_of(s, changes, arg) != NULL)
		return true;
	if (s->kind == ST_STORE) {
		Stmt **alloc = ir_find_alloc(&p->l.loop->loop.body, s->store.dst.buf);
		return alloc == NULL || strcmp((*alloc)->alloc->scope, "shared") != 0;
	}
	return s->kind != ST_FOR && s->kind != ST_BLOCK;
}

static bool note_filled(Stmt *s, void *arg)
{
	Pipe *p = arg;
	if (s->kind == ST_STORE && !is_filled(p, s->store.dst.buf) && p->nbuf < BUFFERS)
		p->buf[p->nbuf++] = (*ir_find_alloc(&p->l.loop->loop.body, s->store.dst.buf))->alloc;
	return true;
}

/* Whether the statement alone is a copy. */
static bool is_copy(const Pipe *p, const Stmt *s)
{
	return (s->kind == ST_FOR || s->kind == ST_BLOCK) && !is_no_copy(s, (void *)(uintptr_t)p) &&
		ir_find_below(s, is_no_copy, (void *)(uintptr_t)p) == NULL;
}

static void put(Stmt ***end, Stmt *s)
{
	s->next = NULL;
	**end = s;
	*end = &s->next;
}

/* A loop of a copy whose tiles overlap: an element would be filled again while its copy is under way. */
static const char *twice(const Stmt *copy)
{
	const char *loop[IR_MAX_DEPTH];
	int n = 0;
	for (; copy->kind == ST_FOR && n < IR_MAX_DEPTH; copy = copy->loop.body)
		loop[n++] = copy->loop.var;
	while (copy->kind == ST_BLOCK && n > 0)
		if (nest_folds(copy, loop[--n]))
			return loop[n];
	return NULL;
}

static bool may_pipeline(Pipe *p)
{
	int64_t n;
	const Stmt *l = p->l.loop;
	bool in_block = false; /* with the copies that go before it */
	for (int k = 0; k < p->l.naround; k++)
		in_block |= ir_axis_of(p->l.around[k], NULL) == AXIS_GRID;
	for (int k = 0; k < p->l.naround; k++)
		if (ir_axis_of(p->l.around[k], NULL) == AXIS_BLOCK || p->l.around[k]->loop.kind == LOOP_PARALLEL)
			return sched_refuse_for(p->s, "pipeline", l->loop.var,
				"loop %s around it is parallel or bound to a block axis", p->l.around[k]->loop.var);
	if (!in_block)
		return refuse(p, "it must stand in a loop bound to a grid axis");
	if (p->stages < 2 || p->stages > STAGES)
		return refuse(p, "a pipeline has 2 to 8 stages");
	if (!nest_extent(l, &n) || n < p->stages)
		return refuse(p, "its extent must be a constant, and no less than there are stages");
	bool copies = false, others = false;
	for (Stmt *c = l->loop.body; c != NULL; c = c->next) {
		bool copy = is_copy(p, c);
		if (copy && others)
			return refuse(p, "copies into shared buffers must come before all else in it");
		if (copy && twice(c) != NULL)
			return sched_refuse_for(p->s, "pipeline", l->loop.var, "tiles of loop %s of a copy overlap", twice(c));
		others |= !copy && c->kind != ST_ALLOC;
		copies |= copy;
	}
	if (!copies || !others)
		return refuse(p, "it must begin with copies into shared buffers that it declares, and then use them");
	return nest_depth(p->l.fn->body) + 4 <= IR_MAX_DEPTH || refuse(p, "loops would be nested too deeply");
}

/* Copies, what they fill, and the rest each become a list. */
static bool take_apart(Pipe *p)
{
	p->alloc_end = &p->alloc;
	p->fill_end = &p->fill;
	p->rest_end = &p->rest;
	VEC(Stmt *) copy = { 0 };
	for (Stmt *c = p->l.loop->loop.body; c != NULL; c = c->next)
		if (is_copy(p, c)) {
			Stmt *next = c->next;
			c->next = NULL;
			ir_each_stmt(c, note_filled, p);
			c->next = next;
			vec_push(ir_arena(p->s->ir), &copy, c);
		}
	for (int k = 0; k < p->nbuf; k++) {
		Touch all = producer_touches(p->l.loop->loop.body, p->buf[k]->name);
		int own = 0;
		for (size_t i = 0; i < copy.n; i++)
			own += producer_touches_one(copy.at[i], p->buf[k]->name).writes;
		if (all.strange || all.writes != own || p->buf[k]->rank == IR_MAX_RANK || p->nbuf == BUFFERS)
			return sched_refuse_for(
				p->s, "pipeline", p->l.loop->loop.var, "more than its copies write %s", p->buf[k]->name);
	}
	size_t copies = 0; /* met so far */
	for (Stmt *c = p->l.loop->loop.body, *next; c != NULL; c = next) {
		next = c->next;
		bool filled = c->kind == ST_ALLOC && is_filled(p, c->alloc->name);
		bool fill = copies < copy.n && copy.at[copies] == c;
		copies += fill;
		put(filled ? &p->alloc_end : fill ? &p->fill_end : &p->rest_end, c);
	}
	return true;
}

/* ---- slots ---- */

typedef struct Slots {
	const Pipe *p;
	Ir *ir;
	const Expr *slot; /* the first index */
} Slots;

static const Expr **with_slot(const Slots *x, const Expr *const *idx, int n)
{
	const Expr **at = arena_array(ir_arena(x->ir), const Expr *, n + 1);
	at[0] = x->slot;
	for (int k = 0; k < n; k++)
		at[k + 1] = idx[k];
	return at;
}

static const Expr *load_slot(Ir *ir, const Expr *e, void *arg)
{
	const Slots *x = arg;
	if (e->op != IR_LOAD || !is_filled(x->p, e->name))
		return e;
	return ir_load_named(ir, e->name, dtype_scalar(e->type), with_slot(x, e->arg, e->nargs), e->nargs + 1);
}

static bool store_slot(Stmt *s, void *arg)
{
	const Slots *x = arg;
	if (s->kind == ST_STORE && is_filled(x->p, s->store.dst.buf)) {
		s->store.dst.idx = with_slot(x, s->store.dst.idx, s->store.dst.n);
		s->store.dst.n++;
	}
	return true;
}

/* An element for each iteration of the loop, of which n have places. */
static void make_slots(Pipe *p, Buf *b, int64_t iterations)
{
	Ir *ir = p->s->ir;
	Arena *a = ir_arena(ir);
	int n = b->map.n > 0 ? b->map.n : b->rank;
	IndexMap m = { .nvar = b->rank + 1, .n = n + 1 };
	const Expr **shape = arena_array(a, const Expr *, b->rank + 1);
	m.var = arena_array(a, const char *, m.nvar);
	m.at = arena_array(a, const Expr *, m.n);
	m.extent = arena_array(a, const Expr *, m.n);
	m.var[0] = ir_name(ir, "slot");
	m.at[0] = ir_mod(ir, ir_idx(ir, m.var[0]), ir_int(ir, p->stages));
	m.extent[0] = ir_int(ir, p->stages);
	shape[0] = ir_int(ir, iterations);
	for (int k = 0; k < b->rank; k++) {
		m.var[k + 1] = b->map.n > 0 ? b->map.var[k] : ir_name(ir, arena_printf(a, "i%d", k));
		shape[k + 1] = b->shape[k];
	}
	for (int k = 0; k < n; k++) {
		m.at[k + 1] = b->map.n > 0 ? b->map.at[k] : ir_idx(ir, m.var[k + 1]);
		m.extent[k + 1] = b->map.n > 0 ? b->map.extent[k] : b->shape[k];
	}
	b->shape = shape;
	b->rank++;
	b->map = m;
}

static bool only_where(Stmt *s, void *arg)
{
	const Slots *x = arg;
	if (s->kind == ST_BLOCK)
		s->block.where = s->block.where != NULL ? ir_and(x->ir, s->block.where, x->slot) : x->slot;
	return true;
}

static Stmt *copies_of(Ir *ir, Stmt *fill)
{
	Stmt *async = ir_stmt(ir, ST_ASYNC);
	async->async = fill;
	async->next = ir_stmt(ir, ST_COMMIT);
	return async;
}

/*
 * Law: when iteration k waits, n - 1 + k groups are committed, so that n - 2 may be under way when its own is needed.
 * Slot (k + n - 1) % n, which it asks to be filled, is that of iteration k - 1, which all have left at the barrier.
 * Needs: a serial loop that begins with copies into shared buffers.  Breaks: nothing that names loops.
 */
bool prim_pipeline(Sched *s, const Step *st)
{
	Pipe p = { .s = s, .stages = st->arg[1].num };
	int64_t n;
	Ir *ir = s->ir;
	if (!launch_need_device(s, "pipeline", st->arg[0].word) || !sched_find_loop(s, st->arg[0].word, &p.l) ||
		!sched_need_serial(s, "pipeline", p.l.loop) || !may_pipeline(&p) || !sched_may_copy(s, "pipeline", &p.l) ||
		!take_apart(&p))
		return false;
	Stmt *l = p.l.loop, *wait = ir_stmt(ir, ST_WAIT);
	const Expr *k = ir_idx(ir, l->loop.var), *ahead = ir_int(ir, p.stages - 1);
	nest_extent(l, &n);
	Slots x = { &p, ir, ir_sub(ir, k, l->loop.lo) };
	ir_map_stmt(ir, p.fill, load_slot, &x);
	ir_each_stmt(p.fill, store_slot, &x);
	ir_map_stmt(ir, p.rest, load_slot, &x);
	ir_each_stmt(p.rest, store_slot, &x);
	for (Stmt *a = p.alloc; a != NULL; a = a->next) {
		a->alloc = arena_copy(ir_arena(ir), a->alloc, sizeof *a->alloc);
		make_slots(&p, a->alloc, n);
	}
	Stmt *first = ir_for(ir, l->loop.var, l->loop.lo, ir_add(ir, l->loop.lo, ahead), LOOP_SERIAL,
		copies_of(ir, ir_clone_stmt(ir, p.fill)));
	ir_subst_stmt(ir, p.fill, l->loop.var, ir_add(ir, k, ahead));
	ir_each_stmt(p.fill, only_where, &(Slots){ &p, ir, ir_lt(ir, ir_add(ir, k, ahead), l->loop.hi) });
	wait->pending = p.stages - 2;
	l->loop.body = ir_seq(wait, ir_seq(copies_of(ir, p.fill), p.rest));
	l->loop.kind = LOOP_PIPELINED;
	l->loop.stages = (int)p.stages;
	*p.l.link = p.alloc;
	*p.alloc_end = l;
	if (!tail_rename(s, "pipeline", p.l.fn, first))
		return false;
	first->next = l;
	*p.alloc_end = first;
	return true;
}
