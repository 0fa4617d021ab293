/*
 * What a call of a kernel set is given, and what follows from it: extents, a buffer's physical elements, and where a
 * logical index lies.
 */
#ifndef IR_ARG_H
#define IR_ARG_H

#include "ir/ir.h"

/* A tensor of the caller's for the parameter `name`; a symbol's or a scalar parameter's value when data is NULL. */
typedef struct IrArg {
	const char *name;
	void *data;    /* dtype_bytes(type, physical elements); of residues modulo a prime: see interp/interp.h */
	int64_t value; /* of a floating parameter: the bits of a double */
} IrArg;

const IrArg *ir_find_arg(const IrArg *arg, int n, const char *name); /* by content; NULL: not given */

/* The value of an integer expression of constants and given symbols; false if it has none or divides by zero. */
bool ir_eval_int(const Expr *e, const IrArg *arg, int n, int64_t *v);
/* The values of n <= IR_MAX_RANK extents and their product, as ir_count_elements. */
bool ir_eval_extents(const Expr *const *e, int n, const IrArg *arg, int narg, int64_t *extent, int64_t *count);
/* The product of extents; false if one is negative or the product reaches 2^46. */
bool ir_count_elements(const int64_t *extent, int n, int64_t *count);

/* Physical elements of a buffer under the symbols' values; -1 if that overflows. */
int64_t ir_buf_elements(const Buf *b, const IrArg *arg, int n);
/* Physical offset of a logical index; -1 if it lies outside. The buffer's extents and map must be constant. */
int64_t ir_buf_offset(const Buf *b, const int64_t *idx);

enum { IR_MAP_OPS = 192 };

/* An index map as a straight program: physical index k is reg[at[k]]; the registers begin with the logical indices. */
typedef struct MapProgram {
	int n, nop;
	int at[IR_MAX_RANK];
	struct MapOp {
		Node op;
		DType type; /* of the arguments */
		int n, arg[3];
		int64_t value; /* IR_INT */
	} code[IR_MAP_OPS];
} MapProgram;

/* NULL if the map does not fit the buffer or is not of integer operators; `fn` is where, for the message. */
const MapProgram *ir_map_program(Arena *a, const Buf *b, const IrArg *arg, int n, const char *fn, Err *err);
/* Physical indices 0 .. rank - 1 of a logical index; false if a divisor is zero. */
bool ir_map_index(const MapProgram *m, const int64_t *idx, int rank, int64_t *phys);

#endif
