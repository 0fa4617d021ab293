/*
 * A kernel set into another Ir. Expressions are made in the order in which the set's text has them, arguments
 * first, as the parser makes them. Their ids, and all that depends on ids, are those of the parsed text.
 */
#include "base/map.h"
#include "ir/build.h"
#include "ir/walk.h"

typedef struct Into {
	Ir *ir;
	Arena *a;
	Map now; /* the expression or the name that an old one became, by its address */
} Into;

#define COPY(a, p, n) ((n) > 0 ? arena_copy((a), (p), sizeof *(p) * (size_t)(n)) : NULL)

static const char *name_into(Into *x, const char *name)
{
	if (name == NULL)
		return NULL;
	MapEntry *e = map_add_ptr(&x->now, name);
	if (e->read == NULL)
		e->read = ir_name(x->ir, name);
	return e->read;
}

static const Expr *expr_into(Into *x, const Expr *e)
{
	if (e == NULL)
		return NULL;
	const MapEntry *known = map_find_ptr(&x->now, e);
	if (known != NULL)
		return known->read;
	const Expr *few[8], **arg = e->nargs <= 8 ? few : arena_array(x->a, const Expr *, e->nargs), *c;
	for (int i = 0; i < e->nargs; i++)
		arg[i] = expr_into(x, e->arg[i]);
	switch (e->op) {
	case IR_INT: c = ir_const_int(x->ir, e->type, e->i); break;
	case IR_FLOAT: c = ir_const_float(x->ir, e->type, e->f); break;
	case IR_VAR: c = ir_var(x->ir, name_into(x, e->name), e->type); break;
	case IR_LOAD: c = ir_load_named(x->ir, name_into(x, e->name), dtype_scalar(e->type), arg, e->nargs); break;
	default: c = ir_node(x->ir, e->op, e->type, arg, e->nargs); break;
	}
	map_add_ptr(&x->now, e)->read = c;
	return c;
}

static const Expr **exprs_into(Into *x, const Expr *const *list, int n)
{
	const Expr **c = n > 0 ? arena_array(x->a, const Expr *, n) : NULL;
	for (int i = 0; i < n; i++)
		c[i] = expr_into(x, list[i]);
	return c;
}

static const char **names_into(Into *x, const char *const *list, int n)
{
	const char **c = n > 0 ? arena_array(x->a, const char *, n) : NULL;
	for (int i = 0; i < n; i++)
		c[i] = name_into(x, list[i]);
	return c;
}

static Buf *buf_into(Into *x, const Buf *b)
{
	Buf *c = arena_copy(x->a, b, sizeof *b);
	const IndexMap *m = &b->map;
	c->name = name_into(x, b->name);
	c->scope = name_into(x, b->scope);
	c->shape = exprs_into(x, b->shape, b->rank);
	c->map.var = names_into(x, m->var, m->nvar);
	c->map.at = m->n > 0 ? arena_array(x->a, const Expr *, m->n) : NULL;
	c->map.extent = m->n > 0 ? arena_array(x->a, const Expr *, m->n) : NULL;
	for (int k = 0; k < m->n; k++) { /* the text has each extent behind its index */
		c->map.at[k] = expr_into(x, m->at[k]);
		c->map.extent[k] = expr_into(x, m->extent[k]);
	}
	return c;
}

static Access access_into(Into *x, Access a)
{
	return (Access){ name_into(x, a.buf), a.n, exprs_into(x, a.idx, a.n) };
}

static Stmt *stmts_into(Into *x, const Stmt *s);

static void block_into(Into *x, Stmt *s)
{
	s->block.name = name_into(x, s->block.name);
	s->block.iter = COPY(x->a, s->block.iter, s->block.n);
	for (int k = 0; k < s->block.n; k++) {
		Iter *it = &s->block.iter[k];
		it->name = name_into(x, it->name);
		it->lo = expr_into(x, it->lo);
		it->hi = expr_into(x, it->hi);
		it->value = expr_into(x, it->value);
	}
	s->block.where = expr_into(x, s->block.where);
	s->block.init = stmts_into(x, s->block.init);
	s->block.body = stmts_into(x, s->block.body);
}

static void reduce_into(Into *x, Stmt *s)
{
	s->reduce.old = name_into(x, s->reduce.old);
	s->reduce.monoid = name_into(x, s->reduce.monoid);
	s->reduce.dst = COPY(x->a, s->reduce.dst, s->reduce.n);
	for (int k = 0; k < s->reduce.n; k++)
		s->reduce.dst[k] = access_into(x, s->reduce.dst[k]);
	s->reduce.value = exprs_into(x, s->reduce.value, s->reduce.n);
	s->reduce.mask = expr_into(x, s->reduce.mask);
}

