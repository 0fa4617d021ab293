/*
 * A run in progress: tensors, views, logical threads, and what is known about their order.
 *
 * Order of accesses. Threads form a tree; a thread is suspended while its children live. An access is an epoch
 * (thread, time), where time counts synchronisations. For each thread, `sync` is the time of its last fork, or of the
 * last barrier that it was the root of. All accesses of its subtree up to then come before all later ones of its
 * subtree. So (T, t) is before the present of U if T is an ancestor or a descendant of U. It also is if t <= sync of
 * one of their common ancestors. Only atomics order other accesses: they carry a list of (subtree, time), see
 * interp/clocks.c.
 */
#ifndef INTERP_THREAD_H
#define INTERP_THREAD_H

#include "base/map.h"
#include "base/rng.h"
#include "interp/mem.h"

typedef struct Pending {
	Store *store;
	uint64_t born;
	int64_t at, group;
} Pending;

typedef struct Fork Fork;

typedef struct Thread {
	struct Thread *parent;
	Fork *fork; /* of which this is an instance */
	int level;
	uint32_t tid, pc;
	Val *slot;
	View **view, *owned;
	Know *know;
	/* Async copies of its own: groups [completed, committed) are under way. */
	int64_t committed;
	VEC(Pending) pending;
	/* As the root of a barrier. */
	int64_t nleaf, narrived;
	uint32_t barrier_pc;
	struct Thread *arrived;
	/* As a member. */
	struct Thread *next;
	struct Thread *waits_at; /* the root; NULL: not at a barrier */
	size_t place;            /* in Run.live */
} Thread;

struct Fork {
	Thread *parent;
	int64_t lo, n, started, done;
	uint64_t now, step; /* the order of the instances: now, now + step, ... modulo n */
	uint32_t pc;
	Know *know; /* of those that are done */
	Fork *next;
};

typedef struct Info {
	uint64_t sync;
	uint32_t parent, depth;
} Info;

enum { POOLS = 48 };

typedef struct Run {
	Arena *arena;
	const Program *p;
	const InterpRun *how;
	Err *err;
	Rng rng;
	bool races;
	uint64_t now, births;
	int64_t steps;
	size_t used, limit;
	Info *info; /* by tid */
	uint32_t ninfo;
	size_t info_cap;
	void *pool[POOLS]; /* freed blocks of 2^k bytes */
	VEC(Thread *) ready;
	VEC(Fork *) open; /* with instances not started */
	VEC(Thread *) live;
	Thread *idle;
	Fork *idle_fork;
	View *idle_view;
	Map *scan; /* of each scan: a spatial point to the steps it has taken */
} Run;

#endif
