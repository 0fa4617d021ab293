/*
 * A block arena: memory is taken from the end of the newest block; a request that does not fit
 * opens a block of at least twice the size of the last one, up to a limit. Nothing is returned
 * before the arena itself is.
 */
#include "base/guard.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20 };

typedef struct Block Block;
struct Block {
	Block *older;
	size_t size, used;
	_Alignas(16) unsigned char bytes[];
};

typedef struct End End;
struct End {
	End *older;
	void (*f)(void *arg);
	void *arg;
};

struct Arena {
	Block *newest;
	size_t used;
	End *end; /* arena_at_end, the last one first */
	Arena *next, **at; /* in the list of a guard; at == NULL: in none */
};

static _Thread_local Guard *guard;      /* the innermost one */
static _Thread_local int64_t fail_after; /* guard_fail_at */

/* ---- guards */

void guard_enter(Guard *g)
{
	g->outer = guard;
	g->opened = NULL;
	guard = g;
}

static void link_arena(Arena *a, Guard *g)
{
	a->next = g->opened;
	a->at = &g->opened;
	if (a->next != NULL)
		a->next->at = &a->next;
	g->opened = a;
}

static void unlink_arena(Arena *a)
{
	if (a->at == NULL)
		return;
	*a->at = a->next;
	if (a->next != NULL)
		a->next->at = a->at;
	a->at = NULL;
}

void guard_keep(Arena *a)
{
	unlink_arena(a);
}

void guard_leave(Guard *g)
{
	assert(guard == g);
	guard = g->outer;
	while (g->opened != NULL) {
		Arena *a = g->opened;
		unlink_arena(a);
		if (guard != NULL)
			link_arena(a, guard);
	}
}

_Noreturn void guard_out_of_memory(void)
{
	Guard *g = guard;
	if (g == NULL) {
		fputs("dlc: out of memory\n", stderr);
		exit(1);
	}
	guard = g->outer;
	while (g->opened != NULL)
		arena_free(g->opened);
	longjmp(g->back, 1);
}

bool guard_memory_left(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED)
		munmap(p, bytes);
	return p != MAP_FAILED;
}

int64_t guard_fail_at(int64_t n)
{
	int64_t left = fail_after;
	fail_after = n;
	return left;
}

/* ---- arenas */

static void *zeroed(size_t n)
{
	void *p = fail_after > 0 && --fail_after == 0 ? NULL : calloc(1, n);
	if (p == NULL)
		guard_out_of_memory();
	return p;
}

Arena *arena_new(void)
{
	Arena *a = zeroed(sizeof *a);
	if (guard != NULL)
		link_arena(a, guard);
	return a;
}

void arena_free(Arena *a)
{
	if (a == NULL)
		return;
	unlink_arena(a);
	for (End *e = a->end; e != NULL; e = e->older)
		e->f(e->arg);
	for (Block *b = a->newest, *older; b != NULL; b = older) {
		older = b->older;
		free(b);
	}
	free(a);
}

void *arena_alloc_aligned(Arena *a, size_t n, size_t align)
{
	assert(align != 0 && (align & (align - 1)) == 0);
	if (n > SIZE_MAX / 4)
		guard_out_of_memory();
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
		size_t need = n + align, size = b != NULL ? b->size * 2 : FIRST_BLOCK;
		if (size > LARGEST_STEP)
			size = LARGEST_STEP;
		if (size < need)
			size = need;
		Block *next = zeroed(sizeof(Block) + size);
		next->older = b;
		next->size = size;
		a->newest = next;
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

void arena_at_end(Arena *a, void (*f)(void *arg), void *arg)
{
	End *e = arena_new_of(a, End);
	*e = (End){ a->end, f, arg };
	a->end = e;
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
