/*
 * A hash table from names to {last number tried behind it, what it is bound to}.  The number is
 * kept with the wish, so that a thousand wishes for one name do not try a million numbers.
 */
#include "op/names.h"

#include "base/text.h"

#include <string.h>

typedef struct Slot {
	const char *name;
	int tried, bound;
} Slot;

struct Names {
	Arena *arena;
	Slot *slot;
	size_t used, cap;
};

Names *names_new(Arena *a)
{
	Names *t = arena_new_of(a, Names);
	t->arena = a;
	t->cap = 64;
	t->slot = arena_array(a, Slot, t->cap);
	return t;
}

/* FNV-1a, 64 bits, folded; chains stay short because the table is at most half full. */
static Slot *find(Slot *slot, size_t cap, const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (const char *s = name; *s != 0; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	h ^= h >> 32;
	size_t i = (size_t)h & (cap - 1);
	while (slot[i].name != NULL && strcmp(slot[i].name, name) != 0)
		i = (i + 1) & (cap - 1);
	return &slot[i];
}

static Slot *insert(Names *t, const char *name)
{
	Slot *at = find(t->slot, t->cap, name);
	if (at->name != NULL)
		return at;
	if (++t->used * 2 > t->cap) {
		Slot *wide = arena_array(t->arena, Slot, t->cap * 2);
		for (size_t i = 0; i < t->cap; i++)
			if (t->slot[i].name != NULL)
				*find(wide, t->cap * 2, t->slot[i].name) = t->slot[i];
		t->slot = wide;
		t->cap *= 2;
		at = find(t->slot, t->cap, name);
	}
	*at = (Slot){ arena_copy(t->arena, name, strlen(name) + 1), 0, -1 };
	return at;
}

const char *names_give(Names *t, const char *wish)
{
	Slot *at = find(t->slot, t->cap, wish);
	if (at->name == NULL)
		return insert(t, wish)->name;
	char *name;
	do
		name = arena_printf(t->arena, "%s_%d", wish, ++at->tried);
	while (names_taken(t, name));
	return insert(t, name)->name;
}

bool names_taken(const Names *t, const char *name)
{
	return find(t->slot, t->cap, name)->name != NULL;
}

void names_bind(Names *t, const char *name, int to)
{
	insert(t, name)->bound = to;
}

int names_find(const Names *t, const char *name)
{
	const Slot *at = find(t->slot, t->cap, name);
	return at->name != NULL ? at->bound : -1;
}
