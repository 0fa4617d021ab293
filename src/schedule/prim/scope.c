/*
 * scope: where a buffer that a step made lies. A local buffer around bound loops, as the sums of a block, is not made
 * for each thread as a whole: its index map leaves out the digits of its indices that say which thread it is. Loads
 * and stores stay what they are.
 */
#include "schedule/accesses.h"
#include "schedule/launch.h"

#include "ir/analysis/affine.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"
#include "ir/threads/meet.h"

#include <string.h>

/* (i / step) % count is the same thread's in all that a thread accesses; count 1: the index says nothing of it. */
typedef struct Digit {
	int64_t step, count;
	const Expr *thread; /* which it is, of variables called after axes */
} Digit;

/* A variable of a loop bound to a block axis becomes one that is called after the axis; others say it is unknown. */
static const Expr *to_axis(Ir *ir, const Expr *e, void *arg)
{
	const ThreadAccess *x = arg;
	for (int k = 0; e->op == IR_VAR && k < x->nloop; k++)
		if (strcmp(x->loop[k]->loop.var, e->name) == 0 && x->lo[k] != NULL &&
			ir_axis_of(x->loop[k], NULL) == AXIS_BLOCK)
			return ir_add(ir, ir_idx(ir, x->loop[k]->loop.axis), x->lo[k]);
	return e;
}

static bool is_no_axis(const Expr *e, void *arg)
{
	(void)arg;
	return e->op == IR_LOAD || (e->op == IR_VAR && strncmp(e->name, "block.", 6) != 0);
}

/* The digit that the index's terms of threads alone are: step is what divides them, count how many values they have. */
static bool find_digit(Ir *ir, const ThreadAccess *x, const Expr *idx, Digit *d)
{
	Affine f, threads = { 0 };
	*d = (Digit){ .step = 0, .count = 1 };
	if (!ir_affine_exact_of(idx, x->env, NULL, &f))
		return false;
	threads.type = f.type;
	for (int k = 0; k < f.n; k++) {
		const Term *t = &f.t[k];
		const Expr *of = ir_map_expr(ir, t->a, to_axis, (void *)(uintptr_t)x);
		if (ir_find_node(of, is_no_axis, NULL) != NULL || t->b != NULL)
			continue;
		d->step = ir_gcd(d->step, t->coef);
		threads.t[threads.n++] = *t;
	}
	if (threads.n == 0)
		return true;
	Wide ends = ir_affine_bounds(&threads, x->env, NULL);
	if (ends.lo != 0 || ends.hi > INT32_MAX)
		return false;
	d->count = (int64_t)ends.hi / d->step + 1;
	const Expr *digit = ir_mod(ir, ir_div(ir, idx, ir_int(ir, d->step)), ir_int(ir, d->count));
	d->thread = ir_map_expr(ir, ir_simplify(ir, digit, x->env), to_axis, (void *)(uintptr_t)x);
	return ir_find_node(d->thread, is_no_axis, NULL) == NULL;
}

/* The digits in which all accesses agree; false: there are none. */
static bool find_digits(Ir *ir, const ThreadAccesses *all, const Buf *b, Digit *digit)
{
	bool first = true;
	for (size_t i = 0; i < all->at.n; i++) {
		const ThreadAccess *x = &all->at.at[i];
		if (strcmp(x->buf, b->name) != 0)
			continue;
		for (int k = 0; k < b->rank; k++) {
			Digit d;
			if (x->anywhere || x->idx[k] == NULL || !find_digit(ir, x, x->idx[k], &d))
				return false;
			if (!first && (d.step != digit[k].step || d.count != digit[k].count || d.thread != digit[k].thread))
				return false;
			digit[k] = d;
		}
		first = false;
	}
	return !first;
}

/* i -> (i / (step * count)) * step + i % step, which is shorter where one of both is 0. */
static void leave_out(Ir *ir, Buf *b, const Digit *digit)
{
	Arena *a = ir_arena(ir);
	IndexMap m = { .nvar = b->rank, .n = b->rank };
	m.var = arena_array(a, const char *, b->rank);
	m.at = arena_array(a, const Expr *, b->rank);
	m.extent = arena_array(a, const Expr *, b->rank);
	for (int k = 0; k < b->rank; k++) {
		const Expr *i = ir_idx(ir, m.var[k] = ir_name(ir, arena_printf(a, "i%d", k)));
		int64_t n, step = digit[k].step, all = step * digit[k].count;
		m.at[k] = i;
		m.extent[k] = b->shape[k];
		if (digit[k].count == 1 || !ir_is_int(b->shape[k], &n))
			continue;
		const Expr *low = step == 1 ? ir_int(ir, 0) : ir_mod(ir, i, ir_int(ir, step));
		const Expr *high = n <= all ? ir_int(ir, 0) : ir_mul(ir, ir_div(ir, i, ir_int(ir, all)), ir_int(ir, step));
		m.at[k] = ir_add(ir, high, low);
		m.extent[k] = ir_int(ir, (n + all - 1) / all * step);
	}
	b->map = m;
}

/* Needs: an alloc in a loop.  Breaks: the index map of what is local now; launch_settle looks at who uses it. */
bool prim_scope(Sched *s, const Step *st)
{
	const char *name = st->arg[0].word, *scope = st->arg[1].word;
	Fn *fn = NULL;
	Stmt **link = NULL;
	Digit digit[IR_MAX_RANK];
	if (!launch_need_device(s, "scope", name))
		return false;
	for (size_t k = 0; k < s->ks->n && link == NULL; k++)
		if (s->ks->fn[k]->kind == FN_RUN && (link = ir_find_alloc(&s->ks->fn[k]->body, name)) != NULL)
			fn = s->ks->fn[k];
	if (link == NULL)
		return sched_refuse(s, "scope", name, "no run Fn declares such a buffer");
	bool local = strcmp(scope, "local") == 0;
	if (!local && strcmp(scope, "shared") != 0 && strcmp(scope, "global") != 0)
		return sched_refuse(s, "scope", name, "a scope is global, shared or local");
	Stmt *top = fn->body;
	while (top != NULL && top != *link)
		top = top->next;
	if (top == NULL && strcmp(scope, "global") == 0)
		return sched_refuse(s, "scope", name, "global buffers are declared outside of all loops and conditions");
	Buf *b = arena_copy(ir_arena(s->ir), (*link)->alloc, sizeof *b);
	if (strcmp(b->scope, scope) == 0)
		return sched_refuse_for(s, "scope", name, "it is already %s", scope);
	if (!local && launch_fold(b))
		return sched_refuse(s, "scope", name, "several of its elements lie in one place");
	b->scope = ir_name(s->ir, scope);
	ThreadAccesses all = { .arena = ir_arena(s->ir) };
	for (const Stmt *c = (*link)->next; local && c != NULL; c = c->next)
		ir_thread_accesses(s->ir, s->ks, fn, c, false, &all);
	if (producer_touches((*link)->next, name).strange)
		return sched_refuse(s, "scope", name, "a call uses it");
	if (local && b->map.n == 0 && find_digits(s->ir, &all, b, digit))
		leave_out(s->ir, b, digit);
	(*link)->alloc = b;
	return true;
}
