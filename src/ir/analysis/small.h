/*
 * Intervals of i64 whose numbers are small, which almost all are, in 64 bits instead of 128. Inside of the room:
 * bounds.c asks here first.
 */
#ifndef IR_ANALYSIS_SMALL_H
#define IR_ANALYSIS_SMALL_H

#include "ir/analysis/bounds.h"

/* The interval of a node of two arguments that have these; false: it takes more bits, or another way. */
bool ir_small_node(const Expr *e, const Interval *a, const Interval *b, Interval *v);
/* The interval of a variable; false likewise. */
bool ir_small_var(const Expr *e, const Range *env, Interval *v);

#endif
