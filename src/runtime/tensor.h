/*
 * Size, layout and printed form of a tensor, from its type and shape alone.
 */
#ifndef RUNTIME_TENSOR_H
#define RUNTIME_TENSOR_H

#include <stdbool.h>

#include "dlc/dlc_runtime.h"

enum { TENSOR_TEXT = 128 };

/* The `code` of an element's type: DLPack's numbers. */
enum { TYPE_INT = 0, TYPE_UINT = 1, TYPE_FLOAT = 2, TYPE_BFLOAT = 4, TYPE_BOOL = 6 };
/* Floating point: f16, f32, f64, bf16. */
static inline bool type_is_real(DlcDataType t)
{
	return t.code == TYPE_FLOAT || t.code == TYPE_BFLOAT;
}

/* "f32[1,3,224,224]", "?" for a dimension of -1; returns `out`. */
const char *tensor_print(const DlcTensor *t, char out[TENSOR_TEXT]);
/* Its elements, and their bytes, packed and rounded up; -1 if negative or above 2^62. */
int64_t tensor_count(const DlcTensor *t);
int64_t tensor_bytes(const DlcTensor *t);
/* Whether it has no elements, no strides, or those of the row-major layout without gaps. */
bool tensor_is_compact(const DlcTensor *t);

#endif
