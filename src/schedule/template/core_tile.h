/*
 * Products of rows and columns in the matrix units of a GPU: what templates offer beside tiles whose sums lie in the
 * registers of threads (coop_tile.h). Types and the target's features say which instructions there are.
 */
#ifndef SCHEDULE_TEMPLATE_CORE_TILE_H
#define SCHEDULE_TEMPLATE_CORE_TILE_H

#include "schedule/template/coop_tile.h"

/* A factor of the product, whose last two dimensions are its side and the inner one. */
typedef struct CoreFactor {
	const char *name;
	int rank;
	bool by_inner; /* the side's elements lie side by side: [inner, side] */
} CoreFactor;

typedef struct CoreTile {
	CoreFactor factor[2];    /* rows: [side, inner]; columns */
	TileAxis axis[2], reduce; /* rows and columns of the reduction; the inner dimension */
	const char *out[2];      /* their loops in the nest that stores the result */
	int nouter;
	TileAxis outer[TILE_AXES]; /* other loops of that nest, each of whose iterations is a block of its own */
	int64_t blocks;          /* of the outer loops */
	int64_t depth;           /* of the instruction; core_tiles sets it */
	DType type, sum;         /* of the factors, of the sums */
} CoreTile;

/* Asks for "cores": none or an instruction that the call's types and the target allow; its row, or -1. */
int core_knob(Sketch *s, const OpCall *c, const CoreTile *t);
/* Asks for the tile's knobs and writes its steps. False: no tile fits the device. */
bool core_tiles(Sketch *s, const Tiled *t, CoreTile *c, int row);

#endif
