/*
 * Declarations, layouts, signatures and expressions: the rules for one name or one value. Interval analysis refuses
 * only what is wrong for all values.
 */
#include "ir/build.h"
#include "ir/node.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"

#include <string.h>

bool verify_declare(Verifier *v, DeclKind kind, const char *name, DType type, Decl **decl)
{
	if (!ir_is_name(name))
		return broke(v, RULE_NAMES, "'%s' is not a name", name);
	if (scope_find(&v->scope, name) != NULL)
		return broke(v, RULE_SHADOWING, "%s is already declared", name);
	if (kind == DECL_LOOP || kind == DECL_BUF) {
		if (scope_find(&v->ever, name) != NULL)
			return broke(v, RULE_UNIQUE, "%s is declared twice in this Fn", name);
		scope_add(&v->ever, kind, name, type);
	}
	Decl *d = scope_add(&v->scope, kind, name, type);
	if (decl != NULL)
		*decl = d;
	return true;
}

/* An expression that may use symbols, scalar parameters and, if map != NULL, its variables. */
typedef struct Closed {
	const Verifier *v;
	const IndexMap *map;
} Closed;

static bool is_alien(const Expr *e, void *arg)
{
	const Closed *c = arg;
	if (e->op != IR_VAR)
		return e->op == IR_LOAD;
	for (int i = 0; c->map != NULL && i < c->map->nvar; i++)
		if (c->map->var[i] == e->name)
			return false;
	const Decl *d = scope_find(&c->v->scope, e->name);
	return d == NULL || (d->kind != DECL_SYMBOL && d->kind != DECL_SCALAR);
}

static bool verify_closed(
	Verifier *v, Rule rule, const char *buf, const Expr *e, const IndexMap *map)
{
	Closed c = { v, map };
	const char *why;
	if (e->depth > IR_MAX_DEPTH)
		return broke(v, RULE_DEPTH, "an extent of %s is too deep", buf);
	const Expr *alien = ir_find_node(e, is_alien, &c);
	if (alien != NULL)
		return broke(v, rule, "the extents or the map of buffer %s use %s", buf, alien->name);
	if (ir_find_type_error(e, &why) != NULL)
		return broke(v, rule, "in the extents of %s: %s", buf, why);
	if (!verify_is_index(e))
		return broke(v, rule, "an extent or place of %s is not i64", buf);
	return true;
}

/*
 * The largest value of an extent, multiplied into *total. In a sub Fn a scalar parameter may be
 * anything; what its buffers are windows of has been measured.
 */
static bool multiply_extent(
	Verifier *v, Rule rule, const Buf *b, const Expr *extent, int64_t *total)
{
	Interval at = ir_interval(extent, v->env);
	if (at.hi < 0)
		return broke(v, rule, "an extent of %s is negative", b->name);
	if (v->fn->kind == FN_SUB && extent->op != IR_INT)
		return true;
	if (__builtin_mul_overflow(*total, at.hi, total) || dtype_bytes(b->type, *total) < 0)
		return broke(v, RULE_SIZE, "%s needs more bytes than 64 bits can count", b->name);
	return true;
}

static bool verify_map(Verifier *v, const Buf *b)
{
	const IndexMap *m = &b->map;
	int64_t total = 1;
	if (m->nvar != b->rank)
		return broke(v, RULE_MAP, "%s has %d dimensions, its map %d variables", b->name,
			b->rank, m->nvar);
	if (m->n > IR_MAX_RANK)
		return broke(v, RULE_RANK, "the map of %s has %d dimensions", b->name, m->n);
	for (int i = 0; i < m->nvar; i++) {
		const Decl *d = scope_find(&v->scope, m->var[i]);
		if (d != NULL && (d->kind == DECL_SYMBOL || d->kind == DECL_SCALAR))
			return broke(v, RULE_MAP, "variable %s of the map is a symbol", m->var[i]);
		for (int j = 0; j < i; j++)
			if (m->var[j] == m->var[i])
				return broke(
					v, RULE_MAP, "the map has two variables %s", m->var[i]);
	}
	for (int k = 0; k < m->n; k++)
		if (!verify_closed(v, RULE_MAP_CLOSED, b->name, m->at[k], m) ||
			!verify_closed(v, RULE_MAP_CLOSED, b->name, m->extent[k], NULL) ||
			!multiply_extent(v, RULE_MAP_CLOSED, b, m->extent[k], &total))
			return false;
	return true;
}

