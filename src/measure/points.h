/*
 * A task's naive form at single elements of its outputs, where computing all of them would take
 * seconds; and which elements those are.
 */
#ifndef MEASURE_POINTS_H
#define MEASURE_POINTS_H

#include "base/rng.h"
#include "op/op.h"

enum { POINTS = 256 /* of an output */ };

/*
 * A set of one run Fn "k0", "k1", ... for each output, in f64, with one buffer "point" of POINTS
 * elements in the output's place.  Its symbols, all from 1: the element of "point" to write, and
 * the index of the output to compute.  Only what that needs of each intermediate value is computed.
 * NULL without an error: the form has a shape that this file cannot restrict, or computing the
 * points so would not be cheaper than computing everything.
 */
KernelSet *points_set(Ir *ir, const Dag *dag, Err *err);

/* Where the elements of a buffer lie, which must have constant extents. */
typedef struct Places {
	const Buf *buf; /* as it is given to places_of */
	int rank;
	int64_t *shape, elements, physical; /* elements: logical ones */
	int64_t base, **axis; /* offset of index (i, j, ..) = base + axis[0][i] + axis[1][j] + ..; NULL: not so */
} Places;
/* False: an extent is not constant. */
bool places_of(Arena *a, const Buf *buf, Places *out);
/* The elements that no index reaches, ascending, in the arena; *n of them. */
uint64_t *places_padding(Arena *a, const Places *p, int64_t *n);
/* The index of the element that lies there; false: it is padding. */
bool places_find(const Places *p, int64_t offset, int64_t *index);
int64_t places_offset(const Places *p, const int64_t *index);

/*
 * index[rank] of so many elements: all corners, then half of them with a liking for the first and
 * last places of each dimension and for the ends of blocks of 8 and 16, half of them anywhere.
 */
void points_draw(Rng *rng, const Places *p, int n, int64_t *index);

#endif
