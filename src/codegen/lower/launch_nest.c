/*
 * A kernel as one launch: around its thread form (ir/threads/form.h), the loops of the grid as one nest, then the
 * allocs that a block shares, then the threads of the block. What stood between loops of the grid is done by every
 * thread. The extents of both nests become the launch: products of symbols, or the most there can be. Where the loop
 * needs less than the launch has, a condition around all that a block does turns the other blocks off.
 *
 * Refused is what one launch cannot do: statements beside a loop of the grid, such a loop in a serial one, a number of
 * threads that is no such product, and barriers of a warp or the grid.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/threads/form.h"

#include <string.h>

typedef struct Nest {
	Lower *l;
	LowerKernel *k;
	const Range *env;
	const char *var[THREAD_AXES];  /* of the grid; NULL: no loop is bound to the axis */
	const Expr *most[THREAD_AXES]; /* the nest's extent */
	Stmt *shared, *threads;        /* the allocs and the nest of the block; threads: NULL where it has one thread */
	Stmt **inside;                 /* where the nest keeps what a thread does */
} Nest;

static bool has_bound(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR && s->loop.kind == LOOP_BOUND;
}

static bool has_grid(Stmt *s)
{
	Stmt one = *s;
	one.next = NULL;
	return ir_has_axis(&one, AXIS_GRID);
}

/* ---- extents ---- */

static int symbol(const Lower *l, const Expr *e)
{
	for (int k = 0; e->op == IR_VAR && k < l->fn->nsym; k++)
		if (l->fn->sym[k].name == e->name)
			return k;
	return -1;
}

/* *sum += times * e, as one product of at most two symbols and a constant. */
static bool add_dim(const Lower *l, const Expr *e, int64_t times, DlcDim *sum)
{
	int64_t c;
	switch (e->op) {
	case IR_INT: sum->add += times * e->i; return true;
	case IR_ADD: return add_dim(l, e->arg[0], times, sum) && add_dim(l, e->arg[1], times, sum);
	case IR_SUB: return add_dim(l, e->arg[0], times, sum) && add_dim(l, e->arg[1], -times, sum);
	case IR_MUL:
		if (ir_is_int(e->arg[1], &c))
			return add_dim(l, e->arg[0], times * c, sum);
		if (ir_is_int(e->arg[0], &c))
			return add_dim(l, e->arg[1], times * c, sum);
		if (sum->mul != 0 || symbol(l, e->arg[0]) < 0 || symbol(l, e->arg[1]) < 0)
			return false;
		sum->sym[0] = symbol(l, e->arg[0]);
		sum->sym[1] = symbol(l, e->arg[1]);
		sum->mul = times;
		return true;
	case IR_VAR:
		if (sum->mul != 0 || symbol(l, e) < 0)
			return false;
		sum->sym[0] = symbol(l, e);
		sum->mul = times;
		return true;
	default: return false;
	}
}

/* An extent of at least 1 as a launch has it. */
static bool as_dim(const Nest *p, const Expr *e, DlcDim *out)
{
	DlcDim d = { { -1, -1 }, 0, 0, 1 };
	if (ir_interval(e, p->env).lo < 1)
		return false;
	if (e->op == IR_DIV && ir_is_int(e->arg[1], &d.div) && d.div > 0)
		e = e->arg[0];
	else
		d.div = 1;
	bool ok = add_dim(p->l, e, 1, &d) && d.mul >= 0;
	*out = d;
	return ok;
}

/* ---- the block ---- */

/* The nest of the block's threads, outermost first, and where it keeps what they do. */
static bool enter_threads(Nest *p, Stmt *nest)
{
	int k;
	p->threads = nest;
	for (Stmt *s = nest; s != NULL && ir_axis_of(s, &k) == AXIS_BLOCK; s = s->loop.body) {
		const Expr *n = ir_simplify(p->l->ir, ir_sub(p->l->ir, s->loop.hi, s->loop.lo), p->env);
		DlcDim *dim = &p->k->launch.dim[DLC_BLOCK + k];
		if (!as_dim(p, n, dim))
			return lower_refuse(p->l, s, "the threads along %s are no product of symbols, at least 1: bind loops of "
				"constant extents", s->loop.axis);
		s->loop.hi = n;
		p->inside = &s->loop.body;
		if (s->loop.body == NULL || s->loop.body->next != NULL)
			break;
	}
	return true;
}

static bool alone(Lower *l, Stmt *s, Stmt **out)
{
	*out = s->kind == ST_BARRIER ? NULL : s;
	if (s->kind == ST_ALLOC && strcmp(s->alloc->scope, "shared") == 0)
		s->alloc->scope = ir_name(l->ir, "local");
	return true;
}

/* All that a block does: its shared allocs and its threads, or statements of one thread. */
static bool take_block(Nest *p, Stmt *list, Stmt **out)
{
	if (!ir_has_axis(list, AXIS_BLOCK)) {
		*out = list;
		return lower_rewrite(p->l, out, alone);
	}
	Stmt **link = &list;
	while (*link != NULL && ir_axis_of(*link, NULL) != AXIS_BLOCK)
		link = &(*link)->next;
	if (*link == NULL || (*link)->next != NULL)
		return lower_refuse(p->l, list, "the kernel has two blocks side by side: end the statement between them");
	Stmt *nest = *link;
	*link = NULL;
	p->shared = list;
	if (!enter_threads(p, nest))
		return false;
	*out = *p->inside;
	return true;
}

