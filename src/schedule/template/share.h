/*
 * Loops that the threads of a team share. Each thread gets one run of iterations, so of seven iterations one of two
 * threads has three, and nothing to do for an eighth of the time. Several nested loops, shared as one, have more.
 */
#ifndef SCHEDULE_TEMPLATE_SHARE_H
#define SCHEDULE_TEMPLATE_SHARE_H

#include "schedule/template/tile.h"

/* The part of the threads' time that n equal iterations fill: 7 of 8 for seven iterations and two threads. */
double share_filled(const Target *t, int64_t n);
/*
 * How many of these nested loops threads share as one, from the first on: as few as leave little time idle. rest: the
 * first one has another iteration, this part as long as the others, whose nest threads share by itself; 0: none.
 */
int share_guess(const Target *t, const TileAxis *loop, int n, double rest);
/* Makes these perfectly nested loops one parallel loop. */
void share_as_one(Sketch *s, const TileAxis *loop, int n);
/* The same of as many as share_guess says, behind those of one iteration; nothing where there is one thread. */
void share_some(Sketch *s, const TileAxis *loop, int n);

#endif
