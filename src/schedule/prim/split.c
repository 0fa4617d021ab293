/*
 * split: one loop becomes two. What is left where the factor does not divide is kept out by a predicate
 * (guard), made a nest of its own (peel), or done by a last tile that begins earlier and does some
 * iterations again (overlap), which must change nothing.
 */
#include "schedule/producer.h"
#include "schedule/tail.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

enum { NAME_LIMIT = TRACE_NAME - 2 };

/* ---- guard ---- */

/* Everything below s runs only where cond holds: blocks get it as predicate, the rest an if. */
static Stmt *guard(Ir *ir, Stmt *s, const Expr *cond)
{
	if (s == NULL)
		return NULL;
	if (s->kind == ST_FOR) {
		s->loop.body = guard(ir, s->loop.body, cond);
	} else if (s->kind == ST_BLOCK) {
		s->block.where = s->block.where != NULL ? ir_and(ir, s->block.where, cond) : cond;
	} else if (s->kind == ST_LET || s->kind == ST_ALLOC || (s->kind == ST_REDUCE && s->reduce.old != NULL)) {
		return ir_if(ir, cond, s, NULL); /* what follows may use it */
	} else {
		Stmt *rest = s->next;
		s->next = NULL;
		Stmt *wrapped = ir_if(ir, cond, s, NULL);
		wrapped->next = guard(ir, rest, cond);
		return wrapped;
	}
	s->next = guard(ir, s->next, cond);
	return s;
}

/* ---- names ---- */

/* The names and the depth that a split makes are legal too. */
static bool may_split(Sched *s, const Place *p, const Stmt *loop, const char *const *made)
{
	if (strlen(loop->loop.var) > NAME_LIMIT)
		return sched_refuse(s, "split", loop->loop.var, "its name is too long to be split again");
	for (int i = 0; i < 2; i++)
		if (nest_has_name(p->fn, made[i]))
			return sched_refuse_for(s, "split", loop->loop.var, "the name %s is already in use", made[i]);
	if (nest_depth(p->fn->body) + 2 > IR_MAX_DEPTH ||
		nest_expr_depth(loop->loop.body) + loop->loop.lo->depth + loop->loop.hi->depth + 8 > IR_MAX_DEPTH)
		return sched_refuse(s, "split", loop->loop.var, "loops and indices would be nested too deeply");
	return true;
}

/* ---- overlap: what an iteration may do twice ---- */

/* An iteration is a function of what the loop does not write, if these hold of each block below it. */
typedef struct Repeat {
	Sched *s;
	const Place *p;
	BlockPlace at; /* the block that is looked at */
	bool in_init, spatial, refused;
} Repeat;

static void refuse_repeat(Repeat *g, const char *why, const char *other)
{
	if (!g->refused)
		g->refused = !sched_refuse_for(g->s, "split", g->p->loop->loop.var, why, other);
}

/* The init sets this very element. */
static bool init_sets(const Stmt *block, const Access *dst)
{
	for (const Stmt *c = block->block.init; c != NULL; c = c->next) {
		bool same = c->kind == ST_STORE && c->store.mask == NULL && strcmp(c->store.dst.buf, dst->buf) == 0;
		for (int k = 0; same && k < dst->n; k++)
			same = c->store.dst.idx[k] == dst->idx[k];
		if (same)
			return true;
	}
	return false;
}

/* The predicate does not tell the first iteration of the reduction from others. */
static bool where_ignores_reduction(const Repeat *g)
{
	const Stmt *b = g->at.block;
	for (int k = 0; b->block.where != NULL && k < b->block.n; k++) {
		const Iter *it = &b->block.iter[k];
		if (it->kind != ITER_REDUCE)
			continue;
		if (ir_uses_var(b->block.where, it->name))
			return false;
		for (int j = 0; j < g->at.naround; j++)
			if (ir_uses_var(it->value, g->at.around[j]->loop.var) &&
				ir_uses_var(b->block.where, g->at.around[j]->loop.var))
				return false;
	}
	return true;
}

