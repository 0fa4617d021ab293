/*
 * See names.h.  A name's entry holds the last number tried behind it and what it is bound to.  The number is kept
 * with the wish, so that a thousand wishes for one name do not try a million numbers.
 */
#include "op/names.h"

#include "base/map.h"
#include "base/text.h"

typedef struct Name {
	int tried, bound;
} Name;

struct Names {
	Map names;
};

Names *names_new(Arena *a)
{
	Names *t = arena_new_of(a, Names);
	t->names = MAP_OF(a);
	return t;
}

static MapEntry *insert(Names *t, const char *name)
{
	MapEntry *e = map_add_text(&t->names, name);
	if (e->ptr == NULL)
		e->ptr = arena_copy(t->names.index.arena, &(Name){ 0, -1 }, sizeof(Name));
	return e;
}

Names *names_copy(Arena *a, const Names *t)
{
	Names *c = names_new(a);
	for (uint32_t i = 0; i < t->names.index.n; i++)
		*(Name *)insert(c, t->names.at[i].text)->ptr = *(const Name *)t->names.at[i].ptr;
	return c;
}

const char *names_give(Names *t, const char *wish)
{
	const MapEntry *e = map_find_text(&t->names, wish);
	if (e == NULL)
		return insert(t, wish)->text;
	Name *known = e->ptr;
	char *name;
	do
		name = arena_printf(t->names.index.arena, "%s_%d", wish, ++known->tried);
	while (names_taken(t, name));
	return insert(t, name)->text;
}

bool names_taken(const Names *t, const char *name)
{
	return map_find_text(&t->names, name) != NULL;
}

void names_bind(Names *t, const char *name, int to)
{
	((Name *)insert(t, name)->ptr)->bound = to;
}

int names_find(const Names *t, const char *name)
{
	const MapEntry *e = map_find_text(&t->names, name);
	return e != NULL ? ((const Name *)e->ptr)->bound : -1;
}
