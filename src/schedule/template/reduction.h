/*
 * What the templates of reductions read of a naive set: a reduction and the elementwise blocks around it.
 */
#ifndef SCHEDULE_TEMPLATE_REDUCTION_H
#define SCHEDULE_TEMPLATE_REDUCTION_H

#include "schedule/sketch.h"
#include "schedule/template/numbers.h"

enum { TILE_AXES = 8, TILE_BLOCKS = 32, TILE_ROWS = 2 /* the axis of an image's rows */ };

typedef struct TileAxis {
	const char *name; /* of its loop */
	int64_t extent;
} TileAxis;

/* Rows and columns of an image as one axis of pixels: a step `merge`. */
typedef struct TileMerge {
	const char *block, *rows, *columns; /* the loops */
} TileMerge;

typedef struct Tiled {
	const char *block; /* the reduction */
	const char *last;  /* the block that stores the result; NULL: the reduction does */
	const Buf *result; /* what is stored */
	const char *sums;  /* the buffer that the reduction makes, by cache_write where it is bare */
	DType sum;         /* of the reduction's sums */
	bool ends;         /* no nest stands behind these in the Fn */
	int n, nreduce;
	TileAxis axis[TILE_AXES];   /* spatial loops of the reduction, as compute_at names them */
	TileAxis reduce[TILE_AXES]; /* its reduce loops */
	bool selects;               /* taps in the padding are 0: `skip` applies */
	int nmiddle;
	const char *middle[TILE_BLOCKS]; /* elementwise blocks that are inlined */
	TileAxis out[TILE_AXES]; /* loops of the nest that stores the result, axis by axis */
	bool bare;               /* the reduction itself stores it: out are the loops of cache_write */
	int nbefore;
	const char *before[TILE_BLOCKS]; /* the prologue: elementwise blocks whose last result the reduction alone reads */
	const Buf *made;                 /* that result */
	int nmade;
	TileAxis make[TILE_AXES]; /* loops of the nest that makes it */
	const char *dot, *four; /* dot.h: the instruction of the lanes, and the reduce loop of its four steps; NULL: none */
	int64_t copied; /* channels side by side in a copy of the image that it reads; 0: none */
	int nmerge;
	TileMerge merge[2]; /* axes and out have the merged loops */
} Tiled;

/* Reads the reduction that computes the call's result, anywhere in the set, and its elementwise nests. False: none. */
bool tiled_read(const Sketch *s, const OpCall *call, Tiled *out);
bool tiled_read_nest(const Sketch *s, const Stmt *nest, Tiled *out); /* the same of a statement of the Fn's body */
/* The call of the Task that has most to compute, of convolutions and products; else of reductions; NULL: none. */
const OpCall *tile_anchor(const Dag *d);
int tile_side(const Buf *b); /* the dimension along which elements lie side by side; -1: it has one element */
int tiled_contiguous(const Tiled *t); /* the axis along which elements of the result lie side by side; -1: none */
/* Rows and columns of images, whose axes are n, o, h, w, become one axis by the steps of tiled_merge_steps. */
void tiled_merge(const Sketch *s, Tiled *t);
void tiled_merge_steps(Sketch *s, const Tiled *t, bool stored); /* stored: another nest than the reduction's stores */

#endif
