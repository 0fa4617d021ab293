/* rfactor: partial results of a reduction are kept side by side and reduced in the end. */
#include "schedule/path.h"
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

enum {
	OWN_ELEMENTS = 1 << 16,    /* of a thread */
	GLOBAL_ELEMENTS = 1 << 24, /* of a device, where `scope` makes them global */
	ITERS = IR_MAX_RANK * 2
};

typedef struct Factor {
	Path p;
	Place top;    /* the outermost reduce loop */
	Stmt *loop;   /* L */
	Stmt *reduce; /* the block's one reduction */
	const Expr *outside, *inside; /* the predicate without and with the reduce loops; NULL: true */
	const char *iter;             /* that stands for L in both blocks */
	Buf *partial;
} Factor;

/* The init stores one element, the one that is reduced into; the rest of the block does not read it. */
static bool reduces_one(const Stmt *block, const Stmt *reduce)
{
	const Stmt *init = block->block.init;
	if (init == NULL || init->next != NULL || init->kind != ST_STORE || init->store.mask != NULL)
		return false;
	const Access *a = &init->store.dst, *b = &reduce->reduce.dst[0];
	for (int k = 0; k < a->n && k < b->n; k++)
		if (a->idx[k] != b->idx[k])
			return false;
	return strcmp(a->buf, b->buf) == 0 && producer_touches(block->block.body, a->buf).loads == 0 &&
		producer_touches(block->block.init, a->buf).loads == 0;
}

static bool find_factor(Sched *s, const BlockPlace *b, Factor *f)
{
	const char *name = b->block->block.name;
	const Stmt *top = NULL;
	for (int k = b->naround - 1; k >= 0; k--)
		if (path_drives(b->block, ITER_REDUCE, b->around[k]->loop.var))
			top = b->around[k];
	Stmt *r = b->block->block.body; /* the one reduction */
	while (r != NULL && r->next == NULL && r->kind == ST_IF && r->branch.other == NULL)
		r = r->branch.then;
	bool one = r != NULL && r->next == NULL && r->kind == ST_REDUCE && r->reduce.n == 1 && !r->reduce.atomic &&
		r->reduce.mask == NULL;
	f->reduce = r;
	if (top == NULL || !one || !reduces_one(b->block, f->reduce) || nest_ordered(s->ks, b->block))
		return sched_refuse(
			s, "rfactor", name, "it must have an init of one element and one associative reduction into it");
	if (!sched_find_loop(s, top->loop.var, &f->top) || !path_find(s, "rfactor", b, top, &f->p))
		return false;
	for (int k = 0; k < f->top.naround; k++)
		if (f->top.around[k]->loop.kind == LOOP_VECTOR)
			return sched_refuse_for(
				s, "rfactor", name, "it stands in vector loop %s", f->top.around[k]->loop.var);
	return b->block->block.n + f->p.n <= ITERS || sched_refuse(s, "rfactor", name, "it has too many iterators");
}

static bool may_factor(Sched *s, const Factor *f)
{
	const char *name = f->p.block->block.name;
	bool device = s->target != NULL && s->target->kind != TARGET_CPU && f->top.naround == 0;
	int64_t elements = 1, n, most = device ? GLOBAL_ELEMENTS : OWN_ELEMENTS;
	int reduces = 0;
	bool own = false;
	for (int k = 0; k < f->p.n; k++) {
		const Stmt *l = f->p.loop[k], *inner = k + 1 < f->p.n ? f->p.loop[k + 1] : f->p.block;
		int64_t lo;
		if (l->loop.body != inner || inner->next != NULL)
			return sched_refuse_for(s, "rfactor", name, "loop %s contains another statement", l->loop.var);
		if (!ir_is_int(l->loop.lo, &lo) || l->loop.kind == LOOP_PARALLEL)
			return sched_refuse_for(
				s, "rfactor", name, "loop %s is parallel, or its first value is not constant", l->loop.var);
		own |= l == f->loop && !f->p.kept[k];
		reduces += !f->p.kept[k];
		nest_extent(l, &n);
		if (f->p.kept[k] || l == f->loop)
			elements = n > most / elements ? most + 1 : elements * n;
	}
	if (!own)
		return sched_refuse_for(s, "rfactor", name, "loop %s is none of its reduce loops", f->loop->loop.var);
	if (reduces < 2)
		return sched_refuse_for(
			s, "rfactor", name, "loop %s is its only reduce loop", f->loop->loop.var);
	if (elements > most)
		return fail(s->err, ERR_ILLEGAL, s->place, "rfactor %s: there would be more than %lld partial results", name,
			(long long)most);
	if (nest_has_name(f->top.fn, f->p.made))
		return sched_refuse_for(s, "rfactor", name, "the name %s is already in use", f->p.made);
	return path_may_name(s, &f->p, f->top.fn, "rf") && path_begins_at_first(s, &f->p, NULL);
}

