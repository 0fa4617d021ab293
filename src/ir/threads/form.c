/*
 * The thread form: from a block with several loops bound to its axes to one nest of such loops.
 *
 *     alloc a @shared                           alloc a @shared
 *     for k { S; for t in 0..8 bound { T } }    for x in 0..16 bound { for k { if x == 0 { S } if x < 8 { T[t = x] } }
 *     for u in 0..16 bound { U }          ->        U[u = x] }
 *
 * An axis has as many threads as its longest loop needs. What stands in no loop of an axis is the work of the axis'
 * first thread; loops and conditions around such loops, barriers and waits are for all threads. A shared buffer has one
 * place in the block, so that it is declared above the threads; what else is declared each thread has for itself.
 */
#include "ir/threads/form.h"

#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

AxisKind ir_axis_of(const Stmt *s, int *k)
{
	static const char *const kind[] = { "", "grid.", "block.", "warp." };
	if (s->kind != ST_FOR || s->loop.kind != LOOP_BOUND || s->loop.axis == NULL)
		return AXIS_NONE;
	for (int i = AXIS_GRID; i <= AXIS_WARP; i++) {
		size_t n = strlen(kind[i]);
		const char *rest = s->loop.axis + n;
		if (strncmp(s->loop.axis, kind[i], n) == 0 && rest[0] >= 'x' && rest[0] <= 'z' && rest[1] == 0) {
			if (k != NULL)
				*k = rest[0] - 'x';
			return (AxisKind)i;
		}
	}
	return AXIS_NONE;
}

int64_t ir_axis_most(AxisKind kind, int k)
{
	static const int64_t most[AXIS_WARP][THREAD_AXES] = {
#define AXIS(kind, k, most) [AXIS_##kind][k] = most,
#include "ir/threads/axis.def"
	};
	return most[kind][k];
}

static bool is_of_kind(const Stmt *s, void *kind)
{
	return ir_axis_of(s, NULL) == *(const AxisKind *)kind;
}

bool ir_has_axis(Stmt *list, AxisKind kind)
{
	return ir_find_stmt(list, is_of_kind, &kind) != NULL;
}

/* ---- which lists are blocks ---- */

static bool has_threads(const Stmt *s)
{
	AxisKind kind = AXIS_BLOCK;
	return is_of_kind(s, &kind) || ir_find_below(s, is_of_kind, &kind) != NULL;
}

/* Each iteration of such a loop is a block of its own, or holds some. */
static bool is_around_blocks(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR && (s->loop.kind == LOOP_PARALLEL || ir_axis_of(s, NULL) == AXIS_GRID) &&
		has_threads(s);
}

static bool each_block(Stmt **list, bool top, bool (*f)(Stmt **, bool, void *), void *arg)
{
	if (!top && ir_find_stmt(*list, is_around_blocks, NULL) == NULL)
		return !ir_has_axis(*list, AXIS_BLOCK) || f(list, false, arg);
	for (Stmt **link = list; *link != NULL; link = &(*link)->next) {
		Stmt *s = *link, *behind = s->next, **below[IR_CHILDREN];
		if (!has_threads(s))
			continue;
		bool around = is_around_blocks(s, NULL) || ir_find_below(s, is_around_blocks, NULL) != NULL;
		if (!around && !f(link, true, arg))
			return false;
		for (int k = 0, n = ir_children(s, below); around && k < n; k++)
			if (!each_block(below[k], !is_around_blocks(s, NULL), f, arg))
				return false;
		while (*link != behind && (*link)->next != behind)
			link = &(*link)->next;
	}
	return true;
}

bool ir_each_block(Stmt **list, bool (*f)(Stmt **body, bool one, void *arg), void *arg)
{
	return each_block(list, true, f, arg);
}

/* ---- one block ---- */

typedef struct Form {
	Ir *ir;
	Fn *fn;
	const char *var[THREAD_AXES];    /* NULL: no loop is bound to the axis */
	const Expr *extent[THREAD_AXES]; /* its threads */
	Stmt *body, *shared, **shared_end;
	Err *err;
} Form;

