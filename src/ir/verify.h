/*
 * The rules of legal IR, a row each in verify.c with the sentence a violation prints. Run after
 * parsing and, in tests, after every pass.
 */
#ifndef IR_VERIFY_H
#define IR_VERIFY_H

#include "ir/ir.h"

bool ir_verify_fn(const KernelSet *ks, const Fn *fn, Err *err);
bool ir_verify_set(const KernelSet *ks, Err *err);

typedef struct IrRule {
	const char *name;   /* "loop-bounds-integer" */
	const char *broken; /* a smallest text that breaks it; tests/ir runs each */
} IrRule;
/* The table, for tests and docs; ends with name == NULL. */
const IrRule *ir_verify_rules(void);

#endif
