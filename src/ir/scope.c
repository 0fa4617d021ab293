/* See scope.h.  A name keeps its entry when its declarations are gone: the entry's value is the innermost one. */
#include "ir/scope.h"

void scope_init(Scope *s, Arena *a)
{
	*s = (Scope){ .arena = a, .innermost = MAP_OF(a) };
}

Decl *scope_add(Scope *s, DeclKind kind, const char *name, DType type)
{
	MapEntry *e = map_add_ptr(&s->innermost, name);
	Decl *d = arena_new_of(s->arena, Decl);
	d->name = name;
	d->kind = kind;
	d->type = type;
	d->depth = s->depth;
	d->hidden = e->ptr;
	d->before = s->last;
	e->ptr = s->last = d;
	return d;
}

const Decl *scope_find(const Scope *s, const char *name)
{
	const MapEntry *e = map_find_ptr(&s->innermost, name);
	return e != NULL ? e->ptr : NULL;
}

Decl *scope_enter(Scope *s)
{
	s->depth++;
	return s->last;
}

void scope_leave(Scope *s, Decl *mark)
{
	for (; s->last != mark; s->last = s->last->before)
		map_find_ptr(&s->innermost, s->last->name)->read = s->last->hidden;
	s->depth--;
}
