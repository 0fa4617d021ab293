/*
 * The verifier's front: the table of rules, what a set of Fns must agree on, and the monoids. The
 * signature and the expressions of a Fn are verify_fn.c's, its statements verify_stmt.c's.
 */
#include "ir/verify/verify.h"
#include "ir/node.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"

#include <stdio.h>
#include <string.h>

enum { CALL_DEPTH = 64 };

#define NOT16 "!!!!!!!!!!!!!!!!"
#define NOT64 NOT16 NOT16 NOT16 NOT16
#define NOT256 NOT64 NOT64 NOT64 NOT64

static const IrRule rules[] = {
#define RULE(id, name, demands, broken) { name, demands, broken },
#include "ir/verify/rules.def"
#undef RULE
	{ NULL, NULL, NULL },
};

const IrRule *ir_verify_rules(void)
{
	return rules;
}

bool broke(const Verifier *v, Rule rule, const char *fmt, ...)
{
	char text[400], place[160];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	const char *where = v->fn != NULL ? v->fn->name : "set";
	if (v->line > 0)
		snprintf(place, sizeof place, "%.120s:%d", where, v->line);
	else
		snprintf(place, sizeof place, "%.120s", where);
	return fail(v->err, ERR_INPUT, place, "%s: %s; %s", rules[rule].name, text,
		rules[rule].demands);
}

static bool verify_names_of_set(Verifier *v)
{
	const KernelSet *ks = v->ks;
	Scope seen;
	scope_init(&seen, v->arena);
	for (size_t i = 0; i < ks->n; i++)
		if (scope_find(&v->fns, ks->fn[i]->name)->fn != ks->fn[i])
			return broke(v, RULE_FN_UNIQUE, "two Fns have the name %s", ks->fn[i]->name);
	for (size_t i = 0; i < ks->nmonoid; i++) {
		const char *name = ks->monoid[i]->name;
		if (ir_is_builtin_monoid(name) || scope_find(&seen, name) != NULL)
			return broke(v, RULE_MONOID_UNIQUE, "monoid %s is already defined", name);
		scope_add(&seen, DECL_OPERAND, name, I64);
	}
	return true;
}

/* A name that is none of the operands (a Scope), or has another type than its operand. */
static bool is_foreign(const Expr *e, void *operands)
{
	const Decl *d = e->op == IR_VAR ? scope_find(operands, e->name) : NULL;
	return e->op == IR_LOAD || (e->op == IR_VAR && (d == NULL || !dtype_eq(d->type, e->type)));
}

static bool verify_operands(Verifier *v, const Monoid *m, Scope *operands)
{
	for (int i = 0; i < 2 * m->n; i++) {
		const char *name = i < m->n ? m->left[i] : m->right[i - m->n];
		if (scope_find(operands, name) != NULL)
			return broke(
				v, RULE_MONOID_CLOSED, "%s has two operands %s", m->name, name);
		if (m->type[i % m->n].lanes != 1)
			return broke(v, RULE_MONOID_TYPES, "operand %s of %s is a vector", name,
				m->name);
		scope_add(operands, DECL_OPERAND, name, m->type[i % m->n]);
	}
	return true;
}

static bool verify_monoid(Verifier *v, const Monoid *m)
{
	Scope none, operands;
	const char *why;
	scope_init(&none, v->arena);
	scope_init(&operands, v->arena);
	if (!verify_operands(v, m, &operands))
		return false;
	for (int i = 0; i < 2 * m->n; i++) {
		bool identity = i < m->n;
		const Expr *e = identity ? m->identity[i] : m->combine[i - m->n];
		Scope *known = identity ? &none : &operands;
		if (e->depth > IR_MAX_DEPTH)
			return broke(v, RULE_DEPTH, "%s is too deep", m->name);
		const Expr *foreign = ir_find_node(e, is_foreign, known);
		if (foreign != NULL && (foreign->op == IR_LOAD || scope_find(known, foreign->name) == NULL))
			return broke(v, RULE_MONOID_CLOSED, "%s uses %s, which is not an operand", m->name, foreign->name);
		if (foreign != NULL)
			return broke(v, RULE_MONOID_TYPES, "%s has another type in %s", foreign->name, m->name);
		const Expr *at = ir_find_type_error(e, &why);
		if (at != NULL)
			return broke(v, RULE_MONOID_TYPES, "%s in %s: %s", ir_node_row[at->op].name,
				m->name, why);
		if (!dtype_eq(e->type, m->type[i % m->n]))
			return broke(v, RULE_MONOID_TYPES,
				"the %s of %s differs in type from operand %s",
				identity ? "identity" : "combine", m->name, m->left[i % m->n]);
	}
	return true;
}

/* What a role makes of a buffer, seen from the whole set. */
typedef enum { USE_INPUT, USE_OUTPUT, USE_CONST, USE_WORK, USE_ZERO } Use;

static Use use_of(const Fn *fn, const Buf *b)
{
	switch (b->role) {
	case BUF_IN: return USE_INPUT;
	case BUF_CONST: return USE_CONST;
	case BUF_WORK: return USE_WORK;
	case BUF_ZERO: return USE_ZERO;
	default: return fn->kind == FN_PREPARE ? USE_CONST : USE_OUTPUT;
	}
}

