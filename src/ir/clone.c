/*
 * Deep copies of statements, Fns and kernel sets. Within one Ir expressions, names and monoids are shared, since they
 * are immutable; buffers' declarations are copied, since passes edit them in place. Into another Ir expressions are
 * made in the order in which the set's text has them, arguments first, as the parser makes them: their ids, and all
 * that depends on ids, are those of the parsed text.
 */
#include "base/map.h"
#include "ir/build.h"
#include "ir/walk.h"

typedef struct Copy {
	Ir *ir;
	Arena *a;
	bool other; /* another Ir than that of the original */
	Map now;    /* then: the expression or the name that an old one became, by its address */
} Copy;

#define COPY(a, p, n) ((n) > 0 ? arena_copy((a), (p), sizeof *(p) * (size_t)(n)) : NULL)

static const char *copy_name(Copy *x, const char *name)
{
	if (name == NULL || !x->other)
		return name;
	MapEntry *e = map_add_ptr(&x->now, name);
	if (e->read == NULL)
		e->read = ir_name(x->ir, name);
	return e->read;
}

static const Expr *copy_expr(Copy *x, const Expr *e)
{
	if (e == NULL || !x->other)
		return e;
	const MapEntry *known = map_find_ptr(&x->now, e);
	if (known != NULL)
		return known->read;
	const Expr *few[8], **arg = e->nargs <= 8 ? few : arena_array(x->a, const Expr *, e->nargs), *c;
	for (int i = 0; i < e->nargs; i++)
		arg[i] = copy_expr(x, e->arg[i]);
	switch (e->op) {
	case IR_INT: c = ir_const_int(x->ir, e->type, e->i); break;
	case IR_FLOAT: c = ir_const_float(x->ir, e->type, e->f); break;
	case IR_VAR: c = ir_var(x->ir, copy_name(x, e->name), e->type); break;
	case IR_LOAD: c = ir_load_named(x->ir, copy_name(x, e->name), dtype_scalar(e->type), arg, e->nargs); break;
	default: c = ir_node(x->ir, e->op, e->type, arg, e->nargs); break;
	}
	map_add_ptr(&x->now, e)->read = c;
	return c;
}

static const Expr **copy_exprs(Copy *x, const Expr *const *list, int n)
{
	const Expr **c = n > 0 ? arena_array(x->a, const Expr *, n) : NULL;
	for (int i = 0; i < n; i++)
		c[i] = copy_expr(x, list[i]);
	return c;
}

static const char **copy_names(Copy *x, const char *const *list, int n)
{
	const char **c = n > 0 ? arena_array(x->a, const char *, n) : NULL;
	for (int i = 0; i < n; i++)
		c[i] = copy_name(x, list[i]);
	return c;
}

static Buf *copy_buf(Copy *x, const Buf *b)
{
	Buf *c = arena_copy(x->a, b, sizeof *b);
	const IndexMap *m = &b->map;
	c->name = copy_name(x, b->name);
	c->scope = copy_name(x, b->scope);
	c->shape = copy_exprs(x, b->shape, b->rank);
	c->map.var = copy_names(x, m->var, m->nvar);
	c->map.at = m->n > 0 ? arena_array(x->a, const Expr *, m->n) : NULL;
	c->map.extent = m->n > 0 ? arena_array(x->a, const Expr *, m->n) : NULL;
	for (int k = 0; k < m->n; k++) { /* the text has each extent behind its index */
		c->map.at[k] = copy_expr(x, m->at[k]);
		c->map.extent[k] = copy_expr(x, m->extent[k]);
	}
	return c;
}

static Access copy_access(Copy *x, Access a)
{
	return (Access){ copy_name(x, a.buf), a.n, copy_exprs(x, a.idx, a.n) };
}

static Stmt *copy_stmts(Copy *x, const Stmt *s);

static void copy_block(Copy *x, Stmt *s)
{
	s->block.name = copy_name(x, s->block.name);
	s->block.iter = COPY(x->a, s->block.iter, s->block.n);
	for (int k = 0; k < s->block.n; k++) {
		Iter *it = &s->block.iter[k];
		it->name = copy_name(x, it->name);
		it->lo = copy_expr(x, it->lo);
		it->hi = copy_expr(x, it->hi);
		it->value = copy_expr(x, it->value);
	}
	s->block.where = copy_expr(x, s->block.where);
	s->block.init = copy_stmts(x, s->block.init);
	s->block.body = copy_stmts(x, s->block.body);
}

static void copy_call(Copy *x, Stmt *s)
{
	s->call.fn = copy_name(x, s->call.fn);
	s->call.arg = COPY(x->a, s->call.arg, s->call.n);
	for (int k = 0; k < s->call.n; k++) {
		CallArg *c = &s->call.arg[k];
		const Expr *const *idx = c->idx, *const *len = c->len;
		if (c->buf == NULL) {
			*c = (CallArg){ .value = copy_expr(x, c->value) };
			continue;
		}
		c->buf = copy_name(x, c->buf);
		c->idx = c->n > 0 ? arena_array(x->a, const Expr *, c->n) : NULL;
		c->len = c->n > 0 ? arena_array(x->a, const Expr *, c->n) : NULL;
		for (int j = 0; j < c->n; j++) {
			c->idx[j] = copy_expr(x, idx[j]);
			c->len[j] = copy_expr(x, len[j]);
		}
	}
}