static void call_into(Into *x, Stmt *s)
{
	s->call.fn = name_into(x, s->call.fn);
	s->call.arg = COPY(x->a, s->call.arg, s->call.n);
	for (int k = 0; k < s->call.n; k++) {
		CallArg *c = &s->call.arg[k];
		const Expr *const *idx = c->idx, *const *len = c->len;
		if (c->buf == NULL) {
			*c = (CallArg){ .value = expr_into(x, c->value) };
			continue;
		}
		c->buf = name_into(x, c->buf);
		c->idx = c->n > 0 ? arena_array(x->a, const Expr *, c->n) : NULL;
		c->len = c->n > 0 ? arena_array(x->a, const Expr *, c->n) : NULL;
		for (int j = 0; j < c->n; j++) {
			c->idx[j] = expr_into(x, idx[j]);
			c->len[j] = expr_into(x, len[j]);
		}
	}
}

static Stmt *stmt_into(Into *x, const Stmt *old)
{
	Stmt *s = arena_copy(x->a, old, sizeof *old);
	s->next = NULL;
	switch (s->kind) {
	case ST_FOR:
		s->loop.var = name_into(x, s->loop.var);
		s->loop.lo = expr_into(x, s->loop.lo);
		s->loop.hi = expr_into(x, s->loop.hi);
		s->loop.axis = name_into(x, s->loop.axis);
		s->loop.body = stmts_into(x, s->loop.body);
		break;
	case ST_BLOCK: block_into(x, s); break;
	case ST_STORE:
		s->store.dst = access_into(x, s->store.dst);
		s->store.value = expr_into(x, s->store.value);
		s->store.mask = expr_into(x, s->store.mask);
		break;
	case ST_REDUCE: reduce_into(x, s); break;
	case ST_LET:
		s->let.var = name_into(x, s->let.var);
		s->let.value = expr_into(x, s->let.value);
		break;
	case ST_ALLOC: s->alloc = buf_into(x, s->alloc); break;
	case ST_IF:
		s->branch.cond = expr_into(x, s->branch.cond);
		s->branch.then = stmts_into(x, s->branch.then);
		s->branch.other = stmts_into(x, s->branch.other);
		break;
	case ST_CALL: call_into(x, s); break;
	case ST_ASYNC: s->async = stmts_into(x, s->async); break;
	case ST_BARRIER: s->barrier = name_into(x, s->barrier); break;
	case ST_PREFETCH: s->prefetch = access_into(x, s->prefetch); break;
	case ST_COMMIT:
	case ST_WAIT: break;
	}
	return s;
}

static Stmt *stmts_into(Into *x, const Stmt *s)
{
	Stmt *first = NULL, **end = &first;
	for (; s != NULL; s = s->next, end = &(*end)->next)
		*end = stmt_into(x, s);
	return first;
}

static Monoid *monoid_into(Into *x, const Monoid *m)
{
	Monoid *c = arena_copy(x->a, m, sizeof *m);
	c->name = name_into(x, m->name);
	c->type = COPY(x->a, m->type, m->n);
	c->left = names_into(x, m->left, m->n);
	c->right = names_into(x, m->right, m->n);
	c->identity = exprs_into(x, m->identity, m->n);
	c->combine = exprs_into(x, m->combine, m->n);
	return c;
}

static Fn *fn_into(Into *x, const Fn *fn)
{
	Fn *c = arena_copy(x->a, fn, sizeof *fn);
	c->name = name_into(x, fn->name);
	c->sym = COPY(x->a, fn->sym, fn->nsym);
	for (int k = 0; k < c->nsym; k++)
		c->sym[k].name = name_into(x, c->sym[k].name);
	c->param = COPY(x->a, fn->param, fn->nparam);
	for (int k = 0; k < c->nparam; k++) {
		c->param[k].name = name_into(x, c->param[k].name);
		if (c->param[k].buf != NULL)
			c->param[k].buf = buf_into(x, c->param[k].buf);
	}
	c->body = stmts_into(x, fn->body);
	return c;
}

KernelSet *ir_clone_set_into(Ir *ir, const KernelSet *ks)
{
	Into x = { .ir = ir, .a = ir_arena(ir), .now = MAP_OF(ir_arena(ir)) };
	KernelSet *c = ir_set_new(ir);
	for (size_t k = 0; k < ks->nmonoid; k++)
		ir_set_add_monoid(c, monoid_into(&x, ks->monoid[k]));
	for (size_t k = 0; k < ks->n; k++)
		ir_set_add(c, fn_into(&x, ks->fn[k]));
	return c;
}
