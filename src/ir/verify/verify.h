/*
 * The rules of legal IR, a row each in rules.def with a text that breaks it. Run after parsing and,
 * in tests, after every pass. A violation is ERR_INPUT, "rule: what is wrong; what the rule
 * demands", at "fn:line". What only a run shows (races, indices, divergence) is the interpreter's.
 */
#ifndef IR_VERIFY_VERIFY_H
#define IR_VERIFY_VERIFY_H

#include "ir/ir.h"

bool ir_verify_set(const KernelSet *ks, Err *err);
/*
 * Of a set that ir_verify_set takes: proves that no access of its prepare and run Fns, and of the sub Fns
 * as they are called, leaves its buffer, and that iterators stay in their ranges. ERR_ILLEGAL names
 * the access that is not proved; it may be one that no run shows outside.
 */
bool ir_verify_accesses(const KernelSet *ks, Err *err);

typedef struct IrRule {
	const char *name;    /* "loop-bounds" */
	const char *demands; /* for people */
	const char *broken;  /* a smallest text that breaks it; tests/ir runs each */
} IrRule;
/* The table, for tests and docs; ends with name == NULL. */
const IrRule *ir_verify_rules(void);

#endif