/* Parts of the predicate go where they can be decided: before the reduction, or in it. */
static void part_where(Sched *s, Factor *f, const Expr *e)
{
	if (e->op == IR_AND && e->type.kind == DT_BOOL) {
		part_where(s, f, e->arg[0]);
		part_where(s, f, e->arg[1]);
		return;
	}
	bool reduces = false;
	for (int k = 0; k < f->p.n; k++)
		reduces |= !f->p.kept[k] && ir_uses_var(e, f->p.loop[k]->loop.var);
	const Expr **to = reduces ? &f->inside : &f->outside;
	*to = *to == NULL ? e : ir_and(s->ir, *to, e);
}

/* The iterator that a reduce loop gets in the first block. */
static const char *iter_of_loop(Sched *s, const Stmt *loop)
{
	return ir_name(s->ir, arena_printf(ir_arena(s->ir), "v%s.rf", loop->loop.var));
}

/* The spatial iterator that is the loop, from its first value to its last; NULL: there is none. */
static const Iter *whole_iter(const Stmt *block, const Stmt *loop)
{
	for (int k = 0; k < block->block.n; k++) {
		const Iter *it = &block->block.iter[k];
		if (it->kind == ITER_SPATIAL && it->value->op == IR_VAR && strcmp(it->value->name, loop->loop.var) == 0 &&
			ir_is_const(it->lo, 0) && ir_is_const(loop->loop.lo, 0) && it->hi == loop->loop.hi)
			return it;
	}
	return NULL;
}

/* Indices of the partial results: L's iterator, then the kept loops', or iterators that are these loops. */
static int partial_index(Sched *s, const Factor *f, bool second, const Expr **idx)
{
	int n = 0;
	idx[n++] = ir_idx(s->ir, f->iter);
	for (int k = 0; k < f->p.n; k++)
		if (f->p.kept[k]) {
			const Stmt *l = f->p.loop[k];
			const Iter *own = whole_iter(f->p.block, l);
			if (own != NULL) {
				idx[n++] = ir_idx(s->ir, own->name);
				continue;
			}
			const Expr *v = ir_idx(s->ir, second ? path_name(s, l->loop.var, "rf") : l->loop.var);
			idx[n++] = ir_sub(s->ir, v, l->loop.lo);
		}
	return n;
}

/* Loops that are iterators are named by these, so that steps may move the block to other loops. */
static void by_iterators(Ir *ir, const Iter *iter, int n, Stmt *init, Stmt *body)
{
	for (int k = 0; k < n; k++)
		if (iter[k].value->op == IR_VAR) {
			ir_subst_stmt(ir, init, iter[k].value->name, ir_idx(ir, iter[k].name));
			ir_subst_stmt(ir, body, iter[k].value->name, ir_idx(ir, iter[k].name));
		}
}

/* for L.rf, for s.rf: block b { init { y = e } y <- partial[L.rf, s.rf] } */
static Stmt *second_nest(Sched *s, const Factor *f)
{
	Iter iter[ITERS];
	const Expr *idx[IR_MAX_DEPTH];
	int64_t extent;
	const Stmt *b = f->p.block;
	const char *loop = path_name(s, f->loop->loop.var, "rf");
	int n = path_spatial_iters(s, &f->p, "rf", iter), rank = partial_index(s, f, true, idx);
	nest_extent(f->loop, &extent);
	iter[n++] = (Iter){ f->iter, ITER_REDUCE, ir_int(s->ir, 0), ir_int(s->ir, extent), ir_idx(s->ir, loop) };
	Stmt *init = ir_clone_stmt(s->ir, b->block.init), *body = ir_clone_stmt(s->ir, f->reduce);
	body->reduce.value[0] = ir_load(s->ir, f->partial, idx, rank);
	for (int k = 0; k < f->p.n; k++)
		if (f->p.kept[k]) {
			const char *from = f->p.loop[k]->loop.var;
			ir_subst_stmt(s->ir, init, from, ir_idx(s->ir, path_name(s, from, "rf")));
			ir_subst_stmt(s->ir, body, from, ir_idx(s->ir, path_name(s, from, "rf")));
		}
	by_iterators(s->ir, iter, n, init, body);
	const Expr *where = f->outside != NULL ? path_at_begin(s, &f->p, f->outside, "rf") : NULL;
	Stmt *nest = path_kept_loops(s, &f->p, ir_block(s->ir, b->block.name, iter, n, where, init, body), "rf");
	return ir_for(s->ir, loop, ir_int(s->ir, 0), ir_int(s->ir, extent), LOOP_SERIAL, nest);
}

