/*
 * Register tiles: what the templates of reductions share. A Tiled is a naive set read as "one
 * reduction, then elementwise blocks"; a Tile says how it is cut; tile_steps writes the trace:
 *
 *	for outer.. { for reduce.. { for pixel unrolled { for vectors unrolled { for lane vector { reduction }}}}
 *	              for pixel unrolled { for vectors unrolled { for lane vector { epilogue }}}}
 *
 * with the tile's sums in a local buffer, which lowering keeps in registers.
 */
#ifndef SCHEDULE_TEMPLATE_TILE_H
#define SCHEDULE_TEMPLATE_TILE_H

#include "schedule/sketch.h"

enum { TILE_AXES = 8, TILE_BLOCKS = 32 };

typedef struct TileAxis {
	const char *name; /* of its loop */
	int64_t extent;
} TileAxis;

typedef struct Tiled {
	const char *block; /* the reduction */
	int n, nreduce;
	TileAxis axis[TILE_AXES];   /* spatial loops of the reduction, as compute_at names them */
	TileAxis reduce[TILE_AXES]; /* its reduce loops */
	bool selects;               /* taps in the padding are 0: `skip` applies */
	int nmiddle;
	const char *middle[TILE_BLOCKS]; /* elementwise blocks that are inlined */
	TileAxis out[TILE_AXES]; /* loops of the nest that stores the result, axis by axis */
	bool bare;               /* the reduction itself stores it: out are the loops of cache_write */
} Tiled;

/* False: the set is not of that form. */
bool tiled_read(Arena *a, const KernelSet *naive, Tiled *out);

/* Which packed weights are asked for in time. */
enum { AHEAD_NONE, AHEAD_STREAM /* those `far` iterations of loop `stream` on */, AHEAD_TILE /* of the next tile of lanes */ };

typedef struct Tile {
	int vector;          /* the axis of lanes */
	int64_t lanes, vectors; /* lanes of one, how many vectors side by side */
	int pixel;           /* the axis of pixels; -1: none */
	int64_t pixels;
	int outer[TILE_AXES]; /* all axes, outermost first; the pixel and vector axes with what is left of them */
	const char *pack, *layout; /* a constant that is packed, and how; NULL: none */
	int64_t ahead;
	const char *stream; /* NULL: none */
	int64_t far;
	int nreduce;
	const char *reduce[TILE_AXES]; /* reduce loops after `splits`, outermost first, none forgotten */
	Text splits;                   /* steps that cut reduce loops */
	Text unrolls;                  /* steps that unroll them */
	bool last;  /* the last tile of pixels is code of its own */
	bool first; /* so is the first one, then */
} Tile;

/* A tile with axes in order and reduce loops as they are. */
Tile tile_new(Sketch *s, const Tiled *t);
void tile_steps(Sketch *s, const Tiled *t, const Tile *tile);
/* The dimension along which elements of a buffer lie side by side; -1: it has one element. */
int tile_side(const Buf *b);
/* The axis along which elements of the set's output lie side by side; -1: none. */
int tiled_contiguous(const Sketch *s, const Tiled *t);
/* Lanes of an f32 vector along an axis: a full register, or a part that wastes less of it. */
int64_t tile_lanes(const Sketch *s, int64_t extent);
/*
 * Fills option[] with vectors * 1000 + pixels, for tiles that fit the registers: accumulators, a
 * weight for each vector and one input. Returns how many; *best is the one that wastes least.
 */
int tile_options(const Sketch *s, int64_t blocks, int64_t extent, int64_t *option, int *best);

#endif
