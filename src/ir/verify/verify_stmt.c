/*
 * Statements: one function a kind (blocks are verify_block.c's, calls verify_call.c's). A statement
 * is `certain` if it runs whenever the Fn does: only there may an analysis say "always wrong".
 */
#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/threads/form.h"
#include "ir/verify/verifier.h"
#include "ir/query.h"

#include <string.h>

bool verify_body(Verifier *v, const Stmt *s, const Range *env, bool certain)
{
	const Range *outer = v->env;
	bool was = v->certain;
	Decl *mark = scope_enter(&v->scope);
	v->env = env;
	v->certain = was && certain;
	bool ok = verify_stmts(v, s);
	scope_leave(&v->scope, mark);
	v->env = outer;
	v->certain = was;
	return ok;
}

/* Loops stand in loops of other axes, a block's in a grid's, a warp's in both. */
static bool verify_axis(Verifier *v, const Stmt *s)
{
	AxisKind kind = ir_axis_of(s, NULL);
	if (kind == AXIS_NONE)
		return broke(v, RULE_AXIS, "%s is not an axis",
			s->loop.axis != NULL ? s->loop.axis : "nothing");
	for (const InLoop *in = v->in_loop; in != NULL; in = in->outer) {
		if (in->loop->loop.kind != LOOP_BOUND)
			continue;
		if (strcmp(in->loop->loop.axis, s->loop.axis) == 0)
			return broke(v, RULE_AXIS, "%s and %s are both bound to %s", in->decl->name,
				s->loop.var, s->loop.axis);
		if (ir_axis_of(in->loop, NULL) > kind)
			return broke(v, RULE_AXIS, "loop %s is bound to %s inside of loop %s, which is bound to %s", s->loop.var,
				s->loop.axis, in->decl->name, in->loop->loop.axis);
	}
	return true;
}

static bool verify_for(Verifier *v, const Stmt *s)
{
	if (!verify_expr(v, s->loop.lo) || !verify_expr(v, s->loop.hi))
		return false;
	if (!verify_is_index(s->loop.lo) || !verify_is_index(s->loop.hi))
		return broke(v, RULE_LOOP_BOUNDS, "an end of loop %s is not an i64 scalar", s->loop.var);
	if (s->loop.kind == LOOP_VECTOR && (s->loop.lo->op != IR_INT || s->loop.hi->op != IR_INT)) {
		const Expr *n = ir_simplify(v->ir, ir_sub(v->ir, s->loop.hi, s->loop.lo), v->env);
		if (n->op != IR_INT)
			return broke(v, RULE_VECTOR_EXTENT, "the extent of loop %s is not a constant", s->loop.var);
	}
	if (s->loop.kind == LOOP_PIPELINED && s->loop.stages < 1)
		return broke(v, RULE_STAGES, "loop %s has %d stages", s->loop.var, s->loop.stages);
	if (s->loop.kind == LOOP_BOUND && !verify_axis(v, s))
		return false;
	Interval lo = ir_interval(s->loop.lo, v->env), hi = ir_interval(s->loop.hi, v->env);
	bool runs = lo.hi < hi.lo;
	Decl *d, *mark = scope_enter(&v->scope);
	bool ok = verify_declare(v, DECL_LOOP, s->loop.var, I64, &d);
	if (ok) {
		InLoop in = { v->in_loop, s, d };
		d->stmt = s;
		v->in_loop = &in;
		const Range *env = ir_range_for(v->ir, s->loop.var, s->loop.lo, s->loop.hi, v->env);
		ok = verify_body(v, s->loop.body, env, runs);
		v->in_loop = in.outer;
	}
	scope_leave(&v->scope, mark);
	return ok;
}

bool verify_condition(Verifier *v, const Expr *e)
{
	if (!verify_expr(v, e))
		return false;
	return dtype_eq(e->type, BOOL) || broke(v, RULE_CONDITION, "the condition has another type");
}

typedef struct Write {
	const Scope *scope;
	const Decl *buf;
} Write;

/* A reduce iterator, unless the buffer is one that the block itself allocates. */
static bool is_reduced(const Expr *e, void *arg)
{
	const Write *w = arg;
	const Decl *d = e->op == IR_VAR ? scope_find(w->scope, e->name) : NULL;
	return d != NULL && d->kind == DECL_ITER && d->iter->kind == ITER_REDUCE && w->buf->depth <= d->depth;
}

