/*
 * Calls to statements: a sub-Fn's body, or the meaning of an intrinsic, stands where the call was,
 * its names fresh, its buffers being windows of the caller's. An intrinsic that the target has an
 * instruction for is the store of one expression instead (inline_intrin.c).
 *
 * Scalar arguments, and where a window starts, are values at the time of the call: what loads from
 * memory is bound by a let first.
 */
#include "codegen/lower.h"
#include "ir/build.h"
#include "ir/intrin.h"
#include "ir/walk.h"

enum { INLINE_DEPTH = 64 };

typedef struct Inline {
	Lower *l;
	const Fn *fn;
	const CallArg *arg; /* one for each parameter; loads in them are bound */
} Inline;

static const CallArg *arg_of(const Inline *in, const char *buf)
{
	for (int k = 0; k < in->fn->nparam; k++)
		if (in->fn->param[k].buf != NULL && in->fn->param[k].name == buf)
			return &in->arg[k];
	return NULL;
}

static const Expr *shifted(Ir *ir, const Expr *base, const Expr *i)
{
	return ir_add(ir, ir_splat(ir, base, i->type.lanes), i);
}

/* The indices in the caller's buffer of indices `idx` in the window. */
static const Expr **window_index(
	Inline *in, const CallArg *a, const Expr *const *idx, int n, int *out)
{
	Ir *ir = in->l->ir;
	int lanes = 1, used = 0;
	for (int k = 0; k < n; k++)
		lanes = idx[k]->type.lanes > lanes ? idx[k]->type.lanes : lanes;
	*out = a->n > 0 ? a->n : n;
	const Expr **r = arena_array(in->l->arena, const Expr *, *out + 1);
	for (int k = 0; k < *out; k++) {
		if (a->n == 0)
			r[k] = idx[k];
		else if (a->len[k] == NULL)
			r[k] = ir_splat(ir, a->idx[k], lanes);
		else
			r[k] = shifted(ir, a->idx[k], idx[used++]);
	}
	return r;
}

static const Expr *map_node(Ir *ir, const Expr *e, void *arg)
{
	Inline *in = arg;
	if (e->op == IR_VAR)
		for (int k = 0; k < in->fn->nparam; k++)
			if (in->fn->param[k].buf == NULL && in->fn->param[k].name == e->name)
				return in->arg[k].value;
	const CallArg *a = e->op == IR_LOAD ? arg_of(in, e->name) : NULL;
	if (a == NULL)
		return e;
	int n;
	const Expr **idx = window_index(in, a, e->arg, e->nargs, &n);
	return ir_load_named(ir, a->buf, dtype_scalar(e->type), idx, n);
}

static void map_access(Inline *in, Access *x)
{
	const CallArg *a = arg_of(in, x->buf);
	if (a == NULL)
		return;
	x->buf = a->buf;
	x->idx = window_index(in, a, x->idx, x->n, &x->n);
}

/* A window of a window. */
static void map_arg(Inline *in, CallArg *x)
{
	const CallArg *a = x->buf != NULL ? arg_of(in, x->buf) : NULL;
	if (a == NULL)
		return;
	CallArg r = { .buf = a->buf, .n = a->n > 0 ? a->n : x->n };
	r.idx = arena_array(in->l->arena, const Expr *, r.n + 1);
	r.len = arena_array(in->l->arena, const Expr *, r.n + 1);
	for (int k = 0, used = 0; k < r.n; k++) {
		bool open = a->n == 0 || a->len[k] != NULL;
		r.idx[k] = a->n > 0 ? a->idx[k] : ir_int(in->l->ir, 0);
		r.len[k] = a->n > 0 ? a->len[k] : NULL;
		if (open && x->n > 0) {
			r.idx[k] = ir_add(in->l->ir, r.idx[k], x->idx[used]);
			r.len[k] = x->len[used++];
		}
	}
	*x = r;
}

static bool map_accesses(Stmt *s, void *arg)
{
	Inline *in = arg;
	if (s->kind == ST_STORE)
		map_access(in, &s->store.dst);
	if (s->kind == ST_PREFETCH)
		map_access(in, &s->prefetch);
	if (s->kind == ST_REDUCE)
		for (int k = 0; k < s->reduce.n; k++)
			map_access(in, &s->reduce.dst[k]);
	if (s->kind == ST_CALL)
		for (int k = 0; k < s->call.n; k++)
			map_arg(in, &s->call.arg[k]);
	return true;
}

/* e itself, or a new variable that holds it. */
static const Expr *bound(Lower *l, const Expr *e, Stmt **lets)
{
	if (e == NULL || !lower_has_load(e))
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
		bool ok = true;
		switch (s->kind) {
		case ST_FOR: ok = expand_list(l, &s->loop.body, depth); break;
		case ST_BLOCK:
			ok = expand_list(l, &s->block.init, depth) &&
			     expand_list(l, &s->block.body, depth);
			break;
		case ST_IF:
			ok = expand_list(l, &s->branch.then, depth) &&
			     expand_list(l, &s->branch.other, depth);
			break;
		case ST_ASYNC: ok = expand_list(l, &s->async, depth); break;
		case ST_CALL: ok = expand(l, s, depth + 1, &now); break;
		default: break;
		}
		if (!ok)
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
		return lower_refuse(l, s, "there is no %s of that form", s->call.fn);
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
	Inline in = { l, f, s->call.arg };
	Stmt *body = ir_clone_stmt(l->ir, f->body);
	lower_rename(l, body);
	ir_map_stmt(l->ir, body, map_node, &in);
	ir_each_stmt(body, map_accesses, &in);
	if (!expand_list(l, &body, depth))
		return false;
	*out = ir_seq(lets, body);
	return true;
}

bool pass_inline_calls(Lower *l)
{
	return expand_list(l, &l->fn->body, 0);
}
