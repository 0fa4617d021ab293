/*
 * Simplification. Laws of every rule. The value and the type stay the same for all inputs that the ranges allow;
 * floating rules hold bit for bit, NaN and signed zero included. A rewrite never grows an expression without end:
 * each rule lowers a stated measure.
 */
#ifndef IR_SIMPLIFY_SIMPLIFY_H
#define IR_SIMPLIFY_SIMPLIFY_H

#include "ir/analysis/bounds.h"

/*
 * Sums of integers come out in one canonical order, so that equal sums are equal pointers.
 * Idempotent. An expression deeper than 500 nodes is returned as it is. env may be NULL.
 */
const Expr *ir_simplify(Ir *ir, const Expr *e, const Range *env);
/*
 * Simplifies all of a Fn with the facts its loops, blocks and conditions give: drops loops of no
 * iteration and branches never taken, replaces loops of one iteration by their body.
 */
void ir_simplify_fn(const KernelSet *ks, Fn *fn);

/* A row of ir/simplify/simplify_rules.def, for tests and docs. */
typedef struct IrRewrite {
	const char *name, *law, *vars, *before, *after;
} IrRewrite;
/* The table; ends with name == NULL. */
const IrRewrite *ir_simplify_rules(void);

#endif
