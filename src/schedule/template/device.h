/*
 * What templates for devices share: who runs a thread beside others, and how loops become the grid of a launch.
 */
#ifndef SCHEDULE_TEMPLATE_DEVICE_H
#define SCHEDULE_TEMPLATE_DEVICE_H

#include "schedule/template/tile.h"

/*
 * Whether each thread runs its own instructions: a CPU's, or those of a device that is one (PoCL). There a block is
 * one thread, which computes what a thread of a team would.
 */
bool device_lone(const Target *t);
/* Bytes of shared memory that a block may have. */
int64_t device_shared(const Target *t);
/* Threads that keep all units of a device busy: a wave of half of what they hold. */
int64_t device_fill(const Target *t);
/* Tensors that a Task reads and stores. */
int device_tensors(const Dag *d);
/*
 * Steps that bind loops[0 .. n) to the axes of a grid, the last to x. They are the outermost ones of a nest, each alone
 * in the one before it; more than a grid has axes for are fused.
 */
void device_bind_grid(Sketch *s, const TileAxis *loop, int n);
/*
 * Steps that bind some of loops[0 .. n), for blocks of one thread: as many as it takes to have blocks enough for all
 * units, and a part of the last one where little would be left for a block. Behind them, up to `all`, are loops that
 * stay in a block.
 */
void device_bind_lone(Sketch *s, const TileAxis *loop, int n, int all);

#endif
