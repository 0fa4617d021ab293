/* See tail.h. */
#include "schedule/tail.h"

#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERS = 64 }; /* copies of one name */

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

/* Finds the least number from 2 on that gives new names to all that the loop declares. */
static bool may_rename(Sched *s, const char *what, const Fn *fn, Stmt *loop, Copy *c)
{
	*c = (Copy){ .s = s };
	Arena *scratch = arena_new();
	c->own = interner_new(scratch);
	c->block = interner_new(scratch);
	nest_names(fn, c->own);
	for (size_t k = 0; k < s->ks->n; k++)
		ir_each_stmt(s->ks->fn[k]->body, note_block, c);
	for (c->number = 1, c->taken = true; c->taken && c->number < NUMBERS;) {
		c->number++;
		c->taken = false;
		look_for_name(loop, c);
		ir_each_stmt(loop->loop.body, look_for_name, c);
	}
	arena_free(scratch);
	if (c->taken || c->too_long)
		return sched_refuse(s, what, loop->loop.var,
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

bool tail_rename(Sched *s, const char *what, const Fn *fn, Stmt *copy)
{
	Copy c;
	if (!may_rename(s, what, fn, copy, &c))
		return false;
	ir_each_stmt(copy, rename_copy, &c);
	return true;
}

bool tail_cut(Sched *s, const char *what, const Place *p, int64_t at, const char *name)
{
	Copy c;
	Stmt *l = p->loop;
	if (!sched_may_copy(s, what, p) || !may_rename(s, what, p->fn, l, &c))
		return false;
	Stmt *behind = l->next;
	l->next = NULL;
	Stmt *twin = ir_clone_stmt(s->ir, l);
	ir_each_stmt(twin, rename_copy, &c);
	if (name != NULL) {
		ir_subst_stmt(s->ir, twin->loop.body, twin->loop.var, ir_idx(s->ir, name));
		twin->loop.var = name;
	}
	twin->loop.lo = l->loop.hi = ir_add(s->ir, l->loop.lo, ir_int(s->ir, at));
	twin->next = behind;
	l->next = twin;
	Late late = { s->ir, p->fn };
	ir_each_stmt(twin->loop.body, drop_init, &late);
	ir_each_stmt(l->loop.body, simplify_ends, &late);
	ir_each_stmt(twin->loop.body, simplify_ends, &late);
	return true;
}
