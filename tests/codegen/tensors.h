/*
 * Tensors for a kernel set: random values for what goes in, poison for what comes out, the values
 * of its symbols. Two copies of a set's tensors run in two ways and are compared.
 */
#ifndef TESTS_CODEGEN_TENSORS_H
#define TESTS_CODEGEN_TENSORS_H

#include "base/rng.h"
#include "interp/interp.h"

enum { TENSORS = 64 };

typedef struct Tensors {
	IrArg arg[TENSORS + 1];
	const Buf *buf[TENSORS]; /* NULL for a symbol */
	int64_t elements[TENSORS];
	int n;
} Tensors;

/* Every parameter of the set's prepare and run Fns; padding is zero, outs hold garbage. */
void tensors_make(Tensors *t, Arena *a, const KernelSet *ks, Rng *rng);
void tensors_copy(Tensors *out, Arena *a, const Tensors *t);
/*
 * The first difference as a sentence in the arena, NULL if there is none. Integers are equal;
 * floats are equal, both NaN, or within `tolerance` relative to the greater. 0 and -0 are equal.
 */
char *tensors_differ(Arena *a, const Tensors *x, const Tensors *y, double tolerance);
/* Element i of a tensor as a double (integers too, as far as they fit). */
double tensors_value(DType t, const void *data, int64_t i);

#endif
