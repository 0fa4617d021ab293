/*
 * Random expressions and kernel sets for tests. All are legal: they verify, and the interpreter
 * runs them without an error for every input (divisors are constants that are not zero, indices are
 * taken modulo their extents, every element of an out is written once its value is fixed, nothing
 * races, results do not depend on the order of parallel parts).
 */
#ifndef TESTS_IR_RANDOM_H
#define TESTS_IR_RANDOM_H

#include "base/rng.h"
#include "ir/ir.h"

/* What may occur; a test leaves out what it cannot run. */
enum {
	RANDOM_SYMBOLS = 1, /* shapes with a symbol */
	RANDOM_MAPS = 2,    /* parameters with index maps */
	RANDOM_THREADS = 4, /* bound loops with barriers, async copies, atomics */
	RANDOM_CALLS = 8,   /* sub Fns, monoids of tuples, prepare Fns */
	RANDOM_NARROW = 16, /* types of less than 32 bits, and unsigned ones */
	RANDOM_SPECIAL = 32, /* constants nan, inf, -0.0 and the ends of integer types */
	RANDOM_VECTORS = 64, /* vector values: ramp, splat, lane */
	RANDOM_LIBM = 128,   /* exp, log, tanh, ...: equal only within a tolerance */
	RANDOM_ALL = 255,
};

/* A scalar type of those that `allow` admits. */
DType random_type(Rng *rng, unsigned allow);
/* Of type t, about `depth` deep, over the n variables and (readable) buffers in `var`. */
const Expr *random_expr(Rng *rng, Ir *ir, unsigned allow, DType t, const Param *var, int n,
	int depth);
/*
 * One run Fn "f" of `stages` stages (its sub and prepare Fns before it). Symbols are in 1..9,
 * extents in 1..6 or a symbol, inputs need no particular values.
 */
KernelSet *random_set(Rng *rng, Ir *ir, unsigned allow, int stages);

#endif
