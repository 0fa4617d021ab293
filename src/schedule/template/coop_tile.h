/*
 * Tiles of blocks of threads: what the templates of convolutions and products share on devices whose threads run in
 * warps. A block computes a tile of the result in rounds: its threads copy what a round needs of both operands to
 * shared memory, then each adds its products to the sums in its registers. A template says what the axes, the
 * rounds and the copies are called; coop_steps writes the trace:
 *
 *	for grid.. { for t bound { init }
 *	             for rounds.. { for a bound { copy }  for b bound { copy }
 *	                            for t bound { for reduce.. { for virtual.. { for inner.. { reduction }}}}}
 *	             for s bound { for virtual.. { for inner.. { epilogue }}}}
 */
#ifndef SCHEDULE_TEMPLATE_COOP_TILE_H
#define SCHEDULE_TEMPLATE_COOP_TILE_H

#include "schedule/template/coop_join.h"

enum { COOP_AXES = 3, COOP_ROUNDS = 3, COOP_OPERANDS = 2 };

/*
 * An axis of the tile, no longer than the extent. Each of `threads` threads has `inner` neighbouring elements at each
 * of `virtuals` places.
 */
typedef struct CoopAxis {
	const char *name, *out; /* its loops in the reduction and in the nest that stores the result */
	int64_t extent;         /* of the result; the reduction's is rounded up to whole tiles where `widen` */
	bool widen;             /* else tiles divide the extent */
	int64_t stride, window; /* a tile of n reads (n - 1) * stride + window of its operand, all taps at once */
	int64_t virtuals, threads, inner;
} CoopAxis;

/* A reduce loop, of which a round takes a part. The extent is rounded up to whole parts. */
typedef struct CoopRound {
	const char *name;
	int64_t extent, part;
} CoopRound;

/* What a round needs of an operand, in loops copy.0, copy.1, .. */
typedef struct CoopOperand {
	const char *copy;   /* block and buffer */
	const char *layout; /* in shared memory; NULL: row-major */
	int n;
	int order[TILE_AXES];      /* its dimensions as they are walked, the last by neighbouring threads */
	int64_t part[TILE_AXES];   /* elements of each dimension that a round needs */
	int64_t lanes;             /* elements that a thread copies at once, along the last one */
	const Tiled *reduction; /* it computes the operand, stored by nest `copy`; NULL: a copy of a tensor */
} CoopOperand;

typedef struct CoopTile {
	int n, nouter, nround;
	CoopAxis axis[COOP_AXES];       /* neighbouring threads differ along the last one */
	TileAxis outer[TILE_AXES];        /* loops of the storing nest each of whose iterations is a block of its own */
	const char *as; /* what the reduction's loops are called in a block, " as n o .."; NULL: after its iterators */
	int nrest;
	const char *rest[TILE_AXES];      /* other loops of the reduction, of one iteration in each block */
	CoopRound round[COOP_ROUNDS];   /* outermost first */
	CoopOperand operand[COOP_OPERANDS];
	bool own_axes; /* each loop over blocks has its own axis of the grid, even a loop of one iteration */
	int64_t unroll;                   /* multiply-adds of a thread that are written out, at most */
	int64_t stages;                   /* rounds in shared memory; 0 and 1: no copies run ahead */
	int64_t blocks;                   /* of the outer loops */
	int64_t parts;                    /* of the reduction, whose partial sums are added up; 0 and 1: it is whole */
	int64_t taps, channels;           /* the reduction: windows, and what copies walk beside them */
	double make;                      /* multiply-adds to compute an element of the image, beside the copy */
	DType type;                       /* of both operands */
} CoopTile;

int64_t coop_axis_tile(const CoopAxis *x);
int64_t coop_threads(const CoopTile *b);
CoopJoin coop_join(const CoopTile *b);
int64_t coop_sums(const CoopTile *b); /* of a thread */
/* Elements of the operands of the first axis and of the others that one channel needs, all taps. */
void coop_operands(const CoopTile *b, int64_t part[COOP_OPERANDS]);
/*
 * Asks for "threads" and "tile": the threads of a block and the sums of a thread, along each axis; and for the virtual
 * threads among the sums. Later knobs may depend on these. False: no tile fits the device.
 */
bool coop_knobs(Sketch *s, CoopTile *b);
/*
 * Asks for "split", the number of parts of the channels, if the outputs are too few to fill the device. Blocks compute
 * partial sums of a part. Returns the number; b->blocks and b->channels are then those of one part.
 */
int64_t coop_split_knob(Sketch *s, CoopTile *b);
/* Asks for "round", the channels of a round, of a tile whose one reduce loop has b->channels. */
void coop_round_knob(Sketch *s, CoopTile *b, const char *loop);
/* An estimate of the cycles of the best tile; infinite: none fits. The sketch keeps it under the name. */
double coop_cycles(Sketch *s, const char *name, const CoopTile *b);
/* The same with the best number of parts of the channels. */
double coop_split_cycles(Sketch *s, const CoopTile *b);
/* Asks for "unroll": the multiply-adds that are written out. */
void coop_unroll_knob(Sketch *s, CoopTile *b);

/*
 * Asks for "stages", the number of rounds in shared memory: the next rounds are copied while one is computed. Asked if
 * the device has asynchronous copies and a round takes all taps of a window.
 */
void coop_stages_knob(Sketch *s, CoopTile *b);

/* Whether the shared memory of a block holds so many elements of the operands. */
bool coop_fits(const Sketch *s, const CoopTile *b, int64_t elements);
/* How many elements a thread copies at once, if runs of `side` elements are contiguous and aligned to their length. */
int64_t coop_lanes(const Sketch *s, DType type, int64_t side);

/* How many loads of `lanes` elements a thread may have in flight: as many as its registers hold. */
int64_t coop_loads(const Sketch *s, const CoopTile *b, int64_t lanes);

/* The first steps: what follows the reduction is one block. */
void coop_begin(Sketch *s, const Tiled *t);
/* Widens the loops of the reduction, once no more of them are merged, and before operands are copied. */
void coop_widen_steps(Sketch *s, const Tiled *t, const CoopTile *b);
/* All steps behind the copies. */
void coop_steps(Sketch *s, const Tiled *t, const CoopTile *b);
/* Steps of the nests that are not part of the tile; true. */
bool coop_rest(Sketch *s, const Tiled *t);

#endif
