/*
 * Register tiles: what the templates of reductions share. A Tile says how a reduction (reduction.h) is cut; tile_steps
 * writes the trace:
 *
 *	for outer.. { for reduce.. { for pixel unrolled { for vectors unrolled { for lane vector { reduction }}}}
 *	              for pixel unrolled { for vectors unrolled { for lane vector { epilogue }}}}
 *
 * with the tile's sums in a local buffer, which lowering keeps in registers.
 */
#ifndef SCHEDULE_TEMPLATE_TILE_H
#define SCHEDULE_TEMPLATE_TILE_H

#include "schedule/template/reduction.h"

/* The packed weights to prefetch: none; those `far` iterations of loop `stream` on; those of the next tile of lanes. */
typedef enum { AHEAD_NONE, AHEAD_STREAM, AHEAD_TILE } Ahead;

/* Where the prologue is computed: in a nest of its own, for all tiles of lanes of some pixels, in the reduction. */
typedef enum { BEFORE_ALL, BEFORE_PIXELS, BEFORE_EACH } Before;

typedef struct Tile {
	const char *of;      /* stands before the names of its knobs; NULL: nothing does */
	int vector;          /* the axis of lanes */
	int64_t lanes, vectors; /* lanes of one, how many vectors side by side */
	int64_t group;       /* tiles of lanes are each in one such part of their axis, the last overlaps; 0: none */
	int64_t favour;      /* vectors side by side that the default prefers (FAVOUR); 0: none */
	bool whole, half;    /* tiles take a divisor of all vectors; the default one's sums take half of the registers */
	int pixel;           /* the axis of pixels; -1: none */
	int64_t pixels, around; /* of a tile; places of all other axes, each of which has such tiles */
	int outer[TILE_AXES + 1]; /* all axes, outermost first; the pixel and vector axes with what is left of them */
	int64_t band; /* rows of a band: TILE_ROWS stands twice in `outer`, for bands and for a band's rows; 0: no bands */
	bool rows; /* the loop of groups is around that of rows, in which a ring keeps what the tile reads */
	const char *pack, *layout; /* a constant that is packed, and how; NULL: none */
	const char *copy; /* a tensor of which each tile of lanes has its part copied, lying as `layout` says; NULL: none */
	int copied; /* its dimension of lanes, whose elements lie in rows of the next dimension */
	bool copy_all; /* the copy of all tiles of lanes is made at once, in the loop around them */
	Before before;      /* BEFORE_PIXELS is BEFORE_ALL where no loop of pixels is around those of lanes */
	const char *image;  /* the layout of what the prologue makes, channels in blocks; NULL: row-major */
	Ahead ahead;
	const char *stream; /* NULL: none */
	int64_t far;
	int nreduce;
	const char *reduce[TILE_AXES]; /* reduce loops after `splits`, outermost first, none forgotten */
	Text splits, unrolls;          /* steps that cut reduce loops, and that unroll them */
	int shares;  /* loops that threads share as one; 0: as share.h guesses */
	bool copies; /* a tile of lanes may have a `copy`: loops around it are not shared with it */
	bool last;  /* the last tile of pixels is code of its own */
	bool first; /* so is the first one, then */
} Tile;

Tile tile_new(Sketch *s, const Tiled *t); /* axes in order, reduce loops as they are */
void tile_steps(Sketch *s, const Tiled *t, const Tile *tile); /* of the tile, and of all other nests */
/* Lanes of a vector of sums along an axis: a full register, or a part that wastes less of it. */
int64_t tile_lanes(const Sketch *s, const Tiled *t, int64_t extent);
/*
 * Elements an instruction of `lanes` makes on average, by vectors of `part`. split: one that is not full is one for
 * each power of two. masked: the part of the rate that vectors reach which do not divide the extent.
 */
double tile_made(int64_t extent, int64_t part, int64_t lanes, bool split, double masked);
bool tile_wastes_little(int64_t extent, int64_t width); /* the last tile of that width is nearly full */
/* Steps of a reduction to write out: powers of two below the extent, up to `most`, steps * sums <= body; how many. */
int tile_unrolls(int64_t extent, int64_t sums, int64_t most, int64_t body, int64_t option[KNOB_OPTIONS]);
int64_t tile_registers(const Sketch *s); /* vector registers of the target */
bool tile_few_registers(const Sketch *s); /* a large tile's sums take all of them (FEW_REGISTERS) */
double tile_hides(const Core *core); /* sums side by side that hide the latency of one and the loop's overhead */
/* How many sums a tile of so many vectors asks for, for each in flight: FEW_HIDES or HIDES. */
double tile_asks(const Sketch *s, int64_t vectors);
/* The part of the core's FMA rate that tiles of so many of all `blocks` vectors and `extent` pixels may reach. */
double tile_promise(
	const Core *core, double hides, int64_t blocks, int64_t extent, int64_t vectors, int64_t pixels);
/* The most that any tile of these promises by HIDES; *wide: the vectors of that which is likely the default. */
double tile_best(const Sketch *s, int64_t vectors, int64_t pixels, int64_t *wide);
bool tile_overlaps(const Sketch *s, const Tile *t); /* a group's last tile, but in a grid: blocks would write twice */
const char *tile_name(Sketch *s, const Tile *tile, const char *knob); /* a tile's knob: behind Tile.of */
/* Asks for "tile": of so many vectors and pixels those whose sums, a weight a vector and an input fit the registers. */
void tile_knob(Sketch *s, int64_t vectors, int64_t pixels, Tile *out);
/*
 * Asks for "algorithm": the operator's own form, as option `own`, or one of the template's column. False: the own form
 * was picked, whose steps are the caller's. Knobs behind it may depend on it.
 */
bool tile_algorithm(Sketch *s, const Tiled *t, const char *own);
void tile_shares(Sketch *s, const Tiled *t, Tile *tile); /* asks for "share": Tile.shares */
/* Asks for "ahead": which packed weights to prefetch, a tile in so many turns of the outermost reduce loop. */
void tile_ahead(Sketch *s, const Tiled *t, Tile *tile, int64_t turns, Ahead guess);
/* Cuts the last tile of an axis off from loop `outer` of its tiles of `part`, and the first one, if both. */
void tile_ends(Sketch *s, const TileAxis *x, int64_t part, const char *outer, bool both);
/* Axes with a loop around it, outermost first, TILE_AXES + 1 at most; how many. */
int tile_outer(const Tiled *t, const Tile *tile, int *axis);
/* Nests that t does not read are scheduled as the generated space does; t NULL: all. */
bool sketch_loops_but(Sketch *s, const Tiled *t);
#endif
