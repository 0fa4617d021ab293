/*
 * The driver of simplification: bottom-up, each node's rules (simplify_rules.def) until none
 * applies, with a memo of what is simplified already under the same facts. Besides the rules, for
 * every node: constants fold, what has one possible value is that value, an operation on splats is
 * a splat, and the arms of a select are simplified under what its choice says.
 */
#include "ir/simplify/simplify_rules.h"
#include "ir/build.h"

#include <string.h>

typedef const Expr *(*RuleFn)(Simp *s, const Expr *e);

/* Two arrays, so that the rules of a node are found among bytes. */
static const uint8_t rule_node[] = {
#define RULE(node, name, law, vars, before, after) IR_##node,
#include "ir/simplify/simplify_rules.def"
#undef RULE
};

static const RuleFn rule_fn[] = {
#define RULE(node, name, law, vars, before, after) rule_##name,
#include "ir/simplify/simplify_rules.def"
#undef RULE
};

static const IrRewrite rows[] = {
#define RULE(node, name, law, vars, before, after) { #name, law, vars, before, after },
#include "ir/simplify/simplify_rules.def"
#undef RULE
	{ 0 },
};

enum { FUEL = 2000, MOST_ARGS = 32 };

/* An integer or bool that can only have one value. */
static const Expr *only_value(Simp *s, const Expr *e)
{
	if (dtype_is_float(e->type) || (e->op == IR_SPLAT ? e->arg[0] : e)->op == IR_INT)
		return NULL;
	Interval v = ir_interval_cached(e, s->env, s->cache);
	return v.mod == 0 ? ir_const_int(s->ir, e->type, v.rem) : NULL;
}

/* A condition that is a fact of the chain as it stands. */
static const Expr *known_fact(Simp *s, const Expr *e)
{
	if (e->type.kind != DT_BOOL || e->type.lanes != 1)
		return NULL;
	for (const Range *r = s->env; r != NULL; r = r->outer)
		if (r->cond == e)
			return ir_bool(s->ir, r->holds);
	return NULL;
}

/* Nodes that nothing is folded of. */
static bool is_plain(Node op)
{
	return op == IR_LOAD || op == IR_RAMP || op == IR_BITCAST || op == IR_DOT4 || op == IR_MMA || op == IR_LDMATRIX ||
	       op == IR_LDMATRIX_T;
}

/* The node of new arguments, by the constructor that folds. */
static const Expr *rebuild(Ir *ir, const Expr *e, const Expr *const *arg)
{
	switch (e->op) {
	case IR_SELECT: return ir_select(ir, arg[0], arg[1], arg[2]);
	case IR_CAST: return ir_cast(ir, e->type, arg[0]);
	case IR_SPLAT: return ir_splat(ir, arg[0], e->type.lanes);
	case IR_LANE: return ir_lane(ir, arg[0], (int)e->arg[1]->i);
	case IR_FMA: return ir_fma(ir, arg[0], arg[1], arg[2]);
	default:
		if (is_plain(e->op))
			return ir_with_args(ir, e, arg);
		return e->nargs == 1 ? ir_unary(ir, e->op, arg[0])
		                     : ir_binary(ir, e->op, arg[0], arg[1]);
	}
}

/* The same where the arguments are e's own: that node is there already. */
static const Expr *rebuild_same(Ir *ir, const Expr *e)
{
	switch (e->op) {
	case IR_SELECT:
	case IR_CAST:
	case IR_LANE:
	case IR_FMA: return rebuild(ir, e, e->arg);
	default: break;
	}
	if (e->op == IR_SPLAT || is_plain(e->op))
		return e;
	const Expr *c = e->nargs == 1 ? ir_fold(ir, e->op, e->type, e->arg, 1)
	                              : ir_fold_binary(ir, e->op, e->arg[0], e->arg[1]);
	return c != NULL ? c : e;
}

/* f(splat a, splat b) = splat f(a, b), lane by lane. */
static const Expr *splat_of(Ir *ir, const Expr *e)
{
	const Expr *arg[3] = { NULL };
	if (e->type.lanes == 1 || e->nargs == 0 || e->nargs > 3 || e->op == IR_SPLAT || is_plain(e->op))
		return NULL;
	for (int i = 0; i < e->nargs; i++) {
		bool scalar = e->arg[i]->type.lanes == 1;
		if (!scalar && e->arg[i]->op != IR_SPLAT)
			return NULL;
		arg[i] = scalar ? e->arg[i] : e->arg[i]->arg[0];
	}
	if (e->op == IR_CAST)
		return ir_splat(ir, ir_cast(ir, dtype_scalar(e->type), arg[0]), e->type.lanes);
	return ir_splat(ir, rebuild(ir, e, arg), e->type.lanes);
}

