/*
 * A nest of loops over one block, as the generated space (loops.c) sees it: its axes, along which one its results and
 * what it reads lie side by side, and what its iterations may do.
 */
#ifndef SCHEDULE_TEMPLATE_LOOP_NEST_H
#define SCHEDULE_TEMPLATE_LOOP_NEST_H

#include "ir/ir.h"

enum { LOOPS = 12 /* of a nest that is read */, PIECES = 6 /* of an axis, at most */ };

typedef struct Axis {
	const char *name;
	int64_t extent;
	bool reduce; /* or a scan, whose iterations have an order */
	bool scan;
	int loads; /* of the block, whose place depends on it */
	int64_t digit; /* elements along it that lie together in a tensor in blocks, as 16 of NCHW16c; 0: no tensor is */
} Axis;

/* A nest whose loops may be reordered: constant extents, one block, plain iterators. */
typedef struct Nest {
	const char *block;
	const Stmt *stmt; /* the block */
	int n;
	Axis axis[LOOPS];
	DType type; /* of the widest element it stores */
	int side; /* the axis along which these lie side by side; -1: none */
	int across; /* another one, along which elements that it reads lie side by side; -1: there is none */
	bool scans; /* some axis is a scan */
	int loads; /* of the block */
	bool reduces;
	bool series; /* it computes functions that are series, as exp */
	bool sums; /* one reduction into one element, which rfactor takes */
	bool again; /* its iterations may be done twice: tiles may overlap */
	int pieces; /* of the innermost axis, and how many elements each has */
	int64_t piece[PIECES];
	int shared; /* the axis whose loop threads share; -1: there is one thread */
	bool asks; /* for knobs; else it has the defaults */
} Nest;

/* The nest that begins with the loop s; false: its loops may not be reordered. */
bool loop_nest_read(const Fn *fn, const Stmt *s, Nest *out);
/*
 * The step along the axis of an index of a load that moves along the reduction axis, too, as in a window: neighbours
 * share what they read, as no other index of the load moves along these axes. 0: no index does.
 */
int64_t loop_nest_window(const Nest *n, int axis, int reduce);
/* Whether a load moves along both axes: a vector along one is another one for each place of the other. */
bool loop_nest_reads_along(const Nest *n, int axis, int other);
/* Whether a condition of a select moves along the axis. */
bool loop_nest_is_guarded(const Nest *n, int axis);
/*
 * The time of a transpose in tiles of `size` columns along the axis, whose lanes are `part` elements of another one:
 * less is better, as squares of columns are turned in registers and what is left of a tile is gathered.
 */
double loop_nest_turns(const Nest *n, int axis, int64_t size, int lanes, int64_t part);
/* Sets *(bool *)arg where e is a function that is a series, as exp. */
void loop_nest_see_series(const Expr *e, void *arg);

#endif
