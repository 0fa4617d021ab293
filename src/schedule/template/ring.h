/* Inside the folder: a tile of windows that reads rows from a ring (tile.c writes the steps, ring.c asks the knobs). */
#ifndef SCHEDULE_TEMPLATE_RING_H
#define SCHEDULE_TEMPLATE_RING_H

#include "schedule/template/tile.h"

/*
 * Steps of a tile of windows and of what makes the image that they read, tile `by` of `made`: in each row of the result
 * the rows of the image that are new, in a ring of as many as a window reads. No other nests are in the set.
 */
void tile_ring_steps(Sketch *s, const Tiled *t, const Tile *tile, const Tiled *made, const Tile *by);

#endif
