/*
 * Calls to statements. The body of a sub Fn, or the meaning of an intrinsic, stands where the call was; its names
 * are fresh, its buffers are windows of the caller's. Two kinds of calls differ: a sub Fn that is shared stays a
 * function (shared_calls.c), and an intrinsic that the target has an instruction for is the store of one
 * expression (inline_intrin.c). Sub Fns that nobody calls any more leave the set.
 *
 * Scalar arguments, and where a window starts, are values at the time of the call: a let binds what loads from
 * memory first.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/text/intrin.h"
#include "ir/query.h"

enum { INLINE_DEPTH = 64 };

/* e itself, or a new variable that holds it. */
static const Expr *bound(Lower *l, const Expr *e, Stmt **lets)
{
	if (e == NULL || !ir_has_load(e))
		return e;
	const char *name = ir_fresh_name(l->ir, "arg");
	*lets = ir_seq(*lets, ir_let(l->ir, name, e));
	return ir_var(l->ir, name, e->type);
}

static bool expand(Lower *l, Stmt *s, int depth, Stmt **out);

static bool expand_list(Lower *l, Stmt **list, int depth)
{
	Stmt *s = *list, **end = list;
	*list = NULL;
	while (s != NULL) {
		Stmt *next = s->next, *now = s;
		s->next = NULL;
		Stmt **child[IR_CHILDREN];
		for (int k = 0, n = ir_children(s, child); k < n; k++)
			if (!expand_list(l, child[k], depth))
				return false;
		bool stays = s->kind != ST_CALL || (!s->call.intrin && lower_shared(l, s->call.fn) != NULL);
		if (!stays && !expand(l, s, depth + 1, &now))
			return false;
		*end = now;
		while (*end != NULL)
			end = &(*end)->next;
		s = next;
	}
	return true;
}

static bool expand(Lower *l, Stmt *s, int depth, Stmt **out)
{
	const Fn *f = s->call.intrin ? ir_intrin(l->ir, s->call.fn) : ir_find_fn(l->ks, s->call.fn);
	if (f == NULL || f->nparam != s->call.n)
		return lower_refuse(l, s, "there is no sub Fn or intrinsic %s with %d parameters", s->call.fn, s->call.n);
	if (depth > INLINE_DEPTH)
		return lower_refuse(l, s, "calls nest deeper than %d", INLINE_DEPTH);
	Stmt *lets = NULL;
	for (int k = 0; k < s->call.n; k++) {
		CallArg *a = &s->call.arg[k];
		a->value = a->buf == NULL ? bound(l, a->value, &lets) : NULL;
		for (int j = 0; a->buf != NULL && j < a->n; j++)
			a->idx[j] = bound(l, a->idx[j], &lets);
	}
	Stmt *own = s->call.intrin ? lower_intrin(l, s) : NULL;
	if (own != NULL) {
		*out = ir_seq(lets, own);
		return true;
	}
	Stmt *body = ir_clone_stmt(l->ir, f->body);
	lower_rename(l, body);
	ir_bind_params(l->ir, body, f, s->call.arg);
	if (!expand_list(l, &body, depth))
		return false;
	*out = ir_seq(lets, body);
	return true;
}

bool pass_inline_calls(Lower *l)
{
	size_t n = 0;
	lower_find_shared(l);
	for (size_t k = 0; k < l->ks->n; k++) {
		l->fn = l->ks->fn[k];
		bool stays = l->fn->kind != FN_SUB || lower_shared(l, l->fn->name) != NULL;
		if (stays && !expand_list(l, &l->fn->body, 0))
			return false;
	}
	for (size_t k = 0; k < l->ks->n; k++)
		if (l->ks->fn[k]->kind != FN_SUB || lower_shared(l, l->ks->fn[k]->name) != NULL)
			l->ks->fn[n++] = l->ks->fn[k];
	l->ks->n = n;
	return true;
}