bool verify_layout(Verifier *v, const Buf *b)
{
	static const char *const scopes[] = { "global", "shared", "local", "fragment" };
	int64_t total = 1;
	if (b->type.lanes != 1 || !dtype_known(b->type))
		return broke(v, RULE_BUFFER_TYPE, "the elements of %s are not scalars", b->name);
	if (b->rank > IR_MAX_RANK)
		return broke(v, RULE_RANK, "%s has %d dimensions", b->name, b->rank);
	bool scope = strchr(b->scope, '.') != NULL && ir_is_name(b->scope); /* NAME.NAME of an accelerator */
	for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
		scope = scope || strcmp(b->scope, scopes[i]) == 0;
	if (!scope)
		return broke(v, RULE_SCOPE, "scope %s of buffer %s is not a memory scope", b->scope, b->name);
	for (int k = 0; k < b->rank; k++)
		if (!verify_closed(v, RULE_SHAPE, b->name, b->shape[k], NULL) ||
			!multiply_extent(v, RULE_SHAPE, b, b->shape[k], &total))
			return false;
	return b->map.n == 0 || verify_map(v, b);
}

/* What the kind of the Fn demands of a buffer parameter. */
static bool verify_role(Verifier *v, const Buf *b)
{
	if (b->streamed && (v->fn->kind != FN_RUN || b->role != BUF_OUT))
		return broke(v, RULE_STREAMED, "%s is none", b->name);
	if (v->fn->kind == FN_SUB) {
		if (b->role == BUF_WORK || b->role == BUF_ZERO || b->map.n > 0)
			return broke(v, RULE_SUB_PARAM, "buffer %s is work or zero, or has a map", b->name);
		return true;
	}
	if (strcmp(b->scope, "global") != 0)
		return broke(v, RULE_PARAM_SCOPE, "%s lies in @%s", b->name, b->scope);
	if (v->fn->kind == FN_PREPARE && (b->role == BUF_IN || b->role == BUF_INOUT || b->role == BUF_ZERO))
		return broke(v, RULE_PREPARE, "%s is neither const, out nor work", b->name);
	if (b->role == BUF_ZERO && b->map.n > 0)
		return broke(v, RULE_ZERO, "%s has a map", b->name);
	return true;
}

bool verify_signature(Verifier *v)
{
	const Fn *fn = v->fn;
	if (!ir_is_name(fn->name))
		return broke(v, RULE_NAMES, "'%s' is not a name", fn->name);
	for (int i = 0; i < fn->nsym; i++) {
		const Sym *s = &fn->sym[i];
		if (fn->kind == FN_SUB)
			return broke(v, RULE_SUB_SYMBOL, "this sub Fn has symbol %s", s->name);
		if (fn->kind == FN_PREPARE)
			return broke(v, RULE_PREPARE, "this prepare Fn has symbol %s", s->name);
		if (s->lo < 1 || s->hi < s->lo || s->div < 1 || s->hi / s->div * s->div < s->lo)
			return broke(v, RULE_SYMBOL, "symbol %s is in %lld..%lld step %lld", s->name,
				(long long)s->lo, (long long)s->hi, (long long)s->div);
		if (!verify_declare(v, DECL_SYMBOL, s->name, I64, NULL))
			return false;
	}
	v->env = ir_range_fn(v->ir, fn);
	for (int i = 0; i < fn->nparam; i++) {
		const Param *p = &fn->param[i];
		if (p->buf != NULL)
			continue;
		if (fn->kind != FN_SUB)
			return broke(v, RULE_SCALAR_PARAM, "%s is a scalar", p->name);
		if (!dtype_known(p->type))
			return broke(v, RULE_TYPES, "parameter %s has no known type", p->name);
		if (!verify_declare(v, DECL_SCALAR, p->name, p->type, NULL))
			return false;
	}
	for (int i = 0; i < fn->nparam; i++) {
		const Buf *b = fn->param[i].buf;
		Decl *d = NULL;
		if (b == NULL)
			continue;
		if (!verify_layout(v, b) || !verify_role(v, b) ||
			!verify_declare(v, DECL_BUF, b->name, b->type, &d) || d == NULL)
			return false;
		d->buf = b;
	}
	return true;
}