/* The block, in its place, becomes b.rf: L's iterations are apart, the other reduce loops have an iterator each. */
static void first_block(Sched *s, const Factor *f)
{
	Iter iter[ITERS];
	const Expr *idx[IR_MAX_DEPTH];
	Stmt *b = f->p.block, *body = b->block.body;
	int n = 0, rank = partial_index(s, f, false, idx);
	const Monoid *m = ir_find_monoid(s->ks, f->reduce->reduce.monoid, f->partial->type);
	if (f->inside != NULL)
		body = ir_if(s->ir, f->inside, body, NULL);
	for (int k = 0; k < b->block.n; k++)
		if (b->block.iter[k].kind == ITER_SPATIAL)
			iter[n++] = b->block.iter[k];
		else
			ir_subst_stmt(s->ir, body, b->block.iter[k].name, b->block.iter[k].value);
	for (int k = 0; k < f->p.n; k++) {
		const Stmt *l = f->p.loop[k];
		if (f->p.kept[k])
			continue;
		const char *name = iter_of_loop(s, l);
		const Expr *v = ir_idx(s->ir, l->loop.var);
		iter[n] = (Iter){ name, ITER_REDUCE, l->loop.lo, l->loop.hi, v };
		if (l == f->loop) {
			int64_t extent;
			nest_extent(l, &extent);
			iter[n] = (Iter){ name, ITER_SPATIAL, ir_int(s->ir, 0), ir_int(s->ir, extent),
				ir_sub(s->ir, v, l->loop.lo) };
		}
		n++;
		ir_subst_stmt(s->ir, body, l->loop.var,
			l == f->loop ? ir_add(s->ir, ir_idx(s->ir, name), l->loop.lo) : ir_idx(s->ir, name));
	}
	Stmt *init = ir_store(s->ir, f->partial, idx, rank, m->identity[0]);
	f->reduce->reduce.dst[0] = init->store.dst;
	by_iterators(s->ir, iter, n, init, body);
	Stmt *made = ir_block(
		s->ir, f->p.made, iter, n, f->outside, ir_clone_stmt(s->ir, init), body);
	made->next = b->next;
	*b = *made;
}

/* Needs: an associative reduction by L and by other loops. Breaks: the block, now B.rf, and B behind it. */
bool prim_rfactor(Sched *s, const Step *st)
{
	BlockPlace b;
	Place l;
	Factor f = { 0 };
	if (!sched_find_block(s, st->arg[0].word, &b) || !sched_find_loop(s, st->arg[1].word, &l))
		return false;
	f.loop = l.loop;
	if (!find_factor(s, &b, &f))
		return false;
	f.p.made = sched_name(s, st, 0, "%s.rf", b.block->block.name);
	if (!may_factor(s, &f))
		return false;
	f.iter = iter_of_loop(s, f.loop);
	const Expr *where = b.block->block.where; /* reduce iterators stand for their values */
	for (int k = 0; where != NULL && k < b.block->block.n; k++)
		if (b.block->block.iter[k].kind == ITER_REDUCE)
			where = ir_subst(s->ir, where, b.block->block.iter[k].name, b.block->block.iter[k].value);
	if (where != NULL)
		part_where(s, &f, where);
	int64_t shape[IR_MAX_DEPTH];
	int rank = 1;
	nest_extent(f.loop, &shape[0]);
	for (int k = 0; k < f.p.n; k++)
		if (f.p.kept[k])
			nest_extent(f.p.loop[k], &shape[rank++]);
	DType type = dtype_scalar(f.reduce->reduce.value[0]->type);
	f.partial = ir_buf(s->ir, f.p.made, BUF_WORK, type, "local", shape, rank);
	Stmt *second = second_nest(s, &f), *alloc = ir_alloc(s->ir, f.partial);
	first_block(s, &f);
	second->next = f.top.loop->next;
	f.top.loop->next = second;
	alloc->next = f.top.loop;
	*f.top.link = alloc;
	return true;
}
