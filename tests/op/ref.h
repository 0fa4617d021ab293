/*
 * A second meaning of every operator, for tests only: tensors of doubles and plain loops over
 * multi-indices, sharing no code with the naive Fns. Results are rounded to their type.
 */
#ifndef TESTS_REF_H
#define TESTS_REF_H

#include "base/rng.h"
#include "op/op.h"

typedef struct Tensor {
	DType type;
	Shape shape;
	int64_t n;
	double *v; /* n of them; integers beyond 2^53 are not for this */
} Tensor;

Tensor tensor_new(Arena *a, DType t, Shape s);
/* Small integers for integer types, [-2, 2) rounded to the type for floats, 0 and 1 for bool. */
Tensor tensor_random(Arena *a, DType t, Shape s, Rng *r);
/* From and to the bytes a kernel reads. */
void *tensor_data(Arena *a, Tensor t);
Tensor tensor_of(Arena *a, DType t, Shape s, const void *data);

/* Element idx of a tensor of `rank` dimensions to which t is broadcast. */
double tensor_at(const Tensor *t, const int64_t *idx, int rank);

/* v[] by value number: inputs (and constants without data) are given, the rest is computed. */
void ref_eval(Arena *a, const Dag *d, Tensor *v);

/* All results of a recurrent call (ref_recurrent.c). */
void ref_attention(Arena *a, const Dag *d, const OpCall *c, const Tensor *const *in, Tensor *out);
void ref_linear_attention(Arena *a, const Dag *d, const OpCall *c, const Tensor *const *in, Tensor *out);
void ref_recurrent(Arena *a, const Dag *d, const OpCall *c, const Tensor *const *in, Tensor *out);

#endif
