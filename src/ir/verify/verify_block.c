/*
 * Blocks: which loops their iterators are bound to and what their init writes, so that a reduction
 * or a scan means one thing in every order that the loops allow.
 */
#include "ir/verify/verifier.h"
#include "ir/query.h"

#include <string.h>

static bool has_no_order(const Stmt *loop)
{
	return loop->loop.kind == LOOP_PARALLEL || loop->loop.kind == LOOP_VECTOR ||
	       loop->loop.kind == LOOP_BOUND;
}

/* How e moves with loop variable `name`: not at all, never down, or unknown. Of two, the greater holds for a sum. */
typedef enum { STILL, RISING, UNKNOWN } Slope;

static Slope slope_of(const Expr *e, const char *name)
{
	if (!ir_uses_var(e, name))
		return STILL;
	if (e->nargs != 2)
		return e->op == IR_VAR ? RISING : UNKNOWN;
	const Expr *a = e->arg[0], *b = e->arg[1];
	Slope x, y;
	switch (e->op) {
	case IR_ADD:
	case IR_MIN:
	case IR_MAX:
		x = slope_of(a, name);
		y = slope_of(b, name);
		return x > y ? x : y;
	case IR_SUB: return ir_uses_var(b, name) ? UNKNOWN : slope_of(a, name);
	case IR_MUL:
		if (a->op == IR_INT && a->i > 0)
			return slope_of(b, name);
		return b->op == IR_INT && b->i > 0 ? slope_of(a, name) : UNKNOWN;
	case IR_DIV: return b->op == IR_INT && b->i > 0 ? slope_of(a, name) : UNKNOWN;
	default: return UNKNOWN;
	}
}

/* The factor of the loop variable in a sum with constant factors; false if e is none. */
static bool factor_of(const Expr *e, const char *name, int64_t *k)
{
	int64_t second;
	*k = 0;
	if (!ir_uses_var(e, name))
		return true;
	if (e->op == IR_VAR) {
		*k = 1;
		return true;
	}
	if (e->op == IR_ADD)
		return factor_of(e->arg[0], name, k) && factor_of(e->arg[1], name, &second) &&
		       !__builtin_add_overflow(*k, second, k);
	if (e->op == IR_SUB)
		return factor_of(e->arg[0], name, k) && !ir_uses_var(e->arg[1], name);
	if (e->op != IR_MUL)
		return false;
	bool left = e->arg[0]->op == IR_INT;
	const Expr *c = e->arg[left ? 0 : 1], *x = e->arg[left ? 1 : 0];
	return c->op == IR_INT && factor_of(x, name, k) && !__builtin_mul_overflow(c->i, *k, k);
}

/*
 * A value over several loops rises if each one's step is at least what the loops inside of it
 * sweep; of a single loop no step need be known. From the innermost loop out; *sweep grows.
 */
static bool rises_over(Verifier *v, const Expr *value, const Stmt *loop, int64_t *sweep, bool inner)
{
	int64_t step, n, span;
	bool known = factor_of(value, loop->loop.var, &step);
	Interval lo = ir_interval(loop->loop.lo, v->env), hi = ir_interval(loop->loop.hi, v->env);
	if (inner && (!known || step < *sweep))
		return false;
	if (!known || __builtin_sub_overflow(hi.hi, lo.lo, &n) || n < INT64_MIN + 1 ||
		__builtin_mul_overflow(n - 1, step, &span) ||
		__builtin_add_overflow(*sweep, span > 0 ? span : 0, sweep))
		*sweep = INT64_MAX;
	return true;
}

static bool is_let(const Expr *e, void *scope)
{
	const Decl *d = e->op == IR_VAR ? scope_find(scope, e->name) : NULL;
	return d != NULL && d->kind == DECL_LET;
}

static bool verify_scan(Verifier *v, const Iter *it)
{
	int64_t sweep = 0;
	bool inner = false;
	const Expr *let = ir_find_node(it->value, is_let, &v->scope);
	if (let != NULL)
		return broke(v, RULE_SCAN, "%s is bound to let %s: name the loops", it->name, let->name);
	for (const InLoop *in = v->in_loop; in != NULL; in = in->outer) {
		const char *name = in->decl->name;
		if (!ir_uses_var(it->value, name))
			continue;
		if (has_no_order(in->loop))
			return broke(v, RULE_SCAN, "%s is bound to loop %s, which has no order",
				it->name, name);
		if (slope_of(it->value, name) != RISING ||
			!rises_over(v, it->value, in->loop, &sweep, inner))
			return broke(
				v, RULE_SCAN, "%s does not increase with loop %s", it->name, name);
		inner = true;
	}
	return true;
}

