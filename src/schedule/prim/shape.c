/*
 * The primitives that change a loop's range and not the order of its iterations: cut makes two loops of
 * one, so that what holds at an edge is decided in each; fuse makes one of two.
 */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <stdio.h>
#include <string.h>

enum { CUT_NUMBERS = 64 };
#define FUSED_EXTENT ((int64_t)1 << 40)

/* ---- cut ---- */

/* The copy's names: those of the original and a number, one for all of them. */
typedef struct Copy {
	Sched *s;
	Interner *own, *block; /* what is called something in the Fn; the blocks of the set */
	int number;
	bool taken, too_long;
} Copy;

static const char *name_of_copy(const Copy *c, const char *name)
{
	return ir_name(c->s->ir, arena_printf(ir_arena(c->s->ir), "%s.%d", name, c->number));
}

static bool note_block(Stmt *s, void *arg)
{
	if (s->kind == ST_BLOCK)
		intern(((Copy *)arg)->block, s->block.name);
	return true;
}

static bool look_for_name(Stmt *s, void *arg)
{
	Copy *c = arg;
	char twin[TRACE_NAME + 8];
	const char *name = s->kind == ST_FOR ? s->loop.var
		: s->kind == ST_ALLOC        ? s->alloc->name
		: s->kind == ST_BLOCK        ? s->block.name
		                             : NULL;
	if (name == NULL)
		return true;
	c->too_long |= snprintf(twin, sizeof twin, "%s.%d", name, c->number) > TRACE_NAME;
	c->taken |= intern_find(s->kind == ST_BLOCK ? c->block : c->own, twin) != NULL;
	return true;
}

/* The least number from 2 on that gives all that the loop declares new names; in c->taken, c->too_long: none does. */
static void choose_number(Copy *c, const Place *p)
{
	Arena *scratch = arena_new();
	c->own = interner_new(scratch);
	c->block = interner_new(scratch);
	nest_names(p->fn, c->own);
	for (size_t k = 0; k < c->s->ks->n; k++)
		ir_each_stmt(c->s->ks->fn[k]->body, note_block, c);
	for (c->number = 1, c->taken = true; c->taken && c->number < CUT_NUMBERS;) {
		c->number++;
		c->taken = false;
		look_for_name(p->loop, c);
		ir_each_stmt(p->loop->loop.body, look_for_name, c);
	}
	arena_free(scratch);
}

static bool may_cut(Sched *s, const char *what, const Place *p, Copy *c)
{
	*c = (Copy){ .s = s };
	if (!sched_may_copy(s, what, p))
		return false;
	choose_number(c, p);
	if (c->taken || c->too_long)
		return sched_refuse(s, what, p->loop->loop.var,
			c->taken ? "there are 64 copies already" : "names would be too long");
	return true;
}

/* What the copy declares gets names of its own, from its declaration on. */
static bool rename_copy(Stmt *s, void *arg)
{
	const Copy *c = arg;
	Ir *ir = c->s->ir;
	if (s->kind == ST_FOR) {
		const char *var = name_of_copy(c, s->loop.var);
		ir_subst_stmt(ir, s->loop.body, s->loop.var, ir_idx(ir, var));
		s->loop.var = var;
	} else if (s->kind == ST_BLOCK) {
		s->block.name = name_of_copy(c, s->block.name);
	} else if (s->kind == ST_ALLOC) {
		const char *old = s->alloc->name;
		s->alloc->name = name_of_copy(c, old);
		producer_rename(ir, s->next, old, s->alloc->name);
	}
	return true;
}

typedef struct Late {
	Ir *ir;
	const Fn *fn;
} Late;

/* A reduction that has begun in the first part does not begin in the second. */
static bool drop_init(Stmt *s, void *arg)
{
	const Late *late = arg;
	if (s->kind != ST_BLOCK || s->block.init == NULL)
		return true;
	const Range *env = ir_range_at(late->ir, late->fn, s);
	for (int k = 0; k < s->block.n; k++) {
		const Iter *it = &s->block.iter[k];
		if (it->kind == ITER_REDUCE && ir_never(ir_eq(late->ir, it->value, it->lo), env))
			s->block.init = NULL;
	}
	return true;
}

/* A loop below that the cut loop bounds may have constant ends now. */
static bool simplify_ends(Stmt *s, void *arg)
{
	const Late *late = arg;
	int64_t end;
	if (s->kind != ST_FOR || (ir_is_int(s->loop.lo, &end) && ir_is_int(s->loop.hi, &end)))
		return true;
	const Range *env = ir_range_at(late->ir, late->fn, s);
	s->loop.lo = ir_simplify(late->ir, s->loop.lo, env);
	s->loop.hi = ir_simplify(late->ir, s->loop.hi, env);
	return true;
}

