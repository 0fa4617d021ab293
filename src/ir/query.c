/* See query.h. */
#include "ir/query.h"

#include <string.h>

static Stmt **find_link(Stmt **list, bool (*is)(const Stmt *s, void *arg), void *arg)
{
	for (; *list != NULL; list = &(*list)->next) {
		Stmt **below[IR_CHILDREN], **found = is(*list, arg) ? list : NULL;
		for (int k = 0, n = ir_children(*list, below); k < n && found == NULL; k++)
			found = find_link(below[k], is, arg);
		if (found != NULL)
			return found;
	}
	return NULL;
}

Stmt *ir_find_stmt(Stmt *list, bool (*is)(const Stmt *s, void *arg), void *arg)
{
	Stmt **link = find_link(&list, is, arg);
	return link != NULL ? *link : NULL;
}

Stmt *ir_find_below(const Stmt *s, bool (*is)(const Stmt *s, void *arg), void *arg)
{
	Stmt **below[IR_CHILDREN], *found = NULL;
	for (int k = 0, n = ir_children(s, below); k < n && found == NULL; k++)
		found = ir_find_stmt(*below[k], is, arg);
	return found;
}

static bool is_it(const Stmt *s, void *wanted)
{
	return s == wanted;
}

Stmt **ir_link_to(Stmt **list, const Stmt *s)
{
	return find_link(list, is_it, (void *)(uintptr_t)s);
}

bool ir_is_below(const Stmt *s, const Stmt *below)
{
	return ir_find_below(s, is_it, (void *)(uintptr_t)below) != NULL;
}

typedef struct NodeSearch {
	bool (*is)(const Expr *e, void *arg);
	void *arg;
	const Expr *found;
} NodeSearch;

static void find_in_expr(const Expr *e, void *arg)
{
	NodeSearch *x = arg;
	if (x->found == NULL)
		x->found = ir_find_node(e, x->is, x->arg);
}

const Expr *ir_find_node_of(const Stmt *s, bool (*is)(const Expr *e, void *arg), void *arg)
{
	NodeSearch x = { is, arg, NULL };
	ir_each_expr(s, find_in_expr, &x);
	return x.found;
}

static bool find_in_stmt(const Stmt *s, void *arg)
{
	ir_each_expr(s, find_in_expr, arg);
	return ((const NodeSearch *)arg)->found != NULL;
}

const Expr *ir_find_node_in(Stmt *list, bool (*is)(const Expr *e, void *arg), void *arg)
{
	NodeSearch x = { is, arg, NULL };
	ir_find_stmt(list, find_in_stmt, &x);
	return x.found;
}

typedef struct Nodes {
	void (*f)(const Expr *e, void *arg);
	void *arg;
} Nodes;

static void each_part(const Expr *e, void *arg)
{
	const Nodes *x = arg;
	ir_each_node(e, x->f, x->arg);
}

void ir_each_node_of(const Stmt *s, void (*f)(const Expr *e, void *arg), void *arg)
{
	ir_each_expr(s, each_part, &(Nodes){ f, arg });
}

static bool each_expr_of(Stmt *s, void *arg)
{
	ir_each_expr(s, each_part, arg);
	return true;
}

void ir_each_node_in(Stmt *list, void (*f)(const Expr *e, void *arg), void *arg)
{
	ir_each_stmt(list, each_expr_of, &(Nodes){ f, arg });
}

bool ir_has_load(const Expr *e)
{
	return e != NULL && (e->names & IR_LOADS) != 0;
}

typedef struct Uses {
	void (*f)(const IrUse *use, void *arg);
	void *arg;
	Stmt *stmt;
	const char *buf; /* whose uses are wanted; NULL: all */
	uint32_t names;
} Uses;

static void use_load(const Expr *e, void *arg)
{
	const Uses *x = arg;
	if (e->op == IR_LOAD && (x->buf == NULL || strcmp(x->buf, e->name) == 0))
		x->f(&(IrUse){ USE_LOAD, x->stmt, e->name, e->arg, e->nargs }, x->arg);
}

