/*
 * See unify.h.  First what the lists declare gets the names of the first one, so that equal expressions are
 * equal pointers; then they are compared statement by statement, place by place, from the outside in. Where
 * integers differ that neither load nor use what is bound inside, there a scalar stands for them: the
 * largest such ones, so that there are few.
 */
#include "schedule/unify.h"

#include "schedule/nest.h"
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

static bool differ(Unify *u, const char *why, const char *what)
{
	if (u->why == NULL) {
		u->why = why;
		u->what = what;
	}
	return false;
}

bool unify_is_inside(const Unify *u, const char *name)
{
	return interned_has(u->inside.at, u->inside.n, name);
}

bool unify_is_declared(const Unify *u, const char *name)
{
	return interned_has(u->declared.at, u->declared.n, name);
}

/* ---- names ---- */

static bool note_names(Stmt *s, void *arg)
{
	Unify *u = arg;
	Arena *a = ir_arena(u->ir);
	size_t before = u->inside.n;
	if (s->kind == ST_FOR)
		vec_push(a, &u->inside, s->loop.var);
	if (s->kind == ST_LET)
		vec_push(a, &u->inside, s->let.var);
	for (int k = 0; s->kind == ST_BLOCK && k < s->block.n; k++)
		vec_push(a, &u->inside, s->block.iter[k].name);
	for (; before < u->inside.n; before++)
		vec_push(a, &u->declared, u->inside.at[before]);
	if (s->kind == ST_ALLOC)
		vec_push(a, &u->declared, s->alloc->name);
	return true;
}

typedef struct Clash {
	const Unify *u;
	VEC(const char *) own; /* what the list declares itself */
} Clash;

static bool note_own(Stmt *s, void *arg)
{
	Clash *c = arg;
	Unify own = { .ir = c->u->ir };
	note_names(s, &own);
	for (size_t k = 0; k < own.declared.n; k++)
		vec_push(ir_arena(c->u->ir), &c->own, own.declared.at[k]);
	return true;
}

static bool is_clash(const Expr *e, void *arg)
{
	const Clash *c = arg;
	return (e->op == IR_VAR || e->op == IR_LOAD) && unify_is_declared(c->u, e->name) &&
		!interned_has(c->own.at, c->own.n, e->name);
}

static void rename_in(Ir *ir, Stmt *list, const char *from, const Expr *to)
{
	if (from != to->name)
		ir_subst_stmt(ir, list, from, to);
}

static void rename_block(Ir *ir, Stmt *s, const Stmt *as)
{
	s->block.name = as->block.name;
	for (int k = 0; k < s->block.n && k < as->block.n; k++) {
		const char *from = s->block.iter[k].name;
		const Expr *to = ir_idx(ir, as->block.iter[k].name);
		if (s->block.where != NULL && from != to->name)
			s->block.where = ir_subst(ir, s->block.where, from, to);
		rename_in(ir, s->block.init, from, to);
		rename_in(ir, s->block.body, from, to);
		s->block.iter[k].name = to->name;
	}
}

/* s declares what `as` does, as far as the two are alike. */
static void rename(Ir *ir, Stmt *s, const Stmt *as)
{
	for (; s != NULL && as != NULL && s->kind == as->kind; s = s->next, as = as->next)
		switch (s->kind) {
		case ST_FOR:
			rename_in(ir, s->loop.body, s->loop.var, ir_idx(ir, as->loop.var));
			s->loop.var = as->loop.var;
			rename(ir, s->loop.body, as->loop.body);
			break;
		case ST_BLOCK:
			rename_block(ir, s, as);
			rename(ir, s->block.init, as->block.init);
			rename(ir, s->block.body, as->block.body);
			break;
		case ST_IF:
			rename(ir, s->branch.then, as->branch.then);
			rename(ir, s->branch.other, as->branch.other);
			break;
		case ST_LET:
			rename_in(ir, s->next, s->let.var, ir_var(ir, as->let.var, s->let.value->type));
			s->let.var = as->let.var;
			break;
		case ST_ALLOC:
			producer_rename(ir, s->next, s->alloc->name, as->alloc->name);
			s->alloc->name = as->alloc->name;
			break;
		default: break;
		}
}