bool sched_cut(Sched *s, const char *what, const Place *p, int64_t at)
{
	Copy c;
	Stmt *l = p->loop;
	if (!may_cut(s, what, p, &c))
		return false;
	Stmt *behind = l->next;
	l->next = NULL;
	Stmt *twin = ir_clone_stmt(s->ir, l);
	ir_each_stmt(twin, rename_copy, &c);
	twin->loop.lo = l->loop.hi = ir_add(s->ir, l->loop.lo, ir_int(s->ir, at));
	twin->next = behind;
	l->next = twin;
	Late late = { s->ir, p->fn };
	ir_each_stmt(twin->loop.body, drop_init, &late);
	ir_each_stmt(l->loop.body, simplify_ends, &late);
	ir_each_stmt(twin->loop.body, simplify_ends, &late);
	return true;
}

/* Needs: a loop of constant extent that is no vector. Breaks: nothing; the second part's names are new. */
bool prim_cut(Sched *s, const Step *st)
{
	Place p;
	int64_t n, at = st->arg[1].num;
	if (!sched_find_loop(s, st->arg[0].word, &p))
		return false;
	const Stmt *l = p.loop;
	if (l->loop.kind != LOOP_SERIAL && l->loop.kind != LOOP_PARALLEL && l->loop.kind != LOOP_UNROLLED)
		return sched_refuse(s, "cut", l->loop.var, "it is a vector, a bound or a pipelined loop");
	if (!nest_extent(l, &n))
		return sched_refuse(s, "cut", l->loop.var, "its extent is not constant");
	if (at >= n)
		return fail(s->err, ERR_ILLEGAL, s->place, "cut: %lld iterations of loop %s, which has %lld",
			(long long)at, l->loop.var, (long long)n);
	return sched_cut(s, "cut", &p, at);
}

/* ---- fuse ---- */

static bool simplify_iters(Stmt *s, void *arg)
{
	Ir *ir = arg;
	for (int k = 0; s->kind == ST_BLOCK && k < s->block.n; k++)
		s->block.iter[k].value = ir_simplify(ir, s->block.iter[k].value, NULL);
	return true;
}

static bool may_fuse(Sched *s, const Place *p, const Stmt *inner, int64_t n, int64_t m, const char *name)
{
	const Stmt *outer = p->loop;
	const Stmt *loop[2] = { outer, inner };
	if (outer->loop.body != inner || inner->next != NULL)
		return sched_refuse_for(s, "fuse", outer->loop.var, "it holds not just loop", inner->loop.var);
	for (int k = 0; k < 2; k++)
		if (loop[k]->loop.kind != LOOP_SERIAL)
			return sched_refuse(s, "fuse", loop[k]->loop.var, "it is not a serial loop any more");
	if (n < 1 || m < 1 || n > FUSED_EXTENT / m)
		return sched_refuse_for(
			s, "fuse", outer->loop.var, "the extents must be constants from 1, also of", inner->loop.var);
	for (int k = 0; k < 2; k++)
		if ((k == 0 ? n : m) > 1 && nest_uses(loop[k]).unused)
			return sched_refuse(
				s, "fuse", loop[k]->loop.var, "a block below it does the same in every iteration");
	if (strlen(name) > TRACE_NAME || nest_has_name(p->fn, name))
		return sched_refuse_for(s, "fuse", outer->loop.var, "too long or taken is the new name", name);
	if (nest_expr_depth(inner->loop.body) + 8 > IR_MAX_DEPTH)
		return sched_refuse(s, "fuse", outer->loop.var, "indices would be nested too deeply");
	return true;
}

/* Needs: two serial loops, perfectly nested.  Breaks: their names. */
bool prim_fuse(Sched *s, const Step *st)
{
	Place p, q;
	int64_t n = 0, m = 0;
	Ir *ir = s->ir;
	if (!sched_find_loop(s, st->arg[0].word, &p) || !sched_find_loop(s, st->arg[1].word, &q))
		return false;
	Stmt *i = p.loop, *j = q.loop;
	const char *name = ir_name(ir, arena_printf(ir_arena(ir), "%s_%s", i->loop.var, j->loop.var));
	if (!nest_extent(i, &n) || !nest_extent(j, &m))
		n = 0;
	if (!may_fuse(s, &p, j, n, m, name))
		return false;
	const Expr *v = ir_idx(ir, name), *inner_n = ir_int(ir, m);
	Stmt *body = j->loop.body;
	ir_subst_stmt(ir, body, j->loop.var, ir_add(ir, j->loop.lo, ir_mod(ir, v, inner_n)));
	ir_subst_stmt(ir, body, i->loop.var, ir_add(ir, i->loop.lo, ir_div(ir, v, inner_n)));
	ir_each_stmt(body, simplify_iters, ir);
	Stmt *fused = ir_for(ir, name, ir_int(ir, 0), ir_int(ir, n * m), LOOP_SERIAL, body);
	fused->next = i->next;
	*p.link = fused;
	return true;
}
