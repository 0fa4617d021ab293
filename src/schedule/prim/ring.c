/*
 * ring: a producer makes in each iteration of the consumer's loop only the rows that the one before has not
 * made, in a buffer of as many rows as one iteration needs. That row i lies at i % r is said by the
 * buffer's index map alone: loads and stores stay what they are, and the interpreter sees it when a row
 * is read that another one has replaced.
 */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

/* In an iteration of l, loop `rows` of block b makes t[.., i, ..] for i in box, index dim; lo..hi are read. */
typedef struct Ring {
	BlockPlace b;
	Place l;
	Buf *buf;
	Stmt *nest; /* in l's body: b with its loops, around[own..] */
	int own, dim;
	Iter *it;
	Stmt *rows;
	const Expr *base;    /* it->value is base + rows' variable */
	const Expr *lo, *hi; /* of the loops around the nest */
	const Expr *begin;
	const Expr *where;
	int64_t kept;
} Ring;

static bool refuse(Sched *s, const Ring *r, const char *why)
{
	return sched_refuse(s, "ring", r->b.block->block.name, why);
}

static bool refuse_for(Sched *s, const Ring *r, const char *why, const char *other)
{
	return sched_refuse_for(s, "ring", r->b.block->block.name, why, other);
}

static bool find_nest(Sched *s, Ring *r)
{
	const BlockPlace *b = &r->b;
	const char *var = r->l.loop->loop.var;
	while (r->own < b->naround && b->around[r->own] != r->l.loop)
		r->own++;
	if (r->own++ == b->naround)
		return refuse_for(s, r, "it is not inside loop %s", var);
	r->nest = r->own < b->naround ? b->around[r->own] : b->block;
	const Stmt *c = r->l.loop->loop.body;
	while (c != NULL && c != r->nest)
		c = c->next;
	for (int k = r->own; k < b->naround; k++) {
		const Stmt *inner = k + 1 < b->naround ? b->around[k + 1] : b->block;
		if (b->around[k]->loop.body != inner || inner->next != NULL)
			c = NULL;
	}
	if (c == NULL)
		return refuse_for(s, r, "loop %s does not contain it alone in loops of its own", var);
	return r->l.loop->loop.kind == LOOP_SERIAL || refuse_for(s, r, "loop %s is not serial", var);
}

/* What the block makes is kept outside of the loop, and seen only behind it in the same iteration. */
static bool find_buffer(Sched *s, Ring *r)
{
	const Fn *fn = r->b.fn;
	Stmt *body = r->l.loop->loop.body;
	const char *why, *name = producer_writes(r->b.block, &why);
	if (name == NULL)
		return refuse(s, r, why);
	r->buf = ir_find_buf(fn, name);
	if (producer_is_param(fn, name) || !nest_outlives(body, name))
		return refuse_for(s, r, "%s is not stored around that loop: apply store_at first", name);
	for (int k = 0; k < r->l.naround; k++) {
		const Stmt *loop = r->l.around[k];
		if (nest_outlives(loop->loop.body, name) && loop->loop.kind != LOOP_SERIAL && loop->loop.kind != LOOP_UNROLLED)
			return refuse_for(s, r, "loop %s, between buffer and block, is not serial", loop->loop.var);
	}
	Touch all = producer_touches(fn->body, name), in = producer_touches(body, name);
	Touch own = producer_touches_one(r->nest, name), behind = producer_touches(r->nest->next, name);
	if (all.strange || all.hints > 0 || own.loads > 0 || all.writes != own.writes || all.loads != in.loads ||
		in.loads != behind.loads)
		return refuse_for(s, r, "%s must be written by it alone and read only behind it in that loop", name);
	return true;
}

static bool same_rows(const Access *at, void *arg)
{
	Ring *r = arg;
	int found = -1;
	for (int k = 0; k < at->n; k++) {
		bool row = at->idx[k]->op == IR_VAR && at->idx[k]->name == r->it->name;
		if (!row && ir_uses_var(at->idx[k], r->it->name))
			return false;
		if (row && found >= 0)
			return false;
		found = row ? k : found;
	}
	if (r->dim < 0)
		r->dim = found;
	return found >= 0 && found == r->dim;
}

