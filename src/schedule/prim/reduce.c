/*
 * The primitives that take a reduction apart: its beginning becomes a nest of its own (decompose_init),
 * partial results are kept side by side (rfactor).
 */
#include "schedule/producer.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

/* ---- what decompose_init and rfactor ask of the loops around a reduction ---- */

/* The loops from one around a block down to it; those that spatial iterators follow are kept. */
typedef struct Path {
	const char *what; /* the primitive */
	Stmt *block;
	int n;
	Stmt *loop[IR_MAX_DEPTH];
	bool kept[IR_MAX_DEPTH];
} Path;

static bool drives(const Stmt *block, IterKind kind, const char *var)
{
	for (int k = 0; k < block->block.n; k++)
		if (block->block.iter[k].kind == kind && ir_uses_var(block->block.iter[k].value, var))
			return true;
	return false;
}

static bool in_list(const Stmt *list, const Stmt *s)
{
	while (list != NULL && list != s)
		list = list->next;
	return list != NULL;
}

/* Each loop drives spatial or reduce iterators, and nothing but loops stands around the block. */
static bool find_path(Sched *s, const char *what, const BlockPlace *b, const Stmt *from, Path *out)
{
	const char *name = b->block->block.name;
	int first = 0;
	*out = (Path){ .what = what, .block = b->block };
	while (first < b->naround && b->around[first] != from)
		first++;
	if (first == b->naround)
		return sched_refuse_for(s, what, name, "it does not stand in loop", from->loop.var);
	for (int k = first; k < b->naround; k++) {
		Stmt *l = b->around[k];
		const char *var = l->loop.var;
		int64_t n;
		bool spatial = drives(b->block, ITER_SPATIAL, var), reduce = drives(b->block, ITER_REDUCE, var);
		if (!in_list(l->loop.body, k + 1 < b->naround ? b->around[k + 1] : b->block))
			return sched_refuse_for(s, what, name, "there is a condition around it in loop", var);
		if ((spatial && reduce) || drives(b->block, ITER_SCAN, var))
			return sched_refuse_for(
				s, what, name, "several kinds of iterators, or a recurrence, depend on loop", var);
		if (!nest_extent(l, &n) || n < 1 || (n > 1 && !spatial && !reduce))
			return sched_refuse_for(s, what, name, "not constant, or of no use to it, is loop", var);
		if (l->loop.kind == LOOP_BOUND || l->loop.kind == LOOP_PIPELINED)
			return sched_refuse_for(s, what, name, "bound or pipelined is loop", var);
		out->loop[out->n] = l;
		out->kept[out->n++] = !reduce;
	}
	return true;
}

static const char *derived(Sched *s, const char *name, const char *suffix)
{
	return ir_name(s->ir, arena_printf(ir_arena(s->ir), "%s.%s", name, suffix));
}

/* Every kept loop and the block may be called NAME.suffix, too. */
static bool may_derive(Sched *s, const Path *p, const Fn *fn, const char *suffix)
{
	BlockPlace at;
	const char *block = p->block->block.name, *twin = derived(s, block, suffix);
	if (nest_find_block(s->ks, twin, &at) != FOUND_NONE || strlen(twin) > TRACE_NAME)
		return sched_refuse_for(s, p->what, block, "too long or taken is the new name", twin);
	for (int k = 0; k < p->n; k++) {
		twin = derived(s, p->loop[k]->loop.var, suffix);
		if (nest_has_name(fn, twin) || strlen(twin) > TRACE_NAME)
			return sched_refuse_for(s, p->what, block, "too long or taken is the new name", twin);
	}
	return true;
}

/* e where the kept loops are called NAME.suffix and the others are in their first iteration. */
static const Expr *at_begin(Sched *s, const Path *p, const Expr *e, const char *suffix)
{
	for (int k = 0; k < p->n; k++) {
		const Stmt *l = p->loop[k];
		const Expr *by = p->kept[k] ? ir_idx(s->ir, derived(s, l->loop.var, suffix)) : l->loop.lo;
		e = ir_subst(s->ir, e, l->loop.var, by);
	}
	return e;
}

/* Copies of the kept loops around the statement. */
static Stmt *kept_loops(Sched *s, const Path *p, Stmt *body, const char *suffix)
{
	for (int k = p->n - 1; k >= 0; k--)
		if (p->kept[k]) {
			const Stmt *l = p->loop[k];
			body = ir_for(
				s->ir, derived(s, l->loop.var, suffix), l->loop.lo, l->loop.hi, l->loop.kind, body);
		}
	return body;
}

