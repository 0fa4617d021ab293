/*
 * See map.h.  An index holds hashes and numbers only, so that one table serves every sort of key; what a
 * number stands for is compared where it lies.  Nothing is marked as deleted: forgetting an entry moves what
 * stands behind it in its run of slots forwards.
 */
#include "base/map.h"

#include <assert.h>
#include <string.h>

enum { FIRST_CAP = 16 };

static void place(MapSlot *slot, uint32_t cap, MapSlot s)
{
	uint32_t i = s.hash & (cap - 1);
	while (slot[i].number != 0)
		i = (i + 1) & (cap - 1);
	slot[i] = s;
}

uint32_t map_index_add(MapIndex *x, uint32_t hash)
{
	if (2 * (x->n + 1) > x->cap) {
		assert(x->cap < UINT32_MAX / 2);
		uint32_t cap = x->cap != 0 ? 2 * x->cap : FIRST_CAP;
		MapSlot *wide = arena_array(x->arena, MapSlot, cap);
		for (uint32_t i = 0; i < x->cap; i++)
			if (x->slot[i].number != 0)
				place(wide, cap, x->slot[i]);
		x->slot = wide;
		x->cap = cap;
	}
	place(x->slot, x->cap, (MapSlot){ hash, ++x->n });
	return x->n - 1;
}

static MapEntry *add_entry(Map *m, MapEntry e)
{
	if (m->index.n == m->room)
		m->at = arena_grow(m->index.arena, m->at, &m->room, sizeof *m->at);
	uint32_t k = map_index_add(&m->index, map_hash(e.key));
	m->at[k] = e;
	return &m->at[k];
}

MapEntry *map_find(const Map *m, uint64_t key)
{
	uint32_t hash = map_hash(key);
	for (uint32_t at = hash, k; (k = map_next(&m->index, hash, &at)) != MAP_NONE;)
		if (m->at[k].key == key)
			return &m->at[k];
	return NULL;
}

MapEntry *map_add(Map *m, uint64_t key)
{
	MapEntry *e = map_find(m, key);
	return e != NULL ? e : add_entry(m, (MapEntry){ .key = key });
}

uint64_t map_hash_bytes(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static MapEntry *find_bytes(const Map *m, uint64_t key, const void *bytes, size_t n)
{
	uint32_t hash = map_hash(key);
	for (uint32_t at = hash, k; (k = map_next(&m->index, hash, &at)) != MAP_NONE;) {
		MapEntry *e = &m->at[k];
		if (e->key == key && e->size == n && (n == 0 || memcmp(e->text, bytes, n) == 0))
			return e;
	}
	return NULL;
}

MapEntry *map_find_bytes(const Map *m, const void *bytes, size_t n)
{
	return find_bytes(m, map_hash_bytes(bytes, n), bytes, n);
}

MapEntry *map_add_bytes(Map *m, const void *bytes, size_t n)
{
	uint64_t key = map_hash_bytes(bytes, n);
	MapEntry *e = find_bytes(m, key, bytes, n);
	if (e != NULL)
		return e;
	char *copy = arena_alloc(m->index.arena, n + 1);
	if (n != 0)
		memcpy(copy, bytes, n);
	return add_entry(m, (MapEntry){ .key = key, .text = copy, .size = n });
}

MapEntry *map_find_text(const Map *m, const char *s)
{
	return map_find_bytes(m, s, strlen(s));
}

MapEntry *map_add_text(Map *m, const char *s)
{
	return map_add_bytes(m, s, strlen(s));
}

/* Frees slot i: what a search would no longer reach over the gap moves into it, which leaves another gap. */
static void free_slot(MapIndex *x, uint32_t i)
{
	uint32_t mask = x->cap - 1;
	for (uint32_t k = (i + 1) & mask; x->slot[k].number != 0; k = (k + 1) & mask)
		if (((k - x->slot[k].hash) & mask) >= ((k - i) & mask)) {
			x->slot[i] = x->slot[k];
			i = k;
		}
	x->slot[i] = (MapSlot){ 0 };
}

void map_truncate(Map *m, uint32_t n)
{
	MapIndex *x = &m->index;
	for (; x->n > n; x->n--) {
		uint32_t i = map_hash(m->at[x->n - 1].key) & (x->cap - 1);
		while (x->slot[i].number != x->n)
			i = (i + 1) & (x->cap - 1);
		free_slot(x, i);
	}
}
