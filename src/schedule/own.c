/* See own.h. */
#include "schedule/own.h"

#include "ir/analysis/affine.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

bool own_is(const Fn *fn, const char *buf)
{
	const Buf *b = ir_find_buf(fn, buf);
	return b != NULL && (strcmp(b->scope, "local") == 0 || strcmp(b->scope, "fragment") == 0);
}

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
static bool find_digit(Ir *ir, const ThreadAccess *x, const Expr *idx, OwnDigit *d)
{
	Affine f, threads = { 0 };
	*d = (OwnDigit){ .step = 0, .count = 1 };
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

bool own_digits(Ir *ir, const ThreadAccesses *all, const Buf *b, OwnDigit *digit)
{
	bool first = true;
	for (size_t i = 0; i < all->at.n; i++) {
		const ThreadAccess *x = &all->at.at[i];
		if (strcmp(x->buf, b->name) != 0)
			continue;
		for (int k = 0; k < b->rank; k++) {
			OwnDigit d;
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

/* The digits become indices of their own, which say exactly where two threads do not meet. */
static void add_digits(Ir *ir, ThreadAccesses *all, const Buf *b)
{
	OwnDigit digit[IR_MAX_RANK];
	if (!own_digits(ir, all, b, digit))
		return;
	for (size_t i = 0; i < all->at.n; i++) {
		ThreadAccess *x = &all->at.at[i];
		if (strcmp(x->buf, b->name) != 0)
			continue;
		const Expr **idx = arena_array(all->arena, const Expr *, 2 * b->rank);
		int n = 0;
		for (int k = 0; k < b->rank; k++)
			if (digit[k].count > 1) {
				const Expr *at = ir_div(ir, x->idx[k], ir_int(ir, digit[k].step));
				idx[n++] = ir_simplify(ir, ir_mod(ir, at, ir_int(ir, digit[k].count)), x->env);
			}
		memcpy(idx + n, x->idx, sizeof *idx * (size_t)b->rank);
		x->idx = idx;
		x->n = n + b->rank;
	}
}

typedef struct Loads {
	const char *buf;
	bool any;
} Loads;

static void meet_load(const Expr *e, void *arg)
{
	Loads *l = arg;
	l->any |= e->op == IR_LOAD && strcmp(e->name, l->buf) == 0;
}

static bool is_threads(const Stmt *s, void *arg)
{
	(void)arg;
	return ir_axis_of(s, NULL) == AXIS_BLOCK;
}

/* Every thread tests a condition around loops bound to block axes, while a statement beside them has one thread. */
static bool tests(const Stmt *s, void *buf)
{
	Loads l = { .buf = buf };
	if (s->kind != ST_IF || ir_find_below(s, is_threads, NULL) == NULL)
		return false;
	ir_each_node(s->branch.cond, meet_load, &l);
	return l.any;
}

bool own_check(Sched *s, const char *what, const Fn *fn, ThreadMemo *memo, const Stmt *alloc, int depth)
{
	const char *name = alloc->alloc->name;
	bool fragment = strcmp(alloc->alloc->scope, "fragment") == 0;
	ThreadAccesses all = { .arena = ir_arena(s->ir) };
	for (const Stmt *c = alloc->next; c != NULL; c = c->next) {
		if (tests(c, (void *)(uintptr_t)name) || ir_find_below(c, tests, (void *)(uintptr_t)name) != NULL)
			return sched_refuse(s, what, name, "it is local to a thread, but a condition of all threads reads it");
		ir_thread_accesses(s->ir, &s->facts, s->ks, fn, c, false, &all);
	}
	add_digits(s->ir, &all, alloc->alloc);
	for (size_t i = 0; i < all.at.n && fragment; i++)
		all.at.at[i].warp = false; /* the warp has it, not each of its lanes */
	for (size_t i = 0; i < all.at.n; i++)
		for (size_t k = i; k < all.at.n && strcmp(all.at.at[i].buf, name) == 0; k++)
			if (ir_threads_may_meet(memo, &all.at.at[i], &all.at.at[k], depth))
				return sched_refuse(s, what, name, fragment
						? "it is one warp's fragment, but another warp may use it: apply scope first, to shared"
						: "it is local to a thread, but another thread may use it: apply scope first, to shared");
	return true;
}

typedef struct Lanes {
	Sched *s;
	const char *what;
	const Fn *fn;
	const Stmt *lanes; /* the loop around that is bound to block.x; NULL: none */
	bool ok;
} Lanes;

static void meet_fragment(const IrUse *use, void *arg)
{
	Lanes *l = arg;
	const Buf *b = ir_find_buf(l->fn, use->buf);
	if (b != NULL && strcmp(b->scope, "fragment") == 0 && l->ok)
		l->ok = sched_refuse_for(l->s, l->what, l->lanes->loop.var,
			"it is bound to block.x, whose threads are the lanes of a warp, but a statement in it uses fragment %s",
			use->buf);
}

static void check_lanes(Lanes *l, Stmt *list)
{
	for (Stmt *s = list; s != NULL && l->ok; s = s->next) {
		Stmt **below[IR_CHILDREN], one = *s;
		int axis;
		one.next = NULL;
		if (ir_axis_of(s, &axis) == AXIS_BLOCK && axis == 0) {
			l->lanes = s;
			ir_each_use(&one, meet_fragment, l);
			continue;
		}
		for (int k = 0, n = ir_children(s, below); k < n; k++)
			check_lanes(l, *below[k]);
	}
}

static bool is_fragment(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_ALLOC && strcmp(s->alloc->scope, "fragment") == 0;
}

bool own_check_fragments(Sched *s, const char *what, const Fn *fn)
{
	Lanes l = { .s = s, .what = what, .fn = fn, .ok = true };
	if (ir_find_stmt(fn->body, is_fragment, NULL) != NULL)
		check_lanes(&l, fn->body);
	return l.ok;
}
