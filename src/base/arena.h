/*
 * Lifetimes. Choose one (process, task, candidate), take its arena, never free a node.
 * An arena is used by one thread at a time. Memory is zeroed. Out of memory never comes back to the caller: it ends the
 * work below a guard (base/guard.h), or the process. Sizes that come from a file are checked before they arrive.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *a); /* NULL is allowed */

/* n zeroed bytes, aligned to 16. */
void *arena_alloc(Arena *a, size_t n);
/* n zeroed bytes, aligned to `align`, a power of two. */
void *arena_alloc_aligned(Arena *a, size_t n, size_t align);
void *arena_copy(Arena *a, const void *p, size_t n);

/* Calls f(arg) when the arena is freed, before its memory goes; the last one asked for first. */
void arena_at_end(Arena *a, void (*f)(void *arg), void *arg);

/* Bytes handed out since arena_new, for tests and limits. */
size_t arena_used(const Arena *a);

#define arena_new_of(a, T) arena_array(a, T, 1)
#define arena_array(a, T, n) \
	((T *)arena_alloc_aligned((a), sizeof(T) * (size_t)(n), _Alignof(T) > 16 ? _Alignof(T) : 16))

/*
 * A growable array in an arena: VEC(Stmt *) list = { 0 }; vec_push(a, &list, stmt);
 * list.at[0 .. list.n) are the items; `at` moves when it grows, the old block stays valid.
 */
#define VEC(T)            \
	struct {          \
		T *at;    \
		size_t n; \
		size_t cap; \
	}
#define vec_push(a, v, item)                                                              \
	((v)->n == (v)->cap                                                               \
			? ((v)->at = arena_grow((a), (v)->at, &(v)->cap, sizeof *(v)->at), 0) \
			: 0,                                                              \
		(void)((v)->at[(v)->n++] = (item)))
void *arena_grow(Arena *a, const void *list, size_t *cap, size_t item);

#endif
