/*
 * Register tiles of convolutions, for templates of Tasks that have one: some pixels of a row times some vectors of
 * output channels, and the reduction with their sums in registers.
 */
#ifndef SCHEDULE_TEMPLATE_CONV_H
#define SCHEDULE_TEMPLATE_CONV_H

#include "schedule/template/tile.h"

#include "op/op.h"

/*
 * Asks for the sizes of a convolution's tile of so many lanes; `of` stands before the names of its knobs, or is NULL.
 * The order of the loops around it is the caller's.
 */
Tile conv_tile(Sketch *s, const OpCall *c, const Tiled *t, int64_t lanes, const char *of);
/*
 * Asks for how it reduces. The layout of the weights and the ends of rows follow. part: channels of a part of the
 * reduction, whose loop is the first one (parts.h); 0: it has no parts.
 */
void conv_reduction(Sketch *s, const OpCall *c, const Tiled *t, Tile *tile, int64_t part);
/* How many channels lie side by side: 16 in NCHW16c; 1 where rows or all channels do. */
int64_t conv_channel_block(const Value *v);
int64_t conv_pixels(const Value *v); /* of an image, or taps of a window */

#endif
