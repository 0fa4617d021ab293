/*
 * The Winograd branch of the convolution's template: its knobs, and the steps that a choice of them
 * stands for. Transformations and products go over blocks of tile rows, so that V and M stay in the
 * cache; the product is a register tile of p tiles by f vectors of output channels.
 */
#ifndef SCHEDULE_TEMPLATE_WINOGRAD_H
#define SCHEDULE_TEMPLATE_WINOGRAD_H

#include "schedule/template/tile.h"

/* The row of op/algo. */
const Algo *winograd_algo(void);
/* The Task's anchor is a 3x3 convolution of stride 1 of blocked channels, on a CPU; tiles are of m x m outputs. */
bool winograd_fits(const Task *task, const Target *target, int64_t m);
/*
 * What is likely best before anything is known: 0 (direct), 2 or 4. Arithmetic at the machine's rate and the time
 * in which cold weights come, which grow with the tile: the longer of both, and half of the other.
 */
int64_t winograd_guess(const Task *task, const Target *target);
/* Asks for the knobs "wino.*" and appends the trace; the first step is compute, so nothing may stand before it. */
void winograd_steps(Sketch *s, const Tiled *t, int64_t m);

#endif
