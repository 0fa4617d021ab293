/* The regions of buffers that a statement touches: always derived from the statement, never declared. */
#ifndef IR_REGION_REGION_H
#define IR_REGION_REGION_H

#include "ir/ir.h"

/* What a statement (with its children) reads and writes of one buffer, outer variables free. */
typedef struct Region {
	const char *buf;
	bool read, write;
	int n;
	const Expr **lo, **hi; /* [lo, hi) per logical dimension; a hull, clipped to nothing */
} Region;

/*
 * All regions of s (its siblings not included), one per buffer, in order of first use. Variables
 * bound inside s are eliminated by their ranges; those outside stay free. Conditions around an
 * access tighten its hull; where nothing is known of an index the whole dimension is the hull.
 * s may lie anywhere in fn; the facts around it are found from there.
 */
Region *ir_regions(Ir *ir, const Fn *fn, const KernelSet *ks, const Stmt *s, int *n);
/* The one of that buffer, without looking at others; NULL: s does not touch it. */
const Region *ir_region_of(Ir *ir, const Fn *fn, const KernelSet *ks, const Stmt *s, const char *buf);

#endif
