/*
 * Where the elements of a buffer lie that a run Fn declares, for steps that change it. Its index map alone says so:
 * loads and stores stay what they are.
 */
#ifndef SCHEDULE_PLACE_H
#define SCHEDULE_PLACE_H

#include "schedule/sched.h"

enum { PLACE_MORE = 2 /* physical dimensions that a step may add */ };

/*
 * A copy of the buffer, whose map has all physical dimensions and room for a few more, and *alloc, which declares it.
 * NULL and a refusal: no run Fn declares it, its extents are not constant, several elements lie in one place, or a call
 * reads it in order.
 */
Buf *place_find(Sched *s, const char *what, const char *name, Stmt **alloc);
/* The alloc declares the copy from here on; or a refusal: more than half of its places would be without elements. */
bool place_put(Sched *s, const char *what, Stmt *alloc, Buf *b);
/* The extent of physical dimension k. */
int64_t place_extent(const Buf *b, int k);

/*
 * Whether several elements of the buffer share a place, as in a ring, or where each thread holds a part. Both count
 * places, which is exact for the maps that steps make; a test visits the elements of the maps of random traces.
 */
bool place_folds(const Buf *b);
/* Whether only elements of different first indices share a place, as in the slots of a pipeline. */
bool place_slots(const Buf *b);

#endif