static const Expr *threads_of(Ir *ir, const Stmt *loop)
{
	return ir_sub(ir, loop->loop.hi, loop->loop.lo);
}

static bool measure(Stmt *s, void *arg)
{
	Form *f = arg;
	int k;
	if (ir_axis_of(s, &k) != AXIS_BLOCK)
		return true;
	const Expr *n = threads_of(f->ir, s);
	f->extent[k] = f->extent[k] == NULL || f->extent[k] == n ? n : ir_max(f->ir, f->extent[k], n);
	return true;
}

static bool is_declared_in(const Expr *e, void *body)
{
	return e->op == IR_LOAD || (e->op == IR_VAR && ir_declares(body, e->name));
}

/* Variables of the threads, of names that the Fn does not have. */
static bool name_axes(Form *f)
{
	static const char *const stem[THREAD_AXES] = { "thread.x", "thread.y", "thread.z" };
	ir_each_stmt(f->body, measure, f);
	for (int k = 0; k < THREAD_AXES; k++) {
		if (f->extent[k] == NULL)
			continue;
		if (ir_find_node(f->extent[k], is_declared_in, f->body) != NULL)
			return fail(f->err, ERR_INPUT, f->fn->name,
				"the number of threads along block.%c depends on a statement of the block", "xyz"[k]);
		const char *name = stem[k];
		for (int n = 2; ir_declares(f->fn->body, name); n++)
			name = arena_printf(ir_arena(f->ir), "%s.%d", stem[k], n);
		f->var[k] = ir_name(f->ir, name);
	}
	return true;
}

/* Shared buffers, and what else stands in no thread and is not a thread's own, go above the threads. */
static void lift_allocs(Form *f, Stmt **list, bool in_thread)
{
	for (Stmt **link = list; *link != NULL;) {
		Stmt *s = *link, **below[IR_CHILDREN];
		const char *scope = s->kind == ST_ALLOC ? s->alloc->scope : "local";
		bool own = strcmp(scope, "local") == 0 || strcmp(scope, "fragment") == 0;
		if (!own && (!in_thread || strcmp(scope, "shared") == 0)) {
			*link = s->next;
			s->next = NULL;
			*f->shared_end = s;
			f->shared_end = &s->next;
			continue;
		}
		for (int k = 0, n = ir_children(s, below); k < n; k++)
			lift_allocs(f, below[k], in_thread || ir_axis_of(s, NULL) == AXIS_BLOCK);
		link = &s->next;
	}
}

static bool takes_all_threads(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_BARRIER || s->kind == ST_COMMIT || s->kind == ST_WAIT || ir_axis_of(s, NULL) == AXIS_BLOCK;
}

/* A statement for a single thread: it and what is below it need no other thread of the block. */
static bool is_work(const Stmt *s)
{
	return s->kind != ST_LET && s->kind != ST_ALLOC && !takes_all_threads(s, NULL) &&
		ir_find_below(s, takes_all_threads, NULL) == NULL;
}

static bool declares_old(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_REDUCE && s->reduce.old != NULL;
}

/* The list where only the first threads of the axes that are not in `have` do it. */
static Stmt *only_first(Form *f, unsigned have, Stmt *list)
{
	const Expr *first = NULL;
	for (int k = 0; k < THREAD_AXES; k++) {
		if (f->var[k] == NULL || (have & 1u << k) != 0)
			continue;
		const Expr *zero = ir_eq(f->ir, ir_idx(f->ir, f->var[k]), ir_int(f->ir, 0));
		first = first == NULL ? zero : ir_and(f->ir, first, zero);
	}
	return first == NULL ? list : ir_if(f->ir, first, list, NULL);
}

static bool form_list(Form *f, Stmt **list, unsigned have);

