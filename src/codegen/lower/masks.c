/*
 * Masks that nothing needs. A tile of 16 lanes of which 8 are on (24 channels in two vectors) would blend every sum
 * with lanes that no statement uses. Where all stores to a register have one mask, they store all lanes instead.
 * Only loads from memory keep the mask, because there may be nothing behind the last element.
 *
 * Law: the mask is the same as long as the alloc lives (its variables are bound around the alloc, and it loads
 * nothing). So the lanes that it turns off are never stored, are undefined, and are not used: any value will do.
 * Evaluating them cannot fail.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

typedef struct Reg {
	const Buf *buf;
	const Expr *mask; /* of all its stores; NULL: none yet */
	bool bad;
} Reg;

typedef struct Masks {
	Lower *l;
	Map reg;                  /* by the names of allocs */
	VEC(const char *) inside; /* variables bound behind the alloc at work */
	const Range *env;
	const Expr *mask; /* of the store at work */
	bool failed;
} Masks;

/* Lane 0 of an integer expression or a mask; NULL where it is none of ramps and splats. */
static const Expr *first_lane(Ir *ir, const Expr *e, bool falling)
{
	const Expr *a, *b;
	int64_t stride;
	switch (e->op) {
	case IR_SPLAT: return e->arg[0];
	case IR_RAMP:
		/* A mask begins with the lanes that are on if only its left sides rise. */
		return !falling && ir_is_int(e->arg[1], &stride) && stride >= 0 ? e->arg[0] : NULL;
	case IR_LT:
	case IR_LE:
		a = first_lane(ir, e->arg[0], false);
		b = first_lane(ir, e->arg[1], true);
		return a == NULL || b == NULL ? NULL : ir_binary(ir, e->op, a, b);
	case IR_AND:
		a = first_lane(ir, e->arg[0], false);
		b = first_lane(ir, e->arg[1], false);
		return a == NULL || b == NULL ? NULL : ir_and(ir, a, b);
	default: return NULL;
	}
}

const Expr *lower_any_lane(Ir *ir, const Expr *mask)
{
	bool compares = mask->op == IR_LT || mask->op == IR_LE || mask->op == IR_AND;
	return compares || mask->op == IR_SPLAT ? first_lane(ir, mask, false) : NULL;
}

static Reg *reg_of(const Masks *m, const char *name)
{
	const MapEntry *e = map_find_ptr(&m->reg, name);
	return e == NULL ? NULL : e->ptr;
}

static bool add_alloc(Stmt *s, void *arg)
{
	Masks *m = arg;
	if (s->kind == ST_ALLOC) {
		Reg *r = arena_new_of(m->l->arena, Reg);
		r->buf = s->alloc;
		map_add_ptr(&m->reg, s->alloc->name)->ptr = r;
	}
	return true;
}

static bool is_whole(const Buf *b, const Expr *i)
{
	return i->op == IR_RAMP && ir_is_const(i->arg[0], 0) && ir_is_const(i->arg[1], 1) &&
	       ir_is_const(b->shape[0], i->type.lanes);
}

static void check_load(const Expr *e, void *arg)
{
	Reg *r = e->op == IR_LOAD ? reg_of(arg, e->name) : NULL;
	if (r != NULL && !is_whole(r->buf, e->arg[0]))
		r->bad = true;
}

/* A division of integers or a shift by what is no positive constant below the width of its type. */
static bool may_fail(const Expr *e)
{
	int64_t by;
	bool shifts = e->op == IR_SHL || e->op == IR_SHR;
	bool divides = e->op == IR_DIV || e->op == IR_MOD || e->op == IR_TDIV || e->op == IR_TMOD;
	if (!shifts && (!divides || dtype_is_float(e->type)))
		return false;
	return !ir_is_int(e->arg[1], &by) || by <= 0 || (shifts && by >= e->type.bits);
}

