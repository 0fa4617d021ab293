/*
 * Chains of ranges: what symbols, loops, lets and blocks say, and what all of them say at one
 * statement of a Fn.
 */
#include "ir/analysis/affine.h"
#include "ir/build.h"
#include "ir/query.h"

const Range *ir_range_find(const Range *env, const char *name)
{
	for (; env != NULL; env = env->outer)
		if (env->name == name)
			return env;
	return NULL;
}

const Range *ir_range_fn(Ir *ir, const Fn *fn)
{
	const Range *env = NULL;
	for (int i = 0; i < fn->nsym; i++) {
		Range *r = arena_new_of(ir_arena(ir), Range);
		*r = (Range){ .outer = env,
			.name = fn->sym[i].name,
			.lo = fn->sym[i].lo,
			.hi = fn->sym[i].hi,
			.mod = fn->sym[i].div,
			.rem = 0 };
		env = r;
	}
	return env;
}

const Range *ir_range_for(
	Ir *ir, const char *name, const Expr *lo, const Expr *hi, const Range *env)
{
	if (!dtype_is_int(lo->type) || lo->type.lanes != 1 || !dtype_eq(lo->type, hi->type))
		return env; /* not legal; the verifier says so */
	env = ir_range_if(
		ir, ir_lt(ir, lo, hi), true, env); /* where the variable exists, so it is */
	Interval a = ir_interval(lo, env), b = ir_interval(hi, env);
	Range *r = arena_new_of(ir_arena(ir), Range);
	*r = (Range){ .outer = env, .name = name, .lo = a.lo, .hi = b.hi, .mod = 1, .sym_lo = lo };
	bool saturated = hi->type.kind == DT_UINT && hi->type.bits == 64 && b.hi == INT64_MAX;
	if (b.hi != INT64_MIN && !saturated)
		r->hi--;
	if (b.lo != INT64_MIN)
		r->sym_hi = ir_sub(ir, hi, ir_const_int(ir, hi->type, 1));
	return r;
}

const Range *ir_range_let(Ir *ir, const char *name, const Expr *value, const Range *env)
{
	if (dtype_is_float(value->type) || value->type.lanes != 1)
		return env;
	Interval v = ir_interval(value, env);
	Range *r = arena_new_of(ir_arena(ir), Range);
	*r = (Range){
		.outer = env, .name = name, .lo = v.lo, .hi = v.hi, .mod = v.mod, .rem = v.rem
	};
	if (v.mod == 0) {
		r->mod = 1;
		r->rem = 0;
	}
	if (dtype_is_int(value->type))
		r->sym_lo = r->sym_hi = value;
	return r;
}

const Range *ir_range_iters(Ir *ir, const Stmt *block, const Range *env)
{
	const Range *outer = env;
	for (int i = 0; i < block->block.n; i++) {
		const Iter *it = &block->block.iter[i];
		const Range *r = ir_range_let(ir, it->name, it->value, outer);
		if (r == outer)
			continue;
		Range *own = arena_copy(ir_arena(ir), r, sizeof *r); /* values use no iterators */
		own->outer = env;
		env = own;
	}
	return env;
}

const Range *ir_range_block(Ir *ir, const Stmt *block, const Range *env)
{
	env = ir_range_iters(ir, block, env);
	for (int i = 0; i < block->block.n; i++) {
		const Iter *it = &block->block.iter[i];
		const Range *value = ir_range_find(env, it->name);
		const Range *domain = ir_range_for(ir, it->name, it->lo, it->hi, env);
		if (domain == env)
			continue;
		Range *r = arena_copy(ir_arena(ir), domain, sizeof *domain);
		if (value != NULL && value->lo <= r->hi && value->hi >= r->lo) {
			r->lo = r->lo > value->lo ? r->lo : value->lo;
			r->hi = r->hi < value->hi ? r->hi : value->hi;
			r->mod = value->mod;
			r->rem = value->rem;
		}
		env = r;
	}
	return block->block.where == NULL ? env : ir_range_if(ir, block->block.where, true, env);
}

static bool find(Ir *ir, const Stmt *list, const Stmt *target, const Range *env, const Range **out);

static bool find_below(
	Ir *ir, const Stmt *s, const Stmt *target, const Range *env, const Range **out)
{
	switch (s->kind) {
	case ST_FOR:
		return find(ir, s->loop.body, target,
			ir_range_for(ir, s->loop.var, s->loop.lo, s->loop.hi, env), out);
	case ST_BLOCK:
		env = ir_range_block(ir, s, env);
		return find(ir, s->block.init, target, env, out) ||
		       find(ir, s->block.body, target, env, out);
	case ST_IF:
		return find(ir, s->branch.then, target, ir_range_if(ir, s->branch.cond, true, env),
			       out) ||
		       find(ir, s->branch.other, target,
			       ir_range_if(ir, s->branch.cond, false, env), out);
	case ST_ASYNC: return find(ir, s->async, target, env, out);
	default: return false;
	}
}

/* Ranges cost memory that stays: they are made on the way to the target alone. */
static bool find(Ir *ir, const Stmt *list, const Stmt *target, const Range *env, const Range **out)
{
	for (const Stmt *s = list; s != NULL; s = s->next) {
		if (s == target) {
			*out = env;
			return true;
		}
		if (ir_is_below(s, target))
			return find_below(ir, s, target, env, out);
		if (s->kind == ST_LET)
			env = ir_range_let(ir, s->let.var, s->let.value, env);
	}
	return false;
}

const Range *ir_range_at(Ir *ir, const Fn *fn, const Stmt *s)
{
	const Range *env = ir_range_fn(ir, fn), *out;
	return find(ir, fn->body, s, env, &out) ? out : env;
}