/* Declarations alone: what uses them is not looked at. */
static bool declare_anew(Stmt *s, void *arg)
{
	Ir *ir = arg;
	if (s->kind == ST_FOR)
		s->loop.var = ir_fresh_name(ir, s->loop.var);
	if (s->kind == ST_LET)
		s->let.var = ir_fresh_name(ir, s->let.var);
	if (s->kind == ST_ALLOC)
		s->alloc->name = ir_fresh_name(ir, s->alloc->name);
	for (int k = 0; s->kind == ST_BLOCK && k < s->block.n; k++)
		s->block.iter[k].name = ir_fresh_name(ir, s->block.iter[k].name);
	return true;
}

/* ---- expressions ---- */

static bool is_inside(const Expr *e, void *u)
{
	return e->op == IR_LOAD || (e->op == IR_VAR && unify_is_inside(u, e->name));
}

/* The scalar of these values. */
static const Expr *scalar(Unify *u, const Expr *const *e)
{
	for (int j = 0; j < u->nscalar; j++)
		if (memcmp(u->value[j], e, sizeof *e * (size_t)u->n) == 0)
			return ir_idx(u->ir, u->scalar[j]);
	if (u->nscalar == UNIFY_SCALARS) {
		differ(u, "they differ in more than 64 integers: %s", u->stem);
		return e[0];
	}
	const char *name = NULL;
	size_t n = (size_t)u->nscalar;
	for (int j = 1; name == NULL || nest_has_name(u->fn, name) || interned_has(u->scalar, n, name); j++)
		name = ir_name(u->ir, arena_printf(ir_arena(u->ir), "%s.%d", u->stem, j));
	memcpy(u->value[u->nscalar], e, sizeof *e * (size_t)u->n);
	u->scalar[u->nscalar++] = name;
	return ir_idx(u->ir, name);
}

static const Expr *unify_expr(Unify *u, const Expr *const *e, const char *in)
{
	bool same = true, alike = true, outside = true;
	for (int k = 0; k < u->n; k++) {
		same = same && e[k] == e[0];
		alike = alike && e[k]->op == e[0]->op && e[k]->nargs == e[0]->nargs && dtype_eq(e[k]->type, e[0]->type) &&
			(e[0]->op != IR_LOAD || e[k]->name == e[0]->name);
		outside = outside && dtype_eq(e[k]->type, I64) && ir_find_node(e[k], is_inside, u) == NULL;
	}
	if (same)
		return e[0];
	if (outside)
		return scalar(u, e);
	if (!alike || e[0]->nargs == 0 || e[0]->type.lanes != 1) {
		differ(u, "they differ in %s", in);
		return e[0];
	}
	const Expr **with = arena_array(ir_arena(u->ir), const Expr *, e[0]->nargs), *arg[STEP_ARGS];
	for (int i = 0; i < e[0]->nargs; i++) {
		for (int k = 0; k < u->n; k++)
			arg[k] = e[k]->arg[i];
		with[i] = unify_expr(u, arg, in);
	}
	return u->why == NULL ? ir_with_args(u->ir, e[0], with) : e[0];
}

typedef struct Places {
	Arena *arena;
	VEC(const Expr **) at;
} Places;

static void note_place(const Expr **e, void *arg)
{
	Places *p = arg;
	vec_push(p->arena, &p->at, e);
}

/* The expressions that the statements themselves hold. */
static bool unify_places(Unify *u, Stmt *const *s, const char *in)
{
	Places p[STEP_ARGS];
	const Expr *e[STEP_ARGS];
	for (int k = 0; k < u->n; k++) {
		p[k] = (Places){ .arena = ir_arena(u->ir) };
		ir_each_place(s[k], note_place, &p[k]);
		if (p[k].at.n != p[0].at.n)
			return differ(u, "they differ in %s", in);
	}
	for (size_t i = 0; i < p[0].at.n && u->why == NULL; i++) {
		for (int k = 0; k < u->n; k++)
			e[k] = *p[k].at.at[i];
		*p[0].at.at[i] = unify_expr(u, e, in);
	}
	return u->why == NULL;
}

/* ---- statements ---- */

static bool same_access(const Access *a, const Access *b)
{
	return a->buf == b->buf && a->n == b->n;
}