static bool same_exprs(const Expr *const *a, const Expr *const *b, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* x and y are equal if the variables of a are read as those of b. */
static bool same_renamed(const Expr *x, const IndexMap *a, const Expr *y, const IndexMap *b)
{
	if (x->op != y->op || x->nargs != y->nargs || !dtype_eq(x->type, y->type))
		return false;
	if (x->op == IR_VAR)
		for (int i = 0; i < a->nvar; i++)
			if (a->var[i] == x->name || b->var[i] == y->name)
				return a->var[i] == x->name && b->var[i] == y->name;
	if (x->nargs == 0)
		return x == y;
	for (int i = 0; i < x->nargs; i++)
		if (!same_renamed(x->arg[i], a, y->arg[i], b))
			return false;
	return true;
}

static bool same_layout(const Buf *a, const Buf *b)
{
	const IndexMap *m = &a->map, *w = &b->map;
	bool same = dtype_eq(a->type, b->type) && a->rank == b->rank && strcmp(a->scope, b->scope) == 0 &&
	            same_exprs(a->shape, b->shape, a->rank) && m->n == w->n && m->nvar == w->nvar &&
	            same_exprs(m->extent, w->extent, m->n);
	for (int k = 0; same && k < m->n; k++)
		same = same_renamed(m->at[k], m, w->at[k], w);
	return same;
}

static bool verify_shared(Verifier *v)
{
	Scope first;
	scope_init(&first, v->arena);
	for (size_t i = 0; i < v->ks->n; i++) {
		const Fn *fn = v->ks->fn[i];
		for (int k = 0; k < fn->nparam && fn->kind != FN_SUB; k++) {
			const Buf *b = fn->param[k].buf;
			if (b == NULL)
				continue;
			const Decl *d = scope_find(&first, b->name);
			if (d == NULL) {
				Decl *own = scope_add(&first, DECL_BUF, b->name, b->type);
				own->buf = b;
				own->fn = fn;
				continue;
			}
			if (!same_layout(d->buf, b))
				return broke(v, RULE_SHARED_BUFFER,
					"%s is one buffer in %s and another in %s", b->name, fn->name,
					d->fn->name);
			if (use_of(fn, b) != use_of(d->fn, d->buf))
				return broke(v, RULE_SHARED_ROLE,
					"the roles of %s in %s and in %s contradict each other", b->name,
					fn->name, d->fn->name);
		}
	}
	return true;
}

typedef struct Calls {
	Verifier *v;
	int level; /* of the Fn that calls */
	bool changed;
} Calls;

static bool raise_callee(Stmt *s, void *arg)
{
	Calls *c = arg;
	if (s->kind != ST_CALL || s->call.intrin)
		return true;
	Decl *d = (Decl *)scope_find(&c->v->fns, s->call.fn);
	if (d != NULL && d->level <= c->level) {
		d->level = c->level + 1;
		c->changed = true;
	}
	return true;
}

/* Levels rise along calls until they settle; in a circle they never do. */
static bool verify_recursion(Verifier *v)
{
	for (int round = 0; round <= CALL_DEPTH; round++) {
		bool changed = false;
		for (size_t i = 0; i < v->ks->n; i++) {
			Calls c = { v, scope_find(&v->fns, v->ks->fn[i]->name)->level, false };
			ir_each_stmt(v->ks->fn[i]->body, raise_callee, &c);
			changed = changed || c.changed;
			if (c.level >= CALL_DEPTH)
				return broke(v, RULE_RECURSION,
					"%s is called in a circle or too deep", v->ks->fn[i]->name);
		}
		if (!changed)
			return true;
	}
	return broke(v, RULE_RECURSION, "the sub Fns call each other in a circle or too deep");
}

bool ir_verify_set(const KernelSet *ks, Err *err)
{
	Verifier v = { .ks = ks, .ir = ks->ir, .arena = arena_new(), .err = err };
	scope_init(&v.fns, v.arena);
	for (size_t i = 0; i < ks->n; i++)
		if (scope_find(&v.fns, ks->fn[i]->name) == NULL)
			scope_add(&v.fns, DECL_FN, ks->fn[i]->name, I64)->fn = ks->fn[i];
	bool ok = verify_names_of_set(&v);
	for (size_t i = 0; i < ks->nmonoid && ok; i++)
		ok = verify_monoid(&v, ks->monoid[i]);
	for (size_t i = 0; i < ks->n && ok; i++) {
		v.fn = ks->fn[i];
		v.line = v.depth = 0;
		v.certain = true;
		v.in_async = false;
		v.in_loop = NULL;
		v.unordered = NULL;
		scope_init(&v.scope, v.arena);
		scope_init(&v.ever, v.arena);
		scope_init(&v.blocks, v.arena);
		ok = verify_signature(&v) && verify_stmts(&v, v.fn->body);
	}
	v.fn = NULL;
	v.line = 0;
	ok = ok && verify_shared(&v) && verify_recursion(&v);
	arena_free(v.arena);
	return ok;
}
