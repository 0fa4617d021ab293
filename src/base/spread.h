/* Equal pieces of work, done by several threads. */
#ifndef BASE_SPREAD_H
#define BASE_SPREAD_H

#include <stddef.h>

/*
 * Calls work(arg, i) once for each i below n, from the calling thread and at most threads - 1 others, and waits for
 * all; threads == 0: as many as the machine has CPUs. A piece of work closes the arenas that it opens. Where one of
 * the threads gets no memory, the calling thread goes where memory that runs out leads it (base/guard.h), once all
 * have ended.
 */
void spread(int threads, size_t n, void (*work)(void *arg, size_t i), void *arg);

#endif
