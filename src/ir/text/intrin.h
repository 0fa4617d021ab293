/*
 * Intrinsics: instructions of machines, each a row of ir/text/intrin.def with its meaning as a sub-Fn.
 * The interpreter runs the meaning; an emitter either knows the row or lowers the meaning.
 */
#ifndef IR_TEXT_INTRIN_H
#define IR_TEXT_INTRIN_H

#include "ir/ir.h"

/* The meaning of an intrinsic, parsed once per Ir; NULL if there is none of that name. */
const Fn *ir_intrin(Ir *ir, const char *name);

typedef struct IrIntrin {
	const char *name;
	const char *feature; /* a target with this feature has the instruction: target/feature.def, or a target to come */
	const char *where;   /* the targets that have it, for people */
	const char *text;    /* a kernel set of one sub-Fn of the same name */
} IrIntrin;
/* NULL if there is none of that name. */
const IrIntrin *ir_find_intrin(const char *name);
/* All rows; ends with name == NULL. */
const IrIntrin *ir_intrins(void);

#endif