/* The spatial iterators in the copied loops. */
static int spatial_iters(Sched *s, const Path *p, const char *suffix, Iter *out)
{
	int n = 0;
	for (int k = 0; k < p->block->block.n; k++)
		if (p->block->block.iter[k].kind == ITER_SPATIAL) {
			out[n] = p->block->block.iter[k];
			out[n].value = ir_simplify(s->ir, at_begin(s, p, out[n].value, suffix), NULL);
			n++;
		}
	return n;
}

/* ---- decompose_init ---- */

/* Of one statement: it reads, writes or declares the buffer. */
static bool concerns(Stmt *s, const char *buf)
{
	Touch t = producer_touches_one(s, buf);
	Stmt *next = s->next;
	s->next = NULL;
	bool declares = !nest_outlives(s, buf);
	s->next = next;
	return t.loads > 0 || t.writes > 0 || t.strange || declares;
}

/*
 * Nothing on the way sees the buffer before the block does; behind it, only what follows all of the first
 * iterations of the reduction, for which the loops around both must be reduce loops.
 */
static bool begins_with(Sched *s, const Path *p, const char *buf)
{
	for (int k = 0; k < p->n; k++) {
		const Stmt *inner = k + 1 < p->n ? p->loop[k + 1] : p->block;
		bool behind = false;
		for (Stmt *c = p->loop[k]->loop.body; c != NULL; c = c->next) {
			if (c == inner)
				behind = true;
			else if (concerns(c, buf) && (!behind || p->kept[k]))
				return sched_refuse_for(
					s, p->what, p->block->block.name, "something else there uses or makes", buf);
			else if (!behind && c->kind == ST_LET)
				return sched_refuse_for(
					s, p->what, p->block->block.name, "before it stands let", c->let.var);
		}
	}
	return true;
}

typedef struct InitCheck {
	Sched *s;
	const Path *p;
	bool refused;
} InitCheck;

/* What the init reads nothing in the loops writes. */
static void check_init_load(const Expr *e, void *arg)
{
	InitCheck *c = arg;
	if (c->refused || e->op != IR_LOAD)
		return;
	Touch t = producer_touches(c->p->loop[0]->loop.body, e->name);
	if (t.writes > 0 || t.strange)
		c->refused = !sched_refuse_for(
			c->s, c->p->what, c->p->block->block.name, "in those loops is written", e->name);
}

static void check_init_loads(const Expr *e, void *arg)
{
	ir_each_node(e, check_init_load, arg);
}

static bool check_init(Stmt *s, void *arg)
{
	InitCheck *c = arg;
	ir_each_expr(s, check_init_loads, c);
	if (s->kind != ST_STORE || c->refused)
		return true;
	if (producer_touches(c->p->block->block.body, s->store.dst.buf).loads > 0)
		c->refused = !sched_refuse_for(c->s, c->p->what, c->p->block->block.name,
			"it reads, not only reduces into,", s->store.dst.buf);
	else
		c->refused = !begins_with(c->s, c->p, s->store.dst.buf);
	return true;
}

/* In the first iteration of the reduce loops the reduce iterators are at their beginning. */
static bool begins_at_first(Sched *s, const Path *p, const Range *env)
{
	for (int k = 0; k < p->block->block.n; k++) {
		const Iter *it = &p->block->block.iter[k];
		if (it->kind == ITER_REDUCE && !ir_always(ir_eq(s->ir, at_begin(s, p, it->value, "init"), it->lo), env))
			return sched_refuse_for(s, p->what, p->block->block.name,
				"with those loops does not begin iterator", it->name);
	}
	return true;
}

static bool may_decompose(Sched *s, const Path *p, const Fn *fn, const Range *env)
{
	InitCheck c = { .s = s, .p = p };
	for (int k = 0; k < p->n; k++)
		for (int j = 0; j < p->n; j++)
			if (!p->kept[k] && (ir_uses_var(p->loop[j]->loop.lo, p->loop[k]->loop.var) ||
					ir_uses_var(p->loop[j]->loop.hi, p->loop[k]->loop.var)))
				return sched_refuse_for(s, p->what, p->block->block.name, "bounds depend on loop",
					p->loop[k]->loop.var);
	if (p->block->block.init == NULL)
		return sched_refuse(s, p->what, p->block->block.name, "it has no init");
	for (int k = 0; k < p->n; k++)
		if (nest_folds(p->block, p->loop[k]->loop.var))
			return sched_refuse_for(s, p->what, p->block->block.name, "tiles overlap of loop", p->loop[k]->loop.var);
	if (!may_derive(s, p, fn, "init") || !begins_at_first(s, p, env))
		return false;
	ir_each_stmt(p->block->block.init, check_init, &c);
	return !c.refused;
}

