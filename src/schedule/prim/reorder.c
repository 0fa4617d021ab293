/*
 * reorder: perfectly nested loops change places. What may move is read off the blocks (schedule/nest.h): a
 * statement that stands in no block has no declared dependences and is not moved.
 */
#include "schedule/sched.h"

#include "ir/walk.h"

/* Perfectly nested loops, outermost first. */
typedef struct Chain {
	Stmt **link; /* where the first one hangs */
	int n;
	Stmt *loop[IR_MAX_DEPTH + 1];
} Chain;

static int position(Stmt *const *list, int n, const Stmt *loop)
{
	for (int k = 0; k < n; k++)
		if (list[k] == loop)
			return k;
	return -1;
}

/* From the outermost to the innermost of the named loops; all of these stand in it. */
static bool find_chain(Sched *s, const Step *st, Chain *c, Stmt **named)
{
	Place p = { 0 }, inner = { 0 };
	c->link = NULL;
	c->n = 0;
	for (int k = 0; k < st->n; k++) {
		if (!sched_find_loop(s, st->arg[k].word, &p))
			return false;
		if (position(named, k, p.loop) >= 0)
			return sched_refuse(s, "reorder", st->arg[k].word, "it is named twice");
		named[k] = p.loop;
		if (k == 0 || p.naround < c->n) {
			c->n = p.naround;
			c->link = p.link;
		}
		if (k == 0 || p.naround > inner.naround)
			inner = p;
	}
	int from = c->n, n = 0;
	for (int k = from; k < inner.naround; k++)
		c->loop[n++] = inner.around[k];
	c->loop[n++] = inner.loop;
	c->n = n;
	for (int k = 0; k < st->n; k++)
		if (position(c->loop, n, named[k]) < 0)
			return sched_refuse_for(
				s, "reorder", st->arg[k].word, "it is not nested with loop %s", inner.loop->loop.var);
	for (int k = 0; k + 1 < n; k++)
		if (c->loop[k]->loop.body != c->loop[k + 1] || c->loop[k + 1]->next != NULL)
			return sched_refuse(s, "reorder", c->loop[k]->loop.var, "the loops are not perfectly nested");
	return true;
}

/* Some iterator depends on both. */
static bool share_iterator(const Stmt *block, const char *a, const char *b)
{
	for (int k = 0; k < block->block.n; k++)
		if (ir_uses_var(block->block.iter[k].value, a) && ir_uses_var(block->block.iter[k].value, b))
			return true;
	return false;
}

/* Whether loops a and b, of which a was outside, may change places over the block. */
static bool may_swap(Sched *s, const Stmt *a, const Stmt *b, const Uses *of_a, const Uses *of_b, const Stmt *block)
{
	const Uses of[2] = { *of_a, *of_b };
	if (ir_uses_var(b->loop.lo, a->loop.var) || ir_uses_var(b->loop.hi, a->loop.var))
		return sched_refuse_for(s, "reorder", a->loop.var, "its variable bounds loop %s", b->loop.var);
	for (int k = 0; k < 2; k++)
		if (of[k].scan && (of[1 - k].scan || !nest_apart(block, of[1 - k].var)))
			return sched_refuse_for(
				s, "reorder", of[k].var, "a recurrence fixes its order relative to loop %s", of[1 - k].var);
	if (((of[0].reduce && of[0].spatial) || (of[1].reduce && of[1].spatial)) &&
		share_iterator(block, of[0].var, of[1].var))
		return sched_refuse_for(s, "reorder", a->loop.var,
			"where a reduction begins depends on its order relative to loop %s", b->loop.var);
	for (int k = 0; k < 2; k++)
		if (nest_folds(block, of[k].var) && (of[1 - k].reduce || share_iterator(block, of[0].var, of[1].var)))
			return sched_refuse_for(
				s, "reorder", of[k].var, "its tiles overlap, so it must stay around loop %s", of[1 - k].var);
	if (of[0].reduce && of[1].reduce && nest_ordered(s->ks, block))
		return sched_refuse_for(
			s, "reorder", a->loop.var, "its reduction is not associative, so it must stay around loop %s", b->loop.var);
	return true;
}

static bool may_reorder(Sched *s, const Chain *c, Stmt *const *then)
{
	Uses all = nest_uses(c->loop[0]), inside = nest_uses(c->loop[c->n - 1]), of[IR_MAX_DEPTH + 1];
	bool known[IR_MAX_DEPTH + 1] = { false }; /* of[k]: of then[k], which costs a walk */
	if (all.blocks != 1 || all.bare || all.waits)
		return sched_refuse(s, "reorder", c->loop[0]->loop.var, "its body must be one block and nothing else");
	for (int k = 0; k < c->n; k++) {
		bool lanes = inside.lanes, threads = inside.threads;
		for (int j = k + 1; j < c->n; j++) {
			lanes |= then[j]->loop.kind == LOOP_VECTOR;
			threads |= then[j]->loop.kind == LOOP_PARALLEL || then[j]->loop.kind == LOOP_BOUND;
			if (position(c->loop, c->n, then[j]) > position(c->loop, c->n, then[k]))
				continue;
			for (int i = k; i <= j; i += j - k) {
				of[i] = known[i] ? of[i] : nest_uses(then[i]);
				known[i] = true;
			}
			if (!may_swap(s, then[j], then[k], &of[j], &of[k], all.block))
				return false;
		}
		if (then[k]->loop.kind == LOOP_VECTOR && (lanes || threads))
			return sched_refuse(
				s, "reorder", then[k]->loop.var, "it is a vector loop and would contain a vector or parallel loop");
		if (then[k]->loop.kind == LOOP_PARALLEL && threads)
			return sched_refuse(s, "reorder", then[k]->loop.var, "it would be a parallel loop around another one");
	}
	return true;
}

/* Needs: perfectly nested loops over one block.  Breaks: nothing that names loops. */
bool prim_reorder(Sched *s, const Step *st)
{
	Chain c;
	Stmt *named[STEP_ARGS] = { 0 }, *then[IR_MAX_DEPTH + 1];
	int next = 0;
	if (!find_chain(s, st, &c, named))
		return false;
	for (int k = 0; k < c.n; k++)
		then[k] = position(named, st->n, c.loop[k]) < 0 ? c.loop[k] : named[next++];
	if (!may_reorder(s, &c, then))
		return false;
	Stmt *after = c.loop[0]->next, *body = c.loop[c.n - 1]->loop.body;
	for (int k = 0; k < c.n; k++) {
		then[k]->next = NULL;
		then[k]->loop.body = k + 1 < c.n ? then[k + 1] : body;
	}
	then[0]->next = after;
	*c.link = then[0];
	return true;
}
