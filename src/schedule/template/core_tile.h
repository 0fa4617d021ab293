/*
 * Products of rows and columns in the matrix units of a GPU. Templates offer them beside tiles with sums in the
 * registers of threads (coop_tile.h). Types and the target's features decide which instructions there are. A template
 * names the factors, the axes and their loops; core_tile.c writes the trace.
 */
#ifndef SCHEDULE_TEMPLATE_CORE_TILE_H
#define SCHEDULE_TEMPLATE_CORE_TILE_H

#include "schedule/template/coop_tile.h"

enum { CORE_ROWS = 16, CORE_COLUMNS = 8 /* of the sums of an instruction */, CORE_SIDES = 2 };

/* A factor of the product. */
typedef struct CoreFactor {
	const char *name;
	int rank, side, inner; /* dimensions of its copies, and which of them are the side and the inner one */
	bool gathers;  /* the copy has the block's iterators as indices (reindex), else those of the tensor (pad) */
	bool along;    /* the side is contiguous in memory, else the inner dimension */
	int64_t run;   /* length of the contiguous runs, each aligned to that length */
} CoreFactor;

typedef struct CoreTile {
	CoreFactor factor[CORE_SIDES];   /* of rows, of columns */
	TileAxis axis[CORE_SIDES], reduce; /* rows and columns of the reduction; the inner dimension */
	const char *out[CORE_SIDES];     /* their loops in the nest that stores the result */
	int nouter;
	TileAxis outer[TILE_AXES]; /* other loops of that nest, each of whose iterations is a block of its own */
	int64_t blocks;          /* of the outer loops */
	int64_t reads;           /* tensors beside the factors, which the epilogue reads */
	DType type, sum;         /* of the factors, of the sums */
	int64_t parts;           /* of the inner dimension, whose partial sums are added up; 0 and 1: it is whole */
	bool own_axes;           /* each loop over blocks has its own axis of the grid, even a loop of one iteration */
	bool whole;              /* rounds divide the inner dimension */
	const char *as;          /* names of the reduction's loops in a block, " as m n .."; NULL: after its iterators */
	const char *rest;        /* another loop of it, of one iteration; NULL: there is none */
} CoreTile;

/* An instruction on fragments. */
typedef struct CoreRow {
	const char *name; /* of ir/text/intrin.def, which says what a target needs for it */
	DType type;
	int depth; /* products of a sum */
	bool tf32; /* only where the call allows its factors to lose bits */
} CoreRow;

/* The parts of a block's tile, by rows and by columns, and the size of a round. */
typedef struct CoreShape {
	int64_t warps[CORE_SIDES], pieces[CORE_SIDES]; /* of a block; of a warp */
	int64_t inner;  /* products of a sum in a round */
	int64_t stages; /* rounds in shared memory */
} CoreShape;

/* Asks for "cores": none or an instruction that the call's types and the target allow; NULL: none. */
const CoreRow *core_knob(Sketch *s, const OpCall *c, const CoreTile *t);
/*
 * Asks for "split", the number of parts of the inner dimension, if the results are too few to fill the device. Blocks
 * compute partial sums of a part. Returns the number; t then has the blocks and the inner dimension of one part.
 */
int64_t core_split_knob(Sketch *s, CoreTile *t, const CoreRow *row);
/* Asks for the shape. False: none fits the device. */
bool core_shape_knobs(Sketch *s, const CoreTile *t, const CoreRow *row, CoreShape *x);
/* Rows or columns of a block. */
int64_t core_part(const CoreShape *x, int side);
CoopJoin core_join(const CoreTile *t, const CoreShape *x);
/* Elements of a factor that a thread copies at once. */
int64_t core_lanes(const Sketch *s, const CoreTile *t, const CoreShape *x, int side);
/*
 * Padding behind each row of a factor in shared memory. Where lanes load tf32 across rows, it puts four rows into
 * different banks, 32 bytes apart. 0: rows are loaded 16 bytes at a time, and swizzled.
 */
int64_t core_gap(const CoreTile *t, const CoreShape *x, int side);
/* Elements of a row of a factor in shared memory. */
int64_t core_row(const CoreTile *t, const CoreShape *x, int side);
/*
 * Each part of the inner dimension has blocks of its own, which store partial sums. A second launch adds them up and
 * stores the Task's results, or the last block of each tile does so. Threads that add are neighbours along columns, or
 * else along rows. t is then a tile of partial sums, which the returned nests compute.
 */
Tiled core_split_steps(Sketch *s, const Tiled *t, CoreTile *c, const CoreShape *x, bool by_columns);
/* The steps of a tile of that shape. Steps from coop_begin on have made the loops of CoreTile before. */
void core_steps(Sketch *s, const Tiled *t, const CoreTile *c, const CoreRow *row, const CoreShape *x);

/*
 * The convolution as a product of filters with pixels. Asks for "cores" and the knobs behind it, and writes the steps.
 * False: only the knob was asked and nothing is written.
 */
bool core_conv(Sketch *s, const OpCall *call, const Tiled *t);

/* Merges the pixels of images into one loop, and the taps into one, channels inside or outside of the window. */
void conv_merge_steps(Sketch *s, const Tiled *t, bool inside);

#endif
