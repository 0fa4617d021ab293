/*
 * Tiles of any reduction, as the generated space (loops.c) has them: over all spatial axes and the reduction, in
 * registers and in a cache. loop_tile_ask.c reads a nest and asks for the knobs, loop_tile.c writes the steps.
 */
#ifndef SCHEDULE_TEMPLATE_LOOP_TILE_H
#define SCHEDULE_TEMPLATE_LOOP_TILE_H

#include "schedule/template/block.h"

enum { NONE = -1 /* no axis */ };

typedef struct Spatial {
	const char *out, *own; /* its loop in the nest that stores, and in the reduction once that is moved there */
	int64_t extent;
	int64_t tile, block; /* elements of a tile; tiles of a block */
	const char *outer, *middle, *inner; /* loops of blocks, tiles and elements; NULL: there is none */
	const char *own_tiles, *own_inner;  /* the same in the reduction, of a block's tiles and of a tile */
} Spatial;

typedef struct Reduce {
	const char *name;
	int64_t extent;
} Reduce;

/* An operand that is packed: its dimension d moves with axis[d] of the reduction's nest. */
typedef struct Operand {
	const Buf *buf;
	int axis[IR_MAX_RANK];
} Operand;

typedef struct LoopTile {
	Sketch *s;
	const BlockNest *nest, *root; /* the reduction, and what stores its elements; root NULL: it does itself */
	int n, nreduce;
	Spatial x[BLOCK_AXES];
	Reduce r[BLOCK_AXES];
	int of_out[BLOCK_AXES]; /* axis of the nest that stores -> x */
	int uniform;            /* the axis whose lanes skip taps in the padding together; NONE: there is none */
	int vector;             /* the axis of lanes: x[vector]; NONE: r[partial] */
	int partial;            /* the reduce axis whose parts lie side by side */
	int64_t lanes, vectors, depth, steps; /* depth: of a part of r[deep]; steps: of r[inner] that are written out */
	int deep, inner, first, last;         /* first, last: the axis whose blocks are outermost, whose tiles innermost */
	bool in_blocks;   /* sums=block */
	bool taps, skips; /* the last short reduce loop is written out; taps in the padding are skipped */
	Operand copy;
	bool copies, packs, turns; /* turns: lanes do not lie side by side in the operand */
	int64_t ahead;      /* iterations of r[inner] on, whose packed constants are prefetched; 0: none */
	int shares;         /* loops that threads share */
} LoopTile;

/*
 * The elementwise nest that alone reads what nest `at` makes, and has all of its axes: in dimension d that one is moved
 * by axis[d], -1 by none. -1: there is none.
 */
int loop_tile_root(const BlockSet *set, int at, int axis[IR_MAX_RANK]);
/* Whether tiles fit nest `at` of the set: a reduction by one monoid into each element of a buffer. */
bool loop_tile_fits(const Sketch *s, const BlockSet *set, int at);
/*
 * Whether that is better than loops before anything is measured: it saves traffic of a nest, lanes skip zeros, or
 * several vectors side by side hide the latency of one, where no other axis has places for sums.
 */
bool loop_tile_likely(const Sketch *s, const BlockSet *set, int at);
/* Reads the nest and asks for its knobs; writes steps that inline what is before it. */
LoopTile loop_tile_ask(Sketch *s, BlockSet *set, int at);
/* Axes with several blocks, or with several tiles in a block, in the order of the nest; how many. */
int loop_tile_several(const LoopTile *t, bool tiles, int *axes);
/* How many elements of dimension d of an operand a block reads. */
int64_t loop_tile_part(const LoopTile *t, const Operand *o, int d);
/*
 * Asks for the knobs of the tiles and writes their steps. The nest is done then, and so are an elementwise nest behind
 * it that is stored with the tiles, and elementwise nests before it that are inlined.
 */
void loop_tile(Sketch *s, BlockSet *set, int at);

#endif