/* A write by store or reduction: declared, writable, rank, and not indexed by a reduce iterator. */
static const Decl *verify_write(Verifier *v, const Access *a, bool atomic, int *lanes)
{
	for (int i = 0; i < a->n; i++)
		if (!verify_expr(v, a->idx[i]))
			return NULL;
	const Decl *d = verify_buf(v, a->buf);
	if (d == NULL || !verify_index(v, d->buf, a->idx, a->n, lanes))
		return NULL;
	if (d->buf->role == BUF_IN || d->buf->role == BUF_CONST) {
		broke(v, RULE_READ_ONLY, "%s has the role %s", a->buf,
			d->buf->role == BUF_IN ? "in" : "const");
		return NULL;
	}
	Write w = { &v->scope, d };
	for (int i = 0; i < a->n && !atomic; i++) {
		const Expr *it = ir_find_node(a->idx[i], is_reduced, &w);
		if (it != NULL) {
			broke(v, RULE_REDUCE_INDEX, "reduce iterator %s indexes %s", it->name, d->name);
			return NULL;
		}
	}
	return d;
}

static bool verify_mask(Verifier *v, const Expr *mask, int lanes)
{
	if (mask == NULL)
		return true;
	if (!verify_expr(v, mask))
		return false;
	return dtype_eq(mask->type, dtype_vector(BOOL, lanes)) ||
	       broke(v, RULE_MASK, "the mask has another type");
}

/* What is masked may not happen: its accesses are not certain. */
static bool set_certain(Verifier *v, bool certain)
{
	bool was = v->certain;
	v->certain = was && certain;
	return was;
}

static bool verify_store(Verifier *v, const Stmt *s)
{
	int lanes;
	bool was = set_certain(v, s->store.mask == NULL);
	const Decl *d = verify_write(v, &s->store.dst, false, &lanes);
	if (d == NULL || !verify_expr(v, s->store.value))
		return false;
	v->certain = was;
	if (!dtype_eq(s->store.value->type, dtype_vector(d->buf->type, lanes)))
		return broke(v, RULE_STORE_TYPE, "the value stored in %s has another type", d->name);
	return verify_mask(v, s->store.mask, lanes);
}

static bool verify_target(Verifier *v, const Stmt *s, const Monoid *m, int k, int *lanes)
{
	const Decl *d = verify_write(v, &s->reduce.dst[k], s->reduce.atomic, lanes);
	if (d == NULL || !verify_expr(v, s->reduce.value[k]))
		return false;
	if (!dtype_eq(d->buf->type, m->type[k]) ||
		!dtype_eq(s->reduce.value[k]->type, dtype_vector(m->type[k], *lanes)))
		return broke(v, RULE_REDUCE_TYPE, "%s or its value has another type", d->name);
	if (!s->reduce.atomic && v->unordered != NULL && d->depth <= v->unordered->depth)
		return broke(v, RULE_REDUCE_PARALLEL,
			"%s is reduced into over loop %s, which has no order", d->name,
			v->unordered->name);
	return true;
}

static bool verify_reduce(Verifier *v, const Stmt *s)
{
	int lanes = 1;
	const Decl *d = s->reduce.n > 0 ? verify_buf(v, s->reduce.dst[0].buf) : NULL;
	if (d == NULL)
		return false;
	const Monoid *m = ir_find_monoid(v->ks, s->reduce.monoid, d->buf->type);
	if (m == NULL)
		return broke(v, RULE_MONOID, "there is no %s for the type of %s", s->reduce.monoid,
			d->name);
	if (m->n != s->reduce.n)
		return broke(
			v, RULE_MONOID, "%s takes %d values, not %d", m->name, m->n, s->reduce.n);
	bool was = set_certain(v, s->reduce.mask == NULL);
	for (int k = 0; k < s->reduce.n; k++) {
		int own;
		if (!verify_target(v, s, m, k, &own))
			return false;
		if (k > 0 && own != lanes)
			return broke(v, RULE_REDUCE_TYPE, "the targets differ in lanes");
		lanes = own;
	}
	v->certain = was;
	if (!verify_mask(v, s->reduce.mask, lanes))
		return false;
	if (s->reduce.atomic && s->reduce.n != 1)
		return broke(v, RULE_ATOMIC, "this atomic reduction has %d targets", s->reduce.n);
	if (s->reduce.old == NULL)
		return true;
	if (!s->reduce.atomic || lanes != 1)
		return broke(v, RULE_ATOMIC, "%s names the old value, but the reduction is not both atomic and scalar",
			s->reduce.old);
	return verify_declare(v, DECL_LET, s->reduce.old, s->reduce.value[0]->type, NULL);
}

