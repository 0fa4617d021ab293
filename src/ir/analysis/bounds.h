/*
 * Integer facts: intervals and divisibility of expressions under ranges of their variables.
 * Nothing here assumes that arithmetic does not wrap: a fact is used only where it cannot.
 */
#ifndef IR_ANALYSIS_BOUNDS_H
#define IR_ANALYSIS_BOUNDS_H

#include "ir/ir.h"

/*
 * A chain of facts, innermost first. With a name: lo <= name <= hi and name % mod == rem, for i64
 * or narrower; the innermost entry of a name says all its numbers. Without: `cond` is `holds`.
 * Chains are immutable; extending one keeps the old one valid.
 */
typedef struct Range {
	const struct Range *outer;
	const char *name; /* interned */
	int64_t lo, hi; /* inclusive; INT64_MIN / INT64_MAX when unknown */
	int64_t mod, rem; /* mod <= 1 says nothing */
	const Expr *sym_lo, *sym_hi; /* inclusive ends as expressions of outer names; may be NULL */
	const Expr *cond;
	bool holds;
} Range;

typedef struct Interval {
	int64_t lo, hi; /* inclusive, saturated at the ends of int64 */
	int64_t mod, rem; /* value % mod == rem; mod 1 says nothing; mod 0: the constant rem */
} Interval;

/*
 * Total: an expression it knows nothing of has the interval of its type. Of a vector: all lanes.
 * Where facts contradict each other (dead code) any interval may come.
 */
Interval ir_interval(const Expr *e, const Range *env);
/* The facts that a Fn's symbols give; then one for a loop, one for a let, those of a condition. */
const Range *ir_range_fn(Ir *ir, const Fn *fn);
const Range *ir_range_for(
	Ir *ir, const char *name, const Expr *lo, const Expr *hi, const Range *env);
const Range *ir_range_let(Ir *ir, const char *name, const Expr *value, const Range *env);
const Range *ir_range_if(Ir *ir, const Expr *cond, bool holds, const Range *env);
/*
 * A block's iterators by their values alone, which is what holds where `where` is evaluated; and
 * within the block: iterators lie in their domains too, and `where` holds.
 */
const Range *ir_range_iters(Ir *ir, const Stmt *block, const Range *env);
const Range *ir_range_block(Ir *ir, const Stmt *block, const Range *env);
/* All that holds where s stands in fn, before it runs; the facts of the symbols if it is not there. */
const Range *ir_range_at(Ir *ir, const Fn *fn, const Stmt *s);
/*
 * True if cond (bool) holds, or cannot hold, for all values (all lanes); false: not known.
 * Decides by intervals, divisibility, and linear reasoning with the symbolic ends and conditions of
 * the chain; the effort is bounded, some ten microseconds at most.
 */
bool ir_always(const Expr *cond, const Range *env);
bool ir_never(const Expr *cond, const Range *env);

#endif
