/*
 * The interpreter's arithmetic. A scalar of any type is one Val. Integers (wrapped to their type, u64 as its bits)
 * and bools are in `i`. Floats, already rounded to their type, are in `f`. Modulo a prime, the residue pair of a
 * float is in `m`. docs/ir-modp.md says what each operator means there.
 */
#ifndef INTERP_NUM_H
#define INTERP_NUM_H

#include "ir/expr.h"

typedef union Val {
	int64_t i;
	double f;
	uint64_t m; /* residue modulo p in the low half, modulo q in the high half */
} Val;

/*
 * One node on scalars; t is the type of the arguments (of the last one for select-like nodes).
 * NULL, or a sentence that says what is wrong with these arguments ("this statement divides by zero"); it lives for
 * ever.
 */
const char *num_unary(Node op, DType t, Val a, Val *out);
const char *num_binary(Node op, DType t, Val a, Val b, Val *out);
Val num_fma(DType t, Val a, Val b, Val c);
Val num_cast(DType to, DType from, Val a);
Val num_bitcast(DType to, DType from, Val a);

/* Elements in memory: `at` counts elements; sub-byte ones are packed, first in the low bits. */
Val num_load(DType t, const unsigned char *data, int64_t at);
void num_store(DType t, unsigned char *data, int64_t at, Val v);

/*
 * The same modulo the primes, for floating t. Comparisons give a bool in out->i.
 */
const char *modp_unary(Node op, Val a, Val *out);
const char *modp_binary(Node op, Val a, Val b, Val *out);
Val modp_fma(Val a, Val b, Val c);
Val modp_cast(DType to, DType from, Val a); /* one of the two is floating */
uint64_t modp_of_int(int64_t v, bool is_unsigned);
uint64_t modp_norm(uint64_t m); /* any 64 bits to a pair in range */

#endif