/* The predicate in the first iterations; NULL: it holds. */
static const Expr *begin_where(Sched *s, const Path *p, const Expr *where, const Range *env)
{
	if (where == NULL)
		return NULL;
	where = ir_simplify(s->ir, at_begin(s, p, where, "init"), env);
	return ir_always(where, env) ? NULL : where;
}

/* Needs: all reduce loops of the block from L on. Breaks: the block's init, now block B.init. */
bool prim_decompose_init(Sched *s, const Step *st)
{
	BlockPlace b;
	Place l;
	Path p;
	Iter iter[IR_MAX_RANK * 2];
	if (!sched_find_block(s, st->arg[0].word, &b) || !sched_find_loop(s, st->arg[1].word, &l) ||
		!find_path(s, "decompose_init", &b, l.loop, &p))
		return false;
	if (b.block->block.n > IR_MAX_RANK * 2)
		return sched_refuse(s, p.what, b.block->block.name, "it has too many iterators");
	const Range *env = ir_range_at(s->ir, b.fn, l.loop);
	if (!may_decompose(s, &p, b.fn, env))
		return false;
	int n = spatial_iters(s, &p, "init", iter);
	const Expr *where = begin_where(s, &p, b.block->block.where, env);
	Stmt *init = b.block->block.init;
	b.block->block.init = NULL;
	for (int k = 0; k < p.n; k++) /* what it says of loops itself */
		ir_subst_stmt(s->ir, init, p.loop[k]->loop.var,
			at_begin(s, &p, ir_idx(s->ir, p.loop[k]->loop.var), "init"));
	Stmt *block = ir_block(s->ir, derived(s, b.block->block.name, "init"), iter, n, where, NULL, init);
	Stmt *nest = kept_loops(s, &p, block, "init");
	nest->next = l.loop;
	*l.link = nest;
	return true;
}

/* ---- rfactor ---- */

enum { FACTOR_ELEMENTS = 1 << 16, ITERS = IR_MAX_RANK * 2 };

typedef struct Factor {
	Path p;
	Place top;    /* the outermost reduce loop */
	Stmt *loop;   /* L */
	Stmt *reduce; /* the block's one reduction */
	const Expr *outside, *inside; /* the predicate without and with the reduce loops; NULL: true */
	const char *iter;             /* that stands for L in both blocks */
	Buf *partial;
} Factor;

static Stmt *only_reduction(const Stmt *block)
{
	Stmt *s = block->block.body;
	while (s != NULL && s->next == NULL && s->kind == ST_IF && s->branch.other == NULL)
		s = s->branch.then;
	bool fits = s != NULL && s->next == NULL && s->kind == ST_REDUCE && s->reduce.n == 1 && !s->reduce.atomic &&
		s->reduce.mask == NULL;
	return fits ? s : NULL;
}

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
		if (drives(b->block, ITER_REDUCE, b->around[k]->loop.var))
			top = b->around[k];
	f->reduce = only_reduction(b->block);
	if (top == NULL || f->reduce == NULL || !reduces_one(b->block, f->reduce) || nest_ordered(s->ks, b->block))
		return sched_refuse(
			s, "rfactor", name, "it is not an init of one element and one associative reduction into it");
	if (!sched_find_loop(s, top->loop.var, &f->top) || !find_path(s, "rfactor", b, top, &f->p))
		return false;
	for (int k = 0; k < f->top.naround; k++)
		if (f->top.around[k]->loop.kind == LOOP_VECTOR)
			return sched_refuse_for(
				s, "rfactor", name, "around it stands vector loop", f->top.around[k]->loop.var);
	return b->block->block.n + f->p.n <= ITERS || sched_refuse(s, "rfactor", name, "it has too many iterators");
}

static bool may_factor(Sched *s, const Factor *f)
{
	const char *name = f->p.block->block.name;
	int64_t elements = 1, n;
	int reduces = 0;
	bool own = false;
	for (int k = 0; k < f->p.n; k++) {
		const Stmt *l = f->p.loop[k], *inner = k + 1 < f->p.n ? f->p.loop[k + 1] : f->p.block;
		int64_t lo;
		if (l->loop.body != inner || inner->next != NULL)
			return sched_refuse_for(s, "rfactor", name, "something else stands in loop", l->loop.var);
		if (!ir_is_int(l->loop.lo, &lo) || l->loop.kind == LOOP_PARALLEL)
			return sched_refuse_for(s, "rfactor", name, "parallel is loop", l->loop.var);
		own |= l == f->loop && !f->p.kept[k];
		reduces += !f->p.kept[k];
		nest_extent(l, &n);
		if (f->p.kept[k] || l == f->loop)
			elements = n > FACTOR_ELEMENTS / elements ? FACTOR_ELEMENTS + 1 : elements * n;
	}
	if (!own)
		return sched_refuse_for(s, "rfactor", name, "it is not reduced by loop", f->loop->loop.var);
	if (reduces < 2)
		return sched_refuse_for(
			s, "rfactor", name, "nothing else is left to reduce but by loop", f->loop->loop.var);
	if (elements > FACTOR_ELEMENTS)
		return sched_refuse(s, "rfactor", name, "the partial results would be more than 65536");
	const char *buf = derived(s, name, "rf");
	if (nest_has_name(f->top.fn, buf))
		return sched_refuse_for(s, "rfactor", name, "there is already something called", buf);
	return may_derive(s, &f->p, f->top.fn, "rf") && begins_at_first(s, &f->p, NULL);
}

