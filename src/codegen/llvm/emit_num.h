/*
 * Inside of the room: operations on values in registers, of any number of lanes. They place
 * instructions where the builder stands and know no statements, buffers or masks.
 *
 * In registers f16 and bf16 are floats that hold a value of their type, bool is i1, i2 and i4 are
 * LLVM's; in memory f16 and bf16 are i16, bool is a byte.
 */
#ifndef CODEGEN_LLVM_EMIT_NUM_H
#define CODEGEN_LLVM_EMIT_NUM_H

#include "codegen/llvm/emit.h"

/* emit_num.c: types, constants and arithmetic. */
LLVMTypeRef emit_type(Emit *e, DType t);           /* in registers */
LLVMTypeRef emit_mem_type(Emit *e, DType t);       /* in memory, of 8 bits or more */
LLVMTypeRef emit_vector(LLVMTypeRef t, int lanes); /* lanes == 1: t */
int emit_lanes(LLVMValueRef v);
LLVMValueRef emit_splat(Emit *e, LLVMValueRef v, int lanes);
LLVMValueRef emit_int(LLVMTypeRef t, int64_t v); /* of a scalar or vector type */
LLVMValueRef emit_real(LLVMTypeRef t, double v);
LLVMValueRef emit_intrinsic(Emit *e, const char *name, LLVMTypeRef *over, int nover, LLVMValueRef *arg, int narg);
LLVMValueRef emit_unary(Emit *e, Node op, DType t, LLVMValueRef a);
LLVMValueRef emit_binary(Emit *e, Node op, DType t, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef emit_fma(Emit *e, DType t, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
/* Exact: what is returned + *lost is a + b; a * b, of doubles. */
LLVMValueRef emit_two_sum(Emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *lost);
LLVMValueRef emit_two_prod(Emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *lost);
LLVMValueRef emit_round_to_int(Emit *e, Node op, LLVMValueRef a);

/* emit_fmod.c */
LLVMValueRef emit_fmod(Emit *e, DType t, LLVMValueRef a, LLVMValueRef b);

/* emit_cast.c: conversions. */
LLVMValueRef emit_cast(Emit *e, DType to, DType from, LLVMValueRef a);
LLVMValueRef emit_bitcast(Emit *e, DType to, DType from, LLVMValueRef a);
LLVMValueRef emit_to_memory(Emit *e, DType t, LLVMValueRef a);
LLVMValueRef emit_from_memory(Emit *e, DType t, LLVMValueRef a);
LLVMValueRef emit_round(Emit *e, DType t, LLVMValueRef a); /* a float to what f16 or bf16 holds */
/* A double to what a float type of less precision holds, rounded once. */
LLVMValueRef emit_narrow(Emit *e, DType t, LLVMValueRef a);

/* emit_dot.c: lane i of c and four products of bytes, of the types `at` and `bt`. */
/* Factors of type `at`: f16, bf16 or f32, of which the instruction takes 11 bits of the fraction. */
LLVMValueRef emit_mma(Emit *e, DType at, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b);
/* A lane's part of n matrices with rows in shared memory at `row`, as elements of type t. */
LLVMValueRef emit_ldmatrix(Emit *e, DType t, LLVMValueRef row, int n, bool transposed);
void emit_keep_loop(Emit *e, LLVMValueRef branch); /* branch: back to the loop's beginning */
LLVMValueRef emit_dot4(Emit *e, LLVMValueRef c, LLVMValueRef a, DType at, LLVMValueRef b, DType bt);

/* emit_math.c: exp, log, ... of f32 and f64 vectors; docs/codegen.md states the errors. */
LLVMValueRef emit_math(Emit *e, Node op, LLVMValueRef a);
LLVMValueRef emit_pow(Emit *e, LLVMValueRef a, LLVMValueRef b);

#endif
