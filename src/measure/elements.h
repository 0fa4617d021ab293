/*
 * Where the elements of a tensor lie, which are padding, and which of them to compare.
 */
#ifndef MEASURE_ELEMENTS_H
#define MEASURE_ELEMENTS_H

#include "base/rng.h"
#include "ir/ir.h"

/* Of a buffer of constant extents. */
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
 * index[rank] of n elements: all corners; of the others, half prefer the ends of each dimension and of blocks of 8 and
 * 16, and half are anywhere.
 */
void places_draw(Rng *rng, const Places *p, int n, int64_t *index);

#endif