/* The one iterator that moves with the loop is an index of the buffer. */
static bool find_rows(Sched *s, Ring *r)
{
	const char *var = r->l.loop->loop.var;
	Stmt *b = r->b.block;
	for (int k = 0; k < b->block.n; k++) {
		Iter *it = &b->block.iter[k];
		if (it->kind == ITER_SCAN)
			return refuse(s, r, "it is a recurrence");
		if (!ir_uses_var(it->value, var))
			continue;
		if (r->it != NULL || it->kind != ITER_SPATIAL)
			return refuse_for(s, r, "exactly one spatial iterator must move with loop %s", var);
		r->it = it;
	}
	r->dim = -1;
	if (r->it == NULL || !producer_each_write(b, r->buf->name, same_rows, r))
		return refuse_for(s, r, "the iterator that moves with that loop must be one index of %s", r->buf->name);
	for (int k = r->own; k < r->b.naround; k++)
		if (ir_uses_var(r->it->value, r->b.around[k]->loop.var)) {
			if (r->rows != NULL)
				return refuse_for(s, r, "several loops count iterator %s", r->it->name);
			r->rows = r->b.around[k];
		}
	if (r->rows == NULL || r->rows->loop.kind != LOOP_SERIAL)
		return refuse_for(s, r, "no serial loop counts iterator %s", r->it->name);
	r->base = ir_simplify(s->ir, ir_sub(s->ir, r->it->value, ir_idx(s->ir, r->rows->loop.var)), NULL);
	if (!producer_is_outer(&r->l, r->base))
		return refuse_for(s, r, "its loop does not count iterator %s one by one", r->it->name);
	return true;
}

typedef struct RowUses {
	const Ring *r;
	const char *moves;   /* what the block reads and the loop writes */
	bool direct;         /* the block uses the loop's variable itself, or that of its rows */
} RowUses;

static void see_use(const Expr *e, void *arg)
{
	RowUses *u = arg;
	const Ring *r = u->r;
	u->direct |=
		e->op == IR_VAR && (strcmp(e->name, r->l.loop->loop.var) == 0 || strcmp(e->name, r->rows->loop.var) == 0);
	if (e->op == IR_LOAD && u->moves == NULL) {
		Touch t = producer_touches(r->l.loop->loop.body, e->name);
		u->moves = t.writes > 0 || t.strange ? e->name : NULL;
	}
}

static void see_uses(const Expr *e, void *arg)
{
	ir_each_node(e, see_use, arg);
}

static bool see_statement(Stmt *s, void *arg)
{
	ir_each_expr(s, see_uses, arg);
	return true;
}

/* Row i is the same whichever iteration makes it. */
static bool rows_are_equal(Sched *s, const Ring *r)
{
	RowUses u = { .r = r };
	const Stmt *b = r->b.block;
	ir_each_stmt(b->block.init, see_statement, &u);
	ir_each_stmt(b->block.body, see_statement, &u);
	for (int k = 0; k < b->block.n; k++) {
		const Iter *it = &b->block.iter[k];
		see_uses(it->lo, &u);
		see_uses(it->hi, &u);
		if (it != r->it)
			see_uses(it->value, &u);
	}
	for (int k = r->own; k < r->b.naround; k++) {
		see_uses(r->b.around[k]->loop.lo, &u);
		see_uses(r->b.around[k]->loop.hi, &u);
	}
	if (u.moves != NULL)
		return refuse_for(s, r, "the loop writes %s, which it reads", u.moves);
	return !u.direct || refuse_for(s, r, "more than one iterator depends on loops", r->rows->loop.var);
}

/* ---- which rows ---- */

/* Never less in a later iteration of the loop. */
static bool rises(Sched *s, const Ring *r, const Expr *e)
{
	const Stmt *l = r->l.loop;
	int64_t k;
	if (!ir_uses_var(e, l->loop.var) || e->op == IR_VAR)
		return true;
	switch (e->op) {
	case IR_ADD:
	case IR_MIN:
	case IR_MAX: return rises(s, r, e->arg[0]) && rises(s, r, e->arg[1]);
	case IR_SUB: return rises(s, r, e->arg[0]) && !ir_uses_var(e->arg[1], l->loop.var);
	case IR_MUL:
		return (ir_is_int(e->arg[1], &k) && k >= 0 && rises(s, r, e->arg[0])) ||
			(ir_is_int(e->arg[0], &k) && k >= 0 && rises(s, r, e->arg[1]));
	case IR_DIV: return ir_is_int(e->arg[1], &k) && k > 0 && rises(s, r, e->arg[0]);
	case IR_SELECT: { /* as ring leaves it: the first iteration is another one */
		const Expr *first = l->loop.lo, *second = ir_add(s->ir, first, ir_int(s->ir, 1));
		const Expr *a = ir_subst(s->ir, e->arg[2], l->loop.var, first),
				   *b = ir_subst(s->ir, e->arg[1], l->loop.var, second);
		const Range *env = ir_range_at(s->ir, r->b.fn, l);
		return e->arg[0] == ir_lt(s->ir, first, ir_idx(s->ir, l->loop.var)) && rises(s, r, e->arg[1]) &&
			ir_always(ir_simplify(s->ir, ir_le(s->ir, a, b), env), env);
	}
	default: return false;
	}
}