static void find_unordered(const Expr *e, void *arg)
{
	Verifier *v = arg;
	const Decl *d = e->op == IR_VAR ? scope_find(&v->scope, e->name) : NULL;
	if (d != NULL && d->kind == DECL_LOOP && has_no_order(d->stmt) &&
		(v->unordered == NULL || d->depth > v->unordered->depth))
		v->unordered = d;
}

static bool verify_iter(Verifier *v, const Iter *it)
{
	if (!verify_expr(v, it->lo) || !verify_expr(v, it->hi) || !verify_expr(v, it->value))
		return false;
	if (!verify_is_index(it->lo) || !verify_is_index(it->hi) || !verify_is_index(it->value))
		return broke(v, RULE_ITERATOR, "an end or the value of %s is not an i64 scalar", it->name);
	if (it->kind == ITER_REDUCE)
		ir_each_node(it->value, find_unordered, v);
	if (v->certain) { /* the block runs whenever the Fn does: its iterators have values of their ranges */
		Interval value = ir_interval(it->value, v->env);
		if (value.hi < ir_interval(it->lo, v->env).lo || value.lo >= ir_interval(it->hi, v->env).hi)
			return broke(v, RULE_BOUNDS, "the value of %s is never in its range", it->name);
	}
	return it->kind != ITER_SCAN || verify_scan(v, it);
}

typedef struct InitCheck {
	Verifier *v;
	const Stmt *block;
	bool ok;
} InitCheck;

static bool is_reduce_iter(const Expr *e, void *arg)
{
	const InitCheck *c = arg;
	const Decl *d = e->op == IR_VAR ? scope_find(&c->v->scope, e->name) : NULL;
	return d != NULL && d->kind == DECL_ITER && d->stmt == c->block && d->iter->kind == ITER_REDUCE;
}

static bool check_init(Stmt *s, void *arg)
{
	InitCheck *c = arg;
	if (!c->ok)
		return false;
	c->v->line = s->line;
	if (s->kind != ST_STORE && s->kind != ST_FOR && s->kind != ST_IF && s->kind != ST_LET)
		c->ok = broke(c->v, RULE_INIT, "the init of block %s holds another statement", c->block->block.name);
	const Expr *iter = c->ok ? ir_find_node_of(s, is_reduce_iter, c) : NULL;
	if (iter != NULL)
		c->ok = broke(c->v, RULE_INIT, "the init of block %s uses %s", c->block->block.name, iter->name);
	return c->ok;
}

static bool verify_block_inside(Verifier *v, const Stmt *s)
{
	const Range *env = v->env;
	bool certain = s->block.where == NULL;
	for (int i = 0; i < s->block.n; i++) {
		const Iter *it = &s->block.iter[i];
		Decl *d;
		certain = certain && ir_interval(it->lo, v->env).hi < ir_interval(it->hi, v->env).lo; /* it has a value */
		if (!verify_declare(v, DECL_ITER, it->name, I64, &d))
			return false;
		d->iter = it;
		d->stmt = s;
		env = ir_range_for(v->ir, it->name, it->lo, it->hi, env);
	}
	if (s->block.where != NULL && !verify_condition(v, s->block.where))
		return false;
	const Range *outer = v->env;
	v->env = env;
	bool ok = true, reduces = false;
	for (int i = 0; i < s->block.n; i++)
		reduces = reduces || s->block.iter[i].kind == ITER_REDUCE;
	if (s->block.init != NULL && !reduces) {
		ok = broke(v, RULE_INIT, "block %s has no reduce iterator", s->block.name);
	} else if (s->block.init != NULL) {
		InitCheck c = { .v = v, .block = s, .ok = true };
		ir_each_stmt(s->block.init, check_init, &c);
		ok = c.ok && verify_body(v, s->block.init, v->env, false);
	}
	ok = ok && verify_body(v, s->block.body, env, certain);
	v->env = outer;
	return ok;
}

bool verify_block(Verifier *v, const Stmt *s)
{
	const Decl *unordered = v->unordered;
	if (scope_find(&v->blocks, s->block.name) != NULL)
		return broke(v, RULE_BLOCK_UNIQUE, "two blocks have the name %s", s->block.name);
	scope_add(&v->blocks, DECL_LOOP, s->block.name, I64);
	bool was = v->certain;
	v->certain = was && s->block.where == NULL;
	for (int i = 0; i < s->block.n; i++)
		if (!verify_iter(v, &s->block.iter[i]))
			return false;
	v->certain = was;
	Decl *mark = scope_enter(&v->scope);
	bool ok = verify_block_inside(v, s);
	scope_leave(&v->scope, mark);
	v->unordered = unordered;
	return ok;
}