static const Expr *apply(Simp *s, const Expr *e)
{
	const Expr *r = only_value(s, e);
	if (r == NULL)
		r = known_fact(s, e);
	if (r == NULL)
		r = splat_of(s->ir, e);
	const uint8_t *end = rule_node + sizeof rule_node, *at = rule_node;
	for (; r == NULL && (at = memchr(at, (int)e->op, (size_t)(end - at))) != NULL; at++) {
		r = rule_fn[at - rule_node](s, e);
		r = r == e ? NULL : r;
	}
	return r;
}

/*
 * The arguments of a whole tree of and (or) at once: its inner nodes are not visited on their own.
 * NULL if it is none, or is too large.
 */
static const Expr *simplify_logic_tree(Simp *s, const Expr *e)
{
	const Expr *x[SIMPLIFY_CHAIN], *flat[SIMPLIFY_CHAIN];
	int n = 0, m = 0;
	bool fits = true;
	if ((e->op != IR_AND && e->op != IR_OR) || e->type.kind != DT_BOOL ||
		!simplify_chain(e, e->op, x, &n))
		return NULL;
	for (int i = 0; i < n; i++) {
		x[i] = simplify_expr(s, x[i]);
		fits = fits && simplify_chain(x[i], e->op, flat, &m);
	}
	return simplify_chain_build(s->ir, e->op, fits ? flat : x, fits ? m : n);
}

/* Under another chain. */
static const Expr *simplify_under(Simp *s, const Expr *e, const Range *env)
{
	if (env == s->env)
		return simplify_expr(s, e);
	Simp in = *s;
	in.env = env;
	in.memo = ir_memo_begin(s->ir);
	const Expr *r = simplify_expr(&in, e);
	ir_memo_end(s->ir, in.memo);
	s->fuel = in.fuel;
	return r;
}

static const Expr *simplify_args(Simp *s, const Expr *e)
{
	const Expr *small[MOST_ARGS] = { NULL };
	const Expr **arg = e->nargs <= MOST_ARGS
	                           ? small
	                           : arena_array(ir_arena(s->ir), const Expr *, e->nargs);
	int first = 0;
	bool same = true;
	const Expr *tree = simplify_logic_tree(s, e);
	if (tree != NULL)
		return tree;
	if (e->op == IR_SELECT) {
		arg[0] = simplify_expr(s, e->arg[0]);
		for (int i = 0; i < 2; i++) {
			const Range *env = ir_range_if(s->ir, arg[0], i == 0, s->env);
			arg[1 + i] = simplify_under(s, e->arg[1 + i], env);
		}
		first = 3;
	}
	for (int i = first; i < e->nargs; i++) {
		arg[i] = simplify_expr(s, e->arg[i]);
		same = same && arg[i] == e->arg[i];
	}
	return first == 0 && same ? rebuild_same(s->ir, e) : rebuild(s->ir, e, arg);
}

const Expr *simplify_expr(Simp *s, const Expr *e)
{
	if (e->op == IR_INT || e->op == IR_FLOAT)
		return e;
	const Expr *r = *ir_memo_at(s->memo, e);
	if (r != NULL)
		return r;
	r = e->nargs == 0 ? e : simplify_args(s, e);
	if (r != e && s->fuel > 0 && r->op != e->op) {
		/* another node: its arguments are simplified, its own rules come first */
		s->fuel--;
		r = simplify_expr(s, r);
	} else if (s->fuel > 0) {
		const Expr *better = apply(s, r);
		if (better != NULL) {
			s->fuel--;
			r = simplify_expr(s, better);
		}
	}
	*ir_memo_at(s->memo, e) = r;
	if (r != e)
		*ir_memo_at(s->memo, r) = r;
	return r;
}

const Expr *simplify_whole(Simp *s, const Expr *e)
{
	s->fuel = FUEL;
	if (e->depth > IR_DEEPEST)
		return e;
	const Expr *r = simplify_expr(s, e);
	return r->depth > IR_MAX_DEPTH && r->depth > e->depth ? e : r; /* long sums are deep ones */
}

const Expr *ir_simplify(Ir *ir, const Expr *e, const Range *env)
{
	IntervalCache cache;
	if (e->op == IR_INT || e->op == IR_FLOAT)
		return e;
	memset(cache.e, 0, sizeof cache.e);
	Simp s = { ir, env, ir_memo_begin(ir), &cache, FUEL };
	e = simplify_whole(&s, e);
	ir_memo_end(ir, s.memo);
	return e;
}

const IrRewrite *ir_simplify_rules(void)
{
	return rows;
}