/* A loop bound to axis k: what thread lo + x of it does. */
static bool form_loop(Form *f, Stmt **link, int k, unsigned have)
{
	Stmt *s = *link, *next = s->next, *body = s->loop.body;
	const Expr *x = ir_idx(f->ir, f->var[k]), *n = threads_of(f->ir, s);
	if (have & 1u << k)
		return fail(f->err, ERR_INPUT, f->fn->name, "loop %s and a loop around it are both bound to %s", s->loop.var,
			s->loop.axis);
	if (body == NULL) {
		*link = next;
		return true;
	}
	ir_subst_stmt(f->ir, body, s->loop.var, ir_add(f->ir, s->loop.lo, x));
	if (!form_list(f, &body, have | 1u << k))
		return false;
	if (n != f->extent[k] || body == NULL)
		body = ir_if(f->ir, ir_lt(f->ir, x, n), body, NULL);
	*link = body;
	while (body->next != NULL)
		body = body->next;
	body->next = next;
	return true;
}

/* One thread's work begins at *link: as much as follows each other. The link to what is behind it; NULL: a failure. */
static Stmt **form_work(Form *f, Stmt **link, unsigned have)
{
	Stmt *first = *link, *last = first;
	bool named = declares_old(first, NULL);
	while (last->next != NULL && is_work(last->next)) {
		last = last->next;
		named |= declares_old(last, NULL);
	}
	Stmt *behind = last->next;
	if (named && behind != NULL) {
		fail(f->err, ERR_INPUT, f->fn->name, "one thread of the block makes a value that all of them may use");
		return NULL;
	}
	last->next = NULL;
	*link = only_first(f, have, first);
	last = *link == first ? last : *link;
	last->next = behind;
	return &last->next;
}

static bool form_list(Form *f, Stmt **list, unsigned have)
{
	for (Stmt **link = list; *link != NULL;) {
		Stmt *s = *link, *behind = s->next, **below[IR_CHILDREN];
		int k;
		if (is_work(s)) {
			if ((link = form_work(f, link, have)) == NULL)
				return false;
		} else if (ir_axis_of(s, &k) == AXIS_BLOCK) {
			if (!form_loop(f, link, k, have))
				return false;
			while (*link != behind)
				link = &(*link)->next;
		} else {
			for (int i = 0, n = ir_children(s, below); i < n; i++)
				if (!form_list(f, below[i], have))
					return false;
			link = &s->next;
		}
	}
	return true;
}

static bool form_block(Stmt **body, bool one, void *arg)
{
	Form *all = arg;
	Form f = { .ir = all->ir, .fn = all->fn, .err = all->err };
	AxisKind grid = AXIS_GRID;
	Stmt *behind = one ? (*body)->next : NULL, *nest;
	if (one)
		(*body)->next = NULL;
	const Stmt *inner = ir_find_stmt(*body, is_of_kind, &grid);
	if (inner != NULL)
		return fail(f.err, ERR_INPUT, f.fn->name, "loop %s is bound to %s, but stands in a block", inner->loop.var,
			inner->loop.axis);
	f.body = nest = *body;
	f.shared_end = &f.shared;
	if (!name_axes(&f))
		return false;
	lift_allocs(&f, &nest, false);
	if (!form_list(&f, &nest, 0))
		return false;
	for (int k = 0; k < THREAD_AXES; k++) {
		if (f.var[k] == NULL)
			continue;
		nest = ir_for(f.ir, f.var[k], ir_int(f.ir, 0), f.extent[k], LOOP_BOUND, nest);
		nest->loop.axis = ir_name(f.ir, arena_printf(ir_arena(f.ir), "block.%c", "xyz"[k]));
		nest->line = f.body->line;
	}
	nest->next = behind;
	*f.shared_end = nest;
	*body = f.shared;
	return true;
}

const Fn *ir_thread_form(Ir *ir, const Fn *fn, Err *err)
{
	if (!ir_has_axis(fn->body, AXIS_BLOCK))
		return fn;
	Fn *form = ir_clone_fn(ir, fn);
	Form f = { .ir = ir, .fn = form, .err = err };
	return ir_each_block(&form->body, form_block, &f) ? form : NULL;
}
