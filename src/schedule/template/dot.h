/*
 * Products of bytes in register tiles: the lanes of a vector of sums take four steps of the reduction at a time, by an
 * instruction (dpbusd). What conv.c and dense.c share.
 */
#ifndef SCHEDULE_TEMPLATE_DOT_H
#define SCHEDULE_TEMPLATE_DOT_H

#include "op/op.h"
#include "schedule/template/tile.h"

enum { DOT_STEPS = 4 /* of a reduction, in one instruction */ };

typedef struct Dot {
	const char *instruction; /* NULL: the products are no such ones, or the target lacks it */
	int64_t lanes;
} Dot;

/*
 * Whether a call multiplies unsigned by constant signed bytes: `columns` sums side by side, `depth` products of
 * contiguous channels or columns each.
 */
Dot dot_read(const Sketch *s, const OpCall *c, int64_t columns, int64_t depth);
/* Elements that a blocked layout puts side by side, of codes fewer than a vector has: 16 of NCHW16c; 0: no blocks. */
int64_t dot_side(const Buf *b);
/* Reduce loop `k` becomes that over whole instructions; the tile cuts it. */
void dot_cut(Sketch *s, const Dot *dot, Tiled *t, int k);
/*
 * Steps that copy the image that a convolution reads, with its border, in blocks of `block` channels. Taps in the
 * padding are read from there; t no longer selects.
 */
void dot_copy(Sketch *s, const Value *image, int64_t block, Tiled *t);
/*
 * Steps behind these for an image whose rows lie in memory: its border becomes code of its own, and pixels inside of it
 * a tile without conditions, whose channels are turned in registers.
 */
void dot_turn(Sketch *s, const OpCall *c, const Tiled *t);
/* The instruction in place of the lanes and its steps, loops of these names; the sums begin before, as vectors. */
void dot_steps(Sketch *s, const Tiled *t, const Tile *tile, const char *vectors, const char *lanes);

#endif
