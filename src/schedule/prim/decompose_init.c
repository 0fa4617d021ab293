/* decompose_init: the beginning of a reduction becomes a nest of its own, before the loops that reduce. */
#include "schedule/path.h"
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/query.h"

#include <string.h>

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
					s, p->what, p->block->block.name, "another statement in those loops uses or declares %s", buf);
			else if (!behind && c->kind == ST_LET)
				return sched_refuse_for(
					s, p->what, p->block->block.name, "let %s precedes it in those loops", c->let.var);
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
			c->s, c->p->what, c->p->block->block.name, "those loops write %s, which its init reads", e->name);
}

static bool check_init(Stmt *s, void *arg)
{
	InitCheck *c = arg;
	ir_each_node_of(s, check_init_load, c);
	if (s->kind != ST_STORE || c->refused)
		return true;
	if (producer_touches(c->p->block->block.body, s->store.dst.buf).loads > 0)
		c->refused = !sched_refuse_for(c->s, c->p->what, c->p->block->block.name,
			"it reads %s, into which it reduces", s->store.dst.buf);
	else
		c->refused = !begins_with(c->s, c->p, s->store.dst.buf);
	return true;
}

static bool may_decompose(Sched *s, const Path *p, const Fn *fn, const Range *env)
{
	InitCheck c = { .s = s, .p = p };
	for (int k = 0; k < p->n; k++)
		for (int j = 0; j < p->n; j++)
			if (!p->kept[k] && (ir_uses_var(p->loop[j]->loop.lo, p->loop[k]->loop.var) ||
					ir_uses_var(p->loop[j]->loop.hi, p->loop[k]->loop.var)))
				return sched_refuse_for(s, p->what, p->block->block.name, "bounds of those loops depend on loop %s",
					p->loop[k]->loop.var);
	if (p->block->block.init == NULL)
		return sched_refuse(s, p->what, p->block->block.name, "it has no init");
	for (int k = 0; k < p->n; k++)
		if (nest_folds(p->block, p->loop[k]->loop.var))
			return sched_refuse_for(s, p->what, p->block->block.name, "tiles of loop %s overlap", p->loop[k]->loop.var);
	if (!path_may_name(s, p, fn, "init") || !path_begins_at_first(s, p, env))
		return false;
	ir_each_stmt(p->block->block.init, check_init, &c);
	return !c.refused;
}

/* Needs: all reduce loops of the block from L on. Breaks: the block's init, now block B.init. */
bool prim_decompose_init(Sched *s, const Step *st)
{
	BlockPlace b;
	Place l;
	Path p;
	Iter iter[IR_MAX_RANK * 2];
	if (!sched_find_block(s, st->arg[0].word, &b) || !sched_find_loop(s, st->arg[1].word, &l) ||
		!path_find(s, "decompose_init", &b, l.loop, &p))
		return false;
	p.made = sched_name(s, st, 0, "%s.init", b.block->block.name);
	if (b.block->block.n > IR_MAX_RANK * 2)
		return sched_refuse(s, p.what, b.block->block.name, "it has too many iterators");
	const Range *env = ir_range_at(s->ir, b.fn, l.loop);
	if (!may_decompose(s, &p, b.fn, env))
		return false;
	int n = path_spatial_iters(s, &p, "init", iter);
	const Expr *where = b.block->block.where; /* in the first iterations; NULL: it holds */
	if (where != NULL)
		where = ir_simplify(s->ir, path_at_begin(s, &p, where, "init"), env);
	if (where != NULL && ir_always(where, env))
		where = NULL;
	Stmt *init = b.block->block.init;
	b.block->block.init = NULL;
	for (int k = 0; k < p.n; k++) /* what it says of loops itself */
		ir_subst_stmt(s->ir, init, p.loop[k]->loop.var,
			path_at_begin(s, &p, ir_idx(s->ir, p.loop[k]->loop.var), "init"));
	Stmt *block = ir_block(s->ir, p.made, iter, n, where, NULL, init);
	Stmt *nest = path_kept_loops(s, &p, block, "init");
	nest->next = l.loop;
	*l.link = nest;
	return true;
}
