/*
 * Register tiles whose inner dimension is cut into parts, outermost. A part of the input stays in a cache while panels
 * of weights pass, and a panel is as short as its part. Between parts the sums are in memory:
 *
 *	for panels, pixels { begin the sums }
 *	for parts { for panels { for places { for tiles { for reduce.. { a tile's sums in registers }}}}}
 *	for panels, pixels { epilogue }
 */
#ifndef SCHEDULE_TEMPLATE_PARTS_H
#define SCHEDULE_TEMPLATE_PARTS_H

#include "schedule/template/tile.h"

#include "op/op.h"

/*
 * Lengths that parts of a dimension may have: all of it first, then divisors, since all parts are one code, of
 * `least` products or more that `block` divides. How many.
 */
int parts_lengths(int64_t depth, int64_t block, int64_t least, int64_t option[KNOB_OPTIONS]);
/*
 * Asks a convolution of image x for "depth": channels of a part, or 0: there is none. loop: the reduce loop of its
 * channels, or -1. Asked where pixels read what no cache holds for them: each tile of pixels a panel of weights longer
 * than the first cache, each panel an image that leaves it no room in the second one. Windows and padded images have no
 * parts by default.
 */
int64_t parts_of_image(Sketch *s, const OpCall *c, const Tiled *t, const Tile *tile, const Value *x, int loop);
/*
 * The steps of a tile whose first reduce loop is that of the parts; the second one asks for the next panel. image: the
 * tensors are images, whose channels are axis 1 and have all lanes in whole vectors: sums lie in blocks of channels.
 */
void parts_steps(Sketch *s, const Tiled *t, const Tile *tile, bool image);

#endif