static void use_loads(const Expr *e, void *arg)
{
	const Uses *x = arg;
	if ((e->names & x->names) == x->names)
		ir_each_node(e, use_load, arg);
}

static void use_access(const Uses *x, IrUseKind kind, const Access *a)
{
	if (x->buf == NULL || strcmp(x->buf, a->buf) == 0)
		x->f(&(IrUse){ kind, x->stmt, a->buf, a->idx, a->n }, x->arg);
}

static bool use_stmt(Stmt *s, void *arg)
{
	Uses *x = arg;
	x->stmt = s;
	ir_each_expr(s, use_loads, x);
	if (s->kind == ST_STORE)
		use_access(x, USE_STORE, &s->store.dst);
	if (s->kind == ST_PREFETCH)
		use_access(x, USE_PREFETCH, &s->prefetch);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		use_access(x, USE_REDUCE, &s->reduce.dst[k]);
	for (int k = 0; s->kind == ST_CALL && k < s->call.n; k++) {
		const CallArg *a = &s->call.arg[k];
		if (a->buf != NULL && (x->buf == NULL || strcmp(x->buf, a->buf) == 0))
			x->f(&(IrUse){ USE_WINDOW, s, a->buf, a->idx, a->n }, x->arg);
	}
	return true;
}

void ir_each_use(Stmt *list, void (*f)(const IrUse *use, void *arg), void *arg)
{
	ir_each_stmt(list, use_stmt, &(Uses){ f, arg, NULL, NULL, IR_LOADS });
}

void ir_each_use_of(Stmt *list, const char *buf, void (*f)(const IrUse *use, void *arg), void *arg)
{
	ir_each_stmt(list, use_stmt, &(Uses){ f, arg, NULL, buf, IR_LOADS | ir_name_bit(buf) });
}

void ir_each_use_below(const Stmt *s, void (*f)(const IrUse *use, void *arg), void *arg)
{
	ir_each_below(s, use_stmt, &(Uses){ f, arg, NULL, NULL, IR_LOADS });
}

void ir_each_buf_name(Stmt *s, void (*f)(const char **buf, void *arg), void *arg)
{
	if (s->kind == ST_STORE)
		f(&s->store.dst.buf, arg);
	if (s->kind == ST_PREFETCH)
		f(&s->prefetch.buf, arg);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		f(&s->reduce.dst[k].buf, arg);
	for (int k = 0; s->kind == ST_CALL && k < s->call.n; k++)
		if (s->call.arg[k].buf != NULL)
			f(&s->call.arg[k].buf, arg);
}

void ir_each_declared(Stmt *s, void (*f)(const char **name, void *arg), void *arg)
{
	switch (s->kind) {
	case ST_FOR: f(&s->loop.var, arg); break;
	case ST_BLOCK:
		for (int k = 0; k < s->block.n; k++)
			f(&s->block.iter[k].name, arg);
		break;
	case ST_LET: f(&s->let.var, arg); break;
	case ST_ALLOC: f(&s->alloc->name, arg); break;
	case ST_REDUCE:
		if (s->reduce.old != NULL)
			f(&s->reduce.old, arg);
		break;
	default: break;
	}
}

typedef struct NameSearch {
	const char *name;
	bool found;
} NameSearch;

static void look_at_name(const char **name, void *arg)
{
	NameSearch *x = arg;
	x->found |= strcmp(*name, x->name) == 0;
}

static bool declares(const Stmt *s, void *arg)
{
	NameSearch x = { arg, false };
	ir_each_declared((Stmt *)(uintptr_t)s, look_at_name, &x);
	return x.found;
}

bool ir_declares(Stmt *list, const char *name)
{
	return ir_find_stmt(list, declares, (void *)(uintptr_t)name) != NULL;
}

static bool is_alloc_of(const Stmt *s, void *buf)
{
	return s->kind == ST_ALLOC && strcmp(s->alloc->name, buf) == 0;
}

Stmt **ir_find_alloc(Stmt **list, const char *buf)
{
	return find_link(list, is_alloc_of, (void *)(uintptr_t)buf);
}
