/*
 * Out of memory as an error. A library must not end the process that uses it. Code that takes memory of an arena in
 * each second line does not look whether there was any. So the boundary of the library sets a guard:
 *
 * 	Guard g;
 * 	if (GUARD_ENTER(&g))
 * 		return ...;              memory ran out below; the guard is gone, and so are its arenas
 * 	... work ...
 * 	guard_leave(&g);
 *
 * An arena that gets no memory frees all arenas that were opened since the guard was entered and are still open, and
 * comes back to GUARD_ENTER. Whatever else the work held (files, children, transactions) is the caller's to close: he
 * keeps it where he finds it again, not in variables changed since. Guards are a thread's own, and may be nested.
 * Without a guard the process ends, which is right for a child.
 */
#ifndef BASE_GUARD_H
#define BASE_GUARD_H

#include "base/arena.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Guard Guard;
struct Guard {
	jmp_buf back;
	Guard *outer;
	Arena *opened; /* since it was entered */
};

/* True where memory ran out. */
#define GUARD_ENTER(g) (guard_enter(g), setjmp((g)->back) != 0)
void guard_enter(Guard *g);
/* The arenas still open belong to the outer guard, if there is one. */
void guard_leave(Guard *g);

/* The arena stays when memory runs out: it can be reached from what lives longer than the work. */
void guard_keep(Arena *a);

/* What an arena calls when it gets no memory; also for memory that is taken otherwise. */
_Noreturn void guard_out_of_memory(void);

/*
 * Whether the system gives so many bytes at once; two system calls. Ask it before a call of foreign code that ends the
 * process when it gets no memory. Safe in a signal handler.
 */
bool guard_memory_left(size_t bytes);

/*
 * For tests: the n-th arena or block of this thread from now on gets no memory; 0: all do. Returns how many were left
 * of the last such call; 0: it has come to that.
 */
int64_t guard_fail_at(int64_t n);

#endif
