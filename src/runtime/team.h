/*
 * A team of threads that enter one function together (SPMD) and meet at barriers.  A waiting thread
 * spins for some tens of microseconds and then sleeps; where there are fewer CPUs than threads it
 * sleeps at once.  The caller is thread 0, so a team of one has no other thread.
 */
#ifndef RUNTIME_TEAM_H
#define RUNTIME_TEAM_H

typedef struct Team Team;
typedef void TeamFn(void *arg, int thread);

enum { TEAM_MAX = 256 };

/* 1 <= threads <= TEAM_MAX; NULL if the system gives no threads or memory. */
Team *team_open(int threads);
void team_close(Team *t);
int team_threads(const Team *t);

/* Runs fn on all threads; returns when all have left it. */
void team_run(Team *t, TeamFn *fn, void *arg);
/*
 * Where two threads of the team share a CPU and another CPU is free, moves one of them there (team_place.c); not the
 * caller. A thread that was woken while other programs ran may wait for the CPU of another thread of its team; when
 * those programs stop, the scheduler can let the two take turns for some ten milliseconds, and leave a CPU idle. Wakes
 * the team; costs a microsecond where it is awake and each thread has a CPU of its own. Not inside team_run.
 */
void team_spread(Team *t);
/* Called by all threads inside team_run: what was written before it is seen behind it. */
void team_barrier(void *team);

#endif