/* ---- the grid ---- */

static bool take_list(Nest *p, Stmt *list, Stmt **out);

static bool take_loop(Nest *p, Stmt *s, int k, Stmt **out)
{
	Ir *ir = p->l->ir;
	DlcDim *dim = &p->k->launch.dim[DLC_GRID + k];
	const Expr *n = ir_simplify(ir, ir_sub(ir, s->loop.hi, s->loop.lo), p->env), *most = n;
	Stmt *body = s->loop.body, *inner;
	if (ir_has_load(n) || ir_has_load(s->loop.lo))
		return lower_refuse(p->l, s, "the ends of loop %s are loaded: a launch has none such", s->loop.var);
	Interval blocks = ir_interval(n, p->env);
	int64_t hi = blocks.hi, limit = ir_axis_most(AXIS_GRID, k);
	bool product = as_dim(p, n, dim);
	if ((product ? blocks.lo : hi) > limit) /* a device looks at a product when it starts the kernel */
		return lower_refuse(p->l, s, "loop %s is bound to %s and has no known end below %lld", s->loop.var,
			s->loop.axis, (long long)limit + 1);
	if (!product) {
		most = ir_int(ir, hi > 1 ? hi : 1);
		as_dim(p, most, dim);
	}
	p->var[k] = ir_fresh_name(ir, s->loop.axis);
	p->most[k] = most;
	const Expr *v = ir_idx(ir, p->var[k]);
	ir_subst_stmt(ir, body, s->loop.var, ir_add(ir, s->loop.lo, v));
	const Range *outer = p->env;
	p->env = ir_range_for(ir, p->var[k], ir_int(ir, 0), most, outer);
	bool ok = take_list(p, body, &inner);
	p->env = outer;
	*out = most != n ? ir_if(ir, ir_lt(ir, v, n), inner, NULL) : inner;
	return ok;
}

/* A list on the way to the block: lets, and one statement that holds all of the grid below it. */
static bool take_list(Nest *p, Stmt *list, Stmt **out)
{
	const Range *outer = p->env;
	Stmt *before = NULL, *s = list, *inner = NULL;
	int k;
	if (!ir_has_axis(list, AXIS_GRID))
		return take_block(p, list, out);
	for (Stmt *next; s->kind == ST_LET; s = next) {
		next = s->next;
		s->next = NULL;
		before = ir_seq(before, s);
		p->env = lower_range(p->l, s, false, p->env);
	}
	if (s->next != NULL || !has_grid(s))
		return lower_refuse(p->l, s, "a statement stands beside a loop of the grid: begin another one at the top");
	if (ir_axis_of(s, &k) == AXIS_GRID) {
		if (!take_loop(p, s, k, &inner))
			return false;
	} else if (s->kind == ST_IF && s->branch.other == NULL) {
		p->env = lower_range(p->l, s, false, p->env);
		if (!take_list(p, s->branch.then, &inner))
			return false;
		inner = ir_if(p->l->ir, s->branch.cond, inner, NULL);
	} else {
		return lower_refuse(p->l, s, "a loop of the grid stands in a loop or an `else`: put it around these");
	}
	p->env = outer;
	*out = ir_seq(before, inner);
	return true;
}

static bool is_foreign(const Stmt *s, void *arg)
{
	(void)arg;
	return (s->kind == ST_BARRIER && strcmp(s->barrier, "block") != 0) ||
	       (has_bound(s, NULL) && ir_axis_of(s, NULL) == AXIS_WARP);
}

bool pass_launch_nest(Lower *l)
{
	Nest p = { .l = l, .env = ir_range_fn(l->ir, l->fn) };
	for (size_t k = 0; k < l->kernel.n; k++)
		if (l->kernel.at[k].fn == l->fn)
			p.k = &l->kernel.at[k];
	if (p.k == NULL) /* a sub Fn: its callers share its work */
		return true;
	if (ir_find_stmt(l->fn->body, has_bound, NULL) == NULL)
		return lower_rewrite(l, &l->fn->body, alone);
	const Stmt *foreign = ir_find_stmt(l->fn->body, is_foreign, NULL);
	if (foreign != NULL)
		return lower_refuse(l, foreign, "this device has no loops and barriers of a %s in a kernel",
			foreign->kind == ST_BARRIER ? foreign->barrier : "warp");
	const Fn *form = ir_thread_form(l->ir, l->fn, l->err);
	if (form == NULL)
		return false;
	Stmt *body, *nest;
	if (!take_list(&p, form->body, &body))
		return false;
	nest = body;
	if (p.threads != NULL) {
		*p.inside = body;
		nest = ir_seq(p.shared, p.threads);
	}
	for (int k = 0; k < THREAD_AXES; k++) { /* x innermost */
		if (p.var[k] == NULL)
			continue;
		nest = ir_for(l->ir, p.var[k], ir_int(l->ir, 0), p.most[k], LOOP_BOUND, nest);
		nest->loop.axis = ir_name(l->ir, (const char *[]){ "grid.x", "grid.y", "grid.z" }[k]);
	}
	l->fn->body = nest;
	return true;
}