/* Each iteration of the split loop begins the reduction anew: all its loops are inside. */
static bool begins_inside(const Repeat *g)
{
	const Stmt *b = g->at.block;
	const Range *env = ir_range_at(g->s->ir, g->at.fn, g->p->loop);
	for (int k = 0; k < b->block.n; k++) {
		const Iter *it = &b->block.iter[k];
		const Expr *first = it->value;
		for (int j = g->at.naround - 1; j >= 0 && g->at.around[j] != g->p->loop; j--)
			first = ir_subst(g->s->ir, first, g->at.around[j]->loop.var, g->at.around[j]->loop.lo);
		if (it->kind == ITER_REDUCE && !ir_always(ir_eq(g->s->ir, first, it->lo), env))
			return false;
	}
	return where_ignores_reduction(g);
}

static void check_write(Repeat *g, const Access *dst, bool reduces)
{
	Stmt *body = g->p->loop->loop.body;
	const char *name = g->at.block->block.name;
	if (!nest_outlives(body, dst->buf))
		return; /* every iteration has its own */
	Touch all = producer_touches(body, dst->buf), own = producer_touches_one(g->at.block, dst->buf);
	if (all.strange || all.loads > 0)
		refuse_repeat(g, "its tiles may not overlap: the loop also reads %s", dst->buf);
	if (reduces && (!init_sets(g->at.block, dst) || !begins_inside(g) || all.writes != own.writes))
		refuse_repeat(
			g, "its tiles may not overlap: an iteration does not contain the whole reduction of block %s", name);
	if (!reduces && !g->in_init && !g->spatial)
		refuse_repeat(g, "its tiles may not overlap: block %s has iterators that are not spatial", name);
}

static bool check_again(Stmt *s, void *arg)
{
	Repeat *g = arg;
	switch (s->kind) {
	case ST_STORE: check_write(g, &s->store.dst, false); break;
	case ST_REDUCE:
		for (int k = 0; k < s->reduce.n; k++)
			check_write(g, &s->reduce.dst[k], true);
		if (!s->reduce.atomic)
			break;
		/* fall through */
	case ST_BLOCK:
	case ST_CALL:
	case ST_ASYNC:
	case ST_COMMIT:
	case ST_WAIT:
	case ST_BARRIER:
		refuse_repeat(
			g, "its tiles may not overlap: block %s contains more than stores and reductions", g->at.block->block.name);
		break;
	default: break;
	}
	return !g->refused;
}

static bool check_block(Stmt *s, void *arg)
{
	Repeat *g = arg;
	if (s->kind != ST_BLOCK || g->refused)
		return true;
	bool scans = false;
	nest_find_block(g->s->ks, s->block.name, &g->at);
	g->spatial = true;
	for (int k = 0; k < s->block.n; k++) {
		g->spatial &= s->block.iter[k].kind == ITER_SPATIAL;
		scans |= s->block.iter[k].kind == ITER_SCAN;
	}
	if (scans)
		refuse_repeat(g, "its tiles may not overlap: block %s is a recurrence", s->block.name);
	g->in_init = true;
	ir_each_stmt(s->block.init, check_again, g);
	g->in_init = false;
	ir_each_stmt(s->block.body, check_again, g);
	return false;
}

/* ---- split ---- */

typedef enum { TAIL_GUARD, TAIL_PEEL, TAIL_OVERLAP, TAIL_COUNT } Tail;
static const char *const tail_name[TAIL_COUNT] = { "guard", "peel", "overlap" };

/*
 * Whether the tail may be left out of the tiles; one that is peeled off is behind the loop then.
 * Where tiles overlap, what outlives an iteration is stored by blocks of spatial iterators, or reduced by a block
 * whose init and all of whose reduce loops are in the iteration; and the loop reads none of it. Steps that would
 * break that later (a reduce loop around the tiles, the init before them, threads, lanes) see nest_folds.
 */