/* What may stand in lanes that are off: arithmetic that cannot fail, loads as wide as the mask. */
static void check_value(const Expr *e, void *arg)
{
	Masks *m = arg;
	if (may_fail(e) ||
		(e->op == IR_LOAD && e->type.lanes != 1 && e->type.lanes != m->mask->type.lanes))
		m->failed = true;
}

static bool check_stmt(Stmt *s, void *arg)
{
	Masks *m = arg;
	ir_each_node_of(s, check_load, m);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++) {
		Reg *r = reg_of(m, s->reduce.dst[k].buf);
		if (r != NULL)
			r->bad = true;
	}
	Reg *r = s->kind == ST_STORE ? reg_of(m, s->store.dst.buf) : NULL;
	if (r == NULL)
		return true;
	m->mask = s->store.mask;
	m->failed = m->mask == NULL || !is_whole(r->buf, s->store.dst.idx[0]) || (r->mask != NULL && r->mask != m->mask) ||
	            ir_has_load(m->mask) || lower_any_lane(m->l->ir, m->mask) == NULL;
	if (!m->failed)
		ir_each_node(s->store.value, check_value, m);
	r->bad = r->bad || m->failed;
	r->mask = m->mask;
	return true;
}

static bool add_bound(Stmt *s, void *arg)
{
	Masks *m = arg;
	if (s->kind == ST_FOR)
		vec_push(m->l->arena, &m->inside, s->loop.var);
	if (s->kind == ST_LET)
		vec_push(m->l->arena, &m->inside, s->let.var);
	return true;
}

/* The mask's variables are bound around the alloc. */
static bool check_scope(Stmt *s, void *arg)
{
	Masks *m = arg;
	Reg *r = s->kind == ST_ALLOC ? reg_of(m, s->alloc->name) : NULL;
	if (r == NULL || r->bad || r->mask == NULL)
		return true;
	m->inside.n = 0;
	ir_each_stmt(s->next, add_bound, m);
	for (size_t k = 0; k < m->inside.n && !r->bad; k++)
		r->bad = ir_uses_var(r->mask, m->inside.at[k]);
	return true;
}

static const Expr *guard_load(Ir *ir, const Expr *e, void *arg)
{
	const Masks *m = arg;
	if (e->op != IR_LOAD || reg_of(m, e->name) != NULL)
		return e;
	const Expr *on = m->mask;
	if (e->type.lanes == 1) {
		on = lower_any_lane(ir, m->mask);
		if (ir_always(on, m->env))
			return e;
	}
	return ir_select(ir, on, e, ir_const(ir, e->type, 0));
}

static void walk(Masks *m, Stmt *s, const Range *env)
{
	for (; s != NULL; s = s->next) {
		Reg *r = s->kind == ST_STORE ? reg_of(m, s->store.dst.buf) : NULL;
		if (s->kind == ST_FOR) {
			walk(m, s->loop.body, lower_range(m->l, s, false, env));
		} else if (s->kind == ST_IF) {
			walk(m, s->branch.then, lower_range(m->l, s, false, env));
			walk(m, s->branch.other, lower_range(m->l, s, true, env));
		} else if (s->kind == ST_LET) {
			env = lower_range(m->l, s, false, env);
		} else if (r != NULL && !r->bad && r->mask != NULL) {
			m->mask = r->mask;
			m->env = env;
			s->store.value = ir_map_expr(m->l->ir, s->store.value, guard_load, m);
			s->store.mask = NULL;
		}
	}
}

bool pass_masks(Lower *l)
{
	Masks m = { .l = l, .reg = MAP_OF(l->arena) };
	ir_each_stmt(l->fn->body, add_alloc, &m);
	if (m.reg.index.n == 0)
		return true;
	ir_each_stmt(l->fn->body, check_stmt, &m);
	ir_each_stmt(l->fn->body, check_scope, &m);
	walk(&m, l->fn->body, ir_range_fn(l->ir, l->fn));
	return true;
}
