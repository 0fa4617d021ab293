/* See spread.h. Threads take one piece after the other. */
#include "base/spread.h"

#include "base/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { THREADS = 64 };

typedef struct Spread {
	size_t n;
	void (*work)(void *arg, size_t i);
	void *arg;
	atomic_size_t next;
	atomic_bool no_memory;
} Spread;

static void *do_some(void *arg)
{
	Spread *s = arg;
	Guard g; /* of this thread */
	if (GUARD_ENTER(&g)) {
		atomic_store(&s->no_memory, true);
		return NULL;
	}
	for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->n && !atomic_load(&s->no_memory);)
		s->work(s->arg, i);
	guard_leave(&g);
	return NULL;
}

void spread(int threads, size_t n, void (*work)(void *arg, size_t i), void *arg)
{
	pthread_t thread[THREADS];
	Spread s = { .n = n, .work = work, .arg = arg };
	long wanted = threads > 0 ? threads : sysconf(_SC_NPROCESSORS_ONLN);
	int most = wanted < THREADS ? (int)wanted : THREADS, started = 0;
	while (started < most - 1 && (size_t)started + 1 < n && pthread_create(&thread[started], NULL, do_some, &s) == 0)
		started++;
	do_some(&s);
	for (int i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	if (atomic_load(&s.no_memory))
		guard_out_of_memory();
}
