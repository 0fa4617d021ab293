/* Inside of the room: where buffers lie, and what reads and writes them. */
#ifndef CODEGEN_LLVM_EMIT_MEM_H
#define CODEGEN_LLVM_EMIT_MEM_H

#include "codegen/llvm/emit.h"

typedef struct Place { /* where a buffer lies */
	const Buf *buf;
	LLVMValueRef ptr;
	bool reg;      /* an alloca accessed as a whole, which mem2reg makes a value */
	bool own;      /* of a device: an array of the thread */
	bool global;   /* of a device: a buffer that the kernel gets */
	bool streamed; /* of a CPU: rows are stored past the caches, and the Fn loads none */
	bool constant; /* of a device: in global memory, and the kernel does not write it */
	uint32_t pinned; /* Emit.pins at the last condition that the register was used before */
	uint32_t list; /* Emit.lists at the last list that was seen to store to it */
} Place;

/* emit_mem.c: addresses, loads and stores. */
Place *emit_place(const Emit *e, const char *buf); /* one of the Fn's buffers */
LLVMValueRef emit_load(Emit *e, const Expr *x);
void emit_store(Emit *e, const char *buf, const Expr *idx, LLVMValueRef value, LLVMValueRef mask);
LLVMValueRef emit_address(Emit *e, const Place *p, const Expr *idx); /* of a scalar index */
bool emit_is_apart(const Expr *a, const Expr *b, int64_t *by); /* a = b + *by, for all that they hold */
LLVMValueRef emit_mask_lanes(Emit *e, LLVMValueRef mask, int lanes);
bool emit_loads_zeros(const Emit *e, const Expr *x); /* where lanes are off */

/* emit_stride.c: of a CPU, lanes that are a few elements apart in memory. */
bool emit_is_strided(const Expr *stride, int lanes, int64_t *n);
LLVMValueRef emit_load_strided(Emit *e, const Place *p, const Expr *base, int64_t stride, int lanes);

/* emit_lanes.c: lanes that lie apart, of a CPU. */
/* Loads lanes one by one; those that are off are 0. NULL if the mask is not known. */
LLVMValueRef emit_load_lanes(Emit *e, const Place *p, const Expr *idx);
/*
 * Stores lanes that lie any constant stride apart one by one, at displacements from the first. False, and nothing is
 * emitted, if the stride or the mask (NULL: all lanes) is not known.
 */
bool emit_store_lanes(Emit *e, const Place *p, const Expr *idx, LLVMValueRef v, LLVMValueRef mask);
/* How many lanes a mask has on, if these are the first ones and it is known (NULL: all); else -1. */
int emit_first_lanes(LLVMValueRef mask, int lanes);
/* The first n lanes, side by side, in powers of two: masked stores of AVX take long on many CPUs. */
void emit_store_first(Emit *e, DType t, LLVMValueRef v, LLVMValueRef to, int n);

/* emit_turn.c: emits stores of neighbouring columns from s on and says how many; 0: there are none. */
int emit_turned(Emit *e, const Stmt *s);
int emit_spread(Emit *e, const Stmt *s); /* the same of columns that are stored into rows that lie apart */

/* emit_pieces.c: a row of a device from its first element, whose index is known, as the accesses that it has. */
LLVMValueRef emit_load_pieces(Emit *e, const Place *p, LLVMValueRef ptr, const Expr *first, int lanes);
void emit_store_pieces(Emit *e, const Place *p, LLVMValueRef ptr, const Expr *first, LLVMValueRef v);
unsigned emit_access_bytes(const Emit *e, DType t, const Expr *idx); /* that divide the element's address */
/* The same of any target, for a buffer that begins at a multiple of `base`: base at most. */
unsigned emit_proved_bytes(const Emit *e, DType t, const Expr *idx, int64_t base);
int emit_access_lanes(const Emit *e, DType t, const Expr *first, int lanes); /* of one access */
void emit_note_constant(Emit *e, LLVMValueRef load); /* no store of the kernel changes what it reads */
/* A vector index as base + stride * lane, scalar expressions; false if it is none. */
bool emit_as_ramp(Emit *e, const Expr *x, const Expr **base, const Expr **stride);
/* Element `outer` + `inner` (or NULL) of a buffer (emit_expr.c). */
LLVMValueRef emit_pointer(Emit *e, const Place *p, const Expr *outer, const Expr *inner);

/* emit_fn.c: enters a block for a scalar mask; where it ends, or NULL without a mask. */
LLVMBasicBlockRef emit_mask_begin(Emit *e, const Expr *mask);
void emit_mask_end(Emit *e, LLVMBasicBlockRef done);

/* emit_atomic.c */
bool emit_atomic(Emit *e, const Stmt *s);

#endif
