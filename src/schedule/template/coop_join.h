/*
 * Split reductions on devices whose threads run in warps: blocks compute partial sums of a part of the reduction, and
 * either a second launch or the last block of each tile adds them up.
 */
#ifndef SCHEDULE_TEMPLATE_COOP_JOIN_H
#define SCHEDULE_TEMPLATE_COOP_JOIN_H

#include "ir/threads/form.h"
#include "schedule/template/tile.h"

/* What a block has to add up if it is the last one of its tile. */
typedef struct CoopJoin {
	int64_t parts;               /* partial sums of a result; 1: the reduction is not split */
	int64_t results;             /* of the tile */
	int64_t threads[THREAD_AXES]; /* of the block, x first; their number divides that of the results */
	DType sum;
} CoopJoin;

/* An estimate of the cycles from the last partial sum to the result, by the faster way; *last: by the last block. */
double coop_join_cycles(const Target *t, const CoopJoin *j, bool *last);
/* Asks for "join" on devices that have both ways. True: the last block. The default has the shorter estimate. */
bool coop_join_knob(Sketch *s, const CoopJoin *j);

/* The second launch, whose nest has one loop `joined`: a thread for each result. */
void coop_join_steps(Sketch *s, const Tiled *t, int64_t results);
/*
 * The last block of each tile. side[]: the loops of the nest that stores the result, along grid.y and grid.x, with the
 * part of each that a tile has; neighbouring threads store neighbours along side[inner]. `loop` is bound to grid.z: its
 * iterations are the parts.
 */
void coop_last_steps(Sketch *s, const Tiled *t, const CoopJoin *j, const TileAxis side[2], int inner, const char *loop);

#endif