static bool may_leave(Sched *s, const Place *p, Tail tail, int64_t f)
{
	int64_t n;
	if (tail == TAIL_GUARD)
		return true;
	if (!nest_extent(p->loop, &n))
		return sched_refuse_for(s, "split", p->loop->loop.var, "its extent is not constant, as tail \"%s\" requires",
			tail_name[tail]);
	if (n % f == 0)
		return sched_refuse_for(s, "split", p->loop->loop.var,
			"the factor divides the extent, so tail \"%s\" has nothing to do", tail_name[tail]);
	if (tail == TAIL_PEEL)
		return tail_cut(s, "split", p, n - n % f, NULL);
	Repeat g = { .s = s, .p = p };
	Uses u = nest_uses(p->loop);
	const char *why = u.bare ? "a statement below it stands in no block" : u.reduce ? "a reduction depends on it"
		: u.scan         ? "a recurrence depends on it"
				 : NULL;
	if (why != NULL)
		return sched_refuse_for(s, "split", p->loop->loop.var, "its tiles may not overlap: %s", why);
	ir_each_stmt(p->loop->loop.body, check_block, &g);
	return !g.refused;
}

/* Needs: a serial loop.  Breaks: the name of the old loop; what is guarded; what overlaps is done twice. */
bool prim_split(Sched *s, const Step *st)
{
	Place p;
	Tail tail = TAIL_GUARD;
	if (!sched_find_loop(s, st->arg[0].word, &p))
		return false;
	while (st->n > 2 && tail < TAIL_COUNT && strcmp(st->arg[2].word, tail_name[tail]) != 0)
		tail++;
	if (tail == TAIL_COUNT)
		return sched_refuse(s, "split", st->arg[0].word, "the tail of a split is \"guard\", \"peel\" or \"overlap\"");
	Ir *ir = s->ir;
	Stmt *old = p.loop;
	int64_t f = st->arg[1].num, n;
	if (old->loop.kind != LOOP_SERIAL)
		return sched_refuse(s, "split", old->loop.var, "it is no longer a serial loop");
	if (nest_extent(old, &n) && f > n)
		return fail(s->err, ERR_ILLEGAL, s->place, "split: factor %lld of loop %s, which has %lld",
			(long long)f, old->loop.var, (long long)n);
	const char *made[2] = { sched_name(s, st, 0, "%s.o", old->loop.var), sched_name(s, st, 1, "%s.i", old->loop.var) };
	if (!may_split(s, &p, old, made) || !may_leave(s, &p, tail, f))
		return false;
	const Range *env = ir_range_fn(ir, p.fn);
	const Expr *extent = ir_simplify(ir, ir_sub(ir, old->loop.hi, old->loop.lo), env);
	const Expr *factor = ir_int(ir, f);
	const Expr *outer_n = ir_simplify(ir, ir_div(ir, ir_add(ir, extent, ir_int(ir, f - 1)), factor), env);
	const char *o = made[0], *i = made[1];
	const Expr *tile = ir_mul(ir, ir_idx(ir, o), factor);
	if (tail == TAIL_OVERLAP)
		tile = ir_min(ir, tile, ir_int(ir, n - f));
	const Expr *at = ir_add(ir, tile, ir_idx(ir, i));
	bool divides = ir_always(ir_eq(ir, ir_mod(ir, extent, factor), ir_int(ir, 0)), env);
	Stmt *body = old->loop.body;
	ir_subst_stmt(ir, body, old->loop.var, ir_add(ir, old->loop.lo, at));
	if (!divides && tail == TAIL_GUARD)
		body = guard(ir, body, ir_lt(ir, at, extent));
	Stmt *inner = ir_for(ir, i, ir_int(ir, 0), factor, LOOP_SERIAL, body);
	Stmt *outer = ir_for(ir, o, ir_int(ir, 0), outer_n, LOOP_SERIAL, inner);
	outer->next = old->next;
	*p.link = outer;
	return true;
}