static Stmt *copy_stmt(Copy *x, const Stmt *old)
{
	Stmt *s = arena_copy(x->a, old, sizeof *old);
	s->next = NULL;
	switch (s->kind) {
	case ST_FOR:
		s->loop.var = copy_name(x, s->loop.var);
		s->loop.lo = copy_expr(x, s->loop.lo);
		s->loop.hi = copy_expr(x, s->loop.hi);
		s->loop.axis = copy_name(x, s->loop.axis);
		s->loop.body = copy_stmts(x, s->loop.body);
		break;
	case ST_BLOCK: copy_block(x, s); break;
	case ST_STORE:
		s->store.dst = copy_access(x, s->store.dst);
		s->store.value = copy_expr(x, s->store.value);
		s->store.mask = copy_expr(x, s->store.mask);
		break;
	case ST_REDUCE:
		s->reduce.old = copy_name(x, s->reduce.old);
		s->reduce.monoid = copy_name(x, s->reduce.monoid);
		s->reduce.dst = COPY(x->a, s->reduce.dst, s->reduce.n);
		for (int k = 0; k < s->reduce.n; k++)
			s->reduce.dst[k] = copy_access(x, s->reduce.dst[k]);
		s->reduce.value = copy_exprs(x, s->reduce.value, s->reduce.n);
		s->reduce.mask = copy_expr(x, s->reduce.mask);
		break;
	case ST_LET:
		s->let.var = copy_name(x, s->let.var);
		s->let.value = copy_expr(x, s->let.value);
		break;
	case ST_ALLOC: s->alloc = copy_buf(x, s->alloc); break;
	case ST_IF:
		s->branch.cond = copy_expr(x, s->branch.cond);
		s->branch.then = copy_stmts(x, s->branch.then);
		s->branch.other = copy_stmts(x, s->branch.other);
		break;
	case ST_CALL: copy_call(x, s); break;
	case ST_ASYNC: s->async = copy_stmts(x, s->async); break;
	case ST_BARRIER: s->barrier = copy_name(x, s->barrier); break;
	case ST_PREFETCH: s->prefetch = copy_access(x, s->prefetch); break;
	case ST_COMMIT:
	case ST_WAIT: break;
	}
	return s;
}

static Stmt *copy_stmts(Copy *x, const Stmt *s)
{
	Stmt *first = NULL, **end = &first;
	for (; s != NULL; s = s->next, end = &(*end)->next)
		*end = copy_stmt(x, s);
	return first;
}

static Fn *copy_fn(Copy *x, const Fn *fn)
{
	Fn *c = arena_copy(x->a, fn, sizeof *fn);
	c->name = copy_name(x, fn->name);
	c->sym = COPY(x->a, fn->sym, fn->nsym);
	for (int k = 0; k < c->nsym; k++)
		c->sym[k].name = copy_name(x, c->sym[k].name);
	c->param = COPY(x->a, fn->param, fn->nparam);
	for (int k = 0; k < c->nparam; k++) {
		c->param[k].name = copy_name(x, c->param[k].name);
		if (c->param[k].buf != NULL)
			c->param[k].buf = copy_buf(x, c->param[k].buf);
	}
	c->body = copy_stmts(x, fn->body);
	return c;
}

Stmt *ir_clone_stmt(Ir *ir, const Stmt *s)
{
	return copy_stmts(&(Copy){ .ir = ir, .a = ir_arena(ir) }, s);
}

Fn *ir_clone_fn(Ir *ir, const Fn *fn)
{
	return copy_fn(&(Copy){ .ir = ir, .a = ir_arena(ir) }, fn);
}

/* In an Ir that has the set's expressions. */
static KernelSet *clone_set_in(Ir *ir, const KernelSet *ks)
{
	KernelSet *c = ir_set_new(ir);
	for (size_t k = 0; k < ks->nmonoid; k++)
		ir_set_add_monoid(c, ks->monoid[k]);
	for (size_t k = 0; k < ks->n; k++)
		ir_set_add(c, ir_clone_fn(ir, ks->fn[k]));
	return c;
}

KernelSet *ir_clone_set(const KernelSet *ks)
{
	return clone_set_in(ks->ir, ks);
}

KernelSet *ir_fork_set(Arena *a, const KernelSet *ks)
{
	return clone_set_in(ir_fork(a, ks->ir), ks);
}

KernelSet *ir_clone_set_into(Ir *ir, const KernelSet *ks)
{
	Copy x = { .ir = ir, .a = ir_arena(ir), .other = true, .now = MAP_OF(ir_arena(ir)) };
	KernelSet *c = ir_set_new(ir);
	for (size_t k = 0; k < ks->nmonoid; k++) {
		Monoid *m = arena_copy(x.a, ks->monoid[k], sizeof *m);
		m->name = copy_name(&x, m->name);
		m->type = COPY(x.a, m->type, m->n);
		m->left = copy_names(&x, m->left, m->n);
		m->right = copy_names(&x, m->right, m->n);
		m->identity = copy_exprs(&x, m->identity, m->n);
		m->combine = copy_exprs(&x, m->combine, m->n);
		ir_set_add_monoid(c, m);
	}
	for (size_t k = 0; k < ks->n; k++)
		ir_set_add(c, copy_fn(&x, ks->fn[k]));
	return c;
}
