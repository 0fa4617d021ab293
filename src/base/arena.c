/*
 * A block arena: memory is taken from the end of the newest block; a request that does not fit
 * opens a block of at least twice the size of the last one, up to a limit. Nothing is returned
 * before the arena itself is.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20 };

typedef struct Block Block;
struct Block {
	Block *older;
	size_t size, used;
	_Alignas(16) unsigned char bytes[];
};

struct Arena {
	Block *newest;
	size_t used;
};

static void *must(void *p)
{
	if (p == NULL) {
		fputs("dlc: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

Arena *arena_new(void)
{
	return must(calloc(1, sizeof(Arena)));
}

void arena_free(Arena *a)
{
	if (a == NULL)
		return;
	for (Block *b = a->newest, *older; b != NULL; b = older) {
		older = b->older;
		free(b);
	}
	free(a);
}

static void open_block(Arena *a, size_t need)
{
	size_t size = a->newest != NULL ? a->newest->size * 2 : FIRST_BLOCK;
	if (size > LARGEST_STEP)
		size = LARGEST_STEP;
	if (size < need)
		size = need;
	Block *b = must(calloc(1, sizeof(Block) + size));
	b->older = a->newest;
	b->size = size;
	a->newest = b;
}

void *arena_alloc_aligned(Arena *a, size_t n, size_t align)
{
	assert(align != 0 && (align & (align - 1)) == 0);
	if (n > SIZE_MAX / 4)
		must(NULL);
	for (;;) {
		Block *b = a->newest;
		if (b != NULL) {
			uintptr_t free_at = (uintptr_t)(b->bytes + b->used);
			size_t gap = (size_t)(-free_at & (align - 1));
			if (gap + n <= b->size - b->used) {
				unsigned char *p = b->bytes + b->used + gap;
				b->used += gap + n;
				a->used += n;
				return p;
			}
		}
		open_block(a, n + align);
	}
}

void *arena_alloc(Arena *a, size_t n)
{
	return arena_alloc_aligned(a, n, 16);
}

void *arena_copy(Arena *a, const void *p, size_t n)
{
	void *q = arena_alloc(a, n);
	if (n != 0)
		memcpy(q, p, n);
	return q;
}

size_t arena_used(const Arena *a)
{
	return a->used;
}

void *arena_grow(Arena *a, const void *list, size_t *cap, size_t item)
{
	size_t old = *cap;
	*cap = old != 0 ? old * 2 : 8;
	void *p = arena_alloc(a, *cap * item);
	if (old != 0)
		memcpy(p, list, old * item);
	return p;
}
