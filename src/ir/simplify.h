/*
 * Simplification. Laws of every rule: the value and the type stay the same for all inputs that the
 * ranges allow (floating rules hold bit for bit, NaN and signed zero included); a rewrite never
 * grows an expression without end (each rule lowers a stated measure).
 */
#ifndef IR_SIMPLIFY_H
#define IR_SIMPLIFY_H

#include "ir/bounds.h"

const Expr *ir_simplify(Ir *ir, const Expr *e, const Range *env);
/*
 * Simplifies all of a Fn with the facts its loops, blocks and conditions give: drops loops of no
 * iteration and branches never taken, replaces loops of one iteration by their body.
 */
void ir_simplify_fn(const KernelSet *ks, Fn *fn);

#endif
