/*
 * What a thread of a block has for itself. A buffer around bound loops is not made for each thread as a whole: a digit
 * of an index says which thread it is, the same one in all that accesses the buffer. Two threads whose digits differ
 * never meet there.
 */
#ifndef SCHEDULE_OWN_H
#define SCHEDULE_OWN_H

#include "schedule/sched.h"

#include "ir/threads/meet.h"

/* (i / step) % count is the same thread's in all that a thread accesses; count 1: the index says nothing of it. */
typedef struct OwnDigit {
	int64_t step, count;
	const Expr *thread; /* which it is, of variables called after axes */
} OwnDigit;

/* Whether each thread, or each warp, has its own copy of the buffer. */
bool own_is(const Fn *fn, const char *buf);
/* The digits of the buffer's indices in which all accesses agree; false: there are none. */
bool own_digits(Ir *ir, const ThreadAccesses *all, const Buf *b, OwnDigit *digit);
/* No thread uses what another one writes of the local buffer that `alloc` declares, in so many loops; or a refusal. */
bool own_check(Sched *s, const char *what, const Fn *fn, ThreadMemo *memo, const Stmt *alloc, int depth);
/*
 * No loop bound to block.x, whose threads are the lanes of a warp, stands around a statement about fragments; or a
 * refusal.
 */
bool own_check_fragments(Sched *s, const char *what, const Fn *fn);

#endif
