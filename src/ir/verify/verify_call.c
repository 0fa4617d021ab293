/*
 * Calls: arguments against parameters, of a sub Fn or of an intrinsic's meaning.
 */
#include "ir/text/intrin.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verifier.h"

#include <string.h>

static bool writes(BufRole role)
{
	return role == BUF_OUT || role == BUF_INOUT || role == BUF_WORK || role == BUF_ZERO;
}

/* The window lies in b: one length that is constant and too large, or an index never within. */
static bool verify_window(Verifier *v, const Buf *b, const CallArg *a)
{
	for (int k = 0; k < a->n; k++) {
		if (!verify_expr(v, a->idx[k]) || (a->len[k] != NULL && !verify_expr(v, a->len[k])))
			return false;
		if (!verify_is_index(a->idx[k]) || (a->len[k] != NULL && !verify_is_index(a->len[k])))
			return broke(v, RULE_CALL_ARGS, "the window of %s is not of i64 scalars",
				b->name);
		if (!v->certain)
			continue;
		Interval i = ir_interval(a->idx[k], v->env), n = ir_interval(b->shape[k], v->env);
		Interval len = { 1, 1, 0, 1 };
		int64_t end;
		if (a->len[k] != NULL)
			len = ir_interval(a->len[k], v->env);
		bool outside = len.hi < 0 || (len.lo > 0 && i.hi < 0) ||
		               __builtin_add_overflow(i.lo, len.lo, &end) || end > n.hi;
		if (outside)
			return broke(v, RULE_BOUNDS,
				"the window of %s is always outside of it in dimension %d", b->name, k);
	}
	return true;
}

static bool verify_extents(Verifier *v, const Buf *param, const CallArg *a)
{
	int dim = 0;
	for (int k = 0; k < a->n; k++)
		if (a->len[k] != NULL && dim++ < param->rank) {
			const Expr *want = param->shape[dim - 1], *got = a->len[k];
			if (want->op == IR_INT && got->op == IR_INT && want != got)
				return broke(v, RULE_CALL_ARGS,
					"dimension %d of %s has %lld elements, not %lld", dim - 1,
					param->name, (long long)want->i, (long long)got->i);
		}
	if (dim != param->rank)
		return broke(v, RULE_CALL_ARGS, "%s has %d dimensions, not %d", param->name,
			param->rank, dim);
	return true;
}

static bool verify_buffer_arg(Verifier *v, const Buf *param, const CallArg *a, bool intrin)
{
	const Decl *d = verify_buf(v, a->buf);
	if (d == NULL)
		return false;
	const Buf *b = d->buf;
	if (a->n != b->rank)
		return broke(
			v, RULE_INDEX_RANK, "%s has %d dimensions, not %d", b->name, b->rank, a->n);
	/* A sub Fn is compiled for a scope; an intrinsic's @global stands for any memory that holds values. */
	bool in_scope = strcmp(b->scope, param->scope) == 0 || (intrin && strcmp(param->scope, "global") == 0);
	if (!dtype_eq(b->type, param->type) || !in_scope)
		return broke(v, RULE_CALL_ARGS, "%s and parameter %s differ in type or scope",
			b->name, param->name);
	if (writes(param->role) && !writes(b->role))
		return broke(v, RULE_CALL_ROLE, "%s is written through %s", b->name, param->name);
	return verify_window(v, b, a) && verify_extents(v, param, a);
}

static bool verify_arg(Verifier *v, const Param *p, const CallArg *a, bool intrin)
{
	if (p->buf != NULL && a->buf == NULL)
		return broke(v, RULE_CALL_ARGS, "%s is a buffer: give it a window like x[i, 0:4]",
			p->name);
	if (p->buf != NULL)
		return verify_buffer_arg(v, p->buf, a, intrin);
	if (a->buf != NULL)
		return broke(
			v, RULE_CALL_ARGS, "%s is a scalar, not a window of %s", p->name, a->buf);
	if (!verify_expr(v, a->value))
		return false;
	if (!dtype_eq(a->value->type, p->type))
		return broke(v, RULE_CALL_ARGS, "the value of %s has another type", p->name);
	return true;
}

bool verify_call(Verifier *v, const Stmt *s)
{
	const Fn *callee;
	if (s->call.intrin) {
		callee = ir_intrin(v->ir, s->call.fn);
		if (callee == NULL)
			return broke(v, RULE_INTRIN, "there is no intrinsic %s", s->call.fn);
	} else {
		const Decl *d = scope_find(&v->fns, s->call.fn);
		if (d == NULL || d->fn->kind != FN_SUB)
			return broke(v, RULE_CALL, "there is no sub Fn %s", s->call.fn);
		callee = d->fn;
	}
	if (s->call.n != callee->nparam)
		return broke(v, RULE_CALL_ARGS, "%s takes %d arguments, not %d", s->call.fn,
			callee->nparam, s->call.n);
	for (int i = 0; i < s->call.n; i++)
		if (!verify_arg(v, &callee->param[i], &s->call.arg[i], s->call.intrin))
			return false;
	return true;
}
