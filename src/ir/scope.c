/*
 * A hash table from interned name to its innermost declaration. A name keeps its slot when its
 * declarations are gone, so that probing needs no tombstones.
 */
#include "ir/scope.h"

void scope_init(Scope *s, Arena *a)
{
	*s = (Scope){ .arena = a, .cap = 64 };
	s->slot = arena_array(a, Decl *, s->cap);
}

/* A slot's first Decl is a sentinel that carries the name and, in `hidden`, the innermost one. */
static Decl **find_slot(Decl **slot, size_t cap, const char *name)
{
	size_t h = (size_t)(((uintptr_t)name >> 4) * 0x9e3779b97f4a7c15u >> 20);
	for (size_t i = h & (cap - 1);; i = (i + 1) & (cap - 1))
		if (slot[i] == NULL || slot[i]->name == name)
			return &slot[i];
}

static Decl *sentinel_of(Scope *s, const char *name)
{
	Decl **at = find_slot(s->slot, s->cap, name);
	if (*at != NULL)
		return *at;
	Decl *d = arena_new_of(s->arena, Decl);
	d->name = name;
	*at = d;
	if (2 * ++s->used > s->cap) {
		Decl **wide = arena_array(s->arena, Decl *, s->cap * 2);
		for (size_t i = 0; i < s->cap; i++)
			if (s->slot[i] != NULL)
				*find_slot(wide, s->cap * 2, s->slot[i]->name) = s->slot[i];
		s->slot = wide;
		s->cap *= 2;
	}
	return d;
}

Decl *scope_add(Scope *s, DeclKind kind, const char *name, DType type)
{
	Decl *head = sentinel_of(s, name);
	Decl *d = arena_new_of(s->arena, Decl);
	d->name = name;
	d->kind = kind;
	d->type = type;
	d->depth = s->depth;
	d->hidden = head->hidden;
	d->before = s->last;
	head->hidden = d;
	s->last = d;
	return d;
}

const Decl *scope_find(const Scope *s, const char *name)
{
	Decl *head = *find_slot(s->slot, s->cap, name);
	return head != NULL ? head->hidden : NULL;
}

Decl *scope_enter(Scope *s)
{
	s->depth++;
	return s->last;
}

void scope_leave(Scope *s, Decl *mark)
{
	for (; s->last != mark; s->last = s->last->before)
		sentinel_of(s, s->last->name)->hidden = s->last->hidden;
	s->depth--;
}
