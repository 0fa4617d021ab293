/*
 * The hash table of the tree.  A Map takes numbers, pointers (an interned name is one) or bytes to a number or a
 * pointer. Its entries stand in one array in the order of their addition, so walking a map is deterministic. A
 * MapIndex is the part below it, for things that lie elsewhere and have a hash and an equality of their own.
 *
 * A zeroed Map or MapIndex with its arena set is empty and costs nothing.  Finding and adding take constant time on
 * average: linear probing in slots of 8 bytes, at most half full.  All memory is the arena's; growing doubles it.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"

#include <stdint.h>

typedef struct MapSlot {
	uint32_t hash, number; /* number + 1; 0: a free slot */
} MapSlot;

typedef struct MapIndex {
	Arena *arena;
	MapSlot *slot;
	uint32_t n, cap; /* of the things; of the slots, a power of two or 0 */
} MapIndex;

#define MAP_NONE UINT32_MAX

/*
 * The numbers with this hash, one a call, then MAP_NONE; the caller compares the things themselves:
 * for (uint32_t at = hash, k; (k = map_next(x, hash, &at)) != MAP_NONE;)
 */
static inline uint32_t map_next(const MapIndex *x, uint32_t hash, uint32_t *at)
{
	while (x->cap != 0) {
		MapSlot s = x->slot[(*at)++ & (x->cap - 1)];
		if (s.number == 0)
			break;
		if (s.hash == hash)
			return s.number - 1;
	}
	return MAP_NONE;
}

/* Adds a thing that is not there yet. Its number is how many were there before. */
uint32_t map_index_add(MapIndex *x, uint32_t hash);

typedef struct MapEntry {
	uint64_t key;     /* where keys are bytes: their hash */
	const char *text; /* the map's own copy of the bytes and a 0 behind them; NULL where keys are numbers */
	size_t size;      /* of the bytes */
	union {
		int64_t num;
		void *ptr;
		const void *read;
	}; /* the value, 0 in a new entry */
} MapEntry;

typedef struct Map {
	MapIndex index;
	MapEntry *at; /* entries 0 .. index.n - 1; it moves when the map grows, so no entry is kept beyond an addition */
	size_t room;
} Map;

#define MAP_OF(a) ((Map){ .index = { .arena = (a) } })

/* Keys that are numbers. A map has one sort of keys. */
MapEntry *map_find(const Map *m, uint64_t key); /* NULL: not there */
MapEntry *map_add(Map *m, uint64_t key);        /* found or new */

/* Keys that are pointers: two are equal if they point to the same place. */
static inline MapEntry *map_find_ptr(const Map *m, const void *key)
{
	return map_find(m, (uintptr_t)key);
}

static inline MapEntry *map_add_ptr(Map *m, const void *key)
{
	return map_add(m, (uintptr_t)key);
}

/* Keys that are bytes: two are equal if they have the same bytes. */
MapEntry *map_find_bytes(const Map *m, const void *bytes, size_t n);
MapEntry *map_add_bytes(Map *m, const void *bytes, size_t n);
MapEntry *map_find_text(const Map *m, const char *s);
MapEntry *map_add_text(Map *m, const char *s);

/* Forgets the entries from number n on. */
void map_truncate(Map *m, uint32_t n);

/* Hashes for a MapIndex: of a number, in all bits; of bytes (FNV-1a). Neither withstands an adversary. */
static inline uint32_t map_hash(uint64_t x)
{
	x = (x ^ x >> 32) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(x >> 32);
}
uint64_t map_hash_bytes(const void *bytes, size_t n);

#endif
