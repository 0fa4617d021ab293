/*
 * See team.h.  One barrier does everything: threads wait at it for work, between steps and at the
 * end.  The last to arrive opens it by advancing `turn`.  A sleeper counts itself before it looks
 * at turn again, and the opener advances turn before it looks at the count (both sequentially
 * consistent), so one of the two sees the other and no wake-up is lost.
 */
#include "runtime/team.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu.h"

enum { SPIN = 4096 }; /* pauses, 10 to 40 ns each: longer than a step, shorter than a time slice */

typedef struct Member {
	Team *team;
	int thread;
	pthread_t id;
} Member;

struct Team {
	_Alignas(64) atomic_uint turn;   /* what spinning threads watch */
	_Alignas(64) atomic_int arrived; /* what arriving threads change */
	atomic_int sleepers;
	_Alignas(64) int threads; /* what all only read */
	int spin, started;
	bool quit;
	TeamFn *fn;
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t open;
	Member *member;
};

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ volatile("yield");
#endif
}

void team_barrier(void *team)
{
	Team *t = team;
	unsigned turn = atomic_load_explicit(&t->turn, memory_order_relaxed);
	if (atomic_fetch_add(&t->arrived, 1) + 1 == t->threads) {
		atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
		atomic_store(&t->turn, turn + 1);
		if (atomic_load(&t->sleepers) > 0) {
			pthread_mutex_lock(&t->lock);
			pthread_cond_broadcast(&t->open);
			pthread_mutex_unlock(&t->lock);
		}
		return;
	}
	for (int i = 0; i < t->spin; i++) {
		if (atomic_load_explicit(&t->turn, memory_order_acquire) != turn)
			return;
		pause_cpu();
	}
	pthread_mutex_lock(&t->lock);
	atomic_fetch_add(&t->sleepers, 1);
	while (atomic_load(&t->turn) == turn)
		pthread_cond_wait(&t->open, &t->lock);
	atomic_fetch_sub(&t->sleepers, 1);
	pthread_mutex_unlock(&t->lock);
}

static void *member_main(void *arg)
{
	Member *me = arg;
	Team *t = me->team;
	for (;;) {
		team_barrier(t);
		if (t->quit)
			return NULL;
		t->fn(t->arg, me->thread);
		team_barrier(t);
	}
}

void team_run(Team *t, TeamFn *fn, void *arg)
{
	if (t->threads == 1) {
		fn(arg, 0);
		return;
	}
	t->fn = fn;
	t->arg = arg;
	team_barrier(t);
	fn(arg, 0);
	team_barrier(t);
}

/* Starts the members with all signals blocked: they belong to the program's own threads. */
static bool start_members(Team *t)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int i = 1;
	for (; i < t->threads; i++) {
		t->member[i] = (Member){ .team = t, .thread = i };
		if (pthread_create(&t->member[i].id, NULL, member_main, &t->member[i]) != 0)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	t->started = i;
	return i == t->threads;
}

Team *team_open(int threads)
{
	Team *t = aligned_alloc(64, (sizeof *t + 63) & ~(size_t)63);
	if (t == NULL)
		return NULL;
	memset(t, 0, sizeof *t);
	t->threads = threads;
	t->spin = cpu_count() >= threads ? SPIN : 0;
	t->started = 1;
	t->member = calloc((size_t)threads, sizeof *t->member);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->open, NULL);
	if (t->member != NULL && (threads == 1 || start_members(t)))
		return t;
	team_close(t);
	return NULL;
}

/* A team that did not get all its threads closes with those it got. */
void team_close(Team *t)
{
	if (t == NULL)
		return;
	t->quit = true;
	atomic_fetch_add(&t->arrived, t->threads - t->started); /* stands in for the missing */
	if (t->threads > 1)
		team_barrier(t);
	for (int i = 1; i < t->started; i++)
		pthread_join(t->member[i].id, NULL);
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->open);
	free(t->member);
	free(t);
}

int team_threads(const Team *t)
{
	return t->threads;
}
