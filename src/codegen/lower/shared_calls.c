/*
 * Which calls stay calls. A sub Fn may stand for several pieces of code, such as the interior and the edge of a
 * convolution. If all its calls pass the same whole buffers, it knows where their elements lie as well as its
 * callers do. Then it is lowered and compiled once. Any other call is replaced by the body.
 *
 * Law: two statements or more call the sub Fn, in loops and conditions of run and prepare Fns; each buffer argument
 * is the whole of a parameter, the same in every call, and none is passed twice; the buffers' extents are constants;
 * the sub Fn does not call, share work, synchronise, or do atomic work.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

/* A sub Fn that may stay, and what its calls have in common. */
typedef struct Calls {
	Lower *l;
	const Fn *caller;
	LowerShared *to;
	const CallArg *first; /* of the first call */
	Interval *value;      /* of all calls, for each scalar of type i64 */
	int n;
	bool fits;
} Calls;

static bool has_fixed_shape(const Buf *b)
{
	bool fixed = true;
	for (int k = 0; k < b->rank; k++)
		fixed = fixed && b->shape[k]->op == IR_INT;
	return fixed;
}

static bool check_body(Stmt *s, void *arg)
{
	bool *fits = arg;
	switch (s->kind) {
	case ST_ALLOC: *fits &= has_fixed_shape(s->alloc); break;
	case ST_FOR:
		*fits &= s->loop.kind == LOOP_SERIAL || s->loop.kind == LOOP_VECTOR || s->loop.kind == LOOP_UNROLLED;
		break;
	case ST_REDUCE: *fits &= !s->reduce.atomic; break;
	case ST_CALL:
	case ST_ASYNC:
	case ST_COMMIT:
	case ST_WAIT:
	case ST_BARRIER: *fits = false; break;
	default: break;
	}
	return *fits;
}

static bool is_static(const Buf *b)
{
	bool fixed = b->type.bits >= 8 && has_fixed_shape(b);
	for (int k = 0; k < b->map.n; k++)
		fixed = fixed && b->map.extent[k]->op == IR_INT;
	return fixed;
}

static const Buf *param_named(const Fn *fn, const char *name)
{
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != NULL && fn->param[k].name == name)
			return fn->param[k].buf;
	return NULL;
}

/* The argument is all of a parameter of the caller that lies where constants say. */
static bool is_whole(const Calls *c, const CallArg *a, const Buf *param)
{
	const Buf *b = param_named(c->caller, a->buf);
	bool whole = b != NULL && is_static(b) && is_static(param) && a->n == b->rank && a->n == param->rank;
	for (int k = 0; whole && k < a->n; k++)
		whole = ir_is_const(a->idx[k], 0) && a->len[k] == b->shape[k] && param->shape[k] == b->shape[k];
	return whole;
}

static void note_call(Calls *c, const Stmt *s)
{
	const Fn *f = c->to->fn;
	const Range *env = ir_range_at(c->l->ir, c->caller, s);
	bool first = c->n++ == 0;
	c->fits = c->fits && s->call.n == f->nparam && c->caller->nsym == 0;
	if (first)
		c->first = s->call.arg;
	for (int k = 0; c->fits && k < f->nparam; k++) {
		const CallArg *a = &s->call.arg[k];
		if (f->param[k].buf == NULL) {
			if (!dtype_eq(f->param[k].type, I64))
				continue;
			Interval one = ir_interval(a->value, env), *all = &c->value[k];
			all->lo = first || one.lo < all->lo ? one.lo : all->lo;
			all->hi = first || one.hi > all->hi ? one.hi : all->hi;
			continue;
		}
		bool twice = false;
		for (int j = 0; j < k; j++)
			twice = twice || s->call.arg[j].buf == a->buf;
		c->fits = a->buf == c->first[k].buf && !twice && is_whole(c, a, f->param[k].buf);
		if (c->fits)
			c->to->map[k] = param_named(c->caller, a->buf)->map;
	}
}

/* The calls that stand in loops and conditions alone; `other`: in a vector loop, a block, an async. */
static void look(Calls *c, const Stmt *s, bool other)
{
	for (; s != NULL; s = s->next)
		switch (s->kind) {
		case ST_FOR: look(c, s->loop.body, other || s->loop.kind == LOOP_VECTOR || s->loop.kind == LOOP_BOUND); break;
		case ST_IF:
			look(c, s->branch.then, other);
			look(c, s->branch.other, other);
			break;
		case ST_BLOCK:
			look(c, s->block.init, true);
			look(c, s->block.body, true);
			break;
		case ST_ASYNC: look(c, s->async, true); break;
		case ST_CALL:
			if (!s->call.intrin && strcmp(s->call.fn, c->to->fn->name) == 0) {
				c->fits = c->fits && !other;
				note_call(c, s);
			}
			break;
		default: break;
		}
}

/* Tells the passes what all callers know of a scalar: its value, or its range as an `if` around the body. */
static void tell_range(Calls *c, const char *name, Interval v)
{
	Ir *ir = c->l->ir;
	Fn *f = c->to->fn;
	const Expr *var = ir_idx(ir, name), *known = ir_bool(ir, true);
	if (v.lo == v.hi) {
		ir_subst_stmt(ir, f->body, name, ir_int(ir, v.lo));
		return;
	}
	if (v.lo > INT64_MIN)
		known = ir_and(ir, known, ir_le(ir, ir_int(ir, v.lo), var));
	if (v.hi < INT64_MAX)
		known = ir_and(ir, known, ir_le(ir, var, ir_int(ir, v.hi)));
	if (f->body != NULL && !ir_is_const(known, 1))
		f->body = ir_if(ir, known, f->body, NULL);
}

static bool find_calls(Lower *l, Fn *fn, LowerShared *out)
{
	*out = (LowerShared){ fn, arena_array(l->arena, IndexMap, fn->nparam + 1) };
	Calls c = { .l = l, .to = out, .fits = true, .value = arena_array(l->arena, Interval, fn->nparam + 1) };
	ir_each_stmt(fn->body, check_body, &c.fits);
	for (size_t k = 0; c.fits && k < l->ks->n; k++) {
		c.caller = l->ks->fn[k];
		look(&c, c.caller->body, c.caller->kind == FN_SUB);
	}
	if (!c.fits || c.n < 2)
		return false;
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf == NULL && dtype_eq(fn->param[k].type, I64))
			tell_range(&c, fn->param[k].name, c.value[k]);
	return true;
}

void lower_find_shared(Lower *l)
{
	l->shared = arena_array(l->arena, LowerShared, l->ks->n + 1);
	for (size_t k = 0; k < l->ks->n; k++)
		if (l->ks->fn[k]->kind == FN_SUB && find_calls(l, l->ks->fn[k], &l->shared[l->nshared]))
			l->nshared++;
}

const LowerShared *lower_shared(const Lower *l, const char *fn)
{
	for (int k = 0; k < l->nshared; k++)
		if (strcmp(l->shared[k].fn->name, fn) == 0)
			return &l->shared[k];
	return NULL;
}