/* An access that does not happen: any place, but computed without one. */
static bool verify_prefetch(Verifier *v, const Stmt *s)
{
	const Access *a = &s->prefetch;
	for (int k = 0; k < a->n; k++) {
		if (!verify_expr(v, a->idx[k]))
			return false;
		if (ir_has_load(a->idx[k]) || !verify_is_index(a->idx[k]))
			return broke(v, RULE_PREFETCH, "index %d of %s is not an i64 scalar, or it loads", k, a->buf);
	}
	const Decl *d = verify_buf(v, a->buf);
	return d != NULL && (a->n == d->buf->rank ||
				    broke(v, RULE_INDEX_RANK, "%s has %d dimensions, not %d", a->buf,
					    d->buf->rank, a->n));
}

static bool fits_async(const Stmt *s)
{
	switch (s->kind) {
	case ST_FOR:
	case ST_BLOCK:
	case ST_STORE:
	case ST_LET:
	case ST_IF: return true;
	case ST_CALL: return s->call.intrin;
	default: return false;
	}
}

static bool verify_one_stmt(Verifier *v, const Stmt *s)
{
	Decl *d;
	bool ok;
	v->line = s->line;
	if (v->in_async && !fits_async(s))
		return broke(v, RULE_ASYNC, "this statement is not a copy");
	switch (s->kind) {
	case ST_FOR: return verify_for(v, s);
	case ST_BLOCK: return verify_block(v, s);
	case ST_STORE: return verify_store(v, s);
	case ST_REDUCE: return verify_reduce(v, s);
	case ST_LET:
		if (!verify_expr(v, s->let.value) ||
			!verify_declare(v, DECL_LET, s->let.var, s->let.value->type, NULL))
			return false;
		if (verify_is_index(s->let.value))
			v->env = ir_range_let(v->ir, s->let.var, s->let.value, v->env);
		return true;
	case ST_ALLOC:
		if (!verify_layout(v, s->alloc) ||
			!verify_declare(v, DECL_BUF, s->alloc->name, s->alloc->type, &d))
			return false;
		d->buf = s->alloc;
		d->stmt = s;
		return true;
	case ST_IF: {
		if (!verify_condition(v, s->branch.cond))
			return false;
		const Range *yes = ir_range_if(v->ir, s->branch.cond, true, v->env);
		const Range *no = ir_range_if(v->ir, s->branch.cond, false, v->env);
		return verify_body(v, s->branch.then, yes, false) && verify_body(v, s->branch.other, no, false);
	}
	case ST_CALL: return verify_call(v, s);
	case ST_ASYNC:
		v->in_async = true;
		ok = verify_body(v, s->async, v->env, true);
		v->in_async = false;
		return ok;
	case ST_COMMIT: return true;
	case ST_WAIT: return s->pending >= 0 || broke(v, RULE_ASYNC, "wait takes a count of 0 or more");
	case ST_BARRIER:
		ok = strcmp(s->barrier, "warp") == 0 || strcmp(s->barrier, "block") == 0 ||
		     strcmp(s->barrier, "grid") == 0;
		return ok || broke(v, RULE_BARRIER, "%s is not a barrier scope", s->barrier);
	case ST_PREFETCH: return verify_prefetch(v, s);
	}
	return false;
}

bool verify_stmts(Verifier *v, const Stmt *s)
{
	if (v->depth >= IR_MAX_DEPTH)
		return broke(v, RULE_DEPTH, "statements nested deeper than %d", IR_MAX_DEPTH);
	v->depth++;
	bool ok = true;
	for (; s != NULL && ok; s = s->next)
		ok = verify_one_stmt(v, s);
	v->depth--;
	return ok;
}