/* a <= b, in the first iteration and in later ones, where a ring of the consumer reads other rows. */
static bool never_above(Sched *s, const Ring *r, const Expr *a, const Expr *b, const Range *env)
{
	const Expr *no_more = ir_le(s->ir, a, b),
			   *later = ir_lt(s->ir, r->l.loop->loop.lo, ir_idx(s->ir, r->l.loop->loop.var));
	bool always = true;
	for (int k = 0; k < 2; k++) {
		const Range *in = ir_range_if(s->ir, later, k == 0, env);
		always = always && ir_always(ir_simplify(s->ir, no_more, in), in);
	}
	return always;
}

/* What one iteration reads, within what it makes and the buffer. */
static bool find_read(Sched *s, Ring *r, const Range *env)
{
	Ir *ir = s->ir;
	const Expr *lo[IR_MAX_RANK], *hi[IR_MAX_RANK], *all = r->buf->shape[r->dim];
	if (!producer_hull(s, r->b.fn, r->nest->next, r->buf->name, r->buf->rank, lo, hi))
		return refuse_for(s, r, "no statement behind it reads %s", r->buf->name);
	const Expr *from[3] = { lo[r->dim], ir_int(ir, 0), ir_add(ir, r->base, r->rows->loop.lo) };
	const Expr *to[3] = { hi[r->dim], all, ir_add(ir, r->base, r->rows->loop.hi) };
	r->lo = from[0];
	r->hi = to[0];
	for (int k = 1; k < 3; k++) {
		if (!never_above(s, r, from[k], r->lo, env))
			r->lo = ir_max(ir, r->lo, from[k]);
		if (!never_above(s, r, r->hi, to[k], env))
			r->hi = ir_min(ir, r->hi, to[k]);
	}
	r->lo = ir_simplify(ir, r->lo, env);
	r->hi = ir_simplify(ir, r->hi, env);
	if (!producer_is_outer(&r->l, r->lo) || !producer_is_outer(&r->l, r->hi) || !rises(s, r, r->lo) ||
		!rises(s, r, r->hi))
		return refuse_for(s, r,
			"it cannot be shown that each iteration of loop %s reads rows that begin and end no earlier than before",
			r->l.loop->loop.var);
	return true;
}

/* Where the rows begin that the iteration before has not made. */
static bool find_new(Sched *s, Ring *r, const Range *env)
{
	Ir *ir = s->ir;
	const Stmt *l = r->l.loop;
	const Expr *i = ir_idx(ir, l->loop.var), *later = ir_lt(ir, l->loop.lo, i);
	const Range *in = ir_range_if(ir, later, true, env);
	const Expr *made = ir_simplify(ir, ir_subst(ir, r->hi, l->loop.var, ir_sub(ir, i, ir_int(ir, 1))), in);
	if (ir_always(ir_le(ir, made, r->lo), in))
		return refuse_for(s, r, "no iteration of loop %s reads what the one before has made", l->loop.var);
	if (!ir_always(ir_le(ir, r->lo, made), in))
		made = ir_simplify(ir, ir_max(ir, r->lo, made), in);
	r->begin = ir_select(ir, later, made, ir_simplify(ir, r->lo, ir_range_if(ir, later, false, env)));
	return r->begin->depth + nest_expr_depth(l->loop.body) + 16 <= IR_MAX_DEPTH ||
		refuse(s, r, "indices would be nested too deeply");
}