const Decl *verify_buf(Verifier *v, const char *name)
{
	const Decl *d = scope_find(&v->scope, name);
	if (d != NULL && d->kind == DECL_BUF)
		return d;
	if (d == NULL)
		broke(v, RULE_DECLARED, "buffer %s is not declared here", name);
	else
		broke(v, RULE_DECLARED, "%s is not a buffer", name);
	return NULL;
}

bool verify_index(Verifier *v, const Buf *b, const Expr *const *idx, int n, int *lanes)
{
	*lanes = 1;
	if (n != b->rank)
		return broke(
			v, RULE_INDEX_RANK, "%s has %d dimensions, not %d", b->name, b->rank, n);
	for (int k = 0; k < n; k++) {
		DType t = idx[k]->type;
		if (t.kind != DT_INT || t.bits != 64)
			return broke(v, RULE_INDEX_RANK, "index %d of %s is not i64", k, b->name);
		if (t.lanes != 1 && *lanes != 1 && t.lanes != *lanes)
			return broke(
				v, RULE_INDEX_RANK, "the indices of %s differ in lanes", b->name);
		if (t.lanes != 1)
			*lanes = t.lanes;
		if (!v->certain)
			continue;
		Interval i = ir_interval(idx[k], v->env);
		if (i.hi < 0 || i.lo >= ir_interval(b->shape[k], v->env).hi)
			return broke(v, RULE_BOUNDS, "index %d of %s is always outside of it", k, b->name);
	}
	return true;
}

static bool verify_node(Verifier *v, const Expr *e)
{
	const char *why = ir_type_error(e);
	if (why != NULL) {
		const NodeRow *row = &ir_node_row[e->op];
		return broke(v, RULE_TYPES, "%s%s%s: %s", row->name,
			row->text[0] != '\0' ? " " : "", row->text, why);
	}
	if (e->op != IR_VAR)
		return true;
	const Decl *d = scope_find(&v->scope, e->name);
	if (d == NULL)
		return broke(v, RULE_DECLARED, "%s is not declared here", e->name);
	if (d->kind == DECL_BUF)
		return broke(v, RULE_DECLARED, "%s is a buffer: index it", e->name);
	if (!dtype_eq(d->type, e->type))
		return broke(v, RULE_TYPES, "%s is used with another type than it was declared",
			e->name);
	return true;
}

/* Each node once; what a select may not evaluate is not certain. */
static bool verify_tree(Verifier *v, const Expr *e, IrMemo *seen)
{
	const Expr **mark = ir_memo_at(seen, e);
	if (*mark != NULL)
		return true;
	*mark = e;
	bool certain = v->certain, ok = true;
	for (int i = 0; i < e->nargs && ok; i++) {
		v->certain = certain && (e->op != IR_SELECT || i == 0);
		ok = verify_tree(v, e->arg[i], seen);
	}
	v->certain = certain;
	if (ok && e->op == IR_LOAD) {
		int lanes;
		const Decl *d = verify_buf(v, e->name);
		if (d == NULL || !verify_index(v, d->buf, e->arg, e->nargs, &lanes))
			return false;
		if (!dtype_eq(dtype_scalar(e->type), d->buf->type))
			return broke(v, RULE_TYPES, "a load of %s differs in type from its elements", e->name);
	}
	return ok && verify_node(v, e);
}

bool verify_expr(Verifier *v, const Expr *e)
{
	if (e->depth > IR_MAX_DEPTH)
		return broke(v, RULE_DEPTH, "an expression is nested %d deep", e->depth);
	IrMemo *seen = ir_memo_begin(v->ir);
	bool ok = verify_tree(v, e, seen);
	ir_memo_end(v->ir, seen);
	return ok;
}
