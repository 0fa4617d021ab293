/*
 * Values of PTX: 8 bytes, of which an instruction's type takes the lower ones.
 */
#ifndef TESTS_FAKE_CUDA_PTX_VALUE_H
#define TESTS_FAKE_CUDA_PTX_VALUE_H

#include "ptx.h"

static inline uint64_t ptx_unsigned(uint64_t v, int bits)
{
	return bits >= 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

static inline int64_t ptx_signed(uint64_t v, int bits)
{
	return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* A floating-point value, and back, rounded to the type. */
double ptx_real(PtxType t, uint64_t v);
uint64_t ptx_raw(PtxType t, double v);
/* What an instruction without memory makes of its operands; false if this form is not known. */
bool ptx_compute(const PtxIns *i, uint64_t a, uint64_t b, uint64_t c, uint64_t *out);
/* What an atomic leaves in memory. */
bool ptx_atomic(int what, PtxType t, uint64_t old, uint64_t b, uint64_t c, uint64_t *out);

#endif
