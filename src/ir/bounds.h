/*
 * Integer facts: intervals and divisibility of expressions under ranges of their variables, and
 * the regions of buffers that a statement touches. Regions are always derived, never declared.
 */
#ifndef IR_BOUNDS_H
#define IR_BOUNDS_H

#include "ir/ir.h"

/* A chain of facts about variables, innermost first: lo <= name <= hi, name % mod == rem. */
typedef struct Range {
	const struct Range *outer;
	const char *name;
	int64_t lo, hi; /* inclusive; INT64_MIN / INT64_MAX when unknown */
	int64_t mod, rem;
	const Expr *sym_lo, *sym_hi; /* exact inclusive ends as expressions, NULL if unknown */
} Range;

typedef struct Interval {
	int64_t lo, hi;   /* inclusive, saturated at the ends of int64 */
	int64_t mod, rem; /* value % mod == rem; mod 1 says nothing; mod 0: the constant rem */
} Interval;

/* Total: an expression it knows nothing of has the interval of its type. */
Interval ir_interval(const Expr *e, const Range *env);
/* The facts that a Fn's symbols give; then one for a loop or block iterator. */
const Range *ir_range_fn(Ir *ir, const Fn *fn);
const Range *ir_range_for(Ir *ir, const char *name, const Expr *lo, const Expr *hi, const Range *env);
/* True if cond (bool) holds, or cannot hold, for all values; false: not known. */
bool ir_always(const Expr *cond, const Range *env);
bool ir_never(const Expr *cond, const Range *env);

/* What a statement (with its children) reads and writes of one buffer, outer variables free. */
typedef struct Region {
	const char *buf;
	bool read, write;
	int n;
	const Expr **lo, **hi; /* [lo, hi) per logical dimension; a hull, clipped to nothing */
} Region;

/*
 * All regions of s (its siblings not included), one per buffer, in order of first use. Variables
 * bound inside s are eliminated by their ranges; those outside stay free.
 */
Region *ir_regions(Ir *ir, const Fn *fn, const KernelSet *ks, const Stmt *s, int *n);

#endif
