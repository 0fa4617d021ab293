/*
 * One element of a tensor's bytes, of any dtype dlc has, as a number. For folding and for text;
 * loops over large tensors of known type are better written out.
 */
#ifndef OP_ELEMENT_H
#define OP_ELEMENT_H

#include "ir/dtype.h"

/* Element i as a double; 64-bit integers are rounded to nearest. */
double element_get(DType t, const void *data, int64_t i);
/* Rounds to nearest even (f16, bf16, f32); integers truncate and saturate, NaN gives 0. */
void element_set(DType t, void *data, int64_t i, double v);

/* Exact for integers and bool; only for those. */
int64_t element_get_int(DType t, const void *data, int64_t i);
void element_set_int(DType t, void *data, int64_t i, int64_t v); /* wraps */

#endif
