/*
 * What several passes share: rewriting lists of statements, renaming what a copy declares, looking buffers up.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool lower_refuse(Lower *l, const Stmt *s, const char *fmt, ...)
{
	char place[192], text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (s != NULL && s->line > 0)
		snprintf(place, sizeof place, "%.150s:%d", l->fn->name, s->line);
	else
		snprintf(place, sizeof place, "%.150s", l->fn->name);
	return fail(l->err, ERR_UNSUPPORTED, place, "%s", text);
}

bool lower_rewrite(Lower *l, Stmt **list, LowerFn f)
{
	Stmt *s = *list, **end = list;
	*list = NULL;
	while (s != NULL) {
		Stmt *next = s->next, *out = NULL, **below[IR_CHILDREN];
		s->next = NULL;
		for (int k = 0, n = ir_children(s, below); k < n; k++)
			if (!lower_rewrite(l, below[k], f))
				return false;
		if (!f(l, s, &out))
			return false;
		*end = out;
		while (*end != NULL)
			end = &(*end)->next;
		s = next;
	}
	return true;
}

void lower_each_alone(Lower *l, Stmt *s, void (*f)(Lower *l, Stmt *s, const Range *env), const Range *env)
{
	for (; s != NULL; s = s->next) {
		Stmt one = *s;
		one.next = NULL;
		if (s->kind == ST_FOR)
			one.loop.body = NULL;
		if (s->kind == ST_IF)
			one.branch.then = one.branch.other = NULL;
		if (s->kind == ST_ASYNC)
			one.async = NULL;
		f(l, &one, env);
		Stmt *next = s->next;
		if (s->kind == ST_FOR) {
			lower_each_alone(l, s->loop.body, f, lower_range(l, s, false, env));
			one.loop.body = s->loop.body;
		} else if (s->kind == ST_IF) {
			lower_each_alone(l, s->branch.then, f, lower_range(l, s, false, env));
			lower_each_alone(l, s->branch.other, f, lower_range(l, s, true, env));
			one.branch.then = s->branch.then;
			one.branch.other = s->branch.other;
		} else if (s->kind == ST_ASYNC) {
			lower_each_alone(l, s->async, f, env);
			one.async = s->async;
		} else if (s->kind == ST_LET) {
			env = lower_range(l, s, false, env);
		}
		*s = one;
		s->next = next;
	}
}

Stmt *lower_copy_node(Lower *l, const Stmt *s)
{
	Stmt *c = arena_copy(l->arena, s, sizeof *s);
	c->next = NULL;
	return c;
}

/* New names by the old ones' addresses: names are interned. */
typedef struct Names {
	Ir *ir;
	Map now;
} Names;

static const char *names_now(const Names *m, const char *name)
{
	const MapEntry *e = map_find_ptr(&m->now, name);
	return e == NULL ? name : e->read;
}

static void rename_declared(const char **name, void *arg)
{
	Names *m = arg;
	MapEntry *e = map_add_ptr(&m->now, *name);
	if (e->read == NULL)
		e->read = ir_fresh_name(m->ir, *name);
	*name = e->read;
}

static bool declare(Stmt *s, void *arg)
{
	if (s->kind == ST_BLOCK) /* a buffer may be called the same */
		s->block.name = ir_fresh_name(((const Names *)arg)->ir, s->block.name);
	ir_each_declared(s, rename_declared, arg);
	return true;
}

static const Expr *renamed(Ir *ir, const Expr *e, void *arg)
{
	if (e->op != IR_VAR && e->op != IR_LOAD)
		return e;
	const char *now = names_now(arg, e->name);
	if (now == e->name)
		return e;
	return e->op == IR_VAR ? ir_var(ir, now, e->type) : ir_load_named(ir, now, dtype_scalar(e->type), e->arg, e->nargs);
}

static void rename_buf(const char **buf, void *arg)
{
	*buf = names_now(arg, *buf);
}

static bool rename_accesses(Stmt *s, void *arg)
{
	ir_each_buf_name(s, rename_buf, arg);
	return true;
}

void lower_rename(Lower *l, Stmt *list)
{
	Names m = { l->ir, MAP_OF(l->arena) };
	ir_each_stmt(list, declare, &m);
	if (m.now.index.n == 0)
		return;
	ir_each_stmt(list, rename_accesses, &m);
	ir_map_stmt(l->ir, list, renamed, &m);
}

static bool is_second_let(const Stmt *s, void *seen)
{
	return s->kind == ST_LET && map_add_ptr(seen, s->let.var)->num++ > 0;
}

static void rename_lists(Lower *l, Stmt *list)
{
	for (Stmt *s = list; s != NULL; s = s->next)
		if (s->kind == ST_LET) {
			lower_rename(l, list);
			break;
		}
	for (Stmt *s = list; s != NULL; s = s->next) {
		Stmt **below[IR_CHILDREN];
		for (int k = 0, n = ir_children(s, below); k < n; k++)
			if (s->kind != ST_BLOCK || below[k] == &s->block.body)
				rename_lists(l, *below[k]);
	}
}

void lower_separate_lets(Lower *l)
{
	Map seen = MAP_OF(l->arena);
	if (ir_find_stmt(l->fn->body, is_second_let, &seen) != NULL)
		rename_lists(l, l->fn->body);
}

static bool add_alloc(Stmt *s, void *arg)
{
	if (s->kind == ST_ALLOC)
		map_add_ptr(arg, s->alloc->name)->ptr = s->alloc;
	return true;
}

bool lower_is_alloc(const Lower *l, const char *buf)
{
	for (int k = 0; k < l->fn->nparam; k++)
		if (l->fn->param[k].name == buf)
			return false;
	return true;
}

bool lower_is_private(const Lower *l, const Buf *b)
{
	return b != NULL && strcmp(b->scope, "shared") != 0 && lower_is_alloc(l, b->name);
}

const Expr *lower_all_lanes(Ir *ir, int lanes)
{
	return ir_ramp(ir, ir_int(ir, 0), ir_int(ir, 1), lanes);
}

Map *lower_bufs(Lower *l)
{
	Map *b = arena_new_of(l->arena, Map);
	*b = MAP_OF(l->arena);
	for (int k = 0; k < l->fn->nparam; k++)
		if (l->fn->param[k].buf != NULL)
			map_add_ptr(b, l->fn->param[k].buf->name)->ptr = l->fn->param[k].buf;
	ir_each_stmt(l->fn->body, add_alloc, b);
	return b;
}

Buf *lower_buf(const Map *bufs, const char *name)
{
	const MapEntry *e = map_find_ptr(bufs, name);
	return e == NULL ? NULL : e->ptr;
}

const Range *lower_range(Lower *l, const Stmt *s, bool other, const Range *env)
{
	switch (s->kind) {
	case ST_FOR: return ir_range_for(l->ir, s->loop.var, s->loop.lo, s->loop.hi, env);
	case ST_IF: return ir_range_if(l->ir, s->branch.cond, !other, env);
	case ST_LET: return ir_range_let(l->ir, s->let.var, s->let.value, env);
	default: return env;
	}
}