/* But for expressions and children. */
static bool same_stmt(const Stmt *a, const Stmt *b)
{
	bool same = a->kind == b->kind;
	if (!same)
		return false;
	switch (a->kind) {
	case ST_FOR: return a->loop.kind == b->loop.kind;
	case ST_BLOCK:
		same = a->block.n == b->block.n;
		for (int k = 0; same && k < a->block.n; k++)
			same = a->block.iter[k].kind == b->block.iter[k].kind;
		return same;
	case ST_STORE: return same_access(&a->store.dst, &b->store.dst);
	case ST_PREFETCH: return same_access(&a->prefetch, &b->prefetch);
	case ST_REDUCE:
		same = a->reduce.n == b->reduce.n && strcmp(a->reduce.monoid, b->reduce.monoid) == 0;
		for (int k = 0; same && k < a->reduce.n; k++)
			same = same_access(&a->reduce.dst[k], &b->reduce.dst[k]);
		return same;
	case ST_LET: return dtype_eq(a->let.value->type, b->let.value->type);
	case ST_ALLOC: {
		const Buf *x = a->alloc, *y = b->alloc;
		same = dtype_eq(x->type, y->type) && strcmp(x->scope, y->scope) == 0 && x->rank == y->rank && x->map.n == 0 &&
			y->map.n == 0;
		for (int k = 0; same && k < x->rank; k++)
			same = x->shape[k] == y->shape[k];
		return same;
	}
	default: return true;
	}
}

/* Loops from different constants, of one extent, count from 0: where they begin is a scalar. */
static bool unify_bounds(Unify *u, Stmt *const *s)
{
	const Expr *lo[STEP_ARGS];
	const char *var = s[0]->loop.var;
	bool same = true;
	int64_t n = 0, other;
	for (int k = 0; k < u->n; k++) {
		lo[k] = s[k]->loop.lo;
		same = same && lo[k] == lo[0] && s[k]->loop.hi == s[0]->loop.hi;
	}
	if (same)
		return true;
	for (int k = 0; k < u->n; k++)
		if (!nest_extent(s[k], k == 0 ? &n : &other) || (k > 0 && other != n))
			return differ(u, "their extents of loop %s differ", var);
	const Expr *at = ir_add(u->ir, ir_idx(u->ir, var), scalar(u, lo));
	for (int k = 0; k < u->n; k++) {
		ir_subst_stmt(u->ir, s[k]->loop.body, var, at);
		s[k]->loop.lo = ir_int(u->ir, 0);
		s[k]->loop.hi = ir_int(u->ir, n);
	}
	return true;
}

static bool unify_lists(Unify *u, Stmt *const *code, const char *in)
{
	Stmt *s[STEP_ARGS];
	memcpy(s, code, sizeof *s * (size_t)u->n);
	while (s[0] != NULL) {
		Stmt *list[2][STEP_ARGS] = { { NULL } };
		const char *name = s[0]->kind == ST_FOR ? s[0]->loop.var : s[0]->kind == ST_BLOCK ? s[0]->block.name : in;
		for (int k = 1; k < u->n; k++)
			if (s[k] == NULL || !same_stmt(s[0], s[k]))
				return differ(u, "they differ in %s", name);
		if ((s[0]->kind == ST_FOR && !unify_bounds(u, s)) || !unify_places(u, s, name))
			return false;
		for (int k = 0; k < u->n; s[k] = s[k]->next, k++) {
			if (s[k]->kind == ST_FOR)
				list[0][k] = s[k]->loop.body;
			if (s[k]->kind == ST_BLOCK || s[k]->kind == ST_IF) {
				list[0][k] = s[k]->kind == ST_BLOCK ? s[k]->block.init : s[k]->branch.then;
				list[1][k] = s[k]->kind == ST_BLOCK ? s[k]->block.body : s[k]->branch.other;
			}
		}
		if (!unify_lists(u, list[0], name) || !unify_lists(u, list[1], name))
			return false;
	}
	for (int k = 1; k < u->n; k++)
		if (s[k] != NULL)
			return differ(u, "they differ in %s", in);
	return true;
}

bool unify(Unify *u, Stmt *const *code)
{
	ir_each_stmt(code[0], note_names, u);
	for (int k = 1; k < u->n; k++) {
		/* What the list uses from outside must not be called what the first one declares. */
		Clash c = { .u = u };
		ir_each_stmt(code[k], note_own, &c);
		const Expr *clash = ir_find_node_in(code[k], is_clash, &c);
		if (clash != NULL)
			return differ(u, "one of them uses %s from outside, which another one declares", clash->name);
		/* By way of new names, since the two may use the same ones for different things. */
		Stmt *between = ir_clone_stmt(u->ir, code[k]);
		ir_each_stmt(between, declare_anew, u->ir);
		rename(u->ir, code[k], between);
		rename(u->ir, code[k], code[0]);
	}
	return unify_lists(u, code, u->stem);
}
