/*
 * Products of rows and columns in the matrix units of a GPU: what templates offer beside tiles whose sums lie in the
 * registers of threads (coop_tile.h). Types and the target's features say which instructions there are. A template
 * says what the factors, the axes and their loops are called; core_tile.c writes the trace.
 */
#ifndef SCHEDULE_TEMPLATE_CORE_TILE_H
#define SCHEDULE_TEMPLATE_CORE_TILE_H

#include "schedule/template/coop_tile.h"

enum { CORE_ROWS = 16, CORE_COLUMNS = 8 /* of the sums of an instruction */, CORE_SIDES = 2 };

/* A factor of the product. */
typedef struct CoreFactor {
	const char *name;
	int rank, side, inner; /* of its copies: dimensions, and which are the side and the inner one */
	bool gathers;  /* the copies are indexed by the block's iterators (reindex), else as the tensor is (pad) */
	bool along;    /* neighbours along the side lie side by side in memory, else those along the inner dimension */
	int64_t run;   /* how many of them do, each run from a multiple of as many on */
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

/* How a block's tile is shared out, by rows and by columns, and what a round takes. */
typedef struct CoreShape {
	int64_t warps[CORE_SIDES], pieces[CORE_SIDES]; /* of a block; of a warp */
	int64_t inner;  /* products of a sum in a round */
	int64_t stages; /* rounds that have a place in shared memory */
} CoreShape;

/* Asks for "cores": none or an instruction that the call's types and the target allow; NULL: none. */
const CoreRow *core_knob(Sketch *s, const OpCall *c, const CoreTile *t);
/*
 * Asks for "split": in how many parts of the inner dimension blocks make partial sums, where results alone do not fill
 * the device; the number. Blocks and the inner dimension are of one part behind it.
 */
int64_t core_split_knob(Sketch *s, CoreTile *t, const CoreRow *row);
/* Asks for the shape. False: none fits the device. */
bool core_shape_knobs(Sketch *s, const CoreTile *t, const CoreRow *row, CoreShape *x);
/* What a block has of a side. */
int64_t core_part(const CoreShape *x, int side);
/* Elements of a factor that a thread copies at once. */
int64_t core_lanes(const Sketch *s, const CoreTile *t, const CoreShape *x, int side);
/*
 * Places behind each row of a factor in shared memory: where lanes load tf32 across rows, four rows are apart by 32
 * bytes then. 0: rows are loaded 16 bytes at a time, and swizzled.
 */
int64_t core_gap(const CoreTile *t, const CoreShape *x, int side);
/* Elements of a row of a factor in shared memory. */
int64_t core_row(const CoreTile *t, const CoreShape *x, int side);
/* The steps of a tile of that shape, behind those that make the loops of CoreTile (coop_begin and what follows it). */
void core_steps(Sketch *s, const Tiled *t, const CoreTile *c, const CoreRow *row, const CoreShape *x);

/*
 * The convolution as a product of filters with pixels. Asks for "cores" and what follows from it; false: nothing but
 * the knob has been asked and written.
 */
bool core_conv(Sketch *s, const OpCall *call, const Tiled *t);

#endif
