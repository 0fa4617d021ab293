/*
 * The interpreter: slow, obvious, and the oracle of everything else.
 * What is declared parallel runs in an order drawn from `seed`; logical threads (instances of
 * parallel, vector and bound loops) are interleaved at barriers, atomics and waits; accesses are
 * checked with vector clocks, so that a race, a divergent barrier, an index outside its buffer, or
 * the use of an undefined element (fresh alloc, async data not waited for, out never written) is an
 * error that names the statement. Tensors are physical: as the buffer's index map lays them out.
 */
#ifndef INTERP_INTERP_H
#define INTERP_INTERP_H

#include "ir/ir.h"

/* A tensor of the caller's for the parameter `name`; a symbol's value when data is NULL. */
typedef struct IrArg {
	const char *name;
	void *data; /* dtype_bytes(type, physical elements); see IR_MODP */
	int64_t value; /* symbols and scalar parameters (a float: its bits as a double) */
} IrArg;

typedef enum {
	IR_EXACT, /* each operation as its type says: f32 rounds to f32 */
	IR_MODP, /* floats are residues modulo a prime: no tolerance needed, see docs/ir-modp.md */
} IrDomain;

typedef struct IrRun {
	uint64_t seed;
	IrDomain domain;
	bool skip_races; /* faster; for large shapes */
	bool partial; /* outs need not be written completely */
	int64_t steps; /* ERR_MEMORY after so many statements; 0: no limit */
	int64_t memory; /* ERR_MEMORY beyond so many bytes of its own; 0: 2 GiB */
} IrRun;

/*
 * Runs prepare and then run Fns of the set, which must be legal (ir/verify/verify.h), in order. Buffers
 * that several Fns name and no argument gives are allocated for the call. Padding of in, inout and
 * const tensors must be zero; that of outs is zeroed. ERR_RACE for races and divergent barriers, ERR_INPUT for the other mistakes of
 * the program, ERR_MEMORY, ERR_TYPE for arguments that are missing or outside their symbol's range.
 */
bool ir_run_set(const KernelSet *ks, const IrArg *arg, int n, const IrRun *how, Err *err);
bool ir_run_fn(
	const KernelSet *ks, const Fn *fn, const IrArg *arg, int n, const IrRun *how, Err *err);

/* Physical elements of a buffer under the symbols' values; -1 if that overflows. */
int64_t ir_buf_elements(const Buf *b, const Fn *fn, const IrArg *arg, int n);
/*
 * Physical offset of a logical index; the buffer's extents and map must be constant; -1 if it lies
 * outside of them.
 */
int64_t ir_buf_offset(const Buf *b, const int64_t *idx);

/*
 * In IR_MODP a tensor of floating type holds uint64_t: the low 32 bits are the residue modulo p,
 * the high ones that modulo q, p = 2q + 1. Any 64 random bits are a valid input.
 */
#define IR_MODP_P 2147483579u
#define IR_MODP_Q 1073741789u
uint64_t ir_modp_of(double v); /* the residues of a finite double */
bool ir_modp_same(uint64_t a, uint64_t b); /* equal modulo p: what a test compares */

#endif
