/*
 * What a call means: the body of the Fn with its parameters replaced, scalars by the arguments' values,
 * buffers by windows of the caller's.
 */
#include "ir/build.h"
#include "ir/walk.h"

typedef struct Params {
	Ir *ir;
	const Fn *fn;
	const CallArg *arg; /* one for each parameter */
} Params;

static const CallArg *arg_of(const Params *p, const char *buf)
{
	for (int k = 0; k < p->fn->nparam; k++)
		if (p->fn->param[k].buf != NULL && p->fn->param[k].name == buf)
			return &p->arg[k];
	return NULL;
}

/* The indices in the caller's buffer of indices `idx` in the window. */
static const Expr **window_index(Params *p, const CallArg *a, const Expr *const *idx, int n, int *out)
{
	int lanes = 1, used = 0;
	for (int k = 0; k < n; k++)
		lanes = idx[k]->type.lanes > lanes ? idx[k]->type.lanes : lanes;
	*out = a->n > 0 ? a->n : n;
	const Expr **r = arena_array(ir_arena(p->ir), const Expr *, *out + 1);
	for (int k = 0; k < *out; k++) {
		if (a->n == 0) {
			r[k] = idx[k];
		} else if (a->len[k] == NULL) {
			r[k] = ir_splat(p->ir, a->idx[k], lanes);
		} else {
			const Expr *i = idx[used++];
			r[k] = ir_add(p->ir, ir_splat(p->ir, a->idx[k], i->type.lanes), i);
		}
	}
	return r;
}

static const Expr *map_node(Ir *ir, const Expr *e, void *arg)
{
	Params *p = arg;
	if (e->op == IR_VAR)
		for (int k = 0; k < p->fn->nparam; k++)
			if (p->fn->param[k].buf == NULL && p->fn->param[k].name == e->name)
				return p->arg[k].value;
	const CallArg *a = e->op == IR_LOAD ? arg_of(p, e->name) : NULL;
	if (a == NULL)
		return e;
	int n;
	const Expr **idx = window_index(p, a, e->arg, e->nargs, &n);
	return ir_load_named(ir, a->buf, dtype_scalar(e->type), idx, n);
}

static void map_access(Params *p, Access *x)
{
	const CallArg *a = arg_of(p, x->buf);
	if (a == NULL)
		return;
	x->buf = a->buf;
	x->idx = window_index(p, a, x->idx, x->n, &x->n);
}

/* A window of a window. */
static void map_arg(Params *p, CallArg *x)
{
	const CallArg *a = x->buf != NULL ? arg_of(p, x->buf) : NULL;
	if (a == NULL)
		return;
	CallArg r = { .buf = a->buf, .n = a->n > 0 ? a->n : x->n };
	r.idx = arena_array(ir_arena(p->ir), const Expr *, r.n + 1);
	r.len = arena_array(ir_arena(p->ir), const Expr *, r.n + 1);
	for (int k = 0, used = 0; k < r.n; k++) {
		bool open = a->n == 0 || a->len[k] != NULL;
		r.idx[k] = a->n > 0 ? a->idx[k] : ir_int(p->ir, 0);
		r.len[k] = a->n > 0 ? a->len[k] : NULL;
		if (open && x->n > 0) {
			r.idx[k] = ir_add(p->ir, r.idx[k], x->idx[used]);
			r.len[k] = x->len[used++];
		}
	}
	*x = r;
}

static bool map_accesses(Stmt *s, void *arg)
{
	Params *p = arg;
	if (s->kind == ST_STORE)
		map_access(p, &s->store.dst);
	if (s->kind == ST_PREFETCH)
		map_access(p, &s->prefetch);
	if (s->kind == ST_REDUCE)
		for (int k = 0; k < s->reduce.n; k++)
			map_access(p, &s->reduce.dst[k]);
	if (s->kind == ST_CALL)
		for (int k = 0; k < s->call.n; k++)
			map_arg(p, &s->call.arg[k]);
	return true;
}

void ir_bind_params(Ir *ir, Stmt *body, const Fn *fn, const CallArg *arg)
{
	Params p = { ir, fn, arg };
	ir_map_stmt(ir, body, map_node, &p);
	ir_each_stmt(body, map_accesses, &p);
}
