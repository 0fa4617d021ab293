/*
 * Templates for devices that run blocks of threads, a warp of them together: what they know of the nests of a Task.
 * They read loops, iterators and accesses, no operators.
 */
#ifndef SCHEDULE_TEMPLATE_BLOCK_H
#define SCHEDULE_TEMPLATE_BLOCK_H

#include "schedule/template/device.h"

enum { BLOCK_AXES = 12, BLOCK_NESTS = 64 };

typedef struct BlockAxis {
	const char *loop, *iter; /* the loop, and the iterator that is its variable */
	int64_t extent;
	bool reduce;
} BlockAxis;

/* A top-level nest of constant serial loops over one block, each iterator one of the loops. */
typedef struct BlockNest {
	const char *block; /* NULL: a statement of another form, left as it is */
	const Stmt *stmt;  /* the block; without a name: one that stores a scalar, else NULL */
	int n, spatial;    /* loops; those that are spatial */
	BlockAxis axis[BLOCK_AXES];
	const Buf *made;             /* the one buffer that it stores; NULL: several */
	int axis_of[IR_MAX_RANK];    /* dimension of it -> axis; -1: a constant */
	bool whole;   /* no dimension of it is a constant */
	bool maps;    /* stores one value for each element of all of `made` */
	bool folds;   /* reduces into each element of all of `made`, by one associative reduction */
	bool selects; /* taps in the padding are 0: `skip` applies */
	int64_t nodes; /* of its expressions once what it reads is inlined */
	bool inlined;  /* into those that read it */
	bool done;     /* scheduled, or part of another nest */
	const struct Behind *behind; /* the nest that stores its sums, for loops (loop_behind.h); NULL: it does itself */
} BlockNest;

typedef struct BlockSet {
	const Fn *fn;
	int n;
	BlockNest nest[BLOCK_NESTS];
} BlockSet;

/* Reads the one run Fn of the naive set; false: it is of another form. */
bool block_read(const Sketch *s, BlockSet *out);
/* Iterations of the nest's spatial loops, its reduce loops. */
int64_t block_outputs(const BlockNest *n);
int64_t block_folded(const BlockNest *n);
/* Whether the nest reads a buffer; *plain: each time element by element, index d being its iterator of axis axis[d]. */
bool block_reads(const BlockNest *n, const char *buf, bool *plain, int axis[IR_MAX_RANK]);
/*
 * Whether a block's iterators that are loops `outer` and `inner` occur as neighbouring indices alone, of a row-major
 * buffer whose dimension the inner one fills; in a work buffer they are indices `at` and `at` + 1.
 */
bool block_is_run(const Fn *fn, const Stmt *block, const char *outer, const char *inner, int at);
/* The only nest that reads what nest k makes; -1: none, or several, or a block of another form. */
int block_reader(const BlockSet *set, int k);
/*
 * The only nest that reads what nest k makes, maybe through inlined ones, and element by element: dimension d is moved
 * by its axis axis[d], -1 by none. -1: there is none.
 */
int block_root(const BlockSet *set, int k, int axis[IR_MAX_RANK]);
/* How much memory traffic finds neighbours along an axis: the weight of accesses whose elements lie side by side. */
double block_traffic(const BlockSet *set, const BlockNest *n, int axis);
/* The same of tensors that the Task reads or stores, without those between its nests. */
double block_params_traffic(const BlockSet *set, const BlockNest *n, int axis);
/* How many elements of dimension tile_side lie side by side, as 16 in NCHW16c; 0: all of them. */
int64_t block_digit(const Buf *b);
/*
 * Steps that inline what costs less to make again than to store and to load: elementwise blocks that are read about
 * once. Nests read are marked.
 */
void block_inline(Sketch *s, BlockSet *set);

/* Threads of a block that a device promises, and that LIMIT_threads allows. */
int64_t block_most_threads(const Target *t);
/* Powers of two from `from` to `to`; how many. */
int block_powers(int64_t from, int64_t to, int64_t option[KNOB_OPTIONS]);

/* Nests left are scheduled one by one. */
void block_nests(Sketch *s, BlockSet *set);
/* A nest that turns a tensor, by squares in shared memory. False: it does not, or asks for none. */
bool block_turn(Sketch *s, const BlockSet *set, int nest);

/*
 * Reductions that give a value, or some, for each row, and what is made of them row by row: softmax, a mean, a product
 * of a matrix and a vector. A row is an index of the result that all nests share.
 */
typedef struct BlockRows {
	int root;                /* the nest that stores the result */
	int n, axis[BLOCK_AXES]; /* rows: axes of the root */
	int of[BLOCK_NESTS][BLOCK_AXES]; /* nest -> row -> its axis */
	int64_t rows, length;    /* how many; elements of the longest */
	int side;                /* the row along which neighbours lie; -1: they lie within rows */
	int folds;               /* reductions */
	bool likely;             /* better than one launch for each reduction; block_rows_read says */
} BlockRows;
/* False: the nests are no such rows (template/row_read.c). */
bool rows_read(const BlockSet *set, BlockRows *out);
/* The same of nests that reduce everything to one element, and of maps: there are no rows that all share. */
bool rows_read_one(const BlockSet *set, BlockRows *out);
/* BlockRows.side by `traffic`: block_traffic, as rows_read has it, or block_params_traffic. */
int rows_side(const BlockSet *set, const BlockRows *r, double (*traffic)(const BlockSet *, const BlockNest *, int));
/* Whether an axis of a nest is a row. */
bool rows_has(const BlockRows *r, int nest, int axis);
/* Elements of a nest's longest row. */
int64_t rows_length(const BlockSet *set, const BlockRows *r, int nest);
/* All that is read or stored of a row's elements lies in one run of memory, in the order of its axes. */
bool rows_are_flat(const BlockSet *set, const BlockRows *r);
/* How many rows lie side by side along row `row`: the channels of a block, where they lie in blocks; else INT64_MAX. */
int64_t rows_neighbours(const BlockSet *set, const BlockRows *r, int row);
/* The same for blocks of threads, which keep no more than a value for each row. */
bool block_rows_read(const Sketch *s, const BlockSet *set, BlockRows *out);
/* All that is left as one launch. */
void block_rows(Sketch *s, BlockSet *set, const BlockRows *rows);
#endif
