/* A proof of order with more effort, for what ir_is_ordered gives up. */
#ifndef IR_VERIFY_PROOF_RESOLVED_H
#define IR_VERIFY_PROOF_RESOLVED_H

#include "ir/analysis/affine.h"

/*
 * a + gap <= b for all values of scalars, in some hundred microseconds: lets and iterators are replaced by their
 * values, and cases are told apart. New expressions are the Ir's.
 */
bool ir_is_ordered_resolved(
	Ir *ir, const Expr *a, const Expr *b, int gap, const Range *env, IntervalCache *cache);

#endif
