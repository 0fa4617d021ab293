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
	case ST_BLOCK:
		return lower_rewrite(l, &s->block.init, f) && lower_rewrite(l, &s->block.body, f);
	case ST_IF:
		return lower_rewrite(l, &s->branch.then, f) &&
		       lower_rewrite(l, &s->branch.other, f);
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

/* Old and new names, found by the old one's address: names are interned. */
typedef struct Names {
	Lower *l;
	size_t n, cap;
	struct Renamed {
		const char *old, *now;
	} *slot;
} Names;

static struct Renamed *names_slot(const Names *m, const char *name)
{
	size_t h = (size_t)((uintptr_t)name * 0x9e3779b97f4a7c15u >> 20);
	for (;; h++) {
		struct Renamed *r = &m->slot[h & (m->cap - 1)];
		if (r->old == NULL || r->old == name)
			return r;
	}
}

static const char *names_now(const Names *m, const char *name)
{
	const struct Renamed *r = names_slot(m, name);
	return r->old == NULL ? name : r->now;
}

static const char *names_add(Names *m, const char *name)
{
	struct Renamed *r = names_slot(m, name);
	if (r->old == NULL) {
		*r = (struct Renamed){ name, ir_fresh_name(m->l->ir, name) };
		m->n++;
	}
	return r->now;
}

/* Room for what one statement declares. */
static void names_room(Names *m)
{
	if (2 * (m->n + 8) <= m->cap)
		return;
	struct Renamed *was = m->slot;
	size_t cap = m->cap;
	m->cap = cap * 4;
	m->slot = arena_array(m->l->arena, struct Renamed, m->cap);
	for (size_t k = 0; k < cap; k++)
		if (was[k].old != NULL)
			*names_slot(m, was[k].old) = was[k];
}

static bool declare(Stmt *s, void *arg)
{
	Names *m = arg;
	names_room(m);
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
	return e->op == IR_VAR ? ir_var(ir, now, e->type)
	                       : ir_load_named(ir, now, dtype_scalar(e->type), e->arg, e->nargs);
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
	Names m = { .l = l, .cap = 64 };
	m.slot = arena_array(l->arena, struct Renamed, m.cap);
	ir_each_stmt(list, declare, &m);
	if (m.n == 0)
		return;
	ir_each_stmt(list, rename_accesses, &m);
	ir_map_stmt(l->ir, list, renamed, &m);
}

typedef struct Twins {
	Names seen;
	bool any;
} Twins;

static bool see_let(Stmt *s, void *arg)
{
	Twins *t = arg;
	if (s->kind != ST_LET)
		return true;
	names_room(&t->seen);
	struct Renamed *r = names_slot(&t->seen, s->let.var);
	t->any = t->any || r->old != NULL;
	if (r->old == NULL) {
		*r = (struct Renamed){ s->let.var, s->let.var };
		t->seen.n++;
	}
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
	Twins t = { .seen = { .l = l, .cap = 64 } };
	t.seen.slot = arena_array(l->arena, struct Renamed, t.seen.cap);
	ir_each_stmt(l->fn->body, see_let, &t);
	if (t.any)
		rename_lists(l, l->fn->body);
}

struct LowerBufs {
	size_t n, cap;
	Buf **slot;
};

static Buf **bufs_slot(const LowerBufs *b, const char *name)
{
	size_t h = (size_t)((uintptr_t)name * 0x9e3779b97f4a7c15u >> 20);
	for (;; h++) {
		Buf **at = &b->slot[h & (b->cap - 1)];
		if (*at == NULL || (*at)->name == name)
			return at;
	}
}

void lower_bufs_add(Lower *l, LowerBufs *b, Buf *buf)
{
	if (2 * (b->n + 1) > b->cap) {
		const LowerBufs was = *b;
		b->cap = was.cap == 0 ? 16 : was.cap * 2;
		b->slot = arena_array(l->arena, Buf *, b->cap);
		for (size_t k = 0; k < was.cap; k++)
			if (was.slot[k] != NULL)
				*bufs_slot(b, was.slot[k]->name) = was.slot[k];
	}
	Buf **at = bufs_slot(b, buf->name);
	b->n += *at == NULL;
	*at = buf;
}

static bool add_alloc(Stmt *s, void *arg)
{
	Lower *l = arg;
	if (s->kind == ST_ALLOC)
		lower_bufs_add(l, l->bufs, s->alloc);
	return true;
}

LowerBufs *lower_bufs(Lower *l)
{
	LowerBufs *around = l->bufs, *b = l->bufs = arena_new_of(l->arena, LowerBufs);
	for (int k = 0; k < l->fn->nparam; k++)
		if (l->fn->param[k].buf != NULL)
			lower_bufs_add(l, b, l->fn->param[k].buf);
	ir_each_stmt(l->fn->body, add_alloc, l);
	l->bufs = around;
	return b;
}

Buf *lower_buf(const LowerBufs *b, const char *name)
{
	return *bufs_slot(b, name);
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