/* The parts of the predicate that do not hold for all rows; they may ask which row it is. */
static bool find_where(Sched *s, Ring *r, const Expr *e, const Range *env)
{
	Ir *ir = s->ir;
	const char *row = r->rows->loop.var;
	if (e->op == IR_AND)
		return find_where(s, r, e->arg[0], env) && find_where(s, r, e->arg[1], env);
	if (ir_uses_var(e, row) || ir_uses_var(e, r->l.loop->loop.var))
		e = ir_simplify(ir, ir_subst(ir, e, row, ir_sub(ir, ir_idx(ir, row), r->base)), env);
	if (ir_always(e, env))
		return true;
	if (ir_uses_var(e, r->l.loop->loop.var))
		return refuse_for(s, r, "its predicate depends on loop %s", r->l.loop->loop.var);
	r->where = r->where == NULL ? e : ir_and(ir, r->where, e);
	return true;
}

/* ---- where they lie ---- */

static bool find_kept(Sched *s, Ring *r, const Step *st, const Range *env)
{
	int64_t all, need = producer_most(s->ir, r->hi, r->lo, env);
	if (!ir_is_int(r->buf->shape[r->dim], &all))
		return refuse_for(s, r, "an extent of %s is not constant", r->buf->name);
	if (need < 1 || need > all)
		need = all;
	if (st->n > 2 && st->arg[2].num < need)
		return fail(s->err, ERR_ILLEGAL, s->place, "ring %s: %lld rows, but an iteration needs %lld of %s",
			r->b.block->block.name, (long long)st->arg[2].num, (long long)need, r->buf->name);
	for (r->kept = st->n > 2 ? st->arg[2].num : 1; r->kept < need;)
		r->kept *= 2;
	for (int k = 0; k < r->buf->map.n; k++) {
		const Expr *at = r->buf->map.at[k];
		if (ir_uses_var(at, r->buf->map.var[r->dim]) && at->op != IR_VAR)
			return refuse_for(s, r, "%s has a layout that splits its rows, or is a ring already", r->buf->name);
	}
	r->kept = r->kept < all ? r->kept : 0; /* 0: all of them */
	return true;
}

static void turn(Ir *ir, Buf *b, int dim, int64_t kept)
{
	Arena *a = ir_arena(ir);
	IndexMap m = { .nvar = b->rank, .n = b->map.n > 0 ? b->map.n : b->rank };
	m.var = b->map.n > 0 ? b->map.var : arena_array(a, const char *, b->rank);
	m.at = arena_array(a, const Expr *, m.n);
	m.extent = arena_array(a, const Expr *, m.n);
	for (int k = 0; b->map.n == 0 && k < b->rank; k++)
		m.var[k] = ir_name(ir, arena_printf(a, "i%d", k));
	for (int k = 0; k < m.n; k++) {
		m.at[k] = b->map.n > 0 ? b->map.at[k] : ir_idx(ir, m.var[k]);
		m.extent[k] = b->map.n > 0 ? b->map.extent[k] : b->shape[k];
		if (ir_uses_var(m.at[k], m.var[dim])) {
			m.at[k] = ir_mod(ir, m.at[k], ir_int(ir, kept));
			m.extent[k] = ir_int(ir, kept);
		}
	}
	b->map = m;
}

/*
 * Law: lo and hi, what an iteration reads, rise, so that what it reads below the hi of the one before it was
 * read there, too, and made there or earlier; what it makes is below hi, so that a row it replaces is
 * below hi - r <= lo, and read no more.
 * Needs: a buffer that is stored around the loop.  Breaks: nothing that names loops; the bounds of one.
 */
bool prim_ring(Sched *s, const Step *st)
{
	Ring r = { 0 };
	if (!sched_find_block(s, st->arg[0].word, &r.b) || !sched_find_loop(s, st->arg[1].word, &r.l) ||
		!find_nest(s, &r) || !find_buffer(s, &r) || !find_rows(s, &r) || !rows_are_equal(s, &r))
		return false;
	const Range *env = ir_range_at(s->ir, r.b.fn, r.l.loop->loop.body);
	if (!find_read(s, &r, env) || !find_new(s, &r, env) || !find_kept(s, &r, st, env))
		return false;
	const Range *in = ir_range_for(s->ir, r.rows->loop.var, r.begin, r.hi, env);
	if (r.b.block->block.where != NULL && !find_where(s, &r, r.b.block->block.where, in))
		return false;
	r.rows->loop.lo = r.begin;
	r.rows->loop.hi = r.hi;
	r.it->value = ir_idx(s->ir, r.rows->loop.var);
	r.b.block->block.where = r.where;
	if (r.kept > 0)
		turn(s->ir, r.buf, r.dim, r.kept);
	return true;
}
