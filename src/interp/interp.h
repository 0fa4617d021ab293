/*
 * The interpreter: slow, obvious, and the oracle of every test. The order of parallel instances is drawn from `seed`.
 * Logical threads (instances of parallel, vector and bound loops) are interleaved at barriers, atomics and waits.
 * Accesses are checked with vector clocks. A race, a divergent barrier, an index outside its buffer, and the use of
 * an undefined element are errors that name the statement. Undefined are a fresh alloc, async data before the wait,
 * and an out that was never written. Tensors are physical: their elements lie where the buffer's index map puts them.
 */
#ifndef INTERP_INTERP_H
#define INTERP_INTERP_H

#include "ir/arg.h"

typedef enum {
	INTERP_EXACT, /* each operation as its type says: f32 rounds to f32 */
	INTERP_MODP, /* floats are residues modulo a prime: no tolerance needed, see docs/ir-modp.md */
} InterpDomain;

typedef struct InterpRun {
	uint64_t seed;
	InterpDomain domain;
	bool skip_races; /* faster; for large shapes */
	bool partial; /* outs need not be written completely */
	int64_t steps; /* ERR_MEMORY after so many statements; 0: no limit */
	int64_t memory; /* ERR_MEMORY beyond so many bytes of its own; 0: 2 GiB */
} InterpRun;

/*
 * Runs the prepare Fns and then the run Fns of a legal set (ir/verify/verify.h), in order. Buffers that
 * several Fns name and no argument gives are allocated for the call. The padding of in, inout and const
 * tensors must be zero; that of outs becomes zero. Errors: ERR_RACE for races and divergent barriers,
 * ERR_INPUT for other mistakes of the program, ERR_MEMORY, and ERR_TYPE for arguments that are missing
 * or outside their symbol's range.
 */
bool interp_run_set(const KernelSet *ks, const IrArg *arg, int n, const InterpRun *how, Err *err);
bool interp_run_fn(
	const KernelSet *ks, const Fn *fn, const IrArg *arg, int n, const InterpRun *how, Err *err);

/*
 * In INTERP_MODP a tensor of floating type holds uint64_t: the low 32 bits are the residue modulo p,
 * the high ones that modulo q, p = 2q + 1. Any 64 random bits are a valid input.
 */
#define INTERP_MODP_P 2147483579u
#define INTERP_MODP_Q 1073741789u
uint64_t interp_modp_of(double v); /* the residues of a finite double */
bool interp_modp_same(uint64_t a, uint64_t b); /* equal modulo p: what a test compares */

#endif
