/*
 * What several passes share: rewriting lists of statements, renaming what a copy declares, looking buffers up.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/walk.h"

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

static bool rewrite_children(Lower *l, Stmt *s, LowerFn f)
{
	switch (s->kind) {
	case ST_FOR: return lower_rewrite(l, &s->loop.body, f);
	case ST_BLOCK: return lower_rewrite(l, &s->block.init, f) && lower_rewrite(l, &s->block.body, f);
	case ST_IF: return lower_rewrite(l, &s->branch.then, f) && lower_rewrite(l, &s->branch.other, f);
	case ST_ASYNC: return lower_rewrite(l, &s->async, f);
	default: return true;
	}
}

bool lower_rewrite(Lower *l, Stmt **list, LowerFn f)
{
	Stmt *s = *list, **end = list;
	*list = NULL;
	while (s != NULL) {
		Stmt *next = s->next, *out = NULL;
		s->next = NULL;
		if (!rewrite_children(l, s, f) || !f(l, s, &out))
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
		} else if (s->kind == ST_LET) {
			env = lower_range(l, s, false, env);
		}
		*s = one;
		s->next = next;
	}
}

bool lower_any(const Stmt *s, bool (*f)(const Stmt *s))
{
	for (; s != NULL; s = s->next) {
		if (f(s))
			return true;
		switch (s->kind) {
		case ST_FOR:
			if (lower_any(s->loop.body, f))
				return true;
			break;
		case ST_BLOCK:
			if (lower_any(s->block.init, f) || lower_any(s->block.body, f))
				return true;
			break;
		case ST_IF:
			if (lower_any(s->branch.then, f) || lower_any(s->branch.other, f))
				return true;
			break;
		case ST_ASYNC:
			if (lower_any(s->async, f))
				return true;
			break;
		default: break;
		}
	}
	return false;
}

static void note_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		*(bool *)arg = true;
}

bool lower_has_load(const Expr *e)
{
	bool found = false;
	if (e != NULL)
		ir_each_node(e, note_load, &found);
	return found;
}

Stmt *lower_copy_node(Lower *l, const Stmt *s)
{
	Stmt *c = arena_copy(l->arena, s, sizeof *s);
	c->next = NULL;
	return c;
}

/* New names by the old ones' addresses: names are interned. */
typedef struct Names {
	Lower *l;
	Map now;
} Names;

static const char *names_now(const Names *m, const char *name)
{
	const MapEntry *e = map_find_ptr(&m->now, name);
	return e == NULL ? name : e->read;
}

static const char *names_add(Names *m, const char *name)
{
	MapEntry *e = map_add_ptr(&m->now, name);
	if (e->read == NULL)
		e->read = ir_fresh_name(m->l->ir, name);
	return e->read;
}

static bool declare(Stmt *s, void *arg)
{
	Names *m = arg;
	switch (s->kind) {
	case ST_FOR: s->loop.var = names_add(m, s->loop.var); break;
	case ST_BLOCK:
		s->block.name = ir_fresh_name(m->l->ir, s->block.name); /* a buffer may be called the same */
		for (int k = 0; k < s->block.n; k++)
			s->block.iter[k].name = names_add(m, s->block.iter[k].name);
		break;
	case ST_LET: s->let.var = names_add(m, s->let.var); break;
	case ST_ALLOC: s->alloc->name = names_add(m, s->alloc->name); break;
	case ST_REDUCE:
		if (s->reduce.old != NULL)
			s->reduce.old = names_add(m, s->reduce.old);
		break;
	default: break;
	}
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

static bool rename_accesses(Stmt *s, void *arg)
{
	const Names *m = arg;
	if (s->kind == ST_STORE)
		s->store.dst.buf = names_now(m, s->store.dst.buf);
	if (s->kind == ST_PREFETCH)
		s->prefetch.buf = names_now(m, s->prefetch.buf);
	if (s->kind == ST_REDUCE)
		for (int k = 0; k < s->reduce.n; k++)
			s->reduce.dst[k].buf = names_now(m, s->reduce.dst[k].buf);
	if (s->kind == ST_CALL)
		for (int k = 0; k < s->call.n; k++)
			if (s->call.arg[k].buf != NULL)
				s->call.arg[k].buf = names_now(m, s->call.arg[k].buf);
	return true;
}

void lower_rename(Lower *l, Stmt *list)
{
	Names m = { .l = l, .now = MAP_OF(l->arena) };
	ir_each_stmt(list, declare, &m);
	if (m.now.index.n == 0)
		return;
	ir_each_stmt(list, rename_accesses, &m);
	ir_map_stmt(l->ir, list, renamed, &m);
}

/* The lets of a Fn, and whether two share a name. */
typedef struct Lets {
	Map seen;
	bool twice;
} Lets;

static bool see_let(Stmt *s, void *arg)
{
	Lets *t = arg;
	if (s->kind != ST_LET)
		return true;
	uint32_t before = t->seen.index.n;
	map_add_ptr(&t->seen, s->let.var);
	t->twice = t->twice || t->seen.index.n == before;
	return true;
}

static void rename_lists(Lower *l, Stmt *list)
{
	for (Stmt *s = list; s != NULL; s = s->next)
		if (s->kind == ST_LET) {
			lower_rename(l, list);
			break;
		}
	for (Stmt *s = list; s != NULL; s = s->next) {
		if (s->kind == ST_FOR)
			rename_lists(l, s->loop.body);
		if (s->kind == ST_IF)
			rename_lists(l, s->branch.then);
		if (s->kind == ST_IF)
			rename_lists(l, s->branch.other);
		if (s->kind == ST_BLOCK)
			rename_lists(l, s->block.body);
	}
}

void lower_separate_lets(Lower *l)
{
	Lets t = { .seen = MAP_OF(l->arena) };
	ir_each_stmt(l->fn->body, see_let, &t);
	if (t.twice)
		rename_lists(l, l->fn->body);
}

static bool add_alloc(Stmt *s, void *arg)
{
	if (s->kind == ST_ALLOC)
		map_add_ptr(arg, s->alloc->name)->ptr = s->alloc;
	return true;
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
