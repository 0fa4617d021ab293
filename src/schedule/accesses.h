/*
 * Who accesses a buffer, and where; and the same accesses at other places, or to another buffer. Regions are
 * derived (ir/region/region.h), nothing is declared.
 */
#ifndef SCHEDULE_ACCESSES_H
#define SCHEDULE_ACCESSES_H

#include "schedule/sched.h"

#include "ir/analysis/bounds.h"

/* How often the statements of a list access a buffer. */
typedef struct Touch {
	const char *buf;
	int loads, writes, hints;
	bool strange; /* a call or an atomic sees it */
} Touch;

Touch producer_touches(Stmt *list, const char *buf);
Touch producer_touches_one(Stmt *s, const char *buf); /* s without its siblings */

/* An access to a buffer, in a block whose iterators it names. */
typedef struct AccessIn {
	const Stmt *block;
	const Expr *const *idx;
	int n;
} AccessIn;
/*
 * Whether two accesses of the list differ in any two iterations of the list's loops: along some dimension their
 * indices differ by a constant and use no variable that the list binds. So row s + 1 is apart from row s.
 */
bool producer_apart(Ir *ir, const Stmt *list, AccessIn a, AccessIn b);
/* A buffer that outlives an iteration, which one block below the loop writes and another reads, not apart from it:
   iterations may hand it on to later ones (see ring). NULL: there is none. */
const char *producer_carries(Ir *ir, const Stmt *loop);
/* Whether an atomic reduction of a zero buffer is below the statement: the count of step `last`. */
bool producer_counts(const Fn *fn, const Stmt *s);
/* The one buffer that stores and reductions of the block write; NULL and *why: there is none. */
const char *producer_writes(const Stmt *block, const char **why);
/* The hull [lo, hi) of what the list accesses of a buffer of that rank; false: nothing. */
bool producer_hull(
	const Sched *s, const Fn *fn, const Stmt *list, const char *buf, int rank, const Expr **lo, const Expr **hi);

/* Whether f is true of each place at which the block writes the buffer. */
bool producer_each_write(const Stmt *block, const char *buf, bool (*f)(const Access *at, void *arg), void *arg);
/* It is of constants and the variables of the loop and those around it. */
bool producer_is_outer(const Place *l, const Expr *e);

/* All accesses of the list to buffer `from` are to `to`. */
void producer_rename(Ir *ir, Stmt *list, const char *from, const char *to);
/* Index k of all accesses of the list to the buffer becomes f's. */
typedef const Expr *(*IndexFn)(Ir *ir, int k, const Expr *idx, void *arg);
void producer_reindex(Ir *ir, Stmt *list, const char *buf, IndexFn f, void *arg);

#endif