/* Reduce iterators stand for their values. */
static const Expr *without_reduce_iters(Sched *s, const Stmt *block, const Expr *e)
{
	for (int k = 0; k < block->block.n; k++)
		if (block->block.iter[k].kind == ITER_REDUCE)
			e = ir_subst(s->ir, e, block->block.iter[k].name, block->block.iter[k].value);
	return e;
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

/* Indices of the partial results: L's iterator, then the kept loops'. */
static int partial_index(Sched *s, const Factor *f, bool second, const Expr **idx)
{
	int n = 0;
	idx[n++] = ir_idx(s->ir, f->iter);
	for (int k = 0; k < f->p.n; k++)
		if (f->p.kept[k]) {
			const Stmt *l = f->p.loop[k];
			const Expr *v = ir_idx(s->ir, second ? derived(s, l->loop.var, "rf") : l->loop.var);
			idx[n++] = ir_sub(s->ir, v, l->loop.lo);
		}
	return n;
}

static void make_partial(Sched *s, Factor *f)
{
	int64_t shape[IR_MAX_DEPTH];
	int n = 1;
	nest_extent(f->loop, &shape[0]);
	for (int k = 0; k < f->p.n; k++)
		if (f->p.kept[k])
			nest_extent(f->p.loop[k], &shape[n++]);
	f->partial = ir_buf(s->ir, derived(s, f->p.block->block.name, "rf"), BUF_WORK,
		dtype_scalar(f->reduce->reduce.value[0]->type), "local", shape, n);
}

/* for L.rf, for s.rf: block b { init { y = e } y <- partial[L.rf, s.rf] } */
static Stmt *second_nest(Sched *s, const Factor *f)
{
	Iter iter[ITERS];
	const Expr *idx[IR_MAX_DEPTH];
	int64_t extent;
	const Stmt *b = f->p.block;
	const char *loop = derived(s, f->loop->loop.var, "rf");
	int n = spatial_iters(s, &f->p, "rf", iter), rank = partial_index(s, f, true, idx);
	nest_extent(f->loop, &extent);
	iter[n++] = (Iter){ f->iter, ITER_REDUCE, ir_int(s->ir, 0), ir_int(s->ir, extent), ir_idx(s->ir, loop) };
	Stmt *init = ir_clone_stmt(s->ir, b->block.init), *body = ir_clone_stmt(s->ir, f->reduce);
	body->reduce.value[0] = ir_load(s->ir, f->partial, idx, rank);
	for (int k = 0; k < f->p.n; k++)
		if (f->p.kept[k]) {
			const char *from = f->p.loop[k]->loop.var;
			ir_subst_stmt(s->ir, init, from, ir_idx(s->ir, derived(s, from, "rf")));
			ir_subst_stmt(s->ir, body, from, ir_idx(s->ir, derived(s, from, "rf")));
		}
	const Expr *where = f->outside != NULL ? at_begin(s, &f->p, f->outside, "rf") : NULL;
	Stmt *nest = kept_loops(s, &f->p, ir_block(s->ir, b->block.name, iter, n, where, init, body), "rf");
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
	Stmt *made = ir_block(
		s->ir, derived(s, b->block.name, "rf"), iter, n, f->outside, ir_clone_stmt(s->ir, init), body);
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
	if (!find_factor(s, &b, &f) || !may_factor(s, &f))
		return false;
	f.iter = iter_of_loop(s, f.loop);
	if (b.block->block.where != NULL)
		part_where(s, &f, without_reduce_iters(s, b.block, b.block->block.where));
	make_partial(s, &f);
	Stmt *second = second_nest(s, &f), *alloc = ir_alloc(s->ir, f.partial);
	first_block(s, &f);
	second->next = f.top.loop->next;
	f.top.loop->next = second;
	alloc->next = f.top.loop;
	*f.top.link = alloc;
	return true;
}
