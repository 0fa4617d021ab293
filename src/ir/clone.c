/*
 * Deep copies of statements, Fns and kernel sets within one Ir. Expressions and names are
 * immutable and shared; buffers' declarations are copied, since passes edit them in place.
 */
#include "ir/walk.h"

#include <string.h>

#define COPY(a, p, n) ((n) > 0 ? arena_copy((a), (p), sizeof *(p) * (size_t)(n)) : NULL)

static Buf *clone_buf(Arena *a, const Buf *b)
{
	Buf *c = arena_copy(a, b, sizeof *b);
	c->shape = COPY(a, b->shape, b->rank);
	c->map.var = COPY(a, b->map.var, b->map.nvar);
	c->map.at = COPY(a, b->map.at, b->map.n);
	c->map.extent = COPY(a, b->map.extent, b->map.n);
	return c;
}

static void clone_access(Arena *a, Access *x)
{
	x->idx = COPY(a, x->idx, x->n);
}

static void clone_reduce(Arena *a, Stmt *s)
{
	s->reduce.dst = COPY(a, s->reduce.dst, s->reduce.n);
	s->reduce.value = COPY(a, s->reduce.value, s->reduce.n);
	for (int i = 0; i < s->reduce.n; i++)
		clone_access(a, &s->reduce.dst[i]);
}

static void clone_call(Arena *a, Stmt *s)
{
	s->call.arg = COPY(a, s->call.arg, s->call.n);
	for (int i = 0; i < s->call.n; i++) {
		CallArg *x = &s->call.arg[i];
		x->idx = x->buf != NULL ? COPY(a, x->idx, x->n) : NULL;
		x->len = x->buf != NULL ? COPY(a, x->len, x->n) : NULL;
	}
}

static Stmt *clone_one(Ir *ir, const Stmt *old)
{
	Arena *a = ir_arena(ir);
	Stmt *s = arena_copy(a, old, sizeof *old), **list[IR_CHILDREN];
	s->next = NULL;
	switch (s->kind) {
	case ST_BLOCK: s->block.iter = COPY(a, s->block.iter, s->block.n); break;
	case ST_STORE: clone_access(a, &s->store.dst); break;
	case ST_REDUCE: clone_reduce(a, s); break;
	case ST_ALLOC: s->alloc = clone_buf(a, s->alloc); break;
	case ST_CALL: clone_call(a, s); break;
	case ST_PREFETCH: clone_access(a, &s->prefetch); break;
	case ST_FOR:
	case ST_LET:
	case ST_IF:
	case ST_ASYNC:
	case ST_COMMIT:
	case ST_WAIT:
	case ST_BARRIER: break; /* nothing of its own but children */
	}
	for (int k = 0, n = ir_children(s, list); k < n; k++)
		*list[k] = ir_clone_stmt(ir, *list[k]);
	return s;
}

Stmt *ir_clone_stmt(Ir *ir, const Stmt *s)
{
	Stmt *first = NULL, **end = &first;
	for (; s != NULL; s = s->next) {
		*end = clone_one(ir, s);
		end = &(*end)->next;
	}
	return first;
}

Fn *ir_clone_fn(Ir *ir, const Fn *fn)
{
	Arena *a = ir_arena(ir);
	Fn *c = arena_copy(a, fn, sizeof *fn);
	c->sym = COPY(a, fn->sym, fn->nsym);
	c->param = COPY(a, fn->param, fn->nparam);
	for (int i = 0; i < c->nparam; i++)
		if (c->param[i].buf != NULL)
			c->param[i].buf = clone_buf(a, c->param[i].buf);
	c->body = ir_clone_stmt(ir, fn->body);
	return c;
}

KernelSet *ir_clone_set(const KernelSet *ks)
{
	KernelSet *c = ir_set_new(ks->ir);
	for (size_t i = 0; i < ks->nmonoid; i++)
		ir_set_add_monoid(c, ks->monoid[i]); /* immutable once in a set */
	for (size_t i = 0; i < ks->n; i++)
		ir_set_add(c, ir_clone_fn(ks->ir, ks->fn[i]));
	return c;
}
